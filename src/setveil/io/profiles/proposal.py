"""A role for every column of a table, with the reason, and a question where the cells and names do not decide.

Three steps: who is a person (``people``), what are the items (``items``), what is known of people. Evidence is counted
in whole points, and equal columns are taken in their order, so that the answer depends on the table alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from setveil.io.hierarchies.values import number_in
from setveil.io.profiles import looks
from setveil.io.profiles.cells import CellTable
from setveil.io.profiles.facts import Facts, facts_of
from setveil.io.profiles.items import Items, choose_items
from setveil.io.profiles.people import People, choose_people

NEARLY = 0.6  # of the people must have one value, where a name says that it is known of them
FEW_DIFFER = 0.05  # of the people: a column that is known of them, with mistakes in it
SMALL_CHANGE = 0.1  # of the whole range: what numbers may change within a person, as an age does
MANY_KNOWN = 10  # columns


@dataclass(frozen=True)
class ProposedRole:
    """A column, the role it is proposed for, and why."""

    name: str
    place: int  # from 0
    role: str
    reason: str  # one sentence
    looks_like: str = ""  # in words
    n_values: int = 0
    missing: float = 0.0  # share of rows whose cell is empty or says "missing"
    unique: float = 0.0  # share of rows whose value no other row has
    examples: tuple[str, ...] = ()  # values that many rows share
    code_system: str = ""
    hierarchy: str = ""  # of a known column
    question: str = ""


@dataclass(frozen=True)
class RoleProposal:
    """Roles for all columns of a table, and what has to be asked."""

    columns: tuple[ProposedRole, ...]
    n_rows: int
    questions: tuple[str, ...] = ()
    person: str = ""  # the column; empty if every row is a person or nothing was found
    other_people: tuple[str, ...] = ()  # columns that could be the person instead
    visits: tuple[str, ...] = ()  # finer ids: several of them belong to one person
    items: tuple[str, ...] = ()
    other_items: tuple[tuple[str, ...], ...] = ()  # columns that could be the items instead
    options: dict[str, str] = field(default_factory=dict)  # that reading needs besides the roles
    hierarchy: str = ""  # of the items, where they are codes of a known system

    def named(self, role: str) -> tuple[str, ...]:
        """The columns with a role."""
        return tuple(column.name for column in self.columns if column.role == role)


LOOKS = {
    looks.EMPTY: "empty", looks.CONSTANT: "one value", looks.ANSWERS: "two answers", looks.LISTS: "lists",
    looks.TIME: "dates or times", looks.AGE: "ages", looks.WHOLE: "whole numbers", looks.MEASURE: "numbers",
    looks.ID: "codes or ids", looks.LABELS: "labels", looks.PEOPLE: "names of people", looks.TEXT: "free text",
}  # fmt: skip


def propose(table: CellTable) -> RoleProposal:
    """Roles for the columns of a table."""
    facts = facts_of(table)
    people = choose_people(facts)
    items = choose_items(facts, people)
    questions = [*people.questions, *items.questions]
    roles: list[ProposedRole] = []
    for one in facts:
        proposed = _role_of(one, people, items)
        roles.append(proposed)
        if proposed.question:
            questions.append(proposed.question)
    known = [one for one in roles if one.role == "known"]
    if len(known) > MANY_KNOWN:
        questions.append(
            f"{len(known)} columns are proposed as known. Which of them can an attacker know? State the others with "
            "--drop, or as items with --item."
        )
    options = _options(facts, roles, people, items, questions)
    return RoleProposal(
        tuple(roles),
        table.n_rows,
        tuple(dict.fromkeys(questions)),
        people.person.name if people.person else "",
        tuple(one.name for one in people.others),
        tuple(one.name for one in people.visits),
        tuple(one.name for one in items.columns),
        tuple(tuple(one.name for one in group) for group in items.others),
        options,
        _item_hierarchy(items.columns) or (_categories_of(items) if table.is_file else ""),
    )


def _item_hierarchy(columns: Sequence[Facts]) -> str:
    """The code system of the items as ``--hierarchy`` takes it; empty if their codes must be corrected first."""
    from setveil.core.vocabulary import Vocabulary
    from setveil.errors import InputError, unheard_warnings
    from setveil.io.hierarchies.systems.registry import SYSTEMS
    from setveil.io.hierarchies.systems.trees import read_system

    system = next((one.look.system for one in columns if one.look.system in SYSTEMS), "")
    labels = Vocabulary({text for one in columns for text in one.values.texts})
    for name in (system, f"{system}:zeros-lost") if system else ():
        try:
            with unheard_warnings():
                read_system(name, labels)
        except InputError:
            continue
        return name
    return ""


def _categories_of(items: Items) -> str:
    """The columns of categories as ``--hierarchy`` takes them: those that every item has one value of, exactly."""
    whole = [
        one for one in items.categories
        if not one.n_missing and not set(one.name) & set(",:") and not items.columns[0].determines(one).n_differing
    ]  # fmt: skip
    return f"columns:{','.join(one.name for one in whole)}" if whole else ""


def _role_of(one: Facts, people: People, items: Items) -> ProposedRole:
    role, reason, question, hierarchy = _decided(one, people, items)
    is_hidden = role in ("person",) or one in people.visits or one.is_key or one in people.others
    return ProposedRole(
        one.name,
        one.place,
        role,
        reason,
        one.look.evidence if one.look.system else LOOKS[one.look.kind],
        one.n_values,
        one.n_missing / max(one.n_rows, 1),
        one.n_unique / max(one.n_rows, 1),
        () if is_hidden else one.examples(),
        one.look.system,
        hierarchy if role == "known" else "",
        question,
    )


def _decided(one: Facts, people: People, items: Items) -> tuple[str, str, str, str]:
    """``(role, reason, question, hierarchy)`` of a column."""
    if one is people.person:
        return "person", people.reason, "", ""
    if one in items.columns:
        return "item", items.reason, "", ""
    if one in people.visits:
        return "drop", _of_visits(one, people), _about_letter(one), ""
    if one in people.others:
        return "drop", "It could identify people, too.", "", ""
    if one in items.names:
        text = f'Its values are names of the items in "{items.columns[0].name}": show them with --names.'
        return "drop", text, "", ""
    if any(one in group for group in items.others):
        return "drop", "It could hold the items, too.", "", ""
    if one in items.categories:
        return "drop", f'Its values are categories of the items in "{items.columns[0].name}".', "", ""
    return _rest(one, people)


def _of_visits(one: Facts, people: People) -> str:
    assert people.person is not None
    if one.is_key and one in people.row_numbers:
        return "It numbers the rows."
    n_people = people.person.n_values
    what = (
        f'an id of visits, orders or the like: {one.n_values:,} of them belong to {n_people:,} "{people.person.name}"'
    )
    return f"It is {what}."


def _about_letter(one: Facts) -> str:
    letter = one.odd_letter()
    if not letter:
        return ""
    n_such = int(sum(
        count for text, count in zip(one.values.texts, one.values.counts.tolist(), strict=True)
        if text.startswith(letter)
    ))  # fmt: skip
    return (
        f'{n_such:,} rows have a "{one.name}" that begins with "{letter}", unlike the others. Are these cancellations? '
        "Then remove those rows first."
    )


def _rest(one: Facts, people: People) -> tuple[str, str, str, str]:
    """Columns that are neither person nor items."""
    kind = one.look.kind
    if kind in (looks.EMPTY, looks.CONSTANT):
        return "drop", "It has no value." if kind == looks.EMPTY else "It has one value only.", "", ""
    if kind == looks.PEOPLE:
        return "drop", "Its values look like names or addresses of people.", "", ""
    if kind == looks.TEXT:
        return "drop", "It holds free text, which nobody can check for names.", "", ""
    if one in people.row_numbers or one in people.sequences:
        return "drop", "It counts rows.", "", ""
    n_filled = one.n_rows - one.n_missing
    if one.n_values > 0.9 * max(n_filled, 1) and kind not in (looks.MEASURE, looks.AGE, looks.TIME):
        return "drop", "(Nearly) every row has its own value.", "", ""
    differing = _n_differing(one, people)
    if differing == 0:
        return _known(one, "Everybody has one value, and an attacker may know it.", "")
    n_people = people.n_people
    is_usual = one.is_said_known or kind == looks.AGE or one.is_said_sensitive
    is_rare = differing <= FEW_DIFFER * n_people or (is_usual and differing < (1 - NEARLY) * n_people)
    if is_rare and (kind != looks.AGE or one.is_said_known or _changes_little(one, people)):
        question = (
            f'"{one.name}" differs between the rows of {differing:,} of {n_people:,} people. Which value counts? '
            "Set --per-person first, last, min, max or most."
        )
        return _known(one, "Nearly everybody has one value, and an attacker may know it.", question)
    if kind == looks.AGE and people.person is not None and _changes_little(one, people):
        question = (
            f'"{one.name}" differs between the rows of {differing:,} of {n_people:,} people, as an age at each visit '
            "does. Which value counts? Set --per-person first, last, min, max or most."
        )
        return _known(one, "It changes little within one person, as an age does.", question)
    return "drop", f"It differs between the rows of {differing:,} of {n_people:,} people.", "", ""


def _known(one: Facts, reason: str, question: str) -> tuple[str, str, str, str]:
    if one.is_said_sensitive:
        return "sensitive", "Its name says that an attacker must not learn it.", question, ""
    hierarchy = one.look.hierarchy or "flat"
    if one.look.kind == looks.TIME and not one.look.hierarchy:
        question = question or (
            f'The dates in "{one.name}" cannot be grouped as they are written. Write them as 2024-03-31 and use '
            "date:month,quarter,year, or drop the column."
        )
        return "drop", "Its dates or times are not written as 2024-03-31, so that they cannot be grouped.", question, ""
    if one.look.kind == looks.WHOLE and one.n_values <= 2 * looks.FEW:
        hierarchy = "flat"
    return "known", reason, question, hierarchy


def _n_differing(one: Facts, people: People) -> int:
    """The people whose rows have several values."""
    return 0 if people.person is None else people.person.determines(one).n_differing


def _changes_little(one: Facts, people: People) -> bool:
    """Whether numbers within a person are close to each other."""
    numbers = [number_in(text) for text in one.values.texts]
    if people.person is None or None in numbers:
        return people.person is not None and one.look.kind == looks.AGE
    numeric = np.array([*map(float, filter(lambda number: number is not None, numbers)), 0.0])  # type: ignore[arg-type]
    owners = people.person.values.numbers
    is_there = (owners >= 0) & (one.values.numbers >= 0)
    owners, values = owners[is_there], numeric[one.values.numbers[is_there]]
    order = np.lexsort((values, owners))
    owners, values = owners[order], values[order]
    starts = np.flatnonzero(np.diff(owners, prepend=-2) != 0)
    ends = np.append(starts[1:], len(owners)) - 1
    several = ends > starts
    if not several.any():
        return True
    ranges = (values[ends] - values[starts])[several]
    return bool(np.median(ranges) <= SMALL_CHANGE * max(values.max() - values.min(), 1e-9))


def _options(
    facts: Sequence[Facts], roles: Sequence[ProposedRole], people: People, items: Items, questions: list[str]
) -> dict[str, str]:
    """What reading needs besides the roles, and the questions about it."""
    options: dict[str, str] = {}
    used = [one for one, role in zip(facts, roles, strict=True) if role.role not in ("person", "drop")]
    with_words = [one for one in used if one.cells.words]
    if with_words:
        one = max(with_words, key=lambda each: each.n_missing)
        word = max(one.cells.words, key=lambda text: int(one.cells.counts[one.cells.texts.index(text)]))
        n_rows = int(one.cells.counts[one.cells.texts.index(word)])
        options["missing"] = "drop"
        questions.append(
            f'{n_rows:,} cells of "{one.name}" hold "{word}". Does it mean "missing"? Then use --missing drop. Is it a '
            "value like any other? Then use --missing value."
        )
    if people.person is not None and people.person.n_missing:
        options["missing_person"] = "drop"
        questions.append(
            f'{people.person.n_missing:,} of {people.person.n_rows:,} rows have no "{people.person.name}". They can '
            "only be dropped: --missing-person drop."
        )
    if any("--per-person" in role.question for role in roles):
        options["per_person"] = "most"
    if items.separator:
        options["split"] = items.separator
    return options

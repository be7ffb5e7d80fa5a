"""Which column identifies a person, and which are finer ids of what people do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setveil.io.profiles import looks
from setveil.io.profiles.facts import Facts
from setveil.io.profiles.relations import counts_rows, is_contiguous

MOST_UNITS = 12  # columns compared with each other
LEAST_COARSER = 1.05  # times as many finer ids as people
SURE = 2  # points that decide
ATTRIBUTES = (looks.ANSWERS, looks.AGE, looks.LABELS)


@dataclass(frozen=True)
class People:
    """The column of the people, and the others that identify something."""

    person: Facts | None
    reason: str = ""
    visits: tuple[Facts, ...] = ()  # finer: several belong to one person
    others: tuple[Facts, ...] = ()  # that could be the person, too
    row_numbers: tuple[Facts, ...] = ()
    sequences: tuple[Facts, ...] = ()  # that count the rows of a person or visit
    questions: tuple[str, ...] = ()
    n_people: int = 0


def choose_people(facts: Sequence[Facts]) -> People:
    """The column of the people: by dependences between columns, by names, or because no two rows share a value."""
    n_rows = facts[0].n_rows if facts else 0
    row_numbers = tuple(one for one in facts if one.is_key and not one.id_rank >= 2 and counts_rows(one.values))
    units = sorted((one for one in facts if one.is_unit and one not in row_numbers), key=_by_name)[:MOST_UNITS]
    keys = [one for one in units if one.is_key]
    shared = [one for one in units if not one.is_key and one.item_rank < 3]
    coarser = {
        one.place: [fine for fine in shared if _is_finer(fine, one)] for one in shared
    }  # place: the finer ids that belong to it
    points = {one.place: _points(one, facts, units, coarser[one.place]) for one in shared}
    found = [one for one in shared if points[one.place] > 0]
    if not found:
        return _by_rows(keys, row_numbers, facts, n_rows)
    person = max(found, key=lambda one: (points[one.place], one.n_values < n_rows, -one.place))
    if keys and points[person.place] < SURE:
        rows = _by_rows(keys, row_numbers, facts, n_rows)
        if rows.person is not None and rows.person.id_rank > person.id_rank:
            return rows
    visits = (*coarser[person.place], *keys)
    rank = 3 if person.id_rank == 3 else 0  # what others need to be as likely
    others = [
        one for one in found
        if one is not person and one not in visits and points[one.place] >= min(SURE, points[person.place])
        and not _is_finer(person, one) and one.id_rank >= rank
    ]  # fmt: skip
    groups = [one for one in found if one is not person and _is_finer(person, one) and one.id_rank >= rank]
    sequences = _sequences(facts, [person, *visits])
    questions = _questions(person, points[person.place], visits, others, groups)
    if person.id_rank == 2:
        questions = (*questions, _about_visits(person))
    return People(
        person,
        _reason(person, coarser[person.place], keys),
        visits,
        (*others, *groups),
        row_numbers,
        sequences,
        questions,
        person.n_values,
    )


def _by_name(one: Facts) -> tuple[int, int]:
    return -one.id_rank, one.place


def _is_finer(fine: Facts, coarse: Facts) -> bool:
    """Whether every value of one column belongs to one value of the other, several to some."""
    if fine is coarse or fine.n_values < LEAST_COARSER * coarse.n_values:
        return False
    return fine.determines(coarse).holds_always


def _points(one: Facts, facts: Sequence[Facts], units: Sequence[Facts], finer: Sequence[Facts]) -> int:
    """Evidence that a column identifies people."""
    points = {3: 5, 2: 2, 1: 1}.get(one.id_rank, 0) - one.item_rank
    points += 3 if finer else 0
    points += 1 if is_contiguous(one.values) else 0
    points += 1 if one.look.kind == looks.PEOPLE else 0
    strength = 0
    for other in facts:
        if other in units or other.look.kind not in ATTRIBUTES or 2 * other.n_values > one.n_values:
            continue
        if one.determines(other).holds:
            strength = max(strength, 1 if other.look.kind == looks.LABELS else 2)
    return points + strength


def _by_rows(keys: Sequence[Facts], row_numbers: tuple[Facts, ...], facts: Sequence[Facts], n_rows: int) -> People:
    """No column is shared by rows as people are: every row is one, and perhaps a column names them."""
    ranked = sorted(keys, key=lambda one: (-one.id_rank, one.place))
    first = ranked[0] if ranked else None
    if first is None:
        single = next((one for one in row_numbers if one.id_rank), None) or next(iter(row_numbers), None)
        left = tuple(one for one in row_numbers if one is not single)
        question = (
            "No column identifies people: every row is read as one person. Is that so? If a person can have several "
            "rows, the file needs a column that says whose they are.",
        )
        reason = "It numbers the rows, and every row is one person." if single else ""
        return People(single, reason, row_numbers=left, questions=question, n_people=n_rows)
    others = tuple(one for one in ranked[1:] if one.id_rank == first.id_rank)
    questions: tuple[str, ...] = ()
    if first.id_rank == 2:
        questions = (_about_visits(first),)
    elif others:
        questions = (f"Which column identifies a person: {_listed([first, *others])}?",)
    return People(
        first,
        "Every row has its own value, so that one row is one person.",
        others=others,
        row_numbers=row_numbers,
        questions=questions,
        n_people=n_rows,
    )


def _about_visits(one: Facts) -> str:
    return (
        f'By its name, "{one.name}" identifies visits or orders, and no column identifies the people. Add a column of '
        "people; otherwise k counts visits, not people."
    )


def _reason(person: Facts, finer: Sequence[Facts], keys: Sequence[Facts]) -> str:
    n_rows = person.n_rows - person.n_missing
    text = f"{person.n_values:,} values in {n_rows:,} rows"
    if finer:
        return f'{text}; every "{finer[0].name}" belongs to one of them.'
    if keys:
        return f'{text}; "{keys[0].name}" is finer and differs from row to row.'
    return f"{text}; its name says so." if person.id_rank == 3 else f"{text}, and rows of one value belong together."


def _questions(
    person: Facts, points: int, visits: Sequence[Facts], others: Sequence[Facts], groups: Sequence[Facts]
) -> tuple[str, ...]:
    if others:
        return (f"Which column identifies a person: {_listed([person, *others])}?",)
    if groups:
        return (
            f'Is "{person.name}" a person and "{groups[0].name}" a group of people, such as a household or a ward? Or '
            f'is "{groups[0].name}" the person?',
        )
    if person.id_rank == 3:
        return ()
    if visits and not any(one.id_rank for one in (person, *visits)):
        return (
            f'Is "{person.name}" a person and "{visits[0].name}" one of their visits or orders? Or is '
            f'"{visits[0].name}" the person?',
        )
    if points < SURE:
        return (f'Does "{person.name}" identify people? It only has consecutive rows.',)
    return ()


def _listed(facts: Sequence[Facts]) -> str:
    return " or ".join(f'"{one.name}"' for one in facts[:4])


def _sequences(facts: Sequence[Facts], owners: Sequence[Facts]) -> tuple[Facts, ...]:
    """Columns that count the rows of a person or visit: 1, 2, 3, …"""
    found = []
    for one in facts:
        if one in owners or one.look.kind not in (looks.WHOLE, looks.AGE) or one.n_missing:
            continue
        if any(not owner.is_key and counts_rows(one.values, owner.values) for owner in owners):
            found.append(one)
    return tuple(found)

"""Which columns hold the items, and which hold names or categories of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setveil.io.profiles import looks
from setveil.io.profiles.facts import Facts
from setveil.io.profiles.people import People
from setveil.io.profiles.relations import n_pairs, overlap
from setveil.io.transactions.headers import numbered_columns

SHARED = 0.3  # of the values: columns that hold the same kind of thing
MOST_SHARED = 0.8  # of few values
NEARLY_ALL = 0.8  # of the columns
LEAST_ANSWERS = 3  # columns of two answers that make a matrix
MOST_GROUPED = 200  # columns compared with each other
RIVAL = 1  # points between columns that could both be the items
NAMED = 3  # points: a name or a code system says so


@dataclass(frozen=True)
class Items:
    """The columns of the items, and what else is about them."""

    columns: tuple[Facts, ...] = ()
    reason: str = ""
    names: tuple[Facts, ...] = ()  # one name per item
    categories: tuple[Facts, ...] = ()  # one category per item
    others: tuple[tuple[Facts, ...], ...] = ()  # that could be the items, too
    separator: str = ""  # of cells that hold lists
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Group:
    columns: tuple[Facts, ...]
    points: int
    reason: str


def choose_items(facts: Sequence[Facts], people: People) -> Items:
    """The columns of the items: several with the same values, codes, lists, or what differs within a person."""
    taken = {one.place for one in (people.person, *people.visits, *people.row_numbers, *people.sequences) if one}
    left = [one for one in facts if one.place not in taken and _can_be_items(one, people)]
    groups = _groups(left, facts)
    grouped = {one.place for group in groups for one in group.columns}
    groups += [_single(one, people) for one in left if one.place not in grouped]
    groups = [group for group in groups if group.points > 0]
    if not groups:
        return Items(questions=("Which columns hold the items? None looks like it: state them with --item.",))
    best = max(groups, key=lambda group: (group.points, -group.columns[0].place))
    best = _codes_of(best, groups)
    names, categories = _about(best, left)
    rivals = [
        group.columns
        for group in groups
        if group is not best
        and not set(group.columns) & {*names, *categories}
        and group.points >= min(best.points - RIVAL, NAMED)
    ]
    levels = [group.columns for group in groups if group is not best and set(group.columns) & set(categories)]
    return Items(
        best.columns,
        best.reason,
        tuple(names),
        tuple(categories),
        (*rivals, *levels),
        best.columns[0].look.separator,
        _questions(best, rivals, levels),
    )


def _can_be_items(one: Facts, people: People) -> bool:
    kind = one.look.kind
    if kind in (looks.EMPTY, looks.CONSTANT, looks.TIME, looks.MEASURE, looks.PEOPLE, looks.TEXT) or one.is_key:
        return kind == looks.TEXT and one.item_rank > 0
    if one.is_said_known or one.is_said_sensitive or one in people.others or kind == looks.AGE:
        return False
    return not (people.person and not people.person.is_key and people.person.determines(one).holds)


def _groups(left: Sequence[Facts], facts: Sequence[Facts]) -> list[_Group]:
    """Several columns that hold the same kind of thing."""
    answers = [one for one in left if one.look.kind == looks.ANSWERS]
    found: list[_Group] = []
    if len(answers) >= max(LEAST_ANSWERS, 0.5 * len(facts)):
        found.append(
            _Group(tuple(answers), NAMED, f"{len(answers)} columns hold two answers each, one column per item.")
        )
    numbered = numbered_columns([one.name for one in facts]) if facts[0].is_named else {}
    by_place = {one.place: one for one in left if one.look.kind != looks.ANSWERS}
    for positions in (
        run for run in numbered.values() if len(run) < NEARLY_ALL * len(facts)
    ):  # else names tell nothing
        columns = [by_place.pop(place) for place in positions if place in by_place]
        alike = [one for one in columns if _are_alike(one, columns[0])]
        if len(alike) > 1:
            found.append(_as_group(alike))
        by_place |= {one.place: one for one in columns if one not in alike or len(alike) < 2}
    rest = [
        one
        for one in by_place.values()
        if one.n_values >= looks.FEW and (one.look.system or one.look.kind in (looks.LABELS, looks.ID))
    ][:MOST_GROUPED]
    while rest:
        first, *rest = sorted(rest, key=lambda one: one.place)
        alike = [first, *(one for one in rest if overlap(first.values, one.values) >= SHARED)]
        rest = [one for one in rest if one not in alike]
        if len(alike) > 1:
            sparse = [one for one in by_place.values() if one.n_values < looks.FEW and _are_alike(one, first)]
            alike = sorted({*alike, *sparse}, key=lambda one: one.place)  # the last columns of long records
            for one in alike:
                by_place.pop(one.place)
            found.append(_as_group(alike))
    return found


def _are_alike(one: Facts, other: Facts) -> bool:
    """Whether two columns hold the same kind of thing; of few values nearly all must be shared."""
    is_small = min(one.n_values, other.n_values) < looks.FEW
    return overlap(one.values, other.values) >= (MOST_SHARED if is_small else SHARED)


def _as_group(columns: Sequence[Facts]) -> _Group:
    system = next((one.look.evidence for one in columns if one.look.system), "")
    what = f"{len(columns)} columns hold the same kind of values" + (f", {system}" if system else "")
    return _Group(tuple(columns), 2 + (NAMED if system else 0) + max(one.item_rank for one in columns), f"{what}.")


def _single(one: Facts, people: People) -> _Group:
    points, why = one.item_rank, []
    if one.look.system:
        points += NAMED
        why.append(f"its values look like {one.look.evidence}")
    if one.look.kind == looks.LISTS:
        points += NAMED
        why.append("its cells hold lists")
    if one.item_rank:
        why.append("its name says so")
    if one.n_values < looks.FEW and one.look.kind != looks.LISTS and points < NAMED:
        return _Group((one,), 0, "")
    points += {looks.LABELS: 1, looks.ID: 1, looks.ANSWERS: -3}.get(one.look.kind, 0)
    if people.person is not None and not people.person.is_key:
        n_rows = int(((one.values.numbers >= 0) & (people.person.values.numbers >= 0)).sum())
        if n_pairs(people.person.values, one.values) >= 0.5 * n_rows:
            points += 1
            why.append("people have several of its values, and values are shared by people")
    text = ", and ".join(why) or "its values repeat from row to row"
    return _Group((one,), points, f"{text[0].upper()}{text[1:]}.")


def _codes_of(best: _Group, groups: Sequence[_Group]) -> _Group:
    """Of names and codes that stand for the same things, the codes."""
    one = best.columns[0]
    if len(best.columns) > 1 or one.look.kind not in (looks.LABELS, looks.TEXT) or one.look.system or one.item_rank:
        return best
    for group in groups:
        code = group.columns[0]
        is_code = len(group.columns) == 1 and code.look.kind in (looks.ID, looks.WHOLE) and one is not code
        if is_code and one.determines(code).holds_always and code.determines(one).holds_always:
            return group
    return best


def _about(best: _Group, left: Sequence[Facts]) -> tuple[list[Facts], list[Facts]]:
    """Columns with the names of the items, and with their categories."""
    item = best.columns[0]
    names: list[Facts] = []
    categories: list[Facts] = []
    for one in left:
        if one in best.columns or len(best.columns) > 1 or not item.determines(one).holds:
            continue
        is_one_to_one = one.n_values >= 0.8 * item.n_values
        (names if is_one_to_one else categories).append(one)
    return names, categories


def _questions(
    best: _Group, rivals: Sequence[tuple[Facts, ...]], levels: Sequence[tuple[Facts, ...]]
) -> tuple[str, ...]:
    def shown(columns: Sequence[Facts]) -> str:
        return f'"{columns[0].name}"' + (f' to "{columns[-1].name}"' if len(columns) > 1 else "")

    if rivals:
        several = " or ".join(map(shown, (best.columns, *rivals[:3], *levels[:2])))
        return (f"Which columns hold the items: {several}?",)
    if levels:
        several = " or ".join(map(shown, levels[:3]))
        return (f"Are the items in {shown(best.columns)}, or are their categories the items: {several}?",)
    return ()

"""Questions about columns that could all be the person, or all be the items: errors with the commands that answer them.

Nobody guesses here. A record of a visit taken for a person weakens every k, and only the owner knows who is who.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from setveil.errors import InputError
from setveil.io.source import one_line
from setveil.io.transactions.headers import is_category, rank_of_ids, rank_of_items

ROLES = "setveil roles FILE explains the columns"
UNCLEAR = "; nothing is guessed."  # between what is unclear and how to state it
MOST = 3  # choices shown
SHOWN_ITEMS = 6  # columns
LEAST_ROWS = 20  # looked at; below, values may differ by chance


def refuse_two_people(names: Sequence[str], items: Sequence[int], where: str) -> None:
    """An error if several names say that a column identifies people, or what they do."""
    found = sorted((-rank_of_ids(name), place) for place, name in enumerate(names) if place not in items)
    ids = [place for rank, place in found if rank <= -2]
    if len(ids) < 2:
        return
    people = [place for place in ids if rank_of_ids(names[place]) == 3]
    item = _items(names, items)
    if len(people) == 1:
        visits = _listed(names, [place for place in ids if place not in people])
        raise _unclear(
            where,
            f"{_listed(names, ids)} could identify a person",
            f"For people use {_person(names, people[0])}{item}; {visits} would count visits, not people",
        )
    ways = " or ".join(f"{_person(names, place)}{item}" for place in ids[:MOST])
    raise _unclear(where, f"{_listed(names, ids)} could all identify a person", f"Use {ways}")


def refuse_two_items(names: Sequence[str], id_position: int | None, where: str) -> None:
    """An error if several names say that a column holds items: equally surely, or as products and their categories."""
    ranked = sorted((-rank_of_items(name), place) for place, name in enumerate(names) if place != id_position)
    best = [place for rank, place in ranked if rank and rank == ranked[0][0] and rank_of_ids(names[place]) < 2]
    levels = [place for rank, place in ranked if rank and is_category(names[place])]
    if len(best) < 2 and (not best or not set(levels) - set(best)):
        return
    found = list(dict.fromkeys([*best, *levels]))
    person = "" if id_position is None else _person(names, id_position)
    ways = " or ".join(f"{person}{_items(names, [place])}".strip() for place in found[:MOST])
    raise _unclear(where, f"{_listed(names, found)} could all hold the items", f"Use {ways}")


def refuse_other_items(names: Sequence[str], stem: str, positions: Sequence[int], where: str) -> None:
    """An error if a column holds items by its name beside numbered ones, such as a product beside its categories."""
    left = [place for place in range(len(names)) if place not in positions and rank_of_ids(names[place]) < 2]
    others = [place for place in left if rank_of_items(names[place]) > 1]
    if not others:
        return
    ids = [place for place, name in enumerate(names) if rank_of_ids(name) == 3]
    person = f"{_person(names, ids[0])} " if len(ids) == 1 else ""
    numbered = shlex.quote(f"{one_line(stem, 40)}*")
    one = shlex.quote(one_line(names[others[0]], 40))
    raise _unclear(
        where,
        f"{_listed(names, others[:1])} and the columns {numbered} could all hold the items",
        f"Use {person}--item {one} or {person}--item {numbered}",
    )


def refuse_forgotten_person(names: Sequence[str], where: str) -> None:
    """An error that names the column of the people where only the items were stated."""
    people = [place for place, name in enumerate(names) if rank_of_ids(name) > 1]
    if people:
        raise _unclear(where, "the items are stated, the people are not", f"Add {_person(names, people[0])}")


def refuse_unnamed_people(
    names: Sequence[str], items: Sequence[int], rows: Sequence[Sequence[str]], where: str
) -> None:
    """An error if every row would be a person while a column could say whose row it is."""
    if len(rows) < LEAST_ROWS:
        return
    from setveil.io.profiles.cells import table_of_rows
    from setveil.io.profiles.facts import facts_of

    left = [place for place in range(len(names)) if place not in items]
    table = table_of_rows([names[place] for place in left], [[row[place] for place in left] for row in rows])
    units = [left[one.place] for one in facts_of(table) if one.is_unit]
    if units:
        dropped = shlex.quote(",".join(one_line(names[place], 40) for place in units))
        raise _unclear(
            where,
            f"no column was named as the person, and {_listed(names, units)} could identify people",
            f"Use {_person(names, units[0])}{_items(names, items)}, or --drop {dropped} if every row is a person",
        )


def _unclear(where: str, what: str, fix: str) -> InputError:
    return InputError(f"{where}: {what}{UNCLEAR} {fix}. {ROLES}.")


def _person(names: Sequence[str], place: int) -> str:
    return f"--person {shlex.quote(one_line(names[place], 40))}"


def _items(names: Sequence[str], positions: Sequence[int]) -> str:
    if not positions:
        return ""
    text = ",".join(one_line(names[place], 40) for place in positions[:SHOWN_ITEMS])
    return f" --item {shlex.quote(text)}" if len(positions) <= SHOWN_ITEMS else " --item …"


def _listed(names: Sequence[str], positions: Sequence[int]) -> str:
    return " and ".join(f'"{one_line(names[place], 40)}"' for place in positions[:MOST])

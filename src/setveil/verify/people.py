"""How many people stand behind every crowd, where records are visits: counted plainly, one combination at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, isinf
from typing import NamedTuple

from setveil.errors import UncheckedError

MOST_COMBINATIONS = 20_000_000
MOST_RECORDS = 5_000  # distinct ones, where every record is compared with every other


class Behind(NamedTuple):
    """The smallest crowd in people, and how many crowds have fewer people than asked for."""

    smallest: int
    n_crowds: int
    n_below: int


def people_behind(
    records: Sequence[frozenset[str]],
    people: Sequence[int],
    known_items: float,
    k: int,
    classes: Sequence[object] | None = None,
) -> Behind:
    """For every set of at most ``known_items`` published items that occurs: how many people have a visit with it.

    ``classes``: what else is published of each record, such as generalized columns; crowds are counted within them.
    """
    rows = sorted({
        (person, number_of_class, record)
        for person, number_of_class, record in zip(people, _numbered(classes, len(records)), records, strict=True)
    }, key=lambda row: (row[0], row[1], sorted(row[2])))  # fmt: skip
    return _whole(rows, k) if isinf(known_items) else _parts(rows, int(known_items), k)


def _numbered(classes: Sequence[object] | None, n_records: int) -> list[int]:
    number_of: dict[object, int] = {}
    return [number_of.setdefault(one, len(number_of)) for one in classes] if classes is not None else [0] * n_records


def _parts(rows: Sequence[tuple[int, int, frozenset[str]]], m: int, k: int) -> Behind:
    n_combinations = sum(comb(len(record), size) for _, _, record in rows for size in range(m + 1))
    if n_combinations > MOST_COMBINATIONS:
        raise UncheckedError(f"people behind {n_combinations:,} combinations are too many to count one by one.")
    last: dict[tuple[int, tuple[str, ...]], int] = {}  # crowd: who was counted last
    n_people: dict[tuple[int, tuple[str, ...]], int] = {}
    for person, number_of_class, record in rows:
        labels = sorted(record)
        for size in range(m + 1):
            for chosen in combinations(labels, size):
                crowd = (number_of_class, chosen)
                if last.get(crowd) != person:
                    last[crowd] = person
                    n_people[crowd] = n_people.get(crowd, 0) + 1
    return _summed(list(n_people.values()), k)


def _whole(rows: Sequence[tuple[int, int, frozenset[str]]], k: int) -> Behind:
    """Crowds of whole records: who has a visit with everything that is published of one."""
    distinct = sorted({row[1:] for row in rows}, key=lambda row: (row[0], sorted(row[1])))
    if len(distinct) > MOST_RECORDS:
        raise UncheckedError(f"people behind {len(distinct):,} different records are too many to count one by one.")
    return _summed(
        [
            len({person for person, other, record in rows if other == number and record >= wanted})
            for number, wanted in distinct
        ],
        k,
    )


def _summed(counts: Sequence[int], k: int) -> Behind:
    return Behind(min(counts, default=0), len(counts), sum(count < k for count in counts))

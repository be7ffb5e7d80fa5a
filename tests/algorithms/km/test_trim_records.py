"""What stands against showing a record, against a look at every set of its places."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.km._trim_itemsets import COUNT, ITEM, KEPT, LAST, PREFIX, WANTED, number_itemsets
from setveil.algorithms.km._trim_records import DEAD, NOBODY, PRICED, list_conflicts, pairs_of, row_of
from setveil.algorithms.km.trim import EFFORTS
from setveil.algorithms.km.trim_search import Search

Entry = tuple[frozenset[int], float]


def searched(rng: random.Random, k: int, m: int) -> Search:
    """A search that has ended: what is shown is safe, and what nobody shows is given up."""
    records = [sorted(rng.sample("abcdefgh", rng.randint(1, 6))) for _ in range(rng.randint(8, 30))]
    data = sv.Transactions.from_lists(records)
    data = data.keep_items(data.supports >= k)
    numbered = number_itemsets(data, k, m, Context(None))
    assert numbered is not None
    search = Search(data, numbered, np.linspace(1.0, 1.5, data.n_items), k, m, EFFORTS["normal"], Context(None))
    search.run()
    return search


def naive_conflicts(
    search: Search, record: int, among: frozenset[int], fresh: frozenset[int], m: int
) -> tuple[set[Entry], set[Entry]]:
    """Dead and priced sets of places."""
    row = row_of(search.records, search.entries, record)
    numbers = {itemset_of(search, number): number for number in range(len(search.itemsets))}
    now = frozenset(np.flatnonzero(row[:, KEPT]).tolist())
    sets = [frozenset(one) for size in range(1, m + 1) for one in combinations(sorted(among), size)]

    def items(places: frozenset[int]) -> frozenset[int]:
        return frozenset(row[list(places), ITEM].tolist())

    def is_dead(places: frozenset[int]) -> bool:
        number = numbers.get(items(places))
        return number is None or search.itemsets[number, WANTED] == 0

    minimal = [one for one in sets if is_dead(one) and not any(is_dead(part) for part in sets if part < one)]
    dead = {(one, float(min(search.costs[item] for item in items(one)))) for one in minimal}
    in_question = frozenset().union(*minimal)
    priced = set()
    for one in sets:
        if any(part <= one for part in minimal) or not (one & fresh or one & in_question):
            continue
        others = search.itemsets[numbers[items(one)], COUNT] - (one <= now)
        price = (
            search.costs[search.limits.n_items + others] if others < len(search.costs) - search.limits.n_items else 0
        )
        if price > 0 and (one & in_question or not one <= now):
            priced.add((one, float(price)))
    return dead, priced


def itemset_of(search: Search, number: int) -> frozenset[int]:
    """The items of a numbered itemset."""
    items = set()
    while number >= 0:
        items.add(int(search.itemsets[number, LAST]))
        number = int(search.itemsets[number, PREFIX])
    return frozenset(items)


def word_of(places: frozenset[int]) -> np.uint64:
    return np.uint64(sum(1 << place for place in places))


def places_of(word: int) -> frozenset[int]:
    return frozenset(place for place in range(64) if word >> place & 1)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_conflicts_are_those_of_a_look_at_every_set(m: int) -> None:
    rng = random.Random(m)
    n_found = 0
    for _ in range(40):
        search = searched(rng, rng.choice((2, 3)), m)
        for record in range(len(search.records) - 1):
            row = row_of(search.records, search.entries, record)
            everything = frozenset(range(len(row)))
            hidden = everything - set(np.flatnonzero(row[:, KEPT]).tolist())
            some = frozenset(place for place in hidden if rng.random() < 0.5)
            cases = [(everything, hidden), (everything - hidden | some, some), (everything, everything)]
            for among, fresh in cases:
                search.wanted[:] = search.count >= search.k
                if fresh == everything:  # whatever was given up then
                    search.wanted[rng.sample(range(len(search.wanted)), 2)] = 0
                sizes = list_conflicts(
                    row,
                    pairs_of(search.records, search.pairs, record),
                    search.itemsets,
                    search.table,
                    search.costs,
                    search.conflicts,
                    search.stack,
                    search.limits,
                    word_of(everything - hidden),
                    word_of(among),
                    word_of(fresh),
                    NOBODY,
                )
                found = [
                    {(places_of(int(one["entry_set"])), float(one["cost"])) for one in search.conflicts[kind, :size]}
                    for kind, size in zip((DEAD, PRICED), sizes, strict=True)
                ]
                assert tuple(found) == naive_conflicts(search, record, among, fresh, m)
                n_found += sizes[0]
    assert n_found

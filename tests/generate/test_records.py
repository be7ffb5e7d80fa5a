"""Record generators are never changed: their records of a few tables are kept here for good."""

from __future__ import annotations

import hashlib
from itertools import combinations

import numpy as np
import pytest

from setveil.generate.records import GENERATORS, CountedSets, generate_records

# SHA-256 of row bounds and items as little-endian numbers, by generator and table. Never write these anew: a generator
# that makes other records is another generator, with another number.
KEPT = {
    (1, "pairs"): "4c2e720cd655b9506fb2da4a4fe6ff2fd965505caf9defb1e04080097268300b",
    (1, "triples"): "2fc1b57db44839fc30c591bcd430f93b255daf47731b17e26dda5fbcb92ed8f8",
    (1, "crowded"): "913e1bd31af3e9f301fd89aaa4234f552929841b82cae2f0ab9d424eb5e2df41",
    (1, "single items"): "40bbf642f07abcc4b24d61dfe24e3636a5e916cc4ec9f03abaf5137813a80c3d",
}


def table_of(name: str) -> CountedSets:
    """Counts that follow from the numbers of items alone."""
    n_items = {"pairs": 30, "triples": 25, "crowded": 6, "single items": 12}[name]
    n_records = {"pairs": 400, "triples": 600, "crowded": 60, "single items": 100}[name]
    singles = np.array([n_records // (2 + item // (3 if name == "crowded" else 1)) for item in range(n_items)])

    def sets(size: int, part: int) -> tuple[np.ndarray, np.ndarray]:
        found = [one for one in combinations(range(n_items), size) if sum(one) % part == 0]
        counts = [max(5, 5 * (int(min(singles[list(one)])) // (5 * size))) for one in found]
        return np.array(found, dtype=np.int32).reshape(-1, size), np.array(counts, dtype=np.int64)

    none = (np.empty((0, 3), dtype=np.int32), np.empty(0, dtype=np.int64))
    pairs = sets(2, 2) if name != "single items" else (none[0][:, :2], none[1])
    triples = sets(3, 7) if name in ("triples", "crowded") else none
    lengths = np.array([[0, 1, n_records // 4], [2, 4, n_records // 2], [5, 8, n_records - 3 * (n_records // 4)]])
    return CountedSets(5, singles.astype(np.int64), pairs[0], pairs[1], triples[0], triples[1], lengths)


def digest_of(number: int, name: str) -> str:
    """Of the records that a generator makes of a table."""
    made = generate_records(number, table_of(name), hashlib.sha256(name.encode()).digest())
    return hashlib.sha256(made.indptr.astype("<i8").tobytes() + made.items.astype("<i4").tobytes()).hexdigest()


@pytest.mark.parametrize(("number", "name"), list(KEPT))
def test_a_generator_makes_the_records_that_it_always_made(number: int, name: str) -> None:
    assert digest_of(number, name) == KEPT[number, name]


def test_every_generator_is_kept() -> None:
    assert {number for number, _ in KEPT} == set(GENERATORS)

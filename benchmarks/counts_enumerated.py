"""Every original behind a table of counts: python -m benchmarks.counts_enumerated [-n 8] [-k 2].

All data of n people over four items is made, and the table of each, as `tally` lists it where there are too many
triples (those that pairs predict are left out; r is k, and the limit of their number is not reached). An attacker who
knows table and rule knows that the original is one of those with this table. An unlisted itemset *follows* if between 1
and k - 1 people have it in all of them. Tables in which `verify` finds nothing are counted: what follows there, follows
from the rule, or from people being counted in whole numbers. Tables are taken before repair.
"""

from __future__ import annotations

import argparse
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

import setveil as sv
from setveil.verify.count_inference import Listed, find_revealed

CELLS = np.arange(16)
TRIPLES = (7, 11, 13, 14)


def rounded(counts: Any, k: int) -> Any:
    """As published; 0 for fewer than k people."""
    return np.where(counts < k, 0, np.maximum(k, (2 * counts + k) // (2 * k) * k))


def predicted(n: int, table: Any, triple: int) -> Any:
    """What items and pairs predict for a triple (largest entropy), by bisection, for all tables at once."""
    a, b, c = (table[:, 1 << item].astype(float) for item in range(4) if triple >> item & 1)
    ab, ac, bc = (table[:, triple ^ 1 << item].astype(float) for item in (3, 2, 1, 0) if triple >> item & 1)
    none = n - a - b - c + ab + ac + bc
    low = np.maximum.reduce([np.zeros(len(a)), ab + ac - a, ab + bc - b, ac + bc - c])
    high = np.minimum.reduce([ab, ac, bc, none])
    is_fixed, fixed = high <= low, np.maximum(np.minimum.reduce([low, ab, ac, bc]), 0)
    for _ in range(50):
        t = (low + high) / 2
        is_more = t * (a - ab - ac + t) * (b - ab - bc + t) * (c - ac - bc + t) > (ab - t) * (ac - t) * (bc - t) * (
            none - t
        )
        low, high = np.where(is_more, low, t), np.where(is_more, t, high)
    return np.where(is_fixed, fixed, (low + high) / 2)


def tables_of(supports: Any, n: int, k: int) -> Any:
    """The published count of every part, 0 where it is not listed."""
    table = rounded(supports, k)
    for triple in TRIPLES:
        wanted, rarest = table[:, triple], table[:, [triple ^ 1 << item for item in range(4) if triple >> item & 1]]
        off = np.abs(wanted - predicted(n, table, triple))
        table[:, triple] = np.where((wanted < rarest.min(axis=1)) & (off > np.maximum(k / 2, wanted / 10)), wanted, 0)
    table[:, [0, 15]] = 0
    return table


def is_accepted(parts: list[int], n: int, k: int) -> bool:
    """Whether the verifier finds nothing revealed."""
    items = [item for item in range(4) if parts[1 << item]]
    flat: list[Any] = []
    for size in (1, 2, 3):
        some = [one for one in combinations(range(len(items)), size) if parts[sum(1 << items[at] for at in one)]]
        flat.append(np.array(some, dtype=np.int64).reshape(-1, size))
        flat.append(np.array([parts[sum(1 << items[at] for at in one)] for one in some], dtype=np.int64))
    return find_revealed(Listed(len(items), n, flat[1], *flat[2:]), sv.Counts(k=k), lambda *_: None) is None


def main() -> None:
    """Print how many tables and originals there are, and behind how many a set follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=8)
    parser.add_argument("-k", type=int, default=2)
    asked = parser.parse_args()
    n, k = asked.n, asked.k
    people = np.array(list(combinations_with_replacement(range(16), n)), dtype=np.int64)
    cells = np.stack([(people == cell).sum(axis=1) for cell in CELLS], axis=1)
    supports = cells @ ((CELLS[:, None] & CELLS) == CELLS).astype(np.int64)
    tables, owner = np.unique(tables_of(supports, n, k), axis=0, return_inverse=True)
    least, most = np.full(tables.shape, n), np.zeros(tables.shape, dtype=np.int64)
    np.minimum.at(least, owner, supports)
    np.maximum.at(most, owner, supports)
    follows = (tables == 0) & (least >= 1) & (most < k) & (CELLS > 0)
    # Only items that are listed: of the others an attacker learns that fewer than k people have them.
    rare = sum(np.where(tables[:, 1 << item] == 0, 1 << item, 0) for item in range(4))
    follows &= (rare[:, None] & CELLS) == 0
    suspected = np.flatnonzero(follows.any(axis=1))
    found = [one for one in suspected.tolist() if is_accepted(tables[one].tolist(), n, k)]
    behind = int(np.isin(owner, found).sum())
    print(f"{len(supports):,} originals, {len(tables):,} tables; a set follows in {len(suspected):,} tables, of which")
    print(f"verify finds nothing in {len(found):,} ({behind:,} originals, {100 * behind / len(supports):.2f} %)")


if __name__ == "__main__":
    main()

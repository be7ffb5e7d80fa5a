"""Itemsets that are rare only because leaves below their members are suppressed.

An itemset of nodes a, b, … that at least k records contain may be published by fewer than k, if leaves below a, b, …
are suppressed. That is a violation of this set S of suppressed leaves only, so a row about it must be met by every
solution that suppresses others. It is: for any subset S' of S with which fewer than k records are left, and leaves i
below a, j below b, … that occur together in a record,

    s(i) + s(j) + … + u(above a) + u(above b) + … + Σ (1 - s(l) for l in S') ≥ 1

Proof. Suppose a valid solution breaks it. Then it suppresses all of S', does not suppress i, j, …, and publishes i as a
or as something below a, j as b or as something below b, and so on: as a*, b*, …. The record that has i, j, … shows all
of a*, b*, …. Every record that shows all of them has, for each member, a leaf below it that is not suppressed, so none
in S': there are fewer than k of these. So the itemset {a*, b*, …} occurs, and in fewer than k records: the solution is
not valid. (Two of a*, b*, … cannot be the same node, because a, b, … lie beside one another.) With S' empty this is the
row of an itemset that is rare in all records.

The fewer leaves S' has, the more solutions the row is about; so leaves are removed from it while the support stays
below k, those in the fewest records first.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km.count_tree import DistinctRecords
from setveil.core import Hierarchy


def condition_of(
    rows: DistinctRecords, hierarchy: Hierarchy, itemset: NDArray[np.int32], is_suppressed: NDArray[np.bool_], k: int
) -> tuple[list[int], list[tuple[int, ...]]]:
    """S', and the leaves i, j, … of each record that is left.

    ``rows``: leaves of the records that contain the itemset; ``is_suppressed``: bool[n_items], with which fewer than
    ``k`` records are left.
    """
    owners = np.repeat(np.arange(len(rows.weights)), np.diff(rows.indptr))
    member = np.full(len(rows.items), -1)
    place = hierarchy.first[rows.items]
    for number, node in enumerate(itemset.tolist()):
        member[(hierarchy.first[node] <= place) & (place < hierarchy.last[node])] = number
    is_inside = member >= 0
    leaves, owners, member = rows.items[is_inside], owners[is_inside], member[is_inside]
    is_hidden = is_suppressed[leaves]
    shown = np.zeros((len(itemset), len(rows.weights)), dtype=np.int64)  # leaves below each member, in each record
    np.add.at(shown, (member[~is_hidden], owners[~is_hidden]), 1)
    tuples = {
        choice
        for row in np.flatnonzero((shown > 0).all(axis=0)).tolist()
        for choice in product(
            *(leaves[(owners == row) & ~is_hidden & (member == number)].tolist() for number in range(len(itemset)))
        )
    }
    hidden, weight = np.unique(leaves[is_hidden]), np.zeros(hierarchy.n_items, dtype=np.int64)
    np.add.at(weight, leaves[is_hidden], rows.weights[owners[is_hidden]])
    needed = []
    for leaf in hidden[np.lexsort((hidden, weight[hidden]))].tolist():
        at = np.flatnonzero(leaves == leaf)
        shown[member[at], owners[at]] += 1
        if rows.weights[(shown > 0).all(axis=0)].sum() >= k:
            shown[member[at], owners[at]] -= 1
            needed.append(leaf)
    return needed, sorted(tuples)

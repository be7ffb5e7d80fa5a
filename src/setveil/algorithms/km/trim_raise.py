"""Trim with a hierarchy: publish entries as nodes above them rather than leave them out.

Entries that are left out are offered again as something more general: again and again as what a global recoding (AA,
refined) makes of them; then as their parents, as the nodes above those, and so on. Each time the records, with what
they show and what is offered, are trimmed like any others: published labels are counted as opaque items, and a node is
worth what it still tells (1 - LM). A step is taken if the loss falls, so that it never exceeds that of leaving out
alone.

Where the global recoding loses less than that, nothing is left out: records that are safe among themselves are
published as they are, the others by a global recoding of their own. An itemset is then shown by no record or by k or
more in each part, and so in both together. Should that lose more than recoding everything, everything is recoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy, Transactions, Vocabulary

REPEATS = 6  # offers of the nodes of the global recoding, at most
LEAST_WORTH = 0.001

Trimming = Callable[[Transactions, NDArray[np.float64]], NDArray[np.bool_]]  # rows, value of items -> entries to keep
Recoding = Callable[[Transactions], NDArray[np.int64] | None]  # rows -> nodes of their entries


def raise_entries(
    rows: Transactions,
    shown: NDArray[np.int64],
    value: NDArray[np.float64],
    hierarchy: Hierarchy,
    recode: Recoding,
    trim: Trimming,
) -> NDArray[np.int64]:
    """The node to publish for each entry, -1 for none; from ``shown``, what is safe without a hierarchy.

    ``value`` is what each entry is worth.
    """
    floor = recode(rows)
    leaves = hierarchy.leaf_of_items(rows.vocabulary)[rows.items].astype(np.int64)
    hides = np.bincount(rows.owners[shown < 0], minlength=rows.n_records) > 0
    worth = np.append(1.0 - (hierarchy.n_leaves - 1) / max(hierarchy.n_items - 1, 1), 0.0)  # the last for -1: nothing

    def told(nodes: NDArray[np.int64]) -> float:
        return float((value * worth[nodes]).sum())

    for offer, n_times in _offers(leaves, hierarchy, floor):
        for _ in range(n_times):
            tells = (shown < 0) & (worth[offer] > 0)
            if not tells.any():
                break
            tried = _trim_nodes(rows, np.where(tells, offer, shown), value, worth, trim)
            if told(tried) <= told(shown):
                break
            shown = tried
    if floor is None or told(floor) <= told(shown):
        return shown
    apart = _recode_the_rest(rows, leaves, hides, recode, trim)
    return apart if apart is not None and told(apart) > told(floor) else floor


def _recode_the_rest(
    rows: Transactions, leaves: NDArray[np.int64], hides: NDArray[np.bool_], recode: Recoding, trim: Trimming
) -> NDArray[np.int64] | None:
    """Records that are safe among themselves as they are, the others recoded; None if these cannot be.

    ``hides``: the records that are not shown as they are in any case.
    """
    while True:  # whoever has to leave something out, now that the others are gone, goes as well
        safe = np.flatnonzero(~hides)
        some = rows.select(safe)
        left_out = ~trim(some, np.ones(rows.n_items))
        if not left_out.any():
            break
        hides[safe[some.owners[left_out]]] = True
    others = recode(rows.select(np.flatnonzero(hides)))
    if others is None:
        return None
    nodes = leaves.copy()
    nodes[hides[rows.owners]] = others
    return nodes


def _offers(
    leaves: NDArray[np.int64], hierarchy: Hierarchy, floor: NDArray[np.int64] | None
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Nodes for all entries, [entries], -1 for none, and how often to offer them as long as something is gained."""
    if floor is not None:
        yield floor, REPEATS
    above = hierarchy.parent[leaves].astype(np.int64)
    while (above >= 0).any():
        yield np.where((above >= 0) & (hierarchy.n_leaves[above] > 1), above, -1), 1
        above = np.where(above >= 0, hierarchy.parent[above], -1)


def _trim_nodes(
    rows: Transactions,
    offered: NDArray[np.int64],
    value: NDArray[np.float64],
    worth: NDArray[np.float64],
    trim: Trimming,
) -> NDArray[np.int64]:
    """What is left of the nodes offered for each entry when they are trimmed like items."""
    there = offered >= 0
    owners = rows.owners[there]
    nodes, number = np.unique(offered[there], return_inverse=True)
    raised = Transactions.from_pairs(owners, number, rows.n_records, Vocabulary(str(node) for node in nodes.tolist()))
    mean_value = np.bincount(number, value[there], len(nodes)) / np.maximum(
        np.bincount(number, minlength=len(nodes)), 1
    )
    kept = trim(raised, np.maximum(mean_value * worth[nodes], LEAST_WORTH))
    width = max(len(nodes), 1)
    keys = (raised.owners * width + raised.items)[kept]  # ascending
    left = np.full(len(offered), -1, dtype=np.int64)
    left[there] = np.where(np.isin(owners * width + number, keys), offered[there], -1)
    return left

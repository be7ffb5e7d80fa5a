"""MM, total suppression of items for (h, k, p)-coherence.

Y. Xu, K. Wang, A. W.-C. Fu, P. S. Yu: Anonymizing transaction databases for publication. KDD 2008.

Guarantee: in the published data every set of at most p public items that occurs, occurs in at least k records, and at
most h percent of these records share any one sensitive item.

Preconditions: at least k non-empty records. Then there is always an answer: without any public item nothing is at risk.

Cost: the minimal moles are listed (millions for hundreds of items and p=3), which takes a walk over the sets of public
items that occur in at least k records; sets that breach h are sought among the sets of items in the records with the
sensitive item. The greedy part is linear in the list.

What follows the paper (the method as it is generally described, not its pseudocode): a *mole* is a set of at most p
public items that occurs, but in fewer than k records or with a sensitive item in more than h percent of its records;
items that are moles alone are suppressed first; then minimal moles (none of whose proper subsets is a mole) are found,
smaller ones first; then the item with the most minimal moles per lost information is suppressed, everywhere, until no
minimal mole is left. Suppressing an item changes no other support, so the minimal moles are found only once. Sensitive
items are never suppressed and never count as known.

Departures from the paper
1. Rare moles and breaching moles are found by separate walks and then compared. A breaching mole is frequent, so that
   it contains no rare one.
2. The moles stand in a flat array with an index by item, not in a tree with links. The sequence of suppressed items is
   that of the paper's greedy choice.
3. What suppressing an item loses is the number of its occurrences, or one per item (option ``loss``). Scores are
   compared as exact fractions; ties: the last item in ascending order, which gives the example printed by Liu and Wang
   (2010).
4. Percentages are compared exactly, as the decimal number that was given.
5. Records that become empty stay as empty records. The empty set of public items is not a mole.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.count_tree import DistinctRecords, node_order
from setveil.algorithms.km.threats import MAX_THREATS, Threats, find_threats, supersets
from setveil.arrays.mining import (
    Postings,
    add_bits,
    count_matches,
    invert_rows,
    mine_itemsets,
    sort_rows_by_item,
)
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.models import Coherence
from setveil.releases import Recoding

LOSSES = ("occurrences", "items")
BATCH = 50_000  # sets counted together


@dataclass(frozen=True)
class MM(Algorithm):
    """Suppresses the item with the most minimal moles per suppressed entry, until no mole is left."""

    loss: str = option(
        "occurrences",
        "the cost of suppressing an item: the number of its entries (occurrences), or 1 for each item (items)",
        LOSSES,
    )

    def run(self, data: Transactions, model: Coherence, context: Context) -> Recoding:
        require_k_records(data, model.k)
        sensitive = [item for item in data.vocabulary.numbers(model.sensitive).tolist() if item >= 0]
        is_public = np.ones(data.n_items, dtype=np.bool_)
        is_public[sensitive] = False
        is_suppressed = is_public & single_moles(data, sensitive, model)
        is_left = is_public & ~is_suppressed
        moles = Threats.of_size(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64))
        if is_left.any() and model.p > 1:
            moles = minimal_moles(data, is_left, sensitive, model, context)
            losses = data.supports if self.loss == "occurrences" else np.ones(data.n_items, dtype=np.int64)
            is_suppressed[eliminate(moles, losses, context)] = True
        details = {
            "minimal_moles": np.bincount(moles.sizes, minlength=2)[2:].tolist(),  # by size, from 2
            "suppressed_items": int(is_suppressed.sum()),
            "suppressed_occurrences": int(data.supports[is_suppressed].sum()),
        }
        return Recoding.from_clusters(data, np.where(is_suppressed, -1, np.arange(data.n_items)), details)


def single_moles(data: Transactions, sensitive: list[int], model: Coherence) -> NDArray[np.bool_]:
    """Which items alone are moles, bool[n_items]."""
    found = (data.supports > 0) & (data.supports < model.k)
    allowed = most_sharing(data.supports, model.h)
    for item in sensitive:
        found |= np.bincount(records_with(data, item).items, minlength=data.n_items) > allowed
    return found


def most_sharing(supports: NDArray[np.int64], h: float) -> NDArray[np.int64]:
    """How many of so many records may share a sensitive item: h percent, rounded down, without any float."""
    share = Fraction(str(h)) / 100
    values, where = np.unique(supports, return_inverse=True)
    allowed = [value * share.numerator // share.denominator for value in values.tolist()]
    return np.array(allowed, dtype=np.int64)[where.reshape(-1)]


def records_with(data: Transactions, item: int) -> Transactions:
    """The records that contain an item."""
    return data.select(data.owners[data.items == item])


def minimal_moles(
    data: Transactions, is_left: NDArray[np.bool_], sensitive: list[int], model: Coherence, context: Context
) -> Threats:
    """All minimal moles of two or more of the items left, none of which is a mole alone."""
    flat = Hierarchy.from_parents([-1] * data.n_items, data.vocabulary.labels)  # items are its leaves, same numbers
    public = data.recode(np.where(is_left, np.arange(data.n_items), -1), data.vocabulary)
    records = DistinctRecords.of_leaves(public, flat, context)
    order = node_order(flat, records.node_supports(flat), "frequency")  # items left; moles list theirs in this order
    breaching = breaching_moles(data, order, sensitive, model, context)  # none without sensitive items
    rare = find_threats(records, flat, order, model.k, min(model.p, records.longest), context)
    moles = breaching
    for size in np.unique(rare.sizes).tolist():
        of_size = rare.sizes == size
        itemsets, supports = np.ascontiguousarray(rare.nodes[of_size, :size]), rare.supports[of_size]
        is_minimal = ~supersets(itemsets, breaching)
        moles += Threats.of_size(itemsets[is_minimal], supports[is_minimal])
    return moles


def breaching_moles(
    data: Transactions, order: NDArray[np.int32], sensitive: list[int], model: Coherence, context: Context
) -> Threats:
    """The minimal ones of the frequent sets that share a sensitive item in more than h percent of their records."""
    found = Threats.of_size(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64))
    postings = add_bits(invert_rows(data.indptr, data.items, data.n_items), data.n_records)
    found_sets = [
        piece for item in sensitive for piece in sets_with_sensitive(records_with(data, item), order, model, context)
    ]
    for size in sorted({itemsets.shape[1] for itemsets, _ in found_sets}):
        candidates = [piece for piece in found_sets if piece[0].shape[1] == size]
        itemsets, n_sharing = (np.concatenate(arrays) for arrays in zip(*candidates, strict=True))
        is_new = np.flatnonzero(~supersets(itemsets, found))
        pieces: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        for batch in np.array_split(is_new, -(-len(is_new) // BATCH) or 1):
            context.step(f"sets of {size} public items", len(pieces) * BATCH / max(len(is_new), BATCH))
            pieces.append(breaches(itemsets[batch], n_sharing[batch], postings, model))
        itemsets, supports = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
        itemsets, first = np.unique(itemsets, axis=0, return_index=True)  # once, whichever sensitive item is shared
        found += Threats.of_size(itemsets, supports[first])
    return found


def sets_with_sensitive(
    holders: Transactions, order: NDArray[np.int32], model: Coherence, context: Context
) -> list[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Sets of 2 … p items in so many ``holders`` of a sensitive item that they may breach h, and in how many.

    Pieces of equal size: itemsets [n, size], counts [n]. A frequent set that breaches is in more than h percent of k
    holders. The walk wants rare items first: the last of ``order``.
    """
    least = int(most_sharing(np.array([model.k]), model.h)[0]) + 1
    place = np.full(holders.n_items, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)[::-1]
    is_left = place[holders.items] >= 0
    indptr = np.searchsorted(holders.owners[is_left], np.arange(holders.n_records + 1)).astype(np.int64)
    lists = invert_rows(indptr, place[holders.items[is_left]], len(order))
    rows = (indptr, sort_rows_by_item(lists, indptr))
    pieces: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
    n_listed = 0
    for first in np.flatnonzero(np.diff(lists[0]) >= least).tolist():
        context.step("sets of public items", first / len(order))
        ends, found, counts, is_complete = mine_itemsets(
            rows, lists, first, first + 1, least, min(model.p, len(order)), MAX_THREATS - n_listed
        )
        n_listed += len(counts)
        if not is_complete:
            raise InputError(
                f"more than {MAX_THREATS:,} sets of up to {model.p} items occur with a sensitive item, too many to "
                "list; lower p or increase h."
            )
        sizes = np.diff(ends, prepend=0)
        for size in range(2, int(sizes.max(initial=0)) + 1):
            of_size = np.flatnonzero(sizes == size)
            positions = found[(ends[of_size] - size)[:, None] + np.arange(size)]  # [n, size] ascending
            pieces.append((np.ascontiguousarray(order[len(order) - 1 - positions[:, ::-1]]), counts[of_size]))
    return pieces


def breaches(
    itemsets: NDArray[np.int32], n_sharing: NDArray[np.int64], postings: Postings, model: Coherence
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The frequent ones of the sets [n, size] more than h percent of whose records share, and their supports."""
    bounds = np.arange(len(itemsets) + 1, dtype=np.int64) * itemsets.shape[1]
    supports = count_matches(postings, np.empty(0, dtype=np.int64), (bounds, itemsets.reshape(-1)))
    is_breach = (supports >= model.k) & (n_sharing > most_sharing(supports, model.h))
    return itemsets[is_breach], supports[is_breach]


def eliminate(moles: Threats, losses: NDArray[np.int64], context: Context) -> list[int]:
    """Suppress the item with the most moles per loss until no mole is left; the items in the order of their
    suppression.

    The number of moles of an item only falls, so a score in the queue is an upper bound: an item whose score is still
    true when it comes first is the best.
    """
    is_member = moles.nodes >= 0
    n_moles = np.bincount(moles.nodes[is_member], minlength=len(losses)).astype(np.int64)  # [n_items] still alive
    lists = invert_rows(
        np.concatenate(([0], np.cumsum(moles.sizes))).astype(np.int64), moles.nodes[is_member], len(losses)
    )
    is_alive = np.ones(len(moles), dtype=np.bool_)
    n_alive = len(moles)
    queue = [(Fraction(-int(n_moles[item]), int(losses[item])), -item) for item in np.flatnonzero(n_moles).tolist()]
    heapq.heapify(queue)
    suppressed = []
    while n_alive:
        context.step("suppressing", 1 - n_alive / len(moles))
        score, item = heapq.heappop(queue)
        item = -item  # of equal scores the last item comes first
        now = Fraction(-int(n_moles[item]), int(losses[item]))
        if now != score:
            heapq.heappush(queue, (now, -item))
            continue
        gone = lists[1][lists[0][item] : lists[0][item + 1]]
        gone = gone[is_alive[gone]]
        members = moles.nodes[gone]
        n_moles -= np.bincount(members[members >= 0], minlength=len(losses))
        is_alive[gone] = False
        n_alive -= len(gone)
        suppressed.append(item)
    return suppressed

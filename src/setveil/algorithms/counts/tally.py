"""Tally: count itemsets, round the counts, and make records from them alone.

An own method. Counts of all single items and pairs that at least k people have are published, rounded to multiples of
r. Triples are published as long as they are not too many: those of the largest counts.

Guarantee: every published count is a multiple of r and stands for at least k people, no set of at most m + 1 items
reveals that 1 to k - 1 people have an unlisted itemset, and records follow from the published counts alone.

Steps:

1. *Mine* the itemsets of at most m items that at least k records have.
2. *Round*: max(r ⌈k/r⌉, r ⌊n/r + 1/2⌋).
3. *Choose triples*: one is kept if its rounded count is below the rounded counts of its pairs: a triple as frequent as
   one of its pairs would tell that whoever has these two items has the third. Where there are more triples than pairs,
   and more than 20,000, only those of the largest counts are kept. The certificate says from which count on triples
   are listed (``triples_from``): an unlisted triple has fewer people, or as many as one of its pairs. Recipients know
   this rule, and what it excludes is allowed for when it is checked what counts reveal.
4. *Repair* (``inference.py``): where counts reveal that 1 to k - 1 people have an itemset, a listed set is suppressed,
   until nothing is revealed. The certificate says whether this was necessary.
5. *Lengths*: how many listed items records have, in groups of at least k records, rounded in the same way. The largest
   group has the rest, so that the groups add up to the number of records, which is public. The end of the last group
   follows from the published counts, never from the longest record. One group where lengths could reveal something.
6. *Make records* (``generate/records.py``): a numbered generator, seeded by the SHA-256 of both files.

Preconditions: at least k records have items, or none has.

Cost: that of mining the itemsets, and of the swaps of the generator, which are limited.

Departures: there is no paper to depart from. ``seed`` has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.algorithms.counts.inference import Tables, sets_to_suppress
from setveil.algorithms.counts.lengths import do_lengths_reveal, length_groups
from setveil.arrays.mining import invert_rows, mine_itemsets, sort_rows_by_item
from setveil.core import Itemsets, Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InfeasibleError
from setveil.generate import records
from setveil.models import Counts
from setveil.releases.count_table import CountTable, encode_counts, encode_lengths, sorted_sets

MOST_SETS = 20_000_000  # itemsets that are mined
SLICES = 64  # of the items, between two chances to stop
FEW_TRIPLES = 20_000  # so many are listed, or as many as pairs are listed


class Sets(NamedTuple):
    """Itemsets over the listed items, and their rounded counts."""

    sizes: NDArray[np.int64]
    items: NDArray[np.int32]  # one itemset after the other, each ascending
    counts: NDArray[np.int64]

    def kept(self, is_kept: NDArray[np.bool_]) -> Sets:
        """Some of the itemsets."""
        return Sets(self.sizes[is_kept], self.items[np.repeat(is_kept, self.sizes)], self.counts[is_kept])

    def of_size(self, size: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The itemsets of one size, int32[sets, size], and their counts."""
        is_wanted = self.sizes == size
        return self.items[np.repeat(is_wanted, self.sizes)].reshape(-1, size), self.counts[is_wanted]


@dataclass(frozen=True)
class Tally(Algorithm):
    """Publishes rounded counts of single items, pairs and triples, and records made from them."""

    def run(self, data: Transactions, model: Counts, context: Context) -> CountTable:
        require_k_records(data, model.k)
        is_listed = data.supports >= model.k
        rows = data.keep_items(is_listed)
        vocabulary = Vocabulary(label for label, listed in zip(data.vocabulary, is_listed, strict=True) if listed)
        number = vocabulary.numbers(data.vocabulary[item] for item in np.flatnonzero(is_listed).tolist())
        sets = rounded(mine(rows, model, context), number, model)
        sets, triples_from = with_chosen_triples(sets, model)
        few = data.n_records if model.m < 3 else max(model.k - 1, triples_from - model.r // 2 - 1)
        n_before = len(sets.counts)
        sets, items = repaired(sets, data.n_records, len(vocabulary), few, model, context)
        if len(items) < len(vocabulary):
            vocabulary, sets, rows = without_items(vocabulary, sets, items, rows)
        itemsets, counts = sorted_sets(*sets, vocabulary)
        of_rows = rows.lengths, int(sets.counts[sets.sizes == 1].sum()), model.k, model.r
        lengths = length_groups(*of_rows)
        tables = as_tables(sets, list(range(len(vocabulary))), data.n_records, few)
        if do_lengths_reveal(tables, lengths, len(sets.counts) < n_before, model, context):
            lengths = length_groups(*of_rows, is_one=True)
        published = make_records(itemsets, counts, lengths, model.k, data, context)
        return CountTable(
            published=published,
            sets=itemsets,
            counts=counts,
            lengths=lengths,
            generator=records.LATEST,
            repaired=len(sets.counts) < n_before,
            triples_from=triples_from if model.m == 3 else None,
            details={"suppressed_sets": n_before - len(sets.counts)},
        )


def mine(rows: Transactions, model: Counts, context: Context) -> Sets:
    """All itemsets of at most m items in at least k records, with their supports; items are numbers of ``rows``."""
    by_support = np.argsort(rows.supports, kind="stable")
    rank = np.empty(rows.n_items, dtype=np.int32)
    rank[by_support] = np.arange(rows.n_items)
    lists = invert_rows(rows.indptr, rank[rows.items], rows.n_items)
    ranked = (rows.indptr, sort_rows_by_item(lists, rows.indptr))
    sizes, items, supports = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    bounds = np.linspace(0, rows.n_items, min(SLICES, max(rows.n_items, 1)) + 1).astype(np.int64).tolist()
    n_left = MOST_SETS
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        context.step("counting itemsets", first / max(rows.n_items, 1))
        ends, found, counted, is_complete = mine_itemsets(ranked, lists, first, last, model.k, model.m, n_left)
        if not is_complete:
            raise InfeasibleError(
                f"more than {MOST_SETS:,} itemsets of up to {model.m} items are in {model.k} records or more; choose a "
                "larger k or a smaller m.",
                items=(),
            )
        n_left -= len(counted)
        sizes.append(np.diff(ends, prepend=0))
        items.append(by_support[found].astype(np.int32))
        supports.append(counted)
    return Sets(np.concatenate(sizes), np.concatenate(items), np.concatenate(supports))


def rounded(mined: Sets, number: NDArray[np.int32], model: Counts) -> Sets:
    """Over the listed items' numbers, each itemset ascending, with rounded counts."""
    owner = np.repeat(np.arange(len(mined.sizes)), mined.sizes)
    items = number[mined.items]
    items = items[np.lexsort((items, owner))].astype(np.int32)
    return Sets(mined.sizes, items, round_counts(mined.counts, model.k, model.r))


def round_counts(counts: NDArray[np.int64], k: int, r: int) -> NDArray[np.int64]:
    """To multiples of r, none below k."""
    return np.maximum(r * -(-k // r), r * ((2 * counts + r) // (2 * r)))


def with_chosen_triples(sets: Sets, model: Counts) -> tuple[Sets, int]:
    """Without the triples that are as frequent as one of their pairs, and only with those of the largest counts where
    there are many; the count from which triples are listed.
    """
    start = model.r * -(-model.k // model.r)
    triples, counts = sets.of_size(3)
    if not len(triples):
        return sets, start
    pairs, pair_counts = sets.of_size(2)
    n_items = int(sets.items.max()) + 1
    keys = pairs[:, 0].astype(np.int64) * n_items + pairs[:, 1]
    order = np.argsort(keys)

    def in_pairs(some: NDArray[np.int32]) -> NDArray[np.int64]:
        wanted = some[:, 0].astype(np.int64) * n_items + some[:, 1]
        return pair_counts[order][np.searchsorted(keys[order], wanted)]

    chosen = counts < np.min([in_pairs(triples[:, [a, b]]) for a, b in ((0, 1), (0, 2), (1, 2))], axis=0)
    most = max(len(pairs), FEW_TRIPLES)
    if len(triples) > most:
        largest = np.sort(counts[chosen])[::-1]
        if len(largest) > most:
            start = int(largest[most]) + model.r  # all triples of one count, or none of them
        chosen &= counts >= start
    is_kept = sets.sizes < 3
    is_kept[np.flatnonzero(~is_kept)[chosen]] = True
    return sets.kept(is_kept), start


def repaired(
    sets: Sets, n_records: int, n_items: int, few: int, model: Counts, context: Context
) -> tuple[Sets, list[int]]:
    """Without the itemsets whose counts would reveal a small one, and the items that are listed still, ascending."""
    items = list(range(n_items))
    n_before = len(sets.counts)
    while True:
        tables = as_tables(sets, items, n_records, few)
        gone, without = sets_to_suppress(tables, len(sets.counts) < n_before, model, context)
        lost = {tuple(items[item] for item in one) for one in gone} | {(items[item],) for item in without}
        if not lost:
            return sets, items
        dropped = {items[item] for item in without}
        starts = (np.cumsum(sets.sizes) - sets.sizes).tolist()
        flat = sets.items.tolist()
        listed = [tuple(flat[a : a + size]) for a, size in zip(starts, sets.sizes.tolist(), strict=True)]
        sets = sets.kept(np.array([one not in lost and dropped.isdisjoint(one) for one in listed], dtype=bool))
        items = [item for item in items if item not in dropped]
        if not without:
            return sets, items


def as_tables(sets: Sets, items: list[int], n_records: int, few: int) -> Tables:
    """The counts of each size; items are numbered by their place in ``items``."""
    alone, counts = sets.of_size(1)
    (pairs, pair_counts), (triples, triple_counts) = sets.of_size(2), sets.of_size(3)
    number = np.full(max(items, default=0) + 1, -1, dtype=np.int64)
    number[items] = np.arange(len(items))
    by_size = number[pairs], pair_counts, number[triples], triple_counts
    return Tables(len(items), n_records, few, counts[np.argsort(alone[:, 0])], *by_size)


def without_items(
    vocabulary: Vocabulary, sets: Sets, items: list[int], rows: Transactions
) -> tuple[Vocabulary, Sets, Transactions]:
    """Vocabulary, itemsets and records with the given items only."""
    smaller = Vocabulary(vocabulary[item] for item in items)
    number = smaller.numbers(vocabulary)
    is_kept = smaller.numbers(rows.vocabulary) >= 0
    owner = np.repeat(np.arange(len(sets.sizes)), sets.sizes)
    renumbered = number[sets.items]  # the order of labels may change once the last that is no number is gone
    ordered = renumbered[np.lexsort((renumbered, owner))].astype(np.int32)
    return smaller, Sets(sets.sizes, ordered, sets.counts), rows.keep_items(is_kept)


def make_records(
    sets: Itemsets,
    counts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    k: int,
    data: Transactions,
    context: Context,
) -> Transactions:
    """The records of a table; nothing of the data but its layout is used."""
    sizes = np.diff(sets.indptr)
    by_size = {
        size: (sets.items[np.repeat(sizes == size, sizes)].reshape(-1, size), counts[sizes == size])
        for size in (1, 2, 3)
    }
    table = records.CountedSets(k, by_size[1][1], *by_size[2], *by_size[3], lengths)
    seed = records.seed_of(
        b"".join(encode_counts(sets.vocabulary, sets.indptr, sets.items, counts)), b"".join(encode_lengths(lengths))
    )
    made = records.generate_records(records.LATEST, table, seed, lambda share: context.step("making records", share))
    return Transactions(made.indptr, made.items, sets.vocabulary, None, data.layout)

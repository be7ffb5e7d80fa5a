# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Which records contain what: inverted lists, and what follows from intersecting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown, place_in
from setveil.arrays.threads import for_slices

Lists: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, records: the records of each item, ascending
Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items: ascending in each row
Queries: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items: one itemset per query

_SHARE = 64  # queries that are asked together
_LONG = 1 << 22  # records times queries above which all processors are asked
_DENSE = 64  # an item in more than one of so many records is kept as bits


class Postings(NamedTuple):
    """The records of each item: a list for a rare item, a row of bits for a frequent one.

    Bits cost at most twice the memory of the lists they replace, and intersecting them looks at 64 records at once.
    """

    indptr: NDArray[np.int64]  # [items + 1]
    records: NDArray[np.int32]  # ascending for each item; not looked at for frequent ones
    dense: NDArray[np.int32]  # [items] row of ``bits``, -1 for rare items
    bits: NDArray[np.uint64]  # [frequent items, words]
    n_records: int


def pack_postings(lists: Sequence[NDArray[np.integer[Any]]], n_records: int) -> Postings:
    """Postings from one ascending list of records per item."""
    lengths = np.array([len(records) for records in lists], dtype=np.int64)
    dense, bits = _pack_dense(lists, lengths, n_records)
    kept = [records if dense[item] < 0 else records[:0] for item, records in enumerate(lists)]
    indptr = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum(np.where(dense < 0, lengths, 0), out=indptr[1:])
    joined = np.concatenate(kept) if kept else np.empty(0)
    return Postings(indptr, joined.astype(np.int32), dense, bits, n_records)


def index_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> Postings:
    """Postings of rows of items."""
    n_records, supports = len(indptr) - 1, count_items(items, n_items)
    dense, bits = _room_for_bits(supports, n_records)
    bounds = np.zeros(n_items + 1, dtype=np.int64)
    np.cumsum(np.where(dense < 0, supports, 0), out=bounds[1:])
    records = np.empty(bounds[-1], dtype=np.int32)
    fill_postings(indptr, items, dense, bounds[:-1].copy(), records, bits)
    return Postings(bounds, records, dense, bits, n_records)


def join_postings(one: Postings, other: Postings) -> Postings:
    """Postings of the items of both, over the same records; those of the other come after."""
    is_same = one.bits is other.bits  # as of the same records under two readings: bits take most of the memory
    dense = other.dense if is_same else np.where(other.dense >= 0, other.dense + len(one.bits), -1).astype(np.int32)
    return Postings(
        np.concatenate((one.indptr, other.indptr[1:] + one.indptr[-1])),
        np.concatenate((one.records, other.records)),
        np.concatenate((one.dense, dense)),
        one.bits if is_same else np.concatenate((one.bits, other.bits)),
        one.n_records,
    )


def add_bits(lists: Lists, n_records: int) -> Postings:
    """Postings from inverted lists, which stay as they are: those of frequent items, too."""
    indptr, records = lists
    views = [records[start:end] for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)]
    return Postings(indptr, records, *_pack_dense(views, np.diff(indptr), n_records), n_records)


def _room_for_bits(supports: NDArray[np.int64], n_records: int) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """``dense`` and ``bits`` of postings, no bit of which is set yet."""
    is_dense = supports * _DENSE > n_records
    dense = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
    return dense, np.zeros((int(is_dense.sum()), -(-n_records // 64)), dtype=np.uint64)


def _pack_dense(
    lists: Sequence[NDArray[np.integer[Any]]], lengths: NDArray[np.int64], n_records: int
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    dense, bits = _room_for_bits(lengths, n_records)
    frequent = np.flatnonzero(dense >= 0).tolist()
    for_slices(
        lambda first, last: [set_bits(lists[item], bits[dense[item]]) for item in frequent[first:last]],
        [(first, first + 1) for first in range(len(frequent))],
    )
    return dense, bits


@compiled
def set_bits(records: NDArray[np.integer], bits: NDArray[np.uint64]) -> None:
    """Set the bits of some records."""
    for record in records:
        bits[record >> 6] |= np.uint64(1) << np.uint64(record & 63)


def sorted_distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ascending and each once. Sorting beats the hashing of ``np.unique`` by far where there are few repeats."""
    ordered = np.sort(keys)
    return ordered[np.concatenate((np.ones(min(len(keys), 1), dtype=bool), ordered[1:] != ordered[:-1]))]


# -- lists ------------------------------------------------------------------------------------------------------------


@compiled
def count_items(items: NDArray[np.int32], n_items: int) -> NDArray[np.int64]:
    """How often each item occurs."""
    supports = np.zeros(n_items, dtype=np.int64)
    for item in items:
        supports[item] += 1
    return supports


@compiled
def fill_postings(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    dense: NDArray[np.int32],
    fill: NDArray[np.int64],
    records: NDArray[np.int32],
    bits: NDArray[np.uint64],
) -> None:
    """Set the bits of frequent items and list the rows of the others; ``fill``: where the list of each begins."""
    for row in range(len(indptr) - 1):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for place in range(indptr[row], indptr[row + 1]):
            item = items[place]
            if dense[item] >= 0:
                bits[dense[item], word] |= bit
            else:
                records[fill[item]] = row
                fill[item] += 1


@compiled
def invert_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> Lists:
    """The rows of each item, ascending."""
    list_indptr = np.zeros(n_items + 1, dtype=np.int64)
    for item in items:
        list_indptr[item + 1] += 1
    for item in range(n_items):
        list_indptr[item + 1] += list_indptr[item]
    fill = list_indptr[:-1].copy()
    rows = np.empty(len(items), dtype=np.int32)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            rows[fill[items[place]]] = row
            fill[items[place]] += 1
    return list_indptr, rows


@compiled
def sort_rows_by_item(lists: Lists, indptr: NDArray[np.int64]) -> NDArray[np.int32]:
    """The rows behind inverted lists, each in ascending order of its items."""
    list_indptr, list_rows = lists
    fill = indptr[:-1].copy()
    items = np.empty(len(list_rows), dtype=np.int32)
    for item in range(len(list_indptr) - 1):
        for at in range(list_indptr[item], list_indptr[item + 1]):
            items[fill[list_rows[at]]] = item
            fill[list_rows[at]] += 1
    return items


@compiled
def intersect(common: NDArray[np.int32], n_common: int, other: NDArray[np.int32]) -> int:
    """Keep in ``common[:n_common]`` what ``other`` has too, both ascending; returns how many stay."""
    kept, low, at = 0, 0, 0
    if len(other) <= 8 * n_common:  # side by side, without a branch that could be guessed wrongly
        while at < n_common and low < len(other):
            wanted, there = common[at], other[low]
            common[kept] = wanted
            kept += wanted == there
            at += wanted <= there
            low += there <= wanted
        return kept
    for at in range(n_common):
        wanted = common[at]
        step = 1
        while low + step < len(other) and other[low + step] < wanted:
            low += step
            step *= 2
        high = min(low + step, len(other))  # other[high] >= wanted, or the end
        while low < high:
            middle = (low + high) // 2
            if other[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == len(other):
            break
        if other[low] == wanted:
            common[kept] = wanted
            kept += 1
    return kept


# -- queries ----------------------------------------------------------------------------------------------------------


def count_matches(
    postings: Postings,
    weights: NDArray[np.int64],
    queries: Queries,
    tell: Callable[[float], None] | None = None,
) -> NDArray[np.int64]:
    """The total weight of the records that contain each queried itemset; an empty ``weights`` means 1 each.
    ``tell`` is called with the share that is done.
    """
    n_queries = len(queries[0]) - 1
    counts = np.zeros(n_queries, dtype=np.int64)
    share = _SHARE if n_queries * postings.n_records > _LONG else max(n_queries, 1)
    slices = [(first, min(first + share, n_queries)) for first in range(0, n_queries, share)]
    for_slices(lambda first, last: count_some_matches(postings, weights, queries, first, last, counts), slices, tell)
    return counts


@compiled
def count_some_matches(
    postings: Postings, weights: NDArray[np.int64], queries: Queries, first: int, last: int, counts: NDArray[np.int64]
) -> None:
    """``count_matches`` of the queries ``first:last``."""
    query_indptr, query_items = queries
    words = np.empty(postings.bits.shape[1], dtype=np.uint64)
    for query in range(first, last):
        itemset = query_items[query_indptr[query] : query_indptr[query + 1]]
        if len(itemset) == 0 and len(weights) == 0:
            counts[query] = postings.n_records
            continue
        if len(itemset) > 0 and are_dense(postings, itemset):
            and_bits(postings, itemset, words)
            if len(weights) == 0:
                for word in words:
                    counts[query] += popcount(word)
                continue
        common = common_records(postings, itemset, words)
        if len(weights) == 0:
            counts[query] = len(common)
        for record in common[: len(weights)]:
            counts[query] += weights[record]


@compiled
def count_holders(postings: Postings, items: NDArray[np.integer]) -> int:
    """The number of records that have any of the items."""
    words = np.zeros(postings.bits.shape[1], dtype=np.uint64)
    for item in items:
        if postings.dense[item] >= 0:
            row = postings.bits[postings.dense[item]]
            for at in range(len(words)):
                words[at] |= row[at]
        else:
            set_bits(postings.records[postings.indptr[item] : postings.indptr[item + 1]], words)
    n_holders = np.int64(0)
    for word in words:
        n_holders += popcount(word)
    return n_holders


@compiled
def list_matches(postings: Postings, itemset: NDArray[np.int32]) -> NDArray[np.int32]:
    """The records that contain an itemset, ascending."""
    words = np.empty(postings.bits.shape[1], dtype=np.uint64)
    if len(itemset) > 0 and are_dense(postings, itemset):
        and_bits(postings, itemset, words)
    return common_records(postings, itemset, words)


@compiled
def sum_over_matches(
    postings: Postings,
    queries: Queries,
    values: NDArray[np.float32],
    which: NDArray[np.int64],
    group_of: NDArray[np.int64],
    own_group: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each query the sum of ``values[which[query]]`` over the records that contain it, and how many of these
    records are in ``own_group[query]``; an empty ``group_of`` means that there are no groups.
    """
    query_indptr, query_items = queries
    sums = np.zeros(len(which), dtype=np.float64)
    in_group = np.zeros(len(which), dtype=np.int64)
    for query in range(len(which)):
        itemset = query_items[query_indptr[query] : query_indptr[query + 1]]
        for record in list_matches(postings, itemset):
            sums[query] += values[which[query], record]
            if len(group_of) > 0 and group_of[record] == own_group[query]:
                in_group[query] += 1
    return sums, in_group


@compiled
def are_matches(postings: Postings, queries: Queries, records: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the given record of each query contains its itemset."""
    query_indptr, query_items = queries
    found = np.full(len(records), True, dtype=np.bool_)
    for query in range(len(records)):
        for item in query_items[query_indptr[query] : query_indptr[query + 1]]:
            if not contains_item(postings, item, records[query]):
                found[query] = False
                break
    return found


@compiled
def are_dense(postings: Postings, itemset: NDArray[np.int32]) -> bool:
    """Whether all items are frequent ones, of which there are bits."""
    for item in itemset:
        if postings.dense[item] < 0:
            return False
    return True


@compiled
def and_bits(postings: Postings, itemset: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
    """Write to ``words`` the records that contain all items, which must be frequent ones."""
    first = postings.bits[postings.dense[itemset[0]]]
    for at in range(len(words)):
        words[at] = first[at]
    for item in itemset[1:]:
        row = postings.bits[postings.dense[item]]
        for at in range(len(words)):
            words[at] &= row[at]


@compiled
def common_records(postings: Postings, itemset: NDArray[np.int32], words: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The records that contain all items; if all are frequent, ``words`` must hold their common bits."""
    if len(itemset) == 0:
        everybody = np.empty(postings.n_records, dtype=np.int32)
        for record in range(postings.n_records):
            everybody[record] = record
        return everybody
    shortest = -1  # of the lists
    for number in range(len(itemset)):
        item = itemset[number]
        if postings.dense[item] < 0 and (
            shortest < 0
            or postings.indptr[item + 1] - postings.indptr[item]
            < postings.indptr[itemset[shortest] + 1] - postings.indptr[itemset[shortest]]
        ):
            shortest = number
    if shortest < 0:
        n_common = 0
        for word in words:
            n_common += popcount(word)
        common = np.empty(n_common, dtype=np.int32)
        list_bits(words, common)
        return common
    item = itemset[shortest]
    common = postings.records[postings.indptr[item] : postings.indptr[item + 1]].copy()
    n_common = len(common)
    for item in itemset:  # bits first: looking one up is quick
        if postings.dense[item] >= 0:
            row = postings.bits[postings.dense[item]]
            kept = 0
            for record in common[:n_common]:
                common[kept] = record
                kept += np.int64((row[record >> 6] >> np.uint64(record & 63)) & np.uint64(1))
            n_common = kept
    for number in range(len(itemset)):
        item = itemset[number]
        if postings.dense[item] < 0 and number != shortest:
            others = postings.records[postings.indptr[item] : postings.indptr[item + 1]]
            n_common = intersect(common, n_common, others)
    return common[:n_common]


@compiled
def list_bits(words: NDArray[np.uint64], records: NDArray[np.int32]) -> int:
    """Write the numbers of the bits that are set to ``records``, ascending, and return how many there are."""
    n_records = np.int64(0)
    for number in range(len(words)):
        word = words[number]
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            records[n_records] = number * 64 + popcount(lowest - np.uint64(1))
            word ^= lowest
            n_records += 1
    return n_records


@compiled
def contains_item(postings: Postings, item: int, record: int) -> bool:
    """Whether a record contains an item."""
    if postings.dense[item] >= 0:
        word = postings.bits[postings.dense[item], record >> 6]
        return bool((word >> np.uint64(record & 63)) & np.uint64(1))
    begin, end = postings.indptr[item], postings.indptr[item + 1]
    at = place_in(postings.records, begin, end, record)
    return bool(at < end and postings.records[at] == record)


@compiled
def popcount(word: Any) -> Any:
    """The number of bits set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


# -- frequent itemsets ------------------------------------------------------------------------------------------------


@compiled
def mine_itemsets(
    rows: Rows, lists: Lists, first: int, last: int, min_support: int, max_size: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], bool]:
    """All itemsets of support ``min_support`` or more whose smallest item is in ``first:last``: indptr, items,
    supports.

    Eclat on the rows of each first item: the items that are frequent beside it become rows of bits over just these
    rows, and a depth-first walk intersects them. Number items in ascending order of support, so that there are few
    rows to a first item. The last result is false if there are more than ``limit`` itemsets; then the walk stopped
    early.
    """
    indptr, items = rows
    list_indptr, list_rows = lists
    n_items = len(list_indptr) - 1
    found_end = np.empty(1024, dtype=np.int64)
    found_items = np.empty(1024, dtype=np.int32)
    found_support = np.empty(1024, dtype=np.int64)
    n_found, n_written = 0, 0
    n_with = np.zeros(n_items, dtype=np.int64)
    slot = np.full(n_items, -1, dtype=np.int64)
    # Extensions of the current prefix and of its ancestors: item, and the rows that contain prefix and item as bits.
    ext_item = np.empty(n_items + 1, dtype=np.int32)
    bits = np.empty(1024, dtype=np.uint64)
    cursor = np.empty(n_items + 2, dtype=np.int64)  # [depth] next extension to add to the prefix
    ext_end = np.zeros(n_items + 2, dtype=np.int64)  # [depth] end of its extensions
    for item in range(first, last):
        in_rows = list_rows[list_indptr[item] : list_indptr[item + 1]]
        if len(in_rows) < min_support:
            continue
        for row in in_rows:
            for place in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
                if items[place] == item:
                    break
                n_with[items[place]] += 1
        n_ext = 0
        for other in range(item + 1, n_items):
            if n_with[other] >= min_support and max_size > 1:
                slot[other] = n_ext
                ext_item[n_ext] = other
                n_ext += 1
        if n_found + 1 + n_ext > limit:
            return found_end[:0], found_items[:0], found_support[:0], False
        if n_found + 1 + n_ext > len(found_end):
            found_end, found_support = grown(found_end, n_found + 1 + n_ext), grown(found_support, n_found + 1 + n_ext)
        if n_written + 1 + 2 * n_ext > len(found_items):
            found_items = grown(found_items, n_written + 1 + 2 * n_ext)
        found_items[n_written] = item
        n_written += 1
        found_end[n_found], found_support[n_found] = n_written, len(in_rows)
        n_found += 1
        for at in range(n_ext):
            found_items[n_written], found_items[n_written + 1] = item, ext_item[at]
            n_written += 2
            found_end[n_found], found_support[n_found] = n_written, n_with[ext_item[at]]
            n_found += 1

        n_words = (len(in_rows) + 63) // 64
        if n_ext * n_words > len(bits):
            bits = np.empty(2 * n_ext * n_words, dtype=np.uint64)
        bits[: n_ext * n_words] = 0
        for at in range(len(in_rows)):
            row = in_rows[at]
            for place in range(indptr[row + 1] - 1, indptr[row] - 1, -1):
                if items[place] == item:
                    break
                n_with[items[place]] = 0
                if slot[items[place]] >= 0:
                    bits[slot[items[place]] * n_words + (at >> 6)] |= np.uint64(1) << np.uint64(at & 63)
        for at in range(n_ext):
            slot[ext_item[at]] = -1

        # The prefix is the first item and, at each depth above 0, the extension before the cursor.
        depth, cursor[0], ext_end[0] = 0, 0, n_ext
        while depth >= 0:
            if cursor[depth] == ext_end[depth] or depth + 3 > max_size:
                depth -= 1
                continue
            one = cursor[depth]
            cursor[depth] += 1
            top = ext_end[depth]
            need = top + ext_end[depth] - one
            if need > len(ext_item):
                ext_item = grown(ext_item, need)
            if need * n_words > len(bits):
                bits = grown(bits, need * n_words)
            for two in range(one + 1, ext_end[depth]):
                support = 0
                for word in range(n_words):
                    both = bits[one * n_words + word] & bits[two * n_words + word]
                    bits[top * n_words + word] = both
                    support += popcount(both)
                if support < min_support:
                    continue
                ext_item[top] = ext_item[two]
                top += 1
                if n_found == limit:
                    return found_end[:0], found_items[:0], found_support[:0], False
                if n_found == len(found_end):
                    found_end, found_support = grown(found_end, n_found + 1), grown(found_support, n_found + 1)
                if n_written + depth + 3 > len(found_items):
                    found_items = grown(found_items, n_written + depth + 3)
                found_items[n_written] = item
                for level in range(depth + 1):
                    found_items[n_written + 1 + level] = ext_item[cursor[level] - 1]
                found_items[n_written + depth + 2] = ext_item[two]
                n_written += depth + 3
                found_end[n_found], found_support[n_found] = n_written, support
                n_found += 1
            depth += 1
            cursor[depth], ext_end[depth] = ext_end[depth - 1], top
    return found_end[:n_found], found_items[:n_written], found_support[:n_found], True

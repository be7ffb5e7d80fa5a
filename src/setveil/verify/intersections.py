# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""All intersections of the records with one sensitive item, made record by record.

After the first r records the family holds every intersection of some of them. The next record adds itself and its
intersection with each member; so by induction the last family holds them all. Each item has a family of its own: the
records with it, over this and more frequent items. An intersection is in the family of its rarest item. Members are
sets of bits. Nothing here is shared with the algorithms, which walk over items instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import UncheckedError
from setveil.verify.counting import compiled
from setveil.verify.tables import Table

BUDGET = 20_000_000  # steps per compiled call
MOST_STEPS = 4_000_000_000  # steps, before the answer is "cannot be verified"
MOST_WORDS = 200_000_000  # of 64 bits, for the members of one family
ROOM = 1000  # members of a family, at first
AT_ONCE = 10_000  # intersections given out together

DONE, PAUSED, FULL = range(3)  # how ``add_records`` comes back
# Positions in its state
RECORD, MEMBER, N_BEFORE, N_MEMBERS = range(4)

Itemsets = tuple[NDArray[np.int64], NDArray[np.int32]]  # bounds, and items in ascending order


class Steps:
    """The work that was done, to give up beyond a limit."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.done = progress, 0

    def add(self, steps: int) -> None:
        self.done += steps
        self.progress("verify", None)
        if self.done > MOST_STEPS:
            raise UncheckedError(
                f"more than {MOST_STEPS:,} entries of records would have to be compared; choose a smaller -p."
            )


@compiled
def number_items(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    records: NDArray[np.int32],
    item: int,
    numbers: NDArray[np.int32],  # [n_items] out: -1 for items of these records that get no bit
    chosen: NDArray[np.int32],  # [n_items] out: the items that get one
) -> int:
    """Choose the items from ``item`` on that two of its records have; 0 if all of them have an item before it."""
    for record in records:
        for at in range(indptr[record], indptr[record + 1]):
            numbers[items[at]] = 0
    for record in records:
        for at in range(indptr[record], indptr[record + 1]):
            numbers[items[at]] += 1
    n_bits = 0
    has_earlier = False
    for record in records:
        for at in range(indptr[record], indptr[record + 1]):
            other = items[at]
            if other < item:
                has_earlier = has_earlier or numbers[other] == len(records)
            elif numbers[other] > 1:
                chosen[n_bits] = other
                n_bits += 1
            numbers[other] = -1
    return 0 if has_earlier else n_bits


@compiled
def set_bits(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    records: NDArray[np.int32],
    numbers: NDArray[np.int32],
    bits: NDArray[np.uint64],  # [records, words] out
) -> None:
    """The records as sets of bits."""
    for row in range(len(records)):
        for at in range(indptr[records[row]], indptr[records[row] + 1]):
            bit = numbers[items[at]]
            if bit >= 0:
                bits[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@compiled
def _is_new(family: NDArray[np.uint64], n_members: int, slots: NDArray[np.int32]) -> bool:
    """Whether the set behind the last member is none of the members; then it is entered in the hash table."""
    mixed = np.uint64(0)
    for word in range(family.shape[1]):
        mixed = (mixed ^ family[n_members, word]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    slot = np.int64(mixed >> np.uint64(1)) & (len(slots) - 1)
    while slots[slot] >= 0:
        is_equal = True
        for word in range(family.shape[1]):
            is_equal = is_equal and family[slots[slot], word] == family[n_members, word]
        if is_equal:
            return False
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = n_members
    return True


@compiled
def enter_members(family: NDArray[np.uint64], n_members: int, slots: NDArray[np.int32]) -> None:
    """Fill an empty hash table."""
    for member in range(n_members):
        _is_new(family[: member + 1], member, slots)


@compiled
def add_records(
    bits: NDArray[np.uint64],
    family: NDArray[np.uint64],  # [room, words]
    slots: NDArray[np.int32],  # hash table of members: a power of two at least twice the room, -1 where free
    state: NDArray[np.int64],
    budget: int,
) -> int:
    """Go on adding records to the family; DONE, PAUSED (call again) or FULL (call again with more room)."""
    n_words = bits.shape[1]
    steps = 0
    while state[RECORD] < len(bits):
        if state[N_BEFORE] < 0:  # the record itself; if it is an intersection already it has nothing to add
            if state[N_MEMBERS] == len(family):
                return FULL
            for word in range(n_words):
                family[state[N_MEMBERS], word] = bits[state[RECORD], word]
            state[N_BEFORE] = state[N_MEMBERS]
            if _is_new(family, state[N_MEMBERS], slots):
                state[N_MEMBERS] += 1
            else:
                state[N_BEFORE] = 0
        while state[MEMBER] < state[N_BEFORE]:
            n_members = state[N_MEMBERS]
            if n_members == len(family):
                return FULL
            if steps > budget:
                return PAUSED
            steps += n_words + 1
            is_same = True
            for word in range(n_words):
                family[n_members, word] = family[state[MEMBER], word] & bits[state[RECORD], word]
                is_same = is_same and family[n_members, word] == family[state[MEMBER], word]
            if not is_same and _is_new(family, n_members, slots):
                state[N_MEMBERS] += 1
            state[MEMBER] += 1
        state[RECORD] += 1
        state[MEMBER] = 0
        state[N_BEFORE] = -1
    return DONE


@compiled
def list_members(
    family: NDArray[np.uint64],
    members: NDArray[np.int32],
    bounds: NDArray[np.int64],  # [sets + 1] out
    items: NDArray[np.int32],  # out
) -> None:
    """Write sets of bits as items."""
    at = 0
    for number in range(len(family)):
        for word in range(family.shape[1]):
            rest = family[number, word]
            bit = 64 * word
            while rest != 0:
                if rest & np.uint64(1):
                    items[at] = members[bit]
                    at += 1
                rest >>= np.uint64(1)
                bit += 1
        bounds[number + 1] = at


def intersections(table: Table, item: int, steps: Steps) -> Iterator[Itemsets]:
    """All intersections of some of the records with ``item``; all contain it. Some stand there twice, or without items
    that the same records have, too.
    """
    row_of = np.repeat(np.arange(table.n_rows), np.diff(table.indptr))
    holders = row_of[table.items == item].tolist()
    rows = sorted(table.items[table.indptr[row] : table.indptr[row + 1]].tolist() for row in holders)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    indptr, entries = np.concatenate(([0], np.cumsum(lengths))), np.array(list(chain(*rows)), dtype=np.int32)
    steps.add(len(table.items))
    yield indptr, entries
    supports = np.bincount(entries, minlength=len(table.labels))
    by_support = np.lexsort((np.arange(len(supports)) == item, supports)).astype(np.int32)  # ``item`` is the last one
    rank = np.empty_like(by_support)
    rank[by_support] = np.arange(len(rank), dtype=np.int32)
    ranks, supports = rank[entries], supports[by_support]
    owners = np.repeat(np.arange(len(holders), dtype=np.int32), lengths)[np.argsort(ranks, kind="stable")]
    ends = np.cumsum(supports)
    numbers, touched = np.empty(len(rank), dtype=np.int32), np.empty(len(rank), dtype=np.int32)
    for rarest in np.flatnonzero(supports > 1).tolist():
        records = owners[ends[rarest] - supports[rarest] : ends[rarest]]
        n_bits = number_items(indptr, ranks, records, rarest, numbers, touched)
        if n_bits:
            members = np.sort(by_support[touched[:n_bits]])
            numbers[rank[members]] = np.arange(n_bits, dtype=np.int32)
            bits = np.zeros((len(records), -(-n_bits // 64)), dtype=np.uint64)
            set_bits(indptr, ranks, records, numbers, bits)
            yield from _listed(_family(bits, steps), members)


def _listed(family: NDArray[np.uint64], members: NDArray[np.int32]) -> Iterator[Itemsets]:
    for begin in range(0, len(family), AT_ONCE):
        part = family[begin : begin + AT_ONCE]
        bounds, items = np.zeros(len(part) + 1, dtype=np.int64), np.empty(len(part) * len(members), dtype=np.int32)
        list_members(part, members, bounds, items)
        yield bounds, items[: bounds[-1]]


def _family(bits: NDArray[np.uint64], steps: Steps) -> NDArray[np.uint64]:
    """All intersections of some of these sets."""
    family = np.empty((ROOM, bits.shape[1]), dtype=np.uint64)
    slots = np.full(1 << (2 * ROOM).bit_length(), -1, dtype=np.int32)
    state = np.array([0, 0, -1, 0], dtype=np.int64)
    while (answer := add_records(bits, family, slots, state, BUDGET)) != DONE:
        steps.add(BUDGET if answer == PAUSED else len(family))
        if answer == FULL:
            if 4 * family.size > MOST_WORDS:
                steps.add(MOST_STEPS + 1)
            family = np.concatenate((family, np.empty((3 * len(family), bits.shape[1]), dtype=np.uint64)))
            slots = np.full(1 << (2 * len(family)).bit_length(), -1, dtype=np.int32)
            enter_members(family, int(state[N_MEMBERS]), slots)
    steps.add(int(state[N_MEMBERS]))
    return family[: state[N_MEMBERS]]

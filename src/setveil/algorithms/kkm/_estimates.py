# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""How much the items of a class will lose, without making the class safe: a first round of suppressing.

A label that fewer than k people of the class show is lost. Then each person, on their own, gives up labels until no
pair of theirs is rare: the one in most rare pairs first, ties: the rarer label, then the later one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown

EXACT = np.int64(2048)  # frequent labels of a class whose pairs are counted exactly; those of more share positions
TABLE_SIZE = np.int64(1 << 22)
LONGEST = np.int64(64)  # labels of a record whose pairs are looked at
MIXER = np.uint64(0x9E3779B97F4A7C15)


@compiled
def pair_place(one: int, other: int, n_labels: int) -> int:
    """Where a pair of labels is counted."""
    pair = min(one, other) * n_labels + max(one, other)
    return pair if n_labels <= EXACT else np.int64((np.uint64(pair) * MIXER) >> np.uint64(42))


@compiled
def list_labels(
    indptr: NDArray[np.int64],
    labels: NDArray[np.int32],
    record: int,
    number: NDArray[np.int32],
    mine: NDArray[np.int64],
) -> int:
    """The numbers of a record's labels that have one, each once, in the order of its entries; how many."""
    n_mine = 0
    for entry in range(indptr[record], indptr[record + 1]):
        label = np.int64(number[labels[entry]])
        if label < 0:
            continue
        at = 0
        while at < n_mine and mine[at] != label:
            at += 1
        if at == n_mine and n_mine < LONGEST:
            mine[n_mine] = label
            n_mine += 1
    return n_mine


@compiled
def give_up_labels(
    mine: NDArray[np.int64],
    n_mine: int,
    counts: NDArray[np.int32],
    support: NDArray[np.int64],
    n_labels: int,
    k: int,
    clashes: NDArray[np.int64],
    is_lost: NDArray[np.uint8],
) -> None:
    """Mark labels of a record until none of its pairs is rare."""
    for at in range(n_mine):
        clashes[at] = 0
        is_lost[at] = 0
    for one in range(n_mine):
        for other in range(one + 1, n_mine):
            place = pair_place(mine[one], mine[other], n_labels)
            if counts[place] < k:
                clashes[one] += 1
                clashes[other] += 1
    while True:
        worst = -1
        for at in range(n_mine):
            if clashes[at] > 0 and (
                worst < 0
                or clashes[at] > clashes[worst]
                or (clashes[at] == clashes[worst] and support[mine[at]] <= support[mine[worst]])
            ):
                worst = at
        if worst < 0:
            return
        is_lost[worst] = 1
        for at in range(n_mine):
            if at != worst and is_lost[at] == 0:
                place = pair_place(mine[at], mine[worst], n_labels)
                if counts[place] < k:
                    clashes[at] -= 1
        clashes[worst] = 0


@compiled
def estimate_losses(
    indptr: NDArray[np.int64],
    labels: NDArray[np.int32],
    losses: NDArray[np.float64],
    members: NDArray[np.int64],
    starts: NDArray[np.int64],
    k_one: int,
    k_two: int,
    found: NDArray[np.float64],
) -> None:
    """What the entries of each part lose, into ``found``.

    ``labels`` int32[entries] as which entries are published at best, ``losses`` float64[labels] what each costs; a lost
    entry costs 1. The records of part ``i`` are ``members[starts[i]:starts[i+1]]``. ``k_two`` 0: pairs do not matter.
    """
    seen = np.zeros(len(losses), dtype=np.int32)
    last_seen = np.full(len(losses), -1, dtype=np.int64)
    number = np.full(len(losses), -1, dtype=np.int32)
    counts = np.zeros(1024, dtype=np.int32)
    mine = np.zeros(LONGEST, dtype=np.int64)
    clashes = np.zeros(LONGEST, dtype=np.int64)
    is_lost = np.zeros(LONGEST, dtype=np.uint8)
    support = np.zeros(1024, dtype=np.int64)
    touched = np.zeros(1024, dtype=np.int32)
    for part in range(len(found)):
        n_touched = 0
        for at in range(starts[part], starts[part + 1]):
            record = members[at]
            for entry in range(indptr[record], indptr[record + 1]):
                label = labels[entry]
                if last_seen[label] == at:
                    continue
                last_seen[label] = at
                if seen[label] == 0:
                    if n_touched == len(touched):
                        touched = grown(touched, n_touched + 1)
                    touched[n_touched] = label
                    n_touched += 1
                seen[label] += 1
        n_labels = 0
        for place in range(n_touched):
            label = touched[place]
            if seen[label] >= k_one:
                if n_labels == len(support):
                    support = grown(support, n_labels + 1)
                number[label] = n_labels
                support[n_labels] = seen[label]
                n_labels += 1
        if k_two > 0 and n_labels > 1:
            room = n_labels * n_labels if n_labels <= EXACT else TABLE_SIZE
            if room > len(counts):
                counts = np.zeros(room, dtype=np.int32)
            for place in range(room):
                counts[place] = 0
            for at in range(starts[part], starts[part + 1]):
                n_mine = list_labels(indptr, labels, members[at], number, mine)
                for one in range(n_mine):
                    for other in range(one + 1, n_mine):
                        counts[pair_place(mine[one], mine[other], n_labels)] += 1
        total = 0.0
        for at in range(starts[part], starts[part + 1]):
            record = members[at]
            n_mine = 0
            if k_two > 0 and n_labels > 1:
                n_mine = list_labels(indptr, labels, record, number, mine)
                give_up_labels(mine, n_mine, counts, support, n_labels, k_two, clashes, is_lost)
            for entry in range(indptr[record], indptr[record + 1]):
                label = np.int64(number[labels[entry]])
                loss = 1.0 if label < 0 else losses[labels[entry]]
                for place in range(n_mine):
                    if mine[place] == label and is_lost[place]:
                        loss = 1.0
                        break
                total += loss
        found[part] = total
        for place in range(n_touched):
            seen[touched[place]] = 0
            number[touched[place]] = -1

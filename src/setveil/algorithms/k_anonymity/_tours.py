# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops over segments of records: bit rows, Hamming distances, cyclic tours and the groups along them (PTA,
Gray-TSP).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.chance import draw_below
from setveil.arrays.compiling import compiled
from setveil.arrays.mining import popcount
from setveil.arrays.sorting import sort_values

TAKEN = 1 << 62  # above every key of a node that is still free


@compiled
def pack_segment(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int, records: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The given records as bit rows, uint64[n_records, n_words]. Only items of the segment get a bit: sparse data stays
    narrow.
    """
    bit_of_item = np.zeros(n_items, dtype=np.int64)  # 1 + the bit, 0 for items not met yet
    n_bits = 0
    for record in records:
        for place in range(indptr[record], indptr[record + 1]):
            if bit_of_item[items[place]] == 0:
                n_bits += 1
                bit_of_item[items[place]] = n_bits
    rows = np.zeros((len(records), (n_bits + 63) // 64), dtype=np.uint64)
    for position in range(len(records)):
        record = records[position]
        for place in range(indptr[record], indptr[record + 1]):
            bit = bit_of_item[items[place]] - 1
            rows[position, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return rows


@compiled
def measure_distances(rows: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Hamming distances between all bit rows, int32[n, n]."""
    n, n_words = rows.shape
    distance = np.zeros((n, n), dtype=np.int32)
    for a in range(n):
        for b in range(a + 1, n):
            differing = 0
            for word in range(n_words):
                differing += popcount(rows[a, word] ^ rows[b, word])
            distance[a, b] = differing
            distance[b, a] = differing
    return distance


@compiled
def find_loop(distance: NDArray[np.int32], first: int, last: int) -> tuple[int, NDArray[np.int64]]:
    """PrimTSP: the shortest of the cyclic loops grown greedily from the start nodes ``first … last-1``.

    A loop grows at both ends: the free node nearest to either end joins there; the star end wins ties; nodes tie by the
    lowest position, loops by the first start. Returns the loop's cyclic length and its nodes, int64[n], from the start
    node along the destination end and back along the star end.
    """
    n = len(distance)
    key = np.empty((n, n), dtype=np.int64)  # distance first, then position: one minimum decides both
    for a in range(n):
        for b in range(n):
            key[a, b] = distance[a, b] * np.int64(n) + b
    best_length = np.int64(-1)
    best = np.empty(n, dtype=np.int64)
    loop = np.empty(2 * n, dtype=np.int64)  # [left … right] holds the path, star end left, destination end right
    taken = np.empty(n, dtype=np.int64)
    for start in range(first, last):
        taken[:] = 0
        taken[start] = TAKEN
        left, right = n, n
        loop[n] = start
        length = np.int64(0)
        for n_free in range(n - 1, 0, -1):
            near_star = TAKEN
            for b in range(n):
                near_star = min(near_star, key[loop[left], b] | taken[b])
            near_dest = TAKEN
            if n_free > 1:
                taken[near_star % n] = TAKEN
                for b in range(n):
                    near_dest = min(near_dest, key[loop[right], b] | taken[b])
                taken[near_star % n] = 0
            if near_star // n > near_dest // n:
                node, added = near_dest % n, near_dest // n
                right += 1
                loop[right] = node
            else:
                node, added = near_star % n, near_star // n
                left -= 1
                loop[left] = node
            taken[node] = TAKEN
            length += added
        length += distance[loop[left], loop[right]]
        if best_length < 0 or length < best_length:
            best_length = length
            for place in range(n):
                turned = n + place
                best[place] = loop[turned if turned <= right else turned - n]
    return best_length, best


@compiled
def evolve_loop(
    distance: NDArray[np.int32], n_tours: int, n_generations: int, state: NDArray[np.uint64]
) -> tuple[int, NDArray[np.int64]]:
    """A short cyclic loop by a genetic search; returns its length and its nodes, int64[n].

    The first of ``n_tours`` takes the nodes as they are numbered, the others have a random stretch of it turned round.
    In each generation two parents win a draw of two each; the child takes a stretch from one and the rest in the order
    of the other, has a random stretch turned round, and takes the place of the longest tour if it is shorter.
    """
    n = len(distance)
    tours = np.empty((n_tours, n), dtype=np.int64)
    lengths = np.empty(n_tours, dtype=np.int64)
    for number in range(n_tours):
        tours[number] = np.arange(n)
        if number:
            turn_stretch(tours[number], state)
        lengths[number] = loop_length(distance, tours[number])
    child = np.empty(n, dtype=np.int64)
    in_child = np.empty(n, dtype=np.bool_)
    for _ in range(n_generations):
        mother = tours[win_draw(lengths, state)]
        father = tours[win_draw(lengths, state)]
        first, last = draw_below(state, n), draw_below(state, n)
        first, last = min(first, last), max(first, last)
        in_child[:] = False
        for place in range(first, last + 1):
            child[place] = mother[place]
            in_child[mother[place]] = True
        place = (last + 1) % n
        for step in range(n):
            node = father[(last + 1 + step) % n]
            if not in_child[node]:
                child[place] = node
                place = (place + 1) % n
        turn_stretch(child, state)
        length = loop_length(distance, child)
        longest = lengths.argmax()
        if length < lengths[longest]:
            tours[longest] = child
            lengths[longest] = length
    best = lengths.argmin()
    return lengths[best], tours[best].copy()


@compiled
def turn_stretch(tour: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Turn a random stretch of a tour round."""
    first, last = draw_below(state, len(tour)), draw_below(state, len(tour))
    first, last = min(first, last), max(first, last)
    while first < last:
        tour[first], tour[last] = tour[last], tour[first]
        first += 1
        last -= 1


@compiled
def win_draw(lengths: NDArray[np.int64], state: NDArray[np.uint64]) -> int:
    """The shorter of two random tours."""
    one, other = draw_below(state, len(lengths)), draw_below(state, len(lengths))
    return one if lengths[one] <= lengths[other] else other


@compiled
def loop_length(distance: NDArray[np.int32], loop: NDArray[np.int64]) -> int:
    """The cyclic length of a loop."""
    length = np.int64(0)
    for place in range(len(loop)):
        length += distance[loop[place - 1], loop[place]]  # place -1 is the last
    return length


@compiled
def score_windows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int, loop: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """Loss of each window of k neighbours on a cyclic loop of records, by the place where it starts, int64[len(loop)].

    The loss of a window is what a majority vote over its k records changes: per item the smaller of those with it and
    those without.
    """
    n = len(loop)
    count = np.zeros(n_items, dtype=np.int64)
    loss = np.empty(n, dtype=np.int64)
    current = np.int64(0)
    for step in range(n + k - 1):  # the record at this place joins; the one k places back leaves
        if step >= k:
            record = loop[step - k]
            for place in range(indptr[record], indptr[record + 1]):
                item = items[place]
                current += min(count[item] - 1, k - count[item] + 1) - min(count[item], k - count[item])
                count[item] -= 1
        record = loop[step % n]
        for place in range(indptr[record], indptr[record + 1]):
            item = items[place]
            current += min(count[item] + 1, k - count[item] - 1) - min(count[item], k - count[item])
            count[item] += 1
        if step >= k - 1:
            loss[step - k + 1] = current
    return loss


@compiled
def choose_windows(start: NDArray[np.int64], loss: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Take windows of k positions on a cyclic loop by ascending loss, each only if it meets no window taken before.

    ``start[g]`` is where group g begins, ``loss[s]`` the loss of the window that begins at place s; groups tie by their
    number. Returns which window (0, 1, … in the order taken) each place of the loop is in, -1 for none, int64[n].
    """
    n = len(start)
    key = np.empty(n, dtype=np.int64)
    for group in range(n):
        key[group] = loss[start[group]] * n + group
    sort_values(key)
    taken_by = np.full(n, -1, dtype=np.int64)
    n_taken = 0
    for one in key:
        begin = start[one % n]
        is_free = True
        for step in range(k):
            if taken_by[(begin + step) % n] >= 0:
                is_free = False
                break
        if is_free:
            for step in range(k):
                taken_by[(begin + step) % n] = n_taken
            n_taken += 1
    return taken_by

# mypy: disable-error-code="arg-type, assignment, call-overload, no-any-return, return-value, operator"
"""Whether counts reveal that 1 to k - 1 people have an itemset: the verifier's own loops.

Look at a set Z of at most m + 1 listed items. Everybody belongs to one of its 2^|Z| *cells*: the part of Z that the
person has. A published count leaves an interval of numbers of people, an unlisted item or pair leaves 0 to k - 1, and
the number of people is known. An unlisted triple has at most ``few`` people, or as many as its rarest pair (both would
be published as the same count): the solutions of both cases count. Z *reveals* an unlisted
itemset U in Z if every non-negative solution gives U at least 1 and at most k - 1 people. Whether it does is a linear
program in the cells.

Shortcut. Z reveals nothing if there is one solution in which every unlisted itemset in Z has 0 or at least k people:
then no unlisted itemset has both a minimum above 0 and a maximum below k. Call a solution in which they all have 0
people *plain*. Choose the lower end for every listed triple; for a pair the larger of its lower end and P, the sum of
its two largest triples anywhere in the table; for an item its upper end. By inclusion and exclusion this gives cells:

- three items: the count of the triple, which is not negative;
- two items: the pair minus its at most two triples in Z, not negative because the pair has at least P;
- one item: the item minus its at most three pairs in Z plus its triples in Z;
- none: n minus the items plus the pairs minus the triples.

So Z is plain unless

(a) P is above the upper end of one of its pairs, for two triples in Z, or
(b) the three pairs of an item in Z are together more than its upper end, or
(c) the upper ends of its items are together more than n.

Only such Z are looked at, one by one: first whether one of a few solutions is of the kind above, then by the linear
program. In these solutions nobody or at least k people have all four items, three-item cells take what is left of the
pairs' lower ends, and smaller cells get what the lower ends still lack (``_fits``): no cell is negative, so that only
upper ends and the number of people are to be compared. A smaller set is part of a larger one, whose program has all
its rows; so only Z of m + 1 items (of all items, where there are fewer) are looked at. Z with an unlisted item cannot
reveal anything about it: nobody may have it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.verify.counting import compiled

Longs = NDArray[np.int64]

PLAIN, REVEALS, IMPOSSIBLE = 0, 1, 2
NEAR = 1e-6


class Given(NamedTuple):
    """What is the same for all sets of items."""

    n_records: int
    n_items: int
    m: int
    k: int
    r: int
    few: int  # the most people of an unlisted triple that is not as frequent as one of its pairs
    is_repaired: bool  # listed sets were suppressed
    keys: Longs  # the table of counts, by the number of their itemset
    values: Longs


_SIZES = np.array([mask.bit_count() for mask in range(16)], dtype=np.int64)  # of parts, by their bits


@compiled
def place_of(keys: Longs, key: int) -> int:
    """Where a key is in a table of twice as many positions, or where it would be."""
    mask = np.uint64(len(keys) - 1)
    mixed = np.uint64(key) * np.uint64(0xD6E8FEB86659FD93)
    at = np.int64((mixed ^ (mixed >> np.uint64(32))) & mask)
    while keys[at] >= 0 and keys[at] != key:
        at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
    return at


@compiled
def fill_table(keys: Longs, values: Longs, new_keys: Longs, new_values: Longs) -> None:
    """Enter keys with their values."""
    for number in range(len(new_keys)):
        at = place_of(keys, new_keys[number])
        keys[at] = new_keys[number]
        values[at] = new_values[number]


@compiled
def _value(keys: Longs, values: Longs, key: int) -> int:
    at = place_of(keys, key)
    return values[at] if keys[at] >= 0 else np.int64(0)


@compiled
def _key(chosen: Longs, mask: int, n_items: int) -> int:
    """An itemset of at most three items (ascending) as a number above those of all smaller itemsets."""
    key = np.int64(0)
    for at in range(len(chosen)):
        if mask >> at & 1:
            key = key * (n_items + 1) + chosen[at] + 1
    return key


@compiled
def _has_pairs(mask: int, listed: Longs) -> bool:
    """Whether all parts with one item less are listed."""
    missing = 0
    for item in range(4):
        missing += mask >> item & 1 and not listed[mask ^ 1 << item]
    return missing == 0


@compiled
def is_apart(chosen: Longs, given: Given, most: int, work: Longs) -> bool:
    """Whether the first three items are harmless even if ``most`` people fewer were there. Then so are these with any
    item that has no listed pair with them: its people have nothing else of Z.
    """
    if most >= given.n_records:
        return False
    three = chosen[:3].copy()
    for one, other in ((0, 1), (1, 2), (0, 1)):  # ascending
        three[one], three[other] = min(three[one], three[other]), max(three[one], three[other])
    intervals(three, given.n_records - most, given, work[0], work[1], work[2])
    return is_harmless(3, given.k, given.few, work[0], work[1], work[2], work[3])


@compiled
def has_pair(last: int, chosen: Longs, given: Given) -> bool:
    """Whether an item has a listed pair with one of the first three items."""
    for item in chosen[:3]:
        pair = (min(item, last) + 1) * (given.n_items + 1) + max(item, last) + 1
        if _value(given.keys, given.values, pair) > 0:
            return True
    return False


@compiled
def intervals(chosen: Longs, n_records: int, given: Given, low: Longs, high: Longs, listed: Longs) -> None:
    """For every part of Z, by bits: the numbers of people that the table leaves, and whether it is listed."""
    m, k, r = given.m, given.k, given.r
    least = r * -(-k // r)
    for mask in range(1, 1 << len(chosen)):
        size = _SIZES[mask]
        count = np.int64(0)
        if size < 3 or (size == 3 and m == 3 and _has_pairs(mask, listed)):
            count = _value(given.keys, given.values, _key(chosen, mask, given.n_items))
        listed[mask] = count > 0
        if count > 0:
            low[mask] = k if count == least else count - r // 2
            high[mask] = min(count + (r + 1) // 2 - 1, n_records)
            low[mask] = min(low[mask], high[mask])
        else:
            low[mask], high[mask] = 0, k - 1 if size <= min(m, 2) else n_records
    low[0], high[0], listed[0] = n_records, n_records, 1


@compiled
def _room(cell: Longs, z: int, n_records: int, low: Longs, high: Longs, listed: Longs) -> bool:
    """Whether cells of three and four items are part of a solution in which unlisted pairs have nobody.

    Cells of two items, then of one, then of none get what the lower ends still lack; ``cell`` is completed.
    """
    n_people = np.int64(0)
    for size in range(2, 0, -1):
        for mask in range(1, 1 << z):
            if _SIZES[mask] != size:
                continue
            people = np.int64(0)
            for above in range(mask + 1, 1 << z):
                if above & mask == mask:
                    people += cell[above]
            if people > high[mask] or (people > 0 and not listed[mask]):
                return False
            cell[mask] = max(low[mask] - people, np.int64(0))
    for mask in range(1, 1 << z):
        n_people += cell[mask]
    return n_people <= n_records


@compiled
def many(triple: int, k: int, few: int, low: Longs) -> int:
    """A number of at least k people from which on an unlisted triple can have any: that of its rarest pair, unless more
    than ``few`` is nothing special.
    """
    rarest = np.int64(1 << 62)
    for item in range(4):
        if triple >> item & 1:
            rarest = min(rarest, low[triple ^ 1 << item])
    return max(rarest, k) if few < low[0] else k


@compiled
def _fits(cell: Longs, together: int, k: int, few: int, n_records: int, low: Longs, high: Longs, listed: Longs) -> bool:
    """Whether ``together`` people can have all four items: first nobody else has three of them unless a listed triple
    needs it, then as many as have room in the pairs' lower ends, one cell after the other, in four orders.
    """
    for first in range(-1, 4):
        cell[15] = together
        for item in range(4):
            cell[15 ^ 1 << item] = max(low[15 ^ 1 << item] - together, 0)
        for turn in range(4 if first >= 0 else 0):
            left_out = (first + turn) % 4
            triple = 15 ^ 1 << left_out
            room = (high[triple] if listed[triple] else n_records) - together - cell[triple]
            for item in range(4):
                if item != left_out:
                    pair = triple ^ 1 << item
                    room = min(room, low[pair] - together - cell[triple] - cell[15 ^ 1 << item])
            everybody = together + cell[triple] + room
            if room > 0 and (listed[triple] or everybody >= many(triple, k, few, low)):
                cell[triple] += room
        if _room(cell, 4, n_records, low, high, listed):
            return True
    return False


@compiled
def is_harmless(z: int, k: int, few: int, low: Longs, high: Longs, listed: Longs, cell: Longs) -> bool:
    """Whether one of a few solutions shows that Z reveals nothing; ``cell`` is room for it."""
    n_records, full = low[0], (1 << z) - 1
    if z == 4:
        # Everybody who has three of the items has the fourth: as few as triples and pairs allow, as many as the rarest
        # pair has at least, as many as it can have.
        fewest, rarest, most = np.int64(k), np.int64(n_records), np.int64(n_records)
        for item in range(4 if few < n_records else 0):
            if not listed[full ^ 1 << item]:
                low[full ^ 1 << item] = many(full ^ 1 << item, k, few, low)
        for mask in range(1, full):
            if _SIZES[mask] == 2:
                rarest, most = min(rarest, low[mask]), min(most, high[mask])
                twice = -high[mask]
                for item in range(4):
                    if not mask >> item & 1:
                        twice += low[mask | 1 << item]
                fewest = max(fewest, twice)
            elif _SIZES[mask] == 3:
                most = min(most, high[mask])
        for attempt in range(3 if fewest <= most else 0):
            cell[full] = fewest if attempt == 0 else most if attempt == 2 else min(max(rarest, fewest), most)
            if _fits(cell, cell[full], k, few, n_records, low, high, listed):
                return True
        for item in range(4):
            if not listed[full ^ 1 << item]:
                low[full ^ 1 << item] = 0
        if _fits(cell, 0, k, few, n_records, low, high, listed):
            return True
        cell[full] = 0
    for triple in range(-1, 4 if z == 4 else z - 2):  # nobody more than listed, or the people of an unlisted triple
        chosen = 0 if triple < 0 else 7 if z == 3 else full ^ 1 << triple
        if listed[chosen] and triple >= 0:
            continue
        for attempt in range(1 if triple < 0 else 2):
            for mask in range(7, full + 1):
                if _SIZES[mask] == 3:
                    cell[mask] = low[mask] if listed[mask] else 0
            if chosen:
                cell[chosen] = many(chosen, k, few, low)
            for item in range(z if attempt else 0):  # the pairs of an item are more than its people by this
                if chosen >> item & 1:
                    above = -high[1 << item]
                    for other in range(z):
                        if other != item:
                            above += low[1 << item | 1 << other]
                    cell[chosen] = max(cell[chosen], above)
            if _room(cell, z, n_records, low, high, listed):
                return True
    return False


@compiled
def _pivot(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], row: int, column: int) -> float:
    """Exchange a basic and a non-basic variable of a dictionary; the change of the objective."""
    scale = 1.0 / a[row, column]
    b[row] *= scale
    for other in range(a.shape[1]):
        a[row, other] *= scale
    a[row, column] = scale
    for other in range(a.shape[0]):
        if other == row or a[other, column] == 0.0:
            continue
        factor = a[other, column]
        b[other] -= factor * b[row]
        for place in range(a.shape[1]):
            a[other, place] -= factor * a[row, place]
        a[other, column] = -factor * scale
    gain, factor = c[column] * b[row], c[column]
    for place in range(a.shape[1]):
        c[place] -= factor * a[row, place]
    c[column] = -factor * scale
    return gain


@compiled
def _climb(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], basis: Longs, others: Longs
) -> float:
    """Raise the objective as far as it goes, by the smallest numbers that serve (Bland's rule: it ends)."""
    total = 0.0
    while True:
        column = -1
        for place in range(len(others)):
            if c[place] > 1e-9 and (column < 0 or others[place] < others[column]):
                column = place
        if column < 0:
            return total
        row = -1
        for place in range(len(basis)):
            if a[place, column] <= 1e-9:
                continue
            ratio = b[place] / a[place, column]
            if row < 0:
                row = place
                continue
            best = b[row] / a[row, column]
            if ratio < best - 1e-9 or (ratio <= best + 1e-9 and basis[place] < basis[row]):
                row = place
        if row < 0:
            return np.inf
        total += _pivot(a, b, c, row, column)
        basis[row], others[column] = others[column], basis[row]


@compiled
def largest(z: int, part: int, sign: int, low: Longs, high: Longs, people: Longs) -> float:
    """The largest value of ``sign`` times the count of a part, over all non-negative cells; -inf if there are none."""
    n_cells = (1 << z) - 1  # the cell of people with none of the items follows from the others
    n_rows = 2 * (n_cells + people.shape[1]) + 1
    a, b, c = np.zeros((n_rows, n_cells + 1)), np.zeros(n_rows), np.zeros(n_cells + 1)
    for mask in range(1, n_cells + 1):
        for cell in range(1, n_cells + 1):
            if cell & mask == mask:
                a[2 * mask - 2, cell - 1], a[2 * mask - 1, cell - 1] = 1.0, -1.0
        b[2 * mask - 2], b[2 * mask - 1] = high[mask], -low[mask]
    for cell in range(n_cells):
        a[n_rows - 1, cell] = 1.0
    b[n_rows - 1] = low[0]
    for least in range(people.shape[1]):
        row = 2 * (n_cells + least)
        for cell in range(n_cells):
            if _SIZES[cell + 1] > least:
                a[row, cell], a[row + 1, cell] = 1.0, -1.0
        b[row], b[row + 1] = people[1, least], -people[0, least]
    basis, others = np.arange(n_cells + 1, n_cells + 1 + n_rows), np.arange(n_cells + 1)
    # First a variable that every row may use, as much as the worst row needs; then as little of it as possible.
    helper = n_cells
    worst = 0
    for row in range(n_rows):
        a[row, helper] = -1.0
        if b[row] < b[worst]:
            worst = row
    others[helper] = 0  # leaves first
    for cell in range(n_cells):
        others[cell] = cell + 1
    if b[worst] < 0:
        c[helper] = -1.0
        short = _pivot(a, b, c, worst, helper)
        basis[worst], others[helper] = others[helper], basis[worst]
        short += _climb(a, b, c, basis, others)
        if short < -NEAR:
            return -np.inf
    for row in range(n_rows):  # the helper must not be basic
        if basis[row] == 0:
            for place in range(n_cells + 1):
                if abs(a[row, place]) > 1e-9:
                    _pivot(a, b, c, row, place)
                    basis[row], others[place] = others[place], basis[row]
                    break
    for place in range(n_cells + 1):
        c[place] = 0.0
    total = 0.0
    for place in range(n_cells + 1):
        if others[place] == 0:
            for row in range(n_rows):
                a[row, place] = 0.0
    for cell in range(1, n_cells + 1):
        if cell & part != part:
            continue
        for place in range(n_cells + 1):
            if others[place] == cell:
                c[place] += sign
        for row in range(n_rows):
            if basis[row] == cell:
                total += sign * b[row]
                for place in range(n_cells + 1):
                    c[place] -= sign * a[row, place]
    return total + _climb(a, b, c, basis, others)


@compiled
def solve(z: int, k: int, few: int, low: Longs, high: Longs, listed: Longs, people: Longs, found: Longs) -> int:
    """By linear programs: ``found`` gets the part of Z that is revealed, its minimum and its maximum. ``people``: the
    fewest and the most who have at least 1 … z of the items, int64[2, z], or no such numbers.

    An unlisted triple that has at most ``few`` people, or as many as its rarest pair, makes two cases.
    """
    least, most, starts = np.full(16, np.inf), np.full(16, -np.inf), np.zeros(4, dtype=np.int64)
    n_cases = 1
    for item in range(4):
        triple = 15 ^ 1 << item
        if triple < 1 << z and not listed[triple]:
            starts[item] = many(triple, k, few, low)
            n_cases = 16 if starts[item] > few + 1 else n_cases
    for case in range(n_cases):
        is_case = True
        for item in range(4):
            if starts[item] > few + 1:
                is_many = case >> item & 1
                low[15 ^ 1 << item] = starts[item] if is_many else 0
                high[15 ^ 1 << item] = low[0] if is_many else few
            elif case >> item & 1:
                is_case = False
        for part in range(1, 1 << z):
            if not is_case or listed[part] or least[part] <= NEAR or np.floor(most[part] + NEAR) >= k:
                continue
            minimum = -largest(z, part, -1, low, high, people)
            if minimum == np.inf:
                break  # no numbers fit
            least[part] = min(least[part], minimum)
            if minimum > NEAR:
                most[part] = max(most[part], largest(z, part, 1, low, high, people))
    for part in range(1, 1 << z):
        if listed[part] or least[part] <= NEAR or np.floor(most[part] + NEAR) >= k:
            continue
        if least[part] == np.inf:
            return IMPOSSIBLE
        found[0], found[1], found[2] = (
            part,
            np.int64(np.ceil(least[part] - NEAR)),
            np.int64(np.floor(most[part] + NEAR)),
        )
        return REVEALS
    return PLAIN


@compiled
def look(chosen: Longs, given: Given, found: Longs, work: Longs) -> int:
    """What Z reveals; ``chosen`` is in any order. ``found[3]`` counts linear programs; ``work``: room, [4, 16]."""
    z = len(chosen)
    for one in range(1, z):  # ascending
        at = one
        while at > 0 and chosen[at - 1] > chosen[at]:
            chosen[at - 1], chosen[at] = chosen[at], chosen[at - 1]
            at -= 1
    low, high, listed = work[0], work[1], work[2]
    intervals(chosen, given.n_records, given, low, high, listed)
    if is_harmless(z, given.k, given.few, low, high, listed, work[3]):
        return PLAIN
    found[3] += 1
    return decide(z, given, low, high, listed, np.zeros((2, 0), dtype=np.int64), found)


@compiled
def decide(z: int, given: Given, low: Longs, high: Longs, listed: Longs, people: Longs, found: Longs) -> int:
    """``solve``; where listed sets were suppressed and no numbers fit, unlisted parts can have any number of people."""
    status = solve(z, given.k, given.few, low, high, listed, people, found)
    if status == IMPOSSIBLE and given.is_repaired:
        for part in range(1, 1 << z):
            if not listed[part]:
                low[part], high[part] = 0, low[0]
        status = solve(z, given.k, low[0], low, high, listed, people, found)
    return status


@compiled
def look_with_lengths(chosen: Longs, given: Given, people: Longs, found: Longs) -> int:
    """What Z (ascending) reveals together with ``people``, by linear programs alone."""
    work = np.zeros((3, 16), dtype=np.int64)
    intervals(chosen, given.n_records, given, work[0], work[1], work[2])
    return decide(len(chosen), given, work[0], work[1], work[2], people, found)


@compiled
def look_at_pair(
    one: int, two: int, thirds: Longs, lows: Longs, limit: int, given: Given, chosen: Longs, found: Longs, work: Longs
) -> int:
    """All Z of a pair and two of its triples that are together above its upper end; ``lows`` descend."""
    for at in range(len(thirds)):
        for beyond in range(at + 1, len(thirds)):
            if lows[at] + lows[beyond] <= limit:
                break
            chosen[0], chosen[1], chosen[2], chosen[3] = one, two, thirds[at], thirds[beyond]
            status = look(chosen, given, found, work)
            if status != PLAIN:
                return status
    return PLAIN


@compiled
def look_at_item(
    item: int, near: Longs, needs: Longs, limit: int, most: int, given: Given, chosen: Longs, found: Longs, work: Longs
) -> int:
    """All Z of an item and others with whose pairs it is above its upper end; ``needs`` descend. ``most``: the upper
    end of the most frequent item.
    """
    z, three = len(chosen), np.zeros(3, dtype=np.int64)
    for at in range(len(near)):
        for beyond in range(at + 1, len(near)):
            both = needs[at] + needs[beyond]
            if z == 3:
                if both <= limit:
                    break
                chosen[0], chosen[1], chosen[2] = item, near[at], near[beyond]
                status = look(chosen, given, found, work)
                if status != PLAIN:
                    return status
                continue
            if both > limit:  # whatever the fourth item is
                three[0], three[1], three[2] = item, near[at], near[beyond]
                apart = is_apart(three, given, most, work)
                for last in range(given.n_items):
                    if last == item or last == near[at] or last == near[beyond]:
                        continue
                    if apart and not has_pair(last, three, given):
                        continue
                    chosen[0], chosen[1], chosen[2], chosen[3] = item, near[at], near[beyond], last
                    status = look(chosen, given, found, work)
                    if status != PLAIN:
                        return status
                continue
            if beyond + 1 >= len(near) or both + needs[beyond + 1] <= limit:
                break
            for last in range(beyond + 1, len(near)):
                if both + needs[last] <= limit:
                    break
                chosen[0], chosen[1], chosen[2], chosen[3] = item, near[at], near[beyond], near[last]
                status = look(chosen, given, found, work)
                if status != PLAIN:
                    return status
    return PLAIN


@compiled
def look_at_large(
    first: int, order: Longs, highs: Longs, given: Given, chosen: Longs, found: Longs, work: Longs
) -> int:
    """All Z whose items are together above the number of records, with ``order[first]`` as the largest; ``highs``
    descend.
    """
    z, n = len(chosen), len(order)
    for two in range(first + 1, n):
        if highs[first] + (z - 1) * highs[two] <= given.n_records:
            break
        for three in range(two + 1, n):
            if highs[first] + highs[two] + (z - 2) * highs[three] <= given.n_records:
                break
            if z == 3:
                chosen[0], chosen[1], chosen[2] = order[first], order[two], order[three]
                status = look(chosen, given, found, work)
                if status != PLAIN:
                    return status
                continue
            for four in range(three + 1, n):
                if highs[first] + highs[two] + highs[three] + highs[four] <= given.n_records:
                    break
                chosen[0], chosen[1], chosen[2], chosen[3] = order[first], order[two], order[three], order[four]
                status = look(chosen, given, found, work)
                if status != PLAIN:
                    return status
    return PLAIN

"""Classes of records that become identical, by looking: votes, PTA, GSC, optimal cuts, moves and swaps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from tests.naive.degree import gray_order

Record = frozenset[str]
WORD = 2**64


def centre(group: Sequence[Record]) -> Record:
    """What more than half of the records have."""
    items = {item for record in group for item in record}
    return frozenset(item for item in items if 2 * sum(item in record for record in group) > len(group))


def loss(group: Sequence[Record]) -> int:
    return sum(len(record ^ centre(group)) for record in group)


def total(classes: Sequence[Sequence[Record]]) -> int:
    return sum(loss(group) for group in classes)


def prim_tsp(rows: Sequence[Record]) -> tuple[int, list[int]]:
    """Algorithm 1 with its corrections: the shortest loop over all starts, from the start along the destination end."""

    def far(one: int, other: int) -> int:
        return len(rows[one] ^ rows[other])

    best: tuple[int, list[int]] | None = None
    for begin in range(len(rows)):
        star_side, dest_side = [begin], [begin]
        free = [node for node in range(len(rows)) if node != begin]
        while free:
            near_star = min(free, key=lambda node: (far(star_side[-1], node), node))
            others = [node for node in free if node != near_star]
            side, node = star_side, near_star
            if others:
                near_dest = min(others, key=lambda node: (far(dest_side[-1], node), node))
                if far(star_side[-1], near_star) > far(dest_side[-1], near_dest):
                    side, node = dest_side, near_dest
            side.append(node)
            free.remove(node)
        loop = dest_side + star_side[:0:-1]
        length = sum(far(one, other) for one, other in pairwise([*loop, loop[0]]))
        if best is None or length < best[0]:
            best = (length, loop)
    assert best is not None
    return best


def map_groups(rows: Sequence[Record], loop: Sequence[int], k: int) -> list[list[int]]:
    """Algorithm 2: the group of each node of the loop."""
    n = len(loop)
    groups = []
    for i, node in enumerate(loop):
        reach = (k - 1) // 2 + (k - 1) % 2
        places = list(range(i - (reach - 1), i + reach))
        left, right = loop[(i - reach) % n], loop[(i + reach) % n]
        if k % 2 == 1:
            places = [i - reach, *places, i + reach] if k > 1 else [i]
        elif len(rows[left] ^ rows[node]) < len(rows[right] ^ rows[node]):
            places = [i - reach, *places]
        else:
            places = [*places, i + reach]
        groups.append([loop[place % n] for place in places])
    return groups


def equivalence_classes(rows: Sequence[Record], loop: Sequence[int], k: int) -> tuple[list[list[int]], list[int]]:
    """Algorithm 3, lines 3 to 12: the groups chosen, and the leftovers."""
    groups = map_groups(rows, loop, k)
    waiting = sorted(range(len(groups)), key=lambda g: (loss([rows[node] for node in groups[g]]), g))
    chosen: list[list[int]] = []
    for number in waiting:
        if not any(set(groups[number]) & set(other) for other in chosen):
            chosen.append(groups[number])
    taken = {node for group in chosen for node in group}
    return chosen, [node for node in loop if node not in taken]


def segments_of(order: Sequence[int], n_segments: int) -> list[list[int]]:
    size, longer = divmod(len(order), n_segments)
    parts, begin = [], 0
    for number in range(n_segments):
        end = begin + size + (number < longer)
        parts.append(list(order[begin:end]))
        begin = end
    return parts


def pta(
    records: Sequence[Record],
    k: int,
    n_segments: int,
    bits: Sequence[str],
    recentre: bool = False,
    leftovers: str = "segment",
) -> tuple[list[Record], int]:
    """What is published for each record, and the number of leftovers."""
    classes: list[list[int]] = []  # record numbers
    centres: list[Record] = []
    left: list[tuple[int, range]] = []  # a record and the classes it may join
    for part in segments_of(gray_order(records, bits), max(min(n_segments, len(records) // k), 1)):
        rows = [records[number] for number in part]
        chosen, others = equivalence_classes(rows, prim_tsp(rows)[1], k)
        own = range(len(classes), len(classes) + len(chosen))
        classes += [[part[node] for node in group] for group in chosen]
        centres += [centre([rows[node] for node in group]) for group in chosen]
        left += [(part[node], own) for node in others]
    for number, own in left:
        allowed = own if leftovers == "segment" else range(len(classes))
        classes[min(allowed, key=lambda c: (len(centres[c] ^ records[number]), c))].append(number)
    if recentre:
        centres = [centre([records[number] for number in group]) for group in classes]
    published = {number: shown for shown, group in zip(centres, classes, strict=True) for number in group}
    return [published[number] for number in range(len(records))], len(left)


def gsc(records: Sequence[Record], k: int, bits: Sequence[str]) -> list[Record]:
    order = gray_order(records, bits)
    runs = [order[begin : begin + k] for begin in range(0, len(order), k)]
    if len(runs) > 1 and len(runs[-1]) < k:
        remainder = runs.pop()
        runs[-1] += remainder
    published = {number: centre([records[n] for n in run]) for run in runs for number in run}
    return [published[number] for number in range(len(records))]


def best_cut(
    rows: Sequence[Record],
    marks: Sequence[Record],
    k: int,
    l: int,  # noqa: E741
    longest: int,
    grid: int,
) -> tuple[int, ...] | None:
    """The least loss of all cuts into allowed runs, and where the runs begin; the last runs as short as possible."""

    @cache
    def ending_at(end: int) -> tuple[int, tuple[int, ...]] | None:
        if end == 0:
            return 0, ()
        found = None
        for begin in range(end - 1, -1, -1):
            before = ending_at(begin) if begin % grid == 0 else None
            is_long_enough = k <= end - begin <= longest
            if before is None or not is_long_enough or (l > 1 and len(frozenset().union(*marks[begin:end])) < l):
                continue
            cost = before[0] + loss(rows[begin:end])
            if found is None or cost < found[0]:
                found = (cost, (*before[1], begin))
        return found

    found = ending_at(len(rows))
    return None if found is None else (found[0], *found[1])


class Chance:
    """The generator of the kernels, in whole numbers."""

    def __init__(self, state: int) -> None:
        self.state = state

    def below(self, n: int) -> int:
        word = self.state
        word ^= word >> 12
        word ^= (word << 25) % WORD
        word ^= word >> 27
        self.state = word
        return (((word * 0x2545F4914F6CDD1D) % WORD) >> 32) * n >> 32


def weave(
    rows: Sequence[Record],
    copies: Sequence[Sequence[int]],
    marks: Sequence[Record],
    classes: list[list[int]],
    neighbours: Sequence[Sequence[int]],
    k: int,
    l: int,  # noqa: E741
    room: int,
    n_steps: int,
    chance: Chance,
) -> None:
    """Moves and swaps in place: each is tried, and taken back if it raises the loss or breaks a limit."""
    row_of = {record: row for row, records in enumerate(copies) for record in records}
    largest = [len(members) + room for members in classes]

    def cost() -> int:
        return sum(loss([rows[row_of[record]] for record in members]) for members in classes)

    def is_diverse() -> bool:
        return l == 1 or all(len(frozenset().union(*(marks[r] for r in members))) >= l for members in classes)

    def draw_copy(row: int) -> int:
        return copies[row][chance.below(len(copies[row])) if len(copies[row]) > 1 else 0]

    def home(record: int) -> int:
        return next(number for number, members in enumerate(classes) if record in members)

    for _ in range(n_steps):
        row = chance.below(len(rows))
        record = draw_copy(row)
        other = draw_copy(neighbours[row][chance.below(len(neighbours[row]))])
        own, target = home(record), home(other)
        if own == target:
            continue
        before, saved = cost(), [list(members) for members in classes]
        if len(classes[own]) > k and len(classes[target]) < largest[target]:
            place = classes[own].index(record)
            classes[own][place] = classes[own][-1]
            classes[own].pop()
            if cost() == before:  # nothing to be gained by leaving
                classes[:] = saved
                continue
            classes[target].append(record)
        else:
            other = classes[target][chance.below(len(classes[target]))]
            if row_of[other] == row:
                continue
            classes[target][classes[target].index(other)] = record
            classes[own][classes[own].index(record)] = other
        if cost() > before or not is_diverse():
            classes[:] = saved


def merge_until_diverse(classes: Sequence[Sequence[int]], marks: Sequence[Record], l: int) -> list[list[int]]:  # noqa: E741
    """Neighbouring classes joined until each has l different marks."""
    merged: list[list[int]] = [[]]
    for members in classes:
        if len(frozenset().union(*(marks[r] for r in merged[-1]))) >= l:
            merged.append([])
        merged[-1] = merged[-1] + list(members)
    if len(merged) > 1 and len(frozenset().union(*(marks[r] for r in merged[-1]))) < l:
        remainder = merged.pop()
        merged[-1] += remainder
    return merged

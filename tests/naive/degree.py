"""Grouping around sensitive items, by looking: orderings, the degree, group formation, reconstruction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import log, log2

Record = frozenset[str]


def gray_rank(record: Collection[str], bits: Sequence[str]) -> int:
    """The literal inverse Gray code of a record; ``bits`` from the most to the least significant."""
    rank = bit = 0
    for item in bits:
        bit ^= item in record
        rank = 2 * rank + bit
    return rank


def gray_order(records: Sequence[Collection[str]], bits: Sequence[str]) -> list[int]:
    return sorted(range(len(records)), key=lambda number: (gray_rank(records[number], bits), number))


def degree_holds(groups: Iterable[Sequence[Record]], sensitive: Collection[str], p: int) -> bool:
    return all(p * sum(item in record for record in group) <= len(group) for group in groups for item in sensitive)


def publishable(records: Sequence[Record], sensitive: Collection[str]) -> list[Record]:
    """The records with a public item."""
    return [record for record in records if record - frozenset(sensitive)]


def surprise(block: Sequence[Record]) -> float:
    """What a block costs: for each item of each record, the record's length times log2(size / holders of the item)."""
    n_holders = Counter(item for record in block for item in record)
    return sum(len(record) * log2(len(block) / n_holders[item]) for record in block for item in record)


def distance(kind: str, one: Record, other: Record) -> Fraction:
    common = len(one & other)
    if kind == "common":
        return Fraction(-common)
    if kind == "jaccard":
        return 1 - Fraction(common, len(one | other)) if one | other else Fraction(0)
    return Fraction(len(one ^ other))


def canonical_order(records: Sequence[Record], sensitive: Collection[str]) -> list[int]:
    """Record numbers by public, then by sensitive items."""

    def key(number: int) -> tuple[list[str], list[str]]:
        return sorted(records[number] - set(sensitive)), sorted(records[number] & set(sensitive))

    return sorted(range(len(records)), key=key)


class Grouper:
    """NNGroup and CAHD share everything but the choice of the p-1 partners."""

    def __init__(self, records: Sequence[Record], sensitive: Collection[str], p: int) -> None:
        self.public = [record - set(sensitive) for record in records]
        self.hidden = [record & set(sensitive) for record in records]
        self.p = p
        self.free = set(range(len(records)))
        self.groups: list[list[int]] = []

    def conflict(self, one: int, others: Iterable[int]) -> bool:
        return any(self.hidden[one] & self.hidden[other] for other in others)

    def rest_is_safe(self, group: Sequence[int]) -> bool:
        rest = self.free - set(group)
        items = set().union(*self.hidden)
        return all(self.p * sum(item in self.hidden[record] for record in rest) <= len(rest) for item in items)

    def settle(self, group: Sequence[int]) -> None:
        if len(group) >= self.p and self.rest_is_safe(group):
            self.groups.append(list(group))
            self.free -= set(group)


def nn(records: Sequence[Record], sensitive: Collection[str], p: int, kind: str = "hamming") -> list[set[int]]:
    """Groups in the order they are formed, leftovers last."""
    state = Grouper(records, sensitive, p)
    order = canonical_order(records, sensitive)
    for seed in order:
        if seed not in state.free or not state.hidden[seed]:
            continue
        group = [seed]

        def nearness(other: int, seed: int = seed) -> tuple[Fraction, int, int]:
            one, two = state.public[seed], state.public[other]
            return distance(kind, one, two), len(one ^ two), order.index(other)

        for _ in range(p - 1):
            open_to = [other for other in state.free - set(group) if not state.conflict(other, group)]
            if not open_to:
                break
            group.append(min(open_to, key=nearness))
        state.settle(group)
    return [set(group) for group in state.groups] + ([state.free] if state.free else [])


def cahd(
    records: Sequence[Record],
    sensitive: Collection[str],
    p: int,
    order: Sequence[int],
    alpha: int = 1,
    kind: str = "hamming",
    absorb: bool = False,
) -> list[set[int]]:
    """Groups in the order they are formed, leftovers last."""
    state = Grouper(records, sensitive, p)
    place = {record: number for number, record in enumerate(order)}
    for seed in order:
        if seed not in state.free or not state.hidden[seed]:
            continue
        candidates: list[int] = []
        for step in (-1, 1):
            number, found = place[seed] + step, 0
            while 0 <= number < len(order) and found < alpha * p:
                other = order[number]
                if other in state.free and not state.conflict(other, [seed, *candidates]):
                    candidates.append(other)
                    found += 1
                number += step

        def nearness(other: int, seed: int = seed) -> tuple[Fraction, int, int]:
            gap = place[other] - place[seed]
            return distance(kind, state.public[seed], state.public[other]), abs(gap), gap

        state.settle([seed, *sorted(candidates, key=nearness)[: p - 1]])
    if absorb:
        absorb_leftovers(state, order, alpha, kind)
    return [set(group) for group in state.groups] + ([state.free] if state.free else [])


def shards(records: Sequence[Record], sensitive: Collection[str], p: int, size: int) -> list[list[Record]]:
    """Records in sequence, cut into runs and joined again where an item is too frequent."""
    n_shards = max(min(-(-len(records) // size), len(records) // p), 1)
    runs, start = [], 0
    for number in range(n_shards):
        end = start + len(records) // n_shards + (number < len(records) % n_shards)
        runs.append(list(records[start:end]))
        start = end
    joined: list[list[Record]] = []
    held: list[Record] = []
    for run in runs:
        held = held + run
        if degree_holds([held], sensitive, p):
            joined.append(held)
            held = []
    while held:
        held = joined.pop() + held
        if degree_holds([held], sensitive, p):
            joined.append(held)
            held = []
    return joined


def absorb_leftovers(state: Grouper, order: Sequence[int], alpha: int, kind: str) -> None:
    group_of = {record: group for group in state.groups for record in group}
    members = [record for record in order if record in group_of]
    place = {record: number for number, record in enumerate(order)}
    for record in order:
        if record not in state.free:
            continue
        before = [other for other in members if place[other] < place[record]][::-1][: alpha * state.p]
        after = [other for other in members if place[other] > place[record]][: alpha * state.p]
        choices = []
        for rank, other in [*enumerate(before), *enumerate(after)]:
            grown = [*group_of[other], record]
            if all(
                state.p * sum(item in state.hidden[member] for member in grown) <= len(grown)
                for item in state.hidden[record]
            ):
                side = place[other] > place[record]
                near = distance(kind, state.public[record], state.public[other])
                choices.append((near, rank, side, group_of[other]))
        if choices and state.rest_is_safe([record]):
            min(choices, key=lambda choice: choice[:3])[3].append(record)
            state.free.discard(record)


def estimate(
    groups: Iterable[Sequence[Record]], sensitive: Collection[str], item: str, wanted: set[str], unwanted: set[str]
) -> tuple[Fraction, int, int]:
    """Eq. 4 summed over groups, and the bounds found by trying every placement of the item's occurrences."""
    expected, low, high = Fraction(0), 0, 0
    for group in groups:
        a = sum(item in record for record in group)
        fits = [wanted <= record - set(sensitive) and not unwanted & record for record in group]
        hits = [sum(fits[place] for place in places) for places in combinations(range(len(group)), a)]
        expected += Fraction(sum(hits), len(hits))
        low, high = low + min(hits), high + max(hits)
    return expected, low, high


def kl_divergence(groups: Sequence[Sequence[Record]], item: str, asked: Sequence[str]) -> float:
    total = sum(item in record for group in groups for record in group)
    result = 0.0
    for pattern in product((False, True), repeat=len(asked)):
        actual, guess = 0, 0.0
        for group in groups:
            cell = [record for record in group if tuple(other in record for other in asked) == pattern]
            actual += sum(item in record for record in cell)
            guess += sum(item in record for record in group) * len(cell) / len(group)
        if actual:
            result += actual / total * log(actual / guess)
    return result


def worth(public: Sequence[Record], hidden: Sequence[Record], p: int, members: Sequence[int], record: int) -> float:
    """By how much the error of a group's sensitive items falls if a record joins; other groups hold own records
    only.
    """

    def error(item: str, others: Iterable[int]) -> float:
        carriers = [number for number in range(len(public)) if item in hidden[number]]
        actual = Counter(other for number in carriers for other in public[number])
        expected = actual + Counter(other for number in others for other in public[number])
        full, total = p * len(carriers), 0.0
        for other, count in expected.items():
            a, rest = actual[other] / len(carriers), full - count
            if a:
                total -= a * log(count) + (1 - a) * (log(rest) if rest else -log(2.0))
            else:
                total += count / full
        return total

    fall = 0.0
    for item in set().union(*(hidden[number] for number in members)):
        others = [number for number in members if item not in hidden[number]]
        fall += error(item, others) - error(item, [*others, record])
    return fall


def lsh_candidates(
    public: Sequence[Record], seed: int, projections: Sequence[Collection[str]], empty: bool
) -> set[int]:
    """Records that agree with the seed on some projection; with ``empty`` also on having none of its items."""
    return {
        other
        for other in range(len(public))
        for items in projections
        if public[other] & set(items) == public[seed] & set(items) and (empty or public[seed] & set(items))
    } - {seed}


def rcm_order(records: Sequence[Record]) -> list[int]:
    """Reverse Cuthill-McKee over an explicit graph; a neighbour counts once per shared item in the degree."""
    everybody = range(len(records))
    degree = [sum(len(records[one] & records[two]) for two in everybody if two != one) for one in everybody]
    beside = [{two for two in everybody if two != one and records[one] & records[two]} for one in everybody]

    def key(record: int) -> tuple[int, bool, int]:
        return degree[record], bool(records[record]), record

    def walk(root: int) -> list[list[int]]:
        levels, met = [[root]], {root}
        while levels[-1]:
            following: list[int] = []
            for record in levels[-1]:
                fresh = sorted(beside[record] - met, key=key)
                met |= set(fresh)
                following += fresh
            levels.append(following)
        return levels[:-1]

    done: list[int] = sorted((record for record in everybody if not records[record]), key=key)
    for record in sorted(everybody, key=key):
        if record in done:
            continue
        levels = walk(record)
        while True:
            deeper = walk(min(levels[-1], key=key)) if sum(map(len, levels)) > 1 else levels
            grew, levels = len(deeper) > len(levels), deeper
            if not grew:
                break
        done += [other for level in levels for other in level]
    return done[::-1]


def gathered(records: Sequence[frozenset[str]], size: int, reach: int) -> list[list[int]]:
    """Blocks around the longest free record, in turn: of ``reach`` free holders of each of its items before it and
    after it, those with the largest share of common items; ties: nearest, then first. Then the nearest free record,
    ties: the later one.
    """
    free = set(range(len(records)))
    blocks = []
    for seed in sorted(free, key=lambda number: -len(records[number])):
        if seed not in free:
            continue
        free.remove(seed)
        block, candidates = [seed], set()
        for item in records[seed]:
            holders = sorted(number for number in free if item in records[number])
            candidates |= set([number for number in holders if number < seed][-reach:])
            candidates |= set([number for number in holders if number > seed][:reach])

        def likeness(number: int, seed: int = seed) -> float:
            return len(records[seed] & records[number]) / len(records[seed] | records[number])

        def rank(number: int, seed: int = seed) -> tuple[float, int, int]:
            return (-likeness(number), abs(number - seed), number)

        block += sorted(candidates, key=rank)[: size - 1]
        free -= set(block)
        while len(block) < size:
            nearest = min(free, key=lambda number: (abs(number - seed), -number))
            free.remove(nearest)
            block.append(nearest)
        blocks.append(block)
    return blocks


def chosen_sets(
    held: Sequence[tuple[int, ...]], is_bad: Sequence[bool], capacity: int, drawn: Sequence[int]
) -> list[list[int]] | None:
    """Units that are mixed: the bad ones that hold the most first, each with those that leave the least room.

    Room counts as a share of what all units hold of an item.

    Who of those that hold the same comes first stands in ``drawn``: it is taken from its front as one that chooses,
    from its back as one that is chosen.
    """
    free = list(drawn)
    weight = [2**32 // max(sum(column), 1) for column in zip(*held, strict=True)]
    sets = []
    for first in sorted((unit for unit in drawn if is_bad[unit]), key=lambda unit: (-sum(held[unit]), held[unit])):
        if first not in free:
            continue
        free.remove(first)
        some, n_wanted = [first], -(-max(held[first]) // capacity)
        while len(some) < n_wanted:
            together = [sum(column) for column in zip(*(held[unit] for unit in some), strict=True)]
            fitting = [
                (
                    sum(
                        w * abs(t + h - (capacity * n_wanted if t else 0))
                        for w, t, h in zip(weight, together, held[unit], strict=True)
                    ),
                    held[unit],
                    -place,
                    unit,
                )
                for place, unit in enumerate(free)
                if all(t + h <= capacity * n_wanted for t, h in zip(together, held[unit], strict=True))
            ]
            if fitting:
                some.append(min(fitting)[-1])
                free.remove(some[-1])
            elif len(some) + len(free) > n_wanted:
                n_wanted += 1
            else:
                return None
        sets.append(some)
    return sets


def most_groups(held: Sequence[Sequence[frozenset[str]]], p: int) -> int:
    """Into how many groups of degree p parts can be cut, equally many records of each part in every group.

    Pieces differ by at most one record. 1 if there is no such cut.
    """
    size = len(held[0])
    for n_groups in range(size, 1, -1):
        labels = [place % n_groups for place in range(size)]
        if min(labels.count(group) for group in range(n_groups)) * len(held) < p:
            continue
        cuts = set(permutations(labels))
        for choice in product(cuts, repeat=len(held)):
            groups = [
                [
                    record
                    for part, dealt in zip(held, choice, strict=True)
                    for record, to in zip(part, dealt, strict=True)
                    if to == g
                ]
                for g in range(n_groups)
            ]
            if all(
                p * sum(item in record for record in group) <= len(group)
                for group in groups
                for item in set().union(*group)
            ):
                return n_groups
    return 1


def permmondrian(records: Sequence[Record], sensitive: Sequence[str], p: int) -> list[set[int]]:
    """Groups split by the best item for as long as both sides keep the degree; the best item splits the sensitive items
    most evenly, then the records.
    """
    done: list[set[int]] = []
    waiting = [set(range(len(records)))]
    while waiting:
        group = waiting.pop()
        found: list[tuple[float, float, set[int]]] = []
        for item in sorted(set().union(*records) - set(sensitive)):
            inside = {number for number in group if item in records[number]}
            sides = [[records[number] for number in side] for side in (inside, group - inside)]
            if all(sides) and degree_holds(sides, sensitive, p):
                counts = [[sum(one in record for record in side) for side in sides] for one in sensitive]
                even = sum((min(pair) / sum(pair) for pair in counts if sum(pair)), 0.0)
                found.append((even, min(map(len, sides)) / len(group), inside))
        if found and any(records[number] & set(sensitive) for number in group):
            inside = max(found, key=lambda one: one[:2])[2]  # the first of equals
            waiting += [inside, group - inside]
        else:
            done.append(group)
    return done

"""Sensitive rules by their definition, and RBAT with sets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Record = frozenset[str]
Rule = tuple[tuple[str, ...], tuple[str, ...], int, Fraction]  # known, sensitive, k, c
Parts = list[list[str]]


def counts(
    records: Sequence[Record], rule: Rule, cover: Mapping[str, Collection[str]] | None = None
) -> tuple[int, int]:
    """Records whose labels can cover the left side, and those of them that can cover both sides.

    ``cover``: the items that each label can cover; itself where there is none. An item of the left side that
    no label covers is suppressed.
    """
    whole = [set().union(*((cover or {}).get(label, (label,)) for label in record)) for record in records]
    shown = set().union(*((cover or {}).values())) if cover is not None else set().union(*whole, rule[0])
    left = {item for item in rule[0] if item in shown}
    matching = [items for items in whole if left <= items]
    return len(matching), sum(set(rule[1]) <= items for items in matching)


def is_met(records: Sequence[Record], rule: Rule, cover: Mapping[str, Collection[str]] | None = None) -> bool:
    alone, both = counts(records, rule, cover)
    is_named = cover is None or bool(set(rule[0]) & set().union(*cover.values()))
    return (alone == 0 or alone >= rule[2] or not is_named) and both <= rule[3] * alone


def clustered(records: Sequence[Record], parts: Parts) -> tuple[list[Record], dict[str, list[str]]]:
    """Records with every item of a part replaced by the part's name, and what the names cover."""
    name = {item: "+".join(part) for part in parts for item in part}
    cover = {"+".join(part): part for part in parts}
    others = set().union(*records) - set(name)
    cover |= {item: [item] for item in others}
    return [frozenset(name.get(item, item) for item in record) for record in records], cover


def all_met(records: Sequence[Record], parts: Parts, rules: Sequence[Rule]) -> bool:
    published, cover = clustered(records, parts)
    occurring = set().union(*records)
    return all(is_met(published, rule, cover) for rule in rules if occurring.issuperset(rule[0]))


def utility_loss(records: Sequence[Record], parts: Parts) -> Fraction:
    """PCTA's UL over the public items."""
    n_items = sum(map(len, parts))
    total = sum((2 ** len(part) - 1) * _support(records, part) for part in parts)
    return Fraction(total, (2**n_items - 1) * len(records)) if n_items and records else Fraction(0)


def _support(records: Sequence[Record], part: Collection[str]) -> int:
    return sum(not record.isdisjoint(part) for record in records)


def partitions(items: Sequence[str]) -> Iterator[Parts]:
    if not items:
        yield []
        return
    for smaller in partitions(items[1:]):
        yield [[items[0]], *smaller]
        for place, part in enumerate(smaller):
            yield [*smaller[:place], sorted([items[0], *part]), *smaller[place + 1 :]]


def best_partition(records: Sequence[Record], public: Sequence[str], rules: Sequence[Rule]) -> Fraction | None:
    """The smallest utility loss of a partition that meets all rules."""
    losses = [utility_loss(records, parts) for parts in partitions(public) if all_met(records, parts, rules)]
    return min(losses, default=None)


def rbat(records: Sequence[Record], public: Sequence[str], rules: Sequence[Rule]) -> Parts | None:
    """Everything merged, split from the top down while all rules are met; None if they are not to begin with."""
    parts = [sorted(public)] if public else []
    if not all_met(records, parts, rules):
        return None
    is_changed = True
    while is_changed:
        is_changed = False
        waiting = sorted(parts)
        while waiting:
            whole = waiting.pop(0)
            if len(whole) < 2:
                continue
            halves = split(records, whole)
            tried = [part for part in parts if part != whole] + halves
            if all_met(records, tried, rules):
                parts, is_changed = tried, True
                waiting.extend(halves)
    return sorted(parts)


def split(records: Sequence[Record], whole: Sequence[str]) -> Parts:
    first, second = max(combinations(whole, 2), key=lambda pair: (_support(records, pair), *(_later(whole, pair))))
    halves = [[first], [second]]
    for item in whole:
        if item not in (first, second):
            losses = [(2 ** (len(half) + 1) - 1) * _support(records, [*half, item]) for half in halves]
            halves[losses[1] < losses[0]].append(item)
    return [sorted(half) for half in halves]


def _later(whole: Sequence[str], pair: tuple[str, str]) -> tuple[int, ...]:
    """So that of equal pairs the first one is the largest."""
    return tuple(-whole.index(item) for item in pair)


def least_suppressed(records: Sequence[Record], public: Sequence[str], rules: Sequence[Rule]) -> int:
    """The fewest sensitive entries that any partition needs suppressed, by trying."""
    sensitive = {item for rule in rules for item in rule[1]}
    entries = [(number, item) for number, record in enumerate(records) for item in sorted(record & sensitive)]
    for size in range(len(entries) + 1):
        for gone in combinations(entries, size):
            left = [record - {item for row, item in gone if row == number} for number, record in enumerate(records)]
            if any(all_met(left, parts, rules) for parts in partitions(public)):
                return size
    raise AssertionError


def prune_left_sides(records: Sequence[Record], rules: Sequence[Rule]) -> list[Record]:
    """The public entries that prune shows of sorted records, one left side after the other."""
    public = {item for rule in rules for item in rule[0]}
    least = {rule[0]: max(other[2] for other in rules if other[0] == rule[0]) for rule in rules}
    least = {left: k for left, k in least.items() if set().union(*records).issuperset(left)}
    support = {item: _support(records, [item]) for item in public}
    shown = [set(record) for record in records]

    def matching(left: Collection[str]) -> list[int]:
        named = set(left) & set().union(*shown)  # a suppressed item limits nobody
        return [number for number, row in enumerate(shown) if named <= row]

    def is_rare(left: tuple[str, ...]) -> bool:
        return bool(set(left) & set().union(*shown)) and 0 < len(matching(left)) < least[left]

    while rare := [left for left in least if is_rare(left)]:
        occurring, matches = set().union(*shown), {left: matching(left) for left in rare}
        for number, row in enumerate(shown):
            sides = [set(left) & occurring for left in rare if number in matches[left]]
            while sides:
                of_most = {item: sum(item in side for side in sides) for side in sides for item in side}
                taken = min(of_most, key=lambda item: (-of_most[item], -support[item], item))
                sides = [side for side in sides if taken not in side]
                row.discard(taken)
    is_changed = True
    while is_changed:
        is_changed = False
        for item in sorted(public & set().union(*shown)):
            for number, row in enumerate(shown):
                if item in records[number] - row:
                    of_item = [left for left in least if item in left]
                    completed = [left for left in of_item if set(left) & set().union(*shown) <= row | {item}]
                    if all(len(matching(left)) >= least[left] for left in completed):
                        row.add(item)
                        is_changed = True
    return [frozenset(row) for row in shown]

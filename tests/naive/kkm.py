"""(k, k^m)-anonymity by looking: people are dictionaries of columns and sets of items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import setveil as sv
from setveil.core import Transactions
from setveil.core.columns import Columns
from setveil.models import KKmAnonymity
from setveil.releases import LocalRecoding
from tests.naive.verify import Itemset, occurring, support

Person = tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]  # known columns, sensitive columns, items


def people_of(data: Transactions) -> list[Person]:
    known = [column.to_list() for column in data.columns or () if column.role == "known"]
    sensitive = [column.to_list() for column in data.columns or () if column.role == "sensitive"]
    return [
        (tuple(cells[place] for cells in known), tuple(cells[place] for cells in sensitive), frozenset(row))
        for place, row in enumerate(data.to_lists())
    ]


def kkm(
    people: Sequence[Person], names: Sequence[str], model: KKmAnonymity, hidden: set[str]
) -> tuple[set[tuple[Itemset, int]], dict[str, int]]:
    """All violations as the verifier names them, and what is achieved."""
    classes: dict[tuple[str, ...], list[Person]] = defaultdict(list)
    for person in people:
        classes[person[0]].append(person)
    bad: set[tuple[Itemset, int]] = set()
    supports: list[int] = []
    n_values: list[int] = []
    n_revealed = 0
    for values, members in classes.items():
        told = tuple(f"{name}={value}" for name, value in zip(names, values, strict=True))
        counted = [len(frozenset().union(*(items & hidden for _, _, items in members)))] if model.sensitive else []
        counted += [len(set(column)) for column in zip(*(secret for _, secret, _ in members), strict=True)]
        n_values += counted
        shared = frozenset.intersection(*(items for _, _, items in members))
        certain = [len(set(column)) == 1 for column in zip(*(secret for _, secret, _ in members), strict=True)]
        n_revealed += len(members) if shared or any(certain) else 0
        rows = [items - hidden for _, _, items in members]
        own = {itemset: support(rows, itemset) for itemset in occurring(rows, model.m)} if model.m != 0 else {}
        supports += own.values()
        if len(members) < model.k_for(0):
            bad.add((told, len(members)))
            continue
        if model.l > 1 and min(counted) < model.l:
            bad.add((told, len(members)))
        rare = [itemset for itemset, count in own.items() if count < model.k_for(len(itemset))]
        for itemset in rare:
            if not any(set(other) < set(itemset) for other in rare):
                bad.add(((*told, *itemset), own[itemset]))
    achieved: dict[str, int] = {}
    if people:
        achieved["smallest_class"] = min(map(len, classes.values()))
        if supports:
            achieved["smallest_support"] = min(supports)
        if model.l > 1:
            achieved["fewest_sensitive_values"] = min(n_values)
        achieved["people_in_revealing_classes"] = n_revealed
    return bad, achieved


def violations(release: LocalRecoding, model: KKmAnonymity) -> object:
    names = [column.name for column in release.published.columns or () if column.role == "known"]
    return kkm(people_of(release.rows), names, model, set(model.sensitive))[0]


def check_people(data: Transactions, release: LocalRecoding, model: KKmAnonymity) -> None:
    """Safe, by brute force and by the verifier, and true: every published value covers the original one."""
    assert not violations(release, model)
    assert sv.verify(release, model).holds
    for column in data.columns or ():
        published = (release.published.columns or Columns(()))[column.name]
        if column.role != "known":
            assert published.to_list() == column.to_list()
            continue
        assert published.cover is not None
        covers = [set(labels) for labels in published.cover.to_lists()]
        assert all(value in covers[code] for value, code in zip(column.to_list(), published.codes, strict=True))
    book = {label: set(items) for label, items in release.codebook().items()}
    for record, shown in zip(data.to_lists(), release.transactions(), strict=True):
        assert all(book[label] & set(record) for label in shown)
        assert set(model.sensitive) & set(record) <= shown

"""Hierarchies built from the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.km.aa import AA
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.models import KmAnonymity
from setveil.taxonomies import auto as module
from setveil.workflows import hierarchy
from tests.naive.scattered import Scattered

METHODS = ("", "cooccurrence", "frequency")


def some_data(seed: int, n_items: int = 9, n_records: int = 40) -> Transactions:
    rng = Random(seed)
    weights = [1 / (place + 1) for place in range(n_items)]
    items = [f"i{number}" for number in range(n_items)]
    return Transactions.from_lists(
        [sorted(set(rng.choices(items, weights, k=rng.randint(0, 4)))) for _ in range(n_records)]
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_binary_tree_over_the_items(method: str) -> None:
    for seed in range(30):
        data = some_data(seed, n_items=2 + seed % 9)
        tree = Hierarchy.auto(data, method)
        assert tree.vocabulary.labels == data.vocabulary.labels
        assert tree.derived_from_data
        inner = range(tree.n_items, tree.n_nodes)
        assert all(len(tree.children[node]) == 2 for node in inner)
        assert len({tree.labels[node] for node in inner}) == len(inner)
        n_numbered = 0
        for node in (int(node) for node in tree.in_preorder if node >= tree.n_items):
            members = [tree.labels[leaf] for leaf in sorted(tree.leaves(node).tolist())]
            n_numbered += len(members) > 4
            expected = " or ".join(members) if len(members) <= 4 else f"group {n_numbered} of {len(members)} items"
            assert tree.labels[node] == expected


@pytest.mark.parametrize("method", METHODS)
def test_record_order_does_not_matter(method: str) -> None:
    data = some_data(1)
    other = Hierarchy.auto(data.select(np.arange(data.n_records)[::-1]), method)
    assert np.array_equal(Hierarchy.auto(data, method).parent, other.parent)


def test_similar_frequencies_are_neighbours() -> None:
    data = Transactions.from_lists([["a"]] * 9 + [["b"]] * 1 + [["c"]] * 8 + [["d"]] * 2)
    tree = Hierarchy.auto(data, "frequency")
    groups = {frozenset(tree.labels[leaf] for leaf in tree.leaves(node)) for node in range(4, tree.n_nodes)}
    assert groups == {frozenset("ac"), frozenset("bd"), frozenset("abcd")}


def merges_by_the_book(data: Transactions, times: int = 1, most: int = 99) -> list[tuple[int, int]]:
    """The merges of ``cooccurrence`` with sets and fractions, as if pairs occurred so many times as often; among more
    than ``most`` groups the two cheapest are merged.
    """
    sizes = dict.fromkeys(range(data.n_items), 1)  # by the item that a group is known by
    occurrences = dict(enumerate(data.supports.tolist()))
    node = {item: item for item in sizes}
    pairs: Counter[frozenset[int]] = Counter()
    for number in range(data.n_records):
        pairs.update(frozenset(pair) for pair in combinations(data.record(number).tolist(), 2))
    for pair in pairs:
        pairs[pair] *= times

    def worth(one: int, other: int) -> Fraction:
        gain = module.HEAD_START
        for third in sizes:
            x, y = pairs[frozenset((one, third))], pairs[frozenset((other, third))]
            if third not in (one, other) and x and y:
                gain += module.ONE // x + module.ONE // y - module.ONE // (x + y)
        price = (occurrences[one] + occurrences[other]) * (sizes[one] + sizes[other])
        return Fraction(gain, price - occurrences[one] * sizes[one] - occurrences[other] * sizes[other])

    merges: list[tuple[int, int]] = []
    while len(sizes) > 1:
        one, *others = sorted(sizes, key=lambda item: (occurrences[item] * sizes[item], item))
        other = others[0] if len(sizes) > most else max(others, key=partial(worth, one))
        merges.append((node[one], node[other]))
        for third in sizes:
            if third != other:
                pairs[frozenset((other, third))] += pairs.pop(frozenset((one, third)), 0)
        occurrences[other] += occurrences[one]
        sizes[other] += sizes.pop(one)
        node[other] = data.n_items + len(merges) - 1
    return merges


def test_cooccurrence_by_the_book() -> None:
    for seed in range(40):
        data = some_data(seed)
        assert module.merge_by_cooccurrence(data) == merges_by_the_book(data)


def test_counts_of_pairs_do_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if pairs came from thousands of millions of records; sums of their counts need more than 32 bits."""
    count_pairs, times = module.count_pairs, 1 << 29
    monkeypatch.setattr(module, "count_pairs", lambda *given: count_pairs(*given) * times)  # in the type of the counts
    monkeypatch.setattr(module, "ONE", module.ONE * times)
    monkeypatch.setattr(module, "HEAD_START", module.HEAD_START * times)
    for seed in range(40):
        data = some_data(seed)
        assert module.merge_by_cooccurrence(data) == merges_by_the_book(data, times)


def test_odd_data() -> None:
    with pytest.raises(InputError, match="without items"):
        Hierarchy.auto(Transactions.from_lists([[], []]))
    with pytest.raises(InputError, match=r'no hierarchy "auto:magic".* cooccurrence, frequency'):
        Hierarchy.auto(some_data(0), "magic")
    assert Hierarchy.auto(Transactions.from_lists([["a"], ["a"]])).n_items == 1


def test_of_too_many_items_the_cheapest_are_merged_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_GROUPS", 5)
    for seed in range(40):
        data = some_data(seed)
        assert module.merge_by_cooccurrence(data) == merges_by_the_book(data, most=5)


def test_auto_is_never_worse_than_what_it_tried() -> None:
    for seed in range(12):
        data = some_data(seed)
        model = KmAnonymity(k=2 + seed % 4, m=2)
        chosen = sv.anonymize(data, model, "aa", "auto")
        losses = [sv.anonymize(data, model, "aa", f"auto:{name}").details["ncp"] for name in module.METHODS]
        losses.append(sv.anonymize(data, model, "aa", "fanout:5").details["ncp"])
        assert chosen.details["ncp"] == min(losses)


def test_large_data_is_tried_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_data(5)
    shuffled = data.select(np.random.default_rng(0).permutation(data.n_records))
    monkeypatch.setattr(hierarchy, "TRIED_ON", data.n_occurrences // 3)
    assert np.array_equal(Hierarchy.auto(data).parent, Hierarchy.auto(shuffled).parent)


def test_as_text() -> None:
    data = some_data(3)
    release = sv.anonymize(data, sv.KmAnonymity(k=3, m=2), "aa", "auto:frequency")
    assert sv.verify(release, sv.KmAnonymity(k=3, m=2)).holds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "m", "by_id", "at_most"),
    [
        ("BMS1.dat.gz", 2, 0.0264, 0.0045),
        ("BMS1.dat.gz", 3, 0.1081, 0.0070),
        pytest.param("BMS2.dat.gz", 2, 0.0200, 0.0032, marks=pytest.mark.long),
    ],
)
def test_far_less_is_lost_than_in_order_of_ids(
    real_data: Callable[[str], Path], name: str, m: int, by_id: float, at_most: float
) -> None:
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data(name))
    model = KmAnonymity(5, m)
    losses = [
        AA().run(data, model, Context(hierarchy=tree)).details["ncp"]
        for tree in (Hierarchy.balanced(data, 5), Hierarchy.auto(data))
    ]
    assert losses[0] == pytest.approx(by_id, abs=5e-5)
    assert losses[1] < at_most


def test_the_same_tree_where_records_are_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    model = KmAnonymity(k=3, m=2)
    for seed in range(4):
        data = some_data(seed)
        there = Scattered(data, 3)
        group_of = np.arange(data.n_items) // (1 + seed % 2)
        groups = group_of, int(group_of[-1]) + 1
        assert module.count_pairs(there, *groups).tolist() == module.count_pairs(data, *groups).tolist()
        monkeypatch.setattr(hierarchy, "TRIED_ON", data.n_occurrences // (1 + seed % 3))
        for method in ("", *module.METHODS):
            tree = hierarchy.auto_hierarchy(there, method, model)
            assert np.array_equal(tree.parent, hierarchy.auto_hierarchy(data, method, model).parent)

"""ρ-uncertainty against its definition."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

import setveil as sv
from setveil.errors import UncheckedError
from setveil.releases import LocalRecoding
from setveil.verify import intersections
from setveil.verify.claims import achieved
from tests.naive import uncertainty as naive

RHOS = ("1/3", "1/2", "1/5", "2/3")


def random_records(chance: random.Random) -> list[frozenset[str]]:
    items = "abcdefst"[: chance.randint(2, 8)] + "s"
    share = chance.choice((0.2, 0.4, 0.7))
    return [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(1, 12))]


def compare(records: list[frozenset[str]], rho: str, p: Any) -> None:
    sensitive, share = ("s", "t"), Fraction(rho)
    model = sv.Uncertainty(rho, sensitive, p)
    size = None if p == "all" else p
    expected = naive.violated(records, sensitive, share, size)
    verdict = sv.verify(records, model)
    assert verdict.holds == (not expected)
    if verdict.witness is not None:
        *known, item = verdict.witness
        confidence = {(rule[0], rule[1]): rule[2] for rule in naive.rules(records, sensitive, size)}
        assert confidence[frozenset(known), item] > share
        for dropped in known:
            assert confidence[frozenset(known) - {dropped}, item] <= share
    found = {(frozenset(one.itemset[:-1]), one.itemset[-1]) for one in sv.minimal_violations(records, model)}
    assert found <= {(known, item) for known, item, _ in expected}
    assert bool(found) == bool(expected)
    largest = naive.largest(records, sensitive, size)
    assert achieved(records, model).get("largest_percentage", 0.0) == pytest.approx(float(100 * largest))


def test_a_thousand_random_databases() -> None:
    chance = random.Random(30)
    for _ in range(1000):
        compare(random_records(chance), chance.choice(RHOS), chance.choice(("all", 1, 2, 3)))


def test_little_room_and_small_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intersections, "BUDGET", 1)
    monkeypatch.setattr(intersections, "ROOM", 1)
    monkeypatch.setattr(intersections, "AT_ONCE", 2)
    chance = random.Random(32)
    for _ in range(100):
        compare(random_records(chance), chance.choice(RHOS), chance.choice(("all", 2, 3)))


def test_the_witness_does_not_depend_on_the_order_of_records() -> None:
    chance = random.Random(33)
    for _ in range(50):
        records = random_records(chance)
        model = sv.Uncertainty("1/3", ["s", "t"])
        shuffled = chance.sample(records, len(records))
        assert sv.verify(records, model) == sv.verify(shuffled, model)


@pytest.mark.parametrize("p", ["all", 2])
def test_too_much_work_is_not_a_verdict(monkeypatch: pytest.MonkeyPatch, p: Any) -> None:
    monkeypatch.setattr(intersections, "MOST_STEPS", 5)
    with pytest.raises(UncheckedError, match="smaller -p"):
        sv.verify([{"a", "b", "s"}, {"a", "s"}, *[{"a", "b"}] * 4, *[{"a"}] * 9], sv.Uncertainty("1/2", ["s"], p))


def test_a_large_denominator_does_not_overflow() -> None:
    records = [{"a", "s"}, {"a"}, {"a"}] * 4
    above, under = "0.333333333333333332", "0.333333333333333334"
    assert not sv.verify(records, sv.Uncertainty(above, ["s"]))
    assert sv.verify(records, sv.Uncertainty(under, ["s"]))


def test_local_recodings_are_also_checked_expanded() -> None:
    """As opaque labels nothing reveals s with more than 1/2. A record with "ab" may have both items, though: of all
    records that can have "b", two of three have s.
    """
    data = sv.Transactions.from_lists([["a", "s"], ["a"], ["b", "s"], ["c"], ["c", "b"]])
    tree = sv.Hierarchy.from_paths([("a", "ab", "any"), ("b", "ab", "any"), ("c", "any"), ("s", "any")])
    nodes = tree.leaf_of_items(data.vocabulary)[data.items].copy()
    nodes[0] = tree.parent[nodes[0]]
    release = LocalRecoding.from_nodes(data, tree, nodes)
    assert not sv.verify(release, sv.Uncertainty("1/2", ["s"]))
    assert sv.verify(release, sv.Uncertainty("2/3", ["s"])).witness is not None


@pytest.mark.parametrize("rho", ["0", "1", "3/2", "-1/2", "1/0", "half", True, None])
def test_a_share_outside_0_and_1_is_refused(rho: Any) -> None:
    with pytest.raises(sv.InputError, match="rho"):
        sv.Uncertainty(rho, ["s"])

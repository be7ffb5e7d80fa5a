"""What known items reveal about further ones, against looking at every published record."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Hierarchy, Itemsets, Transactions
from setveil.releases import Grouping, Recoding, Release
from setveil.risk._revealing import count_further
from setveil.risk.attack import attack
from setveil.risk.inference import Conclusions, Revealed, reveal
from setveil.risk.knowledge import Group, People
from setveil.risk.surface import Surface
from tests.naive.attack import candidates
from tests.naive.releases import random_grouping, random_local, random_recoding, random_replacement
from tests.naive.risk import best_further_item, best_grouped_item, best_named_item
from tests.risk.test_attack import covers_of, surface_of, without_own

LABELS = ("all", "exact")


def asked_about(
    source: random.Random, data: Transactions, surface: Surface, secrets: list[str]
) -> tuple[list[set[str]], Revealed]:
    """Every person as a target, with any knowledge, also wrong."""
    known = [
        set(source.sample(list(data.vocabulary), min(source.randint(0, 4), data.n_items))) - set(secrets)
        for _ in range(data.n_records)
    ]
    itemsets, _ = Itemsets.from_lists(known, data.vocabulary)
    people = People.of(data, data.vocabulary.numbers(secrets))
    group = Group(np.arange(data.n_records), np.full(data.n_records, -1))
    return known, reveal(surface, people, group, itemsets, np.arange(data.n_records))


def assert_concluded(found: Conclusions, place: int, best: Fraction) -> None:
    assert found.certain[place] == (best == 1)
    assert found.likely[place] == (2 * best > 1)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("make", [random_recoding, random_local, random_replacement])
def test_any_item_equals_looking_at_every_record(
    make: Callable[..., tuple[Transactions, Release, object]], labels: str
) -> None:
    source = random.Random(31)
    n_certain = n_likely = 0
    for _ in range(300):
        data, release, _ = make(source)
        covers, rows = covers_of(release), data.to_lists()
        everyone = list(range(data.n_records))
        known, revealed = asked_about(source, data, surface_of(data, release, [], (labels, "every")), [])
        for record in everyone:
            others = [other for other in everyone if other != record]
            own = set(rows[record]) - known[record]
            fitting = candidates(covers, known[record], labels)
            rest = without_own(covers, known[record], (labels, "every"), record)
            for found, asked, all_of_them in ((revealed.found, fitting, everyone), (revealed.control, rest, others)):
                best, is_certain = best_further_item(covers, asked, all_of_them, own, known[record])
                assert_concluded(found, record, best)
                assert found.category is not None and found.category[record] == is_certain
                n_certain, n_likely = n_certain + (best == 1), n_likely + (2 * best > 1)
    assert n_certain > 5 and n_likely >= n_certain


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("make", [random_recoding, random_local, random_replacement])
def test_named_items_equal_looking_at_every_record(
    make: Callable[..., tuple[Transactions, Release, object]], labels: str
) -> None:
    source = random.Random(32)
    n_certain = 0
    for _ in range(300):
        data, release, _ = make(source)
        secrets = [label for label in data.vocabulary if source.random() < 0.4]
        if not secrets:
            continue
        covers, rows, named = covers_of(release), data.to_lists(), set(secrets)
        everyone = list(range(data.n_records))
        known, revealed = asked_about(source, data, surface_of(data, release, secrets, (labels, "every")), secrets)
        place = 0
        for record in everyone:
            assert revealed.asked[record] == bool(named & set(rows[record]))
            if not revealed.asked[record]:
                continue
            others = [other for other in everyone if other != record]
            fitting = candidates(covers, known[record], labels)
            rest = without_own(covers, known[record], (labels, "every"), record)
            for found, asked, all_of_them in ((revealed.found, fitting, everyone), (revealed.control, rest, others)):
                best = best_named_item(covers, asked, all_of_them, set(rows[record]), named)
                assert_concluded(found, place, best)
                assert found.highest is not None and found.highest >= float(best) - 1e-6
                n_certain += best == 1
            place += 1
    assert n_certain > 5


def test_groupings_equal_looking_at_every_record() -> None:
    source = random.Random(33)
    n_likely = 0
    for _ in range(200):
        data, release = random_grouping(source)
        secrets = [label for label in release.sensitive if label in data.vocabulary]
        if not secrets:
            continue
        rows, covers = [set(row) for row in data.to_lists()], covers_of(release)
        groups = release.group_of.tolist()
        hidden = [row & set(secrets) for row in rows]
        known, revealed = asked_about(source, data, surface_of(data, release, secrets, ("all", "every")), secrets)
        for place, record in enumerate(np.flatnonzero(revealed.asked).tolist()):
            fitting = candidates(covers, known[record])
            rest = without_own(covers, known[record], ("all", "every"), record)
            for found, asked, without in ((revealed.found, fitting, None), (revealed.control, rest, record)):
                best = best_grouped_item(hidden, groups, asked, hidden[record], without)
                assert_concluded(found, place, best)
                n_likely += 2 * best > 1
    assert n_likely > 50


# -- by hand -----------------------------------------------------------------------------------------------------------


def intact(data: Transactions) -> Recoding:
    return Recoding.from_clusters(data, np.arange(data.n_items))


def figures(data: Transactions, release: Release, known: int, **options: Any) -> dict[str, Any]:
    (row,) = attack(data, release, known=(known,), targets=2000, strategies=("random",), **options).to_dict()["rows"]
    return row


def test_a_safe_release_can_reveal_an_item_for_certain() -> None:
    """Two known items match ten records, and all of them show a third: nobody is singled out, all is revealed."""
    data = Transactions.from_lists([["a", "b", "c"]] * 10 + [["a", "d"]] * 10 + [["b", "d"]] * 10)
    row = figures(data, intact(data), 2)
    assert row["singled_out"]["after"][0] == 0
    # Of the 30 people the ten of the first kind: c follows from a and b, b from a and c, a from b and c.
    for name in ("certain", "likely", "certain_category"):
        assert row[name]["before"][0] == row[name]["after"][0] == row[name]["control"][0]
        assert row[name]["after"][0] == pytest.approx(1 / 3, abs=0.04)
        assert row[name]["base"] == "people with at least 2 items"


def test_what_only_the_own_record_reveals_exceeds_the_control() -> None:
    """Whoever knows one of a person's two own items knows the other one; nobody else's record says so."""
    data = Transactions.from_lists([[f"one{n}", f"two{n}"] for n in range(20)])
    row = figures(data, intact(data), 1)
    assert (row["certain"]["after"][0], row["certain"]["control"][0]) == (1.0, 0.0)
    # An item that all others have is certain without the own record, too.
    data = Transactions.from_lists([["a", f"own{n}"] for n in range(20)])
    row = figures(data, intact(data), 1)
    assert row["certain"]["after"][0] == row["certain"]["control"][0] == pytest.approx(0.5, abs=0.04)


def test_a_category_is_no_item_but_counts_as_one() -> None:
    data = Transactions.from_lists([["x", "hiv-1"], ["x", "hiv-2"], ["y", "flu"], ["y", "flu"]])
    paths = [["hiv-1", "hiv", "all"], ["hiv-2", "hiv", "all"], ["flu", "all"], ["x", "all"], ["y", "all"]]
    tree = Hierarchy.from_paths(paths)
    cut = np.arange(tree.n_items)
    hiv = list(tree.labels).index("hiv")
    cut[[tree.vocabulary.number("hiv-1"), tree.vocabulary.number("hiv-2")]] = hiv
    release = Recoding.from_cut(data, tree, cut)
    row = figures(data, release, 1)
    assert row["certain_category"]["after"][0] > row["certain"]["after"][0]
    # Named, both items of the category are sensitive: whoever shows it has one of them for certain.
    row = figures(data, release, 1, sensitive=["hiv-1", "hiv-2"])
    assert row["certain"]["after"][0] == 1 and row["highest_probability"]["after"] == 1
    assert row["certain_category"] is None
    assert row["certain"]["base"] == "people with at least 1 item and a sensitive item"
    assert row["certain"]["of_all_people"] == pytest.approx(0.5, abs=0.04)
    assert row["right_guess"]["after"][0] == pytest.approx(0.5)
    # Only one of the two is sensitive: one half, which is not more than one half.
    row = figures(data, release, 1, sensitive=["hiv-1"])
    assert row["certain"]["after"][0] == row["likely"]["after"][0] == 0
    assert row["highest_probability"]["after"] == 0.5


def test_a_best_match_is_never_certain() -> None:
    data = Transactions.from_lists([["a", "b", "c"]] * 5)
    rows = attack(data, intact(data), known=(1,), targets=20, strategies=("random", "random best")).to_dict()["rows"]
    assert rows[0]["certain"]["after"][0] == 1 and rows[1]["certain"] is None


def test_people_held_out_are_the_control() -> None:
    data = Transactions.from_lists([["a", "b"]] * 5 + [["c", "d"]] * 5)
    row = figures(data, intact(data), 1, control=Transactions.from_lists([["a", "b"], ["c", "x"], ["a", "d"]]))
    assert row["certain"]["after"][0] == 1
    assert row["certain"]["control"][0] == pytest.approx(1 / 3, abs=0.06)  # only of the first is what fits true


def test_a_group_of_people_with_the_same_item_reveals_it() -> None:
    data = Transactions.from_lists([["a", "s"], ["a", "s"], ["b"], ["b", "s"]])
    release = Grouping.from_groups(data, np.array([0, 0, 1, 1]), ["s"])
    row = figures(data, release, 1)
    assert row["certain"]["after"][0] == pytest.approx(2 / 3, abs=0.04)
    assert row["highest_probability"]["after"] == 1


def test_without_the_order_there_is_no_control() -> None:
    data = Transactions.from_lists([["a", "b"]] * 5)
    row = figures(data, intact(data), 1, aligned=False)
    assert row["certain"]["after"][0] == 1 and row["certain"]["control"] is None


def test_the_risk_of_data_has_the_figures_that_a_run_finds_before_anonymization() -> None:
    source = random.Random(3)
    rows = [source.sample([f"i{n}" for n in range(9)], source.randint(1, 5)) for _ in range(60)]
    data = Transactions.from_lists(rows)
    for named in ([], ["i0", "i1"]):
        table = sv.risk(data, known=(1, 2), sensitive=named)
        attacks = attack(data, intact(data), (1, 2), 1000, strategies=("random",), sensitive=named).to_dict()["rows"]
        assert [row.known for row in table.inference] == [1, 2]
        for row, tried in zip(table.to_dict()["inference"], attacks, strict=True):
            for name in ("certain", "likely"):
                assert row[name] == {"value": tried[name]["before"], "control": tried[name]["control"]}
            assert row["base"] == tried["certain"]["base"]
    assert "certain" in str(table) and sv.risk(data, inference=False).inference == ()


def test_records_that_fit_and_show_are_counted_alike_by_bits_and_by_lists() -> None:
    rng = np.random.default_rng(5)
    n_by_bits = 0
    for _ in range(150):
        n_records, n_items = int(rng.integers(100, 900)), 9
        shares = rng.choice([0.004, 0.01, 0.015, 0.04, 0.5, 0.9], n_items)
        holds = rng.random((n_records, n_items)) < shares
        data = Transactions.from_lists([[str(i) for i in np.flatnonzero(row)] for row in holds])
        if data.n_items < n_items:
            continue
        known = np.sort(rng.choice(n_items, 2, replace=False)).astype(np.int32)
        further = np.setdiff1d(np.arange(n_items, dtype=np.int32), known)
        own = np.array([rng.integers(-1, n_records)])
        n_fitting, n_showing = np.zeros((1, 2), dtype=np.int64), np.zeros((len(further), 2), dtype=np.int64)
        ends = np.array([0, 2]), np.array([0, len(further)])
        asked = (ends[0], known), data.postings, data.supports, (ends[1], further)
        count_further(data.postings, *asked, own, n_fitting, n_showing)
        fits = holds[:, known].all(axis=1)
        others = fits & (np.arange(n_records) != own[0])
        assert n_fitting.tolist() == [[fits.sum(), others.sum()]]
        n_by_bits += fits.sum() > -(-n_records // 64)
        for place, item in enumerate(further.tolist()):
            expected = [0, 0]
            if 2 * data.supports[item] > others.sum():
                expected = [(fits & holds[:, item]).sum(), (others & holds[:, item]).sum()]
            assert n_showing[place].tolist() == expected
    assert 10 < n_by_bits < 130

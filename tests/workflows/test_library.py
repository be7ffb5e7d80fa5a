"""What people who live in notebooks type: roles as keywords, either order, True for a progress bar, dicts for trees."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import setveil as sv

ROWS = pd.DataFrame(
    [(n // 3, ("milk", "bread", "beer", "tea")[n % 4], 30 + n // 3 % 2) for n in range(60)],
    columns=["who", "bought", "age"],
)
ROLES: dict[str, Any] = {"person": "who", "item": "bought"}
DATA = sv.read(ROWS, **ROLES)
RELEASE = sv.anonymize(DATA, "km", k=3, m=1)
POLICY: dict[str, Any] = {
    "model": {"name": "km", "k": 3, "m": 1},
    "algorithm": {"name": "aa"},
    "hierarchy": {"source": "fanout:2"},
}


def test_roles_are_keywords_wherever_data_is_taken() -> None:
    release = sv.anonymize(ROWS, "km", k=3, m=1, **ROLES)
    assert release.published.n_records == DATA.n_records == 20
    assert sv.risk(ROWS, known=(1,), **ROLES)[0] == sv.risk(DATA, known=(1,))[0]
    assert sv.verify(ROWS, "km", k=2, m=1, **ROLES) == sv.verify(DATA, "km", k=2, m=1)
    assert sv.measure(ROWS, release, **ROLES) == sv.measure(DATA, release)
    assert sv.attack(ROWS, release, known=(1,), targets=10, **ROLES).rows
    assert sv.audit(ROWS, known=["age"], **ROLES).columns["role"] == ["person", "item", "known"]
    with pytest.raises(sv.InputError, match="mean the same"):
        sv.read(ROWS, known=["age"], known_columns=["age"], **ROLES)
    with pytest.raises(TypeError, match="not an option of reading"):
        sv.measure(ROWS, release, persn="who")


def test_columns_are_protected_by_name() -> None:
    release = sv.anonymize(ROWS, "kkm", k=5, m=1, known=["age"], **ROLES)
    assert release.verify().holds


def test_arguments_in_another_order(tmp_path: Path) -> None:
    policy = sv.Policy(**POLICY)
    assert sv.run(DATA, policy, tmp_path / "a").verdict.holds
    (tmp_path / "p.toml").write_text(policy.to_toml())
    assert sv.run(tmp_path / "p.toml", DATA, tmp_path / "b").verdict.holds
    release = sv.anonymize(DATA, policy)
    assert release.algorithm == "aa" and release.verify().holds
    assert sv.measure(release, DATA) == sv.measure(DATA, release) == release.measure()  # type: ignore[arg-type]
    for wrong, words in (
        (lambda: sv.run("x.csv", DATA, tmp_path / "c"), r"run\(policy, data, out\)"),
        (lambda: sv.run("out", policy, DATA), r"run\(policy, data, out\)"),  # type: ignore[arg-type]
        (lambda: sv.anonymize(sv.KmAnonymity(k=2, m=1), DATA), "data first"),  # type: ignore[arg-type]
        (lambda: sv.anonymize(DATA, policy, algorithm="aa"), "given in addition to a policy"),
        (lambda: sv.anonymize(DATA, 5), "give a privacy model"),  # type: ignore[arg-type]
        (lambda: sv.verify(sv.KmAnonymity(k=2, m=1), DATA), "records first"),  # type: ignore[arg-type]
        (lambda: sv.verify(DATA), "do not name a privacy model"),
        (lambda: sv.measure(DATA, "out"), r"measure\(data, release\)"),  # type: ignore[arg-type]
        (lambda: sv.risk(DATA, progress="yes"), "True for a progress bar"),  # type: ignore[arg-type]
        (lambda: sv.risk(DATA, known=3), "known must be a list of whole numbers"),  # type: ignore[arg-type]
        (lambda: sv.risk(DATA, known="1,2"), "known must be a list of whole numbers"),  # type: ignore[arg-type]
        (lambda: sv.attack(DATA, RELEASE, known=3), "known must be a list of whole numbers"),  # type: ignore[arg-type]
        (lambda: sv.risk(DATA, seed=-1), "seed must be at least 0"),
        (lambda: sv.attack(DATA, RELEASE, seed=-1), "seed must be at least 0"),
        (lambda: sv.anonymize(DATA, "km", k=3, m=1, seed=-1), "seed must be at least 0"),
        (lambda: sv.anonymize(DATA, "km", k=3, m=1, seed=1.5), "seed must be a whole number"),  # type: ignore[arg-type]
        (lambda: sv.anonymize(DATA, "km", k=3, m=1, seed=2**63), "seed must be at most"),
    ):
        with pytest.raises(sv.InputError, match=words):
            wrong()  # type: ignore[no-untyped-call]


def test_progress_may_be_true() -> None:
    for progress in (True, False, lambda stage, share: None):
        assert sv.verify(DATA, "km", k=2, m=1, progress=progress).holds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tree",
    [
        {"milk": "drinks", "beer": "drinks", "tea": "drinks", "bread": "food", "drinks": "all", "food": "all"},
        {"milk": ["drinks", "all"], "beer": ["drinks", "all"], "tea": ["drinks", "all"], "bread": ["food", "all"]},
        {"drinks": ["milk", "beer", "tea"], "food": ["bread"]},
        {"all": {"drinks": ["milk", "beer", "tea"], "food": ["bread"]}},
        pd.DataFrame({"item": ["milk", "beer", "tea", "bread"], "level1": ["drinks"] * 3 + ["food"], "level2": "all"}),
        pl.DataFrame(
            {
                "child": ["milk", "beer", "tea", "bread", "drinks", "food"],
                "parent": ["drinks"] * 3 + ["food", "all", "all"],
            }
        ),
    ],
    ids=["parents", "ancestors", "members", "nested", "frame", "edges"],
)
def test_hierarchies_from_objects(tree: Any) -> None:
    release = sv.anonymize(DATA, "km", k=3, m=1, algorithm="aa", hierarchy=tree)
    assert release.hierarchy is not None
    groups = {
        release.hierarchy.labels[node]
        for node in release.hierarchy.ancestors(release.hierarchy.vocabulary.number("tea"))
    }
    assert "drinks" in groups and "food" not in groups


def test_hierarchies_that_are_wrong() -> None:
    for tree, words in (
        ({"milk": "drinks", "beer": "drinks"}, "bread"),
        ({"a": "b", "b": "a"}, "cycle|own"),
        ({}, "empty"),
        (7, "cannot read one from int"),
    ):
        with pytest.raises(sv.InputError, match=words):
            sv.anonymize(DATA, "km", k=3, m=1, algorithm="aa", hierarchy=tree)


def test_records_are_a_sequence() -> None:
    assert list(DATA) == DATA.to_lists() and DATA[0] == DATA.to_lists()[0] and DATA[-1] == DATA.to_lists()[-1]
    assert isinstance(DATA[2:5], sv.Transactions) and DATA[2:5].to_lists() == DATA.to_lists()[2:5]
    with pytest.raises(IndexError):
        DATA[20]
    again = pickle.loads(pickle.dumps(DATA))
    assert again == DATA and hash(again) == hash(DATA) and DATA[1:] != DATA and DATA != 7
    assert sv.read(ROWS, known=["age"], **ROLES) != DATA  # columns count
    assert sv.read(DATA.to_polars(), person="record", item="item") == DATA
    assert sv.read(DATA.to_pandas("list")) == DATA


def test_results_are_tables() -> None:
    table = sv.risk(DATA, known=(1, 2))
    assert table["known"] == [1, 2] and table.filter(known=2)["n_records"] == [table.rows[1].n_records]
    assert table.to_pandas()["singled_out"].dtype == float
    named = sv.algorithms().filter(models="km", tier="recommended")["name"]
    assert "trim" in named and "aa" not in named
    assert {row["tier"] for row in sv.algorithms().records()} == {"recommended", "from a paper", "baseline"}
    assert "<table" in sv.algorithms()._repr_html_() and "<table" in sv.models()._repr_html_()
    with pytest.raises(sv.InputError, match='no column "tiers"'):
        sv.algorithms().filter(tiers="x")
    one, two = (sv.anonymize(DATA, "km", k=k, m=1, algorithm="aa", hierarchy="fanout:2") for k in (2, 3))
    beside = one.compare(two)
    assert beside["records"] == [20, 20] and beside["model"] == ["km", "km"] and "ncp" in beside[0]
    with pytest.raises(sv.InputError, match="compare takes releases"):
        one.compare(DATA)  # type: ignore[arg-type]
    compared = sv.compare(DATA, {"model": "km", "k": [2, 3], "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"})
    assert compared.to_polars()["m"].to_list() == [1, 1] and "<table" in compared._repr_html_()
    for chart in (table.plot(), one.plot(), compared.plot()):
        assert chart.axes[0].get_title()


@pytest.mark.parametrize("compare", [sv.measure, sv.attack])
def test_figures_of_other_data_are_refused(compare: Callable[..., Any]) -> None:
    baskets = [["milk", "bread"], ["milk", "bread"], ["milk"], ["milk", "beer"], ["milk", "beer"]]
    numbers = [["1" if item == "milk" else item for item in basket] for basket in baskets]
    for options in ({"algorithm": "trim"}, {"algorithm": "aa", "hierarchy": "fanout:2"}, {"algorithm": "pcta"}):
        release = sv.anonymize(baskets, "km", k=2, m=2, **options)
        assert compare(baskets, release)
        with pytest.raises(sv.InputError, match="the original has no item that is published as"):
            compare([[item + "s" for item in basket] for basket in baskets], release)
    with pytest.raises(sv.InputError, match='published as "milk"; '):
        compare(numbers, sv.anonymize(baskets, "km", k=2, m=2, algorithm="trim"))

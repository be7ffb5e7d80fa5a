"""Trim with a hierarchy: what each way of raising promises, on random databases with ragged trees."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms import Context
from setveil.algorithms.km.aa_refine import AARefine
from setveil.algorithms.km.mhghs_refine import MHgHsRefine
from setveil.algorithms.km.optimal import Optimal
from setveil.algorithms.km.trim import Trim
from setveil.utility.avg_re import query_errors
from setveil.workflows.recheck import verify_folder
from tests.naive.km import Database
from tests.naive.km_cases import cases
from tests.naive.optimal import least_lm, skewed_cases

WAYS = ("counts", "loss", "none")


def nodes_of(data: sv.Transactions, tree: sv.Hierarchy, k: int, m: int | str, **options: object) -> np.ndarray:
    """The node published for each entry; the release keeps its promise, and every node is above its item."""
    model = sv.KmAnonymity(k=k, m=m)  # type: ignore[arg-type]
    release = Trim(**options).run(data, model, Context(tree))  # type: ignore[arg-type]
    assert sv.verify(release, model).holds
    nodes = release.node_of_occurrence
    assert nodes is not None
    leaves = tree.leaf_of_items(data.vocabulary)[data.items]
    assert all(node < 0 or tree.covers(int(node), int(leaf)) for node, leaf in zip(nodes, leaves, strict=True))
    return nodes


def loss_of(tree: sv.Hierarchy, nodes: np.ndarray) -> int:
    """LM times (leaves - 1) times entries."""
    return int(np.append(tree.n_leaves - 1, tree.n_items - 1)[nodes].sum())


@pytest.mark.parametrize("m", [1, 2, 3])
def test_random_databases(m: int) -> None:
    for data, tree, k in [*cases(150, seed=m), *skewed_cases(50, seed=m)]:
        found = {way: nodes_of(data, tree, k, m, raising=way) for way in WAYS}
        lost = {way: loss_of(tree, nodes) for way, nodes in found.items()}
        exact = found["none"] >= 0
        assert (found["counts"][exact] == found["none"][exact]).all()
        assert (found["counts"][~exact] >= tree.n_items).any() == (lost["counts"] < lost["none"])
        assert lost["loss"] <= lost["none"]
        leaves = tree.leaf_of_items(data.vocabulary)[data.items]
        for recoding in (AARefine(), MHgHsRefine(), Optimal()):
            cut = recoding.run(data, sv.KmAnonymity(k=k, m=m), Context(tree)).node_of_leaf
            assert cut is not None and lost["loss"] <= loss_of(tree, cut[leaves])


def test_best_effort_loses_no_more_than_any_cut_with_suppressed_items() -> None:
    for data, tree, k in cases(150, seed=9, items="abcdef"):
        nodes = nodes_of(data, tree, k, 2, raising="loss", effort="best")
        assert loss_of(tree, nodes) <= least_lm(Database(data, tree), k, 2)


@pytest.mark.parametrize("way", WAYS)
def test_whole_records(way: str) -> None:
    n_raised = 0
    for data, tree, k in cases(150, seed=31):
        nodes = nodes_of(data, tree, k, "all", raising=way)
        alone = nodes_of(data, tree, k, "all", raising="none")
        assert (nodes[alone >= 0] == alone[alone >= 0]).all()
        n_raised += int((nodes >= tree.n_items).sum())
    assert (n_raised > 0) == (way != "none")


@pytest.mark.parametrize("m", [2, "all"])
@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_records_does_not_matter(way: str, m: int | str) -> None:
    rng = random.Random(3)
    for data, tree, k in [*cases(60, seed=41), *skewed_cases(20, seed=41)]:
        order = np.array(rng.sample(range(data.n_records), data.n_records))
        once, again = (nodes_of(rows, tree, k, m, raising=way, effort="fast") for rows in (data, data.select(order)))
        first, second = (
            sorted(sorted(nodes[rows.indptr[row] : rows.indptr[row + 1]].tolist()) for row in range(rows.n_records))
            for rows, nodes in ((data, once), (data.select(order), again))
        )
        assert first == second


@pytest.mark.parametrize("way", ["counts", "loss"])
def test_weights(way: str) -> None:
    rng = random.Random(5)
    for data, tree, k in skewed_cases(40, seed=51):
        weights = {label: rng.choice((0.01, 1.0, 50.0)) for label in data.vocabulary}
        value = np.array([weights[label] for label in data.vocabulary])[data.items]
        nodes = nodes_of(data, tree, k, 2, raising=way, weights=weights)
        alone = nodes_of(data, tree, k, 2, raising="none", weights=weights)
        costs = np.append(tree.n_leaves - 1, tree.n_items - 1)
        assert (value * costs[nodes]).sum() <= (value * costs[alone]).sum() + 1e-9
        if way == "counts":
            assert (nodes[alone >= 0] == alone[alone >= 0]).all()


def test_least_loss_is_below_the_best_cut() -> None:
    """Of sixty records of two items each only a few need anything but the items themselves."""
    records = [[f"a{number % 3}", f"b{number % 4}"] for number in range(60)] + [
        ["a0", "c0"],
        ["a0", "c1"],
        ["a1", "c0"],
    ]
    paths = [[f"{group}{number}", group] for group in "abc" for number in range(4)]
    tree = sv.Hierarchy.from_paths([[*path, "all"] for path in paths])
    data = sv.Transactions.from_lists(records)
    nodes = nodes_of(data, tree, 3, 2, raising="loss")
    best = Optimal().run(data, sv.KmAnonymity(k=3, m=2), Context(tree)).node_of_leaf
    assert best is not None
    cut = best[tree.leaf_of_items(data.vocabulary)[data.items]]
    assert loss_of(tree, nodes) < loss_of(tree, cut) / 5


@pytest.mark.parametrize("m", [1, 2, "all"])
@pytest.mark.parametrize("way", WAYS)
def test_edges(way: str, m: int | str) -> None:
    tree = sv.Hierarchy.from_paths([["a", "x", "r"], ["b", "x", "r"], ["c", "y", "r"], ["d", "y", "r"]])
    for records in ([[], []], [["a"]] * 3, [["a", "b", "c", "d"]] * 3, [["a"], ["b"], ["c"]], [["a"], ["b"], []]):
        nodes_of(sv.Transactions.from_lists(records), tree, 2, m, raising=way, effort="best")
    with pytest.raises(sv.InfeasibleError):
        nodes_of(sv.Transactions.from_lists([["a"], ["b"]]), tree, 3, m, raising=way)


@pytest.mark.parametrize("raising", ["true", True, "all"])
def test_other_ways_are_refused(raising: object) -> None:
    with pytest.raises(sv.InputError):
        sv.anonymize([["a", "b"]] * 4, "km", k=2, m=2, algorithm="trim", options={"raising": raising})


def test_counts_are_never_further_off_than_without_the_hierarchy() -> None:
    for seed in range(8):
        data = sv.generate("quest", D=200, T=5, I=3, N=40, L=20, seed=seed)
        alone, raised = (
            query_errors(
                data,
                sv.anonymize(data, "km", k=4, m=2, algorithm="trim", hierarchy="fanout:4", options={"raising": way}),
            )
            for way in ("none", "counts")
        )
        for size in ("singles", "pairs", "triples"):
            before, after = (min(found["mean"] for found in errors[size].values()) for errors in (alone, raised))
            assert after <= before + 1e-12


@pytest.mark.parametrize("way", ["counts", "loss"])
def test_published_files_can_be_checked_asked_and_measured(way: str, tmp_path: Path) -> None:
    data = sv.generate("quest", D=300, T=5, I=3, N=40, L=20, seed=4)
    options = {"raising": way, "effort": "fast"}
    release = sv.anonymize(data, "km", k=4, m=2, algorithm="trim", hierarchy="fanout:3", options=options)
    release.publish(tmp_path / "out")
    assert not verify_folder(tmp_path / "out", data).problems
    assert sv.measure(data, release)["lm"] < 0.2
    for item, label in enumerate(data.vocabulary):
        answer = sv.query(release, with_items=[label])
        assert answer.low <= data.supports[item] <= answer.high

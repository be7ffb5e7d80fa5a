"""The proven optimum: every cut by the book on random databases, the papers' examples, the expected figures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np
import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.km import optimal
from setveil.algorithms.km._lifting import lift_itemsets
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.count_tree import DistinctRecords
from setveil.algorithms.km.covering import CoveringProgram
from setveil.algorithms.km.hghs import HgHs, MHgHs
from setveil.algorithms.km.optimal import Optimal
from setveil.algorithms.km.violations import Violations, index_rows
from setveil.core import Hierarchy, Transactions
from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from tests.naive import optimal as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km import Database
from tests.naive.km_cases import LIU_WANG, LIU_WANG_TREE, PAPER, PAPER_TREE, cases, random_tree


def run(data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"], **options: Any) -> Recoding:
    return Optimal(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def published(release: Recoding) -> tuple[int, ...]:
    assert release.node_of_leaf is not None
    return tuple(sorted({int(node) for node in release.node_of_leaf if node >= 0}))


def test_paper_examples() -> None:
    release = run(Transactions.from_lists(PAPER), PAPER_TREE, k=2, m=2)
    assert release.transactions() == [{"A", "b1", "b2"}, {"A", "b1"}, {"A", "b1", "b2"}, {"A", "b2"}]
    assert release.details["ncp"] == pytest.approx(2.5 / 11)
    assert release.details["proven"]
    # Liu and Wang's heuristic finds 5.6 of 23 occurrences; to suppress c or d instead of publishing P is no better.
    data = Transactions.from_lists(LIU_WANG)
    release = run(data, LIU_WANG_TREE, k=2, m="all", suppression=True)
    best = naive.least_lm(Database(data, LIU_WANG_TREE), 2, "all")
    assert release.details["lm"] * data.n_occurrences * 10 == pytest.approx(best)
    assert best <= 56


@pytest.fixture
def without_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start from the root instead of AA's cut, so that the program has to find everything."""

    def top(self: AA, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        tree = context.need_hierarchy("aa")
        return Recoding.from_cut(data, tree, np.full(tree.n_items, tree.root))

    monkeypatch.setattr(AA, "run", top)


def check_no_cut_is_better(data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"]) -> None:
    base = Database(data, tree)
    release = run(data, tree, k, m)
    cost = naive.ncp_cost(base, published(release))
    assert cost == naive.least_ncp(base, k, m)
    assert is_km_anonymous(release.transactions(), k, m)
    assert release.details["proven"]
    assert release.details["ncp"] == release.details["bound"]
    assert release.details["ncp"] == pytest.approx(cost / max(tree.n_items * data.n_occurrences, 1))


def test_no_cut_is_better() -> None:
    for data, tree, k in cases(60, seed=11):
        for m in (1, 2, 3, "all"):
            check_no_cut_is_better(data, tree, k, m)


def test_no_cut_is_better_without_a_heuristic(without_heuristic: None) -> None:
    for number, (data, tree, k) in enumerate(naive.skewed_cases(120, seed=3)):
        check_no_cut_is_better(data, tree, k, (2, 3, "all")[number % 3])


def test_better_than_aa_now_and_then() -> None:
    n_better = 0
    for data, tree, k in naive.skewed_cases(200, seed=3):
        aa = AA().run(data, KmAnonymity(k, 2), Context(hierarchy=tree))
        n_better += run(data, tree, k, 2).details["ncp"] < aa.details["ncp"]
    assert n_better > 5


def check_no_suppression_is_better(
    data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"]
) -> tuple[bool, bool]:
    """Against every cut and every set of leaves; whether something is suppressed, and single leaves below a node."""
    base = Database(data, tree)
    release = run(data, tree, k, m, suppression=True)
    assert release.node_of_leaf is not None
    least, as_wholes = naive.least_lm_of_leaves(base, k, m), naive.least_lm(base, k, m)
    shown = {leaf: node for leaf, node in enumerate(release.node_of_leaf.tolist()) if node >= 0}
    assert naive.lm_of_leaves(base, shown) == least
    assert release.details["lm"] * data.n_occurrences * max(tree.n_items - 1, 1) == pytest.approx(least)
    assert sum(move["cost"] for move in release.details["moves"]) == pytest.approx(release.details["lm"])
    assert all(move["support"] < k for move in release.details["moves"])
    assert release.details["proven"] and release.details["bound"] == release.details["lm"]
    assert release.details["proven_as_wholes"]
    assert is_km_anonymous(release.transactions(), k, m)
    for heuristic in (HgHs(), MHgHs()):
        other = heuristic.run(data, KmAnonymity(k, m), Context(hierarchy=tree))
        assert least <= naive.lm_cost(base, published(other))
    return bool(release.suppressed.any()), least < as_wholes


def test_no_cut_with_suppressed_items_is_better() -> None:
    found = [
        check_no_suppression_is_better(data, tree, k, m)
        for data, tree, k in cases(60, seed=12, items="abcdef")
        for m in (1, 2, 3, "all")
    ]
    assert sum(is_suppressed for is_suppressed, _ in found) > 40


def single_leaf_cases(n: int, seed: int) -> Iterator[tuple[Transactions, Hierarchy, int]]:
    """Short records, in which suppressing single leaves below a published node is the best now and then."""
    rng = Random(seed)
    for _ in range(n):
        items = "abcdefg"[: rng.randint(5, 7)]
        rows = [rng.sample(items, rng.choice([1, 1, 1, 2])) for _ in range(rng.randint(5, 16))]
        yield Transactions.from_lists(rows), random_tree(rng, items), rng.randint(2, 3)


@pytest.mark.parametrize("n_cases", [120, pytest.param(2000, marks=pytest.mark.long)])
def test_single_leaves_below_a_published_node_may_be_suppressed(n_cases: int) -> None:
    ways = (1, 2, 3, "all")
    found = [
        check_no_suppression_is_better(data, tree, k, ways[number % 4])
        for number, (data, tree, k) in enumerate(single_leaf_cases(n_cases, seed=5))
    ]
    assert sum(is_single for _, is_single in found) >= n_cases // 60


def test_the_least_loss_of_three_siblings() -> None:
    """To suppress a and publish b and c as L loses 2 of 7; nodes as wholes lose 3."""
    data = Transactions.from_lists([["a", "d"], ["d"], ["d"], ["b"], ["c"]])
    tree = Hierarchy.from_paths([["a", "L", "*"], ["b", "L", "*"], ["c", "L", "*"], ["d", "*"]])
    release = run(data, tree, 2, 2, suppression=True)
    assert release.transactions() == [{"d"}, {"d"}, {"d"}, {"L"}, {"L"}]
    assert release.details["proven"]
    assert release.details["lm"] * data.n_occurrences == pytest.approx(1 + 2 * 2 / 3)
    assert "a" in release.codebook()[""] and set(release.codebook()["L"]) == {"b", "c"}


def test_given_up_the_bound_is_still_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the second half: the best of whole nodes, and a bound that no suppression of single leaves beats."""
    n_open = 0
    monkeypatch.setattr(optimal, "MANY_ROWS", -1)
    for number, (data, tree, k) in enumerate(single_leaf_cases(100, seed=6)):
        base, m = Database(data, tree), (1, 2, 3)[number % 3]
        details = run(data, tree, k, m, suppression=True).details
        scale = data.n_occurrences * max(tree.n_items - 1, 1)
        assert details["bound"] * scale <= naive.least_lm_of_leaves(base, k, m) + 1e-6
        assert details["lm"] * scale <= naive.least_lm(base, k, m) + 1e-6
        n_open += not details["proven"]
    assert n_open > 5


def test_lifted_itemsets_are_rare_and_maximal() -> None:
    for data, tree, k in cases(200, seed=13):
        base = Database(data, tree)
        records = DistinctRecords.of_leaves(data, tree, Context())
        target = np.arange(tree.n_nodes, dtype=np.int32)
        for m in (2, 3):
            for itemsets in Violations(records, tree, KmAnonymity(k, m), Context()).on_cut(target):
                index = index_rows(records, tree, tree.parent)
                for spreads in (False, True):
                    for lifted in lift_itemsets(index, itemsets, k, spreads).tolist():
                        assert 0 < base.support(lifted) < k
                        assert not any(base.related(a, b) for a in lifted for b in lifted if a != b)
                        for member in lifted:
                            higher = [node if node != member else int(tree.parent[node]) for node in lifted]
                            others = [node for node in lifted if node != member]
                            if not any(base.related(int(tree.parent[member]), other) for other in others):
                                assert base.support(higher) >= k


def test_stopped_early_gives_a_valid_cut_and_a_true_bound() -> None:
    for data, tree, k in naive.skewed_cases(100, seed=3):
        best = naive.least_ncp(Database(data, tree), k, 2) / max(tree.n_items * data.n_occurrences, 1)
        release = run(data, tree, k, 2, time_limit=1e-9)
        cost = naive.ncp_cost(Database(data, tree), published(release))
        assert release.details["ncp"] == pytest.approx(cost / max(tree.n_items * data.n_occurrences, 1))
        assert is_km_anonymous(release.transactions(), k, 2)
        assert release.details["bound"] <= best + 1e-12 <= release.details["ncp"] + 2e-12
        release = run(data, tree, k, 2, gap=0.3)
        assert is_km_anonymous(release.transactions(), k, 2)
        assert release.details["bound"] <= best + 1e-12
        assert release.details["ncp"] <= best / 0.7 + 1e-12
        assert release.details["gap"] <= 0.3 + 1e-9


def test_record_order_does_not_matter_and_input_is_left_alone() -> None:
    for data, tree, k in cases(30, seed=15):
        items = data.items.copy()
        for options in ({}, {"suppression": True}):
            release = run(data, tree, k, 2, **options)
            other = run(data.select(np.arange(data.n_records)[::-1]), tree, k, 2, **options)
            np.testing.assert_array_equal(other.node_of_leaf, release.node_of_leaf)
        np.testing.assert_array_equal(data.items, items)


def test_odd_asks() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["a", "b", "c"]]), 2)
    for options in ({}, {"suppression": True}):
        assert run(Transactions.from_lists([]), tree, 3, 2, **options).transactions() == []
        assert run(Transactions.from_lists([[], []]), tree, 3, 2, **options).transactions() == [set(), set()]
        equal = Transactions.from_lists([["a", "b", "c"]] * 4)
        assert run(equal, tree, 4, 9, **options).transactions() == [{"a", "b", "c"}] * 4
        lone = Transactions.from_lists([["a"], ["a"], []])
        assert run(lone, Hierarchy.balanced(lone, 2), 2, "all", **options).transactions() == [{"a"}, {"a"}, set()]
        with pytest.raises(InfeasibleError, match="fewer than k=3"):
            run(lone, Hierarchy.balanced(lone, 2), 3, 1, **options)
    with pytest.raises(InputError, match="needs a hierarchy"):
        Optimal().run(equal, KmAnonymity(2, 1), Context())
    with pytest.raises(InputError, match='"time_limit" must be at least 0'):
        run(equal, tree, 2, 1, time_limit=-1.0)
    with pytest.raises(InputError, match='"gap" must be'):
        run(equal, tree, 2, 1, gap=1.5)


def test_progress_and_cancellation() -> None:
    data, stages = Transactions.from_lists(PAPER), []
    context = Context(hierarchy=PAPER_TREE, progress=lambda stage, share: stages.append(stage))
    Optimal().run(data, KmAnonymity(2, 2), context)
    assert "optimum: best 0.227273, bound 0.000000, round 1" in stages

    def stop_at(stage: str, share: float | None) -> None:
        if stage.startswith("optimum"):
            raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        Optimal().run(data, KmAnonymity(2, 2), Context(hierarchy=PAPER_TREE, progress=stop_at))


def test_the_solver_can_be_stopped_and_used_again() -> None:
    rng = np.random.default_rng(0)
    nothing = np.empty((0, 2), dtype=np.int32)
    program = CoveringProgram(rng.integers(50, 60, 400), nothing, nothing, nothing, gap=0.0)
    program.require([tuple(rng.choice(400, 3, replace=False).tolist()) for _ in range(3000)])  # hours of work

    def stop() -> None:
        raise CancelledError("stopped")

    n_threads = threading.active_count()
    with pytest.raises(CancelledError):
        program.solve(True, stop)
    assert threading.active_count() == n_threads
    relaxed = program.solve(False, lambda: None)
    assert relaxed.is_complete
    assert not relaxed.is_whole
    early = program.solve(True, lambda: None, seconds=0.5)
    assert not early.is_complete
    assert relaxed.bound - 1e-6 <= early.bound or early.bound == -np.inf
    full = program.solve(True, lambda: None, seconds=0.5, start=np.ones(400))
    assert full.values is not None
    assert full.is_whole


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "k", "m", "ncp"),
    [
        ("BMS1.dat.gz", 5, 2, 0.026010),
        ("BMS1.dat.gz", 25, 2, 0.089979),
        ("BMS1.dat.gz", 100, 2, 0.160602),
        ("BMS1.dat.gz", 5, 3, 0.108120),
        ("BMS2.dat.gz", 5, 2, 0.016493),
    ],
)
def test_expected_figures(real_data: Callable[[str], Path], name: str, k: int, m: int, ncp: float) -> None:
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data(name))
    release = run(data, Hierarchy.balanced(data, 5), k, m)
    assert release.details["proven"]
    assert round(release.details["ncp"], 6) == ncp


def test_expected_figures_groceries(real_data: Callable[[str], Path]) -> None:
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(str(real_data("groceries_taxonomy.csv")))
    release = run(data, tree, 5, 2)
    assert release.details["proven"]
    assert round(release.details["ncp"], 6) == 0.076014  # AA happens to find it
    assert run(data, tree, 5, 2, suppression=True).details["lm"] < release.details["ncp"]

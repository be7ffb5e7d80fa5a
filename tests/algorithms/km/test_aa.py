"""AA: the paper's example, the expected figures on real data, and the count-tree by the book on random databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km import aa
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.count_tree import DistinctRecords, node_order, paths_of_count_tree
from setveil.core import Hierarchy, Transactions
from setveil.engines import tree_counts
from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from tests.naive import km as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km_cases import PAPER, PAPER_TREE, cases


def run(data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"], **options: str) -> Recoding:
    return AA(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_paper_example() -> None:
    release = run(Transactions.from_lists(PAPER), PAPER_TREE, k=2, m=2)
    assert release.transactions() == [{"A", "b1", "b2"}, {"A", "b1"}, {"A", "b1", "b2"}, {"A", "b2"}]
    assert release.details["ncp"] == pytest.approx(2.5 / 11)
    assert release.details["moves"] == [
        {"witness": ["a2", "a1"], "support": 1, "raised": ["A"], "cost": pytest.approx(2.5 / 11)}
    ]
    # Round 1 counts the six nodes of Fig. 5. Round 2 stops below a2 and a1, so a2-b1, a2-b2, b1-a1, b2-a1 are not
    # visited.
    assert release.details["count_tree_nodes"][0] == 6


def count_tree(
    records: DistinctRecords, tree: Hierarchy, nodes: NDArray[np.int32], size: int
) -> dict[tuple[int, ...], int]:
    """All paths of one length, in the order of the walk."""
    paths = paths_of_count_tree(records, tree, nodes, size)
    return {path: n for _ in iter(lambda: paths.share_done == 1, True) for path, n in paths.next_rare(k=1000)}


def test_paper_count_tree() -> None:
    data = Transactions.from_lists(PAPER)
    records = DistinctRecords.of_leaves(data, PAPER_TREE, Context())
    nodes = node_order(PAPER_TREE, records.node_supports(PAPER_TREE), "frequency")
    labels = PAPER_TREE.labels
    assert [labels[node] for node in nodes] == ["A", "B", "a2", "b1", "b2", "a1"]
    paths = {
        "-".join(labels[node] for node in path): n for path, n in count_tree(records, PAPER_TREE, nodes, 2).items()
    }
    assert list(paths.items()) == [
        *(("A-B", 4), ("A-b1", 3), ("A-b2", 3), ("B-a2", 3), ("B-a1", 2), ("a2-b1", 2), ("a2-b2", 2), ("a2-a1", 1)),
        *(("b1-b2", 2), ("b1-a1", 1), ("b2-a1", 2)),
    ]


def test_walk_counts_what_the_explicit_count_tree_holds() -> None:
    for data, tree, _ in cases(200, seed=5):
        base = naive.Database(data, tree)
        records = DistinctRecords.of_leaves(data, tree, Context())
        nodes = node_order(tree, records.node_supports(tree), "frequency")
        order = base.order("frequency")
        assert nodes.tolist() == [node for node in order if base.support([node])]
        for size in (1, 2, 3, 4):
            expected = sorted(base.count_tree(order, [size], set(order)).items())
            found = count_tree(records, tree, nodes, size)
            assert list(found.items()) == [(tuple(order[place] for place in path), n) for path, n in expected]


def test_paper_count_tree_orders() -> None:
    base = naive.Database(Transactions.from_lists(PAPER), PAPER_TREE)
    assert [PAPER_TREE.labels[node] for node in base.order("frequency")] == ["A", "B", "a2", "b1", "b2", "a1"]
    assert [PAPER_TREE.labels[node] for node in base.order("leaves")] == ["A", "B", "a1", "a2", "b1", "b2"]


@pytest.mark.parametrize("many", [0, tree_counts.MANY], ids=["counted", "walked"])
@pytest.mark.parametrize("tree_order", ["frequency", "leaves"])
def test_same_moves_as_the_explicit_count_tree(tree_order: str, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_counts, "MANY", many)
    monkeypatch.setattr(tree_counts, "FOR_EACH_PLACE", 0)
    for data, tree, k in cases(300, seed=1):
        for m in (1, 2, 3, 4):
            cut, moves = naive.aa(base := naive.Database(data, tree), k, m, tree_order)
            release = run(data, tree, k, m, tree_order=tree_order)
            assert release.node_of_leaf is not None
            assert dict(enumerate(release.node_of_leaf.tolist())) == cut
            assert [(move["witness"], move["support"]) for move in release.details["moves"]] == [
                ([tree.published_labels[node] for node in itemset], support) for itemset, support in moves
            ]
            assert release.details["ncp"] == pytest.approx(base.ncp(cut), abs=1e-15)
            assert sum(move["cost"] for move in release.details["moves"]) == pytest.approx(base.ncp(cut), abs=1e-12)
            assert is_km_anonymous(release.transactions(), k, m)


def test_all_sizes() -> None:
    for data, tree, k in cases(300, seed=2):
        release = run(data, tree, k, "all")
        assert is_km_anonymous(release.transactions(), k, "all")
        assert release.transactions() == run(data, tree, k, 8).transactions()


def test_nothing_to_do() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["a", "b", "c"]]), 2)
    assert run(Transactions.from_lists([]), tree, 3, 2).transactions() == []
    assert run(Transactions.from_lists([[], []]), tree, 3, 2).transactions() == [set(), set()]
    equal = Transactions.from_lists([["a", "b", "c"]] * 4)
    assert run(equal, tree, 4, 9).transactions() == [{"a", "b", "c"}] * 4
    lone_item = Transactions.from_lists([["a"], ["a"], []])
    assert run(lone_item, Hierarchy.balanced(lone_item, 2), 2, "all").transactions() == [{"a"}, {"a"}, set()]


def test_bad_asks() -> None:
    data = Transactions.from_lists([["a"], ["b"], []])
    tree = Hierarchy.balanced(data, 2)
    with pytest.raises(InfeasibleError, match=r"2 records have items \(1 more is empty\), fewer than k=3"):
        run(data, tree, 3, 1)
    with pytest.raises(InputError, match="needs a hierarchy"):
        AA().run(data, KmAnonymity(2, 1), Context())
    with pytest.raises(InputError, match=r'the hierarchy lacks 1 item.* "b"'):
        run(data, Hierarchy.balanced(Transactions.from_lists([["a", "c"]]), 2), 2, 1)


def test_all_sizes_of_long_records_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Transactions.from_lists([[item for item in range(12) if item != row] for row in range(12)])
    monkeypatch.setattr(aa, "MAX_PATHS", 100)
    with pytest.raises(InputError, match='m="all" leads to more than 100 itemsets of size'):
        run(data, Hierarchy.balanced(data, 3), 2, "all")
    assert run(data, Hierarchy.balanced(data, 3), 2, 4).transactions()


def test_progress_and_cancellation() -> None:
    data, tree = Transactions.from_lists(PAPER), PAPER_TREE
    stages: list[str] = []
    AA().run(data, KmAnonymity(2, 3), Context(hierarchy=tree, progress=lambda stage, share: stages.append(stage)))
    assert list(dict.fromkeys(stages)) == [f"itemsets of size {size}" for size in (1, 2, 3)]
    with pytest.raises(CancelledError):
        AA().run(data, KmAnonymity(2, 3), Context(hierarchy=tree, cancelled=lambda: True))


@pytest.mark.parametrize(
    ("name", "options", "figures"),
    [
        ("BMS1.dat.gz", {}, {1: (0.000666, 408), 2: (0.026395, 56), 3: (0.108120, 12)}),
        ("BMS1.dat.gz", {"tree_order": "leaves"}, {2: (0.026010, 60)}),
        ("BMS2.dat.gz", {}, {1: (0.000109, 2804), 2: (0.020013, 63), 3: (0.037252, 27)}),
    ],
)
def test_expected_figures(
    real_data: Callable[[str], Path], name: str, options: dict[str, str], figures: dict[int, tuple[float, int]]
) -> None:
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data(name))
    tree = Hierarchy.balanced(data, 5)
    for m, (ncp, n_published) in figures.items():
        release = run(data, tree, 5, m, **options)
        assert (round(release.details["ncp"], 6), release.published.n_items) == (ncp, n_published)


def test_expected_figures_groceries(real_data: Callable[[str], Path]) -> None:
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(str(real_data("groceries_taxonomy.csv")))
    release = run(data, tree, 5, 2)
    assert (round(release.details["ncp"], 6), release.published.n_items) == (0.076014, 16)

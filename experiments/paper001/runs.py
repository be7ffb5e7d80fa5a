"""One run of OA, DA or AA with what its paper reports about it: loss, time, and nodes of the count-tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from experiments.experiment import Line, Workshop
from setveil.algorithms.base import Context
from setveil.algorithms.km.count_tree import DistinctRecords, node_order, paths_of_count_tree
from setveil.algorithms.km.cuts import Cut
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding, Release
from setveil.utility.avg_re import avg_re, workload_t
from setveil.utility.estimates import ESTIMATORS
from setveil.workflows.assess import measure

WEB = {"BMS1": "BMS-WebView-1", "BMS2": "BMS-WebView-2"}
ABOVE = "percent above the optimum of the same tree"
NOT_COMPARED = "seconds of another machine and another program; see the numbers."


@dataclass(frozen=True)
class Run:
    """What one run gave."""

    ncp: float
    seconds: float
    trees: tuple[int, ...]  # nodes of the count-trees it holds: AA one per round, OA and DA the complete one
    cuts: int | None  # examined by OA

    @property
    def last_tree(self) -> int:
        """The count-tree of the last round."""
        return self.trees[-1]

    @property
    def largest_tree(self) -> int:
        """The largest count-tree of all rounds."""
        return max(self.trees)


def loss(workshop: Workshop, data: Transactions, algorithm: str, k: int, m: int, tree: Hierarchy) -> float:
    """NCP of one verified release."""
    release, _ = workshop.release(data, KmAnonymity(k, m), algorithm, tree)
    return float(measure(data, release)["ncp"])


def pair_error(data: Transactions, release: Release) -> float:
    """How far counts of pairs are off on average, relative, by the better estimator: what the default goes by."""
    pairs = workload_t(data, size=2)
    return min(avg_re(data, release, pairs, estimator) for estimator in ESTIMATORS)


def default_loss(workshop: Workshop, data: Transactions, k: int, m: int) -> float | None:
    """NCP of what setveil does when no algorithm is named."""
    made = workshop.default_release(data, KmAnonymity(k, m))
    return None if made is None else float(measure(data, made[0])["ncp"])


def run(workshop: Workshop, data: Transactions, algorithm: str, k: int, m: int, tree: Hierarchy) -> Run:
    """One verified release."""
    release, seconds = workshop.release(data, KmAnonymity(k, m), algorithm, tree)
    complete = Cut(tree, data)
    trees = (
        tuple(count_tree_size(data, cut, size) for size, cut in rounds_of_aa(workshop, data, complete, k, m))
        if algorithm == "aa"
        else (count_tree_size(data, complete, m),)
    )
    return Run(measure(data, release)["ncp"], seconds, trees, release.details.get("cuts_examined"))


def rounds_of_aa(workshop: Workshop, data: Transactions, leaves: Cut, k: int, m: int) -> Iterator[tuple[int, Cut]]:
    """Each size of itemsets with the cut that AA has reached before it looks at them."""
    yield 1, leaves
    for size in range(2, m + 1):
        before, _ = workshop.release(data, KmAnonymity(k, size - 1), "aa", leaves.hierarchy)
        assert isinstance(before, Recoding)
        assert before.node_of_leaf is not None
        yield size, leaves.at_or_above(np.unique(before.node_of_leaf).tolist())


def count_tree_size(data: Transactions, cut: Cut, size: int) -> int:
    """Nodes of the count-tree of itemsets of ``size`` nodes on a cut or above; ours is only walked, never built."""
    tree = cut.hierarchy
    records = DistinctRecords.of_leaves(data, tree, Context(hierarchy=tree))
    order = node_order(tree, records.node_supports(tree), "frequency")
    paths = paths_of_count_tree(records.recode(cut.target), tree, order[cut.is_available[order]], size)
    while paths.share_done < 1:
        for _ in paths.next_rare(1):
            raise AssertionError("a path that no record has")
    return paths.n_reached


def line(name: str, runs: Mapping[float | str, Run], what: str, note: str = "") -> Line:
    """One figure of several runs."""
    return Line(name, tuple((x, getattr(run, what)) for x, run in runs.items()), note)

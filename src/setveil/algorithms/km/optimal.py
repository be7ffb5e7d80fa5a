"""The cut that provably loses least.

The exact answer to the problem of Terrovitis, Mamoulis, Kalnis (PVLDB 1(1), 2008), and with ``suppression`` to that of
Liu, Wang (PAKDD 2010), by integer programming.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` this holds for itemsets of every size. No other cut of the hierarchy that keeps this has a smaller NCP; with
``suppression``, no other cut with any items suppressed, single ones below a published node included, has a smaller LM.
If stopped early, the best cut found is returned together with a bound below which no cut can be.

Preconditions: a hierarchy that covers the items; at least k non-empty records; for ``suppression`` the records at hand.

Cost: no bound that is worth stating (the problem is NP-hard); in practice the rare itemsets near the best cut are
counted a few times, or all itemsets of nodes once if the data have more entries than that, and the programs are solved
in less time.

The program. For every node v, u(v) says whether what lies below v is published as v or as something above it. So u only
falls on the way up, and the loss is a sum over nodes: of u(v) times what v costs more than its children. An itemset
{a, b, …} that occurs in 1 … k-1 records forbids to publish all of a, b, … as they are or as something below them
(whatever of it still occurs together is rarer still): u(above a) + u(above b) + … ≥ 1. If the itemset stays rare when a
is pushed up, the row gets stronger; so every rare itemset is lifted to maximal ones first. There are far too many rare
itemsets for all of them, but only few matter: solve, look for rare itemsets on the cut that comes out, add their rows,
solve again. When there are none, that cut is valid, and no valid cut can cost less. Rounds begin with u in 0 … 1
instead of 0 or 1, which is much easier and often enough: if all values come out whole, the optimum is found.

With ``suppression``, s(i) says whether leaf i is suppressed, which costs what publishing it as the root costs, instead
of what the nodes above it cost: leaf i costs at v, more than one step below, only if u(v) and not s(i). A row then is
about leaves i, j, … below a, b, … that occur together: s(i) + s(j) + … + u(above a) + u(above b) + … ≥ 1. It stays
valid whatever else is suppressed, which can only make the itemset rarer. But a node may be too rare only because leaves
below it are suppressed; ``suppressed_leaves`` has the rows for that, and their proof. When a cut with its suppressed
leaves breaks no row any more it is valid, and since all rows are met by every valid one, none can cost less. Liu and
Wang suppress published nodes as a whole; that is a special case, and the least loss here is never above theirs.

Departures from the papers
1. This is no algorithm of the papers: their optimal algorithm walks the lattice of all cuts.
2. Support at least k is enough, and itemsets that never occur are safe.
3. Among cuts of equal loss the solver's is taken, which is the same in every run; a heuristic's cut is kept if it is
   already as good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.covering import WHOLE, Solution
from setveil.algorithms.km.cuts import Cut
from setveil.algorithms.km.losses import Losses
from setveil.algorithms.km.refine import Refiner
from setveil.algorithms.km.skeleton import Skeleton
from setveil.algorithms.km.suppressed_leaves import condition_of
from setveil.algorithms.km.violations import RowLifting, Violations, questions_about
from setveil.core import Dataset
from setveil.engines.distributed import DistributedDataset
from setveil.errors import InputError
from setveil.models import KmAnonymity
from setveil.releases import Recoding

LIFTED_AT_ONCE = 1_000  # itemsets between two signs of life
LIFTED_PER_ROUND = 5_000  # the next round tells better which others matter
MANY_ROWS = 100_000  # beyond which single suppressed leaves are only bounded, unless ``branches`` is 0


@dataclass(frozen=True)
class Optimal(Algorithm):
    """The least loss of all cuts, by integer programming with lazily generated rows."""

    time_limit: float = option(
        0.0,
        "time limit in seconds, after which the best valid cut found is returned with its bound; 0: no limit",
        least=0,
    )
    gap: float = option(
        0.0, "stop when the loss is proven to be within this share of the optimum, as in 0.01", least=0, below=1
    )
    most_rows: int = option(
        0,
        "limit on rows of the program, after which the best valid cut found is returned with its bound; 0: no limit",
        least=0,
    )
    suppression: bool = option(False, "also suppress items, at the cost of publishing them as the root (lowest LM)")
    branches: int = option(
        100,
        "limit on solver steps per round with single items suppressed below a published node, after which the best cut "
        "found is returned with its bound; 0: no limit",
        least=0,
    )

    def run(self, data: Dataset, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("optimal")
        require_k_records(data, model.k)
        search = CutSearch(data, model, context, self)
        search.start_from(AA().run(data, model, context).node_of_leaf)
        for as_wholes in (True, False) if self.suppression else (True,):
            search.begin(as_wholes)
            for whole in (False, True):
                if whole and not search.is_over:
                    search.refine()
                while not search.is_over:
                    solution = search.solve(whole)
                    rows = search.rows_against(solution)
                    search.program.require(rows)
                    if not rows:
                        break
        details = search.describe()
        return Recoding.from_cut(data, hierarchy, search.best, details)

    def run_distributed(self, data: DistributedDataset, model: KmAnonymity, context: Context) -> Recoding:
        if self.suppression:
            raise InputError(
                "suppression=true of optimal needs the records on this machine; remove it, or use --engine local."
            )
        return self.run(data, model, context)


class CutSearch:
    """The program, the best valid cut so far, and what is proven about the optimum."""

    def __init__(self, data: Dataset, model: KmAnonymity, context: Context, options: Optimal) -> None:
        hierarchy = context.need_hierarchy("optimal")
        self.data = data
        self.model = model
        self.context = context
        self.options = options
        cut = Cut(hierarchy, data)
        self.ncp = Losses.of(cut, "ncp")
        self.losses = Losses.of(cut, "lm") if options.suppression else self.ncp
        self.violations = questions_about(data, hierarchy, model, context, needs_rows=options.suppression)
        supports = self.violations.node_supports
        self.skeleton = Skeleton.of(hierarchy, supports, model.k, self.losses, options.suppression)
        self.lifting = self.violations.lifting(self.skeleton.bottom, self.skeleton.above)
        self.known: set[tuple[int, ...]] = set()  # rows of the program
        self.best = np.full(hierarchy.n_items, hierarchy.root, dtype=np.int32)
        self.cost = self.losses.worst + 1  # nothing is known yet
        self.bound = self.floor = 0.0  # of all cuts, and of those that are looked at
        self.as_wholes, self.is_best_as_wholes, self.is_brief = True, False, False
        self.rounds = 0
        self.is_stopped = False
        self.deadline = monotonic() + options.time_limit if options.time_limit else None
        if options.suppression:
            nodes = self.skeleton.nodes
            rare = nodes[self.skeleton.is_bottom[nodes] & (supports[nodes] < model.k)]
            self._new_rows(self.lifting.lift(rare[:, None], False))
        self.program = self.skeleton.program(options.gap, True)

    def begin(self, as_wholes: bool) -> None:
        """Look among cuts whose nodes are published or suppressed as a whole, or among all.

        The former is much easier, and often has the best of all. Its rows are valid for all, its bound is not.
        """
        self.is_best_as_wholes = not as_wholes and self.cost - self.floor <= 0.5
        self.as_wholes, self.floor = as_wholes, self.bound
        self.is_brief = not as_wholes and self.options.branches > 0 and len(self.known) > MANY_ROWS
        if not self.is_over:
            self.program = self.skeleton.program(self.options.gap, as_wholes)
            self.program.require(sorted(self.known))

    # -- what is known --------------------------------------------------------------------------------------------

    def start_from(self, node_of_leaf: NDArray[np.int32] | None) -> None:
        """Take a valid cut as the best known one if it is better."""
        assert node_of_leaf is not None
        cost = self.losses.of_cut(node_of_leaf)
        if cost < self.cost:
            self.best, self.cost = node_of_leaf.copy(), cost

    def refine(self) -> list[dict[str, Any]]:
        """Take back what the best known cut loses without need, and say why not more: the solver throws away what
        cannot be better.
        """
        cut, violations, losses = self.best.copy(), self.violations, self.losses
        hidden: dict[int, int] = {}  # leaves that stay suppressed, and the published node above each
        moves = []
        for leaf, node in self._suppressed_below(cut):
            target = np.arange(self.skeleton.hierarchy.n_nodes, dtype=np.int32)
            target[: len(cut)] = cut
            target[leaf] = node
            witness = violations.through(node, [node], target)
            if witness is None:
                cut[leaf] = node
            else:
                hidden[leaf] = node
                moves.append(self._why_suppressed(leaf, witness, target))
        if hidden:
            assert isinstance(violations, Violations)
            violations, losses = violations.without(list(hidden)), losses.without(list(hidden), self.skeleton.hierarchy)
            cut[list(hidden)] = list(hidden.values())
        refiner = Refiner(violations, losses, cut)
        refiner.specialize()
        cut = refiner.node_of_leaf.copy()
        cut[list(hidden)] = -1
        self.start_from(cut)
        return sorted([*refiner.explain(), *moves], key=lambda move: -move["cost"])

    def _suppressed_below(self, cut: NDArray[np.int32]) -> list[tuple[int, int]]:
        """Suppressed leaves below published nodes, and these; those that cost most first."""
        hierarchy, found = self.skeleton.hierarchy, []
        occurs = self.losses.occurrences[: len(cut)] > 0
        published = set(cut[(cut >= 0) & occurs].tolist())
        for leaf in np.flatnonzero((cut < 0) & occurs).tolist():
            found += [(leaf, node) for node in hierarchy.ancestors(leaf) if node in published]
        return sorted(found, key=lambda pair: (-self.losses.suppressed[pair[0]], pair))

    def _why_suppressed(self, leaf: int, witness: tuple[int, ...], target: NDArray[np.int32]) -> dict[str, Any]:
        """The move that suppresses a leaf below a published node; publishing it would lay open the witness."""
        assert isinstance(self.violations, Violations)
        labels = self.skeleton.hierarchy.published_labels
        rows = self.violations.rows_with(witness).recode(target)
        n_members = np.add.reduceat(np.isin(rows.items, witness), rows.indptr[:-1])
        return {
            "witness": [labels[member] for member in witness],
            "support": int(rows.weights[n_members == len(witness)].sum()),
            "raised": [],
            "suppressed": [labels[leaf]],
            "cost": self.losses.share(int(self.losses.suppressed[leaf])),
        }

    @property
    def is_over(self) -> bool:
        """Proven to be within the gap, out of time, or too large."""
        self.is_stopped |= self.deadline is not None and monotonic() >= self.deadline
        self.is_stopped |= 0 < self.options.most_rows < self.program.n_rows
        return self.is_stopped or self.cost - self.floor <= max(self.options.gap * self.cost, 0.5)

    def watch(self) -> None:
        """Show how far it is, and stop if the user asked to."""
        best, bound = self.losses.share(self.cost), self.losses.share(self.bound)
        self.context.step(f"optimum: best {best:.6f}, bound {bound:.6f}, round {self.rounds}")

    def describe(self) -> dict[str, Any]:
        """For the report; losses as shares of the worst. ``bound`` and ``gap`` are about the objective."""
        cost = self.cost + 1
        while self.cost < cost:
            cost, moves = self.cost, self.refine()
        is_proven = self.cost - self.bound <= 0.5
        bound = float(self.cost) if is_proven else self.bound
        return {
            "objective": self.losses.name,
            "ncp": self.ncp.share(self.ncp.of_cut(self.best)),
            self.losses.name: self.losses.share(self.cost),
            "bound": self.losses.share(bound),
            "gap": (self.cost - bound) / self.cost if self.cost else 0.0,
            "proven": is_proven,
            **({"proven_as_wholes": self.is_best_as_wholes} if self.options.suppression else {}),
            "rounds": self.rounds,
            "constraints": self.program.n_rows,
            "moves": moves,
        }

    # -- one round ------------------------------------------------------------------------------------------------

    def solve(self, whole: bool) -> Solution:
        """Solve the program with the rows so far; its bound is one for the whole problem."""
        self.rounds += 1
        self.watch()
        seconds = None if self.deadline is None else self.deadline - monotonic()
        start = self.skeleton.values_of(self.best, self.as_wholes) if whole else None
        branches = 0 if self.as_wholes else self.options.branches
        solution = self.program.solve(whole, self.watch, seconds, start, branches)
        bound = solution.bound + self.skeleton.fixed_loss
        self.floor = max(self.floor, bound)
        if not (self.as_wholes and self.options.suppression):
            self.bound = max(self.bound, bound)
        self.is_stopped |= not solution.is_complete or self.is_brief
        return solution

    def rows_against(self, solution: Solution) -> list[tuple[int, ...]]:
        """Rows that the solution breaks, from the rare itemsets on its cut; a cut without any becomes the best
        known.
        """
        if solution.values is None:
            return []
        rows: list[tuple[int, ...]] = []
        for threshold in self._thresholds(solution):
            target = self.skeleton.cut_at(solution.values, threshold)
            found = self.violations.on_cut(target)
            if not found:
                self.start_from(target[: self.skeleton.hierarchy.n_items])
            elif not self.is_stopped:
                rows = [row for itemsets in found for row in self._rows_of(itemsets, target, solution.values)]
            if rows:
                break
        return rows

    def _thresholds(self, solution: Solution) -> list[float]:
        """Where to cut: rare itemsets on a cut at 1/m break a row for sure, above they do so by more but perhaps not
        at all.
        """
        if solution.is_whole:
            return [0.5]
        m = self.violations.m
        return [0.5, 1 / (3 if m == "all" else max(m, 2)) / (2 if self.options.suppression else 1)]

    def _rows_of(
        self, itemsets: NDArray[np.int32], target: NDArray[np.int32], values: NDArray[np.float64]
    ) -> Iterator[tuple[int, ...]]:
        """New rows that ``values`` break, from rare itemsets [n, size] on a cut: lifted, if all records count."""
        chosen = np.ascontiguousarray(itemsets[:: -(-len(itemsets) // LIFTED_PER_ROUND)])
        is_rare = np.array([self._is_rare_in_all(itemset, target) for itemset in chosen], dtype=np.bool_)
        yield from self._conditional_rows(chosen[~is_rare], target, values)
        chosen = chosen[is_rare]
        for begin in range(0, len(chosen), LIFTED_AT_ONCE):
            self.watch()
            if self.is_over:
                return
            part = chosen[begin : begin + LIFTED_AT_ONCE]
            yield from self._new_rows(self.lifting.lift(part, not self.options.suppression), values)

    def _is_rare_in_all(self, itemset: NDArray[np.int32], target: NDArray[np.int32]) -> bool:
        """Whether an itemset that is rare on a cut is so without looking at what is suppressed below its members."""
        if not self.options.suppression:
            return True
        leaves = [self.skeleton.hierarchy.leaves(node) for node in itemset.tolist()]
        occurs = self.losses.occurrences
        if not any((occurs[some][target[some] < 0]).any() for some in leaves):
            return True
        return self.violations.support(tuple(itemset.tolist())) < self.violations.k

    def _conditional_rows(
        self, itemsets: NDArray[np.int32], target: NDArray[np.int32], values: NDArray[np.float64]
    ) -> Iterator[tuple[int, ...]]:
        """New rows that ``values`` break, of itemsets that are rare because of what is suppressed."""
        skeleton, is_suppressed = self.skeleton, target[: self.skeleton.hierarchy.n_items] < 0
        for itemset in itemsets:
            self.watch()
            assert isinstance(self.violations, Violations)
            rows = self.violations.rows_with(itemset.tolist())
            needed, tuples = condition_of(rows, skeleton.hierarchy, itemset, is_suppressed, self.violations.k)
            left = [~int(column) for column in skeleton.column[needed]]
            above = skeleton.lowest_of(skeleton.above[itemset][None])[0]
            for leaves in tuples:
                taken = {int(column) for column in (*skeleton.column[list(leaves)], *above) if column >= 0}
                row = (*sorted(taken), *left)
                is_broken = (
                    values[list(taken)].sum() + (1 - values[[~column for column in left]]).sum() < 1 - 10 * WHOLE
                )
                if is_broken and row not in self.known:
                    self.known.add(row)
                    yield row

    def _new_rows(
        self, itemsets: NDArray[np.int32], values: NDArray[np.float64] | None = None
    ) -> list[tuple[int, ...]]:
        """The rows of lifted itemsets [n, size] that are not in the program yet, and that ``values`` break."""
        skeleton = self.skeleton
        higher = skeleton.lowest_of(skeleton.above[itemsets])  # [n, size] columns, -1 where another one implies it
        if self.options.suppression:
            assert isinstance(self.lifting, RowLifting)
            tuples = self.lifting.tuples(itemsets)
            higher = np.concatenate((skeleton.column[tuples[:, :-1]], higher[tuples[:, -1]]), axis=1)
        higher = np.unique(np.sort(higher, axis=1), axis=0)
        if values is not None and len(higher):
            padded = np.concatenate((values, [0.0]))
            higher = higher[padded[higher].sum(axis=1) < 1 - 10 * WHOLE]
        rows = []
        for line in higher.tolist():
            row = tuple(column for column in dict.fromkeys(line) if column >= 0)
            if row not in self.known:
                self.known.add(row)
                rows.append(row)
        return rows

"""Refine: take back what a cut generalizes or suppresses without need.

Guarantee: a valid cut stays valid, and never loses more than before. At the end no node can be replaced by its
children and no suppressed item can be published (and so no more special cut at all is valid, since generalizing a
valid cut further leaves it valid); nor does raising one node to its parent pay for what could then be taken back
elsewhere.

Only itemsets through what is new on the cut are counted, over the records that hold it. What is refused leaves a
witness, a rare itemset; it is refused again until something raises a member of the witness. So most questions need no
counting.

Order: the largest saving first, ties depth first; generalized nodes: the cheapest first, ties depth first. Every
exchange makes the loss (an integer) smaller, so the search ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km.cuts import Cut
from setveil.algorithms.km.losses import Losses
from setveil.algorithms.km.violations import CutQuestions, questions_about
from setveil.core import Dataset, Hierarchy
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass
class OpenCut:
    """A cut on the way, with the witnesses of what was refused. Nodes are on it, or suppressed as a whole."""

    target: NDArray[np.int32]  # [n_nodes] for every leaf the published node or -1
    published: set[int]
    suppressed: set[int]  # nodes that cover exactly the suppressed leaves
    witness: dict[int, tuple[int, ...]]
    cost: int

    def copy(self) -> OpenCut:
        """An independent copy."""
        return replace(
            self,
            target=self.target.copy(),
            published=set(self.published),
            suppressed=set(self.suppressed),
            witness=dict(self.witness),
        )


class Refiner:
    """Makes one cut better; ``node_of_leaf`` is the cut so far."""

    def __init__(self, violations: CutQuestions, losses: Losses, node_of_leaf: NDArray[np.int32]) -> None:
        """``node_of_leaf`` must be valid; -1 where a leaf is suppressed."""
        self.violations = violations
        self.hierarchy: Hierarchy = violations.hierarchy
        self.losses = losses
        self.price = losses.price
        self.below = [lowest_branching(self.hierarchy, node) for node in range(self.hierarchy.n_nodes)]
        target = np.full(self.hierarchy.n_nodes, -1, dtype=np.int32)
        target[: self.hierarchy.n_items] = node_of_leaf
        published = {int(node) for node in np.unique(node_of_leaf[node_of_leaf >= 0])}
        suppressed = whole_nodes(self.hierarchy, node_of_leaf < 0)
        self.draft = OpenCut(target, published, suppressed, {}, losses.of_cut(node_of_leaf))
        self.n_specialized = 0
        self.n_exchanged = 0
        for node in sorted(published):
            if self.below[node] != node:
                self._put(self.draft, node, [self.below[node]])

    @property
    def node_of_leaf(self) -> NDArray[np.int32]:
        """The cut, int32[n_items]."""
        return self.draft.target[: self.hierarchy.n_items]

    @property
    def cost(self) -> int:
        """What it costs."""
        return self.draft.cost

    # -- taking back ----------------------------------------------------------------------------------------------

    def specialize(self) -> None:
        """Replace nodes by their children and publish suppressed ones, wherever that leaves the cut valid."""
        self.n_specialized += self._take_back(self.draft, self.draft.published | self.draft.suppressed)

    def _take_back(self, draft: OpenCut, nodes: set[int]) -> int:
        """Try the given nodes, and what comes of them; how often it worked."""
        queue = [self._rank(draft, node) for node in nodes if self._is_worth_trying(draft, node)]
        heapify(queue)
        n_done = 0
        while queue:
            node = heappop(queue)[2]
            parts = self._parts(draft, node)
            witness = self._refuse(draft, node)
            if witness is None:
                self._put(draft, node, parts)
                n_done += 1
            else:
                draft.witness[node] = witness
                if node not in draft.suppressed:
                    continue
                parts = [self.below[child] for child in self.hierarchy.children[node]]
                if not parts:
                    continue
                draft.suppressed.remove(node)
                draft.suppressed.update(parts)
                del draft.witness[node]
            for part in parts:
                if self._is_worth_trying(draft, part):
                    heappush(queue, self._rank(draft, part))
        return n_done

    def _refuse(self, draft: OpenCut, node: int) -> tuple[int, ...] | None:
        """A rare itemset that taking back a node would lay open; None if it can be taken back."""
        parts = self._parts(draft, node)
        target = draft.target.copy()
        for part in parts:
            target[self.hierarchy.leaves(part)] = part
        return self.violations.through(node, parts, target)

    def _is_worth_trying(self, draft: OpenCut, node: int) -> bool:
        """Whether something is lost at a node; what is suppressed as a whole may save something only further below."""
        return self._saving(draft, node) > 0 or (node in draft.suppressed and bool(self.losses.suppressed[node]))

    def _rank(self, draft: OpenCut, node: int) -> tuple[int, int, int]:
        return -self._saving(draft, node), int(self.hierarchy.preorder[node]), node

    def _parts(self, draft: OpenCut, node: int) -> list[int]:
        """What would be published instead of a node on the cut, or of a suppressed one."""
        return [node] if node in draft.suppressed else [self.below[child] for child in self.hierarchy.children[node]]

    def _saving(self, draft: OpenCut, node: int) -> int:
        """What taking back a node would save."""
        parts = self._parts(draft, node)
        if not parts:
            return 0
        now = self.losses.suppressed[node] if node in draft.suppressed else self.price[node]
        return int(now - self.price[parts].sum())

    def _put(self, draft: OpenCut, node: int, parts: list[int]) -> None:
        """Publish ``parts`` instead of ``node``."""
        draft.cost -= self._saving(draft, node) if parts != [self.below[node]] or node in draft.suppressed else 0
        draft.published.discard(node)
        draft.suppressed.discard(node)
        draft.witness.pop(node, None)
        for part in parts:
            draft.published.add(part)
            draft.target[self.hierarchy.leaves(part)] = part

    # -- exchanging -----------------------------------------------------------------------------------------------

    def exchange(self) -> None:
        """Raise one node to its parent if that allows to take back more in other nodes; repeat until nothing helps.

        The cut must have been specialized.
        """
        improved = True
        while improved:
            improved = False
            for node in self._parents():
                better = self._try_raise(node)
                if better is not None:
                    self.draft = better
                    self.n_exchanged += 1
                    improved = True

    def _parents(self) -> list[int]:
        """Nodes that the cut can be generalized to, one step up; the cheapest first."""
        ups = {int(self.hierarchy.parent[node]) for node in self.draft.published} - {-1}
        return sorted(ups, key=lambda node: (self._increase(node), self.hierarchy.preorder[node]))

    def _increase(self, node: int) -> int:
        """By how much publishing a node for everything below it would raise the cost."""
        leaves = self.hierarchy.leaves(node)
        targets = self.draft.target[leaves]
        rates = np.where(targets < 0, self.losses.suppressed_rate, self.losses.rate[targets])
        return int(self.price[node] - (rates * self.losses.occurrences[leaves]).sum())

    def _try_raise(self, node: int) -> OpenCut | None:
        """The cut with ``node`` published and all taken back that this allows, if it costs less."""
        draft, covers = self.draft, self.hierarchy.covers
        if any(covers(other, node) for other in draft.published | draft.suppressed):
            return None  # an exchange before this one went higher
        freed = {
            other
            for other, witness in draft.witness.items()
            if not covers(node, other) and any(covers(node, member) and member != node for member in witness)
        }
        increase = self._increase(node)
        if sum(int(self._most(other)) for other in freed) <= increase:
            return None
        trial = draft.copy()
        inside = {other for other in trial.published | trial.suppressed if covers(node, other)}
        was_suppressed = bool((trial.target[self.hierarchy.leaves(node)] < 0).any())
        trial.published -= inside
        trial.suppressed -= inside
        for other in inside:
            trial.witness.pop(other, None)
        trial.published.add(node)
        trial.target[self.hierarchy.leaves(node)] = node
        trial.cost += increase
        if was_suppressed and self.violations.through(node, [node], trial.target) is not None:
            return None  # publishing suppressed items, even as part of something larger, may be a violation
        self._take_back(trial, freed | {node})
        return trial if trial.cost < draft.cost else None

    # -- explaining -----------------------------------------------------------------------------------------------

    def explain(self) -> list[dict[str, Any]]:
        """Why each generalized node is not replaced by its children, and each suppressed one not published.

        In the form of an algorithm's moves, the most expensive first; the costs add up to the loss.
        """
        draft, labels = self.draft, self.hierarchy.published_labels
        moves = []
        for node in draft.witness:
            witness = draft.witness[node]
            if any(draft.target[self.hierarchy.leaves(member)[0]] != member for member in witness[1:]):
                witness = self._refuse(draft, node) or witness  # what it was about has been replaced meanwhile
            moves.append(
                {
                    "witness": [labels[member] for member in witness],
                    "support": self.violations.support(witness),
                    "raised": [labels[node]] if node in draft.published else [],
                    "suppressed": [labels[node]] if node in draft.suppressed else [],
                    "cost": self.losses.share(self._most(node)),
                }
            )
        return sorted(moves, key=lambda move: (-move["cost"], move["raised"], move["suppressed"]))

    def _most(self, node: int) -> int:
        """The most that taking back a node, and all below it, could save."""
        return int(self.losses.suppressed[node] if node in self.draft.suppressed else self.price[node])


def lowest_branching(hierarchy: Hierarchy, node: int) -> int:
    """The lowest node that covers the same leaves."""
    while len(hierarchy.children[node]) == 1:
        node = hierarchy.children[node][0]
    return node


def whole_nodes(hierarchy: Hierarchy, is_marked: NDArray[np.bool_]) -> set[int]:
    """The highest nodes whose leaves are all marked."""
    before = np.concatenate(([0], np.cumsum(is_marked[hierarchy.leaf_order])))
    is_whole = before[hierarchy.last] - before[hierarchy.first] == hierarchy.n_leaves
    is_top = is_whole & ~(is_whole[hierarchy.parent] & (hierarchy.parent >= 0))
    return {lowest_branching(hierarchy, int(node)) for node in np.flatnonzero(is_top)}


def refine_release(data: Dataset, model: KmAnonymity, release: Recoding, loss: str, context: Context) -> Recoding:
    """The release of any algorithm that publishes a cut, refined; ``loss`` is "ncp" or "lm"."""
    hierarchy = context.need_hierarchy("refine")
    assert release.node_of_leaf is not None
    cut = Cut(hierarchy, data)
    losses = Losses.of(cut, loss)
    refiner = Refiner(questions_about(data, hierarchy, model, context), losses, release.node_of_leaf)
    before = refiner.cost
    refiner.specialize()
    refiner.exchange()
    ncp = Losses.of(cut, "ncp")
    kept = {key: value for key, value in release.details.items() if key in ("count_tree_nodes", "rounds")}
    details = {
        "ncp": ncp.share(ncp.of_cut(refiner.node_of_leaf)),
        loss: losses.share(refiner.cost),
        f"{loss}_before_refining": losses.share(before),
        "specialized": refiner.n_specialized,
        "exchanged": refiner.n_exchanged,
        "moves": refiner.explain if context.defers_moves else refiner.explain(),
        **kept,  # how the algorithm came to the cut that was refined
    }
    return Recoding.from_cut(data, hierarchy, refiner.node_of_leaf, details)

"""TDControl: public items generalized from the root down, with SuppressControl inside.

J. Cao, P. Karras, C. Raïssi, K.-L. Tan: ρ-uncertainty: inference-proof transaction anonymization. PVLDB 3(1), 2010.

Guarantee: in the published data no itemset of at most p items reveals a further sensitive item with more than ρ.

Preconditions: a hierarchy that covers the public items. Sensitive items are never generalized.

Cost: SuppressControl runs for every child of every node that could be split next.

What follows the paper, as it is generally described: all public items begin as the root. What SuppressControl must
suppress then is part of the loss. Splitting a node into its children is tried for each node of the cut; the split that
lowers the loss most is made, until none lowers it. A suppressed entry costs 1, one published as a node with s of the n
public leaves below it (s−1)/(n−1).

Departures from the paper (which was not at hand)
1. Every split is evaluated by running SuppressControl anew: confidence is not monotone under generalization, so nothing
   can be concluded from the node above.
2. Losses are compared as whole numbers, (n−1) per suppressed entry. Ties: the first node in depth-first order; a split
   that does not lower the loss is not made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.uncertainty.suppresscontrol import items_to_suppress, sensitive_items
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.errors import InputError, name_some
from setveil.models import Uncertainty
from setveil.releases import Recoding


@dataclass(frozen=True)
class TDControl(Algorithm):
    """Splits the node whose split lowers the loss most; what then reveals too much is suppressed."""

    def run(self, data: Transactions, model: Uncertainty, context: Context) -> Recoding:
        work = _TopDown(data, model, context.need_hierarchy("tdcontrol"), context)
        best = work.evaluate(work.cut)
        while True:
            tried = [(*work.evaluate(cut), cut) for cut in work.splits()]
            better = min(tried, key=lambda one: one[0], default=None)
            if better is None or better[0] >= best[0]:
                return work.release(best)
            best, work.cut = better[:2], better[2]
            context.step(f"splitting: loss {best[0] / work.unit:.1f} entries")


class _TopDown:
    def __init__(self, data: Transactions, model: Uncertainty, hierarchy: Hierarchy, context: Context) -> None:
        self.data, self.model, self.hierarchy, self.context = data, model, hierarchy, context
        self.sensitive = sensitive_items(data, model)
        is_sensitive = np.zeros(data.n_items, dtype=bool)
        is_sensitive[self.sensitive] = True
        self.leaf = hierarchy.vocabulary.numbers(data.vocabulary).astype(np.int64)
        missing = [data.vocabulary[item] for item in np.flatnonzero((self.leaf < 0) & ~is_sensitive).tolist()]
        if missing:
            raise InputError(f"the hierarchy lacks {name_some(missing)}; add them, or name them as sensitive.")
        is_leaf = np.ones(hierarchy.n_items, dtype=bool)
        hidden = self.leaf[self.sensitive]
        is_leaf[hidden[hidden >= 0]] = False
        self.is_public_leaf = is_leaf
        self.unit = max(int(is_leaf.sum()) - 1, 1)
        self.n_leaves = np.array(
            [int(is_leaf[hierarchy.leaves(node)].sum()) for node in range(hierarchy.n_nodes)], dtype=np.int64
        )
        self.cut = [hierarchy.root]
        self.children = [[child for child in some if self.n_leaves[child]] for some in hierarchy.children]

    def splits(self) -> list[list[int]]:
        """The cuts in which one node is split."""
        return [
            [*self.cut[:place], *self.children[node], *self.cut[place + 1 :]]
            for place, node in enumerate(self.cut)
            if self.children[node]
        ]

    def evaluate(self, cut: list[int]) -> tuple[int, tuple[NDArray[np.int32], frozenset[int]]]:
        """The loss of a cut in units, and what it is: the published number of each item, and those suppressed."""
        self.context.step("trying splits")
        labels = Vocabulary(f"{number:09d}" for number in range(len(cut) + len(self.sensitive)))
        of_leaf = np.full(self.hierarchy.n_items, -1, dtype=np.int32)
        for number, node in enumerate(cut):
            of_leaf[self.hierarchy.leaves(node)] = number
        target = np.where(self.leaf >= 0, of_leaf[self.leaf], -1).astype(np.int32)
        sensitive = list(range(len(cut), len(cut) + len(self.sensitive)))
        target[self.sensitive] = sensitive
        entries = np.bincount(target, weights=self.data.supports, minlength=len(labels)).astype(np.int64)
        shown = self.data.recode(target, labels)
        gone = frozenset(items_to_suppress(shown, sensitive, self.model, self.context, np.maximum(entries, 1)))
        costs = np.concatenate((self.n_leaves[cut] - 1, np.zeros(len(sensitive), dtype=np.int64)))
        costs[list(gone)] = self.unit
        return int((entries * costs).sum()), (target, gone)

    def release(self, best: tuple[int, tuple[NDArray[np.int32], frozenset[int]]]) -> Recoding:
        """The release of the present cut."""
        loss, (_, gone) = best
        domain = Vocabulary({*self.hierarchy.vocabulary, *self.data.vocabulary})
        names = [self.hierarchy.published_labels[node] for node in self.cut]
        names.extend(self.data.vocabulary[item] for item in self.sensitive)
        of_domain = np.full(len(domain), -1, dtype=np.int32)
        for number, node in enumerate(self.cut):
            leaves = self.hierarchy.leaves(node)
            public = leaves[self.is_public_leaf[leaves]]
            of_domain[domain.numbers(self.hierarchy.vocabulary[leaf] for leaf in public.tolist())] = number
        place = domain.numbers(self.data.vocabulary)
        of_domain[place[self.sensitive]] = np.arange(len(self.cut), len(names))
        of_domain[np.isin(of_domain, list(gone))] = -1
        details = {"loss": loss / self.unit, "suppressed_items": len(gone), "published_nodes": len(self.cut)}
        return Recoding.from_targets(self.data, domain, place, of_domain, names, details)

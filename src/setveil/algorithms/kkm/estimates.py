"""Estimates of what the items of classes lose, for choosing classes; the result itself is measured."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.kkm._estimates import estimate_losses
from setveil.algorithms.kkm.people import People, ancestors_of, losses_of
from setveil.arrays.threads import map_in_order
from setveil.core import Hierarchy

AT_ONCE = 200_000  # entries of the parts that one call estimates, well below half a second
MOST_LEVELS = 4


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates for the people of one run."""

    people: People
    levels: tuple[tuple[NDArray[np.int32], NDArray[np.float64]], ...]  # labels of entries, loss of each label

    @classmethod
    def of(cls, people: People, hierarchy: Hierarchy | None) -> Estimates:
        """With a hierarchy a class may publish its items at any of a few levels."""
        public = people.public
        if people.model.m == 0:
            return cls(people, ())
        if hierarchy is None:
            return cls(people, ((public.items, np.zeros(max(public.n_items, 1))),))
        losses = losses_of(hierarchy)
        leaves = hierarchy.leaf_of_items(public.vocabulary)[public.items]
        above = ancestors_of(hierarchy)
        return cls(people, tuple((above[depth, leaves], losses) for depth in start_depths(hierarchy)))

    def __call__(self, members: NDArray[np.int64], starts: NDArray[np.int64], context: Context) -> NDArray[np.float64]:
        """What the entries of each part lose; part ``i`` is the records ``members[starts[i]:starts[i+1]]``."""
        model, public = self.people.model, self.people.public
        best = np.full(len(starts) - 1, np.inf) if self.levels else np.zeros(len(starts) - 1)
        if not len(best):
            return best
        work = np.append(0, np.cumsum(public.lengths[members]))[starts]
        marks = np.searchsorted(work, np.arange(0, int(work[-1]) + 1, AT_ONCE))
        bounds = np.unique(np.concatenate((marks, [0, len(best)])))
        k_two = 0 if model.m == 1 else model.k_for(2)
        for labels, losses in self.levels:
            found = np.zeros(len(best))

            parts = [
                (labels, losses, members, starts[first : last + 1], model.k_for(1), k_two, found[first:last])
                for first, last in pairwise(bounds.tolist())
            ]
            for _ in map_in_order(lambda part: estimate_losses(public.indptr, *part), parts):
                context.step("choosing classes", None)
            np.minimum(best, found, out=best)
        return best


def start_depths(hierarchy: Hierarchy) -> list[int]:
    """Depths at which all items of a class may be published, from the leaves up; a few, if there are many."""
    depths = np.linspace(hierarchy.height, 1, min(MOST_LEVELS, hierarchy.height))
    return sorted({round(float(depth)) for depth in depths}, reverse=True)

"""What every algorithm for k-anonymity shares: the records it works on, majority-vote centres, diversity, the release.

Records are put into classes and each class is published as its centre: the items that more than half of its records
have, which is the row with the fewest changes in total. Sensitive items are set aside first and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, require_k_records
from setveil.algorithms.k_anonymity._centres import count_common, vote_centres
from setveil.arrays.threads import available_threads
from setveil.core import Transactions
from setveil.core.row_order import bounds_of
from setveil.errors import InfeasibleError, name_some, times
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement

Shard = TypeVar("Shard")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Records:
    """The records in lexicographic order, so that nothing depends on the order of the input."""

    data: Transactions  # as given
    order: NDArray[np.int64]  # [n_records] which record of the data stands where
    public: Transactions  # [n_records] in this order, without sensitive items, over the data's vocabulary
    hidden: Transactions  # [n_records] in this order, sensitive items only
    model: KAnonymity

    @property
    def k(self) -> int:
        """Members a class needs."""
        return self.model.k

    @property
    def l(self) -> int:  # noqa: E743 - the literature's letter
        """Different sensitive items a class needs."""
        return self.model.l

    def unchanged(self) -> Replacement:
        """Every record published as it is, which is enough for k=1."""
        rows, _, row_of = self.public.distinct()
        return self.release(self.diverse(row_of), {}, rows if self.l == 1 else None)

    def vote(self, class_of: NDArray[np.int64]) -> Transactions:
        """The centre of each class, [n_classes]; a record in class -1 has no vote."""
        members = np.argsort(class_of, kind="stable")
        members = members[np.count_nonzero(class_of < 0) :]
        bounds = bounds_of(np.bincount(class_of[members], minlength=int(class_of.max(initial=-1)) + 1))
        indptr, items = vote_centres(self.public.indptr, self.public.items, self.public.n_items, members, bounds)
        return replace(self.public, indptr=indptr, items=items)

    def loss(self, class_of: NDArray[np.int64], centres: Transactions) -> int:
        """Items added and removed if every class is published as its centre."""
        common = count_common(self.public.indptr, self.public.items, class_of, centres.indptr, centres.items)
        return int(centres.lengths[class_of].sum() + self.public.n_occurrences - 2 * common.sum())

    def diverse(self, class_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Merge classes until each has l different sensitive items.

        Classes are taken in the Gray order of their centres; one that lacks diversity is joined by those that follow
        until it has enough, the last one by those before it.
        """
        if self.l == 1 or not len(class_of):
            return class_of
        tour = gray_order(self.vote(class_of))
        place = np.empty(len(tour), dtype=np.int64)
        place[tour] = np.arange(len(tour))
        at = place[class_of]  # [n_records] the place of the record's class on the tour
        width = max(self.hidden.n_items, 1)
        shown = np.unique(np.repeat(at, self.hidden.lengths) * width + self.hidden.items)
        marks = np.split(shown % width, np.searchsorted(shown // width, np.arange(1, len(tour))))
        merged = np.zeros(len(tour), dtype=np.int64)  # [n_classes] along the tour
        seen: set[int] = set()
        number = 0
        for step, own in enumerate(marks):
            seen.update(own.tolist())
            merged[step] = number
            if len(seen) >= self.l:
                number, seen = number + 1, set()
        return np.minimum(merged, number - 1)[at]

    def release(
        self, class_of: NDArray[np.int64], details: Mapping[str, Any], centres: Transactions | None = None
    ) -> Replacement:
        """The release; classes with equal centres become one. Without ``centres`` all members vote."""
        centres = self.vote(class_of) if centres is None else centres
        rows, _, row_of = centres.distinct()
        class_of = row_of[class_of]
        common = count_common(self.public.indptr, self.public.items, class_of, rows.indptr, rows.items)
        added = int((rows.lengths[class_of] - common).sum())
        removed = int((self.public.lengths - common).sum())
        size = np.bincount(class_of, minlength=rows.n_records)
        figures = {
            "loss": added + removed,
            "loss_ratio": (added + removed) / max(self.data.n_occurrences, 1),
            "added": added,
            "removed": removed,
            "classes": len(size),
            "smallest_class": int(size.min(initial=self.data.n_records)),
            "largest_class": int(size.max(initial=0)),
            "empty_centres": centres.n_empty,  # valid but useless; before equal centres became one
            "records_with_empty_centre": int(size[rows.lengths == 0].sum()),
            "homogeneous_classes": int(self._is_homogeneous(class_of, size).sum()),
        }
        given = np.empty_like(class_of)
        given[self.order] = class_of  # back to the order of the input
        return Replacement.from_centres(self.data, given, rows, self.model.sensitive, {**figures, **details})

    def _is_homogeneous(self, class_of: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Classes in which all records share a sensitive item, bool[n_classes]."""
        width = max(self.hidden.n_items, 1)
        keys, count = np.unique(class_of[self.hidden.owners] * width + self.hidden.items, return_counts=True)
        shared = np.zeros(len(size), dtype=bool)
        shared[keys[count == size[keys // width]] // width] = True
        return shared


def prepare(data: Transactions, model: KAnonymity) -> Records:
    """Set sensitive items aside, and make sure that there are k records and l different sensitive items at all."""
    if 0 < data.n_records < model.k:
        raise InfeasibleError(
            f"there are {data.n_records:,} records, fewer than k={model.k}; lower k or add records.",
            items=data.vocabulary.labels,
        )
    require_k_records(data, model.k)
    numbers = data.vocabulary.numbers(model.sensitive)
    is_sensitive = np.zeros(data.n_items, dtype=bool)
    is_sensitive[numbers[numbers >= 0]] = True
    occurring = [data.vocabulary[int(item)] for item in np.flatnonzero(is_sensitive & (data.supports > 0))]
    if data.n_records and len(occurring) < model.l > 1:
        there = (
            f"only {times(len(occurring), 'occurs', 'occur')}: {name_some(occurring)}" if occurring else "none occurs"
        )
        raise InfeasibleError(
            f"every class needs l={model.l} different sensitive items, but of the named items {there}; lower l or name "
            "more sensitive items.",
            items=occurring,
        )
    order = data.lexicographic_order()
    sorted_data = replace(data, ids=None).select(order)
    own = np.arange(data.n_items)
    return Records(
        data,
        order,
        sorted_data.recode(np.where(is_sensitive, -1, own), data.vocabulary),
        sorted_data.recode(np.where(is_sensitive, own, -1), data.vocabulary),
        model,
    )


def cut_into_runs(order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Consecutive runs of k along an ordering, the remainder in the last one: the run of each record,
    int64[n_records].
    """
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.minimum(np.arange(len(order)) // k, max(len(order) // k - 1, 0))
    return run


def map_in_batches(
    context: Context, stage: str, work: Callable[[Shard], Result], shards: Sequence[Shard], n_each: int
) -> Iterator[Result]:
    """``work`` on every shard by the engine, results in order; between two progress reports ``n_each`` per
    processor.
    """
    n_batch = n_each * available_threads()
    for first in range(0, len(shards), n_batch):
        context.step(stage, first / len(shards))
        yield from context.engine.map_shards(work, shards[first : first + n_batch])

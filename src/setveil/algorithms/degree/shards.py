"""Runs of the Gray order that are grouped alone: one after the other here, by tasks where records are on a cluster.

A shard depends on nothing but its records. Where shards begin follows from the number of records and from how many
records of each hold which sensitive item, so that the groups are the same wherever the shards are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree.groups import Split, refuse_excess, secret_draws
from setveil.algorithms.k_anonymity.shards import shard_bounds
from setveil.core import Transactions, Vocabulary
from setveil.core.dataset import Csr
from setveil.core.transactions import in_label_order
from setveil.engines.distributed import DistributedDataset
from setveil.engines.distributed_groups import DistributedGrouping, GroupMaker, side_by_side
from setveil.models import PrivacyDegree
from setveil.orderings.gray import bits_of_items, gray_codes, gray_order
from setveil.releases.grouping import publishable_rows

Group = Callable[[Transactions, Transactions], NDArray[np.int64]]  # public, sensitive items in sequence → groups or -1


def bounds_of_shards(n_records: int, shard_size: int, p: int) -> NDArray[np.int64]:
    """Where shards begin and end before any are joined: no fewer than p records each, if there are as many."""
    return shard_bounds(n_records, max(min(-(-n_records // shard_size), n_records // p), 1))


def join_shards(bounds: NDArray[np.int64], counts: NDArray[np.int64], p: int) -> NDArray[np.int64]:
    """The bounds of shards that all can have the degree, made by joining neighbours; all together can.

    ``counts[shard, item]``: how many records hold it. From the first one on, a shard in which an item is too frequent
    takes in the next, and again; what is not enough at the end is taken in by the shards before it.
    """
    ends: list[int] = []  # shards before each bound
    counted: list[NDArray[np.int64]] = []  # in the shard that ends there
    held, begin = np.zeros(counts.shape[1], dtype=np.int64), 0
    for shard, own in enumerate(counts):
        held = held + own
        if _is_feasible(held, bounds[shard + 1] - bounds[begin], p):
            ends.append(shard + 1)
            counted.append(held)
            held, begin = np.zeros_like(held), shard + 1
    last = len(bounds) - 1
    while begin < last:
        begin = ends[-2] if len(ends) > 1 else 0
        ends.pop()
        held = held + counted.pop()
        if _is_feasible(held, bounds[last] - bounds[begin], p):
            ends.append(last)
            break
    return bounds[[0, *ends]]


def _is_feasible(held: NDArray[np.int64], n_records: int, p: int) -> bool:
    return bool((held * p <= n_records).all())


def group_shards(split: Split, shard_size: int, seed: int, group: Group) -> tuple[NDArray[np.int64], int, int]:
    """The group of each record, all shards one after the other; how many shards there are, and leftovers in all.

    Which of several equal records goes where is drawn: a cluster has no order of records that could tell, either.
    """
    order = _equal_ones_drawn(split, seed)
    order = order[gray_order(split.public.select(order))]
    bounds = bounds_of_shards(split.n_records, shard_size, split.p)
    hidden = split.hidden.select(order)
    shard_of = np.searchsorted(bounds, hidden.owners, side="right") - 1
    counts = np.zeros((len(bounds) - 1, hidden.n_items), dtype=np.int64)
    np.add.at(counts, (shard_of, hidden.items), 1)
    bounds = join_shards(bounds, counts, split.p)
    group_of = np.empty(split.n_records, dtype=np.int64)
    n_groups = n_leftovers = 0
    for part in np.split(order, bounds[1:-1]):
        own, n_alone = _with_leftovers(group(split.public.select(part), split.hidden.select(part)))
        group_of[part] = n_groups + own
        n_groups += int(own.max(initial=-1)) + 1
        n_leftovers += n_alone
    return group_of, len(bounds) - 1, n_leftovers


def _equal_ones_drawn(split: Split, seed: int) -> NDArray[np.int64]:
    """The canonical order with equal records in random order."""
    kinds = [part.row_ranks() for part in (split.public, split.hidden)]
    return np.lexsort((secret_draws(split, seed).random(split.n_records), *kinds[::-1]))


def _with_leftovers(group_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The records in no group as the last one, and how many they are."""
    is_alone = group_of < 0
    return np.where(is_alone, group_of.max(initial=-1) + 1, group_of), int(is_alone.sum())


# -- where the records are on a cluster -------------------------------------------------------------------------------


def group_distributed(
    data: DistributedDataset, model: PrivacyDegree, shard_size: int, group: Group
) -> DistributedGrouping:
    """The release of records on a cluster; records without a public item are suppressed, as by ``split_records``."""
    is_sensitive = Vocabulary(set(model.sensitive)).numbers(data.vocabulary) >= 0
    everything = data
    data = data.keep_records(partial(publishable_rows, is_public=~is_sensitive))
    n_bare = everything.n_records - data.n_records
    if not n_bare:
        data = everything
    refuse_excess(data, is_sensitive, model.p)
    public = data.keep_items(~is_sensitive & (data.supports > 0))
    published = in_label_order(public)
    rank = np.empty(public.n_items, dtype=np.int32)
    rank[published.vocabulary.numbers(public.vocabulary)] = bits_of_items(public, "frequency")
    labels = list(compress(data.vocabulary, is_sensitive))
    target = np.full(data.n_items, -1, dtype=np.int32)
    target[~is_sensitive] = published.vocabulary.numbers(compress(data.vocabulary, ~is_sensitive))
    target[is_sensitive] = published.n_items + np.arange(len(labels))
    rows = data.recode(target, Vocabulary.presorted([*published.vocabulary, *labels]))
    bounds = bounds_of_shards(data.n_records, shard_size, model.p)
    maker = Shards(published.n_items, len(labels), bounds, model.p, rank, group)
    groups = rows.in_groups(maker, published, labels)
    details = {"ordering": "gray", "shards": groups.made["shards"], "leftovers": groups.made["leftovers"]}
    if n_bare:
        details["left_out_records"] = n_bare
    return DistributedGrouping.of(published, groups, Vocabulary(set(model.sensitive)), details)


@dataclass(frozen=True, eq=False)
class Shards(GroupMaker):
    """Records in Gray order of their public items, then by their sensitive ones, and cut into shards."""

    n_public: int
    n_sensitive: int
    bounds: NDArray[np.int64]
    p: int
    rank: NDArray[np.int32]  # [public items] their bits
    solve: Group

    def key(self, rows: Csr) -> Csr:
        """Gray codes end with a mark, so what follows them decides only between records with the same public items."""
        return side_by_side(gray_codes(*self.public(rows), self.rank), self.hidden(rows))

    def join(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Shards in which an item is too frequent take in others."""
        return join_shards(self.bounds, counts, self.p)

    def group(self, rows: Csr) -> tuple[NDArray[np.int64], int]:
        """A shard by itself."""
        return _with_leftovers(self.solve(*self._parts(rows)))

    def _parts(self, rows: Csr) -> tuple[Transactions, Transactions]:
        return (
            Transactions(*self.public(rows), _unnamed(self.n_public)),
            Transactions(*self.hidden(rows), _unnamed(self.n_sensitive)),
        )


def _unnamed(n_items: int) -> Vocabulary:
    """Workers know items by number only."""
    return Vocabulary.presorted(list(map(str, range(n_items))))

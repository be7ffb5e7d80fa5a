"""Runs of the Gray order that are solved alone: side by side here, by tasks where the records are on a cluster.

A shard depends on nothing but its records, and its bounds on nothing but the number of records, so that the release is
the same wherever the shards are solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import require_k_records
from setveil.algorithms.k_anonymity._centres import count_common
from setveil.algorithms.k_anonymity.centres import Records
from setveil.core import Dataset, Transactions
from setveil.core.dataset import Csr
from setveil.core.transactions import in_label_order
from setveil.engines.distributed import DistributedDataset
from setveil.engines.distributed_groups import DistributedReplacement
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import bits_of_items, gray_codes
from setveil.releases import Replacement

Solved = tuple[NDArray[np.int64], Transactions, Mapping[str, int]]  # class of each record, centres, counts to add up
PER_TASK = 1 << 16  # records that a task solves, about


def shard_bounds(n_records: int, n_shards: int) -> NDArray[np.int64]:
    """Where shards begin and end; sizes differ by at most one, longer first."""
    sizes = np.full(n_shards, n_records // n_shards)
    sizes[: n_records % n_shards] += 1
    return np.concatenate(([0], np.cumsum(sizes)))


def shard_records(shard: Transactions, k: int) -> Records:
    """The records of a shard; nothing in them is sensitive."""
    order = shard.lexicographic_order()
    public = shard.select(order)
    hidden = public.recode(np.full(shard.n_items, -1), shard.vocabulary)
    return Records(shard, order, public, hidden, KAnonymity(k=k))


def replace_distributed(
    data: DistributedDataset,
    model: KAnonymity,
    bounds: NDArray[np.int64],
    solve: Callable[[Transactions], Solved],
    bits: str = "frequency",
) -> tuple[Replacement, Mapping[str, int]]:
    """The release of records on a cluster, solved shard by shard; and what the shards counted, added up."""
    if model.sensitive or model.l > 1:
        raise InputError("sensitive items and l need whole classes; remove them on Spark, or use --engine local.")
    if 0 < data.n_records < model.k:
        raise InfeasibleError(
            f"there are {data.n_records:,} records, fewer than k={model.k}; lower k or add records.",
            items=data.vocabulary.labels,
        )
    require_k_records(data, model.k)
    rank = bits_of_items(data, bits)
    per_task = max(PER_TASK // max(int(bounds[1]), 1), 1)  # shards
    tasks = np.unique(np.append(bounds[::per_task], bounds[-1]))

    def encode(rows: Csr) -> Csr:
        return gray_codes(*rows, rank)

    def work(number: int, records: Transactions) -> tuple[Csr, Counter[str]]:
        low, high = tasks[number : number + 2]
        inner = bounds[(bounds >= low) & (bounds <= high)] - low
        counted: Counter[str] = Counter()
        lengths, items = [], []
        for first, last in zip(inner[:-1].tolist(), inner[1:].tolist(), strict=True):
            shard = records.select(np.arange(first, last))
            class_of, centres, shard_counts = solve(shard)
            made = centres.select(class_of)
            n_common = int(count_common(shard.indptr, shard.items, class_of, centres.indptr, centres.items).sum())
            counted.update(shard_counts)
            counted.update(added=made.n_occurrences - n_common, removed=shard.n_occurrences - n_common)
            counted.update(empty_centres=centres.n_empty)
            lengths.append(made.lengths)
            items.append(made.items)
        indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
        return (indptr, np.concatenate(items)), counted

    rows, shard_counts = data.in_shards(encode, tasks, work)
    published = in_label_order(rows.used_items())
    counted: Counter[str] = sum(shard_counts, Counter())
    return DistributedReplacement.of(published, _figures(data, published, counted)), counted


def _figures(data: Dataset, published: DistributedDataset, counted: Mapping[str, int]) -> dict[str, Any]:
    """What ``Records.release`` tells of records at hand."""
    sizes, n_classes = published.class_sizes()
    loss = counted["added"] + counted["removed"]
    return {
        "loss": loss,
        "loss_ratio": loss / max(data.n_occurrences, 1),
        "added": counted["added"],
        "removed": counted["removed"],
        "classes": int(n_classes.sum()),
        "smallest_class": int(sizes.min(initial=data.n_records)),
        "largest_class": int(sizes.max(initial=0)),
        "empty_centres": counted["empty_centres"],
        "records_with_empty_centre": published.n_empty,
        "homogeneous_classes": 0,
    }

"""What of the original a grouping may publish at all: the verifier's own reading of the rule.

Left out are records whose items are all sensitive, and a sensitive item wherever something public gives it away: a
public item, or public items as a whole, that at least two records have and that never occurs without the sensitive
item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from setveil.verify.published import Published

FEWEST = 2


def what_may_be_published(source: Published, sensitive: Collection[str]) -> Published:
    """The original without what a grouping must leave out."""
    is_hidden = np.array([label in set(sensitive) for label in source.labels], dtype=bool)
    hidden = is_hidden[source.items] if len(source.items) else np.zeros(0, dtype=bool)
    owner = np.repeat(np.arange(source.n_records), np.diff(source.indptr))
    n_hidden = np.bincount(owner[hidden], minlength=source.n_records)
    n_items = np.diff(source.indptr)
    is_kept = (n_items == 0) | (n_hidden < n_items)
    stays = is_kept[owner]
    stays[hidden] &= ~_given_away(source, owner, hidden, is_kept)[hidden]
    lengths = np.bincount(owner[stays], minlength=source.n_records)[is_kept]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Published(source.labels, indptr, source.items[stays])


def _given_away(
    source: Published, owner: NDArray[np.int64], hidden: NDArray[np.bool_], is_kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which occurrences are sensitive items that something public gives away, bool[occurrences]."""
    holders: dict[int, set[int]] = defaultdict(set)  # sensitive item → records
    crowds: dict[object, set[int]] = defaultdict(set)  # a public item, or a whole public part → records
    content: dict[int, list[int]] = defaultdict(list)
    for record, item, is_secret in zip(owner.tolist(), source.items.tolist(), hidden.tolist(), strict=True):
        if is_secret and is_kept[record]:
            holders[item].add(record)
        elif not is_secret:
            crowds[item].add(record)
            content[record].append(item)
    for record, items in content.items():
        crowds[tuple(items)].add(record)
    told: set[tuple[int, int]] = set()
    of_record: dict[int, list[object]] = {record: [*items, tuple(items)] for record, items in content.items()}
    for item, records in holders.items():
        asked = {crowd for record in records for crowd in of_record.get(record, ())}
        for crowd in asked:
            if len(crowds[crowd]) >= FEWEST and crowds[crowd] <= records:
                told |= {(record, item) for record in crowds[crowd]}
    pairs = zip(owner.tolist(), source.items.tolist(), strict=True)
    return np.fromiter((pair in told for pair in pairs), dtype=bool, count=len(owner))

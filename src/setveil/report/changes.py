"""What a release shows of itself (for everybody) and what was changed to make it (internal), as plain values.

Both are small whatever the data: long lists are cut and say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy, RemoteTransactions, Transactions
from setveil.releases import Grouping, LocalRecoding, Recoding, Release, RemoteGrouping, Replacement
from setveil.report.picture import blocks_of_sets, picture_of
from setveil.report.words import short

ROWS = 300  # rows of a table of items
MEMBERS = 40  # items named behind one published item
CHARACTERS = 78_000  # of such names in that table
EXAMPLES = 8  # records shown before and after
HINTS = 12  # items named behind a published item of an example
BARS = 20  # of a chart of sizes


class Cover:
    """Which items of the domain each published item can stand for."""

    def __init__(self, release: Release) -> None:
        """Recodings of both kinds generalize; elsewhere every published item stands for itself."""
        n_published = release.published.n_items
        self.indptr = np.zeros(n_published + 1, dtype=np.int64)
        if isinstance(release, Recoding):
            self.domain: Sequence[str] = release.domain.labels
            order = np.argsort(release.target, kind="stable")
            self.items: NDArray[np.integer] = order[(release.target < 0).sum() :]
            np.cumsum(np.bincount(release.target[self.items], minlength=n_published), out=self.indptr[1:])
        elif isinstance(release, LocalRecoding):
            self.domain = release.cover.vocabulary.labels
            self.indptr, self.items = release.cover.indptr, release.cover.items
        else:
            self.domain = release.published.vocabulary.labels
            self.indptr = np.arange(n_published + 1, dtype=np.int64)
            self.items = np.arange(n_published)
        self.sizes = np.diff(self.indptr)  # [published items]

    def members(self, number: int, most: int = MEMBERS) -> list[str]:
        """The first items behind a published item."""
        start = self.indptr[number]
        return [short(self.domain[item]) for item in self.items[start : min(self.indptr[number + 1], start + most)]]

    @property
    def n_unpublished(self) -> int:
        """Items of the domain that no published item stands for."""
        found = np.zeros(len(self.domain), dtype=bool)
        found[self.items] = True
        return int((~found).sum())


# -- what anyone with the release can see ------------------------------------------------------------------------------


def shape_of(release: Release, labels: Sequence[str], cover: Cover) -> dict[str, Any]:
    """Figures and tables that follow from the published files alone."""
    if isinstance(release, Replacement):
        return _classes(release)
    if isinstance(release, Grouping):
        return _groups(release)
    supports = release.published.supports
    general = np.flatnonzero(cover.sizes > 1)
    order = general[np.lexsort((general, -supports[general], -cover.sizes[general]))]
    return {
        "n_published": release.published.n_items,
        "n_general": len(general),
        "n_domain": len(cover.domain),
        "n_unpublished": cover.n_unpublished,
        "exact": float(supports[cover.sizes == 1].sum() / supports.sum())
        if supports.sum()
        else None,  # of what is published
        "largest_set": int(cover.sizes.max(initial=0)),
        "picture": blocks_of_sets(labels, cover),
        "rows": [
            {"label": short(labels[number]), "size": int(cover.sizes[number]), "support": int(supports[number])}
            for number in order[:ROWS].tolist()
        ],
    }


def _classes(release: Replacement) -> dict[str, Any]:
    rows = release.published
    if isinstance(rows, RemoteTransactions):
        n_empty = int(rows.n_empty > 0)
        return {**_sizes(*rows.class_sizes()), "empty": n_empty, "in_empty": rows.n_empty, "diversity": None}
    sizes = np.bincount(release.class_of)
    hidden = np.zeros(rows.n_items, dtype=bool)
    numbers = rows.vocabulary.numbers(release.sensitive)
    hidden[numbers[numbers >= 0]] = True
    is_hidden = hidden[rows.items]
    n_public = np.bincount(rows.owners[~is_hidden], minlength=rows.n_records)
    empty = np.unique(release.class_of[n_public == 0])
    shape = {**_sizes(sizes), "empty": len(empty), "in_empty": int(sizes[empty].sum()), "diversity": None}
    if release.sensitive:
        # How many records of a class have one and the same sensitive item.
        keys = release.class_of[rows.owners[is_hidden]] * max(rows.n_items, 1) + rows.items[is_hidden]
        pairs, counts = np.unique(keys, return_counts=True)
        classes = pairs // max(rows.n_items, 1)
        shares = counts / sizes[classes]
        shape["diversity"] = {
            "homogeneous": len(np.unique(classes[counts == sizes[classes]])),
            "most": len(np.unique(classes[2 * counts > sizes[classes]])),
            "largest_share": float(shares.max(initial=0.0)),
        }
    return shape


def _groups(release: Grouping) -> dict[str, Any]:
    totals = np.zeros(len(release.sensitive), dtype=np.int64)
    np.add.at(totals, release.count_item, release.count)
    largest = np.zeros(len(release.sensitive))
    if isinstance(release, RemoteGrouping):
        figures = release.groups.figures
        sizes = _sizes(figures.sizes, figures.times)
        largest[release.count_item] = figures.largest
    else:
        by_group = np.bincount(release.group_of)
        sizes = _sizes(by_group)
        np.maximum.at(largest, release.count_item, release.count / by_group[release.count_group])
    order = np.lexsort((np.arange(len(totals)), -totals))
    return {
        **sizes,
        "n_sensitive": len(totals),
        "linked": float(largest.max(initial=0.0)),  # the highest probability of having a sensitive item
        "sensitive": [
            {"label": short(release.sensitive[item]), "total": int(totals[item]), "largest": float(largest[item])}
            for item in order[:ROWS].tolist()
        ],
    }


def _sizes(sizes: NDArray[np.integer], times: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """Number and sizes of classes or groups, or how many have each size; bins of equal width, both ends included."""
    if times is None:
        sizes, times = np.unique(sizes[sizes > 0], return_counts=True)
    if not len(sizes):
        return {"n": 0, "smallest": 0, "middle": 0, "largest": 0, "from": [], "to": [], "count": []}
    smallest, largest = int(sizes.min()), int(sizes.max())
    step = -(-(largest - smallest + 1) // BARS)
    starts = list(range(smallest, largest + 1, step))
    return {
        "n": int(times.sum()),
        "smallest": smallest,
        "middle": int(sizes[np.searchsorted(np.cumsum(times), times.sum() // 2, side="right")]),
        "largest": largest,
        "from": starts,
        "to": [start + step - 1 for start in starts],
        "count": np.bincount((sizes - smallest) // step, times, minlength=len(starts)).astype(np.int64).tolist(),
    }


# -- what only the owner may see ---------------------------------------------------------------------------------------


def changes_of(release: Release, labels: Sequence[str], data: Transactions, cover: Cover) -> dict[str, Any]:
    """What became of the items of the original."""
    if isinstance(release, Recoding):
        return _recoded(release, labels, data, cover)
    if isinstance(release, LocalRecoding):
        return _recoded_locally(release, labels, data, cover)
    if isinstance(release, Replacement):
        return _supports(release, data)
    left_out = release.details.get("suppressed_occurrences", {})
    return {"left_out": [(short(str(item)), int(count)) for item, count in sorted(left_out.items())][:ROWS]}


def _recoded(release: Recoding, labels: Sequence[str], data: Transactions, cover: Cover) -> dict[str, Any]:
    n_domain = len(release.domain)
    occurrences = np.zeros(n_domain, dtype=np.int64)  # of the original, per item of the domain
    occurrences[release.domain.numbers(data.vocabulary)] = data.supports
    target, occurs = release.target, occurrences > 0
    kept = target >= 0
    size = np.where(kept, cover.sizes[target] if len(cover.sizes) else 0, 0)
    loss = np.where(kept, np.where(size > 1, occurrences * size, 0), occurrences * n_domain)  # times |domain|
    total = int(loss.sum())
    behind, lost = (
        np.bincount(target[kept], weights=values[kept], minlength=len(cover.sizes)).astype(np.int64)
        for values in (occurrences, loss)
    )
    gone = np.flatnonzero(~kept & occurs)
    gone = gone[np.lexsort((gone, -occurrences[gone]))]
    nodes = None if release.node_of_leaf is None else release.node_of_leaf[cover.items[cover.indptr[:-1]]]
    return {
        "n_items": int(occurs.sum()),
        "n_intact": int((occurs & (size == 1)).sum()),
        "n_generalized": int((occurs & (size > 1)).sum()),
        "n_left_out": len(gone),
        "left_out": [(short(release.domain[item]), int(occurrences[item])) for item in gone[:ROWS].tolist()],
        "picture": picture_of(release, labels, cover, occurs),
        "items": _fates(release, labels, occurrences),
        "rows": _rows(release, labels, cover, behind, lost, total, _names(release.hierarchy, nodes)),
        "subtrees": _subtrees(release.hierarchy, occurrences, np.where(kept, size, -1), loss, total),
    }


def _recoded_locally(release: LocalRecoding, labels: Sequence[str], data: Transactions, cover: Cover) -> dict[str, Any]:
    nodes, hierarchy = release.node_of_occurrence, release.hierarchy
    if nodes is None or hierarchy is None:  # read back from files
        return {"n_items": int((data.supports > 0).sum()), "rows": []}
    n_domain = hierarchy.n_items
    kept = nodes >= 0
    count = np.bincount(nodes[kept], minlength=hierarchy.n_nodes)  # [nodes]
    used = np.flatnonzero(count)
    number = release.published.vocabulary.numbers(hierarchy.published_labels[node] for node in used.tolist())
    node_of = np.empty(len(used), dtype=np.int64)  # [published items]
    node_of[number] = used
    loss_at = np.where(hierarchy.n_leaves > 1, hierarchy.n_leaves, 0).astype(np.int64)  # [nodes]
    behind = count[node_of]
    lost = behind * loss_at[node_of]
    total = int(lost.sum()) + int((~kept).sum()) * n_domain
    is_intact, is_general = kept & (hierarchy.n_leaves == 1)[nodes], kept & (hierarchy.n_leaves > 1)[nodes]
    per_item = np.zeros((4, data.n_items), dtype=np.int64)  # occurrences: all, intact, generalized, left out
    for row, chosen in enumerate((np.ones(len(nodes), dtype=bool), is_intact, is_general, ~kept)):
        per_item[row] = np.bincount(data.items[chosen], minlength=data.n_items)
    everywhere, intact, general, gone = per_item
    occurs = everywhere > 0
    leaf_of = hierarchy.leaf_of_items(data.vocabulary)[occurs]
    return {
        "n_items": int(occurs.sum()),
        "n_intact": int((occurs & (intact == everywhere)).sum()),
        "n_mixed": int((occurs & (intact > 0) & (intact < everywhere)).sum()),
        "n_generalized": int((occurs & (intact == 0) & (general > 0)).sum()),
        "n_left_out": int((occurs & (gone == everywhere)).sum()),
        "occurrences": len(nodes),
        "intact_occurrences": int(intact.sum()),
        "left_out_occurrences": int(gone.sum()),
        "picture": picture_of(release, labels, cover, np.isin(np.arange(n_domain), leaf_of)),
        "rows": _rows(release, labels, cover, behind, lost, total, _names(hierarchy, node_of)),
    }


def _fates(release: Recoding, labels: Sequence[str], occurrences: NDArray[np.int64]) -> list[tuple[str, str, int]]:
    """Every item that occurs with what it is published as, the most frequent first, as far as a page can hold."""
    order = np.lexsort((np.arange(len(occurrences)), -occurrences))
    rows, left = [], CHARACTERS // 2
    for item in order[: int((occurrences > 0).sum())].tolist():
        number = int(release.target[item])
        row = (short(release.domain[item]), short(labels[number]) if number >= 0 else "", int(occurrences[item]))
        left -= len(row[0]) + len(row[1])
        if left < 0:
            break
        rows.append(row)
    return rows


def _rows(
    release: Release,
    labels: Sequence[str],
    cover: Cover,
    behind: NDArray[np.int64],
    lost: NDArray[np.int64],
    total: int,
    names: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """The published items that stand for several, the costliest first."""
    general = np.flatnonzero(cover.sizes > 1)
    general = general[np.lexsort((general, -cover.sizes[general], -lost[general]))]
    rows, left = [], CHARACTERS
    for number in general[:ROWS].tolist():
        members = cover.members(number) if left > 0 else []
        left -= sum(map(len, members))
        rows.append(
            {
                "label": short(labels[number]),
                "name": short(names[number]) if names and names[number] != labels[number] else "",
                "size": int(cover.sizes[number]),
                "members": members,
                "occurrences": int(behind[number]),
                "support": int(release.published.supports[number]),
                "loss": int(lost[number]) / max(total, 1),
            }
        )
    return rows


def _names(hierarchy: Hierarchy | None, nodes: NDArray[np.integer] | None) -> list[str] | None:
    """The hierarchy's names of the published items; files of integers do not carry them."""
    if hierarchy is None or nodes is None:
        return None
    return [hierarchy.published_labels[node] for node in nodes.tolist()]


def _subtrees(
    hierarchy: Hierarchy | None,
    occurrences: NDArray[np.int64],
    size: NDArray[np.int64],
    loss: NDArray[np.int64],
    total: int,
) -> list[dict[str, Any]]:
    """What happened below each child of the root, the costliest first. ``size``: 1 unchanged, -1 suppressed."""
    if hierarchy is None:
        return []
    rows: list[dict[str, Any]] = []
    for node in np.flatnonzero(hierarchy.parent == hierarchy.root).tolist():
        leaves = hierarchy.leaves(node)
        leaves = leaves[occurrences[leaves] > 0]
        if len(leaves):
            rows.append(
                {
                    "label": short(hierarchy.labels[node]),
                    "n_items": len(leaves),
                    "n_intact": int((size[leaves] == 1).sum()),
                    "n_generalized": int((size[leaves] > 1).sum()),
                    "n_left_out": int((size[leaves] < 0).sum()),
                    "occurrences": int(occurrences[leaves].sum()),
                    "loss": int(loss[leaves].sum()) / max(total, 1),
                }
            )
    rows.sort(key=lambda row: -row["loss"])
    return rows[:ROWS]


def _supports(release: Replacement, data: Transactions) -> dict[str, Any]:
    """In how many records each item is, before and after; the largest changes first."""
    published = release.published
    after = np.append(published.supports, 0)[published.vocabulary.numbers(data.vocabulary)]
    before = data.supports
    order = np.lexsort((np.arange(data.n_items), -np.abs(after - before)))
    changed = order[(after != before)[order]]
    return {
        "n_items": int((before > 0).sum()),
        "n_left_out": int(((before > 0) & (after == 0)).sum()),
        "n_changed": len(changed),
        "supports": [
            {"label": short(data.vocabulary[item]), "before": int(before[item]), "after": int(after[item])}
            for item in changed[:ROWS].tolist()
        ],
    }


# -- examples ----------------------------------------------------------------------------------------------------------


def examples_of(release: Release, labels: Sequence[str], data: Transactions, cover: Cover) -> list[Mapping[str, Any]]:
    """A few short records that changed, spread over the data.

    Each has ``before`` and ``after``, lists of ``{"label", "members", "size", "mark"}``; ``mark`` says what was added
    or removed. A record of a grouping has ``group`` as well.
    """
    published = release.published
    found: list[Mapping[str, Any]] = []
    if isinstance(data, RemoteTransactions):  # records are not brought here to be shown
        return found
    for number in np.linspace(0, max(data.n_records - 1, 0), num=min(200, data.n_records), dtype=int).tolist():
        before = [data.vocabulary[item] for item in data.record(number)]
        after = published.record(number).tolist()
        if len(before) > 12 or len(after) > 30 or before == [labels[item] for item in after]:
            continue
        found.append(
            {
                "before": _before(release, before, [published.vocabulary[item] for item in after]),
                "after": [_after(release, labels, cover, item, before) for item in after],
                "group": _group(release, number) if isinstance(release, Grouping) else None,
            }
        )
        if len(found) == EXAMPLES:
            break
    return found


def _before(release: Release, before: Sequence[str], after: Sequence[str]) -> list[dict[str, Any]]:
    kept = set(after) if isinstance(release, Replacement | Grouping) else set(before)
    return [
        {"label": short(label), "size": 1, "members": [], "mark": "" if label in kept else "removed"}
        for label in before
    ]


def _after(release: Release, labels: Sequence[str], cover: Cover, number: int, before: Sequence[str]) -> dict[str, Any]:
    size = int(cover.sizes[number])
    is_new = isinstance(release, Replacement) and release.published.vocabulary[number] not in before
    members = cover.members(number, HINTS) if size > 1 else []
    return {"label": short(labels[number]), "size": size, "members": members, "mark": "added" if is_new else ""}


def _group(release: Grouping, number: int) -> dict[str, Any]:
    group = release.group_of[number]
    start, end = np.searchsorted(release.count_group, (group, group + 1))
    counts = [
        (short(release.sensitive[item]), count)
        for item, count in zip(release.count_item[start:end].tolist(), release.count[start:end].tolist(), strict=True)
    ]
    return {"size": int((release.group_of == group).sum()), "counts": counts[:MEMBERS]}

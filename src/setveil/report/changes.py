"""What a release shows of itself (for everybody) and what was changed to make it (internal), as plain values.

Both are small whatever the data: long lists are cut and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Hierarchy, Transactions
from setveil.releases import CountTable, Grouping, LocalRecoding, Recoding, Release, Replacement, is_grouped
from setveil.report.picture import blocks_of_sets, picture_of
from setveil.report.words import named, short

ROWS = 300  # rows of a table of items
MEMBERS = 40  # items named behind one published item
CHARACTERS = 78_000  # of such names in that table
EXAMPLES = 8  # records shown before and after
HINTS = 12  # items named behind a published item of an example
BARS = 20  # of a chart of sizes


# -- what anyone with the release can see ------------------------------------------------------------------------------


def shape_of(release: Release, labels: Sequence[str]) -> dict[str, Any]:
    """Figures and tables that follow from the published files alone."""
    shape = SHAPES[release.kind](release, labels)
    varying = _varying_columns(release)
    return {**shape, "varying_columns": varying} if varying else shape


def _varying_columns(release: Release) -> list[str]:
    """Carried columns that are not the same for all people with the same known columns."""
    columns = release.published.columns
    if columns is None:
        return []
    classes = columns.classes(release.published.n_records)
    n_classes = int(classes.max(initial=-1)) + 1
    found = []
    for column in columns.with_role("carry"):
        pairs = np.unique(classes * len(column.values) + column.codes)
        if len(pairs) > n_classes:
            found.append(column.name)
    return found


def _categories(release: Release, labels: Sequence[str]) -> dict[str, Any]:
    supports, meaning = release.published.supports, release.meaning
    n_entries = supports.sum()
    general = np.flatnonzero(meaning.sizes > 1)
    order = general[np.lexsort((general, -supports[general], -meaning.sizes[general]))]
    return {
        "n_published": release.published.n_items,
        "n_general": len(general),
        "n_domain": len(meaning.domain),
        "n_unpublished": int((~meaning.covered).sum()),
        "exact": float(supports[meaning.sizes == 1].sum() / n_entries) if n_entries else None,  # of what is published
        "largest_set": int(meaning.sizes.max(initial=0)),
        "picture": blocks_of_sets(release, labels),
        "rows": [
            {
                "label": named(labels[number], release.names),
                "size": int(meaning.sizes[number]),
                "support": int(supports[number]),
            }
            for number in order[:ROWS].tolist()
        ],
    }


def _classes(release: Replacement, labels: Sequence[str]) -> dict[str, Any]:
    n_empty, in_empty = release.empty_classes
    shape = {**_sizes(*release.class_sizes), "empty": n_empty, "in_empty": in_empty, "diversity": None}
    if release.sensitive:
        from setveil.utility.classes import shared_items

        shared = shared_items(release)
        shape["diversity"] = {
            "homogeneous": int(shared.is_homogeneous.sum()),
            "most": int((2 * shared.most > shared.size).sum()),
            "largest_share": float((shared.most / shared.size).max(initial=0.0)),
        }
    return shape


def _groups(release: Grouping, labels: Sequence[str]) -> dict[str, Any]:
    totals = np.zeros(len(release.sensitive), dtype=np.int64)
    np.add.at(totals, release.count_item, release.count)
    largest = release.largest_shares
    order = np.lexsort((np.arange(len(totals)), -totals))
    return {
        **_sizes(*release.size_counts()),
        "n_sensitive": len(totals),
        "linked": float(largest.max(initial=0.0)),  # the highest probability of having a sensitive item
        "sensitive": [
            {
                "label": named(release.sensitive[item], release.names),
                "total": int(totals[item]),
                "largest": float(largest[item]),
            }
            for item in order[:ROWS].tolist()
        ],
    }


def _counted(release: CountTable, labels: Sequence[str]) -> dict[str, Any]:
    items, counts = release.of_size(1)
    order = np.lexsort((items[:, 0], -counts))
    return {
        "n_published": len(items),
        "n_pairs": len(release.of_size(2)[1]),
        "n_triples": len(release.of_size(3)[1]),
        "generator": release.generator,
        "counted": [
            {"label": named(labels[int(items[place, 0])], release.names), "count": int(counts[place])}
            for place in order[:ROWS].tolist()
        ],
    }


SHAPES: dict[str, Callable[[Any, Sequence[str]], dict[str, Any]]] = {
    "recoding": _categories,
    "local-recoding": _categories,
    "replacement": _classes,
    "grouping": _groups,
    "count-table": _counted,
}


def _sizes(sizes: NDArray[np.int64], times: NDArray[np.int64]) -> dict[str, Any]:
    """Sizes of classes or groups and how many have each; bins of equal width, both ends included."""
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


def changes_of(release: Release, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
    """What became of the items of the original."""
    return CHANGES[release.kind](release, labels, data)


def _recoded(release: Recoding, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
    cover, sizes = release.meaning.cover, release.meaning.sizes
    n_domain = len(release.domain)
    occurrences = np.zeros(n_domain, dtype=np.int64)  # of the original, per item of the domain
    occurrences[release.domain.numbers(data.vocabulary)] = data.supports
    target, occurs = release.target, occurrences > 0
    kept = target >= 0
    size = np.where(kept, sizes[target] if len(sizes) else 0, 0)
    loss = np.where(kept, np.where(size > 1, occurrences * size, 0), occurrences * n_domain)  # times |domain|
    total = int(loss.sum())
    behind, lost = (
        np.bincount(target[kept], weights=values[kept], minlength=len(sizes)).astype(np.int64)
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
        "left_out": [
            (named(release.domain[item], release.names), int(occurrences[item])) for item in gone[:ROWS].tolist()
        ],
        "picture": picture_of(release, labels, occurs),
        "items": _fates(release, labels, occurrences),
        "rows": _rows(release, labels, behind, lost, total, _names(release.hierarchy, nodes)),
        "subtrees": _subtrees(release.hierarchy, occurrences, np.where(kept, size, -1), loss, total, release.names),
    }


def _recoded_locally(release: LocalRecoding, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
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
    per_item = np.zeros((4, data.n_items), dtype=np.int64)  # entries: all, unchanged, generalized, suppressed
    for row, chosen in enumerate((np.ones(len(nodes), dtype=bool), is_intact, is_general, ~kept)):
        per_item[row] = np.bincount(data.rows.items[chosen], minlength=data.n_items)
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
        "picture": picture_of(release, labels, np.isin(np.arange(n_domain), leaf_of)),
        "rows": _rows(release, labels, behind, lost, total, _names(hierarchy, node_of)),
    }


def _fates(release: Recoding, labels: Sequence[str], occurrences: NDArray[np.int64]) -> list[tuple[str, str, int]]:
    """Every item that occurs with what it is published as, the most frequent first, as far as a page can hold."""
    order = np.lexsort((np.arange(len(occurrences)), -occurrences))
    rows, left = [], CHARACTERS // 2
    for item in order[: int((occurrences > 0).sum())].tolist():
        number = int(release.target[item])
        row = (
            named(release.domain[item], release.names),
            named(labels[number], release.names) if number >= 0 else "",
            int(occurrences[item]),
        )
        left -= len(row[0]) + len(row[1])
        if left < 0:
            break
        rows.append(row)
    return rows


def _rows(
    release: Release,
    labels: Sequence[str],
    behind: NDArray[np.int64],
    lost: NDArray[np.int64],
    total: int,
    names: Sequence[str] | None,
) -> list[dict[str, Any]]:
    """The published categories, the costliest first."""
    sizes = release.meaning.sizes
    general = np.flatnonzero(sizes > 1)
    general = general[np.lexsort((general, -sizes[general], -lost[general]))]
    rows, left = [], CHARACTERS
    for number in general[:ROWS].tolist():
        members = [named(item, release.names) for item in release.meaning.members(number, MEMBERS)] if left > 0 else []
        left -= sum(map(len, members))
        rows.append(
            {
                "label": named(labels[number], release.names),
                "name": short(names[number]) if names and names[number] != labels[number] else "",
                "size": int(sizes[number]),
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
    names: Mapping[str, str],
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
                    "label": named(hierarchy.labels[node], names),
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


def _supports(release: Replacement, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
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
            {
                "label": named(data.vocabulary[item], release.names),
                "before": int(before[item]),
                "after": int(after[item]),
            }
            for item in changed[:ROWS].tolist()
        ],
    }


def _entries_suppressed(release: Grouping, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
    """Sensitive items of which entries were suppressed."""
    left_out = release.details.get("suppressed_occurrences", {})
    return {
        "left_out": [(named(str(item), release.names), int(count)) for item, count in sorted(left_out.items())][:ROWS]
    }


def _listed(release: CountTable, labels: Sequence[str], data: Dataset) -> dict[str, Any]:
    """Items that are not listed, the most frequent first."""
    is_gone = (release.published.vocabulary.numbers(data.vocabulary) < 0) & (data.supports > 0)
    gone = np.flatnonzero(is_gone)
    gone = gone[np.lexsort((gone, -data.supports[gone]))]
    return {
        "n_items": int((data.supports > 0).sum()),
        "n_left_out": len(gone),
        "left_out": [
            (named(data.vocabulary[item], release.names), int(data.supports[item])) for item in gone[:ROWS].tolist()
        ],
    }


CHANGES: dict[str, Callable[[Any, Sequence[str], Dataset], dict[str, Any]]] = {
    "recoding": _recoded,
    "local-recoding": _recoded_locally,
    "replacement": _supports,
    "grouping": _entries_suppressed,
    "count-table": _listed,
}


# -- examples ----------------------------------------------------------------------------------------------------------


def examples_of(release: Release, labels: Sequence[str], data: Dataset) -> list[Mapping[str, Any]]:
    """A few short records that changed, spread over the data.

    Each has ``before`` and ``after``, lists of ``{"label", "members", "size", "mark"}``; ``mark`` says what was added
    or removed. A record of a grouping has ``group`` as well.
    """
    if not release.has_own_records:
        return []
    return data.look(lambda original: _examples_of(release, labels, original), list)


def _examples_of(release: Release, labels: Sequence[str], data: Transactions) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    rows = release.rows
    for number in np.linspace(0, max(data.n_records - 1, 0), num=min(200, data.n_records), dtype=int).tolist():
        before = [data.vocabulary[item] for item in data.record(number)]
        after = rows.record(number).tolist()
        if len(before) > 12 or len(after) > 30 or before == [labels[item] for item in after]:
            continue
        found.append(
            {
                "before": _before(release, before, [rows.vocabulary[item] for item in after]),
                "after": [_after(release, labels, item, before) for item in after],
                "group": _group(release, number) if is_grouped(release) else None,
            }
        )
        if len(found) == EXAMPLES:
            break
    return found


def _before(release: Release, before: Sequence[str], after: Sequence[str]) -> list[dict[str, Any]]:
    kept = set(after) if release.keeps_labels else set(before)
    return [
        {"label": named(label, release.names), "size": 1, "members": [], "mark": "" if label in kept else "removed"}
        for label in before
    ]


def _after(release: Release, labels: Sequence[str], number: int, before: Sequence[str]) -> dict[str, Any]:
    size = int(release.meaning.sizes[number])
    is_new = not release.is_truthful and release.published.vocabulary[number] not in before
    members = [named(item, release.names) for item in release.meaning.members(number, HINTS)] if size > 1 else []
    return {
        "label": named(labels[number], release.names),
        "size": size,
        "members": members,
        "mark": "added" if is_new else "",
    }


def _group(release: Grouping, number: int) -> dict[str, Any]:
    group = release.group_of[number]
    start, end = np.searchsorted(release.count_group, (group, group + 1))
    counts = [
        (named(release.sensitive[item], release.names), count)
        for item, count in zip(release.count_item[start:end].tolist(), release.count[start:end].tolist(), strict=True)
    ]
    return {"size": int((release.group_of == group).sum()), "counts": counts[:MEMBERS]}

"""The picture of what was generalized into what: blocks of an icicle, from the top of the hierarchy down to the items.

Blocks are as wide as the items below them are many. Neighbours too narrow to be seen are drawn as one block if the
same was done to all of them. The last line shows every item by what became of it, so that the picture is complete even
where the tree is deep.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy
from setveil.errors import times
from setveil.releases import Release
from setveil.report.charts import Block
from setveil.report.words import named

NARROW = 0.004  # of the width: narrower blocks are joined
LEVELS = 7  # of the tree drawn; below them only the items
MOST = 1_200  # blocks drawn
MEMBERS = 40  # items drawn below one published item

INTACT, GENERAL, MIXED, GONE, ABSENT = range(5)  # what became of an item
FATES = ("intact", "general", "mixed", "gone", "absent")
WORDS = (
    "published unchanged",
    "published as a category",
    "published unchanged in some records",
    "suppressed",
    "not in the data",
)


def picture_of(release: Release, labels: Sequence[str], occurs: NDArray[np.bool_]) -> list[Block]:
    """The blocks for the owner, by the hierarchy where there is one; ``occurs``: domain items that the data has."""
    fate = _fates(release, occurs)
    if release.hierarchy is None:
        return blocks_of_sets(release, labels, fate)
    return _Tree(release, release.hierarchy, fate).blocks()


def blocks_of_sets(release: Release, labels: Sequence[str], fate: NDArray[np.int8] | None = None) -> list[Block]:
    """Published items, the most general first, over the items behind them; without ``fate`` only what the files
    show.
    """
    cover, names = release.meaning, release.names
    n_items = max(len(cover.domain), 1)
    blocks = [Block(0, 0.0, 1.0, "above", "all items", f"all {len(cover.domain):,} items")]
    order = np.lexsort((np.arange(len(cover.sizes)), -cover.sizes))
    start, n_plain = 0.0, int((cover.sizes == 1).sum())
    for number in order[cover.sizes[order] > 1][:MOST].tolist():
        end = start + int(cover.sizes[number]) / n_items
        if end - start >= NARROW:
            label = named(labels[number], names)
            words = f"{label}: covers {int(cover.sizes[number]):,} items"
            blocks.append(Block(1, start, end, "general", label, words))
            members = [named(item, names) for item in cover.members(number, MEMBERS)] if fate is not None else []
            for place, member in enumerate(members):
                left = start + place / n_items
                if 1 / n_items >= NARROW:
                    words = f"{member}: published as {label}"
                    blocks.append(Block(2, left, left + 1 / n_items, "hidden", member, words))
        start = end
    rest = int(cover.sizes[cover.sizes > 1].sum()) / n_items
    if rest > start:
        blocks.append(Block(1, start, rest, "general", "small sets", "sets too small to be drawn"))
    for count, css, words in (
        (n_plain, "intact", WORDS[INTACT]),
        (int((~cover.covered).sum()), "gone", "not published"),
    ):
        if count:
            end = rest + count / n_items
            blocks.append(Block(1, rest, min(end, 1.0), css, words, f"{count:,} items {words}"))
            rest = end
    return blocks


def _fates(release: Release, occurs: NDArray[np.bool_]) -> NDArray[np.int8]:
    """What became of each item of the domain."""
    plain, general = release.unchanged_and_generalized()
    fate = np.where(plain & general, MIXED, np.where(general, GENERAL, np.where(plain, INTACT, GONE))).astype(np.int8)
    fate[~occurs & (fate == GONE)] = ABSENT
    return fate


class _Tree:
    """Blocks of a hierarchy with its cut."""

    def __init__(self, release: Release, hierarchy: Hierarchy, fate: NDArray[np.int8]) -> None:
        self.hierarchy, self.names = hierarchy, release.names
        self.along = fate[hierarchy.leaf_order]  # [leaves] depth first
        self.is_published = np.zeros(hierarchy.n_nodes, dtype=bool)
        self.is_published[release.published_nodes] = True
        self.is_uniform = release.is_uniform
        self.found: list[Block] = []

    def blocks(self) -> list[Block]:
        tree = self.hierarchy
        pending = [(tree.root, 0, "")]  # node, level, published above it
        while pending and len(self.found) < MOST:
            node, level, above = pending.pop()
            name = named(tree.published_labels[node], self.names)
            self._add(node, level, above)
            if level + 1 < LEVELS:
                covered = above or (name if self.is_published[node] and self.is_uniform else "")
                wide = [child for child in tree.children[node] if self._share(child) >= NARROW and tree.children[child]]
                pending.extend((child, level + 1, covered) for child in reversed(wide))
        depth = max((block.level for block in self.found), default=0) + 1
        self._items(depth)
        return self.found

    def _share(self, node: int) -> float:
        return float(self.hierarchy.n_leaves[node] / max(self.hierarchy.n_items, 1))

    def _add(self, node: int, level: int, above: str) -> None:
        tree = self.hierarchy
        name, n_leaves = named(tree.published_labels[node], self.names), int(tree.n_leaves[node])
        many = times(n_leaves, "item")
        if above:
            css, words = "hidden", f"{name} ({many}): published as {above}"
        elif self.is_published[node]:
            css, words = "general", f"{name}: published, covers {many}"
        else:
            css, words = "above", f"{name} ({many}): not published itself"
        n_all = tree.n_items
        self.found.append(Block(level, tree.first[node] / n_all, tree.last[node] / n_all, css, name, words))

    def _items(self, level: int) -> None:
        """The last line: runs of items with the same fate; single items where they are wide enough."""
        tree, n_all = self.hierarchy, self.hierarchy.n_items
        if 1 / n_all >= NARROW:
            bounds = np.arange(n_all + 1)
        else:
            bounds = np.concatenate(([0], np.flatnonzero(np.diff(self.along)) + 1, [n_all]))
            bounds = _joined(bounds, NARROW * n_all)
        for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            fates = np.bincount(self.along[start:end], minlength=len(FATES))
            css = FATES[int(fates.argmax())] if fates.max() == end - start else "mixed"
            fate_words = "; ".join(
                f"{int(count):,} {WORDS[number]}" for number, count in enumerate(fates.tolist()) if count
            )
            leaf = int(tree.leaf_order[start])
            name = named(tree.labels[leaf], self.names) if end - start == 1 else f"{end - start:,} items"
            words = f"{name}: {fate_words[2:]}" if end - start == 1 else f"{name}: {fate_words}"
            self.found.append(Block(level, start / n_all, end / n_all, css, name, words))


def _joined(bounds: NDArray[np.int64], least: float) -> NDArray[np.int64]:
    """Runs with those too narrow to be seen joined to their neighbours."""
    kept = [int(bounds[0])]
    for bound in bounds[1:-1].tolist():
        if bound - kept[-1] >= least:
            kept.append(bound)
    return np.array([*kept, int(bounds[-1])])

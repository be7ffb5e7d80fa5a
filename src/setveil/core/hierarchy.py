"""A tree over items: what may be published instead of what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.core.deferred import call
from setveil.core.naming import fresh_name
from setveil.core.vocabulary import Vocabulary, ascending
from setveil.errors import InputError, name_some, times

if TYPE_CHECKING:
    from os import PathLike

    from setveil.core.dataset import Dataset

ROOT_LABEL = "ALL"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A rooted tree in arrays.

    Nodes below ``n_items`` are the leaves, numbered in ascending label order; the others are inner nodes. Identity is
    the node, not its label: a leaf may carry the label of an inner node. Every node covers a contiguous run of
    ``leaf_order``. Children keep the order in which they were given, and ``preorder`` ranks nodes depth first.

    Examples:
        >>> import setveil as sv
        >>> sv.Hierarchy.from_file("taxonomy.csv")
        Hierarchy(5 items, 4 inner nodes, height 3)
    """

    labels: tuple[str, ...]
    parent: NDArray[np.int32]  # [n_nodes], -1 for the root
    n_items: int
    leaf_order: NDArray[np.int32]  # [n_items] leaves, depth first
    first: NDArray[np.int32]  # [n_nodes]
    last: NDArray[np.int32]  # [n_nodes]; node v covers leaf_order[first[v]:last[v]]
    preorder: NDArray[np.int32]  # [n_nodes] rank in the depth-first walk
    depth: NDArray[np.int32]  # [n_nodes], 0 for the root
    derived_from_data: bool = False  # the certificate says so: such a tree tells something about the data
    has_meaning: bool = True  # groups that people named; not those of ``auto``, ``fanout`` and ``levels``

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_parents(cls, parents: Sequence[int], labels: Sequence[str], derived_from_data: bool = False) -> Hierarchy:
        """From any numbering: ``parents[v]`` is the parent of ``v``, -1 for a root; several roots get a common one.

        Children are ordered as they are numbered. Nodes without children become the leaves.
        """
        n_given = len(parents)
        names, above = list(labels), [int(parent) for parent in parents]
        if len(names) != n_given or any(parent >= n_given for parent in above):
            raise ValueError("every node needs a label and a parent among the nodes")
        if n_given == 0:
            raise InputError("the hierarchy has no nodes.")
        if "" in names:
            raise InputError("a node of the hierarchy has an empty label; give every node a name.")
        roots = [node for node in range(n_given) if above[node] < 0]
        if len(roots) != 1 or n_given == 1:
            for node in roots:
                above[node] = n_given
            names.append(fresh_name(ROOT_LABEL, set(names)))
            above.append(-1)
        n_nodes = len(names)
        children: list[list[int]] = [[] for _ in range(n_nodes)]
        root = -1
        for node, parent in enumerate(above):
            if parent < 0:
                root = node
            else:
                children[parent].append(node)

        walk: list[int] = []  # given node numbers, depth first
        depth = np.full(n_nodes, -1, dtype=np.int32)
        stack = [(root, 0)]
        while stack and root >= 0:
            node, level = stack.pop()
            walk.append(node)
            depth[node] = level
            stack.extend((child, level + 1) for child in reversed(children[node]))
        if len(walk) != n_nodes:
            lost = [names[node] for node in range(n_nodes) if depth[node] < 0]
            raise InputError(
                f"the hierarchy has a cycle through {name_some(lost)}; give each node one parent above it."
            )

        leaves = [node for node in walk if not children[node]]
        leaf_labels = ascending(names[node] for node in leaves)
        if len(set(leaf_labels)) != len(leaf_labels):
            twice = [a for a, b in zip(leaf_labels, leaf_labels[1:], strict=False) if a == b]
            raise InputError(f"item {name_some(dict.fromkeys(twice))} occurs twice in the hierarchy; keep one.")
        rank = {label: number for number, label in enumerate(leaf_labels)}
        new_number = np.empty(n_nodes, dtype=np.int32)
        next_inner = len(leaves)
        for node in walk:
            if children[node]:
                new_number[node], next_inner = next_inner, next_inner + 1
            else:
                new_number[node] = rank[names[node]]

        parent_array = np.full(n_nodes, -1, dtype=np.int32)
        preorder, first, last = (np.zeros(n_nodes, dtype=np.int32) for _ in range(3))
        new_depth = np.zeros(n_nodes, dtype=np.int32)
        new_labels = [""] * n_nodes
        n_seen = 0
        for place, node in enumerate(walk):
            number = new_number[node]
            new_labels[number] = names[node]
            preorder[number] = place
            new_depth[number] = depth[node]
            if above[node] >= 0:
                parent_array[number] = new_number[above[node]]
            first[number] = n_seen
            if not children[node]:
                n_seen += 1
                last[number] = n_seen
        for node in reversed(walk):  # children before their parents
            if children[node]:
                last[new_number[node]] = last[new_number[children[node][-1]]]
        leaf_order = new_number[leaves].astype(np.int32)
        return cls(
            tuple(new_labels),
            parent_array,
            len(leaves),
            leaf_order,
            first,
            last,
            preorder,
            new_depth,
            derived_from_data,
        )

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], derived_from_data: bool = False) -> Hierarchy:
        """From leaf-to-root label paths, root or forest. An inner node is identified by its label path from the top.

        Examples:
            >>> sv.Hierarchy.from_paths([("milk", "dairy", "all"), ("bread", "food", "all")]).n_items
            2
        """
        number: dict[tuple[int, str, bool], int] = {}
        parents: list[int] = []
        labels: list[str] = []
        for path in paths:
            above = -1
            for depth in range(len(path) - 1, -1, -1):
                # A leaf is marked, so that an item may repeat the label of a category beside it.
                key = (above, path[depth], depth == 0)
                if key not in number:
                    number[key] = len(labels)
                    parents.append(above)
                    labels.append(path[depth])
                above = number[key]
        return cls.from_parents(parents, labels, derived_from_data)

    @classmethod
    def from_file(cls, path: str | PathLike[str], **options: object) -> Hierarchy:
        """Read a hierarchy file in any supported format (see ``docs/formats.md``).

        Examples:
            >>> sv.Hierarchy.from_file("taxonomy.csv").height > 0
            True
        """
        made: Hierarchy = call("Hierarchy.from_file", path, **options)
        return made

    @classmethod
    def balanced(cls, data: Dataset | Vocabulary, fanout: int = 5) -> Hierarchy:
        """A balanced tree over the items in ascending order.

        Examples:
            >>> sv.Hierarchy.balanced(sv.read("baskets.txt"), fanout=2).n_items
            5
        """
        made: Hierarchy = call("Hierarchy.balanced", data if isinstance(data, Vocabulary) else data.vocabulary, fanout)
        return made

    @classmethod
    def prefix(cls, data: Dataset | Vocabulary, lengths: Sequence[int]) -> Hierarchy:
        """Codes grouped by their leading characters, as in ICD.

        Examples:
            >>> tree = sv.Hierarchy.prefix(sv.read([["A01", "A02", "B10"]]), (1,))
            >>> "A*" in tree.labels, tree.height
            (True, 2)
        """
        made: Hierarchy = call("Hierarchy.prefix", data if isinstance(data, Vocabulary) else data.vocabulary, lengths)
        return made

    @classmethod
    def auto(cls, data: Dataset, method: str = "") -> Hierarchy:
        """A hierarchy built from the data for a low loss; its categories have no meaning for people.

        Examples:
            >>> sv.Hierarchy.auto(sv.read("baskets.txt")).n_items
            5
        """
        made: Hierarchy = call("Hierarchy.auto", data, method)
        return made

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Leaves and inner nodes."""
        return len(self.labels)

    @cached_property
    def root(self) -> int:
        """The node that covers every item."""
        return int(np.flatnonzero(self.parent < 0)[0])

    @cached_property
    def height(self) -> int:
        """Depth of the deepest node."""
        return int(self.depth.max())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The leaves' labels; leaf ``i`` has number ``i``."""
        return Vocabulary.presorted(self.labels[: self.n_items])

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """How many items each node stands for, int64[n_nodes]."""
        return (self.last - self.first).astype(np.int64)

    @cached_property
    def branches(self) -> NDArray[np.int32]:
        """The top-level branch of each item, a node below the root, int32[n_items]; a root with one child counts as
        that child. Items of different branches have no common group but the whole.
        """
        top = self.root
        while len(self.children[top]) == 1:
            top = self.children[top][0]
        branch = np.empty(self.n_items, dtype=np.int32)
        for node in self.children[top] or (top,):
            branch[self.leaves(node)] = node
        return branch

    @cached_property
    def in_preorder(self) -> NDArray[np.int32]:
        """Nodes in depth-first order."""
        return np.argsort(self.preorder).astype(np.int32)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in order; empty for leaves."""
        lists: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for node in self.in_preorder.tolist():
            if self.parent[node] >= 0:
                lists[self.parent[node]].append(node)
        return tuple(tuple(nodes) for nodes in lists)

    @cached_property
    def published_labels(self) -> tuple[str, ...]:
        """A unique label per node, which depends on the hierarchy only: leaves keep theirs, repeated ones are
        marked.
        """
        labels = list(self.labels)
        taken = set(labels[: self.n_items])
        for node in self.in_preorder.tolist():
            if node >= self.n_items:
                labels[node] = fresh_name(labels[node], taken)
                taken.add(labels[node])
        return tuple(labels)

    def leaves(self, node: int) -> NDArray[np.int32]:
        """The items that a node covers, depth first."""
        return self.leaf_order[self.first[node] : self.last[node]]

    def ancestors(self, node: int) -> list[int]:
        """From the node itself up to the root."""
        path = [node]
        while self.parent[path[-1]] >= 0:
            path.append(int(self.parent[path[-1]]))
        return path

    def covers(self, node: int, other: int) -> bool:
        """Whether ``node`` is ``other`` or above it. Leaf runs alone cannot tell nodes of a unary chain apart."""
        return bool(
            self.first[node] <= self.first[other]
            and self.last[other] <= self.last[node]
            and self.depth[node] <= self.depth[other]
        )

    def __repr__(self) -> str:
        return f"Hierarchy({self.n_items:,} items, {self.n_nodes - self.n_items:,} inner nodes, height {self.height})"

    def to_file(self, path: str, format: str = "csv") -> None:
        """Write as ``csv`` (leaf to root), ``edges``, ``amnesia`` or ``amnesia-json``.

        Examples:
            >>> sv.Hierarchy.from_file("taxonomy.csv").to_file("again.csv")
            >>> sv.Hierarchy.from_file("again.csv").n_items
            5
        """
        call("Hierarchy.to_file", self, path, format)

    # -- meeting the data -----------------------------------------------------------------------------------------

    def leaf_of_items(self, vocabulary: Vocabulary, whose: str = "of the data") -> NDArray[np.int32]:
        """The leaf of each item of a vocabulary, int32[n_items]; items that are not leaves are an error that names
        them, and says ``whose`` they are.
        """
        leaves = self.vocabulary.numbers(vocabulary)
        missing = [vocabulary[int(item)] for item in np.flatnonzero(leaves < 0)]
        if missing:
            self._refuse_inner_nodes(missing)
            raise InputError(
                f"the hierarchy lacks {times(len(missing), 'item')} {whose}: {name_some(missing)}; "
                "add what is missing, or use --unknown-items root to put such items directly below the root."
            )
        return leaves

    def restricted(self, items: Collection[str]) -> Hierarchy:
        """The hierarchy without all leaves but ``items``, and without nodes that have none of them below."""
        is_kept = np.zeros(self.n_nodes, dtype=bool)
        is_kept[[leaf for leaf in range(self.n_items) if self.labels[leaf] in items]] = True
        for node in self.in_preorder[::-1].tolist():  # children before their parents
            if is_kept[node] and self.parent[node] >= 0:
                is_kept[self.parent[node]] = True
        kept = [node for node in self.in_preorder.tolist() if is_kept[node]]
        place = {node: number for number, node in enumerate(kept)}
        parents = [place.get(int(self.parent[node]), -1) for node in kept]
        tree = Hierarchy.from_parents(parents, [self.labels[node] for node in kept], self.derived_from_data)
        return replace(tree, has_meaning=self.has_meaning)

    def with_items_below_root(self, labels: Iterable[str]) -> Hierarchy:
        """A copy in which the given labels are additional leaves directly below the root (``--unknown-items root``)."""
        added = ascending(labels)
        self._refuse_inner_nodes(added)
        order = self.in_preorder
        place = {int(node): number for number, node in enumerate(order)}
        parents = [place[int(self.parent[node])] if self.parent[node] >= 0 else -1 for node in order]
        names = [self.labels[node] for node in order]
        parents.extend(0 for _ in added)
        tree = Hierarchy.from_parents(parents, names + added, derived_from_data=bool(added) or self.derived_from_data)
        return replace(tree, has_meaning=self.has_meaning)

    def _refuse_inner_nodes(self, items: Iterable[str]) -> None:
        inner = set(self.labels[self.n_items :])
        generalized = [label for label in items if label in inner]
        if generalized:
            raise InputError(
                f"the data holds {name_some(generalized)}, which the hierarchy has as an inner node; "
                "replace it by its items or add it to the hierarchy as an item."
            )

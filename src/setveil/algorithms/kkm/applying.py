"""The classes of an earlier release for new people.

A new person goes to the class of the earlier release whose published columns cover the person's values; of several, to
the one that loses least. There, an item is published as the most specific label of that class that covers it, or
suppressed if there is none. What would break the guarantee among the new people is suppressed, too (``trim``).

People for whom there is no class, and classes with too few new people or sensitive values, are gathered and get new
classes of the algorithm. So the result has the labels of the earlier release wherever enough new people have them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.kkm.item_part import Nodes, protect_offered
from setveil.algorithms.kkm.people import Found, People, ancestors_of
from setveil.core import Hierarchy, Transactions
from setveil.core.columns import Columns
from setveil.core.naming import fresh_name
from setveil.errors import InfeasibleError, InputError, name_some, times
from setveil.models import KKmAnonymity
from setveil.releases import Release


@dataclass(frozen=True)
class ClasswiseAlgorithm(Algorithm):
    """An algorithm that makes classes of people with equal columns."""

    @abstractmethod
    def find(self, people: People, context: Context) -> Found:
        """The classes and what they publish; InfeasibleError where the options cannot be kept."""

    def apply(
        self, earlier: Release, data: Transactions, model: KKmAnonymity, context: Context, unknown_items: str
    ) -> tuple[Release, list[str]]:
        hierarchy = items_of(earlier, data, unknown_items)
        people = People.of(data, model)
        found = EarlierClasses(earlier, people)
        rest = gather_rest(people, found.class_of)
        class_of = found.class_of.copy()
        class_of[rest] = -1
        column_nodes = np.zeros((people.n_records, len(people.trees)), dtype=np.int32)
        column_nodes[class_of >= 0] = found.nodes[class_of[class_of >= 0]]
        if len(rest):
            column_nodes[rest] = self._new_classes(people, rest, context)
        kept, joined = np.unique(column_nodes, axis=0, return_inverse=True)
        offered = found.offered(people, class_of, hierarchy, earlier)
        nodes = protect_offered(people, joined.reshape(-1), offered, hierarchy, context)
        used = replace(context, hierarchy=hierarchy)
        details = {"classes": len(kept), "people_in_new_classes": len(rest)}
        release = people.release(joined.reshape(-1), nodes, used, details, kept)
        notes = found.new_values()
        if len(rest):
            notes.append(
                f"{len(rest):,} of {people.n_records:,} people are in new classes: the earlier release has no class "
                "for them, or too few of the new people are in it."
            )
        return release, notes

    def _new_classes(self, people: People, rest: NDArray[np.int64], context: Context) -> NDArray[np.int32]:
        """What people without a class publish in their columns, int32[rest, columns]."""
        part = People.of(people.rows.select(rest), people.model)
        try:
            class_of = self.find(part, replace(context, hierarchy=None)).class_of
        except InfeasibleError:
            class_of = np.zeros(len(rest), dtype=np.int64)
        return part.class_nodes(class_of)[class_of][np.argsort(part.order)]


class EarlierClasses:
    """The classes of an earlier release in the trees of the new people's columns."""

    def __init__(self, earlier: Release, people: People) -> None:
        self.people = people
        wanted = (people.data.columns or Columns(())).with_role("known").names
        self.columns = (earlier.published.columns or Columns(())).named(wanted)
        owner = self.columns.classes(earlier.published.n_records)
        _, first = np.unique(owner, return_index=True)
        known = np.zeros((len(first), len(self.columns)), dtype=np.int32)
        for number, (column, tree) in enumerate(zip(self.columns, people.trees, strict=True)):
            node_of = {label: node for node, label in enumerate(tree.published_labels)}
            nodes = np.array([node_of.get(value, -1) for value in column.values], dtype=np.int32)
            known[:, number] = nodes[column.codes[first]]
        self.nodes = known  # [earlier classes, columns]
        self.shown = np.unique(owner[earlier.rows.owners] * max(earlier.published.n_items, 1) + earlier.rows.items)
        self.class_of = self._best()[people.cell_of]

    def _best(self) -> NDArray[np.int64]:
        """The class of each cell, -1 if none covers it, int64[n_cells]."""
        people = self.people
        there = np.flatnonzero((self.nodes >= 0).all(axis=1))
        prefix = np.zeros(len(there), dtype=np.int64)  # of each class: its nodes so far
        cell, at = np.arange(people.n_cells), np.zeros(people.n_cells, dtype=np.int64)
        for number, (tree, above) in enumerate(zip(people.trees, people.ancestors, strict=True)):
            keys, prefix = np.unique(prefix * tree.n_nodes + self.nodes[there, number], return_inverse=True)
            pairs = []
            for nodes in above:
                wanted = at * tree.n_nodes + nodes[people.cells[cell, number]]
                place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
                is_found = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
                pairs.append(np.stack((cell[is_found], place[is_found])))
            cell, at = np.unique(np.concatenate(pairs, axis=1), axis=1)
        best = np.full(people.n_cells, -1, dtype=np.int64)
        if len(there):
            classes = there[np.argsort(prefix)]  # [prefixes] one class each
            losses = people.column_costs(self.nodes, np.ones(len(self.nodes), dtype=np.int64))[classes[at]]
            order = np.lexsort((at, losses))[::-1]  # the lowest loss comes last and stays
            best[cell[order]] = classes[at[order]]
        return best

    def offered(self, people: People, class_of: NDArray[np.int64], hierarchy: Hierarchy, earlier: Release) -> Nodes:
        """What each public entry may be published as, -1 for nothing; in a new class every item that is known."""
        public = people.public
        leaf = hierarchy.leaf_of_items(public.vocabulary)[public.items]
        known = earlier_items(earlier)
        is_known = np.array([label in known for label in public.vocabulary], dtype=bool)[public.items]
        owner = class_of[public.owners]
        nodes = np.where(is_known & ((owner < 0) | (people.model.m == 0)), leaf, -1).astype(np.int64)
        label = earlier.published.vocabulary.numbers(hierarchy.published_labels)
        above = ancestors_of(hierarchy)
        for depth in range(hierarchy.height, -1, -1):
            node = above[depth, leaf]
            wanted = owner * max(earlier.published.n_items, 1) + label[node]
            is_shown = (nodes < 0) & (owner >= 0) & (label[node] >= 0) & is_known & np.isin(wanted, self.shown)
            nodes[is_shown] = node[is_shown]
        return nodes

    def new_values(self) -> list[str]:
        """One line per column with values that no published value of the earlier release covers."""
        notes = []
        for column, tree, above in zip(self.columns, self.people.trees, self.people.ancestors, strict=True):
            is_known = np.zeros(tree.n_nodes, dtype=bool)
            is_known[[node for node, label in enumerate(tree.published_labels) if label in column.values]] = True
            used = np.unique(self.people.cells[:, self.columns.names.index(column.name)])
            strangers = [tree.labels[leaf] for leaf in used[~is_known[above[:, used]].any(axis=0)].tolist()]
            if strangers:
                notes.append(
                    f'column "{column.name}": {times(len(strangers), "value")} that the earlier release does not '
                    "cover: "
                    f"{name_some(strangers)}."
                )
        return notes


def gather_rest(people: People, class_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """People who need a new class: enough for one, unless there is nobody."""
    n_classes = int(class_of.max(initial=-1)) + 1
    viable = people.is_viable(class_of, n_classes)
    is_rest = (class_of < 0) | ~np.append(viable, False)[class_of]
    sizes = np.bincount(class_of[class_of >= 0], minlength=n_classes)
    for smallest in np.argsort(sizes, kind="stable").tolist():
        if not is_rest.any() or people.is_viable(np.where(is_rest, 0, -1), 1)[0]:
            break
        is_rest |= class_of == smallest
    return np.flatnonzero(is_rest)


def earlier_items(earlier: Release) -> set[str]:
    """The items that an earlier release knows."""
    leaves = earlier.hierarchy.vocabulary if earlier.hierarchy is not None else ()
    return {*earlier.shown_items, *earlier.codebook().get("", ()), *leaves}


def items_of(earlier: Release, data: Transactions, unknown_items: str) -> Hierarchy:
    """The hierarchy of items: that of the earlier release, or what its codebook says, and unknown items below the root.

    Raises:
        InputError: the earlier release does not know an item, and it is not to be suppressed.
    """
    strangers = sorted(set(data.used_items().vocabulary) - earlier_items(earlier))
    if strangers and unknown_items == "error":
        raise InputError(
            f"the recoding does not know {name_some(strangers)}; remove these items from the data, or use "
            "--unknown-items suppress."
        )
    tree = earlier.hierarchy
    if tree is not None:
        return tree.with_items_below_root(strangers) if strangers else tree
    book = earlier.codebook()
    above: dict[str, list[str]] = {item: [] for item in (*data.vocabulary, *book.get("", ()))}
    for label in sorted(book, key=lambda label: (len(book[label]), label)):
        for item in book[label] if label else ():
            above.setdefault(item, []).extend([label] if label != item else [])
    root = fresh_name("*", {*above, *book})
    return Hierarchy.from_paths([[item, *labels, root] for item, labels in sorted(above.items())], True)

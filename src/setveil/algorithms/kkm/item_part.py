"""The items of classes: every class is made k^m-anonymous by itself, all of them in one go.

An itemset never mixes classes, so items are renumbered per class, (class, item), and ``trim`` runs over many classes at
once: an itemset of such items is in k records if and only if k people of the class show it. With an item hierarchy a
class may begin at one of several levels, what is suppressed there is offered at the nodes above, and each class takes
what loses least (NCP).

Where k depends on the number of known items, the sizes with the same k take their turns until nothing changes. Entries
are only suppressed, so there is an end, and in the last turn every size was safe.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, make_algorithm
from setveil.algorithms.kkm.estimates import start_depths
from setveil.algorithms.kkm.people import People, ancestors_of, item_hierarchy, losses_of
from setveil.algorithms.km.generalizing import add_offers
from setveil.algorithms.km.trim import trim_rows
from setveil.arrays.threads import map_in_order
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.core.row_order import entries_of
from setveil.errors import InfeasibleError, InputError
from setveil.models import KKmAnonymity, KmAnonymity

AT_ONCE = 20_000  # people of the classes that are made safe together
TRIM = "trim"

Nodes = NDArray[np.int64]  # the node of the item hierarchy of each public entry, -1 if it is suppressed


def protect_items(
    people: People, class_of: NDArray[np.int64], context: Context, algorithm: str = TRIM, effort: str = "normal"
) -> tuple[Nodes, float]:
    """What to publish for each public entry, and what all of them lose at least in these classes.

    ``class_of`` -1: the record takes no part, and nothing of it is published.
    """
    public, model = people.public, people.model
    hierarchy = item_hierarchy(people.data, context)
    leaves = hierarchy.leaf_of_items(public.vocabulary)[public.items].astype(np.int64)
    if model.m == 0:
        return np.where(class_of[public.owners] >= 0, leaves, -1), 0.0
    protect: Callable[[ClassRows], tuple[Nodes, float]]
    if algorithm == TRIM:
        # Levels above the items only with a hierarchy of the user.
        depths = start_depths(hierarchy) if context.hierarchy is not None else [hierarchy.height]
        quiet = Context(hierarchy=context.hierarchy, cancelled=context.cancelled)
        protect = partial(
            trim_classes, model=model, hierarchy=hierarchy, depths=depths, effort=effort, context=quiet
        )  # fmt: skip
    else:
        protect = partial(recode_classes, model=model, hierarchy=hierarchy, algorithm=find_algorithm(algorithm))
    return _by_parts(public, class_of, leaves, protect, context)


def protect_offered(
    people: People, class_of: NDArray[np.int64], offered: Nodes, hierarchy: Hierarchy, context: Context
) -> Nodes:
    """What is published for each public entry, if nothing but the nodes offered may be."""
    if people.model.m == 0:
        return offered
    quiet = Context(hierarchy=hierarchy, cancelled=context.cancelled)

    def protect(rows: ClassRows) -> tuple[Nodes, float]:
        return trim_nodes(rows, rows.leaf, None, people.model, hierarchy, "normal", quiet)

    return _by_parts(people.public, class_of, offered, protect, context)[0]


def _by_parts(
    public: Transactions,
    class_of: NDArray[np.int64],
    leaves: Nodes,
    protect: Callable[[ClassRows], tuple[Nodes, float]],
    context: Context,
) -> tuple[Nodes, float]:
    """Some classes at a time."""
    nodes = np.full(public.n_occurrences, -1, dtype=np.int64)
    order = np.argsort(class_of, kind="stable")
    order = order[class_of[order] >= 0]
    parts = parts_of(class_of[order])
    supply = (ClassRows.of(public, leaves, order[first:last], class_of) for first, last in parts)
    bound = 0.0
    for number, (rows, shown, least) in enumerate(map_in_order(lambda rows: (rows, *protect(rows)), supply)):
        nodes[rows.entries] = shown
        bound += least
        context.step("protecting items", (number + 1) / len(parts))
    return nodes, bound


def parts_of(classes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of whole classes with about AT_ONCE people each; ``classes`` ascending."""
    ends = np.append(np.flatnonzero(np.diff(classes)) + 1, len(classes))
    bounds = [0]
    for end in ends.tolist():
        if end - bounds[-1] >= AT_ONCE or end == len(classes):
            bounds.append(end)
    return [(first, last) for first, last in zip(bounds[:-1], bounds[1:], strict=True) if last > first]


class ClassRows(NamedTuple):
    """The public entries of some classes."""

    entries: NDArray[np.int64]  # [own entries] in the rows of all people
    owner: NDArray[np.int64]  # [own entries] record, 0, 1, …
    group: NDArray[np.int64]  # [own records] class, 0, 1, …
    leaf: NDArray[np.int64]  # [own entries] of the item hierarchy

    @classmethod
    def of(
        cls, public: Transactions, leaves: Nodes, records: NDArray[np.int64], class_of: NDArray[np.int64]
    ) -> ClassRows:
        """The entries of some records, which are ordered by class."""
        bounds, entries = entries_of(public.indptr, records)
        owner = np.repeat(np.arange(len(records)), np.diff(bounds))
        group = np.unique(class_of[records], return_inverse=True)[1].reshape(-1)
        return cls(entries, owner, group, leaves[entries])

    @property
    def n_groups(self) -> int:
        """How many classes."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def group_of_entry(self) -> NDArray[np.int64]:
        """The class of each entry."""
        return self.group[self.owner]


# -- by trim ----------------------------------------------------------------------------------------------------------


def trim_classes(
    rows: ClassRows, model: KKmAnonymity, hierarchy: Hierarchy, depths: list[int], effort: str, context: Context
) -> tuple[Nodes, float]:
    """Begin at each of the depths; every class takes what loses least."""
    losses = np.append(losses_of(hierarchy), 1.0)
    above = ancestors_of(hierarchy)
    best, least = np.full(len(rows.leaf), -1, dtype=np.int64), np.full(rows.n_groups, np.inf)
    bound = 0.0
    for depth in depths:
        shown, found = trim_nodes(
            rows, above[depth, rows.leaf].astype(np.int64), None, model, hierarchy, effort, context
        )
        if len(depths) == 1:
            bound = found
        else:
            shown = raise_suppressed(rows, shown, depth, model, hierarchy, effort, context)
        lost = np.bincount(rows.group_of_entry, losses[shown], rows.n_groups)
        is_better = lost < least
        least[is_better] = lost[is_better]
        takes = is_better[rows.group_of_entry]
        best[takes] = shown[takes]
    return best, bound


def raise_suppressed(
    rows: ClassRows, shown: Nodes, depth: int, model: KKmAnonymity, hierarchy: Hierarchy, effort: str, context: Context
) -> Nodes:
    """Offer suppressed entries as the nodes above, level by level; what is shown stays."""
    above = ancestors_of(hierarchy)
    for higher in range(depth - 1, 0, -1):
        node = above[higher, rows.leaf].astype(np.int64)
        offered = (shown < 0) & (hierarchy.n_leaves[node] > 1)
        if not offered.any():
            continue
        stays = shown >= 0
        tried, _ = trim_nodes(rows, np.where(offered, node, shown), stays, model, hierarchy, effort, context)
        is_hurt = np.bincount(rows.group_of_entry[stays & (tried < 0)], minlength=rows.n_groups) > 0
        shown = np.where(is_hurt[rows.group_of_entry], shown, tried)
    return shown


def trim_nodes(
    rows: ClassRows,
    offered: Nodes,
    stays: NDArray[np.bool_] | None,
    model: KKmAnonymity,
    hierarchy: Hierarchy,
    effort: str,
    context: Context,
) -> tuple[Nodes, float]:
    """What is left of the nodes offered for each entry, -1 for nothing, when every class is made safe; and what is lost
    at least, in entries.

    ``stays``: entries that are safe by themselves and are kept.
    """
    shown, bound = offered, None
    turns = turns_of(model)
    while True:
        before = int((shown >= 0).sum())
        for k, m in turns:
            shown, least = _trim_once(rows, shown, stays, KmAnonymity(k, m), hierarchy, effort, context)
            bound = least if bound is None else bound  # of what was offered, before anything is suppressed
        if len(turns) == 1 or int((shown >= 0).sum()) == before:
            return shown, bound or 0.0


def turns_of(model: KKmAnonymity) -> list[tuple[int, int | Literal["all"]]]:
    """``(k, m)`` of each k^m-anonymity that makes up the item part of the model."""
    return [(k, "all" if last is None else last) for k, _, last in model.graded]


def _trim_once(
    rows: ClassRows,
    shown: Nodes,
    stays: NDArray[np.bool_] | None,
    model: KmAnonymity,
    hierarchy: Hierarchy,
    effort: str,
    context: Context,
) -> tuple[Nodes, float]:
    there = np.flatnonzero(shown >= 0)
    key = rows.group_of_entry[there] * hierarchy.n_nodes + shown[there]  # (class, node)
    labels, number = np.unique(key, return_inverse=True)
    number = number.reshape(-1)
    worth = _worth_of(labels % hierarchy.n_nodes, hierarchy)
    left = np.full(len(shown), -1, dtype=np.int64)
    if stays is not None:
        is_shown = add_offers(rows.owner[there], number, ~stays[there], worth, len(rows.group), model, context)
        left[there] = np.where(is_shown, shown[there], -1)
        return left, 0.0
    width = max(len(labels), 1)
    pairs = rows.owner[there] * width + number
    once, place = np.unique(pairs, return_inverse=True)  # a record shows each label once
    support = np.bincount(once % width, minlength=len(labels))
    is_frequent = support >= model.k
    kept = np.zeros(len(once), dtype=bool)
    in_play = np.flatnonzero(is_frequent[once % width])
    new_number = np.cumsum(is_frequent) - 1
    n_labels = int(is_frequent.sum())
    bound = float((~is_frequent[number]).sum())
    if len(in_play):
        vocabulary = Vocabulary.presorted(tuple(map(str, range(n_labels))))
        n_records = len(rows.group)
        offered = Transactions.from_pairs(
            once[in_play] // width, new_number[once[in_play] % width], n_records, vocabulary
        )  # fmt: skip
        trimmed = trim_rows(offered, worth[is_frequent], model, effort, context)
        kept[in_play] = trimmed.kept
        bound += trimmed.lower_bound
    left[there] = np.where(kept[place.reshape(-1)], shown[there], -1)
    return left, bound


def _worth_of(nodes: Nodes, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """What publishing a node keeps of an entry, above 0."""
    kept = np.maximum(1.0 - hierarchy.n_leaves[nodes] / hierarchy.n_items, 0.001)
    return np.where(hierarchy.n_leaves[nodes] == 1, 1.0, kept)


# -- by other algorithms ----------------------------------------------------------------------------------------------


def find_algorithm(name: str) -> Algorithm:
    """An algorithm for k^m-anonymity that publishes nodes of a hierarchy."""
    from setveil.algorithms.registry import find_for

    entry = find_for("km", name)
    if entry.hierarchy != "required":
        raise InputError(
            f'algorithm "{name}" cannot be used inside classes; use {TRIM}, or one that needs a hierarchy, such as aa.'
        )
    return make_algorithm(entry.load(), name, {})


def recode_classes(
    rows: ClassRows, model: KKmAnonymity, hierarchy: Hierarchy, algorithm: Algorithm
) -> tuple[Nodes, float]:
    """Each class alone. A class in which too few people have items shows none."""
    strictest = KmAnonymity(model.k_for(1), model.m if model.m == "all" else max(model.m, 1))
    nodes = np.full(len(rows.leaf), -1, dtype=np.int64)
    starts = np.searchsorted(rows.group, np.arange(rows.n_groups + 1))
    for group in range(rows.n_groups):
        first, last = np.searchsorted(rows.owner, starts[group : group + 2])
        if first == last:
            continue
        used, number = np.unique(rows.leaf[first:last], return_inverse=True)
        vocabulary = Vocabulary([hierarchy.labels[leaf] for leaf in used.tolist()])
        again = vocabulary.numbers([hierarchy.labels[leaf] for leaf in used.tolist()])[number.reshape(-1)]
        n_records = int(starts[group + 1] - starts[group])
        data = Transactions.from_pairs(rows.owner[first:last] - starts[group], again, n_records, vocabulary)
        in_order = np.lexsort((again, rows.owner[first:last]))
        try:
            release: Any = algorithm.run(data, strictest, Context(hierarchy=hierarchy))
        except InfeasibleError:
            continue
        found = release.nodes_of_entries(data).astype(np.int64)
        nodes[np.arange(first, last)[in_order]] = found
    return nodes, 0.0

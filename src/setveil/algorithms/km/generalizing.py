"""Publish suppressed entries as nodes of a hierarchy, and all others as they are: the most that counts can gain.

Any suppression will do (``trim`` begins with its own): suppressed entries are offered as the nodes above them, level by
level, and as many offers are added as are safe beside what is shown. A node is worth one of its items (1/n), which is
what a count can make of it.

Assumed: in what is shown, every set of at most m labels is shown by k records or by none (m="all": every record is
contained in k). Ensured: the same, and no label that was shown is lost. Labels are counted as opaque items.
"""

from __future__ import annotations

import numpy as np

from setveil.algorithms.base import Context
from setveil.algorithms.km._label_sets import (
    LARGEST_KEY,
    N_SETS,
    Bools,
    Floats,
    Ints,
    Sweeps,
    count_faces,
    faces_of,
    return_offers,
    withdraw_offers,
)
from setveil.algorithms.km.whole_records import show_common_parts
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.models import KmAnonymity

MOST_OFFERED = 1_000_000_000  # combinations with offers; with more, records are compared as a whole


def generalize_suppressed(
    records: Transactions, shown: Ints, value: Floats, hierarchy: Hierarchy, model: KmAnonymity, context: Context
) -> Ints:
    """The node to publish for each entry, -1 for none; from ``shown``, leaves that are safe.

    ``value`` is what each entry is worth.
    """
    shown = shown.copy()
    above = hierarchy.parent[hierarchy.leaf_of_items(records.vocabulary)[records.items]].astype(np.int64)
    while (above >= 0).any():
        tells = (hierarchy.n_leaves[above] > 1) & (hierarchy.n_leaves[above] < hierarchy.n_items)
        offered = (shown < 0) & (above >= 0) & tells
        if offered.any():
            there = np.flatnonzero(offered | (shown >= 0))
            nodes, is_new = np.where(offered, above, shown)[there], offered[there]
            n_entries = np.bincount(nodes, minlength=hierarchy.n_nodes)
            worth = np.bincount(nodes, value[there], hierarchy.n_nodes) / np.maximum(n_entries, 1)
            offers = records.owners[there], nodes, is_new, worth / hierarchy.n_leaves
            kept = add_offers(*offers, records.n_records, model, context)
            if kept[~is_new].all():
                shown[there] = np.where(kept, nodes, -1)
        above = np.where(above >= 0, hierarchy.parent[above], -1)
    return shown


def add_offers(
    owners: Ints, labels: Ints, is_new: Bools, worth: Floats, n_records: int, model: KmAnonymity, context: Context
) -> Bools:
    """Which entries to publish, bool[entries]: those that are not new, which are safe by themselves, and of the new
    ones, which are offered, as many as are safe, too.

    ``owners`` ascending; ``labels`` are numbers, as published; ``worth`` of each label, above 0. Where records are
    compared as a whole (m="all"), a label that is new somewhere may be lost where it is not.
    """
    kept = None
    if model.m != "all":
        kept = add_offered(owners, labels, is_new, worth, n_records, model.k, model.m, context)
    if kept is None:
        known, number = np.unique(labels, return_inverse=True)
        vocabulary = Vocabulary.presorted(tuple(map(str, range(len(known)))))
        rows = Transactions.from_pairs(owners, number, n_records, vocabulary)
        stays = np.bincount(number, is_new, len(known)) == 0
        shown = show_common_parts(rows, model.k, worth[known], context, stays)
        kept = shown[np.searchsorted(rows.owners * len(known) + rows.items, owners * len(known) + number)]
    return kept


def add_offered(
    owners: Ints, labels: Ints, is_new: Bools, worth: Floats, n_records: int, k: int, m: int, context: Context
) -> Bools | None:
    """Which entries to publish, bool[entries]: all that are not new, which are safe by themselves, and some that are.

    ``owners`` ascending; ``worth`` of each label, above 0. None if there are too many combinations to count.
    """
    is_own_label = np.zeros(len(worth), dtype=bool)
    is_own_label[labels[is_new]] = True
    is_concerned = np.zeros(n_records, dtype=bool)
    is_concerned[owners[is_own_label[labels]]] = True
    inside = np.flatnonzero(is_concerned[owners])
    owner, label = (np.cumsum(is_concerned) - 1)[owners[inside]], labels[inside]
    is_known = np.zeros(len(worth), dtype=bool)
    is_known[label] = True
    number = np.cumsum(is_known)[label]  # from 1
    m = min(m, int(np.bincount(owner).max(initial=1)))
    faces, order, place = faces_of(owner, number, is_own_label[label], is_new[inside], m)
    width = int(is_known.sum()) + 1
    if width**m > LARGEST_KEY or faces[:, N_SETS].sum() > MOST_OFFERED:
        return None
    shown = number[order]
    offers = np.where(is_new[inside][order], shown, 0)
    value = np.append(1.0, worth[is_known])
    sweeps = Sweeps(faces, k, m, width, context)
    sweeps.through(count_faces, faces, shown)
    turned = np.zeros(width, dtype=np.int64)
    while sweeps.through(withdraw_offers, faces, shown, offers, value, turned):
        pass
    sweeps.through(return_offers, faces, shown, offers)
    kept = np.ones(len(labels), dtype=bool)
    kept[inside] = shown[place] > 0
    return kept

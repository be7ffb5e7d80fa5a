"""Small random releases together with what they mean."""

from __future__ import annotations

import random

import numpy as np

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.releases import Grouping, LocalRecoding, Recoding, Replacement
from tests.naive.databases import ITEMS, random_cut, random_paths, random_records


def cut_of(hierarchy: Hierarchy, published: dict[str, str]) -> np.ndarray:
    """The cut as node numbers, from labels that are unique in the random trees."""
    number = {label: node for node, label in enumerate(hierarchy.labels)}
    return np.array([number[published[leaf]] if published[leaf] else -1 for leaf in hierarchy.vocabulary])


def meaning_of(hierarchy: Hierarchy, cut: np.ndarray) -> dict[str, frozenset[str]]:
    return {
        leaf: frozenset(hierarchy.labels[i] for i in hierarchy.leaves(int(cut[number])))
        if cut[number] >= 0
        else frozenset()
        for number, leaf in enumerate(hierarchy.vocabulary)
    }


def random_recoding(source: random.Random) -> tuple[Transactions, Recoding, dict[str, frozenset[str]]]:
    """Data, a recoding of it with or without a hierarchy, and what each item is published as."""
    data = Transactions.from_lists(random_records(source))
    if source.random() < 0.5:
        paths = random_paths(source)
        hierarchy = Hierarchy.from_paths(paths)
        cut = cut_of(hierarchy, random_cut(source, paths))
        return data, Recoding.from_cut(data, hierarchy, cut), meaning_of(hierarchy, cut)
    domain = Vocabulary(ITEMS)
    cluster = np.array([source.choice((-1, 0, 1, 2, 3)) for _ in domain])
    groups = {c: frozenset(ITEMS[i] for i in np.flatnonzero(cluster == c)) if c >= 0 else frozenset() for c in cluster}
    meaning = {item: groups[cluster[number]] for number, item in enumerate(domain)}
    return data, Recoding.from_clusters(data, cluster, domain=domain), meaning


def random_local(source: random.Random) -> tuple[Transactions, LocalRecoding, list[list[frozenset[str]]]]:
    """Every record with a cut of its own."""
    data = Transactions.from_lists(random_records(source))
    paths = random_paths(source)
    hierarchy = Hierarchy.from_paths(paths)
    nodes, meanings = [], []
    for record in data.to_lists():
        cut = cut_of(hierarchy, random_cut(source, paths))
        meaning = meaning_of(hierarchy, cut)
        nodes += [int(cut[hierarchy.vocabulary.number(item)]) for item in record]
        meanings.append([meaning[item] for item in record])
    return data, LocalRecoding.from_nodes(data, hierarchy, np.array(nodes, dtype=np.int32)), meanings


def random_replacement(source: random.Random) -> tuple[Transactions, Replacement, list[list[str]]]:
    """Data, classes with centres of any content, and the centres."""
    data = Transactions.from_lists(random_records(source))
    n_classes = source.randint(1, 3)
    sensitive = [label for label in data.vocabulary if source.random() < 0.2]
    public = [label for label in data.vocabulary if label not in sensitive]
    centres = [[label for label in public if source.random() < 0.4] for _ in range(n_classes)]
    rows = Transactions.from_lists(centres)
    rows = rows.recode(data.vocabulary.numbers(rows.vocabulary), data.vocabulary)
    class_of = np.array([source.randrange(n_classes) for _ in range(data.n_records)], dtype=np.int64)
    return data, Replacement.from_centres(data, class_of, rows, sensitive), centres


def random_grouping(source: random.Random) -> tuple[Transactions, Grouping]:
    """Data in random groups, some items sensitive."""
    data = Transactions.from_lists(random_records(source))
    sensitive = [label for label in data.vocabulary if source.random() < 0.3]
    group_of = np.array([source.randrange(3) for _ in range(data.n_records)], dtype=np.int64)
    return data, Grouping.from_groups(data, group_of, sensitive)

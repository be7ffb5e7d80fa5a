"""Recodings: item → published item or nothing, the same in every record (AA, VPA, HgHs, PCTA, …)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.core.codebook import Codebook
from setveil.core.dataset import Dataset
from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.meaning import Meaning
from setveil.core.naming import fresh_name, is_shown, name_of_set
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, name_some
from setveil.releases.base import Release, renamed_vocabulary, smaller_vocabulary, with_leaves
from setveil.releases.item_counts import choose_items


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Recoding(Release):
    """Every item has one published item, or none."""

    kind: ClassVar[str] = "recoding"
    is_uniform: ClassVar[bool] = True

    domain: Vocabulary  # all items accounted for: the hierarchy's leaves, or the items of the data
    target: NDArray[np.int32]  # [domain] number in published.vocabulary; -1 if suppressed or never published
    suppressed: NDArray[np.bool_]  # [domain] taken out on purpose
    node_of_leaf: NDArray[np.int32] | None = None  # [domain] with a hierarchy: the cut, -1 if suppressed

    @classmethod
    def from_cut(
        cls,
        data: Dataset,
        hierarchy: Hierarchy,
        node_of_leaf: NDArray[np.integer],
        details: Mapping[str, Any] | None = None,
    ) -> Recoding:
        """``node_of_leaf[leaf]`` is the node published instead of the leaf, -1 to suppress it."""
        cut = np.asarray(node_of_leaf, dtype=np.int32)
        leaves = hierarchy.leaf_of_items(data.vocabulary)
        made = cls.from_targets(data, hierarchy.vocabulary, leaves, cut, hierarchy.published_labels, details)
        return replace(made, hierarchy=hierarchy, node_of_leaf=cut)

    @classmethod
    def from_clusters(
        cls,
        data: Dataset,
        cluster_of_item: NDArray[np.integer],
        details: Mapping[str, Any] | None = None,
        domain: Vocabulary | None = None,
    ) -> Recoding:
        """``cluster_of_item[i]`` is any number per cluster of domain items, -1 to suppress; without hierarchy.

        ``domain`` must contain the items of the data; it is those items unless given.
        """
        domain = domain or data.vocabulary
        given = np.asarray(cluster_of_item, dtype=np.int64)
        # Renumber clusters by their smallest member, so that names do not depend on the algorithm's numbering.
        kept = np.flatnonzero(given >= 0)
        names, first, compact = np.unique(given[kept], return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        rank = np.empty(len(names), dtype=np.int64)
        rank[by_first] = np.arange(len(names))
        target = np.full(len(domain), -1, dtype=np.int32)
        target[kept] = rank[compact]
        labels = _cluster_names(domain, kept[np.argsort(rank[compact], kind="stable")], np.bincount(rank[compact]))
        return cls.from_targets(data, domain, domain.encode(data.vocabulary), target, labels, details)

    @classmethod
    def from_targets(
        cls,
        data: Dataset,
        domain: Vocabulary,
        domain_of_item: NDArray[np.int32],
        target: NDArray[np.int32],
        labels: Iterable[str],
        details: Mapping[str, Any] | None = None,
    ) -> Recoding:
        """``labels[target[i]]`` is published for item ``i`` of the domain, -1 for nothing; ``domain_of_item`` places
        the data's.
        """
        names = list(labels)
        occurring = np.zeros(len(names), dtype=bool)
        used = target[domain_of_item[data.supports > 0]]
        occurring[used[used >= 0]] = True
        vocabulary = Vocabulary(names[number] for number in np.flatnonzero(occurring).tolist())
        number = np.full(len(names) + 1, -1, dtype=np.int32)  # the last entry serves target -1
        number[: len(names)] = vocabulary.numbers(names)
        number[:-1][~occurring] = -1
        published_of = number[target]
        return cls(
            published=data.recode(published_of[domain_of_item], vocabulary),
            domain=domain,
            target=published_of,
            suppressed=target < 0,
            details=details or {},
        )

    def nodes_of_entries(self, data: Transactions) -> NDArray[np.int32]:
        """The node published for each entry of the data it was made from, -1 if suppressed."""
        assert self.node_of_leaf is not None and self.hierarchy is not None
        return self.node_of_leaf[self.hierarchy.leaf_of_items(data.vocabulary)[data.items]]

    def codebook(self) -> Codebook:
        """Published label → the items of the domain behind it."""
        book = Codebook({label: [] for label in self.published.vocabulary})
        for item, number in zip(self.domain, self.target.tolist(), strict=True):
            if number >= 0:
                book[self.published.vocabulary[number]].append(item)
        if self.suppressed.any():
            book[""] = [self.domain[int(item)] for item in np.flatnonzero(self.suppressed)]
        return book

    @cached_property
    def meaning(self) -> Meaning:
        kept = np.flatnonzero(self.target >= 0)
        by_target = kept[np.argsort(self.target[kept], kind="stable")]
        counts = np.bincount(self.target[kept], minlength=self.published.n_items)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Meaning(Itemsets(indptr, by_target.astype(np.int32), self.domain), self.published)

    def may_lack(self, item: int) -> bool:
        return bool(self.suppressed[item]) and self.target[item] < 0

    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All entries of an item at a time."""
        return self.item_sizes(original.vocabulary), original.supports

    def item_sizes(self, items: Vocabulary) -> NDArray[np.int64]:
        """How many items of the domain each item's published item covers, 0 if suppressed, int64[items]."""
        item = self.domain.encode(items, "item of the original in this release")
        if self.hierarchy is not None and self.node_of_leaf is not None:
            cut = self.node_of_leaf  # its leaves are counted: a published root does not cover unchanged items beside it
            n_leaves = np.bincount(cut[cut >= 0], minlength=self.hierarchy.n_nodes)
            return np.where(cut[item] >= 0, n_leaves[cut[item]], 0)
        return np.append(self.published_sizes, 0)[self.target[item]]  # the last entry serves target -1

    @property
    def published_nodes(self) -> NDArray[np.integer]:
        cut = self.node_of_leaf
        return super().published_nodes if cut is None else np.unique(cut[cut >= 0])

    def codebook_rows(self) -> list[tuple[str, str]]:
        labels = self.published.vocabulary
        order = sorted(range(len(self.domain)), key=lambda item: (int(self.target[item]), item))
        return [
            (labels[number] if (number := int(self.target[item])) >= 0 else "", self.domain[item]) for item in order
        ]

    def _renumbered(self, renamed: Self, number: NDArray[np.int32]) -> Self:
        return replace(renamed, target=np.where(self.target >= 0, number[self.target], -1).astype(np.int32))

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        domain, back = renamed_vocabulary(self.domain, name)
        return replace(self, domain=domain, target=self.target[back], suppressed=self.suppressed[back])

    def named_only(self, public: Collection[str]) -> Self:
        domain, kept = smaller_vocabulary(self.domain, self.target >= 0, public)
        if len(domain) == len(self.domain):
            return self
        return replace(self, domain=domain, target=self.target[kept], suppressed=self.suppressed[kept])

    def with_items(self, items: Iterable[str]) -> Self:
        domain = Vocabulary({*self.domain, *items})
        place = domain.numbers(self.domain)
        target = np.full(len(domain), -1, dtype=np.int32)
        target[place] = self.target
        suppressed = np.ones(len(domain), dtype=bool)
        suppressed[place] = self.suppressed
        return replace(self, domain=domain, target=target, suppressed=suppressed)

    def with_suppressed(self, items: Collection[str]) -> Self:
        given = frozenset(items)
        return replace(
            self, suppressed=(self.target < 0) & np.array([item in given for item in self.domain], dtype=bool)
        )

    def completed_by(self, owners: Self) -> Self:
        """Files do not tell absent items from suppressed ones, and do not name all of either."""
        return replace(self.with_items(owners.domain), suppressed=owners.suppressed)

    def with_unchanged(self, data: Transactions, items: Collection[str]) -> Recoding:
        if self.hierarchy is not None and self.node_of_leaf is not None:
            tree, number = with_leaves(self.hierarchy, items)
            cut = np.arange(tree.n_items, dtype=np.int32)
            cut[number[: self.hierarchy.n_items]] = np.append(number, -1)[self.node_of_leaf]
            return Recoding.from_cut(data, tree, cut, self.details)
        domain = Vocabulary({*self.domain, *items})
        clusters = np.arange(len(domain), dtype=np.int64) + self.published.n_items
        clusters[domain.numbers(self.domain)] = self.target
        return Recoding.from_clusters(data, clusters, self.details, domain)

    def with_item_counts(self, data: Dataset, k: int, largest: float) -> Self:
        supports = np.zeros(len(self.domain), dtype=np.int64)
        supports[self.domain.encode(data.vocabulary)] = data.supports
        cover = self.meaning.cover
        listed: dict[str, int] = {}
        for label, support in enumerate(self.published.supports.tolist()):
            items = cover[label]
            if len(items) > 1:
                counts = supports[items]
                chosen = np.flatnonzero(choose_items(counts, support, k, largest)).tolist()
                listed |= {self.domain[int(items[place])]: int(counts[place]) for place in chosen}
        return replace(self, item_counts=listed)

    def recoded(self, data: Dataset, unknown_items: str = "error") -> Recoding:
        data = data.used_items()
        target, labels = self.target, list(self.published.vocabulary)
        tree, cut = self.hierarchy, self.node_of_leaf
        if tree is not None and cut is not None:  # items that did not occur so far have a place in the hierarchy
            target, labels = cut, list(tree.published_labels)
        place = self.domain.numbers(data.vocabulary)
        is_known = place >= 0
        is_known[is_known] = (target[place[is_known]] >= 0) | self.suppressed[place[is_known]]
        unknown = [data.vocabulary[int(item)] for item in np.flatnonzero(~is_known)]
        if not unknown:
            applied = Recoding.from_targets(data, self.domain, place, target, labels)
            return replace(applied, suppressed=self.suppressed, hierarchy=tree, node_of_leaf=cut)
        if unknown_items == "error":
            raise InputError(
                f"the recoding does not know {name_some(unknown)}; remove these items from the data, or use "
                "--unknown-items suppress."
            )
        wider = Vocabulary({*self.domain, *unknown})
        spread = np.full(len(wider), -1, dtype=np.int32)
        spread[wider.numbers(self.domain)] = target
        suppressed = np.zeros(len(wider), dtype=bool)
        suppressed[wider.numbers(self.domain)] = self.suppressed
        suppressed[wider.numbers(unknown)] = True
        applied = Recoding.from_targets(data, wider, wider.numbers(data.vocabulary), spread, labels)
        return replace(applied, suppressed=suppressed)


def _cluster_names(domain: Vocabulary, members: NDArray[np.integer], sizes: NDArray[np.integer]) -> list[str]:
    """A unique name per cluster; ``members`` holds the clusters' items one cluster after the other, each ascending."""
    taken = set(domain)
    names: list[str] = []
    end = n_numbered = 0
    for size in sizes.tolist():
        cluster = [domain[item] for item in members[end : end + size].tolist()]
        end += size
        if size == 1:
            names.append(cluster[0])
            continue
        n_numbered += not is_shown(cluster)
        names.append(fresh_name(name_of_set(cluster, size, n_numbered), taken))
        taken.add(names[-1])
    return names

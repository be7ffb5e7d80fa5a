"""Local recodings: a published node per entry, different from record to record (LG, LRA, trim)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from setveil.core.codebook import Codebook
from setveil.core.dataset import Dataset
from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.meaning import Meaning
from setveil.core.row_order import bounds_of, entries_of
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.releases.base import Release, renamed_vocabulary, smaller_vocabulary, with_leaves

NOTHING_FITS = (
    "Known items that match no record: the attacker learns that the person's record does not show all of them, or that "
    "the person is not in the data."
)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LocalRecoding(Release):
    """Every occurrence of an item has a published node of its own."""

    kind: ClassVar[str] = "local-recoding"
    suppression_by: ClassVar[Literal["", "algorithm", "option"]] = "algorithm"
    not_protected: ClassVar[tuple[str, ...]] = (NOTHING_FITS,)
    never_pickled: ClassVar[tuple[str, ...]] = (*Release.never_pickled, "node_of_occurrence")

    cover: Itemsets  # [published items] the domain items each published item can cover
    node_of_occurrence: NDArray[np.int32] | None = None  # [occurrences of the original], -1 if suppressed

    @classmethod
    def from_nodes(
        cls,
        data: Transactions,
        hierarchy: Hierarchy,
        node_of_occurrence: NDArray[np.integer],
        details: Mapping[str, Any] | None = None,
        never_generalized: Iterable[str] = (),
    ) -> LocalRecoding:
        """``node_of_occurrence[j]`` is the node published instead of ``data.items[j]``, -1 to suppress it.

        No node covers an item that is ``never_generalized``: such an item is published under its own name only.
        """
        nodes = np.asarray(node_of_occurrence, dtype=np.int32)
        kept = nodes >= 0
        is_used = np.zeros(hierarchy.n_nodes, dtype=bool)
        is_used[nodes[kept]] = True
        used = np.flatnonzero(is_used)
        vocabulary = Vocabulary(hierarchy.published_labels[node] for node in used.tolist())
        number = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        number[used] = vocabulary.numbers(hierarchy.published_labels[node] for node in used.tolist())
        rows = data.keep_occurrences(kept)
        items = number[nodes[kept]]
        ascends = items[1:] > items[:-1]
        ascends[rows.indptr[(rows.indptr > 0) & (rows.indptr < len(items))] - 1] = True  # from one record to the next
        if ascends.all():
            published = replace(rows, items=items, vocabulary=vocabulary)
        else:
            published = Transactions.from_pairs(rows.owners, items, data.n_records, vocabulary, data.ids, data.layout)
            published = replace(published, columns=data.columns)
        node_of_number = used[np.argsort(number[used])]
        is_covered = np.ones(hierarchy.n_items, dtype=bool)
        is_covered[[leaf for leaf in hierarchy.vocabulary.numbers(never_generalized).tolist() if leaf >= 0]] = False
        runs = [np.sort(hierarchy.leaves(int(node))) for node in node_of_number]
        runs = [
            run if node < hierarchy.n_items else run[is_covered[run]]
            for node, run in zip(node_of_number.tolist(), runs, strict=True)
        ]
        indptr = bounds_of([len(run) for run in runs])
        items = np.concatenate(runs) if runs else np.empty(0, dtype=np.int32)
        cover = Itemsets(indptr, items.astype(np.int32), hierarchy.vocabulary)
        return cls(
            published=published, cover=cover, details=details or {}, hierarchy=hierarchy, node_of_occurrence=nodes
        )

    def nodes_of_entries(self, data: Transactions) -> NDArray[np.int32]:
        """The node published for each entry of the data it was made from, -1 if suppressed."""
        assert self.node_of_occurrence is not None
        return self.node_of_occurrence

    def codebook(self) -> Codebook:
        """Published label → every item it can cover; an item may stand under several labels."""
        book = Codebook(zip(self.published.vocabulary, self.cover.to_lists(), strict=True))
        if self.node_of_occurrence is not None and (self.node_of_occurrence < 0).any():
            book[""] = self._not_covered
        return book

    @cached_property
    def meaning(self) -> Meaning:
        return Meaning(self.cover, self.published)

    @property
    def _not_covered(self) -> list[str]:
        """The items of the domain that no published item covers, ascending."""
        return [self.cover.vocabulary[int(item)] for item in np.flatnonzero(~self.meaning.covered)]

    def may_lack(self, item: int) -> bool:
        nodes = self.node_of_occurrence  # files do not say what was suppressed where
        return nodes is None or bool((nodes < 0).any())

    def can_lack_entries(self, algorithm_suppresses: bool) -> bool:
        return algorithm_suppresses

    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One entry at a time. A release read back does not say what an entry became: the most specific item of the
        published record that covers it is taken.
        """
        ones = np.ones(original.n_occurrences, dtype=np.int64)
        nodes = self.node_of_occurrence
        if self.hierarchy is not None and nodes is not None:
            broadest = self.meaning.sizes.max(initial=0)  # the root's, which lacks items that are never generalized
            return np.where(nodes >= 0, np.minimum(self.hierarchy.n_leaves[nodes], broadest), 0), ones
        rows = original.rows
        item = self.cover.vocabulary.encode(rows.vocabulary, "item of the original in this release")
        list_indptr, records = self.rows.inverted()
        sizes = np.zeros(rows.n_occurrences, dtype=np.int64)
        for number in np.argsort(-self.meaning.sizes, kind="stable"):  # the most specific comes last and stays
            is_covered = np.zeros(len(self.cover.vocabulary), dtype=bool)
            is_covered[self.cover[int(number)]] = True
            _, positions = entries_of(rows.indptr, records[list_indptr[number] : list_indptr[number + 1]])
            sizes[positions[is_covered[item[rows.items[positions]]]]] = self.meaning.sizes[number]
        return sizes, ones

    def unchanged_and_generalized(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """A node covers every item below it; only the owner knows for which of them it was published."""
        if self.record is None or self.node_of_occurrence is None or self.hierarchy is None:
            return super().unchanged_and_generalized()
        leaf = self.hierarchy.leaf_of_items(self.record.data.vocabulary)[self.record.data.rows.items]
        sizes, _ = self.entry_sizes(self.record.data)
        unchanged, generalized = np.zeros((2, len(self.cover.vocabulary)), dtype=bool)
        unchanged[leaf[sizes == 1]] = True
        generalized[leaf[sizes > 1]] = True
        return unchanged, generalized

    @property
    def published_nodes(self) -> NDArray[np.integer]:
        nodes = self.node_of_occurrence
        return super().published_nodes if nodes is None else np.unique(nodes[nodes >= 0])

    def suppressed_entries(self, original: Dataset) -> NDArray[np.int64]:
        if self.node_of_occurrence is None:
            return super().suppressed_entries(original)
        gone = original.rows.items[self.node_of_occurrence < 0]
        return np.bincount(gone, minlength=original.n_items).astype(np.int64)

    def codebook_rows(self) -> list[tuple[str, str]]:
        named = zip(self.published.vocabulary, self.cover.to_lists(), strict=True)
        return [
            *(("", item) for item in self._not_covered), *((label, item) for label, items in named for item in items)
        ]  # fmt: skip

    def _renumbered(self, renamed: Self, number: NDArray[np.int32]) -> Self:
        return replace(renamed, cover=self.cover.select(np.argsort(number)))

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        domain, back = renamed_vocabulary(self.cover.vocabulary, name)
        return replace(self, cover=self.cover.renumbered(np.argsort(back).astype(np.int32), domain))

    def with_unchanged(self, data: Transactions, items: Collection[str]) -> LocalRecoding:
        assert self.hierarchy is not None and self.node_of_occurrence is not None, "it was just made"
        tree, number = with_leaves(self.hierarchy, items)
        is_other = np.zeros(data.n_items, dtype=bool)
        is_other[data.vocabulary.numbers(items)] = True
        nodes = tree.leaf_of_items(data.vocabulary)[data.items].astype(np.int32)
        nodes[~is_other[data.items]] = np.append(number, -1)[self.node_of_occurrence]
        return LocalRecoding.from_nodes(data, tree, nodes, self.details, never_generalized=items)

    def named_only(self, public: Collection[str]) -> Self:
        return self._over(smaller_vocabulary(self.cover.vocabulary, self.meaning.covered, public)[0])

    def with_items(self, items: Iterable[str]) -> Self:
        return self._over(Vocabulary({*self.cover.vocabulary, *items}))

    def _over(self, domain: Vocabulary) -> Self:
        return replace(self, cover=self.cover.renumbered(domain.numbers(self.cover.vocabulary), domain))

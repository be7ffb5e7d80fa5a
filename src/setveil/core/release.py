"""What will go out: the four kinds of release.

    Release
    ├── Recoding        item → published item or nothing, the same in every transaction     (AA, VPA, HgHs, PCTA, …)
    ├── LocalRecoding   a published node per occurrence, different from record to record     (LG, LRA)
    ├── Replacement     each transaction replaced by the centre of its class                 (PTA, …)
    └── Grouping        groups of exact public items and a count of sensitive items each     (CAHD, NN, …)

Arrays inside, labels on demand. ``published`` holds one row per input record, in input order; files are written in
canonical order by ``io.releases``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.core.codebook import Codebook
from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.naming import fresh_name, is_shown, name_of_set
from setveil.core.remote import RemoteTransactions
from setveil.core.seam import call
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class RunRecord:
    """How a release came about; everything here is internal."""

    data: Transactions
    model: Any  # a privacy model; core does not know the models
    algorithm: str
    options: Mapping[str, object]
    hierarchy: Hierarchy | None
    hierarchy_source: str
    seed: int
    seconds: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    original: Transactions | None = None  # with the records that a grouping suppresses, where ``data`` is without

    def __repr__(self) -> str:
        return f"RunRecord({self.algorithm} for {self.model.name}, {self.data!r})"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(ABC):
    """What all kinds share.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> release.transactions()[5] == {"bread", "dairy"}
        True
        >>> release.to_polars("list").columns
        ['items']
    """

    kind: ClassVar[str]

    published: Transactions  # [n_records] rows in input order, over the published labels
    details: Mapping[str, Any] = field(default_factory=dict)  # what the algorithm wants to tell (internal)
    record: RunRecord | None = None  # set by the pipeline; None for a release read back from its files
    has_ids: bool = False  # whether frames show record ids

    def transactions(self) -> list[set[str]]:
        """Published records as sets of labels, in input order."""
        return [set(row) for row in self.published.to_lists()]

    @abstractmethod
    def codebook(self) -> Codebook:
        """Published label → the original items it may stand for, sorted; ``''`` only if something is suppressed."""

    def publish(self, out: str | PathLike[str], **options: Any) -> Path:
        """Verify, then write the folder ``out``, and ``out.internal`` beside it.

        Args:
            out: the folder; it must not exist yet, unless ``force=True``.
            options: ``to`` (the layout), ``force``, ``keep_order``, ``keep_ids``, ``publish_constraints``, ``policy``.

        Returns:
            The folder.

        Raises:
            GuaranteeError: the files as written do not keep the claim; nothing is left behind.
            InputError: the folder exists, or the release was read from files and not made here.
        """
        path: Path = call("Release.publish", self, out, **options).path
        return path

    def with_ids(self, ids: Iterable[object] | None = None) -> Self:
        """The same release, whose frames show the records' ids: for use in the house only.

        Args:
            ids: one per record, in input order; without them those that were read with ``keep_ids=True``.

        Raises:
            InputError: there are no ids, or not one per record.
        """
        given = self.published.ids if ids is None else tuple(str(name) for name in ids)
        if given is None:
            raise InputError("the data was read without ids; read it with keep_ids=True, or give with_ids(ids).")
        if len(given) != self.published.n_records:
            raise InputError(f"{len(given):,} ids for {self.published.n_records:,} records; give one per record.")
        return replace(self, published=replace(self.published, ids=given), has_ids=True)

    def apply(self, new_data: Any, model: Any = None, **options: Any) -> Recoding:
        """New people through the recoding of this release; their promise is checked, too.

        Args:
            new_data: records in any form that ``setveil.read`` takes.
            model: the promise; that of this release unless given.
            options: ``unknown_items`` (``"error"``, or ``"suppress"`` for items the recoding does not know) and
                ``read_options``.

        Returns:
            A release of the new records under the same labels.

        Raises:
            GuaranteeError: the new records do not keep the promise under this recoding.
            InputError: this is not a recoding, or it does not know an item.
        """
        applied: Recoding = call("Release.apply", self, new_data, model, **options)
        return applied

    # -- as frames ------------------------------------------------------------------------------------------------

    def to_polars(self, layout: str = "long", *, keep_order: bool = True) -> pl.DataFrame:
        """The published records as a Polars frame.

        Args:
            layout: ``"long"`` (a row per record and item; an empty record has one row with an empty item), ``"list"``
                (a row per record), ``"onehot"`` (a column of true and false per published item), or, for groupings,
                ``"sensitive"`` (the counts per group). Groupings have a column ``group`` besides.
            keep_order: records in input order; ``False`` for the order of the published files, which tells nothing.

        Raises:
            InputError: the layout is unknown, or a one-hot frame would not fit.
        """
        frame: pl.DataFrame = call("Release.to_polars", self, layout, keep_order=keep_order)
        return frame

    def to_pandas(self, layout: str = "long", *, keep_order: bool = True) -> pd.DataFrame:
        """The same as a pandas frame; after ``with_ids`` the ids are the index of list and one-hot frames."""
        return call("Release.to_pandas", self, layout, keep_order=keep_order)

    def to_arrow(self, layout: str = "long", *, keep_order: bool = True) -> pa.Table:
        """The same as an Arrow table."""
        return call("Release.to_arrow", self, layout, keep_order=keep_order)

    def to_sparse(self, *, keep_order: bool = True) -> csr_array[Any]:
        """A SciPy array of true and false: a row per record, a column per label of ``published.vocabulary``."""
        matrix: csr_array[Any] = call("Release.to_sparse", self, keep_order=keep_order)
        return matrix

    def to_lists(self, *, keep_order: bool = True) -> list[list[str]]:
        """Labels, record by record, each in ascending order."""
        lists: list[list[str]] = call("Release.to_lists", self, keep_order=keep_order)
        return lists

    # -- shown ----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        rows = self.published
        shown = f"{rows.n_records:,} records, {rows.n_items:,} published items"
        made = "" if self.record is None else f"; {self.record.algorithm} for {self.record.model.name}"
        return f"{type(self).__name__}({shown}{made})"

    def _repr_html_(self) -> str:
        facts = [("records", f"{self.published.n_records:,}"), ("published items", f"{self.published.n_items:,}")]
        promise = ""
        if self.record is not None:
            facts.append(("made by", f"{self.record.algorithm} for {self.record.model.name}"))
            promise = f"Promise, not yet checked: {self.record.model.guarantee()}"
        return str(call("card", f"Release ({self.kind})", facts=facts, note=promise))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Recoding(Release):
    """Every item has one published item, or none."""

    kind: ClassVar[str] = "recoding"

    domain: Vocabulary  # all items accounted for: the hierarchy's leaves, or the items of the data
    target: NDArray[np.int32]  # [domain] number in published.vocabulary; -1 if suppressed or never published
    suppressed: NDArray[np.bool_]  # [domain] taken out on purpose
    hierarchy: Hierarchy | None = None
    node_of_leaf: NDArray[np.int32] | None = None  # [domain] with a hierarchy: the cut, -1 if suppressed

    @classmethod
    def from_cut(
        cls,
        data: Transactions,
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
        data: Transactions,
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
        data: Transactions,
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

    def codebook(self) -> Codebook:
        """Published label → the items of the domain behind it."""
        book = Codebook({label: [] for label in self.published.vocabulary})
        for item, number in zip(self.domain, self.target.tolist(), strict=True):
            if number >= 0:
                book[self.published.vocabulary[number]].append(item)
        if self.suppressed.any():
            book[""] = [self.domain[int(item)] for item in np.flatnonzero(self.suppressed)]
        return book


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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LocalRecoding(Release):
    """Every occurrence of an item has a published node of its own."""

    kind: ClassVar[str] = "local-recoding"

    cover: Itemsets  # [published items] the domain items each published item can stand for
    hierarchy: Hierarchy | None = None
    node_of_occurrence: NDArray[np.int32] | None = None  # [occurrences of the original], -1 if suppressed

    @classmethod
    def from_nodes(
        cls,
        data: Transactions,
        hierarchy: Hierarchy,
        node_of_occurrence: NDArray[np.integer],
        details: Mapping[str, Any] | None = None,
    ) -> LocalRecoding:
        """``node_of_occurrence[j]`` is the node published instead of ``data.items[j]``, -1 to suppress it."""
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
        node_of_number = used[np.argsort(number[used])]
        runs = [np.sort(hierarchy.leaves(int(node))) for node in node_of_number]
        indptr = np.zeros(len(runs) + 1, dtype=np.int64)
        np.cumsum([len(run) for run in runs], out=indptr[1:])
        items = np.concatenate(runs) if runs else np.empty(0, dtype=np.int32)
        cover = Itemsets(indptr, items.astype(np.int32), hierarchy.vocabulary)
        return cls(
            published=published, cover=cover, details=details or {}, hierarchy=hierarchy, node_of_occurrence=nodes
        )

    def codebook(self) -> Codebook:
        """Published label → every item it can stand for; an item may stand under several labels."""
        book = Codebook(zip(self.published.vocabulary, self.cover.to_lists(), strict=True))
        if self.node_of_occurrence is not None and (self.node_of_occurrence < 0).any():
            covered = np.zeros(len(self.cover.vocabulary), dtype=bool)
            covered[self.cover.items] = True
            book[""] = [self.cover.vocabulary[int(item)] for item in np.flatnonzero(~covered)]
        return book


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Replacement(Release):
    """Every record is replaced by the centre of its class; its own sensitive items stay."""

    kind: ClassVar[str] = "replacement"

    class_of: NDArray[np.int64]  # [n_records] equal non-sensitive rows have equal numbers
    sensitive: tuple[str, ...] = ()

    @classmethod
    def from_centres(
        cls,
        data: Transactions,
        class_of: NDArray[np.integer],
        centres: Transactions,
        sensitive: Iterable[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> Replacement:
        """``centres`` has one row per class, over the vocabulary of the data and without sensitive items."""
        hidden = tuple(sensitive)
        is_sensitive = np.zeros(data.n_items, dtype=bool)
        is_sensitive[[number for number in data.vocabulary.numbers(hidden) if number >= 0]] = True
        replaced = centres.select(np.asarray(class_of))
        own = is_sensitive[data.items]
        published = Transactions.from_pairs(
            np.concatenate((replaced.owners, data.owners[own])),
            np.concatenate((replaced.items, data.items[own])),
            data.n_records,
            data.vocabulary,
            data.ids,
            data.layout,
        )
        return cls(
            published=in_label_order(published.used_items()),
            class_of=np.asarray(class_of, dtype=np.int64),
            sensitive=hidden,
            details=details or {},
        )

    def codebook(self) -> Codebook:
        """Identity over the published items."""
        return Codebook({label: [label] for label in self.published.vocabulary})


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Grouping(Release):
    """Groups of records with exact public items; sensitive items are only counted per group."""

    kind: ClassVar[str] = "grouping"

    group_of: NDArray[np.int64]  # [n_records] 0 … n_groups-1
    sensitive: Vocabulary  # the sensitive items
    count_group: NDArray[np.int64]  # [counts] sorted by (group, item), only counts above 0
    count_item: NDArray[np.int32]  # [counts] number in ``sensitive``
    count: NDArray[np.int64]  # [counts]

    @staticmethod
    def publishable(data: Transactions, sensitive: Iterable[str]) -> NDArray[np.int64]:
        """The records a grouping publishes, ascending: all but those whose items are all sensitive.

        Such a record would be published empty; where nobody's record was empty, that tells what it held.
        """
        is_public = Vocabulary(set(sensitive)).numbers(data.vocabulary) < 0
        return publishable_rows((data.indptr, data.items), is_public)

    @staticmethod
    def without_bare(data: Transactions, sensitive: Iterable[str]) -> Transactions:
        """The records a grouping publishes, with all their items."""
        if isinstance(data, RemoteTransactions):
            is_public = Vocabulary(set(sensitive)).numbers(data.vocabulary) < 0
            return data.keep_records(partial(publishable_rows, is_public=is_public))
        return data.select(Grouping.publishable(data, sensitive))

    @classmethod
    def from_groups(
        cls,
        data: Transactions,
        group_of: NDArray[np.integer],
        sensitive: Iterable[str],
        details: Mapping[str, Any] | None = None,
    ) -> Grouping:
        """Split each record into public items and sensitive counts. Groups may have any numbers; they are made
        dense.
        """
        vocabulary = Vocabulary(set(sensitive))
        number = vocabulary.numbers(data.vocabulary)  # [data items], -1 for public ones
        _, groups = np.unique(np.asarray(group_of), return_inverse=True)
        hidden = number[data.items] >= 0
        keys = groups[data.owners[hidden]].astype(np.int64) * max(len(vocabulary), 1) + number[data.items[hidden]]
        unique, count = np.unique(keys, return_counts=True)
        return cls(
            published=in_label_order(data.keep_items(number < 0).used_items()),
            group_of=groups.astype(np.int64),
            sensitive=vocabulary,
            count_group=unique // max(len(vocabulary), 1),
            count_item=(unique % max(len(vocabulary), 1)).astype(np.int32),
            count=count.astype(np.int64),
            details=details or {},
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group_of.max()) + 1 if len(self.group_of) else 0

    def codebook(self) -> Codebook:
        """Identity over the published public items."""
        return Codebook({label: [label] for label in self.published.vocabulary})


def in_label_order(rows: Transactions) -> Transactions:
    """The same records; their labels in ascending order, which is another one where only numbers are left of them."""
    vocabulary = Vocabulary(rows.vocabulary)
    return rows if vocabulary == rows.vocabulary else rows.recode(vocabulary.numbers(rows.vocabulary), vocabulary)


def publishable_rows(
    rows: tuple[NDArray[np.int64], NDArray[np.int32]], is_public: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The places of the rows with a public item, and of those without any item."""
    indptr, items = rows
    n_public = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(is_public[items], out=n_public[1:])
    return np.flatnonzero((np.diff(n_public[indptr]) > 0) | (np.diff(indptr) == 0))

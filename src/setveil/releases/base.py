"""What all kinds of release share.

Arrays inside, labels on demand. ``published`` holds one row per input record, in input order; files are written in
canonical order by ``io.releases``. Other rooms ask a release instead of looking at its kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from setveil.core.codebook import Codebook
from setveil.core.dataset import Dataset
from setveil.core.deferred import call
from setveil.core.hierarchy import Hierarchy
from setveil.core.meaning import Meaning
from setveil.core.transactions import AnyDataset, Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, name_some

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class RunRecord:
    """How a release came about; everything here is internal."""

    data: Dataset
    model: Any  # a privacy model; core does not know the models
    algorithm: str
    options: Mapping[str, object]
    hierarchy: Hierarchy | None
    hierarchy_source: str
    seed: int
    seconds: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    package: str = "setveil"  # which has the algorithm
    original: Dataset | None = None  # with the records that a grouping suppresses, where ``data`` is without

    def __repr__(self) -> str:
        return f"RunRecord({self.algorithm} for {self.model.name}, {self.data!r})"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Release(ABC):
    """What all kinds share. The examples of its methods go on from this one.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> release.transactions()[5] == {"bread", "dairy"}
        True
        >>> release.to_polars("list").columns
        ['items']
    """

    kind: ClassVar[str]
    class_noun: ClassVar[str] = "classes"  # what its sets of records are called
    keeps_labels: ClassVar[bool] = False  # published items are original items and are called like them in every layout
    is_uniform: ClassVar[bool] = False  # every item is published in the same way in every record
    is_truthful: ClassVar[bool] = True  # a published record shows nothing that its person does not have
    has_groups: ClassVar[bool] = False  # records are in groups, which count sensitive items
    suppression_by: ClassVar[Literal["", "algorithm", "option"]] = ""  # what decides whether entries are suppressed
    has_own_records: ClassVar[bool] = True  # each published record is what became of the record of one person
    shown_entries: ClassVar[str] = "only the owner knows how many entries are unchanged"  # where no share can say it
    file_stem: ClassVar[str] = "published"  # what the file of records is called, without its extension
    no_order: ClassVar[str] = ""  # why neither the order nor the ids of the input can be kept; empty where they can
    no_guards: ClassVar[str] = ""  # why labels cannot be protected against spreadsheets; empty where they can
    further_files: ClassVar[tuple[str, ...]] = ()  # written besides records and codebook
    not_protected: ClassVar[tuple[str, ...]] = ()  # what no release of this kind protects, in plain sentences
    never_pickled: ClassVar[tuple[str, ...]] = ("record", "details")  # what shows more than the published files

    published: Dataset  # [n_records] rows in input order, over the published labels
    details: Mapping[str, Any] = field(default_factory=dict)  # what the algorithm wants to tell (internal)
    record: RunRecord | None = None  # set by the pipeline; None for a release read back from its files
    model: Any = None  # the privacy model that it was made for, as far as that is known
    algorithm: str = ""  # that made it, as far as that is known
    has_ids: bool = False  # whether frames show record ids
    names: Mapping[str, str] = field(default_factory=dict)  # of labels, where the owner gave a list of names
    item_counts: Mapping[str, int] = field(default_factory=dict)  # people per item of a category, where published
    hierarchy: Hierarchy | None = None  # along which items were generalized, where that is known

    @property
    def rows(self) -> Transactions:
        """The published records in memory; an InputError where they are on a cluster."""
        return self.published.rows

    def transactions(self) -> list[set[str]]:
        """Published records as sets of labels, in input order.

        Examples:
            >>> sorted(release.transactions()[5])
            ['bread', 'dairy']
        """
        return [set(row) for row in self.rows.to_lists()]

    def codebook(self) -> Codebook:
        """Published label → the original items it covers, sorted; ``''`` only if something is suppressed.

        Examples:
            >>> release.codebook()["dairy"]
            ['cheese', 'milk']
        """
        return Codebook({label: [label] for label in self.published.vocabulary})

    # -- what published items cover ---------------------------------------------------------------------------------

    @cached_property
    def meaning(self) -> Meaning:
        """What each published item covers."""
        return Meaning.identity(self.published)

    @property
    def domain_items(self) -> Vocabulary:
        """The original items that the release speaks of."""
        return self.meaning.domain

    @cached_property
    def published_sizes(self) -> NDArray[np.int64]:
        """How many original items each published item covers, int64[published items]."""
        return self.meaning.sizes

    @property
    def counted_labels(self) -> set[str]:
        """Labels of sensitive items that the files only count."""
        return set()

    @property
    def shown_items(self) -> set[str]:
        """The items that the files show: under their own name, in a category, or counted."""
        covered = (self.domain_items[int(item)] for item in np.flatnonzero(self.meaning.covered))
        return {*self.published.vocabulary, *covered} | self.counted_labels

    @property
    def sensitive_items(self) -> Iterable[str]:
        """The items that were named as sensitive, as far as the release knows."""
        return getattr(self.model, "sensitive", ())

    def may_lack(self, item: int) -> bool:
        """Whether people may have an item of ``domain_items`` that their records do not show in any way."""
        return False

    def can_lack_entries(self, algorithm_suppresses: bool) -> bool:
        """Whether single entries may be suppressed.

        The answer follows from the algorithm and the owner's options, never from the data.
        """
        return False

    def codebook_rows(self) -> list[tuple[str, str]]:
        """``(published_item, item)`` sorted by the published item's label, then the item's; suppressed and absent
        first.
        """
        return [(label, label) for label in self.published.vocabulary]

    # -- what became of the original ----------------------------------------------------------------------------------

    @abstractmethod
    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """``(sizes, counts)``: ``counts[j]`` entries are published as something that covers ``sizes[j]`` items; size 0
        is suppressed. Records are in the order of the original.
        """

    def unchanged_and_generalized(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which items of the domain are published as themselves, and which as a category; bool[domain] each."""
        unchanged, generalized = np.zeros((2, len(self.domain_items)), dtype=bool)
        cover, sizes = self.meaning.cover, self.meaning.sizes
        is_alone = np.repeat(sizes == 1, sizes)
        unchanged[cover.items[is_alone]] = True
        generalized[cover.items[~is_alone]] = True
        return unchanged, generalized

    @property
    def published_nodes(self) -> NDArray[np.integer]:
        """The nodes of the hierarchy that are published, as far as they are known."""
        return np.empty(0, dtype=np.int64)

    def suppressed_entries(self, original: Dataset) -> NDArray[np.int64]:
        """How many single entries of each original item were suppressed, as far as that is known."""
        return np.zeros(original.n_items, dtype=np.int64)

    def hidden_among(self) -> list[tuple[str, int, int]]:
        """``(item, people who have it, records among which they are hidden)`` of each item that is only counted."""
        return []

    @property
    def largest_share(self) -> float | None:
        """The largest share of a group that has the same sensitive item; None without groups."""
        return None

    def public_figures(self) -> dict[str, int]:
        """Further figures that the published files determine."""
        return {}

    def certified(self) -> dict[str, Any]:
        """What the certificate says about the files besides their layout."""
        return {}

    def with_certified(self, certified: Mapping[str, Any]) -> Self:
        """The release read from files, with what its certificate says about them."""
        return self

    def further_tables(self) -> list[tuple[str, Iterator[bytes]]]:
        """Names and bytes of the files that follow from the release alone, besides records and codebook."""
        return []

    # -- the same release in another form ---------------------------------------------------------------------------

    def renamed(self, names: list[str]) -> Self:
        """The same release with other labels, one per published item."""
        if names == list(self.published.vocabulary):
            return self
        vocabulary = Vocabulary(names)
        number = vocabulary.numbers(names)  # [published items] old number → new number
        return self._renumbered(replace(self, published=self.published.recode(number, vocabulary)), number)

    def _renumbered(self, renamed: Self, number: NDArray[np.int32]) -> Self:
        """``renamed`` with everything else that holds numbers of published items."""
        return renamed

    def relabelled(self, name: Callable[[str], str]) -> Self:
        """The same release with other names for all items, published and original; ``name`` never gives one name
        twice.
        """
        renamed = self.renamed([name(label) for label in self.published.vocabulary])
        if renamed.published.columns:
            columns = renamed.published.columns.relabelled(name)
            renamed = replace(renamed, published=replace(renamed.rows, columns=columns))
        counts = {name(label): count for label, count in self.item_counts.items()}
        return replace(renamed._originals_relabelled(name), item_counts=counts)

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        return self

    def named_only(self, public: Collection[str]) -> Self:
        """The release without items that no published item covers, unless their names are public anyway.

        That an item occurs at all can be what nobody may know.
        """
        return self

    def with_items(self, items: Iterable[str]) -> Self:
        """The release as one that speaks of these items, too; those it does not know were suppressed."""
        return self

    def with_suppressed(self, items: Collection[str]) -> Self:
        """The release as one in which exactly those of the items were suppressed that no record shows.

        The files of a recoding do not tell suppressed items from absent ones.
        """
        return self

    def with_unchanged(self, data: Transactions, items: Collection[str]) -> Release:
        """A release of part of the items of ``data``, with the other ``items`` added to its records, unchanged."""
        raise InputError(
            f"a {self.kind} cannot leave items unchanged, as a list of observable items asks for; choose another "
            "algorithm."
        )

    def with_item_counts(self, data: Dataset, k: int, largest: float) -> Self:
        """The release with the number of people of each generalized item that may be shown; see ``item_counts``.

        Args:
            data: the original.
            k: the smallest number of people that may be shown.
            largest: the largest number of items that the guarantee covers.
        """
        return self

    def with_unseen(self, items: Iterable[str]) -> Self:
        """The release as one whose sensitive items include those that no file shows."""
        return self

    def completed_by(self, owners: Self) -> Self:
        """A release read from files, with what only the owner's release knows."""
        return self

    def recoded(self, data: Transactions, unknown_items: str = "error") -> Release:
        """Other records, published as this release publishes its own.

        Raises:
            InputError: the release cannot be applied to other records, or does not know an item.
        """
        raise InputError(
            f"a {self.kind.replace('-', ' ')} is made for its own records and cannot be applied to others; anonymize "
            "the new records, or publish a recoding the first time."
        )

    def reordered(self, order: NDArray[np.integer]) -> Self:
        """The same release with its records in another order."""
        return replace(self, published=self.rows.select(order))

    def published_part(self, original: AnyDataset) -> AnyDataset:
        """The records of the original that the release publishes, in the order of the published ones."""
        return original

    def check_made_from(self, original: AnyDataset, advice: str) -> None:
        """Refuse data that the release cannot be made from: another number of records, or other items."""
        n_records = self.published.n_records
        if n_records != original.n_records:
            raise InputError(f"the release has {n_records:,} records and the original {original.n_records:,}; {advice}")
        labels, meaning = self.published.vocabulary, self.meaning
        is_there = original.vocabulary.numbers(meaning.domain.labels) >= 0
        owner = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
        foreign = np.flatnonzero(np.bincount(owner[is_there[meaning.cover.items]], minlength=len(labels)) == 0)
        if len(foreign) and (shown := [labels[int(one)] for one in foreign if self.published.supports[one] > 0]):
            raise InputError(f"the original has no item that is published as {name_some(shown, 3)}; {advice}")

    def publish(self, out: str | PathLike[str], **options: Any) -> Path:
        """Verify, then write the folder ``out``, and ``out.internal`` beside it.

        Args:
            out: the folder; it must not exist yet, unless ``force=True``.
            options: ``to`` (the layout), ``force``, ``keep_order``, ``keep_ids``, ``publish_constraints``, ``policy``.

        Returns:
            The folder.

        Raises:
            GuaranteeError: the files as written do not meet the guarantee; nothing is published.
            InputError: the folder exists, or the release was read from files and not made here.

        Examples:
            >>> release.publish("ready").name
            'ready'
        """
        path: Path = call("Release.publish", self, out, **options).path  # an Address for one
        return path

    def with_ids(self, ids: Iterable[object] | None = None) -> Self:
        """The same release, whose frames show the records' ids: for internal use only.

        Args:
            ids: one per record, in input order; without them those that were read with ``keep_ids=True``.

        Raises:
            InputError: there are no ids, or not one per record.

        Examples:
            >>> release.with_ids(range(10, 16)).to_polars("list")["id"].to_list()[:2]
            ['10', '11']
        """
        given = self.published.ids if ids is None else tuple(str(name) for name in ids)
        if given is None:
            raise InputError("the data was read without ids; read it with keep_ids=True, or give with_ids(ids).")
        if len(given) != self.published.n_records:
            raise InputError(f"{len(given):,} ids for {self.published.n_records:,} records; give one per record.")
        return replace(self, published=replace(self.rows, ids=given), has_ids=True)

    def apply(self, new_data: Any, model: Any = None, **options: Any) -> Release:
        """New people through the recoding of this release; their guarantee is verified, too.

        Args:
            new_data: records in any form that ``setveil.read`` takes.
            model: the privacy model; that of this release unless given.
            options: ``unknown_items`` (``"error"``, or ``"suppress"`` for items the recoding does not know) and
                how to read ``new_data``, as in ``read``.

        Returns:
            A release of the new records under the same labels.

        Raises:
            GuaranteeError: the new records do not meet the guarantee under this recoding.
            InputError: such a release cannot be applied to new people, or it does not know an item.

        Examples:
            >>> release.apply([["milk", "bread"], ["cheese", "bread"]]).transactions()[0] == {"bread", "dairy"}
            True
        """
        applied: Release = call("Release.apply", self, new_data, model, **options)
        return applied

    # -- judged ---------------------------------------------------------------------------------------------------

    def verify(self, model: Any = None, **options: Any) -> Any:
        """Whether the guarantee is met: ``setveil.verify`` with the model of this release, or another one.

        Examples:
            >>> release.verify().holds, release.verify("km", k=3, m=2).holds
            (True, False)
        """
        return call("verify", self, model, **options)

    def risk(self, known: Iterable[int] = (1, 2, 3, 4), **options: Any) -> Any:
        """What a few known items reveal in the published records: ``setveil.risk``.

        Examples:
            >>> release.risk(known=(2,)).rows[0].singled_out
            0.0
        """
        return call("risk", self, known, **options)

    def measure(self, data: Any = None, **options: Any) -> dict[str, Any]:
        """What the release cost: ``setveil.measure``.

        Args:
            data: the original; only a release that was opened without it needs it.
            options: those of ``setveil.measure``.

        Examples:
            >>> round(release.measure()["exact_ratio"], 2)
            0.29
        """
        figures: dict[str, Any] = call("measure", self._original(data), self, **options)
        return figures

    def attack(self, data: Any = None, **options: Any) -> Any:
        """Attack the release with every attacker: ``setveil.attack``.

        Args:
            data: the original; only a release that was opened without it needs it.
            options: those of ``setveil.attack``.

        Examples:
            >>> release.attack(known=(2,), targets=50).worst.after.singled_out.value
            0.0
        """
        return call("attack", self._original(data), self, **options)

    def compare(self, *others: Release, data: Any = None) -> Any:
        """This release beside others of the same data: guarantee, utility and risk, a row each.

        Args:
            others: further releases.
            data: the original; only releases that were opened without it need it.

        Returns:
            A table, which can be filtered and turned into a frame.

        Examples:
            >>> options = {"hierarchy": "taxonomy.csv", "algorithm": "aa"}
            >>> weak, strong = (sv.anonymize("baskets.txt", "km", k=k, m=1, **options) for k in (2, 3))
            >>> weak.compare(strong)["smallest_support"]
            [2, 4]
        """
        return call("Release.compare", self, *others, data=data)

    def plot(self) -> Any:
        """A chart of the most frequent items, before and after, as a figure of Matplotlib.

        Raises:
            InputError: Matplotlib is not installed.

        Examples:
            >>> release.plot().axes[0].get_title()
            'Records that show an item under its own name'
        """
        return call("Release.plot", self)

    def _original(self, data: Any) -> Any:
        if data is None and self.record is None:
            raise InputError(
                "the release was opened without its original; give the original data, or use "
                "open_release(folder, original=data)."
            )
        if data is None and self.record is not None:
            return self.record.original or self.record.data
        return data

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the published records, and nothing of the original."""
        rows: Any = self.published
        published = replace(rows, reading=None, ids=self.published.ids if self.has_ids else None)
        hidden = {
            one.name: one.default_factory() if callable(one.default_factory) else one.default
            for one in fields(self)
            if one.name in self.never_pickled
        }
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "published": published, **hidden}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

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

        Examples:
            >>> release.to_polars("list").height
            6
        """
        frame: pl.DataFrame = call("Release.to_polars", self, layout, keep_order=keep_order)
        return frame

    def to_pandas(self, layout: str = "long", *, keep_order: bool = True) -> pd.DataFrame:
        """The same as a pandas frame; after ``with_ids`` the ids are the index of list and one-hot frames.

        Examples:
            >>> release.to_pandas("onehot").shape
            (6, 3)
        """
        return call("Release.to_pandas", self, layout, keep_order=keep_order)

    def to_arrow(self, layout: str = "long", *, keep_order: bool = True) -> pa.Table:
        """The same as an Arrow table.

        Examples:
            >>> release.to_arrow().column_names
            ['record', 'item']
        """
        return call("Release.to_arrow", self, layout, keep_order=keep_order)

    def to_sparse(self, *, keep_order: bool = True) -> csr_array[Any]:
        """A SciPy array of true and false: a row per record, a column per label of ``published.vocabulary``.

        Examples:
            >>> release.to_sparse().shape
            (6, 3)
        """
        matrix: csr_array[Any] = call("Release.to_sparse", self, keep_order=keep_order)
        return matrix

    def to_lists(self, *, keep_order: bool = True) -> list[list[str]]:
        """Labels, record by record, each in ascending order.

        Examples:
            >>> release.to_lists()[5]
            ['bread', 'dairy']
        """
        lists: list[list[str]] = call("Release.to_lists", self, keep_order=keep_order)
        return lists

    # -- shown ----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        rows = self.published
        shown = f"{rows.n_records:,} records, {rows.n_items:,} published items"
        made = "" if self.model is None else f"; {self.algorithm} for {self.model.name}"
        return f"{type(self).__name__}({shown}{made})"

    def _repr_html_(self) -> str:
        facts = [("records", f"{self.published.n_records:,}"), ("published items", f"{self.published.n_items:,}")]
        guarantee = ""
        if self.model is not None:
            facts.append(("made by", f"{self.algorithm} for {self.model.name}"))
            guarantee = f"Guarantee, not yet verified: {self.model.guarantee()}"
        return str(call("card", f"Release ({self.kind})", facts=facts, note=guarantee))


def renamed_vocabulary(vocabulary: Vocabulary, name: Callable[[str], str]) -> tuple[Vocabulary, NDArray[np.integer]]:
    """The new vocabulary, and the old number of each of its labels."""
    names = [name(label) for label in vocabulary]
    renamed = Vocabulary(names)
    return renamed, np.argsort(renamed.numbers(names))


def smaller_vocabulary(
    vocabulary: Vocabulary, is_kept: NDArray[np.bool_], public: Collection[str]
) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The labels that are kept or public, and the old number of each.

    The order of labels depends on all of them: once the last label that is not a number is gone, ``2`` comes before
    ``10``. So old numbers are looked up by label, never taken from the order of the larger vocabulary.
    """
    known = frozenset(public)
    smaller = Vocabulary(label for label, kept in zip(vocabulary, is_kept, strict=True) if kept or label in known)
    return smaller, vocabulary.numbers(smaller)


def with_leaves(hierarchy: Hierarchy, items: Iterable[str]) -> tuple[Hierarchy, NDArray[np.int32]]:
    """The hierarchy with further items below its root, and the new number of each of its nodes."""
    tree = hierarchy.with_items_below_root(items)
    number = np.arange(hierarchy.n_nodes, dtype=np.int32) + (tree.n_items - hierarchy.n_items)
    number[: hierarchy.n_items] = tree.vocabulary.numbers(hierarchy.vocabulary)
    assert [tree.labels[node] for node in number] == list(hierarchy.labels), "inner nodes keep their order"
    return tree, number

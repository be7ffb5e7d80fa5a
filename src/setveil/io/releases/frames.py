"""A release as frames and matrices: Polars, pandas, Arrow, SciPy, plain lists.

Records come in input order, as everywhere in the library, unless ``keep_order=False`` asks for the order of the
published files, which tells nothing about the original. Ids come along only if ``with_ids()`` asked for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.core.codebook import Codebook
from setveil.core.naming import fresh_name
from setveil.errors import InputError
from setveil.io.releases.tables import CODEBOOK_HEADER, SENSITIVE_HEADER
from setveil.io.transactions.writing import items_or_nothing
from setveil.releases import Release, is_grouped

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csr_array

LAYOUTS = ("long", "list", "onehot", "sensitive")
MOST_CELLS = 2_000_000_000  # of a one-hot frame, a byte each


@dataclass(frozen=True, eq=False)
class _View:
    """What a frame shows, in the order it shows it."""

    rows: Transactions
    ids: tuple[str, ...] | None
    id_name: str
    item_name: str
    group: NDArray[np.int64] | None  # [rows] of groupings, numbered as in the files

    @classmethod
    def of(cls, release: Release | Transactions, keep_order: bool) -> _View:
        if isinstance(release, Transactions):
            return cls(release, release.ids, "record" if release.ids is None else "id", "item", None)
        rows, group = release.rows, None
        order = None if keep_order else rows.lexicographic_order()
        if is_grouped(release):
            canonical = release.canonical()
            group = canonical.number[release.group_of] + 1
            order = None if keep_order else canonical.order
        if order is not None:
            rows, group = rows.select(order), None if group is None else group[order]
        reading = None if release.record is None else release.record.data.reading
        is_long = reading is not None and reading.layout == "long"
        ids = rows.ids if release.has_ids else None
        return cls(
            rows,
            ids,
            "record" if ids is None else (reading.id_column if is_long and reading else "") or "id",
            (reading.item_column if is_long and reading else "") or "item",
            group,
        )

    def heads(self, layout: str) -> dict[str, NDArray[Any]]:
        """Columns besides the items in list and one-hot frames; no label that is a column has their names."""
        taken = set(self.rows.vocabulary) if layout == "onehot" else {"items"}
        columns: dict[str, NDArray[Any]] = {}
        if self.ids is not None:
            columns[fresh_name(self.id_name, taken)] = np.array(self.ids, dtype=object)
        if self.group is not None:
            columns[fresh_name("group", taken)] = self.group
        return columns

    def long(self) -> tuple[dict[str, NDArray[Any]], NDArray[np.int32]]:
        """The columns beside the items, and the item of each row: a number, that after the last label for none."""
        items, lengths = items_or_nothing(self.rows, np.arange(self.rows.n_records))
        owners = np.repeat(np.arange(self.rows.n_records), lengths)
        columns: dict[str, NDArray[Any]] = {
            self.id_name: owners if self.ids is None else np.array(self.ids, dtype=object)[owners]
        }
        if self.group is not None:
            columns[fresh_name("group", {self.id_name, self.item_name})] = self.group[owners]
        return columns, items

    def one_hot(self) -> dict[str, NDArray[np.bool_]]:
        """A column of true and false per label."""
        if self.rows.n_records * self.rows.n_items > MOST_CELLS:
            raise InputError(
                f"a one-hot frame of {self.rows.n_records:,} records and {self.rows.n_items:,} items does not fit; "
                "to_sparse() does."
            )
        indptr, records = self.rows.inverted()
        columns = {}
        for item, label in enumerate(self.rows.vocabulary):
            cells = np.zeros(self.rows.n_records, dtype=bool)
            cells[records[indptr[item] : indptr[item + 1]]] = True
            columns[label] = cells
        return columns


def to_polars(release: Release | Transactions, layout: str = "long", *, keep_order: bool = True) -> pl.DataFrame:
    """The published records as a Polars frame."""
    import polars as pl

    from setveil.io.transactions.parquet import label_column, list_column

    if _checked(layout, release) == "sensitive":
        return pl.DataFrame(_counts(release))
    view = _View.of(release, keep_order)
    labels = list(view.rows.vocabulary)
    if layout == "long":
        columns, items = view.long()
        return pl.DataFrame({**_as_series(columns), view.item_name: label_column(items, [*labels, ""])})
    heads = _as_series(view.heads(layout))
    if layout == "onehot":
        return pl.DataFrame({**heads, **view.one_hot()}, height=view.rows.n_records)
    items, lengths = items_or_nothing(view.rows, np.arange(view.rows.n_records))
    return pl.DataFrame({**heads, "items": list_column(lengths, items, labels)}, height=view.rows.n_records)


def _as_series(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    return {name: values.tolist() if values.dtype == object else values for name, values in columns.items()}


def to_arrow(release: Release, layout: str = "long", *, keep_order: bool = True) -> pa.Table:
    """The published records as an Arrow table."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("to_arrow() needs pyarrow; pip install pyarrow.") from None
    return to_polars(release, layout, keep_order=keep_order).to_arrow()


def to_pandas(release: Release | Transactions, layout: str = "long", *, keep_order: bool = True) -> pd.DataFrame:
    """The published records as a pandas frame; with ids, list and one-hot frames have them as their index."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError("to_pandas() needs pandas; pip install pandas.") from None
    if _checked(layout, release) == "sensitive":
        return pd.DataFrame(_counts(release))
    view = _View.of(release, keep_order)
    labels = np.array([*view.rows.vocabulary, ""], dtype=object)
    if layout == "long":
        columns, items = view.long()
        return pd.DataFrame({**columns, view.item_name: labels[items]})
    index = None if view.ids is None else pd.Index(view.ids, name=view.id_name, dtype=object)
    heads = {name: values for name, values in view.heads(layout).items() if values.dtype != object}
    rows = view.rows
    cells: dict[str, Any] = view.one_hot() if layout == "onehot" else {"items": rows.to_lists()}
    return pd.DataFrame({**heads, **cells}, index=index if index is not None else pd.RangeIndex(rows.n_records))


def to_sparse(release: Release, *, keep_order: bool = True) -> csr_array:
    """A row per record, a column per published item, true where the record has it."""
    from scipy.sparse import csr_array

    rows = _View.of(release, keep_order).rows
    shape = (rows.n_records, rows.n_items)
    return csr_array((np.ones(rows.n_occurrences, dtype=bool), rows.items, rows.indptr), shape=shape)


def to_lists(release: Release, *, keep_order: bool = True) -> list[list[str]]:
    """Labels, record by record, each in ascending order."""
    return _View.of(release, keep_order).rows.to_lists()


def _checked(layout: str, release: Release | Transactions) -> str:
    if layout not in LAYOUTS:
        raise InputError(f'layout="{layout}": unknown; choose one of {", ".join(LAYOUTS)}.')
    if layout == "sensitive" and not getattr(release, "has_groups", False):
        raise InputError('layout="sensitive": only groupings count sensitive items; choose long, list or onehot.')
    return layout


def _counts(release: Any) -> dict[str, Any]:
    """The columns of ``sensitive.csv``, of a release with groups."""
    group = release.canonical().number[release.count_group] + 1
    order = np.lexsort((release.count_item, group))
    items = [release.sensitive[item] for item in release.count_item[order].tolist()]
    return dict(zip(SENSITIVE_HEADER, (group[order], items, release.count[order]), strict=True))


def codebook_to_polars(book: Codebook) -> pl.DataFrame:
    """A row per published item and item it covers."""
    import polars as pl

    return pl.DataFrame(_pairs(book), schema=dict.fromkeys(CODEBOOK_HEADER, pl.String))


def codebook_to_pandas(book: Codebook) -> pd.DataFrame:
    """A row per published item and item it covers."""
    import pandas as pd

    return pd.DataFrame(_pairs(book), columns=list(CODEBOOK_HEADER))


def _pairs(book: Codebook) -> dict[str, list[str]]:
    pairs = [(label, item) for label, items in book.items() for item in items]
    return {name: [pair[place] for pair in pairs] for place, name in enumerate(CODEBOOK_HEADER)}

"""The first reading of an input against the second one: all records of a small input; of a large one a sample of rows,
and how many records hold each item.

The sample follows from the input's digest, so that the same input is compared in the same rows. Messages name rows and
columns, never what they hold.
"""

from __future__ import annotations

import random
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.core.provenance import Interpretation, Reading, SecondReading
from setveil.errors import GuaranteeError, InputError, UncheckedError, one_line
from setveil.verify.originals.cells import DifferentError
from setveil.verify.originals.columns import ColumnValues
from setveil.verify.originals.json_texts import read_json
from setveil.verify.originals.layouts import Row, header_of, read_text
from setveil.verify.originals.objects import can_count, count_table, opened, parquet_rows_of, read_object, read_parquet
from setveil.verify.originals.text import TABLES, digest_of, rows_of
from setveil.verify.originals.totals import HASHED, Totals, count_fields, count_rows, read_rows_of

ALL_CELLS = 500_000  # up to so many, every one is compared
SAMPLED_ROWS = 1_000
PLAIN_CELLS = 10_000_000  # up to so many entries, totals are counted where only a row by row count is possible
ROW_IS_RECORD = ("fimi", "basket", "jsonl", *TABLES, "lists")  # but for a header


def compare_readings(data: Transactions, source: Any = None) -> Transactions:
    """The same data, with what came of reading its input a second time; ``source``: the object it was read from.

    Raises:
        GuaranteeError: the two readings differ.
    """
    reading = data.reading
    if reading is None or reading.interpretation is None or reading.second is not None:
        return data
    started = time.perf_counter()
    try:
        n_rows, n_compared, n_entries, has_totals, columns = _compare(data, reading, reading.interpretation, source)
        second = SecondReading(
            time.perf_counter() - started,
            n_compared,
            n_rows,
            n_entries,
            totals_compared=has_totals,
            columns_not_compared=tuple(sorted(columns)),
        )
    except UncheckedError as problem:
        second = SecondReading(time.perf_counter() - started, not_compared=str(problem))
    return replace(data, reading=replace(reading, second=second))


def read_again(data: Transactions, source: Any = None) -> tuple[Transactions, list[str]]:
    """All records as the second reader reads them, and where the readings differ, in at most one line.

    Raises:
        UncheckedError: there is no second reading of such an input.
    """
    reading = data.reading
    if reading is None or reading.interpretation is None:
        raise UncheckedError("the original was given as records, not as a file; there is nothing to read again.")
    form = reading.interpretation
    try:
        _refuse_changed(reading, form)
        source = opened(source)
        records = _all_records(form, source)
        again = Transactions.from_lists(row.labels for row in records)
        if not _compare_all(data, records, form):  # columns are the same
            again = replace(again, columns=data.columns)
    except DifferentError as problem:
        return data, [_sentence(reading, form, problem)]
    except (UnicodeError, ValueError, KeyError, IndexError, TypeError, EOFError, zlib.error):
        return data, [_sentence(reading, form, None)]
    return again, []


def _compare(
    data: Transactions, reading: Reading, form: Interpretation, source: Any
) -> tuple[int, int, int, bool, set[str]]:
    """``(rows of the input, rows compared, entries compared, whether the totals were compared, columns that were
    not)``.
    """
    try:
        _refuse_changed(reading, form)
        source = opened(source)
        if _is_small(data, form):
            records = _all_records(form, source)
            columns = _compare_all(data, records, form)
            return len(records), len(records), data.n_occurrences, True, columns
        n_rows, n_compared, n_entries, columns = _compare_sample(data, form, source, reading.sha256 or "")
        return n_rows, n_compared, n_entries, _compare_totals(data, form, source), columns
    except DifferentError as problem:
        raise GuaranteeError(f"not published: {_sentence(reading, form, problem)}") from None
    except (UnicodeError, ValueError, KeyError, IndexError, TypeError, EOFError, zlib.error):
        raise GuaranteeError(f"not published: {_sentence(reading, form, None)}") from None


def _is_small(data: Transactions, form: Interpretation) -> bool:
    n_cells = data.n_occurrences + data.n_records
    if form.shape in ("wide", "onehot", "table"):
        n_cells = max(n_cells, data.n_records * form.n_columns)
    return n_cells <= ALL_CELLS or form.container == "json"


def _refuse_changed(reading: Reading, form: Interpretation) -> None:
    if form.container == "object":
        return
    if form.path is None:
        raise UncheckedError("standard input cannot be read a second time; name the file.")
    if digest_of(form.path) != reading.sha256:
        raise InputError(f"{one_line(reading.name, 120)}: the file changed after it was read; run it again.")


def _sentence(reading: Reading, form: Interpretation, problem: DifferentError | None) -> str:
    where, what = "", "the input"
    if problem is not None:
        where, what = (
            (f" at row {problem.row:,}", "that row") if problem.row else (" in the totals of items", "the input")
        )
    if problem is not None and problem.column:
        where += f', column "{one_line(problem.column, 60)}"'
    return (
        f"{one_line(reading.name, 120)}: two independent readers understand the input differently{where}; check "
        f"{what}, or name the layout and the columns, and report it as an error of setveil."
    )


def _rows(form: Interpretation, source: Any, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    if form.container == "object":
        return read_object(source, form, chosen)
    if form.container == "parquet":
        return read_parquet(form, chosen)
    return read_json(form) if form.container == "json" else read_text(form, chosen)


# -- all records ------------------------------------------------------------------------------------------------------


def _all_records(form: Interpretation, source: Any) -> list[Row]:
    """Rows of one id are one record, in the order of first appearance."""
    return list(_joined(_rows(form, source)))


def _joined(rows: Iterable[Row]) -> Iterable[Row]:
    records: dict[Any, Row] = {}
    for row in rows:
        key = row.number if row.id is None else row.id
        if key in records:
            records[key].labels.extend(row.labels)
            records[key].cells.extend(row.cells)
        else:
            records[key] = row
    return records.values()


def _compare_all(data: Transactions, records: Sequence[Row], form: Interpretation) -> set[str]:
    """The columns that could not be compared; DifferentError if anything else differs."""
    values = ColumnValues(data, form)
    for place, (row, labels) in enumerate(zip(records, data.to_lists(), strict=False)):
        if set(row.labels) != set(labels):
            raise DifferentError(row.number, _column(form, set(row.labels) ^ set(labels)))
        if values.columns:
            values.compare(row, place)
    if len(records) != data.n_records:
        shorter = min(len(records), data.n_records)
        raise DifferentError(records[shorter].number if shorter < len(records) else shorter + 1)
    return values.unread


def _column(form: Interpretation, labels: set[str]) -> str:
    """The column in which the readings differ, where a label tells."""
    if form.container in ("json", "parquet", "object") or form.shape not in TABLES:
        return ""
    names = header_of(form)
    if form.shape == "long":
        return names[form.item_positions[0]]
    if form.shape == "onehot":
        return min(labels & set(names), default="")
    return next((name for name in names for label in sorted(labels) if label.startswith(name + "=")), "")


# -- totals -----------------------------------------------------------------------------------------------------------


def _compare_totals(data: Transactions, form: Interpretation, source: Any) -> bool:
    """Whether the number of records and the support of every item were compared; a difference is an error.

    Rows that are counted by their hashes are counted again one by one before a difference is believed.
    """
    is_short = data.n_occurrences <= PLAIN_CELLS
    if form.container in HASHED:
        is_same = _is_same(count_fields(form, data.vocabulary), data)
    elif form.container == "parquet" or can_count(source):
        is_same = _is_same(count_table(form, data.vocabulary, source if form.container == "object" else None), data)
    elif not is_short:
        return False
    else:
        is_same = False
    if not is_same and not _is_same(totals := count_rows(_rows(form, source), data.vocabulary), data):
        differs = np.flatnonzero(totals.supports != data.supports)
        raise DifferentError(0, _column(form, {data.vocabulary[int(item)] for item in differs}))
    return True


def _is_same(totals: Totals, data: Transactions) -> bool:
    return totals.n_records == data.n_records and np.array_equal(totals.supports, data.supports)


# -- a sample ---------------------------------------------------------------------------------------------------------


def _compare_sample(
    data: Transactions, form: Interpretation, source: Any, digest: str
) -> tuple[int, int, int, set[str]]:
    n_rows = _n_rows(data, form, source)
    header = int(form.has_header and form.container in TABLES)
    n_body = n_rows - header
    numbers = sorted(random.Random(digest).sample(range(n_body), min(SAMPLED_ROWS, n_body)))
    rows = list(_rows(form, source, [number + header for number in numbers]))
    has_ids = form.id_position is not None or any(row.id is not None for row in rows)
    if form.container in ("fimi", "basket") and n_body != data.n_records:
        raise DifferentError(min(n_body, data.n_records) + 1)
    values = ColumnValues(data, form)
    if n_body == data.n_records and form.shape in ROW_IS_RECORD:
        for row in rows:
            labels = [data.vocabulary[int(item)] for item in data.record(row.number - 1 - header)]
            if set(row.labels) != set(labels):
                raise DifferentError(row.number, _column(form, set(row.labels) ^ set(labels)))
            values.compare(row, row.number - 1 - header)
    else:
        rows = list(_joined(_rows_of(form, source, {str(row.id) for row in rows})) if has_ids else rows)
        find, seen = _Finder(data), Counter[frozenset[str]]()
        for row in rows:
            seen[frozenset(row.labels)] += 1
            same = find.records(row.labels)
            if seen[frozenset(row.labels)] > len(same):
                raise DifferentError(row.number, _column(form, set()) if form.shape == "long" else "")
            values.compare_any(row, same)
    return n_body, len(rows), sum(len(set(row.labels)) for row in rows), values.unread


def _n_rows(data: Transactions, form: Interpretation, source: Any) -> int:
    if form.container == "object":
        is_table = isinstance(source, Mapping) and form.n_columns
        if hasattr(source, "shape"):  # a matrix or a frame
            return int(source.shape[0])
        return len(next(iter(source.values())) if is_table else source)
    if form.container == "parquet":
        from setveil.verify.originals.objects import n_rows_of_parquet

        return n_rows_of_parquet(form)
    n_rows = 0
    for rows in rows_of(form):
        n_rows += len(rows.ends)
    return n_rows


def _rows_of(form: Interpretation, source: Any, ids: set[str]) -> Iterator[Row]:
    """All rows that have one of the ids."""
    if form.container == "parquet":
        return parquet_rows_of(form, ids)
    if form.container in TABLES:
        return read_rows_of(form, ids)
    return (row for row in _rows(form, source) if row.id in ids)


class _Finder:
    """Which records have a set of labels and nothing else: found by a sum of random numbers, then looked at."""

    def __init__(self, data: Transactions) -> None:
        self.data = data
        self.weights = np.random.default_rng(0).integers(1, 2**63, size=max(data.n_items, 1), dtype=np.uint64)
        total = np.zeros(data.n_occurrences + 1, dtype=np.uint64)
        np.cumsum(self.weights[data.items], out=total[1:])  # wraps around, and so do the differences
        sums: NDArray[np.uint64] = total[data.indptr[1:]] - total[data.indptr[:-1]]
        self.order = np.argsort(sums, kind="stable")
        self.sums = sums[self.order]

    def records(self, labels: Sequence[str]) -> NDArray[np.int64]:
        items = np.unique(self.data.vocabulary.numbers(labels))
        if len(items) and items[0] < 0:
            return self.order[:0]
        with np.errstate(over="ignore"):
            wanted = np.add.reduce(self.weights[items], dtype=np.uint64)
        first, last = np.searchsorted(self.sums, wanted, "left"), np.searchsorted(self.sums, wanted, "right")
        is_it = first < last and np.array_equal(self.data.record(int(self.order[first])), items)
        return self.order[first:last] if is_it else self.order[:0]

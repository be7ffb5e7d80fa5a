"""Parquet, read and written through Polars, with fixed settings: equal records give equal bytes with equal versions."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.quiet_stderr import quiet_stderr
from setveil.core.transactions import Transactions
from setveil.errors import InputError
from setveil.io.formats.base import Plan
from setveil.io.formats.registry import words_for
from setveil.io.options import ReadOptions
from setveil.io.source import PARQUET, Source
from setveil.io.transactions.columns import PolarsFrame, ScannedFrame
from setveil.io.transactions.frames import from_frame

if TYPE_CHECKING:
    import polars as pl

LARGE_FILE = 1 << 26  # bytes; a larger file is read a part at a time,
LARGE_LISTS = 1 << 22  # and so is one of lists, which take many times their size on disk
ROW_GROUP = 1_000_000  # rows
AT_ONCE = 100_000  # records that are written at once


# -- reading ----------------------------------------------------------------------------------------------------------


def read_parquet(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read a list column, one row per (id, item), or one column per item."""
    data, plan = from_frame(open_frame(source), options, in_file=True)
    if data.n_records == 0:
        raise source.error("the file holds no records.", None)
    return data, replace(plan, layout="parquet", shape=plan.layout, kind=f"Parquet, {words_for(plan.layout)}")


def open_frame(source: Source) -> PolarsFrame:
    """The file as a frame: a small one whole, a large one part by part; what Polars cannot read is refused."""
    if not source.start().startswith(PARQUET):
        raise source.error("is not a Parquet file; name its layout with --format.", None)
    import polars as pl

    file: Path | IO[bytes]
    if source.path and source.is_plain_file:
        file, size = source.path, source.path.stat().st_size
    else:
        content = source.whole()
        file, size = io.BytesIO(content), len(content)

    def collect(scan: pl.LazyFrame) -> pl.DataFrame:
        with _as_damaged(source):
            return scan.collect()

    with _as_damaged(source):
        scan = pl.scan_parquet(file, glob=False, hive_partitioning=False)
        has_lists = any(isinstance(kind, pl.List) for kind in scan.collect_schema().dtypes())
        if size > (LARGE_LISTS if has_lists else LARGE_FILE):
            return ScannedFrame(scan, collect, source.name)
        return PolarsFrame(collect(scan), source.name)


@contextmanager
def _as_damaged(source: Source) -> Iterator[None]:
    """Whatever Polars cannot read becomes an error with the file's name."""
    import polars as pl

    try:
        with quiet_stderr():  # on damaged files Polars prints a stack trace before it raises
            yield
    except InputError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise source.error("the Parquet data is damaged or incomplete; write the file again.", None) from None


# -- writing ----------------------------------------------------------------------------------------------------------


def list_column(lengths: NDArray[np.int64], numbers: NDArray[np.int32], labels: Sequence[str]) -> pl.Series:
    """A list of labels per row; ``numbers`` beyond the labels stand for nothing, so that empty rows have an entry."""
    import polars as pl

    rows = np.repeat(np.arange(len(lengths)), lengths)
    flat = pl.DataFrame({"row": rows, "items": label_column(numbers, [*labels, None])})
    return flat.group_by("row", maintain_order=True).agg(pl.col("items").drop_nulls())["items"]


def label_column(numbers: NDArray[np.integer], labels: Sequence[str | None]) -> pl.Series:
    """The label of each number."""
    import polars as pl

    return pl.Series(labels, dtype=pl.String).gather(numbers)


def encode(n_records: int, part: Callable[[slice], Mapping[str, Any]]) -> bytes:
    """The bytes of a file; the same for the same columns and the same version of Polars.

    ``part`` makes the columns of some records. Many are made and written a part at a time, always the same parts.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    file = io.BytesIO()
    written: Any = {"compression": "zstd", "compression_level": 3, "statistics": False, "row_group_size": ROW_GROUP}
    first = pl.DataFrame(part(slice(0, AT_ONCE)))
    if n_records <= AT_ONCE:
        first.write_parquet(file, **written)
        return file.getvalue()

    def parts(*_: Any) -> Iterator[pl.DataFrame]:
        yield first
        for start in range(AT_ONCE, n_records, AT_ONCE):
            yield pl.DataFrame(part(slice(start, start + AT_ONCE)))

    register_io_source(parts, schema=first.schema).sink_parquet(file, **written)
    return file.getvalue()

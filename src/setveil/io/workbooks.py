"""Sheets of Excel workbooks as delimited text: one line per row, cells as they are shown.

Dates are written as 2024-03-31, whole numbers without decimals. From there on a sheet is read like any other table, and
messages name its rows by line. The reader is Polars' own for Excel, with fastexcel (``setveil[excel]``).
"""

from __future__ import annotations

import io
import re
from typing import Any

from setveil.errors import InputError, name_some, one_line

MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) 00:00:00(?:\.0+)?")
INSTALL = (
    'reading Excel workbooks needs fastexcel; install it with pip install "setveil[excel]", or save the sheet as CSV'
)


def sheets_of(content: bytes) -> list[str]:
    """The names of the sheets of a workbook; none where it cannot be opened."""
    try:
        import fastexcel

        return list(fastexcel.read_excel(content).sheet_names)
    except Exception:  # reading it says why
        return []


def sheet_as_text(content: bytes, sheet: str | None, where: str) -> bytes:
    """A sheet as comma-separated text in UTF-8; an error if several could be meant."""
    try:
        import fastexcel
    except ImportError:
        raise InputError(f"{where}: {INSTALL}.") from None
    import polars as pl

    try:
        names = list(fastexcel.read_excel(content).sheet_names)
    except Exception:  # whatever the reader calls it
        raise InputError(f"{where}: is not a workbook, or is damaged; save it again, or as CSV.") from None
    if sheet is not None and sheet not in names:
        raise InputError(
            f'{where}: there is no sheet "{one_line(sheet)}" among {name_some(names, 10)}; correct --sheet.'
        )
    wanted = [sheet] if sheet is not None else names
    try:
        tables = {name: _read(pl, content, name) for name in wanted}
    except Exception:
        raise InputError(f"{where}: a sheet cannot be read; save it as CSV.") from None
    filled = [name for name, rows in tables.items() if rows]
    if not filled:
        raise InputError(f"{where}: the sheet is empty; name another with --sheet.")
    if len(filled) > 1:
        raise InputError(f"{where}: the workbook has several sheets ({name_some(filled, 10)}); name one with --sheet.")
    return b"".join(_line(row) for row in _within_table(tables[filled[0]], where))


def _read(pl: Any, content: bytes, name: str) -> list[list[str]]:
    """The cells of a sheet as text, empty ones at its edges aside."""
    frame = pl.read_excel(
        io.BytesIO(content), engine="calamine", sheet_name=name, has_header=False, infer_schema_length=0,
        drop_empty_rows=False, drop_empty_cols=False, raise_if_empty=False,
    )  # fmt: skip
    rows = [[_shown(cell) for cell in row] for row in frame.cast(pl.String).rows()]
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((place + 1 for row in rows for place, cell in enumerate(row) if cell), default=0)
    return [row[:width] for row in rows]


def _shown(cell: str | None) -> str:
    if cell is None:
        return ""
    found = MIDNIGHT.fullmatch(cell)
    return found.group(1) if found else cell


def _within_table(rows: list[list[str]], where: str) -> list[list[str]]:
    """The rows, if an empty column does not part them into two tables beside each other."""
    width = len(rows[0])
    for place in range(1, width - 1):
        if not any(row[place] for row in rows):
            raise InputError(
                f"{where}:1: column {place + 1} is empty, as between two tables in one sheet; keep one table per sheet."
            )
    return rows


def _line(row: list[str]) -> bytes:
    if not any(row):
        return b"\n"  # a gap, which the reader of tables names by its line
    return (",".join(map(_field, row)) + "\n").encode()


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text

"""Sheets of Excel workbooks, read again: the XML parts of the archive, cell by cell, with nothing but the standard
library.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import NamedTuple
from xml.etree import ElementTree

from setveil.errors import UncheckedError

DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # numbers that need no declaration
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
REFERENCE = re.compile(r"([A-Z]+)([0-9]+)")
LARGEST = 1 << 30  # bytes of a part, unpacked


class Book(NamedTuple):
    """What all sheets of a workbook share."""

    parts: zipfile.ZipFile
    texts: list[str]
    is_date: list[bool]  # [styles]
    first_day: datetime


def sheet_rows(content: bytes, sheet: str | None) -> list[list[str]]:
    """The rows of the sheet, or of the only one with cells, without empty rows and columns around them."""
    parts = zipfile.ZipFile(BytesIO(content))
    book, positions = _open(parts)
    names = [sheet] if sheet is not None else list(positions)
    found = [rows for name in names if (rows := _rows(book, positions[name]))]
    if len(found) != 1:
        raise ValueError("not one sheet with cells")
    return found[0]


def sheet_lines(content: bytes, sheet: str | None) -> Iterator[bytes]:
    """The same as comma-separated text."""
    for row in sheet_rows(content, sheet):
        fields = [
            '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ',"\r\n') else cell for cell in row
        ]
        yield (",".join(fields) if any(row) else "").encode() + b"\n"


def _open(parts: zipfile.ZipFile) -> tuple[Book, dict[str, str]]:
    """The workbook, and the part of each sheet by its name."""
    top = _part(parts, "xl/workbook.xml")
    targets = {one.get("Id"): one.get("Target", "") for one in _part(parts, "xl/_rels/workbook.xml.rels")}
    positions = {}
    for one in _named(top, "sheet"):
        target = targets[one.get(RELATION)]
        positions[one.get("name", "")] = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
    has_texts = "xl/sharedStrings.xml" in parts.namelist()
    texts = [_text(one) for one in _named(_part(parts, "xl/sharedStrings.xml"), "si")] if has_texts else []
    is_1904 = any(one.get("date1904") in ("1", "true") for one in _named(top, "workbookPr"))
    first = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)
    return Book(parts, texts, _date_styles(parts), first), positions


def _part(parts: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if parts.getinfo(name).file_size > LARGEST:
        raise UncheckedError("the sheet is too large to be read a second time.")
    return ElementTree.fromstring(parts.read(name))


def _named(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (one for one in element.iter() if one.tag.rpartition("}")[2] == name)


def _text(element: ElementTree.Element) -> str:
    """All runs of a text, but not how it is pronounced."""
    found = ""
    for child in element:
        tag = child.tag.rpartition("}")[2]
        found += (child.text or "") if tag == "t" else _text(child) if tag == "r" else ""
    return found


def _date_styles(parts: zipfile.ZipFile) -> list[bool]:
    if "xl/styles.xml" not in parts.namelist():
        return []
    top = _part(parts, "xl/styles.xml")
    declared = {int(one.get("numFmtId", 0)): one.get("formatCode", "") for one in _named(top, "numFmt")}
    for code in declared.values():
        if re.search(r"\[[hms]+\]", code, re.IGNORECASE):
            raise UncheckedError("a workbook with lengths of time cannot be read a second time.")
    formats = [int(one.get("numFmtId", 0)) for styles in _named(top, "cellXfs") for one in styles]
    return [_is_date(declared[number]) if number in declared else number in DATE_FORMATS for number in formats]


def _is_date(code: str) -> bool:
    bare = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.', "", code.partition(";")[0])
    return bool(re.search(r"[dmyhs]", bare, re.IGNORECASE)) and "General" not in bare


def _rows(book: Book, part: str) -> list[list[str]]:
    cells: dict[tuple[int, int], str] = {}
    row_number = 0
    for row in _named(_part(book.parts, part), "row"):
        row_number = int(row.get("r", row_number + 1))
        column = -1
        for cell in _named(row, "c"):
            found = REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(found.group(1)) if found else column + 1
            text = _shown(book, cell)
            if text:
                cells[row_number, column] = text
    if not cells:
        return []
    rows, columns = {place[0] for place in cells}, {place[1] for place in cells}
    return [
        [cells.get((row, column), "") for column in range(min(columns), max(columns) + 1)]
        for row in range(min(rows), max(rows) + 1)
    ]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _shown(book: Book, cell: ElementTree.Element) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_text(one) for one in cell if one.tag.endswith("}is"))
    value = next((one.text or "" for one in cell if one.tag.endswith("}v")), "")
    if kind == "e":
        raise UncheckedError("a workbook with errors in its cells cannot be read a second time.")
    if not value:
        return ""
    if kind == "s":
        return book.texts[int(value)]
    if kind == "b":
        return "true" if value == "1" else "false"
    if kind != "n":
        return value
    style = int(cell.get("s", 0))
    if style < len(book.is_date) and book.is_date[style]:
        seconds = round(float(value) * 86400)
        moment = book.first_day + timedelta(seconds=seconds)
        return moment.strftime("%Y-%m-%d" if seconds % 86400 == 0 else "%Y-%m-%d %H:%M:%S")
    number = format(Decimal(repr(float(value))), "f")
    return (number.rstrip("0").rstrip(".") if "." in number else number) or "0"

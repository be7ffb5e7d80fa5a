"""Readers of real files by the book: the whole text at once, what each column means said by hand."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence

Records = list[set[str]]
YES = {"1", "true", "t", "yes", "y", "x", "2", "3", "4", "5", "7", "12"}


def rows_of(text: str, delimiter: str = ",", header: bool = True) -> list[list[str]]:
    if delimiter == "::":
        rows = [line.split("::") for line in text.splitlines()]
    else:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    return rows[1:] if header else rows


def long(
    text: str,
    id_position: int = 0,
    item_place: int = 1,
    delimiter: str = ",",
    header: bool = True,
    parts: Callable[[str], Sequence[str]] = lambda cell: [cell],
) -> Records:
    """One row per person and item."""
    records: dict[str, set[str]] = {}
    for row in rows_of(text, delimiter, header):
        records.setdefault(row[id_position], set()).update(
            part.strip() for part in parts(row[item_place]) if part.strip()
        )
    return list(records.values())


def wide(
    text: str, places: Sequence[int], id_position: int | None = None, delimiter: str = ",", header: bool = True
) -> Records:
    """One row per person, a cell per item."""
    records: dict[str, set[str]] = {}
    for number, row in enumerate(rows_of(text, delimiter, header)):
        key = str(number) if id_position is None else row[id_position]
        records.setdefault(key, set()).update(row[place] for place in places if row[place])
    return list(records.values())


def onehot(text: str, places: Sequence[int], delimiter: str = ",", header: bool = True) -> Records:
    """One row per person, one column per item."""
    rows = rows_of(text, delimiter, header=False)
    names = rows[0] if header else [str(place + 1) for place in range(len(rows[0]))]
    body = rows[1:] if header else rows
    return [{names[place] for place in places if row[place].strip().lower() in YES} for row in body]


def values(text: str, places: Sequence[int], delimiter: str = ",", header: bool = True) -> Records:
    """Items column=value."""
    rows = rows_of(text, delimiter, header=False)
    names = rows[0] if header else [str(place + 1) for place in range(len(rows[0]))]
    body = rows[1:] if header else rows
    return [{f"{names[p]}={row[p].strip()}" for p in places if row[p].strip() not in ("", "?")} for row in body]


def baskets(text: str, delimiter: str = ",") -> Records:
    """One line per person."""
    return [{cell.strip() for cell in row if cell.strip()} for row in rows_of(text, delimiter, header=False)]


def words(text: str) -> Records:
    """Words between blanks, SPMF's separators aside."""
    return [set(line.split()) - {"-1", "-2"} for line in text.splitlines()]


def gene_sets(text: str) -> Records:
    """Name, description, genes."""
    return [set(line.split("\t")[2:]) - {""} for line in text.splitlines()]


def json_records(text: str, key: str) -> Records:
    """A list of objects with a list each."""
    return [set(map(str, record[key])) for record in json.loads(text)]


def arff(text: str) -> Records:
    """Yes-or-no attributes by their names, others as name=value; dense and sparse rows."""
    head, _, data = re.split(r"(?i)(@data)\n", text)
    declared = re.findall(r"(?im)^@attribute\s+'?([^'\s]+)'?\s+\{(.*)\}$", head)
    records = []
    for line in data.splitlines():
        cells = list(enumerate(line.split(",")))
        if line.startswith("{"):
            cells = [
                (int(entry.split()[0]), entry.split()[1]) for entry in line.strip("{}").split(",") if entry.strip()
            ]
        record = set()
        for place, cell in cells:
            name, kinds = declared[place]
            is_answer = {kind.strip().lower() for kind in kinds.split(",")} <= {
                "t",
                "f",
                "0",
                "1",
                "y",
                "n",
                "yes",
                "no",
            }
            if cell.strip() != "?" and (not is_answer or cell.strip().lower() in YES):
                record.add(name if is_answer else f"{name}={cell.strip()}")
        records.append(record)
    return records

"""Readers by the book: whole text in memory, one record after the other."""

from __future__ import annotations

import csv
import io
import json

Lists = list[list[str]]


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_fimi(text: str) -> Lists:
    return [line.split() for line in lines_of(text)]


def read_spmf(text: str) -> Lists:
    names: dict[str, str] = {}
    records = []
    for line in lines_of(text):
        if line.startswith("@ITEM="):
            number, name = line.removeprefix("@ITEM=").split("=", 1)
            names[number] = name
        elif not line.startswith(("@", "#", "%")):
            records.append([names.get(token, token) for token in line.split() if token not in ("-1", "-2")])
    return records


def read_long(text: str, delimiter: str = ",", id_position: int = 0, item_place: int = 1) -> dict[str, list[str]]:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    records: dict[str, list[str]] = {}
    for row in rows[1:]:
        record = records.setdefault(row[id_position], [])
        if row[item_place]:
            record.append(row[item_place])
    return records


def read_basket(text: str, delimiter: str = ",") -> Lists:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [[item for item in row if item] for row in rows]


def read_json_lines(text: str) -> Lists:
    records = []
    for line in lines_of(text):
        record = json.loads(line)
        records.append([str(item) for item in (record["items"] if isinstance(record, dict) else record)])
    return records


def as_sets(records: Lists) -> list[set[str]]:
    return [set(record) for record in records]

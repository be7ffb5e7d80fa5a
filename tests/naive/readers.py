"""Every reader by the book, with the standard library alone: one cell after the other, the rules of docs/formats.md.

Each function gives one ``(id, items)`` per record in order of first appearance, or raises ``Refused``. Nothing here
shares code with ``setveil.io``.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Records = list[tuple[str, set[str]]]

MISSING = {"?", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "None", "\\N", "null", "NULL", "Null"} | {
    *("unknown", "UNKNOWN", "Unknown", "missing", "MISSING", "Missing")
}
NAN = {"NaN", "nan", "NAN"}
NOBODY = {
    spelt
    for word in {"NA", "N/A", "NaN", "null", "None", "?", "-", "#N/A", ".", "missing", "unknown", "\\N"}
    for spelt in (word, word.lower(), word.upper(), word.capitalize())
}
YES = {"true", "t", "yes", "y", "x", "✓", "present"}
NO = {"false", "f", "no", "n", "absent", ""}


class Refused(Exception):
    """The input is an error."""


class People:
    """Records by id, in order of first appearance."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def add(self, person: str, items: Iterable[str]) -> None:
        self._of.setdefault(person, set()).update(items)

    def records(self) -> Records:
        if not self._of:
            raise Refused("no records")
        return list(self._of.items())


# -- cells of tables ---------------------------------------------------------------------------------------------------


def item_of(cell: str, missing: str | None, blank_is_empty: bool) -> str | None:
    """What a cell says, None if nothing; a word for "missing" is refused unless its meaning is known."""
    if cell == "" or (blank_is_empty and cell.strip() == ""):
        return None
    if missing != "value":
        word = cell.strip()
        if word == "" or word in MISSING or (missing == "drop" and word in NAN):
            if missing is None:
                raise Refused(f"missing: {cell!r}")
            return None
    return cell


def parts_of(cell: str, split: str | None, missing: str | None, strip: bool) -> list[str]:
    """The items of a cell of a long or wide table."""
    whole = item_of(cell, missing, blank_is_empty=strip)
    if whole is None:
        return []
    if split is None:
        texts = [whole]
    else:
        texts = whole.split() if split.isspace() else [part.strip() for part in whole.split(split)]
        texts = [text for part in texts if (text := item_of(part, missing, blank_is_empty=True)) is not None]
    return [text for text in (text.strip() if strip else text for text in texts) if text]


def is_there(cell: str, missing: str | None) -> bool:
    said = item_of(cell, missing, blank_is_empty=True)
    word = "" if said is None else said.strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", word):
        return float(word) > 0
    raise Refused(f"neither yes nor no: {cell!r}")


def read_rows(
    layout: str,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    id_position: int | None,
    places: Sequence[int],
    missing: str | None = None,
    split: str | None = None,
    strip: bool = False,
) -> Records:
    """A table whose cells are text, empty ones ``""``."""
    people = People()
    if layout == "onehot" and split is not None:
        raise Refused("split")
    for number, row in enumerate(rows):
        person = str(number) if id_position is None else row[id_position]
        if person == "" or (missing != "value" and person in NOBODY):
            raise Refused("no id")
        items: list[str] = []
        for place in places:
            if layout in ("long", "wide"):
                items += parts_of(row[place], split, missing, strip)
            elif layout == "onehot":
                items += [names[place]] if is_there(row[place], missing) else []
            else:
                texts = [row[place]]
                if split is not None:
                    texts = row[place].split() if split.isspace() else row[place].split(split)
                said = [item_of(text, missing, blank_is_empty=True) for text in texts]
                items += [f"{names[place]}={text.strip()}" for text in said if text is not None]
        people.add(person, [item.strip() for item in items] if strip else items)
    return people.records()


def read_people(
    layout: str,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    person: str,
    items: Sequence[str],
    columns: Sequence[str],
    missing: str | None = None,
    missing_person: str | None = None,
    per_person: str | None = None,
) -> list[tuple[str, set[str], dict[str, str | None]]]:
    """A table with columns of people: id, items, and the value of every column, None if it is missing."""
    place_of = {name: place for place, name in enumerate(names)}
    for row in rows:  # a word for "missing" is refused wherever it stands
        for name in columns:
            item_of(row[place_of[name]], missing, blank_is_empty=True)
    left = []
    for row in rows:
        id = row[place_of[person]]
        is_nobody = id == "" or (missing != "value" and id in NOBODY)
        if is_nobody and missing_person != "drop":
            raise Refused("no id")
        if not is_nobody:
            left.append(row)
        else:
            read_rows(layout, names, [[*row[: place_of[person]], "x", *row[place_of[person] + 1 :]]], place_of[person],
                      [place_of[item] for item in items], missing)  # fmt: skip
    records = read_rows(layout, names, left, place_of[person], [place_of[item] for item in items], missing)
    found = []
    for id, labels in records:
        values: dict[str, str | None] = {}
        for name in sorted(columns, key=place_of.__getitem__):
            cells = [row[place_of[name]] for row in left if row[place_of[person]] == id]
            said = [item_of(cell, missing, blank_is_empty=True) for cell in cells]
            every = [item_of(row[place_of[name]], missing, blank_is_empty=True) for row in left]
            values[name] = one_of(
                [text.strip() for text in said if text is not None],
                per_person,
                {text.strip() for text in every if text is not None},
            )
        found.append((id, labels, values))
    return found


def one_of(values: list[str], rule: str | None, every: set[str]) -> str | None:
    """The value of a person from those of their rows; ``every``: the values of all people."""
    if not values:
        return None
    if rule is None:
        if len(set(values)) > 1:
            raise Refused("values differ")
        return values[0]
    if rule in ("first", "last"):
        return values[0 if rule == "first" else -1]
    numeric = all(re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", text) for text in every)

    def key(text: str) -> Any:
        return (float(text), text) if numeric else (0.0, text)

    if rule == "most":
        return min(set(values), key=lambda text: (-values.count(text), key(text)))
    return (min if rule == "min" else max)(set(values), key=key)


def lines_of_table(text: str, delimiter: str) -> list[list[str]]:
    """Rows of fields; empty lines at the end are none, elsewhere an error."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as problem:
        raise Refused(str(problem)) from None
    if not rows:
        raise Refused("empty")
    if len(rows[0]) == 1 and any(row in ([], [""]) for row in rows):
        raise Refused("an empty line in a table of one column")
    while rows and rows[-1] in ([], [""]):
        rows.pop()
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise Refused("rows of different lengths")
    return rows


def read_table(
    layout: str, text: str, delimiter: str, header: bool, id_position: int | None, places: Sequence[int], **options: Any
) -> Records:
    rows = lines_of_table(text.removeprefix("\ufeff"), delimiter)
    names = rows[0] if header else [str(place + 1) for place in range(len(rows[0]))]
    first, *others = lines_of(text)
    if header and first in [line.removeprefix("\ufeff") for line in others]:
        raise Refused("the header again")
    if max(*places, -1 if id_position is None else id_position) >= len(names) or len(set(names)) < len(names):
        raise Refused("columns")
    return read_rows(layout, names, rows[1:] if header else rows, id_position, places, **options)


# -- lines -------------------------------------------------------------------------------------------------------------


def lines_of(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(sets: Iterable[Iterable[str]]) -> Records:
    records = [(str(number), set(items)) for number, items in enumerate(sets)]
    if not records:
        raise Refused("no records")
    return records


def read_basket(text: str, delimiter: str) -> Records:
    records = []
    for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True):
        while row and row[-1] == "":
            row.pop()
        if "" in row:
            raise Refused("an empty field before an item")
        records.append(row)
    return numbered(records)


def read_fimi(text: str) -> Records:
    records = [re.split(r"[ \t]+", line.strip(" \t")) if line.strip(" \t") else [] for line in lines_of(text)]
    if any(not re.fullmatch("[0-9]+", token) for record in records for token in record):
        raise Refused("no number")
    return numbered(records)


def read_spmf(text: str) -> Records:
    names: dict[str, str] = {}
    records = []
    for line in lines_of(text):
        if line.startswith("@ITEM="):
            item, _, name = line.removeprefix("@ITEM=").partition("=")
            if item in ("-1", "-2"):
                continue
            if not re.fullmatch("[0-9]+", item) or not name or names.setdefault(item, name) != name:
                raise Refused("@ITEM")
        elif not line.startswith(("@", "#", "%")):
            tokens = line.split()
            if "-2" in tokens[:-1] or any(not re.fullmatch("[0-9]+|-[12]", token) for token in tokens):
                raise Refused("token")
            records.append([token for token in tokens if token not in ("-1", "-2")])
    if names:
        if len(set(names.values())) < len(names):
            raise Refused("two items of one name")
        try:
            records = [[names[token] for token in record] for record in records]
        except KeyError:
            raise Refused("no name") from None
    return numbered(records)


def read_gmt(text: str) -> Records:
    people = People()
    for line in lines_of(text):
        fields = line.split("\t")
        if len(fields) < 2 or fields[0] == "":
            raise Refused("fields")
        people.add(fields[0], [field for field in fields[2:] if field])
    return people.records()


# -- JSON --------------------------------------------------------------------------------------------------------------


def parse(text: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Refused("a key twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except ValueError:
        raise Refused("no JSON") from None


def label_of(value: Any) -> str:
    """An item of a list: text or a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Refused(f"no label: {value!r}")
    return str(value)


def labels_of(values: Any) -> set[str]:
    if not isinstance(values, list):
        raise Refused("no list")
    return {label_of(value) for value in values}


def read_json_lines(text: str) -> Records:
    lines = lines_of(text)
    while lines and not lines[-1].strip():
        lines.pop()
    people, has_ids = People(), set()
    for number, line in enumerate(lines):
        record = parse(line)
        person = None
        if isinstance(record, dict):
            person = record.get("id")
            record = record.get("items")
        has_ids.add(person is not None)
        people.add(str(number) if person is None else label_of(person), labels_of(record))
    if len(has_ids) > 1:
        raise Refused("ids in some records only")
    return people.records()


def read_json(text: str, layout: str = "", **options: Any) -> Records:
    """Lists, lists by id, objects with a list, or flat objects as rows of a table in the given layout."""
    content = parse(text)
    if isinstance(content, dict):
        return [(person, labels_of(items)) for person, items in content.items()] or numbered([])
    if not isinstance(content, list) or not content:
        raise Refused("no records")
    if all(isinstance(record, list) for record in content):
        return numbered(map(labels_of, content))
    if not all(isinstance(record, dict) for record in content):
        raise Refused("kinds")
    if layout:
        names = list(dict.fromkeys(name for record in content for name in record))
        columns = {name: [record.get(name) for record in content] for name in names}
        return read_frame(columns, layout, is_json=True, **options)
    people = People()
    for number, record in enumerate(content):
        if "items" not in record or ("id" in content[0]) != ("id" in record):
            raise Refused("keys")
        people.add(label_of(record["id"]) if "id" in record else str(number), labels_of(record["items"]))
    return people.records()


# -- ARFF --------------------------------------------------------------------------------------------------------------


def words_of(text: str) -> list[tuple[str, bool]]:
    """Values between commas, each with whether it was quoted."""
    values, value, quote, was_quoted, place = [], "", "", False, 0
    while place < len(text):
        sign = text[place]
        if quote and sign == "\\":
            place += 1
            value += text[place]
        elif quote and sign == quote:
            quote = ""
        elif quote:
            value += sign
        elif sign in "'\"":
            quote, was_quoted = sign, True
        elif sign == ",":
            values.append((value.strip(), was_quoted))
            value, was_quoted = "", False
        elif was_quoted and sign.isspace():
            pass
        else:
            value += sign
        place += 1
    return [*values, (value.strip(), was_quoted)]


def read_arff(text: str) -> Records:
    attributes: list[tuple[str, list[str] | None]] = []
    records, in_data = [], False
    for line in lines_of(text):
        if not line.strip() or line.startswith("%"):
            continue
        if not in_data and line.lower().startswith("@attribute"):
            match = re.fullmatch(r"(?i)@attribute\s+('[^']*'|\S+)\s+(.*)", line)
            assert match
            kind = match[2].strip()
            values = [word for word, _ in words_of(kind.strip("{}"))] if kind.startswith("{") else None
            attributes.append((match[1].strip("'"), values))
        elif line.lower().startswith("@data"):
            in_data = True
        elif in_data:
            records.append(_arff_row(line.strip(), attributes))
    return numbered(records)


def _arff_row(line: str, attributes: list[tuple[str, list[str] | None]]) -> list[str]:
    cells: dict[int, tuple[str, bool]] = {}
    if line.startswith("{"):
        if not line.endswith("}"):
            raise Refused("}")
        for entry in line.strip("{}").split(",") if line.strip("{} ") else []:
            number, value = entry.split(maxsplit=1)
            (cells[int(number)],) = words_of(value)
        for place, (_, values) in enumerate(attributes):
            if place not in cells and values is not None:
                cells[place] = (values[0], True)
                if not (_are_answers(values) and values[0].lower() in NO | {"0"}):
                    raise Refused("the first declared value is meant")
    else:
        found = words_of(line)
        if len(found) != len(attributes):
            raise Refused("values")
        cells = dict(enumerate(found))
    items = []
    for place, (value, was_quoted) in cells.items():
        name, values = attributes[place]
        if (value in ("?", "") and not was_quoted) or (value == "" and not values):
            if value == "" and was_quoted:
                items.append(f"{name}=")
            continue
        if values is not None and value not in values:
            raise Refused("not declared")
        if values is not None and _are_answers(values):
            items += [name] if value.lower() in YES or value == "1" else []
        else:
            items.append(f"{name}={value}")
    return items


def _are_answers(values: list[str]) -> bool:
    words = {value.lower() for value in values}
    return (words <= {"0", "1"} or words <= (YES | NO) - {""}) and bool(words & (YES | {"1"}))


# -- frames ------------------------------------------------------------------------------------------------------------


def is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def text_of(value: Any, true: str = "True", false: str = "False") -> str:
    """A value of a frame as a cell."""
    if is_null(value):
        return ""
    if isinstance(value, bool):
        return true if value else false
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_frame(
    columns: Mapping[str, Sequence[Any]],
    layout: str,
    *,
    answers: tuple[str, str] = ("True", "False"),
    is_json: bool = False,
    **options: Any,
) -> Records:
    """Columns of Python values: a list column, long, wide, one-hot or column=value; the column ``id`` holds ids."""
    names = list(columns)
    id_position = names.index("id") if "id" in names else None
    if layout == "lists":
        people = People()
        for number, items in enumerate(columns["items"]):
            if items is None:
                raise Refused("null list")
            person = str(number) if id_position is None else label_of(columns["id"][number])
            if person in NOBODY:
                raise Refused("no id")
            people.add(person, {label_of(item) for item in items})
        return people.records()
    if layout == "long":
        for name in ("id", "item"):
            if any(is_null(value) or (isinstance(value, bool) and not is_json) for value in columns[name]):
                raise Refused("null or no label")
            if not is_json and any(isinstance(value, float) for value in columns[name]):
                raise Refused("decimals")
        places = [names.index("item")]
    else:
        places = [place for place in range(len(names)) if place != id_position]

    def spell(value: Any) -> str:
        return text_of(value) if not is_json else "" if is_null(value) else str(value)

    rows = [
        [
            answers[not value] if isinstance(value, bool) else spell(value)
            for value in row
        ]
        for row in zip(*columns.values(), strict=True)
    ]  # fmt: skip
    return read_rows(layout, names, rows, id_position, places, **options)


def read_lists(records: Iterable[Any]) -> Records:
    """Python lists of items."""
    return numbered({label_of(item) for item in record} for record in records)


def read_matrix(rows: Sequence[Sequence[float]]) -> Records:
    """A matrix of 0 and 1; its columns' numbers are the items."""
    if any(value not in (0, 1) for row in rows for value in row):
        raise Refused("neither 0 nor 1")
    return numbered([str(place) for place, value in enumerate(row) if value] for row in rows)

"""Every layout and every kind of object against readers written by the book, over many small files with gaps.

Cells are empty, quoted and empty, blank, null, or hold words for "missing", in every column; rows lack cells or have
too many; blocks are so small that every boundary is met. Any difference fails; both refusing is agreement.
"""

from __future__ import annotations

import csv
import io
import json
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import InputError
from setveil.io import source
from setveil.io.transactions import columns, guards, labels
from setveil.io.transactions.reading import read_transactions
from setveil.verify.originals import compare_readings
from tests.naive import readers as naive

CELLS = [
    *(
        "",
        "",
        "",
        " ",
        "  ",
        "?",
        "-",
        "NA",
        "null",
        "NaN",
        "unknown",
        "\\N",
        "a",
        "b",
        "x",
        "yes",
        "no",
        "0",
        "1",
        "2",
    ),
    *(" 1 ", " a", "007", "7", "0.0", "a b", "é", "✓", "a label of more than a word", "a|b", "a|?", "|", 'q"q', "c,d"),
    "l\nf",
]
ANSWERS = ["", "", "0", "1", "0", "1", " 1", "yes", "no", "TRUE", "f", "3", "0.0", "?", " ", "NA", "NaN"]
NAMES = ["a", "b c", "täg", "a very long column name", "=", "x,y"]
RULES = [None, "drop", "value"]
SEEDS = st.integers(0, 2**48)
BATCH, LARGE_BATCH = 12, 40  # files per example


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards look at whole files and have tests of their own; chunks of a few bytes take the compiled way, too."""
    monkeypatch.setattr(guards, "check", lambda *_: guards.Findings())
    monkeypatch.setattr(labels, "MANY", 8)


def cut(rng: random.Random) -> None:
    """Other sizes of blocks and slices."""
    source.BLOCK = rng.choice([1, 2, 3, 7, 20, 100, 1 << 23])
    columns.ROWS_AT_ONCE = rng.choice([1, 2, 3, 5, 500_000])


@pytest.fixture(autouse=True)
def _usual_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", source.BLOCK)  # put back at the end
    monkeypatch.setattr(columns, "ROWS_AT_ONCE", columns.ROWS_AT_ONCE)


def compare(
    obj: Any, expected: Callable[[], naive.Records], about: object, has_ids: bool = False, **options: Any
) -> bool:
    """Whether both read it; differences fail."""
    try:
        wanted = expected()
    except naive.Refused:
        wanted = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = read_transactions(io.BytesIO(obj) if isinstance(obj, bytes) else obj, keep_ids=has_ids, **options)
        found = list(zip(data.ids or map(str, range(data.n_records)), map(set, data.to_lists()), strict=True))
        if wanted is not None and not has_ids:
            wanted = [(str(number), items) for number, (_, items) in enumerate(wanted)]
        assert set(data.vocabulary) == {item for _, items in found for item in items}, about
    except InputError:
        found = None
    assert found == wanted, about
    return found is not None


def field(rng: random.Random, cell: str, delimiter: str) -> str:
    needs = any(sign in cell for sign in (delimiter, '"', "\n"))
    return '"' + cell.replace('"', '""') + '"' if needs or rng.random() < 0.1 else cell


def table_text(rng: random.Random, rows: list[list[str]], delimiter: str) -> str:
    end = rng.choice(["\n", "\n", "\r\n"])
    lines = [delimiter.join(field(rng, cell, delimiter) for cell in row) for row in rows]
    for _ in range(rng.choice([0, 0, 0, 0, 1])):  # a cell too few or too many, an empty line
        place = rng.randrange(len(lines) + 1)
        lines.insert(place, "") if rng.random() < 0.3 or place == 0 else lines.__setitem__(
            place - 1, rng.choice([lines[place - 1] + delimiter, lines[place - 1].rpartition(delimiter)[0]])
        )
    lines += [""] * rng.choice([0, 0, 0, 1, 2])
    return rng.choice(["", "", "", "\ufeff"]) + end.join(lines) + rng.choice([end, end, ""])


@given(SEEDS)
def test_tables(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(LARGE_BATCH):
        cut(rng)
        layout = rng.choice(["long", "wide", "onehot", "table"])
        delimiter = rng.choice(",;\t|")
        header = rng.random() < 0.8
        width = 2 if layout == "long" else rng.randint(1, 4)
        has_ids = layout == "long" or (width > 1 and rng.random() < 0.5)
        id_position = rng.randrange(width) if has_ids else None
        places = [place for place in range(width) if place != id_position]
        texts = ANSWERS if layout == "onehot" else CELLS
        texts = rng.sample(texts, rng.randint(1, len(texts))) if rng.random() < 0.7 else texts
        if rng.random() < 0.6:
            texts = [text for text in texts if naive.text_of(text).strip() not in naive.MISSING] or ["", "a"]
        rows = [
            [
                rng.choice(["1", "2", "p q", "10", "an id of many letters", "" if rng.random() < 0.05 else "3"])
                if place == id_position
                else rng.choice(texts)
                for place in range(width)
            ]
            for _ in range(rng.randint(0 if header else 1, 7))
        ]
        names = rng.sample(NAMES, width)
        options: dict[str, Any] = {"missing": rng.choice(RULES), "strip": rng.random() < 0.2}
        options["split"] = rng.choice([None, None, None, "|", " "]) if layout != "onehot" else None
        told = dict(options, format=layout, delimiter=delimiter, no_header=not header)
        if id_position is not None:
            names[id_position] = "id"
            told["id_column"] = "id" if header else str(id_position + 1)
        if layout == "long":
            names[places[0]] = "item"
            told["item_column"] = "item" if header else str(places[0] + 1)
        else:
            told["item_columns"] = [
                str(place + 1) if "," in names[place] or not header else names[place] for place in places
            ]
        text = table_text(rng, [names, *rows] if header else rows, delimiter)
        compare(
            text.encode(),
            lambda: naive.read_table(layout, text, delimiter, header, id_position, places, **options),  # noqa: B023
            (text, told, source.BLOCK),
            has_ids,
            **told,
        )


LABELS = [cell for cell in CELLS if cell and "\n" not in cell]


@given(SEEDS)
def test_baskets_and_gene_sets(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        cut(rng)
        delimiter = rng.choice(",;\t|")
        rows = [
            [rng.choice(CELLS if rng.random() < 0.2 else LABELS) for _ in range(rng.randint(0, 4))] for _ in range(6)
        ]
        rows = [row + [""] * rng.choice([0, 0, 1, 2]) for row in rows]
        end = rng.choice(["\n", "\r\n"])
        text = end.join(delimiter.join(field(rng, cell, delimiter) for cell in row) for row in rows) + rng.choice(
            [end, ""]
        )
        compare(
            text.encode(),
            lambda: naive.read_basket(text, delimiter),  # noqa: B023
            text,
            format="basket",
            delimiter=delimiter,
        )
        plain = [label for label in LABELS if '"' not in label] + [""]
        lines = [
            [rng.choice(plain) for _ in range(rng.choice([1, 2, 3, 4, 5, 5, 5]))] for _ in range(rng.randint(0, 4))
        ]
        genes = end.join("\t".join(line) for line in lines)
        compare(genes.encode(), lambda: naive.read_gmt(genes), genes, has_ids=True, format="gmt")  # noqa: B023


@given(SEEDS)
def test_numbers(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        cut(rng)
        tokens = [
            *("1", "2", "30", "007", "1234567890123", "4", "5"),
            *rng.choice([[], [], [], ["?"], ["NA"], ["-1"], ["-2"]]),
        ]
        lines = [
            rng.choice(["", " "])
            + rng.choice([" ", "  ", "\t"]).join(rng.choice(tokens) for _ in range(rng.randint(0, 4)))
            for _ in range(rng.randint(0, 6))
        ]
        end = rng.choice(["\n", "\r\n"])
        text = end.join(lines) + rng.choice([end, "", end * 2])
        compare(text.encode(), lambda: naive.read_fimi(text), text, format="fimi")  # noqa: B023
        named = [f"@ITEM={token}={rng.choice(['milk', 'NA', '?', 'tea', ' b', ''])}{token}" for token in tokens]
        marks = ["@CONVERTED_FROM_TEXT", *rng.choice([[], named, named[:-1]]), "# remark"]
        lines = [line + rng.choice(["", "", " -2", " -1 -2"]) for line in lines]
        text = end.join([*marks[: rng.randint(0, len(marks))], *lines]) + rng.choice([end, ""])
        if not any(naive_words(line) for line in lines):  # else the items may be words
            compare(text.encode(), lambda: naive.read_spmf(text), text, format="spmf")  # noqa: B023


def naive_words(line: str) -> bool:
    return any(not token.lstrip("-").isdigit() for token in line.split())


ITEMS: list[Any] = ["a", "b", "NA", "?", "null", "NaN", " ", "é", "007", 7, 12, 10**30]


def some_items(rng: random.Random) -> list[Any]:
    items = [rng.choice(ITEMS) for _ in range(rng.randint(0, 4))]
    if rng.random() < 0.06:
        items.append(rng.choice([None, "", float("nan"), 1.5, True, [], {}]))
    return items


@given(SEEDS)
def test_json(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        cut(rng)
        people = [str(rng.choice([1, 2, 3, "NA", "p q"])) for _ in range(rng.randint(0, 5))]
        ids = [rng.choice([person, None, "", 4, 2.5, True]) if rng.random() < 0.05 else person for person in people]
        has_ids = rng.random() < 0.6
        records = [{"id": key, "items": some_items(rng)} if has_ids else {"items": some_items(rng)} for key in ids]
        shapes: list[Any] = [record["items"] if not has_ids and rng.random() < 0.5 else record for record in records]
        lines = [json.dumps(record) for record in shapes] + [""] * rng.choice([0, 0, 1])
        if rng.random() < 0.05:
            lines.insert(
                rng.randrange(len(lines) + 1), rng.choice(["{", '{"id": "1", "id": "2", "items": []}', '{"id": "1"}'])
            )
        text = "\n".join(lines) + rng.choice(["\n", ""])
        compare(
            text.encode(),
            lambda: naive.read_json_lines(text),  # noqa: B023
            text,
            has_ids and any(key is not None for key in ids),
            format="jsonl",
        )
        by_id = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(some_items(rng))}" for key in people) + "}"
        shown = rng.choice([json.dumps(records), json.dumps([record["items"] for record in records]), by_id])
        is_lists = shown.startswith("{") or (shown.startswith("[{") and has_ids)
        if len(people) != 1 or not shown.startswith("{"):  # one key may be the list of all records
            compare(shown.encode(), lambda: naive.read_json(shown), shown, is_lists and bool(people), format="json")  # noqa: B023


@given(SEEDS)
def test_json_rows(seed: int) -> None:
    """Flat objects are the rows of a table; a key that is not there is an empty cell."""
    rng = random.Random(seed)
    for _ in range(BATCH):
        keys = ["id", "item"] if rng.random() < 0.5 else ["id", "dx1", "dx2"]
        pool: list[Any] = ["a", "b", "zz", 7, "", "NA", "?", " ", None, float("nan"), 2.5, True]
        pool = rng.sample(pool, rng.randint(2, len(pool))) if rng.random() < 0.5 else ["a", "b", "zz", 7, ""]
        rows = [
            {key: rng.choice(["1", "2", 3] if key == "id" else pool) for key in keys} for _ in range(rng.randint(1, 6))
        ]
        rows[0].update(dict.fromkeys(keys[1:], "zz"))  # no answer
        for row in rows[1:]:
            if rng.random() < 0.1:
                del row[rng.choice(keys[1:])]
        text, layout = json.dumps(rows), "long" if keys[1] == "item" else "wide"
        options: dict[str, Any] = {"missing": rng.choice(RULES), "strip": rng.random() < 0.1}
        named = {"item_column": "item"} if layout == "long" else {}  # else detected from the numbers
        compare(
            text.encode(),
            lambda: naive.read_json(text, layout, answers=("true", "false"), **options),  # noqa: B023
            (text, options),
            True,
            format="json",
            id_column="id",
            **named,
            **options,
        )


@given(SEEDS)
def test_arff(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        cut(rng)
        kinds = ["{f,t}", "{0,1}", "{no, yes}", "{t}", "{t,f}", "{low,high,'?'}", "{'a b',c}", "numeric", "string"]
        declared = [rng.choice(kinds) for _ in range(rng.randint(1, 4))]
        sparse = rng.random() < 0.4
        lines = [
            "% remark",
            "@relation r",
            *(f"@attribute {name} {kind}" for name, kind in zip("abcd", declared, strict=False)),
        ]
        lines.append("@data")
        for _ in range(rng.randint(0, 5)):
            cells = []
            for kind in declared:
                values = kind.strip("{}").split(",") if kind.startswith("{") else ["1", "0", "2.5", "'NA'", "NA", "'?'"]
                cells.append(
                    rng.choice(
                        [*(value.strip() for value in values), "?", "?" if sparse else "", "z"[: rng.random() < 0.1]]
                    )
                )
            if sparse:
                kept = [(place, cell) for place, cell in enumerate(cells) if cell and rng.random() < 0.7]
                lines.append(
                    "{" + ", ".join(f"{place} {cell}" for place, cell in kept) + rng.choice(["}", "}", "}", ""])
                )
            else:
                lines.append(rng.choice([",", ", "]).join(cells if rng.random() < 0.95 else cells[:-1] or ["", ""]))
        text = "\n".join(lines) + "\n"
        compare(text.encode(), lambda: naive.read_arff(text), text, format="arff")  # noqa: B023


# -- objects -----------------------------------------------------------------------------------------------------------

TEXTS = [None, "", "", " ", "a", "b", "NA", "?", "NaN", "1", "0", "yes", "no", "long text of many letters", " c"]


def some_columns(rng: random.Random, layout: str) -> dict[str, list[Any]]:
    """Columns of Python values; each of one kind, as frames have them."""
    n_rows = rng.randint(1, 6)
    names = ["id", "item"] if layout == "long" else rng.sample(NAMES, rng.randint(1, 4))
    if layout not in ("long", "lists") and rng.random() < 0.4:
        names.append("id")
    frame: dict[str, list[Any]] = {}
    for name in names:
        kinds = {
            "text": [*TEXTS, "zz", "zz"] if rng.random() < 0.5 else ["a", "b", "", "c d"],
            "answers": [*ANSWERS, None],
            "integer": [0, 1, 2, 10**12, *([None] if rng.random() < 0.3 else [])],
            "float": [0.0, 1.0, 2.5, 1e17, -0.5, *([None, float("nan")] if rng.random() < 0.5 else [])],
            "boolean": [True, False, *([None] if rng.random() < 0.4 else [])],
        }
        usual = ["answers", "answers", "boolean", "integer"] if layout == "onehot" else list(kinds)
        if name == "id" or layout == "long":
            usual = ["integer", "text", "text"]
        pool: Any = kinds[rng.choice(usual)]
        if name == "id" and rng.random() < 0.9:
            pool = ["1", "2", "three"] if rng.random() < 0.5 else [1, 2, 3]
        frame[name] = [rng.choice(pool) for _ in range(n_rows)]
    return frame


def made(rng: random.Random, frame: dict[str, list[Any]]) -> tuple[str, Any]:
    """A frame of some library, or a Parquet file."""
    library = rng.choice(
        ["pandas", "pandas-new", "pandas-category", "polars", "lazy", "polars-category", "arrow", "parquet"]
    )
    if library == "pandas":
        return library, pd.DataFrame(frame)
    if library == "pandas-new":
        return library, pd.DataFrame(frame).convert_dtypes(convert_floating=False)
    if library == "pandas-category":
        return library, pd.DataFrame(
            {name: pd.Categorical(values) if isinstance(values[0], str) else values for name, values in frame.items()}
        )
    if library.startswith("polars") or library == "lazy":
        polars = pl.DataFrame(frame, strict=True)
        if library == "polars-category":
            polars = polars.with_columns(pl.col(pl.String).cast(pl.Categorical))
        return library, polars.lazy() if library == "lazy" else polars
    arrow = pa.table({name: pa.array(values, from_pandas=False) for name, values in frame.items()})
    if library == "arrow":
        return library, arrow
    file = io.BytesIO()
    pq.write_table(arrow, file, row_group_size=rng.choice([1, 2, 100]), use_dictionary=rng.random() < 0.5)
    return library, file.getvalue()


@given(SEEDS)
def test_frames(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(LARGE_BATCH):
        cut(rng)
        layout = rng.choice(["long", "wide", "onehot", "table"])
        frame = some_columns(rng, layout)
        library, obj = made(rng, frame)
        options: dict[str, Any] = {"missing": rng.choice(RULES), "strip": rng.random() < 0.1}
        answers = ("True", "False") if library.startswith("pandas") else ("true", "false")
        told = dict(options, format=layout)
        if layout == "long":
            told |= {"id_column": "id", "item_column": "item"}
        elif "id" in frame:
            told["id_column"] = "id"
        if library == "parquet":
            told["format"] = "parquet"  # what its columns are is then detected
            if layout != "long":
                layout = (
                    "onehot"
                    if all(isinstance(value, bool) for name in frame if name != "id" for value in frame[name])
                    else "wide"
                )
                told["item_columns"] = [str(place + 1) for place, name in enumerate(frame) if name != "id"]
                if layout == "wide" and not any("zz" in frame[name] for name in frame if name != "id"):
                    continue
        compare(
            obj,
            lambda: naive.read_frame(frame, layout, answers=answers, **options),  # noqa: B023
            (library, frame, told),
            "id" in frame,
            **told,
        )


@given(SEEDS)
def test_tables_of_plain_objects(seed: int) -> None:
    """Dicts, a dict of columns and rows with numbered columns are read as the frame of the same cells; both readers."""
    rng = random.Random(seed)
    for _ in range(LARGE_BATCH):
        cut(rng)
        layout = rng.choice(["long", "wide", "onehot", "table", "lists"])
        if layout == "lists":
            lists = [[str(item) for item in some_items(rng) if item is not None] for _ in range(rng.randint(1, 6))]
            frame: dict[str, list[Any]] = {"id": [rng.choice(["1", "2", "three"]) for _ in lists], "items": lists}
            if not any(lists):
                continue
        else:
            frame = some_columns(rng, layout)
        kind = rng.choice(["dicts", "columns", "rows"])
        options: dict[str, Any] = {} if layout == "lists" else {"missing": rng.choice(RULES)}
        told = dict(options) if layout == "lists" else dict(options, format=layout)
        place = (
            {name: str(number) for number, name in enumerate(frame, 1)}
            if kind == "rows"
            else dict(zip(frame, frame, strict=True))
        )
        wanted, rows = frame, [dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)]
        if kind == "rows" and layout in ("onehot", "table"):  # the columns have no other names
            wanted = {name if name == "id" else place[name]: values for name, values in frame.items()}
        for name, option in (("id", "person"), ("item", "item"), ("items", "item")):
            if name in frame and (layout in ("long", "lists") or name == "id"):
                told[option] = place[name]
        obj: Any = {"dicts": rows, "columns": frame, "rows": [tuple(row.values()) for row in rows]}[kind]
        is_read = compare(
            obj,
            lambda: naive.read_frame(wanted, layout, answers=("true", "false"), **options),  # noqa: B023
            (kind, layout, frame, told),
            "id" in frame,
            **told,
        )
        if is_read:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert compare_readings(read_transactions(obj, **told), obj).reading


@given(SEEDS)
def test_list_columns_lists_and_matrices(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(BATCH):
        cut(rng)
        records: list[Any] = [
            [str(item) for item in some_items(rng) if item is not None] for _ in range(rng.randint(1, 6))
        ]
        if rng.random() < 0.1:
            rng.choice(records).append(None)
        if rng.random() < 0.1:
            records[rng.randrange(len(records))] = None
        frame: dict[str, list[Any]] = {"items": records}
        if rng.random() < 0.5:
            frame["id"] = [rng.choice(["1", "2", "three", "" if rng.random() < 0.1 else "NA"]) for _ in records]
        if any(records):
            makers: list[Callable[[], Any]] = [
                lambda: pd.DataFrame(frame),  # noqa: B023
                lambda: pl.DataFrame(frame),  # noqa: B023
                lambda: pa.table(frame),  # noqa: B023
            ]
            obj = rng.choice(makers)()
            compare(obj, lambda: naive.read_frame(frame, "lists"), frame, "id" in frame)  # noqa: B023
        lists = [some_items(rng) for _ in range(rng.randint(1, 6))]
        compare(lists, lambda: naive.read_lists(lists), lists)  # noqa: B023
        by_id = {str(number): items for number, items in enumerate(lists)}
        compare(by_id, lambda: naive.read_lists(lists), lists, has_ids=True)  # noqa: B023
        few: list[list[Any]] = [[0, 1], [0, 1], [0, 1, 2], [0.0, 1.0], [0.0, 1.0, float("nan")], [0.0, 0.5]]
        values = rng.choice(few)
        shape = (rng.randint(1, 5), rng.randint(1, 5))
        matrix = np.array([[rng.choice(values) for _ in range(shape[1])] for _ in range(shape[0])])
        rows = matrix.tolist()
        compare(matrix, lambda: naive.read_matrix(rows), rows)  # noqa: B023
        compare(matrix == 1, lambda: naive.read_matrix([[value == 1 for value in row] for row in rows]), rows)  # noqa: B023
        if not np.isin(matrix, (0, 1)).all():
            continue
        for form in (sp.csr_matrix, sp.coo_array, sp.csc_array):
            compare(form(matrix), lambda: naive.read_matrix(rows), rows)  # noqa: B023


def test_csv_module_is_strict() -> None:
    """What the naive reader leans on."""
    with pytest.raises(csv.Error):
        list(csv.reader(io.StringIO('"a"b\n'), strict=True))

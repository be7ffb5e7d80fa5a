"""The second reader of originals: it agrees with the first one on every layout, and tells where that one is wrong."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.core import Transactions, Vocabulary
from setveil.verify.originals import comparing, read_again, totals
from setveil.verify.originals.cells import DifferentError
from setveil.verify.originals.comparing import compare_readings
from setveil.verify.originals.objects import count_table
from setveil.workflows.inputs import held, read_twice
from tests.naive.layouts import LAYOUTS, can_hold, write_layout
from tests.strategies import hostile_records

EXAMPLES = 60 if settings.default.max_examples < 1000 else 1000


def lists_of(data: Transactions) -> list[list[str]]:
    return [sorted(row) for row in data.to_lists()]


def read(path: Path, **options: Any) -> Transactions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sv.read(path, **{"labels_as_they_are": True, **options})


@settings(max_examples=EXAMPLES)
@given(
    records=hostile_records(),
    layout=st.sampled_from(LAYOUTS),
    delimiter=st.sampled_from(",;|\t"),
    packed=st.booleans(),
    is_sampled=st.booleans(),
)
def test_both_readers_agree(
    records: list[list[str]], layout: str, delimiter: str, packed: bool, is_sampled: bool
) -> None:
    if not can_hold(layout, records):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"input.{layout}{'.gz' * packed}"
        if packed and layout == "parquet":
            path = path.with_suffix("")
        options = write_layout(layout, records, path, delimiter, packed)
        try:
            data = read(path, **options)
        except sv.InputError:
            return
        again, problems = read_again(data)
        assert problems == []
        assert lists_of(again) == lists_of(data)
        limit = comparing.ALL_CELLS
        try:
            comparing.ALL_CELLS = 0 if is_sampled else limit
            second = compare_readings(data).reading.second  # type: ignore[union-attr]
        finally:
            comparing.ALL_CELLS = limit
        assert second is not None and second.not_compared == ""
        assert second.rows_compared > 0 and second.totals_compared
        form = data.reading.interpretation  # type: ignore[union-attr]
        assert form is not None
        plain = totals.count_rows(comparing._rows(form, None), data.vocabulary)
        counted = plain
        if layout in totals.HASHED:
            counted = totals.count_fields(form, data.vocabulary)
        elif layout == "parquet":
            counted = count_table(form, data.vocabulary)
        assert counted.n_records == plain.n_records == data.n_records
        assert counted.supports.tolist() == plain.supports.tolist() == data.supports.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_sampled", [False, True])
def test_a_changed_cell_is_found_in_every_layout(
    tmp_path: Path, layout: str, is_sampled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [[str(1 + n % 7), str(10 + n % 3)] for n in range(60)]
    path = tmp_path / f"input.{layout}"
    data = read(path, **write_layout(layout, records, path))
    assert read_again(data)[1] == []
    if is_sampled:
        monkeypatch.setattr(comparing, "ALL_CELLS", 0)
    compare_readings(data)
    rows = data.to_lists()
    rows[41] = [*rows[41][:1], next(label for label in data.vocabulary if label not in rows[41])]
    wrong = replace(Transactions.from_lists(rows), reading=data.reading)
    with pytest.raises(sv.GuaranteeError, match=r"two independent readers .* at row \d+") as caught:
        compare_readings(wrong)
    assert not any(label in str(caught.value).split("row")[1] for label in ("i1", "=1"))  # no content
    assert "at row" in read_again(wrong)[1][0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_wrong_row_outside_the_sample_shows_in_the_totals(
    tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "ALL_CELLS", 0)
    monkeypatch.setattr(comparing, "SAMPLED_ROWS", 1)
    records = [[str(1 + n % 7), str(10 + n % 3)] for n in range(60)]
    path = tmp_path / f"input.{layout}"
    data = read(path, **write_layout(layout, records, path))
    compare_readings(data)
    rows = data.to_lists()
    for number in (17, 41):  # the sample has one of them at most
        rows[number] = rows[number][:1]
    wrong = replace(Transactions.from_lists(rows), reading=data.reading)
    with pytest.raises(sv.GuaranteeError, match=r"two independent readers .* (in the totals of items|at row)"):
        compare_readings(wrong)


def test_cells_of_every_spelling_are_counted(tmp_path: Path) -> None:
    """Quotes inside cells, rows that end in carriage returns, empty rows at the end, lists in cells, ids twice."""
    path = tmp_path / "input.csv"
    path.write_bytes(b'who,what\r\n"p ""1""",a|b\r\np2,"b"\r\n"p2","b|c"\r\np3,\r\n"p ""1""","a"\r\n\r\n\r\n')
    data = read(path, format="long", split="|")
    assert data.to_lists() == [["a", "b"], ["b", "c"], []]
    form = data.reading.interpretation  # type: ignore[union-attr]
    assert form is not None
    counted = totals.count_fields(form, data.vocabulary)
    assert (counted.n_records, counted.supports.tolist()) == (3, [1, 2, 1])
    for text in ("who,what\np,a\n\nq,b\n", "who,what\np,a,b\nq\n", "who,what\np,a\nNA,b\n", 'who,what\np,a\nq,b"c"\n'):
        path.write_text(text)
        with pytest.raises(DifferentError):
            totals.count_fields(replace(form, missing=None), Vocabulary("abc"))


@pytest.mark.parametrize(
    ("text", "layout", "expected"),
    [
        ("s,region\nf,north\nm,\nf,south\n", "table", [["region=north", "s=f"], ["s=m"], ["region=south", "s=f"]]),
        ("sex,region\n,north\n,\nf,south\n", "table", [["region=north"], [], ["region=south", "sex=f"]]),
        ('sex,region\n"",north\nm,""\nf,""\n', "table", [["region=north"], ["sex=m"], ["sex=f"]]),
        ("a,b,hiv\n1,,\n,1,\n,,1\n1,,\n", "onehot", [["a"], ["b"], ["hiv"], ["a"]]),
        ("dx1,dx2\n,x\ny,\n,\nx,y\n", "wide", [["x"], ["y"], [], ["x", "y"]]),
        ("who,what\np,x\nq,\np,y\n", "long", [["x", "y"], []]),
    ],
)  # fmt: skip
def test_empty_cells_are_absent(tmp_path: Path, text: str, layout: str, expected: list[list[str]]) -> None:
    path = tmp_path / "input.csv"
    path.write_text(text)
    data = read(path, format=layout)
    again, problems = read_again(data)
    if lists_of(data) == expected:
        assert (lists_of(again), problems) == (expected, [])
        return
    assert "two independent readers" in problems[0]  # the first reader is wrong, and nothing is published of it
    with pytest.raises(sv.GuaranteeError):
        compare_readings(data)


def test_a_reader_that_takes_an_empty_cell_for_the_last_value_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.io.formats.registry import FORMATS

    path = tmp_path / "input.csv"
    path.write_text("id,sex,region\n" + "".join(f"p{n},f,north\nq{n},m,\nr{n},f,south\n" for n in range(10)))
    table = FORMATS["table"]
    right = table.read

    def wrong(source: Any, plan: Any, options: Any) -> Any:
        data, plan = right(source, plan, options)
        rows = [
            row if any(item.startswith("region") for item in row) else [*row, "region=south"] for row in data.to_lists()
        ]
        return Transactions.from_lists(rows), plan

    monkeypatch.setitem(FORMATS, "table", replace(table, read=wrong))
    options = {"format": "table", "id_column": "id"}
    release = sv.anonymize(path, "km", k=2, m=1, hierarchy="fanout:2", read_options=options)
    with pytest.raises(sv.GuaranteeError, match=r'at row 3, column "region"'):
        release.publish(tmp_path / "out")
    policy = sv.Policy.from_dict({
        "schema": 1, "model": {"name": "km", "k": 2, "m": 1}, "hierarchy": {"source": "fanout:2"}, "input": options,
    })  # fmt: skip
    with pytest.raises(sv.GuaranteeError, match=r'at row 3, column "region"'):
        sv.run(policy, path, tmp_path / "out")
    assert {path.name for path in tmp_path.iterdir()} == {"input.csv"}


def test_scattered_and_quoted_ids_are_found_in_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    rows = [(f'{"person number " * (n % 2)}{n}"', f"x{item}") for n in range(300) for item in range(n % 5)]
    path = tmp_path / "input.csv"
    order = rng.permutation(len(rows))
    quoted = ['a;"{}";{}'.format(rows[place][0].replace('"', '""'), rows[place][1]) for place in order]
    path.write_text("b;who;what\r\n" + "\r\n".join(quoted) + "\r\n\r\n")
    data = read(path, format="long", id_column="who", item_column="what")
    monkeypatch.setattr(comparing, "ALL_CELLS", 0)
    monkeypatch.setattr(comparing, "SAMPLED_ROWS", 50)
    second = compare_readings(data).reading.second  # type: ignore[union-attr]
    assert second is not None and 20 < second.rows_compared <= 50
    assert second.entries_compared >= second.rows_compared


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("id\titems\n1\tA|B\n2\tB| C\n", {"format": "long", "split": "|"}),
        ("7 8 -1 9 -2\n# no\n8 -2\n", {"format": "spmf"}),
        ("@ITEM=7=milk\n@ITEM=8=beer and ale\n7 8 \n8\n", {"format": "spmf"}),
        ("a b -1 c -2\nc -2\n", {"format": "spmf"}),
        ("1::10::5::9\n1::11::4::9\n2::10::3::9\n", {}),
        ("a , b\nb\n", {"format": "basket", "strip": True}),
        ("who,what\rp,x\rq,y\r", {"format": "long"}),
        ("\ufeffwho,what\np,x\nq,\u00e9\n", {"format": "long"}),
        ("1,2\n1,3\n2,2\n", {"format": "long", "no_header": True}),
        ("a;b;c\n0;1;2\n1;0;0\n3;0;1\n", {"format": "onehot"}),
        ("@relation r\n@attribute a {t}\n@attribute 'b c' {x,y}\n@data\nt,x\n?,y\n", {"format": "arff"}),
        ("@relation r\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n{0 1}\n{0 1, 1 1}\n{}\n", {"format": "arff"}),
        ('{"id": 1, "items": ["a"]}\n{"id": 2, "items": [7]}\n{"id": 1, "items": ["b"]}\n', {}),
        ('{"x": ["a", "b"], "y": [], "z": ["a"]}', {"format": "json"}),
        ('{"records": [{"id": "p", "items": ["a"]}, {"id": "q", "items": ["b", 3]}]}', {"format": "json"}),
        ('[{"who": 1, "what": "a"}, {"who": 2, "what": "b"}, {"who": 1, "what": "c"}]',
         {"format": "json", "id_column": "who"}),
        ('[{"id": 1, "dx1": "a", "dx2": "b"}, {"id": 2, "dx1": "c"}]', {"format": "json"}),
        ("s1\tx\tA\tB\ns2\tx\tB\t\tC\ns1\tx\tD\n", {"format": "gmt"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_sampled", [False, True])
def test_options_and_odd_files(
    tmp_path: Path, text: str, options: dict[str, Any], is_sampled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "input.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    data = read(path, **options)
    again, problems = read_again(data)
    assert (problems, lists_of(again)) == ([], lists_of(data))
    if is_sampled:
        monkeypatch.setattr(comparing, "ALL_CELLS", 0)
    assert compare_readings(data).reading.second.rows_compared  # type: ignore[union-attr]


def test_other_encodings(tmp_path: Path) -> None:
    for encoding in ("latin-1", "utf-16", "cp1252"):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes("id,item\n1,café\n2,thé\n1,lait\n".encode(encoding))
        data = read(path, encoding=encoding)
        assert lists_of(read_again(data)[0]) == [["café", "lait"], ["thé"]]


def test_frames_are_read_again_value_by_value() -> None:
    import pandas as pd
    import polars as pl

    columns = {"id": [1, 2, 1], "item": ["a", "b", "c"]}
    onehot = {"a": [1, 0, 1], "b": [1, 0, 0], "c": [0, 1, 0]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pd.DataFrame(onehot), pl.DataFrame(onehot)):
        data = sv.read(frame)
        second = compare_readings(data, frame).reading.second  # type: ignore[union-attr]
        assert second is not None and second.rows_compared == data.n_records
        rows = [row[1:] for row in data.to_lists()]
        wrong = replace(Transactions.from_lists(rows), reading=data.reading)
        with pytest.raises(sv.GuaranteeError):
            compare_readings(wrong, frame)


def test_objects_that_can_be_read_once_are_held_for_the_second_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_array

    pairs = [(number, f"c{number * place % 5}") for number in range(1, 40) for place in (1, 2)]
    frame = pl.DataFrame(pairs, schema=["patient", "code"], orient="row")
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE visits (patient INT, code TEXT)")
    database.executemany("INSERT INTO visits VALUES (?, ?)", pairs)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(2):
        frame[number * 40 : (number + 1) * 40].write_parquet(folder / f"{number}.parquet")
    matrix = np.random.default_rng(0).random((30, 4)) < 0.5
    objects: dict[str, Callable[[], Any]] = {
        "a cursor": lambda: database.execute("SELECT * FROM visits"),
        "an iterator of lists": lambda: (["a", f"b{number % 3}"] for number in range(30)),
        "an iterator of dicts": lambda: ({"patient": patient, "code": code} for patient, code in pairs),
        "a lazy frame": frame.lazy,
        "an Arrow table": frame.to_arrow,
        "a series": lambda: pl.Series("items", [["a", "b"], ["a"]] * 10),
        "a series of pandas": lambda: pd.Series([["a", "b"], ["a"]] * 10),
        "a folder of Parquet files": lambda: str(folder),
        "a matrix": lambda: matrix,
        "a sparse matrix": lambda: csr_array(matrix),
    }
    for is_small in (True, False):
        if not is_small:
            monkeypatch.setattr(comparing, "ALL_CELLS", 0)
            monkeypatch.setattr(comparing, "SAMPLED_ROWS", 7)
        for name, make in objects.items():
            data = read_twice(make())
            second = data.reading.second  # type: ignore[union-attr]
            assert second is not None and second.rows_compared and second.totals_compared, name
            assert (second.rows_compared == second.rows) is is_small, name
            rows = [row[1:] for row in data.rows.to_lists()]
            reading = replace(data.reading, second=None)  # type: ignore[type-var]
            with pytest.raises(sv.GuaranteeError):
                compare_readings(replace(Transactions.from_lists(rows), reading=reading), held(make(), {}))


def test_parquet_without_pyarrow_cannot_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "input.parquet"
    records = [["a", "b"]] * 4
    options = write_layout("parquet", records, path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    release = sv.anonymize(path, "km", k=2, m=2, algorithm="trim", read_options=options)
    out = release.publish(tmp_path / "out")
    told = json.loads((tmp_path / "out.internal" / "run.json").read_text())["second_reading"]
    assert told["compared"] is False and "pyarrow" in told["reason"]
    checked = sv.verify_folder(out, path, **options)
    assert checked.holds is None and "pyarrow" in checked.unchecked[0]


def test_the_record_of_a_run_says_what_was_compared(tmp_path: Path) -> None:
    path = tmp_path / "input.dat"
    path.write_text("1 2\n1 2\n\n1\n")
    sv.anonymize(path, "km", k=2, m=2, algorithm="trim").publish(tmp_path / "out")
    told = json.loads((tmp_path / "out.internal" / "run.json").read_text())
    assert told["second_reading"] == {
        "compared": True, "rows_compared": 4, "rows": 4, "entries_compared": 5, "all": True,
    }  # fmt: skip
    assert told["seconds"]["second_reading"] > 0 and told["seconds"]["check"] > 0


def test_a_file_that_changed_is_not_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "input.dat"
    path.write_text("1 2\n1 2\n")
    release = sv.anonymize(path, "km", k=2, m=2, algorithm="trim")
    path.write_text("1 2\n1 3\n")
    with pytest.raises(sv.InputError, match="changed after it was read"):
        release.publish(tmp_path / "out")


def test_some_records_of_an_input_are_not_compared_with_all_of_it(tmp_path: Path) -> None:
    """Whoever selects records of a file publishes these; the file holds others."""
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(["a", f"b{n % 2}"]) + "\n" for n in range(20)))
    some = sv.read(tmp_path / "data.jsonl").select(np.arange(5, 15))
    outcome = sv.publish(sv.anonymize(some, "km", k=2, m=1, algorithm="pcta"), tmp_path / "out")
    assert json.loads((tmp_path / "out.internal" / "run.json").read_text())["second_reading"] is None
    assert outcome.certificate["records"] == 10


@pytest.mark.parametrize("is_small", [True, False])
@pytest.mark.parametrize("options", [{}, {"per_person": "first"}, {"per_person": "most"}, {"missing": "drop"}])
def test_columns_are_read_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_small: bool, options: dict[str, str]
) -> None:
    from setveil.core.columns import Columns

    if not is_small:
        monkeypatch.setattr(comparing, "ALL_CELLS", 0)
    lines = ["patient,age,ward,code"]
    for person in range(30):
        age = ["", "?"][options.get("missing") == "drop"] if person == 7 else str(30 + person % 3)
        lines += [f'{person},{age}," w{person % 2} ",a', f"{person},{age},,b{person % 4}"]
        if "per_person" in options:
            lines.append(f"{person},{age},w{person % 2},c")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    roles = {"person": "patient", "item": "code", "known_columns": "age", "carry": "ward"}
    data = sv.read(path, **roles, **options)
    second = compare_readings(data).reading.second
    assert second is not None and not second.columns_not_compared
    assert read_again(data)[1] == []
    assert data.columns is not None
    for column in data.columns:
        codes = column.codes.copy()
        codes[:] = np.roll(codes, 1)
        wrong = replace(data, columns=Columns(data.columns.columns).replaced([replace(column, codes=codes)]))
        with pytest.raises(sv.GuaranteeError, match=f'understand the input differently.*column "{column.name}"'):
            compare_readings(wrong)
        assert f'column "{column.name}"' in read_again(wrong)[1][0]


# -- columns of people in every container -----------------------------------------------------------------------------

VALUES: list[list[Any]] = [
    ["f", "m", None, " x "],
    [30, 31, 4, None],
    ["30", "31", "4"],
    [1.5, 2.0, -3.25],
    [True, False, None],
    [date(2024, 3, 1), date(2024, 4, 30)],
]


def random_rows(random: np.random.Generator, has_lists: bool, varies: bool) -> list[dict[str, Any]]:
    """One or more rows per person, with a value per person in each of two columns; some cells of it are empty."""
    rows = []
    kinds = [VALUES[number] for number in random.choice(len(VALUES) - has_lists, 2, replace=False)]
    for person in range(int(random.integers(2, 8))):
        values = [kind[random.integers(len(kind))] for kind in kinds]
        for _ in range(int(random.integers(1, 3 + varies))):
            values = [kind[random.integers(len(kind))] for kind in kinds] if varies else values
            own = [None if random.random() < 0.2 else value for value in values]
            items = sorted({str(one) for one in random.choice(list("abcd"), 2)})
            row = {"person": person, "one": own[0], "two": own[1]}
            rows += [{**row, "items": items}] if has_lists else [{**row, "items": item} for item in items]
    return rows


def in_containers(rows: list[dict[str, Any]], folder: Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Sources with the same rows, and how they are read."""
    import pandas as pd
    import polars as pl

    table = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    names = {"person": "person", "item": "items", "known_columns": "one", "carry": "two"}
    if isinstance(rows[0]["items"], list):
        (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
        yield folder / "rows.jsonl", names
        (folder / "rows.json").write_text(json.dumps(rows))
        yield folder / "rows.json", names
    else:
        text = table.write_csv()
        (folder / "rows.csv").write_text(text)
        yield folder / "rows.csv", names
        yield rows, names
    table.write_parquet(folder / "rows.parquet")
    yield folder / "rows.parquet", names
    yield table, names
    yield pd.DataFrame(rows), names


@pytest.mark.parametrize("rule", [None, "first", "last", "min", "max", "most"])
@pytest.mark.parametrize("has_lists", [False, True])
def test_a_swapped_value_of_a_column_is_noticed_in_every_container(
    tmp_path: Path, has_lists: bool, rule: str | None
) -> None:
    n_swapped = Counter[str]()
    for seed in range(16):
        random = np.random.default_rng(seed)
        varies = rule is not None and seed % 4 == 0  # then a person may have both of the values that are swapped
        rows = random_rows(random, has_lists, varies)
        for source, names in in_containers(rows, tmp_path):
            data = sv.read(source, **names, per_person=rule, labels_as_they_are=True)
            assert data.reading is not None
            second = compare_readings(data, source).reading.second  # type: ignore[union-attr]
            assert second is not None and second.rows_compared and not second.columns_not_compared
            assert read_again(data, source)[1] == []
            assert data.columns is not None
            for column in data.columns:
                codes = column.codes.copy()
                first, last = random.choice(len(codes), 2, replace=False)
                codes[[first, last]] = codes[[last, first]]
                wrong = replace(data, columns=data.columns.replaced([replace(column, codes=codes)]))
                if varies or codes[first] == codes[last]:
                    continue
                n_swapped[getattr(source, "suffix", type(source).__module__)] += 1
                with pytest.raises(sv.GuaranteeError, match=f'column "{column.name}"'):
                    compare_readings(wrong, source)
                assert f'column "{column.name}"' in read_again(wrong, source)[1][0]
    assert len(n_swapped) == 5 and min(n_swapped.values()) > 5

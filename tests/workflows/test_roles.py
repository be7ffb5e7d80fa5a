"""Proposed roles: from cells and dependences, with and without names that say something."""

from __future__ import annotations

import io
import json
import random
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.io.profiles.cells import CellColumn
from setveil.io.profiles.relations import dependence
from tests.shapes import SHAPES, black_friday, mimic_diagnoses, online_retail, uci_hospital


@pytest.mark.parametrize("bare", [False, True], ids=["named", "bare"])
@pytest.mark.parametrize("name", SHAPES)
def test_well_known_shapes(name: str, bare: bool) -> None:
    shape = SHAPES[name](random.Random(1))
    found = sv.roles(io.BytesIO(shape.text(bare=bare).encode())).proposal

    def named(columns: list[str]) -> set[str]:
        return set(shape.bare(columns) if bare else columns)

    assert {found.person} == named([shape.person])
    assert set(found.visits) >= named(shape.visits)
    assert set(found.items) == named(shape.items)
    assert set(found.named("known")) >= named(shape.known)
    if not bare:
        assert set(found.visits) == named(shape.visits)
        assert set(found.named("known")) == named(shape.known)
        assert not found.other_people
    elif shape.visits:
        assert any("visits or orders" in question for question in found.questions)
    if shape.asks_items:
        assert any("items" in question for question in found.questions)
        assert found.other_items


def test_every_column_says_why() -> None:
    found = sv.roles(io.BytesIO(uci_hospital(random.Random(2)).text().encode()))
    assert len(found.columns) == 15
    for one in found.columns:
        assert one.reason.endswith(".") and one.role in ("person", "item", "known", "sensitive", "carry", "drop")
        assert 0 <= one.missing <= 1 and 0 <= one.unique <= 1
    by_name = {one.name: one for one in found.columns}
    assert by_name["encounter_id"].unique == 1 and "id of visits" in by_name["encounter_id"].reason
    assert by_name["weight"].missing > 0.9
    assert by_name["diag_1"].code_system == "icd9cm"
    assert by_name["encounter_id"].examples == by_name["patient_nbr"].examples == ()
    assert set(by_name["gender"].examples) == {"Female", "Male"}


def test_rare_values_and_names_of_people_are_not_shown() -> None:
    rows = [{"who": f"p{n // 2}", "name": f"Anna Person{'abcdefghij'[n % 10]}", "region": "north" if n else "hut"}
            for n in range(40)]  # fmt: skip
    by_name = {one.name: one for one in sv.roles(rows).columns}
    assert by_name["region"].examples == ("north",)
    assert by_name["who"].examples == ()


def test_hierarchies_of_known_columns() -> None:
    rng = random.Random(3)
    rows = [
        {"c1": str(10_000 + n), "c2": str(rng.randint(18, 99)), "c3": f"201{rng.randint(1, 9)}-0{rng.randint(1, 9)}-11",
         "c4": f"{rng.randint(1, 9)}{rng.randint(0, 9)}{rng.randint(0, 3)}07", "c5": rng.choice("fm"),
         "c6": rng.choice(["a|b", "b", "a|c|d", "d|b", "c"])}
        for n in range(300)
    ]  # fmt: skip
    found = sv.roles(pl.DataFrame(rows))
    by_name = {one.name: one for one in found.columns}
    assert by_name["c1"].role == "person"
    assert by_name["c2"].hierarchy == "bands:5,10,20"
    assert by_name["c3"].hierarchy == "date:month,quarter,year"
    assert by_name["c4"].hierarchy == "prefix:2,1"
    assert by_name["c5"].hierarchy == "flat"
    assert by_name["c6"].role == "item" and found.options()["split"] == "|"
    data = sv.read(pl.DataFrame(rows), **found.options())
    assert data.n_records == 300 and data.columns is not None and len(data.columns.names) == 4


def test_age_at_each_visit_is_asked() -> None:
    rng = random.Random(4)
    rows = []
    for person in range(200):
        age = rng.randint(1, 90)
        rows += [
            {"c1": person + 7000, "c2": age + rng.randint(0, 2), "c3": rng.choice("abcdefghijklmno")} for _ in range(4)
        ]
    found = sv.roles(pd.DataFrame(rows))
    assert {one.name: one.role for one in found.columns} == {"c1": "person", "c2": "known", "c3": "item"}
    assert any("--per-person" in question for question in found.questions)
    assert sv.read(pd.DataFrame(rows), **found.options()).n_records == 200


def test_one_row_per_person_in_several_layouts(tmp_path: Path) -> None:
    rng = random.Random(5)
    codes = [f"{letter}{number}" for letter in "ABCDE" for number in range(10, 20)]
    rows = [[str(n + 500), rng.choice("FM"), *(rng.choice(codes) for _ in range(6))] for n in range(60)]
    text = "who,sex,dx1,dx2,dx3,dx4,dx5,dx6\n" + "".join(",".join(row) + "\n" for row in rows)
    found = sv.roles(io.BytesIO(text.encode()))
    assert (found.proposal.person, found.proposal.items) == ("who", tuple(f"dx{n}" for n in range(1, 7)))
    assert "--item 'dx*'" in found.commands[0] or "--item dx*" in found.commands[0]
    matrix = "id,age,milk,bread,beer,wine\n" + "".join(
        f"{n},{rng.randint(1, 90)},{','.join(rng.choice('01') for _ in range(4))}\n" for n in range(60)
    )
    assert sv.roles(io.BytesIO(matrix.encode())).proposal.items == ("milk", "bread", "beer", "wine")
    lines = "".join(
        json.dumps({"id": n, "sex": rng.choice("FM"), "items": ["a", "b"][: n % 3]}) + "\n" for n in range(40)
    )
    (tmp_path / "p.jsonl").write_text(lines)
    found = sv.roles(tmp_path / "p.jsonl")
    assert (found.proposal.person, found.proposal.items, found.proposal.named("known")) == ("id", ("items",), ("sex",))


def test_what_has_no_columns_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_text("1 2 3\n2 3\n")
    for source in (tmp_path / "x.dat", [["a", "b"]], io.BytesIO(b"alone\nb\n"), io.BytesIO(b"")):
        with pytest.raises(InputError) as caught:
            sv.roles(source)
        assert "\n" not in str(caught.value)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "visits.csv").write_text(uci_hospital(random.Random(6), 400).text())
    assert _run(["roles", str(tmp_path / "visits.csv"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["person"] == "patient_nbr" and content["visits"] == ["encounter_id"]
    assert len(content["commands"]) == 1
    assert _run(["roles", str(tmp_path / "visits.csv")]) == 0
    shown = capsys.readouterr().out
    assert content["commands"][0] in shown and "encounter_id" not in content["commands"][0]


def test_the_proposed_options_can_be_read() -> None:
    for make in (uci_hospital, mimic_diagnoses, online_retail, black_friday):
        text = make(random.Random(7)).text().encode()
        found = sv.roles(io.BytesIO(text))
        data = sv.read(io.BytesIO(text), **found.options())
        person = next(one for one in found.columns if one.role == "person")
        assert data.n_records == person.n_values
        for command in found.commands:
            assert shlex.split(command)[0] == "setveil"


def test_dependence_against_counting() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 12))
        a, b = rng.integers(-1, 4, n), rng.integers(-1, 3, n)
        found = dependence(
            CellColumn("a", a.astype(np.int32), tuple("wxyz")), CellColumn("b", b.astype(np.int32), tuple("uvw"))
        )
        rows: dict[int, list[int]] = {}
        for one, other in zip(a.tolist(), b.tolist(), strict=True):
            if one >= 0 and other >= 0:
                rows.setdefault(one, []).append(other)
        several = [values for values in rows.values() if len(values) > 1]
        assert found[:2] == (len(several), sum(len(set(values)) > 1 for values in several))


def test_the_last_columns_of_long_records_are_items_too() -> None:
    rng = random.Random(4)
    goods = [f"good {letter}" for letter in "abcdefghijklmn"]
    rows = [["Size", *(f"Item {place}" for place in range(1, 7))]]
    for _ in range(300):
        bought = rng.sample(goods[:3] if rng.random() < 0.1 else goods, rng.choice([1, 2, 3, 3]))
        bought += [goods[rng.randrange(14 - 4 * len(bought[3:]))] for _ in range(rng.choice([0, 0, 0, 1]))]
        rows.append([str(len(bought)), *bought, *[""] * (6 - len(bought))])
    for number, row in enumerate(rows[1:7]):
        row[5:] = [goods[number % 3], goods[number % 2]]
    found = sv.roles(io.BytesIO("".join(",".join(row) + "\n" for row in rows).encode()))
    assert found.options()["item"] == [f"Item {place}" for place in range(1, 7)]
    assert not any(one.role == "drop" for one in found.columns)


def test_baskets_have_no_columns(tmp_path: Path) -> None:
    rng = random.Random(5)
    goods = [f"good {letter}" for letter in "abcdefghijklmn"]
    baskets = [rng.sample(goods, rng.randint(1, 6)) for _ in range(200)]
    path = tmp_path / "baskets.csv"
    for padding in (0, 6):
        path.write_text("".join(",".join([*row, *[""] * (padding - len(row))]) + "\n" for row in baskets))
        assert sv.read(path).layout.name == "basket"
        with pytest.raises(InputError, match="which has no columns; every line is a record"):
            sv.roles(path)
    assert sv.roles(path, format="table", no_header=True).columns


def test_commands_say_how_the_table_was_read(tmp_path: Path) -> None:
    rng = random.Random(6)
    ratings, goods = "{0}::{1}::4::97830{0}", "{0};good {1};x"
    for line, stated in ((ratings, {}), (goods, {"delimiter": ";", "no_header": True})):
        rows = [(person, item) for person in range(5001, 5060) for item in rng.sample(range(11, 31), 3)]
        path = tmp_path / "ratings.dat"
        path.write_text("".join(line.format(*row) + "\n" for row in rows))
        found = sv.roles(path, **stated)
        assert found.proposal.n_rows == len(rows)
        assert "--no-header" in found.commands[0] and ("--delimiter ';'" in found.commands[0]) is bool(stated)
        assert sv.read(path, **found.options()).n_records == 59

"""Well-known files from their columns to a decision, with the commands that setveil itself prints."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.io.releases.tables import read_codebook
from tests.shapes import SHAPES
from tests.workbooks import workbook

QUICK = ("mimic_admissions",)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in SHAPES]
)
def test_from_file_to_decision(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shape = SHAPES[name](random.Random(1))
    Path("data.csv").write_text(shape.text())
    assert _run(["roles", "data.csv"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("setveil anonymize")]
    assert commands and all(f"--person {visit}" not in " ".join(words) for words in commands for visit in shape.visits)
    assert _run(commands[0]) == 0
    assert "Verified" in capsys.readouterr().out
    assert _run(["verify", "release", "--original", "data.csv"]) == 0
    assert "verified" in capsys.readouterr().out
    people = {row[shape.names.index(shape.person)] for row in shape.rows} - {""}
    assert sv.open_release("release").published.n_records == len(people)


def shop(tmp_path: Path) -> dict[str, tuple[str, str]]:
    rng = random.Random(1)
    products = {f"s{n}": (f"cat{n % 3}", f"sub{n % 6}") for n in range(18)}
    rows = [(f"u{c}", sku, *products[sku]) for c in range(90) for sku in rng.sample(sorted(products), 4)]
    (tmp_path / "own.csv").write_text("cust,sku,cat,sub\n" + "".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "bare.csv").write_text("cust,sku\n" + "".join(",".join(row[:2]) + "\n" for row in rows))
    listed = "".join(f"{sku},thing {sku},{cat},{sub}\n" for sku, (cat, sub) in products.items())
    (tmp_path / "products.csv").write_text("code,name,category,subcategory\n" + listed)
    cells = [["cust", "sku", "cat", "sub"], *map(list, rows)]
    (tmp_path / "own.xlsx").write_bytes(workbook({"a": cells}))
    return products


def test_categories_of_products_are_a_hierarchy(tmp_path: Path) -> None:
    products = shop(tmp_path)
    own = {"person": "cust", "item": "sku"}
    books = []
    for file, source, options in (
        ("own.csv", "columns:cat,sub", own),
        ("own.csv", "columns:sub,cat", own),
        ("own.xlsx", "columns:cat,sub", own),
        ("bare.csv", f"columns:category,subcategory:{tmp_path / 'products.csv'}", {}),
        ("bare.csv", f"columns:code,subcategory,category:{tmp_path / 'products.csv'}", {}),
    ):
        data = sv.read(tmp_path / file, **options)
        release = sv.anonymize(data, "km", k=25, m=2, algorithm="aa", hierarchy=source)
        books.append(dict(release.codebook()))
    assert all(book == books[0] for book in books)
    groups = {name: items for name, items in books[0].items() if len(items) > 1}
    assert groups and all(len({products[item][name.startswith("sub")] for item in items}) == 1
                          for name, items in groups.items() if name.startswith(("sub", "cat")))  # fmt: skip
    out = tmp_path / "out"
    command = ["anonymize", str(tmp_path / "own.csv"), "-o", str(out), "--person", "cust", "--item", "sku"]
    assert (
        _run([*command, "--hierarchy", "columns:cat,sub", "--model", "km", "-k", "25", "-m", "2", "--algorithm", "aa"])
        == 0
    )
    assert len(read_codebook(out)) == 18
    assert _run(["verify", str(out), "--original", str(tmp_path / "own.csv")]) == 0


def test_what_is_wrong_with_categories_is_one_line(tmp_path: Path) -> None:
    shop(tmp_path)
    data = sv.read(tmp_path / "bare.csv")
    for given, source, says in (
        (data, "columns:cat", "no column"),
        (sv.read([["s1"], ["s2"]]), "columns:cat", "needs the file of a long table"),
        (sv.read([["x"], ["y"]]), f"columns:category:{tmp_path / 'products.csv'}", "no column has one of the items"),
    ):
        with pytest.raises(InputError, match=says):
            sv.anonymize(given, "km", k=2, m=1, hierarchy=source)

"""Who is a person is never guessed; records of visits are called so everywhere."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from tests.shapes import SHAPES, black_friday, uci_hospital

VISITS = "records are visits, not people"


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_is_guessed_and_the_command_is_printed(name: str) -> None:
    shape = SHAPES[name](random.Random(1))
    if name == "movielens":
        assert sv.read(io.BytesIO(shape.text().encode())).n_records == 150
        return
    for source in (io.BytesIO(shape.text().encode()), pd.DataFrame(shape.rows, columns=shape.names)):
        with pytest.raises(InputError) as refusal:
            sv.read(source)
        text = str(refusal.value)
        assert "nothing is guessed" in text and "\n" not in text and len(text) < 300
        assert f"person {shape.person}" in text.replace("=", " ").replace('"', "").replace("'", "")
        for visit in shape.visits:
            assert f"person {visit}" not in text.replace("=", " ").replace('"', "").replace("'", "")


@pytest.mark.parametrize(
    ("names", "options", "says"),
    [
        ("patient,member,code", {}, "--person patient --item code or --person member --item code"),
        ("patient,product,category", {}, "--person patient --item product or --person patient --item category"),
        ("patient,diagnosis,procedure", {}, "could all hold the items"),
        ("patient,visit,code", {"item": "code"}, "--person patient"),
        ("c1,c2,c3", {"item": "c3"}, "add --person"),
        ("patient,diagnosis,procedure", {"person": "patient"}, "could all hold the items"),
    ],
)
def test_what_is_asked(names: str, options: dict[str, Any], says: str) -> None:
    rows = "".join(f"p{n % 9},q{n % 8},r{n % 7}\n" for n in range(40))
    with pytest.raises(InputError) as refusal:
        sv.read(io.BytesIO(f"{names}\n{rows}".encode()), **options)
    text = str(refusal.value)
    assert says in text or says.replace("--", "") in text.replace("=", " ").replace('"', "").replace("'", "")


def test_items_alone_do_not_forget_the_person() -> None:
    shape = uci_hospital(random.Random(2))
    bare = shape.text(bare=True).encode()
    items = shape.bare(shape.items)
    frame = pd.DataFrame(shape.rows, columns=shape.bare_names())
    for source in (bare, frame):
        with pytest.raises(InputError, match="no column was named as the person"):
            sv.read(io.BytesIO(source) if isinstance(source, bytes) else source, item=items)
    data = sv.read(io.BytesIO(bare), item=items, person="c2", missing="drop")
    assert data.n_records == len({row[1] for row in shape.rows})


def test_categories_or_products_are_asked() -> None:
    with pytest.raises(InputError) as refusal:
        sv.read(io.BytesIO(black_friday(random.Random(3)).text().encode()))
    assert "Product_ID" in str(refusal.value) and "Product_Category*" in str(refusal.value)


def test_the_owner_may_insist_on_visits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.csv").write_text(uci_hospital(random.Random(4), 300).text())
    out = tmp_path / "out"
    stated = ["--person", "encounter_id", "--item", "diag_1,diag_2,diag_3", "--missing", "drop"]
    command = ["anonymize", str(tmp_path / "v.csv"), "-o", str(out), "--model", "km", "-k", "3", "-m", "1", *stated]
    assert _run([*command, "--algorithm", "aa", "--hierarchy", "icd9cm:zeros-lost"]) == 0
    said = capsys.readouterr()
    assert VISITS in said.out and VISITS in said.err
    certificate = json.loads((out / "certificate.json").read_text())
    assert certificate["not_protected"][0].startswith("Visits, not people")
    for page in (out / "report.html", tmp_path / "out.internal" / "report.html"):
        assert "isits, not people" in page.read_text()
    assert _run(["verify", str(out)]) == 0
    assert f"verified, but {VISITS}" in capsys.readouterr().out
    certificate["not_protected"].pop(0)
    from setveil.report.certificate import seal, write_json

    write_json(seal(certificate), out / "certificate.json")
    assert _run(["verify", str(out)]) == 1  # the public page still says it


def test_people_behind_every_crowd_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"e{n}", f"p{n % 2}" if n < 5 else f"p{n}", "204" if n < 5 else "410") for n in range(30)]
    text = "encounter_id,patient_nbr,code\n" + "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "v.csv").write_text(text)
    out = tmp_path / "out"
    stated = ["--person", "encounter_id", "--item", "code"]
    command = ["anonymize", str(tmp_path / "v.csv"), "-o", str(out), "--model", "km", "-k", "5", "-m", "1", *stated]
    assert _run([*command, "--algorithm", "aa", "--hierarchy", "fanout:2"]) == 0
    assert _run(["verify", str(out), "--original", str(tmp_path / "v.csv"), *stated]) == 0
    capsys.readouterr()
    assert _run(["verify", str(out), "--original", str(tmp_path / "v.csv"), "--person", "patient_nbr"]) == 1
    said = capsys.readouterr().out
    assert (
        "1 of 3 combinations of known items match records of fewer than 5 people; the records that match the same "
        'known items belong to at least 2 "patient_nbr"' in said
    )


def test_people_behind_against_counting() -> None:
    from itertools import combinations
    from math import inf

    from setveil.verify.people import people_behind

    rng = random.Random(8)
    for _ in range(300):
        n = rng.randint(1, 9)
        records = [frozenset(rng.sample("abcd", rng.randint(0, 3))) for _ in range(n)]
        people = [rng.randint(0, 4) for _ in range(n)]
        classes = [rng.choice("xy") for _ in range(n)] if rng.random() < 0.5 else None
        m = rng.choice([0, 1, 2, 3, inf])
        of = classes or [""] * n
        crowds = set()
        for record, one in zip(records, of, strict=True):
            sets = [record] if m == inf else [set(c) for size in range(int(m) + 1) for c in combinations(record, size)]
            crowds |= {(one, frozenset(wanted)) for wanted in sets}
        counts = [
            len(
                {who for who, record, one in zip(people, records, of, strict=True) if one == crowd and record >= wanted}
            )
            for crowd, wanted in crowds
        ]
        k = rng.randint(2, 4)
        assert people_behind(records, people, m, k, classes) == (min(counts), len(counts), sum(c < k for c in counts))

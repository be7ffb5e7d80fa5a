"""Hierarchies as people have them: read as they are meant, or refused with what then works."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError, SetveilWarning

LEAVES = ["robin", "crow", "trout", "carp", "oak", "elm", "fir"]
PATHS = {
    "robin": ("birds", "animals"),
    "crow": ("birds", "animals"),
    "trout": ("fish", "animals"),
    "carp": ("fish", "animals"),
    "oak": ("plants",),
    "elm": ("plants",),
    "fir": ("plants",),
}
GROUPS = ["animals", "birds", "fish", "plants"]
TABLE = [(leaf, *PATHS[leaf]) if len(PATHS[leaf]) == 2 else (leaf, "trees", "plants") for leaf in LEAVES]
NODES = [("1", "", "animals"), ("2", "1", "birds"), ("3", "1", "fish"), ("4", "", "plants")] + [
    (str(10 + number), {"birds": "2", "fish": "3", "plants": "4"}[PATHS[leaf][0]], leaf)
    for number, leaf in enumerate(LEAVES)
]


def root_first(leaf: str) -> list[str]:
    return [*reversed(PATHS[leaf]), leaf]


def lines(*texts: str) -> str:
    return "\n".join(texts) + "\n"


FILES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "paths with arrows": (
        "t.txt",
        lines("# version 1", *GROUPS[:1], "animals > birds", *(" > ".join(root_first(leaf)) for leaf in LEAVES)),
        {},
    ),
    "paths with numbers": (
        "t.txt",
        lines(*(f"{n} - " + " > ".join(root_first(leaf)) for n, leaf in enumerate(LEAVES))),
        {},
    ),
    "paths with slashes": ("t.txt", lines(*("/".join(root_first(leaf)) for leaf in LEAVES)), {}),
    "items with paths": (
        "t.csv",
        lines(
            "item,path",
            *(
                f"{leaf},{' > '.join(reversed(PATHS[leaf])) if len(PATHS[leaf]) > 1 else 'plants > plants'}"
                for leaf in LEAVES
            ),
        ).replace("plants > plants", "plants"),
        {},
    ),
    "indented by blanks": (
        "t.txt",
        lines(
            "animals",
            "  birds",
            "    robin",
            "    crow",
            "  fish",
            "    trout",
            "    carp",
            "plants",
            "  oak",
            "  elm",
            "  fir",
        ),
        {},
    ),
    "indented by tabs": (
        "t.txt",
        lines(
            "animals",
            "\tbirds",
            "\t\trobin",
            "\t\tcrow",
            "\tfish",
            "\t\ttrout",
            "\t\tcarp",
            "plants",
            "\toak",
            "\telm",
            "\tfir",
        ),
        {},
    ),
    "nodes in a table": ("t.csv", lines("id,parent_id,name", *(",".join(node) for node in NODES)), {}),
    "nodes in another order": (
        "t.tsv",
        lines("name\tid\tparentId", *(f"{name}\t{key}\t{parent or 0}" for key, parent, name in NODES)),
        {},
    ),
    "nodes in JSON": (
        "t.json",
        json.dumps(
            [
                {"id": int(key), "parent_id": int(parent) if parent else None, "name": name}
                for key, parent, name in NODES
            ]
        ),
        {},
    ),
    "nodes in JSON, wrapped": (
        "t.json",
        json.dumps({"categories": [{"id": key, "parent": parent, "label": name} for key, parent, name in NODES]}),
        {},
    ),
    "nested JSON": (
        "t.json",
        json.dumps(
            [
                {
                    "name": "animals",
                    "children": [
                        {"name": "birds", "children": ["robin", "crow"]},
                        {"name": "fish", "children": ["trout", "carp"]},
                    ],
                },
                {"name": "plants", "children": ["oak", "elm", "fir"]},
            ]
        ),
        {},
    ),
    "edges": (
        "t.csv",
        lines("child,parent", "birds,animals", "fish,animals", *(f"{leaf},{PATHS[leaf][0]}" for leaf in LEAVES)),
        {},
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def groups_of(tree: sv.Hierarchy) -> dict[str, frozenset[str]]:
    """Inner nodes below the root by their labels, with the items below."""
    below: dict[str, set[str]] = {}
    for leaf in range(tree.n_items):
        for node in tree.ancestors(leaf)[1:]:
            below.setdefault(tree.labels[node], set()).add(tree.labels[leaf])
    return {label: frozenset(items) for label, items in below.items() if label != "ALL"}


EXPECTED = {group: frozenset(leaf for leaf in LEAVES if group in PATHS[leaf]) for group in GROUPS}


@pytest.mark.parametrize("name", FILES)
def test_real_hierarchies(name: str, here: Path) -> None:
    file, content, options = FILES[name]
    Path(file).write_text(content)
    assert groups_of(sv.Hierarchy.from_file(file, **options)) == EXPECTED
    assert _run(["hierarchy", "check", file]) == 0


@pytest.mark.parametrize("order", [("product", "class", "kingdom"), ("kingdom", "class", "product")])
def test_columns_of_a_table_leaf_or_root_first(order: tuple[str, ...], here: Path) -> None:
    rows = [f"{number};{leaf};{up};9.5;{top}" for number, (leaf, up, top) in enumerate(TABLE * 3)]
    Path("products.csv").write_text(lines("n;product;class;price;kingdom", *rows))
    tree = sv.Hierarchy.from_file("products.csv", columns=order)
    expected = {**EXPECTED, "trees": EXPECTED["plants"]}
    assert groups_of(tree) == expected
    with pytest.raises(InputError, match="correct --hierarchy-columns"):
        sv.Hierarchy.from_file("products.csv", columns=["product", "klass"])


def test_columns_of_the_data_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{person},{leaf},{up},{top}" for person in range(8) for leaf, up, top in TABLE[person % 3 :: 2]]
    Path("sales.csv").write_text(lines("customer,product,class,kingdom", *rows))
    ask = ["anonymize", "sales.csv", "-o", "out", "--model", "km", "-k", "3", "-m", "1"]
    assert _run([*ask, "--hierarchy-columns", "product,class,kingdom"]) == 0
    assert '8 people (column "customer"), 7 items (column "product")' in capsys.readouterr().err
    assert _run(["verify", "out", "--original", "sales.csv"]) == 0
    assert _run([*ask, "--hierarchy", "columns:product,class,kingdom:sales.csv", "--force"]) == 0
    policy = (here / "out.internal" / "policy.toml").read_text()
    assert "columns:product,class,kingdom:../sales.csv" in policy
    assert _run(["anonymize", "sales.csv", "-o", "again", "--policy", "out.internal/policy.toml"]) == 0
    assert (here / "again" / "codebook.csv").read_bytes() == (here / "out" / "codebook.csv").read_bytes()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_columns_of_the_data_are_read_as_the_data_is(encoding: str, here: Path) -> None:
    """Encoding, blanks, delimiter and a missing header: what holds for the items holds for their groups."""
    table = [(leaf.replace("o", "ö") + " ", up, top) for leaf, up, top in TABLE]
    rows = [f"{person}|{' | '.join(row)}" for person in range(8) for row in table[person % 3 :: 2]]
    Path("sales.txt").write_bytes(lines(*rows).encode(encoding))
    reading = ["--encoding", encoding, "--strip", "--no-header", "--delimiter", "|", "--format", "long"]
    ask = ["anonymize", "sales.txt", *reading, "--id-column", "1", "--item-column", "2", "--model", "km"]
    assert _run([*ask, "-k", "3", "-m", "1", "-o", "out", "--hierarchy-columns", "2,3,4", "--algorithm", "aa"]) == 0
    assert "crow" not in (here / "out" / "codebook.csv").read_text(encoding="utf-8")
    assert "cröw" in (here / "out" / "codebook.csv").read_text(encoding="utf-8")


def test_hierarchies_in_other_encodings_are_told_by_their_bytes(here: Path) -> None:
    text = lines("item,group", "Müsli,Frühstück", "Käse,Frühstück", "Öl,Küche", "Essig,Küche")
    for encoding, told in (("latin-1", "iso8859-1"), ("utf-16", "utf-16")):
        Path("tree.csv").write_bytes(text.encode(encoding))
        with pytest.warns(SetveilWarning, match=f"read as {told}, because it is not UTF-8"):
            assert "Küche" in sv.Hierarchy.from_file("tree.csv").labels
    assert _run(["hierarchy", "check", "tree.csv", "--encoding", "utf-16"]) == 0
    assert _run(["hierarchy", "check", "tree.csv", "--id-column", "2"]) == 2


def test_data_may_have_ids_or_names(here: Path) -> None:
    file, content, _ = FILES["nodes in a table"]
    Path(file).write_text(content)
    by_id = [[key] for key, _, name in NODES if name in LEAVES]
    for records in (by_id, [[leaf] for leaf in LEAVES]):
        release = sv.anonymize(records, sv.KmAnonymity(k=2, m=1), hierarchy=file)
        assert release.record is not None and release.record.hierarchy is not None
        assert Counter(release.record.hierarchy.vocabulary) == Counter(record[0] for record in records)


def test_mesh(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mtrees.bin").write_text(
        lines(
            "Body Regions;A01",
            "Abdomen;A01.923",
            "Groin;A01.923.049",
            "Head;A01.456",
            "Ear;A01.456.313",
            "Eye;A01.456.420",
            "Sense Organs;A09",
            "Ear;A09.246",
            "Eye;A09.371",
        )
    )
    tree = sv.Hierarchy.from_file("mtrees.bin")
    assert groups_of(tree)["Head"] == {"Ear", "Eye"} and groups_of(tree)["A"] >= {"Groin", "Ear"}
    assert _run(["hierarchy", "check", "mtrees.bin"]) == 0
    assert "2 terms are in several places" in capsys.readouterr().out


ATC = [
    f"{top}{level:02d}{group}{sub}{last:02d}"
    for top in "AC"
    for level in (2, 10)
    for group in "AB"
    for sub in "AC"
    for last in (1, 2)
]
ICD10 = [f"{letter}{number}.{last}" for letter in "EIJ" for number in (10, 11, 12) for last in range(3)]
ICD9 = [f"{number}.{last}{more}" for number in (250, 401, 493, "V45") for last in range(3) for more in range(2)]
SHELVES = [f"{shelf}-{place:02d}" for shelf in ("AB", "AC", "XY") for place in range(6)]


@pytest.mark.parametrize(
    ("codes", "advice"),
    [(ATC, "atc"), (ICD10, "icd10"), (ICD9, "icd9cm"), (SHELVES, "prefix:1,2")],
    ids=["ATC", "ICD-10", "ICD-9", "shelves"],
)
@pytest.mark.parametrize("named", ["code,name", "code;name", "codes alone"])
def test_code_lists_are_no_trees(
    codes: list[str], advice: str, named: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = codes if named == "codes alone" else [f"{code}{named[4]}Disease number {n}" for n, code in enumerate(codes)]
    Path("codes.csv").write_text(lines(*([] if named == "codes alone" else [named]), *rows))
    Path("data.csv").write_text(lines("patient,code", *(f"{n // 3},{code}" for n, code in enumerate(codes * 2))))
    assert _run(["hierarchy", "check", "codes.csv"]) == 2
    assert f"--hierarchy {advice}" in capsys.readouterr().out
    ask = ["anonymize", "data.csv", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--hierarchy"]
    assert _run([*ask, "codes.csv"]) == 2
    assert f"--hierarchy {advice}" in capsys.readouterr().err
    assert _run([*ask, advice]) == 0


USELESS = {
    "every group has one child": lines("item,group,top", *(f"i{n},g{n},all" for n in range(30))),
    "nothing but a root": lines("item,top", *(f"i{n},all" for n in range(30))),
    "names as groups": json.dumps([{"id": n, "name": f"i{n}"} for n in range(30)]),
}


@pytest.mark.parametrize("name", USELESS)
def test_useless_trees_fail_the_check(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = "h.json" if USELESS[name].startswith("[") else "h.csv"
    Path(file).write_text(USELESS[name])
    assert _run(["hierarchy", "check", file]) == 2
    assert "share no group with another item, only the root" in capsys.readouterr().out


def test_equal_warnings_are_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{item},{group},top{int(group[1:]) % 2}" for n in range(60) for item, group in [(f" i{n}", f"g{n % 6}")]]
    Path("h.csv").write_text(lines("item,group,top", *rows))
    assert _run(["hierarchy", "check", "h.csv"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 and "blanks around it" in said[0] and "59 more like this" in said[0]


def test_an_ambiguous_file_names_an_option_that_works(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("h.csv").write_text(lines("sausage,sausage", "ham,sausage", "cola,soda", "soda,drinks", "tea,drinks"))
    Path("d.csv").write_text(lines("id,item", *(f"{n},{item}" for n in range(9) for item in ("ham", "cola", "tea"))))
    ask = ["anonymize", "d.csv", "-o", "out", "--model", "km", "-k", "3", "-m", "1", "--hierarchy", "h.csv"]
    assert _run(ask) == 2
    assert "set --hierarchy-format csv or edges" in capsys.readouterr().err
    assert _run([*ask, "--hierarchy-format", "csv"]) == 0
    assert _run(["hierarchy", "check", "h.csv", "--hierarchy-format", "csv"]) == 0

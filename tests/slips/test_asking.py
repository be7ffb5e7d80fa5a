"""Slips in what is asked: none ends with exit code 0 and a word that comforts, unless the release protects what was
meant.

Each case is a command as somebody would type it, the exit code, and what must be said.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil.cli.main import _run
from setveil.errors import printable

ROWS = [
    ("milk", "bread"),
    ("milk", "beer"),
    ("bread", "beer"),
    ("milk", "bread", "tea"),
    ("tea", "beer"),
    ("flu", "milk"),
    ("milk",),
]
TREE = "milk,dairy,all\nbread,bakery,all\nbeer,drinks,all\ntea,drinks,all\nflu,illness,all\n"

REFUSED: dict[str, tuple[str, int, str]] = {
    "sensitive item misspelt": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive NOPE",
        2,
        "no item of the list is in the data",
    ),
    "sensitive file of other data": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive other.txt",
        2,
        "no item of the list is in the data",
    ),
    "sensitive file that is not there": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive gone.txt",
        2,
        'there is no file "gone.txt", and no item of that name',
    ),
    "an algorithm of another model that can be guessed besides": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm cahd",
        2,
        'algorithm "cahd" does not support model "km"',
    ),
    "a domain beyond the hierarchy": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm aa --hierarchy tree.csv --domain other.txt",
        2,
        'the hierarchy lacks 2 items of the domain that nobody has: "rum", "wine"',
    ),
    "sensitive glob that matches nothing": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive zz*",
        2,
        "no item of the data matches",
    ),
    "sensitive subtree without hierarchy": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive @subtree:illness",
        2,
        "needs a hierarchy",
    ),
    "no sensitive item at all": ("anonymize data.csv -o out --model degree -p 2", 2, "needs sensitive"),
    "k-anonymity with sensitive misspelt": (
        "anonymize data.csv -o out --model k-anonymity -k 2 --sensitive Flu",
        2,
        "no item of the list is in the data",
    ),
    "coherence with sensitive misspelt": (
        "anonymize data.csv -o out --model coherence -H 50 -k 2 -p 1 --sensitive Flu",
        2,
        "no item of the list is in the data",
    ),
    "suggest with sensitive misspelt": ("suggest data.csv --sensitive Flu", 2, "no item of the list is in the data"),
    "constraints of other data": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints other.csv",
        2,
        "constraints: no item of the list is in the data",
    ),
    "utility groups of other data": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints pairs.csv --utility other.csv "
        "--utility-rest keep",
        2,
        "utility: no item of the list is in the data",
    ),
    "utility groups that forget items": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints pairs.csv --utility pairs.csv",
        2,
        "in no utility group",
    ),
    "k of 1": ("anonymize data.csv -o out --model km -k 1 -m 2 --hierarchy tree.csv", 2, "at least 2"),
    "k of 0": ("anonymize data.csv -o out --model km -k 0 -m 2 --hierarchy tree.csv", 2, "at least 2"),
    "p of 1": ("anonymize data.csv -o out --model degree -p 1 --sensitive flu", 2, "at least 2"),
    "m of 0": ("anonymize data.csv -o out --model km -k 2 -m 0 --hierarchy tree.csv", 2, "m must be"),
    "m as a word": ("anonymize data.csv -o out --model km -k 2 -m many --hierarchy tree.csv", 2, "m"),
    "no model": ("anonymize data.csv -o out", 2, "choose a privacy model"),
    "k larger than the data": ("anonymize data.csv -o out --model km -k 99 -m 1 --hierarchy tree.csv", 3, ""),
    "algorithm for another model": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive flu --algorithm aa",
        2,
        "does not support",
    ),
    "hierarchy of other data": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --hierarchy other-tree.csv",
        2,
        "the hierarchy lacks",
    ),
    "hierarchy with a typing error": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --hierarchy fanout:x",
        2,
        "fanout",
    ),
    "misspelt option of the algorithm": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm aa --hierarchy tree.csv --option orders=x",
        2,
        "orders",
    ),
    "unknown purpose": ("suggest data.csv --purpose fun", 2, "publish, share, internal"),
    "grid beside a hierarchy": (
        "compare data.csv -o cmp --grid grid.toml --hierarchy tree.csv",
        2,
        "remove --hierarchy",
    ),
    "a sensitive item in another spelling only": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive flu,BEER",
        2,
        '"beer" in the data differs from an item of the list',
    ),
    "ids of a grouping": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive flu --keep-ids",
        2,
        "cannot keep record order or ids",
    ),
    "verify with a sensitive file that is not there": (
        "verify data.csv --model degree -p 2 --sensitive gone.txt",
        2,
        'there is no file "gone.txt", and no item of that name',
    ),
    "a file that is not there among items": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive flu,gone.txt",
        2,
        'there is no file "gone.txt", and no item of that name',
    ),
    "suggest with a sensitive file that is not there": (
        "suggest data.csv --sensitive flu,gone.list",
        2,
        'there is no file "gone.list", and no item of that name',
    ),
    "a sensitive path that is not there": (
        "verify data.csv --model k-anonymity -k 2 --sensitive lists/gone",
        2,
        'there is no file "lists/gone", and no item of that name',
    ),
    "verify with a sensitive item misspelt": (
        "verify data.csv --model degree -p 2 --sensitive Flu",
        2,
        "no item of the list is in the data",
    ),
    "verify with an item in another spelling only": (
        "verify data.csv --model degree -p 2 --sensitive flu,BEER",
        2,
        '"beer" in the data differs from an item of the list',
    ),
    "the spelling that the data has is named": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive hiv",
        2,
        '(the data has "HIV", "HIV positive", "HIV-1"',
    ),
    "a code without its dot": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive HIV,B200.1",
        2,
        '"B20.01" in the data differs from an item of the list in case, blanks, accents, punctuation',
    ),
    "an abbreviation with dots": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive H.I.V.,B20.01",
        2,
        '"HIV" in the data differs from an item of the list',
    ),
    "nearly everything is sensitive": (
        "anonymize data.csv -o out --model k-anonymity -k 2 --sensitive milk,bread,beer,tea",
        2,
        "92.9 % of all entries are sensitive, which this model publishes unchanged",
    ),
    "constraints with blanks between items": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints blanks.csv",
        2,
        'blanks.csv:2: "milk bread" is not an item of the data, but "milk", "bread" are; separate items with commas',
    ),
    "utility groups with semicolons": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints pairs.csv --utility semicolons.csv",
        2,
        'semicolons.csv:1: "milk;bread" is not an item of the data',
    ),
    "sensitive items in one line": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive oneline.txt",
        2,
        '"flu,tea" is not an item of the data, but "flu", "tea" are; write one item per line',
    ),
    "weights of other data": (
        "anonymize data.csv -o out --model km -k 2 -m 2 --algorithm pcta --option weights=weights.csv",
        2,
        "weight: no item of the list is in the data",
    ),
    "unknown key in the policy": ("anonymize data.csv -o out --policy typo.toml", 2, "unknown key"),
}

WARNED: dict[str, tuple[str, str]] = {
    "one sensitive item misspelt": (
        "anonymize data.csv -o out --model degree -p 2 --sensitive flu,NOPE",
        '"NOPE" not in the data',
    ),
    "one constraint misspelt": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints mixed.csv",
        '"gin" not in the data',
    ),
    "a sensitive item in another spelling": (
        "anonymize spelt.csv -o out --model degree -p 2 --sensitive flu",
        '"Flu\\u200b" in the data differs from an item of the list',
    ),
    "a constraint in another spelling": (
        "anonymize spelt.csv -o out --model constraints -k 2 --constraints pairs.csv",
        '"Milk " in the data differs from an item of the list',
    ),
    "a name that others begin with": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive HIV",
        'sensitive: "HIV positive", "HIV-1", "recent HIV test" in the data resembles an item of the list',
    ),
    "a code that others continue": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive B20",
        'sensitive: "B20.0", "B20.01", "B200" in the data resembles an item of the list',
    ),
    "a number that others continue": (
        "anonymize codes.csv -o out --model degree -p 2 --sensitive 250",
        'sensitive: "250.01" in the data resembles an item of the list',
    ),
    "more than half is sensitive": (
        "anonymize data.csv -o out --model k-anonymity -k 2 --sensitive milk,beer",
        "57.1 % of all entries are sensitive",
    ),
    "coherence without a limit": (
        "anonymize data.csv -o out --model coherence -H 100 -k 2 -p 1 --sensitive flu",
        "h=100 does not limit anything",
    ),
    "constraints that are frequent anyway": (
        "anonymize data.csv -o out --model constraints -k 2 --constraints pairs.csv",
        "the published records are the original records: nothing was changed",
    ),
    "a weight of something else": (
        "anonymize data.csv -o out --model km -k 2 -m 2 --algorithm pcta --option weights=some-weights.csv",
        'weight: "wine" not in the data',
    ),
    "a domain of other items": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm pcta --domain other.txt",
        '5 items of the data are not in the domain: "beer", "bread", "flu" and 2 more',
    ),
    "ids published": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm aa --hierarchy tree.csv --keep-ids",
        "Record ids are published",
    ),
    "order published": (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm aa --hierarchy tree.csv --keep-order",
        "order of the input",
    ),
    "everything becomes one item": (
        "anonymize data.csv -o out --model km -k 36 -m 1 --algorithm aa --hierarchy tree.csv",
        "published as one item",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"p{number},{item}\n" for number, row in enumerate(ROWS * 6) for item in row]
    Path("data.csv").write_text("person,item\n" + "".join(lines))
    spelt = {"p5,flu": "p5,Flu\u200b", "p0,milk": '"p0","Milk "'}
    lines = [spelt.get(line.strip(), line.strip()) + "\n" for line in lines]
    Path("spelt.csv").write_text("person,item\n" + "".join(lines), encoding="utf-8")
    Path("tree.csv").write_text(TREE)
    Path("other-tree.csv").write_text("wine,drinks,all\nrum,drinks,all\nham,meat,all\n")
    Path("other.txt").write_text("wine\nrum\n")
    Path("other.csv").write_text("wine,rum\n")
    Path("pairs.csv").write_text("milk,bread\n")
    Path("blanks.csv").write_text("milk,bread\nmilk bread\n")
    Path("semicolons.csv").write_text("milk;bread\nbeer;tea;flu\n")
    Path("oneline.txt").write_text("flu,tea\n")
    Path("weights.csv").write_text("wine,0.5\nrum,0.1\n")
    Path("some-weights.csv").write_text("wine,0.5\nmilk,0.1\n")
    sensitive = ["HIV", "HIV positive", "HIV-1", "recent HIV test", "archive", "B20", "B20.0", "B20.01", "B200", "B2"]
    sensitive += ["250", "250.01", "2501"]
    coded = [f"q{number},{item}\n" for number, item in enumerate(sensitive * 3)]
    coded += [f"q{number},common\n" for number in range(200)]
    Path("codes.csv").write_text("person,item\n" + "".join(coded))
    Path("mixed.csv").write_text("milk,bread\ngin,milk\n")
    Path("grid.toml").write_text(
        "schema = 1\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\nalgorithm = 'aa'\nhierarchy = 'tree.csv'\n"
    )
    Path("typo.toml").write_text("schema = 1\n[model]\nname = 'km'\nk = 2\nm = 1\n[abuot]\ntitle = 'x'\n")
    return tmp_path


@pytest.mark.parametrize("slip", REFUSED)
def test_refused_with_the_reason(slip: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, code, words = REFUSED[slip]
    assert _run(command.split()) == code
    said = capsys.readouterr()
    assert words in said.err
    assert "Verified" not in said.out
    assert "holds" not in said.out
    assert not (folder / "out").exists()


@pytest.mark.parametrize("slip", WARNED)
@pytest.mark.filterwarnings("always::setveil.errors.SetveilWarning")
def test_told_before_the_verdict(slip: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, words = WARNED[slip]
    assert _run(command.split()) == 0
    said = capsys.readouterr()
    assert sum(words in line for line in said.err.splitlines()) == 1
    if "--keep" in command:  # a light says it
        return
    assert words not in said.out
    told = json.loads((folder / "out.internal" / "run.json").read_text(encoding="utf-8"))["warnings"]
    assert any(words in printable(line) for line in told)


@pytest.mark.filterwarnings("always::setveil.errors.SetveilWarning")
def test_published_ids_stand_everywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "anonymize data.csv -o out --model km -k 2 -m 1 --algorithm aa --hierarchy tree.csv --keep-ids --keep-order"
    )
    assert _run(command.split()) == 0
    assert "Guarantee: undone: record ids are published" in capsys.readouterr().out
    for place in ("out/report.html", "out.internal/report.html", "out/certificate.json"):
        text = (folder / place).read_text(encoding="utf-8")
        assert "Record ids are published" in text
        assert "order of the input" in text
    assert '<p class="banner bad">Record ids' in (folder / "out" / "report.html").read_text(encoding="utf-8")

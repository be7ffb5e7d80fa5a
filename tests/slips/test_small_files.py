"""Numbers of thousands of digits, NUL characters and repeated columns in small files: one line and exit code 2."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run

HUGE = "9" * 5000
KM = 'schema = 1\n[model]\nname = "km"\nk = 2\nm = 1\n'
TREE = "item,group,all\n1,a,b\n2,a,b\n3,c,b\n4,c,b\n"
ASK = "anonymize data.dat -o out "
POLICY = ASK + "--policy given.toml"
GRID = "compare data.dat -o out --grid given.toml"
WEIGHTS = ASK + "--model km -k 2 -m 1 --algorithm pcta --option weights=given.csv"
HIERARCHY = ASK + "--model km -k 2 -m 1 --algorithm aa --hierarchy "


def model(**parameters: str) -> str:
    return "schema = 1\n[model]\n" + "".join(f"{name} = {value}\n" for name, value in parameters.items())


CASES: dict[str, tuple[str, str, str]] = {  # command, content of the file it names, what is said
    "k of a policy": (POLICY, model(name='"km"', k=HUGE, m="1"), "digits"),
    "hexadecimal k of a policy": (
        POLICY,
        model(name='"km"', k=f"0x{HUGE}", m="1"),
        "`model.k`: the number is too large",
    ),
    "k of constraints": (POLICY, model(name='"constraints"', k="9" * 400, constraints='[["1", "2"]]'), "too large"),
    "h of a policy": (POLICY, model(name='"coherence"', k="2", p="1", h=f"0x{HUGE}", sensitive='["4"]'), "too large"),
    "schema of a policy": (POLICY, f"schema = {HUGE}\n", "digits"),
    "seed of a policy": (POLICY, f"seed = {HUGE}\n{KM}", "digits"),
    "an option of a policy": (POLICY, f'{KM}[algorithm]\nname = "vpa"\noptions = {{depth = 0x{HUGE}}}\n', "too large"),
    "a weight of a policy": (
        POLICY,
        f'{KM}[algorithm]\nname = "pcta"\noptions.weights = {{1 = 0x{HUGE}}}\n',
        "too large",
    ),
    "k of a grid": (GRID, f'schema = 1\n[[grid]]\nmodel = "km"\nk = {HUGE}\nm = 1\n', "digits"),
    "hexadecimal k of a grid": (GRID, f'schema = 1\n[[grid]]\nmodel = "km"\nk = [2, 0x{HUGE}]\nm = 1\n', "too large"),
    "known of a grid": (GRID, f'schema = 1\nknown = {HUGE}\n[[grid]]\nmodel = "km"\nk = 2\nm = 1\n', "digits"),
    "an option": (ASK + f"--model k-anonymity -k 2 --algorithm pta --option segments={HUGE}", "", "segments"),
    "a number of an option": (
        ASK + f"--model degree -p 2 --sensitive 4 --option reach={'9' * 400}",
        "",
        'option "reach" must be at most 1,000,000,000',
    ),
    "a penalty": (ASK + f"--model km -k 2 -m 1 --algorithm pcta --option penalty={'9' * 400}", "", "penalty"),
    "a weight in a file": (WEIGHTS, f"1,{HUGE}\n2,0.5\n", "too large"),
    "a label in JSON": (HIERARCHY + "given.json", f'{{"label": {HUGE}, "children": [1, 2, 3]}}', "lacks 1 item"),
    "a parent in JSON": (HIERARCHY + "given.json", f'[{{"id": 1, "parent": {HUGE}}}]', "given.json"),
    "a column by number": (HIERARCHY + f"given.csv --hierarchy-columns item,{HUGE}", TREE, "no column"),
    "prefix lengths": (HIERARCHY + f"prefix:1,{HUGE}", "", "prefix lengths"),
    "a prefix length that is no number": (HIERARCHY + "prefix:²", "", "prefix lengths"),
    "a column of the input": (f"risk data.csv --id-column {HUGE}", "", "no column"),
    "NUL in a label": (POLICY, model(name='"degree"', p="2", sensitive='["4", "a\\u0000"]'), "`model.sensitive`"),
    "NUL in a constraint": (POLICY, model(name='"constraints"', k="2", constraints='[["4", "a\\u0000"]]'), "NUL"),
    "NUL in the name of a list": (POLICY, model(name='"degree"', p="2", sensitive='"a\\u0000"'), "NUL"),
    "NUL in the name of a domain": (POLICY, f'{KM}[input]\ndomain = "a\\u0000b"\n', "NUL"),
    "NUL in a weight": (POLICY, f'{KM}[algorithm]\nname = "pcta"\noptions.weights = {{"1\\u0000" = 0.5}}\n', "NUL"),
    "NUL in a grid": (GRID, 'schema = 1\n[[grid]]\nmodel = "degree"\np = 2\nsensitive = ["a\\u0000"]\n', "NUL"),
    "a column by name and number": (HIERARCHY + "given.csv --hierarchy-columns item,group,2", TREE, "a column twice"),
    "a repeated column": (
        HIERARCHY + "given.csv --hierarchy-columns item,group",
        TREE.replace("all", "group"),
        'names column "group" several times',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_in_one_line(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command, content, words = CASES[case]
    Path("data.dat").write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    Path("data.csv").write_text("id,item\n1,a\n2,a\n")
    for ending in ("toml", "csv", "json", "dat"):
        Path(f"given.{ending}").write_text(content)
    assert _run([*command.split(), "--quiet"]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said and "\n" not in said and len(said) < 400
    assert not Path("out").exists()


def test_numbers_that_the_library_is_given() -> None:
    with pytest.raises(sv.InputError, match="k is too large"):
        sv.anonymize([["a", "b"]] * 3, "constraints", k=10**400, constraints=[["a"]])
    with pytest.raises(sv.InputError, match=r"not a number|too large"):
        sv.anonymize([["a", "b"]] * 3, "km", k=2, m=1, algorithm="pcta", options={"weights": {"a": 10**5000}})
    with pytest.raises(sv.InputError, match="incomplete Unicode"):
        sv.Policy.from_dict({"schema": 1, "model": {"name": "degree", "p": 2, "sensitive": ["\ud800"]}})


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("hierarchy", "hierarchy build data.dat -o tree.csv"),
        ("constraints", "constraints generate data.dat --how support -m 99999 -o list.csv"),
    ],
)
def test_progress_is_shown(
    module: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sizes beyond the longest record are not looked at."""
    monkeypatch.chdir(tmp_path)
    Path("data.dat").write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    shares: list[float | None] = []

    @contextmanager
    def bar():  # type: ignore[no-untyped-def]
        yield lambda stage, share=None: shares.append(share)

    monkeypatch.setattr(f"setveil.cli.{module}.progress_bar", bar)
    assert _run(command.split()) == 0
    assert [share for share in shares if share is not None] and len(shares) < 1000

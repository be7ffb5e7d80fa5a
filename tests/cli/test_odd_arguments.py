"""Arguments nobody should give: exit code 2 and one line of at most 300 characters, never a traceback or a hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.cli.main import _run

HUGE = str(2**63)
KM = ["--model", "km", "-k", "2", "-m", "1", "--hierarchy", "fanout:2"]
ODD: list[list[str]] = [
    ["risk", "d.dat", "--known", "2147483648"],
    ["risk", "d.dat", "--known", "0"],
    ["risk", "d.dat", "--known", "9" * 5000],
    ["risk", "d.dat", "--known", "\u0661"],
    ["risk", "d.dat", "--known", ""],
    ["risk", ""],
    ["risk", "d.dat", "--seed", "-1"],
    ["risk", "d.dat", "--seed", HUGE],
    ["risk", "d.dat", "-k", "0"],
    ["risk", "nowhere\x1b[31m.dat"],
    ["risk", "n" * 5000],
    ["attack", "d.dat", "nowhere", "--targets", HUGE],
    ["attack", "d.dat", "nowhere", "--targets", "0"],
    ["anonymize", "d.dat", "-o", "/", *KM],
    ["anonymize", "d.dat", "-o", "n" * 300, *KM],
    ["anonymize", "d.dat", "-o", "out", *KM, "--seed", "-1"],
    ["anonymize", "d.dat", "-o", "out", *KM, "--option", "x"],
    ["anonymize", "d.dat", "-o", "out", *KM, "--to", "word"],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "1", "-m", "1"],
    ["anonymize", "d.dat", "-o", "out", "--model", "degree", "-p", "2", "--sensitive", "*"],
    ["anonymize", "d.dat", "-o", "out", "--model", "degree", "-p", "2", "--sensitive", ""],
    ["anonymize", "d.dat", "-o", "out", "--policy", "d.dat"],
    ["anonymize", "d.dat", "-o", "out", "--policy", "/dev/zero"],
    ["anonymize", "/dev/zero", "-o", "out", *KM],
    ["anonymize", "d.dat", "-o", "out", *KM, "--domain", "/dev/zero"],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--hierarchy", "/dev/zero"],
    ["anonymize", "d.dat", "-o", "out", "--model", "constraints", "-k", "2", "--constraints", "/dev/zero"],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "2147483648"],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "9" * 5000],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "\u00b2"],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--hierarchy", "levels:" + HUGE],
    ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--hierarchy", "levels:" + "9" * 5000],
    ["anonymize", "d.dat", "-o", "out", "--policy", "deep.toml"],
    ["anonymize", "d.dat", "-o", "out", "--model", "constraints", "-k", "2", "--constraints", "empty"],
    ["verify", "d.dat", "--model", "constraints", "-k", "2", "--constraints", "empty"],
    ["compare", "d.dat", "--grid", "deep.toml", "-o", "c"],
    ["verify", "d.dat"],
    ["verify", "nowhere", "--model", "km", "-k", "2", "-m", "1"],
    ["verify", "d.dat", "--model", "km", "-k", "2", "-m", "1", "--time-limit", "-1"],
    ["verify", "d.dat", "--model", "km", "-k", "x", "-m", "1"],
    ["measure", "d.dat", "nowhere"],
    ["query", "nowhere", "--sensitive", "x"],
    ["verify", ".", "-k", "50"],
    ["compare", "d.dat", "--grid", "d.dat", "-o", "c"],
    ["compare", "d.dat", "-o", "c", "--processes", "0"],
    ["compare", "d.dat", "-o", "c", "--hierarchy", "nowhere"],
    ["compare", "d.dat", "-o", "c", "--sensitive", "*"],
    ["suggest", "d.dat", "--seconds", "nan"],
    ["suggest", "d.dat", "--sensitive", "*"],
    ["generate", "quest", "-o", "out.dat", "-D", HUGE],
    ["generate", "patients", "-o", "out.csv", "-n", "9", "--sensitive", "out.csv"],
    ["anonymize", "d.dat", "-o", "out", *KM, "--engine", "cloud"],
    ["anonymize", "d.dat", "-o", "out", *KM, "--algorithm", ""],
    ["anonymize", "d.dat", "-o", "out", *KM, "--encoding="],
    ["ui", "--port", "0"],
    ["demo", "-o", "/"],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_arguments(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.dat").write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    Path("deep.toml").write_text("a = " + "[" * 50_000)
    Path("empty").write_text("")
    status = _run(ODD[number])
    told = capsys.readouterr()
    line = told.err.strip().splitlines()[-1]
    assert status in (2, 3), line
    assert len(line) <= 300
    assert line.isprintable()
    assert "internal error" not in line
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".out", "out"))]


GRIDS = [
    "schema = 1\nknown = 'x'\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\nknown = -1\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\nlimits = 5\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\n[limits]\nseconds = 'x'\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\n[limits]\nseconds = nan\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\n[limits]\nmemory_mb = inf\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\n",
    "schema = 1\n[[grid]]\nmodel = 5\n",
    "schema = 1\n[[grid]]\nmodel = 'km'\nk = {}\nm = 1\n",
    "schema = 1\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\noptions = 5\n",
    "schema = 1\n[[grid]]\nmodel = 'km'\nk = 2\nm = 1\nhierarchy = 5\n",
    "schema = 1\n[[grid]]\nmodel = 'km'\nk = []\nm = 1\n",
    "schema = 1\ngrid = 5\n",
]


@pytest.mark.parametrize("number", range(len(GRIDS)))
def test_odd_grids(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.dat").write_text("1 2\n1 2\n")
    Path("grid.toml").write_text(GRIDS[number])
    status = _run(["compare", "d.dat", "--grid", "grid.toml", "-o", "c", "--processes", "1"])
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert status == 2, line
    assert len(line) <= 300
    assert "internal error" not in line

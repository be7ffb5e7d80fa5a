"""A format of another package is read and written like those of setveil, wherever formats are named."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = "from setveil.cli.main import main; main()"
RECORDS = ["<bread;milk>"] * 4 + ["<bread>"] * 4 + ["<beer;bread;milk>", "<>"]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the package is installed."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(
        ["cp", "-r", str(ROOT / "tests" / "plugin"), str(source)], check=True
    )  # building leaves files behind
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--disable-pip-version-check", "--target", str(folder), str(source)], check=True)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data in the format."""
    monkeypatch.chdir(tmp_path)
    for name in ("baskets.brackets", "baskets.txt"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in RECORDS))
    return tmp_path


def run(package: Path | None, *arguments: str, module: bool = True) -> subprocess.CompletedProcess[str]:
    """The command line, or a script, with the package installed or not."""
    paths = [str(ROOT / "src"), *([str(package)] if package else [])]
    command = ["-c", MAIN, *arguments] if module else ["-c", *arguments]
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_detected_read_and_written_by_the_command_line(here: Path, package: Path) -> None:
    for name, evidence in (
        ("baskets.brackets", "detected from the extension .brackets"),
        ("baskets.txt", "detected from the brackets around the first line"),
    ):
        done = run(package, "risk", name, "--known", "1", "--json")
        assert done.returncode == 0, done.stderr
        assert f"Read {name} as lines in brackets ({evidence}): 10 people, 3 items, 15 entries." in done.stderr
        assert json.loads(done.stdout)["input"]["layout"] == "brackets"
    asked = ("--model", "km", "-k", "4", "-m", "1", "--algorithm", "aa", "--hierarchy", "fanout:2")
    done = run(package, "anonymize", "baskets.brackets", "-o", "out", *asked)
    assert done.returncode == 0, done.stderr
    written = (here / "out" / "published.brackets").read_text().splitlines()
    assert len(written) == 10 and all(re.fullmatch("<[^<>]*>", line) for line in written) and "<>" in written
    assert sum(line.endswith(";milk>") for line in written) == 5
    assert run(package, "verify", "out").returncode == 0
    # There is no second reader of the format, and without the package no reader at all.
    assert run(package, "verify", "out", "--original", "baskets.brackets").returncode == 5
    alone = run(None, "verify", "out")
    assert alone.returncode == 5 and 'format "brackets" is not installed here' in re.sub(r"\s+", " ", alone.stdout)
    assert run(None, "risk", "baskets.txt", "--format", "brackets").returncode == 2


def test_it_is_known_wherever_formats_are_listed(here: Path, package: Path) -> None:
    assert "brackets" in run(package, "risk", "--help").stdout
    wrong = run(package, "risk", "baskets.txt", "--format", "excel")
    assert wrong.returncode == 2 and wrong.stderr.strip().endswith("fimi, brackets.")
    (here / "policy.toml").write_text(
        'schema = 1\n[model]\nname = "km"\nk = 4\nm = 1\n[algorithm]\nname = "aa"\n[hierarchy]\nsource = "fanout:2"\n'
        '[input]\nformat = "brackets"\n[output]\nto = "brackets"\n'
    )
    done = run(package, "anonymize", "baskets.txt", "-o", "by-policy", "--policy", "policy.toml")
    assert done.returncode == 0, done.stderr
    assert (here / "by-policy" / "published.brackets").exists()
    alone = run(None, "anonymize", "baskets.txt", "-o", "no", "--policy", "policy.toml")
    assert alone.returncode == 2 and "`input.format` must be one of long, wide" in alone.stderr


def test_the_library_and_the_page_know_it(here: Path, package: Path) -> None:
    script = """
import setveil as sv
from setveil.io.formats.registry import FORMATS
from setveil.web.workspace import safe_name
from setveil.errors import InputError

data = sv.read("baskets.txt")
assert data.layout.name == "brackets" and data.to_lists()[-1] == []
release = sv.anonymize(sv.read("baskets.txt", format="brackets"), "km", k=4, m=1, algorithm="aa", hierarchy="fanout:2")
release.publish("first", to="brackets")
assert sv.open_release("first").published.layout.name == "brackets"
sv.anonymize([["a", "b"]] * 4, "km", k=4, m=1, algorithm="aa", hierarchy="fanout:2").publish("second", to="brackets")
assert open("second/published.brackets").read() == "<a;b>\\n" * 4
assert safe_name("x.brackets", "input") == "input.brackets" and FORMATS["brackets"].shown == "lines in brackets"
try:
    sv.read("baskets.txt", format="brackets", delimiter=",")
except InputError as problem:
    assert "not for brackets" in str(problem)
else:
    raise AssertionError
"""
    done = run(package, script, module=False)
    assert done.returncode == 0, done.stderr

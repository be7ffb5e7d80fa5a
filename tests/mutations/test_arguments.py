"""Every option of every command with odd values: an answer or one line that says what is wrong, never a traceback."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.cli.main import _run, app

N_EXAMPLES = 250 if os.environ.get("SETVEIL_HYPOTHESIS") == "fuzz" else 25
KM = ["--model", "km", "-k", "2", "-m", "1", "--hierarchy", "fanout:2"]
# What each command is given besides the odd options; commands that start servers or many processes are not run here.
USUAL: dict[str, list[str]] = {
    "risk": ["d.dat"],
    "anonymize": ["d.dat", "-o", "new", *KM],
    "verify": ["out"],
    "measure": ["d.dat", "out"],
    "query": ["grouped", "--sensitive", "4"],
    "attack": ["d.dat", "out"],
    "algorithms": [],
    "hierarchy build": ["d.dat", "-o", "h.csv"],
    "hierarchy check": ["tree.csv"],
    "hierarchy convert": ["tree.csv", "-o", "h.csv"],
    "constraints check": ["d.dat", "--constraints", "c.txt", "-k", "2"],
    "constraints generate": ["d.dat", "-o", "c2.txt"],
}
NOT_ODD = {"--help", "--engine", "--master"}  # a cluster that does not answer is waited for
ODD = [
    "", " ", "-1", "0", "1", "2", "-0", "1.5", str(2**31), str(2**63), "9" * 5000, "nan", "inf", "1e400", "\u0661",
    "0x10", "*", "/", ".", "..", "-", "--", "d.dat", "out", "tree.csv", "nowhere", "/dev/null", "/dev/zero", "n" * 5000,
    "a/" * 300, "\x1b[31m", "\u202e", "\ufeff", "\udcff", "a\nb", "\r", "\t", "=1+1", "%s", "{}", "[]", "x=", "=x",
    "x=y", "a,b,,c", ",", ":", "fanout:0", "fanout:-1", "fanout:x", "prefix:", "prefix:0", "levels:-1", "auto:", "km",
    "degree", "all", "true", "parquet",
]  # fmt: skip


def options_of(path: str) -> list[tuple[str, bool]]:
    """The options of a command, and whether each takes a value."""
    command: Any = typer.main.get_command(app)
    for name in path.split():
        command = command.commands[name]
    found = [
        (option, not param.is_flag) for param in command.params if hasattr(param, "is_flag") for option in param.opts
    ]
    return [(option, takes) for option, takes in found if option not in NOT_ODD]


OPTIONS = {command: options_of(command) for command in USUAL}


@pytest.fixture(scope="module")
def material() -> Iterator[Path]:
    """A folder with everything that the usual arguments name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [["1", "2", "3"], ["1", "2"], ["2", "3"], ["1", "3", "4"], ["4", "1"], ["2", "4"]] * 5
        (folder / "d.dat").write_text("".join(" ".join(row) + "\n" for row in rows))
        (folder / "tree.csv").write_text("1,low,any\n2,low,any\n3,high,any\n4,high,any\n")
        (folder / "c.txt").write_text("1 2\n3\n")
        sv.anonymize(rows, "km", k=2, m=1, algorithm="aa", hierarchy="fanout:2").publish(folder / "out")
        secret = [[*row, f"u{number}"] for number, row in enumerate(row for row in rows if "4" not in row)]
        sv.anonymize([*secret, ["1", "4"]], "degree", p=2, sensitive=["4"]).publish(folder / "grouped")
        yield folder


@st.composite
def odd_arguments(draw: st.DrawFn) -> list[str]:
    """A command with its usual arguments, some of them left out, doubled or odd, and one or two odd options."""
    command = draw(st.sampled_from(sorted(USUAL)))
    arguments = list(USUAL[command])
    if arguments and draw(st.booleans()):
        place = draw(st.integers(0, len(arguments) - 1))
        arguments[place : place + 1] = draw(st.sampled_from([[], [arguments[place]] * 2, [draw(st.sampled_from(ODD))]]))
    for _ in range(draw(st.integers(1, 2))):
        option, takes_value = draw(st.sampled_from(OPTIONS[command]))
        arguments += [option, draw(st.sampled_from(ODD))] if takes_value else [option]
    return [*command.split(), *arguments]


def run(arguments: list[str], material: Path) -> tuple[int, str]:
    """Exit code and standard error of a command in a fresh copy of the material."""
    told, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(material, name, dirs_exist_ok=True)
        os.chdir(name)
        try:
            with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                status = _run(arguments)
        finally:
            os.chdir(before)
    return status, told.getvalue()


@given(odd_arguments())
@settings(max_examples=N_EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_options_are_answered_in_one_line(material: Path, arguments: list[str]) -> None:
    status, told = run(arguments, material)
    assert status in (0, 1, 2, 3, 5), (arguments, told[-600:])
    assert "Traceback" not in told and "internal error" not in told, (arguments, told[-600:])
    if status == 2:
        line = told.strip().splitlines()[-1]
        assert len(line) <= 300, (arguments, len(line))
        assert line.isprintable(), (arguments, line)


def test_every_option_is_known_to_the_fuzzer() -> None:
    assert all(OPTIONS.values())
    assert sum(map(len, OPTIONS.values())) > 100

"""Every option of every command with odd values: an answer, or one line that says what is wrong and nothing written.

What certainly cannot be meant is listed here by option, apart from the program, and has to be refused by every command.
"""

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

IS_FUZZED = os.environ.get("SETVEIL_HYPOTHESIS") == "fuzz"
N_EXAMPLES = 250 if IS_FUZZED else 25
KM = ["--model", "km", "-k", "2", "-m", "1", "--hierarchy", "fanout:2"]
# What each command is given besides the odd options.
USUAL: dict[str, list[str]] = {
    "risk": ["d.dat"],
    "roles": ["tree.csv"],
    "anonymize": ["d.dat", "-o", "new", *KM],
    "apply": ["out", "d.dat", "-o", "new"],
    "verify": ["out"],
    "measure": ["d.dat", "out"],
    "query": ["grouped", "--sensitive", "4"],
    "attack": ["d.dat", "out"],
    "algorithms": [],
    "hierarchy build": ["d.dat", "-o", "h.csv"],
    "hierarchy check": ["tree.csv"],
    "hierarchy convert": ["tree.csv", "-o", "h.csv"],
    "hierarchy systems": [],
    "constraints rules": ["d.dat", "-o", "r.txt", "--sensitive", "4", "-p", "1"],
    "constraints check": ["d.dat", "--constraints", "c.txt", "-k", "2"],
    "constraints generate": ["d.dat", "-o", "c2.txt", "--how", "itemsets", "-m", "1"],
    "generate quest": ["-o", "q.dat", "-D", "20", "-N", "20", "-L", "20"],
    "generate patients": ["-o", "p.csv", "-n", "20"],
}
SLOW = {
    "suggest": ["d.dat", "--seconds", "1"],
    "compare": ["d.dat", "-o", "new"],
    "demo": [],
}  # seconds, many processes
SERVING = {"ui": ["--no-browser"]}  # does not end by itself
ALL = {
    **USUAL,
    **SLOW,
    **SERVING,
    "verify of a file": ["d.dat", "--model", "km", "-k", "2", "-m", "1"],
    "verify of groups": ["d.dat", "--model", "degree", "-p", "2", "--sensitive", "4"],
    "anonymize of groups": ["d.dat", "-o", "new", "--model", "degree", "-p", "2", "--sensitive", "4"],
    "anonymize of constraints": ["d.dat", "-o", "new", "--model", "constraints", "-k", "2", "--constraints", "c.txt"],
}
FUZZED = sorted({**USUAL, **SLOW} if IS_FUZZED else USUAL)
ODD = [
    "", " ", "-1", "0", "1", "2", "-0", "1.5", str(2**31), str(2**63), "9" * 5000, "nan", "inf", "1e400", "\u0661",
    "0x10", "*", "/", ".", "..", "-", "--", "d.dat", "out", "tree.csv", "nowhere", "/dev/null", "/dev/zero", "n" * 5000,
    "a/" * 300, "\x1b[31m", "\u202e", "\ufeff", "\udcff", "a\nb", "\r", "\t", "=1+1", "%s", "{}", "[]", "x=", "=x",
    "x=y", "a,b,,c", ",", ":", "fanout:0", "fanout:-1", "fanout:x", "prefix:", "prefix:0", "levels:-1", "auto:", "km",
    "degree", "all", "true", "parquet",
]  # fmt: skip
# Values that no command can do anything with, by option: whichever command takes the option has to refuse them.
NO_FILE = ["nowhere", "", "/", "n" * 5000, "a\nb", "\x1b[31m"]
WRONG: dict[str, list[str]] = {
    "--known": ["0", "-1", "2147483648", "x", "", "1.5", "9" * 5000, "\u0661"],
    "--seed": ["-1", str(2**63), "x", "1.5", "9" * 5000],
    "--targets": ["0", "-1", str(2**63), "x"],
    "--limit": ["0", "-1", "x"],
    "--time-limit": ["-1", "nan", "x"],
    "--seconds": ["-1", "nan", "inf", "x"],
    "--processes": ["0", "-1", str(2**63), "x"],
    "--port": ["0", "-1", "65536", str(2**63), "x"],
    "-k": ["0", "-1", "x", "1.5", "9" * 5000],
    "-m": ["0", "-1", "x", "1.5"],
    "-p": ["0", "-1", "x"],
    "-D": ["-1", str(2**63), "x", "9" * 5000],
    "-N": ["0", "-1", str(2**63), "x"],
    "-L": ["0", "-1", str(2**63), "x"],
    "-T": ["0", "-1", "nan", "inf", "1e400", "x"],
    "-I": ["0", "-1", "nan", "inf", "1e400", "x"],
    "-n": ["-1", str(2**63), "x"],
    "--hierarchy": ["fanout:0", "fanout:-1", "fanout:x", "prefix:", "prefix:0", "levels:-1", "auto:x", *NO_FILE[:4]],
    "--format": ["word", "", "\x1b[31m"],
    "--hierarchy-format": ["word", ""],
    "--to": ["word", "", "\x1b[31m"],
    "--engine": ["word", "", "LOCAL "],
    "--master": ["local[2]", "x"],  # of an engine that was not asked for
    "--model": ["magic", "", "\x1b[31m"],
    "--algorithm": ["magic", "", "n" * 5000],
    "--option": ["x", "=x", "x=y", ""],
    "--policy": [*NO_FILE, "d.dat"],
    "--grid": [*NO_FILE, "d.dat"],
    "--domain": NO_FILE,
    "--constraints": NO_FILE,
    "--utility": NO_FILE,
    "--original": [name for name in NO_FILE if name != "/"],  # all tables of a folder are read as one
    "--encoding": ["x", "", "\x1b[31m"],
    "--purpose": ["x", ""],
    "--effort": ["x", ""],
    "--sensitive": ["*", "", ",", "no*such"],
    "-o": ["/", "n" * 300, "d.dat/x", "a\x00b"],
    "--id-column": ["nope"],
    "--item-column": ["nope"],
}
# Where an option means something else, or nothing beside the usual ones.
NOT_WRONG = {
    "anonymize": {"--sensitive", "-p", "--master", "--utility", "--constraints"},
    "verify": {"--format", "--encoding", "--id-column", "--item-column"},  # a release says how it is read
    "verify of groups": {"--sensitive"},  # that nothing open may be left is a question, too
    "suggest": {"-o"},
    "generate patients": {"--hierarchy", "--sensitive"},  # files to write
}


def command_of(name: str) -> list[str]:
    """The words of a command that is called in several ways."""
    return name.partition(" of ")[0].split()


def options_of(path: str) -> list[tuple[str, bool]]:
    """The options of a command, and whether each takes a value."""
    command: Any = typer.main.get_command(app)
    for name in command_of(path):
        command = command.commands[name]
    found = [
        (option, not param.is_flag) for param in command.params if hasattr(param, "is_flag") for option in param.opts
    ]
    return [(option, takes) for option, takes in found if option != "--help"]


OPTIONS = {command: options_of(command) for command in ALL}


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
    command = draw(st.sampled_from(FUZZED))
    arguments = list(ALL[command])
    if arguments and draw(st.booleans()):
        place = draw(st.integers(0, len(arguments) - 1))
        arguments[place : place + 1] = draw(st.sampled_from([[], [arguments[place]] * 2, [draw(st.sampled_from(ODD))]]))
    for _ in range(draw(st.integers(1, 2))):
        option, takes_value = draw(st.sampled_from(OPTIONS[command]))
        arguments += [option, draw(st.sampled_from(ODD))] if takes_value else [option]
    return [*command.split(), *arguments]


def seen(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def run(arguments: list[str], material: Path) -> int:
    """The exit code of a command in a fresh copy of the material; a refusal is one line and leaves nothing behind."""
    told, before = io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(material, name, dirs_exist_ok=True)
        os.chdir(name)
        try:
            with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                status = _run(arguments)
        finally:
            os.chdir(before)
        left = seen(Path(name))
    lines = [line for line in told.getvalue().splitlines() if not line.startswith(("Read ", "warning: "))]
    context = (arguments, status, told.getvalue()[-600:])
    assert "Traceback" not in told.getvalue() and "internal error" not in told.getvalue(), context
    if status in (2, 3):
        assert len(lines) == 1 and lines[0].startswith("setveil"), context
        assert len(lines[0]) <= 300 and lines[0].isprintable(), context
        assert left == seen(material), context
    return status


CHECKS = ("verify", "hierarchy check", "constraints check")  # whose answer may be no


@given(odd_arguments())
@settings(max_examples=N_EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_options_are_answered_or_refused_in_one_line(material: Path, arguments: list[str]) -> None:
    status = run(arguments, material)
    may_be_no = arguments[0] in CHECKS or " ".join(arguments[:2]) in CHECKS
    assert status in ((0, 1, 2, 3, 5) if may_be_no else (0, 2, 3)), arguments


@pytest.mark.long
@pytest.mark.parametrize("command", ALL)
def test_what_cannot_be_meant_is_refused(material: Path, command: str) -> None:
    taken = {option for option, takes_value in OPTIONS[command] if takes_value} - NOT_WRONG.get(command, set())
    for option in sorted(taken & set(WRONG)):
        for value in WRONG[option]:
            arguments = [*command_of(command), *ALL[command], option, value]
            assert run(arguments, material) in (2, 3), arguments


def test_every_option_is_known_to_the_fuzzer() -> None:
    commands: Any = typer.main.get_command(app)
    names = {" ".join((name, sub)).strip() for name, command in commands.commands.items()
             for sub in getattr(command, "commands", [""])}  # fmt: skip
    assert names - set(ALL) == {"help"}
    assert sum(map(len, OPTIONS.values())) > 100

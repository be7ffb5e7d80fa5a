"""Ctrl-C, whenever it comes, ends a command in one line with exit code 130, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# The signal comes when a certain function is first called, or a module first run: no moment depends on the clock.
DRIVER = """
import os, signal, sys

def interrupt(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name == name and code.co_filename.endswith(file):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)

file, name = sys.argv[1:3]
sys.argv[1:] = sys.argv[3:]
import setveil.cli  # the first that is loaded of a command
sys.setprofile(interrupt)
from setveil.cli.main import main
main()
"""
MOMENTS = [
    ("setveil/errors.py", "<module>"),
    ("setveil/cli/options.py", "<module>"),
    ("setveil/cli/main.py", "_register"),
    ("setveil/cli/main.py", "_switched"),
    ("setveil/cli/anonymize.py", "anonymize"),
    ("setveil/io/transactions/reading.py", "_read_source"),
    ("setveil/workflows/publish.py", "_verified"),
    ("setveil/io/releases/folders.py", "commit"),
]


@pytest.mark.long
@pytest.mark.parametrize(("file", "name"), MOMENTS)
def test_an_interrupt_ends_quietly(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / "d.dat").write_text("1 2 3\n1 2\n2 3\n1 3 4\n4 1\n2 4\n" * 5)
    command = ["anonymize", "d.dat", "-o", "out", "--model", "km", "-k", "2", "-m", "1", "--hierarchy", "fanout:2"]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, file, name, *command, "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, (done.returncode, done.stderr[-600:])
    assert done.stderr == "setveil: cancelled; nothing was written.\n"
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["d.dat"]

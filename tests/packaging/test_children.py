"""Processes that setveil starts import nothing from the folder somebody happens to stand in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import setveil as sv

HOUSE = Path(sv.__file__).parent


def test_a_module_lying_in_the_folder_is_not_run(tmp_path: Path) -> None:
    release = sv.anonymize([["a", "b"], ["a", "b"], ["a"]], "km", k=2, m=2, algorithm="trim")
    sv.publish(release, tmp_path / "out", to="parquet")
    (tmp_path / "polars.py").write_text("open('was-run', 'w').close()\n")
    command = [sys.executable, "-P", "-c", "from setveil.cli.main import main; main()", "verify", "out"]
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    checked = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert not (tmp_path / "was-run").exists()


def test_every_child_is_started_so() -> None:
    starts = [
        line
        for path in HOUSE.rglob("*.py")
        for line in re.findall(r"sys\.executable,\s*(\S+)", path.read_text(encoding="utf-8"))
    ]
    assert len(starts) >= 4
    assert set(starts) == {'"-P",'}

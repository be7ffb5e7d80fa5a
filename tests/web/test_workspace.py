"""Temporary data: private, gone at the end, gone at the next start after a kill; names from outside never become
paths.
"""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.web.workspace import Workspace, safe_name


def test_it_is_private_and_goes_at_the_end(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
        inside = workspace.new_folder()
        assert stat.S_IMODE(inside.stat().st_mode) == 0o700
        (inside / "records").write_text("secret")
    assert not list(tmp_path.iterdir())


def test_the_next_start_removes_what_a_kill_left_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import sys, time, pathlib; from setveil.web.workspace import Workspace\n"
        "with Workspace(pathlib.Path(sys.argv[1])) as w:\n print(w.folder, flush=True); time.sleep(60)"
    )

    def start() -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        return process, Path(process.stdout.readline().strip())

    killed, left = start()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.is_dir()
    alive, kept = start()
    foreign = tmp_path / "setveil-ui-link"
    foreign.symlink_to(tmp_path)
    with Workspace(tmp_path):
        assert not left.exists()
        assert kept.is_dir()  # its process lives
    assert foreign.is_symlink()
    alive.kill()
    alive.communicate()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("baskets.csv", "input.csv"),
        ("Baskets.CSV.GZ", "input.csv.gz"),
        ("Visits.XLSX", "input.xlsx"),
        ("../../etc/passwd", "input"),
        ("a/../b.csv", "input.csv"),
        ("x.csv/../../y", "input"),
        (".csv", "input.csv"),
        ("nul\0.csv", "input.csv"),
        ("‮gpj.csv", "input.csv"),
        ("archive.tar.gz", "input.gz"),
        ("", "input"),
        ("..", "input"),
    ],
)
def test_only_a_known_ending_of_a_name_is_kept(given: str, expected: str) -> None:
    assert safe_name(given, "input") == expected


def test_it_lies_in_the_runtime_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, temporary = tmp_path / "runtime", tmp_path / "temporary"
    runtime.mkdir(mode=0o700)
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr("setveil.web.workspace.MIN_FREE", 0)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with Workspace() as workspace:
        assert workspace.folder.parent == runtime
    runtime.chmod(0o755)  # not what it should be: others can look in
    with Workspace() as workspace:
        assert workspace.folder.parent == temporary
    runtime.chmod(0o700)
    monkeypatch.setattr("setveil.web.workspace.MIN_FREE", 1 << 62)  # a small disk in memory
    with Workspace() as workspace:
        assert workspace.folder.parent == temporary
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    with Workspace() as workspace:
        assert workspace.folder.parent == temporary

"""Starting the page: what it says, what it refuses, what it leaves behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from web.conftest import MAIN, Server, start, stop

pytestmark = pytest.mark.xdist_group("browser")


def told(*arguments: str, before: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", before + MAIN, "ui", "--no-browser", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


def test_without_nicegui_one_line_names_the_extra() -> None:
    status, words = told(before="import sys; sys.modules['nicegui'] = None; ")
    assert status == 2
    assert words.count("\n") == 1
    assert 'pip install "setveil[ui]"' in words


def test_what_cannot_be_opened_or_listened_on(server: Server) -> None:
    assert told("no-such-file.csv")[0] == 2
    status, words = told("--port", str(server.port))
    assert (status, words.count("\n")) == (2, 1)
    assert "cannot listen there" in words


def test_another_address_warns_and_is_refused_by_name(tmp_path: Path) -> None:
    running = start(tmp_path, "--host", "0.0.0.0")
    try:
        cookie = running.new_cookie()
        assert running.ask("/", cookie=cookie, host=f"evil.example:{running.port}")[0] == 403
        assert running.ask("/", cookie=cookie)[0] == 200
    finally:
        assert stop(running)[0] in (0, 130)
    assert not list(tmp_path.glob("setveil-ui-*"))

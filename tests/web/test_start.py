"""Starting the page: what it says, what it refuses, what it leaves behind."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.web.conftest import MAIN, Server, start, stop

pytestmark = pytest.mark.xdist_group("browser")


def run_ui(*arguments: str, before: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", before + MAIN, "ui", "--no-browser", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


def test_without_nicegui_one_line_names_the_extra() -> None:
    status, words = run_ui(before="import sys; sys.modules['nicegui'] = None; ")
    assert status == 2
    assert words.count("\n") == 1
    assert 'pip install "setveil[ui]"' in words


def test_what_cannot_be_opened_or_listened_on(server: Server) -> None:
    assert run_ui("no-such-file.csv")[0] == 2
    status, words = run_ui("--port", str(server.port))
    assert (status, words.count("\n")) == (2, 1)
    assert "cannot listen there" in words


def test_the_browser_is_started_without_a_token_and_its_file_works_once(tmp_path: Path) -> None:
    """Everybody on the machine can read the command line of a process that is started; nobody else can read the file
    that it names.
    """
    seen = tmp_path / "command-line"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" > {seen}.partial && mv {seen}.partial {seen}\n')
    program.chmod(0o700)
    running = start(tmp_path, "--host", "0.0.0.0", browser=f"{program} %s")
    try:
        cookie = running.new_cookie()
        assert running.ask("/", cookie=cookie, host=f"evil.example:{running.port}")[0] == 403
        assert running.ask("/", cookie=cookie)[0] == 200
        while not seen.exists():
            assert running.process.poll() is None
            time.sleep(0.05)
        address = seen.read_text()
        assert address.startswith("file:///")
        assert "token" not in address
        file = Path(unquote(address.removeprefix("file://")))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        (once,) = set(re.findall(r"token=([\w-]+)", file.read_text()))
        assert once != running.token
        assert f"http://{running.host}{running.root}/?token={once}" in file.read_text()
        assert running.ask(f"/?token={once}")[0] == 200
        assert not file.exists()
        assert running.ask(f"/?token={once}")[0] == 403  # used up
        assert running.ask(f"/?token={running.token}")[0] == 200
    finally:
        assert stop(running)[0] in (0, 130)
    assert not list(tmp_path.glob("setveil-ui-*"))


@pytest.mark.long
def test_a_kill_leaves_no_process_and_the_next_start_removes_its_data(tmp_path: Path) -> None:
    (tmp_path / "data.dat").write_text("1 2 3\n2 3\n" * 50)
    killed = start(tmp_path, str(tmp_path / "data.dat"))
    killed.ask("/", cookie=killed.new_cookie())  # a session: its process reads the file
    while not (children := _children(killed.process.pid)):
        time.sleep(0.05)
    killed.process.kill()
    killed.process.wait()
    assert killed.process.stderr
    killed.process.stderr.close()
    (left,) = tmp_path.glob("setveil-ui-*")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    while any(Path(f"/proc/{child}").exists() for child in children):  # they notice, and go
        time.sleep(0.05)
    again = start(tmp_path)
    assert again.ask("/")[0] == 403  # it serves
    stop(again)
    assert not list(tmp_path.glob("setveil-ui-*"))


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]

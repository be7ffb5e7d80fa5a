"""One real server for the tests of the page, as a user starts it."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MAIN = "from setveil.cli.main import main; main()"


@dataclass
class Server:
    """A running page and its address; ``ask`` is a plain HTTP client that sends any headers, below the root."""

    process: subprocess.Popen[str]
    address: str
    folder: Path
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].partition("/")[0])

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def root(self) -> str:
        """The random path that all addresses share."""
        return "/" + self.address.split("/")[3]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            connection.putrequest(method, self.root + path, skip_host=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            if body is not None and "content-length" not in sent:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read(1 << 20)
        finally:
            connection.close()

    def new_cookie(self) -> str:
        _, headers, _ = self.ask(f"/?token={self.token}")
        return headers["set-cookie"].partition(";")[0]


def start(folder: Path, *arguments: str, browser: str = "") -> Server:
    """Start the page; ``browser`` is the program that it opens, if any."""
    environment = {
        **os.environ,
        "TMPDIR": str(folder),
        "BROWSER": browser,
        "XDG_RUNTIME_DIR": "",
        "XDG_DATA_HOME": str(folder),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "ui", *([] if browser else ["--no-browser"]), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=folder,
    )
    assert process.stderr
    lines = ""
    while not (found := re.search(r"http://\S+", lines)):
        line = process.stderr.readline()
        assert line, lines
        lines += line
    return Server(process, found.group(), folder)


def stop(server: Server) -> tuple[int, str]:
    """Its exit code, and whatever it said since it started."""
    server.process.send_signal(signal.SIGINT)
    code = server.process.wait(60)
    assert server.process.stderr
    with server.process.stderr as stream:
        return code, stream.read()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(tmp_path_factory.mktemp("page"))
    yield running
    _, said = stop(running)
    assert said.splitlines()[1:] == []  # whatever was done, nothing of it was logged; the first line is about Ctrl-C
    assert not list(running.folder.glob("setveil-ui-*"))  # nothing is left behind


@pytest.fixture(scope="module")  # while one is open, its event loop runs, and other modules have loops of their own
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    from tests.report.test_browser import QUIET
    from tests.web.walk import LONG

    expect.set_options(timeout=LONG)  # the machine may be busy

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_chromium(), args=QUIET)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A new session; whatever the browser complains about fails the test."""
    from tests.web.walk import LONG, is_own

    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(LONG)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)
    opened.on("request", lambda asked: None if is_own(asked.url, server) else troubles.append(asked.url))
    opened.goto(server.address)
    opened.get_by_role("heading", name="Open your data").wait_for()
    for notice in opened.get_by_role("button", name="Dismiss").all():  # the sessions of other tests
        notice.click()
        notice.wait_for(state="detached")
    yield opened
    context.close()
    assert not troubles

"""Who may talk to the page: over real HTTP and a real web socket, and the cut-off of bodies in memory."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from setveil.web.guard import Guard
from tests.web.conftest import Server

pytestmark = pytest.mark.xdist_group("browser")

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.mark.parametrize(
    "path", ["/", "/?token=wrong", "/?other=1", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/run/1/release.zip"]
)
def test_strangers_are_refused(server: Server, path: str) -> None:
    status, _, body = server.ask(path)
    assert status == 403
    assert b"token" in body
    assert server.token.encode() not in body


def test_a_forged_cookie_is_refused(server: Server) -> None:
    assert server.ask("/", cookie=f"setveil-{server.port}=forged")[0] == 403
    assert server.ask("/", cookie=f"setveil-{server.port}=\x22\\777")[0] == 403


def test_the_token_is_exchanged_for_a_strict_cookie(server: Server) -> None:
    status, headers, body = server.ask(f"/?token={server.token}")
    assert status == 200
    assert server.token.encode() not in body
    assert f"url={server.root}/".encode() in body
    name, *attributes = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", f"Path={server.root}/"} == set(attributes)
    assert name.startswith(f"setveil-{server.port}=")
    cookie = headers["set-cookie"].partition(";")[0]
    assert server.token not in cookie
    again = server.ask(f"/?token={server.token}", cookie=cookie)
    assert "set-cookie" not in again[1]  # the session stays


def test_a_page_allows_nothing_from_outside_and_no_inline_script_but_its_own(server: Server) -> None:
    status, headers, body = server.ask("/", cookie=server.new_cookie(), x_forwarded_prefix="/elsewhere")
    assert status == 200
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]
    assert all(source in ("'self'", "data:") for source in policy["img-src"].split())
    assert policy["connect-src"] == "'self'"
    assert headers["referrer-policy"] == "no-referrer"
    assert not re.search(rb"""(src|href)=["'](https?:)?//""", body)
    assert b"/elsewhere" not in body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.evil.example:{port}", ""]
)
def test_rebound_names_are_refused(server: Server, host: str) -> None:
    cookie = server.new_cookie()
    assert server.ask("/", cookie=cookie, host=host.format(port=server.port))[0] in (400, 403)
    assert server.ask("/", cookie=cookie, host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://{host}", "http://localhost:1"])
def test_other_origins_are_refused(server: Server, origin: str) -> None:
    cookie, sent = server.new_cookie(), origin.format(host=server.host)
    assert server.ask("/", cookie=cookie, origin=sent)[0] == 403
    assert server.ask("/", "POST", b"", cookie=cookie, origin=sent)[0] == 403
    assert server.ask(SOCKET, cookie=cookie, origin=sent, **UPGRADE)[0] == 403


def test_the_web_socket_needs_cookie_and_origin(server: Server) -> None:
    cookie, own = server.new_cookie(), f"http://{server.host}"
    assert server.ask(SOCKET, cookie=cookie, origin=own, **UPGRADE)[0] == 101
    assert server.ask(SOCKET, origin=own, **UPGRADE)[0] == 403
    assert server.ask(SOCKET, cookie=cookie, **UPGRADE)[0] == 403
    assert server.ask(SOCKET, cookie=cookie, origin=own, **{**UPGRADE, "host": f"evil.example:{server.port}"})[0] == 403
    assert server.ask("/", "POST", b"", cookie=cookie)[0] == 403  # a form of another site may leave the origin out


def test_announced_sizes_are_refused_before_anything_is_sent(server: Server) -> None:
    cookie, own = server.new_cookie(), f"http://{server.host}"
    for path, size in (("/_nicegui/client/x/upload/1", 10**9), ("/anything", 2 * 10**6)):
        assert server.ask(path, "POST", cookie=cookie, origin=own, content_length=str(size))[0] == 413


def test_the_process_listens_on_this_machine_only(server: Server) -> None:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    listening = [line[1] for line in lines if line[3] == "0A" and int(line[1].partition(":")[2], 16) == server.port]
    assert listening == [f"0100007F:{server.port:04X}"]


# -- in memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_chunks", "status"), [(4, 200), (40, 413)])
def test_a_body_without_announced_size_is_cut_off(n_chunks: int, status: int) -> None:
    got: list[int] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "http.request":
            got.append(len(message["body"]))
            if not message["more_body"]:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        raise RuntimeError("the client is gone")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * 50_000, "more_body": len(got) < n_chunks - 1}

    async def send(message: Any) -> None:
        sent.append(message)

    guard = Guard(app, token="t", host="127.0.0.1", port=1, max_upload=200_000)
    guard.sessions.add("s")
    headers = [(b"host", b"127.0.0.1:1"), (b"origin", b"http://127.0.0.1:1"), (b"cookie", b"setveil-1=s")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"{guard.root}/_nicegui/client/a-b/upload/7",
        "query_string": b"",
    }
    asyncio.run(guard({**scope, "headers": headers, "server": ("127.0.0.1", 1)}, receive, send))
    assert sent[0]["status"] == status
    assert sum(got) <= 300_000

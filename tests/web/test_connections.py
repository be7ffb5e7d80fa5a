"""Limits of connections, over raw sockets: headers that are too long or too slow, bodies that stop."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from setveil.web.connections import MAX_HEADERS, LimitedProtocol
from setveil.web.guard import Guard
from tests.web.conftest import Server

pytestmark = pytest.mark.xdist_group("browser")

PART = b"x" * 65_536
MOST_SENT = 64 * len(PART)  # 4 MB


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def answer_of(connection: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    received = b""
    try:
        while part := connection.recv(65_536):
            received += part
    except ConnectionError:
        pass
    return received


def test_a_long_header_is_cut_off_without_a_token(server: Server) -> None:
    for start in (b"GET / HTTP/1.1\r\nhost: x\r\ncookie: ", b"GET /"):
        n_sent = 0
        with connect(server.port) as connection:
            connection.sendall(start)
            try:
                while n_sent < MOST_SENT:
                    connection.sendall(PART)
                    n_sent += len(PART)
            except ConnectionError:  # what the kernels buffer is sent before the refusal arrives
                pass
            else:
                assert answer_of(connection).startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
    assert server.ask("/")[0] == 403  # it serves on


def test_headers_have_room_for_a_real_browser(server: Server) -> None:
    assert server.ask("/", cookie=f"{server.new_cookie()}; other={'x' * 8000}")[0] == 200


class Impatient(LimitedProtocol):
    max_wait = 0.5


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """A server in a thread, with connections that wait half a second for headers."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=Impatient, h11_max_incomplete_event_size=MAX_HEADERS, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


async def slow_app(scope: Any, receive: Any, send: Any) -> None:
    """Answers after a second, longer than headers may take."""
    if scope["type"] == "http":
        await asyncio.sleep(1)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


def test_slow_headers_are_closed_and_slow_answers_are_not() -> None:
    with serving(slow_app) as port:
        started = time.monotonic()
        with connect(port) as silent, connect(port) as dripping:
            while time.monotonic() - started < 5:
                try:
                    dripping.sendall(b"G")  # a byte now and then does not help
                except ConnectionError:
                    break
                time.sleep(0.1)
            assert answer_of(silent) == b""
            assert time.monotonic() - started < 5
        with connect(port) as kept:
            kept.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            received = b""
            while not received.endswith(b"ok"):
                received += kept.recv(65_536)
            started = time.monotonic()
            kept.sendall(b"GET / HTTP/1.1\r\nhost:")  # the second request of a connection
            assert answer_of(kept) == b""
            assert time.monotonic() - started < 4


def test_a_body_that_stops_is_refused() -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] == "http.request":
            if not message["more_body"]:
                await receive()  # waits for the client to leave, however long that takes
                await send({"type": "http.response.start", "status": 200, "headers": []})
                return
        raise RuntimeError("the client is gone")

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask(*, stops: bool) -> Any:
        sent.clear()
        parts = iter([{"type": "http.request", "body": b"x", "more_body": stops}])

        async def receive() -> Any:
            if (part := next(parts, None)) is not None:
                return part
            await asyncio.sleep(60 if stops else 0.3)
            return {"type": "http.disconnect"}

        await asyncio.wait_for(guard({**scope, "headers": headers}, receive, send), 10)
        return sent[0]["status"]

    guard = Guard(app, token="t", host="127.0.0.1", port=1, max_pause=0.1)
    guard.sessions.add("s")
    headers = [(b"host", b"127.0.0.1:1"), (b"origin", b"http://127.0.0.1:1"), (b"cookie", b"setveil-1=s")]
    scope = {"type": "http", "method": "POST", "path": f"{guard.root}/x", "query_string": b"", "server": ("x", 1)}
    assert asyncio.run(ask(stops=True)) == 408
    assert asyncio.run(ask(stops=False)) == 200

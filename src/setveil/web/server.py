"""Start the page: one port of this machine, one token, one private folder for as long as it runs."""

from __future__ import annotations

import gc
import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Any

from setveil.errors import InputError
from setveil.web import texts as t
from setveil.web.workspace import Workspace

PORT = 8765
START_PAGE = "start.html"
OFTEN = (700, 10, 10)  # objects between two hunts for cycles: each is short, so that no click waits for one


def serve(
    file: Path | None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    opens_browser: bool = True,
    is_demo: bool = False,
) -> None:
    """Serve until Ctrl-C. Without a port, the usual one is taken, or any that is free. ``is_demo``: the page begins
    with the comparison of the demo.
    """
    if is_demo and file is not None:
        raise InputError("--demo opens the bundled data; remove the file.")
    if file is not None and not file.is_file():
        raise InputError(f"{file}: there is no such file. Check the path.")
    listener = _listen(host, port)
    with Workspace() as workspace:
        _keep_to(workspace.folder)
        signal.signal(signal.SIGTERM, _leave)
        start = file.absolute() if file else _demo(workspace) if is_demo else None
        _serve(listener, host, workspace, start, opens_browser)


def _demo(workspace: Workspace) -> Path:
    import asyncio

    from setveil.web.demo import make_demo

    _say(t.DEMO_PREPARING)
    return asyncio.run(make_demo(workspace))


def _serve(listener: socket.socket, host: str, workspace: Workspace, file: Path | None, opens_browser: bool) -> None:
    import uvicorn

    from setveil.web.connections import MAX_HEADERS, LimitedProtocol
    from setveil.web.guard import MEGABYTE, Guard, leading_to
    from setveil.web.page import make_app

    port, token = listener.getsockname()[1], secrets.token_urlsafe(32)
    once = secrets.token_urlsafe(32) if opens_browser else ""
    start_page = workspace.folder / START_PAGE
    app, announce, close = make_app(workspace, file)

    def opened(session: str) -> None:
        if not guarded.once:
            start_page.unlink(missing_ok=True)
        announce(session)

    guarded = Guard(app, token=token, host=host, port=port, once=once, announce=opened)
    config = uvicorn.Config(
        guarded,
        http=LimitedProtocol,
        h11_max_incomplete_event_size=MAX_HEADERS,
        log_config=None,  # strangers cannot fill the terminal; levels are set in _keep_to
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=MEGABYTE,
        timeout_graceful_shutdown=1,
    )
    own = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{own}]' if ':' in own else own}:{port}{guarded.root}/?token="
    if host not in ("127.0.0.1", "::1", "localhost"):
        _say(t.HOST_WARNING.format(host=host))
    _say(t.ADDRESS.format(address=address + token))
    gc.freeze()  # what was imported stays
    gc.set_threshold(*OFTEN)
    if opens_browser:
        _write_private(start_page, leading_to(address + once))
        threading.Timer(0.5, webbrowser.open, (start_page.as_uri(),)).start()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        close()


def _write_private(path: Path, text: str) -> None:
    """Write a new file of mode 0600.

    The browser opens this file, which leads it on to the address with a token: everybody on a machine can read with
    what a program was started, but not this file.
    """
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _listen(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in (PORT, 0) if port is None else (port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, tried))
            listener.listen()  # clients that are quicker than the server wait
            return listener
        except (OSError, OverflowError) as problem:
            listener.close()
            if port is not None or tried == 0:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise InputError(f"{host}:{tried}: cannot listen there ({reason}). Choose another --port.") from None
    raise AssertionError


def _keep_to(folder: Path) -> None:
    """Keep the temporary files of libraries in the folder, and nothing of their logs."""
    tempfile.tempdir = str(folder)
    os.environ["NICEGUI_STORAGE_PATH"] = str(folder / "storage")
    os.environ["TMPDIR"] = str(folder)
    if not os.environ.get("SETVEIL_VERBOSE"):
        for name in ("nicegui", "asyncio", "uvicorn.error"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _leave(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201

"""Start the page: one port of this machine, one token, one folder for as long as it runs."""

from __future__ import annotations

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


def serve(file: Path | None, *, host: str = "127.0.0.1", port: int | None = None, opens_browser: bool = True) -> None:
    """Serve until Ctrl-C. Without a port, the usual one is taken, or any that is free."""
    if file is not None and not file.is_file():
        raise InputError(f"{file}: no such file.")
    listener = _listen(host, port)
    with Workspace() as workspace:
        _keep_to(workspace.folder)
        signal.signal(signal.SIGTERM, _leave)
        _serve(listener, host, workspace, file.absolute() if file else None, opens_browser)


def _serve(listener: socket.socket, host: str, workspace: Workspace, file: Path | None, opens_browser: bool) -> None:
    import uvicorn

    from setveil.web.guard import MEGABYTE, Guard
    from setveil.web.page import make_app

    port, token, once = listener.getsockname()[1], secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    app, close = make_app(workspace, file)
    guarded = Guard(app, token=token, host=host, port=port, once=once if opens_browser else "")
    config = uvicorn.Config(
        guarded,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=MEGABYTE,
        timeout_graceful_shutdown=1,
    )
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/?token="
    if host not in ("127.0.0.1", "::1", "localhost"):
        _say(t.HOST_WARNING.format(host=host))
    _say(t.ADDRESS.format(address=address + token))
    if opens_browser:
        threading.Timer(0.5, webbrowser.open, (address + once,)).start()
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        close()


def _listen(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in (PORT, 0) if port is None else (port,):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, tried))
            listener.listen()  # whoever is quicker than the server waits
            return listener
        except (OSError, OverflowError) as problem:
            listener.close()
            if port is not None or tried == 0:
                words = getattr(problem, "strerror", None) or str(problem)
                raise InputError(f"{host}:{tried}: cannot listen there ({words}); choose another --port.") from None
    raise AssertionError


def _keep_to(folder: Path) -> None:
    """Whatever libraries put aside goes into the folder; whatever they log about it nowhere."""
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

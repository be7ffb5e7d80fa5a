"""Connections with limits that uvicorn does not have: a request says what it wants in few bytes, and soon.

Whoever connects is a stranger until the guard has seen the headers. Until then nobody may fill the memory or keep a
connection open for long.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_HEADERS = 32_768  # bytes of a request line and its headers
MAX_WAIT = 10.0  # seconds until they are complete


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 on one connection; closed where the headers of a request do not arrive in time.

    The size of headers is limited by ``h11_max_incomplete_event_size`` of the configuration: the other parser of
    uvicorn, httptools, has no such limit.
    """

    max_wait = MAX_WAIT
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take data; while a request is still incomplete the time it may take does not start anew."""
        super().data_received(data)
        self._watch()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection on: from here it belongs to the web socket."""
        self._end_watch()
        super().handle_websocket_upgrade(event)
        self.max_wait = 0

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._end_watch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering or not self.max_wait:
            self._end_watch()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self.max_wait, self._close)

    def _end_watch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

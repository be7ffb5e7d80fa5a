"""Who may talk to the page: an ASGI layer around everything NiceGUI serves, web socket included.

NiceGUI accepts any host and any origin. Here every request must name this machine (``Host``: no rebound names), must
not come from another site (``Origin``), and must carry the cookie that the token in the address was exchanged for.
Cookies know no ports: a server of another user on this machine would receive them. The page therefore lives below a
random path, and the cookie is sent to that path only. What is too large or too slow is cut off while it comes in. Every
answer carries a content policy under which nothing is fetched from outside.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from setveil.web import texts as t

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MEGABYTE = 1_000_000
MAX_UPLOAD = 200 * MEGABYTE  # larger files are opened by their path
MAX_BODY = MEGABYTE  # of anything that is not an upload
MAX_PAUSE = 30.0  # seconds between two parts of a body
_UPLOAD = re.compile(r"/_nicegui/client/[^/]+/upload/\d+\Z")
_INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_FROM_PROXIES = (b"forwarded", b"x-forwarded-", b"x-script-name")

# NiceGUI needs: eval (Vue compiles templates in the browser), inline styles (Quasar sets them). Inline scripts are
# named by hash.
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'{scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
REPORT_POLICY = (  # a report's own policy names its style and script; the sandbox takes it off this origin
    "sandbox allow-scripts allow-popups; default-src 'none'; style-src 'unsafe-inline'; script-src "
    "'unsafe-inline'; base-uri 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Guard:
    """The layer; ``sessions`` are the cookies it has given out.

    ``token`` opens any number of sessions, ``once`` a single one; ``announce`` is called with the name of every new
    session.
    """

    def __init__(
        self,
        app: App,
        *,
        token: str,
        host: str,
        port: int,
        once: str = "",
        announce: Callable[[str], None] | None = None,
        max_upload: int = MAX_UPLOAD,
        max_pause: float = MAX_PAUSE,
    ) -> None:
        self.app, self.token, self.max_upload, self.max_pause = app, token, max_upload, max_pause
        self.once, self.announce = once, announce
        self.cookie = f"setveil-{port}"
        self.root = f"/{secrets.token_urlsafe(16)}"
        names = {host, "127.0.0.1", "localhost", "::1"} - {"0.0.0.0", "::"}
        self.port = port
        self.hosts = {_authority(name, port) for name in names}
        self.sessions: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through what may pass; refuse the rest with 403, 408 or 413."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        if self._is_foreign(scope, headers):
            await _refuse(scope, send, 403, t.REFUSED_FOREIGN)
            return
        home = f"{self.root}/"
        session = self._session(headers)
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == home and scope["query_string"]:
            await self._exchange(scope, session, send)
            return
        if session is None or not scope["path"].startswith(home):
            await _refuse(scope, send, 403, t.REFUSED_STRANGER)
            return
        scope["headers"] = [pair for pair in scope["headers"] if not pair[0].startswith(_FROM_PROXIES)]
        scope["root_path"] = self.root
        scope["setveil.session"] = session
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self._pass_on(scope, headers, receive, send)

    # -- who is it ------------------------------------------------------------------------------------------------

    def _is_foreign(self, scope: Scope, headers: dict[str, list[str]]) -> bool:
        """Whether the request names another host, or a page of another origin sent it."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        server = scope.get("server") or ("", 0)
        own = self.hosts | {_authority(str(server[0]), self.port)}
        if len(hosts) != 1 or hosts[0].lower() not in own:
            return True
        needs_origin = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if not origins:
            return needs_origin
        return origins != [f"http://{hosts[0].lower()}"]

    def _session(self, headers: dict[str, list[str]]) -> str | None:
        """The session of a valid cookie."""
        given: SimpleCookie = SimpleCookie()
        try:
            for line in headers.get("cookie", []):
                given.load(line)
        except CookieError:
            return None
        if self.cookie not in given:
            return None
        value = given[self.cookie].value
        return next((known for known in self.sessions if secrets.compare_digest(known.encode(), value.encode())), None)

    async def _exchange(self, scope: Scope, session: str | None, send: Send) -> None:
        """Exchange the token for a cookie, with a page that leads on to the address without the token. A browser that
        has a cookie already keeps its session.

        A redirect would not do: browsers send a strict cookie only where the page that leads there is of this origin.
        """
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(tokens) != 1 or not self._takes(tokens[0]):
            await _refuse(scope, send, 403, t.REFUSED_STRANGER)
            return
        headers = [(b"content-type", b"text/html; charset=utf-8")]
        if session is None:
            session = secrets.token_urlsafe(32)
            self.sessions.add(session)
            if self.announce is not None:
                self.announce(session)
            cookie = f"{self.cookie}={session}; HttpOnly; SameSite=Strict; Path={self.root}/"
            headers.append((b"set-cookie", cookie.encode()))
        await send(_with_policy({"type": "http.response.start", "status": 200, "headers": headers}, ""))
        await send({"type": "http.response.body", "body": leading_to(f"{self.root}/").encode()})

    def _takes(self, token: str) -> bool:
        """Whether a token is one that was given out; the one in the file that the browser opens works once."""
        if self.once and secrets.compare_digest(token.encode(), self.once.encode()):
            self.once = ""
            return True
        return secrets.compare_digest(token.encode(), self.token.encode())

    # -- what passes ----------------------------------------------------------------------------------------------

    async def _pass_on(self, scope: Scope, headers: dict[str, list[str]], receive: Receive, send: Send) -> None:
        """Hand a request on, its body cut off at the limits, and complete the answer."""
        is_upload = _UPLOAD.match(scope["path"].removeprefix(self.root))
        limit = self.max_upload + MEGABYTE // 10 if is_upload else MAX_BODY  # a form has a frame
        announced = headers.get("content-length", ["0"])[0]
        if not announced.isascii() or not announced.isdigit() or len(announced) > 18 or int(announced) > limit:
            await _refuse(scope, send, 413, t.REFUSED_LARGE)
            return
        answer = _Answer(send)
        n_bytes, is_complete = 0, False
        refused: tuple[int, str] | None = None

        async def watched() -> Message:
            nonlocal n_bytes, is_complete, refused
            try:
                message = await asyncio.wait_for(receive(), None if is_complete else self.max_pause)
            except TimeoutError:
                refused = 408, t.REFUSED_SLOW
                return {"type": "http.disconnect"}
            is_complete = not message.get("more_body", False)
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                refused = 413, t.REFUSED_LARGE
                return {"type": "http.disconnect"}
            return message

        try:
            await self.app(scope, watched, answer)
        except Exception:
            if refused is None:
                raise
        if refused is not None and not answer.is_started:
            await _refuse(scope, send, *refused)


def leading_to(address: str) -> str:
    """A page that opens an address of ours at once, in place of itself."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{t.TITLE}</title>'
        '<link rel="icon" href="data:,"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<p><a href="{address}">{t.OPEN_PAGE}</a></p></html>\n'
    )


class _Answer:
    """Sends an answer with the security headers; pages are held until their inline scripts are known by hash."""

    def __init__(self, send: Send) -> None:
        self.send, self.is_started = send, False
        self.held: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_started = True
            kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
            if any(kind.startswith(b"text/html") for kind in kinds):
                self.held = message
                return
            await self.send(_with_policy(message, ""))
        elif message["type"] == "http.response.body" and self.held is not None:
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                await self.send(_with_policy(self.held, _hashes(self.body)))
                await self.send({"type": "http.response.body", "body": self.body})
        else:
            await self.send(message)


def _hashes(page: bytes) -> str:
    found = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in found)


def _with_policy(message: Message, scripts: str) -> Message:
    given = {name.lower() for name, _ in message["headers"]}
    added = {"content-security-policy": _POLICY.format(scripts=scripts), "cache-control": "no-store", **_HEADERS}
    new = [(name, value) for name, value in _encoded(added) if name not in given]
    return {**message, "headers": [*message["headers"], *new]}


async def _refuse(scope: Scope, send: Send, status: int, words: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send(_with_policy({"type": "http.response.start", "status": status, "headers": headers}, ""))
    await send({"type": "http.response.body", "body": words.encode()})


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

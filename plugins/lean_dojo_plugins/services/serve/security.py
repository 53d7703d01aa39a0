"""Protection of every route against other sites, slow clients, and clients without the token.

A page of another site can make a visitor's browser send requests to a server on the visitor's own
machine. Its requests name another origin, or are of a kind that browsers send without a
preflight (anything but JSON), or use a host name that the other site has pointed here (DNS
rebinding). All three are refused.
"""

import asyncio
import hmac
import re
from collections.abc import Collection, Mapping
from typing import Any

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""Host names of a local server."""
HEADER_SECONDS = 10.0
"""Seconds in which the headers of a request must arrive."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Walls:
    """Refuses requests of other sites and without the token, and sets security headers."""

    def __init__(
        self, app: ASGIApp, hosts: Collection[str] | None, token: str | None = None
    ) -> None:
        self._app = app
        self._expected = None if token is None else f"Bearer {token}".encode()
        self._hosts = None if hosts is None else {host.lower().strip("[]") for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        answer: ASGIApp = refused or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, method: str, path: str, headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        name = _name(host)
        if name is None or (self._hosts is not None and name not in self._hosts):
            called = ", ".join(hosts)
            return refusal(421, "host", f"this server is not called {called!r:.100}")
        own = {f"http://{host}", f"https://{host}"}  # behind a proxy, pages may come by https
        for origin in headers.getlist("origin"):
            if origin.lower() not in own:
                return refusal(403, "origin", f"pages of {origin!r:.100} may not use this server")
        kinds = headers.getlist("content-type")
        if method == "POST" and [kind.partition(";")[0].strip().lower() for kind in kinds] != [
            "application/json"
        ]:
            return refusal(415, "content-type", "send 'Content-Type: application/json'")
        given = headers.get("authorization", "").encode()
        is_open = path in {"/", "/health"} or path.startswith("/page/")  # nothing secret there
        if self._expected is None or is_open or hmac.compare_digest(given, self._expected):
            return None
        return refusal(401, "token", "send the server's token: 'Authorization: Bearer …'")


_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?")


def _name(host: str) -> str | None:
    """Return the name in a ``Host`` header, without its port; ``None`` if it is not one.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("evil.example@localhost")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(host)
    return found and (found["address"] or found["name"])


def refusal(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error as data."""
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


class PunctualProtocol(H11Protocol):
    """uvicorn's HTTP protocol, closing connections whose request headers do not arrive in time."""

    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Read; stop the timer when the headers are complete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._expect_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._alarm is None:
            self._alarm = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

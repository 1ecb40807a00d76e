"""Who may ask: addresses, origins and the token, checked before anything else.

On a loopback address every program of this machine may ask, but no page of another site: their
requests carry an ``Origin`` of their own, and names that were made to point here (DNS rebinding)
show in ``Host``. On another address every request needs the token as well.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handwright.listening import LOOPBACK_NAMES, is_loopback

COOKIE = "handwright_token"
_EVERYWHERE = ("0.0.0.0", "::", "")
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self' data: blob:; worker-src 'self' blob:; media-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_CLOSE_POLICY = 1008


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask."""

    host: str
    """The address that is listened on."""
    token: str | None
    """What every request has to bring; None on loopback."""

    @classmethod
    def of(cls, host: str) -> Access:
        """The access that suits an address; a new token if others can reach it."""
        return cls(host, None if is_loopback(host) else secrets.token_urlsafe(24))

    def refusal(self, headers: Headers, query: str) -> tuple[int, str] | None:
        """Status and reason why a request is refused; None if it is not."""
        host = headers.get("host", "")
        if not self._knows(host):
            return 403, (
                f"The request was for the host '{host[:80]}', which is not this server. "
                "Open the address that the server printed."
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return 403, f"A page of '{origin[:80]}' may not use this server."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and (
            headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, "A page of another site may not use this server."
        if self.token is not None and not self._brings_token(headers, query):
            return 401, (
                "The token is missing or wrong. Open the whole address that the server printed, "
                "with '?token=' at its end."
            )
        return None

    def sets_cookie(self, query: str) -> bool:
        """Whether a request that was let in brought its token in the address."""
        return self.token is not None and "token" in parse_qs(query)

    def _knows(self, host: str) -> bool:
        if self.host in _EVERYWHERE:
            return True  # The token tells friends from others.
        name = (urlsplit(f"//{host}").hostname or "").lower()
        return name == self.host.lower() or (is_loopback(self.host) and name in LOOPBACK_NAMES)

    def _brings_token(self, headers: Headers, query: str) -> bool:
        given = list(parse_qs(query).get("token", []))
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
            given += [cookies[COOKIE].value] if COOKIE in cookies else []
        except CookieError:
            pass  # What cannot be read brings no token.
        kind, _, value = headers.get("authorization", "").partition(" ")
        given += [value] if kind.lower() == "bearer" else []
        token = (self.token or "").encode()
        return any(secrets.compare_digest(one.encode(), token) for one in given)


class Guard:
    """Lets in whom ``Access`` lets in; everything else gets a refusal and goes no further."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Looks at one request or websocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        query = scope.get("query_string", b"").decode("latin-1")
        try:
            refusal = _malformed(scope) or self._access.refusal(Headers(scope=scope), query)
        except ValueError:
            refusal = 400, "The header 'host' or 'origin' cannot be read."
        if refusal is None:
            await self._app(scope, receive, self._dressed(scope, query, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _CLOSE_POLICY, "reason": ""})
        else:
            response: Response = JSONResponse({"message": refusal[1]}, refusal[0])
            await response(scope, receive, send)

    def _dressed(self, scope: Scope, query: str, send: Send) -> Send:
        """Adds headers that keep the page to itself, and the cookie."""

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"] == "/" and self._access.sets_cookie(query):
                    cookie = f"{COOKIE}={self._access.token}; HttpOnly; SameSite=Strict; Path=/"
                    headers.append("Set-Cookie", cookie)
            await send(message)

        return dressed


def _malformed(scope: Scope) -> tuple[int, str] | None:
    """Headers that are given twice could be read in two ways."""
    names = [name for name, _ in scope["headers"]]
    for name in (b"host", b"origin"):
        if names.count(name) > 1:
            return 400, f"The header '{name.decode()}' is given twice."
    return None

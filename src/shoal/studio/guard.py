"""Access control of the studio: a request needs the token of the start address, and may not come from another site."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY = 4_000_000
"""Most bytes of a request that does not upload a file."""

UPLOAD = "/api/files"
"""Where files are uploaded: the only address that takes more; it counts the bytes itself."""

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
"""Headers of every answer: the browser loads nothing from elsewhere, and no site learns where its user comes from."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Stands before an application, for requests and web sockets alike."""

    app: App  # what is guarded
    token: str  # the secret of the start address
    hosts: frozenset[str]
    """Allowed values of the header Host; empty, which only remote use has, allows any."""
    cookie: str = "shoal-studio"  # the name of the cookie that keeps the token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or take the token of a start address into a cookie."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(headers) or ("" if self.known(scope, headers) else "no token")
        if refusal and not (scope["type"] == "http" and self.opens(scope, headers)):
            await _refuse(scope, send, refusal)
        elif refusal:
            await self._admit(scope, send)
        elif scope["type"] == "http" and _too_long(scope, headers):
            await _answer(send, 413, "This request is too long.")
        else:
            await self.app(scope, receive, _with_headers(send))

    def refusal(self, headers: dict[str, str]) -> str:
        """Why a request is refused even if it has the token; empty where it is not refused."""
        host = headers.get("host", "")
        if self.hosts and host not in self.hosts:
            return "another host"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "another origin"
        return ""

    def known(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether a request has the token, in its cookie or as a bearer token."""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._right(bearer.strip()):
            return True
        try:
            jar = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self.cookie in jar and self._right(jar[self.cookie].value)

    def opens(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether a request is for the start address, token included."""
        if scope["method"] != "GET" or self.refusal(headers):
            return False
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        return self._right(given)

    def _right(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    async def _admit(self, scope: Scope, send: Send) -> None:
        """Keep the token in a cookie, and redirect to the address without it."""
        rest = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        # One slash: two of them would lead to another host.
        place = quote(f"/{scope['path'].lstrip('/')}") + (f"?{urlencode(rest)}" if rest else "")
        kept = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        more = ((b"location", place.encode("latin-1")), (b"set-cookie", kept.encode("latin-1")))
        await _answer(send, 303, "", more)


def _too_long(scope: Scope, headers: dict[str, str]) -> bool:
    size = headers.get("content-length", "0")
    return scope["path"] != UPLOAD and (not size.isdigit() or int(size) > BODY)


async def _refuse(scope: Scope, send: Send, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4403, "reason": why})
        return
    await _answer(
        send,
        403,
        f"Refused ({why}). Open the studio at the address that `shoal studio` printed: it contains the token.",
    )


async def _answer(send: Send, status: int, text: str, more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *HEADERS, *more]})
    await send({"type": "http.response.body", "body": text.encode()})


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return sent

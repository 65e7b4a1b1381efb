"""Who may talk to the studio: nobody without the token, from another host, or from another origin."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.studio.serving import Served

from shoal.cli import main
from shoal.studio.guard import Guard


def answered(headers: dict[str, str], query: str = "", kind: str = "http", path: str = "/") -> list[Any]:
    """What a guard sends, and whether it lets somebody in."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        sent.append("in")

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {
        "type": kind,
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    guard = Guard(app, "secret", frozenset({"127.0.0.1:80"}))
    asyncio.run(guard(scope, receive, send))
    return sent


HOST = {"host": "127.0.0.1:80"}
KNOWN = {**HOST, "authorization": "Bearer secret"}


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "headers",
    [
        HOST,
        {**HOST, "authorization": "Bearer other"},
        {**HOST, "authorization": "Basic secret"},
        {**HOST, "cookie": "shoal-studio=other"},
        {**HOST, "cookie": "another=secret"},
        {**KNOWN, "host": "evil.example:80"},
        {**KNOWN, "host": "127.0.0.1:81"},
        {**KNOWN, "origin": "http://evil.example"},
        {**KNOWN, "origin": "http://127.0.0.1:81"},
        {**KNOWN, "origin": "null"},
        {"authorization": "Bearer secret"},
    ],
)
def test_strangers_are_refused(kind: str, headers: dict[str, str]) -> None:
    first = answered(headers, kind=kind)[0]
    assert first != "in"
    assert first.get("status") == 403 or first["type"] == "websocket.close"


@pytest.mark.parametrize(
    "headers",
    [KNOWN, {**HOST, "cookie": "a=b; shoal-studio=secret"}, {**KNOWN, "origin": "http://127.0.0.1:80"}],
)
def test_whoever_has_the_token_comes_in(headers: dict[str, str]) -> None:
    assert answered(headers) == ["in"]


def test_the_start_address_becomes_a_cookie_without_the_token_in_the_address() -> None:
    first = answered(HOST, "token=secret&a=1", path="/s")[0]
    headers = dict(first["headers"])
    assert first["status"] == 303
    assert headers[b"location"] == b"/s?a=1"
    assert b"HttpOnly; SameSite=Strict" in headers[b"set-cookie"]
    assert answered({**HOST, "origin": "http://evil.example"}, "token=secret")[0]["status"] == 403
    elsewhere = dict(answered(HOST, "token=secret", path="//evil.example/ü")[0]["headers"])
    assert elsewhere[b"location"] == b"/evil.example/%C3%BC"


def test_a_long_request_is_refused() -> None:
    assert answered({**KNOWN, "content-length": "5000000"})[0]["status"] == 413
    assert answered({**KNOWN, "content-length": "5000000"}, path="/api/files") == ["in"]


def test_a_started_studio_refuses_strangers(served: Served) -> None:
    assert served.ask("/", token=False)[0] == 403
    assert served.ask("/_nicegui_ws/socket.io/?EIO=4&transport=polling", token=False)[0] == 403
    assert served.ask("/?token=wrong", token=False)[0] == 403
    assert served.ask("/", headers={"Host": "evil.example"})[0] == 403
    assert served.ask("/", headers={"Origin": "http://evil.example"})[0] == 403
    assert served.ask(f"/?token={served.token}", token=False)[0] == 303
    assert served.ask("/")[0] == 200


def test_what_is_kept_is_private(served: Served) -> None:
    assert served.folder.stat().st_mode & 0o777 == 0o700
    assert served.start.startswith("http://127.0.0.1:")


def test_other_machines_need_permission(
    nicegui: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["studio", "--host", "0.0.0.0", "--no-browser", "--folder", str(tmp_path)]) == 2
    assert "--allow-remote" in capsys.readouterr().err


def test_whoever_lets_other_machines_in_is_warned(
    nicegui: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.studio import server

    async def ended(self: Any, sockets: Any) -> None:
        """Serve nobody."""

    monkeypatch.setattr(server.uvicorn.Server, "serve", ended)
    said: list[str] = []
    warned: list[str] = []
    start = server.Start(host="0.0.0.0", allow_remote=True, folder=tmp_path / "kept")
    server.serve(start, said.append, warned.append, browser=False)
    assert len(said) == 1
    assert "?token=" in said[0]
    assert "Nothing is encrypted" in warned[0]
    server.serve(server.Start(folder=tmp_path / "kept"), said.append, warned.append, browser=False)
    assert len(warned) == 1


def test_too_large_a_file_is_refused_in_a_sentence(served: Served) -> None:
    status, text = served.ask("/api/files?name=large.csv", b"a,b\n" * 600_000)
    assert status == 400
    assert b"larger than 2,000,000 bytes" in text

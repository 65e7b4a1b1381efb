"""The server behind the page: its addresses, the guard in front of them, and how it starts."""

import asyncio
import gc
import os
import secrets
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from shoal.errors import CannotWrite, WrongUse
from shoal.report.compiled_templates import page_style
from shoal.studio.api import add_api
from shoal.studio.guard import Guard
from shoal.studio.pages import add_pages
from shoal.studio.sitting import SittingStore, usual_folder
from shoal.studio.state import Studio
from shoal.studio.walk import warm_up

TITLE = "Shoal studio"


@dataclass(frozen=True, slots=True)
class Start:
    """How the studio is started."""

    port: int = 0  # 0 takes one that is free
    host: str = "127.0.0.1"  # the address to listen at
    allow_remote: bool = False  # allow an address that others reach too
    api_only: bool = False  # serve the API and no page
    folder: Path | None = None  # where sittings are kept
    upload: int = 2_000_000_000  # the largest file that can be uploaded, in bytes

    @property
    def local(self) -> bool:
        """Whether only this machine reaches the address."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def refuse_remote(self) -> None:
        """Refuse an address that others can reach, unless that is allowed. Raises `WrongUse` with what to add."""
        if not self.local and not self.allow_remote:
            raise WrongUse(
                f"--host {self.host} lets other machines reach the studio and the data in it. Add --allow-remote if "
                "that is meant, or omit --host."
            )


def serve(start: Start, say: Callable[[str], None], warn: Callable[[str], None], *, browser: bool) -> None:
    """Serve until interrupted; tells the start address in one line by `say`.

    Raises `WrongUse` if others could reach it and that is not allowed. Raises `CannotWrite` if the port is taken, or
    the folder cannot be made.
    """
    start.refuse_remote()
    sock = _listening(start)
    port = sock.getsockname()[1]
    token = secrets.token_urlsafe(24)
    studio = Studio(SittingStore(start.folder or usual_folder()), upload=start.upload, remote=not start.local)
    if not start.local:
        warn(
            f"The studio listens at {start.host}: anyone who reaches it and has the token can read all data in it. "
            "Nothing is encrypted on the way; put it behind a server with TLS."
        )
    shown = f"[{start.host}]" if ":" in start.host else start.host
    address = f"http://{shown}:{port}/{'api' if start.api_only else ''}?token={token}"
    config = uvicorn.Config(
        guarded(studio, start, port, token),
        log_level="error",
        access_log=False,
        server_header=False,
        ws_max_size=8_000_000,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    say(f"The studio is at {address}")
    if browser:
        with suppress(webbrowser.Error):
            webbrowser.open(address)
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[sock]))
    finally:
        studio.close()
        sock.close()


def guarded(studio: Studio, start: Start, port: int, token: str) -> Guard:
    """The application behind its guard."""
    names = {"127.0.0.1", "localhost", "[::1]", start.host, f"[{start.host}]"}
    hosts = frozenset(f"{name}:{port}" for name in names) if start.local else frozenset[str]()
    return Guard(application(studio, pages=not start.api_only), token, hosts, f"shoal-studio-{port}")


def application(studio: Studio, *, pages: bool) -> FastAPI:
    """The pages and the API of a studio."""

    @asynccontextmanager
    async def alive(app: FastAPI) -> AsyncIterator[None]:
        studio.queries.start()
        if pages:
            warm_up()
        gc.freeze()  # collecting garbage among all loaded modules would hold up a click for a tenth of a second
        watching = asyncio.create_task(studio.watch())
        yield
        watching.cancel()
        studio.close()

    app = FastAPI(title=TITLE, lifespan=alive, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    add_api(app, studio)
    if pages:
        add_pages(app, studio, _style())
        ui.run_with(
            app,
            title=TITLE,
            dark=None,
            language="en-US",
            tailwind=False,
            show_welcome_message=False,
            favicon=files("shoal.studio").joinpath("fish.svg").read_text(encoding="utf-8"),
            reconnect_timeout=20,
            binding_refresh_interval=None,
        )
    return app


@cache
def _style() -> str:
    own = files("shoal.studio").joinpath("studio.css").read_text(encoding="utf-8")
    return page_style() + own


def _listening(start: Start) -> socket.socket:
    family = socket.AF_INET6 if ":" in start.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((start.host, start.port))
    except OSError as error:
        sock.close()
        raise CannotWrite(f"The address {start.host}, port {start.port}", error) from error
    return sock

"""``shoal studio``: a local web page on which a release is made without code."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.options import flag, number_option, single, text_option
from shoal.errors import MissingExtra

EXAMPLE = """Example:
  shoal studio --port 8765 --no-browser"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("studio", studio, EXAMPLE)


def studio(
    *,
    port: Annotated[
        int, number_option("the port to listen at; by default, a free one", show_default=False)
    ] = 0,
    no_browser: Annotated[bool, flag("open no browser: the address is printed anyway")] = False,
    host: Annotated[
        str,
        Parameter(
            help="the address to listen at; other machines reach none but with --allow-remote",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    allow_remote: Annotated[bool, flag("allow a --host that other machines reach")] = False,
    api_only: Annotated[bool, flag("serve the HTTP API and no page")] = False,
    folder: Annotated[
        str | None,
        text_option("where sittings are kept; by default, a private folder of the user", "FOLDER"),
    ] = None,
    upload_limit: Annotated[
        float, Parameter(help="the largest file that is taken from the browser, in GB", metavar="GB")
    ] = 2.0,
) -> None:
    """Open a page on which all of this is done without code.

    Everything stays on this machine: the page is served to this machine alone, by an address with a secret token, and
    loads nothing from elsewhere. Sittings are kept until they are deleted on the page. Ctrl-C ends it.
    """
    server = _server()
    start = server.Start(
        port=port,
        host=host,
        allow_remote=allow_remote,
        api_only=api_only,
        folder=None if folder is None else Path(folder),
        upload=round(upload_limit * 1e9),
    )
    server.serve(start, say=_say, warn=_warn, browser=not (no_browser or api_only))


def _server() -> ModuleType:
    """The module of the web server; needs the extra ``studio``."""
    try:
        return import_module("shoal.studio.server")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("nicegui", "fastapi", "uvicorn", "starlette"):
            raise
        raise MissingExtra("The studio", "studio") from None


def _warn(text: str) -> None:
    print(f"shoal: {text}", file=sys.stderr)


def _say(text: str) -> None:
    show.line(text)
    sys.stdout.flush()

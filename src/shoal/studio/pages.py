"""The pages: the first one, and that of a sitting. The server makes their HTML, and a board in the browser shows it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from nicegui import ui
from nicegui.events import GenericEventArguments

from shoal.errors import ShoalError, UnknownName
from shoal.studio import first_page
from shoal.studio.sitting import read_json
from shoal.studio.state import Studio
from shoal.studio.walk import STEPS, Walk, templates

TICK = 0.4
"""Seconds between checks for changes made elsewhere: by a run, or on another page of the sitting."""


THEME = Path(__file__).with_name("theme.js").read_text(encoding="utf-8")
"""Sets light or dark as the system or the user prefers, in the head of a page, so that it is painted once."""


class Board(ui.element, component="board.js"):
    """A region whose HTML the server makes; what the user does in it comes back as the event ``act``."""

    def show(self, content: str) -> None:
        """Show new HTML; parts that did not change stay as they are."""
        if self._props.get("content") != content:
            self._props["content"] = content
            self.update()


@dataclass(slots=True)
class Painter:
    """Paints a page that takes time to make: of two paintings that overlap, the one that was asked for last counts."""

    board: Board
    html: Callable[[], Awaitable[str]]
    asked: int = 0
    shown: int = 0

    async def paint(self) -> None:
        """Show the page as it is now."""
        self.asked += 1
        mine = self.asked
        content = await self.html()
        if mine == self.asked:
            self.board.show(content)
            self.shown = mine

    @property
    def idle(self) -> bool:
        """Whether nothing is being painted."""
        return self.shown == self.asked


def add_pages(app: FastAPI, studio: Studio, style: str) -> None:
    """Add the first page, the pages of sittings, and what those fetch."""
    add_pieces(app, studio)
    head = f"<style>{style}</style><script>{THEME}</script>"

    @ui.page("/", title="Shoal studio")
    async def first() -> None:
        ui.add_head_html(head)
        home = first_page.Home(studio)
        board = Board()
        board.show(home.html())

        async def act(event: GenericEventArguments) -> None:
            place = await home.act(event.args)
            if place:
                ui.navigate.to(place)
            else:
                board.show(home.html())

        board.on("act", act)

    @ui.page("/s/{key}/{step}")
    async def sitting(key: str, step: str) -> None:
        ui.add_head_html(head)
        try:
            found = studio.sittings.find(key)
            if step not in STEPS:
                raise UnknownName("step", step, list(STEPS))
        except ShoalError as error:
            Board().show(first_page.lost(str(error)))
            return
        await _walk_page(Walk(studio, found, step))


async def _walk_page(walk: Walk) -> None:
    """The page of a sitting."""
    board = Board()
    painter = Painter(board, walk.html)
    await painter.paint()

    async def act(event: GenericEventArguments) -> None:
        if isinstance(event.args, dict) and isinstance(event.args.get("do"), str):
            await walk.act(event.args)
            await painter.paint()

    async def tick() -> None:
        busy = any(job.active for job in walk.studio.jobs.of(walk.sitting))
        if painter.idle and (busy or walk.shown != walk.sitting.revision):
            await painter.paint()

    board.on("act", act)
    ui.timer(TICK, tick)


def add_pieces(app: FastAPI, studio: Studio) -> None:
    """Add the larger parts of a release's page, which are fetched when they come into view."""

    @app.get("/s/{key}/runs/{number}/part/{name}", include_in_schema=False)
    async def part(key: str, number: int, name: str) -> HTMLResponse:
        job = studio.jobs.find(studio.sittings.find(key), number)
        if name not in job.result.get("parts", ()):
            raise UnknownName("part", name, list(job.result.get("parts", ())))
        return HTMLResponse((job.folder / f"part-{name}.html").read_text(encoding="utf-8"))

    @app.get("/s/{key}/runs/{number}/sides", include_in_schema=False)
    async def sides(key: str, number: int) -> HTMLResponse:
        job = studio.jobs.find(studio.sittings.find(key), number)
        facts = read_json(job.folder / "sides.json", {"rows": [], "of": 0})
        return HTMLResponse(
            templates().get_template("sides.html.j2").render(**facts, form=job.result["form"])
        )

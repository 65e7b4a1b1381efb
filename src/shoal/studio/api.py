"""The HTTP API: post a recipe, follow its run, get verdicts and the release. The page downloads from it too."""

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from shoal import __version__
from shoal.errors import BadData, BrokenPromise, ShoalError, UnknownName, WrongUse
from shoal.io.releases.folder import REPORT
from shoal.recipe import Recipe
from shoal.studio import exports, queries
from shoal.studio.api_page import api_page
from shoal.studio.first_recipe import begin_with
from shoal.studio.jobs import Job
from shoal.studio.second_table import source_of
from shoal.studio.sitting import Sitting, plain
from shoal.studio.state import Studio, files_of

CODES: tuple[tuple[type[ShoalError], int], ...] = (
    (UnknownName, 404),
    (BrokenPromise, 409),
    (BadData, 422),
    (WrongUse, 400),
)


class Loaded(BaseModel):
    """An uploaded file."""

    sitting: str = Field(description="the sitting that it belongs to")
    path: str = Field(description="where it is: `source.path` of a recipe")
    size: int = Field(description="bytes")


class Begin(BaseModel):
    """Data to begin a sitting with."""

    path: str = Field(description="the `path` that `POST /api/files` answered, or a file on this machine")
    sitting: str | None = Field(default=None, description="the sitting of an uploaded file")


class SittingFacts(BaseModel):
    """A sitting."""

    sitting: str
    name: str
    recipe: dict[str, Any] | None = Field(description="the current recipe, with the names of its TOML")
    runs: list[int] = Field(description="numbers of its runs")


class Wanted(BaseModel):
    """A recipe to run."""

    recipe: dict[str, Any] = Field(description="a recipe, with the names of its TOML; `output` is ignored")
    sitting: str | None = Field(default=None, description="the sitting it belongs to; by default, a new one")


class RunFacts(BaseModel):
    """A run and its outcome."""

    sitting: str
    run: int
    state: str = Field(description="waiting, running, done, failed, canceled or interrupted")
    stage: str = Field(default="", description="what it is doing")
    seconds_left: float | None = Field(default=None, description="an estimate, where there is one")
    seconds: float = 0.0
    error: str = ""
    holds: bool | None = Field(default=None, description="whether every promise is kept")
    verdicts: list[dict[str, Any]] = Field(default_factory=list)
    scores: list[dict[str, Any]] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


def add_api(app: FastAPI, studio: Studio) -> None:
    """Add the API of a studio."""
    app.version = __version__
    app.description = (
        "Publish data about people with a promise. Send the token of the start address as "
        "`Authorization: Bearer TOKEN`. Errors are objects with a sentence under `detail`."
    )
    _add_errors(app)
    _add_files(app, studio)
    _add_sittings(app, studio)
    _add_runs(app, studio)
    _add_exports(app, studio)

    @app.get("/api", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()))


def _add_errors(app: FastAPI) -> None:
    async def failed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ShoalError)
        code = next((code for kind, code in CODES if isinstance(error, kind)), 409)
        sentence = " ".join(str(error).split())
        return JSONResponse({"detail": sentence, "kind": type(error).__name__}, status_code=code)

    app.add_exception_handler(ShoalError, failed)


def _add_files(app: FastAPI, studio: Studio) -> None:
    @app.post("/api/files", tags=["data"], summary="Upload a file as the body of the request")
    async def upload(request: Request, name: str, sitting: str = "") -> Loaded:
        owner = studio.sittings.find(sitting) if sitting else studio.sittings.begin()
        path = place_for(owner, name)
        size = 0
        refused = False
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            async for part in request.stream():
                size += len(part)
                if size > studio.upload:
                    refused = True
                    break
                file.write(part)
        if refused:
            path.unlink()
            if not sitting:
                studio.sittings.delete(owner.key)
            raise WrongUse(
                f"{name} is larger than {studio.upload:,} bytes, which is the upload limit: give its path, or "
                "start the studio with a larger --upload-limit."
            )
        return Loaded(sitting=owner.key, path=str(path), size=size)


def place_for(sitting: Sitting, name: str) -> Path:
    """Where an uploaded file goes: under its own name, and never outside of the sitting."""
    plain_name = Path(name.replace("\\", "/")).name.strip(". ") or "data"
    folder = sitting.files / "uploads"
    folder.mkdir(mode=0o700, exist_ok=True)
    path, number = folder / plain_name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(plain_name).stem}-{number}{''.join(Path(plain_name).suffixes)}"
    return path


def _add_sittings(app: FastAPI, studio: Studio) -> None:
    @app.get("/api/sittings", tags=["data"], summary="All sittings that are kept")
    async def sittings() -> list[SittingFacts]:
        return [_sitting_facts(studio, one) for one in studio.sittings.all()]

    @app.post("/api/sittings", tags=["data"], summary="Begin a sitting with a file; suggests a recipe")
    async def begin(given: Begin) -> SittingFacts:
        sitting = studio.sittings.find(given.sitting) if given.sitting else studio.sittings.begin()
        studio.refuse_foreign(sitting, given.path)
        await begin_with(studio, sitting, given.path)
        return _sitting_facts(studio, sitting)

    @app.get("/api/sittings/{sitting}", tags=["data"], summary="A sitting with its current recipe")
    async def one(sitting: str) -> SittingFacts:
        return _sitting_facts(studio, studio.sittings.find(sitting))

    @app.delete("/api/sittings/{sitting}", tags=["data"], summary="Delete a sitting, its files and its runs")
    async def delete(sitting: str) -> dict[str, str]:
        studio.jobs.forget(studio.sittings.find(sitting))
        studio.sittings.delete(sitting)
        return {"deleted": sitting}

    @app.get(
        "/api/sittings/{sitting}/hierarchies/{column}",
        tags=["data"],
        summary="The hierarchy of a column as a file, one line per value",
        response_class=PlainTextResponse,
    )
    async def hierarchy(sitting: str, column: str) -> Response:
        found = studio.sittings.find(sitting)
        recipe = found.recipe
        if recipe is None or column not in recipe.hierarchies:
            raise UnknownName("hierarchy of column", column, list(recipe.hierarchies) if recipe else [])
        looked, source = await studio.seen(found, recipe)
        source = source_of(looked, source, column)
        path = found.files / "export.csv"
        await studio.queries.ask(queries.write_tree, source, column, recipe.hierarchies[column], str(path))
        return _file(path.read_bytes(), f"{column}.csv", "text/csv")


def _add_runs(app: FastAPI, studio: Studio) -> None:
    @app.post("/api/runs", tags=["runs"], summary="Run a recipe")
    async def run(wanted: Wanted) -> RunFacts:
        sitting = studio.sittings.find(wanted.sitting) if wanted.sitting else studio.sittings.begin()
        recipe = Recipe(**{name: part for name, part in wanted.recipe.items() if name != "output"})
        recipe.the_method()
        studio.refuse_foreign(sitting, *files_of(recipe))
        queries.existing(recipe.source.path)
        sitting.name = Path(recipe.source.path).name
        sitting.change(recipe, "Posted")
        return _run_facts(sitting, studio.begin(sitting, "publish", recipe))

    @app.get(
        "/api/sittings/{sitting}/runs/{run}", tags=["runs"], summary="The progress of a run, or its outcome"
    )
    async def follow(sitting: str, run: int) -> RunFacts:
        found = studio.sittings.find(sitting)
        return _run_facts(found, studio.jobs.find(found, run))

    @app.delete("/api/sittings/{sitting}/runs/{run}", tags=["runs"], summary="Cancel a run")
    async def cancel(sitting: str, run: int) -> RunFacts:
        found = studio.sittings.find(sitting)
        studio.jobs.cancel(found, run)
        return _run_facts(found, studio.jobs.find(found, run))


def _add_exports(app: FastAPI, studio: Studio) -> None:
    base = "/api/sittings/{sitting}/runs/{run}"

    def job_of(sitting: str, run: int) -> tuple[Sitting, Job]:
        found = studio.sittings.find(sitting)
        return found, studio.jobs.find(found, run)

    @app.get(
        f"{base}/release.zip",
        tags=["take away"],
        summary="The release, proved once more",
        response_class=Response,
    )
    async def packed(sitting: str, run: int) -> Response:
        _, job = job_of(sitting, run)
        path = await exports.release_zip(studio, job)
        return FileResponse(
            path, media_type="application/zip", filename="release.zip", background=BackgroundTask(path.unlink)
        )

    @app.get(
        f"{base}/report.html",
        tags=["take away"],
        summary="The report, for the owner of the data",
        response_class=HTMLResponse,
    )
    async def report(sitting: str, run: int) -> HTMLResponse:
        _, job = job_of(sitting, run)
        return HTMLResponse((exports.finished(job) / REPORT).read_text(encoding="utf-8"))

    @app.get(
        f"{base}/recipe.toml", tags=["take away"], summary="The recipe", response_class=PlainTextResponse
    )
    async def recipe(sitting: str, run: int) -> Response:
        found, job = job_of(sitting, run)
        return _file(
            exports.as_toml(exports.portable(found, job)).encode(), "recipe.toml", "application/toml"
        )

    @app.get(
        f"{base}/hierarchies/{{column}}",
        tags=["take away"],
        summary="A hierarchy file of the recipe",
        response_class=PlainTextResponse,
    )
    async def tree(sitting: str, run: int, column: str) -> Response:
        _, job = job_of(sitting, run)
        files = exports.trees_of(job)
        if column not in files:
            raise UnknownName("hierarchy of column", column, list(files))
        path = Path(files[column])
        return _file(path.read_bytes(), path.name, "text/csv")


def _sitting_facts(studio: Studio, sitting: Sitting) -> SittingFacts:
    recipe = sitting.recipe
    runs = [job.number for job in studio.jobs.of(sitting, "publish")]
    shown = None if recipe is None else plain(recipe)
    return SittingFacts(sitting=sitting.key, name=sitting.name, recipe=shown, runs=runs)


def _run_facts(sitting: Sitting, job: Job) -> RunFacts:
    result = job.result if job.state == "done" else {}
    progress: dict[str, Any] = job.progress if job.active else {"stage": "", "left": None}
    return RunFacts(
        sitting=sitting.key,
        run=job.number,
        state=job.state,
        stage=progress["stage"],
        seconds_left=progress["left"],
        seconds=job.seconds,
        error=job.error,
        holds=result.get("holds"),
        verdicts=result.get("verdicts", []),
        scores=result.get("scores", []),
        warnings=result.get("warnings", []),
    )


def _file(content: bytes, name: str, kind: str) -> Response:
    safe = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_"
        for letter in name
    )
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{safe}"'}
    )

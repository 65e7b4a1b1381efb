"""What can be taken away: the release as a zip file, the recipe, the exact command and the exact Python code."""

import os
import secrets
import shlex
from pathlib import Path
from typing import Any

from shoal.addresses import without_passwords
from shoal.errors import BrokenPromise, WrongUse
from shoal.recipe import Recipe, is_hierarchy_file
from shoal.recommendation.command_line import command_line
from shoal.report.facts import recipe_text
from shoal.studio import queries
from shoal.studio.job_process import OUT
from shoal.studio.jobs import Job
from shoal.studio.query_process import QueryProcess
from shoal.studio.sitting import Sitting, plain
from shoal.studio.state import Studio

LONG = 3_600.0
"""Seconds allowed for proving and packing a release that does not fit into memory."""


async def release_zip(studio: Studio, job: Job) -> Path:
    """The release as a zip file, proved once more first, in another process so that the page does not wait.

    Raises `BrokenPromise` if the files no longer keep the promises. Raises `WrongUse` if there is no release.
    """
    folder = finished(job)
    population = job.task["recipe"]["method"].get("population")
    packed = job.folder / f"{secrets.token_hex(6)}.zip"
    small = job.result["local"]
    process = studio.queries if small else QueryProcess(LONG)
    try:
        verdicts = await process.ask(queries.pack, str(folder), population, str(packed))
    finally:
        if not small:
            process.close()
    for verdict in verdicts:
        if not verdict["holds"]:
            raise BrokenPromise(
                f"The release breaks {verdict['model']} ({verdict['promise']}); it cannot be taken away. Run it again."
            )
    return packed


def finished(job: Job) -> Path:
    """The folder of a finished run. Raises `WrongUse` if the run is not finished, or failed."""
    if job.kind != "publish" or job.state != "done":
        raise WrongUse(f"Run {job.number} has no release: it is {job.state}.")
    return job.folder / OUT


def portable(sitting: Sitting, job: Job) -> Recipe:
    """The recipe of a run to take away: files in the studio's folder are named as if they were beside the recipe."""
    recipe = Recipe(**{**job.task["recipe"], "seed": _seed(job)})
    home = str(sitting.folder)

    def beside(path: str) -> str:
        return os.path.basename(path) if path.startswith(home) else path

    trees = {
        name: beside(spec) if is_hierarchy_file(spec) else spec for name, spec in recipe.hierarchies.items()
    }
    source = recipe.source.model_copy(update={"path": beside(recipe.source.path)})
    joined = {name: beside(spec) for name in ("link", "items_from") if (spec := getattr(recipe.roles, name))}
    roles = recipe.roles.model_copy(update=joined)
    return recipe.model_copy(update={"source": source, "roles": roles, "hierarchies": trees})


def _seed(job: Job) -> int | None:
    """The seed that the run drew, so that it can be repeated."""
    from shoal.io.releases.folder import RUN
    from shoal.studio.sitting import read_json

    found = read_json(job.folder / OUT / RUN, {}).get("recipe", {}).get("seed")
    return found if isinstance(found, int) else job.task["recipe"].get("seed")


def trees_of(job: Job) -> dict[str, str]:
    """Columns whose hierarchies are files, and the paths of these."""
    given: dict[str, str] = job.task["recipe"].get("hierarchies", {})
    return {name: spec for name, spec in given.items() if is_hierarchy_file(spec)}


def as_toml(recipe: Recipe) -> str:
    """The recipe as a file."""
    return recipe_text(plain(recipe))


def as_command(recipe: Recipe) -> str:
    """The command that makes the same release; it names a recipe file where options cannot say everything."""
    if recipe.method.get("promises"):
        return "shoal run recipe.toml -o out"
    words = command_line(recipe)
    words = words[:-2]
    if recipe.seed is not None:
        words += ["--seed", str(recipe.seed)]
    if not recipe.running.kind.in_memory:
        words += ["--engine", recipe.running.engine]
    return shlex.join([*without_passwords(words), "-o", "out"])


def as_python(recipe: Recipe) -> str:
    """The Python code that makes the same release."""
    if not recipe.running.kind.in_memory or recipe.method.get("promises"):
        return 'import shoal\n\nrun = shoal.run("recipe.toml")\nrun.write("out")\n'
    method = dict(recipe.method)
    given: dict[str, Any] = {name: value for name, value in method.items() if name != "name"}
    for role, names in recipe.roles.model_dump(exclude_defaults=True).items():
        given[role] = list(names) if isinstance(names, tuple) else names
    if recipe.hierarchies:
        given["hierarchies"] = dict(recipe.hierarchies)
    if recipe.source.baskets is not None:
        given["baskets"] = recipe.source.baskets
    if recipe.seed is not None:
        given["seed"] = recipe.seed
    lines = [f"    {name}={value!r}," for name, value in given.items()]
    found = plain(recipe)["source"].get("reading")
    if found:
        lines.append(f"    reading=shoal.Reading(**{found!r}),")
    call = "\n".join([f"    {recipe.source.path!r},", f"    {method['name']!r},", *lines])
    return f'import shoal\n\nrun = shoal.anonymize(\n{call}\n)\nrun.write("out")\n'

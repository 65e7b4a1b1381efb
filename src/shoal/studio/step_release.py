"""Release: verdicts, cost, risk; rows before and after; classes, groups, clusters; attacks, explanations, find me."""

from typing import Any

from shoal.errors import WrongUse
from shoal.recipe import Recipe
from shoal.studio import queries
from shoal.studio.job_process import OUT, ROWS
from shoal.studio.jobs import Job
from shoal.studio.sitting import read_json
from shoal.studio.walk import Act, Handler, Walk

ATTACK_WORDS = {
    "linkage": "Find a person's row",
    "inference": "Guess a secret",
    "certainty": "Be certain of a secret",
    "order": "Learn from the order of rows",
    "intersection": "Join two releases",
    "membership": "Tell who is in the data",
    "definetti": "Learn secrets by patterns",
    "replay": "Replay the method",
    "downcoding": "Undo the generalization",
    "stars": "Guess what stars hide",
    "cover": "Solve the clusters like a puzzle",
}
"""What an attack does, in words; other attacks go by their names."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    job = walk.current()
    if job is None:
        return {"job": None}
    attacks = [one for one in walk.studio.jobs.of(walk.sitting, "attack") if one.task["run"] == job.number]
    last = attacks[-1] if attacks else None
    shown = job.result
    columns = shown.get("columns", [])
    quasi = list(Recipe(**job.task["recipe"]).roles.quasi)
    return {
        "job": job,
        "shown": shown,
        "stale": walk.stale(job),
        "columns": columns,
        "known": [name for name in columns if name in quasi],
        "explained": _answered(walk.view.get("explained"), job),
        "matches": _answered(walk.view.get("found"), job),
        "typed": walk.view.get("typed", {}),
        "drawn": _answered(walk.view.get("drawn"), job),
        "attack": last,
        "attacked": last.result.get("attacks", {}) if last is not None and last.state == "done" else {},
        "attack_words": ATTACK_WORDS,
        "base": f"/s/{walk.sitting.key}/runs/{job.number}",
        "others": [one for one in walk.studio.runs(walk.sitting) if one.state == "done"],
    }


def _answered(kept: Any, job: Job) -> Any:
    """An earlier answer, if it is about this run."""
    return kept["answer"] if kept is not None and kept["run"] == job.number else None


def _job(walk: Walk) -> Job:
    job = walk.current()
    if job is None:
        raise WrongUse("There is no release yet: run first.")
    return job


async def _explain(walk: Walk, act: Act) -> None:
    """Explain why the cells of a row are as coarse as they are."""
    job = _job(walk)
    text = str(act["data"].get("row") or act["form"].get("row", "")).strip()
    if not text.isdigit() or int(text) < 1:
        raise WrongUse("Type the number of a row of the original; the first is 1.")
    recipe = Recipe(**job.task["recipe"])
    place, rows = str(job.folder / OUT), str(job.folder / ROWS)
    found = await walk.studio.queries.ask(queries.explain, place, recipe.source.path, rows, int(text) - 1)
    column = str(act["data"].get("column", ""))
    found["cut"] = next((cut for cut in found["cuts"] if cut["column"] == column), None)
    found["column"] = column
    walk.view["explained"] = {"run": job.number, "answer": found}


async def _find(walk: Walk, act: Act) -> None:
    """Look up what a neighbor who knows some columns or items finds."""
    job = _job(walk)
    form = {name: str(text).strip() for name, text in act["form"].items()}
    walk.view["typed"] = form
    known: Any = {
        name.removeprefix("known:"): text for name, text in form.items() if name.startswith("known:") and text
    }
    if "items" in form:
        known = [one.strip() for one in form["items"].split(",") if one.strip()]
    if not known:
        raise WrongUse("Type at least one thing that a neighbor knows.")
    answer = await walk.studio.queries.ask(queries.find, str(job.folder / OUT), known)
    walk.view["found"] = {"run": job.number, "answer": answer}


async def _person(walk: Walk, act: Act) -> None:
    """Look for the person of a row of the original, by everything that others may know about them."""
    sides = read_json(_job(walk).folder / "sides.json", {"rows": [], "names": []})
    before = next((one for row, one, _ in sides["rows"] if str(row) == act["data"]["row"]), ())
    cells = dict(zip(sides["names"], before, strict=False))
    known = {f"known:{name}": text for name, text in cells.items() if name in sides["quasi"]}
    await _find(walk, {**act, "form": known})


async def _attack(walk: Walk, act: Act) -> None:
    """Attack the release, in a process of its own."""
    walk.studio.jobs.ask(walk.sitting, "attack", None, run=_job(walk).number)


async def _draw(walk: Walk, act: Act) -> None:
    """Draw baskets that the release could have come from."""
    job = _job(walk)
    seed = int(walk.view.get("seed", 0)) + 1
    walk.view["seed"] = seed
    drawn = await walk.studio.queries.ask(queries.reconstruction, str(job.folder / OUT), seed)
    walk.view["drawn"] = {"run": job.number, "answer": drawn}


ACTIONS: dict[str, Handler] = {
    "explain": _explain,
    "find": _find,
    "person": _person,
    "attack": _attack,
    "draw": _draw,
}

"""Run: the settings in sentences, one button, progress, and all runs of the sitting."""

from typing import Any

from shoal import registry
from shoal.studio import method_offers
from shoal.studio.promise_sentences import sentences_of
from shoal.studio.sitting import plain
from shoal.studio.walk import Act, Handler, Walk

STAGES = {
    "starting": "Starting",
    "reading": "Reading the data",
    "anonymizing": "Looking for a release that keeps the promise",
    "measuring": "Measuring what it cost",
    "writing": "Writing the release",
    "verifying": "Proving the promise from the written files",
    "showing": "Drawing pictures",
}


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    runs = walk.studio.runs(walk.sitting)
    active = [job for job in runs if job.active and "series" not in job.task]
    fresh = [job for job in runs if job.state == "done" and not walk.stale(job)]
    last = next((job for job in runs if "series" not in job.task), None)
    if last is not None and last.state == "done" and fresh:
        last = fresh[0]
    stage = active[0].progress["stage"] if active else ""
    return {
        "runs": [row_of(walk, job) for job in runs],
        "active": active[0] if active else None,
        "progress": active[0].progress if active else None,
        "stage": stage_words(stage),
        "last": last,
        "same": last is not None and last.state == "done" and last.task["recipe"] == plain(recipe),
        "sentences": sentences(walk),
    }


def stage_words(stage: str) -> str:
    """A step in words, with the part that it is at.

    >>> stage_words("anonymizing by mondrian: improving, 34%")
    'Looking for a release that keeps the promise: improving, 34%'
    """
    step, colon, part = stage.partition(":")
    return STAGES.get(step.split(" ")[0], step) + colon + part


def sentences(walk: Walk) -> list[str]:
    """The settings in sentences."""
    recipe = walk.recipe
    roles, kind = recipe.roles, method_offers.kind_of(recipe)
    given = {
        name: recipe.method[name]
        for name in method_offers.promise_fields(kind)
        if recipe.method.get(name) not in (None, [], ()) and name not in ("promises", "distance")
    }
    more = [f"Promise: {one['model']}." for one in recipe.method.get("promises") or ()]
    said = [f"Data: {walk.sitting.name}."]
    if method_offers.of_baskets(recipe):
        said.append(f"Secret items: {_listed(roles.sensitive)}. All others may be known.")
    else:
        said.append(f"Others may know {_listed(roles.quasi)}; secret is {_listed(roles.sensitive)}.")
        if roles.identifying:
            said.append(f"Not published: {_listed(roles.identifying)}.")
    said += [*sentences_of(method_offers.aim_of(recipe), given), *more]
    engine = recipe.running.kind
    where = "" if engine.in_memory else f", {engine.place}"
    said.append(f"Method: {method_offers.label_of(recipe)}{where}.")
    return said


def _listed(names: tuple[str, ...]) -> str:
    from shoal.report.wording import listed

    return listed(names, 8) if names else "nothing"


def row_of(walk: Walk, job: Any) -> dict[str, Any]:
    """A run as a row in the table of runs."""
    result = job.result if job.state == "done" else {}
    recipe = job.task["recipe"]
    fields = method_offers.promise_fields(registry.load("method", recipe["method"]["name"]))
    promise = [
        f"{name} {value}"
        for name, value in recipe["method"].items()
        if name in fields and name not in ("promises", "population")
    ]
    cost = result.get("cost")
    return {
        "job": job,
        "method": recipe["method"]["name"],
        "promise": ", ".join(promise),
        "cost": cost["figure"] if cost else "",
        "score": result.get("score"),
        "holds": result.get("holds"),
        "stale": walk.stale(job),
    }


async def _run(walk: Walk, act: Act) -> None:
    """Start a run, unless something is wrong with the settings."""
    walk.recipe.the_method()
    walk.studio.begin(walk.sitting, "publish", walk.recipe, label=method_offers.label_of(walk.recipe))
    walk.view.pop("run", None)


ACTIONS: dict[str, Handler] = {"run": _run}

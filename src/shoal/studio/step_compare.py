"""Compare: runs of several methods at several strengths of the promise, and the frontier between privacy and cost."""

import secrets
from typing import Any

from shoal import registry
from shoal.errors import ShoalError, WrongUse
from shoal.recipe import Recipe
from shoal.recommendation.goal import Stated
from shoal.studio import method_offers
from shoal.studio.forms import entry_of
from shoal.studio.frontier import Point, drawn, frontier, legend
from shoal.studio.jobs import AT_ONCE, Job
from shoal.studio.sitting import plain
from shoal.studio.step_method import with_trees
from shoal.studio.step_run import row_of
from shoal.studio.walk import Act, Handler, Walk

MOST = 40
"""Most runs that one comparison starts."""

RISING = ("k", "p", "m", "l", "entropy_l", "k_map")
"""Parameters whose larger values promise more."""

COSTS = {
    "lm_mean": "the share of the detail that is lost",
    "gcp": "the share of the detail that is lost",
    "term_chunk_share": "the share of items in baskets that are only named",
    "kl": "how far groups mislead about secrets (Kullback-Leibler)",
    "item_ncp": "the share of the detail of items that is lost",
    "information_loss": "the share of items in baskets that is not published",
}
"""The scores that runs are compared by, in words; other scores go by their names."""

AXES = (
    "k", "p", "l", "entropy_l", "t", "alpha", "beta", "delta", "maximal_risk", "average_risk", "confidence", "h", "m",
)  # fmt: skip
"""Parameters that can be varied; the first that the promise has is varied."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    axis = axis_of(recipe)
    runs = [
        job
        for job in walk.studio.runs(walk.sitting)
        if job.state != "canceled" and _of_same_data(job, recipe)
    ]
    points, cost = points_of(walk, runs, axis)
    falling = axis not in RISING
    job = walk.current()
    waiting = [one for one in runs if one.active and "series" in one.task]
    series = [one for one in runs if "series" in one.task and one.task["series"] == walk.view.get("series")]
    labels = list(dict.fromkeys(one.label for one in method_offers.offers(recipe)))
    best = frontier(points, falling=falling)
    return {
        "axis": axis,
        "words": axis.replace("_", " ") if axis else "",
        "values": walk.view.get("values") or ", ".join(f"{value:g}" for value in usual_values(recipe, axis)),
        "labels": labels,
        "chosen": walk.view.get("methods") or labels[:3],
        "picture": drawn(points, axis=axis, cost=cost, falling=falling, opened=job.number if job else None)
        if points
        else "",
        "legend": legend(points),
        "best": {point.run for point in best},
        "cost": cost,
        "runs": [row_of(walk, one) for one in runs],
        "waiting": waiting,
        "series_done": sum(not one.active for one in series),
        "series": len(series),
        "left": _left(runs),
        "opened": job.number if job else None,
    }


def _left(runs: list[Job]) -> float | None:
    """About how many seconds the unfinished runs still take; None as long as no run is finished."""
    done = [job.seconds for job in runs if job.state == "done"]
    if not done:
        return None
    each = sum(done) / len(done)
    return sum(max(each - job.seconds, 1.0) for job in runs if job.active) / AT_ONCE


def axis_of(recipe: Recipe) -> str:
    """The parameter of the promise that is varied; empty where there is none."""
    return next((name for name in AXES if recipe.method.get(name) is not None), "")


def usual_values(recipe: Recipe, axis: str) -> list[float]:
    """Some values around the promised one."""
    if not axis:
        return []
    value = recipe.method[axis]
    if axis in ("k", "p"):
        return [max(value // 2, 2), value, value * 2, value * 5]
    if axis in RISING:
        return [value, value + 1, value + 2]
    return [value, value * 0.75, value * 0.5]


def _of_same_data(job: Job, recipe: Recipe) -> bool:
    """Whether a run can be compared: it read the same data, and the same is known and secret."""
    made = Recipe(**job.task["recipe"])
    return made.source == recipe.source and made.roles == recipe.roles


def points_of(walk: Walk, runs: list[Job], axis: str) -> tuple[list[Point], str]:
    """The finished runs with the same score, as points, and what that score is."""
    found = []
    others = _others(walk.recipe.method, axis)
    for job in reversed(runs):
        if _others(job.task["recipe"]["method"], axis) != others:
            continue
        method, result = job.task["recipe"]["method"], job.result if job.state == "done" else {}
        if result.get("score") and method.get(axis) is not None:
            label = str(job.task.get("label") or method["name"])
            found.append(
                (result["score"]["name"], Point(job.number, label, method[axis], result["score"]["value"]))
            )
    names = [name for name, _ in found]
    common = max(dict.fromkeys(names), key=names.count, default="")
    return [point for name, point in found if name == common], COSTS.get(common, common)


def _others(method: dict[str, Any], axis: str) -> dict[str, Any]:
    """What is promised apart from the value that is varied; only runs that agree on it can be compared."""
    fields = method_offers.promise_fields(registry.load("method", method["name"]))
    return {name: method[name] for name in fields if name != axis and method.get(name) is not None}


async def _compare(walk: Walk, act: Act) -> None:
    """Start a run for each method and value."""
    recipe, form = walk.recipe, act["form"]
    axis = axis_of(recipe)
    entry = entry_of(Stated, axis, None) if axis else None
    if entry is None:
        raise WrongUse("The promise has no value that can be varied; choose another promise first.")
    values = [entry.parsed(text) for text in str(form.get("values", "")).split(",") if text.strip()]
    labels = list(form.get("method", ()))
    if not values or not labels:
        raise WrongUse("Choose at least one method and type at least one value.")
    if len(values) * len(labels) > MOST:
        raise WrongUse(f"{len(values) * len(labels)} runs are too many at once; choose at most {MOST}.")
    planned = [plan for value in values for plan in await _plans(walk, recipe, axis, value, labels)]
    walk.view |= {"values": str(form["values"]), "methods": labels}
    there = [
        job.task["recipe"] for job in walk.studio.runs(walk.sitting) if job.active or job.state == "done"
    ]
    planned = [(label, one) for label, one in planned if plain(one) not in there]
    if not planned:
        raise WrongUse("All of these have been run already; they are in the table below.")
    series = walk.view["series"] = secrets.token_hex(3)
    for label, one in planned:
        walk.studio.begin(walk.sitting, "publish", one, series=series, label=label)


async def _plans(
    walk: Walk, recipe: Recipe, axis: str, value: Any, labels: list[str]
) -> list[tuple[str, Recipe]]:
    """A recipe for each method with one value of the promise."""
    try:
        varied = method_offers.promised(recipe, _promise_of(recipe) | {axis: value})
    except ShoalError as error:
        raise WrongUse(f"{axis} {value}: {error}") from error
    plans = []
    for candidate in method_offers.offers(varied):
        if candidate.label in labels:
            made = method_offers.taken(varied, candidate)
            plans.append((candidate.label, await with_trees(walk, made) if candidate.trees else made))
    return plans


def _promise_of(recipe: Recipe) -> dict[str, Any]:
    fields = method_offers.promise_fields(method_offers.kind_of(recipe))
    return {name: recipe.method[name] for name in fields if recipe.method.get(name) is not None}


async def _stop(walk: Walk, act: Act) -> None:
    """Cancel all runs of comparisons that are not finished."""
    for job in walk.studio.runs(walk.sitting):
        if job.active and "series" in job.task:
            walk.studio.jobs.cancel(walk.sitting, job.number)


ACTIONS: dict[str, Handler] = {"compare": _compare, "stop": _stop}

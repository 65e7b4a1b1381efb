"""Take away: the release as a zip file, the report, the recipe, the exact command and the exact Python code."""

from typing import Any

from shoal.studio import exports
from shoal.studio.walk import Handler, Walk


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    job = walk.current()
    if job is None:
        return {"job": None}
    recipe = exports.portable(walk.sitting, job)
    return {
        "job": job,
        "stale": walk.stale(job),
        "shown": job.result,
        "base": f"/api/sittings/{walk.sitting.key}/runs/{job.number}",
        "command": exports.as_command(recipe),
        "python": exports.as_python(recipe),
        "toml": exports.as_toml(recipe),
        "trees": exports.trees_of(job),
        "beside": recipe.source.path,
    }


ACTIONS: dict[str, Handler] = {}

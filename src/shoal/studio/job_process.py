"""A process of the studio that makes a release, recommends a method, or attacks a release.

Started as ``python -m shoal.studio.job_process FOLDER PARENT``.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import ShoalError
from shoal.option_names import as_typed
from shoal.progress import in_words, watched
from shoal.recipe import Recipe
from shoal.studio.sitting import plain, read_json, write_json

OUT = "out"
"""The release folder in the folder of a run."""

ROWS = "rows.npy"
"""The private file that maps published rows to rows of the original."""


def main(arguments: list[str]) -> int:
    """Do what ``task.json`` says, and write the outcome beside it."""
    folder, parent = Path(arguments[0]), int(arguments[1])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    os.umask(0o077)
    os.nice(5)
    task = read_json(folder / "task.json")
    try:
        with as_typed():
            result = {"publish": _publish, "recommend": _recommend, "attack": _attack}[task["kind"]](
                folder, task
            )
    except ShoalError as error:
        write_json(folder / "error.json", {"error": " ".join(str(error).split()), **error.as_dict()})
        return error.exit_code
    except MemoryError:
        write_json(
            folder / "error.json", {"error": "There is not enough memory for this; nothing was written."}
        )
        return 70
    write_json(folder / "result.json", result)
    return 0


def _end_with(parent: int) -> None:
    """End this process and its children when the studio has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def _tell(folder: Path, stage: str, share: float | None = None, part: float | None = None) -> None:
    """`share`, `part`: how much is done of all, or of the step, where one of them is known."""
    write_json(folder / "progress.json", {"stage": stage, "share": share, "part": part})


def _publish(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    from shoal.pipeline import publish
    from shoal.studio.release_view import shown_of

    recipe = Recipe(**task["recipe"])
    output = recipe.output.model_copy(update={"folder": str(folder / OUT)})
    recipe = recipe.model_copy(update={"output": output})
    step = ""

    def stage(name: str) -> None:
        nonlocal step
        step = name
        _tell(folder, step)

    with watched(lambda name, share: _tell(folder, in_words(step, name, share), part=share)):
        finished, _ = publish(recipe, stage=stage)
    _tell(folder, "showing")
    if finished.engine.in_memory:
        np.save(folder / ROWS, np.asarray(finished.trace.rows))
    return shown_of(finished, folder)


def _recommend(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    from shoal.recommendation.propose import propose
    from shoal.studio.method_offers import stated_of

    recipe = Recipe(**task["recipe"])
    source = recipe.source
    found = propose(
        source.path,
        stated_of(recipe),
        roles=recipe.roles,
        reading=source.reading,
        baskets=source.baskets,
        hierarchies=recipe.hierarchies,
        hierarchies_folder=source.hierarchies_folder,
        time_limit=float(task.get("time_limit", 30)),
        jobs=max((os.cpu_count() or 2) - 1, 1),
        tell=lambda done, of, going: _tell(folder, f"trying {going or 'methods'}", done / max(of, 1)),
    )
    tried = [
        {
            "label": one.label,
            "status": one.status,
            "loss": one.loss,
            "privacy": one.privacy,
            "seconds": one.seconds,
            "error": one.error,
            "meets": one.meets,
            "method": dict(one.candidate.method),
        }
        for one in found.tried
    ]
    return {
        "recipe": plain(found.recipe),
        "label": found.proposal.label,
        "loss": found.proposal.loss,
        "reasons": list(found.reasons),
        "tried": tried,
    }


def _attack(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    from shoal.attacking import as_plain, attack

    target = folder.parent / f"{int(task['run']):04}"
    recipe = Recipe(**read_json(target / "task.json")["recipe"])
    with watched(lambda name, share: _tell(folder, in_words("attacking", name, share), 0.3)):
        found = attack(target / OUT, recipe.source.path)
    return {"run": task["run"], "attacks": as_plain(found)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

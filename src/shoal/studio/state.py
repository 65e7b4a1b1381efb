"""What all pages of a studio share: sittings, jobs, the process for questions, and whether others may use it."""

import asyncio
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import WrongUse
from shoal.recipe import Recipe, Roles, Source, is_hierarchy_file
from shoal.studio import queries
from shoal.studio.jobs import Job, JobQueue
from shoal.studio.query_process import QueryProcess
from shoal.studio.second_table import merged, place_of
from shoal.studio.sitting import Sitting, SittingStore, read_json, write_json

LOOKED = 200
"""Most looks at data that are remembered."""


def files_of(recipe: Recipe) -> list[str]:
    """Every file, folder, database and cluster that a recipe names."""
    roles, source = recipe.roles, recipe.source
    joined = [spec.rpartition(":")[0] for spec in (roles.link, roles.items_from) if spec]
    promised = [recipe.method, *(recipe.method.get("promises") or ())]
    named = [
        source.hierarchies_folder,
        recipe.running.master,
        *(one.get("population") for one in promised),
        *(one.get("key") for one in recipe.preparation),
        *(one.get("workload") for one in recipe.measures if isinstance(one, dict)),
    ]
    trees = [spec for spec in recipe.hierarchies.values() if is_hierarchy_file(spec)]
    return [source.path, *trees, *joined, *(str(place) for place in named if place)]


@dataclass(slots=True)
class Studio:
    """Everything that pages and the API work with."""

    sittings: SittingStore
    jobs: JobQueue = field(default_factory=JobQueue)
    queries: QueryProcess = field(default_factory=QueryProcess)
    """`sittings`, `jobs`, `queries`: sittings, long-running processes, and the process for quick questions."""
    upload: int = 2_000_000_000  # the largest file that can be uploaded, in bytes
    remote: bool = False
    """Whether other machines may use the studio; then it opens only files that were uploaded."""
    _looks: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def look(self, sitting: Sitting, source: Source) -> dict[str, Any]:
        """Look at the data of a sitting; the answer is remembered as long as the file does not change."""
        path = Path(source.path).expanduser()
        plain_source = source.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        stamp = path.stat().st_mtime_ns if path.is_file() else 0
        name = hashlib.sha256(json.dumps([plain_source, stamp], sort_keys=True).encode()).hexdigest()[:16]
        if name not in self._looks:
            kept = sitting.files / f"look-{name}.json"
            found = read_json(kept)
            if found is None:
                found = await self.queries.ask(queries.look, plain_source, str(sitting.files))
                write_json(kept, found)
            if len(self._looks) > LOOKED:
                self._looks.clear()
            self._looks[name] = found
        return self._looks[name]

    async def both(self, sitting: Sitting, roles: Roles, found: dict[str, Any]) -> dict[str, Any]:
        """What a look at the data found, with the columns of the table of records where there is one."""
        path, key = place_of(roles)
        return merged(found, await self.look(sitting, Source(path=path)), path, key) if path else found

    async def seen(self, sitting: Sitting, recipe: Recipe) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a look at the data found, and the source for further questions, which for large data is a sample."""
        found = await self.both(sitting, recipe.roles, await self.look(sitting, recipe.source))
        source = recipe.source.model_copy(update={"path": found["looked_at"]})
        return found, source.model_dump(mode="json", exclude_defaults=True, exclude_none=True)

    def refuse_foreign(self, sitting: Sitting, *places: str) -> None:
        """Refuse files on this machine that others ask for.

        Raises `WrongUse` if the studio is open to others and a file was not uploaded into the sitting.
        """
        home = sitting.folder.resolve()
        if self.remote and not all(Path(place).resolve().is_relative_to(home) for place in places):
            raise WrongUse(
                "Files on this machine are not opened for others: upload the file, and use the path that is answered."
            )

    async def watch(self) -> None:
        """Keep track of the processes as long as the studio runs."""
        with suppress(asyncio.CancelledError):
            while True:
                self.jobs.tick()
                await asyncio.sleep(0.15)

    def begin(self, sitting: Sitting, kind: str, recipe: Recipe, **more: Any) -> Job:
        """Start a run or a recommendation, unless others ask for files on this machine."""
        self.refuse_foreign(sitting, *files_of(recipe))
        return self.jobs.ask(sitting, kind, recipe, **more)

    def runs(self, sitting: Sitting) -> list[Job]:
        """The runs of a sitting, the newest first."""
        return list(reversed(self.jobs.of(sitting, "publish")))

    def close(self) -> None:
        """End all processes."""
        self.jobs.close()
        self.queries.close()

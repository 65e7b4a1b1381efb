"""A sitting: the recipes that a user made one after another, and their runs, in a private folder."""

import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import BadData, CannotWrite, UnknownName
from shoal.recipe import Recipe

CHANGES = 500
"""Most recipes that are kept for undo."""


def plain(recipe: Recipe) -> dict[str, Any]:
    """A recipe as plain data."""
    return recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)


def write_json(path: Path, data: Any) -> None:
    """Write plain data, completely or not at all, into a file that only its owner can read."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump(data, file, ensure_ascii=False, default=str)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise CannotWrite(f"The sitting {path.parent.name}", error) from error


def read_json(path: Path, otherwise: Any = None) -> Any:
    """Read plain data; `otherwise` where there is none, or it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return otherwise


@dataclass(slots=True)
class Sitting:
    """The work on one data set: every change is a new recipe in a list, and one of them is current."""

    folder: Path  # where everything is kept
    name: str = "New sitting"  # what the data is called
    made: float = field(default_factory=time.time)  # when it began, in seconds since 1970
    recipes: list[dict[str, Any]] = field(default_factory=list)
    """Plain recipes, each with what was changed in words."""
    place: int = -1  # the index of the current recipe; -1 where there is no data yet
    visited: list[str] = field(default_factory=list)  # the steps that were looked at
    revision: int = 0  # grows with every change that pages show, also with every run that begins or ends
    _read: tuple[dict[str, Any], Recipe] | None = field(default=None, init=False, repr=False)

    @property
    def key(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def recipe(self) -> Recipe | None:
        """The current recipe; None where there is no data yet."""
        if self.place < 0:
            return None
        kept = self.recipes[self.place]["recipe"]
        if self._read is None or self._read[0] is not kept:
            self._read = kept, Recipe(**kept)
        return self._read[1]

    @property
    def files(self) -> Path:
        """The folder of files that were uploaded or made for it."""
        return _private(self.folder / "files")

    @property
    def runs(self) -> Path:
        """The folder of its runs."""
        return _private(self.folder / "runs")

    def change(self, recipe: Recipe, said: str) -> bool:
        """Make another recipe the current one; undone ones are dropped. False where nothing differs."""
        new = plain(recipe)
        if self.place >= 0 and self.recipes[self.place]["recipe"] == new:
            return False
        self.recipes = [*self.recipes[: self.place + 1], {"recipe": new, "said": said, "at": time.time()}]
        self.recipes = self.recipes[-CHANGES:]
        self.place = len(self.recipes) - 1
        self.save()
        return True

    def go(self, steps: int) -> None:
        """Undo (-1) or redo (1)."""
        if 0 <= self.place + steps < len(self.recipes):
            self.place += steps
            self.save()

    def visit(self, step: str) -> None:
        """Remember that a step was looked at."""
        if step not in self.visited:
            self.visited.append(step)
            self.save()

    def save(self) -> None:
        """Write it to its folder."""
        self.revision += 1
        kept = {"name": self.name, "made": self.made, "recipes": self.recipes, "place": self.place}
        kept["visited"] = self.visited
        write_json(self.folder / "sitting.json", kept)


def _private(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@dataclass(slots=True)
class SittingStore:
    """All sittings, in a folder that only its owner may read."""

    folder: Path
    open: dict[str, Sitting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = self.folder.absolute()  # runs work elsewhere
        try:
            _private(self.folder)
            self.folder.chmod(0o700)
        except OSError as error:
            raise CannotWrite(f"The folder of the studio, {self.folder},", error) from error

    def begin(self, name: str = "New sitting") -> Sitting:
        """A new sitting."""
        sitting = Sitting(_private(self.folder / secrets.token_hex(6)), name)
        sitting.save()
        self.open[sitting.key] = sitting
        return sitting

    def find(self, key: str) -> Sitting:
        """A sitting by its key.

        Raises `UnknownName` if there is none. Raises `BadData` if its file can no longer be read.
        """
        if key in self.open:
            return self.open[key]
        if key not in self.keys():
            raise UnknownName("sitting", key, self.keys())
        kept = read_json(self.folder / key / "sitting.json")
        if not isinstance(kept, Mapping):
            raise BadData("this sitting can no longer be read; delete it.", self.folder / key)
        self.open[key] = Sitting(self.folder / key, **kept)
        return self.open[key]

    def keys(self) -> list[str]:
        """The keys of all sittings that are kept."""
        return sorted(path.parent.name for path in self.folder.glob("*/sitting.json"))

    def all(self) -> list[Sitting]:
        """All sittings that can be read and hold data, the newest first."""
        found = []
        for key in self.keys():
            try:
                found.append(self.find(key))
            except BadData:
                continue
        return sorted((one for one in found if one.place >= 0), key=lambda one: -one.made)

    def delete(self, key: str) -> None:
        """Delete a sitting with its files and runs."""
        sitting = self.find(key)
        shutil.rmtree(sitting.folder, ignore_errors=True)
        self.open.pop(key, None)


def usual_folder() -> Path:
    """Where sittings are kept by default."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "shoal" / "studio"

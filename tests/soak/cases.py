"""A case: a recipe, its files and their content, all drawn from one number."""

import base64
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.soak.sets import basket_case
from tests.soak.tables import table_case

from shoal import registry
from shoal.data.table import Table

METHODS = list(registry.load_all("method"))


@dataclass
class Case:
    """A recipe to be run and judged.

    Parameters
    ----------
    files
        The files that the recipe names, by name.
    recipe
        The recipe as plain data, with names of files for paths.
    promises
        What is promised of a table, as models; a method of baskets has it in its parameters.
    rows
        The content of the data: rows of texts, or baskets as lists of items.
    records
        The rows of a second table, each with the number of the person's row under the name of the key.
    measured, reported, tampered, proved, shuffled
        Whether the measures run, the report is written, and the release is falsified afterwards; whether it is also
        proved by the engine `stream`, and made again with secrets that have changed places.
    """

    seed: int
    files: dict[str, bytes]
    recipe: dict[str, Any]
    promises: list[dict[str, Any]]
    rows: list[Any]
    measured: bool = False
    reported: bool = False
    tampered: bool = False
    proved: bool = False
    shuffled: bool = False
    records: list[Any] = field(default_factory=list)

    @property
    def method(self) -> str:
        return str(self.recipe["method"]["name"])

    @property
    def is_table(self) -> bool:
        return registry.load("method", self.method).accepts is Table

    def lay_out(self, folder: Path) -> dict[str, Any]:
        """Write the files into a folder, and return the recipe with paths in it."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        recipe = json.loads(json.dumps(self.recipe))
        recipe["source"]["path"] = str(folder / recipe["source"]["path"])
        for column, spec in recipe["hierarchies"].items():
            if spec in self.files:
                recipe["hierarchies"][column] = str(folder / spec)
        if "link" in recipe["roles"]:
            recipe["roles"]["link"] = str(folder / recipe["roles"]["link"])
        if "population" in recipe["method"]:
            recipe["method"]["population"] = str(folder / recipe["method"]["population"])
        return recipe

    def text(self, faults: list[str]) -> str:
        """The case as the text of a file, from which it can be run again."""
        plain = asdict(self)
        plain["files"] = {name: _shown(content) for name, content in self.files.items()}
        return json.dumps({"broken": faults, **plain}, ensure_ascii=False, indent=1)

    @classmethod
    def read(cls, path: Path) -> "Case":
        """A case from such a file."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain.pop("broken")
        plain["files"] = {name: _hidden(text) for name, text in plain["files"].items()}
        return cls(**plain)


def _shown(content: bytes) -> str:
    try:
        return f"text:{content.decode()}"
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(content).decode()}"


def _hidden(text: str) -> bytes:
    kind, _, rest = text.partition(":")
    return rest.encode() if kind == "text" else base64.b64decode(rest)


def draw(seed: int) -> Case:
    """The case with a number; methods take turns, so that enough cases in a row cover all of them."""
    random = Random(seed)
    method = METHODS[seed % len(METHODS)]
    make = table_case if registry.load("method", method).accepts is Table else basket_case
    parts = make(random, method)
    parts["recipe"]["output"] = {
        "format": random.choice(["csv", "csv", "csv", "parquet"]) if make is table_case else "csv"
    }
    parts["recipe"]["seed"] = random.choice([None, random.randrange(1000)])
    measured = random.random() < 0.1
    return Case(
        seed=seed,
        **parts,
        measured=measured,
        reported=measured and random.random() < 0.2,
        tampered=random.random() < 0.3,
        proved=random.random() < 0.2,
        shuffled=random.random() < 0.6,
    )

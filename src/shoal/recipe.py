"""A recipe: a whole run as a TOML file, which can be read and written. What to read, roles, method, where to write.

::

    [source]
    path = "adult.csv"          # beside the recipe; or "-", or postgresql://…
    hierarchies_folder = "trees"   # <column>.csv and *_hierarchy_<column>.csv

    [source.reading]
    missing = ["?"]

    [roles]
    quasi = ["age", "education-num"]
    sensitive = ["occupation"]
    others = "drop"

    [hierarchies]
    age = "intervals:5,10,20"   # a builder, or the path of a file

    [[preparation]]             # before the method, in this order
    name = "top-coding"
    limits = { age = 90 }

    [method]
    name = "mondrian"
    k = 10

    [output]
    folder = "out"
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from pydantic import Field, ValidationError

from shoal import registry
from shoal.addresses import without_passwords
from shoal.data.role import Roles as Roles
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.errors import explain as explain
from shoal.io.reading import Reading
from shoal.io.releases.terms import Terms
from shoal.io.source import existing_file, refuse_address
from shoal.parameters import Parameters, without_nones

if TYPE_CHECKING:
    from shoal.engines.protocol import Engine
    from shoal.measures.measure import Measure
    from shoal.methods.method import Method
    from shoal.preparation.transform import Transform

    EngineName: TypeAlias = str
else:
    EngineName = Literal[tuple(registry.ENGINES)]

PATHS = frozenset({"population"})
"""Parameters of methods whose values are paths of files."""


class Source(Parameters):
    """The source of the data, and how to read it."""

    path: str = Field(description="a file, - for standard input, or postgresql://… and sqlite:///…")
    reading: Reading = Field(default_factory=Reading, description="how to read a table")
    baskets: str | None = Field(
        default=None, description="layout of baskets: lines, spmf, long:ID,ITEM, matrix or column:NAME"
    )
    hierarchies_folder: str | None = Field(
        default=None, description="folder of hierarchies: <column>.csv and *_hierarchy_<column>.csv"
    )


class Running(Parameters):
    """The engine that does the work, and its limits."""

    engine: EngineName = Field(
        default="local",
        description="where the work is done: in this machine's memory, on a Spark cluster, or here with rows in files",
    )
    master: str | None = Field(
        default=None,
        description="with spark: the cluster, spark://HOST:PORT; local[*], all cores of this machine, by default",
    )
    memory: str | None = Field(
        default=None,
        description="with stream and spark: the most memory on this machine, of the program and with spark of its JVM "
        "and Python workers; 4GB by default",
    )

    def open(self) -> "Engine":
        """Open the engine; the caller closes it.

        Raises `WrongUse` for an option that has no effect on this engine: nobody should trust a memory limit that
        limits nothing.
        """
        return self.kind.within(self.memory, self.master)

    @property
    def kind(self) -> type["Engine"]:
        """The class of the engine."""
        kind: type[Engine] = registry.load("engine", self.engine)
        return kind


class Output(Terms):
    """Where the release is written, and the texts for its recipients."""

    folder: str | None = Field(default=None, description="the release folder to make (needed)")
    format: Literal["csv", "parquet"] = Field(default="csv", description="format of a published table")
    safe_cells: bool = Field(
        default=False,
        description="in csv: an apostrophe before cells of a published table that a spreadsheet would run as formulas",
    )
    to: str | None = Field(default=None, description="also into a database: postgresql://…?table=NAME")
    also: tuple[Literal["xlsx", "sav", "dta"], ...] = Field(
        default=(),
        description="copies of a published table beside it, with labels: xlsx (Excel), sav (SPSS), dta (Stata)",
    )
    value_map: str | None = Field(
        default=None,
        description="private: a csv of every value of the original, how it is published and in how many rows",
    )
    report: bool = Field(default=True, description="write report.html")
    pdf: bool = Field(default=False, description="print it as report.pdf too, by Chromium, Chrome or Edge")
    max_risk: dict[str, float] = Field(
        default_factory=dict,
        description="attack to the largest residual risk: above it nothing is published (see `shoal attack`)",
    )
    strict: bool = Field(default=False, description="publish nothing where there is a warning")
    after: tuple[str, ...] = Field(
        default=(),
        description="earlier releases of the same people, OUT1 or OUT1=ORIGINAL: nothing is published where all of "
        "them together break a promise",
    )
    who: str | None = Field(
        default=None,
        description="with --after: the column that says who is who here and there; the identifying one by "
        "default",
    )


class Recipe(Parameters):
    """Everything that a run needs, as plain data."""

    source: Source
    roles: Roles = Roles()
    hierarchies: dict[str, str] = Field(
        default_factory=dict,
        description="column to builder or file; `items` to that of the items of baskets",
    )
    preparation: tuple[dict[str, Any], ...] = Field(
        default=(), description="what is done to columns before the method: names and parameters of steps"
    )
    method: dict[str, Any] = Field(description="name and parameters of the method")
    seed: int | None = Field(default=None, ge=0, description="for methods that draw random numbers")
    measures: tuple[str | dict[str, Any], ...] = Field(
        default=(),
        description="measures beside those that always run: names, or tables with name and options",
    )
    running: Running = Running()
    output: Output = Output()

    def the_measures(self) -> tuple["Measure", ...]:
        """The additional measures with their options, checked."""
        return tuple(make_measure(one) for one in self.measures)

    def the_preparation(self) -> tuple["Transform", ...]:
        """The steps of the preparation, checked."""
        return tuple(make_transform(one) for one in self.preparation)

    def the_method(self) -> "Method":
        """The method with its parameters, checked."""
        return make_method(self.method)

    def ready(self) -> "tuple[Method, Engine]":
        """The method with its parameters, checked, and then the opened engine, which the caller closes."""
        return self.the_method(), self.running.open()

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a recipe from a file; its relative paths are relative to the folder of that file."""
        path = Path(path)
        try:
            recipe = cls.model_validate(read_toml(path))
        except ValidationError as error:
            raise WrongUse(f"{path}: {explain(error)}") from error
        return recipe._moved(lambda place: os.path.join(path.parent, place))

    def write(self, path: str | Path) -> None:
        """Write the recipe as TOML, without passwords; its relative paths become relative to the folder of the file."""
        import tomli_w

        refuse_address(path, writing=True)
        path = Path(path)
        moved = self._moved(lambda place: os.path.relpath(place, path.parent))
        plain = moved.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
        try:
            path.write_text(tomli_w.dumps(without_passwords(without_nones(plain))), encoding="utf-8")
        except OSError as error:
            raise CannotWrite(f"The recipe {path}", error) from error

    def _moved(self, move: Any) -> Self:
        """The same recipe with `move` applied to every relative path."""

        def moved(place: str) -> str:
            local = place != "-" and "://" not in place and not os.path.isabs(place)
            return move(place) if local else place

        def moved_hierarchy(column: str, spec: str) -> str:
            return moved(spec) if names_folder(column, spec) or is_hierarchy_file(spec) else spec

        places = {name: getattr(self.source, name) for name in ("path", "hierarchies_folder")}
        return self.model_copy(
            update={
                "source": self.source.model_copy(
                    update={name: moved(place) for name, place in places.items() if place is not None}
                ),
                "roles": with_moved_files(self.roles, moved),
                "hierarchies": {
                    column: moved_hierarchy(column, spec) for column, spec in self.hierarchies.items()
                },
                "preparation": tuple(
                    {name: moved(value) if name == "key" else value for name, value in step.items()}
                    for step in self.preparation
                ),
                "method": {
                    name: moved(value) if name in PATHS and isinstance(value, str) else value
                    for name, value in self.method.items()
                },
                "output": self.output.model_copy(
                    update={
                        name: moved(place)
                        for name in ("folder", "value_map")
                        if (place := getattr(self.output, name))
                    }
                    | {"after": tuple("=".join(map(moved, one.split("=", 1))) for one in self.output.after)}
                ),
            }
        )


def with_moved_files(roles: Roles, move: Callable[[str], str]) -> Roles:
    """The roles with `move` applied to the paths of the files of items or records that they name."""
    found = {}
    for name in ("items_from", "link"):
        if (spec := getattr(roles, name)) is not None:
            path, colon, columns = spec.rpartition(":")
            found[name] = f"{move(path)}{colon}{columns}"
    return roles.model_copy(update=found) if found else roles


def is_hierarchy_file(spec: str) -> bool:
    """Whether a hierarchy is given as a file; otherwise it is a builder such as ``intervals:5,10``."""
    return Path(spec).suffix.lower() in {".csv", ".txt", ".json", ".tsv"} or os.path.isfile(spec)


def names_folder(column: str, spec: object) -> bool:
    """Whether an entry of the hierarchies names a folder of files: older recipes have one under ``folder``.

    A column may be called ``folder`` too. Its hierarchy is a builder, a file or an object, and never a folder.

    >>> names_folder("folder", "trees"), names_folder("folder", "suppress"), names_folder("age", "trees")
    (True, False, False)
    """
    from shoal.data._hierarchy_builders import BUILDERS

    if column != "folder" or not isinstance(spec, str):
        return False
    return not is_hierarchy_file(spec) and spec.partition(":")[0] not in BUILDERS


def make_method(parameters: dict[str, Any]) -> "Method":
    """Make a method from its name and parameters; the error names every wrong one."""
    given = {key.replace("-", "_"): value for key, value in parameters.items()}
    name = given.pop("name", None)
    if name is None:
        raise WrongUse('The recipe names no method; write name = "mondrian" under [method].')
    method: Method = registry.load("method", name)(**given)
    return method


def make_transform(given: "Mapping[str, Any] | Transform") -> "Transform":
    """Make a preparation step from its name and parameters; a finished step is returned as it is."""
    if not isinstance(given, Mapping):
        return given
    options = {key.replace("-", "_"): value for key, value in given.items() if key != "name"}
    if "name" not in given:
        raise WrongUse(
            'A step of the preparation has no name; write name = "top-coding" under [[preparation]].'
        )
    made: Transform = registry.load("transform", str(given["name"]))(**options)
    return made


def step_as_data(step: "Transform") -> dict[str, Any]:
    """A preparation step as plain data that `make_transform` takes."""
    return {"name": step.name, **step.model_dump(mode="json", exclude_defaults=True)}


def make_measure(given: str | Mapping[str, Any]) -> "Measure":
    """Make a measure from its name, or from its name and options."""
    plain = {"name": given} if isinstance(given, str) else given
    options = {option: value for option, value in plain.items() if option != "name"}
    name = plain.get("name", "")
    if name not in registry.MEASURES and (giving := measures_of(name)):
        raise WrongUse(f"{name!r} is a score of the measure {' and of '.join(giving)}: ask for that.")
    made: Measure = registry.load("measure", name)(**options)
    return made


def measures_of(score: str) -> list[str]:
    """The names of the measures that yield a score of this name."""
    return [name for name, kind in registry.load_all("measure").items() if score in kind.scores_named]


def parameters_of(method: "Method") -> dict[str, Any]:
    """A method as plain data that `make_method` takes: its name, and the parameters that differ from their defaults."""
    private = {
        name: getattr(method, name)
        for name, field in type(method).model_fields.items()
        if field.exclude and getattr(method, name) != field.default
    }
    return {"name": method.name, **method.model_dump(mode="json", exclude_defaults=True), **private}


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises `BadData` if it does not exist, is not text, or is not TOML."""
    import tomllib

    try:
        return tomllib.loads(existing_file(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadData(f"the recipe cannot be read: {error.strerror}.", path=path) from error
    except UnicodeDecodeError as error:
        raise BadData("the recipe is not UTF-8 text.", path=path) from error
    except tomllib.TOMLDecodeError as error:
        raise BadData(f"this is not TOML: {error}.", path=path) from error

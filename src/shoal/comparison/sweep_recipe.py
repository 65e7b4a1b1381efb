"""The recipe of a comparison, a TOML file: which data, which methods with which parameters, which charts.

::

    title = "What k costs"
    question = "How much detail does a larger k cost?"

    [datasets.people]
    generate = "table"          # or public = "adult/adult.data.gz" (under SHOAL_DATA), or path = "mine.csv"
    rows = 10000
    roles = { quasi = ["age", "education"], sensitive = ["disease"], others = "drop" }

    [[sweep]]
    name = "k"
    datasets = ["people"]
    methods = ["mondrian"]
    grid = { k = [2, 5, 10, 25, 50], split = ["widest", "random"] }
    seeds = [1, 2, 3]

    [[chart]]
    sweep = "k"
    x = "k"
    y = "lm"

    [quick]                     # what `--quick` makes smaller
    rows = 1000
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, Field, ValidationError, model_validator

from shoal.errors import UnknownName, WrongUse, fault_text, wanted
from shoal.io.reading import Reading
from shoal.parameters import Parameters
from shoal.recipe import Roles, read_toml

TABLES = {"sweep": ("name",), "chart": ("name", "sweep"), "published": ("label", "chart")}
"""Tables that a recipe can have several of, and the keys that tell them apart."""

ALTERNATIVES = frozenset({"str", "int", "float", "bool"})
"""Pydantic's names for simple alternatives of a value; names of other alternatives contain a bracket."""

Place = tuple[str | int, ...]


def explained(error: ValidationError, recipe: Mapping[str, Any], kind: type[BaseModel]) -> str:
    """Say what is wrong with a recipe: in which table and key, what is allowed there, and what was found.

    `recipe`: the recipe as it was read. `kind`: the model it does not fit.
    """
    found: dict[Place, list[Mapping[str, Any]]] = {}
    for problem in error.errors():
        found.setdefault(_without_alternatives(problem["loc"]), []).append(problem)
    return " ".join(
        f"{_said(place, problems, recipe, kind)}."
        for place, problems in found.items()
        # A list is not wrong itself where only one of its entries is.
        if not any(len(other) > len(place) and other[: len(place)] == place for other in found)
    )


def _without_alternatives(place: Place) -> Place:
    return tuple(
        part for part in place if isinstance(part, int) or (part not in ALTERNATIVES and "[" not in part)
    )


def _said(
    place: Place, problems: Sequence[Mapping[str, Any]], recipe: Mapping[str, Any], kind: type[BaseModel]
) -> str:
    first, where = problems[0], _called(place, recipe)
    if len(problems) > 1:
        return f"{where} must be {' or '.join(dict.fromkeys(map(wanted, problems)))}, not {first['input']!r}"
    if first["type"] == "value_error" and isinstance(first["input"], dict):
        return f"{where} must be {wanted(first)}"  # without repeating the whole table
    return fault_text(where, first, _keys(place[:-1], kind))


def _called(place: Place, recipe: Mapping[str, Any]) -> str:
    """A place in a recipe, in words.

    >>> _called(("sweep", 0, "seeds", 1), {"sweep": [{"name": "cost"}]})
    'sweep cost: entry 2 of seeds'
    """
    table, rest = "", place
    match place:
        case (str(head), int(number), *keys) if head in TABLES:
            entry = recipe[head][number]
            names = [entry[key] for key in TABLES[head] if entry.get(key)] if isinstance(entry, dict) else []
            name = names[0] if names and isinstance(names[0], str) else f"number {number + 1}"
            table, rest = f"{head} {name}", tuple(keys)
        case ("datasets", str(name), *keys):
            table, rest = f"dataset {name}", tuple(keys)
    key = ""
    for part in rest:
        key = f"entry {part + 1} of {key}" if isinstance(part, int) else f"{key}.{part}" if key else part
    return f"{table}: {key}" if table and key else table or key


def _keys(place: Place, kind: type) -> list[str]:
    """The keys that a table of a recipe may have."""
    for part in place:
        annotations = {name: field.annotation for name, field in getattr(kind, "model_fields", {}).items()}
        kind = _table_in(annotations.get(str(part))) or kind
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(getattr(kind, "model_fields", ()))


def _table_in(annotation: Any) -> type | None:
    """The kind of table that an annotation names, such as `Sweep` in ``tuple[Sweep, ...]``."""
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
        return annotation
    return next((found for part in get_args(annotation) if (found := _table_in(part)) is not None), None)


Value = bool | int | float | str | list[Any] | dict[str, Any]
"""A value of a parameter, as TOML has it."""

Values = Annotated[list[Value], Field(min_length=1)]
"""Values that are tried one after another."""


def file_name(name: str) -> str:
    """A file name that is allowed on every system."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)


class Dataset(Parameters):
    """Data to compare on: a public file, a file of your own, or generated data."""

    public: str | None = Field(default=None, description="a file in the folder that SHOAL_DATA names")
    path: str | None = Field(default=None, description="a file; relative paths begin in the recipe's folder")
    generate: str | None = Field(default=None, description="table or baskets, as `shoal generate` makes them")
    shape: dict[str, Any] = Field(
        default_factory=dict, description="with generate: the options of `shoal generate`, such as items"
    )
    seed: int | Literal["each"] = Field(
        default=7, description='with generate: the seed of the data; "each" takes the seed of the run'
    )
    rows: int | None = Field(default=None, ge=1, description="only the first rows; or how many to generate")
    reading: Reading = Field(default_factory=Reading, description="how to read a table")
    baskets: str | None = Field(
        default=None, description="layout of baskets, where the file does not show it"
    )
    items: tuple[str, ...] | None = Field(default=None, description="with baskets: only these items")
    least_support: float | None = Field(
        default=None,
        ge=0,
        description="with baskets: only items in at least this many of them or, below 1, in at least this share",
    )
    roles: Roles | None = Field(default=None, description="roles of columns or items")
    hierarchies: dict[str, str] | None = Field(
        default=None, description="column to builder or file; `folder` to a folder of files"
    )
    otherwise: "Dataset | None" = Field(
        default=None,
        description="data to use where the public file is missing; roles and hierarchies are the same by default",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in ("public", "path", "generate") if getattr(self, name) is not None]
        if len(given) != 1:
            raise WrongUse(f"given by one of public, path and generate, not {' and '.join(given) or 'none'}")
        return self


class Draw(Parameters):
    """Items of baskets that are made sensitive at random, by the seed of the run. All others stay public.

    To draw a share of the items to be public, use ``roles = { public_share = 0.4 }``, as in `shoal anonymize`.
    """

    sensitive: int = Field(ge=1, description="number of sensitive items")
    below: float = Field(
        default=1.0, gt=0, le=1, description="only items that at most this share of the baskets holds"
    )
    above: int = Field(default=1, ge=1, description="only items that at least this many baskets hold")


class Sweep(Parameters):
    """Runs of methods over all combinations of parameters."""

    name: str = Field(description="its name in charts")
    datasets: tuple[str, ...] = Field(min_length=1, description="names of datasets")
    methods: tuple[str | dict[str, Any], ...] | Literal["all"] = Field(
        description='names of methods, or tables with name, label and parameters; "all" takes every method that '
        "accepts the data and knows the parameters"
    )
    parameters: dict[str, Any] = Field(default_factory=dict, description="the same in all runs")
    grid: dict[str, Values] = Field(
        default_factory=dict,
        description="lists of values: of parameters, of rows, of data.FIELD (shape), roles.FIELD, draw.FIELD and "
        "measures.MEASURE.OPTION",
    )
    seeds: tuple[int, ...] = Field(default=(1,), min_length=1, description="each combination with each seed")
    measures: tuple[str | dict[str, Any], ...] | None = Field(
        default=None,
        description="names of measures, or tables with name and options: only these; all that fit by default",
    )
    roles: Roles | None = Field(default=None, description="instead of those of the datasets")
    draw: Draw | None = Field(default=None, description="sensitive items to draw at random")
    timed: bool = Field(
        default=False,
        description="each run alone on the machine, in a process of its own, three times: seconds are those of the "
        "fastest",
    )
    repeats: int | None = Field(default=None, ge=1, description="how often to run; 3 if timed, otherwise 1")
    time_limit: float | None = Field(default=None, gt=0, description="seconds after which a run is given up")


class Chart(Parameters):
    """A chart of the results of runs."""

    name: str = Field(default="", description="name of its files; made from sweep, y and x by default")
    title: str = Field(default="", description="its heading")
    sweep: str | tuple[str, ...] = Field(description="the sweep, or sweeps, whose runs it shows")
    kind: Literal["line", "time", "frontier"] = Field(
        default="line",
        description="line: y against x with the spread over seeds; time: the same on logarithmic axes with the fitted "
        "exponent; frontier: all runs, and those that no other beats",
    )
    x: str = Field(default="", description="a column of the results; rows for time")
    y: str | tuple[str, ...] = Field(
        default="", description="a column, or several, for a picture each; seconds for time"
    )
    by: tuple[str, ...] | None = Field(
        default=None, description="columns that tell lines apart; by default, all that vary"
    )
    panels: str | None = Field(default=None, description="a column: one panel for each of its values")
    where: dict[str, Value] = Field(default_factory=dict, description="only runs with these values")
    log: Literal["", "x", "y", "xy"] | None = Field(
        default=None,
        description="logarithmic axes; by default, x where its values span more than a factor of 20",
    )
    zero: bool = Field(default=True, description="let the y axis begin at 0")
    prefer_x: Literal["high", "low"] = Field(
        default="high", description="for a frontier: which end of x is better"
    )
    prefer_y: Literal["high", "low"] | None = Field(
        default=None, description="for a frontier: which end of y is better; by default, as the score says"
    )
    titles: dict[str, str] = Field(
        default_factory=dict, description="words for columns, on axes and in the legend"
    )

    @property
    def sweeps(self) -> tuple[str, ...]:
        """The names of the sweeps."""
        return (self.sweep,) if isinstance(self.sweep, str) else self.sweep

    def pictures(self) -> list[Self]:
        """One chart for each y, with all settings."""
        timed = self.kind == "time"
        x = self.x or ("rows" if timed else "")
        ys = (self.y,) if isinstance(self.y, str) else self.y
        made = []
        for y in ys:
            y = y or ("seconds" if timed else "")
            base = self.name or f"{'-'.join(self.sweeps)}-{x}"
            name = base if self.name and len(ys) == 1 else f"{base}-{y}"
            title = self.title if len(ys) == 1 or not self.title else f"{self.title}: {self.titles.get(y, y)}"
            update = {"x": x, "y": y, "title": title, "name": file_name(name)}
            made.append(self.model_copy(update=update))
        return made

    @model_validator(mode="after")
    def _has_axes(self) -> Self:
        if self.kind != "time" and not (self.x and self.y):
            raise WrongUse("complete: x and y name the columns to draw")
        return self


class Published(Parameters):
    """Values published elsewhere, drawn beside those of the runs."""

    chart: str = Field(description="the name of a chart; or of a sweep, for the charts that draw it")
    y: str | None = Field(
        default=None, description="the column that they are values of, where such charts draw several"
    )
    label: str = Field(description="their source")
    at: list[float | str] = Field(description="their places on the x axis")
    values: list[float] = Field(description="the value at each place")

    @model_validator(mode="after")
    def _even(self) -> Self:
        if len(self.at) != len(self.values):
            raise WrongUse("even: one value for each place")
        return self


class Quick(Parameters):
    """What `--quick` makes smaller."""

    rows: int = Field(
        default=1000,
        ge=1,
        description="most rows of a dataset; in a list of rows, of the last, and a quarter at most of each before it",
    )
    values: int = Field(
        default=2, ge=1, description="most values of each list of a grid, from the first to the last"
    )
    seeds: int = Field(default=1, ge=1, description="most seeds")
    grid: dict[str, Values] = Field(default_factory=dict, description="these values instead")
    skip: tuple[str, ...] = Field(default=(), description="sweeps to leave out, with their charts")
    datasets: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="other fields of a dataset, by its name"
    )
    sweeps: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="other fields of a sweep, by its name"
    )


class Comparison(Parameters):
    """Everything that a comparison needs, as data."""

    title: str = Field(description="what it is about")
    question: str = Field(default="", description="what the pictures answer")
    reading: str = Field(default="", description="what the pictures show, in the author's words")
    datasets: dict[str, Dataset] = Field(min_length=1)
    sweep: tuple[Sweep, ...] = Field(min_length=1)
    chart: tuple[Chart, ...] = ()
    published: tuple[Published, ...] = ()
    quick: Quick = Quick()

    def checked(self) -> Self:
        """The same comparison, once its names are checked.

        Raises `WrongUse` if a name refers to nothing, or is given twice.
        """
        names = [sweep.name for sweep in self.sweep]
        for name in (
            *self.quick.skip,
            *self.quick.sweeps,
            *(one for chart in self.chart for one in chart.sweeps),
        ):
            if name not in names:
                raise UnknownName("sweep", name, names)
        for name in (*self.quick.datasets, *(one for sweep in self.sweep for one in sweep.datasets)):
            if name not in self.datasets:
                raise UnknownName("dataset", name, self.datasets)
        for one in self.published:
            self._check_published(one)
        for kind, given in (
            ("sweeps", names),
            ("charts", [picture.name for chart in self.chart for picture in chart.pictures()]),
        ):
            if twice := [name for name, count in Counter(given).items() if count > 1]:
                raise WrongUse(f"Two {kind} are called {twice[0]!r}; give one of them another name.")
        return self

    def beside(self, picture: Chart) -> list[Published]:
        """The values from elsewhere that a picture shows."""
        return [one for one in self.published if picture.name in {of.name for of in self._drawn_in(one)}]

    def _drawn_in(self, one: Published) -> list[Chart]:
        """The pictures that show values from elsewhere: those of the chart of that name, or else of the sweep."""
        named = [chart for chart in self.chart if chart.name == one.chart]
        charts = named or [chart for chart in self.chart if one.chart in chart.sweeps]
        pictures = [picture for chart in charts for picture in chart.pictures()]
        return [picture for picture in pictures if one.y in (None, picture.y)]

    def _check_published(self, one: Published) -> None:
        """Refuse values from elsewhere that no picture shows, or that would be shown on different axes."""
        charts = [name for chart in self.chart for name in (chart.name, *chart.sweeps) if name]
        if one.chart not in charts:
            raise UnknownName("chart", one.chart, dict.fromkeys(charts))
        pictures = self._drawn_in(one)
        if not pictures:
            drawn = dict.fromkeys(str(of.y) for of in self._drawn_in(one.model_copy(update={"y": None})))
            raise UnknownName(f"y in the charts of {one.chart!r} called", str(one.y), drawn)
        if one.chart in (chart.name for chart in self.chart):
            return
        for axis, remedy in (
            ("y", f'say which with y = "{pictures[0].y}"'),
            ("x", "give their chart a name"),
        ):
            if len(several := dict.fromkeys(str(getattr(of, axis)) for of in pictures)) > 1:
                raise WrongUse(
                    f"published {one.label}: these are values of one {axis}, and the charts of the sweep {one.chart} "
                    f"have {' and '.join(several)}; {remedy}."
                )

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a recipe; its relative paths begin in its folder."""
        path = Path(path)
        plain = read_toml(path)
        try:
            return cls.model_validate(plain).checked()
        except ValidationError as error:
            raise WrongUse(f"{path}: {explained(error, plain, cls)}") from error
        except WrongUse as error:
            raise WrongUse(f"{path}: {error}") from error

    def made_quick(self) -> Self:
        """The same comparison, small enough for a test."""
        quick = self.quick
        plain = self.model_dump(exclude_unset=True)
        for name, dataset in plain["datasets"].items():
            _cap(dataset, quick.rows)
            dataset |= quick.datasets.get(name, {})
        sweeps = [sweep for sweep in plain["sweep"] if sweep["name"] not in quick.skip]
        seeds = {sweep.name: sweep.seeds for sweep in self.sweep}
        for sweep in sweeps:
            grid = sweep.setdefault("grid", {})
            for axis, values in grid.items():
                few = _ends(values, quick.values)
                if axis == "rows":
                    few = _fewer_rows(few, quick.rows)
                grid[axis] = quick.grid.get(axis, few)
            sweep["seeds"] = seeds[sweep["name"]][: quick.seeds]
            sweep["repeats"] = 1
            sweep |= quick.sweeps.get(sweep["name"], {})
        names = {sweep["name"] for sweep in sweeps}
        charts = [chart for chart in self.chart if set(chart.sweeps) <= names]
        kept = {picture.name for chart in charts for picture in chart.pictures()}
        small = {
            **plain,
            "sweep": sweeps,
            "chart": charts,
            "published": [one for one in self.published if kept & {of.name for of in self._drawn_in(one)}],
            "quick": Quick(),
        }
        try:
            return type(self).model_validate(small).checked()
        except ValidationError as error:
            raise WrongUse(f"In its quick form: {explained(error, small, type(self))}") from error


def _cap(dataset: dict[str, Any], rows: int) -> None:
    dataset["rows"] = min(dataset.get("rows") or dataset.get("shape", {}).get("rows") or rows, rows)
    if dataset.get("otherwise"):
        _cap(dataset["otherwise"], rows)


def _fewer_rows(values: list[Any], most: int) -> list[int]:
    """Smaller numbers of rows: the largest is at most `most`, and each before it at most a quarter of the next limit.

    >>> _fewer_rows([1000, 10000, 100000], 1000), _fewer_rows([100, 300000], 1000)
    ([62, 250, 1000], [100, 1000])
    """
    return sorted({min(int(value), max(most // 4**back, 1)) for back, value in enumerate(reversed(values))})


def _ends(values: list[Any], count: int) -> list[Any]:
    """At most `count` values of a list, evenly spread from the first to the last.

    >>> _ends([1, 2, 3, 4, 5], 3), _ends([1, 2], 3), _ends([1, 2, 3], 1)
    ([1, 3, 5], [1, 2], [1])
    """
    if len(values) <= count:
        return list(values)
    return [values[round(place * (len(values) - 1) / max(count - 1, 1))] for place in range(count)]

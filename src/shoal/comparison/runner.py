"""Runs a comparison: keeps the runs that are finished, carries out the others, and draws the charts."""

import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from shoal.addresses import without_passwords
from shoal.comparison.curves import Figure, figure_of
from shoal.comparison.grid import Cell, cells_of
from shoal.comparison.results import Row, frame_of, refuse_unknown_columns, row_of, write_results
from shoal.comparison.run_data import generator_of, reading_of, with_column_roles
from shoal.comparison.sweep_recipe import Chart, Comparison
from shoal.comparison.tally import Tally, Tell
from shoal.comparison.workers import answers
from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind
from shoal.data.related import Related
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, CannotWrite, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.input import Input
from shoal.recipe import Roles
from shoal.sources import folder_and_columns, give_hierarchies, with_item_hierarchy

if TYPE_CHECKING:
    import polars


AGAIN = frozenset({"failed", "crashed"})
"""Outcomes of runs that are tried again when the comparison is run again."""


class Journal:
    """A file of JSON lines that is only appended to; a crash can spoil only the last line, which is then ignored.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     with Journal(path) as journal:
    ...         journal.add("a", {"status": "done"})
    ...     _ = path.write_text(path.read_text() + '{"key": "b", "ans')
    ...     Journal(path).finished()
    {'a': {'status': 'done'}}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def finished(self) -> dict[str, dict[str, Any]]:
        """The last answer of each run, by its key."""
        found = {}
        whole = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(whole[: whole.rfind(b"\n") + 1].splitlines(), 1):
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry["answer"]
            except (ValueError, KeyError, TypeError) as error:
                raise BadData(
                    "this line is not a run; start over with --force.", path=self.path, line=number
                ) from error
        return found

    def __enter__(self) -> Self:
        try:
            self._file = self.path.open("ab")
            # A line that a crash cut short must not run into the next one.
            whole = self.path.read_bytes()
            self._file.truncate(whole.rfind(b"\n") + 1)
        except OSError as error:
            raise CannotWrite(f"The journal {self.path}", error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: str, answer: Mapping[str, Any]) -> None:
        """Append a finished run, and wait until it is on disk."""
        assert self._file is not None
        when = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"key": key, "when": when, "answer": without_passwords(answer)}, ensure_ascii=False)
        try:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise CannotWrite(f"The journal {self.path}", error) from error


JOURNAL, RECIPE = "runs.jsonl", "recipe.toml"


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A chart of the recipe: its content and its SVG, or why there is nothing to draw."""

    chart: Chart
    figure: Figure | None
    svg: str
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A finished comparison."""

    comparison: Comparison  # the recipe, in its quick form if that was run
    rows: tuple[Row, ...]  # one per run, in the order of the recipe
    pictures: tuple[Picture, ...]  # in the order of the recipe
    folder: Path  # where everything was written
    resumed: int  # how many runs had been finished before
    quick: bool  # whether it is the small form
    meanings: Mapping[str, str]  # what each score means, in one sentence

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"<Compared: {counted(len(self.rows), 'runs')} ({counts}) in {self.folder}>"

    def to_frame(self) -> "polars.DataFrame":
        """The results as a polars frame: parameters, scores, seconds and status, one row per run."""
        return frame_of(self.rows)

    @property
    def statuses(self) -> Mapping[str, int]:
        """The number of runs by their outcome."""
        return Counter(row["status"] for row in self.rows)


def compare(
    recipe: str | Path | Mapping[str, Any],
    folder: str | Path | None = None,
    *,
    quick: bool = False,
    jobs: int | None = None,
    force: bool = False,
    charts: bool = True,
    tell: Tell | None = None,
) -> Compared:
    """Run a comparison from its recipe, and write results, pictures and a page.

    Parameters
    ----------
    recipe
        A TOML file (see `shoal.comparison.sweep_recipe`), or the same as a dictionary. Its relative paths begin in the
        folder of the file, or in the current one.
    folder
        Where to write; by default, a folder with the name of the file. Runs that are finished there are not repeated;
        those that failed are.
    quick
        Run the small form.
    jobs
        How many runs to carry out at a time; by default, one per core. Timed runs are always alone.
    force
        Forget the runs that are finished there.
    charts
        Draw the pictures.
    tell
        For a progress bar: called with how many runs are finished, how many there are, and which are under way.

    Raises
    ------
    WrongUse
        If the recipe is wrong, the data lacks what it names, or the folder holds something else. A run that fails
        raises nothing: its failure is a result.
    """
    from shoal.comparison.comparison_page import write_page

    if jobs is not None and jobs < 1:
        raise WrongUse(f"The number of runs at a time must be at least 1, not {jobs} (--jobs).")
    with _recipe_file(recipe, folder) as (path, home):
        comparison = Comparison.read(path)
        if quick:
            comparison = comparison.made_quick()
        place = Path(path.stem if folder is None else folder)
        cells = cells_of(comparison, home)
        refuse_unknown_columns((one for chart in comparison.chart for one in chart.pictures()), cells)
        refuse_wrong_columns(cells)
        _prepare(place, path, force)
        found, resumed = _carried_out(cells, place, jobs or os.cpu_count() or 1, tell)
        rows = tuple(row_of(cell, found[cell.key]) for cell in cells)
        write_results(rows, place)
        kept = [found[cell.key] for cell in cells]
        pictures = tuple(_pictures(comparison, rows, kept, charts))
        if charts and pictures:
            _write_pictures(pictures, place)
        compared = Compared(comparison, rows, pictures, place, resumed, quick, _meanings(kept))
        write_page(compared, path)
    return compared


@contextmanager
def _recipe_file(
    recipe: str | Path | Mapping[str, Any], folder: str | Path | None
) -> Iterator[tuple[Path, Path]]:
    """The file of a recipe, and the folder where its relative paths begin."""
    if not isinstance(recipe, Mapping):
        yield Path(recipe), Path(recipe).resolve().parent
        return
    import tomli_w

    if folder is None:
        raise WrongUse("Say where to write: a comparison that is not a file needs a `folder`.")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, RECIPE)
        path.write_text(tomli_w.dumps(recipe), encoding="utf-8")
        yield path, Path.cwd()


def _prepare(folder: Path, recipe: Path, force: bool) -> None:
    """Make the folder, or check that it holds a comparison."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            if not (folder / JOURNAL).is_file():
                raise WrongUse(f"{folder} holds something other than a comparison; name another folder.")
            if force:
                (folder / JOURNAL).unlink()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / JOURNAL).touch()
        if not (folder / RECIPE).exists() or not os.path.samefile(recipe, folder / RECIPE):
            text = without_passwords(recipe.read_bytes().decode("utf-8"))
            (folder / RECIPE).write_bytes(text.encode())
    except OSError as error:
        raise CannotWrite(f"The comparison {folder}", error) from error


def _carried_out(
    cells: Sequence[Cell], folder: Path, jobs: int, tell: Tell | None
) -> tuple[dict[str, dict[str, Any]], int]:
    """The answer of each run, by its key, and how many had been finished before."""
    journal = Journal(folder / JOURNAL)
    found = journal.finished()
    missing = [cell for cell in cells if cell.key not in found or _again(cell, found[cell.key])]
    resumed = len(cells) - len(missing)
    tally = Tally(tell, len(cells), resumed)
    with journal:
        for cell, answer in answers(missing, jobs, lambda cell: tally.begun(_named(cell))):
            journal.add(cell.key, answer)
            found[cell.key] = answer
            tally.ended(_named(cell))
    return found, resumed


def _named(cell: Cell) -> str:
    """A run, in words."""
    return f"{cell.facts['sweep']}: {cell.facts['label']} on {cell.facts['dataset']}"


def _again(cell: Cell, answer: Mapping[str, Any]) -> bool:
    """Whether a finished run is to be tried again: it failed, or has more time now."""
    if answer["status"] == "timeout":
        return cell.time_limit is None or cell.time_limit > answer["limit"]
    return answer["status"] in AGAIN


def _pictures(
    comparison: Comparison, rows: Sequence[Row], found: Iterable[Mapping[str, Any]], draw: bool
) -> Iterator[Picture]:
    """Every picture of the recipe; a picture that cannot be drawn says why."""
    better = {name: end for answer in found for name, end in answer.get("better", {}).items()}
    for chart in (one for entry in comparison.chart for one in entry.pictures()):
        try:
            figure = figure_of(chart, rows, comparison.beside(chart), better)
        except UnknownName as error:
            yield Picture(chart, None, "", str(error.args[0]))
            continue
        svg = ""
        if draw and figure.series:
            from shoal.comparison import vega_charts as charts

            svg = charts.draw(figure)
        yield Picture(chart, figure, svg, "" if figure.series else "No run has a value to draw.")


def _meanings(found: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What each score means, without the words that differ from run to run."""
    meanings: dict[str, str] = {}
    for answer in found:
        for name, text in answer.get("meaning", {}).items():
            meanings[name] = common_words(meanings.get(name, text), text)
    return meanings


def common_words(one: str, other: str) -> str:
    """A sentence with an ellipsis wherever two sentences differ.

    >>> common_words("mean over k = 5; 1 is best", "mean over k = 25; 1 is best")
    'mean over k = …; 1 is best'
    >>> common_words(_, "mean over k = 2; 1 is best")
    'mean over k = …; 1 is best'
    >>> common_words("1/p is 0.25", "1/p is 0.1")
    '1/p is …'
    """
    if one == other:
        return one
    words = re.compile(r"\d[\d.,]*\d|\w+|…|[^\w…]+")
    pairs = zip(words.findall(one), words.findall(other), strict=False)
    return "".join(first if first == second else "…" for first, second in pairs)


def _write_pictures(pictures: Sequence[Picture], folder: Path) -> None:
    from shoal.comparison.vega_charts import picture as as_png

    place = folder / "charts"
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for one in pictures:
            if one.svg:
                (place / f"{one.chart.name}.svg").write_text(one.svg, encoding="utf-8")
                (place / f"{one.chart.name}.png").write_bytes(as_png(one.svg))
    except OSError as error:
        raise CannotWrite(f"The pictures in {place}", error) from error


LOOKED_AT = ("path", "generate", "form", "reading", "baskets", "roles", "hierarchies")
"""Parts of the plan of data that decide which columns the data must have."""

KINDS = {"intervals": Kind.NUMERIC, "dates": Kind.DATE}
"""The kind of column that a hierarchy builder requires, where it requires one."""


def refuse_wrong_columns(cells: Iterable[Cell]) -> None:
    """Refuse data without the columns that a recipe names, before anything runs.

    Checks the names and roles of columns, hierarchy files and the arguments of builders, but no cells: the runs find
    out which values a hierarchy lacks, and whether an item occurs.

    Raises `WrongUse` or `BadData` with the name of the dataset, or the path of the file.
    """
    looked_at: set[str] = set()
    headers: Headers = {}
    for cell in cells:
        data = cell.plan["data"]
        key = json.dumps([data.get(name) for name in LOOKED_AT], sort_keys=True)
        if key not in looked_at:
            looked_at.add(key)
            try:
                _refuse(data, headers)
            except WrongUse as error:
                raise WrongUse(f"dataset {cell.facts['dataset']}: {error}") from error


class Header(Input):
    """The column names of a file that is no longer open."""

    def __init__(self, opened: Input) -> None:
        self.names, self.path = opened.names, opened.path

    def frame(self, columns: Sequence[str]) -> "polars.DataFrame":
        """Not available."""
        raise NotImplementedError


Headers = dict[tuple[str, str], Header]
"""The columns of files, by their paths and how they are read, so that a large file is opened only once."""


def _header(path: str, reading: Reading, headers: Headers) -> Header:
    from shoal.io.tables.load import open_input

    key = path, repr((reading.separator, reading.names, reading.sheet, reading.query))
    if key not in headers:
        headers[key] = Header(open_input(path, reading))
    return headers[key]


def _refuse(data: Mapping[str, Any], headers: Headers) -> None:
    if data["form"] == "baskets":
        if "path" in data and data["baskets"] is not None:
            _refuse_layout(data, headers)
        with_item_hierarchy(
            Baskets(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), ()), data["hierarchies"]
        )
    else:
        table = _made(data) if "generate" in data else _read(data, headers)
        give_hierarchies(table, data["hierarchies"])


def _made(data: Mapping[str, Any]) -> Table:
    """The columns that a generator makes, with their roles and without rows."""
    one_row = generator_of({**data, "rows": 1}).make(0)
    columns = with_column_roles(one_row, Roles(**data["roles"])).columns
    return Table(tuple(_empty(column.name, column.role, column.domain.kind) for column in columns))


def _read(data: Mapping[str, Any], headers: Headers) -> Table:
    """The columns of a file, with their roles and without rows.

    Unless it is given, the kind of a column is not known before its cells are read; until then it is the kind that its
    hierarchy asks for.
    """
    from shoal.io.tables.items_from import split_spec
    from shoal.io.tables.linked_records import of_records, roles_apart, split_link
    from shoal.io.tables.load import assigned_roles

    roles, reading = Roles(**data["roles"]), reading_of(data)
    _, named = folder_and_columns(data["hierarchies"], None)
    also = {*reading.kinds, *reading.orders, *named}
    builders = {name: str(spec).partition(":")[0] for name, spec in named.items()}
    opened = _header(data["path"], reading, headers)

    def empty(columns: Iterable[tuple[str, Role]]) -> Table:
        kinds = {name: reading.kind_of(name) or KINDS.get(builders.get(name, "")) for name, _ in columns}
        return Table(tuple(_empty(name, role, kinds[name] or Kind.NOMINAL) for name, role in columns))

    if roles.link is not None:
        path, key = split_link(roles.link)
        other = _header(path, of_records(path, reading), headers)
        first, second = roles_apart(roles, key, opened, other)
        there = also & set(other.names)
        persons, records = (
            empty(assigned_roles(opened, first, also - there)),
            empty(assigned_roles(other, second, there)),
        )
        return Related(persons.columns, records, np.empty(0, dtype=np.int64), key)
    if roles.items_from is not None:
        item = split_spec(roles.items_from)[2]
        plain = roles.model_copy(update={"items_from": None})
        return empty([*assigned_roles(opened, plain, also - {item}), (item, Role.ITEMS)])
    return empty(assigned_roles(opened, roles, also))


def _empty(name: str, role: Role, kind: Kind) -> Column:
    values = np.empty(0) if kind in (Kind.NUMERIC, Kind.DATE) else None
    return Column(name, role, Domain(kind, (), values), np.empty(0, dtype=np.int32))


def _refuse_layout(data: Mapping[str, Any], headers: Headers) -> None:
    """Refuse a layout that names columns which the file does not have."""
    from shoal.io.baskets.layouts import parse_layout

    layout = parse_layout(data["baskets"], reading_of(data).separator)
    if layout.columns:
        between_cells = layout.separator if layout.form == "long" else None
        opened = _header(data["path"], Reading(separator=between_cells), headers)
        for name in layout.columns:
            if name not in opened.names:
                raise UnknownName("column", name, opened.names, opened.path)

"""A comparison from its recipe to its folder: what is finished is kept, what is not is run, and all is drawn."""

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.addresses import without_passwords
from shoal.comparison.curves import Figure, figure_of
from shoal.comparison.grid import Cell, cells_of
from shoal.comparison.journal import AGAIN, Journal
from shoal.comparison.results import Row, frame_of, refuse_unknown_columns, row_of, write_results
from shoal.comparison.scheduler import answers
from shoal.comparison.sweep_recipe import Chart, Comparison
from shoal.data._plural import counted
from shoal.errors import CannotWrite, UnknownName, WrongUse

if TYPE_CHECKING:
    import polars

JOURNAL, RECIPE = "runs.jsonl", "recipe.toml"

Tell = Callable[[int, int, str], None]
"""Told how many runs are finished, how many there are, and what the last one was."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A chart of the recipe: what it shows, and how it looks as SVG; or why there is nothing to see."""

    chart: Chart
    figure: Figure | None
    svg: str
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A finished comparison."""

    comparison: Comparison  # the recipe, in its quick form if that was run
    rows: tuple[Row, ...]  # one a run, in the order of the recipe
    pictures: tuple[Picture, ...]  # in the order of the recipe
    folder: Path  # where everything is
    resumed: int  # how many runs were finished before
    quick: bool  # whether it is the small form
    meanings: Mapping[str, str]  # what each score says, in one sentence

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"<Compared: {counted(len(self.rows), 'runs')} ({counts}) in {self.folder}>"

    def to_frame(self) -> "polars.DataFrame":
        """The results as a polars frame: parameters, scores, seconds and status, a row a run."""
        return frame_of(self.rows)

    @property
    def statuses(self) -> Mapping[str, int]:
        """How many runs ended how."""
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
    """Run a recipe of a comparison, and write results, pictures and a page.

    Parameters
    ----------
    recipe
        A TOML file (see `shoal.comparison.sweep_recipe`), or the same as a dictionary; its relative paths are taken
        from the folder that the file lies in, or from the current one.
    folder
        Where to write; called like the file unless told. Runs that are finished there already are not repeated; those
        that failed are.
    quick
        Run the small form.
    jobs
        How many runs at a time; as many as there are cores unless told. Timed runs are always alone.
    force
        Forget what was finished there.
    charts
        Draw the pictures.
    tell
        For a progress bar.

    Raises
    ------
    WrongUse
        If the recipe is wrong, data lacks what it names, or the folder holds something else. A run that fails raises
        nothing: it is a result.
    """
    if isinstance(recipe, Mapping):
        import tomli_w

        if folder is None:
            raise WrongUse("Say where to write: a comparison that is no file needs a `folder`.")
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, RECIPE)
            path.write_text(tomli_w.dumps(recipe), encoding="utf-8")
            return _compared(path, Path.cwd(), Path(folder), quick, jobs, force, charts, tell)
    recipe = Path(recipe)
    home, target = recipe.resolve().parent, Path(recipe.stem if folder is None else folder)
    return _compared(recipe, home, target, quick, jobs, force, charts, tell)


def _compared(
    recipe: Path,
    home: Path,
    folder: Path,
    quick: bool,
    jobs: int | None,
    force: bool,
    charts: bool,
    tell: Tell | None,
) -> Compared:
    from shoal.comparison.columns import refuse_wrong_columns

    if jobs is not None and jobs < 1:
        raise WrongUse(f"At least one run at a time must be allowed, not {jobs} (--jobs).")
    comparison = Comparison.read(recipe)
    if quick:
        comparison = comparison.made_quick()
    cells = cells_of(comparison, home)
    refuse_unknown_columns((one for chart in comparison.chart for one in chart.pictures()), cells)
    refuse_wrong_columns(cells)
    _prepare(folder, recipe, force)
    found, resumed = _carried_out(cells, folder, jobs or os.cpu_count() or 1, tell or (lambda *_: None))
    rows = tuple(row_of(cell, found[cell.key]) for cell in cells)
    write_results(rows, folder)
    kept = [found[cell.key] for cell in cells]
    pictures = tuple(_pictures(comparison, rows, kept, charts))
    if charts and pictures:
        _write_pictures(pictures, folder)
    compared = Compared(comparison, rows, pictures, folder, resumed, quick, _meanings(kept))
    from shoal.comparison.comparison_page import write_page

    write_page(compared, recipe)
    return compared


def _prepare(folder: Path, recipe: Path, force: bool) -> None:
    """Make the folder, or see that it is one of ours."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            if not (folder / JOURNAL).is_file():
                raise WrongUse(f"{folder} holds something else than a comparison; name another folder.")
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
    cells: Sequence[Cell], folder: Path, jobs: int, tell: Tell
) -> tuple[dict[str, dict[str, Any]], int]:
    """The answer of each run, and how many were there before."""
    journal = Journal(folder / JOURNAL)
    found = journal.finished()
    missing = [cell for cell in cells if cell.key not in found or _again(cell, found[cell.key])]
    resumed = done = len(cells) - len(missing)
    tell(done, len(cells), "")
    with journal:
        for cell, answer in answers(missing, jobs):
            journal.add(cell.key, answer)
            found[cell.key] = answer
            done += 1
            tell(done, len(cells), f"{cell.facts['sweep']}: {cell.facts['label']} on {cell.facts['dataset']}")
    return found, resumed


def _again(cell: Cell, answer: Mapping[str, Any]) -> bool:
    """Whether a run that ended is to be tried again: it failed, or has more time now."""
    if answer["status"] == "timeout":
        return cell.time_limit is None or cell.time_limit > answer["limit"]
    return answer["status"] in AGAIN


def _pictures(
    comparison: Comparison, rows: Sequence[Row], found: Iterable[Mapping[str, Any]], draw: bool
) -> Iterator[Picture]:
    """Every picture of the recipe; one that cannot be drawn says why."""
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
    """What each score says; words that differ from run to run are left out."""
    meanings: dict[str, str] = {}
    for answer in found:
        for name, text in answer.get("meaning", {}).items():
            meanings[name] = common_words(meanings.get(name, text), text)
    return meanings


def common_words(one: str, other: str) -> str:
    """A sentence with dots where two differ.

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

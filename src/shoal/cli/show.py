"""Print results in the terminal. Everything is readable without color, and a pipe gets only the result."""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from shoal.data._plain_text import OK, counted, grid_lines, visible
from shoal.kernels._compiling import watched
from shoal.progress import in_words
from shoal.progress import watched as parts_watched

if TYPE_CHECKING:
    from shoal.comparison.runner import Compared
    from shoal.comparison.tally import Tell as TellRuns
    from shoal.data.verdict import Verdict
    from shoal.errors import Stage
    from shoal.io.hierarchies.check import Findings
    from shoal.kernels._compiling import Tell
    from shoal.measures.measure import Score
    from shoal.models._judged import Verdicts

WARNING = "WARNING"

MOMENT = 2.0
"""Without a terminal, compiling is only mentioned if it takes more than so many seconds."""

SHOWN = 50
"""The most faults of a hierarchy that are listed."""

FAULTS = 8
"""The most kinds of refused and failed runs of a comparison that are listed."""


def warning_lines(sentences: Iterable[str]) -> None:
    """Print the warnings for the owner of the data."""
    for sentence in sentences:
        line(f"{WARNING:<7} {sentence}", "bold yellow")


def line(text: str = "", style: str = "", file: TextIO | None = None) -> None:
    """Print one line of the result; the style is for terminals only."""
    place = sys.stdout if file is None else file
    if style and place.isatty():
        from rich.console import Console
        from rich.text import Text

        Console(file=place).print(Text(visible(text), style=style), soft_wrap=True)
    else:
        print(visible(text), file=place)


def as_json(plain: Any) -> None:
    """Print one JSON object and nothing else; invisible characters in its texts are escaped."""
    lines = json.dumps(plain, indent=1, ensure_ascii=False, default=str).split("\n")
    print("\n".join(map(_escaped, lines)))


def _escaped(text: str) -> str:
    r"""Escape every unprintable character in a line of JSON by its number.

    >>> print(_escaped('"a' + chr(0x9B) + chr(0x202E) + chr(0xE0001) + '"'))
    "a\u009b\u202e\udb40\udc01"
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def grid(rows: Sequence[Sequence[object]], head: Sequence[str] = ()) -> None:
    """Print rows as aligned columns; numbers are right-aligned."""
    for place, text in enumerate(grid_lines(rows, head)):
        line(text, "bold" if head and not place else "")


@contextmanager
def progress(quiet: bool) -> Iterator["Stage"]:
    """Show the running step and how far it is; without a terminal, only one line if kernels are compiled."""
    if quiet:
        yield lambda _: None
        return
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        with watched(_compiling_line()):
            yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        running = RunningStep(partial(bar.update, bar.add_task("starting", total=None)))
        with watched(running.compiling), parts_watched(running.part):
            yield running.stage


class RunningStep:
    """What runs, in words: the step, the part of it that is told, and the kernels that are compiled meanwhile."""

    def __init__(self, update: Callable[..., object]) -> None:
        self._update = update
        self._step, self._part, self._kernels = "starting", "", 0
        self._share: float | None = None

    def stage(self, name: str) -> None:
        """A step begins."""
        self._step = name
        self.part("", None)

    def part(self, name: str, share: float | None) -> None:
        """A part of the step begins or goes on."""
        self._part, self._share = name, share
        self._show("")

    def compiling(self, seconds: float) -> None:
        """Kernels begin to be compiled, or are."""
        self._kernels += seconds > 0
        self._show(
            f": compiling once (part {self._kernels}, about {math.ceil(seconds)} s)" if seconds else ""
        )

    def _show(self, more: str) -> None:
        self._update(description=in_words(self._step, self._part, self._share) + more)


def _compiling_line() -> "Tell":
    """A callback that says once that kernels are being compiled, unless that takes only a moment."""
    shown = False

    def tell(seconds: float) -> None:
        nonlocal shown
        if seconds > MOMENT and not shown:
            shown = True
            print(
                f"shoal: compiling once (about {math.ceil(seconds)} s for the first part, up to half a minute in "
                f"all, longer on a busy machine); {_afterward()}",
                file=sys.stderr,
            )

    return tell


def _afterward() -> str:
    """The end of that message: whether compiled kernels are kept for later runs."""
    from shoal.kernels._jit import cache_folder

    if cache_folder() is None:
        return "no folder can be written to keep it, so that every run compiles anew: name one in NUMBA_CACHE_DIR."
    return "`shoal warm-up` does it for all methods."


@contextmanager
def bar(quiet: bool) -> Iterator["TellRuns"]:
    """Show a bar of finished runs and which are under way; nothing without a terminal."""
    if quiet or not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    name = TextColumn("{task.description}", markup=False)
    parts = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), name)
    with Progress(*parts, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=None)

        def tell(done: int, total: int, going: str) -> None:
            words = going or ("finishing" if done == total else "starting")
            shown.update(task, completed=done, total=total, description=words)

        yield tell


def verdict_lines(verdicts: Sequence["Verdict"]) -> None:
    """Print each promise, whether it is kept, and where it is not."""
    for verdict in verdicts:
        first, *places = str(verdict).split("\n")
        line(first, "bold green" if verdict.holds else "bold red")
        for place in places:
            line(place)


def verdicts(found: "Verdicts", *, json: bool, quiet: bool = False) -> int:
    """Show verdicts, and by which columns or items was judged; the exit code is 1 if a promise is broken."""
    holds = all(verdict.holds for verdict in found)
    if json:
        judged = None if found.judged is None else found.judged.as_dict()
        as_json({"holds": holds, "judged": judged, "verdicts": [verdict.as_dict() for verdict in found]})
    elif not (quiet and holds):
        verdict_lines(found)
        if found.judged is not None:
            line(str(found.judged))
    return 0 if holds else 1


def score_lines(found: Sequence["Score"]) -> None:
    """Print scores with their meanings."""
    if found:
        ends = [f"({score.direction})" if score.better else "" for score in found]
        grid([(one.name, one.value, end, one.meaning) for one, end in zip(found, ends, strict=True)])


def scores(found: Sequence["Score"], unmeasured: str | None, *, json: bool) -> None:
    """Show scores, as tables or as one flat JSON object, and what was not measured."""
    from shoal.measures.measure import flat

    if json:
        as_json({**flat(found), **({} if unmeasured is None else {"unmeasured": unmeasured})})
        return
    score_lines(found)
    for by in dict.fromkeys(score.by for score in found if score.parts):
        parts = {score.name: score.parts for score in found if score.parts and score.by == by}
        names = list(dict.fromkeys(name for part in parts.values() for name in part))
        line()
        grid([(name, *(part.get(name) for part in parts.values())) for name in names], [by, *parts])
    if unmeasured is not None:
        line()
        line(unmeasured)


def comparison(found: "Compared", *, json: bool, quiet: bool) -> int:
    """Show a finished comparison; the exit code is 1 if a run broke its promise, crashed or failed."""
    from shoal.comparison.comparison_page import STATUSES, faults

    if json:
        as_json(
            {
                "runs": len(found.rows),
                "resumed": found.resumed,
                "statuses": dict(found.statuses),
                "charts": [one.chart.name for one in found.pictures if one.svg],
                "folder": str(found.folder),
            }
        )
    elif not quiet:
        resumed = f", {found.resumed:,} of them finished before" if found.resumed else ""
        counts = ", ".join(f"{count:,} {STATUSES[status][0]}" for status, count in found.statuses.items())
        line(f"{counted(len(found.rows), 'runs')}{resumed}: {counts}.")
        wrong = faults(found)
        for status, error, times, first in wrong[:FAULTS]:
            line(f"{status:<8} {times:>4}  {error}  ({first})")
        if len(wrong) > FAULTS:
            line(f"… and {len(wrong) - FAULTS:,} more kinds of them (the report lists all)")
        for one in found.pictures:
            if one.problem:
                line(f"no picture  {one.chart.name}: {one.problem}")
        line()
        line(f"Read     {found.folder / 'report.html'}", "bold")
        line(f"Compute  {found.folder / 'results.parquet'}")
    return 1 if set(found.statuses) - {"done", "refused", "timeout"} else 0


def findings(found: "Findings") -> None:
    """Show what is wrong with a hierarchy, or that nothing is."""
    size = f"{counted(found.leaves, 'values')} on {counted(found.levels, 'levels')}"
    if not found:
        line(f"{OK:<7} {size}.", "bold green")
        return
    line(f"{counted(len(found), 'faults')}; {size}.", "bold red")
    for finding in found[:SHOWN]:
        line(f"  {finding}")
    if len(found) > SHOWN:
        line(f"  … and {len(found) - SHOWN:,} more (--json lists all)")

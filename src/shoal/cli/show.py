"""What the terminal shows. Everything can be read without colour, and a pipe gets the result alone."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile
    from shoal.data.release import Published
    from shoal.io.hierarchy_findings import Findings
    from shoal.measures.measure import Score
    from shoal.models.verdict import Verdict
    from shoal.outcome import Run, Stage

SUMMARY = (
    "lm",
    "lm_mean",
    "ncp",
    "c_avg",
    "discernibility",
    "precision",
    "information_loss",
    "items_suppressed",
)
"""The scores that a summary shows, where the release has them."""

OK, BROKEN = "OK", "BROKEN"

SHOWN = 50
"""How many faults of a hierarchy are listed."""


def line(text: str = "", style: str = "", file: TextIO | None = None) -> None:
    """One line of the result; the style is for terminals only."""
    place = sys.stdout if file is None else file
    if style and place.isatty():
        from rich.console import Console
        from rich.text import Text

        Console(file=place).print(Text(visible(text), style=style), soft_wrap=True)
    else:
        print(visible(text), file=place)


def visible(text: str) -> str:
    r"""A text whose control characters cannot steer the terminal: data may hold any.

    >>> print(visible("a" + chr(27) + "[2J"))
    a\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def as_json(plain: Any) -> None:
    """One JSON object and nothing else."""
    print(json.dumps(plain, indent=1, ensure_ascii=False, default=str))


def grid(rows: Sequence[Sequence[object]], head: Sequence[str] = ()) -> None:
    """Rows under each other; columns of numbers stand to the right."""
    texts = [[written(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(cell) for cell in column) for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in zip(*([head] if head else []), *texts, strict=True)]
    for place, row in enumerate([head, *texts] if head else texts):
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        line("  ".join(cells).rstrip(), "bold" if head and not place else "")


def written(value: object) -> str:
    """A value as a reader wants it.

    >>> [written(value) for value in (30162, 0.123456, 12.0, None, True, "age")]
    ['30,162', '0.1235', '12', '', 'yes', 'age']
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return ""
        case int():
            return f"{value:,}"
        case float():
            return (
                f"{value:,.0f}"
                if value.is_integer()
                else f"{value:,.4g}"
                if abs(value) < 1e4
                else f"{value:,.1f}"
            )
    return visible(str(value))


def _is_number(value: object) -> bool:
    share = isinstance(value, str) and value.endswith("%")
    return value is None or share or (isinstance(value, int | float) and not isinstance(value, bool))


@contextmanager
def progress(quiet: bool) -> Iterator["Stage"]:
    """The name of the running step beside a spinner; nothing where no terminal looks on."""
    if quiet or not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    parts = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda name: bar.update(task, description=name)


def verdict_lines(verdicts: Sequence["Verdict"]) -> None:
    """Each promise, whether it is kept, and where it is not."""
    for verdict in verdicts:
        word, style = (OK, "bold green") if verdict.holds else (BROKEN, "bold red")
        reached = "" if verdict.value is None else f"; found {_exact(verdict.value)}"
        line(f"{word:<7} {verdict.model}: {verdict.promise}{reached}.", style)
        if verdict.remark:
            line(f"        {verdict.remark}")
        for offender in verdict.offenders:
            line(f"        {offender.where}: {offender.why}")
        if (hidden := verdict.offender_count - len(verdict.offenders)) > 0:
            line(f"        … and {hidden:,} more")


def _exact(value: Any) -> str:
    return written(value if isinstance(value, int) else float(value))


def verdicts(found: Sequence["Verdict"], *, json: bool, quiet: bool = False) -> int:
    """Show verdicts; the exit code is 1 if a promise is broken."""
    holds = all(verdict.holds for verdict in found)
    if json:
        as_json({"holds": holds, "verdicts": [verdict.as_dict() for verdict in found]})
    elif not (quiet and holds):
        verdict_lines(found)
    return 0 if holds else 1


def publication(run: "Run", folder: Path, *, json: bool, quiet: bool) -> int:
    """Show a finished run: what is promised and kept, what it costs, and what to publish."""
    from shoal.measures.measure import flat

    report = folder / "report.html"
    if json:
        as_json(
            {
                "holds": run.holds,
                "verdicts": [verdict.as_dict() for verdict in run.verdicts],
                "published": count(run.release.data),
                "suppressed": run.release.suppressed,
                "scores": flat(run.scores),
                "release": str(folder / "release"),
                "report": str(report) if report.exists() else None,
                "seconds": dict(run.seconds),
            }
        )
    elif not quiet:
        verdict_lines(run.verdicts)
        suppressed = f", {run.release.suppressed:,} suppressed" if run.release.suppressed else ""
        line(f"{count(run.release.data):,} {noun(run.release.data)} published{suppressed}.")
        line()
        score_lines([score for score in run.scores if score.name in SUMMARY])
        if told := run.trace.notes.get("explanation"):
            line()
            for text in str(told).split("\n"):
                line(text)
        line()
        line(f"Publish  {folder / 'release'}", "bold")
        if report.exists():
            line(f"Read     {report}")
    return 0 if run.holds else 1


def count(data: "Published") -> int:
    """The number of published rows, baskets, groups or clusters."""
    from shoal.data.table import Table

    return data.rows if isinstance(data, Table) else len(data)


def noun(data: "Published") -> str:
    """What `count` counts."""
    return {"Table": "rows"}.get(type(data).__name__, type(data).__name__.lower())


def score_lines(found: Sequence["Score"]) -> None:
    """Scores with what they mean."""
    if found:
        grid([(score.name, score.value, f"({score.better} is better)", score.meaning) for score in found])


def scores(found: Sequence["Score"], *, json: bool) -> None:
    """Show scores, or one flat object of them."""
    from shoal.measures.measure import flat

    if json:
        as_json(flat(found))
        return
    score_lines(found)
    parts = {score.name: score.parts for score in found if score.parts}
    if parts:
        names = list(dict.fromkeys(name for part in parts.values() for name in part))
        line()
        grid([(name, *(part.get(name) for part in parts.values())) for name in names], ["column", *parts])


def findings(found: "Findings") -> None:
    """Show what is wrong with a hierarchy, or that nothing is."""
    size = f"{found.leaves:,} values on {found.levels} levels"
    if not found:
        line(f"{OK:<7} {size}.", "bold green")
        return
    line(f"{len(found):,} faults; {size}.", "bold red")
    for finding in found[:SHOWN]:
        line(f"  {finding}")
    if len(found) > SHOWN:
        line(f"  … and {len(found) - SHOWN:,} more (--json lists all)")


def table_profile(found: "TableProfile", source: str, method: str | None) -> None:
    """Show the columns of a table, and a command line to begin with."""
    line(f"{found.rows:,} rows, {len(found.columns)} columns")
    line()
    head = ("column", "kind", "distinct", "missing", "unique", "role", "because", "examples")
    grid(
        [
            (
                column.name,
                column.kind,
                column.distinct,
                column.missing,
                f"{column.unique:.1%}",
                str(column.role),
                column.reason,
                ", ".join(column.examples),
            )
            for column in found.columns
        ],
        head,
    )
    line()
    if found.quasi:
        line(
            f"Together, {', '.join(found.quasi)} make {found.classes:,} classes; the smallest has {found.smallest:,} "
            f"row{'s' * (found.smallest != 1)}, and {found.unique:.1%} of the rows are unique."
        )
    if method is not None:
        line()
        line("To begin with (roles are guesses: decide yourself):", "bold")
        line(f"  {suggestion(found, source, method)}")


def suggestion(found: "TableProfile", source: str, method: str) -> str:
    """A command line with the suggested roles, ready to be pasted."""
    from shlex import quote

    parts = ["shoal", "anonymize", method, quote(source), "--k", "10"]
    for role in dict.fromkeys(column.role for column in found.columns):
        names = [column.name.replace(",", "\\,") for column in found.columns if column.role is role]
        parts += [f"--{role}", quote(",".join(names))]
    return " ".join([*parts, "-o", "out"])


def baskets_profile(found: "BasketsProfile", source: str, method: str | None) -> None:
    """Show how many, how long and how telling baskets are."""
    line(
        f"{found.baskets:,} baskets, {found.items:,} items, density {found.density:.2%}, {found.empty:,} empty"
    )
    line()
    spreads = [("items of a basket", found.lengths), ("baskets of an item", found.supports)]
    quantiles = list(found.lengths.quantiles)
    grid(
        [
            (
                name,
                spread.least,
                *(spread.quantiles.get(part) for part in quantiles),
                spread.most,
                spread.mean,
            )
            for name, spread in spreads
        ],
        ("", "least", *(f"{float(part):.0%}" for part in quantiles), "most", "mean"),
    )
    line()
    line(f"Most popular: {', '.join(f'{item} ({support:,})' for item, support in found.top)}")
    line()
    grid(
        [(part.known, part.baskets, f"{part.unique:.1%}", f"{part.probability:.1%}") for part in found.known],
        ("known items", "baskets with so many", "unique", "mean chance to find one"),
    )
    if method is not None:
        line()
        line("To begin with:", "bold")
        line(f"  shoal anonymize {method} --help")

"""The page of a comparison, as HTML and as Markdown."""

import os
import platform
import re
import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from shoal import __version__
from shoal.addresses import without_passwords
from shoal.comparison import vega_charts as charts
from shoal.comparison.curves import parameters_of, table_of, worded
from shoal.comparison.runner import Compared, Picture
from shoal.errors import CannotWrite
from shoal.report.compiled_templates import page_style, templates
from shoal.report.wording import number

CPUINFO = Path("/proc/cpuinfo")


def machine() -> str:
    """Cores, processor, versions and the date, in one line."""
    model = platform.processor() or platform.machine()
    if CPUINFO.exists():
        lines = CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
        model = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model
        )
    return (
        f"{os.cpu_count()} cores, {model}, {platform.system()}, Python {platform.python_version()}, "
        f"Shoal {__version__}, {date.today().isoformat()}"
    )


SHOWN = 400
"""Most runs that the page lists; the results hold them all."""

STATUSES = {
    "done": ("done", "kept their promise"),
    "refused": ("refused", "the promise cannot be kept on this data"),
    "timeout": ("given up", "took longer than the limit"),
    "failed": ("failed", "ended in an error; they run again when the comparison is called again"),
    "crashed": ("crashed", "took their process down; they run again when the comparison is called again"),
    "broken": ("broken", "the release broke its promise and was thrown away: a fault of the method"),
}


def write_page(compared: Compared, recipe: Path) -> None:
    """Write report.html: one page without scripts that needs no other files."""
    path = compared.folder / "report.html"
    try:
        path.write_text(render(compared, recipe), encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"The page {path}", error) from error


def render(compared: Compared, recipe: Path) -> str:
    """The page as HTML."""
    page = templates("shoal.comparison").get_template("comparison.html.j2")
    head, body = runs_table(compared)
    return page.render(
        comparison=compared.comparison,
        quick=compared.quick,
        style=Markup(page_style()),
        counts=[(*STATUSES[status], count) for status, count in sorted(compared.statuses.items())],
        total=len(compared.rows),
        pictures=[
            (place, picture, inline(picture, place), table_of(picture.figure) if picture.figure else None)
            for place, picture in enumerate(compared.pictures)
        ],
        meanings=meanings(compared),
        faults=faults(compared),
        head=head,
        body=body[:SHOWN],
        hidden=max(len(body) - SHOWN, 0),
        command=command(compared, recipe),
        recipe=without_passwords(recipe.read_text(encoding="utf-8")),
        machine=machine(),
        version=__version__,
    )


def command(compared: Compared, recipe: Path) -> str:
    """The command that repeats the comparison."""
    quick = " --quick" if compared.quick else ""
    return f"shoal compare {shlex.quote(recipe.name)}{quick} -o OUT"


def title_of(picture: Picture) -> str:
    """The heading of a picture."""
    chart = picture.chart
    return chart.title or f"{worded(chart, str(chart.y))} against {worded(chart, chart.x)}"


def meanings(compared: Compared) -> list[tuple[str, str]]:
    """The scores that are drawn, with their meanings."""
    drawn = dict.fromkeys(name for one in compared.pictures for name in (str(one.chart.y), one.chart.x))
    return [(name, compared.meanings[name]) for name in drawn if name in compared.meanings]


def faults(compared: Compared) -> list[tuple[str, str, int, str]]:
    """Runs that failed or were refused, by outcome and message: how many there are, and the first of them."""
    found: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for row in compared.rows:
        if row["status"] != "done":
            key = (STATUSES[row["status"]][0], row["error"] or "")
            found[key] += 1
            lines = [
                f"{name} {row[name]}"
                for name in (*parameters_of(row), "rows", "seed")
                if row[name] is not None
            ]
            first.setdefault(key, f"{row['sweep']}: {row['label']} on {row['dataset']}, {', '.join(lines)}")
    return [(status, error, count, first[status, error]) for (status, error), count in found.items()]


def runs_table(compared: Compared) -> tuple[list[str], list[list[str]]]:
    """The head and rows of a table of all runs, with their parameters and the columns that are drawn."""
    rows = compared.rows
    parameters = dict.fromkeys(name for row in rows for name in parameters_of(row))
    drawn = dict.fromkeys(str(one.chart.y) for one in compared.pictures)
    names = dict.fromkeys(
        ["sweep", "dataset", "rows", "label", *parameters, "seed", "status", *drawn, "seconds", "peak_mb"]
    )
    head = [name for name in names if any(row.get(name) is not None for row in rows)]
    return head, [[_cell(row.get(name)) for name in head] for row in rows]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return str(value)


def inline(picture: Picture, place: int) -> Markup:
    """A picture for the page: as wide as there is room, in the colors of the page, with ids of its own."""
    if not picture.svg:
        return Markup("")
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>picture-{place}-", picture.svg)
    for color, name in (
        (charts.INK, "ink"),
        (charts.SOFT, "soft"),
        (charts.LINE, "line"),
        (charts.GROUND, "surface"),
    ):
        svg = svg.replace(f'"{color}"', f'"var(--{name})"')
    width = re.search(r'<svg [^>]*?width="(\d+)"', svg)
    label = escape(f"{title_of(picture)}. The table below has the same values.")
    style = f"max-width: {width[1] if width else 640}px"
    wide = f'<svg role="img" aria-label="{label}" style="{style}" width="100%" '
    svg = re.sub(r'<svg ([^>]*?)width="\d+" height="\d+"', lambda found: f"{wide}{found[1]}", svg, count=1)
    return Markup(svg)


def markdown(compared: Compared, recipe: Path, charts_folder: str) -> str:
    """The comparison as Markdown: its question and reading, pictures with their tables, the command, the machine."""
    comparison = compared.comparison
    counts = ", ".join(
        f"{count} {STATUSES[status][0]}" for status, count in sorted(compared.statuses.items(), reverse=True)
    )
    parts = [f"# {comparison.title}", comparison.question, comparison.reading.strip()]
    for picture in compared.pictures:
        parts.append(f"## {title_of(picture)}")
        if picture.svg:
            parts.append(f"![{title_of(picture)}]({charts_folder}/{picture.chart.name}.svg)")
        if picture.problem:
            parts.append(picture.problem)
        if picture.figure is not None:
            parts += [" ".join(picture.figure.remarks), _markdown_table(*table_of(picture.figure))]
    if words := meanings(compared):
        parts += ["## What the numbers say", "\n".join(f"- `{name}`: {text}" for name, text in words)]
    if wrong := faults(compared):
        rows = [[status, str(count), error, first] for status, error, count, first in wrong]
        parts += ["## Refused and failed", _markdown_table(["", "runs", "why", "first"], rows)]
    parts += [
        "## How it was made",
        f"`{command(compared, recipe)}`: {len(compared.rows)} runs ({counts}). {machine()}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)

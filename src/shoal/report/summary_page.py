"""The report of cross-tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from markupsafe import Markup

from shoal import __version__
from shoal.data.release import Release
from shoal.data.summary import Summary
from shoal.data.verdict import Verdict
from shoal.report.compiled_templates import page_style
from shoal.report.page import page_templates

CELLS = 2_000
"""Most cells of a table that is shown; a larger one is left to data.csv."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A cross-table: its last column runs across, the others down."""

    title: str
    down: tuple[str, ...]
    across: tuple[str, ...]
    lines: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def render_summary(
    release: Release[Summary],
    verdicts: Sequence[Verdict],
    hidden: Mapping[str, tuple[int, int]],
    warnings: Sequence[str],
) -> str:
    """The report as one page of HTML that needs nothing else."""
    summary = release.data
    grids = [_grid(summary, table, value) for value in summary.values for table in summary.tables]
    return (
        page_templates()
        .get_template("cross_tables.html.j2")
        .render(
            release=release,
            summary=summary,
            verdicts=verdicts,
            hidden=hidden,
            warnings=warnings,
            grids=[grid for grid in grids if grid is not None],
            style=Markup(page_style()),
            version=__version__,
        )
    )


def _grid(summary: Summary, table: tuple[str, ...], value: str) -> Grid | None:
    """A cross-table as texts; None where it is too large to be read on a page."""
    axes = {axis.name: axis for axis in summary.axes}
    *down, last = (axes[name] for name in table)
    lines = list(product(*((*axis.nodes[1:], axis.nodes[0]) for axis in down)))
    across = (*last.nodes[1:], last.nodes[0])
    if len(lines) * len(across) > CELLS:
        return None
    texts = dict(zip(summary.places(), summary.texts(value), strict=True))
    names = [axis.name for axis in summary.axes]

    def cell(line: tuple[str, ...], node: str) -> str:
        there = dict(zip(table, (*line, node), strict=True))
        return texts[tuple(there.get(name, summary.total) for name in names)]

    title = f"{value} by {' and '.join(table)}"
    return Grid(
        title,
        tuple(axis.name for axis in down),
        across,
        tuple((line, tuple(cell(line, node) for node in across)) for line in lines),
    )

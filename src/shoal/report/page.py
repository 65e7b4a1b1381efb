"""The page: facts and charts put into templates."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal.report import svg_charts as charts
from shoal.report import wording
from shoal.report.class_charts import Bin, Sizes
from shoal.report.compiled_templates import page_style, templates
from shoal.report.cost import Loss
from shoal.report.facts import Facts, facts_of
from shoal.report.marginals import Marginal
from shoal.report.pictures import Matrix, Picture

if TYPE_CHECKING:
    from jinja2 import Environment

    from shoal.outcome import Run
    from shoal.report.item_counts import ItemFacts
    from shoal.report.lattice_picture import Lattice

LOSS_BARS = 24
"""Columns in the chart of losses: those that lost most."""

LABEL = 32
"""Characters of a label in a chart, so that it fits beside its value on a phone."""

BLOCKS = 6
"""Rows and columns of the table beside a matrix."""

NAMES = ("original", "read from the release")


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture and the same as a table, for those who cannot see it or want the numbers."""

    key: str  # the beginning of its identifiers on the page
    chart: Markup  # the picture
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """`caption`, `head`, `rows`: the table; its first column names the rows."""


def render(run: "Run") -> str:
    """The report of a run as one page of HTML that needs nothing else: no scripts, no other files.

    It is for the owner of the data. It shows aggregates, values of domains and published cells, never a row of the
    original.
    """
    facts = _pictured(facts_of(run))
    return page_templates().get_template("page.html.j2").render(style=Markup(page_style()), **facts)


def render_parts(facts: Facts) -> dict[str, str]:
    """The sections of the page that have something to show, by their names, without the page around them."""
    pictured = _pictured(facts)
    sections = {
        "attacks": facts.attacks or facts.limits,
        "columns": facts.columns,
        "solutions": facts.solutions,
        "rules": facts.rules,
        "items": facts.items,
        "classes": pictured["sizes"] or pictured["loss"],
        "marginals": pictured["marginals"],
        "pictures": pictured["pictures"],
    }
    return {
        name: page_templates().get_template(f"{name}.html.j2").render(**pictured)
        for name, there in sections.items()
        if there
    }


def _pictured(facts: Facts) -> dict[str, Any]:
    """The facts and the figures that templates take."""
    return {
        "facts": facts,
        "sizes": _sizes_figure(facts.sizes) if facts.sizes else None,
        "loss": _loss_figure(facts.loss) if facts.loss and facts.loss.parts else None,
        "loss_bars": LOSS_BARS,
        "marginals": [
            (entry, _marginal_figure(entry, f"marginal-{n}")) for n, entry in enumerate(facts.marginals)
        ],
        "items": _items_figures(facts.items) if facts.items else (),
        "lattice": _lattice_drawn(facts.lattice) if facts.lattice else None,
        "pictures": [
            (entry, _picture_figure(entry, f"picture-{n}")) for n, entry in enumerate(facts.pictures)
        ],
    }


@cache
def page_templates() -> "Environment":
    """The templates of pages, with the words that they use."""
    environment = templates("shoal.report")
    names = ("compact", "count", "counted", "listed", "number", "number_near", "percent", "seconds", "shown")
    environment.filters |= {name: getattr(wording, name) for name in names}
    return environment


def _sizes_figure(sizes: Sizes) -> Figure:
    entries = [
        charts.Bar(
            _bin_label(entry),
            entry.classes,
            wording.counted(entry.classes, sizes.unit),
            f"{_bin_label(entry)} {sizes.noun}: {wording.counted(entry.classes, sizes.unit)}",
        )
        for entry in sizes.bins
    ]
    mark = None
    if sizes.promised is not None:
        place = next((n for n, entry in enumerate(sizes.bins) if entry.low == sizes.promised), len(entries))
        mark = charts.Mark(place, f"promised: at least {wording.count(sizes.promised)}")
    chart = charts.histogram(
        entries,
        mark=mark,
        key="sizes",
        title=f"How many of {wording.counted(sizes.count, sizes.unit)} have which size, in {sizes.noun}",
        description="; ".join(entry.tip for entry in entries) + ".",
    )
    rows = tuple((_bin_label(entry), wording.count(entry.classes)) for entry in sizes.bins)
    plural = wording.counted(2, sizes.unit)[2:]
    return Figure(
        "sizes", Markup(chart), f"Sizes of {plural}", (f"{sizes.noun} of a {sizes.unit}", plural), rows
    )


def _picture_figure(picture: Picture, key: str) -> Figure:
    title = wording.shown(picture.title)
    if isinstance(picture, Matrix):
        words = f"{wording.count(picture.rows)} rows and {wording.count(picture.columns)} columns. {picture.caption}"
        chart = charts.matrix(picture.cells, key=key, title=picture.title, description=words)
        return Figure(key, Markup(chart), f"{title}: entries in parts of the matrix", *_blocks(picture))
    entries = [
        charts.Bar(label, count, wording.counted(count, picture.unit))
        for label, count in zip(picture.labels, picture.counts, strict=True)
    ]
    words = "; ".join(f"{entry.label}: {entry.text}" for entry in entries) + "."
    chart = charts.histogram(entries, key=key, title=picture.title, description=words)
    rows = tuple(
        (wording.shown(label), wording.count(number))
        for label, number in zip(picture.labels, picture.counts, strict=True)
    )
    head = ("", wording.shown(wording.counted(2, picture.unit)[2:]))
    return Figure(key, Markup(chart), title, head, rows)


def _blocks(picture: Matrix) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The head and the rows of a small table that sums up each part of a matrix."""
    down = _edges(len(picture.cells))
    across = _edges(max((len(line) for line in picture.cells), default=0))
    head = [""] + [f"columns {_part(one, across[-1], picture.columns)}" for one in pairwise(across)]
    rows = []
    for begin, end in pairwise(down):
        sums = [
            sum(sum(line[left:right]) for line in picture.cells[begin:end])
            for left, right in pairwise(across)
        ]
        rows.append((f"rows {_part((begin, end), down[-1], picture.rows)}", *map(wording.number_near, sums)))
    return tuple(head), tuple(rows)


def _edges(size: int) -> list[int]:
    parts = min(BLOCKS, size)
    return [size * place // max(parts, 1) for place in range(parts + 1)]


def _part(cells: tuple[int, int], of: int, members: int) -> str:
    begin, end = (members * cell // max(of, 1) for cell in cells)
    return f"{wording.compact(begin + 1)}–{wording.compact(end)}"


def _bin_label(entry: Bin) -> str:
    if entry.high is None:
        return f"{wording.compact(entry.low)}+"
    if entry.low == entry.high:
        return wording.compact(entry.low)
    return f"{wording.compact(entry.low)}–{wording.compact(entry.high)}"


def _loss_figure(loss: Loss) -> Figure:
    entries = [
        charts.Bar(
            wording.shown(name, LABEL),
            share,
            wording.percent(share),
            f"{wording.shown(name, 200)}: {wording.percent(share)}",
        )
        for name, share in loss.parts[:LOSS_BARS]
    ]
    chart = charts.bars(
        entries,
        key="loss",
        title="Loss of each column",
        description="; ".join(entry.tip for entry in entries) + ".",
    )
    rows = tuple((wording.shown(name), wording.percent(share)) for name, share in loss.parts[:LOSS_BARS])
    return Figure("loss", Markup(chart), "Loss of each column", ("column", "loss"), rows)


def _lattice_drawn(lattice: "Lattice") -> Markup:
    from shoal.report.lattice_picture import drawn

    return Markup(drawn(lattice))


def _items_figures(items: "ItemFacts") -> tuple[tuple[str, Figure], ...]:
    """The figures about items, each with what it shows."""
    kinds = (("frequent", items.frequent), ("lengths", items.lengths))
    return tuple(
        (kind, _marginal_figure(entry, f"items-{kind}")) for kind, entry in kinds if entry is not None
    )


def _marginal_figure(marginal: Marginal, key: str) -> Figure:
    entries = []
    for pair in marginal.pairs:
        before, after = wording.percent(pair.before), wording.percent(pair.after)
        tip = f"{pair.full}: {before} in the original, {after} read from the release"
        label = wording.shown(pair.label, LABEL)
        entries.append(charts.TwoBars(label, pair.before, pair.after, f"{before} → {after}", tip))
    name = wording.shown(marginal.column)
    title = f"Distribution of {name} before and after"
    words = {"key": key, "title": title, "description": "; ".join(entry.tip for entry in entries) + "."}
    if marginal.upright:
        edges = sum(pair.full != wording.MISSING for pair in marginal.pairs) if marginal.binned else 0
        chart = charts.two_columns(entries, NAMES, edges=edges, **words)
    else:
        chart = charts.two_bars(entries, NAMES, **words)
    rows = tuple(
        (pair.full, wording.percent(pair.before), wording.percent(pair.after)) for pair in marginal.pairs
    )
    return Figure(key, Markup(chart), title, (name, *NAMES), rows)

"""The page: facts and charts put into templates."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from shoal.report import charts, wording
from shoal.report.classes import Bin, Sizes
from shoal.report.facts import Facts, Loss, facts_of
from shoal.report.marginals import Marginal
from shoal.report.pictures import Matrix, Picture

if TYPE_CHECKING:
    from shoal.outcome import Run

LOSS_BARS = 24
"""Columns in the chart of losses: those that lost most."""

LABEL = 32
"""Letters of a label in a chart, so that it fits a phone beside its value."""

NAMES = ("original", "read from the release")


def render(run: "Run") -> str:
    """The report of a run as one page of HTML that needs nothing else: no scripts, no other files.

    It is for the owner of the data. It shows aggregates, values of domains and published cells, never a row of the
    original.
    """
    return render_facts(facts_of(run))


def render_facts(facts: Facts) -> str:
    """The page of plain facts."""
    page = _templates().get_template("page.html.j2")
    return page.render(
        facts=facts,
        style=Markup(_style()),
        sizes_chart=_sizes_chart(facts.sizes) if facts.sizes else "",
        loss_chart=_loss_chart(facts.loss) if facts.loss and facts.loss.parts else "",
        loss_bars=LOSS_BARS,
        marginals=[(entry, _marginal_chart(entry, place)) for place, entry in enumerate(facts.marginals)],
        pictures=[(entry, _picture_chart(entry, place)) for place, entry in enumerate(facts.pictures)],
    )


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("shoal.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "compact": wording.compact,
        "count": wording.count,
        "counted": wording.counted,
        "listed": wording.listed,
        "number": wording.number,
        "number_near": wording.number_near,
        "percent": wording.percent,
        "seconds": wording.seconds,
        "shown": wording.shown,
    }
    return environment


@cache
def _style() -> str:
    return files("shoal.report").joinpath("templates", "style.css").read_text(encoding="utf-8")


def _sizes_chart(sizes: Sizes) -> Markup:
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
    return Markup(
        charts.histogram(
            entries,
            mark=mark,
            key="sizes",
            title=f"How many of {wording.counted(sizes.count, sizes.unit)} have which size, in {sizes.noun}",
            description="; ".join(entry.tip for entry in entries) + ".",
        )
    )


def _picture_chart(picture: Picture, place: int) -> Markup:
    key = f"picture-{place}"
    if isinstance(picture, Matrix):
        words = f"{wording.count(picture.rows)} rows and {wording.count(picture.columns)} columns. {picture.caption}"
        return Markup(charts.matrix(picture.cells, key=key, title=picture.title, description=words))
    entries = [
        charts.Bar(label, count, wording.counted(count, picture.unit))
        for label, count in zip(picture.labels, picture.counts, strict=True)
    ]
    words = "; ".join(f"{entry.label}: {entry.text}" for entry in entries) + "."
    return Markup(charts.histogram(entries, key=key, title=picture.title, description=words))


def _bin_label(entry: Bin) -> str:
    if entry.high is None:
        return f"{wording.compact(entry.low)}+"
    if entry.low == entry.high:
        return wording.compact(entry.low)
    return f"{wording.compact(entry.low)}–{wording.compact(entry.high)}"


def _loss_chart(loss: Loss) -> Markup:
    entries = [
        charts.Bar(
            wording.shown(name, LABEL),
            share,
            wording.percent(share),
            f"{wording.shown(name, 200)}: {wording.percent(share)}",
        )
        for name, share in loss.parts[:LOSS_BARS]
    ]
    return Markup(
        charts.bars(
            entries,
            key="loss",
            title="Loss of each column",
            description="; ".join(entry.tip for entry in entries) + ".",
        )
    )


def _marginal_chart(marginal: Marginal, place: int) -> Markup:
    entries = []
    for pair in marginal.pairs:
        before, after = wording.percent(pair.before), wording.percent(pair.after)
        tip = f"{pair.full}: {before} in the original, {after} read from the release"
        label = wording.shown(pair.label, LABEL)
        entries.append(charts.TwoBars(label, pair.before, pair.after, f"{before} → {after}", tip))
    words = {
        "key": f"marginal-{place}",
        "title": f"Distribution of {wording.shown(marginal.column)} before and after",
        "description": "; ".join(entry.tip for entry in entries) + ".",
    }
    if not marginal.upright:
        return Markup(charts.two_bars(entries, NAMES, **words))
    edges = sum(pair.full != wording.MISSING for pair in marginal.pairs) if marginal.binned else 0
    return Markup(charts.two_columns(entries, NAMES, edges=edges, **words))

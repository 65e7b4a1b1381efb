"""The content of charts as plain data: lines with their spread, fitted exponents, frontiers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.comparison.results import Row
from shoal.comparison.sweep_recipe import Chart, Published
from shoal.errors import UnknownName
from shoal.report.wording import number

SPAN = 20
"""By default, an x axis whose values span more than this factor is logarithmic."""

WORDS = {
    "rows": "rows",
    "seconds": "seconds",
    "peak_mb": "peak memory (MB)",
    "added_mb": "memory beside the data (MB)",
    "label": "method",
}
"""Names of columns on an axis, where their own names say too little."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line: the mean, the lowest and the highest value over the seeds."""

    x: Any
    mean: float
    low: float
    high: float
    runs: int
    panel: str = ""
    best: bool = False
    """Whether no other point beats this one; see `beats`."""


@dataclass(frozen=True, slots=True)
class Series:
    """A line with its points in the order of x."""

    label: str
    points: tuple[Point, ...]
    published: bool = False
    exponent: float | None = None
    """The power of x that y grows with, where it was fitted."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Everything that a picture shows."""

    chart: Chart
    title: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    nominal: bool
    log_x: bool
    log_y: bool
    remarks: tuple[str, ...]
    """What a reader of the picture should know, in sentences."""
    panels: tuple[str, ...] = ()
    places: tuple[Any, ...] = field(default=())
    """The values on the x axis, in order."""


def figure_of(
    chart: Chart,
    rows: Sequence[Row],
    published: Sequence[Published] = (),
    better: Mapping[str, str] | None = None,
) -> Figure:
    """Compute what a chart shows of the results.

    `published`: values from elsewhere to draw beside the lines. `better`: whether lower or higher is better, by score.
    Raises `UnknownName` if there is no such column.
    """
    y = str(chart.y)
    runs = [row for row in rows if row["sweep"] in chart.sweeps]
    columns = list(dict.fromkeys(name for row in runs for name in row))
    done = any(row["status"] == "done" for row in runs)
    asked = (chart.x, *(chart.by or ()), *([chart.panels] if chart.panels else []), *chart.where)
    for name in (*asked, *([y] if done else [])):
        if name not in columns:
            raise UnknownName("column", name, columns)
    runs = [row for row in runs if all(row.get(name) == value for name, value in chart.where.items())]
    drawn = [row for row in runs if row.get(y) is not None and row.get(chart.x) is not None]
    names = _telling_apart(chart, drawn)
    series = _lines(chart, drawn, names)
    panels = tuple(dict.fromkeys(point.panel for one in series for point in one.points))
    series += [_published(one, panels) for one in published]
    if chart.kind == "frontier":
        series = _with_frontier(series, chart, better or {})
    if chart.kind == "time":
        means = [[(point.x, point.mean) for point in one.points] for one in series]
        series = [
            replace(one, exponent=fitted_exponent(mean)) for one, mean in zip(series, means, strict=True)
        ]
    places = list(dict.fromkeys(point.x for one in series for point in one.points))
    nominal = not all(_is_number(place) for place in places)
    log_x, log_y = _logarithmic(chart, places, nominal, series)
    return Figure(
        chart=chart,
        title=chart.title,
        x_title=worded(chart, chart.x),
        y_title=worded(chart, y),
        series=tuple(series),
        nominal=nominal,
        log_x=log_x,
        log_y=log_y,
        remarks=tuple(_remarks(chart, runs, drawn)),
        panels=tuple(panel for panel in panels if panel),
        places=tuple(places if nominal else sorted(places)),
    )


def worded(chart: Chart, column: str) -> str:
    """A column in words."""
    return chart.titles.get(column) or WORDS.get(column, column)


def _telling_apart(chart: Chart, rows: Sequence[Row]) -> list[str]:
    """The columns that tell lines apart: all that vary, except x, the seed, and those that others determine."""
    if chart.by is not None:
        return list(chart.by)
    candidates = ["label", "dataset"]
    if chart.kind != "frontier":
        candidates += list(dict.fromkeys(name for row in rows for name in parameters_of(row)))
        candidates += ["sweep"] if len(chart.sweeps) > 1 else []
    used = {chart.x, chart.panels, *chart.where}
    varying = [name for name in candidates if name not in used and len(_values(rows, name)) > 1]
    kept: list[str] = []
    for name in varying:
        groups = defaultdict(list)
        for row in rows:
            groups[tuple(str(row.get(known)) for known in kept)].append(row)
        if any(len(_values(group, name)) > 1 for group in groups.values()):
            kept.append(name)
    return kept or ["label"]


def parameters_of(row: Row) -> list[str]:
    """The columns of a row that are parameters."""
    names = list(row)
    return names[names.index("label") + 1 : names.index("seed")]


def _values(rows: Iterable[Row], name: str) -> set[str]:
    return {str(row.get(name)) for row in rows}


def _lines(chart: Chart, rows: Sequence[Row], names: Sequence[str]) -> list[Series]:
    """The lines, in the order of their first runs."""
    groups: dict[str, dict[tuple[Any, ...], list[Row]]] = {}
    for row in rows:
        label = ", ".join(_setting(chart, name, row[name]) for name in names if row.get(name) is not None)
        panel = _setting(chart, chart.panels, row[chart.panels]) if chart.panels else ""
        place: tuple[Any, ...] = (panel, _hashable(row[chart.x]))
        if chart.kind == "frontier":  # one point per combination of parameters, whatever its x
            place = (panel, *(str(row.get(name)) for name in parameters_of(row)), row["dataset"])
        groups.setdefault(label or row["label"], {}).setdefault(place, []).append(row)
    series = []
    panels = list(dict.fromkeys(place[0] for places in groups.values() for place in places))
    for label, places in groups.items():
        points = [_point(chart, members, str(place[0])) for place, members in places.items()]
        if all(_is_number(point.x) for point in points):
            points.sort(key=lambda point: (panels.index(point.panel), point.x))
        series.append(Series(label, tuple(points)))
    return series


def _setting(chart: Chart, name: str, value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if name in ("label", "dataset", "sweep", "method") else f"{worded(chart, name)} {text}"


def _hashable(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _point(chart: Chart, rows: Sequence[Row], panel: str) -> Point:
    values = [float(row[str(chart.y)]) for row in rows]
    places = [row[chart.x] for row in rows]
    x = sum(places) / len(places) if all(map(_is_number, places)) else _hashable(places[0])
    if isinstance(x, float) and x.is_integer():
        x = int(x)
    return Point(x, sum(values) / len(values), min(values), max(values), len(values), panel)


def _published(given: Published, panels: Sequence[str]) -> Series:
    """Values from elsewhere, in every panel."""
    pairs = list(zip(given.at, given.values, strict=True))
    points = (Point(x, y, y, y, 1, panel) for panel in panels or [""] for x, y in pairs)
    return Series(given.label, tuple(points), published=True)


def fitted_exponent(points: Iterable[tuple[Any, float]]) -> float | None:
    """The slope of a straight line through points on logarithmic axes, by least squares.

    >>> round(fitted_exponent([(10, 3.0), (100, 30.0), (1000, 300.0)]), 6)
    1.0
    """
    usable = [(float(x), y) for x, y in points if _is_number(x) and x > 0 and y > 0]
    if len({x for x, _ in usable}) < 2:
        return None
    x, y = np.log(np.array(usable)).T
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def _with_frontier(series: list[Series], chart: Chart, better: Mapping[str, str]) -> list[Series]:
    high_y = (chart.prefer_y or {"higher": "high"}.get(better.get(str(chart.y), "lower"), "low")) == "high"
    marked = []
    for one in series:
        points = []
        for point in one.points:
            rivals = [other for line in series for other in line.points if other.panel == point.panel]
            beaten = any(beats(other, point, chart.prefer_x == "high", high_y) for other in rivals)
            points.append(replace(point, best=not beaten))
        marked.append(replace(one, points=tuple(points)))
    return marked


def beats(one: Point, other: Point, high_x: bool, high_y: bool) -> bool:
    """Whether a point is at least as good as another on both axes, and better on one."""
    x = (one.x - other.x) * (1 if high_x else -1)
    y = (one.mean - other.mean) * (1 if high_y else -1)
    return bool(x >= 0 and y >= 0 and (x > 0 or y > 0))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _logarithmic(
    chart: Chart, places: Sequence[Any], nominal: bool, series: Sequence[Series]
) -> tuple[bool, bool]:
    """Whether each axis is logarithmic: as the chart asks, where the values allow it."""
    able_x = not nominal and bool(places) and min(places) > 0
    able_y = all(point.low > 0 for one in series for point in one.points)
    wanted = chart.log
    if wanted is None:
        wide = able_x and max(places) / min(places) > SPAN
        wanted = "xy" if chart.kind == "time" else "x" if wide else ""
    return able_x and "x" in wanted, able_y and "y" in wanted


def _remarks(chart: Chart, runs: Sequence[Row], drawn: Sequence[Row]) -> Iterable[str]:
    count = Counter(row["status"] for row in runs)
    said = {
        "refused": "could not keep the promise on this data",
        "timeout": "took too long",
        "failed": "failed",
        "crashed": "crashed",
        "broken": "broke the promise",
    }
    words = [f"{count[status]} {what}" for status, what in said.items() if count[status]]
    if words:
        yield f"Of {len(runs)} runs, {', '.join(words)}; they are listed below and missing here."
    if len({row["seed"] for row in drawn}) > 1 and chart.kind != "frontier":
        yield "Lines are means over seeds; shades and bars reach from the least to the largest."
    if chart.kind == "frontier":
        yield "Filled marks: no other run is better in both ways. Hollow marks: some run is."
    if chart.kind == "time":
        yield "The exponent is that of a straight line through the points on logarithmic axes."
        if any(not row["timed"] for row in drawn):
            yield "Runs shared the machine with others: times are rough."
    if generated := sorted({row["dataset"] for row in drawn if row["source"] == "generated"}):
        yield f"Generated data: {', '.join(generated)}."


def table_of(figure: Figure) -> tuple[list[str], list[list[str]]]:
    """The figure as a table: its head, and rows of texts.

    There is one row per value of x and one column per line. A frontier has one row per point that no other beats, in
    the order of x.
    """
    if figure.chart.kind == "frontier":
        return _frontier_table(figure)
    head = [figure.x_title, *(one.label for one in figure.series)]
    found = [{(point.panel, _place(point.x)): point for point in one.points} for one in figure.series]
    rows = [
        ([panel] if figure.panels else [])
        + [place, *(_spread(points[panel, place]) if (panel, place) in points else "" for points in found)]
        for panel in figure.panels or ("",)
        for place in dict.fromkeys(map(_place, figure.places))
        if any((panel, place) in points for points in found)
    ]
    if any(one.exponent is not None for one in figure.series):
        exponents = ["" if one.exponent is None else f"{one.exponent:.2f}" for one in figure.series]
        rows.append(([""] if figure.panels else []) + ["exponent", *exponents])
    return ([figure.chart.panels or ""] if figure.panels else []) + head, rows


def _frontier_table(figure: Figure) -> tuple[list[str], list[list[str]]]:
    best = [
        (figure.panels.index(point.panel) if figure.panels else 0, point.x, point.mean, one.label, point)
        for one in figure.series
        for point in one.points
        if point.best
    ]
    rows = [
        ([point.panel] if figure.panels else []) + [label, _place(x), _spread(point)]
        for _, x, _, label, point in sorted(best, key=lambda row: row[:4])
    ]
    head = ([figure.chart.panels or ""] if figure.panels else []) + ["line", figure.x_title, figure.y_title]
    return head, list(map(list, dict.fromkeys(map(tuple, rows))))


def _place(x: Any) -> str:
    return number(x) if _is_number(x) else str(x)


def _spread(point: Point) -> str:
    mean = number(point.mean)
    if point.runs == 1 or point.low == point.high:
        return mean
    return f"{mean} ({number(point.low)} … {number(point.high)})"

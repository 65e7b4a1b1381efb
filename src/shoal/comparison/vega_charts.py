"""Figures as pictures, by Vega-Lite and vl-convert. No other module imports them."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from shoal.comparison.curves import Figure, Series

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a6761d", "#56b4e9", "#7a5195", "#e69f00")
"""Colors that people with any color vision can tell apart (after Okabe and Ito); shapes and dashes differ as well."""

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [2, 4], [7, 2, 2, 2, 2, 2])

INK, SOFT, LINE, GROUND = "#1c2530", "#56616e", "#dfe3e6", "#ffffff"
"""The colors of the report in light mode; the page replaces them in dark mode."""

PUBLISHED = (INK, SOFT, "#8a929b")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

NO_BREAK = "\u00a0"

WIDTH, HEIGHT, PANEL = 560, 330, 300

NUMBER = "abs(datum.value) >= 10000 ? format(datum.value, '.3~s') : format(datum.value, ',~r')"
"""Tick labels: 25, 0.125, 5,000, 100k."""

LETTER = 7
"""The approximate width of a character of a tick label, in pixels."""

APART = 4
"""Panels whose largest values differ by more than this factor get axes of their own, or one would look flat."""


def draw(figure: Figure) -> str:
    """The figure as SVG."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(specification(figure))
    return svg


def picture(svg: str) -> bytes:
    """A drawn figure as PNG, at twice its size."""
    import vl_convert

    png: bytes = vl_convert.svg_to_png(svg, scale=2)
    return png


def specification(figure: Figure) -> dict[str, Any]:
    """The figure as a Vega-Lite specification."""
    labels = [legend_text(one, figure) for one in figure.series]
    layers = {"frontier": _frontier, "line": _lines, "time": _lines}[figure.chart.kind](figure, labels)
    many = len(figure.panels) > 1
    # Where the last row is not full, charts in the row above it would have no x axis.
    abreast = 3 if len(figure.panels) in (3, 5, 6) else 2
    plot: dict[str, Any] = {
        "width": PANEL * 2 // abreast if many else WIDTH,
        "height": HEIGHT * 2 // 3 if many else HEIGHT,
        "layer": layers,
    }
    if many:
        header = {"title": None, "labelFontSize": 13, "labelColor": INK, "labelAnchor": "start"}
        plot = {
            "facet": {"field": "panel", "type": "nominal", "header": header, "sort": list(figure.panels)},
            "columns": abreast,
            "spec": plot,
            "resolve": {"scale": {"y": "independent" if _are_apart(figure) else "shared"}},
        }
    title = figure.title or f"{figure.y_title} against {figure.x_title}"
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": GROUND,
        "padding": 14,
        "title": {
            "text": title_lines(title),
            "anchor": "start",
            "frame": "group",
            "fontSize": 16,
            "fontWeight": 600,
            "color": INK,
            "offset": 14,
        },
        "data": {"values": _values(figure, labels)},
        "config": _looks(columns=1 if max(map(len, labels), default=0) > 36 else 2),
        **plot,
    }


def title_lines(title: str) -> list[str]:
    """A title broken into lines; a short text in parentheses stays together.

    >>> title_lines("A title that is so long that one line cannot hold all of it (p = 10)")
    ['A title that is so long that one line cannot hold all of it', '(p = 10)']
    """
    kept = re.sub(r"\([^()]{1,30}\)", lambda found: found[0].replace(" ", NO_BREAK), title)
    return [line.replace(NO_BREAK, " ") for line in textwrap.wrap(kept, 62)]


def _are_apart(figure: Figure) -> bool:
    largest: dict[str, float] = {}
    for one in figure.series:
        for point in one.points:
            largest[point.panel] = max(largest.get(point.panel, 0.0), abs(point.high))
    reached = [value for value in largest.values() if value > 0]
    return not figure.log_y and bool(reached) and max(reached) > APART * min(reached)


def legend_text(series: Series, figure: Figure) -> str:
    """The text of a line in the legend, with its fitted exponent."""
    if series.exponent is None:
        return series.label
    short = figure.y_title.partition(" (")[0]
    return f"{series.label}  ({short} ~ {figure.x_title}^{series.exponent:.2f})"


def _values(figure: Figure, labels: Sequence[str]) -> list[dict[str, Any]]:
    """The data that is drawn, one record per point."""
    return [
        {
            "series": label,
            "panel": point.panel,
            "x": point.x,
            "y": point.mean,
            "low": point.low,
            "high": point.high,
            "best": point.best,
            "published": one.published,
        }
        for one, label in zip(figure.series, labels, strict=True)
        for point in one.points
    ]


def _lines(figure: Figure, labels: list[str]) -> list[dict[str, Any]]:
    """Shades or bars for the spread, lines where x is a number, and marks."""
    x, y = _x(figure), _y(figure, "y")
    encoding = {"x": x, "y": y, "color": _color(figure, labels)}
    beside = {"xOffset": {"field": "series", "sort": labels}} if figure.nominal and len(labels) > 1 else {}
    encoding |= beside
    layers: list[dict[str, Any]] = []
    spread = any(point.low < point.high for one in figure.series for point in one.points)
    if spread:
        reach = {"x": x, "y": _y(figure, "low"), "y2": {"field": "high"}, "color": encoding["color"]} | beside
        layers.append({"mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7}, "encoding": reach})
        if not figure.nominal:
            layers.insert(0, {"mark": {"type": "area", "opacity": 0.13}, "encoding": reach})
    if not figure.nominal:
        dashes = [DASHES[place % len(DASHES)] for place in range(len(labels))]
        layers.append(
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {**encoding, "strokeDash": {**_channel(labels, dashes), "legend": None}},
            }
        )
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "opacity": 1},
            "encoding": {
                **encoding,
                "shape": _channel(labels, _shapes(labels)),
                "size": {"condition": {"test": "datum.published", "value": 120}, "value": 62},
            },
        }
    )
    return layers


def _frontier(figure: Figure, labels: list[str]) -> list[dict[str, Any]]:
    """All runs as marks, and a stepped line through those that no other beats."""
    marks = {
        "x": _x(figure),
        "y": _y(figure, "y"),
        "color": _color(figure, labels),
        "shape": _channel(labels, _shapes(labels)),
    }
    step = "step-before" if figure.chart.prefer_x == "high" else "step-after"
    return [
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {
                "type": "line",
                "interpolate": step,
                "color": SOFT,
                "strokeWidth": 1.5,
                "strokeDash": [3, 3],
            },
            "encoding": {"x": _x(figure), "y": _y(figure, "y")},
        },
        {
            "transform": [{"filter": "!datum.best"}],
            "mark": {"type": "point", "filled": False, "size": 70, "opacity": 0.75},
            "encoding": marks,
        },
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {"type": "point", "filled": True, "size": 95, "opacity": 1},
            "encoding": marks,
        },
    ]


def _x(figure: Figure) -> dict[str, Any]:
    axis = {"title": figure.x_title, "labelOverlap": "greedy", "grid": False}
    if figure.nominal:
        width = PANEL if len(figure.panels) > 1 else WIDTH
        longest = max((len(str(place)) for place in figure.places), default=0)
        slanted = LETTER * (longest + 1) * len(figure.places) > width
        angle = {"labelAngle": -35, "labelAlign": "right"} if slanted else {"labelAngle": 0}
        return {
            "field": "x",
            "type": "nominal",
            "sort": list(figure.places),
            "axis": {**axis, **angle, "labelOverlap": False, "labelLimit": 160},
            "scale": {"padding": 0.5},
        }
    scale: dict[str, Any] = {
        "type": "log" if figure.log_x else "linear",
        "nice": False,
        "zero": False,
        "padding": 12,
    }
    axis["labelExpr"] = NUMBER
    if len(figure.places) <= 12:
        axis["values"] = list(figure.places)
    return {"field": "x", "type": "quantitative", "axis": axis, "scale": scale}


def _y(figure: Figure, field: str) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": figure.y_title, "labelExpr": NUMBER, "labelOverlap": "greedy"}
    scale: dict[str, Any]
    if figure.log_y:
        reached = [
            value for one in figure.series for point in one.points for value in (point.low, point.high)
        ]
        ticks, domain = round_values(min(reached), max(reached))
        scale, axis["values"] = {"type": "log", "domain": domain, "nice": False}, ticks
    else:
        scale, axis["tickCount"] = {"zero": figure.chart.zero, "nice": True}, 6
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def round_values(low: float, high: float) -> tuple[list[float], list[float]]:
    """Ticks for a logarithmic axis, and its ends: the two of 1, 2, 5, 10, 20, … that enclose all values.

    >>> round_values(0.03, 0.4)
    ([0.02, 0.05, 0.1, 0.2, 0.5], [0.02, 0.5])
    >>> round_values(0.03, 4000)
    ([0.1, 1, 10, 100, 1000], [0.02, 5000])
    """
    # One more on either side, because logarithms are rounded.
    places = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    every = [float(f"{digit}e{place}") for place in places for digit in (1, 2, 5)]
    bottom = max(value for value in every if value <= low)
    top = min(value for value in every if value >= high and value > bottom)
    inside = [value for value in every if bottom <= value <= top]
    if top / bottom > 200:
        inside = [value for value in inside if f"{value:e}".startswith("1.")]
    return [_whole(value) for value in inside], [_whole(bottom), _whole(top)]


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


def _color(figure: Figure, labels: list[str]) -> dict[str, Any]:
    ours = [one for one in figure.series if not one.published]
    colors, grey = [], 0
    for one in figure.series:
        if one.published:
            colors.append(PUBLISHED[grey % len(PUBLISHED)])
            grey += 1
        else:
            colors.append(COLORS[ours.index(one) % len(COLORS)])
    return _channel(labels, colors)


def _channel(labels: list[str], values: Sequence[Any]) -> dict[str, Any]:
    """The encoding of lines by colors, shapes or dashes; equal fields and domains give them a single legend."""
    return {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": labels, "range": list(values)},
        "legend": {"title": None},
    }


def _shapes(labels: list[str]) -> list[str]:
    return [SHAPES[place % len(SHAPES)] for place in range(len(labels))]


def _looks(columns: int) -> dict[str, Any]:
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": SOFT,
            "titleColor": INK,
            "titleFontWeight": 400,
            "titleFontSize": 13,
            "labelFontSize": 12,
            "gridColor": LINE,
            "domainColor": SOFT,
            "tickColor": SOFT,
            "titlePadding": 10,
        },
        "legend": {
            "orient": "bottom",
            "direction": "vertical",
            "columns": columns,
            "labelFontSize": 12,
            "labelColor": INK,
            "labelLimit": 520,
            "symbolSize": 90,
            "symbolOpacity": 1,
            "symbolStrokeWidth": 0,
            "offset": 18,
            "rowPadding": 5,
            "columnPadding": 24,
        },
    }

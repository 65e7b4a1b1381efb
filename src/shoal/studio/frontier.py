"""The chart of privacy against cost: one point per run, and a line through the runs that no other beats."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from shoal.report.wording import number, percent

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 340, 62, 46, 16, 24
MARKS = ("circle", "square", "diamond", "triangle", "cross", "ring")


@dataclass(frozen=True, slots=True)
class Point:
    """A finished run."""

    run: int  # its number
    method: str
    privacy: float  # the value of the promise that is varied
    loss: float  # what it cost: lower is better
    stale: bool = False


def frontier(points: Sequence[Point], *, falling: bool) -> list[Point]:
    """The points that no other beats, in order of privacy; `falling`: smaller values promise more.

    >>> points = [Point(1, "a", 5, 0.2), Point(2, "b", 5, 0.3), Point(3, "a", 10, 0.4), Point(4, "b", 10, 0.1)]
    >>> [point.run for point in frontier(points, falling=False)]
    [4]
    """
    sign = -1 if falling else 1

    def beaten(point: Point) -> bool:
        return any(
            sign * other.privacy >= sign * point.privacy
            and other.loss <= point.loss
            and (other.privacy, other.loss) != (point.privacy, point.loss)
            for other in points
        )

    best = {(point.privacy, point.loss): point for point in points if not beaten(point)}
    return sorted(best.values(), key=lambda point: sign * point.privacy)


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`.

    >>> [round_step(least) for least in (0.026, 0.3, 0.7, 3.0)]
    [0.05, 0.5, 1.0, 5.0]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1.0, 2.0, 2.5, 5.0, 10.0) if times * power >= least * (1 - 1e-9))


def drawn(points: Sequence[Point], *, axis: str, cost: str, falling: bool, opened: int | None) -> Markup:
    """The chart as SVG; each point is a button that opens its release."""
    methods = list(dict.fromkeys(point.method for point in points))
    values = sorted({point.privacy for point in points}, reverse=falling)
    places = {value: _x(place, len(values)) for place, value in enumerate(values)}
    most = max((point.loss for point in points), default=0.0)
    share = most <= 1
    step = round_step(most / 4 or 0.25)
    top = step * max(math.ceil(most / step - 1e-9), 1)
    parts = [
        f'<svg class="chart frontier" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        f'aria-label="{escape(f"Privacy and cost of {len(points)} runs")}">'
    ]
    for place in range(round(top / step) + 1):
        loss = place * step
        y = _y(loss, top)
        text = percent(loss) if share else number(loss)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    for value, x in places.items():
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{value:g}</text>'
        )
    parts.append(
        f'<text class="tick" x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escape(axis)}: more privacy to the right →</text>"
    )
    line = [f"{places[one.privacy]:.1f},{_y(one.loss, top):.1f}" for one in frontier(points, falling=falling)]
    if len(line) > 1:
        parts.append(f'<polyline class="best" points="{" ".join(line)}"/>')
    for point in points:
        x, y = places[point.privacy], _y(point.loss, top)
        value_text = percent(point.loss) if share else number(point.loss)
        said = escape(
            f"Run {point.run}: {point.method}, {axis} {point.privacy:g}, {cost} {value_text}. Open it."
        )
        here = " here" if point.run == opened else ""
        css = f"point mark-{methods.index(point.method) % len(MARKS)}{here}"
        parts.append(
            f'<g id="point-{point.run}" class="{css}" role="button" tabindex="0" '
            f'data-do="open-run" data-run="{point.run}" aria-label="{said}">'
            f'<circle class="touch" cx="{x:.1f}" cy="{y:.1f}" r="14"/>'
            f"{_mark(methods.index(point.method), x, y)}<title>{said}</title></g>"
        )
    return Markup("".join(parts) + "</svg>")


def legend(points: Sequence[Point]) -> list[tuple[str, Markup]]:
    """The methods of the points, each with its mark."""
    methods = list(dict.fromkeys(point.method for point in points))
    return [
        (
            method,
            Markup(
                f'<svg class="chart swatch-of mark-{place % len(MARKS)}" viewBox="0 0 20 20" aria-hidden="true">'
                f'<g class="point mark-{place % len(MARKS)}">{_mark(place, 10, 10)}</g></svg>'
            ),
        )
        for place, method in enumerate(methods)
    ]


def _x(place: int, count: int) -> float:
    inside = WIDTH - LEFT - RIGHT
    return LEFT + inside * (place + 0.5) / max(count, 1)


def _y(loss: float, top: float) -> float:
    return TOP + (HEIGHT - BOTTOM - TOP) * (1 - loss / top)


def _mark(number_of: int, x: float, y: float) -> str:
    """Marks differ in shape, so that color is not needed to tell methods apart."""
    match MARKS[number_of % len(MARKS)]:
        case "circle":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
        case "square":
            return f'<rect x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11"/>'
        case "diamond":
            return f'<path d="M{x:.1f} {y - 7.5:.1f}l7.5 7.5l-7.5 7.5l-7.5 -7.5z"/>'
        case "triangle":
            return f'<path d="M{x:.1f} {y - 7:.1f}l7 12.5h-14z"/>'
        case "cross":
            return f'<path d="M{x - 6:.1f} {y - 2:.1f}h4v-4h4v4h4v4h-4v4h-4v-4h-4z"/>'
    return f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'

"""Charts as inline SVG: plain data in, text out.

Every chart fills the width of its box: lengths across the page are percentages and all others are pixels, so that bars
stretch and text keeps its size on a phone. Colors come from the style sheet, by class; whatever they tell apart,
patterns or labels tell apart too. A chart has a title, a description that says in words what it shows, and a tooltip on
each bar.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log1p

from shoal.report.marginals import round_step

PLOT = 168
"""Height of the area for vertical bars, in pixels."""

TOP = 26
"""Room above them, for a legend or the label of a mark."""

SLOTS = 8
"""Fewest slots of an axis, so that a few bars are not drawn too wide."""

SHADES = 5
"""Shades of a matrix, from a trace of entries to most of them."""

MATRIX = 260
"""Height of a matrix, in pixels."""

SCALE = 28
"""Room below it for the key of its shades, in pixels."""

LABELS = 7
"""Labels below an axis, at most."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: a value from 0 to 1 (of the whole) with the text that stands for it."""

    label: str
    value: float
    text: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class TwoBars:
    """Two bars that belong together."""

    label: str
    before: float
    after: float
    text: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line before a bar of a histogram, with its text."""

    place: int
    text: str


def bars(entries: Sequence[Bar], *, key: str, title: str, description: str) -> str:
    """Horizontal bars on a scale from 0 to 1, each under its label."""
    body = []
    for place, bar in enumerate(entries):
        top = 40 * place
        body += [
            "<g>",
            _tip(bar.tip or f"{bar.label}: {bar.text}"),
            _text(bar.label, x="0", y=top + 13, css="label"),
            _text(bar.text, x="100%", y=top + 13, css="value", anchor="end"),
            _box(0, 100, top + 21, 8, "track"),
            _box(0, 100 * bar.value, top + 21, 8, "before"),
            "</g>",
        ]
    return drawing(body, 40 * len(entries), key, title, description)


def two_bars(
    entries: Sequence[TwoBars], names: tuple[str, str], *, key: str, title: str, description: str
) -> str:
    """Horizontal bars in pairs, each pair under its label; the longest bar fills the width."""
    longest = max((max(entry.before, entry.after) for entry in entries), default=0.0) or 1.0
    body = _legend(names, key)
    for place, entry in enumerate(entries):
        top = TOP + 8 + 46 * place
        body += [
            "<g>",
            _tip(entry.tip or f"{entry.label}: {entry.text}"),
            _text(entry.label, x="0", y=top + 11, css="label"),
            _text(entry.text, x="100%", y=top + 11, css="value", anchor="end"),
            _box(0, 100 * entry.before / longest, top + 18, 8, "before"),
            _box(0, 100 * entry.after / longest, top + 28, 8, "after", _hatch(key)),
            "</g>",
        ]
    return drawing(body, TOP + 8 + 46 * len(entries), key, title, description)


def two_columns(
    entries: Sequence[TwoBars],
    names: tuple[str, str],
    *,
    edges: int = 0,
    key: str,
    title: str,
    description: str,
) -> str:
    """Vertical bars in pairs along an axis, with as many labels below as fit.

    The labels of the first `edges` entries name the lower edge of a bin and stand there; others stand below the middle
    of their bars.
    """
    highest = max((max(entry.before, entry.after) for entry in entries), default=0.0)
    body = _legend(names, key)
    grid, top = _grid(highest, lambda value: f"{100 * value:.3g}\u00a0%")
    body += grid
    width = 100 / max(len(entries), SLOTS)
    for place, entry in enumerate(entries):
        left = place * width
        body += ["<g>", _tip(entry.tip or f"{entry.label}: {entry.text}")]
        body.append(_upright(left + 0.10 * width, 0.38 * width, entry.before / top, "before"))
        body.append(_upright(left + 0.52 * width, 0.38 * width, entry.after / top, "after", _hatch(key)))
        body.append("</g>")
    body += _axis([entry.label for entry in entries], width, edges)
    return drawing(body, TOP + PLOT + 26, key, title, description, axis=True)


def histogram(
    entries: Sequence[Bar], *, mark: Mark | None = None, key: str, title: str, description: str
) -> str:
    """Vertical bars of whole numbers, with a line where something is marked; the last bar keeps its label."""
    highest = max((entry.value for entry in entries), default=0.0)
    body, top = _grid(highest, lambda value: f"{value:,.0f}", least_step=1.0)
    width = 100 / max(len(entries), SLOTS)
    for place, entry in enumerate(entries):
        bar = _upright(place * width + 0.08 * width, 0.84 * width, entry.value / top, "before")
        body += ["<g>", _tip(entry.tip or f"{entry.label}: {entry.text}"), bar, "</g>"]
    if mark is not None:
        left = f"{_short(mark.place * width)}%"
        body.append(f'<line class="mark" x1="{left}" x2="{left}" y1="8" y2="{TOP + PLOT}"/>')
        end = mark.place * width > 60
        body.append(
            _text(
                mark.text,
                x=left,
                y=14,
                css="mark-text",
                anchor="end" if end else "start",
                shift=-6 if end else 6,
            )
        )
    body += _axis([entry.label for entry in entries], width, last_stays=True)
    return drawing(body, TOP + PLOT + 26, key, title, description, axis=True)


def matrix(cells: Sequence[Sequence[float]], *, key: str, title: str, description: str) -> str:
    """Cells of a matrix as shades on a logarithmic scale: the more, the stronger; empty cells stay blank."""
    highest = max((max(line, default=0) for line in cells), default=0)
    paths: list[list[str]] = [[] for _ in range(SHADES + 1)]
    for y, line in enumerate(cells):
        # A quotient of equal logarithms may come out above 1.
        shades = [
            min(SHADES, ceil(SHADES * log1p(value) / log1p(highest))) if value > 0 else 0 for value in line
        ]
        begin = 0
        for x in range(1, len(shades) + 1):
            if x == len(shades) or shades[x] != shades[begin]:
                paths[shades[begin]].append(f"M{begin} {y}h{x - begin}v1h{begin - x}z")
                begin = x
    wide = max((len(line) for line in cells), default=0)
    body = [
        f'<svg class="matrix" width="100%" height="{MATRIX}" viewBox="0 0 {max(wide, 1)} {max(len(cells), 1)}" '
        'preserveAspectRatio="none">',
        *(f'<path class="shade-{shade}" d="{"".join(paths[shade])}"/>' for shade in range(1, SHADES + 1)),
        "</svg>",
        f'<rect class="frame" x="0" y="0" width="100%" height="{MATRIX}"/>',
        *_shades(highest),
    ]
    return drawing(body, MATRIX + SCALE, key, title, description)


def line(left: float, top: float, right: float, bottom: float) -> str:
    """A line between two points: across the page in percent, down the page in pixels."""
    return f'<line class="grid" x1="{_short(left)}%" y1="{_short(top)}" x2="{_short(right)}%" y2="{_short(bottom)}"/>'


def node(text: str, left: float, top: float, kind: str) -> str:
    """A text in a circle of its kind: ``vector``, ``solution`` or ``published``, which is marked by a sign too."""
    sign = {"published": "▸ ", "solution": "• "}.get(kind, "")
    return (
        f'<g class="node {kind}"><title>{escape(kind)}</title><circle cx="{_short(left)}%" cy="{_short(top)}" r="13"/>'
        + _text(f"{sign}{text}", x=f"{_short(left)}%", y=top + 28, css="tick", anchor="middle")
        + "</g>"
    )


def _shades(highest: float) -> list[str]:
    """What the shades of a matrix stand for, below it."""
    if not highest > 0:
        return []
    top = MATRIX + 10
    parts = [_text("a cell holds: none", x="0", y=top + 11, css="legend")]
    left = 112
    for shade in range(SHADES + 1):
        css = f"shade-{shade}" if shade else "blank"
        parts.append(f'<rect class="swatch {css}" x="{left + 22 * shade}" y="{top}" width="20" height="13"/>')
    most = f"up to {highest:,.0f}" if highest >= 1 else f"up to {highest:.2g}"
    return [*parts, _text(most, x=str(left + 22 * (SHADES + 1) + 4), y=top + 11, css="legend")]


def drawing(
    body: Iterable[str], height: int, key: str, title: str, description: str, axis: bool = False
) -> str:
    """A chart from its parts, with a title and a description."""
    css = "chart with-axis" if axis else "chart"
    return "".join(
        [
            f'<svg class="{css}" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-desc" ',
            f'width="100%" height="{height}">',
            f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-desc">{escape(description)}</desc>',
            *body,
            "</svg>",
        ]
    )


def _grid(highest: float, text: Callable[[float], str], least_step: float = 0.0) -> tuple[list[str], float]:
    """Lines across the plot at round values, with their labels beside it; and the value at its top."""
    step = max(round_step((highest or 1.0) / 4), least_step)
    lines = max(floor(highest / step + 1e-9) + (highest % step > 1e-9 * step), 1)
    parts = []
    for line in range(lines + 1):
        y = TOP + PLOT - PLOT * line / lines
        css = "base" if line == 0 else "grid"
        parts.append(f'<line class="{css}" x1="0" x2="100%" y1="{_short(y)}" y2="{_short(y)}"/>')
        parts.append(_text(text(line * step), x="-8", y=y + 4, css="tick", anchor="end"))
    return parts, lines * step


def _axis(labels: Sequence[str], width: float, edges: int = 0, last_stays: bool = False) -> list[str]:
    """Labels below an axis, every second or third one where they are many or long."""
    letters = max((len(label) for label in labels), default=1)
    room = max(min(LABELS, 48 // (letters + 2)), 2)
    every = -(-len(labels) // room)
    last_stays |= 0 < edges < len(labels)
    free = len(labels) - every if last_stays else len(labels)
    parts = []
    for place, label in enumerate(labels):
        if place < edges and place % every == 0:
            x = _short(place * width)
            parts.append(f'<line class="base" x1="{x}%" x2="{x}%" y1="{TOP + PLOT}" y2="{TOP + PLOT + 5}"/>')
        if (place % every == 0 and place < free) or (last_stays and place == len(labels) - 1):
            middle = place if place < edges else place + 0.5
            parts.append(
                _text(label, x=f"{_short(middle * width)}%", y=TOP + PLOT + 18, css="tick", anchor="middle")
            )
    return parts


def _legend(names: tuple[str, str], key: str) -> list[str]:
    """What the two kinds of bars are, and the pattern of the second one."""
    second = 30 + 7 * len(names[0])
    return [
        f'<defs><pattern id="{key}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="hatch-ground" width="5" height="5"/>'
        '<rect class="hatch-line" width="2.2" height="5"/></pattern></defs>',
        '<rect class="before" x="0" y="2" width="11" height="11" rx="1"/>',
        _text(names[0], x="17", y=12, css="legend"),
        f'<rect class="after" x="{second}" y="2" width="11" height="11" rx="1" fill="{_hatch(key)}"/>',
        _text(names[1], x=str(second + 17), y=12, css="legend"),
    ]


def _hatch(key: str) -> str:
    return f"url(#{key}-hatch)"


def _upright(left: float, width: float, height: float, css: str, fill: str = "") -> str:
    tall = min(max(height, 0.0), 1.0) * PLOT
    if 0 < tall < 1:
        tall = 1.0
    return _box(left, width, TOP + PLOT - tall, tall, css, fill)


def _box(left: float, width: float, top: float, height: float, css: str, fill: str = "") -> str:
    if not width > 0 or not height > 0:
        return ""
    pattern = f' fill="{fill}"' if fill else ""
    return (
        f'<rect class="{css}" x="{_short(left)}%" width="{_short(min(width, 100.0))}%" y="{_short(top)}" '
        f'height="{_short(height)}" rx="1"{pattern}/>'
    )


def _text(text: str, *, x: str, y: float, css: str, anchor: str = "start", shift: int = 0) -> str:
    moved = f' dx="{shift}"' if shift else ""
    return f'<text class="{css}" x="{x}" y="{_short(y)}" text-anchor="{anchor}"{moved}>{escape(text)}</text>'


def _tip(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")

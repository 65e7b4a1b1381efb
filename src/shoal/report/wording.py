"""How numbers and texts of the data are written on the page."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction

SHOWN = 60
"""Characters of a text that are shown; a longer text ends with an ellipsis."""

MISSING = "(missing)"
"""What stands for a missing value, whose own text is empty."""

# Control characters are shown by their Unicode pictures. Characters that a page may not hold, or that would turn the
# direction of the text around them, become the replacement character.
_PICTURES = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
_FORBIDDEN = re.compile(
    "[\x80-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane * 0x10000 + 0xFFFE) + chr(plane * 0x10000 + 0xFFFF) for plane in range(17))
    + "]"
)


def shown(text: str, limit: int = SHOWN) -> str:
    r"""A text of the data, fit to be read: short, and without characters that a page cannot hold.

    >>> shown("a\nb"), shown(""), shown("abcdef", 4)
    ('a␊b', '(missing)', 'abc…')
    """
    if text == "":
        return MISSING
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return allowed(short.translate(_PICTURES))


def allowed(text: str) -> str:
    """A text whose characters a page can hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def listed(names: Sequence[str], limit: int = 6) -> str:
    """Names as a list in a sentence.

    >>> listed(["age"]), listed(["age", "sex", "zip"]), listed(["a", "b", "c"], 2)
    ('age', 'age, sex and zip', 'a, b and 1 more')
    """
    parts = [shown(name) for name in names[:limit]]
    if len(names) > limit:
        parts.append(f"{count(len(names) - limit)} more")
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else ""


def count(number: int) -> str:
    """A whole number with thousands separators.

    >>> count(30162)
    '30,162'
    """
    return f"{number:,}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class"), counted(2, "place breaks", "places break")
    ('1 row', '1,200 rows', '2 classes', '2 places break')
    """
    ending = "es" if noun.endswith("s") else "s"
    return f"{count(number)} {noun if number == 1 else plural or noun + ending}"


def percent(share: float) -> str:
    r"""A share as a percentage; only exactly nothing and all are written as 0 % and 100 %.

    >>> [percent(share).replace("\xa0", " ") for share in (0.1234, 0.0001, 0.9999, 0, 1)]
    ['12.3 %', '< 0.1 %', '> 99.9 %', '0 %', '100 %']
    """
    if not math.isfinite(share):
        return "–"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", "\u00a0%")
    hundredths = 100 * share
    if 0 < hundredths < 0.1:
        return "<\u00a00.1\u00a0%"
    if 99.9 < hundredths < 100:
        return ">\u00a099.9\u00a0%"
    return f"{hundredths:.1f}\u00a0%"


def number(value: float | Fraction | None) -> str:
    """Any number, to four significant digits.

    >>> number(10), number(30162.0), number(0.148203), number(Fraction(1, 3)), number(None)
    ('10', '30,162', '0.1482', '0.3333', '–')
    """
    plain = math.nan if value is None else float(value)
    if not math.isfinite(plain):
        return "–"
    if plain.is_integer() and abs(plain) < 1e15:
        return count(int(plain))
    return f"{plain:,.0f}" if abs(plain) >= 10000 else f"{plain:.4g}"


def number_near(value: float) -> str:
    """A number to one decimal.

    >>> number_near(23.456), number_near(12.0), number_near(30162.3)
    ('23.5', '12', '30,162')
    """
    return number(round(value, 1) if abs(value) < 1000 else round(value))


def compact(value: float) -> str:
    """A short number for the axis of a chart.

    >>> compact(20.0), compact(0.25), compact(125000), compact(2500000)
    ('20', '0.25', '125k', '2.5M')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1e3 if letter == 'k' else unit):.4g}{letter}"
    return f"{value:.4g}"


def seconds(time: float) -> str:
    r"""A time in seconds.

    >>> [seconds(time).replace("\xa0", " ") for time in (0.01234, 75.2)]
    ['0.012 s', '75.2 s']
    """
    return f"{time:.3f}\u00a0s" if time < 1 else f"{time:.1f}\u00a0s"

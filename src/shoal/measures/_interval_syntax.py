"""Ranges in published cells: our own ``[25,31]`` and ``[25,30)``, and the ways in which others write them."""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import NamedTuple

from shoal.data._calendar import iso

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
BRACKETS = re.compile(r"([\[(\]])(.*)([\])\[])", re.DOTALL)
BETWEEN_NAMES = (",",)
BETWEEN_NUMBERS = (",", ";", "..", "–", "-")

EPOCH = datetime(1970, 1, 1)

Coordinate = Callable[[str], float | None]
"""Where a value stands in its column, or None where a text is no value of it."""


class Range(NamedTuple):
    """The values between two ends; an end that is open does not belong to it."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False


def number(text: str) -> float | None:
    """The number that a text stands for, or None.

    >>> number("-1.5e3"), number("1_000"), number("nan")
    (-1500.0, None, None)
    """
    return float(text) if NUMBER.fullmatch(text) else None


def day(text: str) -> float | None:
    """The days from 1970-01-01 to a date in any form that is read, or to an ISO time, or None.

    >>> day("1970-01-02"), day("02.01.1970"), day("1970-01-02T12:00:00"), day("1970")
    (1.0, 1.0, 1.5, None)
    """
    text = iso(text)
    try:
        return float((date.fromisoformat(text) - EPOCH.date()).days)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    return (moment - EPOCH).total_seconds() / 86400


def read_range(text: str, coordinate: Coordinate, names: bool = False) -> Range | None:
    """The range that a text stands for, or None where it stands for none or might stand for several.

    Numbers and dates may stand between brackets, round, square or turned around (``[15, 20[``), or bare
    (``19-33``); names only as ``[low,high]``. Either end may hold the separator itself: what counts is that
    both sides of it are values.

    >>> read_range("[15, 20[", number)
    Range(low=15.0, high=20.0, low_open=False, high_open=True)
    >>> read_range("-5--1", number)
    Range(low=-5.0, high=-1.0, low_open=False, high_open=False)
    >>> read_range("20-15", number)
    """
    bracketed = BRACKETS.fullmatch(text)
    if bracketed is None and names:
        return None
    opening, inside, closing = bracketed.groups() if bracketed else ("[", text, "]")
    for separator in BETWEEN_NAMES if names else BETWEEN_NUMBERS:
        found = list(_ends(inside, separator, coordinate))
        if len(found) > 1:
            return None
        if found:
            low, high = found[0]
            return Range(low, high, opening != "[", closing != "]")
    return None


def _ends(inside: str, separator: str, coordinate: Coordinate) -> Iterator[tuple[float, float]]:
    """The readings of a text as two values in order with a separator between them."""
    place = inside.find(separator)
    while place >= 0:
        low = coordinate(inside[:place].strip())
        high = coordinate(inside[place + len(separator) :].strip())
        if low is not None and high is not None and low <= high:
            yield low, high
        place = inside.find(separator, place + 1)

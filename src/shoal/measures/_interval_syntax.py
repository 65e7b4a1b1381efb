"""What published cells say: ranges, our own ``[25,31]`` and ``[25,30)`` and those of others, nodes, and plain texts."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Indptr, Rows, distinct, indptr_of
from shoal.data._calendar import iso
from shoal.data.domain import Domain
from shoal.data.hierarchy import Hierarchy

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

    A coded end (``90+``, ``<=20``) stands for its number.
    """
    plain = text.removeprefix("<=").removesuffix("+")
    return float(plain) if NUMBER.fullmatch(plain) else None


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


class NodeTexts:
    """What each text of a hierarchy stands for.

    Several nodes may carry one text: a short branch repeats its node on several levels, and careless
    hierarchies use a name twice. A published text then stands for the leaves of all of them, since a reader
    cannot tell them apart.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._places: dict[str, int] = {}
        leaf_texts: list[Codes] = []
        for level, labels in enumerate(hierarchy.labels):
            texts = [self._places.setdefault(label, len(self._places)) for label in labels]
            leaf_texts.append(np.array(texts, dtype=np.int32)[hierarchy.nodes_at(level)])
        leaves, count = len(hierarchy.leaves), len(self._places)
        pairs = [texts.astype(np.int64) * leaves + np.arange(leaves) for texts in leaf_texts]
        held = distinct(np.concatenate(pairs))
        sizes = np.bincount(held // leaves, minlength=count)
        self._indptr: Indptr = indptr_of(sizes)
        self._leaves: Rows = held % leaves
        levels = np.zeros(count, dtype=np.int32)
        for level in range(hierarchy.height, -1, -1):
            covered = np.bincount(leaf_texts[level], minlength=count)
            levels[(covered > 0) & ((covered == sizes) | (levels == 0))] = level
        self._levels: list[int] = levels.tolist()
        self._sizes: list[int] = sizes.tolist()

    def __contains__(self, text: str) -> bool:
        return text in self._places

    def count(self, text: str) -> int:
        """How many leaves a text stands for."""
        return self._sizes[self._places[text]]

    def leaves(self, text: str) -> Rows:
        """The leaves that a text stands for."""
        place = self._places[text]
        return self._leaves[self._indptr[place] : self._indptr[place + 1]]

    def level(self, text: str) -> int:
        """The lowest level on which a text stands for all of its leaves."""
        return self._levels[self._places[text]]

    def common_level(self, leaves: Rows) -> int:
        """The level of the lowest node over all of some leaves."""
        turn, depths = self._turns
        turns = turn[leaves]
        first, last = int(turns.min()), int(turns.max())
        return 0 if first == last else self._hierarchy.height - int(depths[first:last].min())

    @cached_property
    def _turns(self) -> tuple[Rows, Codes]:
        """The place of each leaf in depth-first order, and the depths between neighbors in that order."""
        order = self._hierarchy.depth_first()
        return np.argsort(order), self._hierarchy.boundary_depths(order)


@dataclass(frozen=True, slots=True, eq=False)
class PlainTexts:
    """What some texts say of a domain, an entry a text."""

    texts: list[str]  # the texts
    exact: Codes  # the code of the value whose label a text is; -1 where it is none
    low: Codes
    high: Codes
    """`low`, `high`: the codes at the ends of ``[low,high]``, both included, where both are labels and no label holds
    the comma; -1 where a text is nothing like it. The missing value is no end."""


def plain_texts(domain: Domain, texts: list[str]) -> PlainTexts:
    """Look up texts and their ends among the labels of a domain."""
    codes = {label: code for code, label in enumerate(domain.labels)}
    find = codes.get
    exact = np.array([find(text, -1) for text in texts], dtype=np.int32)
    if domain.missing is not None:
        del codes[""]
    ends = [text[1:-1].split(",") if text[:1] == "[" and text[-1] == "]" else () for text in texts]
    pairs = [(find(pair[0], -1), find(pair[1], -1)) if len(pair) == 2 else (-1, -1) for pair in ends]
    low, high = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    both = (low >= 0) & (high >= 0)
    return PlainTexts(texts, exact, np.where(both, low, -1), np.where(both, high, -1))

"""Stars on sensitive cells, and what lies under them."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import AnyArray, Counts, Floats, Mask, Rows
from shoal.attacks._class_view import ClassView, class_view, secrets, some_classes
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table
from shoal.models._equivalence_classes import PublishedClasses


@dataclass(frozen=True, slots=True, eq=False)
class Starred:
    """The classes with stars in one sensitive column, of those whose people are known."""

    column: Column  # as it is published
    shown: Counts
    hidden: Counts
    """`shown`, `hidden`: how often each of these classes shows each value, and has it under a star: classes by
    published values."""
    stars: Counts  # of each class
    overall: Counts  # how often each value is shown in the whole release
    totals: Floats  # how often each value is there in all, for a reader who knows that from elsewhere

    def right(self, guess: Rows, where: Mask | None = None) -> float:
        """The share of the stars, in some classes or in all, that hide the value that is named for their class."""
        hits = np.minimum(self.hidden[np.arange(len(guess)), guess], self.stars)
        inside = np.ones(len(guess), dtype=np.bool_) if where is None else where
        return float(hits[inside].sum() / max(int(self.stars[inside].sum()), 1))

    @property
    def partly(self) -> Mask:
        """The classes that still show a value."""
        return np.asarray(self.shown.sum(axis=1) > 0)

    def most_shown(self) -> Rows:
        """The value that each class shows most: where rules are hidden, it is shown as often as it may be."""
        return np.asarray((self.shown + self._tie()).argmax(axis=1))

    def most_missing(self) -> Rows:
        """The value that is starred most often in all, by its share of each class."""
        missing = np.maximum(self.totals - self.overall, 0) / np.maximum(self.totals, 1e-12)
        around = self.shown + self.totals / max(self.totals.sum(), 1e-12)
        return np.asarray((around * missing + 1e-6 * missing + 1e-3 * self._tie()).argmax(axis=1))

    def most_frequent(self) -> Rows:
        """The value that is shown most in all."""
        return np.full(len(self.stars), int(self.overall.argmax()))

    def by_chance(self) -> float:
        """How often the likeliest value of its class lies under a star that fell on any of its rows."""
        whole = self.shown + self.hidden
        shares = whole.max(axis=1) / np.maximum(whole.sum(axis=1), 1)
        return float(np.average(shares, weights=self.stars))

    def _tie(self) -> Floats:
        """Less than one row, the more the more frequent a value is."""
        return np.asarray(0.5 * self.overall / max(int(self.overall.sum()), 1))


def starred_columns(published: Table, original: Table, others: Table, rows: int, seed: int) -> list[Starred]:
    """What lies under the stars of each sensitive column, as the original shows, in about so many rows.

    `others`: people who tell how frequent each value is: some outside of the release, or the original.
    """
    whole = PublishedClasses.of(published).table
    starred = [column for column in secrets(whole, original) if SUPPRESSED in column.domain.labels]
    if not starred or not original.rows or not published.quasi:
        return []
    stars = np.logical_or.reduce([column.codes == _star(column) for column in starred])
    view = class_view(some_classes(published, rows, seed, stars), original)
    found = [
        _starred(view, original.column(column.name), column, others.column(column.name)) for column in starred
    ]
    return [one for one in found if one is not None]


def _star(column: Column) -> int:
    return column.domain.labels.index(SUPPRESSED)


def _starred(view: ClassView, truth: Column, whole: Column, frequencies: Column) -> Starred | None:
    """What lies under the stars of a column; None where there are none in classes whose people are known."""
    codes = {label: code for code, label in enumerate(whole.domain.labels)}
    here, held, rest = (
        _numbered(column, codes) for column in (view.classes.table.column(whole.name), truth, frequencies)
    )
    star, width = codes[SUPPRESSED], len(codes)
    home, known = view.homes()
    shown = _table(view.classes.number, here, len(view.classes), width)
    stars = shown[:, star].copy()
    shown[:, star] = 0
    asked = np.flatnonzero(known & (stars > 0))
    if not len(asked):
        return None
    members = np.flatnonzero(home >= 0)
    hidden = np.maximum(_table(home[members], held[members], len(view.classes), width) - shown, 0)[asked]
    overall = np.bincount(whole.codes, minlength=width).astype(np.int64)
    overall[star] = 0
    totals = np.bincount(rest, minlength=width) * (len(whole.codes) / max(len(rest), 1))
    return Starred(whole, shown[asked], hidden, stars[asked], overall, totals.astype(np.float64))


def _numbered(column: Column, codes: dict[str, int]) -> Rows:
    """The cells of a column by their texts, with new numbers for new ones."""
    numbers = [codes.setdefault(label, len(codes)) for label in column.domain.labels]
    return np.array(numbers, dtype=np.int64)[column.codes]


def _table(rows: Rows, codes: AnyArray, height: int, width: int) -> Counts:
    keys = rows * np.int64(width) + codes
    return np.bincount(keys, minlength=height * width).reshape(height, width).astype(np.int64)

"""Utility measures computed cell by cell, from the texts of the original and of the release."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Row = Mapping[str, str]


@dataclass
class Attribute:
    """A quasi-identifier: how it is ordered, and its tree as rows from a leaf to the root."""

    name: str
    coordinate: Callable[[str], float] | None = None
    paths: Sequence[tuple[str, ...]] | None = None
    by_width: bool = False
    ranked: bool = False

    def values(self, original: Sequence[Row]) -> set[str]:
        """All values of the attribute."""
        return {path[0] for path in self.paths} if self.paths else {row[self.name] for row in original}

    def ends(self, text: str) -> tuple[float, float] | None:
        """The two ends of a range written as ``[low,high]`` or ``[low,high)``."""
        if self.coordinate is None or text[:1] != "[":
            return None
        low, high = text[1:-1].split(",")
        return self.coordinate(low), self.coordinate(high)

    def candidates(self, text: str, original: Sequence[Row]) -> set[str]:
        """The values that a published text may stand for."""
        values = self.values(original)
        if text == "*":
            return values
        under = {path[0] for path in self.paths or () if text in path}
        if under or text in values:
            return under or {text}
        if text.startswith("{"):
            members = [self.candidates(member, original) for member in text[1:-1].split("|")]
            return set().union(*members)
        ends = self.ends(text)
        assert ends is not None
        assert self.coordinate is not None
        return {
            value
            for value in values
            if value
            and ends[0] <= self.coordinate(value)
            and (self.coordinate(value) < ends[1] or (text[-1] == "]" and self.coordinate(value) == ends[1]))
        }

    def extent(self, text: str, original: Sequence[Row]) -> float | None:
        """The width of a text as a share of the original's, where the column is measured by width."""
        ends = self.ends(text)
        if self.coordinate is None or (self.paths and not self.by_width) or (self.ranked and not ends):
            return None
        known = [self.coordinate(row[self.name]) for row in original if row[self.name]]
        if self.ranked:
            return (len(self.candidates(text, original)) - 1) / max(len(set(known)) - 1, 1)
        if ends is None:
            inside = [self.coordinate(value) for value in self.candidates(text, original) if value]
            ends = (min(inside, default=0), max(inside, default=0))
        if not known or max(known) == min(known):
            return 0.0
        return min((ends[1] - ends[0]) / (max(known) - min(known)), 1.0)


def column_loss(
    original: Sequence[Row], released: Sequence[Row], attribute: Attribute, measure: str
) -> float:
    """The mean loss of one column by ``lm``, ``ncp`` or ``counted``, over the rows of the original."""
    total = float(len(original) - len(released))
    size = len(attribute.values(original))
    for row in released:
        text = row[attribute.name]
        number = len(attribute.candidates(text, original))
        extent = None if measure == "counted" else attribute.extent(text, original)
        if text == "*":
            total += 1
        elif extent is not None:
            total += extent
        elif measure == "ncp":
            total += number / size if number > 1 else 0
        else:
            total += (number - 1) / (size - 1) if size > 1 else 0
    return total / len(original)


def granularity(
    original: Sequence[Row], released: Sequence[Row], attributes: Sequence[Attribute]
) -> float | None:
    """1 less the weighted mean of the counted losses; None where no weight is left."""
    weights = [1 - 1 / len(attribute.values(original)) for attribute in attributes]
    losses = [column_loss(original, released, attribute, "counted") for attribute in attributes]
    if not sum(weights):
        return None
    return 1 - sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)


def precision(original: Sequence[Row], released: Sequence[Row], attribute: Attribute) -> float:
    """1 less the mean of level / height; a text that is not a node counts as the lowest node that covers it."""
    assert attribute.paths is not None
    height = len(attribute.paths[0]) - 1
    total = float(len(original) - len(released))
    for row in released:
        text = row[attribute.name]
        covered = attribute.candidates(text, original)
        paths = [path for path in attribute.paths if path[0] in covered]
        if text == "*":
            level = height
        elif any(text in path for path in paths):
            level = min(path.index(text) for path in paths)
        else:
            level = min(level for level in range(height + 1) if len({path[level] for path in paths}) == 1)
        total += level / height
    return 1 - total / len(original)


def class_sizes(released: Sequence[Row], quasi: Sequence[str], suppressed: int = 0) -> list[int]:
    """The sizes of the classes, ascending, without the suppressed rows that are published as ``*``."""
    counts = Counter(tuple(row[name] for name in quasi) for row in released)
    counts[("*",) * len(quasi)] -= suppressed
    return sorted(count for count in counts.values() if count > 0)


def discernibility(sizes: Sequence[int], suppressed: int, rows: int) -> int:
    """The number of rows that each row is confused with, summed row by row."""
    return sum(size for size in sizes for _ in range(size)) + sum(rows for _ in range(suppressed))

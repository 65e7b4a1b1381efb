"""Full-domain generalization by trying every vector of levels, on texts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import log2

Row = Mapping[str, str]
Path = tuple[str, ...]
Levels = tuple[int, ...]
Keeps = Callable[[Sequence[Row], Sequence[Row]], bool]
"""Whether a class keeps a promise, given all rows that are published."""


class Table:
    """Rows of texts, and for each quasi-identifier the path of each value from itself to the root."""

    def __init__(self, rows: Sequence[Row], paths: Mapping[str, Sequence[Path]]) -> None:
        self.rows = rows
        self.paths = {name: {path[0]: path for path in known} for name, known in paths.items()}
        self.heights = [len(next(iter(known.values()))) - 1 for known in self.paths.values()]

    def vectors(self) -> list[Levels]:
        return list(product(*(range(height + 1) for height in self.heights)))

    def cells(self, row: Row, levels: Levels) -> Path:
        return tuple(
            self.paths[name][row[name]][level] for name, level in zip(self.paths, levels, strict=True)
        )

    def kept(self, levels: Levels, *promises: Keeps) -> list[int]:
        """The rows that are published: classes that break a promise are removed, beginning with the first promise.

        Then the rest is judged again by all promises, until no class fails.
        """
        classes: dict[Path, list[int]] = {}
        for place, row in enumerate(self.rows):
            classes.setdefault(self.cells(row, levels), []).append(place)
        classes = {
            cells: places
            for cells, places in classes.items()
            if promises[0]([self.rows[place] for place in places], self.rows)
        }
        keeps = all_of(*promises)
        while True:
            published = [self.rows[place] for places in classes.values() for place in places]
            good = {
                cells: places
                for cells, places in classes.items()
                if keeps([self.rows[place] for place in places], published)
            }
            if len(good) == len(classes):
                return sorted(place for places in classes.values() for place in places)
            classes = good

    def measures(self, levels: Levels, kept: Sequence[int], k: int) -> dict[str, float]:
        """Every measure of a release, from its definition."""
        total = len(self.rows)
        found = dict.fromkeys(("lm", "ncp", "granularity", "entropy", "precision"), 0.0)
        weights = {name: 1 - 1 / len(known) for name, known in self.paths.items()}
        for (name, known), level, height in zip(self.paths.items(), levels, self.heights, strict=True):
            count = Counter(row[name] for row in self.rows)
            for place, row in enumerate(self.rows):
                text = known[row[name]][level] if place in kept else "*"
                under = {leaf for leaf, path in known.items() if text in path}
                lost = text == "*"
                loss = 1.0 if lost else (len(under) - 1) / max(len(known) - 1, 1)
                found["lm"] += loss / total
                found["ncp"] += (1.0 if lost else len(under) / len(known) if len(under) > 1 else 0.0) / total
                found["granularity"] += weights[name] * loss / total
                found["entropy"] += log2(sum(count[leaf] for leaf in under) / count[row[name]]) / total
                found["precision"] += (1.0 if lost else known[row[name]].index(text) / height) / total
        found["precision"] /= len(self.paths)
        scale = sum(weights.values())
        found["granularity"] = found["granularity"] / scale if scale else found["lm"] / len(self.paths)
        sizes = Counter(self.cells(self.rows[place], levels) for place in kept)
        found["discernibility"] = sum(size * size for size in sizes.values()) + (total - len(kept)) * total
        found["c_avg"] = len(kept) / len(sizes) / k if sizes else float("inf")
        return found

    def solutions(self, limit: int, *promises: Keeps) -> dict[Levels, list[int]]:
        """The vectors that leave out few enough rows, and not all, each with the rows that it publishes."""
        found = {levels: self.kept(levels, *promises) for levels in self.vectors()}
        return {
            levels: kept for levels, kept in found.items() if kept and len(self.rows) - len(kept) <= limit
        }


def at_least(k: int) -> Keeps:
    """K-anonymity."""
    return lambda rows, _: len(rows) >= k


def different(count: int, column: str) -> Keeps:
    """Distinct l-diversity."""
    return lambda rows, _: len({row[column] for row in rows}) >= count


def within(tenths: int, column: str) -> Keeps:
    """t-closeness by the equal distance, t in tenths, without rounding."""

    def keeps(rows: Sequence[Row], everybody: Sequence[Row]) -> bool:
        here, all_rows = Counter(row[column] for row in rows), Counter(row[column] for row in everybody)
        work = sum(abs(here[value] * len(everybody) - all_rows[value] * len(rows)) for value in all_rows)
        return 10 * work <= 2 * tenths * len(rows) * len(everybody)

    return keeps


def all_of(*promises: Keeps) -> Keeps:
    """Several promises."""
    return lambda rows, everybody: all(keeps(rows, everybody) for keeps in promises)


def matching(rows: Sequence[Path]) -> list[int]:
    """How many rows match each row where an empty cell matches every cell."""
    return [
        sum(all(a == b or not a or not b for a, b in zip(one, other, strict=True)) for other in rows)
        for one in rows
    ]

"""An attack on cross-tables, from the published files alone: its own reading, its own equations, its own programs."""

import csv
import json
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

Place = tuple[str, ...]


class Attacked:
    """What a stranger, or somebody who knows some cells, can tell of hidden cells."""

    def __init__(self, folder: Path, value: str) -> None:
        facts = json.loads((folder / "release" / "release.json").read_text())
        names = [column["name"] for column in facts["columns"]]
        parts = {column["name"]: column["parts"] for column in facts["columns"]}
        with (folder / "release" / "data.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.seen = {tuple(row[name] for name in names): row[value] for row in rows}
        self.least = 1 if value == "count" else 0  # cells without rows are never hidden
        self.hidden = [place for place, text in self.seen.items() if text == "*"]
        self.column = {place: n for n, place in enumerate(self.hidden)}
        self.lines: list[tuple[dict[int, float], float]] = []
        for place, axis in product(self.seen, range(len(names))):
            below = parts[names[axis]].get(place[axis])
            inside = [(*place[:axis], part, *place[axis + 1 :]) for part in below or ()]
            if not inside or inside[0] not in self.seen:
                continue
            line: dict[int, float] = {}
            known = Decimal(0)
            for one, sign in [(place, -1), *((part, 1) for part in inside)]:
                if self.seen[one] == "*":
                    line[self.column[one]] = sign
                else:
                    known += sign * Decimal(self.seen[one])
            self.lines.append((line, -float(known)))
            assert line or known == 0

    def interval(
        self, place: Place, known: dict[Place, float] | None = None, least: dict[Place, float] | None = None
    ) -> tuple[float, float]:
        """The least and most that a hidden cell can be, where some are known, or known to be at least so much."""
        matrix = np.zeros((len(self.lines), len(self.hidden)))
        for n, (line, _) in enumerate(self.lines):
            for column, sign in line.items():
                matrix[n, column] = sign
        sums = np.array([known for _, known in self.lines])
        bounds: list[tuple[float, float | None]] = [(self.least, None)] * len(self.hidden)
        for one, value in (least or {}).items():
            if one in self.column:
                bounds[self.column[one]] = (max(value, self.least), None)
        for one, value in (known or {}).items():
            bounds[self.column[one]] = (value, value)
        ends = []
        for sign in (1, -1):
            goal = np.zeros(len(self.hidden))
            goal[self.column[place]] = sign
            found = linprog(goal, A_eq=matrix, b_eq=sums, bounds=bounds, method="highs")
            assert found.status in (0, 3), found.message
            ends.append(sign * found.fun if found.status == 0 else np.inf)
        return float(ends[0]), float(ends[1])

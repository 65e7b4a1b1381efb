"""No hidden cell can be told better than promised: random tables, attacked by independent code."""

from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.summaries.attack import Attacked

import shoal
from shoal.errors import Infeasible

FAST, ALL = 24, 500
PERSONS, CELLS = 1, 3
"""So many of those who are alone in a cell attack so many others: each attack is two programs."""

Cell = tuple[str, ...]


def drawn(seed: int, *, small: bool) -> tuple[pl.DataFrame, list[list[str]], dict[str, Any]]:
    """Rows, tables and a promise; columns of two to five values, rare ones among them."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 4 if small else 6, random.integers(1, 4))
    if len(sizes) == 3:
        sizes = np.minimum(sizes, 2 if small else 3)
    rows = int(random.integers(8, 40 if small else 160))
    frame: dict[str, Any] = {
        f"c{n}": random.choice(
            [f"v{value}" for value in range(size)], rows, p=random.dirichlet(np.ones(size))
        )
        for n, size in enumerate(sizes)
    }
    frame["pay"] = np.round(random.lognormal(3, 1.2, rows), int(random.choice([0, 0, 2])))
    frame["pay"][random.random(rows) < 0.1] = 0
    names = [f"c{n}" for n in range(len(sizes))]
    tables = [names]
    if len(names) == 3 and random.random() < 0.5:
        tables = [names[:2], [names[0], names[2]]]
    promise: dict[str, Any] = {
        "threshold": int(random.integers(2, 6)),
        "p": float(random.choice([5, 10, 25])),
    }
    if random.random() < 0.3:
        promise["dominance"] = (int(random.integers(1, 4)), float(random.choice([70, 85])))
    return pl.DataFrame(frame), tables, promise


def cells_of(row: dict[str, Any], tables: list[list[str]]) -> set[Cell]:
    """The cells that a row is in, by the plain definition."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    return {
        tuple(row[name] if name in chosen else "TOTAL" for name in names)
        for table in tables
        for keep in product([True, False], repeat=len(table))
        for chosen in [{name for name, kept in zip(table, keep, strict=True) if kept}]
    }


def holds(seed: int, folder: Path, *, small: bool = False) -> int:
    """Publish a random table, and attack it; gives how many cells are hidden."""
    frame, tables, promise = drawn(seed, small=small)
    rows = frame.to_dicts()
    members: dict[Cell, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        for cell in cells_of(row, tables):
            members[cell].append(number)
    out = folder / f"out{seed}"
    try:
        shoal.summarize(frame, tables, count=True, sums=["pay"], time_limit=5, **promise).write(
            out, report=False
        )
    except Infeasible:
        return 0
    assert all(shoal.verify(out))
    counted = _counts(Attacked(out, "count"), members, promise["threshold"])
    share = promise["p"] / 100
    if "dominance" in promise:
        share = max(share, (100 - promise["dominance"][1]) / promise["dominance"][1])
    pays = [row["pay"] for row in rows]
    return counted + _sums(Attacked(out, "sum_pay"), members, pays, promise, share)


def alone(attacked: Attacked, members: dict[Cell, list[int]]) -> list[int]:
    """Some of the rows that are alone in a hidden cell."""
    return sorted({members[cell][0] for cell in attacked.hidden if len(members[cell]) == 1})[:PERSONS]


def _counts(attacked: Attacked, members: dict[Cell, list[int]], threshold: int) -> int:
    for cell, text in attacked.seen.items():
        count = len(members[cell])
        assert text == "*" or int(text) == count
        assert text == "*" or not 0 < count < threshold
    for cell in attacked.hidden:
        low, high = attacked.interval(cell)
        assert low - 1e-6 <= len(members[cell]) <= high + 1e-6
        assert high - low >= threshold - 1e-6
    for person in alone(attacked, members):
        own = {cell: 1.0 for cell in attacked.hidden if members[cell] == [person]}
        least = {cell: 1.0 for cell in attacked.hidden if person in members[cell]}
        for cell in [cell for cell in attacked.hidden if cell not in own][:CELLS]:
            low, high = attacked.interval(cell, own, least)
            assert high - low >= threshold - 1e-6
    return len(attacked.hidden)


def _sums(
    attacked: Attacked,
    members: dict[Cell, list[int]],
    pays: list[float],
    promise: dict[str, Any],
    share: float,
) -> int:
    for cell, text in attacked.seen.items():
        amounts = sorted((pays[row] for row in members[cell]), reverse=True)
        if text == "*":
            continue
        assert float(text) == pytest.approx(sum(amounts), abs=1e-6)
        if amounts:
            assert len(amounts) >= promise["threshold"]
            assert sum(amounts[2:]) >= promise["p"] / 100 * amounts[0] - 1e-6
            n, k = promise.get("dominance", (1, 100))
            assert sum(amounts[:n]) <= k / 100 * sum(amounts) + 1e-6
    for cell in attacked.hidden:
        low, high = attacked.interval(cell)
        true = sum(pays[row] for row in members[cell])
        assert low <= true * (1 - share) + 1e-6 * (1 + true)
        assert high >= true * (1 + share) - 1e-6 * (1 + true)
        assert high - low >= 1 - 1e-6
    for person in alone(attacked, members):
        own = {cell: pays[person] for cell in attacked.hidden if members[cell] == [person]}
        least = {cell: pays[person] for cell in attacked.hidden if person in members[cell]}
        for cell in [cell for cell in attacked.hidden if cell not in own][:CELLS]:
            mine = least.get(cell, 0.0)
            others = sum(pays[row] for row in members[cell]) - mine
            low, high = attacked.interval(cell, own, least)
            assert low - mine <= others * (1 - share) + 1e-5 * (1 + others)
            assert high - mine >= others * (1 + share) - 1e-5 * (1 + others)
    return len(attacked.hidden)


def test_no_hidden_cell_is_told(tmp_path: Path) -> None:
    assert sum(holds(seed, tmp_path, small=True) for seed in range(FAST)) > FAST


def test_what_somebody_has_of_a_cell_narrows_others_too(tmp_path: Path) -> None:
    """Who is alone in one cell is in other hidden cells as well, which are at least what she has of them."""
    assert holds(73, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_hidden_cell_is_told_of_many_tables(part: int, tmp_path: Path) -> None:
    seeds = range(FAST, ALL)[part::10]
    assert sum(holds(seed, tmp_path) for seed in seeds) > len(seeds)


def test_the_attack_finds_what_is_not_protected(tmp_path: Path) -> None:
    """Cells published again, one by one, give others away: the attack would see a missing complement."""
    frame = pl.DataFrame({"a": list("xxxyyyyzzzz"), "b": list("1222222" + "1111")})
    shoal.summarize(frame, ["a", "b"]).write(tmp_path / "out")
    data = tmp_path / "out" / "release" / "data.csv"
    whole = data.read_text()
    assert whole.count("*") >= 4
    table = dict(line.rsplit(",", 1) for line in whole.split()[1:])
    true = frame.group_by("a", "b").len().rows()
    shown = next((a, b, n) for a, b, n in true if table[f"{a},{b}"] == "*" and n >= 3)
    data.write_text(whole.replace(f"{shown[0]},{shown[1]},*", f"{shown[0]},{shown[1]},{shown[2]}"))
    attacked = Attacked(tmp_path / "out", "count")
    widths = [high - low for low, high in map(attacked.interval, attacked.hidden)]
    assert min(widths) < 3
    assert not shoal.verify(tmp_path / "out")[0].holds

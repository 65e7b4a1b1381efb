"""Rows in parts on a cluster that loses whatever it has computed: everything is computed anew each time it is used.

Rows of a source come in another order each time, like those of a shuffle, and nothing is kept even if it should be.
A stage that follows a `group` sees some groups as one attempt made them and the others as another attempt did, which is
what a lost worker leaves behind. Work whose result does not depend on the order gives the same result here.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import polars as pl
from tests.parts import MemoryEngine, MemoryParts

from shoal.data.dataset import COUNT, TextLayout
from shoal.engines.distributed import Distributed, tallied

Result = TypeVar("Result")
Make = Callable[[np.random.Generator], pl.DataFrame]


class RetriedParts:
    """Rows that are made anew whenever they are asked for.

    Parameters
    ----------
    make
        Makes the rows; each random generator is another attempt.
    """

    def __init__(self, make: Make, random: np.random.Generator) -> None:
        self._make, self._random = make, random

    @classmethod
    def of(cls, frame: pl.DataFrame, seed: int = 0) -> "RetriedParts":
        """Rows that come in any order."""
        return cls(lambda random: shuffled(frame, random), np.random.default_rng(seed))

    def _next(self, make: Make) -> "RetriedParts":
        return RetriedParts(make, self._random)

    def _frame(self) -> pl.DataFrame:
        return self._make(self._random)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._frame().columns)

    def select(self, names: Sequence[str]) -> "RetriedParts":
        return self._next(lambda random: self._make(random).select(names))

    def map(self, work: Callable[[pl.DataFrame], pl.DataFrame], schema: Any) -> "RetriedParts":
        wanted = pl.Schema(schema)
        return self._next(
            lambda random: pl.concat([wanted.to_frame(), *map(work, cut(self._make(random), random))])
        )

    def group(self, by: str, work: Callable[[pl.DataFrame], pl.DataFrame], schema: Any) -> "RetriedParts":
        wanted = pl.Schema(schema)

        def make(random: np.random.Generator) -> pl.DataFrame:
            attempts = [
                {int(group[by][0]): group for group in shuffled(self._make(random), random).partition_by(by)}
                for _ in range(2)
            ]
            numbers = sorted(attempts[0].keys() | attempts[1].keys())
            chosen = (attempts[int(random.integers(2))].get(number) for number in numbers)
            made = [work(group) for group in chosen if group is not None]
            return pl.concat([wanted.to_frame(), *(made[place] for place in random.permutation(len(made)))])

        return self._next(make)

    def fold(
        self, work: Callable[[pl.DataFrame], Result], merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        return MemoryParts(self._frame(), int(self._random.integers(1 << 30))).fold(work, merge)

    def counts(self, names: Sequence[str]) -> pl.DataFrame:
        return self._frame().group_by(list(names)).agg(pl.len().cast(pl.Int64).alias(COUNT)).sort(list(names))

    def tallies(self, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        return tallied(self, names)

    def distinct(self, names: Sequence[str]) -> "RetriedParts":
        return self._next(
            lambda random: shuffled(
                self._make(random).group_by(list(names)).agg(pl.len().cast(pl.Int64).alias(COUNT)), random
            )
        )

    def sort(self, names: Sequence[str]) -> "RetriedParts":
        return self._next(lambda random: shuffled(self._make(random), random).sort(list(names)))

    def union(self, other: "RetriedParts") -> "RetriedParts":
        return self._next(
            lambda random: pl.concat([self._make(random), other.select(self.names)._make(random)])
        )

    def as_categories(self) -> "RetriedParts":
        return self

    def keep(self) -> "RetriedParts":
        return self

    def collect(self) -> pl.DataFrame:
        return self._frame()

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        return MemoryParts(self._frame(), int(self._random.integers(1 << 30))).write(folder, ending, header)


class RetriedEngine(Distributed):
    """A cluster that loses whatever it has computed."""

    name = "retried"
    numbers_lines = False

    def __init__(self, memory: int = 1 << 30) -> None:
        self.memory = memory
        self._memory = MemoryEngine(memory)

    def parts(self, frame: pl.DataFrame) -> RetriedParts:
        return RetriedParts.of(frame)

    def own(self, source: Any) -> RetriedParts | None:
        return source if isinstance(source, RetriedParts) else None

    def head(self, path: str) -> bytes:
        return self._memory.head(path)

    def delimited(self, path: str, layout: TextLayout) -> RetriedParts:
        return RetriedParts.of(self._memory.delimited(path, layout).collect())

    def columns(self, path: str) -> RetriedParts:
        return RetriedParts.of(self._memory.columns(path).collect())

    def lines(self, path: str) -> RetriedParts:
        return RetriedParts.of(self._memory.lines(path).collect())

    def close(self) -> None:
        pass


def shuffled(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    return frame[random.permutation(frame.height)] if frame.height else frame


def cut(frame: pl.DataFrame, random: np.random.Generator) -> list[pl.DataFrame]:
    places = [0, *sorted(random.integers(0, frame.height + 1, 4).tolist()), frame.height]
    return [piece for low, high in pairwise(places) if (piece := frame[low:high]).height]

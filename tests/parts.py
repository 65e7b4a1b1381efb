"""Rows in parts, all in memory, cut anew at random for every verb, so that anything that depends on the cut shows."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from shoal.data._frames import enumeration, plain_texts
from shoal.data.baskets import Baskets
from shoal.data.dataset import COUNT, Dataset, TextLayout
from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.engines.distributed import Distributed, tallied
from shoal.errors import Infeasible
from shoal.io.reading import Reading
from shoal.io.source import part_files

Result = TypeVar("Result")


class MemoryParts:
    """Rows in parts, for tests.

    Parameters
    ----------
    frame
        The rows.
    seed
        Of the random places of cuts and the random order of groups.
    pieces
        The largest number of frames that rows are cut into.
    """

    def __init__(self, frame: pl.DataFrame, seed: int = 0, pieces: int = 5) -> None:
        self._frame, self._seed, self._pieces = frame, seed, pieces

    def _next(self, frame: pl.DataFrame) -> "MemoryParts":
        return MemoryParts(frame, self._seed + 1, self._pieces)

    def _cut(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        random = np.random.default_rng(self._seed)
        count = int(random.integers(0, self._pieces))
        places = [0, *sorted(random.integers(0, frame.height + 1, count).tolist()), frame.height]
        cut = [frame[low:high] for low, high in pairwise(places)]
        return [piece for piece in cut if piece.height]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._frame.columns)

    def select(self, names: Sequence[str]) -> "MemoryParts":
        return self._next(self._frame.select(names))

    def map(self, work: Callable[[pl.DataFrame], pl.DataFrame], schema: Any) -> "MemoryParts":
        return self._next(_joined([work(piece) for piece in self._cut(self._frame)], schema))

    def group(self, by: str, work: Callable[[pl.DataFrame], pl.DataFrame], schema: Any) -> "MemoryParts":
        random = np.random.default_rng(self._seed)
        rows = self._frame[random.permutation(self._frame.height)] if self._frame.height else self._frame
        groups = rows.partition_by(by, maintain_order=True) if rows.height else []
        return self._next(_joined([work(group) for group in groups], schema))

    def fold(
        self, work: Callable[[pl.DataFrame], Result], merge: Callable[[Result, Result], Result]
    ) -> Result | None:
        found = [work(piece) for piece in self._cut(self._frame)]
        random = np.random.default_rng(self._seed)
        while len(found) > 1:
            one = found.pop(int(random.integers(len(found))))
            other = found.pop(int(random.integers(len(found))))
            found.append(merge(one, other))
        return found[0] if found else None

    def counts(self, names: Sequence[str]) -> pl.DataFrame:
        return self._frame.group_by(list(names)).agg(pl.len().cast(pl.Int64).alias(COUNT)).sort(list(names))

    def tallies(self, names: Sequence[str]) -> dict[str, pl.DataFrame]:
        return tallied(self, names)

    def distinct(self, names: Sequence[str]) -> "MemoryParts":
        return self._next(self.counts(names).sample(fraction=1, shuffle=True, seed=self._seed))

    def sort(self, names: Sequence[str]) -> "MemoryParts":
        return self._next(self._frame.sort(list(names)))

    def union(self, other: "MemoryParts") -> "MemoryParts":
        return self._next(pl.concat([other.collect().select(self.names), self._frame]))

    def keep(self) -> "MemoryParts":
        return self

    def as_categories(self) -> "MemoryParts":
        texts = self._frame.to_dict()
        kinds = {
            name: enumeration(cells.drop_nulls().unique())
            for name, cells in texts.items()
            if cells.dtype == pl.String
        }
        return self._next(
            pl.DataFrame([cells.cast(kinds.get(name, cells.dtype)) for name, cells in texts.items()])
        )

    def collect(self) -> pl.DataFrame:
        return self._frame

    def write(self, folder: str, ending: str, header: str | None = None) -> int:
        Path(folder).mkdir(parents=True)
        pieces = self._cut(self._frame) or [self._frame]
        for number, piece in enumerate(pieces):
            path = Path(folder) / f"part-{number:05}{ending}"
            if ending == ".parquet":
                piece.write_parquet(path)
            else:
                lines = [*([] if header is None else [header]), *piece.to_series()]
                path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return len(pieces)


class MemoryEngine(Distributed):
    """An engine whose rows are in parts, but all in memory."""

    name = "memory"
    numbers_lines = True

    def __init__(self, memory: int = 1 << 30) -> None:
        self.memory = memory

    def parts(self, frame: pl.DataFrame) -> MemoryParts:
        return MemoryParts(frame)

    def own(self, source: Any) -> MemoryParts | None:
        return source if isinstance(source, MemoryParts) else None

    def head(self, path: str) -> bytes:
        return part_files(path)[0].read_bytes()

    def delimited(self, path: str, layout: TextLayout) -> MemoryParts:
        frames = [pl.DataFrame(schema=dict.fromkeys(layout.names, pl.String))]
        for file in part_files(path):
            text, line = file.read_bytes(), 1
            if layout.header is not None:
                text, line = text[text.index(b"\n") + 1 :], 2
            frames += [layout.parse(text, line, file)] if text else []
        return MemoryParts(pl.concat(frames))

    def columns(self, path: str) -> MemoryParts:
        return MemoryParts(pl.concat([pl.read_parquet(file) for file in part_files(path)]))

    def lines(self, path: str) -> MemoryParts:
        lines = [
            line
            for file in part_files(path)
            for line in file.read_text(encoding="utf-8-sig").split("\n")[:-1]
        ]
        return MemoryParts(pl.DataFrame({"line": lines}, schema={"line": pl.String}))

    def close(self) -> None:
        pass


def _joined(frames: list[pl.DataFrame], schema: Any) -> pl.DataFrame:
    wanted = pl.Schema(schema)
    frames = list(map(plain_texts, frames))  # work that takes categories may give them
    for frame in frames:
        assert frame.schema == wanted, f"{frame.schema} instead of {wanted}"
    return pl.concat(frames) if frames else wanted.to_frame()


def parted(table: Table, seed: int = 0) -> Dataset:
    """A table in parts, its rows shuffled."""
    frame = pl.DataFrame({column.name: column.codes for column in table.columns})
    rows = np.random.default_rng(seed).permutation(table.rows)
    schema = table.take(np.empty(0, dtype=np.int64))
    return Dataset(schema, MemoryParts(frame[rows] if table.rows else frame, seed), table.rows)


def parted_baskets(baskets: Baskets, seed: int = 0) -> Dataset:
    """Baskets in parts, shuffled."""
    random = np.random.default_rng(seed)
    baskets = baskets.take(random.permutation(len(baskets)).astype(np.int64))
    rows = [part.tolist() for part in np.split(baskets.items, baskets.indptr[1:-1])] if len(baskets) else []
    frame = pl.DataFrame({"items": rows}, schema={"items": pl.List(pl.Int32)})
    schema = baskets.take(np.empty(0, dtype=np.int64))
    return Dataset(schema, MemoryParts(frame, seed), len(baskets))


def read_dataset(
    engine: Distributed, source: Any, *, layout: str | None = None, separator: str | None = None, **roles: Any
) -> Dataset:
    """Baskets of a source, read by an engine."""
    baskets: Dataset = engine.load_baskets(
        source, layout, Reading(separator=separator), Roles.of(**roles)
    ).baskets
    return baskets


def published_rows(release: Dataset) -> pl.DataFrame:
    """All published rows."""
    return release.parts.collect()


def refusal(run: Callable[[], object]) -> str | None:
    """The error that says why something is infeasible; None if it is not."""
    try:
        run()
    except Infeasible as error:
        return str(error)
    return None

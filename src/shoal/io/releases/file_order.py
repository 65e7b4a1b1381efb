"""The order of published files, judged where an engine works: every worker goes through some files from end to end.

Rows that an engine reads come in any order, and only the files say which row follows which. So workers open the files
themselves; what they find of each is joined here, in the order of the files' names.
"""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.arrays import Rows
from shoal.data.dataset import Parts
from shoal.data.order_violations import TOLD, Disorder, early
from shoal.io.releases.order_readers import Block, Form, form_of
from shoal.io.releases.part_files import part_files

if TYPE_CHECKING:
    from shoal.engines.distributed import Distributed

SHARES = 16
"""Shares of the files that are handed to workers, at most."""

NUMBER, FILES, FOUND = "number", "files", "found"


@dataclass(frozen=True, slots=True)
class Spot:
    """A row that breaks the order: its place, the row in words, and what is wrong: the row ahead, or something else."""

    row: int
    text: str
    ahead: str | None = None
    why: str = ""

    def behind(self, rows: int) -> "Spot":
        """The same spot where so many rows come before."""
        return replace(self, row=self.row + rows)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is known of rows that follow each other."""

    rows: int = 0  # how many there are
    first: tuple[Any, str] | None = None
    last: tuple[Any, str] | None = None
    """`first`, `last`: what the first and the last row are compared by, each with the row in words; None where there
    are no rows."""
    faults: tuple[Spot, ...] = ()
    falls: tuple[Spot, ...] = ()
    """`faults`, `falls`: the first rows that are wrong by themselves, and the first that belong before the one ahead.
    """
    count: int = 0  # how many such rows there are


def order_of(engine: "Distributed", path: str | Path, shape: Mapping[str, Any]) -> Disorder:
    """Where a published file, or the part files of a folder, leave the canonical order.

    `path`: on a disk that all workers see. `shape`: what release.json says of the file: at least its form.
    """
    form = form_of(shape)
    files = [str(file.absolute()) for file in part_files(path)]
    # A basket of a long table may go on in the next file.
    runs = [files] if form.goes_on else [[file] for file in files]
    found = _shared(engine, runs).map(partial(_judged, form=form), {NUMBER: pl.Int64(), FOUND: pl.Binary()})
    packed = found.collect().sort(NUMBER)[FOUND].to_list()
    whole = reduce(partial(followed, form), map(pickle.loads, packed), Stretch())
    return _told(whole, form.noun)


def stretch_of(form: Form, files: Sequence[str]) -> Stretch:
    """What is known of the rows of files that follow each other."""
    blocks: Iterator[Block] = form.blocks(files)
    return reduce(partial(followed, form), map(_of_block, blocks), Stretch())


def followed(form: Form, one: Stretch, other: Stretch) -> Stretch:
    """What is known of rows and those that follow them."""
    if one.last is None or other.first is None:
        return other if one.last is None else one
    seam: tuple[Spot, ...] = ()
    if form.falls(one.last[0], other.first[0]):
        seam = (Spot(0, other.first[1], one.last[1]),)
    return Stretch(
        one.rows + other.rows,
        one.first,
        other.last,
        _first(one.faults, (spot.behind(one.rows) for spot in other.faults)),
        _first(one.falls, (spot.behind(one.rows) for spot in (*seam, *other.falls))),
        one.count + len(seam) + other.count,
    )


def _of_block(block: Block) -> Stretch:
    def edge(row: int) -> tuple[Any, str]:
        return block.key(row), block.text(row)

    if not block.rows:
        return Stretch()
    return Stretch(
        block.rows,
        edge(0),
        edge(block.rows - 1),
        tuple(Spot(row, block.text(row), why=why) for why, rows in block.faults for row in _some(rows))[
            :TOLD
        ],
        tuple(Spot(row, block.text(row), block.text(row - 1)) for row in _some(block.early)),
        len(block.early) + sum(len(rows) for _, rows in block.faults),
    )


def _some(rows: Rows) -> list[int]:
    some: list[int] = rows[:TOLD].tolist()
    return some


def _first(one: Iterable[Spot], other: Iterable[Spot]) -> tuple[Spot, ...]:
    return (*one, *other)[:TOLD]


def _shared(engine: "Distributed", runs: list[list[str]]) -> Parts:
    """Runs of files as parts, so that several workers have some of them."""
    frame = pl.DataFrame(
        {NUMBER: range(len(runs)), FILES: runs}, schema={NUMBER: pl.Int64, FILES: pl.List(pl.String)}
    )
    # Few rows are one part wherever they go, unless each of them comes from elsewhere.
    shares = [engine.parts(frame[begin::SHARES]) for begin in range(min(SHARES, len(runs)))]
    return reduce(lambda one, other: one.union(other), shares)


def _judged(frame: pl.DataFrame, form: Form) -> pl.DataFrame:
    """What is known of each run of files."""
    found = [pickle.dumps(stretch_of(form, files)) for files in frame[FILES].to_list()]
    return pl.DataFrame({NUMBER: frame[NUMBER], FOUND: found}, schema={NUMBER: pl.Int64, FOUND: pl.Binary})


def _told(whole: Stretch, noun: str) -> Disorder:
    def name(row: int, text: str) -> str:
        return f"{noun} {row + 1}{text}"

    places = [(name(spot.row, spot.text), spot.why) for spot in whole.faults]
    places += [
        (name(spot.row, spot.text), early(noun, name(spot.row - 1, spot.ahead or ""))) for spot in whole.falls
    ]
    return Disorder(noun, tuple(places[:TOLD]), whole.count)

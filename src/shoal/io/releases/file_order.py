"""The order of published files, judged where an engine works: every worker goes through some files from end to end.

Rows that a cluster reads come in any order, and only the files say which row follows which. So workers open the files
themselves; what they find of each is joined here, in the order of the files' names. Where rows come in
the order of their files (`Distributed.in_order`), those of a table are judged as they come.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from shoal.arrays import Rows
from shoal.data._frames import unnamed
from shoal.data._plain_text import counted
from shoal.data._set_keys import group_keys, tree_keys
from shoal.data.baskets import Baskets, descents
from shoal.data.clusters import Clusters
from shoal.data.dataset import Parts
from shoal.data.groups import Groups
from shoal.data.published_syntax import unguarded
from shoal.data.verdict import MISNUMBERED, NAMED, UNSORTED, OrderViolations, early, shortened
from shoal.errors import BadData
from shoal.io.baskets.assembly import from_pairs, pairs_of
from shoal.io.baskets.layouts import Layout, parse_layout
from shoal.io.baskets.lines import COMMENTS, read_lines, read_spmf
from shoal.io.baskets.long_tables import Pairs, misnumbered, read_column
from shoal.io.reading import Reading, own_reading
from shoal.io.releases.set_lines import Lines, read_clusters, read_groups
from shoal.io.source import BYTE_ORDER_MARK, PARQUET, last_line_end, part_files, read_bytes
from shoal.io.tables.delimited import Delimited
from shoal.io.tables.distributed import LOOKS, Looks, as_texts
from shoal.io.tables.encode import to_texts
from shoal.io.tables.input import FrameInput

if TYPE_CHECKING:
    from shoal.engines.distributed import Distributed


BYTES, ROWS = 1 << 22, 1 << 16
"""Of a file, what is looked at together: bytes of a text, or rows of columns."""

BASKET, ITEM = "basket", "item"

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that follow each other."""

    rows: int  # how many there are
    early: Rows  # those that belong before the one ahead of them
    key: Callable[[int], Any]
    text: Callable[[int], str]
    """`key`, `text`: what a row is compared by, and the row in words."""
    faults: tuple[tuple[str, Rows], ...] = ()  # what is wrong with rows by themselves, and with which


class Form:
    """How files of a published form are read. A form travels to the workers."""

    noun: ClassVar[str]
    """What a row is called."""

    continues: ClassVar[bool] = False
    """Whether the last row of a file may go on in the next."""

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """The rows of files, one after the other."""
        raise NotImplementedError

    def falls(self, one: Any, other: Any) -> bool:
        """Whether a row that is compared by the second belongs before one that is compared by the first."""
        return bool(other < one)


def form_of(shape: Mapping[str, Any]) -> Form:
    """The form that release.json names."""
    if shape["form"] == "table":
        return TableForm(shape.get(LOOKS, {}), "safe_cells" in shape)
    if shape["form"] in ("groups", "clusters"):
        return GroupsForm() if shape["form"] == "groups" else ClustersForm()
    layout = parse_layout(shape["layout"], shape.get("separator"))
    return {"long": LongForm, "column": ColumnForm}.get(layout.form, LinesForm)(layout)


@dataclass(frozen=True)
class TableForm(Form):
    """Rows of a table: compared by the texts of their cells, a missing one being empty."""

    looks: Looks
    safe_cells: bool = False
    noun = "row"

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """Some rows at a time."""
        for file in files:
            for read in frames_of(file, own_reading(file), trim=False):
                yield rows_block(as_texts(unguarded(read) if self.safe_cells else read, self.looks))


@dataclass(frozen=True)
class LinesForm(Form):
    """Baskets in files that have a line for each: compared by the texts of their items."""

    layout: Layout
    noun = "basket"

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """Some lines at a time."""
        for file in files:
            for text in texts_of(file, quoted=False):
                if self.layout.form == "spmf":
                    if any(line.strip() and line[:1] not in COMMENTS for line in text.split(b"\n")):
                        yield baskets_block(pairs_of(read_spmf(text, file)), self.layout)
                else:
                    yield baskets_block(pairs_of(read_lines(text, self.layout.separator)), self.layout)


class ColumnForm(LinesForm):
    """Baskets in the cells of a column."""

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """Some cells at a time."""
        for file in files:
            for frame in frames_of(file, own_reading(file), trim=True):
                pairs = read_column(FrameInput(frame, file), self.layout.columns[0], self.layout.separator)
                yield baskets_block(pairs, self.layout)


class LongForm(LinesForm):
    """Baskets in a table with a row for each item."""

    continues = True

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """Some whole baskets at a time: rows of the last one wait for those that follow."""
        before = 0
        waiting: list[pl.DataFrame] = []
        reading = Reading(separator=self.layout.separator)
        for file in files:
            for frame in frames_of(file, reading, trim=True):
                names = self.layout.columns or tuple(frame.columns[:2])
                texts = [to_texts(frame[name]).fill_null("").str.strip_chars(" \t\r") for name in names]
                rows = pl.concat([*waiting, pl.DataFrame(dict(zip((BASKET, ITEM), texts, strict=True)))])
                others = np.flatnonzero((rows[BASKET] != rows[BASKET][-1]).to_numpy())
                end = int(others[-1]) + 1 if len(others) else 0
                if end:
                    block = self._block(rows[:end], before)
                    before += block.rows
                    yield block
                waiting = [rows[end:]]
        if waiting:
            yield self._block(waiting[0], before)

    def _block(self, rows: pl.DataFrame, before: int) -> Block:
        """Whole baskets; a basket whose rows stand apart is several."""
        run = rows[BASKET].rle_id()
        called = rows[BASKET].filter(run.is_first_distinct())
        kept = rows[ITEM] != ""
        pairs = Pairs(run.filter(kept).to_numpy().astype(np.int64), rows[ITEM].filter(kept), len(called))
        return baskets_block(pairs, self.layout, misnumbered(called, before))


class GroupsForm(Form):
    """Lines of groups: compared by reading two of them together."""

    noun = "group"

    def blocks(self, files: Sequence[str]) -> Iterator[Block]:
        """Some lines at a time."""
        for file in files:
            for text in texts_of(file, quoted=False):
                yield self.block(text.decode("utf-8", "replace").removesuffix("\n").split("\n"), file)

    def block(self, lines: Sequence[str], file: str) -> Block:
        """Lines that follow each other."""
        groups = read_groups(Lines(file, lines))
        return Block(
            len(lines), descents(*group_keys(groups)), lines.__getitem__, lambda row: group_text(groups, row)
        )

    def falls(self, one: Any, other: Any) -> bool:
        """Whether the second of two lines belongs before the first."""
        return bool(len(self.block([one, other], "").early))


class ClustersForm(GroupsForm):
    """Lines of clusters."""

    noun = "cluster"

    def block(self, lines: Sequence[str], file: str) -> Block:
        """Lines that follow each other."""
        clusters: Clusters = read_clusters(Lines(file, lines))
        return Block(len(lines), descents(*tree_keys(clusters)), lines.__getitem__, lambda _: "")


def rows_block(texts: pl.DataFrame) -> Block:
    """Rows of a table that follow each other."""
    cells = texts.with_columns(pl.all().fill_null(""))
    return Block(cells.height, _early_rows(cells), cells.row, partial(_cells, cells))


def baskets_block(pairs: Pairs, layout: Layout, wrong: Rows | None = None) -> Block:
    """Baskets that follow each other, of which some have a wrong number."""
    baskets: Baskets = from_pairs(pairs, pairs.texts.unique().sort(), layout)
    numbers = np.empty(0, dtype=np.int64) if wrong is None else wrong
    return Block(
        len(baskets),
        descents(baskets.indptr, baskets.items),
        baskets.basket,
        lambda row: f" {{{shortened(', '.join(baskets.basket(row)))}}}",
        ((MISNUMBERED, numbers), (UNSORTED, baskets.unsorted)),
    )


def group_text(groups: Groups, group: int) -> str:
    """A group in words: its size and its first basket."""
    baskets = groups.group(group).baskets
    first = shortened(" ".join(baskets[0]))
    return f" ({counted(len(baskets), 'baskets')}, the first is {{{first}}})"


def frames_of(file: str, reading: Reading, *, trim: bool) -> Iterator[pl.DataFrame]:
    """The rows of a file of columns or of delimited text, some at a time."""
    if Path(file).suffix in PARQUET:
        try:
            lazy = pl.scan_parquet(file, glob=False)
            yield from (
                frame for frame in lazy.collect_batches(chunk_size=ROWS, maintain_order=True) if frame.height
            )
        except pl.exceptions.PolarsError as error:
            raise BadData("this is not a whole Parquet file.", file) from error
        return
    for text in texts_of(file, quoted=True):
        opened = Delimited(file, reading, trim=trim, allow_no_rows=True, text=text)
        reading = Reading(names=opened.names, separator=opened.separator)
        frame = opened.frame(opened.names)
        if frame.height:
            yield frame


def texts_of(file: str, *, quoted: bool) -> Iterator[bytes]:
    """The whole lines of a text, some at a time; line ends inside quotes end no line."""
    with Path(file).open("rb") as opened:
        rest = opened.read(BYTES)
        if rest.startswith(_PACKED):
            # What is packed is no file that was published; it is judged all the same, in one piece.
            yield read_bytes(file).removeprefix(BYTE_ORDER_MARK)
            return
        rest = rest.removeprefix(BYTE_ORDER_MARK)
        # More at a time where no line ended, or a single long cell would be gone through again and again.
        while more := opened.read(max(BYTES, len(rest))):
            end = last_line_end(rest, quoted=quoted)
            if end:
                yield rest[:end]
            rest = rest[end:] + more
        if rest:
            yield rest if rest.endswith(b"\n") else rest + b"\n"


def _early_rows(cells: pl.DataFrame) -> Rows:
    """The rows that come before the one ahead of them by their texts, first column first."""
    early = np.zeros(max(cells.height - 1, 0), dtype=np.bool_)
    tied = ~early
    for series in cells:
        if not tied.any():
            break
        here, ahead = unnamed(series)[1:], unnamed(series)[:-1]
        early |= tied & (here < ahead).to_numpy()
        tied &= (here == ahead).to_numpy()
    return np.flatnonzero(early) + 1


def _cells(cells: pl.DataFrame, row: int) -> str:
    return f" ({shortened(', '.join(cells.row(row)))})"


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


def order_violations(engine: "Distributed", path: str | Path, shape: Mapping[str, Any]) -> OrderViolations:
    """The rows out of order in a published file, or in the part files of a folder.

    `path`: on a disk that all workers see. `shape`: what release.json says of the file: at least its form.
    """
    form = form_of(shape)
    files = [str(file.absolute()) for file in part_files(path)]
    # A basket of a long table may go on in the next file.
    runs = [files] if form.continues else [[file] for file in files]
    found = _shared(engine, runs).map(partial(_judged, form=form), {NUMBER: pl.Int64(), FOUND: pl.Binary()})
    packed = found.collect().sort(NUMBER)[FOUND].to_list()
    whole = reduce(partial(followed, form), map(pickle.loads, packed), Stretch())
    return _disorder(whole, form.noun)


def row_violations(rows: Parts) -> OrderViolations:
    """The rows out of order in a published table whose texts come as they follow each other in its files."""
    form = TableForm({})
    whole = rows.as_categories().fold(lambda texts: _of_block(rows_block(texts)), partial(followed, form))
    return _disorder(whole or Stretch(), form.noun)


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
            :NAMED
        ],
        tuple(Spot(row, block.text(row), block.text(row - 1)) for row in _some(block.early)),
        len(block.early) + sum(len(rows) for _, rows in block.faults),
    )


def _some(rows: Rows) -> list[int]:
    some: list[int] = rows[:NAMED].tolist()
    return some


def _first(one: Iterable[Spot], other: Iterable[Spot]) -> tuple[Spot, ...]:
    return (*one, *other)[:NAMED]


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


def _disorder(whole: Stretch, noun: str) -> OrderViolations:
    def name(row: int, text: str) -> str:
        return f"{noun} {row + 1}{text}"

    places = [(name(spot.row, spot.text), spot.why) for spot in whole.faults]
    places += [
        (name(spot.row, spot.text), early(noun, name(spot.row - 1, spot.ahead or ""))) for spot in whole.falls
    ]
    return OrderViolations(noun, tuple(places[:NAMED]), whole.count)

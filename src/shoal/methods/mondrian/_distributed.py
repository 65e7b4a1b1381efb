"""Mondrian on rows in parts: cut the top of the tree by counts alone, then cut each part below it separately."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from shoal.arrays import Codes, Counts, Mask, Rows, mixed, summed, turns_of
from shoal.data._frames import named, text_frame
from shoal.data.dataset import COUNT, Dataset, Parts
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.group_statistics import GroupStatistics, counted_histogram
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods.mondrian._choice import Cuts, Hashes, Rules, Space, choose, interleaved
from shoal.methods.mondrian._plan import Plan
from shoal.methods.mondrian._publish import publish
from shoal.models.model import TableModel, kept_by

DENSE = 8
"""Counts become a dense array as soon as at least one in this many cells is filled."""


@dataclass(slots=True, eq=False)
class Tally:
    """Counts how often each of `cells` cells occurs, as a dense or a sparse array."""

    cells: int
    places: Rows | None
    counts: Counts
    """`places`, `counts`: the cells that occur, ascending, and how often; or None and the counts of all cells."""

    @classmethod
    def of(cls, keys: Rows, cells: int) -> "Tally":
        """Count the cells with these numbers."""
        if cells <= DENSE * len(keys):
            return cls(cells, None, np.bincount(keys, minlength=cells).astype(np.int64))
        places, counts = np.unique(keys, return_counts=True)
        return cls(cells, places, counts.astype(np.int64))

    def merged(self, other: "Tally") -> "Tally":
        """The sum of two tallies; neither may be used afterward."""
        if other.places is None:
            self, other = other, self
        if self.places is None:
            if other.places is None:
                self.counts += other.counts
            else:
                self.counts[other.places] += other.counts
            return self
        assert other.places is not None
        keys, inverse = np.unique(np.concatenate([self.places, other.places]), return_inverse=True)
        sums = summed(inverse, np.concatenate([self.counts, other.counts]), len(keys))
        total = Tally(self.cells, keys, sums)
        if self.cells > DENSE * len(keys):
            return total
        return Tally(self.cells, None, total.laid_out())

    def laid_out(self) -> Counts:
        """The counts of all cells, as a dense array."""
        if self.places is None:
            return self.counts
        counts = np.zeros(self.cells, dtype=np.int64)
        counts[self.places] = self.counts
        return counts


CELLS = 4_000_000
"""The most cells that are counted in one pass; where segments need more, they are counted in batches."""


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """The quasi-identifiers as dimensions: their column names, and the place of each code in cut order."""

    names: tuple[str, ...]
    places: tuple[Codes, ...]

    def codes(self, frame: pl.DataFrame) -> Codes:
        """The places of a frame's rows in cut order: an array with a column for each dimension."""
        columns = [place[frame[name].to_numpy()] for name, place in zip(self.names, self.places, strict=True)]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The tree of cuts made so far: node i separates codes up to ``pivots[i]`` of ``dimensions[i]`` from those above.

    Its left child is ``children[i]``, and its right child comes next; a leaf has the child -1. `nodes` are the hashes
    from which random choices are drawn, and `sizes` the numbers of rows.
    """

    dimensions: Rows
    pivots: Rows
    children: Rows
    nodes: Hashes
    sizes: Rows

    @classmethod
    def root(cls, rows: int, seed: int) -> "Tree":
        """A tree without cuts."""
        zero = np.zeros(1, dtype=np.int64)
        node = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
        return cls(zero, zero, zero - 1, node, np.array([rows], dtype=np.int64))

    def leaf(self, codes: Codes) -> Rows:
        """The leaf that each row falls into."""
        at = np.zeros(len(codes), dtype=np.int64)
        inside = np.arange(len(codes)) if self.children[0] >= 0 else np.empty(0, dtype=np.int64)
        while len(inside):
            here = at[inside]
            right = codes[inside, self.dimensions[here]] > self.pivots[here]
            at[inside] = self.children[here] + right
            inside = inside[self.children[at[inside]] >= 0]
        return at

    def cut(self, leaves: Rows, cuts: Cuts) -> "Tree":
        """The tree with more cuts; their segment s is the leaf ``leaves[s]``."""
        places = leaves[cuts.segments]
        dimensions, pivots, children = self.dimensions.copy(), self.pivots.copy(), self.children.copy()
        dimensions[places], pivots[places] = cuts.dimensions, cuts.pivots
        children[places] = len(children) + 2 * np.arange(len(places))
        parents = self.nodes[places]
        none = np.zeros(2 * len(places), dtype=np.int64)
        return Tree(
            np.concatenate([dimensions, none]),
            np.concatenate([pivots, none]),
            np.concatenate([children, none - 1]),
            np.concatenate(
                [self.nodes, interleaved(mixed(parents + np.uint64(1)), mixed(parents + np.uint64(2)))]
            ),
            np.concatenate([self.sizes, interleaved(cuts.left, self.sizes[places] - cuts.left)]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """The top of the tree of cuts, and what is known about leaves too large for a worker that cannot be cut."""

    tree: Tree
    held: dict[int, tuple[Rows, ...]]
    """For each such leaf, the codes that occur in it, in cut order, one array per dimension."""
    passes: int  # how many times all rows were read


@dataclass(slots=True, eq=False)
class _Source:
    """Rows in parts, and what is counted in them. A pass reads all rows once."""

    parts: Parts
    axes: Axes
    space: Space
    models: tuple[TableModel, ...]
    whole: GroupStatistics
    sensitive: tuple[Column, ...]
    passes: int = 0

    def tally(self, work: Callable[[pl.DataFrame], Tally], cells: int) -> Counts:
        """Count all rows in one pass."""
        self.passes += 1
        found = self.parts.fold(work, Tally.merged)
        return np.zeros(cells, dtype=np.int64) if found is None else found.laid_out()


@dataclass(slots=True, eq=False)
class _Level:
    """Leaves of the tree as segments to be cut, of which only the counts of their codes are known.

    ``counts[s, offsets[j] + c]`` is the number of rows of segment s with the code c in dimension j.
    """

    source: _Source
    tree: Tree
    leaves: Rows
    counts: Counts
    opened: Mask
    totals: Counts = field(init=False)

    def __post_init__(self) -> None:
        self.totals = np.cumsum(self.counts, axis=1)

    @property
    def sizes(self) -> Rows:
        return self.tree.sizes[self.leaves]

    @property
    def nodes(self) -> Hashes:
        return self.tree.nodes[self.leaves]

    def held(self, segment: int) -> tuple[Rows, ...]:
        """The codes that occur in a segment, one array per dimension."""
        offsets = self.source.space.offsets
        return tuple(
            np.flatnonzero(self.counts[segment, first:last])
            for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        )

    def bounds(self) -> tuple[Codes, Codes]:
        offsets, sizes = self.source.space.offsets, self.source.space.sizes.tolist()
        low = np.empty((len(self.leaves), len(sizes)), dtype=np.int32)
        high = np.empty_like(low)
        for dimension, size in enumerate(sizes):
            filled = self.counts[:, offsets[dimension] : offsets[dimension + 1]] > 0
            low[:, dimension] = filled.argmax(axis=1)
            high[:, dimension] = size - 1 - filled[:, ::-1].argmax(axis=1)
        return low, high

    def counted(self, segments: Rows, dimensions: Rows) -> tuple[Rows, Callable[[Rows], Rows]]:
        offsets, sizes = self.source.space.offsets[dimensions], self.sizes[segments]

        def rows_through(codes: Rows) -> Rows:
            # Totals run on across dimensions, and each earlier dimension has counted every row of the segment once.
            upto = self.totals[segments, np.maximum(offsets + codes, 0)] - dimensions * sizes
            return np.where(codes < 0, 0, upto)

        low, high = np.zeros(len(segments), dtype=np.int64), self.source.space.sizes[dimensions] - 1
        while (low < high).any():
            half = (low + high) // 2
            enough = rows_through(half) > (sizes - 1) // 2
            low, high = np.where(enough, low, half + 1), np.where(enough, half, high)
        return low, rows_through

    def halves(self, cuts: Cuts) -> tuple[Rows, Codes, Codes]:
        """Count the codes of the halves as in the next level; takes one pass."""
        low: list[Codes] = []
        high: list[Codes] = []
        for some in _batches(2 * int(self.source.space.offsets[-1]), len(cuts.left)):
            tree = self.tree.cut(self.leaves, cuts[some])
            leaves = np.arange(len(self.tree.sizes), len(tree.sizes))
            level = _Level(self.source, tree, leaves, _counted(self.source, tree, leaves), self.opened)
            for bounds, found in zip((low, high), level.bounds(), strict=True):
                bounds.append(found)
        sizes = interleaved(cuts.left, self.sizes[cuts.segments] - cuts.left)
        return sizes, np.concatenate(low), np.concatenate(high)

    def allowed(self, cuts: Cuts) -> Mask:
        """Ask the promises about the halves; takes one pass, to count values, if a promise is about sensitive ones."""
        allowed = np.ones(len(cuts.left), dtype=np.bool_)
        width = sum(len(column.domain) for column in self.source.sensitive)
        for some in _batches(2 * width, len(cuts.left)):
            holds = kept_by(self.source.models, self._statistics(cuts[some]))
            allowed[some] = holds[::2] & holds[1::2]
        return allowed

    def _statistics(self, cuts: Cuts) -> GroupStatistics:
        """The sizes of the halves of cuts, and the counts of their sensitive values."""
        source = self.source
        tree = self.tree.cut(self.leaves, cuts)
        leaves = np.arange(len(self.tree.sizes), len(tree.sizes))
        if not source.sensitive:
            return GroupStatistics(tree.sizes[leaves], tree.sizes[leaves])
        sizes = [len(column.domain) for column in source.sensitive]
        names = tuple(column.name for column in source.sensitive)
        work = partial(_values_of, tree, source.axes, len(self.tree.sizes), names, tuple(sizes))
        counts = source.tally(work, len(leaves) * sum(sizes))
        found, begin = {}, 0
        for column, size in zip(source.sensitive, sizes, strict=True):
            block = counts[begin : begin + len(leaves) * size].reshape(len(leaves), size)
            begin += len(leaves) * size
            overall = source.whole.sensitive[column.name].overall
            found[column.name] = counted_histogram(block, overall, column.domain)
        return GroupStatistics(tree.sizes[leaves], tree.sizes[leaves], found)


def cut_top(
    data: Dataset,
    axes: Axes,
    rules: Rules,
    models: tuple[TableModel, ...],
    whole: GroupStatistics,
    seed: int,
    room: int,
) -> Top:
    """Cut segments of more than `room` rows by the same rules that cut rows in memory.

    `whole` holds the counts of the sensitive columns that the models ask for. Each level of the tree takes one pass
    over the rows (more if domains are large, or promises are about sensitive values), and only counts come back.
    """
    source = _Source(data.parts, axes, rules.space, models, whole, data.schema.select(whole.sensitive))
    tree = Tree.root(int(whole.sizes[0]), seed)
    opened = np.ones((1, len(axes.names)), dtype=np.bool_)
    held: dict[int, tuple[Rows, ...]] = {}
    leaves = np.arange(1)
    while len(leaves := leaves[tree.sizes[leaves] > room]):
        first = len(tree.sizes)
        fresh = []
        for some in _batches(int(rules.space.offsets[-1]), len(leaves)):
            counts = _counted(source, tree, leaves[some])
            level = _Level(source, tree, leaves[some], counts, opened[leaves[some]])
            cuts = choose(level, rules)
            uncut = np.setdiff1d(np.arange(len(level.leaves)), cuts.segments)
            held |= {int(level.leaves[place]): level.held(place) for place in uncut.tolist()}
            tree = tree.cut(level.leaves, cuts)
            fresh.append(np.repeat(level.opened[cuts.segments], 2, axis=0))
        opened = np.concatenate([opened, *fresh])
        leaves = np.arange(first, len(tree.sizes))
    return Top(tree, held, source.passes)


def _batches(width: int, count: int) -> Sequence[slice]:
    """Slices of the segments, small enough that not too many cells are counted at once."""
    step = max(CELLS // max(width, 1), 1)
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)]


def _counted(source: _Source, tree: Tree, leaves: Rows) -> Counts:
    """Count the codes of all dimensions in some leaves of a tree, one row per leaf."""
    width = int(source.space.offsets[-1])
    work = partial(_codes_of, tree, source.axes, leaves, source.space.offsets)
    return source.tally(work, len(leaves) * width).reshape(len(leaves), width)


def _codes_of(tree: Tree, axes: Axes, leaves: Rows, offsets: Rows, frame: pl.DataFrame) -> Tally:
    """Count the codes of a frame's rows that fall into some leaves."""
    codes = axes.codes(frame)
    number = turns_of(leaves, len(tree.sizes))
    segment = number[tree.leaf(codes)]
    inside = np.flatnonzero(segment >= 0)
    keys = segment[inside, None] * offsets[-1] + offsets[:-1] + codes[inside]
    return Tally.of(keys.reshape(-1), len(leaves) * int(offsets[-1]))


def _values_of(
    tree: Tree,
    axes: Axes,
    first: int,
    names: tuple[str, ...],
    sizes: tuple[int, ...],
    frame: pl.DataFrame,
) -> Tally:
    """Count the sensitive values of a frame, column by column, in the leaves from number `first` on."""
    leaf = tree.leaf(axes.codes(frame)) - first
    inside = np.flatnonzero(leaf >= 0)
    count = len(tree.sizes) - first
    keys, begin = [], 0
    for name, size in zip(names, sizes, strict=True):
        keys.append(begin + leaf[inside] * size + frame[name].to_numpy()[inside])
        begin += count * size
    return Tally.of(np.concatenate(keys).astype(np.int64), begin)


ROW_BYTES, CELL_BYTES = 64, 48
"""The memory that a row, and each of its cells, takes in a worker while its part is cut and published."""

FEWEST_PARTS, SMALL_PART = 32, 100_000
"""A table is cut into at least `FEWEST_PARTS` parts for workers to share, unless they would hold fewer rows than
`SMALL_PART`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Everything that a worker needs in order to publish a part."""

    table: Table  # the table without rows
    plan: Plan
    axes: Axes
    tree: Tree  # The top of the tree. The number of a part is that of its leaf.
    known: dict[int, dict[str, str]]
    """The published texts of the quasi-identifiers of leaves that are too large and cannot be cut. The rows of such a
    class need not be brought together: they are published where they are."""
    part: str  # the name of the column that holds the number of the part


def cut_parts(
    data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int, *, side_by_side: bool = True
) -> tuple[Dataset, dict[str, int]]:
    """Cut and publish a table in parts, none of which takes more than `memory` bytes in a worker.

    `side_by_side`: whether several workers share the parts. Returns the published dataset, and notes for the trace.
    """
    table = data.schema
    task, numbered, notes = _tasks(data, plan, whole, seed, memory, side_by_side)
    published = numbered.group(task.part, partial(_published, task), _text_schema(table))
    if task.known:
        published = published.union(data.parts.map(partial(_published_apart, task), _text_schema(table)))
    schema = _schema(table)
    return Dataset(schema, published.sort(schema.names), data.rows), notes


def count_classes(
    data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int, *, side_by_side: bool = True
) -> int:
    """How many classes `cut_parts` would publish."""
    task, numbered, _ = _tasks(data, plan, whole, seed, memory, side_by_side)
    counted = numbered.group(task.part, partial(_class_count, task), {COUNT: pl.Int64()})
    return len(task.known) + int(counted.collect()[COUNT].sum())


def _tasks(
    data: Dataset, plan: Plan, whole: GroupStatistics, seed: int, memory: int, side_by_side: bool
) -> tuple[_Task, Parts, dict[str, int]]:
    """The task of the workers, the rows with the numbers of their parts, and notes for the trace."""
    table = data.schema
    names = tuple(column.name for column in table.quasi)
    axes = Axes(names, tuple(axis.place for axis in plan.axes))
    space = Space.of(
        [axis.positions for axis in plan.axes], [axis.depths for axis in plan.axes], plan.weights
    )
    rules = Rules(space, max(plan.least, 1), plan.relaxed, plan.choose)
    fits = max(memory // (ROW_BYTES + CELL_BYTES * len(table.columns)), 1)
    shared = max(SMALL_PART, data.rows // FEWEST_PARTS) if side_by_side else fits
    room = max(min(fits, shared), 2 * rules.least - 1)
    top = cut_top(data, axes, rules, plan.models, whole, seed, room)
    leaves = np.flatnonzero(top.tree.children < 0)
    task = _Task(
        table,
        plan,
        axes,
        top.tree,
        {leaf: _texts(table, plan, held) for leaf, held in top.held.items()},
        _free_name(table),
    )
    codes = dict.fromkeys((task.part, *(column.name for column in _kept(table))), pl.Int32())
    numbered = data.parts.map(partial(_numbered, task), codes)
    notes = {"parts": len(leaves), "passes": top.passes, "largest_part": int(top.tree.sizes[leaves].max())}
    return task, numbered, notes


def _texts(table: Table, plan: Plan, held: tuple[Rows, ...]) -> dict[str, str]:
    """The published texts of a class of which only the values that occur in it are known."""
    found = {}
    for column, axis, form, places in zip(table.quasi, plan.axes, plan.forms, held, strict=True):
        codes = np.flatnonzero(np.isin(axis.place, places)).astype(np.int32)
        one = publish(replace(column, codes=codes), form, np.array([0, len(codes)]))
        found[column.name] = one.domain.labels[one.codes[0]]
    return found


def _numbered(task: _Task, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with the numbers of their parts, without the rows that are published where they are."""
    number = task.tree.leaf(task.axes.codes(frame))
    names = [column.name for column in _kept(task.table)]
    rows = frame.select(pl.Series(task.part, number.astype(np.int32)), named(names))
    return rows.filter(pl.Series(~np.isin(number, list(task.known)))) if task.known else rows


def _published(task: _Task, frame: pl.DataFrame) -> pl.DataFrame:
    """The published rows of a part."""
    table = _table_of(task, frame)
    order, starts = _cut(task, frame, table)
    table = table.take(order)
    quasi = task.plan.publish(table, starts)
    return text_frame(Table(tuple(quasi.get(column.name, column) for column in table.columns)))


def _class_count(task: _Task, frame: pl.DataFrame) -> pl.DataFrame:
    """The number of classes in a part."""
    _, starts = _cut(task, frame, _table_of(task, frame))
    return pl.DataFrame({COUNT: [len(starts) - 1]}, schema={COUNT: pl.Int64()})


def _cut(task: _Task, frame: pl.DataFrame, table: Table) -> tuple[Rows, Rows]:
    """The order of a part's rows, class by class, and where each class starts."""
    leaf = int(frame[task.part][0])
    return task.plan.cut(table, int(task.tree.nodes[leaf]), threads=1)


def _published_apart(task: _Task, frame: pl.DataFrame) -> pl.DataFrame:
    """The published rows of classes whose published texts are known beforehand."""
    number = task.tree.leaf(task.axes.codes(frame))
    found = [pl.DataFrame(schema=_text_schema(task.table))]
    for leaf, texts in task.known.items():
        table = _table_of(task, frame.filter(pl.Series(number == leaf)))
        quasi = {column.name: _constant(column, texts[column.name]) for column in table.quasi}
        found.append(text_frame(Table(tuple(quasi.get(column.name, column) for column in table.columns))))
    return pl.concat(found)


def _table_of(task: _Task, frame: pl.DataFrame) -> Table:
    """The rows of a frame as a table."""
    return Table(tuple(replace(column, codes=frame[column.name].to_numpy()) for column in _kept(task.table)))


def _constant(column: Column, text: str) -> Column:
    """A column with the same text in every row."""
    missing = 0 if text == "" and column.domain.missing is not None else None
    domain = Domain(Kind.NOMINAL, (text,), missing=missing)
    return replace(column, domain=domain, codes=np.zeros(len(column.codes), dtype=np.int32), hierarchy=None)


def _schema(table: Table) -> Table:
    """The published table without rows; quasi-identifiers have become nominal."""
    return Table(
        tuple(
            replace(column, domain=nominal(()), hierarchy=None) if column.role is Role.QUASI else column
            for column in _kept(table)
        )
    )


def _kept(table: Table) -> tuple[Column, ...]:
    return tuple(column for column in table.columns if column.role is not Role.IDENTIFYING)


def _text_schema(table: Table) -> dict[str, pl.DataType]:
    return {column.name: pl.String() for column in _kept(table)}


def _free_name(table: Table) -> str:
    """A name that no column has."""
    name = "part"
    while name in table.names:
        name += "_"
    return name

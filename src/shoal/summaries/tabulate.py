"""Counts and sums of all cells of cross-tables, including totals."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod

import numpy as np
from scipy.sparse import csr_array

from shoal.arrays import AnyArray, Counts, Floats, Mask, Rows
from shoal.data.domain import Kind
from shoal.data.summary import Axis
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse

CELLS = 100_000
"""Most cells of a release: nobody reads more, and protecting them takes forever."""

DECIMALS = 6
"""Decimals to which sums are exact."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """A column by which rows are counted, with its values and totals as numbered nodes."""

    axis: Axis
    """The nodes as texts; the number of a node is its index among them, and 0 is the total of the whole column."""
    levels: tuple[Rows, ...]
    """For each level, from the values themselves up to the whole column, the node of each code."""

    @classmethod
    def of(cls, column: Column, total: str) -> "Scale":
        """The values of a column that occur, and the nodes of its hierarchy above them."""
        there = np.unique(column.codes).tolist()
        labels = column.domain.labels
        paths = {code: (labels[code], total) for code in there}
        if (tree := column.hierarchy) is not None:
            if twice := tree.ambiguous():
                raise BadData(
                    f"the hierarchy uses {twice[0]!r} for different values, so their totals cannot be told apart; "
                    "give the nodes different names.",
                    column=column.name,
                )
            leaves = tree.leaf_of(column.domain).tolist()
            above = list(tree.paths())
            paths = {code: (*above[leaves[code]][:-1], total) for code in there}
        if any(total in path[:-1] for path in paths.values()):
            raise WrongUse(
                f"{column.name!r} has the value {total!r}, which is to be the name of its total; give another "
                "with --total."
            )
        parts: dict[str, dict[str, None]] = {total: {}}
        for depth in range(max(map(len, paths.values()), default=1) - 1, 0, -1):
            for path in paths.values():
                if path[depth] != path[depth - 1]:
                    parts.setdefault(path[depth], {})[path[depth - 1]] = None
        axis = Axis(column.name, {node: tuple(below) for node, below in parts.items()})
        number = {node: n for n, node in enumerate(axis.nodes)}
        levels = np.zeros((len(next(iter(paths.values()))), len(labels)), dtype=np.int64)
        for code, path in paths.items():
            levels[:, code] = [number[text] for text in path]
        return cls(axis, tuple(levels))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """All cells of some cross-tables."""

    scales: tuple[Scale, ...]  # the columns
    tables: tuple[tuple[int, ...], ...]  # the columns of each table, by their indices
    keys: Rows  # a number for each cell, ascending, which encodes the nodes of all columns
    relations: csr_array  # a line for each total of each column: 1 for its parts, -1 for itself

    @classmethod
    def of(cls, columns: Sequence[Column], tables: Sequence[Sequence[str]], total: str) -> "Cells":
        """Lay out the cells. Raises `WrongUse` if there are too many."""
        scales = tuple(Scale.of(column, total) for column in columns)
        names = [column.name for column in columns]
        places = tuple(tuple(names.index(name) for name in table) for table in tables)
        sizes = [len(scale.axis.nodes) for scale in scales]
        wanted = sum(prod(sizes[n] for n in table) for table in places)
        if wanted > CELLS or prod(sizes) >= 2**62:
            raise WrongUse(
                f"That makes {wanted:,} cells, but at most {CELLS:,} can be published: count by fewer columns, or by "
                "columns with fewer values."
            )
        strides = _strides(sizes)
        keys = [
            sum(
                (
                    strides[n] * grid
                    for n, grid in zip(table, np.indices([sizes[n] for n in table]), strict=True)
                ),
                0,
            )
            for table in places
        ]
        every = np.unique(np.concatenate([np.asarray(key, dtype=np.int64).ravel() for key in keys]))
        return cls(scales, places, every, _relations(scales, sizes, every))

    def __len__(self) -> int:
        return len(self.keys)

    def nodes(self) -> Rows:
        """The node of each column, for each cell."""
        sizes = [len(scale.axis.nodes) for scale in self.scales]
        strides = _strides(sizes)
        return np.stack(
            [self.keys // stride % size for stride, size in zip(strides, sizes, strict=True)], axis=1
        )

    def of_rows(self, codes: Sequence[AnyArray]) -> list[Rows]:
        """The cells of each row: one for each table and each choice of totals."""
        strides = _strides([len(scale.axis.nodes) for scale in self.scales])
        choices = {
            choice
            for table in self.tables
            for choice in product(
                *(
                    range(len(scale.levels)) if n in table else (len(scale.levels) - 1,)
                    for n, scale in enumerate(self.scales)
                )
            )
        }
        found = []
        for choice in sorted(choices):
            parts = zip(self.scales, choice, codes, strides, strict=True)
            key = sum(
                (scale.levels[level][code] * stride for scale, level, code, stride in parts), np.int64(0)
            )
            found.append(np.searchsorted(self.keys, key))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Tallied:
    """What rows contribute to each cell."""

    name: str  # ``count``, or the column that is summed
    values: Counts  # the sums, in units of the last digit
    contributors: Counts  # how many rows have an amount
    largest: Counts  # the largest amounts of each cell, the largest first
    sole: Rows  # the row that has an amount, where there is only one; -1 elsewhere
    amounts: Counts  # what each row contributes; 0 where its amount is missing
    unit: int  # how many units make one whole

    def text(self, cell: int) -> str:
        """The value of a cell as it is published."""
        value = int(self.values[cell])
        return str(value) if self.unit == 1 else format(Decimal(value) / self.unit, "f")


def tally(
    cells: Cells, places: Sequence[Rows], name: str, amounts: Counts, known: Mask, unit: int, largest: int
) -> Tallied:
    """Sum up amounts in all cells.

    `places`: the cells of each row, from `Cells.of_rows`. `known`: rows that have an amount. `largest`: how many of the
    largest amounts to keep.
    """
    size, rows = len(cells), np.flatnonzero(known)
    given = amounts[rows]
    values, number = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    top = np.zeros((size, largest), dtype=np.int64)
    sole = np.full(size, -1, dtype=np.int64)
    for place in places:
        here = place[rows]
        order = np.lexsort((-given, here))
        sorted_cells = here[order]
        found, start, count = np.unique(sorted_cells, return_index=True, return_counts=True)
        if not len(found):
            continue
        values[found] = np.add.reduceat(given[order], start)
        number[found] = count
        for rank in range(largest):
            has = count > rank
            top[found[has], rank] = given[order[start[has] + rank]]
        alone = count == 1
        sole[found[alone]] = rows[order[start[alone]]]
    return Tallied(name, values, number, top, sole, np.where(known, amounts, 0), unit)


def amounts_of(table: Table, name: str) -> tuple[Counts, Mask, int]:
    """The amounts of a column in units of its last digit, which rows have one, and how many units make one whole.

    Raises `WrongUse` if the column does not hold numbers. Raises `BadData` if an amount is negative, or the sum too
    large.
    """
    column = table.column(name)
    domain = column.domain
    if domain.kind is not Kind.NUMERIC or domain.values is None:
        raise WrongUse(
            f"{name!r} does not hold numbers ({domain.kind}), so it cannot be summed; name another with --sum, or "
            f"say --kind {name}=numeric."
        )
    values: Floats = domain.values
    there = np.unique(column.codes)
    if domain.missing is not None:
        there = there[there != domain.missing]
    if (values[there] < 0).any():
        worst = domain.labels[int(there[np.argmin(values[there])])]
        raise BadData(
            f"amounts must not be negative, but one is {worst}: the rules look at shares of a sum, and shares of a sum "
            "of gains and losses mean nothing. Sum gains and losses separately.",
            column=name,
        )
    exact = {int(code): Decimal(repr(float(values[code]))) for code in there.tolist()}
    digits = min(
        DECIMALS, max((-int(one.as_tuple().exponent) for one in exact.values() if one % 1), default=0)
    )
    unit = 10**digits
    amounts = np.zeros(len(domain), dtype=np.int64)
    if sum(exact.values(), Decimal(0)) * unit * max(table.rows, 1) >= 2**62:
        raise BadData("the amounts are too large to be summed exactly; round them first.", column=name)
    for code, one in exact.items():
        amounts[code] = int((one * unit).to_integral_value())
    known = np.ones(table.rows, dtype=np.bool_)
    if domain.missing is not None:
        known = column.codes != domain.missing
    return amounts[column.codes], known, unit


def _strides(sizes: Sequence[int]) -> list[int]:
    return [prod(sizes[n + 1 :]) for n in range(len(sizes))]


def _relations(scales: Sequence[Scale], sizes: Sequence[int], keys: Rows) -> csr_array:
    """Which cells add up to which."""
    lines, columns, signs, count = [], [], [], 0
    for scale, stride, size in zip(scales, _strides(sizes), sizes, strict=True):
        number = {node: n for n, node in enumerate(scale.axis.nodes)}
        node = keys // stride % size
        for total, below in scale.axis.parts.items():
            wholes = np.flatnonzero(node == number[total])
            parts = np.stack(
                [keys[wholes] + (number[part] - number[total]) * stride for part in below], axis=1
            )
            found = np.minimum(np.searchsorted(keys, parts), len(keys) - 1)
            there = (keys[found] == parts).all(axis=1)
            wholes, found = wholes[there], found[there]
            here = np.arange(count, count + len(wholes))
            lines += [here, np.repeat(here, len(below))]
            columns += [wholes, found.ravel()]
            signs += [np.full(len(wholes), -1.0), np.ones(found.size)]
            count += len(wholes)
    if not lines:
        return csr_array((0, len(keys)))
    triple = (np.concatenate(signs), (np.concatenate(lines), np.concatenate(columns)))
    return csr_array(triple, shape=(count, len(keys)))

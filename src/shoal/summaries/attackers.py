"""The attackers that hidden cells are protected from, and how uncertain a cell stays for each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.arrays import AnyArray, Floats, Mask, Rows, flagged
from shoal.solving import solve
from shoal.summaries.protection import Protection
from shoal.summaries.sensitivity import Needs, needs_of
from shoal.summaries.tabulate import Cells, Tallied

CLOSE = 1e-7

FEW = 2
"""With more cells than this, moves that change many of them at once are tried first."""

MOVES = 2_000
"""Most moves that are remembered."""


@dataclass(frozen=True, slots=True, eq=False)
class Attacker:
    """Somebody who computes hidden cells from published ones, and from her own contributions."""

    needs: Needs  # how uncertain each cell must stay for her
    own: Floats  # what she contributes to each cell
    known: Mask  # cells with no other contributor: she knows them, and they need not be hidden from her


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """A hidden cell that an attacker can estimate too closely."""

    attacker: Attacker
    cell: int


@dataclass(frozen=True, slots=True, eq=False)
class Shield:
    """The cells of one value (the count or a sum), and the attackers who look at them."""

    relations: csr_array  # which cells add up to which
    tallied: Tallied  # the values
    hideable: Mask  # cells that may be hidden: those with rows, since everybody expects 0 in the others
    protection: Protection
    nodes: Rows
    rows_nodes: Sequence[Sequence[AnyArray]]

    @classmethod
    def of(
        cls, cells: Cells, tallied: Tallied, protection: Protection, codes: Sequence[AnyArray]
    ) -> "Shield":
        """The shield of a value.

        `codes`: the values of each row, by column.
        """
        rows_nodes = [
            [level[code] for level in scale.levels] for scale, code in zip(cells.scales, codes, strict=True)
        ]
        hideable: Mask = tallied.contributors > 0
        return cls(cells.relations, tallied, hideable, protection, cells.nodes(), rows_nodes)

    @property
    def whole(self) -> bool:
        """Whether everybody knows that the values are whole numbers."""
        return self.tallied.name == "count"

    def attackers(self, hidden: Mask) -> Iterator[Attacker]:
        """The attackers: an outsider, and each row that is the only one in a hidden cell."""
        size = len(hidden)
        yield Attacker(
            needs_of(self.tallied, self.protection), np.zeros(size), np.zeros(size, dtype=np.bool_)
        )
        for row in np.unique(self.tallied.sole[hidden & (self.tallied.sole >= 0)]).tolist():
            own = self.own(row)
            yield Attacker(needs_of(self.tallied, self.protection, own), own, self.tallied.sole == row)

    def own(self, row: int) -> Floats:
        """What a row contributes to each cell."""
        inside = np.ones(len(self.hideable), dtype=np.bool_)
        for column, levels in enumerate(self.rows_nodes):
            inside &= np.isin(self.nodes[:, column], [level[row] for level in levels])
        return np.where(inside, float(self.tallied.amounts[row]), 0.0)

    def room(self, attacker: Attacker) -> Floats:
        """How far down a cell can go for an attacker: to what she contributes, and a count to 1, as no 0 is hidden."""
        least = np.maximum(attacker.own, 1.0) if self.whole else attacker.own
        left: Floats = np.maximum(self.tallied.values - least, 0.0)
        return left

    def broken(self, hidden: Mask, pool: "Pool", *, one: bool = False) -> list[Broken]:
        """The cells that can be estimated too closely by the first attacker who can; with `one`, only one of them."""
        cells = np.flatnonzero(hidden)
        if not len(cells):
            return []
        equations = self.relations[:, cells]
        label = _components(equations)
        for n, attacker in enumerate(self.attackers(hidden)):
            wanted = cells[~attacker.known[cells]]
            if n:  # she learns more than outsiders only of cells connected with those that she contributes to
                hers = label[attacker.known[cells] | (attacker.own[cells] > 0)]
                wanted = wanted[np.isin(label[np.searchsorted(cells, wanted)], hers)]
            found = self._told(attacker, cells, equations, label, wanted, pool, one=one)
            if found:
                return [Broken(attacker, cell) for cell in found]
        return []

    def open(self, hidden: Mask, one: Broken, pool: "Pool") -> bool:
        """Whether a cell is now uncertain enough for its attacker."""
        cells = np.flatnonzero(hidden)
        equations = self.relations[:, cells]
        wanted = np.array([one.cell])
        return not self._told(one.attacker, cells, equations, _components(equations), wanted, pool)

    def _told(
        self,
        attacker: Attacker,
        cells: Rows,
        equations: csr_array,
        label: Rows,
        wanted: Rows,
        pool: "Pool",
        *,
        one: bool = False,
    ) -> list[int]:
        """Cells that an attacker can estimate too closely.

        `cells`, `equations`, `label`: the hidden cells, the equations between them, and the connected component of each
        cell. `one`: stop at the first such cell.
        """
        floor = -self.room(attacker)
        hidden = flagged(cells, len(floor))
        most, least = pool.reach(hidden, attacker.known, floor)
        wanted = wanted[~_reached(attacker.needs, wanted, most, least)]
        needs = attacker.needs
        for number in np.unique(label[np.searchsorted(cells, wanted)]).tolist() if len(wanted) > FEW else ():
            part = cells[label == number]
            for move in self._broad_moves(equations[:, label == number], part, attacker, floor, wanted):
                pool.add(move)
                most, least = np.maximum(most, move), np.minimum(least, move)
        for cell in wanted.tolist():
            up, down, width = needs.up[cell], needs.down[cell], needs.width[cell]
            scale = max(up, down, width)
            place = int(np.searchsorted(cells, cell))
            part = np.flatnonzero(label == label[place])
            for goal in (max(up, width), -max(down, width)):
                if most[cell] >= up and -least[cell] >= down and most[cell] - least[cell] >= width:
                    break
                move = np.zeros(len(floor))
                move[cells[part]] = self._move(
                    equations[:, part],
                    int(np.searchsorted(part, place)),
                    goal,
                    floor[cells[part]],
                    attacker.known[cells[part]],
                    scale,
                )
                pool.add(move)
                most, least = np.maximum(most, move), np.minimum(least, move)
            if one and not _reached(needs, np.array([cell]), most, least)[0]:
                return [cell]
        kept = _reached(needs, wanted, most, least)
        return [int(cell) for cell in wanted[~kept]]

    def _broad_moves(
        self, matrix: csr_array, part: Rows, attacker: Attacker, floor: Floats, wanted: Rows
    ) -> list[Floats]:
        """Moves that change many cells at once as far as they must; mostly, no other moves are needed."""
        from scipy.sparse import hstack, vstack

        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        if not matrix.shape[0]:
            return []
        size, needs = len(part), attacker.needs
        fixed, asked = attacker.known[part], np.isin(part, wanted)
        ups, downs = (np.maximum(one, needs.width)[part] for one in (needs.up, needs.down))
        scale = float(max(ups.max(), downs.max()))
        low, high = np.where(fixed, 0, floor[part] / scale), np.where(fixed, 0, np.inf)
        identity = csr_array((np.ones(size), (np.arange(size),) * 2), shape=(size, size))
        every = vstack([hstack([matrix, csr_array(matrix.shape)]), hstack([identity, -identity])])
        found = []
        for sign, need in ((1.0, ups), (-1.0, downs)):
            need = np.where(asked, need, 0) / scale
            goal = np.concatenate([np.zeros(size), -1 / np.maximum(need, 1e-9) * (need > 0)])
            begin, end = (low, high) if sign > 0 else (-high, -low)
            most = np.concatenate([np.zeros(matrix.shape[0]), np.full(size, np.inf)])
            lows, highs = np.concatenate([begin, np.zeros(size)]), np.concatenate([end, need])
            answer = solve(goal, every, 0, most, low=lows, high=highs).values
            if answer is None:
                continue
            change = sign * answer[:size] * scale
            if self.whole and np.abs(change - np.round(change)).max() > CLOSE * scale:
                continue
            move = np.zeros(len(floor))
            move[part] = np.round(change) if self.whole else change
            found.append(move)
        return found

    def _move(
        self, matrix: csr_array, here: int, goal: float, floor: Floats, fixed: Mask, scale: float
    ) -> Floats:
        """A change of hidden cells that moves one of them as far as possible, up to `goal`, and no published cell."""
        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        low, high = floor / scale, np.full(len(floor), np.inf)
        low[fixed] = high[fixed] = 0
        low[here], high[here] = max(low[here], min(goal / scale, 0)), min(high[here], max(goal / scale, 0))
        aim = np.zeros(len(floor))
        aim[here] = -np.sign(goal)
        if not matrix.shape[0]:
            alone: Floats = -aim * abs(high[here] if goal > 0 else low[here]) * scale
            return alone
        found = solve(aim, matrix, 0, 0, low=low, high=high).values
        change: Floats = np.zeros(len(floor)) if found is None else found * scale
        if not self.whole:
            return change
        if np.abs(change - np.round(change)).max() > CLOSE * scale:
            ones = np.ones(len(floor))
            found = solve(aim, matrix, 0, 0, low=low * scale, high=high * scale, whole=ones).values
            change = np.zeros(len(floor)) if found is None else found
        return np.round(change)


class Pool:
    """Moves of hidden cells that change no published cell; those found for one attacker often serve others too."""

    def __init__(self, size: int) -> None:
        self._moves = np.zeros((64, size))
        self._count = 0

    def add(self, move: Floats) -> None:
        """Remember a move."""
        if self._count == len(self._moves):
            older = self._moves[self._count // 2 :] if self._count >= MOVES else self._moves
            self._count = len(older)
            self._moves = np.concatenate([older, np.zeros_like(older)])
        self._moves[self._count] = move
        self._count += 1

    def reach(self, hidden: Mask, known: Mask, floor: Floats) -> tuple[Floats, Floats]:
        """How far remembered moves take cells up and down; only moves that are possible for the attacker count."""
        moves = self._moves[: self._count]
        fits = ~moves[:, known | ~hidden].any(axis=1) & (moves >= floor - CLOSE).all(axis=1)
        most: Floats = moves[fits].max(axis=0, initial=0)
        least: Floats = moves[fits].min(axis=0, initial=0)
        return most, least


def _reached(needs: Needs, cells: Rows, most: Floats, least: Floats) -> Mask:
    """Whether each cell can move as far as it must."""
    up, down, width = needs.up[cells], needs.down[cells], needs.width[cells]
    slack = CLOSE * np.maximum(np.maximum(up, down), width)
    above, below = most[cells], -least[cells]
    kept: Mask = (above >= up - slack) & (below >= down - slack) & (above + below >= width - slack)
    return kept


def _components(equations: csr_array) -> Rows:
    """The connected component of each hidden cell: cells are connected where an equation holds both."""
    from scipy.sparse.csgraph import connected_components

    linked = (abs(equations).T @ abs(equations)).tocsr()
    return np.asarray(connected_components(linked, directed=False)[1], dtype=np.int64)

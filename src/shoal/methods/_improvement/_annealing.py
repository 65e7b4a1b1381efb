"""The search for better classes: simulated annealing in the kernels, with checks of the promises in between."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Mask, Rows, turns_of
from shoal.methods._improvement._kept_promises import Promises
from shoal.progress import Told, part

if TYPE_CHECKING:
    from shoal.kernels.annealing import Cells, Classes, Log, Near, Room, Rules

RUNGS = 40
"""The number of temperatures of a search. The last one is zero: no step that loses more is accepted then."""

HOT, COLD = 0.025, 0.005
"""The highest temperature and the lowest above zero, in units of the loss of a row that loses everything.

They are for classes of five rows and are scaled for others, because larger classes change by more with every row.
"""

CHUNK = 5_000
"""The number of steps between two looks at the clock; at least this many are tried at each temperature."""

NEAREST, ORDERS, WINDOW = 24, 36, 16
"""Each tuple knows its `NEAREST` near tuples, found among `WINDOW` neighbors in each of `ORDERS` orders of all."""

PAIRS = 250_000_000
"""Up to this many pairs of tuples, all pairs are compared."""

MERGES = 30
"""How many rounds of joining classes that break a promise are tried before the start from single tuples is dropped."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The classes that a search found, and the mean loss of all rows before and after it."""

    groups: Rows  # the class of each row; -1 for suppressed ones
    steps: tuple[int, ...]  # the steps tried at each temperature; with them, the search can be repeated
    before: float
    after: float


class Search:
    """Moves rows between classes, and splits and joins classes, so that all rows together lose less.

    A step moves a row to another class, swaps two rows, splits a class, joins two, or pools the rows of two classes and
    splits them anew. Steps are proposed among rows with near quasi-identifiers. A step that loses more is accepted at
    random, more and more rarely as the temperature falls. The loss depends on quasi-identifiers alone; sensitive values
    can forbid a step but never choose one.

    If the promises ask for more than a least number of rows, steps are taken in batches that touch no class twice.
    After each batch the promises are checked, and steps that broke one are undone.

    `cells`: the rows in the order of their quasi-identifiers, equal ones in a secret random order. `groups`: the class
    of each of these rows; -1 for suppressed ones.
    """

    def __init__(self, cells: "Cells", groups: Rows, promises: Promises, seed: int) -> None:
        from shoal.kernels import annealing, heap, merging

        self._kernels, self._merging, self._heap = annealing, merging, heap.Heap
        self._cells = cells
        self._promises = promises
        self._random = np.random.default_rng([0x616E6E, seed])
        self._rows = len(groups)
        self._suppressed = groups < 0
        self._given = _renumbered(groups)
        self._room = self._make_room()
        self._near = self._tuples()

    def run(self, seconds: float | None, steps: tuple[int, ...]) -> Found:
        """Search for a number of seconds, or for a number of steps at each temperature."""
        self._compile()
        with part("improving") as told:
            return self._searched(seconds, steps, told)

    def _searched(self, seconds: float | None, steps: tuple[int, ...], told: Told) -> Found:
        start = time.perf_counter()
        self._look_around()
        classes = self._best_start()
        before = self._mean(self._built(self._given))
        if classes is None:
            return Found(self._given, steps or (CHUNK,) * RUNGS, before, before)
        tried, left = [], max(start + (seconds or 0.0) - time.perf_counter(), 0.0)
        begin = time.perf_counter()
        for rung, heat in enumerate(self._heats()):
            if seconds is not None:
                ends = begin + left * (rung + 1) / RUNGS
                tried.append(self._until(ends, heat, classes, lambda now: told((now - start) / seconds)))
            else:
                told(sum(tried) / max(sum(steps), 1))
                self._take(steps[rung], heat, classes)
                tried.append(steps[rung])
        after = self._mean(classes)
        if after >= before:
            return Found(self._given, tuple(tried), before, before)
        groups = np.where(classes.of_row == self._pool, -1, classes.of_row)
        return Found(_renumbered(groups), tuple(tried), before, after)

    def _heats(self) -> Iterator[float]:
        scale = max(self._promises.least, 2) / 5
        for rung in range(RUNGS - 1):
            yield scale * HOT * (COLD / HOT) ** (rung / (RUNGS - 2))
        yield 0.0

    @property
    def _pool(self) -> int:
        """The number of the class of suppressed rows."""
        return 0 if self._suppressed.any() else -1

    def _rules(self) -> "Rules":
        promises = self._promises
        return self._kernels.Rules(
            promises.least, promises.most, self._pool, promises.frozen, not promises.by_size
        )

    def _until(self, end: float, heat: float, classes: "Classes", told: Told) -> int:
        """Try steps until a time; how many. `told`: called with the time, chunk by chunk."""
        done = 0
        while (now := time.perf_counter()) < end or not done:
            told(now)
            self._take(CHUNK, heat, classes)
            done += CHUNK
        return done

    def _take(self, steps: int, heat: float, classes: "Classes") -> None:
        """Try a number of steps, a chunk at a time."""
        for begin in range(0, steps, CHUNK):
            self._take_chunk(min(CHUNK, steps - begin), heat, classes)

    def _take_chunk(self, steps: int, heat: float, classes: "Classes") -> None:
        """Try the steps of one chunk, and undo those that break a promise."""
        rules, log = self._rules(), self._log(classes)
        while steps > 0:
            steps -= self._kernels.anneal(
                steps, heat, self._cells, self._near, classes, rules, self._room, log
            )
            if rules.locking:
                broken = self._broken(classes, log)
                self._kernels.undo(broken, self._cells, classes, log, self._pool)

    def _log(self, classes: "Classes") -> "Log":
        batch = max(len(classes.sizes) // 8, 16) if not self._promises.by_size else 1
        rows = self._rows + batch if not self._promises.by_size else 1
        return self._kernels.Log(
            np.zeros((rows, 2), dtype=np.int64),
            np.zeros((batch, 3), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )

    def _broken(self, classes: "Classes", log: "Log") -> Mask:
        """Which of the accepted steps broke a promise."""
        steps = int(log.counts[1])
        touched = log.steps[:steps, 1:]
        holds = self._promises.kept(classes.of_row, touched.ravel(), len(classes.sizes), self._pool)
        return ~np.logical_and(holds[::2], holds[1::2])

    def _best_start(self) -> "Classes | None":
        """The given classes, or single tuples joined to classes, whichever loses less and keeps the promises.

        The given classes may keep a promise only with the cells that they were published with: persons of a population
        who fit those need not fit smaller ones. None if neither start keeps all promises.
        """
        given, merged = self._built(self._given), self._merged()
        filled = self._filled(given)
        if not self._promises.kept(given.of_row, filled, len(given.sizes), self._pool).all():
            return merged
        return merged if merged is not None and self._mean(merged) < self._mean(given) else given

    def _filled(self, classes: "Classes") -> Rows:
        """The classes that have rows, except the class of suppressed rows."""
        filled: Rows = np.flatnonzero(np.bincount(classes.of_row, minlength=len(classes.sizes)))
        others: Rows = filled[filled != self._pool]
        return others

    def _merged(self) -> "Classes | None":
        """Join tuples to classes until all classes keep the promises; None if some never do."""
        groups = self._near.tuples.copy()
        if self._pool == 0:
            groups = np.where(self._suppressed & self._promises.frozen, 0, groups + 1)
        classes = self._built(groups)
        for _ in range(MERGES):
            self._join(classes, self._rules())
            filled = self._filled(classes)
            holds = self._promises.kept(classes.of_row, filled, len(classes.sizes), self._pool)
            if holds.all():
                return classes if len(filled) <= self._promises.most else None
            classes.facts[:, self._kernels.NEEDY] = 0
            classes.facts[filled[~holds], self._kernels.NEEDY] = 1
        return None

    def _join(self, classes: "Classes", rules: "Rules") -> None:
        """Measure new classes, and join those that are needy or too small to others."""
        room = 2 * len(classes.facts)
        heap = self._heap(np.empty(room), np.empty((room, 3), dtype=np.int64))
        self._merging.merge(self._cells, self._near, classes, rules, heap)

    def _built(self, groups: Rows) -> "Classes":
        """Build the classes from the class of each row; number 0 is that of suppressed rows, if there are any."""
        groups = np.where(groups < 0, 0, groups + 1) if self._pool == 0 and (groups < 0).any() else groups
        count, columns = int(groups.max()) + 1, self._cells.codes.shape[1]
        room = max(count, self._rows // max(self._promises.least, 1)) + 1
        made = np.zeros((self._rows, 3), dtype=np.int64)
        made[:, self._kernels.CLASS] = groups
        classes = self._kernels.Classes(
            rows=made,
            facts=np.zeros((room, 7), dtype=np.int64),
            costs=np.zeros(room),
            holds=np.zeros(((room + 1) * self._kernels.LINES, columns), dtype=np.int32),
            stamps=np.zeros(len(self._cells.losses), dtype=np.int64),
            counts=np.zeros(2, dtype=np.int64),
        )
        self._join(classes, self._rules()._replace(least=0))  # no class is too small: they are only measured
        return classes

    def _mean(self, classes: "Classes") -> float:
        lost = float(np.dot(classes.sizes, np.where(classes.sizes > 0, classes.costs, 0.0)))
        return (lost - (classes.costs[self._pool] if self._pool >= 0 else 0.0)) / self._rows

    def _make_room(self) -> "Room":
        return self._kernels.Room(
            random=self._random.integers(0, 2**63, 1, dtype=np.uint64),
            rows=np.zeros(self._rows, dtype=np.int64),
            nearer=np.zeros(self._rows),
        )

    def _tuples(self) -> "Near":
        """The tuple of each row; so far each tuple is known to be near only itself."""
        codes = self._cells.codes
        starts = np.append(True, (codes[1:] != codes[:-1]).any(axis=1))
        first = np.append(np.flatnonzero(starts), self._rows)
        others = np.full((len(first) - 1, NEAREST + 1), -1, dtype=np.int64)
        others[:, 0] = np.arange(len(others))
        return self._kernels.Near((np.cumsum(starts) - 1).astype(np.int64), first.astype(np.int64), others)

    def _look_around(self) -> None:
        """Find the tuples near each one, among its neighbors in several orders of all tuples."""
        near, codes = self._near, self._cells.codes[self._near.first[:-1]]
        others = np.full((len(codes), NEAREST), -1, dtype=np.int64)
        losses = np.full(others.shape, np.inf)
        everybody = len(codes) * (len(codes) - 1) // 2 <= PAIRS
        for _ in range(1 if everybody else ORDERS):
            columns = self._random.permutation(codes.shape[1])
            order = np.lexsort([codes[:, column] for column in columns]).astype(np.int64)
            window = len(codes) if everybody else WINDOW
            self._merging.nearest(order, window, self._cells, near.first[:-1], others, losses)
        near.others[:, 1:] = np.take_along_axis(others, np.argsort(losses, axis=1, kind="stable"), axis=1)

    def _compile(self) -> None:
        """Compile the kernels before the clock starts."""
        classes = self._built(self._given)
        log, rules = self._log(classes), self._rules()
        self._kernels.anneal(0, 0.0, self._cells, self._near, classes, rules, self._room, log)
        if rules.locking:
            nothing_broken = np.zeros(0, dtype=np.bool_)
            self._kernels.undo(nothing_broken, self._cells, classes, log, self._pool)
        nothing = np.zeros(0, dtype=np.int64)
        none, losses = np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1))
        self._merging.nearest(nothing, 1, self._cells, nothing, none, losses)


def _renumbered(groups: Rows) -> Rows:
    """The same classes, renumbered in the order of their first rows; -1 stays."""
    kinds, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    inside = kinds >= 0
    rank = turns_of(np.flatnonzero(inside)[np.argsort(first[inside])], len(kinds))
    return rank[inverse]

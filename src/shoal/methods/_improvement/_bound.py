"""A proven bound on how much any release by nodes of the hierarchies can keep, if every class has at least k rows.

Take any such release, and one of its rows. The nodes of its cells are on some vector of levels, and the other rows of
its class lie under the same nodes, so at least k rows do. Hence each row loses at least what it loses on the cheapest
vector on which k rows look like it. The mean of these losses is a lower bound on the loss of every release: for
full-domain and local recoding, for cuts, for overlapping classes, and for suppressed rows, which lose everything.

The bound is sharpened by what the companions of a row lose. Think of prices: if every row has a price, and no allowed
class costs less than the prices of its rows together, then the prices of all rows are a bound (they are a solution of
the dual of the linear program whose columns are all classes). Consider a class of at least k rows on cells that cost L
per row. It costs at least the prices of its rows if, of all rows that look the same on these cells, the k highest
prices have a mean of at most L: the others are then priced at L at most. The prices from above are allowed. But if the
companions of an isolated row can do without it, its price may rise above what it loses itself. So all prices rise
together, by as much as every set of rows that look the same allows, until none can rise any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, indptr_of
from shoal.data.table import Column
from shoal.methods._full_domain._levels import Texts, texts_of
from shoal.methods._full_domain._losses import column_losses
from shoal.methods._full_domain._tuples import distinct_tuples
from shoal.methods._improvement._cells import importance
from shoal.progress import Told

VECTORS = 2_000_000
"""With more vectors of levels than this, a lattice is too large to be searched."""

WORK = 2_000_000_000
"""With more vectors times tuples than this, a round would take minutes."""

ROUNDS = 8
"""How many times the prices rise."""

STUCK = 1e-9
"""A price that can only rise by less stays where it is; rounding errors are smaller than this."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on the granularity of any release."""

    granularity: float | None
    """No release by these nodes with at least k rows in each class keeps more; None if it was not computed."""
    alone: float | None = None  # the unsharpened bound, with every row on its cheapest vector
    reason: str = ""  # why the bound was not computed

    def sentence(self, k: int, reached: float) -> str:
        """A sentence that compares the bound with what a release keeps."""
        if self.granularity is None:
            return f"How far the best possible release is was not computed: {self.reason}."
        return (
            f"No release by nodes of these hierarchies with at least {k} rows per class keeps more than "
            f"{self.granularity:.4f} by granularity; this one keeps {reached:.4f}, at most "
            f"{max(self.granularity - reached, 0.0):.4f} from the best possible."
        )


def bound(
    columns: Sequence[Column],
    k: int,
    highest: Sequence[int] | None = None,
    rounds: int = ROUNDS,
    told: Told = lambda share: None,
) -> Bound:
    """The most granularity that any release by nodes keeps if its classes have at least k rows.

    `columns`: the quasi-identifiers, all with hierarchies. `highest`: the coarsest level of each that is allowed.
    `told`: called with the share of the rounds that is done.
    """
    tops = [len(column.hierarchy.labels) - 1 for column in columns if column.hierarchy is not None]
    allowed = list(tops if highest is None else highest)
    vectors = prod(level + 1 for level in allowed)
    tuples = distinct_tuples(tuple(columns), len(columns[0].codes))
    codes, counts = np.stack(tuples.codes, axis=1), tuples.counts
    if vectors > VECTORS or vectors * len(counts) > WORK:
        return Bound(None, reason=f"there are {vectors:,} vectors of levels for {len(counts):,} tuples")
    weights = importance(columns, "granularity", {})
    texts = [texts_of(column) for column in columns]
    full = [_full(known, level) for known, level in zip(texts, allowed, strict=True)]
    if not all(_whole(known, mask, level) for known, mask, level in zip(texts, full, allowed, strict=True)):
        return Bound(None, reason="a name of a hierarchy stands for different values on different levels")
    losses = [
        weight * column_losses((column,), (known,), ("granularity",))["granularity"][0].published
        for column, known, weight in zip(columns, texts, weights, strict=True)
    ]
    by_depth = [
        (known.places[: level + 1], np.where(mask, loss[: level + 1], -1.0))
        for known, mask, loss, level in zip(texts, full, losses, allowed, strict=True)
    ]
    alone, best = _prices(codes, counts, by_depth, k, rounds, told)
    rows = int(counts.sum())
    return Bound(1 - float(best @ counts) / rows * (1 - STUCK), 1 - float(alone @ counts) / rows)


def _full(texts: Texts, highest: int) -> Mask:
    """On which levels (rows) the text of a code (columns) covers all codes that it covers on any level."""
    places = texts.places[: highest + 1]
    levels, width = places.shape
    everywhere = np.zeros((len(texts.labels), width), dtype=np.bool_)
    for level in range(levels):
        everywhere[places[level], np.arange(width)] = True
    total = everywhere.sum(axis=1)
    mask: Mask = np.stack([np.bincount(line, minlength=len(total))[line] == total[line] for line in places])
    return mask


def _whole(texts: Texts, full: Mask, highest: int) -> bool:
    """Whether every text covers all its codes on some level."""
    places = texts.places[: highest + 1]
    return set(np.unique(places).tolist()) == set(np.unique(places[full]).tolist())


def _prices(
    codes: Rows, counts: Counts, by_depth: list[tuple[Rows, Floats]], k: int, rounds: int, told: Told
) -> tuple[Floats, Floats]:
    """The prices of the tuples after the first round, and after all rounds."""
    from shoal.kernels import bounding
    from shoal.kernels._jit import fitting

    random = np.random.default_rng(0)
    count, depths = len(counts), len(by_depth) + 1
    lines = np.array([len(places) for places, _ in by_depth])
    width = max(places.shape[1] for places, _ in by_depth)
    keys, losses = np.zeros((lines.sum(), width), dtype=np.uint64), np.full((lines.sum(), width), -1.0)
    first = indptr_of(lines)
    bound_raises = fitting(bounding.bound_raises, count * int(np.prod(lines)))
    for begin, (places, loss) in zip(first, by_depth, strict=False):
        names = random.integers(0, 2**64, int(places.max()) + 1, dtype=np.uint64)
        keys[begin : begin + len(places), : places.shape[1]] = names[places]
        losses[begin : begin + len(places), : places.shape[1]] = loss
    levels = bounding.Levels(first.astype(np.int64), keys, losses)
    stack = bounding.Stack(
        np.zeros((depths, count), dtype=np.int64),
        np.zeros((depths, count), dtype=np.uint64),
        np.zeros((depths, count)),
        np.zeros((depths, 2), dtype=np.int64),
    )
    size = 1 << (2 * count).bit_length()
    groups = bounding.Groups(
        slots=np.zeros(size, dtype=np.uint64),
        seen=np.zeros((size + 1, 2), dtype=np.int64),
        of_tuple=np.zeros(count, dtype=np.int64),
        wholes=np.zeros((count, 3), dtype=np.int64),
        facts=np.zeros((count, 4)),
    )
    prices, caps = np.zeros(count), np.ones(count)
    alone = prices
    for turn in range(rounds):
        free = caps > 0.0
        order = np.argsort(-prices, kind="stable")
        raises = np.minimum(caps, 1.0 - prices)[order]
        tuples = bounding.Tuples(codes[order], counts[order], prices[order], free[order], raises)
        bound_raises(k, tuples, levels, stack, groups)
        risen = np.zeros(count)
        risen[order] = np.where(raises > STUCK, raises, 0.0)
        prices = prices + risen
        told((turn + 1) / rounds)
        if turn == 0:
            # A row that costs nothing alone is not settled yet: its companions may leave room for its price to rise.
            alone, caps = prices, np.full(count, float(prices @ counts) / float(counts.sum()))
        else:
            caps = 2 * risen
        if not caps.any():
            break
    return alone, prices

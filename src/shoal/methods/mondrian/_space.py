"""What Mondrian knows about the codes of its dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import AnyArray, Codes, Floats, Mask, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The dimensions of a partitioning, as flat arrays: entries of dimension j begin at ``offsets[j]``.

    Boundary i of a dimension lies between its codes i and i + 1; the place after the last boundary is padding.
    """

    offsets: Rows  # where each dimension begins, and one more entry: the number of all codes
    positions: Floats  # the coordinate of each code, not decreasing within a dimension
    spans: Floats  # the extent of each dimension's coordinates
    weights: Floats  # how much a dimension's width counts
    missing: Mask  # dimensions whose last code is the missing value
    flat: Mask  # dimensions whose boundaries are all equally good
    depths: Codes
    """The depth of each boundary: that of the lowest node over the codes on both sides, or -1 before missing."""
    earlier: Codes
    later: Codes
    """`earlier`, `later`: the next boundary of less depth on either side, as a number within the dimension; -1 or the
    number of boundaries where there is none."""
    runs: Codes  # the first boundary of the run of equal depths that a boundary stands in

    @classmethod
    def of(cls, positions: Sequence[Floats], depths: Sequence[Codes], weights: Floats | None) -> "Space":
        """The space of dimensions that are given one array each."""
        sizes = np.array([len(places) for places in positions], dtype=np.int64)
        chains = [_chains(np.asarray(levels, dtype=np.int32)) for levels in depths]
        return cls(
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            positions=np.concatenate([np.asarray(places, dtype=np.float64) for places in positions]),
            spans=np.array([places[-1] - places[0] for places in positions]),
            weights=np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=np.float64),
            missing=np.array([len(levels) > 0 and levels[-1] < 0 for levels in depths], dtype=np.bool_),
            flat=np.array([_is_flat(np.asarray(levels)) for levels in depths], dtype=np.bool_),
            depths=_joined([np.asarray(levels, dtype=np.int32) for levels in depths], sizes),
            earlier=_joined([chain[0] for chain in chains], sizes),
            later=_joined([chain[1] for chain in chains], sizes),
            runs=_joined([chain[2] for chain in chains], sizes),
        )

    @property
    def sizes(self) -> Rows:
        """The number of codes of each dimension."""
        return np.diff(self.offsets)

    def widths(self, low: Codes, high: Codes) -> Floats:
        """The normalized widths of segments, from their bounds: one row a segment, one column a dimension.

        A segment that mixes missing and other values is as wide as can be there, so that it is cut there first.
        """
        extents = self.positions[self.offsets[:-1] + high] - self.positions[self.offsets[:-1] + low]
        spans = np.where(self.spans == 0.0, 1.0, self.spans)
        widths = self.weights * extents / spans
        mixed = self.missing & (high + 1 == self.sizes) & (low < high)
        return np.where(mixed, self.weights, widths)


def _is_flat(depths: AnyArray) -> bool:
    return not len(depths) or bool(depths.min() == depths.max() >= 0)


def _chains(depths: Codes) -> tuple[Codes, Codes, Codes]:
    """`earlier`, `later` and `runs` of one dimension's boundaries."""
    count = len(depths)
    if _is_flat(depths):
        nowhere = np.full(count, -1, dtype=np.int32)
        return nowhere, nowhere + np.int32(count + 1), np.zeros(count, dtype=np.int32)
    changes = np.concatenate([[True], depths[1:] != depths[:-1]])
    runs = np.maximum.accumulate(np.where(changes, np.arange(count), 0)).astype(np.int32)
    later = count - 1 - _earlier(depths[::-1])[::-1]
    return _earlier(depths), later.astype(np.int32), runs


def _earlier(depths: Codes) -> Codes:
    """The last boundary before each one that has less depth, or -1.

    All boundaries leap at once, each to where the one it looks at is looking: nothing in between has less depth.
    """
    looks = np.arange(-1, len(depths) - 1, dtype=np.int32)
    while True:
        leaping = np.flatnonzero((looks >= 0) & (depths[looks] >= depths))
        if not len(leaping):
            return looks
        looks[leaping] = looks[looks[leaping]]


def _joined(parts: Sequence[Codes], sizes: Rows) -> Codes:
    """The boundaries of all dimensions, each padded to its number of codes."""
    padded = [np.pad(part, (0, size - len(part))) for part, size in zip(parts, sizes.tolist(), strict=True)]
    return np.concatenate(padded).astype(np.int32)

"""Which classes of a vector must be suppressed, and what that says about the vectors below it."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Mask, Rows
from shoal.methods._full_domain._class_facts import Facts
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._tuples import Grouping
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel
from shoal.models.reidentification_risk import ReidentificationRisk


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The result of evaluating a vector."""

    levels: Levels  # the vector
    number: Rows
    sizes: Counts
    """`number`, `sizes`: the class of each tuple, and the number of rows of each class. A class may be empty."""
    kept: Mask  # the classes that are published
    certain: Mask
    """The classes that may be published here or below: all others are suppressed on every finer vector too."""
    suppressed: int  # how many rows are suppressed
    feasible: bool
    """Whether the promises hold, no more rows are suppressed than allowed, and some rows are published."""
    hopeless: bool  # whether certainly no finer vector is feasible


class Suppression:
    """Evaluates vectors by suppressing the classes that break a promise.

    Two properties of the models decide what this implies for finer vectors. If a failing class merged with a passing
    one passes (`absorbs`), all parts of a failing class fail too. Its rows are then lost on finer vectors as well, and
    if there are more of them than allowed, everything below is hopeless. If a model only guarantees that coarser
    classes stay safe (`monotone`), the same follows when nothing may be suppressed. Otherwise nothing follows: with
    t-closeness a vector may need less suppression than one above it.

    Suppressing rows changes what t-closeness and similar promises compare with, so these are checked again with the
    remaining rows until no class fails.

    `limit`: the most rows that may be suppressed. `least`: the fewest rows that a published class can have.
    """

    def __init__(self, grouping: Grouping, facts: Facts, models: tuple[TableModel, ...], limit: int) -> None:
        self.grouping = grouping
        self.limit = limit
        self._facts = facts
        steady = [model for model in models if _by_class(model) and model.monotone and model.absorbs]
        self._steady = steady if facts.missing_stays else []
        self._unsteady = [model for model in models if model not in self._steady]
        self._all_monotone = all(model.coarsens for model in models) and facts.missing_stays
        self.least = max((model.least_size() for model in self._steady), default=1)
        self._by_size = facts.sizes_say_all and all(isinstance(model, KAnonymity) for model in self._steady)

    @property
    def upward(self) -> bool:
        """Whether every vector above a feasible one is feasible."""
        return not self._unsteady or (self.limit == 0 and self._all_monotone)

    def evaluate(self, levels: Levels) -> Outcome:
        """Find the classes of a vector, and suppress those that break a promise."""
        number, width = self.grouping.classes(levels)
        counts = self.grouping.tuples.counts
        sizes = np.bincount(number, weights=counts, minlength=width).astype(np.int64)
        certain = self._certain(levels, number, sizes)
        lost = self.grouping.tuples.rows - int(sizes[certain].sum())
        hopeless = lost > self.limit
        kept, holds = certain, True
        if self._unsteady and not hopeless:
            kept, holds = self._settled(levels, number, sizes, certain)
        suppressed = self.grouping.tuples.rows - int(sizes[kept].sum())
        feasible = holds and suppressed <= self.limit and suppressed < self.grouping.tuples.rows
        if self.limit == 0 and self._all_monotone and not feasible:
            hopeless = True
        return Outcome(levels, number, sizes, kept, certain, suppressed, feasible, hopeless)

    def _certain(self, levels: Levels, number: Rows, sizes: Counts) -> Mask:
        """The classes that keep all promises whose failures carry over to finer vectors."""
        if self._by_size:
            mask: Mask = sizes >= self.least
            return mask
        kept: Mask = sizes > 0
        while kept.any():
            statistics = self._facts.statistics(levels, number, sizes, kept)
            holds = np.ones(len(statistics), dtype=np.bool_)
            for model in self._steady:
                holds &= model.holds(self._facts.seen_by(model, statistics))
            kept[np.flatnonzero(kept)[~holds]] = False
            if holds.all() or self._facts.sizes_say_all:
                break
        return kept

    def _settled(self, levels: Levels, number: Rows, sizes: Counts, kept: Mask) -> tuple[Mask, bool]:
        """Suppress classes until the rest keeps all promises together; returns the rest, and whether it does."""
        models = [*self._unsteady, *([] if self._facts.sizes_say_all else self._steady)]
        while kept.any():
            statistics = self._facts.statistics(levels, number, sizes, kept)
            seen = [(model, self._facts.seen_by(model, statistics)) for model in models]
            broken = [(model, facts) for model, facts in seen if not model.hold_together(facts)]
            if not broken:
                return kept, True
            holds = np.ones(len(statistics), dtype=np.bool_)
            for model, facts in broken:
                holds &= model.keepable(facts)
            if holds.all():
                return kept, False
            kept = kept.copy()
            kept[np.flatnonzero(kept)[~holds]] = False
        return kept, True


def _by_class(model: TableModel) -> bool:
    """Whether a release keeps the promise exactly if each of its classes does."""
    if isinstance(model, ReidentificationRisk):
        return model.over == "maximal"
    return type(model).hold_together is TableModel.hold_together

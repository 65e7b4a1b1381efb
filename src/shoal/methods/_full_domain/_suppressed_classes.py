"""Which classes of a vector cannot be published, and what that says about the vectors below it."""

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
    """A vector, evaluated."""

    levels: Levels  # the vector
    number: Rows
    sizes: Counts
    """`number`, `sizes`: the class of each tuple, and the rows of each class. A class may be empty."""
    kept: Mask  # the classes that are published
    certain: Mask
    """The classes that may be published here or below: all others are suppressed on every finer vector too."""
    suppressed: int  # rows that are left out
    feasible: bool
    """Whether the promises hold with no more rows left out than allowed, and any row is published."""
    hopeless: bool  # whether it is certain that no finer vector is feasible


class Suppression:
    """Evaluates vectors: suppresses the classes that break a promise.

    Two properties of the models decide what follows for finer vectors. Where merging a failing class with a passing
    one passes (`absorbs`), a class that fails fails in all its parts, so that its rows are lost below as well, and
    more than the allowed number of them makes everything below hopeless. Where only coarser classes stay safe
    (`monotone`), that follows when nothing may be suppressed. Otherwise nothing follows: on t-closeness a vector
    may need less suppression than one above it.

    Suppressing rows changes what t-closeness and its like compare with, so that they are asked again with the rows
    that are left, until no class fails.

    `limit`: the most rows that may be left out. `least`: a number of rows that every published class has.
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
        """The classes that keep the promises whose failures are inherited by finer vectors."""
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
        """Suppress until the rest keeps all promises together; whether it does."""
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

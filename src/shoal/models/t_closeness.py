"""t-closeness (Li, Li and Venkatasubramanian 2007)."""

from collections import Counter
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, field_validator

from shoal.arrays import AnyArray, Mask, Rows
from shoal.data._column_kinds import code_doubt
from shoal.data._plain_text import counted
from shoal.data._promise_words import FITTING
from shoal.data.domain import Domain
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.table import Column
from shoal.errors import WrongUse
from shoal.models._earth_mover import equal_work, hierarchical_work, ordered_at_most, published_work
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import at_most, fraction
from shoal.models._sensitive import Finding, SensitiveModel
from shoal.models._value_order import flaw_of, is_ordered, keys_of, levels_of, order_of, ranks_of

Distance = Literal["by-kind", "equal", "ordered", "hierarchical"]


class TCloseness(SensitiveModel):
    """The distribution of the sensitive values in every class is close to that of the whole release.

    The distance of two distributions is the least work of turning one into the other (the earth mover's distance),
    and at most t. Between two values lies

    equal
        1;
    ordered
        the difference of their ranks, divided by the largest one. Ranks follow from numbers and dates; for names the
        promise carries the `order`. A missing value comes last, and only published values have a rank;
    hierarchical
        the level of their lowest common node, divided by the height. The promise carries the `tree`, and only levels
        that join published values count;
    by-kind
        ordered for numbers, dates and ordinal values, hierarchical for a column with a hierarchy, equal for names.

    The whole is what is published: a reader knows no other, and so a method that suppresses rows compares with the
    rows that are left. All comparisons are exact.
    """

    name: ClassVar[str] = "t-closeness"
    paper: ClassVar[str] = (
        "Li, Li, Venkatasubramanian: t-Closeness: privacy beyond k-anonymity and l-diversity. ICDE 2007"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "t"
    relative: ClassVar[bool] = True

    t: float = Field(
        ge=0, le=1, description="largest distance of the distribution in a class from that in the release"
    )
    distance: Distance = Field(
        default="by-kind",
        description="between values: equal, ordered, hierarchical, or by the kind of the column",
    )
    order: tuple[str, ...] | None = Field(
        default=None, description="for the ordered distance between names: the values in ascending order"
    )
    tree: dict[str, tuple[str, ...]] | None = Field(
        default=None,
        description="for the hierarchical distance: each value and the nodes above it, up to the root",
    )
    _known: tuple[Domain, Rows, list[Rows]] | None = PrivateAttr(default=None)

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"{FITTING} have a distribution of {of} that differs from that of all rows by at most {self.t:g}, on a "
            "scale from 0 (the same) to 1."
        )

    @field_validator("order")
    @classmethod
    def _distinct(cls, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
        twice = [value for value, count in Counter(order or ()).items() if count > 1]
        if twice:
            raise WrongUse(f"an order in which each value stands once, and {twice[0]!r} stands there twice")
        return order

    @field_validator("tree")
    @classmethod
    def _nested(cls, tree: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        if tree is not None and (flaw := flaw_of(tree)):
            raise WrongUse(f"a tree with one root, and {flaw}")
        return tree

    def fitted(self, column: Column) -> Self:
        """The promise with its distance decided, and the order or the tree that the distance needs."""
        distance = self.distance
        if distance == "by-kind":
            self._refuse_codes(column)
            grown = column.hierarchy is not None or self.tree is not None
            distance = "hierarchical" if grown else "ordered" if is_ordered(column.domain) else "equal"
            distance = "ordered" if self.order is not None and self.tree is None else distance
        if distance == "ordered" and self.order is None and column.domain.values is None:
            return self.model_copy(update={"distance": distance, "order": order_of(column)})
        if distance == "hierarchical" and self.tree is None:
            if column.hierarchy is None:
                raise WrongUse(
                    f"The hierarchical distance needs a hierarchy of {column.name!r}; give it one."
                )
            tree = {path[0]: path[1:] for path in column.hierarchy.paths()}
            return self.model_copy(update={"distance": distance, "tree": tree})
        return self.model_copy(update={"distance": distance})

    def _refuse_codes(self, column: Column) -> None:
        """Ask for a distance where numbers look like codes: by their ranks, classes would seem closer than they are."""
        given = column.hierarchy is not None or self.tree is not None or self.order is not None
        if not given and (why := code_doubt(column.name, column.domain)):
            raise WrongUse(
                f"t-closeness needs to know how far apart the values of {column.name!r} are: they may be codes "
                f"({why}). Say --distance equal if they are codes, or --distance ordered if larger numbers mean more."
            )

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have a distribution within t of the whole's."""
        domain, limit = histogram.domain, fraction(self.t)
        assert domain is not None
        kind = self.distance
        if kind == "by-kind":
            tree, order = self.tree is not None, self.order is not None or is_ordered(domain)
            kind = "hierarchical" if tree else "ordered" if order else "equal"
        if kind == "equal":
            return equal_work(histogram).at_most(limit)
        if kind == "hierarchical":
            return hierarchical_work(
                histogram, self._levels(domain, np.flatnonzero(histogram.overall))
            ).at_most(limit)
        if self.order is None and not is_ordered(domain):
            raise WrongUse(
                "The ordered distance needs an order of the values; give it, or ask for another distance."
            )
        ranks, count = ranks_of(domain, np.flatnonzero(histogram.overall), self.order)
        return ordered_at_most(histogram, ranks, count, limit)

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Compute the work for each class from the published texts."""
        filled = tally.sizes > 0
        kind = self.distance
        if kind == "by-kind":
            texts = [tally.column.domain.labels[code] for code in np.flatnonzero(tally.overall).tolist()]
            numbers = self.order is not None or keys_of([text for text in texts if text]) is not None
            kind = "hierarchical" if self.tree is not None else "ordered" if numbers else "equal"
        numerators, denominators = published_work(tally, kind, self.order, self.tree)
        shares: AnyArray = np.zeros(len(classes))
        shares[filled] = numerators[filled].astype(np.float64) / denominators[filled].astype(np.float64)
        worst = int(np.argmax(np.where(filled, shares, -1.0))) if len(shares) else 0
        reached = Fraction(int(numerators[worst]), int(denominators[worst])) if filled.any() else None
        return Finding(
            broken=filled & ~at_most(numerators, denominators, fraction(self.t)),
            badness=shares,
            value=reached,
            why=lambda place: (
                f"a distance of {shares[place]:.4g} from the whole where {self.t:g} is promised"
            ),
            remark=self._taken(kind, tally),
        )

    def vacuous(self) -> str:
        """No distance is larger than 1."""
        return "t = 1 promises nothing: no two distributions are farther apart" if self.t >= 1 else ""

    def promise(self) -> str:
        """The promise in words."""
        by = "" if self.distance == "by-kind" else f" (distance {self.distance})"
        return (
            f"the distribution of {self._subject()} in every class is within {self.t:g} of the release's{by}"
        )

    def _levels(self, domain: Domain, present: Rows) -> list[Rows]:
        """The levels of the tree that count, without the root; kept for the next call on the same values."""
        if self._known is None or self._known[0] is not domain or not np.array_equal(self._known[1], present):
            if self.tree is None:
                raise WrongUse("The hierarchical distance needs the tree of the values in the promise.")
            self._known = (domain, present, levels_of(self.tree, domain.labels, present))
        levels = self._known[2]
        return levels[:-1] if len(levels) > 1 else levels

    def _taken(self, kind: str, tally: Tally) -> str:
        """The distance that was taken, in words."""
        count = int((tally.overall > 0).sum())
        if not count:
            return ""
        remark = f"{tally.column.name}: distances "
        if kind == "equal":
            return f"{remark}of 1 between any two of {counted(count, 'published values')}"
        if kind == "ordered":
            how = "as numbers or days" if self.order is None else "in the order of the promise"
            return f"{remark}by the ranks of {counted(count, 'published values')} {how}"
        return f"{remark}by the tree of the promise over {counted(count, 'published values')}"

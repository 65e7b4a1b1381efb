"""Whether who mines a release finds what the original holds: frequent itemsets and rules."""

from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.measures._comparison import Comparison
from shoal.measures.itemsets import with_vocabulary
from shoal.measures.measure import BasketMeasure, Score
from shoal.mining.association_rules import association_rules
from shoal.mining.frequent_itemsets import frequent_itemsets, least_count, top_itemsets

MANY = 2_000_000
"""Frequent itemsets and rules that are compared, at most."""


class Overlap(BasketMeasure):
    """Frequent itemsets and association rules that are mined in both, with the same thresholds.

    Groups and disassociated releases are measured by datasets that are consistent with them, the mean of several. Items
    that are published as nodes of a hierarchy are other items. Measured only on request.

    itemset_precision, itemset_recall, itemset_jaccard
        Of the itemsets of two or more items that are frequent in the release, the share that is frequent in the
        original; of those of the original, the share that is found; and those in both, of all that are in one of the
        two.
    rule_precision, rule_recall, rule_jaccard
        The same of rules with one item on the right side.
    """

    name: ClassVar[str] = "overlap"
    not_distributable: ClassVar[str | None] = "itemsets are mined in memory"
    on_request: ClassVar[bool] = True
    accepts: ClassVar[tuple[type, ...]] = (Baskets, Groups, Clusters)
    scores_named: ClassVar[tuple[str, ...]] = (
        "itemset_precision",
        "itemset_recall",
        "itemset_jaccard",
        "rule_precision",
        "rule_recall",
        "rule_jaccard",
    )

    top: int = Field(
        default=1000,
        ge=1,
        description="the least support is that of the itemset of this rank in the original",
    )
    support: float | None = Field(
        default=None, gt=0, le=1, description="least share of baskets, instead of a rank"
    )
    confidence: float = Field(default=0.3, gt=0, le=1, description="least confidence of a rule")
    size: int = Field(default=4, ge=2, description="most items of an itemset or a rule")
    reconstructions: int = Field(
        default=3, ge=1, description="datasets that are drawn from groups or a disassociated release"
    )
    seed: int = Field(default=1, ge=0, description="seed of the first of them")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Mine both and compare."""
        original, published = self.baskets(both)
        least = self._least(original)
        draws = 1 if isinstance(published, Baskets) else self.reconstructions
        versions = [both.reconstruction(self.seed + draw) for draw in range(draws)]
        found = [self._compared(original, version, least) for version in versions]
        if not found[0]:
            return ()
        share = f"in {least} baskets or more"
        words = {
            "itemset": f"itemsets {share}",
            "rule": f"rules {share} with a confidence of {self.confidence:g} or more",
        }
        meanings = {
            "precision": "Share of the {} of the release that the original has too.",
            "recall": "Share of the {} of the original that the release has too.",
            "jaccard": "The {} that both have, as a share of those that one of them has.",
        }
        return tuple(
            Score(
                name,
                float(np.mean([one[name] for one in found])),
                meanings[name.partition("_")[2]].format(words[name.partition("_")[0]]),
                "higher",
            )
            for name in self.scores_named
            if name in found[0]
        )

    def _least(self, original: Baskets) -> int:
        if self.support is not None:
            return least_count(len(original), self.support)
        found = top_itemsets(original, self.top, self.size)
        return max(int(found.supports.min(initial=1)), 2)

    def _compared(self, original: Baskets, version: Baskets, least: int) -> dict[str, float]:
        vocabulary = tuple(sorted({*original.vocabulary, *version.vocabulary}))
        before, after = (
            frequent_itemsets(with_vocabulary(side, vocabulary), least, self.size, limit=MANY)
            for side in (original, version)
        )
        share = Fraction(str(self.confidence))
        rules, others = (association_rules(side, share, consequent=1, limit=MANY) for side in (before, after))
        several = np.flatnonzero(before.sizes > 1)
        both = int((after.places_of(*before.members(several)) >= 0).sum())
        return {
            **_shares("itemset", len(several), int((after.sizes > 1).sum()), both),
            **_shares("rule", len(rules), len(others), int(rules.found_in(others).sum())),
        }


def _shares(what: str, before: int, after: int, both: int) -> dict[str, float]:
    """Precision, recall and Jaccard of two sets; none where the original has nothing to find."""
    if not before:
        return {}
    return {
        f"{what}_precision": both / after if after else 0.0,
        f"{what}_recall": both / before,
        f"{what}_jaccard": both / (before + after - both),
    }

"""What the hiding of association rules cost (Verykios et al. 2004; Oliveira and Zaïane 2002)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Mask
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.measures._comparison import Comparison
from shoal.measures.measure import FACT, BasketMeasure, Score
from shoal.mining.association_rules import AssociationRules, association_rules, parse_rule
from shoal.mining.frequent_itemsets import frequent_itemsets, least_count

MODEL = "hidden-associations"
MANY = 5_000_000


class Associations(BasketMeasure):
    """Rules before and after, mined with the same thresholds: those of the promise, unless others are given.

    - **hiding_failure**: The share of the sensitive rules of the original that are still found.
    - **lost_rules, lost_rules_count**: The other rules of the original that are no longer found; share and number. It
      is no difference of sizes, in which rules that came up would make up for lost ones.
    - **ghost_rules, ghost_rules_count**: The rules of the release that the original does not have; share and number.
    - **dissimilarity**: Σ |f(i) − f'(i)| / Σ f(i) over all items, f being their supports.
    - **original_rules, sensitive_rules**: How many rules the original has at these thresholds, and how many of them are
      sensitive.

    Rules have one item on the right side. A release that hides no rules has these scores only where support and
    confidence are given.
    """

    name: ClassVar[str] = "associations"
    not_distributable: ClassVar[str | None] = "rules are mined in memory"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    scores_named: ClassVar[tuple[str, ...]] = (
        "hiding_failure",
        "lost_rules",
        "lost_rules_count",
        "ghost_rules",
        "ghost_rules_count",
        "dissimilarity",
        "original_rules",
        "sensitive_rules",
    )

    support: float | None = Field(
        default=None, gt=0, le=1, description="least share of baskets; that of the promise by default"
    )
    confidence: float | None = Field(
        default=None, gt=0, le=1, description="least confidence; that of the promise by default"
    )
    size: int = Field(default=3, ge=2, description="most items of a rule, both sides together")

    def concerns(self, release: Release[Any]) -> bool:
        """Only of releases that hide rules, unless support and confidence are given."""
        given = self.support is not None and self.confidence is not None
        return given or any(one.get("model") == MODEL for one in release.promises)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Mine the rules of both and compare."""
        original, published = self.baskets(both)
        promise = next((dict(one) for one in both.release.promises if one.get("model") == MODEL), {})
        support, confidence = (
            self.support or promise.get("support"),
            self.confidence or promise.get("confidence"),
        )
        if support is None or confidence is None:
            return ()
        self.refuse_other_count(original, len(published))
        size = max(self.size, *(len(before) + len(after) for before, after in _given(promise)), 2)
        least = least_count(len(original), support)
        vocabulary = tuple(sorted({*original.vocabulary, *published.vocabulary}))
        before, after = (
            association_rules(
                frequent_itemsets(side, least, size, limit=MANY), Fraction(str(confidence)), limit=MANY
            )
            for side in (_in(original, vocabulary), _in(published, vocabulary))
        )
        compared = _Compared.of(before, after, _sensitive(before, vocabulary, original, promise))
        difference = np.abs(_supports(original, vocabulary) - _supports(published, vocabulary)).sum()
        return compared.scores(float(difference) / max(len(original.items), 1))


@dataclass(frozen=True, slots=True)
class _Compared:
    """Counts of rules."""

    rules: int
    after: int
    sensitive: int
    found: int
    lost: int
    ghosts: int

    @classmethod
    def of(cls, before: AssociationRules, after: AssociationRules, sensitive: Mask) -> "_Compared":
        kept = before.found_in(after)
        one = before.itemsets.sizes[before.consequents] == 1
        other = after.itemsets.sizes[after.consequents] == 1
        plain = one & ~sensitive
        return cls(
            rules=int((one | sensitive).sum()),
            after=int(other.sum()),
            sensitive=int(sensitive.sum()),
            found=int((sensitive & kept).sum()),
            lost=int((plain & ~kept).sum()),
            ghosts=int((other & ~after.found_in(before)).sum()),
        )

    def scores(self, dissimilarity: float) -> tuple[Score, ...]:
        """The counts as shares."""
        plain = self.rules - self.sensitive
        return (
            Score(
                "hiding_failure",
                self.found / max(self.sensitive, 1),
                "Share of the sensitive rules that are still found.",
            ),
            Score(
                "lost_rules", self.lost / max(plain, 1), "Share of the other rules that are no longer found."
            ),
            Score("lost_rules_count", self.lost, "Number of the other rules that are no longer found."),
            Score(
                "ghost_rules",
                self.ghosts / max(self.after, 1),
                "Share of the rules that only the release has.",
            ),
            Score("ghost_rules_count", self.ghosts, "Number of the rules that only the release has."),
            Score(
                "dissimilarity", dissimilarity, "Sum of the changes of the items' supports, over all of them."
            ),
            Score("original_rules", self.rules, "Rules of the original at these thresholds.", FACT),
            Score("sensitive_rules", self.sensitive, "Sensitive rules among them.", FACT),
        )


def _given(promise: dict[str, Any]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [parse_rule(text) for text in promise.get("rules", ())]


def _sensitive(
    rules: AssociationRules, vocabulary: tuple[str, ...], original: Baskets, promise: dict[str, Any]
) -> Mask:
    """Which rules are sensitive: the given ones, or those of the promise's scope."""
    if not promise:
        return np.zeros(len(rules), dtype=np.bool_)
    if given := set(_given(promise)):
        return np.array([sides in given for sides in rules.texts(vocabulary)], dtype=np.bool_)
    sizes = rules.itemsets.sizes
    short = (sizes[rules.consequents] == 1) & (sizes[rules.antecedents] <= promise["antecedent"])
    if promise["scope"] == "all":
        return np.asarray(short, dtype=np.bool_)
    secret = {original.vocabulary[code] for code in original.sensitive}
    is_secret = np.array([text in secret for text in vocabulary], dtype=np.bool_)
    return np.asarray(short & is_secret[rules.itemsets.lasts[rules.consequents]], dtype=np.bool_)


def _codes(baskets: Baskets, vocabulary: tuple[str, ...]) -> Counts:
    places = {text: place for place, text in enumerate(vocabulary)}
    return np.array([places[text] for text in baskets.vocabulary], dtype=np.int64)


def _in(baskets: Baskets, vocabulary: tuple[str, ...]) -> Baskets:
    """The same baskets in codes of a vocabulary that holds theirs."""
    items = _codes(baskets, vocabulary)[baskets.items].astype(np.int32)
    return Baskets(baskets.indptr, items, vocabulary)


def _supports(baskets: Baskets, vocabulary: tuple[str, ...]) -> Counts:
    supports = np.zeros(len(vocabulary), dtype=np.int64)
    supports[_codes(baskets, vocabulary)] = baskets.supports
    return supports

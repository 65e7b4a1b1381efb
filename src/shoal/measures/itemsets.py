"""Whether what is often bought together is still seen to be (Terrovitis, Liagouris, Mamoulis, Skiadopoulos 2012)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import Counts, Floats, Indptr, Items, Mask, distinct, indptr_by, owners
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.errors import WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures.measure import FACT, BasketMeasure, Score
from shoal.mining.frequent_itemsets import (
    Itemsets,
    best_of,
    enough_itemsets,
    frequent_among,
    frequent_itemsets,
    least_count,
    supports_of,
)

MANY = 1_000_000
"""Where there are more frequent itemsets than this, their loss is not measured: the support was too low."""


SEVERAL, LARGE = 5, 1_000_000
"""Datasets that are drawn from a disassociated release; and how many items it has where one tells as much."""


class FrequentItemsets(BasketMeasure):
    """What is left of the frequent itemsets of the original.

    A disassociated release is measured by datasets that are consistent with it: by the first one drawn, and by the
    mean of several, where several are drawn.

    - **tkd, tkd_mean**: The share of the original's top-K itemsets that are not among the top-K of the release.
    - **tkd_ml2, tkd_ml2_mean**: The same after every item is replaced by its node on the second level of the hierarchy.
      Left out where the items have no hierarchy.
    - **re, re_averaged**: The mean relative error |so − sp| / ((so + sp) / 2) of the supports of pairs of the items in
      a band of ranks by support in the original; from 0 (right) to 2 (one of the two never seen). `re_averaged` takes
      the mean of the supports in all reconstructions first. Pairs that occur in neither are skipped.
    - **re_skipped**: The number of those pairs.
    - **tlost, tlost_items**: The share and number of the items with support k or more in the original that the release
      shows only in term chunks, or not at all.
    - **lost_itemsets, lost_itemsets_mean**: The share of the frequent itemsets of the original that are not frequent in
      the release; by support as parts.
    """

    name: ClassVar[str] = "itemsets"
    not_distributable: ClassVar[str | None] = "itemsets are mined in memory"
    accepts: ClassVar[tuple[type, ...]] = (Baskets, Clusters)
    scores_named: ClassVar[tuple[str, ...]] = (
        "tkd",
        "tkd_mean",
        "tkd_ml2",
        "tkd_ml2_mean",
        "re",
        "re_averaged",
        "re_skipped",
        "tlost",
        "tlost_items",
        "lost_itemsets",
        "lost_itemsets_mean",
    )

    top: int = Field(default=1000, ge=1, description="number of most frequent itemsets to compare")
    first_rank: int = Field(
        default=200, ge=1, description="rank by support of the first item whose pairs count"
    )
    last_rank: int = Field(
        default=220, ge=2, description="rank by support of the last item whose pairs count"
    )
    supports: tuple[float, ...] = Field(
        default=(0.01,), description="least shares of baskets for which lost frequent itemsets are counted"
    )
    size: int | None = Field(default=3, ge=1, description="most items of a lost frequent itemset")
    level: int = Field(
        default=1, ge=1, description="level of the hierarchy for tkd_ml2; the items are level 0"
    )
    reconstructions: int | None = Field(
        default=None,
        ge=1,
        description="datasets that are drawn from a disassociated release; by default 5, and 1 of a million items or "
        "more, where draws hardly differ",
    )
    seed: int = Field(default=1, ge=0, description="seed of the first of them")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.last_rank <= self.first_rank:
            raise WrongUse(f"last_rank must be above first_rank, not {self.last_rank} ≤ {self.first_rank}.")
        return self

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Mine both and compare."""
        original, published = self.baskets(both)
        several = self.reconstructions or (1 if len(original.items) >= LARGE else SEVERAL)
        draws = 1 if isinstance(published, Baskets) else several
        versions = [both.reconstruction(self.seed + draw) for draw in range(draws)]
        before, *after = (mined(side, self.top) for side in (original, *versions))
        found = [
            *self._top(original, versions, before, after),
            *self._errors(original, versions),
            *_terms_lost(original, both.release),
            *self._lost(original, before, after),
        ]
        return tuple(found)

    def _top(
        self, original: Baskets, versions: list[Baskets], before: "Mined", after: "list[Mined]"
    ) -> list[Score]:
        """The deviation of the top-K, of items and of their nodes."""
        scores = []
        deviations = [deviation(before, one, self.top) for one in after]
        meaning = f"Share of the {self.top} most frequent itemsets that are not among those of the release"
        scores += _one_and_mean("tkd", deviations, meaning)
        if original.hierarchy is not None:
            rise = partial(generalized, hierarchy=original.hierarchy, level=self.level)
            before = mined(rise(original), self.top)
            deviations = [deviation(before, mined(rise(version), self.top), self.top) for version in versions]
            scores += _one_and_mean("tkd_ml2", deviations, f"{meaning}, of nodes on level {self.level}")
        return scores

    def _errors(self, original: Baskets, versions: list[Baskets]) -> list[Score]:
        """The relative errors of the supports of pairs."""
        indptr, items = band_pairs(original, self.first_rank, self.last_rank)
        if len(indptr) < 2:
            return []
        before = supports_of(original, indptr, items)
        after = np.array(
            [
                supports_of(with_vocabulary(version, original.vocabulary), indptr, items)
                for version in versions
            ]
        )
        one, skipped = relative_error(before, after[0])
        where = f"pairs of items of the ranks {self.first_rank} to {self.last_rank}"
        scores = [Score("re_skipped", skipped, f"Skipped {where}: they occur neither here nor there.", FACT)]
        if one is not None:
            scores.insert(0, Score("re", one, f"Mean relative error of the supports of {where}."))
        if len(versions) > 1 and (several := relative_error(before, after.mean(axis=0))[0]) is not None:
            meaning = (
                f"Mean relative error of the mean supports, in {len(versions)} reconstructions, of {where}."
            )
            scores.insert(1, Score("re_averaged", several, meaning))
        return scores

    def _lost(self, original: Baskets, before: "Mined", after: "list[Mined]") -> list[Score]:
        """The share of frequent itemsets that are no longer frequent, by support."""
        shares: list[dict[str, float]] = [{} for _ in after]
        for support in self.supports:
            least = least_count(len(original), support)
            try:
                frequent = before.frequent(least, self.size, MANY)
            except WrongUse:
                continue
            if not len(frequent):
                continue
            longest = int(frequent.sizes.max())
            for share, one in zip(shares, after, strict=True):
                found = one.frequent(least, longest)
                share[f"{support:g}"] = _share_lost(frequent, before.vocabulary, found, one.vocabulary)
        if not shares[0]:
            return []
        meaning = f"Share of the frequent itemsets of at most {self.size} items that are no longer frequent"
        parts = {name: float(np.mean([share[name] for share in shares])) for name in shares[0]}
        scores = [Score("lost_itemsets", _mean(shares[0]), f"{meaning}.", parts=shares[0], by="support")]
        if len(after) > 1:
            meaning = f"{meaning}, mean of {len(after)} reconstructions."
            scores.append(Score("lost_itemsets_mean", _mean(parts), meaning, parts=parts, by="support"))
        return scores


def _mean(shares: dict[str, float]) -> float:
    return sum(shares.values()) / len(shares)


def _one_and_mean(name: str, values: list[float], meaning: str) -> list[Score]:
    """A score of the first version and, of several, their mean."""
    scores = [Score(name, values[0], f"{meaning}.")]
    if len(values) > 1:
        mean = sum(values) / len(values)
        scores.append(Score(f"{name}_mean", mean, f"{meaning}, mean of {len(values)} reconstructions."))
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class Mined:
    """Baskets and the most frequent itemsets in them."""

    baskets: Baskets  # with their vocabulary in ascending order, by which ties are broken
    found: Itemsets
    least: int
    """`found`, `least`: sets among which the most frequent ones are, and their least support."""
    whole: bool  # whether all sets of that support or more are there

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The items."""
        return self.baskets.vocabulary

    def top(self, count: int) -> Itemsets:
        """The most frequent sets."""
        return best_of(self.found, count, self.least)

    def frequent(self, least: int, size: int | None, limit: int | None = None) -> Itemsets:
        """The sets of some support and of no more than some items.

        Raises `WrongUse` if there are more than the limit.
        """
        if self.whole and least >= self.found.least:
            return frequent_among(self.found, least, size)
        return frequent_itemsets(self.baskets, least, size, **({} if limit is None else {"limit": limit}))


def mined(baskets: Baskets, count: int) -> Mined:
    """Find the most frequent itemsets of baskets."""
    ascending = with_vocabulary(baskets, tuple(sorted(baskets.vocabulary)))
    return Mined(ascending, *enough_itemsets(ascending, count))


def deviation(before: Mined, after: Mined, count: int) -> float:
    """tKd: the share of the most frequent itemsets that are not among those of the other side."""
    top = before.top(count)
    return _share_lost(top, before.vocabulary, after.top(count), after.vocabulary) if len(top) else 0.0


def band_pairs(baskets: Baskets, first: int, last: int) -> tuple[Indptr, Items]:
    """The pairs of the items from one rank by descending support to another, counted from 1; ties by text."""
    order = np.argsort(-baskets.supports, kind="stable")
    band = np.sort(order[first - 1 : last]).astype(np.int32)
    one, other = np.triu_indices(len(band), 1)
    pairs = np.stack([band[one], band[other]], axis=1).ravel()
    return np.arange(0, len(pairs) + 1, 2), pairs


def relative_error(before: Counts, after: Counts | Floats) -> tuple[float | None, int]:
    """The mean of ``|so − sp| / ((so + sp) / 2)``, None where no pair occurs; and how many were skipped as 0/0."""
    seen: Mask = (before > 0) | (after > 0)
    if not seen.any():
        return None, len(before)
    so, sp = before[seen].astype(np.float64), after[seen].astype(np.float64)
    return float((np.abs(so - sp) * 2 / (so + sp)).mean()), int((~seen).sum())


def _share_lost(
    before: Itemsets, vocabulary: tuple[str, ...], after: Itemsets, other: tuple[str, ...]
) -> float:
    """The share of the sets that are not among other sets, of another vocabulary."""
    if not len(after):
        return 1.0
    places = {text: place for place, text in enumerate(other)}
    codes = np.array([places.get(text, -1) for text in vocabulary], dtype=np.int32)
    indptr, items = before.members()
    items = codes[items]
    known = np.minimum.reduceat(items, indptr[:-1]) >= 0
    kept = (after.places_of(indptr, np.maximum(items, 0)) >= 0) & known
    return 1 - int(kept.sum()) / len(before)


def _terms_lost(original: Baskets, release: Release) -> list[Score]:
    """tlost: frequent items that nobody can count any more."""
    k = next((int(promise["k"]) for promise in release.promises if promise.get("k")), 1)
    frequent = {original.vocabulary[code] for code in np.flatnonzero(original.supports >= k).tolist()}
    if not frequent:
        return []
    published = release.data
    assert isinstance(published, Baskets | Clusters)
    shown = {published.vocabulary[code] for code in np.unique(published.items).tolist()}
    lost = len(frequent - shown)
    what = f"items with support {k} or more that the release shows only in term chunks, or not at all"
    return [
        Score("tlost", lost / len(frequent), f"Share of the {what}."),
        Score("tlost_items", lost, f"Number of the {what}."),
    ]


def with_vocabulary(baskets: Baskets, vocabulary: tuple[str, ...]) -> Baskets:
    """The same baskets in codes of another vocabulary; items that it has not are left out."""
    if baskets.vocabulary == vocabulary:
        return baskets
    places = {text: place for place, text in enumerate(vocabulary)}
    codes = np.array([places.get(text, -1) for text in baskets.vocabulary], dtype=np.int32)
    known = baskets.keep(codes >= 0)
    nobody = np.empty(0, dtype=np.int32)
    items = codes[codes >= 0][known.items]
    return replace(known, items=items, vocabulary=vocabulary, sensitive=nobody, insensitive=nobody)


def generalized(baskets: Baskets, hierarchy: Hierarchy, level: int) -> Baskets:
    """The same baskets with every item replaced by its node on a level; nodes above stay as they are."""
    level = min(level, hierarchy.height)
    names: dict[str, str] = {}
    for below in range(level + 1):
        nodes = np.arange(len(hierarchy.labels[below]), dtype=np.int32)
        for up in range(below, level):
            nodes = hierarchy.parents[up][nodes]
        labels = hierarchy.labels[level]
        for text, node in zip(hierarchy.labels[below], nodes.tolist(), strict=True):
            names.setdefault(text, labels[node])
    texts = [names.get(text, text) for text in baskets.vocabulary]
    vocabulary = tuple(sorted(set(texts)))
    places = {text: place for place, text in enumerate(vocabulary)}
    codes = np.array([places[text] for text in texts], dtype=np.int64)
    row_of = owners(baskets.indptr)
    width = max(len(vocabulary), 1)
    pairs = distinct(row_of * width + codes[baskets.items])
    indptr = indptr_by(pairs // width, len(baskets))
    return Baskets(indptr, (pairs % width).astype(np.int32), vocabulary)

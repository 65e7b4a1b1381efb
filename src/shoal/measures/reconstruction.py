"""What a reader of groups reconstructs: how often a sensitive item goes together with public ones."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import (
    AnyArray,
    Counts,
    Floats,
    Indptr,
    Items,
    Rows,
    flagged,
    indptr_by,
    owners,
    ranges,
    summed,
    taken,
    turns_of,
)
from shoal.data._basket_orders import holders_of, sensitive_items
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.errors import BadData
from shoal.measures._comparison import Comparison
from shoal.measures.measure import BasketMeasure, Score

SENSITIVE = 20
"""Sensitive items that are asked about, at most: if there are more, so many are drawn."""

COUNTED = 2
"""Public items of a count query."""

PARTS = 100
"""Sensitive items that a score lists."""


class Reconstruction(BasketMeasure):
    """How well groups answer questions about a sensitive item together with public ones.

    A question takes a sensitive item s and some public items, which part all baskets into cells: those that hold all of
    the public items, those that hold all but one, and so on. Act(C) is the share of the baskets with s that lie in
    cell C. A reader of the release can only spread the occurrences of s evenly over each group: a basket of a group
    with a occurrences in |G| baskets counts a / |G|, and the sum over cell C, as a share of all, is Est(C).

    kl, kl_sum
        Σ Act·ln(Act / Est) over all cells (Ghinita, Tao, Kalnis 2008), the mean over questions whose public items are
        drawn evenly from all, and this mean times the number of sensitive items, which is what plots of the paper
        seem to show. Nothing is smoothed: where Act is positive, Est is too.
    kl_frequent, kl_frequent_sum
        The same for public items drawn from the most frequent ones: evenly drawn items are mostly rare ones, about
        which there is little to tell.
    query_error
        The mean relative error |estimate − truth| / truth of the number of baskets that hold a sensitive item and two
        public ones; the three are drawn from a basket that holds them, so that the truth is at least 1.
    """

    name: ClassVar[str] = "reconstruction"
    not_distributable: ClassVar[str | None] = "questions are answered from single baskets"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)
    scores_named: ClassVar[tuple[str, ...]] = (
        "kl",
        "kl_sum",
        "kl_frequent",
        "kl_frequent_sum",
        "query_error",
    )

    items: int = Field(default=4, ge=1, le=16, description="public items of a question: r in the paper")
    questions: int = Field(default=100, ge=1, description="sets of public items that are drawn")
    frequent: int = Field(default=50, ge=1, description="how many items count as the most frequent ones")
    seed: int = Field(default=0, ge=0, description="draws the same questions again")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Ask the release and the original the same questions."""
        original, groups = self.baskets(both)
        two = TwoSides(original, groups)
        public = original.public[original.supports[original.public] > 0]
        if not len(two.sensitive) or not len(public):
            return ()
        generator = np.random.default_rng(self.seed)
        by_support = public[np.argsort(-original.supports[public], kind="stable")]
        kinds = two.sensitive
        asked = np.sort(generator.permutation(kinds)[:SENSITIVE])
        scores: list[Score] = []
        for suffix, pool, words in (
            ("", public, "all items"),
            ("_frequent", by_support[: self.frequent], f"the {self.frequent} most frequent items"),
        ):
            found = np.array([two.divergences(drawn, asked) for drawn in self._drawn(generator, pool)])
            means = found.mean(axis=0)
            parts = {original.vocabulary[item]: float(mean) for item, mean in zip(asked, means, strict=True)}
            meaning = (
                f"mean Kullback-Leibler divergence of {min(self.items, len(pool))} public items, drawn from {words}, "
                "with one sensitive item, from what groups show"
            )
            value = float(means.mean())
            scores.append(
                Score(f"kl{suffix}", value, meaning, parts=dict(list(parts.items())[:PARTS]), by="item")
            )
            summed = f"the same, summed over {len(kinds)} sensitive items"
            scores.append(Score(f"kl{suffix}_sum", value * len(kinds), summed))
        errors = two.count_errors(generator, asked, self.questions)
        if len(errors):
            meaning = "mean relative error of the number of baskets with a sensitive item and two public ones"
            scores.append(Score("query_error", float(errors.mean()), meaning))
        return tuple(scores)

    def _drawn(self, generator: np.random.Generator, pool: Items) -> list[Items]:
        """Sets of different items of the pool."""
        count = min(self.items, len(pool))
        return [generator.choice(pool, count, replace=False) for _ in range(self.questions)]


class TwoSides:
    """The original and its groups, ready to be asked the same question.

    `original`, `groups`: they must belong together: as many baskets, and as many occurrences of each sensitive item.
    """

    def __init__(self, original: Baskets, groups: Groups) -> None:
        self.original = original
        self.rows = len(original)
        number = {item: code for code, item in enumerate(groups.vocabulary)}
        self._published = np.array([number.get(item, -1) for item in original.vocabulary], dtype=np.int64)
        self._before = _before(original)
        self._after = _after(groups)
        owner = np.repeat(np.arange(len(groups)), np.diff(groups.sensitive_indptr))
        by_item = np.argsort(groups.sensitive_items, kind="stable")
        self._summary_indptr = indptr_by(groups.sensitive_items, len(groups.vocabulary))
        self._summary_groups = owner[by_item]
        self._summary_counts = groups.sensitive_counts[by_item]
        self._group_indptr, self._sizes = groups.group_indptr, groups.sizes
        self.sensitive = self._checked(groups)
        self._spread: dict[int, tuple[Rows, Floats]] = {}

    def _checked(self, groups: Groups) -> Items:
        """The sensitive items that occur; refuses a release of another original."""
        published = summed(groups.sensitive_items, groups.sensitive_counts, len(groups.vocabulary))
        secret = self.original.sensitive
        truth = self.original.supports[secret]
        known = self._published[secret]
        same = np.where(known < 0, truth == 0, published[known] == truth) if len(published) else truth == 0
        if len(groups.basket_indptr) - 1 != self.rows or not same.all() or published.sum() != truth.sum():
            raise BadData(
                "the release was not made from this original, or not with the same sensitive items: the numbers of "
                "baskets or of sensitive items differ; give the original that it was made from, read the same way."
            )
        return secret[truth > 0]

    def spread(self, item: int) -> tuple[Rows, Floats]:
        """The published baskets of groups that hold a sensitive item, and how much each of them counts."""
        if item not in self._spread:
            code = self._published[item]
            part = slice(self._summary_indptr[code], self._summary_indptr[code + 1])
            groups, counts = self._summary_groups[part], self._summary_counts[part]
            sizes = self._sizes[groups]
            _, members = ranges(self._group_indptr[groups], sizes)
            self._spread[item] = members, np.repeat(counts / sizes, sizes)
        return self._spread[item]

    def divergences(self, items: Sequence[int] | Items, sensitive: Items) -> list[float]:
        """The divergence of the cells of some public items, for each of the sensitive ones."""
        asked = np.asarray(items)
        acts = self._before.sums(asked, sensitive)
        ests = self._after.sums(self._published[asked], self._published[sensitive])
        found = []
        for act, est in zip(acts, ests, strict=True):
            filled = np.flatnonzero(act)
            found.append(float((act[filled] * np.log(act[filled] / est[filled])).sum() / act.sum()))
        return found

    def count_errors(self, generator: np.random.Generator, sensitive: Items, questions: int) -> Floats:
        """Relative errors of the number of baskets with a sensitive item and two public ones of such a basket."""
        public = flagged(self.original.public, len(self.original.vocabulary))
        errors = []
        for item in generator.choice(sensitive, questions).tolist():
            row = int(self._before.baskets[generator.choice(self._before.pairs_of(item))])
            held = self.original.items[self.original.indptr[row] : self.original.indptr[row + 1]]
            held = held[public[held]]
            if len(held) < COUNTED:
                continue
            drawn = generator.choice(held, COUNTED, replace=False)
            truth = self._before.sum_of(drawn, item)
            estimate = self._after.sum_of(self._published[drawn], self._published[item])
            errors.append(abs(estimate - truth) / truth)
        return np.array(errors)


class _Side:
    """Pairs of a basket and a sensitive item that it counts for: all of its owner, who weighs them.

    `indptr`, `items`, `width`: all baskets, and how many items there are. `owner`: of each basket. `begins`, `secrets`,
    `weights`: the sensitive items of each owner.
    """

    def __init__(
        self,
        indptr: Indptr,
        items: Items,
        width: int,
        owner: Rows,
        begins: Indptr,
        secrets: Items,
        weights: Floats,
    ) -> None:
        lengths = np.diff(begins)[owner]
        self.baskets = np.repeat(np.arange(len(owner)), lengths)
        _, places = ranges(begins[owner], lengths)
        self._secrets, self._weights = secrets[places], weights[places]
        kept, places = taken(indptr, self.baskets)
        self._begins, self._pairs = holders_of(kept, items[places], width)
        self._totals = np.bincount(
            secrets, weights * np.bincount(owner, minlength=len(begins) - 1).repeat(np.diff(begins)), width
        )
        self._marks = np.zeros(len(self.baskets), dtype=np.uint16)
        self._by_secret = holders_of(np.arange(len(self._secrets) + 1), self._secrets, width)
        self._asked: tuple[Items | Counts, Rows, Floats] | None = None

    def pairs_of(self, secret: int | np.int64) -> Rows:
        """The pairs of a sensitive item."""
        begins, pairs = self._by_secret
        return pairs[begins[secret] : begins[secret + 1]]

    def sum_of(self, items: Items | Counts, secret: int | np.int64) -> float:
        """What the baskets that hold all of some items count for a sensitive one."""
        pairs = self.pairs_of(secret)
        for item in items.tolist():
            holding = self._holding(item)
            self._marks[holding] = 1
            pairs = pairs[self._marks[pairs] > 0]
            self._marks[holding] = 0
        return float(self._weights[pairs].sum())

    def sums(self, items: Items | Counts, sensitive: Items | Counts) -> Floats:
        """What the baskets of each cell count for each sensitive item, a line each; bit j: they hold the j-th item."""
        pairs, cells = self._cells(items)
        lines, weights = self._lines(sensitive)
        width = 1 << len(items)
        sums = np.bincount(lines[pairs] * width + cells, weights[pairs], len(sensitive) * width)
        found = sums.astype(np.float64, copy=False).reshape(len(sensitive), width)
        found[:, 0] = self._totals[sensitive] - found.sum(axis=1)
        return found

    def _lines(self, sensitive: Items | Counts) -> tuple[Rows, Floats]:
        """For each pair the line of its sensitive item, and its weight; one that is not asked about weighs nothing."""
        if self._asked is None or not np.array_equal(self._asked[0], sensitive):
            line = turns_of(sensitive, len(self._totals))[self._secrets]
            self._asked = sensitive, np.maximum(line, 0), np.where(line < 0, 0.0, self._weights)
        return self._asked[1:]

    def _holding(self, item: int) -> Rows:
        """The pairs whose basket holds an item; none holds one below 0."""
        return self._pairs[self._begins[item] : self._begins[item + 1]] if item >= 0 else self._pairs[:0]

    def _cells(self, items: Items | Counts) -> tuple[Rows, AnyArray]:
        """The pairs whose basket holds one of some items, each once, and the cell of each."""
        held = [self._holding(item) for item in items.tolist()]
        for place, pairs in enumerate(held):
            self._marks[pairs] |= np.uint16(1 << place)
        found, cells = [], []
        for pairs in held:
            marks = self._marks[pairs]
            once = np.flatnonzero(marks)
            found.append(pairs[once])
            cells.append(marks[once])
            self._marks[pairs] = 0
        return np.concatenate(found), np.concatenate(cells)


def _before(original: Baskets) -> _Side:
    """The truth: a basket counts 1 for each sensitive item that it holds."""
    width = len(original.vocabulary)
    begins, secrets = sensitive_items(original)
    each = np.arange(len(original))
    return _Side(original.indptr, original.items, width, each, begins, secrets, np.ones(len(secrets)))


def _after(groups: Groups) -> _Side:
    """What a reader sees: a basket counts what its group counts, spread evenly."""
    return _Side(
        groups.basket_indptr,
        groups.items,
        len(groups.vocabulary),
        owners(groups.group_indptr),
        groups.sensitive_indptr,
        groups.sensitive_items,
        groups.sensitive_counts / np.repeat(groups.sizes, np.diff(groups.sensitive_indptr)),
    )

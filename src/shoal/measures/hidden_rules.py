"""What hiding rules has cost a table, and what its stars still tell."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Counts, Mask, Rows, turns_of
from shoal.data._equal_rows import RowClasses, row_classes
from shoal.data.published_syntax import SUPPRESSED, telling_rows
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.measures._comparison import Comparison
from shoal.measures.learning import fitting_rows
from shoal.measures.measure import FACT, Score, TableMeasure


class HiddenRules(TableMeasure):
    """Cells starred, and the confidence of rules "class ⇒ sensitive value" before and after.

    Only releases that promise hidden rules have these scores.

    starred_cells, starred_share
        Sensitive cells published as ``*``, and their share of all sensitive cells. Suppressed rows have none.
    confidence_before
        The largest confidence in the published classes if no cell was starred. Left out under `merge`, where the
        classes before are not published.
    confidence_published, confidence_worst
        The largest confidence as published, where stars count as rows that do not show the value; and if all stars of
        a class hide one value. Of whole classes, also where shorter antecedents are promised about.
    confidence_stars
        The largest chance to be right about what a star hides, for a reader who knows how the release was made, sees
        every value as likely as any other beforehand, and has no other source. Under `star`, stars hide the values that
        a class shows as often as it may; under `decoy`, no value has more than a share of c of the stars; a class of
        stars only leaves a guess among all values. Left out where antecedents are shorter than a class.
    lost_class_rules
        The share of the harmless rules (a confidence of at least `least` and at most c before) that fall below `least`.

    What was before is found by fitting the rows of the original into the published classes. It is left out where a row
    fits several, or there are too many to try.
    """

    name: ClassVar[str] = "hidden-rules"
    not_distributable: ClassVar[str | None] = "rows of the original are fitted into the published classes"
    scores_named: ClassVar[tuple[str, ...]] = (
        "starred_cells",
        "starred_share",
        "confidence_before",
        "confidence_published",
        "confidence_worst",
        "confidence_stars",
        "lost_class_rules",
    )

    least: float = Field(default=0.1, gt=0, le=1, description="least confidence of a harmless rule")

    def concerns(self, release: Release[Any]) -> bool:
        """Only of releases that promise hidden rules."""
        return any(one.get("model") == "hidden-rules" for one in release.promises)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Count the stars and the rules of each sensitive column that the promise is about."""
        release = both.release
        promise = next((one for one in release.promises if one.get("model") == "hidden-rules"), None)
        if promise is None:
            return ()
        before, whole = self.tables(both)
        after = whole.take(np.flatnonzero(telling_rows(whole)))
        named = [after.column(promise["column"])] if promise.get("column") else list(after.sensitive)
        classes = row_classes(after.quasi, after.rows)
        reader = _Reader.of(release, promise)
        subject = "a rule of a whole class" if promise.get("antecedent") == "any" else "a rule"
        found = [_Shown.of(column, classes, tuple(promise.get("values") or ())) for column in named]
        blank = max(before.rows - release.suppressed - after.rows, 0)
        stars = {shown.column.name: int(shown.stars.sum()) + blank for shown in found}
        share = sum(stars.values()) / (after.rows * len(found)) if after.rows and found else 0.0
        scores = [
            Score("starred_cells", sum(stars.values()), "Sensitive cells published as *.", parts=stars),
            Score("starred_share", share, "Share of the sensitive cells that are published as *."),
            *_largest("confidence_published", {one.column.name: one.published() for one in found}, subject),
            *_largest("confidence_worst", {one.column.name: one.worst() for one in found}, subject),
        ]
        if reader is not None:
            revealed = {one.column.name: reader.revealed(one) for one in found}
            scores += _largest("confidence_stars", revealed)
        confidence = Fraction(str(promise["confidence"]))
        before_scores = self._before(before, after, classes, found, confidence, subject)
        joined = release.parameters.get("strategy") == "merge"
        return (*scores, *(one for one in before_scores if not joined or one.name != "confidence_before"))

    def _before(
        self,
        original: Table,
        published: Table,
        classes: RowClasses,
        found: list["_Shown"],
        c: Fraction,
        subject: str,
    ) -> list[Score]:
        """The rules before cells were starred, where it is certain which row is in which class."""
        starred = np.flatnonzero(np.sum([one.stars for one in found], axis=0))
        members = fitting_rows(original, published, classes.first[starred], classes.sizes[starred])
        if members is None:
            return []
        largest, harmless, lost = {}, 0, 0
        for one in found:
            values = original.column(one.column.name)
            truth = one.with_truth(values, starred, members)
            largest[one.column.name] = truth.published()
            rules = (truth.counts / truth.sizes >= self.least) & ~truth.above(c)
            kept = one.counts_of(truth) / truth.sizes >= self.least
            harmless, lost = harmless + int(rules.sum()), lost + int((rules & ~kept).sum())
        share = lost / harmless if harmless else 0.0
        meaning = f"Share of the {harmless} harmless rules that are not shown any more."
        return [*_largest("confidence_before", largest, subject), Score("lost_class_rules", share, meaning)]


def _largest(name: str, parts: dict[str, float], subject: str = "a rule") -> list[Score]:
    meaning = {
        "confidence_before": f"Largest confidence of {subject} if no cell was starred.",
        "confidence_published": f"Largest confidence of {subject} as published.",
        "confidence_worst": f"Largest confidence of {subject} if all stars of a class hide its value.",
        "confidence_stars": "Largest chance to guess what a star hides, for a reader who knows the procedure.",
    }[name]
    better = FACT if name == "confidence_before" else "lower"
    return [Score(name, max(parts.values(), default=0.0), meaning, better, parts)]


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The values that classes show: one entry for each class and value that meet, and the stars of each class."""

    column: Column
    labels: tuple[str, ...]
    guarded: Mask
    classes: Rows
    values: Codes
    counts: Counts
    sizes: Counts
    stars: Counts
    class_sizes: Counts

    @classmethod
    def of(cls, column: Column, classes: RowClasses, named: tuple[str, ...]) -> "_Shown":
        labels = column.domain.labels
        blank = np.array([label == SUPPRESSED for label in labels], dtype=np.bool_)[column.codes]
        stars = np.bincount(classes.number[blank], minlength=len(classes.sizes)).astype(np.int64)
        guarded = np.array([not named or label in named for label in labels], dtype=np.bool_)
        return cls._counted(
            column, labels, guarded, classes.number[~blank], column.codes[~blank], stars, classes.sizes
        )

    @classmethod
    def _counted(
        cls,
        column: Column,
        labels: tuple[str, ...],
        guarded: Mask,
        number: Rows,
        codes: Codes,
        stars: Counts,
        sizes: Counts,
    ) -> "_Shown":
        pairs, counts = np.unique(number * max(len(labels), 1) + codes, return_counts=True)
        classes, values = pairs // max(len(labels), 1), (pairs % max(len(labels), 1)).astype(np.int32)
        return cls(column, labels, guarded, classes, values, counts, sizes[classes], stars, sizes)

    @property
    def kept(self) -> Mask:
        """Entries of values whose rules are hidden."""
        return self.guarded[self.values]

    def above(self, c: Fraction) -> Mask:
        """Entries with a confidence above c."""
        return self.counts > np.array([size * c.numerator // c.denominator for size in self.sizes.tolist()])

    def most(self) -> Counts:
        """The rows that show the most frequent guarded value of each class."""
        most = np.zeros(len(self.class_sizes), dtype=np.int64)
        np.maximum.at(most, self.classes[self.kept], self.counts[self.kept])
        return most

    def published(self) -> float:
        """The largest confidence as published."""
        return float((self.most() / self.class_sizes).max(initial=0.0))

    def worst(self) -> float:
        """The largest confidence if all stars of a class hide one value."""
        return float(((self.most() + self.stars) / self.class_sizes).max(initial=0.0))

    def with_truth(self, original: Column, starred: Rows, members: list[Rows]) -> "_Shown":
        """The same classes with the values of the original in those that have stars; a star of the original is none."""
        numbers = {label: code for code, label in enumerate(self.labels)}
        extra = [label for label in original.domain.labels if label not in numbers]
        labels = (*self.labels, *extra)
        numbers |= {label: len(self.labels) + place for place, label in enumerate(extra)}
        codes = np.array([numbers[label] for label in original.domain.labels], dtype=np.int32)
        others = ~np.isin(self.classes, starred)
        number = np.repeat(self.classes[others], self.counts[others])
        shown = np.repeat(self.values[others], self.counts[others])
        true_number = np.repeat(starred, [len(rows) for rows in members])
        none = np.empty(0, dtype=np.int64)
        rows = np.concatenate([none, *members])
        blank = np.array([label == SUPPRESSED for label in original.domain.labels], dtype=np.bool_)
        known = ~blank[original.codes[rows]]
        true_number, true_codes = true_number[known], codes[original.codes[rows[known]]]
        guarded = np.append(self.guarded, np.full(len(extra), bool(self.guarded.all())))
        return self._counted(
            self.column,
            labels,
            guarded,
            np.concatenate([number, true_number]),
            np.concatenate([shown, true_codes]).astype(np.int32),
            np.zeros_like(self.stars),
            self.class_sizes,
        )

    def counts_of(self, other: "_Shown") -> Counts:
        """How often the entries of another finding are shown here."""
        width = max(len(other.labels), 1)
        here, there = self.classes * width + self.values, other.classes * width + other.values
        place = np.minimum(np.searchsorted(here, there), max(len(here) - 1, 0))
        if not len(here):
            return np.zeros(len(there), dtype=np.int64)
        return np.where(here[place] == there, self.counts[place], 0)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader who knows how the release was made."""

    c: Fraction
    fewer_than: int | None
    strategy: str

    @classmethod
    def of(cls, release: Release, promise: Any) -> "_Reader | None":
        """None where it is not known, or antecedents are shorter than a class."""
        strategy = release.parameters.get("strategy")
        short = promise.get("antecedent") == "any" and (promise.get("size") or promise.get("fewer_than"))
        if strategy is None or (short and strategy == "star"):
            return None
        return cls(Fraction(str(promise["confidence"])), promise.get("fewer_than"), str(strategy))

    def revealed(self, shown: _Shown) -> float:
        """The largest chance to be right about a star."""
        classes = np.flatnonzero(shown.stars)
        if not len(classes):
            return 0.0
        stars, sizes = shown.stars[classes], shown.class_sizes[classes]
        values = max(len(np.unique(shown.values)), 1)
        blind = np.full(len(classes), 1.0 / values)
        if self.strategy == "decoy":
            chance = self._floor(stars) / stars
        else:
            cap = self._floor(sizes)
            if self.fewer_than is not None:
                cap = np.minimum(cap, self.fewer_than - 1)
            place = turns_of(classes, len(shown.class_sizes))
            here = place[shown.classes]
            at_cap = (here >= 0) & shown.kept
            at_cap[at_cap] = shown.counts[at_cap] == cap[here[at_cap]]
            suspects = np.bincount(here[at_cap], minlength=len(classes))
            unseen = values - np.bincount(here[here >= 0], minlength=len(classes))
            suspects = np.where(cap == 0, np.maximum(unseen, 1), np.maximum(suspects, 1))
            chance = 1.0 / suspects
        return float(np.where(stars == sizes, blind, chance).max())

    def _floor(self, numbers: Counts) -> Counts:
        floors = [number * self.c.numerator // self.c.denominator for number in numbers.tolist()]
        return np.array(floors, dtype=np.int64)

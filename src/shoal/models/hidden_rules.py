"""Hidden association rules: no class of quasi-identifiers gives a sensitive value away (Zielinski)."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import Codes, Counts, Mask, Rows, owners, summed
from shoal.data._plain_text import counted
from shoal.data._promise_words import joined, percent
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible, WrongUse
from shoal.models._equivalence_classes import Excerpt, PublishedClasses, Tally, cell_words
from shoal.models._exact import at_most, fraction, rounded_up
from shoal.models._sensitive import Bounds, SensitiveModel, shares_kept
from shoal.models.model import Evidence


class HiddenRules(SensitiveModel):
    """No rule "these quasi-identifiers ⇒ this sensitive value" has a confidence above c.

    The antecedent of a rule is a whole class, or with `antecedent` any the cells of up to `size` columns. Its
    confidence *as published* is the share of the rows that show the value; starred cells (``*``) stay in the
    denominator. Its *worst case* counts every star as that value. The promise bounds the first. With `fewer_than` t it
    says besides: no rule whose worst case is above c is shown by t or more rows.

    A cell ``*`` of a quasi-identifier is a text like any other, but an antecedent of nothing else says nothing and is
    none, unless it is a whole class. A row that is ``*`` in all quasi-identifiers and all sensitive cells is suppressed
    and belongs to no class. A missing cell is a value.
    """

    name: ClassVar[str] = "hidden-rules"
    paper: ClassVar[str] = (
        "Zielinski: Overcoming the limitations of k-anonymity through association rule hiding. SAP Research and "
        "University of Pretoria"
    )
    accepts: ClassVar[tuple[type, ...]] = (Table,)
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "confidence"

    confidence: float = Field(gt=0, le=1, description="largest confidence of a rule, as published")
    fewer_than: int | None = Field(
        default=None,
        ge=1,
        description="rules above the confidence in the worst case are shown by fewer rows than this",
    )
    antecedent: Literal["class", "any"] = Field(
        default="class", description="what a reader may know: a whole class, or any cells of it"
    )
    size: int | None = Field(
        default=None, ge=1, description="with antecedent any: the largest number of cells; all by default"
    )
    values: tuple[str, ...] = Field(
        default=(), description="the sensitive values whose rules are hidden; all by default"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        values = f" ({joined(self.values, 'values')})" if self.values else ""
        return (
            f"No published cells of the quasi-identifiers let anybody conclude a value of {of}{values} with a "
            f"confidence above {percent(self.confidence)}."
        )

    @model_validator(mode="after")
    def _size_has_effect(self) -> Self:
        if self.size is not None and self.antecedent != "any":
            raise WrongUse(
                "Size bounds the cells that a reader may know, and has no effect on whole classes: add --antecedent "
                "any, or omit --size"
            )
        return self

    def named(self) -> tuple[str, ...]:
        """The values that are bounded by name."""
        return self.values

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups, published without a star, have no rule.

        Shorter antecedents are unions of classes, and their confidence is a mean of the classes': where no class has a
        rule, none of them has one.
        """
        c = fraction(self.confidence)
        return shares_kept(histogram, Bounds(dict.fromkeys(self.values, c), None if self.values else c))

    def least_size(self) -> int:
        """So many rows that one of them is a share of at most c, where every value is bounded."""
        return 1 if self.values else ceil(1 / fraction(self.confidence))

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The least confidence without a star is the largest share of a value in the whole column."""
        share, where = Fraction(0), ""
        for name in self.columns() or tuple(whole.sensitive):
            histogram = whole.sensitive[name]
            assert histogram.domain is not None
            for code, count in zip(histogram.values.tolist(), histogram.counts.tolist(), strict=True):
                label = histogram.domain.labels[code]
                if label != SUPPRESSED and (not self.values or label in self.values):
                    found = Fraction(count, int(whole.sizes[0]))
                    share, where = max((share, where), (found, f"{label or '(missing)'} of {name}"))
        best = rounded_up(share)
        return Infeasible(
            f"confidence = {self.confidence:g} cannot be kept without stars: {where} has a share of {float(share):.4g} "
            f"in the whole table. The least confidence is {best:g}.",
            best,
        )

    def separable(self, table: Table) -> bool:
        """Where the antecedents are whole classes."""
        return self._only_classes(len(table.quasi))

    def examine(self, published: Excerpt) -> Evidence:
        """Look at every rule, column by column."""
        classes = PublishedClasses.of(published)
        offenders: list[tuple[Fraction, Offender]] = []
        count, reached, worst, remarks, names = 0, Fraction(0), Fraction(0), set(), frozenset[str]()
        for column in self.judged(classes.table):
            tally = classes.tally(column)
            remarks.add(self.absent(tally))
            names |= self.shown(tally, published)
            for rules in self._rules(classes, tally):
                broken = rules.broken(fraction(self.confidence), self.fewer_than)
                reached, worst = max(reached, rules.reached()), max(worst, rules.worst())
                count += len(broken)
                offenders += [
                    (rules.confidence(place), self._offender(rules, place)) for place in broken[:SHOWN]
                ]
        offenders.sort(key=lambda entry: -entry[0])
        return Evidence(
            tuple((float(badness), offender) for badness, offender in offenders[:SHOWN]),
            count,
            {"rows": published.table.rows, "classes": len(classes)},
            highest={"reached": reached, "worst": worst},
            remarks=frozenset(filter(None, remarks)),
            names=names,
        )

    def conclude(self, evidence: Evidence) -> Verdict:
        """The largest confidences decide."""
        reached, worst = evidence.highest.get("reached", 0), evidence.highest.get("worst", 0)
        remark = (
            f"largest confidence {float(reached):.4g} as published, and {float(worst):.4g} in the worst case, if all "
            "stars of a class hide one value"
        )
        absent = self.unpublished(evidence)
        remarks = [*([remark] if evidence.sums.get("classes") else []), *sorted(evidence.remarks)]
        value = reached if evidence.sums.get("rows") else None
        return self.concluded(evidence, self.promise(), value, self.threshold(), absent, "; ".join(remarks))

    def vacuous(self) -> str:
        """No confidence is larger than 1."""
        return "confidence = 1 promises nothing: no rule has a larger one" if self.confidence >= 1 else ""

    def promise(self) -> str:
        """The promise in words."""
        what = f"the values {', '.join(self.values)}" if self.values else "any value"
        who = "no class tells"
        if self.antecedent == "any":
            who = f"no {'cells' if self.size is None else f'{self.size} cells or fewer'} of a row tell"
        also = (
            f", nor above it in the worst case by {counted(self.fewer_than, 'rows')} or more"
            if self.fewer_than
            else ""
        )
        where = self.column or "a sensitive column"
        return f"{who} {what} of {where} with a confidence above {self.confidence:g}{also}"

    def _rules(self, classes: PublishedClasses, tally: Tally) -> Iterator["Rules"]:
        """The rules of one sensitive column, one set of antecedent columns after the other.

        A confidence as published is a mean of those of the classes below it: where whole classes are judged and only
        that is promised, shorter antecedents can break nothing more.
        """
        width = len(classes.table.quasi)
        labels = tally.column.domain.labels
        bounded = np.array([not self.values or label in self.values for label in labels], dtype=np.bool_)
        for columns in range(width if self._only_classes(width) else 1, self._longest(width) + 1):
            for chosen in combinations(range(width), columns):
                yield Rules.of(classes, tally, bounded, chosen)

    def _longest(self, width: int) -> int:
        """The most cells of an antecedent."""
        return width if self.antecedent == "class" or self.size is None else min(self.size, width)

    def _only_classes(self, width: int) -> bool:
        """Whether it is enough to look at whole classes."""
        return self.antecedent == "class" or (self._longest(width) == width and self.fewer_than is None)

    def _offender(self, rules: "Rules", place: int) -> Offender:
        antecedent = rules.antecedents[place]
        shown, stars, size = (
            int(rules.shown[place]),
            int(rules.stars[antecedent]),
            int(rules.sizes[antecedent]),
        )
        value = rules.tally.column.domain.labels[rules.values[place]] or "(missing)"
        telling = rules.classes.excerpt.telling_rows
        total = rules.classes.table.rows if telling is None else telling
        who = f"{shown} of {counted(size, 'rows')} show{'s' * (shown == 1)} it"
        return Offender(
            f"{rules.words(place)}: {rules.tally.column.name} {value}",
            f"{who} (confidence {shown / size:.4g}, in the worst case "
            f"{(shown + stars) / size:.4g}; support {shown} of {total}) where {self.confidence:g} is promised"
            + (f" and fewer than {self.fewer_than} rows above it" if self.fewer_than else ""),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules whose antecedents are cells of the same columns."""

    classes: PublishedClasses
    tally: Tally
    chosen: tuple[int, ...]  # the places of those columns among the quasi-identifiers
    first: Rows  # one class of each antecedent
    sizes: Counts
    stars: Counts
    """`sizes`, `stars`: rows of each antecedent, and those of them whose sensitive cell is a star."""
    antecedents: Rows
    values: Codes
    shown: Counts
    """`antecedents`, `values`, `shown`: each rule: its antecedent, its value, and the rows that show both."""

    @classmethod
    def of(cls, classes: PublishedClasses, tally: Tally, bounded: Mask, chosen: tuple[int, ...]) -> "Rules":
        """Join the classes that agree on some columns."""
        number = np.zeros(len(classes), dtype=np.int64)
        blank = np.ones(len(classes), dtype=np.bool_)
        for place in chosen:
            column = classes.table.quasi[place]
            codes = column.codes[classes.first].astype(np.int64)
            number = np.unique(number * max(len(column.domain), 1) + codes, return_inverse=True)[1]
            texts = np.array([label == SUPPRESSED for label in column.domain.labels], dtype=np.bool_)
            blank &= texts[codes]
        count = int(number.max(initial=-1)) + 1
        sizes, shown_sizes = (summed(number, part, count) for part in (classes.sizes, tally.sizes))
        first = np.unique(number, return_index=True)[1]
        of_class = owners(tally.indptr)
        kept = bounded[tally.values]
        if len(chosen) < len(classes.table.quasi):
            kept = kept & ~blank[of_class]
        width = max(len(tally.column.domain), 1)
        keys = number[of_class[kept]] * width + tally.values[kept]
        pairs, place = np.unique(keys, return_inverse=True)
        shown = summed(place, tally.counts[kept], len(pairs))
        values = (pairs % width).astype(np.int32)
        return cls(classes, tally, chosen, first, sizes, sizes - shown_sizes, pairs // width, values, shown)

    def broken(self, c: Fraction, fewer_than: int | None) -> list[int]:
        """The rules above the confidence, or above it in the worst case and shown too often; the worst first."""
        sizes, stars = self.sizes[self.antecedents], self.stars[self.antecedents]
        above = ~at_most(self.shown, sizes, c)
        if fewer_than is not None:
            above |= ~at_most(self.shown + stars, sizes, c) & (self.shown >= fewer_than)
        places = np.flatnonzero(above)
        found: list[int] = places[np.argsort(-self.shown[places] / sizes[places], kind="stable")].tolist()
        return found

    def confidence(self, place: int) -> Fraction:
        """The confidence of a rule, as published."""
        return Fraction(int(self.shown[place]), int(self.sizes[self.antecedents[place]]))

    def reached(self) -> Fraction:
        """The largest confidence as published."""
        if not len(self.shown):
            return Fraction(0)
        return self.confidence(int(np.argmax(self.shown / self.sizes[self.antecedents])))

    def worst(self) -> Fraction:
        """The largest confidence if every star hides the same value, shown or not."""
        if not len(self.sizes):
            return Fraction(0)
        most = np.zeros(len(self.sizes), dtype=np.int64)
        np.maximum.at(most, self.antecedents, self.shown)
        place = int(np.argmax((most + self.stars) / self.sizes))
        return Fraction(int(most[place] + self.stars[place]), int(self.sizes[place]))

    def words(self, place: int) -> str:
        """The antecedent of a rule in words."""
        row = int(self.classes.first[self.first[self.antecedents[place]]])
        return cell_words((self.classes.table.quasi[one] for one in self.chosen), row)

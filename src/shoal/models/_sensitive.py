"""What promises about the sensitive values of classes have in common."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Floats, Mask, Rows, distinct, owners
from shoal.data._plain_text import counted
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.models._equivalence_classes import Excerpt, PublishedClasses, Tally
from shoal.models._exact import at_most, fraction, group_sums
from shoal.models.model import Evidence, Number, TableModel

Reached: TypeAlias = Number | None


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a model found in one sensitive column of a release, class by class."""

    broken: Mask  # the classes that break the promise
    badness: Floats
    """How bad each class is: a larger number is worse. For the order of offenders only, never for the judgment."""
    value: Reached
    """What the column reaches: that of its worst class; infinite where no number says it, None where nothing is shown.
    """
    why: Callable[[int], str]  # the numbers of one class, in words
    remark: str = ""  # what a reader of the verdict should know of how it was judged


class SensitiveModel(TableModel):
    """A promise about the distribution of sensitive values in every class.

    Without a `column` it speaks of every sensitive column of the table, each by itself.
    """

    accepts: ClassVar[tuple[type, ...]] = (Table, Linked)

    greater_is_safer: ClassVar[bool] = False
    """Whether a greater reached value is a stronger promise, as with l; otherwise a smaller one is, as with t."""

    bounded_by: ClassVar[str]
    """The parameter whose value is the threshold."""

    one_value: ClassVar[bool] = False
    """Whether it can be said of persons only where each of them has one value."""

    column: str | None = Field(
        default=None, description="the sensitive column that is promised about; every one by default"
    )

    def named(self) -> tuple[str, ...]:
        """The sensitive values that the promise names; the missing one is the empty text."""
        return ()

    def refuse_unknown(self, data: Published) -> None:
        """Refuse to bound values that no sensitive column has."""
        if self.named() and isinstance(data, Table | Linked):
            columns = self.judged(data.class_table)
            self.refuse_absent({label for column in columns for label in _occurring(column)}, columns)

    def refuse_vacuous(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse a release that does not give a sensitive column to the promise."""
        assert isinstance(published, Table | Linked)
        names = [column.name for column in published.class_table.sensitive]
        if not names or self.column not in (None, *names):
            about = "sensitive columns" if self.column is None else f"the column {self.column!r}"
            raise BadData(
                f"release.json: the promise {self.name} is about {about}, and sensitive by its role is "
                f"{' and '.join(names) or 'none'}. Fetch the folder again."
            )

    def refuse_absent(self, known: Iterable[str], columns: tuple[Column, ...]) -> None:
        """Refuse named values that are not among the known ones of the columns."""
        texts = set(known) - {SUPPRESSED}
        for name in self.named():
            if name not in texts:
                where = " or ".join(column.name for column in columns)
                raise UnknownName("value", name, sorted(texts), where)

    def shown(self, tally: Tally, published: Excerpt) -> frozenset[str]:
        """The named values that are published in a column, and the star where it hides something."""
        labels, codes = tally.column.domain.labels, published.table.column(tally.column.name).codes
        shown = {labels[code] for code in np.flatnonzero(tally.overall).tolist()}
        starred = SUPPRESSED in labels and bool((codes == labels.index(SUPPRESSED)).any())
        return frozenset(shown.intersection(self.named())) | ({SUPPRESSED} if starred else set())

    def unpublished(self, evidence: Evidence) -> tuple[Offender, ...]:
        """That no named value is published, where nothing hides one: then the promise of the release proves nothing."""
        if not self._everything or not self.named() or evidence.names:
            return ()
        why = "none of the named values is published, and nothing was suppressed that could hold one"
        return (Offender(self._subject(), why),)

    def absent(self, tally: Tally) -> str:
        """That named values are not published, in words; empty where all are."""
        labels = tally.column.domain.labels
        shown = {labels[code] for code in np.flatnonzero(tally.overall).tolist()}
        names = [name or "(missing)" for name in self.named() if name not in shown]
        return f"{tally.column.name}: no published cell is {' or '.join(names)}" if names else ""

    def columns(self) -> tuple[str, ...]:
        """The column, where one is named."""
        return () if self.column is None else (self.column,)

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """One promise for each sensitive column."""
        named = [
            (model.model_copy(update={"column": column.name}), column)
            for model in super().bound(table, published=published)
            for column in self._telling(table)
        ]
        if not published and self.one_value and table.entity is not None:
            for column in self.judged(table):
                self._refuse_several(column, table.entity)
        return tuple(model if published else model.fitted(column) for model, column in named)

    def _telling(self, table: Table) -> tuple[Column, ...]:
        """The columns that the promise speaks of; of several, those that have a value which it names."""
        columns = self.judged(table)
        named = set(self.named())
        return tuple(one for one in columns if named.intersection(_occurring(one))) or columns

    def fitted(self, column: Column) -> Self:
        """The promise with all that a reader of the release must know about the values of the column."""
        return self

    def judged(self, table: Table) -> tuple[Column, ...]:
        """The columns that the promise speaks of.

        Raises `UnknownName` if there is no such column. Raises `WrongUse` if the column, or all columns, are not
        sensitive; or if a person may have several rows, and the promise cannot speak about persons.
        """
        if table.entity is not None and "entity" not in type(self).model_fields:
            raise WrongUse(
                f"{self.name} does not go with several rows a person ({table.entity.name}): {self._speechless()}. "
                "Promise --alpha, which bounds the share of persons who have a value, or publish one row a person."
            )
        if self.column is None:
            if not table.sensitive:
                raise WrongUse(f"{self.name} is about sensitive values; name their columns with --sensitive.")
            return table.sensitive
        column = table.column(self.column)
        if column.role is not Role.SENSITIVE:
            raise WrongUse(
                f"{self.name} is about sensitive values, and the column {self.column!r} is {column.role}; "
                "give it the role sensitive."
            )
        return (column,)

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups keep the promise in the column, or in every column that was counted."""
        names = tuple(statistics.sensitive) if self.column is None else (self.column,)
        if not names:
            raise WrongUse(f"{self.name} needs the counts of a sensitive column.")
        mask = np.ones(len(statistics), dtype=np.bool_)
        for name in names:
            histogram = statistics.sensitive[name]
            mask &= self.keeps(histogram, statistics)
            if self.one_value:
                mask &= histogram.sums <= histogram.sizes
        return mask

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups keep the promise in one column."""
        raise NotImplementedError

    def examine(self, published: Excerpt) -> Evidence:
        """Judge the published values of every class, column by column."""
        classes = PublishedClasses.of(published)
        columns = self.judged(classes.table)
        tallies = [classes.tally(column, getattr(self, "entity", None)) for column in columns]
        found = [
            (column, self._found(tally, classes)) for column, tally in zip(columns, tallies, strict=True)
        ]
        broken = [
            (float(finding.badness[place]), number, place)
            for number, (_, finding) in enumerate(found)
            for place in _worst(finding)
        ]
        offenders = []
        for _, number, place in sorted(broken, key=lambda entry: (-entry[0], *entry[1:]))[:SHOWN]:
            column, finding = found[number]
            where = Offender(f"{classes.words(place)}: {column.name}", finding.why(place))
            offenders.append((float(finding.badness[place]), where))
        count = sum(int(finding.broken.sum()) for _, finding in found)
        values = {column.name: one.value for column, one in found if one.value is not None}
        lowest, highest = (values, {}) if self.greater_is_safer else ({}, values)
        remarks = {one.remark for _, one in found} | {self.absent(tally) for tally in tallies}
        return Evidence(
            tuple(offenders),
            count,
            {column.name: len(classes) for column in columns},
            lowest,
            highest,
            frozenset(filter(None, remarks)),
            frozenset[str]().union(*(self.shown(tally, published) for tally in tallies)),
        )

    def conclude(self, evidence: Evidence) -> Verdict:
        """The worst class of the worst column decides."""
        value, remark = self._worst_value(evidence), "; ".join(sorted(evidence.remarks))
        absent = self.unpublished(evidence)
        return self.concluded(evidence, self.promise(), value, self.threshold(), absent, remark)

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Judge one column of a release, from its cells."""
        raise NotImplementedError

    def _found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Judge one column; a class breaks a promise about the one value of each person where somebody has several."""
        finding = self.found(tally, classes)
        several = tally.several
        if not self.one_value or not several.any():
            return finding
        return Finding(
            broken=finding.broken | several,
            badness=np.where(several, inf, finding.badness),
            value=0 if self.greater_is_safer else inf,
            why=lambda place: (
                f"somebody has several values, so {self.name} says nothing about persons; promise --alpha"
                if several[place]
                else finding.why(place)
            ),
        )

    def _refuse_several(self, column: Column, entity: Column) -> None:
        """Refuse an original in which somebody has several values."""
        pairs = distinct(entity.codes.astype(np.int64) * len(column.domain) + column.codes)
        values = np.bincount(pairs // max(len(column.domain), 1))
        if several := int((values > 1).sum()):
            raise WrongUse(
                f"{self.name} is about the one value of each person, and {counted(several, 'persons')} "
                f"({entity.name}) {'have' if several > 1 else 'has'} several of {column.name}. Promise --alpha, which "
                "bounds the share of persons who have a value, or publish one row a person."
            )

    def _speechless(self) -> str:
        """Why it says nothing about persons: the middle of a sentence."""
        return (
            "it compares classes with all persons, and a reader can tell persons apart inside a class only"
            if self.relative
            else "it counts rows, and says nothing about how many persons have a value"
        )

    def promise(self) -> str:
        """The promise in words."""
        raise NotImplementedError

    def threshold(self) -> Number:
        """What is promised."""
        value = getattr(self, self.bounded_by)
        return value if isinstance(value, int) else fraction(value)

    def _worst_value(self, evidence: Evidence) -> Reached:
        """The value of the worst column; none where one of them tells nothing, or no number says it."""
        values = {**evidence.lowest, **evidence.highest}
        if not evidence.sums or values.keys() != evidence.sums.keys():
            return None
        value = min(values.values()) if self.greater_is_safer else max(values.values())
        return None if value == inf else value

    def _subject(self) -> str:
        return "every sensitive column" if self.column is None else self.column


def _occurring(column: Column) -> Iterable[str]:
    """The texts of a column's cells; of a column in parts, whose cells are elsewhere, those of its domain."""
    if not len(column.codes):
        return column.domain.labels
    return (column.domain.labels[code] for code in column.occurring.tolist())


def _worst(finding: Finding) -> list[int]:
    """The worst classes that break the promise, as many as a verdict shows."""
    places = np.flatnonzero(finding.broken)
    chosen: list[int] = places[np.argsort(-finding.badness[places], kind="stable")][:SHOWN].tolist()
    return chosen


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest share that values may have in a class: `named` ones, and all `others` (None: any share)."""

    named: Mapping[str, Fraction]
    others: Fraction | None = None

    def entries(self, values: Codes, labels: tuple[str, ...]) -> list[tuple[Fraction, Rows]]:
        """The places of the bounded values among given ones, bound by bound."""
        bounds = list(dict.fromkeys([*self.named.values(), *(() if self.others is None else (self.others,))]))
        kinds = np.full(len(labels), -1 if self.others is None else bounds.index(self.others), dtype=np.int32)
        for label, bound in self.named.items():
            if label in labels:
                kinds[labels.index(label)] = bounds.index(bound)
        kind_of = kinds[values]
        return [(bound, np.flatnonzero(kind_of == kind)) for kind, bound in enumerate(bounds)]


def shares_kept(histogram: Histogram, bounds: Bounds) -> Mask:
    """Which groups have no value with a share above its bound."""
    assert histogram.domain is not None
    groups = owners(histogram.indptr)
    sizes = histogram.sizes
    above = np.zeros(len(histogram.counts), dtype=np.int64)
    for bound, places in bounds.entries(histogram.values, histogram.domain.labels):
        above[places] = ~at_most(histogram.counts[places], sizes[groups[places]], bound)
    mask: Mask = group_sums(histogram.indptr, above) == 0
    return mask


def share_text(tally: Tally, place: int, value: str, count: int) -> str:
    """The share of a value in a class, in words: ``3 of 4 rows are flu``."""
    verb = "are" if tally.noun == "rows" else "have"
    return f"{count} of {tally.sizes[place]} {tally.noun} {verb} {value}"


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The bounded values of published classes."""

    broken: Mask  # the classes in which a value has a share above its bound
    worst: Floats  # the largest share of a bounded value in each class
    value: Fraction | None  # the largest of all, exactly

    @classmethod
    def of(cls, tally: Tally, bounds: Bounds) -> "Shares":
        """Look at every class of a release."""
        broken = np.zeros(len(tally.sizes), dtype=np.bool_)
        worst = np.zeros(len(tally.sizes))
        value: Fraction | None = None
        for bound, places in bounds.entries(tally.values, tally.column.domain.labels):
            if not len(places):
                continue
            classes, counts = owners(tally.indptr)[places], tally.counts[places]
            sizes = tally.sizes[classes]
            shares = counts / sizes
            np.maximum.at(worst, classes, shares)
            largest = int(np.argmax(shares))
            share = Fraction(int(counts[largest]), int(sizes[largest]))
            value = share if value is None else max(value, share)
            broken[classes[~at_most(counts, sizes, bound)]] = True
        return cls(broken, worst, value)

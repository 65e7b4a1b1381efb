"""What every promise has in common, and what a model finds in published data: that of several parts can be joined."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from pydantic import PrivateAttr

from shoal.arrays import Mask
from shoal.data._promise_words import joined
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.group_statistics import GroupStatistics
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import Published
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.models._equivalence_classes import Excerpt
from shoal.parameters import Parameters

Number: TypeAlias = int | float | Fraction
Some = TypeVar("Some", bound=Number)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Facts about published data, or a part of it, from which a verdict follows."""

    offenders: tuple[tuple[float, Offender], ...] = ()
    """The worst places, each with its badness: a larger number is worse. The worst first, at most as many as a verdict
    shows."""
    count: int = 0  # how many places break the promise
    sums: Mapping[str, int] = field(default_factory=dict)
    lowest: Mapping[str, Number] = field(default_factory=dict)
    highest: Mapping[str, Number] = field(default_factory=dict)
    """`sums`, `lowest`, `highest`: numbers by name, of which that of the whole is the sum, the least or the largest of
    those of its parts."""
    remarks: frozenset[str] = frozenset()  # what a reader of the verdict should know of how it was judged
    names: frozenset[str] = frozenset()
    """What the verdict has to name, such as the items that were taken as sensitive."""

    def joined(self, other: "Evidence") -> "Evidence":
        """What was found in two parts, whichever comes first."""
        worst = sorted(
            (*self.offenders, *other.offenders), key=lambda entry: (-entry[0], entry[1].where, entry[1].why)
        )
        return Evidence(
            tuple(worst[:SHOWN]),
            self.count + other.count,
            _joined(self.sums, other.sums, lambda one, two: one + two),
            _joined(self.lowest, other.lowest, min),
            _joined(self.highest, other.highest, max),
            self.remarks | other.remarks,
            self.names | other.names,
        )

    @classmethod
    def of(cls, parts: "Iterable[Evidence]") -> "Evidence":
        """What was found in all parts."""
        return reduce(cls.joined, parts, cls())

    @property
    def places(self) -> tuple[Offender, ...]:
        """The worst places alone."""
        return tuple(offender for _, offender in self.offenders)


@dataclass(frozen=True, slots=True)
class Part:
    """What must be known to judge some lines of a published file."""

    name: str  # the name of the part; lines are numbered inside it
    secrets: frozenset[str] = frozenset()  # items that are secret on other lines


def _joined(
    one: Mapping[str, Some], other: Mapping[str, Some], which: Callable[[Some, Some], Some]
) -> Mapping[str, Some]:
    both = {**one, **other}
    return both | {name: which(one[name], other[name]) for name in one.keys() & other.keys()}


class Model(Parameters):
    """A privacy model with its parameters: a promise that published data keeps or breaks.

    A model is written from its paper's definition and shares no grouping code with the methods. It sees published
    data alone: no original, no trace. Parameters are fields with ranges and help; from them follow the options of
    the command line and the reference page.
    """

    name: ClassVar[str]
    """The name in the registry."""

    accepts: ClassVar[tuple[type, ...]]
    """The published forms it can judge: Table, Baskets, Groups, Clusters, Linked."""

    paper: ClassVar[str]
    """Where it was defined."""

    _everything: bool = PrivateAttr(default=False)

    def verify(self, published: Published) -> Verdict:
        """Judge published data, from its cells alone."""
        raise NotImplementedError

    def conclude(self, evidence: Evidence) -> Verdict:
        """The verdict that follows from what was found in all of the published data."""
        raise NotImplementedError

    def concluded(
        self,
        evidence: Evidence,
        promise: str,
        value: Number | None,
        threshold: Number,
        more: tuple[Offender, ...] = (),
        remark: str = "",
    ) -> Verdict:
        """The verdict on what was found, and on more places that break the promise, which are shown first."""
        shown, count = (*more, *evidence.places)[:SHOWN], evidence.count + len(more)
        return Verdict(self.name, promise, not count, value, threshold, shown, count, remark)

    def accept(self, published: Published) -> None:
        """Refuse published data of a form that this model says nothing about."""
        if not isinstance(published, self.accepts):
            forms = " or ".join(form.__name__.lower() for form in self.accepts)
            raise WrongUse(f"The model {self.name} judges {forms}, not {type(published).__name__.lower()}.")

    def ask(self, published: Published) -> None:
        """Refuse a question that is about nothing in the published data: it would be answered well for no reason."""
        self.accept(published)
        self.refuse_unknown(published)

    def refuse_unknown(self, data: Published) -> None:
        """Refuse values or items that the promise names and the data, original or published, does not have.

        A release that was made of data with them is not asked: it may publish none of them any more.

        Raises `UnknownName` with the near ones.
        """

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name.

        `of`: the sensitive columns that it is about. `known`: the quasi-identifiers.
        """
        given = [f"{name} {value}" for name, value in self.as_promise().items() if name != "model" and value]
        return f"It keeps {self.name}{f' with {joined(given)}' if given else ''}."

    def vacuous(self) -> str:
        """Why the promise, or a part of it, holds of all data; empty where it does not."""
        return ""

    def remarked(self, verdict: Verdict) -> Verdict:
        """The verdict with a remark where the promise holds of all data."""
        said = [remark for remark in (verdict.remark, self.vacuous()) if remark]
        return replace(verdict, remark="; ".join(said))

    def refuse_vague(self) -> None:
        """Refuse a promise of a release that leaves open what only the release can tell.

        Raises `BadData` with what it must name.
        """

    def of_everything(self) -> Self:
        """The promise of a release that left out no row, so that what it names is still there, or a star is."""
        whole = self.model_copy()
        whole._everything = True
        return whole

    def refuse_vacuous(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse a release that gives every item a role in which the promise does not look at it.

        `published`: the items and their roles; the baskets may be elsewhere. `details`: the public facts of the
        release. Raises `BadData` unless the method says that nothing else is left.
        """

    def as_promise(self) -> dict[str, Any]:
        """The model as plain data: its name under ``model``, and its parameters."""
        return {"model": self.name, **self.model_dump(mode="json")}

    @classmethod
    def from_promise(cls, promise: dict[str, Any]) -> Self:
        """The model of a promise made by `as_promise`."""
        return cls(**{key: value for key, value in promise.items() if key != "model"})


class LineModel(Model):
    """A promise about groups or clusters, which stand on a line each and can be judged apart."""

    def verify(self, published: Published) -> Verdict:
        """Judge groups or clusters, from what is published alone."""
        self.accept(published)
        return self.conclude(self.examine(published))

    if TYPE_CHECKING:
        sensitive: tuple[str, ...]
        """The items that the promise names as sensitive: a field of every such model."""

    def ask(self, published: Published) -> None:
        """Refuse a question that is about nothing in the published data."""
        super().ask(published)
        assert isinstance(published, Groups | Clusters | ClusteredTable)
        self.refuse_absent(published.vocabulary, self.secrets(published))

    def refuse_absent(self, items: Sequence[str], secrets: frozenset[str]) -> None:
        """Refuse sensitive items that are not published.

        `items`: those that are published. `secrets`: those of them that are secret because some line says so.
        """
        for name in self.sensitive:
            if name not in items:
                raise UnknownName("item", name, items)

    def published_secrets(self, published: Groups | Clusters | ClusteredTable) -> frozenset[str]:
        """The named sensitive items that are published, and those that are secret because some line says so."""
        return frozenset(self.sensitive).intersection(published.vocabulary) | self.secrets(published)

    def unpublished(self, evidence: Evidence) -> tuple[Offender, ...]:
        """That none of the named sensitive items is published, where it is so: then the promise proves nothing."""
        if not self.sensitive or evidence.names.intersection(self.sensitive):
            return ()
        return (Offender("everything", "none of the named sensitive items is published"),)

    def secrets(self, published: Published) -> frozenset[str]:
        """The items that are secret because some line says so: then they are secret on all lines."""
        return frozenset()

    def examine(self, published: Published, part: Part | None = None) -> Evidence:
        """Look at some lines, or at all.

        `part`: what must be known of the other lines, where the published data is a part of it all.
        """
        raise NotImplementedError


class TableModel(Model):
    """A promise about the classes of a table: rows that agree on all quasi-identifiers.

    Besides judging published tables it answers for many candidate groups at once, so that methods can take any list
    of such models.
    """

    accepts: ClassVar[tuple[type, ...]] = (Table,)

    monotone: ClassVar[bool]
    """Whether the union of two classes that keep the promise keeps it too (coarser classes stay safe)."""

    absorbs: ClassVar[bool]
    """Whether the union of a class that keeps the promise and one that breaks it keeps it too."""

    relative: ClassVar[bool] = False
    """Whether classes are compared with the distribution of all that is published: then a method that suppresses
    rows must ask again, with the distribution of the rows that are left."""

    @property
    def may_overlap(self) -> bool:
        """Whether it can be promised of classes whose published cells overlap, so that a person may fit several.

        The rows of a class are its own whatever its cells are. Persons of a population are counted in each class that
        they fit: harmless where more of them can only help, as `absorbs` says, and wrong where there may be too many.
        """
        return "population" not in type(self).model_fields or self.absorbs

    @property
    def coarsens(self) -> bool:
        """Whether coarser classes stay safe, as this promise counts.

        What `monotone` says is said of rows. Somebody may stand in two classes and counts once in their union: that
        does no harm where more persons can only help, as `absorbs` says, and may raise the share of a value otherwise.
        """
        return self.monotone and (self.absorbs or getattr(self, "entity", None) is None)

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """The promise made definite for a table: about which columns, and whose rows belong together.

        What a method promises is what this gives; the release names it, and so `verify` needs no guess.

        `published`: the table is a published one, whose cells are texts: what the kinds of its columns would tell is
        left open.
        """
        if table.entity is not None and "entity" in type(self).model_fields:
            return (self.model_copy(update={"entity": table.entity.name}),)
        return (self,)

    def verify(self, published: Published) -> Verdict:
        """Judge a published table, from its cells alone."""
        self.accept(published)
        assert isinstance(published, Table | Linked)
        return self.conclude(self.examine(Excerpt(published.class_table)))

    def examine(self, published: Excerpt) -> Evidence:
        """Look at some classes of a published table, or at all."""
        raise NotImplementedError

    def separable(self, table: Table) -> bool:
        """Whether classes of such a table can be judged separately, some here and some elsewhere."""
        return True

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which of many groups keep the promise, in one vectorized call."""
        raise NotImplementedError

    def hold_together(self, statistics: GroupStatistics) -> bool:
        """Whether the groups, as all the classes of one release, keep the promise.

        It follows where each of them keeps it. A promise about an average may hold although some do not.
        """
        return bool(self.holds(statistics).all())

    def keepable(self, statistics: GroupStatistics) -> Mask:
        """Which groups to keep, so that the kept ones hold together: those that hold, unless a promise knows better."""
        return self.holds(statistics)

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """Why even one class of all rows breaks the promise, and the best that can be reached."""
        return Infeasible(f"{self.name} cannot be kept: the table as a whole breaks it ({self}).")

    def columns(self) -> tuple[str, ...]:
        """The sensitive columns whose values `holds` needs to see."""
        return ()

    def least_size(self) -> int:
        """A number of rows below which no group can keep the promise: a bound that methods may use to save work."""
        return 1


def columns_of(models: Iterable[TableModel]) -> tuple[str, ...]:
    """The sensitive columns whose values some promises need to see, each once."""
    return tuple(dict.fromkeys(name for model in models for name in model.columns()))


def kept_by(models: Iterable[TableModel], statistics: GroupStatistics) -> Mask:
    """Which of many groups keep all of some promises."""
    kept = np.ones(len(statistics), dtype=np.bool_)
    for model in models:
        kept &= model.holds(statistics)
    return kept


__all__ = ["Baskets", "Clusters", "Groups", "Model", "Table", "TableModel"]

"""What a published table reaches, asked for or not: k, l, entropy l and t."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.data.table import Table
from shoal.models._equivalence_classes import Excerpt
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.entropy_diversity import EntropyDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel
from shoal.models.t_closeness import TCloseness


@dataclass(frozen=True, slots=True)
class Protection:
    """The protection of one sensitive column by the classes of a release."""

    column: str  # the sensitive column
    distinct_l: int | None  # the least number of different values of a class
    entropy_l: float | None  # the least effective number of values of a class, by their entropy
    t: float | None
    """The largest distance of a class from the whole, under the distance that was promised or, without a promise,
    between numbers by their rank and between names 1. None where a person may have several rows: t-closeness says
    nothing about persons. The others are 0 there if somebody has several values in a class."""


def reached_k(published: Table) -> int | None:
    """The rows, or persons, of the smallest class."""
    entity = None if published.entity is None else published.entity.name
    value = KAnonymity(k=2, entity=entity).verify(published).value
    return None if value is None else int(value)


def protections(published: Table, promised: tuple[TCloseness, ...] = ()) -> tuple[Protection, ...]:
    """The protection of every sensitive column of a published table.

    `promised`: promises of t-closeness, whose distances are taken for their columns.
    """
    known = {model.column: model for model in promised}
    found = []
    who = None if published.entity is None else published.entity.name
    excerpt = Excerpt(published)
    for column in published.sensitive:
        closeness = known.get(column.name, TCloseness(t=1, column=column.name))
        distinct = _value(DistinctDiversity(l=2, column=column.name, entity=who), excerpt)
        entropy = _value(EntropyDiversity(l=2, column=column.name, entity=who), excerpt)
        distance = None if who is not None else _value(closeness, excerpt)
        found.append(
            Protection(
                column.name,
                None if distinct is None else int(distinct),
                None if entropy is None else float(entropy),
                None if distance is None else float(Fraction(distance)),
            )
        )
    return tuple(found)


def _value(model: TableModel, excerpt: Excerpt) -> Any:
    """What the table reaches of a promise; its classes are found once for all promises."""
    model.accept(excerpt.table)
    return model.conclude(model.examine(excerpt)).value

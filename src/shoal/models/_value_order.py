"""The order of sensitive values: numbers, days, or a list."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np

from shoal.arrays import Rows
from shoal.data._calendar import iso
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column
from shoal.errors import BadData, WrongUse
from shoal.models._equivalence_classes import Tally


def ranks_of(domain: Domain, present: Rows, order: tuple[str, ...] | None) -> tuple[Rows, int]:
    """The rank of each value of a column by the kind of its domain, and the number of ranks.

    `present`: codes of the values that occur. Only they have a rank: a reader of the release knows no others. `order`:
    the values in ascending order, where a list tells it; it may list more than occur.
    """
    ranks = np.zeros(len(domain), dtype=np.int64)
    if order is not None:
        return _ranks_listed(domain.labels, present, order), len(present)
    values = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values.copy()
    if domain.missing is not None:
        values[domain.missing] = np.inf
    kinds, ranks[present] = np.unique(values[present], return_inverse=True)
    return ranks, len(kinds)


def published_ranks(tally: Tally, order: tuple[str, ...] | None) -> tuple[Rows, int]:
    """The rank of each published text: by a list, else as numbers, else as days. An empty cell comes last."""
    texts = {code: tally.column.domain.labels[code] for code in np.flatnonzero(tally.overall).tolist()}
    ranks = np.zeros(len(tally.overall), dtype=np.int64)
    if order is not None:
        return _ranks_listed(tally.column.domain.labels, np.flatnonzero(tally.overall), order), len(texts)
    keys = keys_of([text for text in texts.values() if text])
    if keys is None:
        raise WrongUse(
            f"The values of {tally.column.name!r} are neither numbers nor dates: give their order, or ask for "
            "another distance."
        )
    ascending = sorted(set(keys.values()))
    rank_of = {key: rank for rank, key in enumerate(ascending)}
    for code, text in texts.items():
        ranks[code] = rank_of[keys[text]] if text else len(ascending)
    return ranks, len(ascending) + ("" in texts.values())


def keys_of(texts: list[str]) -> dict[str, Any] | None:
    """What to sort texts by if all are numbers or all are days, or None."""
    for read in (_number, _day):
        try:
            return {text: read(text) for text in texts}
        except ValueError:
            continue
    return None


def order_of(column: Column) -> tuple[str, ...]:
    """The names of a column in ascending order: that of its domain, or as numbers or days where all of them are.

    Raises `WrongUse` if the names have no order.
    """
    names = tuple(label for label in column.domain.labels if label)
    if is_ordered(column.domain):
        return names
    keys = keys_of(list(names))
    if keys is None:
        raise WrongUse(
            f"The ordered distance needs an order of the values of {column.name!r}; give them an order, or ask for "
            "the equal distance."
        )
    return tuple(sorted(names, key=keys.__getitem__))


def is_ordered(domain: Domain) -> bool:
    """Whether the values of a column have an order of their own."""
    return domain.kind is not Kind.NOMINAL


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except ArithmeticError as error:
        raise BadData(f"{text!r} is no number.") from error
    if not number.is_finite():
        raise BadData(f"{text!r} is no number.")
    return number


def _day(text: str) -> datetime:
    """A day in any form that is read, such as ``1967-01-23`` and ``23.01.1967``, or an ISO time."""
    return datetime.fromisoformat(iso(text)).replace(tzinfo=None)


def _ranks_listed(labels: tuple[str, ...], present: Rows, order: tuple[str, ...]) -> Rows:
    """The ranks of the values that occur in the order of a list, in which a missing one comes last unless told."""
    place = {"": len(order)} | {label: rank for rank, label in enumerate(order)}
    codes = present.tolist()
    for code in codes:
        if labels[code] not in place:
            raise BadData(
                f"the value {labels[code]!r} does not stand in the order that was given; add it there."
            )
    ranks = np.zeros(len(labels), dtype=np.int64)
    ranks[sorted(codes, key=lambda code: place[labels[code]])] = np.arange(len(codes))
    return ranks

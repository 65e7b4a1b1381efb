"""A hierarchy to begin with for a column that has none: how to build it from nothing but the values."""

from math import floor, log10

from shoal.data._hierarchy_builders import build
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column
from shoal.errors import ShoalError

FEW = 3
"""So many names have nothing between them and ``*``."""

CHILDREN, MANY_CHILDREN, MANY = 3, 5, 60
"""Names are joined by threes, and by fives where there are more than sixty."""

FINEST = 16
"""About so many bins has the finest level of a column of numbers."""

CODE = 3
"""Names that all have one length, at least this one, and a digit at their beginning or end are codes."""


def builder_for(column: Column) -> str:
    """The builder of a sensible hierarchy, as `shoal anonymize --hierarchy COLUMN=…` takes it.

    Numbers: bins of a round width and its doubles. Dates: months to decades. Codes such as postcodes: characters hidden
    from the right. Other names: neighbors in their order, because nothing is known of their meaning.
    """
    for spec in (*_wanted(column.domain), "suppress"):
        try:
            build(spec, column.domain, column.name)
        except ShoalError:
            continue
        return spec
    return "suppress"


def _wanted(domain: Domain) -> list[str]:
    if domain.present <= FEW:
        return []
    if domain.kind is Kind.DATE:
        return ["dates"]
    if domain.kind is Kind.NUMERIC:
        return _widths(domain)
    if domain.kind is Kind.NOMINAL and _are_codes(domain):
        return ["mask"]
    return [f"balanced:{CHILDREN if domain.present <= MANY else MANY_CHILDREN}"]


def _widths(domain: Domain) -> list[str]:
    """Round widths, each twice the one before, as long as there are two bins or more.

    >>> import numpy as np
    >>> ages = np.arange(17.0, 91.0)
    >>> _widths(Domain(Kind.NUMERIC, tuple(map(str, ages)), ages))
    ['intervals:5,10,20,40']
    """
    low, high = domain.bounds
    if not high > low:
        return []
    assert domain.values is not None
    present = domain.values[: domain.present]
    width = _round((high - low) / FINEST)
    if bool((present == present.astype("int64")).all()):
        width = max(width, 2.0)
    widths = []
    while width < (high - low):
        widths.append(width)
        width *= 2
    return [f"intervals:{','.join(f'{one:.12g}' for one in widths)}"] if widths else []


def _round(least: float) -> float:
    """The least of 1, 2, 5, 10, 20, … (or their fractions) that is not below a number."""
    place = floor(log10(least))
    steps = (float(f"{factor}e{place}") for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= least * (1 - 1e-9))


def _are_codes(domain: Domain) -> bool:
    """Whether all names have one length and look like numbers of something."""
    labels = domain.labels[: domain.present]
    length = len(labels[0])
    return length >= CODE and all(
        len(label) == length and (label[0].isdigit() or label[-1].isdigit()) for label in labels
    )

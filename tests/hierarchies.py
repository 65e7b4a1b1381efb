"""Domains for hierarchies, and hierarchies as paths."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
from tests.naive import hierarchy as naive

from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy


def names(*labels: str, missing: bool = False) -> Domain:
    """A domain of names in order, with the missing value after them if asked for."""
    texts = (*sorted(labels), "") if missing else tuple(sorted(labels))
    return Domain(Kind.NOMINAL, texts, missing=len(labels) if missing else None)


def numbers(labels: Sequence[str], *, missing: bool = False) -> Domain:
    """A domain of numbers in order, each spelled as given."""
    ordered = sorted(set(labels), key=Decimal)
    values = [float(label) for label in ordered] + [float("nan")] * missing
    texts = (*ordered, "") if missing else tuple(ordered)
    return Domain(Kind.NUMERIC, texts, np.array(values), len(ordered) if missing else None)


def paths_of(hierarchy: Hierarchy) -> naive.Paths:
    """The path of every leaf up to the root."""
    return {path[0]: path for path in hierarchy.paths()}

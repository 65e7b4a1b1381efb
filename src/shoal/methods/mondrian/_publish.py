"""How a class is published: a tight range, a node of a hierarchy, or a set of the values it holds."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from shoal.arrays import Codes, Floats, Rows, distinct, owners
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.published_syntax import SUPPRESSED, range_text, set_text
from shoal.data.table import Column

Form: TypeAlias = Literal["nodes", "ranges", "sets"]
"""How a column's classes are published."""

BITS = 62
"""Up to this many values, a set of them is stored as the bits of one integer."""


def form_of(column: Column, wanted: Form) -> Form:
    """The form in which a column is published: the wanted one, if its values allow it.

    A column without a hierarchy has no nodes, and nominal values have no ranges.
    """
    ordered = column.domain.kind is not Kind.NOMINAL
    if wanted == "sets":
        return "sets"
    if column.hierarchy is not None and (wanted == "nodes" or not ordered):
        return "nodes"
    return "ranges" if ordered else "sets"


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A quasi-identifier as a dimension to cut: its values in cut order."""

    place: Codes  # the place in cut order of each code of the domain
    positions: Floats
    """The coordinate of each place: the number or day, the place of the leaf in a hierarchy, or the place itself."""
    depths: Codes
    """How deep the boundary between each place and the next lies (see `Hierarchy.boundary_depths`). It is -1 between
    the last value and the missing one, which are separated first, where they can be."""

    def placed(self, codes: Codes) -> Codes:
        """The places of codes in cut order; the codes themselves if values are cut in the order of the domain."""
        return codes if np.array_equal(self.place, np.arange(len(self.place))) else self.place[codes]


def axis_of(column: Column, form: Form) -> Axis:
    """A column as a dimension to cut: along its hierarchy if nodes are published, else in the order of its values."""
    domain = column.domain
    if form == "nodes":
        assert column.hierarchy is not None
        order = column.hierarchy.depth_first()
        leaf_places = np.argsort(order)[column.hierarchy.leaf_of(domain)]
        by_place = np.argsort(leaf_places)
        place = np.argsort(by_place).astype(np.int32)
        positions = leaf_places[by_place].astype(np.float64)
        depths = np.zeros(0, dtype=np.int32)
        if len(domain) > 1:
            between = column.hierarchy.boundary_depths(order)[: leaf_places[by_place][-1]]
            depths = np.minimum.reduceat(between, leaf_places[by_place][:-1]).astype(np.int32)
        return Axis(place, positions, depths)
    positions = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values.copy()
    depths = np.zeros(max(len(domain) - 1, 0), dtype=np.int32)
    if domain.missing is not None:
        positions[-1] = positions[-2] if len(domain) > 1 else 0.0
        if len(depths):
            depths[-1] = -1
    return Axis(np.arange(len(domain), dtype=np.int32), positions, depths)


def reach(column: Column, form: Form, axis: Axis, low: Rows, high: Rows) -> tuple[Rows, Rows]:
    """The first and last places that the published cells of classes cover, from the places of their extreme values.

    A node covers all its leaves, and ``*``, published for missing and other values together, covers everything.
    """
    if form != "nodes":
        mixed = (column.domain.missing is not None) & (high == len(axis.place) - 1) & (low < high)
        return np.where(mixed, 0, low), np.where(mixed, len(axis.place) - 1, high)
    hierarchy = column.hierarchy
    assert hierarchy is not None
    order = hierarchy.depth_first()
    first, last = axis.positions[low].astype(np.int64), axis.positions[high].astype(np.int64)
    levels = hierarchy.common_level(first.astype(np.int32), last.astype(np.int32), order)
    for level in np.unique(levels).tolist():
        nodes, here = hierarchy.nodes_at(level)[order], levels == level
        starts = np.flatnonzero(np.concatenate(([True], nodes[1:] != nodes[:-1])))
        node = np.searchsorted(starts, first[here], side="right") - 1
        first[here], last[here] = starts[node], np.append(starts[1:], len(nodes))[node] - 1
    return first, last


def publish(column: Column, form: Form, starts: Rows) -> Column:
    """Publish a column whose rows ``starts[c]:starts[c + 1]`` are class c.

    Every class is published by the values it holds, never by the box that was cut out: ranges are tight.
    """
    if form == "sets":
        class_codes, labels = _sets(column.domain, column.codes, starts)
    elif form == "nodes":
        class_codes, labels = _nodes(column, starts)
    else:
        class_codes, labels = _ranges(column.domain, column.codes, starts)
    domain = nominal(labels)
    if column.domain.missing is not None and "" in labels:
        domain, class_codes = _with_missing_last(labels, class_codes)
    return replace(column, domain=domain, codes=np.repeat(class_codes, np.diff(starts)), hierarchy=None)


def _with_missing_last(labels: tuple[str, ...], codes: Codes) -> tuple[Domain, Codes]:
    place = labels.index("")
    moved = np.arange(len(labels), dtype=np.int32)
    moved[place + 1 :] -= 1
    moved[place] = len(labels) - 1
    kept = (*labels[:place], *labels[place + 1 :], "")
    return Domain(Kind.NOMINAL, kept, missing=len(kept) - 1), moved[codes]


def _numbered(keys: Rows) -> tuple[Rows, Codes]:
    """The distinct keys, and for each class the number of its key among them."""
    distinct, numbers = np.unique(keys, return_inverse=True)
    return distinct, numbers.astype(np.int32)


def _extremes(codes: Codes, starts: Rows) -> tuple[Rows, Rows]:
    low = np.minimum.reduceat(codes, starts[:-1]).astype(np.int64)
    high = np.maximum.reduceat(codes, starts[:-1]).astype(np.int64)
    return low, high


def _ranges(domain: Domain, codes: Codes, starts: Rows) -> tuple[Codes, tuple[str, ...]]:
    low, high = _extremes(codes, starts)
    size, texts = len(domain), domain.labels
    pairs, numbers = _numbered(low * size + high)
    labels = []
    for pair in pairs.tolist():
        first, last = divmod(pair, size)
        mixed = last == domain.missing and first != last
        labels.append(SUPPRESSED if mixed else range_text(texts[first], texts[last]))
    return _distinct(numbers, labels)


def _nodes(column: Column, starts: Rows) -> tuple[Codes, tuple[str, ...]]:
    hierarchy = column.hierarchy
    assert hierarchy is not None
    order = hierarchy.depth_first()
    places = np.argsort(order).astype(np.int32)[hierarchy.leaf_of(column.domain)]
    low, high = _extremes(places[column.codes], starts)
    pairs, numbers = _numbered(low * len(order) + high)
    first, last = pairs // len(order), pairs % len(order)
    levels = hierarchy.common_level(first.astype(np.int32), last.astype(np.int32), order)
    labels = [""] * len(pairs)
    for level in np.unique(levels).tolist():
        nodes = hierarchy.nodes_at(level)[order]
        for place in np.flatnonzero(levels == level).tolist():
            labels[place] = hierarchy.labels[level][nodes[first[place]]]
    return _distinct(numbers, labels)


def _sets(domain: Domain, codes: Codes, starts: Rows) -> tuple[Codes, tuple[str, ...]]:
    numbers, held = (_few_values if len(domain) <= BITS else _many_values)(domain, codes, starts)
    labels = []
    for members in held:
        if len(members) > 1 and members[-1] == domain.missing:
            labels.append(SUPPRESSED)
        else:
            labels.append(set_text([domain.labels[code] for code in members]))
    return _distinct(numbers, labels)


def _few_values(domain: Domain, codes: Codes, starts: Rows) -> tuple[Codes, list[list[int]]]:
    """The number of each class's set of values, and the sets in order of appearance; each value is a bit."""
    bits = np.int64(1) << np.arange(len(domain))
    sets, first, numbers = np.unique(
        np.bitwise_or.reduceat(bits[codes], starts[:-1]), return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    held = [[code for code in range(len(domain)) if one >> code & 1] for one in sets[order].tolist()]
    return np.argsort(order)[numbers].astype(np.int32), held


def _many_values(domain: Domain, codes: Codes, starts: Rows) -> tuple[Codes, list[list[int]]]:
    """The set of values of each class, with one number per class even where sets are equal."""
    members = distinct(owners(starts) * len(domain) + codes)
    indptr = np.searchsorted(members, np.arange(len(starts)) * len(domain)).tolist()
    held = (members % len(domain)).tolist()
    return np.arange(len(starts) - 1, dtype=np.int32), [held[one:two] for one, two in pairwise(indptr)]


def _distinct(numbers: Codes, labels: list[str]) -> tuple[Codes, tuple[str, ...]]:
    """Merge equal labels: the codes of the classes, and each label once."""
    places: dict[str, int] = {}
    merged = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int32)
    return merged[numbers], tuple(places)

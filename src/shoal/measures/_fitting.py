"""Which rows of an original fit into which published classes."""

import numpy as np

from shoal.arrays import Codes, Counts, Mask, Rows
from shoal.data.domain import Kind
from shoal.data.published_syntax import SUPPRESSED, set_members
from shoal.data.table import Column, Table
from shoal.measures._interval_syntax import day, number, read_range
from shoal.measures._nodes import NodeTexts

FITS = 300_000_000
"""Pairs of a class and a combination of original values that are tried at most."""

AT_ONCE = 20_000_000
"""Pairs that are looked at together."""


def fitting_rows(original: Table, published: Table, first: Rows, sizes: Counts) -> list[Rows] | None:
    """The rows of the original that each of some published classes holds.

    `first`, `sizes`: a published row and the number of rows of each class. Returns none where it is not certain: more
    or fewer rows fit a class than it has, a text cannot be read, or there are too many pairs to try.
    """
    if not len(first):
        return []
    codes = np.stack([column.codes for column in original.quasi], axis=1)
    combinations, inverse = _distinct(codes, [len(column.domain) for column in original.quasi])
    if len(first) * len(combinations) > FITS:
        return None
    covers = []
    for column in original.quasi:
        there = published.column(column.name)
        used, place = np.unique(there.codes[first], return_inverse=True)
        covered = _covered(column, [there.domain.labels[code] for code in used.tolist()])
        if covered is None:
            return None
        covers.append((covered, place))
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(combinations) + 1))
    weights = np.diff(starts)
    found: list[Rows] = []
    step = max(AT_ONCE // len(combinations), 1)
    for begin in range(0, len(first), step):
        chunk = slice(begin, min(begin + step, len(first)))
        fits = np.ones((chunk.stop - chunk.start, len(combinations)), dtype=np.bool_)
        for values, (covered, label) in zip(combinations.T, covers, strict=True):
            fits &= covered[label[chunk]][:, values]
        if (fits @ weights != sizes[chunk]).any():
            return None
        for row in fits:
            parts = [order[starts[one] : starts[one + 1]] for one in np.flatnonzero(row).tolist()]
            found.append(np.concatenate(parts))
    return found


def _distinct(codes: Codes, sizes: list[int]) -> tuple[Codes, Rows]:
    """The distinct combinations of codes, and that of each row."""
    number_of = np.zeros(len(codes), dtype=np.int64)
    for place, size in enumerate(sizes):
        number_of = np.unique(number_of * max(size, 1) + codes[:, place], return_inverse=True)[1]
    first = np.unique(number_of, return_index=True)[1]
    return codes[first], number_of


def _covered(column: Column, texts: list[str]) -> Mask | None:
    """Which values of a column each text stands for; None where a text cannot be read."""
    domain = column.domain
    if len(texts) * len(domain) > FITS:
        return None
    places = {label: code for code, label in enumerate(domain.labels)}
    nodes = None if column.hierarchy is None else NodeTexts(column.hierarchy)
    leaves = None if column.hierarchy is None else column.hierarchy.leaf_of(domain)
    positions = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values

    def coordinate(text: str) -> float | None:
        if text in places:
            return float(positions[places[text]])
        if domain.values is None:
            return None
        return day(text) if domain.kind is Kind.DATE else number(text)

    def read(text: str, mask: Mask) -> bool:
        if text == SUPPRESSED:
            mask[:] = True
        elif nodes is not None and leaves is not None and text in nodes:
            mask |= np.isin(leaves, nodes.leaves(text))
        elif text in places:
            mask[places[text]] = True
        elif (ends := read_range(text, coordinate, domain.values is None)) is not None:
            low = positions > ends.low if ends.low_open else positions >= ends.low
            mask |= low & (positions < ends.high if ends.high_open else positions <= ends.high)
        elif (members := set_members(text)) is not None:
            return all(read(member, mask) for member in members)
        else:
            return False
        return True

    covered = np.zeros((len(texts), len(domain)), dtype=np.bool_)
    return covered if all(read(text, covered[place]) for place, text in enumerate(texts)) else None

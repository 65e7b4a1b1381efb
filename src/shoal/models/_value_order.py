"""The order of sensitive values, numbers, days or a list, and their tree."""

from collections.abc import Mapping
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
        number = Decimal(text.removeprefix("<=").removesuffix("+"))  # a coded end stands for its number
    except ArithmeticError as error:
        raise BadData(f"{text!r} is not a number.") from error
    if not number.is_finite():
        raise BadData(f"{text!r} is not a number.")
    return number


def _day(text: str) -> datetime:
    """A day in any form that is read, such as ``1967-01-23`` and ``23.01.1967``, or an ISO time."""
    return datetime.fromisoformat(iso(text)).replace(tzinfo=None)


def _ranks_listed(labels: tuple[str, ...], present: Rows, order: tuple[str, ...]) -> Rows:
    """The ranks of the values that occur in the order of a list, in which a missing one comes last by default."""
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


Tree = Mapping[str, tuple[str, ...]]
"""Each value and the nodes above it, up to the root."""


def flaw_of(tree: Tree) -> str:
    """What keeps paths from being a tree; empty where nothing does.

    >>> flaw_of({"flu": ("lung", "*"), "cold": ("nose", "*")})
    ''
    >>> flaw_of({"flu": ("lung", "a"), "cold": ("lung", "b")})
    "'lung' lies under 'a' and under 'b'"
    >>> flaw_of({"a": ("x", "y", "*"), "b": ("y", "x", "*")})
    "'x' stands for other values on one level than on another"
    """
    heights = {len(path) for path in tree.values()}
    if len(heights) != 1 or 0 in heights:
        return "its branches are of different lengths, or empty" if heights else "it has no value"
    above: dict[tuple[int, str], str] = {}
    for path in tree.values():
        for level in range(len(path) - 1):
            parent = above.setdefault((level, path[level]), path[level + 1])
            if parent != path[level + 1]:
                return f"{path[level]!r} lies under {parent!r} and under {path[level + 1]!r}"
    below: dict[str, dict[int, set[str]]] = {}
    for text, path in tree.items():
        for level, node in enumerate((text, *path)):
            below.setdefault(node, {}).setdefault(level, set()).add(text)
    for node, levels in below.items():
        if any(values != next(iter(levels.values())) for values in levels.values()):
            return f"{node!r} stands for other values on one level than on another"
    roots = sorted({path[-1] for path in tree.values()})
    return f"it has several roots: {', '.join(map(repr, roots[:3]))}" if len(roots) > 1 else ""


def levels_of(tree: Tree, labels: tuple[str, ...], present: Rows) -> list[Rows]:
    """The node of each value on each level that counts: first the values themselves, last the one node over them all.

    A level counts where it joins values that occur and are apart below. So neither values that do not occur nor levels
    between which nothing is joined change a distance.

    `present`: codes of the values that occur. Raises `BadData` if the tree misses one of them.
    """
    texts = {code: labels[code] for code in present.tolist()}
    for text in texts.values():
        if text not in tree:
            raise BadData(f"the tree of the promise misses {text!r}; add it there.")
    levels = [np.arange(len(labels), dtype=np.int64)]
    apart = len(texts)
    for level in range(len(next(iter(tree.values()), ()))):
        nodes: dict[str, int] = {}
        here = np.zeros(len(labels), dtype=np.int64)
        for code, text in texts.items():
            here[code] = nodes.setdefault(tree[text][level], len(nodes))
        if len(nodes) < apart:
            levels.append(here)
            apart = len(nodes)
    return levels

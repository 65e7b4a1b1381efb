"""Describe the promises of a release in sentences, for readers who do not know the models by name."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from shoal import registry
from shoal.errors import WrongUse

Promise: TypeAlias = Mapping[str, Any]

NAMED = 12
"""The most names that a sentence lists; of more, it gives the number."""

UNNAMED = "the quasi-identifiers"
"""The words for what is known, if no column is named."""

OF_ITEMS = ("k-km-anonymity", "disassociation")
"""Promises about adversaries who know items; together with other promises they are about the items of a table."""


def promise_sentences(promises: Sequence[Promise], known: Sequence[str] = ()) -> tuple[str, ...]:
    """A sentence for each kind of promise; promises that differ only in their column share one.

    `known`: the names of the quasi-identifiers.

    >>> promise_sentences([{"model": "k-anonymity", "k": 11}], ["age", "sex"])[0]
    "Someone who knows age and sex of a person can guess that person's row with a chance of at most 1 in 11."
    >>> promise_sentences([{"model": "distinct-diversity", "l": 3, "column": name} for name in "ab"])[0]
    'The rows that fit what is known of a person have at least 3 different values of a and b.'
    >>> diverse, mixed = {"model": "distinct-diversity", "l": 3}, {"model": "k-km-anonymity", "k": 5}
    >>> promise_sentences([diverse, mixed], ["age"])[0].split(". ")[1]
    'This is not promised of the rows that fit items too.'
    """
    items = with_items(promises)
    return tuple(
        sentence(
            group[0], [promise["column"] for promise in group if promise.get("column")], known, items=items
        )
        for group in grouped(promises)
    )


def with_items(promises: Sequence[Promise]) -> bool:
    """Whether the promises are about a table with items."""
    return len({one.get("model") in OF_ITEMS for one in promises}) == 2


def grouped(promises: Sequence[Promise]) -> list[list[Promise]]:
    """Group promises by kind: the same model with the same parameters, for one or several columns."""
    kinds: dict[str, list[Promise]] = {}
    for promise in promises:
        own = {name: value for name, value in promise.items() if name not in _OF_COLUMN}
        kinds.setdefault(repr(sorted(own.items(), key=lambda pair: pair[0])), []).append(promise)
    return list(kinds.values())


def sentence(
    promise: Promise, columns: Sequence[str] = (), known: Sequence[str] = (), *, items: bool = False
) -> str:
    """One kind of promise in the words of its model; for an unknown model, its name.

    `items`: whether an adversary may know items too, which promises about classes do not cover.
    """
    try:
        model = registry.load("model", str(promise.get("model"))).from_promise(dict(promise))
    except WrongUse:
        return f"It keeps {promise.get('model')}."
    of = joined(columns, "sensitive columns") or "the sensitive column"
    facts = joined(known, "facts") or UNNAMED
    told = str(model.sentence(of, facts))
    if not items or KNOWN not in told:
        return told
    return f"{told.replace(KNOWN, f'{facts} of a person')} {NOT_OF_ITEMS}"


def joined(names: Sequence[str], noun: str = "") -> str:
    """Join names to a list in words; many names are replaced by their number.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined(list("abcdefghijklm"), "facts")
    ('a', 'a, b and c', 'these 13 facts')
    """
    if noun and len(names) > NAMED:
        return f"these {len(names)} {noun}"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def percent(value: float) -> str:
    """Format a share in percent.

    >>> percent(0.25), percent(0.333)
    ('25 %', '33.3 %')
    """
    return f"{100 * float(value):.3g} %"


_OF_COLUMN = ("column", "matrix", "tree", "order", "distance")
"""Parameters that may differ between promises of one kind, because they are about different columns."""

NOT_OF_ITEMS = "This is not promised of the rows that fit items too."
KNOWN = "what is known of a person"
FITTING = f"The rows that fit {KNOWN}"
AMONG_FITTING = f"Among the rows that fit {KNOWN},"
"""Beginnings of sentences about one class."""

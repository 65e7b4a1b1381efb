"""What a release promises, in a sentence for each kind of promise: for readers who know no model by its name."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from shoal import registry
from shoal.errors import WrongUse

Promise: TypeAlias = Mapping[str, Any]

NAMED = 12
"""So many names stand in a sentence; of more it tells the number."""

UNNAMED = "the quasi-identifiers"
"""What is known, where no column is named."""

OF_ITEMS = ("k-km-anonymity", "disassociation")
"""Promises about who knows items; beside others they are about the items of a table."""


def promise_sentences(promises: Sequence[Promise], known: Sequence[str] = ()) -> tuple[str, ...]:
    """A sentence for each kind of promise: those that differ by their column alone are one.

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
    """Whether promises are about a table with items."""
    return len({one.get("model") in OF_ITEMS for one in promises}) == 2


def grouped(promises: Sequence[Promise]) -> list[list[Promise]]:
    """The promises of each kind: the same model with the same parameters, of one or several columns."""
    kinds: dict[str, list[Promise]] = {}
    for promise in promises:
        own = {name: value for name, value in promise.items() if name not in _OF_COLUMN}
        kinds.setdefault(repr(sorted(own.items(), key=lambda pair: pair[0])), []).append(promise)
    return list(kinds.values())


def sentence(
    promise: Promise, columns: Sequence[str] = (), known: Sequence[str] = (), *, items: bool = False
) -> str:
    """One kind of promise in the words of its model; one of an unknown model names it.

    `items`: whether items may be known too, of which promises about classes say nothing.
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
    """Names as a list, or how many there are.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined(list("abcdefghijklm"), "facts")
    ('a', 'a, b and c', 'these 13 facts')
    """
    if noun and len(names) > NAMED:
        return f"these {len(names)} {noun}"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def percent(value: float) -> str:
    """A share in percent.

    >>> percent(0.25), percent(0.333)
    ('25 %', '33.3 %')
    """
    return f"{100 * float(value):.3g} %"


_OF_COLUMN = ("column", "matrix", "tree", "order", "distance")
"""What may differ between promises of one kind: they are about different columns."""

NOT_OF_ITEMS = "This is not promised of the rows that fit items too."
KNOWN = "what is known of a person"
FITTING = f"The rows that fit {KNOWN}"
AMONG_FITTING = f"Among the rows that fit {KNOWN},"
"""How sentences begin that are about one class."""

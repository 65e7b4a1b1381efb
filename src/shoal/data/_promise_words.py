"""What a release promises, in a sentence for each kind of promise: for readers who know no model by its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Promise: TypeAlias = Mapping[str, Any]

NAMED = 6
"""So many names stand in a sentence; of more it tells the number."""


def promise_sentences(promises: Sequence[Promise], known: Sequence[str] = ()) -> tuple[str, ...]:
    """A sentence for each kind of promise: those that differ by their column alone are one.

    `known`: the names of the quasi-identifiers.

    >>> promise_sentences([{"model": "k-anonymity", "k": 11}], ["age", "sex"])[0]
    "Someone who knows age and sex of a person can guess that person's row with a chance of at most 1 in 11."
    >>> promise_sentences([{"model": "distinct-diversity", "l": 3, "column": name} for name in "ab"])[0]
    'The rows that fit what is known of a person have at least 3 different values of a and b.'
    """
    return tuple(
        sentence(group[0], [promise["column"] for promise in group if promise.get("column")], known)
        for group in grouped(promises)
    )


def grouped(promises: Sequence[Promise]) -> list[list[Promise]]:
    """The promises of each kind: the same model with the same parameters, of one or several columns."""
    kinds: dict[str, list[Promise]] = {}
    for promise in promises:
        own = {name: value for name, value in promise.items() if name not in _OF_COLUMN}
        kinds.setdefault(repr(sorted(own.items(), key=lambda pair: pair[0])), []).append(promise)
    return list(kinds.values())


def sentence(promise: Promise, columns: Sequence[str] = (), known: Sequence[str] = ()) -> str:
    """One kind of promise in a sentence; that of an unknown model names it and its parameters."""
    words = _WORDS.get(str(promise.get("model")))
    if words is None:
        given = [f"{name} {value}" for name, value in promise.items() if name != "model" and value]
        return f"It keeps {promise.get('model')}{f' with {joined(given)}' if given else ''}."
    of = joined(columns, "sensitive columns") or "the sensitive column"
    return words(promise, of, joined(known, "facts") or "the quasi-identifiers")


def joined(names: Sequence[str], noun: str = "") -> str:
    """Names as a list, or how many there are.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined(list("abcdefg"), "facts")
    ('a', 'a, b and c', 'these 7 facts')
    """
    if noun and len(names) > NAMED:
        return f"these {len(names)} {noun}"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def _share(value: float) -> str:
    """A share in percent.

    >>> _share(0.25), _share(0.333)
    ('25 %', '33.3 %')
    """
    return f"{100 * float(value):.3g} %"


_OF_COLUMN = ("column", "matrix", "tree", "order", "distance")
"""What may differ between promises of one kind: they are about different columns."""

_FIT = "The rows that fit what is known of a person"
_SEEN = "Among the rows that fit what is known of a person,"


def _k_anonymity(promise: Promise, of: str, known: str) -> str:
    if promise.get("m"):
        known = f"any {promise['m']} of {known}"
    who = "person's rows" if promise.get("entity") else "person's row"
    return f"Someone who knows {known} of a person can guess that {who} with a chance of at most 1 in {promise['k']}."


def _alpha(promise: Promise, of: str, known: str) -> str:
    values = f"{joined(promise['values'], 'values')} of {of}" if promise.get("values") else f"a value of {of}"
    size = f" There are at least {promise['k']} such rows." if promise.get("k", 1) > 1 else ""
    return f"{_SEEN} at most {_share(promise['alpha'])} have {values}.{size}"


def _bounds(promise: Promise, of: str, known: str) -> str:
    bounds = [f"{value} of at most {_share(bound)}" for value, bound in promise["bounds"].items()]
    return f"{_SEEN} the share is, for {of}: {joined(bounds[:NAMED])}{' and others' * (len(bounds) > NAMED)}."


def _risk(promise: Promise, of: str, known: str) -> str:
    over = "" if promise.get("over", "maximal") == "maximal" else " on average"
    return (
        f"Someone who knows {known} of a person can guess that person's row with a chance of at most "
        f"{_share(promise['risk'])}{over}."
    )


def _hkp(promise: Promise, of: str, known: str) -> str:
    secret = f" A sensitive item is in at most {_share(promise['h'])} of them." if promise["h"] < 1 else ""
    return (
        f"Someone who knows up to {promise['p']} public items of a person finds at least {promise['k']} baskets with "
        f"them, or none.{secret}"
    )


def _disassociation(promise: Promise, of: str, known: str) -> str:
    secrets = promise.get("sensitive") or ()
    named = f" No basket can be linked to the {len(secrets)} sensitive items." if secrets else ""
    safe = (
        f" No item is in more than {_share(promise['safe'])} of a linked part."
        if promise.get("safe", 1) < 1
        else ""
    )
    return (
        f"Someone who knows up to {promise['m']} items of a person cannot rule out that {promise['k']} baskets hold "
        f"all of them.{safe}{named}"
    )


def _hidden_rules(promise: Promise, of: str, known: str) -> str:
    values = f" ({joined(promise['values'], 'values')})" if promise.get("values") else ""
    return (
        f"No published cells of the quasi-identifiers let anybody conclude a value of {of}{values} with a confidence "
        f"above {_share(promise['confidence'])}."
    )


_WORDS: dict[str, Callable[[Promise, str, str], str]] = {
    "k-anonymity": _k_anonymity,
    "distinct-diversity": lambda p, of, known: f"{_FIT} have at least {p['l']} different values of {of}.",
    "entropy-diversity": lambda p, of, known: (
        f"{_FIT} have values of {of} as hard to guess as {p['l']:g} equally frequent ones."
    ),
    "recursive-diversity": lambda p, of, known: (
        f"{_SEEN} the most frequent value of {of} is less than {p['c']:g} times as frequent as all others from the "
        f"{p['l']}. most frequent on together."
    ),
    "t-closeness": lambda p, of, known: (
        f"{_FIT} have a distribution of {of} that differs from that of all rows by at most {p['t']:g}, on a scale from "
        "0 (the same) to 1."
    ),
    "alpha-k-anonymity": _alpha,
    "confidence-bounding": _bounds,
    "beta-likeness": lambda p, of, known: (
        f"{_SEEN} no value of {of} is more frequent than among all rows by more than {p['beta']:g} times its share."
    ),
    "delta-disclosure": lambda p, of, known: (
        f"{_SEEN} the share of each value of {of} differs from that among all rows by a factor below e^{p['delta']:g}."
    ),
    "ke-anonymity": lambda p, of, known: (
        f"{_FIT} have at least {p['k']} different numbers of {of}, spread over at least {p['e']:g}."
    ),
    "em-anonymity": lambda p, of, known: (
        f"{_SEEN} at most 1 in {p['m']} has a number of {of} near any one of them (within {p['epsilon']:g}"
        f"{' times it' if p.get('nearness') == 'relative' else ''})."
    ),
    "personalized-privacy": lambda p, of, known: (
        f"Nobody can guess a value of {of} that a person asked to guard (in {p['guard']}) with a chance above "
        f"{_share(p['p'])}."
    ),
    "xy-privacy": lambda p, of, known: (
        f"Rows with the same {joined(p['x'], 'columns') or 'public values'} have at least {p['k']} different values of "
        f"{of}, each in at most {_share(p['h'])} of them."
    ),
    "m-invariance": lambda p, of, known: (
        f"{_FIT} number at least {p['m']} and all have different values of {of}, the same ones in every release."
    ),
    "amplification": lambda p, of, known: (
        f"Values of {of} were changed at random: seeing one changes the odds of any two original values by a factor of "
        f"at most {p['gamma']:g}."
    ),
    "rho-privacy": lambda p, of, known: (
        f"Values of {of} were changed at random: what was believed with a chance of at most {_share(p['rho1'])} before "
        f"is believed with less than {_share(p['rho2'])} after seeing one."
    ),
    "d-gamma-privacy": lambda p, of, known: (
        f"Values of {of} were changed at random: a value believed with a chance of at most {_share(p['d'])} before is "
        f"believed with at most {_share(p['gamma'])} after seeing one."
    ),
    "reidentification-risk": _risk,
    "k-map": lambda p, of, known: (
        f"Whatever is published of a person fits at least {p['k']} persons of the population by {known}."
    ),
    "delta-presence": lambda p, of, known: (
        f"The chance that a person of the population is in the data stays between {_share(p.get('delta_min', 0))} and "
        f"{_share(p['delta_max'])} for someone who knows {known}."
    ),
    "privacy-degree": lambda p, of, known: (
        f"Someone who finds the group of a person's basket can guess each sensitive item of it with a chance of at "
        f"most 1 in {p['p']}."
    ),
    "hkp-coherence": _hkp,
    "hidden-rules": _hidden_rules,
    "hidden-associations": lambda p, of, known: (
        f"No sensitive rule reaches both a support of {_share(p['support'])} and a confidence of "
        f"{_share(p['confidence'])}."
    ),
    "km-anonymity": lambda p, of, known: (
        f"Someone who knows up to {p['m']} items of a person can guess that person's basket with a chance of at most "
        f"1 in {p['k']}."
    ),
    "disassociation": _disassociation,
    "protected-counts": lambda p, of, known: (
        f"No count of 1 to {p['threshold'] - 1} rows is published, and nobody can compute one from the others."
    ),
    "protected-sums": lambda p, of, known: (
        f"No hidden sum of {of} can be computed to within {p['percent']:g} percent."
    ),
    "differential-privacy": lambda p, of, known: (
        f"Whether any one person is in the data changes the chance of what is published by a factor of at most "
        f"e^{p['epsilon']:g}; no file can prove that, the maker vouches for it."
    ),
}
"""The sentence of each model: of a promise, the columns it is about, and what is known of a person."""

"""Promises as sentences around their values."""

from collections.abc import Mapping
from typing import Any

from shoal.methods._candidates import Aim

RANGE = " (0 to 1)"
"""A hint on what to type, which is not part of the promise."""

SENTENCES = {
    "k": ("Each person hides among at least", "people who look the same."),
    "l": ("Each group shows at least", "different values of every secret."),
    "c": ("… and its most frequent secret occurs less than", "times as often as the rarer ones together."),
    "entropy_l": ("The secrets of a group are at least as mixed as", "equally frequent values."),
    "t": ("The secrets of a group are distributed as in all the data, up to a distance of", "(0 to 1)."),
    "distance": ("… where the distance between two secrets is", ""),
    "alpha": ("No secret makes up a share of more than", "of a group (0 to 1)."),
    "beta": (
        "The share of a secret in a group exceeds its share in all the data by at most",
        "times that share.",
    ),
    "delta": (
        "The share of a secret in a group stays close to its share in all the data, up to a log ratio of",
        "",
    ),
    "maximal_risk": ("Nobody is found with a chance above", "(0 to 1)."),
    "average_risk": ("On average, people are found with a chance of at most", "(0 to 1)."),
    "k_map": ("Each group matches at least", "people of a larger population."),
    "presence": ("Nobody in the population is known to be in the release with a chance above", "(0 to 1)."),
    "population": ("… the population is the file", "on this machine."),
    "confidence": ("No group reveals a secret with a certainty above", "(0 to 1)."),
}
"""What a field promises, as a sentence around its value; others are described by their help."""

OF_SETS = {
    Aim.COMBINATIONS: (
        ("Someone who knows any", "m", "items of a person"),
        ("finds at least", "k", "matching baskets."),
    ),
    Aim.DEGREE: (("In every group at most one in", "p", "baskets holds a given secret."),),
    Aim.COHERENCE: (
        ("Someone who knows up to", "p", "items of a person"),
        ("finds at least", "k", "matching baskets,"),
        ("and no secret in more than a share of", "h", "of them (0 to 1)."),
    ),
}
SETS_TITLES = {
    Aim.COMBINATIONS: "A few known items identify nobody",
    Aim.DEGREE: "Secrets are shared by a group",
    Aim.COHERENCE: "Known items identify nobody and reveal no secret",
}


def sentences_of(aim: Aim | None, given: Mapping[str, Any]) -> list[str]:
    """What is promised, in a sentence for each promise.

    >>> sentences_of(Aim.COMBINATIONS, {"m": 2, "k": 5})
    ['Someone who knows any 2 items of a person finds at least 5 matching baskets.']
    >>> sentences_of(Aim.CLASSES, {"k": 10, "maximal_risk": 0.05})
    ['Each person hides among at least 10 people who look the same.', 'Nobody is found with a chance above 0.05.']
    """
    parts = OF_SETS.get(aim, ()) if aim is not None else ()
    if parts and all(name in given for _, name, _ in parts):
        return [
            " ".join(f"{before} {given[name]} {after}" for before, name, after in parts).replace(RANGE, "")
        ]
    return [_sentence(name, value) for name, value in given.items()]


def _sentence(name: str, value: Any) -> str:
    if name not in SENTENCES:
        return f"Promise: {name.replace('_', ' ')} {value}."
    before, after = SENTENCES[name]
    return f"{before} {value} {after}".replace(RANGE, "").rstrip(" .") + "."

"""Promises as sentences around their values."""

from collections.abc import Mapping
from typing import Any

from shoal.methods._candidates import Aim

RANGE = " (0 to 1)"
"""What a field asks for; no part of what is promised."""

SENTENCES = {
    "k": ("Each person hides among at least", "people who look the same."),
    "l": ("Each group shows at least", "different values of every secret."),
    "c": ("… and its most frequent secret occurs less than", "times as often as the rarer ones together."),
    "entropy_l": ("Secrets of a group are as mixed as", "equally frequent values."),
    "t": ("Secrets of a group are spread as in all the data, up to a distance of", "(0 to 1)."),
    "distance": ("… where two secrets lie apart", ""),
    "alpha": ("No secret fills more than a share of", "of a group (0 to 1)."),
    "beta": ("No secret is more frequent in a group than in all, by more than", "times its share."),
    "delta": ("The share of a secret in a group stays near that in all, up to a log ratio of", ""),
    "maximal_risk": ("Nobody is found with a chance above", "(0 to 1)."),
    "average_risk": ("On average, people are found with a chance of at most", "(0 to 1)."),
    "k_map": ("Each group fits at least", "people of a larger population."),
    "presence": ("Nobody of the population is known to be in the release with a chance above", "(0 to 1)."),
    "population": ("… the population is the file", "on this machine."),
    "confidence": ("No group tells a secret with a certainty above", "(0 to 1)."),
}
"""What a field promises, as a sentence around its value; others are described by their help."""

OF_SETS = {
    Aim.COMBINATIONS: (
        ("Whoever knows any", "m", "items of a person"),
        ("finds at least", "k", "baskets that fit."),
    ),
    Aim.DEGREE: (("In every group at most one in", "p", "baskets holds a given secret."),),
    Aim.COHERENCE: (
        ("Whoever knows up to", "p", "items of a person"),
        ("finds at least", "k", "baskets that fit,"),
        ("and no secret in more than a share of", "h", "of them (0 to 1)."),
    ),
}
SETS_TITLES = {
    Aim.COMBINATIONS: "A few known items find nobody",
    Aim.DEGREE: "Secrets are shared by a group",
    Aim.COHERENCE: "Known items find nobody and tell no secret",
}


def sentences_of(aim: Aim | None, given: Mapping[str, Any]) -> list[str]:
    """What is promised, a sentence each.

    >>> sentences_of(Aim.COMBINATIONS, {"m": 2, "k": 5})
    ['Whoever knows any 2 items of a person finds at least 5 baskets that fit.']
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

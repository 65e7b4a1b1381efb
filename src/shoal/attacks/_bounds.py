"""What the promises of a release say about attacks."""

from typing import Any

from shoal.data.release import Release

LINKED = {
    "k-anonymity": "k",
    "km-anonymity": "k",
    "disassociation": "k",
    "hkp-coherence": "k",
    "privacy-degree": "p",
}
"""Promises that keep the chance to pick the right row, basket or secret below one in a parameter of theirs."""

DIVERSE = ("distinct-diversity", "entropy-diversity", "recursive-diversity")
"""Promises of l different values in a class: with two of them nobody is certain."""


def promised_bound(release: Release[Any], attack: str) -> float | None:
    """The largest success of an attack that the promises of a release allow; None where they say nothing about it.

    >>> promised_bound(Release(None, "mondrian", {}, ({"model": "k-anonymity", "k": 10},)), "linkage")
    0.1
    """
    bounds = []
    for promise in release.promises:
        model = promise.get("model")
        if attack == "linkage" and model in LINKED and promise.get(LINKED[model]):
            bounds.append(1 / promise[LINKED[model]])
        if attack == "certainty" and _uncertain(model, promise):
            bounds.append(0.0)
    return min(bounds, default=None)


def _uncertain(model: Any, promise: Any) -> bool:
    """Whether a promise allows nobody to be certain of a secret."""
    if model in DIVERSE:
        return float(promise["l"]) > 1
    if model == "hkp-coherence":
        return float(promise["h"]) < 1
    return model == "privacy-degree" and int(promise["p"]) >= 2

"""A reader of groups who runs the method herself: on what is published, with public items in the part of secrets."""

from typing import Any

import numpy as np

from shoal import registry
from shoal.arrays import Items
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.errors import ShoalError
from shoal.risks._learned_reader import learn

RUNS = 2
"""So many times the method is run."""

HOLDERS = 20_000
"""Of no more baskets than this a run is made: enough groups to learn from."""


def learned_success(release: Release, original: Baskets, seed: int) -> float | None:
    """How often a reader names a holder of a secret who has learned from her own runs; None where she cannot run it.

    She has the public items of everybody, as groups publish them, and the method with its parameters. Items as
    frequent as the secrets stand for them.
    """
    groups = release.data
    assert isinstance(groups, Groups)
    if release.method not in registry.METHODS or not len(groups.sensitive_items):
        return None
    rng = np.random.default_rng(seed)
    try:
        method = registry.load("method", release.method)(**_asked(release))
        examples = []
        for turn in range(RUNS):
            baskets = _pretended(groups, rng)
            if baskets is None:
                return None
            made, _ = method.anonymize(baskets, seed=turn)
            examples.append((made.data, baskets))
        return learn(examples).success(groups, original)
    except ShoalError:
        return None


def _asked(release: Release) -> dict[str, Any]:
    """The parameters of a run, less those that are nothing."""
    return {name: value for name, value in release.parameters.items() if value is not None}


def _pretended(groups: Groups, rng: np.random.Generator) -> Baskets | None:
    """The published baskets, some of whose public items are called secret: as frequent as the secrets are."""
    supports = np.bincount(groups.items, minlength=len(groups.vocabulary))
    secrets, place = np.unique(groups.sensitive_items, return_inverse=True)
    holders = np.sort(np.bincount(place, groups.sensitive_counts))[::-1]
    usable = np.setdiff1d(np.flatnonzero(supports), secrets)
    if len(usable) < 4 * len(secrets):
        return None
    chosen: list[int] = []
    for wanted in holders.tolist():
        near = usable[np.argsort(np.abs(supports[usable] - wanted), kind="stable")]
        near = near[~np.isin(near, chosen)][: 2 * RUNS]
        chosen.append(int(rng.choice(near)))
    sensitive: Items = np.sort(np.array(chosen, dtype=np.int32))
    whole = Baskets(groups.basket_indptr, groups.items, groups.vocabulary, sensitive)
    if len(whole) <= HOLDERS:
        return whole
    return whole.take(np.sort(rng.choice(len(whole), HOLDERS, replace=False)))

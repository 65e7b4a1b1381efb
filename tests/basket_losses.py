"""What a release of baskets loses, in memory and in parts, summed over several draws of baskets."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.role import Roles
from shoal.datasets.shopping import Shopping
from shoal.io.baskets.load import with_roles
from shoal.measures._chosen import default_measures, measure

LOSSES = {
    "cahd": ("kl", "kl_frequent", "query_error"),
    "disassociation": ("tkd_mean", "tlost", "lost_itemsets_mean", "term_chunk_share"),
}
"""Scores for which lower is better. Means are over several reconstructions: a single one is a matter of luck."""

MOST = 1.1
"""The largest loss in parts that is accepted, as a multiple of that in memory."""


@cache
def drawn(rows: int, items: int, seed: int) -> Baskets:
    """Random baskets with topics, of which the three rarest items are sensitive."""
    baskets = Shopping(rows=rows, items=items, density=6 / items, topics=5).make(seed=seed)
    rare = np.argsort(baskets.supports, kind="stable")[:3]
    return with_roles(baskets, Roles.of(sensitive=[baskets.vocabulary[item] for item in rare]))


def losses(method: Any, baskets: Baskets, published: Any) -> Counter[str]:
    """The scores of a release."""
    release = Release(published, method.name, {}, ())
    wanted = LOSSES[method.name]
    asked = tuple(one for one in default_measures(published) if not set(wanted).isdisjoint(one.scores_named))
    scores = {score.name: score.value for score in measure(baskets, release, asked)}
    # In memory, baskets with a rare item are brought together from everywhere; in parts, only from one range.
    apart = {"tlost"} if getattr(method, "swaps", 0) else set()
    return Counter({name: scores[name] for name in wanted if name not in apart})


def refuse_greater(pairs: Iterable[tuple[Counter[str], Counter[str]]]) -> None:
    """Fail where a release in parts loses over a tenth more than one from memory."""
    here, there = Counter[str](), Counter[str]()
    for one, other in pairs:
        here.update(one)
        there.update(other)
    assert here
    worse = {name: there[name] / here[name] for name in here if there[name] > MOST * here[name]}
    assert not worse

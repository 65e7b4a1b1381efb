"""Judge promises about baskets, groups and clusters from their published lines, by the definitions."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.naive import coherence, disassociation, hide_rules, km_generalization
from tests.soak.published import Published

Promise = dict[str, Any]


@dataclass
class PublishedSets:
    """Published sets, and which items the owner named sensitive and insensitive."""

    published: Published
    secrets: set[str]
    harmless: set[str]


def judge(promise: Promise, sets: PublishedSets) -> list[str]:
    """What breaks a promise."""
    return list(JUDGES[promise["model"]](promise, sets))


def degree(promise: Promise, sets: PublishedSets) -> Iterator[str]:
    for group in sets.published.lines:
        for item, count in group["sensitive"].items():
            if count * promise["p"] > len(group["baskets"]):
                yield f"{count} of {len(group['baskets'])} baskets of a group hold {item!r}"
            if item not in sets.secrets:
                yield f"{item!r} is counted as sensitive and is not"
        for basket in group["baskets"]:
            if sets.secrets & set(basket):
                yield f"the basket {basket} lists a sensitive item"


def km(promise: Promise, sets: PublishedSets) -> Iterator[str]:
    for items in km_generalization.broken(sets.published.baskets, promise["k"], promise["m"]):
        yield f"fewer than {promise['k']} baskets hold {items}"


def cohorts(promise: Promise, sets: PublishedSets) -> Iterator[str]:
    baskets = sets.published.baskets
    public = set().union(*baskets) - sets.secrets - sets.harmless
    share = Fraction(str(promise["h"]))
    for mole in coherence.moles(baskets, public, sets.secrets, share, promise["k"], promise["p"]):
        yield f"{set(mole)} is a mole"


def associations(promise: Promise, sets: PublishedSets) -> Iterator[str]:
    baskets = sets.published.baskets
    if promise["rules"]:
        rules = [_rule(text) for text in promise["rules"]]
    else:
        right = sets.secrets if promise["scope"] == "sensitive" else set().union(*baskets)
        rules = hide_rules.all_rules(baskets, promise["antecedent"], sorted(right)) if any(baskets) else []
    least = Fraction(str(promise["support"])) * len(baskets)
    for rule in rules:
        if hide_rules.found(baskets, rule, least, Fraction(str(promise["confidence"]))):
            yield f"the rule {rule} can be found"


def _rule(text: str) -> hide_rules.Rule:
    left, _, right = text.partition(" => ")
    return tuple(left.split(" + ")), tuple(right.split(" + "))


def clusters(promise: Promise, sets: PublishedSets) -> Iterator[str]:
    for cluster in sets.published.lines:
        plain = tuples(cluster)
        if not disassociation.keeps(plain, promise["k"], promise["m"]):
            yield f"the cluster {cluster} breaks a condition"
        if sets.secrets & disassociation.items_below(plain):
            yield f"a sensitive item stands in a chunk of {cluster}"
        if promise.get("safe") is not None:
            yield from _links(plain, Fraction(str(promise["safe"])), inside=False)


def tuples(cluster: dict[str, Any]) -> dict[str, Any]:
    """A cluster whose sub-records can be counted."""
    found = dict(cluster)
    for name in ("chunks", "shared"):
        if name in found:
            found[name] = [[tuple(record) for record in chunk] for chunk in found[name]]
    if "joint" in found:
        found["joint"] = [tuples(part) for part in found["joint"]]
    return found


def _links(cluster: dict[str, Any], share: Fraction, inside: bool) -> Iterator[str]:
    """Items of chunks that too many baskets of a cluster hold, where other items can be linked with them."""
    chunks = cluster.get("chunks", cluster.get("shared"))
    size = sum(leaf["size"] for leaf in disassociation.leaves_of(cluster))
    for place, chunk in enumerate(chunks):
        others = any(chunks[:place] + chunks[place + 1 :]) or bool(cluster.get("terms"))
        for item, count in Counter(item for record in chunk for item in record).items():
            if (others or inside or "joint" in cluster) and Fraction(count, size) > share:
                yield f"{count} of {size} hold {item!r}, which can be linked"
    for part in cluster.get("joint", []):
        yield from _links(part, share, inside=True)


JUDGES: dict[str, Callable[[Promise, PublishedSets], Iterator[str]]] = {
    "privacy-degree": degree,
    "km-anonymity": km,
    "hkp-coherence": cohorts,
    "hidden-associations": associations,
    "disassociation": clusters,
}

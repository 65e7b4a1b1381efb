"""Warn of readers who name the holder of a sensitive item in groups more often than the promised degree suggests.

The degree p bounds what somebody learns who takes all baskets of a group to be equally likely. Nobody has to: whoever
counts items, or knows how groups are formed, does better. Two kinds of readers are told apart, for what helps against
the one does not help against the other. That a large basket is the likelier holder can be seen in any grouping; that a
basket stands in the middle of its group, or must have begun it, is what a form of groups betrays.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

TWICE = 2
"""So many times as often as promised is clearly more, for whoever names the largest basket: a little more is usual."""

MARGIN = 0.05
"""So much more than promised is clearly more, for whoever knows how groups are formed: a form can be chosen."""

DEVIATIONS = 3
"""So many standard deviations above what is promised are more than chance alone: few groups vary widely."""

LARGEST = "pivot_largest"

FORMED = {
    "pivot_central": "names the basket of a group that has most in common with the others",
    "pivot_replay": "knows the method and finds out which baskets began a group",
}
"""Readers who know how groups are formed, by their scores."""

BOUND = ("pivot_replay", "near")
"""The score of a reader who is told more than can be known, and the form of groups of which that is so."""


def warned_of_readers(
    scores: Mapping[str, float],
    groups: int,
    promises: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
) -> tuple[str, ...]:
    """One sentence about the reader of groups who is right most often, where that is clearly more than promised.

    `scores`: what was measured, by name. `groups`: how many were attacked. `parameters`: of the method.
    """
    degrees = [int(one["p"]) for one in promises if one.get("model") == "privacy-degree"]
    if not degrees or LARGEST not in scores or not groups:
        return ()
    p, largest, form = min(degrees), scores[LARGEST], parameters.get("form")
    readers = [name for name in FORMED if name in scores and (name, form) != BOUND]
    found, reader = max(((scores[name], name) for name in readers), default=(0.0, ""))
    chance = 1 / p + DEVIATIONS * math.sqrt(1 / p * (1 - 1 / p) / groups)
    suggested = f"where --p {p} suggests {1 / p:.1%}"
    if found > max(1 / p + MARGIN, chance, largest):
        change = "Say --form blocks, or promise" if form in ("near", "pivots") else "Promise"
        return (
            f"Whoever {FORMED[reader]} is right in {found:.1%} of the groups, {suggested}. {change} a larger p.",
        )
    if largest >= max(TWICE / p, chance):
        return (
            f"Whoever names the basket of a group that has most public items is right in {largest:.1%} of the groups, "
            f"{suggested}: large baskets are likelier to hold a sensitive item, and groups of any form show which these"
            " are. Reckon with that chance, promise a larger p, or leave the largest baskets out: "
            "`shoal convert INPUT KEPT --most-items N`.",
        )
    return ()

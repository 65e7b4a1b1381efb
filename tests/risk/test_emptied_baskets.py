"""A release of baskets of which hardly anything is left is warned of, wherever its baskets are."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from tests.basket_cases import baskets_of
from tests.parts import MemoryParts

import shoal
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.risks.disclosure_warnings import emptied_in_parts, set_warnings

PROMISE = ({"model": "hkp-coherence", "h": 0.5, "k": 3, "p": 2},)


def in_parts(baskets: Baskets, seed: int) -> Dataset:
    lists = [baskets.items[low:high].tolist() for low, high in pairwise(baskets.indptr.tolist())]
    frame = pl.DataFrame({"items": lists}, schema={"items": pl.List(pl.Int32)})
    return Dataset(baskets.take(np.empty(0, dtype=np.int64)), MemoryParts(frame, seed), len(baskets))


def warned(
    before: Sequence[str], after: Sequence[str], promises: Sequence[dict[str, object]] = PROMISE
) -> str:
    """The warning of baskets of letters, of which s is secret and x is harmless."""
    sides = [
        baskets_of([*map(set, side)], sorted({*"s"} & {*"".join(side)}), sorted({*"x"} & {*"".join(side)}))
        for side in (before, after)
    ]
    found = set_warnings(sides[0], sides[1], promises)
    for seed in range(5):
        there = emptied_in_parts(in_parts(sides[0], seed), in_parts(sides[1], seed + 5), promises)
        assert there == found
    return " ".join(found)


def test_emptied_baskets() -> None:
    before = ["ab", "ac", "asx", "s", "x", ""]
    assert warned(before, before) == ""
    assert warned(before, ["a", "s", "asx", "s", "x", ""]) == ""
    assert warned(before, ["a", "sx", "s", "x", "", ""]) == (
        "Hardly anything is left: 2 of the 3 baskets with public items have none left. Promise less, such as a smaller "
        "k, a smaller p, a larger h, or name items that nobody can know as insensitive."
    )
    assert "2 of the 3 baskets" in warned(
        before, ["a", "s"]
    )  # baskets that are left out are empty to readers
    assert warned(["s", "x", ""], ["s"]) == ""


def test_lost_occurrences() -> None:
    before = ["abcdef"] * 5
    assert warned(before, ["ab", "a", "a", "a", "a"]) == ""
    said = warned(before, ["a"] * 5, [{"model": "km-anonymity", "k": 2, "m": 2}])
    assert (
        "left: 25 of the 30 occurrences of public items are gone. Promise less, such as a smaller k, a smaller m, or"
        in said
    )
    both = warned(before, ["a", "a", "", "", ""], [{"model": "other"}])
    assert "3 of the 5 baskets with public items have none left, and 28 of the 30 occurrences" in both
    assert "Promise less, or name" in both


def test_items_that_became_a_node_are_not_lost() -> None:
    assert warned(["abcdef"] * 5, ["N"] * 5) == ""
    assert "have none left" in warned(["abcdef"] * 5, ["N", "", "", "", ""])


def test_a_run_says_so() -> None:
    data = shoal.read_baskets(
        [["a", "b"]] * 2 + [["c", "s"], ["d", "e"], ["f", "i"], ["g", "h"]], sensitive=["s"]
    )
    with pytest.warns(shoal.errors.ShoalWarning, match="Hardly anything is left: 4 of the 6 baskets"):
        run = shoal.anonymize(data, "coherence", h=0.9, k=2, p=2)
    assert any("Hardly anything is left" in one for one in run.warnings)

"""Hierarchies of intervals with open ends, and of values that are coded at the ends."""

import numpy as np
import pytest

from shoal.data._hierarchy_builders import build
from shoal.data.domain import Domain, Kind
from shoal.errors import WrongUse


def numbers(labels: tuple[str, ...], values: tuple[float, ...]) -> Domain:
    return Domain(Kind.NUMERIC, labels, np.array(values))


AGES = numbers(("17", "84", "89", "90", "103"), (17, 84, 89, 90, 103))


def test_an_open_end_is_one_node_on_every_level() -> None:
    tree = build("intervals:5,20,90+", AGES, "age")
    assert list(tree.paths()) == [
        ("17", "[15,20)", "[0,20)", "*"),
        ("84", "[80,85)", "[80,90)", "*"),
        ("89", "[85,90)", "[80,90)", "*"),
        ("90", "90+", "90+", "*"),
        ("103", "90+", "90+", "*"),
    ]


def test_an_open_end_downwards() -> None:
    tree = build("intervals:10,<85", AGES, "age")
    assert tree.texts_at(1) == ["<85", "<85", "[85,90)", "[90,100)", "[100,110)"]


def test_coded_values_open_their_bins() -> None:
    coded = numbers(("<=18", "19", "84", "89", "90+"), (18, 19, 84, 89, 90))
    tree = build("intervals:5,20,40", coded, "age")
    assert list(tree.paths()) == [
        ("<=18", "<20", "<20", "<40", "*"),
        ("19", "<20", "<20", "<40", "*"),
        ("84", "[80,85)", "80+", "80+", "*"),
        ("89", "[85,90)", "80+", "80+", "*"),
        ("90+", "90+", "80+", "80+", "*"),
    ]


def test_coded_values_beyond_an_open_end_open_no_bin() -> None:
    """Ages of 80 to 89 are [80,90): 80+ would be read as holding those of 90+ too."""
    coded = numbers(("<=18", "19", "25", "84", "89", "90+"), (18, 19, 25, 84, 89, 90))
    tree = build("intervals:5,20,40,<19,90+", coded, "age")
    assert tree.texts_at(2) == ["<19", "[19,20)", "[20,40)", "[80,90)", "[80,90)", "90+"]
    assert tree.texts_at(3) == ["<19", "[19,40)", "[19,40)", "[80,90)", "[80,90)", "90+"]


@pytest.mark.parametrize(
    "spec", ["intervals:90+", "intervals:5,90+,100+", "intervals:5,<90,80+", "intervals:5,x+"]
)
def test_ends_that_cannot_be_are_refused(spec: str) -> None:
    with pytest.raises(WrongUse):
        build(spec, AGES, "age")

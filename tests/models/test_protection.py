"""What a release reaches without having promised it."""

import pytest
from tests.tables import table

from shoal.models._achieved_levels import Protection, protections, reached_k
from shoal.models.t_closeness import TCloseness


def test_all_four_numbers() -> None:
    data = table(
        {"x": list("aabbb"), "s": list("uvuvv"), "n": [1, 2, 1, 2, 3]},
        sensitive=["s", "n"],
    )
    assert reached_k(data) == 2
    names, numbers = protections(data)
    assert (names.column, names.distinct_l, names.t) == ("s", 2, pytest.approx(0.1))
    assert names.entropy_l == pytest.approx(1.8899, abs=1e-4)
    assert (numbers.column, numbers.distinct_l) == ("n", 2)
    assert numbers.t == pytest.approx(0.15)


def test_the_distance_that_was_promised() -> None:
    data = table({"x": list("aabbb"), "n": [1, 2, 1, 2, 3]}, sensitive=["n"])
    (promised,) = protections(data, (TCloseness(t=1, column="n", distance="equal"),))
    assert promised.t == pytest.approx(0.2)


def test_nothing_to_tell() -> None:
    empty = table({"x": [], "s": []}, sensitive=["s"])
    assert reached_k(empty) is None
    assert protections(empty) == (Protection("s", None, None, None),)
    hidden = table({"x": list("aa"), "s": ["*", "*"]}, sensitive=["s"])
    assert protections(hidden) == (Protection("s", None, None, None),)
    assert protections(table({"x": list("aa")})) == ()

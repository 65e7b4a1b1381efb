"""l-diversity in its three forms: examples whose numbers are known, and borders that rounding must not move."""

from fractions import Fraction

import pytest
from tests.tables import table

from shoal.data.table import Table
from shoal.errors import UnknownName, WrongUse
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.entropy_diversity import EntropyDiversity
from shoal.models.recursive_diversity import RecursiveDiversity


def one_class(values: str) -> Table:
    return table({"x": ["a"] * len(values), "s": list(values)}, sensitive=["s"])


def inpatients() -> Table:
    """The 3-diverse table of the paper (figure 4): four patients a class."""
    return table(
        {
            "zip": ["1305*"] * 4 + ["1485*"] * 4 + ["1306*"] * 4,
            "age": ["<=40"] * 4 + [">40"] * 4 + ["<=40"] * 4,
            "condition": [
                *("heart", "viral", "cancer", "cancer"),
                *("cancer", "heart", "viral", "viral"),
                *("heart", "viral", "cancer", "cancer"),
            ],
        },
        sensitive=["condition"],
    )


def test_the_table_of_the_paper() -> None:
    assert DistinctDiversity(l=3).verify(inpatients()).value == 3
    assert EntropyDiversity(l=2.8).verify(inpatients()).holds
    assert not EntropyDiversity(l=3).verify(inpatients()).holds
    assert RecursiveDiversity(c=3, l=3).verify(inpatients()).value == 2


def test_homogeneous_class_is_named() -> None:
    data = table({"x": list("aabb"), "s": list("uvww")}, sensitive=["s"])
    verdict = DistinctDiversity(l=2).verify(data)
    assert not verdict.holds
    assert verdict.offenders[0].where == "x b: s"
    assert verdict.offenders[0].why == "1 different value where 2 are promised"


@pytest.mark.parametrize(
    "values", ["uv", "uvw", "uvwx", "uvwxy", "uvwxyz", "uuvv", "uuuvvvwww", "uvwxyzabcdefgh" * 3]
)
def test_even_values_reach_their_number_exactly(values: str) -> None:
    """e^(log 3) is 2.9999999999999996 in floating point (pycanon says 2 for three even values, and 1 for two)."""
    different = len(set(values))
    assert EntropyDiversity(l=different).verify(one_class(values)).holds
    assert not EntropyDiversity(l=different + 1e-9).verify(one_class(values)).holds


def test_a_border_between_two_floating_point_numbers() -> None:
    """Counts 2, 1, 1 reach 2·√2, which is 2.82842712474619009… and no floating-point number."""
    assert EntropyDiversity(l=2.82842712474619).verify(one_class("uuvw")).holds
    assert not EntropyDiversity(l=2.8284271247461903).verify(one_class("uuvw")).holds
    assert not EntropyDiversity(l=2.8284271247461903).verify(one_class("uuvw" * 25)).holds


def test_entropy_of_a_large_class_on_its_border() -> None:
    """Counts 4, 2, 2 of a million: the border is decided without numbers of a million digits."""
    data = one_class("u" * 40_000 + "v" * 20_000 + "w" * 20_000)
    assert EntropyDiversity(l=2.82842712474619).verify(data).holds
    assert not EntropyDiversity(l=2.8284271247461903).verify(data).holds


def test_recursive_diversity_is_strict() -> None:
    data = one_class("u" * 5 + "v" * 3 + "w" * 2)
    assert RecursiveDiversity(c=1, l=2).verify(data).value == 1
    assert not RecursiveDiversity(c=1, l=2).verify(data).holds
    assert RecursiveDiversity(c=1.0001, l=2).verify(data).holds
    assert RecursiveDiversity(c=2.5, l=3).verify(data).value == Fraction(5, 2)
    assert not RecursiveDiversity(c=2.5, l=3).verify(data).holds


def test_recursive_diversity_looks_at_the_most_frequent_value() -> None:
    """Pycanon puts the counts in ascending order, and says c = 1 for three of one value and one of another."""
    verdict = RecursiveDiversity(c=2, l=2).verify(one_class("uuuv"))
    assert not verdict.holds
    assert verdict.value == 3


def test_too_few_values_for_recursive_diversity_have_no_c() -> None:
    verdict = RecursiveDiversity(c=1000, l=3).verify(one_class("uv"))
    assert not verdict.holds
    assert verdict.value is None


def test_missing_is_a_value() -> None:
    data = table({"x": list("aabb"), "s": ["u", None, None, None]}, sensitive=["s"])
    verdict = DistinctDiversity(l=2).verify(data)
    assert verdict.offender_count == 1
    assert verdict.offenders[0].where == "x b: s"


def test_a_class_of_missing_quasi_identifiers_is_a_class() -> None:
    """Pycanon drops the row with a missing quasi-identifier and reports 3."""
    data = table({"x": [1, 1, 1, None], "s": list("uvwu")}, sensitive=["s"])
    assert DistinctDiversity(l=2).verify(data).value == 1


def test_positions_and_never_labels() -> None:
    """Pycanon takes the labels of a frame's index for places, and reports 2 where each class has one value."""
    data = table({"x": list("abab"), "s": list("uvuv")}, sensitive=["s"])
    assert DistinctDiversity(l=2).verify(data).value == 1


def test_every_sensitive_column_or_one() -> None:
    data = table({"x": list("aa"), "s": list("uv"), "r": list("uu")}, sensitive=["s", "r"])
    assert DistinctDiversity(l=2, column="s").verify(data).holds
    assert not DistinctDiversity(l=2).verify(data).holds
    assert [model.column for model in DistinctDiversity(l=2).bound(data)] == ["s", "r"]


def test_columns_that_are_not_sensitive_are_refused() -> None:
    data = table({"x": list("aa"), "s": list("uv")}, sensitive=["s"])
    with pytest.raises(WrongUse, match="'x' is quasi"):
        DistinctDiversity(l=2, column="x").verify(data)
    with pytest.raises(UnknownName, match="no column 'z'"):
        DistinctDiversity(l=2, column="z").bound(data)
    with pytest.raises(WrongUse, match="`sensitive`"):
        DistinctDiversity(l=2).verify(table({"x": list("aa")}))


def test_least_sizes() -> None:
    assert DistinctDiversity(l=4).least_size() == 4
    assert EntropyDiversity(l=2.5).least_size() == 3
    assert RecursiveDiversity(c=3, l=4).least_size() == 4

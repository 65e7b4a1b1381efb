from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hierarchies import names, numbers, paths_of
from tests.naive import hierarchy as naive

from shoal.data._hierarchy_builders import BUILDERS, build
from shoal.data.domain import Domain, Kind
from shoal.data.published_syntax import set_members
from shoal.errors import BadData, UnknownName, WrongUse

EPOCH = date(1970, 1, 1)


def days(*dates: date) -> Domain:
    ordered = sorted(set(dates))
    return Domain(
        Kind.DATE, tuple(map(str, ordered)), np.array([float((day - EPOCH).days) for day in ordered])
    )


def test_seed_ages_have_bins_of_5_10_and_20_years() -> None:
    hierarchy = build("intervals:5,10,20", numbers([str(age) for age in range(17, 91)]), "age")
    paths = paths_of(hierarchy)
    assert hierarchy.height == 4
    assert hierarchy.by_width
    assert paths["17"] == ("17", "[15,20)", "[10,20)", "[0,20)", "*")
    assert paths["20"] == ("20", "[20,25)", "[20,30)", "[20,40)", "*")
    assert paths["90"] == ("90", "[90,95)", "[90,100)", "[80,100)", "*")
    assert hierarchy.labels[3] == ("[0,20)", "[20,40)", "[40,60)", "[60,80)", "[80,100)")


@given(
    st.lists(
        st.one_of(
            st.integers(-200, 200).map(str),
            st.decimals(-50, 50, places=2).map(str),
            st.floats(-1e6, 1e6).map(repr),
            st.integers(-(10**25), 10**25).map(str),
        ),
        min_size=1,
        max_size=20,
        unique_by=float,
    ),
    st.sampled_from(["5,10,20", "0.1,0.3", "2.5", "0.05,0.1,1", "1,7"]),
)
def test_a_bin_contains_its_values_and_starts_at_a_multiple_of_its_width(
    labels: list[str], widths: str
) -> None:
    hierarchy = build(f"intervals:{widths}", numbers(labels), "x")
    rows = list(hierarchy.paths())
    assert naive.nests(rows)
    for row in rows:
        for text, width in zip(row[1:-1], widths.split(","), strict=True):
            assert text[0] + text[-1] == "[)"
            low, high = (Fraction(end) for end in text[1:-1].split(","))
            assert low <= Fraction(row[0]) < high
            assert high - low == Fraction(width)
            assert low % Fraction(width) == 0


def test_a_float_that_is_no_exact_fraction_lies_in_its_bin() -> None:
    # 0.3 / 0.1 is 2.9999999999999996 in floating point.
    assert paths_of(build("intervals:0.1", numbers(["0.3"]), "x"))["0.3"][1] == "[0.3,0.4)"


@pytest.mark.parametrize(
    ("widths", "complaint"),
    [
        ("5,12", "the width 12 is not a larger multiple of 5"),
        ("10,5", "the width 5 is not a larger multiple of 10"),
        ("5,5", "the width 5 is not a larger multiple of 5"),
        ("0", "must be above 0"),
        ("-5", "must be above 0"),
        ("five", "'five' is not"),
        ("nan", "'nan' is not"),
        ("", "'' is not"),
    ],
)
def test_widths_that_cannot_nest_are_refused(widths: str, complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint):
        build(f"intervals:{widths}", numbers(["1"]), "x")


def test_mask_hides_one_more_character_from_the_right() -> None:
    hierarchy = build("mask", names("81667", "81675", "90000"), "zip")
    assert hierarchy.height == 5
    assert paths_of(hierarchy)["81667"] == ("81667", "8166*", "816**", "81***", "8****", "*")
    assert hierarchy.labels[3] == ("81***", "90***")


def test_mask_keeps_the_length_of_shorter_values() -> None:
    paths = paths_of(build("mask", names("1", "12", "1234"), "zip"))
    assert paths["1"] == ("1", "1", "1", "1", "*")
    assert paths["12"] == ("12", "1*", "1*", "1*", "*")
    assert paths["1234"] == ("1234", "123*", "12**", "1***", "*")


def test_masks_of_single_characters_are_the_root() -> None:
    assert build("mask", names("M", "F"), "sex").labels == (("F", "M"), ("*",))


def test_a_value_that_reads_like_a_mask_of_others_is_refused() -> None:
    with pytest.raises(BadData, match=r"column 'zip'.*'8166\*' reads like a group of other values"):
        build("mask", names("8166*", "81667"), "zip")


def test_a_value_that_looks_published_is_refused() -> None:
    with pytest.raises(BadData, match=r"column 'zip'.*'\[1,2\]' looks like a published cell"):
        build("suppress", names("[1,2]", "1"), "zip")


def test_prefixes_are_kept_from_long_to_short() -> None:
    hierarchy = build("prefix:1,3", names("ab", "abc", "abcd", "abd"), "code")
    assert list(hierarchy.paths()) == [
        ("ab", "ab", "a*", "*"),
        ("abc", "abc*", "a*", "*"),
        ("abcd", "abc*", "a*", "*"),
        ("abd", "abd*", "a*", "*"),
    ]


@pytest.mark.parametrize("month", range(1, 13))
def test_quarters_are_right_in_every_month(month: int) -> None:
    first, last = date(1967, month, 1), date(1967 + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    for path in build("dates", days(first, last), "born").paths():
        assert path[1:] == (f"1967-{month:02d}", f"1967-Q{(month + 2) // 3}", "1967", "1960s", "*")


@given(st.lists(st.dates(), min_size=1, max_size=20))
def test_dates_agree_with_the_calendar(dates: list[date]) -> None:
    rows = list(build("dates", days(*dates), "born").paths())
    assert naive.nests(rows)
    for label, month, quarter, year, decade, root in rows:
        day = date.fromisoformat(label)
        assert month == day.strftime("%Y-%m").rjust(7, "0")
        assert quarter == f"{day.year:04d}-Q{-(-day.month // 3)}"
        assert year == f"{day.year:04d}"
        assert decade == f"{day.year // 10:03d}0s"
        assert root == "*"


def test_parts_of_the_calendar_are_chosen_and_ordered() -> None:
    hierarchy = build("dates:year,month", days(date(1967, 1, 23)), "born")
    assert list(hierarchy.paths()) == [("1967-01-23", "1967-01", "1967", "*")]


def test_days_are_a_level_where_values_are_written_in_another_way() -> None:
    domain = Domain(Kind.DATE, ("23.1.1967",), np.array([-1074.0]))
    assert list(build("dates:day,year", domain, "born").paths()) == [("23.1.1967", "1967-01-23", "1967", "*")]
    assert build("dates:day,year", days(date(1967, 1, 23)), "born").height == 2


def test_order_makes_groups_of_neighbors() -> None:
    assert list(build("order:2,4", names("a", "b", "c", "d", "e"), "x").paths()) == [
        ("a", "{a|b}", "{a|b|c|d}", "*"),
        ("b", "{a|b}", "{a|b|c|d}", "*"),
        ("c", "{c|d}", "{a|b|c|d}", "*"),
        ("d", "{c|d}", "{a|b|c|d}", "*"),
        ("e", "e", "e", "*"),
    ]
    assert build("order:2", numbers(["10", "9", "7"]), "x").labels[1] == ("[7,9]", "10")


def test_order_follows_the_order_of_ordinal_values() -> None:
    domain = Domain(Kind.ORDINAL, ("low", "middle", "high"))
    assert build("order:2", domain, "x").labels[1] == ("{low|middle}", "high")


@given(st.integers(0, 60), st.integers(2, 5))
def test_balanced_nodes_have_few_children_and_even_sizes(size: int, fan_out: int) -> None:
    hierarchy = build(f"balanced:{fan_out}", names(*(f"v{place:02d}" for place in range(size))), "x")
    for level, up in enumerate(hierarchy.parents):
        assert np.bincount(up).max(initial=0) <= fan_out
        if level + 1 < hierarchy.height:
            assert np.ptp(np.bincount(up)) <= 1
    assert naive.nests(list(hierarchy.paths()))
    assert not hierarchy.ambiguous()


def test_small_groups_are_written_out_and_large_ones_by_their_ends() -> None:
    domain = names(*(f"v|{place:02d}" for place in range(40)))
    hierarchy = build("order:20,40", domain, "x")
    for label, small, large, _ in hierarchy.paths():
        assert label in (set_members(small) or [])
        assert set_members(large) == ["v|00", "…", "v|39"]


def test_suppress_has_nothing_between_value_and_root() -> None:
    assert build("suppress", names("a", "b", missing=True), "x").labels == (("a", "b", ""), ("*",))


@pytest.mark.parametrize(
    "spec", ["intervals:5,10", "mask", "prefix:1", "order:2,4", "balanced:2", "suppress"]
)
@pytest.mark.parametrize("missing", [False, True])
def test_every_builder_covers_its_domain(spec: str, missing: bool) -> None:
    domain = numbers(["10", "12", "25", "31", "47"], missing=missing)
    hierarchy = build(spec, domain, "x")
    assert set(hierarchy.leaves) == set(domain.labels)
    assert {path[-1] for path in hierarchy.paths()} == {"*"}
    assert naive.nests(list(hierarchy.paths()))


def test_every_builder_is_tested_above() -> None:
    assert set(BUILDERS) == {"intervals", "mask", "prefix", "dates", "order", "balanced", "suppress"}


@pytest.mark.parametrize("spec", ["mask", "order:2", "balanced:2", "suppress", "prefix:1"])
def test_a_column_without_values_has_a_hierarchy_too(spec: str) -> None:
    assert build(spec, names(missing=True), "x").labels[0] == ("",)
    assert build(spec, names(), "x").labels[0] == ()


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("masks", "no hierarchy builder 'masks'. Did you mean 'mask'"),
        ("intervals:5", "column is nominal"),
        ("dates", "column is nominal"),
        ("mask:2", "takes no arguments"),
        ("suppress:1", "takes no arguments"),
        ("order", "at least one group size"),
        ("order:1", "whole number of at least 2"),
        ("order:2,3", "the group size 3 is not a larger multiple of 2"),
        ("order:2.5", "whole number"),
        ("prefix", "needs the numbers of characters"),
        ("prefix:0", "whole number of at least 1"),
        ("prefix:5", "the longest value has 3"),
        ("balanced", "needs one number"),
        ("balanced:1", "whole number of at least 2"),
        ("balanced:2,3", "needs one number"),
    ],
)
def test_wrong_use_of_builders_is_explained(spec: str, complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint):
        build(spec, names("abc", "abd"), "x")


def test_an_unknown_builder_or_part_of_the_calendar_is_named() -> None:
    with pytest.raises(UnknownName):
        build("bins:5", names("a"), "x")
    with pytest.raises(WrongUse, match=r"born=dates:weak: .*'weak'"):
        build("dates:weak", days(date(2000, 1, 1)), "born")

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import hierarchy as naive

from shoal.data.builders import BUILDERS, build
from shoal.data.cells import set_members
from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy, ambiguous_texts, climb
from shoal.errors import BadData, UnknownName, WrongUse

EPOCH = date(1970, 1, 1)


def names(*labels: str, missing: bool = False) -> Domain:
    texts = (*sorted(labels), "") if missing else tuple(sorted(labels))
    return Domain(Kind.NOMINAL, texts, missing=len(labels) if missing else None)


def numbers(labels: Sequence[str], *, missing: bool = False) -> Domain:
    ordered = sorted(set(labels), key=Decimal)
    values = [float(label) for label in ordered] + [float("nan")] * missing
    texts = (*ordered, "") if missing else tuple(ordered)
    return Domain(Kind.NUMERIC, texts, np.array(values), len(ordered) if missing else None)


def days(*dates: date) -> Domain:
    ordered = sorted(set(dates))
    return Domain(
        Kind.DATE, tuple(map(str, ordered)), np.array([float((day - EPOCH).days) for day in ordered])
    )


def of_rows(*rows: str) -> Hierarchy:
    """A hierarchy written down as rows from leaf to the level below the root."""
    columns = list(zip(*(row.split() for row in rows), strict=True))

    def texts(column: tuple[str, ...]):
        return lambda leaves: [column[leaf] for leaf in leaves]

    return climb(columns[0], [texts(column) for column in columns[1:]])


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any tree of up to twelve leaves; a node that is alone below its parent may be repeated."""
    leaves = draw(st.integers(1, 12))
    labels, parents = [tuple(f"v{leaf}" for leaf in range(leaves))], []
    for level in range(1, draw(st.integers(1, 5))):
        below = len(labels[-1])
        wanted = draw(st.lists(st.integers(0, below - 1), min_size=below, max_size=below))
        used = sorted(set(wanted))
        up = [used.index(parent) for parent in wanted]
        texts = [f"n{level}.{node}" for node in range(len(used))]
        for node in range(len(used)):
            if up.count(node) == 1 and draw(st.booleans()):
                texts[node] = labels[-1][up.index(node)]
        labels.append(tuple(texts))
        parents.append(np.array(up))
    return Hierarchy((*labels, ("*",)), (*parents, np.zeros(len(labels[-1]))))


def paths_of(hierarchy: Hierarchy) -> naive.Paths:
    return {path[0]: path for path in hierarchy.paths()}


# The class


@given(hierarchies())
def test_leaves_below_a_node_stand_together(hierarchy: Hierarchy) -> None:
    order = hierarchy.depth_first()
    assert sorted(order) == list(range(len(hierarchy.leaves)))
    assert naive.stands_together(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order])


def test_depth_first_order_keeps_the_order_of_leaves_otherwise() -> None:
    hierarchy = of_rows("c x p", "a y q", "b x p", "d z p")
    assert [hierarchy.leaves[leaf] for leaf in hierarchy.depth_first()] == ["c", "b", "d", "a"]


@given(hierarchies())
def test_boundary_depths_agree_with_the_naive_twin(hierarchy: Hierarchy) -> None:
    order = hierarchy.depth_first()
    expected = naive.boundary_depths(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order])
    assert hierarchy.boundary_depths(order).tolist() == expected


@given(hierarchies(), st.data())
def test_common_levels_agree_with_the_naive_twin(hierarchy: Hierarchy, data: st.DataObject) -> None:
    order = hierarchy.depth_first()
    place = st.integers(0, len(order) - 1)
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(place, place), min_size=1))]
    low, high = (np.array(ends, dtype=np.int32) for ends in zip(*pairs, strict=True))
    expected = [
        naive.common_level(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order[first : last + 1]])
        for first, last in pairs
    ]
    assert hierarchy.common_level(low, high, order).tolist() == expected


@given(hierarchies())
def test_leaf_counts_count_leaves(hierarchy: Hierarchy) -> None:
    for level, texts in enumerate(hierarchy.labels):
        column = [path[level] for path in hierarchy.paths()]
        assert hierarchy.leaf_counts(level).tolist() == [column.count(text) for text in texts]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=1, max_size=6))
def test_ambiguous_texts_agree_with_the_naive_twin(inner: list[list[str]]) -> None:
    rows = [[leaf, *row, "*"] for leaf, row in zip("abcdef", inner, strict=False)]
    texts = sorted({text for row in rows for text in row})
    found = ambiguous_texts(np.array([[texts.index(row[level]) for row in rows] for level in range(4)]))
    assert {texts[number] for number, _, _ in found} == naive.ambiguous(rows)
    for number, low, high in found:
        meanings = [{row[0] for row in rows if row[level] == texts[number]} for level in (low, high)]
        assert low < high
        assert meanings[0] != meanings[1]


def test_arrays_cannot_be_written_to() -> None:
    hierarchy = of_rows("a x", "b x")
    for array in (*hierarchy.parents, hierarchy.nodes_at(0), hierarchy.nodes_at(1)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_missed_values_are_all_listed_in_order() -> None:
    assert of_rows("b x").missed(names("a", "b", "c", missing=True)) == ["a", "c"]


def test_a_hierarchy_that_misses_values_is_refused() -> None:
    with pytest.raises(BadData, match=r"column 'age'.* misses 2 of 3 values: 'a', 'c'"):
        of_rows("b x").covering(names("a", "b", "c"), "age")


def test_the_complaint_says_that_a_number_is_written_differently() -> None:
    with pytest.raises(BadData, match=r"'17' is written '17\.0' there"):
        of_rows("17.0 x", "18 x").covering(numbers(["17", "18"]), "age")


def test_the_complaint_says_that_a_value_stands_above_others() -> None:
    with pytest.raises(BadData, match=r"'x' stands in it only above other values"):
        of_rows("a x", "b x").covering(names("a", "x"), "age")


def test_a_leaf_for_missing_values_is_added_only_where_there_are_any() -> None:
    hierarchy = of_rows("a x", "b y")
    assert hierarchy.covering(names("a", "b"), "c") is hierarchy
    covered = hierarchy.covering(names("a", "b", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "*"), ("b", "y", "*"), ("", "", "*")]
    assert covered.leaf_of(names("a", "b", missing=True)).tolist() == [0, 1, 2]
    assert covered.covering(names("a", "b", missing=True), "c") is covered


@pytest.mark.parametrize("mark", ["?", "NA", "NULL", "null", "(null)"])
def test_a_missing_mark_in_the_hierarchy_is_the_leaf_of_the_missing_value(mark: str) -> None:
    covered = of_rows("a x x", f"{mark} {mark} u").covering(names("a", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "x", "*"), ("", "", "u", "*")]


def test_a_missing_mark_that_is_a_value_of_the_data_stays_one() -> None:
    covered = of_rows("a x", "? x").covering(names("a", "?", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "*"), ("?", "x", "*"), ("", "", "*")]


def test_an_empty_leaf_is_left_out_where_nothing_is_missing() -> None:
    with_missing = of_rows("a x", "b y").covering(names("a", "b", missing=True), "c")
    assert list(with_missing.covering(names("a", "b"), "c").paths()) == [("a", "x", "*"), ("b", "y", "*")]


# Builders


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


def test_order_makes_groups_of_neighbours() -> None:
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

"""LM, NCP, GCP and granularity: examples worked by hand, and random releases beside the slow twins."""

import datetime
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import measures as naive
from tests.tables import Cell, column, texts

from shoal.data.domain import Kind
from shoal.data.hierarchy import Hierarchy, climb
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse
from shoal.measures.classes import Classes
from shoal.measures.loss import Loss
from shoal.measures.measure import FACT, flat
from shoal.measures.precision import Precision


def tree(*paths: str) -> Hierarchy:
    """A hierarchy from lines such as ``a;vowel;*``."""
    rows = [path.split(";") for path in paths]
    levels = [
        (lambda places, level=level: [rows[place][level] for place in places])
        for level in range(1, len(rows[0]) - 1)
    ]
    return climb(tuple(row[0] for row in rows), levels)


def bins(leaves: Sequence[str], *widths: int) -> Hierarchy:
    """Half-open bins that start at multiples of their widths."""

    def texts_of(width: int):
        def name(value: str) -> str:
            low = int(value) // width * width
            return f"[{low},{low + width})"

        return lambda places: [name(leaves[place]) for place in places]

    return climb(tuple(leaves), [texts_of(width) for width in widths], by_width=True)


def measured(
    original: Column | Sequence[Column], published: dict[str, Sequence[str]], suppressed: int = 0, k: int = 2
) -> dict[str, float]:
    columns = (original,) if isinstance(original, Column) else tuple(original)
    data = Table(tuple(column(name, cells, kind=Kind.NOMINAL) for name, cells in published.items()))
    promises = ({"model": "k-anonymity", "k": k, "entity": None},)
    release = Release(data, "by hand", {}, promises, suppressed)
    measures = (Loss(), Classes(), Precision())
    return flat(score for one in measures for score in one.scores(Table(columns), release))


EMPLOYERS = tree(
    "Federal;Government;*",
    "Local;Government;*",
    "Own firm;Private;*",
    "Alone;Self-employed;*",
    "Company;Self-employed;*",
    "Province;State;*",
    "City;State;*",
    "Village;State;*",
)


def test_three_of_eight_leaves_lose_two_sevenths() -> None:
    original = column("employer", ["City", "Village", "Federal"], hierarchy=EMPLOYERS)
    scores = measured(original, {"employer": ["State", "State", "Federal"]})
    assert scores["lm"] == pytest.approx(2 / 7 * 2 / 3)
    assert scores["ncp"] == pytest.approx(3 / 8 * 2 / 3)
    assert measured(original, {"employer": ["State"] * 3})["lm"] == pytest.approx(2 / 7)


@pytest.mark.parametrize(
    "text", ["[20,30]", "[20,30)", "20-30", "[20, 30[", "20 - 30", "[20 - 30]", "[20;30]"]
)
def test_age_20_to_30_of_20_to_40_loses_a_half(text: str) -> None:
    original = column("age", [20, 25, 30, 40])
    scores = measured(original, {"age": [text, text, text, "40"]})
    assert scores["lm"] == pytest.approx(1 / 2 * 3 / 4)
    assert scores["lm.age"] == scores["lm_mean"] == scores["ncp"] == scores["gcp"] == scores["lm"]
    held = 2 if text.endswith(("[", ")")) else 3
    assert scores["granularity"] == pytest.approx(1 - (held - 1) / 3 * 3 / 4)


def test_lm_sums_the_columns_and_gcp_is_their_mean() -> None:
    columns = [column("age", [20, 40]), column("sex", ["f", "m"])]
    scores = measured(columns, {"age": ["[20,30]", "[20,30]"], "sex": ["*", "*"]})
    assert scores["lm"] == scores["ncp"] == 1.5
    assert scores["lm_mean"] == scores["gcp"] == 0.75
    assert scores["lm.sex"] == 1


def test_a_suppressed_row_loses_everything_whether_it_is_kept_or_left_out() -> None:
    columns = [column("age", [20, 30, 40]), column("sex", ["f", "f", "m"])]
    left_out = measured(columns, {"age": ["[20,30]"] * 2, "sex": ["f", "f"]}, suppressed=1)
    kept = measured(columns, {"age": ["[20,30]"] * 2 + ["*"], "sex": ["f", "f", "*"]}, suppressed=1)
    assert left_out == kept
    assert left_out["lm"] == pytest.approx((0.5 + 0.5 + 1) / 3 + 1 / 3)


def test_a_numeric_column_with_a_tree_is_measured_by_leaves() -> None:
    hierarchy = tree("1;low;*", "2;low;*", "3;low;*", "90;high;*", "91;high;*")
    original = column("age", [1, 2, 90], hierarchy=hierarchy)
    assert measured(original, {"age": ["low", "low", "90"]})["lm"] == pytest.approx(2 / 4 * 2 / 3)
    assert measured(original, {"age": ["[1,2]", "[1,2]", "90"]})["lm"] == pytest.approx(1 / 4 * 2 / 3)


def test_a_bin_is_as_wide_as_it_says() -> None:
    hierarchy = bins(["17", "19", "21", "37"], 5, 10)
    original = column("age", [17, 19, 21, 37], hierarchy=hierarchy)
    scores = measured(original, {"age": ["[15,20)", "[15,20)", "21", "37"]})
    assert scores["lm"] == pytest.approx(5 / 20 * 2 / 4)
    assert measured(original, {"age": ["[35,40)"] * 4})["lm"] == 5 / 20
    assert measured(original, {"age": ["[0,100)"] * 4})["lm"] == 1


def test_a_bin_with_a_name_is_as_wide_as_its_values() -> None:
    hierarchy = replace(tree("10;young;*", "20;young;*", "50;old;*"), by_width=True)
    assert measured(column("age", [10, 20, 50], hierarchy=hierarchy), {"age": ["young"] * 3})["lm"] == 1 / 4


def test_dates_are_measured_in_days() -> None:
    original = column("day", [datetime.date(2020, 1, day) for day in (1, 3, 11)])
    cells = ["[2020-01-01,2020-01-03]"] * 2 + ["2020-01-11"]
    assert measured(original, {"day": cells})["lm"] == pytest.approx(2 / 10 * 2 / 3)


def test_sets_are_measured_by_their_members_and_missing_is_a_value() -> None:
    assert measured(column("c", ["a", "b", "c"]), {"c": ["{a|b}", "{a|b}", "c"]})["lm"] == pytest.approx(
        1 / 3
    )
    missing = column("c", ["a", "b", None])
    assert measured(missing, {"c": ["{a|b}", "{a|b}", None]})["lm"] == pytest.approx(1 / 2 * 2 / 3)
    odd = column("c", ["x|y", "{z", "z"])
    assert measured(odd, {"c": [r"{x\|y|\{z}"] * 3})["lm"] == pytest.approx(1 / 2)


def test_ranges_of_ordered_names_are_measured_by_ranks() -> None:
    original = column("size", ["L", "M", "S"], kind=Kind.ORDINAL)
    domain = replace(original.domain, labels=("S", "M", "L"))
    original = replace(original, domain=domain, codes=[2, 1, 0])
    assert measured(original, {"size": ["[S,M]"] * 2 + ["L"]})["lm"] == pytest.approx(1 / 2 * 2 / 3)
    with pytest.raises(BadData, match=r"\[M,S\]"):
        measured(original, {"size": ["[M,S]"] * 3})


def test_a_column_with_one_value_loses_nothing_unless_suppressed() -> None:
    original = column("age", [30, 30])
    assert measured(original, {"age": ["[30,35)", "30"]})["lm"] == 0
    assert measured(original, {"age": ["*", "30"]})["lm"] == 0.5
    scores = measured(original, {"age": ["30"]}, suppressed=1)
    assert (scores["lm"], scores["ncp"], scores["granularity"]) == (0.5, 0.5, 0.5)


def test_only_values_that_occur_count() -> None:
    whole = column("age", [0, 20, 40, 1000])
    part = whole.take([0, 1, 2])
    scores = measured(part, {"age": ["[0,20]", "[0,20]", "40"]})
    assert scores["lm"] == pytest.approx(20 / 40 * 2 / 3)
    assert scores["granularity"] == pytest.approx(1 - 1 / 2 * 2 / 3)


def test_an_empty_cell_is_a_value_where_the_original_has_it_and_suppressed_where_not() -> None:
    assert measured(column("c", ["a", None]), {"c": ["a", ""]})["lm"] == 0
    assert measured(column("c", ["a", "b"]), {"c": ["a", ""]})["lm"] == 0.5


@pytest.mark.parametrize(
    ("original", "text"),
    [
        (column("c", ["a", "b"]), "z"),
        (column("c", ["a", "b"]), "{a|z}"),
        (column("c", ["a", "b"]), "{a|}"),
        (column("c", ["a", "b"]), "a-b"),
        (column("c", [1, 2]), "[2,1]"),
        (column("c", [1, 2]), "1-2-3"),
        (column("c", [1, 2]), "[1,x]"),
        (column("c", [1, 2]), "130**"),
        (column("c", [1, 2]), "[1,2x"),
        (column("c", [1, 2]), "{1|3}"),
        (column("c", ["a", "b"], hierarchy=tree("a;x;*", "b;y;*")), "z"),
        (column("c", ["a", "b"], hierarchy=tree("a;x;*", "b;y;*")), "{a|z}"),
    ],
)
def test_a_text_that_makes_no_sense_is_refused_with_its_column(original: Column, text: str) -> None:
    with pytest.raises(BadData, match="measure cannot read") as caught:
        measured(original, {"c": [text, text]})
    assert caught.value.column == "c"
    assert repr(text) in str(caught.value)


def test_a_release_of_another_original_is_refused() -> None:
    original = column("age", [1, 2, 3])
    with pytest.raises(BadData, match="has 2 rows and 0 suppressed"):
        measured(original, {"age": ["1", "2"]})
    with pytest.raises(BadData, match="has 4 rows"):
        measured(original, {"age": ["1", "2", "3", "3"]})
    with pytest.raises(BadData, match="column 'age'"):
        measured(original, {"sex": ["m", "m", "f"]})
    with pytest.raises(BadData, match="only 0 rows are \\*"):
        measured(original, {"age": ["1", "2", "3"]}, suppressed=1)
    with pytest.raises(BadData, match="no rows"):
        measured(column("age", [], kind=Kind.NOMINAL), {"age": []})


def test_only_tables_are_measured() -> None:
    plain = Table((column("age", [1, 2]),))
    with pytest.raises(WrongUse, match="not release"):
        Loss().scores(plain, Release(Release(plain, "", {}, ()), "", {}, ()))  # type: ignore[arg-type]


def test_no_quasi_identifiers_no_loss() -> None:
    original = Table((column("illness", ["flu", "cold"], Role.SENSITIVE),))
    release = Release(original, "by hand", {}, ())
    assert Loss().scores(original, release) == Precision().scores(original, release) == ()
    assert flat(Classes().scores(original, release))["largest_class"] == 2


def test_every_score_is_announced_and_says_which_end_is_better() -> None:
    original = Table((column("c", ["a", "b"], hierarchy=tree("a;*", "b;*")),))
    release = Release(original, "by hand", {}, ({"model": "k-anonymity", "k": 2},))
    for measure in (Loss(), Classes(), Precision()):
        scores = measure.scores(original, release)
        assert tuple(score.name for score in scores) == measure.scores_named
        assert {score.better for score in scores} <= {"lower", "higher", FACT}


# Random releases ------------------------------------------------------------------------------------------------

NUMBERS = (3, 4, 7, 10, 12, 19, 25)
DAYS = tuple(datetime.date(2024, 1, 1) + datetime.timedelta(days) for days in (0, 1, 31, 59))
TREE = tree("a;vowel;letter;*", "e;vowel;letter;*", "x;x;letter;*", "1;digit;digit;*", "2;digit;digit;*")
NUMBER_TREE = tree(*(f"{number};{'few' if number < 10 else 'many'};*" for number in (1, *NUMBERS, 40)))


def date_coordinate(text: str) -> float:
    return float(datetime.date.fromisoformat(text).toordinal())


def rank(text: str) -> float:
    return float("abcde".index(text))


Kinds = tuple[str, Sequence[Cell], Kind | None, Hierarchy | None, naive.Attribute]
COLUMNS: list[Kinds] = [
    ("number", NUMBERS, None, None, naive.Attribute("number", float)),
    (
        "binned",
        NUMBERS,
        None,
        bins(list(map(str, NUMBERS)), 5, 10),
        naive.Attribute("binned", float, by_width=True),
    ),
    ("counted", NUMBERS, None, NUMBER_TREE, naive.Attribute("counted", float)),
    ("day", DAYS, None, None, naive.Attribute("day", date_coordinate)),
    ("name", ("red", "green", "blue"), None, None, naive.Attribute("name")),
    ("letter", tuple("aex12"), None, TREE, naive.Attribute("letter")),
    ("grade", tuple("abcde"), Kind.ORDINAL, None, naive.Attribute("grade", rank, ranked=True)),
]


@st.composite
def published_cells(draw: st.DrawFn, one: Column, ordered: bool) -> list[str]:
    """A text for each cell that covers it: raw, suppressed, a node, a set or a range."""
    labels = [label for label in one.domain.labels if label]
    cells = []
    for code in one.codes.tolist():
        label = one.domain.labels[code]
        ways = ["raw", "suppressed"] + ["node"] * (one.hierarchy is not None)
        ways += ["set"] * bool(label) + ["range"] * (ordered and bool(label))
        match draw(st.sampled_from(ways)):
            case "raw":
                cells.append(label)
            case "suppressed":
                cells.append("*")
            case "node":
                level = draw(st.integers(0, one.hierarchy.height))
                leaf = one.hierarchy.leaves.index(label)
                cells.append(one.hierarchy.labels[level][one.hierarchy.nodes_at(level)[leaf]])
            case "set":
                members = {label, draw(st.sampled_from(labels)), draw(st.sampled_from(labels))}
                cells.append("{" + "|".join(sorted(members)) + "}" if len(members) > 1 else label)
            case "range":
                low = draw(st.integers(0, labels.index(label)))
                high = draw(st.integers(labels.index(label), len(labels) - 1))
                closing = "]" if high == labels.index(label) else draw(st.sampled_from("])"))
                cells.append(f"[{labels[low]},{labels[high]}{closing}")
    return cells


@st.composite
def releases(draw: st.DrawFn) -> tuple[Table, Release, list[naive.Attribute]]:
    rows = draw(st.integers(1, 8))
    chosen = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique_by=lambda one: one[0]))
    gone = draw(st.integers(0, rows))
    kept = draw(st.booleans())
    originals, published, attributes = [], [], []
    for name, values, kind, hierarchy, attribute in chosen:
        cell = st.sampled_from(values) | (st.none() if draw(st.booleans()) else st.nothing())
        one = column(name, draw(st.lists(cell, min_size=rows, max_size=rows)), kind=kind, hierarchy=hierarchy)
        cells = draw(published_cells(one, attribute.coordinate is not None))[gone:] + ["*"] * (
            gone if kept else 0
        )
        originals.append(one)
        published.append(column(name, [text or None for text in cells], kind=Kind.NOMINAL))
        paths = None if one.hierarchy is None else list(one.hierarchy.paths())
        attributes.append(replace(attribute, paths=paths))
    promises = ({"model": "k-anonymity", "k": 2, "entity": None},)
    return Table(tuple(originals)), Release(Table(tuple(published)), "random", {}, promises, gone), attributes


@given(releases())
def test_random_releases_agree_with_the_slow_twins(
    case: tuple[Table, Release, list[naive.Attribute]],
) -> None:
    original, release, attributes = case
    assert isinstance(release.data, Table)
    before, after = texts(original), texts(release.data)
    scores = flat(
        score for one in (Loss(), Classes(), Precision()) for score in one.scores(original, release)
    )
    for attribute in attributes:
        for name in ("lm", "ncp"):
            expected = naive.column_loss(before, after, attribute, name)
            assert scores[f"{name}.{attribute.name}"] == pytest.approx(expected, abs=1e-12)
        kept = 1 - naive.column_loss(before, after, attribute, "counted")
        assert scores[f"granularity.{attribute.name}"] == pytest.approx(kept, abs=1e-12)
        if attribute.paths is not None:
            expected = naive.precision(before, after, attribute)
            assert scores[f"precision.{attribute.name}"] == pytest.approx(expected, abs=1e-12)
    assert scores["lm"] == pytest.approx(sum(scores[f"lm.{one.name}"] for one in attributes))
    assert scores["gcp"] == pytest.approx(scores["ncp"] / len(attributes))
    expected_quality = naive.granularity(before, after, attributes)
    if expected_quality is not None:
        assert scores["granularity"] == pytest.approx(expected_quality, abs=1e-12)
    kept_rows = len(after) + release.suppressed - len(before)
    sizes = naive.class_sizes(after, [one.name for one in attributes], kept_rows)
    assert scores["classes"] == len(sizes)
    assert scores["discernibility"] == naive.discernibility(sizes, release.suppressed, len(before))
    if sizes:
        assert scores["smallest_class"] == sizes[0]
        assert scores["c_avg"] == pytest.approx(sum(sizes) / len(sizes) / 2)


@given(releases(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_texts_does_not_matter(
    case: tuple[Table, Release, list[naive.Attribute]], random: object
) -> None:
    original, release, _ = case
    assert isinstance(release.data, Table)
    rows = list(range(release.data.rows))
    random.shuffle(rows)  # type: ignore[attr-defined]
    columns = []
    for one in release.data.columns:
        turned = one.domain.labels[::-1]
        codes = len(turned) - 1 - one.codes[rows]
        columns.append(replace(one, domain=replace(one.domain, labels=turned, missing=None), codes=codes))
    shuffled = replace(release, data=Table(tuple(columns)))
    for measure in (Loss(), Classes(), Precision()):
        assert measure.scores(original, release) == measure.scores(original, shuffled)


def test_the_example_of_the_documentation() -> None:
    hierarchy = tree(
        *(f"{leaf};Government;*" for leaf in ("Federal", "Local")),
        "Firm;Private;*",
        *(f"{leaf};Self-employed;*" for leaf in ("Alone", "Company")),
        *(f"{leaf};State;*" for leaf in ("Province", "City", "Village")),
    )
    employers = ["City", "Village", "City", "Firm", "Firm", "Federal"]
    columns = [column("age", [20, 25, 30, 35, 40, 38]), column("employer", employers, hierarchy=hierarchy)]
    published = {"age": ["[20,30]"] * 3 + ["[35,40]"] * 2, "employer": ["State"] * 3 + ["Firm"] * 2}
    scores = measured(columns, published, suppressed=1)
    expected = {
        "lm": 0.810,
        "lm.age": 0.5,
        "lm.employer": 0.310,
        "lm_mean": 0.405,
        "ncp": 0.854,
        "ncp.employer": 0.354,
        "gcp": 0.427,
        "granularity": 0.598,
        "discernibility": 19,
        "c_avg": 1.25,
        "classes": 2,
        "median_class": 2.5,
        "precision": 0.583,
    }
    assert {name: round(scores[name], 3) for name in expected} == expected

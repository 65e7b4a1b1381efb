from datetime import date, datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.naive import encoding

from shoal.data._hierarchy_builders import build
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.load import read_table

NUMBERS = [
    "0",
    "-0",
    "1",
    "1.0",
    "1.00",
    "10",
    "1e1",
    "1E1",
    "-2.5",
    ".5",
    "0.5",
    "9007199254740992",
    "1e400",
]
NAMES = ["007", "+5", "nan", "inf", "9007199254740993", "a", "b", "é", "2020-02-30", "5.", "-", "1 2"]
DAYS = ["2020-02-29", "2021-01-01", "1969-12-31", "2020/02/29", "1999/12/31"]
DOTTED = ["29.02.2020", "1.9.2024", "01.09.2024", "31.12.1969"]
MISSING = ["", " ", "?", "NA", " NA "]


def column(values: object, **reading: object) -> Column:
    series = pl.Series("x", values, strict=False)
    return read_table(pl.DataFrame({"x": series}), quasi=["x"], reading=Reading(**reading)).columns[0]


@pytest.mark.parametrize(
    "values",
    [
        ["2011-10-31 14:41:00", "2011-11-01 09:00", "2011-10-31T08:00:00.5+02:00", None],
        [datetime(2011, 10, 31, 14, 41), datetime(2011, 11, 1, 9), datetime(2011, 10, 31, 8), None],
    ],
)
def test_timestamps_give_their_days_where_that_is_told(values: list[object]) -> None:
    found = column(values, kinds={"x": "date"})
    assert facts(found.domain) == (Kind.DATE, ("2011-10-31", "2011-11-01", ""))
    assert found.codes.tolist() == [0, 1, 0, 2]
    assert found.domain.values[:2].tolist() == [15278, 15279]
    assert column(values).domain.kind is Kind.NOMINAL


def test_dotted_dates_keep_their_texts_and_generalize_to_the_calendar() -> None:
    found = column(["10.09.2024", "9.10.2024", "11.09.2024 08:30"], kinds={"x": "date"})
    assert found.domain.labels == ("10.09.2024", "11.09.2024", "9.10.2024")
    tree = build("dates:month,year", found.domain, "x")
    assert tree.labels[1:] == (("2024-09", "2024-10"), ("2024",), ("*",))


@pytest.mark.parametrize("cell", ["10/09/2024", "31.02.2024", "2024-09-10 later", "10.09.24"])
def test_what_is_no_date_names_the_forms_that_are(cell: str) -> None:
    with pytest.raises(BadData, match=r"YYYY-MM-DD, YYYY/MM/DD or DD\.MM\.YYYY, with or without a time"):
        column([cell], kinds={"x": "date"})


def facts(domain: Domain) -> tuple[Kind, tuple[str, ...]]:
    return domain.kind, domain.labels


@given(
    st.one_of(
        st.lists(st.sampled_from(pool + MISSING), min_size=1, max_size=12)
        for pool in (
            NUMBERS,
            NUMBERS + NAMES,
            DAYS[:3],
            DAYS[3:],
            DAYS,
            DAYS + NAMES,
            DOTTED,
            DOTTED + ["30.02.2020", "1.9.24"],
            DAYS + DOTTED,
        )
    ),
    st.randoms(use_true_random=False),
)
@example(["1.0", " 1", "1e0"], None)
@example(["9007199254740993", "1"], None)
@example(["-9007199254740992", "1"], None)
@example(["0.1", "0.10000000000000000001"], None)
def test_like_the_twin_and_whatever_the_order_of_the_rows(cells: list[str], random: object) -> None:
    found = column(cells)
    kind, labels, codes = encoding.encode(cells, ("?", "NA"))
    assert (found.domain.kind, list(found.domain.labels), found.codes.tolist()) == (kind, labels, codes)
    if random is None:
        return
    order = list(range(len(cells)))
    random.shuffle(order)
    permuted = column([cells[place] for place in order])
    assert facts(permuted.domain) == facts(found.domain)
    assert permuted.codes.tolist() == found.codes[order].tolist()


@pytest.mark.parametrize(
    ("values", "kind", "labels", "coordinates"),
    [
        ([3, 1, None, 3], Kind.NUMERIC, ("1", "3", ""), [1, 3, np.nan]),
        ([10**15, -5], Kind.NUMERIC, ("-5", str(10**15)), [-5, 1e15]),
        ([2**53 + 1, 5], Kind.NOMINAL, ("5", str(2**53 + 1)), None),
        ([1.0, 2.0, float("nan"), None], Kind.NUMERIC, ("1", "2", ""), [1, 2, np.nan]),
        ([1.5, 2.0, -0.0], Kind.NUMERIC, ("0.0", "1.5", "2.0"), [0, 1.5, 2]),
        ([1.5, float("inf")], Kind.NOMINAL, ("1.5", "inf"), None),
        (pl.Series([0.1, 2.5], dtype=pl.Float32), Kind.NUMERIC, ("0.1", "2.5"), [0.1, 2.5]),
        (pl.Series([300, 7], dtype=pl.UInt64), Kind.NUMERIC, ("7", "300"), [7, 300]),
        (pl.Series([2**64 - 1, 7], dtype=pl.UInt64), Kind.NOMINAL, (str(2**64 - 1), "7"), None),
        ([True, False, None], Kind.NOMINAL, ("false", "true", ""), None),
        ([date(1970, 1, 2), date(1969, 1, 1)], Kind.DATE, ("1969-01-01", "1970-01-02"), [-365, 1]),
        ([datetime(1970, 1, 2), None], Kind.DATE, ("1970-01-02", ""), [1, np.nan]),
        (
            [datetime(1970, 1, 2), datetime(1970, 1, 1, 12, 30)],
            Kind.NOMINAL,
            ("1970-01-01T12:30:00", "1970-01-02T00:00:00"),
            None,
        ),
        ([Decimal("1.50"), Decimal("0.25")], Kind.NUMERIC, ("0.25", "1.50"), [0.25, 1.5]),
        (pl.Series(["b", "a", None], dtype=pl.Categorical), Kind.NOMINAL, ("a", "b", ""), None),
        (pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])), Kind.NOMINAL, ("a", "b"), None),
        (pl.Series([None, None], dtype=pl.Null), Kind.NOMINAL, ("",), None),
        (["", "?"], Kind.NOMINAL, ("",), None),
        (["b", " b", "a ", "B"], Kind.NOMINAL, ("B", "a", "b"), None),
    ],
)
def test_types(values: object, kind: Kind, labels: tuple[str, ...], coordinates: list[float] | None) -> None:
    found = column(values)
    assert facts(found.domain) == (kind, labels)
    assert found.domain.missing == (len(labels) - 1 if labels[-1] == "" else None)
    if coordinates is None:
        assert found.domain.values is None
    else:
        np.testing.assert_array_equal(found.domain.values, coordinates)


@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40), st.integers(-3, 3)), min_size=1, max_size=20)
)
def test_codes_of_whole_numbers(values: list[int | None]) -> None:
    found = column(pl.Series(values, dtype=pl.Int64))
    order = sorted({value for value in values if value is not None})
    assert found.domain.labels[: found.domain.present] == tuple(map(str, order))
    assert found.codes.tolist() == [len(order) if value is None else order.index(value) for value in values]


@given(st.lists(st.one_of(st.none(), st.floats(width=32), st.floats()), min_size=1, max_size=20))
def test_codes_of_floats(values: list[float | None]) -> None:
    found = column(pl.Series(values, dtype=pl.Float64))
    present = [value for value in values if value is not None and value == value]
    missing = len(present) < len(values)
    assert (found.domain.missing is not None) == missing
    assert found.domain.present == len({value + 0.0 for value in present})
    for value, code in zip(values, found.codes.tolist(), strict=True):
        if value is None or value != value:
            assert code == found.domain.missing
        else:
            assert float(found.domain.labels[code]) == value


def test_told_kinds() -> None:
    assert facts(column(["10", "9"], kinds={"x": "nominal"}).domain) == (Kind.NOMINAL, ("10", "9"))
    assert facts(column(["007", "7", "+8"], kinds={"x": "numeric"}).domain) == (Kind.NUMERIC, ("7", "+8"))
    mixed = column(["2020/01/02", "2020-01-01", "2020-01-02"], kinds={"x": "date"})
    assert facts(mixed.domain) == (Kind.DATE, ("2020-01-01", "2020-01-02"))
    ordinal = column(["high", "low", None], orders={"x": ("low", "middle", "high")})
    assert facts(ordinal.domain) == (Kind.ORDINAL, ("low", "high", ""))
    assert ordinal.codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("values", "reading", "message"),
    [
        (["1", "x", "y"], {"kinds": {"x": "numeric"}}, "row 2: 'x' is not a number"),
        (["1", "nan"], {"kinds": {"x": "numeric"}}, "row 2: 'nan' is not a number"),
        (["2020-02-30"], {"kinds": {"x": "date"}}, "row 1: '2020-02-30' is not a date"),
        (["low", "hihg"], {"orders": {"x": ("low", "high")}}, "row 2: 'hihg' is not in the order"),
    ],
)
def test_cells_that_do_not_fit_the_told_kind(
    values: list[str], reading: dict[str, object], message: str
) -> None:
    with pytest.raises(BadData, match=message):
        column(values, **reading)


@pytest.mark.parametrize(
    "cell", ["*", "[1,2]", "[15,20)", "{a|b}", " * ", "[1,\n2]", "[2020-01-01,2020-02-01]"]
)
def test_cells_that_look_published_are_refused(cell: str) -> None:
    with pytest.raises(BadData, match=r"column 'x': row 2: the cell .* looks like a published one"):
        column(["a", cell, cell])
    assert column(["a", cell, cell], missing=(cell.strip(),)).domain.labels == ("a", "")


@pytest.mark.parametrize("cell", ["**", "5*", "[1]", "[x", "{a}", "{a,b}", "(1,2)", "a|b"])
def test_cells_that_do_not_look_published_pass(cell: str) -> None:
    assert column([cell]).domain.labels == (cell,)


def test_the_entity_may_look_published() -> None:
    frame = pl.DataFrame({"person": ["*", "[1,2]"], "age": [1, 2]})
    assert read_table(frame, entity="person", quasi=["age"]).entity.domain.labels == ("*", "[1,2]")


def test_incomplete_rows_are_dropped_with_the_values_that_only_they_have() -> None:
    frame = pl.DataFrame({"a": ["1", "x", "3", "1"], "b": ["u", None, "v", "?"], "c": [9, 1, 2, 3]})
    table = read_table(frame, quasi=["a", "b"], others="drop", reading=Reading(drop_missing=True))
    assert [facts(column.domain) for column in table.columns] == [
        (Kind.NUMERIC, ("1", "3")),
        (Kind.NOMINAL, ("u", "v")),
    ]
    with pytest.raises(BadData, match="every row has a missing value"):
        read_table(frame[[1, 3]], quasi=["b", "c"], others="drop", reading=Reading(drop_missing=True))


def test_a_row_is_incomplete_in_its_source_whatever_is_kept() -> None:
    frame = pl.DataFrame(
        {
            "a": ["1", "2", "3", "4"],
            "text": ["x", "?", "x", "x"],
            "number": [1.0, 2.0, float("nan"), 4.0],
            "list": [[1], [1], [1], None],
        }
    )
    table = read_table(frame, quasi=["a"], others="drop", reading=Reading(drop_missing=True))
    assert table.columns[0].domain.labels == ("1",)


def test_a_fault_below_dropped_rows_has_its_own_row() -> None:
    frame = pl.DataFrame({"a": [None, "x", "*"]})
    with pytest.raises(BadData, match="row 3"):
        read_table(frame, quasi=["a"], reading=Reading(drop_missing=True))
    dropped = pl.DataFrame({"a": ["*", "x"], "b": [None, "y"]})
    assert read_table(dropped, quasi=["a", "b"], reading=Reading(drop_missing=True)).rows == 1


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}], [b"x"]])
def test_cells_that_are_no_single_values(values: list[object]) -> None:
    with pytest.raises(BadData, match="column 'x': the cells are"):
        column(values)


def test_what_a_reading_refuses() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'numeric'"):
        Reading(kinds={"x": "number"})
    with pytest.raises(WrongUse, match="needs its values in order"):
        Reading(kinds={"x": "ordinal"})
    with pytest.raises(WrongUse, match="so it is ordinal and not date"):
        Reading(kinds={"x": "date"}, orders={"x": ("a",)})
    with pytest.raises(WrongUse, match="lists a value twice"):
        Reading(orders={"x": ("a", "a")})
    with pytest.raises(UnknownName, match="no column 'y'"):
        column(["a"], kinds={"y": "nominal"})

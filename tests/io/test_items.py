"""Columns of items: read from texts, lists and other tables, and read back from what is published."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data._item_sets import item_column, item_sets, items_in, items_text, label_sets
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import Reading

PEOPLE = pl.DataFrame({"id": [1, 2, 3], "age": [20, 30, 40]})
VISITS = pl.DataFrame({"id": [1, 1, 3, 1], "illness": ["flu", "cold", "flu", "flu"]})


def held(table: Table, name: str) -> list[tuple[str, ...]]:
    return list(item_sets(table.column(name)))


@given(st.frozensets(st.text(min_size=1, max_size=4), max_size=4))
def test_a_set_is_read_back_from_its_cell(items: frozenset[str]) -> None:
    assert items_in(items_text(items)) == sorted(items)


@pytest.mark.parametrize(
    "cells",
    [
        ["tea; milk", "", "milk;tea;milk"],
        ["milk,tea", None, "tea,milk"],
        [["tea", "milk"], [], ["milk", "tea", "tea"]],
        [["tea", "milk", None], None, ["milk", " tea "]],
    ],
)
def test_sets_come_as_texts_or_lists(cells: list[object]) -> None:
    frame = PEOPLE.with_columns(pl.Series("buys", cells))
    table = shoal.read_table(frame, quasi="age", identifying="id", items="buys")
    assert held(table, "buys") == [("milk", "tea"), (), ("milk", "tea")]
    assert table.column("buys").domain.labels == ("", "milk|tea")


def test_the_separator_can_be_given(tmp_path: Path) -> None:
    PEOPLE.with_columns(buys=pl.Series(["a b,c", "c", ""])).write_csv(tmp_path / "people.csv")
    read = {"quasi": "age", "identifying": "id", "items": "buys"}
    table = shoal.read_table(tmp_path / "people.csv", **read, item_separator=" ")  # type: ignore[arg-type]
    assert held(table, "buys") == [("a", "b,c"), ("c",), ()]


def test_items_come_from_another_table(tmp_path: Path) -> None:
    VISITS.write_csv(tmp_path / "visits.csv")
    table = shoal.read_table(
        PEOPLE, quasi="age", identifying="id", items_from=f"{tmp_path / 'visits.csv'}:id,illness"
    )
    assert held(table, "illness") == [("cold", "flu"), (), ("flu",)]


def test_items_of_nobody_are_left_out_and_told(tmp_path: Path) -> None:
    pl.concat([VISITS, pl.DataFrame({"id": [9], "illness": ["gout"]})]).write_csv(tmp_path / "visits.csv")
    with pytest.warns(shoal.ShoalWarning, match="1 item of"):
        table = shoal.read_table(
            PEOPLE, quasi="age", others="drop", items_from=f"{tmp_path / 'visits.csv'}:id,illness"
        )
    assert label_sets(table.column("illness")).vocabulary == ("cold", "flu")


def test_wrong_items_are_refused(tmp_path: Path) -> None:
    VISITS.write_csv(tmp_path / "visits.csv")
    spec = f"{tmp_path / 'visits.csv'}:id,illness"
    with pytest.raises(WrongUse, match="by its file, the key and the item"):
        shoal.read_table(PEOPLE, quasi="age", others="drop", items_from="visits.csv")
    with pytest.raises(UnknownName):
        shoal.read_table(
            PEOPLE, quasi="age", others="drop", items_from=f"{tmp_path / 'visits.csv'}:id,ilness"
        )
    with pytest.raises(BadData, match="stands in several rows"):
        shoal.read_table(pl.concat([PEOPLE, PEOPLE]), quasi="age", others="drop", items_from=spec)
    with pytest.raises(BadData, match="nobody has an item"):
        shoal.read_table(PEOPLE.with_columns(pl.col("id") + 10), quasi="age", others="drop", items_from=spec)
    with pytest.raises(WrongUse, match="and not from both"):
        shoal.read_table(PEOPLE, quasi="age", others="drop", items="id", items_from=spec)
    with pytest.raises(WrongUse, match="it can be one of them"):
        shoal.read_table(
            PEOPLE,
            quasi="age",
            others="drop",
            items_from=spec,
            sensitive_items=["flu"],
            insensitive_items=["flu"],
        )
    with pytest.raises(UnknownName, match="gout"):
        shoal.read_table(PEOPLE, quasi="age", others="drop", items_from=spec, sensitive_items=["gout"])


def test_a_method_that_would_publish_items_as_they_are_refuses_them() -> None:
    frame = PEOPLE.with_columns(buys=pl.Series(["a|b", "c", ""]))
    with pytest.raises(WrongUse, match="as they are"):
        shoal.anonymize(frame, "mondrian", k=2, quasi="age", identifying="id", items="buys")


def test_other_engines_refuse_them(tmp_path: Path) -> None:
    PEOPLE.with_columns(buys=pl.Series(["a|b", "c", ""])).write_csv(tmp_path / "people.csv")
    engine = shoal.engines.Stream("1GB")
    with pytest.raises(WrongUse, match="not read in parts"):
        shoal.anonymize(
            tmp_path / "people.csv",
            "mondrian",
            k=2,
            quasi="age",
            identifying="id",
            items="buys",
            engine=engine,
        )
    engine.close()


def test_cells_go_back_to_the_same_column() -> None:
    frame = PEOPLE.with_columns(buys=pl.Series([["x|y", "z"], [], ["z"]]))
    column = shoal.read_table(frame, quasi="age", others="drop", items="buys").column("buys")
    again = item_column("buys", item_sets(column))
    assert (again.domain.labels, again.codes.tolist()) == (column.domain.labels, column.codes.tolist())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"item_separator": ""}, "not empty"),
        ({"preparation": [{"name": "recode", "values": {"buys": {"beer": "ale"}}}]}, "no effect on items"),
        ({"preparation": [{"name": "pseudonym", "columns": ["buys"], "key": "KEY"}]}, "no effect on items"),
        ({"reading": Reading(kinds={"buys": "numeric"})}, "holds items"),
        ({"reading": Reading(missing=("buys=beer",))}, "holds items"),
    ],
)
def test_what_items_would_be_spared_of_is_refused(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """Items were once published as they were, and called pseudonyms."""
    if "KEY" in str(options):
        options = {"preparation": [{**options["preparation"][0], "key": str(tmp_path / "key")}]}
    frame = pl.DataFrame({"age": [20, 20, 30, 30], "buys": ["beer|wine", "beer|wine", "tea", "tea"]})
    with pytest.raises(WrongUse, match=words):
        shoal.anonymize(frame, "relational-transaction", k=2, quasi="age", items="buys", **options)


def test_a_separator_that_no_cell_holds_is_told() -> None:
    frame = pl.DataFrame({"age": [20, 20, 30, 30], "buys": ["beer;wine", "beer;wine", "tea", "tea"]})
    given = {"k": 2, "quasi": "age", "items": "buys"}
    with pytest.warns(UserWarning, match="No cell of buys holds the separator '|'.*'beer;wine'"):
        shoal.anonymize(frame, "relational-transaction", item_separator="|", **given)
    shoal.anonymize(frame, "relational-transaction", item_separator=";", **given)
    shoal.anonymize(
        frame.with_columns(buys=pl.lit("tea")), "relational-transaction", item_separator="|", **given
    )


@pytest.mark.parametrize("cells", [[[["a"]]] * 4, [{"a": 1}] * 4])
def test_what_is_no_set_of_items_is_refused(cells: list[Any]) -> None:
    frame = pl.DataFrame({"age": [20, 20, 30, 30], "buys": cells})
    with pytest.raises(BadData, match="column 'buys': its cells are no sets of items"):
        shoal.anonymize(frame, "relational-transaction", k=2, quasi="age", items="buys")


def test_more_items_than_anybody_holds_may_be_known() -> None:
    frame = pl.DataFrame({"age": [20, 20, 30, 30], "buys": ["beer|wine", "beer|wine", "tea", "tea"]})
    few, many = (
        shoal.anonymize(frame, "relational-transaction", k=2, m=m, quasi="age", items="buys") for m in (2, 90)
    )
    assert few.release.to_polars().equals(many.release.to_polars())

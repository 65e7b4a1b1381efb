"""The order of published files: as lists of texts compare, wherever files and the pieces they are read in end."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parts import MemoryEngine

from shoal.data.verdict import MISNUMBERED, NAMED, UNSORTED, OrderViolations
from shoal.engines.stream import Stream
from shoal.io.releases import file_order as ordered_forms
from shoal.io.releases.distributed import open_table
from shoal.io.releases.file_order import order_violations, row_violations
from shoal.io.tables.delimited import delimited_text

ITEMS = st.lists(st.sampled_from("abcde"), max_size=4, unique=True)
CELLS = st.sampled_from(["", "a", "b", "10", "9", "a,b", 'a"b', "a\nb", "é", "\U0001f41f", "￼"])


@pytest.fixture(autouse=True, params=[1, 9, 1 << 22])
def small_pieces(request: pytest.FixtureRequest) -> Iterator[None]:
    before = ordered_forms.BYTES, ordered_forms.ROWS
    ordered_forms.BYTES, ordered_forms.ROWS = request.param, 2
    yield
    ordered_forms.BYTES, ordered_forms.ROWS = before


def placed(folder: str, parts: list[str], ending: str) -> Path:
    """A file, or a folder of part files, with these texts."""
    data = Path(folder) / f"data{ending}"
    if len(parts) == 1:
        data.write_bytes(parts[0].encode())
    else:
        data.mkdir()
        for number, text in enumerate(parts):
            (data / f"part-{number:05}{ending}").write_bytes(text.encode())
    return data


def found(parts: list[str], shape: dict[str, Any], ending: str) -> OrderViolations:
    """What is found out of part files with these texts."""
    with tempfile.TemporaryDirectory() as folder:
        return order_violations(MemoryEngine(), placed(folder, parts, ending), shape)


def found_in_rows(parts: list[str]) -> OrderViolations:
    """What is found out of the rows of part files, as they are read one after the other."""
    with tempfile.TemporaryDirectory() as folder, closing(Stream()) as engine:
        return row_violations(open_table(placed(folder, parts, ".csv"), engine).parts)


def shared(draw: st.DataObject, rows: list[Any]) -> list[list[Any]]:
    """Rows cut at random places, each of which becomes a file."""
    cuts = sorted(draw.draw(st.lists(st.integers(1, max(len(rows) - 1, 1)), max_size=3, unique=True)))
    return [part for low, high in pairwise([0, *cuts, len(rows)]) if (part := rows[low:high])]


def falls(keys: list[Any]) -> list[int]:
    """The rows that come before the one ahead, counted from 1."""
    return [place + 2 for place, (one, other) in enumerate(pairwise(keys)) if other < one]


def check(shown: OrderViolations, noun: str, expected: list[int], faults: int = 0) -> None:
    assert shown.form == noun
    assert shown.count == len(expected) + faults
    named = [(where, why) for where, why in shown.places if "one of the two is out of place" in why]
    assert len(shown.places) == min(shown.count, NAMED)
    for row, (where, why) in zip(expected, named, strict=False):
        assert (where + " ").startswith(f"{noun} {row} ")
        assert f"ahead of it, {noun} {row - 1}" in why


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12), st.booleans(), st.data())
def test_a_table(rows: list[tuple[str, str]], in_order: bool, draw: st.DataObject) -> None:
    rows = sorted(rows) if in_order else rows
    frames = [pl.DataFrame(part, schema=["x", "y"], orient="row") for part in shared(draw, rows)]
    texts = [delimited_text(frame) for frame in frames]
    shown = found(texts, {"form": "table"}, ".csv")
    check(shown, "row", falls(rows))
    assert found_in_rows(texts) == shown
    assert not (in_order and shown.count)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.none() | CELLS, st.none() | st.integers(1, 30)), min_size=1, max_size=9))
def test_a_table_of_columns(rows: list[tuple[str | None, int | None]]) -> None:
    """A missing cell is empty, and numbers are compared by their texts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        pl.DataFrame(rows, schema={"x": pl.String, "y": pl.Int64}, orient="row").write_parquet(path)
        shown = order_violations(MemoryEngine(), path, {"form": "table"})
    texts = [(text or "", "" if number is None else str(number)) for text, number in rows]
    check(shown, "row", falls(texts))


SPELLED: dict[str, tuple[str, dict[str, str], Any]] = {
    "lines": (".dat", {"layout": "lines"}, lambda basket: " ".join(basket) + "\n"),
    "lines with commas": (".dat", {"layout": "lines:,"}, lambda basket: ",".join(basket) + "\n"),
    "spmf": (
        ".spmf",
        {"layout": "spmf"},
        lambda basket: "% said\n\n" + "".join(f"{item} -1 " for item in basket) + "-2\n",
    ),
    "column": (
        ".csv",
        {"layout": "column:goods", "separator": "|"},
        lambda basket: f'"{"|".join(basket)}"\n',
    ),
}


@pytest.mark.parametrize("layout", SPELLED)
@settings(max_examples=40)
@given(baskets=st.lists(ITEMS, min_size=1, max_size=12), in_order=st.booleans(), draw=st.data())
def test_baskets(layout: str, baskets: list[list[str]], in_order: bool, draw: st.DataObject) -> None:
    ending, shape, spell = SPELLED[layout]
    baskets = sorted(map(sorted, baskets)) if in_order else baskets
    header = "goods\n" if layout == "column" else ""
    parts = [header + "".join(map(spell, part)) for part in shared(draw, baskets)]
    shown = found(parts, {"form": "baskets", **shape}, ending)
    unsorted = sum(basket != sorted(basket) for basket in baskets)
    check(shown, "basket", falls(list(map(sorted, baskets))), unsorted)
    assert sum(why == UNSORTED for _, why in shown.places) == min(unsorted, NAMED)


@settings(max_examples=40)
@given(baskets=st.lists(ITEMS, min_size=1, max_size=12), in_order=st.booleans(), draw=st.data())
def test_a_long_table(baskets: list[list[str]], in_order: bool, draw: st.DataObject) -> None:
    baskets = sorted(map(sorted, baskets)) if in_order else baskets
    numbers = list(range(1, len(baskets) + 1))
    wrong = 0
    if draw.draw(st.booleans()):
        place = draw.draw(st.integers(0, len(baskets) - 1))
        numbers[place] += 100
        wrong = 1
    rows = [
        f"{number},{item}\n"
        for number, basket in zip(numbers, baskets, strict=True)
        for item in basket or [""]
    ]
    parts = ["id,item\n" + "".join(part) for part in shared(draw, rows)]
    shown = found(parts, {"form": "baskets", "layout": "long:id,item"}, ".csv")
    unsorted = sum(basket != sorted(basket) for basket in baskets)
    check(shown, "basket", falls(list(map(sorted, baskets))), unsorted + wrong)
    assert sum(why == MISNUMBERED for _, why in shown.places) == wrong


def test_rows_of_a_basket_that_stand_apart_are_told() -> None:
    shown = found(["id,item\n1,a\n2,a\n1,b\n"], {"form": "baskets", "layout": "long:id,item"}, ".csv")
    assert shown.places == (("basket 3 {b}", MISNUMBERED),)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.lists(ITEMS.map(sorted), min_size=1, max_size=3).map(sorted),
            st.dictionaries(st.sampled_from("st"), st.integers(1, 3)),
        ),
        min_size=1,
        max_size=8,
    ),
    st.data(),
)
def test_groups(groups: list[tuple[list[list[str]], dict[str, int]]], draw: st.DataObject) -> None:
    lines = [json.dumps({"baskets": baskets, "sensitive": shown}) + "\n" for baskets, shown in groups]
    shown = found(["".join(part) for part in shared(draw, lines)], {"form": "groups"}, ".jsonl")
    check(shown, "group", falls([(baskets, sorted(secrets.items())) for baskets, secrets in groups]))


RECORDS = st.lists(
    st.lists(st.sampled_from("abc"), min_size=1, unique=True).map(sorted), min_size=1, max_size=2
)
SIMPLE = st.fixed_dictionaries(
    {
        "size": st.integers(1, 3),
        "chunks": st.lists(RECORDS.map(sorted), max_size=2).map(sorted),
        "terms": st.lists(st.sampled_from("de"), unique=True).map(sorted),
    }
)
JOINT = st.fixed_dictionaries(
    {
        "joint": st.lists(SIMPLE, min_size=1, max_size=2),
        "shared": st.lists(RECORDS.map(sorted), max_size=1),
    }
)


def cluster_key(cluster: dict[str, Any]) -> tuple[Any, ...]:
    """What clusters are compared by: simple ones come first."""
    if "joint" in cluster:
        return 1, [cluster_key(part) for part in cluster["joint"]], cluster["shared"]
    return 0, cluster["chunks"], cluster["terms"], cluster["size"]


@settings(max_examples=40)
@given(st.lists(SIMPLE | JOINT, min_size=1, max_size=6), st.data())
def test_clusters(clusters: list[dict[str, Any]], draw: st.DataObject) -> None:
    lines = [json.dumps(cluster) + "\n" for cluster in clusters]
    shown = found(["".join(part) for part in shared(draw, lines)], {"form": "clusters"}, ".jsonl")
    check(shown, "cluster", falls(list(map(cluster_key, clusters))))

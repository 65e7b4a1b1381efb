"""Baskets that are read in parts are those that are read into memory."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.basket_parts import laid_out
from tests.parts import MemoryEngine, read_dataset

from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.baskets.load import read_baskets, write_baskets

ROWS = [[f"i{item}" for item in draw] for draw in np.random.default_rng(1).integers(0, 30, (150, 4)).tolist()]
ROWS[3:7] = [[], ["ä b"], [], ["ß,x"]]


def rows_of(baskets: Baskets | Dataset) -> list[tuple[str, ...]]:
    """The baskets as texts, in order."""
    if isinstance(baskets, Baskets):
        return sorted(baskets.basket(row) for row in range(len(baskets)))
    rows = baskets.parts.collect()["items"].to_list()
    return sorted(tuple(baskets.schema.vocabulary[code] for code in row) for row in rows)


def check(path: Path | str, memory: int = 1 << 30, layout: str | None = None, **shown: Any) -> None:
    here = read_baskets(str(path), baskets=layout, **shown)
    there = read_dataset(MemoryEngine(memory), str(path), layout=layout, **shown)
    assert there.schema.vocabulary == here.vocabulary
    assert there.schema.layout == here.layout
    assert there.schema.sensitive.tolist() == here.sensitive.tolist()
    assert (there.rows, rows_of(there)) == (len(here), rows_of(here))


@pytest.mark.parametrize("memory", [3_000, 1 << 30])
@pytest.mark.parametrize("layout", ["lines:|", "long:invoice,item", "long:bucket,item", "column:things"])
def test_texts(tmp_path: Path, layout: str, memory: int) -> None:
    path = tmp_path / "baskets.csv"
    write_baskets(laid_out(read_baskets(ROWS), layout), path)
    shown = {"layout": "lines", "separator": "|"} if layout == "lines:|" else {"layout": layout}
    check(path, memory, sensitive=["i3"], **shown)


def test_lines_and_spmf(tmp_path: Path) -> None:
    plain = tmp_path / "plain.dat"
    plain.write_bytes("\ufeffa b\r\n\n c\tä c \n".encode())
    check(plain, layout="lines")
    spmf = tmp_path / "some.spmf"
    spmf.write_text("@CONVERTED\n1 -1 2 -1 -2\n\n-2\n% comment\n2 3 -1 -2\n")
    check(spmf)


def test_columns_of_parquet(tmp_path: Path) -> None:
    lists, cells, pairs, numbers = (
        tmp_path / f"{name}.parquet" for name in ("lists", "cells", "pairs", "numbers")
    )
    pl.DataFrame({"things": ROWS, "x": 1}, schema_overrides={"things": pl.List(pl.String)}).write_parquet(
        lists
    )
    pl.DataFrame({"things": ["|".join(row) for row in ROWS], "x": 1}).write_parquet(cells)
    long = [(float(row), item) for row, items in enumerate(ROWS) for item in items or [None]]
    pl.DataFrame(long, schema={"id": pl.Float64, "item": pl.String}, orient="row").write_parquet(pairs)
    pl.DataFrame({"id": ["a", "b", "a"], "item": [1.0, 2.5, 3.0]}).write_parquet(numbers)
    check(lists, layout="column:things")
    check(cells, layout="column:things")
    check(pairs, memory=5_000)
    check(numbers, memory=1)


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    engine = MemoryEngine()
    spmf, matrix = tmp_path / "bad.spmf", tmp_path / "matrix.csv"
    spmf.write_text("1 -1 2 -1 -2\n3 -1 -2 4 -1 -2\n")
    with pytest.raises(BadData, match="'3 -1 -2 4 -1 -2'"):
        read_dataset(engine, str(spmf), layout="spmf")
    matrix.write_text("a,b,c\n1,0,1\n0,0,1\n")
    with pytest.raises(WrongUse, match="shoal convert"):
        read_dataset(engine, str(matrix))
    rows = engine.parts(pl.DataFrame({"id": ["1", ""], "item": ["a", "b"], "x": [0, 0]}))
    with pytest.raises(WrongUse, match="id, item, x"):
        read_dataset(engine, rows)
    with pytest.raises(BadData, match="which basket"):
        read_dataset(engine, rows, layout="long:id,item")
    with pytest.raises(UnknownName, match="'no'"):
        read_dataset(engine, rows, layout="column:no")
    with pytest.raises(UnknownName, match="item 'z'"):
        read_dataset(engine, rows, layout="column:item", sensitive=["z"])
    with pytest.raises(BadData, match="fractions"):
        read_dataset(engine, engine.parts(pl.DataFrame({"a": [[1.0]]})), layout="column:a")


@pytest.mark.parametrize(("layout", "said"), [("long:a,b", "no texts"), ("column:a", "no sets of items")])
def test_durations_are_no_items(tmp_path: Path, layout: str, said: str) -> None:
    path = tmp_path / "times.parquet"
    pl.DataFrame({"a": [1, 2], "b": [1, 2]}).cast(pl.Duration("us")).write_parquet(path)
    with pytest.raises(BadData, match=said):
        read_baskets(path, baskets=layout)
    with pytest.raises(BadData, match=said):
        read_dataset(MemoryEngine(), path, layout=layout)

"""Addresses such as s3://… are no files, whoever reads or writes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data.domain import nominal
from shoal.errors import WrongUse
from shoal.io.baskets.load import read_baskets, write_baskets
from shoal.io.hierarchies.load import read_hierarchy
from shoal.io.tables.load import write_database, write_table
from shoal.recipe import Recipe, Source

HERE = shoal.read_table(pl.DataFrame({"a": [1, 2]}), quasi=["a"])
BASKETS = read_baskets([["a"], ["a"]])
RUN = shoal.anonymize(BASKETS, "disassociation", k=2, m=1)


def stream(place: str) -> Any:
    engine = shoal.engines.Stream("1GB")
    try:
        return shoal.anonymize(place, "disassociation", k=2, engine=engine)
    finally:
        engine.close()


READERS: list[Callable[[str], Any]] = [
    lambda place: shoal.read_table(place, quasi=["a"]),
    lambda place: shoal.read_table(f"{place}.parquet", quasi=["a"]),
    lambda place: shoal.read_table(f"{place}.xlsx", quasi=["a"]),
    read_baskets,
    shoal.inspect,
    shoal.read_release,
    lambda place: shoal.verify(place, k=2, quasi=["a"]),
    shoal.verify,
    lambda place: read_hierarchy(place, nominal(("a",))),
    Recipe.read,
    lambda place: shoal.run(
        Recipe(source=Source(path=str(place)), method={"name": "disassociation", "k": 2})
    ),
    stream,
]
WRITERS: list[Callable[[str], Any]] = [
    lambda place: write_table(HERE, f"{place}.csv"),
    lambda place: write_baskets(BASKETS, place),
    RUN.write,
    lambda place: write_database(HERE, place),
    Recipe(source=Source(path="x"), method={"name": "mondrian"}).write,
]


@pytest.mark.parametrize("scheme", ["s3", "gs", "https", "hdfs", "abfss", "ftp"])
@pytest.mark.parametrize("read", READERS)
def test_nothing_is_read_from_an_address(read: Callable[[str], Any], scheme: str) -> None:
    for place in (f"{scheme}://shop/sales", Path(f"{scheme}://shop/sales")):
        with pytest.raises(WrongUse, match=f"{scheme}://shop/sales.* is an address, .*fetch it first"):
            read(place)  # type: ignore[arg-type]


@pytest.mark.parametrize("write", WRITERS)
def test_nothing_is_written_to_an_address(
    write: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongUse, match=r"s3://"):
        write("s3://shop/out")
    assert not list(tmp_path.iterdir())


def test_files_may_hold_colons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ab:").mkdir()
    (tmp_path / "ab:" / "x.dat").write_text("a b\n")
    assert len(read_baskets("ab:/x.dat")) == 1
    with pytest.raises(WrongUse, match=r"by its path: /data/x\.dat"):
        read_baskets("file:///data/x.dat")

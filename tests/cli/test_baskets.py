"""How baskets are read, told on the command line and in recipes."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal.io.baskets.load import read_baskets

Call = Callable[..., Any]
METHOD = ("--k", "2", "--m", "1", "--no-report")
PAIRS = "1,milk\n1,bread\n2,milk\n2,bread\n3,milk\n3,tea\n4,tea\n"


@pytest.mark.parametrize("engine", [(), ("--engine", "stream")])
def test_a_long_table_without_a_header(shoal: Call, folder: Path, engine: tuple[str, ...]) -> None:
    (folder / "sales.csv").write_text(PAIRS)
    answer = shoal(
        "anonymize", "disassociation", "sales.csv", *METHOD, *engine, "--baskets", "long", "-o", "a"
    )
    assert answer.code == 0
    assert "WARNING The first line ('1', 'milk') was taken for the names" in answer.out
    named = ("--names", "basket,item", "--save-recipe", "r.toml")
    answer = shoal("anonymize", "disassociation", "sales.csv", *METHOD, *engine, *named, "-o", "b")
    assert answer.code == 0
    assert "WARNING The first line" not in answer.out
    assert "Read: 4 baskets of 3 items, in the layout long:basket,item." in answer.out
    (folder / "r.toml").write_text((folder / "r.toml").read_text().replace('"b"', '"c"'))
    assert "Read: 4 baskets of 3 items" in shoal("run", "r.toml").out
    assert (folder / "b/release/data.jsonl").exists()


def test_names_on_other_commands(shoal: Call, folder: Path) -> None:
    (folder / "sales.csv").write_text(PAIRS)
    shown = ("--baskets", "long", "--names", "who,what")
    assert shoal("convert", "sales.csv", "sales.dat", *shown).out.startswith(
        "4 of 4 baskets with 3 of 3 items"
    )
    answer = shoal("inspect", "sales.csv", *shown)
    assert "4 baskets, 3 items" in answer.out
    assert "read as long:who,what" in answer.out
    command = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    assert "--names who,what" in command
    answer = shoal("verify", "sales.csv", "--model", "km-anonymity", "--k", "2", "--m", "1", *shown)
    assert answer.code == 0


def test_a_database(shoal: Call, folder: Path) -> None:
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("create table sales (id integer, item text)")
        database.executemany("insert into sales values (?, ?)", [line.split(",") for line in PAIRS.split()])
    database.close()
    for shown in (
        ("sqlite:///shop.db?table=sales",),
        ("sqlite:///shop.db", "--query", "select id, item from sales"),
    ):
        answer = shoal("anonymize", "disassociation", *shown, *METHOD, "-o", "out", "--force")
        assert "Read: 4 baskets of 3 items, in the layout long:id,item." in answer.out
    place, stream = "sqlite:///shop.db?table=sales", ("--engine", "stream")
    answer = shoal("anonymize", "disassociation", place, *METHOD, *stream, "-o", "x")
    assert answer.code == 2
    assert "reads Parquet and delimited text from paths" in answer.err


def test_addresses_are_refused(shoal: Call, folder: Path) -> None:
    (folder / "a.dat").write_text("a b\na b\n")
    for engine in ((), ("--engine", "stream")):
        answer = shoal("anonymize", "disassociation", "s3://shop/a.dat", *METHOD, *engine, "-o", "out")
        assert (answer.code, "s3://shop/a.dat is an address" in answer.err) == (2, True)
        answer = shoal("anonymize", "disassociation", "a.dat", *METHOD, *engine, "-o", "s3://shop/out")
        assert (answer.code, "files are written to disks" in answer.err) == (2, True)
    assert shoal("convert", "a.dat", "gs://shop/a.csv", "--to", "long").code == 2
    assert [entry.name for entry in folder.iterdir()] == ["a.dat"]


def test_blanks_are_told_and_matched(shoal: Call, folder: Path) -> None:
    (folder / "a.csv").write_text('id,item\n1,"cream cheese "\n1,a\n2,a\n3,a\n4,b\n5,b\n6,b\n')
    shown = ("a.csv", "--p", "2", "--no-report", "-o", "out", "--sensitive")
    answer = shoal("anonymize", "cahd", *shown, "cream cheese ")
    assert answer.code == 0
    assert "WARNING Blanks around an item were taken away: 'cream cheese'." in answer.out
    assert read_baskets(folder / "a.csv").vocabulary == ("a", "b", "cream cheese")

"""A byte order mark stands at the very beginning of a file; anywhere else U+FEFF belongs to the data."""

from pathlib import Path

import pytest

import shoal
from shoal.data.baskets import Baskets
from shoal.data.role import Roles
from shoal.engines import _text_blocks
from shoal.engines.stream import Stream
from shoal.errors import BadData
from shoal.io.baskets.load import read_baskets
from shoal.io.reading import Reading
from shoal.io.tables.load import read_table

MARK = "\ufeff"
ROWS = [f"{MARK}a,1", "b,2", f"{MARK}c,3", f"d,{MARK}4", f"{MARK}e,5"]
FIRST = {f"{MARK}a", "b", f"{MARK}c", "d", f"{MARK}e"}


def first_labels(path: Path, reading: Reading | None = None) -> list[set[str]]:
    """The values of the first column, as every engine of this machine reads them."""
    here = read_table(path, others="insensitive", reading=reading)
    stream = Stream()
    there = stream.load_table(str(path), Roles(others="insensitive"), reading or Reading()).table.schema
    stream.close()
    return [set(table.columns[0].domain.labels) for table in (here, there)]


@pytest.mark.parametrize("size", [_text_blocks.BLOCK, 16, 5])
@pytest.mark.parametrize("begin", ["", MARK])
@pytest.mark.parametrize("header", [True, False])
def test_marks_of_cells_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: str, header: bool, size: int
) -> None:
    monkeypatch.setattr(_text_blocks, "BLOCK", size)
    path = tmp_path / "table.csv"
    rows = ROWS if begin or header else ROWS[1:]
    path.write_text(begin + "\n".join(["q,s", *rows] if header else rows) + "\n", encoding="utf-8")
    wanted = FIRST if rows is ROWS else FIRST - {f"{MARK}a"}
    reading = None if header else Reading(names=("q", "s"), separator=",")
    assert first_labels(path, reading) == [wanted, wanted]


def test_every_part_file_may_begin_with_one(tmp_path: Path) -> None:
    for number, rows in enumerate((ROWS[:2], ROWS[2:])):
        text = MARK + "\n".join(["q,s", *rows]) + "\n"
        (tmp_path / f"part-{number}.csv").write_text(text, encoding="utf-8")
    assert first_labels(tmp_path) == [FIRST, FIRST]


def test_items_keep_theirs(tmp_path: Path) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text(f"{MARK}{MARK}a b\n{MARK}c b\n d\n", encoding="utf-8")
    wanted = {f"{MARK}a", "b", f"{MARK}c", "d"}
    assert set(read_baskets(path).vocabulary) == wanted
    stream = Stream()
    schema = stream.load_baskets(path, None, None, Roles()).baskets.schema
    stream.close()
    assert isinstance(schema, Baskets)
    assert set(schema.vocabulary) == wanted


@pytest.mark.parametrize("engine", [None, "stream"])
def test_marked_values_are_proved_as_they_are_published(tmp_path: Path, engine: str | None) -> None:
    path = tmp_path / "table.csv"
    path.write_text("q,s\n" + f"{MARK}a,x\na,y\n", encoding="utf-8")
    where = None if engine is None else Stream()
    run = shoal.anonymize(path, "mondrian", k=2, quasi="q", sensitive="s", engine=where)
    run.write(tmp_path / "out")
    if where is not None:
        where.close()
    assert all(verdict.holds for verdict in shoal.verify(tmp_path / "out"))
    # Two rows that differ in the mark alone are two classes of one row each.
    (verdict,) = shoal.verify(path, quasi="q", k=2)
    assert not verdict.holds


def test_a_name_that_begins_with_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{MARK}{MARK}q,s\n1,2\n", encoding="utf-8")
    with pytest.raises(BadData, match="byte order mark"):
        read_table(path, others="insensitive")

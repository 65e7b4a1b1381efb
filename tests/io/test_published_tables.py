"""Published tables are read as their readers see them."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import column

from shoal.data import _cell_kinds
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.io.tables import load, published_blocks
from shoal.io.tables.load import read_published_table, read_table


def test_published_cells_are_raw(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('age;ill\n[20,30];NA\n[20,30];\n; NA\n?;"*"\n')
    found = read_published_table(path, ["age"], ["ill"])
    assert [column.domain.labels for column in found.columns] == [
        ("", "?", "[20,30]"),
        ("", " NA", "*", "NA"),
    ]
    assert [column.domain.missing for column in found.columns] == [None, None]
    assert [column.role for column in found.columns] == [Role.QUASI, Role.SENSITIVE]


def test_nulls_and_empty_texts_of_parquet_differ(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": ["", None, "x"], "b": [1, None, 2]}).write_parquet(path)
    a, b = read_published_table(path, ["a", "b"]).columns
    assert (a.domain.labels, a.domain.missing, len(set(a.codes.tolist()))) == (('""', "x", ""), 2, 3)
    assert (b.domain.labels, b.domain.missing) == (("1", "2", ""), 2)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_folder_of_part_files(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / f"data.{ending}"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for place, frame in enumerate([pl.DataFrame({"a": ["1", "2"]}), pl.DataFrame({"a": ["*"]})]):
        path = folder / f"part-{place}.{ending}"
        frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    pl.DataFrame({"a": []}, schema={"a": pl.String}).write_csv(
        folder / "part-9.csv"
    ) if ending == "csv" else None
    assert read_published_table(folder, ["a"]).columns[0].domain.labels == ("*", "1", "2")
    with pytest.raises(BadData, match=r"part-1\.\w+.*column 'a'.*looks like a published one"):
        read_table(folder, quasi=["a"])
    pl.DataFrame({"b": ["1"]}).write_csv(folder / "part-2.csv")
    with pytest.raises(BadData, match=r"part-2\.csv: the columns are not those of .*part-0"):
        read_published_table(folder, ["a"])


def test_a_folder_that_holds_something_else(tmp_path: Path, people: Path) -> None:
    with pytest.raises(BadData, match="this is a folder, and not one of part files"):
        read_table(tmp_path, quasi=["a"])


PIECES = [
    "x",
    "[1,2]",
    '"[1,2]"',
    '"a\n""b"',
    "é",
    "",
    ",",
    ",",
    ",",
    "\n",
    "\n",
    "\r\n",
    '"',
    " ",
    "\n\n",
    "\0",
]


def outcome(path: Path) -> tuple[object, ...]:
    """The cells of a published file, or what is wrong with it."""
    try:
        table = read_published_table(path, ["a"])
    except BadData as error:
        return (str(error),)
    return tuple((one.name, one.role, one.domain.labels, one.codes.tolist()) for one in table.columns)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=25), block=st.integers(1, 30), many=st.booleans())
def test_blocks_of_lines_are_read_as_the_whole_is(
    pieces: list[str], block: int, many: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("blocks", numbered=True) / "data.csv"
    path.write_bytes(("a,b\n" + "".join(pieces)).encode())
    expected = outcome(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published_blocks, "LARGE", 0)
        patch.setattr(published_blocks, "BLOCK", block)
        patch.setattr(published_blocks, "MANY", 2 if many else 100)
        assert outcome(path) == expected


def test_a_file_of_several_blocks_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\ufeffa,b\n" + '"[1,2]",x\n*,é\n' * 50, encoding="utf-8")
    expected = outcome(path)
    monkeypatch.setattr(published_blocks, "LARGE", 0)
    monkeypatch.setattr(published_blocks, "BLOCK", 64)
    monkeypatch.setattr("shoal.io.tables.load.open_input", None)
    assert outcome(path) == expected


def test_later_lines_may_be_shorter_than_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + f"{'long' * 20},y\n" * 3 + "1,x\n2,x\n" * 400)
    expected = outcome(path)
    monkeypatch.setattr(published_blocks, "LARGE", 0)
    monkeypatch.setattr(published_blocks, "BLOCK", 200)
    monkeypatch.setattr("shoal.io.tables.load.open_input", None)
    assert outcome(path) == expected


@given(runs=st.lists(st.tuples(st.sampled_from(["x", "", "é", None]), st.integers(1, 9)), min_size=1))
def test_texts_that_stand_together_are_placed_as_others(runs: list[tuple[str | None, int]]) -> None:
    cells = [text for text, times in runs for _ in range(times)]
    for first in (1, 8, len(cells) + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_cell_kinds, "_FIRST", first)
            values, places = _cell_kinds._text_places(pl.Series(cells, dtype=pl.String))
        assert len(set(values)) == len(values)
        assert None not in values.to_list()
        assert [[*values, None][place] for place in places.tolist()] == cells


@pytest.mark.parametrize("cells", [["x", "", 'a "b"', "[1,2]"], []])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_table_is_written_in_blocks_as_at_once(
    cells: list[str], columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Table(tuple(column(name, cells) for name in "ab"[:columns]))
    for rows in (1, 3, 500):
        monkeypatch.setattr(load, "WRITTEN", rows)
        load.write_table(made, tmp_path / f"{rows}.csv")
    assert len({(tmp_path / f"{rows}.csv").read_bytes() for rows in (1, 3, 500)}) == 1
    assert (tmp_path / "1.csv").read_text().startswith("a,b\n" if columns > 1 else "a\n")

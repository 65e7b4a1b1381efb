"""Rows in files within little memory give what they give in memory."""

import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.parts import MemoryParts

from shoal.data._frames import plain_texts
from shoal.data.dataset import Parts
from shoal.engines import _out_of_core, _text_blocks
from shoal.engines._text_numbers import TextNumbers
from shoal.engines.stream import Stream
from shoal.errors import BadData, EngineFailed, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.io.reading import Reading
from shoal.io.tables.distributed import open_parts
from shoal.io.tables.load import open_input
from shoal.kernels._compiling import eagerly
from shoal.verification import verify

SCHEMA: dict[str, Any] = {"number": pl.Int32, "name": pl.String}


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stream]:
    """An engine that has room for a handful of rows."""
    monkeypatch.setattr(_out_of_core, "ROWS", 7)
    monkeypatch.setattr(_text_blocks, "BLOCK", 50)
    engine = Stream("1GB", scratch=str(tmp_path))
    engine.memory = 300
    yield engine
    engine.close()
    assert not list(tmp_path.glob("shoal-*"))


FRAMES = st.lists(
    st.tuples(st.integers(0, 5), st.none() | st.sampled_from(["", "a", "ab", "\U0000ffff", "😀"])),
    max_size=80,
).map(lambda rows: pl.DataFrame(rows, schema=SCHEMA, orient="row"))
quick = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ordered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(frame.columns)


def doubled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("number") * 2).filter(pl.col("number") > 4)


def counted(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col("number").first(), pl.len().cast(pl.String).alias("name"))


@quick
@given(FRAMES)
def test_verbs(stream: Stream, frame: pl.DataFrame) -> None:
    there, here = stream.parts(frame).keep(), MemoryParts(frame)
    assert_frame_equal(there.map(doubled, SCHEMA).collect(), here.map(doubled, SCHEMA).collect())
    assert_frame_equal(there.select(["name"]).collect(), here.select(["name"]).collect())
    assert_frame_equal(there.sort(["name", "number"]).collect(), here.sort(["name", "number"]).collect())
    assert_frame_equal(
        ordered(there.group("number", counted, SCHEMA).collect()),
        ordered(here.group("number", counted, SCHEMA).collect()),
    )
    assert_frame_equal(there.counts(["name", "number"]), here.counts(["name", "number"]))
    assert there.fold(len, lambda one, other: one + other) == (frame.height or None)
    more = (there.union(stream.parts(frame)), here.union(MemoryParts(frame)))
    assert_frame_equal(*(ordered(parts.collect()) for parts in more))
    assert_frame_equal(there.collect(), frame)


@quick
@given(FRAMES, st.sampled_from([300, 2400, 9000]))
def test_kept_texts_are_counted_and_sorted(stream: Stream, frame: pl.DataFrame, memory: int) -> None:
    """As numbers while they wait, with room for all different texts, for some and for none."""
    stream.memory = memory
    there, here = stream.parts(frame).keep(), MemoryParts(frame)
    for name, counted in there.tallies(["name", "number"]).items():
        assert_frame_equal(counted, here.counts([name]))
    if not frame.height:
        return
    there, here = there.distinct(["name", "number"]).keep(), here.distinct(["name", "number"])
    assert_frame_equal(there.sort(["name", "number"]).collect(), here.sort(["name", "number"]).collect())
    assert_frame_equal(there.counts(["name"]), here.counts(["name"]))
    assert_frame_equal(
        ordered(there.select(["number", "name"]).collect()),
        ordered(here.select(["number", "name"]).collect()),
    )


def test_different_texts_stay_texts(stream: Stream) -> None:
    """Names that nobody shares are worth no numbers."""
    frame = pl.DataFrame(
        {"name": [f"{row * 7919 % 3001:05}" for row in range(3000)], "sex": ["f", "m"] * 1500}
    )
    numbers = TextNumbers.of(frame, 1 << 20)
    assert numbers is not None
    assert list(numbers.columns) == ["sex"]
    assert_frame_equal(stream.parts(frame).sort(["name"]).collect(), frame.sort("name"))


@pytest.mark.parametrize("rows", [[(1, "a")] * 300, [(1, "a")] * 300 + [(0, "b"), (2, None)]])
def test_equal_rows_beyond_memory_are_sorted(stream: Stream, rows: list[Any]) -> None:
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    assert_frame_equal(stream.parts(frame).sort(["number", "name"]).collect(), frame.sort("number", "name"))
    groups = stream.parts(frame).group("number", counted, SCHEMA).collect()
    assert_frame_equal(
        ordered(groups), ordered(MemoryParts(frame).group("number", counted, SCHEMA).collect())
    )


def test_write(stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.engines.stream.FILE", 300)
    frame = pl.DataFrame({"line": [f"line {number}" for number in range(70)]})
    parts: Parts = stream.parts(frame)
    count = parts.write(str(tmp_path / "out"), ".dat", "header")
    assert count > 1
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"part-{number:05}.dat" for number in range(count)]
    texts = [file.read_text() for file in files]
    assert all(text.startswith("header\n") for text in texts)
    assert "".join(text.removeprefix("header\n") for text in texts) == "".join(
        f"line {n}\n" for n in range(70)
    )
    parts.write(str(tmp_path / "columns"), ".parquet")
    files = sorted((tmp_path / "columns").iterdir())
    assert_frame_equal(pl.concat([pl.read_parquet(file) for file in files]), frame)


TEXT = "a;b;c\n" + "".join(f'{row};"x;\n{row}";"""{row}"""\n{row + 1};ä;\n' for row in range(20))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ended", [True, False])
def test_delimited_text(stream: Stream, tmp_path: Path, packed: bool, ended: bool) -> None:
    path = tmp_path / ("people.csv.gz" if packed else "people.csv")
    data = (TEXT if ended else TEXT.removesuffix("\n")).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    found = open_parts(path, stream)
    opened = open_input(path, Reading())
    assert found.names == opened.names
    assert_frame_equal(found.parts.collect(), opened.frame(opened.names))
    assert_frame_equal(found.parts.select(["c", "a"]).collect(), opened.frame(["c", "a"]))


@pytest.mark.parametrize("memory", [300, 30_000])
def test_texts_come_as_categories(stream: Stream, tmp_path: Path, memory: int) -> None:
    """A kernel numbers the cells of a block, or leaves it to the reader; sorted, grouped and kept they are the same."""
    cells = ["x", '"a,b"', "", "*", '"say ""fish"""', "ä", "ab", '"ab"']
    lines = [f"{cells[row % 8]},{cells[row * row % 7]},{row % 5}" for row in range(200)]
    lines[77] = " spread , 'out',3"
    path = tmp_path / "rows.csv"
    path.write_text("name,other,number\n" + "\n".join(lines) + "\n", encoding="utf-8")
    stream.memory = memory
    parts = open_parts(str(path), stream).parts
    expected = parts.collect()
    with eagerly():
        kept, direct = parts.keep(), parts.as_categories()
        assert_frame_equal(plain_texts(pl.concat(map(plain_texts, direct._all()))), expected)
        assert_frame_equal(kept.collect(), expected)
        for one in (kept.as_categories(), direct):
            some = one.select(["number", "other"])
            assert_frame_equal(
                plain_texts(pl.concat(map(plain_texts, some.sort(["other", "number"])._all()))),
                expected.select("number", "other").sort("other", "number"),
            )
            counts = plain_texts(some.counts(["other"])).sort("other")
            assert_frame_equal(counts, parts.counts(["other"]), check_column_order=False)


def test_faults_name_the_line(stream: Stream, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "1\n" + "1,2\n" * 50)
    with pytest.raises(BadData, match=r"people\.csv, line 52: 1 cell where there are 2 columns"):
        open_parts(path, stream).parts.collect()
    path.write_bytes(b"a,b\n" + b"1,2\n" * 50 + b"\xe4,1\n")
    with pytest.raises(BadData, match=r"people\.csv, line 52: byte 0xE4 is not UTF-8"):
        open_parts(path, stream).parts.collect()
    folder = tmp_path / "parts.csv"
    folder.mkdir()
    (folder / "part-0.csv").write_text("a,b\n1,2\n")
    (folder / "part-1.csv").write_text("b,a\n1,2\n")
    with pytest.raises(BadData, match=r"part-1\.csv: the files do not have the same header"):
        open_parts(folder, stream).parts.collect()
    with pytest.raises(BadData, match="no such file"):
        open_parts(tmp_path / "nobody.csv", stream)


def test_a_quote_that_nothing_closes(stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told before all text behind it is in memory; each line is looked at once on the way."""
    monkeypatch.setattr(_text_blocks, "LONGEST", 500)
    path = tmp_path / "people.csv"
    path.write_text("name,age\n" + "Ann,1\n" * 20 + '"Bob,2\n' + "Ann,1\n" * 200)
    with pytest.raises(BadData, match="quote is opened that nothing closes") as fault:
        open_parts(path, stream, Reading()).parts.collect()
    assert fault.value.line == 22


def test_parquet(stream: Stream, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": range(50), "b": ["x", None] * 25})
    frame.write_parquet(tmp_path / "people.parquet")
    found = open_parts(tmp_path / "people.parquet", stream)
    assert_frame_equal(found.parts.collect(), frame)
    assert_frame_equal(found.parts.select(["b"]).collect(), frame.select("b"))


def test_lines(stream: Stream, tmp_path: Path) -> None:
    lines = ["", "1 2 3", 'a "quote', "ä", "", "x" * 90]
    (tmp_path / "sets.dat").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert stream.lines(str(tmp_path / "sets.dat")).collect()["line"].to_list() == lines


@pytest.mark.parametrize("end", [" ", "\r", "\t \r"])
def test_a_blank_last_line_without_an_end_is_a_line(stream: Stream, tmp_path: Path, end: str) -> None:
    path = tmp_path / "sets.dat"
    path.write_bytes(f"a b\n{end}".encode())
    lines = stream.lines(str(path)).collect()["line"]
    assert len(lines) == len(read_baskets(path, baskets="lines")) == 2


@pytest.mark.parametrize("block", [1, 2, 3, 4, 5, 8, 9, 16])
@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n\n\n\n\n"])
def test_blank_lines_are_refused_wherever_a_block_ends(
    stream: Stream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, blank: str
) -> None:
    monkeypatch.setattr(_text_blocks, "BLOCK", block)
    path = tmp_path / "data.csv"
    path.write_bytes(f"a,b\n1,x\n1,x\n{blank}".encode())
    assert verify(path, k=2, quasi="a", engine=stream)[0].holds
    path.write_bytes(f"a,b\n1,x\n{blank}1,x\n".encode())
    for engine in (None, stream):
        with pytest.raises(BadData, match="line 3: the line is blank"):
            verify(path, k=2, quasi="a", engine=engine)


@pytest.mark.parametrize(("header", "message"), [(b"a,b\xff", "0xFF is not UTF-8"), (b"a,b\0", "binary")])
def test_headers_must_be_utf_8(stream: Stream, tmp_path: Path, header: bytes, message: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(header + b"\n1,x\n1,x\n")
    with pytest.raises(BadData, match=message):
        open_parts(path, stream).parts.select(["a"]).collect()
    with pytest.raises(BadData, match=message):
        open_input(path, Reading())


@pytest.mark.parametrize("end", [" ", "\t", " \n"])
def test_a_blank_last_line_of_a_published_table_is_refused(stream: Stream, tmp_path: Path, end: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f"a,b\n1,x\n1,x\n{end}")
    for engine in (None, stream):
        with pytest.raises(BadData, match="line 4: 1 cell where there are 2 columns"):
            verify(path, k=2, quasi="a", engine=engine)
    assert open_parts(path, stream).parts.collect().height == 2


def test_more_combinations_than_memory_holds_are_refused(stream: Stream) -> None:
    parts = stream.parts(pl.DataFrame({"a": range(200), "b": [0] * 200}))
    assert parts.counts(["a", "b"]).height == 200
    stream.countable = 1000
    assert parts.counts(["b"]).height == 1
    with pytest.raises(WrongUse, match=r"combinations of a, b than the allowed memory holds.*`memory`"):
        parts.counts(["a", "b"])


def test_an_engine_that_nobody_closes_leaves_no_rows(tmp_path: Path) -> None:
    program = (
        "import polars as pl\nfrom shoal.engines.stream import Stream\n"
        f"engine = Stream('1GB', scratch={str(tmp_path)!r})\nengine.memory = 1\n"
        "engine.parts(pl.DataFrame({'a': range(100)})).sort(['a']).collect()\nkept = engine\n"
        f"import os\nassert os.listdir({str(tmp_path)!r})\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not list(tmp_path.iterdir())


def test_wide_rows_come_few_at_a_time(stream: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    """However wide rows are, frames hold no more bytes than are worked on at once."""
    monkeypatch.setattr(_out_of_core, "ROWS", 1000)
    monkeypatch.setattr(_out_of_core, "BYTES", 2000)
    wide = pl.DataFrame({"number": range(100), "name": [f"{number:0100}" for number in range(100)]})
    sizes: list[int] = []

    def looked_at(frame: pl.DataFrame) -> pl.DataFrame:
        sizes.append(frame.height)
        return frame

    schema = {"number": pl.Int64, "name": pl.String}
    parts = stream.parts(wide).map(looked_at, schema).keep()
    assert parts.collect().height == 100
    assert parts.map(looked_at, schema).sort(["name"]).map(looked_at, schema).collect().height == 100
    assert max(sizes) <= 25


KINDS = {
    "A": pl.Series(["a\0b", None, "", "é"] * 9),
    "a": pl.Series([[2, 1], None, [], [2]] * 9, dtype=pl.List(pl.Int32)),
    "^b$": pl.Series([1, 2**70, None, -1] * 9, dtype=pl.Int128),
    "c": pl.Series([1, None, 2, 3] * 9, dtype=pl.Datetime("us", "Europe/Berlin")),
    "d": pl.Series([1, None, 2, 3] * 9, dtype=pl.Duration("ns")),
    "e": pl.Series(["x", None, "y", "x"] * 9, dtype=pl.Enum(["y", "x"])),
    "f": pl.Series([float("nan"), None, 0.5, -0.5] * 9),
    "nothing": pl.Series([None] * 36, dtype=pl.Null),
    "number": pl.Series([1, 2, 3, 4] * 9, dtype=pl.Int16),
}


@pytest.mark.parametrize("key", ["A", "a", "number", "f", "c"])
def test_rows_of_all_kinds_come_back_from_the_disk(stream: Stream, key: str) -> None:
    """Whatever the names, and though names that differ in case alone are one to a database."""
    frame = pl.DataFrame(KINDS)
    assert_frame_equal(stream.parts(frame).sort([key, "number"]).collect(), frame.sort(key, "number"))
    held = stream.parts(frame).distinct(frame.columns).collect()
    assert_frame_equal(
        held.sort("number"), frame.unique().with_columns(pl.lit(9, pl.Int64).alias("(rows)")).sort("number")
    )


def test_a_disk_that_cannot_be_used_is_told_in_one_sentence(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    def refuse(**_: Any) -> None:
        raise duckdb.IOException("IO Error: no space left on device\nand a page more")

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(EngineFailed, match=r"no space left on device\. Allow more memory.*TMPDIR"):
        stream.parts(pl.DataFrame({"a": range(300)})).sort(["a"]).collect()


@pytest.mark.parametrize("text", ["", "4", "100MB", "4 parrots", "-1GB"])
def test_wrong_memory(text: str) -> None:
    with pytest.raises(WrongUse, match="emory"):
        Stream(text)

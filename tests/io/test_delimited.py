import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.naive import encoding

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.io.reading import Reading
from shoal.io.tables import delimited as shape
from shoal.io.tables.delimited import Delimited, find_separator, regular_lines, write_delimited
from shoal.io.tables.encode import encode_published, encode_table
from shoal.io.tables.input import FrameInput
from shoal.io.tables.load import write_table
from shoal.kernels._compiling import eagerly

CELL = st.text(alphabet='ab1 ,;"\n\té', max_size=6)


def opened(data: str | bytes, reading: Reading | None = None, **options: bool) -> Delimited:
    text = data.encode() if isinstance(data, str) else data
    return Delimited("people.csv", reading or Reading(), text=text, **options)


def read(data: str | bytes, reading: Reading | None = None) -> list[tuple[str, ...]]:
    table = opened(data, reading)
    return [tuple(table.names), *table.frame(table.names).rows()]


def quoted(cell: str, always: bool, separator: str) -> str:
    needed = any(mark in cell for mark in (separator, '"', "\n", "\r"))
    return '"' + cell.replace('"', '""') + '"' if always or needed else cell


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str, list[list[str]]]:
    """A file, its separator, and its rows."""
    separator = draw(st.sampled_from(",;\t|"))
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [separator.join(f"c{place}" for place in range(width))]
    for row in rows:
        always = draw(st.booleans()) or width == 1
        lines.append(separator.join(quoted(cell, always, separator) for cell in row))
    return end.join(lines) + draw(st.sampled_from(["", end, end * 3])), separator, rows


@given(files(), st.booleans())
@example(('c0\n""\n""\n', ",", [[""], [""]]), True)
def test_cells_come_out_as_they_went_in(file: tuple[str, str, list[list[str]]], small_blocks: bool) -> None:
    text, separator, rows = file
    with pytest.MonkeyPatch.context() as patch:
        if small_blocks:
            patch.setattr(shape, "_BLOCK", 7)
        found = read(text, Reading(separator=separator))
    # A quoted cell may keep a carriage return; an unquoted one with blanks beside nothing quoted keeps its blanks.
    assert found[1:] == [tuple(row) for row in rows]
    assert [list(row) for row in found] == encoding.rows_of(text, separator)


@given(st.text(alphabet='ab,"\n\r ', max_size=24), st.integers(1, 4))
@example('"a,b",c\n', 2)
@example('"a""b"\n', 1)
def test_large_texts_are_judged_alike(text: str, width: int) -> None:
    plain = regular_lines(text.encode() + b"\n", ",", width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shape, "_LARGE", 0)
        assert regular_lines(text.encode() + b"\n", ",", width) == plain


@st.composite
def repeating(draw: st.DrawFn) -> tuple[str, int]:
    """A regular text, nearly, whose cells are short and long and stand together or apart."""
    width = draw(st.integers(1, 3))
    plain = st.text(alphabet="abcdé ", max_size=20)
    written = st.text(alphabet='ab,\n\r"', max_size=20).map(lambda cell: '"' + cell.replace('"', '""') + '"')
    cells = draw(st.lists(plain | written, min_size=1, max_size=4))
    rows = draw(st.lists(st.lists(st.sampled_from(cells), min_size=width, max_size=width), max_size=12))
    return "\n".join(map(",".join, rows)), width


@given(repeating() | st.tuples(st.text(alphabet='ab,"\n\r ', max_size=24), st.integers(1, 4)))
@example(("", 1))
@example(('""\n"abcdefgh"\n"abcdefgh"', 1))
@example(("abcdefg,b\nabcdefgh,b\nabcdefg,b", 2))
def test_cells_are_numbered_as_they_are_read(file: tuple[str, int]) -> None:
    """Wherever compiled code finds all lines regular."""
    text, width = file
    header = ",".join(f"c{place}" for place in range(width))
    try:
        table = opened(f"{header}\n{text}\n", Reading(separator=","))
    except BadData:
        return
    asked = list(reversed(table.names))[: max(width - 1, 1)]
    assert table.numbered(asked) is None  # it is not worth the while
    with eagerly():
        found = table.numbered(asked)
    if found is None:
        odd = "\r" in text or '"' in text
        assert odd or any(len(row) != width for row in encoding.rows_of(text + "\n", ","))
        return
    frame = table.frame(asked)
    assert (found.columns, found.height) == (frame.columns, frame.height)
    for name in asked:
        assert found[name].texts.gather(found[name].places).to_list() == frame[name].to_list()


@given(st.lists(st.lists(CELL | st.none(), min_size=6, max_size=6), min_size=1, max_size=3), st.booleans())
@example([["", None, "=1", "a,b", '"', "\r"]], True)
def test_texts_are_written_alike_by_a_kernel(columns: list[list[str | None]], safe_cells: bool) -> None:
    frame = pl.DataFrame({f"c{place}": cells for place, cells in enumerate(columns)}, strict=False)
    texts = frame.cast(pl.String)
    codes = np.arange(60, dtype=np.int32) * 7 % 6
    made = []
    for name in texts.columns:
        column = encode_published(FrameInput(texts), [(name, Role.QUASI)]).columns[0]
        made.append(replace(column, codes=column.codes[codes]))
    table = Table(tuple(made))
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".csv", ".tsv"):
            plain, joined = Path(folder) / f"plain{ending}", Path(folder) / f"joined{ending}"
            write_table(table, plain, safe_cells=safe_cells)
            with eagerly(), pytest.MonkeyPatch.context() as patch:
                patch.setattr(shape, "_ROWS", 16)
                patch.setattr(shape, "_JOINED", 100)
                write_table(table, joined, safe_cells=safe_cells)
            assert joined.read_bytes() == plain.read_bytes()


def test_the_cells_of_very_many_columns_are_not_numbered() -> None:
    """Each column has tables of its own, in which its cells are looked up."""
    for columns, rows in ((2_000, 3), (600, 2_000)):
        names = [f"c{place}" for place in range(columns)]
        table = opened("\n".join([",".join(names), *[",".join(["1"] * columns)] * rows, ""]))
        with eagerly():
            found = table.numbered(names)
        assert (found is None) == (columns == 600)


def test_columns_of_very_many_cells_are_not_numbered() -> None:
    text = "a,b\n" + "".join(f"{number},{number % 7}\n" for number in range(40_000))
    table = opened(text)
    with eagerly():
        assert table.numbered(["a"]) is table.numbered(["b", "a"]) is None
        found = table.numbered(["b"])
    assert found is not None
    assert found["b"].texts.to_list() == list("0123456")


@given(st.text(alphabet='ab,"\n\r ', max_size=24), st.integers(1, 4))
@example("a,b", 3)
@example("a,b\nb", 2)
@example('a,"b\na,b', 2)
@example('"a"\n"b"b"', 1)
def test_what_is_proved_regular_is_read_alike_by_all(text: str, width: int) -> None:
    lines = regular_lines(text.encode() + b"\n", ",", width)
    if lines is None:
        return
    rows = encoding.rows_of(lines.text.decode(), ",")
    if "\r" not in lines.text.decode():
        assert [row for row in rows if len(row) != width] == []
        assert len(rows) == lines.rows
    frame = pl.read_csv(
        lines.text,
        has_header=False,
        schema={str(place): pl.String for place in range(width)},
        quote_char='"' if lines.quoted else None,
    ).fill_null("")
    assert frame.height == lines.rows
    if "\r" not in text:
        assert [list(row) for row in frame.rows()] == rows


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b;c\n1,5;2;3\n", ";"),
        ("a\tb\nx, y\tz\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a\nx;y\nz\n", ","),
        ('"a;b",c\n1,2\n', ","),
        ("a,b;c,d\n1,2;3,4\n", ","),
        ("age;zip\n[20,30];123\n[30,40];456\n", ";"),
        ("one\n1\n2\n", ","),
    ],
)
def test_the_separator_is_found(text: str, separator: str) -> None:
    assert find_separator(text.encode()) == separator


def test_names_help_to_find_the_separator() -> None:
    assert find_separator(b"1,5;2,5\n3,5;4,5\n", ["a", "b"]) == ";"
    assert read("1,5;2,5\n", Reading(names=("a", "b"))) == [("a", "b"), ("1,5", "2,5")]


def test_blanks_around_quotes() -> None:
    assert read('a, "b c" , d\n1,  "x, y" , 2\n') == [("a", "b c", "d"), ("1", "x, y", " 2")]


def test_quotes_inside_a_cell_are_text() -> None:
    assert read('size,color\n5" pipe,"red"\n6",blue\n') == [
        ("size", "color"),
        ('5" pipe', "red"),
        ('6"', "blue"),
    ]


def test_a_quoted_line_break_in_the_header() -> None:
    table = opened('"a\nb",c\n1,2\n3\n')
    assert table.names == ("a\nb", "c")
    with pytest.raises(BadData, match="line 4: 1 cell where there are 2 columns"):
        table.frame(table.names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n4,5\n", r"people\.csv, line 3: 1 cell where there are 2 columns"),
        ("a,b\n1,2\n3,4,5\n", r"line 3: 3 cells where there are 2 columns"),
        ("a,b\n1,2\n3,4,5\n6\n", r"line 3: 3 cells"),
        ("a,b\n1\n2,3,4\n", r"line 2: 1 cell "),
        ("a,b\n1,2\n\n3,4\n", r"line 3: the line is blank"),
        ("a\n1\n\n3\n", r"line 3: the line is blank"),
        ('a,b\n"x\ny",1\n2\n', r"line 4: 1 cell "),
        ('a,b\n1,2\n"x,3\n4,5\n', r"line 3: a quote is opened here and never closed"),
        ('a,b\n"x"y,3\n', r"line 2: text follows a closing quote"),
        ("a,b\n", "no rows below the header"),
        ("a,b\n\n \n", "no rows below the header"),
        ("\na,b\n1,2\n", "line 1: the first line is blank"),
        ("a,a\n1,2\n", "line 1: two columns have the name 'a'"),
        ("a, a\n1,2\n", "line 1: two columns have the name 'a'"),
        (",a\n1,2\n", "line 1: column 1 of 2 has no name"),
        ('"a,b\n1,2\n', "line 1: the header opens a quote that is never closed"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(BadData, match=message):
        read(text)


def test_ragged_lines_of_a_file_without_a_header() -> None:
    with pytest.raises(BadData, match="line 1: 3 cells where there are 2 columns"):
        read("1,2,3\n", Reading(names=("a", "b"), separator=","))


def test_a_ragged_line_far_down_is_found() -> None:
    lines = ["a,b,c"] + ["1,2,3"] * 200_000
    lines[123_456] = "1,2"
    lines[123_457] = "1,2,3,4"
    with pytest.raises(BadData, match="line 123457: 2 cells"):
        read("\n".join(lines))


def test_only_the_columns_that_are_asked_for_are_read() -> None:
    table = opened("a,b,c\n1,2,3\n")
    assert table.frame(["c", "a"]).to_dict(as_series=False) == {"c": ["3"], "a": ["1"]}


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6), st.booleans())
def test_written_text_is_read_again(rows: list[tuple[str, str]], single: bool) -> None:
    columns = ["x"] if single else ["x", "y, z"]
    frame = pl.DataFrame(rows, schema=["x", "y, z"], orient="row").select(columns)
    text = frame_text(frame)
    table = opened(text, Reading(separator=","), trim=False)
    assert table.frame(table.names).equals(frame)


def frame_text(frame: pl.DataFrame) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_delimited(frame, target := Path(folder) / "data.csv")
        return target.read_bytes()


def test_missing_cells_are_written_empty() -> None:
    assert frame_text(pl.DataFrame({"a": ["x", None, ""], "b": ["1", "2", None]})) == b"a,b\nx,1\n,2\n,\n"
    assert frame_text(pl.DataFrame({"a": ["x", None, ""]})) == b'a\nx\n""\n""\n'


def test_a_few_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    text, names = "a,b,c,d\n1,x,?,\n2,y,5,é\n", ["d", "b", "c", "a"]
    whole = opened(text).frame(names)
    monkeypatch.setattr(shape, "_ROOM", 100)
    parts = list(opened(text).pieces(names))
    assert [part.columns for part in parts] == [["d", "b"], ["c", "a"]]
    assert pl.concat(parts, how="horizontal").equals(whole)
    roles = [(name, Role.QUASI) for name in names]
    table = encode_table(opened(text), roles, Reading(missing=("?",), drop_missing=True), ["d"]).table
    assert [column.domain.labels for column in table.columns] == [("é",), ("y",), ("5",), ("2",)]
    published = encode_published(opened(text), roles)
    assert [column.domain.labels for column in published.columns] == [
        ("", "é"),
        ("x", "y"),
        ("5", "?"),
        ("1", "2"),
    ]

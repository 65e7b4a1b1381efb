"""Reading baskets in all layouts, and refusing what is wrong with them."""

import gzip
import io
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.baskets import Baskets
from shoal.errors import BadData, ShoalWarning, UnknownName, WrongUse
from shoal.io.baskets import numbered_texts
from shoal.io.baskets.assembly import from_few_lines, from_tokens
from shoal.io.baskets.layouts import SAMPLE, Layout, find_layout, parse_layout, published_name
from shoal.io.baskets.lines import read_lines
from shoal.io.baskets.load import read_baskets


def sets(baskets: Baskets) -> list[tuple[str, ...]]:
    return [baskets.basket(row) for row in range(len(baskets))]


def read(tmp_path: Path, text: str | bytes, name: str = "input.dat", **options: object) -> Baskets:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_baskets(path, **options)  # type: ignore[arg-type]


WINE = [("meat", "wine"), (), ("cream", "meat", "strawberry"), ("wine",)]


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("lines", "wine meat\n\nmeat cream strawberry\nwine\n"),
        ("lines", "wine meat\n\nmeat cream strawberry\nwine"),
        ("lines", "  wine \t meat\r\n\r\nmeat cream cream  strawberry \r\nwine wine\r\n"),
        ("lines", "\ufeffwine meat\n\nmeat cream strawberry\nwine\n"),
        ("lines:,", "wine, meat\n\nmeat,cream ,,strawberry\n wine,\n"),
        ("lines:,", "wine,meat,\r\n\r\n,meat,cream,\t,strawberry\r\nwine, \r\n"),
        ("spmf", "wine -1 meat -1 -2\n-2\nmeat -1 cream -1 strawberry -1 -2\nwine -1 -2\n"),
        (
            "spmf",
            "@CONVERTED\n@ITEM=1=x\nwine meat -1 -2\n\n-2\n# no basket\nmeat cream -1 strawberry -1 -2\nwine -2",
        ),
        ("long", "id,item\n7,wine\n7,meat\n8,\n9,meat\n9,cream\n9,strawberry\n9,meat\n4,wine\n"),
        ("long", "id;item\n7;wine\n8;\n9;meat\n4;wine\n9;cream\n7;meat\n9;strawberry\n"),
        (
            "long:id,item",
            "price,item,id\n1,wine,7\n1,meat,7\n2,,8\n1,meat,9\n3,cream,9\n3,strawberry,9\n1,wine,4\n",
        ),
        ("matrix", "wine,meat,cream,strawberry\n1,1,0,0\n0,0,0,0\n0,1,1,1\n1,0,0,0\n"),
        ("matrix", "wine;meat;cream;strawberry;beer\r\n1;1;0;0;0\r\n0;0;0;0;0\r\n0;1;1;1;0\r\n1;0;0;0;0"),
        ("matrix", ',wine,meat,cream,"strawberry"\n0,1,1,0,0\n1,0,0,0,0\n10,0,1,1,1\nx,1,0,0,0\n'),
        ("matrix", "wine meat cream strawberry\n1 1 0 0\n0  0 0 0 \n0 1 1 1\n1 0 0 0\n"),
        ("column:bought", "who,bought\nann,wine|meat\nbob,\ncy,meat|cream|strawberry\ndi,wine\n"),
        ("column:bought", 'who,bought\nann,"wine, meat"\nbob,""\ncy,"meat, cream, strawberry"\ndi,wine\n'),
        ("column:bought", "bought\twho\nwine meat\tann\n\tbob\nmeat cream strawberry\tcy\nwine\tdi\n"),
    ],
)
def test_layouts(tmp_path: Path, layout: str, text: str) -> None:
    baskets = read(tmp_path, text, baskets=layout)
    assert sets(baskets) == WINE
    assert baskets.vocabulary == ("cream", "meat", "strawberry", "wine")
    assert baskets.items.dtype == np.int32
    assert baskets.layout == {"long": "long:id,item"}.get(layout, layout)


@pytest.mark.parametrize(
    ("text", "name", "layout"),
    [
        ("\n\n\n", "x.dat", "lines"),
        ("1 2 3\n4\n", "x.dat", "lines"),
        ("bread\nmilk\n", "x.txt", "lines"),
        ("1 -1 2 -1 -2\n", "x.txt", "spmf"),
        ("@CONVERTED_FROM_TEXT\n1 -1 2 -1 -2\n", "x", "spmf"),
        ("a,b,c\n1,0,1\n", "x.csv", "matrix"),
        ("1,0,1\n0,0,0\n", "x.csv", "matrix"),
        ("1 0 1\n0 0 0\n", "x.dat", "matrix"),
        ("1 0\n0 0\n", "x.dat", "matrix"),
        (",a,b\n0,1,1\n1,0,1\n17,0,1\n", "x.csv", "matrix"),
        ("InvoiceNo,StockCode\n1,a\n1,b\n", "x.csv", "long:InvoiceNo,StockCode"),
        ("customer;product\n1;a\n", "x.csv", "long:customer;product".replace(";", ",")),
        ("basket\titem\n1\ta b\n", "x.tsv", "long:basket,item"),
    ],
)
def test_layouts_that_are_found(text: str, name: str, layout: str) -> None:
    assert str(find_layout(text.encode(), name)) == layout


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\nc\n", "x.dat"),
        ("a,b\nc,d\n", "x.csv"),
        ("items\n1 2\n3\n", "x.csv"),
        ("items\n1 2\n3\n", "x.csv.gz"),
        ("0 1\n1 0\n", "x.dat"),
        ("name,age,disease\nann,30,flu\n", "x.csv"),
    ],
)
def test_ambiguous_files_are_refused(text: str, name: str) -> None:
    with pytest.raises(WrongUse, match="`baskets`"):
        find_layout(text.encode(), name)


def test_what_to_say_is_named_as_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\nc\n")
    frame = pl.DataFrame({"a": ["x"], "b": ["y"], "c": ["z"]})
    for source in (path, frame):
        with pytest.raises(WrongUse, match=r"baskets.*long:ID,ITEM"):
            read_baskets(source)


def test_the_sample_may_end_inside_a_line() -> None:
    text = b"1,0,1\n" * (SAMPLE // 6 + 1)
    assert str(find_layout(text[:SAMPLE])) == "matrix"


def test_a_separator_alone_means_lines(tmp_path: Path) -> None:
    baskets = read(tmp_path, "red wine|meat\nmeat\n", separator="|")
    assert sets(baskets) == [("meat", "red wine"), ("meat",)]
    assert baskets.layout == "lines:|"


def test_a_matrix_without_names_counts_items_from_0(tmp_path: Path) -> None:
    assert sets(read(tmp_path, "1,0,1\n0,1,0\n")) == [("0", "2"), ("1",)]


def test_a_matrix_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.io.baskets.matrix.BLOCK", 7)
    rows = np.random.default_rng(1).integers(0, 2, (20, 5))
    text = "a,b,c,d,e\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    wanted = [tuple("abcde"[place] for place in np.flatnonzero(row)) for row in rows]
    assert sets(read(tmp_path, text)) == wanted
    with pytest.raises(BadData, match=r"line 21, column 'c': the cell '7'"):
        read(tmp_path, text[:-6] + "7" + text[-5:], baskets="matrix")


def test_the_vocabulary_is_in_code_point_order(tmp_path: Path) -> None:
    baskets = read(tmp_path, "b é a 10 9 Z \U0001f41f z\n")
    assert baskets.vocabulary == ("10", "9", "Z", "a", "b", "z", "é", "\U0001f41f")
    assert sets(baskets) == [baskets.vocabulary]


def test_a_file_of_blank_lines_is_a_file_of_empty_baskets(tmp_path: Path) -> None:
    assert sets(read(tmp_path, "\n\n\n", baskets="lines")) == [(), (), ()]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_files(tmp_path: Path, pack: object) -> None:
    assert sets(read(tmp_path, pack(b"a b\nc\n"), name="x.dat.gz")) == [("a", "b"), ("c",)]  # type: ignore[operator]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (b"a b\nc\n", b"id,item\n1,a\n1,b\n2,c\n", b"a,b,c\n1,1,0\n0,0,1\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert sets(read_baskets("-")) == [("a", "b"), ("c",)]


def test_python_collections() -> None:
    baskets = read_baskets([["b", "a", "b"], set(), {3, 20}, (item for item in "xy")])
    assert sets(baskets) == [("a", "b"), (), ("20", "3"), ("x", "y")]
    assert baskets.layout == "lines"
    assert read_baskets([["red wine"]]).layout == "long:basket,item"


def test_frames(tmp_path: Path) -> None:
    lists = pl.DataFrame({"who": [1, 2, 3], "bought": [["b", "a"], [], None]})
    with pytest.warns(ShoalWarning, match="baskets are missing"):
        assert sets(read_baskets(lists)) == [("a", "b"), (), ()]
    lists = lists.with_columns(pl.col("bought").fill_null([]))
    long = pl.DataFrame({"basket": [1, 1, 2], "item": ["b", "a", None]})
    assert sets(read_baskets(long)) == [("a", "b"), ()]
    assert sets(read_baskets(long.lazy(), baskets="long:basket,item")) == [("a", "b"), ()]
    numbers = pl.DataFrame({"basket": [1.0, 1.0, 2.0], "item": [7.0, 8.0, float("nan")]})
    assert sets(read_baskets(numbers)) == [("7", "8"), ()]
    lists.write_parquet(tmp_path / "x.parquet")
    assert sets(read_baskets(tmp_path / "x.parquet")) == [("a", "b"), (), ()]
    assert read_baskets(tmp_path / "x.parquet").layout == "column:bought"
    wide = long.with_columns(price=1)
    with pytest.raises(WrongUse, match="basket, item, price"):
        read_baskets(wide)
    with pytest.raises(WrongUse, match="no layout spmf"):
        read_baskets(long, baskets="spmf")
    with pytest.raises(BadData, match="holds no texts"):
        read_baskets(lists, baskets="long:who,bought")


def test_pandas_and_arrow_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"basket": [1, 1, 2], "item": ["b", "a", "c"]}, index=[5, 5, 9])
    assert sets(read_baskets(frame)) == [("a", "b"), ("c",)]
    pyarrow = pytest.importorskip("pyarrow")
    assert sets(read_baskets(pyarrow.table({"x": [["a"], ["b", "c"]]}))) == [("a",), ("b", "c")]


def test_roles_of_items() -> None:
    baskets = read_baskets([["a", "b", "c"]], sensitive=["c", "b"], insensitive=["a"])
    assert baskets.sensitive.tolist() == [1, 2]
    assert baskets.insensitive.tolist() == [0]
    with pytest.raises(UnknownName, match=r"There is no item 'viagr'. Did you mean 'viagra'"):
        read_baskets([["viagra"]], sensitive=["viagr"])
    with pytest.raises(WrongUse, match="sensitive and insensitive"):
        read_baskets([["a"]], sensitive=["a"], insensitive=["a"])
    with pytest.raises(WrongUse, match="as a list"):
        read_baskets([["a"]], sensitive="a")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"", {}, "is empty"),
        (b"a b\n\x00\x01\x02\n", {}, "line 2: .*binary"),
        (b"\x89PNG\r\n\x1a\n\x00", {}, "binary"),
        (b"a\nb \xff\n", {}, "line 2: .*UTF-8"),
        (gzip.compress(b"a b c d e f g\n" * 9, mtime=0)[:-12], {}, "cut off"),
        (b"1 -1 -2\n\n@x\n1 -1 2 -1\n", {"baskets": "spmf"}, "line 4: .*ends with -2"),
        (b"@ITEM=1=x\n\n", {"baskets": "spmf"}, "no baskets"),
        (b"1 -1 -2 3 -1 -2\n", {"baskets": "spmf"}, "line 1: .*ends with -2"),
        (b"1 -1 -2\n2 -1 #3 -1 -2\n", {"baskets": "spmf"}, "line 2: the item '#3'"),
        (b"a,b\n1,0\n0,1\n2,0\n", {"baskets": "matrix"}, "line 4, column 'a': the cell '2' is neither"),
        (b"a,b\n1,0\n0,\n", {"baskets": "matrix"}, "line 3, column 'b': the cell ''"),
        (b",a,b\n7,1,0\n8,0,yes\n", {"baskets": "matrix"}, "line 3, column 'b': the cell 'yes'"),
        (b"a,b\n1,0\n0,1,1\n", {"baskets": "matrix"}, "line 3: the line has 3 cells where 2"),
        (b"a,b\n1,0\n\n0,1\n", {"baskets": "matrix"}, "line 3: the line has 1 cells where 2"),
        (b"a,b\n", {"baskets": "matrix"}, "no baskets"),
        (b"\r\n1,0\r\n0,1\r\n", {"baskets": "matrix"}, "line 1: the first line is blank"),
        (b"a\rb,c\r1,0\r", {"baskets": "matrix"}, "line 1: the line cannot be read"),
        (b"a,a\n1,0\n", {"baskets": "matrix"}, "line 1: two items are called 'a'"),
        (b"a,\n1,0\n", {"baskets": "matrix"}, "line 1: an item has no name"),
        (b"id,item\n1,a\n,b\n", {"baskets": "long"}, "line 3, column 'id': .*which basket"),
        (b"id,item\n1,a\n2,b,c\n", {"baskets": "long"}, "line 3"),
        (b"id,item\n", {"baskets": "long"}, "no rows"),
        (b"item\na\n", {"baskets": "long"}, "here is one"),
    ],
)
def test_bad_files(tmp_path: Path, text: bytes, options: dict[str, str], message: str) -> None:
    with pytest.raises(BadData, match=message) as caught:
        read(tmp_path, text, name="bad.dat", **options)
    assert "bad.dat" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1\n")
    with pytest.raises(BadData, match=r"Did you mean 'retail.dat'"):
        read_baskets(tmp_path / "retai.dat")


@pytest.mark.parametrize("layout", ["long:basket,itm", "column:itm"])
def test_unknown_columns_are_named(tmp_path: Path, layout: str) -> None:
    with pytest.raises(UnknownName, match=r"no column 'itm'. Did you mean 'item'"):
        read(tmp_path, "basket,item\n1,a\n", baskets=layout)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ([], BadData, "there are no baskets"),
        (["bread milk"], WrongUse, "Basket 1 is 'bread milk'"),
        ([["a"], 3], WrongUse, "Basket 2 is 3"),
        (7, WrongUse, "not from a int"),
    ],
)
def test_bad_collections(source: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_baskets(source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "layout",
    [
        "rows",
        "spmf:x",
        "matrix:x",
        "long:a",
        "long:a,b,c",
        "long:a,a",
        "long:",
        "column",
        "column:",
        "lines:ab",
    ],
)
def test_layouts_that_there_are_not(layout: str) -> None:
    with pytest.raises(WrongUse):
        parse_layout(layout)


def test_texts_of_layouts() -> None:
    for text in ("lines", "lines:|", "spmf", "matrix", "long", "long:a,b", 'long:"a,b",c', "column:a:b"):
        assert str(parse_layout(text)) == text
    with pytest.raises(WrongUse, match="leave the separator out"):
        parse_layout("spmf", ",")


def test_published_names() -> None:
    names = {layout: published_name(layout) for layout in ("lines", "spmf", "long:a,b", "matrix", "column:x")}
    assert list(names.values()) == ["data.dat", "data.spmf", "data.csv", "data.csv", "data.csv"]


def test_parts_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "data.dat"
    folder.mkdir()
    (folder / "part-0").write_text("b\n\n")
    (folder / "part-1").write_text("a b\nc\n")
    (folder / "part-2").write_text("")
    (folder / "_SUCCESS").write_text("")
    assert sets(read_baskets(folder)) == [("b",), (), ("a", "b"), ("c",)]
    folder = tmp_path / "data.csv"
    folder.mkdir()
    (folder / "part-0.csv").write_text("id,item\n1,a\n2,b\n")
    (folder / "part-1.csv").write_text("id,item\n1,c\n")
    assert sets(read_baskets(folder)) == [("a", "c"), ("b",)]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BadData, match="holds no files part-"):
        read_baskets(empty)


def test_public_baskets_have_their_published_size(public_data: object) -> None:
    baskets = read_baskets(public_data("bms-webview-1/bms-webview-1.dat.gz"))  # type: ignore[operator]
    assert (len(baskets), len(baskets.vocabulary), int(baskets.lengths.max())) == (59_602, 497, 267)


PIECES = [
    "a",
    "b",
    "ab",
    "é",
    "𝄞",
    "12345678",
    "\ufeff",
    "\0",
    "\u2003",
    "\v",
    " ",
    "  ",
    "\t",
    "\r\n",
    "\n",
    "\n\n",
]


@given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=30), room=st.sampled_from([1, 1 << 14]))
def test_plain_files_are_read_as_all_others_are(pieces: list[str], room: int) -> None:
    """Also where there is no room for all items at first; what is unusual is left to the slower reader."""
    content, layout = "".join(pieces).encode(), Layout("lines")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_texts, "ROOM", room)
        patch.setattr(numbered_texts, "LEAST", 0)
        large = numbered_texts.plain_lines(content, layout)
    small = from_few_lines(content, layout)
    tokens = read_lines(content, None)
    other = from_tokens(tokens, layout)
    repeated = len(tokens.texts) > len(other.items)
    odd = bool({"\u2003", "\v"} & set(pieces))
    assert large is not None or repeated or odd
    assert small is not None or odd
    for one in (large, small):
        if one is not None:
            assert sets(one) == sets(other)
            assert (one.vocabulary, one.layout) == (other.vocabulary, other.layout)
            assert one.unsorted.tolist() == other.unsorted.tolist()

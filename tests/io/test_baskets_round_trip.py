"""What is written is read back, in every layout; empty baskets too."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.baskets import Baskets
from shoal.errors import WrongUse
from shoal.io.baskets.layouts import published_separator
from shoal.io.baskets.load import read_baskets, write_baskets

LETTERS = st.one_of(
    st.sampled_from("01ab\"'\\*[]{}"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\r\n -@#%,|\ufeff"),
)
WORDS = st.text(alphabet=LETTERS, min_size=1, max_size=3)
PHRASES = st.text(alphabet='01ab |,;"\n\té', min_size=1, max_size=4).map(str.strip).filter(bool)
NUMBERS = st.integers(0, 3).map(str)


def sets_of(items: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(items, max_size=4), min_size=1, max_size=8)


def assert_same(first: Baskets, second: Baskets) -> None:
    assert second.vocabulary == first.vocabulary
    assert second.indptr.tolist() == first.indptr.tolist()
    assert second.items.tolist() == first.items.tolist()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("baskets") / "data"


@pytest.mark.parametrize(
    "layout", ["lines", "lines:,", "lines:|", "spmf", "matrix", "long:basket,item", 'long:"a,b",c']
)
@given(sets=st.one_of(sets_of(WORDS), sets_of(NUMBERS)))
def test_words(path: Path, layout: str, sets: list[list[str]]) -> None:
    baskets = replace(read_baskets(sets), layout=layout)
    write_baskets(baskets, path)
    again = read_baskets(path, baskets=layout)
    assert_same(baskets, again)
    assert again.layout == layout


@pytest.mark.parametrize("layout", ["matrix", "long:basket,item"])
@given(sets=sets_of(PHRASES))
def test_phrases_in_a_table(path: Path, layout: str, sets: list[list[str]]) -> None:
    if layout == "matrix":
        sets = [[item.replace("\n", "") or "x" for item in one] for one in sets]
    baskets = replace(read_baskets(sets), layout=layout)
    write_baskets(baskets, path)
    assert_same(baskets, read_baskets(path, baskets=layout))


@given(sets=st.one_of(sets_of(PHRASES), sets_of(WORDS), sets_of(NUMBERS)))
def test_phrases_in_a_column(path: Path, sets: list[list[str]]) -> None:
    baskets = replace(read_baskets(sets), layout='column:what "they" bought')
    write_baskets(baskets, path)
    separator = published_separator(baskets.vocabulary)
    assert_same(baskets, read_baskets(path, baskets=baskets.layout, separator=separator))


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("lines", "\na b\nb\n"),
        ("lines:|", "\na|b\nb\n"),
        ("spmf", "-2\na -1 b -1 -2\nb -1 -2\n"),
        ("long:basket,item", "basket,item\n1,\n2,a\n2,b\n3,b\n"),
        ("matrix", "a,b\n0,0\n1,1\n0,1\n"),
        ("column:bought", '"bought"\n""\n"a|b"\n"b"\n'),
    ],
)
def test_text(path: Path, layout: str, text: str) -> None:
    write_baskets(replace(read_baskets([[], ["b", "a"], ["b"]]), layout=layout), path)
    assert path.read_bytes().decode() == text


def test_many_baskets_are_written_in_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.io.baskets.write.CHUNK", 3)
    monkeypatch.setattr("shoal.io.baskets.matrix.BLOCK", 10)
    baskets = read_baskets([["a"], [], ["a", "b", "c", "d"], ["b", "c"], [], [], [], [], ["d"]])
    for layout in ("lines", "matrix"):
        write_baskets(replace(baskets, layout=layout), path)
        assert_same(baskets, read_baskets(path, baskets=layout))


@pytest.mark.parametrize(
    ("layout", "item"),
    [
        ("lines", "red wine"),
        ("lines:,", "a,b"),
        ("spmf", "-1"),
        ("spmf", "@x"),
        ("matrix", "a\nb"),
        ("lines", "\ufeffx"),
    ],
)
def test_items_that_could_not_be_read_again_are_refused(path: Path, layout: str, item: str) -> None:
    path.unlink(missing_ok=True)
    with pytest.raises(WrongUse, match="cannot be written in the layout"):
        write_baskets(replace(read_baskets([[item]]), layout=layout), path)
    assert not path.exists()


def test_a_separator_that_no_item_holds() -> None:
    assert published_separator(()) == "|"
    assert published_separator(("a|b", "c;d")) == ","
    with pytest.raises(WrongUse, match="long layout"):
        published_separator(("|;,", " \t\x1f"))

"""Baskets from one layout into another."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, sets_of, small_baskets

from shoal.data.baskets import Baskets
from shoal.errors import UnknownName, WrongUse
from shoal.io.baskets.conversion import convert_baskets, separator_to_tell, without_rare_items
from shoal.io.baskets.load import read_baskets
from shoal.io.reading import Reading

ROWS = [["0", "2", "6"], [], ["0", "2"], ["2", "9"]]


@pytest.mark.parametrize("to", ["lines", "lines:;", "spmf", "long", "long:id,thing", "matrix", "column:got"])
def test_there_and_back(tmp_path: Path, to: str) -> None:
    first, second, third = (tmp_path / name for name in ("first.dat", "second.csv", "third.dat"))
    first.write_text("".join(" ".join(row) + "\n" for row in ROWS))
    convert_baskets(first, second, layout="lines", to=to)
    layout = "lines" if to == "lines:;" else to
    convert_baskets(second, third, layout=layout, reading=Reading(separator=";" if to == "lines:;" else None))
    assert sets_of(read_baskets(third)) == [frozenset(row) for row in ROWS]


def test_the_ending_tells_the_layout(tmp_path: Path) -> None:
    convert_baskets(ROWS, tmp_path / "out.spmf")
    assert (tmp_path / "out.spmf").read_text().splitlines()[0] == "0 -1 2 -1 6 -1 -2"
    with pytest.raises(WrongUse, match="Say how to write"):
        convert_baskets(ROWS, tmp_path / "out.csv")


@given(baskets=small_baskets(), least=st.sampled_from([0, 1, 2, 5, 0.1, 0.25, 0.5]))
def test_rare_items_go(baskets: Baskets, least: float) -> None:
    bound = least * len(baskets) if least < 1 else least
    kept = {
        item
        for item, support in zip(baskets.vocabulary, baskets.supports.tolist(), strict=True)
        if support >= bound - 1e-9
    }
    left = without_rare_items(baskets, least)
    assert set(left.vocabulary) == kept
    assert sets_of(left) == [basket & kept for basket in sets_of(baskets)]


def test_empty_baskets_go_on_request_alone(tmp_path: Path) -> None:
    for drop, count in ((False, 4), (True, 3)):
        before, after = convert_baskets(ROWS, tmp_path / f"{drop}.dat", drop_empty=drop)
        assert (len(before.baskets), len(after)) == (4, count)


def test_baskets_go_with_items_that_nobody_holds_then(tmp_path: Path) -> None:
    rows = [["0", "9"], ["9"], [], ["7", "9"], ["0", "7"]]
    before, after = convert_baskets(rows, tmp_path / "out.dat", drop_only=["7", "9"])
    assert (len(before.baskets), sets_of(after)) == (5, [frozenset("09"), frozenset(), frozenset("07")])
    _, after = convert_baskets(rows, tmp_path / "empty.dat", drop_only=["0", "7", "9"], drop_empty=True)
    assert (len(after), after.vocabulary) == (0, ())
    _, after = convert_baskets(rows, tmp_path / "small.dat", most_items=1)
    assert (sets_of(after), after.vocabulary) == ([frozenset("9"), frozenset()], ("9",))
    with pytest.raises(WrongUse, match="at least 1"):
        convert_baskets(rows, tmp_path / "none.dat", most_items=0)
    with pytest.raises(UnknownName, match="There is no item '8'"):
        convert_baskets(rows, tmp_path / "none.dat", drop_only=["8"])


def test_a_negative_support_is_refused() -> None:
    with pytest.raises(WrongUse, match="at least 0"):
        without_rare_items(baskets_of(["a"]), -1)


@pytest.mark.parametrize("name", ["a.dat", "a.spmf", "a.parquet", "a.arrow", "a.dat.gz", "a.spmf.zst"])
def test_the_ending_tells_the_format_and_the_compression(tmp_path: Path, name: str) -> None:
    convert_baskets(ROWS, tmp_path / name)
    begin = (tmp_path / name).read_bytes()[:4]
    magic = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd", ".parquet": b"PAR1", ".arrow": b"ARRO"}
    assert begin.startswith(magic.get(Path(name).suffix, b"0 "))
    assert sets_of(read_baskets(tmp_path / name)) == [frozenset(row) for row in ROWS]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
@pytest.mark.parametrize("to", ["long", "matrix", "column:got"])
def test_tables_are_compressed_too(tmp_path: Path, name: str, to: str) -> None:
    convert_baskets(ROWS, tmp_path / name, to=to)
    assert sets_of(read_baskets(tmp_path / name, baskets=to)) == [frozenset(row) for row in ROWS]
    first = (tmp_path / name).read_bytes()
    convert_baskets(ROWS, tmp_path / name, to=to)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize(
    ("name", "to"),
    [("a.parquet", "matrix"), ("a.parquet", "lines"), ("a.arrow", "column:got"), ("a.xlsx", "long")]
    + [("a.sav", "long"), ("a.parquet.gz", "long")],
)
def test_a_format_that_cannot_hold_the_layout_is_refused(tmp_path: Path, name: str, to: str) -> None:
    with pytest.raises(WrongUse, match="cannot hold baskets in the layout"):
        convert_baskets(ROWS, tmp_path / name, to=to)
    assert not list(tmp_path.iterdir())


@given(baskets=small_baskets())
def test_the_separator_of_cells_is_told_where_it_must_be(
    baskets: Baskets, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    try:
        _, written = convert_baskets(list(map(list, sets_of(baskets))), path, to="column:got")
    except WrongUse:
        return
    read = read_baskets(path, baskets="column:got", separator=separator_to_tell(written))
    assert sets_of(read) == sets_of(baskets)

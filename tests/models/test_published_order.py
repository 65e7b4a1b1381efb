"""The order of published rows and baskets: any but the canonical one is told."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.promises import tables
from tests.sets import baskets_of
from tests.tables import column, texts

import shoal
from shoal.cli.program import main
from shoal.data.baskets import descents
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table, canonical_order
from shoal.data.verdict import MISNUMBERED
from shoal.io.baskets.load import read_baskets
from shoal.io.releases.folder import write_release
from shoal.models._release_checks import broken_order
from shoal.models.km_anonymity import KmAnonymity

BASKETS = [["c", "b"], ["a", "b"], [], ["b", "c"], ["a", "b"], ["b", "c"]]


@given(st.lists(st.lists(st.integers(-1, 3), max_size=4)))
def test_descents_are_those_of_lists(rows: list[list[int]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)])
    items = np.array([item for row in rows for item in row], dtype=np.int32)
    wanted = [place for place in range(1, len(rows)) if rows[place] < rows[place - 1]]
    assert descents(indptr, items).tolist() == wanted


def published(tmp_path: Path, layout: str) -> Path:
    promise = KmAnonymity(k=2, m=2).as_promise()
    baskets = read_baskets(BASKETS, baskets=layout)
    return write_release(tmp_path / "out", Release(baskets, "km-generalization", {}, (promise,)))


CHANGES = {
    "lines, the baskets": ("lines", "\na b\na b\n", "a b\n\na b\n", "basket 2 {}"),
    "lines, the items": ("lines", "a b\na b\n", "a b\nb a\n", "basket 3 {a, b}"),
    "lines, an item twice": ("lines", "a b\na b\n", "a b\na b b\n", "basket 3 {a, b}"),
    "spmf": ("spmf", "-2\na -1 b -1 -2\n", "-2\nb -1 a -1 -2\n", "basket 2 {a, b}"),
    "long": ("long:id,item", "2,a\n2,b\n", "2,b\n2,a\n", "basket 2 {a, b}"),
    "long, the baskets": ("long:id,item", "1,\n2,a\n2,b\n", "1,a\n1,b\n2,\n", "basket 2 {}"),
    "matrix": ("matrix", "0,0,0\n1,1,0\n", "1,1,0\n0,0,0\n", "basket 2 {}"),
    "column": ("column:goods", '"a|b"\n"a|b"\n', '"a|b"\n"b|a"\n', "basket 3 {a, b}"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_order_is_named(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layout, old, new, where = CHANGES[what]
    folder = published(tmp_path, layout)
    assert main(["verify", str(folder)]) == 0
    shape = json.loads((folder / "release" / "release.json").read_text())
    path = next(path for path in (folder / "release").iterdir() if path.name.startswith("data."))
    assert shape["baskets"] == len(BASKETS)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "canonical-order" in shown
    assert where in shown


def test_the_worst_places_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("b a\n" * 12 + "c\na b\n")
    verdict = broken_order(read_baskets(path))
    assert verdict is not None
    assert (verdict.holds, verdict.offender_count, len(verdict.offenders)) == (False, 13, 10)
    assert broken_order(baskets_of([[], ["a"], ["a", "b"], ["b"]])) is None


@given(tables())
def test_rows_that_fall_are_those_of_lists(data: Table) -> None:
    rows = [tuple(row.values()) for row in texts(data)]
    wanted = [place for place in range(1, len(rows)) if rows[place] < rows[place - 1]]
    verdict = broken_order(data)
    assert (0 if verdict is None else verdict.offender_count) == len(wanted)
    if verdict is not None:
        where = [f"row {place + 1} ({', '.join(rows[place])})" for place in wanted[:10]]
        assert [one.where for one in verdict.offenders] == where
    assert broken_order(data.take(canonical_order(data.columns))) is None


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_persons_with_several_rows_are_in_order_too(tmp_path: Path, table_format: str) -> None:
    """Numbers of persons are texts, of which 10 comes before 2."""
    ages = [str(20 + row % 3) for row in range(90)]
    persons = [f"p{row % 40}" for row in range(90)]
    people = Table((column("age", ages), column("person", persons, Role.ENTITY)))
    run = shoal.anonymize(people, "mondrian", k=12)
    run.write(tmp_path / "out", report=False, table_format=table_format)
    assert isinstance(run.release.data, Table)
    assert any(row["person"] == "10" for row in texts(run.release.data))
    assert main(["verify", str(tmp_path / "out")]) == 0
    assert main(["verify", str(tmp_path / "out"), "--engine", "stream"]) == 0


def test_numbers_of_a_long_table_are_places() -> None:
    numbered = pl.DataFrame({"id": [1, 1, 2, 3, 3], "item": list("abbcd")})
    assert broken_order(read_baskets(numbered)) is None
    verdict = broken_order(read_baskets(numbered.with_columns(pl.col("id") * 2)))
    assert verdict is not None
    assert [(one.where, one.why) for one in verdict.offenders] == [
        ("basket 1 {a, b}", MISNUMBERED),
        ("basket 2 {b}", MISNUMBERED),
        ("basket 3 {c, d}", MISNUMBERED),
    ]


def test_a_file_that_is_no_release_may_have_any_order(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_text("b a\na b\n")
    assert main(["verify", str(path), "--model", "km-anonymity", "--k", "2", "--m", "2"]) == 0

"""Cells that a spreadsheet would run: told of, and published behind an apostrophe where that is asked for."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.data.published_syntax import guarded, is_formula, unguarded
from shoal.engines.stream import Stream
from shoal.errors import BadData, WrongUse
from shoal.verification import Asked, verify_as_asked

NOTES = ["=1+1", "'=1+1", "-5", "+49 30", "@sum", "a", "-5", "a", None, "''=x", "-x", "plain"]
FRAME = pl.DataFrame({"q": [1] * 6 + [2] * 6, "s": ["x", "-y"] * 6, "note": NOTES})
ROLES: dict[str, Any] = {"quasi": "q", "sensitive": "s", "insensitive": "note", "k": 3, "l": 2}


@given(st.lists(st.text(alphabet="'=+-@\t\ra1.", max_size=5), min_size=1))
def test_apostrophes_go_as_they_came(texts: list[str]) -> None:
    frame = pl.DataFrame({"*": texts}, schema={"*": pl.String})
    published = guarded(frame)
    assert not any(map(is_formula, filter(lambda text: text[:1] != "'", published["*"].to_list())))
    assert unguarded(published).equals(frame)
    assert len(set(published["*"].to_list())) == len(set(texts))


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_release_of_safe_cells(tmp_path: Path, engine: str) -> None:
    where = Stream() if engine == "stream" else None
    run = shoal.anonymize(FRAME, "mondrian", engine=where, **ROLES)
    (said,) = [warning for warning in run.warnings if "spreadsheet" in warning]
    assert "'s'" in said
    run.write(tmp_path / "out", safe_cells=True)
    if where is not None:
        where.close()
    release = tmp_path / "out/release"
    assert json.loads((release / "release.json").read_text())["safe_cells"] is True
    file = release / "data.csv"
    files = [file] if file.is_file() else list(file.glob("part-*"))
    published = [line.split(",")[2] for path in files for line in path.read_text().splitlines()[1:]]
    assert sorted(published) == sorted(
        ["'=1+1", "''=1+1", "-5", "'+49 30", "'@sum", "a", "-5", "a", "", "'''=x", "'-x", "plain"]
    )
    assert all(shoal.verify(tmp_path / "out"))
    assert all(verify_as_asked(str(tmp_path / "out"), Asked(), Stream("4GB")))
    read = shoal.read_release(tmp_path / "out").to_polars()
    assert sorted(filter(None, read["note"].to_list())) == sorted(filter(None, NOTES))


@pytest.mark.parametrize("cell", ["=1+1", "'-5"])
def test_cells_that_are_not_written_so_are_refused(tmp_path: Path, cell: str) -> None:
    shoal.anonymize(FRAME, "mondrian", **ROLES).write(tmp_path / "out", safe_cells=True)
    path = tmp_path / "out/release/data.csv"
    path.write_text(path.read_text().replace(",plain\n", f",{cell}\n"))
    with pytest.raises(BadData, match="not written so"):
        shoal.verify(tmp_path / "out")
    with pytest.raises(BadData, match="not written so"):
        verify_as_asked(str(tmp_path / "out"), Asked(), Stream("4GB"))


def test_what_cannot_be_safe_is_refused(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", **ROLES)
    with pytest.raises(WrongUse, match="for csv"):
        run.write(tmp_path / "out", safe_cells=True, table_format="parquet")
    odd = shoal.anonymize(FRAME.rename({"note": "=note"}), "mondrian", **ROLES | {"insensitive": "=note"})
    with pytest.raises(WrongUse, match="rename"):
        odd.write(tmp_path / "out", safe_cells=True)


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.cli import main

    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("some.csv")
    roles = ["--quasi", "q", "--sensitive", "s", "--insensitive", "note"]
    command = ["anonymize", "mondrian", "some.csv", "--k", "3", *roles]
    assert main([*command, "-o", "plain"]) == 0
    assert "WARNING A spreadsheet would run" in capsys.readouterr().out
    assert main([*command, "--format", "parquet", "-o", "columns"]) == 0
    assert "spreadsheet" not in capsys.readouterr().out
    for engine in ("local", "stream"):
        assert main([*command, "--safe-cells", "--engine", engine, "-o", engine]) == 0
        assert "spreadsheet" not in capsys.readouterr().out
        assert main(["verify", engine]) == 0
        assert main(["measure", engine, "--original", "some.csv", "--json"]) == 0

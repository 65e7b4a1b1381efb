"""Columns may have any names, even those that a library takes for a pattern, or that look like our own."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines.stream import Stream
from shoal.errors import BadData
from shoal.verification import Asked, verify_as_asked

NAMES = [
    ("*", "^b$", "b"),
    ("^.*$", "a.b", "a"),
    ("a;b", "c;d", "e;f"),
    ("`tick`", "it's", 'say "x"'),
    ("two\nlines", "a,b", "c|d"),
    ("items", "line", "folder"),
    ("place", "bound", "bucket"),
    ("text", "value", "key"),
    ("count", "row", "len"),
    ("a=b", "literal", "{}"),
    ("__index_level_0__", "c0", "c1"),
]
PARAMETERS: dict[str, dict[str, Any]] = {
    "mondrian": {"k": 3},
    "lattice": {"k": 3, "l": 2},
    "samarati": {"k": 3, "max_suppressed": 5},
    "table-rule-hiding": {"k": 3, "confidence": 0.9},
}
CASES = [("mondrian", form, names) for form in ("csv", "parquet") for names in NAMES]
CASES += [(method, "csv", names) for method in PARAMETERS if method != "mondrian" for names in NAMES[:5]]


def frame_of(names: tuple[str, str, str]) -> pl.DataFrame:
    random = np.random.default_rng(5)
    return pl.DataFrame(
        {
            names[0]: random.integers(20, 60, 60).astype(str),
            names[1]: random.choice(["x", "y", "z"], 60),
            names[2]: random.choice(["flu", "hiv", "cold", "cough"], 60),
        }
    )


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize(("method", "form", "names"), CASES, ids=str)
def test_any_name(tmp_path: Path, method: str, form: str, names: tuple[str, str, str], engine: str) -> None:
    frame, path = frame_of(names), tmp_path / f"table.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    where = Stream() if engine == "stream" else None
    trees = {names[0]: "intervals:10,20", names[1]: "suppress"} if method != "mondrian" else {}
    run = shoal.anonymize(
        path,
        method,
        quasi=list(names[:2]),
        sensitive=names[2],
        hierarchies=trees,
        engine=where,
        reading=shoal.Reading(separator=",") if form == "csv" else None,
        **PARAMETERS[method],
    )
    run.write(tmp_path / "out", table_format=form)
    verdicts = shoal.verify(tmp_path / "out")
    if where:
        verdicts += verify_as_asked(str(tmp_path / "out"), Asked(), Stream("4GB"))
    assert all(verdict.holds for verdict in verdicts), verdicts
    published = run.release.data.schema if where else run.release.data
    assert published.names == names
    if where:
        where.close()


@pytest.mark.parametrize("name", ["(rows)", "(bucket)", "(note)"])
def test_names_that_rows_in_parts_need_are_refused(name: str) -> None:
    frame = frame_of((name, "b", "c"))
    roles = {"quasi": [name], "sensitive": "c", "others": "drop"}
    assert shoal.anonymize(frame, "mondrian", k=3, **roles).verdicts[0].holds
    stream = Stream()
    with pytest.raises(BadData, match="distributed rows need a column of that name"):
        shoal.anonymize(frame, "mondrian", k=3, engine=stream, **roles)
    stream.close()


@pytest.mark.parametrize("layout", ["long:*,^b$", "column:^b$", "column:*"])
def test_any_name_of_baskets(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("*,^b$,b\n1|1,x|y,p\n1|1,x|y,p\n2|2,x|y,q\n2|2,x|y,q\n")
    stream = Stream()
    for where in (None, stream):
        run = shoal.anonymize(path, "disassociation", k=2, m=1, baskets=layout, engine=where)
        run.write(tmp_path / "out", force=True)
        assert all(verdict.holds for verdict in shoal.verify(tmp_path / "out"))
    stream.close()
    items = set(shoal.read_baskets(path, baskets=layout).vocabulary)
    assert items == ({"1", "2"} if layout == "column:*" else {"x|y"} if layout[0] == "l" else {"x", "y"})

"""Rows in parts are judged before they are written, in every form and layout."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.data import people, shopping
from tests.parts import MemoryEngine

import shoal
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.errors import BrokenPromise, WrongUse
from shoal.io.baskets.load import write_baskets
from shoal.io.releases.distributed import baskets_published, open_baskets
from shoal.io.tables.load import write_table
from shoal.methods.coherence.method import Coherence

LAYOUTS = ["lines", "lines:,", "spmf", "long:invoice,item", "column:things, all"]
PROMISE: dict[str, Any] = {"h": 0.8, "k": 3, "p": 2, "sensitive": ["8", "9"]}


def baskets_file(layout: str, folder: Path) -> Path:
    """The baskets of the contract, including empty ones; items are numbers, one with a quote where layouts allow it."""
    sets = shopping()
    labels = tuple(label.removeprefix("item") for label in sets.vocabulary)
    if layout.startswith(("long", "column")):
        labels = ('0,"', *labels[1:])
    path = folder / {"spmf": "in.spmf", "lines": "in.dat", "lines:,": "in.dat"}.get(layout, "in.csv")
    write_baskets(replace(sets, vocabulary=labels, layout=layout), path)
    return path


def contents(baskets: Dataset) -> tuple[Any, ...]:
    schema: Baskets = baskets.schema
    rows = baskets.parts.collect().sort("items")["items"].to_list()
    return rows, baskets.rows, schema.vocabulary, schema.sensitive.tolist(), schema.insensitive.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_baskets_are_judged_as_their_files_are(layout: str, tmp_path: Path) -> None:
    path, engine = baskets_file(layout, tmp_path), shoal.engines.Stream("1GB")
    try:
        run = shoal.anonymize(path, "coherence", engine=engine, baskets=layout, **PROMISE)
        assert run.holds
        written = run.written(tmp_path / "out")
        assert [verdict.as_dict() for verdict in run.verdicts] == [
            verdict.as_dict() for verdict in written.verdicts
        ]
        before = contents(baskets_published(run.release.data, engine))
        assert before == contents(open_baskets(tmp_path / "out", engine))
        assert before[3]
    finally:
        engine.close()


def test_a_broken_promise_of_baskets_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made = baskets_file("lines", tmp_path), Coherence.anonymize

    def untrue(self: Coherence, *given: Any) -> Any:
        release, trace = made(self, *given)
        promises = tuple({**promise, "k": 10_000} for promise in release.promises)
        return replace(release, promises=promises), trace

    monkeypatch.setattr(Coherence, "anonymize", untrue)
    with pytest.raises(BrokenPromise):
        shoal.anonymize(path, "coherence", engine=MemoryEngine(), baskets="lines", **PROMISE)


def test_rows_in_parts_have_no_scores_and_are_no_frame(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write_table(people(), path)
    run = shoal.anonymize(
        path, "mondrian", k=3, quasi="age", sensitive="illness", others="drop", engine=MemoryEngine()
    )
    assert run.scores == ()
    for give in (run.release.to_polars, run.release.to_pandas):
        with pytest.raises(WrongUse, match=r"distributed.*release\.data\.parts\.collect\(\)"):
            give()
    assert isinstance(run.release.data.parts.collect(), pl.DataFrame)

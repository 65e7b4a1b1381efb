"""Sensitive values that a class gives away are told, wherever the rows are, and not where nothing is learned."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts import MemoryParts
from tests.tables import Cell, table, texts

import shoal
from shoal.data._frames import text_frame
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.engines.stream import Stream
from shoal.errors import BrokenPromise
from shoal.models import _distributed as in_parts
from shoal.models._certain_classes import CertainValues, certain_warnings, warned_of_table
from shoal.models._equivalence_classes import Excerpt
from shoal.models.k_anonymity import KAnonymity

AGES = ["[20,29]"] * 4 + ["[30,39]"] * 6
PAY = ["low"] * 4 + ["low", "low", "low", "high", "high", "high"]


def said(cells: Mapping[str, Sequence[Cell]], entity: str | None = None, **release: Any) -> tuple[str, ...]:
    data = table(cells, [name for name in cells if name not in ("age", entity)], entity)
    return warned_of_table(Release(data, "by hand", {}, **{"promises": (), **release}), data)


def test_the_share_the_column_and_what_to_do() -> None:
    assert said({"age": AGES, "pay": PAY}) == (
        "The sensitive column 'pay' is certain for 40.0% of the rows: in their classes all rows have one value, and "
        "whoever finds the class learns it. k-anonymity does not prevent that: promise --l 2 too, so that every class "
        "has two values, or a small --t.",
    )


def test_several_columns_are_one_sentence() -> None:
    (sentence,) = said({"age": AGES, "job": ["smith"] * 4 + ["baker"] * 6, "pay": PAY})
    assert sentence.startswith("2 sensitive columns are certain for some rows:")
    assert "learns it: 'job' (100.0%), 'pay' (40.0%). k-anonymity" in sentence


def test_a_handful_is_not_told() -> None:
    """From one row in a hundred on."""
    ages = ["a"] * 2 + ["b"] * 198
    assert said({"age": ages, "pay": ["low"] * 2 + ["low", "high"] * 99})
    assert not said({"age": ["a"] * 2 + ["b"] * 199, "pay": ["low"] * 2 + ["low", "high"] * 99 + ["low"]})


def test_what_nearly_all_have_is_no_news() -> None:
    """A class of the usual value tells little; one of a rare value tells all."""
    ages = ["a"] * 50 + ["b"] * 50
    assert not said({"age": ages, "hiv": ["no"] * 90 + ["yes"] * 10})
    assert said({"age": ages, "hiv": ["no"] * 89 + ["yes"] * 11})
    (sentence,) = said({"age": ["a"] * 50 + ["b"] * 45 + ["c"] * 5, "hiv": ["no"] * 94 + ["yes"] * 6})
    assert "'hiv' is certain for 5.0% of the rows, not counting no, which nearly all have:" in sentence
    assert not said({"age": AGES, "pay": ["low"] * 10}), "everybody knows it"


def test_a_star_may_hide_any_value() -> None:
    assert not said({"age": AGES, "pay": ["low"] * 3 + ["*"] + PAY[4:]})
    assert said({"age": ["*"] * 4 + AGES[4:], "pay": PAY}), "a class as any other"
    assert not said({"age": ["*"] * 4 + AGES[4:], "pay": ["*"] * 4 + PAY[4:]}), "rows that tell nothing"


def test_a_missing_value_is_a_value() -> None:
    assert "40.0%" in said({"age": AGES, "pay": [None] * 4 + PAY[4:]})[0]


def test_persons_are_counted() -> None:
    """Anna and Ben are all of the class: both have low in some row, and Ben has high too."""
    cells = {"age": ["a"] * 4 + ["b"] * 2, "who": ["anna", "anna", "ben", "ben", "cara", "dora"]}
    (sentence,) = said({**cells, "pay": ["low", "low", "low", "high", "low", "high"]}, "who")
    assert "certain for 50.0% of the persons: in their classes all persons have one value" in sentence
    assert sentence.endswith("promise an --alpha below 1 too, or --l 2 where each person has one value.")
    assert not said({**cells, "pay": ["low", "low", "high", "high", "low", "high"]}, "who")


def test_a_promise_that_says_what_is_secret_settles_it() -> None:
    """Whoever names the values that must not be learned has called the others harmless."""
    cells = {"age": AGES, "pay": PAY}
    for names in ({"bounds": {"high": 0.6}}, {"values": ["high"]}, {"guard": "node"}):
        assert not said(cells, promises=({"model": "some", "column": "pay", **names},))
        assert said(cells, promises=({"model": "some", "column": "job", **names},))
    assert said(cells, promises=({"model": "alpha-k-anonymity", "column": "pay", "values": ()},))


def test_what_nothing_can_be_promised_beside_goes_first() -> None:
    options = {"k": 2, "stars_match_all": True, "quasi": ["age"], "sensitive": ["pay"]}
    frame = pl.DataFrame({"age": ["old"] * 4 + ["young"] * 6, "pay": PAY})
    run = shoal.anonymize(frame, "local-suppression", **options)
    (sentence,) = (one for one in run.warnings if "certain for" in one)
    assert "prevent that: leave `stars_match_all` out, and promise l=2 too" in sentence
    with pytest.raises(shoal.errors.WrongUse, match="stars_match_all"):
        shoal.anonymize(frame, "local-suppression", **options, l=2)


def test_only_a_weaker_form_of_k_stands_alone() -> None:
    cells = {"age": AGES, "pay": PAY}
    (sentence,) = said(cells, promises=({"model": "k-km-anonymity", "k": 2, "m": 2},))
    assert "leave" not in sentence
    (sentence,) = said(cells, promises=({"model": "k-anonymity", "k": 2, "m": 2},))
    assert "leave --m out, and promise --l 2" in sentence


def test_perturbed_values_are_no_facts() -> None:
    cells = {"age": AGES, "job": ["smith"] * 4 + ["baker"] * 6, "pay": PAY}
    (sentence,) = said(cells, details={"perturbed": ["job"]})
    assert "'pay' is certain for 40.0%" in sentence
    assert sentence.endswith("learns it. Perturb such a column too.")
    assert not said(cells, details={"perturbed": ["job", "pay"]})
    assert not said(cells, details={"perturbed": ["age"]}), "nobody finds the class"


CELLS = st.sampled_from(["a", "b", "c", "*"])


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12), seed=st.integers(0, 3))
def test_it_is_what_the_classes_say_in_memory_and_in_parts(
    rows: list[tuple[str, str, str]], seed: int
) -> None:
    data = table(dict(zip(("age", "zip", "ill"), map(list, zip(*rows, strict=True)), strict=True)), ["ill"])
    found = CertainValues().examine(Excerpt(data)).sums
    classes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in texts(data):
        if set(row.values()) != {"*"}:
            classes[row["age"], row["zip"]].append(row["ill"])
    certain = [held for held in classes.values() if len(set(held)) == 1 and held[0] != "*"]
    assert sum(found.values()) == sum(map(len, [*classes.values(), *certain]))
    frame = text_frame(data)
    parts = Dataset(data.take(np.empty(0, dtype=np.int64)), MemoryParts(frame, seed), data.rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_parts, "SMALL_PART", 1)
        _, told = in_parts.judge_table([KAnonymity(k=2)], parts, 1 << 30)
    assert {name: count for name, count in told.items() if name != in_parts.CLASSES} == found
    release = Release(data, "by hand", {}, ())
    kept = {one.domain.labels[code]: 0 for one in data.sensitive for code in one.occurring.tolist()}
    for row in texts(data):
        kept[row["ill"]] += 1
    assert certain_warnings(release, data, told, lambda _: kept) == warned_of_table(release, data)


def people() -> pl.DataFrame:
    """Old people have one illness, young ones several."""
    ages = [20 + row % 60 for row in range(300)]
    return pl.DataFrame({"age": ages, "ill": ["gout" if age > 50 else f"i{age % 3}" for age in ages]})


OPTIONS: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"]}


def test_a_promise_that_forbids_it_silences_it() -> None:
    run = shoal.anonymize(people(), "mondrian", k=5, **OPTIONS)
    (sentence,) = run.warnings
    assert "'ill' is certain for" in sentence
    assert "promise l=2 too" in sentence, "as Python says it"
    for promise in ({"l": 2}, {"t": 0.3}, {"alpha": 0.9}, {"entropy_l": 1.5}):
        told = shoal.anonymize(people(), "mondrian", k=5, **OPTIONS, **promise).warnings
        assert not [one for one in told if "certain" in one]


def test_a_strict_run_publishes_nothing(tmp_path: Path) -> None:
    run = shoal.anonymize(people(), "mondrian", k=5, **OPTIONS)
    with pytest.raises(BrokenPromise, match="certain for"):
        run.write(tmp_path / "out", strict=True)
    assert not (tmp_path / "out").exists()


def test_the_same_is_said_of_rows_in_files(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    here = shoal.anonymize(tmp_path / "people.csv", "mondrian", k=5, **OPTIONS)
    engine = Stream("1GB")
    there = shoal.anonymize(tmp_path / "people.csv", "mondrian", k=5, engine=engine, **OPTIONS)
    assert there.written(tmp_path / "out").warnings == here.warnings
    engine.close()


def test_no_row_and_no_sensitive_column() -> None:
    empty = table({"age": [], "ill": []}, ["ill"])
    plain = table({"age": AGES})
    for data in (empty, plain, replace(plain, columns=())):
        assert isinstance(data, Table)
        assert warned_of_table(Release(data, "by hand", {}, ()), data) == ()

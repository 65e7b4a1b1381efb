"""Rows of ``*`` alone, which tell nothing: no promise about classes looks at them, whatever its name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.promises import PARAMETERS, QUASI, SENSITIVE, populations, promises, tables, with_population
from tests.naive.models import keeps
from tests.tables import table, texts

from shoal.data.domain import nominal
from shoal.data.table import Table
from shoal.methods.lattice import Lattice
from shoal.methods.samarati import Samarati
from shoal.models._achieved_levels import protections
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.pipeline import anonymize
from shoal.report.facts import facts_of


def with_stars(data: Table, starred: list[bool]) -> Table:
    """The table with some rows published as stars."""
    hidden = np.array((starred * data.rows)[: data.rows], dtype=np.bool_)
    columns = []
    for one in data.columns:
        labels = (*(label for label in one.domain.labels), "*")
        codes = np.where(hidden, len(labels) - 1, one.codes).astype(np.int32)
        columns.append(replace(one, domain=nominal(labels), codes=codes))
    return Table(tuple(columns))


@given(data=tables(), population=populations(), starred=st.lists(st.booleans(), min_size=1, max_size=14))
@settings(max_examples=30)
def test_every_model_agrees_with_its_twin(data: Table, population: Table, starred: list[bool]) -> None:
    published = with_stars(data, starred)
    rows, others = texts(published), texts(population)
    for model in (one for name in PARAMETERS for one in promises(name)):
        truth = keeps(model.as_promise(), rows, QUASI, SENSITIVE, others)
        assert with_population(model, population).verify(published).holds == truth, model


def test_few_suppressed_rows_are_no_small_class() -> None:
    data = table({"x": ["*", "a", "a"], "s": ["*", "flu", "cold"]}, sensitive=["s"])
    assert KAnonymity(k=2).verify(data)
    assert AlphaKAnonymity(k=2, alpha=0.5).verify(data)


def test_a_class_without_a_told_value_is_no_distance_away() -> None:
    """Whether its rows are suppressed or only their sensitive cells."""
    for first in ("*", "b"):
        data = table({"x": [first, "a", "a"], "s": ["*", "flu", "cold"]}, sensitive=["s"])
        verdict = TCloseness(t=0).verify(data)
        assert verdict.holds
        assert verdict.value == 0
        assert protections(data)[0].t == 0


@pytest.mark.parametrize("method", [Samarati(k=2, t=1, max_suppressed=1, keep_suppressed=True)])
def test_a_run_with_a_suppressed_row_is_reported(method: Samarati) -> None:
    data = table({"x": ["a", "a", "b"], "s": ["flu", "cold", "flu"]}, sensitive=["s"])
    run = anonymize(_with_trees(data), method)
    assert run.holds
    assert facts_of(run)


def test_shares_are_promised_beside_kept_suppressed_rows() -> None:
    data = table({"x": ["a", "a", "b"], "s": ["flu", "cold", "flu"]}, sensitive=["s"])
    options = {"k": 2, "alpha": 0.5, "keep_suppressed": True, "raw": ("x",)}
    for method in (Lattice(suppression_limit=0.5, **options), Samarati(max_suppressed=1, **options)):  # type: ignore[arg-type]
        run = anonymize(_with_trees(data), method)
        assert run.holds
        assert run.release.suppressed == 1


def _with_trees(data: Table) -> Table:
    from shoal.data.hierarchy import climb

    return Table(
        tuple(
            replace(one, hierarchy=climb(one.domain.labels, [])) if one.name == "x" else one
            for one in data.columns
        )
    )

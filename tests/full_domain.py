"""Small tables with hierarchies, and what full-domain methods make of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.naive import full_domain as naive
from tests.tables import column, texts

from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.measures._chosen import default_measures, measure
from shoal.methods._full_domain import _local_recoding as local
from shoal.methods.lattice import Lattice

TREE = Hierarchy(
    (("a", "b", "c", "d"), ("ab", "cd"), ("*",)),
    (np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
)
SHORT = Hierarchy(
    (("x", "y", "z"), ("xy", "z"), ("xy", "z"), ("*",)),
    (
        np.array([0, 0, 1], dtype=np.int32),
        np.array([0, 1], dtype=np.int32),
        np.array([0, 0], dtype=np.int32),
    ),
)
FLAT = Hierarchy((("0", "1"), ("*",)), (np.array([0, 0], dtype=np.int32),))


def made(rows: list[tuple[str | None, ...]]) -> Table:
    """A table of three quasi-identifiers with hierarchies, and a secret."""
    one, two, three, secret = zip(*rows, strict=True)
    return Table(
        (
            column("one", one, hierarchy=TREE),
            column("two", two, hierarchy=SHORT),
            column("three", three, hierarchy=FLAT),
            column("secret", secret, Role.SENSITIVE),
        )
    )


def twin(data: Table) -> naive.Table:
    """The same table for the naive twin."""
    paths = {one.name: list(one.hierarchy.paths()) for one in data.quasi if one.hierarchy is not None}
    return naive.Table(texts(data), paths)


tables = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["0", "1"]),
        st.sampled_from(["flu", "cold", "gout"]),
    ),
    min_size=4,
    max_size=24,
).map(made)


def solved(data: Table, **parameters: Any) -> tuple[Release, Trace]:
    """What the lattice publishes of a table."""
    return Lattice(**parameters).anonymize(data)


@contextmanager
def few_prices() -> Iterator[None]:
    """Make the plans of local recoding raise the price of a row in three to seven steps instead of up to 38.

    This is for properties that hold for any plan, on many tables: each step searches the lattice once more.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            local, "PEELING", tuple(replace(plan, step=plan.step + 0.125) for plan in local.PEELING)
        )
        yield


def levels_of(release: Release) -> tuple[int, ...]:
    """The level of every quasi-identifier."""
    return tuple(release.details["levels"].values())


def assert_measures_agree(data: Table, release: Release, trace: Trace) -> None:
    """Assert that what the search says about its solution is what the measures find in the release."""
    told = trace.notes["solutions"][0]
    measures = tuple(one for one in default_measures() if told.keys() & set(one.scores_named))
    found = {score.name: score.value for score in measure(data, release, measures)}
    assert "lm" in found
    for name, value in told.items():
        if name in found:
            assert value == pytest.approx(found[name], abs=1e-9), f"{name}: told {value}, found {found[name]}"

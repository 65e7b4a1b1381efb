"""Full-domain generalization of rows in parts is that of rows in memory, row for row."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.contract.data import people, with_hierarchy
from tests.parts import MemoryEngine, parted
from tests.tables import column

from shoal.data._frames import text_frame
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods._full_domain._distributed import TupleIndex
from shoal.methods._full_domain.method import FullDomain
from shoal.methods.lattice import Lattice
from shoal.methods.samarati import Samarati

METHODS = [
    Samarati(k=3, max_suppressed=10),
    Samarati(k=3, suppression_limit=0.3, keep_suppressed=True, objective="entropy"),
    Samarati(k=2, l=2, suppression_limit=0.5),
    Samarati(k=4, suppression_limit=0.5, missing_matches_all=True),
    Lattice(k=3, suppression_limit=0.1),
    Lattice(k=2, suppression_limit=0.4, objective="entropy", keep_suppressed=True),
    Lattice(k=3, suppression_limit=0.5, local=True),
    Lattice(k=2, t=0.4, suppression_limit=0.5, objective="discernibility"),
]


def assert_same(method: FullDomain, table: Table, seed: int = 0) -> None:
    try:
        local, trace = method.anonymize(table)
    except Infeasible as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        with pytest.raises(Infeasible) as other:
            method.anonymize(parted(table, seed), MemoryEngine())
        assert (str(other.value), other.value.best) == (str(refusal), refusal.best)
        return
    release, cut = method.anonymize(parted(table, seed), MemoryEngine())
    assert_frame_equal(release.data.parts.collect(), text_frame(local.data))
    assert release.data.rows == local.data.rows  # type: ignore[union-attr]
    assert (release.suppressed, release.promises, release.details) == (
        local.suppressed,
        local.promises,
        local.details,
    )
    assert cut.notes["solutions"] == trace.notes["solutions"]
    assert not len(cut.rows)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_contract_data(method: FullDomain) -> None:
    assert_same(method, people())


@st.composite
def tables(draw: Any) -> Table:
    rows = draw(st.integers(1, 40))
    ages = draw(st.lists(st.none() | st.integers(20, 40), min_size=rows, max_size=rows))
    cities = draw(st.lists(st.none() | st.sampled_from("ABC"), min_size=rows, max_size=rows))
    ills = draw(st.lists(st.none() | st.sampled_from(["flu", "cold", "gout"]), min_size=rows, max_size=rows))
    return Table(
        (
            column("ill", ills, Role.SENSITIVE),
            with_hierarchy(column("age", ages), "intervals:5,10" if any(ages) else "suppress"),
            column("count", list(range(rows)), Role.INSENSITIVE),
            with_hierarchy(column("city", cities), "suppress"),
        )
    )


@given(tables(), st.sampled_from(METHODS), st.integers(0, 1000))
def test_random_tables(table: Table, method: FullDomain, seed: int) -> None:
    assert_same(method, table, seed)


@given(st.lists(st.tuples(*[st.integers(0, 2**20 - 1)] * 5), max_size=20, unique=True))
def test_tuples_of_more_bits_than_a_key_has_are_found(tuples: list[tuple[int, ...]]) -> None:
    names = tuple(f"c{place}" for place in range(5))
    codes = [np.array([one[place] for one in tuples], dtype=np.int64) for place in range(5)]
    index = TupleIndex.build(codes, names, (2**20,) * 5)
    wanted = [*tuples, *(tuple(reversed(one)) for one in tuples)]
    frame = pl.DataFrame(wanted, schema=dict.fromkeys(names, pl.Int32), orient="row")
    known = {one: place for place, one in enumerate(tuples)}
    assert index.find(frame).tolist() == [known.get(one, -1) for one in wanted]


def test_persons_with_several_rows_are_refused() -> None:
    table = Table(
        (
            with_hierarchy(column("age", [20, 21, 20, 21]), "suppress"),
            column("person", ["a", "b", "c", "d"], Role.ENTITY),
        )
    )
    with pytest.raises(WrongUse, match=r"engine=shoal\.engines\.Local"):
        Samarati(k=2).anonymize(parted(table), MemoryEngine())

"""The optimum over the lattice, against looking at every vector."""

import contextlib
import gzip
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.full_domain import assert_measures_agree, few_prices, levels_of, made, solved, tables, twin
from tests.naive import full_domain as naive
from tests.tables import column, table, texts

from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.measures._chosen import measure
from shoal.measures.loss import Loss
from shoal.methods.lattice import Lattice
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.t_closeness import TCloseness
from shoal.outcome import judge
from shoal.pipeline import carry_out
from shoal.sources import with_hierarchies

MEASURES = ("lm", "granularity", "ncp", "discernibility", "c_avg", "entropy", "precision")


def is_optimum(data: Table, method: Lattice, k: int, *promises: naive.Keeps) -> None:
    """The method finds the least value of all vectors that the naive twin finds feasible, and proves it."""
    slow = twin(data)
    limit = int((method.suppression_limit or 0) * data.rows + 1e-9)
    values = {
        levels: slow.measures(levels, kept, k)[method.objective]
        for levels, kept in slow.solutions(limit, *promises).items()
    }
    if not values:
        with pytest.raises(Infeasible):
            method.anonymize(data)
        return
    release, trace = method.anonymize(data)
    assert trace.notes["proven"]
    assert trace.notes["evaluated"] + trace.notes["pruned"] == trace.notes["vectors"] == len(slow.vectors())
    assert trace.notes["value"] == pytest.approx(min(values.values()), abs=1e-9)
    assert values[levels_of(release)] == pytest.approx(min(values.values()), abs=1e-9)
    assert release.suppressed == data.rows - len(slow.kept(levels_of(release), *promises))
    assert all(judge(release))
    assert_measures_agree(data, release, trace)


@given(tables, st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from(MEASURES))
def test_k_anonymity(data: Table, k: int, limit: float, objective: Any) -> None:
    method = Lattice(k=k, suppression_limit=limit, objective=objective)
    if k > data.rows:
        with pytest.raises(Infeasible):
            method.anonymize(data)
        return
    is_optimum(data, method, k, naive.at_least(k))


@given(tables, st.integers(2, 3), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from(MEASURES))
def test_diversity(data: Table, least: int, limit: float, objective: Any) -> None:
    method = Lattice(k=2, l=least, suppression_limit=limit, objective=objective)
    if len({row["secret"] for row in texts(data)}) < least:
        with pytest.raises(Infeasible):
            method.anonymize(data)
        return
    is_optimum(data, method, 2, naive.at_least(2), naive.different(least, "secret"))


@given(tables, st.integers(0, 4), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from(["lm", "discernibility"]))
def test_closeness_which_no_vector_inherits(data: Table, tenths: int, limit: float, objective: Any) -> None:
    method = Lattice(
        promises=(KAnonymity(k=2), TCloseness(t=tenths / 10, distance="equal")),
        suppression_limit=limit,
        objective=objective,
    )
    is_optimum(data, method, 2, naive.at_least(2), naive.within(tenths, "secret"))


def test_coarser_classes_may_need_more_suppression() -> None:
    """At t = 0.15 four classes suppress 20 rows, and merged in pairs all 40."""
    rows: list[tuple[str | None, ...]] = []
    for value, sick, well in (("a", 5, 5), ("c", 5, 5), ("b", 10, 0), ("d", 0, 10)):
        rows += [(value, "x", "0", "A")] * sick + [(value, "x", "0", "B")] * well
    data = made(rows)
    promise = TCloseness(t=0.15, distance="equal")
    release, trace = solved(data, promises=(promise,), suppression_limit=0.5, max_level={"one": 1})
    assert release.details["levels"]["one"] == 0
    assert release.suppressed == 20
    with pytest.raises(Infeasible) as refusal:
        solved(
            data.take(np.arange(40)),
            promises=(promise,),
            suppression_limit=0.4,
            max_level={"one": 1, "two": 0, "three": 0},
        )
    assert refusal.value.best == 20
    assert trace.notes["proven"]


@settings(max_examples=25)
@given(tables, st.sampled_from(["lm", "granularity", "entropy", "discernibility", "c_avg"]))
def test_local_recoding_is_never_worse(data: Table, objective: Any) -> None:
    plain, told = solved(data, k=2, suppression_limit=1.0, objective=objective)
    local, trace = solved(data, k=2, suppression_limit=1.0, objective=objective, local=True)
    before, after = told.notes["solutions"][0][objective], trace.notes["solutions"][0][objective]
    assert (after >= before - 1e-12) if objective == "granularity" else (after <= before + 1e-12)
    assert plain.suppressed <= data.rows
    assert all(judge(local))
    assert_measures_agree(data, local, trace)


def test_local_recoding_publishes_what_was_suppressed() -> None:
    data = made([("a", "x", "0", "flu")] * 20 + [("b", "y", "0", "flu"), ("c", "z", "1", "flu")])
    plain, _ = solved(data, k=2, suppression_limit=1.0)
    local, _ = solved(data, k=2, suppression_limit=1.0, local=True)
    assert plain.suppressed == 2
    assert local.suppressed == 0
    assert len(local.details["parts"]) == 2


@settings(max_examples=8)
@given(tables)
@few_prices()
def test_local_recoding_with_a_promise_about_the_whole(data: Table) -> None:
    method = Lattice(
        promises=(KAnonymity(k=2), TCloseness(t=0.3, distance="equal")), suppression_limit=1.0, local=True
    )
    try:
        release, _ = method.anonymize(data)
    except Infeasible:
        return
    assert all(judge(release))


def test_wishes() -> None:
    data = made([(one, two, three, "flu") for one, two, three in itertools.product("abcd", "xyz", "01")])
    free, _ = solved(data, k=4)
    heavy, _ = solved(data, k=4, weights={"two": 50.0})
    raw, _ = solved(data, k=4, raw=("two",))
    low, _ = solved(data, k=4, max_level={"one": 1})
    assert heavy.details["levels"]["two"] == 0
    assert raw.details["levels"]["two"] == 0
    assert low.details["levels"]["one"] <= 1
    assert free.details["levels"]["two"] != 0 or free.details["levels"]["one"] == 2
    with pytest.raises(Infeasible, match="suppresses all 24") as refusal:
        solved(data, k=2, raw=("one", "two", "three"))
    assert refusal.value.best == 24


@settings(max_examples=15, deadline=None)
@given(tables, st.booleans())
def test_the_best_of_the_vectors_from_a_least_level_on(data: Table, local: bool) -> None:
    """Every vector by itself, as both the finest and the coarsest, beside the search among them."""
    least, found = {"one": 1, "two": 2}, []
    for levels in itertools.product((1, 2), (2, 3), (0, 1)):
        pinned = dict(zip(("one", "two", "three"), levels, strict=True))
        with contextlib.suppress(Infeasible):
            release, _ = solved(data, k=2, suppression_limit=0.4, max_level=pinned, min_level=pinned)
            assert release.details["levels"] == pinned
            found.append(_lm(data, release))
    try:
        release, _ = solved(data, k=2, suppression_limit=0.4, min_level=least, local=local)
    except Infeasible:
        assert not found
        return
    assert set(release.data.column("one").domain.labels) <= {"ab", "cd", "*", ""}
    assert set(release.data.column("two").domain.labels) <= {"xy", "z", "*"}
    assert all(judge(release))
    if not local:
        assert _lm(data, release) == pytest.approx(min(found))
        assert all(release.details["levels"][name] >= level for name, level in least.items())


def _lm(data: Table, release: Release) -> float:
    return next(score.value for score in measure(data, release, (Loss(),)) if score.name == "lm")


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"max_level": {"one": 3}}, "from 0 to 2"),
        ({"max_level": {"one": 1}, "min_level": {"one": 2}}, "from 0 to 1"),
        ({"min_level": {"one": 1}, "bound": True}, "does not go with"),
        ({"max_level": {"on": 1}}, "'one'"),
        ({"raw": ("secret",)}, "quasi-identifier 'secret'"),
        ({"weights": {"twoo": 2.0}}, "'two'"),
        ({"weights": {"two": 0.0}}, "above 0"),
        ({"k": None, "l": 2, "objective": "c_avg"}, "promise a k"),
    ],
)
def test_wrong_wishes(wishes: dict[str, Any], message: str) -> None:
    data = made([("a", "x", "0", "flu"), ("a", "x", "0", "cold")])
    with pytest.raises(WrongUse, match=message):
        solved(data, **{"k": 2, **wishes})


def test_a_column_without_a_hierarchy_is_refused() -> None:
    with pytest.raises(WrongUse, match=r"hierarchies=\{'age': 'suppress'\}"):
        solved(table({"age": [1, 1, 2]}), k=2)
    assert issubclass(UnknownName, WrongUse)


def test_suppressed_rows_can_be_kept_without_what_they_say() -> None:
    data = made([("a", "x", "0", "flu")] * 3 + [("d", "z", "1", "gout")])
    left_out, _ = solved(data, k=3, suppression_limit=0.25, raw=("one", "two", "three"))
    kept, trace = solved(data, k=3, suppression_limit=0.25, raw=("one", "two", "three"), keep_suppressed=True)
    assert isinstance(left_out.data, Table)
    assert isinstance(kept.data, Table)
    assert left_out.data.rows == 3
    assert left_out.suppressed == kept.suppressed == 1
    assert texts(kept.data)[0] == {"one": "*", "two": "*", "three": "*", "secret": "*"}
    assert trace.rows.tolist()[0] == 3
    assert all(judge(kept))
    assert_measures_agree(data, kept, trace)


def test_a_row_of_stars_with_its_secret_breaks_the_promise() -> None:
    data = table({"one": ["*", "a", "a"], "secret": ["gout", "flu", "flu"]}, sensitive=["secret"])
    assert not KAnonymity(k=2).verify(data)
    hidden = table({"one": ["*", "a", "a"], "secret": ["*", "flu", "flu"]}, sensitive=["secret"])
    assert KAnonymity(k=2).verify(hidden)


def test_persons_are_counted_where_rows_belong_together() -> None:
    rows = [("a", "x", "0", "flu")] * 4
    data = Table((*made(rows).columns, column("who", ["p", "p", "p", "q"], Role.ENTITY)))
    release, _ = solved(data, k=2)
    assert levels_of(release) == (0, 0, 0)
    with pytest.raises(Infeasible):
        solved(data, k=3)


@settings(max_examples=20)
@given(tables, st.integers(2, 6))
def test_a_population_is_counted_on_the_way(data: Table, k: int) -> None:
    population = made([(row["one"] or None, row["two"], row["three"], "flu") for row in texts(data)] * 2)
    promise = KMap(k=k, population=population)
    try:
        release, _ = solved(data, promises=(promise,), suppression_limit=0.5)
    except Infeasible:
        assert k > 2
        return
    assert promise.among(
        made([(r["one"] or None, r["two"], r["three"], "x") for r in texts(data)] * 2)
    ).verify(release.data)


def test_time_is_kept_to_and_the_bound_is_told() -> None:
    random = np.random.default_rng(3)
    rows = [
        (
            str(random.choice(list("abcd"))),
            str(random.choice(list("xyz"))),
            str(random.choice(["0", "1"])),
            "flu",
        )
        for _ in range(60)
    ]
    _, trace = solved(made(rows), k=5, suppression_limit=1.0, time_limit=1e-9)
    assert not trace.notes["proven"]
    assert trace.notes["bound"] <= trace.notes["value"]
    _, proven = solved(made(rows), k=5, suppression_limit=1.0)
    assert trace.notes["bound"] <= proven.notes["value"] + 1e-12


def test_several_promises_and_diversity_by_name() -> None:
    data = made(
        [("a", "x", "0", "flu"), ("b", "x", "0", "cold"), ("c", "x", "0", "flu"), ("d", "y", "0", "cold")]
    )
    release, _ = solved(data, k=2, l=2)
    assert [promise["model"] for promise in release.promises] == ["k-anonymity", "distinct-diversity"]
    assert DistinctDiversity(l=2, column="secret").verify(release.data)


@pytest.fixture(scope="module")
def arx_adult(public_data: Any) -> Table:
    from shoal.io.tables.load import read_table

    path: Path = public_data("arx-adult/adult.csv.gz")
    folder: Path = public_data("arx-adult/hierarchies")
    names = gzip.decompress(path.read_bytes()).decode().splitlines()[0].split(";")
    return with_hierarchies(read_table(path, quasi=names), {"folder": str(folder)})


@pytest.mark.parametrize(
    ("limit", "levels", "suppressed", "quality"),
    [
        (0.0, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 0.291721),
        (0.05, (0, 3, 0, 0, 2, 1, 1, 2, 0), 1346, 0.698371),
        (1.0, (0, 3, 0, 0, 2, 1, 1, 1, 0), 2553, 0.751425),
    ],
)
def test_optima_of_arx(
    arx_adult: Table, limit: float, levels: tuple[int, ...], suppressed: int, quality: float
) -> None:
    """ARX's own optima on its own data, found by looking at a few hundred of 12,960 vectors."""
    run = carry_out(Lattice(k=5, suppression_limit=limit, objective="granularity"), arx_adult)
    assert levels_of(run.release) == levels
    assert run.release.suppressed == suppressed
    assert run.score("granularity") == pytest.approx(quality, abs=5e-7)
    assert run.trace.notes["proven"]
    assert run.trace.notes["vectors"] == 12_960
    assert run.trace.notes["evaluated"] < 1_000
    assert_measures_agree(arx_adult, run.release, run.trace)


def test_optimum_of_arx_with_diversity(arx_adult: Table) -> None:
    """With k = 5 and three occupations in every class, 5 %: eight quasi-identifiers are left."""
    columns = [
        column_
        if column_.name != "occupation"
        else type(column_)(column_.name, Role.SENSITIVE, column_.domain, column_.codes)
        for column_ in arx_adult.columns
    ]
    release, trace = solved(Table(tuple(columns)), k=5, l=3, suppression_limit=0.05, objective="granularity")
    assert levels_of(release) == (0, 3, 0, 0, 2, 1, 1, 0)
    assert release.suppressed == 1400
    assert trace.notes["solutions"][0]["granularity"] == pytest.approx(0.797647, abs=5e-7)

"""Mondrian under every model of tables, alone and several at once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.promises import PARAMETERS, SENSITIVE, populations, promises, tables, with_population
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal.data.hierarchy import climb
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.models.model import TableModel
from shoal.models.t_closeness import TCloseness
from shoal.outcome import judge

QUASI = ("x", "y")


def released(data: Table, population: Table | None = None, **parameters: Any) -> Table | None:
    """The published table, proved by the models and by their twins.

    None where nothing can keep the promise, or it names a value that the table does not have.
    """
    try:
        release, trace = Mondrian(**parameters).anonymize(data, seed=1)
    except (Infeasible, UnknownName):
        return None
    assert isinstance(release.data, Table)
    verdicts = judge(release, population)
    assert all(verdict.holds for verdict in verdicts), verdicts
    rows = texts(release.data)
    for promise in release.promises:
        everybody = [] if population is None else texts(population)
        assert keeps(dict(promise), rows, QUASI, SENSITIVE, everybody), promise
    assert sorted(trace.rows.tolist()) == list(range(data.rows))
    return release.data


@pytest.mark.parametrize("name", PARAMETERS)
@given(data=tables(least=2, most=20), population=populations(), how=st.sampled_from(["strict", "relaxed"]))
@settings(max_examples=15)
def test_every_model_is_kept(name: str, data: Table, population: Table, how: str) -> None:
    for model in promises(name):
        if how == "relaxed" and not model.may_overlap:
            continue
        released(data, population, promises=(with_population(model, population),), partitioning=how)


def test_only_presence_asks_for_classes_that_do_not_overlap() -> None:
    asking = [name for name in PARAMETERS for model in promises(name)[:1] if not model.may_overlap]
    assert asking == ["delta-presence"]


def test_classes_that_overlap_do_not_tell_who_is_present() -> None:
    asked = (DeltaPresence(delta_max=1).among(people()),)
    with pytest.raises(WrongUse, match="partitioning='relaxed' does not go with delta-presence"):
        Mondrian(promises=asked, partitioning="relaxed").anonymize(people())


@given(
    data=tables(least=4, most=25),
    chosen=st.lists(
        st.sampled_from([name for name in PARAMETERS if name not in ("k-map", "delta-presence")]), max_size=3
    ),
)
@settings(max_examples=30)
def test_several_models_at_once(data: Table, chosen: list[str]) -> None:
    models: list[TableModel] = [KAnonymity(k=2), *(promises(name)[0] for name in chosen)]
    released(data, promises=tuple(models))


def people(rows: int = 400) -> Table:
    random = np.random.default_rng(3)
    return Table(
        (
            column("x", random.integers(0, 60, rows).tolist()),
            column("y", random.choice(["m", "f", None], rows).tolist()),
            column(
                "illness",
                random.choice(["flu", "cold", "gout", "mumps", None], rows).tolist(),
                Role.SENSITIVE,
            ),
            column("income", random.integers(0, 9, rows).tolist(), Role.SENSITIVE),
        )
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"k": 5, "l": 3, "t": 0.2},
        {"k": 5, "l": 2, "c": 3},
        {"entropy_l": 3},
        {"alpha": 0.4, "k": 3},
        {"beta": 1.5},
        {"delta": 1.5},
        {"maximal_risk": 0.1},
        {"average_risk": 0.1},
        {"k": 4, "t": 0.3, "distance": "equal"},
    ],
    ids=str,
)
def test_short_forms(parameters: dict[str, Any]) -> None:
    published = released(people(), **parameters)
    assert published is not None
    assert len({(row["x"], row["y"]) for row in texts(published)}) > 1


@pytest.mark.parametrize("entity", [None, "who"])
def test_the_mean_risk_is_met_and_not_the_risk_of_every_class(entity: str | None) -> None:
    """Classes below one over the risk are allowed, as long as larger ones make up for them."""
    random = np.random.default_rng(4)
    held: dict[str, list[Any]] = {
        "x": random.integers(0, 1000, 3000).tolist(),
        "y": random.integers(0, 50, 3000).tolist(),
    }
    if entity is not None:
        held[entity] = random.integers(0, 2000, 3000).tolist()
    data = table(held, entity=entity)
    release, trace = Mondrian(average_risk=0.05).anonymize(data)
    verdict = judge(release)[0]
    assert verdict.holds
    assert 0.046 < verdict.value <= 0.05
    sizes = np.unique(
        np.array([release.data.column(name).codes for name in "xy"]), axis=1, return_counts=True
    )[1]
    assert sizes.min() < 20
    alone, _ = Mondrian(maximal_risk=0.05).anonymize(data)
    assert judge(alone)[0].holds
    assert trace.notes["classes"] > Mondrian(maximal_risk=0.05).anonymize(data)[1].notes["classes"]


def test_the_mean_risk_beside_other_promises() -> None:
    for parameters in ({"k": 4}, {"l": 2}, {"t": 0.3}, {"k": 30}):
        release, _ = Mondrian(average_risk=0.1, **parameters).anonymize(people())
        assert all(verdict.holds for verdict in judge(release))


def test_each_sensitive_column_is_promised_by_name() -> None:
    release, _ = Mondrian(k=3, l=2).anonymize(people())
    assert [(promise["model"], promise.get("column")) for promise in release.promises] == [
        ("k-anonymity", None),
        ("distinct-diversity", "illness"),
        ("distinct-diversity", "income"),
    ]


def test_t_is_not_forgotten() -> None:
    """Classes that a median cut would make are homogeneous: t = 0.01 forbids every cut."""
    data = table({"x": list(range(32)), "s": ["u"] * 16 + ["v"] * 16}, sensitive=["s"])
    far, _ = Mondrian(k=2).anonymize(data)
    assert isinstance(far.data, Table)
    assert TCloseness(t=1).verify(far.data).value == 0.5
    near, _ = Mondrian(k=2, t=0.01).anonymize(data)
    assert isinstance(near.data, Table)
    assert {row["x"] for row in texts(near.data)} == {"[0,31]"}


def test_hierarchical_distance_travels_with_the_promise() -> None:
    tree = climb(("u", "v", "w"), [lambda leaves: ["low" if leaf < 2 else "high" for leaf in leaves]])
    data = Table(
        (column("x", list(range(12))), column("s", list("uvwuvwuvwuvw"), Role.SENSITIVE, hierarchy=tree)),
    )
    release, _ = Mondrian(t=0.1, distance="hierarchical").anonymize(data)
    (promise,) = release.promises
    assert promise["tree"]["w"] == ["high", "*"]
    assert all(verdict.holds for verdict in judge(release))


def test_a_population_stays_private() -> None:
    data = table({"x": list("aabbb")})
    population = table({"x": list("aaaabbbb")})
    release, _ = Mondrian(promises=(KMap(k=4, population=population),)).anonymize(data)
    assert isinstance(release.data, Table)
    assert {row["x"] for row in texts(release.data)} == {"a", "b"}
    assert release.promises == ({"model": "k-map", "k": 4},)
    assert "population" not in release.parameters
    with pytest.raises(WrongUse, match="`population`"):
        judge(release)
    assert all(verdict.holds for verdict in judge(release, population))


def test_a_population_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "population.csv"
    file.write_text("name,x\n" + "".join(f"p{place},{'ab'[place % 2]}\n" for place in range(8)))
    release, _ = Mondrian(k_map=4, population=str(file)).anonymize(table({"x": list("aabbb")}))
    assert "population" not in release.parameters
    assert str(file) not in str(release)


@pytest.mark.parametrize(
    ("parameters", "best", "words"),
    [
        ({"l": 9}, 5, "illness has only 5 different values. The largest l is 5"),
        ({"k": 500}, 400, "The largest k is 400"),
        ({"l": 9, "c": 2}, 5, "The largest l is 5"),
        ({"l": 5, "c": 0.01}, None, "The least c is"),
        ({"entropy_l": 9}, None, "The largest entropy l is"),
        ({"alpha": 0.01}, None, "The least alpha is"),
        ({"maximal_risk": 0.001}, 0.0025, "The least risk is 0.0025"),
    ],
    ids=str,
)
def test_infeasible_says_the_best(parameters: dict[str, Any], best: float | None, words: str) -> None:
    with pytest.raises(Infeasible, match=words.replace(".", r"\.")) as refusal:
        Mondrian(**parameters).anonymize(people())
    reached = refusal.value.best
    assert reached is not None
    assert best is None or reached == best
    name = next(iter(parameters)) if best is not None else list(parameters)[-1]
    if {"l", "c"} <= parameters.keys() and "l is" in words:
        return
    release, _ = Mondrian(**{**parameters, name: reached}).anonymize(people())
    assert all(verdict.holds for verdict in judge(release))


def test_c_needs_l() -> None:
    with pytest.raises(ValueError, match="needs l"):
        Mondrian(c=2)


def test_missing_cells_that_match_all_do_not_make_classes_small() -> None:
    data = table({"x": [1, 2, 3, 4, 5, 6, 7, None, 9, 10], "s": list("uvuvuvuvuv")}, sensitive=["s"])
    release, _ = Mondrian(promises=[KAnonymity(k=3, missing_matches_all=True)]).anonymize(data)
    assert all(judge(release))

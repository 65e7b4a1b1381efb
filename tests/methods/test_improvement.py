"""Classes that are improved by annealing: never worse, always safe, the same for the same steps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.full_domain import assert_measures_agree, made, tables
from tests.tables import column, texts

import shoal
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly
from shoal.measures._chosen import measure
from shoal.measures.loss import Loss
from shoal.methods._improvement._annealing import RUNGS, Search
from shoal.methods.lattice import Lattice
from shoal.methods.method import Method
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.samarati import Samarati
from shoal.outcome import judge
from shoal.pipeline import carry_out
from shoal.progress import watched

PROMISES: tuple[dict[str, Any], ...] = (
    {"k": 2},
    {"k": 3, "l": 2},
    {"k": 2, "t": 0.4, "distance": "equal"},
    {"k": 2, "alpha": 0.7},
    {"entropy_l": 1.5},
    {"maximal_risk": 0.4},
    {"average_risk": 0.4},
)

METHODS: tuple[tuple[type[Method], dict[str, Any]], ...] = (
    (Lattice, {"suppression_limit": 0.3, "objective": "granularity"}),
    (Lattice, {"local": True, "time_limit": 5}),
    (Lattice, {"max_level": {"one": 1}, "suppression_limit": 1, "keep_suppressed": True}),
    (Samarati, {"max_suppressed": 3}),
    (Mondrian, {}),
    (Mondrian, {"publish": "ranges"}),
    (Mondrian, {"publish": "sets", "partitioning": "relaxed"}),
)


def granularity(data: Table, release: Any) -> float:
    """What a release keeps."""
    return next(one.value for one in measure(data, release, (Loss(),)) if one.name == "granularity")


def people(rows: int = 400, seed: int = 3) -> Table:
    """Numbers and names without a hierarchy, some missing, and secrets."""
    random = np.random.default_rng(seed)
    ages = [int(age) if age < 70 else None for age in random.integers(20, 75, rows)]
    return Table(
        (
            column("age", ages),
            column("town", [f"t{town}" for town in random.integers(0, 12, rows)]),
            column("size", random.integers(150, 200, rows).tolist()),
            column("illness", [f"i{one}" for one in random.integers(0, 5, rows)], Role.SENSITIVE),
        )
    )


@settings(max_examples=40)
@given(tables, st.sampled_from(PROMISES), st.sampled_from(METHODS), st.integers(0, 5))
def test_never_worse_and_always_safe(
    data: Table, promises: dict[str, Any], how: tuple[type[Method], dict[str, Any]], seed: int
) -> None:
    kind, options = how
    try:
        plain, _ = kind(**promises, **options).anonymize(data, seed=seed)
    except Infeasible:
        return
    release, trace = kind(**promises, **options, improve_steps=2000).anonymize(data, seed=seed)
    assert all(judge(release))
    assert release.suppressed <= plain.suppressed
    assert release.parameters["improve_steps"] == [50] * RUNGS
    if kind is Mondrian:
        assert granularity(data, release) >= granularity(data, plain) - 1e-9
        return
    found = trace.notes["improvement"]
    if kind is Lattice or found["loss_after"] < found["loss_before"]:
        assert_measures_agree(data, release, trace)
        aim = options.get("objective", "lm")
        told = trace.notes["solutions"]
        better = (
            told[0][aim] >= told[-1][aim] - 1e-9
            if aim == "granularity"
            else told[0][aim] <= told[-1][aim] + 1e-9
        )
        assert better


@pytest.mark.parametrize("publish", ["nodes", "ranges", "sets"])
@pytest.mark.parametrize("promises", [{"k": 4}, {"k": 4, "l": 2, "t": 0.5}])
def test_what_the_search_minimizes_is_what_is_measured(publish: Any, promises: dict[str, Any]) -> None:
    """The loss that was kept up step by step is that of the published cells, ranges, sets and stars."""
    data = people()
    plain, _ = Mondrian(publish=publish, **promises).anonymize(data)
    release, trace = Mondrian(publish=publish, improve_steps=40_000, **promises).anonymize(data, seed=1)
    told = trace.notes["improvement"]
    assert granularity(data, plain) == pytest.approx(1 - told["loss_before"], abs=1e-9)
    assert granularity(data, release) == pytest.approx(1 - told["loss_after"], abs=1e-9)
    assert told["loss_after"] < 0.9 * told["loss_before"]
    assert all(judge(release))
    assert trace.notes["summary"][0].startswith("Improvement: the mean loss of a row fell")


@pytest.mark.parametrize("publish", ["nodes", "ranges", "sets"])
def test_no_step_loses_more_without_heat(publish: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a step is said to lose before it is taken is what its classes lose afterwards, and none gets too small."""
    losses, sizes = [], []
    take = Search._take_chunk

    def taken(self: Search, steps: int, heat: float, classes: Any) -> None:
        take(self, steps, heat, classes)
        losses.append(self._mean(classes))
        sizes.append(classes.sizes[classes.sizes > 0].min())

    monkeypatch.setattr(Search, "_take_chunk", taken)
    monkeypatch.setattr(Search, "_heats", lambda _: [0.0] * RUNGS)
    monkeypatch.setattr("shoal.methods._improvement._annealing.CHUNK", 1)
    Mondrian(publish=publish, k=4, improve_steps=6000).anonymize(people(), seed=1)
    assert max(np.diff(losses)) < 1e-12
    assert losses[-1] < losses[0]
    assert min(sizes) == 4


def test_suppressed_rows_come_back() -> None:
    """One row costs less in a class of five than suppressed, and whole columns a level up would cost more."""
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu")] * 4 + [("c", "z", "1", "flu")] * 8
    data = made([*rows, ("b", "x", "0", "cold")])
    options: dict[str, Any] = {"k": 4, "suppression_limit": 0.2}
    plain, _ = Lattice(**options).anonymize(data)
    assert plain.suppressed == 1
    release, _ = Lattice(**options, improve_steps=4000).anonymize(data, seed=1)
    assert release.suppressed == 0
    assert {row["one"] for row in texts(release.data)} == {"ab", "c"}


def test_suppressed_rows_stay_where_classes_are_compared_with_all_rows() -> None:
    """One more published row would change the whole, and with it the distance of every other class."""
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu"), *[("a", "x", "0", "cold")] * 2]
    data = made([*rows, *[("a", "x", "1", "flu")] * 2, ("a", "y", "0", "cold")])
    options: dict[str, Any] = {"k": 2, "t": 0.4, "distance": "equal", "suppression_limit": 0.3}
    release, _ = Lattice(**options, objective="granularity", improve_steps=2000).anonymize(data)
    assert release.suppressed == 1
    assert all(judge(release))


@pytest.mark.parametrize("publish", ["nodes", "ranges", "sets"])
@pytest.mark.parametrize("seed", range(3))
def test_plain_python_does_what_kernels_do(publish: Any, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is small is bounded without compiling anything for it."""
    monkeypatch.setattr(_jit, "_is_ready", lambda kernel: False)
    data = people(150, seed)
    method = Mondrian(k=4, publish=publish, improve_steps=400, bound=publish == "nodes")
    release, trace = method.anonymize(data, seed=seed)
    with eagerly():
        other, again = method.anonymize(data, seed=seed)
    assert texts(release.data) == texts(other.data)
    assert trace.notes == again.notes
    assert release.parameters == other.parameters


def test_the_same_steps_give_the_same_release() -> None:
    data = people()
    method = Mondrian(k=4, l=2, improve_steps=20_000)
    first, second = (method.anonymize(data, seed=7)[0] for _ in range(2))
    assert texts(first.data) == texts(second.data)
    other, _ = method.anonymize(data, seed=8)
    assert texts(other.data) != texts(first.data)


@pytest.mark.parametrize("promises", [{"k": 4}, {"k": 4, "l": 2}])
def test_a_run_in_seconds_can_be_repeated(promises: dict[str, Any]) -> None:
    """The recipe of the run has the steps that were done, and the seed that was drawn."""
    data = people()
    run = carry_out(Mondrian(**promises, improve=0.1), data)
    parameters = dict(run.recipe["method"])
    assert "improve" not in parameters
    assert min(parameters["improve_steps"]) > 0
    again = shoal.anonymize(data, parameters.pop("name"), seed=run.recipe["seed"], **parameters)
    assert texts(again.release.data) == texts(run.release.data)
    assert again.release.parameters == run.release.parameters


def test_classes_are_counted_as_they_are_published() -> None:
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu")] * 4 + [("c", "z", "1", "flu")] * 8
    data = made([*rows, ("b", "x", "0", "cold")])
    for method, table in (
        (Mondrian(k=4, improve_steps=20_000), people()),
        (Lattice(k=4, suppression_limit=0.2, improve_steps=4000), data),
    ):
        release, trace = method.anonymize(table, seed=7)
        names = [column.name for column in release.data.quasi]
        classes = {tuple(row[name] for name in names) for row in texts(release.data)}
        assert trace.notes["classes"] == trace.notes["improvement"]["classes"] == len(classes)


@pytest.mark.parametrize("how", [{"improve": 0.3}, {"improve_steps": 4000}])
def test_whoever_watches_is_told_how_far_it_is(how: dict[str, Any]) -> None:
    told: list[tuple[str, float | None]] = []
    with watched(lambda name, share: told.append((name, share))):
        Mondrian(k=5, **how).anonymize(people(), seed=1)
    first, *shares, end, bounding, bounded = told
    assert first == ("improving", None)
    assert end == bounded == ("", None)
    assert bounding == ("computing the best possible", None)
    assert {name for name, _ in shares} == {"improving"}
    done = [share for _, share in shares]
    assert len(done) > 1
    assert done == sorted(set(done))
    assert 0 <= done[0] <= done[-1] <= 1


def test_secrets_forbid_steps_and_choose_none() -> None:
    """Two tables whose secrets differ, and are promised nothing, are improved alike."""
    data = people()
    secret = data.column("illness")
    codes = np.random.default_rng(1).permutation(secret.codes)
    other = Table((*data.columns[:3], replace(secret, codes=codes)))
    cells = []
    for table in (data, other):
        release, _ = Mondrian(k=4, improve_steps=20_000).anonymize(table, seed=2)
        cells.append(sorted((row["age"], row["town"], row["size"]) for row in texts(release.data)))
    assert cells[0] == cells[1]


def test_persons_with_several_rows() -> None:
    data = people()
    who = column("who", np.random.default_rng(2).integers(0, 250, data.rows).tolist(), Role.ENTITY)
    data = Table((*data.columns, who))
    release, trace = Mondrian(k=4, alpha=0.8, improve_steps=10_000).anonymize(data, seed=1)
    assert all(judge(release))
    assert trace.notes["improvement"]["loss_after"] < trace.notes["improvement"]["loss_before"]
    with pytest.raises(WrongUse, match="mean risk of persons with several rows"):
        Mondrian(average_risk=0.2, improve_steps=10).anonymize(data)


def test_the_mean_risk_is_kept() -> None:
    data = people()
    release, trace = Mondrian(average_risk=0.1, improve_steps=30_000).anonymize(data, seed=1)
    assert all(judge(release))
    assert trace.notes["improvement"]["classes"] <= 40


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [Samarati, Lattice, Mondrian])
def test_persons_of_a_population_are_kept(kind: type[Method], seed: int, tmp_path: Path) -> None:
    """A class may be as small as it likes where its cells fit enough persons: smaller cells may fit fewer."""
    random = np.random.default_rng(seed)

    def drawn(count: int) -> list[tuple[str | None, ...]]:
        return [
            tuple(str(random.choice(list(one))) for one in ("abcd", "xyz", "01", "s")) for _ in range(count)
        ]

    rows, others = drawn(8), drawn(6)
    cells = [",".join(str(cell) for cell in row[:3]) for row in [*rows, *others]]
    (tmp_path / "population.csv").write_text("\n".join(["one,two,three", *cells, ""]))
    options: dict[str, Any] = {} if kind is Mondrian else {"suppression_limit": 0.6, "keep_suppressed": True}
    method = kind(k_map=2, population=str(tmp_path / "population.csv"), improve_steps=400, **options)
    data = made(rows)
    release, _ = method.anonymize(data, seed=seed)
    assert all(judge(release, method.population_of(data)))


def test_what_does_not_go_with_it() -> None:
    with pytest.raises(WrongUse, match="omit one"):
        Mondrian(k=2, improve=1, improve_steps=5)
    with pytest.raises(WrongUse, match="one number, or 40"):
        Mondrian(k=2, improve_steps=[1, 2])
    with pytest.raises(WrongUse, match=r"improve. moves rows"):
        Mondrian(k=2, improve=1).refuse_distributed()
    with pytest.raises(WrongUse, match=r"improve. moves rows"):
        Lattice(k=2, improve=1).refuse_distributed()
    data = made([("a", "x", "0", "flu"), (None, "x", "0", "flu")] * 3)
    with pytest.raises(WrongUse, match=r"improve.* does not go with .*missing.matches.all"):
        Lattice(k=2, missing_matches_all=True, improve_steps=10).anonymize(data)
    with pytest.raises(WrongUse, match=r"improve.* does not go with delta-presence"):
        Mondrian(k=2, presence=0.5, improve=1).refuse_misfits()

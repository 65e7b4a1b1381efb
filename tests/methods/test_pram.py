"""PRAM: values drawn by published chances, counts estimated without bias, and the promise judged from the files."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.tables import column, texts

import shoal
from shoal.data._perturbed import chances, matrix_of, speaking
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, Infeasible, UnknownName, WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures.perturbation import Perturbation
from shoal.measures.queries import Queries
from shoal.methods.pram import Pram
from shoal.outcome import judge

ROWS = 3000


def people(rows: int = ROWS) -> Table:
    random = np.random.default_rng(1)
    sexes = random.choice(["f", "m"], rows)
    ills = np.where(
        sexes == "f", random.choice(["flu", "gout"], rows), random.choice(["flu", "cold", "cold"], rows)
    )
    return Table(
        (
            column("age", random.integers(0, 50, rows).tolist()),
            column("sex", sexes.tolist()),
            column("ill", ills.tolist(), Role.SENSITIVE),
        )
    )


def counts(table: Table, name: str) -> dict[str, int]:
    own = table.column(name)
    return dict(
        zip(own.domain.labels, np.bincount(own.codes, minlength=len(own.domain)).tolist(), strict=True)
    )


def test_values_are_kept_as_often_as_the_matrix_says() -> None:
    original = people()
    release, trace = Pram(gamma=4).anonymize(original, seed=5)
    rows = texts(original)
    before = [rows[row]["ill"] for row in trace.rows.tolist()]
    after = [row["ill"] for row in texts(release.data)]
    kept = float(np.mean([one == other for one, other in zip(before, after, strict=True)]))
    # Four in six, and four standard deviations around it.
    assert abs(kept - 4 / 6) < 4 * np.sqrt(4 / 6 * 2 / 6 / ROWS)
    for value in ("flu", "cold", "gout"):
        drawn = [other for one, other in zip(before, after, strict=True) if one == value and other != value]
        shares = [drawn.count(other) / len(drawn) for other in ("flu", "cold", "gout") if other != value]
        assert max(shares) - 0.5 < 4 * np.sqrt(0.25 / len(drawn))


def test_all_else_is_published_as_it_is() -> None:
    original = people(200)
    release, trace = Pram(gamma=4).anonymize(original, seed=5)
    before, after = texts(original), texts(release.data)
    for place, row in enumerate(trace.rows.tolist()):
        assert all(after[place][name] == before[row][name] for name in ("age", "sex"))


def test_estimates_are_right_on_average() -> None:
    """The mean over many draws is the truth, and their spread is what is told."""
    original = people(400)
    truth = counts(original, "ill")
    method = Pram(gamma=3)
    frames = [method.anonymize(original, seed=seed)[0].estimate("ill") for seed in range(300)]
    values = frames[0]["ill"].to_list()
    found = np.array([frame["estimate"].to_list() for frame in frames])
    told = np.array([frame["deviation"].to_list() for frame in frames]).mean(axis=0)
    assert np.abs(found.mean(axis=0) - [truth[value] for value in values]).max() < 4 * told.max() / np.sqrt(
        300
    )
    assert np.allclose(found.std(axis=0), told, rtol=0.2)
    assert np.allclose(found.sum(axis=1), 400)


def test_estimates_beside_other_columns() -> None:
    release, _ = Pram(gamma=6).anonymize(people(), seed=2)
    frame = release.estimate("ill", by="sex")
    assert frame.columns == ["sex", "ill", "published", "estimate", "deviation"]
    whole = release.estimate("ill", by=None)
    summed = frame.group_by("ill").agg(pl.col("estimate").sum()).sort("ill")
    assert np.allclose(summed["estimate"], whole.sort("ill")["estimate"])
    cold = frame.filter((pl.col("sex") == "f") & (pl.col("ill") == "cold"))
    assert abs(cold["estimate"][0]) < 4 * cold["deviation"][0], "no woman has a cold"
    with pytest.raises(UnknownName):
        release.estimate("age")


def test_the_inverse_is_one() -> None:
    release, _ = Pram(gamma=6).anonymize(people(), seed=2)
    matrix = matrix_of(release.promises, "ill")
    assert matrix is not None
    assert np.allclose(speaking(matrix) @ chances(matrix).T, np.eye(3))
    with pytest.raises(WrongUse, match="no inverse"):
        speaking({"a": [1, 1], "b": [1, 1]})


def test_estimates_answer_better_than_published_values() -> None:
    original = people()
    release, _ = Pram(gamma=4).anonymize(original, seed=2)
    scores = {one.name: one.value for one in Perturbation().compare(Comparison(original, release))}
    assert scores["estimated_error"] < scores["perturbed_error"]
    assert Queries(columns=1).compare(Comparison(original, release))[0].value < 0.5


@pytest.mark.parametrize(
    ("given", "models"),
    [
        ({"gamma": 5}, ["amplification"]),
        ({"rho1": 0.1, "rho2": 0.5}, ["rho-privacy"]),
        ({"d": 0.1, "d_gamma": 0.4}, ["d-gamma-privacy"]),
        ({"gamma": 9, "rho1": 0.1, "rho2": 0.3}, ["amplification", "rho-privacy"]),
    ],
)
def test_from_files_alone(given: dict[str, float], models: list[str], tmp_path: Path) -> None:
    run = shoal.anonymize(people(300), "pram", seed=1, **given)
    folder = run.write(tmp_path / "out")
    verdicts = shoal.verify(folder)
    assert [one.model for one in verdicts] == models
    assert all(one.holds and "matrix" in one.remark for one in verdicts)
    facts = folder / "release" / "release.json"
    assert '"perturbed"' in facts.read_text(encoding="utf-8")
    assert any("perturbed" in warning for warning in run.warnings)
    # Whoever edits the matrix, or hides that values are perturbed, is found out.
    text = facts.read_text(encoding="utf-8")
    back = shoal.read_release(folder)
    matrix = matrix_of(back.promises, "ill")
    assert matrix is not None
    first = next(iter(matrix.values()))
    facts.write_text(text.replace(f"{first[0]},", f"{100 * first[0]},", 1), encoding="utf-8")
    assert not all(shoal.verify(folder))
    facts.write_text(
        text.replace('"perturbed"', '"levels"').replace('[\n    "ill"\n  ]', "{}"), encoding="utf-8"
    )
    with pytest.raises(BadData, match="perturbed"):
        shoal.verify(folder)


def test_refusals() -> None:
    with pytest.raises(WrongUse, match="nothing to promise"):
        Pram().anonymize(people(20))
    with pytest.raises(WrongUse, match="belong together"):
        Pram(rho1=0.1)
    with pytest.raises(WrongUse, match="perturbs sensitive columns"):
        Pram(gamma=2).anonymize(Table((column("age", [1, 2]),)))
    with pytest.raises(Infeasible, match="only one value"):
        Pram(gamma=2).anonymize(Table((column("age", [1, 2]), column("ill", ["flu"] * 2, Role.SENSITIVE))))


def test_draws_do_not_depend_on_the_order_of_the_input() -> None:
    original = people(100)
    shuffled = original.take(np.random.default_rng(4).permutation(100))
    assert texts(Pram(gamma=3).anonymize(original, seed=1)[0].data) == texts(
        Pram(gamma=3).anonymize(shuffled, seed=1)[0].data
    )
    assert all(verdict.holds for verdict in judge(Pram(gamma=3).anonymize(original)[0]))

"""Anatomy: two linked tables, from the method to the files and back."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import models as naive
from tests.naive.linked import canonical
from tests.soak.published import read
from tests.tables import column, texts

import shoal
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Target
from shoal.data.linked import Linked, linked
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, BrokenPromise, Infeasible, WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures.queries import Queries
from shoal.methods.anatomy import Anatomy
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.ke_anonymity import KeAnonymity
from shoal.outcome import judge

HOSPITAL = [
    (23, "M", 11000, "pneumonia", 1),
    (27, "M", 13000, "dyspepsia", 1),
    (35, "M", 59000, "dyspepsia", 1),
    (59, "M", 12000, "pneumonia", 1),
    (61, "F", 54000, "flu", 2),
    (65, "F", 25000, "gastritis", 2),
    (65, "F", 25000, "flu", 2),
    (70, "F", 30000, "bronchitis", 2),
]
"""Tables 1 and 3 of the paper: age, sex, zip code, disease, and the group."""


def hospital() -> Linked:
    public = (
        column("age", [row[0] for row in HOSPITAL]),
        column("sex", [row[1] for row in HOSPITAL]),
        column("zip", [row[2] for row in HOSPITAL]),
    )
    secret = column("disease", [row[3] for row in HOSPITAL], Role.SENSITIVE)
    groups = np.array([row[4] - 1 for row in HOSPITAL], dtype=np.int64)
    return linked(public, groups, (secret,), groups, "group")[0]


def hospital_frame() -> pl.DataFrame:
    return pl.DataFrame([row[:4] for row in HOSPITAL], schema=["age", "sex", "zip", "disease"], orient="row")


def table(secrets: list[Any], ages: list[Any] | None = None) -> Table:
    ages = list(range(len(secrets))) if ages is None else ages
    return Table((column("age", ages), column("ill", secrets, Role.SENSITIVE)))


def test_the_papers_tables_are_2_diverse() -> None:
    data = hospital()
    assert DistinctDiversity(l=2).verify(data).holds
    assert not DistinctDiversity(l=3).verify(data).holds
    assert AlphaKAnonymity(alpha=0.5).verify(data).value == 0.5
    assert not AlphaKAnonymity(alpha=0.49).verify(data).holds
    assert texts(data.secrets) == [
        {"group": group, "disease": disease}
        for group, disease in (
            *(("1", one) for one in ("dyspepsia", "dyspepsia", "pneumonia", "pneumonia")),
            *(("2", one) for one in ("bronchitis", "flu", "flu", "gastritis")),
        )
    ]


def test_the_papers_query() -> None:
    """Query A: people up to 30 with a zip code up to 20,000 and pneumonia: the estimate is 1, and so is the truth."""
    original = Table(
        (
            column("age", [row[0] for row in HOSPITAL]),
            column("zip", [row[2] for row in HOSPITAL]),
            column("disease", [row[3] for row in HOSPITAL], Role.SENSITIVE),
        )
    )
    from shoal.measures._question_counts import LinkedCounter

    labels = original.column("disease").domain.labels
    wanted = np.array([label == "pneumonia" for label in labels])
    ages, zips = (original.column(name).domain.labels for name in ("age", "zip"))
    question = {
        "age": np.array([int(label) <= 30 for label in ages]),
        "zip": np.array([10001 <= int(label) <= 20000 for label in zips]),
        "disease": wanted,
    }
    assert LinkedCounter(original, hospital(), list(question)).answer(question) == 1.0


def test_from_files_and_back(tmp_path: Path) -> None:
    run = shoal.anonymize(
        hospital_frame(), "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3
    )
    for how in ("csv", "parquet"):
        folder = run.write(tmp_path / how, table_format=how)
        assert sorted(path.name for path in (folder / "release").iterdir()) == [
            "README.md",
            f"data.{how}",
            "datapackage.json",
            "release.json",
            f"sensitive.{how}",
        ]
        assert all(shoal.verify(folder))
        back = shoal.read_release(folder).data
        assert isinstance(back, Linked)
        assert texts(back.public) == texts(run.release.data.public)
        assert texts(back.secrets) == texts(run.release.data.secrets)
        frame = shoal.read_release(folder).to_polars()
        assert frame.columns == ["age", "sex", "zip", "group", "disease"]
        assert sorted(frame["disease"].explode().unique()) == sorted({row[3] for row in HOSPITAL})
    (tmp_path / "csv" / "release" / "notes.txt").write_text("forgotten")
    assert [verdict.model for verdict in shoal.verify(tmp_path / "csv")] == ["release-folder"]


def test_measured_and_attacked_from_the_folder(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    hospital_frame().write_csv(source)
    run = shoal.anonymize(source, "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3)
    folder = run.write(tmp_path / "out")
    assert shoal.measure(folder, source)["are"].value == run.score("are")
    found = shoal.attack(folder, source)
    assert found["linkage"].parts["highest"] <= 0.5
    assert {"linkage", "certainty", "definetti"} <= set(found)
    assert any("deFinetti" in warning for warning in run.warnings)
    assert not any("'group'" in warning for warning in run.warnings), "the link is no column of the owner"
    neighbor = shoal.find(folder, ["age=65", "sex=F"])
    assert neighbor.matches == 2
    assert neighbor.guess["disease"].share <= 0.5
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "deFinetti" in page
    frame = hospital_frame().with_columns(pl.lit("other").alias("disease"))
    frame.write_csv(source)
    with pytest.raises(BadData, match="not the original"):
        shoal.measure(folder, source)


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        ("sensitive.csv", lambda text: text.replace(",1\n", ",2\n", 1), "as many secrets as rows"),
        ("sensitive.csv", lambda text: text.replace(",1\n", ",one\n", 1), "whole number"),
        ("sensitive.csv", lambda text: text.replace("disease", "illness"), "release.json names"),
        ("data.csv", lambda text: text.replace("group", "class"), "release.json names"),
    ],
)
def test_damaged_files_are_refused(name: str, edit: Any, said: str, tmp_path: Path) -> None:
    run = shoal.anonymize(
        hospital_frame(), "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3
    )
    folder = run.write(tmp_path / "out", report=False)
    path = folder / "release" / name
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BadData, match=said):
        shoal.verify(folder)
    path.unlink()
    with pytest.raises(BadData):
        shoal.verify(folder)


def test_another_order_is_found(tmp_path: Path) -> None:
    """Rows in the order of the input would tell of it; groups numbered otherwise, too."""
    run = shoal.anonymize(
        hospital_frame(), "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3
    )
    folder = run.write(tmp_path / "out", report=False)
    path = folder / "release" / "data.csv"
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *reversed(lines)]) + "\n", encoding="utf-8")
    verdicts = shoal.verify(folder)
    assert [verdict.model for verdict in verdicts if not verdict.holds] == ["canonical-order"]


def test_a_broken_promise_is_found(tmp_path: Path) -> None:
    run = shoal.anonymize(
        hospital_frame(), "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3
    )
    untrue = tuple({**promise, "l": 4} for promise in run.release.promises if "l" in promise)
    broken = replace(run, release=replace(run.release, promises=untrue))
    with pytest.raises(BrokenPromise):
        broken.write(tmp_path / "out")


def test_what_cannot_be_promised_is_refused() -> None:
    people = table(["a", "b"] * 4)
    with pytest.raises(WrongUse, match="cannot promise k-anonymity"):
        Anatomy(k=3, l=2).anonymize(people)
    with pytest.raises(Infeasible, match="largest l is 2") as refusal:
        Anatomy(l=3).anonymize(people)
    assert refusal.value.best == 2
    with pytest.raises(WrongUse, match="one sensitive column"):
        Anatomy(l=2).anonymize(Table((column("age", [1, 2]),)))
    with pytest.raises(WrongUse, match="nothing to promise"):
        Anatomy().anonymize(people)


def test_numbers_are_permuted() -> None:
    """(k,e): groups of neighbors, of least error, that have k numbers spread over e."""
    salaries = [10, 11, 12, 20, 21, 22, 40, 41, 60]
    promise = KeAnonymity(column="ill", k=3, e=2)
    release, _ = Anatomy(promises=[promise]).anonymize(table(salaries), seed=1)
    groups: dict[str, set[str]] = {}
    for row in texts(release.data.secrets):
        groups.setdefault(row["group"], set()).add(row["ill"])
    assert {frozenset(values) for values in groups.values()} == {
        frozenset({"10", "11", "12"}),
        frozenset({"20", "21", "22"}),
        frozenset({"40", "41", "60"}),
    }
    assert all(verdict.holds for verdict in judge(release))


SECRETS = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=40)


@settings(max_examples=120, deadline=None)
@given(SECRETS, st.integers(2, 4), st.integers(0, 99), st.sampled_from([None, 0.3, 0.6]))
def test_groups_keep_the_promise(secrets: list[str], l: int, seed: int, t: float | None) -> None:  # noqa: E741
    """Every group has l values, none above 1/l, judged in plain Python; and canonical order is as the twin says."""
    ages = [place % 7 for place in range(len(secrets))]
    try:
        release, trace = Anatomy(l=l, t=t).anonymize(table(secrets, ages), seed=seed)
    except Infeasible:
        assert max(Counter(secrets).values()) * l > len(secrets)
        return
    data = release.data
    assert sorted(trace.rows.tolist()) == list(range(len(secrets)))
    rows = [((row["age"],), row["group"]) for row in texts(data.public)]
    held = [(row["group"], (row["ill"],)) for row in texts(data.secrets)]
    assert Counter(group for _, group in rows) == Counter(group for group, _ in held)
    assert Counter(value for _, (value,) in held) == Counter(secrets)
    by_group: dict[str, list[str]] = {}
    for group, (value,) in held:
        by_group.setdefault(group, []).append(value)
    for values in by_group.values():
        assert len(set(values)) >= l
        assert max(Counter(values).values()) * l <= len(values)
    whole = Counter(secrets)
    if t is not None:
        promise = {"t": t, "distance": "equal", "order": None}
        assert all(naive.work(promise, Counter(one), whole) <= naive.exact(t) for one in by_group.values())
    assert (rows, held) == canonical(rows, held)
    assert all(verdict.holds for verdict in judge(release))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 3)), min_size=1, max_size=12
    )
)
def test_canonical_order_is_the_twins(rows: list[tuple[str, str, int]]) -> None:
    numbers = sorted({group for _, _, group in rows})
    groups = np.array([numbers.index(group) for _, _, group in rows], dtype=np.int64)
    public = (column("q", [row[0] for row in rows]),)
    secret = (column("s", [row[1] for row in rows], Role.SENSITIVE),)
    data, _ = linked(public, groups, secret, groups, "group")
    expected = canonical(
        [((q,), str(group)) for q, _, group in rows], [(str(group), (s,)) for _, s, group in rows]
    )
    assert [((row["q"],), row["group"]) for row in texts(data.public)] == expected[0]
    assert [(row["group"], (row["s"],)) for row in texts(data.secrets)] == expected[1]


def test_secrets_that_go_with_public_values_are_learned() -> None:
    """DeFinetti: groups are 2-diverse, and the secret of most is found where it follows from the city."""
    cities = ["rome", "oslo", "bonn"] * 50
    people = Table(
        (
            column("age", list(range(150))),
            column("city", cities),
            column("ill", [f"illness of {city}" for city in cities], Role.SENSITIVE),
        )
    )
    release, _ = Anatomy(l=2).anonymize(people, seed=1)
    found = attack_all(Target(release, people))
    assert found["definetti"].success > 0.9
    assert found["definetti"].baseline == pytest.approx(0.5)
    assert found["linkage"].parts["highest"] == pytest.approx(0.5)


def test_questions_about_public_columns_are_exact() -> None:
    random = np.random.default_rng(3)
    people = Table(
        (
            column("age", random.integers(0, 30, 200).tolist()),
            column("city", random.choice(["a", "b"], 200).tolist()),
            column("ill", random.choice(["flu", "cold", "gout"], 200).tolist(), Role.SENSITIVE),
        )
    )
    release, _ = Anatomy(l=2).anonymize(people, seed=1)
    both = Comparison(people, release)
    assert Queries().compare(both)[0].value > 0
    plain = Table(people.quasi)
    asked = Queries().asked(plain, plain.names)
    from shoal.measures._question_counts import Counter as Rows
    from shoal.measures._question_counts import LinkedCounter

    truth = Rows({one.name: one for one in plain.columns}).answers(asked)
    assert list(map(LinkedCounter(plain, release.data, list(plain.names)).answer, asked)) == truth


def test_published_files_are_what_plain_python_reads(tmp_path: Path) -> None:
    run = shoal.anonymize(
        hospital_frame(), "anatomy", l=2, quasi=["age", "sex", "zip"], sensitive="disease", seed=3
    )
    published = read(run.write(tmp_path / "out", report=False))
    assert published.form == "linked"
    assert len(published.rows) == len(published.secrets) == 8

"""A series of releases: the example of Xiao and Tao, random series against the naive twin, and release folders."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.series import Release as Plain
from tests.naive.series import invariant
from tests.tables import column

import shoal
from shoal.cli import main
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.models.m_invariance import Appearances, MInvariance
from shoal.series import appearances, invariance, together

FIRST = [
    ("Bob", 21, 12, "dyspepsia", "[21,22]", "[12,14]"),
    ("Alice", 22, 14, "bronchitis", "[21,22]", "[12,14]"),
    ("Andy", 24, 18, "flu", "[23,24]", "[18,25]"),
    ("David", 23, 25, "gastritis", "[23,24]", "[18,25]"),
    ("Gary", 41, 20, "flu", "[36,41]", "[20,27]"),
    ("Helen", 36, 27, "gastritis", "[36,41]", "[20,27]"),
    ("Jane", 37, 33, "dyspepsia", "[37,43]", "[26,35]"),
    ("Ken", 40, 35, "flu", "[37,43]", "[26,35]"),
    ("Linda", 43, 26, "gastritis", "[37,43]", "[26,35]"),
    ("Paul", 52, 33, "dyspepsia", "[52,56]", "[33,34]"),
    ("Steve", 56, 34, "gastritis", "[52,56]", "[33,34]"),
]
"""Name, age, zip code in thousands, disease; and the published cells."""

PLAIN = [
    ("Bob", 21, 12, "dyspepsia", "[21,23]", "[12,25]"),
    ("David", 23, 25, "gastritis", "[21,23]", "[12,25]"),
    ("Emily", 25, 21, "flu", "[25,43]", "[21,33]"),
    ("Jane", 37, 33, "dyspepsia", "[25,43]", "[21,33]"),
    ("Linda", 43, 26, "gastritis", "[25,43]", "[21,33]"),
    ("Gary", 41, 20, "flu", "[41,46]", "[20,30]"),
    ("Mary", 46, 30, "gastritis", "[41,46]", "[20,30]"),
    ("Ray", 54, 31, "dyspepsia", "[54,56]", "[31,34]"),
    ("Steve", 56, 34, "gastritis", "[54,56]", "[31,34]"),
    ("Tom", 60, 44, "gastritis", "[60,65]", "[36,44]"),
    ("Vince", 65, 36, "flu", "[60,65]", "[36,44]"),
]
"""The second release, which betrays Bob: by both releases he can only have dyspepsia."""

SECOND = [
    ("Bob", 21, 12, "dyspepsia", "[21,22]", "[12,14]"),
    ("", 21, 12, "bronchitis", "[21,22]", "[12,14]"),
    ("David", 23, 25, "gastritis", "[23,25]", "[21,25]"),
    ("Emily", 25, 21, "flu", "[23,25]", "[21,25]"),
    ("Jane", 37, 33, "dyspepsia", "[37,43]", "[26,33]"),
    ("", 40, 30, "flu", "[37,43]", "[26,33]"),
    ("Linda", 43, 26, "gastritis", "[37,43]", "[26,33]"),
    ("Gary", 41, 20, "flu", "[41,46]", "[20,30]"),
    ("Mary", 46, 30, "gastritis", "[41,46]", "[20,30]"),
    ("Ray", 54, 31, "dyspepsia", "[54,56]", "[31,34]"),
    ("Steve", 56, 34, "gastritis", "[54,56]", "[31,34]"),
    ("Tom", 60, 44, "gastritis", "[60,65]", "[36,44]"),
    ("Vince", 65, 36, "flu", "[60,65]", "[36,44]"),
]
"""The 2-invariant second release, with two counterfeit rows that belong to nobody."""


def published(rows: list[tuple[str, int, int, str, str, str]]) -> Release:
    table = Table(
        (
            column("age", [row[4] for row in rows]),
            column("zip", [row[5] for row in rows]),
            column("disease", [row[3] for row in rows], Role.SENSITIVE),
        )
    )
    return Release(table, "by hand", {}, ())


def owned(rows: list[tuple[str, int, int, str, str, str]]) -> Table:
    known = [row for row in rows if row[0]]
    return Table(
        (
            column("name", [row[0] for row in known], Role.IDENTIFYING),
            column("age", [row[1] for row in known]),
            column("zip", [row[2] for row in known]),
            column("disease", [row[3] for row in known], Role.SENSITIVE),
        )
    )


def series(*releases: list[tuple[str, int, int, str, str, str]]) -> list[tuple[Release, Table]]:
    return [(published(rows), owned(rows)) for rows in releases]


def test_the_papers_example() -> None:
    betrayed = invariance(series(FIRST, PLAIN), "name")
    assert not betrayed.holds
    assert any("bronchitis" in one.why and "gastritis" in one.why for one in betrayed.offenders)
    assert not any("Bob" in f"{one.where} {one.why}" for one in betrayed.offenders), "nobody is named"
    kept = invariance(series(FIRST, SECOND), "name")
    assert kept.holds
    assert kept.value == 2
    assert not invariance(series(FIRST, SECOND), "name", m=3).holds


def test_one_release_by_itself() -> None:
    for rows in (FIRST, PLAIN, SECOND):
        assert MInvariance(m=2).verify(published(rows).data).holds
    twice = [*FIRST, ("Zoe", 21, 13, "dyspepsia", "[21,22]", "[12,14]")]
    verdict = MInvariance(m=2).verify(published(twice).data)
    assert not verdict.holds
    assert "occurs 2 times" in verdict.offenders[0].why


def plain(one: Appearances) -> Plain:
    classes = [
        [one.labels[code] for code in one.codes[one.indptr[place] : one.indptr[place + 1]]]
        for place in range(len(one.indptr) - 1)
    ]
    persons: dict[str, list[int]] = {}
    for who, place in zip(one.who.tolist(), one.places.tolist(), strict=True):
        persons.setdefault(one.persons[who], []).append(place)
    return classes, persons


@st.composite
def releases(draw: st.DrawFn) -> Appearances:
    """A few classes with a few secrets each, most of them different, and the persons in them."""
    labels = tuple(draw(st.permutations("abcd"))[: draw(st.integers(2, 4))])
    classes = draw(
        st.lists(
            st.lists(st.integers(0, len(labels) - 1), min_size=1, max_size=3, unique=draw(st.booleans())),
            min_size=1,
            max_size=3,
        )
    )
    indptr = np.concatenate(([0], np.cumsum([len(one) for one in classes])))
    persons = tuple(draw(st.permutations("pqrs"))[: draw(st.integers(1, 4))])
    places = draw(st.lists(st.integers(0, len(classes) - 1), min_size=len(persons), max_size=len(persons)))
    return Appearances(
        labels,
        indptr,
        np.array([code for one in classes for code in one], dtype=np.int64),
        persons,
        np.arange(len(persons)),
        np.array(places, dtype=np.int64),
    )


@settings(max_examples=400, deadline=None)
@given(st.lists(releases(), min_size=1, max_size=3), st.integers(2, 3), st.booleans())
def test_random_series_beside_the_twin(found: list[Appearances], m: int, again: bool) -> None:
    found = [*found, found[0]] if again else found
    assert MInvariance(m=m).verify_series(found).holds == invariant([plain(one) for one in found], m)


def test_anatomy_is_unique_but_not_invariant_by_itself(tmp_path: Path) -> None:
    """Each of its groups has m different secrets; but a second run draws other groups, and betrays somebody."""
    random = np.random.default_rng(2)
    people = pl.DataFrame(
        {
            "id": [f"p{row}" for row in range(60)],
            "age": list(range(60)),
            "ill": random.choice(list("abcd"), 60),
        }
    )
    people.write_csv(tmp_path / "in.csv")
    folders = []
    for seed in (1, 2):
        run = shoal.anonymize(
            tmp_path / "in.csv", "anatomy", l=3, quasi="age", sensitive="ill", identifying="id", seed=seed
        )
        assert MInvariance(m=3).verify(run.release.data).holds
        folders.append(run.write(tmp_path / f"out{seed}", report=False))
    source = tmp_path / "in.csv"
    assert not invariance([(folders[0], source), (folders[1], source)], "id", m=3).holds
    assert invariance([(folders[0], source), (folders[0], source)], "id", m=3).holds


def test_wrong_use() -> None:
    with pytest.raises(WrongUse, match="at least two"):
        invariance(series(FIRST), "name")
    twice = owned([FIRST[0], FIRST[0]])
    with pytest.raises(BadData, match="twice"):
        appearances(published(FIRST), twice, "name")


def patients(rows: int, seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{row}" for row in range(rows)],
            "age": random.integers(20, 90, rows),
            "bmi": random.integers(18, 40, rows),
            "ill": random.choice(list("abcdef"), rows),
        }
    )


def naive_alike(tables: list[tuple[pl.DataFrame, pl.DataFrame]]) -> list[int]:
    """For each person, how many share all her classes, by the cells that are published of her, in plain Python."""
    ranges = [
        {
            who: tuple(
                (row["age"], row["bmi"])
                for row in published.select("age", "bmi").unique().sort("age", "bmi").to_dicts()
                if all(_inside(original[name], row[name]) for name in ("age", "bmi"))
            )
            for who, original in ((one["id"], one) for one in originals.to_dicts())
        }
        for originals, published in tables
    ]
    last = ranges[-1]
    signs = {who: tuple(one.get(who) for one in ranges) for who in last}
    return [sum(other == sign for other in signs.values()) for sign in signs.values()]


def _inside(value: int, cell: str) -> bool:
    low, _, high = cell.strip("[]").partition(",")
    return int(low) <= value <= int(high or low)


def test_releases_together_count_as_plain_python_does() -> None:
    first = patients(60, 1)
    second = pl.concat([first.head(50), patients(70, 3).tail(10)])
    options: dict[str, Any] = {"quasi": ["age", "bmi"], "sensitive": "ill", "identifying": "id"}
    runs = [shoal.anonymize(frame, "mondrian", k=4, **options) for frame in (first, second)]
    found = together([(runs[0], first), (runs[1], second)], "id")
    (alike,) = found.verdicts
    published = [run.release.to_polars() for run in runs]
    expected = naive_alike([(first, published[0]), (second, published[1])])
    assert (found.kept, found.new, found.gone) == (50, 10, 10)
    assert alike.value == min(expected)
    assert alike.offender_count == sum(one < 4 for one in expected)
    assert not found.holds
    assert together([(runs[0], first), (runs[0], first)], "id").holds
    left = together([(runs[0], first), (runs[1], second)], "id", k=1, l=2).verdicts[1]
    assert left.value is not None
    assert together([(runs[0], first), (runs[0], first)], "id", k=1, l=2).verdicts[1].value >= left.value  # type: ignore[operator]


def test_a_release_after_another_one_is_refused_or_says_what_they_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patients(60, 1).write_csv("may.csv")
    pl.concat([patients(60, 1).head(50), patients(70, 3).tail(10)]).write_csv("june.csv")
    roles = ["--quasi", "age,bmi", "--sensitive", "ill", "--identifying", "id", "--k", "4"]
    assert main(["anonymize", "mondrian", "may.csv", *roles, "-o", "out1"]) == 0
    capsys.readouterr()
    assert main(["anonymize", "mondrian", "june.csv", *roles, "--after", "out1", "-o", "out2"]) == 1
    assert "Together with the earlier releases, this one breaks k-anonymity" in capsys.readouterr().err
    assert not Path("out2").exists()
    levels = ["--hierarchy", "age=intervals:40", "--hierarchy", "bmi=suppress", "--suppression-limit", "0.5"]
    fixed = [*levels, "--min-level", "age=1", "--max-level", "age=1", "--min-level", "bmi=1"]
    assert main(["anonymize", "lattice", "may.csv", *roles, *levels, "-o", "out3"]) == 0
    patients(60, 1).head(50).write_csv("july.csv")
    assert main(["anonymize", "lattice", "july.csv", *roles, *fixed, "--after", "out3", "-o", "out4"]) == 0
    assert "50 people kept, 0 new, 10 gone" in capsys.readouterr().out
    again = ["--after", "out1=may.csv", "--who", "id", "-o", "again", "--save-recipe", "again.toml"]
    assert main(["anonymize", "mondrian", "may.csv", *roles, *again]) == 0
    said = "Together with earlier releases (60 people kept, 0 new, 0 gone): at least 4 people are alike"
    assert said in capsys.readouterr().out
    assert "60 people kept" in Path("again/report.html").read_text()
    assert main(["run", "again.toml", "-o", "third"]) == 0
    assert main(["anonymize", "mondrian", "may.csv", *roles, "--who", "id", "-o", "fourth"]) == 2
    Path("may.csv").rename("moved.csv")
    assert main(["anonymize", "mondrian", "june.csv", *roles, "--after", "out1", "-o", "out2"]) == 3
    assert "name it: --after out1=FILE" in capsys.readouterr().err

"""The two summarized tables of the seed, disease by gender and by age, with their totals."""

from pathlib import Path

import polars as pl
import pytest
from tests.summaries.attack import Attacked

import shoal

GENDER = {
    "Cancer": {"Male": 50, "Female": 60, "TOTAL": 110},
    "Hypertension": {"Male": 10, "Female": 5, "TOTAL": 15},
    "Heart disease": {"Male": 15, "Female": 20, "TOTAL": 35},
    "TOTAL": {"Male": 75, "Female": 85, "TOTAL": 160},
}
AGE = {
    "Cancer": {"< 20": 20, "21-40": 40, "41-60": 30, "> 60": 20, "TOTAL": 110},
    "Hypertension": {"< 20": 10, "21-40": 0, "41-60": 5, "> 60": 0, "TOTAL": 15},
    "Heart disease": {"< 20": 3, "21-40": 7, "41-60": 15, "> 60": 10, "TOTAL": 35},
    "TOTAL": {"< 20": 33, "21-40": 47, "41-60": 50, "> 60": 30, "TOTAL": 160},
}
TABLES = [["disease", "gender"], ["disease", "age"]]


@pytest.fixture
def patients() -> pl.DataFrame:
    """Rows that the two tables are the summaries of."""
    rows = []
    for disease in list(GENDER)[:-1]:
        genders = [name for name, count in GENDER[disease].items() if name != "TOTAL" for _ in range(count)]
        ages = [name for name, count in AGE[disease].items() if name != "TOTAL" for _ in range(count)]
        rows += [(disease, *pair) for pair in zip(genders, ages, strict=True)]
    return pl.DataFrame(rows, schema=["disease", "gender", "age"], orient="row")


def published(folder: Path) -> dict[tuple[str, ...], str]:
    return Attacked(folder, "count").seen


def test_the_tables_as_they_stand_in_the_seed(patients: pl.DataFrame, tmp_path: Path) -> None:
    """With a threshold of 3 nothing has to be hidden."""
    shoal.summarize(patients, TABLES, threshold=3).write(tmp_path / "out")
    seen = published(tmp_path / "out")
    expected = {
        (disease, gender, "TOTAL"): str(n) for disease, row in GENDER.items() for gender, n in row.items()
    }
    expected |= {(disease, "TOTAL", age): str(n) for disease, row in AGE.items() for age, n in row.items()}
    assert seen == expected
    assert all(shoal.verify(tmp_path / "out"))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "count by disease and age" in page
    assert "<td>110</td>" in page


def test_the_tables_protected(patients: pl.DataFrame, tmp_path: Path) -> None:
    """With a threshold of 6 three counts are small; each is hidden with its row, its column and a fourth corner."""
    found = shoal.summarize(patients, TABLES, threshold=6)
    assert found.hidden == {"count": (3, 5)}
    found.write(tmp_path / "out")
    seen = published(tmp_path / "out")
    small = {
        ("Hypertension", "Female", "TOTAL"),
        ("Hypertension", "TOTAL", "41-60"),
        ("Heart disease", "TOTAL", "< 20"),
    }
    hidden = {cell for cell, text in seen.items() if text == "*"}
    assert small < hidden
    assert seen["Hypertension", "TOTAL", "21-40"] == "0"
    attacked = Attacked(tmp_path / "out", "count")
    for cell in hidden:
        low, high = attacked.interval(cell)
        assert high - low >= 6

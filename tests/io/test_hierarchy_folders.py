"""A folder of hierarchies, each named after its column."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.io.hierarchy_texts import AMNESIA, RANGES, Files, rows

from shoal.data.domain import Domain, Kind
from shoal.errors import BadData
from shoal.io.hierarchies.load import (
    read_hierarchies,
)


def test_a_folder_gives_the_hierarchies_of_its_columns_alone(tmp_path: Path, file: Files) -> None:
    file("Male;*\nFemale;*\n", "sex.csv")
    file("White;*\n", "adult_hierarchy_race.csv")
    file(AMNESIA, "animal.txt")
    file("this is no hierarchy", "occupation.csv")
    file("nor is this", "age.md")
    found = read_hierarchies(tmp_path, ["sex", "race", "animal", "age"])
    assert {column: hierarchy.leaves for column, hierarchy in found.items()} == {
        "sex": ("Male", "Female"),
        "race": ("White",),
        "animal": ("cat", "dog", "tit", ""),
    }


def test_two_files_for_one_column_are_refused(tmp_path: Path, file: Files) -> None:
    file("Male;*\n", "sex.csv")
    file("Male;*\n", "adult_hierarchy_sex.csv")
    assert read_hierarchies(tmp_path, ["age"]) == {}
    with pytest.raises(BadData, match=r"column 'sex': adult_hierarchy_sex\.csv and sex\.csv are both"):
        read_hierarchies(tmp_path, ["sex"])


def test_a_folder_of_ranges_needs_the_domains(tmp_path: Path, file: Files) -> None:
    file(RANGES, "age.txt")
    domain = Domain(Kind.NUMERIC, ("7",), np.array([7.0]))
    assert rows(read_hierarchies(tmp_path, {"age": domain})["age"])[0][:2] == ("7", "[0,25)")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="the folder of hierarchies cannot be read"):
        read_hierarchies(tmp_path / "none", ["age"])


def test_arx_adult_hierarchies_are_read(public_data: Callable[[str], Path]) -> None:
    columns = (
        "age",
        "education",
        "marital-status",
        "native-country",
        "occupation",
        "race",
        "sex",
        "workclass",
    )
    found = read_hierarchies(public_data("arx-adult/hierarchies"), columns)
    heights = {column: (len(hierarchy.leaves), hierarchy.height) for column, hierarchy in found.items()}
    assert heights == {
        "age": (100, 4),
        "education": (16, 3),
        "marital-status": (7, 2),
        "native-country": (41, 2),
        "occupation": (14, 2),
        "race": (5, 1),
        "sex": (2, 1),
        "workclass": (8, 2),
    }
    assert rows(found["education"])[0] == ("Bachelors", "Undergraduate", "Higher education", "*")

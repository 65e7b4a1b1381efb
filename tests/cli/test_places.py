"""Results never go over the data, and files that are there stay unless --force says otherwise."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.errors import WrongUse
from shoal.io.overwrite_guard import refuse_source

KEPT = "is where the data is read from"


def anonymize(shoal: Callable[..., object], source: object, *more: object) -> object:
    roles = ("--quasi", "age", "--others", "drop", "--no-report", "-o", "out")
    return shoal("anonymize", "mondrian", source, "--k", 2, *roles, *more)


def test_a_recipe_replaces_nothing_unasked(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    answer = anonymize(shoal, people, "--save-recipe", "notes.txt")
    assert (answer.code, (folder / "notes.txt").read_text()) == (2, "mine")
    assert "notes.txt is there already" in answer.err
    assert not (folder / "out").exists()
    assert anonymize(shoal, people, "--save-recipe", "notes.txt", "--force").code == 0
    assert "mondrian" in (folder / "notes.txt").read_text()


def test_a_place_that_takes_nothing_is_refused_before_the_work(
    shoal: Callable[..., object], people: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "notes.txt").write_text("mine")
    answer = shoal("anonymize", "mondrian", "absent.csv", "--k", 2, "--quasi", "age", "-o", "notes.txt/out")
    assert answer.code == 2
    assert "notes.txt/out cannot be written: " in answer.err
    assert "notes.txt is no folder. Choose another place" in answer.err
    answer = anonymize(shoal, people, "--save-recipe", "notes.txt/recipe.toml")
    assert (answer.code, "notes.txt is no folder" in answer.err) == (2, True)
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != folder)
    answer = anonymize(shoal, people)
    assert (answer.code, "may not be written to. Choose another place" in answer.err) == (2, True)
    assert not (folder / "out").exists()


@pytest.mark.parametrize("link", [False, True])
def test_a_recipe_never_replaces_the_data(
    link: bool, shoal: Callable[..., object], people: Path, folder: Path
) -> None:
    before = people.read_bytes()
    name = "./people.csv"
    if link:
        os.symlink("people.csv", folder / "link.csv")
        name = "link.csv"
    answer = anonymize(shoal, people, "--save-recipe", name, "--force")
    assert answer.code == 2
    assert KEPT in answer.err
    assert people.read_bytes() == before


def test_a_table_of_a_database_is_not_its_own_target(shoal: Callable[..., object], folder: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    with sqlite3.connect(folder / "clinic.db") as database:
        database.execute("create table visits (age integer)")
        database.executemany("insert into visits values (?)", [(20,), (21,), (40,), (41,)])
    database.close()
    source = "sqlite:///clinic.db?table=visits"
    for target in (
        source,
        "sqlite:///./clinic.db?table=VISITS",
        f"sqlite:///{folder}/clinic.db?table=visits",
    ):
        answer = anonymize(shoal, source, "--to", target, "--force")
        assert answer.code == 2
        assert KEPT in answer.err
    query = ("--query", "select age from Visits where age > 0")
    answer = anonymize(shoal, "sqlite:///clinic.db", *query, "--to", source, "--force")
    assert (answer.code, KEPT in answer.err) == (2, True)
    assert anonymize(shoal, source, "--to", "sqlite:///clinic.db?table=release").code == 0
    with sqlite3.connect(folder / "clinic.db") as database:
        assert database.execute("select count(*), sum(age) from visits").fetchone() == (4, 122)
    database.close()


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (
            "postgresql://ann@host/clinic?table=visits",
            "postgresql://bob:secret@host:5432/clinic?table=visits",
        ),
        ("postgresql://localhost/clinic?table=visits", "postgresql:///clinic?table=public.visits"),
        ("postgresql://host/clinic?table=visits", "postgres://host/clinic?table=visits"),
    ],
)
def test_one_table_has_many_addresses(target: str, source: str) -> None:
    with pytest.raises(WrongUse, match="is where the data is read from") as error:
        refuse_source(target, source)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("postgresql://host/clinic?table=release", "postgresql://host/clinic?table=visits"),
        ("postgresql://host/other?table=visits", "postgresql://host/clinic?table=visits"),
        ("postgresql://host:5433/clinic?table=visits", "postgresql://host/clinic?table=visits"),
        ("postgresql://host/clinic?table=mine.visits", "postgresql://host/clinic?table=visits"),
        ("sqlite:///a.db?table=visits", "sqlite:///b.db?table=visits"),
        ("sqlite:///a.db?table=visits", "postgresql://host/clinic?table=visits"),
        ("a.csv", "b.csv"),
        ("-", "-"),
    ],
)
def test_other_places_are_free(target: str, source: str) -> None:
    refuse_source(target, source)


def test_a_release_folder_does_not_swallow_the_data(
    shoal: Callable[..., object], people: Path, folder: Path
) -> None:
    assert anonymize(shoal, people).code == 0
    data = folder / "out/release/data.csv"
    before = data.read_bytes()
    answer = shoal("anonymize", "mondrian", data, "--k", 2, "--quasi", "age", "--force", "-o", "out")
    assert answer.code == 2
    assert "lies in the release folder" in answer.err
    assert data.read_bytes() == before


def test_hierarchies_and_conversions_keep_their_source(
    shoal: Callable[..., object], people: Path, folder: Path
) -> None:
    before = people.read_bytes()
    answer = shoal("hierarchy", "build", people, "age=intervals:5,10", "-o", "people.csv", "--force")
    assert (answer.code, KEPT in answer.err) == (2, True)
    assert shoal("hierarchy", "build", people, "age=intervals:5,10", "-o", "age.csv").code == 0
    tree = (folder / "age.csv").read_bytes()
    answer = shoal("hierarchy", "convert", "age.csv", "./age.csv", "--force")
    assert (answer.code, KEPT in answer.err) == (2, True)
    answer = shoal("hierarchy", "convert", "age.csv", "people.csv", "--data", "people.csv", "--force")
    assert (answer.code, KEPT in answer.err) == (2, True)
    (folder / "baskets.dat").write_text("1 2\n2\n")
    answer = shoal("convert", "baskets.dat", "baskets.dat", "--force")
    assert (answer.code, KEPT in answer.err) == (2, True)
    assert people.read_bytes() == before
    assert (folder / "age.csv").read_bytes() == tree
    assert (folder / "baskets.dat").read_text() == "1 2\n2\n"

"""From a file to a release folder: what is written, what is shown."""

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import adult

from shoal.io.tables.load import read_table, write_database


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_a_release_folder(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *roles, "-o", "out")
    assert (answer.code, answer.err) == (0, "")
    assert "OK      k-anonymity: every class has at least 5 rows; found" in answer.out
    assert "120 rows published" in answer.out
    assert f"Publish  {Path('out') / 'release'}" in answer.out
    assert "out/report.html" in answer.out
    assert "lm_mean" in answer.out
    assert sorted(path.name for path in (folder / "out").rglob("*.*")) == [
        "README.md",
        "data.csv",
        "datapackage.json",
        "release.json",
        "report.html",
        "run.json",
    ]
    published = rows_of(folder / "out/release/data.csv")
    assert published[0] == ["age", "education", "zip", "occupation"]
    assert len(published) == 121


def test_the_order_of_the_input_is_not_told(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    head, *rows = people.read_text().splitlines()
    (folder / "turned.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
    for name, out in (("people.csv", "one"), ("turned.csv", "two")):
        assert shoal("anonymize", "mondrian", name, "--k", 5, *roles, "--no-report", "-o", out).code == 0
    assert (folder / "one/release/data.csv").read_bytes() == (folder / "two/release/data.csv").read_bytes()


def test_quiet_prints_nothing(shoal: Callable[..., object], people: Path, roles: tuple[str, ...]) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "--quiet", "-o", "out")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_json_is_one_object(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "--json", "-o", "out")
    said = json.loads(answer.out)
    assert said["holds"] is True
    assert said["verdicts"][0]["model"] == "k-anonymity"
    assert (said["published"], said["suppressed"]) == (120, 0)
    assert 0 < said["scores"]["lm_mean"] < 1
    assert said["scores"]["lm.age"] > 0
    assert (said["release"], said["report"]) == ("out/release", None)
    assert not (folder / "out/report.html").exists()


def test_options_reach_the_method(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    call = ("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "--format", "parquet")
    options = (
        "--partitioning",
        "relaxed",
        "--split",
        "loss",
        "--weight",
        "age=2",
        "--weight",
        "zip=0.5",
        "--seed",
        3,
    )
    assert shoal(*call, *options, "-o", "out").code == 0
    assert (folder / "out/release/data.parquet").exists()
    said = json.loads((folder / "out/release/release.json").read_text())
    assert said["parameters"]["partitioning"] == "relaxed"
    assert said["parameters"]["split"] == "loss"
    assert said["parameters"]["weights"] == {"age": 2.0, "zip": 0.5}
    assert "seed" not in json.dumps(said)


def test_hierarchies(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    (folder / "trees").mkdir()
    (folder / "trees/people_hierarchy_education.csv").write_text(
        "school;low;*\ncollege;high;*\nuniversity;high;*\n"
    )
    (folder / "trees/other.csv").write_text("no hierarchy at all")
    call = ("anonymize", "mondrian", people, "--k", 40, *roles, "--no-report", "-o", "out")
    assert (
        shoal(
            *call, "--hierarchies", "trees", "--hierarchy", "age=intervals:10,20", "--hierarchy", "zip=mask"
        ).code
        == 0
    )
    kept = json.loads((folder / "out/run.json").read_text())["hierarchies"]
    assert set(kept) == {"age", "education", "zip"}
    answer = shoal("measure", "out", "--original", people, "--json")
    assert answer.code == 0
    said = json.loads((folder / "out/run.json").read_text())["scores"]
    assert json.loads(answer.out)["lm"] == next(score["value"] for score in said if score["name"] == "lm")


def test_a_recipe_does_the_same_again(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    (folder / "recipes").mkdir()
    call = ("anonymize", "mondrian", "people.csv", "--k", 5, *roles, "--no-report", "--weight", "age=2")
    more = (
        "--hierarchy",
        "age=intervals:10,20",
        "--kind",
        "zip=nominal",
        "--save-recipe",
        "recipes/plan.toml",
    )
    assert shoal(*call, *more, "-o", "one").code == 0
    plan = tomllib.loads((folder / "recipes/plan.toml").read_text())
    assert plan["source"]["path"] == "../people.csv"
    assert plan["method"] == {"name": "mondrian", "k": 5, "weights": {"age": 2.0}}
    assert shoal("run", "recipes/plan.toml", "-o", "two").code == 0
    assert (folder / "one/release/data.csv").read_bytes() == (folder / "two/release/data.csv").read_bytes()
    answer = shoal("run", "recipes/plan.toml")
    assert answer.code == 2
    assert "one" in answer.err
    assert shoal("run", "recipes/plan.toml", "--force", "--quiet").code == 0


def test_several_rows_a_person(shoal: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"p{row // 2},{20 + row // 8},{'xyz'[row % 3]}\n" for row in range(48))
    (folder / "visits.csv").write_text("person,age,illness\n" + rows)
    call = (
        "anonymize",
        "mondrian",
        "visits.csv",
        "--quasi",
        "age",
        "--sensitive",
        "illness",
        "--entity",
        "person",
    )
    answer = shoal(*call, "--k", 4, "--no-report", "-o", "out")
    assert answer.code == 0
    assert "at least 4 persons" in answer.out
    answer = shoal(*call, "--k", 25, "--no-report", "-o", "more")
    assert answer.code == 1
    assert "24 persons" in answer.err


def test_a_separator_and_names(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "raw.txt").write_text("".join(f"{20 + row % 5}\tx{row % 3}\n" for row in range(30)))
    call = ("anonymize", "mondrian", "raw.txt", "--separator", "tab", "--names", "age,job")
    assert (
        shoal(*call, "--quasi", "age", "--sensitive", "job", "--k", 6, "--no-report", "-o", "out").code == 0
    )
    assert rows_of(folder / "out/release/data.csv")[0] == ["age", "job"]


def test_missing_values(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "gaps.csv").write_text("age,job\n20,x\n-,x\n21,y\n?,y\n22,x\n23,y\n")
    call = (
        "anonymize",
        "mondrian",
        "gaps.csv",
        "--quasi",
        "age",
        "--sensitive",
        "job",
        "--k",
        2,
        "--no-report",
    )
    assert shoal(*call, "--missing=-,?", "-o", "kept").code == 0
    assert len(rows_of(folder / "kept/release/data.csv")) == 7
    assert shoal(*call, "--missing=-,?", "--drop-missing", "-o", "dropped").code == 0
    assert len(rows_of(folder / "dropped/release/data.csv")) == 5


def test_progress_on_a_terminal(
    shoal: Callable[..., object],
    people: Path,
    roles: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "-o", "out")
    assert answer.code == 0
    assert any(step in answer.err for step in ("anonymizing by mondrian", "writing", "verifying"))
    assert "OK" in answer.out


def test_from_and_into_a_database(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    import sqlite3

    head, *rows = rows_of(people)
    with sqlite3.connect("people.db") as database:
        database.execute(f"create table people ({', '.join(head).replace('age', 'age integer')})")
        database.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    database.close()
    call = ("anonymize", "mondrian", "sqlite:///people.db", "--query", "select * from people where age < 50")
    more = ("--k", 5, *roles, "--no-report", "--to", "sqlite:///people.db?table=published")
    assert shoal(*call, *more, "-o", "out").code == 0
    published = rows_of(folder / "out/release/data.csv")
    database = sqlite3.connect("people.db")
    assert sorted(database.execute("select age, occupation from published").fetchall()) == sorted(
        (row[0], row[3]) for row in published[1:]
    )
    database.close()
    answer = shoal(*call, *more, "-o", "again")
    assert answer.code == 2
    assert "published" in answer.err
    assert not (folder / "again").exists()
    assert shoal("measure", "out", "--original", "sqlite:///people.db", "--json").code == 0


def test_a_password_is_not_kept(
    shoal: Callable[..., object], people: Path, folder: Path, postgres: str
) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    address = postgres.replace("shoal@", "shoal:s3cret@") + "?sslpassword=s3cret&table=everybody"
    everybody = read_table(people, quasi=["age", "education"], others="drop")
    write_database(everybody, address, force=True)
    call = (
        "anonymize",
        "mondrian",
        people,
        "--k-map",
        2,
        "--population",
        address,
        "--save-recipe",
        "saved.toml",
    )
    roles = ("--quasi", "age,education", "--others", "drop")
    to = ("--to", address.replace("everybody", "published"), "--force")
    answer = shoal(*call, *roles, *to, "-o", "out")
    assert answer.code == 0, answer.err
    for name in ("out/run.json", "out/report.html", "out/release/release.json", "saved.toml"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "s3cret" not in text, name
        assert ("shoal@127.0.0.1" in text) == (name != "out/release/release.json"), name
    assert "s3cret" not in answer.out + answer.err
    answer = shoal("verify", "out", "--population", address.replace("everybody", "nobody"))
    assert answer.code == 3
    assert "s3cret" not in answer.err


def test_adult(shoal: Callable[..., object], public_data: Callable[[str], Path], folder: Path) -> None:
    original = folder / "adult.csv"
    adult.write_complete(public_data("adult/adult.data.gz"), original)
    call = (
        "anonymize",
        "mondrian",
        original,
        "--k",
        10,
        "--quasi",
        "age,education-num",
        "--sensitive",
        "occupation",
    )
    assert shoal(*call, "--others", "drop", "--no-report", "-o", "out").code == 0
    data = folder / "out/release/data.csv"
    rows = rows_of(data)
    assert rows[0] == ["age", "education-num", "occupation"]
    assert len(rows) == 30_163
    assert shoal("verify", "out").code == 0
    assert shoal("verify", "out/release").code == 0
    said = json.loads(shoal("measure", "out", "--original", original, "--json").out)
    assert said["lm_mean"] == pytest.approx(said["lm"] / 2)
    assert said["lm"] == pytest.approx(said["lm.age"] + said["lm.education-num"])

    rows[1][0] = "[101,102]"
    with data.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    answer = shoal("verify", "out")
    assert answer.code == 1
    assert "BROKEN" in answer.out
    assert f"age [101,102], education-num {rows[1][1]}: 1 row" in answer.out

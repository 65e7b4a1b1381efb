"""Releases measured against their original, and against anything else."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

OTHER = "not the original of this release"
ALONG = (
    "--hierarchy",
    "age=intervals:10,20,40",
    "--hierarchy",
    "education=suppress",
    "--hierarchy",
    "zip=mask",
)


def release_by(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], method: str, *more: object
) -> None:
    answer = shoal("anonymize", method, people, "--k", 3, *roles, *more, "--no-report", "-o", "out")
    assert answer.code == 0, answer.err


def other(people: Path, change: Callable[[list[list[str]]], object]) -> Path:
    """A file with as many rows, and other cells."""
    head, *rows = [line.split(",") for line in people.read_text().splitlines()]
    change(rows)
    path = people.with_name("other.csv")
    path.write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("mondrian", ()),
        ("mondrian", ("--publish", "sets")),
        ("mondrian", ALONG),
        ("mondrian", (*ALONG, "--publish", "ranges")),
        ("lattice", (*ALONG, "--suppression-limit", "0.2")),
        ("samarati", (*ALONG, "--suppression-limit", "0.2")),
        ("table-rule-hiding", ("--confidence", "0.6", "--seed", "1")),
        ("table-rule-hiding", ("--confidence", "0.6", "--strategy", "merge")),
    ],
)
def test_an_original_is_recognized(
    method: str, more: tuple[str, ...], shoal: Callable[..., object], people: Path, roles: tuple[str, ...]
) -> None:
    release_by(shoal, people, roles, method, *more)
    answer = shoal("measure", "out", "--original", people, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert "discernibility" in json.loads(answer.out)


def shift_ages(rows: list[list[str]]) -> None:
    for row in rows:
        row[1] = str(int(row[1]) + 100)


def rename_schools(rows: list[list[str]]) -> None:
    for row in rows:
        row[2] = row[2].upper()


def change_jobs(rows: list[list[str]]) -> None:
    for row in rows:
        row[4] = "baker" if row[4] == "smith" else row[4]


@pytest.mark.parametrize("more", [(), ("--publish", "sets"), ALONG])
@pytest.mark.parametrize("change", [shift_ages, rename_schools, change_jobs])
def test_another_original_is_refused(
    change: Callable[[list[list[str]]], object],
    more: tuple[str, ...],
    shoal: Callable[..., object],
    people: Path,
    roles: tuple[str, ...],
) -> None:
    release_by(shoal, people, roles, "mondrian", *more)
    answer = shoal("measure", "out", "--original", other(people, change))
    assert answer.code == 3
    assert OTHER in answer.err
    assert "other.csv" in answer.err


def test_a_raw_value_that_the_original_lacks(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "a.csv").write_text("age\n39\n39\n50\n60\n")
    (folder / "b.csv").write_text("age\n38\n40\n50\n60\n")
    assert shoal("anonymize", "mondrian", "a.csv", "--k", 2, "--quasi", "age", "-o", "out").code == 0
    answer = shoal("measure", "out", "--original", "b.csv")
    assert answer.code == 3
    assert "b.csv, column 'age': this is not the original" in answer.err
    assert "'39' is published, and no row of the original has it" in answer.err


def test_another_original_of_baskets(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "a.dat").write_text("1 2\n1 2\n1 2\n" * 4)
    (folder / "b.dat").write_text("1 3\n1 3\n1 3\n" * 4)
    assert shoal("anonymize", "disassociation", "a.dat", "--k", 2, "--m", 2, "-o", "out").code == 0
    assert shoal("measure", "out", "--original", "a.dat").code == 0
    answer = shoal("measure", "out", "--original", "b.dat")
    assert answer.code == 3
    assert "the item '2' is published" in answer.err


@pytest.mark.parametrize("engine", [(), ("--engine", "stream")])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("baskets.dat", "milk\nmilk bread\n"),
        ("baskets.txt", "milk bread tea\nmilk\n"),
        ("numbers.txt", "10307\n10311 12487\n"),
        ("long.csv", "basket,item\n1,milk\n1,bread\n2,tea\n"),
    ],
)
def test_baskets_are_no_original_of_a_table(
    name: str,
    text: str,
    engine: tuple[str, ...],
    shoal: Callable[..., object],
    people: Path,
    roles: tuple[str, ...],
    folder: Path,
) -> None:
    release_by(shoal, people, roles, "mondrian")
    (folder / name).write_text(text)
    answer = shoal("measure", "out", "--original", name, *engine)
    assert answer.code == 3
    assert f"{name}: this looks like baskets, and the release is a table. Give the data" in answer.err


@pytest.mark.parametrize("engine", [(), ("--engine", "stream")])
@pytest.mark.parametrize("layout", [(), ("--baskets", "long:who,what")])
@pytest.mark.parametrize("ending", ["csv", "dat", "parquet"])
def test_a_table_is_no_original_of_baskets(
    ending: str,
    layout: tuple[str, ...],
    engine: tuple[str, ...],
    shoal: Callable[..., object],
    people: Path,
    folder: Path,
) -> None:
    lines = ["1,2", "1,3", "2,2", "2,3"] * 3
    (folder / "a.csv").write_text("\n".join(["who,what" if layout else "basket,item", *lines]) + "\n")
    made = shoal("anonymize", "disassociation", "a.csv", "--k", 2, "--m", 2, *layout, "-o", "out")
    assert made.code == 0, made.err
    name = f"table.{ending}"
    frame = pl.read_csv(people)
    frame.write_parquet(name) if ending == "parquet" else frame.write_csv(name)
    answer = shoal("measure", "out", "--original", name, *engine)
    assert answer.code == 3
    assert f"{name}: this looks like a table, and the release is one of baskets. Give the data" in answer.err


def test_part_files_of_another_kind_are_no_original_either(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    for name in ("shop", "persons"):
        (folder / name).mkdir()
    (folder / "shop" / "part-0.dat").write_text("milk\nmilk bread\n")
    shutil.copy(people, folder / "persons" / "part-0.csv")
    release_by(shoal, people, roles, "mondrian")
    answer = shoal("measure", "out", "--original", "shop")
    assert (answer.code, "shop: this looks like baskets, and the release is a table." in answer.err) == (
        3,
        True,
    )
    (folder / "a.dat").write_text("1 2\n1 3\n2 3\n" * 3)
    made = shoal("anonymize", "disassociation", "a.dat", "--k", 2, "--m", 2, "-o", "groups")
    assert made.code == 0, made.err
    answer = shoal("measure", "groups", "--original", "persons")
    assert (answer.code, "persons: this looks like a table, and the release is one of" in answer.err) == (
        3,
        True,
    )


def test_another_table_is_a_table(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    """With a column of the release it is no baskets, whatever it is called; another complaint stays what it is."""
    release_by(shoal, people, roles, "mondrian")
    (folder / "table.dat").write_text("age\n39\n")
    answer = shoal("measure", "out", "--original", "table.dat")
    assert answer.code == 2
    assert "There is no column" in answer.err
    (folder / "other.dat").write_text("height,weight\n170,70\n")
    assert "looks like" not in shoal("measure", "out", "--original", "other.dat").err
    answer = shoal("measure", "out", "--original", "nowhere.dat")
    assert "looks like" not in answer.err


def test_it_needs_the_private_files(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...]
) -> None:
    release_by(shoal, people, roles, "mondrian")
    wanted = "Name the folder that `shoal anonymize … -o` made, with its private files"
    for place in ("out/release", "nowhere", "people.csv"):
        answer = shoal("measure", place, "--original", people)
        assert answer.code == 3
        assert f"{place}/run.json: there is no such file. {wanted}" in answer.err


def test_facts_have_no_better_end(shoal: Callable[..., object], people: Path, roles: tuple[str, ...]) -> None:
    release_by(shoal, people, roles, "mondrian")
    lines = {
        line.split()[0]: line
        for line in shoal("measure", "out", "--original", people).out.splitlines()
        if line
    }
    for fact in ("classes", "smallest_class", "mean_class", "median_class", "largest_class"):
        assert "is better" not in lines[fact]
    assert "(lower is better)" in lines["discernibility"]


def test_measures_by_name_and_with_options(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], tmp_path: Path
) -> None:
    release_by(shoal, people, roles, "mondrian")
    asked = shoal("measure", "out", "--original", people, "--measures", "loss,queries", "--json")
    assert asked.code == 0, asked.err
    names = {name.partition(".")[0] for name in json.loads(asked.out)}
    assert names == {"lm", "lm_mean", "ncp", "gcp", "granularity", "are", "are_median"}
    work = tmp_path / "work.jsonl"
    work.write_text('{"age": [20, 60]}\n')
    shown = shoal("measure", "out", "--original", people, "--option", f"queries.workload={work}")
    assert shown.code == 0, shown.err
    assert "1 counting questions of the workload" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--measures", "los"), "Did you mean 'loss'"),
        (("--option", "queries.question=3"), "question is not a parameter here"),
        (("--option", "queries=3"), "MEASURE.OPTION=VALUE"),
    ],
)
def test_wrong_measures_are_wrong_use(
    shoal: Callable[..., object],
    people: Path,
    roles: tuple[str, ...],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    release_by(shoal, people, roles, "mondrian")
    answer = shoal("measure", "out", "--original", people, *arguments)
    assert answer.code == 2
    assert said in answer.err


def test_a_recipe_may_ask_for_further_measures(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...]
) -> None:
    kept = shoal(
        "anonymize",
        "mondrian",
        people,
        "--k",
        3,
        *roles,
        "-o",
        "out",
        "--no-report",
        "--save-recipe",
        "one.toml",
    )
    assert kept.code == 0, kept.err
    recipe = Path("one.toml").read_text()
    further = 'measures = ["loss", { name = "queries", questions = 7 }]\n'
    Path("one.toml").write_text(further + recipe.replace('"out"', '"again"'))
    answer = shoal("run", "one.toml", "--json")
    assert answer.code == 0, answer.err
    run = json.loads(Path("again/run.json").read_text())
    assert any("7 counting questions" in score["meaning"] for score in run["scores"])


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("pair-supports", "is about baskets or groups or clusters, and this release is a table"),
        ("hidden-rules", "does not apply to this release"),
    ],
)
def test_a_measure_that_says_nothing(
    measure: str, said: str, shoal: Callable[..., object], people: Path, roles: tuple[str, ...]
) -> None:
    release_by(shoal, people, roles, "mondrian")
    answer = shoal("measure", "out", "--original", people, "--measures", f"loss,{measure}")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize(
    ("method", "options", "change", "said"),
    [
        ("coherence", ("--h", 0.9, "--p", 2), lambda lines: lines[:-5], "the original 195"),
        (
            "coherence",
            ("--h", 0.9, "--p", 2),
            lambda lines: [line.replace("1 ", "") for line in lines],
            "hold '1'",
        ),
        ("km-generalization", ("--m", 2), lambda lines: lines[:-5], "the original 195"),
    ],
)
def test_other_baskets(
    shoal: Callable[..., object],
    tmp_path: Path,
    method: str,
    options: tuple[object, ...],
    change: Callable[[list[str]], list[str]],
    said: str,
) -> None:
    baskets = tmp_path / "baskets.dat"
    made = shoal(
        "generate", "baskets", "--rows", 200, "--items", 12, "--density", 0.3, "--seed", 7, "-o", baskets
    )
    assert made.code == 0
    answer = shoal("anonymize", method, baskets, "--k", 3, *options, "--no-report", "-o", "out")
    assert answer.code == 0, answer.err
    assert shoal("measure", "out", "--original", baskets).code == 0
    other = tmp_path / "other.dat"
    other.write_text("\n".join(change(baskets.read_text().splitlines())) + "\n")
    answer = shoal("measure", "out", "--original", other)
    assert (answer.code, answer.out) == (3, "")
    assert OTHER in answer.err
    assert said in answer.err


def test_a_score_is_no_measure(shoal: Callable[..., object], people: Path, roles: tuple[str, ...]) -> None:
    release_by(shoal, people, roles, "mondrian")
    answer = shoal("measure", "out", "--original", people, "--measures", "lm")
    assert (answer.code, answer.out) == (2, "")
    assert "'lm' is a score of the measure loss" in answer.err


def test_what_is_not_measured_is_told(
    shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path
) -> None:
    release_by(shoal, people, roles, "mondrian")
    command = ("measure", "out", "--original", people)
    here, there = (json.loads(shoal(*command, "--json", *more).out) for more in ((), ("--engine", "stream")))
    missing = {name for name in here if "." not in name} - set(there)
    assert {"pair_kl", "correlation_error", "are"} <= missing
    assert "pair_kl, pair_hellinger" in there["unmeasured"]
    assert "queries (questions" in there["unmeasured"]
    assert "unmeasured" not in here
    assert shoal(*command, "--engine", "stream").out.endswith(f"\n\n{there['unmeasured']}\n")
    assert "Not measured" not in shoal(*command).out
    asked = (*command, "--engine", "stream", "--measures")
    assert "Not measured by this engine: pair_kl" in shoal(*asked, "distributions").out
    assert "Not measured" not in shoal(*asked, "loss").out

"""A look at data before anything is done to it."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_table(shoal: Callable[..., object], people: Path) -> None:
    answer = shoal("inspect", people)
    assert (answer.code, answer.err) == (0, "")
    assert "120 rows, 5 columns" in answer.out
    row = next(line for line in answer.out.splitlines() if line.startswith("education"))
    assert row.split()[:7] == ["education", "category:", "names", "3", "0", "0.0%", "quasi"]


def test_the_suggested_command_runs(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    people.rename(folder / "our people.csv")
    answer = shoal("inspect", "our people.csv")
    line = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    _, *arguments = shlex.split(line)
    assert "--identifying" in arguments
    assert shoal(*arguments, "--no-report").code == 0


def test_a_comma_in_a_name_is_escaped(shoal: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"{20 + row % 3},{row % 2}\n" for row in range(40))
    (folder / "any.csv").write_text('"age, years",sex\n' + rows)
    answer = shoal("inspect", "any.csv")
    line = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    assert shoal(*shlex.split(line)[1:], "--no-report").code == 0


def test_columns_together(shoal: Callable[..., object], people: Path) -> None:
    shown = json.loads(shoal("inspect", people, "--quasi", "education", "--json").out)
    assert shown["quasi"] == ["education"]
    assert (shown["classes"], shown["smallest"], shown["unique"]) == (3, 40, 0.0)
    assert shoal("inspect", people, "--quasi", "educaton").code == 2


def test_the_suggested_command_takes_the_columns_that_were_named(
    shoal: Callable[..., Any], people: Path, folder: Path
) -> None:
    answer = shoal("inspect", people, "--quasi", "age,education")
    (command,) = [line.strip() for line in answer.out.splitlines() if line.startswith("  shoal anonymize")]
    assert " --quasi age,education " in command
    assert command.endswith("--others drop -o out")
    assert "zip" not in command
    assert shoal(*shlex.split(command)[1:]).code == 0


def test_baskets(shoal: Callable[..., object], folder: Path) -> None:
    text = "milk bread\nmilk\nbread eggs milk\n\n"
    (folder / "baskets.dat").write_text(text)
    (folder / "baskets.txt").write_text(text)
    answer = shoal("inspect", "baskets.dat")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("4 baskets, 3 items")
    assert "milk (3)" in answer.out
    shown = shoal("inspect", "baskets.txt", "--baskets", "lines").out
    assert shown.splitlines()[:-1] == answer.out.splitlines()[:-1]
    assert json.loads(shoal("inspect", "baskets.dat", "--json").out)["occurrences"] == 6


def hospital(folder: Path) -> Path:
    """240 visits of 24 patients, as hospitals write them."""
    rows = [
        f"P{row % 24};{row},Ann;{row % 28 + 1:02d}.03.19{40 + row % 50};2011-10-{10 + row % 20} 14:4{row % 10}:00;"
        f"{60 + row % 9},5;{row % 12 + 1}/{row % 28 + 1}/2011;no;{'-' if row % 2 else 'x'}"
        for row in range(240)
    ]
    path = folder / "visits.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


READING = ("--names", "patient_id,Name,Geburtsdatum,admitted,weight,seen,hiv_status,flag", "--separator", ";")


def test_roles_and_notes_of_a_hospital(shoal: Callable[..., object], folder: Path) -> None:
    hospital(folder)
    shown = json.loads(shoal("inspect", "visits.txt", *READING, "--json").out)["columns"]
    roles = {column["name"]: column["role"] for column in shown}
    assert [roles[name] for name in ("patient_id", "Name", "Geburtsdatum", "hiv_status")] == [
        "entity",
        "identifying",
        "quasi",
        "sensitive",
    ]
    assert {column["name"]: column["kind"] for column in shown}["Geburtsdatum"] == "date"
    out = shoal("inspect", "visits.txt", *READING).out
    assert "NOTE    admitted: looks like timestamps; --kind admitted=date takes the days." in out
    assert "NOTE    weight: looks like numbers with a decimal comma" in out
    assert "NOTE    seen: looks like dates; --date-format seen=MM/DD/YYYY takes dates" in out
    assert '"0,Ann", "1,Ann"' in out


def test_what_the_reader_has_to_say_is_noted(shoal: Callable[..., object], folder: Path) -> None:
    rows = [f"{999 if row % 9 == 0 else 110 + row % 60},{row % 4}" for row in range(90)]
    (folder / "pressure.csv").write_text("\n".join(["pressure,visits", *rows]) + "\n")
    out = shoal("inspect", "pressure.csv").out
    assert "NOTE    '999' in the column 'pressure' looks like a code for a missing value" in out
    assert "NOTE" not in shoal("inspect", "pressure.csv", "--missing", "pressure=999").out
    assert "999" in json.loads(shoal("inspect", "pressure.csv", "--json").out)["notes"][0]


def test_the_suggested_command_repeats_how_to_read(shoal: Callable[..., object], folder: Path) -> None:
    hospital(folder)
    more = ("--kind", "admitted=date", "--missing=-,?", "--drop-missing", "--order", "flag=x,y")
    answer = shoal("inspect", "visits.txt", *READING, *more)
    assert answer.code == 0
    line = next(line for line in answer.out.splitlines() if line.startswith("  shoal anonymize"))
    _, *arguments = shlex.split(line)
    assert arguments[arguments.index("--entity") + 1] == "patient_id"
    for option in (*READING, *more):
        assert option in arguments
    answer = shoal(*arguments, "--no-report")
    assert answer.code == 0
    assert "120 rows with missing values left out" in answer.out


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("milk,bread,eggs\n" + "1,0,1\n0,1,1\n1,1,0\n1,1,1\n" * 5, "matrix"),
        (
            "invoice,item\n" + "".join(f"{row // 3},{'abcd'[row % 4]}\n" for row in range(60)),
            "long:invoice,item",
        ),
    ],
)
def test_a_table_that_may_be_baskets(
    content: str, layout: str, shoal: Callable[..., Any], folder: Path
) -> None:
    (folder / "any table.csv").write_text(content)
    answer = shoal("inspect", "any table.csv")
    assert answer.code == 0
    assert "columns" in answer.out.splitlines()[0]
    assert f"--baskets {layout} reads it so." in answer.out
    assert json.loads(shoal("inspect", "any table.csv", "--json").out)["likely_baskets"] == layout
    line = [line for line in answer.out.splitlines() if line.startswith("  shoal anonymize")][-1]
    arguments = shlex.split(line)[1:]
    assert arguments[arguments.index("--baskets") + 1] == layout
    assert shoal(*arguments, "--no-report").code == 0
    shown = shoal("inspect", "any table.csv", "--baskets", layout)
    assert shown.out.startswith("20 baskets")
    assert line in shown.out


def test_an_ordinary_table_is_not_taken_for_baskets(shoal: Callable[..., Any], people: Path) -> None:
    assert "--baskets" not in shoal("inspect", people).out
    assert "likely_baskets" not in json.loads(shoal("inspect", people, "--json").out)


def test_the_suggestion_for_baskets_runs(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "my baskets.dat").write_text("milk bread\nmilk\nbread eggs milk\nmilk eggs\n")
    (folder / "semi.txt").write_text("milk;bread\nmilk\nbread;eggs;milk\nmilk;eggs\n")
    for call in (("my baskets.dat",), ("semi.txt", "--baskets", "lines", "--separator", ";")):
        out = shoal("inspect", *call).out
        line = next(line for line in out.splitlines() if line.startswith("  shoal anonymize"))
        assert shoal(*shlex.split(line)[1:], "--no-report", "--force").code == 0


def test_numbers_that_may_be_codes_are_told_with_the_reason(shoal: Callable[..., Any], folder: Path) -> None:
    rows = [
        f"{1000 + row % 40 * 3},{10115 + row % 50},{1 + row % 5},{row % 4},{20 + row % 60}"
        for row in range(300)
    ]
    (folder / "stays.csv").write_text("\n".join(["hospital_no,zip,outcome,children,age", *rows]) + "\n")
    out = " ".join(shoal("inspect", "stays.csv").out.split())
    assert "hospital_no (its name says 'hospital')" in out
    assert "zip (its name says 'zip')" in out
    assert "outcome (5 small whole numbers)" in out
    assert "children (" not in out
    assert "age (" not in out
    told = shoal("inspect", "stays.csv", "--kind", "hospital_no=nominal,zip=nominal,outcome=nominal").out
    assert "may be" not in told

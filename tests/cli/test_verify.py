"""Promises proved from published files alone."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SIX = "age,sex,ill\n" + "30,m,flu\n" * 3 + "40,f,flu\n" * 2 + ",f,cold\n"


@pytest.fixture
def release(shoal: Callable[..., object], people: Path, roles: tuple[str, ...], folder: Path) -> Path:
    assert shoal("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "-o", "out").code == 0
    return folder / "out"


def test_a_release_keeps_its_promise(release: Path, shoal: Callable[..., object]) -> None:
    for place in (release, release / "release"):
        answer = shoal("verify", place)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith("OK      k-anonymity: every class has at least 5 rows")


def test_it_reads_the_release_alone(release: Path, shoal: Callable[..., object], people: Path) -> None:
    (release / "run.json").unlink()
    people.unlink()
    assert shoal("verify", release).code == 0


def test_a_unique_row_is_named(release: Path, shoal: Callable[..., object]) -> None:
    data = release / "release/data.csv"
    head, _, *rest = data.read_text().splitlines()
    data.write_text("\n".join([head, "99,nowhere,1,baker", *rest]) + "\n")
    answer = shoal("verify", release)
    assert answer.code == 1
    assert answer.out.startswith("BROKEN  k-anonymity")
    assert "age 99, education nowhere, zip 1: 1 row" in answer.out
    shown = json.loads(shoal("verify", release, "--json").out)
    assert shown["holds"] is False
    assert shown["verdicts"][0]["offender_count"] >= 1
    assert "BROKEN" in shoal("verify", release, "--quiet").out


def test_quiet_says_nothing_of_a_kept_promise(release: Path, shoal: Callable[..., object]) -> None:
    answer = shoal("verify", release, "--quiet")
    assert (answer.code, answer.out) == (0, "")


@pytest.mark.parametrize(("k", "code", "offenders"), [(2, 1, 1), (3, 1, 2), (4, 1, 3)])
def test_any_file(k: int, code: int, offenders: int, shoal: Callable[..., object], folder: Path) -> None:
    (folder / "any.csv").write_text(SIX)
    answer = shoal("verify", "any.csv", "--quasi", "age,sex", "--k", k, "--json")
    shown = json.loads(answer.out)["verdicts"][0]
    assert (answer.code, shown["value"], shown["threshold"], shown["offender_count"]) == (
        code,
        1,
        k,
        offenders,
    )


def test_missing_is_a_value(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "any.csv").write_text(SIX)
    answer = shoal("verify", "any.csv", "--quasi", "age", "--k", 2)
    assert answer.code == 1
    assert "age (missing): 1 row" in answer.out
    assert shoal("verify", "any.csv", "--quasi", "sex", "--k", 3).code == 0


def test_persons_are_counted(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "visits.csv").write_text("who,age\na,30\na,30\nb,30\n")
    assert shoal("verify", "visits.csv", "--quasi", "age", "--k", 3).code == 0
    answer = shoal("verify", "visits.csv", "--quasi", "age", "--k", 3, "--entity", "who")
    assert answer.code == 1
    assert "2 persons where 3 are promised" in answer.out


def test_what_everybody_has_is_no_secret(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "visits.csv").write_text("age,who,ill\n30,p,flu\n30,p,hiv\n30,q,flu\n30,q,hiv\n")
    roles = ("visits.csv", "--quasi", "age", "--sensitive", "ill", "--entity", "who")
    answer = shoal("verify", *roles, "--k", 2, "--l", 2, "--alpha", 0.5)
    assert answer.code == 1
    assert [line.split()[0] for line in answer.out.splitlines() if line[0] != " "] == [
        "OK",
        "BROKEN",
        "BROKEN",
        "Judged",
    ]
    assert "2 of 2 persons have flu where a share of 0.5 is promised" in answer.out
    answer = shoal("anonymize", "mondrian", *roles, "--k", 2, "--alpha", 0.5, "-o", "out")
    assert answer.code == 1
    assert not (folder / "out").exists()
    assert shoal("anonymize", "mondrian", *roles, "--k", 2, "--l", 2, "-o", "out").code == 2
    assert shoal("verify", *roles, "--t", 0.5).code == 2


def test_offenders_are_listed_up_to_ten_and_counted(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "unique.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(1500)))
    lines = shoal("verify", "unique.csv", "--quasi", "age", "--k", 2).out.splitlines()
    assert len(lines) == 13
    assert lines[-2].strip() == "… and 1,490 more"


def test_a_cell_cannot_steer_the_terminal(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "evil.csv").write_text("age\n\x1b[2J\n")
    answer = shoal("verify", "evil.csv", "--quasi", "age", "--k", 2)
    assert "\x1b" not in answer.out + answer.err


def test_another_separator(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "any.txt").write_text("age|sex\n30|m\n30|m\n")
    assert shoal("verify", "any.txt", "--separator", "|", "--quasi", "age,sex", "--k", 2).code == 0


def test_a_column_with_a_comma_in_its_name(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "any.csv").write_text('"age, years",sex\n30,m\n30,m\n')
    assert shoal("verify", "any.csv", "--quasi", r"age\, years,sex", "--k", 2).code == 0


def test_standard_input(process: Callable[..., subprocess.Popen[bytes]]) -> None:
    started = process("verify", "-", "--quasi", "age,sex", "--k", 2)
    out, err = started.communicate(SIX.encode(), timeout=60)
    assert (started.returncode, err) == (1, b"")
    assert out.startswith(b"BROKEN  k-anonymity")


def test_a_release_by_another_promise(release: Path, shoal: Callable[..., object]) -> None:
    for place in (release, release / "release"):
        assert shoal("verify", place, "--k", 3).code == 0
        answer = shoal("verify", place, "--k", 30)
        assert (answer.code, answer.err) == (1, "")
        assert "every class has at least 30 rows" in answer.out
        assert "age" in answer.out
        assert "education" in answer.out
    assert shoal("verify", release, "--l", 2).out.count("occupation")
    assert shoal("verify", release, "--k", 10, "--quasi", "occupation").code == 0
    answer = shoal("verify", release, "--k", 2, "--quasi", "agee")
    assert (answer.code, "Did you mean 'age'" in answer.err) == (2, True)


def test_a_release_of_baskets_by_a_promise_about_tables(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "a.dat").write_text("1 2\n1 2\n1 2\n" * 4)
    assert shoal("anonymize", "disassociation", "a.dat", "--k", 2, "--m", 2, "-o", "out").code == 0
    answer = shoal("verify", "out", "--k", 2)
    assert (answer.code, "judges table, not clusters" in answer.err) == (2, True)


def test_a_row_that_was_taken_away(release: Path, shoal: Callable[..., object]) -> None:
    data = release / "release/data.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:-1]) + "\n")
    answer = shoal("verify", release)
    assert answer.code == 3
    assert (
        "data.csv: release.json says 120 rows, the file has 119: it was changed after it was made."
        in answer.err
    )


def test_a_column_that_was_renamed(release: Path, shoal: Callable[..., object]) -> None:
    data = release / "release/data.csv"
    data.write_text(data.read_text().replace("education", "school", 1))
    answer = shoal("verify", release)
    assert answer.code == 3
    assert "the columns are not those that release.json names" in answer.err
    assert "'education'" in answer.err


def test_help_tells_of_rows_of_stars(shoal: Callable[..., object]) -> None:
    assert "row of * in all quasi-identifiers" in " ".join(shoal("verify", "--help").out.split())

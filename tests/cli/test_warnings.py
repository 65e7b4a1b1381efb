"""What a run says beside its verdicts: warnings, rows left out, and which hierarchies were taken."""

import html
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CALL = ("anonymize", "mondrian", "visits.csv", "--k", "5", "-o", "out", "--force")
ROLES = ("--quasi", "born,admitted", "--sensitive", "dx")


@pytest.fixture
def visits(folder: Path) -> Path:
    """120 visits of 30 patients, a third of them without a diagnosis."""
    rows = [
        f"P{row % 30},+49 {row},{1 + row % 28:02d}.0{1 + row % 9}.19{40 + row % 50},"
        f"2011-1{row % 3}-{10 + row % 17} {row % 24:02d}:41:00,{('flu', 'cold', '')[row // 5 % 3]}"
        for row in range(120)
    ]
    path = folder / "visits.csv"
    path.write_text("\n".join(["patient_id,phone,born,admitted,dx", *rows]) + "\n")
    return path


def test_names_that_are_published_are_told(shoal: Callable[..., object], visits: Path, folder: Path) -> None:
    answer = shoal(*CALL, *ROLES, "--kind", "admitted=date", "--others", "insensitive")
    assert (answer.code, answer.err) == (0, "")
    warnings = [line for line in answer.out.splitlines() if line.startswith("WARNING ")]
    assert [line for line in warnings if "insensitive column 'phone'" in line]
    assert [line for line in warnings if "insensitive column 'patient_id'" in line]
    assert [line for line in warnings if "Rows, not persons, are counted" in line]
    report = (folder / "out/report.html").read_text()
    place = report.index("The insensitive column &#39;phone&#39; is published as it is")
    assert place < report.index("What it cost")
    assert "Before you publish:" in report
    shown = json.loads(shoal(*CALL, *ROLES, "--others", "insensitive", "--json").out)["warnings"]
    assert [sentence for sentence in shown if "'admitted' looks like timestamps" in sentence]
    assert json.loads((folder / "out/run.json").read_text())["warnings"] == shown


def test_no_warning_without_a_reason(shoal: Callable[..., object], visits: Path, folder: Path) -> None:
    roles = (*ROLES, "--kind", "admitted=date", "--entity", "patient_id", "--identifying", "phone")
    answer = shoal(*CALL, *roles)
    assert answer.code == 0
    assert "WARNING" not in answer.out
    assert "Before you publish" not in (folder / "out/report.html").read_text()
    assert json.loads(shoal(*CALL, *roles, "--json").out)["warnings"] == []


@pytest.mark.parametrize("others", [("--others", "drop"), ("--identifying", "patient_id,phone")])
def test_a_dropped_number_that_repeats_is_told(
    shoal: Callable[..., object], visits: Path, others: tuple[str, ...]
) -> None:
    call = (*CALL, *ROLES, "--kind", "admitted=date", *others, "--no-report")
    (line,) = [line for line in shoal(*call).out.splitlines() if line.startswith("WARNING")]
    assert "'patient_id' looks like the number of a person, and has 30 values in 120 rows" in line
    head, *rows = visits.read_text().splitlines()
    visits.write_text("\n".join([head, *(f"U{place}{row}" for place, row in enumerate(rows))]) + "\n")
    assert "WARNING" not in shoal(*call).out


def test_rows_that_are_left_out_are_counted(shoal: Callable[..., object], visits: Path, folder: Path) -> None:
    roles = (
        *ROLES,
        "--kind",
        "admitted=date",
        "--entity",
        "patient_id",
        "--others",
        "drop",
        "--drop-missing",
    )
    answer = shoal(*CALL, *roles)
    assert "80 rows published; 40 rows with missing values left out." in answer.out
    report = (folder / "out/report.html").read_text()
    assert "<dt>rows read</dt><dd>120</dd>" in report
    assert "<dt>rows with missing values left out</dt><dd>40</dd>" in report
    assert json.loads(shoal(*CALL, *roles, "--json").out)["left_out"] == 40
    assert "left out" not in shoal(*CALL, *(part for part in roles if part != "--drop-missing")).out


def test_dotted_dates_and_days_of_timestamps(
    shoal: Callable[..., object], visits: Path, folder: Path
) -> None:
    roles = (*ROLES, "--kind", "admitted=date", "--others", "drop", "--hierarchy", "born=dates")
    assert shoal(*CALL, *roles).code == 0
    cells = [line.split(",") for line in (folder / "out/release/data.csv").read_text().splitlines()[1:]]
    assert {cell for cell, *_ in cells} - {"*"}
    assert all(cell == "*" or cell.startswith("19") for cell, *_ in cells)
    assert ":" not in (folder / "out/release/data.csv").read_text()
    assert shoal("verify", "out").code == 0
    assert shoal("measure", "out", "--original", visits).code == 0


def test_the_hierarchies_that_were_taken_are_told(
    shoal: Callable[..., object], visits: Path, folder: Path
) -> None:
    (folder / "trees").mkdir()
    roles = (*ROLES, "--kind", "admitted=date", "--entity", "patient_id", "--others", "drop", "--no-report")
    answer = shoal(*CALL, *roles, "--hierarchies", "trees")
    assert answer.code == 0
    assert (
        "WARNING No file in trees is the hierarchy of a quasi-identifier: files are called born.csv"
        in answer.out
    )
    assert "Hierarchies:" not in answer.out
    assert shoal("hierarchy", "build", visits, "born=dates", "-o", "trees/born.csv").code == 0
    answer = shoal(*CALL, *roles, "--hierarchies", "trees")
    assert f"Hierarchies: born {Path('trees/born.csv')}; none for admitted." in answer.out
    assert "WARNING" not in answer.out
    answer = shoal(*CALL, *roles, "--hierarchies", "trees", "--hierarchy", "admitted=dates:year")
    assert "admitted dates:year." in answer.out


@pytest.mark.parametrize(
    ("others", "why"), [("drop", "the column is not published"), ("insensitive", "the column is insensitive")]
)
def test_a_hierarchy_without_effect_is_refused(
    shoal: Callable[..., object], visits: Path, others: str, why: str
) -> None:
    answer = shoal(*CALL, *ROLES, "--others", others, "--hierarchy", "phone=mask")
    assert answer.code == 2
    assert "'phone' has no effect" in answer.err
    assert why in answer.err


@pytest.mark.parametrize(
    ("method", "form"),
    [
        (("cahd", "--p", "4"), "groups"),
        (("permutation-mondrian", "--p", "4"), "groups"),
        (("disassociation", "--k", "2", "--max-cluster-size", "3"), "clusters"),
    ],
)
def test_baskets_of_secrets_alone_are_warned_of(
    shoal: Callable[..., Any], tmp_path: Path, method: tuple[str, ...], form: str
) -> None:
    """Whatever the method: the published form tells it."""
    path = tmp_path / "t.dat"
    path.write_text("milk\nmilk tea\ntea\nsecret\nmilk\ntea\nmilk tea\nmilk\n" * 2)
    name, *options = method
    answer = shoal(
        "anonymize", name, str(path), *options, "--sensitive", "secret", "-o", str(tmp_path / "out")
    )
    assert answer.code == 0
    assert f"2 baskets are published without a public item, in {form} with sensitive ones" in answer.out


def test_a_generalized_release_is_measured_without_its_hierarchy(
    shoal: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "g.dat"
    path.write_text("a b\nb c\na c\nc d\na d\nb d\n" * 3)
    out = str(tmp_path / "out")
    assert shoal("anonymize", "km-generalization", str(path), "--k", "5", "--m", "2", "-o", out).code == 0
    assert shoal("measure", out, "--original", str(path)).code == 0


@pytest.fixture
def trial(folder: Path) -> Path:
    """200 patients of a trial with their number, two facts that others know, and three that they had better not."""
    rows = [
        f"P{4000 + 7 * row},{50 + row % 25},{row % 2},{row * 7 % 23},{row * 5 % 11},{row % 3},{row % 7},i{row % 4}"
        for row in range(200)
    ]
    path = folder / "trial.csv"
    path.write_text("\n".join(["patient_id,age,flag,weight,pulse,arm,ward,outcome", *rows]) + "\n")
    return path


TRIAL = ("anonymize", "mondrian", "trial.csv", "--k", "5", "--sensitive", "outcome", "-o", "out")


def test_the_worst_three_columns_that_may_be_known_and_all_others_by_name(
    shoal: Callable[..., Any], trial: Path, folder: Path
) -> None:
    answer = shoal(*TRIAL, "--quasi", "age", "--identifying", "patient_id", "--others", "insensitive")
    assert answer.code == 0
    (line,) = [line for line in answer.out.splitlines() if "also known" in line]
    shares, rest = line.split("Also published without being generalized: ")
    told = re.findall(r"with '(\w+)' also known, ([\d.]+)% of rows are unique", shares)
    assert len(told) == 3
    published = [line.split(",") for line in (folder / "out/release/data.csv").read_text().splitlines()]
    head, *rows = published
    for name, share in told:
        kinds = Counter((row[head.index("age")], row[head.index(name)]) for row in rows)
        unique = sum(count == 1 for count in kinds.values()) / len(rows)
        assert float(share) == pytest.approx(100 * unique, abs=0.05)
    named = {name for name, _ in told} | set(re.findall(r"'(\w+)'", rest))
    assert named == {"flag", "weight", "pulse", "arm", "ward"}
    report = html.unescape((folder / "out/report.html").read_text())
    assert shares.removeprefix("WARNING ").strip() in report


def test_strict_ends_with_1_and_publishes_nothing(
    shoal: Callable[..., Any], trial: Path, folder: Path
) -> None:
    call = (*TRIAL, "--quasi", "age", "--identifying", "patient_id", "--strict")
    answer = shoal(*call, "--others", "insensitive")
    assert answer.code == 1
    assert "also known" in answer.err
    assert not (folder / "out").exists()
    assert shoal(*call, "--others", "drop").code == 0


def test_an_identifier_as_a_quasi_identifier_is_refused_or_insisted_on(
    shoal: Callable[..., Any], trial: Path, folder: Path
) -> None:
    call = (*TRIAL, "--quasi", "age,patient_id", "--others", "drop")
    answer = shoal(*call)
    assert answer.code == 2
    assert "'patient_id' looks like an identifier" in answer.err
    assert "--insist patient_id" in answer.err
    assert not (folder / "out").exists()
    assert shoal(*call, "--insist", "patient_id").code == 0


def test_closeness_asks_for_the_distance_of_codes(
    shoal: Callable[..., Any], trial: Path, folder: Path
) -> None:
    trial.write_text(trial.read_text().replace(",i", ","))
    trial.write_text(
        "\n".join(
            re.sub(r",(\d)$", lambda one: f",{int(one[1]) + 1}", line)
            for line in trial.read_text().replace("outcome", "outcome_code").splitlines()
        )
    )
    call = ("anonymize", "mondrian", "trial.csv", "--k", "5", "--t", "0.5", "--sensitive", "outcome_code")
    call = (*call, "--quasi", "age", "--others", "drop", "-o", "out")
    answer = shoal(*call)
    assert answer.code == 2
    assert "--distance" in answer.err
    answer = shoal(*call, "--distance", "equal")
    assert answer.code == 0
    assert "distances of 1 between" in answer.out

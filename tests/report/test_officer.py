"""The part of the report for the data protection officer."""

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.hand_made import run_of
from tests.markup import Markup
from tests.sets import baskets_of
from tests.tables import column

import shoal
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.verdict import Verdict
from shoal.errors import WrongUse
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.outcome import Run
from shoal.report import pdf
from shoal.report.facts import facts_of
from shoal.report.officer import UNCHANGED, forced_by, kinds_of
from shoal.report.page import render


def test_promises_that_differ_by_their_column_are_one_kind(run: Run) -> None:
    diverse = [DistinctDiversity(column=f"c{n}", l=2).as_promise() for n in range(28)]
    verdicts = [Verdict("distinct-diversity", f"… of c{n}", True, 2 + n % 3, 2) for n in range(28)]
    kinds = kinds_of([*run.release.promises, *diverse], [*run.verdicts, *verdicts], ["age"])
    assert [kind.holds for kind in kinds] == [True, True]
    assert kinds[0].sentence.startswith("Someone who knows age of a person")
    assert "these 28 sensitive columns" in kinds[1].sentence
    assert "28 columns · promised 2, reached 2 to 4" in kinds[1].note
    broken = replace(verdicts[9], holds=False, value=1, offender_count=3)
    kinds = kinds_of(diverse, [*verdicts[:9], broken, *verdicts[10:]])
    assert [kind.holds for kind in kinds] == [False]
    assert "3 places break it" in kinds[0].note


def test_a_verdict_that_no_promise_asked_for_is_told(run: Run) -> None:
    order = Verdict("canonical-order", "rows stand in canonical order", False, 1, 0)
    assert [kind.holds for kind in kinds_of(run.release.promises, [*run.verdicts, order])] == [True, False]


def test_every_column_has_a_fate(run: Run) -> None:
    found = facts_of(run).officer
    assert found is not None
    fates = {one.name: one for one in found.columns}
    assert list(fates) == ["name", "age", "town", "illness", "note"]
    assert (fates["name"].happened, fates["name"].why) == ("not published", "it identifies a person")
    assert "coarser (range" in fates["age"].happened
    assert fates["age"].distinct == "6 → 2"
    assert "k-anonymity" in fates["age"].why
    assert fates["illness"].happened == "unchanged"
    assert fates["note"].why == UNCHANGED


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_linked_tables_tell_each_column_and_that_rows_are_exact() -> None:
    rows = {"age": list(range(40)), "note": list(range(40)), "ill": [f"i{n % 4}" for n in range(40)]}
    made = shoal.anonymize(
        pl.DataFrame(rows), "anatomy", l=3, quasi=["age"], sensitive=["ill"], insensitive=["note"]
    )
    found = facts_of(made).officer
    assert found is not None
    fates = {one.name: one for one in found.columns}
    assert [fates[name].happened for name in ("age", "note")] == ["unchanged", "unchanged"]
    assert "no secret" in fates["age"].why
    assert "but not who has which" in fates["ill"].happened
    assert not any("fewer than 1 row" in one for one in forced_by(made))
    said = " ".join("".join(Markup(render(made)).texts).split())
    assert "finds that person's row, which is published exactly, and a group of at least" in said
    assert "rows of the release that match" not in said
    assert "anatomy on a table" in said


def test_prepared_columns_are_not_called_unchanged() -> None:
    rows = {"age": [20, 21, 22] * 4, "dose": [11.3, 12.1] * 6, "sex": ["f"] * 12}
    step = {"name": "rounding", "bases": {"dose": 5}}
    made = shoal.anonymize(
        pl.DataFrame(rows), "mondrian", k=4, quasi=["age", "sex"], insensitive=["dose"], preparation=[step]
    )
    found = facts_of(made).officer
    assert found is not None
    dose = next(one for one in found.columns if one.name == "dose")
    assert dose.happened == "prepared (rounding: dose to multiples of 5)"
    assert dose.why.startswith("Published as prepared, because you declared")
    page = " ".join("".join(Markup(render(made)).texts).split())
    assert "Published unchanged apart from their preparation, because you declared" in page
    assert "counted after the preparation" in page


def test_the_three_risks_are_measured(run: Run) -> None:
    found = facts_of(run).officer
    assert found is not None
    assert [one.name for one in found.threats] == ["Singling out", "Linkability", "Inference"]
    single = found.threats[0]
    assert single.after.replace("\xa0", " ") == "33.3 %"
    assert "Promised: at most 33.3" in single.said
    assert all(one.after for one in found.threats)


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
@pytest.mark.parametrize("form", ["groups", "linked"])
def test_both_figures_of_a_risk_answer_one_question(form: str) -> None:
    """Where the public part is exact, a record is picked out as before, and a secret no longer is."""
    if form == "groups":
        lines = [f"a{n % 9} b{n % 5}{' hiv' if n % 12 == 0 else ''}".split() for n in range(120)]
        made = shoal.anonymize(baskets_of(lines, ["hiv"]), "cahd", p=4)
    else:
        rows = {"age": [n % 30 for n in range(120)], "ill": [f"i{n % 4}" for n in range(120)]}
        made = shoal.anonymize(pl.DataFrame(rows), "anatomy", l=4, quasi=["age"], sensitive=["ill"])
    found = facts_of(made)
    assert found.officer is not None
    single, linked, secret = found.officer.threats
    # Of ten holders eight are one of three alike, two one of two; of each age there are four, two of each illness.
    picked, told = {"groups": ("36.7\xa0%", "36.7\xa0%"), "linked": ("25.0\xa0%", "50.0\xa0%")}[form]
    assert (single.before, single.after, secret.before) == (picked, picked, told)
    assert "nothing is promised about it" in single.said
    assert linked.after == "not measured"
    assert float(secret.after.split()[0]) <= 25.0


def test_what_caused_the_loss() -> None:
    data = Table(
        (column("town", ["Bonn"] * 3 + ["Rome"]), column("illness", ["a", "b", "c", "d"], Role.SENSITIVE))
    )
    made = run_of(data, {"town": ["*"] * 4}, k=2)
    tight, rare = forced_by(made)
    assert "k-anonymity (promised 2, reached 4): it is exceeded by a factor of 2.00" in tight
    assert "town = Rome (1)" in rare
    assert "Bonn" not in rare
    exact = run_of(data.take([0, 1]), {"town": ["Bonn"] * 2}, k=2)
    assert "it is just met" in forced_by(exact)[0]
    assert "rare combinations" in forced_by(exact)[1]


def test_the_trace_names_the_input(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "in.csv"
    path.write_text("age\n1\n")
    found = facts_of(replace(run, recipe={**run.recipe, "source": {"path": str(path)}})).officer
    assert found is not None
    trace = dict(found.trace)
    assert trace["Input (SHA-256)"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(trace["Recipe (SHA-256)"]) == 64
    assert dict(facts_of(run).officer.trace)["Input (SHA-256)"] == "not a file: no hash"  # type: ignore[union-attr]


def test_a_pdf_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    with pytest.raises(WrongUse, match="apt install chromium"):
        run.write(tmp_path / "out", pdf=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.browser
def test_a_pdf_is_printed(tmp_path: Path, require_part: Callable[[object, str], None]) -> None:
    require_part(
        any(map(shutil.which, pdf.BROWSERS)), "Chromium is not installed (Debian: apt-get install chromium)."
    )
    frame = {"age": [20, 21, 40, 41], "illness": ["flu", "cold", "flu", "cold"]}
    import polars

    made = shoal.anonymize(polars.DataFrame(frame), "mondrian", k=2, quasi="age", sensitive="illness")
    folder = made.write(tmp_path / "out", pdf=True)
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")
    assert all(shoal.verify(folder))

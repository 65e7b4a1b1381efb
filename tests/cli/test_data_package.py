"""What travels with a release: a valid data package, a page for the recipient, copies for other programs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.test_verify_folder import RELEASES, STREAM
from tests.contract.data import people, shopping

import shoal as library
from shoal.errors import WrongUse
from shoal.io.releases.codebook import LISTED, Codes, codes_of
from shoal.io.releases.terms import Terms
from shoal.io.tables.load import open_input

FORMS = {
    **RELEASES,
    "linked": (people, "anatomy", {"l": 2}),
    "long": (shopping, "coherence", {"h": 0.8, "k": 3, "p": 2}),
}
ROWS = "age,sex,illness\n" + "".join(
    f"{20 + n % 9},{'fm'[n % 2]},{('flu', 'cold', 'a|b')[n % 3]}\n" for n in range(40)
)


def written(form: str, folder: Path, **how: Any) -> Path:
    if form == "summary":
        frame = pl.DataFrame({"sex": ["f"] * 9 + ["m"] * 8, "ill": ["flu"] * 3 + ["cold"] * 6 + ["flu"] * 8})
        library.summarize(frame, ["sex", "ill"], threshold=2).write(folder, report=False, **how)
        return folder / "release"
    data, method, parameters = FORMS[form]
    read = replace(data(), layout="long") if form == "long" else data()
    library.anonymize(read, method, **{"seed": 1, **parameters}).write(folder, report=False, **how)
    return folder / "release"


@pytest.mark.parametrize("form", [*FORMS, "summary"])
def test_a_valid_package_of_each_form(form: str, tmp_path: Path) -> None:
    frictionless = pytest.importorskip(
        "frictionless", reason="the validator of data packages is not installed"
    )
    terms = Terms(title="Visits | of 2024", license="CC-BY-4.0", data_use="Research alone.")
    release = written(form, tmp_path / "out", terms=terms)
    report = frictionless.validate(str(release / "datapackage.json"))
    assert report.valid, report.flatten(["type", "message"])
    described = json.loads((release / "datapackage.json").read_text())
    assert described["licenses"] == [{"name": "CC-BY-4.0"}]
    facts = json.loads((release / "release.json").read_text())
    assert described["shoal"]["promises"] == facts["promises"]
    assert described["shoal"]["sentences"]
    text = (release / "README.md").read_text()
    assert text.startswith("# Visits \\| of 2024\n")
    assert "Research alone." in text
    assert all(library.verify(tmp_path / "out"))


@pytest.mark.parametrize("form", ["table", "baskets", "groups", "clusters", "linked"])
def test_the_same_release_has_the_same_papers(form: str, tmp_path: Path) -> None:
    one, other = (written(form, tmp_path / name) for name in ("one", "other"))
    for name in ("datapackage.json", "README.md"):
        assert (one / name).read_bytes() == (other / name).read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        ("README.md", lambda text: text.replace("at least", "at most") + "\nBelieve me."),
        ("datapackage.json", lambda text: text.replace('"sensitive"', '"insensitive"', 1)),
        ("datapackage.json", lambda text: text.replace('"hash": "sha256:', '"hash": "sha256:0', 1)),
        ("datapackage.json", lambda text: "[]"),
        ("datapackage.json", lambda text: text.replace("\n", " ")),
        ("README.md", None),
        ("datapackage.json", None),
    ],
)
@pytest.mark.parametrize("engine", [(), STREAM])
def test_papers_that_say_something_else_are_found(
    change: tuple[str, Any], engine: tuple[str, ...], shoal: Callable[..., Any], folder: Path
) -> None:
    release = written("table", folder / "out")
    assert shoal("verify", "out", *engine).code == 0
    name, edit = change
    path = release / name
    path.unlink() if edit is None else path.write_text(edit(path.read_text()))
    answer = shoal("verify", "out", *engine)
    assert (answer.code, "BROKEN  data-package" in answer.out) == (1, True), answer


def test_a_damaged_descriptor_is_bad_data(shoal: Callable[..., Any], folder: Path) -> None:
    release = written("table", folder / "out")
    (release / "datapackage.json").write_text('{"name": ')
    assert shoal("verify", "out").code == 3


def test_parts_have_the_same_codebook(folder: Path, shoal: Callable[..., Any]) -> None:
    (folder / "in.csv").write_text(ROWS)
    given = ("in.csv", "--k", 3, "--quasi", "age,sex", "--sensitive", "illness", "--seed", 1)
    for name, engine in (("local", ()), ("parts", STREAM)):
        assert shoal("anonymize", "mondrian", *given, *engine, "-o", name).code == 0
    local, parts = (
        json.loads((folder / name / "release" / "datapackage.json").read_text())
        for name in ("local", "parts")
    )
    assert local["resources"][0]["schema"] == parts["resources"][0]["schema"]
    assert parts["resources"][0]["path"] == [one["path"] for one in parts["resources"][0]["parts"]]
    for engine in ((), STREAM):
        assert shoal("verify", "parts", *engine).code == 0
        assert shoal("verify", "local", *engine).code == 0
    frictionless = pytest.importorskip(
        "frictionless", reason="the validator of data packages is not installed"
    )
    assert frictionless.validate(str(folder / "parts" / "release" / "datapackage.json")).valid


def test_codes() -> None:
    assert codes_of(["1", "2", None]) == Codes(("1", "2"), ("integer", "number"), True)
    assert codes_of(["007"]).type == "string"
    assert codes_of(["1", "2.50"]).type == "number"
    assert (codes_of(["2024-02-29"]).type, codes_of(["2024-02-30"]).type) == ("date", "string")
    assert codes_of(map(str, range(LISTED + 1))).values is None
    assert codes_of(["1"]).joined(codes_of(["2.5"])) == codes_of(["1", "2.5"])
    assert codes_of([]).joined(codes_of(["2"])) == codes_of(["2"])
    assert codes_of([""]).joined(codes_of(["x"])) == codes_of(["", "x"])


def test_the_codebook_tells_what_cells_mean(folder: Path, shoal: Callable[..., Any]) -> None:
    (folder / "in.csv").write_text(ROWS)
    given = ("--k", 3, "--quasi", "age,sex", "--sensitive", "illness", "--seed", 1)
    assert shoal("anonymize", "mondrian", "in.csv", *given, "-o", "out").code == 0
    described = json.loads((folder / "out" / "release" / "datapackage.json").read_text())
    fields = {one["name"]: one for one in described["resources"][0]["schema"]["fields"]}
    assert fields["illness"]["constraints"]["enum"] == ["a|b", "cold", "flu"]
    labels = {one["value"]: one.get("label") for one in fields["age"].get("categories", ())}
    assert all(label == value[1:-1].replace(",", " to ") for value, label in labels.items() if "[" in value)
    assert fields["age"]["role"] == "quasi"


def test_copies_for_other_programs(folder: Path, shoal: Callable[..., Any]) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="the extra statistics is not installed")
    (folder / "in.csv").write_text(ROWS)
    given = ("--k", 3, "--quasi", "age,sex", "--sensitive", "illness", "--seed", 1, "--also", "xlsx,sav,dta")
    for name in ("out", "again"):
        assert shoal("anonymize", "mondrian", "in.csv", *given, "-o", name).code == 0
    release = folder / "out" / "release"
    for name in ("data.xlsx", "data.sav", "data.dta", "datapackage.json"):
        assert (release / name).read_bytes() == (folder / "again" / "release" / name).read_bytes()
    assert shoal("verify", "out").code == 0
    frame = pl.read_csv(release / "data.csv", infer_schema=False)
    for copy in ("data.sav", "data.dta", "data.xlsx"):
        opened = open_input(release / copy)
        assert opened.frame(opened.names).to_dict(as_series=False) == frame.to_dict(as_series=False)
    read, facts = pyreadstat.read_sav(release / "data.sav", output_format="polars")
    assert list(facts.variable_value_labels["illness"].values()) == ["a|b", "cold", "flu"]
    assert facts.column_labels == ["age", "sex", "illness"]
    wrong = read.with_columns(illness=pl.lit(1.0))
    pyreadstat.write_sav(wrong, release / "data.sav", variable_value_labels=facts.variable_value_labels)
    assert "BROKEN  data-package" in shoal("verify", "out").out
    (release / "data.sav").unlink()
    assert shoal("verify", "out").code == 1


def test_a_copy_that_nobody_named_is_a_stray(tmp_path: Path) -> None:
    release = written("table", tmp_path / "out")
    (release / "data.xlsx").write_bytes(b"")
    (verdict,) = library.verify(tmp_path / "out")
    assert (verdict.model, verdict.holds) == ("release-folder", False)


def test_copies_are_of_tables(tmp_path: Path) -> None:
    run = library.anonymize(shopping(), "cahd", p=3)
    with pytest.raises(WrongUse, match="of a published table in memory"):
        run.write(tmp_path / "out", also=("xlsx",))
    assert not (tmp_path / "out").exists()


def test_the_value_map(folder: Path, shoal: Callable[..., Any]) -> None:
    (folder / "in.csv").write_text(ROWS)
    given = ("in.csv", "--k", 3, "--quasi", "age,sex", "--sensitive", "illness", "--seed", 1)
    assert shoal("anonymize", "mondrian", *given, "--value-map", "map.csv", "-o", "out").code == 0
    mapped = pl.read_csv(folder / "map.csv", infer_schema=False).cast({"rows": pl.Int64})
    assert set(mapped["column"]) == {"age"} | (set(mapped["column"]) & {"sex"})
    assert mapped.filter(pl.col("column") == "age")["rows"].sum() == 40
    published = pl.read_csv(folder / "out" / "release" / "data.csv", infer_schema=False)
    counts = dict(published["age"].value_counts().iter_rows())
    found = mapped.filter(pl.col("column") == "age").group_by("published").agg(pl.col("rows").sum())
    assert dict(found.iter_rows()) == counts
    for value, cell in mapped.filter(pl.col("column") == "age").select("value", "published").iter_rows():
        low, high = cell.strip("[]").split(",") if cell.startswith("[") else (cell, cell)
        assert int(low) <= int(value) <= int(high)
    assert shoal("anonymize", "mondrian", *given, "--value-map", "map.csv", "-o", "new").code == 2
    inside = shoal("anonymize", "mondrian", *given, "--value-map", "o/release/m.csv", "-o", "o")
    assert (inside.code, "would be published" in inside.err) == (2, True)
    elsewhere = shoal("anonymize", "mondrian", *given, *STREAM, "--value-map", "m.csv", "-o", "o")
    assert (elsewhere.code, (folder / "o").exists()) == (2, False)

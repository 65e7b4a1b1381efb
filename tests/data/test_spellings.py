"""Values that differ in spelling alone: told of, and made one where that is asked for."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.data._spellings import spelling_key
from shoal.engines.stream import Stream
from shoal.errors import UnknownName

PAIRS = [
    ("flu", "Flu"),
    ("Straße", "STRASSE"),
    ("caf\u00e9", "cafe\u0301"),
    ("ﬁ", "fi"),
    ("fl\u200bu", "flu"),
    ("flu\u00ad", "flu"),
    ("\u202eflu", "flu"),
    ("hepatitis  b", "hepatitis\u00a0B"),
    ("1", "1.0"),
    ("1", "01"),
    ("-0", "0.00"),
    ("１２", "12"),
]
OTHERS = [
    ("1", "11"),
    ("flu", "flux"),
    ("1.1", "11"),
    ("-1", "1"),
    ("café", "cafe"),
    ("1" * 40, "1" * 39 + "2"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_one_value(one: str, other: str) -> None:
    assert spelling_key(one) == spelling_key(other)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_two_values(one: str, other: str) -> None:
    assert spelling_key(one) != spelling_key(other)


def on(engine: str, *arguments: Any, **options: Any) -> tuple[Any, list[str]]:
    """A run on an engine, and the texts that it publishes of the column ``s``."""
    if engine == "local":
        run = shoal.anonymize(*arguments, **options)
        data = run.release.data
        return run, run.release.to_polars()["s"].to_list() if hasattr(data, "names") else []
    stream = Stream()
    run = shoal.anonymize(*arguments, engine=stream, **options)
    texts = run.release.data.parts.collect()
    found = texts["s"].to_list() if "s" in texts.columns else []
    stream.close()
    return run, found


SECRETS = ["Flu", "flu", "flu", "x 1", "01", "1", "1", "Flu", "Flu", "?"]
FRAME = pl.DataFrame({"q": [1] * 5 + [2] * 5, "s": SECRETS})
ROLES = {"quasi": "q", "sensitive": "s", "k": 2}


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_a_table_is_told_of(engine: str) -> None:
    run, texts = on(engine, FRAME, "mondrian", **ROLES)
    (said,) = [warning for warning in run.warnings if "spellings" in warning]
    assert "'s' has 2 values in several spellings, such as '01' and '1'" in said
    assert "Reading(normalize=['s'])" in said
    assert sorted(filter(None, texts)) == sorted(SECRETS[:-1])


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("drop", [True, False])
def test_values_are_made_one(engine: str, drop: bool) -> None:
    reading = shoal.Reading(normalize=("s",), drop_missing=drop)
    run, texts = on(engine, FRAME, "mondrian", reading=reading, **ROLES)
    assert not any("spellings" in warning for warning in run.warnings)
    assert sorted(filter(None, texts)) == ["1", "1", "1", *["Flu"] * 5, "x 1"]


def test_of_equally_frequent_spellings_the_first_is_taken() -> None:
    frame = pl.DataFrame({"q": [1, 1, 1, 1], "s": ["b", "B", "a", "A"]})
    _, texts = on("local", frame, "mondrian", reading=shoal.Reading(normalize=("s",)), **ROLES)
    assert texts == ["A", "A", "B", "B"]


def test_promises_count_a_secret_once() -> None:
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "s": ["flu", "FLU", "flu", "cold"]})
    assert shoal.anonymize(frame, "mondrian", l=2, **ROLES).release.to_polars()["q"].n_unique() == 2
    reading = shoal.Reading(normalize=("s",))
    run = shoal.anonymize(frame, "mondrian", l=2, reading=reading, **ROLES)
    assert run.release.to_polars()["q"].n_unique() == 1


def test_a_column_to_normalize_must_be_there() -> None:
    with pytest.raises(UnknownName, match="illness"):
        shoal.anonymize(FRAME, "mondrian", reading=shoal.Reading(normalize=("illness",)), **ROLES)


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("method", ["disassociation", "cahd"])
def test_items_are_told_of(tmp_path: Path, engine: str, method: str) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text("a b hiv\na b\na b HIV\na b\nb a\na b\n" * 3)
    parameters = {"k": 2, "m": 1} if method == "disassociation" else {"p": 2}
    run, _ = on(engine, path, method, sensitive=["hiv"], **parameters)
    (said,) = [warning for warning in run.warnings if "spellings" in warning]
    assert "'HIV' and 'hiv' (not sensitive and sensitive)" in said


def test_a_look_at_the_data_tells_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.cli import main

    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("some.csv")
    assert main(["inspect", "some.csv"]) == 0
    assert "NOTE    s: '01' and '1' differ in spelling alone" in capsys.readouterr().out
    assert main(["inspect", "some.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"][1]["alike"] == ["01", "1"]
    command = ["anonymize", "mondrian", "some.csv", "--k", "2", "--quasi", "q", "--sensitive", "s"]
    assert main([*command, "--normalize", "s", "-o", "out", "--save-recipe", "recipe.toml"]) == 0
    assert "spellings" not in capsys.readouterr().out
    assert main(["measure", "out", "--original", "some.csv"]) == 0
    assert main(["run", "recipe.toml", "-o", "again"]) == 0
    assert (tmp_path / "again/release/data.csv").read_text() == (
        tmp_path / "out/release/data.csv"
    ).read_text()

"""The names of the package's front, and how it behaves towards those who type in a prompt."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.errors import BadData, ShoalError, WrongUse

FRONT = Path(shoal.__file__)
FRAME = pl.DataFrame({"age": [20, 21, 40, 41], "illness": ["leprosy", "plague", "leprosy", "plague"]})
ROLES = {"quasi": ["age"], "sensitive": ["illness"]}


def for_the_type_checker() -> dict[str, str]:
    """The names that the type checker is told, and their modules."""
    tree = ast.parse(FRONT.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.asname: node.module for node in block.body for alias in node.names}


def test_the_type_checker_is_told_what_there_is() -> None:
    assert for_the_type_checker() == shoal._HOME


def test_the_names_are_sorted() -> None:
    assert list(shoal._HOME) == sorted(shoal._HOME)
    assert set(dir(shoal)) == {*shoal._HOME, "__version__"}


@pytest.mark.parametrize("name", shoal._HOME)
def test_every_name_leads_somewhere(name: str) -> None:
    assert getattr(shoal, name) is getattr(import_module(shoal._HOME[name]), name)


@pytest.mark.parametrize("family", ["method", "model"])
def test_methods_and_models_have_public_names(family: str) -> None:
    for name in registry.FAMILIES[family]:
        kind = registry.load(family, name)
        assert getattr(shoal, kind.__name__) is kind


def test_a_text_is_one_name() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, quasi="age", sensitive="illness")
    assert [column.name for column in run.original.quasi] == ["age"]
    assert [column.name for column in run.original.sensitive] == ["illness"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"others": "keep"}, "others must be 'drop' or 'insensitive', not 'keep'"),
        ({"quasi": [0]}, "quasi.0 must be a valid string, not 0"),
        ({"quasi": 3}, "quasi must be a list, such as [3], not 3"),
        ({"quasi": ["agee"]}, "There is no column 'agee'. Did you mean 'age'?"),
    ],
)
def test_wrong_roles_are_an_error_of_ours(given: dict[str, object], said: str) -> None:
    with pytest.raises(ShoalError) as error:
        shoal.anonymize(FRAME, "mondrian", k=2, **{**ROLES, **given})
    assert isinstance(error.value, WrongUse)
    assert said in str(error.value)


@pytest.mark.parametrize("weight", [-1, 0, float("nan"), float("inf"), "much"])
def test_weights_are_positive(weight: object) -> None:
    with pytest.raises(WrongUse, match=r"weights\.age must be"):
        shoal.anonymize(FRAME, "mondrian", k=2, weights={"age": weight}, **ROLES)


def test_a_whole_problem_does_not_repeat_all_parameters() -> None:
    with pytest.raises(WrongUse) as error:
        shoal.anonymize(FRAME, "mondrian", k=2, c=2.0, **ROLES)
    assert str(error.value).endswith("for example c=2, l=3.")


def test_what_is_printed_has_no_values() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    for shown in map(repr, (run, run.release, run.release.data, run.original, run.trace)):
        assert len(shown) < 300
        for value in ("leprosy", "plague", "41", "[20,21]", "array("):
            assert value not in shown
    assert repr(run.original) == "<Table: 4 rows; age (quasi), illness (sensitive)>"
    assert "k-anonymity" in repr(run.release)
    assert "all promises kept" in repr(run)


def test_sets_are_printed_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text("wine meat\nwine\nmeat viagra\nwine meat\n" * 10)
    baskets = shoal.read_baskets(path, sensitive=["viagra"])
    assert repr(baskets) == "<Baskets: 40 baskets of 3 items, 1 sensitive, 0 insensitive>"
    groups = shoal.anonymize(baskets, "cahd", p=2).release.data
    assert repr(groups).startswith("<Groups: ")
    assert repr(groups).endswith(" groups of 40 baskets, 3 items>")
    clusters = shoal.anonymize(shoal.read_baskets(path), "disassociation", k=2, m=2).release.data
    assert repr(clusters).startswith("<Clusters: ")
    assert repr(clusters).endswith(" of 40 baskets, 3 items>")


def test_a_release_is_verified(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    run.write(tmp_path / "out", report=False)
    for release in (run.release, tmp_path / "out", str(tmp_path / "out" / "release")):
        (verdict,) = shoal.verify(release)
        assert (verdict.model, verdict.holds) == ("k-anonymity", True)
        (verdict,) = shoal.verify(release, k=3)
        assert not verdict.holds
        (verdict,) = shoal.verify(release, k=4, quasi="illness")
        assert (verdict.holds, verdict.value) == (False, 2)


def test_any_table_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text("age\n30\n30\n")
    assert shoal.verify(path, k=2, quasi="age")[0].holds
    with pytest.raises(WrongUse, match="Nothing to prove"):
        shoal.verify(path, quasi="age")
    with pytest.raises(WrongUse, match="k must be"):
        shoal.verify(path, quasi="age", k=1)


def test_data_is_inspected() -> None:
    assert shoal.inspect(FRAME, quasi="age").rows == 4


def test_a_release_of_a_frame_is_measured(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    run.write(tmp_path / "out", report=False)
    assert shoal.measure(tmp_path / "out", FRAME) == run.scores
    with pytest.raises(BadData, match="not the original of this release"):
        shoal.measure(tmp_path / "out", FRAME.with_columns(age=pl.col("age") + 1))


@pytest.mark.parametrize(
    ("name", "parameters"), [("cahd", {"p": 2}), ("coherence", {"h": 0.5, "k": 2, "p": 2})]
)
def test_a_release_of_baskets_is_measured(tmp_path: Path, name: str, parameters: dict[str, Any]) -> None:
    """Layout, separator and sensitive items are those of the run."""
    baskets = tmp_path / "baskets.csv"
    baskets.write_text("wine,meat\nwine,meat\nmeat,cream,pills\nmeat,cream\n")
    reading = shoal.Reading(separator=",")
    run = shoal.anonymize(baskets, name, baskets="lines", reading=reading, sensitive="pills", **parameters)
    assert run.original.vocabulary == ("cream", "meat", "pills", "wine")
    run.write(tmp_path / "out")
    assert shoal.measure(tmp_path / "out", baskets) == run.scores
    again = shoal.anonymize(run.original, name, **parameters)
    again.write(tmp_path / "again")
    assert shoal.measure(
        tmp_path / "again", [["wine", "meat"]] * 2 + [["meat", "cream", "pills"], ["meat", "cream"]]
    )

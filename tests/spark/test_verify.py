"""Published files are judged on a real cluster as they are in memory."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.contract.data import patients, people, shoppers, shopping
from tests.models.test_in_parts import parted_release, same
from tests.papers import without_papers
from tests.spark.test_mondrian import people as many_people

import shoal
from shoal.data._frames import text_frame
from shoal.errors import BadData, WrongUse
from shoal.methods.multirelational.method import Multirelational
from shoal.methods.relational_transaction.method import RelationalTransaction
from shoal.models import _distributed as in_parts
from shoal.models import _distributed_baskets as baskets_in_parts
from shoal.models._distributed import verify_table
from shoal.models._promises import Promises
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.hidden_associations import HiddenAssociations
from shoal.models.hidden_rules import HiddenRules
from shoal.models.hkp_coherence import HkpCoherence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.reidentification_risk import ReidentificationRisk
from shoal.models.t_closeness import TCloseness
from shoal.recipe import Roles
from shoal.verification import Asked, verify_as_asked

if TYPE_CHECKING:
    from shoal.engines.spark import Spark


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: Any) -> None:
    monkeypatch.setattr(in_parts, "SMALL_PART", 300)
    monkeypatch.setattr(baskets_in_parts, "SMALL_SHARE", 50)


def test_a_table(spark: "Spark") -> None:
    release, _ = shoal.methods.Mondrian(k=5).anonymize(many_people(3000))
    models = [
        KAnonymity(k=5),
        KAnonymity(k=8),
        KAnonymity(k=8, missing_matches_all=True),
        DistinctDiversity(l=3),
        TCloseness(t=0.4),
        BetaLikeness(beta=2),
        DeltaDisclosure(delta=1),
        ReidentificationRisk(risk=0.15, over="average"),
        HiddenRules(confidence=0.4),
        HiddenRules(confidence=0.3, antecedent="any", size=1),
    ]
    expected = [model.verify(release.data) for model in models]
    there = replace(parted_release(release.data), parts=spark.parts(text_frame(release.data)))
    for one, other in zip(verify_table(models, there, spark.memory), expected, strict=True):
        same(one, other)


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
def test_a_release_folder(spark: "Spark", tmp_path: Path, table_format: str) -> None:
    run = shoal.anonymize(people(), "mondrian", k=3, l=2)
    run.write(tmp_path / "out", table_format=table_format)
    asked = Asked(Promises(k=5, t=0.1))
    expected = verify_as_asked(tmp_path / "out", asked)
    for one, other in zip(verify_as_asked(tmp_path / "out", asked, spark), expected, strict=True):
        same(one, other)


def test_a_changed_release_is_not_believed(spark: "Spark", tmp_path: Path) -> None:
    shoal.anonymize(people(), "mondrian", k=3).write(tmp_path / "out")
    data = tmp_path / "out" / "release" / "data.csv"
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines[:-1]))
    with pytest.raises(BadData, match="says 120 rows, the file has 119"):
        verify_as_asked(tmp_path / "out", Asked(), spark)
    facts = json.loads((data.parent / "release.json").read_text())
    (data.parent / "release.json").write_text(json.dumps({**facts, "rows": 119}))
    (verdict,) = verify_as_asked(tmp_path / "out", Asked(), spark)
    assert (verdict.holds, verdict.value, verdict.offender_count) == (False, 2, 1)


def test_any_published_table(spark: "Spark", tmp_path: Path) -> None:
    (tmp_path / "any.csv").write_text("x,illness\n" + "a,flu\n" * 3 + "b,cold\n" * 2 + ",cold\n" * 4)
    asked = Asked(Promises(k=3), roles=Roles(quasi=("x",), sensitive=("illness",)))
    (verdict,) = verify_as_asked(tmp_path / "any.csv", asked, spark)
    assert (verdict.holds, verdict.value) == (False, 2)
    assert [place.where for place in verdict.offenders] == ["x b"]
    with pytest.raises(WrongUse, match="`quasi`"):
        verify_as_asked(tmp_path / "any.csv", Asked(Promises(k=3)), spark)


def test_baskets(spark: "Spark", tmp_path: Path) -> None:
    run = shoal.anonymize(shopping(), "coherence", h=0.8, k=3, p=2)
    run.write(tmp_path / "out")
    models = (
        HkpCoherence(h=0.8, k=5, p=3),
        KmAnonymity(k=4, m=2),
        HiddenAssociations(support=0.1, confidence=0.3, scope="all"),
    )
    asked = Asked(Promises(promises=models))
    expected = verify_as_asked(tmp_path / "out", asked)
    for one, other in zip(verify_as_asked(tmp_path / "out", asked, spark), expected, strict=True):
        same(one, other)


def test_items_in_rows(spark: "Spark", tmp_path: Path) -> None:
    run = shoal.anonymize(shoppers(), "relational-transaction", k=4, m=2)
    run.write(tmp_path / "out", report=False)
    stronger = Asked(Promises(promises=(KKmAnonymity(k=6, m=2),)))
    for asked in (Asked(), stronger):
        expected = verify_as_asked(tmp_path / "out", asked)
        for one, other in zip(verify_as_asked(tmp_path / "out", asked, spark), expected, strict=True):
            same(one, other)
    assert not expected[-1].holds


def test_two_files_are_judged_in_memory(spark: "Spark", tmp_path: Path) -> None:
    apart = shoal.anonymize(shoppers(), "relational-transaction", item_step="disassociation", k=3, m=2)
    apart.write(tmp_path / "apart", report=False)
    shoal.anonymize(patients(), "multirelational", k=3).write(tmp_path / "joined", report=False)
    for folder in ("apart", "joined"):
        with pytest.raises(WrongUse, match="are opened in memory: omit `engine`"):
            verify_as_asked(tmp_path / folder, Asked(), spark)
        assert all(verdict.holds for verdict in verify_as_asked(tmp_path / folder, Asked()))


@pytest.mark.parametrize(
    ("method", "roles"),
    [
        (RelationalTransaction(k=3, m=2), {"items": "b"}),
        (Multirelational(k=3), {"link": "visits.csv:person"}),
    ],
)
def test_methods_of_mixed_data_are_refused(spark: "Spark", method: Any, roles: dict[str, str]) -> None:
    with pytest.raises(WrongUse, match=f"does not run on spark: {method.not_distributable}. Run it .*Local"):
        shoal.anonymize("absent.csv", method, quasi=["a"], engine=spark, **roles)


@pytest.mark.parametrize(("method", "parameters"), [("cahd", {"p": 3}), ("disassociation", {"k": 3, "m": 2})])
def test_groups_and_clusters(spark: "Spark", tmp_path: Path, method: str, parameters: dict[str, int]) -> None:
    run = shoal.anonymize(shopping(), method, **parameters)
    run.write(tmp_path / "out")
    (verdict,) = verify_as_asked(tmp_path / "out", Asked(), spark)
    (expected,) = verify_as_asked(tmp_path / "out", Asked())
    assert (verdict.holds, verdict.value, verdict.promise) == (True, expected.value, expected.promise)
    data = tmp_path / "out" / "release" / "data.jsonl"
    broken = data.read_text().splitlines()[0]
    data.write_text(data.read_text() + broken.replace("}", "}x", 1) + "\n")
    with pytest.raises(BadData, match="not a JSON object"):
        verify_as_asked(tmp_path / "out", Asked(), spark)


@pytest.mark.parametrize("method", ["mondrian", "coherence", "cahd", "disassociation"])
def test_the_order_is_that_of_the_files(spark: "Spark", tmp_path: Path, method: str) -> None:
    """Spark reads the largest file first; which line follows which is told by the names of the files alone."""
    parameters: dict[str, dict[str, Any]] = {
        "mondrian": {"k": 3},
        "coherence": {"h": 0.8, "k": 3, "p": 2},
        "cahd": {"p": 3},
        "disassociation": {"k": 3, "m": 2},
    }
    data = people() if method == "mondrian" else shopping()
    shoal.anonymize(data, method, **parameters[method]).write(tmp_path / "out", report=False)
    without_papers(tmp_path / "out" / "release")
    file = next((tmp_path / "out" / "release").glob("data.*"))
    lines = file.read_text().splitlines(keepends=True)
    header, lines = (lines[:1], lines[1:]) if file.suffix == ".csv" else ([], lines)
    file.unlink()
    file.mkdir()
    for number, part in enumerate((lines[:1], lines[1:3], lines[3:-1], lines[-1:])):
        (file / f"part-{number:05}{file.suffix}").write_text("".join([*header, *part]))
    assert all(verdict.holds for verdict in verify_as_asked(tmp_path / "out", Asked(), spark))
    one, other = (file / f"part-0000{number}{file.suffix}" for number in (0, 3))
    first, last = one.read_text(), other.read_text()
    assert first != last
    one.write_text(last)
    other.write_text(first)
    found = verify_as_asked(tmp_path / "out", Asked(), spark)
    expected = verify_as_asked(tmp_path / "out", Asked())
    assert [verdict.holds for verdict in found] == [verdict.holds for verdict in expected]
    assert not found[-1].holds
    same(found[-1], expected[-1])


def test_nothing_is_learned_of_rows(spark: "Spark") -> None:
    """Distinct rows travel, so that a class of any size is judged in a worker of any size."""
    rows = 20_000
    table = many_people(rows).take(np.zeros(rows, dtype=np.int64))
    there = replace(parted_release(table), parts=spark.parts(text_frame(table)))
    (verdict,) = verify_table([KAnonymity(k=10)], there, 1)
    assert (verdict.holds, verdict.value) == (True, rows)


def test_cells_of_parquet(spark: "Spark", tmp_path: Path) -> None:
    asked = Asked(Promises(k=2), roles=Roles(quasi=("x", "y")))
    path = tmp_path / "any.parquet"
    frame = pl.DataFrame(
        {"x": [None, "", "a", "a"], "y": [1.0, 1.0, 2.5, 2.5], "z": [float("nan"), None, 1, 1]}
    )
    frame.write_parquet(path)
    (verdict,) = verify_as_asked(path, asked, spark)
    assert sorted(place.where for place in verdict.offenders) == ['x "", y 1.0', "x (missing), y 1.0"]
    frame.with_columns(z=pl.lit([1])).write_parquet(path)
    with pytest.raises(BadData, match="column 'z': the cells are List"):
        verify_as_asked(path, asked, spark)


def test_the_frame_of_a_release_has_its_names(spark: "Spark") -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "a.b": ["x", "y", "x", "y"]})
    run = shoal.anonymize(frame, "mondrian", k=2, quasi=["age", "a.b"], engine=spark)
    assert run.release.data.parts.frame.columns == ["age", "a.b"]
    assert run.release.data.parts.frame.count() == 4

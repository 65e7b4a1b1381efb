"""Promises that hold of all data say so: in the warnings of a run, and in verdicts."""

from pathlib import Path
from typing import Any

import pytest

from shoal import registry
from shoal.engines.stream import Stream
from shoal.models._promises import Promises
from shoal.pipeline import anonymize
from shoal.recipe import Roles
from shoal.verification import Asked, verify, verify_as_asked

VACUOUS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("t-closeness", {"t": 1}, {"t": 0.99}),
    ("alpha-k-anonymity", {"alpha": 1, "k": 2}, {"alpha": 0.9}),
    ("reidentification-risk", {"risk": 1}, {"risk": 0.5}),
    ("reidentification-risk", {"risk": 1, "over": "average"}, {"risk": 0.5, "over": "average"}),
    ("delta-presence", {"delta_max": 1}, {"delta_max": 1, "delta_min": 0.1}),
    ("hidden-rules", {"confidence": 1}, {"confidence": 0.5}),
    ("confidence-bounding", {"bounds": {"flu": 1, "hiv": 0.5}}, {"bounds": {"flu": 0.9}}),
    ("hkp-coherence", {"h": 1, "k": 2, "p": 1}, {"h": 0.9, "k": 2, "p": 1}),
]


@pytest.mark.parametrize(("name", "empty", "full"), VACUOUS)
def test_what_promises_nothing(name: str, empty: dict[str, Any], full: dict[str, Any]) -> None:
    model = registry.load("model", name)
    assert "promises nothing" in model(**empty).vacuous()
    assert model(**full).vacuous() == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"t": 1}, "t-closeness: t = 1 promises nothing: no two distributions are farther apart."),
        ({"alpha": 1}, "alpha-k-anonymity: alpha = 1 promises nothing about shares: none is larger."),
        (
            {"maximal_risk": 1},
            "reidentification-risk: the maximal risk of 1 promises nothing: none is larger.",
        ),
        (
            {"average_risk": 1},
            "reidentification-risk: the average risk of 1 promises nothing: none is larger.",
        ),
    ],
)
def test_runs_warn_and_verdicts_remark(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(
        "age,illness\n" + "".join(f"{20 + row},{'flu' if row % 2 else 'hiv'}\n" for row in range(8))
    )
    roles: dict[str, Any] = {"quasi": "age", "sensitive": "illness"}
    for engine in (None, Stream("1GB")):
        run = anonymize(path, "mondrian", k=2, engine=engine, **options, **roles)
        assert said in run.warnings
    remark = said.split(": ", 1)[1][:-1]
    (verdict,) = verify(path, **options, **roles)
    assert remark in verdict.remark
    asked = Asked(Promises(**options), roles=Roles(quasi=("age",), sensitive=("illness",)))
    (verdict,) = verify_as_asked(path, asked, Stream("1GB"))
    assert remark in verdict.remark


def test_a_share_of_one_in_baskets(tmp_path: Path) -> None:
    path = tmp_path / "sold.dat"
    path.write_text("beer nuts\n" * 3 + "beer wine\n" * 3)
    run = anonymize(path, "coherence", h=1, k=2, p=1, sensitive="wine")
    said = "h = 1 promises nothing about sensitive items: no share is larger"
    assert f"hkp-coherence: {said}." in run.warnings
    assert run.verdicts[0].remark == said

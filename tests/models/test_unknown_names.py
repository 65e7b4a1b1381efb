"""Promises that name what is not there are refused, and a release whose named values are gone says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import table

from shoal.data.hierarchy import climb
from shoal.data.table import Table
from shoal.engines.stream import Stream
from shoal.errors import UnknownName, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.models._distributed_baskets import verify_baskets
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.confidence_bounding import ConfidenceBounding
from shoal.models.hidden_associations import HiddenAssociations
from shoal.models.hidden_rules import HiddenRules
from shoal.models.hkp_coherence import HkpCoherence
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.model import Model, TableModel
from shoal.pipeline import anonymize
from shoal.verification import verify, verify_as_asked

NAMED: list[Callable[[str], TableModel]] = [
    lambda value: ConfidenceBounding(bounds={value: 0.5}),
    lambda value: AlphaKAnonymity(alpha=0.5, values=(value,)),
    lambda value: HiddenRules(confidence=0.5, values=(value,)),
]

ROWS = "age,illness,job\n20,hiv,clerk\n20,flu,nurse\n40,flu,clerk\n40,cold,nurse\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def sold(tmp_path: Path) -> Path:
    path = tmp_path / "sold.dat"
    path.write_text("beer nuts\n" * 3 + "beer wine\n" * 3)
    return path


@pytest.mark.parametrize("promise", NAMED)
def test_values_that_no_sensitive_column_has(promise: Callable[[str], TableModel], people: Path) -> None:
    roles: dict[str, Any] = {"quasi": "age", "sensitive": ["illness", "job"]}
    said = "no value 'HIV' in illness or job. Did you mean 'hiv'"
    for engine in (None, Stream("1GB")):
        with pytest.raises(UnknownName, match=said):
            anonymize(people, "mondrian", promises=[promise("HIV")], engine=engine, **roles)
        # A value of either column will do.
        anonymize(people, "mondrian", promises=[promise("hiv")], engine=engine, **roles)
    with pytest.raises(UnknownName, match=said):
        verify(people, promises=[promise("HIV")], **roles)
    assert all(verify(people, promises=[promise("hiv")], **roles))


@pytest.mark.parametrize("promise", NAMED)
def test_values_are_looked_for_in_parts(promise: Callable[[str], TableModel], people: Path) -> None:
    from shoal.models._promises import Promises
    from shoal.recipe import Roles
    from shoal.verification import Asked

    roles = Roles(quasi=("age",), sensitive=("illness", "job"))
    for value, known in (("HIV", False), ("hiv", True)):
        asked = Asked(Promises(promises=(promise(value),)), roles=roles)
        if known:
            assert all(verify_as_asked(people, asked, Stream("1GB")))
        else:
            with pytest.raises(UnknownName, match="no value 'HIV' in illness or job"):
                verify_as_asked(people, asked, Stream("1GB"))


def test_a_value_whose_rows_are_suppressed_is_no_longer_published(tmp_path: Path) -> None:
    data = table(
        {"x": list("aabbc"), "s": ["flu", "cold", "flu", "cold", "hiv"]},
        sensitive=["s"],
    )
    tree = climb(("a", "b", "c"), [])
    x, s = data.columns
    data = Table((type(x)(x.name, x.role, x.domain, x.codes, tree), s))
    promise = ConfidenceBounding(bounds={"hiv": 0.5})
    run = anonymize(data, "samarati", k=2, max_suppressed=1, raw=("x",), promises=[promise])
    assert run.holds
    assert run.verdicts[1].remark == "s: no published cell is hiv"
    run.write(tmp_path / "out")
    assert all(verify(tmp_path / "out"))
    with pytest.raises(UnknownName, match="no value 'hiv' in s"):
        verify(tmp_path / "out", promises=[promise])


def test_rules_of_items_that_nobody_has(sold: Path) -> None:
    baskets = read_baskets(sold)
    model = HiddenAssociations(support=0.5, confidence=0.5, rules=("beer => foo",))
    with pytest.raises(UnknownName, match="no item 'foo'"):
        verify(sold, promises=[model])
    with pytest.raises(UnknownName, match="no item 'foo'"):
        anonymize(sold, "basket-rule-hiding", support=0.5, confidence=0.5, rules=("beer => foo",))
    assert model.verify(baskets).remark == "no published basket holds foo"


def test_coherence_without_a_secret_says_so(sold: Path) -> None:
    model = HkpCoherence(h=0.5, k=3, p=2)
    (verdict,) = verify(sold, promises=[model])
    assert verdict.holds
    assert verdict.remark == "no published item is named sensitive, so h bounds nothing"
    (verdict,) = verify(sold, promises=[model], sensitive="wine")
    assert verdict.remark == ""
    run = anonymize(sold, "coherence", h=0.5, k=3, p=2)
    assert any("sensitive" in warning for warning in run.warnings)


def test_a_model_that_no_worker_can_judge_is_refused(sold: Path) -> None:
    from tests.parts import read_dataset

    class Unheard(KmAnonymity):
        name = "unheard"

    engine = Stream("1GB")
    data = read_dataset(engine, str(sold))
    models: list[Model] = [Unheard(k=2, m=1)]
    with pytest.raises(WrongUse, match="unheard cannot be judged on stream or spark"):
        verify_baskets(models, data, engine.memory)

"""What every method must keep."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from tests.contract.data import data_for, people, permuted, shopping, without_ties
from tests.tables import texts

import shoal
from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.linked import Linked
from shoal.data.release import Published, Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, Infeasible, WrongUse
from shoal.io.releases.folder import read_release
from shoal.methods.method import Method
from shoal.outcome import judge
from shoal.pipeline import carry_out

pytestmark = pytest.mark.parametrize("name", registry.METHODS)


def method_of(name: str) -> Method:
    method_class = registry.load("method", name)
    method: Method = method_class(**method_class.example)
    return method


def arrays(data: Published) -> list[Any]:
    """The arrays of published data, so that two releases can be compared."""
    if isinstance(data, Table):
        return list(texts(data))
    if isinstance(data, Linked):
        return [texts(data.public), texts(data.secrets)]
    fields = [getattr(data, field.name) for field in dataclasses.fields(data) if field.init]
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in fields]


def same(one: Release, other: Release) -> bool:
    return arrays(one.data) == arrays(other.data) and one.suppressed == other.suppressed


def test_facts(name: str) -> None:
    method_class = registry.load("method", name)
    assert method_class.name == name
    assert method_class.accepts in (Table, Baskets)
    assert method_class.paper
    assert method_class.__doc__
    assert set(method_class.engines) <= set(registry.ENGINES)
    for field, info in method_class.model_fields.items():
        assert info.description, f"{field} needs a description: it is the help of an option"


def test_keeps_its_promises(name: str) -> None:
    method = method_of(name)
    release, _ = method.anonymize(data_for(method))
    verdicts = judge(release)
    assert verdicts
    assert all(verdict.holds for verdict in verdicts)
    assert {promise["model"] for promise in release.promises} >= {model.name for model in method.models()}


def test_promises_are_those_that_were_asked_for(name: str) -> None:
    method = method_of(name)
    release, _ = method.anonymize(data_for(method))
    for model, promise in zip(method.models(), release.promises, strict=True):
        asked = model.as_promise()
        # The data may fill in what was left open: which items are sensitive.
        left_open = {name: value for name, value in asked.items() if value in (None, [])}
        assert asked == {**promise, **left_open}


def test_input_is_left_alone(name: str) -> None:
    method = method_of(name)
    data = data_for(method)
    before = arrays(data)
    method.anonymize(data)
    assert arrays(data) == before


def test_same_seed_same_release(name: str) -> None:
    method = method_of(name)
    first, _ = method.anonymize(data_for(method), seed=3)
    second, _ = method.anonymize(data_for(method), seed=3)
    assert same(first, second)


def test_order_of_input_leaves_no_mark(name: str) -> None:
    """A shuffled input gives the same release, as long as there are no ties (see `test_*_ties.py` for those)."""
    method = method_of(name)
    data = data_for(method)
    data = without_ties(data) if method.splits_ties else data
    assert same(method.anonymize(data, seed=3)[0], method.anonymize(permuted(data), seed=3)[0])


def test_publishes_what_may_be_published(name: str) -> None:
    method = method_of(name)
    if method.accepts is not Table:
        pytest.skip("only tables have columns")
    data = data_for(method)
    assert isinstance(data, Table)
    release, trace = method.anonymize(data)
    if isinstance(release.data, Linked):
        data = release.data
        assert data.public.names == ("age", "city", "shift", data.link)
        assert data.secrets.names == (data.link, "illness")
        shown, known = texts(data.public), texts(people())
        for place, row in enumerate(trace.rows.tolist()):
            assert all(shown[place][name] == known[row][name] for name in ("age", "city", "shift"))
        held = {(row[data.link], row["illness"]) for row in texts(data.secrets)}
        groups = [shown[place][data.link] for place in range(data.rows)]
        assert held == {(group, known[row]["illness"]) for group, row in zip(groups, trace.rows, strict=True)}
        return
    assert isinstance(release.data, Table)
    assert release.data.names == data.names[1:]
    assert data.names[:5] == ("name", "age", "city", "illness", "shift")
    assert not release.data.with_role(Role.IDENTIFYING)
    assert release.data.rows + release.suppressed == people().rows
    originals, published = texts(people()), texts(release.data)
    for place, row in enumerate(trace.rows.tolist()):
        assert published[place]["shift"] == originals[row]["shift"]
        if "illness" in release.details.get("perturbed", ()):
            continue
        assert published[place]["illness"] in (originals[row]["illness"], "*")


def test_nothing_is_lost_or_made_up(name: str) -> None:
    method = method_of(name)
    release, trace = method.anonymize(data_for(method))
    assert len(set(trace.rows.tolist())) == len(trace.rows)
    if isinstance(release.data, Baskets):
        assert len(release.data) + release.suppressed == len(shopping())
        nodes = release.details.get("nodes", ())
        assert set(release.data.vocabulary) <= {*shopping().vocabulary, *nodes}


def test_round_trip_through_disk(name: str, tmp_path: Path) -> None:
    method = method_of(name)
    run = carry_out(method, data_for(method))
    folder = run.write(tmp_path / "out")
    back = read_release(folder)
    assert arrays(back.data) == arrays(run.release.data)
    assert (back.method, back.promises, back.suppressed) == (
        name,
        run.release.promises,
        run.release.suppressed,
    )
    named = re.compile(r"person \d")
    assert not any(
        named.search(path.read_text(errors="replace")) for path in (folder / "release").rglob("*.*")
    )


def test_empty_input_is_refused(name: str) -> None:
    method = method_of(name)
    data = data_for(method).take(np.empty(0, dtype=np.int64))
    with pytest.raises(BadData, match="no rows"):
        method.anonymize(data)


def test_wrong_form_is_refused(name: str) -> None:
    method = method_of(name)
    wrong = shopping() if method.accepts is Table else people()
    with pytest.raises(WrongUse, match="takes"):
        method.anonymize(wrong)


def test_a_promise_beyond_the_data_is_infeasible(name: str) -> None:
    method_class = registry.load("method", name)
    if "k" not in method_class.example:
        pytest.skip("promises no k")
    with pytest.raises(Infeasible) as refusal:
        method_class(**{**method_class.example, "k": 10_000}).anonymize(data_for(method_class))
    assert refusal.value.best is not None
    assert str(refusal.value.best) in str(refusal.value)


def test_wrong_parameters_are_explained(name: str) -> None:
    method_class = registry.load("method", name)
    with pytest.raises(WrongUse, match="not_a_parameter is not a parameter"):
        shoal.anonymize(data_for(method_class), name, **method_class.example, not_a_parameter=1)
    for field, info in method_class.model_fields.items():
        if any(hasattr(limit, "ge") or hasattr(limit, "gt") for limit in info.metadata):
            with pytest.raises(WrongUse, match=f"{field} must be"):
                shoal.anonymize(data_for(method_class), name, **{**method_class.example, field: -1})


def test_frozen(name: str) -> None:
    method = method_of(name)
    with pytest.raises(ValidationError):
        method.k = 5  # type: ignore[attr-defined]
    release, trace = method.anonymize(data_for(method))
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.method = "other"  # type: ignore[misc]
    assert not trace.rows.flags.writeable

"""Promises that a release names, and that somebody may have edited."""

import json
from typing import Any

import pytest
from tests.models.promises import PARAMETERS, promises

from shoal import registry
from shoal.data._promise_words import promise_sentences
from shoal.errors import BadData
from shoal.models._promises import promised
from shoal.models.k_anonymity import KAnonymity


def test_promises_become_models() -> None:
    assert promised([{"model": "k-anonymity", "k": 5}]) == [KAnonymity(k=5)]


@pytest.mark.parametrize("k", [1, 0, -3, 1.5, None, "five", "5", True, [5]])
def test_a_promise_that_nobody_can_make_is_bad_data(k: Any) -> None:
    with pytest.raises(BadData, match=r"release\.json: the promise k-anonymity: k cannot be"):
        promised([{"model": "k-anonymity", "k": k}])


def test_a_model_that_there_is_not() -> None:
    with pytest.raises(
        BadData, match=r"release\.json: the promise k-anonymty: .* near names are k-anonymity"
    ):
        promised([{"model": "k-anonymty", "k": 5}])


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_methods_promise_is_read_back(name: str) -> None:
    for model in promises(name):
        assert promised([json.loads(json.dumps(model.as_promise()))]) == [model]


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_promise_has_a_sentence_without_its_name(name: str) -> None:
    for model in promises(name):
        (said,) = promise_sentences([model.as_promise()], ["age"])
        assert said[0].isupper()
        assert said.endswith(".")
        assert model.name not in said


def test_every_model_has_a_sentence_of_its_own() -> None:
    kinds = [registry.load("model", name) for name in registry.MODELS]
    assert not [kind.name for kind in kinds if "sentence" not in vars(kind)]


def test_a_promise_of_another_tool_is_named() -> None:
    assert promise_sentences([{"model": "z-privacy", "z": 3}]) == ("It keeps z-privacy.",)


def test_a_parameter_that_is_gone_or_unknown() -> None:
    with pytest.raises(BadData, match="k is missing"):
        promised([{"model": "k-anonymity"}])
    with pytest.raises(BadData, match="extra"):
        promised([{"model": "k-anonymity", "k": 5, "extra": 1}])

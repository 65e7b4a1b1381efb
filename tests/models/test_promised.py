"""Promises that a release names, and that somebody may have edited."""

import json
from typing import Any

import pytest
from tests.models.promises import PARAMETERS, promises

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


def test_a_parameter_that_is_gone_or_unknown() -> None:
    with pytest.raises(BadData, match="k is missing"):
        promised([{"model": "k-anonymity"}])
    with pytest.raises(BadData, match="extra"):
        promised([{"model": "k-anonymity", "k": 5, "extra": 1}])

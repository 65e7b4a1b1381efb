"""Promises that a release names, and that somebody may have edited."""

from typing import Any

import pytest

from shoal.errors import BadData
from shoal.models.k_anonymity import KAnonymity
from shoal.models.promised import promised


def test_promises_become_models() -> None:
    assert promised([{"model": "k-anonymity", "k": 5}]) == [KAnonymity(k=5)]


@pytest.mark.parametrize("k", [1, 0, -3, 1.5, None, "five"])
def test_a_promise_that_nobody_can_make_is_bad_data(k: Any) -> None:
    with pytest.raises(BadData, match=r"release\.json: the promise k-anonymity: k cannot be"):
        promised([{"model": "k-anonymity", "k": k}])


def test_a_parameter_that_is_gone_or_unknown() -> None:
    with pytest.raises(BadData, match="k is missing"):
        promised([{"model": "k-anonymity"}])
    with pytest.raises(BadData, match="extra"):
        promised([{"model": "k-anonymity", "k": 5, "extra": 1}])

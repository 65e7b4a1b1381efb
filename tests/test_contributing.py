"""The walk-through of CONTRIBUTING.md is code that runs and keeps the contract."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.contract import test_methods as contract

from shoal import registry

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")

CHECKS = [
    contract.test_facts,
    contract.test_keeps_its_promises,
    contract.test_input_is_left_alone,
    contract.test_order_of_input_leaves_no_mark,
    contract.test_publishes_what_may_be_published,
    contract.test_empty_input_is_refused,
    contract.test_a_promise_beyond_the_data_is_infeasible,
]


@pytest.fixture
def one_class(monkeypatch: pytest.MonkeyPatch) -> str:
    found = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    module = ModuleType("shoal.methods.one_class")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(found.group(1), "CONTRIBUTING.md", "exec"), module.__dict__)
    monkeypatch.setitem(registry.METHODS, "one-class", "shoal.methods.one_class:OneClass")
    return "one-class"


@pytest.mark.parametrize("check", CHECKS)
def test_the_example_keeps_the_contract(one_class: str, check: object) -> None:
    check(one_class)  # type: ignore[operator]

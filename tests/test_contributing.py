"""The code in CONTRIBUTING.md runs and keeps the contract."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.contract import test_methods as contract
from tests.contract.data import people
from tests.parts import MemoryEngine, parted, published_rows

from shoal import registry
from shoal.data._frames import text_frame

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
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The first two examples as one module."""
    found = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[:2]
    made = ModuleType("shoal.methods.one_class")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    exec(compile("".join(found), "CONTRIBUTING.md", "exec"), made.__dict__)
    return made


@pytest.fixture
def one_class(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(registry.METHODS, "one-class", "shoal.methods.one_class:OneClass")
    return "one-class"


@pytest.mark.parametrize("check", CHECKS)
def test_the_example_keeps_the_contract(one_class: str, check: object) -> None:
    check(one_class)  # type: ignore[operator]


def test_the_distributed_example_publishes_the_same_rows(module: ModuleType) -> None:
    method, table = module.OneClassAnywhere(k=3), people()
    here, _ = method.anonymize(table)
    for seed in range(5):
        there, _ = method.anonymize(parted(table, seed), MemoryEngine())
        assert there.promises == here.promises
        assert published_rows(there.data).equals(text_frame(here.data))

"""What there is, read off the registry."""

import json
from collections.abc import Callable

import pytest

from shoal import registry
from shoal.cli.options import fields_of


def test_everything_is_listed(shoal: Callable[..., object]) -> None:
    answer = shoal("methods")
    assert (answer.code, answer.err) == (0, "")
    words = answer.out.split()
    for family in ("method", "model", "measure"):
        assert set(registry.FAMILIES[family]) <= set(words)


def test_json(shoal: Callable[..., object]) -> None:
    shown = json.loads(shoal("methods", "--json").out)
    assert [entry["name"] for entry in shown["methods"]] == list(registry.METHODS)
    assert [entry["name"] for entry in shown["models"]] == list(registry.MODELS)
    assert [entry["name"] for entry in shown["measures"]] == list(registry.MEASURES)
    for entry in shown["methods"]:
        assert entry["data"] in ("table", "baskets")
        assert set(entry["promises"]) <= set(registry.MODELS)
        assert entry["promises"]
        assert entry["paper"]
        assert set(entry["engines"]) <= set(registry.ENGINES)
        assert (entry["not_distributable"] is None) == ("spark" in entry["engines"])


def test_methods_that_cannot_be_cut_say_so(shoal: Callable[..., object]) -> None:
    shown = shoal("methods").out
    for name in registry.METHODS:
        kind = registry.load("method", name)
        assert (f"{name} runs in memory alone: {kind.not_distributable}." in shown) == (
            "spark" not in kind.engines
        )


@pytest.mark.parametrize("name", [*registry.METHODS, *registry.MODELS, *registry.MEASURES])
def test_one_of_them(shoal: Callable[..., object], name: str) -> None:
    answer = shoal("methods", name)
    assert (answer.code, answer.err) == (0, "")
    assert "Undefined" not in answer.out
    for family in ("method", "model", "measure"):
        if name in registry.FAMILIES[family]:
            assert f"{name}: a {family}" in answer.out
            for field in fields_of(registry.load(family, name)):
                assert field.name in answer.out
                assert field.help in answer.out


def test_parameters_in_json(shoal: Callable[..., object]) -> None:
    shown = json.loads(shoal("methods", "mondrian", "--json").out)
    assert list(shown) == ["methods"]
    (entry,) = shown["methods"]
    assert {"parameter", "default", "meaning"} == set(entry["parameters"][0])


def test_a_name_that_is_not_there(shoal: Callable[..., object]) -> None:
    answer = shoal("methods", "mondrain")
    assert (answer.code, answer.out) == (2, "")
    assert "There is no method, model or measure 'mondrain'. Did you mean 'mondrian'" in answer.err


def test_a_score_leads_to_its_measure(shoal: Callable[..., object]) -> None:
    answer = shoal("methods", "kl_sum")
    assert answer.code == 0
    assert answer.out.startswith("reconstruction: a measure")

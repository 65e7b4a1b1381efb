"""What there is, read off the registry."""

import json
from collections.abc import Callable

from shoal import registry


def test_everything_is_listed(shoal: Callable[..., object]) -> None:
    answer = shoal("methods")
    assert (answer.code, answer.err) == (0, "")
    words = answer.out.split()
    for family in ("method", "model", "measure"):
        assert set(registry.FAMILIES[family]) <= set(words)


def test_json(shoal: Callable[..., object]) -> None:
    told = json.loads(shoal("methods", "--json").out)
    assert [entry["name"] for entry in told["methods"]] == list(registry.METHODS)
    assert [entry["name"] for entry in told["models"]] == list(registry.MODELS)
    assert [entry["name"] for entry in told["measures"]] == list(registry.MEASURES)
    for entry in told["methods"]:
        assert entry["data"] in ("table", "baskets")
        assert set(entry["promises"]) <= set(registry.MODELS)
        assert entry["promises"]
        assert entry["paper"]
        assert set(entry["engines"]) <= set(registry.ENGINES)
        assert (entry["uncut"] is None) == ("spark" in entry["engines"])


def test_methods_that_cannot_be_cut_say_so(shoal: Callable[..., object]) -> None:
    told = shoal("methods").out
    for name in registry.METHODS:
        kind = registry.load("method", name)
        assert (f"{name} runs in memory alone: {kind.uncut}." in told) == ("spark" not in kind.engines)

"""Parameters of basket methods that change nothing beside the others are told."""

from typing import Any

import pytest

import shoal

BASKETS = [["a", "b"], ["a", "b"], ["a", "b", "s"], ["b"], ["a"], ["a"]]
COHERENCE = {"h": 0.6, "k": 2, "p": 1}
RULES = {"support": 0.1, "confidence": 0.5}


@pytest.mark.parametrize(
    ("method", "parameters", "told"),
    [
        ("km-generalization", {"k": 2, "parts": 3}, ["`parts`"]),
        ("km-generalization", {"k": 2, "parts": 3, "algorithm": "vpa"}, ["`parts`"]),
        ("km-generalization", {"k": 2, "parts": 3, "algorithm": "lra"}, []),
        ("km-generalization", {"k": 2}, []),
        ("cahd", {"p": 2, "alpha": 2}, ["`alpha`"]),
        ("cahd", {"p": 2, "alpha": 2, "form": "pivots"}, []),
        ("cahd", {"p": 2, "order": "rcm"}, ["`order`"]),
        ("cahd", {"p": 2, "order": "rcm", "form": "blocks"}, []),
        ("disassociation", {"k": 2, "small": "pool"}, ["`small`"]),
        ("disassociation", {"k": 2, "small": "pool", "swaps": 0}, []),
        ("cahd", {"p": 2, "alpha": 2, "improve": True}, []),
        ("coherence", {**COHERENCE, "time_limit": 3}, ["`time_limit`"]),
        ("coherence", {**COHERENCE, "time_limit": 3, "pick": "optimal"}, []),
        ("basket-rule-hiding", {**RULES, "time_limit": 3}, ["`time_limit`"]),
        ("basket-rule-hiding", {**RULES, "time_limit": 3, "strategy": "exact"}, []),
        ("basket-rule-hiding", {**RULES, "scope": "all", "antecedent": 1}, []),
        (
            "basket-rule-hiding",
            {**RULES, "rules": ["a => b"], "scope": "all", "antecedent": 1},
            ["`scope`", "`antecedent`"],
        ),
    ],
)
def test_what_has_no_effect_is_told(method: str, parameters: dict[str, Any], told: list[str]) -> None:
    run = shoal.anonymize(
        BASKETS, method, sensitive=[] if method == "km-generalization" else "s", **parameters
    )
    idle = [warning.partition(" has no effect")[0] for warning in run.warnings if "has no effect" in warning]
    assert idle == told


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("cahd", {"p": 2}),
        ("disassociation", {"k": 2}),
        ("basket-rule-hiding", RULES),
        ("coherence", COHERENCE),
    ],
)
def test_insensitive_items_mean_something_to_coherence_alone(method: str, parameters: dict[str, Any]) -> None:
    run = shoal.anonymize(BASKETS, method, sensitive="s", insensitive="b", **parameters)
    told = [warning for warning in run.warnings if warning.startswith("`insensitive` has no effect")]
    assert len(told) == (method != "coherence")
    run = shoal.anonymize(BASKETS, method, sensitive="s", **parameters)
    assert not [warning for warning in run.warnings if "`insensitive`" in warning]

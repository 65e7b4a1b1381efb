"""Every attack stays at its bound on what every method publishes, and none of them fails on any form."""

from typing import Any

import numpy as np
import pytest
from tests.contract.data import data_for

from shoal import registry
from shoal.attacks._bounds import promised_bound
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table

STRICTER: dict[str, dict[str, Any]] = {"table-rule-hiding": {"confidence": 0.4}}
"""So that something is starred."""

UNBOUND = ("basket-rule-hiding", "anatomy", "pram")
"""Methods that promise nothing of rows or baskets being found."""


def halves(data: Table | Baskets) -> tuple[Any, Any]:
    """Some of the people, and the others, in an order that says nothing of them."""
    rows = data.rows if isinstance(data, Table) else len(data)
    order = np.random.default_rng(3).permutation(rows)
    return data.take(order[: rows * 2 // 3]), data.take(order[rows * 2 // 3 :])


def release_of(name: str, data: Table | Baskets) -> Release:
    kind = registry.load("method", name)
    release: Release = kind(**kind.example | STRICTER.get(name, {})).anonymize(data, seed=1)[0]
    return release


def attacked(name: str) -> tuple[Release, dict[str, Attacked]]:
    """A method's release of two thirds of the people, attacked with the others and a second release beside it."""
    data, outside = halves(data_for(registry.load("method", name)))
    rows = data.rows if isinstance(data, Table) else len(data)
    release = release_of(name, data)
    other = release_of(name, data.take(np.arange(0, rows - 4)))
    return release, attack_all(Target(release, data, outside, other))


@pytest.fixture(scope="module", params=registry.METHODS)
def both(request: pytest.FixtureRequest) -> tuple[Release, dict[str, Attacked]]:
    return attacked(request.param)


def test_linkage_stays_below_one_in_what_was_promised(both: tuple[Release, dict[str, Attacked]]) -> None:
    release, found = both
    bound = promised_bound(release, "linkage")
    assert (bound is None) == (release.method in UNBOUND)
    if bound is not None:
        assert found["linkage"].parts["highest"] <= bound + 1e-12
        assert found["linkage"].success <= bound


def test_secrets_stay_below_what_was_promised(both: tuple[Release, dict[str, Attacked]]) -> None:
    release, found = both
    bound = promised_bound(release, "certainty")
    if bound is not None and "certainty" in found:
        assert found["certainty"].success <= bound
    for promise in release.promises:
        if promise["model"] == "hkp-coherence":
            assert found["certainty"].parts["highest share"] <= promise["h"]
        if promise["model"] == "privacy-degree":
            assert found["certainty"].parts["highest share"] <= 1 / promise["p"]


def test_the_order_tells_nothing(both: tuple[Release, dict[str, Attacked]]) -> None:
    """What is found by places is not surely more than by chance."""
    _, found = both
    if "order" in found:
        assert found["order"].interval[0] <= found["order"].control + 0.02


def test_cells_are_narrowed_to_what_they_hold(both: tuple[Release, dict[str, Attacked]]) -> None:
    _, found = both
    if "downcoding" in found and "said wrong" in found["downcoding"].parts:
        assert found["downcoding"].parts["said wrong"] == 0


def test_figures_are_shares(both: tuple[Release, dict[str, Attacked]]) -> None:
    _, found = both
    assert {"linkage", "membership"} <= set(found)
    for one in found.values():
        assert all(0 <= share <= 1 for share in (one.success, one.baseline, one.control, one.residual))
        assert one.interval[0] <= one.success + 1e-12
        assert one.success <= one.interval[1] + 1e-12
        assert one.people > 0
        assert one.sentence.endswith(".")


def test_every_attack_is_tried_on_something() -> None:
    """No attack goes unnoticed because none of the examples suits it."""
    tried = {name for method in registry.METHODS for name in attacked(method)[1]}
    assert tried >= set(registry.ATTACKS)

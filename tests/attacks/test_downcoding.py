"""Downcoding: what is said of cells is true in every possible world, and a small example is undone exactly."""

from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from tests.attacks.releases import as_release
from tests.tables import column, texts

import shoal
from shoal.attacks._class_view import class_view
from shoal.attacks.attack import Target
from shoal.attacks.downcoding import Downcoding, claims_of
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy, climb
from shoal.data.table import Table
from shoal.sources import with_hierarchies

VALUES = ("1a", "1b", "2a", "2b", "2c")


def places() -> Hierarchy:
    """Two places with two and three houses."""
    return climb(VALUES, [lambda leaves: [f"{VALUES[leaf][0]}?" for leaf in leaves]])


def clustered(cells: list[str], group: list[str]) -> Table:
    """People of clusters, who differ only in their house."""
    return Table((column("group", group), column("house", cells, hierarchy=places())))


def worlds_of(published: Table, k: int) -> list[Counter[tuple[str, str]]]:
    """All tables of the same values which the method publishes in the same way, by trying them all."""
    rows = Counter((row["group"], row["house"]) for row in texts(published))
    choices = []
    for (group, house), count in rows.items():
        fitting = [value for value in VALUES if house in (value, f"{value[0]}?", "*")]
        choices.append(
            [[(group, one) for one in some] for some in combinations_with_replacement(fitting, count)]
        )
    found = []
    for world in product(*choices):
        flat = [row for some in world for row in some]
        table = clustered([house for _, house in flat], [group for group, _ in flat])
        again = shoal.methods.Mondrian(k=k).anonymize(table)[0].data
        if Counter((row["group"], row["house"]) for row in texts(again)) == rows:
            found.append(Counter(flat))
    return found


def test_a_clustered_example_is_undone_exactly() -> None:
    """After Cohen: a stray in each cluster of two is published with her neighbor under the lowest node above both.

    The method is minimal: were both in one house, that house would be published. So each node stands for one of each,
    and only one table can have been published so.
    """
    original = clustered(["1a", "1b", "1a", "1b", "2b", "2b"], ["x", "x", "y", "y", "z", "z"])
    run = shoal.anonymize(original, "mondrian", k=2)
    assert sorted({row["house"] for row in texts(run.release.data)}) == ["1?", "2b"]
    found = Downcoding().run(Target(run.release, original))
    assert found is not None
    assert (found.success, found.parts["narrowed to one value"], found.people) == (1.0, 1.0, 4)
    assert found.control == 0.0
    assert worlds_of(run.release.data, 2) == [
        Counter((row["group"], row["house"]) for row in texts(original)),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_claims_are_true_in_every_world(seed: int) -> None:
    rng = np.random.default_rng(seed)
    original = clustered(rng.choice(VALUES, 5).tolist(), rng.choice(["x", "y"], 5).tolist())
    run = shoal.anonymize(original, "mondrian", k=2)
    view = class_view(run.release.data, original)
    possible = worlds_of(run.release.data, 2)
    labels = original.column("house").domain.labels
    for claims in claims_of(view, original, tight=True):
        if claims.column != "house":
            continue
        for place, group in zip(claims.classes.tolist(), claims.groups.tolist(), strict=True):
            first = view.classes.table.take(view.classes.first[[place]])
            cell = texts(first)[0]
            meant = {label for label, inside in zip(labels, claims.values[group], strict=True) if inside}
            for world in possible:
                if all(house in labels for _, house in world):
                    assert any(
                        house in meant and (cell["group"] in (who, "*") or who in cell["group"])
                        for who, house in world
                    )


def test_ranges_and_sets_tell_their_ends() -> None:
    original = Table((column("age", [20, 21, 25, 25]), column("city", ["a", "b", "c", "c"])))
    run = shoal.anonymize(original, "mondrian", k=4)
    assert texts(run.release.data)[0] == {"age": "[20,25]", "city": "{a|b|c}"}
    found = Downcoding().run(Target(run.release, original))
    assert found is not None
    assert found.parts["narrowed in age"] == 0.5
    assert found.parts["narrowed in city"] == 0.75


def test_whole_levels_tell_nothing_and_raw_cells_are_none() -> None:
    original = clustered(["1a", "1b", "2a", "2b"], ["x", "x", "x", "x"])
    original = with_hierarchies(original, {"group": "suppress"})
    run = shoal.anonymize(original, "lattice", k=2)
    found = Downcoding().run(Target(run.release, original))
    assert found is not None
    assert found.success == 0.0
    assert Downcoding().run(Target(as_release(original), original)) is None


def test_a_cell_for_one_value_is_known_without_the_method() -> None:
    original = clustered(["1a", "1a", "2a", "2b"], ["x", "x", "y", "y"])
    original = with_hierarchies(original, {"group": "suppress"})
    run = shoal.anonymize(original, "samarati", k=2)
    found = Downcoding().run(Target(run.release, original))
    assert found is not None
    assert found.success == found.control == 0.5
    assert found.residual == 0.0


def test_generalized_items_with_one_item_below() -> None:
    tree = climb(
        ("ale", "milk", "tea"), [lambda leaves: ["drink" if leaf == 0 else "soft" for leaf in leaves]]
    )
    none = np.empty(0, dtype=np.int32)
    original = Baskets(
        np.array([0, 1, 2, 3]), np.array([0, 1, 2]), ("ale", "milk", "tea"), none, none, hierarchy=tree
    )
    coarse = Baskets(np.array([0, 1, 2, 3]), np.array([0, 1, 1]), ("drink", "soft"), none, none)
    found = Downcoding().run(Target(as_release(coarse), original))  # type: ignore[arg-type]
    assert found is not None
    assert found.success == pytest.approx(1 / 3)

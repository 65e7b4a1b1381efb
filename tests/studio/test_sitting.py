"""What the studio keeps and makes without a browser: history, trees, forms, promises, the frontier."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.domain import nominal
from shoal.errors import ShoalError, UnknownName, WrongUse
from shoal.io.hierarchies.load import read_hierarchy
from shoal.recipe import Recipe, Roles, Source
from shoal.studio import method_offers, step_roles
from shoal.studio.exports import as_command, as_python
from shoal.studio.forms import entries, entry_of
from shoal.studio.frontier import Point, frontier
from shoal.studio.jobs import JobQueue
from shoal.studio.sitting import SittingStore, plain
from shoal.studio.tree_editor import Tree


def recipe(k: int = 5, **more: object) -> Recipe:
    return Recipe(
        source=Source(path="people.csv"),
        roles=Roles(quasi=("age", "zip"), sensitive=("disease",)),
        method={"name": "mondrian", "k": k, **more},
    )


def test_a_sitting_survives_a_restart_with_its_history(tmp_path: Path) -> None:
    sitting = SittingStore(tmp_path / "kept").begin("people.csv")
    for k in (5, 10, 20):
        assert sitting.change(recipe(k), f"k {k}")
    sitting.go(-1)
    again = SittingStore(tmp_path / "kept").find(sitting.key)
    assert again.recipe == recipe(10)
    again.go(1)
    assert again.recipe == recipe(20)
    again.go(1)
    assert again.recipe == recipe(20)
    again.go(-1)
    again.change(recipe(7), "k 7")
    assert [one["said"] for one in again.recipes] == ["k 5", "k 10", "k 7"]
    assert not again.change(recipe(7), "nothing new")


def test_sittings_are_private_and_can_be_deleted(tmp_path: Path) -> None:
    store = SittingStore(tmp_path / "kept")
    sitting = store.begin()
    sitting.change(recipe(), "first")
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
    assert (sitting.folder / "sitting.json").stat().st_mode & 0o777 == 0o600
    assert [one.key for one in store.all()] == [sitting.key]
    store.delete(sitting.key)
    assert not sitting.folder.exists()
    with pytest.raises(UnknownName):
        store.find(sitting.key)
    with pytest.raises(UnknownName):
        store.find("../kept")


def test_a_run_that_a_closed_studio_left_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(JobQueue, "tick", lambda self: None)
    sitting = SittingStore(tmp_path / "kept").begin()
    JobQueue().ask(sitting, "publish", recipe())
    again = JobQueue().of(SittingStore(tmp_path / "kept").find(sitting.key))
    assert [job.state for job in again] == ["interrupted"]


@given(st.lists(st.tuples(st.sets(st.integers(0, 7), min_size=1), st.booleans()), max_size=8))
def test_a_tree_that_is_edited_covers_its_values(
    tmp_path_factory: pytest.TempPathFactory, edits: list
) -> None:
    leaves = [f"v{n}" for n in range(8)]
    tree = Tree.of_paths([[leaf, "*"] for leaf in leaves])
    for number, (chosen, apart) in enumerate(edits):
        try:
            groups = [node for node in tree.parents if tree.children(node)]
            tree = (
                tree.ungroup(groups[0])
                if apart and groups
                else tree.group([f"v{n}" for n in chosen], f"g{number}")
            )
        except WrongUse:
            continue
    path = tmp_path_factory.mktemp("tree") / "tree-000.csv"
    tree.write(path)
    found = read_hierarchy(path).covering(nominal(tuple(sorted(leaves))), "column")
    for above in found.paths():
        steps = list(dict.fromkeys(above))
        assert all(tree.parents[one] == up for one, up in pairwise(steps))


@given(st.lists(st.tuples(st.integers(2, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_frontier_holds_what_nobody_beats(places: list[tuple[int, int]]) -> None:
    points = [Point(n, "m", privacy, loss) for n, (privacy, loss) in enumerate(places)]
    best = {(point.privacy, point.loss) for point in frontier(points, falling=False)}
    naive = {
        (k, loss)
        for k, loss in places
        if not any(a >= k and b <= loss and (a, b) != (k, loss) for a, b in places)
    }
    assert best == naive


@pytest.mark.parametrize("name", registry.METHODS)
def test_the_settings_of_every_method_have_a_form(name: str) -> None:
    kind = registry.load("method", name)
    for entry in entries(kind, {}, kind.model_fields):
        assert entry.help
        assert entry.parsed("") is (False if entry.shape == "switch" else None)


@pytest.mark.parametrize("name", registry.METHODS)
def test_every_method_can_be_reached(name: str) -> None:
    kind = registry.load("method", name)
    roles = Roles(items="y" if kind.needs_items else None)
    made = Recipe(source=Source(path="x"), roles=roles, method={"name": name, **kind.example})
    if not method_offers.offered(kind):
        assert method_offers.promise_fields(kind)
        return
    labels = {one.method["name"] for one in method_offers.offers(made)}
    assert name in labels


def test_another_promise_keeps_the_settings_of_the_method() -> None:
    changed = method_offers.promised(recipe(5, split="loss"), {"k": 10, "l": 3})
    assert changed.method == {"name": "mondrian", "k": 10, "l": 3, "split": "loss"}
    hidden = method_offers.promised(recipe(5), {"k": 5, "confidence": 0.4})
    assert hidden.method["name"] != "mondrian"
    with pytest.raises(ShoalError):
        method_offers.promised(recipe(5), {})
    sets = Recipe(source=Source(path="x.dat"), method=method_offers.first_method(baskets=True))
    degree = method_offers.promised(sets, {"p": 4})
    assert method_offers.kind_of(degree).accepts is Baskets
    assert degree.method["p"] == 4


def test_the_exact_command_and_python_say_the_same() -> None:
    made = recipe(5).model_copy(update={"hierarchies": {"age": "intervals:5,10"}, "seed": 3})
    assert as_command(made) == (
        "shoal anonymize mondrian people.csv --k 5 --quasi age,zip --sensitive disease "
        "--hierarchy age=intervals:5,10 --seed 3 -o out"
    )
    space: dict[str, object] = {}

    class Pretended:
        def anonymize(self, *given: object, **more: object) -> "Pretended":
            space["given"] = (given, more)
            return self

        def write(self, folder: str) -> None:
            space["folder"] = folder

    source = as_python(made).replace("import shoal\n", "")
    exec(source, {"shoal": Pretended()})
    given, more = space["given"]  # type: ignore[misc]
    assert given == ("people.csv", "mondrian")
    assert more["quasi"] == ["age", "zip"]
    assert more["hierarchies"] == {"age": "intervals:5,10"}
    assert np.isclose(more["seed"], 3)
    assert plain(made)["method"] == {"name": "mondrian", "k": 5}


def test_names_with_numbers_are_typed_as_pairs() -> None:
    weights = entry_of(registry.load("method", "mondrian"), "weights", {"age": 2, "a=b": 0.5})
    assert weights is not None
    assert weights.text == "age=2, a=b=0.5"
    assert weights.parsed(weights.text) == {"age": 2, "a=b": 0.5}
    for wrong in ("age", "age=", "=2", "age=old"):
        with pytest.raises(WrongUse, match="names with numbers"):
            weights.parsed(wrong)


def test_only_methods_that_can_keep_the_promise_are_offered() -> None:
    names = {one.method["name"] for one in method_offers.offers(recipe(l=3))}
    assert "local-suppression" in names
    assert "anatomy" not in names  # it hides nobody among k
    alone = recipe().model_copy(update={"method": {"name": "mondrian", "l": 3}})
    assert "anatomy" in {one.method["name"] for one in method_offers.offers(alone)}


def test_a_column_of_items_brings_a_method_that_takes_it() -> None:
    made = recipe(5)
    roles = step_roles._with(made.roles, ["buys"], "items")
    assert roles.items == "buys"
    method = method_offers.for_roles(made, roles)
    assert registry.load("method", method["name"]).needs_items
    mixed = made.model_copy(update={"roles": roles, "method": method})
    assert method_offers.for_roles(mixed, roles) == method
    assert method_offers.promised(mixed, {"k": 7}).method["k"] == 7
    assert step_roles._with(roles, ["other"], "items").identifying == ("buys",)
    assert not registry.load("method", method_offers.for_roles(mixed, made.roles)["name"]).needs_items
    with pytest.raises(WrongUse, match="only one can hold items"):
        step_roles._with(roles, ["a", "b"], "items")

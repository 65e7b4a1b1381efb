"""Attacks on tables: they succeed where they must, and stay at their bound on correct releases."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.attacks.releases import as_release, homogeneous, people_table, with_index
from tests.tables import column, texts

import shoal
from shoal import registry
from shoal.attacking import held_out
from shoal.attacks import _class_view
from shoal.attacks._class_view import class_view
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.models import _matching
from shoal.recipe import Recipe
from shoal.risks.learned_secrets import column_likelihood, dealt

PEOPLE = people_table()
METHODS = {
    "mondrian": {},
    "samarati": {"suppression_limit": 0.3},
    "lattice": {"suppression_limit": 0.1},
}
HIERARCHIES = {"age": "intervals:5,10,20,40", "zip": "mask", "sex": "suppress"}


def table_for(name: str) -> Table:
    from shoal.sources import with_hierarchies

    return PEOPLE if name == "mondrian" else with_hierarchies(PEOPLE, HIERARCHIES)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("k", [2, 5, 20])
def test_linkage_stays_below_one_in_k(name: str, k: int) -> None:
    table = table_for(name)
    run = shoal.anonymize(table, name, k=k, **METHODS[name])
    found = attack_all(Target(run.release, table), ["linkage"])["linkage"]
    assert 0 < found.success <= 1 / k
    assert found.parts["highest"] <= 1 / k + 1e-12
    assert found.parts["half of the columns"] <= found.success + 1e-12
    assert found.parts["one column wrong"] <= 1 / k
    assert found.people == PEOPLE.rows


def test_linkage_finds_people_in_raw_data() -> None:
    """The mean chance is that of a naive count: classes by rows."""
    found = attack_all(Target(as_release(PEOPLE), PEOPLE), ["linkage"])["linkage"]
    rows = [tuple(row[name] for name in ("age", "zip", "sex")) for row in texts(PEOPLE)]
    assert found.success == pytest.approx(len(set(rows)) / len(rows))
    assert found.parts["highest"] == 1.0
    assert found.residual > 0.8


@pytest.mark.parametrize("dense", [0, _matching.DENSE])
@pytest.mark.parametrize("k", [2, 7])
def test_who_fits_whom_equals_looking_at_every_pair(
    k: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number lies between the ends of its range, a name is in the set; by walking, and by comparing all."""
    monkeypatch.setattr(_matching, "DENSE", dense)
    run = shoal.anonymize(PEOPLE, "mondrian", k=k)
    published = run.release.data
    view = class_view(published, PEOPLE)
    people, rows = texts(PEOPLE), texts(published)

    def fits(person: dict[str, str], row: dict[str, str]) -> bool:
        for name in ("age", "zip", "sex"):
            cell, value = row[name], person[name]
            if cell.startswith("["):
                low, high = cell[1:-1].split(",")
                inside = float(low) <= float(value) <= float(high)
            else:
                inside = value in cell.strip("{}").split("|")
            if not inside and cell != "*":
                return False
        return True

    expected = [sum(fits(person, row) for row in rows) for person in people[:60]]
    assert view.candidates[:60].tolist() == expected


@pytest.mark.parametrize("method", ["mondrian", "samarati"])
def test_long_domains_are_read_by_the_values_that_are_asked_about(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cutting domains down changes nothing but the time, and how naive Bayes shares out coarse cells."""
    table = table_for(method)
    run = shoal.anonymize(table, method, k=5, l=2, **METHODS[method])
    target = Target(run.release, table, people_table(200, seed=2))
    expected = attack_all(target, people=150)
    monkeypatch.setattr(_class_view, "LONG", 0)
    found = attack_all(target, people=150)
    assert found.pop("inference").success == pytest.approx(expected.pop("inference").success, abs=0.05)
    assert {name: one.as_dict() for name, one in found.items()} == {
        name: one.as_dict() for name, one in expected.items()
    }


def test_inference_learns_from_raw_data_and_little_from_classes() -> None:
    raw = attack_all(Target(as_release(PEOPLE), PEOPLE), ["inference"])["inference"]
    assert raw.success > 0.85
    assert raw.residual > 0.7
    run = shoal.anonymize(PEOPLE, "mondrian", k=40)
    safe = attack_all(Target(run.release, PEOPLE), ["inference"])["inference"]
    assert safe.residual < 0.15
    assert safe.baseline <= safe.success


def test_inference_against_people_outside() -> None:
    """Of people who were never in it, raw data tells what a model tells."""
    outside = people_table(600, seed=2)
    found = attack_all(Target(as_release(PEOPLE), PEOPLE, outside), ["inference"])["inference"]
    assert found.control < 0.5 < found.success
    assert "outside of the release" in found.sentence


def test_certainty_of_homogeneous_classes() -> None:
    release, original = homogeneous()
    found = attack_all(Target(release, original), ["certainty", "inference", "linkage"])
    assert found["certainty"].success == 1.0
    assert found["certainty"].residual > 0.95
    assert found["inference"].success == 1.0
    assert found["linkage"].success == pytest.approx(0.1)


def test_no_secret_is_certain_under_diversity() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=5, l=2)
    found = attack_all(Target(run.release, PEOPLE), ["certainty"])["certainty"]
    assert found.success == 0.0
    assert found.parts["highest below certainty"] < 1


def test_kept_order_is_found() -> None:
    found = attack_all(Target(as_release(PEOPLE), PEOPLE), ["order"])["order"]
    assert found.success == 1.0
    assert found.residual > 0.99


def test_canonical_order_tells_nothing() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=5)
    found = attack_all(Target(run.release, PEOPLE), ["order"])["order"]
    assert found.residual < 0.1


def test_row_numbers_in_a_column_are_found() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=5)
    numbered = with_index(run.release.data, run.trace.rows)
    found = attack_all(Target(replace(run.release, data=numbered), PEOPLE), ["order"])["order"]
    assert found.success == 1.0
    assert "index" in found.sentence


def test_order_inside_of_classes_is_found() -> None:
    """Classes in canonical order, but the rows of each in the order of the input."""
    original = Table(
        (
            column("zip", [str(row % 6) for row in range(120)]),
            column(
                "illness", [("flu", "cold", "gout")[row * 7 % 11 % 3] for row in range(120)], Role.SENSITIVE
            ),
        )
    )
    order = np.lexsort((np.arange(120), original.column("zip").codes))
    kept = attack_all(Target(as_release(original.take(order)), original), ["order"])["order"]
    assert kept.success == 1.0
    assert "class" in kept.sentence
    codes = (original.column("illness").codes, original.column("zip").codes)
    tidy = attack_all(Target(as_release(original.take(np.lexsort(codes))), original), ["order"])["order"]
    assert tidy.residual < 0.25


def test_two_releases_tell_more_than_one() -> None:
    first = shoal.anonymize(PEOPLE, "mondrian", k=10)
    half = PEOPLE.take(np.arange(0, PEOPLE.rows, 2))
    other = shoal.anonymize(half, "mondrian", k=10)
    both = attack_all(Target(first.release, half, other=other.release), ["intersection"])["intersection"]
    assert both.success > both.parts["this release alone"]


def test_the_same_release_again_tells_nothing_new() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=10)
    both = attack_all(Target(run.release, PEOPLE, other=run.release), ["intersection"])["intersection"]
    assert both.success == pytest.approx(both.parts["this release alone"], abs=0.06)


def test_membership_in_raw_data_and_in_classes() -> None:
    outside = people_table(600, seed=2)
    raw = attack_all(Target(as_release(PEOPLE), PEOPLE, outside), ["membership"])["membership"]
    assert raw.residual > 0.8
    run = shoal.anonymize(PEOPLE, "mondrian", k=30)
    safe = attack_all(Target(run.release, PEOPLE, outside), ["membership"])["membership"]
    assert safe.residual < 0.2
    assert safe.control == 0.5


def test_holding_out_measures_the_method() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=10)
    plan = Recipe(source={"path": "-"}, method={"name": "mondrian", "k": 10})
    target = held_out(Target(run.release, PEOPLE), plan, 0.1, seed=3)
    assert (target.original.rows, target.control.rows) == (540, 60)
    found = attack_all(target)
    assert {"linkage", "inference", "certainty", "order", "membership"} <= set(found)
    with pytest.raises(WrongUse, match="held out"):
        held_out(Target(run.release, PEOPLE), plan, 0.0001, seed=3)


def test_an_attack_without_work_is_refused_by_name() -> None:
    with pytest.raises(WrongUse, match="It needs `other`"):
        attack_all(Target(as_release(PEOPLE), PEOPLE), ["intersection"])


def test_the_residual_is_what_is_left_of_the_way() -> None:
    one = Attacked("linkage", 0.44, 0.2, 0.325, 1000, "")
    assert one.residual == pytest.approx((0.44 - 0.325) / (1 - 0.325))
    assert Attacked("linkage", 0.3, 0.2, 0.325, 1000, "").residual == 0.0
    assert Attacked("linkage", 1.0, 1.0, 1.0, 1000, "").residual == 0.0
    assert one.interval[0] < 0.44 < one.interval[1]
    assert set(one.as_dict()) >= {
        "success",
        "baseline",
        "control",
        "residual",
        "people",
        "interval",
        "sentence",
    }


def test_every_attack_says_its_name_and_forms() -> None:
    for name, kind in registry.load_all("attack").items():
        assert kind.name == name
        assert kind.accepts
        assert kind.__doc__


@pytest.mark.parametrize(("l", "expected"), [(2, 0.81), (3, 0.65), (4, 0.54), (5, 0.44), (6, 0.34)])
def test_definetti_on_anatomy(public_data: Callable[[str], Path], l: int, expected: float) -> None:  # noqa: E741
    """Groups of l people with l different occupations: all columns are published as they are, and counts of each."""
    table = shoal.read_table(
        public_data("arx-adult/adult.csv.gz"),
        quasi=["age", "workclass", "education", "marital-status", "race", "sex", "native-country"],
        sensitive=["occupation"],
        others="drop",
    )
    secret = table.column("occupation").codes
    group = anatomy(secret, l)
    counts = np.zeros((int(group.max()) + 1, int(secret.max()) + 1))
    np.add.at(counts, (group, secret), 1)
    assert counts.max() == 1
    belief = dealt(column_likelihood([one.codes for one in table.quasi]), group, counts)
    assert float((belief.argmax(axis=1) == secret).mean()) == pytest.approx(expected, abs=0.03)


def anatomy(secret: np.ndarray, l: int) -> np.ndarray:  # noqa: E741
    """Groups after Xiao and Tao: one person each from the l most frequent values that are left, the rest put in."""
    rng = np.random.default_rng(1)
    values = int(secret.max()) + 1
    pools = [rng.permutation(np.flatnonzero(secret == value)).tolist() for value in range(values)]
    group = np.full(len(secret), -1)
    number = 0
    while True:
        largest = sorted(range(values), key=lambda value: -len(pools[value]))[:l]
        if not pools[largest[-1]]:
            break
        for value in largest:
            group[pools[value].pop()] = number
        number += 1
    held = np.zeros((number, values), dtype=bool)
    held[group[group >= 0], secret[group >= 0]] = True
    for row in np.flatnonzero(group < 0):
        group[row] = rng.choice(np.flatnonzero(~held[:, secret[row]]))
        held[group[row], secret[row]] = True
    return group


def test_the_same_release_twice_is_no_worse_than_once() -> None:
    """Whoever holds two releases may look at one alone."""
    run = shoal.anonymize(PEOPLE, "mondrian", k=20)
    found = attack_all(Target(run.release, PEOPLE, None, run.release), ["intersection"])["intersection"]
    assert found.success >= found.parts["this release alone"]


@pytest.mark.parametrize("gamma", [1.5, 4, 50])
def test_a_perturbed_value_is_weighed_by_how_frequent_it_is(gamma: float) -> None:
    """Nobody guesses a rare value that is mostly noise: the most frequent value is a guess too."""
    ill = ["flu"] * 850 + ["gout"] * 100 + ["acne"] * 50
    table = Table((column("age", list(range(1_000))), column("ill", ill, Role.SENSITIVE)))
    run = shoal.anonymize(table, "pram", gamma=gamma, seed=1)
    found = attack_all(Target(run.release, table), ["inference"])["inference"]
    kept = sum(
        there["ill"] == here["ill"] for there, here in zip(texts(run.release.data), texts(table), strict=True)
    )
    assert found.parts["the published matrix"] >= max(0.84, kept / 1_000)
    assert found.success == max(found.parts.values())


def test_baskets_of_the_original_are_no_control() -> None:
    baskets = [[f"item {row}", f"item {row * 7 % 90 + 1}"] for row in range(90)]
    run = shoal.anonymize(shoal.read_baskets(baskets), "disassociation", k=2, m=2, seed=1)
    with pytest.raises(WrongUse, match="other people"):
        shoal.attack(run, control=shoal.read_baskets(baskets[:30]), attacks="linkage")
    others = [[f"item {row}", f"item {row * 11 % 90 + 2}"] for row in range(30)]
    assert "linkage" in shoal.attack(run, control=shoal.read_baskets(others), attacks="linkage")

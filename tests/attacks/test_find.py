"""Finding somebody equals looking at every published row; explanations name the promise that stands in the way."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.releases import people_table
from tests.attacks.test_sets import BASKETS
from tests.cli.conftest import ROLES, folder, people, shoal
from tests.sets import sets_of
from tests.tables import texts

import shoal as library
from shoal.errors import UnknownName, WrongUse

__all__ = ["folder", "people", "shoal"]

PEOPLE = people_table(1_000)
NAMES = ("age", "zip", "sex")


def fits(cell: str, value: str) -> bool:
    if cell.startswith("["):
        low, high = cell[1:-1].split(",")
        return float(low) <= float(value) <= float(high)
    return cell == "*" or value in cell.strip("{}").split("|")


def test_rows_that_fit_1000_people() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    rows = texts(run.release.data)
    kinds: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        kinds.setdefault(tuple(row[name] for name in NAMES), []).append(place)
    for person in texts(PEOPLE):
        cells = {name: person[name] for name in NAMES}
        found = run.find(cells)
        inside = [
            place
            for kind, places in kinds.items()
            if all(fits(cell, cells[name]) for name, cell in zip(NAMES, kind, strict=True))
            for place in places
        ]
        assert found.matches == len(inside)
        assert found.rows == tuple(place + 1 for place in sorted(inside))
        assert found.chance == 1 / len(inside)
        ill = [rows[place]["illness"] for place in inside]
        guess = found.guess["illness"]
        assert guess.share == pytest.approx(max(ill.count(one) for one in ill) / len(ill))
        assert ill.count(guess.value) / len(ill) == pytest.approx(guess.share)
        assert 0 < guess.control < 1


def test_one_column_and_nobody() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    expected = sum(fits(row["sex"], "f") for row in texts(run.release.data))
    assert run.find({"sex": "f"}).matches == expected
    nobody = run.find({"age": "999"})
    assert (nobody.matches, nobody.chance, nobody.rows) == (0, 0.0, ())


@pytest.mark.parametrize(
    ("method", "options"), [("coherence", {"h": 0.5, "k": 4, "p": 2}), ("cahd", {"p": 4})]
)
def test_baskets_that_fit_known_items(method: str, options: dict[str, Any]) -> None:
    run = library.anonymize(BASKETS, method, **options)
    data = run.release.data
    if method == "cahd":
        members = [
            (frozenset(basket), summary, len(baskets))
            for baskets, summary in sets_of(data)
            for basket in baskets
        ]
    else:
        members = [(frozenset(data.basket(row)), {}, 1) for row in range(len(data))]
    rng = np.random.default_rng(1)
    for row in range(len(BASKETS)):
        mine = [item for item in BASKETS.basket(row) if item.startswith("i") and item in data.vocabulary]
        if not mine:
            continue
        known = rng.permutation(mine)[:2].tolist()
        inside = [member for member in members if set(known) <= member[0]]
        found = run.find(known)
        assert found.matches == len(inside)
        shares: dict[str, float] = {}
        for basket, summary, size in inside:
            held = summary if method == "cahd" else {item: 1 for item in basket if not item.startswith("i")}
            for item, count in held.items():
                shares[item] = shares.get(item, 0.0) + count / size / len(inside)
        assert {name: one.share for name, one in found.guess.items()} == pytest.approx(shares)


def test_clusters_have_at_least_k_candidates() -> None:
    run = library.anonymize(BASKETS, "disassociation", k=4, m=2)
    for row in range(0, len(BASKETS), 7):
        known = [item for item in BASKETS.basket(row) if item.startswith("i")][:2]
        assert run.find(known).matches >= 4


def test_what_is_known_must_be_published() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    with pytest.raises(UnknownName, match="agee"):
        run.find({"agee": "3"})
    with pytest.raises(WrongUse, match="no quasi-identifier"):
        run.find({"illness": "flu"})
    with pytest.raises(UnknownName, match="beer"):
        library.anonymize(BASKETS, "cahd", p=4).find(["beer"])


def test_a_finer_cut_breaks_the_promise() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    rows = texts(run.release.data)
    for row in range(0, 1_000, 97):
        found = run.explain(row)
        place = int(np.flatnonzero(run.trace.rows == row)[0])
        mine = tuple(rows[place][name] for name in NAMES)
        assert found.cells == dict(zip(NAMES, mine, strict=True))
        assert found.size == sum(tuple(one[name] for name in NAMES) == mine for one in rows) >= 10
        for cut in found.cuts:
            assert cut.inside + cut.outside == found.size
            if cut.model is not None:
                assert (cut.model, cut.threshold) == ("k-anonymity", 10)
                assert cut.value == min(cut.inside, cut.outside) < 10
                assert "breaks k-anonymity" in cut.sentence()
    with pytest.raises(WrongUse, match="no row 1,001"):
        run.explain(1_000)


def test_on_the_command_line(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", "-o", "out")
    assert answer.code == 0, answer.err
    answer = shoal("find", "out", "--known", "age=39,education=college", "--json")
    plain = json.loads(answer.out)
    assert set(plain) == {"matches", "chance", "rows", "guess"}
    assert set(plain["guess"]["occupation"]) == {"value", "share", "control"}
    assert "the chance to pick the right one" in shoal("find", "out", "--known", "education=college").out
    said = shoal("find", "out", "--row", 7, "--original", people)
    assert "Row 7 is one of" in said.out
    plain = json.loads(shoal("find", "out", "--row", 7, "--original", people, "--json").out)
    assert plain["row"] == 7
    assert plain["nearest"]["model"] == "k-anonymity"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--known"),
        (("--row", "3"), "--original"),
        (("--known", "milk"), "age=39"),
        (("--known", "a=1"), "column"),
    ],
)
def test_bad_use_is_explained(
    shoal: Callable[..., Any], people: Path, words: tuple[str, ...], said: str
) -> None:
    assert shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", "-o", "out").code == 0
    answer = shoal("find", "out", *words)
    assert (answer.code, said in answer.err) == (2, True), answer.err

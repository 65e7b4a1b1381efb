"""Finding somebody equals looking at every published row; explanations name the promise that stands in the way."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attacks.releases import people_table
from tests.attacks.test_sets import BASKETS, SECRETS, shopping
from tests.cli.conftest import ROLES, folder, people, shoal
from tests.parts import MemoryEngine
from tests.sets import baskets_of, sets_of
from tests.tables import texts

import shoal as library
from shoal.data.baskets import Baskets
from shoal.data.clusters import Cluster
from shoal.data.hierarchy import climb
from shoal.errors import UnknownName, WrongUse
from shoal.io.releases.distributed import open_release

__all__ = ["folder", "people", "shoal"]

PEOPLE = people_table(1_000)
THOUSAND = shopping(1_000)
COUNTS = pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.slow)])
"""Some people, and all of them where there is time."""
NAMES = ("age", "zip", "sex")


def fits(cell: str, value: str) -> bool:
    if cell.startswith("["):
        low, high = cell[1:-1].split(",")
        return float(low) <= float(value) <= float(high)
    return cell == "*" or value in cell.strip("{}").split("|")


@COUNTS
def test_rows_that_fit_people(count: int) -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=40)
    rows = texts(run.release.data)
    kinds: dict[tuple[str, ...], list[int]] = {}
    for place, row in enumerate(rows):
        kinds.setdefault(tuple(row[name] for name in NAMES), []).append(place)
    for person in texts(PEOPLE)[:count]:
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
    ("method", "options"),
    [("coherence", {"h": 0.5, "k": 4, "p": 2}), ("cahd", {"p": 4}), ("km-generalization", {"k": 5, "m": 2})],
)
@COUNTS
def test_baskets_that_fit_people(method: str, options: dict[str, Any], count: int) -> None:
    baskets = with_tree(THOUSAND) if method == "km-generalization" else THOUSAND
    run = library.anonymize(baskets, method, **options)
    data = run.release.data
    if method == "cahd":
        members = Counter(
            (frozenset(basket), tuple(sorted(summary.items())), len(group))
            for group, summary in sets_of(data)
            for basket in group
        )
    else:
        members = Counter((frozenset(data.basket(row)), (), 1) for row in range(len(data)))
    rng = np.random.default_rng(1)
    for row in range(count):
        mine = [item for item in baskets.basket(row) if item.startswith("i")]
        known = rng.permutation(mine)[:2].tolist()
        if not known or (method != "km-generalization" and not set(known) <= set(data.vocabulary)):
            continue
        inside = {one: times for one, times in members.items() if all(one[0] & above(item) for item in known)}
        total = sum(inside.values())
        found = run.find(known)
        assert found.matches == total
        assert found.chance == 1 / total
        shares: dict[str, float] = {}
        for (basket, summary, size), times in inside.items():
            held = dict(summary) if method == "cahd" else dict.fromkeys(basket & set(SECRETS), 1)
            for item, held_by in held.items():
                shares[item] = shares.get(item, 0.0) + times * held_by / size / total
        assert {name: one.share for name, one in found.guess.items()} == pytest.approx(shares)


def with_tree(baskets: Baskets) -> Baskets:
    """Items in sixes; the secrets stand alone."""
    names = [
        f"g{int(item[1:]) // 6}" if item.startswith("i") else f"only {item}" for item in baskets.vocabulary
    ]
    tree = climb(baskets.vocabulary, [lambda leaves: [names[leaf] for leaf in leaves]])
    return replace(baskets, hierarchy=tree)


def above(item: str) -> set[str]:
    """All texts under which an item may be published."""
    return {item, f"g{int(item[1:]) // 6}", "*"}


def naive_candidates(cluster: Cluster, known: list[str], shared: list[list[tuple[str, ...]]]) -> int:
    """The baskets of a cluster that may hold all known items: as many as its rarest chunk with some of them."""
    if cluster.parts:
        return sum(
            naive_candidates(part, known, [*map(list, cluster.chunks), *shared]) for part in cluster.parts
        )
    chunks = [*map(list, cluster.chunks), *shared]
    most, left = cluster.size, set(known)
    for chunk in chunks:
        here = left & {item for record in chunk for item in record}
        if here:
            most = min(most, sum(here <= set(record) for record in chunk))
            left -= here
    return most if left <= set(cluster.terms) else 0


@COUNTS
def test_clusters_that_fit_people(count: int) -> None:
    run = library.anonymize(THOUSAND, "disassociation", k=4, m=2)
    clusters = list(run.release.data)
    rng = np.random.default_rng(1)
    for row in range(count):
        known = rng.permutation([item for item in THOUSAND.basket(row) if item.startswith("i")])[:2].tolist()
        if known:
            found = run.find(known)
            assert found.matches == sum(naive_candidates(one, known, []) for one in clusters) >= 4
            assert found.chance == 1 / found.matches
            assert all(0 < one.share <= 1 for one in found.guess.values())


@COUNTS
def test_starred_cells_that_fit_people(count: int) -> None:
    """A star tells nothing: the guess is the most frequent value of those that are shown."""
    run = library.anonymize(PEOPLE, "table-rule-hiding", k=30, confidence=0.35)
    rows = texts(run.release.data)
    assert any(row["illness"] == "*" for row in rows)
    kinds: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        kinds.setdefault(tuple(row[name] for name in NAMES), []).append(row["illness"])
    for person in texts(PEOPLE)[:count]:
        found = run.find({name: person[name] for name in NAMES})
        inside = [
            ill
            for kind, all_of_them in kinds.items()
            if all(fits(cell, person[name]) for name, cell in zip(NAMES, kind, strict=True))
            for ill in all_of_them
        ]
        shown = [ill for ill in inside if ill != "*"]
        assert found.matches == len(inside)
        if shown:
            guess = found.guess["illness"]
            assert guess.value != "*"
            assert guess.share == pytest.approx(shown.count(guess.value) / len(inside))
            assert shown.count(guess.value) == max(map(shown.count, shown))


def test_clusters_of_baskets_with_very_many_items() -> None:
    """More items than a number has bits."""
    items = [f"x{number:03}" for number in range(90)]
    run = library.anonymize(baskets_of([items] * 6 + [["y"]] * 6), "disassociation", k=3, m=2)
    assert 3 <= run.find(items).matches <= 6


def test_items_that_were_left_out_tell_nothing() -> None:
    run = library.anonymize(BASKETS, "coherence", h=0.5, k=4, p=2)
    gone = next(item for item in BASKETS.vocabulary if item not in run.release.data.vocabulary)
    assert run.find([gone]).matches == len(run.release.data)
    kept = next(item for item in run.release.data.vocabulary if item.startswith("i"))
    assert run.find([gone, kept]).matches == run.find([kept]).matches


def test_what_is_known_must_be_published() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    with pytest.raises(UnknownName, match="agee"):
        run.find({"agee": "3"})
    with pytest.raises(WrongUse, match="not a quasi-identifier"):
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


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "Nothing is known"),
        ([], "Nothing is known"),
        (None, "columns and values"),
        (7, "columns and values"),
    ],
)
def test_what_is_not_known_is_refused(known: Any, said: str) -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    with pytest.raises(WrongUse, match=said):
        run.find(known)


def test_what_is_known_in_other_forms() -> None:
    run = library.anonymize(PEOPLE, "mondrian", k=10)
    age = texts(PEOPLE)[0]["age"]
    assert (
        run.find({"age": int(age)})
        == run.find([f"age={age}"])
        == run.find(f"age={age}")
        == run.find({"age": age})
    )
    with pytest.raises(WrongUse, match="by its number"):
        run.explain("first")  # type: ignore[arg-type]


def test_secrets_and_single_items_of_groups() -> None:
    run = library.anonymize(THOUSAND, "cahd", p=4)
    item = run.release.data.group(0).baskets[0][0]
    assert run.find(item) == run.find([item])
    for known, said in (([SECRETS[0]], "secret"), ({item: 1}, "items"), ([], "Nothing is known")):
        with pytest.raises(WrongUse, match=said):
            run.find(known)


def shown_count(said: str) -> str:
    return said.split(" published rows fit")[0]


def test_a_row_is_explained_by_the_class_that_has_its_secret(shoal: Callable[..., Any], folder: Path) -> None:
    """Both classes fit the third row, and only the second has its illness; a value may hold a comma."""
    lines = ["a;1,5;flu", "b;1,5;flu", ";1,7;hiv", ";1,7;hiv"]
    (folder / "odd.csv").write_text("\n".join(["town;size;ill", *lines]) + "\n")
    options = ("--quasi", "town,size", "--sensitive", "ill", "--no-report")
    assert shoal("anonymize", "mondrian", "odd.csv", "--k", 2, *options, "-o", "odd").code == 0
    plain = json.loads(shoal("find", "odd", "--row", 3, "--original", "odd.csv", "--json").out)
    assert plain["cells"]["size"] == "1,7"
    assert json.loads(shoal("find", "odd", "--known", "size=1,7", "--json").out)["matches"] == 2


def test_on_the_command_line(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", "-o", "out")
    assert answer.code == 0, answer.err
    answer = shoal("find", "out", "--known", "age=39,education=college", "--json")
    plain = json.loads(answer.out)
    assert set(plain) == {"matches", "chance", "rows", "guess"}
    assert set(plain["guess"]["occupation"]) == {"value", "share", "control"}
    said = shoal("find", "out", "--known", "education=college").out
    assert f"the chance to pick the right one is 1 in {shown_count(said)}" in said
    assert "\nRows " in said
    said = shoal("find", "out", "--known", "education=College").out
    assert said == "Nothing in the release fits: no published cell of education fits 'College'.\n"
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
        (("--known", "age=1,age=2"), "two values"),
    ],
)
def test_bad_use_is_explained(
    shoal: Callable[..., Any], people: Path, words: tuple[str, ...], said: str
) -> None:
    assert shoal("anonymize", "mondrian", people, "--k", 5, *ROLES, "--no-report", "-o", "out").code == 0
    answer = shoal("find", "out", *words)
    assert (answer.code, said in answer.err) == (2, True), answer.err


@pytest.mark.parametrize("form", ["table", "baskets"])
def test_rows_in_parts_are_searched_where_they_are_written(tmp_path: Path, form: str) -> None:
    data, method, options, known = {
        "table": (PEOPLE, "mondrian", {"k": 10}, {"age": 39}),
        "baskets": (THOUSAND, "cahd", {"p": 4}, [next(iter(set(THOUSAND.vocabulary) - set(SECRETS)))]),
    }[form]
    run = library.anonymize(data, method, **options)
    run.write(tmp_path / "out")
    there = replace(run, release=open_release(tmp_path / "out", MemoryEngine()))
    with pytest.raises(WrongUse, match=r"rows of this release are in parts.*`shoal find OUT`"):
        there.find(known)
    assert library.find(tmp_path / "out", known).matches == run.find(known).matches

"""Whoever attacks mixed data from its published files alone finds k persons, whatever it was made with."""

import csv
import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest
from tests.naive.mixed_attacker import Adversary, known_items, may_be_hers, possible_holders
from tests.soak.cells import paths_of

import shoal
from shoal.data._item_sets import items_in
from shoal.errors import Infeasible

STEPS: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    ([], {}),
    ([{"name": "rounding", "bases": {"age": 5}}], {"age": lambda cell: str(5 * int(int(cell) / 5 + 0.5))}),
    (
        [{"name": "recode", "values": {"city": {"b": "a"}}}],
        {"city": lambda cell: "a" if cell == "b" else cell},
    ),
]
"""Steps of the preparation, and what they make of a cell."""


@pytest.fixture(autouse=True)
def unmeasured() -> Any:
    """What it costs is measured elsewhere."""
    with mock.patch("shoal.measures._chosen.default_measures", return_value=()):
        yield


def drawn_people(draw: random.Random) -> list[dict[str, Any]]:
    """Up to forty persons with up to seven items."""
    rows, ages = draw.randint(4, 40), draw.choice([2, 6, 20])
    items = [f"i{number}" for number in range(draw.randint(1, 7))]
    share = draw.choice([0.15, 0.3, 0.6])
    return [
        {
            "age": str(20 + draw.randrange(ages)),
            "city": draw.choice("abc"),
            "ill": draw.choice("xyz"),
            "buys": frozenset(item for item in items if draw.random() < share),
        }
        for _ in range(rows)
    ]


def drawn_steps(draw: random.Random, people: list[dict[str, Any]]) -> Any:
    """Steps and what they make of a cell; a value that nobody has is not recoded."""
    return draw.choice(STEPS if any(person["city"] == "b" for person in people) else STEPS[:2])


def drawn_method(draw: random.Random, items: list[str]) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "k": draw.choice([2, 2, 3, 4]),
        "m": draw.choice([1, 2, 2, 3]),
        "merge": draw.choice(["relational", "items", "both"]),
        "bound": draw.choice([{"relational": 0.0}, {"relational": draw.random()}, {"items": draw.random()}]),
        "item_step": draw.choice(["generalization", "generalization", "disassociation"]),
        "clusters": draw.choice(["mondrian", "mondrian", "lattice", "samarati"]),
        **draw.choice([{}, {}, {"l": 2}, {"t": 0.4}]),
    }
    if len(items) > 1 and draw.random() < 0.4:
        asked |= {"sensitive_items": items[:1], "insensitive_items": items[1:2]}
        if asked["item_step"] == "generalization" and draw.random() < 0.7:
            asked["h"] = draw.choice([0.3, 0.5, 0.8])
    along = asked["clusters"] != "mondrian" or draw.random() < 0.5
    hierarchies = {"age": "intervals:4,8,16", "city": "suppress"} if along else {}
    if len(items) > 1 and draw.random() < 0.5:
        hierarchies["buys"] = draw.choice(["balanced:2", "balanced:3", "suppress"])
    return asked | {"hierarchies": hierarchies}


def published(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "release" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def prepared(person: dict[str, Any], cells: dict[str, Any]) -> dict[str, Any]:
    return {name: cells[name](cell) if name in cells else cell for name, cell in person.items()}


def trees(run: Any) -> dict[str, Any]:
    """The hierarchies of a run, which the adversary knows."""
    told = json.loads((run / "run.json").read_text(encoding="utf-8"))["hierarchies"]
    return {name: paths_of(tree) for name, tree in told.items()}


QUASI = ("age", "city")


def refute_classes(own: dict[str, str], rows: list[dict[str, str]], asked: dict[str, Any]) -> None:
    """Look for a broken promise about the class of a row."""
    alike = [row for row in rows if all(row[name] == own[name] for name in QUASI)]
    here, whole = (Counter(row["ill"] for row in some) for some in (alike, rows))
    assert len(alike) >= asked["k"]
    assert len(here) >= asked.get("l", 1)
    apart = sum(abs(here[one] / len(alike) - whole[one] / len(rows)) for one in whole) / 2
    assert apart <= asked.get("t", 1) + 1e-9


def refute_rows(
    adversary: Adversary,
    person: dict[str, Any],
    own: int,
    rows: list[dict[str, str]],
    held: list[frozenset[str]],
    asked: dict[str, Any],
) -> int:
    """Look for somebody who is found among too few, or with too many who hold a secret.

    Gives how often the adversary is misled: items are left out of the row that the node of another one speaks for.
    """
    misled, secrets = 0, asked.get("sensitive_items", ())
    for known in known_items(person["buys"] - {*secrets, *asked.get("insensitive_items", ())}, asked["m"]):
        found = adversary.found(person, known, rows, held)
        if own not in found:
            misled += 1
            continue
        inside = [place for place in found if all(rows[place][name] == rows[own][name] for name in QUASI)]
        assert len(inside) >= asked["k"], (person, known)
        for secret in secrets if "h" in asked else ():
            assert sum(secret in held[place] for place in inside) <= asked["h"] * len(inside), (person, known)
    return misled


def refute_clusters(person: dict[str, Any], own: dict[str, str], text: str, asked: dict[str, Any]) -> None:
    """Look for items that cannot be held by k persons of the class."""
    lines = [json.loads(line) for line in text.splitlines()]
    mine = [one["cluster"] for one in lines if all(one["class"][name] == own[name] for name in QUASI)]
    for known in known_items(person["buys"] - set(asked.get("sensitive_items", ())), asked["m"]):
        most = max(possible_holders(cluster, frozenset(known)) for cluster in mine)
        assert most >= asked["k"], (person, known)


@pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.slow)])
def test_who_knows_all_cells_and_m_items_finds_k_rows(count: int, tmp_path: Path) -> None:
    draw, ways, misled = random.Random(count), Counter[str](), 0
    for number in range(count):
        people = drawn_people(draw)
        asked = drawn_method(draw, sorted(frozenset().union(*(person["buys"] for person in people))))
        steps, cells = drawn_steps(draw, people)
        frame = pl.DataFrame(
            [{**person, "age": int(person["age"]), "buys": sorted(person["buys"])} for person in people],
            schema_overrides={"buys": pl.List(pl.String)},
        )
        roles = {"quasi": QUASI, "insist": QUASI, "sensitive": "ill", "items": "buys"}
        try:
            run = shoal.anonymize(
                frame, "relational-transaction", **roles, preparation=steps, seed=number, **asked
            )
        except Infeasible:
            ways["infeasible"] += 1
            continue
        folder = run.write(tmp_path / str(number), report=False)
        rows, tree = published(folder, "data.csv"), trees(folder)
        adversary = Adversary(QUASI, tree, tree.get("buys", {}))
        assert len(run.trace.rows) == len(rows)
        for own, original in enumerate(run.trace.rows.tolist()):
            person = prepared(people[original], cells)
            assert adversary.fit(person, rows[own], QUASI)
            refute_classes(rows[own], rows, asked)
            if asked["item_step"] == "disassociation":
                text = (folder / "release" / "items.jsonl").read_text(encoding="utf-8")
                refute_clusters(person, rows[own], text, asked)
            else:
                held = [frozenset(items_in(row["buys"])) for row in rows]
                misled += refute_rows(adversary, person, own, rows, held, asked)
        ways[f"{asked['merge']}, {asked['item_step']}"] += 1
    assert len(ways.keys() - {"infeasible"}) == 6, ways
    assert ways["infeasible"] < 0.2 * count
    assert misled < count


def drawn_records(draw: random.Random, persons: int) -> list[dict[str, str]]:
    """Up to four records each, in any order; some persons may have none."""
    least, most = draw.choice([0, 1]), draw.choice([1, 2, 4])
    found = [
        {
            "who": f"p{person}",
            "month": str(draw.randint(1, 12)),
            "ward": draw.choice("AB"),
            "found": draw.choice("uv"),
        }
        for person in range(persons)
        for _ in range(draw.randint(least, most))
    ]
    draw.shuffle(found)
    return found


@pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.slow)])
def test_who_knows_all_records_of_a_person_finds_k_persons(count: int, tmp_path: Path) -> None:
    draw, kept = random.Random(count), 0
    for number in range(count):
        people = drawn_people(draw)
        records = drawn_records(draw, len(people)) or [{"who": "p0", "month": "1", "ward": "A", "found": "u"}]
        pl.DataFrame(records).write_csv(tmp_path / "records.csv")
        steps, cells = drawn_steps(draw, people)
        asked: dict[str, Any] = {
            "k": draw.choice([2, 2, 3, 4]),
            **draw.choice([{}, {}, {"l": 2}, {"t": 0.4}]),
        }
        sizes = draw.choice([{}, {"class_size": 2}, {"class_size": 20}])
        hierarchies = draw.choice([{}, {"age": "intervals:4,8,16", "city": "suppress"}, {"ward": "suppress"}])
        frame = pl.DataFrame(
            [
                {"who": f"p{place}", "age": int(one["age"]), "city": one["city"], "ill": one["ill"]}
                for place, one in enumerate(people)
            ]
        )
        roles = {"quasi": [*QUASI, "month", "ward"], "insist": QUASI, "sensitive": ["ill", "found"]}
        roles |= {"link": f"{tmp_path / 'records.csv'}:who", "hierarchies": hierarchies}
        try:
            run = shoal.anonymize(
                frame, "multirelational", **roles, preparation=steps, seed=number, **asked, **sizes
            )
        except Infeasible:
            continue
        folder = run.write(tmp_path / str(number), report=False)
        refute_persons(folder, [prepared(one, cells) for one in people], records, asked)
        kept += 1
    assert kept > 0.6 * count


def refute_persons(
    folder: Path, people: list[dict[str, Any]], records: list[dict[str, str]], asked: dict[str, Any]
) -> None:
    """Look for somebody who is found among too few by her cells and those of all her records."""
    persons, shown = published(folder, "data.csv"), defaultdict(list)
    for record in published(folder, "records.csv"):
        shown[record["who"]].append(record)
    views = defaultdict(list)
    for person in persons:
        lists = sorted((one["month"], one["ward"]) for one in shown[person["who"]])
        views[person["age"], person["city"], tuple(lists)].append(person)
    for alike in views.values():
        here, whole = (Counter(one["ill"] for one in some) for some in (alike, persons))
        assert len(alike) >= asked["k"]
        assert len(here) >= asked.get("l", 1)
        apart = sum(abs(here[one] / len(alike) - whole[one] / len(persons)) for one in whole) / 2
        assert apart <= asked.get("t", 1) + 1e-9
    adversary = Adversary(QUASI, trees(folder))

    def may_be(mine: dict[str, str], theirs: dict[str, str]) -> bool:
        return adversary.fit(mine, theirs, ("month", "ward"))

    for number, person in enumerate(people):
        own = [one for one in records if one["who"] == f"p{number}"]
        fitting = [one for one in persons if adversary.fit(person, one, QUASI)]
        found = [one for one in fitting if may_be_hers(shown[one["who"]], own, may_be)]
        assert len(found) >= asked["k"], person


def test_the_adversary_finds_who_is_not_protected() -> None:
    adversary = Adversary(("age",), nodes={"a": ("n",), "b": ("n",)})
    rows = [{"age": "[20,29]"}, {"age": "[20,29]"}, {"age": "30"}]
    held = [frozenset({"n", "c"}), frozenset({"n"}), frozenset({"c"})]
    assert adversary.found({"age": "25"}, (), rows, held) == [0, 1]
    assert adversary.found({"age": "25"}, ("a", "c"), rows, held) == [0]
    assert adversary.found({"age": "25"}, ("left out",), rows, held) == [0, 1]
    cluster = {"size": 3, "chunks": [[["a"], ["a", "b"]]], "terms": ["t"]}
    joint = {"joint": [cluster, {"size": 4, "chunks": [], "terms": ["u"]}], "shared": [[["s"], ["s"], ["s"]]]}
    held_by = {"a": 2, "ab": 1, "t": 3, "at": 2, "s": 3, "su": 3, "as": 2, "tu": 0}
    assert {known: possible_holders(joint, frozenset(known)) for known in held_by} == held_by
    assert may_be_hers([{"x": "1"}], [{"x": "2"}, {"x": "1"}], dict.__eq__)
    assert not may_be_hers([{"x": "1"}, {"x": "1"}], [{"x": "2"}, {"x": "1"}], dict.__eq__)

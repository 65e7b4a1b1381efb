"""Items of a table disassociated in each class: what the files hold keeps the promise, and tells nothing wrong."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.data import shoppers
from tests.methods.test_relational_transaction import random_table
from tests.naive.disassociation import leaves_of
from tests.naive.mixed import in_order, is_disassociated
from tests.papers import without_papers

import shoal
from shoal.data._item_sets import item_sets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.io.releases.folder import read_release, write_release
from shoal.methods.relational_transaction.method import RelationalTransaction
from shoal.models.disassociation import Disassociated
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.outcome import judge
from shoal.pipeline import carry_out

QUASI = ["age", "city"]


def files(folder: Path) -> tuple[list[dict[str, str]], list[Any]]:
    """The rows and the lines of a release folder."""
    with (folder / "release/data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = (folder / "release/items.jsonl").read_text(encoding="utf-8").splitlines()
    return rows, [json.loads(line) for line in lines]


def held(line: Any) -> Counter[str]:
    """How often a line shows each item, in chunks of any depth."""
    cluster = line["cluster"]
    found: Counter[str] = Counter()
    stack = [cluster]
    while stack:
        one = stack.pop()
        stack += one.get("joint", [])
        chunks = one.get("chunks", one.get("shared"))
        found.update(item for chunk in chunks for record in chunk for item in record)
    return found


def tells_the_truth(release: Release[Any], original: Table, rows: Any, lines: list[Any]) -> bool:
    """Whether the classes have the items that are shown or named, at least as often as they are shown."""
    data = release.data
    sets = list(item_sets(original.column("buys")).take(rows))
    classes: dict[tuple[str, ...], Counter[str]] = {}
    for row, items in enumerate(sets):
        cells = tuple(one.domain.labels[one.codes[row]] for one in data.quasi)
        classes.setdefault(cells, Counter()).update(items)
    shown: dict[tuple[str, ...], Counter[str]] = {cells: Counter() for cells in classes}
    named: dict[tuple[str, ...], set[str]] = {cells: set() for cells in classes}
    for line in lines:
        cells = tuple(line["class"][name] for name in QUASI)
        shown[cells] += held(line)
        named[cells] |= {item for leaf in leaves_of(line["cluster"]) for item in leaf["terms"]}
    return all(
        shown[cells] <= items and set(shown[cells]) | named[cells] == set(items)
        for cells, items in classes.items()
    )


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_tables_are_kept_by_the_twin_from_the_files(count: int, tmp_path: Path) -> None:
    random = np.random.default_rng(12)
    tried = chunks = 0
    for number in range(count):
        data, k, m = random_table(random), int(random.integers(2, 5)), int(random.integers(1, 4))
        merge, bound = str(random.choice(["relational", "items", "both"])), float(random.random())
        if data.rows < k:
            continue
        method = RelationalTransaction(
            k=k, m=m, merge=merge, bound={"relational": bound}, item_step="disassociation"
        )
        release, trace = method.anonymize(data, seed=number)
        folder = write_release(tmp_path / str(number), release)
        rows, lines = files(folder)
        secrets = data.column("buys").sensitive_items
        assert is_disassociated(rows, lines, QUASI, k, m, secrets)
        assert in_order(lines, QUASI)
        assert tells_the_truth(release, data, trace.rows, lines)
        again = read_release(folder)
        for one in (release, again):
            assert all(verdict.holds for verdict in judge(one) if verdict.model != "nothing-published")
        tried += 1
        chunks += any(map(held, lines))
    assert tried > 0.9 * count
    assert chunks > count // 4


def test_the_order_of_the_input_decides_nothing(tmp_path: Path) -> None:
    data = shoppers()
    random = np.random.default_rng(5)
    method = RelationalTransaction(k=3, m=2, item_step="disassociation")
    sizes = []
    for place, table in enumerate((data, data.take(random.permutation(data.rows)))):
        folder = write_release(tmp_path / str(place), method.anonymize(table, seed=3)[0])
        rows, lines = files(folder)
        sizes.append(
            (
                Counter(tuple(row.values()) for row in rows),
                sorted((sorted(one["class"].items()), sorted(held(one).items())) for one in lines),
            )
        )
    assert sizes[0] == sizes[1]


def larger(lines: list[Any]) -> None:
    leaves_of(lines[0]["cluster"])[0]["size"] += 1


def gone(lines: list[Any]) -> None:
    del lines[0]


def elsewhere(lines: list[Any]) -> None:
    lines[0]["class"], lines[-1]["class"] = lines[-1]["class"], lines[0]["class"]


def told(lines: list[Any]) -> None:
    cluster = next(line["cluster"] for line in lines if "item8" in line["cluster"].get("terms", ()))
    cluster["terms"].remove("item8")
    cluster["chunks"].append([["item8"]] * 3)


def rare(lines: list[Any]) -> None:
    cluster = next(line["cluster"] for line in lines if line["cluster"].get("chunks"))
    cluster["chunks"][0] = cluster["chunks"][0][:2]


def turned(lines: list[Any]) -> None:
    lines.reverse()


@pytest.mark.parametrize("change", [larger, gone, elsewhere, told, rare, turned])
def test_forged_lines_are_found_and_the_twin_agrees(
    change: Callable[[list[Any]], Any], tmp_path: Path
) -> None:
    method = RelationalTransaction(k=3, m=2, item_step="disassociation")
    release, _ = method.anonymize(shoppers(), seed=1)
    folder = write_release(tmp_path / "out", release)
    rows, lines = files(folder)
    assert is_disassociated(rows, lines, QUASI, 3, 2, ("item8", "item9"))
    change(lines)
    path = folder / "release/items.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    facts = json.loads((folder / "release/release.json").read_text(encoding="utf-8"))
    facts["clusters"] = len(lines)
    (folder / "release/release.json").write_text(json.dumps(facts), encoding="utf-8")
    kept = is_disassociated(rows, lines, QUASI, 3, 2, ("item8", "item9")) and in_order(lines, QUASI)
    assert not kept
    assert not all(verdict.holds for verdict in shoal.verify(folder))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"class": {"age": "x", "city": "y"}, "cluster": {"size": 3, "chunks": [], "terms": []}}', "no row"),
        ('{"class": {"age": "x"}, "cluster": {}}', "is expected"),
        ('{"cluster": {"size": 3, "chunks": [], "terms": []}}', "is expected"),
        ('{"class": {"age": ["x"], "city": 1}, "cluster": {}}', "no row"),
        ("[]", "not an object"),
    ],
)
def test_lines_that_cannot_be_are_refused(text: str, words: str, tmp_path: Path) -> None:
    release, _ = RelationalTransaction(k=3, item_step="disassociation").anonymize(shoppers(), seed=1)
    folder = write_release(tmp_path / "out", release)
    path = folder / "release/items.jsonl"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(BadData, match=words):
        read_release(folder)
    path.unlink()
    with pytest.raises(BadData, match="not there"):
        read_release(folder)


def test_a_run_is_written_measured_attacked_and_verified(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": ["20"] * 6 + ["40"] * 6,
            "ill": ["flu", "cold"] * 6,
            "buys": [["a", "b"]] * 3 + [["c", "d"]] * 3 + [[]] * 3 + [["a"]] * 2 + [["x"]],
        }
    )
    run = shoal.anonymize(
        frame,
        "relational-transaction",
        k=3,
        m=2,
        bound={"relational": 0},
        item_step="disassociation",
        quasi="age",
        sensitive="ill",
        items="buys",
    )
    # Of 15 occurrences a and x of the second class are only named, and their pairs are all there.
    assert run.score("item_loss") == pytest.approx(3 / 15)
    assert run.score("left_out_items") == 0
    assert run.score("pair_loss") == pytest.approx(0)
    run.write(tmp_path / "out")
    found = shoal.verify(tmp_path / "out")
    assert all(verdict.holds for verdict in found)
    assert found.judged is not None
    assert found.judged.sets == "buys"
    names = {path.name for path in (tmp_path / "out/release").iterdir()}
    assert names == {"data.csv", "items.jsonl", "release.json", "README.md", "datapackage.json"}
    package = json.loads((tmp_path / "out/release/datapackage.json").read_text(encoding="utf-8"))
    assert [one["path"] for one in package["resources"]] == ["data.csv", "items.jsonl"]
    assert package["resources"][1]["codebook"]["items"] == ["a", "b", "c", "d", "x"]
    assert [score.value for score in shoal.measure(tmp_path / "out", frame) if score.name == "item_loss"] == [
        pytest.approx(3 / 15)
    ]
    attacked = shoal.attack(tmp_path / "out", frame, attacks=["linkage"])["linkage"]
    assert attacked.parts["highest"] <= 1 / 3
    assert attacked.parts["all columns"] == pytest.approx(1 / 6)
    without_papers(tmp_path / "out/release")
    (tmp_path / "out/release/sensitive.csv").write_text("x\n", encoding="utf-8")
    assert [one.model for one in shoal.verify(tmp_path / "out")] == ["release-folder"]


def test_other_questions_about_items_in_clusters() -> None:
    release, _ = RelationalTransaction(k=3, item_step="disassociation").anonymize(shoppers(), seed=1)
    assert isinstance(release.data, ClusteredTable)
    assert "buys in <Clusters" in repr(release)
    weak, strong = Disassociated(k=3, m=2, sensitive=("item8",)), Disassociated(k=50, m=2)
    assert [one.holds for one in shoal.verify(release, promises=[weak])] == [True]
    assert [one.holds for one in shoal.verify(release, promises=[strong])] == [False]
    with pytest.raises(WrongUse, match="disassociation"):
        shoal.verify(release, promises=[KKmAnonymity(k=3, m=2)])
    with pytest.raises(WrongUse, match="items in rows"):
        RelationalTransaction(k=3, h=0.5, item_step="disassociation")


def test_promises_about_classes_are_made_beside_it() -> None:
    run = carry_out(RelationalTransaction(k=3, l=2, item_step="disassociation"), shoppers())
    assert [one.model for one in run.verdicts] == ["k-anonymity", "distinct-diversity", "disassociation"]


def test_persons_without_items_and_insensitive_items() -> None:
    data = shoppers()
    column = data.column("buys")
    empty = replace(column, codes=np.full(data.rows, column.domain.labels.index(""), dtype=np.int32))
    bare = Table(tuple(empty if one is column else one for one in data.columns))
    release, _ = RelationalTransaction(k=3, item_step="disassociation").anonymize(bare, seed=1)
    assert not release.data.vocabulary
    said = RelationalTransaction(k=3, item_step="disassociation").without_effect(
        Table(
            tuple(
                replace(column, insensitive_items=("item1",)) if one is column else one
                for one in data.columns
            )
        )
    )
    assert any("--insensitive-items" in one for one in said)

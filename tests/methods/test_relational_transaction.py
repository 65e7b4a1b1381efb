"""The method for tables with items: what it publishes keeps (k,k^m)-anonymity, and loses no more than it must."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.data import shoppers
from tests.naive.mixed import Row, is_k_km_anonymous
from tests.papers import without_papers
from tests.tables import column

import shoal
from shoal.data._hierarchy_builders import build
from shoal.data._item_sets import item_column, item_sets, items_in, sets_of
from shoal.data.domain import nominal
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.datasets.shoppers import Shoppers
from shoal.errors import BadData, Infeasible, UnknownName, WrongUse
from shoal.io.tables.load import write_table
from shoal.methods.relational_transaction.method import RelationalTransaction
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.outcome import judge
from shoal.pipeline import carry_out


def random_table(random: np.random.Generator) -> Table:
    """Up to forty people with two columns, and items with or without a hierarchy."""
    rows, items = int(random.integers(4, 40)), int(random.integers(1, 9))
    held = random.random((rows, items)) < random.random()
    who, what = np.nonzero(held)
    sets = sets_of(who.astype(np.int64), pl.Series([f"i{item}" for item in what], dtype=pl.String), rows)
    tree = None
    if len(sets.vocabulary) > 1 and random.random() < 0.6:
        tree = build(f"balanced:{random.integers(2, 4)}", nominal(sets.vocabulary), "buys")
    some = random.permutation(np.array(sets.vocabulary, dtype=object))
    secret, other = (some[:1], some[1:2]) if random.random() < 0.3 else (some[:0], some[:0])
    return Table(
        (
            column("age", random.integers(18, 40, rows).tolist()),
            column("city", random.choice(["a", "b", "c"], rows).tolist()),
            replace(
                item_column("buys", sets),
                hierarchy=tree,
                sensitive_items=tuple(secret),
                insensitive_items=tuple(other),
            ),
        )
    )


def rows_of(table: Table) -> list[Row]:
    """Published cells and items, from texts."""
    quasi = [[one.domain.labels[code] for code in one.codes] for one in table.quasi]
    items = table.items_column
    assert items is not None
    held = [frozenset(items_in(items.domain.labels[code])) for code in items.codes]
    return list(zip(zip(*quasi, strict=True), held, strict=True))


def kept_by_twin(release: Release[Any], k: int, m: int, data: Table) -> bool:
    column = data.items_column
    assert column is not None
    hidden = {*column.sensitive_items, *column.insensitive_items}
    return is_k_km_anonymous(rows_of(release.data), k, m, hidden)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_tables_are_kept_by_the_twin(count: int) -> None:
    random = np.random.default_rng(11)
    tried = 0
    for _ in range(count):
        data, k, m = random_table(random), int(random.integers(2, 5)), int(random.integers(1, 4))
        merge = str(random.choice(["relational", "items", "both"]))
        method = RelationalTransaction(k=k, m=m, merge=merge, bound={"relational": float(random.random())})
        if data.rows < k:
            continue
        release, trace = method.anonymize(data)
        assert kept_by_twin(release, k, m, data)
        assert all(verdict.holds for verdict in judge(release) if verdict.model != "nothing-published")
        published = item_sets(release.data.column("buys"))
        before = item_sets(data.column("buys")).take(trace.rows)
        paths = {path[0]: set(path) for path in (data.column("buys").hierarchy or _flat(before)).paths()}
        for old, new in zip(before, published, strict=True):
            assert all(any(node in paths[item] for item in old) for node in new)
        tried += 1
    assert tried > 0.9 * count


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_sensitive_item_is_learned_above_h(count: int) -> None:
    """Whoever knows the cells and m public items of somebody finds no sensitive item in more than a share of h."""
    random = np.random.default_rng(21)
    fewer = tried = 0
    for _ in range(count):
        data, k, m = random_table(random), int(random.integers(2, 4)), int(random.integers(1, 4))
        column = data.column("buys")
        items = item_sets(column).vocabulary
        if data.rows < k or len(items) < 2:
            continue
        secret = replace(column, sensitive_items=items[:2], insensitive_items=items[2:3])
        data = Table(tuple(secret if one is column else one for one in data.columns))
        bound, h = {"relational": float(random.random())}, float(random.choice([0.25, 0.5, 0.75]))
        release, _ = RelationalTransaction(k=k, m=m, h=h, bound=bound).anonymize(data)
        assert is_k_km_anonymous(rows_of(release.data), k, m, items[2:3], items[:2], h)
        assert all(verdict.holds for verdict in judge(release) if verdict.model != "nothing-published")
        plain, _ = RelationalTransaction(k=k, m=m, bound=bound).anonymize(data)
        kept, all_of = (sum(len(one[1]) for one in rows_of(each.data)) for each in (release, plain))
        assert kept <= all_of
        fewer += kept < all_of
        tried += 1
    assert tried > 0.7 * count
    assert fewer > 0.3 * tried


def test_what_tells_too_much_is_left_out_and_nothing_else() -> None:
    """All who hold a hold the secret: a goes. Half of all hold it, which is allowed, so that the secret stays."""
    sets = [["a", "s"]] * 3 + [["b"]] * 3 + [["b", "s"]] * 2 + [["b"]] * 2
    frame = pl.DataFrame({"x": ["p"] * 10, "buys": sets})
    options: dict[str, Any] = {"k": 2, "m": 1, "quasi": "x", "items": "buys", "sensitive_items": "s"}
    run = shoal.anonymize(frame, "relational-transaction", h=0.5, **options)
    assert sorted(sorted(one[1]) for one in rows_of(run.release.data)) == sorted(
        [["s"]] * 3 + [["b"]] * 5 + [["b", "s"]] * 2
    )
    assert [verdict.promise for verdict in run.verdicts][-1].endswith(
        "a sensitive item in at most 0.5 of them"
    )
    strict = shoal.anonymize(frame, "relational-transaction", h=0.4, **options)
    held = sorted(sorted(one[1]) for one in rows_of(strict.release.data))
    assert held == sorted([["a"]] * 3 + [["b"]] * 7)
    with pytest.raises(WrongUse, match="none is"):
        shoal.anonymize(frame, "relational-transaction", h=0.4, k=2, quasi="x", items="buys")


def _flat(sets: Any) -> Any:
    return build("suppress", nominal(sets.vocabulary or ("x",)), "buys")


def test_the_least_is_left_out_where_one_item_of_a_rare_pair_is_enough() -> None:
    """a, b and c are frequent and {a, c} is not: c, of which there is least, goes, and all else stays."""
    sets = [["a", "b"]] * 4 + [["a", "b", "c"]] + [["b", "c"]] * 2
    frame = pl.DataFrame({"x": ["p"] * 7, "buys": sets})
    run = shoal.anonymize(frame, "relational-transaction", k=3, m=2, quasi="x", items="buys")
    held = sorted(sorted(one[1]) for one in rows_of(run.release.data))
    assert held == [["a", "b"]] * 5 + [["b"]] * 2
    assert run.score("item_loss") == pytest.approx(3 / 15)


def test_a_hierarchy_saves_items_that_would_be_left_out() -> None:
    frame = pl.DataFrame({"x": ["p"] * 6, "buys": [["beer"]] * 2 + [["wine"]] * 2 + [["milk"]] * 2})
    options: dict[str, Any] = {"k": 3, "m": 1, "quasi": "x", "items": "buys"}
    tree = shoal.Hierarchy(
        (("beer", "milk", "wine"), ("alcohol", "dairy"), ("*",)), (np.array([0, 1, 0]), np.array([0, 0]))
    )
    run = shoal.anonymize(frame, "relational-transaction", hierarchies={"buys": tree}, **options)
    assert sorted(sorted(one[1]) for one in rows_of(run.release.data)) == [[]] * 2 + [["alcohol"]] * 4
    assert run.release.details["nodes"] == {"alcohol": 2}
    assert run.score("item_loss") == pytest.approx(1 - 4 * (1 - 2 / 3) / 6)


@pytest.mark.parametrize("merge", ["relational", "items", "both"])
def test_the_bound_of_cells_is_kept_and_united_classes_lose_fewer_items(merge: str) -> None:
    data = Shoppers(rows=400, items=24, relation=0.8).make(3)
    roles = {"age": Role.QUASI, "sex": Role.QUASI, "products": Role.ITEMS}
    table = Table(tuple(replace(data.column(name), role=role) for name, role in roles.items()))
    losses = []
    for bound in (0.0, 0.2):
        run = carry_out(RelationalTransaction(k=4, merge=merge, bound={"relational": bound}), table)
        first = run.trace.notes["relational_loss"]
        assert 1 - run.score("granularity") == pytest.approx(first)
        assert bound == 0 or first <= bound + 1e-9
        losses.append(run.score("item_loss"))
    assert losses[0] > losses[1]


def test_a_bound_of_items_unites_what_it_takes() -> None:
    data = Shoppers(rows=400, items=24).make(3)
    roles = {"age": Role.QUASI, "sex": Role.QUASI, "products": Role.ITEMS}
    table = Table(tuple(replace(data.column(name), role=role) for name, role in roles.items()))
    _, trace = RelationalTransaction(k=4, bound={"items": 0.6}).anonymize(table)
    assert trace.notes["item_loss"] <= 0.6
    with pytest.raises(Infeasible, match="whatever classes"):
        RelationalTransaction(k=100, bound={"items": 0.0}).anonymize(table)


def test_it_loses_less_than_one_recoding_for_all_classes() -> None:
    """Left out everywhere, an item goes as soon as one class has it too rarely, which loses more already for m = 1."""
    data = Shoppers(rows=600, items=30, relation=0.9).make(5)
    roles = {"age": Role.QUASI, "sex": Role.QUASI, "products": Role.ITEMS}
    table = Table(tuple(replace(data.column(name), role=role) for name, role in roles.items()))
    run = carry_out(RelationalTransaction(k=5, m=2, bound={"relational": 0.0}), table)
    originals = list(item_sets(table.column("products")))
    classes = defaultdict(list)
    for (cells, _), row in zip(rows_of(run.release.data), run.trace.rows.tolist(), strict=True):
        classes[cells].append(originals[row])
    counts = [Counter(item for held in rows for item in held) for rows in classes.values()]
    kept = {item for held in originals for item in held if all(not 0 < one[item] < 5 for one in counts)}
    total = sum(map(len, originals))
    for_all = 1 - sum(len(kept.intersection(held)) for held in originals) / total
    assert run.score("item_loss") < for_all


@pytest.mark.parametrize("dealt", ["shift", "secret"])
def test_values_that_are_not_public_decide_nothing(dealt: str) -> None:
    """Other insensitive cells and other sensitive items leave the classes and the public items as they are."""
    data = shoppers()
    random = np.random.default_rng(3)
    columns = list(data.columns)
    if dealt == "shift":
        place = data.names.index("shift")
        columns[place] = replace(columns[place], codes=random.permutation(columns[place].codes))
    else:
        sets = item_sets(data.column("buys"))
        held = [[item for item in one if item not in ("item8", "item9")] for one in sets]
        held = [one + ["item8"] * bool(random.random() < 0.2) + ["item9"] for one in held]
        who = np.repeat(np.arange(len(held)), [len(one) for one in held])
        items = pl.Series([item for one in held for item in one], dtype=pl.String)
        fresh = item_column("buys", sets_of(who, items, len(held)))
        columns[-1] = replace(fresh, sensitive_items=("item8", "item9"))
    method = RelationalTransaction(k=3, m=2)
    seen = []
    for table in (data, Table(tuple(columns))):
        release, _ = method.anonymize(table, seed=3)
        seen.append(
            sorted((cells, sorted(held - {"item8", "item9"})) for cells, held in rows_of(release.data))
        )
    assert seen[0] == seen[1]


def test_another_method_makes_the_first_classes() -> None:
    data = shoppers()
    for name in ("lattice", "samarati"):
        release, trace = RelationalTransaction(k=3, clusters=name).anonymize(data)
        assert all(verdict.holds for verdict in judge(release))
        assert release.data.rows + release.suppressed == data.rows
        assert len(trace.rows) == release.data.rows
    for name in ("anatomy", "pram", "cahd", "relational-transaction"):
        with pytest.raises(WrongUse, match="makes no classes"):
            RelationalTransaction(k=3, clusters=name).anonymize(data)
    with pytest.raises(UnknownName):
        RelationalTransaction(k=3, clusters="mondrain").anonymize(data)


def test_wrong_bounds_are_refused() -> None:
    for bound in ({"cells": 0.1}, {"relational": 2.0}, {"relational": 0.1, "items": 0.1}):
        with pytest.raises(WrongUse):
            RelationalTransaction(k=3, bound=bound)


def test_it_is_verified_from_its_files_and_from_a_forged_one(tmp_path: Path) -> None:
    run = carry_out(RelationalTransaction(k=3, m=2), shoppers())
    run.write(tmp_path / "out")
    assert all(one.holds for one in shoal.verify(tmp_path / "out"))
    engine = shoal.engines.Stream("1GB")
    streamed = shoal.verify(tmp_path / "out", engine=engine)
    engine.close()
    assert [one.value for one in streamed] == [one.value for one in shoal.verify(tmp_path / "out")]
    without_papers(tmp_path / "out/release")
    path = tmp_path / "out/release/data.csv"
    asked = {"quasi": ["age", "city"], "items": "buys"}
    weak = KKmAnonymity(k=3, m=2, sensitive_items=("item8", "item9"))
    assert all(one.holds for one in shoal.verify(path, promises=[weak], **asked))  # type: ignore[arg-type]
    frame = pl.read_csv(path, infer_schema=False)
    first = frame["buys"].fill_null("")[0]
    forged = "|".join(sorted({*filter(None, first.split("|")), "item7"} ^ {"item0"}))
    frame.with_columns(
        buys=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(forged)).otherwise(pl.col("buys").fill_null(""))
    ).write_csv(path)
    assert not all(one.holds for one in shoal.verify(tmp_path / "out"))


@pytest.mark.parametrize("step", ["generalization", "disassociation"])
def test_its_files_are_measured_and_attacked_with_their_original(step: str, tmp_path: Path) -> None:
    """Somebody of whom all items are left out has none in the release, and some in the original."""
    write_table(Shoppers(rows=200, items=12).make(7), tmp_path / "people.csv")
    roles = {"quasi": ["age", "sex"], "items": "products", "sensitive": "disease", "others": "drop"}
    given = {"k": 4, "item_step": step, **roles}
    run = shoal.anonymize(tmp_path / "people.csv", "relational-transaction", **given)
    folder = run.write(tmp_path / "out", report=False)
    if step == "generalization":
        assert not all(run.release.to_polars()["products"].is_not_null())
    measured = shoal.measure(folder, tmp_path / "people.csv", measures=["item-loss"])
    assert {one.name: one.value for one in measured}["item_loss"] == pytest.approx(run.score("item_loss"))
    linkage = shoal.attack(folder, tmp_path / "people.csv", attacks=["linkage"])["linkage"]
    assert 1 / 200 < linkage.success <= 1 / 4
    if step == "generalization":
        frame = pl.read_csv(tmp_path / "people.csv").with_columns(products=pl.lit("of another shop"))
        frame.write_csv(tmp_path / "others.csv")
        with pytest.raises(BadData, match="not the original"):
            shoal.measure(folder, tmp_path / "others.csv", measures=["item-loss"])


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            "generalization",
            ("some are left out or coarser", "who knows the quasi-identifiers and 2 items of a person"),
        ),
        ("disassociation", ("in clusters of each class", "knows age and city and up to 2 items of a person")),
    ],
)
def test_the_report_speaks_of_items_too(step: str, words: tuple[str, ...], tmp_path: Path) -> None:
    run = carry_out(RelationalTransaction(k=3, l=2, item_step=step), shoppers())
    page = (run.write(tmp_path / "out") / "report.html").read_text(encoding="utf-8")
    for said in (*words, "This is not promised of the rows that fit items too."):
        assert said in page

"""Persons and their records: k persons are alike on the join, as the two files show it."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.contract.data import patients, people
from tests.naive.mixed import join_classes, related_in_order
from tests.soak.cells import covers
from tests.tables import column

import shoal
from shoal.attacks.attack import Target
from shoal.attacks.linkage import Linkage
from shoal.data.related import Related, related
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, Infeasible, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.releases.folder import read_release, write_release
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.multirelational._like_persons import divided
from shoal.methods.multirelational.method import Multirelational
from shoal.outcome import judge
from shoal.pipeline import carry_out

QUASI = ("age", "city", "month", "ward")


def random_patients(random: np.random.Generator) -> Related:
    """Up to thirty persons with up to five records each; now and then nobody knows anything of these."""
    rows = int(random.integers(2, 30))
    owners = np.repeat(np.arange(rows), random.integers(0, int(random.integers(1, 6)), rows))
    owners = random.permutation(owners)
    role = Role.QUASI if random.random() < 0.8 else Role.INSENSITIVE
    persons = (
        column("age", random.integers(18, 40, rows).tolist()),
        column("city", random.choice(["a", "b", "c"], rows).tolist()),
        column("ill", random.choice(["x", "y", "z"], rows).tolist(), Role.SENSITIVE),
    )
    records = (
        column("month", random.integers(1, 13, len(owners)).tolist(), role),
        column("ward", random.choice(["A", "B"], len(owners)).tolist(), role),
        column("finding", random.choice(["u", "v"], len(owners)).tolist(), Role.SENSITIVE),
    )
    return Related(persons, Table(records), owners, "person")


def files(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    found = []
    for name in ("data.csv", "records.csv"):
        with (folder / "release" / name).open(encoding="utf-8", newline="") as file:
            found.append(list(csv.DictReader(file)))
    return found[0], found[1]


def texts(table: Table, row: int) -> dict[str, str]:
    return {one.name: one.domain.labels[one.codes[row]] for one in table.columns}


def matches(shown: list[dict[str, str]], own: list[dict[str, str]]) -> bool:
    """Whether each published record can be another one of a person's."""
    if not shown:
        return True
    first, *rest = shown
    fit = [
        one
        for one in own
        if all(covers(cell, one[name], None, None) for name, cell in first.items() if name in one)
    ]
    return any(matches(rest, [other for other in own if other is not one]) for one in fit)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_persons_are_kept_by_the_twin_from_the_files(count: int, tmp_path: Path) -> None:
    random = np.random.default_rng(31)
    tried = 0
    for number in range(count):
        data, k = random_patients(random), int(random.integers(2, 5))
        if data.rows < k:
            continue
        size = int(random.integers(2, 12))
        try:
            release, trace = Multirelational(k=k, class_size=size).anonymize(data, seed=number)
        except Infeasible:
            assert (np.bincount(data.owners, minlength=data.rows) == 0).any()
            continue
        folder = write_release(tmp_path / str(number), release)
        persons, records = files(folder)
        known = [one.name for one in (*data.quasi, *data.records.quasi)]
        assert min(map(len, join_classes(persons, records, "person", known).values())) >= k
        assert related_in_order(persons, records, "person")
        for one in (release, read_release(folder)):
            assert all(verdict.holds for verdict in judge(one))
        assert sorted(trace.rows.tolist()) == list(range(data.rows))
        for person, row in zip(persons, trace.rows.tolist(), strict=True):
            before = texts(Table(data.columns), row)
            assert all(covers(person[name], cell, None, None) for name, cell in before.items())
            mine = [texts(data.records, int(one)) for one in np.flatnonzero(data.owners == row)]
            own = [one for one in records if one["person"] == person["person"]]
            shown = [{name: cell for name, cell in one.items() if name != "person"} for one in own]
            assert matches(shown, mine)
        tried += 1
        assert records
    assert tried > 0.5 * count


def test_promises_about_persons_are_kept_on_the_join(tmp_path: Path) -> None:
    run = carry_out(Multirelational(k=2, l=2), patients())
    run.write(tmp_path / "out")
    persons, records = files(tmp_path / "out")
    groups = join_classes(persons, records, "person", QUASI).values()
    assert min(len({one["illness"] for one in group}) for group in groups) >= 2
    assert [one.model for one in shoal.verify(tmp_path / "out")] == ["k-anonymity", "distinct-diversity"]
    alone = join_classes(persons, [], "person", QUASI)
    assert len(groups) > len(alone)


@pytest.mark.parametrize("dealt", ["order", "illness", "shift", "finding"])
def test_neither_secrets_nor_the_order_of_the_input_decide_what_may_be_known(
    dealt: str, tmp_path: Path
) -> None:
    data = patients()
    random = np.random.default_rng(3)

    def anew(table: Table) -> tuple[Any, ...]:
        return tuple(
            replace(one, codes=random.permutation(one.codes)) if one.name == dealt else one
            for one in table.columns
        )

    other = data.with_columns(anew(Table(data.columns)), anew(data.records))
    if dealt == "order":
        other = data.take(random.permutation(data.rows))
    seen = []
    for place, table in enumerate((data, other)):
        folder = write_release(tmp_path / str(place), Multirelational(k=3).anonymize(table, seed=3)[0])
        groups = join_classes(*files(folder), "person", QUASI)
        seen.append({known: len(group) for known, group in groups.items()})
    assert seen[0] == seen[1]


def larger(persons: list[Any], records: list[Any]) -> None:
    records[0]["month"] = "13"


def gone(persons: list[Any], records: list[Any]) -> None:
    del records[-1]


def moved(persons: list[Any], records: list[Any]) -> None:
    first = records[0]["person"]
    records[0]["person"] = next(one["person"] for one in records if one["person"] != first)
    records.sort(key=lambda one: (int(one["person"]), list(one.values())[1:]))


def aged(persons: list[Any], records: list[Any]) -> None:
    persons[-1]["age"] = "[98,99]"


@pytest.mark.parametrize("change", [larger, gone, moved, aged])
def test_forged_files_are_found_and_the_twin_agrees(change: Callable[..., None], tmp_path: Path) -> None:
    release, _ = Multirelational(k=3).anonymize(patients(), seed=1)
    folder = write_release(tmp_path / "out", release)
    persons, records = files(folder)
    change(persons, records)
    for name, rows in (("data.csv", persons), ("records.csv", records)):
        pl.DataFrame(rows).write_csv(folder / "release" / name)
    facts = json.loads((folder / "release/release.json").read_text(encoding="utf-8"))
    facts["record_rows"] = len(records)
    (folder / "release/release.json").write_text(json.dumps(facts), encoding="utf-8")
    assert min(map(len, join_classes(persons, records, "person", QUASI).values())) < 3
    assert not shoal.verify(folder)[0].holds


@pytest.mark.parametrize(("first", "second"), [(0, 1), (3, 40)])
def test_other_numbers_and_another_order_are_found(first: int, second: int, tmp_path: Path) -> None:
    release, _ = Multirelational(k=3).anonymize(patients(), seed=1)
    data = release.data
    order = np.arange(data.rows)
    order[[first, second]] = order[[second, first]]
    turned = data.take(order)
    verdicts = judge(shoal.Release(turned, release.method, release.parameters, release.promises))
    places = related(turned.columns, turned.records.columns, turned.owners, "person")[1]
    same = bool((places == np.arange(data.rows)).all())
    assert same == all(verdict.holds for verdict in verdicts)
    folder = write_release(tmp_path / "out", release)
    path = folder / "release/data.csv"
    frame = pl.read_csv(path, infer_schema=False)
    frame.with_columns(person=pl.col("person").reverse()).write_csv(path)
    with pytest.raises(BadData, match="not numbered"):
        read_release(folder)


def written(tmp_path: Path, persons: str, visits: str) -> dict[str, Any]:
    (tmp_path / "p.csv").write_text(persons, encoding="utf-8")
    (tmp_path / "v.csv").write_text(visits, encoding="utf-8")
    return {"data": tmp_path / "p.csv", "link": f"{tmp_path / 'v.csv'}:id", "others": "drop", "k": 2}


PERSONS = "id,age\n" + "".join(f"{row},{20 + row // 2}\n" for row in range(8))
VISITS = (
    "id,day,ward\n" + "".join(f"{row % 8},{row % 3 + 1},{'ab'[row % 2]}\n" for row in range(16)) + "99,1,a\n"
)


def test_two_files_are_read_published_proved_and_measured(tmp_path: Path) -> None:
    given = written(tmp_path, PERSONS, VISITS)
    with pytest.warns(UserWarning, match="1 record of .* no row has"):
        run = shoal.anonymize(method="multirelational", quasi=["age", "day"], insensitive="ward", **given)
    assert run.original.records.rows == 16
    assert run.score("left_out_records") == 0
    assert 0 <= run.score("record_loss") < 1
    run.write(tmp_path / "out")
    found = shoal.verify(tmp_path / "out")
    assert all(verdict.holds for verdict in found)
    assert found.judged is not None
    assert found.judged.quasi == ("age", "day")
    names = {path.name for path in (tmp_path / "out/release").iterdir()}
    assert names == {"data.csv", "records.csv", "release.json", "README.md", "datapackage.json"}
    persons, records = files(tmp_path / "out")
    assert list(persons[0]) == ["age", "id"]
    assert list(records[0]) == ["id", "day", "ward"]
    attacked = Linkage().run(Target(run.release, run.original))
    assert attacked is not None
    assert attacked.parts["highest"] <= 1 / 2
    assert attacked.success >= attacked.parts["without records"]


@pytest.mark.parametrize(
    ("persons", "visits", "roles", "words"),
    [
        (PERSONS + "0,50\n", VISITS, {}, "several rows"),
        (PERSONS + ",50\n", VISITS, {}, "no key"),
        (PERSONS, "id,day\n77,1\n", {}, "nobody has a record"),
        (PERSONS, "id,age,day\n1,1,1\n", {}, "Both tables"),
        (PERSONS, "who,day\n1,1\n", {}, "column 'id'"),
        (PERSONS, VISITS, {"quasi": ["age", "day", "id"]}, "names persons"),
        (PERSONS, VISITS, {"entity": "age"}, "joins records"),
        (PERSONS, VISITS, {"link": "v.csv"}, "by their file"),
    ],
)
def test_what_cannot_be_joined_is_refused(
    persons: str, visits: str, roles: dict[str, Any], words: str, tmp_path: Path
) -> None:
    given = {"quasi": ["age", "day"], **written(tmp_path, persons, visits), **roles}
    with pytest.raises((BadData, WrongUse, UnknownName), match=words):
        shoal.anonymize(method="multirelational", **given)


def test_one_table_and_two_are_not_confused() -> None:
    with pytest.raises(WrongUse, match="joins two tables"):
        Multirelational(k=3).anonymize(people())
    with pytest.raises(WrongUse, match="publishes one table"):
        Mondrian(k=3).anonymize(patients())


def test_groups_leave_out_as_few_records_as_can_be() -> None:
    """All ways to cut are tried."""
    random = np.random.default_rng(4)

    def fewest(counts: list[int], k: int) -> float:
        if not counts:
            return 0
        costs = [
            sum(counts[:size]) - size * counts[0] + fewest(counts[size:], k)
            for size in range(k, len(counts) + 1)
        ]
        return min(costs, default=float("inf"))

    for _ in range(40):
        k = int(random.integers(2, 4))
        counts = np.sort(random.integers(0, 9, int(random.integers(k, 11))))
        begins = [*divided(counts, k), len(counts)]
        lost = sum(
            int(counts[begin:end].sum() - (end - begin) * counts[begin]) for begin, end in pairwise(begins)
        )
        assert lost == fewest(counts.tolist(), k)
        assert min(np.diff(begins)) >= k


def test_what_is_said_of_columns_reaches_the_records_too(tmp_path: Path) -> None:
    """How columns are read and prepared, in both tables, each by its own name."""
    days = "id,day,ward\n" + "".join(f"{row},{1 + row % 2:02}/03/2020,-\n" for row in range(8))
    persons = PERSONS.replace("id,age", "id;age").replace(",", ";")
    run = shoal.anonymize(
        method="multirelational",
        quasi=["age", "day", "ward"],
        **written(tmp_path, persons, days),
        reading=Reading(separator=";", missing=("-",), date_formats={"day": ("DD/MM/YYYY",)}),
        preparation=[
            {"name": "date-part", "parts": {"day": "month"}},
            {"name": "rounding", "bases": {"age": 20}},
        ],
    )
    shown, records = files(run.write(tmp_path / "out", report=False))
    assert {one["age"] for one in shown} == {"20"}
    assert {(one["day"], one["ward"]) for one in records} == {("2020-03", "")}
    taken = next(one for one in run.trace.notes["intake"] if one.startswith("Taken"))
    assert "day" in taken
    assert "ward" in taken


def test_a_step_that_takes_columns_together_takes_them_of_one_table(tmp_path: Path) -> None:
    steps = [{"name": "microaggregation", "columns": ["age", "day"], "size": 3}]
    with pytest.raises(WrongUse, match="columns of one table"):
        shoal.anonymize(
            method="multirelational",
            quasi=["age", "day"],
            preparation=steps,
            **written(tmp_path, PERSONS, VISITS),
        )


def test_records_are_guarded_as_persons_are(tmp_path: Path) -> None:
    visits = "id,visit_id,ward\n" + "".join(f"{row % 8},{1000 + row},=A\n" for row in range(16))
    given = {**written(tmp_path, PERSONS, visits), "insensitive": "ward"}
    with pytest.raises(WrongUse, match="looks like an identifier"):
        shoal.anonymize(method="multirelational", quasi=["age", "visit_id"], **given)
    with pytest.warns(UserWarning, match="cells of the column 'ward' as formulas"):
        shoal.anonymize(method="multirelational", quasi=["age", "visit_id"], insist="visit_id", **given)


def test_the_promise_names_what_is_known_of_all_records(tmp_path: Path) -> None:
    run = carry_out(Multirelational(k=2), patients())
    assert run.release.data.known == ("age", "city", "month of all records", "ward of all records")
    run.write(tmp_path / "out", report=False)
    said = (tmp_path / "out/release/README.md").read_text(encoding="utf-8")
    assert "knows age, city, month of all records and ward of all records of a person" in said


def test_a_secret_is_guessed_by_all_records_and_not_by_the_cells_alone(tmp_path: Path) -> None:
    """All persons are alike in the table, and their records tell who is ill."""
    persons = "id,age,ill\n" + "".join(f"{row},20,{'yes' if row < 4 else 'no'}\n" for row in range(12))
    visits = "id,ward\n" + "".join(f"{row},b\n" * 2 if row < 4 else f"{row},a\n" for row in range(12))
    given = {**written(tmp_path, persons, visits), "k": 4, "quasi": ["age", "ward"], "sensitive": "ill"}
    folder = shoal.anonymize(method="multirelational", **given).write(tmp_path / "out", report=False)
    found = shoal.attack(folder, tmp_path / "p.csv", attacks=["inference", "linkage"])
    assert found["inference"].parts["majority of the class"] == 1
    assert found["inference"].parts["naive Bayes"] == pytest.approx(8 / 12)
    assert found["linkage"].success == pytest.approx((4 / 4 + 8 / 8) / 12)


def test_the_report_speaks_of_records_too(tmp_path: Path) -> None:
    run = carry_out(Multirelational(k=3), patients())
    page = (run.write(tmp_path / "out") / "report.html").read_text(encoding="utf-8")
    for words in (
        "month of all records",
        "detail of records lost",
        "nothing is promised about secrets of records",
    ):
        assert words in page
    sizes = [len(group) for group in join_classes(*files(tmp_path / "out"), "person", QUASI).values()]
    assert f"{sum(sizes) / len(sizes):.1f} on average over the classes" in page


def test_numbers_follow_from_the_joined_rows(tmp_path: Path) -> None:
    """Whoever throws them away has them again: they tell nothing that persons with their records do not."""
    persons, records = files(
        carry_out(Multirelational(k=3), patients()).write(tmp_path / "out", report=False)
    )

    def cells(row: dict[str, str]) -> tuple[str, ...]:
        return tuple(cell for name, cell in row.items() if name != "person")

    joined = {
        one["person"]: (cells(one), sorted(cells(row) for row in records if row["person"] == one["person"]))
        for one in persons
    }
    thrown = list(joined.values())
    np.random.default_rng(1).shuffle(thrown)  # type: ignore[arg-type]
    again = {str(place + 1): one for place, one in enumerate(sorted(thrown))}
    assert again == joined

"""Published data as frames: types, ranges, and long frames; and one by one."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.contract.data import patients

import shoal
from shoal.data._export import typed
from shoal.data.clusters import Cluster, Clusters
from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column

FRAME = pl.DataFrame(
    {
        "age": [20, 21, 40, 41],
        "born": [date(2000, 1, 1), date(2000, 1, 9), date(1990, 1, 1), date(1991, 1, 1)],
        "pay": [1.5, 2.5, 3.0, None],
        "visits": [1, 2, 3, 4],
        "day": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3), date(2024, 1, 4)],
        "zip": ["01067", "01069", "01067", "01069"],
        "ill": ["a", "b", "a", "b"],
    }
)
ROLES = {
    "quasi": ["age", "born"], "sensitive": ["ill"], "insensitive": ["pay", "visits", "day", "zip"],
}  # fmt: skip
SHOPPING = [["wine", "meat"], ["wine"], ["meat", "pills"], ["wine", "meat", "cream"], []] * 6


def column(*cells: str) -> Column:
    labels = tuple(dict.fromkeys(cells))
    codes = np.array([labels.index(cell) for cell in cells], dtype=np.int32)
    return Column("x", Role.QUASI, nominal(labels), codes)


def test_exact_columns_keep_their_types(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    frame = run.release.to_polars()
    types = {name: FRAME.schema[name] for name in FRAME.columns} | {"age": pl.String(), "born": pl.String()}
    assert frame.schema == types
    assert sorted(frame["visits"]) == [1, 2, 3, 4]
    assert frame["pay"].null_count() == 1
    assert set(frame["age"]) == {"[20,21]", "[40,41]"}
    run.write(tmp_path / "csv", report=False)
    run.write(tmp_path / "parquet", report=False, table_format="parquet")
    for ranges in ("text", "bounds", "middle"):
        for folder in ("csv", "parquet"):
            read = shoal.read_release(tmp_path / folder).to_polars(ranges)
            assert read.equals(run.release.to_polars(ranges))
            assert read.schema == run.release.to_polars(ranges).schema


def test_ranges_have_bounds_and_a_middle() -> None:
    release = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).release
    bounds = release.to_polars(ranges="bounds")
    assert bounds.columns[:4] == ["age_low", "age_high", "born_low", "born_high"]
    assert bounds.dtypes[:4] == [pl.Int64, pl.Int64, pl.Date, pl.Date]
    assert set(bounds.select("age_low", "age_high").rows()) == {(20, 21), (40, 41)}
    middle = release.to_polars(ranges="middle")
    assert set(middle["age"]) == {20.5, 40.5}
    assert set(middle["born"]) == {date(2000, 1, 5), date(1990, 7, 2)}
    assert release.to_pandas("bounds")["age_low"].dtype == np.int64
    with pytest.raises(shoal.WrongUse, match="'text', 'bounds' or 'middle', not 'ends'"):
        release.to_polars("ends")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "bounds", "middle"),
    [
        (["[1,2]", "*", "7"], [[1, None, 7], [2, None, 7]], [1.5, None, 7.0]),
        (["[1,2.5)", "-3"], [[1.0, -3.0], [2.5, -3.0]], [1.75, -3.0]),
        (["[1,2]", "", "3"], [[1, None, 3], [2, None, 3]], [1.5, None, 3.0]),
        (["1.2.2024", "[3.2.2024,5.2.2024]"],
         [[date(2024, 2, 1), date(2024, 2, 3)], [date(2024, 2, 1), date(2024, 2, 5)]],
         [date(2024, 2, 1), date(2024, 2, 4)]),
        (["{1|2}", "3"], [["{1|2}", "3"]], ["{1|2}", "3"]),
        (["[1,2]", "young"], [["[1,2]", "young"]], ["[1,2]", "young"]),
        (["*", "*"], [["*", "*"]], ["*", "*"]),
        (["01", "[02,03]"], [["01", "[02,03]"]], ["01", "[02,03]"]),
        (["1234567890123456789012", "5"], [["1234567890123456789012", "5"]], ["1234567890123456789012", "5"]),
        (["2024-02-30", "2024-02-01"], [["2024-02-30", "2024-02-01"]], ["2024-02-30", "2024-02-01"]),
        (["4", "5"], [[4, 5]], [4, 5]),
    ],
)  # fmt: skip
def test_cells_of_every_form(cells: list[str], bounds: list[list[object]], middle: list[object]) -> None:
    assert [series.to_list() for series in typed(column(*cells), "bounds")] == bounds
    assert [series.to_list() for series in typed(column(*cells), "middle")] == [middle]


def test_bounds_take_no_name_of_another_column() -> None:
    frame = FRAME.rename({"visits": "age_low"})
    roles = {**ROLES, "insensitive": ["pay", "age_low", "day", "zip"]}
    release = shoal.anonymize(frame, "mondrian", k=2, **roles).release
    with pytest.raises(shoal.WrongUse, match="There is a column 'age_low' already"):
        release.to_polars("bounds")


def test_baskets_are_a_long_frame_and_iterated() -> None:
    release = shoal.anonymize(SHOPPING, "coherence", h=1, k=2, p=1).release
    frame = release.to_polars()
    rows = [(number, item) for number, basket in enumerate(release.data, start=1) for item in basket]
    assert frame.rows() == rows
    assert Counter(map(frozenset, release.data)) == Counter(map(frozenset, SHOPPING))


def test_groups_are_a_long_frame_and_iterated() -> None:
    release = shoal.anonymize(SHOPPING, "cahd", p=3, sensitive=["pills"]).release
    rows, number = [], 0
    for place, group in enumerate(release.data, start=1):
        for basket in group.baskets:
            number += 1
            rows += [(place, number, item, 1) for item in basket]
        rows += [(place, None, item, count) for item, count in group.sensitive.items()]
    assert release.to_polars().rows() == rows
    supports = release.to_polars().group_by("item").agg(pl.col("count").sum())
    assert dict(supports.rows()) == Counter(item for basket in SHOPPING for item in basket)


def long_rows(clusters: Clusters) -> list[tuple[object, ...]]:
    """The rows of clusters, from what iterating them gives."""
    rows: list[tuple[object, ...]] = []

    def walk(cluster: Cluster, line: int) -> None:
        for chunk, records in enumerate(cluster.chunks, start=1):
            for record, items in enumerate(records, start=1):
                rows.extend((line, cluster.size, chunk, record, item) for item in items)
        rows.extend((line, cluster.size, None, None, item) for item in cluster.terms)
        for part in cluster.parts:
            walk(part, line)

    for line, cluster in enumerate(clusters, start=1):
        walk(cluster, line)
    return rows


@given(
    some.lists(some.sets(some.sampled_from("abcdefgh"), max_size=5), min_size=4, max_size=40),
    some.integers(2, 4),
    some.booleans(),
)
def test_clusters_are_a_long_frame_and_iterated(baskets: list[set[str]], k: int, refine: bool) -> None:
    if not any(baskets):
        return
    method = shoal.methods.Disassociation(k=k, m=2, refine=refine, max_cluster_size=max(k, 6))
    release, _ = method.anonymize(shoal.read_baskets([sorted(basket) for basket in baskets], baskets="lines"))
    clusters = release.data
    assert isinstance(clusters, Clusters)
    found = release.to_polars()
    expected = long_rows(clusters)
    assert Counter(found.drop("part").rows()) == Counter(expected)
    assert found["cluster"].is_sorted()
    assert len(list(clusters)) == clusters.count
    assert sum(cluster.size for cluster in clusters) == len(baskets)


def test_a_release_is_reconstructed() -> None:
    release = shoal.anonymize(SHOPPING, "disassociation", k=2, m=2).release
    three = release.reconstruct(3, seed=5)
    assert [len(baskets) for baskets in three] == [len(SHOPPING)] * 3
    assert [list(baskets) for baskets in release.reconstruct(2, seed=5)] == [
        list(baskets) for baskets in three[:2]
    ]
    groups = shoal.anonymize(SHOPPING, "cahd", p=3, sensitive=["pills"]).release
    (drawn,) = groups.reconstruct()
    held = Counter(item for basket in drawn for item in basket)
    assert held == Counter(item for basket in SHOPPING for item in basket)
    for count, seed in ((0, 1), (1, -1)):
        with pytest.raises(shoal.WrongUse, match="`count` must be at least 1"):
            release.reconstruct(count, seed)
    with pytest.raises(shoal.WrongUse, match="Only clusters and groups are reconstructed"):
        shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).release.reconstruct()


def test_rows_that_are_not_on_a_cluster_are_no_spark_frame() -> None:
    release = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).release
    with pytest.raises(shoal.WrongUse, match="not on a cluster"):
        release.to_spark()


@pytest.mark.parametrize("ranges", ["text", "bounds", "middle"])
def test_persons_come_with_their_number_and_the_lists_of_their_records(
    ranges: Literal["text", "bounds", "middle"], tmp_path: Path
) -> None:
    run = shoal.anonymize(patients(), "multirelational", k=3)
    frame = run.release.to_polars(ranges)
    data = run.release.data
    assert frame[data.key].to_list() == list(range(1, data.rows + 1))
    held = np.bincount(data.owners, minlength=data.rows).tolist()
    assert 0 in held
    lists = [name for name, kind in frame.schema.items() if kind == pl.List]
    assert lists
    for name in lists:
        assert frame[name].list.len().to_list() == held
    run.write(tmp_path / "out", report=False)
    assert shoal.read_release(tmp_path / "out").to_polars(ranges).equals(frame)
    if ranges == "text":
        file = pl.read_csv(tmp_path / "out/release/records.csv", infer_schema=False)
        told = frame.filter(pl.col(lists[0]).list.len() > 0).explode(lists)
        assert told.select(pl.col(data.key, *lists).cast(pl.String)).equals(file.select(data.key, *lists))

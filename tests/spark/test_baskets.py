"""Baskets on a real cluster: read there, published as in memory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.basket_losses import drawn, losses, refuse_greater
from tests.basket_parts import laid_out, text_of, text_of_parts
from tests.parts import read_dataset

from shoal import anonymize
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.role import Roles
from shoal.datasets.shopping import Shopping
from shoal.errors import BadData, Infeasible, WrongUse
from shoal.io.baskets.load import read_baskets, with_roles, write_baskets
from shoal.io.releases.set_lines import read_clusters, read_groups
from shoal.methods.cahd.method import Cahd
from shoal.methods.coherence.method import Coherence
from shoal.methods.disassociation.method import Disassociation

if TYPE_CHECKING:
    from shoal.engines.spark import Spark


def shopping(rows: int = 3_000) -> Baskets:
    """Baskets with two sensitive items."""
    baskets = Shopping(rows=rows, items=60, density=0.08, topics=3).make(seed=8)
    rare = np.argsort(baskets.supports, kind="stable")[:2]
    return with_roles(baskets, Roles.of(sensitive=[baskets.vocabulary[item] for item in rare]))


@pytest.fixture(scope="module")
def baskets() -> Baskets:
    return shopping()


@pytest.fixture(scope="module")
def there(spark: "Spark", baskets: Baskets, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = tmp_path_factory.mktemp("baskets") / "baskets.dat"
    write_baskets(baskets, path)
    secrets = [baskets.vocabulary[item] for item in baskets.sensitive]
    return read_dataset(spark, str(path), sensitive=secrets)


def test_blocks_of_several_parts_are_those_of_memory(
    spark: "Spark", baskets: Baskets, there: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "memory", 400_000)
    method = Cahd(p=4, form="blocks")
    release, trace = method.anonymize(there, spark)
    assert trace.notes["parts"] > 1
    assert text_of_parts(release.data) == text_of(method.anonymize(baskets)[0].data, tmp_path / "data")


@pytest.mark.parametrize(
    ("method", "read"),
    [(Cahd(p=4, form="pivots"), read_groups), (Disassociation(k=5), read_clusters)],
    ids=["pivots", "disassociation"],
)
def test_part_files_keep_the_promise(
    spark: "Spark",
    there: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: Any,
    read: Any,
) -> None:
    monkeypatch.setattr(spark, "memory", 400_000)
    release, _ = method.anonymize(there, spark)
    folder = tmp_path / "data.jsonl"
    release.data.parts.write(str(folder), ".jsonl")
    published = read(folder)
    assert method.models()[0].verify(published).holds
    assert text_of(published, tmp_path / "again") == "".join(
        part.read_text(encoding="utf-8") for part in sorted(folder.iterdir())
    )


@pytest.mark.parametrize(
    ("layout", "ending"),
    [
        ("long:invoice,item", ".csv"),
        ("column:things", ".parquet"),
    ],
)
def test_layouts_are_read_as_in_memory(spark: "Spark", tmp_path: Path, layout: str, ending: str) -> None:
    baskets = laid_out(Shopping(rows=200, items=9, density=0.2).make(seed=2), layout)
    path = tmp_path / f"baskets{ending}"
    if ending == ".parquet":
        rows = [list(baskets.basket(row)) for row in range(len(baskets))]
        pl.DataFrame({"things": rows}, schema={"things": pl.List(pl.String)}).write_parquet(path)
    else:
        write_baskets(baskets, path)
    here, found = read_baskets(str(path), baskets=layout), read_dataset(spark, str(path), layout=layout)
    assert found.schema.vocabulary == here.vocabulary
    assert found.schema.layout == here.layout
    assert sorted(found.parts.collect()["items"].to_list()) == [
        here.items[here.indptr[row] : here.indptr[row + 1]].tolist() for row in here.canonical_order()
    ]


def test_baskets_that_are_here_are_handed_over(spark: "Spark") -> None:
    wanted = [["a", "b"], [], ["b"]]
    ones = pl.DataFrame({"a": [1, 0, 0], "b": [True, False, True]})
    lists = pl.DataFrame({"things": [["b", "a "], [], ["b"]]})
    for source in (wanted, ones, lists):
        encoded = spark.load_baskets(source, None, None, Roles(sensitive=("b",)))
        found, remarks = encoded.baskets, encoded.remarks
        rows = found.parts.collect()["items"].to_list()
        assert sorted([found.schema.vocabulary[item] for item in row] for row in rows) == sorted(wanted)
        assert found.schema.sensitive.tolist() == [1]
        assert len(remarks) == (source is lists)
    own = spark.parts(pl.DataFrame({"item": ["a ", "b"], "basket": [1, 2]}))
    with pytest.raises(WrongUse, match="baskets='long:basket,item'"):
        spark.load_baskets(own, None, None, Roles())
    encoded = spark.load_baskets(own, "long:basket,item", None, Roles())
    found, remarks = encoded.baskets, encoded.remarks
    assert (found.rows, found.schema.vocabulary) == (2, ("a", "b"))
    assert remarks == ("Blanks around an item were taken away: 'a'.",)


def test_errors_of_workers_are_sentences(spark: "Spark", there: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "bad.spmf"
    path.write_text("1 -1 2 -1 -2\n3 -1 -2 4 -1 -2\n")
    with pytest.raises(BadData, match="'3 -1 -2 4 -1 -2'"):
        read_dataset(spark, str(path), layout="spmf")
    with pytest.raises(Infeasible, match="cannot be kept"):
        Cahd(p=3_000).anonymize(there, spark)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [Coherence(h=0.2, k=500, p=3), Cahd(p=10, form="blocks"), Cahd(p=10), Disassociation(k=5)],
    ids=["coherence", "blocks", "near", "disassociation"],
)
def test_a_million_baskets(
    spark: "Spark", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Any
) -> None:
    """Read, grouped, written and verified on the cluster; what equals memory is compared with it."""
    baskets = Shopping(rows=1_000_000, items=500, density=0.01, topics=10).make(seed=8)
    rare = [baskets.vocabulary[item] for item in np.argsort(baskets.supports, kind="stable")[:20:10]]
    path = tmp_path / "baskets.dat"
    write_baskets(baskets, path)
    monkeypatch.setattr(spark, "memory", 1 << 26)
    run = anonymize(path, method, engine=spark, baskets="lines", sensitive=rare).written(tmp_path / "out")
    assert run.holds
    if not (isinstance(method, Disassociation) or getattr(method, "form", None) in ("near", "pivots")):
        here = method.anonymize(with_roles(baskets, Roles.of(sensitive=rare)))[0].data
        (folder,) = (one for one in (tmp_path / "out" / "release").iterdir() if one.is_dir())
        there = "".join(part.read_text(encoding="utf-8") for part in sorted(folder.iterdir()))
        assert there == text_of(here, tmp_path / "here")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "read"),
    [(Cahd(p=5, form="pivots"), read_groups), (Disassociation(k=5), read_clusters)],
    ids=["pivots", "disassociation"],
)
def test_parts_that_differ_from_memory_lose_hardly_more(
    spark: "Spark", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: Any, read: Any
) -> None:
    """Where equality is not promised, the loss is within a tenth of that in memory."""
    baskets = drawn(50_000, 200, 1)
    path = tmp_path / "baskets.dat"
    write_baskets(baskets, path)
    secrets = [baskets.vocabulary[item] for item in baskets.sensitive]
    monkeypatch.setattr(spark, "memory", 1 << 22)
    run = anonymize(path, method, engine=spark, baskets="lines", sensitive=secrets).written(tmp_path / "out")
    assert run.trace.notes["parts"] > 3
    there = read(tmp_path / "out" / "release" / "data.jsonl")
    here = method.anonymize(baskets)[0].data
    refuse_greater([(losses(method, baskets, here), losses(method, baskets, there))])

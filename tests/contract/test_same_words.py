"""Messages about data do not depend on where its rows are: warnings and refusals are the same."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.parted import text_of
from tests.parts import MemoryEngine

import shoal
from shoal.engines.protocol import Engine
from shoal.engines.stream import Stream
from shoal.errors import ShoalError
from shoal.io.reading import Reading

VISITS = [
    "patient_id,ssn,phone,born,admitted,dx",
    *(
        f"{'?' if row == 7 else f'P{row % 30}'},{row},+49 {row},{1940 + row % 50},2011-1{row % 3}-{10 + row % 17}x,"
        f"{('flu', 'cold', '')[row % 3]}"
        for row in range(120)
    ),
]
SETS = [*["milk", "milk tea", "tea", "secret", "milk", "tea", "milk tea", "milk"] * 3]
TABLE: dict[str, Any] = {"quasi": ["born", "admitted"], "sensitive": "dx", "others": "drop", "k": 5}
BASKETS: dict[str, Any] = {"baskets": "lines", "sensitive": ["secret"]}

WARNED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a dropped number of a person that repeats": ("mondrian", "Rows, not persons", TABLE),
    "one that is identifying": (
        "mondrian",
        "has 30 values in 120 rows",
        {**TABLE, "others": "insensitive", "identifying": ["patient_id", "phone"]},
    ),
    "one of a table with rows left out": (
        "mondrian",
        "in 120 rows",
        {**TABLE, "reading": Reading(drop_missing=True)},
    ),
    "one that is published": ("mondrian", "insensitive column", {**TABLE, "others": "insensitive"}),
    "a sensitive value that is certain": ("mondrian", "'dx' is certain for", {**TABLE, "quasi": "admitted"}),
    "all at once": (
        "samarati",
        "No file in",
        {
            **TABLE,
            "k": 120,
            "missing_matches_all": True,
            "hierarchies": {"born": "suppress", "admitted": "suppress", "folder": "trees"},
        },
    ),
    "insensitive items of cahd": (
        "cahd",
        "`insensitive` has no effect",
        {**BASKETS, "p": 4, "insensitive": ["tea"]},
    ),
    "baskets without a public item": (
        "cahd",
        "without a public item",
        {**BASKETS, "p": 4, "alpha": 5, "order": "lexicographic"},
    ),
    "such baskets in clusters": (
        "disassociation",
        "3 baskets are published without a public item, in clusters with sensitive ones",
        {**BASKETS, "k": 3, "max_cluster_size": 4},
    ),
    "insensitive items of disassociation": (
        "disassociation",
        "`insensitive` has no effect",
        {"baskets": "lines", "k": 2, "m": 2, "insensitive": ["tea"]},
    ),
    "nothing secret": ("coherence", "h has no effect", {"baskets": "lines", "h": 0.8, "k": 2, "p": 2}),
}

REFUSED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a generalized table": ("mondrian", "visits.csv", {**TABLE, "reading": Reading(published=True)}),
    "baskets as a table": ("mondrian", "baskets.txt", TABLE),
    "names of a Parquet file": ("mondrian", "visits.parquet", {**TABLE, "reading": Reading(separator=";")}),
    "a cell like a published one": ("mondrian", "published.csv", {**TABLE, "quasi": ["born"]}),
    "one in a row that is kept": (
        "mondrian",
        "published.csv",
        {**TABLE, "quasi": ["born"], "reading": Reading(drop_missing=True)},
    ),
    "a cell that is no number": (
        "mondrian",
        "published.csv",
        {**TABLE, "quasi": ["born"], "reading": Reading(kinds={"born": "numeric"})},
    ),
    "a cell in a part file": ("mondrian", "parts.csv", {**TABLE, "quasi": ["born"]}),
    "baskets in another encoding": ("disassociation", "latin.dat", {"baskets": "lines", "k": 2, "m": 2}),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files to read, in which the program is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trees").mkdir()
    text = "\n".join([*VISITS, ""])
    (tmp_path / "visits.csv").write_text(text)
    pl.read_csv(tmp_path / "visits.csv").write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "baskets.dat").write_text("\n".join([*SETS, ""]))
    (tmp_path / "baskets.txt").write_text("milk bread tea\nmilk\n")
    broken = '"a\nb",flu\n' + "41,cold\n" * 9 + "*,\n*,flu\n"
    (tmp_path / "published.csv").write_text(f"born,dx\n{broken}")
    (tmp_path / "parts.csv").mkdir()
    for number, rows in enumerate(("40,flu\n" * 5, '40,flu\n"*",flu\n')):
        (tmp_path / "parts.csv" / f"part-{number}.csv").write_text(f"born,dx\n{rows}")
    (tmp_path / "latin.dat").write_bytes(b"milk tea\n" * 8000 + b"m\xfclk tea\n")
    return tmp_path


def engines() -> list[Engine]:
    return [MemoryEngine(), Stream("1GB")]


@pytest.mark.parametrize("case", WARNED)
def test_warnings(case: str, folder: Path) -> None:
    name, words, options = WARNED[case]
    source = folder / ("baskets.dat" if "baskets" in options else "visits.csv")
    local = shoal.anonymize(source, name, **options)
    assert any(words in warning for warning in local.warnings)
    for number, engine in enumerate(engines()):
        parts = shoal.anonymize(source, name, engine=engine, **options).written(folder / f"out{number}")
        assert parts.warnings == local.warnings
        assert parts.as_dict()["warnings"] == list(local.warnings)
        engine.close()


def test_numbers_of_persons_in_columns_with_types(folder: Path) -> None:
    """Numbers, dates and lists: repeated values are found however they are stored and wherever they are cut."""
    frame = pl.DataFrame(
        {
            "born": [40, 41] * 10,
            "patient_id": [1.0, -0.0, 0.0, float("nan"), 2.5] * 4,
            "user_id": [[1]] * 20,
            "customer_id": pl.Series(["a", " a", "b ", "?", None] * 4, dtype=pl.Categorical),
            "ssn": range(20),
        }
    )
    frame.write_parquet(folder / "people.parquet")
    options: dict[str, Any] = {"quasi": "born", "others": "drop", "k": 2}
    local = shoal.anonymize(folder / "people.parquet", "mondrian", **options)
    assert [warning.split("'")[1] for warning in local.warnings] == ["patient_id", "customer_id"]
    for engine in engines():
        parts = shoal.anonymize(folder / "people.parquet", "mondrian", engine=engine, **options)
        assert parts.warnings == local.warnings
        engine.close()


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str, folder: Path) -> None:
    name, source, options = REFUSED[case]
    with pytest.raises(ShoalError) as local:
        shoal.anonymize(folder / source, name, **options)
    engine = Stream("1GB")
    with pytest.raises(type(local.value)) as parts:
        shoal.anonymize(folder / source, name, engine=engine, **options)
    assert str(parts.value) == str(local.value)
    engine.close()


def test_frames_are_handed_to_the_engine(folder: Path) -> None:
    """A Python frame is handed to the engine, as a table or as baskets."""
    frame = pl.read_csv(folder / "visits.csv")
    lists = pl.DataFrame({"items": [line.split() for line in SETS]})
    long = lists.with_row_index("basket").explode("items")
    sets: dict[str, Any] = {"k": 2, "m": 2}
    cases: list[tuple[str, Any, dict[str, Any]]] = [
        ("mondrian", frame, TABLE),
        ("mondrian", frame.to_pandas(), TABLE),
        ("mondrian", frame.lazy(), TABLE),
        ("disassociation", lists, {**sets, "baskets": "column:items"}),
        ("disassociation", long.to_pandas(), {**sets, "baskets": "long:basket,items"}),
    ]
    for number, (name, source, options) in enumerate(cases):
        local = shoal.anonymize(source, name, **options)
        local.write(folder / f"local{number}", report=False)
        for engine in engines():
            there = folder / f"{engine.name}{number}"
            parts = shoal.anonymize(source, name, engine=engine, **options).written(there)
            assert (parts.holds, parts.warnings) == (True, local.warnings)
            assert text_of(there) == text_of(folder / f"local{number}")
            engine.close()

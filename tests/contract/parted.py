"""What every method that runs on rows in parts must keep, whatever the engine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contract.data import patients, people, shoppers, shopping
from tests.papers import PUBLIC
from tests.tables import column

import shoal
from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.engines.protocol import Engine
from shoal.errors import WrongUse
from shoal.io.baskets.load import write_baskets
from shoal.io.releases.folder import read_release
from shoal.io.tables.load import write_table
from shoal.methods.method import Method
from shoal.outcome import judge

EQUAL = frozenset({"samarati", "lattice", "mondrian", "coherence"})
"""Methods whose release in parts is the one in memory, row for row."""

UNTOLD = {"cahd": {"band"}}
"""Notes that methods make only in memory: how far an order spreads the items is compared with the input's."""

MORE = frozenset({"parts", "passes", "largest_part", "classes"})
"""Notes that are made only of rows in parts: how they were cut, and the classes that are published."""

TABLE: dict[str, Any] = {
    "identifying": "name",
    "quasi": ["age", "city"],
    "sensitive": "illness",
    "insensitive": "shift",
    "hierarchies": {"age": "intervals:5,10,20", "city": "suppress"},
}
BASKETS: dict[str, Any] = {"sensitive": ["item8", "item9"], "baskets": "lines"}


def arguments(method: type[Method], folder: Path) -> tuple[Path, dict[str, Any]]:
    """The contract data as a file, and how it is read."""
    if method.accepts is Baskets:
        path = folder / "baskets.dat"
        write_baskets(shopping(), path)
        return path, {**BASKETS, **method.example}
    path = folder / "people.csv"
    write_table(shoppers() if method.needs_items else people(), path)
    items = {"items": "buys", "sensitive_items": ["item8", "item9"]} if method.needs_items else {}
    if method.needs_link:
        return path, {**TABLE, **_with_records(path), **method.example}
    return path, {**TABLE, **items, **method.example}


def _with_records(path: Path) -> dict[str, Any]:
    """A file of records beside the file of people, and how both are read."""
    data, other = patients(), path.with_name("visits.csv")
    keys = column("person", [f"p{row}" for row in range(data.rows)], Role.IDENTIFYING)
    write_table(Table((keys, *data.columns)), path)
    owners = replace(keys, codes=data.owners.astype(np.int32))
    write_table(Table((owners, *data.records.columns)), other)
    quasi, sensitive = ([*TABLE["quasi"], "month", "ward"], [TABLE["sensitive"], "finding"])
    return {"quasi": quasi, "sensitive": sensitive, "link": f"{other}:person"}


def text_of(folder: Path) -> str:
    """The published file, or its part files put together again."""
    data = next((folder / "release").glob("data.*"))
    if data.is_file():
        return data.read_text(encoding="utf-8")
    texts = [part.read_text(encoding="utf-8") for part in sorted(data.glob("part-*"))]
    header = texts[0].partition("\n")[0] + "\n" if data.suffix == ".csv" else ""
    assert all(text.startswith(header) for text in texts)
    return header + "".join(text.removeprefix(header) for text in texts)


def check(name: str, engine: Engine, folder: Path) -> None:
    """Run a method in parts, verify what it wrote, and compare it with the release in memory."""
    method = registry.load("method", name)
    path, options = arguments(method, folder)
    run = shoal.anonymize(path, name, seed=3, engine=engine, **options)
    assert run.holds, "judged before it is written"
    written = run.written(folder / "parts")
    assert written.holds
    assert [one.model for one in written.verdicts] == [one.model for one in run.verdicts]
    assert not list(folder.glob(".*"))
    release = read_release(folder / "parts")
    assert all(verdict.holds for verdict in judge(release))
    local = shoal.anonymize(path, name, seed=3, **options)
    local.write(folder / "local", report=False)
    assert (release.promises, release.method) == (local.release.promises, name)
    assert not len(run.trace.rows)
    private = [file.name for file in (folder / "parts" / "release").rglob("*") if file.is_file()]
    assert all(file.startswith("part-") or file in PUBLIC for file in private)
    check_run(name, local.as_dict(), written.as_dict())
    if name in EQUAL:
        assert text_of(folder / "parts") == text_of(folder / "local")
        facts = [(folder / one / "release" / "release.json").read_text() for one in ("parts", "local")]
        assert facts[0] == facts[1]


def check_run(name: str, local: dict[str, Any], parts: dict[str, Any]) -> None:
    """Check that the owner is told of rows in parts what is told of rows in memory, except what needs all rows."""
    assert parts.keys() == local.keys()
    assert parts["recipe"] == local["recipe"]
    assert parts["promises"] == local["promises"]
    assert parts["hierarchies"] == local["hierarchies"]
    if name in EQUAL:
        assert parts["warnings"] == local["warnings"]
    assert parts["left_out"] == local["left_out"]
    assert [one["model"] for one in parts["verdicts"]] == [one["model"] for one in local["verdicts"]]
    assert local["notes"].keys() - parts["notes"].keys() == UNTOLD.get(name, set())
    assert parts["notes"].keys() - local["notes"].keys() <= MORE
    for key, told in local["notes"].items():
        if key.startswith("rules."):
            assert parts["notes"][key] == told
    assert set(local["seconds"]) - {"measuring"} <= set(parts["seconds"])


def check_refusal(name: str, engine: Engine, folder: Path) -> None:
    """Check that a method that cannot run on rows in parts says why."""
    method = registry.load("method", name)
    path, options = arguments(method, folder)
    with pytest.raises(WrongUse, match=method.not_distributable):
        shoal.anonymize(path, name, engine=engine, **options)

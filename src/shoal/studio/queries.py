"""Questions about data: plain functions that are called in another process and answer with plain data."""

import gzip
import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.profile import profile_baskets, profile_table
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse
from shoal.io.reading import first_line_like_data
from shoal.recipe import Roles, Source
from shoal.risks.role_guards import identifier
from shoal.sources import (
    Request,
    hierarchy_of,
    likely_layout,
    load_baskets,
    load_table,
    looks_like_baskets,
    with_item_hierarchy,
)

LARGE = 64_000_000
"""Bytes from which on only the beginning of a text file is read."""

SAMPLE = 16_000_000
"""Bytes of that beginning."""

PREVIEW, NODES, SHOWN_ITEMS, DRAWN = 12, 10, 200, 15
TEXTS = (".csv", ".tsv", ".txt", ".data", ".dat", "")


def look(source: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Look at a file: its columns or items, roles that are suggested for them, and its first rows.

    `source`: the source of a recipe. `place`: a folder for a sample of a large file.
    """
    asked = Source(**source)
    path = existing(asked.path)
    asked = asked.model_copy(update={"path": sample_of(path, Path(place))})
    size = os.path.getsize(path)
    facts: dict[str, Any] = {
        "bytes": size,
        "sampled": asked.path != str(path),
        "stamp": _stamp(asked.path),
        "looked_at": asked.path,
    }
    if asked.baskets is not None or (
        not asked.reading.kinds and looks_like_baskets(asked.path, asked.reading)
    ):
        return facts | _look_at_baskets(asked)
    return facts | _look_at_table(asked) | {"likely": likely_layout(asked.path)}


def existing(path: str) -> Path:
    """The path of a file that exists and is not empty. Raises `BadData` otherwise."""
    found = Path(path).expanduser()
    if not found.is_file():
        what = "this is a folder; name a file in it." if found.is_dir() else "there is no such file."
        raise BadData(what, path)
    if found.stat().st_size == 0:
        raise BadData("the file is empty.", path)
    return found


def sample_of(path: Path, folder: Path) -> str:
    """The path of a file or, where it is large, of a sample of its first lines."""
    packed, ending = path.suffix == ".gz", _ending(path)
    if path.stat().st_size < (LARGE // 4 if packed else LARGE) or ending not in TEXTS:
        return str(path)
    sample = folder / f"sample-{path.stat().st_mtime_ns}{ending}"
    if not sample.exists():
        opened = gzip.open(path, "rb") if packed else open(path, "rb")  # noqa: SIM115
        with opened as file:
            beginning = file.read(SAMPLE)
        sample.write_bytes(beginning[: beginning.rfind(b"\n") + 1])
    return str(sample)


def _ending(path: Path) -> str:
    """The extension of a file without that of its compression."""
    return (Path(path.stem).suffix if path.suffix == ".gz" else path.suffix).lower()


def _headless(source: Source, table: Table) -> bool:
    """Whether the first person seems to have been read as the names of the columns."""
    if source.reading.names is not None or _ending(Path(source.path)) not in TEXTS:
        return False
    return bool(first_line_like_data(table.names, {one.name: one.domain.labels for one in table.columns}))


def _look_at_table(source: Source) -> dict[str, Any]:
    table = _table(source)
    found = profile_table(table)
    first = table.take(np.arange(min(PREVIEW, table.rows)))
    cells = [[column.domain.labels[code] for code in column.codes.tolist()] for column in first.columns]
    return {
        "form": "table",
        "rows": table.rows,
        "names": list(table.names),
        "headless": _headless(source, table),
        "columns": [
            {
                "name": one.name,
                "kind": one.kind,
                "distinct": one.distinct,
                "missing": one.missing,
                "unique": one.unique,
                "examples": list(one.examples),
                "role": str(one.role),
                "reason": one.reason,
                "note": one.note,
                "identifier": identifier(table.column(one.name), table.rows),
            }
            for one in found.columns
        ],
        "preview": [list(row) for row in zip(*cells, strict=True)],
    }


def _look_at_baskets(source: Source) -> dict[str, Any]:
    baskets = _baskets(source)
    found = profile_baskets(baskets)
    return {
        "form": "baskets",
        "rows": len(baskets),
        "items": found.items,
        "layout": baskets.layout,
        "lengths": {"least": found.lengths.least, "mean": found.lengths.mean, "most": found.lengths.most},
        "empty": found.empty,
        "top": [list(pair) for pair in found.top],
        "known": [{"known": one.known, "unique": one.unique} for one in found.known],
        "preview": [list(baskets.basket(row)) for row in range(min(PREVIEW, len(baskets)))],
    }


def items_named(source: Mapping[str, Any], wanted: str) -> list[list[Any]]:
    """Items whose names contain a text, each with the number of its baskets, the most frequent first."""
    baskets = _baskets(Source(**source))
    supports = baskets.supports
    order = np.lexsort((np.arange(len(supports)), -supports)).tolist()
    text = wanted.casefold()
    found = ([baskets.vocabulary[code], int(supports[code])] for code in order)
    return list(islice((one for one in found if text in one[0].casefold()), SHOWN_ITEMS))


def unknown_items(source: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The names that are not items of the data."""
    known = set(_baskets(Source(**source)).vocabulary)
    return [name for name in names if name not in known]


def raw_risk(source: Mapping[str, Any], quasi: Sequence[str], entity: str | None) -> dict[str, Any]:
    """What the raw table gives away to someone who knows some columns."""
    from shoal.data._equal_rows import person_sizes
    from shoal.risks.unique_columns import column_risks

    table = _table(Source(**source))
    columns = table.select(dict.fromkeys(quasi))
    if not columns or not table.rows:
        return {}
    sizes = person_sizes(table, columns)
    people = int(sizes.sum())
    return {
        "people": people,
        "unique": float((sizes == 1).sum() / people),
        "below5": float(sizes[sizes < 5].sum() / people),
        "classes": len(sizes),
        "smallest": int(sizes.min()),
        "columns": [{"name": one.name, "distinct": one.distinction} for one in column_risks(columns)],
    }


def values_of(source: Mapping[str, Any], column: str) -> list[str]:
    """The distinct values of a column in their order, without the missing one."""
    domain = _table(Source(**source)).column(column).domain
    return list(domain.labels[: domain.present])


def suggested_trees(source: Mapping[str, Any], columns: Sequence[str]) -> dict[str, str]:
    """A hierarchy builder for each column, or for the items."""
    from shoal.recommendation.problem import ITEM_TREE, builder_for

    if tuple(columns) == ("items",):
        return {"items": ITEM_TREE}
    table = _table(Source(**source))
    return {name: builder_for(table.column(name)) for name in columns}


def tree(source: Mapping[str, Any], name: str, spec: str) -> dict[str, Any]:
    """The levels of a hierarchy with their nodes, and how many rows each stands for."""
    hierarchy, counts, kind = _tree(source, name, spec)
    levels = []
    for level in range(hierarchy.height + 1):
        nodes = hierarchy.nodes_at(level)
        rows = np.bincount(nodes, weights=counts, minlength=len(hierarchy.labels[level]))
        leaves = hierarchy.leaf_counts(level)
        largest = np.argsort(-rows, kind="stable")[:NODES]
        levels.append(
            {
                "count": len(hierarchy.labels[level]),
                "smallest": int(rows.min(initial=0)),
                "nodes": [
                    [hierarchy.labels[level][node], int(leaves[node]), int(rows[node])]
                    for node in largest.tolist()
                ],
            }
        )
    return {"levels": levels, "kind": kind, "values": len(hierarchy.leaves)}


def tree_paths(source: Mapping[str, Any], name: str, spec: str) -> list[list[str]]:
    """The texts above each value of a column, from the value itself to the root."""
    return [list(path) for path in _tree(source, name, spec)[0].paths()]


def write_tree(source: Mapping[str, Any], name: str, spec: str, path: str) -> None:
    """Write a hierarchy into a file, as other tools read it."""
    from shoal.io.hierarchies.load import write_hierarchy

    write_hierarchy(_tree(source, name, spec)[0], path)


def _tree(source: Mapping[str, Any], name: str, spec: str) -> tuple[Hierarchy, Any, str]:
    asked = Source(**source)
    if name == "items":
        baskets = _baskets(asked)
        found = with_item_hierarchy(baskets, {"items": spec}).hierarchy
        assert found is not None
        supports = dict(zip(baskets.vocabulary, baskets.supports.tolist(), strict=True))
        missed = (
            [item for item in supports if item not in set(found.leaves)] if len(supports) < 10_000 else []
        )
        if missed:
            raise WrongUse(f"The hierarchy lacks {len(missed)} of the items: {', '.join(missed[:5])} …")
        return found, np.array([supports.get(leaf, 0) for leaf in found.leaves], dtype=float), "items"
    column = _table(asked).column(name)
    hierarchy = hierarchy_of(column, spec).covering(column.domain, name)
    return hierarchy, _leaf_rows(hierarchy, column), str(column.domain.kind)


def _leaf_rows(hierarchy: Hierarchy, column: Column) -> Any:
    counts = np.bincount(column.codes, minlength=len(column.domain))
    rows = np.zeros(len(hierarchy.leaves))
    np.add.at(rows, hierarchy.leaf_of(column.domain), counts)
    return rows


def example(name: str, folder: str) -> str:
    """Write example data, and return its path."""
    from shoal.io.baskets.load import write_baskets
    from shoal.io.tables.load import write_table

    made = registry.load("dataset", name)(**EXAMPLES[name]).make(7)
    path = Path(folder) / f"example-{name}{'.dat' if isinstance(made, Baskets) else '.csv'}"
    (write_baskets if isinstance(made, Baskets) else write_table)(made, path)
    return str(path)


EXAMPLES: Mapping[str, dict[str, Any]] = {
    "people": {"rows": 5_000},
    "baskets": {"rows": 3_000, "items": 120, "density": 0.04},
}
"""Parameters of the example data, small enough to wait for."""


def find(folder: str, known: Any) -> dict[str, Any]:
    """What a neighbor finds in a release."""
    from shoal.attacking import find as find_in_folder

    return find_in_folder(folder, known).as_dict()


def explain(folder: str, original: str, rows: str, row: int) -> dict[str, Any]:
    """Why the cells of a row of the original are as coarse as they are."""
    from shoal.attacks._explained_cells import explain_row

    release, data = _both(folder, original, _stamp(original))
    if not isinstance(data, Table):
        raise WrongUse("Only rows of a table can be explained.")
    return explain_row(data, release, row, np.load(rows)).as_dict()


def reconstruction(folder: str, seed: int) -> list[list[str]]:
    """Some baskets that a release of clusters or groups could have come from."""
    from shoal.data._reconstruct import reconstructed
    from shoal.io.releases.folder import read_release

    drawn = reconstructed(read_release(folder).data, 1, seed)[0]
    full = np.flatnonzero(drawn.lengths)
    chosen = np.random.default_rng(seed).permutation(full)[:DRAWN]
    return [list(drawn.basket(row)) for row in np.sort(chosen).tolist()]


def pack(folder: str, population: str | None, packed: str) -> list[dict[str, Any]]:
    """Judge a written release again from its files and, if every verdict holds, pack it into a zip file."""
    from shoal.io.releases.folder import RELEASE
    from shoal.verification import verify

    verdicts = verify(folder, population=population)
    if all(verdict.holds for verdict in verdicts):
        release = Path(folder) / RELEASE
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in release.rglob("*") if path.is_file()):
                archive.write(path, Path(RELEASE) / path.relative_to(release))
    return [verdict.as_dict() for verdict in verdicts]


@lru_cache(maxsize=2)
def _both(folder: str, original: str, stamp: int) -> tuple[Any, Any]:
    from shoal.measuring import read_original

    release, data, _ = read_original(folder, original)
    return release, data


def _stamp(path: str) -> int:
    return os.stat(path).st_mtime_ns


def _table(source: Source) -> Table:
    table = _cached(source.path, _stamp(source.path), source.model_dump_json())
    assert isinstance(table, Table)
    return table


def _baskets(source: Source) -> Baskets:
    layout = source.model_dump_json() + " "
    baskets = _cached(source.path, _stamp(source.path), layout)
    assert isinstance(baskets, Baskets)
    return baskets


@lru_cache(maxsize=3)
def _cached(path: str, stamp: int, asked: str) -> Table | Baskets:
    """Read data, and remember it; a blank at the end of `asked` says that it holds baskets."""
    source = Source.model_validate_json(asked)
    reading = source.reading
    if asked.endswith(" "):
        return load_baskets(Request(path, Roles(), reading, layout=source.baskets)).data  # type: ignore[no-any-return]
    return load_table(Request(path, Roles(others="insensitive"), reading)).data  # type: ignore[no-any-return]

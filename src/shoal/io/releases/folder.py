"""The release folder: what is published, and beside it what only the owner of the data may see.

It is written under another name beside its place and renamed at the end, so that a crash leaves nothing half-written.
"""

import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Items, flagged
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.linked import Linked
from shoal.data.published_syntax import refuse_unsafe_names
from shoal.data.related import Related
from shoal.data.release import Published, Release, refuse_changed
from shoal.data.role import Role
from shoal.data.summary import Summary
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.io.baskets.layouts import published_name
from shoal.io.reading import Reading, own_reading
from shoal.io.releases.clustered_files import ITEM_LINES, with_lines, write_lines
from shoal.io.releases.data_package import DESCRIPTOR, README, copies_named, own_version
from shoal.io.releases.linked_files import SECRET_NAMES, read_linked, write_linked
from shoal.io.releases.related_files import RECORD_NAMES, read_related, write_related
from shoal.io.releases.release_json import (
    PERSONS,
    baskets_in_roles,
    baskets_shape,
    facts_text,
    read_facts,
    read_named_table,
    roles_of,
)
from shoal.io.releases.summary_file import read_summary, summary_shape
from shoal.io.source import is_part, refuse_address, write_errors
from shoal.io.tables.load import read_published_table, write_table

DATA_NAMES = ("data.csv", "data.parquet", "data.dat", "data.spmf", "data.jsonl")


def write_data(
    data: Published | Dataset, folder: Path, table_format: str, safe_cells: bool = False
) -> dict[str, Any]:
    """Write the data file into a folder, in canonical order.

    Returns what release.json says about its shape: the form, columns with roles or sensitive items, and counts. Only
    what can be seen in the data file too.
    """
    if isinstance(data, Dataset):
        from shoal.io.releases.distributed import write_parts

        return write_parts(data, folder, table_format, safe_cells)
    if isinstance(data, Related):
        return write_related(data, folder, table_format, safe_cells)
    if isinstance(data, Table):
        if safe_cells:
            refuse_unsafe_names(data)
        write_table(_in_canonical_order(data), folder / f"data.{table_format}", safe_cells=safe_cells)
        shape = {"form": "table", "columns": list(map(_entry, data.columns)), **counts_of(data)}
        if isinstance(data, ClusteredTable):
            write_lines(data, folder)
            shape |= {"form": "clustered", "sets": data.items}
        return {**shape, "safe_cells": True} if safe_cells else shape
    if isinstance(data, Linked):
        return write_linked(data, folder, table_format, safe_cells)
    if isinstance(data, Baskets):
        return _write_baskets(data, folder)
    if isinstance(data, Summary):
        write_table(_in_canonical_order(data.cells), folder / f"data.{table_format}")
        return summary_shape(data)
    from shoal.io.releases.set_lines import write_clusters, write_groups

    if isinstance(data, Groups):
        write_groups(data, folder / "data.jsonl")
        return {"form": "groups", **counts_of(data)}
    write_clusters(data, folder / "data.jsonl")
    return {"form": "clusters", **counts_of(data)}


def counts_of(data: Published) -> dict[str, int]:
    """How much is published: what release.json says and the data file must bear out."""
    if isinstance(data, ClusteredTable):
        return {"rows": data.rows, **_items_in_clusters(data.clusters)}
    if isinstance(data, Related):
        return {"rows": data.rows, "record_rows": data.records.rows}
    if isinstance(data, Table):
        return {"rows": data.rows}
    if isinstance(data, Linked):
        return {"rows": data.rows, "groups": len(data)}
    if isinstance(data, Summary):
        return {"cells": len(data)}
    if isinstance(data, Baskets):
        return {"baskets": len(data), "items": len(data.vocabulary)}
    if isinstance(data, Groups):
        items = _used(len(data.vocabulary), data.items, data.sensitive_items)
        return {"baskets": int(data.group_indptr[-1]), "groups": len(data), "items": items}
    return {"baskets": int(data.sizes.sum()), **_items_in_clusters(data)}


def _items_in_clusters(clusters: Clusters) -> dict[str, int]:
    items = _used(len(clusters.vocabulary), clusters.items, clusters.terms)
    return {"clusters": clusters.count, "items": items}


def _used(width: int, *items: Items) -> int:
    """How many of so many items occur."""
    return int(np.logical_or.reduce([flagged(some, width) for some in items]).sum())


def read_data(folder: Path, shape: Mapping[str, Any]) -> Published:
    """Read the data file of a folder; its shape is what `write_data` returned.

    Raises `BadData` if the file is not there, there are two, or it does not have that shape.
    """
    path = data_file(folder, shape)
    data = _read(path, shape)
    refuse_changed(shape, counts_of(data), path)
    return data


def _read(path: Path, shape: Mapping[str, Any]) -> Published:
    if shape["form"] in ("table", "clustered"):
        table = read_named_table(path, roles_of(shape["columns"]), shape)
        lines = path.with_name(ITEM_LINES)
        return table if shape["form"] == "table" else with_lines(table, lines, shape["sets"])
    if shape["form"] == "related":
        return read_related(path, shape)
    if shape["form"] == "linked":
        return read_linked(path, shape)
    if shape["form"] == "summary":
        return read_summary(read_published_table(path, (), reading=own_reading(path)), shape, path)
    if shape["form"] == "baskets":
        from shoal.io.baskets.load import load_baskets

        reading = Reading(separator=shape.get("separator"))
        baskets = load_baskets(path, shape["layout"], reading, published=True).baskets
        return baskets_in_roles(baskets, shape)
    from shoal.io.releases.set_lines import read_clusters, read_groups

    return read_groups(path) if shape["form"] == "groups" else read_clusters(path)


def _write_baskets(data: Baskets, folder: Path) -> dict[str, Any]:
    """Write baskets without items that none of them holds: their names alone would reveal the input."""
    from shoal.io.baskets.load import write_baskets

    supports = data.supports
    if len(supports) and not supports.all():
        data = data.keep(supports > 0)
    data = data.take(data.canonical_order())
    write_baskets(data, folder / published_name(data.layout))
    return baskets_shape(data, len(data))


def _entry(column: Column) -> dict[str, str]:
    """What release.json says about a column."""
    note = {"note": PERSONS} if column.role is Role.ENTITY else {}
    return {"name": column.name, "role": str(column.role), **note}


def _in_canonical_order(table: Table) -> Table:
    """The table in canonical order; a table that is so already is only looked through, not sorted."""
    undecided = np.ones(max(table.rows - 1, 0), dtype=np.bool_)
    for column in table.columns:
        ranks = column.domain.ranks()[column.codes]
        if (undecided & (ranks[1:] < ranks[:-1])).any():
            return table.take(canonical_order(table.columns))
        undecided &= ranks[1:] == ranks[:-1]
    return table


def data_file(folder: Path, shape: Mapping[str, Any]) -> Path:
    """The data file of a published folder, which may be a folder of part files; its name is one of its form."""
    there = [folder / name for name in DATA_NAMES if (folder / name).exists()]
    if not there:
        raise BadData(
            f"the published data is not there: one of {', '.join(DATA_NAMES)}. Fetch the whole folder again.",
            folder,
        )
    if len(there) > 1:
        names = " and ".join(path.name for path in there)
        raise BadData(f"there are {names}, and only one can be what was published. Remove the other.", folder)
    fitting = _names_of(shape)
    if there[0].name not in fitting:
        raise BadData(
            f"release.json says {shape['form']}, whose file is called {' or '.join(fitting)}. Fetch the folder again.",
            there[0],
        )
    return there[0]


def _names_of(shape: Mapping[str, Any]) -> tuple[str, ...]:
    if shape["form"] in ("table", "clustered", "related", "linked", "summary"):
        return "data.csv", "data.parquet"
    return (published_name(shape["layout"]) if shape["form"] == "baskets" else "data.jsonl",)


RELEASE, FACTS, RUN, REPORT, PRINTED = "release", "release.json", "run.json", "report.html", "report.pdf"
NO_PART = "it is not part of the release"
OWN_NAMES = frozenset({RELEASE, RUN, REPORT, PRINTED})
"""What Shoal writes into OUT: all else there belongs to somebody else, and survives a replacement."""


def write_release(
    folder: str | Path,
    release: Release[Any],
    *,
    force: bool = False,
    table_format: str = "csv",
    safe_cells: bool = False,
    check: Callable[[Path], None] | None = None,
) -> Path:
    """Write a release into a new folder, completely or not at all; folders above it are made as well.

    Rows are put into canonical order if they are not.

    `force`: replace a folder of an earlier release, once the new one is complete. Files in it that Shoal did not write
    are carried over. A folder that is not empty and holds no release is never replaced. `table_format`: ``csv`` or
    ``parquet``, for tables. `safe_cells`: put an apostrophe before cells of a table as csv that a spreadsheet would run
    as formulas. `check`: called with the complete folder before it gets its name, to judge it and to add private files;
    if it raises, nothing is left behind. Raises `WrongUse` if the folder is there already, or is not one of ours, and
    `CannotWrite` if the disk is full, for example.
    """
    if table_format not in ("csv", "parquet"):
        raise WrongUse(f"A table is published as csv or parquet, not as {table_format!r}.")
    if safe_cells and table_format != "csv":
        raise WrongUse("Safe cells are for csv, which spreadsheets open; omit --safe-cells.")
    refuse_address(folder, writing=True)
    place = Path(folder).absolute()
    if place.is_symlink():
        place = place.resolve()
    _check_place(place, folder, force)
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.partial")
    with _tidy(draft, folder):
        published = draft / RELEASE
        published.mkdir(parents=True)
        shape = write_data(release.data, published, table_format, safe_cells)
        (published / FACTS).write_text(facts_text(release, shape, own_version()), encoding="utf-8")
        if check is not None:
            check(draft)
        _put(draft, place)
    return Path(folder)


def read_release(folder: str | Path) -> Release:
    """Read a release back from the folder it was written to, or from the published folder inside.

    Cells are read raw: nothing is guessed, not even what is missing.

    Raises
    ------
    BadData
        If there is no release, a part of it is missing or damaged, or a newer version of Shoal wrote it.
    """
    published = published_folder(folder)
    facts = read_facts(published / FACTS)
    return facts.release(read_data(published, facts.shape))


def published_folder(folder: str | Path) -> Path:
    """The folder that is published: the one inside that a release was written to, or itself.

    Raises `BadData` if there is no release.
    """
    refuse_address(folder)
    place = Path(folder)
    published = place if (place / FACTS).is_file() else place / RELEASE
    if not (published / FACTS).is_file():
        there = (
            "there is no such folder"
            if not place.exists()
            else f"there is no {FACTS}, so it is not a release"
        )
        raise BadData(
            f"{there}. Name the folder that `shoal anonymize … -o` made, or its folder {RELEASE}.", place
        )
    return published


def strays(folder: str | Path) -> list[tuple[str, str]]:
    """What lies in a published folder and is no part of the release, by its path inside, and why.

    A published folder holds release.json and one data file, or a folder of its name with part files of its ending
    alone, where the form has one the file beside it (secrets, clusters of items, records), and what goes with the data
    (datapackage.json, README.md, and the copies for other programs that the former names): nothing hidden, no links, no
    folders.

    `folder`: the folder that a release was written to, or the published folder inside.
    """
    published = published_folder(folder)
    found: list[tuple[str, str]] = []
    known = (
        *(FACTS, DESCRIPTOR, README, *DATA_NAMES, *copies_named(published)),
        *_files_beside(published),
    )
    for entry in sorted(published.iterdir()):
        if entry.name in known:
            if entry.is_symlink():
                found.append((entry.name, "it is a link"))
            elif entry.is_dir() and entry.name in DATA_NAMES:
                found += [
                    (f"{entry.name}/{part.name}", NO_PART)
                    for part in sorted(entry.iterdir())
                    if not is_part(part, entry.suffix)
                ]
        else:
            found.append((entry.name, NO_PART))
    return found


def _files_beside(published: Path) -> tuple[str, ...]:
    """The files that may lie beside the data file, as the form in release.json has them."""
    try:
        form = read_facts(published / FACTS).shape["form"]
    except BadData:
        return ()
    return {"linked": SECRET_NAMES, "clustered": (ITEM_LINES,), "related": RECORD_NAMES}.get(form, ())


def is_release(folder: object) -> bool:
    """Whether a path is a folder that a release was written to, or the published folder inside."""
    if not isinstance(folder, str | Path):
        return False
    return any((Path(folder) / place / FACTS).is_file() for place in (".", RELEASE))


def read_run(folder: str | Path) -> tuple[dict[str, Any], dict[str, Hierarchy]]:
    """The recipe and the hierarchies of a run, by column, from the private run.json beside its release.

    Raises `BadData` if there is no run.json, or it is damaged.
    """
    path = Path(folder) / RUN
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        summary = kept["method"] == "summarize" if "method" in kept else False
        recipe, hierarchies = ({}, {}) if summary else (dict(kept["recipe"]), dict(kept["hierarchies"]))
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(
            "there is no such file. Name the folder that `shoal anonymize … -o` made, with its private files: run.json "
            "tells how the original is read, who is who, and the hierarchies.",
            path,
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData("the file cannot be read; make the release again.", path) from error
    if summary:
        raise WrongUse(f"{folder} holds cross-tables, and no rows that could be compared, attacked or found.")
    from shoal.io.hierarchies.load import hierarchy_from_data

    return recipe, {column: hierarchy_from_data(data) for column, data in hierarchies.items()}


def _check_place(place: Path, folder: str | Path, force: bool) -> None:
    if not place.name:
        raise WrongUse(f"{folder} cannot be the name of a new folder.")
    if not place.exists():
        return
    if not place.is_dir():
        raise WrongUse(f"{folder} is a file; choose another name for the folder.")
    if not force:
        raise WrongUse(f"The folder {folder} is there already; use --force to replace it, or choose another.")
    if not (place / RELEASE / FACTS).is_file() and any(place.iterdir()):
        raise WrongUse(
            f"The folder {folder} is not empty and holds no release of Shoal, so it is not replaced; choose another."
        )


@contextmanager
def _tidy(draft: Path, folder: str | Path) -> Iterator[None]:
    """Remove the draft if anything goes wrong, and say what to do if the file system refuses."""
    try:
        yield
    except write_errors() as error:
        # Writers of single files say which file they could not write: that of the draft, which tells the user nothing.
        cause = error.__cause__ if isinstance(error, CannotWrite) else error
        assert isinstance(cause, Exception)
        raise CannotWrite(f"The release {folder}", cause) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _put(draft: Path, place: Path) -> None:
    """Put a complete draft in its place; what was there before goes only then."""
    if not place.exists():
        draft.rename(place)
        return
    old = place.with_name(f".{place.name}.{secrets.token_hex(4)}.old")
    place.rename(old)
    try:
        draft.rename(place)
    except BaseException:
        old.rename(place)
        raise
    for entry in sorted(old.iterdir()):
        if entry.name not in OWN_NAMES and not (place / entry.name).exists():
            entry.rename(place / entry.name)
    shutil.rmtree(old, ignore_errors=True)

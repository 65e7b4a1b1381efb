"""Hierarchies from and to files, and as plain data.

What each format looks like stands in `hierarchy_formats`; what a good hierarchy is, in `hierarchy_check`.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np

from shoal.data.domain import Domain
from shoal.data.hierarchy import ROOT, Hierarchy
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.io.hierarchies.check import Levels, examine, leaf_ranges
from shoal.io.hierarchies.formats import NULL, Edges, parse

Format = Literal["arx", "edges", "amnesia", "amnesia-json"]

SUFFIXES = (".csv", ".tsv", ".txt", ".json")
"""How the names of hierarchy files in a folder end."""


def read_hierarchy(path: str | Path, domain: Domain | None = None) -> Hierarchy:
    """Read a hierarchy file; the format is found out from its content.

    ARX's rows (``;``, one line a value, from the value to ``*``), the same with commas or tabs, ``child,parent`` lists,
    Amnesia's text and JSON, and mosaicrown's JSON are read. The root is ``*`` whatever the file calls it, and is added
    where the file has none. A branch that is shorter than the others repeats its leaf.

    Parameters
    ----------
    domain
        The values of the column. Only hierarchies of ranges need it, to know what lies in them; `Hierarchy.covering`
        checks that all values are covered.

    Raises
    ------
    BadData
        With path and line of the first fault; `shoal.io.hierarchies.check.check` lists all.
    """
    parsed = parse(path)
    found, levels = examine(parsed)
    if found:
        first = min(found, key=lambda finding: (finding.line is None, finding.line or 0))
        more = f" ({len(found)} faults in all: `shoal hierarchy check` lists them.)" if len(found) > 1 else ""
        raise BadData(f"{first.message}{more}", path=path, line=first.line)
    if isinstance(parsed, Edges) and parsed.ranges:
        return _of_ranges(parsed, levels, domain, path)
    return levels.hierarchy()


def read_hierarchies(
    folder: str | Path, columns: Iterable[str] | Mapping[str, Domain]
) -> dict[str, Hierarchy]:
    """Read the hierarchies of columns from a folder; files of other columns are left alone.

    The file of a column is called ``<column>.csv`` or ``<anything>_hierarchy_<column>.csv``, or the same with
    ``.tsv``, ``.txt`` or ``.json``. A column without a file has no hierarchy.

    `columns`: the names of the columns; with their domains if hierarchies of ranges are to be read. Raises `BadData`
    if the folder cannot be read, if two files claim one column, or if a file has a fault.
    """
    domains = columns if isinstance(columns, Mapping) else {}
    files = hierarchy_files(folder, columns)
    return {column: read_hierarchy(path, domains.get(column)) for column, path in files.items()}


def hierarchy_files(folder: str | Path, columns: Iterable[str]) -> dict[str, Path]:
    """Find the files of the hierarchies of columns in a folder, as `read_hierarchies` reads them."""
    try:
        files = sorted(
            path for path in Path(folder).iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()
        )
    except OSError as error:
        raise BadData(
            f"the folder of hierarchies cannot be read: {error.strerror or error}.", path=folder
        ) from None
    found = {}
    for column in columns:
        claims = [path for path in files if path.stem == column or path.stem.endswith(f"_hierarchy_{column}")]
        if len(claims) > 1:
            names = " and ".join(path.name for path in claims)
            raise BadData(
                f"{names} are both hierarchies of the column; keep one of them, or name it: "
                f"--hierarchy {column}={claims[0]}.",
                path=folder,
                column=column,
            )
        if claims:
            found[column] = claims[0]
    return found


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, format: Format = "arx") -> None:
    """Write a hierarchy to a file.

    `format`: ``arx``: one line a value, from the value to ``*``, separated by ``;``. ``edges``: ``child,parent``.
    ``amnesia``, ``amnesia-json``: Amnesia's formats. All but the first hold the tree alone: a node that is repeated on
    several levels is written once, and on reading the leaves of short branches are repeated. Raises `WrongUse` if the
    format cannot hold the texts of the hierarchy.
    """
    writers = {
        "arx": _write_rows,
        "edges": _write_edges,
        "amnesia": _write_amnesia,
        "amnesia-json": _write_amnesia_json,
    }
    if format not in writers:
        raise WrongUse(f"A hierarchy is written as {', '.join(writers)}, not as {format!r}.")
    if format != "arx":
        _refuse_returning_texts(hierarchy)
    if format == "amnesia":
        _refuse_blanks(hierarchy)
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writers[format](hierarchy, file)
    except OSError as error:
        raise CannotWrite(f"The hierarchy {path}", error) from error


def hierarchy_as_data(hierarchy: Hierarchy) -> dict[str, Any]:
    """A hierarchy as plain data, ready for JSON."""
    return {
        "labels": [list(texts) for texts in hierarchy.labels],
        "parents": [parents.tolist() for parents in hierarchy.parents],
        "by_width": hierarchy.by_width,
    }


def hierarchy_from_data(data: Mapping[str, Any]) -> Hierarchy:
    """The hierarchy of plain data made by `hierarchy_as_data`. Raises `BadData` if the data is not of that shape."""
    try:
        labels = tuple(tuple(str(text) for text in texts) for texts in data["labels"])
        parents = tuple(np.array(parents, dtype=np.int32) for parents in data["parents"])
        shapes = [
            len(up) == len(here) and bool(np.all((up >= 0) & (up < len(above))))
            for up, here, above in zip(parents, labels[:-1], labels[1:], strict=True)
        ]
        if shapes and all(shapes) and len(labels[-1]) == 1:
            return Hierarchy(labels, parents, bool(data["by_width"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    raise BadData("the kept hierarchy cannot be read; give the hierarchy file again.")


def _of_ranges(edges: Edges, levels: Levels, domain: Domain | None, path: str | Path) -> Hierarchy:
    """The hierarchy of the values of a domain that lie in ranges; others are left for `covering` to complain of."""
    if domain is None:
        raise BadData(
            "this is a hierarchy of ranges, and says nothing without the values that lie in them; give the data too.",
            path=path,
        )
    leaves = leaf_ranges(edges, levels, domain)
    inside = np.flatnonzero(leaves >= 0)
    texts = (*(domain.labels[code] for code in inside), *levels.texts)
    above = levels.numbers[:, leaves[inside]] + len(inside)
    numbers = np.vstack([np.arange(len(inside), dtype=np.int32), above]).astype(np.int32)
    return Levels(texts, numbers, [None] * len(inside)).hierarchy(by_width=True)


def _edges_upward(hierarchy: Hierarchy) -> Iterator[tuple[int, str, str]]:
    """The level of the parent, the child and the parent of each edge of the tree, repeats left out; leaves first."""
    for level, parents in enumerate(hierarchy.parents):
        above = hierarchy.labels[level + 1]
        for child, parent in zip(hierarchy.labels[level], parents.tolist(), strict=True):
            if child != above[parent]:
                yield level + 1, child, above[parent]


def _refuse_returning_texts(hierarchy: Hierarchy) -> None:
    parent_of: dict[str, str] = {}
    for _, child, parent in _edges_upward(hierarchy):
        if parent_of.setdefault(child, parent) != parent:
            raise WrongUse(
                f"The text {child!r} comes again above other texts, which only the format arx can hold; write that."
            )


def _refuse_blanks(hierarchy: Hierarchy) -> None:
    for texts in hierarchy.labels:
        for text in texts:
            if len(text.split()) > 1 or text.strip() != text or text == "has":
                raise WrongUse(
                    f"Amnesia's text format has blanks between names, so it cannot hold {text!r}; "
                    "write amnesia-json."
                )


def _write_rows(hierarchy: Hierarchy, file: TextIO) -> None:
    csv.writer(file, delimiter=";", lineterminator="\n").writerows(hierarchy.paths())


def _write_edges(hierarchy: Hierarchy, file: TextIO) -> None:
    # A value with another format's separator would mislead the reader, unless it is quoted.
    misleading = any(mark in text for texts in hierarchy.labels for text in texts for mark in ";\t")
    quoting: Literal[0, 1] = csv.QUOTE_ALL if misleading else csv.QUOTE_MINIMAL
    writer = csv.writer(file, lineterminator="\n", quoting=quoting)
    writer.writerows((child, parent) for _, child, parent in _edges_upward(hierarchy))


def _children(hierarchy: Hierarchy) -> list[dict[str, list[str]]]:
    """The children of each node, a dictionary for each level of parents, lowest first."""
    levels: list[dict[str, list[str]]] = [{} for _ in hierarchy.parents]
    for level, child, parent in _edges_upward(hierarchy):
        levels[level - 1].setdefault(parent, []).append(child or NULL)
    return levels


def _write_amnesia(hierarchy: Hierarchy, file: TextIO) -> None:
    file.write(f"distinct\nname {_name(file)}\ntype string\nheight {len(hierarchy.labels)}\n")
    for level in _children(hierarchy):
        file.write("\n")
        for parent, children in level.items():
            file.write(f"{parent} has {' '.join(children)} \n")


def _write_amnesia_json(hierarchy: Hierarchy, file: TextIO) -> None:
    content: dict[str, Any] = {
        "name": _name(file),
        "type": "string",
        "height": len(hierarchy.labels),
        "hierType": "distinct",
    }
    for number, level in enumerate(reversed(_children(hierarchy)), start=1):
        content[f"level{number}"] = level
    json.dump(content, file, ensure_ascii=False, indent=1)
    file.write("\n")


def _name(file: TextIO) -> str:
    return "_".join(Path(file.name).stem.split()) or ROOT

"""A table whose items are in clusters as two files: its rows, and the clusters, each on a line with its class."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.clustered_table import ClusteredTable
from shoal.data.table import Table, cell_ranks
from shoal.errors import BadData

ITEM_LINES = "items.jsonl"
"""The file of the clusters, beside the data file of the rows."""


def write_lines(data: ClusteredTable, folder: Path) -> None:
    """Write the clusters in canonical order: by the cells of their classes, then by what they hold.

    ``{"class": {"age": "[20,29]"}, "cluster": {"size": 5, "chunks": [[["flu"], …], …], "terms": ["ikea"]}}``
    """
    from shoal.io.releases.set_lines import ordered_clusters, tree_lines

    ordered, order = ordered_clusters(data.clusters)
    holders = data.holders[data.lines[order[ordered.parents < 0]]]
    trees = tree_lines(ordered)
    by_class = np.argsort(cell_ranks(data.quasi)[holders], kind="stable").tolist()
    kinds, place = np.unique(holders, return_inverse=True)
    cells = [json.dumps(_cells(data, row), ensure_ascii=False) for row in kinds.tolist()]
    with (folder / ITEM_LINES).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f'{{"class": {cells[place[line]]}, "cluster": {trees[line]}}}\n' for line in by_class)


def with_lines(table: Table, path: Path, items: str) -> ClusteredTable:
    """A table that was read, with the clusters that lie beside it.

    Raises `BadData` with its line, if the file is missing, a line is malformed, or its class has no row.
    """
    from shoal.io.releases.set_lines import Lines, check_keys, read_clusters, read_json_lines

    if not path.is_file():
        raise BadData("the clusters of the items are not there. Fetch the whole folder again.", path)
    if items in table.names:
        raise BadData(
            f"the items are called like a column of the table, {items!r}. Fetch the folder again.", path
        )
    names = tuple(column.name for column in table.quasi)
    clustered = ClusteredTable(
        table.columns, items, read_clusters(Lines("", ())), np.empty(0, dtype=np.int64)
    )
    known = {
        tuple(map(json.dumps, _cells(clustered, row).values())): row
        for row in clustered.classes.first.tolist()
    }
    holders, texts = [], []
    for place, entry in read_json_lines(path):
        check_keys(entry, ("class", "cluster"), place)
        check_keys(entry["class"], names, place)
        row = known.get(tuple(json.dumps(entry["class"][name]) for name in names))
        if row is None:
            raise BadData("no row of the table is of that class: the files do not belong together.", *place)
        holders.append(row)
        texts.append(json.dumps(entry["cluster"], ensure_ascii=False))
    clusters = read_clusters(Lines(path.name, texts))
    return ClusteredTable(table.columns, items, clusters, np.array(holders, dtype=np.int64))


def _cells(data: Table, row: int) -> dict[str, Any]:
    return {column.name: column.domain.labels[column.codes[row]] for column in data.quasi}

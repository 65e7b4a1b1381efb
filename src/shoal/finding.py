"""Find somebody in a written release, or explain the cells of one row of its original.

::

    shoal.find("out", {"age": "39", "zip": "13053"})
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.attacks._explained_cells import Explanation, explain_row
from shoal.attacks._find import Found, find_in
from shoal.data.hierarchy import Hierarchy
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.measuring import read_original


def find(folder: str | Path, known: Mapping[str, str] | Sequence[str]) -> Found:
    """What a neighbour finds in a release who knows some columns or items of somebody.

    Parameters
    ----------
    folder
        Of a release. Where its private run.json is there, its hierarchies tell what published cells mean.
    known
        Columns and their values, or items of a basket.
    """
    from shoal.io.releases.folder import RUN, read_release, read_run

    release = read_release(Path(folder))
    trees: Mapping[str, Hierarchy] = {}
    sensitive: Sequence[str] = ()
    if (Path(folder) / RUN).is_file():
        recipe, trees = read_run(folder)
        sensitive = tuple(recipe.get("roles", {}).get("sensitive", ()))
    return find_in(release, known, trees, sensitive)


def explain(folder: str | Path, original: Any, row: int) -> Explanation:
    """Why the cells of a row of the original, counted from 0, are as coarse as they are."""
    release, data, _ = read_original(folder, original)
    if not isinstance(data, Table):
        raise WrongUse("Only rows of a table are explained; say with --known what is known of a basket.")
    return explain_row(data, release, row)

"""The population beside which published files are judged, and what their cells mean there."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.methods.table_method import read_population
from shoal.sources import hierarchies_of, hierarchy_of


@dataclass(frozen=True, slots=True)
class Trees:
    """The hierarchies of a population's columns: a published cell may be a node of one.

    Parameters
    ----------
    hierarchies
        The hierarchy of a column of the population, whose nodes published cells are: a file, or how to build one.
    folder
        Folder of such hierarchies: <column>.csv and *_hierarchy_<column>.csv.
    orders
        The values of an ordinal column in ascending order: a published cell may be a range of them.
    """

    hierarchies: Mapping[str, str | Hierarchy] = field(default_factory=dict)
    folder: str | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def population(self, path: str | None, table: Table, source: str | Path | Release[Any]) -> Table | None:
        """Read the population of a published table, with the hierarchies that are given, or kept beside a release.

        A value of the population that a hierarchy misses matches the root alone, as it does where a release is made.

        Parameters
        ----------
        path
            Its file; None where there is none.
        source
            Where the table comes from: a folder that holds run.json tells the hierarchies and orders of the run.

        Raises
        ------
        UnknownName
            If a hierarchy is given to a column that is no quasi-identifier of the table.
        WrongUse
            If there are hierarchies and no population.
        """
        given = bool(self.hierarchies) or self.folder is not None
        if path is None:
            if given:
                raise WrongUse(
                    "Hierarchies have no effect here: they tell what published cells mean in a population. Give its "
                    "file with --population, or leave them away."
                )
            return None
        kept, orders = _kept(source)
        population = read_population(path, table, {**orders, **self.orders})
        trees = (
            hierarchies_of(population, self.hierarchies, self.folder)
            if given
            else {name: tree for name, tree in kept.items() if name in population.names}
        )
        population.select(trees)
        columns = []
        for column in population.columns:
            hierarchy = hierarchy_of(column, trees[column.name]) if column.name in trees else column.hierarchy
            if hierarchy is not None and not hierarchy.missed(column.domain):
                hierarchy = hierarchy.covering(column.domain, column.name)
            columns.append(replace(column, hierarchy=hierarchy))
        return Table(tuple(columns))


def _kept(
    source: str | Path | Release[Any],
) -> tuple[dict[str, str | Hierarchy], dict[str, tuple[str, ...]]]:
    """The hierarchies and orders of columns in the private run.json of a folder, where it has one."""
    from shoal.io.releases.folder import RUN, read_run

    if isinstance(source, Release) or not (Path(source) / RUN).is_file():
        return {}, {}
    recipe, trees = read_run(source)
    reading = recipe.get("source", {}).get("reading", {})
    return {**trees}, {name: tuple(order) for name, order in reading.get("orders", {}).items()}

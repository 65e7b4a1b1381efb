"""The texts that each level of a hierarchy publishes, each once."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Rows
from shoal.data.table import Column


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Every text that a column can publish.

    Several nodes may carry one text: a short branch of a hierarchy repeats its node on several levels. What is
    published, counted and measured is the text.
    """

    labels: tuple[str, ...]  # the texts
    places: Rows  # the text of each code of the domain (columns) on each level (rows)


def texts_of(column: Column, finest: int = 0) -> Texts:
    """The texts of a column's hierarchy; levels below the finest one that is allowed have its texts."""
    assert column.hierarchy is not None
    numbers: dict[str, int] = {}
    leaves = column.hierarchy.leaf_of(column.domain)
    places = np.empty((len(column.hierarchy.labels), len(leaves)), dtype=np.int64)
    for level, labels in enumerate(column.hierarchy.labels):
        here = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        places[level] = here[column.hierarchy.nodes_at(level)[leaves]]
    places[:finest] = places[finest]
    return Texts(tuple(numbers), places)

"""A table or baskets that were read, and what cannot be seen in them any more."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.data.baskets import Baskets
from shoal.data.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """A table as it comes from its source.

    Parameters
    ----------
    table
        The columns that are kept.
    left_out
        Rows that were left out because they have missing values.
    persons
        Columns that are not kept and are called like the numbers of persons, with how many values they have; only
        those in which a value repeats.
    taken
        What is said of how columns are taken: otherwise than by their type, or with a name that looks like data.
    """

    table: Table
    left_out: int = 0
    persons: Mapping[str, int] = field(default_factory=dict)
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BasketsArrival:
    """Baskets as they come from their source.

    Parameters
    ----------
    baskets
        With the roles of their items.
    remarks
        What their owner should hear of how they were taken, in sentences.
    """

    baskets: Baskets
    remarks: tuple[str, ...] = ()

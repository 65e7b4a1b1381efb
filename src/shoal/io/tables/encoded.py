"""A table or baskets that were read, and what cannot be seen in them any more."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """A table as it comes from its source."""

    table: Any  # the columns that are kept: a `Table`, or a `Dataset` of one
    left_out: int = 0  # rows that were left out because they have missing values
    persons: Mapping[str, int] = field(default_factory=dict)
    """Columns that are not kept and are called like the numbers of persons, with how many values they have; only those
    in which a value repeats."""
    taken: tuple[str, ...] = ()
    """What is said of how columns are taken: otherwise than by their type, or with a name that looks like data."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its owner should hear of how it was taken, in sentences: also that rows are counted, and not persons."""
        from shoal.risks.disclosure_warnings import rows_are_counted

        rows = self.table.rows + self.left_out
        return (*self.taken, *(rows_are_counted(name, count, rows) for name, count in self.persons.items()))


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBaskets:
    """Baskets as they come from their source."""

    baskets: Any  # with the roles of their items: `Baskets`, or a `Dataset` of them
    remarks: tuple[str, ...] = ()  # what their owner should hear of how they were taken, in sentences

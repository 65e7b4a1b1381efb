"""The release: the public result of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from typing_extensions import TypeVar

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.summary import Summary
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse

if TYPE_CHECKING:
    import pandas
    import polars

    from shoal.data._export import Ranges

Published: TypeAlias = Table | Baskets | Groups | Clusters | Linked | Summary
"""Published data in one of its forms."""

Data = TypeVar("Data", default=Published, covariant=True)
"""The type of published data; for rows outside of memory, `Dataset` has to be given explicitly."""


def form_name(data: object) -> str:
    """The form of published data in a word; every kind of table is called a table.

    >>> form_name(Table(()))
    'table'
    """
    return "table" if isinstance(data, Table) else type(data).__name__.lower()


@dataclass(frozen=True, slots=True, eq=False)
class Release(Generic[Data]):
    """The public object: published data, how it was made, and what it promises.

    Nothing here reveals the input: no path, no seed, no row number, and the order of the rows is the canonical order
    of the published values.

    Parameters
    ----------
    data
        The published data.
    method, parameters
        The name of the method and its parameters as plain data.
    promises
        The promised models as plain data: ``{"model": "k-anonymity", "k": 10}``.
    suppressed
        The number of rows that were left out, or published as rows of ``*``.
    details
        Public facts of the method, such as the generalization levels that it chose.
    """

    data: Data
    method: str
    parameters: Mapping[str, Any]
    promises: tuple[Mapping[str, Any], ...]
    suppressed: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        promises = ", ".join(str(promise.get("model")) for promise in self.promises) or "nothing"
        suppressed = f", {self.suppressed:,} suppressed" if self.suppressed else ""
        return f"<Release by {self.method}, promising {promises}: {self.data!r}{suppressed}>"

    def __str__(self) -> str:
        """How it was made, and what it promises."""
        from shoal.data._notebook import release_text

        return release_text(self)

    def _repr_html_(self) -> str:
        """The release as notebooks show it."""
        from shoal.data._notebook import release_html

        return release_html(self)

    def to_polars(self, ranges: "Ranges" = "text") -> "polars.DataFrame":
        """The published data as a polars frame.

        Columns of a table whose cells are exact have the type of their values (whole numbers, numbers, dates); missing
        cells are null. Linked tables become one frame: each row with its group and the lists of its group's secrets, or
        each person with her number and, for each column of her records, the list of their cells. Baskets, groups and
        clusters become long frames with one row per item: ``basket, item``; ``group, basket, item, count``;
        ``cluster, part, size, chunk, record, item``.

        `ranges`: how ranges of numbers and dates such as ``[20,29]`` are converted: ``text`` leaves the column as it is
        published, ``bounds`` gives two columns, ``age_low`` and ``age_high``, and ``middle`` the value halfway. With
        the last two, a suppressed cell is null.
        """
        from shoal.data._export import to_polars

        return to_polars(self.data, ranges)

    def to_pandas(self, ranges: "Ranges" = "text") -> "pandas.DataFrame":
        """The published data as a pandas frame, as `to_polars` gives it."""
        from shoal.data._export import to_pandas

        return to_pandas(self.data, ranges)

    def to_spark(self) -> Any:
        """The published rows of a run on Spark as a Spark frame; cells are texts, as they are published.

        Raises `WrongUse` if the rows are not on Spark.
        """
        from shoal.data._export import to_spark

        return to_spark(self.data)

    def estimate(self, column: str, by: str | Sequence[str] | None = None) -> "polars.DataFrame":
        """Estimate how many rows had each value of a perturbed column, without bias, from the published matrix.

        Parameters
        ----------
        column
            A column that the method perturbed (pram).
        by
            Other columns, to count for each combination of their values.

        Returns
        -------
        A polars frame with the values, how often they are published, the estimate and its standard deviation. An
        estimate may be negative: it is only right on average.

        Raises
        ------
        UnknownName
            If the column is not perturbed.
        """
        from shoal.data._perturbed import estimated

        if not isinstance(self.data, Table):
            raise WrongUse("Only the columns of a published table in memory are estimated.")
        return estimated(self.data, self.promises, column, (by,) if isinstance(by, str) else tuple(by or ()))

    def reconstruct(self, count: int = 1, seed: int = 1) -> tuple[Baskets, ...]:
        """Draw datasets from which the published clusters or groups could have been made.

        Run an analysis on several of them: results that agree on all are in the release; those that differ were lost
        when it was made.

        `count`: the number of datasets. `seed`: the seed of the first; the others use the following numbers, so that a
        larger count begins with the same datasets. Raises `WrongUse` if the published data can be used as it is.
        """
        from shoal.data._reconstruct import reconstructed

        return reconstructed(self.data, count, seed)


def refuse_changed(expected: Mapping[str, int], found: Mapping[str, int], path: str | Path | None) -> None:
    """Refuse a published file whose counts differ from those in release.json."""
    for what, number in sorted(found.items()):
        if what in expected and number != expected[what]:
            raise BadData(
                f"release.json says {expected[what]:,} {what}, the file has {number:,}: it was changed after it was "
                "made. Fetch the folder again.",
                path,
            )

"""What is published, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from typing_extensions import TypeVar

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.table import Table

if TYPE_CHECKING:
    import pandas
    import polars

Published: TypeAlias = Table | Baskets | Groups | Clusters
"""Published data in one of its four forms."""

Data = TypeVar("Data", default=Published, covariant=True)
"""The form of published data; rows elsewhere (`Dataset`) have to be named."""


@dataclass(frozen=True, slots=True, eq=False)
class Release(Generic[Data]):
    """The public object: published data, how it was made, and what it promises.

    Nothing here tells of the input: no path, no seed, no row number, and the order of the rows is the canonical order
    of the published values.

    Parameters
    ----------
    data
        What is published.
    method, parameters
        The name of the method and its parameters as plain data.
    promises
        The promised models as plain data: ``{"model": "k-anonymity", "k": 10}``.
    suppressed
        The number of rows that were left out (or published without their cells).
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

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from shoal.data._notebook import release_html

        return release_html(self)

    def to_polars(self) -> "polars.DataFrame":
        """The published table as a polars frame: texts as they are published, missing cells null."""
        from shoal.data._export import to_polars

        return to_polars(self.data)

    def to_pandas(self) -> "pandas.DataFrame":
        """The published table as a pandas frame."""
        from shoal.data._export import to_pandas

        return to_pandas(self.data)

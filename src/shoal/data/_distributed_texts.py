"""From ranks to published texts, where the rows are.

Rows in parts are put into canonical order by the ranks of their texts, because integers are sorted and moved faster
than texts; the texts are looked up at the end.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.data.table import Table

if TYPE_CHECKING:
    import polars

    from shoal.data.dataset import Frame


class PublishedTexts:
    """Looks the texts of ranks up: a work for `Parts.map`.

    `schema`: the published table without rows. The rank of a text is its place among the labels of its domain in
    code-point order; a missing cell is null.
    """

    def __init__(self, schema: Table) -> None:
        self._labels: dict[str, list[str | None]] = {}
        for column in schema.columns:
            labels: list[str | None] = [None] * len(column.domain)
            for code, rank in enumerate(column.domain.ranks().tolist()):
                labels[rank] = None if code == column.domain.missing else column.domain.labels[code]
            self._labels[column.name] = labels
        self._series: dict[str, polars.Series] = {}

    @property
    def ranked(self) -> dict[str, Any]:
        """The columns of ranks that go in."""
        import polars as pl

        return dict.fromkeys(self._labels, pl.Int32)

    @property
    def texts(self) -> dict[str, Any]:
        """The columns of texts that come out."""
        import polars as pl

        return dict.fromkeys(self._labels, pl.String)

    def __call__(self, frame: "Frame") -> "Frame":
        """The texts of each row."""
        import polars as pl

        if not self._series:
            self._series = {name: pl.Series(labels, dtype=pl.String) for name, labels in self._labels.items()}
        return pl.DataFrame(
            [
                texts.gather(pl.Series(frame[name].to_numpy().astype(np.uint32))).alias(name)
                for name, texts in self._series.items()
            ]
        )

    def __getstate__(self) -> dict[str, list[str | None]]:
        return self._labels

    def __setstate__(self, labels: dict[str, list[str | None]]) -> None:
        self._labels, self._series = labels, {}

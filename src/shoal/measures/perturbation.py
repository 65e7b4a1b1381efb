"""What perturbed columns still tell: their distribution, as it is published and as it is estimated."""

from typing import ClassVar

import numpy as np

from shoal.data._perturbed import matrix_of, weights_of
from shoal.data.release import Release
from shoal.measures.measure import Comparison, Score, TableMeasure


class Perturbation(TableMeasure):
    """The distance of the distribution of perturbed columns from the original one, as a share of the rows.

    perturbed_error
        As published: half of the sum of all differences of shares.
    estimated_error
        As readers estimate it from the published matrix, without bias.
    """

    name: ClassVar[str] = "perturbation"
    not_distributable: ClassVar[str | None] = "published and original values are counted together"
    scores_named: ClassVar[tuple[str, ...]] = ("perturbed_error", "estimated_error")

    def concerns(self, release: Release) -> bool:
        """Only releases of methods that perturb."""
        return bool(release.details.get("perturbed"))

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Count, estimate, and compare."""
        before, after = self.tables(both)
        raw: dict[str, float] = {}
        found: dict[str, float] = {}
        for name in both.release.details.get("perturbed", ()):
            matrix = matrix_of(both.release.promises, name)
            if matrix is None or name not in before.names:
                continue
            column, truth = after.column(name), before.column(name)
            known = dict(
                zip(truth.domain.labels, np.bincount(truth.codes, minlength=len(truth.domain)), strict=True)
            )
            wanted = np.array([known.get(value, 0) for value in matrix], dtype=np.float64)
            counts = np.bincount(column.codes, minlength=len(column.domain))
            places = {label: code for code, label in enumerate(column.domain.labels)}
            shown = np.array([counts[places[value]] if value in places else 0 for value in matrix])
            rows = max(before.rows, 1)
            raw[name] = float(np.abs(shown - wanted).sum() / 2 / rows)
            found[name] = float(np.abs(weights_of(column, matrix) @ counts - wanted).sum() / 2 / rows)
        if not raw:
            return ()
        return tuple(
            Score(score, sum(parts.values()) / len(parts), meaning, parts=parts)
            for score, parts, meaning in (
                ("perturbed_error", raw, "Distance of perturbed columns from the original, as published."),
                ("estimated_error", found, "The same, as estimated from the published matrix."),
            )
        )

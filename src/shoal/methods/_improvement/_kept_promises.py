"""The promises that changing classes must keep: which follow from class sizes, and which must be checked."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Mask, Rows, turns_of
from shoal.data.group_statistics import group_statistics
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.methods._improvement.method import averages_of
from shoal.models._exact import fraction
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel, columns_of, kept_by
from shoal.models.reidentification_risk import ReidentificationRisk


@dataclass(frozen=True, slots=True, eq=False)
class Promises:
    """The promises that classes must keep while rows move between them."""

    table: Table
    asked: tuple[TableModel, ...]  # the promises that are checked for every class that a step touches
    least: int  # the fewest rows that a class may have
    most: int  # the most classes that there may be
    frozen: bool  # whether suppressed rows stay so, because classes are compared with the whole release
    overall: dict[str, Counts]  # how often each sensitive value is published, for each sensitive column

    @classmethod
    def of(cls, models: tuple[TableModel, ...], table: Table, groups: Rows) -> "Promises":
        """The promises for classes that keep them at the start.

        Raises `WrongUse` if one of them cannot be checked class by class.
        """
        averages = averages_of(models)
        if averages and table.entity is not None:
            raise WrongUse(
                "The mean risk of persons with several rows cannot be kept while classes change; omit --improve, "
                "or promise --maximal-risk."
            )
        if any(getattr(model, "missing_matches_all", False) for model in models):
            raise WrongUse(
                "--improve does not go with --missing-matches-all: a missing cell matches other classes, and these "
                "change. Omit one of them."
            )
        single = [model for model in models if model not in averages]
        published = groups >= 0
        sizes = np.bincount(groups[published])
        least = max((model.least_size() for model in single), default=1)
        if averages:
            least = max(least, int(sizes[sizes > 0].min()))
        rows = int(published.sum())
        return cls(
            table,
            tuple(model for model in single if table.entity is not None or not _by_size(model)),
            least,
            min((int(fraction(model.risk) * rows) for model in averages), default=rows),
            any(model.relative for model in models) or bool(averages),
            {
                column.name: np.bincount(column.codes[published], minlength=len(column.domain)).astype(
                    np.int64
                )
                for column in table.select(columns_of(single))
            },
        )

    @property
    def by_size(self) -> bool:
        """Whether the sizes of classes decide about all promises."""
        return not self.asked

    def kept(self, of_row: Rows, classes: Rows, count: int, pool: int) -> Mask:
        """Which of some classes keep the promises; empty classes, and the class of suppressed rows, always do.

        `of_row`: the class of each row. `count`: a number above all class numbers. `pool`: the class of suppressed
        rows.
        """
        if not self.asked or not len(classes):
            return np.ones(len(classes), dtype=np.bool_)
        wanted = np.unique(classes)
        place = turns_of(wanted, count)
        groups = place[of_row]
        columns = tuple(self.overall)
        statistics = group_statistics(self.table, groups, len(wanted), columns, overall=self.overall)
        holds = kept_by(self.asked, statistics) | (statistics.sizes == 0) | (wanted == pool)
        answer: Mask = holds[place[classes]]
        return answer


def _by_size(model: TableModel) -> bool:
    """Whether `least_size` rows are all that a promise asks for if every person has one row."""
    return isinstance(model, KAnonymity) or (
        isinstance(model, ReidentificationRisk) and model.over == "maximal"
    )

"""What promises about cross-tables have in common."""

from typing import ClassVar

from shoal.data._plain_text import counted
from shoal.data.release import Published
from shoal.data.summary import Summary
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import UnknownName
from shoal.models._cell_bounds import CellBounds, Openness, bounds_of
from shoal.models.model import Model


class SummaryModel(Model):
    """A promise about the cells of cross-tables."""

    accepts: ClassVar[tuple[type, ...]] = (Summary,)

    def summary_of(self, published: Published) -> Summary:
        """The cross-tables that are judged."""
        self.accept(published)
        assert isinstance(published, Summary)
        return published

    def bounds(self, summary: Summary, value: str, openness: Openness) -> CellBounds:
        """What can be inferred of the hidden cells of a value.

        Raises `UnknownName` if the value is not published.
        """
        if value not in summary.values:
            raise UnknownName("value", value, summary.values)
        return bounds_of(summary, value, openness)

    def wrong_totals(self, summary: Summary, bounds: CellBounds) -> list[Offender]:
        """Totals that are not the sums of their parts."""
        return [Offender(summary.words(row), "it is not the sum of its parts") for row in bounds.wrong]

    def verdict(
        self,
        promise: str,
        offenders: list[Offender],
        value: float | int | None,
        threshold: float | int,
        remark: str,
    ) -> Verdict:
        """The verdict, with the first offenders."""
        shown = tuple(offenders[:SHOWN])
        return Verdict(self.name, promise, not offenders, value, threshold, shown, len(offenders), remark)


def hidden_words(bounds: CellBounds, noun: str) -> str:
    """How much is hidden, for a remark: nothing can be estimated too well where nothing is hidden."""
    if not len(bounds.rows):
        return f"no {noun} is hidden"
    return (
        f"{counted(len(bounds.rows), 'cells')} are hidden" if len(bounds.rows) > 1 else "one cell is hidden"
    )

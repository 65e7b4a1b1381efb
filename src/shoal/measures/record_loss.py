"""What persons with records lose of the records."""

from dataclasses import replace
from typing import ClassVar

from shoal.data.related import Related
from shoal.data.release import Release
from shoal.measures._comparison import Comparison
from shoal.measures.loss import Loss
from shoal.measures.measure import Score, TableMeasure


class RecordLoss(TableMeasure):
    """How much of the records of persons is lost, in a second table that is joined to the first.

    - **left_out_records**: The share of the records that are not published.
    - **record_loss**: The loss metric of the quasi-identifiers of records as a mean over the columns; a record that is
      left out loses all.

    Tables without such records have no such scores.
    """

    name: ClassVar[str] = "record-loss"
    scores_named: ClassVar[tuple[str, ...]] = ("left_out_records", "record_loss")

    def concerns(self, release: Release) -> bool:
        """Whether there are records."""
        return isinstance(release.data, Related)

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Count the records, and measure the loss of their cells."""
        original, release = both.original, both.release
        if not isinstance(original, Related) or not isinstance(release.data, Related):
            return ()
        before, after = original.records, release.data.records
        if not before.rows:
            return ()
        gone = Score(
            "left_out_records", 1 - after.rows / before.rows, "Share of the records that are left out."
        )
        cells = Comparison(before, replace(release, data=after, suppressed=before.rows - after.rows))
        found = [one.value for one in Loss().compare(cells) if one.name == "lm_mean"]
        words = "Loss of the records' cells, 0 to 1; one that is left out loses all."
        return (gone, *(Score("record_loss", value, words) for value in found))

"""The trace: the private information about a run, for the owner of the data alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.arrays import Rows, freeze


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The private side of a release. It is never written into the release folder."""

    rows: Rows  # for each published row, the row of the input it stands for
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds of each stage
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else the method reports, as plain data: steps, searched nodes, solutions. Sentences in a list under
    ``summary`` say what was chosen, and are shown first; those under ``warnings`` become warnings of the run."""

    def __post_init__(self) -> None:
        freeze(self, np.int64, "rows")

    def __repr__(self) -> str:
        notes = f"; notes: {', '.join(self.notes)}" if self.notes else ""
        return f"<Trace: {len(self.rows):,} rows{notes}>"

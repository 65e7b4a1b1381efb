"""How far one quasi-identifier was generalized."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts
from shoal.data.table import Column
from shoal.measures._comparison import ColumnPair
from shoal.measures._coverage import FORMS, Coverage, Form
from shoal.report.marginals import Marginal, marginal_of
from shoal.report.wording import shown

EXAMPLES = 3
"""Published cells that are shown of a column."""

COARSE = (Form.RANGE, Form.NODE, Form.SET)
"""Forms of cells that stand for several values, but not for all of them."""


@dataclass(frozen=True, slots=True)
class Level:
    """The share of rows that are published on one level of a hierarchy, with a frequent node of it."""

    level: int
    share: float
    example: str


@dataclass(frozen=True, slots=True)
class Generalized:
    """What happened to a column."""

    name: str
    kind: str
    """`name`, `kind`: the column, and how its values relate."""
    form: str
    """What most of its generalized cells are: ranges, nodes, sets; exact values where none is generalized."""
    before: int
    after: int
    """`before`, `after`: distinct values of the original and distinct published cells."""
    exact: float
    coarse: float
    suppressed: float
    """`exact`, `coarse`, `suppressed`: shares of the published rows: cells that are one value (or missing, which is a
    value too), cells that stand for several, and cells that tell nothing."""
    loss: float | None  # the loss of the column as a share, where it was measured
    examples: tuple[str, ...]  # its most frequent cells that are not single values, if there are any
    levels: tuple[Level, ...]  # the levels of its hierarchy with their shares; empty without a hierarchy
    off_levels: float  # the share of rows whose cell is no node of the hierarchy
    marginal: Marginal  # its distribution before and after


def generalized_of(column: ColumnPair, loss: float | None) -> Generalized:
    """Compare a published column with its original."""
    original, published = column.original, column.published
    rows, before, coverage = column.held, column.counts.astype(np.float64), column.seen
    by_form = coverage.rows_by_form(rows)
    total = max(int(rows.sum()), 1)

    def share(*forms: Form) -> float:
        return sum(by_form.get(form, 0) for form in forms) / total

    levels = _levels(original, published, coverage, rows)
    marginal = marginal_of(original.name, original.domain, before, coverage.spread(rows))
    return Generalized(
        name=original.name,
        kind=original.domain.kind.value,
        form=_prevailing(by_form),
        before=int((before > 0).sum()),
        after=int((rows > 0).sum()),
        exact=share(Form.EXACT, Form.MISSING),
        coarse=share(*COARSE, Form.UNREAD),
        suppressed=share(Form.SUPPRESSED),
        loss=loss,
        examples=_examples(published, coverage.forms, rows),
        levels=levels,
        off_levels=max(1.0 - sum(level.share for level in levels), 0.0) if levels else 0.0,
        marginal=marginal,
    )


def _prevailing(by_form: dict[Form, int]) -> str:
    coarse = {form: rows for form, rows in by_form.items() if form in COARSE}
    found = coarse or by_form
    return max(found, key=found.__getitem__).value if found else "nothing"


def _examples(published: Column, forms: Codes, rows: Counts) -> tuple[str, ...]:
    """The most frequent cells that stand for several values or, where there are none, of all."""
    coarse = np.isin(forms, [FORMS.index(form) for form in COARSE])
    wanted = coarse & (rows > 0) if (coarse & (rows > 0)).any() else rows > 0
    places = np.flatnonzero(wanted)
    top = places[np.argsort(-rows[places], kind="stable")][:EXAMPLES]
    return tuple(shown(published.domain.labels[place], 36) for place in top.tolist())


def _levels(original: Column, published: Column, coverage: Coverage, rows: Counts) -> tuple[Level, ...]:
    if original.hierarchy is None:
        return ()
    height = original.hierarchy.height
    total = max(int(rows.sum()), 1)
    found = []
    for level, on_level in enumerate(coverage.rows_by_level(rows, height)):
        places = np.flatnonzero((coverage.levels == level) & (rows > 0))
        top = published.domain.labels[places[np.argmax(rows[places])]] if len(places) else None
        found.append(Level(level, on_level / total, "" if top is None else shown(top, 36)))
    return tuple(found)

"""Published data that tells nothing, of which every promise is true for no reason."""

import numpy as np

from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED, telling_rows
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.summary import Summary
from shoal.data.table import Column, Table
from shoal.data.verdict import Offender, Verdict

NOTHING = "nothing-published"
"""The name of the verdict on data that tells nothing."""


def nothing_published(published: Published) -> Verdict | None:
    """The verdict on published data that tells nothing; None where it tells something.

    A table tells something where a row does, or a cell of an insensitive column.
    """
    if isinstance(published, ClusteredTable):
        tells = len(published.vocabulary) > 0 or any(map(_shows, published.columns))
    elif isinstance(published, Table):
        others = (column for column in published.columns if column.role is Role.INSENSITIVE)
        tells = bool(telling_rows(published).any()) or any(map(_shows, others))
    elif isinstance(published, Linked):
        tells = published.rows > 0
    elif isinstance(published, Summary):
        tells = any(map(_shows, published.cells.select(published.values)))
    elif isinstance(published, Groups):
        tells = len(published.items) + len(published.sensitive_items) > 0
    elif isinstance(published, Clusters):
        tells = len(published.items) + len(published.terms) > 0
    else:
        tells = len(published.items) > 0
    return verdict_on_nothing(published, tells=tells)


def verdict_on_nothing(form: Published, *, tells: bool) -> Verdict | None:
    """The verdict on data of a form that tells nothing; None where it tells something."""
    if tells:
        return None
    why = (
        "every cell is *, or there is no row"
        if isinstance(form, Table | Summary)
        else f"no item stands in the {type(form).__name__.lower()}, or there are none"
    )
    return Verdict(NOTHING, why, False, None, 1, (Offender("everything", "nothing is published"),), 1)


def _shows(column: Column) -> bool:
    """Whether a cell of a column is no star."""
    labels = column.domain.labels
    return any(labels[code] != SUPPRESSED for code in np.unique(column.codes).tolist())

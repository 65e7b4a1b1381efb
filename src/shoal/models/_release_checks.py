"""What every release must keep, whatever it promises: it tells something, its order is canonical, its folder is whole.

In any other order, places may reveal the input. Of data that tells nothing every promise would hold vacuously.
"""

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.data._set_keys import cluster_keys
from shoal.data.baskets import Baskets, descents, fallen, ragged_ranks
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked, canonical, same_cells
from shoal.data.published_syntax import SUPPRESSED, telling_rows
from shoal.data.related import Related, related
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.summary import Summary
from shoal.data.table import Column, Table, cell_ranks
from shoal.data.verdict import (
    MISNUMBERED,
    SHOWN,
    UNSORTED,
    Offender,
    OrderViolations,
    Verdict,
    early,
    shortened,
)
from shoal.models.model import Evidence

ORDER = "canonical-order"
"""What the verdict on the order of a release is called."""

ORDERED = {
    "basket": "baskets and the items in them stand in ascending order",
    "row": "rows stand in ascending order of their cells",
}

NOTHING = "nothing-published"
"""The name of the verdict on data that tells nothing."""

MISPLACED_LINE = (
    "lines ascend by their class and then by what they hold, and it comes before the one ahead of it"
)

MISPLACED = "it stands elsewhere, or in another group, than in ascending order"

LEAST = -1e3
"""How bad it is that a line of groups or clusters is out of place: less than all that may be wrong inside a line."""


def broken_order(published: Published) -> Verdict | None:
    """The verdict on published rows or baskets that do not stand in canonical order; None where they do.

    No model of tables or baskets says anything about their order, because they judge any file. A release promises it:
    rows in the order of the input can be matched, line by line, with whatever else is known in that order.
    Models of groups and clusters judge the order themselves.
    """
    if isinstance(published, Linked):
        return verdict_on(_of_linked(published))
    if isinstance(published, Related):
        return verdict_on(_of_related(published))
    if isinstance(published, ClusteredTable):
        return verdict_on(_of_clustered(published))
    if isinstance(published, Table | Summary):
        return verdict_on(_of_rows(published if isinstance(published, Table) else published.cells))
    return verdict_on(_of_baskets(published)) if isinstance(published, Baskets) else None


def verdict_on(disorder: OrderViolations) -> Verdict | None:
    """The verdict on rows or baskets of whose order that was found out; None where nothing is wrong with it."""
    if not disorder.count:
        return None
    return Verdict(
        ORDER,
        f"{ORDERED[disorder.form]}, so that their places tell nothing of the input",
        False,
        None,
        0,
        tuple(Offender(where, why) for where, why in disorder.places[:SHOWN]),
        disorder.count,
    )


def evidence_of(disorder: OrderViolations) -> Evidence:
    """What the order of lines of groups or clusters means for their promises."""
    places = tuple((LEAST, Offender(where, why)) for where, why in disorder.places[:SHOWN])
    return Evidence(places, disorder.count)


def _of_rows(table: Table) -> OrderViolations:
    """Rows that come before the one ahead of them by their texts, first column first."""
    fallen = np.zeros(max(table.rows - 1, 0), dtype=np.bool_)
    tied = ~fallen
    for column in table.columns:
        if not tied.any():
            break
        ranks = column.domain.ranks()[column.codes]
        fallen |= tied & (ranks[1:] < ranks[:-1])
        tied &= ranks[1:] == ranks[:-1]
    rows = np.flatnonzero(fallen) + 1
    places = [(_row(table, row), early("row", _row(table, row - 1))) for row in rows[:SHOWN].tolist()]
    return OrderViolations("row", tuple(places), len(rows))


def _of_linked(published: Linked) -> OrderViolations:
    """Rows and secrets that stand elsewhere than in canonical order, by which groups are numbered too."""
    ordered = canonical(published)
    pairs = ((published.public, ordered.public), (published.secrets, ordered.secrets))
    return _misplaced([(table, same_cells(table, other)) for table, other in pairs])


def _of_related(published: Related) -> OrderViolations:
    """Persons and records that stand elsewhere than in canonical order, by which persons are numbered too."""
    _, persons, records = related(
        published.columns, published.records.columns, published.owners, published.key
    )
    orders = ((published, persons), (published.records, records))
    return _misplaced([(table, np.flatnonzero(order != np.arange(len(order)))) for table, order in orders])


def _misplaced(found: Sequence[tuple[Table, Rows]]) -> OrderViolations:
    """Rows of two tables that stand elsewhere than they should."""
    places = [(_row(table, row), MISPLACED) for table, rows in found for row in rows[:SHOWN].tolist()]
    return OrderViolations("row", tuple(places[:SHOWN]), sum(len(rows) for _, rows in found))


def _of_clustered(published: ClusteredTable) -> OrderViolations:
    """Rows out of order, and lines of clusters that belong before the one ahead of them: by class, then by content."""
    rows = _of_rows(published)
    rank = cell_ranks(published.quasi)[published.holders]
    late = np.flatnonzero(rank[1:] < rank[:-1]) + 1
    line = published.lines[early_clusters(published.clusters, lines=True, inside=False)]
    late = np.union1d(late, line[rank[line] == rank[line - 1]])
    places = [
        (f"line {place + 1} of the items ({published.words(int(published.holders[place]))})", MISPLACED_LINE)
        for place in late[:SHOWN].tolist()
    ]
    return OrderViolations("row", (*rows.places, *places)[:SHOWN], rows.count + len(late))


def _of_baskets(baskets: Baskets) -> OrderViolations:
    """Baskets that have another number than their place, whose items do not ascend, or that come too late."""
    late = descents(baskets.indptr, baskets.items)
    places = [(_basket(baskets, row), MISNUMBERED) for row in baskets.misnumbered[:SHOWN].tolist()]
    places += [(_basket(baskets, row), UNSORTED) for row in baskets.unsorted[:SHOWN].tolist()]
    places += [
        (_basket(baskets, row), early("basket", _basket(baskets, row - 1))) for row in late[:SHOWN].tolist()
    ]
    count = len(baskets.misnumbered) + len(baskets.unsorted) + len(late)
    return OrderViolations("basket", tuple(places[:SHOWN]), count)


def disordered_chunks(clusters: Clusters) -> tuple[Rows, Rows]:
    """Chunks whose sub-records do not ascend, and chunks that belong before the one ahead of them."""
    ranks = ragged_ranks(clusters.item_indptr, clusters.items)
    falls = np.flatnonzero(ranks[1:] < ranks[:-1]) + 1
    chunk = np.searchsorted(clusters.record_indptr, falls, side="right") - 1
    mixed = np.unique(chunk[falls > clusters.record_indptr[chunk]])
    early = descents(clusters.record_indptr, ranks)
    owners = clusters.owners
    return mixed, early[owners[early] == owners[early - 1]]


def early_clusters(clusters: Clusters, *, lines: bool, inside: bool = True) -> Rows:
    """Clusters that belong before the one ahead of them: among the parts of a joint cluster, and among the lines.

    `lines`: whether all lines are there, in their order; otherwise only the parts of joint clusters are looked at.
    `inside`: whether to look at parts.
    """
    parents = clusters.parents
    order = np.argsort(parents, kind="stable")
    # The lines come first, for nothing is above them.
    order = order if lines else order[parents[order] >= 0]
    order = order if inside else order[parents[order] < 0]
    if len(order) < 2:
        return order[:0]
    begins, lengths, keys = cluster_keys(clusters)
    early = fallen(begins[order], lengths[order], keys)
    siblings: Mask = parents[order[early]] == parents[order[early - 1]]
    return np.sort(order[early[siblings]])


def _basket(baskets: Baskets, row: int) -> str:
    """A basket in words: its number in the file and its items."""
    return f"basket {row + 1} {{{shortened(', '.join(baskets.basket(row)))}}}"


def _row(table: Table, row: int) -> str:
    """A row in words: its number in the file and its cells."""
    cells = (column.domain.labels[column.codes[row]] for column in table.columns)
    return f"row {row + 1} ({shortened(', '.join(cells))})"


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
    return any(labels[code] != SUPPRESSED for code in column.occurring.tolist())


def broken_papers(found: Sequence[tuple[str, str]]) -> Verdict:
    """The verdict on what goes with a release and does not say what the release says."""
    promise = "datapackage.json and README.md say what the published files say"
    return _broken("data-package", promise, found, "fetch the folder again")


def broken_folder(found: Sequence[tuple[str, str]]) -> Verdict:
    """The verdict on a published folder that holds something else than the release."""
    promise = "the folder holds release.json and the published data, and nothing else"
    return _broken("release-folder", promise, found, "remove it", "nothing else was judged")


def _broken(
    name: str, promise: str, found: Sequence[tuple[str, str]], cure: str, remark: str = ""
) -> Verdict:
    offenders = tuple(Offender(where, f"{why}; {cure}") for where, why in found[:SHOWN])
    return Verdict(name, promise, False, len(found), 0, offenders, len(found), remark)

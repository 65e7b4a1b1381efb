"""Persons who fit all that is known of somebody: her cells, and the quasi-identifiers of all of her records."""

import numpy as np

from shoal.arrays import Floats, Mask, Rows
from shoal.attacks._class_view import ClassView, class_view
from shoal.data._sparse_rows import SparseRows
from shoal.data.published_syntax import telling_rows
from shoal.data.related import Related
from shoal.data.table import Table

ANY = -1
"""The class of a published record that tells nothing, and so may be any."""


def chances(published: Related, people: Related, view: ClassView) -> Floats:
    """The chance to pick each person, of whom all quasi-identifiers are known, in the table and in all records.

    Somebody fits whose cells do, and each of whose published records covers another one of the known records; records
    may have been left out. `view`: whose cells fit.
    """
    known = published.known_records()
    rows = np.flatnonzero(telling_rows(published))
    kinds, first, sizes = np.unique(
        np.stack((view.classes.number, known[rows])), axis=1, return_index=True, return_counts=True
    )
    covers, number = _record_classes(published, people)
    begins = np.searchsorted(published.owners, np.arange(published.rows + 1))
    own = np.argsort(people.owners, kind="stable")
    mine = np.searchsorted(people.owners[own], np.arange(people.rows + 1))
    fits = view.fits
    found = np.zeros(people.rows)
    for person in range(people.rows):
        classes = fits.columns[fits.indptr[person] : fits.indptr[person + 1]]
        records = own[mine[person] : mine[person + 1]]
        covered = (
            np.zeros((len(records), 1), dtype=np.bool_)
            if covers is None
            else covers.take(records).dense() > 0
        )
        candidates = 0
        for place in np.flatnonzero(np.isin(kinds[0], classes)).tolist():
            row = int(rows[first[place]])
            if _matches(covered, number[begins[row] : begins[row + 1]]):
                candidates += int(sizes[place])
        found[person] = 1 / candidates if candidates else 0.0
    return found


def _record_classes(published: Related, people: Related) -> tuple[SparseRows | None, Rows]:
    """Which classes of published records cover each known one, and the class of each published record."""
    records = published.records
    number = np.full(records.rows, ANY, dtype=np.int64)
    names = [column.name for column in records.quasi if column.name in people.records.names]
    if not names or not records.rows or not people.records.rows:
        return None, number
    view = class_view(Table(records.columns), people.records, names)
    number[np.flatnonzero(telling_rows(records))] = view.classes.number
    return view.fits, number


def _matches(covered: Mask, classes: Rows) -> bool:
    """Whether each of some published records, by their classes, covers another one of somebody's known records.

    `covered`: known records by classes.
    """
    if len(classes) > len(covered):
        return False
    if not len(classes):
        return True
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    fitting = np.ones((len(classes), len(covered)), dtype=np.int8)
    telling = classes != ANY
    fitting[telling] = covered[:, classes[telling]].T
    return bool((maximum_bipartite_matching(csr_array(fitting), perm_type="column") >= 0).all())

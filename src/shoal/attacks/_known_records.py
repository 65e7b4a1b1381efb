"""Persons who fit all that is known of somebody: her cells, and the quasi-identifiers of all of her records."""

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.attacks._class_view import ClassView, class_view
from shoal.data._sparse_rows import SparseRows
from shoal.data.published_syntax import telling_rows
from shoal.data.related import Related
from shoal.data.table import Table
from shoal.models._equivalence_classes import PublishedClasses

ANY = -1
"""The class of a published record that tells nothing, and so may be any."""


def record_view(published: Related, people: Related, view: ClassView) -> ClassView:
    """Which persons who are alike with all their records fit people, of whom all quasi-identifiers of both are known.

    Somebody fits whose cells do, and each of whose published records covers another one of the known records; records
    may have been left out. `view`: whose cells fit.
    """
    rows = np.flatnonzero(telling_rows(published))
    classes = PublishedClasses.of(published.joined().take(rows))
    outer = view.classes.number[classes.first]
    covers, number = _record_classes(published, people)
    begins = np.searchsorted(published.owners, np.arange(published.rows + 1))
    own = np.argsort(people.owners, kind="stable")
    mine = np.searchsorted(people.owners[own], np.arange(people.rows + 1))
    fits = view.fits
    who: list[int] = []
    found: list[int] = []
    for person in range(people.rows):
        fitting = fits.columns[fits.indptr[person] : fits.indptr[person + 1]]
        records = own[mine[person] : mine[person + 1]]
        covered = (
            np.zeros((len(records), 1), dtype=np.bool_)
            if covers is None
            else covers.take(records).dense() > 0
        )
        for place in np.flatnonzero(np.isin(outer, fitting)).tolist():
            row = int(rows[classes.first[place]])
            if _matches(covered, number[begins[row] : begins[row + 1]]):
                who.append(person)
                found.append(place)
    shape = (people.rows, len(classes))
    pairs = SparseRows.of(np.array(who, dtype=np.int64), np.array(found, dtype=np.int64), 1.0, shape)
    return ClassView(classes, pairs, classes.sizes)


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

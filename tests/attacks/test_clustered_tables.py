"""Who is linked by cells and items where items are published in clusters, and some rows are nothing but stars."""

from pathlib import Path

import numpy as np

import shoal
from shoal.attacks._class_view import class_view
from shoal.data.clustered_table import ClusteredTable
from shoal.data.published_syntax import SUPPRESSED
from shoal.datasets.people import People
from shoal.io.tables.load import write_table


def test_rows_of_stars_are_in_a_class(tmp_path: Path) -> None:
    """Their items are published, in clusters of their own: every line belongs to a class that is looked at."""
    write_table(People(rows=300).make(7), tmp_path / "people.csv")
    run = shoal.anonymize(
        tmp_path / "people.csv",
        "relational-transaction",
        k=5,
        m=2,
        item_step="disassociation",
        seed=7,
        quasi=["age", "education"],
        items="occupation",
        others="drop",
        hierarchies={"age": "intervals:5,10,20", "education": "suppress"},
    )
    published, people = run.release.data, run.original
    assert isinstance(published, ClusteredTable)
    starred = np.logical_and.reduce(
        [np.array(column.domain.labels)[column.codes] == SUPPRESSED for column in published.quasi]
    )
    assert 0 < starred.sum() < published.rows
    view = class_view(published, people, ["age", "education"])
    assert len(view.classes.number) == published.rows
    assert (view.fits.held[np.unique(view.classes.number[starred])] == people.rows).all()
    assert run.written(tmp_path / "out").holds

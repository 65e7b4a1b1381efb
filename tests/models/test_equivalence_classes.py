"""The classes of a published table, and what is counted in them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import table

from shoal.models import _equivalence_classes
from shoal.models._equivalence_classes import PublishedClasses

CELLS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["flu", "cold", "*"])), min_size=1, max_size=30)


@given(CELLS, st.sampled_from([0, 4]))
def test_values_are_counted_row_by_row(cells: list[tuple[int, str]], sparse: int) -> None:
    """Whether keys are sorted or counted."""
    published = table({"age": [age for age, _ in cells], "ill": [ill for _, ill in cells]}, sensitive=["ill"])
    classes = PublishedClasses.of(published)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_equivalence_classes, "SPARSE", sparse)
        tally = classes.tally(classes.table.column("ill"))
    for place, row in enumerate(classes.first.tolist()):
        age = classes.table.column("age").codes[row]
        here = classes.table.column("age").codes == age
        ills = np.array(classes.table.column("ill").domain.labels)[classes.table.column("ill").codes[here]]
        expected = Counter(ill for ill in ills.tolist() if ill != "*")
        assert tally.of(place) == expected
        assert tally.sizes[place] == expected.total()


def test_values_are_counted_once() -> None:
    published = table({"age": [1, 1], "ill": ["flu", "cold"]}, sensitive=["ill"])
    classes = PublishedClasses.of(published)
    ill = classes.table.column("ill")
    assert classes.tally(ill) is classes.tally(ill)
    assert classes.tally(ill, "age") is not classes.tally(ill)

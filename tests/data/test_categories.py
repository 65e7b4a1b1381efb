"""What is found of categories is what is found of their texts."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.data._frames import enumeration, is_coded, places_among, plain_texts, without_nulls
from shoal.data._hashes import text_hashes
from shoal.data.published_syntax import SUPPRESSED

CELLS = st.lists(st.sampled_from(["", "a", "ab", "ä", "[1,2]", "10", "9", SUPPRESSED, "😀"]), min_size=1)


def coded(texts: pl.Series) -> pl.Series:
    """The same texts as categories."""
    return texts.cast(enumeration(texts.drop_nulls().unique()))


@given(CELLS)
def test_categories_say_what_texts_say(cells: list[str]) -> None:
    """Hashes, places, comparisons, and the way back."""
    texts = pl.Series("x", cells)
    found = coded(texts)
    assert is_coded(found)
    assert not is_coded(texts)
    assert plain_texts(found.to_frame()).equals(texts.to_frame())
    np.testing.assert_array_equal(text_hashes(found), text_hashes(texts))
    labels = texts.unique().sort()
    np.testing.assert_array_equal(places_among(found, labels), places_among(texts, labels))
    assert labels.gather(places_among(found, labels)).to_list() == cells
    assert (found[1:] < found[:-1]).to_list() == (texts[1:] < texts[:-1]).to_list()


def test_missing_texts_become_empty() -> None:
    """As texts, and as categories, which all have the empty text; numbers stay as they are."""
    texts = pl.Series("x", ["b", None, "a"])
    frame = pl.DataFrame({"x": texts, "y": coded(texts), "z": [1, None, 2]})
    found = plain_texts(without_nulls(frame))
    assert found.to_dict(as_series=False) == {"x": ["b", "", "a"], "y": ["b", "", "a"], "z": [1, None, 2]}

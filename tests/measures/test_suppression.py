"""What baskets lose when items are taken out of them."""

import numpy as np
import pytest
from tests.basket_cases import baskets_of
from tests.tables import column

from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.measures.measure import flat
from shoal.measures.suppression import Suppression


def scores(original: Baskets, published: Baskets) -> dict[str, float]:
    return flat(Suppression().scores(original, Release(published, "any", {}, ())))


def test_the_example_of_the_seed() -> None:
    original = baskets_of(["026", "025", "12", "015", "012", "012345"])
    published = baskets_of(["0", "02", "02", "02", "0234", "2"])
    assert scores(original, published) == {
        "information_loss": 8 / 20,
        "items_suppressed": 3,
        "items_suppressed_share": 3 / 7,
        "emptied_baskets": 0,
    }


def test_nothing_lost() -> None:
    original = baskets_of(["ab", "", "b"])
    assert set(scores(original, original).values()) == {0}


def test_emptied_and_renamed() -> None:
    original = baskets_of(["ab", "", "b"])
    assert scores(original, baskets_of(["", "", "b"]))["emptied_baskets"] == 1
    renamed = scores(original, baskets_of(["aB", "", "B"]))
    assert (renamed["information_loss"], renamed["items_suppressed"]) == (2 / 3, 1)


def test_added_items_are_no_gain() -> None:
    assert scores(baskets_of(["a", "ab"]), baskets_of(["ab", "a"]))["information_loss"] == 0
    assert scores(baskets_of(["a", "b", "b"]), baskets_of(["ab", "a", ""]))["information_loss"] == 1 / 3


def test_baskets_without_items_lose_nothing() -> None:
    assert scores(baskets_of(["", ""]), baskets_of(["", ""]))["information_loss"] == 0


def test_what_cannot_be_compared_is_refused() -> None:
    baskets = baskets_of(["ab"])
    with pytest.raises(WrongUse, match="not table"):
        Suppression().scores(Table((column("age", [1]),)), Release(baskets, "any", {}, ()))
    with pytest.raises(BadData, match="no baskets"):
        scores(baskets.take(np.empty(0, dtype=np.int64)), baskets)

"""What a machine learns from releases."""

import sys

import numpy as np
import pytest
from tests.tables import table

from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import MissingExtra, UnknownName, WrongUse
from shoal.measures._chosen import measure
from shoal.measures.learning import Learning
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian

ROWS = 400


@pytest.fixture(autouse=True)
def learning_part(require_part) -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        require_part(None, 'scikit-learn is not installed: pip install "shoal[learning]"')


@pytest.fixture(scope="module")
def people() -> Table:
    """The illness follows from the age, but for one in ten."""
    generator = np.random.default_rng(3)
    ages = generator.integers(0, 60, ROWS)
    ill = np.where(generator.random(ROWS) < 0.1, "ok", np.where(ages < 30, "flu", "cold"))
    towns = generator.choice(["a", "b", "c"], ROWS)
    return table({"age": ages.tolist(), "town": towns.tolist(), "ill": ill.tolist()}, sensitive=["ill"])


def test_the_original_teaches_what_there_is(people: Table) -> None:
    scores = flat(Learning().scores(people, Release(people, "by hand", {}, ())))
    assert scores["accuracy_original"] > 0.8
    assert scores["accuracy_release"] == pytest.approx(scores["accuracy_original"], abs=0.06)
    assert scores["accuracy_baseline"] < 0.6
    assert scores["accuracy_lost"] == pytest.approx(scores["accuracy_original"] - scores["accuracy_release"])


def test_a_release_that_tells_nothing_teaches_nothing(people: Table) -> None:
    release, _ = Mondrian(k=ROWS).anonymize(people)
    scores = flat(Learning().scores(people, release))
    assert scores["accuracy_release"] < 0.6
    assert scores["accuracy_lost"] > 0.2


def test_finer_classes_teach_more(people: Table) -> None:
    lost = [
        flat(Learning().scores(people, Mondrian(k=k).anonymize(people)[0]))["accuracy_lost"] for k in (5, 300)
    ]
    assert lost[0] < lost[1]


def test_the_order_of_the_rows_does_not_matter(people: Table) -> None:
    other = people.take(np.random.default_rng(1).permutation(ROWS))
    one, two = (flat(Learning().scores(data, Mondrian(k=5).anonymize(data)[0])) for data in (people, other))
    assert one == two


def test_a_target_of_ones_own(people: Table) -> None:
    release, _ = Mondrian(k=5).anonymize(people)
    scores = flat(Learning(target="town").scores(people, release))
    assert 0.2 < scores["accuracy_original"] < 0.6
    with pytest.raises(UnknownName, match="height"):
        Learning(target="height").scores(people, release)


def test_no_target_is_wrong_use() -> None:
    plain = table({"age": list(range(20))})
    with pytest.raises(WrongUse, match="column to learn"):
        Learning().scores(plain, Release(plain, "by hand", {}, ()))


def test_it_waits_to_be_asked_for(people: Table) -> None:
    release, _ = Mondrian(k=5).anonymize(people)
    assert not any(score.name.startswith("accuracy") for score in measure(people, release))
    assert any(score.name == "accuracy_lost" for score in measure(people, release, (Learning(),)))


def test_a_missing_extra_is_said_in_a_sentence(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sklearn", "sklearn.exceptions", "sklearn.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r'needs the extra "learning": pip install "shoal\[learning\]"'):
        Learning().scores(people, Release(people, "by hand", {}, ()))

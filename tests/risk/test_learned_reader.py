"""A reader who learns from other releases."""

import numpy as np
import pytest
from tests.naive import cahd as naive
from tests.sets import baskets_of, sets_of

from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.errors import WrongUse
from shoal.methods.cahd.method import Cahd
from shoal.risks._learned_reader import FEATURES, features, learn


def shop(seed: int, *, telling: bool) -> Baskets:
    """Baskets of one to eight items; the secret goes with the large ones, or with anybody."""
    random = np.random.default_rng(seed)
    sets = []
    for _ in range(600):
        length = int(random.integers(1, 9))
        items = {f"i{item}" for item in random.choice(12, length, replace=False)}
        chance = (0.5 if length > 7 else 0.0) if telling else 0.06
        sets.append(items | ({"secret"} if random.random() < chance else set()))
    return baskets_of(sets, ["secret"])


def released(seed: int, *, telling: bool) -> tuple[Groups, Baskets]:
    baskets = shop(seed, telling=telling)
    groups = Cahd(p=5).anonymize(baskets, seed=seed)[0].data
    assert isinstance(groups, Groups)
    return groups, baskets


def guessed(groups: Groups, baskets: Baskets) -> float:
    """How often who names any member is right, by the definition."""
    original = [frozenset(baskets.basket(row)) for row in range(len(baskets))]
    told = [([frozenset(one) for one in members], summary) for members, summary in sets_of(groups)]
    shares = naive.shares(original, {"secret"}, told)
    return float(
        np.mean(
            [float(sum(line) / len(line)) for line, (_, summary) in zip(shares, told, strict=True) if summary]
        )
    )


def test_what_goes_with_the_secret_is_learned() -> None:
    reader = learn([released(seed, telling=True) for seed in (1, 2, 3)])
    attacked = released(4, telling=True)
    assert reader.success(*attacked) > 1.5 * guessed(*attacked)
    assert reader.weights[FEATURES.index("length")] + reader.weights[1] + reader.weights[2] > 0


def test_nothing_is_learned_where_there_is_nothing() -> None:
    """Trained and tried on secrets that were drawn by lot; the mean of four attacks."""
    reader = learn([released(seed, telling=False) for seed in range(6)])
    attacked = [released(seed, telling=False) for seed in range(10, 14)]
    gained = np.mean([reader.success(*one) - guessed(*one) for one in attacked])
    assert abs(gained) < 0.1


def test_chances_sum_to_one_in_each_group() -> None:
    groups, baskets = released(5, telling=True)
    reader = learn([(groups, baskets)])
    chances = reader.likelihoods(groups)
    assert np.allclose(np.add.reduceat(chances, groups.group_indptr[:-1]), 1)
    named = reader.named(groups)
    assert (np.add.reduceat(named.astype(int), groups.group_indptr[:-1]) >= 1).all()
    assert features(groups).shape == (len(baskets), len(FEATURES))
    assert np.isfinite(features(groups)).all()


def test_features_of_a_small_group() -> None:
    sets = [{"a", "b"}, {"a"}, {"a", "b", "c", "s"}, set(), {"a"}]
    groups = Cahd(p=5).anonymize(baskets_of(sets, "s"), seed=1)[0].data
    assert isinstance(groups, Groups)
    found = features(groups)
    members = [set(one) for one in sets_of(groups)[0][0]]
    column = {name: found[:, place] for place, name in enumerate(FEATURES)}
    assert column["length"].tolist() == [len(one) for one in members]
    assert column["is the largest"].tolist() == [float(one == {"a", "b", "c"}) for one in members]
    for place, one in enumerate(members):
        others = [other for at, other in enumerate(members) if at != place]
        common = sum(len(one & other) for other in others)
        assert column["items in common with another member, on the average"][place] == common / 4
        alone = sum(not any(item in other for other in others) for item in one)
        assert column["share of items that no other member holds"][place] == alone / max(len(one), 1)
        assert column["logarithm of the equal members"][place] == pytest.approx(np.log(members.count(one)))


def test_there_must_be_something_to_learn_from() -> None:
    baskets = baskets_of([{"a"}, {"b"}, {"a", "b"}], ["s"])
    groups = Cahd(p=2, form="blocks").anonymize(baskets)[0].data
    assert isinstance(groups, Groups)
    with pytest.raises(WrongUse, match="to learn from"):
        learn([(groups, baskets)])
    reader = learn([released(1, telling=True)])
    with pytest.raises(WrongUse, match="nothing to find out"):
        reader.success(groups, baskets)

"""What readers of groups reconstruct, and whom they name, beside the definitions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import cahd as naive
from tests.sets import baskets_of, sets_of
from tests.tables import table

from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.errors import BadData, WrongUse
from shoal.measures.ordering import Ordering
from shoal.measures.pivot import Pivot
from shoal.measures.reconstruction import Reconstruction, TwoSides
from shoal.methods.cahd.method import Cahd
from shoal.methods.permutation_mondrian import PermutationMondrian
from shoal.risks import _group_members
from shoal.risks._group_members import central, shares_of

Group = tuple[list[frozenset[str]], dict[str, int]]


def released(sets: list[frozenset[str]], **fields: object) -> tuple[Baskets, Release, Groups, list[Group]]:
    baskets = baskets_of(sets, "st")
    release, _ = Cahd(p=2, **fields).anonymize(baskets)  # type: ignore[arg-type]
    assert isinstance(release.data, Groups)
    read = [([frozenset(b) for b in group], summary) for group, summary in sets_of(release.data)]
    return baskets, release, release.data, read


def feasible(sets: list[frozenset[str]]) -> bool:
    return max(sum(secret in one for one in sets) for secret in "st") * 2 <= len(sets)


sets_with_secrets = st.lists(st.frozensets(st.sampled_from("abcst")), min_size=4, max_size=16).filter(
    feasible
)


@given(sets_with_secrets, st.sampled_from(["near", "blocks", "pivots"]), st.sampled_from(["a", "ab", "abc"]))
def test_the_divergence_is_that_of_the_paper(sets: list[frozenset[str]], form: str, items: str) -> None:
    baskets, _, groups, read = released(sets, form=form)
    if not set(items) <= set(baskets.vocabulary):
        return
    two = TwoSides(baskets, groups)
    codes = [baskets.code(item) for item in items]
    for place, code in enumerate(two.sensitive.tolist()):
        found = two.divergences(codes, two.sensitive)[place]
        assert found == pytest.approx(naive.divergence(sets, read, baskets.vocabulary[code], items), abs=1e-9)
        assert found >= -1e-12


@given(sets_with_secrets, st.sampled_from(["near", "blocks", "pivots"]))
def test_named_members_are_those_of_the_definition(sets: list[frozenset[str]], form: str) -> None:
    baskets, release, groups, read = released(sets, form=form)
    shares = [share for line in naive.shares(sets, {"s", "t"}, read) for share in line]
    shown = np.repeat(np.diff(groups.sensitive_indptr) > 0, groups.sizes)
    assert shares_of(baskets, groups)[shown].tolist() == pytest.approx(
        [float(share) for share, counts in zip(shares, shown, strict=True) if counts]
    )
    for loaded in (False, True):  # by numpy, and by a kernel
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_group_members, "are_loaded", lambda loaded=loaded: loaded)
            patch.setattr(_group_members, "MANY", 0)
            assert central(groups).tolist() == [named for group, _ in read for named in naive.central(group)]
            assert _group_members.common_items(groups)[1].tolist() == alone(read)
    scores = {score.name: score.value for score in Pivot().scores(baskets, release)}
    assert bool(scores) == any(summary for _, summary in read)
    assert all(0 <= value <= 1 for value in scores.values())


def alone(read: list[Any]) -> list[int]:
    """How many items each member of each group shares with nobody."""
    return [
        sum(
            all(item not in other for place, other in enumerate(group) if place != own) for item in group[own]
        )
        for group, _ in read
        for own in range(len(group))
    ]


def test_one_group_of_equal_baskets_tells_all() -> None:
    """Where all public items are equal, nothing is lost: the divergence is 0."""
    baskets, release, _, _ = released([frozenset("ab")] * 7 + [frozenset("abs")])
    scores = {score.name: score.value for score in Reconstruction().scores(baskets, release)}
    assert scores["kl"] == scores["kl_sum"] == 0
    assert scores["query_error"] == 0


def test_the_sum_is_the_mean_times_the_sensitive_items() -> None:
    sets = [frozenset(one) for one in ("as", "bt", "c", "d", "ab", "", "e", "ac")]
    baskets, release, _, _ = released(sets)
    scores = {score.name: score for score in Reconstruction().scores(baskets, release)}
    assert scores["kl"].value > 0
    assert scores["kl_sum"].value == pytest.approx(2 * scores["kl"].value)
    assert set(scores["kl"].parts) == {"s", "t"}
    assert Reconstruction().scores(baskets, release) == Reconstruction().scores(baskets, release)


def test_who_names_any_member_of_a_pair_is_right_half_the_time() -> None:
    baskets, release, _, _ = released([frozenset(one) for one in ("as", "b", "ct", "d")], form="pivots")
    scores = {score.name: score.value for score in Pivot().scores(baskets, release)}
    assert scores["pivot_guess"] == 0.5


def test_another_original_is_refused() -> None:
    baskets, release, _, _ = released([frozenset(one) for one in ("as", "b", "c", "a")])
    with pytest.raises(BadData, match="not made from this original"):
        Reconstruction().scores(baskets_of(["as", "b", "c"], "st"), release)
    with pytest.raises(BadData, match="other baskets"):
        Pivot().scores(baskets_of(["as", "b", "c", "b"], "st"), release)
    with pytest.raises(BadData, match="lacks items"):
        Pivot().scores(baskets_of(["as", "b", "c", "d"], "st"), release)
    assert Reconstruction().scores(baskets, release)


@pytest.mark.parametrize("measure", [Reconstruction(), Pivot()])
def test_only_groups_are_measured(measure: Reconstruction | Pivot) -> None:
    _, release, _, _ = released([frozenset(one) for one in ("as", "b", "c", "a")])
    with pytest.raises(WrongUse, match="baskets with published groups"):
        measure.scores(table({"x": [1]}), release)


def test_the_band_is_measured_again_from_the_release() -> None:
    sets = [frozenset(one) for one in ("as", "b", "ab", "c", "bc", "", "a", "c")]
    baskets = baskets_of(sets, "st")
    release, trace = Cahd(p=2, form="blocks", order="rcm").anonymize(baskets)
    scores = {score.name: score.value for score in Ordering().scores(baskets, release)}
    assert scores == trace.notes["band"]["after"]
    baseline, _ = PermutationMondrian(p=2).anonymize(baskets)
    assert Ordering().scores(baskets, baseline) == ()
    assert not {"pivot_replay", "pivot_certain"} & {score.name for score in Pivot().scores(baskets, baseline)}

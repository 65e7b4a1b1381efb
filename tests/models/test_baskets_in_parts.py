"""Published baskets, groups and clusters in parts are judged as the whole is."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.models.test_in_parts import same
from tests.parts import MemoryParts, parted_baskets

from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.engines.local import Local
from shoal.io.releases.set_lines import (
    Lines,
    canonical_groups,
    group_lines,
    read_clusters,
    read_groups,
    tree_lines,
)
from shoal.methods.cahd.method import Cahd
from shoal.methods.disassociation.method import Disassociation
from shoal.models import _distributed_baskets as baskets_in_parts
from shoal.models._distributed import judge_lines
from shoal.models._distributed_baskets import verify_baskets
from shoal.models.disassociation import Disassociated
from shoal.models.hidden_associations import HiddenAssociations
from shoal.models.hkp_coherence import HkpCoherence
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.privacy_degree import PrivacyDegree

ITEMS = "abcdefgh"


@st.composite
def baskets(draw, least=0, most=30):
    sets = draw(st.lists(st.sets(st.sampled_from(ITEMS), max_size=5), min_size=least, max_size=most))
    vocabulary = tuple(sorted(set().union(*sets)))
    code = {item: place for place, item in enumerate(vocabulary)}
    rows = [sorted(code[item] for item in one) for one in sets]
    roles = draw(st.lists(st.sampled_from("ppppsi"), min_size=len(vocabulary), max_size=len(vocabulary)))
    return Baskets(
        np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64))).astype(np.int64),
        np.array([item for row in rows for item in row], dtype=np.int32),
        vocabulary,
        np.array([place for place, role in enumerate(roles) if role == "s"], dtype=np.int32),
        np.array([place for place, role in enumerate(roles) if role == "i"], dtype=np.int32),
    )


BEYOND_A_SHARE = Baskets(
    np.array([0, 3, 6, 11, 16, 21, 23]),
    np.array([0, 1, 2, 2, 4, 6, 0, 2, 3, 5, 7, 0, 1, 3, 4, 6, 0, 1, 2, 5, 7, 5, 7], dtype=np.int32),
    tuple(ITEMS),
    np.array([7], dtype=np.int32),
    np.array([], dtype=np.int32),
)
"""Where one worker looks beyond a set that another one finds broken by its share of a secret."""


@example(data=BEYOND_A_SHARE, seed=0, workers=2)
@given(data=baskets(), seed=st.integers(0, 1000), workers=st.integers(1, 5))
def test_the_verdict_of_parts_is_that_of_the_whole(data, seed, workers):
    models = [
        HkpCoherence(h=0.5, k=2, p=1),
        HkpCoherence(h=0.8, k=2, p=2),
        HkpCoherence(h=0.8, k=3, p=4),
        KmAnonymity(k=2, m=1),
        KmAnonymity(k=2, m=3),
        HiddenAssociations(support=0.1, confidence=0.5),
        HiddenAssociations(support=0.2, confidence=0.6, scope="all", antecedent=3),
        HiddenAssociations(support=0.1, confidence=0.5, rules=("a + b => c", "d => e", "z => a")),
    ]
    expected = Local().judge(data, models, asked=True)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baskets_in_parts, "_workers", lambda *_: workers)
        found = verify_baskets(models, parted_baskets(data, seed), 1 << 30)
    for one, other in zip(found, expected, strict=True):
        if one.model == KmAnonymity.name and one.value != other.value:
            assert other.value is None
        same(one, other)


def test_items_are_divided_so_that_they_fit():
    random = np.random.default_rng(0)
    rows = [np.flatnonzero(random.random(40) < 0.2) for _ in range(400)]
    data = Baskets(
        np.concatenate(([0], np.cumsum([len(row) for row in rows]))),
        np.concatenate(rows),
        tuple(f"{place:02}" for place in range(40)),
        np.array([], dtype=np.int32),
        np.array([], dtype=np.int32),
    )
    parts = parted_baskets(data)
    supports = data.supports
    assert baskets_in_parts._workers(parts, supports, 1 << 30) == 1
    memory = int(supports.sum()) * baskets_in_parts.ITEM_BYTES // 2
    assert baskets_in_parts._workers(parts, supports, memory) == 8
    model = KmAnonymity(k=10, m=2)
    (verdict,) = verify_baskets([model], parts, memory)
    same(verdict, model.verify(data))


def lines_of(texts, seed):
    parts = MemoryParts(pl.DataFrame({"line": texts}, schema={"line": pl.String}), seed)
    return Dataset(None, parts, len(texts))


def parsed(read, texts, name):
    return read(Lines(name, list(texts)))


@given(data=baskets(least=8, most=40), seed=st.integers(0, 1000), p=st.integers(2, 4))
def test_groups(data, seed, p):
    if not len(data.sensitive) or data.supports[data.sensitive].max() * 2 > len(data):
        return
    release, _ = Cahd(p=2).anonymize(data, seed=seed)
    assert isinstance(release.data, Groups)
    texts = list(group_lines(canonical_groups(release.data)))
    model = PrivacyDegree(p=p)
    (verdict,) = judge_lines([model], lines_of(texts, seed), partial(parsed, read_groups))[0]
    expected = model.verify(read_groups(Lines("all", texts)))
    assert (verdict.holds, verdict.value, verdict.offender_count) == (
        expected.holds,
        expected.value,
        expected.offender_count,
    )
    assert (verdict.remark, "taken as sensitive" in verdict.remark) == (expected.remark, True)


@pytest.mark.parametrize(
    ("named", "shown"),
    [(("x", "y"), ""), (("x",), "counts 'y', which is not named"), (("a", "x", "y"), "lists 'a', which is")],
)
def test_named_items_are_looked_for_on_all_lines(named, shown):
    texts = ['{"baskets": [["a"], ["b"]], "sensitive": {"x": 1}}'] * 3
    texts.append('{"baskets": [["b"], ["c"]], "sensitive": {"y": 1}}')
    model = PrivacyDegree(p=2, sensitive=named)
    expected = model.verify(read_groups(Lines("all", texts)))
    for seed in range(4):
        (verdict,) = judge_lines([model], lines_of(texts, seed), partial(parsed, read_groups))[0]
        assert (verdict.holds, verdict.offender_count) == (not shown, expected.offender_count)
        assert all(shown in one.why for one in verdict.offenders)


def test_an_item_that_is_secret_on_another_line_is_found():
    texts = ['{"baskets": [["a"], ["b"]], "sensitive": {"x": 1}}'] * 3
    texts.append('{"baskets": [["x"]], "sensitive": {}}')
    for seed in range(6):
        (verdict,) = judge_lines([PrivacyDegree(p=2)], lines_of(texts, seed), partial(parsed, read_groups))[0]
        assert (verdict.holds, verdict.value, verdict.offender_count) == (False, 1, 1)
        assert "lists 'x', which is sensitive" in verdict.offenders[0].why


@given(data=baskets(least=6, most=40), seed=st.integers(0, 1000), k=st.integers(2, 4), m=st.integers(1, 3))
def test_clusters(data, seed, k, m):
    release, _ = Disassociation(k=2, m=2).anonymize(data, seed=seed)
    texts = tree_lines(release.data)
    model = Disassociated(k=k, m=m)
    verdict, *nothing = judge_lines([model], lines_of(texts, seed), partial(parsed, read_clusters))[0]
    assert bool(nothing) == (not len(data.items))
    expected = model.verify(release.data)
    assert (verdict.holds, verdict.value, verdict.offender_count) == (
        expected.holds,
        expected.value,
        expected.offender_count,
    )

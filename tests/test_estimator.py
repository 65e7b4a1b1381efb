"""The transformer for scikit-learn: its own checks, and that classes have k rows."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the extra learning is not installed")

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from shoal.estimator import Anonymizer


def test_the_checks_of_scikit_learn() -> None:
    """Every check that applies: none is expected to fail, and few are skipped."""
    done = check_estimator(Anonymizer(k=2), on_skip=None)
    status = Counter(one["status"] for one in done)
    assert set(status) <= {"passed", "skipped"}
    assert status["passed"] > 40
    assert status["skipped"] <= 3


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(5, 60), st.integers(1, 3), st.integers(0, 2**30))
def test_every_row_has_the_numbers_of_k_others(k: int, rows: int, columns: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 12, (rows, columns)).astype(float)
    made = Anonymizer(k=k)
    found = made.fit_transform(numbers)
    counts = Counter(map(tuple, found.tolist()))
    assert min(counts.values()) >= k
    assert np.allclose(found.sum(axis=0), numbers.sum(axis=0)), "means keep the sums"


def test_it_stands_in_a_pipeline_and_keeps_names() -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame({"age": random.integers(20, 90, 200), "hours": random.normal(40, 8, 200)})
    old = (frame["age"] > 55).to_numpy()
    made = make_pipeline(Anonymizer(k=5), LogisticRegression()).fit(frame.to_pandas(), old)
    assert made.score(frame.to_pandas(), old) > 0.9
    assert made[0].get_feature_names_out().tolist() == ["age", "hours"]
    with pytest.raises(ValueError, match="below k=500"):
        Anonymizer(k=500).fit(frame.to_pandas())

"""Values that pycanon 1.3.6 computes for a table without missing cells and with row numbers for an index.

Where it is right: its entropy is rounded down after floating point has lost a digit, its recursive diversity takes the
rarest value for the most frequent one, and its δ leaves out values that are absent from a class.
"""

import pytest
from tests.tables import table

from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.entropy_diversity import EntropyDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.recursive_diversity import RecursiveDiversity
from shoal.models.t_closeness import TCloseness

PATIENTS = table(
    {
        "age": ["20-40"] * 6 + ["41-60"] * 5 + ["61-80"] * 4,
        "city": list("AAABBBAAAAABBBB"),
        "illness": [
            *("flu", "cold", "flu", "gout", "cold", "flu", "flu", "flu"),
            *("cold", "gout", "gout", "cold", "gout", "flu", "flu"),
        ],
        "income": [10, 20, 20, 10, 30, 40, 40, 40, 10, 20, 50, 30, 20, 50, 10],
    },
    sensitive=["illness", "income"],
)


@pytest.mark.parametrize(
    ("column", "k", "distinct", "alpha", "t", "beta"),
    [
        ("illness", 3, 2, 0.6666666666666666, 0.2666666666666666, 0.5000000000000001),
        ("income", 3, 2, 0.6666666666666666, 0.24999999999999997, 1.5),
    ],
)
def test_the_same_values(column: str, k: int, distinct: int, alpha: float, t: float, beta: float) -> None:
    assert KAnonymity(k=2).verify(PATIENTS).value == k
    assert DistinctDiversity(l=2, column=column).verify(PATIENTS).value == distinct
    assert AlphaKAnonymity(alpha=1, column=column).verify(PATIENTS).value == pytest.approx(alpha)
    assert TCloseness(t=1, column=column).verify(PATIENTS).value == pytest.approx(t)
    assert BetaLikeness(beta=9, form="basic", column=column).verify(PATIENTS).value == pytest.approx(beta)


def test_where_it_is_wrong() -> None:
    """The class (2,1) has an entropy of 1.89 values, and its most frequent value occurs twice as often as the other."""
    assert EntropyDiversity(l=1.5, column="illness").verify(PATIENTS).value == pytest.approx(1.8899, abs=1e-4)
    assert RecursiveDiversity(c=1, l=2, column="illness").verify(PATIENTS).value == 2

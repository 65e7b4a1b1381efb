"""What names look like that are not read as numbers or dates."""

import numpy as np
import pytest

from shoal.data.domain import Domain, Kind
from shoal.data.profile import format_hint


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (
            ("2011-10-31 14:41:00", "2011-11-01T09:00"),
            "timestamps; --kind 'date of visit=date' takes the days",
        ),
        (("31.10.2011 14:41",), "timestamps"),
        (("10/11/2011", "1/2/2011"), "day and month cannot be distinguished (MM/DD or DD/MM?)"),
        (("10/31/2011", "1/2/2011 8:26"), "dates; --date-format 'date of visit=MM/DD/YYYY' takes"),
        (("31/10/11", "1/2/12"), "dates; --date-format 'date of visit=DD/MM/YY' takes"),
        (("31/10/2011", "10/31/2011"), ""),
        (("61,5", "70", "-3,25"), "decimal comma"),
        (("1.061,5",), "decimal comma"),
        (("61", "70"), ""),
        (("61,5", "a"), ""),
        (("2011-10-31 14:41:00", "never"), ""),
        ((), ""),
    ],
)
def test_lookalikes(labels: tuple[str, ...], said: str) -> None:
    missing = Domain(Kind.NOMINAL, (*labels, ""), missing=len(labels))
    for domain in (Domain(Kind.NOMINAL, labels), missing):
        found = format_hint("date of visit", domain)
        assert said in found
        assert bool(found) == bool(said)


def test_what_was_read_as_numbers_is_no_lookalike() -> None:
    assert format_hint("x", Domain(Kind.NUMERIC, ("1", "2"), np.array([1.0, 2.0]))) == ""

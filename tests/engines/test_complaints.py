"""What Spark says in a page is said in a sentence."""

import pytest

from shoal.engines.complaints import said
from shoal.errors import EngineFailed


class Py4JNetworkError(Exception):
    """By the name of the real one, whose library need not be there."""


@pytest.mark.parametrize(
    "error", [ConnectionResetError("gone"), EOFError(), Py4JNetworkError("An error occurred while calling")]
)
def test_a_jvm_that_is_gone(error: Exception) -> None:
    with pytest.raises(EngineFailed, match=r"has ended in the middle of the work.*--memory"), said():
        raise error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), said():
        raise ZeroDivisionError

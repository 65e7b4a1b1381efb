"""What Spark says in a page is said in a sentence."""

import logging

import pytest

from shoal.engines._spark_session import said
from shoal.errors import EngineFailed


class Py4JNetworkError(Exception):
    """By the name of the real one, whose library need not be there."""


class Py4JError(Exception):
    """Likewise."""


def of(cause: Exception) -> Exception:
    """An error that came of another."""
    error = Py4JError("Unable to parse datatype")
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("gone"),
        EOFError(),
        Py4JNetworkError("An error occurred while calling"),
        Py4JError("An error occurred while calling o83.getResult"),
        of(ConnectionRefusedError(111, "Connection refused")),
    ],
)
def test_a_jvm_that_is_gone(error: Exception) -> None:
    with pytest.raises(EngineFailed, match=r"has ended in the middle of the work.*`memory`"), said():
        raise error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), said():
        raise ZeroDivisionError


def test_a_sentence_of_ours_stays_what_it_is() -> None:
    """Also where it came of a connection that failed: no session could be started."""
    with pytest.raises(EngineFailed, match="no such master"), said():
        raise EngineFailed("no such master") from ConnectionRefusedError()


def test_a_python_without_our_packages_is_told_with_its_remedy() -> None:
    class PythonException(Exception):
        pass

    PythonException.__module__ = "pyspark.errors"
    with pytest.raises(EngineFailed, match=r"has no module polars.*PYSPARK_PYTHON"), said():
        raise PythonException("Traceback …\nModuleNotFoundError: No module named 'polars'\n at java…")


@pytest.fixture(autouse=True)
def _no_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that was lost before leaves a filter."""
    monkeypatch.setattr(logging.getLogger(), "filters", [])


def log(path: str) -> None:
    """Log an error as the code of a file does."""
    exec(compile("import logging; logging.error('no answer')", path, "exec"))


def test_what_py4j_logs_is_kept_from_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    """It would come before the one sentence; what others log is shown, and all of it afterwards."""
    with said():
        with said():
            log("/lib/py4j-0.10-src.zip/py4j/java_gateway.py")
        log("/lib/py4j/clientserver.py")
        assert not caplog.records
        log("/lib/mine.py")
        assert len(caplog.records) == 1
    log("/lib/py4j/java_gateway.py")
    assert len(caplog.records) == 2


def test_loggers_are_left_as_they_were(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nobody handles what is logged, py4j would put a handler there that stays."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    filters = list(root.filters)
    with said():
        log("/lib/py4j/java_gateway.py")
        log("/lib/mine.py")
    assert (root.handlers, root.filters) == ([], filters)
    assert capsys.readouterr().err == "no answer\n"

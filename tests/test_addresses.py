"""Passwords in addresses are never shown."""

import pickle

import pytest

from shoal.addresses import without_passwords
from shoal.errors import BadData, CannotWrite, ShoalError, UnknownName, WrongUse


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("postgresql://ann:s3cret@host/clinic", "postgresql://ann@host/clinic"),
        ("postgres://ann:s3/cr et@host:5432/clinic?table=t", "postgres://ann@host:5432/clinic?table=t"),
        ("postgresql://ann:s3@cret@host/clinic", "postgresql://ann@host/clinic"),
        ("POSTGRESQL://:s3cret@host/clinic", "POSTGRESQL://@host/clinic"),
        ("postgresql://host/clinic?user=ann&password=s3cret", "postgresql://host/clinic?user=ann"),
        ("postgresql://host/x?password=s3cret&sslpassword=s3cret&table=t", "postgresql://host/x?table=t"),
        ("postgresql://host/x?pass%77ord=s3cret", "postgresql://host/x"),
        ("https://ann:s3cret@host/a.csv?access_token=s3cret#top", "https://ann@host/a.csv#top"),
        ("read postgresql://ann:s3cret@host/clinic: gone", "read postgresql://ann@host/clinic: gone"),
        ('path = "postgresql://ann:s3cret@host/clinic"', 'path = "postgresql://ann@host/clinic"'),
    ],
)
def test_what_is_taken_away(text: str, cleaned: str) -> None:
    assert without_passwords(text) == cleaned
    assert without_passwords({"a": [text, (text,)], "b": 1}) == {"a": [cleaned, (cleaned,)], "b": 1}


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann@host:5432/clinic?table=passwords",
        "postgresql://host:5432/clinic was asked by ann@example.org",
        "sqlite:///home/ann:bob@work/clinic.db?table=a",
        "s3://bucket/a@b:c.csv",
        "Is it hdfs://host:9000/people.csv? Say it.",
        "a:b@c ?password=x",
    ],
)
def test_what_stays(text: str) -> None:
    assert without_passwords(text) == text


@pytest.mark.parametrize(
    "error",
    [
        WrongUse("no postgresql://ann:s3cret@host/x"),
        BadData("nothing", "postgresql://ann:s3cret@host/x"),
        UnknownName("column", "a", ["b"], "postgresql://ann:s3cret@host/x"),
        CannotWrite("postgresql://ann:s3cret@host/x", OSError(28, "No space left on device")),
    ],
)
def test_errors_hold_no_password(error: ShoalError) -> None:
    for one in (error, pickle.loads(pickle.dumps(error)) if type(error) in (WrongUse, BadData) else error):
        assert "postgresql://ann@host/x" in str(one)
        assert "s3cret" not in str(one)

"""Remove passwords from addresses, so that no file, display or message of Shoal ever contains one."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

Plain = TypeVar("Plain")

_SECRET = re.compile(r"pass|pwd|secret|token|credential|signature|accesskey", re.IGNORECASE)
"""Names of query parameters whose values must stay secret."""

# In a database's address, the password ends at the last @. A slash or a blank in it makes the address invalid, but it
# is still a password.
_DATABASE = re.compile(r"(\bpostgres(?:ql)?://[^\s:@/?#]*):(?!\d+(?:[/?#\s]|$))[^\n\"'?]*@", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:@/?#]*):[^\s/?#]*@", re.IGNORECASE)
_QUERY = re.compile(r"\?[^\s#\"'<>]+")


def without_passwords(value: Plain) -> Plain:
    """Remove the passwords from all addresses in a text, or in the texts inside plain data.

    >>> without_passwords("postgresql://ann:secret@host/clinic?sslpassword=x&table=visits")
    'postgresql://ann@host/clinic?table=visits'
    >>> without_passwords({"population": ["https://ann:secret@host/people.csv", 3]})
    {'population': ['https://ann@host/people.csv', 3]}
    """
    cleaned: Any = value
    if isinstance(value, str) and "://" in value:
        cleaned = _QUERY.sub(_public, _AUTHORITY.sub(r"\1@", _DATABASE.sub(r"\1@", value)))
    elif isinstance(value, Mapping):
        cleaned = {key: without_passwords(part) for key, part in value.items()}
    elif type(value) in (list, tuple):
        parts: Any = value
        cleaned = type(parts)(map(without_passwords, parts))
    return cleaned  # type: ignore[no-any-return]


def _public(query: re.Match[str]) -> str:
    """The query of an address without its secret parameters."""
    given = re.split("[&;]", query[0][1:])
    public = [one for one in given if "=" not in one or not _SECRET.search(unquote(one.partition("=")[0]))]
    if len(public) == len(given):
        return query[0]
    return f"?{'&'.join(public)}" if public else ""

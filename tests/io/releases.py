"""One release of each form."""

from dataclasses import replace
from typing import Any

from tests.naive import published_sets as naive
from tests.tables import column

from shoal.data.release import Published, Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.io.baskets.load import read_baskets

TABLE = Table(
    (
        column("age", ["[30,39]", "[20,29]", "[30,39]", None]),
        column("disease", ["flu", "cold", "flu", "flu"], Role.SENSITIVE),
        column("note", ["a,b", 'say "x"', "two\nlines", "*"], Role.INSENSITIVE),
    )
)
BASKETS = read_baskets([["b", "s"], [], ["a", "b"], ["b"]], sensitive=["s"], insensitive=["a"])
GROUPS = naive.groups_of(
    [{"baskets": [["b"], ["a"]], "sensitive": {"s": 1}}, {"baskets": [["a"]], "sensitive": {}}]
)
CLUSTERS = naive.clusters_of(
    [
        {"joint": [{"size": 2, "chunks": [], "terms": ["a"]}] * 2, "shared": []},
        {"size": 3, "chunks": [], "terms": []},
    ]
)


def release_of(data: Published, **changes: Any) -> Release:
    """A release of that data."""
    made = Release(data, "mondrian", {"k": 2}, ({"model": "k-anonymity", "k": 2},), 3, {"levels": {"age": 1}})
    return replace(made, **changes)

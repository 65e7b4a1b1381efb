"""Hierarchies as they stand in files, and as rows."""

from collections.abc import Callable
from pathlib import Path

from shoal.data.hierarchy import Hierarchy

MARITAL = """\
Never-married,NM
Married-civ-spouse,Married
Married-AF-spouse,Married
Divorced,leave
Separated,leave
Widowed,alone
Married-spouse-absent,alone
NM,*
Married,*
leave,*
alone,*
"""

AMNESIA = """\
distinct
name animals
type string
height 3

mammal has cat dog
bird has tit (null)

any has mammal bird

"""

RANGES = """\
range
name age
type int
height 3

0.0,50.0 has 0.0,25.0 25.0,50.0
50.0,100.0 has 50.0,100.0

0.0,100.0 has 0.0,50.0 50.0,100.0

"""

Files = Callable[..., Path]
"""The fixture ``file``."""


def rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """The path of every leaf up to the root, in the order of leaves."""
    return list(hierarchy.paths())

"""Format numbers with nouns in singular or plural, and find unused names."""

from collections.abc import Collection
from itertools import chain, count


def counted(number: int, nouns: str) -> str:
    """Format a number with its noun, which is given in the plural.

    >>> counted(1, "rows"), counted(1200, "rows"), counted(1, "classes"), counted(1, "hierarchies")
    ('1 row', '1,200 rows', '1 class', '1 hierarchy')
    """
    return f"{number:,} {singular(nouns) if number == 1 else nouns}"


def singular(nouns: str) -> str:
    """The singular of a plural noun.

    >>> [singular(nouns) for nouns in ("rows", "classes", "hierarchies", "different values", "vectors of levels")]
    ['row', 'class', 'hierarchy', 'different value', 'vector of levels']
    """
    noun, of, whose = nouns.partition(" of ")
    for ending, one in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + one + of + whose
    return nouns


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: the given one, or with a number appended.

    >>> free_name("group", ("age", "group")), free_name("group", ())
    ('group_2', 'group')
    """
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(one for one in names if one not in taken)

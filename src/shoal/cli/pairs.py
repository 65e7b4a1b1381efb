"""Pairs of a name and a value, as the command line takes them: ``age=intervals:5,10``."""

import os
import re
from collections.abc import Callable, Sequence

from shoal.errors import WrongUse

Fits = Callable[[str], bool]
"""Whether a text can be the value of a pair."""


def pairs_of(texts: Sequence[str], option: str, fits: Fits | None = None) -> dict[str, str]:
    """Pairs, one a text: ``--hierarchy age=intervals:5,10 --hierarchy zip=mask``.

    Parameters
    ----------
    texts
        What was given.
    option
        Of which, for messages.
    fits
        Finds the place between name and value, where a name holds a ``=`` itself.

    >>> pairs_of(["age=intervals:5,10", "zip=mask"], "--hierarchy")
    {'age': 'intervals:5,10', 'zip': 'mask'}
    """
    pairs: dict[str, str] = {}
    for text in texts:
        pair = parted(text, fits)
        if pair is None:
            raise WrongUse(f"{option} takes NAME=VALUE, not {text!r}.")
        if pair[0] in pairs:
            raise WrongUse(f"{option} is given twice for {pair[0]!r}.")
        pairs[pair[0]] = pair[1]
    return pairs


def parted(text: str, fits: Fits | None = None) -> tuple[str, str] | None:
    r"""The name and the value of a pair, or None where there are none.

    They are parted by the first ``=`` that has a value behind it; or by the first of all, where no value fits. One with
    a backslash before it belongs to the name.

    >>> parted("a=b=2", is_number), parted(r"a\=b=c=d"), parted("a=b=c"), parted("a=")
    (('a=b', '2'), ('a=b', 'c=d'), ('a', 'b=c'), None)
    """
    places = [match.start() for match in re.finditer(r"(?<!\\)=", text)]
    pairs = [(text[:place].replace("\\=", "=").strip(), text[place + 1 :].strip()) for place in places]
    pairs = [pair for pair in pairs if all(pair)]
    return next((pair for pair in pairs if fits is None or fits(pair[1])), next(iter(pairs), None))


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_kind(text: str) -> bool:
    """Whether a text is a kind of column."""
    from shoal.data.domain import Kind

    return text in set(Kind)


def is_hierarchy(text: str) -> bool:
    """Whether a text is a builder of hierarchies, or a file that is there.

    >>> parted("a=b=mask", is_hierarchy), parted("grade=order:1=low,2=high", is_hierarchy)
    (('a=b', 'mask'), ('grade', 'order:1=low,2=high'))
    """
    from shoal.data._hierarchy_builders import BUILDERS

    return text.partition(":")[0] in BUILDERS or os.path.isfile(text)

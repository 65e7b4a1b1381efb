"""Published texts that are a value of the original column, or a range between two: most of them, read at once."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes
from shoal.data.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class PlainTexts:
    """What some texts say of a domain, an entry a text."""

    texts: list[str]  # the texts
    exact: Codes  # the code of the value whose label a text is; -1 where it is none
    low: Codes
    high: Codes
    """`low`, `high`: the codes at the ends of ``[low,high]``, both included, where both are labels and no label holds
    the comma; -1 where a text is nothing like it. The missing value is no end."""


def plain_texts(domain: Domain, texts: list[str]) -> PlainTexts:
    """Look up texts and their ends among the labels of a domain."""
    codes = {label: code for code, label in enumerate(domain.labels)}
    find = codes.get
    exact = np.array([find(text, -1) for text in texts], dtype=np.int32)
    if domain.missing is not None:
        del codes[""]
    ends = [text[1:-1].split(",") if text[:1] == "[" and text[-1] == "]" else () for text in texts]
    pairs = [(find(pair[0], -1), find(pair[1], -1)) if len(pair) == 2 else NONE for pair in ends]
    low, high = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    both = (low >= 0) & (high >= 0)
    return PlainTexts(texts, exact, np.where(both, low, -1), np.where(both, high, -1))


NONE = (-1, -1)

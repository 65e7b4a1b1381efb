"""Raw data in the form of a release, so that an attack asks both the same question.

Of groups and linked tables an adversary knows all that is public, and asks for the secret. In the raw data she sees the
secrets of all who are alike in public: these are groups too, and nothing else is.
"""

from typing import Any

import numpy as np

from shoal.arrays import Indptr, Items, ascending, indptr_by, indptr_of, taken
from shoal.data._equal_rows import mixed_codes
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.data.linked import Linked, linked
from shoal.data.table import Table


def in_form_of(original: Any, published: Any) -> Any:
    """The original as groups or linked tables of those who are alike in public; as it is beside any other form."""
    if isinstance(published, Groups) and isinstance(original, Baskets):
        return _grouped(original)
    if isinstance(published, Linked) and isinstance(original, Table) and published.secrets.sensitive:
        return _linked(original, published)
    return original


def _grouped(baskets: Baskets) -> Groups:
    """Groups of the baskets that hold the same public items."""
    public, secret = (_only(baskets, items) for items in (baskets.public, baskets.sensitive))
    number = np.unique(ragged_ranks(*public), return_inverse=True)[1]
    count = int(number.max(initial=-1)) + 1
    order = ascending(number)
    basket_indptr, places = taken(public[0], order)
    width = max(len(baskets.vocabulary), 1)
    owners = np.repeat(number, np.diff(secret[0]))
    pairs, counts = np.unique(owners * width + secret[1], return_counts=True)
    return Groups(
        indptr_by(number, count),
        basket_indptr,
        public[1][places],
        np.searchsorted(pairs, np.arange(count + 1) * width),
        pairs % width,
        counts,
        baskets.vocabulary,
    )


def _only(baskets: Baskets, items: Items) -> tuple[Indptr, Items]:
    """Where the baskets of some items alone begin, and these items by their codes."""
    stays = np.isin(baskets.items, items)
    return indptr_of(stays)[baskets.indptr], baskets.items[stays]


def _linked(table: Table, published: Linked) -> Linked:
    """Linked tables whose groups are the rows that are alike in all public cells."""
    public = tuple(table.column(one.name) for one in published.known() if one.name in table.names)
    secrets = tuple(table.column(one.name) for one in published.secrets.sensitive if one.name in table.names)
    codes = [(column.codes, len(column.domain)) for column in public]
    number = np.unique(mixed_codes(codes, table.rows), return_inverse=True)[1]
    return linked(public, number, secrets, number, published.link)[0]

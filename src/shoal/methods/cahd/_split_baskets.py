"""Baskets split into public and sensitive items, for the methods that publish groups."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Indptr, Items, Rows, ascending, flagged
from shoal.data._basket_orders import Distinct, baskets_among, public_baskets, sensitive_items, turns_among
from shoal.data.baskets import Baskets
from shoal.errors import Infeasible, WrongUse
from shoal.models.privacy_degree import PrivacyDegree

NAMED = 5
"""The most sensitive items that a refusal names."""


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Rows with their public and their sensitive items kept separately.

    `public`: codes of the items that are published in baskets: all that occur and are not sensitive. `sensitive`: codes
    of the sensitive items. `distinct`: the distinct baskets of public items, numbered among `public`, and which one
    each row has. `secret_indptr`, `secrets`: the sensitive items of each row, numbered among `sensitive`.
    """

    public: Items
    sensitive: Items
    distinct: Distinct
    secret_indptr: Indptr
    secrets: Items

    def __len__(self) -> int:
        return len(self.secret_indptr) - 1

    def arranged(self, order: Rows, ties: Rows) -> Rows:
        """All rows, ordered by the places of their baskets in an order of the distinct ones.

        `ties`: all rows, in the order that decides among rows with equal baskets.
        """
        place = np.empty(len(self.distinct), dtype=np.int64)
        place[order] = np.arange(len(order))
        return ties[ascending(place[self.distinct.of_row[ties]])]

    def secrets_of(self, rows: Rows) -> tuple[Indptr, Items]:
        """The sensitive items of some rows, in the given order."""
        from shoal.kernels.ragged import take_rows

        found: tuple[Indptr, Items] = take_rows(self.secret_indptr, self.secrets, rows)
        return found


def sheet_of(baskets: Baskets, supports: Counts | None = None) -> Sheet:
    """Split baskets into public and sensitive items.

    `supports`: the supports of all items in all baskets, if these are only a part of them.
    """
    secret = flagged(baskets.sensitive, len(baskets.vocabulary))
    # Items that nobody holds get no number, because a reader of the release would not know of them.
    known = ~secret & ((baskets.supports if supports is None else supports) > 0)
    secret_indptr, codes = sensitive_items(baskets)
    return Sheet(
        public=np.flatnonzero(known).astype(np.int32),
        sensitive=baskets.sensitive,
        distinct=public_baskets(baskets) if supports is None else baskets_among(baskets, known),
        secret_indptr=secret_indptr,
        secrets=turns_among(secret)[codes],
    )


def basket_counts(sheet: Sheet) -> dict[str, int]:
    """Notes on some baskets for the data's owner."""
    bare = np.diff(sheet.distinct.indptr) == 0
    return {
        "distinct_baskets": len(sheet.distinct),
        "baskets_without_public_items": int(sheet.distinct.counts[bare].sum()),
    }


def degree_of(baskets: Baskets, supports: Counts, p: int) -> PrivacyDegree:
    """The promise with the names of the sensitive items that occur, or of all of them if none occurs."""
    held = baskets.sensitive[supports[baskets.sensitive] > 0]
    named = held if len(held) else baskets.sensitive
    return PrivacyDegree(p=p, sensitive=tuple(baskets.vocabulary[item] for item in named.tolist()))


def refuse_infeasible(baskets: Baskets, supports: Counts, rows: int, p: int) -> None:
    """Refuse a degree that no groups can keep, because a sensitive item is in more than one p-th of all baskets.

    `baskets`: vocabulary and roles. `supports`, `rows`: how many baskets hold each item, and how many there are. Raises
    `WrongUse` if no item is sensitive. Raises `Infeasible` with the largest degree that can be promised, overall and
    for each item that rules out p.
    """
    if not len(baskets.sensitive):
        raise WrongUse(
            "No item is sensitive, so there is nothing to hide; name those that must not be learned with --sensitive."
        )
    supports = supports[baskets.sensitive]
    worst = np.flatnonzero(supports * p > rows)
    if not len(worst):
        return
    worst = worst[np.argsort(-supports[worst], kind="stable")]
    best = int(rows // supports[worst[0]])
    excesses = "; ".join(
        f"{baskets.vocabulary[baskets.sensitive[item]]!r} is in {supports[item]} of {rows} baskets: at most p = "
        f"{rows // supports[item]}"
        for item in worst[:NAMED].tolist()
    )
    more = f"; and {len(worst) - NAMED} more items" if len(worst) > NAMED else ""
    advice = (
        f"The largest p is {best}."
        if best >= 2
        else "No p from 2 on can be kept: leave the baskets or the item out."
    )
    raise Infeasible(f"p = {p} cannot be kept: {excesses}{more}. {advice}", best)

"""The published cells of joined classes: the smallest text that covers the cells of all of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Floats, Rows, distinct
from shoal.data.domain import Domain, Kind
from shoal.data.published_syntax import SUPPRESSED, range_text, set_members, set_text
from shoal.data.table import Column


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The published texts of a column as intervals of an order of its values."""

    low: Rows
    high: Rows
    """`low`, `high`: the first and the last place that each text covers; -1 if it has none, such as a missing value."""
    count: int  # the number of places
    text: Callable[[int, int], str] | None
    """The text of the interval between two places; None if intervals have no text, and texts are joined as sets."""
    values: frozenset[str] = frozenset()
    """The values of the original, which are never read as sets, whatever they look like."""

    def ends(self) -> tuple[Floats, Floats]:
        """The intervals as shares of the order, from 0 to 1; a text without a place covers everything."""
        none = self.low < 0
        last = max(self.count - 1, 1)
        return np.where(none, 0.0, self.low / last), np.where(none, 1.0, self.high / last)


def places_of(published: Column, original: Column) -> Places:
    """The places of a published column's texts, in the order of the original's hierarchy or values, or of the texts."""
    labels = published.domain.labels
    if original.hierarchy is not None:
        return _in_tree(labels, original)
    ordered = _ordered(labels, original)
    if ordered is not None:
        return ordered
    ranks = published.domain.ranks().astype(np.int64)
    return Places(ranks, ranks, len(labels), None, frozenset(original.domain.labels))


def joined_column(published: Column, places: Places, classes: Codes, group: Rows) -> tuple[Column, Codes]:
    """Make the published texts of joined classes.

    `classes`: the published code of each class. `group`: the joined class of each class. Returns the column with old
    and new texts in its domain, and the code of each joined class.
    """
    labels = dict.fromkeys(published.domain.labels)
    pairs = distinct(group * len(published.domain) + classes)
    starts = np.searchsorted(pairs, np.arange(int(group.max()) + 2) * len(published.domain))
    codes = pairs % len(published.domain)
    single = np.diff(starts) == 1
    texts = [""] * (len(starts) - 1)
    known: dict[tuple[int, ...], str] = {}
    for place in np.flatnonzero(~single).tolist():
        members = tuple(codes[starts[place] : starts[place + 1]].tolist())
        if members not in known:
            known[members] = _joined(members, published.domain, places)
        texts[place] = known[members]
        labels.setdefault(texts[place])
    domain = _domain(tuple(labels), published.domain.missing is not None)
    numbers = {label: code for code, label in enumerate(domain.labels)}
    moved = np.array([numbers[label] for label in published.domain.labels], dtype=np.int32)
    new = np.zeros(len(texts), dtype=np.int32)
    new[single] = moved[codes[starts[:-1][single]]]
    joint = np.flatnonzero(~single)
    new[joint] = [numbers[texts[place]] for place in joint.tolist()]
    return replace(published, domain=domain, codes=moved[published.codes], hierarchy=None), new


def _joined(members: tuple[int, ...], domain: Domain, places: Places) -> str:
    """The text that covers several texts."""
    texts = [domain.labels[code] for code in members]
    if SUPPRESSED in texts or (domain.missing is not None and domain.missing in members):
        return SUPPRESSED
    low, high = places.low[list(members)], places.high[list(members)]
    if places.text is not None and int(low.min()) >= 0:
        return places.text(int(low.min()), int(high.max()))
    members_of = ([text] if text in places.values else set_members(text) or [text] for text in texts)
    return set_text({part for parts in members_of for part in parts})


def _domain(labels: tuple[str, ...], missing: bool) -> Domain:
    if not missing:
        return Domain(Kind.NOMINAL, labels)
    kept = (*(label for label in labels if label != ""), "")
    return Domain(Kind.NOMINAL, kept, missing=len(kept) - 1)


def _in_tree(labels: tuple[str, ...], original: Column) -> Places:
    """Places in depth-first order of leaves: nodes cover the leaves under them, ranges and sets those they name."""
    hierarchy = original.hierarchy
    assert hierarchy is not None
    order = hierarchy.depth_first()
    turn = np.argsort(order)
    stretch: dict[str, tuple[int, int]] = {}
    for level in range(hierarchy.height, -1, -1):
        nodes = hierarchy.nodes_at(level)
        first = np.full(len(hierarchy.labels[level]), len(order), dtype=np.int64)
        last = np.full(len(hierarchy.labels[level]), -1, dtype=np.int64)
        np.minimum.at(first, nodes, turn)
        np.maximum.at(last, nodes, turn)
        stretch |= dict(
            zip(hierarchy.labels[level], zip(first.tolist(), last.tolist(), strict=True), strict=True)
        )
    leaf = {text: (int(turn[place]), int(turn[place])) for place, text in enumerate(hierarchy.leaves)}

    def find(text: str) -> tuple[int, int]:
        if text in stretch:
            return stretch[text]
        parts = set_members(text) or list(_ends(text) or (text,))
        known = [leaf.get(part, (-1, -1)) for part in parts]
        bottom = min(low for low, _ in known)
        return (-1, -1) if bottom < 0 else (bottom, max(high for _, high in known))

    def text_of(low: int, high: int) -> str:
        level = int(
            hierarchy.common_level(np.array([low], dtype=np.int32), np.array([high], dtype=np.int32), order)[
                0
            ]
        )
        return hierarchy.labels[level][int(hierarchy.nodes_at(level)[order[low]])]

    found = np.array([find(text) for text in labels], dtype=np.int64).reshape(-1, 2)
    return Places(found[:, 0], found[:, 1], len(order), text_of)


def _ordered(labels: tuple[str, ...], original: Column) -> Places | None:
    """Places in the order of the values; None if the column, or one of the texts, has no place in an order."""
    domain = original.domain
    if domain.kind is Kind.NOMINAL:
        return None
    place = {label: code for code, label in enumerate(domain.labels[: domain.present])}
    found = []
    for text in labels:
        ends = (text, text) if text in place else _ends(text) or ("", "")
        if text not in ("", SUPPRESSED) and not (ends[0] in place and ends[1] in place):
            return None
        found.append((place.get(ends[0], -1), place.get(ends[1], -1)))
    low_high = np.array(found, dtype=np.int64).reshape(-1, 2)
    texts = domain.labels
    return Places(
        low_high[:, 0], low_high[:, 1], len(place), lambda low, high: range_text(texts[low], texts[high])
    )


def _ends(text: str) -> tuple[str, str] | None:
    """The two ends of a closed range; None if the text is not one."""
    if text[:1] != "[" or text[-1:] != "]" or text.count(",") != 1:
        return None
    low, _, high = text[1:-1].partition(",")
    return low, high

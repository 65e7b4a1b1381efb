"""Whether a release can have been made from an original at all: its raw values must be there."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from shoal.data._item_sets import label_sets
from shoal.data.baskets import Baskets
from shoal.data.dataset import schema_of
from shoal.data.domain import Kind
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED, looks_published, set_members
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.measures._comparison import ColumnPair, Comparison
from shoal.measures._interval_syntax import day, number

PUT_IN = ("basket-rule-hiding",)
"""Methods that may put items into baskets."""


def refuse_other_original(both: Comparison, path: str | None = None) -> None:
    """Refuse an original that holds less than what was published.

    A raw value that is published was a value of the original, and so were the ends of a range that is not a node of a
    hierarchy. Values that are published as they are cannot be more than there were. Each distinct text is looked at
    once. An original that passes may still be another one: it is only not proved to be.

    `both`: the original, with the hierarchies that the release was made with, and the release. `path`: of the
    original, for messages. Raises `BadData`: naming the first value that the original does not have.
    """
    found = next(_foreign(both), None)
    if found is not None:
        column, said = found
        raise BadData(
            f"this is not the original of this release, or it is read in another way: {said}.",
            path=path,
            column=column,
        )


def _foreign(both: Comparison) -> Iterator[tuple[str | None, str]]:
    """What is published and cannot come from the original: the column, and a sentence."""
    original, release = both.original, both.release
    published = schema_of(release.data)
    if isinstance(original, Baskets):
        if not isinstance(published, Table):
            known = set(original.vocabulary)
            if original.hierarchy is not None:
                known.update(text for texts in original.hierarchy.labels for text in texts)
            nodes = release.details.get("nodes", ())
            for item in published.vocabulary:
                if item not in known and item not in nodes:
                    yield None, f"the item {item!r} is published, and no basket of the original has it"
        if isinstance(published, Baskets):
            yield from _other_baskets(both)
        return
    if isinstance(published, Linked):
        yield from _other_linked(original, published)
    for column in published.columns if isinstance(published, Table) else ():
        if column.role is Role.ENTITY or column.name not in original.names:
            continue
        if column.name in release.details.get("perturbed", ()):
            continue
        if both.distributed and column.role not in (Role.QUASI, Role.SENSITIVE):
            continue
        pair = both.column(column.name)
        if column.role is Role.ITEMS:
            yield from _other_items(pair, release)
        elif column.role is Role.QUASI:
            tight = pair.original.hierarchy is None or release.parameters.get("publish") == "ranges"
            for text in _Values(pair, tight).strangers():
                yield column.name, f"{_shown(text)} is published, and no row of the original has it"
        else:
            yield from _too_many(pair)


def _other_linked(original: Table, published: Linked) -> Iterator[tuple[str | None, str]]:
    """Cells of linked tables, which are all published as they were, that are not those of the original."""
    for column in (*published.known(), *published.secrets.sensitive):
        own = original.column(column.name)
        counts = dict(zip(own.domain.labels, np.bincount(own.codes, minlength=len(own.domain)), strict=True))
        found = np.bincount(column.codes, minlength=len(column.domain))
        for label, count in zip(column.domain.labels, found.tolist(), strict=True):
            if count != counts.get(label, 0):
                yield (
                    column.name,
                    f"{_shown(label)} is published {count:,} times, and the original has it otherwise",
                )


def _other_items(pair: ColumnPair, release: Release[Any]) -> Iterator[tuple[str, str]]:
    """Items of a column that nobody holds in the original, and that are no nodes above those."""
    known = {*label_sets(pair.original).vocabulary, *release.details.get("nodes", ())}
    for item in label_sets(pair.published).vocabulary:
        if item not in known:
            yield pair.published.name, f"the item {item!r} is published, and no row of the original has it"


def _other_baskets(both: Comparison) -> Iterator[tuple[None, str]]:
    """Baskets that came or went, and items that are held by more baskets than before."""
    items, release, original = both.items, both.release, both.original
    assert isinstance(original, Baskets)
    if items.published_rows + release.suppressed != items.rows:
        left_out = f" and left {release.suppressed:,} out" if release.suppressed else ""
        yield None, f"the release has {items.published_rows:,} baskets{left_out}, the original {items.rows:,}"
    if release.method in PUT_IN:
        return
    before = dict(zip(original.vocabulary, items.before.tolist(), strict=True))
    for item, after in items.after.items():
        if after > before.get(item, after):
            yield (
                None,
                f"{after:,} baskets of the release hold {item!r}, and {before[item]:,} of the original",
            )


def _shown(text: str) -> str:
    return repr(text) if text else "a missing cell"


def _too_many(pair: ColumnPair) -> Iterator[tuple[str, str]]:
    """Texts of a column that is published as it is which occur more often than in the original."""
    values, published = _Values(pair, tight=False), pair.published
    before = dict(zip(pair.original.domain.labels, pair.counts.tolist(), strict=True))
    for text, after in zip(published.domain.labels, pair.held.tolist(), strict=True):
        if not after or text == SUPPRESSED:
            continue
        if not values.has(text):
            yield published.name, f"{_shown(text)} is published, and no row of the original has it"
        elif text in before and after > before[text]:
            yield (
                published.name,
                f"{_shown(text)} stands in {after:,} rows of the release, and in {before[text]:,} of the original",
            )


class _Values:
    """What occurs in a column of the original.

    `tight`: whether the ends of a published range are values of the column.
    """

    def __init__(self, pair: ColumnPair, tight: bool) -> None:
        column = pair.original
        domain = column.domain
        self._published = dict(zip(pair.published.domain.labels, pair.held.tolist(), strict=True))
        used = np.flatnonzero(pair.counts).tolist()
        self._texts = {domain.labels[code] for code in used}
        self._dates = domain.kind is Kind.DATE
        self._numbers = set() if domain.values is None else {float(domain.values[code]) for code in used}
        self._inner = (
            set() if column.hierarchy is None else {t for texts in column.hierarchy.labels[1:] for t in texts}
        )
        self._tight = tight
        self._raw = not any(map(looks_published, self._texts))

    def has(self, text: str) -> bool:
        """Whether a text is a value that occurs; a number may be written in another way."""
        if text in self._texts:
            return True
        if not self._numbers:
            return False
        return (day(text) if self._dates else number(text)) in self._numbers

    def strangers(self) -> Iterator[str]:
        """The published texts that are, or are made of, values that do not occur.

        Where the original is generalized itself, what was joined to what is not looked into.
        """
        if not self._raw:
            return
        for text, rows in self._published.items():
            suppressed = text and not text.strip(SUPPRESSED)
            if not rows or suppressed or text in self._inner or self.has(text):
                continue
            members = set_members(text)
            if members is not None:
                if not all(member in self._inner or self.has(member) for member in members):
                    yield text
            elif not looks_published(text) or (self._tight and self._is_strange_range(text)):
                yield text

    def _is_strange_range(self, text: str) -> bool:
        """Whether a closed range is not two values with a comma between them; a value may hold commas itself."""
        if text[0] != "[" or text[-1] != "]":
            return False
        inside = text[1:-1]
        commas = [place for place, letter in enumerate(inside) if letter == ","]
        return not any(self.has(inside[:place]) and self.has(inside[place + 1 :]) for place in commas)

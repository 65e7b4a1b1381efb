"""Sets of items in JSON lines: what groups and clusters share when they are read, ordered and written."""

import io
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Rows
from shoal.errors import BadData
from shoal.io.baskets.join_items import Spelling
from shoal.io.releases.part_files import part_files
from shoal.io.source import name_of, read_text

_SET = Spelling("[", ", ", "]\n", "[]\n")


NOT_OURS = "Published groups and clusters have one a line; the file is damaged, or holds something else."


class Place(NamedTuple):
    """A line of a file, for messages."""

    path: str
    line: int


class Lines(NamedTuple):
    """Some lines of a published file, with a name for messages."""

    name: str
    texts: Sequence[str]


class Numbers(dict[str, int]):
    """Texts that are numbered when they are met first; anything that is no text, and the empty one, is an error."""

    def __missing__(self, text: str) -> int:
        if type(text) is not str or not text:
            raise BadData("this is no text, or an empty one.")
        self[text] = len(self)
        return len(self) - 1

    def ranked(self) -> tuple[tuple[str, ...], Items]:
        """The texts in ascending code-point order, and the place of each number in it."""
        order = sorted(self)
        ranks = np.empty(len(order), dtype=np.int32)
        ranks[[self[text] for text in order]] = np.arange(len(order), dtype=np.int32)
        return tuple(order), ranks


class Sets:
    """Sets of texts that are collected line by line, checked, and encoded at the end.

    `numbers`: of the texts of the file.
    """

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self.lengths: list[int] = []
        self.codes: array[int] = array("i")
        self.places: list[tuple[int, Place]] = []
        self.unsorted: Rows = np.empty(0, dtype=np.int64)

    def add(self, sets: object, place: Place, what: str, least: int) -> int:
        """Add a list of sets of at least so many items, and say how many it held."""
        if not isinstance(sets, list) or not set(map(type, sets)) <= {list}:
            raise BadData(f"{what} must be lists of texts.", *place)
        try:
            self.codes.extend(map(self._numbers.__getitem__, chain.from_iterable(sets)))
        except (TypeError, BadData):
            raise BadData(f"{what} must hold texts that are not empty.", *place) from None
        lengths = list(map(len, sets))
        if lengths and min(lengths) < least:
            raise BadData(f"{what} must not be empty; leave the empty ones out.", *place)
        self.places.append((len(self.lengths), place))
        self.lengths += lengths
        return len(sets)

    def encode(self, vocabulary: Sequence[str], ranks: Items) -> tuple[Indptr, Items]:
        """The sets as ascending codes; those that did not ascend are noted under `unsorted`.

        `vocabulary`, `ranks`: as `Numbers.ranked` gives them. Raises `BadData` with its line, if a set holds an item
        twice.
        """
        indptr = indptr_of(self.lengths)
        given = ranks[np.frombuffer(self.codes, dtype=np.int32)] if len(self.codes) else ranks[:0]
        items, self.unsorted, twice = encoded(indptr, given)
        if len(twice):
            item, row = (
                vocabulary[int(items[twice[0]])],
                int(np.searchsorted(indptr, twice[0], side="right") - 1),
            )
            place = next(place for first, place in reversed(self.places) if first <= row)
            raise BadData(f"the item {item!r} stands twice in a set.", *place)
        return indptr, items


def encoded(indptr: Indptr, given: Items) -> tuple[Items, Rows, Rows]:
    """Sets with their items in ascending order, the sets that were not so, and where an item stands again."""
    items = sorted_inside(indptr, given)
    twice = np.flatnonzero(items[1:] == items[:-1]) + 1
    rows = np.searchsorted(indptr, twice, side="right") - 1
    return items, unsorted_rows(indptr, given), twice[indptr[rows] < twice]


def read_json_lines(source: str | Path | Lines) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each line of a file, or of the part files of a folder, as a JSON object with its place.

    Raises `BadData` with its line, if it is no JSON object or names something twice.
    """
    decode = json.JSONDecoder(object_pairs_hook=_once).decode
    for name, texts in _lines_of(source):
        for number, text in enumerate(texts, start=1):
            place = Place(name, number)
            try:
                entry = decode(text)
            except (ValueError, RecursionError) as error:
                reason = str(error) if isinstance(error, ValueError) else "it is nested too deep"
                raise BadData(f"the line is no JSON object: {reason}. {NOT_OURS}", *place) from None
            if not isinstance(entry, dict):
                raise BadData(f"the line is JSON, but no object in braces. {NOT_OURS}", *place)
            yield place, entry


def _lines_of(source: str | Path | Lines) -> Iterator[tuple[str, Iterable[str]]]:
    if isinstance(source, Lines):
        yield source
        return
    for path in part_files(source):
        # Line by line, so that the texts of a large file are not all there at once.
        text = io.BytesIO(read_text(path).removesuffix(b"\n"))
        yield name_of(path), (line.removesuffix(b"\n").decode() for line in text)


def check_keys(entry: object, keys: Sequence[str], place: Place) -> None:
    """Refuse what is not an object with exactly these keys."""
    if not isinstance(entry, dict) or set(entry) != set(keys):
        found = ", ".join(map(repr, entry)) if isinstance(entry, dict) else repr(entry)[:40]
        wanted = ", ".join(map(repr, keys))
        raise BadData(f"an object with {wanted} is expected, and there is {found or 'nothing'}.", *place)


def check_count(value: object, what: str, place: Place) -> int:
    """A positive integer; anything else is refused."""
    if type(value) is not int or not 0 < value < 2**62:
        raise BadData(f"{what} must be a positive whole number, not {json.dumps(value)[:40]}.", *place)
    return value


def set_texts(labels: Sequence[str], indptr: Indptr, items: Items) -> list[str]:
    """The JSON text of each set of items; labels are JSON texts themselves."""
    return "".join(_SET.texts(labels, indptr, items)).split("\n")[:-1]


def json_labels(vocabulary: Sequence[str]) -> list[str]:
    """The JSON text of each item."""
    return [json.dumps(item, ensure_ascii=False) for item in vocabulary]


def indptr_of(lengths: Sequence[int] | Rows) -> Indptr:
    """Where each row of those lengths begins, and where the last ends."""
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))


def order_inside(indptr: Indptr, ranks: AnyArray) -> Rows:
    """The places of all entries, those of a row in ascending order of their ranks; rows stay where they are."""
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return np.lexsort((ranks, rows))


def sorted_inside(indptr: Indptr, items: Items) -> Items:
    """The items of each row in ascending order."""
    width = int(items.max(initial=0)) + 1
    base = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)) * width
    keys = base + items
    if (keys[1:] >= keys[:-1]).all():
        return items
    return np.asarray(np.sort(keys) - base, dtype=items.dtype)


def unsorted_rows(indptr: Indptr, items: Items) -> Rows:
    """The rows whose items do not ascend."""
    falls = np.flatnonzero(items[1:] < items[:-1]) + 1
    rows = np.searchsorted(indptr, falls, side="right") - 1
    return np.unique(rows[indptr[rows] < falls])


def taken(indptr: Indptr, order: Rows) -> tuple[Indptr, Rows]:
    """The rows in another order: where they begin then, and which entries they hold."""
    lengths = np.diff(indptr)[order]
    new = indptr_of(lengths)
    return new, np.repeat(indptr[order] - new[:-1], lengths) + np.arange(new[-1])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise BadData(f"{twice!r} is named twice")
    return entry

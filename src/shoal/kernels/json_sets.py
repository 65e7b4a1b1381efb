"""Read published groups and clusters from JSON lines, byte by byte.

This reads only the form that our own writers produce: with their blanks, without escapes in texts, and with whole
numbers without a sign. Anything else is given up, and left to a reader that can say what is wrong with it.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit, lean
from shoal.kernels.texts import FULL, HASH, PRIME, Texts, number_of

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

QUOTE, BACKSLASH, BLANK, OPEN, CLOSE, BRACE, COMMA, LINE = 34, 92, 32, 91, 93, 125, 44, 10

READ, GIVEN_UP = 0, 1
"""The outcomes besides `FULL` (the table of texts is full): all was read, or something unexpected was found."""


def _word(text: str) -> Array:
    return np.frombuffer(text.encode(), dtype=np.uint8)


BASKETS, SENSITIVE = _word('{"baskets": ['), _word('], "sensitive": {')
SIZE, CHUNKS, TERMS = _word('{"size": '), _word(', "chunks": '), _word(', "terms": ')
JOINT, SHARED = _word('{"joint": ['), _word('], "shared": ')
NEXT, COLON = _word(", "), _word(": ")


class Sets(NamedTuple):
    """Sets of texts, one after another: the numbers of their texts, where each set ends, and the counts of both."""

    items: Array
    ends: Array
    used: Array


@lean
def _after(text: Array, place: Whole, word: Array) -> Whole:
    """The place after a word; -1 if the word is not there."""
    if place < 0 or place + len(word) > len(text):
        return -1
    for letter in range(len(word)):
        if text[place + letter] != word[letter]:
            return -1
    return place + len(word)


@lean
def _text(
    text: Array, place: Whole, slots: Array, begins: Array, ends: Array, used: Array
) -> tuple[Whole, Whole]:
    """The number of the quoted text at a place (-1 if there is none, -2 if there is no room), and where it ends."""
    if place < 0 or place >= len(text) or text[place] != QUOTE:
        return -1, -1
    begin = place + 1
    end = begin
    key = HASH
    while end < len(text) and text[end] != QUOTE:
        letter = text[end]
        if letter == BACKSLASH or letter < BLANK:
            return -1, -1
        key = (key ^ np.uint64(letter)) * PRIME
        end += 1
    if end >= len(text) or end == begin:
        return -1, -1
    return number_of(text, begin, end, key, slots, begins, ends, used), end + 1


@lean
def _number(text: Array, place: Whole) -> tuple[Whole, Whole]:
    """The positive whole number at a place, and the place after it, which is -1 if there is no number."""
    if place < 0:
        return 0, -1
    value, digits = np.int64(0), 0
    while place < len(text) and 48 <= text[place] <= 57 and digits < 18:
        value = 10 * value + (text[place] - 48)
        digits += 1
        place += 1
    if digits == 0 or value == 0 or text[place - digits] == 48 or (digits == 18):
        return 0, -1
    return value, place


@lean
def _set(text: Array, place: Whole, texts: Texts, sets: Sets) -> Whole:
    """Read a list of texts in brackets; returns the place after it, -1 if there is none, -2 if there is no room."""
    if place < 0 or place >= len(text) or text[place] != OPEN:
        return -1
    # Pass single arrays instead of a tuple: a call with a tuple counts references to each of its arrays.
    slots, begins, ends, used = texts
    items, count = sets.items, sets.used[0]
    place += 1
    if place < len(text) and text[place] != CLOSE:
        while True:
            number, place = _text(text, place, slots, begins, ends, used)
            if number < 0:
                return number
            items[count] = number
            count += 1
            if place < len(text) and text[place] == CLOSE:
                break
            place = _after(text, place, NEXT)
            if place < 0:
                return -1
    if place >= len(text):
        return -1
    sets.used[0] = count
    sets.ends[sets.used[1]] = count
    sets.used[1] += 1
    return place + 1


@lean
def read_groups(text: Array, texts: Texts, baskets: Sets, groups: Array, secrets: Sets, counts: Array) -> int:
    """Read groups, one per line.

    `groups`: filled with where the baskets of each group end; as long as there are line ends in the text. `secrets`,
    `counts`: the sensitive items of each group, and how often each occurs.
    """
    slots, begins, ends, used = texts
    place: Whole = 0
    group = 0
    while place < len(text):
        if group == len(groups):  # the last line has no end
            return GIVEN_UP
        place = _after(text, place, BASKETS)
        while True:
            place = _set(text, place, texts, baskets)
            if place < 0:
                return FULL if place == -2 else GIVEN_UP
            if place < len(text) and text[place] == CLOSE:
                break
            place = _after(text, place, NEXT)
        groups[group] = baskets.used[1]
        place = _after(text, place, SENSITIVE)
        if place < 0 or place >= len(text):
            return GIVEN_UP
        if text[place] != BRACE:
            while True:
                number, place = _text(text, place, slots, begins, ends, used)
                if number < 0:
                    return FULL if number == -2 else GIVEN_UP
                count, place = _number(text, _after(text, place, COLON))
                if place < 0 or place >= len(text):
                    return GIVEN_UP
                secrets.items[secrets.used[0]], counts[secrets.used[0]] = number, count
                secrets.used[0] += 1
                if text[place] == BRACE:
                    break
                place = _after(text, place, NEXT)
        secrets.ends[group] = secrets.used[0]
        secrets.used[1] += 1
        group += 1
        place += 1
        if place + 1 >= len(text) or text[place] != BRACE or text[place + 1] != LINE:
            return GIVEN_UP
        place += 2
    return READ


@jit
def _chunks(
    text: Array, place: Whole, texts: Texts, records: Sets, chunks: Array, owners: Array, known: Array
) -> Whole:
    """Read the chunks of the cluster `known[2]`; returns the place after them, or a negative number as `_set` does."""
    if place < 0 or place >= len(text) or text[place] != OPEN:
        return -1
    place += 1
    if place < len(text) and text[place] == CLOSE:
        return place + 1
    while True:
        if place < 0 or place >= len(text) or text[place] != OPEN:
            return -1
        place += 1
        if place < len(text) and text[place] == CLOSE:
            place += 1
        else:
            while True:
                before = records.used[0]
                place = _set(text, place, texts, records)
                if place < 0:
                    return place
                if records.used[0] == before or place >= len(text):
                    return -1
                if text[place] == CLOSE:
                    place += 1
                    break
                place = _after(text, place, NEXT)
        chunks[known[1]], owners[known[1]] = records.used[1], known[2]
        known[1] += 1
        if place < len(text) and text[place] == CLOSE:
            return place + 1
        place = _after(text, place, NEXT)


@jit
def read_clusters(
    text: Array,
    texts: Texts,
    records: Sets,
    chunks: Array,
    owners: Array,
    terms: Sets,
    parents: Array,
    sizes: Array,
    known: Array,
) -> int:
    """Read trees of clusters, one tree per line; the parts of a joint cluster follow it.

    `chunks`, `owners`: filled with where the sub-records of each chunk end, and the cluster it belongs to. `terms`: one
    set for each simple cluster, in their order. `parents`, `sizes`: filled with the parent of each cluster, -1 for the
    root of a tree, and its size, 0 for a joint one. `known`: how many clusters and how many chunks were read, and the
    cluster that is being read.
    """
    place: Whole = 0
    above = np.int64(-1)
    while place < len(text):
        cluster = known[0]
        if cluster == len(parents):
            return GIVEN_UP
        parents[cluster] = above
        known[0] += 1
        behind = _after(text, place, JOINT)
        if behind >= 0:
            sizes[cluster] = 0
            above, place = cluster, behind
            continue
        sizes[cluster], place = _number(text, _after(text, place, SIZE))
        known[2] = cluster
        place = _chunks(text, _after(text, place, CHUNKS), texts, records, chunks, owners, known)
        if place < 0:
            return FULL if place == -2 else GIVEN_UP
        place = _set(text, _after(text, place, TERMS), texts, terms)
        # A cluster has ended, and perhaps also one that it is a part of.
        while True:
            if place < 0 or place + 1 >= len(text):
                return FULL if place == -2 else GIVEN_UP
            if text[place] != BRACE:
                return GIVEN_UP
            place += 1
            if above < 0:
                if text[place] != LINE:
                    return GIVEN_UP
                place += 1
                break
            if text[place] == COMMA:
                place = _after(text, place, NEXT)
                if place < 0:
                    return GIVEN_UP
                break
            known[2] = above
            above = np.int64(parents[above])
            place = _chunks(text, _after(text, place, SHARED), texts, records, chunks, owners, known)
    return READ if above < 0 else GIVEN_UP

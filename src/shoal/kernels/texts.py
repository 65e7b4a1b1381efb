"""Number the texts of a file in order of first appearance, with a hash table of twice as many slots as texts."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit, lean
from shoal.kernels.ragged import write_ranks

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64

HASH, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
"""The constants of the FNV-1a hash: a key starts with `HASH`; each byte is mixed in, and the key multiplied by `PRIME`.
"""

FULL = 2
"""Returned if there are more texts than the table has room for."""

NEWLINE = 10


class Texts(NamedTuple):
    """The texts of a file: hash table slots with their numbers, where each text begins and ends, and their count."""

    slots: Array
    begins: Array
    ends: Array
    used: Array


@lean
def number_of(
    text: Array,
    begin: Whole,
    end: Whole,
    key: Any,
    slots: Array,
    begins: Array,
    ends: Array,
    used: Array,
) -> int:
    """The number of the text between two places, given its key; -2 if it is new and there is no room for it.

    The texts are passed as single arrays, because a call with a tuple counts references to each of its arrays.
    """
    mask = len(slots) - 1
    slot = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(mask))
    while slots[slot] >= 0:
        number = slots[slot]
        first = begins[number]
        if ends[number] - first == end - begin:
            letter = 0
            while letter < end - begin and text[first + letter] == text[begin + letter]:
                letter += 1
            if letter == end - begin:
                return int(number)
        slot = (slot + 1) & mask
    number = used[0]
    if number == len(begins):
        return -2
    slots[slot] = number
    begins[number], ends[number] = begin, end
    used[0] += 1
    return int(number)


@lean
def read_items(text: Array, blank: Array, texts: Texts, items: Array, ends: Array) -> tuple[Whole, Whole]:
    """Read the items of lines, separated by blanks.

    `text`: lines, each with its end. `blank`: which bytes are blanks. `items`, `ends`: filled with the numbers of all
    items, and where those of each line end. Returns the number of items, or -2 if there is no room for a text; and the
    number of lines.
    """
    slots, begins, finishes, used = texts
    count, line, place = 0, 0, 0
    while place < len(text):
        letter = text[place]
        if letter == NEWLINE:
            ends[line] = count
            line += 1
        if letter == NEWLINE or blank[letter]:
            place += 1
            continue
        begin = place
        key = HASH
        while text[place] != NEWLINE and not blank[text[place]]:
            key = (key ^ np.uint64(text[place])) * PRIME
            place += 1
        number = number_of(text, begin, place, key, slots, begins, finishes, used)
        if number < 0:
            return -2, line
        items[count] = number
        count += 1
    return count, line


@jit
def rank_items(indptr: Array, items: Array, ranks: Array, unsorted: Array) -> tuple[Array, Whole, bool]:
    """The ranks of the items of each line, ascending.

    `unsorted`: filled with the lines whose items were not ascending, as far as there is room. Returns the ranks, how
    many such lines were listed, and whether some line has an item twice.
    """
    ranked = np.empty(len(items), dtype=np.int32)
    write_ranks(indptr, items, ranks, ranked)
    found, twice = 0, False
    for line in range(len(indptr) - 1):
        moved = False
        for entry in range(indptr[line], indptr[line + 1]):
            moved |= ranked[entry] != ranks[items[entry]]
            twice |= entry > indptr[line] and ranked[entry] == ranked[entry - 1]
        if moved and found < len(unsorted):
            unsorted[found] = line
            found += 1
    return ranked, found, twice

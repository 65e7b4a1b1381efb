"""Large files of groups and clusters as our writers write them, read without a loop in Python.

What deviates from that form in anything, and what is wrong, is left to the readers line by line: they know all forms of
JSON, and say where a fault is.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Rows, indptr_by, indptr_of, taken
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.io.baskets.numbered_texts import LEAST, numbered
from shoal.io.releases.set_lines import Lines, encoded
from shoal.io.source import part_files, read_text
from shoal.kernels._compiling import is_eager

if TYPE_CHECKING:
    from shoal.kernels import json_sets as kernel
    from shoal.kernels.texts import Texts


def plain_groups(source: str | Path | Lines) -> Groups | None:
    """The groups of a file as `groups_as_read`; None if it is small, in parts, or not as we write them."""
    text = _bytes_of(source)
    if text is None:
        return None
    from shoal.kernels import json_sets as kernel

    texts, sets, lines = _counts(text)
    read: tuple[kernel.Sets, AnyArray, kernel.Sets, AnyArray]

    def attempt(table: "Texts") -> int:
        nonlocal read
        groups, counts = np.empty(lines, dtype=np.int64), np.empty(texts, dtype=np.int64)
        read = _sets(texts, sets), groups, _sets(texts, lines), counts
        return kernel.read_groups(text, table, *read)

    found = numbered(text, attempt)
    if found is None:
        return None
    vocabulary, ranks = found
    baskets, groups, secrets, counts = read
    basket_indptr, given = _ragged(baskets, ranks)
    items, unsorted, twice = encoded(basket_indptr, given)
    sensitive_indptr, sensitive_items = _ragged(secrets, ranks)
    if len(twice) or len(encoded(sensitive_indptr, sensitive_items)[2]):
        return None
    group_indptr = _indptr(groups[: secrets.used[1]])
    counts = counts[: len(sensitive_items)]
    sensitive = sensitive_indptr, sensitive_items, counts
    return Groups(group_indptr, basket_indptr, items, *sensitive, vocabulary, unsorted)


def plain_clusters(source: str | Path | Lines) -> tuple[Clusters, Rows] | None:
    """The clusters of a file as `clusters_as_read`; None if it is small, in parts, or not as we write them."""
    text = _bytes_of(source)
    if text is None:
        return None
    from shoal.kernels import json_sets as kernel

    texts, sets, _ = _counts(text)
    most = int(np.count_nonzero(text == ord("{")))
    read: tuple[kernel.Sets, AnyArray, AnyArray, kernel.Sets, AnyArray, AnyArray, AnyArray]

    def attempt(table: "Texts") -> int:
        nonlocal read
        chunks, owners = np.empty(sets, dtype=np.int64), np.empty(sets, dtype=np.int64)
        parents, sizes = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64)
        known = np.zeros(3, dtype=np.int64)
        read = _sets(texts, sets), chunks, owners, _sets(texts, most), parents, sizes, known
        return kernel.read_clusters(text, table, *read)

    found = numbered(text, attempt)
    if found is None:
        return None
    vocabulary, ranks = found
    records, chunks, owners, terms, parents, sizes, known = read
    clusters, count = int(known[0]), int(known[1])
    # A joint cluster has its chunks behind its parts in the file, and before them in the order of clusters.
    owners = owners[:count]
    record_indptr, record_places = taken(_indptr(chunks[:count]), np.argsort(owners, kind="stable"))
    item_indptr, given = _ragged(records, ranks)
    item_indptr, places = taken(item_indptr, record_places)
    items, unsorted, twice = encoded(item_indptr, given[places])
    simple_indptr, given_terms = _ragged(terms, ranks)
    term_lengths = np.zeros(clusters, dtype=np.int64)
    term_lengths[sizes[:clusters] > 0] = np.diff(simple_indptr)
    term_indptr = indptr_of(term_lengths)
    term_items, unsorted_terms, twice_terms = encoded(term_indptr, given_terms)
    if len(twice) or len(twice_terms):
        return None
    chunk_indptr = indptr_by(owners, clusters)
    chunks_of = parents[:clusters], sizes[:clusters], chunk_indptr, record_indptr, item_indptr, items
    return Clusters(*chunks_of, term_indptr, term_items, vocabulary, unsorted), unsorted_terms


def _bytes_of(source: str | Path | Lines) -> AnyArray | None:
    """The bytes of one file that is large enough."""
    if isinstance(source, Lines):
        return None
    files = part_files(source)
    if len(files) > 1 or not files[0].is_file() or not (is_eager() or files[0].stat().st_size >= LEAST):
        return None
    return np.frombuffer(read_text(files[0]), dtype=np.uint8)


def _counts(text: AnyArray) -> tuple[int, int, int]:
    """How many texts, sets and lines there are, at most."""
    quotes, brackets, lines = (int(np.count_nonzero(text == ord(letter))) for letter in '"[\n')
    return quotes // 2, brackets, lines


def _sets(items: int, count: int) -> "kernel.Sets":
    """Room for sets."""
    from shoal.kernels import json_sets as kernel

    return kernel.Sets(
        np.empty(items, dtype=np.int32), np.empty(count, dtype=np.int64), np.zeros(2, dtype=np.int64)
    )


def _ragged(sets: "kernel.Sets", ranks: Items) -> tuple[Indptr, Items]:
    """Where sets begin, and their items as codes."""
    return _indptr(sets.ends[: sets.used[1]]), ranks[sets.items[: sets.used[0]]]


def _indptr(ends: AnyArray) -> Indptr:
    return np.concatenate(([0], ends)).astype(np.int64)

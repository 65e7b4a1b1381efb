"""Groups and clusters in JSON lines: how they are read, ordered and written."""

import io
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, Mask, Rows, ascending, indptr_by, indptr_of, owners, taken
from shoal.data.baskets import ragged_ranks
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.errors import BadData
from shoal.io.baskets.write import Spelling
from shoal.io.source import name_of, part_files, read_text
from shoal.kernels._compiling import is_eager

_SET = Spelling("[", ", ", "]\n", "[]\n")

_GROUP = ('{"baskets": [', '], "sensitive": {{{}}}}}\n')
"""How the line of a group begins, and how it ends, around its sensitive items."""

GROUPS_AT_ONCE = 50_000
"""Whose lines are put together in memory."""

MANY_PIECES = 200_000
"""Pieces of text from which on it pays to load a kernel that puts them together."""


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
            raise BadData("this is not a text, or an empty one.")
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
    return items, unsorted_rows(indptr, given), _inside(indptr, items[1:] == items[:-1])


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
                raise BadData(f"the line is not a JSON object: {reason}. {NOT_OURS}", *place) from None
            if not isinstance(entry, dict):
                raise BadData(f"the line is JSON, but not an object in braces. {NOT_OURS}", *place)
            yield place, entry


def _lines_of(source: str | Path | Lines) -> Iterator[tuple[str, Iterable[str]]]:
    if isinstance(source, Lines):
        yield source
        return
    for path in part_files(source):
        # Line by line, so that the texts of a large file are not all there at once.
        text = io.BytesIO(read_text(path))
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


def order_inside(indptr: Indptr, ranks: AnyArray) -> Rows:
    """The places of all entries, those of a row in ascending order of their ranks; rows stay where they are."""
    return ascending(owners(indptr), ranks)


def sorted_inside(indptr: Indptr, items: Items) -> Items:
    """The items of each row in ascending order."""
    if not len(_inside(indptr, items[1:] < items[:-1])):
        return items
    base = owners(indptr) * (int(items.max()) + 1)
    return np.asarray(np.sort(base + items) - base, dtype=items.dtype)


def unsorted_rows(indptr: Indptr, items: Items) -> Rows:
    """The rows whose items do not ascend."""
    return np.unique(np.searchsorted(indptr, _inside(indptr, items[1:] < items[:-1]), side="right") - 1)


def _inside(indptr: Indptr, true: Mask) -> Rows:
    """The entries for which something is true that is asked of each but the first, without the first of each row."""
    later = np.ones(len(true) + 2, dtype=np.bool_)
    later[indptr] = False
    return np.flatnonzero(true & later[1:-1]) + 1


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise BadData(f"{twice!r} is named twice")
    return entry


def write_groups(groups: Groups, path: str | Path) -> None:
    """Write groups in canonical order, a line a group.

    ``{"baskets": [["meat", "wine"], …], "sensitive": {"viagra": 1}}``
    """
    with Path(path).open("wb") as file:
        file.writelines(_group_texts(canonical_groups(groups)))


def group_lines(groups: Groups) -> Iterator[str]:
    """The line of each group, without its end."""
    for text in _group_texts(groups):
        yield from text.decode().split("\n")[:-1]


def _group_texts(groups: Groups) -> Iterator[bytes]:
    """The lines of all groups, many at a time.

    Each item has six pieces of text: by whether it is the first of its basket, and whether it is the last, or even the
    last of its group, so that lines are put together by one lookup an item. Empty baskets and ends of groups are put
    between them.
    """
    labels = json_labels(groups.vocabulary)
    ends = (", ", "], ", "]")
    pieces = [begin + label + end for begin in ("", "[") for end in ends for label in labels]
    pieces += ["[], ", "[]", _GROUP[1].format("") + _GROUP[0]]
    steps = np.append(np.arange(0, len(groups), GROUPS_AT_ONCE), len(groups))
    for begin, end in pairwise(steps.tolist()):
        summaries, closed = _summaries(groups, labels, begin, end, len(pieces))
        table = pieces + [_GROUP[1].format(one) + _GROUP[0] for one in summaries]
        text = _joined([one.encode() for one in table], _group_pieces(groups, begin, end, closed))
        yield _GROUP[0].encode() + text[: -len(_GROUP[0])]


def _joined(table: list[bytes], pieces: Rows) -> bytes:
    """Pieces of text from a table, one after the other."""
    if len(pieces) < MANY_PIECES and not is_eager():
        return b"".join(np.array(table, dtype=object)[pieces])
    from shoal.kernels.ragged import take_rows

    letters = np.frombuffer(b"".join(table), dtype=np.uint8)
    text: bytes = take_rows(indptr_of(list(map(len, table))), letters, pieces)[1].tobytes()
    return text


def _summaries(
    groups: Groups, labels: Sequence[str], begin: int, end: int, known: int
) -> tuple[list[str], Rows]:
    """The sensitive items of some groups, where there are any, as texts; and the piece that ends each group."""
    indptr = groups.sensitive_indptr[begin : end + 1]
    part = slice(int(indptr[0]), int(indptr[-1]))
    counts = groups.sensitive_counts[part].tolist()
    texts = [
        f"{labels[item]}: {count}"
        for item, count in zip(groups.sensitive_items[part].tolist(), counts, strict=True)
    ]
    filled = np.flatnonzero(np.diff(indptr))
    places = (indptr - indptr[0]).tolist()
    closed = np.full(end - begin, known - 1, dtype=np.int64)
    closed[filled] = known + np.arange(len(filled))
    return [", ".join(texts[places[one] : places[one + 1]]) for one in filled.tolist()], closed


def _group_pieces(groups: Groups, begin: int, end: int, closed: Rows) -> Rows:
    """Which piece comes after which in the lines of some groups."""
    labels = len(groups.vocabulary)
    rows = groups.group_indptr[begin : end + 1]
    indptr = groups.basket_indptr[rows[0] : rows[-1] + 1] - groups.basket_indptr[rows[0]]
    last_basket = rows[1:] - 1 - rows[0]
    final = np.zeros(len(indptr) - 1, dtype=np.int64)
    final[last_basket] = 1
    filled = np.diff(indptr) > 0
    first = groups.basket_indptr[rows[0]]
    pieces = groups.items[first : first + indptr[-1]].astype(np.int64)
    pieces[indptr[:-1][filled]] += 3 * labels
    pieces[indptr[1:][filled] - 1] += labels * (1 + final[filled])
    empty = np.flatnonzero(~filled)
    order = ascending(np.concatenate((2 * empty, 2 * last_basket + 1)))
    places = np.concatenate((indptr[empty], indptr[last_basket + 1]))[order]
    return np.insert(pieces, places, np.concatenate((6 * labels + final[empty], closed))[order])


def canonical_groups(groups: Groups) -> Groups:
    """The same groups in canonical order.

    Items of a basket and sensitive items of a group ascend by their text, baskets ascend as lists of items, and groups
    ascend by their baskets, then by their sensitive items and counts. It is computed on ranks, without a loop
    over baskets.
    """
    if groups.canonical:
        return groups
    items = sorted_inside(groups.basket_indptr, groups.items)
    mixed = items is not groups.items or len(unsorted_rows(groups.sensitive_indptr, groups.sensitive_items))
    if not mixed and not any(map(len, groups.out_of_order())):
        return groups
    ranks = ragged_ranks(groups.basket_indptr, items)
    baskets = order_inside(groups.group_indptr, ranks)
    secrets = order_inside(groups.sensitive_indptr, groups.sensitive_items)
    pairs = np.empty(2 * len(secrets), dtype=np.int64)
    pairs[0::2], pairs[1::2] = groups.sensitive_items[secrets], groups.sensitive_counts[secrets]
    order = np.lexsort(
        (
            ragged_ranks(2 * groups.sensitive_indptr, pairs),
            ragged_ranks(groups.group_indptr, ranks[baskets]),
        )
    )
    group_indptr, places = taken(groups.group_indptr, order)
    basket_indptr, entries = taken(groups.basket_indptr, baskets[places])
    sensitive_indptr, sensitive_places = taken(groups.sensitive_indptr, order)
    return Groups(
        group_indptr,
        basket_indptr,
        items[entries],
        sensitive_indptr,
        groups.sensitive_items[secrets][sensitive_places],
        groups.sensitive_counts[secrets][sensitive_places],
        groups.vocabulary,
    )


def read_groups(path: str | Path | Lines) -> Groups:
    """Read groups that `write_groups` wrote, or anybody else in the same form.

    Raises `BadData` with its line, if one is malformed: no JSON object, other names than ``baskets`` and
    ``sensitive``, a group without baskets, an item twice in a basket, or a count that is no positive whole number.
    """
    from shoal.io.releases.plain_lines import plain_groups

    found = plain_groups(path)
    if found is None:
        found = groups_as_read(path)
    order = order_inside(found.sensitive_indptr, found.sensitive_items)
    mixed = np.searchsorted(found.group_indptr, found.unsorted, side="right") - 1
    return replace(
        found,
        sensitive_items=found.sensitive_items[order],
        sensitive_counts=found.sensitive_counts[order],
        unsorted=np.union1d(mixed, unsorted_rows(found.sensitive_indptr, found.sensitive_items)),
    )


def groups_as_read(path: str | Path | Lines) -> Groups:
    """Groups in any form of JSON: sensitive items as they stand there, `unsorted` of baskets."""
    numbers = Numbers()
    baskets = Sets(numbers)
    sizes: list[int] = []
    summary_lengths: list[int] = []
    secrets: list[int] = []
    counts: list[int] = []
    for place, entry in read_json_lines(path):
        check_keys(entry, ("baskets", "sensitive"), place)
        sizes.append(baskets.add(entry["baskets"], place, "the baskets of a group", least=0))
        if not sizes[-1]:
            raise BadData("the group has no baskets.", *place)
        summary = entry["sensitive"]
        if not isinstance(summary, dict) or "" in summary:
            raise BadData("the sensitive items must be an object of items and counts.", *place)
        counts += [check_count(count, f"the count of {item!r}", place) for item, count in summary.items()]
        secrets += map(numbers.__getitem__, summary)
        summary_lengths.append(len(summary))
    vocabulary, ranks = numbers.ranked()
    basket_indptr, items = baskets.encode(vocabulary, ranks)
    sensitive = ranks[np.array(secrets, dtype=np.int64)], np.array(counts, dtype=np.int64)
    return Groups(
        indptr_of(sizes),
        basket_indptr,
        items,
        indptr_of(summary_lengths),
        *sensitive,
        vocabulary,
        baskets.unsorted,
    )


def write_clusters(clusters: Clusters, path: str | Path) -> None:
    """Write clusters in canonical order, a line a tree.

    ``{"size": 5, "chunks": [[["flu", "itunes"], …], …], "terms": ["ikea"]}``, or for a joint cluster
    ``{"joint": [cluster, …], "shared": [[["ikea", "ruby"], …], …]}``.
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{tree}\n" for tree in tree_lines(canonical_clusters(clusters)))


def tree_lines(clusters: Clusters) -> list[str]:
    """The line of each tree, without its end."""
    labels = json_labels(clusters.vocabulary)
    records = set_texts(labels, clusters.item_indptr, clusters.items)
    bounds = clusters.record_indptr.tolist()
    chunks = [
        f"[{', '.join(records[bounds[place] : bounds[place + 1]])}]" for place in range(len(bounds) - 1)
    ]
    terms = set_texts(labels, clusters.term_indptr, clusters.terms)
    chunk_indptr, parents = clusters.chunk_indptr.tolist(), clusters.parents.tolist()
    parts: list[list[str]] = [[] for _ in parents]
    trees: list[str] = []
    # Parts come after their joint cluster, so that from the end every part is spelled before what it is a part of.
    for cluster in reversed(range(len(clusters))):
        own = ", ".join(chunks[chunk_indptr[cluster] : chunk_indptr[cluster + 1]])
        if parts[cluster]:
            text = f'{{"joint": [{", ".join(reversed(parts[cluster]))}], "shared": [{own}]}}'
        else:
            text = f'{{"size": {clusters.sizes[cluster]}, "chunks": [{own}], "terms": {terms[cluster]}}}'
        (trees if parents[cluster] < 0 else parts[parents[cluster]]).append(text)
    trees.reverse()
    return trees


def canonical_clusters(clusters: Clusters) -> Clusters:
    """The same clusters in canonical order.

    Items of a sub-record and terms ascend by their text; sub-records of a chunk and chunks of a cluster ascend as
    lists. Simple clusters come first and ascend by their chunks, then their terms, then their size; joint ones
    ascend by the height of their tree, then their parts, then their shared chunks. Parts follow their joint cluster.
    """
    return clusters if clusters.canonical else ordered_clusters(clusters)[0]


def ordered_clusters(clusters: Clusters) -> tuple[Clusters, Rows]:
    """The same clusters in canonical order, and where each of them was before."""
    items = sorted_inside(clusters.item_indptr, clusters.items)
    terms = sorted_inside(clusters.term_indptr, clusters.terms)
    record_ranks = ragged_ranks(clusters.item_indptr, items)
    records = order_inside(clusters.record_indptr, record_ranks)
    chunk_ranks = ragged_ranks(clusters.record_indptr, record_ranks[records])
    chunks = order_inside(clusters.chunk_indptr, chunk_ranks)
    own = ragged_ranks(clusters.chunk_indptr, chunk_ranks[chunks])
    ranks = _cluster_ranks(clusters, own, ragged_ranks(clusters.term_indptr, terms))
    order = _depth_first(clusters.parents, ranks)

    place_of = np.empty(len(order) + 1, dtype=np.int64)
    place_of[order] = np.arange(len(order))
    place_of[-1] = -1
    chunk_indptr, chunk_places = taken(clusters.chunk_indptr, order)
    record_indptr, record_places = taken(clusters.record_indptr, chunks[chunk_places])
    item_indptr, item_places = taken(clusters.item_indptr, records[record_places])
    term_indptr, term_places = taken(clusters.term_indptr, order)
    ordered = Clusters(
        place_of[clusters.parents[order]].astype(np.int32),
        clusters.sizes[order],
        chunk_indptr,
        record_indptr,
        item_indptr,
        items[item_places],
        term_indptr,
        terms[term_places],
        clusters.vocabulary,
    )
    object.__setattr__(ordered, "canonical", True)
    return ordered, order


def read_clusters(path: str | Path | Lines) -> Clusters:
    """Read clusters that `write_clusters` wrote, or anybody else in the same form.

    Raises `BadData` with its line, if one is malformed: no JSON object, other names than those of a simple or a joint
    cluster, a size that is no positive whole number, an empty sub-record, an item twice in a set, or a joint cluster
    without parts. A chunk with more sub-records than its cluster has baskets is read: its model judges it.
    """
    from shoal.io.releases.plain_lines import plain_clusters

    found = plain_clusters(path)
    clusters, unsorted_terms = clusters_as_read(path) if found is None else found
    mixed = np.searchsorted(clusters.record_indptr, clusters.unsorted, side="right") - 1
    mixed = np.searchsorted(clusters.chunk_indptr, mixed, side="right") - 1
    return replace(clusters, unsorted=np.union1d(mixed, unsorted_terms))


def clusters_as_read(path: str | Path | Lines) -> tuple[Clusters, Rows]:
    """Clusters in any form of JSON, whose `unsorted` counts sub-records, and those whose terms do not ascend."""
    numbers = Numbers()
    records, terms = Sets(numbers), Sets(numbers)
    parents: list[int] = []
    sizes: list[int] = []
    chunk_counts: list[int] = []
    record_counts: list[int] = []
    for place, entry in read_json_lines(path):
        # The first of the stack comes next, and its parts right after it.
        stack: list[tuple[Any, int]] = [(entry, -1)]
        while stack:
            cluster, parent = stack.pop()
            joint = isinstance(cluster, dict) and "joint" in cluster
            check_keys(cluster, ("joint", "shared") if joint else ("size", "chunks", "terms"), place)
            if joint:
                if not isinstance(cluster["joint"], list) or not cluster["joint"]:
                    raise BadData("a joint cluster must list its parts.", *place)
                stack.extend((part, len(parents)) for part in reversed(cluster["joint"]))
            sizes.append(0 if joint else check_count(cluster["size"], "the size of a cluster", place))
            counts = _add_chunks(cluster["shared" if joint else "chunks"], records, place)
            record_counts += counts
            chunk_counts.append(len(counts))
            terms.add([[] if joint else cluster["terms"]], place, "the terms of a cluster", least=0)
            parents.append(parent)
    vocabulary, ranks = numbers.ranked()
    item_indptr, items = records.encode(vocabulary, ranks)
    term_indptr, term_items = terms.encode(vocabulary, ranks)
    clusters = Clusters(
        np.array(parents, dtype=np.int32),
        np.array(sizes, dtype=np.int64),
        indptr_of(chunk_counts),
        indptr_of(record_counts),
        item_indptr,
        items,
        term_indptr,
        term_items,
        vocabulary,
        records.unsorted,
    )
    return clusters, terms.unsorted


def _add_chunks(chunks: object, records: Sets, place: Place) -> list[int]:
    """Add the sub-records of a cluster's chunks, and count those of each."""
    if not isinstance(chunks, list):
        raise BadData("the chunks of a cluster must be a list.", *place)
    return [records.add(chunk, place, "the sub-records of a chunk", least=1) for chunk in chunks]


def _cluster_ranks(clusters: Clusters, own: Rows, terms: Rows) -> Rows:
    """The rank of each cluster among all, from the ranks of its own chunks and its terms; equal ones are equal."""
    heights = np.zeros(len(clusters), dtype=np.int64)
    parents = clusters.parents.tolist()
    for cluster in reversed(range(len(parents))):
        if parents[cluster] >= 0:
            heights[parents[cluster]] = max(heights[parents[cluster]], heights[cluster] + 1)
    simple = np.flatnonzero(heights == 0)
    ranks = np.zeros(len(clusters), dtype=np.int64)
    keys = np.stack((own[simple], terms[simple], clusters.sizes[simple]), axis=1)
    ranks[simple] = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    for height in range(1, int(heights.max(initial=0)) + 1):
        above = int(ranks.max()) + 1
        joint = np.flatnonzero(heights == height)
        part = np.flatnonzero(np.isin(clusters.parents, joint))
        part = part[np.lexsort((ranks[part], clusters.parents[part]))]
        indptr = indptr_by(np.searchsorted(joint, clusters.parents[part]), len(joint))
        keys = np.stack((ragged_ranks(indptr, ranks[part]), own[joint]), axis=1)
        ranks[joint] = above + np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return ranks


def _depth_first(parents: np.ndarray[Any, np.dtype[np.int32]], ranks: Rows) -> Rows:
    """All clusters, each joint one followed by its parts, ascending by rank."""
    parts: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    above = parents.tolist()
    for cluster in np.argsort(ranks, kind="stable")[::-1].tolist():
        parts[above[cluster]].append(cluster)
    order: list[int] = []
    stack = parts[-1]
    while stack:
        order.append(stack.pop())
        stack.extend(parts[order[-1]])
    return np.array(order, dtype=np.int64)

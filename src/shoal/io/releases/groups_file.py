"""Groups of baskets with counts of their sensitive items, as JSON lines."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from shoal.data.baskets import ragged_ranks
from shoal.data.groups import Groups
from shoal.errors import BadData
from shoal.io.releases.plain_lines import PlainGroups, plain_groups
from shoal.io.releases.set_lines import (
    Lines,
    Numbers,
    Sets,
    check_count,
    check_keys,
    indptr_of,
    json_labels,
    order_inside,
    read_json_lines,
    set_texts,
    sorted_inside,
    taken,
    unsorted_rows,
)


def write_groups(groups: Groups, path: str | Path) -> None:
    """Write groups in canonical order, a line a group.

    ``{"baskets": [["meat", "wine"], …], "sensitive": {"viagra": 1}}``
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in group_lines(canonical_groups(groups)))


def group_lines(groups: Groups) -> Iterator[str]:
    """The line of each group, without its end."""
    labels = json_labels(groups.vocabulary)
    baskets = set_texts(labels, groups.basket_indptr, groups.items)
    summaries = [
        f"{labels[item]}: {count}"
        for item, count in zip(groups.sensitive_items.tolist(), groups.sensitive_counts.tolist(), strict=True)
    ]
    group_indptr, sensitive_indptr = groups.group_indptr.tolist(), groups.sensitive_indptr.tolist()
    for group in range(len(groups)):
        sets = ", ".join(baskets[group_indptr[group] : group_indptr[group + 1]])
        summary = ", ".join(summaries[sensitive_indptr[group] : sensitive_indptr[group + 1]])
        yield f'{{"baskets": [{sets}], "sensitive": {{{summary}}}}}'


def canonical_groups(groups: Groups) -> Groups:
    """The same groups in canonical order.

    Items of a basket and sensitive items of a group ascend by their text, baskets ascend as lists of items, and groups
    ascend by their baskets, then by their sensitive items and counts. It is computed on ranks, without a loop
    over baskets.
    """
    items = sorted_inside(groups.basket_indptr, groups.items)
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
    found = plain_groups(path)
    if found is None:
        found = _line_by_line(path)
    order = order_inside(found.sensitive_indptr, found.sensitive_items)
    mixed = np.searchsorted(found.group_indptr, found.unsorted, side="right") - 1
    return Groups(
        found.group_indptr,
        found.basket_indptr,
        found.items,
        found.sensitive_indptr,
        found.sensitive_items[order],
        found.sensitive_counts[order],
        found.vocabulary,
        np.union1d(mixed, unsorted_rows(found.sensitive_indptr, found.sensitive_items)),
    )


def _line_by_line(path: str | Path | Lines) -> PlainGroups:
    """Read groups in any form of JSON."""
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
    return PlainGroups(
        vocabulary,
        indptr_of(sizes),
        basket_indptr,
        items,
        baskets.unsorted,
        indptr_of(summary_lengths),
        ranks[np.array(secrets, dtype=np.int64)],
        np.array(counts, dtype=np.int64),
    )

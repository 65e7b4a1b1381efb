"""What an owner should hear before publishing, although every promise is kept. It depends on the published form alone.

Promises are about the roles that columns were given. A name among the insensitive columns breaks none of them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from shoal.arrays import Indptr, Items, Mask, flagged, indptr_of
from shoal.data._plain_text import counted
from shoal.data._spellings import items_spelled_twice, spelled_twice
from shoal.data._suggested_role import names_persons, numbers_persons
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import COUNT, Dataset, value_counts
from shoal.data.groups import Groups
from shoal.data.profile import ColumnProfile, profile_column
from shoal.data.published_syntax import set_members
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.risks.role_guards import (
    determined,
    determined_in_parts,
    known_too,
    known_too_in_parts,
    warned_of_known,
    warned_of_names,
)

TELLING = 0.5
"""From this share of unique rows on, an insensitive column is worth a word."""


EMPTIED, LOST = 0.5, 0.8
"""Above these shares of emptied baskets, and of lost occurrences of items, hardly anything is left."""

Filled: TypeAlias = tuple[int, int]
"""The baskets with public items, and the occurrences of these."""


ALIKE = 5
"""Cells that are shown where all rows are published alike."""


def concerns(original: Table, published: Table) -> tuple[str, ...]:
    """Plain sentences: that nothing is left, and on columns that may give persons away, in the order of the columns.

    `original`: what was read. `published`: the table of the release.
    """
    kept = [column for column in original.columns if column.name in published.names]
    texts = {
        column.name: _texts(published.column(column.name)) for column in kept if column.role is Role.QUASI
    }
    found = nothing_told(kept, texts)
    profiles = [profile_column(column) for column in kept]
    for column, profile in zip(kept, profiles, strict=True):
        raw = partial(_raw_rows, column, published.column(column.name))
        found += of_column(column, profile, raw, original.rows, original.entity)
    found += warned_of_own_values(kept, profiles) + warned_of_names(kept, profiles)
    return (*found, *determined(original, published), *warned_of_known(known_too(published)))


def of_column(
    column: Column, profile: ColumnProfile, raw: Callable[[], int], rows: int, entity: Column | None
) -> list[str]:
    """Plain sentences about one column of a table of so many rows that is published.

    `raw`: counts the published cells that are or list values of the original; it is not asked without need.
    """
    found: list[str] = []
    if column.role in (Role.ENTITY, Role.IDENTIFYING):
        return found
    if column.role is Role.INSENSITIVE and (why := _telling(profile)):
        found.append(
            f"The insensitive column {column.name!r} is published as it is, and {why}. If it can name a person, "
            "make it identifying."
        )
    if column.role is Role.QUASI and profile.role in (Role.IDENTIFYING, Role.ENTITY) and (cells := raw()):
        found.append(
            f"The quasi-identifier {column.name!r} looks like one that names persons, and {cells:,} "
            f"row{'s publish' if cells != 1 else ' publishes'} it, alone or in a list. If it names persons, make it "
            "identifying."
        )
    if column.role is Role.QUASI and profile.note:
        found.append(f"The quasi-identifier {column.name!r} {profile.note}.")
    if column.role is Role.SENSITIVE:
        found += spelled_twice(column.name, column.domain)
    if entity is None and profile.role is Role.ENTITY:
        found.append(rows_are_counted(column.name, profile.distinct, rows))
    return found


def nothing_told(columns: Sequence[Column], texts: Mapping[str, set[str]]) -> list[str]:
    """Say it where all rows are published alike: one class of all keeps any promise, and is of no use.

    `columns`: the original ones that are published. `texts`: the published texts of each quasi-identifier.
    """
    quasi = [column for column in columns if column.role is Role.QUASI]
    alike = all(len(texts[column.name]) == 1 for column in quasi)
    if not quasi or not alike or not any(column.domain.present > 1 for column in quasi):
        return []
    cells = ", ".join(f"{column.name} {next(iter(texts[column.name]))}" for column in quasi[:ALIKE])
    more = ", …" if len(quasi) > ALIKE else ""
    return [
        f"All rows are published alike ({cells}{more}): nothing is left of the quasi-identifiers. Promise less, such "
        "as a smaller k, leave rare rows out, give finer hierarchies, or name fewer quasi-identifiers."
    ]


def missing_matched(reached: int, kind: str = "missing") -> str:
    """The sentence for a promise under which missing or starred cells match all: without it, classes are so small."""
    return (
        f"A {kind} cell is taken to match every value. Whoever knows what is {kind} finds classes of only "
        f"{counted(reached, 'rows')}, of complete rows too."
    )


def _texts(published: Column) -> set[str]:
    """The texts of a column that are published."""
    return {published.domain.labels[code] for code in published.occurring.tolist()}


def rows_are_counted(name: str, persons: int, rows: int) -> str:
    """The sentence for a table without an entity column that has a number of persons which repeats."""
    return (
        f"Rows, not persons, are counted: {name!r} looks like the number of a person, and has "
        f"{counted(persons, 'values')} in {counted(rows, 'rows')}. If rows with the same number are one person, say "
        "--entity."
    )


def _telling(profile: ColumnProfile) -> str:
    """Why an insensitive column may name persons; empty if nothing says so."""
    if profile.distinct > 1 and (names_persons(profile.name) or numbers_persons(profile.name)):
        return "its name says that it tells persons apart"
    own = profile.unique >= TELLING
    return profile.reason if profile.role is Role.IDENTIFYING and not own else ""


def warned_of_own_values(columns: Sequence[Column], profiles: Sequence[ColumnProfile]) -> list[str]:
    """One sentence about insensitive columns in which most rows have a value of their own."""
    telling = [
        profile
        for column, profile in zip(columns, profiles, strict=True)
        if column.role is Role.INSENSITIVE and profile.unique >= TELLING and not _telling(profile)
    ]
    if not telling:
        return []
    if len(telling) == 1:
        (one,) = telling
        return [
            f"The insensitive column {one.name!r} is published as it is, and {one.unique:.0%} of the rows have a value "
            "of their own in it. If others can know it, make it quasi; if it names persons, identifying."
        ]
    shares = ", ".join(f"{one.name!r} ({one.unique:.0%})" for one in telling)
    return [
        f"{len(telling)} insensitive columns are published as they are, and most rows have a value of their own in "
        f"them: {shares}. If others can know one of them, make it quasi; if it names persons, identifying."
    ]


def _raw_rows(original: Column, published: Column) -> int:
    """How many published cells are or list values of the original."""
    values = set(original.domain.labels) - {""}
    raw = np.array([names_values(label, values) for label in published.domain.labels], dtype=np.bool_)
    return int(raw[published.codes].sum()) if raw.any() else 0


def names_values(cell: str, values: Collection[str]) -> bool:
    """Whether a published cell is one of some values, or a set that lists one.

    >>> [names_values(cell, {"P1", "P2"}) for cell in ("P1", "{P2|P3}", "*", "P*")]
    [True, True, False, False]
    """
    return cell in values or any(member in values for member in set_members(cell) or ())


def count_bare(published: Groups | Clusters, sensitive: Collection[str], *, left_out: bool = False) -> int:
    """How many baskets are published without a public item, in groups or clusters with sensitive ones.

    In clusters these are the baskets that no sub-record is left for, where no term but sensitive ones is.

    `sensitive`: the sensitive items; groups tell them themselves. `left_out`: whether occurrences may be missing in the
    chunks of clusters: then only clusters without any are certain.
    """
    if isinstance(published, Groups):
        with_secret = np.repeat(np.diff(published.sensitive_indptr) > 0, published.sizes)
        return int(((np.diff(published.basket_indptr) == 0) & with_secret).sum())
    terms = np.diff(published.term_indptr)
    secret = np.array([text in sensitive for text in published.vocabulary], dtype=np.bool_)
    secrets = np.diff(np.concatenate(([0], np.cumsum(secret[published.terms])))[published.term_indptr])
    records = np.bincount(
        published.owners, np.diff(published.record_indptr), minlength=len(published)
    ).astype(np.int64)
    room, above = records.copy(), published.parents.astype(np.int64)
    while (inside := above >= 0).any():
        room[inside] += records[above[inside]]
        above[inside] = published.parents[above[inside]]
    bare = np.maximum(published.sizes - room, 0)
    if left_out:
        bare[room > 0] = 0
    return int(bare[(terms > 0) & (terms == secrets)].sum())


def set_warnings(
    original: Baskets, published: Baskets | Groups | Clusters, promises: Iterable[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Plain sentences about items that differ in spelling alone, baskets without a public item, and what is left."""
    promised = list(promises)
    bare, emptied = 0, tuple[str, ...]()
    if not isinstance(published, Baskets):
        named = {item for promise in promised for item in promise.get("sensitive", ())}
        left_out = any(promise.get("safe", 1) < 1 for promise in promised)
        bare = count_bare(published, named, left_out=left_out)
    else:
        known, left = public_items(original, published)
        before = filled(original.indptr, original.items, known)
        emptied = warned_of_emptied(
            before, filled(published.indptr, published.items, left), original, published, promised
        )
    return (*items_spelled_twice(original), *warned_of_bare(bare, type(published)), *emptied)


def public_items(original: Baskets, published: Baskets) -> tuple[Mask, Mask]:
    """Which items others may know, among those of the original, and among those that are published."""
    known = flagged(original.public, len(original.vocabulary))
    hidden = {text for text, public in zip(original.vocabulary, known.tolist(), strict=True) if not public}
    return known, np.array([text not in hidden for text in published.vocabulary], dtype=np.bool_)


def filled(indptr: Indptr, items: Items, public: Mask) -> Filled:
    """How many baskets hold a public item, and how many occurrences of such items there are."""
    held = np.diff(indptr_of(public[items])[indptr])
    return int(np.count_nonzero(held)), int(held.sum())


def warned_of_emptied(
    before: Filled,
    after: Filled,
    original: Baskets,
    published: Baskets,
    promises: Iterable[Mapping[str, Any]],
) -> tuple[str, ...]:
    """Warn of published baskets of which hardly anything is left: empty ones keep any promise, and are of no use.

    `before`, `after`: what `filled` finds on both sides. `original`, `published`: their items. Where nodes stand for
    several items, the occurrences are fewer without being lost.
    """
    emptied, lost = (max(one - other, 0) for one, other in zip(before, after, strict=True))
    if not set(published.vocabulary) <= set(original.vocabulary):
        lost = 0
    said = []
    if emptied > before[0] * EMPTIED:
        said.append(f"{emptied:,} of the {before[0]:,} baskets with public items have none left")
    if lost > before[1] * LOST:
        said.append(f"{lost:,} of the {before[1]:,} occurrences of public items are gone")
    if not said:
        return ()
    ways = {"k": "a smaller k", "p": "a smaller p", "m": "a smaller m", "h": "a larger h"}
    given = {name for promise in promises for name in promise}
    such = ", ".join(way for name, way in ways.items() if name in given)
    return (
        f"Hardly anything is left: {', and '.join(said)}. Promise less{such and f', such as {such}'}, or name items "
        "that nobody can know as insensitive.",
    )


def warned_of_bare(bare: int, form: type) -> tuple[str, ...]:
    """Warn of so many baskets that are published without a public item, in groups or clusters with sensitive ones.

    Whoever is known to have bought something holds a sensitive item for certain if her basket is one of them.
    """
    if not bare:
        return ()
    return (
        f"{counted(bare, 'baskets')} {'is' if bare == 1 else 'are'} published without a public item, in "
        f"{form.__name__.lower()} with sensitive ones: whoever is known to have a basket that is not empty holds a "
        "sensitive item for certain. If that matters, leave out the baskets that hold nothing else: "
        "`shoal convert INPUT KEPT --drop-only ITEMS`, with the sensitive ITEMS, writes the others to KEPT.",
    )


def concerns_in_parts(original: Dataset, published: Dataset, classes: int) -> tuple[str, ...]:
    """The same of a table in parts, from counts.

    `classes`: how many classes are published.
    """
    names = published.schema.names
    kept = [column for column in original.schema.columns if column.name in names]
    counts = value_counts(original, Table(tuple(kept)))
    found = []
    if classes == 1:
        quasi = [column.name for column in kept if column.role is Role.QUASI]
        alike = published.parts.distinct(quasi).collect()
        found += nothing_told(kept, {name: {alike[name][0] or ""} for name in quasi})
    profiles = [profile_column(column, counts[column.name]) for column in kept]
    for column, profile in zip(kept, profiles, strict=True):
        raw = partial(_raw_rows_in_parts, column, published)
        found += of_column(column, profile, raw, original.rows, original.schema.entity)
    found += warned_of_own_values(kept, profiles) + warned_of_names(kept, profiles)
    coarse = _coarse(kept, published) if any(column.role is Role.INSENSITIVE for column in kept) else {}
    found += determined_in_parts(original, names, coarse)
    return (*found, *warned_of_known(known_too_in_parts(published)))


def emptied_in_parts(
    original: Dataset, published: Dataset, promises: Iterable[Mapping[str, Any]]
) -> tuple[str, ...]:
    """The warning of baskets of which hardly anything is left, where they are in parts."""
    schemas = original.schema, published.schema
    before, after = (
        side.parts.fold(partial(_filled, public=public), _both) or (0, 0)
        for side, public in zip((original, published), public_items(*schemas), strict=True)
    )
    return warned_of_emptied(before, after, *schemas, promises)


def _filled(frame: Any, public: Mask) -> Filled:
    lists = frame["items"]
    indptr = np.concatenate(([0], np.cumsum(lists.list.len().to_numpy(), dtype=np.int64)))
    return filled(indptr, lists.explode().drop_nulls().to_numpy(), public)


def _both(one: Filled, other: Filled) -> Filled:
    return one[0] + other[0], one[1] + other[1]


def _coarse(columns: list[Column], published: Dataset) -> dict[str, bool]:
    """Whether each quasi-identifier is published otherwise than it was."""
    quasi = [column for column in columns if column.role is Role.QUASI]
    return {
        column.name: not {text or "" for text in published.parts.counts([column.name])[column.name].to_list()}
        <= set(column.domain.labels)
        for column in quasi
    }


def _raw_rows_in_parts(original: Column, published: Dataset) -> int:
    """How many published cells are or list values of the original."""
    values = set(original.domain.labels) - {""}
    cells = published.parts.counts([original.name])
    return sum(
        count
        for text, count in zip(cells[original.name].to_list(), cells[COUNT].to_list(), strict=True)
        if text is not None and names_values(text, values)
    )

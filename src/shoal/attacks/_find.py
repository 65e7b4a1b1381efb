"""Find me: what a neighbor finds in a release who knows some things about somebody."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.attacks._class_view import fitting_classes
from shoal.attacks._known_baskets import BasketsView, group_shares
from shoal.attacks._known_clusters import ClustersView
from shoal.attacks._naive_bayes import posterior
from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.domain import Domain, Kind
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.linked import Linked
from shoal.data.published_syntax import telling_rows
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.summary import Summary
from shoal.data.table import Column, Table
from shoal.errors import UnknownName, WrongUse
from shoal.models._equivalence_classes import PublishedClasses

LISTED = 1_000
"""So many published rows are listed at most."""


@dataclass(frozen=True, slots=True)
class Guess:
    """The best guess of a secret."""

    value: str  # the most frequent value among what fits, or the item
    share: float  # its share there
    control: float
    """How likely it is for somebody like that who is found nowhere: by each known thing alone, or in all."""


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """What fits in a release."""

    matches: int  # how many published rows or baskets fit what is known
    rows: tuple[int, ...] = ()
    """The first of them, or of their groups, counted from 1 below the header; none for clusters."""
    guess: Mapping[str, Guess] = field(default_factory=dict)  # by sensitive column or item
    noun: str = "rows"  # what fits: rows, or baskets
    places: str = "rows"  # what `rows` counts: rows, baskets, or groups
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Where nothing fits: the columns whose known value fits no published cell, each with that value."""

    @property
    def chance(self) -> float:
        """To pick the right one of them; 0 where none fits."""
        return 1 / self.matches if self.matches else 0.0

    def __repr__(self) -> str:
        guesses = ", ".join(f"{name}: {one.value!r} ({one.share:.1%})" for name, one in self.guess.items())
        return f"<Found: {counted(self.matches, self.noun)} fit, chance {self.chance:.4g}; {guesses or 'no guess'}>"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "matches": self.matches,
            "chance": self.chance,
            "rows": list(self.rows),
            "guess": {name: asdict(one) for name, one in self.guess.items()},
        }


def find_in(
    release: Release[Any],
    known: Mapping[str, Any] | Sequence[str] | str,
    trees: Mapping[str, Hierarchy] | None = None,
    sensitive: Sequence[str] = (),
    exist: Collection[str] = (),
) -> Found:
    """Find what fits what is known.

    `known`: columns and their values, as a mapping or as ``["age=39"]``, or items of a basket. `trees`: hierarchies by
    column (``items`` for baskets), by which published cells are read. `sensitive`: the sensitive items of baskets,
    where the release does not tell them. `exist`: items that are known to exist: where one of them is not published, it
    tells nothing. Raises `WrongUse` if it is known in another form than is published, or the rows are in parts. Raises
    `UnknownName` if a column or item is published nowhere.
    """
    data = release.data
    if isinstance(data, Dataset):
        raise WrongUse(
            "The rows of this release are in parts, and are searched in memory alone. Write the release, if it is in "
            "no folder yet, and search the folder: `shoal find OUT`, or in Python shoal.find('OUT', …)."
        )
    if isinstance(data, Summary):
        raise WrongUse("Cross-tables tell of cells and not of persons: nobody is found in them.")
    if isinstance(data, Table | Linked):
        cells = _columns_of(known)
        return _in_linked(data, cells) if isinstance(data, Linked) else _in_table(data, cells, trees or {})
    items = _items_of(known)
    tree = (trees or {}).get("items")
    _refuse_unknown(items, data, tree, exist)
    if isinstance(data, Groups):
        return _in_groups(data, items)
    if isinstance(data, Clusters):
        return _in_clusters(data, items, sensitive)
    return _in_baskets(data, items, tree, sensitive)


def _columns_of(known: object) -> dict[str, str]:
    """Columns and values out of a mapping, or out of words such as ``age=39``."""
    if isinstance(known, Mapping):
        cells = {str(name): "" if cell is None else str(cell).strip() for name, cell in known.items()}
    else:
        cells = _as_columns(_words(known, "columns and values, such as age=39"))
    if not cells:
        raise WrongUse("Nothing is known: name columns and values, such as age=39, with --known.")
    return cells


def _items_of(known: object) -> list[str]:
    """Items, each once."""
    wanted = "items, such as milk,bread"
    if isinstance(known, Mapping):
        raise WrongUse(f"Of this release one knows {wanted}; give --known so.")
    if not (items := list(dict.fromkeys(_words(known, wanted)))):
        raise WrongUse(f"Nothing is known: name {wanted}, with --known.")
    return items


def _words(known: object, wanted: str) -> list[str]:
    if isinstance(known, str):
        return [known]
    if not isinstance(known, Iterable):
        raise WrongUse(f"Of this release one knows {wanted}; give --known so.")
    return [str(word) for word in known]


def _as_columns(words: Sequence[str]) -> dict[str, str]:
    """Columns and values out of words with an equals sign; a word without one goes on with the value before it.

    >>> _as_columns(["age=39", "height=1", "7"])
    {'age': '39', 'height': '1,7'}
    """
    found: dict[str, str] = {}
    name = ""
    for word in words:
        left, sign, value = word.partition("=")
        if sign:
            name = left.strip()
            if name in found:
                raise WrongUse(f"--known gives {name!r} two values; a person has one.")
            found[name] = value.strip()
        elif not name:
            raise WrongUse(f"Of this release one knows columns and values, such as age=39, and not {word!r}.")
        else:
            found[name] += f",{word}"
    return found


def _refuse_unknown(
    items: Sequence[str], data: Baskets | Groups | Clusters, tree: Hierarchy | None, exist: Collection[str]
) -> None:
    known = {*data.vocabulary, *exist, *(() if tree is None else tree.leaves)}
    for item in items:
        if item not in known:
            raise UnknownName("published item", item, data.vocabulary)
    if isinstance(data, Groups):
        secret = {data.vocabulary[code] for code in np.unique(data.sensitive_items).tolist()}
        for item in items:
            if item in secret:
                raise WrongUse(f"{item!r} is a secret of the release; name items that others may know.")


def person_of(known: Mapping[str, str], published: Table, trees: Mapping[str, Hierarchy]) -> Table:
    """One person of whom some columns are known, ready to be looked for."""
    published.select(known)
    return Table(tuple(_cell(name, text, trees.get(name)) for name, text in known.items()))


def _cell(name: str, text: str, tree: Hierarchy | None) -> Column:
    kind, values = Kind.NOMINAL, None
    try:
        kind, values = Kind.NUMERIC, np.array([float(text)])
    except ValueError:
        with suppress(ValueError):
            kind, values = Kind.DATE, np.array([float(np.datetime64(text, "D").astype(np.int64))])
    domain = Domain(kind, (text,), values)
    return Column(name, Role.QUASI, domain, np.zeros(1, dtype=np.int32), tree)


def _in_table(published: Table, known: Mapping[str, str], trees: Mapping[str, Hierarchy]) -> Found:
    person = person_of(known, published, trees)
    quasi = [name for name in known if published.column(name).role is Role.QUASI]
    if len(quasi) < len(known):
        odd = next(name for name in known if name not in quasi)
        raise WrongUse(
            f"{odd!r} is not a quasi-identifier of the release; name columns that others may know."
        )
    classes, sizes, places = fitting_classes(published, person, quasi)
    if not (matches := int(sizes[places].sum())):
        alone = {name: len(fitting_classes(published, person, [name])[2]) for name in quasi}
        return Found(0, unfit={name: known[name] for name in quasi if not alone[name]})
    rows_inside = float(classes.sizes[places].sum())
    guess = {}
    for column in classes.table.sensitive:
        tally = classes.tally(column)
        inside = np.repeat(np.isin(np.arange(len(classes)), places), np.diff(tally.indptr))
        counts = np.bincount(tally.values[inside], tally.counts[inside], len(column.domain))
        if not counts.sum():
            continue
        best = int(counts.argmax())
        general = posterior(classes.table, person, column, quasi)[0]
        share = counts[best] / rows_inside  # a star tells no value, and its row counts
        guess[column.name] = Guess(column.domain.labels[best], float(share), float(general[best]))
    return Found(matches, _rows_of(published, classes, places), guess)


def _in_linked(data: Linked, known: Mapping[str, str]) -> Found:
    """The public rows that are as known, and the secrets of their groups."""
    rows = np.ones(data.rows, dtype=np.bool_)
    unfit = {}
    for column, text in zip(data.public.select(known), known.values(), strict=True):
        fits = np.array([label == text for label in column.domain.labels], dtype=np.bool_)[column.codes]
        rows &= fits
        if not fits.any():
            unfit[column.name] = text
    places = np.flatnonzero(rows)
    guess = {}
    for column in data.secrets.sensitive if len(places) else ():
        found, number = np.unique(data.groups[places], return_inverse=True)
        shares = data.shares(column, found)[number].mean(axis=0)
        best = int(shares.argmax())
        overall = float((column.codes == best).mean())
        guess[column.name] = Guess(column.domain.labels[best], float(shares[best]), overall)
    return Found(len(places), tuple((places[:LISTED] + 1).tolist()), guess, unfit=unfit)


def _rows_of(published: Table, classes: PublishedClasses, places: Rows) -> tuple[int, ...]:
    """The lines of the published data that lie in some classes; rows that tell nothing have none."""
    lines = np.flatnonzero(telling_rows(published))
    inside = np.flatnonzero(np.isin(classes.number, places))[:LISTED]
    return tuple((lines[inside] + 1).tolist())


def _in_baskets(
    data: Baskets, items: Sequence[str], tree: Hierarchy | None, sensitive: Sequence[str]
) -> Found:
    cohort = BasketsView(data, replace(data, hierarchy=tree)).cohort(items)
    rows = np.arange(len(data), dtype=np.int64) if cohort is None else cohort
    secrets = [data.vocabulary[item] for item in data.sensitive.tolist()] or list(sensitive)
    inside = np.bincount(data.take(rows).items, minlength=len(data.vocabulary))
    shares = inside / max(len(rows), 1)
    overall = data.supports / max(len(data), 1)
    guess = {
        text: Guess(text, float(shares[data.code(text)]), float(overall[data.code(text)]))
        for text in secrets
        if text in data.vocabulary and shares[data.code(text)] > 0
    }
    return Found(len(rows), tuple((rows[:LISTED] + 1).tolist()), guess, "baskets", "baskets")


def _in_clusters(clusters: Clusters, items: Sequence[str], sensitive: Sequence[str]) -> Found:
    """How many baskets may hold all known items, and how likely one of them holds a sensitive item."""
    view = ClustersView(clusters)
    matches = int(view.candidates(items))
    shares, overall = view.beliefs(items), view.beliefs(())
    codes = {text: code for code, text in enumerate(clusters.vocabulary)}
    guess = {
        text: Guess(text, float(shares[codes[text]]), float(overall[codes[text]]))
        for text in sensitive
        if text in codes and text not in items and shares[codes[text]] > 0
    }
    return Found(matches, (), guess, "baskets")


def _in_groups(groups: Groups, items: Sequence[str]) -> Found:
    """The published baskets that hold all known items, and the secrets of their groups."""
    public = Baskets(groups.basket_indptr, groups.items, groups.vocabulary)
    cohort = BasketsView(public, public).cohort(items)
    rows = np.arange(len(public), dtype=np.int64) if cohort is None else cohort
    group = np.repeat(np.arange(len(groups)), groups.sizes)[rows]
    shares = group_shares(groups)
    mean: Floats = np.asarray(shares[group].sum(axis=0)).ravel() / max(len(rows), 1)
    overall = np.asarray((shares * groups.sizes[:, None]).sum(axis=0)).ravel() / max(
        int(groups.sizes.sum()), 1
    )
    guess = {
        groups.vocabulary[item]: Guess(groups.vocabulary[item], float(mean[item]), float(overall[item]))
        for item in np.flatnonzero(mean > 0).tolist()
    }
    places = tuple((np.unique(group)[:LISTED] + 1).tolist())
    return Found(len(rows), places, guess, "baskets", "groups")

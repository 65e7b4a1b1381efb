"""Order: whether the place of a row, or a column of numbers, tells whose row it is."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.attacks._class_view import covers
from shoal.attacks._known_baskets import public_items
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table

DEALS = 5
"""So often rows are dealt out anew, to see how often they fit by chance."""


class Order(Attack):
    """Take the published row at somebody's place in the input, or with her number in a column, for hers.

    Right if it fits all of her cells, also the secret ones. The control are the same rows in random order. Inside of
    classes the same is tried: the first of its people for its first row, and so on.
    """

    name: ClassVar[str] = "order"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups)

    def run(self, target: Target) -> Attacked | None:
        """Try the place in the file, the place in the class, and every column that may hold numbers of rows."""
        data = target.release.data
        tries = {}
        if isinstance(data, Table):
            tries = self._table(data, target.original)
        elif isinstance(data, Baskets | Groups):
            tries = self._sets(data, target.original)
        if not tries:
            return None
        best = max(tries, key=lambda name: tries[name].residual)
        return tries[best]

    def _found(self, how: str, right: Mask, by_chance: float, parts: dict[str, float]) -> Attacked:
        success = float(right.mean()) if len(right) else 0.0
        words = (
            f"Who takes the row by {how} for somebody's is right, as far as its cells tell, for {success:.1%} of "
            f"{len(right):,} people; in random order it would be {by_chance:.1%}."
        )
        return Attacked(self.name, success, by_chance, by_chance, len(right), words, parts)

    def _table(self, published: Table, original: Table) -> dict[str, Attacked]:
        fits = _Fits(published, original)
        rng = np.random.default_rng(self.seed)
        rows = min(published.rows, original.rows)
        place = np.arange(rows)
        found = {}
        ways = {"its place in the file": (place, place)}
        for column in published.columns:
            numbers = _row_numbers(column, original.rows)
            if numbers is not None and not _same_column(column, original):
                ways[f"the numbers in {column.name}"] = (np.arange(published.rows), numbers)
        for how, (here, there) in ways.items():
            chance = (
                np.mean([fits.pairs(rng.permutation(here), there).mean() for _ in range(DEALS)])
                if len(here)
                else 0
            )
            found[how] = self._found(how, fits.pairs(here, there), float(chance), {})
        if (inside := self._within(published, original)) is not None:
            found[inside.sentence] = inside
        return found

    def _within(self, published: Table, original: Table) -> Attacked | None:
        """The j-th of the people of a class for its j-th row, where the people of a class are all known."""
        from shoal.attacks._class_view import class_view, secrets

        view = class_view(published, original)
        single = np.asarray((view.fits != 0).sum(axis=1)).ravel() == 1
        home = np.where(single, view.fits.argmax(axis=1).ravel(), -1)
        members = np.bincount(home[home >= 0], minlength=len(view.classes))
        whole = (members == view.classes.sizes) & (members > 1)
        people = np.flatnonzero((home >= 0) & whole[np.maximum(home, 0)])
        columns = secrets(view.classes.table, original)
        if not len(people) or not columns:
            return None
        people = people[np.argsort(home[people], kind="stable")]
        number = view.classes.number
        rows = np.flatnonzero(whole[number])
        rows = rows[np.argsort(number[rows], kind="stable")]
        fits = _Fits(view.classes.table, original, [column.name for column in columns])
        rng = np.random.default_rng(self.seed)
        group = home[people]
        chance = np.mean(
            [
                fits.pairs(rows[np.lexsort((rng.random(len(rows)), group))], people).mean()
                for _ in range(DEALS)
            ]
        )
        return self._found("its place in the class", fits.pairs(rows, people), float(chance), {})

    def _sets(self, data: Baskets | Groups, original: Baskets) -> dict[str, Attacked]:
        """The basket at the same place, if all of its items are hers: published ones may be fewer or coarser."""
        public = public_items(original)
        published = _public_sets(data, original)
        rows = min(len(published), len(original))
        kinds = _kinds(published, public)
        mine, yours = kinds[: len(published)], kinds[len(published) :]
        right = mine[:rows] == yours[:rows]
        rng = np.random.default_rng(self.seed)
        chance = (
            np.mean([(rng.permutation(mine)[:rows] == yours[:rows]).mean() for _ in range(DEALS)])
            if rows
            else 0.0
        )
        how = "its place in the file"
        return {how: self._found(how, right, float(chance), {})}


class _Fits:
    """Whether a published row may be that of a person, as far as its cells tell."""

    def __init__(self, published: Table, original: Table, names: list[str] | None = None) -> None:
        self._pairs = []
        for column in published.columns:
            wanted = column.role in (Role.QUASI, Role.SENSITIVE) if names is None else column.name in names
            if wanted and column.name in original.names:
                other = original.column(column.name)
                meant = covers(column, other)
                for code, text in enumerate(column.domain.labels):
                    if text == SUPPRESSED:
                        meant[code] = True
                self._pairs.append((column.codes, other.codes, meant))

    def pairs(self, rows: Rows, people: Rows) -> Mask:
        """For each row and the person at the same place whether they fit."""
        right = np.ones(len(rows), dtype=np.bool_)
        for codes, others, meant in self._pairs:
            right &= meant[codes[rows], others[people]]
        return right


def _row_numbers(column: Column, rows: int) -> Rows | None:
    """The row that each cell of a column names, if its cells are different whole numbers of rows, from 0 or 1 on."""
    labels = [column.domain.labels[code] for code in column.codes[: min(len(column.codes), 3)].tolist()]
    if len(np.unique(column.codes)) != len(column.codes) or not all(map(str.isdigit, labels)) or not labels:
        return None
    texts = column.domain.labels
    if not all(text.isdigit() and len(text) < 19 for text in texts):
        return None
    numbers = np.array([int(text) for text in texts], dtype=np.int64)[column.codes]
    least = int(numbers.min())
    if least not in (0, 1) or int(numbers.max()) - least >= rows:
        return None
    return numbers - least


def _same_column(column: Column, original: Table) -> bool:
    """Whether the original has the column too, and gave it a role that is published as it is."""
    return column.name in original.names and column.role is Role.ENTITY


def _public_sets(data: Baskets | Groups, original: Baskets) -> Baskets:
    """The published sets of public items, in the order in which they are published."""
    if isinstance(data, Baskets):
        hidden = {original.vocabulary[item] for item in [*original.sensitive, *original.insensitive]}
        return data.keep(np.array([text not in hidden for text in data.vocabulary], dtype=np.bool_))
    none = np.empty(0, dtype=np.int32)
    return Baskets(data.basket_indptr, data.items, data.vocabulary, none, none)


def _kinds(published: Baskets, public: Baskets) -> Rows:
    """One number for each set of items, the same for the same texts: the published ones, then those of the original."""
    from shoal.data.baskets import ragged_ranks

    codes = {text: code for code, text in enumerate(published.vocabulary)}
    moved = np.array([codes.setdefault(text, len(codes)) for text in public.vocabulary], dtype=np.int64)
    # Items of the original that are published nowhere say nothing about a place.
    told = moved < len(published.vocabulary)
    kept = public.keep(told)
    items = moved[told][kept.items] if len(kept.items) else np.empty(0, dtype=np.int64)
    indptr = np.concatenate((published.indptr, published.indptr[-1] + kept.indptr[1:]))
    return ragged_ranks(indptr, np.concatenate((published.items.astype(np.int64), items)))

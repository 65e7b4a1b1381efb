"""Order: whether the place of a row, or a column of numbers, tells whose row it is."""

from collections.abc import Collection
from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Mask, Rows, ranges
from shoal.attacks._class_view import class_view, compacted, covers, secrets, some_classes
from shoal.attacks._known_baskets import BasketsView, public_items
from shoal.attacks.attack import Attack, Attacked, Target, mean
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked, canonical
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.risks._group_members import shares_of
from shoal.risks.learned_secrets import aligned, alike_pairs, shares_of_people

DEALS = 5
"""So often rows are dealt out anew, to see how often they fit by chance."""


class Order(Attack):
    """Take the published row at somebody's place in the input, or with her number in a column, for hers.

    Right if it fits all of her cells, also the secret ones. The control are the same rows in random order. Inside of
    classes the same is tried: the first of its people for its first row, and so on. In clusters, sub-records of two
    chunks at the same place are put together, and right if somebody holds all of their items; the control is the better
    of random and of canonical order. In linked tables the first row of a group gets its first secret, and so on; the
    control are both tables in canonical order.
    """

    name: ClassVar[str] = "order"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Clusters, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Try the place in the file, the place in the class, and every column that may hold numbers of rows."""
        data = target.release.data
        tries = {}
        if isinstance(data, Table):
            tries = self._table(data, target.original)
        elif isinstance(data, Baskets | Groups):
            tries = self._sets(data, target.original)
            if isinstance(data, Groups) and (named := self._first_members(data, target.original)) is not None:
                tries["its place in the group"] = named
        elif isinstance(data, Clusters):
            tries = self._clusters(data, target.original)
        elif isinstance(data, Linked):
            return self._linked(data, target.original)
        return max(tries.values(), key=lambda one: one.residual, default=None)

    def _first_members(self, groups: Groups, original: Baskets) -> Attacked | None:
        """The first or the last member of each group for the holder of its secret, beside the canonical order."""
        asked = np.flatnonzero(np.diff(groups.sensitive_indptr))
        if not len(asked):
            return None
        shares = shares_of(original, groups)
        group = np.repeat(np.arange(len(groups)), groups.sizes)
        tidy = np.lexsort((ragged_ranks(groups.basket_indptr, groups.items), group))
        ends = {"first": groups.group_indptr[:-1][asked], "last": groups.group_indptr[1:][asked] - 1}
        as_is = {name: float(shares[place].mean()) for name, place in ends.items()}
        by_items = {name: float(shares[tidy[place]].mean()) for name, place in ends.items()}
        which = max(ends, key=lambda name: as_is[name] - by_items[name])
        words = (
            f"Who names the {which} member of a group names a holder of its secret in {as_is[which]:.1%} of "
            f"{len(asked):,} groups; in the order of the items it would be {by_items[which]:.1%}."
        )
        sums = np.add.reduceat(shares, groups.group_indptr[:-1])[asked]
        baseline = float((sums / groups.sizes[asked]).mean())
        return Attacked(self.name, as_is[which], baseline, by_items[which], len(asked), words)

    def _linked(self, data: Linked, original: Table) -> Attacked | None:
        """The j-th secret of a group for its j-th row, beside the same in canonical order."""
        columns = secrets(data.secrets, original)
        if not columns or not data.rows or not original.rows:
            return None
        as_is, tidy = (
            secrets_in_turn(one, original, columns[0].name, self.drawn(data.rows))
            for one in (data, canonical(data))
        )
        baseline = mean(shares_of_people(original.take(self.drawn(original.rows)), data, columns[0])[0])
        words = (
            f"Who takes the secrets of a group for those of its rows in turn names {columns[0].name} of "
            f"{mean(as_is):.1%} of {len(as_is):,} people; in canonical order it would be {mean(tidy):.1%}."
        )
        return Attacked(self.name, mean(as_is), baseline, mean(tidy), len(as_is), words)

    def _clusters(self, clusters: Clusters, original: Baskets) -> dict[str, Attacked]:
        """The j-th sub-records of two chunks of a cluster together, if somebody holds the items of both."""
        sizes = np.diff(clusters.record_indptr)
        owner = clusters.owners
        same = (owner[1:] == owner[:-1]) & (sizes[1:] == sizes[:-1]) & (sizes[1:] > 1)
        first = np.flatnonzero(same)
        if not len(first):
            return {}
        pair = np.repeat(first, sizes[first])
        one, two = (ranges(clusters.record_indptr[chunk], sizes[first])[1] for chunk in (first, first + 1))
        tried = self.drawn(len(pair))
        view, rng = BasketsView(original, original), np.random.default_rng(self.seed)
        bounds, texts = clusters.item_indptr, clusters.vocabulary

        def together(firsts: Rows, others: Rows) -> Mask:
            sets = [
                {
                    texts[item]
                    for record in both
                    for item in clusters.items[bounds[record] : bounds[record + 1]]
                }
                for both in zip(firsts[tried].tolist(), others[tried].tolist(), strict=True)
            ]
            return np.array(
                [bool(len(found)) for items in sets if (found := view.cohort(sorted(items))) is not None]
            )

        chance = float(together(one, two[np.lexsort((rng.random(len(pair)), pair))]).mean())
        chunk = np.repeat(np.arange(len(sizes)), sizes)
        tidy = np.lexsort((ragged_ranks(bounds, clusters.items), chunk))
        chance = max(chance, float(together(tidy[one], tidy[two]).mean()))
        how = "its place in the chunk"
        return {how: self._found(how, together(one, two), chance, "random or canonical")}

    def _found(self, how: str, right: Mask, by_chance: float, beside: str = "random") -> Attacked:
        success = float(right.mean()) if len(right) else 0.0
        words = (
            f"Who takes the row by {how} for somebody's is right, as far as its cells tell, for {success:.1%} of "
            f"{len(right):,} people; in {beside} order it would be {by_chance:.1%}."
        )
        return Attacked(self.name, success, by_chance, by_chance, len(right), words)

    def _table(self, published: Table, original: Table) -> dict[str, Attacked]:
        rng = np.random.default_rng(self.seed)
        place = np.arange(min(published.rows, original.rows))
        ways = {"its place in the file": (place, place)}
        for column in published.columns:
            numbers = _row_numbers(column, original.rows)
            # A column that the original has too, and that is published as it is, tells nothing new.
            same = column.name in original.names and column.role is Role.ENTITY
            if numbers is not None and not same:
                ways[f"the numbers in {column.name}"] = (np.arange(published.rows), numbers)
        found = {}
        for how, (here, there) in ways.items():
            if not len(here):
                continue
            tried = self.drawn(len(here))
            dealt = [rng.choice(here, len(tried)) for _ in range(DEALS)]
            chance = np.mean([fitting(published, original, one, there[tried]).mean() for one in dealt])
            right = fitting(published, original, here[tried], there[tried])
            found[how] = self._found(how, right, float(chance))
        if (inside := self._within(published, original)) is not None:
            found["its place in the class"] = inside
        return found

    def _within(self, published: Table, original: Table) -> Attacked | None:
        """The j-th of the people of a class for its j-th row, where the people of a class are all known."""
        view = class_view(some_classes(published, self.people, self.seed), original)
        home, whole = view.homes()
        whole &= view.classes.sizes > 1
        people = np.flatnonzero((home >= 0) & whole[np.maximum(home, 0)])
        columns = secrets(view.classes.table, original)
        if not len(people) or not columns:
            return None
        people = people[np.argsort(home[people], kind="stable")]
        number = view.classes.number
        rows = np.flatnonzero(whole[number])
        rows = rows[np.argsort(number[rows], kind="stable")]
        names = [column.name for column in columns]
        rng = np.random.default_rng(self.seed)
        group = home[people]

        def right(rows: Rows) -> Mask:
            return fitting(view.classes.table, original, rows, people, names)

        dealt = (rows[np.lexsort((rng.random(len(rows)), group))] for _ in range(DEALS))
        chance = np.mean([right(some).mean() for some in dealt])
        return self._found("its place in the class", right(rows), float(chance))

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
        return {how: self._found(how, right, float(chance))}


def secrets_in_turn(data: Linked, original: Table, name: str, rows: Rows) -> Floats:
    """For some public rows the share of the people like them whose secret is the one at the same place of the group."""
    secret = data.secrets.column(name)
    by_group = np.argsort(data.groups, kind="stable")
    in_turn = np.empty(data.rows, dtype=np.int64)
    in_turn[by_group] = secret.codes[np.argsort(data.secret_groups, kind="stable")]
    who, pairs = alike_pairs(original, data)
    truth = aligned(original.column(name), secret)
    like = np.bincount(pairs, minlength=data.rows)
    hits = np.bincount(pairs, truth[who] == in_turn[pairs], minlength=data.rows)
    return np.asarray((hits / np.maximum(like, 1))[rows])


def fitting(
    published: Table, original: Table, rows: Rows, people: Rows, names: Collection[str] | None = None
) -> Mask:
    """For each published row and the person at the same place whether they fit, as far as the cells tell.

    `names`: the columns that are compared; all quasi-identifiers and secrets by default.
    """
    right = np.ones(len(rows), dtype=np.bool_)
    here, there = compacted(published.take(rows)), compacted(original.take(people))
    for column in here.columns:
        wanted = column.role in (Role.QUASI, Role.SENSITIVE) if names is None else column.name in names
        if wanted and column.name in there.names:
            other = there.column(column.name)
            meant = covers(column, other).dense() > 0
            meant[[text == SUPPRESSED for text in column.domain.labels]] = True
            right &= meant[column.codes, other.codes]
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


def _public_sets(data: Baskets | Groups, original: Baskets) -> Baskets:
    """The published sets of public items, in the order in which they are published."""
    if isinstance(data, Baskets):
        hidden = {original.vocabulary[item] for item in [*original.sensitive, *original.insensitive]}
        return data.keep(np.array([text not in hidden for text in data.vocabulary], dtype=np.bool_))
    return Baskets(data.basket_indptr, data.items, data.vocabulary)


def _kinds(published: Baskets, public: Baskets) -> Rows:
    """One number for each set of items, the same for the same texts: the published ones, then those of the original."""
    codes = {text: code for code, text in enumerate(published.vocabulary)}
    moved = np.array([codes.setdefault(text, len(codes)) for text in public.vocabulary], dtype=np.int64)
    # Items of the original that are published nowhere say nothing about a place.
    known = moved < len(published.vocabulary)
    kept = public.keep(known)
    items = moved[known][kept.items] if len(kept.items) else np.empty(0, dtype=np.int64)
    indptr = np.concatenate((published.indptr, published.indptr[-1] + kept.indptr[1:]))
    return ragged_ranks(indptr, np.concatenate((published.items.astype(np.int64), items)))

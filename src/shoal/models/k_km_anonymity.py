"""(k,k^m)-anonymity: whoever knows all quasi-identifiers and up to m items of a person finds at least k rows."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows, owners
from shoal.data._item_sets import disordered_sets, item_sets, label_sets
from shoal.data._plain_text import counted
from shoal.data._promise_words import percent
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.group_statistics import GroupStatistics
from shoal.data.release import Published
from shoal.data.table import Column, Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models._exact import fraction
from shoal.models.km_anonymity import batches, occurring, rarest
from shoal.models.model import Evidence, TableModel

Found = tuple[float, Offender]
"""A place that breaks the promise, and how badly."""


class KKmAnonymity(TableModel):
    """Every class has at least k rows, and in each class every combination of up to m items is held by k rows or none.

    So whoever knows all quasi-identifiers of a person and up to m of her items finds at least k rows, and not only who
    knows m values and items together. Sensitive and insensitive items are not known and count in no combination. With
    h, no sensitive item is held by more than such a share of the rows that such an adversary finds: (h,k,p)-coherence
    inside each class, with p = m.
    """

    name: ClassVar[str] = "k-km-anonymity"
    paper: ClassVar[str] = (
        "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos: Anonymizing data with relational and transaction "
        "attributes. ECML/PKDD 2013"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = False

    k: int = Field(ge=2, description="least number of rows that fit what is known of a person")
    m: int = Field(default=2, ge=1, description="the most items that are known of a person")
    h: float | None = Field(
        default=None, gt=0, le=1, description="largest share of those rows that hold a sensitive item"
    )
    sensitive_items: tuple[str, ...] = Field(default=(), description="items that must not be learned")
    insensitive_items: tuple[str, ...] = Field(
        default=(), description="items that are neither known nor secret"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        secret = "" if self.h is None else f" A sensitive item is in at most {percent(self.h)} of them."
        return (
            f"Someone who knows {known} and up to {self.m} items of a person can guess that person's row with a chance "
            f"of at most 1 in {self.k}.{secret}"
        )

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """The promise with the items that are sensitive and insensitive in a table."""
        column = _items(table)
        if table.entity is not None:
            raise WrongUse(
                f"{self.name} counts rows with their items: give every person one row, and leave "
                f"{table.entity.name} out."
            )
        given = {
            role: getattr(column, role)
            for role in ("sensitive_items", "insensitive_items")
            if getattr(column, role) and not getattr(self, role)
        }
        bound = self.model_copy(update=given)
        if bound.h is not None and not bound.sensitive_items:
            raise WrongUse(
                "h bounds what is learned of sensitive items, and none is: name them with --sensitive-items."
            )
        return (bound,)

    def vacuous(self) -> str:
        """No share is larger than 1."""
        return "h = 1 promises nothing about sensitive items: no share is larger" if self.h == 1 else ""

    def refuse_unknown(self, data: Published) -> None:
        """Refuse sensitive and insensitive items that nobody holds."""
        if not isinstance(data, Table) or (column := data.items_column) is None or not data.rows:
            return
        known = label_sets(column).vocabulary
        for item in (*self.sensitive_items, *self.insensitive_items):
            if item not in known:
                raise UnknownName("item", item, known)

    def refuse_vacuous(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse a release whose items are all named as sensitive or insensitive, so that none would be counted."""
        if not isinstance(published, Table) or (column := published.items_column) is None:
            return
        names = set(label_sets(column).vocabulary)
        if (
            names
            and not names - {*self.sensitive_items, *self.insensitive_items}
            and details.get("public_items") != 0
        ):
            raise BadData(
                "release.json: every published item is named sensitive or insensitive, so nothing can be proved "
                "of who knows some. Fetch the folder again."
            )

    def accept(self, published: Published) -> None:
        """Refuse a table without items."""
        super().accept(published)
        assert isinstance(published, Table)
        _items(published)

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups are large enough; what their items need is the work of the method."""
        mask: Mask = statistics.persons >= self.k
        return mask

    def least_size(self) -> int:
        """K rows."""
        return self.k

    def examine(self, published: Excerpt) -> Evidence:
        """Count the rows of each class, and the combinations of items in it."""
        classes = PublishedClasses.of(published)
        small = np.flatnonzero(classes.sizes < self.k)
        found: list[Found] = [
            (-float(size), Offender(classes.words(place), self._few(size)))
            for place, size in zip(small.tolist(), classes.sizes[small].tolist(), strict=True)
        ]
        count, least = len(small), [int(classes.sizes.min())] if len(classes) else []
        column = _items(classes.table)
        if wrong := disordered_sets(column):
            texts = [column.domain.labels[code] for code in wrong]
            found += [
                (np.inf, Offender(f"{column.name} {text}", "its items do not ascend")) for text in texts
            ]
            count += len(wrong)
        sets, number = self._rows(classes, column)
        public = sets.keep(self._public(sets))
        rare = rarest(number, public.indptr, public.items, self.k, self.m)
        count += rare.count
        least += [] if rare.least is None else [rare.least]
        found += [
            (
                -float(one.support),
                Offender(
                    self._place(classes, one.group, [public.vocabulary[item] for item in one.items]),
                    self._few(one.support),
                ),
            )
            for one in rare.worst
        ]
        highest: dict[str, Fraction] = {}
        if self.h is not None:
            for badness, offender, share, breaks in self._learned(classes, sets, public, number):
                highest["share"] = max(highest.get("share", Fraction(0)), share)
                found += [(badness, offender)] if breaks else []
                count += breaks
        found.sort(key=lambda one: -one[0])
        return Evidence(
            tuple(found[:SHOWN]), count, lowest={"rows": min(least)} if least else {}, highest=highest
        )

    def conclude(self, evidence: Evidence) -> Verdict:
        """The smallest class or combination decides, and the largest share."""
        promise = (
            f"whoever knows all quasi-identifiers and up to {counted(self.m, 'items')} of a person finds at least "
            f"{self.k} rows"
        )
        if self.h is not None:
            promise += f", and a sensitive item in at most {self.h:g} of them"
        return self.concluded(evidence, promise, evidence.lowest.get("rows"), self.k)

    def _few(self, rows: int) -> str:
        return f"{counted(rows, 'rows')} where {self.k} are promised"

    def _place(self, classes: PublishedClasses, place: int, items: list[str]) -> str:
        return f"{classes.words(place)} with {{{', '.join(items)}}}"

    def _rows(self, classes: PublishedClasses, column: Column) -> tuple[Baskets, Rows]:
        """The items of every row of the published table, and its class."""
        sets, weights = item_sets(column), classes.excerpt.weights
        if weights is None:
            return sets, classes.number
        rows = np.repeat(np.arange(classes.table.rows), weights)
        return sets.take(rows), classes.number[rows]

    def _public(self, sets: Baskets) -> Mask:
        """Which items an adversary may know."""
        hidden = {*self.sensitive_items, *self.insensitive_items}
        return np.array([item not in hidden for item in sets.vocabulary], dtype=np.bool_)

    def _learned(
        self, classes: PublishedClasses, sets: Baskets, public: Baskets, number: Rows
    ) -> Iterator[tuple[float, Offender, Fraction, bool]]:
        """The largest share of each sensitive item among who holds the same class and public items."""
        assert self.h is not None
        bound, record = fraction(self.h), owners(sets.indptr)
        for secret in self.sensitive_items:
            if secret not in sets.vocabulary:
                continue
            holds = np.zeros(len(sets), dtype=np.int64)
            holds[record[sets.items == sets.code(secret)]] = 1
            sizes = np.bincount(number, minlength=len(classes))
            inside = np.bincount(number, weights=holds, minlength=len(classes)).astype(np.int64)
            yield from self._judged(secret, sizes, inside, bound, classes.words)
            if not len(public.items):
                continue
            for group, items, support, which, last in _combinations(number, public, self.m):
                held = np.bincount(
                    which, weights=holds[owners(public.indptr)[last]], minlength=len(support)
                ).astype(np.int64)

                def where(place: int, group: Rows = group, items: Any = items) -> str:
                    names = [public.vocabulary[int(public.items[position])] for position in items(place)]
                    return self._place(classes, int(number[owners(public.indptr)[group[place]]]), names)

                yield from self._judged(secret, support, held, bound, where)

    def _judged(
        self, secret: str, support: Any, held: Any, bound: Fraction, where: Any
    ) -> Iterator[tuple[float, Offender, Fraction, bool]]:
        """The places at which more than a share holds a secret, and the place that comes nearest to it."""
        if not len(support):
            return
        broken = np.flatnonzero(held * bound.denominator > bound.numerator * support)
        worst = broken if len(broken) else np.array([int(np.argmax(held / np.maximum(support, 1)))])
        for place in worst.tolist():
            share = Fraction(int(held[place]), max(int(support[place]), 1))
            yield (
                float(share),
                Offender(
                    where(place),
                    f"{int(held[place])} of {counted(int(support[place]), 'rows')} hold {secret}, where a share of "
                    f"{self.h:g} is promised",
                ),
                share,
                bool(len(broken)),
            )


def _combinations(number: Rows, public: Baskets, m: int) -> Iterator[Any]:
    """All combinations of up to m public items in each class, as `occurring` gives them."""
    record = owners(public.indptr)
    key = number[record] * (int(public.items.max()) + 1) + public.items
    order = np.argsort(key, kind="stable")
    rest = (public.indptr[record + 1] - np.arange(len(public.items)) - 1)[order]
    for first in batches(key[order], rest, m):
        yield from occurring(order[first], key, record, public.indptr, public.items, m)


def _items(table: Table) -> Column:
    """The column of items that a promise is about."""
    column = table.items_column
    if isinstance(table, ClusteredTable):
        raise WrongUse(
            f"The items of {table.items} are in clusters, whose rows cannot be counted: prove --model disassociation."
        )
    if column is None:
        raise WrongUse(
            "No column holds items, so nothing can be promised of who knows some: name it with --items."
        )
    return column

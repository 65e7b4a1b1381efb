"""(h,k,p)-coherence (Xu, Wang, Fu and Yu 2008, definition 1).

Let X have a row for each basket of the cohort of a set and a column for each further item. Then XᵀX holds the cohort
sizes of the set with every pair of items added, and the same of the rows with a secret tells how many of those hold it.
So one product stands for all sets that are two items longer. Equal baskets are one row that counts as often as they are
there. Where the matrix is dense and many products would be needed, compiled kernels judge the sets by bits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, ClassVar, TypeAlias

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Counts, Floats, Items, Mask, Rows, owners
from shoal.data._plain_text import counted
from shoal.data._promise_words import percent
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import BadData, WrongUse
from shoal.kernels._compiling import are_loaded, is_eager
from shoal.models._exact import fraction
from shoal.models.model import Model

MOST = 10_000
"""The search ends after so many broken sets."""

DENSE, LARGEST = 0.02, 20_000_000
"""A matrix is dense if at least such a share of its cells are 1, and it has at most so many cells."""

EXACT = 2**24
"""Counts below this are exact in single precision."""

PATIENCE, STARTED, PACE = 2.0, 0.01, 1e8
"""Seconds of products that loading compiled kernels is worth, and that calling them is worth once some are loaded; and
how many cells a second are multiplied."""

Pairs: TypeAlias = tuple[Rows, Counts]
"""Ascending keys ``first * width + second`` of pairs with ``first < second``, and how many rows hold both."""


class HkpCoherence(Model):
    """Whoever knows at most p public items finds at least k baskets, and no sensitive item in more than h of them.

    For every set of at most p public items that some basket holds, at least k baskets hold it (its *cohort*), and
    no sensitive item is in more than a share h of the cohort. The empty set counts: there are at least k baskets in
    all, and no sensitive item is in more than a share h of them. Insensitive items are neither known nor secret.
    """

    name: ClassVar[str] = "hkp-coherence"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    paper: ClassVar[str] = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication. KDD 2008"

    h: float = Field(gt=0, le=1, description="largest share of a sensitive item in a cohort")
    k: int = Field(ge=2, description="least number of baskets of a cohort")
    p: int = Field(ge=1, description="most public items that an adversary knows of a basket")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        secret = f" A sensitive item is in at most {percent(self.h)} of them." if self.h < 1 else ""
        return (
            f"Someone who knows up to {self.p} public items of a person finds at least {self.k} baskets with them, or "
            f"none.{secret}"
        )

    def verify(self, published: Published) -> Verdict:
        """Count the cohort of every set of public items that occurs, and the sensitive items in it.

        Sets that hold a broken one are not looked at: the verdict counts broken sets of which no part is broken.
        Beyond some thousands of them the rest is not counted.
        """
        self.accept(published)
        assert isinstance(published, Baskets)
        return self.conclude_sets(*broken_sets(published, fraction(self.h), self.k, self.p), published)

    def refuse_unknown(self, data: Published) -> None:
        """Refuse baskets of which an adversary knows nothing, because every other item is insensitive."""
        if _without_public(data):
            raise WrongUse(
                f"No item is public: {self.name} is about what an adversary may know. Name fewer items with "
                "--insensitive."
            )

    def refuse_vacuous(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse insensitive items alone, unless the method says that it suppressed every public one."""
        if _without_public(published) and details.get("public_items") != 0:
            raise BadData(
                "release.json: no published item is public, so nothing can be proved of persons: every item is "
                "named sensitive or insensitive. Fetch the folder again."
            )

    def vacuous(self) -> str:
        """No share is larger than 1."""
        return "h = 1 promises nothing about sensitive items: no share is larger" if self.h >= 1 else ""

    def conclude_sets(self, least: int | None, broken: list["Broken"], published: Baskets) -> Verdict:
        """The verdict that follows from the smallest cohort and the broken sets.

        How far a search looks beyond broken sets depends on how it is cut: where there are some, the smallest of their
        cohorts counts. `published`: the items and their roles; the baskets may be elsewhere.
        """
        share = fraction(self.h)
        broken.sort(key=lambda found: (len(found.items), found.cohort, found.items))
        few = [found.cohort for found in broken if found.cohort < self.k]
        by_share = bool(broken) and not few
        return Verdict(
            self.name,
            f"every set of at most {self.p} public item{'s' * (self.p != 1)} that occurs is in at least {self.k} "
            f"baskets, and no sensitive item is in more than {self.h:g} of those",
            not broken,
            max(found.share for found in broken) if by_share else min(few, default=least),
            share if by_share else self.k,
            tuple(self._offender(found, published.vocabulary) for found in broken[:SHOWN]),
            len(broken),
            "" if len(published.sensitive) else "no published item is named sensitive, so h bounds nothing",
        )

    def _offender(self, found: "Broken", vocabulary: tuple[str, ...]) -> Offender:
        where = f"{{{', '.join(vocabulary[item] for item in found.items)}}}"
        if found.cohort < self.k:
            return Offender(where, f"{counted(found.cohort, 'baskets')} where {self.k} are promised")
        secret = vocabulary[found.secret]
        return Offender(
            where,
            f"{secret} in {found.count} of {counted(found.cohort, 'baskets')} where a share of {self.h:g} is promised",
        )


@dataclass(frozen=True, slots=True)
class Broken:
    """A set of items whose cohort is too small, or holds a secret too often."""

    items: tuple[int, ...]  # the set, ascending codes
    cohort: int  # the number of baskets that hold it
    secret: int = -1
    count: int = 0
    """`secret`, `count`: the most frequent secret among them, and how many hold it; -1 and 0 where the cohort is too
    small."""

    @property
    def share(self) -> Fraction:
        """The share of the secret."""
        return Fraction(self.count, self.cohort)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The cohort of a set, with the items that may be added to it."""

    items: tuple[int, ...]  # the set
    rows: Rows  # its distinct baskets
    weights: Counts  # how often each of them is there
    added: Items  # codes of further items, ascending
    matrix: Any
    """A row a basket, a column an item that may be added: a dense array of 0 and 1, or a sparse matrix in compressed
    rows."""


def broken_sets(
    baskets: Baskets, h: Fraction, k: int, p: int, firsts: Mask | None = None
) -> tuple[int | None, list[Broken]]:
    """All sets of at most p public items that break (h,k,p)-coherence and have no part that does.

    `h`, `k`, `p`: largest share of a secret, least size of a cohort, most items of a set. `firsts`: look only at sets
    whose first item is one of these (one entry an item), and not at the empty set: the baskets are all that hold one
    of these items. Returns the size of the smallest cohort that was met, and the broken sets, at most some thousands
    of them.
    """
    if not len(baskets):
        return None, []
    search = _Search(baskets, h, k, firsts)
    if firsts is None:
        search.empty_set()
    if not search.broken:
        search.single_items()
        if p > 1:
            search.pairs_and_more(p)
    return search.least, minimal(search.broken)


class _Search:
    """One search with what it has found."""

    def __init__(self, baskets: Baskets, h: Fraction, k: int, firsts: Mask | None) -> None:
        # Bits of dense baskets are looked at so fast that it does not pay to look for equal ones first.
        few = len(baskets) * len(baskets.vocabulary) * DENSE > len(baskets.items) or not are_loaded()
        distinct, self._weights = _distinct(baskets) if few else (baskets, np.ones(len(baskets), np.int64))
        everything = _matrix(distinct)
        self.public = baskets.public
        # No share is larger than 1.
        self.sensitive = baskets.sensitive if h < 1 else baskets.sensitive[:0]
        self._known = everything[:, self.public]
        self._secrets = everything[:, self.sensitive]
        self._h, self._k = h, k
        self._firsts: Mask = np.ones(len(baskets.vocabulary), dtype=np.bool_) if firsts is None else firsts
        self.rows = len(baskets)
        self.least = self.rows
        self.broken: list[Broken] = []

    def empty_set(self) -> None:
        """Whoever knows nothing."""
        self._judge((), self.rows, self._weights @ self._secrets)

    def single_items(self) -> None:
        """Whoever knows one item: products of the items' columns with those of the secrets."""
        sizes = self._weights @ self._known
        together = _together(self._known, self._secrets, self._weights)
        for item in np.flatnonzero((sizes > 0) & self._firsts[self.public]).tolist():
            self._judge((int(self.public[item]),), int(sizes[item]), _line(together, item))

    def pairs_and_more(self, p: int) -> None:
        """Whoever knows two items and more, up to p."""
        bad = {found.items[0] for found in self.broken}
        added = np.array([item for item in self.public.tolist() if item not in bad], dtype=np.int32)
        columns = np.searchsorted(self.public, added)
        rows = np.arange(len(self._weights))
        waiting = [Part((), rows, self._weights, added, _form(self._known[:, columns]))]
        while waiting and len(self.broken) < MOST:
            part = waiting.pop()
            longest = min(p - len(part.items), len(part.added))
            if _is_long_work(part.matrix, longest):
                self._judge_by_bits(part, longest)
                continue
            pairs = _pairs(part.matrix, part.weights)
            if not part.items and not self._firsts.all():
                begun = self._firsts[part.added][pairs[0] // max(len(part.added), 1)]
                pairs = pairs[0][begun], pairs[1][begun]
            safe = self._judge_pairs(part, pairs)
            if longest > 2:
                waiting += self._children(part, pairs[0][safe])

    def _judge_pairs(self, part: Part, pairs: Pairs) -> Mask:
        """Judge a set with every pair added; which pairs do not break it."""
        keys, sizes = pairs
        if not len(keys):
            return np.empty(0, dtype=np.bool_)
        self.least = min(self.least, int(sizes.min()))
        large = sizes >= self._k
        limits = floor_each(sizes, self._h)
        lowest = int(limits[large].min()) if large.any() else self.rows
        worst, most = np.full(len(keys), -1), np.zeros(len(keys), dtype=np.int64)
        secrets = _by_column(self._secrets[part.rows]) if len(self.sensitive) else self._secrets
        totals = part.weights @ secrets if len(self.sensitive) else np.empty(0, dtype=np.int64)
        for secret in np.flatnonzero(totals > lowest).tolist():
            holders = _holders(secrets, secret)
            counts = _looked_up(_pairs(part.matrix[holders], part.weights[holders]), keys)
            above = counts > most
            worst[above], most[above] = secret, counts[above]
        bad = ~large | (most > limits)
        width = len(part.added)
        for place in np.flatnonzero(bad).tolist():
            pair = (int(part.added[keys[place] // width]), int(part.added[keys[place] % width]))
            items = tuple(sorted((*part.items, *pair)))
            if large[place]:
                secret = int(self.sensitive[worst[place]])
                self.broken.append(Broken(items, int(sizes[place]), secret, int(most[place])))
            else:
                self.broken.append(Broken(items, int(sizes[place])))
        return ~bad

    def _judge_by_bits(self, part: Part, longest: int) -> None:
        """Judge a set with two items added and more, by compiled kernels: all pairs first."""
        from shoal.kernels.dense_cohorts import ITEMS, Bound, judge_longer, judge_pairs

        width = len(part.added)
        own = np.ones(width, dtype=np.bool_) if part.items else self._firsts[part.added]
        safe = np.zeros((width, width), dtype=np.bool_)
        columns = _bits(part.matrix, part.weights)
        secrets = _bits(_dense(self._secrets[part.rows]), part.weights)
        bound = Bound(self._k, floor_each(np.arange(max(int(part.weights.sum()), self._k) + 1), self._h))
        found = np.empty((max(MOST - len(self.broken), 0), ITEMS + max(longest, 2)), dtype=np.int64)
        self._note(part, found, *judge_pairs(columns, secrets, own, safe, bound, found))
        for root in np.flatnonzero(own).tolist() if longest > 2 else ():
            rest = found[: max(MOST - len(self.broken), 0)]
            self._note(part, rest, *judge_longer(root, longest, columns, secrets, safe, bound, rest))

    def _note(self, part: Part, found: Counts, least: int, count: int) -> None:
        """Keep what kernels have found among the sets that a part is made longer to."""
        from shoal.kernels.dense_cohorts import COUNT, ITEMS, SECRET, SIZE

        self.least = min(self.least, least)
        for row in found[:count].tolist():
            added = [int(part.added[column]) for column in row[ITEMS:] if column >= 0]
            secret = -1 if row[SECRET] < 0 else int(self.sensitive[row[SECRET]])
            self.broken.append(Broken(tuple(sorted((*part.items, *added))), row[SIZE], secret, row[COUNT]))

    def _children(self, part: Part, keys: Rows) -> Iterator[Part]:
        """The sets one item longer to which two more items can be added."""
        width = len(part.added)
        firsts, seconds = keys // width, keys % width
        starts = np.searchsorted(firsts, np.arange(width + 1))
        for first in np.flatnonzero(np.diff(starts) > 1).tolist():
            columns = seconds[starts[first] : starts[first + 1]]
            rows = _holders(part.matrix, first)
            matrix = _form(part.matrix[rows][:, columns])
            items = (*part.items, int(part.added[first]))
            yield Part(items, part.rows[rows], part.weights[rows], part.added[columns], matrix)

    def _judge(self, items: tuple[int, ...], size: int, counts: Counts) -> None:
        self.least = min(self.least, size)
        worst = int(counts.argmax()) if len(counts) else -1
        if size < self._k:
            self.broken.append(Broken(items, size))
        elif worst >= 0 and Fraction(int(counts[worst]), size) > self._h:
            self.broken.append(Broken(items, size, int(self.sensitive[worst]), int(counts[worst])))


def floor_each(sizes: Counts, share: Fraction) -> Counts:
    """The largest whole number not above each size times a share, exactly."""
    up, down = share.numerator, share.denominator
    if int(sizes.max(initial=0)) * up < 2**62:
        return np.asarray(sizes * up // down)
    distinct, places = np.unique(sizes, return_inverse=True)
    floors = np.array([size * up // down for size in distinct.tolist()], dtype=np.int64)
    return np.asarray(floors[places])


def _matrix(baskets: Baskets) -> Any:
    """A row a basket, a column an item: of dense baskets in numpy alone, which is there already."""
    shape = (len(baskets), len(baskets.vocabulary))
    if _is_dense(shape, len(baskets.items)):
        cells = np.zeros(shape, dtype=np.int8)
        cells[owners(baskets.indptr), baskets.items] = 1
        return cells
    from scipy.sparse import csr_array

    ones = np.ones(len(baskets.items), dtype=np.int32)
    return csr_array((ones, baskets.items, baskets.indptr), shape=shape)


def _is_dense(shape: tuple[int, int], filled: int) -> bool:
    cells = shape[0] * shape[1]
    return cells <= LARGEST and filled >= DENSE * cells


def _dense(matrix: Any) -> AnyArray:
    """All cells of a matrix."""
    cells: AnyArray = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return cells


def _by_column(matrix: Any) -> Any:
    """A matrix in the form in which the rows of a column are found faster."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.tocsc()


def _holders(matrix: Any, column: int) -> Rows:
    """The rows that have something in a column, ascending."""
    if isinstance(matrix, np.ndarray):
        return np.flatnonzero(matrix[:, column])
    if matrix.format == "csr":
        return np.sort(matrix[:, [column]].nonzero()[0])
    return np.sort(matrix.indices[matrix.indptr[column] : matrix.indptr[column + 1]])


def _line(matrix: Any, row: int) -> Counts:
    """All cells of a row."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix[row], dtype=np.int64)
    counts = np.zeros(matrix.shape[1], dtype=np.int64)
    entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
    counts[matrix.indices[entries]] = matrix.data[entries]
    return counts


def _together(known: Any, secrets: Any, weights: Counts) -> Any:
    """How many baskets hold an item, a row each, and a secret."""
    if isinstance(known, np.ndarray):
        kind = np.float32 if weights.sum() < EXACT else np.float64
        return known.T.astype(kind) @ (secrets * weights[:, None].astype(kind))
    return (known.T @ _weighted(secrets, weights)).tocsr()


def _form(matrix: Any) -> Any:
    """A matrix in the form in which it is multiplied faster."""
    if isinstance(matrix, np.ndarray):
        return matrix
    if _is_dense(matrix.shape, matrix.nnz):
        return matrix.toarray().astype(np.int8)
    return matrix


def _is_long_work(matrix: Any, longest: int) -> bool:
    """Whether judging all sets takes so many products that compiled kernels are worth calling, or loading."""
    if not isinstance(matrix, np.ndarray):
        return False
    rows, width = matrix.shape
    seconds = sum(comb(width, size) for size in range(max(longest - 1, 1))) * rows * width / PACE
    return is_eager() or seconds > (STARTED if are_loaded() else PATIENCE)


def _bits(matrix: AnyArray, weights: Counts) -> AnyArray:
    """The columns of a matrix of 0 and 1 as rows of words, in which each row stands as often as it counts."""
    flags = np.repeat(matrix != 0, weights, axis=0)
    packed = np.packbits(flags, axis=0, bitorder="little").T
    padded = np.zeros((matrix.shape[1], -(-len(flags) // 64) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _distinct(baskets: Baskets) -> tuple[Baskets, Counts]:
    """The distinct baskets by items that an adversary knows or asks for, and how often each is there."""
    asked = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
    asked[baskets.public] = asked[baskets.sensitive] = True
    asked_baskets = baskets if asked.all() else baskets.keep(asked)
    _, firsts, counts = np.unique(
        ragged_ranks(asked_baskets.indptr, asked_baskets.items), return_index=True, return_counts=True
    )
    return baskets.take(firsts), counts


def _weighted(matrix: Any, weights: Counts) -> Any:
    """A matrix in compressed rows, each of which counts as often as its weight."""
    from scipy.sparse import csr_array

    data = np.repeat(weights, np.diff(matrix.indptr))
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _pairs(matrix: Any, weights: Counts) -> Pairs:
    """How many baskets hold each pair of columns, for the pairs that some of them hold."""
    width = matrix.shape[1]
    if isinstance(matrix, np.ndarray):
        kind = np.float32 if weights.sum() < EXACT else np.float64
        exact: Floats = matrix.astype(kind)
        products = np.triu(exact.T @ (exact * weights[:, None].astype(kind)), 1)
        first, second = np.nonzero(products)
        return first * width + second, products[first, second].astype(np.int64)
    from scipy.sparse import triu

    upper = triu(matrix.T @ _weighted(matrix, weights), 1).tocoo()
    keys = upper.row.astype(np.int64) * width + upper.col
    order = np.argsort(keys)
    return keys[order], upper.data[order].astype(np.int64)


def _looked_up(pairs: Pairs, wanted: Rows) -> Counts:
    """The counts of some pairs; 0 of those that are not there."""
    keys, counts = pairs
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, counts[places], 0)


def minimal(broken: list[Broken]) -> list[Broken]:
    """Broken sets without those that hold another one."""
    bad = {found.items for found in broken}
    return [
        found
        for found in broken
        if not any(
            part in bad for size in range(len(found.items)) for part in combinations(found.items, size)
        )
    ]


def _without_public(data: Published) -> bool:
    """Whether insensitive items are there, and no public one; beside sensitive ones alone, all others may be gone."""
    return isinstance(data, Baskets) and bool(len(data.insensitive)) and not len(data.public)

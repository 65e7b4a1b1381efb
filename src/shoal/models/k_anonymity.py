"""k-anonymity (Samarati and Sweeney 1998; Samarati 2001, section 2)."""

from itertools import combinations, product
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Mask, Rows
from shoal.data._equal_rows import row_classes
from shoal.data._plain_text import counted
from shoal.data.group_statistics import GroupStatistics
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Published
from shoal.data.table import Column, Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible, WrongUse
from shoal.models._equivalence_classes import Excerpt, cell_words
from shoal.models.model import Evidence, TableModel


class KAnonymity(TableModel):
    """Every class — the rows that agree on all quasi-identifiers — holds at least k rows.

    With `entity`, a class must hold at least k *persons*: rows with the same cell in that column count once. Missing is
    a value like any other: two missing cells agree, a missing and a present one do not.

    With `missing_matches_all`, every class must *match* at least k rows: a missing cell matches every cell, and every
    cell a missing one. That is weaker. A row with missing cells is safe only from those who do not know what is
    missing either. With `stars_match_all` the same is said of starred cells (``*``).

    With `m`, the same is promised of each choice of m quasi-identifiers instead of all together: whoever knows m of
    them finds at least k rows.

    A row whose quasi-identifiers and sensitive cells are all ``*`` tells nothing, and is in no class.
    """

    name: ClassVar[str] = "k-anonymity"
    paper: ClassVar[str] = (
        "Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True

    k: int = Field(ge=2, description="least number of rows (or persons) of a class")
    entity: str | None = Field(default=None, description="column that says which rows belong to one person")
    missing_matches_all: bool = Field(
        default=False, description="a missing cell matches every value, instead of being a value of its own"
    )
    stars_match_all: bool = Field(
        default=False, description="a starred cell matches every value, instead of being a value of its own"
    )
    m: int | None = Field(
        default=None,
        ge=1,
        description="whoever knows so many quasi-identifiers finds k rows; by default, all of them",
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        known = f"any {self.m} of {known}" if self.m else known
        who = "person's row" if self.entity is None else "person's rows"
        return f"Someone who knows {known} of a person can guess that {who} with a chance of at most 1 in {self.k}."

    def as_promise(self) -> dict[str, Any]:
        """The model as plain data; wildcards are named where there are any."""
        plain = super().as_promise()
        for name in ("missing_matches_all", "stars_match_all", "m"):
            if not plain[name]:
                del plain[name]
        return plain

    def accept(self, published: Published) -> None:
        """Refuse what is no table, and to count persons where cells match every value: rows would be counted."""
        super().accept(published)
        self._refuse_persons(getattr(published, "entity", None) is not None)

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """The promise about the rows of a table, or about its persons."""
        self._refuse_persons(table.entity is not None)
        return super().bound(table, published=published)

    def wildcards(self) -> frozenset[str]:
        """The texts that match every other."""
        return frozenset([""] * self.missing_matches_all + [SUPPRESSED] * self.stars_match_all)

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups have at least k persons."""
        mask: Mask = statistics.persons >= self.k
        return mask

    def least_size(self) -> int:
        """K rows: fewer rows cannot be k persons, but with wildcards, or by fewer columns, they may match k."""
        return 1 if self.wildcards() or self.m else self.k

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest k is the number of rows or persons."""
        most, noun = int(whole.persons[0]), "rows" if self.entity is None else "persons"
        there = f"there are only {most} {noun}" if most > 1 else f"there is only {counted(most, noun)}"
        best = f"The largest k is {most}." if most > 1 else "No k can be."
        return Infeasible(
            f"k = {self.k} cannot be kept: {there if most else f'there are no {noun}'}. {best}", most
        )

    def separable(self, table: Table) -> bool:
        """Unless cells match those of other classes, or classes are larger than those of all columns."""
        return not self.wildcards() and (self.m is None or self.m >= len(table.quasi))

    def examine(self, published: Excerpt) -> Evidence:
        """Count the rows, or persons, of each class of published cells."""
        published = published.telling()
        quasi = published.table.quasi
        offenders: list[tuple[float, Offender]] = []
        broken, least = 0, []
        for columns in combinations(quasi, min(self.m or len(quasi), len(quasi))):
            first, counts = self._classes(published, columns)
            if not len(counts):
                continue
            small = np.flatnonzero(counts < self.k)
            worst = small[np.argsort(counts[small], kind="stable")][:SHOWN]
            offenders += [
                (
                    -float(counts[place]),
                    Offender(
                        cell_words(columns, int(first[place])),
                        f"{counted(int(counts[place]), self._noun())} where {self.k} are promised",
                    ),
                )
                for place in worst
            ]
            broken += len(small)
            least.append(int(counts.min()))
        offenders.sort(key=lambda one: -one[0])
        lowest = {"size": min(least)} if least else {}
        return Evidence(tuple(offenders[:SHOWN]), broken, lowest=lowest)

    def conclude(self, evidence: Evidence) -> Verdict:
        """The smallest class decides."""
        what = "class" if self.m is None else f"combination of {counted(self.m, 'quasi-identifiers')}"
        promise = f"every {what} has at least {self.k} {self._noun()}"
        if self.wildcards():
            kinds = ["missing"] * self.missing_matches_all + ["starred"] * self.stars_match_all
            cell = f"a {' or '.join(kinds)} cell"
            promise = f"every {what} matches at least {self.k} rows, where {cell} matches every value"
        return self.concluded(evidence, promise, evidence.lowest.get("size"), self.k)

    def _refuse_persons(self, entity: bool) -> None:
        if self.wildcards() and (entity or self.entity is not None):
            kind = "Missing" if self.missing_matches_all else "Starred"
            raise WrongUse(
                f"{kind} values cannot match all where an entity column says whose rows are whose: rows that match "
                "are counted, not persons."
            )

    def _noun(self) -> str:
        return "rows" if self.entity is None else "persons"

    def _classes(self, published: Excerpt, columns: tuple[Column, ...]) -> tuple[Rows, Counts]:
        """A first row and the number of rows or persons of each class by some columns."""
        table = published.table
        if not table.rows:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        found = row_classes(columns, table.rows)
        classes, first = found.number, found.first
        if wild := self.wildcards():
            return first, matching_rows(columns, first, published.summed(classes, len(first)), wild)
        if self.entity is None:
            return first, published.summed(classes, len(first))
        who = table.column(self.entity)
        one_a_person = np.unique(classes * max(len(who.domain), 1) + who.codes, return_index=True)[1]
        return first, np.bincount(classes[one_a_person], minlength=len(first))


def matching_rows(columns: tuple[Column, ...], first: Rows, sizes: Counts, wild: frozenset[str]) -> Counts:
    """How many rows match each class, if cells of some texts match every cell and every cell them.

    Classes are compared kind by kind, a kind being the columns in which a class has missing cells: two classes
    match if they agree on the columns that neither of them misses.

    `first`: one row of each class. `sizes`: the rows of each class.
    """
    if not columns:
        return np.full(len(first), sizes.sum())
    cells = np.stack([column.codes[first] for column in columns], axis=1)
    missing = np.stack(
        [
            np.array([label in wild for label in column.domain.labels], dtype=np.bool_)[column.codes[first]]
            for column in columns
        ],
        axis=1,
    )
    found = np.zeros(len(first), dtype=np.int64)
    kinds, kind = np.unique(missing, axis=0, return_inverse=True)
    for one, other in product(range(len(kinds)), repeat=2):
        here, there = np.flatnonzero(kind == one), np.flatnonzero(kind == other)
        shared = np.flatnonzero(~(kinds[one] | kinds[other]))
        both = np.concatenate((cells[here][:, shared], cells[there][:, shared]))
        _, same = np.unique(both, axis=0, return_inverse=True)
        rows = np.bincount(same[len(here) :], weights=sizes[there], minlength=len(both))
        found[here] += rows[same[: len(here)]].astype(np.int64)
    return found

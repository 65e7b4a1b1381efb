"""m-invariance over a series of releases (Xiao and Tao 2007)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Indptr, Mask, Rows, distinct, indptr_of, owners, taken
from shoal.data._plain_text import counted
from shoal.data._promise_words import FITTING
from shoal.data.baskets import ragged_ranks
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._sensitive import Finding, SensitiveModel


class MInvariance(SensitiveModel):
    """Every class has at least m rows, all with different secrets; and a person's secrets are the same in each release.

    The first part is about one release (m-unique), and is what `verify` judges. The second is about persons who are in
    several: the set of secrets of their class, their signature, stays what it was, so that whoever compares releases
    rules none of them out. Where cells of classes overlap, so that somebody fits several, all of their secrets count.
    `verify_series` judges both; who is who only the owner of the data can tell.
    """

    name: ClassVar[str] = "m-invariance"
    paper: ClassVar[str] = (
        "Xiao, Tao: m-Invariance: towards privacy preserving re-publication of dynamic datasets. SIGMOD 2007"
    )
    monotone: ClassVar[bool] = False
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "m"
    greater_is_safer: ClassVar[bool] = True

    m: int = Field(ge=2, description="least number of rows of a class, each with a secret of its own")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return f"{FITTING} are at least {self.m}, all with different values of {of}, the same ones in every release."

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have m different values, and none twice."""
        mask: Mask = (np.diff(histogram.indptr) >= self.m) & (np.diff(histogram.indptr) == histogram.sums)
        return mask

    def least_size(self) -> int:
        """As many as m rows."""
        return self.m

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Look for classes that are too small, and for values that occur twice in one."""
        filled = tally.sizes > 0
        different = np.diff(tally.indptr)
        most = np.zeros(len(different), dtype=np.int64)
        np.maximum.at(most, owners(tally.indptr), tally.counts)
        broken = filled & ((different < self.m) | (most > 1))
        return Finding(
            broken=broken,
            badness=(most - different).astype(np.float64),
            value=int(np.where(most > 1, 1, different)[filled].min()) if filled.any() else None,
            why=lambda place: (
                f"a value occurs {most[place]:,} times, so it is likelier than others"
                if most[place] > 1
                else f"{counted(int(different[place]), 'different values')} where {self.m} are promised"
            ),
        )

    def verify_series(self, releases: "Sequence[Appearances]") -> Verdict:
        """Judge a series of releases: each by itself, and the signatures of persons who are in several.

        `releases`: in the order of publication.
        """
        names = {
            label: place
            for place, label in enumerate(sorted({one for each in releases for one in each.labels}))
        }
        people = {
            who: place for place, who in enumerate(sorted({one for each in releases for one in each.persons}))
        }
        sizes = np.concatenate([np.diff(one.indptr) for one in releases])
        indptr, codes = _different(
            indptr_of(sizes), np.concatenate([_places(one.labels, names)[one.codes] for one in releases])
        )
        different = np.diff(indptr)
        reached = np.where(different < sizes, 1, sizes)
        alone = np.flatnonzero(reached < self.m)
        first = np.cumsum([0, *(len(one.indptr) - 1 for one in releases)])
        persons, seen_indptr, seen = self._seen(releases, people, indptr, codes, first)
        pairs = np.unique(np.column_stack((persons, ragged_ranks(seen_indptr, seen))), axis=0)
        changed = np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(people)) > 1)
        texts = list(names)
        offenders = [
            Offender(
                "a person who is in several releases",
                "the secrets of the classes that fit her are "
                + " or ".join(
                    dict.fromkeys(
                        _words(seen_indptr, seen, texts, place)
                        for place in np.flatnonzero(persons == person).tolist()
                    )
                ),
            )
            for person in changed[:SHOWN].tolist()
        ]
        for place in alone[:SHOWN].tolist():
            number = int(np.searchsorted(first, place, side="right"))
            why = (
                "a secret occurs twice"
                if reached[place] == 1
                else f"{sizes[place]:,} where {self.m} are promised"
            )
            offenders.append(Offender(f"release {number}, class {_words(indptr, codes, texts, place)}", why))
        return Verdict(
            self.name,
            f"{self.promise()}, and the secrets of a person's class are the same in each release",
            not len(alone) and not len(changed),
            int(reached.min()) if len(reached) else None,
            self.m,
            tuple(offenders[:SHOWN]),
            len(alone) + len(changed),
        )

    def _seen(
        self,
        releases: "Sequence[Appearances]",
        people: Mapping[str, int],
        indptr: Indptr,
        codes: Rows,
        first: Rows,
    ) -> tuple[Rows, Indptr, Rows]:
        """For each release and person in it: who she is, and all secrets of the classes that fit her, ascending."""
        size, count = int(codes.max(initial=0)) + 1, len(people)
        keys = []
        for number, one in enumerate(releases):
            places = one.places + first[number]
            who = _places(one.persons, people)[one.who] + number * count
            held, entries = taken(indptr, places)
            keys.append(distinct(np.repeat(who, np.diff(held)) * size + codes[entries]))
        every = np.concatenate(keys)
        owners, begin = np.unique(every // size, return_index=True)
        return owners % max(count, 1), np.append(begin, len(every)), every % size

    def promise(self) -> str:
        """The promise in words."""
        return f"every class has at least {self.m} rows, all with different values of {self._subject()}"


@dataclass(frozen=True, slots=True, eq=False)
class Appearances:
    """Who may be where in one release of a series: known to the owner of the data alone."""

    labels: tuple[str, ...]
    indptr: Indptr
    codes: Rows
    """`labels`, `indptr`, `codes`: the secrets of class c, counterfeit ones among them, are
    ``labels[codes[indptr[c]:indptr[c + 1]]]``."""
    persons: tuple[str, ...]  # names of persons
    who: Rows
    places: Rows
    """`who`, `places`: person ``who[i]`` fits class ``places[i]``: one class, unless the published cells of classes
    overlap."""


def _different(indptr: Indptr, codes: Rows) -> tuple[Indptr, Rows]:
    """The different secrets of each class, ascending."""
    size = int(codes.max(initial=0)) + 1
    keys = distinct(owners(indptr) * size + codes)
    return np.searchsorted(keys, np.arange(len(indptr)) * size), keys % size


def _places(labels: Sequence[str], known: Mapping[str, int]) -> Rows:
    return np.array([known[label] for label in labels], dtype=np.int64)


def _words(indptr: Indptr, codes: Rows, texts: Sequence[str], place: int) -> str:
    held = codes[indptr[place] : indptr[place + 1]].tolist()
    return f"{{{', '.join(texts[code] or '(missing)' for code in held)}}}"

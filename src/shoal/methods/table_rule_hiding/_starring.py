"""Hide rules by starring cells: how many stars each class and value needs, which cells get them, and the effect."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask, flagged, mixed, summed
from shoal.data._hashes import text_hashes
from shoal.data._plain_text import counted
from shoal.data.domain import Domain, Kind
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table
from shoal.errors import Infeasible
from shoal.methods.table_rule_hiding._class_counts import Classes, Values, maxima
from shoal.methods.table_rule_hiding._star_counts import (
    Bound,
    least_stars,
    rules,
    vanishing_stars,
    with_decoys,
)
from shoal.methods.table_rule_hiding._star_cover import shared_stars
from shoal.models._exact import fraction, rounded_up


@dataclass(frozen=True, slots=True)
class Starring:
    """The parameters of a run that hides rules by stars; see `TableRuleHiding` for their meaning."""

    strategy: Literal["star", "decoy"]
    antecedent: Literal["class", "any"]
    size: int | None
    confidence: float
    fewer_than: int | None
    values: tuple[str, ...]
    k: int
    distinct: Mapping[str, int] | None = None
    """How many distinct values each column publishes in all, if a table holds only some of the classes."""

    @property
    def bound(self) -> Bound:
        """The bound on what a class may show."""
        return Bound(fraction(self.confidence), self.fewer_than)

    def separable(self, quasi: int) -> bool:
        """Whether the stars of a class follow from that class alone, given the number of quasi-identifiers."""
        size = quasi if self.size is None else min(self.size, quasi)
        whole = self.antecedent == "class" or (size == quasi and self.fewer_than is None)
        return self.strategy == "decoy" or whole

    def columns(
        self, table: Table, judged: tuple[Column, ...], random: np.random.Generator, key: int
    ) -> tuple[dict[str, Column], dict[str, Any]]:
        """The judged columns with their rules hidden, and notes for the data's owner.

        The rows must be in canonical order, so that the draw does not depend on the order of the input.

        `random`, `key`: rows are drawn with `random`, values with `key`, which is the same in every part of the table.
        """
        classes, bound = Classes.of(table), self.bound
        columns = [Values.of(column, classes, self.values) for column in judged]
        hiding = [self._stars(table, classes, values, bound, key) for values in columns]
        stars = [found for found, _ in hiding]
        if len(columns) == len(table.sensitive):
            self._star_blank_class(table, classes, columns, stars, bound)
        changed, notes = {}, {}
        for values, found, (_, known) in zip(columns, stars, hiding, strict=True):
            cells = chosen_cells(values, classes, found, random)
            changed[values.column.name] = starred(values.column, cells)
            known |= {"stars": int(found.sum()), **_after(values, classes, found)}
            notes[f"rules.{values.column.name}"] = known
        return changed, notes

    def _stars(
        self, table: Table, classes: Classes, values: Values, bound: Bound, key: int
    ) -> tuple[Counts, dict[str, Any]]:
        """The number of stars of each class and value, and notes on them for the data's owner."""
        known = facts(values, classes, bound)
        if self.strategy == "decoy":
            drawn = drawn_entries(table, classes, values, key)
            stars, whole = with_decoys(values, classes, bound, drawn)
            self._refuse_bare_classes(values, bool(whole.any()), bound.c)
            known |= {"decoys": int((stars - least_stars(values, classes, bound)).sum())}
            known |= {"classes_starred_whole": int(whole.sum())}
        elif self.separable(classes.cells.shape[1]):
            stars = least_stars(values, classes, bound)
            known["least_stars"] = int(stars.sum())
        else:
            width = classes.cells.shape[1]
            cover = shared_stars(
                classes, values, bound, width if self.size is None else min(self.size, width)
            )
            stars = cover.stars
            known |= {"rules": len(cover.found), "least_stars": cover.least}
        return stars, known

    def _star_blank_class(
        self, table: Table, classes: Classes, columns: list[Values], stars: list[Counts], bound: Bound
    ) -> None:
        """If the class that is ``*`` in every quasi-identifier needs stars, star all of it.

        A row there belongs to no class any more once its sensitive cells are all starred, so that its stars do not
        lower the shares of what the others show. With one sensitive column and whole classes, some rows can still be
        shown, as long as there are k of them.
        """
        for place in np.flatnonzero(np.logical_and.reduce(classes.blank, axis=1)).tolist():
            inside = [values.classes == place for values in columns]
            if not any(found[here].any() for found, here in zip(stars, inside, strict=True)):
                continue
            plain = self.strategy == "star" and self.antecedent == "class" and self.fewer_than is None
            for values, found, here in zip(columns, stars, inside, strict=True):
                counts = values.counts[here]
                found[here] = counts
                if plain and len(columns) == 1 and not values.stars[place]:
                    least = vanishing_stars(counts, values.guarded[here], bound.c)
                    if int((counts - least).sum()) >= max(self.k, 1):
                        found[here] = least

    def _refuse_bare_classes(self, values: Values, any_whole: bool, c: Fraction) -> None:
        """Refuse to star whole classes if a blind guess among the values would be right more often than c."""
        distinct = values.distinct if self.distinct is None else self.distinct[values.column.name]
        if any_whole and Fraction(1, max(distinct, 1)) > c:
            best = rounded_up(Fraction(1, max(distinct, 1)))
            raise Infeasible(
                f"Decoys cannot keep confidence = {self.confidence:g}: whole classes must be starred, and a blind "
                f"guess among the {distinct} values of {values.column.name} is better. The least confidence is "
                f"{best:g}.",
                best,
            )


def facts(values: Values, classes: Classes, bound: Bound) -> dict[str, Any]:
    """Notes on the rules before anything is hidden."""
    guarded = values.guarded
    shown = maxima(values.classes[guarded], values.counts[guarded], len(classes))
    largest = float((shown / np.maximum(classes.sizes, 1)).max())
    return {"rules": int(rules(values, classes, bound).sum()), "confidence_before": largest}


def sentences(notes: dict[str, Any]) -> list[str]:
    """A summary of what was found and done."""
    found = [
        f"{facts['rules']:,} of {name.partition('.')[2]} (confidence {facts['confidence_before']:.4g} at most before)"
        for name, facts in notes.items()
        if name.startswith("rules.")
    ]
    joined = (
        f"; {counted(notes['classes_joined'], 'classes')} joined for it"
        if notes.get("classes_joined")
        else ""
    )
    return [f"Rules hidden: {', '.join(found)}{joined}."]


def _after(values: Values, classes: Classes, stars: Counts) -> dict[str, Any]:
    """The largest confidences after starring: as published, in the worst case, and among the stars.

    The last one is the share of the most frequent value among the stars of a class: how often a reader guesses right
    who knows which values the stars of each class hide, but not which star hides which. Classes of nothing but stars
    are ignored.
    """
    count = len(classes)
    guarded = values.guarded
    hidden: Counts = summed(values.classes, stars, count)
    shown = maxima(values.classes[guarded], (values.counts - stars)[guarded], count)
    most = maxima(values.classes[guarded], stars[guarded], count)
    some = (hidden > 0) & (hidden < classes.sizes)
    return {
        "confidence_after": float((shown / np.maximum(classes.sizes, 1)).max()),
        "confidence_worst": float(((shown + hidden + values.stars) / np.maximum(classes.sizes, 1)).max()),
        "confidence_among_stars": float((most[some] / hidden[some]).max()) if some.any() else 0.0,
    }


def chosen_cells(values: Values, classes: Classes, stars: Counts, random: np.random.Generator) -> Mask:
    """Choose the rows to star: of each class and value as many as asked for, drawn with equal probability.

    Rows of a class with the same value differ only in other published columns. If the first of them in any known order
    were starred, the place of a star would reveal which values it can hide, namely those that no earlier row shows. A
    secret random draw reveals nothing.

    The rows must be in canonical order, so that the draw does not depend on the order of the input.
    """
    width = len(values.column.domain)
    keys = classes.of_row * width + values.column.codes
    pairs = values.classes * width + values.codes
    entry = np.minimum(np.searchsorted(pairs, keys), max(len(pairs) - 1, 0))
    rows = (
        np.flatnonzero((pairs[entry] == keys) & (stars[entry] > 0)) if len(pairs) else np.empty(0, np.int64)
    )
    order = rows[np.lexsort((random.permutation(len(keys))[rows], entry[rows]))]
    entries = entry[order]
    turn = np.arange(len(order)) - np.searchsorted(entries, entries)
    return flagged(order[turn < stars[entries]], len(keys))


def drawn_entries(table: Table, classes: Classes, values: Values, key: int) -> AnyArray:
    """A pseudorandom number for each class and value that occur together, computed from their texts and the key."""
    import polars as pl

    state = np.full(len(classes), key & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
    for column, cells in zip(table.quasi, classes.cells.T, strict=True):
        state = mixed(state) + text_hashes(pl.Series(column.domain.labels, dtype=pl.String))[cells]
    labels = pl.Series(values.column.domain.labels, dtype=pl.String)
    return mixed(mixed(state)[values.classes] + text_hashes(labels)[values.codes])


def starred(column: Column, rows: Mask) -> Column:
    """The column with some cells starred; it becomes a column of texts, like every column with a ``*``."""
    if not rows.any():
        return column
    domain = column.domain
    labels, codes = list(domain.labels), column.codes.copy()
    if SUPPRESSED not in labels:
        place = domain.present
        labels.insert(place, SUPPRESSED)
        codes[codes >= place] += 1
    codes[rows] = labels.index(SUPPRESSED)
    missing = None if domain.missing is None else len(labels) - 1
    return replace(
        column, domain=Domain(Kind.NOMINAL, tuple(labels), missing=missing), codes=codes, hierarchy=None
    )

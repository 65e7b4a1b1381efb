"""k-anonymity of persons on the join of two tables (Nergiz, Clifton and Nergiz 2009)."""

import time
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows, indptr_of, turns_of
from shoal.data._plain_text import counted
from shoal.data._ties import tie_key, tie_order
from shoal.data.group_statistics import group_statistics
from shoal.data.related import Related, related
from shoal.data.role import Role
from shoal.data.table import Table, cell_ranks
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Candidate, Goal
from shoal.methods._first_classes import CLUSTERS, first_classes, first_method
from shoal.methods.method import Anonymized, Data
from shoal.methods.multirelational._like_persons import Distances, divided, matched
from shoal.methods.relational_transaction._classes import as_classes, published_cells
from shoal.methods.table_method import TableMethod
from shoal.models.model import TableModel, columns_of, kept_by


class Multirelational(TableMethod):
    """Publish persons and their records under a new key: who knows all quasi-identifiers of both finds k persons.

    A table method makes classes of persons. In each class, persons with similar numbers of records are put into groups
    of at least k. The records of a group are matched one to one, so that the nearest ones come together, and each match
    is published by the cells that cover it; records that have no match for every person of the group are left out. So
    all persons of a group have the same quasi-identifiers, in the table and in all of their records.
    """

    name: ClassVar[str] = "multirelational"
    needs_link: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"k": 3}
    paper: ClassVar[str] = (
        "Nergiz, Clifton, Nergiz: Multirelational k-anonymity. IEEE Transactions on Knowledge and Data Engineering "
        "21(8), 2009"
    )
    not_distributable: ClassVar[str] = "persons with similar records are searched for among all"

    k: int = Field(ge=2, description="least number of persons who look the same, with all their records")
    clusters: str = Field(default="mondrian", description=CLUSTERS)
    class_size: int | None = Field(
        default=None,
        ge=2,
        description="least number of persons of a first class, in which groups with similar records are then formed: a "
        "larger number keeps more of the records and less of the cells; by default, four times k",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """None: a goal says nothing about records."""
        return []

    @property
    def splits_ties(self) -> bool:
        """Always: equal persons may come into different groups, and one of two equal records may be left out."""
        return True

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Make classes and groups, match the records of each group, and publish both tables in canonical order."""
        self.accept(data)
        assert isinstance(data, Related)
        seed = tie_key(seed)
        clock = [time.perf_counter()]
        models = self.models_for(Table(data.columns))
        if any("population" in type(model).model_fields for model in models):
            raise WrongUse(
                "A promise about a population says nothing about records: omit --k-map and --presence."
            )
        wanted = 4 * self.k if self.class_size is None else self.class_size
        first = first_method(self.clusters, self, k=max(self.k, min(wanted, data.rows)))
        rows, numbers = first_classes(first, Table(data.columns), Local.of(engine), seed)
        # Back to the order of the input: the order of the published rows depends on secrets, and must not decide ties.
        places = np.argsort(rows)
        rows, numbers = rows[places], numbers[places]
        clock.append(time.perf_counter())
        persons = data.take(rows)
        groups, kept, slots = self._grouped(persons, numbers, models, seed)
        clock.append(time.perf_counter())
        order, starts = as_classes(groups)
        shown = _covered(Table(persons.columns).take(order), starts)
        by_slot, begins = as_classes(slots)
        records = _covered(persons.records.take(kept[by_slot]), begins)
        place = turns_of(order, len(order))
        owners = place[persons.owners[kept[by_slot]]]
        published, shown_rows, _ = related(shown.columns, records.columns, owners, data.key)
        clock.append(time.perf_counter())
        parameters = self.model_dump(mode="json", exclude={"promises"}, exclude_none=True)
        release = self.released(published, {}, models, parameters, data.rows - len(rows))
        timings = dict(zip(("cluster", "match", "publish"), np.diff(clock).tolist(), strict=True))
        left = data.records.rows - len(kept)
        said = (
            f"{counted(len(starts) - 1, 'groups')} of persons; {counted(left, 'records')} of "
            f"{data.records.rows:,} left out."
        )
        notes = {"groups": len(starts) - 1, "left_out_records": left, "summary": [said]}
        return release, Trace(rows[order][shown_rows], timings, notes)

    def _grouped(
        self, persons: Related, numbers: Rows, models: tuple[TableModel, ...], seed: int
    ) -> tuple[Rows, Rows, Rows]:
        """The group of each person, the records that are kept, and the match of each of these records."""
        ties = tie_order(persons.records.rows, seed)
        known = persons.records.quasi
        ranks = cell_ranks(known) if known else np.zeros(persons.records.rows, dtype=np.int64)
        records = ties[np.lexsort((ranks[ties], persons.owners[ties]))]
        indptr = indptr_of(np.bincount(persons.owners, minlength=persons.rows))
        counts = np.diff(indptr)
        by_chance = tie_order(persons.rows, seed + 1)
        # The last key counts most. Only persons who are equal in all that may be known are ordered at random.
        keys = (cell_ranks(persons.quasi), persons.known_records(), counts, numbers)
        order = by_chance[np.lexsort(tuple(key[by_chance] for key in keys))]
        distances = Distances.of(known, persons.records.rows)
        classes = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
        parts = [np.split(inside, divided(counts[inside], self.k)[1:]) for inside in classes]
        made = self._keeping(persons, parts, models)
        groups = np.empty(persons.rows, dtype=np.int64)
        for number, part in enumerate(made):
            groups[part] = number
        matches = [slot for part in made for slot in matched(indptr, records, part, distances)]
        if not matches:
            raise Infeasible(
                "No record can be published: in every group of persons somebody has none. Look for groups among more "
                "persons (--class-size), or promise less.",
            )
        kept = np.concatenate([np.empty(0, dtype=np.int64), *matches])
        return groups, kept, np.repeat(np.arange(len(matches)), [len(slot) for slot in matches])

    def _keeping(
        self, persons: Related, classes: list[list[Rows]], models: tuple[TableModel, ...]
    ) -> list[Rows]:
        """Join groups of a class that break a promise with the next ones, until none does; returns all groups.

        This ends, because a class as a whole keeps the promises, whatever its groups do.
        """
        while True:
            flat = [part for parts in classes for part in parts]
            ends = np.cumsum([len(parts) for parts in classes]).tolist()
            kept = self._hold(persons, flat, models)
            joined = [
                _joined(parts, kept[end - len(parts) : end]) for parts, end in zip(classes, ends, strict=True)
            ]
            if sum(map(len, joined)) == len(flat):
                return flat
            classes = joined

    def _hold(self, persons: Related, parts: list[Rows], models: tuple[TableModel, ...]) -> Mask:
        """Which groups keep all promises."""
        table = Table(persons.columns).take(np.concatenate(parts))
        number = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return kept_by(models, group_statistics(table, number, len(parts), columns_of(models)))


def _covered(table: Table, starts: Rows) -> Table:
    """Publish rows class by class with the smallest cells that cover each class, and drop identifying columns."""
    shown = published_cells(table, np.arange(table.rows), starts)
    return Table(tuple(one for one in shown.columns if one.role is not Role.IDENTIFYING))


def _joined(parts: list[Rows], kept: Mask) -> list[Rows]:
    """Join each group of a class that breaks a promise with the next one, or the last with the one before it."""
    found: list[Rows] = []
    waiting: list[Rows] = []
    for part, holds in zip(parts, kept.tolist(), strict=True):
        if not holds and not waiting:
            waiting = [part]
            continue
        found.append(np.concatenate([*waiting, part]))
        waiting = []
    if waiting:
        found = [*found[:-1], np.concatenate([*found[-1:], *waiting])]
    return found

"""Permutation with groups made by Mondrian: the baseline that CAHD was first compared with."""

import time
from typing import Any, ClassVar

from pydantic import Field

from shoal.arrays import owners
from shoal.data.baskets import Baskets
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.methods._candidates import GROUPED, Aim, Candidate, Goal
from shoal.methods.cahd._group_pictures import degrees
from shoal.methods.cahd._publish import publish
from shoal.methods.cahd._split_baskets import degree_of, refuse_infeasible, sheet_of
from shoal.methods.method import Anonymized, Data, Method
from shoal.models.model import Model
from shoal.models.privacy_degree import PrivacyDegree


class PermutationMondrian(Method):
    """Split the baskets into those with and those without an item, recursively, as long as both parts keep the degree.

    The item that divides a group most evenly is tried first. Groups are published like those of `cahd`: exact baskets
    of public items, and counts of sensitive ones. It is the baseline of the CAHD paper.
    """

    name: ClassVar[str] = "permutation-mondrian"
    accepts: ClassVar[type] = Baskets
    not_distributable: ClassVar[str] = (
        "every division counts the items of a whole group, and the first group is all baskets; cahd can be cut"
    )
    needs_sensitive: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"p": 3}
    paper: ClassVar[str] = (
        "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006; "
        "as the baseline of Ghinita, Tao, Kalnis, ICDE 2008"
    )

    p: int = Field(ge=2, description="degree: at most one p-th of a group's baskets holds a sensitive item")

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate: the method has no other parameter."""
        plain = {"name": cls.name, "p": goal.p}
        return [Candidate(cls.name, plain, remark=GROUPED)] if goal.aim is Aim.DEGREE else []

    def models(self) -> tuple[Model, ...]:
        """The promise: the privacy degree."""
        return (PrivacyDegree(p=self.p),)

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Cut, and publish the parts in canonical order."""
        from shoal.kernels.permutation import cut_groups
        from shoal.kernels.ragged import take_rows

        self.accept(data)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        refuse_infeasible(data, data.supports, len(data), self.p)
        sheet = sheet_of(data)
        rows, starts = cut_groups(
            *take_rows(sheet.distinct.indptr, sheet.distinct.items, sheet.distinct.of_row),
            sheet.distinct.width,
            sheet.secret_indptr,
            sheet.secrets,
            len(sheet.sensitive),
            self.p,
        )
        cut = time.perf_counter()
        groups = owners(starts)
        # Baskets that are equal in every item are interchangeable: only the trace depends on which one is which.
        published, row_map = publish(data, sheet, rows, groups)
        timings = {"cut": cut - begin, "publish": time.perf_counter() - cut}
        notes = {"groups": len(published), "pictures": degrees(published, self.p)}
        promised = (degree_of(data, data.supports, self.p),)
        return self.released(published, models=promised), Trace(row_map, timings, notes)

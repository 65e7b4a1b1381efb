"""CAHD: correlation-aware groups for sparse baskets (Ghinita, Tao and Kalnis 2008, 2011)."""

import time
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from shoal.arrays import Rows
from shoal.data._basket_orders import SORTABLE, Order, orders_of
from shoal.data._ties import tie_key, tie_order
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.protocol import Engine
from shoal.errors import WrongUse
from shoal.methods._candidates import GROUPED, Aim, Candidate, Goal
from shoal.methods.cahd._formation import Grouping, blocks, near, pivots
from shoal.methods.cahd._group_pictures import before_and_after, degrees, histogram
from shoal.methods.cahd._improve import improve
from shoal.methods.cahd._publish import empty_groups, publish
from shoal.methods.cahd._split_baskets import Sheet, basket_counts, degree_of, refuse_infeasible, sheet_of
from shoal.methods.method import Method
from shoal.models.model import Model
from shoal.models.privacy_degree import PrivacyDegree

Data = TypeVar("Data")


class Cahd(Method):
    """Put similar baskets side by side, group neighbors, and publish each group's sensitive items as counts.

    Public items are published exactly; which basket of a group holds a sensitive item is not. The order of the baskets
    and the similarity of two of them follow from public items alone. In the form `near`, sensitive items only decide
    which clusters of similar baskets become one group. In the form `blocks`, they can only forbid cutting a group in
    half. In the paper's form, `pivots`, a group is a sensitive basket with the nearest others, and whoever knows that
    can often tell which one it was.
    """

    name: ClassVar[str] = "cahd"
    accepts: ClassVar[type] = Baskets
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
    needs_sensitive: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"p": 3}
    paper: ClassVar[str] = (
        "Ghinita, Tao, Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008; "
        "Ghinita, Kalnis, Tao: Anonymous publication of sensitive transactional data. IEEE TKDE 23(2), 2011"
    )

    p: int = Field(ge=2, description="degree: at most one p-th of a group's baskets holds a sensitive item")
    form: Literal["near", "blocks", "pivots"] = Field(
        default="near",
        description="how groups form: near, clusters of similar baskets, found by public items alone and merged where "
        "the degree requires it; blocks of the order, halved as long as the degree holds; or pivots, around each "
        "sensitive basket, as in the paper, which betrays many of them",
    )
    order: Order = Field(
        default="gray",
        description="with blocks and pivots, how baskets are ordered: Gray code of frequent items, rcm (reverse "
        "Cuthill-McKee on baskets that share items), bipartite (on baskets and items), lexicographic, nearest "
        "(MinHash), or sum (A + Aᵀ, to compare); in parts (spark, stream) by gray or lexicographic alone",
    )
    alpha: int = Field(
        default=3,
        ge=1,
        description="with pivots: candidates to each side, in multiples of p; with improve: how far a basket may go",
    )
    improve: bool = Field(
        default=False,
        description="let baskets without sensitive items trade places as long as estimates come closer to the truth; "
        "readers can see who was moved, and so who was not; not in parts (spark, stream)",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """Near clusters first, then blocks in each order."""
        if goal.aim is not Aim.DEGREE:
            return []
        plain = {"name": cls.name, "p": goal.p}
        orders = ("gray", "rcm", "nearest", "lexicographic", "bipartite")
        found = [
            Candidate(f"{cls.name}, blocks, {order}", plain | {"form": "blocks", "order": order}, turn=2)
            for order in orders
        ]
        return [replace(one, remark=GROUPED) for one in (Candidate(cls.name, plain, turn=0), *found)]

    @property
    def splits_ties(self) -> bool:
        """Whether equal baskets may be separated: blocks keep them together, unless they trade places afterward."""
        return self.form != "blocks" or self.improve

    def models(self) -> tuple[Model, ...]:
        """The promise: the privacy degree."""
        return (PrivacyDegree(p=self.p),)

    def unused_parameters(self) -> tuple[str, ...]:
        """Alpha, which only pivots and swaps use, and the order, which near clusters do not need."""
        said = []
        if self.form != "pivots" and not self.improve and self.given("alpha"):
            said.append("--alpha has no effect: only --form pivots and --improve look that far.")
        if self.form == "near" and self.given("order"):
            said.append("--order has no effect: only --form blocks and --form pivots use one.")
        return tuple(said)

    def anonymize(
        self, data: Table | Baskets | Dataset, engine: Engine | None = None, seed: int | None = None
    ) -> tuple[Release[Any], Trace]:
        """Order, group, and publish in canonical order."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        refuse_infeasible(data, data.supports, len(data), self.p)
        sheet = sheet_of(data)
        encoded = time.perf_counter()
        orders = () if self.form == "near" else orders_of(self.order, sheet.distinct)
        ordered = time.perf_counter()
        notes: dict[str, Any] = dict(basket_counts(sheet))
        grouping = self._group(sheet, orders, tie_order(len(data), seed), notes)
        grouped = time.perf_counter()
        groups, rows = publish(data, sheet, grouping.rows, grouping.groups)
        published = time.perf_counter()
        of_groups = "of the clusters" if self.form == "near" else self.order
        bands, matrices = before_and_after(sheet, grouping.rows, of_groups)
        notes |= {"groups": len(groups), "band": bands}
        notes["pictures"] = [*matrices, *degrees(groups, self.p)]
        timings = {
            "encode": encoded - begin,
            "order": ordered - encoded,
            "group": grouped - ordered,
            "publish": published - grouped,
            "draw": time.perf_counter() - published,
        }
        promised = (degree_of(data, data.supports, self.p),)
        return self.released(groups, models=promised), Trace(rows, timings, notes)

    def refuse_distributed(self) -> None:
        """Refuse orders that do not follow from each basket alone, and improvement."""
        if self.form != "near" and self.order not in SORTABLE:
            raise WrongUse(
                f"The order {self.order} needs all baskets at once; in parts, take {' or '.join(SORTABLE)} (--order)."
            )
        if self.improve:
            raise WrongUse("--improve compares baskets of all groups at once; in parts, omit it.")

    def _distributed(
        self, data: Dataset, engine: Distributed, seed: int | None
    ) -> tuple[Release[Dataset], Trace]:
        """Group baskets in parts: blocks are the same as in memory, other groups form inside ranges of the order."""
        from shoal.data._basket_frames import supports_in
        from shoal.methods.cahd._distributed import Plan, group_parts

        clock = [time.perf_counter()]
        data = replace(data, parts=data.parts.keep())
        supports = supports_in(data)
        refuse_infeasible(data.schema, supports, data.rows, self.p)
        clock.append(time.perf_counter())
        order = "gray" if self.form == "near" else self.order
        plan = Plan(data.schema, supports, self.p, self.alpha, order, tie_key(seed))
        lines, count, said = group_parts(data, plan, engine, self.form)
        clock.append(time.perf_counter())
        schema = empty_groups(data.schema, supports)
        timings = dict(zip(("count", "group"), np.diff(clock).tolist(), strict=True))
        trace = Trace(np.empty(0, dtype=np.int64), timings, {**self._together(said), "groups": count})
        promised = (degree_of(data.schema, supports, self.p),)
        return self.released(Dataset(schema, lines, count, data.rows), models=promised), trace

    def _together(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """Combine the notes of all parts."""
        names = ["distinct_baskets", "baskets_without_public_items", "parts"]
        names += ["groups_given_up"] if self.form == "pivots" else []
        notes: dict[str, Any] = {name: sum(part.get(name, 0) for part in parts) for name in names}
        bars = np.sum([part["degrees"] for part in parts if "degrees" in part], axis=0).tolist()
        notes["pictures"] = histogram(bars, self.p)
        return notes

    def _group(self, sheet: Sheet, orders: tuple[Rows, ...], ties: Rows, notes: dict[str, Any]) -> Grouping:
        if self.form == "pivots":
            grouping = pivots(sheet, orders, ties, self.p, self.alpha)
            notes["groups_given_up"] = grouping.given_up
        elif self.form == "blocks":
            grouping = blocks(sheet, orders[0], ties, self.p)
        else:
            grouping = near(sheet, ties, self.p)
        if self.improve:
            grouping, notes["swaps"], notes["loss_gained"] = improve(sheet, grouping, self.alpha * self.p)
        return grouping

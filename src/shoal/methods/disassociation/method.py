"""Disassociation: publish clusters of chunks (Terrovitis, Liagouris, Mamoulis and Skiadopoulos 2012)."""

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from shoal.data._plain_text import counted
from shoal.data._ties import part_key, public_order, tie_key
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.disassociation._horpart import Small, horpart
from shoal.methods.disassociation._like_baskets import like_baskets
from shoal.methods.disassociation._publish import publish
from shoal.methods.disassociation._refine import Forest, plant, refine
from shoal.methods.disassociation._verpart import HIDDEN, verpart
from shoal.methods.method import Method
from shoal.models.disassociation import Disassociated
from shoal.models.model import Model
from shoal.risks._certain_links import certain_links

Data = TypeVar("Data")


CHUNKED = (
    "Its baskets are published in clusters of chunks: items that go together are seen, whole baskets are not."
)
"""The remark that goes with a proposal of this method."""

LARGER = {"max_cluster_size": None}
"""Marks candidates whose clusters are larger than by default; `strengthened` sets the size."""


class Disassociation(Method):
    """Separate rare combinations of items: all items stay, but not which ones were bought together.

    Similar baskets are gathered in clusters. The items of a cluster are divided among chunks, so that every combination
    of up to m items that can be seen in a chunk was bought by at least k people. Items that are too rare for that are
    only named, without a count. Clusters that name the same items are then joined, and publish them with their counts.
    Sensitive items are only named, and never decide which baskets come together.
    """

    name: ClassVar[str] = "disassociation"
    accepts: ClassVar[type] = Baskets
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
    example: ClassVar[dict[str, Any]] = {"k": 3, "m": 2}
    paper: ClassVar[str] = (
        "Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy preservation by disassociation. PVLDB 5(10), 2012"
    )

    k: int = Field(ge=2, description="least number of baskets that fit what is known: up to m items of one")
    m: int = Field(default=2, ge=1, description="how many items of a basket an adversary knows")
    max_cluster_size: int | None = Field(
        default=None,
        ge=2,
        description="clusters stay below this size, if k allows, and aim at four times k, but at least two thirds of "
        "it; in the paper's form, clusters of this size are divided; at least k; by default, the larger of 30 and "
        "twice k",
    )
    swaps: int = Field(
        default=2,
        ge=0,
        le=100,
        description="passes in which baskets trade places between clusters of similar ones; 0 is the paper's form, "
        "clusters by their most frequent items (HORPART)",
    )
    refine: bool = Field(
        default=True, description="join clusters that name the same items, and publish their counts"
    )
    small: Small = Field(
        default="merge",
        description="in the paper's form, clusters below k are merged with their most similar neighbor, or pooled and "
        "divided again",
    )
    safe: float = Field(
        default=0.9,
        gt=0,
        le=1,
        description="no item in a chunk may be held by a larger share of a cluster that can be linked with it; 1 is "
        "the paper's form, where all of it may",
    )

    @field_validator("max_cluster_size")
    @classmethod
    def _not_below_k(cls, size: int | None, info: ValidationInfo) -> int | None:
        if size is not None and size < info.data.get("k", size):
            raise WrongUse(f"at least k, which is {info.data['k']}")
        return size

    @property
    def cluster_size(self) -> int:
        """The number of baskets from which clusters are divided."""
        return max(30, 2 * self.k) if self.max_cluster_size is None else self.max_cluster_size

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """The method with its defaults, with larger clusters, pooled, and not refined."""
        if goal.aim is not Aim.COMBINATIONS:
            return []
        plain = {"name": cls.name, "k": goal.k, "m": goal.m or 2}
        found = [
            Candidate(cls.name, plain),
            Candidate(f"{cls.name}, larger clusters", cls.strengthened(plain | LARGER, "k", goal.k or 2)),
            Candidate(f"{cls.name}, pooled", plain | {"small": "pool"}),
            Candidate(f"{cls.name}, not refined", plain | {"refine": False}),
        ]
        return [replace(one, remark=CHUNKED) for one in found]

    @classmethod
    def strengthened(cls, parameters: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
        """The parameters with a stronger value; larger clusters stay twice as large as by default."""
        larger = {"max_cluster_size": 2 * max(30, 2 * int(value))}
        return {
            **parameters,
            name: value,
            **(larger if name == "k" and larger.keys() <= parameters.keys() else {}),
        }

    @property
    def splits_ties(self) -> bool:
        """Always: equal baskets are separated if there are too many of them for one cluster."""
        return True

    def unused_parameters(self) -> tuple[str, ...]:
        """The treatment of small clusters, which only occur in the paper's form."""
        if self.swaps and self.given("small"):
            return ("--small has no effect: only with --swaps 0 can clusters be too small.",)
        return ()

    def models(self) -> tuple[Model, ...]:
        """The promise: the release is disassociated for k and m, and as safe as requested."""
        return (Disassociated(k=self.k, m=self.m, safe=self.safe),)

    def promise(self, baskets: Baskets) -> Disassociated:
        """The promise with the names of the sensitive items, which appear only in term chunks."""
        names = tuple(baskets.vocabulary[item] for item in baskets.sensitive.tolist())
        return Disassociated(k=self.k, m=self.m, safe=self.safe, sensitive=names)

    def anonymize(
        self, data: Table | Baskets | Dataset, engine: Engine | None = None, seed: int | None = None
    ) -> tuple[Release[Any], Trace]:
        """Divide the baskets into clusters and the items of each into chunks, and join clusters."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Baskets)
        return self.divided(data, Local.of(engine), seed)

    def divided(self, data: Baskets, threads: Local, seed: int | None) -> tuple[Release[Clusters], Trace]:
        """Disassociate in memory all baskets, or those of one part or class, which may all be empty."""
        self._refuse_few(len(data))
        clock = [time.perf_counter()]
        order = public_order(data, seed)
        baskets = data.keep(data.supports > 0).take(order)
        ignored = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
        ignored[baskets.sensitive] = True
        safe = Fraction(str(self.safe))
        if self.swaps:
            parts = like_baskets(baskets, ignored, self.k, self.cluster_size, self.swaps)
        else:
            parts = horpart(baskets, ignored, self.k, self.cluster_size, self.small, threads)
        clock.append(time.perf_counter())
        chunks = verpart(baskets, ignored, parts, self.k, self.m, safe, threads)
        clock.append(time.perf_counter())
        forest = plant(chunks)
        if self.refine:
            forest = refine(baskets, ignored, parts, chunks, self.k, self.m, safe)
        clock.append(time.perf_counter())
        clusters, rows = publish(baskets, parts, forest)
        clock.append(time.perf_counter())
        release = self._release(clusters, baskets)
        stages = ("horizontal", "vertical", "refining", "publishing")
        timings = dict(zip(stages, np.diff(clock).tolist(), strict=True))
        notes = _notes(baskets, clusters, forest) | {"unrefined_hidden_share": _hidden_share(plant(chunks))}
        return release, Trace(order[rows], timings, notes)

    def _distributed(
        self, data: Dataset, engine: Distributed, seed: int | None
    ) -> tuple[Release[Dataset], Trace]:
        """Disassociate each of several ranges of similar baskets separately."""
        from shoal.data._basket_frames import supports_in
        from shoal.methods.disassociation._distributed import cluster_parts, empty_clusters

        self._refuse_few(data.rows)
        clock = [time.perf_counter()]
        data = replace(data, parts=data.parts.keep())
        supports = supports_in(data)
        clock.append(time.perf_counter())
        divide = partial(self._divided_part, tie_key(seed))
        lines, count, said = cluster_parts(data, supports, self.k, engine, divide)
        clock.append(time.perf_counter())
        timings = dict(zip(("count", "divide"), np.diff(clock).tolist(), strict=True))
        trace = Trace(np.empty(0, dtype=np.int64), timings, _together(said))
        schema = data.schema.keep(supports > 0)
        return self._release(Dataset(empty_clusters(schema), lines, count, data.rows), schema), trace

    def _divided_part(self, seed: int, part: int, baskets: Baskets) -> tuple[Clusters, dict[str, Any]]:
        """The clusters of one part, made by one thread of a worker, and notes for the data's owner."""
        release, trace = self.divided(baskets, Local(threads=1), part_key(seed, part))
        published = len(baskets.items) - trace.notes["suppressed_occurrences"]
        return release.data, {**trace.notes, "published_occurrences": published}

    def _refuse_few(self, baskets: int) -> None:
        if baskets < self.k:
            raise Infeasible(
                f"There {'is' if baskets == 1 else 'are'} only {counted(baskets, 'baskets')}, so that no k above "
                f"{baskets} can be kept; k is {self.k}.",
                best=baskets,
            )

    def _release(self, data: Data, baskets: Baskets) -> Release[Data]:
        return Release(
            data=data,
            method=self.name,
            parameters=self.model_dump(mode="json") | {"max_cluster_size": self.cluster_size},
            promises=(self.promise(baskets).as_promise(),),
        )


def _hidden_share(forest: Forest) -> float:
    """The share of published occurrences whose items are only named."""
    supports = forest.chunks.supports
    return float(supports[forest.chunks.chunks == HIDDEN].sum() / max(supports.sum(), 1))


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine the notes of all parts."""
    largest = ("largest_cluster", "refining_passes", "largest_share")
    occurrences = [part.pop("published_occurrences") for part in parts]

    def of_all(name: str, values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {one: of_all(one, [value[one] for value in values]) for one in values[0]}
        if name in largest:
            return max(values)
        if name in ("hidden_share", "unrefined_hidden_share"):
            hidden = sum(round(share * count) for share, count in zip(values, occurrences, strict=True))
            return hidden / max(sum(occurrences), 1)
        return sum(values)

    return {**of_all("", parts), "parts": len(parts)}


def _notes(baskets: Baskets, clusters: Clusters, forest: Forest) -> dict[str, Any]:
    """Notes for the data's owner."""
    simple = clusters.sizes > 0
    return {
        "clusters": clusters.count,
        "joint_clusters": clusters.joint,
        "simple_clusters": clusters.simple,
        "largest_cluster": int(clusters.sizes.max()),
        "record_chunks": int(np.diff(clusters.chunk_indptr)[simple].sum()),
        "shared_chunks": int(np.diff(clusters.chunk_indptr)[~simple].sum()),
        "refining_passes": forest.passes,
        "hidden_share": _hidden_share(forest),
        "suppressed_occurrences": int((forest.chunks.pair_of < 0).sum()),
        "certain_links": certain_links(clusters).as_dict(),
    }

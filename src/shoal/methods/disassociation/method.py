"""Disassociation: publish clusters of chunks (Terrovitis, Liagouris, Mamoulis and Skiadopoulos 2012)."""

import time
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.links import certain_links
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.errors import Infeasible, WrongUse
from shoal.methods.disassociation.horpart import Small, horpart
from shoal.methods.disassociation.publish import publish
from shoal.methods.disassociation.refine import Forest, plant, refine
from shoal.methods.disassociation.verpart import HIDDEN, verpart
from shoal.methods.method import Method
from shoal.models.disassociation import Disassociated
from shoal.models.model import Model


class Disassociation(Method):
    """Take rare combinations of items apart: all items stay, but not which ones were bought together.

    Similar baskets come into clusters. The items of a cluster are divided among chunks, so that every combination of up
    to m items that can be seen in a chunk was bought by at least k people; items that are too rare for that are only
    named, without a count. Clusters that name the same items are then joined, and publish them with their counts.
    Sensitive items are named only, and never decide who comes together.
    """

    name: ClassVar[str] = "disassociation"
    accepts: ClassVar[type] = Baskets
    example: ClassVar[dict[str, Any]] = {"k": 3, "m": 2}
    paper: ClassVar[str] = (
        "Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy preservation by disassociation. PVLDB 5(10), 2012"
    )

    k: int = Field(ge=2, description="how many baskets must be candidates for who knows up to m items of one")
    m: int = Field(default=2, ge=1, description="how many items of a basket an adversary knows")
    max_cluster_size: int | None = Field(
        default=None,
        ge=2,
        description="clusters of that many baskets are divided; at least k, and 30 or twice k unless told",
    )
    refine: bool = Field(
        default=True, description="join clusters that name the same items, and publish their counts"
    )
    small: Small = Field(
        default="merge",
        description="clusters below k are merged with their most similar neighbour, or pooled and divided again",
    )
    safe: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="no item in a chunk may be held by a larger share of a cluster that can be linked with it",
    )

    @field_validator("max_cluster_size")
    @classmethod
    def _not_below_k(cls, size: int | None, info: ValidationInfo) -> int | None:
        if size is not None and size < info.data.get("k", size):
            raise WrongUse(f"at least k, which is {info.data['k']}")
        return size

    @property
    def cluster_size(self) -> int:
        """The number of baskets from which on clusters are divided."""
        return max(30, 2 * self.k) if self.max_cluster_size is None else self.max_cluster_size

    def models(self) -> tuple[Model, ...]:
        """The promise: what is published is disassociated for k and m, and as safe as was asked for."""
        return (Disassociated(k=self.k, m=self.m, safe=self.safe),)

    def anonymize(
        self, data: Table | Baskets, engine: Local | None = None, seed: int | None = None
    ) -> tuple[Release, Trace]:
        """Divide the baskets into clusters and the items of each into chunks, and join clusters."""
        self.accept(data)
        assert isinstance(data, Baskets)
        if len(data) < self.k:
            raise Infeasible(
                f"There are {len(data)} baskets, so that no k above {len(data)} can be kept; k is {self.k}.",
                best=len(data),
            )
        clock = [time.perf_counter()]
        order = data.canonical_order()
        baskets = data.keep(data.supports > 0).take(order)
        ignored = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
        ignored[baskets.sensitive] = True
        safe = None if self.safe is None else Fraction(str(self.safe))
        parts = horpart(baskets, ignored, self.k, self.cluster_size, self.small)
        clock.append(time.perf_counter())
        chunks = verpart(baskets, ignored, parts, self.k, self.m, safe, engine or Local())
        clock.append(time.perf_counter())
        forest = plant(chunks)
        if self.refine:
            forest = refine(baskets, ignored, parts, chunks, self.k, self.m, safe)
        clock.append(time.perf_counter())
        clusters, rows = publish(baskets, parts, forest)
        clock.append(time.perf_counter())
        release = Release(
            data=clusters,
            method=self.name,
            parameters=self.model_dump(mode="json") | {"max_cluster_size": self.cluster_size},
            promises=tuple(model.as_promise() for model in self.models()),
        )
        stages = ("horizontal", "vertical", "refining", "publishing")
        timings = dict(zip(stages, np.diff(clock).tolist(), strict=True))
        notes = _notes(baskets, clusters, forest) | {"unrefined_hidden_share": _hidden_share(plant(chunks))}
        return release, Trace(order[rows], timings, notes)


def _hidden_share(forest: Forest) -> float:
    """The share of the published occurrences whose items are only named."""
    supports = forest.chunks.supports
    return float(supports[forest.chunks.chunks == HIDDEN].sum() / max(supports.sum(), 1))


def _notes(baskets: Baskets, clusters: Clusters, forest: Forest) -> dict[str, Any]:
    """What the owner of the data may want to know."""
    simple = clusters.sizes > 0
    return {
        "clusters": int(simple.sum()),
        "joint_clusters": int((~simple).sum()),
        "trees": int((clusters.parents < 0).sum()),
        "largest_cluster": int(clusters.sizes.max()),
        "record_chunks": int(np.diff(clusters.chunk_indptr)[simple].sum()),
        "shared_chunks": int(np.diff(clusters.chunk_indptr)[~simple].sum()),
        "refining_passes": forest.passes,
        "hidden_share": _hidden_share(forest),
        "suppressed_occurrences": int((forest.chunks.pair_of < 0).sum()),
        "certain_links": certain_links(clusters).as_dict(),
    }

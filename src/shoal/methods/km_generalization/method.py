"""k^m-anonymity by generalizing items (Terrovitis, Mamoulis and Kalnis 2008, 2011)."""

import time
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Rows, distinct, flagged, indptr_by, turns_of
from shoal.data._basket_orders import distinct_baskets, orders_of
from shoal.data._hierarchy_builders import build
from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.domain import nominal
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible
from shoal.io.baskets.layouts import Layout, parse_layout, unwritable
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.km_generalization._cut import Cut
from shoal.methods.km_generalization._item_tree import ItemTree
from shoal.methods.method import Anonymized, Data, Method
from shoal.models.km_anonymity import KmAnonymity
from shoal.models.model import Model

ALPHABETICAL = (
    "Items have no hierarchy: neighbors in the order of their texts were grouped, five by five, whatever they mean. To "
    "group them by meaning, give them a hierarchy with --hierarchy items=FILE."
)

RENAMED = (
    "The node {node!r} cannot be distinguished in the layout {layout}, in which the baskets came: they are published "
    "as a long table of basket and item. To keep the layout, rename the node in the hierarchy."
)

SECRETS_COUNT = (
    "Sensitive items count like all others: km-generalization promises k baskets for every combination of up to m "
    "items and says nothing about what those baskets share, so --sensitive has no effect. To bound what can be "
    "learned use coherence, cahd or disassociation."
)


class KmGeneralization(Method):
    """Generalize items along a hierarchy until every combination of up to m of them is held by k baskets.

    `aa` chooses one node for each item in all baskets (Apriori-based anonymization). `lra` orders the baskets so that
    similar ones are next to each other, cuts the order into parts and treats each part separately: an item may be
    published as it is in one part and as a node in another. `vpa` first treats the branches below the root one by one,
    which is faster with many items, and then all together. Items without a hierarchy are grouped in the order of their
    texts, five by five. Sensitive items are generalized like all others.
    """

    name: ClassVar[str] = "km-generalization"
    accepts: ClassVar[type] = Baskets
    not_distributable: ClassVar[str] = (
        "every step of its search counts combinations of items in all baskets as they are at that point"
    )
    example: ClassVar[dict[str, Any]] = {"k": 3, "m": 2}
    paper: ClassVar[str] = (
        "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008; "
        "Local and global recoding methods for anonymizing set-valued data. VLDB Journal 20(1), 2011"
    )

    k: int = Field(ge=2, description="least number of baskets that hold each combination")
    m: int = Field(default=2, ge=1, description="the most items of a combination that an adversary may know")
    algorithm: Literal["aa", "lra", "vpa"] = Field(
        default="aa",
        description="aa: one node per item everywhere; lra: by parts of similar baskets; vpa: branch by branch first",
    )
    parts: int = Field(default=10, ge=1, description="with lra: number of parts")
    lower: bool = Field(
        default=True,
        description="replace nodes by their children afterward, where the promise allows it",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate for each algorithm."""
        if goal.aim is not Aim.COMBINATIONS:
            return []
        plain = {"name": cls.name, "k": goal.k, "m": goal.m or 2}
        others = [
            Candidate(f"{cls.name}, {one}", plain | {"algorithm": one}, trees=True) for one in ("lra", "vpa")
        ]
        return [Candidate(f"{cls.name}, aa", plain, trees=True), *others]

    def models(self) -> tuple[Model, ...]:
        """The promise: k^m-anonymity."""
        return (KmAnonymity(k=self.k, m=self.m),)

    def unused_parameters(self) -> tuple[str, ...]:
        """The number of parts, except with local recoding."""
        if self.algorithm == "lra" or not self.given("parts"):
            return ()
        return (f"--parts has no effect with --algorithm {self.algorithm}: only lra works by parts.",)

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Raise the cut, publish the nodes, put the baskets in canonical order."""
        self.accept(data)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        used = data.keep(data.supports > 0)
        filled = np.flatnonzero(used.lengths > 0)
        if 0 < len(filled) < self.k:
            raise Infeasible(
                f"k = {self.k} cannot be kept: only {counted(len(filled), 'baskets')} "
                f"{'holds' if len(filled) == 1 else 'hold'} anything. "
                f"The largest k is {len(filled)}.",
                len(filled),
            )
        hierarchy = used.hierarchy or build("balanced:5", nominal(used.vocabulary), "items")
        tree = ItemTree.of(used.vocabulary, hierarchy)
        nodes = used.items.astype(np.int64)
        row_of = np.repeat(np.arange(len(used)), used.lengths)
        cost = tried = lowered = 0
        for rows in self._parts(used, filled):
            cut = Cut(tree, used.take(rows))
            tried += self._protect(cut)
            lowered += cut.lower(self.k, self.m) if self.lower else 0
            chosen = flagged(rows, len(used))
            inside = chosen[row_of]
            nodes[inside] = cut.node_of[nodes[inside]]
            cost += cut.cost
        raised = time.perf_counter()
        published, order = _publish(used, tree, row_of, nodes)
        above = {text: int(size) for text, size in zip(tree.labels, tree.sizes, strict=True) if size > 1}
        names = [text for text in published.vocabulary if text in above]
        details = {"nodes": {text: above[text] for text in names}, "leaves": tree.leaves}
        notes: dict[str, Any] = {
            "hierarchy": "alphabetical" if used.hierarchy is None else "given",
            "ncp": cost / max(tree.leaves * len(nodes), 1),
            "counted": tried,
            "lowered": lowered,
            "published_items": len(published.vocabulary),
            "published_nodes": len(names),
        }
        if used.hierarchy is None:
            notes["summary"] = [ALPHABETICAL]
        published, warnings = _writable(published)
        warnings += [SECRETS_COUNT] if len(used.sensitive) else []
        if warnings:
            notes["warnings"] = warnings
        timings = {"raise": raised - begin, "publish": time.perf_counter() - raised}
        return self.released(published, details), Trace(order, timings, notes)

    def _parts(self, baskets: Baskets, filled: Rows) -> list[Rows]:
        """The baskets that are treated together: all nonempty ones, or runs of them in Gray order."""
        count = 1 if self.algorithm != "lra" else max(1, min(self.parts, len(filled) // self.k))
        if count == 1:
            return [filled] if len(filled) else []
        kept = baskets.take(filled)
        distinct = distinct_baskets(kept.indptr, kept.items, len(kept.vocabulary))
        place = turns_of(orders_of("gray", distinct)[0], len(distinct))
        ordered = filled[np.argsort(place[distinct.of_row], kind="stable")]
        return [np.sort(part) for part in np.array_split(ordered, count)]

    def _protect(self, cut: Cut) -> int:
        """Raise one cut until it keeps the promise; returns how many times combinations were mined."""
        counted = 0
        if self.algorithm == "vpa":
            root = int(np.argmax(cut.tree.sizes))
            for branch in np.flatnonzero(cut.tree.parents == root).tolist():
                within = flagged(cut.under[branch], cut.tree.items)
                counted += cut.protect(self.k, self.m, within)
        return counted + cut.protect(self.k, self.m)


def _publish(baskets: Baskets, tree: ItemTree, row_of: Rows, nodes: Counts) -> tuple[Baskets, Rows]:
    """The baskets with the texts of their nodes, in canonical order, and the original row of each."""
    used, codes = np.unique(nodes, return_inverse=True)
    texts = [tree.labels[node] for node in used.tolist()]
    vocabulary = tuple(sorted(set(texts)))
    place = {text: code for code, text in enumerate(vocabulary)}
    renamed = np.array([place[text] for text in texts], dtype=np.int64)[codes] if len(texts) else codes
    width = max(len(vocabulary), 1)
    pairs = distinct(row_of * width + renamed)
    indptr = indptr_by(pairs // width, len(baskets))
    code = np.array([place.get(text, -1) for text in baskets.vocabulary], dtype=np.int32)
    sensitive, insensitive = code[baskets.sensitive], code[baskets.insensitive]
    made = Baskets(
        indptr,
        (pairs % width).astype(np.int32),
        vocabulary,
        sensitive[sensitive >= 0],
        insensitive[insensitive >= 0],
        baskets.layout,
    )
    order = made.canonical_order()
    return made.take(order), order


def _writable(baskets: Baskets) -> tuple[Baskets, list[str]]:
    """The baskets in a layout that can represent their nodes, and a warning if that is not the original layout."""
    layout = parse_layout(baskets.layout)
    node = unwritable(baskets.vocabulary, layout)
    if node is None:
        return baskets, []
    long = str(Layout("long", ("basket", "item")))
    return replace(baskets, layout=long), [RENAMED.format(node=node, layout=layout.form)]

"""Value generalization hierarchies: a tree of increasingly coarse values for one column."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Mask, Rows, frozen
from shoal.data.domain import Domain
from shoal.errors import BadData

ROOT = "*"
"""The text of a suppressed cell, and of the root of every hierarchy."""

MISSING_MARKS = ("", "?", "NA", "NULL", "null", "(null)", "NaN")
"""Texts of leaves that may stand for the missing value; the first one found is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Levels from the raw values (level 0) to a single root; levels nest by construction.

    If branches of the tree differ in depth, the nodes of short branches are repeated: the same node is on several
    levels, with the same text.

    Parameters
    ----------
    labels
        The texts of the nodes of each level. The last level is the root alone.
    parents
        ``parents[level][node]`` is the parent of a node, on level + 1. There is one array fewer than levels.
    by_width
        True if the nodes are bins of numbers, whose information loss is their width, not their number of leaves.
    """

    labels: tuple[tuple[str, ...], ...]
    parents: tuple[Codes, ...]
    by_width: bool = False
    _nodes: tuple[Codes, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        assert len(self.labels) == len(self.parents) + 1 >= 2
        assert len(self.labels[-1]) == 1
        fixed = tuple(frozen(np.asarray(parents, dtype=np.int32)) for parents in self.parents)
        nodes: list[Codes] = [frozen(np.arange(len(self.labels[0]), dtype=np.int32))]
        for level, parents in enumerate(fixed):
            assert len(parents) == len(self.labels[level])
            assert int(parents.max(initial=-1)) < len(self.labels[level + 1])
            nodes.append(frozen(parents[nodes[-1]]))
        object.__setattr__(self, "parents", fixed)
        object.__setattr__(self, "_nodes", tuple(nodes))

    @property
    def leaves(self) -> tuple[str, ...]:
        """The raw values."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """The level of the root: how many times a value can be generalized."""
        return len(self.labels) - 1

    def nodes_at(self, level: int) -> Codes:
        """For each leaf, its node on a level."""
        return self._nodes[level]

    def leaf_counts(self, level: int) -> Counts:
        """The number of leaves under each node of a level."""
        return np.bincount(self.nodes_at(level), minlength=len(self.labels[level])).astype(np.int64)

    def paths(self) -> Iterator[tuple[str, ...]]:
        """The texts on the path of each leaf, from the leaf itself to the root.

        >>> h = climb(("cat", "dog"), [lambda leaves: ["animal"] * len(leaves)])
        >>> list(h.paths())
        [('cat', 'animal', '*'), ('dog', 'animal', '*')]
        """
        return zip(*(self.texts_at(level) for level in range(len(self.labels))), strict=True)

    def texts_at(self, level: int) -> list[str]:
        """The text of each leaf on a level."""
        labels = self.labels[level]
        return [labels[node] for node in self.nodes_at(level).tolist()]

    def ambiguous(self) -> list[str]:
        """Texts that mean different sets of leaves on different levels below the root; none in a good hierarchy."""
        numbers: dict[str, int] = {}
        rows = []
        for labels, nodes in zip(self.labels[:-1], self._nodes, strict=False):
            here = [numbers.setdefault(label, len(numbers)) for label in labels]
            rows.append(np.array(here, dtype=np.int32)[nodes])
        texts = tuple(numbers)
        return [texts[number] for number, _, _ in ambiguous_texts(np.array(rows, dtype=np.int32))]

    def depth_first(self) -> Rows:
        """The leaves in depth-first order: leaves under one node are adjacent, otherwise they keep their order."""
        keys: list[AnyArray] = [np.arange(len(self.leaves))]
        for level in range(1, len(self.labels)):
            nodes = self.nodes_at(level)
            first = np.full(len(self.labels[level]), len(nodes), dtype=np.int32)
            np.minimum.at(first, nodes, np.arange(len(nodes), dtype=np.int32))
            keys.append(first[nodes])
        return np.lexsort(keys).astype(np.int64)

    def boundary_depths(self, order: Rows) -> Codes:
        """The depth of the lowest common ancestor of each leaf and the next one in an order; 0 is the root."""
        depths = np.zeros(max(len(order) - 1, 0), dtype=np.int32)
        for level in range(len(self.labels) - 1):
            nodes = self.nodes_at(level)[order]
            depths += nodes[1:] == nodes[:-1]
        return depths

    def common_level(self, low: Codes, high: Codes, order: Rows) -> Codes:
        """The lowest level on which the leaves at places low … high of a depth-first order share a node."""
        levels = np.full(len(low), self.height, dtype=np.int32)
        first, last = order[low], order[high]
        for level in range(self.height, -1, -1):
            nodes = self.nodes_at(level)
            levels[nodes[first] == nodes[last]] = level
        return levels

    def leaf_of(self, domain: Domain) -> Codes:
        """The leaf of each value of a domain that the hierarchy covers."""
        places = {label: place for place, label in enumerate(self.leaves)}
        return np.array([places[label] for label in domain.labels], dtype=np.int32)

    def missed(self, domain: Domain) -> list[str]:
        """The values of a domain that have no leaf, apart from the missing value."""
        known = set(self.leaves)
        return [label for label in domain.labels[: domain.present] if label not in known]

    def covering(self, domain: Domain, column: str, path: str | Path | None = None) -> "Hierarchy":
        """Adapt this hierarchy to a column: check that it covers all values, and add a leaf for a missing one.

        A leaf whose text is one of `MISSING_MARKS`, and that is not a value of the column, stands for the missing
        value. If there is none, one is added directly below the root. If no value is missing, a leaf with an empty text
        is left out.

        `path`: where the hierarchy comes from, for messages. Raises `BadData`, which lists the values that the
        hierarchy does not cover.
        """
        missed = self.missed(domain)
        if missed:
            raise BadData(self._complaint(missed, domain), path=path, column=column)
        if domain.missing is None:
            return self._without(self.leaves.index("")) if "" in self.leaves else self
        free = set(self.leaves).difference(domain.labels[: domain.present])
        mark = next((mark for mark in MISSING_MARKS if mark in free), None)
        if mark is None:
            return self._with_missing()
        return self if mark == "" else self._renamed(self.leaves.index(mark), "")

    def _complaint(self, missed: list[str], domain: Domain) -> str:
        shown = ", ".join(repr(label) for label in missed[:10]) + (", …" if len(missed) > 10 else "")
        inner = {text for texts in self.labels[1:-1] for text in texts}
        by_number = {_number(leaf): leaf for leaf in self.leaves}
        by_number.pop(None, None)
        hint = ""
        for label in missed:
            if label in inner:
                hint = f" {label!r} stands in it only above other values: give it a row of its own."
            elif (number := _number(label)) in by_number:
                hint = f" {label!r} is written {by_number[number]!r} there: write both the same way."
            if hint:
                break
        return (
            f"the hierarchy misses {len(missed)} of {domain.present} values: {shown}.{hint} "
            "Add them to the hierarchy, or build one with --hierarchy."
        )

    def _with_missing(self) -> "Hierarchy":
        """This hierarchy with a leaf for the missing value directly below the root."""
        labels = (*((*texts, "") for texts in self.labels[:-1]), self.labels[-1])
        parents = [np.append(up, len(self.labels[level + 1])) for level, up in enumerate(self.parents)]
        parents[-1][-1] = 0
        return Hierarchy(labels, tuple(parents), self.by_width)

    def _renamed(self, leaf: int, text: str) -> "Hierarchy":
        """This hierarchy with another text for a leaf, and for its repetitions on higher levels."""
        old = self.leaves[leaf]
        labels = []
        for level, texts in enumerate(self.labels[:-1]):
            node = int(self.nodes_at(level)[leaf])
            alone = texts[node] == old
            labels.append((*texts[:node], text, *texts[node + 1 :]) if alone else texts)
        return Hierarchy((*labels, self.labels[-1]), self.parents, self.by_width)

    def _without(self, leaf: int) -> "Hierarchy":
        """This hierarchy without one leaf, and without the nodes that covered only this leaf."""
        labels, parents = [], []
        keep: Mask = np.arange(len(self.leaves)) != leaf
        for level, up in enumerate(self.parents):
            above: Mask = np.zeros(len(self.labels[level + 1]), dtype=np.bool_)
            above[up[keep]] = True
            above[0] |= level + 1 == self.height
            labels.append(tuple(text for text, kept in zip(self.labels[level], keep, strict=True) if kept))
            parents.append((np.cumsum(above, dtype=np.int32) - 1)[up[keep]])
            keep = above
        return Hierarchy((*labels, self.labels[-1]), tuple(parents), self.by_width)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _suppressed(leaves: Rows) -> list[str]:
    return [ROOT] * len(leaves)


def climb(
    leaves: tuple[str, ...], levels: Iterable[Callable[[Rows], list[str]]], *, by_width: bool = False
) -> Hierarchy:
    """Build a hierarchy level by level, with the root above the last one.

    `leaves`: the raw values. `levels`: for each level a function that returns the texts of leaves on that level. It is
    given one leaf for each node of the level below, so that levels nest whatever it returns, and high levels are cheap.
    """
    labels, parents = [leaves], []
    first: Rows = np.arange(len(leaves), dtype=np.int64)
    for texts_of in (*levels, _suppressed):
        codes: dict[str, int] = {}
        up = np.array([codes.setdefault(text, len(codes)) for text in texts_of(first)], dtype=np.int32)
        first = first[np.unique(up, return_index=True)[1]]
        labels.append(tuple(codes))
        parents.append(up)
    return Hierarchy((*labels[:-1], (ROOT,)), tuple(parents), by_width)


def ambiguous_texts(texts: Codes) -> list[tuple[int, int, int]]:
    """Find texts that mean different sets of leaves on different levels, so that a published one would be ambiguous.

    `texts`: the number of the text of each leaf (columns) on each level (rows); equal texts have equal numbers. The
    root may be left out. Returns triples of the number of a text and the two levels, the lower one first.
    """
    count = int(texts.max(initial=-1)) + 1
    seen_on = np.full(count, -1, dtype=np.int32)
    sizes = np.zeros(count, dtype=np.int64)
    found = []
    for level, here in enumerate(texts):
        leaves = np.flatnonzero(seen_on[here] >= 0)
        elsewhere = here[leaves][texts[seen_on[here[leaves]], leaves] != here[leaves]]
        present = np.bincount(here, minlength=count)
        other_size = (present > 0) & (seen_on >= 0) & (present != sizes)
        bad = np.union1d(elsewhere, np.flatnonzero(other_size))
        found += [(int(text), int(seen_on[text]), level) for text in bad]
        sizes = np.where(present > 0, present, sizes)
        seen_on[here] = level
    return found

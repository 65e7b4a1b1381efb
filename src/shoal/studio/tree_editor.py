"""A tree of values that is edited by hand: nodes are grouped under a new one, and groups are dissolved."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from shoal.data.hierarchy import ROOT
from shoal.errors import WrongUse


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree, held as the parent of every node below the root.

    >>> tree = Tree.of_paths([["cat", "*"], ["dog", "*"], ["oak", "*"]]).group(["cat", "dog"], "animal")
    >>> tree.parents
    {'cat': 'animal', 'dog': 'animal', 'oak': '*', 'animal': '*'}
    >>> tree.ungroup("animal").parents
    {'cat': '*', 'dog': '*', 'oak': '*'}
    """

    parents: dict[str, str]

    @classmethod
    def of_paths(cls, paths: Iterable[Sequence[str]]) -> Self:
        """A tree from the texts above each leaf; a repeated text is one node, and the missing value is left out."""
        parents: dict[str, str] = {}
        for path in paths:
            steps = [text for place, text in enumerate(path) if place == 0 or text != path[place - 1]]
            for child, parent in pairwise(steps):
                if child != "":
                    parents[child] = parent
        return cls(parents)

    def children(self, node: str) -> list[str]:
        """The nodes directly below a node."""
        return [child for child, parent in self.parents.items() if parent == node]

    def group(self, nodes: Iterable[str], name: str) -> "Tree":
        """The tree with a new node above some nodes that have the same parent.

        Raises `WrongUse` if there are none, their parents differ, or the name is empty or taken.
        """
        chosen, name = [node for node in nodes if node in self.parents], name.strip()
        if not chosen:
            raise WrongUse("Choose the values to group first: each has a checkbox on its left.")
        if not name or name == ROOT:
            raise WrongUse("Give the group a name.")
        if name in self.parents:
            raise WrongUse(f"{name!r} is in the tree already; give the group another name.")
        above = {self.parents[node] for node in chosen}
        if len(above) > 1:
            raise WrongUse("Only values that are in the same group now can be grouped.")
        parents = {node: name if node in chosen else parent for node, parent in self.parents.items()}
        return Tree({**parents, name: above.pop()})

    def ungroup(self, node: str) -> "Tree":
        """The tree without a node; what stood below it moves up."""
        if not self.children(node):
            raise WrongUse(f"{node!r} is a value of the data, not a group.")
        above = self.parents[node]
        return Tree(
            {
                child: above if parent == node else parent
                for child, parent in self.parents.items()
                if child != node
            }
        )

    def as_list(self, node: str = ROOT) -> list[dict[str, Any]]:
        """The nodes below a node, groups first, each with the nodes below it."""
        below: dict[str, list[str]] = {}
        for child, parent in self.parents.items():
            below.setdefault(parent, []).append(child)

        def nodes(parent: str) -> list[dict[str, Any]]:
            found = [{"text": child, "nodes": nodes(child)} for child in below.get(parent, ())]
            return sorted(found, key=lambda one: not one["nodes"])

        return nodes(node)

    def write(self, path: Path) -> None:
        """Write it as a table of child and parent, which `read_hierarchy` reads."""
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(("child", "parent"))
            lines.writerows(self.parents.items())

"""The tree of items and the nodes of a hierarchy above them."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts, Items
from shoal.data.hierarchy import Hierarchy
from shoal.errors import BadData


@dataclass(frozen=True, slots=True, eq=False)
class ItemTree:
    """Items and the nodes above them; nodes that cover the same leaves are merged into one."""

    labels: tuple[str, ...]
    """The text of each node; the items themselves come first."""
    parents: Codes  # the node above each, -1 for the root
    sizes: Counts  # the number of leaves of the hierarchy under each node
    items: int  # the number of items
    leaves: int  # the number of all leaves of the hierarchy

    @classmethod
    def of(cls, vocabulary: tuple[str, ...], hierarchy: Hierarchy) -> "ItemTree":
        """The part of a hierarchy that lies above the items of a vocabulary.

        Raises `BadData` if an item is not a leaf of the hierarchy.
        """
        places = {text: place for place, text in enumerate(hierarchy.leaves)}
        missed = [text for text in vocabulary if text not in places]
        if missed:
            shown = ", ".join(map(repr, missed[:10])) + (", …" if len(missed) > 10 else "")
            raise BadData(
                f"the item hierarchy misses {len(missed)} of {len(vocabulary)} items: {shown}. Add them to it."
            )
        leaf = np.array([places[text] for text in vocabulary], dtype=np.int64)
        labels, parents, sizes = list(vocabulary), [-1] * len(vocabulary), [1] * len(vocabulary)
        here = list(range(len(vocabulary)))
        for level in range(1, hierarchy.height + 1):
            counts = hierarchy.leaf_counts(level).tolist()
            new: dict[int, int] = {}
            for item, node in enumerate(hierarchy.nodes_at(level)[leaf].tolist()):
                if counts[node] == sizes[here[item]]:
                    continue
                if node not in new:
                    new[node] = len(labels)
                    labels.append(hierarchy.labels[level][node])
                    parents.append(-1)
                    sizes.append(counts[node])
                parents[here[item]] = new[node]
                here[item] = new[node]
        return cls(
            tuple(labels),
            np.array(parents, dtype=np.int32),
            np.array(sizes, dtype=np.int64),
            len(vocabulary),
            len(hierarchy.leaves),
        )

    def chain(self, node: int) -> list[int]:
        """A node and all nodes above it, up to the root."""
        found = [node]
        while (node := int(self.parents[node])) >= 0:
            found.append(node)
        return found

    def items_under(self) -> list[Items]:
        """The items under each node, ascending."""
        found: list[list[int]] = [[] for _ in self.labels]
        for item in range(self.items):
            for node in self.chain(item):
                found[node].append(item)
        return [np.array(items, dtype=np.int32) for items in found]

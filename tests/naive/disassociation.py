"""Disassociation on nested lists, exactly as in the paper; and all originals that fit what is published."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

Basket = tuple[str, ...]
Cluster = dict[str, Any]


def frequencies(baskets: list[Basket]) -> Counter[str]:
    return Counter(item for basket in baskets for item in basket)


def km_anonymous(baskets: list[Basket], k: int, m: int) -> bool:
    counts = Counter(
        combination
        for basket in baskets
        for size in range(1, m + 1)
        for combination in combinations(sorted(basket), size)
    )
    return all(count >= k for count in counts.values())


def split(baskets: list[Basket], ignored: frozenset[str], limit: int) -> list[list[Basket]]:
    """HORPART."""
    parts, rest = [], baskets
    while len(rest) >= limit:
        counts = frequencies(rest)
        terms = sorted(set(counts) - ignored, key=lambda term: (-counts[term], term))
        if not terms:
            break
        parts += split([basket for basket in rest if terms[0] in basket], ignored | {terms[0]}, limit)
        rest = [basket for basket in rest if terms[0] not in basket]
    return [*parts, rest] if rest else parts


def cut(parts: list[list[Basket]], k: int, limit: int) -> list[list[Basket]]:
    """Cut parts that no item divides into even pieces."""
    pieces = []
    for part in parts:
        count = max(1, min(-(-len(part) // (limit - 1)), len(part) // k))
        edges = [len(part) * number // count for number in range(count + 1)]
        pieces += [part[begin:end] for begin, end in pairwise(edges)]
    return pieces


def absorb(parts: list[list[Basket]], ignored: frozenset[str], k: int, limit: int) -> list[list[Basket]]:
    """Join parts smaller than k to the neighbor that is most like them."""
    parts = [list(part) for part in parts]
    place = 0
    while place < len(parts) and len(parts) > 1:
        part = parts[place]
        if len(part) >= k:
            place += 1
            continue

        def likeness(other: list[Basket], part: list[Basket] = part) -> tuple[bool, Fraction]:
            common = sum(len((set(one) & set(two)) - ignored) for one, two in product(part, other))
            return len(part) + len(other) < limit, Fraction(common, len(other))

        left = place > 0 and (
            place == len(parts) - 1 or likeness(parts[place - 1]) >= likeness(parts[place + 1])
        )
        first = place - 1 if left else place
        parts[first : first + 2] = [parts[first] + parts[first + 1]]
    return parts


def horpart(baskets: list[Basket], ignored: frozenset[str], k: int, limit: int) -> list[list[Basket]]:
    """HORPART with its repairs; baskets that are equal in all items that are not ignored keep their order."""
    ordered = sorted(baskets, key=lambda basket: sorted(set(basket) - ignored))
    parts = cut(split(ordered, ignored, limit), k, limit)
    return absorb(parts, ignored, k, max(limit, 2 * k - 1))


def enough(size: int, chunks: list[list[Basket]], k: int, m: int) -> bool:
    """Whether a cluster without terms can be reconstructed without empty baskets."""
    return sum(map(len, chunks)) >= size + k * (max(1, min(m, len(chunks))) - 1)


def projected(baskets: list[Basket], items: set[str]) -> list[Basket]:
    kept = [tuple(item for item in basket if item in items) for basket in baskets]
    return [basket for basket in kept if basket]


def chunked(baskets: list[Basket], items: list[str], k: int, m: int) -> list[set[str]]:
    """Put every item into the first chunk that stays k^m-anonymous with it."""
    chunks, rest = [], items
    while rest:
        chunk: set[str] = set()
        for item in rest:
            if km_anonymous(projected(baskets, chunk | {item}), k, m):
                chunk.add(item)
        chunks.append(chunk)
        rest = [item for item in rest if item not in chunk]
    return chunks


def verpart(
    baskets: list[Basket], ignored: frozenset[str], k: int, m: int
) -> tuple[list[set[str]], set[str]]:
    """VERPART: the items of the record chunks, and those of the term chunk."""
    counts = frequencies(baskets)
    ranked = sorted(
        (item for item in counts if counts[item] >= k and item not in ignored),
        key=lambda item: (-counts[item], item),
    )
    terms, chunks = set(counts) - set(ranked), chunked(baskets, ranked, k, m)
    lists = [projected(baskets, chunk) for chunk in chunks]
    if not terms and chunks and not enough(len(baskets), lists, k, m):
        terms = {ranked[-1]}
        chunks = [chunk - terms for chunk in chunks if chunk - terms]
    return chunks, terms


class Tree:
    """A cluster in the course of REFINE."""

    def __init__(self, parts: list["Tree"], leaves: list["Leaf"], shared: list[list[Basket]]) -> None:
        self.parts, self.leaves, self.shared = parts, leaves, shared
        self.size = sum(len(leaf.baskets) for leaf in leaves)
        self.shown: set[str] = set()

    def hidden(self) -> set[str]:
        return {item for leaf in self.leaves for item in leaf.movable}

    def published(self) -> Cluster:
        if not self.parts:
            return self.leaves[0].published()
        return {"joint": [part.published() for part in self.parts], "shared": self.shared}


class Leaf:
    def __init__(self, baskets: list[Basket], ignored: frozenset[str], k: int, m: int) -> None:
        self.baskets = baskets
        self.chunks, self.terms = verpart(baskets, ignored, k, m)
        self.lists = [projected(baskets, chunk) for chunk in self.chunks]
        self.movable = self.terms - ignored
        self.may_empty = bool(self.chunks) and enough(len(baskets), self.lists, k, m)

    def support(self, item: str) -> int:
        return sum(item in basket for basket in self.baskets)

    def published(self) -> Cluster:
        return {"size": len(self.baskets), "chunks": self.lists, "terms": sorted(self.terms)}


def refine(trees: list[Tree], k: int, m: int) -> list[Tree]:
    """REFINE: passes over the trees, in the order of what they hide, until nothing changes."""
    changed = True
    while changed:
        changed, after, place = False, [], 0
        weight: Counter[str] = Counter()
        for tree in trees:
            for leaf in tree.leaves:
                weight.update({item: leaf.support(item) for item in leaf.movable})
        rank = {
            item: number for number, item in enumerate(sorted(weight, key=lambda item: (-weight[item], item)))
        }
        beyond = [len(rank)] * 4
        trees = sorted(trees, key=lambda tree: (sorted(rank[item] for item in tree.hidden()) + beyond)[:4])
        while place < len(trees):
            count, joint = 1, trees[place]
            for number in range(2, k + 1):
                group = trees[place : place + number]
                if len(group) < number or not group[-1].hidden() & set().union(
                    *(t.hidden() for t in group[:-1])
                ):
                    break
                if (made := join(group, k, m)) is not None:
                    count, joint, changed = number, made, True
                    break
            after.append(joint)
            place += count
        trees = after
    return trees


def join(group: list[Tree], k: int, m: int) -> Tree | None:
    """The joint cluster of some trees, or None if no item pays."""
    leaves = [leaf for tree in group for leaf in tree.leaves]
    size = sum(tree.size for tree in group)
    supports: dict[str, int] = {}
    for item in set().union(*(tree.hidden() for tree in group)):
        holders = [leaf for leaf in leaves if item in leaf.movable]
        support = sum(leaf.support(item) for leaf in holders)
        dense = support * sum(len(leaf.baskets) for leaf in holders) >= len(holders) * size
        if sum(item in tree.hidden() for tree in group) > 1 and support >= k and dense:
            supports[item] = support
    moved = sorted(supports, key=lambda item: (-supports[item], item))
    for item in moved[::-1]:
        if any(item in leaf.terms and leaf.terms <= set(moved) and not leaf.may_empty for leaf in leaves):
            moved.remove(item)
    if not moved:
        return None
    below = set().union(*(tree.shown for tree in group), *(chunk for leaf in leaves for chunk in leaf.chunks))
    records = [
        tuple(item for item in basket if item in moved and item in leaf.movable)
        for leaf in leaves
        for basket in leaf.baskets
    ]
    chunks = chunked(records, [item for item in moved if item not in below], k, m)
    chunks += [{item} for item in moved if item in below]
    joint = Tree(group, leaves, [projected(records, chunk) for chunk in chunks])
    joint.shown = below | set(moved)
    for leaf in leaves:
        leaf.terms -= set(moved)
        leaf.movable -= set(moved)
    return joint


def disassociate(
    baskets: list[Basket], k: int, m: int, limit: int, sensitive: frozenset[str], refined: bool
) -> list[Cluster]:
    """What is published, as nested lists in any order."""
    clusters = horpart(baskets, sensitive, k, limit)
    trees = [Tree([], [Leaf(cluster, sensitive, k, m)], []) for cluster in clusters]
    return [tree.published() for tree in (refine(trees, k, m) if refined else trees)]


def leaves_of(cluster: Cluster) -> list[Cluster]:
    return (
        [leaf for part in cluster["joint"] for leaf in leaves_of(part)] if "joint" in cluster else [cluster]
    )


def items_below(cluster: Cluster) -> set[str]:
    """Items of all record and shared chunks of a cluster."""
    own = {
        item for chunk in cluster.get("chunks", cluster.get("shared")) for record in chunk for item in record
    }
    return own.union(*(items_below(part) for part in cluster.get("joint", [])))


def keeps(cluster: Cluster, k: int, m: int, alone: bool = True) -> bool:
    """Whether a tree keeps every condition of the model."""
    chunks = cluster.get("chunks", cluster.get("shared"))
    items = [item for chunk in chunks for item in {item for record in chunk for item in record}]
    leaves = leaves_of(cluster)
    if len(items) != len(set(items)) or any(set(items) & set(leaf["terms"]) for leaf in leaves):
        return False
    if any(chunk != sorted(chunk) or len(chunk) > sum(leaf["size"] for leaf in leaves) for chunk in chunks):
        return False
    if "joint" not in cluster:
        nothing = alone and not chunks and not cluster["terms"]
        covered = cluster["terms"] or nothing or enough(cluster["size"], chunks, k, m)
        return bool(cluster["size"] >= k and covered and all(km_anonymous(chunk, k, m) for chunk in chunks))
    below = set().union(*(items_below(part) for part in cluster["joint"]))
    for chunk in chunks:
        if below & {item for record in chunk for item in record}:
            counts = Counter(map(tuple, chunk))
            room = k + len(chunk) - min(counts.values())
            if min(counts.values()) < k or any(leaf["size"] < room for leaf in leaves):
                return False
        elif not km_anonymous(chunk, k, m):
            return False
    return all(keeps(part, k, m, alone=False) for part in cluster["joint"])


def originals(cluster: Cluster) -> Iterator[list[frozenset[str]]]:
    """All lists of baskets that fit a tree and hold no empty basket; the baskets of a leaf are next to each other.

    A sub-record of a shared chunk cannot belong to a part that publishes one of its items in a chunk of its own.
    """
    rows: list[tuple[int, Cluster]] = []
    for leaf in leaves_of(cluster):
        rows += [(len(rows) + place, leaf) for place in range(leaf["size"])]
    for placed in product(*_placements(cluster, [row for row, _ in rows])):
        sets: list[set[str]] = [set() for _ in rows]
        for chunk in placed:
            for row, record in chunk:
                sets[row] |= set(record)
        yield from _with_terms(sets, cluster)


def _placements(
    cluster: Cluster, rows: list[int], above: bool = False
) -> list[list[list[tuple[int, Basket]]]]:
    """For each chunk, all ways to place its sub-records on the rows."""
    found = []
    barred: dict[int, set[str]] = {row: set() for row in rows}
    begin = 0
    for part in cluster.get("joint", []):
        size = sum(leaf["size"] for leaf in leaves_of(part))
        inside = rows[begin : begin + size]
        found += _placements(part, inside, above=True)
        for row, items in _own_items(part, inside):
            barred[row] |= items
        begin += size
    # Rows of a simple cluster on its own are alike, so its first chunk may be placed on the first of them.
    fixed = "joint" not in cluster and not above
    for number, records in enumerate(cluster.get("chunks", cluster.get("shared"))):
        chunk = [tuple(record) for record in records]
        ways = {
            tuple(zip(places, chunk, strict=True))
            for places in (
                [tuple(rows[: len(chunk)])] if fixed and number == 0 else permutations(rows, len(chunk))
            )
            if all(not barred[row] & set(record) for row, record in zip(places, chunk, strict=True))
        }
        found.append([list(way) for way in {tuple(sorted(way)) for way in ways}])
    return found


def _own_items(cluster: Cluster, rows: list[int]) -> Iterator[tuple[int, set[str]]]:
    """The items that rows have from chunks of their own leaf and of joint clusters inside."""
    own = {
        item for chunk in cluster.get("chunks", cluster.get("shared")) for record in chunk for item in record
    }
    for row in rows:
        yield row, own
    begin = 0
    for part in cluster.get("joint", []):
        size = sum(leaf["size"] for leaf in leaves_of(part))
        yield from _own_items(part, rows[begin : begin + size])
        begin += size


def _with_terms(sets: list[set[str]], cluster: Cluster) -> Iterator[list[frozenset[str]]]:
    """The same baskets with the terms of each leaf added in all ways that leave no basket empty."""
    choices, begin = [], 0
    for leaf in leaves_of(cluster):
        rows = range(begin, begin + leaf["size"])
        begin += leaf["size"]
        for term in leaf["terms"]:
            choices.append(
                [(term, some) for size in range(1, len(rows) + 1) for some in combinations(rows, size)]
            )
    for chosen in product(*choices):
        full = [set(one) for one in sets]
        for term, rows_of_term in chosen:
            for row in rows_of_term:
                full[row].add(term)
        if all(full):
            yield [frozenset(one) for one in full]


def guarantees(cluster: Cluster, k: int, m: int, limit: int = 100_000) -> bool | None:
    """Whether any m items that occur together in some original are together in k baskets of some original.

    None where there are too many originals to try.
    """
    most: Counter[Basket] = Counter()
    for number, baskets in enumerate(originals(cluster)):
        if number > limit:
            return None
        counts = Counter(
            combination
            for basket in baskets
            for size in range(1, m + 1)
            for combination in combinations(sorted(basket), size)
        )
        for combination, count in counts.items():
            most[combination] = max(most[combination], count)
    return all(count >= k for count in most.values())

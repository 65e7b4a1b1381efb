"""CAHD on lists of sets: orders, groups, losses and attacks, written from the definitions and slow."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, log

Basket = Sequence[int]
Group = tuple[list[frozenset[str]], dict[str, int]]

SKIPPED = 16
SEARCHES = 8


def supports(baskets: Sequence[Basket], counts: Sequence[int]) -> Counter[int]:
    return Counter({i: 0 for b in baskets for i in b}) + Counter(
        {
            i: sum(c for b, c in zip(baskets, counts, strict=True) if i in b)
            for i in {i for b in baskets for i in b}
        }
    )


def cuthill_mckee(vertices: int, neighbors: Callable[[int], set[int]], degrees: Sequence[int]) -> list[int]:
    """Reverse Cuthill-McKee; components in the order of their least degree, each entered at a far end."""

    def walk(start: int) -> tuple[list[int], list[int], int]:
        found, level, levels = [start], [start], 1
        queue = [start]
        depth = {start: 1}
        while queue:
            vertex = queue.pop(0)
            for other in sorted(neighbors(vertex) - set(found), key=lambda v: (degrees[v], v)):
                found.append(other)
                queue.append(other)
                depth[other] = depth[vertex] + 1
        levels = max(depth.values())
        level = [v for v in found if depth[v] == levels]
        return found, level, levels

    done: list[int] = []
    for candidate in sorted(range(vertices), key=lambda v: (degrees[v], v)):
        if candidate in done:
            continue
        start = candidate
        found, last, levels = walk(start)
        for _ in range(SEARCHES):
            farthest = min(last, key=lambda v: (degrees[v], v))
            if farthest == start:
                break
            found, last, farther = walk(farthest)
            start = farthest
            if farther <= levels:
                break
            levels = farther
        done += found
    return done[::-1]


def rcm(baskets: Sequence[Basket], counts: Sequence[int]) -> list[int]:
    """On the graph of baskets that share an item, built edge by edge."""
    held = supports(baskets, counts)
    degrees = [sum(held[item] for item in basket) for basket in baskets]

    def neighbors(row: int) -> set[int]:
        return {
            other for other in range(len(baskets)) if other != row and set(baskets[row]) & set(baskets[other])
        }

    return cuthill_mckee(len(baskets), neighbors, degrees)


def bipartite(baskets: Sequence[Basket], width: int) -> list[int]:
    rows = len(baskets)

    def neighbors(vertex: int) -> set[int]:
        if vertex < rows:
            return {rows + item for item in baskets[vertex]}
        return {row for row in range(rows) if vertex - rows in baskets[row]}

    degrees = [len(neighbors(vertex)) for vertex in range(rows + width)]
    return [vertex for vertex in cuthill_mckee(rows + width, neighbors, degrees) if vertex < rows]


def by_support(baskets: Sequence[Basket], counts: Sequence[int], width: int) -> list[int]:
    """The items, in the order of descending support."""
    held = supports(baskets, counts)
    return sorted(range(width), key=lambda item: (-held[item], item))


def lexicographic(baskets: Sequence[Basket], counts: Sequence[int], width: int) -> list[int]:
    place = {item: number for number, item in enumerate(by_support(baskets, counts, width))}
    return sorted(range(len(baskets)), key=lambda row: sorted(place[item] for item in baskets[row]))


def gray(baskets: Sequence[Basket], counts: Sequence[int], width: int) -> list[int]:
    """Baskets in the order of the numbers that they are, as rows of digits, in the reflected binary code."""
    items = by_support(baskets, counts, width)

    def rank(row: int) -> list[int]:
        digits, parity = [], 0
        for item in items:
            parity ^= item in baskets[row]
            digits.append(parity)
        return digits

    return sorted(range(len(baskets)), key=rank)


def band(baskets: Sequence[Basket]) -> tuple[int, int]:
    sharing = [
        (one, other)
        for one, other in combinations(range(len(baskets)), 2)
        if set(baskets[one]) & set(baskets[other])
    ]
    first = {row: row for row in range(len(baskets))}
    for one, other in sharing:
        first[other] = min(first[other], one)
    return max((b - a for a, b in sharing), default=0), sum(row - first[row] for row in first)


def form_groups(
    rows: Sequence[tuple[set[int], set[int]]], p: int, window: int, printed: bool = False
) -> list[int]:
    """The group of each row (public items, sensitive items), and -1 for rows that are left.

    `printed`: test the remaining rows before the group is removed, as the paper's figure is printed.
    """
    groups = [-1] * len(rows)
    left = Counter(item for _, secrets in rows for item in secrets)
    tried_again: list[int] = []

    def form(pivot: int) -> bool:
        """Whether there were enough candidates."""
        free = [row for row in range(len(rows)) if groups[row] < 0]
        place = free.index(pivot)
        before, after = free[:place][::-1], free[place + 1 :]
        held, found = set(rows[pivot][1]), []
        wanted = [window, window]
        for step in range(SKIPPED * window):
            for side, line in enumerate((before, after)):
                if step < len(line) and wanted[side] and not held & rows[line[step]][1]:
                    held |= rows[line[step]][1]
                    found.append(line[step])
                    wanted[side] -= 1
        if len(found) < p - 1:
            return False
        found.sort(key=lambda row: -len(rows[row][0] & rows[pivot][0]))
        group = [pivot, *found[: p - 1]]
        after_group = left - Counter(item for row in group for item in rows[row][1])
        remaining = len(free) if printed else len(free) - p
        if all(count * p <= remaining for count in after_group.values()):
            left.clear()
            left.update(after_group)
            for row in group:
                groups[row] = max(groups) + 1 if row == pivot else groups[pivot]
        return True

    for pivot, (_, secrets) in enumerate(rows):
        if secrets and groups[pivot] < 0 and not form(pivot):
            tried_again.append(pivot)
    for pivot in reversed(tried_again):
        if groups[pivot] < 0:
            form(pivot)
    return groups


def halve(sizes: Sequence[int], secrets: Sequence[Sequence[int]], p: int) -> list[int]:
    """The first run of each group; runs have sizes, and sensitive items, one entry a row that holds it."""

    def keeps(runs: range) -> bool:
        counts = Counter(item for run in runs for item in secrets[run])
        return all(count * p <= sum(sizes[run] for run in runs) for count in counts.values())

    def parts(begin: int, end: int) -> list[int]:
        cuts = range(begin + 1, end)
        if cuts:
            cut = min(cuts, key=lambda c: (abs(sum(sizes[begin:c]) - sum(sizes[c:end])), c))
            large = min(sum(sizes[begin:cut]), sum(sizes[cut:end])) >= p
            if large and keeps(range(begin, cut)) and keeps(range(cut, end)):
                return parts(begin, cut) + parts(cut, end)
        return [begin]

    return parts(0, len(sizes))


def degree(groups: Sequence[Group]) -> Fraction | None:
    """The least quotient of size and count."""
    found = [Fraction(len(baskets), count) for baskets, summary in groups for count in summary.values()]
    return min(found, default=None)


def divergence(
    original: Sequence[frozenset[str]], groups: Sequence[Group], secret: str, items: Sequence[str]
) -> float:
    """Σ Act·ln(Act / Est) over the cells of some public items."""
    holders = [basket for basket in original if secret in basket]
    total = 0.0
    for cell in range(2 ** len(items)):

        def inside(basket: frozenset[str], cell: int = cell) -> bool:
            return all((item in basket) == bool(cell >> place & 1) for place, item in enumerate(items))

        act = Fraction(sum(map(inside, holders)), len(holders))
        est = sum(
            (
                Fraction(summary.get(secret, 0) * sum(map(inside, baskets)), len(baskets) * len(holders))
                for baskets, summary in groups
            ),
            Fraction(0),
        )
        if act:
            total += float(act) * log(act / est)
    return total


def shares(
    original: Sequence[frozenset[str]], secret: set[str], groups: Sequence[Group]
) -> list[list[Fraction]]:
    """For each basket of each group, the share of all baskets with its public items that hold a secret of the group."""
    found = []
    for baskets, summary in groups:
        line = []
        for basket in baskets:
            alike = [one for one in original if one - secret == basket]
            line.append(Fraction(sum(bool(one & set(summary)) for one in alike), len(alike)))
        found.append(line)
    return found


def central(baskets: Sequence[frozenset[str]]) -> list[bool]:
    """Whether each member has the most items in common with the others."""
    common = [
        sum(len(basket & other) for place, other in enumerate(baskets) if place != here)
        for here, basket in enumerate(baskets)
    ]
    return [count == max(common) for count in common]


def inside_mean(left: int, right: int, counts: Sequence[int], p: int) -> float | None:
    """The mean number of sensitive items in the left half, over all ways to deal them that break the degree."""
    ways: list[tuple[int, int, bool]] = [(1, 0, False)]
    for count in counts:
        ways = [
            (
                number * comb(left, inside) * comb(right, count - inside),
                total + inside,
                broken or inside * p > left or (count - inside) * p > right,
            )
            for number, total, broken in ways
            for inside in range(count + 1)
        ]
    some = [(number, total) for number, total, broken in ways if broken]
    number = sum(number for number, _ in some)
    return sum(number * total for number, total in some) / number if number else None

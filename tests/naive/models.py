"""Privacy models, judged from rows of texts, one class after another, in exact fractions."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

Row = dict[str, str]
Promise = dict[str, Any]


def keeps(
    promise: Promise,
    rows: Sequence[Row],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    population: Sequence[Row] = (),
) -> bool:
    """Whether published rows keep a promise."""
    if promise["model"] not in OF_A_POPULATION:
        rows = [row for row in rows if any(row[name] != "*" for name in (*quasi, *sensitive))]
    classes = classes_of(rows, promise.get("x") or quasi)
    if promise["model"] in TOGETHER:
        return TOGETHER[promise["model"]](promise, classes, quasi, population)
    for column in [promise["column"]] if promise.get("column") else sensitive:
        whole = told(rows, column)
        for members in classes.values():
            here = told(members, column, promise.get("entity"))
            if promise["model"] == "alpha-k-anonymity" and persons(members, promise) < promise["k"]:
                return False
            if here and not BY_CLASS[promise["model"]](promise, here, whole):
                return False
    return True


def classes_of(rows: Sequence[Row], quasi: Sequence[str]) -> dict[tuple[str, ...], list[Row]]:
    """Rows by their published quasi-identifiers."""
    classes: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in quasi)].append(row)
    return classes


class Counts(Counter[str]):
    """How many rows, or persons, have each value, and how many show any value."""

    size: int = 0

    def several(self) -> bool:
        """Whether somebody has several values."""
        return self.total() > self.size


def told(rows: Sequence[Row], column: str, entity: str | None = None) -> Counts:
    """The sensitive values that rows show, each once per person where a column says whose rows they are."""
    who = {place: str(place) if entity is None else row[entity] for place, row in enumerate(rows)}
    pairs = {(who[place], row[column]) for place, row in enumerate(rows) if row[column] != "*"}
    counts = Counts(value for _, value in pairs)
    counts.size = len({person for person, _ in pairs})
    return counts


def persons(rows: Sequence[Row], promise: Promise) -> int:
    entity = promise.get("entity")
    return len(rows) if entity is None else len({row[entity] for row in rows})


def exact(number: float) -> Fraction:
    return Fraction(str(number))


def distinct(promise: Promise, here: Counts, whole: Counts) -> bool:
    return not here.several() and len(here) >= promise["l"]


def entropy(promise: Promise, here: Counts, whole: Counts) -> bool:
    """-Σ c/n log(c/n) >= log l, as n^n >= l^n Π c^c."""
    n = sum(here.values())
    return not here.several() and n**n >= exact(promise["l"]) ** n * math.prod(
        count**count for count in here.values()
    )


def recursive(promise: Promise, here: Counts, whole: Counts) -> bool:
    counts = sorted(here.values(), reverse=True)
    return not here.several() and counts[0] < exact(promise["c"]) * sum(counts[promise["l"] - 1 :])


def alpha(promise: Promise, here: Counts, whole: Counts) -> bool:
    bounded = promise["values"] or list(here)
    return all(Fraction(here[value], here.size) <= exact(promise["alpha"]) for value in bounded)


def confidence(promise: Promise, here: Counts, whole: Counts) -> bool:
    shares = {value: Fraction(here[value], here.size) for value in promise["bounds"]}
    return all(share <= exact(promise["bounds"][value]) for value, share in shares.items())


def hidden_rules(promise: Promise, here: Counts, whole: Counts) -> bool:
    """Hidden rules without stars, where the worst case of a rule is what is published."""
    return alpha({"alpha": promise["confidence"], "values": promise["values"]}, here, whole)


def shares(here: Counts, whole: Counts) -> list[tuple[Fraction, Fraction]]:
    """For each value of the whole table, its share in a class and in the whole."""
    n, rows = sum(here.values()), sum(whole.values())
    return [(Fraction(here[value], n), Fraction(count, rows)) for value, count in whole.items()]


def likeness(promise: Promise, here: Counts, whole: Counts) -> bool:
    for q, p in shares(here, whole):
        gain = (q - p) / p
        if gain > exact(promise["beta"]):
            return False
        if promise["form"] == "enhanced" and gain > 0 and float(gain) > -math.log(p):
            return False
    return True


def disclosure(promise: Promise, here: Counts, whole: Counts) -> bool:
    return all(q > 0 and abs(math.log(q / p)) < promise["delta"] for q, p in shares(here, whole))


def closeness(promise: Promise, here: Counts, whole: Counts) -> bool:
    return work(promise, here, whole) <= exact(promise["t"])


def work(promise: Promise, here: Counts, whole: Counts) -> Fraction:
    """The earth mover's distance, by the formulas of section 4 of the paper."""
    n, rows = sum(here.values()), sum(whole.values())
    p = {value: Fraction(here[value], n) for value in whole}
    q = {value: Fraction(count, rows) for value, count in whole.items()}
    if p == q:
        return Fraction(0)
    distance = promise["distance"]
    if distance == "by-kind":
        distance = "ordered" if all(is_number(value) for value in whole if value) else "equal"
    if distance == "equal":
        return sum((abs(p[value] - q[value]) for value in whole), Fraction(0)) / 2
    if distance == "ordered":
        values = promise.get("order") or sorted((value for value in whole if value), key=float)
        values = [*values, *([""] if "" not in values else [])]
        values = [value for value in values if value in whole]
        piled, total = Fraction(0), Fraction(0)
        for value in values:
            piled += p.get(value, Fraction(0)) - q.get(value, Fraction(0))
            total += abs(piled)
        return total / max(len(values) - 1, 1)
    return climb(promise["tree"], {value: p[value] - q[value] for value in whole})


def climb(tree: dict[str, Sequence[str]], extra: dict[str, Fraction]) -> Fraction:
    """The sum of cost(N) = height(N) / H · min(pos_extra(N), neg_extra(N)) over all inner nodes.

    Levels that join no two of the given values are cut out of the tree.
    """
    whole = {value: (value, *tree[value]) for value in extra}
    counting = [0]
    for level in range(1, len(next(iter(tree.values()))) + 1):
        if len({path[level] for path in whole.values()}) < len(
            {path[counting[-1]] for path in whole.values()}
        ):
            counting.append(level)
    of = {value: [path[level] for level in counting] for value, path in whole.items()}
    height = len(counting) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        children: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for value, surplus in extra.items():
            children[of[value][level]][of[value][level - 1]] += surplus
        for parts in children.values():
            surplus = sum((part for part in parts.values() if part > 0), Fraction(0))
            lack = sum((-part for part in parts.values() if part < 0), Fraction(0))
            total += Fraction(level, height) * min(surplus, lack)
    return total


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def numbers_in(here: Counts) -> list[Fraction]:
    """The numbers of a class, each as often as it occurs; a day is its number."""
    return [
        exact(value) if is_number(value) else Fraction(date.fromisoformat(value).toordinal())
        for value, count in here.items()
        if value
        for _ in range(count)
    ]


def spread(promise: Promise, here: Counts, whole: Counts) -> bool:
    """(k,e): k different numbers, e apart at the ends."""
    numbers = numbers_in(here)
    return len(set(numbers)) >= promise["k"] and max(numbers) - min(numbers) >= exact(promise["e"])


def proximity(promise: Promise, here: Counts, whole: Counts) -> bool:
    """(ε,m): around each number at most an m-th of the class."""
    numbers = numbers_in(here)
    for one in numbers:
        radius = exact(promise["epsilon"]) * (abs(one) if promise.get("nearness") == "relative" else 1)
        if sum(abs(other - one) <= radius for other in numbers) * promise["m"] > sum(here.values()):
            return False
    return True


def linkable(promise: Promise, here: Counts, whole: Counts) -> bool:
    """(X,Y): k values of Y, none with a share above h."""
    most = exact(promise.get("h", 1)) * sum(here.values())
    return len(here) >= promise.get("k", 2) and max(here.values()) <= most


def unique(promise: Promise, here: Counts, whole: Counts) -> bool:
    """m-unique: m rows, all with different values."""
    return len(here) >= promise["m"] and max(here.values()) == 1


BY_CLASS: dict[str, Callable[[Promise, Counts, Counts], bool]] = {
    "distinct-diversity": distinct,
    "entropy-diversity": entropy,
    "recursive-diversity": recursive,
    "alpha-k-anonymity": alpha,
    "confidence-bounding": confidence,
    "hidden-rules": hidden_rules,
    "beta-likeness": likeness,
    "delta-disclosure": disclosure,
    "t-closeness": closeness,
    "ke-anonymity": spread,
    "em-anonymity": proximity,
    "xy-privacy": linkable,
    "m-invariance": unique,
}

Classes = dict[tuple[str, ...], list[Row]]


def anonymity(promise: Promise, classes: Classes, quasi: Sequence[str], population: Sequence[Row]) -> bool:
    return all(persons(members, promise) >= promise["k"] for members in classes.values())


def risk(promise: Promise, classes: Classes, quasi: Sequence[str], population: Sequence[Row]) -> bool:
    sizes = [persons(members, promise) for members in classes.values()]
    if not sizes:
        return True
    of_persons = [Fraction(1, size) for size in sizes for _ in range(size)]
    reached = (
        max(of_persons) if promise["over"] == "maximal" else sum(of_persons, Fraction(0)) / len(of_persons)
    )
    return reached <= exact(promise["risk"])


def fits(cells: tuple[str, ...], person: Row, quasi: Sequence[str]) -> bool:
    """Whether a person may be one of a class."""
    return all(stands_for(cell, person[name]) for cell, name in zip(cells, quasi, strict=True))


def stands_for(cell: str, value: str) -> bool:
    if cell.startswith("{"):
        return value in cell[1:-1].split("|")
    if cell.startswith("["):
        low, high = cell[1:-1].split(",")
        end = float(value or "nan")
        return float(low) <= end and (end <= float(high) if cell.endswith("]") else end < float(high))
    return cell in ("*", value)


def k_map(promise: Promise, classes: Classes, quasi: Sequence[str], population: Sequence[Row]) -> bool:
    return all(sum(fits(cells, person, quasi) for person in population) >= promise["k"] for cells in classes)


def presence(promise: Promise, classes: Classes, quasi: Sequence[str], population: Sequence[Row]) -> bool:
    """Person by person, the sum of the chances in all classes that she fits: one class where cells do not overlap."""
    lower, upper = exact(promise["delta_min"]), exact(promise["delta_max"])
    chances: list[list[Fraction]] = [[] for _ in population]
    for cells, members in classes.items():
        fitting = [place for place, person in enumerate(population) if fits(cells, person, quasi)]
        if not fitting:
            return False
        for place in fitting:
            chances[place].append(Fraction(persons(members, promise), len(fitting)))
    if not classes:
        return True
    return all(sum(one) <= upper and max(one, default=Fraction(0)) >= lower for one in chances)


def guarded(promise: Promise, classes: Classes, quasi: Sequence[str], population: Sequence[Row]) -> bool:
    """Row by row: the chance of a value at or below the node that guards it."""
    tree = promise["tree"]
    for members in classes.values():
        values = [row[promise["column"]] for row in members if row[promise["column"]] != "*"]
        for node in {row[promise["guard"]] for row in members} - {"", "*"}:
            below = sum(node in (value, *tree.get(value, ())) for value in values)
            if values and Fraction(below, len(values)) > exact(promise["p"]):
                return False
    return True


TOGETHER: dict[str, Callable[[Promise, Classes, Sequence[str], Sequence[Row]], bool]] = {
    "k-anonymity": anonymity,
    "reidentification-risk": risk,
    "k-map": k_map,
    "delta-presence": presence,
    "personalized-privacy": guarded,
}

OF_A_POPULATION = ("k-map", "delta-presence")
"""Promises that also count suppressed rows, whose cells are all ``*``: what they hide is who is in the table."""

"""Judge promises about tables from rows of texts, by the definitions; what an adversary may know is about persons.

A row whose quasi-identifiers and sensitive cells are all ``*`` says nothing and is in no class. With an entity column,
the share of a value is the number of persons of the class who have it, divided by all persons of the class.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from tests.naive import models as naive
from tests.naive.full_domain import matching
from tests.naive.mixed import in_order, is_disassociated, is_k_km_anonymous
from tests.soak.cells import Paths, covers
from tests.soak.published import Published
from tests.soak.set_judges import PublishedSets, clusters, tuples

Row = dict[str, str]
Promise = dict[str, Any]
Classes = dict[tuple[str, ...], list[Row]]
NEAR = 1e-9


@dataclass
class PublishedTable:
    """A published table, and who is who in it."""

    rows: list[Row]
    quasi: list[str]
    sensitive: list[str]
    entity: str | None = None
    population: list[Row] = field(default_factory=list)
    paths: dict[str, Paths] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    items: str | None = None
    lines: list[Any] | None = None
    """The lines of items in clusters; where there are any, every row is in a class."""

    @cached_property
    def telling(self) -> list[Row]:
        if self.lines is not None:
            return self.rows
        cells = (*self.quasi, *self.sensitive)
        stars = [row for row in self.rows if all(row[name] == "*" for name in cells)]
        # Where some of them have items, all of them are one class.
        if self.items and any(row[self.items] for row in stars):
            return self.rows
        return [row for row in self.rows if any(row[name] != "*" for name in cells)]

    @cached_property
    def classes(self) -> Classes:
        return naive.classes_of(self.telling, self.quasi)

    def persons(self, rows: Sequence[Row]) -> int:
        return len(rows) if self.entity is None else len({row[self.entity] for row in rows})

    def columns(self, promise: Promise) -> list[str]:
        return [promise["column"]] if promise.get("column") else self.sensitive

    def histogram(self, rows: Sequence[Row], column: str) -> tuple[naive.Counts, int]:
        """How many rows, or persons, show each value, and how many show any."""
        counts = naive.told(rows, column, self.entity)
        return counts, counts.size

    def fits(self, cells: tuple[str, ...], person: Row) -> bool:
        return all(
            covers(cell, person[name], self.paths.get(name), self.orders.get(name))
            for cell, name in zip(cells, self.quasi, strict=True)
        )


def judge(promise: Promise, release: PublishedTable) -> list[str]:
    """What breaks a promise."""
    return list(JUDGES[promise["model"]](promise, release))


Judge = Callable[[Promise, PublishedTable], Iterator[str]]


def k_anonymity(promise: Promise, release: PublishedTable) -> Iterator[str]:
    wild = [""] * bool(promise.get("missing_matches_all")) + ["*"] * bool(promise.get("stars_match_all"))
    if promise.get("m") and promise["m"] < len(release.quasi):
        for names in combinations(release.quasi, promise["m"]):
            group = replace(release, quasi=list(names))
            # Rows whose cells of these columns are stars may still tell something by others.
            group.__dict__["telling"] = release.telling
            yield from k_anonymity({**promise, "m": None}, group)
        return
    if wild:
        rows = [tuple(row[name] for name in release.quasi) for row in release.telling]
        kept = "\0" if "" not in wild else ""
        cells = [tuple("" if cell in wild else cell or kept for cell in row) for row in rows]
        fewest = min(matching(cells), default=promise["k"])
        if fewest < promise["k"]:
            yield f"a row matches {fewest} rows where {promise['k']} are promised"
        return
    for cells, members in release.classes.items():
        if release.persons(members) < promise["k"]:
            yield f"class {cells} has {release.persons(members)} persons where {promise['k']} are promised"


def k_km_anonymity(promise: Promise, told: PublishedTable) -> Iterator[str]:
    column = str(told.items)

    def items(row: Row) -> list[str]:
        parts = re.split(r"(?<!\\)\|", row[column]) if row[column] else []
        return [part.replace("\\|", "|") for part in parts]

    for row in told.telling:
        held = items(row)
        if held != sorted(set(held)) or "" in held:
            yield f"the items {row[column]} do not ascend"
    rows = [(tuple(row[name] for name in told.quasi), frozenset(items(row))) for row in told.telling]
    hidden, secrets = promise.get("insensitive_items") or (), promise.get("sensitive_items") or ()
    h = 1 if promise.get("h") is None else promise["h"]
    if not is_k_km_anonymous(rows, promise["k"], promise["m"], hidden, secrets, h):
        yield f"somebody is found by her cells and {promise['m']} items among fewer than {promise['k']} rows"


def disassociation(promise: Promise, told: PublishedTable) -> Iterator[str]:
    """Judge the clusters of each class as those of baskets."""
    assert told.lines is not None
    trees = [line["cluster"] for line in told.lines]
    sets = PublishedSets(Published({}, [], [], [], trees, ""), set(promise["sensitive"]), set())
    yield from clusters(promise, sets)
    plain = [{**line, "cluster": tuples(line["cluster"])} for line in told.lines]
    if not is_disassociated(told.rows, plain, told.quasi, promise["k"], promise["m"], promise["sensitive"]):
        yield "the clusters of a class are not those of its rows"
    if not in_order(plain, [name for name in told.rows[0] if name in told.quasi]):
        yield "the lines do not ascend"


def by_class(judged: Callable[[Promise, Counter[str], Counter[str]], bool], persons: bool) -> Judge:
    """Judge a promise about the values of each class, each value counted once per person."""

    def judge_classes(promise: Promise, release: PublishedTable) -> Iterator[str]:
        for column in release.columns(promise):
            whole, _ = release.histogram(release.telling, column)
            for cells, members in release.classes.items():
                here, size = release.histogram(members, column)
                if release.entity is not None and (not persons or sum(here.values()) != size):
                    yield f"{promise['model']} of persons with several rows has no meaning, and is published"
                    return
                if here and not judged(promise, here, whole):
                    yield f"class {cells}: {column} {dict(here)}"

    return judge_classes


def beside(judged: Callable[[Promise, Counter[str], Counter[str]], bool]) -> Judge:
    """Judge a promise about the values that go with some of the quasi-identifiers."""

    def judge_groups(promise: Promise, release: PublishedTable) -> Iterator[str]:
        known = promise.get("x") or release.quasi
        groups = PublishedTable(release.telling, list(known), release.sensitive, release.entity)
        # Rows whose known cells are stars may still tell something by others.
        groups.__dict__["telling"] = release.telling
        yield from by_class(judged, persons=False)(promise, groups)

    return judge_groups


def guarded(promise: Promise, release: PublishedTable) -> Iterator[str]:
    if release.entity is not None:
        yield "personalized-privacy of persons with several rows has no meaning, and is published"
    if not promise.get("tree"):
        yield "a promise without a tree says nothing"
        return
    for cells, members in release.classes.items():
        if not naive.guarded(promise, {cells: members}, release.quasi, ()):
            yield f"class {cells}: more than {promise['p']} lies below a guard"


def shares(bound: Callable[[Promise, str], float | None]) -> Judge:
    """Bounds of the share of values in each class."""

    def judge_shares(promise: Promise, release: PublishedTable) -> Iterator[str]:
        for column in release.columns(promise):
            for cells, members in release.classes.items():
                if promise["model"] == "alpha-k-anonymity" and release.persons(members) < promise["k"]:
                    yield f"class {cells} has {release.persons(members)} persons where {promise['k']} are promised"
                here, size = release.histogram(members, column)
                for value, count in here.items():
                    most = bound(promise, value)
                    if most is not None and Fraction(count, size) > naive.exact(most):
                        yield f"class {cells}: {count} of {size} have {column} {value!r}"

    return judge_shares


def alpha(promise: Promise, value: str) -> float | None:
    return promise["alpha"] if not promise.get("values") or value in promise["values"] else None


def closeness(promise: Promise, here: Counter[str], whole: Counter[str]) -> bool:
    return work(promise, here, whole) <= naive.exact(promise["t"])


def work(promise: Promise, here: Counter[str], whole: Counter[str]) -> Fraction:
    """The distance by the naive twin, which knows no dates; but dates as texts are in order."""
    if promise["distance"] in ("ordered", "by-kind") and not promise.get("order"):
        known = [value for value in whole if value]
        if not all(map(naive.is_number, known)):
            order = sorted(known) if promise["distance"] == "ordered" else None
            return naive.work(
                {**promise, "order": order, "distance": "ordered" if order else "equal"}, here, whole
            )
    return naive.work(promise, here, whole)


def disclosure(promise: Promise, here: Counter[str], whole: Counter[str]) -> bool:
    found = naive.shares(here, whole)
    return all(q > 0 and abs(math.log(q / p)) < promise["delta"] + NEAR for q, p in found)


def likeness(promise: Promise, here: Counter[str], whole: Counter[str]) -> bool:
    for q, p in naive.shares(here, whole):
        gain = (q - p) / p
        if gain > naive.exact(promise["beta"]):
            return False
        if promise["form"] == "enhanced" and gain > 0 and float(gain) > -math.log(p) + NEAR:
            return False
    return True


def entropy(promise: Promise, here: Counter[str], whole: Counter[str]) -> bool:
    size = sum(here.values())
    reached = -sum(count / size * math.log(count / size) for count in here.values())
    return reached >= math.log(promise["l"]) - NEAR


def risk(promise: Promise, release: PublishedTable) -> Iterator[str]:
    sizes = [release.persons(members) for members in release.classes.values()]
    if not sizes:
        return
    worst, mean = Fraction(1, min(sizes)), Fraction(len(sizes), sum(sizes))
    reached = worst if promise["over"] == "maximal" else mean
    if reached > naive.exact(promise["risk"]):
        yield f"a risk of {reached}"


def hidden_rules(promise: Promise, release: PublishedTable) -> Iterator[str]:
    """Judge hidden rules; stars count among the rows of an antecedent, and in the worst case all hide the value."""
    most = naive.exact(promise["confidence"])
    width = len(release.quasi)
    longest = min(promise.get("size") or width, width) if promise["antecedent"] == "any" else width
    for count in range(1 if promise["antecedent"] == "any" else width, longest + 1):
        for columns in combinations(release.quasi, count):
            groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
            for row in release.telling:
                groups[tuple(row[name] for name in columns)].append(row)
            for cells, members in groups.items():
                if count == width or any(cell != "*" for cell in cells):
                    yield from _shown(promise, release, most, cells, members)


def _shown(
    promise: Promise, release: PublishedTable, most: Fraction, cells: Any, members: list[Row]
) -> Iterator[str]:
    size = release.persons(members)
    for column in release.columns(promise):
        here, _ = release.histogram(members, column)
        stars = release.persons([row for row in members if row[column] == "*"])
        for value, count in here.items():
            if promise.get("values") and value not in promise["values"]:
                continue
            fewer = promise.get("fewer_than")
            worst = fewer is not None and count >= fewer and Fraction(min(count + stars, size), size) > most
            if Fraction(count, size) > most or worst:
                yield f"{cells} => {column} {value!r}: {count} of {size}, {stars} stars"


def k_map(promise: Promise, release: PublishedTable) -> Iterator[str]:
    for cells in release.classes:
        fitting = sum(release.fits(cells, person) for person in release.population)
        if fitting < promise["k"]:
            yield f"class {cells} fits {fitting} persons of the population"


def presence(promise: Promise, release: PublishedTable) -> Iterator[str]:
    """Judge delta-presence; a person's chance is summed over all classes that she fits."""
    chances = [Fraction(0)] * len(release.population)
    for cells, members in release.classes.items():
        fitting = [place for place, person in enumerate(release.population) if release.fits(cells, person)]
        if not fitting:
            yield f"class {cells} fits nobody of the population"
        for place in fitting:
            chances[place] += Fraction(release.persons(members), len(fitting))
    lower, upper = naive.exact(promise.get("delta_min", 0)), naive.exact(promise["delta_max"])
    for person, chance in zip(release.population, chances, strict=True):
        if release.classes and not lower <= chance <= upper:
            yield f"{person} is in the release with a chance of {chance}"
            return


def perturbed(allowed: Callable[[Promise, Fraction], bool]) -> Judge:
    """Judge a promise about a published matrix: the worst two lines decide, over every published value."""

    def judge_matrix(promise: Promise, release: PublishedTable) -> Iterator[str]:
        values = list(promise["matrix"])
        if strange := {row[promise["column"]] for row in release.rows} - set(values):
            yield f"{strange} are published, and not by the matrix"
        lines = [[Fraction(one, sum(line)) for one in line] for line in promise["matrix"].values()]
        for one, other in permutations(lines, 2):
            for before, after in zip(one, other, strict=True):
                if before and (not after or not allowed(promise, before / after)):
                    yield f"odds change by {before} to {after}"
                    return

    return judge_matrix


def amplified(promise: Promise, factor: Fraction) -> bool:
    return factor <= naive.exact(promise["gamma"])


def breached(promise: Promise, factor: Fraction) -> bool:
    """Judge the worst belief: one value with a chance of ρ1, another with the rest."""
    prior = naive.exact(promise["rho1"])
    return prior * factor / (prior * factor + 1 - prior) < naive.exact(promise["rho2"])


def believed(promise: Promise, factor: Fraction) -> bool:
    prior, most = naive.exact(promise["d"]), naive.exact(promise["gamma"])
    return prior * factor / (prior * factor + 1 - prior) <= most and prior / most <= 1 / factor


JUDGES: dict[str, Judge] = {
    "k-anonymity": k_anonymity,
    "k-km-anonymity": k_km_anonymity,
    "disassociation": disassociation,
    "distinct-diversity": by_class(naive.distinct, persons=True),
    "entropy-diversity": by_class(entropy, persons=True),
    "recursive-diversity": by_class(naive.recursive, persons=True),
    "t-closeness": by_class(closeness, persons=False),
    "alpha-k-anonymity": shares(alpha),
    "confidence-bounding": shares(lambda promise, value: promise["bounds"].get(value)),
    "beta-likeness": by_class(likeness, persons=False),
    "delta-disclosure": by_class(disclosure, persons=False),
    "ke-anonymity": by_class(naive.spread, persons=False),
    "em-anonymity": by_class(naive.proximity, persons=False),
    "xy-privacy": beside(naive.linkable),
    "personalized-privacy": guarded,
    "m-invariance": by_class(naive.unique, persons=False),
    "amplification": perturbed(amplified),
    "rho-privacy": perturbed(breached),
    "d-gamma-privacy": perturbed(believed),
    "reidentification-risk": risk,
    "hidden-rules": hidden_rules,
    "k-map": k_map,
    "delta-presence": presence,
}

"""Try whether a promise that a method calls infeasible can be kept after all, by what the method may publish."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.naive.full_domain import Levels, Row, Table
from tests.soak import judges
from tests.soak.cases import Case

TINY = 8


def refute(case: Case) -> Iterator[str]:
    """What could be published although a method says that nothing can; None if there is nothing."""
    find = FINDERS.get(case.method)
    if find is not None:
        yield from find(case)


def one_class(case: Case) -> Iterator[str]:
    """Try all rows as one class, which every method that cuts from the top can publish."""
    if any(one["model"] in ("k-map", "delta-presence") for one in case.promises):
        return
    roles = case.recipe["roles"]
    if not (roles["sensitive"] or roles.get("insensitive")) and all(
        name in case.recipe.get("hierarchies", {}) or any(row[name] == "" for row in case.rows)
        for name in roles["quasi"]
    ):
        # One class would show only stars, which is refused because it publishes nothing.
        return
    rows = [{**row, **dict.fromkeys(roles["quasi"], "any")} for row in case.rows]
    release = judges.PublishedTable(rows, roles["quasi"], roles["sensitive"], roles.get("entity"))
    if not any(judges.judge(_whole(promise), release) for promise in case.promises):
        yield "one class of all rows keeps every promise"


def one_group(case: Case) -> Iterator[str]:
    """Try all rows as one group; l also promises that no value has a share above 1/l."""
    roles = case.recipe["roles"]
    if len(roles["sensitive"]) != 1 or roles.get("entity"):
        return
    rows = [{**row, "the group": "1"} for row in case.rows]
    release = judges.PublishedTable(rows, ["the group"], roles["sensitive"])
    asked, promises = case.recipe["method"], list(case.promises)
    if "l" in asked and "c" not in asked:
        promises.append({"model": "alpha-k-anonymity", "alpha": math.ceil(10**6 / asked["l"]) / 10**6})
    if not any(judges.judge(_whole(promise), release) for promise in promises):
        yield "one group of all rows keeps every promise"


def _whole(promise: dict[str, Any]) -> dict[str, Any]:
    """A promise with the defaults that judges need."""
    defaults = {"distance": "equal", "form": "enhanced", "over": "maximal", "antecedent": "class", "k": 1}
    least = {"k": 2} if promise["model"] == "xy-privacy" else {}
    return {**defaults, **least, **promise}


def levels(case: Case) -> Iterator[str]:
    """Try every vector of levels of a tiny table whose hierarchies are known here."""
    asked = case.recipe["method"]
    roles = case.recipe["roles"]
    plain = len(case.rows) <= TINY and len(case.promises) == 1 and not asked.get("missing_matches_all")
    if (
        not plain
        or roles.get("entity")
        or case.promises[0]["model"] in ("k-map", "delta-presence", "t-closeness")
    ):
        return
    if case.promises[0]["model"] == "reidentification-risk" and case.promises[0].get("over") == "average":
        return
    paths = {name: _paths(case, name) for name in roles["quasi"]}
    if not all(paths.values()):
        return
    promise = _whole(case.promises[0])

    def keeps(rows: Sequence[Row], everybody: Sequence[Row]) -> bool:
        """Whether a class keeps a promise; everything else that is published is another class."""
        marked = [{**row, **dict.fromkeys(roles["quasi"], "here")} for row in rows]
        rest = list(everybody)
        for row in rows:
            rest.remove(row)
        marked += [{**row, **dict.fromkeys(roles["quasi"], "there")} for row in rest]
        found = judges.judge(promise, judges.PublishedTable(marked, roles["quasi"], roles["sensitive"]))
        return not any("here" in fault for fault in found) and not (
            found
            and promise["model"] == "reidentification-risk"
            and Fraction(1, len(rows)) > Fraction(str(promise["risk"]))
        )

    table = Table(case.rows, {name: list(known) for name, known in paths.items()})
    highest = [
        _highest(asked, name, height) for name, height in zip(roles["quasi"], table.heights, strict=True)
    ]
    for vector, kept in table.solutions(_limit(case), keeps).items():
        told = roles["sensitive"] or roles.get("insensitive")
        if _allowed(vector, highest) and (told or vector != tuple(table.heights)):
            yield f"levels {vector} keep the promise for {len(kept)} of {len(case.rows)} rows"
            return


def _allowed(vector: Levels, highest: list[int]) -> bool:
    return all(level <= most for level, most in zip(vector, highest, strict=True))


def _highest(asked: dict[str, Any], name: str, height: int) -> int:
    return 0 if name in asked.get("raw", ()) else min(asked.get("max_level", {}).get(name, height), height)


def _limit(case: Case) -> int:
    asked = case.recipe["method"]
    if "max_suppressed" in asked:
        return int(asked["max_suppressed"])
    return int(Fraction(str(asked.get("suppression_limit", 0))) * len(case.rows))


def _paths(case: Case, name: str) -> list[tuple[str, ...]]:
    """The paths of a column with a hierarchy file or `suppress`; missing values are directly below the root."""
    spec = case.recipe["hierarchies"].get(name, "")
    values = {row[name] for row in case.rows}
    if spec == "suppress":
        return [(value, "*") for value in values]
    if spec not in case.files:
        return []
    rows = list(csv.reader(io.StringIO(case.files[spec].decode(), newline=""), delimiter=";"))
    height = len(rows[0])
    return [*map(tuple, rows), *([("",) * (height - 1) + ("*",)] if "" in values else [])]


def groups(case: Case) -> Iterator[str]:
    p, secrets = case.recipe["method"]["p"], case.recipe["roles"]["sensitive"]
    if all(sum(item in basket for basket in case.rows) * p <= len(case.rows) for item in secrets):
        yield "one group of all baskets keeps the degree"


def cohorts(case: Case) -> Iterator[str]:
    asked, secrets = case.recipe["method"], case.recipe["roles"]["sensitive"]
    share = Fraction(str(asked["h"])) * len(case.rows)
    few = all(sum(item in basket for basket in case.rows) <= share for item in secrets)
    left = {*secrets, *case.recipe["roles"].get("insensitive", ())}
    if few and len(case.rows) >= asked["k"] and any(left & set(basket) for basket in case.rows):
        yield "baskets without a public item keep the promise"


def clusters(case: Case) -> Iterator[str]:
    if len(case.rows) >= case.recipe["method"]["k"]:
        yield "one cluster of all baskets keeps the promise"


def nodes(case: Case) -> Iterator[str]:
    if sum(map(bool, case.rows)) >= case.recipe["method"]["k"]:
        yield "one node for all items keeps the promise"


def removals(case: Case) -> Iterator[str]:
    if case.recipe["method"].get("strategy") != "isl":
        yield "baskets without the items of a rule hide it"


FINDERS = {
    "mondrian": one_class,
    "samarati": levels,
    "lattice": levels,
    "local-suppression": None,
    "cahd": groups,
    "permutation-mondrian": groups,
    "coherence": cohorts,
    "disassociation": clusters,
    "km-generalization": nodes,
    "basket-rule-hiding": removals,
    "table-rule-hiding": None,
    "anatomy": one_group,
    "pram": None,
    "relational-transaction": None,
    "multirelational": None,
}
"""What to try, by method; None where no naive twin says what can be kept."""

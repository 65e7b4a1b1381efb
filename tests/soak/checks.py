"""What every release must keep besides its promises: each row is accounted for, and cells cover what they hide."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.naive.linked import canonical
from tests.soak import judges, related, set_judges
from tests.soak.cases import Case
from tests.soak.cells import Paths, covers, paths_of
from tests.soak.engines import Outcome
from tests.soak.published import Published, read

MISSING = ("", "?", "NA")


def check(case: Case, outcome: Outcome) -> Iterator[str]:
    """What is wrong with a release folder."""
    published = read(outcome.folder)
    private = json.loads((outcome.folder / "run.json").read_text(encoding="utf-8"))
    if published.form == "linked":
        release = judged_table(case, published, private)
        yield from _linked(case, published, outcome)
        yield from _asked(case, published)
        for promise in published.promises:
            yield from (f"{promise['model']}: {fault}" for fault in judges.judge(promise, release))
    elif case.is_table:
        release = judged_table(case, published, private)
        yield from _columns(case, published)
        yield from _counts(case, published)
        yield from _asked(case, published)
        yield from _values(case, published)
        if published.form != "related":
            yield from _order(published)
        if published.form == "clustered":
            items = Counter(
                item
                for row in case.rows
                for item in set(row[case.recipe["roles"]["items"]].split("|"))
                if item
            )
            yield from _clusters([line["cluster"] for line in published.lines], items, len(published.rows))
        if published.form == "related":
            yield from related.faults(case, published, outcome.run.trace.rows.tolist(), release)
        if outcome.engine == "local":
            yield from _covering(case, published, outcome, release)
        for promise in published.promises:
            yield from (f"{promise['model']}: {fault}" for fault in judges.judge(promise, release))
    else:
        sets = judged_sets(case, published)
        yield from _sets(case, published, outcome, private)
        for promise in published.promises:
            yield from (f"{promise['model']}: {fault}" for fault in set_judges.judge(promise, sets))


def judged_table(case: Case, published: Published, private: dict[str, Any]) -> judges.PublishedTable:
    """A published table with the roles of the recipe."""
    roles = case.recipe["roles"]
    orders = {name: list(order) for name, order in case.recipe["source"]["reading"].get("orders", {}).items()}
    paths = {name: paths_of(tree) for name, tree in private["hierarchies"].items()}
    if published.form == "linked":
        return judges.PublishedTable(published.secrets, [published.facts["link"]], roles["sensitive"])
    joined = published.form == "related"
    return judges.PublishedTable(
        related.view(case, published) if joined else published.rows,
        [*_own(case, "quasi"), *([related.VIEW] if joined else [])],
        _own(case, "sensitive"),
        roles.get("entity"),
        population(case),
        paths,
        orders,
        roles.get("items"),
        published.lines if published.form == "clustered" else None,
    )


def judged_sets(case: Case, published: Published) -> set_judges.PublishedSets:
    """Published sets with the roles of the recipe."""
    roles = case.recipe["roles"]
    return set_judges.PublishedSets(published, set(roles["sensitive"]), set(roles["insensitive"]))


def population(case: Case) -> list[judges.Row]:
    """The persons of the population, as texts."""
    if "population.csv" not in case.files:
        return []
    names, *rows = csv.reader(io.StringIO(case.files["population.csv"].decode(), newline=""))
    trimmed = [["" if cell.strip() in MISSING else cell.strip() for cell in row] for row in rows]
    return [dict(zip(names, row, strict=True)) for row in trimmed]


def _own(case: Case, role: str) -> list[str]:
    """The columns of a role, without those of records."""
    return [name for name in case.recipe["roles"][role] if name in case.rows[0]]


def _columns(case: Case, published: Published) -> Iterator[str]:
    roles = case.recipe["roles"]
    hidden = {*roles["identifying"], *((roles["items"],) if published.form == "clustered" else ())}
    if wrong := hidden & set(published.names):
        yield f"the identifying columns {wrong} are published"
    wanted = [name for name in case.rows[0] if name not in hidden]
    if key := published.facts.get("key"):
        wanted = [*(name for name in wanted if name != key), key]
    if published.names != wanted:
        yield f"columns {published.names} instead of {wanted}"
    said = {one["name"]: one["role"] for one in published.facts["columns"]}
    for role in ("quasi", "sensitive", "insensitive"):
        if wrong := [name for name in _own(case, role) if said.get(name) != role]:
            yield f"{wrong} should be {role} in release.json"


def _keeps_suppressed(case: Case) -> bool:
    asked = case.recipe["method"]
    return bool(asked.get("keep_suppressed") or asked.get("options", {}).get("keep_suppressed"))


def _counts(case: Case, published: Published) -> Iterator[str]:
    rows, suppressed = len(published.rows), published.facts["suppressed"]
    if published.facts["rows"] != rows:
        yield f"release.json says {published.facts['rows']} rows, and there are {rows}"
    stars = sum(
        all(cell == "*" for name, cell in row.items() if name != case.recipe["roles"].get("entity"))
        for row in published.rows
    )
    if _keeps_suppressed(case):
        if rows != len(case.rows) or stars < suppressed:
            yield f"{rows} rows of {len(case.rows)} with {suppressed} suppressed ones kept, {stars} of stars alone"
    elif rows + suppressed != len(case.rows):
        yield f"{rows} rows and {suppressed} suppressed ones of {len(case.rows)}"


def _asked(case: Case, published: Published) -> Iterator[str]:
    """Check that every promise that was asked for is made, for every column that it is about."""
    for wanted in case.promises:
        fields = {key: value for key, value in wanted.items() if key != "column"}
        columns: list[str | None] = [None]
        if any("column" in one for one in published.promises if one["model"] == wanted["model"]):
            columns = [wanted["column"]] if wanted.get("column") else _own(case, "sensitive")
        named = {*wanted.get("values", ()), *wanted.get("bounds", ())}
        if named and columns != [None]:
            # Nothing is promised of a column that has none of the named values.
            columns = [one for one in columns if named & {row[str(one)] for row in case.rows}]
        for column in columns:
            if not any(_says(one, fields, column) for one in published.promises):
                yield f"the release does not promise {wanted}"


def _says(made: dict[str, Any], fields: dict[str, Any], column: str | None) -> bool:
    same = all(
        key in ("distance", "missing_matches_all", "stars_match_all")
        or made.get(key) == value
        or (not made.get(key) and not value)
        for key, value in fields.items()
    )
    return same and made.get("column") == column


def _values(case: Case, published: Published) -> Iterator[str]:
    """Check that sensitive and insensitive cells are those of the data, or stars."""
    for name in (*_own(case, "sensitive"), *_own(case, "insensitive")):
        if name in published.facts.get("perturbed", ()):
            if strange := {row[name] for row in published.rows} - {row[name] for row in case.rows}:
                yield f"{name} is published with {strange} that the data has not"
            continue
        before = Counter(row[name] for row in case.rows)
        after = Counter(row[name] for row in published.rows)
        del after["*"]
        if more := after - before:
            yield f"{name} is published with {dict(more)} that the data has not"


def _order(published: Published) -> Iterator[str]:
    lines = [[row[name] for name in published.names] for row in published.rows]
    if lines != sorted(lines):
        yield "the rows are not in ascending order"


def _covering(
    case: Case, published: Published, outcome: Outcome, release: judges.PublishedTable
) -> Iterator[str]:
    """Check, by the private row map, that each cell covers the original one."""
    places = outcome.run.trace.rows.tolist()
    if len(places) != len(published.rows) or len(set(places)) != len(places):
        yield f"the row map has {len(places)} places for {len(published.rows)} rows"
        return
    drawn = published.facts.get("perturbed", ())
    plain = [name for name in (*_own(case, "sensitive"), *_own(case, "insensitive")) if name not in drawn]
    for place, row in zip(places, published.rows, strict=True):
        original = case.rows[place]
        for name in (one for one in _own(case, "quasi") if one not in drawn):
            if not covers(row[name], original[name], release.paths.get(name), release.orders.get(name)):
                yield f"{name} {original[name]!r} is published as {row[name]!r}"
                return
        if wrong := [name for name in plain if row[name] not in ("*", original[name])]:
            yield f"{wrong} of row {place}: {original} is published as {row}"
            return


def _linked(case: Case, published: Published, outcome: Outcome) -> Iterator[str]:
    """Check that public rows are unchanged, that every secret is in the group of its row, and the canonical order."""
    roles, link = case.recipe["roles"], published.facts["link"]
    hidden = {*roles["identifying"], *roles["sensitive"]}
    wanted = [*(name for name in case.rows[0] if name not in hidden), link]
    if published.names != wanted:
        yield f"columns {published.names} instead of {wanted}"
        return
    (secret,) = roles["sensitive"]
    places = outcome.run.trace.rows.tolist()
    if sorted(places) != list(range(len(case.rows))) or len(published.rows) != len(places):
        yield f"the row map has {len(places)} places for {len(case.rows)} rows"
        return
    for place, row in zip(places, published.rows, strict=True):
        if any(row[name] != case.rows[place][name] for name in wanted[:-1]):
            yield f"{case.rows[place]} is published as {row}"
    held = Counter((row[link], row[secret]) for row in published.secrets)
    if held != Counter(
        (row[link], case.rows[place][secret]) for place, row in zip(places, published.rows, strict=True)
    ):
        yield "groups have other secrets than their rows"
    rows, secrets = linked_texts(published, secret)
    if (rows, secrets) != canonical(rows, secrets):
        yield "the tables are not in canonical order"


def linked_texts(published: Published, secret: str) -> tuple[list[Any], list[Any]]:
    """Both linked tables as plain tuples: public cells and group, group and secret."""
    names, link = published.names[:-1], published.facts["link"]
    return (
        [(tuple(row[name] for name in names), row[link]) for row in published.rows],
        [(row[link], (row[secret],)) for row in published.secrets],
    )


def _sets(case: Case, published: Published, outcome: Outcome, private: dict[str, Any]) -> Iterator[str]:
    secrets = set(case.recipe["roles"]["sensitive"])
    before = [frozenset(basket) for basket in case.rows]
    support = Counter(item for basket in before for item in basket)
    said = published.facts["baskets"]
    if said + published.facts["suppressed"] != len(before):
        yield f"release.json says {said} baskets of {len(before)}"
    if published.form == "groups":
        listed = Counter(frozenset(basket) for group in published.lines for basket in group["baskets"])
        if listed != Counter(basket - secrets for basket in before):
            yield "the public parts of the baskets are not those of the data"
        counts: Counter[str] = Counter()
        for group in published.lines:
            counts.update(group["sensitive"])
        if counts != Counter({item: support[item] for item in secrets if support[item]}):
            yield f"sensitive items are counted as {dict(counts)}"
    elif published.form == "clusters":
        yield from _clusters(published.lines, support, len(before))
    else:
        if len(published.baskets) != said:
            yield f"{len(published.baskets)} baskets where release.json says {said}"
        if outcome.engine == "local":
            yield from _covered_baskets(case, published, outcome, before, private)


def _clusters(lines: list[Any], support: Counter[str], baskets: int) -> Iterator[str]:
    from tests.naive.disassociation import items_below, leaves_of

    leaves = [leaf for cluster in lines for leaf in leaves_of(cluster)]
    if sum(leaf["size"] for leaf in leaves) != baskets:
        yield f"clusters of {sum(leaf['size'] for leaf in leaves)} baskets in all, of {baskets}"
    named = {item for leaf in leaves for item in leaf["terms"]}.union(*(items_below(one) for one in lines))
    if named != set(support):
        yield f"items {named ^ set(support)} are lost or invented"


def _covered_baskets(
    case: Case, published: Published, outcome: Outcome, before: list[frozenset[str]], private: dict[str, Any]
) -> Iterator[str]:
    places = outcome.run.trace.rows.tolist()
    if len(places) != len(published.baskets):
        yield f"the row map has {len(places)} places for {len(published.baskets)} baskets"
        return
    tree: Paths = {}
    if outcome.run.original.hierarchy is not None:
        tree = {path[0]: tuple(path[1:]) for path in outcome.run.original.hierarchy.paths()}
    adds = case.recipe["method"].get("strategy") == "isl"
    for place, basket in zip(places, published.baskets, strict=True):
        for item in basket - before[place]:
            if not adds and not any(covers(item, one, tree) for one in before[place]):
                yield f"{sorted(before[place])} is published as {sorted(basket)}"
                return

"""Random tables with roles, hierarchies, a population and promises."""

import csv
import io
from dataclasses import dataclass, field
from datetime import date
from random import Random
from typing import Any

import polars as pl
from tests.naive.encoding import encode
from tests.soak import texts
from tests.soak.named import Facts, guards, parameters

from shoal import registry
from shoal.data.linked import Linked
from shoal.data.table import Table
from shoal.methods.table_method import TableMethod
from shoal.models._matrices import MatrixModel
from shoal.models.k_km_anonymity import KKmAnonymity

BUILDERS = {
    "numbers": ["intervals:5,10,20", "intervals:3", "balanced:3", "order:2,4", "suppress", "mask"],
    "days": ["dates:month,year", "dates", "order:3", "suppress", "balanced:2"],
    "codes": ["mask", "prefix:1,3", "prefix:2", "suppress", "balanced:4"],
}
ANY = ["suppress", "balanced:2", "order:2,4", "balanced:3"]
MISSING = ("", "?", "NA")

SHORT: dict[str, dict[str, str]] = {
    "k-anonymity": {"k": "k"},
    "distinct-diversity": {"l": "l"},
    "recursive-diversity": {"c": "c", "l": "l"},
    "entropy-diversity": {"l": "entropy_l"},
    "t-closeness": {"t": "t", "distance": "distance"},
    "alpha-k-anonymity": {"alpha": "alpha"},
    "beta-likeness": {"beta": "beta"},
    "delta-disclosure": {"delta": "delta"},
    "k-map": {"k": "k_map"},
    "delta-presence": {"delta_max": "presence"},
}
"""Short forms of promises: the parameters of models and the parameters of methods that stand for them."""

POPULATION = ("k-map", "delta-presence")


@dataclass
class Drawn:
    """A table as it was drawn, before it is written to a file."""

    names: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    roles: dict[str, Any] = field(default_factory=dict)
    pools: dict[str, list[str]] = field(default_factory=dict)
    hierarchies: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)


def table_case(random: Random, method: str) -> dict[str, Any]:
    """The parts of a case for a method of tables."""
    owner = registry.load("method", method)
    drawn = _columns(
        random,
        random.random() < 0.25,
        one_secret=owner.publishes is Linked or not issubclass(owner, TableMethod),
        key=owner.needs_link,
    )
    if owner.needs_items:
        _items(random, drawn)
    quasi, sensitive = list(drawn.roles["quasi"]), list(drawn.roles["sensitive"])
    facts = Facts(quasi, {name: sorted(set(drawn.cells[name])) for name in sensitive})
    from_file, models = _promised(random, facts, owner.publishes or Table)
    if owner.needs_link and random.random() < 0.95:  # others are refused
        from_file, models = False, [one for one in models if one["model"] not in POPULATION]
    plain = not issubclass(owner, TableMethod)
    if plain:
        from_file, models = False, []
    along = getattr(owner, "along_hierarchies", False)
    asked = parameters(random, method, owner.model_fields, facts, 0.35, without=_short_fields())
    if "anonymize_with" in owner.model_fields:
        step = registry.load("method", asked.setdefault("anonymize_with", "mondrian"))
        asked["options"] = parameters(
            random, asked["anonymize_with"], step.model_fields, facts, 0.3, _short_fields()
        )
        along = getattr(step, "along_hierarchies", False)
    if asked.get("keep_suppressed"):
        limits = {"max_suppressed": [1, 2], "suppression_limit": [0.1, 0.3, 1.0]}
        if not limits.keys() & asked and limits.keys() <= owner.model_fields.keys():
            name = random.choice(list(limits))
            asked[name] = random.choice(limits[name])
    if plain:
        for pair in (("rho1", "rho2"), ("d", "d_gamma")):
            whole = {name: owner.model_fields[name] for name in pair if set(pair) & set(asked)}
            asked |= parameters(random, method, whole, facts, 1.0)
        if random.random() < 0.5 or not asked.keys() - {"columns"}:
            asked["gamma"] = random.choice([1.01, 2.5, 7, 1000])
    _hierarchies(random, drawn, along)
    asked = {**asked, **_asked(random, models)}
    if owner.needs_items or owner.needs_link:
        asked.setdefault("k", random.choice([2, 2, 3]))
    if owner.needs_items and (
        not drawn.roles.get("sensitive_items") or asked.get("item_step") == "disassociation"
    ):
        asked.pop("h", None)
    if from_file:
        asked["population"] = "population.csv"
        drawn.files["population.csv"] = _population(random, drawn)
    source = _written(random, drawn)
    if random.random() < 0.04 and not owner.needs_items and not owner.needs_link:
        drawn.reading["drop_missing"] = True
    rows = _read(drawn)
    return {
        "files": drawn.files,
        "recipe": {
            "source": {"path": source, "reading": drawn.reading},
            "roles": drawn.roles,
            "hierarchies": drawn.hierarchies,
            "method": {"name": method, **asked},
        },
        "promises": models,
        "rows": rows,
        **({"records": _records(random, drawn)} if owner.needs_link else {}),
    }


def _columns(random: Random, tiny: bool, *, one_secret: bool = False, key: bool = False) -> Drawn:
    rows = (
        random.randint(1, 8)
        if tiny
        else random.randint(9, 60)
        if random.random() < 0.95
        else random.randint(61, 300)
    )
    drawn = Drawn()
    named = texts.COLUMNS + texts.ODD_COLUMNS * (random.random() < 0.08)
    names = random.sample(named, 8 if len(named) == len(texts.COLUMNS) else 10)
    count = random.choice([1, 2, 2, 3, 3, 4])
    roles: dict[str, Any] = {"quasi": names[:count], "sensitive": [], "insensitive": [], "identifying": []}
    missing = random.choice([0, 0, 0, 0.1, 0.4])
    for name in names[:count]:
        kind = random.choice(["numbers", "numbers", "days", "plain", "plain", "codes", "letters", "odd"])
        _column(random, drawn, name, kind, rows, missing)
    one_secret = one_secret and random.random() < 0.95
    for number in range(1 if one_secret else random.choice([0, 1, 1, 1, 2])):
        name = f"s{number}" if random.random() < 0.9 else names[count + number]
        roles["sensitive"].append(name)
        kind = random.choice(["plain", "plain", "plain", "numbers", "days", "odd"])
        _column(random, drawn, name, kind, rows, random.choice([0, 0, 0.1]))
    if random.random() < 0.2:
        roles["insensitive"].append("note")
        _column(random, drawn, "note", random.choice(["plain", "odd"]), rows, 0.1)
    if random.random() < 0.2:
        roles["identifying"].append("name")
        drawn.names.append("name")
        drawn.cells["name"] = [f"person-{row}" for row in range(rows)]
    if key:
        drawn.names.append("key")
        drawn.cells["key"] = [f"k{row}" for row in random.sample(range(rows), rows)]
    elif random.random() < 0.12 and not one_secret:
        roles["entity"] = "who"
        drawn.names.append("who")
        persons = random.randint(1, rows)
        drawn.cells["who"] = [
            f"p{random.randrange(persons)}" if random.random() < 0.6 else f"q{row}" for row in range(rows)
        ]
    random.shuffle(drawn.names)
    drawn.roles = roles
    return drawn


def _items(random: Random, drawn: Drawn) -> None:
    """A column of items, some of them sensitive or insensitive, and sometimes with a hierarchy."""
    rows, pool = len(drawn.cells[drawn.names[0]]), list("abcdefgh")[: random.choice([2, 3, 5, 8])]
    share = random.choice([0.1, 0.3, 0.6])
    drawn.cells["buys"] = ["|".join(item for item in pool if random.random() < share) for _ in range(rows)]
    drawn.names.append("buys")
    held = sorted({item for cell in drawn.cells["buys"] for item in cell.split("|") if item})
    named = random.sample(held, len(held))
    drawn.roles |= {"items": "buys", "item_separator": "|"}
    if random.random() < 0.3:
        drawn.roles |= {"sensitive_items": named[:1], "insensitive_items": named[1:2]}
    if random.random() < 0.4 and held:
        drawn.hierarchies["buys"] = random.choice(["balanced:2", "balanced:3", "suppress"])


def _records(random: Random, drawn: Drawn) -> list[dict[str, str]]:
    """Records of persons in a second file, a few of them nobody's; their columns have roles of their own."""
    persons = len(drawn.cells["key"])
    most, idle = random.choice([1, 2, 4]), random.choice([0, 0, 0.2])
    counts = [0 if random.random() < idle else random.randint(1, most) for _ in range(persons)]
    owners = [person for person, count in enumerate(counts) for _ in range(count)] or [0]
    random.shuffle(owners)
    second, kinds = Drawn(), ["numbers", "days", "plain", "codes", "letters"]
    for number, role in enumerate(
        random.choice([("quasi",), ("quasi", "quasi", "sensitive"), ("quasi", "insensitive")])
    ):
        name = f"r{number}"
        _column(random, second, name, random.choice(kinds), len(owners), random.choice([0, 0, 0.1]))
        drawn.roles[role] = [*drawn.roles[role], name]
    drawn.reading |= {told: {**drawn.reading.get(told, {}), **one} for told, one in second.reading.items()}
    cells = [[*(second.cells[name][row] for name in second.names)] for row in range(len(owners))]
    keys = [drawn.cells["key"][owner] for owner in owners]
    lines = [(key, *row) for key, row in zip(keys, cells, strict=True)]
    nobody = [("nobody", *random.choice(cells))] * random.choice([0, 0, 1])
    drawn.files["records.csv"] = _csv(["key", *second.names], [*lines, *nobody], ",", "\n")
    drawn.roles["link"] = "records.csv:key"
    rows = _read(second)
    return [{"key": str(owner), **row} for owner, row in zip(owners, rows, strict=True)]


def _column(random: Random, drawn: Drawn, name: str, kind: str, rows: int, missing: float) -> None:
    pool = texts.POOLS[kind](random, random.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 20]))
    skew = random.choice([0, 0, 1, 2])
    shares = [1 / (place + 1) ** skew for place in range(len(pool))]
    empty = random.choice(MISSING) if kind != "odd" else ""
    cells = random.choices(pool, shares, k=rows)
    drawn.names.append(name)
    drawn.cells[name] = [empty if random.random() < missing else cell for cell in cells]
    drawn.kinds[name], drawn.pools[name] = kind, pool
    if kind in ("plain", "letters") and random.random() < 0.1:
        order = random.sample(pool, len(pool))
        drawn.reading.setdefault("orders", {})[name] = order
    elif random.random() < 0.05:
        drawn.reading.setdefault("kinds", {})[name] = "nominal"


def _hierarchies(random: Random, drawn: Drawn, all_columns: bool) -> None:
    for number, name in enumerate([*drawn.roles["quasi"], *drawn.roles["sensitive"]]):
        quasi = name in drawn.roles["quasi"]
        if random.random() < (0.02 if all_columns and quasi else 0.6 if quasi else 0.85):
            continue
        if random.random() < 0.3:
            path = f"tree{number}.csv"
            drawn.files[path] = _tree(random, sorted({*drawn.pools[name]} - {*MISSING}))
            drawn.hierarchies[name] = path
        else:
            drawn.hierarchies[name] = random.choice(BUILDERS.get(drawn.kinds[name], ANY))


def _tree(random: Random, leaves: list[str]) -> bytes:
    """A hierarchy as a file: one or two levels of nodes between the values and the root."""
    width, height = random.randint(1, 3), random.choice([1, 2])
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    for place, leaf in enumerate(leaves):
        nodes = [f"node{level}-{place // width**level}" for level in range(1, height + 1)]
        writer.writerow([leaf.strip(), *nodes, "*"])
    return text.getvalue().encode()


def _short_fields() -> set[str]:
    return set(TableMethod.model_fields)


def _promised(random: Random, facts: Facts, form: type = Table) -> tuple[bool, list[dict[str, Any]]]:
    """One to three promises as plain data, and whether one of them needs a population."""
    known = {name: registry.load("model", name) for name in registry.MODELS}
    kinds = {
        name: one
        for name, one in known.items()
        if form in one.accepts and not issubclass(one, MatrixModel | KKmAnonymity)
    }
    names = [name for name, one in kinds.items() if form is Table or one.monotone or random.random() < 0.05]
    about = [name for name in names if "column" not in known[name].model_fields or facts.sensitive]
    count = random.choice([1, 2, 2, 3])
    chosen = ["k-anonymity" if form is Table else "distinct-diversity"] * (random.random() < 0.6)
    rest = [name for name in about if name not in chosen]
    chosen += random.sample(rest, min(count, len(rest)))
    promises = []
    for name in dict.fromkeys(chosen[:count] if random.random() < 0.9 else random.sample(names, 1)):
        # Only local suppression makes use of weaker promises, by fewer columns or with stars; others keep the stronger.
        weaker = ("m", "stars_match_all") if name == "k-anonymity" else ()
        fields = parameters(random, name, known[name].model_fields, facts, 0.2, without=weaker)
        if "guard" in fields:
            fields |= guards(random, facts)
        promises.append({"model": name, **_together(fields)})
    return any(one["model"] in POPULATION for one in promises), promises


def _together(fields: dict[str, Any]) -> dict[str, Any]:
    """Make parameters fit together."""
    if fields.get("antecedent") != "any":
        fields.pop("size", None)
    if "tree" in fields and "guard" not in fields:
        fields |= {"distance": "hierarchical"}
        fields.pop("order", None)
    if "order" in fields:
        fields |= {"distance": "ordered"}
    if "delta_min" in fields:
        fields["delta_min"] = min(fields["delta_min"], fields["delta_max"])
    for name in ("k", "l"):
        if name in fields and fields[name] > 4:
            fields[name] = 2
    return fields


def _asked(random: Random, models: list[dict[str, Any]]) -> dict[str, Any]:
    """The promises as a method takes them: in short forms where there are any, or as models."""
    asked: dict[str, Any] = {}
    for promise in models:
        name, fields = promise["model"], {key: value for key, value in promise.items() if key != "model"}
        short = dict(SHORT.get(name, {}))
        if name == "reidentification-risk":
            short = {"risk": f"{fields.get('over', 'maximal')}_risk"}
            fields.pop("over", None)
        taken = set(short.values()) & set(asked)
        if set(fields) <= set(short) and short and not taken and random.random() < 0.7:
            asked |= {short[key]: value for key, value in fields.items()}
        else:
            asked["promises"] = [*asked.get("promises", ()), promise]
    return asked


def _population(random: Random, drawn: Drawn) -> bytes:
    """The persons of the table and some more."""
    quasi = drawn.roles["quasi"]
    rows = list(zip(*(drawn.cells[name] for name in quasi), strict=True))
    more = random.randint(0, 2 * len(rows))
    rows += [tuple(random.choice(drawn.cells[name]) for name in quasi) for _ in range(more)]
    random.shuffle(rows)
    return _csv(quasi, rows, ",", "\n")


def _csv(names: list[str], rows: list[tuple[str, ...]], separator: str, end: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_MINIMAL)
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()


def _written(random: Random, drawn: Drawn) -> str:
    """Write the table as a file; what the file cannot say itself goes into the reading."""
    rows = list(zip(*(drawn.cells[name] for name in drawn.names), strict=True))
    if random.random() < 0.15:
        text = io.BytesIO()
        pl.DataFrame({name: _typed(random, drawn, name) for name in drawn.names}).write_parquet(text)
        drawn.files["data.parquet"] = text.getvalue()
        return "data.parquet"
    separator = random.choice([",", ",", ",", ";", "\t", "|"])
    if (
        separator != ","
        or random.random() < 0.7
        or any(
            mark in cell
            for cell in (*drawn.names, *(cell for row in rows for cell in row))
            for mark in ";\t|\n"
        )
    ):
        drawn.reading["separator"] = separator
    # At the beginning of a file, U+FEFF is not part of a cell.
    if random.random() < 0.04 and not rows[0][0].startswith("\ufeff"):
        drawn.reading["names"] = drawn.names
        names, rows = list(rows[0]), rows[1:]
    else:
        names = drawn.names
    content = _csv(names, rows, separator, random.choice(["\n", "\n", "\r\n"]))
    drawn.files["data.csv"] = b"\xef\xbb\xbf" * (random.random() < 0.05) + content
    return "data.csv"


def _typed(random: Random, drawn: Drawn, name: str) -> pl.Series:
    """A column of texts, numbers or days; missing cells are null or texts that mean missing."""
    cells, kind = drawn.cells[name], drawn.kinds.get(name)
    if random.random() < 0.5 and kind == "numbers" and all("." not in cell for cell in cells):
        return pl.Series([None if cell in MISSING else int(cell) for cell in cells], dtype=pl.Int64)
    if random.random() < 0.5 and kind == "days":
        return pl.Series(
            [None if cell in MISSING else date.fromisoformat(cell) for cell in cells], dtype=pl.Date
        )
    return pl.Series(
        [None if not cell and random.random() < 0.5 else cell for cell in cells], dtype=pl.String
    )


def _read(drawn: Drawn) -> list[dict[str, str]]:
    """The rows as they must be read: trimmed, with missing cells empty, and equal numbers as the same text."""
    read = {}
    for name in drawn.names:
        if name in drawn.reading.get("orders", {}) or drawn.reading.get("kinds", {}).get(name) == "nominal":
            trimmed = [cell.strip() for cell in drawn.cells[name]]
            read[name] = ["" if cell in MISSING else cell for cell in trimmed]
        else:
            _, labels, codes = encode(drawn.cells[name], MISSING)
            read[name] = [labels[code] for code in codes]
    rows = [dict(zip(drawn.names, cells, strict=True)) for cells in zip(*read.values(), strict=True)]
    return [row for row in rows if all(row.values())] if drawn.reading.get("drop_missing") else rows

"""What travels with the data: datapackage.json (Frictionless) and README.md, both made from the published files alone.

A descriptor says what release.json says, the type and the codes of every column, the hash of every file, and what the
owner wrote about license and use. Nothing else goes into it, no time either: the same release has the same descriptor.
"""

import csv
import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.data._promise_words import promise_sentences
from shoal.data.related import known_of_records
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.io.baskets.layouts import parse_layout
from shoal.io.releases.codebook import Codes, field, items_of, tables_of
from shoal.io.releases.release_json import Facts, object_in, read_facts
from shoal.io.releases.terms import Terms
from shoal.io.source import is_part, part_files

DESCRIPTOR, README = "datapackage.json", "README.md"

COPIES = ("data.xlsx", "data.sav", "data.dta")
"""The same table for other programs."""

_MEDIA = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".jsonl": "application/jsonl",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".sav": "application/x-spss-sav",
    ".dta": "application/x-stata-dta",
}
_ROLES = {
    Role.QUASI: "May be known to others, and is published as coarsely as the promises ask for.",
    Role.SENSITIVE: "Sensitive: must not be learned about a person.",
    Role.INSENSITIVE: "Not generalized: the owner declared that outsiders do not know it and that it is not "
    "sensitive.",
    Role.ENTITY: "Says which rows belong to one person; numbers are valid inside a class only.",
    Role.ITEMS: "Items of a person, ascending, with | between them; a backslash stands before a | inside of an item.",
}
_TITLES = {
    "table": "Anonymized table",
    "clustered": "Anonymized table with items in clusters",
    "related": "Anonymized persons and their records",
    "baskets": "Anonymized baskets",
    "groups": "Anonymized baskets in groups",
    "clusters": "Anonymized baskets in clusters",
    "linked": "Anonymized linked tables",
    "summary": "Cross-tables",
}
_FORMS = {
    "table": "An anonymized table, a row a person or record.",
    "clustered": "An anonymized table, and the items of each class of its rows: parts of the items of a person, and "
    "nothing that says which belong together, or to which row.",
    "related": "Two anonymized tables: persons, and their records, joined by a number that means nothing elsewhere.",
    "baskets": "Anonymized baskets: a set of items for each person.",
    "groups": "Anonymized baskets in groups: public items of each basket, and sensitive items of the group alone.",
    "clusters": "Anonymized baskets in clusters: parts of baskets, and nothing that says which belong together.",
    "linked": "Two anonymized tables: exact public rows with a group, and the sensitive values of each group.",
    "summary": "Cross-tables with totals; a cell that is * is hidden.",
}


def write_package(published: Path, release: Release[Any], terms: Terms | None = None) -> None:
    """Write datapackage.json and README.md into a published folder whose other files are complete.

    `release`: as it was read from that folder, its rows here or elsewhere.
    """
    from shoal.io.releases.recipient_readme import readme

    found = descriptor(published, release, terms or Terms())
    (published / DESCRIPTOR).write_text(_text(found), encoding="utf-8")
    (published / README).write_text(readme(found), encoding="utf-8")


def descriptor(published: Path, release: Release[Any], terms: Terms) -> dict[str, Any]:
    """The content of datapackage.json."""
    facts = read_facts(published / "release.json")
    known = [column["name"] for column in facts.shape.get("columns", ()) if column.get("role") == Role.QUASI]
    if (records := facts.shape.get("records")) is not None:
        known += known_of_records([one["name"] for one in records if one.get("role") == Role.QUASI])
    return {
        "name": "release",
        "title": terms.title or _TITLES.get(facts.shape["form"], "Anonymized data"),
        "description": _FORMS.get(facts.shape["form"], "Anonymized data."),
        **({"licenses": [_license(terms.license)]} if terms.license else {}),
        **({"data_use": terms.data_use} if terms.data_use else {}),
        "shoal": {
            "version": facts.version,
            "form": facts.shape["form"],
            **facts.made,
            "sentences": list(promise_sentences(facts.made["promises"], known)),
        },
        "resources": _resources(published, release, facts),
    }


def disagreements(published: Path, release: Release[Any]) -> list[tuple[str, str]]:
    """What datapackage.json and README.md say otherwise than the release, by the name of the file, and why.

    A folder may have neither: older ones have not. Words of another version of Shoal are not compared.
    """
    from shoal.io.releases.recipient_readme import readme

    there = [name for name in (DESCRIPTOR, README) if (published / name).is_file()]
    if not there:
        return []
    if len(there) == 1:
        return [
            (there[0], f"it goes with {README if there[0] == DESCRIPTOR else DESCRIPTOR}, which is not there")
        ]
    found = object_in(published / DESCRIPTOR)
    if not isinstance(found, dict):
        return [(DESCRIPTOR, "it is not the descriptor of a data package")]
    expected = descriptor(published, release, _terms(found))
    if isinstance(found.get("shoal"), dict) and found["shoal"].get("version") != expected["shoal"]["version"]:
        return [(DESCRIPTOR, "it was made by another version than release.json")]
    if expected["shoal"]["version"] != own_version():
        return _unlike_files(found, expected)
    if _text(found) != _text(expected) or _bytes(published / DESCRIPTOR) != _text(expected).encode():
        return [(DESCRIPTOR, _first_difference(found, expected))]
    for name in copies_named(published):
        if column := _unlike_column(published / name, release.data):
            return [(name, f"its column {column!r} does not have the cells of the published table")]
    if _bytes(published / README) != readme(expected).encode():
        return [(README, f"it does not say what {DESCRIPTOR} says")]
    return []


def _unlike_column(copy: Path, data: Any) -> str | None:
    """The first column of a copy whose cells are not those of a published table; None where all are."""
    from shoal.io.releases.copies import unlike_column

    return unlike_column(copy, data) if isinstance(data, Table) else None


def copies_named(published: Path) -> tuple[str, ...]:
    """The copies for other programs that a datapackage.json names."""
    try:
        found = object_in(published / DESCRIPTOR) if (published / DESCRIPTOR).is_file() else {}
    except BadData:
        return ()
    resources = found.get("resources", []) if isinstance(found, dict) else []
    named = [one.get("path") for one in resources if isinstance(one, dict)]
    return tuple(name for name in COPIES if name in named)


def _text(described: Mapping[str, Any]) -> str:
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadData(f"the file cannot be read: {error.strerror}.", path) from error


def own_version() -> str:
    """The version of the package; it is its own front that says it, which is loaded before any part of it."""
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _license(text: str) -> dict[str, str]:
    """A license as a data package names it.

    >>> _license("CC-BY-4.0"), _license("https://x.org/l"), _license("Ask us first")
    ({'name': 'CC-BY-4.0'}, {'path': 'https://x.org/l'}, {'name': 'other', 'title': 'Ask us first'})
    """
    if re.fullmatch(r"[A-Za-z0-9.+-]+", text):
        return {"name": text}
    return {"path": text} if re.fullmatch(r"https?://\S+", text) else {"name": "other", "title": text}


def _terms(found: Mapping[str, Any]) -> Terms:
    """What the owner wrote, as a descriptor has it; what is no text is left to the comparison."""
    licenses = found.get("licenses")
    entry = licenses[0] if isinstance(licenses, list) and licenses and isinstance(licenses[0], dict) else {}
    said = {
        "title": found.get("title"),
        "license": entry.get("title") or entry.get("path") or entry.get("name"),
        "data_use": found.get("data_use"),
    }
    return Terms(**{name: text for name, text in said.items() if isinstance(text, str)})


def _resources(published: Path, release: Release[Any], facts: Facts) -> list[dict[str, Any]]:
    tables = tables_of(release.data)
    found = []
    for path in sorted(published.iterdir(), key=lambda path: (not path.name.startswith("data."), path.name)):
        if path.name in ("release.json", DESCRIPTOR, README) or path.name in COPIES:
            continue
        resource = {"name": path.stem, **_file(path)}
        if tables is not None and path.stem in tables:
            resource["schema"] = _schema(tables[path.stem], facts)
            resource["type"] = "table" if path.suffix == ".csv" else "file"
        elif path.suffix == ".csv" and parse_layout(facts.shape["layout"]).form == "long":
            resource["schema"] = {"fields": [{"name": name, "type": "any"} for name in _header(path)]}
            resource["type"] = "table"
        else:
            resource["type"] = "file"
        if tables is None or path.suffix == ".jsonl":
            resource["codebook"] = _items(release, facts)
        found.append(resource)
    copies = [published / name for name in COPIES if (published / name).is_file()]
    found += [{"name": f"copy-{path.suffix[1:]}", **_file(path), "type": "file"} for path in copies]
    return found


def _file(path: Path) -> dict[str, Any]:
    """Where a resource lies, and the hash of each of its files."""
    media = {"format": path.suffix[1:], "mediatype": _MEDIA.get(path.suffix, "text/plain")}
    coded = (
        {} if path.suffix in (".parquet", *(Path(name).suffix for name in COPIES)) else {"encoding": "utf-8"}
    )
    if not path.is_dir():
        return {"path": path.name, **media, **coded, **_hashed(path)}
    parts = [part for part in sorted(path.iterdir()) if is_part(part, path.suffix)]
    paths = [f"{path.name}/{part.name}" for part in parts]
    hashed = [{"path": place, **_hashed(part)} for place, part in zip(paths, parts, strict=True)]
    return {"path": paths, **media, **coded, "parts": hashed}


def _header(path: Path) -> list[str]:
    """The names of the columns of a delimited file, or of the first of its parts."""
    with part_files(path)[0].open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def _hashed(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {
            "bytes": path.stat().st_size,
            "hash": f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}",
        }


def _schema(codes: Mapping[str, Codes], facts: Facts) -> dict[str, Any]:
    columns = (*facts.shape.get("columns", ()), *facts.shape.get("records", ()))
    roles = {column["name"]: column.get("role") for column in columns}
    perturbed = set(map(str, facts.details.get("perturbed", ())))
    done = facts.details.get("prepared", {})
    guarded = "safe_cells" in facts.shape
    fields = []
    for name, found in codes.items():
        said: dict[str, Any] = {}
        if (role := roles.get(name)) is not None:
            random = " Some values were changed at random." if name in perturbed else ""
            before = f" Prepared: {done[name]}." if name in done else ""
            said = {"role": role, "description": _ROLES[Role(role)] + before + random}
        elif name == facts.shape.get("link"):
            said = {"description": "The number of the group that the row belongs to."}
        elif name == facts.shape.get("key"):
            said = {"description": "The number of the person; it joins the two files and means nothing else."}
        elif facts.shape["form"] == "summary" and name in roles:
            said = {"description": "A value of the column, or a total."}
        fields.append(field(name, found, guarded, **said))
    return {"fields": fields, "missingValues": [""]}


def _items(release: Release[Any], facts: Facts) -> dict[str, Any]:
    """The items of sets, with those that are sensitive."""
    items = items_of(release.data)
    secrets = {name: facts.shape[name] for name in ("sensitive", "insensitive") if facts.shape.get(name)}
    return {"items": list(items) if items is not None else facts.shape["items"], **secrets}


def _unlike_files(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the files are not those that a descriptor of another version names."""

    def hashes(described: Mapping[str, Any]) -> list[Any]:
        resources = described.get("resources")
        if not isinstance(resources, list):
            return []
        return [
            (one.get("path"), one.get("hash"), one.get("parts")) for one in resources if isinstance(one, dict)
        ]

    if hashes(found) == hashes(expected):
        return []
    return [(DESCRIPTOR, "it names other files, or files with another content")]


def _first_difference(found: Any, expected: Any, place: str = "") -> str:
    """Where two descriptors differ first."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in dict.fromkeys([*expected, *found]):
            if found.get(name) != expected.get(name):
                return _first_difference(found.get(name), expected.get(name), f"{place}.{name}".lstrip("."))
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            if one != other:
                return _first_difference(one, other, f"{place}[{number}]")
    return f"at {place or 'its form'} it does not say what the release says"

"""README.md of a release: what a recipient should know before using the data, made from its datapackage.json alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NOTATION = (
    ("`*`", "suppressed: any value"),
    ("`[25,31]`", "a range, both ends included"),
    ("`[25,30)`", "a range, its upper end not included"),
    ("`{a|b}`", "one of these values"),
    ("`90+`, `<=18`, `<20`", "from 90 on, up to 18, below 20"),
    ("an empty cell", "a missing value"),
)
"""How published cells are written."""

ASKED = (
    "Use the data for what it was given for. Do not try to find out who anybody in it is, do not link it with other "
    "data about persons to that end, and tell the owner if you recognize somebody by chance."
)
"""What is asked of recipients whose owner has written nothing."""

MARKS = re.compile(r"([\\`*_{}\[\]<>#|])")


def readme(described: Mapping[str, Any]) -> str:
    """The text of README.md for the recipient."""
    made, resources = described["shoal"], described["resources"]
    parts = [
        f"# {_plain(described['title'])}",
        described["description"],
        *_section("What is promised", [_bullets(_plain(text) for text in made["sentences"])]),
        "The promises are about what can be seen in these files. They do not cover what somebody knows from elsewhere "
        "beyond the facts that they name, and they are no legal opinion.",
        *_section("Files", [_files(resources)]),
        *_columns(resources),
        *_section("How it was made", [_made(made)]),
        *_section("License and use", _terms(described)),
        *_section(
            "To check it",
            [
                "Shoal proves the promises again from this folder alone, and that this page and `datapackage.json` say "
                "what the files say: `shoal verify .`"
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _section(title: str, texts: Sequence[str]) -> list[str]:
    return [f"## {title}", *texts]


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _plain(text: str) -> str:
    r"""A text of the data on one line, without anything that Markdown would take for a mark.

    >>> print(_plain("a*b\nc"))
    a\*b c
    """
    return MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _files(resources: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for one in resources:
        many = isinstance(one["path"], list)
        place = one["path"][0].partition("/")[0] if many else one["path"]
        size = sum(part["bytes"] for part in one["parts"]) if many else one["bytes"]
        copy = "a copy for other programs" if one["name"].startswith("copy-") else "the data"
        rows.append(
            (f"`{place}`", f"{copy}, {len(one['path'])} part files" if many else copy, f"{size:,} bytes")
        )
    rows += [
        ("`release.json`", "how it was made and what it promises, for `shoal verify`", ""),
        ("`datapackage.json`", "types, codes, hashes: a Frictionless Data Package", ""),
    ]
    return _table(("file", "what it is", "size"), rows)


def _columns(resources: Sequence[Mapping[str, Any]]) -> list[str]:
    texts: list[str] = []
    for one in resources:
        fields = one.get("schema", {}).get("fields", [])
        if not fields:
            continue
        rows = [
            (_plain(field["name"]), field["type"], _codes(field), _plain(field.get("description", "")))
            for field in fields
        ]
        texts += _section(
            f"Columns of `{one['name']}`", [_table(("column", "type", "values", "what it is"), rows)]
        )
    if texts:
        notation = _bullets(f"{sign}: {words}" for sign, words in NOTATION)
        texts += ["Cells are written like this:", notation]
    for one in resources:
        if "codebook" in one:
            items = one["codebook"]["items"]
            number = len(items) if isinstance(items, list) else items
            listed = ", all listed in `datapackage.json`" if isinstance(items, list) else ""
            texts += _section("Items", [f"There are {number:,} different items{listed}."])
    return texts


def _codes(field: Mapping[str, Any]) -> str:
    listed = field.get("constraints", {}).get("enum")
    if listed is None:
        return "many"
    if len(listed) <= 6:
        return ", ".join(f"`{str(value).replace('`', '')}`".replace("|", "\\|") for value in listed)
    return f"{len(listed)} codes"


def _made(made: Mapping[str, Any]) -> str:
    version = f" {made['version']}" if made["version"] else ""
    given = ", ".join(
        f"{_plain(name)} {_plain(value)}" for name, value in made["parameters"].items() if value
    )
    noun = {
        "table": "rows",
        "clustered": "rows",
        "related": "rows",
        "linked": "rows",
        "summary": "cells",
    }.get(made["form"], "baskets")
    left = f" Suppressed: {made['suppressed']:,} {noun}." if made["suppressed"] else ""
    return f"By Shoal{version}, method {_plain(made['method'])}{f' ({given})' if given else ''}.{left}"


def _terms(described: Mapping[str, Any]) -> list[str]:
    licenses = described.get("licenses", [])
    said = [one.get("title") or one.get("path") or one.get("name") for one in licenses]
    texts = [f"License: {_plain(text)}." if not str(text).endswith(".") else _plain(text) for text in said]
    if not licenses:
        texts.append("The owner has named no license: ask before you pass the data on.")
    return [*texts, described["data_use"].strip() if "data_use" in described else ASKED]

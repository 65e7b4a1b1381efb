"""Read the files of a release folder by plain Python: rows of texts, baskets, groups, clusters, linked tables."""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

Row = dict[str, str]


@dataclass
class Published:
    """The content of a release folder.

    Parameters
    ----------
    facts
        The content of release.json.
    names, rows
        Of a table: the columns of its file, and the rows.
    baskets
        Of baskets: the items of each.
    lines
        Of groups and clusters, and of the items of a table: the content of each line.
    text
        The data as text, for comparisons: all part files one after another, with one header.
    secrets
        Of linked tables: each secret with its group, as often as it occurs; the rows have the group too.
    records
        Of persons with records: the records, each with the number of its person; the rows have it too.
    """

    facts: dict[str, Any]
    names: list[str]
    rows: list[Row]
    baskets: list[frozenset[str]]
    lines: list[dict[str, Any]]
    text: str
    secrets: list[Row] = field(default_factory=list)
    records: list[Row] = field(default_factory=list)

    @property
    def form(self) -> str:
        return str(self.facts["form"])

    @property
    def promises(self) -> list[dict[str, Any]]:
        return list(self.facts["promises"])


def read(folder: Path) -> Published:
    """Read everything in a release folder."""
    release = folder / "release"
    facts = json.loads((release / "release.json").read_text(encoding="utf-8"))
    if facts["form"] == "linked":
        return _linked(release, facts)
    (data,) = [path for path in release.iterdir() if path.name.startswith("data.")]
    found = Published(facts, [], [], [], [], "")
    if facts["form"] == "related":
        found.rows, found.records = _rows(data), _rows(data.with_name(f"records{data.suffix}"))
        found.names = list(found.rows[0])
        return found
    if facts["form"] == "clustered":
        found.rows = _rows(data)
        found.names, found.text = list(found.rows[0]), (release / "items.jsonl").read_text(encoding="utf-8")
        found.lines = [json.loads(line) for line in found.text.splitlines()]
        return found
    if data.suffix == ".parquet":
        frame = pl.concat([pl.read_parquet(file) for file in _files(data)])
        found.names = frame.columns
        found.rows = [
            {name: "" if cell is None else str(cell) for name, cell in row.items()}
            for row in frame.to_dicts()
        ]
        found.text = json.dumps(found.rows, ensure_ascii=False)
        return found
    found.text = _text(data)
    if found.form == "table":
        lines = _csv(found.text)
        found.names = lines[0]
        found.rows = [dict(zip(found.names, line, strict=True)) for line in lines[1:]]
    elif found.form == "baskets":
        found.baskets = _baskets(found.text, facts)
    else:
        found.lines = [json.loads(line) for line in found.text.splitlines()]
    return found


def _linked(release: Path, facts: dict[str, Any]) -> Published:
    """Both linked tables; a secret is repeated as often as its count says."""
    (ending,) = {path.suffix for path in release.iterdir() if path.name.startswith("data.")}
    tables = [_rows(release / f"{name}{ending}") for name in ("data", "sensitive")]
    secrets = [
        {name: cell for name, cell in row.items() if name != "count"}
        for row in tables[1]
        for _ in range(int(row["count"]))
    ]
    return Published(facts, list(tables[0][0]), tables[0], [], [], json.dumps(tables), secrets)


def _rows(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        lines = pl.read_parquet(path).to_dicts()
        return [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in lines]
    names, *rows = _csv(path.read_bytes().decode("utf-8"))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _files(data: Path) -> list[Path]:
    return sorted(data.glob("part-*")) if data.is_dir() else [data]


def _text(data: Path) -> str:
    texts = [file.read_bytes().decode("utf-8") for file in _files(data)]
    if data.suffix != ".csv" or len(texts) == 1:
        return "".join(texts)
    header = "\n".join(_cut(texts[0])) + "\n"
    assert all(text.startswith(header) for text in texts), "part files differ in their headers"
    return header + "".join(text.removeprefix(header) for text in texts)


def _cut(text: str) -> list[str]:
    """Split off the header, which may hold a quoted line end."""
    lines = text.split("\n")
    count = 1
    while "\n".join(lines[:count]).count('"') % 2:
        count += 1
    return lines[:count]


def _csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def _baskets(text: str, facts: dict[str, Any]) -> list[frozenset[str]]:
    form, _, rest = str(facts["layout"]).partition(":")
    if form == "lines":
        lines = text.split("\n")[:-1]
        return [frozenset(item for item in line.split(rest or " ") if item) for line in lines]
    if form == "spmf":
        return [frozenset(line.split(" -1 ")[:-1]) for line in text.split("\n")[:-1]]
    rows = _csv(text)
    if form == "matrix" and not facts["items"]:
        return [frozenset()] * len(rows)
    if form == "matrix":
        return [
            frozenset(item for item, cell in zip(rows[0], row, strict=True) if cell == "1")
            for row in rows[1:]
        ]
    if form == "column":
        mark = facts.get("separator", "|")
        return [frozenset(item for item in row[0].split(mark) if item) for row in rows[1:]]
    found: dict[str, set[str]] = {}
    for name, item in rows[1:]:
        found.setdefault(name, set()).update([item] if item else [])
    return [frozenset(items) for items in found.values()]

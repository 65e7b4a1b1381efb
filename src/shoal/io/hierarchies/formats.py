"""The formats of hierarchy files, found out from their content, and read into rows or edges with line numbers.

================  ==========================================================================================
rows              one line a leaf, from the leaf to the root: ``Bachelors;Undergraduate;*`` (ARX), also with
                  commas or tabs
edges             ``child,parent``: two columns in which some name stands in both
Amnesia, text     ``distinct`` or ``range``, a header, then ``parent has child child``
Amnesia, JSON     ``{"hierType": …, "level1": {parent: [child, …]}, …}``
mosaicrown        ``{"cat": …, "subcats": [ … ]}``
================  ==========================================================================================

Nothing is judged here but the syntax; what the rows or edges say is judged in `hierarchy_check`.
"""

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from shoal.errors import BadData
from shoal.io.source import refuse_address

NULL = "(null)"
"""How Amnesia writes the missing value."""

_JSON = re.compile(r'\{\s*["}]')
_RANGE = re.compile(r"\s*(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*[,-]\s*(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")


@dataclass(frozen=True, slots=True, eq=False)
class LeafRows:
    """One row a leaf, from the leaf to the root, with the line of each."""

    cells: list[list[str]]
    lines: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """A child and its parent, again and again, with the line of each (None in formats without lines).

    In `ranges`, the lower and upper end of each name, where the names are ranges of numbers and not values.
    """

    children: list[str]
    parents: list[str]
    lines: list[int | None]
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, child: str, parent: str, line: int | None) -> None:
        """Take one more edge."""
        self.children.append(child)
        self.parents.append(parent)
        self.lines.append(line)


Parsed: TypeAlias = LeafRows | Edges


def parse(path: str | Path) -> Parsed:
    """Read a hierarchy file of any format.

    Raises `BadData` if it cannot be read, or is no hierarchy of a known format.
    """
    text = _text(Path(path))
    start = text.lstrip()
    if not start:
        raise BadData("the hierarchy file is empty; it needs one line for each value.", path=path)
    try:
        if _JSON.match(start):
            return _parse_json(text)
        if start.splitlines()[0].strip().lower() in ("distinct", "range"):
            return _parse_amnesia(text)
        return _parse_delimited(text)
    except BadData as error:
        message = error.args[0].removeprefix(f"line {error.line}: ")
        raise BadData(message, path=path, line=error.line) from None


def rows_or_edges(cells: list[list[str]], lines: list[int]) -> Parsed:
    """Take rows of cells as they are, or as edges where they have two cells and some name stands in both columns."""
    two = all(len(row) == 2 for row in cells)
    if two and [cell.lower() for cell in cells[0]] == ["child", "parent"] and len(cells) > 1:
        return _edges(cells[1:], lines[1:])
    if two:
        proper = [row for row in cells if row[0] != row[1]]
        if {child for child, _ in proper} & {parent for _, parent in proper}:
            return _edges(cells, lines)
    return LeafRows(cells, lines)


def _edges(cells: list[list[str]], lines: list[int]) -> Edges:
    return Edges([row[0] for row in cells], [row[1] for row in cells], list(lines))


def _text(path: Path) -> str:
    refuse_address(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadData("there is no such hierarchy file.", path=path) from None
    except OSError as error:
        raise BadData(f"the hierarchy file cannot be read: {error.strerror}.", path=path) from None
    if b"\0" in content:
        raise BadData("this is not a text file; save the hierarchy as CSV in UTF-8.", path=path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadData("this line is not UTF-8; save the hierarchy in UTF-8.", path=path, line=line) from None


def _parse_delimited(text: str) -> Parsed:
    ragged: LeafRows | None = None
    broken: BadData | None = None
    for separator in (";", "\t", ","):
        try:
            cells, lines = _cells(text, separator)
        except BadData as error:
            broken = broken or error
            continue
        if all(len(row) > 1 for row in cells):
            return rows_or_edges(cells, lines)
        if ragged is None and any(len(row) > 1 for row in cells):
            ragged = LeafRows(cells, lines)
    if ragged is not None:
        return ragged
    raise _no_cells(broken)


def _no_cells(broken: BadData | None) -> BadData:
    return broken or BadData(
        "a hierarchy needs a value and what stands above it on each line, separated by ;, as in "
        "Bachelors;Undergraduate;*.",
        line=1,
    )


def _cells(text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """The trimmed cells of each line that is not blank, and its number."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    cells, lines = [], []
    line = 1
    try:
        for row in reader:
            if row and not (len(row) == 1 and not row[0].strip()):
                cells.append([cell.strip() for cell in row])
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadData(
            f"the line cannot be split into cells ({error}); check its quotes.", line=line
        ) from None
    return cells, lines


def _parse_amnesia(text: str) -> Edges:
    content = list(enumerate(re.split("\r\n|\n|\r", text), start=1))
    content = content[next(place for place, (_, line) in enumerate(content) if line.strip()) :]
    kind = content[0][1].strip().lower()
    edges = Edges([], [], [])
    for number, line in content[1:]:
        words = line.split()
        if "has" in words[1:2]:
            parent, children = words[0], words[2:]
        elif not words or words[0].lower() in ("name", "type", "height"):
            _refuse_dates(kind, words, number)
            continue
        else:
            raise BadData(
                "a line of Amnesia's format says which node has which children: PARENT has CHILD CHILD. "
                "Names cannot hold blanks there; take its JSON format for such names.",
                line=number,
            )
        for child in children:
            edges.add(child, parent, number)
    return _finished(edges, kind)


def _refuse_dates(kind: str, words: list[str], line: int | None) -> None:
    if kind == "range" and [word.lower() for word in words[:2]] == ["type", "date"]:
        raise BadData(
            "ranges of dates are not read; build the hierarchy from the data with --hierarchy COLUMN=dates.",
            line=line,
        )


def _parse_json(text: str) -> Edges:
    try:
        content = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise BadData(f"the JSON cannot be read: {error.msg}.", line=error.lineno) from None
    except RecursionError:
        raise BadData("the JSON is nested too deeply.") from None
    if "cat" in content:
        return _parse_mosaicrown(content)
    if "level1" not in content:
        raise BadData(
            'this JSON is not a hierarchy of a known format; Amnesia\'s has "level1", "level2", …, and mosaicrown\'s '
            'has "cat" and "subcats".'
        )
    kind = str(content.get("hierType", "distinct")).lower()
    _refuse_dates(kind, ["type", str(content.get("type"))], None)
    edges = Edges([], [], [])
    level = 1
    while (nodes := content.get(f"level{level}")) is not None:
        for parent, children in _items(nodes, f"level{level}"):
            for child in children:
                edges.add(str(child).strip(), parent.strip(), None)
        level += 1
    return _finished(edges, kind)


def _distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise BadData(f"the JSON has {key!r} twice; each node may be listed once.")
        content[key] = value
    return content


def _items(nodes: Any, name: str) -> Iterable[tuple[str, list[Any]]]:
    if not isinstance(nodes, dict) or not all(isinstance(children, list) for children in nodes.values()):
        raise BadData(f'"{name}" must give a list of children for each node.')
    return nodes.items()


def _parse_mosaicrown(content: dict[str, Any]) -> Edges:
    edges = Edges([], [], [])
    waiting = [content]
    while waiting:
        node = waiting.pop()
        children = node.get("subcats") or []
        if not isinstance(children, list) or not all(isinstance(c, dict) and "cat" in c for c in children):
            raise BadData(f'each of the "subcats" of {node["cat"]!r} must have a "cat".')
        for child in children:
            edges.add(str(child["cat"]).strip(), str(node["cat"]).strip(), None)
        waiting += reversed(children)
    return _finished(edges, "distinct")


def _finished(edges: Edges, kind: str) -> Edges:
    """The edges of a file, checked not to be empty, the missing value and ranges put into our words."""
    if not edges.children:
        raise BadData("the hierarchy file names no value.")
    if kind != "range":
        missing = ["" if child in (NULL, "NaN") else child for child in edges.children]
        return Edges(missing, edges.parents, edges.lines)
    known: dict[str, tuple[float, float]] = {}
    for names in (edges.children, edges.parents):
        for name, line in zip(names, edges.lines, strict=True):
            if name not in known and not name.startswith((NULL, "NaN")):
                known[name] = _ends(name, line)
    texts = _range_texts(known)
    renamed = Edges([], [], [], {texts[name]: ends for name, ends in known.items()})
    for child, parent, line in zip(edges.children, edges.parents, edges.lines, strict=True):
        if child in texts:
            renamed.add(texts[child], texts[parent], line)
    return renamed


def _ends(name: str, line: int | None) -> tuple[float, float]:
    match = _RANGE.fullmatch(name)
    try:
        low, high = (float(end) for end in match.groups()) if match else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if low > high:
        raise BadData(
            f"{name!r} is not a range; a range is its two ends, the lower one first: 0,25.", line=line
        )
    return low, high


def _range_texts(ranges: dict[str, tuple[float, float]]) -> dict[str, str]:
    """Our text of each range: the upper end belongs to it unless another range starts there."""
    starts = {low for low, _ in ranges.values()}

    def plain(number: float) -> str:
        return str(int(number)) if number == int(number) else repr(number)

    return {
        name: f"[{plain(low)},{plain(high)}{')' if high in starts and high > low else ']'}"
        for name, (low, high) in ranges.items()
    }

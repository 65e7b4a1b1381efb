"""What a published cell stands for, by the syntax of cells and the owner's hierarchies alone."""

from datetime import date
from pathlib import Path
from typing import Any

Paths = dict[str, tuple[str, ...]]
"""Each value of a column with the nodes above it."""


def paths_of(tree: dict[str, Any]) -> Paths:
    """The paths of a hierarchy as run.json holds it: the texts of each level, and the parent of each node."""
    found = {}
    for place, label in enumerate(tree["labels"][0]):
        path, here = [], place
        for level, parents in enumerate(tree["parents"]):
            here = parents[here]
            path.append(tree["labels"][level + 1][here])
        found[label] = tuple(path)
    return found


def covers(cell: str, value: str, paths: Paths | None, order: list[str] | None = None) -> bool:
    """Whether a published cell may stand for a value."""
    if cell in ("*", value) or (paths is not None and value in paths and cell in paths[value]):
        return True
    if cell and not cell.strip("*"):
        return True
    if len(cell) > 1 and cell[0] == "{" and cell[-1] == "}":
        members = members_of(cell)
        return any(covers(member, value, paths, order) for member in members) or (
            "…" in members and bool(value) and members[0] <= value <= members[-1]
        )
    if len(cell) > 2 and cell[0] == "[" and cell[-1] in "])" and "," in cell:
        return any(_between(low, value, high, cell[-1], order) for low, high in _ends(cell[1:-1]))
    return _place(cell, order) is not None and _place(cell, order) == _place(value, order)


def members_of(cell: str) -> list[str]:
    r"""The members of a set; a backslash escapes ``\``, ``|``, ``{`` and ``}`` inside a member."""
    members, letters = [""], iter(cell[1:-1])
    for letter in letters:
        if letter == "|":
            members.append("")
        else:
            members[-1] += next(letters, "") if letter == "\\" else letter
    return members


def _ends(inside: str) -> list[tuple[str, str]]:
    """All ways to read the two ends of a range, since ordinal values may hold a comma."""
    parts = inside.split(",")
    return [(",".join(parts[:cut]), ",".join(parts[cut:])) for cut in range(1, len(parts))]


def _between(low: str, value: str, high: str, closing: str, order: list[str] | None) -> bool:
    first, here, last = (_place(text, order) for text in (low, value, high))
    if first is None or here is None or last is None or not type(first) is type(here) is type(last):
        return False
    return bool(first <= here and (here <= last if closing == "]" else here < last))


def _place(text: str, order: list[str] | None) -> Any:
    """The position of a value: its number, its day, or its place in the order of an ordinal column."""
    if order is not None:
        return order.index(text) if text in order else None
    try:
        return float(text) if text.strip() == text and "_" not in text else None
    except ValueError:
        pass
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def exists(folder: Path) -> bool:
    return (folder / "release" / "release.json").is_file()

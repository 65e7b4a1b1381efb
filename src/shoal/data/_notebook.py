"""HTML for notebooks: small, self-contained pieces that are readable on light and dark backgrounds.

Every text from the data is escaped, and invisible characters are replaced. What `print` shows of a release says the
same in a few lines.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from shoal.data._plain_text import counted, visible
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.groups import Group, Groups
from shoal.data.linked import Linked
from shoal.data.summary import Summary
from shoal.data.table import Table

if TYPE_CHECKING:
    from shoal.data.release import Release

ROWS = 5
"""The most published rows, baskets or groups that are shown."""

COLUMNS = 12
"""The most columns of a table that are shown."""

LETTERS = 60
"""The most characters of a text that are shown."""

FRAME = (
    "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:10px 14px;margin:4px 0;max-width:62em"
)
QUIET = "opacity:.75"
LEFT = "text-align:left;vertical-align:top"


def text(value: object, limit: int = LETTERS) -> str:
    """A text from the data as HTML: shortened, escaped, and without invisible characters.

    >>> text("<b>"), text("abcdef", 4)
    ('&lt;b&gt;', 'abc…')
    """
    plain = str(value)
    short = plain if len(plain) <= limit else plain[: limit - 1] + "…"
    return escape(
        "".join(letter if letter.isprintable() or letter == "\u00a0" else "\ufffd" for letter in short)
    )


def card(heading: str, *bodies: str) -> str:
    """A frame with a heading and contents, all of which are HTML already."""
    return f'<div style="{FRAME}"><div><strong>{heading}</strong></div>{"".join(bodies)}</div>'


def facts(pairs: Sequence[tuple[str, object]]) -> str:
    """Names and values as a table of two columns."""
    rows = "".join(
        f'<tr><th scope="row" style="{LEFT};font-weight:normal;{QUIET}">{text(name)}</th>'
        f'<td style="{LEFT}">{text(value, 300)}</td></tr>'
        for name, value in pairs
    )
    return f"<table>{rows}</table>" if rows else ""


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Rows as a table with a header, and a note below."""
    names = "".join(f'<th scope="col" style="{LEFT}">{text(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{LEFT}">{text(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    below = f'<div style="{QUIET}">{text(note, 300)}</div>' if note else ""
    return (
        f'<div style="overflow-x:auto"><table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>'
        + below
    )


def sign(holds: bool) -> str:
    """A sign and a word that say whether a promise holds."""
    return "✓ kept" if holds else "✗ broken"


def release_html(release: "Release[Any]") -> str:
    """A release: how it was made, what it promises, and the first published rows."""
    promises = [_promise(dict(promise)) for promise in release.promises] or ["nothing"]
    pairs: list[tuple[str, object]] = [
        ("promises" if not place else "", one) for place, one in enumerate(promises)
    ]
    pairs.append(("published", _size(release.data)))
    if release.suppressed:
        pairs.append(("suppressed", f"{release.suppressed:,}"))
    return card(f"Release by {text(release.method)}", facts(pairs), _preview(release.data))


def release_text(release: "Release[Any]") -> str:
    """A release in two lines: how it was made, and what it promises."""
    suppressed = f", {release.suppressed:,} suppressed" if release.suppressed else ""
    promises = "; ".join(_promise(dict(promise)) for promise in release.promises) or "nothing"
    made = f"Release by {release.method}: {_size(release.data)}{suppressed}"
    return "\n".join(map(visible, (made, f"Promised: {promises}")))


def _promise(promise: dict[str, Any]) -> str:
    name = promise.pop("model", "?")
    parameters = ", ".join(
        f"{key} = {value}" for key, value in promise.items() if value not in (None, [], (), {})
    )
    return f"{name} ({parameters})" if parameters else str(name)


def _size(data: object) -> str:
    match data:
        case Table():
            return f"{data.rows:,} rows of {len(data.columns):,} columns"
        case Dataset(schema=Table()):
            return f"{data.rows:,} rows of {len(data.schema.columns):,} columns, in parts"
        case Dataset(schema=Groups()):
            return f"{counted(data.baskets, 'baskets')} in {counted(data.rows, 'groups')}, in parts"
        case Dataset(schema=Clusters()):
            return f"{counted(data.rows, 'clusters')} of {counted(data.baskets, 'baskets')}, in parts"
        case Dataset(schema=Baskets()):
            return f"{counted(data.rows, 'baskets')} of {counted(len(data.schema.vocabulary), 'items')}, in parts"
        case Summary():
            return f"{counted(len(data), 'cells')} of {counted(len(data.tables), 'cross-tables')}"
        case Baskets():
            return f"{counted(len(data), 'baskets')} of {counted(len(data.vocabulary), 'items')}"
        case Groups():
            return f"{counted(len(data.basket_indptr) - 1, 'baskets')} in {counted(len(data), 'groups')}"
        case Linked():
            return f"{data.rows:,} rows in {len(data):,} groups with secrets of their own"
        case Clusters():
            return f"{counted(data.count, 'clusters')}{data.made_of()}"
    return repr(data)


def _preview(data: object) -> str:
    match data:
        case Table():
            return _rows(data)
        case Linked():
            return _rows(data.public) + _rows(data.secrets)
        case Baskets():
            lines = [[", ".join(data.basket(row))] for row in range(min(ROWS, len(data)))]
            return grid(["baskets"], lines, _rest(len(data), len(lines), "baskets"))
        case Groups():
            lines = [_group(data.group(place)) for place in range(min(ROWS, len(data)))]
            return grid(
                ["baskets", "first basket", "sensitive"], lines, _rest(len(data), len(lines), "groups")
            )
    return ""


def _rows(table: Table) -> str:
    columns = table.columns[:COLUMNS]
    count = min(ROWS, table.rows)
    lines = [[column.domain.labels[column.codes[row]] for column in columns] for row in range(count)]
    more = len(table.columns) - len(columns)
    notes = [_rest(table.rows, count, "rows"), f"and {more:,} more columns" if more else ""]
    return grid([column.name for column in columns], lines, "; ".join(filter(None, notes)))


def _group(group: Group) -> list[str]:
    first = group.baskets[0][:COLUMNS] if group.baskets else ()
    secrets = [f"{item}: {count:,}" for item, count in group.sensitive.items()]
    return [f"{len(group.baskets):,}", ", ".join(first), ", ".join(secrets[:COLUMNS])]


def _rest(total: int, shown: int, nouns: str) -> str:
    return f"the first {shown:,} of {total:,} {nouns}" if total > shown else ""

"""Store help pages as plain data, and draw them.

`pages.json` holds the page of every command, so that ``--help`` loads neither the parser nor the methods: `make docs`
writes it from the program, and a test fails if it is stale. A page is a list of parts: a text, or the title of a box
and its rows. A row is a name, its meaning, and what the parser adds: choices, the default, whether it is required.
"""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import IO, Any

from shoal import registry

Row = Sequence[str]
Part = str | tuple[str, Sequence[Row]]
Page = Sequence[Part]

STORED = Path(__file__).with_name("pages.json")
FLAGS = ("--help", "-h")
NAMES = 0.35
"""The share of a line that the names of options may take up."""

BOLD, CYAN, PLAIN = "\033[1m", "\033[36m", "\033[0m"
BOX = str.maketrans("╭╮╰╯─│…", "++++-|.")


def stored_pages() -> dict[str, Page]:
    """All stored pages, by the names of the command and subcommand."""
    pages: dict[str, Page] = json.loads(STORED.read_text(encoding="utf-8"))
    return pages


def stored_page(tokens: Sequence[str]) -> Page | None:
    """The stored page that a call asks for; None if there is none, or other packages add to the program."""
    if tokens and tokens[-1] not in FLAGS:
        return None
    page = stored_pages().get(" ".join(tokens[:-1]))
    return None if page is None or registry.others_add() else page


def show_page(page: Page) -> None:
    """Print a page in the width of the terminal."""
    width, color = shutil.get_terminal_size().columns, colored(sys.stdout)
    say("\n".join(drawn(part, width, color) for part in page).rstrip("\n"), sys.stdout)


def options_on(page: Page) -> set[str]:
    """The options in all boxes of a page.

    >>> sorted(options_on(["Usage: …", ("Output", [("--output -o FOLDER", "the folder", "[required]")])]))
    ['--output', '-o']
    """
    rows = [row for part in page if not isinstance(part, str) for row in part[1]]
    return {word for row in rows for word in row[0].split() if word.startswith("-")}


def say(text: str, file: IO[str]) -> None:
    """Print a text, with characters replaced that the encoding of the file lacks."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    if not encoding.lower().startswith("utf"):
        text = text.translate(BOX).encode(encoding, "replace").decode(encoding)
    print(text, file=file)


def colored(file: IO[str]) -> bool:
    """Whether a file is a terminal that shows colors."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("dumb", "unknown")
    return file.isatty() and os.name == "posix" and not plain


def drawn(part: Part, width: int, color: bool = False) -> str:
    r"""Draw a part of a page as lines: a text that ends in an empty line, or a box.

    >>> print(drawn("One two three.\n\n  as it is", 8))
    One two
    three.
    <BLANKLINE>
      as it is
    <BLANKLINE>
    >>> print(drawn(("Output", [("INPUT", "a file", "[required]"), ("-o FOLDER", "", "")]), 28))
    ╭─ Output ─────────────────╮
    │ *  INPUT      a file     │
    │               [required] │
    │    -o FOLDER             │
    ╰──────────────────────────╯
    """
    if isinstance(part, str):
        lines = [line for text in part.split("\n") for line in wrapped(text, width)]
        if color and part.startswith("Usage:"):
            lines[0] = f"{BOLD}{lines[0]}{PLAIN}"
        return "\n".join((*lines, ""))
    title, rows = part
    marked = any(required(row) for row in rows)
    names = [labels(row[0], max(int(-(-width * NAMES // 1)), 8)) for row in rows]
    wide = max((len(line) for lines in names for line in lines), default=0)
    left = wide + 3 * marked + 2
    room = max(width - 4 - left, 10)
    lines = [f"╭─ {title} ".ljust(left + room + 3, "─") + "╮"]
    for row, name in zip(rows, names, strict=True):
        texts = wrapped(" ".join(filter(None, row[1:])), room)
        for place in range(max(len(name), len(texts))):
            label = name[place] if place < len(name) else ""
            text = texts[place] if place < len(texts) else ""
            mark = ("*  " if required(row) and not place else "   ") if marked else ""
            shown = f"{CYAN}{label:<{wide}}{PLAIN}" if color else f"{label:<{wide}}"
            lines.append(f"│ {mark}{shown}  {text:<{room}} │")
    return "\n".join((*lines, "╰" + "─" * (left + room + 2) + "╯"))


def required(row: Row) -> bool:
    """Whether the argument in a row must be given."""
    return row[2].endswith("[required]")


def labels(text: str, width: int) -> list[str]:
    """Wrap the names of an option to lines of a given width."""
    return wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a paragraph to lines; one that begins with blanks, as commands do, stays as it is."""
    return [text] if text.startswith(" ") else wrap(text, width, break_on_hyphens=False) or [""]


TEXT_WORDS = {
    "also": "FORMAT,…",
    "anonymize_with": "METHOD",
    "baskets": "LAYOUT",
    "data_use": "TEXT",
    "decimal": "SIGN",
    "encoding": "NAME",
    "entity": "COLUMN",
    "improve_steps": "N,…",
    "item_separator": "TEXT",
    "items": "COLUMN",
    "items_from": "FILE:KEY,ITEM",
    "license": "TEXT",
    "link": "FILE:KEY",
    "master": "ADDRESS",
    "memory": "SIZE",
    "population": "FILE",
    "query": "SQL",
    "separator": "CHARACTER",
    "sheet": "NAME",
    "title": "TEXT",
    "to": "ADDRESS",
    "value_map": "FILE",
    "who": "COLUMN",
}
SHARES = ("suppression_limit", "sample_fraction", "unique_share", "public_share", "private_below")
NUMBER_WORDS = {"improve": "SECONDS", "time_limit": "SECONDS", **dict.fromkeys(SHARES, "SHARE")}
"""`TEXT_WORDS`, `NUMBER_WORDS`: what stands for the value of a field on a help page, where its name is not enough."""


def value_word(name: str, kind: Any) -> str | None:
    """The word for the value of a field; None where the parser knows: choices, flags and lists of names.

    >>> value_word("k", int), value_word("improve", float), value_word("entity", str), value_word("quasi", list)
    ('N', 'SECONDS', 'COLUMN', None)
    """
    if kind is int:
        return "N"
    if kind is float:
        return NUMBER_WORDS.get(name, "NUMBER")
    return TEXT_WORDS.get(name, name.upper() if kind is str else None)

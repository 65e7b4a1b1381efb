"""The naive twin of reading and encoding delimited text: the standard library's reader, one cell at a time."""

import csv
import io
import re
from datetime import date
from decimal import Decimal

NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def rows_of(text: str, separator: str) -> list[list[str]]:
    """The rows, including the header, without blank lines at the end."""
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    while rows and not rows[-1]:
        rows.pop()
    return rows


def kind_of(texts: list[str]) -> str:
    """The kind of the texts of a column, missing ones left out."""
    if texts and all(NUMBER.fullmatch(text) for text in texts):
        exact = {Decimal(text) for text in texts}
        finite = all(abs(float(text)) < float("inf") for text in texts)
        small = all(abs(Decimal(text)) <= 2**53 for text in texts if text.lstrip("-").isdigit())
        if finite and small and len({float(number) + 0.0 for number in exact}) == len(exact):
            return "numeric"
    if texts and any(all(is_date(text, mark) for text in texts) for mark in "-/."):
        return "date"
    return "nominal"


def is_date(text: str, mark: str) -> bool:
    parts = text.split(mark)
    if mark == ".":
        parts = [part.zfill(2) if part else part for part in parts[::-1]]
    if [len(part) for part in parts] != [4, 2, 2] or not all(
        part.isascii() and part.isdigit() for part in parts
    ):
        return False
    try:
        date(*map(int, parts))
    except ValueError:
        return False
    return True


def encode(cells: list[str], missing: tuple[str, ...]) -> tuple[str, list[str], list[int]]:
    """Kind, labels and codes of a column."""
    trimmed = [cell.strip() for cell in cells]
    present = [cell for cell in trimmed if cell and cell not in missing]
    kind = kind_of(present)

    def key(text: str) -> object:
        if kind == "numeric":
            return float(text)
        if kind == "date" and "." in text:
            return "-".join(part.zfill(2) for part in text.split(".")[::-1])
        return text.replace("/", "-") if kind == "date" else text

    label: dict[object, str] = {}
    for text in sorted(set(present), key=lambda text: ("e" in text.lower(), len(text), text)):
        label.setdefault(key(text), text)
    order = sorted(label)
    labels = [label[value] for value in order] + ([""] if len(present) < len(trimmed) else [])
    codes = [order.index(key(text)) if text and text not in missing else len(order) for text in trimmed]
    return kind, labels, codes

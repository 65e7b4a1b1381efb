"""What stands for the value of an option on a help page: ``--improve SECONDS``."""

from typing import Any

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

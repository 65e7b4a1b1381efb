"""Translate command-line options in messages into Python parameters, and old names into new ones.

The code writes options in messages as they are typed (``--quasi``, ``--k 10``). The command line shows them so; in
Python the same message names parameters (``quasi``, ``k=10``).
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

TERMINAL = "SHOAL_TERMINAL"
"""Environment variable that is set while the command line runs; the processes that it starts inherit it."""

READING = frozenset(
    [
        "separator",
        "missing",
        "drop-missing",
        "encoding",
        "decimal",
        "date-format",
        "query",
        "sheet",
        "kind",
        "normalize",
        "published",
    ]
)
"""Options that are fields of `Reading`."""

OTHERWISE = {
    "hierarchy": "hierarchies",
    "kind": "kinds",
    "weight": "weights",
    "format": "table_format",
    "date-format": "date_formats",
}
"""Options whose parameters have other names; options that take pairs are dictionaries."""

STEPS = {
    "top-coding": "top",
    "bottom-coding": "bottom",
    "rounding": "round",
    "microaggregation": "microaggregate",
}
"""Preparation steps whose options have other names."""

SWITCHES = frozenset({"force", "safe-cells"})
"""Options without a value whose parameters need one in Python."""

WORDED = (
    "algorithm|anonymize-with|antecedent|baskets|distance|engine|format|form|items-from|link|model|normalize|others|"
    "partitioning|pick|scope|strategy"
)
"""Options whose value may be a word. A word after any other option is not its value."""

VERBS = "(?:has|is|are|does|joins|and|or|to|too|away)"
"""Words that are never the value of an option."""

CALLS = {
    "`shoal anonymize … -o`": "`Run.write`",
    "`shoal convert INPUT KEPT --drop-only ITEMS`": (
        "`shoal.io.baskets.conversion.convert_baskets(INPUT, KEPT, drop_only=ITEMS)`"
    ),
    "`shoal convert INPUT KEPT --most-items 20`": (
        "`shoal.io.baskets.conversion.convert_baskets(INPUT, KEPT, most_items=20)`"
    ),
}
"""Commands that are called otherwise in Python."""

_VALUE = r"""(?:[^\s,;)"'`]|,(?=\S))*[^\s,;:.)"'`]"""
_OPTION = re.compile(
    rf"""(?<![\w'"-])(?P<quote>`?)--
    (?:(?P<worded>{WORDED})[ ](?!{VERBS}\b)(?P<word>[a-z](?:{_VALUE})?)
      |(?P<name>[a-z][a-z0-9-]*[a-z0-9]|[a-z])\b(?!-)
       (?:[ ](?P<pair>'[^'=]+=[^']+'|[^\s,;=()']+={_VALUE})
         |[ ](?P<text>"[^"]*"|\d+(?:\.\d+)?(?![\w%]))
         |[ ](?P<open>[A-Z]{{2,}}\b|…))?)
    (?P<next>[ ](?=--[a-z]))?""",
    re.VERBOSE,
)
_VERB = re.compile(r"`shoal (inspect|measure|verify|recommend|compare)`")


@contextmanager
def as_typed() -> Iterator[None]:
    """Leave options in messages as they are typed, while the command line runs."""
    before = os.environ.get(TERMINAL)
    os.environ[TERMINAL] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[TERMINAL]
        else:
            os.environ[TERMINAL] = before


def spoken(text: str) -> str:
    """A message for its reader: with options on the command line, with parameters in Python."""
    return (
        text if os.environ.get(TERMINAL) or ("--" not in text and "`shoal " not in text) else in_python(text)
    )


def in_python(text: str) -> str:
    """Replace the options in a message by Python parameters.

    >>> in_python("Nothing is promised: say --k 10 --l 3, or name columns with --quasi.")
    'Nothing is promised: say k=10, l=3, or name columns with `quasi`.'
    >>> in_python("use --engine stream, --others drop, or --hierarchy age=suppress")
    "use engine=shoal.engines.Stream(), others='drop', or hierarchies={'age': 'suppress'}"
    >>> in_python("name it as missing (--missing), or say --kind zip=nominal")
    "name it as missing (reading=shoal.Reading(missing=…)), or say reading=shoal.Reading(kinds={'zip': 'nominal'})"
    >>> in_python("There is no item '--quasi'.")
    "There is no item '--quasi'."
    """
    for typed, called in CALLS.items():
        text = text.replace(typed, called)
    return _VERB.sub(r"`shoal.\1(…)`", _OPTION.sub(_parameter, text))


def _parameter(found: re.Match[str]) -> str:
    name, value = found["worded"] or found["name"], found["text"] or (found["open"] and "…")
    field = OTHERWISE.get(name, name).replace("-", "_")
    if found["pair"] is not None:
        key, _, part = found["pair"].strip("'").partition("=")
        value = f"{{{key!r}: {part!r}}}"
    elif name == "engine" and found["word"] is not None:
        value = f"shoal.engines.{found['word'].capitalize()}()"
    elif found["word"] is not None:
        value = repr([found["word"]] if name == "normalize" else found["word"])
    if name == "model" and value is not None:
        field, value = "promises", "[…]" if value == "…" else f"[{{'model': {value}}}]"
    if name in SWITCHES:
        value = "True"
    if name in READING:
        field, value = "reading", f"shoal.Reading({field}={value or '…'})"
    quote, after = found["quote"], ", " if found["next"] else ""
    if value is None:
        return f"`{field}{'' if quote else '`'}{after}"
    return f"{quote}{field}={value}{after}"


RENAMED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "method": {
        "rule-hiding": ("table-rule-hiding",),
        "hide-rules": ("basket-rule-hiding",),
    },
    "measure": {
        "generalised-items": ("generalized-items",),
    },
    "score": {
        "generalised_occurrences": ("generalized_occurrences",),
    },
    "parameter": {
        "item_hierarchy": ("hierarchy items=FILE",),
        "minimize": ("objective",),
        "choose": ("split", "objective"),
        "seconds": ("time_limit",),
        "suppression": ("suppression_limit",),
    },
}
"""By family: each old name, and its new ones, of which a command, a method or a recipe has at most one.

Options of the command line count as parameters, with underscores for hyphens. A new option may be shown with the
beginning of its value.
"""

SHARES = {"max_suppressed": "suppression_limit"}
"""Parameters that take whole numbers and once also took shares, with the parameter that takes a share now."""


def new_name(kind: str, old: str, known: Iterable[str]) -> str | None:
    """The new name for an old one, if it is among the known names.

    >>> new_name("parameter", "suppression", ["k", "suppression_limit"])
    'suppression_limit'
    >>> new_name("method, model or measure", "hide-rules", ["lattice"]) is None
    True

    `kind`: what is named, in words; the families among them are searched.
    """
    names, families = set(known), re.findall(r"\w+", kind)
    news = (new for family in families for new in RENAMED.get(family, {}).get(old, ()))
    return next((new for new in news if new.split()[0] in names), None)


def new_option(option: str, known: Iterable[str]) -> str | None:
    """The new name for an old command-line option, if it is among the known options.

    >>> new_option("--suppression", ["--k", "--suppression-limit"])
    '--suppression-limit'
    """
    fields = [name.removeprefix("--").replace("-", "_") for name in known]
    found = new_name("parameter", option.removeprefix("--").replace("-", "_"), fields)
    return None if found is None else f"--{found.replace('_', '-')}"


def share_instead(parameter: str, value: object) -> str:
    """A hint for a share that was given where a whole number is needed; empty if the value is no share.

    >>> share_instead("max_suppressed", "0.02"), share_instead("k", "0.02"), share_instead("max_suppressed", "few")
    ('for a share, use suppression_limit', '', '')
    """
    try:
        share = 0 < float(str(value)) < 1
    except ValueError:
        return ""
    return f"for a share, use {SHARES[parameter]}" if share and parameter in SHARES else ""

"""Old names and the new ones: whoever uses an old one is told what it is called now."""

import re
from collections.abc import Iterable, Mapping

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
"""By family: an old name, and the new ones, of which a command, a method or a recipe has at most one.

Options of the command line are parameters with hyphens. A new option may be shown with the beginning of its value.
"""

SHARES = {"max_suppressed": "suppression_limit"}
"""Parameters that are whole numbers and once took shares too, and what takes a share now."""


def new_name(kind: str, old: str, known: Iterable[str]) -> str | None:
    """What an old name is called now, where the new one is known.

    >>> new_name("parameter", "suppression", ["k", "suppression_limit"])
    'suppression_limit'
    >>> new_name("method, model or measure", "hide-rules", ["lattice"]) is None
    True

    `kind`: what is named, in words: those that are families are looked at.
    """
    names, families = set(known), re.findall(r"\w+", kind)
    news = (new for family in families for new in RENAMED.get(family, {}).get(old, ()))
    return next((new for new in news if new.split()[0] in names), None)


def new_option(option: str, known: Iterable[str]) -> str | None:
    """What an old option of the command line is called now, where the new one is known.

    >>> new_option("--suppression", ["--k", "--suppression-limit"])
    '--suppression-limit'
    """
    fields = [name.removeprefix("--").replace("-", "_") for name in known]
    found = new_name("parameter", option.removeprefix("--").replace("-", "_"), fields)
    return None if found is None else f"--{found.replace('_', '-')}"


def share_instead(parameter: str, value: object) -> str:
    """The hint for a share that is given where only a whole number fits; nothing where it is none.

    >>> share_instead("max_suppressed", "0.02"), share_instead("k", "0.02"), share_instead("max_suppressed", "few")
    ('for a share, use suppression_limit', '', '')
    """
    try:
        share = 0 < float(str(value)) < 1
    except ValueError:
        return ""
    return f"for a share, use {SHARES[parameter]}" if share and parameter in SHARES else ""

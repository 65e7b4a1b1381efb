"""Messages of the command line in the words of the page: where to click instead of what to type."""

import re

from shoal.engines.protocol import engines_here

PLACES = {
    **dict.fromkeys(
        (
            "missing",
            "kind",
            "names",
            "separator",
            "encoding",
            "decimal",
            "date-format",
            "drop-missing",
            "baskets",
        ),
        "Data",
    ),
    **dict.fromkeys(("quasi", "sensitive", "insensitive", "identifying", "entity", "items"), "Roles"),
    **dict.fromkeys(("others", "insist", "sensitive-items", "insensitive-items"), "Roles"),
    **dict.fromkeys(("hierarchy", "hierarchies"), "Hierarchies"),
    **dict.fromkeys(("k", "l", "m", "p", "h", "t", "c", "alpha", "beta", "delta", "model"), "Promise"),
    **dict.fromkeys(("entropy-l", "max-risk", "k-map", "presence", "population", "confidence"), "Promise"),
}
"""The step where an option is set; options that are not listed are settings of the method."""

ENGINES = {name: f"“{kind.place}”" for name, kind in engines_here().items()}

_VALUE = r"""(?:'[^']*'|"[^"]*"|[^\s,;:()'"]*[^\s,;:.()'"])"""
_WORD = rf"(?:\d+(?:\.\d+)?|[A-Z]{{2,}}|{'|'.join(ENGINES)}|drop|insensitive|none)"
_PAIR = rf"""(?:'[^'=]+=[^']*'|[^\s,;=()']+={_VALUE})"""
_OPTION = re.compile(
    rf"""(?<![\w'"-])`?(?P<with>with[ ])?(?P<open>\()?--(?P<name>[a-z][a-z-]*[a-z]|[a-z])\b(?!-)
    (?:[ ](?P<pair>{_PAIR})|[ ](?P<value>{_WORD})(?![\w%]))?`?""",
    re.VERBOSE,
)
_COLUMN = re.compile(
    r"(?P<with>with )?(?P<open>\()?--(?P<name>insist|identifying) (?P<column>[^\s,;()]*[^\s,;.()])"
)
_SEE = re.compile(r"\s*\(see `shoal [^`]*`\)")
PHRASES = (
    ("make it quasi.", "make it Known in Roles."),
    ("the quasi-identifiers alone", "the known columns alone"),
    ("The quasi-identifier ", "The known column "),
)


def page_words(text: str) -> str:
    """A message of the command line in the words of the page.

    >>> page_words("Say --missing age=999, or --kind age=numeric.")
    'Say age=999 among the texts that mean “missing” (in Data), or that age is numeric (in Data).'
    >>> page_words("Make it identifying (--identifying id), or say --insist id if others know it.")
    'Make it identifying (in Roles), or say that you insist (in Roles) if others know it.'
    >>> page_words("name those with --quasi, promise less (--k 5), or use --engine local.")
    'name those in Roles, promise less (k 5, in Promise), or use “in memory” (in Method).'
    >>> page_words("The hierarchy is too coarse (see `shoal hierarchy`).")
    'The hierarchy is too coarse.'
    """
    if "--" in text or "`shoal " in text:
        text = _SEE.sub("", _OPTION.sub(_place, _COLUMN.sub(_column, text)))
    for typed, shown in PHRASES:
        text = text.replace(typed, shown)
    return text


def _column(found: re.Match[str]) -> str:
    if found["open"]:
        return "(in Roles"
    if found["with"] or found["name"] == "identifying":
        return f"that {found['column']} is identifying (in Roles)"
    return "that you insist (in Roles)"


def _place(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    place = f"in {PLACES.get(name, 'Method')}"
    if found["pair"] is not None:
        key, _, part = found["pair"].strip("'").partition("=")
        said = {
            "missing": f"{key}={part} among the texts that mean “missing”",
            "kind": f"that {key} is {part}",
            "hierarchy": f"a hierarchy of {key}",
        }.get(name, f"{name.replace('-', ' ')} {key} = {part}")
        return f"{said} ({place})"
    if name in (
        "quasi",
        "sensitive",
        "insensitive",
        "identifying",
        "hierarchy",
        "missing",
        "population",
        "model",
    ):
        return place if found["with"] else f"({place}" if found["open"] else f"{name} ({place})"
    said = {"engine": ENGINES.get(value or "", ""), "others": "a role for every column"}.get(name, "")
    said = said or " ".join([name.replace("-", " "), *([value] if value else [])])
    if found["open"]:
        return f"({said}, {place}"
    return f"{found['with'] or ''}{said} ({place})"

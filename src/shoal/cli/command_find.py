"""``shoal find``: see what a neighbor finds in a release, and why cells are as coarse as they are."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.attacking import explain
from shoal.attacking import find as find_in_folder
from shoal.attacks._find import Found
from shoal.cli import show
from shoal.cli.command_anonymize import Json, first_example
from shoal.cli.options import list_option, single, whole
from shoal.data._plain_text import counted, singular
from shoal.errors import WrongUse

EXAMPLE = """{first}
  shoal find out --known age=39"""

LINES = 10
"""The most guesses and rows that are shown."""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("find", find, lambda: EXAMPLE.format(first=first_example()))


def find(
    folder: Annotated[str, Parameter(help="the folder of a release")],
    /,
    *,
    known: Annotated[
        tuple[str, ...],
        list_option(
            "what a neighbor knows: columns as NAME=VALUE, or items of a basket", metavar="NAME=VALUE,…"
        ),
    ] = (),
    row: Annotated[
        int | None,
        Parameter(
            help="explain the cells of this row of the original, the first being 1",
            converter=whole,
            metavar="N",
        ),
    ] = None,
    original: Annotated[
        str | None, Parameter(help="with --row: the data that the release was made from", metavar="INPUT")
    ] = None,
    json: Json = False,
) -> None:
    """Find somebody in a release, or explain the cells of one row.

    With --known: how many published rows fit what a neighbor knows, the chance to pick the right one, and the best
    guess of each secret beside its control, which is how likely it is for people like that in all. With --row, for the
    owner of the data: the class of that row, its size, and the nearest finer cut with the promise that it breaks.
    """
    if (row is None) == (not known):
        raise WrongUse(
            "Say what is known of somebody with --known, or name a row of the original with --row."
        )
    if row is not None and original is None:
        raise WrongUse("--row needs the original: add --original INPUT.")
    with show.progress(json) as stage:
        stage("searching")
        found = find_in_folder(folder, known) if row is None else explain(folder, original, row - 1)
    if json:
        show.as_json(found.as_dict())
    else:
        lines(found) if isinstance(found, Found) else show.line(found.sentence())


def _places(found: Found) -> str:
    """Where the first matches are in the published data: ``Rows 3, 8``."""
    what = singular(found.places) if len(found.rows) == 1 else found.places
    more = ", …" if len(found.rows) > LINES else ""
    return f"{what.capitalize()} {', '.join(map(str, found.rows[:LINES]))}{more}"


def lines(found: Found) -> None:
    """Show what fits, in words."""
    if not found.matches:
        odd = [f"no published cell of {name} fits {text!r}" for name, text in found.unfit.items()]
        show.line(f"Nothing in the release fits{': ' if odd else ''}{', '.join(odd)}.")
        return
    fit = f"{counted(found.matches, f'published {found.noun}')} {'fits' if found.matches == 1 else 'fit'}"
    show.line(f"{fit}: the chance to pick the right one is 1 in {found.matches:,}.")
    if found.rows:
        show.line(f"{_places(found)} of the published data.")
    if found.guess:
        ranked = sorted(found.guess.items(), key=lambda pair: -pair[1].share)[:LINES]
        rows = [(name, one.value, f"{one.share:.1%}", f"{one.control:.1%}") for name, one in ranked]
        show.grid(rows, ["secret", "best guess", "share", "control"])

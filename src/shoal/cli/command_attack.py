"""``shoal attack``: see what others could still learn from a release."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.attacking import as_plain
from shoal.attacking import attack as attack_folder
from shoal.attacks.attack import Attacked
from shoal.cli import show
from shoal.cli.command_anonymize import OUTPUT, Json, first_example
from shoal.cli.options import list_option, number_option, single, to_seed, whole

EXAMPLE = """{first}
  shoal attack out --original people.csv --holdout 0.1"""

HEAD = ("attack", "success", "interval", "baseline", "control", "residual", "people")


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("attack", attack, lambda: EXAMPLE.format(first=first_example()))


def attack(
    folder: Annotated[str, Parameter(help="a folder made by `shoal anonymize`, with its run.json")],
    /,
    *,
    original: Annotated[str, Parameter(help="the data that the release was made from", metavar="INPUT")],
    control: Annotated[
        str | None, Parameter(help="people of the same kind who are not in the release", metavar="FILE")
    ] = None,
    holdout: Annotated[
        float | None,
        Parameter(
            help="repeat the run without this share of the people, and attack that release", metavar="SHARE"
        ),
    ] = None,
    other: Annotated[
        str | None,
        Parameter(help="the folder of another release about some of the same people", metavar="OUT2"),
    ] = None,
    attacks: Annotated[tuple[str, ...], list_option("only these attacks; `shoal methods` lists them")] = (),
    people: Annotated[
        int | None,
        Parameter(help="how many people are tried at most; 2,000 by default", converter=whole, metavar="N"),
    ] = None,
    seed: Annotated[
        int | None,
        number_option(
            "draw other people than by default, the same ones for the same seed",
            group=OUTPUT,
            converter=to_seed,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Attack a release, to see what others could still learn.

    This is for the owner of the data, before publishing: whether an adversary is right is checked against the
    original. Success alone says little. The baseline is a plain guess, the control what is learned about people who
    are not in the release, and the residual what is left of the way from the control to certainty. With --holdout the
    same recipe runs again without some of the people, so that the method is measured and not this very release.
    """
    with show.progress(json) as stage:
        stage("attacking")
        found = attack_folder(
            folder,
            original,
            control=control,
            holdout=holdout,
            other=other,
            attacks=attacks or None,
            people=people,
            seed=seed or 0,
        )
    show.as_json(as_plain(found)) if json else lines(found, holdout)


def lines(found: Mapping[str, Attacked], holdout: float | None) -> None:
    """Show a line for each attack, and what it means."""
    if not found:
        show.line("No attack has anything to work on in this release.")
        return
    show.grid([_row(name, one) for name, one in found.items()], HEAD)
    show.line()
    for name, one in found.items():
        show.line(f"{name}: {one.sentence}")
    if holdout is not None:
        show.line(
            f"Measured on a release of the same recipe without {holdout:.0%} of the people: this is about the method."
        )


def _row(name: str, one: Attacked) -> tuple[object, ...]:
    low, high = one.interval
    shares = (one.baseline, one.control, one.residual)
    return (
        name,
        f"{one.success:.1%}",
        f"{low:.1%} to {high:.1%}",
        *(f"{share:.1%}" for share in shares),
        one.people,
    )

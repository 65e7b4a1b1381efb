"""All attacks that have something to work on in a release."""

from collections.abc import Sequence

from shoal import registry
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.errors import WrongUse


def attack_all(
    target: Target, names: Sequence[str] | None = None, *, people: int | None = None, seed: int = 0
) -> dict[str, Attacked]:
    """Run attacks on a target, all that fit its form unless told; what finds nothing to work on is left out.

    Raises
    ------
    WrongUse
        If an attack that is asked for by name does not fit, or has nothing to work on.
    """
    options = {"seed": seed} | ({} if people is None else {"people": people})
    kinds = (
        registry.load_all("attack")
        if names is None
        else {name: registry.load("attack", name) for name in names}
    )
    found = {}
    for name, kind in kinds.items():
        one: Attack = kind(**options)
        result = one.run(target) if isinstance(target.release.data, one.accepts) else None
        if result is not None:
            found[name] = result
        elif names is not None:
            raise WrongUse(
                f"The attack {name} has nothing to work on in this release; it is about "
                f"{' and '.join(form.__name__.lower() for form in one.accepts)}. {_needs(name)}"
            )
    return found


def _needs(name: str) -> str:
    needed = {"intersection": "It needs --other.", "membership": "It needs --control or --holdout."}
    return needed.get(name, "Leave it out.")

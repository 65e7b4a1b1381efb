"""All attacks that have something to work on in a release."""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal import registry
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.engines.protocol import Engine
from shoal.errors import BrokenPromise, WrongUse
from shoal.models._matching import shared_readers
from shoal.progress import part


def attack_all(
    target: Target,
    names: Sequence[str] | None = None,
    *,
    people: int | None = None,
    seed: int = 0,
    strict: bool = True,
) -> dict[str, Attacked]:
    """Run attacks on a target, by default all that fit its form; what finds nothing to work on is left out.

    `strict`: whether what is asked for by name must have something to work on. Raises `WrongUse` if an attack that is
    asked for by name does not fit, or has nothing to work on.
    """
    options = {"seed": seed} | ({} if people is None else {"people": people})
    kinds = (
        registry.load_all("attack")
        if names is None
        else {name: registry.load("attack", name) for name in names}
    )
    fitting = [name for name, kind in kinds.items() if isinstance(target.release.data, kind.accepts)]
    found = {}
    for name, kind in kinds.items():
        one: Attack = kind(**options)
        result = None
        if name in fitting:
            place = f"{fitting.index(name) + 1} of {len(fitting)}"
            with part(f"{name}, {place}"), shared_readers():
                result = one.run(target)
        if result is not None:
            found[name] = result
        elif names is not None and strict:
            raise WrongUse(
                f"The attack {name} has nothing to work on in this release: it is about {_forms(one)}. "
                f"{NEEDS.get(name, 'Leave it out')}."
            )
    return found


NEEDS = {"intersection": "It needs --other", "membership": "It needs --control or --holdout"}
"""What an attack needs beside the release and its original."""


def _forms(attack: Attack) -> str:
    """The forms that an attack is about, in words."""
    words = [
        {"Table": "tables", "Linked": "linked tables"}.get(form.__name__, form.__name__.lower())
        for form in attack.accepts
    ]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def refuse_limits(limits: Mapping[str, float], engine: type[Engine]) -> None:
    """Refuse limits of risk that no attack could be held to, before anything is read."""
    for name, limit in limits.items():
        registry.load("attack", name)
        if not 0 <= limit <= 1:
            raise WrongUse(f"The largest residual risk of {name} must be between 0 and 1, not {limit:g}.")
        if name in NEEDS:
            raise WrongUse(
                f"--max-risk cannot limit {name}, which needs more than the release and its original; use "
                "`shoal attack` afterwards."
            )
    if limits and not engine.in_memory:
        raise WrongUse(
            "--max-risk attacks the release in memory; use --engine local, or `shoal attack` afterwards."
        )


def refuse_risky(target: Target, limits: Mapping[str, float]) -> dict[str, Attacked]:
    """Run the attacks that a limit is set for.

    Raises `BrokenPromise` if a residual risk is above its limit: such a release must not be written.
    """
    found = attack_all(target, list(limits))
    for name, one in found.items():
        if one.residual > limits[name]:
            raise BrokenPromise(
                f"The attack {name} leaves a residual risk of {one.residual:.4g}, and at most {limits[name]:g} was "
                f"allowed. {one.sentence} Promise more, or allow more. Nothing was written."
            )
    return found


def within_limits(risks: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What attacks left that a limit was set for, a sentence each."""
    return tuple(
        f"{name}: a residual risk of {one['residual']:.4g} is left, and at most {one['limit']:g} was allowed."
        for name, one in risks.items()
    )

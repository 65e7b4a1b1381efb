"""Options of the preparation: one for each registered step, and those that several share."""

import inspect
from typing import Annotated, Any

from cyclopts import Parameter

from shoal import registry
from shoal.cli.options import GROUPS, number_option, text_option
from shoal.preparation.transform import Transform

GROUP = GROUPS["Preparation"]

SHARED = {
    "key": (str, text_option("file of the secret key; made where there is none", "FILE")),
    "person": (str, text_option("column of the person's number; the entity by default", "COLUMN")),
    "shift_days": (
        int,
        number_option("the largest shift of dates, in days: 182 by default", show_default=False),
    ),
}
"""Options that belong to steps: their types and how they are shown."""


class Preparing:
    """What is done to columns before the method, as a part of a command."""

    def __init__(self) -> None:
        self._kinds: dict[str, type[Transform]] = {
            kind.option.replace("-", "_"): kind for kind in registry.load_all("transform").values()
        }

    def parameters(self) -> list[inspect.Parameter]:
        """One keyword for each step, and one for each shared option."""
        steps = [
            _keyword(
                name,
                tuple[str, ...],
                (),
                Parameter(help=kind.help, metavar=kind.metavar, negative="", show_default=False),
            )
            for name, kind in self._kinds.items()
        ]
        return steps + [_keyword(name, kind | None, None, option) for name, (kind, option) in SHARED.items()]

    def built(self, given: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """The steps of what the user gave, as a recipe has them, taken out of `given`."""
        shared = {name: given.pop(name, None) for name in SHARED}
        shared["days"] = shared.pop("shift_days")
        typed = {kind: given.pop(name, ()) for name, kind in self._kinds.items()}
        return tuple(step for kind, texts in typed.items() if texts for step in kind.typed(texts, shared))


def _keyword(name: str, kind: Any, default: Any, option: Parameter) -> inspect.Parameter:
    shown = Parameter.combine(option, Parameter(group=GROUP))
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown]
    )

"""The promises of a release as models."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from shoal import registry
from shoal.errors import BadData
from shoal.models.model import Model


def promised(promises: Iterable[Mapping[str, Any]], suppressed: int | None = None) -> list[Model]:
    """The models that a release names.

    Parameters
    ----------
    suppressed
        How many rows the release left out, where it is known: values that promises name may be gone with them.

    Raises
    ------
    BadData
        If there is no such model, a parameter is out of its range or of another kind, or something is left open that
        only the release can tell: somebody edited the file, as no method promises such a thing.
    """
    models = [_model(promise) for promise in promises]
    return [model.of_everything() if suppressed == 0 else model for model in models]


def _model(promise: Mapping[str, Any]) -> Model:
    name = promise["model"]
    if name not in registry.MODELS:
        near = get_close_matches(name, registry.MODELS)
        meant = f"; near names are {', '.join(near)}" if near else ""
        raise BadData(
            f"release.json: the promise {name}: there is no such model{meant}. Correct the file, update Shoal, or "
            "install the package that brings the model."
        )
    plain = json.dumps({key: value for key, value in promise.items() if key != "model"}, default=_plain)
    try:
        # As the file says it: a text is no number there.
        made: Model = registry.load("model", name).model_validate_json(plain, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its parameters"
        told = "is missing" if first["type"] == "missing" else f"cannot be {first['input']!r}"
        raise BadData(
            f"release.json: the promise {name}: {where} {told} ({first['msg']}). Publish the release again, or "
            "correct the file."
        ) from error
    made.refuse_vague()
    return made


def _plain(value: Any) -> Any:
    """Numbers of numpy and fractions as release.json has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)

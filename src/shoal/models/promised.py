"""The promises of a release as models."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from shoal import registry
from shoal.errors import BadData
from shoal.models.model import Model


def promised(promises: Iterable[Mapping[str, Any]]) -> list[Model]:
    """The models that a release names.

    Raises
    ------
    BadData
        If a parameter is out of its range: somebody edited the file, as no method promises such a thing.
    """
    return [_model(promise) for promise in promises]


def _model(promise: Mapping[str, Any]) -> Model:
    name = promise["model"]
    try:
        made: Model = registry.load("model", name).from_promise(dict(promise))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its parameters"
        told = "is missing" if first["type"] == "missing" else f"cannot be {first['input']!r}"
        raise BadData(
            f"release.json: the promise {name}: {where} {told} ({first['msg']}). Publish the release again, or "
            "correct the file."
        ) from error
    return made

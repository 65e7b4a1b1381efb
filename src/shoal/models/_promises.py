"""What is promised, as it is said: short forms such as ``k=10``, models, and models as plain data."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationError,
    model_validator,
)

from shoal import registry
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.models._matching import PopulationModel
from shoal.models.model import Model, TableModel
from shoal.parameters import Parameters


def _as_model(promise: Any) -> Any:
    """A model from plain data: ``{"model": "k-anonymity", "k": 10}``; a model stays what it is."""
    if isinstance(promise, Mapping) and "model" in promise:
        return registry.load("model", promise["model"]).from_promise(dict(promise))
    return promise


PROMISE = (BeforeValidator(_as_model), PlainSerializer(Model.as_promise))
"""A promise as a parameter: a model in Python, a table with its name under ``model`` in a recipe."""


class Promises(Parameters):
    """What is promised.

    The short forms are about tables, and each make one promise about every sensitive column; `promises` takes models
    with all their parameters, of any form.
    """

    k: int | None = Field(
        default=None, ge=2, description="least number of rows (or persons) of a class (k-anonymity)"
    )
    l: int | None = Field(  # noqa: E741
        default=None, ge=2, description="least number of different sensitive values of a class (l-diversity)"
    )
    c: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="with l: the most frequent sensitive value of a class occurs less than c times as often as those "
        "from rank l on together (recursive l-diversity)",
    )
    entropy_l: float | None = Field(
        default=None,
        gt=1,
        allow_inf_nan=False,
        description="least effective number of sensitive values of a class, by their entropy (entropy l-diversity)",
    )
    t: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="largest distance of the sensitive values in a class from those in the whole table (t-closeness)",
    )
    distance: Literal["by-kind", "equal", "ordered", "hierarchical"] = Field(
        default="by-kind", description="with t: how far apart two sensitive values lie"
    )
    alpha: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="largest share of a sensitive value in a class ((α,k)-anonymity)",
    )
    beta: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="largest relative gain of a sensitive value in a class (β-likeness)",
    )
    delta: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="bound of |ln(q/p)| of a sensitive value's share in a class (δ-disclosure)",
    )
    maximal_risk: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="largest risk of a person to be re-identified: one over her class",
    )
    average_risk: float | None = Field(
        default=None, gt=0, le=1, description="largest mean risk of re-identification over all persons"
    )
    k_map: int | None = Field(
        default=None, ge=2, description="least number of persons of the population that match a class (k-map)"
    )
    presence: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="largest chance that a person of the population is in the release (δ-presence)",
    )
    population: str | None = Field(
        default=None,
        exclude=True,
        description="with k-map and presence: file of the population, with the same quasi-identifiers",
    )
    promises: tuple[Annotated[Model, *PROMISE], ...] = Field(
        default=(), description="further promises, as models"
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.c is not None and self.l is None:
            raise WrongUse("c belongs to recursive (c,l)-diversity and needs l, for example --c 2 --l 3")
        if self.distance != "by-kind" and self.t is None:
            raise WrongUse("distance belongs to t-closeness and needs t, for example --t 0.2")
        if self.population is not None and (models := self.models()):
            refuse_unused_population(models)
        return self

    def models(self) -> tuple[Any, ...]:
        """The promises: those of the short forms first, k-anonymity before all, then the others."""
        recursive = self.c is not None
        short: tuple[tuple[str, Any, dict[str, Any]], ...] = (
            ("k-anonymity", self.k, {"k": self.k}),
            ("distinct-diversity", None if recursive else self.l, {"l": self.l}),
            ("recursive-diversity", self.c, {"c": self.c, "l": self.l}),
            ("entropy-diversity", self.entropy_l, {"l": self.entropy_l}),
            ("t-closeness", self.t, {"t": self.t, "distance": self.distance}),
            ("alpha-k-anonymity", self.alpha, {"alpha": self.alpha, "k": self.k or 1}),
            ("beta-likeness", self.beta, {"beta": self.beta}),
            ("delta-disclosure", self.delta, {"delta": self.delta}),
            ("reidentification-risk", self.maximal_risk, {"risk": self.maximal_risk, "over": "maximal"}),
            ("reidentification-risk", self.average_risk, {"risk": self.average_risk, "over": "average"}),
            ("k-map", self.k_map, {"k": self.k_map}),
            ("delta-presence", self.presence, {"delta_max": self.presence}),
        )
        asked = (registry.load("model", name)(**fields) for name, given, fields in short if given is not None)
        return (*asked, *self.promises)

    def definite(
        self, table: Table, population: Table | None = None, *, published: bool = False
    ) -> tuple[Any, ...]:
        """The promises about the columns, persons and population of a table, original or published."""
        models = self.models()
        if population is not None:
            models = tuple(
                one.among(population) if isinstance(one, PopulationModel) and one.population is None else one
                for one in models
            )
        return tuple(
            one
            for model in models
            # A promise about items in clusters is definite as it is.
            for one in (
                model.bound(table, published=published) if isinstance(model, TableModel) else (model,)
            )
        )


def refuse_unused_population(models: Iterable[Model]) -> None:
    """Refuse a population that no promise is about: whoever gives one thinks of a promise that is not made."""
    if not any("population" in type(model).model_fields for model in models):
        raise WrongUse(
            "The population has no effect: no promise is about one. Add --k-map or --presence, or leave --population "
            "away."
        )


def promised(promises: Iterable[Mapping[str, Any]], suppressed: int | None = None) -> list[Model]:
    """The models that a release names.

    `suppressed`: how many rows the release left out, where it is known: values that promises name may be gone with
    them. Raises `BadData` if there is no such model, a parameter is out of its range or of another kind, or something
    is left open that only the release can tell: somebody edited the file, as no method promises such a thing.
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
        fault = "is missing" if first["type"] == "missing" else f"cannot be {first['input']!r}"
        raise BadData(
            f"release.json: the promise {name}: {where} {fault} ({first['msg']}). Publish the release again, or "
            "correct the file."
        ) from error
    made.refuse_vague()
    return made


def _plain(value: Any) -> Any:
    """Numbers of numpy and fractions as release.json has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)

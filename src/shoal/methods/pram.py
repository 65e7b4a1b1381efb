"""PRAM, the post-randomization method: replaces values at random, with probabilities that are published."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.data._ties import tie_key
from shoal.data.domain import nominal
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table, canonical_order
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods.method import Anonymized, Data, Method
from shoal.methods.table_method import published
from shoal.models._matrices import MatrixModel
from shoal.models.amplification import Amplification
from shoal.models.d_gamma_privacy import DGammaPrivacy
from shoal.models.rho_privacy import RhoPrivacy


class Pram(Method):
    """Keep each sensitive value with some probability, and otherwise publish a random other value of its column.

    The probabilities are published as the γ-diagonal matrix. Of all matrices that keep the promise, it keeps the most
    values and is the best to invert. From it readers estimate counts without bias (`Release.estimate`, the measure
    `perturbation`). All other columns are published as they are, so everybody sees who is in the table.

    At least one promise is needed; the strongest one decides.
    """

    name: ClassVar[str] = "pram"
    accepts: ClassVar[type] = Table
    example: ClassVar[dict[str, Any]] = {"gamma": 5}
    paper: ClassVar[str] = (
        "Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control. Journal of "
        "Official Statistics 14(4), 1998; Agrawal, Haritsa: A framework for high-accuracy privacy-preserving mining. "
        "ICDE 2005"
    )
    not_distributable: ClassVar[str] = "values are drawn in the order of all rows"

    gamma: float | None = Field(
        default=None,
        gt=1,
        allow_inf_nan=False,
        description="largest factor by which a published value changes the odds of two others",
    )
    rho1: float | None = Field(
        default=None, gt=0, lt=1, description="with rho2: a belief before the published value is seen"
    )
    rho2: float | None = Field(
        default=None, gt=0, lt=1, description="with rho1: the belief afterward stays below this"
    )
    d: float | None = Field(
        default=None, gt=0, lt=1, description="with d-gamma: a belief in a value before it is published"
    )
    d_gamma: float | None = Field(
        default=None, gt=0, lt=1, description="with d: the belief in it afterward, at most"
    )
    columns: tuple[str, ...] = Field(
        default=(), description="the columns that are perturbed; by default, the sensitive ones"
    )

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        for one, other in (("rho1", "rho2"), ("d", "d_gamma")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                given = f"--{one} and --{other}".replace("_", "-")
                raise WrongUse(f"{given} belong together: give both or none")
        self.models()
        return self

    def models(self) -> tuple[MatrixModel, ...]:
        """The promises, made for each perturbed column."""
        found: list[MatrixModel] = []
        if self.gamma is not None:
            found.append(Amplification(gamma=self.gamma))
        if self.rho1 is not None and self.rho2 is not None:
            found.append(RhoPrivacy(rho1=self.rho1, rho2=self.rho2))
        if self.d is not None and self.d_gamma is not None:
            found.append(DGammaPrivacy(d=self.d, gamma=self.d_gamma))
        return tuple(found)

    @property
    def splits_ties(self) -> bool:
        """Always: published values are drawn at random, and whoever knows the seed can undo the draws."""
        return True

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Draw the published values."""
        self.accept(data)
        assert isinstance(data, Table)
        if not self.models():
            raise WrongUse(f"{self.name} has nothing to promise; give --gamma, for example --gamma 5.")
        data.refuse_without_quasi()
        if data.entity is not None:
            raise WrongUse(
                f"{self.name} takes one row per person: several draws for one person ({data.entity.name}) "
                "would reveal more."
            )
        columns = self._chosen(data)
        factor = min(model.largest() for model in self.models())
        if factor <= 1:
            raise Infeasible("The promise allows no value to tell anything. Promise less.", float(factor))
        random = np.random.default_rng(tie_key(seed))
        # Draw in canonical order, so that the draws do not depend on the order of the input.
        order = canonical_order([one for one in data.columns if one.role is not Role.IDENTIFYING])
        ordered = data.take(order)
        drawn = {column.name: _perturbed(ordered.column(column.name), factor, random) for column in columns}
        table, rows = published(ordered, drawn)
        promises = tuple(
            model.of(name, _matrix(column.domain.labels, factor)).as_promise()
            for name, column in drawn.items()
            for model in self.models()
        )
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return (
            Release(
                table,
                self.name,
                {name: value for name, value in given.items() if value not in (None, ())},
                promises,
                details={"perturbed": list(drawn)},
            ),
            Trace(order[rows], notes=_notes(drawn, factor)),
        )

    def _chosen(self, table: Table) -> Sequence[Column]:
        columns = table.select(self.columns) if self.columns else table.sensitive
        if not columns:
            raise WrongUse(
                f"{self.name} perturbs sensitive columns; name them with --sensitive, or others with --columns."
            )
        for column in columns:
            if column.role not in (Role.SENSITIVE, Role.QUASI):
                raise WrongUse(f"The column {column.name!r} is {column.role}, and is not perturbed.")
            if len(np.unique(column.codes)) < 2:
                raise Infeasible(
                    f"{column.name} has only one value, which nothing can hide. Leave it out.", 1
                )
        return columns


def _perturbed(column: Column, factor: Fraction, random: np.random.Generator) -> Column:
    """The perturbed column; its domain has the values that occur in the original."""
    held, codes = np.unique(column.codes, return_inverse=True)
    labels = sorted(column.domain.labels[code] for code in held.tolist())
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places[column.domain.labels[code]] for code in held.tolist()])[codes]
    size = len(labels)
    total = factor.numerator + (size - 1) * factor.denominator
    kept = random.integers(0, total, len(codes)) < factor.numerator
    others = (codes + random.integers(1, size, len(codes))) % size
    return Column(
        column.name, column.role, nominal(tuple(labels)), np.where(kept, codes, others).astype(np.int32)
    )


def _matrix(labels: Sequence[str], factor: Fraction) -> dict[str, list[int]]:
    """The published matrix as integer weights for each value; on the diagonal, they are larger by the factor."""
    size = len(labels)
    return {
        label: [factor.numerator if place == other else factor.denominator for other in range(size)]
        for place, label in enumerate(labels)
    }


def _notes(drawn: dict[str, Column], factor: Fraction) -> dict[str, Any]:
    """Notes on what was done, and a warning for readers."""
    summary = []
    for name, column in drawn.items():
        size = len(column.domain)
        kept = float(factor / (factor + size - 1))
        summary.append(
            f"{name}: each of {size} values was kept with a chance of {kept:.1%}, and otherwise any other was drawn."
        )
    names = ", ".join(drawn)
    warning = (
        f"The values of {names} are perturbed: a single cell is not a fact about a person. Readers estimate counts "
        "from the matrix in release.json (Release.estimate). Other columns are published as they are."
    )
    return {"summary": summary, "warnings": [warning]}

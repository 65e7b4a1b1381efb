"""A bound of the mean risk, which not every class need keep: the least class size with which all keep it together."""

from collections.abc import Callable

from shoal.methods._improvement._kept_promises import averages_of
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel
from shoal.models.reidentification_risk import ReidentificationRisk

Together = Callable[[tuple[TableModel, ...], tuple[ReidentificationRisk, ...]], bool]
"""Whether the classes that are cut under some promises keep others together."""


def cut_by(models: tuple[TableModel, ...], together: Together) -> tuple[TableModel, ...]:
    """The promises that every class is asked to keep, so that all of them together keep the promises.

    A class whose risk is above the bound of the mean may be there, if others are larger. So instead of a bound of the
    mean, classes keep a least number of persons, the least one that will do: found by halving, since larger classes are
    fewer. Where every class has one over the risk, the mean keeps the bound for certain.
    """
    averages = averages_of(models)
    if not averages:
        return models
    others = tuple(model for model in models if model not in averages)
    entity = averages[0].entity
    least = max(
        [2, *(model.k for model in others if isinstance(model, KAnonymity) and model.entity == entity)]
    )
    most = max(model.least_size() for model in averages)
    while least < most:
        middle = (least + most) // 2
        if together((*others, KAnonymity(k=middle, entity=entity)), averages):
            most = middle
        else:
            least = middle + 1
    return (*others, KAnonymity(k=max(least, most), entity=entity))

"""Which measures a release is measured by, wherever its rows are."""

from typing import Any

from shoal import registry
from shoal.data.dataset import Dataset, schema_of
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Measure, Scores

WITHOUT_TABLES = frozenset(
    (
        "reconstruction",
        "pivot",
        "ordering",
        "itemsets",
        "associations",
        "generalized-items",
        "chunks",
        "suppression",
        "overlap",
        "pair-supports",
    )
)
"""Measures of ours that judge no table: for one, they need not be loaded."""


def comparison_of(original: Any, release: Release[Any]) -> Comparison:
    """An original and a release of it, side by side, where their rows are."""
    if isinstance(release.data, Dataset):
        from shoal.measures._distributed import DistributedComparison

        return DistributedComparison(original, release)
    return Comparison(original, release)


def measure(original: Any, release: Release[Any], measures: tuple[Measure, ...] | None = None) -> Scores:
    """Measure a release by the given measures, or by all that run by default."""
    return measured(comparison_of(original, release), measures)


def measured(both: Comparison, measures: tuple[Measure, ...] | None = None) -> Scores:
    """The given measures, or all that run by default: those that can judge this form of release, where its rows are."""
    return Scores(
        score
        for one in _fitting(both, measures)
        if one.not_distributable is None or not both.distributed
        for score in one.compare(both)
    )


def left_out(both: Comparison, measures: tuple[Measure, ...] | None = None) -> str | None:
    """Which measures, or scores of them, need rows that are not here, and why, in one sentence; None without any."""
    names = [
        said
        for one in _fitting(both, measures)
        if both.distributed and one.concerns(both.release) and (said := one.lacking(both))
    ]
    return f"Not measured by this engine: {', '.join(names)}." if names else None


def asked_scores(one: Measure, both: Comparison) -> Scores:
    """The scores of a measure that is asked for by name.

    Raises `WrongUse` if it has none of this release.
    """
    form = type(schema_of(both.release.data))
    if not issubclass(form, one.accepts):
        forms = " or ".join(form.__name__.lower() for form in one.accepts)
        raise WrongUse(
            f"The measure {one.name} is about {forms}, and this release is a {form.__name__.lower()}; "
            "omit it. `shoal methods` lists what there is."
        )
    if both.distributed and one.not_distributable is not None:
        raise WrongUse(
            f"{one.name} is not measured on stream or spark: {one.not_distributable}. Measure it with --engine local."
        )
    if not (scores := one.compare(both)):
        raise WrongUse(f"The measure {one.name} does not apply to this release; omit it.")
    return Scores(scores)


def default_measures(data: object = None) -> tuple[Measure, ...]:
    """Every measure that does not wait to be asked for; of published data, those that are about its form."""
    kinds = registry.load_all("measure", WITHOUT_TABLES if isinstance(data, Table) else ())
    fitting = [kind for kind in kinds.values() if data is None or isinstance(data, kind.accepts)]
    return tuple(kind() for kind in fitting if not kind.on_request)


def _fitting(both: Comparison, measures: tuple[Measure, ...] | None) -> list[Measure]:
    data = schema_of(both.release.data)
    return [
        one
        for one in (default_measures(data) if measures is None else measures)
        if isinstance(data, one.accepts)
    ]

"""k-map (Sweeney 2001; El Emam and Dankar 2008)."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.data._plain_text import counted
from shoal.data.group_statistics import GroupStatistics
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import Infeasible
from shoal.models._equivalence_classes import Excerpt, PublishedClasses
from shoal.models._matching import PopulationModel, matching_rows
from shoal.models.model import Evidence


class KMap(PopulationModel):
    """Every class matches at least k persons of a population, whether or not they are in the release.

    Weaker than k-anonymity, for an adversary who does not know who is in the release: a class may be small where the
    population has enough persons who fit its cells.
    """

    name: ClassVar[str] = "k-map"
    paper: ClassVar[str] = (
        "Sweeney: Computational disclosure control. PhD thesis, MIT 2001; El Emam, Dankar: Protecting privacy using "
        "k-anonymity. JAMIA 15(5), 2008"
    )
    monotone: ClassVar[bool] = True
    absorbs: ClassVar[bool] = True

    k: int = Field(ge=2, description="least number of persons of the population that match a class")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Whatever is published of a person fits at least {self.k} persons of the population by {known}."
        )

    def holds(self, statistics: GroupStatistics) -> Mask:
        """Which groups match at least k persons of the population for certain."""
        mask: Mask = self.matches(statistics) >= self.k
        return mask

    def refusal(self, whole: GroupStatistics) -> Infeasible:
        """The largest k is the number of persons of the population that match the whole table."""
        most = int(self.matches(whole)[0])
        return Infeasible(
            f"k-map with k = {self.k} cannot be kept: {counted(most, 'persons of the population')} "
            f"{'have' if most != 1 else 'has'} quasi-identifiers of this table. "
            f"{f'The largest k is {most}.' if most > 1 else 'No k can be.'}",
            most,
        )

    def examine(self, published: Excerpt) -> Evidence:
        """Count the persons of the population that fit the published cells of each class."""
        classes = PublishedClasses.of(published, with_suppressed=True)
        if not len(classes):
            return Evidence()
        matches = matching_rows(classes, self.needed())
        few = np.flatnonzero(matches < self.k)
        worst = few[np.argsort(matches[few], kind="stable")][:SHOWN].tolist()
        offenders = tuple(
            (
                -float(matches[place]),
                Offender(
                    classes.words(place),
                    f"{counted(int(matches[place]), 'persons of the population')} where {self.k} are promised"
                    f"{self.hint(matches[place])}",
                ),
            )
            for place in worst
        )
        return Evidence(offenders, len(few), lowest={"matches": int(matches.min())})

    def conclude(self, evidence: Evidence) -> Verdict:
        """The class that the fewest match decides."""
        promise = f"every class matches at least {self.k} persons of the population"
        return self.concluded(evidence, promise, evidence.lowest.get("matches"), self.k)

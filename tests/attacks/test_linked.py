"""Attacks on linked tables, in both directions."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.attacks.releases import people_table
from tests.tables import texts

import shoal
from shoal.attacks._class_view import class_view
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Target
from shoal.data.domain import nominal
from shoal.data.linked import Linked, canonical
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column

PEOPLE = people_table()
OUTSIDE = people_table(600, seed=2)


def anatomy(l: int = 3, seed: int = 1) -> Release:  # noqa: E741
    return shoal.anonymize(PEOPLE, "anatomy", l=l, seed=seed).release


def kept_order(size: int = 4) -> Linked:
    """Groups of neighbors in the input, whose rows and secrets are both in the order of the input."""
    groups = (np.arange(PEOPLE.rows) // size).astype(np.int32)
    domain = nominal(tuple(str(number + 1) for number in range(int(groups.max()) + 1)))
    link = Column("group", Role.INSENSITIVE, domain, groups)
    return Linked(
        replace(PEOPLE, columns=(*PEOPLE.quasi, link)),
        replace(PEOPLE, columns=(replace(link, role=Role.QUASI), *PEOPLE.sensitive)),
    )


def test_what_a_person_is_thought_to_have_equals_counting() -> None:
    """The mean of the shares in the groups of the rows that are like her."""
    data = anatomy().data
    secret = data.secrets.column("illness")
    view = class_view(data, PEOPLE)
    found = view.fits.times(view.counts(secret))
    rows, held = texts(data.public), texts(data.secrets)
    groups: dict[str, Counter[str]] = {}
    for row in held:
        groups.setdefault(row["group"], Counter())[row["illness"]] += 1
    for place, person in enumerate(texts(PEOPLE)[:80]):
        alike = [
            row["group"] for row in rows if all(row[name] == person[name] for name in ("age", "zip", "sex"))
        ]
        for code, label in enumerate(secret.domain.labels):
            shares = [groups[group][label] / groups[group].total() for group in alike]
            assert found[place, code] == pytest.approx(sum(shares))
        assert view.candidates[place] == pytest.approx(len(alike))


def test_kept_order_is_found() -> None:
    data = kept_order()
    wrong = attack_all(Target(Release(data, "none", {}, ()), PEOPLE), ["order"])["order"]
    assert wrong.success > 0.95
    assert wrong.residual > 0.9
    right = attack_all(Target(Release(canonical(data), "none", {}, ()), PEOPLE), ["order"])["order"]
    assert right.residual == 0
    assert attack_all(Target(anatomy(), PEOPLE), ["order"])["order"].residual == 0


def test_groups_are_guessed_no_better_than_promised() -> None:
    found = attack_all(Target(anatomy(), PEOPLE, OUTSIDE))
    assert {"linkage", "inference", "certainty", "order", "membership", "definetti"} <= set(found)
    assert found["linkage"].parts["highest"] <= 1 / 3 + 1e-12
    assert found["inference"].success < 0.5
    assert "naive Bayes" not in found["inference"].parts
    # Everybody sees who is there: only people who are alike in all public cells are mistaken for each other.
    assert found["membership"].residual > 0.8


def test_two_groupings_tell_more_than_one() -> None:
    first, other = anatomy(seed=1), anatomy(seed=2)
    both = attack_all(Target(first, PEOPLE, other=other), ["intersection"])["intersection"]
    assert both.success > both.parts["this release alone"] + 0.1
    again = attack_all(Target(first, PEOPLE, other=first), ["intersection"])["intersection"]
    assert again.success == pytest.approx(again.parts["this release alone"], abs=0.06)

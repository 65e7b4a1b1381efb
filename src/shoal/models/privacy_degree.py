"""Privacy degree of groups (Ghinita, Tao and Kalnis 2008, section II)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Mask, Rows
from shoal.data._plain_text import counted
from shoal.data.groups import Groups
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict, early, shortened
from shoal.errors import BadData, WrongUse
from shoal.models.model import Evidence, LineModel, Part


class PrivacyDegree(LineModel):
    """In every group, at most one p-th of the baskets holds any one sensitive item.

    So a reader who knows all public items of a person, finds the group and takes every member to be equally likely
    gives each sensitive item a chance of at most 1/p. It is no promise against readers who know more: how the
    groups were formed, or that some baskets are likelier to hold the item than others.

    A basket that lists a sensitive item breaks the promise too: there it is certain. So do a group that counts an item
    which is not named as sensitive, and a named item that is not published. And so do items, baskets and groups that do
    not stand in ascending order: any other order may tell who was looked at first.
    """

    name: ClassVar[str] = "privacy-degree"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)
    paper: ClassVar[str] = (
        "Ghinita, Tao, Kalnis: On the anonymization of sparse high-dimensional data. ICDE 2008"
    )

    p: int = Field(ge=2, description="degree: at most one p-th of a group's baskets holds a sensitive item")

    sensitive: tuple[str, ...] = Field(
        default=(),
        description="the sensitive items, which stand in no basket; those that groups count by default",
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            "Someone who finds the group of a person's basket can guess each sensitive item of it with a chance of at "
            f"most 1 in {self.p}, as long as all baskets of the group are equally likely to hold it."
        )

    def refuse_vague(self) -> None:
        """A release names its sensitive items: otherwise they could stand in baskets as if they were public."""
        if not self.sensitive:
            raise BadData(
                "release.json: the promise privacy-degree does not name the sensitive items, so any of them may "
                "stand in a basket. Publish the release again; or prove the data alone, with --model privacy-degree "
                "--sensitive."
            )

    def refuse_absent(self, items: Sequence[str], secrets: frozenset[str]) -> None:
        """Refuse sensitive items that are not published, and groups in which nothing is sensitive."""
        super().refuse_absent(items, secrets)
        if items and not self.sensitive and not secrets:
            raise WrongUse(
                f"{self.name} is about sensitive items, and no group counts one; name them with --sensitive."
            )

    def secrets(self, published: Published) -> frozenset[str]:
        """The sensitive items that groups count."""
        assert isinstance(published, Groups)
        return frozenset(published.vocabulary[item] for item in np.unique(published.sensitive_items).tolist())

    def examine(self, published: Published, part: Part | None = None) -> Evidence:
        """Compare each count of each group with the number of its baskets."""
        assert isinstance(published, Groups)
        counts = published.sensitive_counts
        group = np.searchsorted(published.sensitive_indptr, np.arange(len(counts)), side="right") - 1
        sizes = published.group_indptr[1:][group] - published.group_indptr[:-1][group]
        secrets = self.secrets(published) if part is None else part.secrets
        named = frozenset(self.sensitive)
        listed = _listed(published, named | secrets)
        strange = _strange(published, named or secrets)
        reached = [Fraction(int(sizes[place]), int(counts[place])) for place in _worst(sizes, counts)]
        reached += [Fraction(1)] if listed else []
        broken = np.flatnonzero(counts * self.p > sizes)
        shown = broken[np.argsort(sizes[broken] / counts[broken], kind="stable")][:SHOWN]
        inside = "" if part is None else f" of {part.name}"
        offenders = [
            (
                counts[place] / sizes[place],
                Offender(
                    _where(published, int(group[place]), inside),
                    f"{counts[place]} of {counted(int(sizes[place]), 'baskets')} hold {_item(published, place)!r}, "
                    f"where at most {sizes[place] // self.p} may",
                ),
            )
            for place in shown.tolist()
        ]
        offenders += [
            (
                0.0,
                Offender(
                    _basket(published, basket, inside),
                    f"lists {published.vocabulary[item]!r}, which is sensitive",
                ),
            )
            for basket, item in listed[: SHOWN - len(offenders)]
        ]
        offenders += [
            (
                0.0,
                Offender(
                    _where(published, int(group[place]), inside),
                    f"counts {_item(published, place)!r}, which is not named as sensitive",
                ),
            )
            for place in strange[: SHOWN - len(offenders)].tolist()
        ]
        disordered, more = _disordered(published, inside, lines=part is None)
        offenders += [(0.0, one) for one in disordered[: SHOWN - len(offenders)]]
        lowest = {"degree": min(reached)} if reached else {}
        return Evidence(
            tuple(offenders),
            len(broken) + len(listed) + len(strange) + more,
            lowest=lowest,
            names=self.published_secrets(published),
        )

    def unpublished(self, evidence: Evidence) -> tuple[Offender, ...]:
        """Each named sensitive item that no group counts: groups tell all of them."""
        absent = (name for name in self.sensitive if name not in evidence.names)
        return super().unpublished(evidence) or tuple(
            Offender(repr(name), "is named as sensitive, and not published") for name in absent
        )

    def conclude(self, evidence: Evidence) -> Verdict:
        """The group with the largest share of a sensitive item decides."""
        promise = f"no sensitive item is in more than 1/{self.p} of a group's baskets"
        degree, absent = evidence.lowest.get("degree"), self.unpublished(evidence)
        return self.concluded(evidence, promise, degree, self.p, absent, self._taken(evidence.names))

    def _taken(self, names: frozenset[str]) -> str:
        """Which items were taken as sensitive, where none are named."""
        if self.sensitive:
            return ""
        if not names:
            return "no item is named as sensitive, and no group counts one"
        shown = ", ".join(sorted(names)[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        return f"taken as sensitive: the items that groups count ({len(names)}: {shown})"


def _worst(sizes: Counts, counts: Counts) -> Rows:
    """Places among which is the smallest quotient, for each size the one with the largest count."""
    by_size = np.lexsort((-counts, sizes))
    first = np.concatenate(([True], sizes[by_size][1:] != sizes[by_size][:-1]))[: len(sizes)]
    return by_size[first]


def _strange(groups: Groups, secrets: frozenset[str]) -> Rows:
    """The counts of items that are none of the secrets."""
    return np.flatnonzero(~_among(groups, secrets)[groups.sensitive_items])


def _among(groups: Groups, secrets: frozenset[str]) -> Mask:
    """Which items are secrets."""
    return np.array([text in secrets for text in groups.vocabulary], dtype=np.bool_)


def _listed(groups: Groups, secrets: frozenset[str]) -> list[tuple[int, int]]:
    """Baskets that list a secret."""
    secret = _among(groups, secrets)
    places = np.flatnonzero(secret[groups.items])
    baskets = np.searchsorted(groups.basket_indptr, places, side="right") - 1
    return list(zip(baskets.tolist(), groups.items[places].tolist(), strict=True))


def _disordered(groups: Groups, inside: str, *, lines: bool) -> tuple[list[Offender], int]:
    """Groups whose baskets or items do not ascend, and groups that belong before the one ahead; and how many.

    The order of the groups is looked at only where all lines are there, in their order.
    """
    mixed, late = groups.out_of_order()
    late = late if lines else late[:0]
    found = [(int(one), "its baskets are not in ascending order") for one in mixed[:SHOWN]]
    found += [
        (int(one), "the items of a basket, or the sensitive ones, are not in ascending order")
        for one in groups.unsorted[:SHOWN]
    ]
    found += [(one, early("group", _where(groups, one - 1, inside))) for one in late[:SHOWN].tolist()]
    offenders = [Offender(_where(groups, group, inside), why) for group, why in found]
    return offenders, len(mixed) + len(groups.unsorted) + len(late)


def _item(groups: Groups, place: int) -> str:
    return groups.vocabulary[int(groups.sensitive_items[place])]


def _basket(groups: Groups, basket: int, inside: str) -> str:
    """A basket in words: its number in its group, and the group."""
    group = int(np.searchsorted(groups.group_indptr, basket, side="right")) - 1
    return f"basket {basket - int(groups.group_indptr[group]) + 1} of {_where(groups, group, inside)}"


def _where(groups: Groups, group: int, inside: str) -> str:
    """A group in words: its number in the file, its size and its first basket."""
    begin, end = groups.group_indptr[group], groups.group_indptr[group + 1]
    held = groups.items[groups.basket_indptr[begin] : groups.basket_indptr[begin + 1]]
    first = shortened(" ".join(groups.vocabulary[item] for item in held.tolist()))
    return f"group {group + 1}{inside} ({counted(int(end - begin), 'baskets')}, the first is {{{first}}})"

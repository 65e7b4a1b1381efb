"""Judge several successive releases about the same people by what they disclose together.

::

    shoal.series.together([("out1", "may.csv"), (run, "june.csv")], person="id").holds
    shoal.series.invariance([("out1", "may.csv"), ("out2", "june.csv")], person="id", m=2)
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Rows, indptr_by
from shoal.attacks._class_view import class_view
from shoal.data._sparse_rows import SparseRows
from shoal.data.baskets import ragged_ranks
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.role import Roles
from shoal.data.table import Column, Table
from shoal.data.verdict import Offender, Verdict
from shoal.errors import BadData, BrokenPromise, WrongUse
from shoal.io.releases.folder import read_run
from shoal.measuring import read_original
from shoal.models.m_invariance import Appearances, MInvariance
from shoal.recipe import Recipe
from shoal.risks.learned_secrets import alike_pairs
from shoal.sources import read_roles


def invariance(
    releases: Sequence[tuple[str | Path | Release[Any], Any]],
    person: str,
    m: int = 2,
    column: str | None = None,
) -> Verdict:
    """Judge a series of releases by m-invariance.

    Parameters
    ----------
    releases
        Pairs of a release, or its folder with its run.json, and its original, in the order of publication.
    person
        The column of the originals that identifies people. It is never published; give it the role identifying.
    m
        Least number of distinct sensitive values in a class.
    column
        The sensitive column; by default, the only one.

    Raises
    ------
    WrongUse
        If there are fewer than two releases, or no single sensitive column is named.
    BadData
        If a person occurs twice in one original.
    """
    if len(releases) < 2:
        raise WrongUse("A series has at least two releases; give them in the order of publication.")
    found = [appearances(*_read(source, original, person), person, column) for source, original in releases]
    return MInvariance(m=m, column=column).verify_series(found)


@dataclass(frozen=True, slots=True)
class Together:
    """What an adversary learns from all releases of a series together.

    She knows the quasi-identifiers of everybody at each time, and who was in the data. People whom no release tells
    apart are alike. A secret that did not change must occur in every class that fits its person.
    """

    kept: int
    new: int
    gone: int
    """`kept`, `new`: people of the last release who are in an earlier one, and who are not; `gone`: people of earlier
    releases who are not in the last one."""
    verdicts: tuple[Verdict, ...]
    """A verdict for each promise of the last release that can be judged over several: k-anonymity and l-diversity of
    people by all releases together, and m-invariance."""

    @property
    def holds(self) -> bool:
        """Whether every promise of the last release is kept by all of them together."""
        return all(verdict.holds for verdict in self.verdicts)

    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        who = f"Together with earlier releases ({self.kept:,} people kept, {self.new:,} new, {self.gone:,} gone): "
        if not self.verdicts:
            return (f"{who}no promise of this release can be judged over several.",)
        return (
            who + "; ".join(f"{one.promise}, found {float(one.value or 0):g}" for one in self.verdicts) + ".",
        )


def together(
    releases: Sequence[tuple[Any, Any]],
    person: str,
    *,
    k: int | None = None,
    l: int | None = None,  # noqa: E741
) -> Together:
    """Judge the last of several releases together with those before it.

    Parameters
    ----------
    releases
        Pairs of a release, its folder with its run.json, or a run, and its original, in the order of publication.
    person
        The column of the originals that identifies people.
    k, l
        Values to use instead of the k and the l that the last release promises.

    Raises
    ------
    WrongUse
        If there are fewer than two releases.
    BadData
        If a person occurs twice in one original.
    """
    if len(releases) < 2:
        raise WrongUse("A series has at least two releases; give them in the order of publication.")
    read = [_read(source, original, person) for source, original in releases]
    seen = [_Seen.of(release, original, person) for release, original in read]
    people = sorted({name for one in seen for name in one.people})
    keys = np.column_stack([one.keys_of(people) for one in seen])
    there = keys >= 0
    last, before = there[:, -1], there[:, :-1].any(axis=1)
    promises = read[-1][0].promises
    verdicts = []
    least = k or max((int(one["k"]) for one in promises if one.get("model") == "k-anonymity"), default=None)
    if least is not None and isinstance(read[-1][0].data, Table):
        verdicts.append(_alike(keys[last], least))
    diverse = {
        one.get("column"): int(one["l"]) for one in promises if one.get("model") == "distinct-diversity"
    }
    for column in seen[-1].secrets:
        count = l or diverse.get(column) or diverse.get(None)
        if count is not None:
            verdicts.append(_left(seen, column, count))
    verdicts += [
        MInvariance(m=int(one["m"]), column=one.get("column")).verify_series(
            [appearances(release, original, person, one.get("column")) for release, original in read]
        )
        for one in promises
        if one.get("model") == MInvariance.name
    ]
    return Together(
        int((last & before).sum()), int((last & ~before).sum()), int((~last).sum()), tuple(verdicts)
    )


def refuse_together(
    run: Any, after: Sequence[Any], source: Any, person: str | None, plan: Recipe
) -> tuple[str, ...]:
    """Refuse a run whose release breaks a promise together with earlier ones; otherwise say what was found.

    `after`: folders, ``FOLDER=ORIGINAL``, or pairs of folder and original. `source`: the original of the run. `person`:
    the column that identifies people; by default, the only identifying one. Raises `BrokenPromise`.
    """
    if not isinstance(run.original, Table):
        raise WrongUse("Releases are judged together (--after) for tables in memory; omit --engine.")
    if person is None and len(plan.roles.identifying) != 1:
        raise WrongUse("--after needs to know who is who in both releases: name the column with --who.")
    who = person or plan.roles.identifying[0]
    own = (run.release, _with_person(run.original, source, who, plan))
    found = together([*map(_earlier, after), own], who)
    broken = next((one for one in found.verdicts if not one.holds), None)
    if broken is not None:
        why = f" {broken.offenders[0].where}: {broken.offenders[0].why}." if broken.offenders else ""
        raise BrokenPromise(
            f"Together with the earlier releases, this one breaks {broken.model} ({broken.promise}; found "
            f"{float(broken.value or 0):g}).{why} Nothing was written. Publish the earlier release again, promise "
            "more in both, or keep whole columns on the same levels in both (lattice with --min-level and --max-level)."
        )
    return found.sentences()


def _earlier(given: Any) -> tuple[Any, Any]:
    """The folder of an earlier release and its original, as given or as its run.json says."""
    if isinstance(given, tuple):
        return given
    folder, sign, original = str(given).partition("=")
    if sign:
        return folder, original
    recipe, _ = read_run(folder)
    path = recipe.get("source", {}).get("path")
    if path is None or path == "-" or ("://" not in path and not os.path.exists(path)):
        raise BadData(
            f"what this release was made from is not there{f' ({path})' if path else ''}; name it: --after "
            f"{folder}=FILE.",
            path=folder,
        )
    return folder, path


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Which classes of a release fit each person: people who fit the same classes have the same key.

    `secrets`: for each sensitive column its labels, and a matrix of people by labels that says which labels occur in
    the classes of each person. `own`: each person's own label.
    """

    people: Mapping[str, int]
    keys: Rows
    secrets: Mapping[str, tuple[tuple[str, ...], Any]]
    own: Mapping[str, list[str]]

    @classmethod
    def of(cls, release: Release[Any], original: Table, person: str) -> "_Seen":
        data = release.data
        if not isinstance(data, Table | Linked) or not isinstance(original, Table):
            raise WrongUse("Releases are judged together for published tables.")
        who = _one_row_each(original, person)
        view = class_view(data, original)
        fits = view.fits
        table, secrets, own = view.classes.table, {}, {}
        for column in table.sensitive:
            if column.name not in original.names:
                continue
            has = view.counts(column).dense() > 0
            stars = np.zeros(len(view.classes), dtype=np.bool_)
            if SUPPRESSED in column.domain.labels:
                stars[view.classes.number[column.codes == column.domain.labels.index(SUPPRESSED)]] = True
            has |= stars[:, None]
            held, labels_held = has.nonzero()
            seen = fits.times(SparseRows.of(held, labels_held, 1.0, (len(has), len(column.domain)))) > 0
            secrets[column.name] = column.domain.labels, seen
            truth = original.column(column.name)
            own[column.name] = [truth.domain.labels[code] for code in truth.codes.tolist()]
        labels = who.domain.labels
        people = {labels[code]: row for row, code in enumerate(who.codes.tolist())}
        return cls(people, ragged_ranks(fits.indptr, fits.columns), secrets, own)

    def keys_of(self, people: Sequence[str]) -> Rows:
        """The key of each of these people; -1 for those who are not in the release."""
        rows = np.array([self.people.get(name, -1) for name in people], dtype=np.int64)
        return np.where(rows >= 0, self.keys[rows], -1)


def _alike(keys: Rows, k: int) -> Verdict:
    """Judge k-anonymity over all releases: how many people each person of the last one cannot be told apart from."""
    _, place, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    size = counts[place.ravel()]
    promise, why = (
        f"at least {k} people are alike in all releases",
        f"fewer than {k} are alike in all releases",
    )
    return _verdict("k-anonymity", promise, size.tolist(), k, why)


def _verdict(model: str, promise: str, found: Sequence[int], least: int, why: str) -> Verdict:
    """The verdict on whether the number found for each person is at least `least`."""
    few = sum(one < least for one in found)
    where = f"{few:,} of {len(found):,} people ({few / max(len(found), 1):.1%})"
    offenders = (Offender(where, why),) if few else ()
    return Verdict(model, promise, not few, min(found, default=None), least, offenders, few)


def _left(seen: Sequence[_Seen], column: str, count: int) -> Verdict:
    """Judge l-diversity over all releases: how many secrets remain possible for each person of the last one.

    Only earlier releases in which the person had the same secret rule any out.
    """
    last = seen[-1]
    left = []
    for name in last.people:
        row = last.people[name]
        labels, has = last.secrets[column]
        possible = {labels[code] for code in np.flatnonzero(has[row]).tolist()}
        for one in seen[:-1]:
            earlier = one.people.get(name)
            if earlier is None or column not in one.secrets:
                continue
            if one.own[column][earlier] != last.own[column][row]:
                continue
            texts, had = one.secrets[column]
            known = {texts[code] for code in np.flatnonzero(had[earlier]).tolist()}
            possible = possible & known if SUPPRESSED not in known else possible
        left.append(len(possible - {SUPPRESSED}))
    promise = f"all releases together leave at least {count} values of {column} to everybody"
    why = f"fewer than {count} values of {column} are left"
    return _verdict("distinct-diversity", promise, left, count, why)


def _read(source: Any, original: Any, person: str) -> tuple[Release[Any], Table]:
    """A release and its original, with the column that identifies people."""
    if hasattr(source, "release"):
        plan = Recipe(**{"source": {"path": "-"}, "method": {}, **_plain(source.recipe)})
        return source.release, _with_person(source.original, original, person, plan)
    if isinstance(source, Release):
        return source, original
    release, table, plan = read_original(source, original)
    assert isinstance(table, Table)
    return release, _with_person(table, original, person, plan)


def _plain(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a run's recipe that say how to read its data."""
    return {name: recipe[name] for name in ("source", "roles") if "path" in recipe.get("source", {})}


def _with_person(table: Table, original: Any, person: str, plan: Recipe) -> Table:
    """The original with the column that identifies people, which the run may not have read."""
    if person in table.names:
        return table
    quasi = tuple(column.name for column in table.quasi)
    roles = Roles(quasi=quasi, insensitive=(person,), others="drop")
    who = read_roles(original, roles, plan.source.reading, {})
    if who.rows != table.rows:
        raise BadData("the original cannot be read with its persons; give the file itself.", column=person)
    return Table((*table.columns, who.column(person)))


def appearances(
    release: Release[Any], original: Table, person: str, column: str | None = None
) -> Appearances:
    """Which classes of a release fit each person of its original."""
    data = release.data
    if not isinstance(data, Table | Linked) or not isinstance(original, Table):
        raise WrongUse("m-invariance is about published tables.")
    who = _one_row_each(original, person)
    if isinstance(data, Linked):
        secret = _secret(data.secrets, column)
        group, count = data.secret_groups, len(data)
        rows, alike = alike_pairs(original, data)
        places = data.groups[alike]
    else:
        view = class_view(data, original)
        secret = _secret(view.classes.table, column)
        group, count = view.classes.number, len(view.classes)
        rows, places = view.fits.rows, view.fits.columns
    order = np.argsort(group, kind="stable")
    indptr = indptr_by(group, count)
    return Appearances(
        secret.domain.labels,
        indptr,
        secret.codes[order].astype(np.int64),
        who.domain.labels,
        who.codes[rows].astype(np.int64),
        places.astype(np.int64),
    )


def _one_row_each(original: Table, person: str) -> Column:
    who = original.column(person)
    if len(np.unique(who.codes)) < original.rows:
        raise BadData(
            "a person is in the original twice; a series of releases needs one row per person.", column=person
        )
    return who


def _secret(table: Table, column: str | None) -> Column:
    if column is not None:
        return table.column(column)
    if len(table.sensitive) != 1:
        raise WrongUse("Name the sensitive column that m-invariance is about.")
    return table.sensitive[0]

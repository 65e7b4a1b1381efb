"""The generalizations that a search found: the levels of every column, and what each choice costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.data.release import Release
from shoal.report.wording import count, counted, listed, number, shown

SHOWN = 60
"""Solutions that are listed; the rest are only counted."""

MENTIONED = 2
"""Solutions, or sets of solutions that are best by the same measures, that a sentence mentions."""

HIGHER = ("granularity", "precision")
"""Measures for which higher is better."""

USES = (
    (("lm", "ncp", "granularity", "entropy"), "For statistics of single columns (cells keep most detail)"),
    (("discernibility", "c_avg"), "For counts over several columns at once (classes are smallest)"),
    (("precision",), "For readers who think in the levels of the hierarchies (they are climbed least)"),
    (("suppressed_rows",), "Where every person must be counted (most rows stay)"),
)
"""Measures, and the use for which a solution that is best by them is the best."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A vector of levels and its scores, as texts for the page."""

    levels: tuple[str, ...]
    numbers: tuple[str, ...]
    chosen: bool
    parts: str = ""


@dataclass(frozen=True, slots=True)
class Solutions:
    """All that a search found."""

    columns: tuple[str, ...]
    measures: tuple[str, ...]
    """`columns`, `measures`: the heads of the table."""
    found: tuple[Solution, ...]
    total: int
    """`found`, `total`: the solutions that are listed, and how many there are."""
    words: tuple[str, ...]  # how the search ended, and which solution serves which use, in sentences
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The levels of each part of a table that is published in parts, with its rows where they are known."""


def solutions_of(release: Release, notes: Mapping[str, Any]) -> Solutions | None:
    """The solutions among the notes of a trace; None where there are none."""
    noted = [one for one in notes.get("solutions", ()) if isinstance(one, Mapping) and "levels" in one]
    if not noted:
        return None
    columns = tuple(map(str, noted[0]["levels"]))
    names = {name: None for one in noted for name in one if name != "levels"}
    measures = tuple(name for name in names if all(_is_number(one.get(name, 0)) for one in noted))
    chosen = _chosen(release, noted)
    found = tuple(
        Solution(
            _levels(one["levels"], columns),
            tuple(number(one.get(name)) for name in measures),
            place == chosen,
            counted(int(one["parts"]), "part") if one.get("parts", 1) > 1 else "",
        )
        for place, one in enumerate(noted[:SHOWN])
    )
    words = (*_ending(notes), *_uses(noted, measures, chosen))
    return Solutions(columns, measures, found, len(noted), words, _parts(release, columns))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _levels(levels: Mapping[str, Any], columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(shown(str(levels.get(column, "–"))) for column in columns)


def _chosen(release: Release, noted: Sequence[Mapping[str, Any]]) -> int:
    """The position of the published solution: the one in parts, the one with the published levels, or the first."""
    if release.details.get("parts"):
        return next((place for place, one in enumerate(noted) if one.get("parts", 1) > 1), 0)
    levels = release.details.get("levels")
    return next(
        (place for place, one in enumerate(noted) if one["levels"] == levels and one.get("parts", 1) == 1), 0
    )


def _parts(release: Release, columns: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The parts of a table in parts: rows, where they are known, and levels."""
    found = []
    for part in release.details.get("parts", ()):
        levels = part.get("levels", part) if isinstance(part, Mapping) else {}
        rows = part.get("rows") if isinstance(part, Mapping) and "levels" in part else None
        found.append(("–" if rows is None else count(int(rows)), _levels(levels, columns)))
    return tuple(found[:SHOWN])


def _ending(notes: Mapping[str, Any]) -> list[str]:
    """How the search ended: with a proof, with a bound, or on the least height."""
    sentences = []
    vectors, evaluated = notes.get("vectors"), notes.get("evaluated")
    looked = seen = ""
    if vectors is not None and evaluated is not None:
        seen = f"{count(evaluated)} of {counted(vectors, 'combination')} of levels were evaluated."
        looked = (
            f" Of {counted(vectors, 'combination')} of levels, {count(evaluated)} were evaluated; the others "
            "were ruled out."
        )
    if "proven" in notes:
        measure, value, bound = notes.get("objective"), notes.get("value"), notes.get("bound")
        if notes["proven"]:
            sentences.append(
                f"The optimum is proven: no combination of levels costs less by {measure} ({number(value)}).{looked}"
            )
        else:
            sentences.append(
                f"The best solution found in the given time costs {number(value)} by {measure}. It is not proven to be "
                f"the optimum: another may cost less, but none less than {number(bound)}. {seen}"
            )
    elif "least_height" in notes:
        sentences.append(
            f"The promise can be kept from height {notes['least_height']} on (the sum of the levels).{looked}"
        )
    if "local" in notes:
        sentences.append(
            "Parts of the table were then published at levels of their own; the search was for one combination of "
            "levels for all rows."
        )
    return sentences


def _uses(noted: Sequence[Mapping[str, Any]], measures: Sequence[str], chosen: int) -> list[str]:
    """Which of several solutions serves which use."""
    if len(noted) < 2:
        return []
    sentences = []
    for names, use in USES:
        best: dict[int, list[str]] = {}
        for name in names:
            if name in measures:
                for place in _best(noted, name):
                    best.setdefault(place, []).append(name)
        if not best or len(best) == len(noted):
            continue
        alike: dict[tuple[str, ...], list[int]] = {}
        for place in sorted(best, key=lambda place: (place != chosen, -len(best[place]), place)):
            alike.setdefault(tuple(best[place]), []).append(place)
        which = ", or ".join(
            f"{_named(places, chosen)} by {listed(by)}" for by, places in list(alike.items())[:MENTIONED]
        )
        sentences.append(f"{use}: {which}.")
    return sentences


def _named(places: Sequence[int], chosen: int) -> str:
    """Solutions by their numbers in the table.

    >>> _named([1, 0, 4], 1)
    'solutions 2 (published), 1 and 5'
    """
    names = [f"{place + 1}{' (published)' if place == chosen else ''}" for place in places]
    return f"{'solution' if len(names) == 1 else 'solutions'} {listed(names)}"


def _best(noted: Sequence[Mapping[str, Any]], name: str) -> list[int]:
    values = [float(one.get(name, "nan")) for one in noted]
    sign = -1 if name in HIGHER else 1
    best = min(sign * value for value in values)
    return [place for place, value in enumerate(values) if sign * value <= best + 1e-12 * abs(best)]

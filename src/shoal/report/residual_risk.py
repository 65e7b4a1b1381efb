"""What is left of the risk: what a reader of the release can still find out, in words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.arrays import owners
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset, schema_of
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.report.breach import surest_guess
from shoal.report.card import Card, Line
from shoal.report.class_charts import Sensitive, Sizes
from shoal.report.wording import count, counted, listed, number, number_near, percent, shown

if TYPE_CHECKING:
    from shoal.data.verdict import Verdict
    from shoal.measures.measure import Score

COLUMNS = 3
"""Sensitive columns that the first screen shows."""

ATTACKS = (
    ("pivot_guess", "guessing any member is right"),
    ("pivot_largest", "guessing the largest basket is right"),
    ("pivot_central", "guessing the most central basket is right"),
    ("pivot_replay", "replaying the method is right"),
)
"""Attacks on groups: their scores, and how the page names them."""

CONFIDENCES = (
    ("confidence_published", "surest guess of {} as published"),
    ("confidence_worst", "… if stars hide the worst they can"),
    ("confidence_stars", "… of what a star hides"),
)
"""What is left of hidden rules: the scores, and how the page names them."""


def risk_of(
    release: Release[Any],
    verdicts: "Sequence[Verdict]",
    scores: "Sequence[Score]",
    sizes: Sizes | None,
    sensitive: Sequence[Sensitive],
) -> Card | None:
    """What is left of the risk, in words that fit the form of the release; None where nothing is known."""
    values = {score.name: float(score.value) for score in scores}
    data: Any = release.data
    if isinstance(schema_of(data), Table):
        return None if sizes is None else _with_items(_of_table(sizes, sensitive, scores), release, verdicts)
    if isinstance(data, Dataset):
        return None
    if isinstance(data, Linked):
        return _of_linked(data, sensitive)
    if isinstance(data, Groups):
        return _of_groups(data, release.promises, values)
    if isinstance(data, Clusters):
        return _of_clusters(verdicts, values, sizes)
    return _of_baskets(data, release.promises, verdicts, values)


def one_in(number_of: float) -> str:
    """A chance in words.

    >>> one_in(10.0), one_in(4.26)
    ('1 in 10', '1 in 4.3')
    """
    return f"1 in {number_near(number_of)}"


def _of_table(sizes: Sizes, sensitive: Sequence[Sensitive], scores: "Sequence[Score]") -> Card:
    person = "row" if sizes.noun == "rows" else "person"
    own = "that person's row" if person == "row" else "that person"
    words = (
        f"is the highest chance that someone who knows a person's quasi-identifiers picks out {own}; it is "
        f"{percent(1 / sizes.mean)} on average, where only rows with the same cells are counted."
    )
    lines = [Line(f"smallest class, in {sizes.noun} (k)", count(sizes.smallest))]
    by_name = {score.name: score for score in scores}
    for entry in sensitive[:COLUMNS]:
        lines += _of_column(entry, f" of {shown(entry.column, 24)}" if len(sensitive) > 1 else "")
        for name, text in CONFIDENCES:
            if name in by_name and entry.column in by_name[name].parts:
                share = by_name[name].parts[entry.column]
                lines.append(Line(text.format(shown(entry.column, 24)), percent(share)))
    if len(sensitive) > COLUMNS:
        lines.append(Line("more sensitive columns", count(len(sensitive) - COLUMNS), "below"))
    return Card(one_in(sizes.smallest), words, tuple(lines))


def _with_items(card: Card, release: Release[Any], verdicts: "Sequence[Verdict]") -> Card:
    """The same for someone who also knows items, where there is a promise about that."""
    items = next((one["m"] for one in release.promises if one["model"] == "k-km-anonymity"), None)
    fewest = next((one.value for one in verdicts if one.model == "k-km-anonymity"), None)
    if items is None or not fewest:
        return card
    words = (
        "is the highest chance that someone who knows the quasi-identifiers and "
        f"{counted(items, 'item')} of a person picks out that person's row."
    )
    alone = Line("by the quasi-identifiers alone", card.figure)
    return Card(one_in(float(fewest)), words, (alone, *card.lines))


def _of_linked(data: Linked, sensitive: Sequence[Sensitive]) -> Card | None:
    """The largest share of a secret in a group; rows themselves are published as they are."""
    if not data.secrets.sensitive or not len(data):
        return None
    highest = max(map(data.highest_share, data.secrets.sensitive))
    words = (
        "is the largest share of a secret in a group. Rows are published as they are, and a reader who learns from "
        "all groups together guesses better: see the warning."
    )
    lines = tuple(line for entry in sensitive[:COLUMNS] for line in _of_column(entry, ""))
    return Card(one_in(1 / highest), words, lines)


def _of_column(entry: Sensitive, of: str) -> list[Line]:
    lines = [Line(f"fewest values{of} in a class (l)", count(entry.least_distinct))]
    if entry.entropy_l is not None:
        lines.append(Line(f"… by their entropy{of}", f"{entry.entropy_l:.2f}"))
    if entry.t is not None:
        lines.append(Line(f"largest distance of a class{of} from all rows (t)", f"{entry.t:.3f}"))
    return lines


def _of_groups(
    groups: Groups, promises: Sequence[Mapping[str, object]], values: Mapping[str, float]
) -> Card | None:
    if not len(groups.sensitive_counts):
        return Card("none", "of the groups holds a sensitive item.")
    group = owners(groups.sensitive_indptr)
    degree = float((groups.sizes[group] / groups.sensitive_counts).min())
    degrees = [int(str(promise["p"])) for promise in promises if promise.get("p") is not None]
    promised = max(degrees, default=None)
    words = "is the largest share of a group's baskets that hold the same sensitive item: its degree."
    lines = []
    if promised is not None:
        lines.append(Line("degree reached, and promised", f"{number_near(degree)}, {promised}"))
    for name, text in ATTACKS:
        if name in values:
            above = promised is not None and values[name] > 1 / promised
            lines.append(Line(text, percent(values[name]), f"above 1/{promised}" if above else ""))
    if "pivot_certain" in values:
        lines.append(Line("groups where replaying is certain", percent(values["pivot_certain"])))
    return Card(one_in(degree), words, tuple(lines))


def _of_clusters(
    verdicts: "Sequence[Verdict]", values: Mapping[str, float], sizes: Sizes | None
) -> Card | None:
    lines = [Line(f"{verdict.model}: reached", number(verdict.value)) for verdict in verdicts[:1]]
    unit = "cluster" if sizes is None else sizes.unit
    if sizes is not None:
        lines.append(Line(f"smallest {unit}, in baskets", count(sizes.smallest)))
    if "certain_links" not in values:
        reached = next((verdict.value for verdict in verdicts if verdict.value is not None), None)
        return (
            None if reached is None else Card(number(reached), "is what the promise reaches.", tuple(lines))
        )
    links, clusters = int(values["certain_links"]), int(values.get("certain_clusters", 0))
    pairs = "pair of items is" if links == 1 else "pairs of items are"
    words = f"{pairs} linked for certain: every basket of the cluster that holds one also holds the other."
    lines.append(
        Line(f"{unit}s with such links", count(clusters), f"of {count(sizes.count)}" if sizes else "")
    )
    if "forced_links" in values:
        lines.append(Line("further pairs that some basket must hold", number(values["forced_links"])))
    if "largest_linked_share" in values:
        lines.append(Line("surest link across chunks", percent(values["largest_linked_share"])))
    return Card(count(links), words, tuple(lines))


def _of_baskets(
    baskets: Baskets,
    promises: Sequence[Mapping[str, object]],
    verdicts: "Sequence[Verdict]",
    values: Mapping[str, float],
) -> Card | None:
    reached = {verdict.model: verdict.value for verdict in verdicts}
    for promise in promises:
        model = str(promise.get("model"))
        value = reached.get(model)
        if value is None:
            continue
        if model == "hkp-coherence":
            return _cohorts(baskets, int(str(promise["p"])), float(value))
        if model == "km-anonymity":
            known = counted(int(str(promise["m"])), "item")
            words = (
                f"or more hold every combination of up to {known} that occurs: someone who knows that many of a "
                "person finds no fewer."
            )
            return Card(
                counted(int(value), "basket"), words, (Line("chance of being right", one_in(float(value))),)
            )
        if model == "hidden-associations":
            words = "is the highest confidence that a sensitive rule with the promised support still has."
            lines = (
                [Line("sensitive rules still found", percent(values["hiding_failure"]))]
                if "hiding_failure" in values
                else []
            )
            return Card(percent(float(value)), words, tuple(lines))
    return None


def _cohorts(baskets: Baskets, known: int, smallest: float) -> Card:
    words = (
        f"or more hold every set of at most {counted(known, 'public item')} that occurs: the smallest cohort that "
        "someone who knows that many finds."
    )
    lines = [Line("chance of finding the basket", one_in(smallest))]
    breach = surest_guess(baskets, known)
    if breach is not None:
        by = (
            f"knowing {listed([shown(item, 20) for item in breach.known])}"
            if breach.known
            else "knowing nothing"
        )
        lines.append(Line(f"surest guess of {shown(breach.secret, 20)}", percent(breach.share), by))
        if breach.most_known < known:
            lines.append(
                Line("… where the reader knows", counted(breach.most_known, "item"), "more were not tried")
            )
    empty = int((baskets.lengths == 0).sum())
    if empty:
        lines.append(Line("baskets without any item", count(empty)))
    return Card(counted(int(smallest), "basket"), words, tuple(lines))

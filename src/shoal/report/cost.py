"""What a release cost: the score that fits its form, in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.report.card import Card, Line
from shoal.report.wording import counted, number, percent, shown

if TYPE_CHECKING:
    from shoal.measures.measure import Score

LOSS = ("lm_mean", "gcp")
"""Scores of a table between 0 (nothing is lost) and 1 (everything is); the first screen shows the first it has."""

LOSS_PARTS = ("lm", "ncp")
"""Scores whose parts are the loss of each column, as a share."""

COLUMNS = 5
"""Columns whose loss the first screen shows."""

DETAIL = "of the detail is lost. 0\u00a0% is the original; at 100\u00a0% every cell is suppressed."


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of all columns together and of each, as shares; the columns that lost most come first."""

    share: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """A way to say what a release cost, for releases with a certain score."""

    score: str  # the score whose value is the figure
    words: str  # the sentence that goes on after the figure
    written: Callable[[float], str]  # how the figure is written
    lines: tuple[tuple[str, str, Callable[[float], str]], ...] = ()
    """Further scores that are shown where there are any: their names, what they are called, how they are written."""


ITEMSETS = (("tkd", "frequent itemsets no longer found (tkd)", percent),)

HEADLINES = (
    Headline(
        "lm_mean",
        DETAIL,
        percent,
        (
            ("suppressed_share", "rows suppressed", percent),
            ("item_loss", "detail of items lost", percent),
            ("pair_loss", "pairs of items of a person lost", percent),
            ("record_loss", "detail of records lost", percent),
            ("left_out_records", "records left out", percent),
        ),
    ),
    Headline("gcp", DETAIL, percent, (("suppressed_share", "rows suppressed", percent),)),
    Headline(
        "term_chunk_share",
        "of all items in baskets are hidden: clusters name them, but not how many of their baskets hold them.",
        percent,
        (
            *ITEMSETS,
            ("re", "error of the supports of pairs (re, 0 to 2)", number),
            ("tlost", "items that can no longer be counted", percent),
        ),
    ),
    Headline(
        "kl",
        "is the mean Kullback-Leibler divergence between the truth and what groups show of a sensitive item among "
        "public ones. 0 is the truth. Public items are published as they are.",
        number,
        (
            ("kl_frequent", "divergence for frequent items", number),
            ("query_error", "error of counts with a sensitive item", percent),
        ),
    ),
    Headline(
        "item_ncp",
        "of the items' detail is lost: the average share of all items that a published item stands for.",
        percent,
        (("generalized_occurrences", "published items that are coarser", percent), *ITEMSETS),
    ),
    Headline(
        "are",
        "is the mean error of queries that ask for public values and a secret together. Queries of public columns "
        "alone are answered exactly.",
        percent,
        (("are_median", "median error", percent),),
    ),
    Headline(
        "information_loss",
        "of all items in baskets are no longer published.",
        percent,
        (
            ("items_suppressed", "items that no basket shows", number),
            ("emptied_baskets", "baskets that lost all items", number),
            ("lost_rules", "other rules that are lost", percent),
            ("ghost_rules", "rules found only in the release", percent),
            *ITEMSETS,
        ),
    ),
)
"""Ways to say what a release cost; the first whose score was measured is taken."""


def loss_of(scores: "Sequence[Score]") -> Loss | None:
    """The loss of a table as a share, where it was measured."""
    by_name = {score.name: score for score in scores}
    with_parts = next((by_name[name] for name in LOSS_PARTS if name in by_name and by_name[name].parts), None)
    parts = {} if with_parts is None else dict(with_parts.parts)
    whole = next((by_name[name].value for name in LOSS if name in by_name), None)
    if whole is None:
        if not parts:
            return None
        whole = sum(parts.values()) / len(parts)
    return Loss(float(whole), tuple(sorted(parts.items(), key=lambda part: -part[1])))


def cost_of(scores: "Sequence[Score]") -> Card | None:
    """What the release cost, by the score that fits its form; None where nothing like it was measured."""
    values = {score.name: float(score.value) for score in scores}
    loss = loss_of(scores)
    headline = next((headline for headline in HEADLINES if headline.score in values), None)
    if headline is None:
        return None if loss is None else Card(percent(loss.share), DETAIL, _by_column(loss))
    figure = headline.written(values[headline.score])
    if values.get("starred_cells"):
        return _stars(values, Line("detail of the other columns lost", figure))
    lines = tuple(
        Line(name, written(values[score]))
        for score, name, written in headline.lines
        if score in values and (values[score] or score == "tkd")
    )
    return Card(figure, headline.words, (*(_by_column(loss) if loss else ()), *lines))


def _stars(values: Mapping[str, float], loss: Line) -> Card:
    share = values.get("starred_share", 0.0)
    stars = number(values["starred_cells"])
    words = f"of the sensitive cells are starred, {stars} in all, so that no rule is surer than promised."
    return Card(percent(share), words, (Line("starred cells", stars), loss))


def _by_column(loss: Loss) -> tuple[Line, ...]:
    """The loss of the columns that lost most, where there are several."""
    if len(loss.parts) < 2:
        return ()
    first = COLUMNS if len(loss.parts) <= COLUMNS else COLUMNS - 1
    lines = [Line(f"loss of {shown(name, 24)}", percent(share)) for name, share in loss.parts[:first]]
    rest = loss.parts[first:]
    if rest:
        lines.append(Line(f"of {counted(len(rest), 'more column')}", f"≤\u00a0{percent(rest[0][1])}"))
    return tuple(lines)

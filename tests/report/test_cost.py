"""What a release cost, in words."""

import pytest

from shoal.measures.measure import Score
from shoal.report.cost import COLUMNS, HEADLINES, cost_of, loss_of


def scores(**values: float) -> tuple[Score, ...]:
    return tuple(Score(name, value, "") for name, value in values.items())


@pytest.mark.parametrize(
    ("found", "figure", "words"),
    [
        (scores(lm_mean=0.25), "25.0 %", "of the detail is lost"),
        (scores(gcp=0.5), "50.0 %", "of the detail is lost"),
        (scores(kl=0.0243, query_error=0.5), "0.0243", "Kullback-Leibler divergence"),
        (scores(term_chunk_share=0.3, tkd=0.1), "30.0 %", "but not how many"),
        (scores(information_loss=0.9, item_ncp=0.1), "10.0 %", "of the items' detail is lost"),
        (scores(information_loss=0.9, tkd=0.0), "90.0 %", "are no longer published"),
    ],
)
def test_the_score_that_fits_the_form_is_told(found: tuple[Score, ...], figure: str, words: str) -> None:
    cost = cost_of(found)
    assert cost is not None
    assert cost.figure.replace("\xa0", " ") == figure
    assert words in cost.words


def test_further_scores_stand_below() -> None:
    cost = cost_of(scores(information_loss=0.9, tkd=0.0, items_suppressed=7, emptied_baskets=0))
    assert cost is not None
    assert [(line.name, line.value) for line in cost.lines] == [
        ("items that no basket shows", "7"),
        ("frequent itemsets no longer found (tkd)", "0\xa0%"),
    ]


def test_stars_are_the_cost_of_hidden_rules() -> None:
    cost = cost_of(scores(lm_mean=0.25, starred_cells=380, starred_share=0.0126))
    assert cost is not None
    assert cost.figure == "1.3\xa0%"
    assert "380" in cost.words
    assert cost.lines[-1].value == "25.0\xa0%"
    without = cost_of(scores(lm_mean=0.25, starred_cells=0, starred_share=0))
    assert without is not None
    assert without.figure == "25.0\xa0%"


def test_the_columns_that_lost_most_are_named() -> None:
    parts = {f"c{place}": place / 10 for place in range(1, 8)}
    cost = cost_of((Score("lm", 2.8, "", parts=parts), *scores(lm_mean=0.4)))
    assert cost is not None
    told = [(line.name, line.value.replace("\xa0", " ")) for line in cost.lines]
    assert told[:2] == [("loss of c7", "70.0 %"), ("loss of c6", "60.0 %")]
    assert told[-1] == ("of 3 more columns", "≤ 30.0 %")
    assert len(told) == COLUMNS


def test_what_was_not_measured_is_not_told() -> None:
    assert cost_of(()) is None
    assert cost_of(scores(classes=3)) is None
    assert loss_of(scores(kl=0.1)) is None


def test_every_headline_names_scores_that_there_are() -> None:
    from shoal import registry

    known = {name for measure in registry.MEASURES for name in registry.load("measure", measure).scores_named}
    asked = {headline.score for headline in HEADLINES} | {
        name for one in HEADLINES for name, _, _ in one.lines
    }
    assert asked <= known

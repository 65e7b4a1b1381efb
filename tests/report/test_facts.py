"""A run as plain data."""

import json
import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from html import unescape

import pytest
from tests.attacks.releases import people_table
from tests.hand_made import FORMS, TREE, run_of
from tests.tables import column, table

import shoal
from shoal.data.table import Table
from shoal.data.verdict import Offender, Verdict
from shoal.measures.measure import Score
from shoal.outcome import Run
from shoal.report.facts import COLUMNS, MARGINALS, RECIPE, facts_of, recipe_text
from shoal.report.page import render


def test_facts_are_plain_data(run: Run) -> None:
    assert json.loads(json.dumps(asdict(facts_of(run))))["form"] == "table"


def test_the_facts_of_a_table(run: Run) -> None:
    facts = facts_of(run)
    assert facts.source == "people.csv"
    assert facts.holds
    assert dict(facts.counts) == {
        "rows read": 6,
        "rows published": 6,
        "rows suppressed": 0,
        "columns published": 4,
    }
    assert facts.roles == {"quasi": ("age", "town"), "sensitive": ("illness",), "insensitive": ("note",)}
    assert facts.dropped == ("name",)
    assert facts.parameters == (("k", "3"),)


def test_columns_are_compared_with_what_they_were(run: Run) -> None:
    age, town = facts_of(run).columns
    assert (age.form, age.before, age.after, age.coarse) == ("ranges", 6, 2, 1)
    assert age.examples == ("[20,30]", "[40,45]")
    assert not age.levels
    assert (town.form, town.before, town.after, town.coarse, town.suppressed) == ("nodes", 3, 2, 0.5, 0.5)
    assert [(level.share, level.example) for level in town.levels] == [(0, ""), (0.5, "Germany"), (0.5, "*")]
    assert town.off_levels == 0
    assert (age.loss, town.loss) == (0.25, 0.5)


def test_what_is_as_it_was_is_not_told_to_differ() -> None:
    cells = [str(row % 7) for row in range(1000)]
    (entry,) = facts_of(run_of(table({"q": cells}), {"q": cells})).columns
    assert (entry.exact, entry.marginal.shift) == (1, 0)
    wide = {"q": ["[1,5]" if cell in "12345" else cell for cell in cells]}
    numbers = [int(cell) for cell in cells]
    (entry,) = facts_of(run_of(table({"q": numbers}), wide)).columns
    assert entry.marginal.pairs[0].before == entry.marginal.pairs[0].after


def test_cells_that_are_no_node_are_counted_beside_the_levels() -> None:
    original = Table((column("town", ["Bonn", "Rome"], hierarchy=TREE),))
    (town,) = facts_of(run_of(original, {"town": ["{Bonn|Rome}", "Rome"]}, k=2)).columns
    assert [level.share for level in town.levels] == [0.5, 0, 0]
    assert town.off_levels == 0.5
    assert town.form == "sets"


def test_the_loss_is_that_of_the_scores(run: Run) -> None:
    loss = facts_of(run).loss
    assert loss is not None
    assert loss.share == pytest.approx(0.375)
    assert loss.parts == (("town", 0.5), ("age", 0.25))
    only_parts = replace(run, scores=run.scores[:1])
    assert facts_of(only_parts).loss == loss
    assert facts_of(replace(run, scores=(Score("rules", 3.0, "Rules that are lost."),))).loss is None


def test_classes_and_what_they_give_away(run: Run) -> None:
    facts = facts_of(run)
    assert facts.sizes is not None
    assert (facts.sizes.count, facts.sizes.smallest, facts.sizes.promised) == (2, 3, 3)
    (illness,) = facts.sensitive
    assert (illness.certain_classes, illness.certain_rows, illness.least_distinct) == (1, 3, 1)
    assert illness.common_share == pytest.approx(4 / 6)


def test_persons_are_counted_where_rows_belong_together() -> None:
    data = table({"q": ["a"] * 4, "who": ["1", "1", "2", "2"]}, entity="who")
    sizes = facts_of(run_of(data, {"q": ["a"] * 4}, k=2)).sizes
    assert sizes is not None
    assert (sizes.noun, sizes.smallest) == ("persons", 2)


def test_the_columns_that_lost_most_are_shown_before_and_after(people: Table) -> None:
    columns = {f"c{place}": ["a", "b", "c"] for place in range(COLUMNS + 5)}
    facts = facts_of(run_of(table(columns), {name: ["*"] * 3 for name in columns}))
    assert [entry.column for entry in facts.marginals] == [
        f"c{COLUMNS + 4 - place}" for place in range(MARGINALS)
    ]
    assert len(facts.columns) == COLUMNS
    assert facts.column_count == COLUMNS + 5


def test_suppressed_rows_that_are_published_are_said_to_be() -> None:
    run = run_of(table({"q": ["a", "a", "b"]}), {"q": ["a", "a", "*"]}, k=2)
    kept = replace(run, release=replace(run.release, suppressed=1))
    assert ("rows suppressed, published as *", 1) in facts_of(kept).counts


def test_verdicts_are_ready_to_be_read(run: Run) -> None:
    verdict = Verdict(
        "m",
        "no more than a third",
        False,
        Fraction(1, 2),
        Fraction(1, 3),
        (Offender("age 3", "too many"),),
        7,
    )
    (judged,) = facts_of(replace(run, verdicts=(verdict,))).verdicts
    assert (judged.value, judged.threshold) == ("0.5", "0.3333")
    assert judged.offenders == (("age 3", "too many"),)
    assert judged.offender_count == 7


def test_the_recipe_can_be_run_again() -> None:
    recipe = {"source": {"path": "a.csv"}, "method": {"name": "m", "k": 3, "t": None}, "seed": None}
    assert tomllib.loads(recipe_text(recipe)) == {
        "source": {"path": "a.csv"},
        "method": {"name": "m", "k": 3},
    }


def test_the_recipe_tells_no_password() -> None:
    text = recipe_text({"source": {"path": "postgresql://me:s3cret@host/base?table=t"}})
    assert "s3cret" not in text
    assert "postgresql://me@host/base?table=t" in text


def test_a_long_recipe_is_cut() -> None:
    assert (
        len(recipe_text({"roles": {"quasi": [f"column {place}" for place in range(20_000)]}})) < RECIPE + 100
    )


@pytest.mark.parametrize("path", ["-", "postgresql://me:s3cret@host/base"])
def test_what_is_no_file_has_no_name(run: Run, path: str) -> None:
    assert facts_of(replace(run, recipe={"source": {"path": path}})).source is None


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_other_forms_have_their_facts(make: Callable[[], Run]) -> None:
    run = make()
    facts = facts_of(run)
    assert facts.form == make.__name__
    assert ("baskets read", 3) in facts.counts
    assert 3 in dict(facts.counts[1:]).values()
    assert not facts.columns
    assert (facts.sizes is None) == (facts.form == "baskets")
    assert facts.verdicts[0].value == "–"


def test_diversity_and_closeness_are_shown_though_nobody_asked() -> None:
    original = table({"x": ["a", "a", "b", "b"], "s": ["u", "v", "u", "u"]}, sensitive=["s"])
    (entry,) = facts_of(run_of(original, {"x": ["a", "a", "b", "b"]}, k=2)).sensitive
    assert (entry.least_distinct, entry.entropy_l, entry.t) == (1, 1.0, 0.25)


def test_risk_before_promise_and_attacks_after() -> None:
    run = shoal.anonymize(people_table(300), "mondrian", k=10, l=2)
    tried = {one.name: one for one in facts_of(run).attacks}
    assert set(tried) == {"linkage", "inference", "certainty"}
    assert tried["linkage"].promised.replace("\u00a0", " ") == "at most 10.0 %"
    assert tried["certainty"].promised.replace("\u00a0", " ") == "at most 0 %"
    assert tried["inference"].promised == ""
    before, after = (
        float(text.split("\u00a0")[0]) for text in (tried["linkage"].before, tried["linkage"].after)
    )
    assert before > 50 > 10 >= after
    assert tried["linkage"].sentence in unescape(render(run))

"""What the measures and the notes tell of hidden rules."""

import pytest
from tests.rule_hiding import people, published
from tests.tables import table

from shoal.measures import hidden_rules as measures
from shoal.measures._chosen import measure
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian


def test_the_reader_of_stars_succeeds_on_star_and_not_on_decoy() -> None:
    data = people(600)
    found = {}
    for strategy in ("star", "decoy", "merge"):
        _, release, _ = published(data, k=6, confidence=0.45, strategy=strategy, column="ill")
        found[strategy] = flat(measure(data, release, (measures.HiddenRules(),)))
    assert found["star"]["starred_cells"] > 0
    assert found["star"]["confidence_stars"] == 1
    assert 0 < found["decoy"]["confidence_stars"] <= 0.45
    assert found["decoy"]["starred_cells"] > found["star"]["starred_cells"]
    assert found["merge"]["starred_cells"] == 0
    assert found["merge"]["confidence_worst"] == found["merge"]["confidence_published"] <= 0.45
    assert found["star"]["confidence_before"] == found["decoy"]["confidence_before"] > 0.45
    assert found["star"]["confidence_worst"] == found["star"]["confidence_before"]
    assert found["star"]["lost_class_rules"] == 0 < found["decoy"]["lost_class_rules"]


def test_before_is_what_the_notes_say() -> None:
    _, release, trace = published(people(), k=5, confidence=0.5, column="ill")
    scores = flat(measure(people(), release, (measures.HiddenRules(),)))
    notes = trace.notes["rules.ill"]
    assert scores["confidence_before"] == notes["confidence_before"]
    assert scores["confidence_published"] == notes["confidence_after"]
    assert scores["confidence_worst"] == notes["confidence_worst"]
    assert scores["starred_cells"] == notes["stars"] == notes["least_stars"]


def test_before_classes_were_joined() -> None:
    """The classes before are not published: the notes know them, the measure does not."""
    _, release, trace = published(people(600), k=6, confidence=0.45, strategy="merge", column="ill")
    assert "confidence_before" not in flat(measure(people(600), release, (measures.HiddenRules(),)))
    before = trace.notes["rules.ill"]["confidence_before"]
    assert before > 0.45
    assert f"(confidence {before:.4g} at most before)" in " ".join(trace.notes["summary"])


def test_a_star_of_the_original_is_no_value() -> None:
    data = table({"x": ["a"] * 6, "s": ["u", "u", "v", "*", "*", "*"]}, sensitive=["s"])
    _, release, trace = published(data, confidence=0.2, anonymize_with="none")
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["confidence_before"] == trace.notes["rules.s"]["confidence_before"] == pytest.approx(1 / 3)


def test_confidences_of_whole_classes_say_so() -> None:
    for antecedent, words in (("any", "of a rule of a whole class"), ("class", "of a rule as published")):
        _, release, _ = published(people(), k=5, confidence=0.5, column="ill", antecedent=antecedent)
        meanings = {one.name: one.meaning for one in measure(people(), release, (measures.HiddenRules(),))}
        assert words in meanings["confidence_published"]


def test_other_releases_have_no_such_scores() -> None:
    release, _ = Mondrian(k=3).anonymize(people())
    assert measure(people(), release, (measures.HiddenRules(),)) == ()

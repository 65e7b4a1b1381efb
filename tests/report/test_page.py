"""The page: complete, safe, and readable by everybody."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.hand_made import FORMS, run_of
from tests.markup import Markup
from tests.tables import column, table

from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.data.verdict import Verdict
from shoal.models.k_anonymity import KAnonymity
from shoal.outcome import Run
from shoal.report.page import render

HEADINGS = ("h1", "h2", "h3", "h4")
EVIL = [
    '<script>alert("1")</script>',
    "\"onload='x'",
    "</svg></style><b>",
    "&amp;",
    "{{ 7*7 }}",
    "\x00\x1b\u202e\ud800",
]


def words(page: Markup) -> str:
    return re.sub(r"\s+", " ", "".join(page.texts))


def check(text: str) -> Markup:
    """What every page must be."""
    assert text.startswith("<!DOCTYPE html>")
    page = Markup(text)
    tags = page.tags
    assert not {"script", "link", "iframe", "object", "embed", "img", "base", "form"} & set(tags)
    assert not [
        name for _, given, _ in page.elements for name in given if name.startswith("on") or name == "style"
    ]
    assert not page.attributes("src")
    ids = page.attributes("id")
    assert len(set(ids)) == len(ids)
    assert all(link.startswith("#") and link[1:] in ids for link in page.attributes("href"))
    for name in ("aria-labelledby", "aria-describedby"):
        assert set(page.attributes(name)) <= set(ids)
    assert "http" not in text
    assert "url(" not in re.sub(r"url\(#[a-z0-9-]+\)", "", text)
    assert "@import" not in text
    assert (
        tags.count("h1")
        == tags.count("main")
        == tags.count("title") - text.count("<title id") - text.count("<g><title>")
    )
    for tag, given, path in page.elements:
        if tag == "svg":
            assert given["role"] == "img"
        if tag == "th":
            assert given["scope"] in ("col", "row")
        if tag in ("title", "desc") and path and path[-1] == "svg":
            assert given["id"]
    assert tags.count("caption") == tags.count("table")
    levels = [HEADINGS.index(tag) for tag in tags if tag in HEADINGS]
    assert all(level <= before + 1 for before, level in pairwise([-1, *levels]))
    assert tags.count("svg") - text.count('<svg class="matrix"') == tags.count("figure")
    assert tags.count("details") == tags.count("figure")
    assert tags.count("desc") == tags.count("svg")
    assert tags.count("figcaption") == tags.count("figure")
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text)
    return page


def test_the_page_is_whole_and_says_what_matters(run: Run) -> None:
    said = words(check(render(run)))
    assert "The promise holds" in said
    assert "✓ Kept: Someone who knows age and town of a person can guess that person's row" in said
    assert "every class has at least 3 rows · promised 3, reached 3" in said
    for heading in ("Context", "Singling out", "Linkability", "Inference", "not a legal opinion"):
        assert heading in said
    assert "Someone who knows age and town of a person finds at least 3 rows" in said
    assert "37.5 % of the detail is lost" in said.replace("\xa0", " ")
    assert "release/ Publish this folder and nothing else" in said
    assert "What is left of the risk 1 in 3 is the highest chance that someone who knows a person's" in said
    assert "quasi-identifiers picks out that person's row" in said
    assert "3 rows (50.0 %) are in classes where all rows have the same illness" in said.replace("\xa0", " ")
    assert "[20,30]" in said
    assert 'path = "data/people.csv"' in page_recipe(said)
    for heading in (
        "How far columns were generalized",
        "Class sizes and loss",
        "Before and after",
        "Details",
    ):
        assert heading in said


def page_recipe(said: str) -> str:
    return said[said.index("To repeat it") :]


def test_a_broken_promise_is_told_by_words_and_mark(run: Run) -> None:
    broken = replace(run, verdicts=(KAnonymity(k=4).verify(run.release.data),))
    said = words(check(render(broken)))
    assert "The promise is broken" in said
    assert "✗ Broken: Someone who knows age and town of a person" in said
    assert "every class has at least 4 rows" in said
    assert "Do not publish this release" in said
    assert "release/" not in said
    assert "3 rows where 4 are promised" in said
    assert "✓" not in said


def test_one_broken_promise_of_two_is_enough(run: Run) -> None:
    two = replace(run, verdicts=(*run.verdicts, Verdict("m", "nothing is learned", False, 1, 0)))
    said = words(check(render(two)))
    assert "Not all promises hold" in said
    assert "✓" in said
    assert "✗" in said


@pytest.mark.parametrize("evil", EVIL)
def test_texts_of_the_data_stay_texts(evil: str) -> None:
    cells = [evil, evil + "b", evil + "c"]
    data = Table(
        (
            column(evil + "q", cells),
            column(evil + "o", cells, kind=Kind.ORDINAL),
            column(evil + "s", [evil] * 3, Role.SENSITIVE),
            column(evil + "i", cells, Role.INSENSITIVE),
        )
    )
    run = run_of(data, {evil + "q": ["{x|" + evil + "}"] * 3, evil + "o": ["*", evil, evil]}, k=2)
    recipe = {"source": {"path": "in/" + evil.replace("/", "")}, "method": {"name": evil}}
    release = replace(run.release, method=evil, parameters={evil: evil})
    verdict = KAnonymity(k=3).verify(run.release.data)
    page = check(
        render(replace(run, recipe=recipe, release=release, verdicts=(verdict,), seconds={evil: 1.0}))
    )
    assert "b" not in page.tags
    said = re.sub("[0-9a-f]{64}", "", words(page))
    assert "49" not in said or "{{ 7*7 }}" in said


def test_the_page_shows_no_row_of_the_original(run: Run) -> None:
    data = Table(
        tuple(
            replace(
                one,
                domain=replace(
                    one.domain, labels=tuple(f"{one.name}-secret-{label}" for label in one.domain.labels)
                ),
            )
            if one.role is not Role.QUASI
            else one
            for one in run.original.columns
        )
    )
    ages, towns = ["[20,30]"] * 3 + ["[40,45]"] * 3, ["Germany"] * 3 + ["*"] * 3
    assert "-secret-" not in render(run_of(data, {"age": ages, "town": towns}))


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_other_forms_have_a_page(make: Callable[[], Run]) -> None:
    said = words(check(render(make())))
    assert "The promise holds" in said
    assert "baskets read" in said
    assert "quasi" not in said


def test_a_run_without_scores_or_recipe_has_a_page(run: Run) -> None:
    said = words(check(render(replace(run, scores=(), recipe={}, seconds={}))))
    assert "What it cost" not in said
    assert "To repeat it" not in said


def test_an_empty_release_has_a_page(run: Run) -> None:
    data = run.release.data.take(np.array([], dtype=np.int64))
    check(render(replace(run, release=replace(run.release, data=data, suppressed=6))))


def test_a_table_without_quasi_identifiers_has_a_page() -> None:
    data = Table((column("s", ["a", "b"], Role.SENSITIVE),))
    check(render(run_of(data, {}, k=2)))


def test_missing_values_are_named() -> None:
    data = table({"q": ["a", "a", None, None]})
    said = words(check(render(run_of(data, {"q": ["a", "a", "", ""]}, k=2))))
    assert "(missing)" in said


def test_the_page_stays_small() -> None:
    """Many distinct and long values, many classes, many columns."""
    rows = 50_000
    long = "x" * 20_000
    labels = tuple(sorted(f"{place} {long[:300]}" for place in range(rows)))
    codes = np.arange(rows, dtype=np.int32)
    big = Column("big " + long, Role.QUASI, Domain(Kind.NOMINAL, labels), codes)
    flag = Domain(Kind.NOMINAL, ("n", "y"))
    narrow = tuple(
        Column(f"{place} {long}", Role.QUASI, flag, (codes >> (place % 15)) % 2) for place in range(150)
    )
    data = Table((big, *narrow))
    page = render(run_of(data, {}, k=2))
    assert len(page.encode()) < 1_000_000
    check(page)


def test_the_same_run_gives_the_same_page(run: Run) -> None:
    assert render(run) == render(run)


def test_both_color_schemes_and_paper_are_thought_of(run: Run) -> None:
    text = render(run)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    declared = set(re.findall(r"(--[a-z-]+):", style))
    assert set(re.findall(r"var\((--[a-z-]+)\)", style)) <= declared
    outside = style[style.index("* { box-sizing") : style.index("@media print")]
    assert not re.search(r"#[0-9a-f]{3,6}\b", outside)

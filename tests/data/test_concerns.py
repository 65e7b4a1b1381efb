"""What an owner hears before publishing."""

from dataclasses import replace

import numpy as np
import pytest
from tests.hand_made import publish

from shoal.data.domain import nominal
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.io.releases.set_lines import Lines, read_clusters
from shoal.risks.disclosure_warnings import concerns, count_bare


def column(name: str, role: Role, cells: str) -> Column:
    labels = tuple(sorted(set(cells.split())))
    codes = np.array([labels.index(cell) for cell in cells.split()], dtype=np.int32)
    return Column(name, role, nominal(labels), codes)


AGES = column("age", Role.QUASI, "20 20 30 30")


def said(*columns: Column, **published: list[str]) -> tuple[str, ...]:
    table = Table((AGES, *columns))
    changed = [publish(one, published[one.name]) if one.name in published else one for one in table.columns]
    return concerns(table, Table(tuple(one for one in changed if one.name != "dropped")))


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("phone", "1 1 2 2", "its name says"),
        ("remark", "a b c c", "50% of the rows have a value of their own"),
        ("remark", "a a b c", "50% of the rows"),
    ],
)
def test_insensitive_columns_that_tell_persons_apart(name: str, cells: str, why: str) -> None:
    sentence = said(column(name, Role.INSENSITIVE, cells))[0]
    assert sentence.startswith(f"The insensitive column {name!r} is published as it is")
    assert why in sentence


def test_one_value_for_all_tells_nobody_apart() -> None:
    assert not said(column("data_id", Role.INSENSITIVE, "a a a a"))


def test_columns_of_values_of_their_own_are_one_sentence() -> None:
    sentences = said(*(column(name, Role.INSENSITIVE, "a b c d") for name in ("one", "two")))
    assert sentences[0] == (
        "2 insensitive columns are published as they are, and most rows have a value of their own in them: 'one' "
        "(100%), 'two' (100%). If others can know one of them, make it quasi; if it names persons, identifying."
    )
    assert sum("of their own" in sentence for sentence in sentences) == 1


def test_baskets_for_which_no_sub_record_is_left() -> None:
    """Of five baskets two are in chunks, and one may be in the shared chunk above; the terms are secret."""

    def bare(line: str, left_out: bool = False) -> int:
        return count_bare(read_clusters(Lines("lines", [line])), {"s", "t"}, left_out=left_out)

    simple = '{"size": 5, "chunks": [[["a"], ["a"]]], "terms": ["s", "t"]}'
    assert bare(simple) == 3
    assert bare(simple, left_out=True) == 0, "they may have been in chunks"
    assert bare('{"size": 5, "chunks": [], "terms": ["s"]}', left_out=True) == 5
    assert bare(f'{{"joint": [{simple}, {simple}], "shared": [[["b"]]]}}') == 4
    assert bare(simple.replace('"t"', '"u"')) == 0, "u is public, and may be in all of them"
    assert bare('{"size": 5, "chunks": [], "terms": []}') == 0, "they are empty"


def test_nothing_to_say() -> None:
    assert said() == ()
    assert said(column("remark", Role.INSENSITIVE, "a a b b")) == ()
    assert said(column("email", Role.IDENTIFYING, "a b c d")) == ()
    assert said(column("illness", Role.SENSITIVE, "a b c d")) == ()


def test_a_quasi_identifier_that_names_persons_and_is_published_raw() -> None:
    phone = column("phone", Role.QUASI, "1 1 2 3")
    (sentence,) = said(phone, phone=["1", "1", "{2|3}", "{2|3}"])
    assert "'phone' looks like one that names persons, and 4 rows publish it, alone or in a list" in sentence
    assert said(phone, phone=["*"] * 4) == ()


def test_a_quasi_identifier_that_looks_like_something_else() -> None:
    (sentence,) = said(column("weight", Role.QUASI, "61,5 61,5 70,0 70,0"))
    assert sentence.startswith("The quasi-identifier 'weight' looks like numbers with a decimal comma")


def test_rows_are_counted() -> None:
    number = column("patient_id", Role.SENSITIVE, "a a b b")
    (sentence,) = said(number)
    assert sentence.startswith("Rows, not persons, are counted: 'patient_id'")
    assert "2 values in 4 rows" in sentence
    assert said(replace(number, role=Role.ENTITY)) == ()
    assert said(number, column("person", Role.ENTITY, "a a b b")) == ()
    assert said(column("patient_id", Role.SENSITIVE, "a b c d")) == ()

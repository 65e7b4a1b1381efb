"""What the Safe Harbor rule lists, told by content."""

import datetime

import pytest
from tests.tables import Cell, column

from shoal.risks.safe_harbor import safe_harbor

FOUND: list[tuple[str, list[Cell], str]] = [
    ("a", ["ann@example.org", "bob.b@mail.example.com", "none"], "email"),
    ("a", ["https://example.org/x", "www.example.org/y"], "url"),
    ("a", ["123-45-6789", "234-56-7890"], "ssn"),
    ("a", ["192.0.2.1", "2001:db8::1"], "ip"),
    ("a", ["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5F"], "device"),
    ("a", ["DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819"], "account"),
    ("a", ["4111 1111 1111 1111", "5500-0000-0000-0004"], "account"),
    ("a", ["1M8GDM9AXKP042788", "11111111111111111", "5GZCZ43D13S812715"], "vehicle"),
    ("a", ["1970-01-02", "02.01.1970", "12/31/1999"], "date"),
    ("a", [datetime.date(1970, 1, 2), datetime.date(1980, 1, 2)], "date"),
    ("a", ["+1 212-555-0187", "(212) 555-0143", "0171 5550 123"], "phone"),
    ("a", ["Mary Smith", "James T. Brown", "Patel, Anna"], "name"),
    ("a", ["face1.jpg", "face2.png"], "photo"),
    ("zip", ["13053", "13068", "13053"], "zip"),
    ("age", ["39", "91", "40"], "age"),
    ("a", [f"AB-{row}" for row in range(1001, 1021)], "record"),
    ("patient_id", ["7", "8", "7"], "record"),
]
NOT_FOUND: list[tuple[str, list[Cell]]] = [
    ("race", ["White", "White", "Black", "Other", "Asian", "Amer-Indian"]),
    ("age", ["39", "40", "41"]),
    ("income", ["12000", "54000", "12000", "38000"]),
    ("a", ["999-99-9999", "000-12-3456"]),
    ("a", ["999.1.2.3", "1.2.3"]),
    ("a", ["2020-13-01", "2020-02-30"]),
    ("a", ["4111 1111 1111 1112", "1234 5678 1234 5678"]),
    ("a", [None, None]),
    ("diagnosis", ["flu", "cold", "flu"]),
]


@pytest.mark.parametrize(("name", "cells", "kind"), FOUND)
def test_a_kind_is_found(name: str, cells: list[Cell], kind: str) -> None:
    found = safe_harbor([column(name, cells)])
    assert [one.kind for one in found] == [kind]
    assert found[0].column == name
    assert name in found[0].reason


@pytest.mark.parametrize(("name", "cells"), NOT_FOUND)
def test_what_only_looks_alike_is_not(name: str, cells: list[Cell]) -> None:
    assert safe_harbor([column(name, cells)]) == ()


def test_half_of_the_cells_are_not_enough() -> None:
    assert safe_harbor([column("a", ["ann@example.org", "none"])]) == ()

"""Persons and their records in two published files: the view of the join, checks, and falsified releases."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.naive.mixed import related_in_order
from tests.naive.mixed_attacker import may_be_hers
from tests.soak.cases import Case
from tests.soak.cells import covers
from tests.soak.published import Published, Row

VIEW = "the records"
"""The column of the view with everything that may be known of a person's records."""


def view(case: Case, published: Published) -> list[Row]:
    """The persons, each with one more cell: what may be known of her records."""
    key, known = published.facts["key"], case.recipe["roles"]["quasi"]
    held: dict[str, list[list[str]]] = defaultdict(list)
    for record in published.records:
        held[record[key]].append([cell for name, cell in record.items() if name in known])
    return [{**row, VIEW: json.dumps(sorted(held[row[key]]))} for row in published.rows]


def faults(case: Case, published: Published, places: list[int], release: Any) -> Iterator[str]:
    """What is wrong with the records, apart from the promises about persons.

    `places`: the original row of each person. `release`: the published table, with hierarchies and orders.
    """
    key, roles = published.facts["key"], case.recipe["roles"]
    if not related_in_order(published.rows, published.records, key):
        yield "persons and records are not in canonical order"
    if published.facts["record_rows"] != len(published.records):
        yield f"release.json says {published.facts['record_rows']} records, and there are {len(published.records)}"

    def fit(own: Row, shown: Row) -> bool:
        return all(
            covers(cell, own[name], release.paths.get(name), release.orders.get(name))
            if name in roles["quasi"]
            else cell == own[name]
            for name, cell in shown.items()
            if name != key
        )

    for place, row in zip(places, published.rows, strict=True):
        own = [record for record in case.records if record["key"] == str(place)]
        shown = [record for record in published.records if record[key] == row[key]]
        if not may_be_hers(shown, own, fit):
            yield f"the records {own} are published as {shown}"
            return


def edit(random: Random, case: Case, published: Published) -> None:
    """Change a cell of a person or a record, give a record to somebody else, or leave one out."""
    key, way = published.facts["key"], random.random()
    if way < 0.3 or not published.records:
        row, rows = random.choice(published.rows), published.rows
    else:
        row, rows = random.choice(published.records), published.records
    if way > 0.8 and len(rows) > 1 and rows is published.records:
        rows.remove(row)
    elif way > 0.6 and rows is published.records:
        row[key] = random.choice(published.rows)[key]
    else:
        name = random.choice([name for name in row if name != key])
        row[name] = random.choice(rows)[name]


def write(release: Path, published: Published) -> None:
    """Write both files in canonical order."""
    key = published.facts["key"]
    held: dict[str, list[list[str]]] = defaultdict(list)
    for record in published.records:
        held[record[key]].append([cell for name, cell in record.items() if name != key])
    persons = sorted(
        ([cell for name, cell in row.items() if name != key], sorted(held[row[key]]))
        for row in published.rows
    )
    tables = {
        "data.csv": [published.names, *([*cells, number + 1] for number, (cells, _) in enumerate(persons))],
        "records.csv": [
            list(published.records[0]),
            *([number + 1, *cells] for number, (_, own) in enumerate(persons) for cells in own),
        ],
    }
    for name, lines in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        (release / name).write_text(text.getvalue(), encoding="utf-8", newline="")

"""Who is grouped with whom must not depend on secrets: with shuffled secrets, every class stays as it is."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.soak.cases import Case
from tests.soak.engines import Engines, Outcome
from tests.soak.published import read

from shoal import registry


def applies(case: Case) -> bool:
    """Whether no promise is about secrets, and the choice among equal rows is drawn by a seed."""
    if not case.is_table or case.recipe["seed"] is None or "data.csv" not in case.files:
        return False
    models = [registry.load("model", one["model"]) for one in case.promises]
    about = any("column" in model.model_fields for model in models) or "confidence" in case.recipe["method"]
    roles, reading = case.recipe["roles"], case.recipe["source"]["reading"]
    plain = "separator" in reading and "names" not in reading and "drop_missing" not in reading
    return plain and not about and not roles.get("entity") and bool(roles["sensitive"]) and len(case.rows) > 1


def follows(case: Case, first: Outcome, engines: Engines, folder: Path) -> str:
    """What changes when secrets change places; empty where nothing changes."""
    text = case.files["data.csv"].decode("utf-8-sig")
    separator = case.recipe["source"]["reading"]["separator"]
    names, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    hidden = [
        place
        for place, name in enumerate(names)
        if name in (*case.recipe["roles"]["sensitive"], *case.recipe["roles"]["insensitive"])
    ]
    order = Random(case.seed).sample(range(len(rows)), len(rows))
    moved = [
        [rows[order[row]][place] if place in hidden else cell for place, cell in enumerate(cells)]
        for row, cells in enumerate(rows)
    ]
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows([names, *moved])
    shuffled = replace(case, files={**case.files, "data.csv": written.getvalue().encode()})
    folder.mkdir()
    second = engines("local", shuffled, shuffled.lay_out(folder), folder)
    if second.status != "published":
        return f"with shuffled secrets it is {second.name}: {second.message}"
    if _cells(case, first) != _cells(case, second):
        return "rows are published in other classes when their secrets change places"
    return ""


def _cells(case: Case, outcome: Outcome) -> dict[int, list[str]]:
    """The published quasi-identifiers of every original row."""
    rows = read(outcome.folder).rows
    quasi = case.recipe["roles"]["quasi"]
    return {
        place: [row[name] for name in quasi if name in row]
        for place, row in zip(outcome.run.trace.rows.tolist(), rows, strict=True)
    }

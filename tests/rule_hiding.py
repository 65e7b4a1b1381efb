"""Tables with rules to hide, and their releases, of which every promise is proved."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.tables import column, table, texts

from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models._release_checks import NOTHING
from shoal.outcome import judge

QUASI = ("x", "y")


def published(
    data: Table, seed: int | None = 1, **parameters: Any
) -> tuple[list[dict[str, str]], Release, Trace]:
    """The published rows, after every promise was proved."""
    release, trace = TableRuleHiding(**parameters).anonymize(data, seed=seed)
    assert isinstance(release.data, Table)
    verdicts = [verdict for verdict in judge(release) if verdict.model != NOTHING]
    assert all(verdict.holds for verdict in verdicts), verdicts
    return texts(release.data), release, trace


def people(rows: int = 300, seed: int = 3) -> Table:
    """Persons with three quasi-identifiers, two sensitive columns and one that is neither."""
    random = np.random.default_rng(seed)
    return Table(
        (
            column("name", [f"person {row}" for row in range(rows)], Role.IDENTIFYING),
            column("x", random.integers(0, 60, rows).tolist()),
            column("y", random.choice(["m", "f", None], rows).tolist()),
            column("z", random.choice(list("pqrst"), rows).tolist()),
            column(
                "ill",
                random.choice(
                    ["flu", "cold", "gout", "mumps", None], rows, p=[0.4, 0.2, 0.2, 0.1, 0.1]
                ).tolist(),
                Role.SENSITIVE,
            ),
            column("income", random.integers(0, 4, rows).tolist(), Role.SENSITIVE),
            column("shift", random.choice(["day", "night"], rows).tolist(), Role.INSENSITIVE),
        )
    )


@st.composite
def small_tables(draw: st.DrawFn, least: int = 2, most: int = 7) -> Table:
    """A table of x, y and the sensitive s, so small that every way to star it can be tried."""
    rows = draw(st.integers(least, most))

    def cells(values: str) -> list[str]:
        return draw(st.lists(st.sampled_from(list(values)), min_size=rows, max_size=rows))

    return table({"x": cells("ab*"), "y": cells("pq"), "s": cells("uuvw")}, sensitive=["s"])


def classes_of(
    rows: list[dict[str, str]], quasi: tuple[str, ...], name: str
) -> dict[tuple[str, ...], Counter[str]]:
    """How often each value of a column occurs in each class."""
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[tuple(row[one] for one in quasi)][row[name]] += 1
    return found

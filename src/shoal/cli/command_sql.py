"""``shoal sql``: print the query that checks a promise inside a warehouse."""

from collections.abc import Sequence

from cyclopts import App

from shoal.cli import show
from shoal.cli.options import Section, flattened, single
from shoal.models._warehouse_query import Question

EXAMPLE = """Example:
  shoal sql --table sales.release --quasi age,education --sensitive occupation \\
      --k 5 --l 2 --dialect postgres"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("sql", flattened(sql, question=Section(Question, "Promise")), EXAMPLE)


def sql(*, question: Question) -> int:
    """Print the query that checks a promise inside a warehouse.

    No row leaves it. The answer is a row a promise: its name, the column it is about, what was promised and reached,
    and whether it holds.
    """
    for text in question.query().splitlines():
        show.line(text)
    return 0

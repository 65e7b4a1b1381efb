"""A promise of tables as a query: a warehouse judges its own table, and no row leaves it.

The query gives a row a promise: its name, what was promised, what is reached, and whether it holds. It counts as the
models do: a missing cell (NULL) is a value like any other, a sensitive cell ``*`` tells no value, and a row that is
``*`` in all quasi-identifiers and sensitive columns is in no class. Shares are compared as whole numbers, without
rounding; a star may be any value, so that it counts for each. Where a column has stars, closeness is left open
(NULL): `shoal verify` judges it.
"""

from fractions import Fraction
from typing import Literal, TypeAlias

from pydantic import Field

from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import NO_QUASI
from shoal.errors import MissingExtra, WrongUse
from shoal.models._exact import fraction
from shoal.parameters import Parameters

Dialect: TypeAlias = Literal["duckdb", "postgres", "bigquery", "snowflake", "spark"]


FINEST = 10_000
"""Shares are multiples of its inverse: whole numbers of 64 bits are enough to compare them in 30 million rows."""


class Question(Parameters):
    """What a query asks of a table."""

    table: str = Field(
        default="release", min_length=1, description="the table, with its schema: sales.release"
    )
    quasi: tuple[str, ...] = Field(default=(), description="columns that an adversary may know")
    sensitive: tuple[str, ...] = Field(default=(), description="columns that must not be learned")
    k: int | None = Field(default=None, ge=2, description="every class has at least so many rows")
    l: int | None = Field(  # noqa: E741
        default=None, ge=2, description="at least so many different values in every class"
    )
    alpha: float | None = Field(
        default=None, gt=0, le=1, description="no value has a larger share of a class"
    )
    t: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="the largest distance of a class from the whole table, all values being equally far apart",
    )
    dialect: Dialect = Field(default="duckdb", description="the SQL of the warehouse")

    def query(self) -> str:
        """The text of the query.

        >>> print(Question(quasi=("age",), k=5, dialect="postgres").query().splitlines()[0])
        WITH "telling" AS (

        Raises `WrongUse` if nothing is promised, or a promise about sensitive columns names none.
        """
        if not self.quasi:
            raise WrongUse(NO_QUASI)
        if (self.k, self.l, self.alpha, self.t) == (None,) * 4:
            raise WrongUse("Nothing to check: say what is promised, for example --k 10.")
        if not self.sensitive and (self.l, self.alpha, self.t) != (None,) * 3:
            raise WrongUse("--l, --alpha and --t are about sensitive columns: name them with --sensitive.")
        if twice := {name for name in self.sensitive if name in self.quasi}:
            raise WrongUse(f"The column {min(twice)!r} is named as quasi-identifier and as sensitive.")
        for share in (self.alpha, self.t):
            if share is not None and fraction(share).denominator > FINEST:
                raise WrongUse(f"A share in a query has at most 4 decimals, and {share} has more.")
        try:
            import sqlglot
        except ImportError as error:
            raise MissingExtra("Writing queries for warehouses", "warehouse") from error
        plain = f"WITH {', '.join(self._steps())} {' UNION ALL '.join(self._answers())}"
        (text,) = sqlglot.transpile(plain, read="duckdb", write=self.dialect, pretty=True, identify=True)
        return f"{text}\n"

    def _steps(self) -> list[str]:
        """The rows that are in a class, the classes, and what each of them has of each value."""
        table = ".".join(map(_name, self.table.split(".")))
        every = (*self.quasi, *self.sensitive)
        hidden = " AND ".join(f"COALESCE({_text(name)}, '') = '{SUPPRESSED}'" for name in every)
        by = ", ".join(map(_name, self.quasi))
        values = [
            f"COUNT(DISTINCT CASE WHEN {_text(name)} <> '{SUPPRESSED}' THEN {_text(name)} END) + "
            f"MAX(CASE WHEN {_name(name)} IS NULL THEN 1 ELSE 0 END) AS distinct_{place}"
            for place, name in enumerate(self.sensitive)
        ]
        values += [
            f"SUM(CASE WHEN {_text(name)} = '{SUPPRESSED}' THEN 1 ELSE 0 END) AS stars_{place}"
            for place, name in enumerate(self.sensitive)
        ]
        steps = [
            f"telling AS (SELECT * FROM {table} WHERE NOT ({hidden}))",
            f"classes AS (SELECT {', '.join([by, 'COUNT(*) AS members', *values])} FROM telling GROUP BY {by})",
        ]
        if self.alpha is not None or self.t is not None:
            steps += [step for place, name in enumerate(self.sensitive) for step in self._shares(place, name)]
        return steps

    def _shares(self, place: int, name: str) -> list[str]:
        """How many rows of each class, and of the whole, have each value of a sensitive column."""
        own, column = ", ".join(f"telling.{_name(one)}" for one in self.quasi), f"telling.{_name(name)}"
        same = " AND ".join(
            f"{_as('telling', one)} IS NOT DISTINCT FROM {_as('classes', one)}" for one in self.quasi
        )
        star = f"COALESCE({_text(name, 'telling')}, '') = '{SUPPRESSED}'"
        return [
            f"held_{place} AS (SELECT {own}, {column} AS secret, COUNT(*) AS held, "
            f"MAX(classes.members) - MAX(classes.stars_{place}) AS shown "
            f"FROM telling JOIN classes ON {same} WHERE NOT ({star}) GROUP BY {own}, {column})",
            f"whole_{place} AS (SELECT {_name(name)} AS secret, COUNT(*) AS rows_of, "
            f"SUM(COUNT(*)) OVER () AS all_rows FROM telling WHERE NOT ({star}) GROUP BY {_name(name)})",
            f"apart_{place} AS (SELECT h.shown, MAX(w.all_rows) AS all_rows, "
            f"SUM(GREATEST(h.held * w.all_rows - w.rows_of * h.shown, 0)) AS moved FROM held_{place} AS h JOIN "
            f"whole_{place} AS w ON h.secret IS NOT DISTINCT FROM w.secret "
            f"GROUP BY {', '.join(f'h.{_name(one)}' for one in self.quasi)}, h.shown)",
        ]

    def _answers(self) -> list[str]:
        """A row for each promise."""
        found = []
        if self.k is not None:
            found.append(_least("k-anonymity", "", "members", self.k))
        for place, name in enumerate(self.sensitive):
            if self.l is not None:
                found.append(_least("distinct-diversity", name, f"NULLIF(distinct_{place}, 0)", self.l))
            if self.alpha is not None:
                least = (
                    f" AND (SELECT COALESCE(MIN(members) >= {self.k}, TRUE) FROM classes)" if self.k else ""
                )
                share = (fraction(self.alpha), self.alpha)
                found.append(_most("alpha-k-anonymity", name, share, f"held_{place}", "held", "shown", least))
            if self.t is not None:
                share = (fraction(self.t), self.t)
                found.append(_most("t-closeness", name, share, f"apart_{place}", "moved", "shown * all_rows"))
        return found


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _as(table: str, column: str) -> str:
    return f"{table}.{_name(column)}"


def _text(column: str, table: str = "") -> str:
    return f"CAST({_as(table, column) if table else _name(column)} AS TEXT)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _least(model: str, column: str, value: str, promised: int) -> str:
    return (
        f"SELECT {_quoted(model)} AS promise, {_quoted(column)} AS about, CAST({promised} AS DOUBLE) AS promised, "
        f"CAST(MIN({value}) AS DOUBLE) AS reached, COALESCE(MIN({value}) >= {promised}, TRUE) AS holds FROM classes"
    )


def _most(
    model: str,
    column: str,
    promise: tuple[Fraction, float],
    table: str,
    part: str,
    whole: str,
    more: str = "",
) -> str:
    """An answer about a share: part of whole is at most so much, compared as whole numbers."""
    share, promised = promise
    above = f"CASE WHEN {part} * {share.denominator} > {share.numerator} * {whole} THEN 1 ELSE 0 END"
    return (
        f"SELECT {_quoted(model)} AS promise, {_quoted(column)} AS about, CAST({promised} AS DOUBLE) AS promised, "
        f"MAX(CAST({part} AS DOUBLE) / ({whole})) AS reached, COALESCE(MAX({above}) = 0, TRUE){more} AS holds "
        f"FROM {table}"
    )

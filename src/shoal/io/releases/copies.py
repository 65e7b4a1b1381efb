"""Copies of a published table for other programs: Excel, SPSS (.sav) and Stata (.dta), with labels.

A copy holds the cells of the proved file and nothing else: it is read back when it is written, and again by `verify`.
Names of columns become variables that these programs allow, and stay as labels; codes that are texts become numbers
with value labels.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data._frames import text_frame, unnamed
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.io.releases.codebook import Codes, columns_of
from shoal.io.tables.encode import to_texts
from shoal.io.tables.excel import write_excel
from shoal.io.tables.load import open_input
from shoal.io.tables.spss_stata_sas import library

LABEL = 120
"""Bytes that a value label of SPSS may have; codes that are longer stay texts."""

_LETTERS = 28
_RESERVED = re.compile(
    r"all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with|byte|double|float|if|in|int|long|str[0-9l]*|using",
    re.IGNORECASE,
)
_SPSS_TIME = (92, b"01 Jan 8000:00:00")
_STATA_TIME = re.compile(rb"(?s)(<timestamp>\x11).{17}(</timestamp>)")


def write_copies(published: Path, release: Release[Any], endings: Sequence[str]) -> None:
    """Write the copies of a table that are asked for beside its data file, and read them back.

    `release`: as it was read from the folder. Raises `WrongUse` if it is no table in memory, or a program cannot hold
    its cells.
    """
    if not endings:
        return
    if not isinstance(release.data, Table):
        raise WrongUse("Copies for Excel, SPSS and Stata are of a published table in memory; omit --also.")
    codes = columns_of(release.data)
    for ending in dict.fromkeys(endings):
        path = published / f"data.{ending}"
        _write(path, release.data, codes)
        if unlike := unlike_column(path, release.data):
            raise WrongUse(
                f"The cells of column {unlike!r} cannot be kept in a file {path.suffix}, such as blanks at the end of "
                "texts; omit it from --also."
            )


def unlike_column(path: Path, table: Table) -> str | None:
    """The first column of a copy whose cells are not those of the published table; None where all are."""
    copied = open_input(path)
    names = table.names if path.suffix == ".xlsx" else tuple(variables(table.names).values())
    if copied.names != names:
        return ", ".join(copied.names)
    frame = copied.frame(copied.names)
    if frame.height != table.rows:
        return table.names[0]
    for name, (own, series) in zip(table.names, zip(text_frame(table), frame, strict=True), strict=True):
        if not _texts(series).equals(unnamed(own).fill_null("")):
            return name
    return None


def variables(names: Sequence[str]) -> dict[str, str]:
    """A variable that SPSS and Stata allow for each name.

    >>> variables(["age", "date of birth", "Age", "1st", "all"])
    {'age': 'age', 'date of birth': 'date_of_birth', 'Age': 'Age_2', '1st': 'v_1st', 'all': 'all_'}
    """
    taken: set[str] = set()
    found = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LETTERS].rstrip("_") or "v"
        plain = plain if plain[0].isalpha() else f"v_{plain.lstrip('_')}"
        one = plain = f"{plain}_" if _RESERVED.fullmatch(plain) else plain
        number = 1
        while one.lower() in taken:
            number += 1
            one = f"{plain}_{number}"
        taken.add(one.lower())
        found[name] = one
    return found


def _write(path: Path, table: Table, codes: Mapping[str, Codes]) -> None:
    frame = text_frame(table).with_columns(pl.all().replace("", None))
    if path.suffix == ".xlsx":
        write_excel(pl.DataFrame([_typed(series, codes[series.name].type) for series in frame]), path)
        return
    pyreadstat = library("Writing files of SPSS and Stata")
    columns, labels = [], {}
    for series, variable in zip(frame, variables(frame.columns).values(), strict=True):
        found = codes[series.name]
        listed = found.values or ()
        if found.type == "string" and listed and max(len(text.encode()) for text in listed) <= LABEL:
            numbers = pl.Series(range(1, len(listed) + 1), dtype=pl.Int32)
            coded = unnamed(series).replace_strict(pl.Series(listed), numbers, return_dtype=pl.Int32)
            labels[variable] = dict(enumerate(listed, start=1))
        else:
            coded = unnamed(_typed(series, found.type))
        coded = coded.cast(pl.String) if coded.dtype == pl.Date else coded
        columns.append(coded.alias(variable))
    labels_given = {"column_labels": list(frame.columns), "variable_value_labels": labels}
    if path.suffix == ".sav":
        pyreadstat.write_sav(pl.DataFrame(columns), path, **labels_given)
    else:
        pyreadstat.write_dta(pl.DataFrame(columns), path, version=14, **labels_given)
    path.write_bytes(_without_time(path.read_bytes(), path.suffix))


def _typed(series: pl.Series, kind: str) -> pl.Series:
    """Numbers and dates as such, where they can be read back as the texts that they are."""
    types: dict[str, Any] = {"integer": pl.Float64, "number": pl.Float64, "date": pl.Date}
    if kind not in types:
        return series
    texts = unnamed(series)
    values = texts.str.to_date(strict=False) if kind == "date" else texts.cast(types[kind], strict=False)
    return values.alias(series.name) if to_texts(values).equals(texts) else series


def _texts(series: pl.Series) -> pl.Series:
    values = series.fill_nan(None) if series.dtype.is_float() else series
    return to_texts(unnamed(values)).fill_null("")


def _without_time(data: bytes, ending: str) -> bytes:
    """A file without the time when it was made: the same release gives the same bytes."""
    if ending == ".sav":
        place, time = _SPSS_TIME
        return data[:place] + time + data[place + len(time) :]
    return _STATA_TIME.sub(rb"\g<1>01 Jan 1980 00:00\g<2>", data, count=1)

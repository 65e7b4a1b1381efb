"""Files of statistics packages: SPSS, Stata and SAS (extra `statistics`)."""

from pathlib import Path
from typing import Any

import polars as pl

from shoal.data._frames import unnamed
from shoal.errors import BadData, MissingExtra
from shoal.io.source import STATISTICS, existing_file
from shoal.io.tables.input import FrameInput

_READERS = ("read_sav", "read_sav", "read_por", "read_dta", "read_sas7bdat", "read_xport")
READERS = dict(zip(STATISTICS, _READERS, strict=True))
"""The reader of each ending."""


def library(doing: str) -> Any:
    """The library of these files, for something that is to be done. Raises `MissingExtra` where it is absent."""
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra(doing, "statistics") from error
    return pyreadstat


def open_statistics(path: str | Path) -> FrameInput:
    """Open a file of SPSS (.sav, .zsav, .por), Stata (.dta) or SAS (.sas7bdat, .xpt).

    A column whose values all have a label comes as labels (``Male``, not 1); one where only some have, such as an age
    with a label for 99, comes as it is stored. Values that the file declares missing are missing.
    """
    pyreadstat = library("Reading files of SPSS, Stata and SAS")
    path = existing_file(path)
    reader = getattr(pyreadstat, READERS[path.suffix.lower()])
    try:
        frame, facts = reader(path, output_format="polars")
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError, OverflowError) as error:
        raise BadData(f"the file cannot be read: {str(error).strip().rstrip('.')}.", path) from error
    return FrameInput(frame.with_columns(_labeled(frame, facts)), path)


def _labeled(frame: pl.DataFrame, facts: Any) -> list[pl.Series]:
    """The columns whose values all have a label, as labels."""
    columns = []
    for name, labels in facts.variable_value_labels.items():
        series = unnamed(frame[name])
        series = series.fill_nan(None) if series.dtype.is_float() else series
        present = series.drop_nulls().unique()
        try:
            known = pl.Series(list(labels), dtype=series.dtype, strict=True)
        except (TypeError, pl.exceptions.PolarsError):
            continue
        texts = [str(text) for text in labels.values()]
        if len(present) and present.is_in(known.implode()).all() and len(set(texts)) == len(texts):
            labeled = series.replace_strict(known, pl.Series(texts), return_dtype=pl.String)
            columns.append(labeled.alias(name))
    return columns

"""Excel workbooks."""

import io
import logging
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from shoal.data._frames import unnamed
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.source import existing_file
from shoal.io.tables.input import FrameInput, check_names

_ROWS, _COLUMNS, _CHARACTERS = 1_048_575, 16_384, 32_767
_FIRST_DAY = date(1900, 3, 1)
"""Excel knows no day before 1900, and counts a 29 February in that year."""

logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def open_excel(path: str | Path, sheet: str | None = None) -> FrameInput:
    """Open a sheet of a workbook: the first row names the columns.

    `path`: the workbook. `sheet`: the name of the sheet; the first one by default.
    """
    import fastexcel

    path = existing_file(path)
    try:
        workbook = fastexcel.read_excel(path)
    except fastexcel.FastExcelError as error:
        raise BadData(
            "this is not a whole Excel file: it is cut off, damaged or of another format.", path
        ) from error
    if sheet is not None and sheet not in workbook.sheet_names:
        raise UnknownName("sheet", sheet, workbook.sheet_names)
    place = sheet if sheet is not None else 0
    try:
        header = workbook.load_sheet(place, header_row=None, n_rows=1, dtypes="string").to_polars()
        frame = workbook.load_sheet(place, schema_sample_rows=None).to_polars()
    except fastexcel.FastExcelError as error:
        raise BadData(f"the sheet cannot be read: {str(error).splitlines()[0]}", path) from error
    if not header.width:
        raise BadData("the sheet is empty; there is nothing to read.", path)
    # The library makes up names for columns that have none, and changes those that two have.
    names = [str(name or "").strip() for name in header.row(0)]
    check_names(names, path, line=1)
    frame.columns = names
    return FrameInput(frame.with_columns(pl.col(pl.String).replace("", None)), path)


def write_excel(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as the only sheet of a workbook.

    Texts stay texts: nothing becomes a formula, a link or a number by its looks.

    Raises `WrongUse` if the frame is larger than a sheet can be; then write CSV or Parquet.
    """
    import xlsxwriter

    if frame.height > _ROWS or frame.width > _COLUMNS:
        raise WrongUse(
            f"A sheet holds at most {_ROWS:,} rows and {_COLUMNS:,} columns, and there are {frame.height:,} and "
            f"{frame.width:,}; write CSV or Parquet instead."
        )
    options = {
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "in_memory": True,
    }
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, options) as workbook:
        # Otherwise the same frame would not give the same bytes.
        workbook.set_properties({"created": datetime(1980, 1, 1)})
        sheet = workbook.add_worksheet("data")
        day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        for place, series in enumerate(frame):
            sheet.write_string(0, place, series.name)
            _write_column(sheet, place, unnamed(series), series.name, day)
        if frame.height and all(cell is None for cell in frame.row(-1)):
            # Without a cell, the last row would not be there at all.
            sheet.write_string(frame.height, 0, "")
    path.write_bytes(content.getbuffer())


def _write_column(sheet: Any, place: int, series: pl.Series, name: str, day: Any) -> None:
    if series.dtype == pl.Date and (series < _FIRST_DAY).any():
        series = series.cast(pl.String)
    if series.dtype == pl.String and (series.str.len_chars() > _CHARACTERS).any():
        raise WrongUse(
            f"A cell of a sheet holds at most {_CHARACTERS:,} characters, and column {name!r} has longer ones; "
            "write CSV or Parquet instead."
        )
    for row, cell in enumerate(series, start=1):
        if cell is None:
            continue
        if isinstance(cell, str):
            sheet.write_string(row, place, cell)
        elif isinstance(cell, date):
            sheet.write_datetime(row, place, cell, day)
        else:
            sheet.write_number(row, place, cell)

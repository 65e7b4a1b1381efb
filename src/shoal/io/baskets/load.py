"""Baskets in and out: one door for all layouts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.arrays import Items
from shoal.data.baskets import Baskets
from shoal.data.role import Roles
from shoal.errors import BadData, UnknownName, WrongUse, warn
from shoal.io.baskets.layouts import (
    SAMPLE,
    Layout,
    find_layout,
    parse_layout,
    published_name,
    refuse_further,
    table_layout,
)
from shoal.io.baskets.numbered_texts import plain_lines
from shoal.io.baskets.write import write_baskets
from shoal.io.reading import Reading, first_line_like_data, listed
from shoal.io.source import (
    BYTE_ORDER_MARK,
    FRAME_FORMATS,
    check_utf8,
    format_of,
    in_utf8,
    is_database,
    name_of,
    part_files,
    read_bytes,
)
from shoal.io.tables.load import open_input

if TYPE_CHECKING:
    import pandas
    import polars
    from numpy.typing import NDArray

    from shoal.io.baskets.long_tables import Pairs
    from shoal.io.baskets.matrix import Ones
    from shoal.io.tables.input import Input

Source: TypeAlias = (
    "str | Path | Sequence[Collection[object]] | Mapping[Any, Collection[object]] | NDArray[Any] | polars.DataFrame | "
    "pandas.DataFrame"
)
"""Where baskets come from: a path, ``-`` for standard input, a database, or values that are in memory."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBaskets:
    """Baskets as they come from their source."""

    baskets: Any  # with the roles of their items: `Baskets`, or a `Dataset` of them
    remarks: tuple[str, ...] = ()  # what their owner should hear of how they were taken, in sentences


def read_baskets(
    source: Source,
    *,
    baskets: str | None = None,
    sensitive: Iterable[str] = (),
    insensitive: Iterable[str] = (),
    separator: str | None = None,
    names: Sequence[str] | None = None,
    query: str | None = None,
    sheet: str | None = None,
) -> Baskets:
    """Read baskets: one set of items a person.

    Items are texts; repeated items of a basket are merged, and the order of its items is not kept. Blanks around items
    are taken away, of the names of sensitive items too, and a missing item (None, NaN, an empty text) is none; where
    that changes something, a `ShoalWarning` says so.

    Parameters
    ----------
    source
        A path (gzip and Zstandard are unpacked), ``-`` for standard input, ``postgresql://…`` or ``sqlite:///…``; a
        list with a list or set of items for each basket, or a dictionary of them; a polars, pandas or Arrow frame; or
        a matrix of 0 and 1 or True and False, as a frame, a numpy array, or a sparse matrix of scipy.
    baskets
        The layout: ``lines``, ``spmf``, ``long:ID,ITEM`` (or ``long`` for the first two columns), ``matrix`` or
        ``column:NAME``. None finds it out from the content, as `shoal.io.baskets.layouts.find_layout` and
        `table_layout` describe, and refuses what is ambiguous.
    sensitive
        Items that must not be learned about a person.
    insensitive
        Items that are neither known to an adversary nor secret.
    separator
        What stands between the items of a line or cell, or between the cells of a long table or matrix. A separator
        alone, without a layout, means lines.
    names
        The names of the columns, for a text without a header or an array: of a matrix, its items.
    query
        What to ask a database, in SQL.
    sheet
        The sheet of an Excel file; the first one by default.

    Returns
    -------
    Baskets
        In the order of the source, with a vocabulary of the items that occur.

    Raises
    ------
    BadData
        With file, line and column, if the source cannot be read.
    UnknownName
        If a sensitive or insensitive item does not occur; the message names the near ones.
    WrongUse
        If the layout is ambiguous or unknown, or an item is both sensitive and insensitive.

    Examples
    --------
    >>> baskets = read_baskets([["wine", "meat"], ["cream", "meat", "viagra"]], sensitive=["viagra"])
    >>> baskets.vocabulary, baskets.basket(1)
    (('cream', 'meat', 'viagra', 'wine'), ('cream', 'meat', 'viagra'))
    """
    reading = Reading(
        separator=separator, names=None if names is None else listed(names), query=query, sheet=sheet
    )
    if isinstance(sensitive, str) or isinstance(insensitive, str):
        raise WrongUse("Give the sensitive items as a list of texts, not as one text.")
    roles = Roles.of(sensitive=tuple(map(str, sensitive)), insensitive=tuple(map(str, insensitive)))
    encoded = load_baskets(source, baskets, reading, roles)
    warn(encoded.remarks)
    found: Baskets = encoded.baskets
    return found


def load_baskets(
    source: Any,
    layout: str | None = None,
    reading: Reading | None = None,
    roles: Roles | None = None,
    *,
    published: bool = False,
) -> EncodedBaskets:
    """Read baskets as `read_baskets` does, and tell what cannot be seen in them any more.

    `reading`: of it separator, names, query and sheet are used. `published`: they are published already: items are
    judged as they stand, so that blanks around them are refused, and so is whatever else the file tells: further
    columns, labels of rows, comments.
    """
    reading = reading or Reading()
    given = given_layout(layout, reading)
    remarks: list[str] = []
    baskets = _received(source, given, reading, remarks, published)
    return EncodedBaskets(with_roles(baskets, roles or Roles()), tuple(dict.fromkeys(remarks)))


def given_layout(layout: str | None, reading: Reading) -> Layout | None:
    """The layout that is given: a separator alone means lines."""
    if layout is None:
        return None if reading.separator is None else parse_layout("lines", reading.separator)
    return parse_layout(layout, reading.separator)


def _received(
    source: Any, given: Layout | None, reading: Reading, remarks: list[str], published: bool
) -> Baskets:
    if isinstance(source, str | Path):
        door = _Door(given, reading, remarks, published)
        if is_database(source):
            return door.table(open_input(source, Reading(query=reading.query)))
        if reading.query is not None:
            raise WrongUse("A query is for a database (postgresql://… or sqlite:///…), not for a file.")
        parts = part_files(source)
        return door.file(source) if parts == [Path(source)] else door.parts(parts)
    from shoal.io.baskets.assembly import read_values
    from shoal.io.tables.dataframes import is_frame, open_frame, sparse_frame

    if is_frame(source):
        if reading.names is not None:
            raise WrongUse("A frame has names of its own: omit the names, or rename its columns.")
        if (given is None or given.form == "matrix") and (matrix := sparse_frame(source)) is not None:
            return read_values(matrix, given, tuple(map(str, source.columns)), remarks)
        return _Door(given, reading, remarks, published).table(open_frame(source))
    return read_values(source, given, reading.names, remarks)


class _Door:
    """Reads tables and texts.

    `given`: the layout, where one is given. `remarks`: what is to be said is added here.
    """

    def __init__(self, given: Layout | None, reading: Reading, remarks: list[str], published: bool) -> None:
        self._given, self._reading, self._remarks, self._published = given, reading, remarks, published

    def file(self, source: str | Path) -> Baskets:
        """The baskets of one file, or of standard input."""
        given, names = self._given, self._reading.names
        if str(source) != "-" and format_of(source) in FRAME_FORMATS:
            # The separator of a column stands inside its cells.
            return self.table(open_input(source, Reading(names=names, sheet=self._reading.sheet)))
        name = name_of(source)
        # Not read_text: a file of blank lines is a file of empty baskets.
        content = in_utf8(read_bytes(source), self._reading.encoding, name)
        check_utf8(content, name)
        content = content.removeprefix(BYTE_ORDER_MARK)
        if not content:
            raise BadData("the file is empty; there are no baskets.", name)
        layout = given or find_layout(content[:SAMPLE], name, names)
        if layout.form in ("lines", "spmf"):
            refuse_names(layout, names)
            if (plain := plain_lines(content, layout)) is not None:
                return plain
            from shoal.io.baskets.assembly import from_few_lines, from_tokens

            if (plain := from_few_lines(content, layout)) is not None:
                return plain
            from shoal.io.baskets.lines import read_lines, read_spmf

            read = (
                read_lines(content, layout.separator)
                if layout.form == "lines"
                else read_spmf(content, name, self._published)
            )
            self._trim(read.trimmed, name)
            return from_tokens(read, layout)
        if layout.form == "matrix":
            from shoal.io.baskets.matrix import read_matrix

            ones = read_matrix(content, layout.separator, name, names, published=self._published)
            return self._of_ones(ones, name)
        from shoal.io.tables.delimited import Delimited

        between_cells = layout.separator if layout.form == "long" else None
        opened = Delimited(source, Reading(separator=between_cells, names=names), text=content)
        opened.refuse_wrong_names()
        return self.table(opened, layout)

    def parts(self, parts: list[Path]) -> Baskets:
        """Baskets of part files; rows of a long table belong together across parts."""
        from shoal.io.baskets.assembly import joined

        first = self.file(parts[0])
        layout = self._given or parse_layout(first.layout)
        if layout.form == "long":
            reading = Reading(separator=layout.separator, names=self._reading.names)
            return self.table(open_input(parts[0].parent, reading), layout)
        door = _Door(layout, self._reading, self._remarks, self._published)
        return joined([first, *(door.file(part) for part in parts[1:])])

    def table(self, source: "Input", found: Layout | None = None) -> Baskets:
        """The baskets of a table."""
        from shoal.io.baskets.assembly import trimmed_baskets
        from shoal.io.baskets.long_tables import read_column, read_long, read_ones

        layout = found or self._given or _layout_of(source)
        if self._published:
            refuse_further(source.names, layout, source.path)
        if layout.form == "long":
            pairs, columns = read_long(source, layout.columns)
            baskets = self._of_pairs(pairs, Layout("long", columns), source.path)
            if pairs.trimmed_baskets:
                self._remarks.append(trimmed_baskets(columns[0]))
            if source.of_texts and self._reading.names is None and not self._published:
                met = {columns[0]: columns[:1] * pairs.headless, columns[1]: baskets.vocabulary}
                self._remarks += first_line_like_data(source.names, met)
            return baskets
        if layout.form == "column":
            return self._of_pairs(
                read_column(source, layout.columns[0], layout.separator), layout, source.path
            )
        if layout.form == "matrix":
            return self._of_ones(read_ones(source), source.path)
        raise WrongUse(
            f"A table has no layout {layout.form}; say which columns hold the baskets with long:ID,ITEM or "
            "column:NAME, or that it is a matrix of 0 and 1."
        )

    def _of_pairs(self, pairs: "Pairs", layout: Layout, path: str | Path | None) -> Baskets:
        from shoal.io.baskets.assembly import from_texts, missing_in

        self._trim(pairs.trimmed, path)
        self._remarks += missing_in(pairs)
        return from_texts(pairs, layout)

    def _of_ones(self, ones: "Ones", path: str | Path | None) -> Baskets:
        from shoal.io.baskets.assembly import NUMBERED, from_ones

        self._trim(ones.trimmed, path)
        self._remarks += [NUMBERED] if ones.numbered else []
        return from_ones(ones)

    def _trim(self, items: Collection[str], path: str | Path | None) -> None:
        from shoal.io.baskets.assembly import trimmed_items

        if self._published:
            refuse_trimmed(items, path)
        self._remarks += trimmed_items(items)


def refuse_trimmed(items: Collection[str], path: str | Path | None) -> None:
    """Refuse published items with blanks around them: without these they may be other items."""
    if items:
        raise BadData(
            f"the item {min(items)!r} has blanks around it, which published items never have. Take them away, or give "
            "the item another name.",
            path,
        )


def refuse_names(layout: Layout, names: Sequence[str] | None) -> None:
    """Refuse names of columns for a text that has none."""
    if names is not None:
        raise WrongUse(f"Baskets in the layout {layout.form} have no columns: omit the names (--names).")


def _layout_of(source: "Input") -> Layout:
    """The layout that the columns of a table tell."""
    import polars as pl

    from shoal.io.baskets.long_tables import are_ones

    frame = source.frame(source.names)
    lists = [name for name in source.names if isinstance(frame.schema[name], pl.List | pl.Array)]
    return table_layout(source.names, lists, not lists and len(source.names) > 1 and are_ones(frame))


def with_roles(baskets: Baskets, roles: Roles) -> Baskets:
    """The same baskets with other sensitive and insensitive items, by their texts."""
    secret, neutral = codes_of(baskets, roles.sensitive), codes_of(baskets, roles.insensitive)
    both = np.intersect1d(secret, neutral)
    if len(both):
        item = baskets.vocabulary[both[0]]
        raise WrongUse(f"The item {item!r} is named sensitive and insensitive; choose one.")
    return replace(baskets, sensitive=secret, insensitive=neutral)


def codes_of(baskets: Baskets, items: Iterable[str]) -> Items:
    """The codes of items by their texts, ascending. Raises `UnknownName` if one does not occur."""
    places = {item: code for code, item in enumerate(baskets.vocabulary)}
    codes = set()
    for item in items:
        text = str(item).strip()
        if text not in places:
            raise UnknownName("item", text, baskets.vocabulary)
        codes.add(places[text])
    return np.array(sorted(codes), dtype=np.int32)


__all__ = ["published_name", "read_baskets", "write_baskets"]

"""CAHD on baskets in parts.

Baskets are sorted into ranges along an order whose keys follow from each basket alone. *Blocks* are found from the top:
where to cut the list of all baskets in half follows from where equal baskets begin, which is kept here as one bit per
basket; whether a cut is allowed follows from counts of sensitive items. Once a block fits into a worker it is halved
there as in memory, so that the groups are the same. *Near* clusters are found inside such blocks, each of which goes to
one worker and keeps the degree. With a single block the groups are the same as in memory, except for which of several
equal baskets come together. *Pivots* gather their neighbors inside a range. The remaining rows of all ranges are one
group, and each range knows how many of its rows it must leave over so that this group keeps the degree. If that group
does not fit into a worker, it is cut like blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.arrays import AnyArray, Counts, Indptr, Items, Mask, Rows
from shoal.data._basket_frames import baskets_in, cells_of, rows_of
from shoal.data._basket_orders import orders_of, sort_keys
from shoal.data._range_partition import KEY, RANGE, Ranges, places_among, ranges_of, rows_at_once
from shoal.data._set_keys import group_keys
from shoal.data._ties import part_key, tie_order
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.dataset import NOTE, Dataset, Parts, noted, notes_in, notes_of
from shoal.engines.distributed import Distributed
from shoal.methods.cahd._formation import Grouping, around_pivots, blocks, near
from shoal.methods.cahd._group_pictures import degree_bars
from shoal.methods.cahd._publish import grouped, without_unused
from shoal.methods.cahd._split_baskets import Sheet, basket_counts, sheet_of

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame

PLACE, FIRST, SEGMENT, LINE = "place", "first", "segment", "line"

Grouped: TypeAlias = tuple[Parts, list[dict[str, Any]]]
"""Groups in parts as keys, lines and notes; and a list of further notes."""

GAP = 64
"""Gaps of up to this many empty bytes are sent along, because that is cheaper than starting a new piece."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a part needs in order to group its baskets consistently with all others.

    `schema`, `supports`: the baskets without rows, and how many of all baskets hold each item. `p`, `alpha`, `order`:
    parameters of the method. `seed`: the key with which the order of ties is drawn.
    """

    schema: Baskets
    supports: Counts
    p: int
    alpha: int
    order: str
    seed: int

    def sheet(self, frame: "Frame") -> Sheet:
        """The baskets of a frame, with items numbered as in all baskets."""
        return sheet_of(baskets_in(frame, self.schema), self.supports)

    def orders(self, sheet: Sheet) -> tuple[Rows, ...]:
        """The orders of a sheet's distinct baskets, consistent with the order of all baskets."""
        return orders_of(self.order, sheet.distinct, self.supports[sheet.public])

    def blocks(self, sheet: Sheet) -> Grouping:
        """The blocks of a sheet, which never separate equal baskets."""
        return blocks(sheet, self.orders(sheet)[0], np.arange(len(sheet)), self.p)

    def near(self, frame: "Frame", block: int) -> "Frame":
        """The groups of similar baskets in a block."""
        import polars as pl

        # If work is repeated, the rows may come in another order.
        frame = frame[pl.Series(baskets_in(frame, self.schema).canonical_order())]
        ties = tie_order(frame.height, part_key(self.seed, block))
        return self.published(
            frame, lambda sheet: near(sheet, ties, self.p, self.supports[sheet.public]), whole=True
        )

    def keyed(self, frame: "Frame") -> "Frame":
        """A frame with a column of the keys by which baskets are ordered."""
        known = ~_secret(self.schema) & (self.supports > 0)
        public = baskets_in(frame, self.schema).keep(known)
        keys = sort_keys(self.order, public.indptr, public.items, self.supports[known])
        return frame.with_columns(cells_of(KEY, *keys))

    def published(
        self, frame: "Frame", group: Callable[[Sheet], Grouping], *, whole: bool = False
    ) -> "Frame":
        """The groups of a frame as keys and lines, with notes on them and, with `whole`, on its baskets too."""
        import polars as pl

        from shoal.io.releases.set_lines import group_lines

        sheet = self.sheet(frame)
        grouping = group(sheet)
        groups, _ = grouped(self.schema, sheet, grouping.rows, grouping.groups)
        lines = pl.Series(LINE, list(group_lines(without_unused(groups))), dtype=pl.String)
        notes: dict[str, Any] = {"degrees": degree_bars(groups, self.p)}
        notes |= basket_counts(sheet) if whole else {}
        return noted(pl.DataFrame([cells_of(KEY, *group_keys(groups)), lines]), notes)


def group_parts(
    data: Dataset, plan: Plan, engine: Distributed, form: str
) -> tuple[Parts, int, list[dict[str, Any]]]:
    """Group baskets in parts.

    Returns the lines of the groups in canonical order, how many there are, and the notes of the parts, whose numbers
    are to be summed.
    """
    import polars as pl

    lists = {"items": pl.List(pl.Int32), KEY: pl.List(pl.Int32)}
    size = rows_at_once(engine.memory, data.rows, int(plan.supports.sum()))
    ranges = ranges_of(data.parts.map(plan.keyed, lists), data.rows, size)
    if form == "pivots":
        made, notes = _pivots(data, plan, ranges, size)
    else:
        made, notes = _blocks(data, plan, ranges, size, like=form == "near")
    made = made.keep()
    count, more = notes_of(made)
    notes += [*more, {"parts": len(ranges.numbers)}]
    return made.sort([KEY]).map(lambda frame: frame.select(LINE), {LINE: pl.String}), count, notes


def _blocks(data: Dataset, plan: Plan, ranges: Ranges, size: int, *, like: bool) -> Grouped:
    """Halved blocks, the same as in memory; or groups of similar baskets inside blocks that fit into a worker."""
    import polars as pl

    numbered = _numbered(ranges).keep()
    bits = _bits(numbered, data.rows)
    segments = _allowed(numbered, plan, _cuts(bits, data.rows, size, plan.p), data.rows)

    def placed(frame: "Frame") -> "Frame":
        segment = np.searchsorted(segments, frame[PLACE].to_numpy(), side="right") - 1
        return frame.select("items", pl.Series(SEGMENT, segment.astype(np.int64)))

    def work(frame: "Frame") -> "Frame":
        if like:
            return plan.near(frame.select("items"), int(frame[SEGMENT][0]))
        return plan.published(frame, plan.blocks, whole=True)

    types = {"items": pl.List(pl.Int32), SEGMENT: pl.Int64}
    made = {KEY: pl.List(pl.Int32), LINE: pl.String, NOTE: pl.String}
    return numbered.map(placed, types).group(SEGMENT, work, made), []


def _numbered(ranges: Ranges) -> Parts:
    """Number the baskets by their places in the order of all, and mark those that differ from the one before."""
    import polars as pl

    begins = ranges.begins()

    def work(frame: "Frame") -> "Frame":
        ranks = ragged_ranks(*rows_of(frame[KEY]))
        order = np.argsort(ranks, kind="stable")
        place = int(begins[frame[RANGE][0]]) + np.arange(len(order))
        first = np.diff(ranks[order], prepend=-1) != 0
        items = frame["items"].gather(pl.Series(order))
        return pl.DataFrame([items, pl.Series(PLACE, place), pl.Series(FIRST, first)])

    return ranges.parts.group(RANGE, work, {"items": pl.List(pl.Int32), PLACE: pl.Int64, FIRST: pl.Boolean})


def _bits(numbered: Parts, rows: int) -> AnyArray:
    """One bit per place, set where a basket differs from the one before it, and once more at the end."""

    def work(frame: "Frame") -> list[tuple[int, AnyArray]]:
        places = np.sort(frame[PLACE].to_numpy()[frame[FIRST].to_numpy()])
        pieces = np.split(places, np.flatnonzero(np.diff(places) > 8 * GAP) + 1)
        return [_packed(piece) for piece in pieces if len(piece)]

    bits = np.zeros(rows // 8 + 1, dtype=np.uint8)
    for begin, piece in numbered.fold(work, lambda one, other: one + other) or []:
        bits[begin : begin + len(piece)] |= piece
    bits[rows // 8] |= np.uint8(128 >> rows % 8)
    return bits


def _packed(places: Rows) -> tuple[int, AnyArray]:
    """Places as bits, starting at the byte that holds the first one; with the number of that byte."""
    begin = int(places[0]) // 8
    flags = np.zeros(8 * (int(places[-1]) // 8 + 1 - begin), dtype=np.bool_)
    flags[places - 8 * begin] = True
    return begin, np.packbits(flags)


def _cuts(bits: AnyArray, rows: int, size: int, p: int) -> dict[tuple[int, int], int]:
    """Where blocks of more than `size` rows would be cut if that is allowed: the cut by begin and end of a block."""
    from shoal.kernels.cahd import half_of

    cuts: dict[tuple[int, int], int] = {}
    stack = [(0, rows)]
    while stack:
        begin, end = stack.pop()
        if end - begin <= size:
            continue
        # Only the nearest borders on both sides of the middle matter.
        above = _next_border(bits, -(-(begin + end) // 2))
        below = _last_border(bits, above - 1)
        borders = np.unique([begin, max(below, begin), min(above, end), end]).astype(np.int64)
        cut = int(half_of(borders, 0, len(borders) - 1, p))
        if cut > 0:
            cuts[begin, end] = middle = int(borders[cut])
            stack += [(begin, middle), (middle, end)]
    return cuts


def _next_border(bits: AnyArray, place: int) -> int:
    """The first set bit at or after a place; there is always one at the end."""
    step, byte = 64, place // 8
    skipped = place % 8
    while True:
        found = np.flatnonzero(np.unpackbits(bits[byte : byte + step])[skipped:])
        if len(found):
            return 8 * byte + skipped + int(found[0])
        byte, step, skipped = byte + step, 2 * step, 0


def _last_border(bits: AnyArray, place: int) -> int:
    """The last set bit at or before a place; 0 if there is none."""
    step, end = 64, place // 8 + 1
    left = 8 * end - place - 1
    while end > 0:
        begin = max(end - step, 0)
        flags = np.unpackbits(bits[begin:end])
        found = np.flatnonzero(flags[: len(flags) - left])
        if len(found):
            return 8 * begin + int(found[-1])
        end, step, left = begin, 2 * step, 0
    return 0


def _allowed(numbered: Parts, plan: Plan, cuts: dict[tuple[int, int], int], rows: int) -> Rows:
    """Where the blocks begin that result from all cuts that keep the degree."""
    begins = np.array(sorted({0, *cuts.values()}), dtype=np.int64)
    kinds = len(plan.schema.sensitive)
    held = _held(
        numbered,
        plan,
        lambda frame: np.searchsorted(begins, frame[PLACE].to_numpy(), side="right") - 1,
    )

    def keeps(begin: int, end: int) -> bool:
        first, last = np.searchsorted(held[0], np.searchsorted(begins, (begin, end)) * kinds)
        counts = np.bincount(held[0][first:last] % kinds, held[1][first:last], kinds)
        return bool((counts * plan.p <= end - begin).all())

    found, stack = [], [(0, rows)]
    while stack:
        begin, end = stack.pop()
        cut = cuts.get((begin, end), 0)
        if cut and keeps(begin, cut) and keeps(cut, end):
            stack += [(cut, end), (begin, cut)]
        else:
            found.append(begin)
    return np.array(found, dtype=np.int64)


def _held(parts: Parts, plan: Plan, where: "Callable[[Frame], Rows]") -> tuple[Rows, Counts]:
    """How many baskets in each segment hold each sensitive item; pairs that do not occur are left out.

    `where`: gives the number of each row's segment. Returns the keys in ascending order (segment times the number of
    sensitive items, plus the number of the item), and the count of each.
    """
    secret = _secret(plan.schema)
    number = np.cumsum(secret) - 1
    kinds = len(plan.schema.sensitive)

    def work(frame: "Frame") -> tuple[Rows, Counts]:
        indptr, items = rows_of(frame["items"])
        place = np.repeat(where(frame), np.diff(indptr))
        notes = secret[items]
        return _counted(place[notes] * kinds + number[items[notes]], None)

    def merge(one: tuple[Rows, Counts], other: tuple[Rows, Counts]) -> tuple[Rows, Counts]:
        return _counted(np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1])))

    return parts.fold(work, merge) or _counted(np.empty(0, dtype=np.int64), None)


def _counted(keys: Rows, counts: Counts | None) -> tuple[Rows, Counts]:
    distinct, places = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(places, counts, len(distinct)).astype(np.int64)


def _secret(schema: Baskets) -> Mask:
    secret = np.zeros(len(schema.vocabulary), dtype=np.bool_)
    secret[schema.sensitive] = True
    return secret


def _pivots(data: Dataset, plan: Plan, ranges: Ranges, size: int) -> Grouped:
    """Groups around pivots inside ranges, and the remaining rows: one group, or as few as fit into workers."""
    import polars as pl

    parts = ranges.parts.keep()
    elsewhere = _elsewhere(parts, plan, ranges, data.rows)
    lists = {"items": pl.List(pl.Int32), KEY: pl.List(pl.Int32)}
    types = {KEY: lists[KEY], LINE: pl.String, NOTE: pl.String}
    both = parts.group(
        RANGE, lambda frame: _around(frame, plan, elsewhere), {"items": lists["items"], **types}
    ).keep()
    left = both.map(lambda frame: frame.filter(pl.col(LINE).is_null()).select("items", KEY), lists)
    borders = _borders(left, plan, size)

    def placed(frame: "Frame") -> "Frame":
        return frame.with_columns(pl.Series(SEGMENT, places_among(*rows_of(frame[KEY]), borders)))

    def around(frame: "Frame") -> "Frame":
        return frame.filter(pl.col(LINE).is_not_null()).select(KEY, LINE, pl.lit(None, pl.String).alias(NOTE))

    rest = left.map(placed, {**lists, SEGMENT: pl.Int64}).group(
        SEGMENT, lambda frame: plan.published(frame, _one_group), types
    )
    return both.map(around, types).union(rest), notes_of(both)[1]


def _around(frame: "Frame", plan: Plan, elsewhere: dict[int, Counts]) -> "Frame":
    """The groups around the pivots of a range, as keys and lines, and the remaining baskets, without lines."""
    import polars as pl

    # If work is repeated, the rows may come in another order.
    frame = frame[pl.Series(baskets_in(frame, plan.schema).canonical_order())]
    sheet, part = plan.sheet(frame), int(frame[RANGE][0])
    ties = tie_order(frame.height, part_key(plan.seed, part))
    grouping = around_pivots(sheet, plan.orders(sheet), ties, plan.p, plan.alpha, elsewhere[part])
    inside = grouping.groups >= 0
    notes: dict[str, Any] = {**basket_counts(sheet), "groups_given_up": grouping.given_up}
    both = frame.select("items", KEY)[pl.Series(np.sort(grouping.rows[~inside]))]
    both = both.with_columns(pl.lit(None, pl.String).alias(LINE))
    if inside.any():
        rows = frame.select("items")[pl.Series(grouping.rows[inside])]
        chosen = Grouping(np.arange(rows.height), grouping.groups[inside])
        made = plan.published(rows, lambda _: chosen)
        notes |= notes_in(made)[0]
        both = pl.concat((both, made.select(pl.lit(None, pl.List(pl.Int32)).alias("items"), KEY, LINE)))
    return noted(both, notes)


def _borders(left: Parts, plan: Plan, size: int) -> tuple[Indptr, Items]:
    """The keys at which remaining rows are cut like blocks, but no further than needed to fit into a worker."""
    import polars as pl

    rows = left.fold(lambda frame: frame.height, lambda one, other: one + other) or 0
    begins = np.zeros(1, dtype=np.int64)
    if rows > size:
        numbered = _numbered(ranges_of(left, rows, size)).keep()
        begins = _allowed(numbered, plan, _cuts(_bits(numbered, rows), rows, size, plan.p), rows)
    if len(begins) == 1:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    firsts = numbered.map(
        lambda frame: frame.filter(pl.Series(np.isin(frame[PLACE].to_numpy(), begins[1:]))).select(
            "items", PLACE
        ),
        {"items": pl.List(pl.Int32), PLACE: pl.Int64},
    ).collect()
    return rows_of(plan.keyed(firsts.sort(PLACE).select("items"))[KEY])


def _one_group(sheet: Sheet) -> Grouping:
    return Grouping(np.arange(len(sheet)), np.zeros(len(sheet), dtype=np.int64))


def _elsewhere(parts: Parts, plan: Plan, ranges: Ranges, rows: int) -> dict[int, Counts]:
    """For each range and sensitive item, how many rows with it from other ranges its remaining rows must absorb.

    The remaining rows of a range may hold a sensitive item more often than the degree allows, as far as other ranges
    have room for it (the number is then negative). Room that there is from the start is shared among the ranges in
    proportion to their rows. With a single range there is nothing elsewhere.
    """
    kinds, p = len(plan.schema.sensitive), plan.p
    keys, counts = _held(parts, plan, lambda frame: frame[RANGE].to_numpy())
    room = rows - p * plan.supports[plan.schema.sensitive]
    found = {}
    for number, size in zip(ranges.numbers.tolist(), ranges.sizes.tolist(), strict=True):
        first, last = np.searchsorted(keys, (number * kinds, (number + 1) * kinds))
        own = np.zeros(kinds, dtype=np.int64)
        own[keys[first:last] - number * kinds] = counts[first:last]
        allowed = own * p - size + room * size // rows
        found[number] = -(allowed // p)
    return found

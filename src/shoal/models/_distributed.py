"""Published tables, groups and clusters in parts, judged where the parts lie.

Classes of a table are judged apart, and so are the lines of groups and clusters: what each worker finds is joined here.
Of a table, only its distinct rows travel, with their counts, so that no class is too large for a worker.
"""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import or_
from typing import Any

import numpy as np
import polars as pl

from shoal.arrays import Codes, Counts, mixed
from shoal.data._frames import filled, named, places_among, unnamed, without_nulls
from shoal.data._hashes import text_hashes
from shoal.data.clusters import Clusters
from shoal.data.dataset import BUCKET, COUNT, Dataset, Parts
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Published, refuse_changed
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.data.verdict import Verdict
from shoal.errors import WrongUse
from shoal.models._certain_classes import CertainValues
from shoal.models._equivalence_classes import Excerpt
from shoal.models._release_checks import evidence_of, verdict_on, verdict_on_nothing
from shoal.models._sensitive import SensitiveModel
from shoal.models.model import Evidence, LineModel, Model, Part, TableModel
from shoal.risks.disclosure_warnings import count_bare

ROW_BYTES, CELL_BYTES = 128, 96
"""What a distinct row, and each of its cells, takes in a worker while it is judged."""

SMALL_PART = 50_000
"""Distinct rows that are not worth dividing among workers."""

FOUND, CLASSES = "found", "classes"


@dataclass(frozen=True, slots=True, eq=False)
class _Survey:
    """How much some lines publish, the items that are secret by them, and baskets without any other item."""

    lines: int
    baskets: int
    items: pl.Series
    secrets: frozenset[str]
    bare: int

    def joined(self, other: "_Survey") -> "_Survey":
        return _Survey(
            self.lines + other.lines,
            self.baskets + other.baskets,
            pl.concat([self.items, other.items]).unique(),
            self.secrets | other.secrets,
            self.bare + other.bare,
        )


def verify_table(models: Sequence[TableModel], published: Dataset, memory: int) -> tuple[Verdict, ...]:
    """Judge a published table in parts by the promises alone; see `judge_table`."""
    return judge_table(models, published, memory)[0][: len(models)]


def judge_table(
    models: Sequence[TableModel], published: Dataset, memory: int, *, side_by_side: bool = True
) -> tuple[tuple[Verdict, ...], dict[str, int]]:
    """Judge a published table in parts, and count its classes, and the rows whose sensitive values are certain in them.

    `published`: the table: texts, missing cells null or empty. One more verdict comes at the end if it tells nothing,
    and one if its order is broken, where that can be found out. `memory`: bytes that one worker can give to it.
    `side_by_side`: whether several workers share the classes. Raises `WrongUse` if a promise cannot be judged class by
    class, and the distinct rows do not fit into one worker.
    """
    table = published.schema
    assert isinstance(table, Table)
    for model in models:
        if isinstance(model, SensitiveModel):
            model.judged(table)
    entities = {getattr(model, "entity", None) for model in models} - {None}
    named = [column for column in table.columns if column.role in (Role.QUASI, Role.SENSITIVE)]
    sets = table.with_role(Role.ITEMS)
    columns = (*named, *sets, *(column for column in table.columns if column.name in entities))
    rows = published.parts.distinct([column.name for column in columns]).keep().as_categories()
    telling_names, set_names = tuple(one.name for one in named), tuple(one.name for one in sets)
    size = partial(_size, columns=telling_names, items=set_names)
    count, telling, total, of_items = (rows.fold(size, _added) if columns else None) or (0, 0, 0, 0)
    telling = total if of_items else telling
    refuse_changed(_expected(published), {"rows": total}, published.path)
    fits = max(memory // (ROW_BYTES + CELL_BYTES * len(columns)), 1)
    separable = [model for model in models if model.separable(table)]
    together = [model for model in models if not model.separable(table)]
    if together and count > fits:
        raise WrongUse(
            f"{together[0].name} as promised here compares classes with each other, and {count:,} distinct rows do not "
            "fit into one worker; give more memory."
        )
    wholes = {column.name: _overall(rows, column.name) for column in _compared(models, table)}
    quasi = [column.name for column in table.quasi]
    certain = CertainValues(next(iter(entities), None))
    examine = partial(
        _examined, models=(*separable, certain), columns=columns, wholes=wholes, telling=telling
    )
    found = _by_class(
        rows,
        partial(_counted_too, examine=examine, quasi=quasi, columns=telling_names, items=set_names),
        quasi,
        -(-count // (min(fits, max(count // 32, SMALL_PART)) if side_by_side else fits)),
    )
    *found, sure, classes = found or [Evidence() for _ in (*separable, None, None)]
    verdicts = {id(model): model.conclude(one) for model, one in zip(separable, found, strict=True)}
    if together:
        everything = _examined(rows.collect(), tuple(together), columns, wholes, telling)
        verdicts |= {id(model): model.conclude(one) for model, one in zip(together, everything, strict=True)}
    others = tuple(column.name for column in table.with_role(Role.INSENSITIVE))
    tells: bool | None = telling > 0 or published.parts.fold(partial(_shows, columns=others), or_)
    disorder = None if published.order is None else verdict_on(published.order())
    last = (one for one in (verdict_on_nothing(table, tells=bool(tells)), disorder) if one is not None)
    judged = (model.remarked(verdicts[id(model)]) for model in models)
    return (*judged, *last), {CLASSES: classes.sums.get(CLASSES, 0), **sure.sums}


def refuse_unknown(models: Sequence[Model], published: Dataset) -> None:
    """Refuse promises that name values or items which are not published anywhere."""
    table = published.schema
    for model in models:
        if not isinstance(table, Table):
            model.ask(table)
        elif isinstance(model, SensitiveModel) and model.named():
            columns = model.judged(table)
            known = [_overall(published.parts.distinct([one.name]), one.name)[0] for one in columns]
            model.refuse_absent({text for texts in known for text in texts}, columns)


def judge_lines(
    models: Sequence[LineModel],
    published: Dataset,
    parse: "Callable[[Iterable[str], str], Published]",
    *,
    asked: bool = False,
) -> tuple[tuple[Verdict, ...], dict[str, int]]:
    """Judge groups or clusters in parts; count items, sensitive ones, and baskets that hold but such.

    `published`: the lines. Their order is judged where it can be found out. `parse`: what some lines publish; the
    second argument names where they are from, for messages. `asked`: somebody asks: refuse a question that is about
    nothing in the published data. Raises `BadData` if there are not as many lines, baskets or items as release.json
    says.
    """
    parts = published.parts
    survey = parts.fold(partial(_surveyed, models=tuple(models), parse=parse), _Survey.joined)
    lines, baskets, items = (survey.lines, survey.baskets, len(survey.items)) if survey else (0, 0, 0)
    counts = {"rows": lines, "groups": lines, "clusters": lines, "baskets": baskets, "items": items}
    refuse_changed(_expected(published), counts, published.path)
    secrets = survey.secrets if survey else frozenset[str]()
    known = survey.items.to_list() if survey else []
    for model in models if asked else ():
        model.refuse_absent(known, secrets)
    judged = parts.fold(partial(_judged, models=tuple(models), parse=parse, secrets=secrets), _paired)
    found = judged or tuple(Evidence() for _ in models)
    order = Evidence() if published.order is None else evidence_of(published.order())
    nothing = verdict_on_nothing(published.schema, tells=items > 0)
    pairs = zip(models, found, strict=True)
    verdicts = tuple(model.remarked(model.conclude(one.joined(order))) for model, one in pairs)
    if asked and published.order is None:
        verdicts = tuple(map(_unordered, verdicts))
    named = secrets.union(*(model.sensitive for model in models)).intersection(known)
    counted = {"bare": survey.bare if survey else 0, "items": items, "sensitive": len(named)}
    return (*verdicts, *(() if nothing is None else (nothing,))), counted


def _unordered(verdict: Verdict) -> Verdict:
    said = "the order of the lines was not judged: copy the files to a disk that all workers see"
    return replace(verdict, remark="; ".join(filter(None, (verdict.remark, said))))


def _by_class(
    rows: Parts, examine: Callable[[pl.DataFrame], list[Evidence]], quasi: list[str], buckets: int
) -> list[Evidence]:
    """Examine distinct rows, all of a class together."""
    if buckets == 1:
        return examine(_filled(rows.collect()))
    schema = {
        BUCKET: pl.Int32(),
        **{name: pl.String() for name in rows.names if name != COUNT},
        COUNT: pl.Int64(),
    }
    divided = rows.map(partial(_bucketed, quasi=quasi, buckets=buckets, names=tuple(schema)), schema)
    return [Evidence.of(parts) for parts in zip(*found_by_bucket(divided, examine), strict=True)]


def _bucketed(frame: pl.DataFrame, quasi: list[str], buckets: int, names: tuple[str, ...]) -> pl.DataFrame:
    """Distinct rows with a number that the rows of a class share."""
    texts = _filled(frame)
    return texts.with_columns(pl.Series(BUCKET, buckets_of(texts, quasi, buckets))).select(named(names))


def _filled(frame: pl.DataFrame) -> pl.DataFrame:
    """Distinct rows in which what is missing is empty."""
    return without_nulls(frame).with_columns(pl.col(COUNT).cast(pl.Int64))


def buckets_of(frame: pl.DataFrame, quasi: Sequence[str], buckets: int) -> Codes:
    """A number for each row that all rows of its class share; null and the empty text are one."""
    state = np.zeros(frame.height, dtype=np.uint64)
    for name in quasi:
        state = mixed(state) + text_hashes(unnamed(frame[name]))
    return (mixed(state) % np.uint64(max(buckets, 1))).astype(np.int32)


def found_by_bucket(divided: Parts, work: Callable[[pl.DataFrame], Any]) -> list[Any]:
    """What workers find in the rows of each bucket."""
    packed = divided.group(BUCKET, partial(_packed, work=work), {FOUND: pl.Binary()})
    return [pickle.loads(one) for one in packed.collect()[FOUND].to_list()]


def _packed(frame: pl.DataFrame, work: Callable[[pl.DataFrame], Any]) -> pl.DataFrame:
    return pl.DataFrame({FOUND: [pickle.dumps(work(frame))]}, schema={FOUND: pl.Binary()})


def _examined(
    frame: pl.DataFrame,
    models: "tuple[TableModel | CertainValues, ...]",
    columns: tuple[Column, ...],
    wholes: "dict[str, tuple[tuple[str, ...], Counts]]",
    telling: int,
) -> list[Evidence]:
    """Look at some classes, given by their distinct rows with counts."""
    table = Table(
        tuple(_column(unnamed(frame[column.name]), column, wholes.get(column.name)) for column in columns)
    )
    overall = {name: counts for name, (_, counts) in wholes.items()}
    excerpt = Excerpt(table, frame[COUNT].to_numpy().astype(np.int64), telling, overall)
    return [model.examine(excerpt) for model in models]


def _counted_too(
    frame: pl.DataFrame,
    examine: Callable[[pl.DataFrame], list[Evidence]],
    quasi: list[str],
    columns: tuple[str, ...],
    items: tuple[str, ...],
) -> list[Evidence]:
    """What models find in some classes, and how many classes there are; rows that tell nothing are in none."""
    classes = (
        frame.filter(~_hidden(columns, items)).select(named(quasi)).n_unique()
        if quasi
        else min(frame.height, 1)
    )
    return [*examine(frame), Evidence(sums={CLASSES: classes})]


def _column(texts: pl.Series, column: Column, whole: "tuple[tuple[str, ...], Counts] | None") -> Column:
    """A column of texts, with the values of the whole where they are known."""
    texts = filled(texts)
    labels = texts.unique().cast(pl.String).sort() if whole is None else pl.Series(whole[0], dtype=pl.String)
    return Column(column.name, column.role, nominal(tuple(labels.to_list())), places_among(texts, labels))


def _compared(models: Sequence[TableModel], table: Table) -> tuple[Column, ...]:
    """The sensitive columns of which the distribution in all rows must be known."""
    some = [model for model in models if isinstance(model, SensitiveModel)]
    asking = [model for model in some if model.relative or model.named()]
    return table.select(dict.fromkeys(column.name for model in asking for column in model.judged(table)))


def _overall(rows: Parts, name: str) -> "tuple[tuple[str, ...], Counts]":
    """The texts of a column, ascending, and how often each is published; those that tell nothing never."""
    counts = rows.fold(partial(_values, name=name), _summed) or {}
    labels = tuple(sorted(counts))
    return labels, np.array([0 if text == SUPPRESSED else counts[text] for text in labels], dtype=np.int64)


def _values(frame: pl.DataFrame, name: str) -> dict[str, int]:
    sums = frame.group_by(named(name).fill_null("")).agg(pl.col(COUNT).sum())
    return dict(zip(sums[name].to_list(), sums[COUNT].to_list(), strict=True))


def _summed(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    for text, count in other.items():
        one[text] = one.get(text, 0) + count
    return one


def _size(frame: pl.DataFrame, columns: tuple[str, ...], items: tuple[str, ...]) -> tuple[int, ...]:
    """The distinct rows of a frame, and how many rows of the release they stand for: telling, all, stars with items.

    Rows of stars that have items bring those without into their class: see `telling_rows`.
    """
    telling, total = int(frame.filter(~_hidden(columns, items))[COUNT].sum()), int(frame[COUNT].sum())
    starred = int(frame.filter(_hidden(columns, ()))[COUNT].sum()) if columns and items else total - telling
    return frame.height, telling, total, starred - (total - telling)


def _hidden(columns: tuple[str, ...], items: tuple[str, ...]) -> pl.Expr:
    """Which rows tell nothing, as `telling_rows` says."""
    starred = (named(name).eq_missing(SUPPRESSED) for name in columns)
    return pl.all_horizontal(*starred, *(named(name).fill_null("").eq("") for name in items))


def _shows(frame: pl.DataFrame, columns: tuple[str, ...]) -> bool:
    """Whether a cell of some columns is no star."""
    return any(not frame[name].eq_missing(SUPPRESSED).all() for name in columns)


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first + second for first, second in zip(one, other, strict=True))


def _expected(published: Dataset) -> Mapping[str, int]:
    """How much release.json says that there is."""
    return published.expected_counts or {"rows": published.rows}


def _paired(one: tuple[Evidence, ...], other: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    return tuple(first.joined(second) for first, second in zip(one, other, strict=True))


def _surveyed(
    frame: pl.DataFrame,
    models: tuple[LineModel, ...],
    parse: "Callable[[Iterable[str], str], Published]",
) -> _Survey:
    published = parse(frame["line"].to_list(), _name(frame))
    assert isinstance(published, Groups | Clusters)
    secrets = frozenset[str]().union(*(model.secrets(published) for model in models))
    # What lines publish has no items but those that stand in them.
    items = pl.Series(published.vocabulary, dtype=pl.String)
    left_out = any(getattr(model, "safe", 1) < 1 for model in models)
    named = secrets.union(*(model.sensitive for model in models))
    return _Survey(
        frame.height,
        int(published.sizes.sum()),
        items,
        secrets,
        count_bare(published, named, left_out=left_out),
    )


def _judged(
    frame: pl.DataFrame,
    models: tuple[LineModel, ...],
    parse: "Callable[[Iterable[str], str], Published]",
    secrets: frozenset[str],
) -> tuple[Evidence, ...]:
    part = Part(_name(frame), secrets)
    published = parse(frame["line"].to_list(), part.name)
    return tuple(model.examine(published, part) for model in models)


def _name(frame: pl.DataFrame) -> str:
    """Some lines by the first of them, for they have no other name."""
    first = frame["line"][0]
    return f"the part that begins with {first if len(first) <= 40 else first[:39] + '…'}"

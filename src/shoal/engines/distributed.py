"""Engines whose rows are in parts, in files on this machine or on a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.dataset import COUNT, Dataset, Parts, TextLayout
from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.table import Table
from shoal.engines.local import JUDGED_THERE
from shoal.errors import WrongUse

if TYPE_CHECKING:
    from shoal.data.dataset import Frame
    from shoal.engines.protocol import Engine, Judgment
    from shoal.io.baskets.load import EncodedBaskets
    from shoal.io.reading import Reading
    from shoal.io.tables.encode import EncodedTable
    from shoal.models._judged import Judged
    from shoal.preparation.transform import Transform


class Distributed:
    """Base class of engines with rows in parts: all steps of a run, built on a few methods that each engine defines.

    A path names a file, or a folder of part files.
    """

    name: ClassVar[str]
    """The name in the registry."""

    in_memory: ClassVar[bool] = False
    """Whether all rows are in this process's memory at once, as arrays."""

    here: ClassVar[bool]
    """Whether the engine needs nothing but this machine."""

    place: ClassVar[str]
    """Where the engine works, in words."""

    memory: int
    """Bytes that the rows of one `group` may take in a worker: methods cut their parts accordingly."""

    numbers_lines: ClassVar[bool]
    """Whether the engine reads delimited text by `TextLayout.parse`, so that messages name lines."""

    side_by_side: ClassVar[bool] = True
    """Whether parts are processed in parallel: then rows are cut into several parts even if they fit into one."""

    in_order: ClassVar[bool] = False
    """Whether rows come in the order of their files."""

    unmeasured: ClassVar[str | None] = (
        "Not measured yet: the rows of a release in parts are made, and measured, when it is written. In Python, "
        "`run.written(folder)` writes it and returns the run with its scores."
    )

    def parts(self, frame: "Frame") -> Parts:
        """Distribute rows that are in memory."""
        raise NotImplementedError

    def own(self, source: Any) -> Parts | None:
        """The parts of a frame of the engine's own kind; None for anything else."""
        raise NotImplementedError

    def head(self, path: str) -> bytes:
        """The beginning of a text file, or of the first one in a folder: enough to detect its layout."""
        raise NotImplementedError

    def delimited(self, path: str, layout: TextLayout) -> Parts:
        """The rows of delimited text, with cells as texts."""
        raise NotImplementedError

    def columns(self, path: str) -> Parts:
        """The rows of Parquet files."""
        raise NotImplementedError

    def lines(self, path: str) -> Parts:
        """The lines of text files, in one column ``line``; in any order, without line ends and byte order marks."""
        raise NotImplementedError

    def close(self) -> None:
        """Release everything that was kept for the work, and stop what was started for it."""
        raise NotImplementedError

    @classmethod
    def within(cls, memory: str | None = None, master: str | None = None) -> Self:
        """The engine with a limit of its memory, and on a given cluster if it uses one.

        Raises `WrongUse` for an argument that has no effect on this engine: nobody should trust a memory limit that
        limits nothing.
        """
        raise NotImplementedError

    @classmethod
    def of(cls, engine: "Engine | None") -> "Distributed":
        """The given engine, which must be one that can hold the rows of a dataset."""
        if not isinstance(engine, Distributed):
            raise WrongUse("The rows of a dataset are where an engine has them: give that engine.")
        return engine

    @property
    def where(self) -> str:
        """Words to follow the number of published rows: by which engine they were made."""
        return f" in parts by {self.name}"

    @classmethod
    def refuse_database(cls) -> None:
        """Refuse a database: rows in parts are only written as files."""
        raise WrongUse("Rows in parts are not written into a database; omit --to, or use --engine local.")

    def refuse_method(self, method: Any) -> None:
        """Refuse a method that needs all rows at once, in general or with its parameters."""
        if self.name not in method.engines and self.name in registry.ENGINES:
            raise WrongUse(
                f"{method.name} does not run on {self.name}: {method.not_distributable}. Run it on one machine with "
                "--engine local."
            )
        method.refuse_distributed()

    def refuse_unwritable(self, schema: Any, table_format: str) -> None:
        """Refuse to write cells with line breaks as csv if the engine cuts text at line ends within quotes too."""
        if self.numbers_lines or table_format != "csv" or not isinstance(schema, Table):
            return
        for column in schema.columns:
            if column.role is not Role.IDENTIFYING and any(
                "\n" in text or "\r" in text for text in column.domain.labels
            ):
                raise WrongUse(
                    f"Cells of {column.name} hold line breaks, at which {self.name} would cut a CSV file: "
                    "publish Parquet (--format parquet), or use --engine stream."
                )

    def held(self, data: Any) -> Any:
        """Refuse a table or baskets in memory, which can be processed there."""
        raise WrongUse("Data that is in memory already is worked on there; omit the engine.")

    def load_table(
        self,
        source: Any,
        roles: Roles,
        reading: "Reading",
        columns: Sequence[str] = (),
        steps: "Sequence[Transform]" = (),
    ) -> "EncodedTable":
        """Read a table; its rows stay where they are."""
        from shoal.io.tables.distributed import load_table

        if roles.items is not None or roles.items_from is not None:
            raise WrongUse(f"A column of items is not read in parts by {self.name}; use --engine local.")
        if roles.link is not None:
            raise WrongUse(f"Two tables are not joined in parts by {self.name}; use --engine local.")
        return load_table(self, source, roles, reading, columns, steps)

    def load_baskets(
        self, source: Any, layout: str | None, reading: "Reading | None", roles: Roles
    ) -> "EncodedBaskets":
        """Read baskets; they stay where they are."""
        from shoal.io.baskets.distributed import load_baskets

        return load_baskets(self, source, layout, reading, roles)

    def column_names(self, source: Any, reading: "Reading") -> Sequence[str]:
        """The names of the columns of a table; empty if it cannot be read in parts."""
        from shoal.io.tables.distributed import open_parts

        try:
            return open_parts(source, self, reading).names
        except WrongUse:
            return ()

    def open_release(self, source: Any) -> Release[Any]:
        """Open a release; lines of baskets that are not in files yet are read as if they were."""
        from shoal.io.releases.distributed import baskets_published, open_release

        if isinstance(source, str | Path) and "://" in str(source):
            raise WrongUse(
                f"A release folder is opened from a disk, and {source} is an address: say what is promised of a file "
                "there, for example --k 10 --quasi age,zip."
            )
        if not isinstance(source, Release):
            return open_release(source, self)
        if not isinstance(source.data, Dataset):
            raise WrongUse(JUDGED_THERE)
        if not isinstance(source.data.schema, Baskets):
            return source
        return replace(source, data=baskets_published(source.data, self))

    def open_published(
        self, source: str | Path, form: type, reading: "Reading | None", roles: Roles, layout: str | None
    ) -> Dataset:
        """Open a published file."""
        from shoal.io.baskets.distributed import load_baskets
        from shoal.io.releases.distributed import open_sets, open_table

        if form is Table:
            return open_table(source, self, reading)
        if form is Baskets:
            found: Dataset = load_baskets(self, str(source), layout, reading, published=True).baskets
            return found
        return open_sets(str(source), form.__name__.lower(), self)

    def judge(self, published: Any, models: Sequence[Any], *, asked: bool = False) -> "Judgment":
        """Judge published data as `Local.judge` does, where the rows are."""
        from shoal.io.releases.distributed import baskets_published, sets_in
        from shoal.models._distributed import judge_lines, judge_table
        from shoal.models._distributed_baskets import verify_baskets

        schema = published.schema
        if not isinstance(schema, Table | Baskets):
            return judge_lines(models, published, partial(sets_in, form=type(schema)), asked=asked)
        if isinstance(schema, Baskets):
            published = baskets_published(published, self)
        if asked:
            published = replace(published, order=None)
        if isinstance(schema, Table):
            return judge_table(models, published, self.memory, side_by_side=self.side_by_side)
        return verify_baskets(models, published, self.memory), {}

    def refuse_unknown(self, published: Any, models: Sequence[Any]) -> None:
        """Refuse promises that name something unpublished; for groups and clusters this is found while judging."""
        from shoal.models._distributed import refuse_unknown

        if isinstance(published.schema, Table | Baskets):
            refuse_unknown(models, published)

    def judged(
        self,
        published: Any,
        models: Sequence[Any],
        named: Mapping[str, Role] | None,
        found: Mapping[str, int],
    ) -> "Judged":
        """By which columns or items published data was judged."""
        from shoal.data._frames import unnamed
        from shoal.models._judged import Judged, judged_sets, judged_table

        schema = published.schema
        if isinstance(schema, Table):
            names = [column.name for column in schema.with_role(Role.SENSITIVE)]
            texts = {
                name: unnamed(published.parts.counts([name])[name]).drop_nulls().to_list() for name in names
            }
            return judged_table(schema, named, texts)
        if isinstance(schema, Baskets):
            return judged_sets(schema, models, len(schema.vocabulary))
        form = type(schema).__name__.lower()
        return Judged(form, items=found["items"], sensitive_items=found["sensitive"])

    def warnings(self, original: Any, release: Release[Any], found: Mapping[str, int]) -> tuple[str, ...]:
        """Disclosure warnings."""
        from shoal.data._spellings import items_spelled_twice
        from shoal.models._certain_classes import certain_warnings
        from shoal.models.k_anonymity import KAnonymity
        from shoal.risks.disclosure_warnings import (
            concerns_in_parts,
            emptied_in_parts,
            missing_matched,
            warned_of_bare,
        )

        data = release.data
        if not isinstance(data.schema, Table):
            bare = warned_of_bare(found.get("bare", 0), type(data.schema))
            emptied = tuple[str, ...]()
            if isinstance(data.schema, Baskets):
                from shoal.io.releases.distributed import baskets_published

                emptied = emptied_in_parts(original, baskets_published(data, self), release.promises)
            return (*items_spelled_twice(original.schema), *bare, *emptied)
        certain = certain_warnings(release, data.schema, found, partial(_texts_held, data))
        said = (*concerns_in_parts(original, data, found.get("classes", 0)), *certain)
        if not any(promise.get("missing_matches_all") for promise in release.promises):
            return said
        verdict = self.judge(data, [KAnonymity(k=2)], asked=True)[0][0]
        return (*said, missing_matched(int(verdict.value or 0)))


def _texts_held(published: Dataset, name: str) -> Mapping[str, int]:
    """How many rows have each text of a column."""
    from shoal.data._frames import unnamed

    counts = published.parts.counts([name])
    return dict(zip(unnamed(counts[name]).fill_null("").to_list(), counts[COUNT].to_list(), strict=True))


def tallied(parts: Parts, names: Sequence[str]) -> "dict[str, Frame]":
    """The distinct values of each of some columns, ascending, with their counts, in one pass over the rows."""
    import polars as pl

    from shoal.data._frames import named

    def counted(frame: "Frame") -> "dict[str, Frame]":
        rows = pl.len().cast(pl.Int64).alias(COUNT)
        return {name: frame.select(named(name)).group_by(named(name)).agg(rows) for name in names}

    def added(one: "dict[str, Frame]", other: "dict[str, Frame]") -> "dict[str, Frame]":
        both = {name: pl.concat([one[name], other[name]]) for name in names}
        return {name: frame.group_by(named(name)).agg(pl.col(COUNT).sum()) for name, frame in both.items()}

    found = parts.select(names).fold(counted, added) or {}
    return {name: frame.sort(named(name)) for name, frame in found.items()}

"""The local engine: rows in memory, processed by the threads of this machine."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.table import Table
from shoal.errors import WrongUse

if TYPE_CHECKING:
    from shoal.engines.protocol import Engine, Judgment
    from shoal.io.baskets.load import EncodedBaskets
    from shoal.io.reading import Reading
    from shoal.io.tables.encode import EncodedTable
    from shoal.models._judged import Judged
    from shoal.preparation.transform import Transform

Part = TypeVar("Part")
Result = TypeVar("Result")

JUDGED_THERE = "A release is judged where its rows are: give the engine of its run, or none."


def refuse_master(engine: str, master: str | None) -> None:
    """Refuse the address of a cluster for an engine that has none."""
    if master is not None:
        raise WrongUse(f"--master is for --engine spark, and not for {engine}.")


@dataclass(frozen=True, slots=True)
class Local:
    """The default engine: all rows are in memory, as coded arrays.

    Kernels release the interpreter's lock, so that threads run in parallel.
    """

    threads: int = field(default_factory=lambda: os.cpu_count() or 1)

    name: ClassVar[str] = "local"
    in_memory: ClassVar[bool] = True
    here: ClassVar[bool] = True
    place: ClassVar[str] = "in memory"
    unmeasured: ClassVar[str | None] = None
    where: ClassVar[str] = ""

    @classmethod
    def within(cls, memory: str | None = None, master: str | None = None) -> "Local":
        """The engine; it takes no limit of memory and no master."""
        if memory is not None:
            raise WrongUse("--memory requires --engine stream or spark.")
        refuse_master(cls.name, master)
        return cls()

    @classmethod
    def of(cls, engine: "Engine | None") -> "Local":
        """The given engine if it is a local one; otherwise a local one with default threads."""
        return engine if isinstance(engine, cls) else cls()

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
        """Do the same work on every part in parallel; results are in the order of the parts."""
        tasks = list(parts)
        if self.threads == 1 or len(tasks) < 2:
            return [work(part) for part in tasks]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(work, tasks))

    def close(self) -> None:
        """Do nothing: no resources are held."""

    @classmethod
    def refuse_database(cls) -> None:
        """Refuse nothing: rows in memory can be written into a database too."""

    def refuse_method(self, method: Any) -> None:
        """Refuse nothing: every method runs in memory."""

    def refuse_unwritable(self, schema: Any, table_format: str) -> None:
        """Refuse nothing: every release can be read back from its files."""

    def held(self, data: Any) -> Any:
        """Data in memory, as it is."""
        return data

    def load_table(
        self,
        source: Any,
        roles: Roles,
        reading: "Reading",
        columns: Sequence[str] = (),
        steps: "Sequence[Transform]" = (),
    ) -> "EncodedTable":
        """Read a table into memory."""
        from shoal.io.tables.load import load_table

        return load_table(source, roles, reading, columns, steps)

    def load_baskets(
        self, source: Any, layout: str | None, reading: "Reading | None", roles: Roles
    ) -> "EncodedBaskets":
        """Read baskets into memory."""
        from shoal.io.baskets.load import load_baskets

        return load_baskets(source, layout, reading, roles)

    def column_names(self, source: Any, reading: "Reading") -> Sequence[str]:
        """The names of the columns of a file; empty for any other source."""
        from shoal.io.tables.load import open_input

        return open_input(source, reading).names if os.path.isfile(source) else ()

    def open_release(self, source: Any) -> Release[Any]:
        """Read a release."""
        from shoal.io.releases.folder import read_release

        if not isinstance(source, Release):
            return read_release(source)
        if isinstance(source.data, Dataset):
            raise WrongUse(JUDGED_THERE)
        return source

    def open_published(
        self, source: str | Path, form: type, reading: "Reading | None", roles: Roles, layout: str | None
    ) -> Any:
        """Read a published file."""
        from shoal.io.baskets.load import load_baskets
        from shoal.io.releases.set_lines import read_clusters, read_groups
        from shoal.io.tables.load import read_published_table

        if form is Table:
            return read_published_table(
                source, roles.quasi, roles.sensitive, roles.entity, reading, items=roles.items
            )
        if form is Baskets:
            return load_baskets(source, layout, reading, published=True).baskets
        return read_groups(source) if form is Groups else read_clusters(source)

    def judge(self, published: Any, models: Sequence[Any], *, asked: bool = False) -> "Judgment":
        """Judge published data by promises, and by its order.

        A verdict is added at the end if nothing is published, and one if the order is broken.

        `asked`: whether the user asks for these promises, rather than a release making them; then the order of tables
        and baskets is not judged.
        """
        from shoal.models._release_checks import broken_order, nothing_published

        verdicts = [model.remarked(model.verify(published)) for model in models]
        others = (nothing_published(published), None if asked else broken_order(published))
        return (*verdicts, *(one for one in others if one is not None)), {}

    def refuse_unknown(self, published: Any, models: Sequence[Any]) -> None:
        """Refuse promises that the user asks for if they name something that is not published."""
        for model in models:
            model.ask(published)

    def judged(
        self,
        published: Any,
        models: Sequence[Any],
        named: Mapping[str, Role] | None,
        found: Mapping[str, int],
    ) -> "Judged":
        """By which columns or items published data was judged."""
        from shoal.io.releases.folder import counts_of
        from shoal.models._judged import judged_linked, judged_sets, judged_table

        if isinstance(published, Linked):
            return judged_linked(published)
        if isinstance(published, Table):
            return judged_table(published, named)
        return judged_sets(published, models, counts_of(published).get("items", 0))

    def warnings(self, original: Any, release: Release[Any], found: Mapping[str, int]) -> tuple[str, ...]:
        """Disclosure warnings."""
        from shoal.models._achieved_levels import reached_k
        from shoal.models._certain_classes import warned_of_table
        from shoal.risks.disclosure_warnings import concerns, missing_matched, set_warnings

        data = release.data
        if isinstance(data, Linked):
            from shoal.risks.learned_secrets import dealing_warning

            tables = (*concerns(original, Table(data.known())), *concerns(original, data.secrets))
            return (*tables, *dealing_warning(original, data))
        if isinstance(data, Table):
            kinds = {"missing": "missing_matches_all", "starred": "stars_match_all"}
            matched = [
                missing_matched(reached_k(data) or 0, kind)
                for kind, name in kinds.items()
                if any(promise.get(name) for promise in release.promises)
            ]
            return (*concerns(original, data), *warned_of_table(release, data), *matched)
        return set_warnings(original, data, release.promises)

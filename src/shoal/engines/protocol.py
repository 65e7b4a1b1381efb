"""What the steps of a run ask of an engine. Whatever depends on where rows are is behind these verbs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.verdict import Verdict

if TYPE_CHECKING:
    from shoal.io.reading import Reading
    from shoal.io.tables.encoded import EncodedBaskets, EncodedTable
    from shoal.methods.method import Method
    from shoal.models._judged import Judged

Judgment: TypeAlias = tuple[tuple[Verdict, ...], Mapping[str, int]]
"""Verdicts, and what was counted on the way, where that saves a pass over the rows: classes of a table, and of sets items,
sensitive ones, and baskets without a public one."""


class Engine(Protocol):
    """Where the rows of a run are, and every step that looks at them.

    Data is a `Table`, `Baskets`, `Groups` or `Clusters` in memory, and a `Dataset` elsewhere; the steps between the verbs
    look at its schema alone.
    """

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def unmeasured(self) -> str | None:
        """Why a release made here has no scores, where it has none."""

    @property
    def where(self) -> str:
        """What a summary adds to the number of published rows."""

    @classmethod
    def within(cls, memory: str, master: str) -> Self:
        """The engine with a bound of its memory, and on a cluster where it has one."""

    @classmethod
    def refuse_database(cls) -> None:
        """Refuse to write rows into a database, where that cannot be done from here."""

    def refuse_method(self, method: "Method") -> None:
        """Refuse a method that does not run here, or not with its parameters, before anything is read."""

    def refuse_unwritable(self, schema: Any, table_format: str) -> None:
        """Refuse data that could not be read back from files that are written here."""

    def held(self, data: Any) -> Any:
        """A table or baskets that were read before, if they can be worked on here."""

    def load_table(
        self, source: Any, roles: Roles, reading: "Reading", columns: Sequence[str] = ()
    ) -> "EncodedTable":
        """Read a table; the source must have some more columns too."""

    def load_baskets(
        self, source: Any, layout: str | None, reading: "Reading | None", roles: Roles
    ) -> "EncodedBaskets":
        """Read baskets."""

    def column_names(self, source: Any, reading: "Reading") -> Sequence[str]:
        """The columns that a file would have as a table; none where that cannot be told."""

    def open_release(self, source: Any) -> Release[Any]:
        """A release, or the published files of one, to judge it."""

    def open_published(
        self, source: Any, form: type, reading: "Reading | None", roles: Roles, layout: str | None
    ) -> Any:
        """A published file that is in no release, to judge it: cells are taken as they are, nothing is guessed."""

    def judge(self, published: Any, models: Sequence[Any], *, asked: bool = False) -> Judgment:
        """Judge published data by promises, and by its order.

        One more verdict comes at the end where nothing is published, and one where the order is broken.

        Parameters
        ----------
        asked
            Somebody asks for these promises, and the release does not make them: it need not be a release at all, so
            that the order of tables and baskets is not judged.
        """

    def refuse_unknown(self, published: Any, models: Sequence[Any]) -> None:
        """Refuse promises that name what is not published anywhere."""

    def judged(
        self,
        published: Any,
        models: Sequence[Any],
        named: Mapping[str, Role] | None,
        found: Mapping[str, int],
    ) -> "Judged":
        """By what published data was judged: the columns that somebody named, or all, and how many items."""

    def warnings(self, original: Any, release: Release[Any], found: Mapping[str, int]) -> tuple[str, ...]:
        """What the owner of the data should hear before publishing it."""

    def close(self) -> None:
        """Let go of all that was kept for the work; what was started for it is stopped."""

"""What every method has in common."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from shoal.data._item_sets import items_of
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset, schema_of
from shoal.data.related import Related
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import BadData, WrongUse
from shoal.methods._candidates import Candidate, Goal
from shoal.models.model import Model
from shoal.parameters import Parameters

Form = TypeVar("Form")
"""The form of published data, whole or in parts."""

Data: TypeAlias = Table | Baskets | Dataset
"""What a method takes."""

Anonymized: TypeAlias = tuple[Release[Any], Trace]
"""What a method makes: the release, and the private trace of how."""


class Method(Parameters):
    """An algorithm with its parameters: it turns data into a release that keeps its promises.

    Parameters are fields with type, range, default and help; the options of the command line, the recipe and the
    reference page follow from them. A method never prints and never returns an empty result: a promise that cannot
    be kept raises `Infeasible` with the best value that can be reached.
    """

    name: ClassVar[str]
    """The name in the registry."""

    accepts: ClassVar[type]
    """Table or Baskets."""

    publishes: ClassVar[type | None] = None
    """The form of its releases, where it is another one than that of the data, and promises must be about it."""

    engines: ClassVar[tuple[str, ...]] = ("local",)
    """The engines it runs on."""

    not_distributable: ClassVar[str] = "it needs all rows at once"
    """Why it runs on this machine's memory alone, where it does: the end of a sentence that begins with its name."""

    needs_sensitive: ClassVar[bool] = False
    """Whether some items must be sensitive; tables say by their promises what they need."""

    needs_items: ClassVar[bool] = False
    """Whether a method of tables takes those with a column of items; all others would publish it as it is."""

    needs_link: ClassVar[bool] = False
    """Whether a method of tables takes those with records in a second one; all others would leave these out."""

    tells_insensitive: ClassVar[bool] = False
    """Whether a method of baskets treats insensitive items otherwise than public ones."""

    example: ClassVar[dict[str, Any]]
    """Parameters that work on the contract data."""

    paper: ClassVar[str]
    """Where it was published."""

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """What `recommend` tries of this method for a stated promise; nothing by default.

        Whatever is tried is proved: a candidate must promise what is stated, or more.
        """
        return []

    @classmethod
    def strengthened(cls, parameters: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
        """The parameters of a candidate with a stronger value of one of them."""
        return {**parameters, name: value}

    @property
    def splits_ties(self) -> bool:
        """Whether rows that are equal in all that is public may come apart: then chance decides, with a secret key."""
        return False

    def models(self) -> tuple[Model, ...]:
        """The promises that a release of this method keeps."""
        raise NotImplementedError

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Make a release that keeps the promises, and the private trace of how.

        Parameters
        ----------
        data
            What to publish: a table with roles, or baskets; in memory, or a dataset of an engine.
        engine
            Where to work: threads of this machine by default, and the engine that has the rows of a dataset.
        seed
            For methods that draw random numbers; the same seed gives the same release. It is as secret as the data:
            where ties are split, it tells how. None draws a new one.

        Returns
        -------
        The release, and the trace. The rows of a dataset stay where they are: the release is one too, and the trace
        maps no rows.

        Raises
        ------
        Infeasible
            If no release can keep the promises.
        WrongUse
            If the data is a dataset, and the method needs all rows at once.
        """
        raise NotImplementedError

    def repeated(self, notes: Mapping[str, Any]) -> Self:
        """The method whose run makes the same release again, whatever time that takes.

        `notes`: those of the trace.
        """
        return self

    def population_of(self, table: Any) -> Table | None:
        """The population that promises are about, where some are about one."""
        return None

    def refuse_distributed(self) -> None:
        """Refuse parameters that need all rows at once, before any row is read.

        Raises `WrongUse` with what to take instead.
        """

    def released(
        self,
        data: Form,
        details: Mapping[str, Any] | None = None,
        models: Sequence[Model] | None = None,
        parameters: Mapping[str, Any] | None = None,
        suppressed: int = 0,
    ) -> Release[Form]:
        """Data of this method as a release, with its parameters and promises.

        `details`: public facts of the method. `models`: the promises, where the data makes them more definite than
        `models` does. `parameters`: those that are published; all by default. `suppressed`: how many rows are not.
        """
        return Release(
            data=data,
            method=self.name,
            parameters=self.model_dump(mode="json") if parameters is None else parameters,
            promises=tuple(model.as_promise() for model in models or self.models()),
            suppressed=suppressed,
            details=details or {},
        )

    def unused_parameters(self) -> tuple[str, ...]:
        """What to say of parameters that were given and change nothing beside the others."""
        return ()

    def without_effect(self, data: Table | Baskets) -> tuple[str, ...]:
        """What to say of parameters, promises, roles and hierarchies that were given and change nothing."""
        said = [
            *self.unused_parameters(),
            *(f"{model.name}: {why}." for model in self.models() if (why := model.vacuous())),
        ]
        if not isinstance(data, Table):
            if len(data.insensitive) and not self.tells_insensitive:
                said.append(f"--insensitive has no effect: {self.name} treats such items like public ones.")
            return tuple(said)
        trees = [column.name for column in data.sensitive if column.hierarchy is not None]
        compared = self.compared_by_tree(data) if trees else set()
        said += (
            f"The hierarchy of the sensitive column {name!r} has no effect: its values are published as they are. It "
            "tells how far apart they lie, for t-closeness alone (--t with --distance hierarchical)."
            for name in trees
            if name not in compared
        )
        return tuple(said)

    def compared_by_tree(self, table: Table) -> set[str]:
        """The sensitive columns whose hierarchies matter: none by default."""
        return set()

    def given(self, field: str) -> bool:
        """Whether a parameter has another value than by default."""
        return bool(getattr(self, field) != type(self).model_fields[field].default)

    def accepts_generalized(self) -> bool:
        """Whether it goes on from a table that is anonymous already, and takes generalized cells as they are."""
        return False

    @classmethod
    def is_distributable(cls) -> bool:
        """Whether it runs elsewhere than in memory too."""
        return len(cls.engines) > 1

    def accept(self, data: Table | Baskets | Dataset) -> None:
        """Refuse data of the wrong form, empty data, and data without what a promise names.

        A dataset is refused by a method, or by parameters, that need all rows at once.
        """
        form: Any = schema_of(data)
        if isinstance(data, Dataset):
            if not self.is_distributable():
                raise WrongUse(
                    f"{self.name} cannot be cut into parts: {self.not_distributable}. Run it on one machine with "
                    "--engine local."
                )
            self.refuse_distributed()
        if not isinstance(form, self.accepts):
            wanted, got = self.accepts.__name__.lower(), type(form).__name__.lower()
            raise WrongUse(f"The method {self.name} takes {wanted}, not {got}; see `shoal methods`.")
        if isinstance(form, Table):
            self._accept_items(form)
            self._accept_records(form)
        if (len(data) if isinstance(data, Baskets) else data.rows) == 0:
            raise BadData("there are no rows to publish.")
        for model in self.models():
            model.refuse_unknown(schema_of(data))

    def _accept_items(self, table: Table) -> None:
        """Refuse a column of items for a method that would publish it as it is, and none for one that needs it."""
        column = items_of(table)
        if column is not None and not self.needs_items:
            raise WrongUse(
                f"{self.name} would publish the items of {column.name} as they are, and whoever knows some of them "
                "would find a person: use relational-transaction, or leave the column out."
            )
        self.refuse_without(items=column is not None, link=True)

    @classmethod
    def refuse_without(cls, items: bool, link: bool) -> None:
        """Refuse a source for which neither items nor records are named, where the method needs them."""
        if cls.needs_items and not items:
            raise WrongUse(
                f"{cls.name} takes a table with a column of items: name it with --items, or where they are with "
                "--items-from visits.csv:patient,diagnosis."
            )
        if cls.needs_link and not link:
            raise WrongUse(f"{cls.name} joins two tables: name the other with --link visits.csv:patient.")

    def _accept_records(self, table: Table) -> None:
        """Refuse a second table for a method that would leave it out, and none for one that needs it."""
        if isinstance(table, Related) and not self.needs_link:
            raise WrongUse(f"{self.name} publishes one table: use multirelational for --link, or omit it.")
        self.refuse_without(items=True, link=isinstance(table, Related))

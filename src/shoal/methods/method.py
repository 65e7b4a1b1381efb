"""What every method has in common."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

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
"""The type of published data, in memory or in parts."""

Data: TypeAlias = Table | Baskets | Dataset
"""The data that a method takes."""

Anonymized: TypeAlias = tuple[Release[Any], Trace]
"""What a method returns: the release, and the private trace of how it was made."""


class Method(Parameters):
    """An algorithm with its parameters: it turns data into a release that keeps its promises.

    Parameters are fields with type, range, default and help; the options of the command line, the recipe and the
    reference page follow from them. A method never prints and never returns an empty result: a promise that cannot
    be kept raises `Infeasible` with the best value that can be reached.
    """

    name: ClassVar[str]
    """The name in the registry."""

    accepts: ClassVar[type]
    """The type of data it takes: Table or Baskets."""

    publishes: ClassVar[type | None] = None
    """The form of its releases where it differs from the form of the data, so that promises must be about it."""

    engines: ClassVar[tuple[str, ...]] = ("local",)
    """The engines it runs on."""

    not_distributable: ClassVar[str] = "it needs all rows at once"
    """Why the method runs only in this machine's memory, if it does; completes a sentence that begins with its name."""

    needs_sensitive: ClassVar[bool] = False
    """Whether some items must be sensitive. Methods for tables need what their promises need."""

    needs_items: ClassVar[bool] = False
    """Whether a method for tables takes those with a column of items; any other would publish that column as it is."""

    needs_link: ClassVar[bool] = False
    """Whether a method for tables takes those with records in a second table; any other would leave the records out."""

    tells_insensitive: ClassVar[bool] = False
    """Whether a method for baskets treats insensitive items differently from public ones."""

    example: ClassVar[dict[str, Any]]
    """Parameters that work on the contract data."""

    paper: ClassVar[str]
    """The paper that the method comes from."""

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """The variants of this method that `recommend` tries for a stated promise; none by default.

        Every candidate's release is verified: it must promise what is stated, or more.
        """
        return []

    @classmethod
    def strengthened(cls, parameters: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
        """The parameters of a candidate with one of them set to a stronger value."""
        return {**parameters, name: value}

    @property
    def splits_ties(self) -> bool:
        """Whether rows with equal public values may be separated, in which case a secret random order decides."""
        return False

    def models(self) -> tuple[Model, ...]:
        """The promises that a release of this method keeps."""
        raise NotImplementedError

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Make a release that keeps the promises, and the private trace of how it was made.

        Parameters
        ----------
        data
            What to publish: a table with roles, or baskets, in memory; or a dataset whose rows an engine holds.
        engine
            Where to work: by default threads of this machine; for a dataset, the engine that holds its rows.
        seed
            For methods that draw random numbers; the same seed gives the same release. It is as secret as the data,
            because it decides how ties are split. None draws a new one.

        Returns
        -------
        The release, and the trace. The rows of a dataset stay where they are: the release then holds a dataset too,
        and the trace has no row map.

        Raises
        ------
        Infeasible
            If no release can keep the promises.
        WrongUse
            If the data is a dataset, and the method needs all rows at once.
        """
        raise NotImplementedError

    def repeated(self, notes: Mapping[str, Any]) -> Self:
        """The method with parameters that make the same release again, however long a run takes.

        `notes`: the notes of the trace.
        """
        return self

    def population_of(self, table: Any) -> Table | None:
        """The population that the promises refer to; None if no promise refers to one."""
        return None

    def refuse_distributed(self) -> None:
        """Refuse parameters that need all rows at once, before any row is read.

        Raises `WrongUse`, which says what to use instead.
        """

    def released(
        self,
        data: Form,
        details: Mapping[str, Any] | None = None,
        models: Sequence[Model] | None = None,
        parameters: Mapping[str, Any] | None = None,
        suppressed: int = 0,
    ) -> Release[Form]:
        """Put published data into a release, with the parameters and promises of this method.

        `details`: public facts about the run. `models`: the promises, if the data made them more definite than
        the method `models` does. `parameters`: those to publish; all by default. `suppressed`: how many rows are
        left out.
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
        """A sentence for each given parameter that has no effect because of the other parameters."""
        return ()

    def without_effect(self, data: Table | Baskets) -> tuple[str, ...]:
        """A sentence for each given parameter, promise, role and hierarchy that has no effect."""
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
        """The sensitive columns whose hierarchies have an effect: none by default."""
        return set()

    def given(self, field: str) -> bool:
        """Whether a parameter differs from its default."""
        return bool(getattr(self, field) != type(self).model_fields[field].default)

    def accepts_generalized(self) -> bool:
        """Whether the method starts from a table that is already anonymous, and keeps generalized cells as they are."""
        return False

    @classmethod
    def is_distributable(cls) -> bool:
        """Whether the method runs on other engines besides memory."""
        return len(cls.engines) > 1

    def accept(self, data: Table | Baskets | Dataset) -> None:
        """Refuse data of the wrong form, empty data, and data that lacks something that a promise names.

        Also refuse a dataset if the method, or its parameters, need all rows at once.
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
        """Refuse a table with items if the method would publish them as they are, and one without if it needs items."""
        column = table.items_column
        if column is not None and not self.needs_items:
            raise WrongUse(
                f"{self.name} would publish the items of {column.name} as they are, and whoever knows some of them "
                "would find a person: use relational-transaction, or leave the column out."
            )
        self.refuse_without(items=column is not None, link=True)

    @classmethod
    def refuse_without(cls, items: bool, link: bool) -> None:
        """Refuse a source for which no items, or no linked records, are named although the method needs them."""
        if cls.needs_items and not items:
            raise WrongUse(
                f"{cls.name} takes a table with a column of items: name it with --items, or where they are with "
                "--items-from visits.csv:patient,diagnosis."
            )
        if cls.needs_link and not link:
            raise WrongUse(f"{cls.name} joins two tables: name the other with --link visits.csv:patient.")

    def _accept_records(self, table: Table) -> None:
        """Refuse linked records if the method would leave them out, and their absence if it needs them."""
        if isinstance(table, Related) and not self.needs_link:
            raise WrongUse(f"{self.name} publishes one table: use multirelational for --link, or omit it.")
        self.refuse_without(items=True, link=isinstance(table, Related))

"""The interface of engines. An engine holds the rows of a run, and does every step that has to look at them.

Data in memory is one of the types of `data/` (`Table`, `Baskets`, `Groups` …), and data elsewhere a `Dataset`. All
other steps look only at the schema (`schema_of`), so that the pipeline does not know where it runs. Methods of an
engine::

    refuse_method, refuse_database, refuse_unwritable    before anything is read or written
    load_table, load_baskets, held, column_names         load
    open_release, open_published                         open published data
    judge, judged, refuse_unknown                        verify
    warnings, unmeasured, where                          messages for the owner of the data
    in_memory, here, place                               facts to ask for instead of comparing names
    within, close

`Local` implements them for rows in memory. `Distributed` implements them for rows in parts, from a few more methods,
which are all that `Stream` and `Spark` have to add: `parts`, `own`, `head`, `delimited`, `columns` and `lines`.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from shoal import registry
from shoal.data.verdict import Verdict
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.errors import WrongUse

Engine: TypeAlias = Local | Distributed

Judgment: TypeAlias = tuple[tuple[Verdict, ...], Mapping[str, int]]
"""Verdicts, and counts that were found on the way, to save a pass over the rows: for a table, its classes; for sets,
items, sensitive items, and baskets without a public item."""


def engines_here() -> "dict[str, type[Engine]]":
    """The engines that need nothing but this machine, by name."""
    return {name: kind for name, kind in registry.load_all("engine").items() if kind.here}


def engine_given(engine: Any) -> Engine:
    """The given engine, or by default this machine's memory. Raises `WrongUse` if it is not an engine."""
    if engine is None:
        return Local()
    if not isinstance(engine, Local | Distributed):
        raise WrongUse(
            'An engine is an object: engine=shoal.engines.Stream("4GB") or shoal.engines.Spark(session), and not '
            f"{engine!r}."
        )
    return engine


def engine_for(source: Any) -> Engine:
    """The default engine for a source: a Spark frame is worked on in its own session, everything else in memory."""
    if type(source).__module__.startswith("pyspark.sql."):
        from shoal.engines.spark import Spark

        return Spark(source.sparkSession)
    return Local()

"""What an engine is: where the rows of a run are, and every step of it that looks at them.

Data is a noun of `data/` in memory (`Table`, `Baskets`, `Groups` …), and a `Dataset` elsewhere. The steps between the
verbs of an engine look at its schema alone (`schema_of`), so that the pipeline does not know where it runs::

    refuse_method, refuse_database, refuse_unwritable    before anything is read or written
    load_table, load_baskets, held, column_names         load
    open_release, open_published                         open what is published
    judge, judged, refuse_unknown                        verify
    warnings, unmeasured, where                          what the owner hears
    in_memory, here, place                               what commands and pages ask instead of a name
    within, close

`Local` has them for rows in memory. `Distributed` has them for rows in parts, from a few more that say how parts lie:
`parts`, `own`, `head`, `delimited`, `columns` and `lines`, which are all that `Stream` and `Spark` bring.
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
"""Verdicts, and what was counted on the way, where that saves a pass over the rows: classes of a table, and of sets
items, sensitive ones, and baskets without a public one."""


def engines_here() -> "dict[str, type[Engine]]":
    """The engines that need nothing but this machine, by their names."""
    return {name: kind for name, kind in registry.load_all("engine").items() if kind.here}


def engine_given(engine: Any) -> Engine:
    """The engine that was given, or this machine's memory. Raises `WrongUse` where it is none."""
    if engine is None:
        return Local()
    if not isinstance(engine, Local | Distributed):
        raise WrongUse(
            'An engine is an object: engine=shoal.engines.Stream("4GB") or shoal.engines.Spark(session), and not '
            f"{engine!r}."
        )
    return engine


def engine_for(source: Any) -> Engine:
    """Where a source is worked on by default: a Spark frame in its own session, all else here."""
    if type(source).__module__.startswith("pyspark.sql."):
        from shoal.engines.spark import Spark

        return Spark(source.sparkSession)
    return Local()

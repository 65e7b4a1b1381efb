"""The engine that data brings along."""

from typing import TYPE_CHECKING, Any

from shoal.engines.local import Local

if TYPE_CHECKING:
    from shoal.engines.protocol import Engine


def engine_for(source: Any) -> "Engine":
    """Where a source is worked on unless somebody says otherwise: a Spark frame in its own session, all else here."""
    if type(source).__module__.startswith("pyspark.sql."):
        from shoal.engines.spark import Spark

        return Spark(source.sparkSession)
    return Local()

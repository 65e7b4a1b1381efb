"""Engines: where rows are kept and worked on.

Each class is available by its name, such as ``shoal.engines.Stream``, and is loaded on first use.
"""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.engines.local import Local as Local
    from shoal.engines.spark import Spark as Spark
    from shoal.engines.stream import Stream as Stream


def __getattr__(name: str) -> Any:
    return registry.class_called("engine", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("engine"))

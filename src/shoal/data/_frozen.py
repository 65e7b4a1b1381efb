"""Arrays that nobody writes to again."""

from typing import TypeVar

import numpy as np

from shoal.arrays import AnyArray

Array = TypeVar("Array", bound=AnyArray)


def frozen(array: Array) -> Array:
    """A read-only view of an array: its holder can share it without fear."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view  # type: ignore[return-value]

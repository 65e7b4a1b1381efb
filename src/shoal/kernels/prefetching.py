"""Prefetch memory before it is needed, so that several cache lines load at once instead of one after another."""

from typing import Any

import numba
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

ir: Any = cgutils.ir  # type: ignore[attr-defined]

LINE = 16
"""How many 32-bit numbers a cache line has."""


def _plain(array: Any, row: Any) -> None:
    """Do nothing, as in plain Python."""


def _compiled(context: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Prefetch the first entry of a row of an array, or an entry, which need not exist; nothing is read."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind, number = signature.args
        held = arrayobj.make_array(kind)(context, builder, values[0])  # type: ignore[no-untyped-call]
        place = context.cast(builder, values[1], number, types.intp)
        offset = builder.mul(place, builder.extract_value(held.strides, 0))
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.gep(builder.bitcast(held.data, byte), [offset])
        asked = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], asked)
        builder.call(ask, [address, flag(0), flag(3), flag(1)])  # for reading, with high locality, as data
        return context.get_dummy_value()

    return types.void(array, row), generate


prefetch: Any = _plain if numba.config.DISABLE_JIT else intrinsic(_compiled)  # type: ignore[attr-defined]
prefetch.py_func = _plain

"""Vector registers by hand: a few numbers loaded, multiplied, added and stored at once.

LLVM vectorises simple loops well, but it does not keep sums in registers across the inputs of a layer, and it checks
before every inner loop that the rows do not overlap. A lane holds 32 bytes: 8 single or 4 double precision numbers.
Each function below is plain Python on short arrays, and a few machine instructions once compiled.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model

BYTES = 32


def load(A, i, s):
    """Return the lane of A (rows, columns) that starts at A[i, s]."""
    return A[i, s : s + BYTES // A.itemsize].copy()


def spread(x, like):
    """Return a lane filled with x, of the type of the lane `like`."""
    return np.full_like(like, x)


def multiply_add(a, b, c):
    """Return a b + c."""
    return a * b + c


def store(lane, A, i, s):
    """Write the lane to A, starting at A[i, s]."""
    A[i, s : s + BYTES // A.itemsize] = lane


class LaneType(types.Type):
    """Numba's type of a lane of numbers of the given type."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Lane({dtype})")


@register_model(LaneType)
class LaneModel(models.PrimitiveModel):
    """A lane is one LLVM vector."""

    def __init__(self, dmm, fe_type):
        element = dmm.lookup(fe_type.dtype).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, BYTES * 8 // fe_type.dtype.bitwidth))


def _pointer(context, builder, array_type, array, i, s, lane):
    view = context.make_array(array_type)(context, builder, array)
    item = cgutils.get_item_pointer(context, builder, array_type, view, [i, s])
    return builder.bitcast(item, lane.as_pointer())


@intrinsic
def _load(typing_context, A, i, s):
    def codegen(context, builder, signature, args):
        lane = context.get_value_type(signature.return_type)
        array, row, column = args
        source = _pointer(context, builder, signature.args[0], array, row, column, lane)
        return builder.load(source, align=A.dtype.bitwidth // 8)

    return LaneType(A.dtype)(A, types.intp, types.intp), codegen


@intrinsic
def _spread(typing_context, x, like):
    def codegen(context, builder, signature, args):
        lane = context.get_value_type(signature.return_type)
        first = builder.insert_element(ir.Constant(lane, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lane.count), None)
        return builder.shuffle_vector(first, ir.Constant(lane, ir.Undefined), zeros)

    return like(like.dtype, like), codegen


@intrinsic
def _multiply_add(typing_context, a, b, c):
    def codegen(context, builder, signature, args):
        x, y, z = args
        product = builder.fmul(x, y, flags=("contract",))
        return builder.fadd(product, z, flags=("contract",))  # fused where the machine can

    return a(a, a, a), codegen


@intrinsic
def _store(typing_context, lane, A, i, s):
    def codegen(context, builder, signature, args):
        value, array, row, column = args
        target = _pointer(context, builder, signature.args[1], array, row, column, value.type)
        builder.store(value, target, align=A.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(lane, A, types.intp, types.intp), codegen


@overload(load, inline="always")
def _overload_load(A, i, s):
    return lambda A, i, s: _load(A, i, s)


@overload(spread, inline="always")
def _overload_spread(x, like):
    return lambda x, like: _spread(x, like)


@overload(multiply_add, inline="always")
def _overload_multiply_add(a, b, c):
    return lambda a, b, c: _multiply_add(a, b, c)


@overload(store, inline="always")
def _overload_store(lane, A, i, s):
    return lambda lane, A, i, s: _store(lane, A, i, s)

"""Compiled gradient rules of functions whose overhead per call matters, and matrix products that other rules use.

The rules look like the rules of the other modules, but a call creates no Python frame.

Note [Zero cotangents in products]
    A term of a contraction must contribute 0 if its cotangent is 0, even if the other factor is infinite or NaN. For example,
    in `where(valid, x @ w, 0)` the rows of `x` that are not valid may hold anything, and must not contribute to the gradient
    of `w`. In a second derivative, either factor may be the cotangent, so a term is 0 if either factor is 0. But BLAS computes
    0 * inf as NaN, so `contract` checks the result. If an element of the result is not finite, `contract` computes a second
    result, without the infinite and NaN entries of the factors. An element keeps its first result if such an entry is
    multiplied by a factor other than 0 in its sum. All other elements get the second result.
"""

from libc.math cimport isfinite as is_finite

from stride0._core.array.array cimport Array, data_of
from stride0._core.memory.dtype cimport FLOAT32, FLOAT64
from stride0.autograd._tape.tape cimport added_at, times

import math
import operator

from stride0._chapters.data_types import astype, finfo
from stride0._chapters.elementwise import cos, equal, isfinite, log, logical_not, not_equal, pow, reciprocal, sin
from stride0._chapters.linear_algebra import matmul, tensordot
from stride0._chapters.manipulation import reshape, unstack
from stride0._chapters.utility import all
from stride0._core.exchange.exchange import asarray
from stride0._core.index.index import unreduce
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import where
from stride0._core.elementwise.elementwise import decided
from stride0.autograd._rules.elementwise import sech_squared
from stride0.autograd._rules.parts import count, product, some


# --- elementwise functions


cdef object inverse(object x):
    """`1 / conj(x)` for an array or a Python scalar."""
    x = conjugate(x)
    if type(x) is Array:
        return reciprocal(x)
    return 1 / x if x else math.copysign(math.inf, x.real)


def pow_base(g, x1, x2):
    if type(x2) is not Array:
        if x2 == 2:
            return times(g, 2 * conjugate(x1))
        return None if x2 == 0 else times(g, conjugate(x2 * pow(x1, x2 - 1)))
    if "integer" in x2.dtype.kind:
        # An unsigned exponent would wrap around below 0.
        x2 = astype(x2, g.dtype)
    constant = equal(x1, 0) & equal(x2, 0)
    # If the exponent is 0, the derivative is 0, even if `pow(x1, x2 - 1)` is out of range.
    return times(g, conjugate(where(constant, 0, product(x2, pow(x1, x2 - 1)))))


def pow_exponent(g, x1, out):
    base = x1 if type(x1) is Array else asarray(x1, dtype=out.dtype)
    if out.dtype.kind == "complex floating":
        base = astype(base, out.dtype, copy=False)
    # Powers of 0 are treated as constants, which they are for positive exponents.
    return times(g, conjugate(product(log(where(equal(base, 0), 1, base)), out)))


# --- manipulation


def split(g, shapes, axis):
    """The parts of `g` that belong to the operands of `concat`."""
    cdef list parts = []
    cdef Py_ssize_t start = 0, stop
    cdef tuple before
    if axis is None:
        g = reshape(g, (-1,))
        for shape in shapes:
            stop = start + math.prod(shape)
            parts.append(reshape(g[start:stop], shape))
            start = stop
        return parts
    at = operator.index(axis) % g.ndim
    before = (slice(None),) * at
    for shape in shapes:
        stop = start + shape[at]
        parts.append(g[before + (slice(start, stop),)] if at else g[start:stop])
        start = stop
    return parts


# --- products of matrices


cdef bint has_only_finite(Array x) except -1:
    """Whether all elements are finite; for a batched array, all elements of all examples."""
    return decided(all_finite, x) if x.storage.batched else all_finite(x)


cpdef bint all_finite(Array x) except -1:
    """Whether all elements are finite. Small arrays are tested without a call."""
    cdef Py_ssize_t i
    cdef const char* values
    if x.size <= 64 and x.c_contiguous:
        values = data_of(x)
        if x.code == FLOAT64:
            for i in range(x.size):
                if not is_finite((<const double*>values)[i]):
                    return False
            return True
        if x.code == FLOAT32:
            for i in range(x.size):
                if not is_finite((<const float*>values)[i]):
                    return False
            return True
    return bool(all(isfinite(x)))


def contract(multiply, g, d):
    """A bilinear `multiply(g, d)` whose terms are 0 if a factor is 0: Note [Zero cotangents in products]."""
    result = multiply(g, d)
    if has_only_finite(result):
        return result
    endless_g, endless_d = logical_not(isfinite(g)), logical_not(isfinite(d))
    if not some(endless_g) and not some(endless_d):
        return result
    # Count these terms in floats, because float products are the fastest. The terms are not negative, so they do not cancel.
    real = finfo(result.dtype).dtype
    met = multiply(astype(not_equal(g, 0), real), astype(endless_d, real))
    met = met + multiply(astype(endless_g, real), astype(not_equal(d, 0), real))
    return where(equal(met, 0), multiply(where(endless_g, 0, g), where(endless_d, 0, d)), result)


def reversed_matmul(x1, x2):
    return matmul(x2, x1)


def after(d, g):
    """``d @ g`` for a cotangent `g`."""
    return contract(reversed_matmul, g, d)


def before(g, d):
    """``g @ d`` for a cotangent `g`."""
    return contract(matmul, g, d)


def contract_axes(g, d, axes):
    """``tensordot(g, d, axes)`` for a cotangent `g`."""
    return contract(lambda g, d: tensordot(g, d, axes=axes), g, d)


def matmul_x1(g, x2, tuple x1_shape):
    """The cotangent of `x1` in ``x1 @ x2``."""
    cdef Array d = conjugate(x2)
    if d.ndim == 1:
        return times(g[..., None], d)
    if d.ndim == 2 or len(x1_shape) > 2:
        return before(g, d.mT)
    # If one matrix or vector is broadcast over the batch, its gradient is one product that also sums over the batch.
    lead = tuple(range(g.ndim - len(x1_shape)))
    return contract_axes(g, d, ((*lead, g.ndim - 1), (*lead, d.ndim - 1)))


def matmul_x2(g, x1, tuple x2_shape):
    """The cotangent of `x2` in ``x1 @ x2``."""
    cdef Array d = conjugate(x1)
    if d.ndim == 1:
        if len(x2_shape) == 1:
            return times(g, d)
        return times(g[..., None, :], d[..., None])
    if len(x2_shape) > 2 or d.ndim == 2:
        return before(g, d) if len(x2_shape) == 1 else after(d.mT, g)
    rows = tuple(range(d.ndim - 1))
    if len(x2_shape) == 1:
        return contract_axes(g, d, (rows, rows))
    return contract(lambda g, d: tensordot(d, g, axes=(rows, rows)), g, d)


VJP = {
    # --- elementwise functions
    "add": {
        "x1": lambda g: g,
        "x2": lambda g, alpha: g if type(alpha) is int and alpha == 1 else times(g, conjugate(alpha)),
        "alpha": lambda g, x2: times(g, conjugate(x2)),
    },
    "subtract": {"x1": lambda g: g, "x2": lambda g: times(g, -1)},
    "multiply": {"x1": lambda g, x2: times(g, conjugate(x2)), "x2": lambda g, x1: times(g, conjugate(x1))},
    "divide": {
        "x1": lambda g, x2: times(g, inverse(x2)),
        # Do not use the result: code like `x /= norm; x += 1` overwrites it.
        "x2": lambda g, x1, x2: times(g, conjugate(x1 / x2 / -x2)),
    },
    "pow": {"x1": pow_base, "x2": pow_exponent},
    "negative": {"x": lambda g: -g},
    "square": {"x": lambda g, x: times(g, 2 * conjugate(x))},
    "sqrt": {"x": lambda g, out: times(g, 0.5 / conjugate(out))},
    "exp": {"x": lambda g, out: times(g, conjugate(out))},
    "log": {"x": lambda g, x: times(g, reciprocal(conjugate(x)))},
    "sin": {"x": lambda g, x: times(g, conjugate(cos(x)))},
    "cos": {"x": lambda g, x: times(g, -conjugate(sin(x)))},
    "tanh": {"x": lambda g, x: times(g, conjugate(sech_squared(x)))},
    # --- sums, manipulation, indexing
    "sum": {"x": lambda g, x_shape, axis: unreduce(g, x_shape, axis)},
    "mean": {"x": lambda g, x_shape, axis: unreduce(g / count(x_shape, axis), x_shape, axis)},
    "broadcast_to": {"x": lambda g: g},
    "concat": {"arrays": lambda g, arrays_shape, axis: split(g, arrays_shape, axis)},
    "expand_dims": {"x": lambda g, x_shape: reshape(g, x_shape)},
    "reshape": {"x": lambda g, x_shape: reshape(g, x_shape)},
    "squeeze": {"x": lambda g, x_shape: reshape(g, x_shape)},
    "stack": {"arrays": lambda g, axis: unstack(g) if axis == 0 else unstack(g, axis=axis)},
    "getitem": {"x": lambda g, key: added_at(g, key)},
    # --- products
    "matmul": {"x1": matmul_x1, "x2": matmul_x2},
    "matrix_transpose": {"x": lambda g: g.mT},
}

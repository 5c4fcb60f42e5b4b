"""Products, differences, interpolation and polynomials with NumPy's signatures."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0.numpy._facts import can_cast
from stride0.numpy._parts import (
    SCALARS,
    array,
    arrays,
    common_dtype,
    converted,
    dtype_of,
    finish,
    floating,
)


def matmul(x1: Any, x2: Any, /, out: Any = None, *, dtype: Any = None) -> Any:
    """Multiply matrices."""
    wanted = dtype_of("matmul", dtype)
    given = [converted("matmul", x, wanted, "same_kind") for x in arrays((x1, x2))]
    return finish("matmul", xp.matmul(*given), out)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Sum products over the last axis of `a` and the last but one axis of `b`."""
    a, b = array(a), array(b)
    if a.ndim == 0 or b.ndim == 0:
        return finish("dot", a * b, out)
    if a.ndim <= 2 and b.ndim <= 2:
        return finish("dot", xp.matmul(a, b), out)
    axes = (a.ndim - 1,), (b.ndim - 2 if b.ndim > 1 else 0,)
    return finish("dot", xp.tensordot(a, b, axes=axes), out)


def vdot(a: Any, b: Any, /) -> Array:
    """Return the dot product of all elements; `a` is conjugated."""
    a, b = (xp.reshape(x, (-1,)) for x in arrays((a, b)))
    return xp.vecdot(a, b)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Return dot products of vectors; the first vectors are conjugated."""
    return xp.vecdot(array(x1), array(x2), axis=axis)


def matrix_transpose(x: Any, /) -> Array:
    """Exchange the last two axes."""
    return xp.matrix_transpose(array(x))


def matvec(x1: Any, x2: Any, /) -> Array:
    """Multiply matrices by vectors."""
    return xp.matmul(_matrices("matvec", x1), array(x2)[..., None])[..., 0]


def vecmat(x1: Any, x2: Any, /) -> Array:
    """Multiply vectors, which are conjugated, by matrices."""
    return xp.matmul(xp.conj(array(x1))[..., None, :], _matrices("vecmat", x2))[..., 0, :]


def _matrices(operation: str, x: Any) -> Array:
    found: Array = array(x)
    if found.ndim < 2:
        raise ShapeError(operation, f"the matrix has {found.ndim} axes", (), "pass at least two axes")
    return found


def inner(a: Any, b: Any, /) -> Any:
    """Multiply and sum along the last axes."""
    a, b = array(a), array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Multiply each pair of elements."""
    a, b = (xp.reshape(x, (-1,)) for x in arrays((a, b)))
    return finish("outer", a[:, None] * b, out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Multiply and sum along axes."""
    if not isinstance(axes, int):
        axes = tuple((k,) if isinstance(k, int) else tuple(k) for k in axes)
    return xp.tensordot(array(a), array(b), axes=axes)


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
    optimize: Any = False,
) -> Any:
    """Multiply arrays with labels on their axes, and sum."""
    wanted = dtype_of("einsum", dtype)
    first, *rest = operands
    if isinstance(first, str):
        rest = [converted("einsum", array(x), wanted, casting) for x in rest]
    else:
        first, *rest = [
            array(x) if k % 2 == 0 and k + 1 < len(operands) else x.tolist() if hasattr(x, "tolist") else x
            for k, x in enumerate(operands)
        ]
        if wanted is not None:
            raise ArgumentTypeError(
                "einsum", "dtype is given with lists of labels", (), "write the subscripts as a string"
            )
    return finish("einsum", xp.einsum(first, *rest, optimize=optimize), out, casting=casting)


def einsum_path(*operands: Any, optimize: Any = "greedy") -> Any:
    """Return the order of the contractions of `einsum`."""
    return xp.einsum_path(*operands, optimize=optimize)


def kron(a: Any, b: Any) -> Array:
    """Return the Kronecker product."""
    return xp.kron(array(a), array(b))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Sum a diagonal of the first two axes."""
    return finish(
        "trace", xp.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype_of("trace", dtype)), out
    )


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return a diagonal of two axes, the first two by default, as the last axis."""
    a = array(a)
    if a.ndim < 2:
        raise ShapeError("diagonal", "a has fewer than two axes", [("a", str(a.shape))])
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Array:
    """Return the cross product of vectors of three elements."""
    a, b = array(a), array(b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ShapeError(
            "cross", "the vectors do not have three elements", [("a", str(a.shape)), ("b", str(b.shape))]
        )
    return xp.moveaxis(xp.linalg.cross(*xp.broadcast_arrays(*_alike(a, b)), axis=-1), -1, axisc)


def _alike(a: Array, b: Array) -> tuple[Array, Array]:
    dtype = common_dtype(a, b)
    return xp.astype(a, dtype), xp.astype(b, dtype)


def convolve(a: Any, v: Any, mode: Any = "full") -> Array:
    """Return the convolution of two vectors."""
    a, v = array(a), array(v)
    if a.ndim > 1 or v.ndim > 1 or not a.size or not v.size:
        raise ShapeError(
            "convolve", "both vectors must have elements", [("a", str(a.shape)), ("v", str(v.shape))]
        )
    a, v = (xp.reshape(x, (-1,)) for x in (a, v))
    if v.size > a.size:
        a, v = v, a
    dtype = common_dtype(a, v)
    n, m = a.size, v.size
    padded = xp.pad(xp.astype(a, dtype), (m - 1, m - 1))
    windows = (
        xp.strided.sliding_windows(padded, m)
        if hasattr(xp.strided, "sliding_windows")
        else _windows(padded, m)
    )
    full = xp.matmul(windows, xp.flip(xp.astype(v, dtype)))
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start : start + n]
    if mode == "valid":
        return full[m - 1 : n]
    raise ArgumentValueError("convolve", f"mode is {mode!r}", (), "pass mode='full', 'same' or 'valid'")


def _windows(x: Array, m: int) -> Array:
    return xp.take(x, xp.arange(x.size - m + 1)[:, None] + xp.arange(m))


def correlate(a: Any, v: Any, mode: Any = "valid") -> Array:
    """Return the cross-correlation of two vectors."""
    a, v = (xp.reshape(x, (-1,)) for x in arrays((a, v)))
    kernel = xp.flip(xp.conj(v) if v.dtype.kind == "complex floating" else v)
    if v.size > a.size and mode == "valid":
        return convolve(a, kernel, mode)
    if v.size > a.size and mode == "same":
        full, start = convolve(a, kernel, "full"), a.size // 2
        return full[start : start + v.size]
    return convolve(a, kernel, mode)


# --- differences and integrals


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Return differences of neighbours."""
    if n == 0:
        return array(a)
    a = array(a)
    axis = normalize_axis("diff", axis, a.ndim)

    def end(x: Any) -> Any:
        x = array(x)
        return xp.broadcast_to(x, (*a.shape[:axis], 1, *a.shape[axis + 1 :])) if x.ndim == 0 else x

    ends = {name: end(x) for name, x in (("prepend", prepend), ("append", append)) if x is not None}
    if ends:
        dtype = common_dtype(a, *ends.values())
        a, ends = xp.astype(a, dtype), {name: xp.astype(x, dtype) for name, x in ends.items()}
    return xp.diff(a, axis=axis, n=n, **ends)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Return differences of neighbours in C order."""
    found = xp.diff(xp.reshape(array(ary), (-1,)))
    ends = [None if x is None else xp.reshape(array(x), (-1,)) for x in (to_begin, to_end)]
    for name, x in zip(("to_begin", "to_end"), ends, strict=True):
        if x is not None and not can_cast(x, found.dtype, "same_kind"):
            raise ArgumentTypeError(
                "ediff1d", f"{name} is of dtype {x.dtype.name}", (), f"pass it as {found.dtype.name}"
            )
    parts = (ends[0], found, ends[1])
    return xp.concat([xp.astype(x, found.dtype) for x in parts if x is not None])


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return central differences; at both ends differences of first or second order."""
    f = array(f)
    f = f if "floating" in f.dtype.kind else xp.astype(f, xp.float64)
    axes = tuple(range(f.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(normalize_axis("gradient", k, f.ndim) for k in axes)
    steps = [1.0] * len(axes) if not varargs else list(varargs)
    if len(steps) == 1 and array(steps[0]).ndim == 0:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise ArgumentTypeError(
            "gradient", f"{len(varargs)} spacings for {len(axes)} axes", (), "pass one spacing per axis"
        )
    found = [_slope(f, step, k, edge_order) for step, k in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(f: Array, step: Any, axis: int, edge_order: int) -> Array:
    f = xp.moveaxis(f, axis, -1)
    n = f.shape[-1]
    if n < edge_order + 1:
        raise ShapeError(
            "gradient",
            "the axis has too few elements",
            [("f", str(f.shape))],
            f"pass at least {edge_order + 1} along the axis",
        )
    if isinstance(step, SCALARS) or array(step).ndim == 0:
        h = xp.full((n - 1,), 1.0) * step
        even = True
    else:
        # Differences of integers could overflow.
        h, even = xp.diff(floating(step)), False
        if h.size != n - 1:
            raise ShapeError(
                "gradient", "axis and coordinates differ in size", (), "pass one coordinate per element"
            )
    h = xp.astype(h, f.dtype) if h.dtype is not f.dtype and f.dtype.kind == "real floating" else h
    if even:
        middle = (f[..., 2:] - f[..., :-2]) / (2.0 * h[0])
    else:
        left, right = h[:-1], h[1:]
        middle = (
            -right / (left * (left + right)) * f[..., :-2]
            + (right - left) / (left * right) * f[..., 1:-1]
            + left / (right * (left + right)) * f[..., 2:]
        )
    if edge_order == 1:
        first, last = (f[..., 1] - f[..., 0]) / h[0], (f[..., -1] - f[..., -2]) / h[-1]
    elif edge_order == 2:
        first = _edge(h[0], h[1], f[..., 0], f[..., 1], f[..., 2])
        last = -_edge(h[-1], h[-2], f[..., -1], f[..., -2], f[..., -3])
    else:
        raise ArgumentValueError("gradient", f"edge_order is {edge_order}", (), "pass edge_order=1 or 2")
    return xp.moveaxis(xp.concat([first[..., None], middle, last[..., None]], axis=-1), -1, axis)


def _edge(p: Array, q: Array, a: Array, b: Array, c: Array) -> Array:
    """Return the slope at the first of three points, whose distances are `p` and `q`."""
    return -(2 * p + q) / (p * (p + q)) * a + (p + q) / (p * q) * b - p / (q * (p + q)) * c


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate samples by the trapezoidal rule."""
    y = xp.moveaxis(array(y), axis, -1)
    if x is None:
        widths = dx
    else:
        x = array(x)
        widths = xp.diff(x if x.ndim == 1 else xp.moveaxis(x, axis, -1), axis=-1)
    return xp.sum(widths * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


_interp: Any = xp.interp


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate linearly."""
    return _interp(x if isinstance(x, SCALARS) else array(x), array(xp), array(fp), left, right, period)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * xp.pi) -> Array:
    """Return angles without jumps: each step is the shortest one modulo the period."""
    return _unwrap(array(p), discont, axis, period)


def _unwrap(p: Array, discont: Any, axis: int, period: Any) -> Array:
    step = diff(p, axis=axis)
    p = xp.astype(p, common_dtype(step, period))
    half = period / 2 if "floating" in p.dtype.kind else period // 2
    shortest = xp.remainder(step + half, period) - half
    if 2 * half == period:
        shortest = xp.where((shortest == -half) & (step > 0), half, shortest)
    jumps = xp.where(xp.abs(step) < (period / 2 if discont is None else discont), 0, shortest - step)
    axis = normalize_axis("unwrap", axis, p.ndim)
    first, rest = xp.take(p, xp.arange(1), axis=axis), xp.take(p, xp.arange(1, p.shape[axis]), axis=axis)
    return xp.concat((first, rest + xp.cumulative_sum(jumps, axis=axis, dtype=p.dtype)), axis=axis)

"""B-splines of `stride0.autograd.scipy.interpolate`.

References
----------
de Boor: A practical guide to splines, chapters IX and X.
"""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, item, one_of, require, same_dtype, untracked
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._curves import Curve, increasing
from stride0.autograd.scipy.linalg import solve_banded

__all__ = [
    "BSpline",
    "NdBSpline",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "make_splrep",
]


def _knot_interval(t: Array, k: int, x: Array) -> Array:
    """Return the index of the last knot up to each point, except the last knot of the base interval."""
    found = xp.searchsorted(xp.asarray(item(t)), xp.asarray(item(x)), side="right") - 1
    return xp.clip(found, k, t.shape[0] - k - 2)


def _knots(t: Array, at: Array) -> Array:
    return xp.reshape(xp.take(t, xp.reshape(at, (-1,))), at.shape)


def _basis(t: Array, k: int, x: Array, at: Array) -> list[Array]:
    """Return the values of the B-splines of degree `k` that are not zero at each point."""
    found = [xp.ones_like(x)]
    for d in range(1, k + 1):
        new: list[Any] = [0.0] * (d + 1)
        for j in range(d):
            right, left = _knots(t, at + (j + 1)), _knots(t, at + (j + 1 - d))
            share = found[j] / (right - left)
            new[j] = new[j] + (right - x) * share
            new[j + 1] = new[j + 1] + (x - left) * share
        found = new
    return found


def _differentiated(t: Array, k: int, c: list[Array], at: Array, nu: int) -> list[Array]:
    """Return the coefficients of a derivative at each point, given the spline's coefficients there."""
    for d in range(1, nu + 1):
        degree = k - d + 1
        new = []
        for i in range(1, len(c)):
            number = at - k + d - 1 + i
            wide = _knots(t, number + degree) - _knots(t, number)
            new.append((c[i] - c[i - 1]) * xp.reshape(degree / wide, (-1,) + (1,) * (c[i].ndim - 1)))
        c = new
    return c


def _valued(t: Array, c: Array, k: int, x: Array, nu: int) -> Array:
    """Return values of a spline, or of a derivative; the first axis of `c` has the coefficients."""
    at = _knot_interval(t, k, x)
    if nu > k:
        return 0 * xp.reshape(x, (-1,) + (1,) * (c.ndim - 1)) * c[:1, ...]
    parts = _differentiated(t, k, [xp.take(c, at - k + j, axis=0) for j in range(k + 1)], at, nu)
    weights = [xp.reshape(w, (-1,) + (1,) * (c.ndim - 1)) for w in _basis(t, k - nu, x, at)]
    products = [part * w for part, w in zip(parts, weights, strict=True)]
    return sum(products[1:], products[0])


class BSpline(Curve):
    """Make a sum of B-splines: `scipy.interpolate.BSpline`. Differentiable by `t` and `c`."""

    _name = "BSpline"

    def __init__(self, t: Any, c: Any, k: int, extrapolate: bool = True, axis: int = 0) -> None:
        t, c = same_dtype(floating("BSpline", "t", t), floating("BSpline", "c", c))
        self.k = count_of("BSpline", "k", k, 0)
        self.axis = axis_of("BSpline", c, axis)
        known = item(t)
        count = t.shape[0] - self.k - 1 if t.ndim == 1 else 0
        if count < self.k + 1 or (known[1:] < known[:-1]).any() or known[self.k] == known[count]:
            raise ArgumentValueError(
                "BSpline", "t is not a list of knots", accepts=f"pass at least {2 * self.k + 2} sorted knots"
            )
        if c.shape[self.axis] < count:
            facts = [("t", f"{t.shape}"), ("c", f"{c.shape}")]
            raise ShapeError("BSpline", "there are too few coefficients", facts, f"pass {count} on the axis")
        self.t = t
        self._c = xp.moveaxis(c, self.axis, 0)[:count, ...]
        self.extrapolate = one_of("BSpline", "extrapolate", extrapolate, (True, False, None)) is not False

    @property
    def c(self) -> Array:
        """The coefficients."""
        return xp.moveaxis(self._c, 0, self.axis)

    def _evaluated(self, t: Array, nu: int) -> Array:
        return _valued(self.t, self._c, self.k, t, nu)

    def _ends(self) -> tuple[Array, Array]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def derivative(self, nu: int = 1) -> BSpline:
        """Return the derivative, `nu` times."""
        t, c, k = self.t, self._c, self.k
        for _ in range(count_of("BSpline", "nu", nu, 0)):
            if k == 0:
                c = 0 * c
                break
            n = c.shape[0]
            wide = xp.reshape(t[k + 1 : k + n] - t[1:n], (-1,) + (1,) * (c.ndim - 1))
            none = wide == 0
            c = xp.where(none, 0.0, k * (c[1:, ...] - c[:-1, ...]) / xp.where(none, 1.0, wide))
            t, k = t[1:-1], k - 1
        return BSpline(t, xp.moveaxis(c, 0, self.axis), k, self.extrapolate, self.axis)


# --- through values, and near them


def _points(operation: str, x: Any, y: Any, axis: int) -> tuple[Array, Array, int]:
    x, y = same_dtype(floating(operation, "x", x), floating(operation, "y", y))
    increasing(operation, "x", x, 1)
    axis = axis_of(operation, y, axis)
    if y.shape[axis] != x.shape[0]:
        raise ShapeError(
            operation,
            "x and y do not fit",
            [("x", f"{x.shape}"), ("y", f"{y.shape}")],
            "pass x and y of equal size",
        )
    return x, xp.moveaxis(y, axis, 0), axis


def _made(t: Array, c: Array, k: int, axis: int) -> BSpline:
    return BSpline(t, xp.moveaxis(c, 0, axis), k, True, axis)


def _clamped_knots(x: Array, inner: Array, k: int) -> Array:
    return xp.concat((xp.repeat(x[:1], k + 1), inner, xp.repeat(x[-1:], k + 1)))


def _conditions(operation: str, given: Any, rest: tuple[int, ...], dtype: Any) -> list[tuple[int, Array]]:
    """Return the orders of the derivatives that are given at an end, and their values."""
    if given is None:
        return []
    if isinstance(given, str):
        given = {"natural": [(2, 0.0)], "clamped": [(1, 0.0)]}[
            one_of(operation, "bc_type", given, ("natural", "clamped"))
        ]
    values = [(int(nu), xp.astype(floating(operation, "bc_type", value), dtype)) for nu, value in given]
    return [(nu, xp.broadcast_to(value, rest)) for nu, value in values]


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0
) -> BSpline:
    """Make the spline through values: `scipy.interpolate.make_interp_spline`.

    Differentiable by `x`, `y` and `t`. Periodic splines are not supported.
    """
    name = "make_interp_spline"
    k = count_of(name, "k", k, 0)
    x, y, axis = _points(name, x, y, axis)
    if bc_type == "not-a-knot":
        bc_type = None
    if isinstance(bc_type, str):
        one_of(name, "bc_type", bc_type, ("not-a-knot", "natural", "clamped"))
        bc_type = (bc_type, bc_type)
    left, right = (None, None) if bc_type is None else bc_type
    if k == 0:
        return _made(xp.concat((x, x[-1:])), y, 0, axis)
    if k == 1 and t is None:
        return _made(xp.concat((x[:1], x, x[-1:])), y, 1, axis)
    rest = y.shape[1:]
    starts, ends = (_conditions(name, given, rest, y.dtype) for given in (left, right))
    if t is not None:
        knots = xp.astype(floating(name, "t", t), x.dtype, copy=False)
    elif starts or ends:
        knots = _clamped_knots(x, x[1:-1], k)
    else:
        half = (k + 1) // 2 if k % 2 else k // 2
        inner = x if k % 2 else (x[1:] + x[:-1]) / 2
        knots = _clamped_knots(x, inner[half : inner.shape[0] - half], k)
    count = knots.shape[0] - k - 1
    if count != x.shape[0] + len(starts) + len(ends):
        raise ArgumentValueError(
            name,
            f"{count} coefficients, {x.shape[0]} values and {len(starts) + len(ends)} derivatives",
            accepts="pass as many values and derivatives as coefficients",
        )
    rows = [_row(knots, k, x[:1], nu) for nu, _ in starts]
    rows.append(_row(knots, k, x, 0))
    rows += [_row(knots, k, x[-1:], nu) for nu, _ in ends]
    first, values = (xp.concat(parts) for parts in zip(*rows, strict=True))
    # The banded matrix, as SciPy arranges it: the element in row i and column j in [k + i - j, j].
    columns = first[:, None] + xp.arange(k + 1)
    lines = k + xp.arange(count)[:, None] - columns
    if bool(xp.any((lines < 0) | (lines > 2 * k))):
        raise ArgumentValueError(name, "knots do not fit the points", (), "choose knots between the points")
    bands = xp.zeros((2 * k + 1, count), dtype=x.dtype)
    bands[lines, columns] = values
    side = xp.concat((*(v[None, ...] for _, v in starts), y, *(v[None, ...] for _, v in ends)))
    found = solve_banded((k, k), bands, xp.reshape(side, (count, -1)))
    return _made(knots, xp.reshape(found, (count, *rest)), k, axis)


def _row(t: Array, k: int, x: Array, nu: int) -> tuple[Array, Array]:
    """Return the first nonzero B-spline at each point, and derivatives of it and the next `k` B-splines."""
    at = _knot_interval(t, k, x)
    units = xp.eye(k + 1, dtype=t.dtype)
    rows = [xp.broadcast_to(units[j, :], (x.shape[0], k + 1)) for j in range(k + 1)]
    parts = _differentiated(t, k, rows, at, nu)
    weights = _basis(t, k - nu, x, at)
    products = [part * w[:, None] for part, w in zip(parts, weights, strict=True)]
    return at - k, sum(products[1:], products[0])


def make_lsq_spline(x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0) -> BSpline:
    """Fit a spline with given knots to values by least squares: `scipy.interpolate.make_lsq_spline`.

    Differentiable by `x`, `y`, `t` and `w`. Solves by a dense matrix, with a row for each value and a column
    for each coefficient.
    """
    name = "make_lsq_spline"
    k = count_of(name, "k", k, 0)
    x, y, axis = _points(name, x, y, axis)
    knots = xp.astype(floating(name, "t", t), x.dtype, copy=False)
    count = knots.shape[0] - k - 1
    first, values = _row(knots, k, x, 0)
    matrix = xp.zeros((x.shape[0], count), dtype=x.dtype)
    matrix[xp.arange(x.shape[0])[:, None], first[:, None] + xp.arange(k + 1)] = values
    side = xp.reshape(y, (x.shape[0], -1))
    if w is not None:
        weights = floating(name, "w", w)[:, None]
        matrix, side = matrix * weights, side * weights
    found = xp.linalg.lstsq(matrix, side).solution
    return _made(knots, xp.reshape(found, (count, *y.shape[1:])), k, axis)


def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> BSpline:
    """Make a smooth cubic spline near values: `scipy.interpolate.make_smoothing_spline`.

    Differentiable by `y`. The `lam` that SciPy chooses without one has no derivative.
    """
    name = "make_smoothing_spline"
    if lam is None:
        raise ArgumentValueError(
            name, "lam is None, and a lam chosen from the values has no derivative", accepts="pass lam"
        )
    for which, given in (("x", x), ("w", w), ("lam", lam)):
        untracked(name, which, given)
    x, y, axis = _points(name, x, y, axis)
    # The spline is linear in the values: column j is the spline through unit vector j.
    given = None if w is None else item(floating(name, "w", w))
    spline = original(f"interpolate.{name}")(item(x), item(xp.eye(x.shape[0])), given, lam)
    values = xp.reshape(y, (x.shape[0], -1))
    found = xp.matmul(xp.asarray(spline.c, dtype=y.dtype), values)
    return _made(xp.asarray(spline.t, dtype=y.dtype), xp.reshape(found, (-1, *y.shape[1:])), spline.k, axis)


def make_splrep(x: Any, y: Any, *, k: int = 3, s: float = 0) -> BSpline:
    """Make the spline through values: `scipy.interpolate.make_splrep`.

    Differentiable by `x` and `y`. Smoothing, a positive `s`, is not supported.
    """
    one_of("make_splrep", "s", s, (0,))
    return make_interp_spline(x, y, k)


class NdBSpline:
    """Make a tensor product of splines: `scipy.interpolate.NdBSpline`. Differentiable by `t` and `c`."""

    def __init__(self, t: Any, c: Any, k: Any, *, extrapolate: bool | None = None) -> None:
        self.t = tuple(floating("NdBSpline", "t", knots) for knots in t)
        self.k = (int(k),) * len(self.t) if isinstance(k, int) else tuple(map(int, k))
        self.c = floating("NdBSpline", "c", c)
        counts = tuple(knots.shape[0] - d - 1 for knots, d in zip(self.t, self.k, strict=True))
        require(
            self.c.ndim >= len(counts) and all(n >= m for n, m in zip(self.c.shape, counts, strict=False)),
            "NdBSpline",
            "c",
            self.c,
            f"shape {(*counts, '...')}",
        )
        self.extrapolate = extrapolate is not False

    def __call__(self, xi: Any, *, nu: Any = None, extrapolate: bool | None = None) -> Array:
        """Evaluate the splines. Differentiable by `xi`."""
        points = floating("NdBSpline", "xi", xi)
        count = len(self.t)
        require(
            points.ndim != 0 and points.shape[-1] == count, "NdBSpline", "xi", points, f"shape (..., {count})"
        )
        flat = xp.reshape(points, (-1, count))
        orders = (0,) * count if nu is None else tuple(int(n) for n in nu)
        rest = self.c.shape[count:]
        key, weights = [], []
        for axis, (t, k, order) in enumerate(zip(self.t, self.k, orders, strict=True)):
            first, w = _row(t, k, flat[:, axis], min(order, k))
            shape = (-1, *(k + 1 if i == axis else 1 for i in range(count)))
            key.append(xp.reshape(first[:, None] + xp.arange(k + 1), (-1, *shape[1:])))
            weights.append(xp.reshape(w * float(order <= k), (*shape, *(1,) * len(rest))))
        found = self.c[tuple(key)]
        for w in weights:
            found = found * w
        found = xp.sum(xp.reshape(found, (flat.shape[0], math.prod(k + 1 for k in self.k), *rest)), axis=1)
        if not (self.extrapolate if extrapolate is None else extrapolate):
            outside = xp.zeros((flat.shape[0],), dtype=xp.bool)
            for axis, (t, k) in enumerate(zip(self.t, self.k, strict=True)):
                at = flat[:, axis]
                outside = outside | (at < t[k]) | (at > t[t.shape[0] - k - 1])
            found = xp.where(xp.reshape(outside, (-1,) + (1,) * len(rest)), xp.nan, found)
        return xp.reshape(found, (*points.shape[:-1], *rest))

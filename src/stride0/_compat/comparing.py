"""NumPy functions beyond the standard: comparison within tolerances, covariances, Kronecker products."""

from __future__ import annotations

import math

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, BatchingError, ShapeError, shown
from stride0._base.shapes import normalize_index
from stride0._chapters.data_types import astype, finfo, result_type
from stride0._chapters.linear_algebra import matmul
from stride0._chapters.manipulation import concat, permute_dims, reshape, squeeze
from stride0._chapters.statistical import sum
from stride0._chapters.utility import all, any, every, some
from stride0._core.array.array import Array, reinterpret
from stride0._core.call.binding import intercepted
from stride0._core.call.checks import KINDS, as_scalar, check_array, check_bool, check_dtype
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import as_array, is_recorded
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, DTypeLike
from stride0.linalg import diagonal
from stride0.strided import contiguous

__all__ = ["allclose", "corrcoef", "cov", "isclose", "kron", "nan_to_num"]

_FLOATING = (*KINDS["real floating"], *KINDS["complex floating"])


def _floating(x: Array) -> Array:
    return x if x.dtype.kind in _FLOATING else astype(x, dt.float64)


# --- comparison


def _dtype_beside(other: object) -> DType | None:
    """Return the dtype for a Python scalar that is compared with `other`; None if `other` is not an array."""
    if not isinstance(other, Array):
        return None
    return other.dtype if other.dtype.kind in _FLOATING else dt.float64


@intercepted
def isclose(
    x1: Array | complex,
    x2: Array | complex,
    rtol: Array | float = 1e-05,
    atol: Array | float = 1e-08,
    equal_nan: bool = False,
) -> Array:
    """Return a mask of elements with ``abs(x1 - x2) <= atol + rtol * abs(x2)``.

    Parameters
    ----------
    x1, x2 : Array or number
        Operands, which broadcast. Integers and bool are cast to float64.
    rtol, atol : Array or float
        The tolerances.
    equal_nan : bool
        Whether NaN is close to NaN.

    Returns
    -------
    Array
        New bool array. An infinite element is close only to an equal element.
    """
    nans = check_bool("isclose", "equal_nan", equal_nan)
    first = _floating(as_array(x1, "isclose", _dtype_beside(x2), "x1"))
    second = _floating(as_array(x2, "isclose", _dtype_beside(x1), "x2"))
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not isinstance(tolerance, Array):
            as_scalar("isclose", name, tolerance)
    near = el.less_equal(el.abs(el.subtract(first, second)), el.add(atol, el.multiply(rtol, el.abs(second))))
    found = el.logical_or(el.logical_and(near, el.isfinite(second)), el.equal(first, second))
    return el.logical_or(found, el.logical_and(el.isnan(first), el.isnan(second))) if nans else found


@intercepted
def allclose(
    x1: Array | complex,
    x2: Array | complex,
    rtol: Array | float = 1e-05,
    atol: Array | float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Return whether all elements are close, as defined by `isclose`.

    Parameters
    ----------
    x1, x2, rtol, atol, equal_nan
        As for `isclose`.

    Returns
    -------
    bool
        A Python bool.
    """
    found = all(isclose(x1, x2, rtol, atol, equal_nan))
    if is_recorded(found):
        raise BatchingError(
            "allclose",
            "the arrays are batched, and allclose returns one bool for all examples",
            (),
            "write all(isclose(x1, x2))",
        )
    return bool(found)


@intercepted
def nan_to_num(
    x: Array, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """Replace NaN and infinities by numbers, in both components of complex elements.

    Parameters
    ----------
    x : Array
        Array of any dtype.
    copy : bool
        Whether to return a new array. If not, `x` is changed and returned.
    nan : float
        The number that replaces NaN.
    posinf, neginf : float, optional
        The numbers that replace infinities; by default the largest and the smallest number of the dtype.

    Returns
    -------
    Array
        Array of the shape and dtype of `x`.

    Raises
    ------
    WriteError
        If `copy` is false and `x` is read-only.
    """
    given, new = check_array("nan_to_num", x), check_bool("nan_to_num", "copy", copy)
    for name, number in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if not isinstance(number, Array) and (number is not None or name == "nan"):
            as_scalar("nan_to_num", name, number)
    if given.dtype.kind in KINDS["complex floating"]:
        component = dt.float32 if given.dtype == dt.complex64 else dt.float64
        shape = given.shape
        parts = reinterpret(contiguous(reshape(given, (-1, 1))), component)
        found = reshape(reinterpret(contiguous(_numbers(parts, nan, posinf, neginf)), given.dtype), shape)
    elif given.dtype.kind in _FLOATING:
        # Eight steps read the elements. If the elements are not adjacent, copying them first is faster.
        found = _numbers(contiguous(given) if given.ndim == 1 else given, nan, posinf, neginf)
    else:
        return astype(given, given.dtype) if new else given
    if new:
        return found
    given[...] = found
    return given


def _numbers(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    limits = finfo(x.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    infinite = el.isinf(x)
    found = el.where(el.isnan(x), nan, el.where(el.logical_and(infinite, el.greater(x, 0)), high, x))
    return el.where(el.logical_and(infinite, el.less(x, 0)), low, found)


# --- covariances


@intercepted
def cov(
    x: Array,
    y: Array | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Array | None = None,
    aweights: Array | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Estimate the covariance matrix of variables.

    Parameters
    ----------
    x : Array
        Array with one or two axes: a row for each variable, a column for each observation. An array with one
        axis is one variable.
    y : Array, optional
        More variables, in the same form.
    rowvar : bool
        If false, rows are observations and columns are variables.
    bias : bool
        Whether to divide by the number of observations, instead of the number of observations minus 1.
    ddof : int, optional
        The number to subtract from the number of observations; `bias` is then ignored.
    fweights : Array, optional
        How often each observation was made: a one-dimensional array of whole numbers.
    aweights : Array, optional
        The weight of each observation: a one-dimensional array.
    dtype : DType, optional
        The dtype of the computation; by default at least float64.

    Returns
    -------
    Array
        New array of shape ``(n, n)`` for ``n`` variables, ``()`` for one variable. Elements are infinite
        or NaN if `ddof` is at least the number of observations.

    Raises
    ------
    ShapeError
        If an array has too many axes, or a different number of observations.
    ArgumentValueError
        If a weight is negative, if all weights are 0, or if an element of `fweights` is not a whole number.
    ArgumentTypeError
        If `ddof` is not an integer.
    """
    return _of_variables(_covariance("cov", x, y, rowvar, bias, ddof, fweights, aweights, dtype)[1])


def _variables(operation: str, name: str, x: object, rowvar: bool, dtype: DType) -> Array:
    given = check_array(operation, x, name)
    if given.ndim > 2:
        facts = [(name, str(given.shape))]
        raise ShapeError(operation, f"{name} has more than two axes", facts, "reshape it to one or two axes")
    rows = astype(given, dtype, copy=False)
    if given.ndim < 2:
        return reshape(rows, (1, -1))
    return rows if rowvar else permute_dims(rows, (1, 0))


def _weights(operation: str, name: str, weights: object, count: int) -> Array:
    given = astype(check_array(operation, weights, name), dt.float64)
    if given.shape != (count,):
        facts = [(name, str(given.shape)), ("observations", str(count))]
        accepts = "pass a vector with one weight per observation"
        raise ShapeError(operation, f"{name} does not have one weight per observation", facts, accepts)
    if some(el.less(given, 0)):
        raise ArgumentValueError(operation, f"a weight in {name} is negative", (), "pass weights >= 0")
    return given


def _covariance(
    operation: str,
    x: object,
    y: object,
    rowvar: bool,
    bias: bool = False,
    ddof: object = None,
    fweights: object = None,
    aweights: object = None,
    dtype: DTypeLike | None = None,
) -> tuple[Array, Array]:
    """Return the variables as rows, and the covariances of the variables."""
    rows_first = check_bool(operation, "rowvar", rowvar)
    arrays = [check_array(operation, x)] + ([] if y is None else [check_array(operation, y, "y")])
    target = result_type(*arrays, dt.float64) if dtype is None else check_dtype(operation, dtype)
    parts = [
        _variables(operation, name, a, rows_first, target) for name, a in zip("xy", arrays, strict=False)
    ]
    if len({part.shape[1] for part in parts}) > 1:
        raise ShapeError(
            operation,
            "x and y have different numbers of observations",
            [(n, str(a.shape)) for n, a in zip("xy", arrays, strict=False)],
            "pass as many observations in y as in x",
        )
    rows = parts[0] if len(parts) == 1 else concat(parts, axis=0)
    less_by = (
        int(not check_bool(operation, "bias", bias))
        if ddof is None
        else normalize_index(operation, "ddof", ddof)
    )
    count, weights = rows.shape[1], None
    total: Array | float = float(count)
    taken: Array | float = float(less_by)
    if fweights is not None:
        weights = _weights(operation, "fweights", fweights, count)
        if some(weights != el.floor(weights)):
            accepts = "pass whole numbers, or pass the weights as aweights"
            raise ArgumentValueError(operation, "a number in fweights is not whole", (), accepts)
    if aweights is not None:
        scale = _weights(operation, "aweights", aweights, count)
        weights = scale if weights is None else el.multiply(weights, scale)
        if less_by:
            taken = el.divide(el.multiply(float(less_by), sum(el.multiply(weights, scale))), sum(weights))
    if weights is not None:
        if count and not every(any(weights)):
            raise ArgumentValueError(operation, "all weights are 0", (), "pass a weight above 0")
        total = sum(weights)
        centre = el.divide(sum(el.multiply(rows, weights), axis=1, keepdims=True), total)
    else:
        centre = el.divide(sum(rows, axis=1, keepdims=True), total)
    deviations = el.subtract(rows, centre)
    weighted = deviations if weights is None else el.multiply(deviations, weights)
    across = permute_dims(weighted, (1, 0))
    # Real deviations are multiplied by their transpose, not by a copy: half of the products are enough.
    products = matmul(
        deviations, el.conj(across) if across.dtype.kind in KINDS["complex floating"] else across
    )
    freedom = as_array(total - taken, operation)
    found = el.divide(
        products, astype(el.where(el.greater(freedom, 0), freedom, 0.0), el.real(products).dtype, copy=False)
    )
    if is_recorded(rows) and not every(freedom > 0):
        found = _undefined(found, rows, el.logical_and(el.logical_not(freedom > 0), el.isnan(found)))
    return rows, found


def _undefined(found: Array, rows: Array, missing: Array) -> Array:
    """Return `found` with NaN where `missing`. Derivatives are NaN there, too, even if deviations are 0."""
    nans = el.multiply(sum(rows, axis=1, keepdims=True), math.nan)
    return el.where(missing, el.add(nans, permute_dims(el.conj(nans), (1, 0))), found)


def _of_variables(matrix: Array) -> Array:
    return squeeze(matrix, axis=tuple(k for k in (0, 1) if matrix.shape[k] == 1))


@intercepted
def corrcoef(
    x: Array, y: Array | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """Return correlation coefficients: covariances divided by the products of standard deviations.

    Parameters
    ----------
    x, y, rowvar, dtype
        As for `cov`.

    Returns
    -------
    Array
        New array of shape ``(n, n)`` for ``n`` variables, ``()`` for one variable. Elements are from -1
        to 1, or NaN for a constant variable.
    """
    rows, c = _covariance("corrcoef", x, y, rowvar, dtype=dtype)
    variance = el.real(diagonal(c))
    across = reshape(variance, (-1, 1))
    found = (
        el.divide(c, c) if c.shape == (1, 1) else el.divide(el.divide(c, el.sqrt(across)), el.sqrt(variance))
    )
    if is_recorded(rows) and some(el.equal(variance, 0)):
        found = _undefined(found, rows, el.logical_or(el.equal(across, 0), el.equal(variance, 0)))
    if c.shape == (1, 1):
        return _of_variables(found)
    if found.dtype.kind in KINDS["complex floating"]:
        return el.add(el.clip(el.real(found), -1, 1), el.multiply(el.clip(el.imag(found), -1, 1), 1j))
    return el.clip(found, -1, 1)


@intercepted
def kron(x1: Array | complex, x2: Array | complex) -> Array:
    """Return the Kronecker product: copies of `x2`, each multiplied by an element of `x1`, side by side.

    Parameters
    ----------
    x1, x2 : Array or number
        Operands, at least one an array; the operand with fewer axes gets axes of size 1 in front.

    Returns
    -------
    Array
        New array; the size of each axis is the product of the operands' sizes.

    Raises
    ------
    ArgumentTypeError
        If neither operand is an array.
    """
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        facts = [("x1", shown(x1)), ("x2", shown(x2))]
        raise ArgumentTypeError("kron", "neither operand is an array", facts, "pass asarray(x1), for example")
    first = as_array(x1, "kron", x2.dtype if isinstance(x2, Array) else None, "x1")
    second = as_array(x2, "kron", first.dtype, "x2")
    ndim = max(first.ndim, second.ndim)
    sizes = [(1,) * (ndim - a.ndim) + a.shape for a in (first, second)]
    outer = reshape(first, tuple(size for n in sizes[0] for size in (n, 1)))
    inner = reshape(second, tuple(size for n in sizes[1] for size in (1, n)))
    return reshape(el.multiply(outer, inner), tuple(n * m for n, m in zip(*sizes, strict=True)))

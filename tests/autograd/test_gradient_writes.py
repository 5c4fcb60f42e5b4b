"""Recorded writes, and operations that lose a gradient: right or refused, never silently wrong."""

from __future__ import annotations

import array
import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from written_arrays import Function, X, Y, arr

import stride0 as xp
from stride0._base.errors import ExchangeError
from stride0.autograd import (
    GradientError,
    grad,
    stop_gradient,
)
from stride0.testing import check_grad

# --- writes with a gradient: functions of a copy of x, and of y; finite differences to second order

WRITES: dict[str, Function] = {}


def case(f: Function) -> Function:
    WRITES[f.__name__] = f
    return f


@case
def all_operators(x: Any, y: Any) -> Any:
    x += y
    x *= y
    x -= 2 * y
    x **= 2
    return x


@case
def divide(x: Any, y: Any) -> Any:
    x /= y + 3
    x += y
    return x * x


@case
def power(x: Any, y: Any) -> Any:
    x *= x * 1
    x **= y + 2
    return x


@case
def broadcast_operand(x: Any, y: Any) -> Any:
    z = xp.stack([x, x * 2])
    z *= y
    z += y[1]
    z -= z[:1]
    return z


@case
def matrices(x: Any, y: Any) -> Any:
    z = xp.reshape(x, (2, 2), copy=True)
    z @= xp.reshape(y, (2, 2))
    return z


@case
def multiply_by_itself(x: Any, y: Any) -> Any:
    x *= x
    return x * y


@case
def power_of_itself(x: Any, y: Any) -> Any:
    z = x * x + 1
    z **= z
    return z


@case
def matrix_times_itself(x: Any, y: Any) -> Any:
    z = xp.reshape(x, (2, 2), copy=True)
    z @= z
    return z


@case
def matrix_times_its_transpose(x: Any, y: Any) -> Any:
    z = xp.reshape(x, (2, 2), copy=True)
    z @= z.T
    return z


@case
def multiply_by_its_reverse(x: Any, y: Any) -> Any:
    x *= x[::-1]
    return x


@case
def multiply_by_its_first(x: Any, y: Any) -> Any:
    x *= x[:1]
    return x


@case
def divide_by_its_first(x: Any, y: Any) -> Any:
    x /= x[:1]
    return x * y


@case
def subtract_itself(x: Any, y: Any) -> Any:
    x -= x[:1]
    return x * y


@case
def shift(x: Any, y: Any) -> Any:
    x[1:] = x[:-1]
    return x * y


@case
def reverse(x: Any, y: Any) -> Any:
    x[...] = x[::-1]
    return x * y


@case
def items(x: Any, y: Any) -> Any:
    x[0] = y[3]
    x[-1] = 2.0
    x[1] += y[0] * (x[2] + 0)
    x[2] *= x[2]
    return x * y


@case
def slices(x: Any, y: Any) -> Any:
    x[1:3] = y[::3]
    x[::2] *= y[:2]
    x[:0] = 5.0
    x[1::2] += 1.0
    return xp.sin(x)


@case
def masks(x: Any, y: Any) -> Any:
    x[x > 0.8] = 0.0
    x[y > 0] *= y[y > 0]
    x[xp.asarray([True, False, False, True])] = y[:2]
    return x * y


@case
def integer_arrays(x: Any, y: Any) -> Any:
    x[xp.asarray([3, 0])] = y[xp.asarray([1, 1])]
    x[xp.asarray([1, 2])] += y[:2] * (x[:2] + 0)
    return x * y


@case
def repeated_indices(x: Any, y: Any) -> Any:
    x[xp.asarray([1, 1, 2])] = y[:3]  # the last one stays
    x[xp.asarray([0, 0])] += y[2:]
    return x * y


@case
def mixed_keys(x: Any, y: Any) -> Any:
    z = xp.reshape(x, (2, 2), copy=True)
    z[:, xp.asarray([1, 0])] = xp.reshape(y, (2, 2))
    z[None, 0, 1] = y[2]
    z[1, ...] *= z[0]
    return z


@case
def broadcast_value(x: Any, y: Any) -> Any:
    z = xp.zeros((3, 4))
    z[:, 1:] = x[1:]
    z[:2, 0] = y[0]
    return z * y


@case
def into_untracked(x: Any, y: Any) -> Any:
    z = xp.zeros(4)
    z[1:3] = x[:2]
    z += y
    return z * z


@case
def list_value(x: Any, y: Any) -> Any:
    x[:2] = [y[0], 3.0]
    return x * x


@case
def recurrence(x: Any, y: Any) -> Any:
    z = xp.zeros(9)
    z[0] = x[0]
    for n in range(1, 9):
        z[n] = xp.sin(z[n - 1]) * y[n % 4] + x[n % 4]
    return z


@case
def interleaved(x: Any, y: Any) -> Any:
    z = xp.zeros(8)
    even = z[::2]
    z[1::2] = x
    even += y  # no element of `even` was written
    return even * even


@case
def view_of_the_whole(x: Any, y: Any) -> Any:
    v = x[...]
    v *= y
    return v * y


@case
def view_taken_after(x: Any, y: Any) -> Any:
    z = xp.zeros((2, 4))
    z[0] = x
    row, other = z[0], z[1, 1:]
    z[1, 0] = y[0]
    return xp.concat([row * row, other])


@case
def components(x: Any, y: Any) -> Any:
    z = x * (1 + 0.5j)
    z[1] = y[0] + 1j * y[1]
    z *= 1j * y
    z.real[2:] += 0.0
    return xp.abs(xp.asarray([1.0])) * y


@case
def iteration(x: Any, y: Any) -> Any:
    z = xp.stack([x, y])
    total = xp.zeros(4)
    for row in z:
        total += row * row
    return total


@case
def kept_by_conversions(x: Any, y: Any) -> Any:
    same = xp.asarray(xp.astype(x, xp.float64, copy=False))
    first, second = xp.broadcast_arrays(same, y[:1])
    return copy.copy(first) * copy.deepcopy(second) + xp.asarray(y, copy=True)


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    check_grad(lambda x, y: WRITES[name](x * 1, y), arr(*X), arr(*Y), order=2)


@pytest.mark.parametrize("name", WRITES)
def test_writes_in_complex(name: str) -> None:
    if name in ("masks", "components", "kept_by_conversions"):
        return
    z = arr(*[a + 0.3j * b for a, b in zip(X, Y, strict=True)])
    w = arr(*[a - 0.2j * b for a, b in zip(Y, X, strict=True)])

    def f(x: Any, y: Any) -> Any:
        zeros = xp.zeros
        try:
            # Results of the functions are complex where they begin with zeros, too.
            xp.zeros = lambda shape: zeros(shape, dtype=xp.complex128)
            return WRITES[name](x * 1, y)
        finally:
            xp.zeros = zeros

    check_grad(f, z, w, order=2, rtol=1e-5)


def test_functions_may_write_to_their_argument() -> None:
    def f(x: Any) -> Any:
        x += x
        x[0] = 0.0
        return xp.sum(x**2)

    assert_allclose(np.asarray(grad(f)(arr(1.0, 2.0))), [0, 16])


# --- failing operations


@pytest.mark.parametrize(
    ("fail", "error"),
    [
        (lambda y: y.__iadd__(xp.ones(3)), ValueError),
        (lambda y: y.__setitem__(slice(0, 2), xp.ones(5)), ValueError),
        (lambda y: y.__setitem__(..., xp.ones(3)), ValueError),
        (lambda y: y.__setitem__(9, 1.0), IndexError),
        (lambda y: y.__setitem__(0, 1j), (TypeError, OverflowError)),
        (lambda y: y.__setitem__(0, "text"), TypeError),
        (lambda y: y.__imatmul__(xp.ones((4, 2))), ValueError),
        (lambda y: y.__imul__(xp.asarray(1j)), TypeError),
        (lambda y: y.__iadd__(np.ones(4)), TypeError),
        (lambda y: xp.broadcast_to(y, (2, 4)).__iadd__(1.0), ValueError),
        (lambda y: y[9], IndexError),
        (lambda y: xp.reshape(y, (3,)), ValueError),
        (lambda y: y + xp.ones(3), ValueError),
    ],
)
def test_failures_change_nothing(fail: Function, error: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 2
        z = xp.exp(y)
        with pytest.raises(error):
            fail(y)
        return xp.sum(y * z)

    e = np.exp(2 * np.asarray(X))
    assert_allclose(np.asarray(grad(f)(arr(*X))), 2 * e * (1 + 2 * np.asarray(X)))


def test_failed_writes_keep_an_array_stale() -> None:
    """After a write to a view, a failed assignment does not mark the array as current."""

    def f(x: Any) -> Any:
        y = x * 1
        y[...][...] = 0.0
        with pytest.raises(ValueError):
            y[...] = xp.ones(5)
        return xp.sum(y)

    assert grad(f)(arr(1.0, 2.0)).tolist() == [0, 0]


def test_reflected_operators_of_others() -> None:
    """`x += other` is what `other.__radd__` returns."""

    class Other:
        def __radd__(self, x: Any) -> str:
            return "other"

    def f(x: Any) -> Any:
        y = x * 1
        y += Other()
        assert y == "other"
        return xp.sum(x)

    assert_allclose(np.asarray(grad(f)(arr(1.0))), [1])


# --- conversions


@pytest.mark.parametrize(
    "convert",
    [
        float,
        complex,
        np.asarray,
        np.array,
        np.float64,
        np.cbrt,
        memoryview,
        bytes,
        np.from_dlpack,
        pickle.dumps,
        math.sin,
        lambda s: np.array([s]),
        lambda s: array.array("d", [s]),
        lambda s: np.full(3, s),
        lambda s: s.__array__(),
        lambda s: s.__dlpack__(),
    ],
)
def test_conversions_that_lose_the_gradient(convert: Function) -> None:
    def f(x: Any) -> Any:
        with pytest.raises((GradientError, ExchangeError), match="stop_gradient"):
            convert(x * 2)
        convert(stop_gradient(x))
        return x * 2

    assert float(grad(f)(xp.asarray(3.0))) == 2


def test_ufuncs_keep_the_gradient() -> None:
    x = xp.asarray(3.0)
    assert float(grad(lambda x: np.sin(x * 2))(x)) == float(2 * xp.cos(x * 2))
    assert float(grad(lambda x: np.float64(2) * x)(x)) == 2


@pytest.mark.parametrize("write", [str, repr, format, lambda x: f"{x:.2f}"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_printing(write: Function, shape: tuple[int, ...]) -> None:

    def f(x: Any) -> Any:
        if shape == () or write is not CASES_OF_PRINTING[3]:
            assert "2" in write(x * 2)
        return xp.sum(x)

    grad(f)(xp.ones(shape))


CASES_OF_PRINTING = test_printing.pytestmark[1].args[1]  # type: ignore[attr-defined]


def test_steering_control_flow() -> None:
    def f(x: Any) -> Any:
        n = int(x)
        assert bool(x > 1) and x and x in arr(3.0) and x != 4.0
        table = [x, x * 2, x * 3, x * 4]
        return table[int(xp.astype(x, xp.int64))] * n + sum(x for _ in range(n)) + arr(1.0, 5.0)[n - 2] * x

    assert float(grad(f)(xp.asarray(3.0))) == 12 + 3 + 5

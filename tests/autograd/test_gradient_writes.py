"""Writes on the tape, through whichever array: right, or refused; never a silently wrong gradient."""

from __future__ import annotations

import array
import copy
import math
import pickle
import random
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from gradient_programs import Dual, Stride, loss_of, run
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from program_helpers import live

import stride0 as xp
from stride0._base.errors import ExchangeError
from stride0.autograd import (
    GradientError,
    Tape,
    checkpoint,
    custom_vjp,
    grad,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from stride0.testing import check_grad

Function = Callable[..., Any]
X = [0.7, -0.4, 1.3, 0.9]
Y = [0.3, 1.1, -0.8, 0.5]


def arr(*values: complex) -> Any:
    return xp.asarray(list(values))


def right_or_refused(f: Function, *xs: Any, expected: list[Any]) -> None:
    """For cases in which both are good."""
    try:
        found = grad(f, argnums=tuple(range(len(xs))))(*xs)
    except GradientError:
        return
    for g, e in zip(found, expected, strict=True):
        assert_allclose(np.asarray(g), e, rtol=1e-12)


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


# --- saved values


def test_overwritten_saved_value() -> None:
    def f(x: Any) -> Any:
        y = xp.exp(x)
        z = y * y
        y[1] = 0.0
        return y + z

    check_grad(f, arr(1.0, 2.0), order=3)


@pytest.mark.parametrize(
    "write",
    [
        lambda c, x: c.__setitem__(0, 5.0),
        lambda c, x: c.__iadd__(1.0),
        lambda c, x: c[1:].__imul__(2.0),
        lambda c, x: c.__setitem__(xp.asarray([True, False]), 9.0),
        lambda c, x: c.__setitem__(xp.asarray([1]), 9.0),
        lambda c, x: c.__setitem__(..., x),
        lambda c, x: xp.flip(c).__iadd__(1.0),
    ],
)
def test_overwritten_constants(write: Function) -> None:
    def f(x: Any) -> Any:
        c = arr(3.0, 4.0)
        y = xp.sum(c * x * x)
        write(c, x)
        return y

    assert grad(f)(arr(1.0, 2.0)).tolist() == [6, 16]


def test_values_are_copied_where_they_are_written_over_and_once() -> None:
    def f(x: Any, write: Function | None) -> tuple[int, list[float]]:
        with Tape() as tape:
            x = tape.watch(x)
            c, row = xp.ones((3, 500, 500)), xp.broadcast_to(xp.full((1, 500), 2.0), (500, 500))
            y = xp.sum(x * c[0]) + xp.sum(x * c[0]) + xp.sum(x * c[1]) + xp.sum(x * row)
            before = live()
            if write is not None:
                write(c, row)
            after = live()
        return after - before, tape.gradient(y, x).tolist()

    x, size = xp.asarray(1.0), 8 * 250_000
    expected = f(x, None)[1]
    for write, copies in [
        (lambda c, row: c[2].__setitem__(..., 5.0), 0),
        (lambda c, row: c[0].__setitem__((3, 3), 5.0), 1),
        (lambda c, row: c.__setitem__(..., 5.0), 2),
    ]:
        found, gradient = f(x, write)
        assert copies * size <= found < (copies + 0.5) * size
        assert gradient == expected
    # What nobody can ask for any more is not copied.
    c = xp.ones((500, 500))
    grad(lambda x: xp.sum(x * c))(x)
    with Tape():
        before = live()
        c[...] = 2.0
        assert live() - before < size / 2


@pytest.mark.parametrize("count", [10, 200, 1000])
def test_many_saved_values_of_one_array(count: int) -> None:
    """Beyond a number of them they are sorted by place."""

    def f(x: Any, write: bool) -> Any:
        c = xp.arange(1.0, 3.0 * count + 1)
        total = xp.sum(x) * 0
        for k in range(count):
            total = total + x * c[3 * k] * c[k]
            if write:
                c[2 * k] = -5.0
                c[k : k + 4] += 0.5
                c[k : k + 4] -= 0.5
        return total

    def expected() -> float:
        c, total = np.arange(1.0, 3.0 * count + 1), 0.0
        for k in range(count):
            total += c[3 * k] * c[k]
            c[2 * k] = -5.0
        return float(total)

    assert float(grad(f)(xp.asarray(2.0), True)) == pytest.approx(expected())
    assert float(grad(f)(xp.asarray(2.0), False)) == pytest.approx(
        float(np.sum(np.arange(1.0, 3 * count + 1)[::3] * np.arange(1.0, count + 1)))
    )


def test_masks_and_indices_are_saved_too() -> None:
    def f(x: Any) -> Any:
        mask, index = xp.asarray([True, False]), xp.asarray([1, 1])
        y = xp.where(mask, x, 2 * x)
        z = x[index] + x[mask]
        mask[0], index[0] = False, 0
        return xp.sum(y), xp.sum(z)

    assert_allclose(np.asarray(grad(lambda x: f(x)[0])(arr(1.0, 2.0))), [1, 2])
    assert_allclose(np.asarray(grad(lambda x: f(x)[1])(arr(1.0, 2.0))), [2, 2])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, order: xp.permute_dims(xp.reshape(x, (2, 2)), order),
        lambda x, order: xp.roll(xp.reshape(x, (2, 2)), [1, 0], axis=order),
        lambda x, order: xp.stack([x, x * 2])[order],
        lambda x, order: xp.moveaxis(xp.reshape(x, (2, 2)), [0, 1], order),
    ],
)
def test_lists_may_change_afterwards(f: Function) -> None:
    """The rules see arguments as they were in the call."""

    def loss(x: Any, change: bool) -> Any:
        order = [1, 0]
        try:
            y = f(x, order)
        except TypeError:
            y = f(x, tuple(order))
        if change:
            order[:] = [0, 1]
        return xp.sum(y * xp.reshape(xp.arange(float(y.size)), y.shape))

    x = arr(*X)
    assert_allclose(np.asarray(grad(loss)(x, True)), np.asarray(grad(loss)(x, False)))


def test_disjoint_writes_are_no_error() -> None:
    def f(x: Any) -> Any:
        z = xp.zeros((4, 4))
        z[:, 0] = x
        y = xp.exp(z[:, 0])
        z[:, 1] = y
        z[::2, 2::2] = 1.0
        return xp.sum(y * z[:, 0])

    assert_allclose(np.asarray(grad(f)(arr(*X))), np.exp(X) * (1 + np.asarray(X)))


def test_results_overwritten_before_the_backward_pass() -> None:
    x = arr(1.0, 2.0)
    y, pullback = vjp(xp.exp, x)
    y += 1
    assert_allclose(np.asarray(pullback(arr(1.0, 1.0))[0]), np.exp([1, 2]))
    _, pullback = vjp(xp.sin, x)
    x[0] = 7.0
    assert_allclose(np.asarray(pullback(arr(1.0, 1.0))[0]), np.cos([1, 2]))


def test_constants_saved_by_a_backward_pass() -> None:

    def f(x: Any) -> Any:
        c = arr(3.0, 3.0)
        _, pullback = vjp(lambda y: y * c, arr(1.0, 1.0))
        (g,) = pullback(x)
        c[...] = 100.0
        return xp.sum(g)

    assert grad(f)(arr(1.0, 2.0)).tolist() == [3, 3]


@custom_vjp
def squared(x: Any, c: Any) -> Any:
    return c * x**2


squared.defvjp(lambda x, c: (c * x**2, (x, c)), lambda kept, g: (2 * g * kept[0] * kept[1], None))


@pytest.mark.parametrize("what", ["argument", "constant"])
@pytest.mark.parametrize(
    "call", [checkpoint(lambda x, c: c * x**2), squared], ids=["checkpoint", "custom_vjp"]
)
def test_arguments_overwritten_after_the_call(call: Function, what: str) -> None:
    """checkpoint and custom_vjp do not take the new values for the old ones."""

    def f(x: Any) -> Any:
        y, c = x * 1, arr(3.0, 3.0)
        z = call(y, c)
        if what == "argument":
            y[...] = 0.0
        else:
            c[...] = 0.0
        return xp.sum(z)

    assert grad(f)(arr(1.0, 2.0)).tolist() == [6, 12]


def test_checkpointed_function_that_writes_to_its_argument() -> None:
    """The second run does not start from what the first one has left."""

    def inner(u: Any) -> Any:
        u *= 2
        return xp.sum(u**2)

    assert grad(lambda x: checkpoint(inner)(x * 1))(arr(1.0, 2.0)).tolist() == [8, 16]


# --- writes through views


@pytest.mark.parametrize(
    "view",
    [
        lambda z: z[0],
        lambda z: z[::2, 1:],
        lambda z: z.T,
        lambda z: xp.flip(z),
        lambda z: z[None],
        lambda z: xp.reshape(z, (-1,)),
        lambda z: next(iter(z)),
        lambda z: xp.unstack(z)[0],
        lambda z: xp.broadcast_to(z, (2, 2, 2)),
        lambda z: xp.strided.as_strided(z, (2,), (3,)),
        lambda z: stop_gradient(z),
        lambda z: xp.linalg.diagonal(z),
        lambda z: xp.asarray(z)[...],
        lambda z: xp.expand_dims(z, axis=0),
        lambda z: xp.moveaxis(z, 0, 1),
    ],
)
@pytest.mark.parametrize("tracked", [False, True])
def test_views_taken_before_a_write(view: Function, tracked: bool) -> None:
    """A view of an array into which a tracked value was written afterwards has that value."""

    def f(x: Any) -> Any:
        z = xp.reshape(x, (2, 2)) * 1 if tracked else xp.zeros((2, 2))
        v = view(z)
        z[...] = xp.reshape(x, (2, 2)) ** 2
        return v * v

    def part(x: Any) -> Any:
        z = xp.reshape(x, (2, 2)) * 1 if tracked else xp.zeros((2, 2))
        v = view(z)
        z[:, 1] *= xp.reshape(x, (2, 2))[0]
        z[1, xp.asarray([0])] = x[2:3] ** 2
        return v * v

    def shares() -> bool:
        z = xp.zeros((2, 2))
        return bool(xp.strided.shares_storage(view(z), z))

    assert shares()
    check_grad(f, arr(*X), order=2)
    # What is left of a value with a stopped gradient stays a constant.
    if not (tracked and "stop_gradient" in view.__code__.co_names):
        check_grad(part, arr(*X), order=2)


def test_writes_through_views() -> None:
    def f(x: Any) -> Any:
        z = x * 1
        z[1:][:1] += 1.0  # a view that is gone
        z[2:] *= z[:2]
        z[2:][...] *= x[0]
        return z * z

    check_grad(f, arr(*X), order=2)

    def g(x: Any) -> Any:
        z = x * 1
        v = z[1:]
        v[:1] = 0.0
        v[1:][...] = x[1:3] * x[3]
        return xp.sum(z[:1]) * z * v[0], v * v

    check_grad(lambda x: g(x)[0], arr(*X), order=2)
    check_grad(lambda x: g(x)[1], arr(*X), order=2)


@pytest.mark.parametrize("how", ["itself", "a view", "a part"])
def test_an_array_that_is_written_onto_itself(how: str) -> None:
    """What was written through another array is read, although it is overwritten."""

    def f(x: Any) -> Any:
        y = xp.asarray(x, copy=True)
        z = y[...]
        z *= z
        if how == "itself":
            y[...] = y
        elif how == "a view":
            y[...] = y[:]
        else:
            y[1:] = y[:1]
        return xp.sum(xp.sin(y) * xp.asarray([1.0, 2.0]))

    def by_hand(x: Any) -> Any:
        squares = x * x
        if how == "a part":
            squares = xp.stack([squares[0], squares[0]])
        return xp.sum(xp.sin(squares) * xp.asarray([1.0, 2.0]))

    x = xp.asarray([0.7, 0.3])
    for g, h in ((f, by_hand), (lambda x: xp.sum(grad(f)(x) ** 2), lambda x: xp.sum(grad(by_hand)(x) ** 2))):
        np.testing.assert_allclose(np.asarray(grad(g)(x)), np.asarray(grad(h)(x)), rtol=1e-12)
    both = xp.asarray([[0.7, 0.3], [0.2, 0.9]])
    np.testing.assert_allclose(
        np.asarray(grad(lambda x: xp.sum(vmap(f)(x)))(both)),
        np.asarray(vmap(grad(by_hand))(both)),
        rtol=1e-12,
    )


@pytest.mark.parametrize("first", [lambda z: z.__setitem__(..., 0.0), lambda z: z.__setitem__(0, 0.0)])
def test_writes_to_components_do_not_hide_others(first: Function) -> None:
    """real(z) and z have the same address, shape and strides; writes to them are not the same."""

    def f(x: Any) -> Any:
        z = x * (1 + 1j)
        imaginary = xp.imag(z)
        first(z)
        if first is FIRST_OF_ALL:
            xp.real(z)[...] = 1.0
        else:
            xp.real(z)[0] = 1.0
        return xp.sum(imaginary) + xp.sum(xp.real(z))

    expected = {True: [0, 0], False: [0, 2]}[first is FIRST_OF_ALL]
    assert grad(f)(arr(1.0, 2.0)).tolist() == expected


FIRST_OF_ALL = test_writes_to_components_do_not_hide_others.pytestmark[0].args[1][0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("part", ["real", "imag"])
def test_components_of_a_written_array(part: str) -> None:
    def f(x: Any) -> Any:
        z = xp.zeros(2, dtype=xp.complex128)
        other = getattr(z, "imag" if part == "real" else "real")
        getattr(z, part)[...] = x
        return xp.sum(other) + xp.sum(x)

    assert_allclose(np.asarray(grad(f)(arr(1.0, 2.0))), [1, 1])

    def g(x: Any) -> Any:
        z = xp.zeros(2, dtype=xp.complex128)
        getattr(z, part)[...] = x
        return xp.sum(xp.abs(z))

    assert_allclose(np.asarray(grad(g)(arr(1.0, 2.0))), [1, 1])

    def h(x: Any) -> Any:
        z = x * (1 + 2j)
        other, whole = getattr(z, part), z[::-1]
        getattr(z, part)[1:] *= x[0]
        z *= 1 + 1j
        getattr(z, part)[0] = x[1] * x[1]
        return xp.stack([xp.real(whole), xp.imag(whole) * other])

    check_grad(h, arr(1.0, 2.0), order=2)


def test_as_strided_beyond_the_elements() -> None:
    """Elements outside of x, written with tracked values, do not come in as constants."""

    def f(x: Any) -> Any:
        z = xp.zeros(3)
        v = z[:1]
        z[2] = x[1]
        return xp.sum(xp.strided.as_strided(v, (3,), (1,)))

    right_or_refused(f, arr(1.0, 2.0), expected=[[0, 1]])


def test_writes_while_only_a_later_tape_is_open() -> None:
    """The view is stale as long as one of the tapes of the value that was written is open."""
    one, two = Tape(), Tape()
    one.__enter__()
    two.__enter__()
    x = two.watch(one.watch(arr(2.0)))
    z = xp.zeros(1)
    v = z[...]
    z[...] = x
    one.__exit__()
    y = xp.sum(v)
    two.__exit__()
    assert_allclose(np.asarray(two.gradient(y, x)), 1)


@pytest.mark.parametrize("count", [10, 64, 65, 66, 130, 300])
def test_long_loops_of_writes(count: int) -> None:
    """When the log is folded, the write within `y[k] += a` does not count as one by another array."""

    def f(x: Any) -> Any:
        y = x * 1
        for k in range(count):
            y[k] += x[k] * x[k]
        return xp.sum(y)

    x = xp.ones(count)
    assert_allclose(np.asarray(grad(f)(x)), 3)

    def views(x: Any, tracked: bool, read: int) -> Any:
        y = x * 1 if tracked else xp.zeros(2 * count)
        before = [y[k : k + 1] for k in range(2 * count)]
        for k in range(count):
            y[2 * k] = x[k]
        return xp.sum(before[read])

    x = xp.ones(2 * count)
    for read in (0, 2, 2 * count - 2):
        for tracked in (False, True):
            found = np.asarray(grad(views)(x, tracked, read))
            assert np.array_equal(found, np.arange(2 * count) == read // 2)
    for read in (1, 2 * count - 1):
        assert float(xp.sum(grad(views)(x, True, read))) == 1
        assert float(xp.sum(grad(views)(x, False, read))) == 0


@pytest.mark.parametrize("count", [3, 100])
@pytest.mark.parametrize("mask", [False, True])
def test_saved_values_after_many_writes(count: int, mask: bool) -> None:
    def f(x: Any, hit: bool) -> Any:
        c = xp.ones(2 * count)
        y = xp.sum(x * c[::2])
        z = xp.sum(x * c[1::2])
        for k in range(count):
            key = 2 * k + (1 if hit and k == 1 else 0)
            c[xp.arange(2 * count) == key if mask else key] = 5.0
        return z + 0 * y if hit else z

    assert_allclose(np.asarray(grad(lambda x: f(x, False))(xp.ones(count))), 1)
    assert_allclose(np.asarray(grad(lambda x: f(x, True))(xp.ones(count))), 1)


def test_inner_writes_do_not_bind_the_outside() -> None:
    """What was written during a gradient that is done is an ordinary value."""
    z = xp.zeros(2)
    v = z[...]

    def f(x: Any) -> Any:
        z[...] = x
        return xp.sum(z**2)

    assert_allclose(np.asarray(grad(f)(arr(1.0, 2.0))), [2, 4])
    assert_allclose(np.asarray(v + z), [2, 4])
    assert_allclose(np.asarray(grad(lambda x: xp.sum(x * v))(arr(1.0, 1.0))), [1, 2])


@pytest.mark.parametrize("count", [5, 70, 200])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_an_array_that_was_written_through_many_others(count: int, dtype: str) -> None:
    """Rows, each through a view that is gone; more of them than the log of writes lists."""

    def f(x: Any) -> Any:
        z = xp.astype(xp.stack([x] * count), getattr(xp, dtype))
        before = z[::-1, ::2]
        for k in range(count):
            row = z[k]
            row *= x[k % 4] + k / count
            row[1:3] += row[:2]
        for k in range(0, count, 3):
            z[k, 1::2][...] = k
        return xp.real(xp.stack([xp.sum(z * z, axis=0)[::2], xp.sum(before**3, axis=0)]))

    def functional(x: Any) -> Any:
        rows = []
        for k in range(count):
            row = x * (x[k % 4] + k / count)
            row = xp.stack([row[0], row[1] + row[0], row[2] + row[1], row[3]])
            if k % 3 == 0:
                row = xp.stack([row[0], k + 0 * row[0], row[2], k + 0 * row[0]])
            rows.append(row)
        z = xp.astype(xp.stack(rows), getattr(xp, dtype))
        return xp.real(xp.stack([xp.sum(z * z, axis=0)[::2], xp.sum(z[::-1, ::2] ** 3, axis=0)]))

    def slope(f: Function) -> Function:
        return lambda x: xp.sum(grad(lambda x: xp.sum(f(x) * xp.asarray([[1.0, 2.0], [3.0, 4.0]])))(x) ** 2)

    tolerance = 1e-3 if dtype == "float32" else 1e-10
    for wanted, found in ((functional, f), (slope(functional), slope(f))):
        expected = np.asarray(grad(lambda x, g=wanted: xp.sum(g(x)))(arr(*X)))
        assert_allclose(np.asarray(grad(lambda x, g=found: xp.sum(g(x)))(arr(*X))), expected, rtol=tolerance)


def test_elements_of_two_bytes() -> None:
    """The log knows each of them apart."""

    def f(x: Any) -> Any:
        z = xp.astype(xp.zeros(200), xp.float16)
        before = [z[k : k + 1] for k in range(200)]
        for k in range(0, 200, 2):
            z[k] = xp.astype(x, xp.float16)
        return xp.astype(xp.stack([before[6], before[7], before[198], before[199]]), xp.float64)

    x = xp.asarray(2.0)
    for k, expected in enumerate([1, 0, 1, 0]):
        assert float(grad(lambda x, k=k: xp.sum(f(x)[k]))(x)) == expected


@pytest.mark.parametrize("through", [lambda y: y[...], lambda y: y[None], lambda y: xp.flip(y)])
def test_results_that_are_overwritten(through: Function) -> None:
    """Before the tape is closed, the gradient is that of what was written; afterwards it is what it was."""

    def f(x: Any) -> Any:
        y = x * 1
        part = through(y)
        part *= xp.flip(x) if part.ndim == 1 else x
        return y

    x, g = arr(1.0, 2.0, 4.0), arr(1.0, 10.0, 100.0)
    expected = grad(lambda x: xp.sum(f(x) * 1 * g))(x).tolist()
    y, pullback = vjp(f, x)
    through(y)[...] = 7.0
    assert pullback(g)[0].tolist() == expected
    with Tape() as tape:
        z = tape.watch(x)
        y = f(z)
        w = y[...]
    through(w)[...] = 0.0
    assert tape.gradient(y, z, g).tolist() == expected
    assert y.tolist() == [0, 0, 0]


def test_functions_of_the_caller_get_what_was_written() -> None:
    """Arguments of checkpoint and custom_vjp, what they close over, and an argument of an inner gradient."""

    def f(x: Any, call: Function) -> Any:
        y = x * 1
        part, closed = y[1:], y[::-1]
        part *= x[1:]
        return call(y, closed)

    for call in (
        checkpoint(lambda y, c: y * c),
        lambda y, c: checkpoint(lambda y: y * c)(y),
        lambda y, c: squared(y, 2.0) * c,
        lambda y, c: y * grad(lambda u: xp.sum(u * u * c))(y),
        lambda y, c: stop_gradient(y) * c,
    ):
        x = arr(*X)
        y = [X[0], *[a * a for a in X[1:]]]

        def functional(x: Any, call: Function = call) -> Any:
            y = xp.concat([x[:1], x[1:] * x[1:]])
            return call(y, y[::-1])

        expected = grad(lambda x, g=functional: xp.sum(g(x)))(x)
        assert_allclose(np.asarray(f(x, call)), np.asarray(call(arr(*y), arr(*y[::-1]))))
        assert_allclose(np.asarray(grad(lambda x, c=call: xp.sum(f(x, c)))(x)), np.asarray(expected))


def test_writes_between_two_blocks_of_a_tape() -> None:
    tape = Tape()
    with tape:
        x = tape.watch(arr(1.0, 2.0))
        y = x * 3
        part = y[:1]
        other = y[1:]
    part[...] = 5.0
    with tape:
        assert bool(xp.sum(other) == 6)
        with pytest.raises(GradientError, match="overwritten through another") as caught:
            xp.sum(y)
        assert f"{__file__}:" in str(caught.value)
        # Of what is written now it is known.
        part[...] = x[:1] * 2
        z = xp.sum(y)
    assert tape.gradient(z, x).tolist() == [2, 3]


def test_the_log_keeps_no_memory_alive() -> None:
    """Values, nodes and the log of their memory refer to each other, as long as the tape exists."""

    def f(x: Any) -> Any:
        y = xp.zeros(10_000)
        part = y[5000:]
        for _ in range(3):
            y[:5000] = xp.sin(part[:1]) * x
            part += xp.exp(y[:5000]) * x
        return xp.sum(y)

    x = xp.ones(5000)
    grad(f)(x)
    before = live()
    for _ in range(5):
        grad(f)(x)
    assert live() == before


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
    """A failed assignment does not mark the array as current although a view of it had been written."""

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


# --- random programs

SHAPES: list[tuple[tuple[int, ...], bool]] = [
    ((4,), False),
    ((3, 4), False),
    ((2,), False),
    ((4,), True),
    ((), False),
    ((3, 4), False),
    ((4,), False),
]
TRACKED = 5  # of those, the first ones


def numbers(rng: Any, count: int) -> list[Any]:
    found = []
    for shape, complex_too in SHAPES[:count]:
        a = rng.uniform(-1, 1, shape)
        found.append(np.asarray(a + 1j * rng.uniform(-1, 1, shape) if complex_too else a))
    return found


def weights(shape: tuple[int, ...]) -> Any:
    return np.cos(1.3 * np.arange(math.prod(shape)) + 0.4).reshape(shape)


def compare(program: list[tuple[int, ...]], calls: bool, seed: int = 0) -> str:
    """Run a program with both machines: 'right', 'refused', or an AssertionError."""
    rng = np.random.default_rng(seed)
    values, v1, v2 = numbers(rng, len(SHAPES)), numbers(rng, TRACKED), numbers(rng, TRACKED)
    dual = Dual()
    arrays = [dual.constant(v) for v in values]
    for a, first, second in zip(arrays, v1, v2, strict=False):
        a[1], a[2] = first, second
    pool, _ = run(dual, program, arrays, calls)
    expected = [sum(float(np.sum(x[k].real)) for x in loss_of(dual, pool, weights)) for k in range(4)]
    size = 1 + max(map(abs, expected))
    if not size < 1e6:
        return "large"

    def f(*xs: Any) -> Any:
        given = [*xs, *(xp.asarray(v, copy=True) for v in values[TRACKED:])]
        pool, _ = run(Stride(), program, given, calls)
        return sum(xp.sum(xp.real(x)) for x in loss_of(Stride(), pool, weights))

    def slope(*xs: Any) -> Any:
        found = grad(f, argnums=which)(*(x * 1 for x in xs))
        return sum(xp.sum(xp.real(xp.conj(g) * xp.asarray(v))) for g, v in zip(found, v1, strict=True))

    def inner(gs: Any, vs: Any) -> float:
        return sum(float(np.sum((np.conj(np.asarray(g)) * v).real)) for g, v in zip(gs, vs, strict=True))

    which = tuple(range(TRACKED))
    try:
        value, first = value_and_grad(f, argnums=which)(*map(xp.asarray, map(np.copy, values[:TRACKED])))
        second = grad(slope, argnums=which)(*map(xp.asarray, map(np.copy, values[:TRACKED])))
    except GradientError as error:
        assert "internal" not in str(error)
        return "refused"
    assert abs(float(value) - expected[0]) < 1e-9 * size, "value"
    assert abs(inner(first, v1) - expected[1]) < 1e-8 * size, "first derivative"
    assert abs(inner(second, v2) - expected[3]) < 1e-7 * size, "second derivative"
    return "right"


STEP = st.tuples(*[st.integers(0, 4 * 17 - 1)] + [st.integers(0, 59)] * 3)


@settings(max_examples=300)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_random_programs(program: list[tuple[int, ...]]) -> None:
    """Elementwise operations, views, and writes."""
    compare(program, calls=False)


@settings(max_examples=200)
@given(st.lists(STEP, min_size=1, max_size=10))
def test_random_programs_with_calls(program: list[tuple[int, ...]]) -> None:
    """The same with checkpoint, custom_vjp and nested gradients."""
    compare(program, calls=True)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("calls", [False, True])
def test_fixed_random_programs(calls: bool, fused: bool) -> None:
    """None of them is refused, whatever is written through which view."""
    found = []
    for seed in range(700):
        r = random.Random(seed)
        program = [
            (r.randrange(68), r.randrange(60), r.randrange(60), r.randrange(60))
            for _ in range(r.randrange(1, 14))
        ]
        with xp.fused(size=1) if fused else nullcontext():
            found.append(compare(program, calls, seed))
    assert set(found) <= {"right", "large"} and found.count("right") > 0.9 * len(found)


@pytest.mark.parametrize(
    "write",
    [
        lambda c, v, r: v.__setitem__(..., 0.0),
        lambda c, v, r: c.__setitem__(..., 0.0),
        lambda c, v, r: c.__iadd__(1.0),
        lambda c, v, r: c.__setitem__(slice(1), r),
        lambda c, v, r: [c.__setitem__(0, 2.0) for _ in range(300)],
    ],
)
def test_what_a_checkpointed_function_closes_over_is_overwritten(write: Function) -> None:
    def f(x: Any) -> Any:
        c = x * 2
        v = c[1:]
        r = checkpoint(lambda u: xp.sum(u * c * u))(x)
        write(c, v, r)
        return r + xp.sum(c)

    x = xp.asarray([0.7, -1.3, 2.1, 0.4])
    with pytest.raises(GradientError, match="after the call that `checkpoint` makes again"):
        grad(f)(x)
    with Tape() as tape:
        y = tape.watch(x)
        c = y * 2
        r = checkpoint(lambda u: xp.sum(u * c * u))(y)
        write(c, c[1:], r)
        with pytest.raises(GradientError, match="after the call that `checkpoint` makes again"):
            tape.gradient(r, y)
    assert_allclose(np.asarray(grad(lambda x: xp.sum(x * x))(x)), 2 * np.asarray(x))


def test_what_a_checkpointed_function_writes_itself() -> None:
    def inner(c: Any, u: Any) -> Any:
        w = c * u
        w[0] = 3.0
        w[1:] *= u[1:]
        # Beside what is read.
        return checkpoint(lambda t: xp.sum(t * t * c[:2]))(w[:2]) + xp.sum(w)

    def f(call: Any) -> Any:
        def g(x: Any) -> Any:
            c = x * 2
            r = call(lambda u: inner(c, u))(x)
            d = c[3:]
            d *= 1.0
            return r

        return g

    x = xp.asarray([0.7, -1.3, 2.1])
    for order in (1, 2):
        a, b = f(checkpoint), f(lambda h: h)
        if order == 2:
            a, b = (lambda x, h=h: xp.sum(grad(h)(x) ** 2) for h in (a, b))
        assert_allclose(np.asarray(grad(a)(x)), np.asarray(grad(b)(x)), rtol=1e-12)

"""Writes through arrays that share memory: gradients are right, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from program_helpers import live
from written_arrays import Function, X, arr, right_or_refused, squared

import stride0 as xp
from stride0.autograd import (
    GradientError,
    Tape,
    checkpoint,
    grad,
    stop_gradient,
    vjp,
    vmap,
)
from stride0.testing import check_grad


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
    # The elements with a stopped gradient stay constant.
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
    """An array is overwritten with its own elements, which were written through another array."""

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
    """Elements outside of x that have tracked values are not read as constants."""

    def f(x: Any) -> Any:
        z = xp.zeros(3)
        v = z[:1]
        z[2] = x[1]
        return xp.sum(xp.strided.as_strided(v, (3,), (1,)))

    right_or_refused(f, arr(1.0, 2.0), expected=[[0, 1]])


def test_writes_while_only_a_later_tape_is_open() -> None:
    """The view must be read again as long as one of the tapes of the written value is open."""
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
    """When the log is shortened, the write within `y[k] += a` does not count as a write by another array."""

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
    """Values that were written during a finished gradient are untracked."""
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
    """More rows than the log of writes holds, each written through a view that is freed."""

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
    """The log distinguishes them."""

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
    """A write before the tape is closed changes the gradient; a later write does not."""

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
    """Arguments and closures of checkpoint and custom_vjp, and an argument of an inner gradient."""

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
        # The tape records this write.
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

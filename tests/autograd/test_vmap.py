"""`vmap`: forms of its arguments, nesting, writes in place, and refusals."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import stride0 as xp
from stride0.autograd import (
    GradientError,
    Tape,
    checkpoint,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)

BatchingError = xp.BatchingError


def arr(*shape: int, seed: int = 0) -> Any:
    return xp.asarray(np.random.default_rng(seed).standard_normal(shape))


def loop(f: Callable[..., Any], *args: Any, in_axes: Any = 0, out_axis: int = 0) -> Any:
    """The results of vmap, computed one example after the other."""
    axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else in_axes
    count = next(x.shape[axis] for x, axis in zip(args, axes, strict=False) if axis is not None)
    results = [
        f(
            *[
                x if axis is None else xp.take(x, xp.asarray([i]), axis=axis).squeeze(axis)
                for x, axis in zip(args, axes, strict=False)
            ]
        )
        for i in range(count)
    ]
    return xp.stack(results, axis=out_axis)


def same(found: Any, expected: Any) -> None:
    assert isinstance(found, xp.Array)
    assert found.dtype == expected.dtype
    assert_array_equal(np.asarray(found), np.asarray(expected), strict=True)


def close(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert_allclose(np.asarray(found), np.asarray(expected), rtol=rtol, atol=rtol)


# --- axes


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("out", [0, 1, -1])
def test_axes(axis: int, out: int) -> None:
    x = arr(2, 3, 4)
    same(
        vmap(lambda a: xp.sin(a.T), axis, out)(x), loop(lambda a: xp.sin(a.T), x, in_axes=axis, out_axis=out)
    )


def test_an_argument_that_is_the_same_for_all() -> None:
    x, w = arr(5, 3), arr(3, seed=1)
    same(vmap(lambda a, b: a * b, (0, None))(x, w), x * w)
    same(vmap(lambda a, b: b, (0, None))(x, w), xp.broadcast_to(w, (5, 3)))
    same(vmap(lambda a, b: b, (0, None), None)(x, w), w)


def test_named_arguments_have_their_examples_first() -> None:
    same(vmap(lambda a, *, b: a - b)(arr(4, 2), b=arr(4, 2, seed=1)), arr(4, 2) - arr(4, 2, seed=1))


Pair = namedtuple("Pair", "first second")


def test_structures() -> None:
    tree = {
        "a": arr(3, 2),
        "b": (arr(2, 3, seed=1), None, "text", 7),
        "c": Pair(arr(3, seed=2), [arr(3, seed=3)]),
    }
    axes = {"a": 0, "b": [1, None, None, None], "c": 0}

    def f(t: Any) -> Any:
        assert t["b"][1:] == (None, "text", 7)
        assert t["a"].shape == t["b"][0].shape == (2,)
        return {"sum": t["a"] + t["b"][0], "rest": Pair(t["c"].first * 2, [t["c"].second[0], None])}

    out = vmap(f, (axes,), {"sum": 1, "rest": 0})(tree)
    same(out["sum"], (tree["a"] + tree["b"][0].T).T)
    assert isinstance(out["rest"], Pair)
    same(out["rest"].first, tree["c"].first * 2)
    same(out["rest"].second[0], tree["c"].second[0])
    assert out["rest"].second[1] is None


def test_results_that_are_no_arrays() -> None:
    same(vmap(lambda x: (x, 2.0))(arr(3))[1], xp.asarray([2.0, 2.0, 2.0]))
    assert vmap(lambda x: (x, "text", None))(arr(3))[1:] == ("text", None)


def test_a_result_that_is_the_same_for_all_can_be_written_to() -> None:
    w = xp.ones(2)
    out = vmap(lambda x: w)(arr(3))
    out[0, 0] = 5.0
    assert np.asarray(w).tolist() == [1.0, 1.0]
    assert np.asarray(out).tolist() == [[5, 1], [1, 1], [1, 1]]


def test_no_examples_and_no_elements() -> None:
    assert vmap(lambda x: xp.sum(xp.exp(x)))(xp.zeros((0, 3))).shape == (0,)
    assert vmap(lambda x: x @ x)(xp.zeros((0, 3, 3))).shape == (0, 3, 3)
    out = vmap(grad(lambda x: xp.sum(xp.exp(x) * x)))(xp.zeros((4, 0)))
    assert out.shape == (4, 0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: vmap(xp.sin)(1.0), ValueError, "no argument has an axis"),
        (lambda: vmap(xp.sin, None)(arr(2)), ValueError, "no argument has an axis"),
        (lambda: vmap(xp.add)(arr(2), arr(3)), ValueError, "numbers of examples differ"),
        (lambda: vmap(xp.sin, 2)(arr(2)), IndexError, "axis 2"),
        (lambda: vmap(xp.sin)(xp.asarray(1.0)), IndexError, "axis 0"),
        (lambda: vmap(xp.sin, 0, 3)(arr(2, 2)), IndexError, "axis 3"),
        (lambda: vmap(xp.sin, (0, 0))(arr(2)), ValueError, "in_axes has 2 items"),
        (lambda: vmap(xp.sin, ((0, 0),))(arr(2)), ValueError, "in_axes has a different structure"),
        (lambda: vmap(xp.sin, "x")(arr(2)), TypeError, "in_axes"),
        (lambda: vmap(xp.sin, 0, (0, 0))(arr(2)), ValueError, "out_axes has a different structure"),
        (lambda: vmap(xp.sin, 0, None)(arr(2)), TypeError, "out_axes is None"),
    ],
)
def test_arguments_that_do_not_fit(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


# --- values that differ by example


@pytest.mark.parametrize(
    "use",
    [
        bool,
        int,
        float,
        complex,
        lambda x: range(3)[x.astype(xp.int64)],
        lambda x: 1.0 in x[None],
        lambda x: np.asarray(x),
        lambda x: memoryview(x),
        lambda x: x.__dlpack__(),
        lambda x: np.from_dlpack(x),
        lambda x: xp.from_dlpack(x),
        lambda x: pickle.dumps(x),
        lambda x: f"{x:.3f}",
        lambda x: bytes(x),
        lambda x: round(x),
        lambda x: x.tolist(),
        lambda x: x.item(),
        lambda x: xp.nonzero(x[None]),
        lambda x: xp.unique_values(x),
        lambda x: xp.unique_all(x),
        lambda x: xp.unique_counts(x),
        lambda x: xp.unique_inverse(x),
        lambda x: xp.arange(x),
        lambda x: xp.zeros(3)[x[None] > 0],
        lambda x: x[None][x[None] > 0],
        lambda x: xp.repeat(xp.ones(2), xp.astype(x, xp.int64)),
        lambda x: xp.zeros(x.astype(xp.int64)),
        lambda x: xp.strided.strides(x),
        lambda x: xp.strided.offset(x),
        lambda x: xp.strided.storage_nbytes(x),
        lambda x: xp.strided.is_contiguous(x),
        lambda x: xp.strided.is_writable(x),
        lambda x: xp.strided.shares_storage(x, x),
        lambda x: xp.strided.as_strided(x, (1,), (1,)),
        lambda x: np.add(1.0, np.asarray(x)),
        lambda x: 1 if x > 0 else 2,
        lambda x: xp.full((x,), 1.0),
    ],
)
def test_values_are_not_read(use: Callable[[Any], Any]) -> None:
    with pytest.raises((BatchingError, BufferError, TypeError)) as caught:
        vmap(lambda x: (use(x), x)[1])(xp.asarray([1.0, 2.0]))
    assert "batched" in str(caught.value) or "depends on the values" in str(caught.value)


def test_text_of_a_batched_array() -> None:
    texts = []
    vmap(lambda x: texts.extend([repr(x), str(x), f"{x}"]) or x)(arr(2, 3))
    assert texts == ["Array(<batched>, shape=(3,), dtype=float64)"] * 3


def test_facts_of_an_example() -> None:
    def f(x: Any) -> Any:
        assert (x.shape, x.ndim, x.size, len(x), x.dtype) == ((3, 2), 2, 6, 3, xp.float64)
        assert x.T.shape == x.mT.shape == (2, 3)
        assert [row.shape for row in x] == [(2,)] * 3
        assert xp.result_type(x, xp.float32) == xp.float64
        return x

    same(vmap(f)(arr(4, 3, 2)), arr(4, 3, 2))


def test_an_array_that_outlives_its_call() -> None:
    kept: list[Any] = []
    vmap(lambda x: kept.append(x) or x)(arr(2))
    for use in (lambda x: x + 1, lambda x: xp.sum(x), lambda x: x[...], xp.negative):
        with pytest.raises(BatchingError, match="has returned"):
            use(kept[0])
    with pytest.raises(BatchingError, match="has returned"):
        kept[0] += 1
    with pytest.raises(BatchingError):
        np.asarray(kept[0])


def test_an_error_within_ends_the_call() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        vmap(f)(arr(2))
    with pytest.raises(BatchingError, match="has returned"):
        kept[0] * 2
    same(vmap(xp.sin)(arr(2)), xp.sin(arr(2)))


def test_copies() -> None:
    same(vmap(lambda x: copy.deepcopy(x) + copy.copy(x))(arr(3, 2)), arr(3, 2) * 2)


# --- writing in place


def test_writes() -> None:
    def f(x: Any) -> Any:
        y = xp.zeros_like(x)
        y[0] = x[0] * 2
        y[1:] += x[1:] ** 2
        y *= x
        y[-1] = 7
        return y

    x = arr(4, 3)
    same(vmap(f)(x), loop(f, x))
    same(vmap(grad(lambda x: xp.sum(f(x))))(x), loop(grad(lambda x: xp.sum(f(x))), x))
    same(grad(lambda x: xp.sum(vmap(f)(x)))(x), loop(grad(lambda x: xp.sum(f(x))), x))


def test_a_write_reaches_the_callers_array_as_in_a_loop() -> None:
    def f(x: Any) -> Any:
        x[0] = 5.0
        x += 1
        return x * 2

    x, y = arr(3, 2), arr(3, 2)
    same(vmap(f)(x), loop(f, y))
    assert np.asarray(x)[:, 0].tolist() == [6.0, 6.0, 6.0]


def test_views_see_writes() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        view = y[1:]
        y[2] = -1.0
        view[0] = x[0]
        return y + view.sum()

    same(vmap(f)(arr(3, 4)), loop(f, arr(3, 4)))


def test_batched_values_in_an_array_that_is_not() -> None:
    def assign(x: Any) -> Any:
        y = xp.zeros(3)
        y[0] = x
        return y

    def add(x: Any) -> Any:
        y = xp.zeros(3)
        y += x
        return y

    def at(x: Any) -> Any:
        y = xp.zeros(3)
        y[xp.astype(x, xp.int64)] = 1.0
        return y

    for f in (assign, add, at):
        with pytest.raises(BatchingError, match="not batched"):
            vmap(f)(xp.asarray([1.0, 2.0]))


def test_shapes_that_must_not_grow() -> None:
    x = arr(3)
    with pytest.raises(ValueError, match="growing x1"):
        vmap(lambda a: a.__iadd__(xp.ones(3)))(x)
    with pytest.raises(ValueError, match="growing x"):
        vmap(lambda a: a.__setitem__(..., xp.ones(3)))(x)
    with pytest.raises(ValueError, match="growing x"):
        vmap(lambda a: a.__setitem__(0, xp.ones((1, 2))))(arr(3, 2, 2))
    with pytest.raises(ValueError, match="growing x"):
        vmap(lambda a, b: a.__setitem__(0, b))(arr(3, 3), arr(3, 3))
    with pytest.raises(ValueError, match="shape"):
        vmap(lambda a, b: a.__imatmul__(b))(arr(3, 2, 2), arr(3, 2, 3))


def test_overwritten_values() -> None:
    """As without vmap: writes to values that a gradient needs, or that are read through another array."""

    def overwritten(x: Any) -> Any:
        y = xp.exp(x)
        z = y * y
        y += 1
        return xp.sum(z)

    def beside(x: Any) -> Any:
        y = -x
        z = y[::2] * y[::2]
        y[1::2] += 1
        return xp.sum(z)

    def other(x: Any) -> Any:
        y = x * 1
        view = y[1:]
        y[2] = x[0]
        return xp.sum(view**2)

    def by_arrays(x: Any) -> Any:
        y = x * 1
        view = y[::-1]
        y[xp.asarray([2, 0])] = x[1:3] * x[:2]
        return xp.sum(view**3)

    def by_batched_arrays(x: Any) -> Any:
        y = x * 1
        view = y[::-1]
        y[xp.argsort(x)[:2]] = x[1:3] * x[:2]
        return xp.sum(view**3)

    for f in (overwritten, other, beside, by_arrays):
        expected = loop(grad(f), arr(3, 4))
        same(vmap(grad(f))(arr(3, 4)), expected)
        same(grad(lambda x, f=f: xp.sum(vmap(f)(x)))(arr(3, 4)), expected)
    # The elements that a batch of index arrays selects are not compared.
    with pytest.raises(GradientError, match="overwritten"):
        vmap(grad(by_batched_arrays))(arr(3, 4))
    expected = loop(grad(by_batched_arrays), arr(3, 4))
    same(grad(lambda x: xp.sum(vmap(by_batched_arrays)(x)))(arr(3, 4)), expected)


# --- nesting


def loss(x: Any, w: Any) -> Any:
    return xp.sum(xp.tanh(w @ x) ** 2) + xp.sum(x**3)


def test_gradients_per_example() -> None:
    x, w = arr(6, 3), arr(4, 3, seed=1)
    close(vmap(grad(loss), (0, None))(x, w), loop(lambda a: grad(loss)(a, w), x))
    close(vmap(grad(loss, 1), (0, None))(x, w), loop(lambda a: grad(loss, 1)(a, w), x))
    both = vmap(grad(loss, (0, 1)), (0, None))(x, w)
    close(both[0], loop(lambda a: grad(loss)(a, w), x))
    close(both[1], loop(lambda a: grad(loss, 1)(a, w), x))
    value, g = vmap(value_and_grad(lambda a: (loss(a, w), a * 2), has_aux=True))(x)
    close(value[0], loop(lambda a: loss(a, w), x))
    same(value[1], x * 2)
    close(g, loop(lambda a: grad(loss)(a, w), x))


def test_gradient_of_a_batch() -> None:
    x, w = arr(6, 3), arr(4, 3, seed=1)

    def total(f: Any) -> Any:
        return lambda a, b: xp.sum(f(a, b) ** 2)

    by_vmap = total(lambda a, b: vmap(loss, (0, None))(a, b))
    by_loop = total(lambda a, b: xp.stack([loss(a[i], b) for i in range(6)]))
    for k in (0, 1):
        close(grad(by_vmap, k)(x, w), grad(by_loop, k)(x, w))
    close(hessian(lambda b: by_vmap(x, b))(w), hessian(lambda b: by_loop(x, b))(w), 1e-10)


def test_two_levels() -> None:
    x, y = arr(3, 2), arr(4, 2, seed=1)
    f = lambda a, b: xp.sum(a * xp.sin(b)) * a  # noqa: E731
    expected = xp.stack([xp.stack([f(x[i], y[j]) for j in range(4)]) for i in range(3)])
    close(vmap(lambda a: vmap(lambda b: f(a, b))(y))(x), expected)
    close(vmap(vmap(f, (None, 0)), (0, None))(x, y), expected)
    close(vmap(vmap(f, (0, None), 1), (None, 0), 2)(x, y), xp.permute_dims(expected, (2, 0, 1)))
    by_first = grad(lambda a, b: xp.sum(f(a, b)))
    g = vmap(vmap(by_first, (None, 0)), (0, None))(x, y)
    close(g, xp.stack([xp.stack([by_first(x[i], y[j]) for j in range(4)]) for i in range(3)]))


def test_a_gradient_between_two_levels() -> None:
    x, y = arr(3, 2), arr(4, 2, seed=1)

    def inner(a: Any) -> Any:
        return grad(lambda t: xp.sum(vmap(lambda b: xp.sum(xp.exp(t * b)) ** 2)(y)))(a)

    def slow(a: Any) -> Any:
        return grad(lambda t: sum(xp.sum(xp.exp(t * y[j])) ** 2 for j in range(4)))(a)

    close(vmap(inner)(x), loop(slow, x))
    close(jacobian(vmap(inner))(x), jacobian(lambda x: loop(slow, x))(x), 1e-10)


def test_a_tape_between_vmap_and_a_closure() -> None:
    """The derivative by an array that is closed over passes through vmap and the gradient within."""
    x, w = arr(5, 3), arr(3, seed=1)

    def f(b: Any) -> Any:
        return xp.sum(vmap(lambda a: grad(lambda t: xp.sum(xp.sin(t * a * b) * t))(b) @ a)(x) ** 2)

    def slow(b: Any) -> Any:
        inner = grad(lambda t, a: xp.sum(xp.sin(t * a * b) * t))
        rows = [inner(b, x[i]) @ x[i] for i in range(5)]
        return xp.sum(xp.stack(rows) ** 2)

    close(f(w), slow(w))
    close(grad(f)(w), grad(slow)(w), 1e-10)
    close(hessian(f)(w), hessian(slow)(w), 1e-9)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_derivatives(order: int) -> None:
    def f(t: Any) -> Any:
        return xp.exp(t * 0.5) * xp.sin(t)

    inner, outer = f, vmap(f)
    for _ in range(order):
        inner = grad(inner)
        outer = grad(lambda x, g=outer: xp.sum(g(x)))
    x = arr(5)
    close(vmap(inner)(x), outer(x))
    close(vmap(inner)(x), loop(inner, x))


def test_matrices_of_derivatives_within() -> None:
    x, w = arr(3, 2), arr(4, 2, seed=1)
    f = lambda a: xp.tanh(w @ a)  # noqa: E731
    close(vmap(jacobian(f))(x), loop(jacobian(f), x))
    close(vmap(hessian(lambda a: loss(a, w)))(x), loop(hessian(lambda a: loss(a, w)), x), 1e-10)
    v = arr(3, 2, seed=5)
    close(
        vmap(lambda a, b: hvp(lambda t: loss(t, w), a, b))(x, v),
        loop(lambda a, b: hvp(lambda t: loss(t, w), a, b), x, v),
    )
    close(vmap(lambda a, b: jvp(f, [a], [b])[1])(x, v), loop(lambda a, b: jvp(f, [a], [b])[1], x, v))
    g = arr(3, 4, seed=6)
    close(vmap(lambda a, b: vjp(f, a)[1](b)[0])(x, g), loop(lambda a, b: vjp(f, a)[1](b)[0], x, g))


def test_a_pullback_is_batched_outside_of_its_function() -> None:
    x, w = arr(2), arr(4, 2, seed=1)
    _, pullback = vjp(lambda a, b: xp.tanh(b @ a), x, w)
    g = arr(5, 4, seed=2)
    found = vmap(pullback)(g)
    for k in (0, 1):
        close(found[k], loop(lambda c, k=k: pullback(c)[k], g))


def test_a_tape_within_and_around() -> None:
    x = arr(4, 3)

    def f(a: Any) -> Any:
        with Tape() as tape:
            b = tape.watch(a)
            y = xp.sum(b**3 * stop_gradient(b))
        return tape.gradient(y, b)

    close(vmap(f)(x), 3 * x**3)
    with Tape() as tape:
        y = tape.watch(x)
        z = xp.sum(vmap(lambda a: a**2)(y) * y)
    close(tape.gradient(z, y), 3 * x**2)


def test_gradients_can_be_written_to() -> None:
    """A gradient shares no memory with an argument, within vmap too."""

    def f(a: Any, b: Any) -> Any:
        _, pull = vjp(lambda s, t: s + t, a, b)
        first, second = pull(a)
        first += 100
        second[...] = 5.0
        return first + second + a + b

    x, y = arr(3, 2), arr(3, 2, seed=1)
    same(vmap(f)(x, y), loop(f, x, y))


# --- functions with gradients that the caller defines


def make_clipped() -> Any:
    @custom_vjp
    def clipped(x: Any, w: Any) -> Any:
        return xp.sin(x) * w

    def forward(x: Any, w: Any) -> Any:
        return xp.sin(x) * w, (x, w)

    def backward(kept: Any, g: Any) -> Any:
        x, w = kept
        # Different from the derivative, so that the test shows which one is used.
        return xp.clip(g * xp.cos(x) * w, -0.3, 0.3), 2 * xp.sum(g * x) * xp.ones_like(w)

    clipped.defvjp(forward, backward)
    return clipped


@pytest.mark.parametrize("argument", [0, 1])
def test_custom_gradients(argument: int) -> None:
    clipped = make_clipped()
    x, w = arr(4, 3), arr(3, seed=1)

    def f(a: Any, b: Any) -> Any:
        return xp.sum(clipped(a, b) ** 2)

    same(vmap(clipped, (0, None))(x, w), xp.sin(x) * w)
    close(vmap(grad(f, argument), (0, None))(x, w), loop(lambda a: grad(f, argument)(a, w), x))
    by_vmap = lambda a, b: xp.sum(vmap(f, (0, None))(a, b) ** 2)  # noqa: E731
    by_loop = lambda a, b: xp.sum(xp.stack([f(a[i], b) for i in range(4)]) ** 2)  # noqa: E731
    close(grad(by_vmap, argument)(x, w), grad(by_loop, argument)(x, w))
    twice = vmap(vmap(f, (0, None)), (None, 0))(x, xp.stack([w, w + 1]))
    close(twice, xp.stack([xp.stack([f(x[i], v) for i in range(4)]) for v in (w, w + 1)]))


def test_a_custom_gradient_that_calls_its_function() -> None:
    @custom_vjp
    def root(x: Any) -> Any:
        return xp.sqrt(x)

    def forward(x: Any) -> Any:
        y = root(x)
        return y, y

    root.defvjp(forward, lambda y, g: (g / (2 * y),))
    x = xp.asarray([1.0, 4.0, 9.0])
    close(vmap(grad(root))(x), 0.5 / xp.sqrt(x))
    close(grad(lambda a: xp.sum(vmap(root)(a)))(x), 0.5 / xp.sqrt(x))
    close(vmap(grad(grad(root)))(x), -0.25 * x**-1.5)
    close(grad(lambda a: xp.sum(grad(lambda b: xp.sum(vmap(root)(b)))(a)))(x), -0.25 * x**-1.5)
    close(grad(lambda a: xp.sum(vmap(grad(root))(a)))(x), -0.25 * x**-1.5)


def test_a_custom_gradient_with_several_results_and_integers() -> None:
    @custom_vjp
    def parts(x: Any, n: Any) -> Any:
        return {"a": x * n, "b": (x, xp.asarray([1, 2]))}

    parts.nondiff_argnums = (1,)
    parts.defvjp(lambda x, n: (parts.f(x, n), None), lambda n, kept, g: (n * g["a"] + 3 * g["b"][0],))
    x = arr(4, 2)
    out = vmap(lambda a: parts(a, 2))(x)
    same(out["a"], x * 2)
    assert np.asarray(out["b"][1]).tolist() == [[1, 2]] * 4
    total = lambda o: xp.sum(o["a"]) + xp.sum(o["b"][0])  # noqa: E731
    close(vmap(grad(lambda a: total(parts(a, 2))))(x), xp.full((4, 2), 5.0))
    close(grad(lambda a: total(vmap(lambda b: parts(b, 2))(a)))(x), xp.full((4, 2), 5.0))


def test_checkpoints() -> None:
    f = checkpoint(lambda a, b: xp.sum(xp.sin(a * b)) ** 2)
    plain = lambda a, b: xp.sum(xp.sin(a * b)) ** 2  # noqa: E731
    x, w = arr(4, 3), arr(3, seed=1)
    close(vmap(f, (0, None))(x, w), vmap(plain, (0, None))(x, w))
    for k in (0, 1):
        close(vmap(grad(f, k), (0, None))(x, w), loop(lambda a, k=k: grad(plain, k)(a, w), x))
        close(
            grad(lambda a, b: xp.sum(vmap(f, (0, None))(a, b)), k)(x, w),
            grad(lambda a, b: xp.sum(vmap(plain, (0, None))(a, b)), k)(x, w),
        )
    whole = checkpoint(lambda a: vmap(plain, (0, None))(a, w))
    close(grad(lambda a: xp.sum(whole(a)))(x), grad(lambda a: xp.sum(vmap(plain, (0, None))(a, w)))(x))


# --- matrices of derivatives by one batched pass


def count_passes(f: Callable[[Any], Any]) -> tuple[Any, list[int]]:
    """A function, and how often its backward pass runs."""
    calls: list[int] = []

    @custom_vjp
    def counted(x: Any) -> Any:
        return x

    def backward(kept: Any, g: Any) -> Any:
        calls.append(1)
        return (g,)

    counted.defvjp(lambda x: (x, None), backward)
    return (lambda x: f(counted(x))), calls


def test_a_jacobian_is_one_pass() -> None:
    w = arr(7, 5)
    f, calls = count_passes(lambda x: xp.tanh(w @ x))
    found = jacobian(f)(arr(5, seed=1))
    assert len(calls) == 1
    close(found, (1 - xp.tanh(w @ arr(5, seed=1)) ** 2)[:, None] * w)
    f, calls = count_passes(lambda x: xp.sum(xp.tanh(w @ x) ** 2))
    hessian(f)(arr(5, seed=1))
    assert len(calls) <= 3


def test_a_large_jacobian_is_a_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    import stride0.autograd._matrices as matrices

    w, x = arr(7, 5), arr(5, seed=1)
    expected = jacobian(lambda x: xp.tanh(w @ x))(x)
    monkeypatch.setattr(matrices, "CHUNK", 21)
    f, calls = count_passes(lambda x: xp.tanh(w @ x))
    close(jacobian(f, mode="reverse")(x), expected)
    assert len(calls) == 3


def test_a_jacobian_of_what_cannot_be_batched() -> None:
    """The caller's backward function reads values, so there is one pass for each row."""

    @custom_vjp
    def odd(x: Any) -> Any:
        return x**2

    odd.defvjp(lambda x: (x**2, x), lambda x, g: (2 * x * g if bool(xp.any(g != 0)) else g,))
    x = arr(4)
    close(jacobian(odd)(x), xp.eye(4) * (2 * x)[:, None])

    def refuse(kept: Any, g: Any) -> Any:
        raise KeyError("mine")

    bad = custom_vjp(lambda x: x)
    bad.defvjp(lambda x: (x, None), refuse)
    with pytest.raises(KeyError, match="mine"):
        jacobian(bad)(x)


def test_rows_may_be_written_to() -> None:
    x = arr(3)
    for f in (
        lambda x: x,
        lambda x: xp.zeros(3) + x * 0,
        lambda x: xp.broadcast_to(xp.sum(x), (4,)),
        lambda x: x[:0],
    ):
        found = jacobian(f)(x)
        found += 1
    found = jacobian(lambda x: xp.ones(3))(x)
    found += 1
    assert np.asarray(found).tolist() == [[1.0] * 3] * 3


def test_complex_matrices() -> None:
    z = arr(3) + 1j * arr(3, seed=1)
    x = arr(3, seed=2)
    close(jacobian(lambda z: z**2)(z), xp.eye(3) * (2 * z)[:, None])
    close(jacobian(lambda x: xp.exp(1j * x))(x), xp.eye(3) * (1j * xp.exp(1j * x))[:, None])
    close(
        vmap(jacobian(lambda x: xp.exp(1j * x)))(arr(4, 3)),
        loop(jacobian(lambda x: xp.exp(1j * x)), arr(4, 3)),
    )


# --- settings of the caller


def test_settings_hold_for_examples() -> None:
    x, w = arr(3, 4), arr(5, 4, seed=1)
    f = grad(lambda a: xp.sum(xp.tanh(w @ a) ** 2) + a[0] * xp.max(a))
    expected, matrix = vmap(f)(x), jacobian(f)(x[0, :])
    with xp.strict():
        same(vmap(f)(x), expected)
        same(jacobian(f)(x[0, :]), matrix)
        with pytest.raises(xp.StrictError):
            vmap(xp.diag)(x)
    with xp.broadcasting("explicit"):
        same(vmap(f)(x), expected)
        with pytest.raises(xp.StretchError):
            vmap(lambda a: a + xp.ones((2, 4)))(x)
    with xp.broadcasting("exact"), pytest.raises(xp.StretchError, match=r"\(4,\)"):
        vmap(lambda a: a * a[:1])(x)
    with xp.fused(size=0):
        same(vmap(f)(x), expected)
        same(jacobian(f)(x[0, :]), matrix)
        same(
            vmap(lambda a: xp.cumulative_sum(a * 2 + 1)[::2])(x), xp.cumulative_sum(x * 2 + 1, axis=1)[:, ::2]
        )


def test_numpy_functions_on_batched_arrays() -> None:
    x = arr(3, 4)
    same(vmap(lambda a: np.sin(a) + np.add(a, 1))(x), xp.sin(x) + (x + 1))


def test_arrays_of_other_libraries() -> None:
    with pytest.raises(xp.ForeignArrayError, match=r"numpy\.ndarray"):
        vmap(xp.sin)(np.ones(3))
    with pytest.raises(xp.ForeignArrayError, match=r"numpy\.ndarray"):
        vmap(lambda x: np.ones(3))(arr(3))


def test_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    x, w = arr(8, 4), arr(5, 4, seed=1)
    f = vmap(grad(lambda a: xp.sum(xp.tanh(w @ a) ** 2)))
    expected = f(x)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [f(x) for _ in range(20)], range(4)):
            for g in found:
                same(g, expected)


def test_nothing_is_left_over() -> None:
    """The arrays of a call are freed with it: no cycle keeps them."""
    import gc
    import weakref

    gc.disable()
    try:
        kept: list[Any] = []

        def f(x: Any) -> Any:
            y = x * 2
            kept.append(weakref.ref(y))
            return xp.sum(y * y)

        vmap(grad(f))(arr(3, 2))
        grad(lambda x: xp.sum(vmap(f)(x)))(arr(3, 2))
        jacobian(lambda x: xp.stack([f(x), f(x)]))(arr(2))
        assert [ref() for ref in kept] == [None] * 4
    finally:
        gc.enable()

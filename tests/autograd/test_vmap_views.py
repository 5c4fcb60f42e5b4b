"""Views within `vmap`: a write to a view or to its array changes both, as in a loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import stride0 as xp
from stride0.autograd import grad, jvp, stop_gradient, vmap

C = np.arange(24.0).reshape(2, 3, 4) + 1j * np.arange(24.0, 0.0, -1.0).reshape(2, 3, 4)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "view(float64)": lambda x: x.view(xp.float64),
    "view(complex128)": lambda x: x.view(xp.complex128),
    "view of real numbers": lambda x: x.real.view(xp.float64),
    "real": xp.real,
    "imag": xp.imag,
    ".imag": lambda x: x.imag,
    "reshape flat": lambda x: xp.reshape(x, (-1,)),
    "reshape": lambda x: xp.reshape(x, (3, 2, 2)),
    "reshape to the same": lambda x: x.reshape(x.shape),
    "reshape without a copy": lambda x: xp.reshape(x, (1, *x.shape), copy=False),
    "ravel": lambda x: x.ravel(),
    ".T": lambda x: x.T,
    ".mT": lambda x: x.mT,
    "matrix_transpose": xp.matrix_transpose,
    "permute_dims": lambda x: xp.permute_dims(x, (1, 0)),
    "moveaxis": lambda x: xp.moveaxis(x, 0, 1),
    "expand_dims": lambda x: xp.expand_dims(x, axis=1),
    "squeeze": lambda x: xp.squeeze(x[:, None], axis=1),
    "flip": xp.flip,
    "diagonal": xp.linalg.diagonal,
    "diag": lambda x: xp.diag(x, k=1),
    "slices": lambda x: x[::-1, 1:],
    "an integer": lambda x: x[-1],
    "new axes": lambda x: x[None, ..., 1],
    "unstack": lambda x: xp.unstack(x, axis=1)[1],
    "iteration": lambda x: list(x)[2],
    "asarray": lambda x: xp.asarray(x, copy=False),
    "astype": lambda x: xp.astype(x, x.dtype, copy=False),
    "contiguous": lambda x: xp.strided.contiguous(x),
    "nan_to_num": lambda x: xp.nan_to_num(x, copy=False),
    "conj": lambda x: x.real.conj(),
    "stop_gradient": stop_gradient,
}

# The base of the view: the argument, a view of it, or a new array with the memory order of one of them.
ORIGINS: dict[str, Callable[[Any], Any]] = {
    "the argument": lambda x: x,
    "its transpose": lambda x: x.T,
    "a result": lambda x: x * 2,
    "a result transposed": lambda x: (x.T + 1).T,
    "a reversed copy": lambda x: xp.asarray(xp.flip(x), copy=True),
    "a cast": lambda x: xp.astype(xp.astype(x, xp.complex64), xp.complex128),
}


def program(view: Callable[[Any], Any], origin: Callable[[Any], Any], behind: bool) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        y = origin(x)
        v = view(y)
        if behind:
            y *= 3
        else:
            v[...] = v * 3 + 1
        return y + 0, v + 0

    return f


def compare(f: Callable[[Any], Any], axes: Sequence[int], values: np.ndarray) -> None:
    """Compare nested calls of `vmap`, one for each axis, with loops: results and arguments."""
    count = len(axes)
    stored = values
    for k in reversed(range(count)):
        # An inner call has one of the axes that the outer calls leave.
        stored = np.moveaxis(stored, k, k + axes[k] % (values.ndim - k))
    stored = stored.copy()
    loop, whole = xp.asarray(stored.copy()), xp.asarray(stored.copy())

    def examples(x: Any, axes: Sequence[int]) -> Any:
        if not axes:
            return f(x)
        at = axes[0] % x.ndim
        rows = [examples(x[(slice(None),) * at + (i,)], axes[1:]) for i in range(x.shape[at])]
        return tuple(np.stack([np.asarray(row[k]) for row in rows]) for k in range(len(rows[0])))

    batched = f
    for axis in reversed(axes):
        batched = vmap(batched, axis)
    try:
        expected = examples(loop, axes)
    except xp.ShapeError as error:
        with pytest.raises(xp.ShapeError, match=error.problem):
            batched(whole)
        return
    for got, wanted in zip(batched(whole), expected, strict=True):
        assert_array_equal(np.asarray(got), wanted)
    assert_array_equal(np.asarray(whole), np.asarray(loop))


@pytest.mark.parametrize("name", VIEWS)
def test_writes_through_views(name: str) -> None:
    for origin, behind, axis in itertools.product(ORIGINS.values(), (False, True), (0, 1, -1)):
        compare(program(VIEWS[name], origin, behind), [axis], C)


@pytest.mark.parametrize("name", VIEWS)
def test_writes_through_views_within_nested_calls(name: str) -> None:
    nested = np.stack([C, C * 2 + 1])
    for origin, axes in itertools.product(list(ORIGINS.values())[:3], [(0, 0), (1, 1), (-1, 0), (2, -1)]):
        compare(program(VIEWS[name], origin, False), axes, nested)


@pytest.mark.parametrize("name", VIEWS)
def test_gradients_of_writes_through_views(name: str) -> None:
    """The gradient by the written values, per example and of the whole batch; the tangent."""

    def f(t: Any, x: Any) -> Any:
        y = x * t
        v = VIEWS[name](y)
        v[...] = v * t + t * t
        return xp.sum(xp.real(y) * x.real) + xp.sum(xp.imag(y) ** 2)

    t, x = xp.asarray([0.7, 1.3]), xp.asarray(C)
    loop = [grad(f)(t[i], x[i]) for i in range(2)]
    for axis in (0, 1, 2):
        moved = xp.asarray(xp.moveaxis(x, 0, axis), copy=True)
        batched = vmap(f, (0, axis))
        for found in (
            vmap(grad(f), (0, axis))(t, moved),
            grad(lambda t, b=batched, m=moved: xp.sum(b(t, m)))(t),
            jvp(lambda t, b=batched, m=moved: b(t, m), (t,), (xp.ones(2),))[1],
            vmap(lambda t, x: jvp(lambda t: f(t, x), (t,), (xp.ones(()),))[1], (0, axis))(t, moved),
        ):
            np.testing.assert_allclose(np.asarray(found), [float(g) for g in loop], rtol=1e-13)


@pytest.mark.parametrize("name", VIEWS)
def test_writes_through_views_of_deferred_results(name: str) -> None:
    with xp.fused(1):
        for axis in (0, 1, 2):
            compare(program(VIEWS[name], lambda x: x * 2 + 1, False), [axis], C)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int64", "complex64"])
def test_views_of_the_bits(dtype: str) -> None:
    """Views of integers and floating-point numbers as elements of another size or kind."""

    def f(x: Any, origin: Callable[[Any], Any]) -> Any:
        y = origin(x)
        v = y.view(getattr(xp, dtype))
        v[..., :1] = 0
        return y + 0, v + 0

    values = np.arange(1.0, 25.0).reshape(2, 3, 4)
    for origin, axis in itertools.product(ORIGINS.values(), (0, 1, -1)):
        if origin is not ORIGINS["a cast"]:
            compare(lambda x, o=origin: f(x, o), [axis], values)


@pytest.mark.parametrize("write", [lambda v: v.__setitem__(..., 0), lambda v: v.__iadd__(1)])
def test_read_only_views_stay_read_only(write: Callable[[Any], Any]) -> None:
    """As in a loop, whether the example or the batch is broadcast."""
    x = xp.ones((2, 3, 4))
    for view in (
        lambda x: xp.broadcast_to(x, (5, *x.shape)),
        lambda x: xp.broadcast_arrays(x, xp.ones((5, 1, 1)))[0],
    ):
        with pytest.raises(xp.WriteError):
            write(view(x[0]))
        for axis in range(3):
            with pytest.raises(xp.WriteError):
                vmap(lambda x, v=view: write(v(x)), axis)(x)


def test_views_that_cannot_be_made_raise() -> None:
    """If an example cannot be viewed, the function's error is raised."""
    x = xp.ones((2, 3, 4))
    with pytest.raises(xp.ShapeError, match=r"^reshape: "):
        vmap(lambda x: xp.reshape(x.T, (-1,), copy=False))(x)
    with pytest.raises(xp.ShapeError, match=r"^view: the last axis is not contiguous"):
        vmap(lambda x: x.view(xp.float32), 2)(x)
    with pytest.raises(xp.BatchingError, match=r"^strided\.as_strided: "):
        vmap(lambda x: xp.strided.as_strided(x, (2,), (1,)))(x)
    with pytest.raises(xp.GradientError, match=r"^view: "):
        vmap(grad(lambda x: xp.sum(x.view(xp.int64) * 1.0)))(x)

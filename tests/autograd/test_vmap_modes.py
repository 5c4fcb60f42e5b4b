"""`vmap` in modes that restrict broadcasting, and with arguments that are not stride0 arrays."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import custom_vjp, grad, vmap

Call = Callable[[Any, Any], Any]


def written(x: Any, y: Any) -> Any:
    z = xp.zeros_like(x) * xp.zeros_like(x + 0)
    z[...] = y
    return z


def added_to(x: Any, y: Any) -> Any:
    z = x * 1
    z += y
    return z


CALLS: dict[str, Call] = {
    "multiply": lambda x, y: x * y,
    "where": lambda x, y: xp.where(x > 0, x, y),
    "where of a scalar": lambda x, y: xp.where(x > 0, y, 1.0) * 1,
    "clip": lambda x, y: xp.clip(x, y, None),
    "clip between": lambda x, y: xp.clip(x, 0.0, y),
    "add": lambda x, y: xp.add(x, y, alpha=2.0),
    "subtract": xp.subtract,
    "hypot": xp.hypot,
    "xlogy": lambda x, y: xp.special.xlogy(x, y),
    "betaincinv": lambda x, y: xp.special.betainc(x + 1, y + 1, 0.5),
    "jv": lambda x, y: xp.special.jv(x, y),
    "logsumexp": lambda x, y: xp.special.logsumexp(x, b=y),
    "matmul": lambda x, y: xp.matmul(x[..., None, None], y[..., None, None]),
    "vecdot": lambda x, y: xp.vecdot(x, xp.broadcast_to(y, (*y.shape[:-1], x.shape[-1]))),
    "cross": xp.linalg.cross,
    "setitem": written,
    "in place": added_to,
}
WRITES = ("setitem", "in place")
SHAPES = [
    ((2, 3), (3,)),
    ((2, 3), (2, 3)),
    ((2, 3), (1, 3)),
    ((2, 3), ()),
    ((3,), (3,)),
    ((1, 3), (2, 3)),
    ((3,), (2, 3)),
]


def outcome(f: Callable[[], Any]) -> str:
    """The outcome of a call: the shape of its result, or the complete error or warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", xp.BroadcastWarning)
            return f"shape {f().shape}"
    except (xp.StretchError, xp.BroadcastWarning, xp.BroadcastError, xp.ShapeError, IndexError) as error:
        # In clip with one bound, errors name the operands of a binary operation.
        text = re.sub(r"\bx2\b", "min", re.sub(r"\bx1\b", "x", str(error)))
        return f"{type(error).__name__}: {' '.join(text.split())}"


@pytest.mark.parametrize("mode", ["standard", "explicit", "exact", "warn", "pointwise"])
@pytest.mark.parametrize("name", CALLS)
def test_modes_of_broadcasting_are_those_of_an_example(name: str, mode: Any) -> None:
    """For any choice of batched operands, the error has the shapes of an example, as without vmap."""
    found = []
    for shape1, shape2 in SHAPES:
        x, y = xp.full((5, *shape1), 0.5), xp.full((5, *shape2), 0.25)
        for axes in ((0, 0), (0, None)) if name in WRITES else ((0, 0), (0, None), (None, 0)):
            given = [a if axis == 0 else a[0] for a, axis in zip((x, y), axes, strict=True)]
            with xp.broadcasting(mode):
                expected = outcome(lambda x=x, y=y: CALLS[name](x[0], y[0]))
                batched = outcome(lambda g=given, a=axes: vmap(CALLS[name], a)(*g)[0])
            found.append((shape1, shape2, axes, expected, batched))
    for item in found:
        assert item[3] == item[4], item[:3]
    if mode in ("explicit", "exact"):
        assert any("Stretch" in item[3] for item in found)


def times_ten(fixed: tuple[int, ...] = ()) -> Any:
    """A function of an array and anything, whose gradient is 10."""
    f = custom_vjp(lambda x, other: xp.sum(x), nondiff_argnums=fixed)
    if fixed:
        f.defvjp(lambda x, other: (f(x, other), x), lambda other, x, g: (10 * g * xp.ones_like(x),))
    else:
        f.defvjp(lambda x, other: (f(x, other), x), lambda x, g: (10 * g * xp.ones_like(x), None))
    return f


@pytest.mark.parametrize("fixed", [(), (1,)])
@pytest.mark.parametrize(
    "other",
    [np.asarray([1.0, 2.0]), np.float64(2.0), 3, "text", xp.sin, None, [1, 2], {"k": 2.0}, xp.float32],
)
def test_custom_gradients_of_batches_and_of_what_is_no_array(fixed: tuple[int, ...], other: Any) -> None:
    f, x = times_ten(fixed), xp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for found in (
        vmap(grad(lambda x: f(x, other)))(x),
        vmap(grad(f), in_axes=(0, None))(x, other),
        grad(lambda x: xp.sum(vmap(f, in_axes=(0, None))(x, other)))(x),
        grad(lambda x: xp.sum(vmap(lambda x: f(x, other))(x)))(x),
    ):
        np.testing.assert_array_equal(np.asarray(found), np.full((3, 2), 10.0))


def test_arrays_of_numpy_are_passed_by_where_they_have_no_examples() -> None:
    w = np.asarray([1.0, 2.0])
    seen = []

    def f(x: Any, w: Any) -> Any:
        seen.append(w)
        return xp.sum(x * xp.asarray(w))

    assert vmap(f, in_axes=(0, None))(xp.ones((2, 2)), w).tolist() == [3.0, 3.0]
    assert seen[0] is w
    with pytest.raises(TypeError, match="numpy"):
        vmap(f)(xp.ones((2, 2)), w)

"""Structures of arguments: namedtuples, dataclasses, leaves that are passed unchanged; and `has_aux`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0.autograd import (
    checkpoint,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
    vmap,
)

Pair = namedtuple("Pair", "first second")


@dataclass
class Layer:
    w: Any
    b: Any
    activation: Callable[[Any], Any] = xp.tanh
    name: str = "layer"
    width: int = 3
    nothing: Any = None

    def __call__(self, x: Any) -> Any:
        return self.activation(self.w @ x + self.b)


@dataclass(frozen=True)
class Model:
    layers: tuple[Layer, ...]
    pair: Pair
    shared: ClassVar[Any] = xp.ones(1)
    derived: Any = field(init=False, default=None)
    start: InitVar[int] = 5

    def __post_init__(self, start: int) -> None:
        # This would fail if a transformation called it.
        if not isinstance(self.layers, tuple) or len(self.layers) != 2:
            raise TypeError("two layers")


@dataclass(frozen=True, slots=True)
class Slots:
    a: Any
    b: Any = "text"


def arr(*shape: int, seed: int = 0) -> Any:
    return xp.asarray(np.random.default_rng(seed).standard_normal(shape))


def model() -> Model:
    return Model(
        (Layer(arr(3, 2), arr(3, seed=1)), Layer(arr(1, 3, seed=2), arr(1, seed=3), xp.sin)),
        Pair(arr(2, seed=4), 7),
    )


def loss(m: Model, x: Any) -> Any:
    assert m.pair.second == 7
    assert m.layers[0].name == "layer"
    for layer in m.layers:
        x = layer(x)
    return xp.sum(x) + xp.sum(m.pair.first**2)


def flat(m: Model) -> list[Any]:
    return [m.layers[0].w, m.layers[0].b, m.layers[1].w, m.layers[1].b, m.pair.first]


def test_gradients_of_dataclasses() -> None:
    m, x = model(), arr(2, seed=5)

    def plain(w1: Any, b1: Any, w2: Any, b2: Any, p: Any) -> Any:
        return xp.sum(xp.sin(w2 @ xp.tanh(w1 @ x + b1) + b2)) + xp.sum(p**2)

    expected = grad(plain, (0, 1, 2, 3, 4))(*flat(m))
    for found in (
        grad(loss)(m, x),
        value_and_grad(loss)(m, x)[1],
        vjp(lambda m: loss(m, x), m)[1](xp.asarray(1.0))[0],
    ):
        assert type(found) is Model
        assert type(found.layers[0]) is Layer
        assert type(found.pair) is Pair
        assert found.pair.second is None
        assert (found.layers[0].activation, found.layers[0].name, found.layers[0].width) == (None, None, None)
        assert found.layers[0].nothing is None
        assert found.derived is None
        for g, e in zip(flat(found), expected, strict=True):
            assert_allclose(np.asarray(g), np.asarray(e))


def test_other_transformations_of_dataclasses() -> None:
    m, x = model(), arr(4, 2, seed=5)
    v = grad(loss)(m, x[0, :])
    _, dy = jvp(lambda m: loss(m, x[0, :]), [m], [v])
    inner = sum(float(xp.sum(a * b)) for a, b in zip(flat(v), flat(grad(loss)(m, x[0, :])), strict=True))
    assert float(dy) == pytest.approx(inner)
    rows = vmap(grad(loss), (None, 0))(m, x)
    assert type(rows) is Model
    for k in range(4):
        for g, e in zip(flat(rows), flat(grad(loss)(m, x[k, :])), strict=True):
            assert_allclose(np.asarray(g)[k], np.asarray(e), rtol=1e-12)
    product = hvp(lambda m: loss(m, x[0, :]), m, v)
    assert type(product) is Model
    f = checkpoint(lambda m: loss(m, x[0, :]))
    assert_allclose(np.asarray(grad(f)(m).pair.first), np.asarray(v.pair.first))
    blocks = jacobian(lambda s: s.a**2)(Slots(arr(2)))
    assert type(blocks) is Slots
    assert blocks.b is None
    assert_allclose(np.asarray(blocks.a), np.diag(2 * np.asarray(arr(2))))


def test_dataclasses_in_custom_gradients() -> None:
    @custom_vjp
    def f(s: Slots) -> Any:
        return s.a * 2

    f.defvjp(lambda s: (s.a * 2, s), lambda s, g: (Slots(3 * g),))
    assert np.asarray(grad(lambda s: xp.sum(f(s)))(Slots(arr(2))).a).tolist() == [3.0, 3.0]
    assert np.asarray(vmap(grad(lambda s: xp.sum(f(s))))(Slots(arr(2, 2))).a).tolist() == [[3.0, 3.0]] * 2


def test_what_is_passed_by_and_what_is_not() -> None:
    x = arr(2)
    tree = {
        "x": x,
        "n": 3,
        "name": "a",
        "on": True,
        "dtype": xp.float32,
        "f": xp.sin,
        "nothing": None,
        "scale": 2.0,
    }
    found = grad(lambda t: xp.sum(t["f"](t["x"]) * t["n"]) * t["scale"])(tree)
    assert [k for k, g in found.items() if g is None] == ["n", "name", "on", "dtype", "f", "nothing"]
    assert_allclose(np.asarray(found["x"]), 6 * np.cos(np.asarray(x)))
    assert float(found["scale"]) == pytest.approx(3 * np.sum(np.sin(np.asarray(x))))
    # A whole argument is not passed unchanged, nor is an array without a derivative: both are refused.
    for given in (3, "a", xp.asarray([1, 2]), [xp.asarray([1, 2])], [np.ones(2)]):
        with pytest.raises(ArgumentTypeError):
            grad(lambda t: xp.sum(x))(given)
        with pytest.raises(ArgumentTypeError):
            vjp(lambda t: x, given)


def test_auxiliary_results() -> None:
    x, v = arr(3), arr(3, seed=1)
    f = lambda x: (xp.sum(x**3), {"twice": x * 2, "text": "a"})  # noqa: E731
    g = lambda x: (x**2, x + 1)  # noqa: E731
    matrix, aux = jacobian(g, has_aux=True)(x)
    assert_allclose(np.asarray(matrix), np.diag(2 * np.asarray(x)))
    assert_allclose(np.asarray(aux), np.asarray(x) + 1)
    matrix, aux = hessian(f, has_aux=True)(x)
    assert_allclose(np.asarray(matrix), np.diag(6 * np.asarray(x)))
    assert aux["text"] == "a"
    assert_allclose(np.asarray(aux["twice"]), 2 * np.asarray(x))
    matrix, aux = hessian(f, argnums=(0,), has_aux=True)(x)
    assert_allclose(np.asarray(matrix[0][0]), np.diag(6 * np.asarray(x)))
    product, aux = hvp(f, x, v, has_aux=True)
    assert_allclose(np.asarray(product), 6 * np.asarray(x) * np.asarray(v))
    assert_allclose(np.asarray(aux["twice"]), 2 * np.asarray(x))
    _, dy, aux = jvp(g, [x], [v], has_aux=True)
    assert_allclose(np.asarray(dy), 2 * np.asarray(x) * np.asarray(v))
    assert_allclose(np.asarray(aux), np.asarray(x) + 1)
    # Auxiliary results are untracked.
    assert float(aux[0]) == float(x[0] + 1)


def test_results_with_leaves_that_are_passed_by() -> None:
    """In a returned structure only the arrays have derivatives; other leaves are returned unchanged."""
    x = xp.asarray([2.0, 3.0])

    def f(x: Any) -> Any:
        return {"layer": Layer(x**2, xp.sum(x), name="found", width=7), "count": 4, "text": "t"}

    y, pull = vjp(f, x)
    assert (y["layer"].name, y["layer"].width, y["count"], y["text"]) == ("found", 7, 4, "t")
    assert y["layer"].activation is xp.tanh
    cotangent = {"layer": Layer(xp.ones(2), xp.asarray(1.0)), "count": None, "text": None}
    assert_allclose(np.asarray(pull(cotangent)[0]), [5.0, 7.0])
    y, dy = jvp(f, [x], [xp.ones(2)])
    assert y["layer"].name == "found" and y["count"] == 4
    assert_allclose(np.asarray(dy["layer"].w), [4.0, 6.0])
    rows = jacobian(f)(x)
    assert_allclose(np.asarray(rows["layer"].w), [[4.0, 0.0], [0.0, 6.0]])
    for empty in (dy, rows):
        assert empty["count"] is None and empty["text"] is None
        assert (empty["layer"].name, empty["layer"].width, empty["layer"].activation) == (None, None, None)
    # A structure goes through one transformation into the next.
    inner = checkpoint(lambda layer: Layer(layer.w * 2, layer.b, name=layer.name))
    found = grad(lambda x: xp.sum(inner(f(x)["layer"]).w))(x)
    assert_allclose(np.asarray(found), [8.0, 12.0])
    with pytest.raises(ArgumentTypeError, match="int64 has no derivative"):
        jvp(lambda x: (x, xp.asarray(4)), [x], [x])

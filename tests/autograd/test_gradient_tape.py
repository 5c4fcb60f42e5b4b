"""The functions of `stride0.autograd`: what they take and return, and what they refuse."""

from __future__ import annotations

import collections
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._core.index.index import sum_into
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
)
from stride0.testing import check_grad


def arr(*values: complex, dtype: Any = None) -> Any:
    return xp.asarray(list(values), dtype=dtype)


def square_sum(x: Any) -> Any:
    return xp.sum(x**2)


class Pair(NamedTuple):
    a: Any
    b: Any


# --- grad and value_and_grad


def test_first_case_of_all() -> None:
    """C = A + B with shapes (3,) and (1,): B was used three times."""
    a, b = grad(lambda a, b: xp.sum(a + b), argnums=(0, 1))(arr(1.0, 2.0, 3.0), arr(5.0))
    assert (a.shape, b.shape) == ((3,), (1,))
    assert_allclose(np.asarray(a), [1, 1, 1])
    assert_allclose(np.asarray(b), [3])


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1, 0), [0, 1], ()])
def test_argnums(argnums: Any) -> None:
    expected = {0: 3.0, 1: 2.0, -1: 2.0}
    found = grad(lambda x, y: x * y, argnums=argnums)(xp.asarray(2.0), xp.asarray(3.0))
    if isinstance(argnums, int):
        assert float(found) == expected[argnums]
    else:
        assert isinstance(found, tuple)
        assert [float(g) for g in found] == [expected[n] for n in argnums]


@pytest.mark.parametrize("argnums", [2, -3, (0, 5)])
def test_argnums_out_of_range(argnums: Any) -> None:
    with pytest.raises(ArgumentValueError, match="argnums names argument"):
        grad(lambda x, y: x * y, argnums=argnums)(xp.asarray(2.0), xp.asarray(3.0))


@pytest.mark.parametrize("argnums", [(0, 0), (0, -2)])
def test_argnums_that_name_an_argument_twice(argnums: Any) -> None:
    """Either each gets the gradient or the call raises; zero for one of them would be wrong."""
    try:
        found = grad(lambda x, y: x * y, argnums=argnums)(xp.asarray(2.0), xp.asarray(3.0))
    except ArgumentValueError:
        return
    assert [float(g) for g in found] == [3.0, 3.0]


def test_keyword_arguments_are_passed_on() -> None:
    assert float(grad(lambda x, *, k: k * x)(xp.asarray(2.0), k=7.0)) == 7.0
    with pytest.raises(ArgumentValueError, match="0 positional arguments"):
        grad(lambda x: x)(x=xp.asarray(2.0))


def test_aux() -> None:
    def f(x: Any) -> Any:
        return square_sum(x), {"twice": 2 * x, "text": "aux", "none": None}

    g, aux = grad(f, has_aux=True)(arr(1.0, 2.0))
    assert_allclose(np.asarray(g), [2, 4])
    assert_allclose(np.asarray(aux["twice"]), [2, 4])
    assert (aux["text"], aux["none"]) == ("aux", None)
    (value, _), g = value_and_grad(f, has_aux=True)(arr(1.0, 2.0))
    assert float(value) == 5.0
    _, pullback, aux = vjp(lambda x: (x * 2, x), arr(1.0), has_aux=True)
    assert_allclose(np.asarray(aux), [1])
    assert_allclose(np.asarray(pullback(arr(3.0))[0]), [6])


def test_wrapped_function_keeps_its_name() -> None:
    assert grad(square_sum).__name__ == "square_sum"
    assert value_and_grad(square_sum).__wrapped__ is square_sum  # type: ignore[attr-defined]


def test_nested_structures() -> None:
    def f(tree: Any) -> Any:
        pair = tree["pair"]
        assert isinstance(pair, Pair)
        assert tree["nothing"] is None
        return xp.sum(pair.a * tree["list"][0]) + pair.b[0] * tree["number"] + tree["list"][1][0]

    tree = {
        "pair": Pair(arr(1.0, 2.0), (xp.asarray(4.0),)),
        "nothing": None,
        "list": [arr(3.0, 5.0), [xp.asarray(0.5)]],
        "number": 2.5,
        "empty": {},
    }
    g = grad(f)(tree)
    assert isinstance(g["pair"], Pair) and isinstance(g["pair"].b, tuple) and isinstance(g["list"], list)
    assert list(g) == list(tree) and g["nothing"] is None and g["empty"] == {}
    assert_allclose(np.asarray(g["pair"].a), [3, 5])
    assert_allclose(np.asarray(g["pair"].b[0]), 2.5)
    assert_allclose(np.asarray(g["list"][0]), [1, 2])
    assert_allclose(np.asarray(g["list"][1][0]), 1)
    assert_allclose(np.asarray(g["number"]), 4)


def test_kinds_of_dicts_stay() -> None:
    """An OrderedDict stays an OrderedDict, as an argument and as a result."""
    seen = []
    found = grad(lambda d: (seen.append(type(d)), d["a"])[1])(collections.OrderedDict(a=xp.asarray(1.0)))
    assert seen == [collections.OrderedDict]
    assert type(found) is collections.OrderedDict


def test_python_floats_are_leaves() -> None:
    assert float(grad(lambda x: x**3)(2.0)) == 12.0
    assert float(vjp(lambda x: x**3, 2.0)[1](1.0)[0]) == 12.0
    assert float(hvp(lambda x: x**3, 2.0, 1.0)) == 12.0
    value, g = value_and_grad(lambda x: xp.abs(x) ** 2)(3 + 4j)
    assert_allclose(complex(g), 6 + 8j)
    assert float(value) == pytest.approx(25)


def test_python_floats_in_jvp() -> None:
    y, dy = jvp(lambda x: x**3, (2.0,), (1.0,))
    assert (float(y), float(dy)) == (8.0, 12.0)


def test_constant_results_have_zero_gradients() -> None:
    assert_allclose(np.asarray(grad(lambda x: xp.asarray(1.0))(arr(1.0, 2.0))), [0, 0])
    assert_allclose(np.asarray(grad(lambda x: 1.0)(arr(1.0, 2.0))), [0, 0])
    assert_allclose(np.asarray(grad(lambda x, y: y, argnums=0)(arr(1.0), xp.asarray(2.0))), [0])


@pytest.mark.parametrize(
    ("f", "argument", "error", "text"),
    [
        (lambda x: x, arr(1.0, 2.0), ShapeError, "axes"),
        (lambda x: x * 1j, xp.asarray(1.0), ArgumentTypeError, "complex128"),
        (lambda x: xp.asarray(1), xp.asarray(1.0), ArgumentTypeError, "int64"),
        (lambda x: (x, x), xp.asarray(1.0), ArgumentTypeError, "tuple"),
        (lambda x: None, xp.asarray(1.0), ArgumentTypeError, "NoneType"),
        (lambda x: x, xp.asarray(1), ArgumentTypeError, "int64"),
        (lambda x: x, xp.asarray(True), ArgumentTypeError, "bool"),
        (lambda x: x, 3, ArgumentTypeError, "int"),
        (lambda x: x, "text", ArgumentTypeError, "str"),
        (lambda x: x, np.ones(2), ArgumentTypeError, "ndarray"),
        (lambda x: x[0], (xp.asarray(1.0), xp.asarray(1)), ArgumentTypeError, "int64"),
    ],
)
def test_refused(f: Any, argument: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        grad(f)(argument)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_are_kept(dtype: str) -> None:
    x = xp.asarray([1.0, 2.0], dtype=getattr(xp, dtype))
    wide = xp.asarray([3.0, 4.0])
    g = grad(lambda x: xp.sum(xp.real(x * x) * wide))(x)
    assert g.dtype is x.dtype
    y, pullback = vjp(lambda x: x * 2, x)
    assert pullback(xp.ones(2, dtype=y.dtype))[0].dtype is x.dtype
    assert jvp(lambda x: x * 2, (x,), (x,))[1].dtype is x.dtype
    if "float" in dtype:
        assert hessian(lambda x: xp.sum(x**3))(x).dtype is x.dtype


def test_complex_gradient_is_the_direction_of_steepest_ascent() -> None:
    z = arr(1 + 2j, -3j)
    assert_allclose(np.asarray(grad(lambda z: xp.sum(xp.abs(z) ** 2))(z)), 2 * np.asarray(z))
    assert_allclose(np.asarray(grad(lambda z: xp.sum(xp.real(z * (2 + 1j))))(z)), [2 - 1j] * 2)


# --- results belong to the caller


def writable(*gs: Any) -> None:
    for g in gs:
        g += 1000


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: xp.sum(x + y),
        lambda x, y: xp.sum(x),
        lambda x, y: xp.sum(x * y),
        lambda x, y: xp.sum(xp.concat([x, y])),
        lambda x, y: xp.sum(xp.broadcast_to(x, (3, 2)) + y),
        lambda x, y: x[0] + y[-1],
    ],
)
def test_gradients_are_memory_of_their_own(f: Any) -> None:
    x, y = arr(1.0, 2.0), arr(3.0, 5.0)
    first, second = grad(f, argnums=(0, 1))(x, y)
    before = np.array(second)
    first += 1000
    assert_allclose(np.asarray(second), before)
    second += 1000
    assert_allclose(np.asarray(x), [1, 2])
    assert_allclose(np.asarray(y), [3, 5])


@pytest.mark.parametrize("layout", [lambda c: c, lambda c: c[::-1], lambda c: xp.broadcast_to(c[:1], (2,))])
def test_pullbacks_do_not_hand_the_cotangent_out(layout: Any) -> None:
    c = arr(1.0, 1.0)
    _, pullback = vjp(lambda x, y: x + y, arr(1.0, 2.0), arr(3.0, 4.0))
    first, second = pullback(layout(c))
    first += 1
    second += 2
    assert_allclose(np.asarray(first), [2, 2])
    assert_allclose(np.asarray(second), [3, 3])
    assert_allclose(np.asarray(c), [1, 1])
    _, dy = jvp(lambda x: x, (arr(1.0, 2.0),), (c,))
    writable(dy)
    assert_allclose(np.asarray(c), [1, 1])


def test_tracked_cotangents_are_not_handed_out() -> None:
    """Within an open tape gradients are not the cotangent itself: a write to one must not change others."""

    def f(c: Any) -> Any:
        _, pullback = vjp(lambda x, y: x + y, arr(1.0, 2.0), arr(1.0, 2.0))
        first, second = pullback(c)
        first += 1.0
        second *= 3.0
        return xp.sum(c), first, second

    def loss(c: Any) -> Any:
        total, first, second = f(c)
        return total + xp.sum(first) + xp.sum(second)

    value, g = value_and_grad(loss)(arr(1.0, 2.0))
    assert_allclose(np.asarray(g), [5, 5])
    assert float(value) == 3 + 5 + 9


def test_gradients_within_a_block_are_writable() -> None:
    """A gradient that broadcasts a tracked cotangent is not a read-only view."""

    def f(c: Any) -> Any:
        _, pullback = vjp(xp.sum, arr(1.0, 2.0))
        (g,) = pullback(c)
        g *= arr(2.0, 3.0)
        return xp.sum(g)

    assert float(grad(f)(xp.asarray(4.0))) == 5.0


# --- vjp, jvp, and higher derivatives


def test_structures_of_results() -> None:
    y, pullback = vjp(lambda x, z: {"a": x * z, "b": [x[0], None, (z,)]}, arr(2.0, 3.0), xp.asarray(5.0))
    assert y["b"][1] is None
    gx, gz = pullback({"a": arr(1.0, 10.0), "b": [xp.asarray(100.0), None, (xp.asarray(1000.0),)]})
    assert_allclose(np.asarray(gx), [105, 50])
    assert_allclose(np.asarray(gz), 2 + 30 + 1000)


def test_dicts_match_by_key() -> None:
    """The order in which keys were set does not matter."""
    _, pullback = vjp(lambda x: {"a": 2 * x, "b": 3 * x}, xp.asarray(1.0))
    assert float(pullback({"b": xp.asarray(10.0), "a": xp.asarray(1.0)})[0]) == 32
    x = {"a": xp.asarray(2.0), "b": xp.asarray(3.0)}
    _, dy = jvp(lambda x: x["a"] * x["b"], (x,), ({"b": xp.asarray(0.0), "a": xp.asarray(1.0)},))
    assert float(dy) == 3.0
    assert float(hvp(lambda x: x["a"] ** 2, x, {"b": xp.asarray(0.0), "a": xp.asarray(1.0)})["a"]) == 2


@pytest.mark.parametrize("cotangent", [[1.0, 10.0], {"a": 1.0, "c": 10.0}, (1.0, 10.0)])
def test_other_structures_are_refused(cotangent: Any) -> None:
    _, pullback = vjp(lambda x: {"a": 2 * x, "b": 3 * x}, xp.asarray(1.0))
    with pytest.raises((ArgumentTypeError, ArgumentValueError)):
        pullback(cotangent)


def test_wrong_cotangents() -> None:
    _, pullback = vjp(lambda x: (x, x), arr(1.0, 2.0))
    with pytest.raises(ArgumentValueError, match="cotangent"):
        pullback((arr(1.0, 2.0),))
    with pytest.raises(ShapeError, match="another shape"):
        pullback((arr(1.0), arr(1.0, 2.0)))
    with pytest.raises(ArgumentTypeError, match="int64"):
        pullback((xp.asarray([1, 2]), arr(1.0, 2.0)))
    with pytest.raises(ArgumentValueError, match="tangent"):
        jvp(lambda x: x, (arr(1.0),), (arr(1.0), arr(1.0)))
    with pytest.raises(ShapeError, match="another shape"):
        jvp(lambda x: x, (arr(1.0),), (arr(1.0, 2.0),))


def test_pullbacks_can_be_called_again() -> None:
    _, pullback = vjp(lambda x: xp.exp(x) * x, arr(1.0, 2.0))
    first = np.array(pullback(arr(1.0, 1.0))[0])
    pullback(arr(5.0, 5.0))
    assert_allclose(np.asarray(pullback(arr(1.0, 1.0))[0]), first)


def test_pullbacks_are_linear_and_differentiable() -> None:
    _, pullback = vjp(xp.sin, arr(1.0, 2.0))
    g = grad(lambda c: xp.sum(pullback(c)[0] ** 2))(arr(1.0, 1.0))
    assert_allclose(np.asarray(g), 2 * np.cos([1, 2]) ** 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: xp.sin(x) * y,
        lambda x, y: (x @ y[:2], xp.linalg.inv(x[:, :2])),
        lambda x, y: xp.exp(1j * x) * y[:2, None],
        lambda x, y: xp.stack([x[0], x[1] / (1 + y**2)])[:, ::2],
    ],
)
def test_jvp_and_vjp_are_adjoint(f: Any) -> None:
    rng = np.random.default_rng(3)
    x, y, vx, vy = (xp.asarray(rng.normal(size=s)) for s in ((2, 2), (2,), (2, 2), (2,)))
    out, pullback = vjp(f, x, y)
    _, tangents = jvp(f, (x, y), (vx, vy))
    many = isinstance(out, tuple)
    outs, dys = (out, tangents) if many else ((out,), (tangents,))
    cs = [np.asarray(rng.normal(size=o.shape)) for o in outs]
    cs = [
        c + 1j * rng.normal(size=c.shape) if "complex" in o.dtype.name else c
        for c, o in zip(cs, outs, strict=True)
    ]
    gx, gy = pullback(tuple(xp.asarray(c) for c in cs) if many else xp.asarray(cs[0]))
    left = sum(np.sum(np.conj(c) * np.asarray(d)).real for c, d in zip(cs, dys, strict=True))
    right = np.sum(np.asarray(gx) * np.asarray(vx)) + np.sum(np.asarray(gy) * np.asarray(vy))
    assert_allclose(left, right, rtol=1e-12)


def test_third_order() -> None:
    x = 1.2
    third = grad(grad(grad(lambda x: xp.sin(x) * x**3)))(xp.asarray(x))
    s, c = math.sin(x), math.cos(x)
    assert_allclose(float(third), -c * x**3 - 9 * s * x**2 + 18 * c * x + 6 * s, rtol=1e-13)
    check_grad(
        lambda a, b: xp.sum(xp.exp(a) @ b / (1 + b**2)),
        xp.asarray([[0.1, 0.2]]),
        xp.asarray([[0.3], [0.5]]),
        order=3,
    )


def test_perturbations_are_not_confused() -> None:
    one, three = xp.asarray(1.0), xp.asarray(3.0)
    assert float(grad(lambda x: x * grad(lambda y: x + y)(one))(three)) == 1
    assert float(grad(lambda x: x * grad(lambda y: x * y * y)(x))(three)) == 54
    assert float(grad(lambda x: grad(lambda y: y * grad(lambda z: x * y * z)(x))(x))(three)) == 12
    assert float(jvp(lambda x: x * jvp(lambda y: x + y, (one,), (one,))[1], (three,), (one,))[1]) == 1
    kept = []

    def f(x: Any) -> Any:
        grad(lambda y: (kept.append(y * x), y)[1])(x)
        return kept[0] ** 2  # (x x)^2: the inner y is x

    assert float(grad(f)(three)) == 4 * 27


def test_jacobian() -> None:
    assert_allclose(np.asarray(jacobian(lambda x: x**2)(arr(1.0, 2.0))), [[2, 0], [0, 4]])
    found = jacobian(lambda k, x: xp.linalg.outer(x, x) * k, argnums=1)(2.0, arr(1.0, 3.0))
    assert found.shape == (2, 2, 2)
    assert_allclose(np.asarray(found)[0], [[4, 0], [6, 2]])
    assert jacobian(lambda x: x[:0])(arr(1.0, 2.0)).shape == (0, 2)
    assert jacobian(xp.sum)(xp.zeros((0, 3))).shape == (0, 3)


def test_jacobian_complex() -> None:
    x, z = arr(1.0, 2.0), arr(1 + 1j, 2 - 1j)
    assert_allclose(
        np.asarray(jacobian(lambda x: xp.exp(1j * x))(x)), np.diag(1j * np.exp(1j * np.asarray(x)))
    )
    assert_allclose(np.asarray(jacobian(lambda z: z**2 * (1 + 2j))(z)), np.diag(2 * np.asarray(z) * (1 + 2j)))
    assert_allclose(np.asarray(jacobian(lambda z: xp.abs(z) ** 2)(z)), np.diag(2 * np.asarray(z)))
    assert jacobian(lambda x: x * (1 + 1j))(xp.asarray([1.0], dtype=xp.float32)).dtype is xp.complex64


def test_hessian_and_hvp() -> None:
    def f(x: Any) -> Any:
        return xp.sum(x**3) + x[0] * x[1]

    h = np.asarray(hessian(f)(arr(1.0, 2.0)))
    assert_allclose(h, [[6, 1], [1, 12]])
    assert_allclose(np.asarray(hvp(f, arr(1.0, 2.0), arr(3.0, -1.0))), h @ [3, -1])
    tree = hvp(lambda t: t["a"] ** 2 * t["b"], {"a": 2.0, "b": 3.0}, {"a": 1.0, "b": 0.0})
    assert (float(tree["a"]), float(tree["b"])) == (6, 4)


# --- stop_gradient, custom_vjp, checkpoint


def test_stop_gradient() -> None:
    assert float(grad(lambda x: x * stop_gradient(x))(xp.asarray(3.0))) == 3
    tree = stop_gradient({"a": [xp.asarray(1.0), "text", None, 3]})
    assert tree["a"][1:] == ["text", None, 3]
    x = arr(1.0, 2.0)
    assert xp.strided.shares_storage(stop_gradient(x), x)
    # In the inner gradient, stop(y) x, only x is differentiated again.
    assert float(grad(lambda x: grad(lambda y: y * stop_gradient(y) * x)(x))(xp.asarray(3.0))) == 3


def doubled_backward() -> Any:
    @custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, g: (2 * g * kept[1], None))
    return f


def test_custom_vjp() -> None:
    f = doubled_backward()
    x, y = arr(1.0, 2.0), arr(3.0, 4.0)
    assert_allclose(np.asarray(f(x, y)), [3, 8])
    gx, gy = grad(lambda x, y: xp.sum(f(x, y)), argnums=(0, 1))(x, y)
    assert_allclose(np.asarray(gx), [6, 8])
    assert_allclose(np.asarray(gy), [0, 0])


def test_custom_vjp_of_second_order() -> None:
    @custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, g: (3 * x**2 * g,))
    assert float(grad(grad(cube))(xp.asarray(2.0))) == 12
    assert float(grad(grad(grad(lambda x: cube(x) * x)))(xp.asarray(2.0))) == 48


def test_custom_vjp_with_fixed_arguments() -> None:
    def power(x: Any, n: int) -> Any:
        return x**n

    f = custom_vjp(power, nondiff_argnums=(1,))
    f.defvjp(lambda x, n: (x**n, x), lambda n, x, g: (100.0 * n * g,))
    assert float(grad(lambda x: f(x, 3))(xp.asarray(2.0))) == 300


def test_custom_vjp_errors() -> None:
    f = custom_vjp(lambda x: x)
    with pytest.raises(GradientError, match="defvjp"):
        f(xp.asarray(1.0))
    f.defvjp(lambda x: (x * 1, None), lambda kept, g: g)
    with pytest.raises(ArgumentTypeError, match=r"tuple of 1 cotangent$"):
        grad(f)(xp.asarray(1.0))
    outer = custom_vjp(lambda x: x)

    def closing_over(w: Any) -> Any:
        outer.defvjp(lambda x: (x * w, None), lambda kept, g: (g,))
        return outer(w * 1)

    with pytest.raises(GradientError, match="not one of its arguments"):
        grad(closing_over)(xp.asarray(1.0))


def test_custom_vjp_structures() -> None:
    """None within a nested cotangent stands for the zero cotangent of one array."""

    @custom_vjp
    def f(pair: Any, z: Any) -> Any:
        return pair[0] * pair[1] * z

    f.defvjp(lambda p, z: (p[0] * p[1] * z, (p, z)), lambda kept, g: ((None, g * 7.0), g * 11.0))
    pair, z = grad(f, argnums=(0, 1))((xp.asarray(2.0), xp.asarray(3.0)), xp.asarray(5.0))
    assert (float(pair[0]), float(pair[1]), float(z)) == (0, 7, 11)


def test_custom_vjp_of_an_unused_result() -> None:
    """The cotangent of a result that nothing depends on is zero even if the result is infinite."""

    @custom_vjp
    def f(x: Any) -> Any:
        return x * 2, x / 0

    f.defvjp(lambda x: ((x * 2, x / 0), None), lambda kept, g: (2 * g[0] + g[1],))
    assert float(grad(lambda x: f(x)[0])(xp.asarray(1.0))) == 2


@pytest.mark.parametrize("make", [checkpoint, lambda f: f], ids=["checkpoint", "custom_vjp"])
def test_results_that_are_no_arrays(make: Any) -> None:
    f = make(lambda x: 2.0)
    if make is not checkpoint:
        f = custom_vjp(f)
        f.defvjp(lambda x: (2.0, None), lambda kept, g: (g,))
    assert float(grad(lambda x: f(x) * x)(xp.asarray(3.0))) == 2


@pytest.mark.parametrize("make", [checkpoint, None], ids=["checkpoint", "custom_vjp"])
def test_integer_results_are_constants(make: Any) -> None:
    if make is None:
        f = custom_vjp(xp.argsort)
        f.defvjp(lambda x: (xp.argsort(x), None), lambda kept, g: (None,))
        g = custom_vjp(xp.argsort)
        g.defvjp(lambda x: (xp.argsort(x), None), lambda kept, g: (g,))
    else:
        f = g = checkpoint(xp.argsort)
    for h in (f, g):
        found = grad(lambda x, h=h: xp.sum(x * xp.astype(h(x), xp.float64)))(arr(5.0, 4.0, 6.0))
        assert_allclose(np.asarray(found), [1, 0, 2])


def test_custom_vjp_returning_its_residual() -> None:
    """The gradient does not share the memory of the argument."""

    @custom_vjp
    def f(x: Any) -> Any:
        return xp.sum(x**2) / 2

    f.defvjp(lambda x: (xp.sum(x**2) / 2, x), lambda x, g: (x,))
    x = arr(1.0, 2.0)
    g = grad(f)(x)
    writable(g)
    assert_allclose(np.asarray(x), [1, 2])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_checkpoint(order: int) -> None:
    def f(x: Any, tree: Any, n: int) -> Any:
        return xp.sum(xp.sin(x) * tree["y"] ** n), xp.exp(x) * tree["y"]

    def total(g: Any) -> Any:
        def loss(x: Any, y: Any) -> Any:
            first, second = g(x * 2, {"y": y * 3}, 2)
            return first * xp.sum(second)

        return loss

    x, y = arr(0.1, 0.2), arr(0.3, 0.4)
    if order == 1:
        for a, b in zip(grad(total(checkpoint(f)), (0, 1))(x, y), grad(total(f), (0, 1))(x, y), strict=True):
            assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-14)
    else:
        check_grad(total(checkpoint(f)), x, y, order=order)


def test_checkpoint_calls_again() -> None:
    calls = []
    grad(lambda x: checkpoint(lambda u: (calls.append(1), xp.sum(u**2))[1])(x))(arr(1.0))
    assert len(calls) == 2


@pytest.mark.parametrize("tracked_too", [False, True])
def test_checkpoint_with_closures(tracked_too: bool) -> None:
    """A tracked array that the function closes over gets its gradient, or the call raises."""

    def f(x: Any) -> Any:
        return checkpoint(lambda u: xp.sum(u * x))(x if tracked_too else xp.ones(2))

    try:
        found = grad(f)(arr(1.0, 2.0))
    except GradientError:
        return
    assert_allclose(np.asarray(found), [2, 4] if tracked_too else [1, 1])


def test_checkpoint_passes_keywords_on() -> None:
    f = checkpoint(lambda u, k=2.0: xp.sum(u * k))
    assert_allclose(np.asarray(grad(lambda x: f(x, k=3.0))(arr(1.0))), [3])


# --- Tape


def test_tape() -> None:
    with Tape() as t:
        a, b = t.watch((arr(1.0, 2.0), {"b": xp.asarray(3.0)}))
        middle = a * b["b"]
        y = xp.sum(middle**2)
    found = t.gradient(y, {"a": a, "b": b["b"], "middle": middle})
    assert_allclose(np.asarray(found["a"]), [18, 36])
    assert_allclose(np.asarray(found["b"]), 30)
    assert_allclose(np.asarray(found["middle"]), [6, 12])
    first, second = t.gradient((middle, y), (a, a), (arr(1.0, 0.0), xp.asarray(0.0)))
    first += 1
    assert_allclose(np.asarray(second), [3, 0])


def test_tape_of_second_order() -> None:
    with Tape() as t:
        x = t.watch(xp.asarray(2.0))
        first = t.gradient(x**3, x)
        second = t.gradient(first, x)
    assert float(t.gradient(second, x)) == 6
    with Tape() as outer:
        x = outer.watch(xp.asarray(2.0))
        with Tape() as inner:
            y = inner.watch(x)
            z = y**3
        g = inner.gradient(z, y)
    assert float(outer.gradient(g, x)) == 12


def test_tape_errors() -> None:
    t = Tape()
    with pytest.raises(GradientError, match="not recording"):
        t.watch(arr(1.0))
    with t:
        x = t.watch(arr(1.0))
        with pytest.raises(ArgumentTypeError, match="int64"):
            t.watch(xp.asarray([1]))
    with pytest.raises(GradientError, match="not tracked"):
        t.gradient(xp.sum(x), arr(1.0))
    with pytest.raises(ShapeError):
        t.gradient(x, x)


def test_tape_refuses_what_it_did_not_record() -> None:
    """Results computed after the block are refused; a zero gradient would be silently wrong."""
    with Tape() as t:
        x = t.watch(arr(1.0, 2.0))
    y = xp.sum(x**2)
    with pytest.raises(GradientError):
        t.gradient(y, x)


def test_tapes_end_in_any_order() -> None:
    one, two, three = Tape(), Tape(), Tape()
    for tape in (one, two, three):
        tape.__enter__()
    x = two.watch(one.watch(xp.asarray(2.0)))
    z = three.watch(x)
    one.__exit__()
    three.__exit__()
    y = z**2
    g = two.gradient(y, x)
    two.__exit__()
    assert float(g) == 4


# --- sum_to, check_grad


@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((3, 4), (4,)),
        ((3, 4), (1, 4)),
        ((2, 3, 4), (3, 1)),
        ((2, 3), ()),
        ((0, 3), (1, 3)),
        ((2, 3), (2, 3)),
        ((), ()),
    ],
)
def test_laws_of_sum_to(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=shape), rng.normal(size=target)
    once = sum_into(xp.asarray(x), target)
    assert once.shape == target
    assert_allclose(np.asarray(sum_into(once, target)), np.asarray(once))
    broadcast = np.asarray(xp.broadcast_to(xp.asarray(y), shape))
    assert_allclose(np.sum(np.asarray(once) * y), np.sum(x * broadcast), atol=1e-14)


def test_sum_to_refuses_other_shapes() -> None:
    for shape, target in (((3,), (2,)), ((3,), (1, 3)), ((2, 3), (3, 3))):
        with pytest.raises(GradientError, match="internal error"):
            sum_into(xp.zeros(shape), target)


def test_check_grad_sees_wrong_gradients() -> None:
    check_grad(lambda x: xp.abs(x) ** 2 * x, arr(1 + 2j, 0.5j), order=3)
    with pytest.raises(AssertionError, match="order 1"):
        check_grad(lambda x: x * stop_gradient(x), arr(1.0, 2.0))
    wrong = custom_vjp(lambda x: x**3)
    wrong.defvjp(lambda x: (x**3, stop_gradient(x)), lambda x, g: (3 * x**2 * g,))
    check_grad(wrong, arr(1.0, 2.0), order=1)
    with pytest.raises(AssertionError, match="order 2"):
        check_grad(wrong, arr(1.0, 2.0), order=2)
    with pytest.raises(AssertionError):
        check_grad(lambda x: xp.where(x > 0, x, x * stop_gradient(x) / stop_gradient(x)) * math.nan, arr(1.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda s: xp.var(arr(1.0, 3.0, 7.0), correction=s - 1),
        lambda s: xp.linalg.vector_norm(arr(1.0, 3.0, 7.0), ord=s),
    ],
)
def test_tracked_options_are_refused(f: Any) -> None:
    """A tracked array as an option without a rule is refused; a zero gradient would be wrong."""
    with pytest.raises((GradientError, ArgumentTypeError)):
        grad(f)(xp.asarray(2.0))


@pytest.mark.parametrize(
    "make",
    [
        lambda s: xp.full((3,), s),
        lambda s: xp.full_like(xp.zeros(3), s),
        lambda s: xp.asarray([s, s, s]),
        lambda s: xp.asarray([[s], [s], [s]])[:, 0],
        lambda s: xp.linspace(s, s, 3),
        lambda s: xp.arange(s, s + 2.5),
        lambda s: xp.stack([s] * 3),
    ],
)
def test_creation_from_tracked_scalars(make: Any) -> None:
    try:
        found = grad(lambda s: xp.sum(make(s)))(xp.asarray(2.0))
    except GradientError:
        return
    assert float(found) == 3

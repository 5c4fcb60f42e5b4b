"""Random programs with views and writes on the tape, against hyper-dual numbers in NumPy."""

from __future__ import annotations

import math
import random
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from gradient_programs import Dual, Stride, loss_of, run
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0.autograd import (
    GradientError,
    grad,
    jvp,
    value_and_grad,
)

SHAPES: list[tuple[tuple[int, ...], bool]] = [
    ((4,), False),
    ((3, 4), False),
    ((2,), False),
    ((4,), True),
    ((), False),
    ((3, 4), False),
    ((4,), False),
]
TRACKED = 5  # the first arrays are tracked


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

    def points() -> list[Any]:
        return [xp.asarray(x, copy=True) for x in values[:TRACKED]]

    def pushed(h: Any) -> list[Any]:
        """The derivatives of `h` in the first direction, and of `h` or this derivative in the second."""
        return [jvp(h, points(), v)[1] for v in directions]

    directions = [[xp.asarray(x) for x in v] for v in (v1, v2)]
    which = tuple(range(TRACKED))
    try:
        value, first = value_and_grad(f, argnums=which)(*map(xp.asarray, map(np.copy, values[:TRACKED])))
        second = grad(slope, argnums=which)(*map(xp.asarray, map(np.copy, values[:TRACKED])))
        tangents = [value, *pushed(f), *pushed(lambda *xs: jvp(f, xs, directions[0])[1])[1:]]
        _, mixed = jvp(grad(f, argnums=which), points(), directions[1])
    except GradientError as error:
        assert "internal" not in str(error)
        return "refused"
    assert abs(float(value) - expected[0]) < 1e-9 * size, "value"
    assert abs(inner(first, v1) - expected[1]) < 1e-8 * size, "first derivative"
    assert abs(inner(second, v2) - expected[3]) < 1e-7 * size, "second derivative"
    for order, found in enumerate(tangents):
        assert abs(float(found) - expected[order]) < 1e-7 * size, f"jvp {order}"
    assert abs(inner(mixed, v1) - expected[3]) < 1e-7 * size, "jvp of gradients"
    return "right"


STEP = st.tuples(*[st.integers(0, 4 * 17 - 1)] + [st.integers(0, 59)] * 3)


@examples(300)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_random_programs(program: list[tuple[int, ...]]) -> None:
    """Elementwise operations, views, and writes."""
    compare(program, calls=False)


@examples(200)
@given(st.lists(STEP, min_size=1, max_size=10))
def test_random_programs_with_calls(program: list[tuple[int, ...]]) -> None:
    """Programs with checkpoint, custom_vjp and nested gradients."""
    compare(program, calls=True)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("calls", [False, True])
def test_fixed_random_programs(calls: bool, fused: bool) -> None:
    """No program is refused, for writes through any views."""
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

"""Random programs under `vmap` against a loop over the examples: values bit for bit, and gradients both ways.

The programs are those of the gradient tests: views, writes in place, index arrays, calls of `custom_vjp`,
`checkpoint` and `grad`. If the gradient of one example is refused because a value was overwritten, the
gradient of the batch is refused too.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from gradient_programs import Stride, loss_of, run
from numpy.testing import assert_allclose, assert_array_equal

import stride0 as xp
from stride0.autograd import GradientError, grad, vmap

Program = list[tuple[int, ...]]
COUNT = 3


def weights(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape)


def make(seed: int) -> tuple[Program, list[Any]]:
    r = random.Random(seed)
    program = [tuple(r.randrange(1000) for _ in range(4)) for _ in range(r.randint(2, 12))]
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(-1, 1, (COUNT, *shape)) for shape in ((4,), (3, 4), ())]
    return program, [*arrays, rng.uniform(-1, 1, (COUNT, 4)) + 1j * rng.uniform(-1, 1, (COUNT, 4))]


def copies(arrays: list[Any], at: Any = slice(None)) -> list[Any]:
    return [xp.asarray(a[at], copy=True) for a in arrays]


def values(program: Program, *xs: Any) -> list[Any]:
    pool, _ = run(Stride(), program, [xp.asarray(x, copy=True) for x in xs])
    return [xp.asarray(x, copy=True) for x in pool]


def loss(program: Program, *xs: Any) -> Any:
    pool, _ = run(Stride(), program, [xp.asarray(x, copy=True) for x in xs])
    parts = loss_of(Stride(), pool, weights)
    return sum((xp.sum(xp.real(x)) for x in parts[1:]), xp.sum(xp.real(parts[0])))


@pytest.mark.parametrize("part", range(4))
def test_values(part: int) -> None:
    for seed in range(part, 400, 4):
        program, arrays = make(seed)
        found = vmap(lambda *xs, program=program: values(program, *xs))(*copies(arrays))
        for i in range(COUNT):
            expected = values(program, *copies(arrays, i))
            assert len(found) == len(expected)
            for x, y in zip(found, expected, strict=True):
                assert_array_equal(np.asarray(x)[i], np.asarray(y), strict=True)


DIRECTIONS = [np.random.default_rng(9 + k).uniform(-1, 1, s) for k, s in enumerate(((4,), (3, 4), (), (4,)))]
ALL = (0, 1, 2, 3)
# The arrays that are the same for all examples.
SHARED: list[tuple[int, ...]] = [(), (1,), (0, 2), (3,)]


def along(gs: Any) -> Any:
    """The derivative along fixed directions, from gradients."""
    parts = [xp.sum(xp.real(g) * xp.asarray(v)) for g, v in zip(gs, DIRECTIONS, strict=True)]
    return sum(parts[1:], parts[0])


def derivatives(program: Program, shared: tuple[int, ...]) -> dict[str, tuple[Any, Any, bool]]:
    """By name: a derivative by vmap, a derivative of an example, whether the first sums over examples."""
    axes = tuple(None if k in shared else 0 for k in ALL)

    def f(*xs: Any) -> Any:
        return loss(program, *xs)

    def slope(*xs: Any) -> Any:
        return along(grad(f, ALL)(*xs))

    def total(g: Any) -> Any:
        return lambda *xs: xp.sum(vmap(g, axes)(*xs))

    found = {
        "within": (vmap(grad(f, ALL), axes), grad(f, ALL), False),
        "around": (grad(total(f), ALL), grad(f, ALL), True),
        "second within": (vmap(grad(slope, ALL), axes), grad(slope, ALL), False),
        "second around": (grad(total(slope), ALL), grad(slope, ALL), True),
    }
    if not shared:

        def summed(*xs: Any) -> Any:
            return along([xp.sum(g, axis=0) for g in grad(total(f), ALL)(*xs)])

        found["around twice"] = (grad(summed, ALL), grad(slope, ALL), True)
    return found


def attempted(f: Any, *xs: Any) -> Any:
    """The result; None if a value was overwritten, or if batched values are written to a shared array."""
    try:
        return f(*xs)
    except (GradientError, xp.BatchingError):
        return None


@pytest.mark.parametrize("part", range(4))
def test_gradients(part: int) -> None:
    outcomes: Counter[str] = Counter()
    shared = SHARED[part]
    for seed in range(part, 400, 4):
        program, arrays = make(seed)

        def given(i: int | None, arrays: Any = arrays) -> list[Any]:
            return [
                xp.asarray(a[0] if k in shared else a if i is None else a[i], copy=True)
                for k, a in enumerate(arrays)
            ]

        for name, (by_vmap, single, is_sum) in derivatives(program, shared).items():
            found = attempted(by_vmap, *given(None))
            expected = [attempted(single, *given(i)) for i in range(COUNT)]
            if found is None:
                outcomes["refused" if expected[0] is None else f"refused {name}"] += 1
                continue
            assert expected[0] is not None, f"program {seed}, {name}: a gradient that one example refuses"
            for k, g in enumerate(found):
                rows = [np.asarray(e[k]) for e in expected]
                wanted = np.sum(rows, axis=0) if is_sum and k in shared else np.stack(rows)
                assert_allclose(
                    np.asarray(g), wanted, rtol=1e-8, atol=1e-9, err_msg=f"program {seed}, {name}"
                )
            outcomes[name] += 1
    for name in derivatives([], shared):
        assert outcomes[name] > 40
        # Only batched values that are written to shared arrays are refused although one example is not.
        assert outcomes[f"refused {name}"] <= (40 if shared else 0)

"""Random programs under `vmap` against a loop over the examples: values bit for bit, and gradients both ways.

The programs are those of the gradient tests: views, writes in place, index arrays, calls of `custom_vjp`,
`checkpoint` and `grad`. A gradient that a single example refuses, since a value was overwritten, is refused
of the batch too.
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


@pytest.mark.parametrize("part", range(4))
def test_gradients(part: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(part, 400, 4):
        program, arrays = make(seed)
        numbers = tuple(range(len(arrays)))
        single = grad(lambda *xs, program=program: loss(program, *xs), numbers)
        total = grad(lambda *xs, program=program: xp.sum(vmap(lambda *ys: loss(program, *ys))(*xs)), numbers)
        expected = None
        try:
            expected = [single(*copies(arrays, i)) for i in range(COUNT)]
        except GradientError:
            outcomes["refused"] += 1
        for name, f in (("within", vmap(single)), ("around", total)):
            try:
                found = f(*copies(arrays))
            except GradientError:
                outcomes[f"refused {name}"] += expected is not None
                continue
            assert expected is not None, f"program {seed}: a gradient that one example refuses"
            for k, g in enumerate(found):
                wanted = np.stack([np.asarray(e[k]) for e in expected])
                assert_allclose(np.asarray(g), wanted, rtol=1e-9, atol=1e-11)
            outcomes["right"] += 1
    assert outcomes["right"] > 80
    # Of index arrays it is not worked out which elements of a batch they overwrite.
    assert outcomes["refused within"] < 10
    assert outcomes["refused around"] < 10
    print(outcomes)

"""Random smooth programs whose operands and weights are often exactly 0, for derivatives of high order.

`program(rng)` draws one: a function of a machine, two vectors and a matrix. The machine is that of
`taylor_series`, or `Stride`, its counterpart with stride0.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import stride0 as xp

Step = Callable[[Any, Any, Any, Any], Any]

N = 3

SMOOTH = (
    "sin",
    "cos",
    "tanh",
    "exp",
    "expm1",
    "atan",
    "asinh",
    "sinh",
    "square",
    "special.erf",
    "special.expit",
)
# Functions of arguments above 1.
SHIFTED = ("reciprocal", "sqrt", "log", "acosh", "log2", "log10")
# Functions that are infinite at 0, or have infinite derivatives there: called on masked elements.
SINGULAR = ("reciprocal", "sqrt", "log")


class Stride:
    """The functions of programs, with stride0."""

    matmul, sum, prod, flip, outer = map(staticmethod, (xp.matmul, xp.sum, xp.prod, xp.flip, xp.linalg.outer))
    cumulative_sum, cumulative_prod = map(staticmethod, (xp.cumulative_sum, xp.cumulative_prod))
    transpose, det, inv = map(staticmethod, (xp.matrix_transpose, xp.linalg.det, xp.linalg.inv))
    add, multiply, power, take = map(
        staticmethod, (operator.add, operator.mul, operator.pow, operator.getitem)
    )

    def constant(self, a: Any) -> Any:
        return xp.asarray(a)

    def function(self, name: str, x: Any) -> Any:
        return operator.attrgetter(name)(xp)(x)

    def where(self, mask: Any, x: Any, y: Any) -> Any:
        return xp.where(xp.asarray(mask), x, y)

    def positive(self, x: Any) -> Any:
        return x > 0

    def stretch(self, x: Any, n: int) -> Any:
        return xp.broadcast_to(x, (n, *x.shape))

    def written(self, x: Any, key: Any, value: Any) -> Any:
        out = xp.asarray(x, copy=True)
        out[key] = value
        return out


def sparse(rng: random.Random, *shape: int) -> Any:
    """Numbers of which half are 0."""
    values = [rng.choice((0.0, 0.0, 1.0, rng.uniform(-1, 1))) for _ in range(math.prod(shape))]
    return np.reshape(np.asarray(values), shape)


def above_one(m: Any, x: Any) -> Any:
    return m.add(m.multiply(x, x), m.constant(np.full(N, 1.5)))


def regular(m: Any, w: Any) -> Any:
    return m.add(m.multiply(m.constant(np.full((N, N), 0.1)), w), m.constant(np.eye(N)))


def draw_step(rng: random.Random) -> Step:
    """The steps of programs: each takes two vectors and a matrix, and returns a vector."""
    a, b = sparse(rng, N), sparse(rng, N, N)
    smooth, shifted, singular = rng.choice(SMOOTH), rng.choice(SHIFTED), rng.choice(SINGULAR)
    n, mask, places = (
        rng.randrange(1, 5),
        sparse(rng, N) > 0,
        np.asarray([rng.randrange(N) for _ in range(N)]),
    )
    steps: list[Step] = [
        lambda m, x, y, w: m.function(smooth, x),
        lambda m, x, y, w: m.function(shifted, above_one(m, x)),
        lambda m, x, y, w: m.multiply(x, y),
        lambda m, x, y, w: m.multiply(m.constant(a), x),
        lambda m, x, y, w: m.add(x, y),
        lambda m, x, y, w: m.add(x, m.constant(a)),
        lambda m, x, y, w: m.power(x, n),
        lambda m, x, y, w: m.multiply(y, m.function("reciprocal", above_one(m, x))),
        lambda m, x, y, w: m.matmul(w, x),
        lambda m, x, y, w: m.matmul(m.constant(b), m.function(smooth, m.matmul(w, x))),
        lambda m, x, y, w: m.matmul(m.outer(x, y), m.constant(a)),
        lambda m, x, y, w: m.multiply(m.prod(x), y),
        lambda m, x, y, w: m.multiply(m.sum(x), y),
        lambda m, x, y, w: m.cumulative_prod(x),
        lambda m, x, y, w: m.cumulative_sum(m.flip(x)),
        lambda m, x, y, w: m.where(mask, x, m.function(smooth, y)),
        lambda m, x, y, w: m.where(m.positive(x), m.function(singular, x), y),
        lambda m, x, y, w: m.take(x, m.constant(places)),
        lambda m, x, y, w: m.matmul(m.stretch(x, N), y),
        lambda m, x, y, w: m.multiply(m.det(w), x),
        lambda m, x, y, w: m.matmul(m.inv(regular(m, w)), x),
        lambda m, x, y, w: m.matmul(m.transpose(w), y),
        lambda m, x, y, w: m.written(x, slice(0, 2), m.take(y, slice(1, 3))),
    ]
    return rng.choice(steps)


def draw_program(rng: random.Random) -> Callable[[Any, Any, Any, Any], Any]:
    """A function of a machine, two vectors and a matrix, which returns one number."""
    chosen = [(draw_step(rng), rng.random(), rng.random()) for _ in range(rng.randrange(2, 7))]
    weights = sparse(rng, N)

    def program(m: Any, x: Any, y: Any, w: Any) -> Any:
        known = [x, y]
        for step, first, second in chosen:
            known.append(step(m, known[int(first * len(known))], known[int(second * len(known))], w))
        total = m.multiply(m.constant(weights), m.add(known[-1], known[-2]))
        return m.sum(total)

    return program

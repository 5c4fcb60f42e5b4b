"""Random programs for the tests of sparse derivatives: patterns and values against dense derivatives.

``python tests/support/sparse_programs.py FIRST LAST`` checks the programs of many seeds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import stride0 as xp
from stride0 import autograd

Step = Callable[[list[Any]], Any]

UNARY = ("sin", "tanh", "square", "negative", "abs", "exp", "atan", "floor", "sign", "positive")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot", "atan2", "copysign")
SPECIAL = ("expit", "erf", "log_softmax", "softmax")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "var", "std")
MATRICES = ("inv", "det", "expm", "qr", "svdvals", "trace", "diagonal", "vector_norm", "matrix_norm", "solve")
SHAPES = ((4,), (3, 4), (2, 2), (3,), ())
SIZE = 19  # elements of arguments: (4,), (3, 4), (3,)


def arguments(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [
        xp.asarray(rng.uniform(0.3, 1.7, shape) * rng.choice([-1, 1], shape))
        for shape in ((4,), (3, 4), (3,))
    ]


class Program:
    """A list of steps, drawn during the first run."""

    def __init__(self, seed: int) -> None:
        self.seed, self.steps = seed, []
        self.random = random.Random(seed)
        pool = self._run(arguments(seed))
        for _ in range(self.random.randint(3, 9)):
            # The step that was drawn last may not fit the shapes.
            for _ in range(20):
                self.steps.append(self._draw(pool))
                try:
                    found = self._run(arguments(seed))
                except (xp.Stride0Error, TypeError, ValueError, IndexError):
                    found = []
                if found and all(x.size <= 60 and bool(xp.all(xp.abs(x) < 1e3)) for x in found):
                    pool = found
                    break
                self.steps.pop()

    def _run(self, args: Any) -> list[Any]:
        pool = [x * 1.0 for x in args]
        for step in self.steps:
            new = step(pool)
            if new is not None:
                pool.append(new)
        return pool

    def __call__(self, *args: Any) -> Any:
        return xp.concat([xp.reshape(xp.real(x), (-1,)) for x in self._run(args)[-4:]])

    def _constant(self, shape: Any) -> Any:
        a = np.random.default_rng(self.random.randrange(10**9)).uniform(-1, 1, shape)
        return xp.asarray(np.where(np.abs(a) < 0.4, 0.0, a))

    def _draw(self, pool: list[Any]) -> Step:
        draw = self.random
        i, j = draw.randrange(len(pool)), draw.randrange(len(pool))
        shape = pool[i].shape
        axis = draw.randrange(len(shape)) if shape else 0
        kind = draw.choice(KINDS)
        name = ""
        if kind == "unary":
            name = draw.choice(UNARY)
            return lambda p: getattr(xp, name)(p[i])
        if kind == "special":
            name = draw.choice(SPECIAL)
            return lambda p: getattr(xp.special, name)(p[i])
        if kind == "binary":
            name = draw.choice(BINARY)
            return lambda p: getattr(xp, name)(p[i], p[j])
        if kind == "constant":
            name, c = draw.choice(BINARY[:4]), self._constant(shape)
            return lambda p: getattr(xp, name)(p[i], c) if name != "divide" else c / p[i]
        if kind == "reduction":
            name = draw.choice((*REDUCTIONS, "logsumexp"))
            along, keep = draw.choice((None, axis)), draw.random() < 0.5
            function = xp.special.logsumexp if name == "logsumexp" else getattr(xp, name)
            return lambda p: function(p[i], axis=along, keepdims=keep)
        if kind == "along":
            functions = (
                lambda x: xp.cumulative_sum(x, axis=axis),
                lambda x: xp.cumulative_prod(x, axis=axis, include_initial=True),
                lambda x: xp.sort(x, axis=axis, descending=True),
                lambda x: xp.diff(x, axis=axis),
                lambda x: xp.real(xp.fft.rfft(x, axis=axis)),
                lambda x: xp.fft.irfft(xp.fft.fft(x, axis=axis), axis=axis),
                lambda x: xp.take(
                    x, xp.argsort(x, axis=-1)[..., 0] if x.ndim == 1 else xp.asarray(0), axis=axis
                ),
            )
            function = draw.choice(functions)
            return lambda p: function(p[i])
        if kind == "move":
            shift, numbers = draw.randrange(3), xp.asarray([draw.randrange(2) for _ in range(3)])
            functions = (
                lambda x: xp.flip(x, axis=axis),
                lambda x: xp.roll(x, shift, axis=axis),
                lambda x: x.T,
                lambda x: xp.reshape(x, (-1,)),
                lambda x: xp.reshape(x, (2, -1)),
                lambda x: xp.expand_dims(x, axis=axis),
                lambda x: xp.broadcast_to(x, (2, *x.shape)),
                lambda x: xp.repeat(x, 2, axis=axis),
                lambda x: xp.tile(x, (2,)),
                lambda x: xp.tril(x),
                lambda x: xp.take(x, numbers, axis=axis),
                lambda x: xp.unstack(x, axis=axis)[0],
                lambda x: xp.real(xp.astype(x, xp.complex128) * (1 + 1j)),
                lambda x: xp.take_along_axis(x, xp.argsort(x, axis=axis), axis=axis),
            )
            function = draw.choice(functions)
            return lambda p: function(p[i])
        if kind == "join":
            functions2 = (
                lambda x, y: xp.concat([x, y], axis=0),
                lambda x, y: xp.stack([x, y], axis=-1),
                lambda x, y: xp.where(x > 0, x, y),
                lambda x, y: xp.where(xp.asarray(shift_mask(x.shape)), x, y * 2),
                lambda x, y: xp.clip(x, -0.5, y),
                lambda x, y: xp.astype(x > 0.1, xp.float64) * y,
            )
            function2 = draw.choice(functions2)
            return lambda p: function2(p[i], p[j])
        if kind in ("get", "set"):
            key = draw.choice(keys(shape, draw))
            if kind == "get":
                return lambda p: p[i][key]
            how = draw.randrange(4)
            return lambda p: write(p[i], key, p[j], how)
        if kind == "new":
            key = draw.choice(keys((4,), draw))
            return lambda p: written(key, p[j])
        if kind == "product":
            left, c = draw.random() < 0.5, self._constant((3, shape[-1] if shape else 1))
            functions2 = (
                lambda x, y: x @ y,
                lambda x, y: c @ x if left else x @ c.T,
                lambda x, y: xp.tensordot(x, y, axes=1),
                lambda x, y: xp.tensordot(c, x, axes=((1,), (x.ndim - 1,))),
                lambda x, y: xp.vecdot(x, y),
                lambda x, y: xp.linalg.outer(xp.reshape(x, (-1,))[:4], xp.reshape(y, (-1,))[:4]),
                lambda x, y: xp.einsum("ij,kj->ki", x, y),
                lambda x, y: xp.einsum("ij,ij->j", x, y),
                lambda x, y: xp.einsum("...j,kj->k...", x, c),
            )
            function2 = draw.choice(functions2)
            return lambda p: function2(p[i], p[j])
        if kind == "matrix":
            name = draw.choice(MATRICES)
            return lambda p: matrix(name, p[i])
        if kind == "nested":
            functions = (
                autograd.vmap(lambda x: xp.sin(x) * x),
                autograd.checkpoint(lambda x: xp.tanh(x) * x),
                autograd.grad(lambda x: xp.sum(x**3)),
                lambda x: autograd.stop_gradient(x) * x,
                lambda x: doubled(x),
            )
            function = draw.choice(functions)
            return lambda p: function(p[i])
        return lambda p: p[i] + p[j]


KINDS = (
    *(
        "unary",
        "binary",
        "binary",
        "constant",
        "reduction",
        "along",
        "move",
        "move",
        "join",
        "get",
        "set",
        "set",
    ),
    *("new", "product", "product", "matrix", "nested", "special"),
)


@autograd.custom_vjp
def doubled(x: Any) -> Any:
    return xp.sin(x)


doubled.defvjp(lambda x: (xp.sin(x), x), lambda x, g: (g + xp.sum(g) * xp.cos(x),))


def shift_mask(shape: Any) -> Any:
    return np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0


def keys(shape: Any, draw: random.Random) -> list[Any]:
    if not shape:
        return [...]
    n = shape[0]
    found: list[Any] = [
        draw.randrange(n),
        slice(1, None),
        slice(None, None, -1),
        slice(None, None, 2),
        ...,
        (..., None),
        (..., 0),
        xp.asarray([draw.randrange(n) for _ in range(2)]),
        xp.asarray(shift_mask((n,))),
        xp.asarray(shift_mask(shape)),
    ]
    if len(shape) == 2:
        found += [
            (slice(None), xp.asarray([0, 1])),
            (1, slice(None)),
            (xp.asarray([0, 1]), xp.asarray([1, 1])),
        ]
    return found


def write(x: Any, key: Any, value: Any, how: int) -> None:
    """Write to an array, also through views."""
    part = x[key]
    value = xp.reshape(value, (-1,))[0] if value.shape != part.shape else value
    if how == 0:
        x[key] = value
    elif how == 1:
        x[key] += value
    elif how == 2:
        part *= value
        part[...] = part * 0.5
    else:
        x[key] = 0.25


def written(key: Any, value: Any) -> Any:
    y = xp.zeros(4)
    y[key] = xp.reshape(value, (-1,))[0]
    half = y[1:3]
    half += xp.reshape(value, (-1,))[-1]
    y @= xp.asarray([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 1, 0], [0, 0, 0, 1]])
    return y


def matrix(name: str, x: Any) -> Any:
    square = x[..., :2, :2] + 3 * xp.eye(2)
    if name == "solve":
        return xp.linalg.solve(square, x[..., :2, :])
    function = getattr(xp.linalg, name)
    if name == "qr":
        return function(square)[1]
    return function(x if name == "vector_norm" else square)


def check(seed: int, with_hessian: bool = False) -> str:
    """Compare the derivatives of a program at three points; return a description of the difference, or ""."""
    program = Program(seed)
    point = arguments(seed)
    which = (0, 1, 2)
    pattern = autograd.jacobian_sparsity(program, *point, argnums=which).toarray()
    plan = autograd.sparse_plan(program, *point, argnums=which)
    for k in range(3):
        there = point if k == 0 else [x * (1 + 0.1 * k) + 0.01 * k for x in arguments(seed + 7919 * k)]
        try:
            dense = autograd.jacobian(program, which, mode="reverse")(*there)
        except xp.Stride0Error:
            return f"refused by jacobian, seed {seed}"
        dense = np.concatenate([np.asarray(d).reshape(pattern.shape[0], -1) for d in dense], axis=1)
        finite = np.isfinite(dense)
        if not finite.all():
            continue
        if (missing := (dense != 0) & ~pattern).any():
            return f"seed {seed}: entries {np.argwhere(missing)[:3].tolist()} are missing at point {k}"
        found = plan.jacobian(*there).toarray()
        if not np.allclose(found, dense, rtol=1e-9, atol=1e-9 * (1 + np.abs(dense).max(initial=0.0))):
            return f"seed {seed}: values differ by {np.abs(found - dense).max()} at point {k}"
    if with_hessian:
        return check_hessian(program, point)
    return ""


def check_hessian(program: Program, point: list[Any]) -> str:
    weights = xp.asarray(np.cos(np.arange(program(*point).shape[0])))

    def loss(*xs: Any) -> Any:
        return xp.sum(program(*xs) * weights)

    which = (0, 1, 2)
    dense = autograd.hessian(loss, which)(*point)
    sizes = [x.size for x in point]
    rows = [[np.asarray(block) for block in row] for row in dense]
    whole = np.block([[block.reshape(m, -1) for block in row] for row, m in zip(rows, sizes, strict=True)])
    if not np.isfinite(whole).all():
        return ""
    pattern = autograd.hessian_sparsity(loss, *point, argnums=which).toarray()
    if (missing := (whole != 0) & ~pattern & (np.abs(whole) > 1e-12 * np.abs(whole).max())).any():
        return f"seed {program.seed}: second derivatives {np.argwhere(missing)[:3].tolist()} are missing"
    found = autograd.sparse_hessian(loss, which)(*point).toarray()
    if not np.allclose(found, whole, rtol=1e-8, atol=1e-8 * (1 + np.abs(whole).max(initial=0.0))):
        return f"seed {program.seed}: second derivatives differ by {np.abs(found - whole).max()}"
    return ""


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    wrong = [said for seed in range(first, last) if (said := check(seed, seed % 4 == 0))]
    print("\n".join(wrong))
    print(f"{last - first} programs, {len(wrong)} of them wrong or refused")

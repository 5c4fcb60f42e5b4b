"""Each function with a batching rule against a loop over the examples, its values and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_gradient_rules import CASES, arguments

import stride0 as xp
import stride0.autograd._matrices as matrices
from stride0._core.call.binding import PRIMITIVES
from stride0.autograd import VJP, jacobian, vjp, vmap
from stride0.autograd._tape.tape import has_batching
from stride0.autograd._tape.trees import flatten
from stride0.autograd._vmap import BATCHING, REFUSED

COUNT = 3
BLAS = {"einsum", "matmul", "tensordot", "vecdot"}
# In the gradient cases of these functions, the result depends on strides, or its shape on values.
OUTSIDE = {"strided.as_strided", "arange", "unique_all", "unique_counts", "unique_inverse", "unique_values"}


def leaves(y: Any) -> list[Any]:
    return flatten(list(y) if isinstance(y, (tuple, list)) else y)[0]


def compare(found: Any, expected: list[Any], exact: bool, tol: float = 1.0) -> None:
    ys = leaves(found)
    rows = [leaves(e) for e in expected]
    assert len(ys) == len(rows[0])
    for k, y in enumerate(ys):
        if not isinstance(y, xp.Array):
            assert y == rows[0][k]
            continue
        wanted = np.stack([np.asarray(r[k]) for r in rows])
        got = np.asarray(y)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        if exact:
            assert_array_equal(got, wanted)
        else:
            scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-6)
            assert_allclose(got, wanted, rtol=1e-9 * tol, atol=1e-11 * tol * scale)


def batches(case: Any) -> list[Any]:
    """The arrays of a case, and others near them, as one array of examples each."""
    rng = np.random.default_rng(5)
    found = []
    for a in arguments(case):
        a = np.asarray(a)
        rows = [a] + [a * rng.uniform(0.97, 1.03, a.shape).astype(a.real.dtype) for _ in range(COUNT - 1)]
        found.append(np.stack(rows).astype(a.dtype))
    return found


def patterns(count: int) -> list[tuple[int | None, ...]]:
    """The choices of arguments that are batched."""
    if count == 1:
        return [(0,)]
    return [(0,) * count, *[tuple(0 if j == k else None for j in range(count)) for k in range(min(count, 3))]]


# In the second function the shape depends on values.
FITTING = [c for c in CASES if c.name not in OUTSIDE and c.id != "own-mask"]


@pytest.mark.parametrize("case", FITTING, ids=[f"{c.name}-{c.id}" for c in FITTING])
def test_values_and_gradients(case: Any) -> None:
    arrays = batches(case)
    f = lambda *xs: case.call(xp, *xs)  # noqa: E731
    exact = not case.name.startswith(("linalg.", "fft.")) and case.name not in BLAS | {"linspace"}
    for axes in patterns(len(arrays)):
        xs = [xp.asarray(a if axis == 0 else a[0], copy=True) for a, axis in zip(arrays, axes, strict=False)]
        examples = [
            [
                xp.asarray(a[i] if axis == 0 else a[0], copy=True)
                for a, axis in zip(arrays, axes, strict=False)
            ]
            for i in range(COUNT)
        ]
        if case.name == "setitem" and axes[0] is None:
            with pytest.raises(xp.BatchingError, match="not batched"):
                vmap(f, axes)(*xs)
            continue
        expected = [f(*e) for e in examples]
        compare(vmap(f, axes)(*xs), expected, exact, case.tol)
        # The gradients by all arguments, for the same cotangents.
        weights = [
            xp.asarray(np.random.default_rng(k).uniform(1, 2, y.shape), dtype=y.dtype)
            if floating(y)
            else None
            for k, y in enumerate(leaves(expected[0]))
        ]

        def pulled(*given: Any, seeds: Any = tuple(w for w in weights if w is not None)) -> Any:
            _, pull = vjp(lambda *zs: [y for y in leaves(f(*zs)) if floating(y)], *given)
            return pull(list(seeds))

        compare(vmap(pulled, axes)(*xs), [pulled(*e) for e in examples], False, max(case.tol, 100.0))


def floating(y: Any) -> bool:
    return isinstance(y, xp.Array) and "floating" in y.dtype.kind


SMALL = [c for c in FITTING if not c.layout_matters]


@pytest.mark.parametrize("case", SMALL, ids=[f"{c.name}-{c.id}" for c in SMALL])
def test_jacobians_by_one_batched_pass(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of each function takes a batch of cotangents: the pass for single rows never runs."""
    xs = [xp.asarray(a, copy=True) for a in arguments(case)]
    f = lambda *zs: [y for y in leaves(case.call(xp, *zs)) if floating(y)]  # noqa: E731
    ys, pull = vjp(f, *xs)
    if sum(y.size for y in ys) > 40:
        pytest.skip("many rows")
    numbers = tuple(range(len(xs)))
    monkeypatch.setattr(matrices, "stack", None)
    found = jacobian(f, numbers)(*xs)
    for k, y in enumerate(ys):
        for i in range(y.size):
            seeds = [xp.zeros_like(z) for z in ys]
            place = np.unravel_index(i, y.shape)
            seeds[k][tuple(int(p) for p in place)] = 1
            row = pull(seeds)
            for j in range(len(xs)):
                got = np.asarray(found[k][j])[place]
                wanted = np.asarray(row[j])
                if "complex" in y.dtype.kind:
                    # For a real argument the row has only the real parts.
                    got, wanted = (got, np.conj(wanted)) if wanted.dtype.kind == "c" else (got.real, wanted)
                scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-6)
                assert_allclose(got, wanted, rtol=1e-8 * case.tol, atol=1e-10 * case.tol * scale)


def test_every_function_has_a_rule_or_a_refusal() -> None:
    """Functions of the namespace that read elements; `watch` tracks an array and needs no rule."""
    assert not set(BATCHING) & set(REFUSED)
    missing = (set(PRIMITIVES) | set(VJP)) - set(BATCHING) - set(REFUSED)
    # Forms of SciPy's functions have their rules next to their definitions.
    missing -= {name for name in missing if name.startswith("scipy.") and has_batching(name)}
    assert not missing, sorted(missing)
    assert all(reason for reason in REFUSED.values())


# --- functions without gradients, and arguments that the gradient cases lack


X = np.asarray(
    [[[0.3, -1.2, 0.8, 0.3], [1.7, 0.4, -0.6, 0.4]], [[1.0, 2.0, 2.0, -1.0], [0.0, -0.0, 5.0, 0.5]]]
)
Y = np.asarray(
    [[[0.3, 1.2, 0.8, 0.5], [1.7, -0.4, 0.6, 0.4]], [[2.0, 2.0, -2.0, 1.0], [0.5, 1.0, 5.0, -0.5]]]
)
N = np.asarray([[[3, 1, 4, 1], [5, 9, 2, 6]], [[5, 3, 5, 8], [9, 7, 9, 3]]])
M = np.asarray([[[1, 2, 0, 3], [1, 1, 2, 2]], [[3, 0, 1, 1], [0, 2, 2, 3]]])
B = X > 0.35
GAPS = np.where(X > 1.5, np.nan, X)
SQUARE = np.asarray([[[2.1, 0.3], [-0.4, 1.6]], [[1.0, 0.2], [0.3, -2.0]]])
VECTOR = np.asarray([[0.5, 2.0], [1.0, -1.0]])

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    **{
        f"{n}({k})": (lambda x, n=n, k=k: getattr(xp, n)(x, **dict(k)), (x,))
        for n, x in [
            ("argmax", X),
            ("argmin", X),
            ("all", B),
            ("any", B),
            ("count_nonzero", M),
            ("max", N),
            ("sum", N),
            ("prod", N),
            ("min", N),
            ("mean", X),
            ("std", X),
            ("var", X),
        ]
        for k in ((), (("axis", 0),), (("axis", -1), ("keepdims", True)), (("keepdims", True),))
    },
    **{
        f"{n}({k})": (lambda x, n=n, k=k: getattr(xp, n)(x, **dict(k)), (X,))
        for n in ("argsort", "sort")
        for k in ((), (("axis", 0),), (("descending", True),))
    },
    **{
        n: (getattr(xp, n), (N, M))
        for n in (
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "floor_divide",
            "remainder",
            "pow",
            "less",
            "equal",
        )
    },
    **{
        n: (getattr(xp, n), (X,))
        for n in (
            "ceil",
            "floor",
            "round",
            "trunc",
            "isnan",
            "isinf",
            "isfinite",
            "signbit",
            "sign",
            "positive",
            "negative",
            "square",
        )
    },
    **{
        n: (getattr(xp, n), (X, Y))
        for n in (
            "not_equal",
            "less_equal",
            "greater",
            "greater_equal",
            "nextafter",
            "copysign",
            "maximum",
            "minimum",
            "hypot",
            "atan2",
        )
    },
    **{n: (getattr(xp, n), (B, X < 0)) for n in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": (xp.logical_not, (B,)),
    "bitwise_invert": (xp.bitwise_invert, (N,)),
    "less of unsigned": (lambda n, m: xp.less(xp.astype(n, xp.uint64), m), (N, M)),
    "mixed dtypes": (lambda n, x: n * x + 2 - n / 3, (N, X)),
    "sum of all axes of int8": (lambda n: xp.sum(xp.astype(n, xp.int8)), (N,)),
    "sum without axes": (lambda x: xp.sum(x, axis=()), (X,)),
    "sum of one number": (lambda x: xp.sum(x), (X[:, 0, 0],)),
    "sum with dtype": (lambda n: xp.sum(n, dtype=xp.float32, axis=(0, 1)), (N,)),
    "cumulative_sum of one number": (lambda x: xp.cumulative_sum(x), (X[:, 0, 0],)),
    "cumulative_sum with a start": (lambda x: xp.cumulative_sum(x, axis=1, include_initial=True), (X,)),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x[0]), (X,)),
    "searchsorted": (lambda x, y: xp.searchsorted(xp.sort(x[0]), y), (X, Y)),
    "searchsorted right": (
        lambda x, y: xp.searchsorted(xp.sort(x[0]), y, side="right"),
        (X, np.concatenate([X, Y], 1)),
    ),
    "searchsorted sorter": (lambda x, y: xp.searchsorted(x[0], y, sorter=xp.argsort(x[0])), (X, Y)),
    "searchsorted a number": (lambda x: xp.searchsorted(xp.sort(x[0]), 0.3), (X,)),
    "searchsorted integers": (lambda n: xp.searchsorted(xp.sort(n[0]), xp.asarray([1, 5, 100])), (N,)),
    "isin": (lambda n, m: xp.isin(n, m), (N, M)),
    "isin inverted": (lambda n, m: xp.isin(n, m[0], invert=True), (N, M)),
    "isin a number": (lambda n: xp.isin(n, 5), (N,)),
    "diff": (lambda x, y: xp.diff(x, n=2, prepend=y[:, :1], append=xp.zeros((2, 1))), (X, Y)),
    "repeat": (lambda x: xp.repeat(x, xp.asarray([1, 0, 2, 1]), axis=1), (X,)),
    "repeat flat": (lambda x: xp.repeat(x, 2), (X,)),
    "roll flat": (lambda x: xp.roll(x, 3), (X,)),
    "roll": (lambda x: xp.roll(x, (1, -1), axis=(0, 1)), (X,)),
    "tile": (lambda x: xp.tile(x, (2, 1, 3)), (X,)),
    "tile fewer": (lambda x: xp.tile(x, (2,)), (X,)),
    "concat flat": (lambda x, y: xp.concat([x, y[0], xp.ones(2)], axis=None), (X, Y)),
    "stack": (lambda x, y: xp.stack([x, y, x], axis=-1), (X, Y)),
    "meshgrid": (lambda x, y: xp.meshgrid(x[0], y[:, 0], xp.ones(2)), (X, Y)),
    "meshgrid ij": (lambda x, y: xp.meshgrid(x[0], y[:, 0], indexing="ij"), (X, Y)),
    "reshape": (lambda x: xp.reshape(x, (4, -1)), (X,)),
    "unstack": (lambda x: xp.unstack(x, axis=-1), (X,)),
    "broadcast_arrays": (lambda x, y: xp.broadcast_arrays(x, y[0], xp.ones((2, 1))), (X, Y)),
    "linspace": (lambda x: xp.linspace(x[0, 0], x[1, 2], 5), (X,)),
    "full": (lambda x: xp.full((2, 3), x[0, 1]), (X,)),
    "full_like": (lambda x: xp.full_like(x, 3), (N,)),
    "full_like of a number": (lambda x: xp.full_like(xp.zeros((2, 2)), x[0, 1]), (X,)),
    "zeros_like": (lambda x: xp.zeros_like(x), (N,)),
    "ones_like": (lambda x: xp.ones_like(x, dtype=xp.float32), (N,)),
    "empty_like": (lambda x: xp.empty_like(x) * 0 == 0, (N,)),
    "asarray": (lambda x, y: xp.asarray([[x[0, 0], 1.0], [2.0, y[1, 1]]]), (X, Y)),
    "asarray dtype": (lambda n: xp.asarray(n, dtype=xp.float32), (N,)),
    "astype": (lambda x: xp.astype(x, xp.int32), (X,)),
    "view": (lambda x: x.view(xp.uint8), (X,)),
    "view complex": (lambda x: x.view(xp.complex128), (X,)),
    "tril": (lambda x: xp.tril(x, k=1), (X,)),
    "clip": (lambda x, y: xp.clip(x, y[0], 1.0), (X, Y)),
    "where": (lambda b, x: xp.where(b, x, 0.5), (B, X)),
    "add alpha": (lambda x, y: xp.add(x, y, alpha=x[0, 0]), (X, Y)),
    "take batched": (lambda x, m: xp.take(x, m[0], axis=1), (X, M)),
    "take one of all": (lambda m: xp.take(xp.asarray([5.0, 6.0, 7.0, 8.0]), m[0]), (M,)),
    "take_along_axis": (lambda x, m: xp.take_along_axis(x, m, axis=1), (X, M)),
    # keys
    **{
        f"key {k}": (lambda x, key=key: x[key], (X,))
        for k, key in enumerate(
            [
                0,
                -1,
                slice(None, None, -1),
                (0, 2),
                (..., 1),
                (None, 1),
                (slice(None), None, 1),
                (),
                ...,
                [1, 0],
                (slice(None), [3, 1]),
                ([1, 0], [2, 3]),
                ([[1], [0]], [2, 3]),
                (1, [2, 0]),
                ([0, 1], 2),
                (None, [1, 0]),
                ([1, 0], None, [2, 3]),
                ([1, 0], ..., [2, 3]),
                (slice(None), None, [1, 2]),
                np.asarray([True, False]),
                (slice(None), np.asarray([True, False, True, True])),
                np.asarray([[True, False, True, False]] * 2),
                True,
                (1, slice(1, 3)),
                ([1], slice(None), None),
                (0, None, [1, 2]),
            ]
        )
    },
    "batched key 1": (lambda x, m: x[:, m[0]], (X, M)),
    "batched key 2": (lambda x, m: x[m[0] % 2], (X, M)),
    "batched key 3": (lambda x, m: x[m % 2, m[0]], (X, M)),
    "batched key 4": (lambda x, m: x[:, m], (X, M)),
    "batched key 5": (lambda x, m: x[:, m[0, 0]], (X, M)),
    "batched key 6": (lambda x, m: x[m[0, 0] % 2, 1:], (X, M)),
    "batched key 7": (lambda x, m: x[..., None, m[0]], (X, M)),
    "batched key 8": (lambda x, m: x[m[0] % 2, None, m[1]], (X, M)),
    "batched key 9": (lambda x, m: x[[0, 1, 1, 0], m[1]], (X, M)),
    "batched key 10": (lambda x, m: x[m[0] % 2, :, None], (X, M)),
    "batched key 11": (lambda x, m: x[xp.asarray([True, True]), m[0, :2]], (X, M)),
    "batched key of one array": (lambda m: xp.reshape(xp.arange(24.0), (2, 3, 4))[:, 1, m], (M,)),
    "batched key of one array 2": (lambda m: xp.reshape(xp.arange(24.0), (2, 3, 4))[:, :, m[0]], (M,)),
    "batched key of one array 3": (lambda m: xp.reshape(xp.arange(24.0), (2, 3, 4))[m[0] % 2, :, m[0]], (M,)),
    "batched key of one array 4": (lambda m: xp.arange(24.0)[m[0, 0]], (M,)),
    # functions without rules
    "diag": (lambda x: xp.diag(x[0]) + xp.diag(xp.diag(x[:, :2]), k=-2)[:4, :4], (X,)),
    "pad": (lambda x: xp.pad(x, ((1, 2), (0, 1))), (X,)),
    "logspace": (lambda x: xp.logspace(x[0, 0], x[1, 1], 4), (X,)),
    **{
        f"nan{n}": (lambda x, n=n: getattr(xp, f"nan{n}")(x, axis=1), (GAPS,))
        for n in ("cumprod", "cumsum", "max", "mean", "median", "min", "prod", "std", "sum", "var")
    },
    "divmod": (lambda n: divmod(n, 3), (N,)),
    "iteration": (lambda x: [row * 2 for row in x], (X,)),
    "methods": (lambda x: x.sum(0) + x.T.reshape(-1)[:4].cumsum(), (X,)),
    # linear algebra
    "matmul of vectors": (lambda x, y: x[0] @ y[0], (X, Y)),
    "matmul": (lambda x, y: x @ y.T, (X, Y)),
    "matmul vector matrix": (lambda x, y: x[0] @ y.T, (X, Y)),
    "matmul matrix vector": (lambda x, y: x @ y[0], (X, Y)),
    "matmul of stacks": (lambda x, y: xp.stack([x, x])[:, None] @ y.T, (X, Y)),
    "matmul in place": (lambda a, b: a.__imatmul__(b), (SQUARE, SQUARE + 1)),
    "matmul with integers": (lambda n, m: n @ m.T, (N, M)),
    "solve": (lambda a, b: xp.linalg.solve(a, b), (SQUARE, VECTOR)),
    "solve of stacks": (lambda a, b: xp.linalg.solve(xp.stack([a, a + 1]), b), (SQUARE, VECTOR)),
    "solve matrices": (lambda a, b: xp.linalg.solve(a, xp.stack([b, b, b], axis=1)), (SQUARE, VECTOR)),
    "rank": (lambda a: xp.linalg.matrix_rank(a), (SQUARE,)),
    "rank with a limit": (lambda a, b: xp.linalg.matrix_rank(a, rtol=xp.abs(b[0])), (SQUARE, VECTOR)),
    "norm of one number": (lambda x: xp.linalg.vector_norm(x), (X[:, 0, 0],)),
    "norm": (lambda x: xp.linalg.vector_norm(x, axis=0, ord=3), (X,)),
    "cross": (lambda x, y: xp.linalg.cross(x[:, :3], y[0, :3]), (X, Y)),
    "tensordot 1": (lambda x, y: xp.tensordot(x, y, axes=((1, 0), (1, 0))), (X, Y)),
    "tensordot 2": (lambda x, y: xp.tensordot(x, y, axes=0), (X, Y)),
    "vecdot": (lambda x, y: xp.vecdot(x, y[0]), (X, Y)),
    "outer": (lambda x, y: xp.linalg.outer(x[0], y[1]), (X, Y)),
    "fft of all axes": (lambda x: xp.fft.fftn(x), (X,)),
    "fftshift": (lambda x: xp.fft.fftshift(x), (X,)),
    "rfftn": (lambda x: xp.fft.rfftn(x, s=(2, 6), axes=(0, 1)), (X,)),
}
ROUNDED = (
    "matmul",
    "solve",
    "norm",
    "cross",
    "tensordot",
    "vecdot",
    "outer",
    "fft",
    "rfftn",
    "linspace",
    "logspace",
    "searchsorted",
    "nan",
    "mean",
    "std",
    "var",
)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    call, arrays = CALLS[name]
    exact = not name.startswith(ROUNDED)
    for axes in patterns(len(arrays)):
        for axis in (0, 1):
            # Examples along the first axis in memory, and along another one.
            stored = [
                np.moveaxis(np.moveaxis(a, 0, axis if a.ndim > 1 else 0).copy(), axis if a.ndim > 1 else 0, 0)
                for a in arrays
            ]
            xs = [xp.asarray(a if k == 0 else a[0].copy()) for a, k in zip(stored, axes, strict=False)]
            examples = [
                [xp.asarray((a[i] if k == 0 else a[0]).copy()) for a, k in zip(arrays, axes, strict=False)]
                for i in range(2)
            ]
            if name == "matmul in place" and axes[0] is None:
                with pytest.raises(xp.BatchingError):
                    vmap(call, axes)(*xs)
                continue
            expected = [call(*e) for e in examples]
            compare(vmap(call, axes)(*xs), expected, exact)


ERRORS: list[Callable[[Any], Any]] = [
    lambda x: xp.sum(x, axis=2),
    lambda x: xp.sum(x, axis=-3),
    lambda x: xp.argmax(x, axis=2),
    lambda x: xp.sort(x, axis=-3),
    lambda x: xp.sort(x[0, 0]),
    lambda x: xp.cumulative_sum(x),
    lambda x: xp.concat([x, x], axis=2),
    lambda x: xp.concat([x, x[0]]),
    lambda x: xp.stack([x, x], axis=3),
    lambda x: xp.stack([x, x[0]]),
    lambda x: xp.expand_dims(x, axis=3),
    lambda x: xp.squeeze(x, axis=0),
    lambda x: xp.flip(x, axis=2),
    lambda x: xp.permute_dims(x, (0, 1, 2)),
    lambda x: xp.permute_dims(x, (0, 0)),
    lambda x: xp.reshape(x, (5,)),
    lambda x: xp.broadcast_to(x, (4,)),
    lambda x: xp.broadcast_to(x, (2, 5)),
    lambda x: xp.take(x, xp.asarray([0])),
    lambda x: xp.take(x, xp.asarray([7]), axis=1),
    lambda x: xp.take_along_axis(x, xp.asarray([0]), axis=1),
    lambda x: xp.tril(x[0]),
    lambda x: xp.unstack(x, axis=2),
    lambda x: xp.meshgrid(x),
    lambda x: xp.full((2,), x),
    lambda x: xp.linalg.inv(x[0, :2]),
    lambda x: xp.linalg.inv(x),
    lambda x: xp.linalg.det(x[0, 0]),
    lambda x: xp.linalg.trace(x[0]),
    lambda x: xp.linalg.outer(x, x),
    lambda x: xp.linalg.cross(x, x),
    lambda x: xp.linalg.solve(x[0], x),
    lambda x: xp.matrix_transpose(x[0]),
    lambda x: x[0].T,
    lambda x: x[0].mT,
    lambda x: x @ x,
    lambda x: x @ x[0, 0],
    lambda x: xp.vecdot(x, x[:, :2]),
    lambda x: xp.vecdot(x, x, axis=2),
    lambda x: xp.tensordot(x, x, axes=1),
    lambda x: xp.fft.fft(x, axis=2),
    lambda x: xp.fft.rfftn(x[0, 0]),
    lambda x: x[2],
    lambda x: x[0, 0, 0],
    lambda x: x[..., ...],
    lambda x: x[:, xp.asarray([4])],
    lambda x: x[xp.asarray([[True, False, True]] * 2)],
    lambda x: x["a"],
    lambda x: x + xp.ones(3),
    lambda x: x[0, 0].view(xp.uint8),
    lambda x: len(x[0, 0]),
    lambda x: list(x[0, 0]),
    lambda x: xp.where(x, x, x),
    lambda x: xp.bitwise_and(x, x),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_are_those_of_an_example(number: int) -> None:
    """As many examples as elements along an axis: the axis of the batch is not confused with that axis."""
    call = ERRORS[number]
    for count in (1, 2, 4):
        x = xp.asarray(np.random.default_rng(0).standard_normal((count, 2, 4)))
        with pytest.raises(Exception) as expected:
            call(x[0])
        with pytest.raises(expected.type):
            vmap(call)(x)


# --- writes

WRITES: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
    "a number": (lambda x: x.__setitem__(0, 5.0), (X,)),
    "a batched number": (lambda x, y: x.__setitem__((slice(None), 1), y[0, 0]), (X, Y)),
    "a slice": (lambda x, y: x.__setitem__((slice(None), slice(1, 3)), y[:, :2]), (X, Y)),
    "a broadcast row": (lambda x, y: x.__setitem__((slice(None), slice(0, 2)), y[0, :2]), (X, Y)),
    "the same for all": (lambda x: x.__setitem__((..., slice(1, 3)), xp.asarray([7.0, 8.0])), (X,)),
    "an index array": (lambda x, y: x.__setitem__((slice(None), [2, 0]), y[:, 1:3]), (X, Y)),
    "separated arrays": (
        lambda x, y: x[None].__setitem__(([0, 0], slice(None), [2, 0]), y[:, 1:3].T),
        (X, Y),
    ),
    "an array behind an axis": (
        lambda x, y: x[..., None].__setitem__((slice(None), [2, 0]), y[:, 1:3, None]),
        (X, Y),
    ),
    "batched indices": (lambda x, m, y: x.__setitem__((slice(None), m[0]), y), (X, M, Y)),
    "batched indices in front": (lambda x, m, y: x.__setitem__(m[0] % 2, y[0]), (X, M, Y)),
    "batched points": (lambda x, m, y: x.__setitem__((m % 2, m[0]), y), (X, M, Y)),
    "a batched index": (lambda x, m: x.__setitem__((slice(None), m[0, 0]), xp.asarray([1.0, 2.0])), (X, M)),
    "separated batched": (lambda x, m, y: x[None].__setitem__((m[0] % 1, slice(None), m[1]), y.T), (X, M, Y)),
    "a mask": (lambda x: x.__setitem__(xp.asarray([True, False]), 3.0), (X,)),
    "a batched mask": (lambda x, b: x.__setitem__(b, 3.0), (X, B)),
    "a batched mask of rows": (lambda x, b, y: x.__setitem__((b[:, 0],), y[0, 0]), (X, B, Y)),
    "add": (lambda x, y: x.__iadd__(y[0]), (X, Y)),
    "multiply by a number": (lambda x, y: x.__imul__(y[0, 0]), (X, Y)),
    "other dtype": (lambda x, n: x.__isub__(n), (X, N)),
    "power": (lambda x: x.__ipow__(2), (X,)),
    "of itself": (lambda x: x.__setitem__(slice(None, None, -1), x), (X,)),
    "integers": (lambda n, m: n.__ifloordiv__(m + 1), (N, M)),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    write, arrays = WRITES[name]

    def f(x: Any, *others: Any) -> Any:
        y = xp.asarray(x, copy=True)
        write(y, *others)
        return y

    for axes in patterns(len(arrays)):
        xs = [xp.asarray(a if k == 0 else a[0].copy()) for a, k in zip(arrays, axes, strict=False)]
        if axes[0] is None:
            with pytest.raises(xp.BatchingError):
                vmap(f, axes)(*xs)
            continue
        examples = [
            [xp.asarray((a[i] if k == 0 else a[0]).copy()) for a, k in zip(arrays, axes, strict=False)]
            for i in range(2)
        ]
        compare(vmap(f, axes)(*xs), [f(*e) for e in examples], True)
        given = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
        # These write through a view, or the gradient of one example raises.
        if not given or name in (
            "of itself",
            "separated arrays",
            "an array behind an axis",
            "separated batched",
        ):
            continue

        def pulled(*zs: Any, numbers: Any = tuple(given)) -> Any:
            def g(*moving: Any) -> Any:
                full = list(zs)
                for k, z in zip(numbers, moving, strict=True):
                    full[k] = z
                return f(*full) * xp.asarray([[1.0, 2.0, 3.0, 4.0]])

            _, pull = vjp(g, *[zs[k] for k in numbers])
            return pull(xp.ones((2, 4)))

        compare(vmap(pulled, axes)(*xs), [pulled(*e) for e in examples], False)

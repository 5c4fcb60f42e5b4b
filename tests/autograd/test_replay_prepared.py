"""Prepared steps of `stride0.replay`: the bits of the eager calls, in every layout."""

from __future__ import annotations

from typing import Any

import pytest
from replayed import Function, check, facts, numbers, vector

import stride0 as xp


@pytest.mark.parametrize(
    "f",
    [
        lambda x, h: x + 0.5 * h * x - x / (h + 1) + (h * 2) * 3,
        lambda x, h: xp.stack([x[0], x[1] * h, x[2]]) + xp.stack([x, x], axis=1)[0, 1],
        lambda x, h: xp.concat([x[1:], x[:2] * 2, xp.stack([h * x[0]])]),
        lambda x, h: xp.concat([xp.stack([x, x * h]), xp.stack([x[::-1]])], axis=0) * x,
        lambda x, h: (x[1:3], xp.permute_dims(xp.stack([x, x], axis=-1), (1, 0))[0] * 2, x**2, 2.0**x, x**h),
        lambda x, h: [x + y for y in xp.stack([x, x * h])],
        lambda x, h: (x[:, None] * x[None, :] > h) * xp.exp(-((x[:, None] - x) ** 2)),
        lambda x, h: xp.reshape(xp.stack([x, x]), (5, 2)) * xp.asarray([1.0, 2.0]) + xp.ones((5, 2)),
    ],
)
def test_prepared_steps(f: Function) -> None:
    check(f, vector, lambda seed: 0.5 + seed)
    check(f, lambda seed: numbers(10, seed=seed)[::-2], lambda seed: 0.5 + seed)
    check(
        f,
        lambda seed: xp.astype(vector(seed), xp.float32),
        lambda seed: xp.asarray(seed + 1, dtype=xp.float32),
    )


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2), ()])
@pytest.mark.parametrize("dtype", [xp.float64, xp.float32, xp.int64, xp.int8, xp.bool, xp.complex128])
def test_prepared_reductions(axis: Any, dtype: Any) -> None:
    names = ["sum", "prod", "any", "all", "count_nonzero"]
    names += [] if dtype is xp.complex128 else ["min", "max"]
    names += ["mean"] if dtype in (xp.float64, xp.float32, xp.complex128) else []

    def f(x: Any) -> Any:
        found = [getattr(xp, name)(x, axis=axis, keepdims=keep) for name in names for keep in (False, True)]
        # The results are read by kernels, too.
        return found, [y + y if y.dtype is not xp.bool else ~y for y in found]

    for shape in ((3, 4, 5), (40, 2, 3), (2, 3, 50), (1, 6, 1)):
        base = xp.astype(4 * numbers(*(2 * n for n in shape), seed=1), dtype)
        given = [base, base[::2, ::-2, ::2], xp.permute_dims(base, (2, 0, 1)), base[0][None, :, ::3]]
        for x in (*given, xp.broadcast_to(base[:1], (3, *base.shape[1:]))):
            check(f, lambda seed, x=x: x, calls=2)


@pytest.mark.parametrize("dtype", [xp.float64, xp.float32, xp.int64, xp.complex128])
@pytest.mark.parametrize("n", [1, 2, 4, 7, 16, 33])
def test_prepared_products(n: int, dtype: Any) -> None:
    a, b = (xp.astype(4 * numbers(n, n, seed=k), dtype) for k in range(2))
    wide = xp.astype(4 * numbers(2 * n, 2 * n), dtype)

    def f(a: Any, b: Any) -> Any:
        found = [a @ b, a.T @ b, a @ b.T, a @ b[0], a[:, 0] @ b, a[0] @ b[0], a[:1] @ b, a @ b[:, :1]]
        found += [xp.vecdot(a, b), xp.vecdot(a[0], b[0]), xp.stack([a, b]) @ a, xp.stack([a, b]) @ b[0]]
        return found, [y + y for y in found]

    check(f, lambda seed: a, lambda seed: b)
    check(f, lambda seed: wide[::2, ::2], lambda seed: wide.T[:n, n:])


def test_prepared_copies_and_choices() -> None:
    def f(x: Any, h: Any) -> Any:
        found = [xp.where(x > 0, x, 0.0), xp.where(x > h, h, x), xp.where(x[0] > 0, x, x[::-1])]
        found += [xp.astype(x, xp.float32), xp.astype(x > 0, xp.float64), xp.asarray(x, copy=True), x.copy()]
        return found, [y + y for y in found], h * 2 + 1, x * (h * 0.5 - 3) / (h / 6)

    check(f, vector, lambda seed: 0.5 + seed)
    check(f, lambda seed: numbers(10, seed=seed)[::-2], lambda seed: 0.5 + seed)
    check(f, lambda seed: xp.astype(vector(seed), xp.float32), lambda seed: 0.1 + seed)
    with pytest.raises(ZeroDivisionError):
        replayed = xp.replay(lambda x, h: x * (1.0 / h))
        replayed(vector(0), 2.0)
        replayed(vector(0), 0.0)


def test_equal_steps_run_once() -> None:
    def f(x: Any, h: Any) -> Any:
        a, b = xp.sin(x[0] * (0.5 * h)), xp.sin(x[0] * (0.5 * h))
        return a + b, xp.sum(x) * xp.sum(x), xp.exp(x), xp.exp(x)

    replayed = check(f, vector, lambda seed: 0.1 + seed)
    assert len(replayed.explain().splitlines()) == 1 + 4 + 1 + 2 + 2
    first, second = replayed(vector(0), 0.1)[2:]
    first += 1
    assert facts(second) == facts(xp.exp(vector(0)))

    def writes(x: Any, y: Any) -> Any:
        before = xp.sin(y) * 2
        x += 1
        made = xp.zeros(5)
        twice = made + 1
        made[0] = 1.0
        return before, xp.sin(y) * 2, twice, made + 1, xp.sin(x)

    check(writes, vector, vector)
    replayed, base, plain = xp.replay(writes), numbers(8, seed=3), numbers(8, seed=3)
    for _ in range(3):
        assert facts(replayed(base[1:6], base[2:7])) == facts(writes(plain[1:6], plain[2:7]))

"""The sign and payload of NaNs: unspecified in computed NaNs, kept in copied NaNs.

Note [Same bits] in docs/design/kernels.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp

BITS = {"float32": np.uint32, "float64": np.uint64}
VALUES = (np.nan, -np.nan, 1.5, -2.0, np.inf, -np.inf, 0.0, -0.0)

# Pairs of steps have separate loops.
CHAINS: dict[str, Callable[..., Any]] = {
    "product of a sum": lambda x, y, z: (x + y) * z,
    "sum of a product": lambda x, y, z: x * y + z,
    "sum of three": lambda x, y, z: z + (x + y),
    "quotient of a difference": lambda x, y, z: (x - y) / z,
    "square of a difference": lambda x, y, z: xp.square(x - y) + z,
    "largest": lambda x, y, z: xp.maximum(x * z, y) - z,
    "function": lambda x, y, z: xp.exp(x) * y + xp.sqrt(z),
    "selected": lambda x, y, z: xp.where(x + y > z, x - z, y * z),
}
KEPT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "negative": (xp.negative, np.negative),
    "abs": (xp.abs, np.abs),
    "positive": (xp.positive, np.positive),
    "signbit": (xp.signbit, np.signbit),
    "copysign": (lambda x: xp.copysign(x, -x), lambda a: np.copysign(a, -a)),
    "copysign of a number": (lambda x: xp.copysign(xp.ones_like(x), x), lambda a: np.copysign(1, a)),
    "where": (lambda x: xp.where(x == x, x, -x), lambda a: np.where(a == a, a, -a)),
    "copy": (lambda x: xp.asarray(x, copy=True), np.copy),
    "flip": (xp.flip, np.flip),
    "take": (lambda x: xp.take(x, xp.arange(x.size)[::-1]), np.flip),
    "repeat": (lambda x: xp.repeat(x, 2), lambda a: np.repeat(a, 2)),
    "concat": (lambda x: xp.concat([x, x]), lambda a: np.concatenate([a, a])),
}


def triples(dtype: str) -> list[Any]:
    """Three operands with all combinations of the values, long enough for vectors and remainders."""
    rows = np.array(list(itertools.product(VALUES, repeat=3)) * 6, dtype)
    return [np.ascontiguousarray(column) for column in rows.T]


def without_signs(a: Any) -> bytes:
    a = np.array(a)
    a[np.isnan(a)] = np.nan
    return a.tobytes()


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_nans_of_both_signs(name: str, dtype: str) -> None:
    """NaN in the same places and the same bits elsewhere, in any layout and with any number of threads."""
    operands, chain = [xp.asarray(a) for a in triples(dtype)], CHAINS[name]
    expected = without_signs(chain(*operands))
    with xp.fused(size=1):
        fused = chain(*operands)
        strided = chain(*(xp.repeat(x, 2)[::2] for x in operands))
    assert without_signs(fused) == without_signs(strided) == expected
    one = xp.asarray(-np.nan, dtype=operands[0].dtype)
    eager = chain(operands[0], one, operands[2])
    with xp.fused(size=1):
        fused = chain(operands[0], one, operands[2])
    assert without_signs(fused) == without_signs(eager)


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("name", KEPT)
def test_signs_of_given_nans_are_kept(name: str, dtype: str) -> None:
    function, reference = KEPT[name]
    a = triples(dtype)[0]
    expected = reference(a)
    bits = BITS[dtype] if expected.dtype.kind == "f" else np.uint8
    for x in (xp.asarray(a), xp.repeat(xp.asarray(a), 2)[::2], xp.asarray(a)[:7]):
        with np.errstate(invalid="ignore"):
            want = reference(np.asarray(x)).astype(expected.dtype)
        with xp.fused(size=1):
            fused = function(x)
        for got in (function(x), fused):
            assert np.array_equal(np.array(got).view(bits), want.view(bits))


def test_reductions_of_nans_of_both_signs() -> None:
    x = xp.asarray(np.array([np.nan, -np.nan, 1.0] * 500))
    for reduction in (xp.sum, xp.prod, xp.max, xp.min, xp.mean, xp.std):
        whole, last = reduction(x), reduction(xp.reshape(x, (500, 3)), axis=0)
        assert np.isnan(float(whole)) and np.isnan(np.asarray(last)).tolist() == [True, True, False]

"""Thresholds choose between algorithms with the same result, so other values do not change it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import stride0 as xp
from benchmarks.__main__ import programs
from stride0._core.plan import plan
from stride0._tables.thresholds import THRESHOLDS, Threshold
from stride0.autograd import grad

SUMS = "order of sums"
RNG = np.random.default_rng(5)
MATRIX, ROWS = xp.asarray(RNG.normal(size=(160, 96))), xp.asarray(RNG.normal(size=(700, 40)))
LONG, LANES = xp.asarray(RNG.normal(size=70_001)), xp.asarray(RNG.normal(size=(5, 4099)).astype("float32"))
STACK = xp.asarray(RNG.normal(size=(300, 3, 3)) + 1j * RNG.normal(size=(300, 3, 3)))
INTEGERS = xp.asarray(RNG.integers(-50, 50, size=(90, 70)))
PLACES = xp.asarray(RNG.integers(0, 4000, size=9000))


def scattered(x: xp.Array) -> xp.Array:
    """A sum of many writes through a tracked array."""
    y = xp.zeros(x.shape)
    for k in range(0, 70, 10):
        y[k:] += x[k:] * k
    return xp.sum(y * y)


def results() -> Iterator[xp.Array]:
    yield from (MATRIX.T + ROWS[:96, :1], xp.exp(LONG) * 2, xp.astype(LANES.T, xp.float64), MATRIX.T.copy())
    with xp.fused(size=1):
        yield xp.where(LONG > 0, LONG * LONG, -LONG) + 1
        yield xp.sum(MATRIX * MATRIX[:, :1], axis=0)
    yield from (xp.sum(LONG), xp.sum(ROWS, axis=0), xp.mean(LANES, axis=1), xp.cumulative_sum(LONG))
    yield from (xp.max(ROWS, axis=1), xp.argmax(MATRIX[:8, :8], axis=0), xp.linspace(0, 1, 100_000))
    yield from (xp.sort(LANES, axis=0), xp.argsort(LONG), xp.searchsorted(xp.sort(LONG), LANES[0, :]))
    yield from (
        xp.take(LANES, PLACES[:100], axis=1),
        LONG[LONG > 0.5],
        LONG[PLACES],
        ROWS[PLACES[:50] % 700, :],
    )
    yield from (xp.concat([ROWS[:50, :], ROWS[:3, :]]), xp.repeat(ROWS, 3, axis=0), xp.tile(LANES, (2, 2)))
    yield from (
        MATRIX @ ROWS[:96, :],
        MATRIX @ MATRIX[0, :],
        LANES @ LANES.mT,
        INTEGERS.T @ INTEGERS,
        STACK @ STACK,
    )
    yield from (xp.vecdot(LONG[:9000], LONG[:9000]), xp.einsum("ij,ik->jk", ROWS, ROWS))
    yield from (xp.linalg.qr(ROWS)[1], xp.linalg.solve(MATRIX[:96, :], ROWS[:96, :]), xp.linalg.svdvals(ROWS))
    yield from (
        xp.fft.fft(LANES),
        xp.fft.rfft(LONG[:66_000]),
        xp.fft.fft(LONG[:65_537]),
        xp.fft.ifft(STACK, axis=0),
    )
    yield grad(scattered)(LONG[:100])


def test_the_compiled_modules_know_each_threshold_of_the_table() -> None:
    assert plan.tune() == {threshold.name: threshold.value for threshold in THRESHOLDS}


def test_each_threshold_names_its_benchmark() -> None:
    assert {threshold.benchmark for threshold in THRESHOLDS} <= programs("benchmarks").keys()


def test_an_unknown_threshold_is_refused() -> None:
    before = plan.tune()
    with pytest.raises(TypeError, match=r"no threshold tile_byte; _tables/thresholds\.py lists them"):
        plan.tune(threads_ns=0, tile_byte=1)
    assert plan.tune() == before


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=[threshold.name for threshold in THRESHOLDS])
def test_results_do_not_depend_on_a_threshold(threshold: Threshold) -> None:
    """Bit by bit, or up to rounding if the table says that the order of sums changes."""
    expected = [np.asarray(x) for x in results()]
    for value in (max(threshold.value // 2, 1), 2 * threshold.value):
        before = plan.tune(**{threshold.name: value})
        try:
            found = [np.asarray(x) for x in results()]
        finally:
            plan.tune(**before)
        for k, (x, y) in enumerate(zip(found, expected, strict=True)):
            if SUMS in threshold.meaning:
                tolerance = 1e-4 if x.dtype in ("float32", "complex64") else 1e-10
                np.testing.assert_allclose(
                    np.abs(x), np.abs(y), rtol=tolerance, atol=tolerance, err_msg=str(k)
                )
            else:
                assert x.tobytes() == y.tobytes(), k

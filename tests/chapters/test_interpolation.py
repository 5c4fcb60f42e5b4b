"""`interp`: every layout and dtype, infinite points and values, and gradients at the points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, jvp, vmap
from stride0.testing import check_grad

INF, NAN = math.inf, math.nan
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "Fortran": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "negative": lambda x: np.flip(np.ascontiguousarray(np.flip(x))),
    "sliced": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "stride 0": lambda x: np.broadcast_to(x[:1], x.shape) if x.ndim else x,
    "unaligned": lambda x: np.frombuffer(b"." + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
}
SHAPES = ((), (5,), (3, 2), (0,), (2, 0, 3), (2, 3, 4))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "dtype", ["complex128", "complex64", "float64", "float32", "float16", "int16", "bool"]
)
def test_layouts_and_dtypes(layout: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    others = itertools.cycle(key for key in LAYOUTS if key != "stride 0")
    for shape, of_x, of_points in itertools.product(
        SHAPES, ("float64", "float32", "int64", "bool"), ("float64", "int32")
    ):
        at = LAYOUTS[layout](np.asarray(rng.random(shape) * 4).astype(of_x))
        points = LAYOUTS[next(others)](np.arange(4).astype(of_points))
        values = rng.standard_normal(4) + (1j * rng.standard_normal(4) if dtype.startswith("c") else 0)
        values = LAYOUTS[next(others)](values.astype(dtype))
        for period in (None, 2.5):
            found = xp.interp(*map(xp.asarray, (at, points, values)), period=period)
            wanted = np.interp(at, points, values, period=period)
            assert found.shape == np.shape(wanted)
            single = "float32" in (of_x, of_points) or dtype in ("float32", "complex64", "float16")
            tolerance = 2e-5 if single and found.dtype.name != "float16" else 2e-3 if single else 1e-12
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def test_complex_values_within_vmap() -> None:
    rng = np.random.default_rng(1)
    x = rng.random((4, 3, 2)) * 3
    points, values = np.asarray([0.0, 1.0, 3.0]), np.asarray([1j, 2.0, 3 - 1j])
    given = xp.asarray(points), xp.asarray(values)
    for axis in range(3):
        wanted = np.moveaxis(np.interp(x, points, values), axis, 0)
        found = vmap(lambda x: xp.interp(x, *given), in_axes=axis)(xp.asarray(x))
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-14)
        found = vmap(lambda x: xp.interp(x.T, *given), in_axes=axis)(xp.asarray(x))
        np.testing.assert_allclose(np.asarray(found), wanted.swapaxes(1, 2), rtol=1e-14)
    curves = xp.stack([given[1], 2 * given[1]], axis=1)
    found = vmap(lambda values: xp.interp(xp.asarray(x), given[0], values), in_axes=1)(curves)
    np.testing.assert_allclose(
        np.asarray(found), [np.interp(x, points, k * values) for k in (1, 2)], rtol=1e-14
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_storage_dtypes_are_rounded_once(dtype: str) -> None:
    kind = getattr(xp, dtype)
    x, points = xp.astype(xp.linspace(0, 3, 100), kind), xp.asarray([0.0, 0.7, 1.9, 3.0], dtype=kind)
    values = xp.asarray([1.0, -300.0, 7.1, 0.3], dtype=kind)
    exact = np.interp(*(np.asarray(xp.astype(part, xp.float64)) for part in (x, points, values)))
    found = xp.interp(x, points, values)
    assert found.dtype == kind
    assert bool(xp.all(found == xp.astype(xp.astype(xp.asarray(exact), xp.float32), kind)))


# --- infinite and huge points and values

LARGEST = 1.7e308
EDGES = [
    # x, xp, fp, and the values
    ([-INF, -1.0, 0.0, 1.0, INF], [-INF, 0.0, INF], [1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 2.0, 3.0]),
    ([-INF, -1.0, INF], [-INF, INF], [2.0, 2.0], [2.0, 2.0, 2.0]),
    ([-INF, -1.0, INF], [-INF, INF], [1.0, 2.0], [1.0, NAN, 2.0]),
    ([-INF, 0.0, INF], [-INF, -INF, INF, INF], [1.0, 5.0, 5.0, 3.0], [5.0, 5.0, 3.0]),
    ([0.0, 0.5, 1.0], [0.0, 1.0], [0.0, INF], [0.0, INF, INF]),
    ([0.0, 0.5, 1.0], [0.0, 1.0], [-INF, 0.0], [-INF, -INF, 0.0]),
    ([0.0, 0.5, 1.0], [0.0, 1.0], [-INF, INF], [-INF, NAN, INF]),
    ([0.0, 0.5, 1.0], [0.0, 1.0], [INF, INF], [INF, INF, INF]),
    ([0.0, 0.5, 1.0], [0.0, 1.0], [NAN, 2.0], [NAN, NAN, 2.0]),
    ([0.0, 0.25, 0.5, 1.0], [0.0, 1.0], [-LARGEST, LARGEST], [-LARGEST, -LARGEST / 2, 0.0, LARGEST]),
    ([-LARGEST, 0.0, LARGEST / 2, LARGEST], [-LARGEST, LARGEST], [1.0, 2.0], [1.0, 1.5, 1.75, 2.0]),
    ([0.0, 5e-301, 1e-300], [0.0, 1e-300], [0.0, 1e300], [0.0, 5e299, 1e300]),
    ([0.0, 1.0, 1.5, 2.0], [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0], [0.0, 5.0, 5.5, 6.0]),
    ([-1.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 4.0]),
]


@pytest.mark.parametrize(("at", "points", "values", "wanted"), EDGES)
def test_infinite_and_huge_points(at: Any, points: Any, values: Any, wanted: Any) -> None:
    x, nodes, heights = (xp.asarray(part) for part in (at, points, values))
    plain = xp.interp(x, nodes, heights)
    np.testing.assert_allclose(np.asarray(plain), wanted, rtol=1e-15)
    recorded = []
    grad(lambda values: recorded.append(xp.interp(x, nodes, values)) or xp.sum(values))(heights)
    np.testing.assert_array_equal(np.asarray(recorded[0].tolist()), np.asarray(plain))
    # Each component is independent of the other.
    joined = xp.interp(x, nodes, heights * (1 + 0j) if all(map(math.isfinite, values)) else heights)
    np.testing.assert_allclose(np.asarray(xp.real(joined)), wanted, rtol=1e-15)
    if max(map(abs, filter(math.isfinite, points + values))) < 1e30:
        single = xp.interp(*(xp.asarray(part, dtype=xp.float32) for part in (at, points, values)))
        np.testing.assert_allclose(np.asarray(single), wanted, rtol=1e-6)


# --- gradients

POINTS, VALUES = [0.0, 1.0, 3.0], [1.0, 4.0, -2.0]
SLOPES = [(-1.0, 0.0), (0.0, 3.0), (0.5, 3.0), (1.0, -3.0), (2.0, -3.0), (3.0, -3.0), (3.5, 0.0)]


@pytest.mark.parametrize(("at", "slope"), SLOPES)
def test_slopes_at_points_are_one_sided_within_the_curve(at: float, slope: float) -> None:
    points, values, x = xp.asarray(POINTS), xp.asarray(VALUES), xp.asarray(at)

    def along(x: Any) -> Any:
        return xp.interp(x, points, values)

    step = -1e-6 if at == POINTS[-1] else 1e-6
    difference = (np.interp(at + step, POINTS, VALUES) - np.interp(at, POINTS, VALUES)) / step
    assert slope == pytest.approx(difference, abs=1e-8)
    assert float(grad(along)(x)) == slope
    assert float(jvp(along, (x,), (xp.asarray(1.0),))[1]) == slope
    assert float(vmap(grad(along))(xp.stack([x, x]))[1]) == slope
    assert float(grad(lambda x: along(x) ** 2 / 2)(x)) == slope * float(along(x))
    assert float(grad(grad(lambda x: along(x) ** 2 / 2))(x)) == slope**2
    assert float(grad(lambda x: xp.real(xp.interp(x, points, values + 1j)))(x)) == slope
    # A shift of the points and of x changes nothing.
    by_points = grad(lambda points: xp.interp(x, points, values))(points)
    assert float(xp.sum(by_points)) == -slope
    by_values = grad(lambda values: xp.interp(x, points, values))(values)
    units = np.eye(3)
    assert by_values.tolist() == [float(np.interp(at, POINTS, unit)) for unit in units]


def test_gradients_between_points() -> None:
    x, points, values = xp.asarray([-0.5, 0.3, 1.7, 2.9, 3.2]), xp.asarray(POINTS), xp.asarray(VALUES)
    check_grad(lambda x, p, v: xp.sum(xp.interp(x, p, v) ** 3), x, points, values, order=2)
    check_grad(lambda x, p, v: xp.sum(xp.interp(x, p, v, period=3.5) ** 2), x[1:4], points + 0.1, values)


def test_gradients_beside_infinite_points() -> None:
    """Gradients are finite, and nonzero only for values that the result depends on."""
    points, values = xp.asarray([-INF, 0.0, 1.0, 1.0]), xp.asarray([1.0, 2.0, 3.0, 4.0])
    for at, slope, weights in (
        (-INF, 0.0, [1.0, 0.0, 0.0, 0.0]),
        (-1.0, 0.0, [0.0, 1.0, 0.0, 0.0]),
        (0.0, 1.0, [0.0, 1.0, 0.0, 0.0]),
        (0.5, 1.0, [0.0, 0.5, 0.5, 0.0]),
        (1.0, 0.0, [0.0, 0.0, 0.0, 1.0]),
        (2.0, 0.0, [0.0, 0.0, 0.0, 1.0]),
    ):
        x = xp.asarray(at)
        assert float(grad(lambda x: xp.interp(x, points, values))(x)) == slope
        assert grad(lambda values, x=x: xp.interp(x, points, values))(values).tolist() == weights
        assert bool(xp.all(xp.isfinite(grad(lambda points, x=x: xp.interp(x, points, values))(points))))

"""Forms of `integrate`, `linalg` and `signal` at the edges of their parameters; SciPy is the judge."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad
from stride0.testing import check_grad

pytest.importorskip("scipy", minversion="1.17", reason="the cases are those of SciPy 1.17")
forms = importlib.import_module("stride0.autograd.scipy")
theirs = {
    name: importlib.import_module(f"scipy.{name}")
    for name in ("integrate", "interpolate", "linalg", "signal")
}
theirs["distance"] = importlib.import_module("scipy.spatial.distance")


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def same(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    assert found.shape == np.shape(expected) and found.dtype.name == np.asarray(expected).dtype.name
    assert np.allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True)


# --- simpson


def sample_points(n: int) -> dict[str, Any]:
    """Points in order, out of order, and with equal neighbours at each position."""
    points = {
        "up": np.arange(n) ** 1.5,
        "down": -(np.arange(n) ** 1.5),
        "mixed": normal(n, seed=n),
        "equal": np.ones(n),
    }
    for k in range(n - 1):
        points[f"pair at {k}"] = np.where(np.arange(n) == k + 1, k, np.arange(n)).astype(float)
        points[f"step at {k}"] = np.arange(n) - (np.arange(n) > k) * 1.0
    for k in range(n - 2):
        points[f"back at {k}"] = np.where(np.arange(n) == k + 2, k, np.arange(n)).astype(float)
    return points


@pytest.mark.parametrize("n", range(1, 8))
def test_simpson_of_any_sample_points(n: int) -> None:
    rows = np.stack([normal(n, seed=1), normal(n, seed=2)])
    for x in sample_points(n).values():
        for axis, y in ((1, rows), (0, rows.T.copy())):
            found = forms.integrate.simpson(xp.asarray(y), xp.asarray(x), axis=axis)
            same(found, theirs["integrate"].simpson(y, x, axis=axis))
        both = np.stack([x, 2 * x + 1])
        same(
            forms.integrate.simpson(xp.asarray(rows), xp.asarray(both)),
            theirs["integrate"].simpson(rows, both),
        )
        for k in (0, 1):
            slope = grad(forms.integrate.simpson, argnums=k)(xp.asarray(rows[0]), xp.asarray(x))
            assert np.isfinite(np.asarray(slope)).all()
    for dx in (0.0, -2.0):
        same(forms.integrate.simpson(xp.asarray(rows), dx=dx), theirs["integrate"].simpson(rows, dx=dx))


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_gradients_of_simpson_at_equal_points(n: int) -> None:
    x = np.arange(n) - (np.arange(n) > n // 2) * 1.0
    check_grad(lambda y: forms.integrate.simpson(y, xp.asarray(x)), xp.asarray(normal(n)), order=2)


def test_simpson_of_no_and_of_one_infinite_sample() -> None:
    assert float(forms.integrate.simpson(xp.zeros(0))) == 0.0
    assert float(forms.integrate.simpson(xp.asarray([np.inf]))) == 0.0


def test_simpson_of_points_whose_distances_have_no_product_in_float32() -> None:
    x, y = np.asarray([0.0, 1.0, 3.0, 4.0]), normal(4)
    small = xp.asarray((x * 1e-25).astype(np.float32))
    found = float(forms.integrate.simpson(xp.asarray(y.astype(np.float32)), small))
    assert found == pytest.approx(1e-25 * theirs["integrate"].simpson(y, x), rel=1e-5)


# --- linalg: elements that are not to be read


def _unread(kind: str, n: int, lower: bool) -> Any:
    i, j = np.indices((n, n))
    return {
        "diagonal": i != j,
        "tridiagonal": abs(i - j) > 1,
        "upper triangular": i > j,
        "lower triangular": i < j,
    }.get(kind, i < j if lower else i > j)


KINDS = ["diagonal", "tridiagonal", "upper triangular", "lower triangular", "sym", "her", "pos"]
KINDS += ["symmetric", "hermitian", "positive definite"]


@pytest.mark.parametrize("garbage", [7.5, np.nan, np.inf])
@pytest.mark.parametrize("kind", KINDS)
def test_solve_reads_what_it_assumes(kind: str, garbage: float) -> None:
    for n, lower, transposed, imaginary in itertools.product(
        (2, 3, 5), (False, True), (False, True), (0.0, 1.0)
    ):
        if imaginary and transposed:
            continue  # SciPy has no such function.
        a = normal(n, n) + imaginary * 1j * normal(n, n, seed=1) if imaginary else normal(n, n)
        a = a @ a.conj().T + n * np.eye(n) if kind[0] in "hp" else a + 4 * np.eye(n)
        if imaginary and kind[0] in "hp":
            a = a + 0.5j * np.eye(n)  # not read either
        hidden = _unread(kind, n, lower)
        a[hidden] = garbage
        b = normal(n, 2, seed=2)
        options = {"assume_a": kind, "lower": lower, "transposed": transposed}

        def solved(a: Any, options: Any = options, b: Any = b) -> Any:
            return forms.linalg.solve(a, xp.asarray(b), **options)

        same(solved(xp.asarray(a)), theirs["linalg"].solve(a, b, **options, check_finite=False))
        slope = np.asarray(grad(lambda a, solved=solved: xp.sum(xp.abs(solved(a)) ** 2))(xp.asarray(a)))
        assert np.isfinite(slope).all() and not slope[hidden].any() and slope[~hidden].any()
        if kind[0] in "hp":
            assert not slope.imag.diagonal().any()


@pytest.mark.parametrize("kind", ["diagonal", "tridiagonal"])
def test_gradients_of_solve_with_bands(kind: str) -> None:
    a, b = normal(4, 4) + 4 * np.eye(4), normal(4)
    check_grad(lambda a, b: forms.linalg.solve(a, b, assume_a=kind), xp.asarray(a), xp.asarray(b), order=2)


def test_solve_names_what_may_be_assumed() -> None:
    with pytest.raises(ValueError, match="tridiagonal"):
        forms.linalg.solve(xp.eye(2), xp.ones(2), assume_a="bidiagonal")
    with pytest.raises(xp.linalg.LinAlgError):
        forms.linalg.solve(xp.asarray([[0.0, 1.0], [1.0, 2.0]]), xp.ones(2), assume_a="diagonal")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("imaginary", [0.0, 1.0])
def test_triangles_that_are_not_read(lower: bool, imaginary: float) -> None:
    linalg, n = forms.linalg, 3
    a = normal(n, n) + imaginary * 1j * normal(n, n, seed=1) if imaginary else normal(n, n)
    whole = a @ a.conj().T + np.eye(n)
    hidden = _unread("", n, lower)
    b = normal(n, 2)
    factor = theirs["linalg"].cholesky(whole, lower=lower)
    for matrix in (whole, factor):
        matrix[hidden] = np.nan
    if imaginary:
        whole = whole + 0.5j * np.eye(n)
    functions = {
        "cholesky": (lambda f, x: f(x, lower=lower), whole),
        "eigvalsh": (lambda f, x: f(x, lower=lower), whole),
        "cho_solve": (lambda f, x: f((x, lower), xp.asarray(b)), factor),
        "solve_triangular": (lambda f, x: f(x, xp.asarray(b), lower=lower), factor),
    }
    for name, (call, matrix) in functions.items():

        def f(x: Any, name: str = name, call: Any = call) -> Any:
            return call(getattr(linalg, name), x)

        def original(x: Any, name: str = name) -> Any:
            function = getattr(theirs["linalg"], name)
            if name == "cho_solve":
                return function((x, lower), b, check_finite=False)
            more = (b,) if name == "solve_triangular" else ()
            return function(x, *more, lower=lower, check_finite=False)

        expected = original(matrix)
        if name == "cholesky":
            expected = np.tril(expected) if lower else np.triu(expected)
        same(f(xp.asarray(matrix)), expected)
        slope = np.asarray(grad(lambda x, f=f: xp.sum(xp.abs(f(x)) ** 2))(xp.asarray(matrix)))
        assert np.isfinite(slope).all() and not slope[hidden].any()


@pytest.mark.parametrize("n", [1, 2, 4])
def test_bands_that_reach_beyond_the_matrix(n: int) -> None:
    for lower, upper in itertools.product(range(4), range(4)):
        ab = normal(lower + upper + 1, n)
        ab[upper] += 6
        k, j = np.indices(ab.shape)
        hidden = (j + k - upper < 0) | (j + k - upper >= n)
        ab[hidden] = np.nan
        b = normal(n)

        def f(ab: Any, bands: Any = (lower, upper), b: Any = b) -> Any:
            return forms.linalg.solve_banded(bands, ab, xp.asarray(b))

        same(f(xp.asarray(ab)), theirs["linalg"].solve_banded((lower, upper), ab, b, check_finite=False))
        slope = np.asarray(grad(lambda ab, f=f: xp.sum(f(ab) ** 2))(xp.asarray(ab)))
        assert np.isfinite(slope).all() and not slope[hidden].any()


# --- savgol_filter


@pytest.mark.parametrize("mode", ["interp", "mirror", "constant", "nearest", "wrap"])
@pytest.mark.parametrize("shape", [(1,), (6,), (9,), (0,), (2, 7), (7, 2)])
def test_savgol_filter_of_any_window(mode: str, shape: tuple[int, ...]) -> None:
    x, axis = normal(*shape), shape.index(max(shape))
    for window, order, deriv in itertools.product(range(10), range(4), range(4)):
        options = {"deriv": deriv, "delta": 0.5, "axis": axis, "mode": mode, "cval": 1.5}
        try:
            expected = theirs["signal"].savgol_filter(x, window, order, **options)
        except ValueError:
            with pytest.raises(ValueError):
                forms.signal.savgol_filter(xp.asarray(x), window, order, **options)
        else:
            same(forms.signal.savgol_filter(xp.asarray(x), window, order, **options), expected, 1e-7)


@pytest.mark.parametrize("mode", ["interp", "mirror", "constant", "nearest", "wrap"])
@pytest.mark.parametrize("window", [2, 4, 6])
def test_gradients_of_even_windows(mode: str, window: int) -> None:
    check_grad(lambda x: forms.signal.savgol_filter(x, window, 1, mode=mode), xp.asarray(normal(8)))


def test_savgol_filter_of_float32_and_complex_signals() -> None:
    x = normal(9)
    found = forms.signal.savgol_filter(xp.asarray(x.astype(np.float32)), 4, 2)
    same(found, theirs["signal"].savgol_filter(x.astype(np.float32), 4, 2), 1e-4)
    parts = forms.signal.savgol_filter(xp.asarray(x + 1j * x[::-1]), 4, 2)
    for part, real in ((xp.real(parts), x), (xp.imag(parts), x[::-1])):
        same(part, theirs["signal"].savgol_filter(real, 4, 2))


# --- signals without elements


@pytest.mark.parametrize("name", ["convolve", "correlate", "oaconvolve"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_no_elements(name: str, mode: str) -> None:
    for first, second in [((0,), (0,)), ((0,), (2,)), ((2,), (0,)), ((0, 2), (1, 2)), ((3, 0), (3, 1))]:
        method = () if name == "oaconvolve" else ("direct",)
        try:
            expected = getattr(theirs["signal"], name)(np.zeros(first), np.zeros(second), mode, *method)
        except ValueError:
            with pytest.raises(ValueError, match="no elements"):
                getattr(forms.signal, name)(xp.zeros(first), xp.zeros(second), mode)
        else:
            same(getattr(forms.signal, name)(xp.zeros(first), xp.zeros(second), mode), expected)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_convolutions_of_no_images(name: str) -> None:
    f = getattr(forms.signal, name)
    for shape, mode in itertools.product([(0, 3), (3, 0)], ("full", "same")):
        same(
            f(xp.zeros(shape), xp.ones((2, 2)), mode),
            getattr(theirs["signal"], name)(np.zeros(shape), np.ones((2, 2)), mode),
        )
        for boundary in ("fill", "wrap", "symm"):
            assert f(xp.zeros(shape), xp.ones((2, 2)), "same", boundary).shape == shape
        with pytest.raises(ValueError, match="no elements"):
            f(xp.ones((2, 2)), xp.zeros(shape), mode)


def test_spectra_of_no_elements() -> None:
    for shape in ((0,), (2, 0), (0, 3)):
        x, y = xp.zeros(shape), np.zeros(shape)
        for name, given in {"welch": 1, "periodogram": 1, "csd": 2, "coherence": 2, "stft": 1}.items():
            found = getattr(forms.signal, name)(*[x] * given)
            for one, other in zip(found, getattr(theirs["signal"], name)(*[y] * given), strict=True):
                assert one.shape == other.shape


# --- interpolation and distances


@pytest.mark.parametrize("kind", ["previous", "next", "nearest", "linear", "zero", "cubic"])
@pytest.mark.parametrize("fill", ["extrapolate", (1.0, 2.0), 0.0, np.nan])
def test_interp1d_beyond_the_ends(kind: str, fill: Any) -> None:
    x, y, t = np.arange(5.0), normal(5), np.asarray([-1.0, 0.0, 0.3, 2.5, 4.0, 4.5])
    options = {"kind": kind, "fill_value": fill, "bounds_error": False}
    found = forms.interpolate.interp1d(xp.asarray(x), xp.asarray(y), **options)
    same(found(xp.asarray(t)), theirs["interpolate"].interp1d(x, y, **options)(t))
    slope = grad(
        lambda y: xp.sum(forms.interpolate.interp1d(xp.asarray(x), y, **options)(xp.asarray(t[1:5])))
    )
    assert np.isfinite(np.asarray(slope(xp.asarray(y)))).all()


def test_distances_of_few_vectors() -> None:
    distance = forms.spatial.distance
    few, enough = normal(3, 3), normal(6, 3)
    for name in ("pdist", "cdist"):
        vectors = [enough] * (1 + (name == "cdist"))
        found = getattr(distance, name)(*map(xp.asarray, vectors), "mahalanobis")
        same(found, getattr(theirs["distance"], name)(*vectors, "mahalanobis"))
    for function in (theirs["distance"].pdist, lambda x, metric: distance.pdist(xp.asarray(x), metric)):
        with pytest.raises(ValueError, match="singular"):
            function(few, "mahalanobis")
    empty = distance.cdist(xp.zeros((2, 0)), xp.zeros((3, 0)), "chebyshev")
    same(empty, theirs["distance"].cdist(np.zeros((2, 0)), np.zeros((3, 0)), "chebyshev"))


# --- waveforms and designs


@pytest.mark.parametrize("method", ["linear", "quadratic", "logarithmic", "hyperbolic"])
@pytest.mark.parametrize(
    "ends", [(1.0, 1.0), (2.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (-1.0, 1.0), (-2.0, -1.0)]
)
def test_chirps_of_any_frequencies(method: str, ends: tuple[float, float]) -> None:
    t = np.linspace(0.0, 2.0, 9)
    f0, f1 = ends
    try:
        with np.errstate(all="ignore"):
            expected = theirs["signal"].chirp(t, f0, 3.0, f1, method)
    except ValueError:
        with pytest.raises(ValueError, match="f0"):
            forms.signal.chirp(xp.asarray(t), f0, 3.0, f1, method)
    else:
        same(forms.signal.chirp(xp.asarray(t), f0, 3.0, f1, method), expected)


@pytest.mark.parametrize("method", ["linear", "quadratic", "logarithmic", "hyperbolic"])
def test_chirps_with_a_phase(method: str) -> None:
    """The sign of the phase matters if another phase is added."""
    t = np.linspace(0.0, 2.0, 9)
    for ends in ((1.5, 0.5), (0.5, 1.5)):
        for extra in ({"phi": 30.0}, {"complex": True}, {"phi": -75.0, "complex": True}):
            expected = theirs["signal"].chirp(t, ends[0], 3.0, ends[1], method, **extra)
            same(forms.signal.chirp(xp.asarray(t), ends[0], 3.0, ends[1], method, **extra), expected)


@pytest.mark.parametrize("method", ["linear", "quadratic", "logarithmic", "hyperbolic"])
def test_gradients_of_chirps_at_equal_frequencies(method: str) -> None:
    t = xp.linspace(0.0, 2.0, 9)

    def slope(f0: Any, f1: Any) -> Any:
        return xp.stack(
            grad(lambda *f: xp.sum(forms.signal.chirp(t, f[0], 3.0, f[1], method)), argnums=(0, 1))(f0, f1)
        )

    level = xp.asarray(1.3)
    near = [xp.asarray(1.3 + d) for d in (-1e-3, 1e-3)]
    expected = (np.asarray(slope(level, near[0])) + np.asarray(slope(level, near[1]))) / 2
    assert np.allclose(np.asarray(slope(level, level)), expected, rtol=2e-4)
    bend = grad(lambda f1: slope(level, f1)[1])(level)
    expected = (np.asarray(slope(level, near[1])) - np.asarray(slope(level, near[0])))[1] / 2e-3
    assert np.allclose(float(bend), expected, rtol=2e-4)


@pytest.mark.parametrize("name", ["butter", "bessel", "cheby1", "cheby2", "ellip"])
def test_filters_of_order_one(name: str) -> None:
    ripples = {"cheby1": (1.0,), "cheby2": (20.0,), "ellip": (1.0, 20.0)}.get(name, ())
    for btype, frequencies in (
        ("low", 0.3),
        ("high", 0.3),
        ("bandpass", [0.2, 0.5]),
        ("bandstop", [0.2, 0.5]),
    ):
        found = getattr(forms.signal, name)(1, *ripples, xp.asarray(frequencies), btype)
        for one, other in zip(
            found, getattr(theirs["signal"], name)(1, *ripples, frequencies, btype), strict=True
        ):
            same(one, other, 1e-6)

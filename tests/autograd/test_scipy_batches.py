"""Forms of SciPy's functions within `vmap`, and their Jacobians as one pass; against loops over examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0 import BatchingError
from stride0.autograd import grad, hessian, jacobian, vmap
from stride0.autograd import scipy as forms

pytest.importorskip("scipy")

signal, ndimage, linalg, fft = forms.signal, forms.ndimage, forms.linalg, forms.fft
Form = Callable[[Any], Any]

W = xp.asarray([0.5, -1.0, 0.25])
A = xp.asarray([1.0, -0.4, 0.1])
W2 = xp.asarray([[0.5, -1.0, 0.2], [0.1, 0.7, -0.3]])
SOS = xp.asarray([[0.2, 0.3, 0.1, 1.0, -0.5, 0.2], [1.0, 0.4, 0.0, 1.0, 0.1, 0.0]])
MATRIX = xp.asarray([[3.0, 0.5, 0.0], [0.2, 2.0, 0.3], [0.0, 0.1, 4.0]])
GROUPS = xp.asarray([0, 1, 1, 2, 0, 2, 2, 1, 0, 0, 1, 2])

# Calls for an example of shape (12,), and of shape (4, 6).
ONE: dict[str, Form] = {
    "convolve": lambda x: signal.convolve(x, W),
    "convolve in the filter": lambda x: signal.convolve(W, x, mode="same"),
    "correlate": lambda x: signal.correlate(x, W, mode="valid"),
    "convolve of two": lambda x: signal.convolve(x[:7], x[7:]),
    "correlate of two": lambda x: signal.correlate(x[:8], x[8:], mode="valid"),
    "lfilter": lambda x: signal.lfilter(W, A, x),
    "filtfilt": lambda x: signal.filtfilt(W, A, x, padlen=3),
    "sosfilt": lambda x: signal.sosfilt(SOS, x),
    "savgol_filter": lambda x: signal.savgol_filter(x, 5, 2),
    "upfirdn": lambda x: signal.upfirdn(W, x, 2, 3),
    "resample_poly": lambda x: signal.resample_poly(x, 3, 2),
    "detrend": lambda x: signal.detrend(x),
    "czt": lambda x: xp.abs(signal.czt(x, 7)) ** 2,
    "welch": lambda x: signal.welch(x, nperseg=6)[1],
    "dct": lambda x: fft.dct(x, 2),
    "idst": lambda x: fft.idst(x, 3, norm="ortho"),
    "gaussian_filter": lambda x: ndimage.gaussian_filter(x, 1.0),
    "spline_filter1d": lambda x: ndimage.spline_filter1d(x),
    "sum_labels": lambda x: ndimage.sum_labels(x, GROUPS, [0, 1, 2]),
    "CubicSpline": lambda x: forms.interpolate.CubicSpline(xp.arange(12.0), x)(xp.asarray([0.3, 5.5, 9.1])),
    "simpson": lambda x: forms.integrate.simpson(x, dx=0.5),
    "solve_banded": lambda x: linalg.solve_banded((1, 1), xp.stack([0.3 * W, 3 + W, W * 0.1]), x[:3]),
    "solve_triangular": lambda x: linalg.solve_triangular(MATRIX, x[:3]),
    "solve_sylvester": lambda x: linalg.solve_sylvester(MATRIX, MATRIX, xp.reshape(x[:9], (3, 3))),
}
TWO: dict[str, Form] = {
    "convolve2d": lambda x: signal.convolve2d(x, W2),
    "lfilter along the first axis": lambda x: signal.lfilter(W, A, x, axis=0),
    "dctn": lambda x: fft.dctn(x, axes=(0, 1)),
    "convolve of an image": lambda x: ndimage.convolve(x, W2, mode="wrap"),
    "uniform_filter": lambda x: ndimage.uniform_filter(x, 3),
    "zoom": lambda x: ndimage.zoom(x, 2),
    "map_coordinates": lambda x: ndimage.map_coordinates(x, xp.asarray([[0.5, 2.2], [1.1, 4.3]])),
    "convolve of two images": lambda x: signal.convolve(x, x[:2, :3], mode="valid"),
}
CASES = [(name, form, (12,)) for name, form in ONE.items()] + [
    (name, form, (4, 6)) for name, form in TWO.items()
]


def examples(shape: tuple[int, ...], count: int = 3) -> Any:
    return xp.asarray(np.random.default_rng(7).normal(size=(count, *shape)))


def close(found: Any, expected: Any, rtol: float = 1e-10) -> None:
    expected = np.asarray(expected)
    scale = max(1e-3, float(np.abs(expected).max())) if expected.size else 1.0
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=1e-13 * scale)


def loop(f: Form, x: Any) -> Any:
    return xp.stack([f(x[k]) for k in range(x.shape[0])])


@pytest.mark.parametrize(("name", "form", "shape"), CASES, ids=[case[0] for case in CASES])
def test_examples_are_those_of_a_loop(name: str, form: Form, shape: tuple[int, ...]) -> None:
    x = examples(shape)

    def loss(x: Any) -> Any:
        return xp.sum(xp.sin(form(x)) * form(x))

    close(vmap(form)(x), loop(form, x))
    close(vmap(grad(loss))(x), loop(grad(loss), x))
    close(grad(lambda x: xp.sum(vmap(loss)(x)))(x), loop(grad(loss), x))
    close(vmap(vmap(form))(x[None]), loop(form, x)[None])


@pytest.mark.parametrize(("name", "form", "shape"), CASES, ids=[case[0] for case in CASES])
def test_jacobians_are_one_pass(
    name: str, form: Form, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fallback, a pass per row for functions that cannot be batched."""
    import stride0.autograd._matrices as matrices

    x = examples(shape)[0]
    y = form(x)
    rows = [grad(lambda x, k=k: xp.reshape(form(x), (-1,))[k])(x) for k in range(y.size)]
    expected = xp.reshape(xp.stack(rows), (*y.shape, *x.shape))
    monkeypatch.setattr(matrices, "stack", None)
    close(jacobian(form)(x), expected)


def test_hessian_through_a_filter() -> None:
    x = examples((12,))[0]
    matrix = jacobian(lambda x: signal.lfilter(W, A, x))(x)
    found = hessian(lambda x: 0.5 * xp.sum(signal.lfilter(W, A, x) ** 2))(x)
    close(found, np.asarray(matrix).T @ np.asarray(matrix))


@pytest.mark.parametrize("dtype", [xp.float32, xp.complex128, xp.complex64])
def test_convolutions_keep_their_dtype(dtype: Any) -> None:
    x, w = xp.astype(examples((9,)), dtype), xp.astype(examples((4,)), dtype)
    if dtype is not xp.float32:
        w = w * xp.asarray(1 + 0.5j, dtype=dtype)
    for mode in ("full", "same", "valid"):
        for function in (signal.convolve, signal.correlate):
            found = vmap(lambda x, w, f=function, m=mode: f(x, w, mode=m))(x, w)
            assert found.dtype == dtype
            expected = xp.stack([function(x[k], w[k], mode=mode) for k in range(3)])
            tolerance = 1e-5 if dtype in (xp.float32, xp.complex64) else 1e-12
            np.testing.assert_allclose(
                np.asarray(found), np.asarray(expected), rtol=tolerance, atol=tolerance
            )


def test_what_scipy_does_not_batch() -> None:
    w, x = examples((3,)), examples((12,))
    with pytest.raises(BatchingError, match="_filtered: b is batched, and SciPy cannot take"):
        vmap(lambda b: signal.lfilter(b, A, x[0]))(w)


# --- functions of matrices

OF_MATRICES = ("sqrtm", "logm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")


def matrices(count: int) -> Any:
    noise = np.random.default_rng(3).normal(size=(count, 3, 3))
    return 0.3 * xp.asarray(noise) + 0.5 * MATRIX


@pytest.mark.parametrize("name", OF_MATRICES)
def test_functions_of_matrices(name: str) -> None:
    form, x = getattr(linalg, name), matrices(4)

    def loss(a: Any) -> Any:
        return xp.sum(xp.sin(form(a)))

    close(vmap(form)(x), loop(form, x))
    nested = vmap(vmap(form))(xp.reshape(x, (2, 2, 3, 3)))
    close(xp.reshape(nested, (4, 3, 3)), loop(form, x))
    expected = loop(grad(loss), x)
    close(vmap(grad(loss))(x), expected)
    close(grad(lambda x: xp.sum(vmap(loss)(x)))(x), expected)
    # The independent judge: differences of SciPy's function.
    h = 1e-5
    rows = [loss(x[0] + h * unit) - loss(x[0] - h * unit) for unit in xp.reshape(xp.eye(9), (9, 3, 3))]
    close(expected[0], xp.reshape(xp.stack(rows), (3, 3)) / (2 * h), rtol=1e-6)
    for function in (form, grad(loss)):
        assert vmap(function)(x[:0]).shape == (0, 3, 3)


@pytest.mark.parametrize("name", OF_MATRICES)
def test_second_derivatives_of_functions_of_matrices(name: str) -> None:
    form, x = getattr(linalg, name), matrices(1)[0, :2, :2]
    first = jacobian(form)
    found = jacobian(first)(x)
    h = 1e-5
    units = xp.reshape(xp.eye(4), (4, 2, 2))
    columns = [(first(x + h * unit) - first(x - h * unit)) / (2 * h) for unit in units]
    np.testing.assert_allclose(
        np.asarray(xp.reshape(found, (2, 2, 2, 2, 4))), np.asarray(xp.stack(columns, axis=-1)), atol=1e-8
    )


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_a_stack_of_which_one_result_is_complex(name: str) -> None:
    form, x = getattr(linalg, name), matrices(3)
    x[1] = -MATRIX
    assert form(x[0]).dtype == xp.float64
    assert form(x[1]).dtype == xp.complex128
    found = vmap(form)(x)
    assert found.dtype == xp.complex128
    close(found, loop(lambda a: xp.astype(form(a), xp.complex128), x))

    def loss(a: Any) -> Any:
        return xp.sum(xp.real(form(a)) ** 2 + 0.5 * xp.real(xp.conj(form(a)) * form(a)))

    expected = loop(grad(loss), x)
    assert expected.dtype == xp.float64
    close(vmap(grad(loss))(x), expected)
    close(grad(lambda x: xp.sum(vmap(loss)(x)))(x), expected)
    if name == "sqrtm":
        # SciPy warns of logarithms in single precision.
        assert form(xp.astype(x[1], xp.float32)).dtype == xp.complex64


def test_equations_of_nested_batches() -> None:
    rng = np.random.default_rng(5)
    solve, b = linalg.solve_sylvester, MATRIX
    a = xp.asarray(rng.normal(size=(2, 2, 3, 3))) + 2 * MATRIX
    q = xp.asarray(rng.normal(size=(2, 3, 3)))

    def both(a: Any) -> Any:
        return vmap(lambda a, q: solve(a, b, q))(a, q)

    expected = xp.stack([xp.stack([solve(a[i, j], b, q[j]) for j in range(2)]) for i in range(2)])
    close(vmap(both)(a), expected)
    rows = [grad(lambda a, j=j: xp.sum(solve(a, b, q[j]) ** 2)) for j in range(2)]
    wanted = xp.stack([xp.stack([rows[j](a[i, j]) for j in range(2)]) for i in range(2)])
    close(grad(lambda a: xp.sum(vmap(both)(a) ** 2))(a), wanted)
    close(vmap(grad(lambda a: xp.sum(both(a) ** 2)))(a), wanted)

    x, y = a[0], q
    found = vmap(lambda x: vmap(lambda y: solve(x, b, y))(y))(x)
    assert found.shape == (2, 2, 3, 3)
    close(found, xp.stack([xp.stack([solve(x[i], b, y[j]) for j in range(2)]) for i in range(2)]))
    for k in range(4):
        left, right = np.asarray(found[k // 2, k % 2]), np.asarray(x[k // 2])
        close(right @ left + left @ np.asarray(b), y[k % 2])
    assert vmap(lambda y: solve(x[0], b, y))(y[:0]).shape == (0, 3, 3)
    # Operands of only the outer batch, of only the inner batch, and of no batch.
    swapped = vmap(lambda b: vmap(lambda y: solve(x[0], b, y))(y))(x)
    close(swapped, xp.stack([xp.stack([solve(x[0], x[i], y[j]) for j in range(2)]) for i in range(2)]))


# --- convolutions in which both operands are batched


@pytest.mark.parametrize("method", ["auto", "direct"])
def test_direct_convolutions_are_direct(method: str) -> None:
    x = xp.asarray([[1e16, 1.0, 1.0], [1.0, 1.0, 1.0]])
    w = xp.ones((2, 2))
    found = vmap(lambda x, w: signal.convolve(x, w, method=method))(x, w)
    np.testing.assert_array_equal(np.asarray(found), [[1e16, 1e16, 2, 1], [1, 2, 2, 1]])
    found = vmap(lambda x, w: signal.correlate(x, w, mode="valid", method=method))(x, w)
    np.testing.assert_array_equal(np.asarray(found), [[1e16, 2], [2, 2]])
    slopes = vmap(grad(lambda w, x: signal.convolve(x, w, method=method)[3]))(w, x)
    np.testing.assert_array_equal(np.asarray(slopes), [[0, 1], [0, 1]])
    x[0, 0] = float("nan")
    found = vmap(lambda x, w: signal.convolve(x, w, method=method))(x, w)
    np.testing.assert_array_equal(np.asarray(found), [[np.nan, np.nan, 2, 1], [1, 2, 2, 1]])


@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
@pytest.mark.parametrize("sizes", [((9,), (4,)), ((3,), (8,)), ((4, 5), (2, 3)), ((3, 2), (4, 6))])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_two_batches(method: str, sizes: Any, mode: str) -> None:
    x, w = examples(sizes[0]), examples(sizes[1]) + 0.1

    def form(x: Any, w: Any) -> Any:
        return signal.convolve(x, w, mode=mode, method=method)

    def loss(x: Any, w: Any) -> Any:
        return xp.sum(xp.sin(form(x, w)))

    def rows(f: Any) -> Any:
        return xp.stack([f(x[k], w[k]) for k in range(3)])

    close(vmap(form)(x, w), rows(form))
    close(vmap(vmap(form), in_axes=(None, 0))(x, w[None])[0], rows(form))
    for n in (0, 1):
        close(vmap(grad(loss, n))(x, w), rows(grad(loss, n)))
        close(grad(lambda x, w: xp.sum(vmap(loss)(x, w)), n)(x, w), rows(grad(loss, n)))
    mixed = jacobian(grad(lambda x, w: xp.sum(vmap(loss)(x, w)), 0), 1)(x, w)
    found = np.asarray(mixed)[1, ..., 1, :] if x.ndim == 2 else np.asarray(mixed)[1, ..., 1, :, :]
    close(found, jacobian(grad(loss), 1)(x[1], w[1]))


@pytest.mark.filterwarnings("ignore:Use of fft convolution:RuntimeWarning")
def test_the_choice_of_scipy_is_that_of_one_example() -> None:
    """A long convolution uses Fourier transforms: one NaN spreads to all results."""
    x, w = xp.ones((2, 4000)), xp.ones((2, 3000))
    x[0, 0] = float("nan")
    found = np.asarray(vmap(signal.convolve)(x, w))
    expected = np.asarray(signal.convolve(x[0], w[0]))
    assert np.isnan(expected).all()
    assert np.isnan(found[0]).all()
    assert not np.isnan(found[1]).any()
    direct = np.asarray(vmap(lambda x, w: signal.convolve(x, w, method="direct"))(x, w))
    np.testing.assert_array_equal(np.isnan(direct[0]), np.arange(6999) < 3000)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("count", "n", "k"), [(64, 300, 40), (3, 5000, 500), (500, 64, 9), (2, 60000, 6000)])
def test_auto_chooses_by_the_example(count: int, n: int, k: int, mode: str) -> None:
    """Sums of products of integers are exact, transforms are not, so the result shows the chosen method."""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-9, 9, shape).astype(float) for shape in ((count, n), (k,)))
    loop = np.stack([np.asarray(signal.convolve(xp.asarray(each), xp.asarray(w), mode)) for each in x])
    exact = bool(np.all(loop == np.round(loop)))
    orders = (
        lambda a: signal.convolve(a, xp.asarray(w), mode),
        lambda a: signal.convolve(xp.asarray(w), a, mode),
    )
    for f in orders:
        found = np.asarray(vmap(f)(xp.asarray(x)))
        assert bool(np.all(found == np.round(found))) is exact
    found = np.asarray(vmap(lambda a: signal.convolve(a, xp.asarray(w), mode))(xp.asarray(x)))
    np.testing.assert_allclose(found, loop, rtol=0, atol=1e-8)

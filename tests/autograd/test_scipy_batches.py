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

# Of an example of shape (12,), and of (4, 6).
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
    """Without the pass for each row that stands in where a function cannot be batched."""
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
    with pytest.raises(BatchingError, match=r"_filtered: b is batched: SciPy computes no such function"):
        vmap(lambda b: signal.lfilter(b, A, x[0]))(w)
    with pytest.raises(BatchingError):
        vmap(linalg.sqrtm)(xp.stack([MATRIX, MATRIX]))
    # Its Jacobian asks for no values of a batch.
    close(jacobian(linalg.sqrtm)(MATRIX), jacobian(lambda a: linalg.sqrtm(a * 1.0))(MATRIX))

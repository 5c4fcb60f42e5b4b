"""`stride0.autograd.scipy`: SciPy's values, right gradients to second order, exact adjoints, clear errors."""

from __future__ import annotations

import importlib
import operator
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from gradient_cases_scipy_forms import CASES as FORMS
from gradient_cases_scipy_forms import Case, normal
from gradient_cases_scipy_images import CASES as IMAGES
from gradient_cases_scipy_numerics import CASES as NUMERICS
from helpers import quietly

import stride0 as xp
from stride0.autograd import grad, jvp, vjp
from stride0.testing import check_grad

pytest.importorskip("scipy", minversion="1.17", reason="the cases are those of SciPy 1.17")
importlib.import_module("stride0.autograd.scipy")

CASES = [*FORMS, *IMAGES, *NUMERICS]
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def mine(case: Case) -> Any:
    function = operator.attrgetter(f"{case.module}.{case.name}")(xp.autograd.scipy)
    if case.mine is None:
        return lambda *xs: function(*xs, **case.options)
    made = case.mine
    return lambda *xs: made(function, *xs, **case.options)


def theirs(case: Case) -> Any:
    part, _, rest = case.module.partition(".")
    if part != "stats":  # whose parts are objects
        importlib.import_module(f"scipy.{case.module}")
    module = importlib.import_module(f"scipy.{part}")
    function = operator.attrgetter(f"{rest}.{case.name}" if rest else case.name)(module)
    if case.theirs is None:
        return lambda *xs: function(*xs, **case.options)
    made = case.theirs
    return lambda *xs: made(function, *xs, **case.options)


def arrays(case: Case) -> list[Any]:
    return [xp.asarray(a, copy=True) for a in case.arrays]


@each
def test_values_are_scipys(case: Case) -> None:
    found, expected = mine(case)(*arrays(case)), quietly(theirs(case), *(a.copy() for a in case.arrays))
    pairs = zip(found, expected, strict=True) if isinstance(found, (list, tuple)) else [(found, expected)]
    for x, y in pairs:
        assert isinstance(x, xp.Array)
        assert x.shape == np.shape(y)
        assert x.dtype.name == np.asarray(y).dtype.name
        assert np.allclose(np.asarray(x), y, rtol=1e-9, atol=1e-11)


@each
def test_gradients(case: Case) -> None:
    check_grad(mine(case), *arrays(case), order=case.derivatives, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", [c for c in CASES if c.linear], ids=lambda case: case.id)
def test_the_adjoint_is_exact(case: Case) -> None:
    """``<A x, y> == <x, A^T y>`` up to rounding, and the same for the adjoint as a function of y."""
    given = arrays(case)
    for k in case.linear:

        def f(x: Any, k: int = k) -> Any:
            return mine(case)(*given[:k], x, *given[k + 1 :])

        # The contribution of a constant beyond the ends.
        constant = f(xp.zeros_like(given[k]))
        y, pullback = vjp(f, given[k])
        rng = np.random.default_rng(0)
        v = rng.standard_normal(y.shape) + (
            1j * rng.standard_normal(y.shape) if "complex" in y.dtype.name else 0
        )
        (back,) = pullback(xp.asarray(v))
        left = np.sum(np.real(np.conj(v) * np.asarray(y - constant)))
        right = np.sum(np.real(np.conj(np.asarray(back)) * case.arrays[k]))
        size = np.sum(np.abs(np.conj(v) * np.asarray(y - constant))) + 1e-3
        assert abs(left - right) <= 1e-11 * size, (k, left, right)
        # The derivative of the pullback is the map itself.
        _, forward = jvp(f, [given[k]], [given[k]])
        assert np.allclose(np.asarray(forward), np.asarray(y - constant), rtol=1e-9, atol=1e-9)


def test_states_of_filters() -> None:
    from scipy import signal as theirs_of

    from stride0.autograd.scipy import signal

    b, a, x = np.asarray([0.4, 0.3, -0.2, 0.1]), np.asarray([1.4, -0.5]), normal(2, 9)
    for n in (1, 2, 9):
        zi = normal(2, 3, seed=4)
        pairs = zip(
            signal.lfilter(*map(xp.asarray, (b, a, x[:, :n])), zi=xp.asarray(zi)),
            theirs_of.lfilter(b, a, x[:, :n], zi=zi),
            strict=True,
        )
        for found, expected in pairs:
            assert np.allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-13)
        check_grad(
            lambda b, a, x, z: signal.lfilter(b, a, x, zi=z), *map(xp.asarray, (b, a, x[:, :n], zi)), order=2
        )
    sos = np.asarray([[0.2, 0.1, 0.3, 1.0, 0.2, 0.1], [0.4, 0.3, 0.0, 1.0, -0.3, 0.0]])
    zi = normal(2, 2, 2, seed=5)
    found = signal.sosfilt(*map(xp.asarray, (sos, x)), zi=xp.asarray(zi))
    for mine_of, expected in zip(found, theirs_of.sosfilt(sos, x, zi=zi), strict=True):
        assert np.allclose(np.asarray(mine_of), expected, rtol=1e-12, atol=1e-13)
    check_grad(lambda x, z: signal.sosfilt(xp.asarray(sos), x, zi=z), *map(xp.asarray, (x, zi)), order=2)


def test_single_precision_stays() -> None:
    from stride0.autograd.scipy import fft, ndimage, signal

    x = xp.asarray(normal(4, 9), dtype=xp.float32)
    for f in (
        lambda x: ndimage.gaussian_filter(x, 1.0),
        lambda x: ndimage.zoom(x, 1.5),
        lambda x: signal.savgol_filter(x, 5, 2),
        lambda x: signal.resample_poly(x, 2, 3),
        lambda x: signal.detrend(x),
        lambda x: fft.dct(x),
        lambda x: ndimage.map_coordinates(x, xp.asarray([[0.5], [2.5]])),
    ):
        assert f(x).dtype == xp.float32
        assert grad(lambda x, f=f: xp.sum(f(x)))(x).dtype == xp.float32


@pytest.mark.parametrize(
    ("module", "call", "words"),
    [
        ("signal", lambda m, x: m.filtfilt([1.0], [1.0], x, method="gust"), "method is 'gust'"),
        ("signal", lambda m, x: m.convolve(x, x, mode="some"), "mode is 'some'"),
        ("signal", lambda m, x: m.convolve(x, x[0, :]), "same number of axes"),
        ("signal", lambda m, x: m.upfirdn([1.0], x, mode="wrap"), "mode is 'wrap'"),
        ("signal", lambda m, x: m.resample_poly(x, 2, 1, padtype="line"), "padtype is 'line'"),
        ("signal", lambda m, x: m.lfilter([1.0], [0.0, 1.0], x), r"a\[0\] is zero"),
        ("signal", lambda m, x: m.lfilter([1.0, 2.0], [1.0], x, zi=x), "zi has shape"),
        ("signal", lambda m, x: m.sosfilt(x, x), "sos has shape"),
        ("signal", lambda m, x: m.filtfilt([1.0], [1.0, -1.0], x, padlen=0), "pole at 1"),
        ("signal", lambda m, x: m.savgol_filter(x, 21, 2), "window_length"),
        ("signal", lambda m, x: m.detrend(x, type="cubic"), "type is 'cubic'"),
        (
            "ndimage",
            lambda m, x: m.gaussian_filter(x, 1.0, output=x[0, :]),
            "output and the result have different shapes",
        ),
        ("ndimage", lambda m, x: m.gaussian_filter(x, 1.0, output="text"), "output is 'text'"),
        ("ndimage", lambda m, x: m.gaussian_filter(x, 1.0, mode="none"), "mode is 'none'"),
        ("ndimage", lambda m, x: m.correlate(x, [1.0]), "weights has 1 axes"),
        ("ndimage", lambda m, x: m.correlate1d(x, [1.0], origin=3), "origin lies outside"),
        ("ndimage", lambda m, x: m.map_coordinates(x, x), "coordinates has shape"),
        ("ndimage", lambda m, x: m.map_coordinates(x, x[:2, :], mode="wrap"), "mode is 'wrap'"),
        ("ndimage", lambda m, x: m.zoom(x, 2.0, order=7), "order is 7"),
        ("fft", lambda m, x: m.dct(x, type=5), "type is 5"),
        ("fft", lambda m, x: m.dst(x, norm="some"), "norm is 'some'"),
        ("interpolate", lambda m, x: m.CubicSpline(x[0, :], x[0, :]), "x is not increasing"),
        (
            "interpolate",
            lambda m, x: m.CubicSpline(xp.arange(4.0), x[0, :], bc_type="periodic"),
            "'periodic'",
        ),
        (
            "interpolate",
            lambda m, x: m.interpn((xp.arange(4.0),), x[0, :], x[:1, :1] + 9),
            "outside the grid",
        ),
        ("interpolate", lambda m, x: m.interpn((xp.arange(4.0),), x[0, :], x, method="pchip"), "method is"),
        ("linalg", lambda m, x: m.sqrtm(x[:2, :]), "a has shape"),
        ("linalg", lambda m, x: m.solve_triangular(x, x[0, :], trans="X"), "trans is 'X'"),
        ("linalg", lambda m, x: m.solve_banded((1, 0), x, x), "shapes do not fit"),
        ("integrate", lambda m, x: m.simpson(x, x[0, :2]), "x has shape"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_supported_is_said(module: str, call: Any, words: str) -> None:
    with pytest.raises(xp.Stride0Error, match=words):
        call(importlib.import_module(f"stride0.autograd.scipy.{module}"), xp.asarray(normal(4, 4)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, x: m.shift(x, 1.0, None, 3, "mirror", 0.0, True, 1), "at most 7 positional arguments"),
        (lambda m, x: m.shift(x, 1.0, sort=3), "unexpected keyword argument 'sort'"),
        (lambda m, x: m.shift(x, 1.0, None, 3, order=3), "multiple values for keyword argument 'order'"),
        (lambda m, x: m.shift(x), "missing 1 required positional argument: 'shift'"),
        (lambda m, x: m.maximum_filter(x, 3, None, None, "mirror", 0.0, 0, 1), "at most 7 positional"),
    ],
)
def test_wrong_arguments_of_declared_options(call: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call(xp.autograd.scipy.ndimage, xp.asarray(normal(4, 4)))


def test_declared_options_by_position() -> None:
    x, m = xp.asarray(normal(4, 4)), xp.autograd.scipy.ndimage
    found = xp.empty((4, 4))
    assert m.shift(x, 1.5, found, 1, "mirror") is found
    assert xp.all(found == m.shift(x, 1.5, order=1, mode="mirror"))
    widest = m.generic_filter(x, lambda w: xp.max(w), 3, None, None, "constant", 9.0, 0, (), {}, axes=0)
    assert xp.all(widest == m.maximum_filter(x, 3, mode="constant", cval=9.0, axes=0))


def test_scipy_is_not_needed_until_it_is_called() -> None:
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "import stride0 as xp\n"
        "from stride0.autograd.scipy import signal, integrate\n"
        "assert float(integrate.simpson(xp.ones(5))) == 4\n"
        "try: signal.detrend(xp.ones(3))\n"
        "except ImportError as error: assert 'pip install scipy' in str(error)\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

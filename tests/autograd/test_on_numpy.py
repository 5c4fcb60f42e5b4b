"""`on_numpy`, and the text of `GradientError` if SciPy computes only with NumPy."""

from __future__ import annotations

import importlib
import importlib.metadata
import operator
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import GradientError, Tape, grad, jacobian, on_numpy, value_and_grad

pytest.importorskip("scipy", minversion="1.17", reason="the functions are those of SciPy 1.17")


def test_arrays_scalars_and_structures() -> None:
    f = on_numpy(lambda p, k, *, q: {"sum": p["x"] + q, "k": k, "scalar": xp.sum(p["x"])})
    found = f({"x": np.asarray([1.0, 2.0])}, "name", q=np.float64(3))
    assert type(found["sum"]) is np.ndarray and found["sum"].tolist() == [4, 5]
    assert found["k"] == "name" and type(found["scalar"]) is np.float64
    assert f({"x": xp.ones(2)}, 1, q=1)["sum"].tolist() == [2, 2]


def test_results_may_be_written_to() -> None:
    value, gradient = on_numpy(value_and_grad(xp.sum))(np.ones((3, 2)))
    assert value == 6 and type(value) is np.float64
    gradient += 1
    assert gradient.tolist() == [[2, 2]] * 3
    assert on_numpy(jacobian(lambda x: x[:, 0] * 2))(np.ones((2, 2))).shape == (2, 2, 2)


def test_memory_is_shared_on_the_way_in() -> None:
    x = np.ones(3)
    assert on_numpy(lambda a: xp.strided.is_writable(a))(x)

    def write(a: Any) -> Any:
        a[0] = 5.0
        return a

    on_numpy(write)(x)
    assert x[0] == 5


X = np.random.default_rng(0).standard_normal((4, 12))


def called(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"scipy.{module}"), function)


@pytest.mark.parametrize(
    ("name", "call", "words"),
    [
        (
            "signal.lfilter",
            lambda f, x: f(xp.ones(1), xp.ones(2), x),
            "stride0.autograd.scipy.signal.lfilter",
        ),
        ("signal.savgol_filter", lambda f, x: f(x, 5, 2), "stride0.autograd.scipy.signal.savgol_filter"),
        ("ndimage.gaussian_filter", lambda f, x: f(x, 1.0), "stride0.autograd.scipy.ndimage.gaussian_filter"),
        ("ndimage.median_filter", lambda f, x: f(x, 3), "stop_gradient"),
        ("fft.dct", lambda f, x: f(x), "stride0.autograd.scipy.fft.dct"),
        pytest.param(
            *("integrate.simpson", lambda f, x: f(x), "stride0.autograd.scipy.integrate.simpson"),
            marks=pytest.mark.skipif(
                not importlib.metadata.version("scipy").startswith("1.17."),
                reason="from 1.18 on it has a gradient of its own",
            ),
        ),
        ("linalg.expm", lambda f, x: f(x[:, :4]), "stride0.autograd.scipy.linalg.expm"),
        (
            "interpolate.CubicSpline",
            lambda f, x: f(xp.arange(4.0), x),
            "stride0.autograd.scipy.interpolate.CubicSpline",
        ),
        ("interpolate.PPoly", lambda f, x: f(xp.ones((2, 1)), xp.arange(2.0))(x), "stop_gradient"),
        ("spatial.distance.pdist", lambda f, x: f(x), "stop_gradient"),
        (
            "optimize.minimize",
            lambda f, x: f(lambda t: float(np.sum(t)), x[0, :]),
            "stride0.autograd.scipy.optimize.minimize",
        ),
        ("optimize.differential_evolution", lambda f, x: f(np.sum, x[:, :2]), "on_numpy(f)"),
        (
            "integrate.solve_ivp",
            lambda f, x: f(lambda t, y: -y, (0, 1), x[0, :]),
            "stride0.autograd.scipy.integrate.solve_ivp",
        ),
    ],
)
def test_the_function_of_scipy_is_named(name: str, call: Any, words: str) -> None:
    function = called(name)
    with Tape() as tape:
        x = tape.watch(xp.asarray(X))
        with pytest.raises(GradientError) as caught:
            call(function, x)
    text = str(caught.value)
    assert caught.value.operation == f"scipy.{name}", text
    assert words in text and "why" in text and "tracked" in text


def test_outside_of_scipy_nothing_is_named() -> None:
    with Tape() as tape:
        x = tape.watch(xp.asarray(X))
        for operation, convert in (("__array__", np.asarray), ("float", lambda x: float(x[0, 0]))):
            with pytest.raises(GradientError) as caught:
                convert(x)
            assert caught.value.operation == operation and "why" not in str(caught.value)

        # In a function of the caller that SciPy calls, the conversion is the caller's.
        optimize = importlib.import_module("scipy.optimize")
        with pytest.raises(GradientError) as caught:
            optimize.minimize(lambda t: np.asarray(x).sum(), np.zeros(2))
        assert caught.value.operation == "__array__"


SUBMODULES = {"cluster": ("vq", "hierarchy"), "spatial": ("distance",)}


def test_every_form_is_a_function_of_scipy() -> None:
    from stride0._base.callers import FORMS

    assert len(FORMS) >= 250
    for name, form in FORMS.items():
        part, _, rest = name.partition(".")
        for inner in SUBMODULES.get(part, ()):
            importlib.import_module(f"scipy.{part}.{inner}")
        assert callable(operator.attrgetter(rest)(importlib.import_module(f"scipy.{part}"))), name
        assert callable(operator.attrgetter(form.removeprefix("stride0."))(xp)), form


def test_gradients_of_optimisers_agree() -> None:
    optimize = importlib.import_module("scipy.optimize")
    f = lambda x: xp.sum((x - 0.5) ** 2 * (1 + x**2))  # noqa: E731
    found = optimize.check_grad(on_numpy(f), on_numpy(grad(f)), np.asarray([0.1, 0.7]))
    assert found < 1e-6

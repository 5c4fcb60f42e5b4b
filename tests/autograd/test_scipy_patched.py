"""SciPy's own functions on tracked arrays: `stride0.autograd.scipy.patched`, `patch` and `unpatch`."""

from __future__ import annotations

import importlib
import inspect
import operator
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._base.callers import FORMS
from stride0.autograd import GradientError, grad
from stride0.autograd.scipy import patch, patched, signal, unpatch

scipy = pytest.importorskip("scipy", minversion="1.17", reason="the forms are those of SciPy 1.17")
theirs, fft, interpolate, ndimage, optimize, stats = (
    importlib.import_module(f"scipy.{name}")
    for name in ("signal", "fft", "interpolate", "ndimage", "optimize", "stats")
)

B, A = np.asarray([0.4, 0.3]), np.asarray([1.0, -0.5])


def echo(x: Any) -> Any:
    return xp.sum(theirs.lfilter(xp.asarray(B), xp.asarray(A), x) ** 2)


def places() -> dict[str, tuple[Any, str]]:
    """The modules of SciPy functions that have a form, by name."""
    found = {}
    for name in FORMS:
        parts = name.split(".")
        module = importlib.import_module(f"scipy.{parts[0]}")
        for count in range(2, len(parts)):
            try:
                module = importlib.import_module(f"scipy.{'.'.join(parts[:count])}")
            except ModuleNotFoundError:
                module = operator.attrgetter(".".join(parts[1 : len(parts) - 1]))(module)
                break
        found[name] = (module, parts[-1])
    return found


def test_scipys_function_has_the_gradient_of_the_form() -> None:
    x = xp.asarray([0.3, 0.5, -0.2, 0.9])
    expected = grad(lambda x: xp.sum(signal.lfilter(B, A, x) ** 2))(x)
    with patched():
        found = grad(echo)(x)
        second = grad(lambda x: xp.sum(grad(echo)(x) ** 2))(x)
    assert np.allclose(np.asarray(found), np.asarray(expected))
    assert np.any(np.asarray(second))
    with pytest.raises(GradientError, match=r"__array__|lfilter"):
        grad(echo)(x)


def test_everything_is_put_back() -> None:
    where = places()
    before = {
        name: (vars(owner).get(attribute), getattr(owner, attribute))
        for name, (owner, attribute) in where.items()
    }
    with patched():
        changed = [
            name for name, (owner, attribute) in where.items() if getattr(owner, attribute) != before[name][1]
        ]
        # The functions of scipy.fft are reached by SciPy's own hook.
        assert sorted(changed) == sorted(name for name in where if not name.startswith("fft."))
    for name, (owner, attribute) in where.items():
        assert vars(owner).get(attribute) is before[name][0], name
        assert getattr(owner, attribute) == before[name][1], name


def test_calls_are_counted() -> None:
    original = theirs.lfilter
    unpatch()  # Without a patch, it does nothing.
    patch()
    with patched():
        patch()
        unpatch()
        assert theirs.lfilter is not original
    assert theirs.lfilter is not original
    unpatch()
    assert theirs.lfilter is original
    unpatch()
    assert theirs.lfilter is original


def test_an_error_puts_back_too() -> None:
    original = theirs.lfilter
    with pytest.raises(ZeroDivisionError), patched():
        raise ZeroDivisionError
    assert theirs.lfilter is original


def test_what_others_replace_stays_theirs() -> None:
    original = theirs.lfilter
    try:
        with patched():
            theirs.lfilter = replaced = lambda *args: None
        assert theirs.lfilter is replaced
    finally:
        theirs.lfilter = original


def test_other_arguments_meet_the_original() -> None:
    x = np.linspace(0.0, 1.0, 8)
    plain = theirs.lfilter(B, A, x)
    original = theirs.lfilter
    with patched():
        assert np.array_equal(theirs.lfilter(B, A, x), plain)
        assert isinstance(theirs.lfilter(B, A, x), np.ndarray)
        # An untracked stride0 array.
        assert np.array_equal(np.asarray(theirs.lfilter(*map(xp.asarray, (B, A, x)))), plain)
        assert theirs.lfilter.__name__ == "lfilter" and theirs.lfilter.__doc__ == original.__doc__
        assert inspect.signature(theirs.lfilter) == inspect.signature(original)
        with pytest.raises(ValueError, match=r"[Cc]utoff|[Ff]requency|Wn|critical"):
            theirs.butter(2, 1.5)
        assert isinstance(optimize.brentq(lambda t: t * t - 2, 0, 2), float)


def test_names_that_were_imported_while_patched_are_the_originals_afterwards() -> None:
    with patched():
        lfilter, spline = theirs.lfilter, interpolate.CubicSpline
    x, b, a = xp.linspace(0.0, 1.0, 8), xp.asarray(B), xp.asarray(A)
    with pytest.raises(GradientError):
        grad(lambda x: xp.sum(lfilter(b, a, x)))(x)
    with pytest.raises(GradientError):
        grad(lambda y: xp.sum(xp.asarray(spline(xp.arange(8.0), y)(xp.asarray([1.5])))))(x)


def test_classes_that_are_derived_while_patched_are_their_own() -> None:
    x = np.arange(4.0)
    with patched():

        class Twice(interpolate.CubicSpline):
            def twice(self, at: float) -> Any:
                return 2 * self(at)

        inside = Twice(x, x**3)
    for spline in (inside, Twice(x, x**3)):
        assert type(spline) is Twice and isinstance(spline, interpolate.CubicSpline)
        assert np.allclose(spline.twice(1.5), 2 * 1.5**3)
    with patched():
        assert not isinstance(interpolate.CubicSpline(x, x**3), Twice)
        assert issubclass(Twice, interpolate.CubicSpline)


def test_classes_stay_classes() -> None:
    x = np.arange(4.0)
    original = interpolate.CubicSpline
    with patched():
        spline = interpolate.CubicSpline(x, x**3)
        assert type(spline) is original
        assert isinstance(spline, interpolate.CubicSpline) and isinstance(spline, interpolate.PPoly)
        assert issubclass(original, interpolate.CubicSpline)
        assert np.allclose(pickle.loads(pickle.dumps(spline))(1.5), 1.5**3)
        assert np.allclose(interpolate.PPoly.from_spline(interpolate.splrep(x, x**3))(1.5), 1.5**3)

        def value(y: Any) -> Any:
            made = interpolate.CubicSpline(xp.asarray(x), y)
            assert isinstance(made, interpolate.CubicSpline)
            return made(xp.asarray(1.5))

        g = grad(value)(xp.asarray(x**3))
    assert np.allclose(np.sum(np.asarray(g)), 1.0)
    assert isinstance(spline, original)


def test_names_of_fft_that_were_imported_before() -> None:
    from scipy.fft import dct

    x = xp.asarray([1.0, 2.0, 4.0])
    with patched():
        g = grad(lambda x: dct(x, norm="ortho", workers=1)[1])(x)
    expected = [(dct(np.eye(3)[k], norm="ortho"))[1] for k in range(3)]
    assert np.allclose(np.asarray(g), expected)
    with pytest.raises(GradientError):
        grad(lambda x: dct(x)[1])(x)
    assert isinstance(dct(np.ones(3)), np.ndarray)


def test_methods_of_distributions() -> None:
    with patched():
        g = grad(lambda mean: stats.norm.logpdf(1.0, mean, scale=2.0))(xp.asarray(0.0))
        assert stats.norm.logpdf(1.0) == pytest.approx(-0.5 - np.log(2 * np.pi) / 2)
    assert float(g) == pytest.approx(0.25)
    assert "logpdf" not in vars(stats.norm)


def test_functions_that_call_back_see_what_is_closed_over() -> None:
    with patched():
        g = grad(lambda k: optimize.brentq(lambda t: t * t - k, 0, 2))(xp.asarray(0.25))
    assert float(g) == pytest.approx(1.0)


def test_an_array_within_a_sequence_is_found() -> None:
    def f(x: Any) -> Any:
        return xp.sum(theirs.group_delay((x, xp.asarray(A)), 4)[1])

    with patched():
        assert np.any(np.asarray(grad(f)(xp.asarray(B))))


def test_options_without_effect_are_taken_and_others_refused() -> None:
    linalg = importlib.import_module("scipy.linalg")
    square = xp.asarray([[2.0, 0.3], [0.1, 3.0]])
    with patched():
        g = grad(lambda a: linalg.det(a, overwrite_a=True, check_finite=False))(square)
        assert np.allclose(np.asarray(g), [[3.0, -0.1], [-0.3, 2.0]])
        with pytest.raises(xp.Stride0Error, match="pivoting is not supported"):
            grad(lambda a: linalg.qr(a, pivoting=True)[1][0, 0])(square)


def test_the_error_names_both_ways() -> None:
    with pytest.raises(GradientError) as caught:
        grad(echo)(xp.ones(3))
    text = str(caught.value)
    assert "stride0.autograd.scipy.signal.lfilter" in text
    assert "stride0.autograd.scipy.patched()" in text


def test_threads_may_patch_at_once() -> None:
    original, errors = theirs.lfilter, []

    def work() -> None:
        try:
            for _ in range(20):
                with patched():
                    assert np.any(np.asarray(grad(echo)(xp.ones(3))))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert theirs.lfilter is original


def test_every_parameter_of_a_form_is_one_of_scipys() -> None:
    """Forms accept every call of SciPy's function."""
    for name, (owner, attribute) in places().items():
        form = operator.attrgetter(FORMS[name].removeprefix("stride0."))(xp)
        mine = inspect.signature(form).parameters
        if any(p.kind is p.VAR_KEYWORD for p in mine.values()):
            continue
        try:
            known = inspect.signature(getattr(owner, attribute)).parameters
        except ValueError:  # a compiled function without a signature
            continue
        if any(p.kind is p.VAR_KEYWORD for p in known.values()):
            continue
        # For parameters without a default the order counts, for other parameters the names.
        optional = {key for key, p in mine.items() if p.default is not p.empty}
        assert optional <= known.keys() | {"own"}, (name, optional - known.keys())


def test_without_scipy() -> None:
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "from stride0.autograd.scipy import patched\n"
        "try:\n"
        "    with patched(): pass\n"
        "except ImportError as error: assert 'pip install scipy' in str(error)\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_batched_arrays_take_the_form() -> None:
    x = xp.asarray([[0.3, 0.5, -0.2], [0.9, 0.1, 0.4]])
    with patched():
        found = xp.autograd.vmap(lambda x: theirs.lfilter(B, A, x))(x)
        roots = xp.autograd.vmap(lambda a: optimize.brentq(lambda t, a: t * t - a, 0, 2, args=(a,)))(x[1, :])
    assert np.allclose(np.asarray(found), theirs.lfilter(B, A, np.asarray(x)))
    assert np.allclose(np.asarray(roots), np.sqrt(np.asarray(x[1, :])))

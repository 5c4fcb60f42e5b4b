"""`stride0.special`: values, layouts, dtypes, broadcasting, and what happens without SciPy."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._tables.operations import OPS
from stride0._tables.ufuncs import ROWS as UFUNCS
from stride0.special._scipy import scipy_function

scipy_special = pytest.importorskip("scipy.special")
pytest.importorskip("mpmath")

from mpmath import mp  # noqa: E402
from special_references import REFERENCES  # noqa: E402

special = xp.special
KERNELS = {op.name for op in OPS if op.namespace == "special"}
# The integer operands of `bdtr` and similar functions; other operands are real numbers.
COUNTS = {
    "bdtr": (0, 1),
    "bdtrc": (0, 1),
    "bdtri": (0, 1),
    "nbdtr": (0, 1),
    "nbdtrc": (0, 1),
    "nbdtri": (0, 1),
}
COUNTS |= {"pdtri": (0,), "expn": (0,), "yn": (0,), "kn": (0,), "polygamma": (0,), "multigammaln": (1,)}
COUNTS |= {name: (0,) for name in special.__all__ if name.startswith(("eval_", "spherical_"))}
REDUCING = {"logsumexp", "softmax", "log_softmax"}
# Functions of the standard that users look for here too.
ALIASES = {"expm1", "log1p"}
ELEMENTWISE = sorted(
    {getattr(special, name).__name__ for name in special.__all__} - REDUCING - ALIASES - {"multigammaln"}
)


def arity(name: str) -> int:
    found = inspect.signature(getattr(special, name)).parameters.values()
    return 2 if name == "zeta" else sum(p.default is p.empty for p in found)


def operands(name: str, shapes: list[tuple[int, ...]], dtype: Any = np.float64) -> list[Any]:
    rng = np.random.default_rng(5)
    found = []
    for k in range(arity(name)):
        if k in COUNTS.get(name, ()):
            # At least as many draws as successes.
            found.append(rng.integers(1, 4, shapes[k]) + 4 * (k == 1))
        else:
            found.append(rng.uniform(0.1, 0.9, shapes[k]).astype(dtype))
    return found


def expected(name: str, arrays: list[Any]) -> tuple[Any, ...]:
    if name == "softplus":
        return (np.logaddexp(0, arrays[0]),)
    out = getattr(scipy_special, name)(*arrays)
    return out if isinstance(out, tuple) else (out,)


def results(out: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(y) for y in (out if isinstance(out, tuple) else (out,)))


@pytest.mark.parametrize("row", UFUNCS)
def test_rows_of_ufuncs(row: str) -> None:
    """The build generates a function for each row, with the same number of operands as SciPy's ufunc."""
    name, _, parameters = row.removesuffix(")").partition("(")
    function = getattr(xp.special, name)
    found = inspect.signature(function).parameters
    assert list(found) == parameters.split(", ")
    assert {(p.kind, str(p.annotation)) for p in found.values()} == {
        (inspect.Parameter.POSITIONAL_ONLY, "Operand")
    }
    assert function.__name__ == name and function.__doc__.startswith(f"Return {UFUNCS[row]}.")
    assert scipy_function(name).nin == len(found)


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_values(name: str) -> None:
    reference, function = REFERENCES[name], getattr(special, name)
    columns = [np.asarray(column) for column in zip(*reference.points, strict=True)]
    if name == "multigammaln":
        found = [function(xp.asarray(a), int(d)) for a, d in reference.points]
    else:
        found = np.asarray(function(*(xp.asarray(column) for column in columns)))
    for value, point in zip(found, reference.points, strict=True):
        with mp.workdps(60):
            exact = reference.value(*(mp.mpf(x) for x in point))
            error = abs(mp.mpmathify(complex(value)) - exact) / max(abs(exact), mp.mpf(10) ** -300)
        assert error <= reference.tolerances[0], (name, point, value, mp.nstr(exact, 17))


SPECIAL_VALUES = np.asarray([-math.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 700.0, math.inf, math.nan])


@pytest.mark.parametrize(
    "name", [n for n in ELEMENTWISE if n not in KERNELS and arity(n) < 3 and n not in COUNTS]
)
def test_special_values_are_scipys(name: str) -> None:
    grids = np.meshgrid(*[SPECIAL_VALUES] * arity(name), indexing="ij")
    with np.errstate(all="ignore"):
        want = expected(name, grids)
    for got, exact in zip(
        results(getattr(special, name)(*(xp.asarray(a) for a in grids))), want, strict=True
    ):
        np.testing.assert_allclose(got, exact, rtol=1e-13)


LAYOUTS = {
    "transposed": lambda a: xp.asarray(np.ascontiguousarray(a.T), copy=True).T,
    "negative step": lambda a: xp.flip(xp.asarray(np.flip(a).copy())),
    "sliced": lambda a: xp.asarray(np.repeat(a, 2, axis=1))[:, ::2],
    "broadcast": lambda a: xp.broadcast_to(xp.asarray(a[:1].copy()), a.shape),
    "empty": lambda a: xp.asarray(a[:0].copy()),
    "0-d": lambda a: xp.asarray(a[0, 0]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_layouts(name: str, layout: str) -> None:
    arrays = [LAYOUTS[layout](a) for a in operands(name, [(3, 4)] * 4)]
    got = getattr(special, name)(*arrays)
    plain = getattr(special, name)(*(xp.asarray(np.array(np.asarray(a), order="C")) for a in arrays))
    for one, other in zip(results(got), results(plain), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.shape == arrays[0].shape


def test_the_memory_order_of_operands_is_that_of_results() -> None:
    x = xp.asarray(np.ones((4, 3))).T
    assert xp.strided.strides(special.j0(x)) == xp.strided.strides(x)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_broadcasting(name: str) -> None:
    count = arity(name)
    shapes: list[tuple[int, ...]] = [(3, 1), (4,), (2, 1, 1), (1,)]
    arrays = operands(name, shapes)
    got = results(getattr(special, name)(*(xp.asarray(a) for a in arrays)))
    for one, other in zip(got, expected(name, arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-14)
    if count > 1:
        wrong = [xp.asarray(a) for a in operands(name, [(3,), (4,), (3,), (3,)])]
        with pytest.raises(xp.BroadcastError, match=name):
            getattr(special, name)(*wrong)
        with pytest.raises(xp.StretchError), xp.broadcasting("exact"):
            getattr(special, name)(*(xp.asarray(a) for a in arrays))


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n != "lambertw"])
def test_dtypes(name: str) -> None:
    function = getattr(special, name)
    narrow = [xp.asarray(a) for a in operands(name, [(3,)] * 4, np.float32)]
    if name not in COUNTS:
        out = function(*narrow)
        assert {y.dtype for y in (out if isinstance(out, tuple) else (out,))} == {xp.float32}
        half = function(*(xp.astype(x, xp.float16) for x in narrow))
        assert {y.dtype for y in (half if isinstance(half, tuple) else (half,))} == {xp.float16}
    integers = function(*[xp.asarray([1, 2], dtype=xp.int8)] * arity(name))
    assert {y.dtype for y in (integers if isinstance(integers, tuple) else (integers,))} == {xp.float64}
    if arity(name) > 1:
        # Python scalars have no influence on the precision.
        single = function(*[2] * (arity(name) - 1), xp.asarray([0.25], dtype=xp.float32))
        assert single.dtype is xp.float32
        if name not in COUNTS:
            wide = [xp.asarray([2.0])] * (arity(name) - 1)
            assert function(*wide, xp.asarray([0.25], dtype=xp.float32)).dtype is xp.float64


COMPLEX = (
    "dawsn",
    "digamma",
    "erf",
    "erfc",
    "erfcx",
    "erfi",
    "exp1",
    "expi",
    "gamma",
    "loggamma",
    "ndtr",
    "rgamma",
    "spence",
)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_operands(name: str) -> None:
    z = np.asarray([0.3 + 0.4j, -1.2 + 0.1j])
    np.testing.assert_allclose(
        np.asarray(getattr(special, name)(xp.asarray(z))), getattr(scipy_special, name)(z)
    )
    single = getattr(special, name)(xp.asarray(z.astype(np.complex64)))
    assert single.dtype is xp.complex64


@pytest.mark.parametrize("name", ["ndtri", "i0", "betainc", "softmax"])
def test_complex_operands_that_are_refused(name: str) -> None:
    z = xp.asarray([0.3 + 0.4j])
    with pytest.raises(xp.DTypeError, match=name):
        getattr(special, name)(*[z] * (arity(name)))


def test_other_operands_are_refused() -> None:
    for bad in (np.ones(3), [1.0], "1"):
        with pytest.raises(xp.ForeignArrayError):
            special.j0(bad)
    with pytest.raises(TypeError, match="positional"):
        special.betainc(xp.ones(1), xp.ones(1))


def test_several_results() -> None:
    x = xp.asarray([0.2, 1.5])
    found = special.fresnel(x)
    assert found.sine is found[0] and found.cosine is found[1]
    np.testing.assert_array_equal(np.asarray(special.sici(x).cosine), scipy_special.sici(np.asarray(x))[1])
    np.testing.assert_array_equal(np.asarray(special.shichi(x).cosh), scipy_special.shichi(np.asarray(x))[1])
    for k, name in enumerate(("ai", "aip", "bi", "bip")):
        part = getattr(special.airy(x), name)
        np.testing.assert_array_equal(np.asarray(part), scipy_special.airy(np.asarray(x))[k])


def test_two_names_of_one_function() -> None:
    assert special.psi is special.digamma
    assert all(getattr(special, name) is getattr(xp, name) for name in ALIASES)


# --- logsumexp and related functions

A = np.asarray([[0.3, -1.2, 800.0], [1.7, 0.4, -0.6]])
B = np.asarray([[1.1, 0.0, -0.9], [-0.2, 1.4, 0.5]])


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axis: Any, keepdims: bool) -> None:
    for a, b in ((A, None), (A, B), (A - 900, B), (A * 1j + B, None), (A * 1j, B), (A[0], B)):
        theirs = None if b is None else xp.asarray(b)
        if axis == ():
            found = special.logsumexp(xp.asarray(a), axis=(), b=theirs, return_sign=True).out
            np.testing.assert_allclose(np.asarray(found).shape, np.broadcast(a, 0 if b is None else b).shape)
            continue
        if np.ndim(a) == 1 and b is None:
            continue
        with np.errstate(all="ignore"):
            want = scipy_special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)
            plain = scipy_special.logsumexp(a, axis=axis, b=b, keepdims=keepdims)
        got = special.logsumexp(xp.asarray(a), axis, theirs, keepdims, True)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-13, atol=1e-13)
        out = special.logsumexp(xp.asarray(a), axis, theirs, keepdims)
        np.testing.assert_allclose(np.asarray(out), plain, rtol=1e-13, atol=1e-13)


def test_logsumexp_at_the_edges() -> None:
    inf = math.inf
    assert float(special.logsumexp(xp.asarray([0.0, -50.0]))) == pytest.approx(math.exp(-50), rel=1e-15)
    assert float(special.logsumexp(xp.asarray([1000.0, 1000.0]))) == 1000 + math.log(2)
    assert float(special.logsumexp(xp.asarray([-inf, -inf]))) == -inf
    assert float(special.logsumexp(xp.asarray([inf, 1.0]))) == inf
    assert math.isnan(float(special.logsumexp(xp.asarray([math.nan, 1.0]))))
    assert float(special.logsumexp(xp.asarray([1.0, inf]), b=xp.asarray([1.0, 0.0]))) == 1.0
    assert math.isnan(float(special.logsumexp(xp.asarray([1.0, 2.0]), b=xp.asarray([1.0, -1.0]))))
    assert np.asarray(special.logsumexp(xp.zeros((0, 2)), axis=0)).tolist() == [-inf, -inf]
    assert special.logsumexp(xp.asarray([1, 2])).dtype is xp.float64
    assert special.logsumexp(xp.ones(3, dtype=xp.float16)).dtype is xp.float16


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name: str) -> None:
    for axis in (None, 0, -1, (0, 1)):
        want = getattr(scipy_special, name)(A, axis=axis)
        np.testing.assert_allclose(np.asarray(getattr(special, name)(xp.asarray(A), axis)), want, rtol=1e-13)
    assert getattr(special, name)(xp.zeros((0, 3)), axis=0).shape == (0, 3)


def test_exponentials_in_one_pass_have_the_same_bits() -> None:
    x = xp.asarray(np.random.default_rng(3).standard_normal((40, 500)))
    for function in (special.logsumexp, special.softmax, special.log_softmax):
        plain = np.asarray(function(x, 1))
        with xp.fused():
            inside = function(x, 1)
        np.testing.assert_array_equal(np.asarray(inside), plain)
        np.testing.assert_allclose(
            plain, getattr(scipy_special, function.__name__)(np.asarray(x), 1), rtol=1e-13
        )


# --- SciPy is optional, and looks for the namespace

WITHOUT = """
import sys
import stride0 as xp
assert "stride0.special" not in sys.modules
assert hasattr(xp, "special") and "scipy" not in sys.modules and "numpy" not in sys.modules
sys.modules["scipy"] = None
import stride0.autograd
assert float(xp.special.expit(xp.asarray(0.0))) == 0.5
assert xp.special.logsumexp(xp.ones(3)).shape == ()
try:
    xp.special.j0(xp.ones(3))
except ImportError as error:
    assert "special.j0" in str(error) and "pip install scipy" in str(error), error
    assert error.name == "scipy"
else:
    raise AssertionError
"""


def test_without_scipy() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT], check=True, timeout=120)


DISPATCH = """
import numpy as np
import scipy.special
import stride0 as xp
from stride0.autograd import grad
x = xp.asarray([0.3, 1.2])
for name in ("erf", "j0", "gammaln"):
    out = getattr(scipy.special, name)(x)
    assert type(out) is xp.Array
    assert np.array_equal(np.asarray(out), np.asarray(getattr(xp.special, name)(x)))
g = grad(lambda x: xp.sum(scipy.special.betainc(2.0, x, 0.4)))(x)
assert np.all(np.asarray(g) > 0)
# Strict mode refuses the functions, except to SciPy.
with xp.strict():
    scipy.special.erf(x)
    try:
        xp.special.erf(x)
    except xp.StrictError:
        pass
    else:
        raise AssertionError
"""


def test_scipys_functions_call_ours() -> None:
    import os

    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", DISPATCH], check=True, timeout=120, env=environment)


def test_all_functions_that_scipy_dispatches_are_there() -> None:
    from scipy.special import _support_alternative_backends as dispatch

    assert set(dispatch.__all__) - set(special.__all__) == set()

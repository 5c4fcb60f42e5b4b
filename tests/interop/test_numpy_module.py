"""`stride0.numpy` compared with NumPy: values, dtypes, shapes and types of errors."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy_calls import SAMPLES, calls

import stride0 as xp
import stride0.numpy as snp
from stride0.numpy._ufuncs import UFUNCS

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
ROUNDING = {"float16": 2e-3, "float32": 1e-6, "complex64": 1e-6}


def outcome(call: Callable[[], Any]) -> Any:
    with numpy.errstate(all="ignore"):
        try:
            return call()
        except Exception as error:
            return error


def compare(theirs: Any, ours: Any) -> None:
    """Equal in shape, dtype and value; Python scalars and sequences item by item."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"NumPy raises {theirs!r}, here {ours!r}"
        # The base classes that programs catch: NumPy and stride0 have their own exceptions.
        expected = [
            base
            for base in (ValueError, TypeError, IndexError, ZeroDivisionError)
            if isinstance(theirs, base)
        ]
        assert any(isinstance(ours, base) for base in expected or [Exception]), f"{theirs!r}, here {ours!r}"
        return
    if isinstance(ours, Exception):
        raise ours
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list)) and len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            compare(one, other)
        return
    if isinstance(theirs, (bool, str, slice, type(...))):
        assert ours == theirs
        return
    wanted = numpy.asarray(theirs)
    found = numpy.asarray(ours)
    assert found.dtype.name == wanted.dtype.name, f"dtype {found.dtype}, NumPy's {wanted.dtype}"
    assert found.shape == wanted.shape
    rtol = ROUNDING.get(wanted.dtype.name, 1e-12)
    numpy.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("call", calls())
def test_call(call: str) -> None:
    theirs = outcome(lambda: eval(call, {"np": numpy, **{name: a.copy() for name, a in SAMPLES.items()}}))
    ours = outcome(
        lambda: eval(call, {"np": snp, **{name: xp.asarray(a, copy=True) for name, a in SAMPLES.items()}})
    )
    compare(theirs, ours)


# Calls that NumPy computes and stride0 refuses, with advice in the error: by function and kind of dtypes.
REFUSED = {
    "bool": (
        *(
            "square",
            "conj",
            "conjugate",
            "floor",
            "ceil",
            "trunc",
            "reciprocal",
            "floor_divide",
            "remainder",
            "mod",
        ),
        *(
            "pow",
            "power",
            "left_shift",
            "right_shift",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "fmod",
            "fabs",
        ),
    ),
    "integer": ("reciprocal",),
    "complex": (
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "exp2",
    ),
}


def is_refused(name: str, dtypes: tuple[str, ...]) -> bool:
    if all(dtype == "bool" for dtype in dtypes) and name in REFUSED["bool"]:
        return True
    if any(dtype.startswith("complex") for dtype in dtypes) and name in REFUSED["complex"]:
        return True
    return all("int" in dtype for dtype in dtypes) and name in REFUSED["integer"]


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufunc_of_each_dtype(name: str) -> None:
    ours, theirs = UFUNCS[name], getattr(numpy, name)
    values = numpy.asarray([1, 0, 1, 1])
    for dtypes in itertools.product(DTYPES, repeat=ours.nin):
        operands = [
            (values if k == 0 else numpy.asarray([1, 1, 2, 1])).astype(dtype)
            for k, dtype in enumerate(dtypes)
        ]
        wanted = outcome(lambda: theirs(*operands))  # noqa: B023
        found = outcome(lambda: ours(*map(xp.asarray, operands)))  # noqa: B023
        if isinstance(found, (TypeError, ValueError)) and is_refused(name, dtypes):
            continue
        try:
            compare(wanted, found)
        except Exception as error:
            raise AssertionError(f"{name} of {dtypes}: {error}") from error


# Names that NumPy 2.5 has removed.
REMOVED = {"row_stack"}


def test_real_eigenvalues_are_real() -> None:
    """As in NumPy before 2.5, whose results are always complex."""
    assert snp.linalg.eigvals([[1, 0], [0, 2]]).tolist() == [1.0, 2.0]
    values, vectors = snp.linalg.eig([[2, 0], [0, 3]])
    assert values.tolist() == [2.0, 3.0] and vectors.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_all_is_numpys() -> None:
    assert {name for name in snp.__all__ if not hasattr(numpy, name)} <= REMOVED
    for module in ("linalg", "fft", "random"):
        theirs, ours = getattr(numpy, module), getattr(snp, module)
        assert {name for name in ours.__all__ if not hasattr(theirs, name)} == set()
        for name in ours.__all__:
            assert getattr(ours, name) is not None
    assert all(hasattr(snp, name) for name in snp.__all__)


# Parameters that some functions do not take.
LACKING = {"axis", "initial", "kind", "like", "max_work", "order", "out", "return_indices", "where"}


@pytest.mark.parametrize("module", ["", "linalg", "fft"])
def test_signatures_are_numpys(module: str) -> None:
    """Parameters have NumPy's names and order; Python refuses missing parameters."""
    theirs, ours = (getattr(np, module) if module else np for np in (numpy, snp))
    checked = 0
    for name in ours.__all__:
        value = getattr(ours, name)
        if not isinstance(value, types.FunctionType) or name in ("dtype", "iinfo", "errstate", *REMOVED):
            continue
        try:
            wanted = inspect.signature(getattr(theirs, name)).parameters
        except ValueError:
            continue
        found = inspect.signature(value).parameters
        named = [key for key, p in wanted.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        placed = [key for key, p in found.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        assert [key for key in named if key in placed] == [key for key in placed if key in named], name
        free = [key for key, p in wanted.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert {*free} - {*found} <= LACKING, name
        checked += 1
    assert checked > 15


def test_missing_names_say_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"module 'stride0\.numpy' has no attribute 'nditer'\."):
        snp.nditer  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'stride0\.numpy\.linalg' has no attribute 'expm'"):
        snp.linalg.expm  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'stride0\.numpy' has no attribute 'nothing'$"):
        snp.nothing  # noqa: B018
    assert not hasattr(snp.random, "nothing") and not hasattr(snp.fft, "nothing")


@pytest.mark.parametrize(
    "call",
    [
        lambda: snp.add(1.0, 2.0, where=snp.asarray(True)),
        lambda: snp.zeros(3, order="F"),
        lambda: snp.std(snp.ones(3), where=[True, False, True]),
        lambda: snp.array([1], like=snp.ones(1)),
        lambda: snp.sort(snp.ones(3), order="x"),
        lambda: snp.add(snp.ones(2), 1, out=numpy.zeros(2)),
        lambda: snp.errstate(divide="raise").__enter__(),
        lambda: snp.linalg.qr(snp.eye(2), "raw"),
        lambda: snp.pad(snp.ones(3), 1, "ramp"),
        lambda: snp.add.at([1, 2], 0, 1),
    ],
)
def test_arguments_that_are_not_taken_raise(call: Callable[[], Any]) -> None:
    with pytest.raises(xp.Stride0Error):
        call()


def test_writes() -> None:
    for np in (numpy, snp):
        x = np.arange(6.0).reshape(2, 3)
        np.copyto(x, [7, 8, 9], where=x > 3)
        np.fill_diagonal(x, -1)
        np.putmask(x, x > 8, [0, 1])
        np.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 99, axis=1)
        y = np.zeros(4)
        np.add.at(y, [0, 0, 2], 1.5)
        np.multiply(y, 2, out=y, where=y > 2)
        if np is numpy:
            expected = x.tolist(), y.tolist()
        else:
            assert (x.tolist(), y.tolist()) == expected


# Calls whose results share memory with an argument in NumPy, and calls whose results do not.
MEMORY = """
np.take(a, 1, axis=1) | np.take(v, 2) | np.block(a) | np.block([a]) | np.meshgrid(v, w, sparse=True)[0]
np.meshgrid(v, v, sparse=True, copy=False)[0] | np.meshgrid(v, w, copy=False)[1] | np.meshgrid(v)[0]
np.real(v)
np.positive(v) | np.conj(v) | np.floor(i) | np.round(i) | np.tile(a, 1) | np.repeat(a, 1, axis=0)
np.resize(v, 4)
np.clip(v, None, 9) | np.nan_to_num(v) | np.roll(v, 0) | np.append(v, []) | np.pad(a, 0, 'mean')
np.insert(v, 0, [])
np.rot90(a) | np.trim_zeros(v) | np.diagonal(s) | np.ravel(a) | np.ravel(a.T) | np.einsum('ij->ji', a)
np.sort(v)
np.linalg.diagonal(s) | np.linalg.matrix_transpose(a) | np.sum(a, axis=()) | np.max(a, axis=())
np.fft.fftshift(v)
np.setdiff1d(v, [], assume_unique=True) | np.select([v > 0], [v]) | np.asfortranarray(a)
np.asfortranarray(v)
"""


@pytest.mark.parametrize("call", [call for line in MEMORY.split("\n") for call in line.split(" | ") if call])
def test_results_share_memory_as_in_numpy(call: str) -> None:
    def shared(np: Any, made: Callable[..., Any]) -> list[str]:
        given = {name: made(a.copy()) for name, a in SAMPLES.items()}
        found = eval(call, {"np": np, **given})
        return [name for name, x in given.items() if numpy.shares_memory(found, x)]

    assert shared(snp, xp.asarray) == shared(numpy, numpy.asarray)


def test_put_and_place() -> None:
    found = []
    for np in (numpy, snp):
        x, y = np.zeros((2, 3)), np.arange(6).reshape(3, 2).T
        np.put(x, [0, 4, -1], [7, 8])
        np.put(y, [9, -9], [5, 6], mode="clip")
        np.put(y, [8], -1, mode="wrap")
        np.place(x, x == 0, [1, 2])
        with pytest.raises(IndexError):
            np.put(x, 6, 1)
        found.append((x.tolist(), y.tolist()))
    assert found[0] == found[1]


def test_assertions_see_numpys_arrays_and_scalars() -> None:
    testing = snp.testing
    testing.assert_equal(snp.sum(snp.ones(3)), 3.0)
    testing.assert_equal([snp.asarray(1), {"a": snp.ones(2)}], [1, {"a": numpy.ones(2)}])
    testing.assert_allclose(snp.ones(2), [1, 1 + 1e-9])
    testing.assert_raises(ValueError, snp.reshape, snp.ones(3), (2, 2))
    with pytest.raises(AssertionError):
        testing.assert_array_equal(snp.ones(2), snp.zeros(2))


def test_random_draws_numpys_numbers() -> None:
    def draw(np: Any) -> list[Any]:
        np.random.seed(3)
        x = np.arange(10)
        np.random.shuffle(x)
        grid = np.arange(12).reshape(4, 3)
        np.random.shuffle(grid)
        state = np.random.RandomState(5)
        return [
            *(
                np.random.rand(2, 3),
                np.random.randn(3),
                np.random.randint(0, 9, 4),
                np.random.normal(1, 2, size=(2,)),
            ),
            *(
                np.random.choice(5, 3),
                np.random.permutation(4),
                np.random.uniform(size=2),
                np.random.random(3),
                x,
                grid,
            ),
            *(state.rand(2), state.normal(np.asarray([0.0, 9.0]), 1.0), np.random.default_rng(1).random(2)),
            *(np.random.choice(np.asarray([1.5, 2.5]), 2), np.random.default_rng(2).normal(size=(2, 2))),
        ]

    for theirs, ours in zip(draw(numpy), draw(snp), strict=True):
        assert isinstance(ours, xp.Array)
        compare(theirs, ours)


def test_gradients_go_through() -> None:
    def loss(np: Any, w: Any, x: Any, y: Any) -> Any:
        hidden = np.maximum(np.dot(x, w), 0.1)
        parts = np.hstack([hidden, np.atleast_2d(np.sum(hidden, axis=1)).T])
        return np.mean((np.where(parts > 1, np.log(np.abs(parts)), parts) - y) ** 2) + np.linalg.norm(w)

    rng = numpy.random.default_rng(0)
    w, x, y = rng.standard_normal((3, 2)), rng.standard_normal((5, 3)), rng.standard_normal((5, 3))
    found = xp.autograd.grad(lambda p: loss(snp, p, xp.asarray(x), xp.asarray(y)))(xp.asarray(w))
    for k in numpy.ndindex(*w.shape):
        step = numpy.zeros_like(w)
        step[k] = 1e-6
        expected = (loss(numpy, w + step, x, y) - loss(numpy, w - step, x, y)) / 2e-6
        assert abs(float(found[k]) - expected) < 1e-6


GRADIENTS = {
    "nanquantile": lambda np, w: np.nanquantile(np.where(w > 2, np.nan, w), [0.3, 0.8], axis=1),
    "unwrap": lambda np, w: np.unwrap(3 * w, axis=1),
    "piecewise": lambda np, w: np.piecewise(w, [w < 0, w > 1], [lambda x: x**2, np.exp, lambda x: 3 * x]),
    "vectorize": lambda np, w: np.vectorize(lambda x, y: x * y if x > y else x**3)(w, w[0]),
    "apply_along_axis": lambda np, w: np.apply_along_axis(lambda x: x[0] * x[1:], 0, w),
    "histogramdd": lambda np, w: np.histogramdd(numpy.arange(6.0) % 4, 3, weights=w[:2].reshape(-1))[0],
    "polydiv": lambda np, w: np.concatenate(np.polydiv(w[0], w[1, :2])),
    "polyint": lambda np, w: np.polyint(w[0], 2, w[1, :2]),
    "poly": lambda np, w: np.poly(w[0]),
    "roots": lambda np, w: np.roots(np.poly(np.exp(w[0]))) ** 2,
    "reduceat": lambda np, w: np.multiply.reduceat(w, [0, 2, 1], axis=1),
    "tensorsolve": lambda np, w: np.linalg.tensorsolve(w @ w.T + 3 * np.eye(3), w[0]),
    "tensorinv": lambda np, w: np.linalg.tensorinv(w @ w.T + 3 * np.eye(3), 1),
    "nansum": lambda np, w: np.nansum(np.where(w > 2, np.nan, w), axis=0, where=w > 0, initial=2.0),
    "nanmean": lambda np, w: np.nanmean(w, where=w > 0),
    "matvec": lambda np, w: np.concatenate((np.matvec(w, w[0]), np.vecmat(w[1], w))),
    "sliding_window_view": lambda np, w: np.lib.stride_tricks.sliding_window_view(w, (2, 2)),
    "apply_over_axes": lambda np, w: np.apply_over_axes(np.prod, w, (0, 1)),
    "apply_over_axes, one axis": lambda np, w: np.apply_over_axes(np.prod, w, np.int64(1)),
    "poly1d": lambda np, w: (np.poly1d(w[0]) * np.poly1d(w[1]) - 2)(0.7),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    """Against finite differences of NumPy's function."""
    w = numpy.random.default_rng(1).uniform(-1, 3, (3, 3))
    function = GRADIENTS[name]
    found = xp.autograd.grad(lambda x: snp.sum(snp.sin(function(snp, x))))(xp.asarray(w))
    for k in numpy.ndindex(*w.shape):
        step = numpy.zeros_like(w)
        step[k] = 1e-6
        low, high = (numpy.sum(numpy.sin(function(numpy, w + sign * step))) for sign in (-1, 1))
        assert abs(float(found[k]) - (high - low) / 2e-6) < 1e-5


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
@pytest.mark.parametrize("q", [0.4, [0.1, 0.9]])
@pytest.mark.parametrize("method", ["linear", "nearest", "median_unbiased", "inverted_cdf"])
def test_nanquantile(method: str, q: Any) -> None:
    """Lanes with any number of NaN, all of them and none included; and no lane at all."""
    a = numpy.random.default_rng(2).standard_normal((7, 2, 5))
    a[numpy.arange(7)[:, None, None] > 2 + numpy.arange(10).reshape(2, 5) % 6] = numpy.nan
    a[:, 1, 4] = numpy.nan
    # Of an empty array, NumPy returns a result without the axes of q.
    empty = [(a[:, :0], 0)] if numpy.ndim(q) == 0 else []
    for given, axis in ((a, 0), (a, (0, 2)), (a, None), *empty):
        wanted = numpy.nanquantile(given, q, axis=axis, method=method)
        compare(wanted, snp.nanquantile(xp.asarray(given), q, axis=axis, method=method))


def test_vectorize_as_decorator() -> None:
    @snp.vectorize
    def half(x: float) -> float:
        """Half of it."""
        assert isinstance(x, float)
        return x / 2

    assert half.__doc__ == "Half of it." and half.__name__ == "half"
    assert snp.vectorize(otypes=["f4"])(lambda x: x)([1, 2]).dtype == xp.float32
    assert half([1.0, 3.0]).dtype == xp.float64
    with pytest.raises(xp.ArgumentTypeError, match="signature is not supported"):
        snp.vectorize(lambda x: x, signature="(n)->()")


def test_it_is_not_imported_with_the_package() -> None:
    program = "import sys, stride0; print('stride0.numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"

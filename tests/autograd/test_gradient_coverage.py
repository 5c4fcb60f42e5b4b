"""No public function, method or attribute loses a gradient silently.

Names are found in the namespaces and the array type themselves. For each name, a call with tracked arrays has
one of four outcomes: the derivative that finite differences find, a refusal, a result that is constant by
finite differences, or a result without floating-point numbers. A name that is classified neither here nor in
the tables of rules fails.
"""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from test_gradient_rules import CASES, arguments

import stride0 as xp
from stride0.autograd import NO_GRAD, VJP, GradientError, Tape

Array = xp.Array
Call = Callable[..., Any]

# A call, and the arrays to differentiate by, one after the other.
Example = tuple[Any, ...]

X = np.asarray([[0.3, -1.2, 0.8], [1.7, 0.4, -0.6]])
Y = np.asarray([[1.1, 0.7, -0.9], [-0.2, 1.4, 0.5]])
Z = X + 1j * Y
SQUARE = np.asarray([[2.1, 0.3], [-0.4, 1.6]])
POINT = np.asarray(0.7)
ONE = np.asarray([0.7])
GAPS = np.asarray([[0.3, np.nan, 0.8], [1.7, 0.4, -0.6]])
INDEX = xp.asarray([1, 0, 1])


# --- the oracle


def floats(y: Any) -> list[Any]:
    """All floating-point numbers in a result: in our arrays, in NumPy's, in exported memory, and Python's."""
    if isinstance(y, Array):
        return [y] if "floating" in y.dtype.kind else []
    if isinstance(y, (float, complex)):
        return [y]
    if isinstance(y, memoryview):
        y = np.asarray(y)
    if isinstance(y, (np.ndarray, np.generic)):
        return [y] if y.dtype.kind in "fc" else []
    if isinstance(y, dict):
        y = list(y.values())
    if isinstance(y, (tuple, list, Iterator)):
        return [part for item in y for part in floats(item)]
    return []


def weighted(ys: list[Any]) -> float:
    """The sum of numbers times fixed weights; NaN counts as 0."""
    total = 0.0
    for k, y in enumerate(ys):
        a = np.asarray(y)
        total += float(np.nansum((np.conj(weights(k, a)) * a).real))
    return total


def weights(k: int, a: Any) -> Any:
    rng = np.random.default_rng(k)
    w = rng.uniform(1, 2, a.shape)
    return w + 1j * rng.uniform(1, 2, a.shape) if a.dtype.kind == "c" else w


def outcome(call: Call, arrays: tuple[Any, ...], k: int) -> str:
    """ "gradient", "constant", "no number" or "refused" for array `k`, checked by finite differences."""
    arrays = tuple(np.asarray(a) for a in arrays)

    def plain(a: Any) -> list[Any]:
        return floats(call(*[xp.asarray(a if i == k else b, copy=True) for i, b in enumerate(arrays)]))

    with Tape() as tape:
        xs = [xp.asarray(a, copy=True) for a in arrays]
        x = xs[k] = tape.watch(xs[k])
        try:
            found = floats(call(*xs))
        except (GradientError, BufferError) as error:
            assert "gradient" in str(error), error
            plain(arrays[k])  # the call works with untracked arrays
            return "refused"
    gradient = np.zeros_like(arrays[k])
    ours = [(i, y) for i, y in enumerate(found) if isinstance(y, Array)]
    try:
        seeds = [xp.asarray(weights(i, np.asarray(y)), dtype=y.dtype) for i, y in ours]
        gradient = np.asarray(tape.gradient([y for _, y in ours], x, seeds)) if ours else gradient
    except GradientError as error:
        if "not computed from tracked arrays" not in str(error):
            assert "stop_gradient" in str(error) or "written" in str(error), error
            return "refused"
    rng = np.random.default_rng(99)
    largest = 0.0
    for _ in range(3):
        v = rng.standard_normal(arrays[k].shape)
        if arrays[k].dtype.kind == "c":
            v = v + 1j * rng.standard_normal(arrays[k].shape)

        def at(t: float, v: Any = v) -> float:
            return weighted(plain(arrays[k] + t * v))

        h = 1e-3
        slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        got = float(np.nansum((np.conj(v) * gradient).real))
        assert got == pytest.approx(slope, rel=1e-6, abs=1e-7), "the gradient is not that of differences"
        largest = max(largest, abs(slope))
    return "no number" if not found else "gradient" if largest > 1e-6 else "constant"


def check(expected: str, call: Call, *arrays: Any) -> None:
    for k in range(len(arrays)):
        assert outcome(call, arrays, k) == expected, f"argument {k}"


# --- names


def functions(prefix: str, module: ModuleType) -> dict[str, Call]:
    """The public functions of a namespace, by the names of the tables of rules."""
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        if callable(value) and not isinstance(value, type):
            found[name if not prefix or getattr(xp, name, None) is value else prefix + name] = value
    return found


FUNCTIONS: dict[str, Call] = {}
for _prefix, _module in (
    ("", xp),
    ("linalg.", xp.linalg),
    ("fft.", xp.fft),
    ("strided.", xp.strided),
    ("memory.", xp.memory),
    ("testing.", xp.testing),
):
    FUNCTIONS |= functions(_prefix, _module)

ATTRIBUTES = sorted(n for n in dir(Array) if getattr(Array, n, None) is not getattr(object, n, None))


# --- functions that have no rules

NO_ARRAYS = {
    *("__array_namespace_info__", "get_num_threads", "set_num_threads"),
    *(f"memory.{name}" for name in ("empty_cache", "get_limit", "set_limit", "stats")),
    "testing.as_array_api_strict",
    "testing.check_grad",  # takes a function
}


def _put_along_axis(x: Any, values: Any) -> Any:
    copy = xp.asarray(x, copy=True)
    xp.put_along_axis(copy, xp.asarray([[1], [0]]), values[:, :1], 1)
    return copy


# Examples of functions that are composed of others.
COMPOSED: dict[str, list[Example]] = {
    "diag": [
        ("gradient", lambda x: xp.diag(x[0, :]), X),
        ("gradient", lambda x: xp.diag(x[0, :], k=-2), X),
        ("gradient", lambda x: xp.diag(x, k=1), X),
    ],
    "linalg.lstsq": [
        ("gradient", lambda a, b: xp.linalg.lstsq(a, b).solution, X, Y),
        ("gradient", lambda a, b: xp.linalg.lstsq(a, b).residuals, X.T, Y[0]),
        ("gradient", lambda a: xp.linalg.lstsq(a, xp.asarray(Y)).singular_values, X),
        ("no number", lambda a: xp.linalg.lstsq(a, xp.asarray(Y)).rank, X),
    ],
    "logspace": [
        ("gradient", lambda a, b: xp.logspace(a, b, 5), POINT, np.asarray(1.2)),
        ("gradient", lambda a: xp.logspace(0.2, 1.1, 4, base=a), np.asarray(2.5)),
    ],
    "pad": [
        ("gradient", lambda x: xp.pad(x, ((1, 2), (0, 1))), X),
        ("gradient", lambda x, c: xp.pad(x, 2, constant_values=c), X, POINT),
    ],
    **{
        f"nan{name}": [
            ("gradient", lambda x, f=name: getattr(xp, f"nan{f}")(x), GAPS),
            ("gradient", lambda x, f=name: getattr(xp, f"nan{f}")(x, axis=1), GAPS),
        ]
        for name in ("cumprod", "cumsum", "max", "mean", "median", "min", "prod", "std", "sum", "var")
    },
    **{
        f"nan{name}": [("no number", lambda x, f=name: getattr(xp, f"nan{f}")(x, axis=1), GAPS)]
        for name in ("argmax", "argmin")
    },
    "allclose": [("no number", lambda x, y: xp.allclose(x, y), X, Y)],
    "at": [
        ("gradient", lambda x, v: xp.at(x)[0].add(v), X, Y[0]),
        ("gradient", lambda x, v: xp.at(x)[:, 1].multiply(v), X, POINT),
        ("gradient", lambda x, v: xp.at(x)[:, xp.asarray([1, 1])].subtract(v), X, POINT),
    ],
    "bincount": [("gradient", lambda w: xp.bincount(xp.asarray([2, 0, 2]), w), X[0])],
    "corrcoef": [("gradient", lambda x: xp.corrcoef(x), X)],
    "cov": [("gradient", lambda x, w: xp.cov(x, aweights=w), X, np.asarray([0.5, 1.0, 2.0]))],
    "histogram": [("gradient", lambda w: xp.histogram(xp.asarray([2.0, 0.0, 2.0]), 3, weights=w)[0], X[0])],
    "interp": [("gradient", lambda x, p, v: xp.interp(x, p, v), X, np.sort(Y[0]), Y[1])],
    "isclose": [("no number", lambda x, y: xp.isclose(x, y), X, Y)],
    "kron": [("gradient", lambda x, y: xp.kron(x, y), X, Y)],
    "median": [("gradient", lambda x: xp.median(x), X), ("gradient", lambda x: xp.median(x, axis=0), X)],
    "nan_to_num": [("gradient", lambda x: xp.nan_to_num(x), X)],
    "partition": [("gradient", lambda x: xp.partition(x, 1), X)],
    "percentile": [("gradient", lambda x: xp.percentile(x, 30.0, 1), X)],
    "put_along_axis": [("gradient", _put_along_axis, X, Y)],
    "quantile": [
        ("gradient", lambda x: xp.quantile(x, [0.2, 0.7], 1), X),
        ("gradient", lambda x, q: xp.quantile(x, q), X, np.asarray(0.3)),
    ],
    "top_k": [("gradient", lambda x: xp.top_k(x, 2).values, X)],
    "explain": [("no number", lambda x, y: repr(xp.explain(x, y)), X, Y[0])],
    "from_dlpack": [("refused", lambda x: xp.from_dlpack(x), X)],
    "replay": [("gradient", lambda x: xp.replay(xp.sin)(x), X)],
    "loop": [("gradient", lambda x: xp.loop(3, lambda k, y: xp.sin(y) + k, x), X)],
    "scan": [("gradient", lambda x, y: xp.scan(lambda s, z: (xp.sin(s) * z, s), x, y), X[0], Y)],
}

# Examples of functions with constant results (by the tables) that take more than arrays.
CONSTANT: dict[str, list[Example]] = {
    "argsort": [("no number", lambda x: xp.argsort(x, descending=True), X)],
    "argpartition": [("no number", lambda x: xp.argpartition(x, 1), X)],
    "broadcast_shapes": [("no number", lambda x, y: xp.broadcast_shapes(x.shape, y.shape), X, Y)],
    "can_cast": [("no number", lambda x: xp.can_cast(x, xp.complex128), X)],
    "empty": [("no number", lambda x: xp.empty(x.shape, dtype=xp.int8).shape, X)],
    "empty_like": [("no number", lambda x: xp.empty_like(x).shape, X)],
    "eye": [("constant", lambda x: xp.eye(x.shape[0]), X)],
    "fft.fftfreq": [
        ("constant", lambda x: xp.fft.fftfreq(x.size), X),
        ("refused", lambda d: xp.fft.fftfreq(4, d=d), POINT),
    ],
    "fft.rfftfreq": [
        ("constant", lambda x: xp.fft.rfftfreq(x.size), X),
        ("refused", lambda d: xp.fft.rfftfreq(4, d=d), POINT),
    ],
    "finfo": [("no number", lambda x: xp.finfo(x).bits, X)],
    "isdtype": [("no number", lambda x: xp.isdtype(x.dtype, "numeric"), X)],
    "isin": [("no number", lambda x, y: xp.isin(x, y), X, Y), ("no number", lambda x: xp.isin(x, 0.5), X)],
    "linalg.matrix_rank": [
        ("no number", lambda x, r: xp.linalg.matrix_rank(x, rtol=r), SQUARE, np.asarray(1e-3))
    ],
    "nonzero": [("no number", lambda x: xp.nonzero(x), X)],
    "ones": [("constant", lambda x: xp.ones(x.shape, dtype=x.dtype), X)],
    "ones_like": [("constant", lambda x: xp.ones_like(x), X)],
    "result_type": [("no number", lambda x, y: xp.result_type(x, y, 1.0), X, Y)],
    "searchsorted": [("no number", lambda x, y: xp.searchsorted(x, y), np.sort(X[0]), Y)],
    "strided.memory_statistics": [],
    **{
        f"strided.{name}": [("no number", getattr(xp.strided, name), X)]
        for name in ("offset", "storage_nbytes", "strides")
    },
    "strided.shares_storage": [("no number", lambda x, y: xp.strided.shares_storage(x, y), X, Y)],
    "einsum_path": [("no number", lambda x: xp.einsum_path("ij,kj->ik", x, x), X)],
    "zeros": [("constant", lambda x: xp.zeros(x.shape, dtype=x.dtype), X)],
    "zeros_like": [("constant", lambda x: xp.zeros_like(x), X)],
}
# These take no floating-point numbers.
INTEGERS = {
    *("bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift"),
    *("bitwise_xor", "iinfo"),
}


def arity(function: Call) -> int:
    found = inspect.signature(function).parameters.values()
    return sum(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in found)


def examples(name: str) -> list[Example]:
    """Calls of a function that the tables of rules call constant."""
    if name in CONSTANT:
        return CONSTANT[name]
    function = FUNCTIONS[name]
    count = arity(function)
    assert count in (1, 2), f"{name} needs an example"
    result = function(*[xp.asarray(a) for a in (X, Y)[:count]])
    return [("constant" if floats(result) else "no number", function, *(X, Y)[:count])]


def test_every_function_is_classified() -> None:
    known = {*VJP, *NO_GRAD, *NO_ARRAYS, *COMPOSED}
    assert not set(FUNCTIONS) - known, sorted(set(FUNCTIONS) - known)
    # The lists contain only existing names.
    assert not {*NO_ARRAYS, *COMPOSED, *CONSTANT, *INTEGERS} - set(FUNCTIONS)
    assert not {*NO_ARRAYS, *COMPOSED} & {*VJP, *NO_GRAD}
    assert not {*CONSTANT, *INTEGERS} - set(NO_GRAD)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) & set(VJP) - {"asarray"}))
def test_functions_with_rules(name: str) -> None:
    """Each argument is tracked separately; no result is constant if finite differences say otherwise."""
    found = set()
    for case in [case for case in CASES if case.name == name][:6]:
        arrays = arguments(case)
        for k in range(len(arrays)):
            found.add(outcome(lambda *xs, case=case: case.call(xp, *xs), arrays, k))
    assert found and "refused" not in found and (name == "sign" or "gradient" in found), found


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) & set(NO_GRAD)))
def test_functions_without_rules(name: str) -> None:
    if name in INTEGERS:
        with Tape() as tape:
            x = tape.watch(xp.asarray(X))
            with pytest.raises((TypeError, GradientError)):
                FUNCTIONS[name](*[x] * arity(FUNCTIONS[name]))
        return
    for example in examples(name):
        check(*example)


@pytest.mark.parametrize("name", sorted(COMPOSED))
def test_composed_functions(name: str) -> None:
    for example in COMPOSED[name]:
        check(*example)


# --- arguments that are not arrays in the standard, but may be arrays here

ARGUMENTS: dict[str, list[Example]] = {
    "asarray": [
        ("gradient", lambda x: xp.asarray(x, copy=True), X),
        ("gradient", lambda x: xp.asarray(x, dtype=xp.complex128), X),
        ("gradient", lambda x, y: xp.asarray([x, y]), X, Y),
        ("gradient", lambda x: xp.asarray([[x, 1.0], [2.0, x]]), POINT),
    ],
    "full": [("gradient", lambda x: xp.full((2, 3), x), POINT)],
    "full_like": [("gradient", lambda x: xp.full_like(xp.zeros(3), x), POINT)],
    "where": [
        ("gradient", lambda x, y: xp.where(x > 0, x, y), X, Y),
        ("gradient", lambda x: xp.where(x > 0, 2.0, x), X),
    ],
    "add": [("gradient", lambda x, y, a: xp.add(x, y, alpha=a), X, Y, POINT)],
    "diff": [
        ("gradient", lambda x, p, a: xp.diff(x, prepend=p, append=a), X, Y[:, :1], X[:, 1:]),
    ],
    "var": [("gradient", lambda x: xp.var(x, correction=1), X)],
    "linalg.pinv": [("gradient", lambda x: xp.linalg.pinv(x, rtol=1e-9), SQUARE)],
    "astype": [
        ("gradient", lambda x: xp.astype(x, xp.complex128), X),
        ("no number", lambda x: xp.astype(x, xp.int64), X),
    ],
    "take": [("gradient", lambda x: xp.take(x, INDEX, axis=0), X)],
}


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_further_arguments(name: str) -> None:
    assert name in FUNCTIONS
    for example in ARGUMENTS[name]:
        check(*example)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.linalg.pinv(xp.asarray(SQUARE), rtol=x),
        lambda x: xp.var(xp.asarray(X), correction=x),
        lambda x: xp.std(xp.asarray(X), correction=x),
        lambda x: xp.linalg.matrix_norm(xp.asarray(SQUARE), ord=x),
        lambda x: xp.linalg.vector_norm(xp.asarray(X), ord=x),
        lambda x: xp.nanvar(xp.asarray(X), ddof=x),
        lambda x: xp.nanstd(xp.asarray(X), ddof=x),
        lambda x: xp.asarray(X).std(ddof=x),
        lambda x: xp.asarray(X).var(correction=x),
        lambda x: xp.arange(x, 3.0),
        lambda x: xp.arange(0.0, x + 2.5, 0.9),
        lambda x: xp.arange(0.0, 3.0, x),
    ],
)
def test_parameters_are_right_or_refused(call: Call) -> None:
    """Numbers that control a function, given as tracked arrays."""
    try:
        assert outcome(call, (np.asarray(1.3),), 0) in ("gradient", "refused", "constant")
    except (TypeError, ValueError) as error:
        # Arrays are refused, tracked or not.
        with pytest.raises(type(error)):
            call(xp.asarray(1.3))


# --- methods, operators and attributes


def operator_examples(name: str) -> list[Example]:
    """Examples of an operator of two operands, with an array and with a number."""

    def call(x: Any, y: Any) -> Any:
        out = getattr(x, name)(y)
        assert out is not NotImplemented
        return out

    return [("gradient", call, X, Y), ("gradient", lambda x: call(x, 1.55), X)]


def in_place_examples(name: str) -> list[Example]:
    def call(x: Any, y: Any) -> Any:
        out = xp.asarray(x, copy=True)
        return getattr(out, name)(y)

    return [("gradient", call, X, Y)]


def written(x: Any, y: Any) -> Any:
    out = xp.asarray(x, copy=True)
    out[0] = y
    return out


def method(name: str, *args: Any, expected: str = "gradient", x: Any = X, **named: Any) -> list[Example]:
    return [(expected, lambda a: getattr(a, name)(*args, **named), x)]


REAL_ONE = ("acos", "asin", "atanh")
ABOVE_ONE = ("acosh", "log", "log10", "log1p", "log2", "sqrt")
POSITIVE = np.abs(X) + 1.1
FLOATING_METHODS = (
    *("abs", "asinh", "atan", "conj", "conjugate", "cos", "cosh", "exp", "expm1", "negative", "positive"),
    *("reciprocal", "sin", "sinh", "square", "tan", "tanh"),
    *(
        "copy",
        "flatten",
        "matrix_transpose",
        "max",
        "mean",
        "min",
        "prod",
        "ravel",
        "std",
        "sum",
        "transpose",
    ),
    *("tril", "triu", "var", "view", "squeeze", "cumprod", "cumsum", "diff"),
)

METHODS: dict[str, list[Example]] = {
    **{name: method(name) for name in FLOATING_METHODS},
    **{name: method(name, x=X / 2) for name in REAL_ONE},
    **{name: method(name, x=POSITIVE) for name in ABOVE_ONE},
    **{
        name: method(name, expected="no number")
        for name in (
            *("all", "any", "argmax", "argmin", "argsort", "count_nonzero", "isfinite", "isinf", "isnan"),
            *("logical_not", "nonzero", "signbit"),
        )
    },
    **{name: method(name, expected="constant") for name in ("ceil", "floor", "trunc", "sign")},
    "astype": method("astype", xp.complex128)
    + method("astype", float)
    + method("astype", int, expected="no number"),
    "bitwise_invert": [],  # takes no floating-point numbers
    "broadcast_to": method("broadcast_to", (4, 2, 3)),
    "clip": [("gradient", lambda x, a: x.clip(a, 0.75), X, -np.ones(3)), *method("clip", -0.5, 0.5)],
    "cumprod": method("cumprod") + method("cumprod", 1) + method("cumprod", axis=0, dtype=xp.complex128),
    "cumsum": method("cumsum") + method("cumsum", 1) + method("cumsum", axis=0, dtype=xp.complex128),
    "cumulative_prod": method("cumulative_prod", 1, include_initial=True),
    "cumulative_sum": method("cumulative_sum", 1, include_initial=True),
    "device": [("no number", lambda x: x.device, X)],
    "dtype": [("no number", lambda x: x.dtype, X)],
    "expand_dims": method("expand_dims", axis=1),
    "flip": method("flip") + method("flip", 1),
    "imag": [("gradient", lambda x: x.imag, Z)],
    "item": method("item", expected="refused", x=ONE) + method("item", 1, 2, expected="refused"),
    "itemsize": [("no number", lambda x: x.itemsize, X)],
    "mT": [("gradient", lambda x: x.mT, X)],
    "T": [("gradient", lambda x: x.T, X)],
    "moveaxis": method("moveaxis", 0, 1),
    "nbytes": [("no number", lambda x: x.nbytes, X)],
    "ndim": [("no number", lambda x: x.ndim, X)],
    "permute_dims": method("permute_dims", 1, 0) + method("permute_dims", (1, 0)),
    "real": [("gradient", lambda x: x.real, Z), ("gradient", lambda x: x.real, X)],
    "repeat": method("repeat", 2) + method("repeat", INDEX, axis=1),
    "reshape": method("reshape", 3, 2) + method("reshape", (-1,), copy=True),
    "roll": method("roll", 1) + method("roll", 1, 1),
    "round": method("round", expected="constant")
    + method("round", 2, expected="constant")
    + method("round", 1, expected="constant", x=Z),
    "searchsorted": [("no number", lambda x, y: x.searchsorted(y), np.sort(X[0]), Y)],
    "shape": [("no number", lambda x: x.shape, X)],
    "size": [("no number", lambda x: x.size, X)],
    "squeeze": method("squeeze", x=X[None]) + method("squeeze", 0, x=X[None]),
    "std": method("std", 1, ddof=1) + method("std", dtype=xp.float64),
    "sum": method("sum", 1) + method("sum", keepdims=True) + method("sum", out=None, axis=0),
    "take": method("take", [0, 4]) + method("take", INDEX, 0),
    "take_along_axis": method("take_along_axis", xp.asarray([[1], [0]]), 1),
    "tile": method("tile", (2, 1)),
    "to_device": method("to_device", "cpu") + method("to_device", xp.asarray(0.0).device),
    "tolist": method("tolist", expected="refused") + method("tolist", expected="refused", x=POINT),
    "transpose": method("transpose") + method("transpose", 1, 0) + method("transpose", None),
    "unstack": method("unstack") + method("unstack", axis=1),
    "var": method("var", 1, ddof=1) + method("var", dtype=xp.float64),
    "view": [
        *method("view"),
        *method("view", float),
        *method("view", xp.float64),
        *method("view", float, x=Z),
        *method("view", complex, x=np.concatenate((X, Y, X, Y), axis=1)),
        *method("view", complex, x=Z),
        ("gradient", lambda x: x.T.view(float), X),
        ("gradient", lambda x: xp.broadcast_to(x, (3, 2)).view(complex), X[0, :2]),
        *method("view", xp.int64, expected="refused"),
        *method("view", xp.float32, expected="refused"),
    ],
}

SPECIAL: dict[str, list[Example]] = {
    **{
        name: operator_examples(name)
        for name in (
            *("__add__", "__mul__", "__sub__", "__truediv__", "__radd__", "__rmul__", "__rsub__"),
            *("__rtruediv__", "__mod__", "__rmod__"),
        )
    },
    "__pow__": [("gradient", lambda x, y: x**y, POSITIVE, Y), ("gradient", lambda x: x**2, X)],
    "__rpow__": [("gradient", lambda y: 1.7**y, Y), ("gradient", lambda y, x: y.__rpow__(x), Y, POSITIVE)],
    "__matmul__": [("gradient", lambda x, y: x @ y.T, X, Y)],
    "__rmatmul__": [("gradient", lambda x, y: y.T.__rmatmul__(x), X, Y)],
    **{
        name: in_place_examples(name)
        for name in ("__iadd__", "__imod__", "__imul__", "__isub__", "__itruediv__")
    },
    "__ipow__": [("gradient", lambda x, y: xp.asarray(x, copy=True).__ipow__(y), POSITIVE, Y)],
    "__imatmul__": [
        ("gradient", lambda x, y: xp.asarray(x, copy=True).__imatmul__(y), X, SQUARE_3 := np.eye(3) + 0.1)
    ],
    "__ifloordiv__": [("constant", lambda x, y: xp.asarray(x, copy=True).__ifloordiv__(y), X, Y)],
    **{
        name: [("constant", lambda x, y, name=name: getattr(x, name)(y), X, Y)]
        for name in ("__floordiv__", "__rfloordiv__")
    },
    **{
        name: [("gradient", lambda x, y, name=name: getattr(x, name)(y)[1], X, Y)]
        for name in ("__divmod__", "__rdivmod__")
    },
    **{
        name: [("no number", lambda x, y, name=name: getattr(x, name)(y), X, Y)]
        for name in ("__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__")
    },
    "__abs__": [("gradient", abs, X)],
    "__neg__": [("gradient", lambda x: -x, X)],
    "__pos__": [("gradient", lambda x: +x, X)],
    "__getitem__": [
        ("gradient", lambda x: x[1, ::2], X),
        ("gradient", lambda x: x[INDEX], X),
        ("gradient", lambda x: x[x > 0], X),
    ],
    "__setitem__": [("gradient", written, X, Y[0])],
    "__iter__": [("gradient", lambda x: list(x), X), ("gradient", lambda x: [row for row in x.T], X)],
    "__copy__": [("gradient", copy.copy, X)],
    "__deepcopy__": [("gradient", copy.deepcopy, X), ("gradient", lambda x: copy.deepcopy([x])[0], X)],
    "__array__": [("refused", np.asarray, X), ("refused", lambda x: x.__array__(), X)],
    "__array_ufunc__": [
        ("gradient", lambda x: np.sin(x), X),
        ("gradient", lambda x, y: np.multiply(x, y), X, Y),
        ("gradient", lambda x: np.float64(2.0) * x, X),
    ],
    "__dlpack__": [("refused", np.from_dlpack, X), ("refused", lambda x: x.__dlpack__(), X)],
    "__float__": [("refused", float, POINT), ("refused", math.sin, POINT)],
    "__complex__": [("refused", complex, POINT)],
    "__bytes__": [("refused", bytes, X)],
    "__round__": [("constant", lambda x: round(x, 2), X), ("no number", round, POINT)],
    "__reduce_ex__": [("refused", lambda x: pickle.loads(pickle.dumps(x)), X)],
    **{
        name: [("no number", call, x)]
        for name, call, x in (
            ("__array_namespace__", lambda x: x.__array_namespace__(), X),
            ("__array_priority__", lambda x: int(x.__array_priority__), X),
            ("__pandas_priority__", lambda x: int(x.__pandas_priority__), X),
            ("__bool__", bool, POINT),
            ("__contains__", lambda x: 0.3 in x, X),
            ("__dlpack_device__", lambda x: x.__dlpack_device__(), X),
            ("__dir__", dir, X),
            ("__format__", lambda x: f"{x:.3f}", POINT),
            ("__int__", int, POINT),
            ("__len__", len, X),
            ("__repr__", repr, X),
            ("_repr_html_", lambda x: x._repr_html_(), X),
            ("__sizeof__", lambda x: x.__sizeof__(), X),
            ("__str__", str, X),
        )
    },
}
if sys.version_info >= (3, 12):
    SPECIAL["__buffer__"] = [("refused", memoryview, X)]
    SPECIAL["__release_buffer__"] = [("refused", lambda x: memoryview(x).release(), X)]
# Attributes of integer and bool arrays, or of the type.
NO_FLOATS = {
    *("__and__", "__iand__", "__rand__", "__or__", "__ior__", "__ror__", "__xor__", "__ixor__", "__rxor__"),
    *("__lshift__", "__ilshift__", "__rlshift__", "__rshift__", "__irshift__", "__rrshift__"),
    *("__invert__", "__index__", "bitwise_invert"),
}
OF_THE_TYPE = {
    "__delitem__",
    "__dlpack_c_exchange_api__",
    "__doc__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__subclasshook__",
}
MEMBERS = METHODS | SPECIAL


def test_every_attribute_is_classified() -> None:
    known = {*MEMBERS, *NO_FLOATS, *OF_THE_TYPE}
    assert not set(ATTRIBUTES) - known, sorted(set(ATTRIBUTES) - known)
    assert not known - {*dir(Array)}, sorted(known - {*dir(Array)})


@pytest.mark.parametrize("name", sorted(set(MEMBERS) - NO_FLOATS))
def test_attributes(name: str) -> None:
    assert MEMBERS[name]
    for example in MEMBERS[name]:
        check(*example)


@pytest.mark.parametrize("name", sorted(NO_FLOATS))
def test_attributes_of_integers(name: str) -> None:
    with Tape() as tape:
        x = tape.watch(xp.asarray(X))
        with pytest.raises((TypeError, GradientError)):
            out = getattr(x, name)(*[x] * (name not in ("__invert__", "__index__", "bitwise_invert")))
            if out is NotImplemented:
                raise TypeError


def test_the_buffer_is_refused() -> None:
    check("refused", lambda x: memoryview(x), X)
    check("refused", lambda x: np.frombuffer(x), X)

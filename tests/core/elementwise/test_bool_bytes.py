"""Bool memory of other libraries with bytes other than 0 and 1: every function sees truth values."""

from __future__ import annotations

import copy
import inspect
import itertools
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fuzz import functions
from helpers import quietly

import stride0 as xp
from stride0.autograd import grad

BYTES = np.asarray([0, 1, 2, 128, 255, 0, 0, 4], np.uint8)
Views = Callable[[Any], Any]
LAYOUTS: dict[str, Views] = {
    "C": lambda a: a,
    "transposed": lambda a: a.T,
    "sliced": lambda a: a[..., ::2],
    "negative": lambda a: a[..., ::-1],
    "broadcast": lambda a: np.broadcast_to(a[..., :1], a.shape),
}
SHAPES = [(3,), (40,), (300,), (3, 3), (40, 50)]
CASES = [*itertools.product(SHAPES, LAYOUTS), ((100, 90), "transposed")]


def both(shape: tuple[int, ...], layout: str, seed: int = 0) -> tuple[Any, Any]:
    """Return an array whose true elements are any nonzero bytes, and an equal one where they are 1."""
    found = np.random.default_rng(seed).choice(BYTES, shape)
    view = LAYOUTS[layout]
    return xp.asarray(view(found).view(bool)), xp.asarray(view((found != 0).astype(np.uint8)).view(bool))


def plain(value: Any) -> Any:
    """Return a result in a form that can be compared."""
    if isinstance(value, xp.Array):
        a = np.asarray(value)
        elements = np.ascontiguousarray(a).view(np.uint8) != 0 if a.dtype == bool else a
        return a.dtype.name, a.shape, elements.tobytes()
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return repr(value) if isinstance(value, (bool, int, float, complex, str, bytes)) else type(value).__name__


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return plain(quietly(lambda: call(*args, **kwargs)))
    except (TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        return type(error).__name__


# Functions that do not read elements, or read bytes on purpose.
OTHER = {"empty", "empty_like", "explain", "as_strided", "replay", "set_num_threads"}
ALL = [(name, function) for name, function, _ in functions() if name not in OTHER]


@pytest.mark.parametrize("shape, layout", CASES, ids=str)
def test_every_function(shape, layout):
    """With one, two or three arrays, and with arguments that bool arrays seldom get."""
    x, y = both(shape, layout), both(shape, layout, 1)
    worked = set()
    for name, function in ALL:
        options = {
            key: value
            for key, value in {"axis": 0, "descending": True, "invert": True, "correction": 0}.items()
            if key in inspect.signature(function).parameters
        }
        calls: list[Callable[[int], Any]] = [
            lambda k, f=function: f(x[k]),
            lambda k, f=function: f(x[k], y[k]),
            lambda k, f=function: f(x[k], y[k], x[k]),
            lambda k, f=function: f([x[k], y[k]]),
            lambda k, f=function: f(x[k], 1),
            lambda k, f=function: f(1, x[k]),
            lambda k, f=function: f(x[k], xp.float32),
            lambda k, f=function, o=options: f(x[k], **o),
            lambda k, f=function, o=options: f(x[k], y[k], **o),
        ]
        for number, call in enumerate(calls):
            got, expected = outcome(call, 0), outcome(call, 1)
            assert got == expected, f"{name}, call {number}"
            if not isinstance(expected, str):
                worked.add(name)
    assert len(worked) > 120


METHODS = [name for name in dir(xp.Array) if name[0] != "_" and callable(getattr(xp.Array, name, None))]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3,), (300,), (40, 50)], ids=str)
def test_every_method_and_operator(shape, layout):
    x, y = both(shape, layout), both(shape, layout, 1)
    for name in METHODS:
        for more in ((), (0,)):
            call = operator.methodcaller(name, *more)
            assert outcome(call, x[0]) == outcome(call, x[1]), name
    calls: list[Callable[[int], Any]] = [
        *(lambda k, f=f: f(x[k], y[k]) for f in (operator.eq, operator.ne, operator.lt, operator.and_)),
        *(lambda k, f=f: f(x[k], y[k]) for f in (operator.or_, operator.xor, operator.add, operator.mul)),
        *(lambda k, f=f: f(x[k]) for f in (operator.invert, abs, repr, str, list)),
        lambda k: (True in x[k], False in x[k]),
        lambda k: [f(x[k][(1,) * len(shape)]) for f in (bool, int, float, complex, str, repr)],
        lambda k: f"{x[k][(2,) * len(shape)]}",
        lambda k: pickle.loads(pickle.dumps(x[k])) & y[k],
        lambda k: copy.deepcopy(x[k]) ^ y[k],
        lambda k: np.asarray(x[k]) & np.asarray(y[k]),
        lambda k: xp.from_dlpack(x[k]) | y[k],
    ]
    for number, call in enumerate(calls):
        assert outcome(call, 0) == outcome(call, 1), number


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3,), (40,), (9000,), (3, 3), (40, 50), (150, 150)], ids=str)
def test_masks(shape, layout):
    x = both(shape, layout)
    size = x[1].shape
    values, more = (xp.reshape(xp.arange(n, n + x[1].size) * 1.5, size) for n in (0, 7))
    calls: list[Callable[[Any], Any]] = [
        lambda m: values[m],
        lambda m: values[m, ...],
        lambda m: values[m[:, 0]] if m.ndim > 1 else values[m],
        lambda m: written(values, m, -1.0),
        lambda m: written(values, m, values[m] * 2),
        lambda m: written(values, (m, ...), 3.0),
        lambda m: xp.where(m, values, more),
        lambda m: xp.where(m, 1.0, more),
        lambda m: xp.where(m, values, 2),
        lambda m: xp.nonzero(m),
        lambda m: values * m,
        lambda m: m + values,
        lambda m: values + xp.astype(m, xp.int8),
        lambda m: grad(lambda v: xp.sum(v[m] * v[m]))(values),
        lambda m: grad(lambda v: xp.sum(xp.where(m, v, v * v)))(values),
        lambda m: m[m],
        lambda m: written(m, m, False),
    ]
    for number, call in enumerate(calls):
        assert plain(call(x[0])) == plain(call(x[1])), number


def written(x: Any, key: Any, value: Any) -> Any:
    out = xp.asarray(x, copy=True)
    out[key] = value
    return out


@pytest.mark.parametrize("n", [2, 5, 100, 129, 3000, 20_000])
def test_order_is_that_of_truth_values(n):
    """Sorting, searching and unique values, compared with NumPy on normalised memory."""
    for layout in ("C", "sliced", "negative"):
        x, clean = both((n,), layout)
        a = np.asarray(clean)
        for descending in (False, True):
            order = np.argsort(~a if descending else a, stable=True)
            assert xp.argsort(x, descending=descending).tolist() == order.tolist()
            assert xp.sort(x, descending=descending).tolist() == a[order].tolist()
        assert xp.unique_values(x).tolist() == np.unique(a).tolist()
        for got, expected in zip(xp.unique_counts(x), np.unique(a, return_counts=True), strict=True):
            assert got.tolist() == expected.tolist()
        for got, expected in zip(xp.unique_inverse(x), np.unique(a, return_inverse=True), strict=True):
            assert got.tolist() == expected.tolist()
        ordered = xp.sort(x)
        for side in ("left", "right"):
            got = xp.searchsorted(ordered, x, side=side)
            assert got.tolist() == np.searchsorted(np.sort(a), a, side=side).tolist()
            got = xp.searchsorted(x, xp.flip(x), side=side, sorter=xp.argsort(x))
            assert got.tolist() == np.searchsorted(np.sort(a), a[::-1], side=side).tolist()
        assert xp.isin(x, x[:1]).tolist() == np.isin(a, a[:1]).tolist()


def test_counts_and_indices_of_dirty_bytes_by_hand():
    x = xp.asarray(np.asarray([2, 0, 1, 255, 0], np.uint8).view(bool))
    assert xp.unique_values(x).tolist() == [False, True]
    assert xp.unique_counts(x).counts.tolist() == [2, 3]
    assert xp.argsort(x, descending=True).tolist() == [0, 2, 3, 1, 4]
    assert xp.argsort(x).tolist() == [1, 4, 0, 2, 3]
    assert np.asarray(xp.sort(x)).view(np.uint8).tolist() == [0, 0, 1, 1, 1]
    assert xp.searchsorted(xp.asarray([False, True]), x).tolist() == [1, 0, 1, 1, 0]

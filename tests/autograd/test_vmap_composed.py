"""Functions, methods and operators without a batching rule, against a loop over the examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_gradient_coverage import COMPOSED, METHODS, SPECIAL

import stride0 as xp
from stride0.autograd import vmap
from stride0.autograd._tape.trees import flatten

COUNT = 2
# Calls that read a value, which differs by example: by name, or by name and number of the call.
REFUSED = {
    *("__bool__", "__contains__", "__format__", "__int__", "_repr_html_"),
    *("allclose", "explain", "nonzero"),
    ("__getitem__", 2),  # a mask
    ("__round__", 1),
}
# The size that Python counts, and texts, which say that an array is batched.
OUTSIDE = {"__repr__", "__sizeof__", "__str__"}
CALLS = [
    (name, k, example[1], [np.asarray(a) for a in example[2:]])
    for table in (COMPOSED, METHODS, SPECIAL)
    for name, examples in table.items()
    if name not in OUTSIDE
    for k, example in enumerate(examples)
    if example[0] != "refused"
]


def listed(y: Any) -> Any:
    return list(y) if isinstance(y, Iterator) else y


@pytest.mark.parametrize(("name", "k", "call", "arrays"), CALLS, ids=[f"{c[0]}-{c[1]}" for c in CALLS])
def test_values(name: str, k: int, call: Callable[..., Any], arrays: list[Any]) -> None:
    rng = np.random.default_rng(3)
    batches = [np.stack([a, a * rng.uniform(0.97, 1.03, a.shape)]) for a in arrays]
    f = lambda *xs: listed(call(*xs))  # noqa: E731
    if name in REFUSED or (name, k) in REFUSED:
        with pytest.raises(xp.BatchingError):
            vmap(f)(*map(xp.asarray, batches))
        return
    expected = [flatten(f(*[xp.asarray(b[i], copy=True) for b in batches]))[0] for i in range(COUNT)]
    found = flatten(vmap(f)(*[xp.asarray(b, copy=True) for b in batches]))[0]
    assert len(found) == len(expected[0])
    for j, y in enumerate(found):
        if isinstance(y, xp.Array):
            wanted = np.stack([np.asarray(e[j]) for e in expected])
            assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
            assert_allclose(np.asarray(y), wanted, rtol=1e-12, atol=1e-14)
        else:
            assert y == expected[0][j]


def test_least_squares_by_its_name() -> None:
    """The decomposition checks values; its error is raised with the name of the function."""
    a = xp.asarray([[[1.0, 2.0], [3.0, 4.0]], [[1.0, xp.nan], [3.0, 4.0]]])
    with pytest.raises(xp.linalg.LinAlgError, match=r"(?s)^lstsq: the matrix has NaN.*x1.*index\s+\(1,\)"):
        vmap(lambda x: xp.linalg.lstsq(x, xp.ones(2)).solution)(a)


@pytest.mark.parametrize(
    "name",
    [
        "linalg.lstsq",
        "ndimage.distance_transform_edt",
        "ndimage.extrema",
        "ndimage.grey_closing",
        "ndimage.median",
    ],
)
def test_forms_of_scipy_are_refused_by_their_names(name: str) -> None:
    pytest.importorskip("scipy")
    function = attrgetter(name)(xp.autograd.scipy)
    x = xp.asarray(np.random.default_rng(0).uniform(size=(2, 3, 3)))
    given = {"ndimage.grey_closing": (x, 3, x), "linalg.lstsq": (x, x)}.get(name, (x,))
    with pytest.raises(xp.BatchingError, match="loop over the examples") as caught:
        vmap(function, [None if isinstance(a, int) else 0 for a in given])(*given)
    assert caught.value.operation == f"scipy.{name}"


def test_an_error_of_a_function_that_a_form_calls() -> None:
    """The error names the call of the caller's function."""
    pytest.importorskip("scipy")
    bisect = xp.autograd.scipy.optimize.bisect
    with pytest.raises(xp.BatchingError, match=r"^bool: "):
        vmap(lambda x: bisect(lambda z: z if x > 0 else -z, -1.0, 1.0))(xp.ones(2))

"""Patterns of every case of the gradient rules: no entry of dense Jacobians and Hessians is missing."""

from __future__ import annotations

import functools
import importlib
import operator
import zlib
from typing import Any

import numpy as np
import pytest
from gradient_cases import Case

import stride0 as xp
from stride0 import autograd
from stride0.autograd._tape.trees import flatten

pytest.importorskip("scipy.sparse")

CHAPTERS = ("elementwise", "statistical", "manipulation", "linalg", "fft")
CASES: list[Case] = [
    case for chapter in CHAPTERS for case in importlib.import_module(f"gradient_cases_{chapter}").CASES
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c.name}-{c.id}" for c in CASES])
def test_no_entry_is_missing(case: Case) -> None:
    args = case.args(np.random.default_rng(zlib.crc32(f"{case.name} {case.id}".encode())))
    xs = [xp.asarray(a, copy=True) for a in args]
    which = tuple(range(len(xs)))

    def f(*given: Any) -> Any:
        found = [y for y in flatten(case.call(xp, *given))[0] if isinstance(y, xp.Array)]
        parts = [xp.reshape(y, (-1,)) for y in found if "floating" in y.dtype.kind]
        return xp.concat([xp.real(y) + xp.imag(y) if "complex" in y.dtype.name else y for y in parts])

    def loss(*given: Any) -> Any:
        y = f(*given)
        return xp.sum(y * xp.asarray(np.cos(np.arange(y.shape[0]) * 1.0), dtype=y.dtype))

    rows = autograd.jacobian(f, which, mode="reverse")(*xs)
    dense = np.concatenate(
        [np.asarray(r).reshape(r.shape[0], x.size) for r, x in zip(rows, xs, strict=True)], axis=1
    )
    pattern = autograd.jacobian_sparsity(f, *xs, argnums=which).toarray()
    assert not ((dense != 0) & ~pattern).any()
    if all(x.dtype == xp.float64 for x in xs) and case.order > 1:
        blocks = autograd.hessian(loss, which)(*xs)
        whole = np.block(
            [
                [np.asarray(b).reshape(x.size, y.size) for b, y in zip(row, xs, strict=True)]
                for row, x in zip(blocks, xs, strict=True)
            ]
        )
        pattern = autograd.hessian_sparsity(loss, *xs, argnums=which).toarray()
        # Entries that are only rounding errors do not count.
        assert not ((np.abs(whole) > 1e-13 * np.abs(whole).max(initial=0.0)) & ~pattern).any()


FORMS = [
    case
    for chapter in ("forms", "images", "numerics")
    for case in importlib.import_module(f"gradient_cases_scipy_{chapter}").CASES
]


@pytest.mark.parametrize("case", FORMS, ids=lambda case: case.id)
def test_no_entry_of_forms_of_scipy_is_missing(case: Any) -> None:
    pytest.importorskip("scipy", minversion="1.17", reason="the cases are those of SciPy 1.17")
    function = operator.attrgetter(f"{case.module}.{case.name}")(autograd.scipy)

    def f(*given: Any) -> Any:
        call = function if case.mine is None else functools.partial(case.mine, function)
        found = [y for y in flatten(call(*given, **case.options))[0] if isinstance(y, xp.Array)]
        parts = [xp.reshape(y, (-1,)) for y in found if "floating" in y.dtype.kind]
        return xp.concat([xp.real(y) + xp.imag(y) if "complex" in y.dtype.name else y for y in parts])

    xs = [xp.asarray(a, copy=True) for a in case.arrays]
    which = tuple(range(len(xs)))
    rows = autograd.jacobian(f, which, mode="reverse")(*xs)
    dense = np.concatenate(
        [np.asarray(r).reshape(r.shape[0], x.size) for r, x in zip(rows, xs, strict=True)], axis=1
    )
    pattern = autograd.jacobian_sparsity(f, *xs, argnums=which).toarray()
    assert not ((dense != 0) & ~pattern).any()

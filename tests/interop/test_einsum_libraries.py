"""`einsum` in calls of other libraries: opt_einsum, einops and xarray."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp

RNG = np.random.default_rng(0)
CHAINS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("bij,bjk,bk->bi", (2, 3, 4), (2, 4, 5), (2, 5)),
    ("ijk,jr,kr->ir", (3, 4, 5), (4, 2), (5, 2)),
    ("ab,cd->dcba", (2, 3), (4, 5)),
    ("ii,ij->j", (3, 3), (3, 2)),
]


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("call", CHAINS, ids=lambda call: call[0])
def test_opt_einsum(call: Any) -> None:
    contract = pytest.importorskip("opt_einsum", reason="needs opt_einsum").contract
    subscripts, *shapes = call
    given = arrays(*shapes)
    found = contract(subscripts, *map(xp.asarray, given))
    assert isinstance(found, xp.Array)
    np.testing.assert_allclose(np.asarray(found), np.einsum(subscripts, *given), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("optimize", ["greedy", "optimal"])
@pytest.mark.parametrize("call", [c for c in CHAINS if len(c) > 3], ids=lambda call: call[0])
def test_paths_are_those_of_opt_einsum_or_as_good(call: Any, optimize: str) -> None:
    opt_einsum = pytest.importorskip("opt_einsum", reason="needs opt_einsum")
    subscripts, *shapes = call
    given = arrays(*shapes)
    path, _ = xp.einsum_path(subscripts, *map(xp.asarray, given), optimize=optimize)
    cost = opt_einsum.contract_path(subscripts, *given, optimize=[tuple(step) for step in path[1:]])[
        1
    ].opt_cost
    assert cost <= opt_einsum.contract_path(subscripts, *given, optimize=optimize)[1].opt_cost


@pytest.mark.parametrize(
    ("pattern", "shapes"),
    [
        ("batch row inner, inner column -> batch row column", [(2, 3, 4), (4, 5)]),
        ("i j, i j -> i", [(3, 4), (3, 4)]),
        ("... d, d e -> ... e", [(2, 3, 4), (4, 2)]),
    ],
)
def test_einops(pattern: str, shapes: list[tuple[int, ...]]) -> None:
    pytest.importorskip("einops", minversion="0.7", reason="needs einops")
    from einops import _backends, einsum

    class Backend(_backends.AbstractBackend):  # type: ignore[misc]
        """The backend that a user defines for einops' functions for frameworks."""

        framework_name = "stride0"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, xp.Array)

        def einsum(self, pattern: str, *x: Any) -> Any:
            return xp.einsum(pattern, *x)

    backend = Backend()
    _backends._type2backend[xp.Array] = backend
    try:
        given = arrays(*shapes)
        found = einsum(*map(xp.asarray, given), pattern)
        assert isinstance(found, xp.Array)
        np.testing.assert_allclose(np.asarray(found), einsum(*given, pattern), rtol=1e-12, atol=1e-12)
    finally:
        del _backends._type2backend[xp.Array]


def test_xarray_dot() -> None:
    pytest.importorskip("pandas", reason="xarray needs pandas")
    xr = pytest.importorskip("xarray", reason="needs xarray")
    # For dimensions in another order xarray calls `transpose`, which the standard does not define.
    a, b = arrays((2, 3, 4), (3, 4))
    theirs = xr.DataArray(a, dims=list("xyz")), xr.DataArray(b, dims=list("yz"))
    ours = xr.DataArray(xp.asarray(a), dims=list("xyz")), xr.DataArray(xp.asarray(b), dims=list("yz"))
    for dim in (["y", "z"], ..., None):
        found, expected = xr.dot(*ours, dim=dim), xr.dot(*theirs, dim=dim)
        assert isinstance(found.data, xp.Array)
        assert found.dims == expected.dims
        np.testing.assert_allclose(np.asarray(found.data), expected.data, rtol=1e-12, atol=1e-12)

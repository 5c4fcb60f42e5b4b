"""einops on stride0 arrays: its array API module, compared with the same patterns on NumPy arrays.

`einops.array_api` takes any array with a namespace. The functions directly in `einops` know a fixed list of
frameworks, which other libraries could extend for everybody; nothing here does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers import DTYPES, FLOATING, LAYOUTS, NUMERIC, REAL_FLOATING, assert_same, pair, values

import stride0 as xp

einops = pytest.importorskip("einops", reason="the tests of einops need it: pip install einops")
ours = pytest.importorskip("einops.array_api", reason="einops is older than its array API module (0.7)")


class Pattern(NamedTuple):
    pattern: str
    shape: tuple[int, ...]
    lengths: dict[str, int] = {}  # noqa: RUF012 (a default of a tuple's field, never written to)


REARRANGED = [
    Pattern("b h w c -> b c h w", (2, 3, 4, 5)),
    Pattern("b h w c -> (b h) w c", (2, 3, 4, 5)),
    Pattern("b h w c -> (c w) (h b)", (2, 3, 4, 5)),
    Pattern("(b1 b2) h w c -> b1 (b2 h) w c", (4, 3, 2, 5), {"b1": 2}),
    Pattern("b (h h2) (w w2) c -> b h w (c h2 w2)", (2, 4, 6, 3), {"h2": 2, "w2": 3}),
    Pattern("b c ... -> b ... c", (2, 3, 4, 5)),
    Pattern("... a b -> ... b a", (2, 3, 4)),
    Pattern("a ... -> a (...)", (2, 3, 4)),
    Pattern("a b -> a 1 b 1", (2, 3)),
    Pattern("a 1 b 1 -> (a b)", (2, 1, 3, 1)),
    Pattern("a b -> (b a)", (0, 3)),
    Pattern("-> 1", ()),
    Pattern("(a b) -> a b", (12,), {"a": 3}),
]
REDUCED = [
    Pattern("b h w c -> b c", (2, 3, 4, 5)),
    Pattern("b h w c -> ", (2, 3, 4, 5)),
    Pattern("b (h h2) (w w2) c -> b h w c", (2, 4, 6, 3), {"h2": 2, "w2": 2}),
    Pattern("b (h 2) w c -> (c b) h", (2, 4, 6, 3)),
    Pattern("b h w c -> b 1 1 c", (2, 3, 4, 5)),
    Pattern("... w -> ...", (2, 3, 4)),
    Pattern("b ... -> b", (2, 3, 4)),
    Pattern("a b -> a b", (2, 3)),
]
REPEATED = [
    Pattern("h w -> h w c", (3, 4), {"c": 2}),
    Pattern("h w -> (2 h) (w c)", (3, 4), {"c": 3}),
    Pattern("h w -> n (w h) n2", (3, 4), {"n": 2, "n2": 1}),
    Pattern("... -> ... r", (3, 4), {"r": 5}),
    Pattern("h 1 -> h w", (3, 1), {"w": 4}),
    Pattern("-> n", (), {"n": 3}),
]
PACKED = [
    ("* c", [(2, 3, 4), (5, 4), (4,)]),
    ("a * c", [(3, 4), (3, 2, 4), (3, 2, 2, 4)]),
    ("*", [(), (2,), (2, 3)]),
]


def of(pattern: Pattern, dtype: str = "float64") -> tuple[Any, Any]:
    a = values(dtype, pattern.shape)
    return xp.asarray(a, copy=True), a


@pytest.mark.parametrize("case", REARRANGED, ids=lambda case: case.pattern)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rearrange(case: Pattern, dtype: str) -> None:
    x, a = of(case, dtype)
    assert_same(
        ours.rearrange(x, case.pattern, **case.lengths), einops.rearrange(a, case.pattern, **case.lengths)
    )


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in ("0-d", "1-d", "3-d")])
def test_rearrange_of_views(layout: str) -> None:
    x, a = pair("int32", layout)
    for pattern in ("a b -> b a", "a b -> (b a)", "a b -> (a b) 1", "(a a2) b -> a2 b a"):
        lengths = {"a2": 1} if "a2" in pattern else {}
        assert_same(ours.rearrange(x, pattern, **lengths), einops.rearrange(a, pattern, **lengths))


@pytest.mark.parametrize("case", REDUCED, ids=lambda case: case.pattern)
@pytest.mark.parametrize("how", ["sum", "mean", "prod", "min", "max"])
def test_reduce(case: Pattern, how: str) -> None:
    for dtype in NUMERIC:
        if how in ("min", "max") and dtype.startswith("complex"):
            continue  # complex numbers have no order in the standard
        if how == "mean" and dtype not in REAL_FLOATING:
            continue  # einops computes means only of real floats
        a = values(dtype, case.shape)
        if how == "prod" and dtype in FLOATING:
            a = (1 + a / 100).astype(dtype)  # products near 1
        expected = einops.reduce(a, case.pattern, how, **case.lengths)
        # NumPy adds and multiplies in another order, and in float32.
        tolerance = 2e-5 if dtype in ("float32", "complex64") else 1e-12 if dtype in FLOATING else 0.0
        got = ours.reduce(xp.asarray(a, copy=True), case.pattern, how, **case.lengths)
        assert_same(got, expected, rtol=tolerance, what=dtype)


@pytest.mark.parametrize("how", ["any", "all"])
def test_reduce_of_booleans(how: str) -> None:
    x, a = pair("bool")
    for pattern in ("a b -> a", "a b -> b", "a b ->", "(a 2) b -> a"):
        assert_same(ours.reduce(x, pattern, how), einops.reduce(a, pattern, how))


@pytest.mark.parametrize("case", REPEATED, ids=lambda case: case.pattern)
@pytest.mark.parametrize("dtype", DTYPES)
def test_repeat(case: Pattern, dtype: str) -> None:
    x, a = of(case, dtype)
    assert_same(ours.repeat(x, case.pattern, **case.lengths), einops.repeat(a, case.pattern, **case.lengths))


@pytest.mark.parametrize(("pattern", "shapes"), PACKED)
def test_pack_and_unpack(pattern: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [values("float32", shape) for shape in shapes]
    packed, found = ours.pack([xp.asarray(a) for a in arrays], pattern)
    expected, theirs = einops.pack(arrays, pattern)
    assert_same(packed, expected)
    assert [tuple(shape) for shape in found] == [tuple(shape) for shape in theirs]
    for x, a in zip(ours.unpack(packed, found, pattern), arrays, strict=True):
        assert_same(x, a)


def test_lists_are_stacked() -> None:
    a = values("int64", (3, 4, 2))
    parts = [xp.asarray(part) for part in a]
    assert_same(ours.rearrange(parts, "b h w -> h (b w)"), einops.rearrange(list(a), "b h w -> h (b w)"))
    assert_same(ours.reduce(parts, "b h w -> w", "max"), a.max((0, 1)))


def test_what_only_moves_axes_shares_memory() -> None:
    x = xp.asarray(values("float64", (2, 3, 4)), copy=True)
    y = ours.rearrange(x, "a b c -> c a b")
    assert np.shares_memory(np.asarray(x), np.asarray(y))
    x[0, 0, 0] = 77.0
    assert float(y[0, 0, 0]) == 77.0


def test_asnumpy() -> None:
    x, a = pair("float32", "transposed")
    np.testing.assert_array_equal(ours.asnumpy(x), a)


def test_wrong_patterns_are_errors_of_einops() -> None:
    x = xp.ones((2, 3))
    for pattern in ("a b c -> a", "a b -> a b c", "(a 2) b -> a b a"):
        with pytest.raises(einops.EinopsError):
            ours.rearrange(x, pattern)
    with pytest.raises(einops.EinopsError):
        ours.rearrange(x, "(a n) b -> a b n", n=3)


def test_frameworks_of_einops_do_not_include_stride0() -> None:
    # The error must name einops.array_api; this test fails when einops accepts any namespace.
    with pytest.raises(RuntimeError, match="unknown to einops"):
        einops.rearrange(xp.ones((2, 3)), "a b -> b a")

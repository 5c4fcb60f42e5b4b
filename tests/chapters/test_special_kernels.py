"""Functions of `stride0.special` that have kernels: values against mpmath and SciPy, dtypes and layouts.

References and arguments come from `conformance/accuracy/specials.py`, which measures the errors.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special
from helpers import DTYPES, LAYOUTS, assert_same, function_of, pair

import stride0 as xp
from conformance.accuracy import specials
from stride0._core.elementwise import special
from stride0._tables.operations import OPS

ROWS = {row.name: row for row in OPS if row.namespace == "special"}
REALS = ("float32", "float64")

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
every_real = pytest.mark.parametrize("dtype", REALS)


def call(row: Any, *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(function_of(row)(*map(xp.asarray, operands)))


# -- values --------------------------------------------------------------------------------------------------


def test_every_function_is_measured() -> None:
    assert ROWS.keys() == specials.CASES.keys()


@every_real
@every_row
def test_within_the_bound(row: Any, dtype: str) -> None:
    given = specials.operands(row.name, dtype, 200)
    got = call(row, *given)
    checked = 0
    for value, exact in zip(got.tolist(), specials.exact_results(row.name, given), strict=True):
        nearest, rest = specials.split(exact, dtype)
        if not math.isfinite(nearest) or nearest == 0:
            # The result may be the largest number instead of infinity, and the smallest one instead of zero.
            assert value == nearest or abs(value) >= float(np.finfo(dtype).max) or abs(value) <= 5e-45
            continue
        unit = float(np.spacing(np.asarray(abs(nearest), dtype)))
        assert abs((value - nearest) / unit + rest) <= row.ulp + 0.01, (row.name, nearest, value)
        checked += 1
    assert checked > 40


@pytest.mark.parametrize("name", ["gammaln", "digamma"])
def test_negative_arguments(name: str) -> None:
    """Between poles and near zeros: within one unit of the larger of the result and 1."""
    rng = np.random.default_rng(3)
    x = -np.concatenate([rng.uniform(0, 30, 300), rng.uniform(0, 1e-3, 30), rng.uniform(0, 5000, 60)])
    exact = {"gammaln": lambda v: mpmath.loggamma(v).real, "digamma": mpmath.digamma}[name]
    with mpmath.workprec(300):
        want = np.array([float(exact(mpmath.mpf(v))) for v in x.tolist()])
    assert np.all(np.abs(call(ROWS[name], x) - want) <= 1.5 * np.spacing(np.maximum(np.abs(want), 1)))


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.5, 30.0, -40.0]
SPECIAL += [90.0, -90.0, 180.0, 1e15, -1e15, 1e-320, -1e-320, 1e-30, 1e300, -1e300, 710.0, -750.0]


def is_known(name: str, operands: tuple[float, ...], got: float, want: float) -> bool:
    """Whether SciPy is wrong here: it rounds an exact result, overflows on the way, or gives up."""
    x = operands[0]
    if name in ("boxcox", "boxcox1p") and 0 < abs(operands[1]) < 1e-19:
        return True  # SciPy treats such an exponent as 0
    if math.isinf(want) and max(map(abs, operands)) < 720:
        # SciPy overflows too early, and treats the smallest numbers as 0.
        return 300 < got < math.inf or (name == "cotdg" and got < 0 and abs(x) < 1e-300)
    if name == "sinc" and math.isfinite(x) and x and x == math.trunc(x):
        return got == 0
    if name == "cosm1" and abs(x) > 1:
        return -2 <= got <= 0  # cos(x) - 1, which loses digits by cancellation
    if name in ("boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "pseudo_huber", "kl_div"):
        # SciPy treats tiny exponents and widths as 0, and some of its products overflow.
        if any(0 < abs(v) < 1e-29 for v in operands):
            return True
        return all(map(math.isfinite, operands)) and max(map(abs, operands)) > 1e14
    return False


@every_row
def test_special_values_are_scipys(row: Any) -> None:
    reference = getattr(scipy.special, row.name)
    for operands in itertools.product(SPECIAL, repeat=row.nin):
        given = [np.array([v]) for v in operands]
        with np.errstate(all="ignore"):
            want = float(reference(*given)[0])
        got = float(call(row, *given)[0])
        if is_known(row.name, operands, got, want):
            continue
        what = f"{row.name}{operands}: {got}, SciPy {want}"
        if math.isnan(want):
            assert math.isnan(got), what
        elif math.isinf(want):
            assert got == want, what
        else:
            # SciPy's errors are a few units, and more where terms cancel.
            assert abs(got - want) <= 1e-11 * abs(want) + 1e-300, what


@every_row
def test_special_values_of_float32(row: Any) -> None:
    """float32 results are the float64 results, rounded."""
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL).astype("float32")
    given = [a.reshape(-1) for a in np.meshgrid(*[values] * row.nin)]
    got = call(row, *given)
    with np.errstate(all="ignore"):
        want = call(row, *(a.astype("float64") for a in given)).astype("float32")
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        same |= np.abs(got.astype("float64") - want) <= 3e-7 * np.abs(want.astype("float64")) + 3e-45
    assert same.all(), [(*(a[~same] for a in given), got[~same], want[~same])]


def test_what_is_exact() -> None:
    """Results that the dtype can represent exactly have no error."""
    assert call(ROWS["gamma"], np.arange(1.0, 24.0)).tolist() == [math.factorial(n) for n in range(23)]
    assert call(ROWS["exp2"], np.arange(-1074.0, 1024.0)).tolist() == [2.0**n for n in range(-1074, 1024)]
    assert call(ROWS["exp10"], np.arange(23.0)).tolist() == [10.0**n for n in range(23)]
    n = np.arange(-200.0, 200.0)
    assert np.array_equal(call(ROWS["cbrt"], n**3), n)
    assert call(ROWS["sindg"], np.array([30.0, 150.0, -30.0, 90.0, 1e9 * 360])).tolist() == [
        0.5,
        0.5,
        -0.5,
        1,
        0,
    ]
    assert call(ROWS["cosdg"], np.array([60.0, 90.0, 180.0, 120.0])).tolist() == [0.5, 0, -1, -0.5]
    assert call(ROWS["tandg"], np.array([45.0, 135.0, 90.0, 0.0])).tolist() == [1, -1, math.inf, 0]
    assert call(ROWS["cotdg"], np.array([45.0, 135.0, 90.0, 0.0])).tolist() == [1, -1, 0, math.inf]
    assert not call(ROWS["sinc"], np.array([1.0, -2.0, 1e6, 2.0**60])).any()
    assert call(ROWS["kl_div"], np.array([0.3]), np.array([0.3])) == 0


# -- dtypes, layouts, operands -------------------------------------------------------------------------------


# For complex operands SciPy computes these.
BY_SCIPY = ("digamma", "erf", "erfc", "erfcx", "gamma", "log_ndtr", "ndtr", "xlog1py", "xlogy")


@every_row
def test_every_dtype_and_layout(row: Any) -> None:
    """Integers and bools are computed in float64, float32 in float32; results do not depend on the layout."""
    for dtype in DTYPES:
        for layout in LAYOUTS:
            operands = [pair(dtype, layout, True) for _ in range(row.nin)]
            arrays, given = [x for x, _ in operands], [a for _, a in operands]
            if np.dtype(dtype).kind == "c":
                if row.name in BY_SCIPY:
                    assert function_of(row)(*arrays).dtype.kind == "complex floating"
                    continue
                with pytest.raises(TypeError, match=f"special.{row.name}: Unsupported dtype {dtype}"):
                    function_of(row)(*arrays)
                continue
            kind = dtype if np.dtype(dtype).kind == "f" else "float64"
            plain = [np.ascontiguousarray(a).reshape(-1).astype(kind) for a in given]
            want = call(row, *plain).reshape(given[0].shape)
            assert_same(function_of(row)(*arrays), want, what=f"{row.name} {dtype} {layout}")


@every_real
@every_row
def test_arguments_of_all_kinds_side_by_side(row: Any, dtype: str) -> None:
    """Note [Stages]: the bits of a result do not depend on the other elements of its block."""
    rng = np.random.default_rng(11)
    kinds = [
        lambda n: rng.uniform(0.01, 0.99, n),
        lambda n: rng.uniform(6.0, 40.0, n),
        lambda n: rng.uniform(-40.0, 0.0, n),
        lambda n: 10.0 ** rng.uniform(-40, 38, n),
        lambda n: rng.choice([0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan, 1e-310, 3e38], n),
    ]
    size = 700  # more than a block
    for usual in range(3):
        for share in (0.02, 0.3, 0.7, 0.98, 1.0):
            operands = []
            for _ in range(row.nin):
                kind = np.where(rng.random(size) < share, usual, rng.integers(len(kinds), size=size))
                operands.append(np.choose(kind, [make(size) for make in kinds]).astype(dtype))
            together = call(row, *operands)
            alone = np.concatenate([call(row, *[a[i : i + 1] for a in operands]) for i in range(size)])
            assert_same(xp.asarray(together), alone, what=f"{row.name} {dtype}, {share} of kind {usual}")


def test_promotion_and_scalars() -> None:
    x, y = np.array([0.5, 2.0], "float32"), np.array([3, 4], "int8")
    assert call(ROWS["xlogy"], x, x.astype("float64")).dtype == "float64"
    a = xp.asarray(x)
    assert special.xlogy(2, a).dtype is xp.float32 and special.xlogy(a, 0.5).dtype is xp.float32
    assert np.array_equal(np.asarray(special.xlogy(2, a)), call(ROWS["xlogy"], np.float32([2, 2]), x))
    assert call(ROWS["erf"], y).dtype == "float64"
    assert special.expit(0).dtype is xp.float64 and float(special.expit(0)) == 0.5
    assert special.huber(xp.ones((3, 1)), xp.ones(4)).shape == (3, 4)
    with pytest.raises(xp.BroadcastError, match=r"special\.huber"):
        special.huber(xp.ones(3), xp.ones(4))
    with pytest.raises(xp.ForeignArrayError, match=r"special\.erf"):
        special.erf(np.ones(3))

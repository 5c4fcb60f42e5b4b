"""float16 and bfloat16: operations compute in float32 and round each result once."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, function_of

import stride0 as xp
from stride0._tables.operations import KINDS, OPS

NAMES = ("float16", "bfloat16")
SIZES = ((), (1,), (9,), (100,), (40000,), (7, 300), (0, 3))


def dtype_of(name: str) -> Any:
    return getattr(xp, name)


def narrow(x: Any, name: str) -> Any:
    return xp.astype(x, dtype_of(name)) if xp.isdtype(x.dtype, "real floating") else x


def wide(x: Any) -> Any:
    return xp.astype(x, xp.float32)


def bits_of(x: Any) -> Any:
    """The bytes of the elements, with one NaN."""
    if xp.isdtype(x.dtype, "real floating"):
        x = xp.where(xp.isnan(x), xp.asarray(xp.nan, dtype=x.dtype), x)
    own = xp.asarray(x, copy=True)
    # NumPy has no bfloat16; ml_dtypes adds it, but does not build for every system.
    return np.asarray(own.view(xp.uint16) if own.dtype is xp.bfloat16 else own).tobytes()


def check_same(got: Any, want: Any, what: object = "") -> None:
    assert got.dtype is want.dtype, (what, got.dtype, want.dtype)
    assert got.shape == want.shape, what
    assert bits_of(got) == bits_of(want), (what, got, want)


def random(name: str, shape: tuple[int, ...] = (4, 6), seed: int = 0, scale: float = 3) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, scale, shape).astype(np.float32)
    flat = values.reshape(-1)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, 60000.0]
    if flat.size > 20:
        flat[: len(special)] = special
        rng.shuffle(flat)
    return xp.astype(xp.asarray(values), dtype_of(name))


REAL_OPS = [op for op in OPS if op.public and "f" in KINDS[op.on] and op.name != "nextafter"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("op", REAL_OPS, ids=lambda op: op.name)
def test_elementwise(op: Any, name: str) -> None:
    function = function_of(op)
    for shape in SIZES:
        given = [random(name, shape, seed) for seed in range(op.nin)]
        check_same(function(*given), narrow(function(*map(wide, given)), name), shape)
    for layout, view in LAYOUTS.items():
        given = [view(xp, random(name, (4, 6), seed)) for seed in range(op.nin)]
        check_same(function(*given), narrow(function(*map(wide, given)), name), layout)
    if op.nin == 2:
        x, y = random(name, (50, 60)), random(name, (60,), 1)
        check_same(function(x, y), narrow(function(wide(x), wide(y)), name))
        check_same(function(y, x.T[:60, :1]), narrow(function(wide(y), wide(x.T[:60, :1])), name))
        # A Python scalar is rounded to the array's dtype first, as an operand of it would be.
        for scalar in (0.1, 3, -2.5):
            check_same(function(x, scalar), function(x, xp.asarray(scalar, dtype=x.dtype)), scalar)
            check_same(function(scalar, x), function(xp.asarray(scalar, dtype=x.dtype), x), scalar)


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_not_for_floating_point(name: str) -> None:
    x = xp.asarray([0.0, 1.5, xp.nan], dtype=dtype_of(name))
    check_same(xp.logical_not(x), xp.asarray([True, False, False]))
    check_same(xp.logical_and(x, xp.flip(x)), xp.asarray([False, True, False]))
    for function in (xp.bitwise_invert, lambda v: v & v, lambda v: v << 1):
        with pytest.raises(xp.DTypeError, match="Unsupported dtype"):
            function(x)


@pytest.mark.parametrize("name", NAMES)
def test_as_numpy(name: str) -> None:
    """NumPy's float16 and ml_dtypes' bfloat16 compute the same."""
    theirs = np.float16 if name == "float16" else pytest.importorskip("ml_dtypes").bfloat16
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"):
        a, b = (rng.integers(0, 65536, 100_000).astype(np.uint16).view(theirs) for _ in range(2))
        x, y = xp.asarray(a), xp.asarray(b)
        assert x.dtype is dtype_of(name)
        for call in (operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.eq):
            check_same(call(x, y), xp.asarray(call(a, b)), call)
        for ours, function in (
            (xp.sqrt, np.sqrt),
            (xp.floor, np.floor),
            (abs, np.abs),
            (xp.negative, np.negative),
        ):
            check_same(ours(x), xp.asarray(function(a)), function)
        check_same(xp.maximum(x, y), xp.asarray(np.maximum(a, b)))
        check_same(xp.nextafter(x, y), xp.asarray(np.nextafter(a, b)))


@pytest.mark.parametrize("name", NAMES)
def test_nextafter(name: str) -> None:
    everything = xp.asarray(np.arange(65536, dtype=np.uint16)).view(dtype_of(name))
    finite = xp.isfinite(everything) & (everything >= 0) & ~xp.signbit(everything)
    up = everything[finite]
    check_same(xp.nextafter(up[:-1], xp.asarray(xp.inf, dtype=up.dtype)), up[1:])
    check_same(xp.nextafter(up[1:], xp.asarray(-xp.inf, dtype=up.dtype)), up[:-1])
    check_same(xp.nextafter(-up[:-1], -xp.inf), -up[1:])
    zero = xp.asarray([0.0, -0.0], dtype=up.dtype)
    check_same(xp.nextafter(zero, xp.flip(zero)), xp.flip(zero))
    assert (np.asarray(xp.nextafter(zero, -1.0).view(xp.uint16)) == 0x8001).all()


def expected_promotion(name: str, other: str) -> str:
    if other in ("bool", "int8", "uint8", name):
        return name
    if other in ("int16", "uint16", "float32", "float16", "bfloat16"):
        return "float32"
    return other if other.startswith("complex") else "float64"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", [*DTYPES, *NAMES])
def test_promotion(name: str, other: str) -> None:
    want = dtype_of(expected_promotion(name, other))
    dtype1, dtype2 = dtype_of(name), dtype_of(other)
    assert xp.result_type(dtype1, dtype2) is xp.result_type(dtype2, dtype1) is want
    assert xp.can_cast(dtype2, dtype1) == (want is dtype1)
    assert xp.can_cast(dtype1, dtype2) == (want is dtype2)
    if other in DTYPES and name == "float16":
        assert want.name == np.result_type(np.float16, other).name
    for shape in ((5,), (300, 3)):
        x = random(name, shape)
        y = xp.astype(xp.reshape(xp.arange(x.size) % 2, shape), dtype2)
        check_same(x + y, xp.astype(x, want) + xp.astype(y, want))
        check_same(xp.where(x > 0, x, y), xp.where(x > 0, xp.astype(x, want), xp.astype(y, want)))
        check_same(xp.concat((x, y)), xp.concat((xp.astype(x, want), xp.astype(y, want))))


@pytest.mark.parametrize("name", NAMES)
def test_scalars_are_weak(name: str) -> None:
    x = random(name)
    for scalar in (True, 3, 2.5):
        assert (x + scalar).dtype is (scalar + x).dtype is xp.result_type(x, scalar) is x.dtype
    assert (x * 1j).dtype is xp.result_type(x, 1j) is xp.complex64
    # Overflow gives infinity, as in NumPy; comparisons are correct for numbers beyond every element.
    assert bool(xp.all(xp.isinf(xp.ones(3, dtype=x.dtype) * 1e300)))
    assert bool(xp.all(xp.asarray([1, 2], dtype=x.dtype) < 10**400))
    assert float(xp.asarray(2**60 + 2**52 + 1, dtype=xp.bfloat16)) == 2.0**60 + 2.0**53
    assert float(xp.asarray(-(2**60) - 2**52 - 1, dtype=xp.bfloat16)) == -(2.0**60) - 2.0**53
    with pytest.raises(xp.RangeError):
        x + 10**400


@pytest.mark.parametrize("name", NAMES)
def test_in_place(name: str) -> None:
    for shape in ((5,), (300, 4)):
        for sign in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
            x, y = abs(random(name, shape)), abs(random(name, shape, 1))
            want = getattr(operator, sign)(x, y)
            before = x
            x = getattr(operator, f"i{sign}")(x, y)
            assert x is before
            check_same(x, want, sign)
            x = abs(random(name, shape))
            want = narrow(getattr(operator, sign)(wide(x), wide(y)), name)
            x = getattr(operator, f"i{sign}")(x, wide(y))
            check_same(x, want, sign)
            i = xp.ones(shape, dtype=xp.int8)
            with pytest.raises(xp.DTypeError, match="in-place"):
                getattr(operator, f"i{sign}")(i, y)
    x = random(name)
    want = narrow(wide(x) + wide(x.T[:4, :4][:1, :1]), name)
    x += x.T[:1, :1]
    check_same(x, want)
    x[1:, 1:] = x[:-1, :-1]
    x[0] = 0.1
    x[:, 0] = xp.asarray([1.00048828125, 2, 3, 4], dtype=xp.float64)
    assert x.dtype is dtype_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_more_elementwise(name: str) -> None:
    x, y, z = (random(name, (20, 30), seed) for seed in range(3))
    check_same(xp.add(x, y, alpha=z), narrow(xp.add(wide(x), wide(y), alpha=wide(z)), name))
    check_same(xp.clip(x, -1, z), narrow(xp.clip(wide(x), xp.asarray(-1, dtype=xp.float32), wide(z)), name))
    check_same(xp.clip(x, None, 0.1), xp.minimum(x, 0.1))
    check_same(
        xp.where(x > y, x, 0.1), narrow(xp.where(x > y, wide(x), float(xp.asarray(0.1, dtype=x.dtype))), name)
    )
    assert xp.real(x) is x
    check_same(divmod(x, y)[0], x // y)


REDUCTIONS = ("sum", "prod", "mean", "var", "std")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", [*REDUCTIONS, "max", "min", "any", "all", "count_nonzero"])
def test_reductions(function: str, name: str) -> None:
    """The float64 accumulator is rounded once."""
    call = getattr(xp, function)
    for shape in ((1,), (7,), (100_000,), (300, 200), (3, 5, 7)):
        x = random(name, shape, scale=0.5)
        x = xp.where(xp.isfinite(x) & (abs(x) < 100), x, xp.ones_like(x))
        for view in (x, x.T if x.ndim == 2 else xp.flip(x), xp.broadcast_to(x, (3, *shape))):
            for axis in (None, *range(view.ndim)):
                want = call(xp.astype(view, xp.float64), axis=axis)
                want = narrow(want, name) if function not in ("any", "all", "count_nonzero") else want
                check_same(call(view, axis=axis), want, (shape, axis))
                check_same(call(view, axis=axis, keepdims=True), call(view, axis=axis, keepdims=True))
    x = random(name, (50,))
    check_same(call(x), narrow(call(xp.astype(x, xp.float64)), name))
    # Sums that exceed the range of 16 bits.
    ones = xp.ones(100_000, dtype=dtype_of(name))
    assert float(xp.mean(ones)) == 1 and float(xp.var(ones)) == 0
    assert (
        float(xp.sum(xp.full(4000, 10.0, dtype=dtype_of(name))))
        == {"float16": 40000, "bfloat16": 39936}[name]
    )
    assert float(xp.mean(xp.full(4000, 60000.0, dtype=dtype_of(name)))) == float(
        xp.asarray(60000.0, dtype=ones.dtype)
    )


@pytest.mark.parametrize("name", NAMES)
def test_reductions_to_a_dtype(name: str) -> None:
    x = random(name, (1000,), scale=0.1)
    x = xp.where(xp.isfinite(x), x, xp.zeros_like(x))
    check_same(xp.sum(x, dtype=xp.float64), xp.sum(xp.astype(x, xp.float64)))
    check_same(xp.sum(xp.arange(100), dtype=x.dtype), xp.asarray(4950, dtype=x.dtype))
    check_same(xp.sum(wide(x), dtype=x.dtype), narrow(xp.sum(xp.astype(x, xp.float64)), name))
    check_same(
        xp.cumulative_sum(xp.arange(100), dtype=x.dtype),
        xp.astype(xp.cumulative_sum(xp.arange(100)), x.dtype),
    )
    check_same(xp.sum(xp.zeros((0,), dtype=x.dtype)), xp.asarray(0.0, dtype=x.dtype))
    check_same(xp.sum(xp.asarray([-0.0, -0.0], dtype=x.dtype)), xp.asarray(-0.0, dtype=x.dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", ["cumulative_sum", "cumulative_prod"])
def test_scans(function: str, name: str) -> None:
    call = getattr(xp, function)
    for shape in ((300,), (20, 30)):
        x = random(name, shape, scale=0.5)
        for axis, initial in itertools.product(range(len(shape)), (False, True)):
            options = {"axis": axis, "include_initial": initial}
            check_same(call(x, **options), narrow(call(xp.astype(x, xp.float64), **options), name))


@pytest.mark.parametrize("name", NAMES)
def test_order(name: str) -> None:
    for shape in ((100,), (20, 30), (5000,)):
        x = random(name, shape)
        for axis in range(len(shape)):
            for descending in (False, True):
                options = {"axis": axis, "descending": descending}
                check_same(xp.sort(x, **options), narrow(xp.sort(wide(x), **options), name))
                check_same(xp.argsort(x, **options), xp.argsort(wide(x), **options))
            check_same(xp.argmax(x, axis=axis), xp.argmax(wide(x), axis=axis))
            check_same(xp.argmin(x, axis=axis), xp.argmin(wide(x), axis=axis))
        check_same(xp.argmax(x), xp.argmax(wide(x)))
        check_same(xp.unique_values(x), narrow(xp.unique_values(wide(x)), name))
        for got, want in zip(xp.unique_all(x), xp.unique_all(wide(x)), strict=True):
            check_same(got, narrow(want, name))
        line = xp.sort(xp.reshape(x, (-1,)))
        for side in ("left", "right"):
            check_same(xp.searchsorted(line, x, side=side), xp.searchsorted(wide(line), wide(x), side=side))
        check_same(xp.isin(x, x[:3]), xp.isin(wide(x), wide(x[:3])))
        check_same(xp.nonzero(x)[0], xp.nonzero(wide(x))[0])


@pytest.mark.parametrize("name", NAMES)
def test_products(name: str) -> None:
    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((40, 50), (50, 60)),
        ((5, 4, 3), (3, 2)),
        ((5, 1, 2, 3), (2, 3, 4)),
        ((0, 3), (3, 2)),
    ]
    shapes += [((1, 9), (9, 1)), ((200, 1), (1, 300)), ((70_000,), (70_000,))]
    for shape1, shape2 in shapes:
        a, b = (random(name, shape, seed, 0.1) for seed, shape in enumerate((shape1, shape2)))
        a, b = (xp.where(xp.isfinite(v) & (abs(v) < 9), v, xp.zeros_like(v)) for v in (a, b))
        check_same(a @ b, narrow(wide(a) @ wide(b), name), (shape1, shape2))
        if len(shape1) == len(shape2) == 2:
            check_same(b.T @ a.T, narrow(wide(b).T @ wide(a).T, name))
            check_same(xp.tensordot(a, b, axes=1), narrow(xp.tensordot(wide(a), wide(b), axes=1), name))
    x, y = random(name, (30, 40)), random(name, (30, 40), 1)
    check_same(xp.vecdot(x, y), narrow(xp.vecdot(wide(x), wide(y)), name))
    check_same(xp.vecdot(x, y, axis=-2), narrow(xp.vecdot(wide(x), wide(y), axis=-2), name))
    assert (x @ wide(y).T).dtype is xp.float32
    assert xp.linalg.outer(x[0], y[0]).dtype is xp.linalg.cross(x[:, :3], y[:, :3]).dtype is x.dtype
    square = random(name, (3, 3), scale=1)
    square @= square
    assert square.dtype is x.dtype
    assert xp.linalg.matrix_power(square, 2).dtype is x.dtype


@pytest.mark.parametrize("name", NAMES)
def test_linalg_and_fft(name: str) -> None:
    x = random(name, (4, 4), scale=1)
    for order in (1, 2, 3, 0, xp.inf, -xp.inf):
        check_same(
            xp.linalg.vector_norm(x, ord=order), narrow(xp.linalg.vector_norm(wide(x), ord=order), name)
        )
    for order in ("fro", 1, xp.inf):
        check_same(
            xp.linalg.matrix_norm(x, ord=order), narrow(xp.linalg.matrix_norm(wide(x), ord=order), name)
        )
    check_same(xp.linalg.trace(x), narrow(xp.linalg.trace(xp.astype(x, xp.float64)), name))
    for function in (
        xp.linalg.inv,
        xp.linalg.svd,
        xp.linalg.det,
        xp.linalg.eigh,
        xp.linalg.qr,
        xp.linalg.cholesky,
    ):
        with pytest.raises(xp.DTypeError, match=rf"Unsupported dtype {name}[\s\S]*float32"):
            function(x)
    check_same(xp.fft.fft(x), xp.fft.fft(wide(x)))
    check_same(xp.fft.rfftn(x), xp.fft.rfftn(wide(x)))
    assert xp.fft.rfft(xp.zeros((0, 4), dtype=x.dtype), axis=1).dtype is xp.complex64
    assert xp.fft.fftfreq(4, dtype=x.dtype).dtype is x.dtype


MOVES = {
    "flip": xp.flip,
    "roll": lambda x: xp.roll(x, 3),
    "transposed copy": lambda x: xp.asarray(x.T, copy=True),
    "concat": lambda x: xp.concat((x, x)),
    "stack": lambda x: xp.stack((x, x), axis=1),
    "repeat": lambda x: xp.repeat(x, 3, axis=0),
    "tile": lambda x: xp.tile(x, (2, 2)),
    "take": lambda x: xp.take(x, xp.asarray([3, 1, 1]), axis=0),
    "integer arrays": lambda x: x[xp.asarray([3, 1]), xp.asarray([0, 2])],
    "mask": lambda x: x[x.view(xp.uint16) % 2 == 0],
    "tril": xp.tril,
    "expand": lambda x: (
        xp.broadcast_to(x[:1], (9, 6)) + 0
        if x.dtype is xp.uint16
        else xp.asarray(xp.broadcast_to(x[:1], (9, 6)), copy=True)
    ),
    "where": lambda x: xp.where(x.view(xp.uint16) % 2 == 0, x, xp.flip(x)),
    "diagonal": xp.linalg.diagonal,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("move", MOVES)
def test_moves_keep_all_bits(move: str, name: str) -> None:
    bits = xp.asarray(np.random.default_rng(7).integers(0, 65536, (4, 6)).astype(np.uint16))
    got = MOVES[move](bits.view(dtype_of(name)))
    assert got.dtype is dtype_of(name)
    want = MOVES[move](bits)
    assert (np.asarray(got.view(xp.uint16)) == np.asarray(want)).all()


@pytest.mark.parametrize("name", NAMES)
def test_writes_by_keys(name: str) -> None:
    x, y = random(name, (20, 6)), random(name, (3, 6), 1)
    want = wide(x)
    for key in (xp.asarray([5, 2, 7]), slice(3, 6), (xp.asarray([1, 2, 3]), slice(None))):
        x[key] = y
        want[key] = wide(y)
    x[x > 1] = 0.25
    want[want > 1] = 0.25
    check_same(x, narrow(want, name))


@pytest.mark.parametrize("name", NAMES)
def test_creation(name: str) -> None:
    dtype = dtype_of(name)
    for make in (
        lambda d: xp.zeros((2, 3), dtype=d),
        lambda d: xp.ones(300, dtype=d),
        lambda d: xp.full((2, 2), 0.1, dtype=d),
        lambda d: xp.eye(3, k=1, dtype=d),
        lambda d: xp.arange(0, 10, 0.1, dtype=d),
        lambda d: xp.linspace(0, 1, 77, dtype=d),
        lambda d: xp.asarray([[1, 2.5], [True, 0.1]], dtype=d),
        lambda d: xp.asarray(0.1, dtype=d),
    ):
        check_same(make(dtype), xp.astype(make(xp.float64), dtype))
    x = xp.ones((2, 3), dtype=dtype)
    for like in (xp.zeros_like, xp.ones_like, xp.empty_like):
        assert like(x).dtype is dtype
    assert xp.full_like(x, 2.5).dtype is xp.linspace(x[0, 0], x[0, 1], 3, dtype=dtype).dtype is dtype
    assert xp.asarray([x[0], x[1]]).dtype is dtype

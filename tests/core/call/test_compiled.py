"""Compiled functions agree with `reference_functions.py`: the same arrays, strides and errors."""

from __future__ import annotations

import inspect
import itertools
import warnings

import numpy as np
import pytest
import reference_functions as reference
from exact_sums import fused_sum
from helpers import DTYPES

import stride0 as xp

SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (5,),
    (1, 1),
    (2, 3),
    (3, 1),
    (1, 4),
    (4, 0),
    (2, 3, 4),
    (1, 3, 1),
    (2, 1, 3, 2),
    (2, 2, 2, 2, 2),
]
KEYWORDS = {
    "squeeze": "axis",
    "expand_dims": "axis",
    "reshape": "shape",
    "permute_dims": "axes",
    "broadcast_to": "shape",
}


def arrays(dtype: str = "float64") -> list[xp.Array]:
    """Arrays of all the shapes, contiguous and not."""
    rng = np.random.default_rng(3)
    out = []
    for shape in SHAPES:
        source = np.asarray(rng.integers(0, 3, shape)).astype(dtype)
        x = xp.asarray(source, copy=True)
        out.append(x)
        if len(shape) > 1:
            out.append(xp.permute_dims(x, tuple(reversed(range(len(shape))))))
        if shape and shape[0] > 1:
            out.append(xp.asarray(np.concatenate([source, source]), copy=True)[::2])
            out.append(x[::-1])
    return out


def look(x: object) -> object:
    """All observable properties of a result."""
    if isinstance(x, xp.Array):
        strides = xp.strided.strides(x) if x.size else None
        return x.dtype.name, x.shape, strides, xp.strided.is_contiguous(x), np.asarray(x).tobytes()
    return x


def outcome(f, args, kwargs):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return look(f(*args, **kwargs))
    except Exception as error:
        # Reference functions named like a builtin end in an underscore. Only compiled functions tell how to
        # pass an axis that was passed by position.
        return type(error), str(error).replace("_() ", "() ").partition("; by name: ")[0]


def same(name: str, *args: object, shares: bool = False, **kwargs: object) -> None:
    f = getattr(xp, name)
    got, expected = outcome(f, args, kwargs), outcome(reference.of(f.__name__), args, kwargs)
    assert got == expected, (name, args, kwargs)
    if shares and isinstance(got[0], str) and args[0].size:
        assert xp.strided.shares_storage(f(*args, **kwargs), args[0])


ALL = ["reshape", "broadcast_to", "expand_dims", "squeeze", "permute_dims", "moveaxis", "matrix_transpose"]
MADE = ["zeros", "ones", "full", "arange", "astype"]
WHOLE = ["sum", "all", "any", "max", "min", "argmax", "argmin", "mean", "std", "var", "cumulative_sum"]


@pytest.mark.parametrize("name", [*ALL, *MADE, *WHOLE, "empty", "stack", "concat", "matmul", "sort", "take"])
def test_the_declaration_has_no_body(name):
    """A compiled function has no second implementation in Python."""
    declaration = getattr(xp, name).declaration
    assert declaration.__name__ == name
    assert declaration.__code__.co_consts in ((declaration.__doc__, None), (declaration.__doc__,))
    assert inspect.signature(getattr(xp, name)) == inspect.signature(declaration)


@pytest.mark.parametrize("x", arrays(), ids=lambda x: f"{x.shape}{xp.strided.strides(x)}")
def test_views(x):
    axes = [
        *range(-x.ndim - 2, x.ndim + 2),
        True,
        1.0,
        None,
        (0,),
        [0],
        (0, 0),
        np.int64(0),
        1 << 70,
        -(1 << 70),
    ]
    for axis in axes:
        same("expand_dims", x, axis, shares=True)
        same("expand_dims", x, axis=axis, shares=True)
        same("squeeze", x, axis, shares=True)
        same("squeeze", x, axis=axis, shares=True)
    for source, target in itertools.product(range(-x.ndim - 1, x.ndim + 1), repeat=2):
        same("moveaxis", x, source, target, shares=True)
    for order in itertools.permutations(range(x.ndim)):
        same("permute_dims", x, order, shares=True)
        same("permute_dims", x, tuple(k - x.ndim for k in order), shares=True)
        same("permute_dims", x, axes=list(order), shares=True)
    for wrong in ((), (0,), (0, 0), (0, 1, 1), (5, 4), (0, 1.0), (True, False), (1 << 70, 0), 0, None, "01"):
        same("permute_dims", x, wrong)
    same("matrix_transpose", x, shares=True)
    size = x.size
    shapes = [
        (size,),
        (-1,),
        (1, -1),
        (-1, 1),
        (size, 1),
        (1, size, 1),
        (2, -1),
        (-1, 3),
        (2, 2, -1),
        (3, 2),
        (6,),
        (24,),
    ]
    shapes += [
        (),
        (0,),
        (-1, 0),
        (0, -1),
        (-1, -1),
        (-2, 3),
        (size, -2),
        (1 << 40, 1 << 40),
        (True,),
        (2.0, 3),
        ("3",),
    ]
    for shape in [*shapes, size, -1, None, [size], (1,) * 65, (1 << 80,)]:
        same("reshape", x, shape)
        same("reshape", x, shape=shape)
        for copy in (None, True, False, 1):
            same("reshape", x, shape, copy=copy)
    targets = [
        (3, *x.shape),
        x.shape,
        (*x.shape, 1),
        (2, 2, *x.shape),
        (4, 3),
        (2, 3, 4),
        (0,),
        (5,),
        (2, 0),
        (),
    ]
    for shape in [*targets, 3, [3], (-1, 3), (True, 3), (1 << 40, 1 << 30), (1.0,), (1,) * 65]:
        same("broadcast_to", x, shape, shares=True)
    for name, keyword in KEYWORDS.items():
        same(name, x)
        same(name, x, 0, 1, 2)
        same(name, **{"x": x, keyword: 0})
        same(name, x, (1,), **{keyword: (1,)})
        same(name, x, nonsense=1)


@pytest.mark.parametrize("wrong", [1.0, None, [1.0, 2.0], np.ones(3), "x"])
@pytest.mark.parametrize("name", [*ALL, *WHOLE, "stack", "concat", "matmul", "astype"])
def test_what_is_no_array(name, wrong):
    for arguments in ((), (0,), ((0,),), (0, 0)):
        same(name, wrong, *arguments)
    same(name)


@pytest.mark.parametrize("name", ["stack", "concat"])
def test_joined(name):
    everything = arrays() + arrays("int32")
    rng = np.random.default_rng(5)
    for _ in range(400):
        x = everything[rng.integers(len(everything))]
        parts = [x] * int(rng.integers(1, 4))
        if rng.random() < 0.5:
            parts.append(everything[rng.integers(len(everything))])
        if rng.random() < 0.5:
            parts = [y + 1 for y in parts]
        given = parts if rng.random() < 0.5 else tuple(parts)
        same(name, given)
        for axis in range(-x.ndim - 2, x.ndim + 2):
            same(name, given, axis=axis)
        same(name, given, axis=None)
    x = xp.ones((2, 3))
    for wrong in ([], (), x, [x, 1.0], [x, None], [x, np.ones((2, 3))], iter([x, x]), {0: x}, None):
        same(name, wrong)
    for axis in (0.0, True, (0,), "0", 1 << 70):
        same(name, [x, x], axis=axis)
    same(name, [x, x], 1)
    same(name, [x] * 3000, axis=1)
    large = xp.ones((300, 200))
    same(name, [large, large + 1], axis=1)
    # Different sizes along the axis that is joined.
    same(name, [xp.ones((2, 3)), xp.zeros((2, 5)), xp.ones((2, 0))], axis=1)
    same(name, [xp.ones((2, 3)), xp.zeros((4, 3))])


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_reductions(dtype):
    for x in arrays(dtype):
        for name in WHOLE:
            same(name, x)
            for axis in (None, 0, 1, 2, -1, -2, 5, (0,), (), True, 1.0):
                same(name, x, axis=axis)
            same(name, x, keepdims=True)
            same(name, x, 0)
            same(name, x=x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in ([1.0, np.nan, 3.0], [np.nan], [-np.inf, 2.0], [0.0, -0.0], [-0.0, 0.0], [-0.0]):
            if dtype.startswith("float"):
                for name in WHOLE:
                    same(name, xp.asarray(values, dtype=getattr(xp, dtype)))


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_casts(dtype, target):
    for x in arrays(dtype):
        same("astype", x, getattr(xp, target))
    x = arrays(dtype)[3]
    same("astype", x, getattr(xp, target), copy=False)
    same("astype", x, dtype=getattr(xp, target))
    same("astype", x, target)
    assert not xp.strided.shares_storage(x, xp.astype(x, x.dtype))


def test_made():
    shapes = [
        0,
        1,
        3,
        100,
        -1,
        True,
        2.0,
        None,
        "3",
        (),
        (0,),
        (3,),
        (2, 3),
        (100, 2),
        (2, -1),
        (True,),
        [2, 3],
        (2.0,),
    ]
    shapes += [1 << 70, (1 << 40, 1 << 40), (1,) * 64, (1,) * 65, np.int64(3), (np.int64(3),)]
    dtypes = [None, *(getattr(xp, name) for name in DTYPES), "float64", float, np.float64]
    for name in ("zeros", "ones"):
        for shape in shapes:
            same(name, shape)
            same(name, shape=shape)
        for dtype in dtypes:
            same(name, (2, 3), dtype=dtype)
            same(name, 70, dtype=dtype)
        same(name, 3, xp.float32)
        same(name, 3, device="cpu")
        same(name, 3, device="gpu")
        same(name, 3, nonsense=3)
        same(name)
    for shape in (3, (2, 3), (70,), (), (0,)):
        assert xp.empty(shape).shape == (shape if isinstance(shape, tuple) else (shape,))
        assert xp.empty(shape, dtype=xp.int8).dtype is xp.int8
    for wrong in (-1, None, 2.0, (1,) * 65):
        assert outcome(xp.empty, (wrong,), {}) == outcome(reference.empty, (wrong,), {})
    values = [
        0,
        1,
        -5,
        2**62,
        2**63,
        -(2**63),
        2**80,
        True,
        False,
        0.0,
        -0.0,
        1.5,
        np.nan,
        1j,
        None,
        "1",
        np.float32(2),
        xp.asarray(3),
    ]
    for value in values:
        for shape in (3, (2, 3), (70,), (), (0,), -1, 2.0):
            same("full", shape, value)
        same("full", (3,), fill_value=value)
        same("full", (3,), value, dtype=xp.float32)
        same("full", (3,), value, dtype=xp.int8)
    for numbers in itertools.product([0, 1, 5, -3, 2.0, True, 1 << 70, None, np.int64(4)], repeat=2):
        same("arange", *numbers)
        same("arange", numbers[0])
        same("arange", 0, *numbers) if numbers[0] != 1 << 70 else None
    same("arange", 5, dtype=xp.float32)
    same("arange")


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
def test_order(dtype):
    for x in arrays(dtype):
        for name in ("sort", "argsort"):
            same(name, x)
            for axis in (0, 1, -1, -3, 7, True, None, 1.0):
                same(name, x, axis=axis)
            for flag in (True, False, 1, None, "x"):
                same(name, x, descending=flag)
                same(name, x, axis=0, stable=flag, descending=True)
            same(name, x, 0)
        same("unique_values", x)
        same("unique_values", x=x)
        same("count_nonzero", x)
        same("count_nonzero", x, axis=0)
        same("count_nonzero", x, keepdims=True)
    for name in ("sort", "argsort", "unique_values", "count_nonzero", "searchsorted", "take"):
        same(name)
        same(name, [1.0])
        same(name, np.ones(3), np.ones(3))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float64", "complex64"])
def test_places_in_order(dtype):
    line = xp.asarray((np.arange(12) // 3).astype(dtype), copy=True)
    for among in (line, line[::2], line[:0], xp.asarray(1.0), xp.zeros((2, 2))):
        for wanted in (*arrays(dtype), 1, 2.5, None):
            same("searchsorted", among, wanted)
            for side in ("left", "right", "middle", None, 1):
                same("searchsorted", among, wanted, side=side)
        same("searchsorted", among, line, "right")
        same("searchsorted", among, line, sorter=xp.arange(12))


def test_take():
    indices = [
        xp.asarray(value, dtype=getattr(xp, dtype))
        for value in (0, 1, [0], [1, 0, -1], [[0], [1]], [9], [-9], [])
        for dtype in ("int64", "uint8", "int8", "float64")
        if not (dtype == "uint8" and np.min(value, initial=0) < 0)
    ]
    for x in arrays("float32"):
        for i in indices:
            same("take", x, i)
            for axis in (0, 1, -1, 5, None, True, 0.0):
                same("take", x, i, axis=axis)
        same("take", x, [0])
        same("take", x, indices[0], 0)


def in_order(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product in the order of the inner axis; one element in float64, more by fused multiply-add."""
    if len(a) == b.shape[1] == 1:
        sums = np.full((len(a), b.shape[1]), -0.0)
        for k in range(len(b)):
            sums = sums + a[:, k : k + 1].astype(np.float64) * b[k : k + 1].astype(np.float64)
        return sums.astype(a.dtype)
    return np.asarray([[fused_sum(row, column) for column in b.T] for row in a])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
def test_tiny_products(dtype):
    rng = np.random.default_rng(8)

    def make(*shape):
        return xp.asarray((rng.standard_normal(shape) * 9).astype(dtype), copy=True)

    for m, n, p in itertools.product([1, 2, 3, 4, 5, 7], [1, 2, 3, 4, 31, 32, 33], [1, 2, 3, 4, 6, 65]):
        a, b = make(m, n), make(n, p)
        wide = {"c": "complex128", "f": "float64", "i": "int64"}[dtype[0]]
        expected = np.matmul(np.asarray(a).astype(wide), np.asarray(b).astype(wide))
        got = np.asarray(xp.matmul(a, b))
        assert got.dtype == dtype
        assert got.shape == (m, p)
        scale = np.abs(np.asarray(a)).max() * np.abs(np.asarray(b)).max() * n
        assert np.abs(got - expected).max() <= (1e-6 if dtype in ("float32", "complex64") else 1e-15) * scale
        if 1 < n < 32 and m * n * p <= 256 and p <= 64 and dtype[0] == "f":
            assert np.array_equal(got, in_order(np.asarray(a), np.asarray(b)))
    # A product in a stack has the same bits as a single product.
    for count, m in itertools.product([1, 2, 7, 8, 300], [2, 3, 4]):
        a, b = make(count, m, m), make(count, m, m)
        got = np.asarray(xp.matmul(a, b))
        for k in range(0, count, 17):
            if dtype[0] == "f":
                assert np.array_equal(got[k], in_order(np.asarray(a[k]), np.asarray(b[k])))
            else:
                np.testing.assert_allclose(got[k], np.asarray(xp.matmul(a[k], b[k])), rtol=1e-4)
    same("matmul", make(2, 3), make(2, 3))
    same("matmul", make(3), make(3))
    same("matmul", make(), make(3))
    same("matmul", make(0, 3), make(3, 2))
    same("matmul", make(2, 0), make(0, 2))
    same("matmul", make(2, 3, 3), make(3, 3))
    same("matmul", make(2, 3, 3), make(3, 3, 3))
    same("matmul", make(2, 2), xp.ones((2, 2), dtype=xp.int8))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int8", "uint64", "bool"])
def test_products(dtype):
    """Every kind of product with a path in C, and similar products without one."""
    rng = np.random.default_rng(10)

    def make(*shape):
        values = rng.standard_normal(shape) * 9
        # Negative floats become unsigned integers through signed ones; direct casts differ on aarch64.
        return xp.asarray((values.astype(np.int64) if dtype[0] == "u" else values).astype(dtype), copy=True)

    for shape1, shape2 in (
        *itertools.product([(40, 50), (3, 40, 50), (1, 40, 50), (2, 1, 40, 50)], [(50,), (50, 1), (50, 30)]),
        *itertools.product([(3, 40, 50), (1, 40, 50)], [(3, 50, 30), (1, 50, 30), (2, 1, 50, 3), (4, 50, 3)]),
        ((1, 50), (50, 1)),
        ((1, 5), (5, 1)),
        ((50,), (50, 30)),
        ((1, 50), (50, 30)),
        ((7, 1), (1, 30)),
        ((7, 1), (1,)),
        ((300, 20), (20, 3)),
        ((300, 3), (3,)),
        ((3000, 20), (20, 30)),
        ((40, 50), (40, 50)),
        ((40, 50), (40,)),
        ((2, 40, 50), (3, 50, 40)),
        ((0, 50), (50, 30)),
        ((5, 0), (0, 3)),
    ):
        same("matmul", make(*shape1), make(*shape2))
    # Rows, and matrices in any layout: from one element to more than our own loops handle.
    for m, n, p in itertools.product((1, 2, 7), (1, 2, 3, 31, 32, 50), (1, 2, 5)):
        same("matmul", make(n), make(n, p))
        same("matmul", make(n), make(p, n).T)
        same("matmul", make(2 * n)[::-2], make(p, n).T)
        if m * p > 1:
            same("matmul", make(n, m).T, make(n, p))
        same("matmul", make(m, n), make(p, 2 * n).T[::2])
        same("matmul", make(n, m).T, make(2 * n)[::2])
        same("matmul", make(n, m).T, xp.broadcast_to(make(1, p), (n, p)))
    same("matmul", make(3, 2).T, make(2))
    same("matmul", make(3), make(2, 3).T[:2])
    same("matmul", make(40, 50), xp.ones((50, 30), dtype=xp.float64))
    same("matmul", xp.ones((4, 5), dtype=xp.float64), make(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if dtype[0] == "f":
            huge = xp.full((30, 30), float(np.finfo(dtype).max), dtype=getattr(xp, dtype))
            assert bool(xp.all(xp.isinf(huge @ huge)))
            same("matmul", huge, xp.full((30, 30), xp.nan, dtype=getattr(xp, dtype)))


def test_reshape_of_strides():
    """C handles one run of elements with any stride; the Python function handles several runs."""
    x = xp.reshape(xp.arange(24.0), (4, 6))
    one = xp.asarray(2.0)
    shapes = (24,), (4, 6), (2, 3, 4), (-1, 6), (1, 24, 1), (24, 1), (2, -1, 2, 1), (5, 5), (-1, -1)
    for view in (
        xp.broadcast_to(one, (2, 12)),
        xp.broadcast_to(one, (24,)),
        xp.broadcast_to(one, (2, 1, 12)),
        xp.broadcast_to(xp.arange(12.0), (2, 12)),
        xp.broadcast_to(xp.expand_dims(xp.arange(12.0), axis=1), (12, 2)),
        xp.arange(48.0)[::2],
        xp.arange(24.0)[::-1],
        xp.reshape(xp.arange(48.0), (6, 8))[:, ::2],
        xp.flip(x),
        xp.reshape(xp.arange(48.0), (24, 2))[:, :1],
        x.T,
    ):
        for shape in shapes:
            same("reshape", view, shape)
            same("reshape", view, shape, copy=False)
            same("reshape", view, shape, copy=True)


def test_unstack():
    for x in arrays():
        for axis in (None, *range(-x.ndim - 1, x.ndim + 1)):
            options = {} if axis is None else {"axis": axis}
            got = outcome(parts_of(xp.unstack), (x,), options)
            assert got == outcome(parts_of(reference.unstack), (x,), options), (x.shape, options)
    x = xp.asarray([1.0, 2.0])
    assert xp.strided.shares_storage(xp.unstack(x)[1], x)


def parts_of(f):
    return lambda *args, **kwargs: tuple(look(part) for part in f(*args, **kwargs))


def test_tiny_products_of_special_values():
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, -1.0]
    rng = np.random.default_rng(9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(300):
            a = rng.choice(special, (3, 2))
            b = rng.choice(special, (2, 3))
            got = np.asarray(xp.matmul(xp.asarray(a), xp.asarray(b)))
            expected = in_order(a, b)
            np.testing.assert_array_equal(got, expected)
            assert (np.signbit(got) == np.signbit(expected))[~np.isnan(expected)].all()


def test_one_element_is_written():
    for dtype in DTYPES:
        kind = getattr(xp, dtype)
        for value in (0, 1, -1, 2**40, 2**70, True, 1.5, np.nan, 1j, "1", None, np.float32(2.0)):
            for key in (0, 2, -1, -3, 3, -4, True, 1.0, None, 1 << 70, (0,), np.int64(1)):
                x, y = xp.zeros(3, dtype=kind), xp.zeros((1, 3), dtype=kind)
                got = outcome(x.__setitem__, (key, value), {})
                # With one more axis it takes the path in Python.
                expected = outcome(
                    y.__setitem__, ((0, key) if type(key) is not tuple else (0, *key), value), {}
                )
                if got is None or expected is None:
                    assert got == expected, (dtype, value, key)
                    assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
                else:
                    assert got[0] == expected[0], (dtype, value, key)
    x = xp.zeros(6)
    x[::2][1] = 5.0
    assert np.asarray(x).tolist() == [0, 0, 5, 0, 0, 0]
    with pytest.raises(xp.WriteError):
        xp.broadcast_to(xp.asarray(1.0), (3,))[0] = 2.0


def test_few_elements_of_two_dtypes():
    for first, second in itertools.product(DTYPES, repeat=2):
        for n in (0, 1, 3, 64, 65):
            a = (np.arange(n) % 3).astype(first)
            b = (np.arange(n) % 2 + 1).astype(second)
            for name in ("add", "multiply", "equal", "less", "divide", "maximum"):
                x, y = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
                f = getattr(xp, name)
                # As columns of a wider matrix they go through the planner.
                wide_x = xp.stack([x, x], axis=1)[:, 0]
                got, expected = outcome(f, (x, y), {}), outcome(f, (wide_x, y), {})
                if n and isinstance(got[0], str):
                    assert (got[0], got[1], got[4]) == (expected[0], expected[1], expected[4]), (
                        name,
                        first,
                        second,
                    )
                else:
                    assert got[0] == expected[0]


def test_contiguous():
    for x in arrays() + arrays("int8"):
        f = xp.strided.contiguous
        assert look(f(x)) == look(reference.of(f.__name__)(x))
        assert (f(x) is x) == (reference.of(f.__name__)(x) is x)
    for wrong in (1.0, None, np.ones(3)):
        assert outcome(f, (wrong,), {}) == outcome(reference.of(f.__name__), (wrong,), {})


def test_vecdot():
    f = xp.vecdot
    for x in arrays() + arrays("complex64"):
        for y in (x, xp.flip(x), x[..., :1] if x.ndim else x, xp.astype(x, xp.complex128)):
            assert outcome(f, (x, y), {}) == outcome(reference.of(f.__name__), (x, y), {})
    for wrong in (1.0, None, np.ones(3)):
        assert outcome(f, (xp.ones(3), wrong), {}) == outcome(
            reference.of(f.__name__), (xp.ones(3), wrong), {}
        )


def test_a_square_is_a_product():
    for dtype in ("float32", "float64"):
        values = np.concatenate(
            [np.random.default_rng(4).uniform(-100, 100, 5000), [0, -0.0, np.inf, -np.inf, np.nan]]
        )
        x = xp.asarray(values.astype(dtype))
        for two in (2, 2.0):
            assert np.asarray(x**two).tobytes() == np.asarray(x * x).tobytes()
            assert np.asarray(xp.pow(x, two)).tobytes() == np.asarray(xp.pow(x, xp.full_like(x, 2))).tobytes()
    parts = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e200, 1e-200]
    for dtype in ("complex64", "complex128"):
        with np.errstate(over="ignore"):
            values = np.asarray([complex(re, im) for re in parts for im in parts]).astype(dtype)
        x = xp.asarray(values)
        # One exponent for all elements, or an array of them; in blocks and element by element.
        exponents = xp.asarray(np.where(np.arange(2 * values.size) < values.size, 2, 3).astype(dtype))
        squares = np.asarray(xp.square(x))
        for given in (
            x**2,
            x**2.0,
            xp.pow(x, xp.full_like(x, 2)),
            xp.pow(xp.concat([x, x]), exponents)[: x.size],
        ):
            np.testing.assert_array_equal(
                np.asarray(given).view(squares.real.dtype), squares.view(squares.real.dtype)
            )
            finite = np.isfinite(squares)
            assert np.asarray(given)[finite].tobytes() == squares[finite].tobytes()


def test_a_cube_is_right_to_half_a_unit():
    """All forms round alike: one exponent, an array of exponents, in place, at every stride."""
    rng = np.random.default_rng(5)
    for dtype, wide in (("float32", np.float64), ("float64", np.longdouble)):
        if np.finfo(wide).nmant <= np.finfo(dtype).nmant:
            continue  # a platform whose long double is double
        tiny, huge = np.finfo(dtype).tiny, np.finfo(dtype).max
        edge = [
            0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1,
            -1,
            huge,
            -huge,
            tiny,
            -tiny,
            huge ** (1 / 3),
            tiny ** (1 / 3),
        ]
        sized = np.ldexp(rng.uniform(-2, 2, 5000), rng.integers(-60, 60, 5000))
        values = np.concatenate(
            [rng.uniform(-100, 100, 5000), sized, edge, [1e25, -1e25, 1e-25, -1e-25]]
        ).astype(dtype)
        x = xp.asarray(values, copy=True)
        got = np.asarray(x**3)
        with np.errstate(all="ignore"):
            exact = values.astype(wide) ** 3
            want = exact.astype(dtype)
            off = np.abs(got.astype(wide) - exact) / np.spacing(np.abs(want)).astype(wide)
        finite = np.isfinite(want)
        normal = finite & (np.abs(want) > 2.0**60 * tiny)
        assert np.max(off[finite]) < 1 and np.max(off[normal]) < 0.501
        assert np.array_equal(got[~finite], want[~finite], equal_nan=True)
        assert np.array_equal(np.signbit(got)[values == 0], np.signbit(values[values == 0]))
        exponents = xp.asarray(np.resize(np.asarray([3, 2.5, 3, -1], dtype), values.shape), copy=True)
        mixed = np.asarray(xp.pow(x, exponents))
        assert np.array_equal(mixed[::2], got[::2], equal_nan=True)
        assert np.array_equal(np.asarray(xp.pow(x, xp.full_like(x, 3))), got, equal_nan=True)
        assert np.array_equal(np.asarray(x[::-3] ** 3), got[::-3], equal_nan=True)
        x **= 3
        assert np.array_equal(np.asarray(x), got, equal_nan=True)


def test_where_in_one_run():
    for dtype in DTYPES:
        for n in (0, 1, 3, 100):
            a, b = np.arange(n).astype(dtype), (np.arange(n) + 7).astype(dtype)
            mask = np.arange(n) % 3 == 0
            got = xp.where(xp.asarray(mask), xp.asarray(a), xp.asarray(b))
            assert np.array_equal(np.asarray(got), np.where(mask, a, b))
            assert got.dtype.name == dtype


def test_guards_see_what_shortcuts_do_not():
    x = xp.ones((3, 1))
    with xp.broadcasting("exact"):
        assert xp.reshape(x, (3,)).shape == (3,)
        assert xp.stack([x, x]).shape == (2, 3, 1)
        with pytest.raises(xp.StretchError):
            x + xp.ones((1, 3))


# --- arguments that are not what they seem


class Shrinking:
    """An index whose `__index__` shortens the list that holds it."""

    def __init__(self, items):
        self.items = items

    def __index__(self):
        del self.items[1:]
        return 0


class Longer(tuple):
    def __len__(self):
        return 5


class Shorter(tuple):
    def __len__(self):
        return 0


class Disguised:
    """An object that `isinstance` takes for an array, such as a mock."""

    __class__ = property(lambda self: xp.Array)


def test_expand_dims_believes_no_length():
    x = xp.reshape(xp.arange(6), (2, 3))
    shrinking = []
    shrinking += [Shrinking(shrinking), 1]
    for axes in (shrinking, Longer((0,)), Shorter((0,))):
        with pytest.raises(ValueError, match="axis"):
            xp.expand_dims(x, axes)


@pytest.mark.parametrize("name", ["stack", "concat"])
def test_disguised_arrays_are_refused(name):
    f = getattr(xp, name)
    for parts in (
        [Disguised()],
        [xp.zeros(1), Disguised()],
        [xp.zeros(1)] * 20 + [Disguised()],
        (Disguised(),),
    ):
        with pytest.raises(TypeError):
            f(parts)
    with pytest.raises(TypeError):
        xp.full(3, Disguised())
    with pytest.raises(TypeError):
        xp.reshape(Disguised(), (1,))


def test_axis_of_vecdot_is_an_integer():
    x = xp.ones(3)
    for wrong in (-1.0, -1 + 0j, xp.asarray(-1.0), np.asarray([-1, -1])):
        with pytest.raises(TypeError, match="axis"):
            xp.vecdot(x, x, axis=wrong)


def test_corrections_beyond_floats():
    with pytest.raises(xp.RangeError, match="float64"):
        xp.var(xp.ones(3), correction=-(10**400))
    assert xp.isnan(xp.var(xp.ones(3), correction=10**400))

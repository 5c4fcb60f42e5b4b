"""The FFT extension, against NumPy over dtypes, layouts, lengths, axes and norms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers import (
    COMPLEX_FLOATING,
    FLOATING,
    INTEGERS,
    LAYOUTS,
    REAL_FLOATING,
    assert_same,
    axes_of,
    both,
    pair,
    same,
    values,
)

import stride0 as xp
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

TO_COMPLEX = ["fft", "ifft"]
FROM_REAL = ["rfft", "ihfft"]
TO_REAL = ["irfft", "hfft"]
NORMS = ["backward", "ortho", "forward"]
EPS = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-12, "complex128": 1e-12}


def dtypes_of(name):
    return REAL_FLOATING if name in (*FROM_REAL, "rfftn") else COMPLEX_FLOATING


def fft(name, **options):
    return lambda ns, v: getattr(ns.fft, name)(v, **options)


@pytest.mark.parametrize("name", TO_COMPLEX + FROM_REAL + TO_REAL)
def test_one_axis(name):
    for dtype, layout in itertools.product(dtypes_of(name), LAYOUTS):
        x, a = pair(dtype, layout)
        for axis in axes_of(a):
            if axis is None:
                continue
            for n, norm in itertools.product((None, 1, 3, 6, 7, 9), NORMS):
                if name in TO_REAL and n and 0 in a.shape:
                    continue  # NumPy does not set the result along an axis of size 0
                what = f"{dtype} {layout} {axis} {n} {norm}"
                same(fft(name, n=n, axis=axis, norm=norm), (x, a), rtol=EPS[dtype], what=what)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes(name):
    for dtype, layout in itertools.product(dtypes_of(name), LAYOUTS):
        x, a = pair(dtype, layout)
        if a.ndim == 0:
            continue
        for axes, s in (
            (None, None),
            ((0,), None),
            ((-1,), (5,)),
            ((-1, 0), None),
            ((0, 1), (2, 7)),
            ([1, 0], [3, 4]),
            ((5,), None),
            ((0,), (0,)),
            ((0,), (2, 3)),
        ):
            if axes is not None and a.ndim == 1 and len(axes) > 1:
                continue
            if name == "irfftn" and s and 0 in a.shape:
                continue  # as in `test_one_axis`
            for norm in NORMS:
                what = f"{dtype} {layout} {axes} {s} {norm}"
                same(fft(name, axes=axes, s=s, norm=norm), (x, a), rtol=EPS[dtype], what=what)


def test_minus_one_stands_for_all_elements():
    x, a = both(values("complex128", (4, 5)))
    assert_same(xp.fft.fftn(x, s=(-1, 3), axes=(0, 1)), np.fft.fftn(a, s=(4, 3), axes=(0, 1)), 1e-12)
    assert_same(xp.fft.ifftn(x, s=(2, -1), axes=(0, 1)), np.fft.ifftn(a, s=(2, 5), axes=(0, 1)), 1e-12)
    # A half spectrum of 5 elements gives a result of 8.
    assert_same(xp.fft.irfftn(x, s=(-1, -1), axes=(0, 1)), np.fft.irfftn(a, axes=(0, 1)), 1e-12)
    assert_same(xp.fft.rfftn(xp.real(x), s=(-1, -1), axes=(0, 1)), np.fft.rfftn(a.real), 1e-12)


@pytest.mark.parametrize("precise", [False, True])
def test_there_and_back(precise):
    real, complex_ = ("float64", "complex128") if precise else ("float32", "complex64")
    ns, rtol = xp.fft, EPS[real]
    for shape, norm in itertools.product(((6,), (7,), (3, 8), (2, 3, 5)), NORMS):
        z, b = both(values(complex_, shape))
        assert_same(ns.ifft(ns.fft(z, norm=norm), norm=norm), b, rtol)
        assert_same(ns.ifftn(ns.fftn(z, norm=norm), norm=norm), b, rtol)
        x, a = both(values(real, shape))
        assert_same(ns.irfft(ns.rfft(x, norm=norm), n=shape[-1], norm=norm), a, rtol)
        s, axes = shape, tuple(range(len(shape)))
        assert_same(ns.irfftn(ns.rfftn(x, norm=norm), s=s, axes=axes, norm=norm), a, rtol)
        assert_same(ns.hfft(ns.ihfft(x, norm=norm), n=shape[-1], norm=norm), a, rtol)


def test_precision_is_kept():
    for name in (*TO_COMPLEX, "fftn", "ifftn", *TO_REAL, "irfftn", *FROM_REAL, "rfftn"):
        for dtype in dtypes_of(name):
            result = getattr(xp.fft, name)(xp.ones((4, 4), dtype=getattr(xp, dtype)))
            wide = dtype in ("float64", "complex128")
            if name in (*TO_REAL, "irfftn"):
                assert result.dtype is (xp.float64 if wide else xp.float32)
            else:
                assert result.dtype is (xp.complex128 if wide else xp.complex64)


def test_size_0():
    z = xp.zeros((0, 4), dtype=xp.complex64)
    for name in TO_COMPLEX:
        assert getattr(xp.fft, name)(z).shape == (0, 4)
        with pytest.raises(xp.ShapeError, match=f"{name}: the length of the transform would be 0"):
            getattr(xp.fft, name)(z, axis=0)
        assert_same(getattr(xp.fft, name)(z, axis=0, n=3), np.zeros((3, 4), np.complex64))
    assert xp.fft.rfft(xp.zeros((0, 4))).shape == (0, 3)
    assert xp.fft.irfft(z).shape == (0, 6)
    assert xp.fft.fftn(z, axes=(1,)).shape == (0, 4)
    with pytest.raises(xp.ShapeError):
        xp.fft.fftn(z)
    with pytest.raises(xp.ShapeError, match="irfft: the length of the transform would be 0"):
        xp.fft.irfft(xp.zeros(1, dtype=xp.complex128))
    assert_same(xp.fft.irfft(xp.ones(1, dtype=xp.complex128), n=1), np.ones(1))


def test_no_axes():
    z, b = both(np.asarray(2 + 1j))
    assert_same(xp.fft.fftn(z), b)
    x, a = both(values("complex64", (2, 3)))
    result = xp.fft.ifftn(x, axes=())
    assert_same(result, a)
    assert not xp.strided.shares_storage(result, x)
    for name, v in (("rfftn", xp.ones((2, 3))), ("irfftn", x)):
        with pytest.raises(ValueError, match="at least one axis"):
            getattr(xp.fft, name)(v, axes=())
    with pytest.raises(xp.AxisError):
        xp.fft.fft(z)


@pytest.mark.parametrize("name", [*TO_COMPLEX, "fftn", "ifftn", *TO_REAL, "irfftn", *FROM_REAL, "rfftn"])
def test_transforms_refuse(name):
    function = getattr(xp.fft, name)
    x = xp.ones((4, 4), dtype=getattr(xp, dtypes_of(name)[0]))
    for norm in ("none", None, "Ortho", 1, x):
        with pytest.raises(ValueError, match="unknown norm"):
            function(x, norm=norm)
    for wrong in (np.asarray(x), [1.0, 2.0], 1.0):
        with pytest.raises(TypeError):
            function(wrong)
    if name.endswith("n"):
        with pytest.raises(ValueError, match="s is given without axes"):
            function(x, s=(4, 4))
        with pytest.raises(ValueError, match="s has 1 size for 2 axes"):
            function(x, s=(4,), axes=(0, 1))
        with pytest.raises(ValueError, match="named more than once"):
            function(x, axes=(0, -2))
        with pytest.raises(ValueError, match="would be -2"):
            function(x, s=(4, -2), axes=(0, 1))
        for options in ({"axes": 1}, {"axes": (0,), "s": 4}, {"axes": (0.0,)}, {"axes": (0,), "s": (4.0,)}):
            with pytest.raises(TypeError):
                function(x, **options)
    else:
        for n in (0, -1):
            with pytest.raises(ValueError, match=f"the length of the transform would be {n}"):
                function(x, n=n)
        for n in (2**62, 2**70, 10**5000):
            with pytest.raises(xp.ShapeError):
                function(x, n=n)
        for options in ({"axis": None}, {"axis": 0.0}, {"n": 4.0}, {"n": True}):
            with pytest.raises(TypeError):
                function(x, **options)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name):
    function, reference = getattr(xp.fft, name), getattr(np.fft, name)
    for n, d in itertools.product((1, 2, 3, 8, 9, 100), (1.0, 0.1, 3, -2.5)):
        assert_same(function(n, d=d), reference(n, d=d), 1e-15, f"{n} {d}")
        assert_same(function(n, d=d, dtype=xp.float32), reference(n, d=d).astype("float32"), 1e-6)
    assert_same(function(6), reference(6))
    assert function(4, device="cpu").device == xp.Device("cpu")
    assert function(4, dtype=xp.float64).dtype is xp.float64
    # Each is the quotient rounded once.
    expected = [k / (0.1 * 10) for k in range(5)]
    assert np.asarray(function(10, d=0.1))[:5].tolist() == expected
    for dtype in (xp.int64, xp.complex64, xp.bool):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            function(4, dtype=dtype)
    for n in (0, -1):
        with pytest.raises(ValueError, match="n must be at least 1"):
            function(n)
    with pytest.raises(ValueError, match="d must not be 0"):
        function(4, d=0)
    with pytest.raises(ValueError, match="device"):
        function(4, device="gpu")
    for call in (
        lambda: function(4.0),
        lambda: function(4, d=1j),
        lambda: function(4, d="1"),
        lambda: function(4, dtype="f16"),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name):
    for dtype, layout in itertools.product((*FLOATING, INTEGERS[0]), LAYOUTS):
        x, a = pair(dtype, layout)
        if a.ndim == 0:
            assert_same(getattr(xp.fft, name)(x), a)  # NumPy fails here.
            continue
        axes = [*axes_of(a), (), [], *([(0, 1), [-1, 0]] if a.ndim > 1 else [])]
        for along in axes:
            same(fft(name, axes=along), (x, a), what=f"{dtype} {layout} {along}")
    for n in (0, 1, 2, 5):
        x, a = both(np.arange(float(n)))
        same(fft(name), (x, a))
        assert_same(xp.fft.ifftshift(xp.fft.fftshift(x)), a)
    with pytest.raises(ValueError, match="more than once"):
        getattr(xp.fft, name)(xp.ones((2, 2)), axes=(0, -2))
    for call in (
        lambda: getattr(xp.fft, name)(np.ones(2)),
        lambda: getattr(xp.fft, name)(xp.ones(2), axes=0.0),
    ):
        with pytest.raises(TypeError):
            call()


def test_no_warnings():
    for special in (np.inf, np.nan, 1.7e308):
        x = xp.full(5, special, dtype=xp.complex128)
        assert not bool(xp.all(xp.isfinite(xp.fft.fft(x))))


def test_everything_is_there():
    assert len(xp.fft.__all__) == 14


# Kinds that the standard leaves out, as NumPy takes them

FROM_COMPLEX = ("fft", "ifft", "irfft", "hfft", "fftn", "ifftn", "irfftn")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
@pytest.mark.parametrize("name", [*FROM_COMPLEX, "rfft", "rfftn", "ihfft"])
def test_other_kinds(name, dtype):
    n = (np.arange(24) * 7 % 5 % 2 if dtype == "bool" else np.arange(24) * 7 % 5).reshape(4, 6).astype(dtype)
    plane = {"s": (3, 5), "axes": (0, 1)} if name.endswith("n") else {"n": 5, "axis": 0}
    for options in ({}, plane):
        wanted = getattr(np.fft, name)(n, **options)
        found = np.asarray(getattr(xp.fft, name)(xp.asarray(n), **options))
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-5 if dtype == "float32" else 1e-13)


def test_no_axes_of_real_numbers():
    for dtype, wanted in (("float32", xp.complex64), ("float64", xp.complex128), ("int64", xp.complex128)):
        found = xp.fft.fftn(xp.ones((2, 2), dtype=dtype), axes=())
        assert found.dtype is wanted and bool(xp.all(found == 1))


@pytest.mark.parametrize("name", ["rfft", "rfftn", "ihfft"])
def test_real_transforms_refuse_complex_numbers(name):
    with pytest.raises(xp.DTypeError, match=f"{name}: Unsupported dtype complex128"):
        getattr(xp.fft, name)(xp.ones(4, dtype=xp.complex128))


@pytest.mark.parametrize("name", FROM_COMPLEX)
def test_gradients_of_real_numbers(name):
    rng = np.random.default_rng(5)
    x, weights = xp.asarray(rng.standard_normal((3, 4))), rng.standard_normal(24)

    def f(x):
        y = getattr(xp.fft, name)(x)
        w = xp.asarray(weights[: y.size].reshape(y.shape))
        return xp.sum(xp.abs(y * w))

    found = xp.autograd.grad(f)(x)
    wanted = xp.autograd.grad(lambda x: f(xp.astype(x, xp.complex128)))(x)
    assert found.dtype is xp.float64
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-13)


def test_strict_mode_takes_what_the_standard_says():
    with xp.strict():
        for name in FROM_COMPLEX:
            for dtype in (xp.float64, xp.int64, xp.bool):
                with pytest.raises(xp.StrictError):
                    getattr(xp.fft, name)(xp.ones(4, dtype=dtype))
        for name in ("rfft", "rfftn", "ihfft"):
            with pytest.raises(xp.StrictError):
                getattr(xp.fft, name)(xp.ones(4, dtype=xp.int64))


@pytest.mark.parametrize("name", TO_COMPLEX + FROM_REAL + TO_REAL)
def test_zeros_of_nothing_along_one_axis(name):
    """An axis of size 0 is padded with zeros, whose transform is zero."""
    for dtype, (shape, axis), n in itertools.product(
        dtypes_of(name), [((0,), 0), ((0, 3), 0), ((3, 0), 1), ((2, 0, 3), -2), ((0, 0), 1)], (1, 2, 5, 8)
    ):
        filled = list(shape)
        filled[axis] = n
        for x in emptied(shape, dtype):
            expected = getattr(np.fft, name)(np.zeros(filled, dtype), n=n, axis=axis)
            dirty = [np.full(expected.shape, 3, expected.dtype) for _ in range(4)]
            del dirty  # so that uninitialised memory is not zero
            for norm in NORMS:
                got = getattr(xp.fft, name)(x, n=n, axis=axis, norm=norm)
                assert_same(got, np.zeros_like(expected), what=f"{dtype} {shape} {axis} {n}")


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_zeros_of_nothing_along_several_axes(name):
    for dtype, (shape, axes, s) in itertools.product(
        dtypes_of(name),
        [
            ((0,), (0,), (4,)),
            ((3, 0), (0, 1), (3, 5)),
            ((0, 3), (0, 1), (5, 4)),
            ((0, 3), (1, 0), (4, 5)),
            ((0, 0), (0, 1), (2, 3)),
            ((2, 0, 3), (1,), (6,)),
            ((2, 3, 0), (0, 2), (-1, 7)),
            ((0, 3, 2), (1, 2), (3, 2)),
        ],
    ):
        filled = list(shape)
        for axis, n in zip(axes, s, strict=True):
            filled[axis] = filled[axis] if n == -1 else n
        for x in emptied(shape, dtype):
            expected = getattr(np.fft, name)(np.zeros(filled, dtype), s=[filled[k] for k in axes], axes=axes)
            dirty = [np.full(expected.shape, 3, expected.dtype) for _ in range(4)]
            del dirty
            got = getattr(xp.fft, name)(x, s=s, axes=axes)
            assert_same(got, np.zeros_like(expected), what=f"{dtype} {shape} {axes} {s}")


def emptied(shape, dtype):
    """Yield arrays without elements, in several layouts."""
    room = xp.ones(tuple(n + 2 for n in shape), dtype=getattr(xp, dtype))
    yield xp.zeros(shape, dtype=getattr(xp, dtype))
    yield room[tuple(slice(1, n + 1) for n in shape)]
    yield room[tuple(slice(n, 0, -1) for n in shape)]
    order = tuple(reversed(range(len(shape))))
    yield xp.permute_dims(xp.zeros(shape[::-1], dtype=getattr(xp, dtype)), order)
    yield xp.broadcast_to(xp.ones((), dtype=getattr(xp, dtype)), shape)


# Lanes for several threads: whole units and less, several axes of a batch, lanes along each axis.
SHARED = [
    *[((37, 100), (1,)), ((100, 37), (0,)), ((7, 300), (1,)), ((5, 6, 64), (1,)), ((17, 9, 33), (0, 2))],
    *[((3, 4, 5, 60), (2,)), ((9, 1000), (0, 1)), ((70,), (0,)), ((8, 8, 8, 8), (0, 1, 2, 3))],
]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_lanes_are_the_same_on_any_number_of_threads(name, dtype):
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    try:
        for shape, axes in SHARED:
            x, a = both(values(dtype, shape))
            if name == "rfftn" and a.dtype.kind == "c":
                x, a = xp.real(x), a.real
            wide, flipped = (
                xp.asarray(np.repeat(a, 2, axis=-1))[..., ::2],
                xp.asarray(a[::-1].copy())[::-1, ...],
            )
            found = []
            for threads in (1, 2, 5):
                xp.set_num_threads(threads)
                found += [np.asarray(getattr(xp.fft, name)(y, axes=axes)) for y in (x, wide, flipped)]
            assert all(np.array_equal(found[0], other, equal_nan=True) for other in found[1:]), (shape, axes)
            same(fft(name, axes=axes), (x, a), rtol=EPS[dtype] * 100, what=f"{shape} {axes}")
    finally:
        plan.tune(**tuned)
        pool.back_off(backs_off)
        xp.set_num_threads(before)

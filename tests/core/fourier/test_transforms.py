"""Note [Fourier transforms]: transforms by kernels of our own, against NumPy in extended precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import stride0 as xp
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

EPS = {"float32": 2.0**-24, "complex64": 2.0**-24, "float64": 2.0**-53, "complex128": 2.0**-53}
# Every kind of radix, matrices whose rows and columns fill vectors or do not, and convolutions.
LENGTHS = [
    *range(1, 34),
    49,
    60,
    63,
    64,
    65,
    77,
    100,
    121,
    128,
    143,
    210,
    242,
    243,
    256,
    625,
    847,
    1000,
    1155,
    2 * 61,
    127,
    11 * 127,
    131,
    2 * 131,
    3 * 167,
    1009,
]
LONG = [2048, 2187, 3003, 3125, 4096, 4099, 4410, 13**3, 61 * 64, 16384, 20020]
NAMES = {"float64": ("fft", "ifft", "rfft", "ihfft"), "complex128": ("fft", "ifft", "irfft", "hfft")}
PRECISE = {
    "float64": "longdouble",
    "float32": "longdouble",
    "complex128": "clongdouble",
    "complex64": "clongdouble",
}


def random(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype.startswith("c") else a).astype(dtype)


def precise(name, a, **options):
    return getattr(np.fft, name)(a.astype(PRECISE[a.dtype.name]), **options)


def check(name, a, x=None, errors=16, **options):
    """Compare with NumPy: by units in the last place of the root mean square."""
    found = np.asarray(getattr(xp.fft, name)(xp.asarray(a) if x is None else x, **options))
    expected = precise(name, a, **options)
    assert found.shape == expected.shape
    scale = np.sqrt(np.mean(np.abs(expected) ** 2))
    assert np.max(np.abs(found - expected)) <= errors * EPS[a.dtype.name] * max(scale, 1e-300), (
        name,
        a.shape,
        options,
    )
    return found


@pytest.mark.parametrize("lanes", [1, 3, 8, 19])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_lengths(dtype, lanes):
    names = NAMES["complex128" if dtype.startswith("c") else "float64"]
    for name, n in itertools.product(names, LENGTHS):
        half = name in ("irfft", "hfft")
        a = random((lanes, n // 2 + 1 if half else n), dtype)
        check(name, a, errors=24, n=n)


@pytest.mark.parametrize("n", LONG)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_long_lanes(dtype, n):
    for name, lanes in itertools.product(NAMES["complex128" if dtype.startswith("c") else "float64"], (1, 9)):
        a = random((lanes, n // 2 + 1 if name in ("irfft", "hfft") else n), dtype)
        check(name, a, errors=32, n=n)


@pytest.mark.parametrize("n", [12, 15, 37, 90, 105, 137, 274, 600])
def test_layouts_have_the_same_bits(n):
    for dtype, lanes in itertools.product(("float32", "float64", "complex64", "complex128"), (2, 11, 48)):
        a = random((lanes, n), dtype)
        wide = np.zeros((2 * lanes, 3 * n), dtype)
        wide[::2, ::3] = a
        # An odd number of bytes comes before the first element.
        bytes_ = np.zeros(a.nbytes + 1, "u1")
        unaligned = bytes_[1:].view(dtype).reshape(a.shape)
        unaligned[...] = a
        layouts = {
            "contiguous": xp.asarray(a),
            "columns": xp.asarray(np.asfortranarray(a)),
            "steps": xp.asarray(wide)[::2, ::3],
            "backward": xp.asarray(a[:, ::-1].copy())[:, ::-1],
            "unaligned": xp.from_dlpack(unaligned),
        }
        for name in ("rfft", "fft", "ifft") if dtype.startswith("f") else ("fft", "ifft", "irfft"):
            for length in (n, n - 5, n + 7):
                results = {
                    layout: np.asarray(getattr(xp.fft, name)(x, n=length)).tobytes()
                    for layout, x in layouts.items()
                }
                across = getattr(xp.fft, name)(layouts["contiguous"].T, n=length, axis=0)
                results["across"] = np.asarray(across.T).tobytes()
                assert len(set(results.values())) == 1, (name, dtype, lanes, length)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_lanes_of_any_order_have_the_same_bits(dtype):
    """Lanes are adjacent, at equal distances, or neither, in the operand and in the result."""
    n = 20
    a = random((5, 16, n), dtype)
    for name in ("rfft", "fft", "ihfft") if dtype.startswith("f") else ("fft", "ifft", "irfft"):
        expected = np.asarray(getattr(xp.fft, name)(xp.asarray(a)))
        for order in itertools.permutations(range(3)):
            for step in (1, -1):
                # The memory has the axes in this order, and the last one may run backward.
                memory = np.ascontiguousarray(a.transpose(order)[..., ::step])
                x = xp.permute_dims(xp.asarray(memory)[..., ::step], tuple(np.argsort(order)))
                found = np.asarray(getattr(xp.fft, name)(x))
                assert found.tobytes() == expected.tobytes(), (name, order, step)
                axis = order.index(2)
                y = xp.asarray(memory)[..., ::step]
                found = np.asarray(getattr(xp.fft, name)(y, axis=axis)).transpose(np.argsort(order))
                assert found.tobytes() == expected.tobytes(), (name, order, step)


@pytest.mark.parametrize("dtype", list(EPS))
@pytest.mark.parametrize("shape", [(7,), (8,), (3, 6), (2, 5, 4)])
def test_axes_lengths_and_norms(dtype, shape):
    a = random(shape, dtype)
    names = ["fft", "ifft", "irfft", "hfft"] + ([] if dtype.startswith("c") else ["rfft", "ihfft"])
    options = itertools.product(
        range(-len(shape), len(shape)), (None, 3, 10, 137), ("backward", "ortho", "forward")
    )
    for name, (axis, n, norm) in itertools.product(names, options):
        check(name, a, errors=24, axis=axis, n=n, norm=norm)


@pytest.mark.parametrize("n", [13, 17, 26, 61, 62, 127])
@pytest.mark.parametrize("dtype", list(EPS))
def test_a_single_lane_has_the_bits_of_several_lanes(dtype, n):
    """A vector holds several results of one lane, or one result of several lanes."""
    a = xp.asarray(random((9, n), dtype))
    for name in (
        ("fft", "ifft", "irfft", "hfft") if dtype.startswith("c") else ("fft", "ifft", "rfft", "ihfft")
    ):
        several, single = (getattr(xp.fft, name)(x, n=n) for x in (a, a[4]))
        assert np.asarray(single).tobytes() == np.asarray(several[4]).tobytes(), name


def test_several_axes_in_place():
    a = random((6, 137, 128), "complex128")
    before = a.copy()
    x = xp.asarray(a)
    for name in ("fftn", "ifftn"):
        found = np.asarray(getattr(xp.fft, name)(x))
        expected = precise(name, a)
        assert np.max(np.abs(found - expected)) <= 1e-13 * np.max(np.abs(expected))
    assert np.array_equal(a, before)


@pytest.mark.parametrize("n", [9, 16, 45, 61, 70, 137, 256, 262, 315])
def test_spectra_of_real_numbers_are_hermitian(n):
    for lanes, name in itertools.product((1, 8), ("fft", "ifft")):
        spectrum = np.asarray(getattr(xp.fft, name)(xp.asarray(random((lanes, n), "float64"))))
        assert np.array_equal(spectrum[:, 1:], np.conj(spectrum[:, :0:-1]))
        assert np.all(spectrum[:, 0].imag == 0)
        if n % 2 == 0:
            assert np.all(spectrum[:, n // 2].imag == 0)


@pytest.mark.parametrize("n", [12, 27, 37, 96, 149, 1000])
def test_lanes_do_not_touch_each_other(n):
    """A vector holds several lanes: large or infinite values and NaN in one lane do not change others."""
    a = random((16, n), "complex128")
    for name in ("fft", "irfft"):
        expected = np.asarray(getattr(xp.fft, name)(xp.asarray(a)))
        for strange in (np.nan, np.inf, 1e300):
            b = a.copy()
            b[5, 3] = strange
            found = np.asarray(getattr(xp.fft, name)(xp.asarray(b)))
            others = np.arange(16) != 5
            assert np.array_equal(found[others], expected[others])


def test_imaginary_parts_that_cannot_be():
    """Imaginary parts of the first element of a half spectrum, and of the last one if the length is even."""
    for n, lanes in itertools.product((8, 9, 128, 135, 137, 274), (1, 8)):
        a = random((lanes, n // 2 + 1), "complex128")
        b = a.copy()
        b[:, 0] = b[:, 0].real
        if n % 2 == 0:
            b[:, -1] = b[:, -1].real
        for name in ("irfft", "hfft"):
            results = [np.asarray(getattr(xp.fft, name)(xp.asarray(c), n=n)) for c in (a, b)]
            assert np.array_equal(*results)


@pytest.mark.parametrize(
    "shape", [(70000,), (3, 30000), (600, 100), (40, 3000), (2, 81 * 625), (10007,), (40, 1009)]
)
def test_threads_have_the_same_bits(shape):
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    try:
        for dtype in ("float64", "complex64"):
            x = xp.asarray(random(shape, dtype))
            for name in ("fft", "ifft", "rfft" if dtype == "float64" else "irfft"):
                results = set()
                for threads in (1, 2, 3):
                    xp.set_num_threads(threads)
                    results.add(np.asarray(getattr(xp.fft, name)(x)).tobytes())
                assert len(results) == 1
    finally:
        plan.tune(**tuned)
        pool.back_off(backs_off)
        xp.set_num_threads(before)


def test_tables_of_many_lengths():
    """The number of cached tables is limited; a length that comes again gives the same bits."""
    a = random(1 << 18, "complex128")
    x = xp.asarray(a)
    before = np.asarray(xp.fft.fft(x))
    for n in range(1 << 18, (1 << 18) - 4000, -2):
        if n % 500 == 0 or n in (261360, 261954):
            xp.fft.fft(x, n=n)
    assert np.array_equal(np.asarray(xp.fft.fft(x)), before)


def test_too_much_memory():
    x = xp.asarray(random(64, "complex128"))
    with pytest.raises(MemoryError):
        xp.fft.fft(x, n=1 << 45)

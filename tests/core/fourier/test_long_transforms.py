"""Note [Long transforms]: lanes of any length, against NumPy in extended precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

# A prime number, twice a prime, and matrices whose rows are convolutions.
LENGTHS = [65537, 2 * 32771, 17 << 12, 16 * 4099, 3 * 25 * 887]
EPS = {"float32": 2.0**-24, "complex64": 2.0**-24, "float64": 2.0**-53, "complex128": 2.0**-53}


@pytest.fixture(autouse=True, params=[None, 1 << 12])
def limit(request: pytest.FixtureRequest) -> Iterator[None]:
    """Transforms by one matrix, and transforms composed of these."""
    before = plan.tune(**({} if request.param is None else {"transform_numbers": request.param}))
    xp.memory.empty_cache()
    yield
    plan.tune(**before)
    xp.memory.empty_cache()


def random(shape: Any, dtype: str) -> Any:
    rng = np.random.default_rng(38)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype.startswith("c") else a).astype(dtype)


def check(name: str, a: Any, **options: Any) -> None:
    """Compare with NumPy: by units in the last place of the root mean square."""
    found = np.asarray(getattr(xp.fft, name)(xp.asarray(a), **options))
    expected = getattr(np.fft, name)(
        a.astype("clongdouble" if a.dtype.kind == "c" else "longdouble"), **options
    )
    assert found.shape == expected.shape
    scale = np.sqrt(np.mean(np.abs(expected) ** 2))
    assert np.max(np.abs(found - expected)) <= 32 * EPS[a.dtype.name] * scale, (name, a.shape, options)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n: int) -> None:
    for name in ("fft", "ifft", "irfft", "hfft"):
        check(name, random(n // 2 + 1 if name in ("irfft", "hfft") else n, "complex128"), n=n)
    for name in ("fft", "ifft", "rfft", "ihfft"):
        check(name, random(n, "float64"))
    check("fft", random(n, "complex64"))
    check("rfft", random(n, "float32"))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_norms(norm: str) -> None:
    for name in ("fft", "ifft", "irfft"):
        check(name, random(65537, "complex128"), n=65537, norm=norm)
    check("rfft", random(65537, "float64"), norm=norm)


def test_truncated_and_continued() -> None:
    for size in (1, 65000, 66000):
        for name in ("fft", "ifft", "irfft"):
            check(name, random(size, "complex128"), n=65537)
        check("rfft", random(size, "float64"), n=65537)


@pytest.mark.parametrize("n", [1 << 21, 16 * 65537, 1_000_003])
def test_some_numbers_of_a_spectrum(n: int) -> None:
    """With few nonzero numbers the sums are known. The rows of a matrix are long too."""
    rng = np.random.default_rng(38)
    places, values = rng.integers(0, n, 8), rng.standard_normal(8) + 1j * rng.standard_normal(8)
    a = np.zeros(n, "complex128")
    a[places] = values
    k = rng.integers(0, n, 1000)
    turns = (k[:, None] * places % n).astype("longdouble") / n
    expected = np.exp(-2j * np.arccos(np.longdouble(-1)) * turns) @ a[places]
    found = np.asarray(xp.fft.fft(xp.asarray(a)))
    assert np.max(np.abs(found[k] - expected)) < 1e-13
    assert np.max(np.abs(np.asarray(xp.fft.ifft(xp.asarray(found))) - a)) < 1e-14


@pytest.mark.parametrize("n", [65537, 17 << 12])
def test_layouts_have_the_same_bits(n: int) -> None:
    for dtype in ("float64", "complex64"):
        a = random((3, n), dtype)
        for name in ("rfft", "fft", "ifft") if dtype == "float64" else ("fft", "ifft", "irfft"):
            options = {"n": n}
            expected = np.asarray(getattr(xp.fft, name)(xp.asarray(a), **options))
            x = xp.asarray(a)
            found = {
                "columns": getattr(xp.fft, name)(xp.asarray(np.asfortranarray(a)), **options),
                "backward": getattr(xp.fft, name)(xp.asarray(a[:, ::-1].copy())[:, ::-1], **options),
                "across": getattr(xp.fft, name)(x.T, axis=0, **options).T,
                "one by one": xp.stack([getattr(xp.fft, name)(row, **options) for row in x]),
                "broadcast": getattr(xp.fft, name)(xp.broadcast_to(x, (2, 3, n)), **options)[1],
            }
            with xp.fused(size=1):
                found["deferred"] = getattr(xp.fft, name)(x * 1, **options)
            for layout, result in found.items():
                assert np.asarray(result).tobytes() == expected.tobytes(), (name, dtype, layout)
    found = np.asarray(xp.fft.fftn(xp.asarray(a[:2])))
    assert np.allclose(found, np.fft.fftn(a[:2]), rtol=0, atol=1e-3 if dtype == "complex64" else 1e-9)


def test_spectra_of_real_numbers_are_hermitian() -> None:
    for n in (65537, 2 * 32771):
        for name in ("fft", "ifft"):
            spectrum = np.asarray(getattr(xp.fft, name)(xp.asarray(random(n, "float64"))))
            assert np.array_equal(spectrum[1:], np.conj(spectrum[:0:-1]))
            assert spectrum[0].imag == 0
            assert n % 2 or spectrum[n // 2].imag == 0
        a = random(n // 2 + 1, "complex128")
        b = a.copy()
        b[0] = b[0].real
        if n % 2 == 0:
            b[-1] = b[-1].real
        assert np.array_equal(*[np.asarray(xp.fft.irfft(xp.asarray(c), n=n)) for c in (a, b)])


def test_threads_have_the_same_bits() -> None:
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    try:
        for n in (65537, 17 << 12):
            x = xp.asarray(random(n, "complex128"))
            results = set()
            for threads in (1, 2, 3):
                xp.set_num_threads(threads)
                results.add(np.asarray(xp.fft.fft(x)).tobytes())
            assert len(results) == 1
    finally:
        plan.tune(**tuned)
        pool.back_off(backs_off)
        xp.set_num_threads(before)


def test_gradient() -> None:
    """The adjoint of a transform is a transform too."""
    n = 65537
    x, w = xp.asarray(random(n, "float64")), xp.asarray(random(n, "complex128"))
    g = xp.autograd.grad(lambda y: xp.sum(xp.real(xp.fft.fft(y) * w)))(x)
    expected = np.fft.fft(np.asarray(w)).real
    assert np.allclose(np.asarray(g), expected, rtol=0, atol=1e-9)

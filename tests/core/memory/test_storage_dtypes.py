"""float16 and bfloat16: conversions to the last bit, on every instruction set.

STRIDE0_ISA=baseline python tests/core/memory/test_storage_dtypes.py    # only one instruction set
"""

from __future__ import annotations

import bisect
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._core.kernels import _dispatch

NAMES = ("float16", "bfloat16")
FRACTION = {"float16": 10, "bfloat16": 7}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def dtype_of(name: str) -> Any:
    return getattr(xp, name)


def from_bits(bits: Any, name: str) -> Any:
    return xp.asarray(np.ascontiguousarray(bits, np.uint16)).view(dtype_of(name))


def bits_of(x: Any) -> Any:
    return np.asarray(x.view(xp.uint16))


def all_of(name: str) -> Any:
    return from_bits(np.arange(65536), name)


def values_of(bits: Any, name: str) -> Any:
    """The values of the bits in float64, by the definition of IEEE 754."""
    fraction, width = FRACTION[name], 15 - FRACTION[name]
    exponent = bits >> fraction & (1 << width) - 1
    mantissa = (bits & (1 << fraction) - 1).astype(np.float64)
    bias = (1 << width - 1) - 1
    tiny = mantissa * 2.0 ** (1 - bias - fraction)
    normal = (mantissa + 2.0**fraction) * 2.0 ** (exponent.astype(np.float64) - bias - fraction)
    top = exponent == (1 << width) - 1
    out = np.where(top, np.where(mantissa == 0, np.inf, np.nan), np.where(exponent == 0, tiny, normal))
    return np.where(bits & 0x8000, -out, out)


def grid(name: str) -> tuple[Any, Any]:
    """All numbers from 0 to one above the largest, and the midpoints between neighbours."""
    values = values_of(np.arange(0x8000), name)
    values = values[np.isfinite(values)]
    values = np.append(values, 2 * values[-1] - values[-2])
    return values, (values[1:] + values[:-1]) / 2


def rounded(x: Any, name: str) -> Any:
    """The bits of float64 numbers rounded to nearest, ties to even: by a search among all numbers."""
    values, middles = grid(name)
    size = np.abs(x)
    place = np.searchsorted(middles, size, side="left")
    at_middle = (place < len(middles)) & (middles[np.minimum(place, len(middles) - 1)] == size)
    place = np.where(at_middle & (place % 2 == 1), place + 1, place)
    return (np.minimum(place, len(values) - 1) | np.where(np.signbit(x), 0x8000, 0)).astype(np.uint16)


def close_to_middles(name: str) -> Any:
    """All numbers, all midpoints, and the float64 numbers next to the midpoints."""
    values, middles = grid(name)
    near = np.concatenate((values, middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)))
    return np.concatenate((near, -near))


def check_widening(name: str) -> None:
    x = all_of(name)
    exact = values_of(np.arange(65536), name)
    for wide in (xp.float32, xp.float64):
        found = np.asarray(xp.astype(x, wide))
        np.testing.assert_array_equal(found, exact.astype(found.dtype))
        assert (np.signbit(found) == (np.arange(65536) >= 0x8000)).all()
    for wide in (xp.complex64, xp.complex128):
        found = np.asarray(xp.astype(x, wide))
        np.testing.assert_array_equal(found.real, exact)
        assert (found.imag == 0).all()
    assert (np.asarray(xp.astype(x, xp.bool)) == (exact != 0)).all()
    for target in INTEGERS:
        found = xp.astype(x, dtype_of(target))
        assert xp.all(found == xp.astype(xp.astype(x, xp.float64), dtype_of(target)))
    assert (bits_of(xp.astype(x, dtype_of(name))) == np.arange(65536)).all()
    for strided in (x[::-1], x[::3], xp.reshape(x, (256, 256)).T):
        again = np.asarray(xp.astype(strided, xp.float32))
        np.testing.assert_array_equal(again, values_of(bits_of(xp.asarray(strided, copy=True)), name))
    # Back from wider dtypes, which hold all numbers.
    for wide in (xp.float32, xp.float64):
        back = bits_of(xp.astype(xp.astype(x, wide), dtype_of(name)))
        assert (back[~np.isnan(exact)] == np.arange(65536)[~np.isnan(exact)]).all()


def check_rounding(name: str) -> None:
    rng = np.random.default_rng(20253)
    target = dtype_of(name)
    doubles = np.concatenate(
        (
            close_to_middles(name),
            rng.integers(0, 2**64, 200_000, dtype=np.uint64).view(np.float64),
            rng.normal(0, 1, 100_000) * 2.0 ** rng.integers(-30, 20, 100_000),
            np.ldexp(rng.normal(0, 1, 100_000), rng.integers(-150, 130, 100_000)),
            [0.0, -0.0, np.inf, -np.inf, 1e308, -1e308, 5e-324],
        )
    )
    doubles = doubles[~np.isnan(doubles)]
    assert (bits_of(xp.astype(xp.asarray(doubles), target)) == rounded(doubles, name)).all()
    with np.errstate(all="ignore"):
        floats = doubles.astype(np.float32)
        floats = np.concatenate(
            (floats, np.nextafter(floats, np.float32(0)), np.nextafter(floats, np.float32(np.inf)))
        )
    want = rounded(floats.astype(np.float64), name)
    assert (bits_of(xp.astype(xp.asarray(floats), target)) == want).all()
    # There are further loops for any strides and for a broadcast value.
    assert (bits_of(xp.astype(xp.asarray(floats)[::-1], target)) == want[::-1]).all()
    for place in range(0, len(floats), 65537):
        one = xp.broadcast_to(xp.asarray(floats[place : place + 1]), (5,))
        assert (bits_of(xp.asarray(xp.astype(one, target), copy=True)) == want[place]).all()


def check_integers(name: str) -> None:
    rng = np.random.default_rng(20254)
    target = dtype_of(name)
    values, middles = grid(name)
    points = [int(v) for v in middles if v == int(v)]
    finite = [int(v) for v in values if v == int(v)]
    bits = {int(v): k for k, v in enumerate(values) if v == int(v)}
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        near = [p + d for p in points for d in (-1, 0, 1)] + [0, 1, info.min, info.max]
        near += [-p for p in near]
        near = [p for p in near if info.min <= p <= info.max]
        x = np.concatenate(
            (np.array(near, dtype), rng.integers(info.min, info.max, 20_000, dtype, endpoint=True))
        )
        with_shifts = (x.astype(object) >> rng.integers(0, 8 * x.itemsize, len(x))).astype(dtype)
        x = np.concatenate((x, with_shifts))
        found = bits_of(xp.astype(xp.asarray(x), target))
        for value, got in zip(x.tolist(), found.tolist(), strict=True):
            place = bisect.bisect_left(finite, abs(value))
            if place == len(finite):
                want = bits[finite[-1]]
            elif finite[place] == abs(value):
                want = bits[abs(value)]
            else:
                low, high = finite[place - 1], finite[place]
                above = 2 * abs(value) - low - high
                want = bits[low] if above < 0 or (above == 0 and bits[low] % 2 == 0) else bits[high]
            want = min(want, len(values) - 1)
            assert got == want | (0x8000 if value < 0 else 0), (dtype, value)


def check_nan(name: str) -> None:
    payloads = np.array([0x7F800001, 0x7FC00001, 0x7FC10000, 0xFFC10000, 0x7F812000, 0xFF800001], np.uint32)
    found = bits_of(xp.astype(xp.asarray(payloads.view(np.float32)), dtype_of(name)))
    if name == "float16":
        # The upper bits of the payload stay, and the NaN is quiet, as NumPy converts quiet NaNs.
        want = (payloads >> 16 & 0x8000) | 0x7E00 | (payloads >> 13 & 0x3FF)
    else:
        want = (payloads >> 16 & 0x8000) | 0x7FC0
    assert (found == want).all()
    many = xp.astype(xp.asarray(np.tile(payloads, 50).view(np.float32)), dtype_of(name))
    assert (bits_of(many) == np.tile(want, 50)).all()
    with np.errstate(all="ignore"):
        doubles = payloads.view(np.float32).astype(np.float64)
    assert np.isnan(np.asarray(xp.astype(xp.astype(xp.asarray(doubles), dtype_of(name)), xp.float64))).all()
    quiet = np.arange(65536)[np.isnan(values_of(np.arange(65536), name))] | 1 << FRACTION[name] - 1
    wide = np.asarray(xp.astype(from_bits(quiet, name), xp.float32)).view(np.uint32)
    shift = 23 - FRACTION[name]
    assert (
        wide == ((quiet & 0x8000) << 16 | 0x7F800000 | (quiet & (1 << FRACTION[name]) - 1) << shift)
    ).all()


CHECKS = (check_widening, check_rounding, check_integers, check_nan)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", CHECKS)
def test_conversions(check: Any, name: str) -> None:
    check(name)


@pytest.mark.parametrize("sign", [1, -1])
def test_python_integers_are_rounded_once(sign: int) -> None:
    # Each is just above the midpoint of 2**e and the next bfloat16, by one bit that float64 does not hold.
    for exponent in range(62, 127):
        for bit in range(exponent - 53):
            value = sign * (2**exponent + 2 ** (exponent - 8) + 2**bit)
            found = float(xp.asarray(value, dtype=xp.bfloat16))
            assert found == sign * (2.0**exponent + 2.0 ** (exponent - 7)), (exponent, bit)


@pytest.mark.parametrize("instruction_set", _dispatch.supported()[1:])
def test_conversions_on_other_instruction_sets(instruction_set: str) -> None:
    environment = {**os.environ, "STRIDE0_ISA": instruction_set}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_conversions_as_numpy() -> None:
    """NumPy's float16 and ml_dtypes' bfloat16 on the same numbers."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    floats = np.random.default_rng(20255).integers(0, 2**32, 500_000, dtype=np.uint32) | 0x400000
    floats = floats.astype(np.uint32).view(np.float32)
    for name, theirs in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
        with np.errstate(all="ignore"):
            want = floats.astype(theirs)
            wide = want.astype(np.float64)
        found = xp.astype(xp.asarray(floats), dtype_of(name))
        assert (bits_of(found) == want.view(np.uint16)).all()
        np.testing.assert_array_equal(np.asarray(xp.astype(found, xp.float64)), wide)


if __name__ == "__main__":
    for one in CHECKS:
        for dtype in NAMES:
            one(dtype)

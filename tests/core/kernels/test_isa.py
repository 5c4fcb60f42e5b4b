"""Each instruction set's kernels against the baseline's: the same input gives the same bits.

Every set runs this file as a script in a separate process, because one set is chosen when stride0 is
imported. The script calls every loop and prints a digest of each result's bytes; the digests must agree.

All NaNs are replaced by one NaN first, because their sign and payload are unspecified (Note [Same bits] in
docs/design/kernels.md).
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import function_of

import stride0 as xp
from stride0._core.elementwise.elementwise import copy, multiply_masked
from stride0._core.kernels import _dispatch
from stride0._core.memory.dtype import DTYPES, STANDARD_DTYPES
from stride0._core.plan import plan
from stride0._core.reduce.reduce import argreduce, reduce, reduce2, scan
from stride0._tables import instruction_sets
from stride0._tables.operations import ARG_REDUCTIONS, OPS, PAIRS, REDUCTIONS, SCANS

# Around the widths of vectors and of the reductions' lanes, and beyond their blocks of 4096 elements.
LENGTHS = (1, 7, 31, 32, 33, 64, 1000, 5000)
LAYOUTS = ("contiguous", "strided", "reversed")


def data(dtype: Any, seed: int) -> Any:
    """Elements of a dtype: ordinary, large, tiny and special ones, enough for every second one to suffice."""
    rng = np.random.default_rng(seed)
    n = 2 * LENGTHS[-1]
    if dtype.kind == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if "integer" in dtype.kind:
        info = np.iinfo(dtype.name)
        small = rng.integers(max(info.min, -9), 9, n)
        wide = rng.integers(info.min, info.max, n, dtype=dtype.name, endpoint=True)
        extreme = rng.choice(np.asarray([info.min, info.max, 0], dtype.name), n)
        return np.choose(rng.integers(0, 3, n), [small.astype(dtype.name), wide, extreme])
    if dtype.kind == "complex floating":
        real = {"complex64": xp.float32, "complex128": xp.float64}[dtype.name]
        out = np.empty(n, dtype.name)
        out.real, out.imag = data(real, seed), data(real, seed + 100)
        return out
    # The limits of casts to integers and of exp, and halves for rounding.
    special = [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        127.5,
        255.5,
        2.0**31,
        -(2.0**31),
        88.8,
    ]
    special += [
        2.0**63,
        -(2.0**63),
        2.0**64,
        709.8,
        -745.2,
        1e-40,
        -1e-30,
        3e38,
        xp.finfo(dtype).smallest_normal,
        *(5e-324, -1e-310, 1e-200, -1e-160, 1e160, -1e200, 1.5e308),
    ]
    ordinary = [
        rng.normal(0, 3, n),
        rng.uniform(-1, 1, n),
        rng.normal(size=n) * 10.0 ** rng.uniform(-30, 30, n),
    ]
    pick = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    chosen = np.choose(pick, [*ordinary, rng.choice(special, n)])
    if dtype not in STANDARD_DTYPES:
        return xp.astype(xp.asarray(chosen), dtype)
    with np.errstate(over="ignore"):
        return chosen.astype(dtype.name)


def lay_out(a: Any, length: int, layout: str) -> Any:
    """Return a stride0 view of `length` elements of a NumPy array in a layout."""
    x = xp.asarray(a)
    if layout == "contiguous":
        return x[:length]
    return x[1 : 2 * length : 2] if layout == "strided" else x[length - 1 :: -1]


def digest(x: Any) -> str:
    """Return a digest of shape and bytes, every NaN being the same NaN."""
    if x.dtype not in STANDARD_DTYPES:
        x = xp.where(xp.isnan(x), xp.nan, x).view(xp.uint16)
    a = np.array(x)
    if a.dtype.kind in "fc":
        parts = a.reshape(-1).view(a.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return hashlib.blake2b(repr((a.dtype, a.shape)).encode() + a.tobytes(), digest_size=8).hexdigest()


def elementwise() -> Iterator[tuple[str, Any]]:
    """Every row of the table, in every dtype with a loop, in all layouts, with either operand broadcast."""
    for op in OPS:
        special = {"add_scaled": lambda x, y, z: xp.add(x, y, alpha=z), "multiply_masked": multiply_masked}
        call = special.get(op.name) or function_of(op)
        for dtype in DTYPES:
            given = [data(dtype, seed) for seed in range(op.nin)]
            if op.name == "pow" and dtype.kind == "signed integer":
                given[1] = given[1] & 15  # negative exponents are refused
            try:
                call(*(lay_out(a, 1, "contiguous") for a in given))
            except TypeError:
                continue
            for length in LENGTHS:
                for layout in LAYOUTS:
                    operands = [lay_out(a, length, layout) for a in given]
                    yield f"{op.name} {dtype} {length} {layout}", call(*operands)
                still = [lay_out(a, 1, "contiguous") for a in given]
                x = [lay_out(a, length, "contiguous") for a in given]
                if op.nin == 2:
                    yield f"{op.name} {dtype} {length} still first", call(still[0], x[1])
                    yield f"{op.name} {dtype} {length} still second", call(x[0], still[1])
                if op.nin == 3:
                    yield f"{op.name} {dtype} {length} still last", call(x[0], x[1], still[2])
                    yield f"{op.name} {dtype} {length} still last two", call(x[0], still[1], still[2])


def pairs() -> Iterator[tuple[str, Any]]:
    """Every pair of steps, with each operand broadcast that may be."""
    for pair in PAIRS:
        first, second = getattr(xp, pair.first), getattr(xp, pair.second)
        ahead = 1 if pair.first == "sqrt" else 2
        for dtype in (xp.float32, xp.float64):
            given = [data(dtype, seed) for seed in range(3)]
            for length, still in itertools.product(LENGTHS, itertools.product([False, True], repeat=3)):
                x = [lay_out(a, 1 if s else length, "contiguous") for a, s in zip(given, still, strict=True)]
                with xp.fused(size=1):
                    y = first(*x[:ahead])
                    if pair.second == "square":
                        out = second(y)
                    else:
                        out = second(x[2], y) if pair.at else second(y, x[2])
                    del y
                yield f"{pair.first} {pair.second} {pair.at} {dtype} {length} {still}", out


def casts() -> Iterator[tuple[str, Any]]:
    for source in DTYPES:
        a = data(source, 3)
        for target in DTYPES:
            if source.kind == "complex floating" and target.kind not in ("complex floating", "bool"):
                continue
            for length in LENGTHS:
                for layout in LAYOUTS:
                    yield f"{source} to {target} {length} {layout}", copy(lay_out(a, length, layout), target)
            broadcast = xp.broadcast_to(lay_out(a, 1, "contiguous"), (33,))
            yield f"{source} to {target} broadcast", copy(broadcast, target, "C")


def selections() -> Iterator[tuple[str, Any]]:
    for dtype in DTYPES:
        c, a, b = data(xp.bool, 4), data(dtype, 5), data(dtype, 6)
        for length in LENGTHS:
            for layout in LAYOUTS:
                condition, x, y = (lay_out(v, length, layout) for v in (c, a, b))
                yield f"where {dtype} {length} {layout}", xp.where(condition, x, y)
                yield f"where {dtype} {length} {layout} still last", xp.where(condition, x, y[0])
                yield f"where {dtype} {length} {layout} still first", xp.where(condition, x[0], y)
                yield f"where {dtype} {length} {layout} still", xp.where(condition, x[0], y[0])


def matrices(a: Any) -> Iterator[tuple[str, Any]]:
    """Two axes in shapes that take a reduction along runs, along rows, and across strides."""
    for shape in ((3, 1000), (1000, 3), (33, 65), (5, 7)):
        x = xp.reshape(xp.asarray(a[: shape[0] * shape[1]]), shape)
        yield f"{shape}", x
        yield f"{shape} transposed", x.T
        yield f"{shape} sliced", x[::2, ::-2]


def reductions() -> Iterator[tuple[str, Any]]:
    for red in REDUCTIONS:
        for dtype in DTYPES:
            if (
                dtype.kind != "bool"
                and red.name in ("sum_squared_deviation",)
                and "floating" not in dtype.kind
            ):
                continue
            a, b = data(dtype, 7), data(dtype, 8)

            def call(x: Any, y: Any, axes: tuple[int, ...], red: Any = red) -> Any:
                return (
                    reduce(red.name, x, axes, False) if red.nin == 1 else reduce2(red.name, x, y, axes, False)
                )

            try:
                call(xp.asarray(a[:2]), xp.asarray(b[:2]), (0,))
            except TypeError:
                continue
            for length in LENGTHS:
                for layout in LAYOUTS:
                    x, y = lay_out(a, length, layout), lay_out(b, length, layout)
                    yield f"{red.name} {dtype} {length} {layout}", call(x, y, (0,))
                    if red.nin == 2:
                        yield f"{red.name} {dtype} {length} {layout} still", call(x, y[:1], (0,))
            for (what, x), (_, y) in zip(matrices(a), matrices(b), strict=True):
                for axes in ((0,), (1,), (0, 1)):
                    yield f"{red.name} {dtype} {what} over {axes}", call(x, y, axes)


def runs() -> Iterator[tuple[str, Any]]:
    """Cumulative operations and positions of extremes."""
    for dtype in DTYPES[1:]:
        a = data(dtype, 9)
        series = [(f"{n} {layout}", lay_out(a, n, layout)) for n in LENGTHS for layout in LAYOUTS]
        for what, x in [*series, *matrices(a)]:
            for axis in range(x.ndim):
                for row in SCANS:
                    yield f"{row.name} {dtype} {what} {axis}", scan(row.name, x, axis, dtype, False)
                if dtype.kind != "complex floating":
                    for name in ARG_REDUCTIONS:
                        yield f"{name} {dtype} {what} {axis}", argreduce(name, x, axis, False)


def products() -> Iterator[tuple[str, Any]]:
    """Products of matrices by the loops of `products.h`: tiny, in tiles, by a vector; in all layouts."""
    for dtype in DTYPES[1:]:
        if dtype.kind == "complex floating":
            continue
        a, b = data(dtype, 10), data(dtype, 11)
        sizes = [
            (2, 2, 2),
            (3, 3, 1),
            (4, 4, 4),
            (5, 6, 7),
            (9, 40, 1),
            (70, 65, 1),
            (1, 5000, 1),
            (3, 1030, 1),
        ]
        if "integer" in dtype.kind:
            sizes += [(9, 40, 8), (33, 70, 65), (12, 240, 20), (1, 38, 130)]
        for m, k, n in sizes:
            for layout in LAYOUTS:
                x = xp.reshape(lay_out(a, m * k, layout), (m, k))
                y = xp.reshape(lay_out(b, k * n, layout), (k, n))
                yield f"matmul {dtype} {m} {k} {n} {layout}", xp.matmul(x, y)
                if n == 1 or m == 1:
                    columns = xp.permute_dims(xp.reshape(lay_out(a, m * k, layout), (k, m)), (1, 0))
                    yield f"matmul {dtype} {m} {k} {n} {layout} by columns", xp.matmul(columns, y)
                stack = xp.stack([x, x]), xp.stack([y, y])
                yield f"matmul {dtype} {m} {k} {n} {layout} twice", xp.matmul(*stack)
        if dtype in (xp.int64, xp.uint64):
            for m, k, n in ((9, 40, 8), (131, 70, 133)):
                for bits in (22, 23):
                    x, y = (
                        xp.reshape(xp.asarray(v[: s * t] % 2**bits), (s, t))
                        for v, s, t in ((a, m, k), (b, k, n))
                    )
                    yield f"matmul {dtype} {m} {k} {n} {bits} bits", xp.matmul(x, y)
        x, y = (xp.reshape(xp.asarray(v[:3600]), (-1, 3, 3)) for v in (a, b))
        yield f"matmul {dtype} transposed stack", xp.matmul(x.mT, y[::-1, ...])


def systems() -> Iterator[tuple[str, Any]]:
    """Systems of few rows and determinants: of sizes with separate loops, and other sizes."""
    rng = np.random.default_rng(9)
    for n in (1, 2, 3, 4, 5, 17, 32):
        x, y = (xp.asarray(rng.standard_normal((9, n, n))) for _ in range(2))
        yield f"inv {n}", xp.linalg.inv(x)
        yield f"det {n}", xp.linalg.det(x)
        yield f"solve {n}", xp.linalg.solve(x, y)
        yield f"solve {n} by a vector", xp.linalg.solve(x, y[0, :, 0])


def tall() -> Iterator[tuple[str, Any]]:
    """Orthogonal factors of matrices of one block and of many, and of one section and of several."""
    rng = np.random.default_rng(10)
    for rows, columns in ((6, 3), (300, 8), (700, 29), (600, 100), (2100, 16), (5000, 7)):
        a = rng.standard_normal((rows, columns))
        a[rows // 2 :: 7] = 0
        for dtype in ("float32", "float64"):
            q, r = xp.linalg.qr(xp.asarray(a.astype(dtype)))
            yield f"qr, Q {dtype} {rows} {columns}", q
            yield f"qr, R {dtype} {rows} {columns}", r
            yield f"svdvals {dtype} {rows} {columns}", xp.linalg.svdvals(xp.asarray(a.astype(dtype)))


def fourier() -> Iterator[tuple[str, Any]]:
    """Transforms of lanes side by side, of lanes as matrices, and by convolutions: of every kind of radix."""
    rng = np.random.default_rng(11)
    for n, lanes in itertools.product((2, 7, 9, 30, 61, 64, 99, 137, 240, 350, 1009, 4096, 18018), (1, 10)):
        a = rng.standard_normal((lanes, n))
        for dtype in ("float32", "float64"):
            x = xp.asarray(a.astype(dtype))
            yield f"rfft {dtype} {n} {lanes}", xp.fft.rfft(x)
            yield f"fft of real numbers {dtype} {n} {lanes}", xp.fft.fft(x)
            z = xp.fft.fft(x * (1 + 2j))
            yield f"fft {dtype} {n} {lanes}", z
            yield f"ifft {dtype} {n} {lanes}", xp.fft.ifft(z)
            yield f"irfft {dtype} {n} {lanes}", xp.fft.irfft(z, n=n)


GROUPS = {
    f.__name__: f
    for f in (elementwise, pairs, casts, selections, reductions, runs, products, systems, tall, fourier)
}


def report() -> dict[str, Any]:
    cases = {}
    for group, generate in GROUPS.items():
        for what, result in generate():
            cases[f"{group}: {what}"] = digest(result)
    return {"set": plan.instruction_set, "cases": cases}


# -- the tests -----------------------------------------------------------------------------------------------


def run(name: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with an instruction set; with the best one for None."""
    environment = {k: v for k, v in os.environ.items() if k != "STRIDE0_ISA"}
    if name is not None:
        environment["STRIDE0_ISA"] = name
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def baseline() -> dict[str, Any]:
    done = run("baseline", __file__)
    assert done.returncode == 0, done.stderr
    out: dict[str, Any] = json.loads(done.stdout)
    return out


def test_baseline_covers_every_loop(baseline: dict[str, Any]) -> None:
    assert baseline["set"] == "baseline"
    found = {tuple(key.split()[:2]) for key in baseline["cases"]}
    assert {("elementwise:", row.name) for row in OPS} <= found
    assert {("reductions:", row.name) for row in REDUCTIONS} <= found
    assert {("runs:", name) for name in (*ARG_REDUCTIONS, *(row.name for row in SCANS))} <= found
    assert {("casts:", dtype.name) for dtype in DTYPES} <= found
    # All pairs of dtypes except the 2 * 12 that would lose an imaginary part; bool tests for nonzero.
    pairs = {tuple(key.split()[1:4:2]) for key in baseline["cases"] if key.startswith("casts:")}
    assert len(pairs) == 15 * 15 - 2 * 12


@pytest.mark.parametrize("name", [name for name in _dispatch.BUILDS if name != "baseline"])
def test_same_bits_as_the_baseline(name: str, baseline: dict[str, Any]) -> None:
    if name not in _dispatch.supported():
        pytest.skip(f"this processor lacks {name}")
    done = run(name, __file__)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["set"] == name
    assert found["cases"].keys() == baseline["cases"].keys()
    different = [key for key, value in found["cases"].items() if baseline["cases"][key] != value]
    assert not different, f"{len(different)} results differ, among them:\n" + "\n".join(different[:40])


def test_what_is_built_once_asks_for_no_newer_instruction() -> None:
    """x86's baseline has only the C library's fma: a row whose body uses fma must declare `gains`."""
    calls = {}
    for part in ("common", "baseline"):
        spec = importlib.util.find_spec(f"stride0._core.kernels._{part}")
        assert spec is not None and spec.origin is not None
        calls[part] = b"\0fma\0" in Path(spec.origin).read_bytes()  # among the symbols that it imports
    assert calls == {"common": False, "baseline": platform.machine() == "x86_64"}


def test_what_is_supported() -> None:
    supported = _dispatch.supported()
    assert supported[-1] == "baseline"
    family = "x86_64" if platform.machine() in ("x86_64", "AMD64") else platform.machine()
    best_first = [row.name for row in reversed(instruction_sets.sets_of(family))]
    assert set(supported) <= set(_dispatch.BUILDS)
    assert list(_dispatch.BUILDS) == [name for name in best_first if name in _dispatch.BUILDS]
    assert list(supported) == [name for name in _dispatch.BUILDS if name in supported]  # best first
    assert plan.instruction_set == (os.environ.get("STRIDE0_ISA") or supported[0])


def test_the_best_set_is_the_default() -> None:
    script = "from stride0._core.plan import plan; print(plan.instruction_set)"
    for name in (None, ""):
        done = run(name, "-c", script)
        assert done.stdout.strip() == _dispatch.supported()[0], done.stderr


def test_unknown_set() -> None:
    done = run("avx9000", "-c", "import stride0")
    assert done.returncode != 0
    assert "ImportError: STRIDE0_ISA: there is no instruction set 'avx9000'; or choose from" in done.stderr
    for name in _dispatch.supported():
        assert name in done.stderr.splitlines()[-1]


if __name__ == "__main__":
    json.dump(report(), sys.stdout)

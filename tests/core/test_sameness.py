"""The same input gives the same bits on every machine: recorded hashes, one per function and dtype.

For each instruction set, a separate process calls every function on a corpus of inputs, with one and with two
threads if possible, contiguous and strided. The bytes of the results must have the hashes in `sameness.json`.
Pieces of the corpus, at every offset and of every length up to more than two vectors, must give pieces of the
result: no result depends on the position of an element.

    python tests/core/test_sameness.py --record           # after a change of values that is wanted
    python tests/core/test_sameness.py --record sin cos   # only these functions

All NaNs are replaced by one NaN first: their signs and payloads are unspecified. Complex matrices are
in the record with products, eigenvalues and singular values only.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._core.elementwise import special
from stride0._core.kernels import _dispatch
from stride0._tables.operations import OPS

RECORD = pathlib.Path(__file__).with_name("sameness.json")
DTYPES = ("int32", "int64", "uint8", "float32", "float64", "complex64", "complex128")
COUNT = 3000
FURTHER = 80  # offsets and lengths of pieces: five vectors of 16 float32

REDUCTIONS = {
    **{name: getattr(xp, name) for name in ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all")},
    **{name: getattr(xp, name) for name in ("argmax", "argmin", "count_nonzero")},
    "vector_norm": xp.linalg.vector_norm,
}
# Of a matrix, a symmetric one, and right-hand sides.
DECOMPOSITIONS = {
    "cholesky": lambda x, s, b: [xp.linalg.cholesky(s), xp.linalg.cholesky(s, upper=True)],
    "det": lambda x, s, b: [xp.linalg.det(x)],
    "inv": lambda x, s, b: [xp.linalg.inv(x)],
    "qr": lambda x, s, b: [
        *xp.linalg.qr(x),
        *xp.linalg.qr(b),
        *xp.linalg.qr(b, mode="complete"),
        *xp.linalg.qr(xp.matrix_transpose(b)),
    ],
    "slogdet": lambda x, s, b: xp.linalg.slogdet(x),
    "solve": lambda x, s, b: [xp.linalg.solve(x, b), xp.linalg.solve(x, b[..., 0:1])],
    "solve_triangular": lambda x, s, b: [
        xp.linalg.solve_triangular(s, b, upper=upper, unit_diagonal=unit)
        for upper, unit in ((False, False), (True, False))
    ],
}
SCANS = {"cumulative_sum": xp.cumulative_sum, "cumulative_prod": xp.cumulative_prod}


class Stream:
    """Random integers by splitmix64: the same with every version of NumPy."""

    def __init__(self, seed: int) -> None:
        self.state = np.uint64(seed * 1_000_003)

    def below(self, limit: int, count: int = COUNT) -> Any:
        steps = np.arange(1, count + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            z = self.state + steps * np.uint64(0x9E3779B97F4A7C15)
            self.state = z[-1]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))) % np.uint64(limit)

    def between(self, low: int, high: int) -> Any:
        return self.below(high - low).astype(np.int64) + low


def elements(dtype: str, seed: int) -> Any:
    """Numbers of all kinds: ordinary, of all sizes, near difficult arguments, and special."""
    stream = Stream(seed)
    if dtype.startswith("complex"):
        real = "float32" if dtype == "complex64" else "float64"
        out = np.empty(COUNT, dtype)
        out.real, out.imag = elements(real, seed), elements(real, seed + 1000)[::-1]
        return out
    if not dtype.startswith("float"):
        small = stream.between(0 if dtype.startswith("u") else -9, 10)
        return np.where(stream.below(2) == 1, small, stream.below(2**63).astype(np.int64)).astype(dtype)
    # Integers and powers of two are the same on every machine; results of libm might not be.
    unit = stream.between(-(2**52), 2**52).astype(np.float64) * 2.0**-52
    sizes = np.ldexp(unit, stream.between(-120, 120).astype(np.int32))
    least = (-1074, -900) if dtype == "float64" else (-149, -100)
    tiny = np.ldexp(unit, stream.between(*least).astype(np.int32))  # with subnormal tails
    quarter_turns = stream.between(-50, 50) * 1.5707963267948966
    near_one = 1.0 + np.ldexp(unit, stream.between(-30, 0).astype(np.int32))
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, 88.75, 710.0, -746.0, 1e22, 1e38]
    specials = np.array(special)[stream.below(len(special)).astype(np.int64)]
    kinds = [
        4 * unit,
        4 * unit,
        30 * unit,
        30 * unit,
        sizes,
        sizes,
        tiny,
        quarter_turns,
        near_one,
        near_one,
        specials,
    ]
    with np.errstate(over="ignore"):
        return np.choose(stream.below(len(kinds)).astype(np.int64), kinds).astype(dtype)


def plain(result: Any) -> Any:
    """The result in NumPy, every NaN being the same NaN."""
    a = np.array(result)
    if a.dtype.kind in "fc":
        parts = a.reshape(-1).view(a.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return a


def apart(a: Any) -> Any:
    """The same elements, with gaps of two elements between them."""
    wide = np.zeros(3 * len(a), a.dtype)
    wide[1::3] = a
    return xp.asarray(wide)[1::3]


def functions() -> Iterator[tuple[str, str, Any, list[Any]]]:
    """Every function of elements and every dtype that it takes: name, dtype, function, operands."""
    for row in OPS:
        if not row.public:
            continue
        call = getattr(special if row.namespace else xp, row.name)
        for dtype in DTYPES:
            operands = [elements(dtype, seed) for seed in range(row.nin)]
            if row.name == "pow" and dtype.startswith("int"):
                operands[1] = operands[1] & 15  # negative exponents are refused
            try:
                call(*(xp.asarray(v[:1]) for v in operands))
            except TypeError:
                continue
            yield row.name, dtype, call, operands


def folds() -> Iterator[tuple[str, str, Any, Any]]:
    """Every reduction and scan and every dtype that it takes: name, dtype, function, elements."""
    for name, call in {**REDUCTIONS, **SCANS}.items():
        for dtype in DTYPES:
            v = elements(dtype, 7)
            if dtype[0] in "fc":
                v = np.where(np.isfinite(v) & (np.abs(v) < 1e15) & (np.abs(v) > 1e-15), v, np.ones((), dtype))
            if "prod" in name and dtype[0] in "fc":
                v = v / np.maximum(np.abs(v), np.asarray(1e-3, v.real.dtype)).astype(v.real.dtype)
            try:
                call(xp.asarray(v[:2]))
            except TypeError:
                continue
            yield name, dtype, call, v


def hashed(results: Iterator[Any]) -> str:
    total = hashlib.blake2b(digest_size=10)
    for result in results:
        total.update(plain(result).tobytes())
    return total.hexdigest()


def fold_results(name: str, call: Any, v: Any) -> Iterator[Any]:
    """Rows, columns and both; long runs are longer than a block and than the part of one thread."""
    x = xp.asarray(v)
    for n in (1, 2, 31, 32, 33, 100, COUNT):
        yield call(x[:n])
    if name in SCANS:
        yield call(apart(v))
        return
    big = xp.asarray(np.tile(v, 67))  # more than 2**17 elements, from which on threads share a reduction
    yield call(big)
    yield call(big[::-1])
    yield call(apart(v))
    matrix = xp.reshape(big, (1005, 200))
    for axis in (0, 1):
        yield call(matrix, axis=axis)
        yield call(matrix[:, ::3], axis=axis)
        yield call(xp.permute_dims(matrix, (1, 0)), axis=axis)


def products(dtype: str) -> Iterator[Any]:
    """Products of matrices: tiny, in tiles, in panels, by a vector, symmetric, stacked."""
    v = elements(dtype, 9)
    v = np.tile(
        np.where(np.isfinite(v) & (np.abs(v) < 1e15) & (np.abs(v) > 1e-15), v, np.ones((), dtype)), 22
    )
    for m, k, n in ((3, 4, 5), (9, 40, 25), (70, 300, 90), (130, 140, 120), (60, 20, 1), (50, 300, 1)):
        x, y = (xp.reshape(xp.asarray(v[: a * b]), (a, b)) for a, b in ((m, k), (k, n)))
        yield from (
            x @ y,
            x @ x.T,
            xp.stack([x, x]) @ xp.stack([y, y]),
            xp.asarray(np.asfortranarray(x)) @ y[:, ::-1],
        )


def spectra(dtype: str) -> Iterator[Any]:
    """Eigenvalues, singular values and their vectors, by all kernels and within `reproducible`."""
    v = elements(dtype, 11)
    v = np.tile(
        np.where(np.isfinite(v) & (np.abs(v) < 1e15) & (np.abs(v) > 1e-15), v, np.ones((), dtype)), 10
    )
    with xp.reproducible():
        for m, n in ((1, 1), (3, 3), (30, 30), (150, 150), (20, 33), (70, 50)):
            x = xp.reshape(xp.asarray(v[: m * n]), (m, n))
            yield from xp.linalg.svd(x)
            yield xp.linalg.svdvals(x)
            if m == n:
                yield from (*xp.linalg.eigh(x), *xp.linalg.eig(x))
                yield from (xp.linalg.eigvalsh(x), xp.linalg.eigvals(x))


def transforms(dtype: str) -> Iterator[Any]:
    """Fourier transforms of short lanes, of matrices, and by convolutions, of one lane and of many."""
    v = Stream(13).below(2**21, 40_000).astype(np.int64) - 2**20
    for n in (2, 15, 61, 77, 127, 131, 262, 1000, 1009, 4001):
        for lanes in (1, 9):
            x = xp.asarray(v[: lanes * n].reshape(lanes, n).astype(dtype))
            z = xp.fft.fft(x)
            yield from (z, xp.fft.ifft(z), xp.fft.irfft(z, n=n), xp.fft.fft(z[:, ::-1].T, axis=0))
            if dtype.startswith("float"):
                yield xp.fft.rfft(x)


MATRICES = {"fft": transforms, "matmul": products, "spectra": spectra}


def decompositions(call: Any, dtype: str) -> Iterator[Any]:
    """Small matrices, one block, several blocks, and enough for threads; in both orders, and stacked."""
    for n in (3, 20, 40, 64, 65, 150, 300):
        whole = Stream(11).below(2**21, n * n).astype(np.int64).reshape(n, n) - 2**20
        a = (whole * 2.0**-19).astype(dtype)
        if dtype.startswith("complex"):
            a += 1j * a.T
        x, b = xp.asarray(a), xp.asarray(a[:, : (n + 1) // 2][::-1])
        s = x @ xp.conj(x).T + n * xp.eye(n, dtype=x.dtype)
        yield from call(x, s, b)
        yield from call(xp.asarray(np.asfortranarray(a)), xp.asarray(np.asfortranarray(s)), b)
        yield from call(xp.stack([x, x]), xp.stack([s, s]), b)


def report(only: set[str] | None = None) -> dict[str, str]:
    found = {}
    for name, dtype, call, operands in functions():
        if only is None or name in only:
            # Long enough for threads to share the work.
            long = [xp.asarray(np.tile(v, 22)) for v in operands]
            whole = plain(call(*long))
            assert (whole.reshape(22, -1).view(np.uint8) == whole[:COUNT].view(np.uint8)).all(), (name, dtype)
            strided = plain(call(*(apart(v) for v in operands)))
            assert strided.tobytes() == whole[:COUNT].tobytes(), (name, dtype)
            found[f"{name} {dtype}"] = hashed(iter([whole[:COUNT]]))
    for name, dtype, call, v in folds():
        if only is None or name in only:
            found[f"{name} {dtype}"] = hashed(fold_results(name, call, v))
    for name, results in MATRICES.items():
        if only is None or name in only:
            found |= {f"{name} {dtype}": hashed(results(dtype)) for dtype in DTYPES[3:]}
    for name, call in DECOMPOSITIONS.items():
        if only is None or name in only:
            found |= {f"{name} {dtype}": hashed(decompositions(call, dtype)) for dtype in DTYPES[3:]}
    return found


def run(instruction_set: str, threads: int) -> dict[str, str]:
    environment = {**os.environ, "STRIDE0_ISA": instruction_set, "STRIDE0_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    out: dict[str, str] = json.loads(done.stdout)
    return out


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("instruction_set", _dispatch.BUILDS)
def test_recorded_bits(instruction_set: str, threads: int) -> None:
    if instruction_set not in _dispatch.supported():
        pytest.skip(f"this processor lacks {instruction_set}")
    if threads > 1 and not hasattr(xp, "set_num_threads"):
        pytest.skip("one thread is all there is")
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    found = run(instruction_set, threads)
    assert found.keys() == recorded.keys()
    different = [key for key, value in found.items() if recorded[key] != value]
    assert not different, f"{instruction_set}, {threads} threads: " + ", ".join(different)


def test_the_record_covers_every_function() -> None:
    recorded = {tuple(key.split()) for key in json.loads(RECORD.read_text(encoding="utf-8"))}
    assert {name for name, _ in recorded} == {row.name for row in OPS if row.public} | {
        *REDUCTIONS,
        *SCANS,
        *MATRICES,
        *DECOMPOSITIONS,
    }
    for dtype in ("float32", "float64", "complex64", "complex128"):
        assert {("exp", dtype), ("pow", dtype), ("sum", dtype), ("var", dtype)} <= recorded


def test_no_result_depends_on_its_position() -> None:
    """At every offset into memory and at every length, a piece of the corpus gives a piece of the results."""
    for name, dtype, call, operands in functions():
        short = [v[:200] for v in operands]
        x = [xp.asarray(v) for v in short]
        whole = plain(call(*x))
        for k in range(FURTHER):
            piece = plain(call(*(v[k : k + FURTHER + 1] for v in x)))
            assert piece.tobytes() == whole[k : k + FURTHER + 1].tobytes(), (name, dtype, k)
            piece = plain(call(*(v[:k] for v in x)))
            assert piece.tobytes() == whole[:k].tobytes(), (name, dtype, k)
            piece = plain(call(*(v[k::3] for v in x)))
            assert piece.tobytes() == whole[k::3].tobytes(), (name, dtype, k)
        if len(x) == 2:
            first = plain(call(x[0][:1], x[1]))
            second = plain(call(x[0], x[1][:1]))
            full = [xp.asarray(np.repeat(v[:1], len(v))) for v in short]
            assert first.tobytes() == plain(call(full[0], x[1])).tobytes(), (name, dtype)
            assert second.tobytes() == plain(call(x[0], full[1])).tobytes(), (name, dtype)


def record(names: list[str]) -> None:
    """Write the hashes of this process's kernels; the tests check that others agree."""
    before = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    found = {**(before if names else {}), **report(set(names) or None)}
    RECORD.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
    print(
        f"{RECORD.name}: {sum(before.get(k) != v for k, v in found.items())} of {len(found)} hashes are new"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2:])
    else:
        json.dump(report(), sys.stdout)

"""Principal components of a Zarr array larger than the memory of each process, with stride0 arrays as chunks.

    python examples/larger_than_memory.py                      1 GiB; three processes of 320 MiB
    python examples/larger_than_memory.py --size 4096 --folder big
    python examples/larger_than_memory.py --quick              384 MiB

The array is written chunk by chunk, its columns are standardised and its rows reduced to their principal
components by cubed, on a local Dask cluster of two workers, whose chunks are stride0 arrays. The operating
system limits the memory of every process. The array has a known structure of low rank, and a reference is
computed in one pass while it is written; the exit code is 1 if results differ from either.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Read by cubed at its first import, also in the workers, which inherit it.
os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "stride0"
# A worker for each core, with one thread each: more would wait for each other, and need more memory.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy
from digits import peak_memory

import stride0

Array = Any  # of cubed, stride0 or NumPy, according to the function

MIB = 2**20
WORKERS = 2
LIMIT = 320 * MIB  # of each process: the two workers, and this one with Dask's scheduler
RESERVED = 120 * MIB  # what Python and the libraries take of it, before any chunk
WIDTH = 128
RANK = 6
CHUNK_ROWS = 8192  # 4 MiB of float32
NOISE = 0.5
TOLERANCE = 1e-5  # cubed's means and deviations are float32, and so are the reduced rows
WANTED_ANGLE = 0.01  # radians; the rows are a sample of the known structure
SAMPLED_CHUNKS = 16


# ------------------------------------------------------------------------------
# The data.
# ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Structure:
    """Rows are offset + scale * (RANK factors times their directions, and noise)."""

    directions: Array  # (RANK, WIDTH), orthonormal rows
    strengths: Array  # (RANK,)
    scale: Array  # (WIDTH,)
    offset: Array  # (WIDTH,)

    @classmethod
    def make(cls) -> Structure:
        generator = random(0)
        directions = numpy.linalg.qr(generator.standard_normal((WIDTH, RANK)))[0].T
        strengths = numpy.linspace(9.0, 4.0, RANK)
        scale = 10.0 ** generator.uniform(-1, 1, WIDTH)
        return cls(directions, strengths, scale, scale * generator.uniform(-5, 5, WIDTH))

    def block(self, number: int, rows: int) -> Array:
        """Rows of one chunk, the same in every run, as float32."""
        generator = random(number + 1)
        factors = generator.standard_normal((rows, RANK), dtype=numpy.float32)
        x = factors @ (self.strengths[:, None] * self.directions).astype(numpy.float32)
        x += NOISE * generator.standard_normal((rows, WIDTH), dtype=numpy.float32)
        x *= self.scale.astype(numpy.float32)
        x += self.offset.astype(numpy.float32)
        return x

    def standardised_covariance(self) -> Array:
        """The correlations of the columns of infinitely many rows."""
        factors = self.strengths[:, None] * self.directions
        covariance = factors.T @ factors + NOISE**2 * numpy.eye(WIDTH)
        deviation = numpy.sqrt(numpy.diag(covariance))
        return covariance / deviation / deviation[:, None]


def random(number: int) -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.Philox(key=number))


class Moments:
    """Means and covariances in one pass, in float64: the reference."""

    def __init__(self, about: Array) -> None:
        self.about = about  # near the means, so that no digits cancel
        self.count = 0
        self.total = numpy.zeros(WIDTH)
        self.products = numpy.zeros((WIDTH, WIDTH))

    def add(self, x: Array) -> None:
        x = x - self.about  # float64
        self.count += x.shape[0]
        self.total += x.sum(axis=0)
        self.products += x.T @ x

    def mean_and_deviation(self) -> tuple[Array, Array]:
        shift = self.total / self.count
        variance = numpy.diag(self.products) / self.count - shift * shift
        return self.about + shift, numpy.sqrt(variance)

    def correlations(self) -> Array:
        shift = self.total / self.count
        deviation = self.mean_and_deviation()[1]
        return (self.products / self.count - numpy.outer(shift, shift)) / numpy.outer(deviation, deviation)


def write(path: Path, rows: int) -> Moments:
    """Write the array chunk by chunk, and compute the reference's moments meanwhile."""
    import zarr  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]

    structure = Structure.make()
    target = zarr.create_array(
        str(path), shape=(rows, WIDTH), chunks=(CHUNK_ROWS, WIDTH), dtype="float32", compressors=None
    )
    moments = Moments(structure.offset)
    for number, first in enumerate(tqdm(range(0, rows, CHUNK_ROWS), desc="writing", unit=" chunks")):
        x = structure.block(number, min(CHUNK_ROWS, rows - first))
        target[first : first + x.shape[0]] = x
        moments.add(x)
    return moments


# ------------------------------------------------------------------------------
# The computation: cubed outside, stride0 inside.
# ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Components:
    mean: Array
    deviation: Array
    variances: Array  # of the components, decreasing
    directions: Array  # (RANK, WIDTH)


def principal_components(data: Path, scores: Path, spec: Any) -> Components:
    """Write the first components of the standardised rows of `data` to `scores`; return what made them."""
    import cubed  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import cubed.array_api as cp  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from cubed.diagnostics.tqdm import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        TqdmProgressBar,
    )

    def progress() -> list[Any]:
        return [TqdmProgressBar(leave=False)]

    x = cubed.from_zarr(str(data), spec=spec)
    mean, deviation = cubed.compute(cp.mean(x, axis=0), cp.std(x, axis=0), callbacks=progress())

    # From here on float64 is used: sums have millions of terms.
    wide = cp.astype(x, cp.float64)
    z = (wide - cp.asarray(mean, spec=spec)) / cp.asarray(deviation, spec=spec)
    products = cp.matmul(cp.matrix_transpose(z), z).compute(callbacks=progress())

    # Only a small matrix remains, which stride0 decomposes.
    variances, vectors = stride0.linalg.eigh(products / x.shape[0])
    directions = stride0.flip(vectors, axis=1)[:, :RANK]
    reduced = cp.matmul(z, cp.asarray(directions, chunks=(WIDTH, RANK), spec=spec))
    cubed.to_zarr(cp.astype(reduced, cp.float32), str(scores), callbacks=progress())
    return Components(mean, deviation, stride0.flip(variances)[:RANK], directions.T)


# ------------------------------------------------------------------------------
# What came out.
# ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    title: str
    difference: float
    allowed: float

    @property
    def passed(self) -> bool:
        return self.difference <= self.allowed  # which NaN is not


def principal_reference(moments: Moments) -> Components:
    variances, vectors = numpy.linalg.eigh(moments.correlations())
    mean, deviation = moments.mean_and_deviation()
    return Components(mean, deviation, variances[::-1][:RANK], vectors[:, ::-1][:, :RANK].T)


def checks(found: Components, reference: Components, data: Path, scores: Path) -> list[Check]:
    """Compare results, including a sample of the reduced rows, with the reference and the known structure."""
    import zarr  # type: ignore[import-untyped, import-not-found, unused-ignore]

    def largest(difference: Array) -> float:
        return float(numpy.max(numpy.abs(difference)))

    fields = (found.mean, found.deviation, found.variances, found.directions)
    mean, deviation, variances, directions = map(numpy.asarray, fields)
    # The sign of an eigenvector is arbitrary.
    signs = numpy.sign(numpy.sum(directions * reference.directions, axis=1))

    x, reduced = (zarr.open_array(str(path), mode="r") for path in (data, scores))
    differences = []
    for first in range(0, x.shape[0], max(CHUNK_ROWS, x.shape[0] // SAMPLED_CHUNKS)):
        z = (x[first : first + CHUNK_ROWS] - reference.mean) / reference.deviation
        expected = z @ (signs[:, None] * reference.directions).T
        differences.append(
            largest((reduced[first : first + CHUNK_ROWS] - expected) / reference.variances**0.5)
        )

    known = numpy.linalg.eigh(Structure.make().standardised_covariance())[1][:, ::-1][:, :RANK]
    cosines = numpy.linalg.svd(directions @ known, compute_uv=False)
    return [
        Check("means, in deviations", largest((mean - reference.mean) / reference.deviation), TOLERANCE),
        Check("deviations, relative", largest(deviation / reference.deviation - 1), TOLERANCE),
        Check(
            "variances of the components, relative",
            largest(variances / reference.variances - 1),
            TOLERANCE,
        ),
        Check(
            "directions of the components",
            largest(directions - signs[:, None] * reference.directions),
            TOLERANCE,
        ),
        Check("reduced rows, in deviations", largest(differences), TOLERANCE),
        Check(
            "largest angle to the known structure", float(numpy.arccos(min(1.0, cosines.min()))), WANTED_ANGLE
        ),
    ]


# ------------------------------------------------------------------------------
# All of it, within the limit.
# ------------------------------------------------------------------------------


def limit_memory() -> None:
    """Set the limit of memory for this process and those that it starts."""
    import resource
    import threading

    # A thread's stack counts in full, even if little of it is used.
    threading.stack_size(MIB)
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def settings() -> tuple[int, str]:
    """The limit of this process, and the namespace of the chunks that it computes."""
    import resource

    from cubed.backend_array_api import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        namespace,
    )

    return resource.getrlimit(resource.RLIMIT_DATA)[0], namespace.__name__


def run(folder: Path, rows: int) -> bool:
    """Write, compute and check; return whether all checks passed."""
    import cubed

    dask: Any = importlib.import_module("dask.distributed")  # without types where it is installed

    size = rows * WIDTH * 4
    print(
        f"{rows} rows of {WIDTH} float32, {size / MIB:.0f} MiB; limit of each process: {LIMIT / MIB:.0f} MiB"
    )
    data, scores = folder / "data.zarr", folder / "scores.zarr"
    seconds = {}
    began = time.perf_counter()
    moments = write(data, rows)
    seconds["writing the array, with the reference"] = time.perf_counter() - began

    cluster = dask.LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        memory_limit=LIMIT,
        dashboard_address=":0",
        local_directory=str(folder / "dask"),
    )
    with cluster, dask.Client(cluster) as client:
        found_settings = set(client.run(settings).values())
        if found_settings != {(LIMIT, "stride0")}:
            raise RuntimeError(f"the workers have other settings: {found_settings}")
        spec = cubed.Spec(
            str(folder / "intermediate"),
            allowed_mem=LIMIT,
            reserved_mem=RESERVED,
            executor_name="dask",
            executor_options={"compute_kwargs": {"address": cluster.scheduler_address}},
        )
        began = time.perf_counter()
        found = principal_components(data, scores, spec)
        seconds[f"standardising and reducing, {WORKERS} workers"] = time.perf_counter() - began
        peaks = {f"worker {k}": peak for k, peak in enumerate(client.run(peak_memory).values())}
    peaks["this process, with the scheduler"] = peak_memory()

    rows_of_table = checks(found, principal_reference(moments), data, scores)
    print(f"\n{'':<42}{'difference':>12}{'allowed':>12}")
    for check in rows_of_table:
        print(f"{check.title:<42}{check.difference:>12.1e}{check.allowed:>12.0e}")
    share = float(stride0.sum(found.variances)) / WIDTH
    print(f"\n{RANK} components keep {share:.1%} of the variance of {WIDTH} columns.\n")
    for title, peak in peaks.items():
        print(f"{'peak memory of ' + title:<54}{'unknown' if peak is None else f'{peak / MIB:.0f} MiB':>12}")
    for title, duration in seconds.items():
        print(f"{title:<54}{duration:>10.1f} s")

    wrong = [check.title for check in rows_of_table if not check.passed]
    for title in wrong:
        print(f"\nNOT THE SAME: {title}")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=1024, metavar="MIB", help="of the array, in MiB (1024)")
    parser.add_argument("--quick", action="store_true", help="an array of 384 MiB")
    parser.add_argument("--folder", type=Path, help="an empty folder for the arrays (a temporary one)")
    options = parser.parse_args()
    megabytes = 384 if options.quick else options.size
    if megabytes * MIB <= LIMIT:
        parser.error(f"--size must be more than the limit of {LIMIT // MIB} MiB")

    limit_memory()
    with contextlib.ExitStack() as stack:
        folder = options.folder
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            parser.error(f"{folder} is not empty")
        needed, free = megabytes * MIB * 5 // 4, shutil.disk_usage(folder).free
        if free < needed:
            parser.error(f"{folder} has {free // MIB} MiB left, and {needed // MIB} are needed")
        return 0 if run(folder, megabytes * MIB // (4 * WIDTH)) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures the errors of stride0 and of other libraries on the same inputs; writes docs/evidence/accuracy.md.

    python -m conformance accuracy                                 # everything: some minutes
    python -m conformance accuracy exp tanh                        # only these functions
    python -m conformance accuracy --stride 1 --inputs 10000000    # most thorough: hours
    python -m conformance accuracy --page                          # only writes the page

The measurements are in conformance/results/accuracy.json. The real functions are measured on their sources,
by the checkers in this folder, which are built with `cc` for the processor of this machine (the results are
the same for all) and need the headers of MPFR and GMP. The complex ones are measured on the installed
stride0. NumPy, PyTorch and JAX are compared where they are installed, on `--shared` inputs.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance import records
from conformance.accuracy import chart, complexes, specials

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "src" / "stride0" / "_core" / "math"
FLAGS = (
    "-O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing"
    " -fno-thread-jumps"
)
REPORT = re.compile(
    r"^(\w+)\s+(?:float(\d+)\s+)?(\d+) (?:inputs|pairs), ([\d.]+) ULP .* not nearest, (\d+) wrong$"
)
ENTRY = re.compile(r"^[FRG]\((\w+)", re.MULTILINE)
Numbers = npt.NDArray[np.float64]
Rows = dict[str, dict[str, Any]]  # by function and dtype: numbers of inputs, errors by library
Error = list[Any]  # the largest error, and how many results are wrong
Exact = tuple[Numbers, Numbers, Numbers]  # the nearest numbers, their errors, what tells the unit

NUMPY = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}

RECORD = records.RESULTS / "accuracy.json"
PAGE = records.EVIDENCE / "accuracy.md"
LIBRARIES = ("stride0", "NumPy", "PyTorch", "JAX")
SPECIAL_LIBRARIES = ("stride0", "SciPy", "PyTorch", "JAX")

HEAD = """# Accuracy

Errors are in units in the last place (ULP) of the exact result: 0.5 is the smallest possible bound. The
error of every function below is at most 1 in stride0, and at most 2 in `stride0.special`. Results have the
same bits on every processor, at every position of an array and at any number of threads. NumPy's error is
smaller in most real float64 functions, and larger in most float32 functions.
`python -m conformance accuracy` writes the page from `conformance/results/accuracy.json`; its `--help`
explains how to measure again.

A figure is the largest error found. "wrong" counts results that are wrongly infinite, NaN or finite, or
zeros of the wrong sign. "-" marks a function that the library does not have.
![The largest error of each function of one real number, by library and dtype](accuracy.svg)

Figures around 1e+07 in float32 and 4e+15 in float64 are results without a correct digit. Most of them treat
subnormal numbers as zero.
"""
REAL = """
## Functions of one real number

float32: every n-th of the 2^32 inputs; the column has their number. The reference is the C library's
function in double. float64: all exponents, with more inputs near the ends of the ranges, zeros, ones,
subnormal numbers and the multiples of pi/2 up to 1e22. The reference is MPFR with 120 bits. The last column
has the number of inputs of the other libraries, which were drawn in the same way.
"""
BINARY = """
## Functions of two real numbers

Pairs of all sizes, close to each other, close to one and to the ends of the ranges. The reference is MPFR
with 120 bits. If the terms of `logaddexp` cancel (both operands between -0.7 and 0), its error is counted
in units of the larger operand.
"""
COMPLEX = """
## Functions of complex numbers

The error of the worse of the two parts, each in its own ULP. Numbers of ordinary size, of all sizes from
2^-60 to 2^60, near the unit circle, near branch points and near multiples of pi/2, the same for all
libraries. The reference is mpmath. Two functions have larger errors if a part is almost zero: [the
bound](../design/kernels.md#complex-functions). `pow` with the exponent 2 is the textbook's product, and 2
is not among the exponents here.
"""

SPECIAL = """
## Functions of stride0.special

The functions with kernels of stride0. Numbers of ordinary size, of all sizes and near zeros, poles and the
ends of ranges, the same for all libraries. The reference is mpmath. `gammaln` and `digamma` have positive
arguments here. Their results for negative arguments cross zero between the poles; the errors there are
counted in units of the larger of the result and 1, and are at most 1.5
(`tests/chapters/test_special_kernels.py`).
"""


def named(name: str) -> str:
    """NumPy's name of a function."""
    return NUMPY.get(name, name)


def build(folder: pathlib.Path) -> None:
    for name in ("float32", "float64", "binary"):
        wanted = ["-lm"] if name == "float32" else ["-lmpfr", "-lgmp", "-lm"]
        command = ["cc", *FLAGS.split(), f"-I{HEADERS}", "-o", str(folder / name), str(HERE / f"{name}.c")]
        subprocess.run([*command, *wanted], check=True)


def names(checker: str) -> list[str]:
    return ENTRY.findall((HERE / f"{checker}_functions.h").read_text(encoding="utf-8"))


def measure(folder: pathlib.Path, checker: str, *arguments: str) -> dict[str, tuple[Error, int]]:
    """The output of the checker and the number of inputs, by dtype ('32', '64')."""
    done = subprocess.run([folder / checker, *arguments], check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        if match := REPORT.match(line):
            _, bits, count, worst, wrong = match.groups()
            # The checkers skip results that are the nearest number, and print 0 if all are.
            found[bits or checker[-2:]] = [max(float(worst), 0.5), int(wrong)], int(count)
        else:
            print(line, file=sys.stderr)
    return found


def libraries() -> dict[str, Any]:
    """The installed libraries, each as a function that calls one of its functions on NumPy arrays."""
    found: dict[str, Any] = {"NumPy": lambda name, *x: getattr(np, named(name))(*x)}
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        pass
    else:
        found["PyTorch"] = lambda name, *x: getattr(torch, name)(*map(torch.from_numpy, x)).numpy()
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        pass
    else:
        jax.config.update("jax_enable_x64", True)
        jnp = jax.numpy
        found["JAX"] = lambda name, *x: np.asarray(getattr(jnp, named(name))(*x))
    return found


def error_of(got: Numbers, nearest: Numbers, rest: Numbers, unit: Numbers, digits: int) -> Error:
    """The largest error of `got`, and the number of wrong results.

    The exact result is nearest - rest * ULP, with the ULP of `unit`.
    """
    top = 128 if digits == 24 else 1024
    finite = np.isfinite(nearest)
    sure = finite & np.isfinite(got)
    _, exponent = np.frexp(np.where(sure, unit, 1.0))
    ulp = np.ldexp(1.0, np.maximum(exponent, 3 - top) - digits)
    # Half of both: the difference cannot overflow.
    difference = (np.where(sure, got, 0.0) * 0.5 - np.where(sure, nearest, 0.0) * 0.5) / ulp * 2.0
    worst = np.abs(np.where(sure, difference + rest, 0.0)).max()
    # Infinity counts as the number after the largest one: it may be right or nearly right.
    last = np.abs(nearest) * 2.0 ** (1 - top) >= 2.0 - 2.0 ** (3 - digits)
    over = finite & np.isinf(got) & last
    wrong = (np.isfinite(got) != finite) & ~over | (np.isnan(got) != np.isnan(nearest))
    wrong |= np.isinf(got) & np.isinf(nearest) & (got != nearest)
    wrong |= (got == 0) & (nearest == 0) & (np.signbit(got) != np.signbit(nearest))
    return [float(worst), int(wrong.sum())]


def compare(name: str, digits: int, operands: list[Numbers], exact: Exact) -> dict[str, Error]:
    """The errors of the other libraries."""
    dtype = np.float32 if digits == 24 else np.float64
    found = {}
    for library, call in libraries().items():
        try:
            with np.errstate(all="ignore"):
                got = call(name, *(x.astype(dtype) for x in operands)).astype(np.float64)
                found[library] = error_of(got, *exact, digits)
        except (AttributeError, RuntimeError, TypeError):
            pass
    return found


def measure_unary(name: str, folder: pathlib.Path, options: argparse.Namespace, rows: Rows) -> None:
    dump, seed = str(folder / "dump"), "1"
    ours, count = measure(folder, "float32", name, str(options.stride))["32"]
    _, shared = measure(folder, "float32", name, str(max(1, 2**32 // options.shared) | 1), dump)["32"]
    x, want = np.fromfile(dump).reshape(-1, 2).T.copy()
    with np.errstate(all="ignore"):
        nearest = want.astype(np.float32).astype(np.float64)
        _, exponent = np.frexp(np.where(np.isfinite(want), want, 1.0))
        ulp = np.ldexp(1.0, np.maximum(exponent, -125) - 24)
        rest = np.where(np.isfinite(nearest), (nearest - want) / ulp, 0.0)
    others = compare(name, 24, [x], (nearest, rest, want))
    rows[f"{name} float32"] = {"inputs": count, "shared": shared, "errors": {"stride0": ours, **others}}
    ours, count = measure(folder, "float64", name, str(options.inputs), seed)["64"]
    measure(folder, "float64", name, str(options.shared), seed, dump)
    x, nearest, rest = np.fromfile(dump).reshape(-1, 3).T.copy()
    others = compare(name, 53, [x], (nearest, rest, nearest))
    rows[f"{name} float64"] = {"inputs": count, "shared": len(x), "errors": {"stride0": ours, **others}}


def measure_binary(name: str, folder: pathlib.Path, options: argparse.Namespace, rows: Rows) -> None:
    dump, seed = str(folder / "dump"), "1"
    ours = measure(folder, "binary", name, str(options.inputs), seed)
    measure(folder, "binary", name, str(options.shared), seed, dump)
    for bits, digits in (("32", 24), ("64", 53)):
        x, y, nearest, rest = np.fromfile(dump + bits).reshape(-1, 4).T.copy()
        unit = nearest if name != "logaddexp" else np.fmax(np.abs(nearest), np.abs(np.fmax(x, y)))
        others = compare(name, digits, [x, y], (nearest, rest, unit))
        error, count = ours[bits]
        rows[f"{name} float{bits}"] = {
            "inputs": count,
            "shared": len(x),
            "errors": {"stride0": error, **others},
        }


def measure_complex(name: str, options: argparse.Namespace, rows: Rows) -> None:
    xp = importlib.import_module("stride0")
    every = {"stride0": lambda name, *x: getattr(xp, name)(*map(xp.asarray, x)), **libraries()}
    for dtype in complexes.DTYPES:
        count, errors = complexes.measure(name, dtype, options.complex, every, error_of)
        rows[f"{name} {dtype}"] = {"inputs": count, "shared": count, "errors": errors}


def special_libraries() -> dict[str, Any]:
    """As `libraries`, with special functions by SciPy's names."""
    found: dict[str, Any] = {}
    ours = importlib.import_module("stride0._core.elementwise.special")
    xp = importlib.import_module("stride0")
    found["stride0"] = lambda name, *x: getattr(ours, name)(*map(xp.asarray, x))
    for library, module, convert in (
        ("SciPy", "scipy.special", np.asarray),
        ("PyTorch", "torch.special", None),
        ("JAX", "jax.scipy.special", np.asarray),
    ):
        try:
            functions = importlib.import_module(module)
        except ImportError:
            continue
        if library == "JAX":
            importlib.import_module("jax").config.update("jax_enable_x64", True)
        if convert is None:
            torch = importlib.import_module("torch")
            found[library] = lambda name, *x, f=functions, t=torch: getattr(f, name)(
                *map(t.from_numpy, x)
            ).numpy()
        else:
            found[library] = lambda name, *x, f=functions: getattr(f, name)(*x)
    return found


def measure_special(name: str, options: argparse.Namespace, rows: Rows) -> None:
    for dtype in specials.DTYPES:
        count, errors = specials.measure(name, dtype, options.special, special_libraries(), error_of)
        rows[f"{name} {dtype}"] = {"inputs": count, "shared": count, "errors": errors}


def cell(error: Error | None) -> str:
    if error is None:
        return "-"
    worst, wrong = error
    size = f"{worst:.3f}" if worst < 1000 else f"{worst:.0e}"
    return size + (f", {wrong} wrong" if wrong else "")


def table(
    rows: Rows, functions: list[str], dtypes: tuple[str, ...], libraries: tuple[str, ...] = LIBRARIES
) -> str:
    heads = ["Function", "Dtype", *libraries, "Inputs", "Inputs of the others"]
    lines = []
    for name in functions:
        for dtype in dtypes:
            if row := rows.get(f"{name} {dtype}"):
                cells = [cell(row["errors"].get(library)) for library in libraries]
                lines.append([f"`{name}`", dtype, *cells, f"{row['inputs']:,}", f"{row['shared']:,}"])
    return records.table(heads, lines)


def page(rows: Rows) -> str:
    reals = ("float32", "float64")
    parts = [HEAD, REAL, table(rows, names("float64"), reals), BINARY, table(rows, names("binary"), reals)]
    parts += [COMPLEX, table(rows, list(complexes.REFERENCES), complexes.DTYPES)]
    return "\n".join([*parts, SPECIAL, table(rows, list(specials.CASES), reals, SPECIAL_LIBRARIES)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("functions", nargs="*", help="which ones to measure; all if none is named")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--kind", choices=["real", "complex", "special"], help="only such functions")
    parser.add_argument("--stride", type=int, default=1009, help="of float32 inputs; 1: all of them")
    parser.add_argument("--inputs", type=int, default=300_000, help="number of float64 inputs, and of pairs")
    parser.add_argument(
        "--shared", type=int, default=200_000, help="how many of them the other libraries get"
    )
    parser.add_argument("--complex", type=int, default=10_000, help="number of complex inputs")
    parser.add_argument("--special", type=int, default=3000, help="number of inputs of special functions")
    options = parser.parse_args()
    known = {*names("float64"), *names("binary"), *complexes.REFERENCES, *specials.CASES}
    if unknown := set(options.functions) - known:
        parser.error(f"no such function: {', '.join(sorted(unknown))}")
    wanted = set() if options.page else set(options.functions) or known
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = pathlib.Path(name_of_folder)
        if wanted - specials.CASES.keys() and options.kind in (None, "real"):
            build(folder)
        for name in sorted(wanted):
            rows: Rows = {}
            if options.kind in (None, "real") and name in names("float64"):
                measure_unary(name, folder, options, rows)
            if options.kind in (None, "real") and name in names("binary"):
                measure_binary(name, folder, options, rows)
            if options.kind in (None, "complex") and name in complexes.REFERENCES:
                measure_complex(name, options, rows)
            if options.kind in (None, "special") and name in specials.CASES:
                measure_special(name, options, rows)
            # Another run may have measured other functions meanwhile.
            records.write(RECORD, dict(sorted({**records.read(RECORD), **rows}.items())))
            print(name, file=sys.stderr)
    rows = records.read(RECORD)
    PAGE.write_text(page(rows), encoding="utf-8")
    chart.draw(rows, names("float64"), PAGE.with_suffix(".svg"))

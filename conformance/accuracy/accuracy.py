"""Measures the errors of vecmath.h, and of other libraries on the same inputs, and prints docs/accuracy.md.

    python accuracy.py --stride 1 --inputs 10000000 > ../../docs/accuracy.md     # hours
    python accuracy.py --stride 1009 --inputs 200000                             # minutes

Builds the checkers beside it with `cc`, for the processor of this machine (the results are the same for all).
Needs MPFR's and GMP's headers; compares with those of NumPy, PyTorch and JAX that can be imported, on
`--shared` inputs.
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

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parents[1] / "src" / "stride0" / "_core"
FLAGS = (
    "-O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing"
    " -fno-thread-jumps"
)
REPORT = re.compile(
    r"^(\w+)\s+(?:float(\d+)\s+)?\d+ (?:inputs|pairs), ([\d.]+) ULP .* not nearest, (\d+) wrong$"
)
ENTRY = re.compile(r"^[FRG]\((\w+)", re.MULTILINE)
Numbers = npt.NDArray[np.float64]
Exact = tuple[Numbers, Numbers, Numbers]  # the nearest numbers, their errors, what tells the unit

NUMPY = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}

TEXT = """# Accuracy

Errors are in units in the last place (ULP): 0.5 is the best that any function can do, and stride0 promises at
most 1, with the same bits on every processor. Measured by `conformance/accuracy/accuracy.py`.

* float32, one operand: {float32}; the reference is the C library's function in double.
* float64 and functions of two operands: {inputs} inputs each, all exponents, dense near the ends of the
  ranges, zeros, ones, subnormal numbers and the multiples of pi/2 up to 1e22; the reference is MPFR with
  120 bits.
* The other libraries were given {shared} of these inputs. "wrong" counts infinities, NaN and zeros that
  should be something else or the other way round.
* `logaddexp` near its zeros, where its terms cancel, is measured in units of the larger operand.
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


def measure(folder: pathlib.Path, checker: str, *arguments: str) -> dict[str, str]:
    """What the checker says, by dtype ('32', '64')."""
    done = subprocess.run([folder / checker, *arguments], check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        if match := REPORT.match(line):
            _, bits, worst, wrong = match.groups()
            # The checkers leave out what is nearest, and print 0 if everything was.
            found[bits or checker[-2:]] = cell(max(float(worst), 0.5), int(wrong))
        else:
            print(line, file=sys.stderr)
    return found


def cell(worst: float, wrong: int) -> str:
    size = f"{worst:.3f}" if worst < 1000 else f"{worst:.0e}"
    return size + (f", {wrong} wrong" if wrong else "")


def libraries() -> dict[str, Any]:
    """The libraries at hand, each as a function that calls one of its functions on NumPy arrays."""
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


def error_of(got: Numbers, nearest: Numbers, rest: Numbers, unit: Numbers, digits: int) -> str:
    """Largest error of `got`. The exact result is nearest - rest * ULP, and the ULP that of `unit`."""
    top = 128 if digits == 24 else 1024
    finite = np.isfinite(nearest)
    sure = finite & np.isfinite(got)
    _, exponent = np.frexp(np.where(sure, unit, 1.0))
    ulp = np.ldexp(1.0, np.maximum(exponent, 3 - top) - digits)
    # Half of both, which cannot overflow.
    difference = (np.where(sure, got, 0.0) * 0.5 - np.where(sure, nearest, 0.0) * 0.5) / ulp * 2.0
    worst = np.abs(np.where(sure, difference + rest, 0.0)).max()
    # Infinity stands for the next number after the largest, which may be right or nearly so.
    last = np.abs(nearest) * 2.0 ** (1 - top) >= 2.0 - 2.0 ** (3 - digits)
    over = finite & np.isinf(got) & last
    wrong = (np.isfinite(got) != finite) & ~over | (np.isnan(got) != np.isnan(nearest))
    wrong |= np.isinf(got) & np.isinf(nearest) & (got != nearest)
    wrong |= (got == 0) & (nearest == 0) & (np.signbit(got) != np.signbit(nearest))
    return cell(float(worst), int(wrong.sum()))


def compare(name: str, digits: int, operands: list[Numbers], exact: Exact) -> dict[str, str]:
    """The errors of the other libraries."""
    dtype = np.float32 if digits == 24 else np.float64
    cells = {}
    for library, call in libraries().items():
        try:
            with np.errstate(all="ignore"):
                got = call(name, *(x.astype(dtype) for x in operands)).astype(np.float64)
                cells[library] = error_of(got, *exact, digits)
        except (AttributeError, RuntimeError, TypeError):
            cells[library] = "-"
    return cells


def rows(folder: pathlib.Path, options: argparse.Namespace) -> list[list[str]]:
    dump = str(folder / "dump")
    out: list[list[str]] = []
    seed = "1"
    for name in names("float64"):
        ours = measure(folder, "float32", name, str(options.stride))
        ours |= measure(folder, "float64", name, str(options.inputs), seed)
        measure(folder, "float32", name, str(max(1, 2**32 // options.shared) | 1), dump)
        x, want = np.fromfile(dump).reshape(-1, 2).T.copy()
        with np.errstate(all="ignore"):
            nearest = want.astype(np.float32).astype(np.float64)
            _, exponent = np.frexp(np.where(np.isfinite(want), want, 1.0))
            ulp = np.ldexp(1.0, np.maximum(exponent, -125) - 24)
            rest = np.where(np.isfinite(nearest), (nearest - want) / ulp, 0.0)
        others = compare(name, 24, [x], (nearest, rest, want))
        out.append([name, "float32", ours["32"], *others.values()])
        measure(folder, "float64", name, str(options.shared), seed, dump)
        x, nearest, rest = np.fromfile(dump).reshape(-1, 3).T.copy()
        out.append([name, "float64", ours["64"], *compare(name, 53, [x], (nearest, rest, nearest)).values()])
        print(*out[-2:], sep="\n", file=sys.stderr)
    for name in names("binary"):
        ours = measure(folder, "binary", name, str(options.inputs), seed)
        measure(folder, "binary", name, str(options.shared), seed, dump)
        for bits, digits in (("32", 24), ("64", 53)):
            x, y, nearest, rest = np.fromfile(dump + bits).reshape(-1, 4).T.copy()
            unit = nearest if name != "logaddexp" else np.fmax(np.abs(nearest), np.abs(np.fmax(x, y)))
            others = compare(name, digits, [x, y], (nearest, rest, unit))
            out.append([name, f"float{bits}", ours[bits], *others.values()])
        print(*out[-2:], sep="\n", file=sys.stderr)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--stride", type=int, default=1009, help="of float32 inputs; 1: all of them")
    parser.add_argument("--inputs", type=int, default=200_000, help="number of float64 inputs")
    parser.add_argument("--shared", type=int, default=200_000, help="how many the other libraries get")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build(pathlib.Path(folder))
        table = rows(pathlib.Path(folder), options)
    every = "all 2^32 inputs" if options.stride == 1 else f"every {options.stride}th of the 2^32 inputs"
    print(TEXT.format(float32=every, inputs=f"{options.inputs:,}", shared=f"about {options.shared:,}"))
    heads = ["Function", "Dtype", "stride0", *libraries()]
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join("---" for _ in heads) + " |")
    for row in table:
        print("| " + " | ".join((f"`{row[0]}`", *row[1:])) + " |")


if __name__ == "__main__":
    main()

"""The recipes of docs/design/recipes.md: their additions to a copy of the tree exist and work.

STRIDE0_RECIPES=1 python -m pytest tests/project/test_recipes.py also builds kernels, for minutes: for the
baseline and the new instruction set. Without it the test makes the changes and checks the tables.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design" / "recipes.md"
SOURCES = ("src", "meson.build", "meson.options", "pyproject.toml", "LICENSE")

# Matches in the page: "At the end of `OPS` in `file`:" or "At the end of `file`:", and the code that follows.
CHANGE = re.compile(r"^At the end of (?:`(\w+)` in )?`([\w./]+)`:\n\n```\w+\n(.*?)```$", re.M | re.S)
PLACES = {"An elementwise function": 2, "A reduction": 5, "A dtype": 2, "An instruction set": 1}

SETS = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
from stride0._core.kernels import _dispatch
print(_dispatch.BUILDS[0], *reversed(_dispatch.supported()))
"""

PROGRAM = """
import hashlib
import pickle
import sys

# An editable install of the tree that was copied comes before any path.
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
import numpy as np
import stride0 as xp
from stride0.autograd import grad

assert xp.__file__.startswith(sys.argv[1]), xp.__file__

# --- cube
a = np.arange(-50, 50)
for dtype in ("int8", "int64", "uint16", "float32", "float64", "complex64", "complex128"):
    b = a.astype(dtype)
    np.testing.assert_array_equal(np.asarray(xp.cube(xp.asarray(b))), (b * b * b).astype(dtype))
x = xp.reshape(xp.linspace(-3, 3, 3000), (50, 60))
assert bool(xp.all(xp.cube(x.T) == (x * x * x).T))
assert bool(xp.all(xp.cube(x[::2, ::-3]) == xp.cube(x)[::2, ::-3]))
half = xp.astype(x, xp.float16)
assert bool(xp.all(xp.cube(half) == xp.astype(xp.cube(xp.astype(half, xp.float32)), xp.float16)))
assert bool(xp.all(grad(lambda v: xp.sum(xp.cube(v)))(x) == 3 * (x * x)))
assert "multiplied by itself twice" in xp.cube.__doc__ and "References" not in xp.cube.__doc__
assert "cube" in xp.__all__
with xp.strict():
    try:
        xp.cube(x)
    except xp.StrictError:
        pass
    else:
        raise AssertionError("strict mode takes a function that is not in the standard")

# --- sum_positive
for dtype in ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"):
    numbers = xp.arange(1200) % 251 - (0 if dtype.startswith("u") else 100)
    y = xp.reshape(xp.astype(numbers, getattr(xp, dtype)), (30, 40))
    wide = xp.maximum(xp.astype(y, xp.float64), 0.0)
    for axis in (None, 0, 1):
        got = xp.sum_positive(y, axis=axis)
        assert got.dtype is xp.sum(y).dtype, (dtype, got.dtype)
        assert bool(xp.all(got == xp.astype(xp.sum(wide, axis=axis), got.dtype))), dtype
        strided = xp.sum_positive(y[::2, ::-1].T, axis=axis)
        assert bool(xp.all(strided == xp.astype(xp.sum(wide[::2, ::-1].T, axis=axis), got.dtype))), dtype
many = xp.ones(200_000)
assert float(xp.sum_positive(many)) == 200_000
assert float(xp.sum_positive(xp.broadcast_to(many[:1], (10**9,)))) == 10**9
assert float(xp.sum_positive(xp.zeros(0))) == 0
assert bool(xp.all(grad(xp.sum_positive)(x) == xp.astype(x > 0, xp.float64)))

# --- float8_e5m2
name = "float8_e5m2"
dtype = xp.float8_e5m2
bits = xp.asarray(np.arange(256, dtype=np.uint8))
every = bits.view(dtype)
values = np.asarray(xp.astype((xp.astype(bits, xp.uint16) << 8).view(xp.float16), xp.float64))
np.testing.assert_array_equal(np.asarray(xp.astype(every, xp.float64)), values)
finite = np.sort(values[np.isfinite(values) & (values >= 0)])[1:]
middle = (finite[1:] + finite[:-1]) / 2
for near, want in ((np.nextafter(middle, 0), finite[:-1]), (np.nextafter(middle, np.inf), finite[1:])):
    np.testing.assert_array_equal(np.asarray(xp.astype(xp.astype(xp.asarray(near), dtype), xp.float64)), want)
even = np.asarray(xp.astype(xp.asarray(middle), dtype).view(xp.uint8))
assert (even % 2 == 0).all()
assert xp.result_type(dtype, xp.float16) is xp.float32 and xp.result_type(dtype, 1.5) is dtype
assert (xp.finfo(dtype).max, xp.finfo(dtype).eps, xp.finfo(dtype).bits) == (57344.0, 0.25, 8)
p = xp.asarray([1.0, 2.5, -0.5], dtype=dtype)
assert (p + p).tolist() == [2.0, 5.0, -1.0] and (p * p).dtype is dtype and float(xp.sum(p)) == 3.0
assert repr(p) == "Array([1.0, 2.5, -0.5], dtype=float8_e5m2)", repr(p)
assert (p @ p).dtype is dtype and xp.sort(p).tolist() == [-0.5, 1.0, 2.5]
assert pickle.loads(pickle.dumps(p)).tolist() == p.tolist() and xp.from_dlpack(p).dtype is dtype
assert float(xp.nextafter(p, 9.0)[0]) == 1.25
assert grad(lambda v: xp.sum(v * v))(p).tolist() == [2.0, 5.0, -1.0]
assert name not in xp.__array_namespace_info__().dtypes()
try:
    import ml_dtypes
except ImportError:
    pass
else:
    theirs = np.asarray(every)
    assert theirs.dtype == ml_dtypes.float8_e5m2 and xp.asarray(theirs).dtype is dtype
    floats = np.random.default_rng(0).normal(0, 100, 10_000).astype(np.float32)
    ours = np.asarray(xp.astype(xp.asarray(floats), dtype).view(xp.uint8))
    assert (ours == floats.astype(ml_dtypes.float8_e5m2).view(np.uint8)).all()

# --- bits, which do not depend on the instruction set
found = hashlib.blake2b(digest_size=10)
numbers = np.random.default_rng(0).normal(0, 50, 5003)
for dtype in (xp.int8, xp.int16, xp.float16, xp.float32, xp.float64, xp.complex128):
    v = xp.astype(xp.asarray(numbers), dtype)
    results = [v + v[::-1], v * v, xp.sum(v), xp.cumulative_sum(v), xp.cube(v), v[::3] - v[:1668], v[v != 1]]
    if not xp.isdtype(dtype, "complex floating"):
        results += [xp.sort(v), xp.argsort(v), xp.maximum(v, v[::-1]), xp.searchsorted(xp.sort(v), v)]
    if not xp.isdtype(dtype, "integral"):
        results += [xp.exp(v / 60), xp.sin(v), xp.sqrt(v * v), xp.mean(v)]
    for result in results:
        found.update(np.ascontiguousarray(result).tobytes())
print(xp._instruction_set, found.hexdigest())
"""


class Change(NamedTuple):
    """Code that goes to the end of a file, or of a tuple, list or dict in it."""

    collection: str
    file: str
    code: str

    def make(self, tree: Path) -> None:
        path = tree / self.file
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        end = len(lines)
        if self.collection:
            start = next(k for k, line in enumerate(lines) if re.match(rf"{self.collection}(:.*)? =", line))
            end = next(k for k in range(start, len(lines)) if lines[k].rstrip() in (")", "]", "}"))
        elif path.suffix == ".h":
            end = max(k for k, line in enumerate(lines) if line.startswith("#endif"))
        code = self.code if self.collection else f"\n{self.code}\n"
        path.write_text("".join([*lines[:end], code, *lines[end:]]), encoding="utf-8")


def changes() -> dict[str, list[Change]]:
    """The changes of each recipe of the page."""
    parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return {
        title: [Change(*found) for found in CHANGE.findall(text)]
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, changed by all recipes."""
    out = tmp_path_factory.mktemp("recipes") / "tree"
    out.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, out / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, out / name)
    for made in changes().values():
        for change in made:
            change.make(out)
    return out


def run(*command: str, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def test_the_page_has_the_places() -> None:
    """Each recipe changes as many places as it says; a new recipe must also be added to `PROGRAM`."""
    assert {title: len({change.file for change in made}) for title, made in changes().items()} == PLACES


def test_tables_take_the_rows(tree: Path) -> None:
    """The generators check the tables and write kernels for the rows."""
    build = tree / "src/stride0/_core/generators"
    units = "reductions arithmetic algorithms special complex_functions moves functions fourier strided"
    units += " strided_reductions"
    run(sys.executable, str(build / "kernels.py"), *(f"{unit}.c" for unit in units.split()), cwd=tree)
    texts = {unit: (tree / f"{unit}.c").read_text(encoding="utf-8") for unit in units.split()}
    for path in tree.glob("*.c"):
        path.unlink()
    assert "cube_float64_0" in texts["arithmetic"] and "sum_positive_float32_0" in texts["reductions"]
    assert "float8_e5m2_to_f32" in texts["moves"]
    listed = run(sys.executable, str(build / "instruction_sets.py"), "x86_64", "v4_vbmi", "", cwd=tree)
    assert [line.partition(":")[0] for line in listed.splitlines()] == ["v4_vbmi", "baseline"]
    assert "-mavx512vbmi2" in listed


@pytest.mark.skipif(not os.environ.get("STRIDE0_RECIPES"), reason="builds for minutes: STRIDE0_RECIPES=1")
def test_what_is_added_is_built_and_works(tree: Path) -> None:
    site = tree.parent / "site"
    folders = [f"-Dpython.{kind}libdir={site}" for kind in ("pure", "plat")]
    # Compiling takes most of the time, and the results need not be quick.
    options = [
        "--buildtype=release",
        "-Doptimization=g",
        "-Dinstruction_sets=v4_vbmi",
        f"--prefix={tree.parent}",
        *folders,
    ]
    build = str(tree.parent / "build")
    run("meson", "setup", build, str(tree), *options, cwd=tree)
    run("meson", "install", "-C", build, "--tags=runtime,python-runtime", cwd=tree)
    program = tree.parent / "use.py"
    program.write_text(PROGRAM, encoding="utf-8")
    listed = run(sys.executable, "-P", "-c", SETS, cwd=site, PYTHONPATH=str(site), STRIDE0_ISA="").split()
    assert listed[:2] == (
        ["v4_vbmi", "baseline"] if platform.machine() == "x86_64" else ["baseline", "baseline"]
    )
    bits = []
    for name in listed[1:]:
        variables = {"PYTHONPATH": str(site), "STRIDE0_ISA": name}
        bits.append(run(sys.executable, "-P", str(program), str(site), cwd=site, **variables).split())
    assert [found[0] for found in bits] == listed[1:]
    assert len({found[1] for found in bits}) == 1, bits
    stub = (site / "stride0/_core/elementwise/functions.pyi").read_text(encoding="utf-8")
    assert "def cube(x: Operand, /) -> Array: ..." in stub and '    "cube",' in stub
    assert "float8_e5m2: Final[DType]" in (site / "stride0/_core/memory/dtype.pyi").read_text(
        encoding="utf-8"
    )

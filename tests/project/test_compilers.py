"""Handwritten C compiles without warnings and recognises processors."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from stride0._core.kernels import _cpu, _dispatch

CORE = Path(__file__).resolve().parents[2] / "src" / "stride0" / "_core"
X86 = platform.machine() == "x86_64"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FAMILY = "x86_64" if X86 else platform.machine()
LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4") if X86 else ("native",)
LEVEL_BY_NAME = 'int main(void) { return __builtin_cpu_supports("x86-64-v2"); }\n'


def compiled(compiler: str, source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Compile a file; fail with the compiler's messages."""
    sizes, builds = source.with_name("table_sizes.h"), source.with_name("builds.h")
    targets = [source.with_name(name) for name in (sizes.name, "dtypes.h", "dtype.pyi")]
    subprocess.run([sys.executable, CORE / "generators" / "sizes.py", *targets], check=True)
    names = ",".join(_dispatch.BUILDS)
    sets = [CORE / "generators" / "instruction_sets.py", FAMILY, names, "", builds]
    subprocess.run([sys.executable, *sets], check=True)
    if not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        pytest.skip("the interpreter's headers are not installed")
    folders = [
        *(str(folder) for folder in CORE.iterdir() if folder.is_dir()),
        str(sizes.parent),
        sysconfig.get_paths()["include"],
    ]
    include = [f"-I{folder}" for folder in folders]
    command = [compiler, "-std=gnu11", *include, *arguments, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done


# Headers by the module that includes them together; each includes the rest of its own kind.
GROUPS = {
    "kernels": (
        *(
            "unit.h",
            "kernels.h",
            "vecmath.h",
            "vecmath_special.h",
            "cvecmath.h",
            "cproduct.h",
            "intdiv.h",
            "intpow.h",
            "tiles.h",
            "products.h",
            "real_products.h",
        ),
        *("tall_matrices.h", "systems.h", "block_elements.h", "hermitian.h", "complex_singular.h"),
        *("complex_schur.h", "machine_limits.h"),
        *("folding.h", "finding.h", "flags.h", "scanning.h", "sorting.h"),
        *("scalars.h", "realmath.h", "complexmath.h"),
    ),
    "strided": ("unit.h", "blockwise.h"),
    "fourier": ("unit.h", "fourier.h"),
    "array": ("kernels.h", "dlpack.h", "gathering.h", "counting.h", "distinct.h"),
    "storage": ("blocks.h", "release.h", "small_blocks.h"),
    "threads": ("pool.h",),
    "_cpu": ("cpu.h",),
}
PRELUDE = "#include <Python.h>\n#include <math.h>\n"


def test_all_headers_are_compiled_here() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in CORE.glob("*/*.h")}
    included = set(re.findall(r'#include "(\w+\.h)"', "".join(texts.values())))
    generated = {"table_sizes.h", "dtypes.h", "builds.h"}
    assert set(texts) == (included - generated) | {name for group in GROUPS.values() for name in group}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_module_without_warnings(compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "module.c"
    source.write_text((CORE / "kernels" / "module.c").read_text(encoding="utf-8"), encoding="utf-8")
    macros = ["-DS0_MODULE=_one", "-DS0_UNITS=U(a) U(b)"]
    compiled(compiler, source, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *macros)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("group", GROUPS)
def test_headers_without_warnings(group: str, compiler: str, level: str, tmp_path: Path) -> None:
    source = tmp_path / "headers.c"
    lines = [f'#include "{name}"\n' for name in GROUPS[group]]
    source.write_text("".join([PRELUDE, *lines]), encoding="ascii")
    # Nothing is called in this file.
    quiet = ["-Wno-unused-function", "-Wno-unused-parameter"]
    compiled(compiler, source, "-fsyntax-only", f"-march={level}", "-Wall", "-Wextra", "-Werror", *quiet)


LOADS = r"""
#include "packs.h"
#define CHECK(L) \
    { \
        f64_##L y = s0_widen_f64_##L(x + 1); \
        s0_store_f64_##L(z, y); \
        for (int i = 0; i < L; i++) \
            if (z[i] != i + 1) \
                return L; \
    }
int main(void)
{
    _Alignas(64) float x[65];
    double z[64];
    for (int i = 0; i < 65; i++)
        x[i] = (float)i;
    CHECK(1) CHECK(2) CHECK(4) CHECK(8) CHECK(16) CHECK(32) CHECK(64)
    return 0;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_loads_of_what_begins_anywhere(compiler: str, tmp_path: Path) -> None:
    source, out = tmp_path / "loads.c", tmp_path / "loads"
    sanitize = ["-fsanitize=alignment", "-fno-sanitize-recover=all"]
    source.write_text("int main(void) { return 0; }\n", encoding="ascii")
    if subprocess.run([compiler, *sanitize, str(source), "-o", str(out)], capture_output=True).returncode:
        pytest.skip(f"this {compiler} has no sanitizers")
    source.write_text(LOADS, encoding="ascii")
    compiled(compiler, source, *sanitize, "-O1", "-o", str(out))
    done = subprocess.run([str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ORDER = r"""
#include "unit.h"
#include "sorting.h"
#include <stdlib.h>
static int never(void) { return 0; }
static s0_kernels table = {.interrupted = never};
s0_kernels *s0_table = &table;
#define N 3000
#define CHECK(bits, WORD) \
    for (int spread = 1; spread <= N; spread *= 8) { \
        WORD *x = calloc(N + 256, sizeof(WORD)), *y = calloc(N + 256, sizeof(WORD)); \
        for (int first = 0; first <= N; first += 1 + N / 7) { \
            unsigned long state = 5; \
            for (int i = 0; i < N; i++) \
                x[i] = (WORD)((state = state * 6364136223846793005u + 1442695040888963407u) >> 9) % spread; \
            DIVIDED(bits, x, x, y, first, spread % 5) \
            DIVIDED(bits, x + first, x + first, y, N - first, spread % 3) \
            for (int k = 0; k < 4; k++) \
                s0_merge##bits(x, y, 0, first, N, N / 4 * k, N / 4 * (k + 1)); \
            for (int i = 1; i < N; i++) \
                if (y[i] < y[i - 1]) \
                    return 1; \
        } \
        free(x), free(y); \
    }
/* Digits take over after a few divisions. */
#if S0_VECTOR >= 32
#define DIVIDED(bits, x, to, y, n, divisions) s0_order_divided##bits(x, y, n, divisions, to);
#else
#define DIVIDED(bits, x, to, y, n, divisions) s0_order##bits(x, y, n, INT##bits##_MIN, 0, bits, to);
#endif
int main(void)
{
    s0_make_sorter();
    CHECK(32, int32_t)
    CHECK(64, int64_t)
    return 0;
}
"""


@pytest.mark.parametrize("level", [[], ["-march=native"]], ids=["baseline", "native"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_words_in_order_where_pivots_are_bad_and_merged(
    compiler: str, level: list[str], tmp_path: Path
) -> None:
    source, out = tmp_path / "order.c", tmp_path / "order"
    source.write_text(PRELUDE + ORDER, encoding="ascii")
    compiled(compiler, source, *level, "-O1", "-w", "-lm", "-o", str(out))
    assert subprocess.run([str(out)], check=False).returncode == 0


PROGRAM = r"""
#include "cpu.h"
#include <stdio.h>
int main(void)
{
    for (int k = 0; k < S0_BUILDS; k++)
        if (s0_builds[k].runs())
            printf("%s\n", s0_builds[k].name);
    return 0;
}
"""


@pytest.fixture(scope="module", params=[(name, how) for name in COMPILERS for how in ("levels", "features")])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Print the builds that this processor can run; test names of levels, or single features."""
    compiler, how = request.param
    folder = tmp_path_factory.mktemp("cpu")
    source, out = folder / "cpu.c", folder / "cpu"
    if how == "levels":
        source.write_text(LEVEL_BY_NAME, encoding="ascii")
        command = [compiler, str(source), "-o", str(out)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"this {compiler} does not know levels by name")
    source.write_text(PROGRAM, encoding="ascii")
    options = ["-DS0_HAS_LEVELS"] if how == "levels" else []
    compiled(compiler, source, *options, "-static", "-o", str(out))
    return out


def builds(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_both_ways_of_asking_agree(program: Path) -> None:
    assert builds(str(program)) == list(_dispatch.supported())


@pytest.mark.skipif(not X86 or not shutil.which("qemu-x86_64"), reason="needs qemu-x86_64")
@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ("Haswell", ["v3", "baseline"]),
        # Compilers use these for v3, but tests for avx2, fma, bmi and bmi2 do not include them.
        ("Haswell,-abm", ["baseline"]),
        ("Haswell,-movbe", ["baseline"]),
        ("Haswell,-f16c", ["baseline"]),
        ("Haswell,-avx2", ["baseline"]),
        ("Nehalem", ["baseline"]),
        ("Nehalem,-popcnt", []),
        ("Conroe", []),
    ],
)
def test_processors(program: Path, processor: str, expected: list[str]) -> None:
    assert builds("qemu-x86_64", "-cpu", processor, str(program)) == expected


FLAGS = {
    "baseline": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe",
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


@pytest.mark.skipif(not X86 or sys.platform != "linux", reason="/proc/cpuinfo of x86-64")
def test_this_processor() -> None:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = set(text.partition("flags")[2].partition("\n")[0].split())
    wanted: set[str] = set()
    for name in reversed(_dispatch.BUILDS):
        wanted |= set(FLAGS[name].split())
        assert _cpu.has(name) == (wanted <= found), name


def test_a_processor_below_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cpu, "has", lambda name: False)
    with pytest.raises(ImportError, match=r"^stride0: this processor lacks instructions of .*baseline"):
        _dispatch.load_kernels(None)

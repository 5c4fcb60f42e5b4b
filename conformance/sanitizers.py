"""
Run the tests on a build with sanitizers.

    python -m conformance sanitizers                        # of memory: with and without the block cache
    python -m conformance sanitizers --cache off -- tests/chapters/test_indexing.py -k mask
    python -m conformance sanitizers --keep ../sanitized    # build there, or use an existing build there
    python -m conformance sanitizers --of threads           # of races between Python threads

`--of memory` is AddressSanitizer and UndefinedBehaviorSanitizer, and needs GCC with them. `--of threads` is
ThreadSanitizer, for a free-threaded Python also built with it (``configure --disable-gil
--with-thread-sanitizer``); it needs the compiler of this Python. conformance/tsan.supp lists suppressed
reports.

Builds the checkout into a temporary folder (some minutes on two cores) and changes nothing in it. Needs what
the build needs (`build-system.requires` of pyproject.toml) and what the tests need, in the environment of the
Python that runs it. What follows ``--`` goes to pytest.

Passes if the tests pass and no sanitizer reported anything. docs/design/memory.md says what this covers.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPRESSIONS = Path(__file__).with_name("tsan.supp")

# The cache of freed blocks hides that a block was freed; without it every block comes from malloc.
CACHES = {"off": {"STRIDE0_CACHE_LIMIT": "0"}, "on": {}}


@dataclass(frozen=True)
class Sanitizers:
    """Sanitizers of one build, and how the tests are run on it."""

    setup: tuple[str, ...]  # options of Meson
    compiler: Callable[[], str]
    variables: Callable[[Path], dict[str, str]]  # that they need; reports go to the folder
    report: re.Pattern[str]  # the line that says what was found
    tests: tuple[str, ...] = ()  # that are run where none are given; all, if empty
    left_out: dict[str, str] = field(default_factory=dict)  # tests of what they change themselves, and why
    while_building: dict[str, str] = field(default_factory=dict)  # variables
    jobs: int = os.cpu_count() or 1  # processes (pytest-xdist)


def gcc() -> str:
    return os.environ.get("CC", "gcc")


def compiler_of_python() -> str:
    """The compiler of the interpreter, which contains the sanitizer's runtime."""
    if "-fsanitize=thread" not in str(sysconfig.get_config_var("BASECFLAGS")):
        sys.exit("this Python is built without ThreadSanitizer (configure --with-thread-sanitizer)")
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("this Python has the interpreter's lock, which leaves no races (configure --disable-gil)")
    return os.environ.get("CC") or shlex.split(str(sysconfig.get_config_var("CC")))[0]


def asked(question: str) -> Path:
    """The path that GCC prints for a file."""
    command = [gcc(), f"-print-file-name={question}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(found).is_absolute():
        sys.exit(f"the compiler has no {question}")
    return Path(found).resolve()


def of_memory(reports: Path) -> dict[str, str]:
    common = f"log_path={reports}/report"
    return {
        # C++ libraries loaded later need the exception functions that AddressSanitizer found at start.
        "LD_PRELOAD": f"{asked('libasan.so')} {asked('libstdc++.so')}",
        # Python keeps memory until it ends; tests provoke MemoryError.
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def of_threads(reports: Path) -> dict[str, str]:
    # Tests start processes: their reports count, not their exit codes.
    options = [f"log_path={reports}/report", f"suppressions={SUPPRESSIONS}", "die_after_fork=0", "exitcode=0"]
    command = [*shlex.split(compiler_of_python()), "-print-prog-name=llvm-symbolizer"]
    symbolizer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    # The suppressions name functions. GCC's library finds their names itself.
    if Path(symbolizer).is_absolute():
        options.append(f"external_symbolizer_path={symbolizer}")
    # The interpreter is instrumented too: it is slow to compile random programs, which run in one thread.
    fewer = {"STRIDE0_TEST_ROUNDS": "100", "STRIDE0_FUZZ_PROGRAMS": "32"}
    return {"TSAN_OPTIONS": ":".join(options), **{name: os.environ.get(name, fewer[name]) for name in fewer}}


TABLE = {
    "memory": Sanitizers(
        setup=("b_sanitize=address,undefined",),
        compiler=gcc,
        variables=of_memory,
        report=re.compile(r"^.*runtime error: .*$|^SUMMARY: .*$|^.*ERROR: AddressSanitizer.*$", re.MULTILINE),
        left_out={
            # -O1, with space around each variable.
            "tests/core/memory/test_small_stacks.py": "the frames of functions are larger",
        },
    ),
    "threads": Sanitizers(
        # Loops share the same memory on every instruction set.
        setup=("b_sanitize=thread", "instruction_sets="),
        compiler=compiler_of_python,
        variables=of_threads,
        report=re.compile(r"^SUMMARY: .*$|^.*(?:ERROR|FATAL): ThreadSanitizer.*$", re.MULTILINE),
        tests=("tests/core/plan/test_free_threading.py", "tests/autograd/test_gradient_threads.py"),
        while_building={"TSAN_OPTIONS": "report_bugs=0"},
        jobs=1,  # the processes of pytest-xdist did not start with it
    ),
}


def build(sanitizers: Sanitizers, folder: Path) -> None:
    """Install the checkout with sanitizers into a folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder)]
    setup = (*sanitizers.setup, "b_lundef=false", "optimization=1", "debug=true")
    command += [f"-Csetup-args=-D{option}" for option in setup]
    variables = {**os.environ, **sanitizers.while_building, "CC": sanitizers.compiler()}
    subprocess.run([*command, str(ROOT)], check=True, env=variables)


def summary(sanitizers: Sanitizers, reports: Path) -> Counter[str]:
    """The reports, with counts."""
    found: Counter[str] = Counter()
    for path in reports.glob("report*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(sanitizers.report.findall(text))
    return found


def run(sanitizers: Sanitizers, folder: Path, cache: str, jobs: int, arguments: list[str]) -> bool:
    """Run the tests with the cache on or off; whether they pass without a report."""
    print(f"== block cache {cache}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        reports = Path(name)
        variables = {
            **os.environ,
            **CACHES[cache],
            **sanitizers.variables(reports),
            "PYTHONPATH": str(folder),
        }
        where = [sys.executable, "-c", "import stride0; print(stride0.__file__)"]
        loaded = Path(subprocess.check_output(where, env=variables, text=True).strip())
        if not loaded.is_relative_to(folder):
            sys.exit(f"Python loads {loaded}, not the build: is an editable install in the way?")
        # Combined with AddressSanitizer, UndefinedBehaviorSanitizer ignores log_path and writes to standard
        # error: pytest must not capture that file descriptor.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--color=no", "--capture=sys"]
        command += [f"--deselect={test}" for test in sanitizers.left_out]
        command += ["-n", str(jobs if jobs > 1 else 0)]
        command += arguments or ["--full", *sanitizers.tests]
        with open(reports / "report.stderr", "wb") as errors:
            done = subprocess.run(command, env=variables, cwd=ROOT, stderr=errors, check=False)
        found = summary(sanitizers, reports)
    for text, count in found.most_common():
        print(f"{count:6d}  {text.replace(str(ROOT), '.')}")
    print(
        f"block cache {cache}: pytest ended with {done.returncode}; {len(found)} kinds of reports", flush=True
    )
    return done.returncode == 0 and not found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--of", choices=list(TABLE), default="memory", help="what the sanitizers look at")
    parser.add_argument("--cache", choices=["both", *CACHES], default="both", help="of freed blocks")
    parser.add_argument("--jobs", type=int, help="processes (pytest-xdist)")
    parser.add_argument("--keep", type=Path, help="folder of the build; it is kept, and not built again")
    parser.add_argument("arguments", nargs="*", help="for pytest")
    given = parser.parse_args()
    sanitizers = TABLE[given.of]
    jobs = given.jobs or sanitizers.jobs
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.keep or Path(temporary) / "site").resolve()
        if not (folder / "stride0").is_dir():
            build(sanitizers, folder)
        caches = list(CACHES) if given.cache == "both" else [given.cache]
        passed = [run(sanitizers, folder, cache, jobs, given.arguments) for cache in caches]
    return 0 if all(passed) else 1

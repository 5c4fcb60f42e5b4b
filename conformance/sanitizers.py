"""
Run the tests on a build with AddressSanitizer and UndefinedBehaviorSanitizer.

    python conformance/sanitizers.py                      # both settings of the block cache, all tests
    python conformance/sanitizers.py --cache off -- tests/chapters/test_indexing.py -k mask
    python conformance/sanitizers.py --keep ../sanitized    # build there, or take the build that is there

Builds the checkout into a temporary folder (some minutes on two cores) and changes nothing in it. Needs GCC
with its sanitizers, what the build needs (`build-system.requires` of pyproject.toml) and what the tests need,
in the environment of the Python that runs it. What follows ``--`` goes to pytest.

Passes if the tests pass and no sanitizer reported anything. docs/design/memory.md says what this covers.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETUP = ("b_sanitize=address,undefined", "b_lundef=false", "optimization=1", "debug=true")

# Tests of what a sanitizer changes itself, and why.
LEFT_OUT: dict[str, str] = {
    # Its functions lie on the C stack between an operator and the interpreter: no operand is known to die.
    "tests/core/test_temporaries.py::test_available": "temporaries are not elided",
}

# The cache of freed blocks hides from AddressSanitizer that a block was freed; off, every block is malloc's.
CACHES = {"off": {"STRIDE0_CACHE_LIMIT": "0"}, "on": {}}

REPORT = re.compile(r"^.*runtime error: .*$|^SUMMARY: .*$|^.*ERROR: AddressSanitizer.*$", re.MULTILINE)


def build(folder: Path) -> None:
    """Install the checkout with sanitizers into a folder."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder)]
    command += [f"-Csetup-args=-D{option}" for option in SETUP]
    subprocess.run([*command, str(ROOT)], check=True, env={**os.environ, "CC": os.environ.get("CC", "gcc")})


def library(name: str) -> str:
    """Where the compiler has a library."""
    command = [os.environ.get("CC", "gcc"), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(found).is_absolute():
        sys.exit(f"the compiler has no {name}")
    return str(Path(found).resolve())


def environment(folder: Path, reports: Path, cache: str) -> dict[str, str]:
    """The variables that make Python load the build, and the sanitizers write reports to a folder."""
    common = f"log_path={reports}/report"
    return {
        **os.environ,
        **CACHES[cache],
        # C++ libraries that are loaded later look for their exceptions where AddressSanitizer found them.
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        # Python keeps memory to its end; MemoryError is tested.
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",
    }


def summary(reports: Path) -> Counter[str]:
    """What was reported, and how often."""
    found: Counter[str] = Counter()
    for path in reports.glob("report*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found.update(REPORT.findall(text))
    return found


def run(folder: Path, cache: str, jobs: int, arguments: list[str]) -> bool:
    """Run the tests with the cache on or off; whether they pass without a report."""
    print(f"== block cache {cache}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        reports = Path(name)
        variables = environment(folder, reports, cache)
        where = [sys.executable, "-c", "import stride0; print(stride0.__file__)"]
        loaded = Path(subprocess.check_output(where, env=variables, text=True).strip())
        if not loaded.is_relative_to(folder):
            sys.exit(f"Python loads {loaded}, not the build: is an editable install in the way?")
        # Beside AddressSanitizer, the other one writes to the standard error, whatever its log_path
        # is: pytest has to leave that file descriptor alone.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--color=no", "--capture=sys"]
        command += [f"--deselect={test}" for test in LEFT_OUT] + (["-n", str(jobs)] if jobs > 1 else [])
        with open(reports / "report.stderr", "wb") as errors:
            done = subprocess.run([*command, *arguments], env=variables, cwd=ROOT, stderr=errors, check=False)
        found = summary(reports)
    for text, count in found.most_common():
        print(f"{count:6d}  {text.replace(str(ROOT), '.')}")
    print(
        f"block cache {cache}: pytest ended with {done.returncode}; {len(found)} kinds of reports", flush=True
    )
    return done.returncode == 0 and not found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--cache", choices=["both", *CACHES], default="both", help="of freed blocks")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (pytest-xdist)")
    parser.add_argument("--keep", type=Path, help="folder of the build; it is kept, and not built again")
    parser.add_argument("arguments", nargs="*", help="for pytest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.keep or Path(temporary) / "site").resolve()
        if not (folder / "stride0").is_dir():
            build(folder)
        caches = list(CACHES) if given.cache == "both" else [given.cache]
        passed = [run(folder, cache, given.jobs, given.arguments) for cache in caches]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

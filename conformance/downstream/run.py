"""Run the tests that the installed SciPy and scikit-learn ship, with stride0 as the namespace they run on.

    python -m conformance downstream                              all tests of both that take a namespace
    python -m conformance downstream --quick                      samples of large test files, the same in
    every run python -m conformance downstream scipy --only signal/tests/test_windows.py --traceback python -m
    conformance downstream --module array_api_strict    a peer, measured in the same way

Each library's tests run in a separate, watched process: if it dies or hangs, only the current test fails, and
a new process continues with the rest. Tests that cannot pass are listed in xfails.txt. Requirements: pip
install -r conformance/downstream/requirements.txt. A run over all tests is recorded for
docs/evidence/conformance.md, unless `--results` names a folder. The exit code is 0 only if all selected tests
ran and no test failed that is not on the list: 1 is a failed test, or one not run in the time allowed; 2 a
run that could not start.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import records
from conformance.downstream.watch import Found, Limits, watch
from conformance.official import report, run

XFAILS = Path(__file__).with_name("xfails.txt")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")

# --quick runs all tests of files with fewer tests than this.
QUICK_SAMPLE = 400

# So many outcomes of each bad kind are printed; the summary has all of them.
MOST_SHOWN = 40


@dataclass(frozen=True)
class Library:
    """A library whose tests are run: its names on PyPI and in Python, and its relevant files."""

    distribution: str
    package: str
    marks: re.Pattern[str]  # found in files with tests that take a namespace


LIBRARIES = (
    Library("scipy", "scipy", re.compile(r"\bxp\b")),
    Library("scikit-learn", "sklearn", re.compile(r"\byield_(mixed_)?namespace|\bparametrize_with_checks\b")),
)
# Packages that the libraries' tests import.
NEEDED = ("pytest", "hypothesis")
# Without them the libraries skip a few tests, which the summary reports.
WANTED = ("threadpoolctl", "array_api_strict")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    names = [library.package for library in LIBRARIES]
    add("libraries", nargs="*", metavar="LIBRARY", help=f"{' or '.join(names)} (default: both)")
    add("--module", default="stride0", help="array module (default: stride0)")
    add("--quick", action="store_true", help=f"about {QUICK_SAMPLE} tests of files that have more")
    add(
        "--only",
        action="append",
        default=[],
        metavar="TEST",
        help="file in the package or test id (repeatable)",
    )
    add("-k", default="", metavar="EXPRESSION", help="pytest's -k")
    add("--isa", metavar="NAME", help="instruction set of stride0's kernels (sets STRIDE0_ISA)")
    add("--budget", type=float, default=1200, metavar="SECONDS", help="for each library (default 1200)")
    add("--test-limit", type=float, default=120, metavar="SECONDS", help="for one test (default 120)")
    add("--results", type=Path, metavar="DIR", help="write summaries there, and record nothing")
    add("--traceback", action="store_true", help="show pytest's own output, with tracebacks")
    options = parser.parse_args(arguments)
    unknown = sorted({*options.libraries} - {*names})
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names)}")
    if options.budget <= 0 or options.test_limit <= 0:
        parser.error("--budget and --test-limit must be positive")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    try:
        chosen = [each for each in LIBRARIES if each.package in options.libraries or not options.libraries]
        check_installed(chosen)
        environment = test_environment(options)
        about = run.probe(options.module, environment)
        run.check_instruction_set(options, about)
        clean = [run_library(options, library, environment, about) for library in chosen]
    except run.CannotRun as error:
        print(f"downstream: {error}", file=sys.stderr)
        return 2
    return 0 if all(clean) else 1


def check_installed(chosen: list[Library]) -> None:
    missing = [each for each in NEEDED if importlib.util.find_spec(each) is None]
    missing += [each.distribution for each in chosen if importlib.util.find_spec(each.package) is None]
    if missing:
        file = REQUIREMENTS.relative_to(records.ROOT)
        raise run.CannotRun(f"not installed: {', '.join(missing)}; pip install -r {file}")
    for each in WANTED:
        if importlib.util.find_spec(each) is None:
            print(f"note: {each} is not installed, so tests that need it are skipped")


def test_environment(options: argparse.Namespace) -> dict[str, str]:
    environment = run.suite_environment(options.module, options.isa)
    environment["SCIPY_ARRAY_API"] = "1"  # without it both libraries ignore namespaces
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, "1")
    return environment


def package_folder(library: Library) -> Path:
    spec = importlib.util.find_spec(library.package)
    assert spec is not None and spec.submodule_search_locations is not None  # checked before
    return Path(next(iter(spec.submodule_search_locations)))


def test_files(library: Library, only: list[str]) -> list[str]:
    """What pytest collects: the requested tests, or each file with tests that take a namespace."""
    package = package_folder(library)
    if only:
        named = [test.removeprefix(f"{library.package}/") for test in only]
        absent = [test for test in named if not (package / test.partition("::")[0]).exists()]
        if absent:
            raise run.CannotRun(f"{library.package} ships no {', '.join(absent)}")
        return [str(package / test) for test in named]
    files = sorted(package.rglob("test_*.py"))
    files = [path for path in files if library.marks.search(path.read_text(encoding="utf-8"))]
    if not files:
        raise run.CannotRun(f"the {library.package} that is installed ships no tests that take a namespace")
    return [str(path) for path in files]


def run_library(
    options: argparse.Namespace, library: Library, environment: dict[str, str], about: dict[str, Any]
) -> bool:
    """Run one library's tests, print outcomes and write the summary; return whether all is well."""
    version = importlib.metadata.version(library.distribution)
    what = f"{library.distribution} {version} on {options.module} {about['version']}"
    isa = about["instruction_set"]
    print(f"\n{what}" + (f" ({isa})" if isa else "") + (", quick" if options.quick else ""), flush=True)
    files = test_files(library, options.only)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        record = Path(temporary) / "events"
        command = pytest_command(options, library, record, Path(temporary))
        limits = Limits(options.budget, options.test_limit)
        found = watch(command, files, record, environment, limits, show=options.traceback)
    if options.module == "stride0":  # for a peer no failures are expected
        listed = expected_failures()
        found.excuse(listed)
        if not (options.quick or options.only or options.k):
            found.miss([test for test in listed if test.startswith(f"{library.package}/")])
    seconds = time.monotonic() - began
    if not found.outcomes and not found.trouble:
        found.trouble = "no test takes a namespace in what was selected"
    modules, total = found.by_module(), found.counts()
    print("\n" + records.columns("module", modules, total, [each for each in total if total[each]]))
    for outcome in ("failed", "crashed", "hung", "expected"):
        entries = found.with_reasons(outcome)
        if entries:
            print(f"\n{outcome}:")
        for entry in entries[:MOST_SHOWN]:
            print(f"  {entry['test']}\n      {entry['reason']}")
        if len(entries) > MOST_SHOWN:
            print(f"  and {len(entries) - MOST_SHOWN} more, which the summary of --results names")
    if found.trouble:
        print(f"\n{found.trouble}")
    written = write_summary(options, library, version, about, found)
    verdict = "clean" if found.clean() else "NOT CLEAN"
    print(f"\n{library.package}: {verdict} after {seconds:.0f} s; {written}", flush=True)
    return found.clean()


def pytest_command(options: argparse.Namespace, library: Library, record: Path, temporary: Path) -> list[str]:
    settings = temporary / "pytest.ini"  # ignore settings of this repository and of the package
    settings.write_text("[pytest]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conformance.downstream.plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    command += ["--rootdir", str(package_folder(library).parent), "-c", str(settings)]
    command += ["--continue-on-collection-errors", "--disable-warnings", "--quiet", "--no-header"]
    command += ["--tb=short"] if options.traceback else ["--tb=line", "--no-summary"]
    command += ["--downstream-library", library.package, "--downstream-namespace", options.module]
    command += ["--downstream-record", str(record)]
    if options.quick:
        command += ["--downstream-sample", str(QUICK_SAMPLE)]
    if options.k:
        command += ["-k", options.k]
    return command


def expected_failures() -> dict[str, str]:
    """The tests of xfails.txt, with the reasons why they cannot pass."""
    return dict(_entries(XFAILS.read_text(encoding="utf-8")))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        test, _, reason = (part.strip() for part in line.partition("#"))
        if test:
            yield test, reason


def write_summary(
    options: argparse.Namespace, library: Library, version: str, about: dict[str, Any], found: Found
) -> str:
    """Record a whole run for the page, or write a summary of any run to the folder of `--results`."""
    isa = about["instruction_set"]
    result = {
        "library": library.distribution,
        "library_version": version,
        "module": options.module,
        "module_version": about["version"],
        "instruction_set": isa,
        "total": found.counts(),
        "modules": found.by_module(),
        "source_hash": records.hash_of(options.module, Path(about["package"])),
    }
    lists = {outcome: found.with_reasons(outcome) for outcome in ("failed", "crashed", "hung", "expected")}
    name = f"{library.package}-{options.module}-{isa or 'default'}"
    if options.results is not None:
        kind = "-partial" if options.only or options.k else "-quick" if options.quick else ""
        selection = {"quick": options.quick, "only": options.only, "k": options.k}
        details = {"selection": selection, "complete": not found.trouble, "clean": found.clean(), **lists}
        skipped = {"skipped": found.reasons_counted("skipped"), **records.environment()}
        path = options.results / f"downstream-{name}{kind}.json"
        return report.keep(path, {**result, **details, **skipped})
    if found.trouble or options.quick or options.only or options.k:
        return "a part of a run is not recorded"
    unpassed = {entry["test"]: entry["reason"] for entries in lists.values() for entry in entries}
    return report.record("downstream", name, {**result, "not passed": unpassed})

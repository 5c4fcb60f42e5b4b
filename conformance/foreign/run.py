"""Tests of other projects, run with stride0 in the place of NumPy or of array-api-strict.

    python -m conformance foreign einops               one suite, in an environment that is made for it
    python -m conformance foreign all --page           all of them, and its page

The tests come from the released sdist on PyPI, from the installed wheel, or from a clone at the tag of the
release. `foreign_plugin.py` puts stride0 in. Each failing test must be listed, with its reason, in
`failures.txt`; a listed test that passes is an error, too. Tests that fail by a message of KINDS have its
reason: the results record how many there are of each test function, and more of them are an error.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import stride0
from conformance.foreign.suites import KINDS, SUITES, Suite

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parents[1] / "docs" / "evidence" / "foreign-suites.md"
FAILURES: Final = HERE / "failures.txt"
RESULTS: Final = HERE.parent / "results" / "foreign.json"
BEGIN, END = "<!-- table of conformance foreign -->", "<!-- end of the table -->"


def run(*command: str | Path, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with more environment variables; its output is kept."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def checked(done: subprocess.CompletedProcess[str]) -> None:
    """End with the output of a command that failed."""
    if done.returncode:
        sys.exit(f"{' '.join(done.args)}\n{done.stdout}{done.stderr}")


def fetch(name: str, folder: Path) -> Path:
    """Download the sources of a suite; return the folder in which its tests run."""
    suite = SUITES[name]
    if suite.repository:
        clone, reference = folder / "clone", suite.reference or f"v{suite.version}"
        checked(run("git", "init", "-q", clone))
        checked(run("git", "fetch", "-q", "--depth", "1", suite.repository, reference, cwd=clone))
        checked(run("git", "checkout", "-q", "FETCH_HEAD", cwd=clone))
        return clone / suite.folder
    wanted = f"{name}=={suite.version}"
    # Only the suite is an sdist: the packages that build its metadata may be wheels.
    options = ("-q", "--no-deps", "--no-binary", name, "-d", folder)
    pip = (sys.executable, "-m", "pip", "download", *options, wanted)
    checked(run(*pip))
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / "sdist", filter="data")
    (found,) = (folder / "sdist").iterdir()
    for path, old, new in suite.changes:
        text = (found / path).read_text(encoding="utf-8")
        if old not in text:
            sys.exit(f"{name}: {path} has changed: update SUITES")
        (found / path).write_text(text.replace(old, new, 1) if old else "", encoding="utf-8")
    return found / suite.folder


def environment(suite: Suite, folder: Path, *more: str) -> Path:
    """Make an environment with a suite's requirements, more packages and this stride0; return its Python."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    requirements = ("numpy", "pytest<10", *suite.requirements, *more)
    checked(run(python, "-m", "pip", "install", "-q", *requirements))
    (site_packages(python) / "stride0-under-test.pth").write_text(
        str(Path(stride0.__file__).parents[1]) + "\n", encoding="utf-8"
    )
    return python


def site_packages(python: Path) -> Path:
    """Return the folder of the packages of an environment."""
    return Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())


def outcomes(name: str, folder: Path) -> tuple[dict[str, tuple[str, str]], float]:
    """Run a suite; return outcome and reason of each test, and the seconds that it took."""
    suite, record = SUITES[name], folder / "record"
    python = environment(suite, folder)
    tests = site_packages(python) if suite.installed else fetch(name, folder)
    began = time.monotonic()
    done = run(
        *(python, "-m", "pytest", "-q", "-p", "foreign_plugin", "-p", "no:cacheprovider", "-o", "addopts="),
        *("-W", "default", "--tb=native", "--no-summary", *suite.options, *suite.tests),
        cwd=tests,
        PYTHONPATH=str(HERE),
        PYTHONDONTWRITEBYTECODE="1",
        FOREIGN_SUITE=name,
        FOREIGN_RECORD=str(record),
    )
    if done.returncode not in (0, 1) or not record.exists():
        sys.exit(f"{name}: pytest ends with {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    found: dict[str, tuple[str, str]] = {}
    for line in record.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        # A test may fail after it has passed, when its fixtures end.
        if found.get(event["test"], ("",))[0] != "failed":
            found[event["test"]] = event["outcome"], event["reason"]
    return found, time.monotonic() - began


def listed(name: str) -> dict[str, str]:
    """Return the patterns of tests of a suite that may fail, with the reason."""
    found = {}
    for line in FAILURES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            suite, pattern, reason = (part.strip() for part in line.split("|", 2))
            if suite == name:
                found[pattern] = reason
    return found


def kind_of(name: str, reason: str) -> str | None:
    """Return the reason of KINDS for the message of a failure."""
    return next((text for message, text in KINDS.get(name, ()) if re.search(message, reason)), None)


def judged(
    name: str, found: dict[str, tuple[str, str]], allowed: dict[str, int] | None = None
) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """Return the differences from the list, the failing tests of each reason, and of each function by KINDS.

    `allowed` is the last one of them that is recorded; without it, each number is taken.
    """
    expected = listed(name)
    wrong, counts, functions = [], Counter[str](), Counter[str]()
    for test, (outcome, reason) in found.items():
        if outcome == "failed":
            pattern = next((pattern for pattern in expected if fnmatch.fnmatchcase(test, pattern)), None)
            if pattern is not None:
                counts[expected[pattern]] += 1
            elif kind := kind_of(name, reason):
                counts[kind] += 1
                functions[test.partition("[")[0]] += 1
            else:
                wrong.append(f"FAILED {test}: {reason}")
    for pattern in expected:
        if not any(
            outcome == "failed" and fnmatch.fnmatchcase(test, pattern) for test, (outcome, _) in found.items()
        ):
            wrong.append(f"no failing test is named {pattern}: take the line out of {FAILURES.name}")
    if allowed is not None:
        for function, count in functions.items():
            if count > allowed.get(function, 0):
                wrong.append(f"{count} tests of {function} fail, {allowed.get(function, 0)} are recorded")
    return wrong, dict(counts), dict(functions)


def packed(functions: dict[str, int]) -> dict[str, str]:
    """Return numbers of failing tests by file: a text that names each function."""
    files: dict[str, list[str]] = {}
    for function, count in sorted(functions.items()):
        file, _, rest = function.partition("::")
        files.setdefault(file, []).append(f"{rest} {count}")
    return {file: ", ".join(parts) for file, parts in files.items()}


def unpacked(files: dict[str, str]) -> dict[str, int]:
    """Return the numbers in what `packed` returns."""
    pairs = ((file, part.rpartition(" ")) for file, text in files.items() for part in text.split(", "))
    return {f"{file}::{name}" if name else file: int(count) for file, (name, _, count) in pairs}


def page(results: dict[str, dict[str, object]]) -> str:
    """Return the table of the page."""
    lines = ["| suite | in place of | passed | failed | skipped | reasons |", "|---|---|---:|---:|---:|---|"]
    for name, result in sorted(results.items()):
        reasons = result["reasons"]
        assert isinstance(reasons, dict)
        text = " ".join(f"{count}: {reason}" for reason, count in sorted(reasons.items()))
        lines.append(
            f"| {name} {result['version']} | {SUITES[name].instead_of} | {result['passed']} "
            f"| {result['failed']} | {result['skipped']} | {text} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="+", choices=[*SUITES, "all"], metavar="SUITE")
    parser.add_argument(
        "--folder", type=Path, help="where to make environments; by default a temporary folder"
    )
    parser.add_argument("--page", action="store_true", help="record the results and write the page")
    parser.add_argument(
        "--record-kinds", action="store_true", help="take each number of tests that fail by KINDS"
    )
    options = parser.parse_args(arguments)
    names = list(SUITES) if "all" in options.suites else options.suites
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    failed = False
    for name in names:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            found, seconds = outcomes(name, Path(folder))
        recorded = None if options.record_kinds else unpacked(results.get(name, {}).get("functions", {}))
        wrong, reasons, functions = judged(name, found, recorded)
        counts = Counter(outcome for outcome, _ in found.values())
        skipped = counts["skipped"] + counts["xfailed"]
        summary = f"{counts['passed']} passed, {counts['failed']} failed, {skipped} skipped"
        print(f"{name}: {summary}, {seconds:.0f} s")
        print("".join(f"    {line}\n" for line in wrong), end="")
        failed = failed or bool(wrong)
        results[name] = {
            "version": SUITES[name].version,
            "passed": counts["passed"],
            "failed": counts["failed"],
            "skipped": skipped,
            "reasons": reasons,
            "functions": packed(functions),
        }
    if options.page and not failed:
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n\n{END}{after}", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

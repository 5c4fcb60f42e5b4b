"""Run data-apis/array-api-tests, the official suite of the array API standard, against stride0 or a peer.

    python -m conformance official                               the whole suite, 100 examples a test, seed 0
    python -m conformance official --chapters core --max-examples 20
    python -m conformance official --only test_linalg.py --only test_fft.py::test_rfft --traceback
    python -m conformance official --module array_api_compat.torch    a peer, measured in the same way
    python -m conformance official --api-version draft                the draft of the standard's next version

The suite is cloned once, at a pinned commit, into a cache folder (--cache), unless the environment variable
ARRAY_API_TESTS_DIR names a checkout. Its requirements are in official/requirements.txt. A whole run is
recorded for docs/evidence/conformance.md, unless `--results` names a folder for a full summary. The exit code
is 0 only if nothing failed: 1 is a failed test, 2 a run that could not start.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance import records
from conformance.official import outcomes, report, suite

REQUIRED = {
    "pytest": "pytest",
    "pytest_jsonreport": "pytest-json-report",
    "hypothesis": "hypothesis",
    "ndindex": "ndindex",
}

# Runs in a separate process: the runner never imports the module under test.
_PROBE = """
import importlib, json, os, sys
name = sys.argv[1]
top = importlib.import_module(name.partition(".")[0])
xp = importlib.import_module(name)
def version(module):
    return str(getattr(module, "__version__", "unknown"))
described = version(xp) if hasattr(xp, "__version__") else version(top)
if top.__name__ == "array_api_compat" and xp is not top:
    wrapped = importlib.import_module(name.rpartition(".")[2])
    described = version(wrapped) + " through array_api_compat " + version(top)
print("\\n" + json.dumps({
    "version": described,
    "instruction_set": getattr(xp, "_instruction_set", None),
    "package": os.path.dirname(getattr(top, "__file__", None) or ""),
}))
"""


class CannotRun(Exception):
    """A run that could not start, with what to do about it."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="Arguments after -- go to pytest as they are.",
    )
    add = parser.add_argument
    add("--module", default="stride0", help="array module (default: stride0); also numpy, jax.numpy, ...")
    add("--max-examples", type=int, default=100, metavar="N", help="hypothesis examples for each test")
    add("--seed", type=int, action="append", metavar="N", help="hypothesis seed (repeatable; default 0)")
    draft = "of the standard: the newest one, or its draft as the pinned suite knows it"
    add("--api-version", choices=[suite.VERSION, suite.DRAFT], default=suite.VERSION, help=draft)
    add("--isa", metavar="NAME", help="instruction set of stride0's kernels (sets STRIDE0_ISA)")
    core = "core: without linear algebra, FFT, sorting, sets and DLPack"
    add("--chapters", choices=["all", "core"], default="all", help=core)
    add("--only", action="append", default=[], metavar="TEST", help="file or test id (repeatable)")
    add("-k", default="", metavar="EXPRESSION", help="pytest's -k")
    add("--jobs", type=int, default=1, metavar="N", help="processes (with pytest-xdist; otherwise one)")
    add("--cache", type=Path, default=suite.default_cache(), metavar="DIR", help="where the clone is kept")
    add("--results", type=Path, metavar="DIR", help="write a summary there, and record nothing")
    add("--traceback", action="store_true", help="show the traceback of each failure")
    accept = "where the suite cannot be had, accept a result recorded from these very sources"
    add("--offline-ok", action="store_true", help=accept)
    # Arguments after "--" are removed by hand: argparse would mix them with its own options.
    given = sys.argv[1:] if arguments is None else arguments
    cut = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:cut])
    options.pytest_arguments = given[cut + 1 :]
    if options.max_examples < 1 or options.jobs < 1:
        parser.error("--max-examples and --jobs must be at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    seeds: list[int] = options.seed or [0]
    try:
        check_requirements()
        environment = suite_environment(options.module, options.isa, options.api_version)
        try:
            checkout = suite.checkout(options.cache)
        except suite.SuiteUnavailable as unavailable:
            if not options.offline_ok:
                raise
            return offline(options, seeds, unavailable)
        about = probe(options.module, environment)
        check_instruction_set(options, about)
        failed = [seed for seed in seeds if not run_seed(options, seed, checkout, environment, about)]
    except (CannotRun, suite.SuiteError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    if len(seeds) > 1:
        verdict = f"failures with {failed}" if failed else "no failures"
        print(f"\nseeds {', '.join(map(str, seeds))}: {verdict}")
    return 1 if failed else 0


def check_requirements() -> None:
    missing = [package for module, package in REQUIRED.items() if importlib.util.find_spec(module) is None]
    if missing:
        file = Path(__file__).with_name("requirements.txt").relative_to(records.ROOT)
        raise CannotRun(f"the suite needs {', '.join(missing)}: pip install -r {file}")


def suite_environment(module: str, isa: str | None, version: str = suite.VERSION) -> dict[str, str]:
    environment = dict(os.environ)
    environment["ARRAY_API_TESTS_MODULE"] = module
    environment["ARRAY_API_TESTS_VERSION"] = version
    environment["PYTHONHASHSEED"] = "0"  # the order of sets determines the examples of a seed
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # the checkout stays as it was fetched
    paths = [str(records.ROOT), os.environ.get("PYTHONPATH", "")]  # for the recorder
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    for inherited in ("PYTEST_ADDOPTS", "ARRAY_API_TESTS_XFAIL_MARK"):
        environment.pop(inherited, None)
    if isa:
        environment["STRIDE0_ISA"] = isa
    if module.startswith("jax"):
        environment.setdefault("JAX_ENABLE_X64", "1")  # without it JAX has no 64-bit dtypes to test
    return environment


def probe(module: str, environment: dict[str, str]) -> dict[str, Any]:
    """Version, instruction set and path of the module under test."""
    with tempfile.TemporaryDirectory() as elsewhere:  # where nothing shadows the module
        command = [sys.executable, "-c", _PROBE, module]
        done = subprocess.run(
            command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"the interpreter ended with code {done.returncode}"
        raise CannotRun(f"module {module} cannot be imported: {reason}")
    about: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return about


def check_instruction_set(options: argparse.Namespace, about: dict[str, Any]) -> None:
    actual = about["instruction_set"]
    if options.isa and actual != options.isa:
        raise CannotRun(f"--isa {options.isa} was asked for, but {options.module} says it runs with {actual}")


def run_seed(
    options: argparse.Namespace, seed: int, checkout: Path, environment: dict[str, str], about: dict[str, Any]
) -> bool:
    """Run the suite once, print the table and write the summary; return whether nothing failed."""
    isa = about["instruction_set"]
    print(f"\n{options.module} {about['version']}" + (f" ({isa})" if isa else ""), end="")
    print(f": array-api-tests {suite.COMMIT[:12]}, version {options.api_version}, ", end="")
    print(f"{options.max_examples} examples, seed {seed}, chapters {options.chapters}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        record = Path(temporary) / "outcomes"
        # With a database of examples a run would depend on earlier runs.
        environment = {**environment, "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(temporary) / "hypothesis")}
        command = pytest_command(options, seed, checkout, record, Path(temporary))
        code = subprocess.run(command, cwd=checkout, env=environment, check=False).returncode
        found = outcomes.read_record(record)
    seconds = time.monotonic() - began

    problem = trouble(code, found)
    if found.by_test:
        print("\n" + records.columns("chapter", found.chapters(), found.counts(), outcomes.OUTCOMES))
    for outcome in ("failed", "xfailed", "skipped"):
        entries = found.with_reasons(outcome)
        if entries:
            print(f"\n{outcome}:")
        for entry in entries:
            print(f"  {entry['test'].removeprefix('array_api_tests/')}\n      {entry['reason']}")
    if problem:
        print(f"\n{problem}")
    if found.by_test:
        written = write_summary(options, seed, about, found, problem)
        print(f"\n{seconds:.0f} s; {written}", flush=True)
    return not problem and not found.of("failed")


def pytest_command(
    options: argparse.Namespace, seed: int, checkout: Path, record: Path, temporary: Path
) -> list[str]:
    nothing = temporary / "nothing"
    nothing.touch()
    # The list of expected failures is for stride0 only.
    xfails = records.ROOT / "conformance" / "xfails.txt" if options.module == "stride0" else nothing
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "conformance.official.recorder",
        "-p",
        "no:cacheprovider",
    ]
    command += ["--rootdir", str(checkout), "-c", str(checkout / "pytest.ini")]
    command += ["--record", str(record), "--chapters", options.chapters]
    command += [f"--max-examples={options.max_examples}", f"--hypothesis-seed={seed}", "--disable-deadline"]
    command += ["--xfails-file", str(xfails), "--skips-file", str(nothing)]
    command += ["--quiet", "--no-header", "--disable-warnings"]
    command += ["--tb=short"] if options.traceback else ["--tb=no", "--no-summary"]
    if options.k:
        command += ["-k", options.k]
    if options.jobs > 1:
        if importlib.util.find_spec("xdist") is None:
            print("note: pytest-xdist is not installed, so this runs in one process")
        else:
            command += ["-n", str(options.jobs)]
    tests = [test_path(checkout, test) for test in options.only or [""]]
    return [*command, *options.pytest_arguments, *tests]


def test_path(checkout: Path, test: str) -> str:
    """`test_fft.py::test_rfft`, with or without the folder, as pytest wants it."""
    test = test.removeprefix("array_api_tests/")
    file = test.partition("::")[0]
    if not (checkout / "array_api_tests" / file).exists():
        known = ", ".join(sorted(path.name for path in (checkout / "array_api_tests").glob("test_*.py")))
        raise CannotRun(f"the suite has no file {file}; it has {known}")
    return f"array_api_tests/{test}"


def trouble(code: int, found: outcomes.Outcomes) -> str:
    """Return what is wrong with the run itself, apart from failed tests; "" if it was complete."""
    if code < 0:
        return f"the process was ended by signal {-code} in {found.unfinished or 'no test in particular'}"
    if code not in (0, 1):
        meaning = {2: "interrupted or no collection", 3: "internal error", 4: "usage", 5: "no tests found"}
        return f"pytest ended with code {code} ({meaning.get(code, 'unknown')}), which is a failed run"
    if not found.by_test:
        return "no outcomes were recorded"
    if code == 1 and not found.of("failed"):
        return "pytest reports failures that were not recorded"
    return ""


def write_summary(
    options: argparse.Namespace, seed: int, about: dict[str, Any], found: outcomes.Outcomes, problem: str
) -> str:
    """Record a whole run for the page, or write a summary of any run to the folder of `--results`."""
    selection = {"chapters": options.chapters, "only": options.only, "k": options.k}
    version, isa = options.api_version, about["instruction_set"]
    run = {
        "suite": suite.judge(version),
        "module": options.module,
        "module_version": about["version"],
        "instruction_set": isa,
        "examples": options.max_examples,
        "seed": seed,
        "total": found.counts(),
        "source_hash": records.hash_of(options.module, Path(about["package"])),
    }
    name = outcomes.file_name(options.module, isa, options.max_examples, seed, selection, version)
    if options.results is not None:
        details = {outcome: found.with_reasons(outcome) for outcome in ("failed", "skipped", "xfailed")}
        content = {
            **run,
            "selection": selection,
            "complete": not problem,
            "chapters": found.chapters(),
            **details,
        }
        return report.keep(options.results / f"{name}.json", {**content, **records.environment()})
    if problem or selection != {"chapters": "all", "only": [], "k": ""}:
        return "a part of a run is not recorded"
    skipped = {entry["test"]: entry["reason"] for entry in found.with_reasons("skipped")}
    failed = {chapter: counts["failed"] for chapter, counts in found.chapters().items()}
    return report.record("official", name, {**run, "failed": failed, "skipped": skipped})


def offline(options: argparse.Namespace, seeds: list[int], unavailable: Exception) -> int:
    """The suite is unavailable: report it, and accept only results recorded for these sources."""
    bar = "!" * 100
    print(f"{bar}\n!!  THE OFFICIAL SUITE DID NOT RUN: it is neither in the cache nor to be had from GitHub.")
    print(f"!!  {' '.join(str(unavailable).split())}\n{bar}")
    if options.only or options.k:
        print("recorded results are of whole chapters, so none can stand for --only or -k")
        return 2
    for seed in seeds:
        names = outcomes.recorded(
            options.module,
            options.isa,
            options.max_examples,
            seed,
            suite.judge(options.api_version),
        )
        if not names:
            wanted = f"{options.module}, {options.max_examples} examples or more, seed {seed}"
            wanted += f", {options.isa}" if options.isa else ""
            print(f"no result without failures is recorded from these very sources for {wanted}")
            return 2
        print(f"accepted in its stead, recorded from these very sources: {', '.join(names)}")
    return 0

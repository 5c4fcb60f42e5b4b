"""The commands of `spin`: one word for what a contributor does often; `spin` alone lists them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
from spin.cmds import util

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / ".ci"))

from pythons import candidates, pythons  # noqa: E402 - its folder is no package

PYTHON = sys.executable
MINORS = (11, 12, 13, 14)  # of Python 3, as the classifiers of pyproject.toml say
SHOWN = ("test_docs", "test_site", "test_broadcasting_guide", "test_testing_guide", "test_accuracy_page")
# Options that a command does not know go to the program that it runs.
PASSES_ON = {"ignore_unknown_options": True, "help_option_names": ["-h"]}


def passes_on(command: click.Command) -> click.Command:
    """Give a command what follows it on the command line."""
    command.params.append(click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED))
    return command


@click.command()
def build() -> None:
    """Build stride0 into this environment; the build follows the sources from then on."""
    util.run([PYTHON, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--editable", str(ROOT)])


@passes_on
@click.command(context_settings=PASSES_ON)
def test(arguments: Sequence[str]) -> None:
    """Run the quick tests, or those that pytest's ARGUMENTS select; `--full` for all."""
    util.run([PYTHON, "-m", "pytest", *arguments], cwd=str(ROOT))


@click.command()
def lint() -> None:
    """Check style and types, as .ci/run does."""
    commands = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy", "--strict", "-p", "stride0"),
        ("mypy", "--strict", "conformance", "examples"),
        ("pytest", "-q", "tests/project/test_typing.py"),
    )
    for command in commands:
        util.run([PYTHON, "-m", *command], cwd=str(ROOT))


@passes_on
@click.command(context_settings=PASSES_ON)
def bench(arguments: Sequence[str]) -> None:
    """Compare with NumPy, and with what else is installed; benchmarks/README.md has the ARGUMENTS."""
    util.run([PYTHON, "-m", "benchmarks", "compare", *arguments], cwd=str(ROOT))


@click.command()
def docs() -> None:
    """Run what the documentation shows, follow its links, compare its tables with the sources."""
    tests = [f"tests/project/{name}.py" for name in SHOWN]
    util.run([PYTHON, "-m", "pytest", "-q", *tests], cwd=str(ROOT))


@click.command()
@click.option("--output", default="build/site", show_default=True, help="Folder for the pages.")
def site(output: str) -> None:
    """Build the site of the documentation, and check its links; needs the extra `docs`."""
    strictly = ("-W", "--keep-going", "-q", "-d", f"{output}-doctrees")
    util.run([PYTHON, "-m", "sphinx", *strictly, str(ROOT / "docs"), output])
    util.run([PYTHON, str(ROOT / "docs" / "_ext" / "check.py"), output])


@click.command()
@click.option("--output", default="dist", show_default=True, help="Folder for both.")
def wheel(output: str) -> None:
    """Build the sdist, and a wheel from it, and check their metadata; needs `build` and `twine`."""
    all_sets = "-Csetup-args=-Dinstruction_sets=all"
    util.run([PYTHON, "-m", "build", all_sets, "--outdir", output, str(ROOT)])
    files = sorted(str(path) for pattern in ("*.tar.gz", "*.whl") for path in Path(output).glob(pattern))
    util.run([PYTHON, "-m", "twine", "check", "--strict", *files])


@passes_on
@click.command(context_settings=PASSES_ON)
@click.option("--python", multiple=True, type=click.Path(path_type=Path), help="One more interpreter.")
@click.option("--only", multiple=True, type=click.Choice([f"3.{m}" for m in MINORS]), help="A version.")
def all_pythons(arguments: Sequence[str], python: Sequence[Path], only: Sequence[str]) -> None:
    """Build and test on each supported Python that is found; ARGUMENTS go to pytest."""
    found = pythons([*python, *candidates()])
    verdicts: dict[int, str] = {}
    for minor in MINORS:
        if only and f"3.{minor}" not in only:
            continue
        if minor not in found:
            verdicts[minor] = "NOT RUN: there is none here"
            continue
        with tempfile.TemporaryDirectory() as folder:
            inside = str(Path(folder, "bin", "python"))
            steps = (
                [str(found[minor]), "-m", "venv", folder],
                [inside, "-m", "pip", "install", "--quiet", f"{ROOT}[test]"],
                [inside, "-m", "pytest", "-q", "--full", *arguments],
            )
            codes = (util.run(step, cwd=str(ROOT), sys_exit=False).returncode for step in steps)
            verdicts[minor] = "FAILED" if any(codes) else "passed"
    for minor, verdict in verdicts.items():
        click.echo(f"3.{minor}  {verdict}")
    if "FAILED" in verdicts.values() or "passed" not in verdicts.values():
        sys.exit(1)

"""mypy --strict and pyright, run over uses of the package and over the examples.

tests/support/typing_use.py states what they must infer and refuse. Array protocols of other projects are
checked where those projects are installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import stride0

ROOT = Path(__file__).resolve().parents[2]
USE = ROOT / "tests" / "support" / "typing_use.py"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Imported by the examples. If one is missing, the checkers lack its types.
OF_EXAMPLES = ("matplotlib", "scipy", "sklearn", "tqdm")

PACKAGE = Path(stride0.__file__).resolve().parent
# The folder of the imported package has the files that a checker reads, also without an installation.
FOLDER = Path(stride0.__file__).parent.parent


def needs(*modules: str) -> None:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"this needs {', '.join(missing)}: pip install {' '.join(missing)}")


def outside_site_packages() -> bool:
    return FOLDER not in {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def mypy(cache: Path, *arguments: str | Path) -> tuple[int, str]:
    """Run mypy --strict with this repository's settings; return its exit code and its output."""
    needs("mypy")
    environment = dict(os.environ)
    # mypy finds installed packages, and refuses to get their paths.
    environment["MYPYPATH"] = str(FOLDER) if outside_site_packages() else ""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "--no-error-summary"]
    command += ["--config-file", str(ROOT / "pyproject.toml"), "--show-error-codes"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cache,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout


def pyright(folder: Path, files: list[Path], mode: str) -> list[str]:
    """Run pyright over copies of `files` in an otherwise empty folder; its errors, one line each."""
    needs("pyright")
    for file in files:
        shutil.copy(file, folder)
    settings = {
        "typeCheckingMode": mode,
        "pythonVersion": "3.11",
        "include": ["*.py"],
        "extraPaths": [str(FOLDER)] if outside_site_packages() else [],
        # Imports of an optional step need not be installed. Types of libraries without annotations are not
        # inferred from sources: that takes long and reports false errors.
        "reportMissingImports": "none",
        "useLibraryCodeForTypes": False,
        # The `type: ignore` comments name mypy's codes, which pyright does not know.
        "enableTypeIgnoreComments": True,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    try:
        said = json.loads(done.stdout)
    except ValueError:
        # Its wheel fetches the program itself, and Node, when it is first used.
        pytest.skip(f"pyright does not run here: {(done.stderr or done.stdout).strip()[-300:]}")
    assert said["summary"]["filesAnalyzed"] == len(files)
    return [
        f"{Path(found['file']).name}:{found['range']['start']['line'] + 1}: {found['message']}"
        for found in said["generalDiagnostics"]
        if found["severity"] == "error"
    ]


def test_the_package_says_that_it_is_typed() -> None:
    assert (FOLDER / "stride0" / "py.typed").is_file()


def test_use_is_as_mypy_infers(cache: Path) -> None:
    code, said = mypy(cache, USE)
    assert code == 0, said


def test_mypy_notices_mistakes(cache: Path) -> None:
    # If all names of the package were `Any`, checkers would accept these mistakes, and the uses above.
    wrong = cache / "wrong.py"
    wrong.write_text(
        "import stride0 as xp\nx: int = xp.ones(3)\ny = xp.sin('text')\nz: str = xp.ones(3).shape\n"
    )
    code, said = mypy(cache, wrong)
    assert code == 1
    assert [line.rsplit("[", 1)[1] for line in said.splitlines() if ": error: " in line] == [
        "assignment]",
        "arg-type]",
        "assignment]",
    ], said


def test_examples_pass_mypy(cache: Path) -> None:
    needs(*OF_EXAMPLES)
    code, said = mypy(cache, *EXAMPLES)
    assert code == 0, said


def test_use_is_as_pyright_infers(tmp_path: Path) -> None:
    assert pyright(tmp_path, [USE], "strict") == []


def test_examples_pass_pyright(tmp_path: Path) -> None:
    needs(*OF_EXAMPLES)
    assert pyright(tmp_path, EXAMPLES, "standard") == []


def test_use_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(USE)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "broadcast" in done.stdout


# Protocols of other projects -----------------------------------------------------------------------------

ARRAY_API_TYPING = """
import array_api_typing as xpt
import stride0 as xp

array: xpt.Array[xp.DType] = xp.ones(3)
namespace: xpt.HasArrayNamespace = xp.ones(3)
dtype: xpt.HasDType[xp.DType] = xp.ones(3)
"""
# Copies of array-api-typing's protocols, used while its only release on PyPI is a file that raises at import.
IN_OUR_WORDS = """
from typing import Any, Literal, Protocol

from typing_extensions import TypeVar

Namespace = TypeVar("Namespace", covariant=True, default=Any)
DTypeOf = TypeVar("DTypeOf", covariant=True)
Version = Literal["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"]


class HasArrayNamespace(Protocol[Namespace]):
    def __array_namespace__(self, /, *, api_version: Version | None = None) -> Namespace: ...


class HasDType(Protocol[DTypeOf]):
    @property
    def dtype(self, /) -> DTypeOf: ...


class Array(HasArrayNamespace[Any], HasDType[DTypeOf], Protocol[DTypeOf]): ...
"""
TYPES_ARRAY_API = """
from array_api._2024_12 import Array

import stride0 as xp

array: Array[xp.DType, xp.Device] = xp.ones(3)
"""


def satisfied(cache: Path, name: str, program: str, *options: str) -> None:
    file = cache / f"protocols_{name}.py"
    file.write_text(program)
    code, said = mypy(cache, "--follow-imports", "silent", *options, file)
    assert code == 0, said


def test_protocols_of_array_api_typing(cache: Path) -> None:
    spec = importlib.util.find_spec("array_api_typing")
    if spec is None or not spec.submodule_search_locations:
        (cache / "array_api_typing.py").write_text(IN_OUR_WORDS)
    satisfied(cache, "array_api_typing", ARRAY_API_TYPING)
    wrong = cache / "no_array.py"
    wrong.write_text(ARRAY_API_TYPING.replace("xp.ones(3)", "object()"))
    code, said = mypy(cache, "--follow-imports", "silent", wrong)
    assert code == 1 and said.count("[assignment]") == 3, said


def test_protocols_of_types_array_api(cache: Path) -> None:
    if importlib.util.find_spec("array_api") is None:
        pytest.skip("types-array-api is not installed: pip install types-array-api")
    # Its classes are written in the syntax of Python 3.12.
    satisfied(cache, "types_array_api", TYPES_ARRAY_API, "--python-version", "3.13")

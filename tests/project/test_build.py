"""The build: a wheel is built once for the same sources; sizes and units agree with the tables."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from stride0._tables import dtypes, operations

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "src" / "stride0" / "_core" / "generators"


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that builds a wheel in a small tree, and the list of builds requested of meson-python."""
    asked: list[Any] = []

    def build_wheel(folder: str, settings: Any = None, metadata: Any = None) -> str:
        asked.append(settings)
        Path(folder, "one-1.whl").write_text(Path("src/one.c").read_text())
        return "one-1.whl"

    fake = types.ModuleType("mesonpy")
    fake.__dict__.update(build_editable=None, build_sdist=None, build_wheel=build_wheel)
    monkeypatch.setitem(sys.modules, "mesonpy", fake)
    spec = importlib.util.spec_from_file_location("backend", ROOT / ".ci" / "backend.py")
    assert spec is not None and spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.c").write_text("1")
    monkeypatch.chdir(tmp_path)

    def build(settings: Any = None) -> str:
        folder = tmp_path / "out"
        folder.mkdir(exist_ok=True)
        return (folder / backend.build_wheel(str(folder), settings)).read_text()

    return build, asked


def test_built_once(builds: Any) -> None:
    build, asked = builds
    assert [build(), build()] == ["1", "1"]
    assert len(asked) == 1


def test_built_again_after_a_change(builds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    build, asked = builds
    build()
    Path("src/one.c").write_text("2")
    assert build() == "2"
    build({"setup-args": "-Dwerror=true"})
    monkeypatch.setenv("CFLAGS", "-g")
    build()
    Path("src/two.h").write_text("")
    build()
    assert len(asked) == 5
    build()
    assert len(asked) == 5
    assert len(list(Path("build/wheels").iterdir())) == 4


def test_sources_that_cannot_be_written_to(builds: Any) -> None:
    build, asked = builds
    Path("build").write_text("in the way")
    assert [build(), build()] == ["1", "1"]
    assert len(asked) == 2


def test_sizes(tmp_path: Path) -> None:
    targets = [tmp_path / name for name in ("sizes.h", "dtypes.h", "dtype.pyi")]
    subprocess.run([sys.executable, BUILD / "sizes.py", *targets], check=True)
    lines = (tmp_path / "sizes.h").read_text().splitlines()
    sizes = {line.split()[1]: int(line.split()[2]) for line in lines}
    assert sizes["S0_DTYPES"] == len(dtypes.ROWS)
    assert sizes["S0_OPS"] == len(operations.OPS)
    assert sizes["S0_REDUCTIONS"] == len(operations.REDUCTIONS)
    codes = targets[1].read_text()
    for code, row in enumerate(dtypes.ROWS):
        assert f"    S0_{row.name.upper()} = {code},\n" in codes


def test_units_are_what_meson_compiles(tmp_path: Path) -> None:
    """The generator and `meson.build` have the same names; otherwise the build fails at once."""
    text = (BUILD.parent / "meson.build").read_text()
    names = [
        name.strip(" '")
        for line in text.splitlines()
        if line.startswith(("vector_units", "common_units"))
        for name in line.partition("[")[2].rstrip("]").split(",")
    ]
    targets = [tmp_path / f"{name}.c" for name in names]
    subprocess.run([sys.executable, BUILD / "kernels.py", *targets], check=True)
    for name, target in zip(names, targets, strict=True):
        assert f"void s0_fill_{name}(s0_kernels *table)" in target.read_text()


def test_every_python_file_and_stub_is_installed() -> None:
    """`meson.build` lists all files of the tree: an editable build would find a file that a wheel lacks."""
    package = BUILD.parents[1]
    folders = ast.literal_eval(
        (package / "meson.build").read_text().partition("python_sources = ")[2].partition("\n}")[0] + "\n}"
    )
    listed = {
        f"{folder}/{name}".lstrip("/") for folder in folders for name in [*folders[folder], "__init__.py"]
    }
    there = [*package.rglob("*.py"), *package.rglob("*.pyi"), package / "py.typed"]
    generators = package / "_core" / "generators"
    found = {path.relative_to(package).as_posix() for path in there if generators not in path.parents}
    # The build makes these; an editable build puts them into the tree.
    assert found - {"_version.py", "special/_ufuncs.py"} == listed

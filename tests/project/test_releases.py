"""The files for a release agree: workflows, metadata, commands of `spin`."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEXT = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]


def test_workflows_are_those_of_a_release() -> None:
    assert set(TEXT) == {"release.yml", "site.yml", "tests.yml", "wheels.yml"}


@pytest.mark.parametrize("name", TEXT)
def test_actions_are_pinned_and_no_secret_is_named(name: str) -> None:
    uses = re.findall(r"^ *(?:- )?uses: *(.*)$", TEXT[name], re.MULTILINE)
    assert uses
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [use for use in uses if not use.startswith("./") and not pinned.fullmatch(use)] == []
    assert "secrets" not in TEXT[name]
    assert re.search(r"^permissions:\n  contents: read\n\n", TEXT[name], re.MULTILINE)
    # Only the jobs that upload have more than read permission.
    assert TEXT[name].count(": write") == {"release.yml": 1, "site.yml": 2}.get(name, 0)


def test_one_action_has_one_version() -> None:
    found: dict[str, set[str]] = {}
    for text in TEXT.values():
        for action, version in re.findall(r"uses: ([\w./-]+)@(\S+ # \S+)", text):
            found.setdefault(action, set()).add(version)
    assert {action: versions for action, versions in found.items() if len(versions) > 1} == {}


def test_versions_of_python() -> None:
    project = PYPROJECT["project"]
    classified = re.findall(r":: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert classified == VERSIONS
    assert project["requires-python"] == f">={VERSIONS[0]}"
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    # And the newest free-threaded one.
    names = [version.replace(".", "") for version in (*VERSIONS, f"{VERSIONS[-1]}t")]
    assert built == [f"cp{name}-*" for name in names]
    tested = re.findall(r'"(3\.\d+)"', TEXT["tests.yml"])
    assert sorted(set(tested)) == VERSIONS


def test_version_of_the_citation() -> None:
    build, citation = ROOT / "meson.build", ROOT / ".github" / "CITATION.cff"
    version = re.findall(r"^  version: '(\S+)'", build.read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.findall(r"^version: (\S+)$", citation.read_text(encoding="utf-8"), re.MULTILINE)
    assert cited == version


@pytest.fixture(scope="module")
def commands() -> Any:
    pytest.importorskip("spin")
    spec = importlib.util.spec_from_file_location("commands", ROOT / ".spin" / "cmds.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_commands_are_there(commands: Any) -> None:
    listed = PYPROJECT["tool"]["spin"]["commands"]
    names = [name.partition(":") for names in listed.values() for name in names]
    assert {file for file, _, _ in names} == {".spin/cmds.py"}
    assert {name for _, _, name in names} == {
        name for name, value in vars(commands).items() if hasattr(value, "callback")
    }


def test_pythons_are_found(commands: Any, tmp_path: Path) -> None:
    assert [f"3.{minor}" for minor in commands.MINORS] == VERSIONS
    folder = tmp_path / "with space"
    folder.mkdir()

    def interpreter(name: str, answer: str) -> Path:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{answer}\n", encoding="ascii")
        file.chmod(0o755)
        return file

    old = interpreter("python2.7", "echo cpython 2 7 /old/python")
    pypy = interpreter("python3.11", "echo pypy 3 11 /pypy/python")
    broken = interpreter("python3.12", "exit 127")
    first = interpreter("python3.13", "echo cpython 3 13 /a folder/python")
    second = interpreter("python3.13.1", "echo cpython 3 13 /other/python")
    found = commands.pythons([folder / "missing", old, pypy, broken, first, second])
    assert found == {13: Path("/a folder/python")}
    here = commands.pythons([Path(sys.executable)])
    if sys.implementation.name == "cpython":
        assert list(here) == [sys.version_info[1]]


def test_a_command_passes_on_what_it_does_not_know(commands: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []
    monkeypatch.setattr(commands.util, "run", lambda command, **settings: ran.append(command))
    commands.test.main(["tests/core", "-k", "sum", "--lf"], standalone_mode=False)
    assert ran == [[sys.executable, "-m", "pytest", "tests/core", "-k", "sum", "--lf"]]


def test_all_pythons(commands: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """Each version gets a verdict; a failure is an error, and so is a run without versions."""
    monkeypatch.setattr(commands, "candidates", list)
    monkeypatch.setattr(commands, "pythons", lambda found: {12: Path("/twelve"), 13: Path("/thirteen")})
    failing = ""

    def run(command: list[str], **settings: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, int(failing == command[0]))

    monkeypatch.setattr(commands.util, "run", run)
    commands.all_pythons.main([], standalone_mode=False)
    assert capfd.readouterr().out.splitlines() == [
        *("3.11  NOT RUN: there is none here", "3.12  passed", "3.13  passed"),
        "3.14  NOT RUN: there is none here",
    ]
    failing = "/thirteen"
    with pytest.raises(SystemExit):
        commands.all_pythons.main(["--only", "3.12", "--only", "3.13"], standalone_mode=False)
    assert capfd.readouterr().out.splitlines() == ["3.12  passed", "3.13  FAILED"]
    with pytest.raises(SystemExit):
        commands.all_pythons.main(["--only", "3.14"], standalone_mode=False)

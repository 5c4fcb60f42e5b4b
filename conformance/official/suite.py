"""Where the official suite comes from: one pinned commit, cloned once into a cache, verified at every use."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

URL = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
COMMIT_DATE = "2026-04-03"
VERSION = "2025.12"
DRAFT = "draft"
"""The text of the next version, as the pinned commit has it."""
CHECKOUT_VARIABLE = "ARRAY_API_TESTS_DIR"

_CLONE_SECONDS = 300


def judge(version: str = VERSION) -> str:
    """The sources that a result belongs to."""
    return f"{COMMIT}, version {version}"


class SuiteError(Exception):
    """The suite is not at the pinned commit."""


class SuiteUnavailable(SuiteError):
    """The suite is neither in the cache nor available from GitHub."""


def default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "stride0"


def checkout(cache: Path) -> Path:
    """The folder of a verified checkout: the one the environment names, or the cached one."""
    named = os.environ.get(CHECKOUT_VARIABLE)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise SuiteError(f"{CHECKOUT_VARIABLE} names {folder}, which is not a folder")
    else:
        folder = cache / f"array-api-tests-{COMMIT[:12]}"
        if not folder.is_dir():
            _clone(folder)
    verify(folder)
    return folder.resolve()


def verify(folder: Path) -> None:
    """Raise SuiteError unless `folder` is the pinned commit, unmodified, its submodule too."""
    if not (folder / ".git").exists():
        # Otherwise git would report on a repository that encloses the folder.
        raise SuiteError(f"{folder} is not a git checkout of {URL}, so its commit cannot be verified")
    try:
        head = _git(folder, "rev-parse", "HEAD").strip()
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no").strip()
        submodules = _git(folder, "submodule", "status").splitlines()
    except _GitError as error:
        raise SuiteError(f"{folder} cannot be verified: {error}") from None
    if head != COMMIT:
        raise SuiteError(f"{folder} is at commit {head}, not at the pinned {COMMIT}")
    # A line begins with "-" where a submodule is missing, with "+" where it has another commit.
    wrong = [line.strip() for line in submodules if not line.startswith(" ")]
    if wrong:
        raise SuiteError(f"{folder}: submodule missing or at another commit ({'; '.join(wrong)})")
    if changed:
        raise SuiteError(f"{folder} differs from the pinned commit:\n{changed}")


def _clone(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching {URL} at {COMMIT[:12]} ({COMMIT_DATE}) into {folder}", flush=True)
    # Cloned next to its final path and renamed when complete: an interrupted fetch leaves no incomplete
    # checkout.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as temporary:
        clone = Path(temporary) / "suite"
        try:
            _git(None, "clone", "--quiet", "--no-checkout", URL, str(clone))
            _git(clone, "checkout", "--quiet", "--detach", COMMIT)
            _git(clone, "submodule", "--quiet", "update", "--init")
        except _GitError as error:
            raise SuiteUnavailable(f"the suite could not be fetched from {URL}: {error}") from None
        try:
            clone.rename(folder)
        except OSError:
            if not folder.is_dir():  # another run may have been faster: use its checkout
                raise


class _GitError(Exception):
    pass


def _git(folder: Path | None, *arguments: str) -> str:
    if shutil.which("git") is None:
        raise _GitError("git is not installed")
    # Inside a git hook GIT_DIR and its like would redirect every command to the repository of the hook.
    redirecting = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"}
    environment = {name: value for name, value in os.environ.items() if name not in redirecting}
    environment["GIT_TERMINAL_PROMPT"] = "0"
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_CLONE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _GitError(f"git {arguments[0]} took longer than {_CLONE_SECONDS} s") from None
    if done.returncode != 0:
        raise _GitError(f"git {arguments[0]}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout

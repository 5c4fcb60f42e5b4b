"""A pytest plugin: the fixture `xp` gives stride0 in several configurations, one after another.

With ``STRIDE0_AS_ARRAY_API_STRICT=1`` it imports the package, which then replaces array-api-strict.

It is next to the package, not inside, because pytest imports plugins at its start. Tests that do not use the
fixture should not pay for importing stride0.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

# Arguments of `stride0.testing.flags`, by name of configuration.
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "strict": {"strict": True, "strict_names": True},
    "devices": {"devices": ("virtual", "other", "cpu")},
    "float32": {"default_float": "float32", "default_int": "int32", "float64": False},
    "readonly": {"writable": False},
    "static-shapes": {"data_dependent_shapes": False, "boolean_indexing": False},
    "mixed-devices": {
        "devices": {"virtual": {"float64": False, "dlpack": (2, 0)}, "other": {"dlpack": (2, 1)}, "cpu": {}}
    },
    "no-x64": {"float64": False, "int64": False},
    "lazy": {"lazy": True},
    "copies": {"views": False},
    "shuffled": {"shuffled": True},
    "bare": {"extensions": (), "strict_names": True},
    "2022.12": {"api_version": "2022.12"},
    "2023.12": {"api_version": "2023.12"},
    "2024.12": {"api_version": "2024.12"},
}
# Marks of SciPy's tests that tests of other libraries have, too.
ARGUMENTS = "(*backends, reason=..., np_only=, cpu_only=, eager_only=, exceptions=): as in SciPy's tests"
SCIPYS_MARKS = {
    "skip_xp_backends": ARGUMENTS,
    "xfail_xp_backends": ARGUMENTS,
    "array_api_backends": ": as in SciPy's tests",
}
CHOSEN = ("default", "strict", "devices", "float32", "readonly", "static-shapes")

if os.environ.get("STRIDE0_AS_ARRAY_API_STRICT"):
    import stride0  # noqa: F401 - before conftest.py imports array_api_strict

KEY = pytest.StashKey[dict[str, dict[str, Any]]]()
ALL = pytest.StashKey[tuple[str, ...]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("stride0")
    described = "configurations in which the fixture xp gives stride0, separated by commas; 'all' for all"
    group.addoption("--xp-configs", metavar="NAMES", help=described)
    parser.addini(
        "xp_configs",
        type="linelist",
        help="the same, one a line; 'name: flag=value, ...' makes one of flags of stride0.testing.flags",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "xp_skip(*names, reason=...): leave out the test in these configurations of the fixture xp"
    )
    config.addinivalue_line(
        "markers", "xp_only(*names, reason=...): run the test only in these configurations of the fixture xp"
    )
    known = dict(CONFIGURATIONS)
    for name, described in SCIPYS_MARKS.items():
        config.addinivalue_line("markers", f"{name}{described}")
    listed = []
    for line in config.getini("xp_configs"):
        name, made, settings = line.partition(":")
        if made:
            known[name.strip()] = parse(name.strip(), settings)
            check_flags(name.strip(), known[name.strip()])
        listed.append(name.strip())
    given = config.getoption("--xp-configs")
    if given == "all":
        chosen = list(known)
    else:
        chosen = [name.strip() for name in given.split(",")] if given else listed or list(CHOSEN)
    for name in chosen:
        check_name(name, known)
    config.stash[KEY] = {name: known[name] for name in chosen}
    config.stash[ALL] = tuple(known)


def parse(name: str, settings: str) -> dict[str, Any]:
    """Parse the settings after the colon of a line: ``writable=False, devices=("a", "cpu")``."""
    try:
        call = ast.parse(f"flags({settings})", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, AssertionError):
        raise pytest.UsageError(
            f"xp_configs: {name}: {settings.strip()!r} is not of the form flag=value, flag=value"
        ) from None


def check_flags(name: str, settings: dict[str, Any]) -> None:
    # Users with their own configurations use the fixture, so the package may be imported now.
    from stride0.testing import flags

    try:
        flags(**settings)
    except (TypeError, ValueError) as error:
        problem = str(error).splitlines()[0]
        raise pytest.UsageError(f"xp_configs: {name}: {problem}") from None


def check_name(name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise pytest.UsageError(f"xp_configs: there is no configuration {name!r}, but {', '.join(known)}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # With a user's own fixture `xp`, nothing requests this one.
    if "xp_config" in metafunc.fixturenames:
        chosen = metafunc.config.stash[KEY]
        metafunc.parametrize("xp_config", list(chosen), indirect=True)


@pytest.fixture
def xp_config(request: pytest.FixtureRequest) -> str:
    """Name of the configuration of the fixture xp."""
    name: str = request.param
    known = request.config.stash[ALL]
    for marker, leaves_out in (("xp_skip", True), ("xp_only", False)):
        for mark in request.node.iter_markers(marker):
            if not mark.args:
                raise pytest.UsageError(f"{marker}: no configuration is named")
            for given in mark.args:
                check_name(given, known)
            if (name in mark.args) is leaves_out:
                reason = mark.kwargs.get("reason", "")
                pytest.skip(f"{marker}: {reason}" if reason else f"{marker}({name!r})")
    settings = request.config.stash[KEY][name]
    for mark in request.node.iter_markers("skip_xp_backends"):
        if (reason := why_not(mark, settings)) is not None:
            pytest.skip(f"skip_xp_backends: {reason}")
    for mark in request.node.iter_markers("xfail_xp_backends"):
        if (reason := why_not(mark, settings)) is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    return name


def why_not(mark: pytest.Mark, settings: dict[str, Any]) -> str | None:
    """Return why a mark of SciPy's tests excludes stride0 in a configuration, or None."""
    given = mark.kwargs
    if "stride0" in mark.args:
        return str(given.get("reason") or "stride0")
    if "stride0" in (given.get("exceptions") or ()):
        return None
    default_device = next(iter(settings.get("devices", ("cpu",))))
    left_out = {
        "np_only": True,
        "cpu_only": default_device != "cpu",
        "eager_only": settings.get("lazy", False),
    }
    found = [word for word, holds in left_out.items() if given.get(word) and holds]
    return str(given.get("reason") or found[0]) if found else None


@pytest.fixture
def xp(xp_config: str, request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """stride0, in the configuration `xp_config`; in every thread, until the test has ended."""
    import stride0
    from stride0.testing import flags

    with flags(**request.config.stash[KEY][xp_config], everywhere=True):
        yield stride0

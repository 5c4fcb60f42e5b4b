"""Which library catches which portability bug: real fixes of other projects, each reduced to a few lines.

    python -m conformance portability                   run the cases on each library that is installed
    python -m conformance portability --record          and write the outcomes and the page
    python -m conformance portability --missed stride0  list the cases that a library does not catch

A case in `cases` cites a fix. It has the code before the fix (-), after it (+) and in both versions (two
spaces), and the check of a test (?). ``!`` names configurations without the features that the fixed code
needs, and ``~`` says why stride0 does not catch the bug.

A case runs in each configuration of a library. The library catches the bug if, in one of them, the code
before the fix raises an error or fails its check, and the fixed code passes. NumPy passes all code.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from conformance import records
from conformance.strictness.run import (
    LIBRARIES,
    PEERS,
    STRICT,
    STRIDE0,
    Library,
    Stride0,
    may_record,
    options_of,
    report,
)

CASES = Path(__file__).with_name("cases")
RECORD = records.RESULTS / "portability.json"
NUMPY = PEERS[1]
FLOAT32 = "float32-default"
SETTINGS = Stride0.SETTINGS | {FLOAT32: {"default_float": "float32"}}
# The configurations in which each case runs; other libraries have one.
CONFIGURATIONS: dict[str, tuple[str, ...]] = {
    STRIDE0.name: (
        *("strict", "devices", "float32-device", "no-x64", FLOAT32, "lazy", "static-shapes"),
        *("readonly", "copies", "shuffled"),
    ),
    STRICT.name: ("strict", "devices", "float32-device", "no-x64", "static-shapes"),
}
# The configurations with a device other than the default one, by its place in `Library.devices`.
PLACES = {"devices": 0, "float32-device": 2, "no-x64": 2}


class Case(NamedTuple):
    """A fix of a project."""

    source: str
    kind: str
    title: str
    # A version of the standard to run in as well.
    version: str
    before: str
    after: str
    check: str
    without: tuple[str, ...]
    reason: str

    @property
    def key(self) -> str:
        return f"{self.source}: {self.title}"

    @property
    def address(self) -> str:
        repository, mark, number = self.source.partition("#" if "#" in self.source else "@")
        return f"https://github.com/{repository}/{'pull' if mark == '#' else 'commit'}/{number}"


def read_cases(folder: Path = CASES) -> list[Case]:
    """Read the cases of all files; a case begins with ``@ source | kind | title | version``."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt")))
    return [
        read_case(block.splitlines()) for text in texts for block in text.removeprefix("@ ").split("\n@ ")
    ]


def read_case(lines: list[str]) -> Case:
    source, kind, title, *version = lines[0].split(" | ")

    def marked(marks: str) -> str:
        return "\n".join(line[2:] for line in lines[1:] if line and line[0] in marks)

    return Case(
        *(source, kind, title, "".join(version)),
        before=marked(" -"),
        after=marked(" +"),
        check=marked("?"),
        without=tuple(marked("!").split()),
        reason=marked("~"),
    )


def as_numpy(x: Any) -> Any:
    """Return an array of any device, copied to a NumPy array."""
    if not isinstance(x, np.ndarray) and hasattr(x, "to_device"):
        x = x.to_device(x.__array_namespace__().__array_namespace_info__().default_device())
    return np.array(x)


class Runner:
    """A library in a configuration."""

    def __init__(self, library: Library, config: str) -> None:
        self.library, self.config, self.xp = library, config, library.load()
        self.writable = config != "readonly" and library.name != "JAX"

    def configure(self) -> AbstractContextManager[object]:
        if self.library is STRIDE0:
            from stride0.testing import flags

            return flags(**SETTINGS[self.config])
        return self.library.configure(self.config)

    def names(self) -> dict[str, Any]:
        """Return the names that cases use."""
        xp = self.xp
        cpu = device = xp.zeros(1).device
        if self.library.name in CONFIGURATIONS and self.config in PLACES:
            device = self.library.devices(xp, self.config)[PLACES[self.config]]

        def array(values: Any, dtype: Any = None) -> Any:
            return xp.asarray(values, dtype=dtype, device=device)

        def update(x: Any, index: Any, value: Any) -> Any:
            """Write in place if the library can, and return the array: array-api-extra's ``at(...).set``."""
            if self.writable:
                x[index] = value
                return x
            changed = as_numpy(x)
            changed[index if isinstance(index, int) else as_numpy(index)] = np.asarray(value)
            return xp.asarray(changed, device=device)

        return {
            **{"__name__": "case", "xp": xp, "np": np, "math": math, "cpu": cpu, "device": device},
            **{"array": array, "update": update, "as_numpy": as_numpy},
            "numbers": lambda x: as_numpy(x).tolist(),
        }

    def outcome(self, case: Case, code: str) -> str:
        """Run code and the check of its case; the name of the error that it raises, or an empty string."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with self.configure():
                    names = self.names()
                    exec(compile(code, case.source, "exec"), names)
                    if self.config != "lazy":
                        exec(compile(case.check, case.source, "exec"), names)
                if self.config == "lazy":
                    exec(compile(case.check, case.source, "exec"), names)
            except Exception as error:
                return type(error).__name__
        return ""


def runners(library: Library, case: Case) -> Iterator[Runner]:
    configs = CONFIGURATIONS.get(library.name)
    versions = (case.version,) if case.version else ()
    return (Runner(library, config) for config in ((*configs, *versions) if configs else ("default",)))


def catches(library: Library, case: Case) -> dict[str, str]:
    """Return the configurations that catch the bug of a case, with the names of the errors."""
    found = {}
    for runner in runners(library, case):
        error = runner.outcome(case, case.before)
        if error and not runner.outcome(case, case.after):
            found[runner.config] = error
    return found


def refusals(library: Library, case: Case) -> dict[str, str]:
    """Return the configurations that refuse the fixed code of a case, with the names of the errors."""
    found = {runner.config: runner.outcome(case, case.after) for runner in runners(library, case)}
    return {config: error for config, error in found.items() if error}


def false_alarms(library: Library, case: Case) -> list[str]:
    """Return the configurations that refuse the fixed code, although they have the features that it needs."""
    return [config for config in refusals(library, case) if config not in case.without]


def run(libraries: list[Library], cases: list[Case]) -> dict[str, dict[str, list[str]]]:
    """Return the configurations that catch each case, by library."""
    return {library.name: {case.key: list(catches(library, case)) for case in cases} for library in libraries}


def read_record() -> dict[str, Any]:
    """Read the record, which groups the keys of cases by the configurations that catch them."""
    found: dict[str, Any] = records.read(RECORD)
    found["caught"] = {
        name: {key: configs.split() for configs, keys in groups.items() for key in keys}
        for name, groups in found["caught"].items()
    }
    return found


def write_record(record: dict[str, Any]) -> None:
    caught: dict[str, dict[str, list[str]]] = {}
    for name, outcomes in record["caught"].items():
        groups = caught.setdefault(name, {})
        for key, configs in outcomes.items():
            groups.setdefault(" ".join(configs), []).append(key)
    records.write(RECORD, {**record, "caught": caught})


def main(arguments: list[str] | None = None) -> int:
    options = options_of(__doc__, arguments)
    cases = read_cases()
    libraries = [library for library in LIBRARIES if library.is_installed()]
    found = run(libraries, cases)
    caught = {
        name: {key: bool(configs) for key, configs in outcomes.items()} for name, outcomes in found.items()
    }
    report(caught, options.missed)
    alarms = {
        library.name: {case.key: configs for case in cases if (configs := false_alarms(library, case))}
        for library in libraries
        if library.name in CONFIGURATIONS
    }
    for key, configs in alarms[STRIDE0.name].items():
        print(f"false alarm in {', '.join(configs)}: {key}")
    versions = {library.name: library.version() for library in libraries if library is not STRIDE0}
    record = {"versions": versions, "caught": found, "alarms": alarms}
    if options.record:
        from conformance.portability import page

        if not may_record(libraries, bool(alarms[STRIDE0.name])):
            return 1
        write_record(record)
        page.PAGE.write_text(page.page(cases, record), encoding="utf-8")
        return 0
    same = found[STRIDE0.name] == read_record()["caught"][STRIDE0.name]
    return 1 if alarms[STRIDE0.name] or not same else 0

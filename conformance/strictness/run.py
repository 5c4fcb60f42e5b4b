"""Which library catches which violation of the standard: lines of code, run on stride0 and on its peers.

    python -m conformance strictness                    run the lines on every library that is installed
    python -m conformance strictness --record           and write the outcomes and docs/evidence/strictness.md
    python -m conformance strictness --missed stride0   list the lines that a library accepts

The lines are in the files of conformance/strictness/lines, in groups with the configuration that must catch
them and the rule of the standard. A line is caught if it raises: an error of the library, or the
AssertionError of a line that asserts what the standard leaves open. Each line passes in at least one library:
no line fails by mistake. The exit code is 1 if outcomes differ from the recorded ones of the same version of
a library.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import string
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from conformance import records

LINES = Path(__file__).with_name("lines")
RECORD = records.RESULTS / "strictness.json"
LEGAL = "legal"
LENIENT = "stride0 by default"
PASSED = "-"


class Line(NamedTuple):
    """A line of code, the configuration that must catch it, and the rule that it breaks."""

    code: str
    config: str
    rule: str
    # For a legal line: the configurations that may refuse it.
    without: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.config}: {self.code}"


def read_lines(folder: Path = LINES) -> list[Line]:
    """Read the lines of all files: a group begins with ``@ config -without | rule``."""
    found = []
    for path in sorted(folder.glob("*.txt")):
        config, rule = "", ""
        without: tuple[str, ...] = ()
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if text.startswith("@ "):
                words, _, rule = text[2:].partition(" | ")
                config, *left = words.split()
                without = tuple(word.removeprefix("-") for word in left)
            elif text:
                if not config:
                    raise ValueError(f"{path.name}:{number}: a line before the first group")
                found.append(Line(text.replace("\\n", "\n"), config, rule, without))
    return found


# --- the names that lines use


def make_operands(xp: Any) -> dict[str, Callable[[], Any]]:
    """Return functions that make the arrays that lines name, by dtype and number of axes."""

    def of_dtype(name: str) -> Callable[[], Any]:
        return lambda: xp.asarray([1, 2, 3], dtype=getattr(xp, name))

    kinds = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
    sizes = {"i": (8, 16, 32, 64), "u": (8, 16, 32, 64), "f": (32, 64), "c": (64, 128)}
    arrays = {
        f"{letter}{bits}": of_dtype(f"{kinds[letter]}{bits}") for letter in kinds for bits in sizes[letter]
    }
    return arrays | {
        "b": lambda: xp.asarray([True, False, True]),
        "e": lambda: xp.zeros(0),
        "z": lambda: xp.asarray(1.5),
        "zi": lambda: xp.asarray(2),
        "zb": lambda: xp.asarray(True),
        "idx": lambda: xp.asarray([0, 2]),
        "dup": lambda: xp.asarray([2, 1, 1, 2, 3]),
        "m": lambda: xp.eye(3, dtype=xp.float64),
        "m3": lambda: xp.asarray([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]),
        "mf": lambda: xp.eye(3, dtype=xp.float32),
        "mi": lambda: xp.astype(xp.eye(3, dtype=xp.float64), xp.int64),
        "mc": lambda: xp.astype(xp.eye(3, dtype=xp.float64), xp.complex128),
        "mb": lambda: xp.eye(3, dtype=xp.float64) > 0.0,
        "t3": lambda: xp.zeros((3, 3, 3)),
    }


def make_placed(xp: Any, devices: tuple[Any, Any, Any]) -> dict[str, Callable[[], Any]]:
    """Return functions that make arrays on other devices, and on the device with fewer dtypes."""
    first, second, small = devices
    return {
        "g": lambda: xp.asarray([1.0, 2.0, 3.0], device=first),
        "h": lambda: xp.asarray([1.0, 2.0, 3.0], device=second),
        "gm": lambda: xp.eye(3, device=first),
        "gb": lambda: xp.asarray([True, False, True], device=first),
        "gi": lambda: xp.asarray([0, 1, 2], device=first),
        "s": lambda: small,
    }


# --- libraries


class Library:
    """A library that runs lines, in the configuration of each line if it has one."""

    def __init__(self, name: str, module: str = "", distribution: str = "") -> None:
        self.name = name
        self.module = module or name
        self.distribution = distribution or name

    def is_installed(self) -> bool:
        return all(
            importlib.util.find_spec(part.partition(".")[0])
            for part in (self.module, self.distribution.replace("-", "_"))
        )

    def version(self) -> str:
        return importlib.metadata.version(self.distribution)

    def load(self) -> Any:
        return importlib.import_module(self.module)

    def configure(self, config: str) -> AbstractContextManager[object]:
        return nullcontext()

    def devices(self, xp: Any, config: str) -> tuple[Any, Any, Any]:
        device = xp.zeros(1).device
        return device, device, device

    def outcome(self, line: Line, config: str = "") -> str:
        """Run a line; the name of the error that it raises, or PASSED."""
        config = config or line.config
        xp = self.load()
        code = compile(line.code, "<line>", "exec")
        names = {"__name__": "line", "xp": xp, "np": np}
        used = names_in(code)
        operands = make_operands(xp)
        with warnings.catch_warnings(), contextlib.redirect_stdout(None):
            warnings.simplefilter("ignore")
            try:
                names |= {name: make() for name, make in operands.items() if name in used}
            except Exception as error:
                return f"no operands: {type(error).__name__}"
            with self.configure(config):
                placed = make_placed(xp, self.devices(xp, config))
                names |= {name: make() for name, make in placed.items() if name in used}
                try:
                    exec(code, names)
                except Exception as error:
                    return type(error).__name__
        return PASSED


def names_in(code: Any) -> set[str]:
    """Return the names that compiled code uses, in its functions too."""
    inner = (names_in(part) for part in code.co_consts if hasattr(part, "co_names"))
    return {*code.co_names}.union(*inner)


SIMULATED = ("virtual", "other")


class Stride0(Library):
    """stride0, in a test configuration."""

    SETTINGS: ClassVar[dict[str, dict[str, Any]]] = {
        "default": {},
        "strict": {"strict": True, "strict_names": True},
        "devices": {"devices": ("cpu", *SIMULATED)},
        "float32-device": {"devices": {"cpu": {}, "small": {"float64": False}}},
        "no-x64": {"float64": False, "int64": False},
        "lazy": {"lazy": True},
        "static-shapes": {"data_dependent_shapes": False, "boolean_indexing": False},
        "readonly": {"writable": False},
        "copies": {"views": False},
        "shuffled": {"shuffled": True},
        "bare": {"extensions": ()},
        **{version: {"api_version": version} for version in ("2021.12", "2022.12", "2023.12", "2024.12")},
    }

    def configure(self, config: str) -> AbstractContextManager[object]:
        from stride0.testing import flags

        return nullcontext() if config == LEGAL else flags(**self.SETTINGS[config])

    def devices(self, xp: Any, config: str) -> tuple[Any, Any, Any]:
        found = xp.__array_namespace_info__().devices() if config > "2022.12" else (None,)
        return found[min(1, len(found) - 1)], found[-1], found[-1]


class Strict(Library):
    """array-api-strict, with its flags and devices."""

    FLAGS: ClassVar[dict[str, dict[str, Any]]] = {
        "lazy": {"data_dependent_shapes": False, "boolean_indexing": False},
        "static-shapes": {"data_dependent_shapes": False, "boolean_indexing": False},
        "bare": {"enabled_extensions": ()},
        **{version: {"api_version": version} for version in ("2021.12", "2022.12", "2023.12", "2024.12")},
    }

    def version(self) -> str:
        """Return the version, and the version of NumPy, which raises the errors of its operations."""
        return f"{super().version()} on NumPy {np.__version__}"

    def configure(self, config: str) -> AbstractContextManager[object]:
        xp = self.load()
        return xp.ArrayAPIStrictFlags(**self.FLAGS[config]) if config in self.FLAGS else nullcontext()

    def devices(self, xp: Any, config: str) -> tuple[Any, Any, Any]:
        small = "no_x64" if config == "no-x64" else "no_float64"
        return xp.Device("device1"), xp.Device("device2"), xp.Device(small)


class Jax(Library):
    """JAX with 64-bit dtypes."""

    def load(self) -> Any:
        config: Any = importlib.import_module("jax").config
        config.update("jax_enable_x64", True)
        return super().load()


STRIDE0 = Stride0("stride0")
STRICT = Strict("array-api-strict", "array_api_strict")
PEERS = (
    STRICT,
    Library("NumPy", "numpy", "numpy"),
    Library("PyTorch", "array_api_compat.torch", "torch"),
    Jax("JAX", "jax.numpy", "jax"),
)
LIBRARIES = (STRIDE0, *PEERS)


def run(libraries: Iterable[Library], lines: Iterable[Line]) -> dict[str, dict[str, str]]:
    """Return the outcomes of lines by library, by their keys."""
    chosen = [line for line in lines if line.config != LEGAL]
    return {library.name: {line.key: library.outcome(line) for line in chosen} for library in libraries}


def lenient(lines: Iterable[Line]) -> dict[str, str]:
    """Return the outcomes of lines in stride0's default configuration, or with copies for views."""
    return {
        line.key: STRIDE0.outcome(line, "copies" if line.config == "default" else "default")
        for line in lines
        if line.config != LEGAL
    }


def false_alarms(lines: Iterable[Line]) -> Iterator[tuple[Line, str, str]]:
    """Yield the legal lines that a configuration of stride0 refuses, with its name and the error."""
    for line in lines:
        if line.config != LEGAL:
            continue
        for config in Stride0.SETTINGS:
            if config not in line.without and (outcome := STRIDE0.outcome(line, config)) != PASSED:
                yield line, config, outcome


def groups(lines: Iterable[Line]) -> dict[str, list[str]]:
    """Return the keys of the lines that break a rule, by configuration and rule."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.config != LEGAL:
            found.setdefault(f"{line.config}: {line.rule}", []).append(line.key)
    return found


def read_record(lines: Iterable[Line]) -> dict[str, Any]:
    """Read the recorded versions, and the outcomes by library and line.

    The file has a letter for each line of a group, and a word of letters for each library.
    """
    found = records.read(RECORD)
    outcomes: dict[str, dict[str, str]] = {name: {} for name in found["libraries"]}
    expected = groups(lines)
    if {group: len(keys) for group, keys in expected.items()} != {
        group: len(words.split()[0]) for group, words in found["outcomes"].items()
    }:
        raise ValueError(
            f"{RECORD.name} is the record of other lines: python -m conformance strictness --record"
        )
    for group, keys in expected.items():
        for column, word in zip(outcomes.values(), found["outcomes"][group].split(), strict=True):
            column |= {key: found["letters"][letter] for key, letter in zip(keys, word, strict=True)}
    return {"versions": found["versions"], "outcomes": outcomes}


def write_record(lines: Iterable[Line], record: dict[str, Any]) -> None:
    """Write what `read_record` reads, and keep the recorded speed."""
    columns = record["outcomes"].values()
    names = Counter(name for column in columns for name in column.values()).most_common()
    letters = dict(zip((name for name, _ in names), "-" + string.ascii_letters, strict=False))
    rows = {
        group: " ".join("".join(letters[column[key]] for key in keys) for column in columns)
        for group, keys in groups(lines).items()
    }
    found = {
        "versions": record["versions"],
        "speed": records.read(RECORD)["speed"],
        "libraries": list(record["outcomes"]),
        "letters": {letter: name for name, letter in letters.items()},
        "outcomes": rows,
    }
    records.write(RECORD, found)


def options_of(doc: str | None, arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write the outcomes and the page")
    parser.add_argument("--missed", metavar="LIBRARY", help="list what a library does not catch")
    return parser.parse_args(arguments)


def report(caught: dict[str, dict[str, bool]], missed: str | None) -> None:
    """Print how much each library catches, and what the library `missed` does not catch."""
    for name, outcomes in caught.items():
        print(f"{name}: caught {sum(outcomes.values())} of {len(outcomes)}")
    if missed:
        print(*(key for key, is_caught in caught[missed].items() if not is_caught), sep="\n")


def may_record(libraries: list[Library], alarms: bool) -> bool:
    """Whether a run can be recorded: on all libraries, and without a false alarm."""
    missing = [library.name for library in LIBRARIES if library not in libraries]
    if missing or alarms:
        print(f"nothing is written: without {', '.join(missing)}" if missing else "nothing is written")
    return not missing and not alarms


def main(arguments: list[str] | None = None) -> int:
    options = options_of(__doc__, arguments)
    lines = read_lines()
    libraries = [library for library in LIBRARIES if library.is_installed()]
    found = run(libraries, lines)
    caught = {
        name: {key: each != PASSED for key, each in outcomes.items()} for name, outcomes in found.items()
    }
    report(caught, options.missed)
    alarms = list(false_alarms(lines))
    for line, config, outcome in alarms:
        print(f"false alarm in {config}: {line.code}: {outcome}")
    versions = {library.name: library.version() for library in libraries if library is not STRIDE0}
    if options.record:
        from conformance.strictness import page

        if not may_record(libraries, bool(alarms)):
            return 1
        record = {"versions": versions, "outcomes": {**found, LENIENT: lenient(lines)}}
        write_record(lines, record)
        page.write(lines)
        return 0
    recorded = read_record(lines)
    same = [name for name in found if name == "stride0" or recorded["versions"][name] == versions[name]]
    changed = [
        f"{name}: {key}: {outcome}, recorded as {recorded['outcomes'][name].get(key)}"
        for name in same
        for key, outcome in found[name].items()
        if outcome != recorded["outcomes"][name].get(key)
    ]
    print(*changed, sep="\n")
    return 1 if changed or alarms else 0

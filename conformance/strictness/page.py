"""docs/evidence/strictness.md, made of the lines in `lines` and their recorded outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from conformance import records
from conformance.strictness.run import LEGAL, LIBRARIES, PASSED, RECORD, STRICT, STRIDE0, Line, read_record

PAGE = records.EVIDENCE / "strictness.md"
NAMES = [library.name for library in LIBRARIES]
OURS, THEIRS = STRIDE0.name, STRICT.name

# Descriptions of stride0's configurations, and the options of array-api-strict.
CONFIGURATIONS = {
    "strict": ("`strict=True, strict_names=True`", "as it is"),
    "default": ("none", "as it is"),
    "copies": ("`views=False`", "as it is: it has no such flag"),
    "readonly": ("`writable=False`", "as it is: it has no such flag"),
    "shuffled": ("`shuffled=True`", "as it is: it has no such flag"),
    "lazy": ("`lazy=True`", "`data_dependent_shapes=False, boolean_indexing=False`: it has no such flag"),
    "static-shapes": (
        "`data_dependent_shapes=False, boolean_indexing=False`",
        "`data_dependent_shapes=False, boolean_indexing=False`",
    ),
    "devices": ('`devices=("cpu", "virtual", "other")`', "its devices `device1` and `device2`"),
    "float32-device": ('`devices={"cpu": {}, "small": {"float64": False}}`', "its device `no_float64`"),
    "no-x64": ("`float64=False, int64=False`", "its device `no_x64`"),
    "bare": ("`extensions=()`", "`enabled_extensions=()`"),
    **{
        version: (f'`api_version="{version}"`', f'`api_version="{version}"`')
        for version in ("2024.12", "2023.12", "2022.12", "2021.12")
    },
}

HEAD = """\
# Strictness, point by point

This page runs lines of code that break a rule of the Array API standard, or rely on behaviour that the
standard leaves open. It counts how many of them raise an error in stride0 and in other libraries.
`python -m conformance strictness --record` writes the page from the lines in `conformance/strictness/lines`
and the outcomes in `conformance/results/strictness.json`. A test compares all three. [Testing array-agnostic
code](../guides/testing.md) explains strict mode and flags.

A line is caught if it raises an error: an error of the library, or an `AssertionError` if the line asserts
what the standard leaves open. Each line passes in at least one library: stride0 by default, NumPy, PyTorch,
JAX or array-api-strict. A line that every library refuses is not listed.
"""


# The runs of speed.py.
RUNS = {
    "array_api_strict": "array-api-strict",
    "stride0": "stride0",
    "strict": "stride0, `STRIDE0_STRICT=1`",
}


def read_speed() -> dict[str, Any]:
    found: dict[str, Any] = records.read(RECORD)["speed"]
    return found


def write(lines: Sequence[Line]) -> None:
    PAGE.write_text(page(lines, read_record(lines), read_speed()), encoding="utf-8")


def page(lines: Sequence[Line], record: dict[str, Any], speed: dict[str, Any]) -> str:
    """Return the text of the page."""
    found: dict[str, dict[str, str]] = record["outcomes"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    broken = [line for line in lines if line.config != LEGAL]
    legal = [line for line in lines if line.config == LEGAL]
    parts = [
        HEAD,
        f"Versions: {versions}; PyTorch through array-api-compat, JAX with 64-bit dtypes.\n",
        "## In short\n",
        totals(broken, found),
        f"{len(legal)} lines that the standard defines pass in strict mode, and in every configuration that\n"
        "has the features they need. There are no false alarms. array-api-strict passes these lines, too.\n",
        "## Speed\n",
        speeds(speed),
        "## Configurations\n",
        "Each line runs in the configuration for its rule: one of stride0, and the nearest one of\n"
        "array-api-strict.\n",
        records.table(
            ("configuration", "flags of stride0", "array-api-strict", "lines", OURS, THEIRS),
            [
                (f"`{config}`", *texts, *counts(of_config(broken, config), found, (OURS, THEIRS)))
                for config, texts in CONFIGURATIONS.items()
            ],
        ),
        "## Rules\n",
        records.table(
            ("rule", "lines", *NAMES, "for example"),
            [
                (rule, *counts(group, found, NAMES), f"`{shown(group[0].code)}`")
                for rule, group in by_rule(broken).items()
            ],
        ),
        f"## Accepted by {OURS}\n",
        "NumPy functions that are written in C convert every argument before stride0 sees it. Looking at\n"
        "each value that is cast would cost as much as the cast.\n",
        listed(broken, lambda line: found[OURS][line.key] == PASSED),
        f"## Caught by {THEIRS}, accepted by {OURS}\n",
        listed(broken, lambda line: found[OURS][line.key] == PASSED != found[THEIRS][line.key]),
        f"## Caught by {OURS}, accepted by {THEIRS}\n",
        listed(broken, lambda line: found[THEIRS][line.key] == PASSED != found[OURS][line.key]),
    ]
    return "\n".join(parts)


def totals(lines: list[Line], found: dict[str, dict[str, str]]) -> str:
    """Return the table of totals: strict mode by itself, and all configurations."""
    strict, others = of_config(lines, "strict"), [line for line in lines if line.config != "strict"]
    rows = [("rules of the standard (strict mode)", strict)]
    rows += [("behaviour that the standard leaves open (other configurations)", others), ("together", lines)]
    return records.table(
        ("", "lines", *NAMES), [(title, *counts(group, found, NAMES)) for title, group in rows]
    )


def of_config(lines: list[Line], config: str) -> list[Line]:
    return [line for line in lines if line.config == config]


def speeds(speed: dict[str, Any]) -> str:
    """Return the table of the times of SciPy's tests."""
    named = ", ".join(f"`{test}`" for test in speed["only"])
    which = f"in {named}" if named else "that take a namespace"
    version = speed["runs"]["stride0"]["version"]
    rows = [
        (title, *(str(speed["runs"][name][key]) for key in ("seconds", "passed", "failed")))
        for name, title in RUNS.items()
    ]
    return (
        f"SciPy's tests {which}, run by `python -m conformance strictness-speed` in one process\n"
        f"on one thread (SciPy {version}). array-api-strict is always strict; stride0 is strict\n"
        "in the last row only. The tests that fail there fail in SciPy's own code, which passes NumPy\n"
        "integers as sizes and lets `asarray` cast. Failing tests end early, so the last row does less.\n\n"
        + records.table(("namespace", "seconds", "passed", "failed"), rows)
    )


def counts(lines: list[Line], found: dict[str, dict[str, str]], names: Iterable[str]) -> list[str]:
    """Return how many lines there are, and how many of them each library catches."""
    return [
        str(len(lines)),
        *(str(sum(found[name][line.key] != PASSED for line in lines)) for name in names),
    ]


def by_rule(lines: Iterable[Line]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.rule, []).append(line)
    return groups


def listed(lines: Iterable[Line], wanted: Callable[[Line], bool]) -> str:
    """Return the wanted lines by rule, or a sentence that no line is wanted."""
    groups = by_rule(line for line in lines if wanted(line))
    if not groups:
        return "Nothing.\n"
    parts = []
    for rule, group in groups.items():
        code = "\n".join(shown(line.code) for line in group)
        parts.append(f"{rule}:\n\n```python\n{code}\n```\n")
    return "\n".join(parts)


def shown(code: str) -> str:
    return code.replace("\n", "; ")

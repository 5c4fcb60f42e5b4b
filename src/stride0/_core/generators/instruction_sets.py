"""Lists the builds of the kernels for Meson, and writes the C that tests the processor for each.

    instruction_sets.py FAMILY NAMES TABLE          prints a line for each build: its name and the compiler's
    arguments instruction_sets.py FAMILY NAMES TABLE HEADER   writes the header that `cpu.h` includes

NAMES are the rows to build besides the baseline, separated by commas; `all`; or nothing. Meson configures
again if TABLE changes.
"""

from __future__ import annotations

import pathlib
import sys

from common import Row, load

table = load("instruction_sets")


def chosen(family: str, names: list[str]) -> list[Row]:
    """The rows to build, the best row first; SystemExit for a name without a row."""
    rows = table.sets_of(family)
    if unknown := set(names) - {"all"} - {row.name for row in table.SETS}:
        raise SystemExit(f"instruction_sets: the table has no row {', '.join(sorted(unknown))}")
    wanted = ["baseline", *(row.name for row in rows if row.name in names or "all" in names)]
    return [row for row in reversed(rows) if row.name in wanted]


def feature(name: str) -> str:
    """The C expression that tests for one feature."""
    if name in table.CPUID:
        leaf, bit = table.CPUID[name]
        return f"s0_cpuid({leaf:#x}, 1u << {bit})"
    return f'__builtin_cpu_supports("{name}")'


def header(family: str, built: list[Row]) -> str:
    """The tests of all rows of the family up to the best built row, and the table of built rows."""
    lines = []
    before = "s0_cpu_init()"
    for row in table.sets_of(family):
        asked = " && ".join(feature(name) for name in row.features) or "1"
        if row.level:
            asked = f'S0_HAS("{row.level}", {asked})'
        lines.append(f"static inline int s0_runs_{row.name}(void) {{ return {before} && {asked}; }}\n")
        before = f"s0_runs_{row.name}()"
    lines += ["\n/* Best first. */\nstatic const s0_build s0_builds[] = {\n"]
    lines += [f'    {{"{row.name}", "{row.needs}", s0_runs_{row.name}}},\n' for row in built]
    return "".join([*lines, "};\n"])


if __name__ == "__main__":
    builds = chosen(sys.argv[1], [name for name in sys.argv[2].split(",") if name])
    if len(sys.argv) > 4:
        written = pathlib.Path(sys.argv[4])
        written.parent.mkdir(exist_ok=True)
        written.write_text(header(sys.argv[1], builds), encoding="ascii")
    else:
        for build in builds:
            print(f"{build.name}:", *build.arguments, *(["-DS0_SPARE"] if build.spare else []))

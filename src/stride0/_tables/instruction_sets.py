"""The instruction sets that the kernels are built for: the one place for these facts.

A row is all that a new set needs: the build compiles the units of kernels once more with its arguments,
the package asks the processor for its features when it is imported, and `STRIDE0_ISA` and the tests know
its name.

Standard library only, since the build loads this file by its path (`_core/generators/`), before the
package exists.
"""

from typing import Final, NamedTuple


class InstructionSet(NamedTuple):
    """What is known of one instruction set."""

    name: str  # as `STRIDE0_ISA` has it
    family: str  # of processors, by Meson's name; "" for families that have no row
    arguments: tuple[str, ...] = ()  # of the compiler
    # The level of x86-64 that it is exactly, if any: newer compilers can ask the processor for it by name.
    level: str = ""
    # Everything that the compiler may use beyond the row of its family before it, not only what our code is
    # known to use: an LZCNT on a processor without it is executed as BSR and gives other values.
    features: tuple[str, ...] = ()
    # Whether the loops that those over any strides can replace are left out, for a small package: `S0_SPARE`.
    spare: bool = False

    @property
    def needs(self) -> str:
        """What it asks of the processor, in words."""
        return self.level or ", ".join(self.features) or "any processor"


# Of each family, each row needs what those before it need.
SETS: Final = (
    InstructionSet("baseline", ""),
    InstructionSet(
        "baseline",
        "x86_64",
        ("-march=x86-64-v2",),
        "x86-64-v2",
        ("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "lahf"),
        spare=True,
    ),
    InstructionSet(
        "v3",
        "x86_64",
        ("-march=x86-64-v3",),
        "x86-64-v3",
        ("avx", "avx2", "fma", "bmi", "bmi2", "movbe", "f16c", "lzcnt"),
    ),
    InstructionSet(
        "v4",
        "x86_64",
        ("-march=x86-64-v4", "-mprefer-vector-width=512"),
        "x86-64-v4",
        ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    ),
)

# Features of x86-64 that not every compiler can ask for by name: the leaf of CPUID, and the bit of ECX there.
CPUID: Final = {
    "cx16": (0x1, 13),
    "movbe": (0x1, 22),
    "f16c": (0x1, 29),
    "lahf": (0x80000001, 0),
    "lzcnt": (0x80000001, 5),
}


def sets_of(family: str) -> tuple[InstructionSet, ...]:
    """The rows of a family of processors, the baseline first."""
    return tuple(row for row in SETS if row.family == family) or tuple(row for row in SETS if not row.family)


def check() -> None:
    """Raise AssertionError if the table contradicts itself."""
    families = {row.family for row in SETS}
    assert "" in families
    for family in families:
        names = [row.name for row in sets_of(family)]
        assert names[0] == "baseline", f"the first row of {family!r} is the baseline"
        assert len(set(names)) == len(names), f"two rows of {family!r} have one name"
        assert all(row.features for row in sets_of(family)[1:]), f"a row of {family!r} asks for no feature"

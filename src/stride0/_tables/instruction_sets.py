"""The instruction sets for which kernels are built: the single place for these facts.

A new set only needs a row: the build compiles the units of kernels again with its arguments, the package asks
the processor for its features at import, and `STRIDE0_ISA` and the tests know its name.

Standard library only, since the build loads this file by its path (`_core/generators/`), before the
package exists.
"""

from typing import Final, NamedTuple


class InstructionSet(NamedTuple):
    """Facts about an instruction set."""

    name: str  # the value of `STRIDE0_ISA`
    family: str  # Meson's name of the processor family; "" for families without a row
    arguments: tuple[str, ...] = ()  # arguments of the compiler
    # The level of x86-64 that it equals, if any: newer compilers can test for it by name.
    level: str = ""
    # All features that the compiler may use beyond the previous row of its family, even if our code is not
    # known to use them: an LZCNT on a processor without it is executed as BSR and gives other values.
    features: tuple[str, ...] = ()
    # Whether loops that a loop over any strides can replace are omitted, for a small package: `S0_SPARE`.
    spare: bool = False

    @property
    def needs(self) -> str:
        """The required features, in words."""
        return self.level or ", ".join(self.features) or "any processor"


# Within a family, each row includes the features of the previous rows.
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

# Features of x86-64 that not every compiler can test by name: the leaf of CPUID, and the bit in ECX.
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

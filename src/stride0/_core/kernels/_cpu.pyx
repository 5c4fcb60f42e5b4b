"""The features of the processor, and the builds of the kernels."""

cdef extern from "cpu.h":
    ctypedef struct s0_build:
        const char* name
        const char* needs
        int (*runs)()
    const s0_build* s0_builds
    const int S0_BUILDS


def built():
    """Names of the builds of the kernels that this package was built with, best first."""
    return tuple([s0_builds[k].name.decode() for k in range(S0_BUILDS)])


def has(str name not None):
    """Whether the processor and the operating system can run a build."""
    return any(s0_builds[k].runs() for k in range(S0_BUILDS) if s0_builds[k].name.decode() == name)


def needs(str name not None):
    """The instructions that a build requires, in words."""
    return "".join([s0_builds[k].needs.decode() for k in range(S0_BUILDS) if s0_builds[k].name.decode() == name])

# cython: language_level=3
"""What the processor reports, and which builds of the kernels there are."""

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    #define S0_X86 1
    static int s0_has_v3(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
            && __builtin_cpu_supports("bmi2");
    }
    static int s0_has_v4(void) {
        return s0_has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl");
    }
    #else
    #define S0_X86 0
    static int s0_has_v3(void) { return 0; }
    static int s0_has_v4(void) { return 0; }
    #endif
    """
    const int S0_X86
    bint s0_has_v3()
    bint s0_has_v4()


def built():
    """Names of the builds of the kernels that this package was built with."""
    return ("baseline", "v3", "v4") if S0_X86 else ("baseline",)


def has(name):
    """Whether the processor can run that build."""
    return s0_has_v4() if name == "v4" else s0_has_v3() if name == "v3" else True

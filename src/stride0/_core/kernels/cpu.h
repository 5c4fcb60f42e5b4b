/* The builds of the kernels, and whether this processor runs them. Included by _cpu.pyx alone. */
#ifndef STRIDE0_CPU_H
#define STRIDE0_CPU_H

typedef struct {
    const char *name;  /* as in meson.build */
    const char *needs; /* the architecture that it is compiled for */
    int (*runs)(void);
} s0_build;

#if defined(__x86_64__) && defined(__GNUC__)

/*
 * A test asks for everything that the compiler may use for its level (-march=x86-64-v3 and the like), not for what our
 * code is known to need: an LZCNT on a processor without it is executed as BSR and gives other values.
 */
#if defined(S0_HAS_LEVELS)
#define S0_CPU_LEVEL(level, features) __builtin_cpu_supports(level)
#else
/* Older compilers (clang before 18) know single features only, and not all. The others are read from CPUID. */
#include <cpuid.h>

static int s0_cpuid(unsigned leaf, unsigned bits)
{
    unsigned a, b, c, d;
    return __get_cpuid(leaf, &a, &b, &c, &d) && (c & bits) == bits;
}
#define S0_CPU_LEVEL(level, features) (features)
#define S0_CX16_OF_1 (1u << 13)
#define S0_MOVBE_OF_1 (1u << 22)
#define S0_F16C_OF_1 (1u << 29)
#define S0_LAHF_OF_80000001 (1u << 0)
#define S0_LZCNT_OF_80000001 (1u << 5)
#endif

static int s0_runs_v2(void)
{
    __builtin_cpu_init();
    return S0_CPU_LEVEL("x86-64-v2",
                        __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1")
                            && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")
                            && s0_cpuid(1, S0_CX16_OF_1) && s0_cpuid(0x80000001, S0_LAHF_OF_80000001));
}

static inline int s0_runs_v3(void)
{
    return s0_runs_v2()
        && S0_CPU_LEVEL("x86-64-v3",
                        __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                            && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
                            && s0_cpuid(1, S0_MOVBE_OF_1 | S0_F16C_OF_1) && s0_cpuid(0x80000001, S0_LZCNT_OF_80000001));
}

static inline int s0_runs_v4(void)
{
    return s0_runs_v3()
        && S0_CPU_LEVEL("x86-64-v4",
                        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                            && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
                            && __builtin_cpu_supports("avx512vl"));
}

/* Best first. */
static const s0_build s0_builds[] = {
#if !defined(S0_WITHOUT_v4)
    {"v4", "x86-64-v4", s0_runs_v4},
#endif
#if !defined(S0_WITHOUT_v3)
    {"v3", "x86-64-v3", s0_runs_v3},
#endif
    {"baseline", "x86-64-v2", s0_runs_v2},
};

#else

static int s0_runs_always(void) { return 1; }
static const s0_build s0_builds[] = {{"baseline", "any processor", s0_runs_always}};

#endif

#define S0_BUILDS ((int)(sizeof(s0_builds) / sizeof(s0_builds[0])))

#endif

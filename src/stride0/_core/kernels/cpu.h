/* The builds of the kernels, and whether this processor runs them. Only _cpu.pyx may include this file. */
#ifndef STRIDE0_CPU_H
#define STRIDE0_CPU_H

typedef struct {
    const char *name;  /* as in _tables/instruction_sets.py */
    const char *needs; /* the required instructions, in words */
    int (*runs)(void);
} s0_build;

#if defined(S0_HAS_LEVELS)
#define S0_HAS(level, features) (__builtin_cpu_supports(level) != 0)
#else
/* Older compilers (clang before 18) know only single features, and not all of them. The others are read from CPUID. */
#define S0_HAS(level, features) (features)
#if defined(__x86_64__)
#include <cpuid.h>

static inline int s0_cpuid(unsigned leaf, unsigned bits)
{
    unsigned a, b, c, d;
    return __get_cpuid(leaf, &a, &b, &c, &d) && (c & bits) == bits;
}
#endif
#endif

static inline int s0_cpu_init(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    return 1;
}

/* The table of builds, written by generators/instruction_sets.py. */
#include "builds.h"

#define S0_BUILDS ((int)(sizeof(s0_builds) / sizeof(s0_builds[0])))

#endif

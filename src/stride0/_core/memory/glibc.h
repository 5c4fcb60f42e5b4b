/* Functions of glibc under their first version, so that a wheel runs with an older glibc than it was built with.

   glibc 2.32 and 2.34 moved functions from libpthread and libdl into libc.so and gave them a second version, which linkers
   prefer. The functions are the same, and the first version remains. */

#ifndef S0_GLIBC_H
#define S0_GLIBC_H

#if defined(__linux__)
#include <features.h> /* defines __GLIBC__, musl, for example, does not */
#endif

/* Older ones have the first version only. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
#if defined(__x86_64__) && !defined(__ILP32__)
#define S0_FIRST_VERSION(name) __asm__(".symver " #name ", " #name "@GLIBC_2.2.5");
#elif defined(__aarch64__)
#define S0_FIRST_VERSION(name) __asm__(".symver " #name ", " #name "@GLIBC_2.17");
#endif
#endif

#ifndef S0_FIRST_VERSION
#define S0_FIRST_VERSION(name)
#endif

#endif

/* Functions of glibc under the first of their versions, so that a wheel runs with an older glibc than it was built with.

   What glibc 2.32 and 2.34 moved into libc.so from libpthread and libdl got a second version there, which linkers
   choose. It is the same function, and the first version remains. */

#ifndef S0_GLIBC_H
#define S0_GLIBC_H

#if defined(__linux__)
#include <features.h> /* defines __GLIBC__, and not that of another C library */
#endif

/* Earlier ones have the first version alone. */
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

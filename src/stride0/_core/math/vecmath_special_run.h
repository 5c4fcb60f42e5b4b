/* Loops over the functions of vecmath_special.h; included by it. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

VM_RUN_PLAIN(expit)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

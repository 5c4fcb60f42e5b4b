/* Reductions of elements with any strides, composed of the loops over contiguous elements. */
/* Note [Parts]
       A reduction loop for any strides would have one element in a register at a time, and more accumulators than registers.
       Instead, a part of the elements that fits the first-level cache is copied to contiguous memory, and the loop for contiguous
       elements runs on it. The order of the reduction stays the same, and so does every bit. */
#ifndef STRIDE0_ANY_STRIDES_H
#define STRIDE0_ANY_STRIDES_H

#include "dtypes.h"
#include "kernels.h"

enum { S0_PART = 256 }; /* elements of a part */

/* A function that several loops call, which the compiler does not duplicate for their constants. */
#if defined(__clang__)
#define S0_ONE_COPY __attribute__((noinline))
#else
#define S0_ONE_COPY __attribute__((noinline, noclone))
#endif

/* The integer type that moves an element. */
#define S0_MOVED(size)                                                                                               \
    ((size) == 1 ? S0_UINT8 : (size) == 2 ? S0_UINT16 : (size) == 4 ? S0_UINT32 : (size) == 8 ? S0_UINT64 : S0_COMPLEX128)

/* Copy m runs of n elements, one behind the other. */
static __attribute__((noinline, unused)) void s0_copy_part(int code, const char *from, Py_ssize_t s, Py_ssize_t t,
                                                           char *to, Py_ssize_t n, Py_ssize_t m)
{
    char *a[2] = {(char *)from, to};
    const Py_ssize_t inner[2] = {s, S0_ITEMSIZE[code]}, outer[2] = {t, n * S0_ITEMSIZE[code]};
    s0_table->casts[code][code][3](a, inner, outer, n, m);
}

/* The next n elements of a run: in place, or in a copy. */
static inline __attribute__((always_inline, unused)) const void *s0_next_part(const char **from, Py_ssize_t s,
                                                                              Py_ssize_t size, char *copy, Py_ssize_t n)
{
    const char *here = *from;
    *from += n * s;
    if (s == size)
        return here;
    s0_copy_part(S0_MOVED(size), here, s, 0, copy, n, 1);
    return copy;
}

/* Runs of a reduction that may fold elements in any order, or that has at most S0_PART elements. */
static __attribute__((noinline, unused)) void s0_reduce_parts(s0_loop loop, int code, int nin, char **a,
                                                              const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,
                                                              Py_ssize_t m)
{
    _Alignas(64) char copies[2][S0_PART * S0_LARGEST_ITEM];
    const Py_ssize_t size = S0_ITEMSIZE[code], runs = n < S0_PART ? S0_PART / n : 1;
    Py_ssize_t i, j;
    int k;
    for (j = 0; j < m; j += runs) {
        for (i = 0; i < n; i += S0_PART) {
            const Py_ssize_t count = n - i < S0_PART ? n - i : S0_PART, several = m - j < runs ? m - j : runs;
            char *b[3];
            Py_ssize_t inner[3], outer[3];
            for (k = 0; k <= nin; k++) {
                b[k] = a[k] + i * s[k] + j * t[k], inner[k] = s[k], outer[k] = t[k];
                if (k < nin && s[k] != size) {
                    s0_copy_part(code, b[k], s[k], t[k], copies[k], count, several);
                    b[k] = copies[k], inner[k] = size, outer[k] = count * size;
                }
            }
            loop(b, inner, outer, count, several);
        }
    }
}

/* Rows, strip by strip of columns, four together: the loop for contiguous rows adds these pairwise. */
static __attribute__((noinline, unused)) void s0_reduce_rows(s0_loop loop, int code, int total_code, char **a,
                                                             const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,
                                                             Py_ssize_t m)
{
    _Alignas(64) char copy[4 * S0_PART * S0_LARGEST_ITEM], total[S0_PART * S0_LARGEST_ITEM];
    const Py_ssize_t inner[2] = {S0_ITEMSIZE[code], S0_ITEMSIZE[total_code]};
    Py_ssize_t i, j;
    for (i = 0; i < n; i += S0_PART) {
        const Py_ssize_t count = n - i < S0_PART ? n - i : S0_PART;
        char *row = a[0] + i * s[0], *sums = a[1] + i * s[1], *b[2] = {row, sums};
        Py_ssize_t outer[2] = {t[0], 0};
        if (s[1] != inner[1])
            s0_copy_part(total_code, sums, s[1], 0, b[1] = total, count, 1);
        if (s[0] == inner[0])
            loop(b, inner, outer, count, m);
        else
            for (j = 0; j < m; j += 4) {
                const Py_ssize_t four = m - j < 4 ? m - j : 4;
                s0_copy_part(code, row + j * t[0], s[0], t[0], b[0] = copy, count, four);
                outer[0] = count * inner[0];
                loop(b, inner, outer, count, four);
            }
        if (s[1] != inner[1]) {
            char *both[2] = {total, sums};
            const Py_ssize_t strides[2] = {inner[1], s[1]};
            s0_table->casts[total_code][total_code][3](both, strides, outer, count, 1);
        }
    }
}

#endif

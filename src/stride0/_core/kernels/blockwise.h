/* A loop over any strides, made of the loop over contiguous elements. */
/* Note [Blockwise]
       A loop over any strides has one element in a register at a time. Where the compiler makes branches of a selection there,
       or a vector of elements takes as long as one, it is faster to gather a block of each operand into the first-level cache,
       to run the loop over contiguous elements, and to scatter the block of the result. Other loops run one by one, unless
       vectors move all that has to be gathered, and little has to be: every second element, or all in reverse, into a
       contiguous result. The processor stores one element a cycle, which both results one by one and scattering come to, but
       as many elements as a vector has in one or two cycles. Each block of every operand is read before the results of the
       block are written, so a result may be the same elements as an operand. */
#ifndef STRIDE0_BLOCKWISE_H
#define STRIDE0_BLOCKWISE_H

#include "dtypes.h"
#include "kernels.h"

enum {
    S0_GATHERED = 4096,       /* bytes of a block: at most so many of an operand */
    S0_GATHERED_OPERANDS = 4,
    S0_GATHERED_FROM = 32,    /* elements of a run, and */
    S0_GATHERED_BYTES = 8,    /* bytes for each element of the result, where a loop has a choice */
};

/* The loops of an operation in s0_table, by layout, and the one for elements one by one, if there is one; the codes of the
 * dtypes of the `nop` operands, of which the result is the last. */
typedef struct {
    Py_ssize_t loops;
    s0_loop each;
    signed char nop, codes[S0_GATHERED_OPERANDS];
} s0_gathering;

static int s0_is_every_second(const s0_gathering *how, const Py_ssize_t *s)
{
    int k;
    for (k = 0; k < how->nop - 1; k++)
        if (s[k] != 2 * S0_ITEMSIZE[how->codes[k]])
            return 0;
    return s[k] == S0_ITEMSIZE[how->codes[k]];
}

static int s0_is_gathered(const s0_gathering *how, const Py_ssize_t *s, Py_ssize_t n)
{
    const int result = how->nop - 1;
    Py_ssize_t gathered = 0;
    if (!how->each)
        return 1;
    if (n < S0_GATHERED_FROM || s[result] != S0_ITEMSIZE[how->codes[result]])
        return 0;
    for (int k = 0; k < result; k++) {
        const Py_ssize_t size = S0_ITEMSIZE[how->codes[k]];
        if (s[k] == size || s[k] == 0)
            continue;
        gathered += s[k] == 2 * size || s[k] == -size ? size : S0_LARGEST_ITEM;
    }
    return gathered <= S0_GATHERED_BYTES;
}

static void s0_blockwise(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m, const s0_gathering *how)
{
    static const Py_ssize_t still[S0_GATHERED_OPERANDS];
    _Alignas(64) char block[S0_GATHERED_OPERANDS][S0_GATHERED];
    const s0_loop *loops = (const s0_loop *)((const char *)s0_table + how->loops);
    const int result = how->nop - 1;
    Py_ssize_t size[S0_GATHERED_OPERANDS], inner[S0_GATHERED_OPERANDS], i, j, most = S0_GATHERED;
    s0_loop move[S0_GATHERED_OPERANDS], loop = loops[0];
    int k;
    if (loops[S0_SECONDS] && n >= S0_GATHERED_FROM && s0_is_every_second(how, s)) {
        loops[S0_SECONDS](a, s, t, n, m);
        return;
    }
    if (!s0_is_gathered(how, s, n)) {
        how->each(a, s, t, n, m);
        return;
    }
    for (k = 0; k <= result; k++) {
        size[k] = inner[k] = S0_ITEMSIZE[how->codes[k]];
        move[k] = s0_table->casts[how->codes[k]][how->codes[k]][s[k] == 0 ? 1 : 3];
        if (S0_GATHERED / size[k] < most)
            most = S0_GATHERED / size[k];
    }
    /* One value as an operand needs no block where there is a loop for it. */
    if (result == 2 && (s[0] == 0) != (s[1] == 0)) {
        k = s[0] == 0 ? 0 : 1;
        if (loops[k + 1] != loops[3])
            loop = loops[k + 1], inner[k] = 0;
    }
    for (j = 0; j < m; j++) {
        for (i = 0; i < n; i += most) {
            const Py_ssize_t count = n - i < most ? n - i : most;
            char *in[S0_GATHERED_OPERANDS];
            for (k = 0; k <= result; k++) {
                in[k] = a[k] + i * s[k] + j * t[k];
                if (s[k] != inner[k]) {
                    /* One value fills its block once for a run. */
                    char *both[2] = {in[k], block[k]};
                    const Py_ssize_t strides[2] = {s[k], size[k]};
                    if (k < result && (i == 0 || s[k] != 0))
                        move[k](both, strides, still, count, 1);
                    in[k] = block[k];
                }
            }
            loop(in, inner, still, count, 1);
            if (s[result] != size[result]) {
                char *both[2] = {block[result], a[result] + i * s[result] + j * t[result]};
                const Py_ssize_t strides[2] = {size[result], s[result]};
                move[result](both, strides, still, count, 1);
            }
        }
    }
}

#endif

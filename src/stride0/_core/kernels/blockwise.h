/* Loops over any strides, composed of loops over contiguous elements. */
/* Note [Blockwise]
       A loop over any strides has one element in a register at a time. It is faster to gather a block of each operand into the
       first-level cache, to run the loop over contiguous elements, and to scatter the block of the result, in two cases: the
       compiler makes branches of a selection, or a vector of elements takes as long as one element. Other loops run element by
       element, unless vectors can do the gathering and there is little to gather: every second element, or all elements in
       reverse, into a contiguous result. The processor stores one element per cycle, both element by element and when
       scattering, but a whole vector in one or two cycles. Each block of every operand is read before the results of the block
       are written, so a result may be the same elements as an operand. */
#ifndef STRIDE0_BLOCKWISE_H
#define STRIDE0_BLOCKWISE_H

#include "dtypes.h"
#include "kernels.h"

enum {
    S0_GATHERED = 4096,       /* bytes of a block of an operand, at most */
    S0_GATHERED_OPERANDS = 4,
    S0_GATHERED_FROM = 32,    /* least elements of a run, and */
    S0_GATHERED_BYTES = 8,    /* most bytes gathered per element of the result, if the loop may also run element by element */
};

/* The loops of an operation in s0_table, by layout; the loop that runs element by element, or NULL; and the dtype codes of the
 * `nop` operands, of which the last is the result. */
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
    /* A broadcast operand needs no block if there is a loop for it. */
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
                    /* A broadcast value fills its block once per run. */
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

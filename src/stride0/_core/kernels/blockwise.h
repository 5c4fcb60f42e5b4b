/* A loop over any strides, made of the loop over contiguous elements. */
/* Note [Blockwise]
       A loop over any strides has one element in a register at a time. Where the compiler makes branches of a selection there,
       or a vector of elements takes as long as one, it is faster to gather a block of each operand into the first-level cache,
       to run the loop over contiguous elements, and to scatter the block of the result. Elements of 4 bytes and less always gain
       where every second one is read, or all in reverse, since moving those is vectorised. Each block of every operand is read
       before the results of the block are written, so a result may be the same elements as an operand. */
#ifndef STRIDE0_BLOCKWISE_H
#define STRIDE0_BLOCKWISE_H

#include "dtypes.h"
#include "kernels.h"

enum { S0_GATHERED = 256, S0_GATHERED_OPERANDS = 4 };

/* `codes` are those of the dtypes of the `nop` operands, of which the result is the last. */
static void s0_blockwise(const s0_kernels *table, s0_loop loop, int nop, const signed char *codes, char **a,
                         const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    static const Py_ssize_t still[S0_GATHERED_OPERANDS];
    _Alignas(64) char block[S0_GATHERED_OPERANDS][S0_GATHERED * S0_LARGEST_ITEM];
    Py_ssize_t size[S0_GATHERED_OPERANDS], i, j;
    s0_loop move[S0_GATHERED_OPERANDS];
    int k;
    for (k = 0; k < nop; k++) {
        size[k] = S0_ITEMSIZE[codes[k]];
        move[k] = table->casts[codes[k]][codes[k]][s[k] == 0 ? 1 : 3];
    }
    for (j = 0; j < m; j++) {
        for (i = 0; i < n; i += S0_GATHERED) {
            const Py_ssize_t count = n - i < S0_GATHERED ? n - i : S0_GATHERED;
            char *in[S0_GATHERED_OPERANDS];
            for (k = 0; k < nop; k++) {
                in[k] = a[k] + i * s[k] + j * t[k];
                if (s[k] != size[k]) {
                    /* One value fills its block once for a run. */
                    char *both[2] = {in[k], block[k]};
                    const Py_ssize_t strides[2] = {s[k], size[k]};
                    if (k < nop - 1 && (i == 0 || s[k] != 0))
                        move[k](both, strides, still, count, 1);
                    in[k] = block[k];
                }
            }
            loop(in, size, still, count, 1);
            k = nop - 1;
            if (s[k] != size[k]) {
                char *both[2] = {block[k], a[k] + i * s[k] + j * t[k]};
                const Py_ssize_t strides[2] = {size[k], s[k]};
                move[k](both, strides, still, count, 1);
            }
        }
    }
}

#endif

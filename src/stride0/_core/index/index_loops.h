/* The loops over elements of `masks.h` and `gathering.h`, which `index_loops.c` compiles for the module. */
#ifndef STRIDE0_INDEX_LOOPS_H
#define STRIDE0_INDEX_LOOPS_H

#include <Python.h>
#include <stdint.h>

/* An axis that an index array indexes: its size, its stride in bytes, its number. */
typedef struct {
    Py_ssize_t size, stride;
    int axis;
} s0_pick;

/* A loop that copies elements with any strides: the kernel that casts a dtype to itself. */
typedef void (*s0_copy_loop)(char **, const Py_ssize_t *, const Py_ssize_t *, Py_ssize_t, Py_ssize_t);

/* What a lane does with the elements at indices. */
enum { S0_READ, S0_WRITE, S0_ADD };

/* An array has at most 64 axes. */
enum { S0_MAX_PICKS = 65, S0_MAX_ROWS = S0_MAX_PICKS + 2 };

/* m lanes of n indices from -size to size - 1. If `size` is 0, the indices are not negative and are not checked. Index i of lane
 * j selects the element at `here + j * lane + i * step + index * stride`. The other operand (the result of a read, the values to
 * write or add) is at `other`, with steps of `other_step` and `other_lane` bytes. */
typedef struct {
    const char *indices;
    char *here, *other;
    Py_ssize_t n, m, index_step, index_lane, step, lane, other_step, other_lane, stride, size;
} s0_index_lanes;

Py_ssize_t s0_count_true(const uint8_t *bits, Py_ssize_t n);
Py_ssize_t s0_true_indices(const uint8_t *bits, int ndim, const Py_ssize_t *shape, int64_t **columns, Py_ssize_t count);
Py_ssize_t s0_gather_true(int width, const uint8_t *bits, Py_ssize_t n, const char *from, Py_ssize_t stride,
                          char *out, Py_ssize_t capacity);
Py_ssize_t s0_scatter_true(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,
                           const char *from, Py_ssize_t count);
Py_ssize_t s0_fill_true(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,
                        const char *value, int vector);
int s0_are_within(const int64_t *indices, Py_ssize_t n, Py_ssize_t size);
int s0_make_positive(int64_t *indices, Py_ssize_t n, Py_ssize_t size);
int s0_move_lanes(const s0_index_lanes *l, int mode, int width, Py_ssize_t run);
int s0_gather_points(int ndim, int width, const int64_t *const *indices, const Py_ssize_t *sizes,
                     const Py_ssize_t *strides, Py_ssize_t n, const char *from, char *out);
int s0_move_picked(int mode, int width, Py_ssize_t run, const s0_pick *picks, int count, char *const *at,
                   const Py_ssize_t *steps, const Py_ssize_t *lanes, Py_ssize_t n, Py_ssize_t m, s0_copy_loop copy);

#endif

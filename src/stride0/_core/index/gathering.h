/* Lanes of gathers and scatters: elements at indices, without branches that are mispredicted.
 *
 * Indices are the user's, and another thread may write to them at any time: whatever they contain, nothing is read or
 * written outside of the arrays. */
#ifndef STRIDE0_GATHERING_H
#define STRIDE0_GATHERING_H

#include "index_loops.h"
#include "masks.h"

/* Whether all indices are from -size to size - 1. */
int s0_are_within(const int64_t *indices, Py_ssize_t n, Py_ssize_t size)
{
    uint64_t bad = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        /* If the index is out of bounds, bit 63 of `from_last` or of `2 * size - 1 - from_last` is set. */
        const uint64_t from_last = (uint64_t)indices[i] + (uint64_t)size;
        bad |= from_last | (2 * (uint64_t)size - 1 - from_last);
    }
    return bad >> 63 == 0;
}

/* Add `size` to negative indices. Returns whether all indices were from -size to size - 1. */
int s0_make_positive(int64_t *indices, Py_ssize_t n, Py_ssize_t size)
{
    int bad = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        indices[i] += size & (indices[i] >> 63);
        bad |= (uint64_t)indices[i] >= (uint64_t)size;
    }
    return !bad;
}

/* The number of offsets that are summed at a time. */
enum { S0_OFFSETS = 256 };

/* Add `size` to a negative index. If the index is out of bounds, set `bad` and return 0. Most indices are not negative. */
S0_ALONG int64_t s0_place(int64_t at, Py_ssize_t size, uint64_t *bad)
{
    if (__builtin_expect((uint64_t)at >= (uint64_t)size, 0)) {
        at += size & (at >> 63);
        if ((uint64_t)at >= (uint64_t)size)
            *bad = 1, at = 0;
    }
    return at;
}

#define S0_INDEX(i) (*(const int64_t *)(indices + (i) * index_step))
#define S0_CHECKED_INDEX(i) (checked ? s0_place(S0_INDEX(i), size, &bad) : S0_INDEX(i))

#define S0_ELEMENT(i) (here + (i) * step + S0_CHECKED_INDEX(i) * stride)

#define S0_STEPS const Py_ssize_t index_step, const Py_ssize_t step, const Py_ssize_t other_step, const Py_ssize_t stride
#define S0_STEPS_OF(l) l->index_step, l->step, l->other_step, l->stride

/* A function body that loops over lanes, and returns whether all indices are valid; the argument loops over the
 * indices of a lane. */
#define S0_FOR_LANES(...)                                                                                            \
    const Py_ssize_t n = l->n, size = l->size;                                                                       \
    uint64_t bad = 0;                                                                                                \
    Py_ssize_t i, j;                                                                                                 \
    for (j = 0; j < l->m; j++) {                                                                                     \
        const char *indices = l->indices + j * l->index_lane;                                                        \
        char *here = l->here + j * l->lane, *other = l->other + j * l->other_lane;                                   \
        __VA_ARGS__                                                                                                  \
    }                                                                                                                \
    return bad == 0;

typedef struct {
    uint64_t low, high;
} s0_wide_element;

/* Four elements are read before they are written, which processors do faster. */
#define S0_READ_FOUR(element)                                                                                        \
    for (; i + 4 <= n; i += 4) {                                                                                     \
        element a = *(element *)S0_ELEMENT(i), b = *(element *)S0_ELEMENT(i + 1);                                    \
        element c = *(element *)S0_ELEMENT(i + 2), d = *(element *)S0_ELEMENT(i + 3);                                \
        ((element *)other)[i] = a, ((element *)other)[i + 1] = b;                                                    \
        ((element *)other)[i + 2] = c, ((element *)other)[i + 3] = d;                                                \
    }

S0_ALONG int s0_read_elements(const s0_index_lanes *l, const int width, const int checked, S0_STEPS)
{
    S0_FOR_LANES({
        i = 0;
        if (other_step == width) {
            switch (width) {
            case 1:
                if (!checked) {
                    S0_READ_FOUR(uint8_t)
                    break;
                }
                /* One by one, since compilers would join the four bytes by shifts. */
                for (; i + 4 <= n; i += 4) {
                    other[i] = *S0_ELEMENT(i), other[i + 1] = *S0_ELEMENT(i + 1);
                    other[i + 2] = *S0_ELEMENT(i + 2), other[i + 3] = *S0_ELEMENT(i + 3);
                }
                break;
            case 2: S0_READ_FOUR(uint16_t) break;
            case 4: S0_READ_FOUR(uint32_t) break;
            case 8: S0_READ_FOUR(uint64_t) break;
            default: S0_READ_FOUR(s0_wide_element)
            }
        }
        for (; i < n; i++)
            memcpy(other + i * other_step, S0_ELEMENT(i), (size_t)width);
    })
}

S0_ALONG int s0_write_elements(const s0_index_lanes *l, const int width, const int checked, S0_STEPS)
{
    S0_FOR_LANES(for (i = 0; i < n; i++) memcpy(S0_ELEMENT(i), other + i * other_step, (size_t)width);)
}

/* A run of bytes; a short one without a call, as two halves that may overlap. */
static inline void s0_copy_run(char *to, const char *from, Py_ssize_t run)
{
#define S0_HALVES(bytes) memcpy(to, from, bytes), memcpy(to + run - (bytes), from + run - (bytes), bytes)
    if (run > 64 || run < 8)
        memcpy(to, from, (size_t)run);
    else if (run > 32)
        S0_HALVES(32);
    else if (run > 16)
        S0_HALVES(16);
    else
        S0_HALVES(8);
#undef S0_HALVES
}

/* Runs of at least S0_AHEAD_FROM bytes are prefetched, up to S0_AHEAD_TO bytes: processors cannot predict where a run begins. */
enum { S0_AHEAD = 4, S0_AHEAD_FROM = 128, S0_AHEAD_TO = 512 };

S0_ALONG int s0_move_runs(const s0_index_lanes *l, const int mode, Py_ssize_t run, const int checked, S0_STEPS)
{
    const Py_ssize_t ahead = run < S0_AHEAD_FROM || mode != S0_READ ? l->n : S0_AHEAD;
    Py_ssize_t k;
    S0_FOR_LANES(for (i = 0; i < n; i++) {
        char *element = S0_ELEMENT(i);
        if (i + ahead < n) {
            /* An index that is not valid yet: any address may be prefetched. */
            const char *next = here + (i + ahead) * step + (uint64_t)S0_INDEX(i + ahead) * (uint64_t)stride;
            for (k = 0; k < run && k < S0_AHEAD_TO; k += 64)
                __builtin_prefetch(next + k);
        }
        s0_copy_run(mode == S0_READ ? other + i * other_step : element, mode == S0_READ ? element : other + i * other_step, run);
    })
}

/* Runs of numbers are added in the order of the indices; integers, which wrap around, as unsigned ones. */
#define S0_ADD_RUNS(name, type)                                                                                      \
    static int s0_add_##name(const s0_index_lanes *l, Py_ssize_t run, const int checked, S0_STEPS)                         \
    {                                                                                                                \
        Py_ssize_t k;                                                                                                \
        S0_FOR_LANES(for (i = 0; i < n; i++) {                                                                       \
            type *to = (type *)S0_ELEMENT(i);                                                                        \
            const type *from = (const type *)(other + i * other_step);                                               \
            for (k = 0; k < run / (Py_ssize_t)sizeof(type); k++)                                                     \
                to[k] = (type)(to[k] + from[k]);                                                                     \
        })                                                                                                           \
    }

S0_ADD_RUNS(double, double)
S0_ADD_RUNS(float, float)
S0_ADD_RUNS(1, uint8_t)
S0_ADD_RUNS(2, uint16_t)
S0_ADD_RUNS(4, uint32_t)
S0_ADD_RUNS(8, uint64_t)

static int s0_add_runs(const s0_index_lanes *l, int component, Py_ssize_t run)
{
    const int checked = l->size != 0;
    switch (component) {
    case -8: return s0_add_double(l, run, checked, S0_STEPS_OF(l));
    case -4: return s0_add_float(l, run, checked, S0_STEPS_OF(l));
    case 1: return s0_add_1(l, run, checked, S0_STEPS_OF(l));
    case 2: return s0_add_2(l, run, checked, S0_STEPS_OF(l));
    case 4: return s0_add_4(l, run, checked, S0_STEPS_OF(l));
    default: return s0_add_8(l, run, checked, S0_STEPS_OF(l));
    }
}

/* Lanes with one index array. `width` is the item size if runs are moved as single elements, and 0 for other runs. If elements
 * are added, `width` is the item size of their components, negative for floating-point numbers. */
int s0_move_lanes(const s0_index_lanes *l, int mode, int width, Py_ssize_t run)
{
    const int checked = l->size != 0, is_dense = l->index_step == 8 && l->step == 0 && l->other_step == width;
    if (mode == S0_ADD)
        return s0_add_runs(l, width, run);
    if (width == 0 && mode == S0_READ && checked && l->index_step == 8 && l->step == 0 && l->other_step == run)
        return s0_move_runs(l, S0_READ, run, 1, 8, 0, run, l->stride);
    if (width == 0 && mode == S0_READ)
        return s0_move_runs(l, S0_READ, run, checked, S0_STEPS_OF(l));
    if (width == 0)
        return s0_move_runs(l, S0_WRITE, run, checked, S0_STEPS_OF(l));
    if (mode == S0_READ && is_dense && l->stride == width && !checked)
        S0_BY_WIDTH(width, s0_read_elements(l, WIDTH, 0, 8, 0, WIDTH, WIDTH))
    if (mode == S0_READ && is_dense && l->stride == width)
        S0_BY_WIDTH(width, s0_read_elements(l, WIDTH, 1, 8, 0, WIDTH, WIDTH))
    if (mode == S0_READ && is_dense && !checked)
        S0_BY_WIDTH(width, s0_read_elements(l, WIDTH, 0, 8, 0, WIDTH, l->stride))
    if (mode == S0_READ && is_dense)
        S0_BY_WIDTH(width, s0_read_elements(l, WIDTH, 1, 8, 0, WIDTH, l->stride))
    if (mode == S0_READ)
        S0_BY_WIDTH(width, s0_read_elements(l, WIDTH, checked, S0_STEPS_OF(l)))
    if (l->index_step == 8 && l->step == 0 && l->stride == width && checked)
        S0_BY_WIDTH(width, s0_write_elements(l, WIDTH, 1, 8, 0, l->other_step, WIDTH))
    if (l->index_step == 8 && l->step == 0 && checked)
        S0_BY_WIDTH(width, s0_write_elements(l, WIDTH, 1, 8, 0, l->other_step, l->stride))
    if (checked)
        S0_BY_WIDTH(width, s0_write_elements(l, WIDTH, 1, S0_STEPS_OF(l)))
    S0_BY_WIDTH(width, s0_write_elements(l, WIDTH, 0, S0_STEPS_OF(l)))
}

/* Elements of an array of `ndim` axes at indices for each of them. */
S0_ALONG int s0_read_points(const int ndim, const int width, const int64_t *const *indices, const Py_ssize_t *sizes,
                            const Py_ssize_t *strides, Py_ssize_t n, const char *from, char *restrict out)
{
    uint64_t bad = 0;
    Py_ssize_t i;
    int d;
    for (i = 0; i < n; i++) {
        const char *element = from;
        for (d = 0; d < ndim; d++)
            element += s0_place(indices[d][i], sizes[d], &bad) * strides[d];
        memcpy(out + i * width, element, (size_t)width);
    }
    return bad == 0;
}

int s0_gather_points(int ndim, int width, const int64_t *const *indices, const Py_ssize_t *sizes,
                     const Py_ssize_t *strides, Py_ssize_t n, const char *from, char *restrict out)
{
    if (ndim == 2)
        S0_BY_WIDTH(width, s0_read_points(2, WIDTH, indices, sizes, strides, n, from, out))
    S0_BY_WIDTH(width, s0_read_points(ndim, WIDTH, indices, sizes, strides, n, from, out))
}

/* A lane of n elements with any number of index arrays. Indices that are the same in the whole lane move its beginning;
 * offsets of the others are added up. */
static int s0_move_lane(int mode, int width, Py_ssize_t run, const s0_pick *picks, int count, char *const *at,
                        const Py_ssize_t *steps, Py_ssize_t n)
{
    int64_t offsets[S0_OFFSETS];
    s0_index_lanes l;
    uint64_t bad = 0;
    Py_ssize_t first, i;
    char *begin = at[0];
    int k, moving = 0, last = 0;
    for (k = 0; k < count; k++) {
        if (steps[2 + k])
            moving++, last = k;
        else
            begin += s0_place(*(const int64_t *)at[2 + k], picks[k].size, &bad) * picks[k].stride;
    }
    l = (s0_index_lanes){.indices = (const char *)offsets, .here = begin, .other = at[1], .n = n, .m = 1, .step = steps[0],
                   .other_step = steps[1], .stride = 1};
    if (moving == 1) {
        l.indices = at[2 + last], l.index_step = steps[2 + last], l.stride = picks[last].stride, l.size = picks[last].size;
        return s0_move_lanes(&l, mode, width, run) && bad == 0;
    }
    offsets[0] = 0;
    l.index_step = moving ? 8 : 0;
    l.n = moving ? 0 : n;
    for (first = 0; first < n; first += l.n, l.here += l.n * l.step, l.other += l.n * l.other_step) {
        char *here = l.here;
        int begun = 0;
        if (moving)
            l.n = n - first < S0_OFFSETS ? n - first : S0_OFFSETS;
        for (k = 0; k < count; k++) {
            const Py_ssize_t size = picks[k].size, stride = picks[k].stride, index_step = steps[2 + k];
            const Py_ssize_t low = stride < 0 ? (size - 1) * stride : 0;
            const char *indices = at[2 + k] + first * index_step;
            if (index_step == 0)
                continue;
            for (i = 0; i < l.n; i++) {
                const int64_t offset = s0_place(S0_INDEX(i), size, &bad) * stride - low;
                offsets[i] = begun ? offsets[i] + offset : offset;
            }
            l.here += low;
            begun = 1;
        }
        s0_move_lanes(&l, mode, width, run);
        l.here = here;
    }
    return bad == 0;
}

/* m lanes with one index each, whose elements are copied by the loop of a kernel: 1.25 to 11 times as fast as `s0_move_lanes` on the
 * rows `take(a, j, axis=0)` of sliced arrays of 1,000 and 100,000 elements of rows.py. */
static int s0_copy_lanes(const s0_index_lanes *l, int mode, s0_copy_loop copy)
{
    const Py_ssize_t inner[2] = {mode == S0_READ ? l->step : l->other_step, mode == S0_READ ? l->other_step : l->step};
    const Py_ssize_t outer[2] = {0, 0};
    uint64_t bad = 0;
    Py_ssize_t j;
    for (j = 0; j < l->m; j++) {
        const int64_t at = s0_place(*(const int64_t *)(l->indices + j * l->index_lane), l->size, &bad);
        char *element = l->here + j * l->lane + at * l->stride, *other = l->other + j * l->other_lane;
        char *args[2] = {mode == S0_READ ? element : other, mode == S0_READ ? other : element};
        copy(args, inner, outer, l->n, 1);
    }
    return bad == 0;
}

/* m lanes of n elements. `copy`: the loop that copies elements, NULL for runs and additions. `at`, `steps` and `lanes` have
 * an entry for the array, one for the other operand, and one for each index array. */
int s0_move_picked(int mode, int width, Py_ssize_t run, const s0_pick *picks, int count, char *const *at,
                   const Py_ssize_t *steps, const Py_ssize_t *lanes, Py_ssize_t n, Py_ssize_t m, s0_copy_loop copy)
{
    char *here[S0_MAX_ROWS];
    int valid = 1, k;
    if (count == 1) {
        const s0_index_lanes l = {at[2], at[0], at[1], n, m, steps[2], lanes[2], steps[0], lanes[0], steps[1], lanes[1],
                            picks->stride, picks->size};
        return steps[2] || picks->size == 0 || copy == NULL ? s0_move_lanes(&l, mode, width, run) : s0_copy_lanes(&l, mode, copy);
    }
    for (k = 0; k < 2 + count; k++)
        here[k] = at[k];
    for (; m > 0; m--) {
        valid &= s0_move_lane(mode, width, run, picks, count, here, steps, n);
        for (k = 0; k < 2 + count; k++)
            here[k] += lanes[k];
    }
    return valid;
}

#endif

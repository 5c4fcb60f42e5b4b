/* Counts of integers, the intervals of a histogram that contain elements, and values of a curve between its points. */
#ifndef STRIDE0_COUNTING_H
#define STRIDE0_COUNTING_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "order_loops.h"
#include "searching.h"

/* The largest of one or more numbers; a negative number if one of them is negative. */
Py_ssize_t s0_largest_place(const int64_t *x, Py_ssize_t n)
{
    Py_ssize_t i;
    int64_t most = x[0], signs = 0;
    for (i = 0; i < n; i++) {
        most = x[i] > most ? x[i] : most;
        signs |= x[i];
    }
    return signs < 0 ? -1 : (Py_ssize_t)most;
}

/* Add one, or a weight, to the entry of a number below `size`. The number is checked again, because another thread may have
 * changed it since `size` was determined. */
#define S0_COUNT(table, at)                                                                                          \
    if ((uint64_t)(at) < (uint64_t)size)                                                                             \
        table[at]++;

/* Add to `out` how often each number below `size` occurs. If `size` is small, equal numbers follow each other, and each addition
 * would wait for the previous one, so four tables take turns. */
void s0_count_places(const int64_t *x, Py_ssize_t n, int64_t *out, Py_ssize_t size)
{
    enum { few = 256 };
    Py_ssize_t i = 0, k;
    if (size <= few && n >= 4 * size) {
        int64_t more[3][few];
        memset(more, 0, sizeof more);
        for (; i + 4 <= n; i += 4) {
            const int64_t a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];
            S0_COUNT(out, a)
            S0_COUNT(more[0], b)
            S0_COUNT(more[1], c)
            S0_COUNT(more[2], d)
        }
        for (k = 0; k < size; k++)
            out[k] += more[0][k] + more[1][k] + more[2][k];
    }
    for (; i < n; i++) {
        const int64_t at = x[i];
        S0_COUNT(out, at)
    }
}

/* Add the weights of each number to `out`, in the order of the elements; `parts` is 1, or 2 for complex weights. */
void s0_add_weights(const int64_t *x, Py_ssize_t n, const double *weights, int parts, double *out, Py_ssize_t size)
{
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const int64_t at = x[i];
        if ((uint64_t)at >= (uint64_t)size)
            continue;
        out[parts * at] += weights[parts * i];
        if (parts == 2)
            out[2 * at + 1] += weights[2 * i + 1];
    }
}

/* A quotient gives the interval, and the edges correct it if rounding has crossed an edge. Outside the edges it is `count`. */
#define S0_PLACES(name, type)                                                                                        \
    void s0_places_##name(const s0_intervals *of, const type *x, Py_ssize_t n, int64_t *out)                         \
    {                                                                                                                \
        const double first = of->first, width = of->last - of->first, number = (double)of->count;                    \
        const double *edges = of->edges;                                                                             \
        const int64_t count = of->count;                                                                             \
        const double least = edges[0], most = edges[count];                                                          \
        Py_ssize_t i;                                                                                                \
        for (i = 0; i < n; i++) {                                                                                    \
            const double there = x[i];                                                                               \
            const int inside = (there >= least) & (there <= most);                                                   \
            int64_t place = (int64_t)(((inside ? there : first) - first) / width * number);                          \
            place = place < count ? place : count - 1;                                                               \
            place = place < 0 ? 0 : place;                                                                           \
            place -= (place > 0) & (there < edges[place]);                                                           \
            place += (place < count - 1) & (there >= edges[place + 1]);                                              \
            out[i] = inside ? place : count;                                                                         \
        }                                                                                                            \
    }
S0_PLACES(f32, float)
S0_PLACES(f64, double)

/* The value at `v` on the segment from (x0, y0) to (x1, y1), if its width or its slope is not finite. At an end it is the value
 * of that end. If x1 - x0 is infinite, or if the difference of finite values overflows, it is a weighted mean; otherwise the
 * infinite value. */
#define S0_WEIGH(name, type)                                                                                         \
    static type s0_weigh_##name(type v, type x0, type x1, type y0, type y1)                                          \
    {                                                                                                                \
        const int left = x0 - x0 == 0, right = x1 - x1 == 0;                                                         \
        type weight = x1 - x0;                                                                                       \
        if (v == x1)                                                                                                 \
            return y1;                                                                                               \
        if (v == x0 || y0 == y1)                                                                                     \
            return y0;                                                                                               \
        if (y0 - y0 != 0 || y1 - y1 != 0)                                                                            \
            return left && right ? y0 + y1 : (type)NAN;                                                              \
        if (left && right)                                                                                           \
            weight = weight - weight == 0 ? (v - x0) / weight : (v / 2 - x0 / 2) / (x1 / 2 - x0 / 2);                \
        else                                                                                                         \
            weight = x0 != x0 || x1 != x1 ? (type)NAN : left ? 0 : right ? 1 : (type)NAN;                            \
        return y0 * (1 - weight) + y1 * weight;                                                                      \
    }
S0_WEIGH(f32, float)
S0_WEIGH(f64, double)

/* A curve through n points: its values at `x`, with given values before the first point and behind the last point. */
#define S0_INTERPOLATE(name, type)                                                                                   \
    void s0_interpolate_##name(const type *points, const type *values, Py_ssize_t n, const type *x,                  \
                               Py_ssize_t count, type before, type behind, type *out)                                \
    {                                                                                                                \
        enum { block = 128 };                                                                                        \
        int64_t places[block];                                                                                       \
        Py_ssize_t i, j, size, at;                                                                                   \
        const type first = points[0], last = points[n - 1];                                                          \
        for (i = 0; i < count; i += block) {                                                                         \
            size = count - i < block ? count - i : block;                                                            \
            s0_search_right_##name((const char *)points, sizeof(type), n, x + i, size, places);                      \
            for (j = 0; j < size; j++) {                                                                             \
                const type v = x[i + j];                                                                             \
                type found = values[0];                                                                              \
                if (n > 1) {                                                                                         \
                    at = (Py_ssize_t)places[j] - 1;                                                                  \
                    at = at < 0 ? 0 : at > n - 2 ? n - 2 : at;                                                       \
                    const type x0 = points[at], x1 = points[at + 1], y0 = values[at], y1 = values[at + 1];           \
                    const type width = x1 - x0, slope = (y1 - y0) / width;                                           \
                    found = slope * (v - (v == x1 ? x1 : x0)) + (v == x1 ? y1 : y0);                                 \
                    if (slope - slope != 0 || width - width != 0)                                                    \
                        found = s0_weigh_##name(v, x0, x1, y0, y1);                                                  \
                }                                                                                                    \
                found = v < first ? before : found;                                                                  \
                found = v > last ? behind : found;                                                                   \
                out[i + j] = v != v ? v : found;                                                                     \
            }                                                                                                        \
        }                                                                                                            \
    }
S0_INTERPOLATE(f32, float)
S0_INTERPOLATE(f64, double)

#endif

/* The loops over elements of `counting.h`, `distinct.h` and `searching.h`, which `order_loops.c` compiles for the module. */
#ifndef STRIDE0_ORDER_LOOPS_H
#define STRIDE0_ORDER_LOOPS_H

#include <Python.h>
#include <stdint.h>

/* The largest number of distinct elements that `s0_few_values` finds. */
enum { S0_FEW_DISTINCT = 256 };

/* `count` intervals of equal width from edges[0] to edges[count]. The edges are rounded to the dtype of the elements. */
typedef struct {
    double first, last; /* the ends, from which the width is computed */
    const double *edges;
    Py_ssize_t count;
} s0_intervals;

Py_ssize_t s0_largest_place(const int64_t *x, Py_ssize_t n);
void s0_count_places(const int64_t *x, Py_ssize_t n, int64_t *out, Py_ssize_t size);
void s0_add_weights(const int64_t *x, Py_ssize_t n, const double *weights, int parts, double *out, Py_ssize_t size);
Py_ssize_t s0_distinct(char *data, Py_ssize_t n, int width, int kind);
Py_ssize_t s0_few_values(const char *x, Py_ssize_t n, int width, int kind, char *found, int64_t *counts);
void s0_search(const char *lane, Py_ssize_t stride, Py_ssize_t n, const char *wanted, Py_ssize_t count, int width,
               int kind, int right, int64_t *out);
void s0_places_f32(const s0_intervals *of, const float *x, Py_ssize_t n, int64_t *out);
void s0_interpolate_f32(const float *points, const float *values, Py_ssize_t n, const float *x, Py_ssize_t count,
                        float before, float behind, float *out);
void s0_places_f64(const s0_intervals *of, const double *x, Py_ssize_t n, int64_t *out);
void s0_interpolate_f64(const double *points, const double *values, Py_ssize_t n, const double *x, Py_ssize_t count,
                        double before, double behind, double *out);

#endif

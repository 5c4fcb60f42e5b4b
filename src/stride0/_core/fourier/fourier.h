/* Fourier transforms of short lanes, and of long lanes as matrices: Note [Fourier transforms] of fourier/transforms.pxi. */
#ifndef STRIDE0_FOURIER_H
#define STRIDE0_FOURIER_H

#include "fourier_lanes.h"

/* -- a long transform, as the transform of a matrix ------------------------------------------------------------------------ */

/* For units of S0_LANES columns: multiply by the chirp if the transform is a convolution, transform, multiply by the turns, and write
 * the results to units of rows. */
static void s0_fourier_columns(const s0_fourier *all, const char *in, int single, double *middle, Py_ssize_t first, Py_ssize_t last,
                               double *scratch)
{
    const Py_ssize_t rows = all->columns.length, columns = all->rows.length, size = single ? 8 : 16;
    const double *turns = all->turns + 2 * first * rows * S0_LANES, *const chirp = all->chirp;
    s0_complexes *const one = (s0_complexes *)scratch, *const two = one + rows, *const three = two + rows;
    s0_lanes re[S0_LANES], im[S0_LANES];
    const int inverse = all->inverse;
    for (Py_ssize_t unit = first; unit < last; unit++) {
        /* A convolution has whole units only. Otherwise the last unit overlaps the previous unit, and skips its columns when writing. */
        const Py_ssize_t c = (unit + 1) * S0_LANES <= columns ? unit * S0_LANES : columns - S0_LANES;
        const Py_ssize_t old = unit * S0_LANES - c;
        const s0_complexes *done;
        const char *from = in + c * size;
        for (Py_ssize_t r = 0; !chirp && r < rows; r++, from += columns * size) {
            const s0_complexes x = s0_read_complexes(from, single);
            one[r] = inverse ? S0_EXCHANGED(x) : x;
        }
        for (Py_ssize_t r = 0, k = c; chirp && r < rows; r++, k += columns) {
            const s0_complexes x = s0_read_some(in + k * size, all->numbers - k, single);
            const s0_complexes w = s0_read_some((const char *)(chirp + 2 * k), all->numbers - k, 0);
            one[r] = inverse ? S0_EXCHANGED(x) : x;
            one[r] = S0_TURNED(one[r], w.re, w.im);
        }
        done = s0_transform_lanes(&all->columns, one, two, three, one);
        for (Py_ssize_t r = 0; r < rows; r += S0_LANES) {
            s0_complexes *const to = (s0_complexes *)middle + r / S0_LANES * columns + c;
            _Pragma("GCC unroll 8") for (int u = 0; u < S0_LANES; u++)
                if (r + u < rows) {
                    const s0_complexes x = S0_TURNED(done[r + u], s0_lanes_at((const char *)turns, 0),
                                                     s0_lanes_at((const char *)(turns + S0_LANES), 0));
                    re[u] = x.re, im[u] = x.im;
                    turns += 2 * S0_LANES;
                } else {
                    re[u] = im[u] = (s0_lanes){0};
                }
            s0_transpose_lanes(re), s0_transpose_lanes(im);
            _Pragma("GCC unroll 8") for (int v = 0; v < S0_LANES; v++) if (v >= old) to[v] = (s0_complexes){re[v], im[v]};
        }
    }
}

/* Units of S0_LANES rows: transform them, and write each element to its position. */
static void s0_fourier_rows(const s0_fourier *all, const double *middle, char *out, int single, double factor, Py_ssize_t first,
                            Py_ssize_t last, double *scratch)
{
    const Py_ssize_t rows = all->columns.length, columns = all->rows.length, size = single ? 8 : 16;
    s0_complexes *const one = (s0_complexes *)scratch;
    const int inverse = all->inverse;
    for (Py_ssize_t r = first * S0_LANES; r < rows && r < last * S0_LANES; r += S0_LANES) {
        const Py_ssize_t some = rows - r < S0_LANES ? rows - r : S0_LANES;
        const s0_complexes *const unit = (const s0_complexes *)middle + r / S0_LANES * columns;
        const s0_complexes *const done = s0_transform_lanes(&all->rows, unit, one, one + columns, one + 2 * columns);
        char *to = out + r * size;
        for (Py_ssize_t c = 0; c < columns; c++, to += rows * size) {
            const s0_complexes x = {done[c].re * factor, done[c].im * factor};
            s0_write_some(to, inverse ? S0_EXCHANGED(x) : x, some, single, 0);
        }
    }
}

/* -- a convolution: the spectrum of the matrix stays in the order of `middle`, so no step reorders it -------------------------- */

/* For units of S0_LANES rows: transform, multiply by the spectrum, exchange real and imaginary parts, and transform again. Without a
 * spectrum, transform once. */
static void s0_fourier_convolve(const s0_fourier *all, double *middle, Py_ssize_t first, Py_ssize_t last, double *scratch)
{
    const Py_ssize_t columns = all->rows.length;
    for (Py_ssize_t unit = first; unit < last; unit++) {
        s0_complexes *const at = (s0_complexes *)middle + unit * columns, *const one = (s0_complexes *)scratch, *const two = one + columns;
        const double *by = all->spectrum + 2 * S0_LANES * unit * columns;
        const s0_complexes *done = s0_transform_lanes(&all->rows, at, one, two, at);
        if (all->spectrum) {
            for (Py_ssize_t c = 0; c < columns; c++, by += 2 * S0_LANES) {
                const s0_complexes x = S0_TURNED(done[c], s0_lanes_at((const char *)by, 0), s0_lanes_at((const char *)(by + S0_LANES), 0));
                at[c] = S0_EXCHANGED(x);
            }
            done = s0_transform_lanes(&all->rows, at, one, two, at);
        }
        if (done != at)
            memcpy(at, done, columns * sizeof(s0_complexes));
    }
}

/* For units of S0_LANES columns: multiply by the turns, transform, and multiply the results by the chirp. */
static void s0_fourier_back(const s0_fourier *all, const double *middle, char *out, int single, double factor, Py_ssize_t first,
                            Py_ssize_t last, double *scratch)
{
    const Py_ssize_t rows = all->columns.length, columns = all->rows.length, numbers = all->numbers, size = single ? 8 : 16;
    const double *turns = all->turns + 2 * first * rows * S0_LANES, *const chirp = all->chirp;
    s0_complexes *const one = (s0_complexes *)scratch, *const two = one + rows, *const three = two + rows;
    s0_lanes re[S0_LANES], im[S0_LANES];
    const int inverse = all->inverse;
    for (Py_ssize_t c = first * S0_LANES; c < last * S0_LANES; c += S0_LANES) {
        const s0_complexes *done;
        for (Py_ssize_t r = 0; r < rows; r += S0_LANES) {
            const s0_complexes *const from = (const s0_complexes *)middle + r / S0_LANES * columns + c;
            _Pragma("GCC unroll 8") for (int v = 0; v < S0_LANES; v++) re[v] = from[v].re, im[v] = from[v].im;
            s0_transpose_lanes(re), s0_transpose_lanes(im);
            _Pragma("GCC unroll 8") for (int u = 0; u < S0_LANES; u++, turns += 2 * S0_LANES)
                one[r + u] = S0_TURNED(((s0_complexes){re[u], im[u]}), s0_lanes_at((const char *)turns, 0),
                                       s0_lanes_at((const char *)(turns + S0_LANES), 0));
        }
        done = s0_transform_lanes(&all->columns, one, two, three, one);
        for (Py_ssize_t r = 0, k = c; k < numbers; r++, k += columns) {
            const Py_ssize_t some = numbers - k < S0_LANES ? numbers - k : S0_LANES;
            const s0_complexes w = s0_read_some((const char *)(chirp + 2 * k), some, 0);
            s0_complexes x = S0_TURNED(S0_EXCHANGED(done[r]), w.re, w.im);
            x = (s0_complexes){x.re * factor, x.im * factor};
            s0_write_some(out + k * size, inverse ? S0_EXCHANGED(x) : x, some, single, 0);
        }
    }
}

/* -- long spectra of real numbers --------------------------------------------------------------------------------- */

/* Write the spectrum of real numbers, half + 1 elements or all, for elements `first` to `last`, at most half / 2, and their opposites. */
static void s0_fourier_untangle(const s0_fourier *all, s0_fourier_kind kind, const double *in, char *out, int single, Py_ssize_t first,
                                Py_ssize_t last)
{
    const Py_ssize_t half = all->half, size = single ? 8 : 16;
    if (first == 0) {
        s0_write_some(out, (s0_complexes){{(in[0] + in[1]) * all->factor}, {0}}, 1, single, 0);
        s0_write_some(out + half * size, (s0_complexes){{(in[0] - in[1]) * all->factor}, {0}}, 1, single, 0);
        first = 1;
    }
    for (Py_ssize_t k = first; k < last; k += S0_LANES) {
        const Py_ssize_t count = last - k < S0_LANES ? last - k : S0_LANES;
        const s0_complexes w = s0_read_complexes((const char *)(all->halves + 2 * k), 0);
        s0_complexes low = s0_read_complexes((const char *)(in + 2 * k), 0);
        s0_complexes high = s0_backward(s0_read_complexes((const char *)(in + 2 * (half - k - (S0_LANES - 1))), 0));
        s0_untangle(&low, &high, w.re, w.im, 0, all->factor / 2);
        if (all->conjugate)
            low = S0_CONJUGATE(low), high = S0_CONJUGATE(high);
        s0_write_some(out + k * size, low, count, single, 0);
        s0_write_some(out + (half - k) * size, high, count, single, 1);
        if (kind == S0_ALL_OF_REAL) {
            s0_write_some(out + (2 * half - k) * size, S0_CONJUGATE(low), count, single, 1);
            s0_write_some(out + (half + k) * size, S0_CONJUGATE(high), count, single, 0);
        }
    }
}

/* The inverse of s0_fourier_untangle, for half + 1 elements. The imaginary parts of the first and the last element are ignored. */
static void s0_fourier_tangle(const s0_fourier *all, const char *in, int single, double *out, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t half = all->half, size = single ? 8 : 16;
    if (first == 0) {
        const double a = single ? *(const float *)in : *(const double *)in;
        const double b = single ? *(const float *)(in + half * size) : *(const double *)(in + half * size);
        out[0] = a + b, out[1] = a - b;
        first = 1;
    }
    for (Py_ssize_t k = first; k < last; k += S0_LANES) {
        const Py_ssize_t count = last - k < S0_LANES ? last - k : S0_LANES;
        const s0_complexes w = s0_read_complexes((const char *)(all->halves + 2 * k), 0);
        s0_complexes low = s0_read_complexes(in + k * size, single);
        s0_complexes high = s0_backward(s0_read_complexes(in + (half - k - (S0_LANES - 1)) * size, single));
        s0_untangle(&low, &high, w.re, w.im, 1, 1);
        s0_write_some((char *)(out + 2 * k), low, count, 0, 0);
        s0_write_some((char *)(out + 2 * (half - k)), high, count, 0, 1);
    }
}

/* -- lanes of any strides ----------------------------------------------------------------------------------------- */

/* The number of lanes, starting with the first, that are equally far apart, and their distance. */
static Py_ssize_t s0_equally_apart(char *const *to, char *const *from, Py_ssize_t lanes, Py_ssize_t *apart)
{
    Py_ssize_t u = 1;
    apart[0] = lanes > 1 ? from[1] - from[0] : 0, apart[1] = lanes > 1 ? to[1] - to[0] : 0;
    while (u < lanes && from[u] - from[u - 1] == apart[0] && to[u] - to[u - 1] == apart[1])
        u++;
    return u;
}

/* Copy `count` elements of `lanes` lanes, `size` bytes each; elements are `in` and `out` bytes apart. Adjacent lanes are the
 * columns of a matrix: a transpose reads, or writes, each cache line once. */
static void s0_fourier_copy(char *const *to, Py_ssize_t out, char *const *from, Py_ssize_t in, Py_ssize_t lanes, Py_ssize_t count,
                            Py_ssize_t size)
{
    const int code = size == 4 ? S0_FLOAT32 : size == 8 ? S0_FLOAT64 : S0_COMPLEX128;
    const s0_transpose transpose = s0_table->transpose[__builtin_ctzll(size)];
    const Py_ssize_t steps[2] = {in, out};
    Py_ssize_t apart[2];
    for (Py_ssize_t some; lanes > 0; lanes -= some, to += some, from += some) {
        some = s0_equally_apart(to, from, lanes, apart);
        if (some > 1 && apart[0] == size && out == size) {
            transpose(from[0], in, to[0], apart[1], count, some);
        } else if (some > 1 && apart[1] == size && in == size) {
            transpose(from[0], apart[0], to[0], out, some, count);
        } else {
            char *args[2] = {from[0], to[0]};
            s0_table->casts[code][code][in == size && out == size ? 0 : 3](args, steps, apart, count, some);
        }
    }
}
#endif

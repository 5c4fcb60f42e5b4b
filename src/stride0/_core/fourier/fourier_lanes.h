/* Fourier transforms of several short lanes together. Either each lane is contiguous, or elements with the same index are. */
#ifndef STRIDE0_FOURIER_LANES_H
#define STRIDE0_FOURIER_LANES_H

#include "fourier_passes.h"

/* Read `m` complex numbers of each of S0_LANES lanes, which are `line` bytes apart. If `exchange`, exchange real and imaginary parts. */
S0_INLINE void s0_read_lanes(s0_complexes *to, const char *from, Py_ssize_t line, Py_ssize_t m, int exchange, int single)
{
    const Py_ssize_t size = single ? 8 : 16;
    if (m < S0_LANES / 2) {
        for (Py_ssize_t e = 0; e < m; e++, from += size)
            to[e] = (s0_complexes){s0_apart(from + exchange * size / 2, line, single), s0_apart(from + !exchange * size / 2, line, single)};
        return;
    }
    for (Py_ssize_t e = 0; e < m; e += S0_LANES / 2) {
        const Py_ssize_t at = e <= m - S0_LANES / 2 ? e : m - S0_LANES / 2; /* the last block overlaps the previous one */
        s0_lanes x[S0_LANES];
        _Pragma("GCC unroll 8") for (int u = 0; u < S0_LANES; u++) x[u] = s0_lanes_at(from + u * line + at * size, single);
        s0_transpose_lanes(x);
        _Pragma("GCC unroll 8") for (int v = 0; v < S0_LANES; v += 2)
            to[at + v / 2] = exchange ? (s0_complexes){x[v + 1], x[v]} : (s0_complexes){x[v], x[v + 1]};
    }
}
/* Write the first `lanes` lanes, times a factor. */
S0_INLINE void s0_write_lanes(char *to, Py_ssize_t line, const s0_complexes *from, Py_ssize_t m, Py_ssize_t lanes, double factor,
                              int exchange, int single)
{
    const Py_ssize_t size = single ? 8 : 16;
    for (Py_ssize_t e = 0; e < m; e += S0_LANES / 2) {
        const Py_ssize_t some = m - e < S0_LANES / 2 ? m - e : S0_LANES / 2;
        s0_lanes x[S0_LANES];
        _Pragma("GCC unroll 8") for (int v = 0; v < S0_LANES; v += 2) {
            const s0_complexes y = {from[e + v / 2].re * factor, from[e + v / 2].im * factor};
            x[v] = exchange ? y.im : y.re, x[v + 1] = exchange ? y.re : y.im;
        }
        s0_transpose_lanes(x);
        _Pragma("GCC unroll 8") for (int u = 0; u < S0_LANES; u++) if (u < lanes)
            s0_put_some(to + u * line + e * size, x[u], 2 * some, single);
    }
}
/* Read `units` vectors of lanes to buffers that are `room` numbers apart. Elements with the index e are contiguous, and elements with the
 * index e + 1 follow after `step` bytes. If `real`, complex number e consists of elements 2 e and 2 e + 1 of a lane. */
S0_INLINE void s0_read_across(s0_complexes *to, Py_ssize_t room, Py_ssize_t units, const char *from, Py_ssize_t step, Py_ssize_t m,
                              int real, int exchange, int single)
{
    const Py_ssize_t width = S0_LANES * (single ? 4 : 8);
    for (Py_ssize_t e = 0; e < m; e++)
        for (Py_ssize_t u = 0; u < units; u++) {
            const char *const at = from + (real ? 2 * e * step + u * width : e * step + 2 * u * width);
            const s0_complexes x = real ? (s0_complexes){s0_lanes_at(at, single), s0_lanes_at(at + step, single)}
                                        : s0_read_complexes(at, single);
            to[u * room + e] = exchange ? S0_EXCHANGED(x) : x;
        }
}
S0_INLINE void s0_write_across(char *to, Py_ssize_t step, const s0_complexes *from, Py_ssize_t room, Py_ssize_t units, Py_ssize_t m,
                               int real, double factor, int exchange, int single)
{
    const Py_ssize_t width = S0_LANES * (single ? 4 : 8);
    for (Py_ssize_t e = 0; e < m; e++)
        for (Py_ssize_t u = 0; u < units; u++) {
            s0_complexes x = {from[u * room + e].re * factor, from[u * room + e].im * factor};
            char *const at = to + (real ? 2 * e * step + u * width : e * step + 2 * u * width);
            x = exchange ? S0_EXCHANGED(x) : x;
            if (real)
                s0_put_lanes(at, x.re, single), s0_put_lanes(at + step, x.im, single);
            else
                s0_write_complexes(at, x, single);
        }
}

/* s0_transform_odd for the first lane only. A vector holds several results of this lane. The matrix of angles is symmetric, so its rows
 * are read instead of its columns. */
static void s0_transform_prime(s0_complexes *lanes, const int radix, const double *angles)
{
    const int half = radix / 2;
    const s0_lanes zero = {0};
    double *const t = (double *)lanes; /* the real part of number e is t[2 e S0_LANES] */
    double sums[S0_MOST_RADIX / 2][2], differences[S0_MOST_RADIX / 2][2], results[4][S0_LANES];
    double total[2] = {t[0], t[S0_LANES]};
    const double first[2] = {t[0], t[S0_LANES]};
    for (int b = 0; b < half; b++)
        for (int part = 0; part < 2; part++) {
            const double low = t[(2 * (b + 1) + part) * S0_LANES], high = t[(2 * (radix - 1 - b) + part) * S0_LANES];
            sums[b][part] = low + high, differences[b][part] = low - high;
            total[part] += sums[b][part];
        }
    t[0] = total[0], t[S0_LANES] = total[1];
    for (int j = 0; j < half; j += S0_LANES) {
        s0_complexes x = {zero + first[0], zero + first[1]}, y = {zero, zero};
        for (int b = -(half % 2); b < half; b += 2) {
            const s0_complexes w = s0_read_complexes((const char *)(angles + 2 * ((b + 1) * half + j)), 0);
            s0_complexes p = {w.re * sums[b + 1][0], w.re * sums[b + 1][1]};
            s0_complexes q = {w.im * differences[b + 1][0], w.im * differences[b + 1][1]};
            if (b >= 0) {
                const s0_complexes v = s0_read_complexes((const char *)(angles + 2 * (b * half + j)), 0);
                p = (s0_complexes){v.re * sums[b][0] + p.re, v.re * sums[b][1] + p.im};
                q = (s0_complexes){v.im * differences[b][0] + q.re, v.im * differences[b][1] + q.im};
            }
            x = s0_plus(x, p), y = b <= 0 ? q : s0_plus(y, q);
        }
        s0_put_lanes((char *)results[0], x.re - y.im, 0), s0_put_lanes((char *)results[1], x.im + y.re, 0);
        s0_put_lanes((char *)results[2], x.re + y.im, 0), s0_put_lanes((char *)results[3], x.im - y.re, 0);
        for (int u = 0; u < S0_LANES && j + u < half; u++)
            for (int part = 0; part < 2; part++) {
                t[(2 * (j + u + 1) + part) * S0_LANES] = results[part][u];
                t[(2 * (radix - 1 - j - u) + part) * S0_LANES] = results[2 + part][u];
            }
    }
}

/* Transform the lanes in `one`, in place. Spectra of real numbers are multiplied by the factor here. The caller multiplies other results
 * by the factor, and exchanges their real and imaginary parts. */
S0_INLINE void s0_transform_unit(const s0_fourier *all, s0_fourier_kind kind, Py_ssize_t lanes, s0_complexes *one, s0_complexes *two,
                                 s0_complexes *three)
{
    const Py_ssize_t n = all->columns.length, half = all->half;
    const s0_lanes zero = {0};
    s0_complexes *from = one, first;
    const s0_complexes *done;
    if (kind == S0_TO_REAL) {
        two[0] = (s0_complexes){one[0].re - one[half].re, one[0].re + one[half].re};
        for (Py_ssize_t k = 1; k <= half / 2; k++) {
            s0_complexes low = one[k], high = one[half - k];
            s0_untangle(&low, &high, zero + all->halves[2 * k], zero + all->halves[2 * k + 1], 1, 1);
            two[k] = S0_EXCHANGED(low), two[half - k] = S0_EXCHANGED(high);
        }
        from = two;
    }
    if (lanes == 1 && n == all->columns.radix[0] && n > S0_UNROLLED_RADIX) {
        s0_transform_prime(from, (int)n, all->columns.twiddles);
        done = from;
    } else {
        done = s0_transform_lanes(&all->columns, from, from == one ? two : three, from == one ? three : two, one);
    }
    if (kind == S0_OF_COMPLEX || kind == S0_TO_REAL) {
        if (done != one)
            memcpy(one, done, n * sizeof(s0_complexes));
        return;
    }
    first = done[0];
    one[0] = (s0_complexes){(first.re + first.im) * all->factor, zero};
    one[half] = (s0_complexes){(first.re - first.im) * all->factor, zero};
    for (Py_ssize_t k = 1; k <= half / 2; k++) {
        s0_complexes low = done[k], high = done[half - k];
        s0_untangle(&low, &high, zero + all->halves[2 * k], zero + all->halves[2 * k + 1], 0, all->factor / 2);
        one[k] = all->conjugate ? S0_CONJUGATE(low) : low, one[half - k] = all->conjugate ? S0_CONJUGATE(high) : high;
        if (kind == S0_ALL_OF_REAL) {
            one[2 * half - k] = all->conjugate ? low : S0_CONJUGATE(low);
            one[half + k] = all->conjugate ? high : S0_CONJUGATE(high);
        }
    }
}

/* Either each lane is contiguous, or lanes fill whole vectors and the elements of a lane are `in_step` or `out_step` bytes apart. */
S0_INLINE void s0_short(const s0_fourier *all, s0_fourier_kind kind, const char *in, Py_ssize_t in_step, char *out, Py_ssize_t out_step,
                        const int single, Py_ssize_t count, double *scratch)
{
    const Py_ssize_t n = all->columns.length, half = all->half, size = single ? 8 : 16;
    const Py_ssize_t read = kind == S0_TO_REAL ? half + 1 : n;
    const Py_ssize_t written = kind == S0_HALF_OF_REAL ? half + 1 : kind == S0_ALL_OF_REAL ? 2 * half : n;
    const Py_ssize_t room = (kind == S0_OF_COMPLEX ? n : 2 * half + 1) + S0_LANES;
    const Py_ssize_t units = (count + S0_LANES - 1) / S0_LANES, apart = in_step || out_step ? room : 0;
    const int of_real = kind == S0_HALF_OF_REAL || kind == S0_ALL_OF_REAL, to_real = kind == S0_TO_REAL;
    const int opposite = kind == S0_OF_COMPLEX && all->inverse;
    const double factor = of_real ? 1 : all->factor;
    s0_complexes *const two = (s0_complexes *)scratch, *const three = two + room, *one = three + room;
    if (in_step)
        s0_read_across(one, room, units, in, in_step, read, of_real, opposite, single);
    for (Py_ssize_t first = 0; first < count; first += S0_LANES, one += apart) {
        const Py_ssize_t lanes = count - first < S0_LANES ? count - first : S0_LANES;
        if (!in_step) {
            const char *from = in + first * read * size;
            if (lanes < S0_LANES) {
                from = memcpy(two, from, lanes * read * size);
                memset((char *)two + lanes * read * size, 0, (S0_LANES - lanes) * read * size);
            }
            s0_read_lanes(one, from, read * size, read, opposite, single);
        }
        s0_transform_unit(all, kind, lanes, one, two, three);
        if (!out_step)
            s0_write_lanes(out + first * written * size, written * size, one, written, lanes, factor, opposite || to_real, single);
    }
    if (out_step)
        s0_write_across(out, out_step, one - units * room, room, units, written, to_real, factor, opposite || to_real, single);
}
static void s0_fourier_short(const s0_fourier *all, s0_fourier_kind kind, const char *in, Py_ssize_t in_step, char *out,
                             Py_ssize_t out_step, int single, Py_ssize_t count, double *scratch)
{
    if (single)
        s0_short(all, kind, in, in_step, out, out_step, 1, count, scratch);
    else
        s0_short(all, kind, in, in_step, out, out_step, 0, count, scratch);
}
#endif

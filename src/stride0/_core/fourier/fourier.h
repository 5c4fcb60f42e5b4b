/* Fourier transforms, Note [Fourier transforms] of fourier/transforms.pxi: each lane of a vector holds its own transform, so that
 * neither the instruction set nor the number of threads changes a bit. */
#ifndef STRIDE0_FOURIER_H
#define STRIDE0_FOURIER_H

#include "dtypes.h"
#include "kernels.h"
#include "packs.h"

#define S0_LANES (S0_VECTOR / 8)
#define S0_TWO_LANES(f, p) f(p), f(p + 1)
#define S0_FOUR_LANES(f, p) S0_TWO_LANES(f, p), S0_TWO_LANES(f, p + 2)
#if S0_VECTOR == 64
#define S0_EACH_LANE(f) S0_FOUR_LANES(f, 0), S0_FOUR_LANES(f, 4)
#elif S0_VECTOR == 32
#define S0_EACH_LANE(f) S0_FOUR_LANES(f, 0)
#else
#define S0_EACH_LANE(f) S0_TWO_LANES(f, 0)
#endif
/* The number of the element, out of two vectors, that goes to lane p. */
#define S0_EVEN(p) 2 * (p)
#define S0_ODD(p) 2 * (p) + 1
#define S0_JOINED_LOW(p) ((p) % 2 ? S0_LANES : 0) + (p) / 2
#define S0_JOINED_HIGH(p) S0_LANES / 2 + S0_JOINED_LOW(p)
#define S0_BACKWARD(p) S0_LANES - 1 - (p)
#define S0_NEAR(d, p) ((p) & (d) ? S0_LANES + (p) - (d) : (p))
#define S0_DISTANT(d, p) (((p) & (d) ? S0_LANES + (p) : (p) + (d)) % (2 * S0_LANES))
#define S0_NEAR_1(p) S0_NEAR(1, p)
#define S0_NEAR_2(p) S0_NEAR(2, p)
#define S0_NEAR_4(p) S0_NEAR(4, p)
#define S0_DISTANT_1(p) S0_DISTANT(1, p)
#define S0_DISTANT_2(p) S0_DISTANT(2, p)
#define S0_DISTANT_4(p) S0_DISTANT(4, p)

typedef s0_doubles s0_lanes;
/* Complex numbers, one in each lane. */
typedef struct { s0_lanes re, im; } s0_complexes;

S0_INLINE s0_complexes s0_plus(s0_complexes a, s0_complexes b) { return (s0_complexes){a.re + b.re, a.im + b.im}; }
S0_INLINE s0_complexes s0_minus(s0_complexes a, s0_complexes b) { return (s0_complexes){a.re - b.re, a.im - b.im}; }
#define S0_TURNED(a, c, s) ((s0_complexes){(a).re * (c) - (a).im * (s), (a).re * (s) + (a).im * (c)})
#define S0_EXCHANGED(x) ((s0_complexes){(x).im, (x).re})

/* -- adjacent numbers in memory, of float64 or, if `single`, of float32 ------------------------------------------------ */

S0_INLINE s0_lanes s0_lanes_at(const char *p, int single)
{
    s0_lanes x;
    if (single) {
        s0_half_floats half;
        memcpy(&half, p, sizeof(half));
        return __builtin_convertvector(half, s0_lanes);
    }
    memcpy(&x, p, sizeof(x));
    return x;
}
S0_INLINE void s0_put_lanes(char *p, s0_lanes x, int single)
{
    if (single)
        s0_store_narrow(p, x);
    else
        memcpy(p, &x, sizeof(x));
}

/* Write the first `count` numbers. */
S0_INLINE void s0_put_some(char *p, s0_lanes x, Py_ssize_t count, int single)
{
    char all[S0_VECTOR];
    if (count == S0_LANES) {
        s0_put_lanes(p, x, single);
        return;
    }
    s0_put_lanes(all, x, single);
    memcpy(p, all, count * (single ? 4 : 8));
}

/* Read as many adjacent complex numbers as there are lanes. */
S0_INLINE s0_complexes s0_read_complexes(const char *p, int single)
{
    const s0_lanes a = s0_lanes_at(p, single), b = s0_lanes_at(p + S0_LANES * (single ? 4 : 8), single);
    return (s0_complexes){__builtin_shufflevector(a, b, S0_EACH_LANE(S0_EVEN)),
                          __builtin_shufflevector(a, b, S0_EACH_LANE(S0_ODD))};
}
S0_INLINE void s0_write_complexes(char *p, s0_complexes x, int single)
{
    s0_put_lanes(p, __builtin_shufflevector(x.re, x.im, S0_EACH_LANE(S0_JOINED_LOW)), single);
    s0_put_lanes(p + S0_LANES * (single ? 4 : 8), __builtin_shufflevector(x.re, x.im, S0_EACH_LANE(S0_JOINED_HIGH)), single);
}
S0_INLINE s0_complexes s0_backward(s0_complexes x)
{
    return (s0_complexes){__builtin_shufflevector(x.re, x.re, S0_EACH_LANE(S0_BACKWARD)),
                          __builtin_shufflevector(x.im, x.im, S0_EACH_LANE(S0_BACKWARD))};
}
/* Read `count` numbers, at most S0_LANES; the other lanes are 0. */
S0_INLINE s0_complexes s0_read_some(const char *p, Py_ssize_t count, int single)
{
    char all[2 * S0_VECTOR] = {0};
    if (count >= S0_LANES)
        return s0_read_complexes(p, single);
    if (count > 0)
        memcpy(all, p, count * (single ? 8 : 16));
    return s0_read_complexes(all, single);
}
/* Write the first `count` numbers from p on; or, `backward`, from p towards lower addresses. */
S0_INLINE void s0_write_some(char *p, s0_complexes x, Py_ssize_t count, int single, int backward)
{
    const Py_ssize_t size = single ? 8 : 16;
    char all[2 * S0_VECTOR];
    if (count == S0_LANES) {
        s0_write_complexes(backward ? p - (S0_LANES - 1) * size : p, backward ? s0_backward(x) : x, single);
        return;
    }
    s0_write_complexes(all, x, single);
    for (Py_ssize_t i = 0; i < count; i++, p += backward ? -size : size)
        if (single)
            memcpy(p, all + i * 8, 8);
        else
            memcpy(p, all + i * 16, 16);
}
/* Read numbers from p on that are `stride` bytes apart. */
S0_INLINE s0_lanes s0_apart(const char *p, Py_ssize_t stride, int single)
{
#define S0_SINGLE_AT(k) *(const float *)(p + (k) * stride)
#define S0_DOUBLE_AT(k) *(const double *)(p + (k) * stride)
    return single ? (s0_lanes){S0_EACH_LANE(S0_SINGLE_AT)} : (s0_lanes){S0_EACH_LANE(S0_DOUBLE_AT)};
}
/* Transpose a square of vectors. */
#define S0_EXCHANGE(d)                                                                                               \
    if (d < S0_LANES) {                                                                                              \
        _Pragma("GCC unroll 8") for (int i = 0; i < S0_LANES; i++) if (!(i & d)) {                                   \
            const s0_lanes a = x[i], b = x[(i + d) % S0_LANES];                                                      \
            x[i] = __builtin_shufflevector(a, b, S0_EACH_LANE(S0_NEAR_##d));                                         \
            x[(i + d) % S0_LANES] = __builtin_shufflevector(a, b, S0_EACH_LANE(S0_DISTANT_##d));                     \
        }                                                                                                            \
    }
S0_INLINE void s0_transpose_lanes(s0_lanes *x) { S0_EXCHANGE(1) S0_EXCHANGE(2) S0_EXCHANGE(4) }

/* -- passes ------------------------------------------------------------------------------------------------------- */

S0_INLINE void s0_transform_2(s0_complexes *t)
{
    const s0_complexes a = t[0], b = t[1];
    t[0] = s0_plus(a, b), t[1] = s0_minus(a, b);
}
S0_INLINE void s0_transform_4(s0_complexes *t)
{
    const s0_complexes a = s0_plus(t[0], t[2]), b = s0_minus(t[0], t[2]);
    const s0_complexes c = s0_plus(t[1], t[3]), d = s0_minus(t[1], t[3]);
    t[0] = s0_plus(a, c), t[2] = s0_minus(a, c);
    /* d times -i */
    t[1] = (s0_complexes){b.re + d.im, b.im - d.re}, t[3] = (s0_complexes){b.re - d.im, b.im + d.re};
}
S0_INLINE void s0_transform_8(s0_complexes *t)
{
    const double root = 0x1.6a09e667f3bcdp-1;
    s0_complexes even[4] = {t[0], t[2], t[4], t[6]}, odd[4] = {t[1], t[3], t[5], t[7]};
    s0_transform_4(even);
    s0_transform_4(odd);
    /* multiplied by a root of unity each */
    odd[1] = (s0_complexes){(odd[1].re + odd[1].im) * root, (odd[1].im - odd[1].re) * root};
    odd[2] = (s0_complexes){odd[2].im, -odd[2].re};
    odd[3] = (s0_complexes){(odd[3].im - odd[3].re) * root, (odd[3].re + odd[3].im) * -root};
    for (int j = 0; j < 4; j++)
        t[j] = s0_plus(even[j], odd[j]), t[j + 4] = s0_minus(even[j], odd[j]);
}
#define S0_PAIR(x, part, b, sine) (x[b].part * angles[2 * (b) + sine] + x[(b) + 1].part * angles[2 * (b) + 2 + sine])
/* Transforms of odd lengths: sums and differences of opposite numbers have real factors, the cosines and sines of multiples of an angle.
 * Products are added in pairs, for half as many roundings. */
S0_INLINE void s0_transform_odd(s0_complexes *t, const int radix, const double *angles)
{
    const int half = radix / 2;
    s0_complexes sums[S0_MOST_RADIX / 2], differences[S0_MOST_RADIX / 2], total = t[0];
    _Pragma("GCC unroll 8") for (int b = 0; b < half; b++) {
        sums[b] = s0_plus(t[b + 1], t[radix - 1 - b]), differences[b] = s0_minus(t[b + 1], t[radix - 1 - b]);
        total = s0_plus(total, sums[b]);
    }
    _Pragma("GCC unroll 8") for (int j = 1; j <= half; j++, angles += 2 * half) {
        s0_complexes x, y;
        if (half % 2) {
            x = (s0_complexes){t[0].re + sums[0].re * angles[0], t[0].im + sums[0].im * angles[0]};
            y = (s0_complexes){differences[0].re * angles[1], differences[0].im * angles[1]};
        } else {
            x = (s0_complexes){t[0].re + S0_PAIR(sums, re, 0, 0), t[0].im + S0_PAIR(sums, im, 0, 0)};
            y = (s0_complexes){S0_PAIR(differences, re, 0, 1), S0_PAIR(differences, im, 0, 1)};
        }
        _Pragma("GCC unroll 8") for (int b = 2 - half % 2; b < half; b += 2) {
            x.re += S0_PAIR(sums, re, b, 0), x.im += S0_PAIR(sums, im, b, 0);
            y.re += S0_PAIR(differences, re, b, 1), y.im += S0_PAIR(differences, im, b, 1);
        }
        t[j] = (s0_complexes){x.re - y.im, x.im + y.re}, t[radix - j] = (s0_complexes){x.re + y.im, x.im - y.re};
    }
    t[0] = total;
}

/* A pass over `count` times `radix` times `run` numbers, by T. Stockham's algorithm. */
S0_INLINE void s0_pass(const s0_complexes *from, s0_complexes *to, const int radix, Py_ssize_t count, Py_ssize_t run,
                       const double *angles, const double *twiddles)
{
    s0_complexes t[S0_MOST_RADIX];
    for (Py_ssize_t c = 0; c < count; c++, from += radix * run, to += run) {
        const double *w = twiddles;
        for (Py_ssize_t i = 0; i < run; i++) {
            _Pragma("GCC unroll 16") for (int b = 0; b < radix; b++)
                t[b] = from[i + b * run];
            if (radix == 2)
                s0_transform_2(t);
            else if (radix == 4)
                s0_transform_4(t);
            else if (radix == 8)
                s0_transform_8(t);
            else
                s0_transform_odd(t, radix, angles);
            to[i] = t[0];
            _Pragma("GCC unroll 16") for (int j = 1; j < radix; j++)
                if (run == 1) {
                    to[j * count] = t[j];
                } else {
                    to[i + j * count * run] = S0_TURNED(t[j], w[0], w[1]);
                    w += 2;
                }
        }
    }
}
#define S0_PASS(radix)                                                                                               \
    static void s0_pass_##radix(const s0_complexes *from, s0_complexes *to, int given, Py_ssize_t count,             \
                                Py_ssize_t run, const double *angles, const double *twiddles)                        \
    {                                                                                                                \
        if (run == 1)                                                                                                \
            s0_pass(from, to, radix, count, 1, angles, twiddles);                                                    \
        else                                                                                                         \
            s0_pass(from, to, radix, count, run, angles, twiddles);                                                  \
    }
S0_PASS(2) S0_PASS(3) S0_PASS(4) S0_PASS(5) S0_PASS(7) S0_PASS(8) S0_PASS(11)
/* Any other radix. */
static void s0_pass_given(const s0_complexes *from, s0_complexes *to, int given, Py_ssize_t count, Py_ssize_t run, const double *angles,
                          const double *twiddles)
{
    s0_pass(from, to, given, count, run, angles, twiddles);
}

/* Transform the lanes of `from`. Returns where the result is: `last` after several passes, `to` after one, or else `from`. */
static const s0_complexes *s0_transform_lanes(const s0_passes *all, const s0_complexes *from, s0_complexes *to, s0_complexes *other,
                                              s0_complexes *last)
{
    const double *twiddles = all->twiddles;
    Py_ssize_t count = 1, run = all->length;
    for (int p = 0; p < all->passes; p++) {
        const int radix = all->radix[p];
        const double *const angles = twiddles;
        s0_complexes *const done = p > 0 && p == all->passes - 1 ? last : to;
        if (radix % 2)
            twiddles += 2 * (radix / 2) * (radix / 2);
        run /= radix;
        (radix == 2   ? s0_pass_2
         : radix == 3 ? s0_pass_3
         : radix == 4 ? s0_pass_4
         : radix == 5 ? s0_pass_5
         : radix == 7 ? s0_pass_7
         : radix == 8 ? s0_pass_8
         : radix == 11 ? s0_pass_11
                      : s0_pass_given)(from, done, radix, count, run, angles, twiddles);
        if (run > 1)
            twiddles += 2 * (radix - 1) * run;
        count *= radix;
        to = other, other = done, from = done;
    }
    return from;
}

/* -- real numbers: even and odd elements are transformed as real and imaginary parts -------------------- */

/* Convert elements k and half - k of the spectrum of such complex numbers to the spectrum of the real numbers; or the opposite. */
S0_INLINE void s0_untangle(s0_complexes *low, s0_complexes *high, s0_lanes c, s0_lanes s, int opposite, double by)
{
    const s0_complexes a = *low, b = {high->re, -high->im};
    const s0_complexes even = s0_plus(a, b), odd = s0_minus(a, b);
    s0_complexes t;
    if (opposite) {
        t = S0_TURNED(odd, c, -s);
        t = (s0_complexes){-t.im, t.re};
    } else {
        t = S0_TURNED(odd, c, s);
        t = (s0_complexes){t.im, -t.re};
    }
    *low = (s0_complexes){(even.re + t.re) * by, (even.im + t.im) * by};
    *high = (s0_complexes){(even.re - t.re) * by, (t.im - even.im) * by};
}
#define S0_CONJUGATE(x) ((s0_complexes){(x).re, -(x).im})

/* -- short transforms: several lanes together, each of which is contiguous, or whose first elements are contiguous ------------- */

/* Read `m` complex numbers of each of S0_LANES lanes, which are `line` bytes apart; `exchange` real and imaginary parts. */
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
/* The same for `units` vectors of lanes whose buffers are `room` numbers apart. Elements e of all lanes are contiguous, and `step` bytes
 * from the next elements. Complex number e of `real` lanes consists of elements 2 e and 2 e + 1. */
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

/* s0_transform_odd of a single lane, the first one: a vector holds several results. The matrix of angles is symmetric. */
static void s0_transform_prime(s0_complexes *lanes, const int radix, const double *angles)
{
    const int half = radix / 2;
    const s0_lanes zero = {0};
    double *const t = (double *)lanes; /* the real part of number e is 2 e S0_LANES elements from the first one */
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

/* Transform the lanes in `one`, in place. The caller multiplies complex and real results by the factor, and exchanges their parts. */
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

/* Lanes are contiguous, or they fill vectors and their elements are in_step or out_step bytes apart. */
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

/* -- a long transform, as the transform of a matrix ------------------------------------------------------------------------ */

/* Units of S0_LANES columns: multiply them by the chirp of a convolution, transform them, multiply by the turns, and write them to
 * units of rows. */
static void s0_fourier_columns(const s0_fourier *all, const char *in, int single, double *middle, Py_ssize_t first, Py_ssize_t last,
                               double *scratch)
{
    const Py_ssize_t rows = all->columns.length, columns = all->rows.length, size = single ? 8 : 16;
    const double *turns = all->turns + 2 * first * rows * S0_LANES, *const chirp = all->chirp;
    s0_complexes *const one = (s0_complexes *)scratch, *const two = one + rows, *const three = two + rows;
    s0_lanes re[S0_LANES], im[S0_LANES];
    const int inverse = all->inverse;
    for (Py_ssize_t unit = first; unit < last; unit++) {
        /* A convolution has whole units only. Otherwise the last unit overlaps the unit before; those columns are not written again. */
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

/* -- a convolution: the spectrum of the matrix stays in the order of `middle`, which neither step has to change ---------------- */

/* Units of S0_LANES rows: transform them, multiply by the spectrum, and transform them again, with real and imaginary parts exchanged.
 * Without a spectrum transform them once. */
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

/* Units of S0_LANES columns: multiply them by the turns, transform them, and multiply the results by the chirp. */
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

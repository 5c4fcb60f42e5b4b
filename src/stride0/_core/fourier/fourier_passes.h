/* Passes of Fourier transforms over numbers in vectors: Note [Fourier transforms] of fourier/transforms.pxi. Each lane of a vector holds
 * its own transform, so no bit depends on the instruction set or on the number of threads. */
#ifndef STRIDE0_FOURIER_PASSES_H
#define STRIDE0_FOURIER_PASSES_H

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
/* Shuffles: the index, in two joined vectors, of the element that goes to lane p. */
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
    /* The comparison tells the compiler that `count` is not negative. */
    if ((size_t)count < S0_LANES)
        memcpy(p, all, (size_t)count * (single ? 4 : 8));
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
/* Write the first `count` numbers from p on. If `backward`, write them from p towards lower addresses. */
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
    /* multiply each by a root of unity */
    odd[1] = (s0_complexes){(odd[1].re + odd[1].im) * root, (odd[1].im - odd[1].re) * root};
    odd[2] = (s0_complexes){odd[2].im, -odd[2].re};
    odd[3] = (s0_complexes){(odd[3].im - odd[3].re) * root, (odd[3].re + odd[3].im) * -root};
    for (int j = 0; j < 4; j++)
        t[j] = s0_plus(even[j], odd[j]), t[j + 4] = s0_minus(even[j], odd[j]);
}
#define S0_PAIR(x, part, b, sine) (x[b].part * angles[2 * (b) + sine] + x[(b) + 1].part * angles[2 * (b) + 2 + sine])
/* Transforms of odd lengths: sums and differences of opposite numbers are multiplied by cosines and sines of multiples of an angle.
 * Products are added in pairs, so the running sum is rounded half as often. */
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

/* Transform the lanes of `from`. Returns the buffer of the result: `from` after no pass, `to` after one pass, `last` after more passes. */
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

/* Convert elements k and half - k of the spectrum of these complex numbers to the spectrum of the real numbers. If `opposite`, convert
 * elements of the spectrum of the real numbers back. */
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
#endif

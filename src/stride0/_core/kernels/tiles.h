/* Transposes of tiles and non-temporal stores, for each instruction set.
 *
 * s0_transpose_<width>(source, row, target, line, m, n): target[j][i] = source[i][j] for i < m and j < n. The rows
 * of the source and of the target are contiguous; `row` and `line` are the strides in bytes between rows of the source and
 * of the target. Squares of elements are transposed in vector registers by repeated interleaving of halves. */
#ifndef STRIDE0_TILES_H
#define STRIDE0_TILES_H

#include <stdint.h>
#include <string.h>

#include "kernels.h"
#include "packs.h"

#define S0_PLAIN(width, type)                                                                                        \
    static inline void s0_plain_##width(const char *source, Py_ssize_t row, char *target, Py_ssize_t line,           \
                                        Py_ssize_t m, Py_ssize_t n)                                                  \
    {                                                                                                                \
        Py_ssize_t i, j;                                                                                             \
        for (j = 0; j < n; j++)                                                                                      \
            for (i = 0; i < m; i++)                                                                                  \
                ((type *)(target + j * line))[i] = ((const type *)(source + i * row))[j];                            \
    }

typedef struct { uint64_t low, high; } s0_sixteen;
S0_PLAIN(1, uint8_t)
S0_PLAIN(2, uint16_t)
S0_PLAIN(4, uint32_t)
S0_PLAIN(8, uint64_t)
S0_PLAIN(16, s0_sixteen)

/* Squares of `side` elements by s0_square_<width>; the remainder at the right and at the bottom element by element. */
#define S0_BY_SQUARES(width, side)                                                                                   \
    static void s0_transpose_##width(const char *source, Py_ssize_t row, char *target, Py_ssize_t line,              \
                                     Py_ssize_t m, Py_ssize_t n)                                                     \
    {                                                                                                                \
        Py_ssize_t i, j, whole = n - n % side;                                                                       \
        for (i = 0; i + side <= m; i += side) {                                                                      \
            for (j = 0; j < whole; j += side)                                                                        \
                s0_square_##width(source + i * row + j * width, row, target + j * line + i * width, line);           \
            s0_plain_##width(source + i * row + j * width, row, target + j * line + i * width, line, side, n - j);   \
        }                                                                                                            \
        s0_plain_##width(source + i * row, row, target + i * width, line, m - i, n);                                 \
    }

#if defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
#define S0_SHUFFLE __builtin_shufflevector

typedef uint8_t s0_v16u8 __attribute__((vector_size(16)));
typedef uint16_t s0_v8u16 __attribute__((vector_size(16)));
typedef uint32_t s0_v4u32 __attribute__((vector_size(16)));
typedef uint64_t s0_v2u64 __attribute__((vector_size(16)));
typedef uint32_t s0_v8u32 __attribute__((vector_size(32)));
typedef uint64_t s0_v4u64 __attribute__((vector_size(32)));

/* Without it GCC unrolls the loops after it has assigned the vectors to memory, and each vector is stored and loaded. */
#define S0_UNROLL _Pragma("GCC unroll 16")
/* One round: vectors k and k + count / 2 are interleaved to 2 k and 2 k + 1. After log2(count) rounds the square, with vectors of
 * `count` elements, is transposed. */
#define S0_ROUND(from, to, count, low, high)                                                                         \
    S0_UNROLL for (k = 0; k < count / 2; k++) {                                                                                \
        to[2 * k] = low(from[k], from[k + count / 2]);                                                               \
        to[2 * k + 1] = high(from[k], from[k + count / 2]);                                                          \
    }
#define S0_LOW_16(a, b) S0_SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define S0_HIGH_16(a, b) S0_SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define S0_LOW_8(a, b) S0_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define S0_HIGH_8(a, b) S0_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define S0_LOW_4(a, b) S0_SHUFFLE(a, b, 0, 4, 1, 5)
#define S0_HIGH_4(a, b) S0_SHUFFLE(a, b, 2, 6, 3, 7)

#define S0_LOAD(vectors, count)                                                                                      \
    S0_UNROLL for (k = 0; k < count; k++)                                                                            \
        memcpy(&vectors[k], source + k * row, sizeof(vectors[k]));
#define S0_STORE(vectors, count)                                                                                     \
    S0_UNROLL for (k = 0; k < count; k++)                                                                            \
        memcpy(target + k * line, &vectors[k], sizeof(vectors[k]));
#define S0_SQUARE(width) \
    static inline void s0_square_##width(const char *source, Py_ssize_t row, char *target, Py_ssize_t line)

S0_SQUARE(1)
{
    s0_v16u8 a[16], b[16];
    int k;
    S0_LOAD(a, 16)
    S0_ROUND(a, b, 16, S0_LOW_16, S0_HIGH_16)
    S0_ROUND(b, a, 16, S0_LOW_16, S0_HIGH_16)
    S0_ROUND(a, b, 16, S0_LOW_16, S0_HIGH_16)
    S0_ROUND(b, a, 16, S0_LOW_16, S0_HIGH_16)
    S0_STORE(a, 16)
}

S0_SQUARE(2)
{
    s0_v8u16 a[8], b[8];
    int k;
    S0_LOAD(a, 8)
    S0_ROUND(a, b, 8, S0_LOW_8, S0_HIGH_8)
    S0_ROUND(b, a, 8, S0_LOW_8, S0_HIGH_8)
    S0_ROUND(a, b, 8, S0_LOW_8, S0_HIGH_8)
    S0_STORE(b, 8)
}

#if defined(__AVX2__)
/* First transpose within the halves of wide vectors, then swap the halves, as the instructions require. */
S0_SQUARE(4)
{
    s0_v8u32 a[8], b[8];
    int k;
    S0_LOAD(a, 8)
    S0_UNROLL for (k = 0; k < 8; k += 2) {
        b[k] = S0_SHUFFLE(a[k], a[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[k + 1] = S0_SHUFFLE(a[k], a[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    S0_UNROLL for (k = 0; k < 8; k += 4) {
        a[k] = S0_SHUFFLE(b[k], b[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        a[k + 1] = S0_SHUFFLE(b[k], b[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        a[k + 2] = S0_SHUFFLE(b[k + 1], b[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
        a[k + 3] = S0_SHUFFLE(b[k + 1], b[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    S0_UNROLL for (k = 0; k < 4; k++) {
        b[k] = S0_SHUFFLE(a[k], a[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[k + 4] = S0_SHUFFLE(a[k], a[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    S0_STORE(b, 8)
}

S0_SQUARE(8)
{
    s0_v4u64 a[4], b[4];
    int k;
    S0_LOAD(a, 4)
    S0_UNROLL for (k = 0; k < 4; k += 2) {
        b[k] = S0_SHUFFLE(a[k], a[k + 1], 0, 4, 2, 6);
        b[k + 1] = S0_SHUFFLE(a[k], a[k + 1], 1, 5, 3, 7);
    }
    S0_UNROLL for (k = 0; k < 2; k++) {
        a[k] = S0_SHUFFLE(b[k], b[k + 2], 0, 1, 4, 5);
        a[k + 2] = S0_SHUFFLE(b[k], b[k + 2], 2, 3, 6, 7);
    }
    S0_STORE(a, 4)
}
#define S0_SIDE_4 8
#define S0_SIDE_8 4
#else
S0_SQUARE(4)
{
    s0_v4u32 a[4], b[4];
    int k;
    S0_LOAD(a, 4)
    S0_ROUND(a, b, 4, S0_LOW_4, S0_HIGH_4)
    S0_ROUND(b, a, 4, S0_LOW_4, S0_HIGH_4)
    S0_STORE(a, 4)
}

S0_SQUARE(8)
{
    s0_v2u64 a[2], b[2];
    int k;
    S0_LOAD(a, 2)
    b[0] = S0_SHUFFLE(a[0], a[1], 0, 2);
    b[1] = S0_SHUFFLE(a[0], a[1], 1, 3);
    S0_STORE(b, 2)
}
#define S0_SIDE_4 4
#define S0_SIDE_8 2
#endif

S0_BY_SQUARES(1, 16)
S0_BY_SQUARES(2, 8)
S0_BY_SQUARES(4, S0_SIDE_4)
S0_BY_SQUARES(8, S0_SIDE_8)
#else
#define s0_transpose_1 s0_plain_1
#define s0_transpose_2 s0_plain_2
#define s0_transpose_4 s0_plain_4
#define s0_transpose_8 s0_plain_8
#endif

/* The four elements of a cache line one by one: each line of the source is read once. A few rows at a time, because each row may be
 * in another page. */
static void s0_transpose_16(const char *source, Py_ssize_t row, char *target, Py_ssize_t line, Py_ssize_t m, Py_ssize_t n)
{
    enum { ROWS = 16 };
    Py_ssize_t first, i, j;
    for (first = 0; first < m; first += ROWS) {
        const Py_ssize_t last = m - first < ROWS ? m : first + ROWS;
        char *to = target;
        for (j = 0; j + 4 <= n; j += 4, to += 4 * line) {
            for (i = first; i < last; i++) {
                const s0_sixteen *from = (const s0_sixteen *)(source + i * row) + j;
                const s0_sixteen one = from[0], two = from[1], three = from[2], four = from[3];
                ((s0_sixteen *)to)[i] = one;
                ((s0_sixteen *)(to + line))[i] = two;
                ((s0_sixteen *)(to + 2 * line))[i] = three;
                ((s0_sixteen *)(to + 3 * line))[i] = four;
            }
        }
        s0_plain_16(source + first * row + 16 * j, row, to + 16 * first, line, last - first, n - j);
    }
}

/* Copy a contiguous run to another one, or to itself. Its last vector overlaps the previous vector, so that a short row takes as long as
 * its vectors, without single elements at the end. */
#define S0_MOVE_ENDS(bytes)                                                                                          \
    if (size >= bytes) {                                                                                             \
        char first[bytes], last[bytes];                                                                              \
        memcpy(first, from, bytes), memcpy(last, from + size - bytes, bytes);                                        \
        memcpy(to, first, bytes), memcpy(to + size - bytes, last, bytes);                                            \
        return;                                                                                                      \
    }
typedef char s0_vector __attribute__((vector_size(S0_VECTOR)));
static inline void s0_move(char *to, const char *from, Py_ssize_t size)
{
    const Py_ssize_t last = size - (Py_ssize_t)sizeof(s0_vector);
    s0_vector x;
    if (last >= 0) {
        for (Py_ssize_t i = 0; i < last; i += (Py_ssize_t)sizeof(s0_vector)) {
            memcpy(&x, from + i, sizeof(x));
            memcpy(to + i, &x, sizeof(x));
        }
        memcpy(&x, from + last, sizeof(x));
        memcpy(to + last, &x, sizeof(x));
        return;
    }
#if S0_VECTOR > 32
    S0_MOVE_ENDS(32)
#endif
#if S0_VECTOR > 16
    S0_MOVE_ENDS(16)
#endif
    S0_MOVE_ENDS(8)
    S0_MOVE_ENDS(4)
    S0_MOVE_ENDS(2)
    S0_MOVE_ENDS(1)
}

/* Write a cache line that is not read again soon by non-temporal stores. Because it is written completely, it need not be read
 * before. */
static inline void s0_stream_line(char *target, const char *source)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((__m512i *)target, _mm512_loadu_si512(source));
#elif defined(__AVX__)
    for (int k = 0; k < 2; k++)
        _mm256_stream_si256((__m256i *)target + k, _mm256_loadu_si256((const __m256i *)source + k));
#elif defined(__SSE2__)
    for (int k = 0; k < 4; k++)
        _mm_stream_si128((__m128i *)target + k, _mm_loadu_si128((const __m128i *)source + k));
#else
    memcpy(target, source, 64);
#endif
}

/* Copy bytes by non-temporal stores; incomplete cache lines at the ends by ordinary stores. */
static void s0_stream(char *target, const char *source, Py_ssize_t size)
{
#if defined(__SSE2__)
    Py_ssize_t head = (Py_ssize_t)(-(uintptr_t)target & 63);
    if (head > size)
        head = size;
    memcpy(target, source, head);
    target += head, source += head, size -= head;
    for (; size >= 64; size -= 64, target += 64, source += 64)
        s0_stream_line(target, source);
#endif
    memcpy(target, source, size);
}

/* Bytes of a block: few enough for the vector registers. */
enum { S0_STREAMED = 256 };

/* Contiguous blocks of results, by non-temporal stores. The loop is inlined, so that results go from registers to memory: for a row that
 * is read repeatedly from the L2 cache, stores to a block in the L1 cache would take most of the time. */
typedef void (*s0_blocks)(char **args, Py_ssize_t count);
static inline __attribute__((always_inline)) void s0_past_blocks(s0_loop loop, int inputs, char **args,
                                                                 const Py_ssize_t *inner, Py_ssize_t count)
{
    char block[S0_STREAMED] __attribute__((aligned(64)));
    const Py_ssize_t elements = S0_STREAMED / inner[inputs];
    char *a[4], *target = args[inputs];
    for (int k = 0; k < inputs; k++)
        a[k] = args[k];
    for (a[inputs] = block; count > 0; count--) {
        loop(a, inner, inner, elements, 1);
        for (int line = 0; line < S0_STREAMED; line += 64)
            s0_stream_line(target + line, block + line);
        for (int k = 0; k < inputs; k++)
            a[k] += elements * inner[k];
        target += S0_STREAMED;
    }
}

/* A loop with non-temporal stores. Elements at both ends of a run that do not fill a block use ordinary stores, and so do runs in which
 * no element is at the start of a cache line. */
static __attribute__((noinline)) void s0_past(s0_loop loop, s0_blocks blocks, int inputs, char **args,
                                              const Py_ssize_t *inner, const Py_ssize_t *outer, Py_ssize_t n, Py_ssize_t m)
{
    const Py_ssize_t itemsize = inner[inputs], elements = S0_STREAMED / itemsize;
    for (Py_ssize_t j = 0; j < m; j++) {
        char *a[4], *target = args[inputs] + j * outer[inputs];
        Py_ssize_t begin = 0, head = (Py_ssize_t)(-(uintptr_t)target & 63), count;
        for (int k = 0; k <= inputs; k++)
            a[k] = args[k] + j * outer[k];
        if (head) {
            count = head % itemsize || head / itemsize > n ? n : head / itemsize;
            loop(a, inner, inner, count, 1);
            begin = count;
            for (int k = 0; k <= inputs; k++)
                a[k] += begin * inner[k];
        }
        count = (n - begin) / elements;
        blocks(a, count);
        begin += count * elements;
        if (begin < n) {
            for (int k = 0; k <= inputs; k++)
                a[k] += count * elements * inner[k];
            loop(a, inner, inner, n - begin, 1);
        }
    }
    s0_stream_end();
}

/* Choose the variant of a loop from the number of its inputs and the strides of all operands. */
#define S0_PAST(loop, inputs, ...)                                                                                   \
    static __attribute__((flatten)) void loop##_blocks(char **args, Py_ssize_t count)                                \
    {                                                                                                                \
        static const Py_ssize_t inner[] = {__VA_ARGS__};                                                             \
        s0_past_blocks(loop, inputs, args, inner, count);                                                            \
    }                                                                                                                \
    static void loop##_past(char **args, const Py_ssize_t *inner, const Py_ssize_t *outer, Py_ssize_t n, Py_ssize_t m) \
    {                                                                                                                \
        s0_past(loop, loop##_blocks, inputs, args, inner, outer, n, m);                                              \
    }

/* The same for a copy. */
#define S0_MOVE_PAST(loop, itemsize)                                                                                 \
    static void loop##_past(char **args, const Py_ssize_t *inner, const Py_ssize_t *outer, Py_ssize_t n, Py_ssize_t m) \
    {                                                                                                                \
        (void)inner;                                                                                                 \
        for (Py_ssize_t j = 0; j < m; j++)                                                                           \
            s0_stream(args[1] + j * outer[1], args[0] + j * outer[0], n * itemsize);                                 \
        s0_stream_end();                                                                                             \
    }

#endif

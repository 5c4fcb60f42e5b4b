/* Encodes elements as words in the same order, and decodes them: for sorting.h. */
#ifndef STRIDE0_ENCODING_H
#define STRIDE0_ENCODING_H

S0_INLINE int64_t s0_raw_at(const char *from, int width, int kind)
{
    switch (width) {
    case 1: return kind == S0_SIGNED ? *(const int8_t *)from : *(const uint8_t *)from;
    case 2: return kind == S0_SIGNED ? *(const int16_t *)from : *(const uint16_t *)from;
    case 4: return *(const int32_t *)from;
    default: return *(const int64_t *)from;
    }
}

/* The sign bit of an unsigned integer as wide as its word is inverted. Negative floats sort in the opposite order of their bits. */
S0_INLINE int64_t s0_encoded(int64_t raw, int width, int kind)
{
    const int64_t most = width == 8 ? INT64_MAX : INT32_MAX;
    if (kind == S0_UNSIGNED && width >= 4)
        return raw ^ ~most;
    return kind == S0_FLOATING ? raw ^ ((raw >> 63) & most) : raw;
}

/* The word of an element: see S0_ENCODE. */
S0_INLINE int64_t s0_word_of(int64_t raw, int width, int kind, int64_t mask, int64_t top)
{
    const int64_t limit = width == 8 ? INT64_MAX : INT32_MAX, infinite = width == 8 ? 0x7FF0000000000000 : 0x7F800000;
    if (kind == S0_FLOATING && (raw & limit) > infinite)
        return top ^ mask;
    return (kind == S0_FLOATING && raw == ~limit ? 0 : s0_encoded(raw, width, kind)) ^ mask;
}

/* The words, of 32 or 64 bits, of contiguous elements; updates `seen` unless it is NULL. Zeros of both signs have one word; every NaN has the word `top`. */
#define S0_ENCODE(bits)                                                                                              \
    S0_INLINE void s0_encode_each_##bits(const char *from, Py_ssize_t n, int width, int kind, int64_t mask,          \
                                         int64_t top, s0_word##bits *to, s0_seen *seen)                              \
    {                                                                                                                \
        /* Counters are as wide as words, for loops with vectors; as n is at most S0_BATCH, they do not overflow. */ \
        const s0_word##bits limit = (s0_word##bits)(width == 8 ? INT64_MAX : INT32_MAX);                             \
        const s0_word##bits infinite = (s0_word##bits)(width == 8 ? 0x7FF0000000000000 : 0x7F800000);                \
        const s0_word##bits nan_word = (s0_word##bits)top, inverted = (s0_word##bits)mask;                           \
        s0_word##bits least = limit, most = ~limit, ones = 0, zeroes = 0, nans = 0, zeros = 0, negative = 0;         \
        Py_ssize_t i;                                                                                                \
        for (i = 0; i < n; i++) {                                                                                    \
            s0_word##bits word = (s0_word##bits)s0_raw_at(from + i * width, width, kind);                            \
            if (kind == S0_UNSIGNED && width >= 4)                                                                   \
                word ^= ~limit;                                                                                      \
            if (kind == S0_FLOATING) {                                                                               \
                const s0_word##bits magnitude = word & limit, is_nan = magnitude > infinite;                         \
                const s0_word##bits is_negative = word == ~limit;                                                    \
                word ^= (word >> (bits - 1)) & limit;                                                                \
                word = is_nan ? nan_word : is_negative ? 0 : word;                                                   \
                if (seen != NULL)                                                                                    \
                    nans += is_nan, zeros += magnitude == 0, negative += is_negative;                                \
            }                                                                                                        \
            word ^= inverted;                                                                                        \
            to[i] = word;                                                                                            \
            if (seen != NULL) {                                                                                      \
                ones |= word, zeroes |= ~word;                                                                       \
                least = word < least ? word : least;                                                                 \
                most = word > most ? word : most;                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        if (seen == NULL)                                                                                            \
            return;                                                                                                  \
        seen->least = least < seen->least ? least : seen->least, seen->most = most > seen->most ? most : seen->most; \
        seen->ones |= (uint64_t)ones, seen->zeroes |= (uint64_t)zeroes;                                              \
        seen->nans += nans, seen->zeros += zeros, seen->negative_zeros += negative;                                  \
    }                                                                                                                \
    /* Constants for the width and the kind remove branches from the loop. */                                        \
    static void s0_encode_##bits(const char *from, Py_ssize_t n, int width, int kind, int64_t mask, int64_t top,     \
                                 s0_word##bits *to, s0_seen *seen)                                                   \
    {                                                                                                                \
        s0_seen unused = {0};                                                                                        \
        if (seen == NULL && kind == S0_FLOATING && width == bits / 8) {                                              \
            s0_encode_each_##bits(from, n, bits / 8, S0_FLOATING, mask, top, to, NULL);                              \
            return;                                                                                                  \
        }                                                                                                            \
        seen = seen == NULL ? &unused : seen;                                                                        \
        S0_ENCODE_##bits(S0_ENCODE_CASE, bits)                                                                       \
    }
#define S0_ENCODE_CASE(w, k, bits)                                                                                   \
    if (width == w && kind == k)                                                                                     \
        s0_encode_each_##bits(from, n, w, k, mask, top, to, seen);
#define S0_ENCODE_32(CASE, bits)                                                                                     \
    CASE(4, S0_FLOATING, bits)                                                                                       \
    CASE(4, S0_SIGNED, bits)                                                                                         \
    CASE(4, S0_UNSIGNED, bits)                                                                                       \
    CASE(2, S0_SIGNED, bits)                                                                                         \
    CASE(2, S0_UNSIGNED, bits)                                                                                       \
    CASE(1, S0_SIGNED, bits)                                                                                         \
    CASE(1, S0_UNSIGNED, bits)
#define S0_ENCODE_64(CASE, bits)                                                                                     \
    CASE(8, S0_FLOATING, bits)                                                                                       \
    CASE(8, S0_SIGNED, bits)                                                                                         \
    CASE(8, S0_UNSIGNED, bits)                                                                                       \
    S0_ENCODE_32(CASE, bits)
S0_ENCODE(32)
S0_ENCODE(64)

S0_INLINE void s0_store_raw(char *to, Py_ssize_t i, int width, int64_t raw)
{
    switch (width) {
    case 1: ((uint8_t *)to)[i] = (uint8_t)raw; break;
    case 2: ((uint16_t *)to)[i] = (uint16_t)raw; break;
    case 4: ((uint32_t *)to)[i] = (uint32_t)raw; break;
    default: ((int64_t *)to)[i] = raw;
    }
}

/* The elements of `words`. Packed words are the words minus `least`, shifted right by `low`. */
#define S0_DECODE(bits)                                                                                              \
    static int s0_decode_##bits(const s0_word##bits *words, Py_ssize_t n, int width, int kind, int64_t mask,         \
                                 int64_t least, int low, char *out)                                                  \
    {                                                                                                                \
        Py_ssize_t i;                                                                                                \
        S0_DECODE_##bits(S0_DECODE_CASE)                                                                             \
        return 1;                                                                                                    \
    }
/* Encoding is its own inverse. */
#define S0_DECODE_CASE(w, k, value)                                                                                  \
    if (width == w && kind == k)                                                                                     \
        S0_LOOP(i, 0, n, s0_store_raw(out, i, w, s0_encoded((value) ^ mask, w, k)))
/* Unsigned: the difference of two words may need all 64 bits. */
#define S0_WIDENED ((int64_t)(((uint64_t)(uint32_t)(words[i] ^ INT32_MIN) << low) + (uint64_t)least))
#define S0_DECODE_64(CASE)                                                                                           \
    CASE(8, S0_FLOATING, words[i])                                                                                   \
    CASE(8, S0_SIGNED, words[i])                                                                                     \
    CASE(8, S0_UNSIGNED, words[i])
#define S0_DECODE_32(CASE)                                                                                           \
    CASE(8, S0_FLOATING, S0_WIDENED)                                                                                 \
    CASE(8, S0_SIGNED, S0_WIDENED)                                                                                   \
    CASE(8, S0_UNSIGNED, S0_WIDENED)                                                                                 \
    CASE(4, S0_FLOATING, words[i])                                                                                   \
    CASE(4, S0_SIGNED, words[i])                                                                                     \
    CASE(4, S0_UNSIGNED, words[i])                                                                                   \
    CASE(2, S0_SIGNED, words[i])                                                                                     \
    CASE(2, S0_UNSIGNED, words[i])                                                                                   \
    CASE(1, S0_SIGNED, words[i])                                                                                     \
    CASE(1, S0_UNSIGNED, words[i])
S0_DECODE(32)
S0_DECODE(64)

#endif

/* Elements as words of the same order, and back: for sorting.h. */
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

/* The sign bit of an unsigned integer that fills its word is inverted. Floats whose sign bit is set have the opposite order. */
S0_INLINE int64_t s0_encoded(int64_t raw, int width, int kind)
{
    const int64_t most = width == 8 ? INT64_MAX : INT32_MAX;
    if (kind == S0_UNSIGNED && width >= 4)
        return raw ^ ~most;
    return kind == S0_FLOATING ? raw ^ ((raw >> 63) & most) : raw;
}

/* The words of a lane, of 32 or 64 bits; updates `seen`. Zeros of both signs have one word, and so has NaN: that of `top`. */
#define S0_ENCODE(bits)                                                                                              \
    S0_INLINE void s0_encode_each_##bits(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind,     \
                                         int64_t mask, int64_t top, s0_word##bits *to, s0_seen *seen)                \
    {                                                                                                                \
        const int64_t infinite = width == 8 ? 0x7FF0000000000000 : 0x7F800000;                                       \
        s0_word##bits least = (s0_word##bits)seen->least, most = (s0_word##bits)seen->most;                          \
        s0_word##bits ones = (s0_word##bits)seen->ones, zeroes = (s0_word##bits)seen->zeroes;                        \
        Py_ssize_t i, nans = 0, zeros = 0, negative = 0;                                                             \
        for (i = 0; i < n; i++) {                                                                                    \
            int64_t whole = s0_encoded(s0_raw_at(from + i * stride, width, kind), width, kind);                      \
            s0_word##bits word;                                                                                      \
            if (kind == S0_FLOATING) {                                                                               \
                /* The word of -0.0 is -1 so far. */                                                                 \
                const int nan = (whole > infinite) | (whole < ~infinite);                                            \
                zeros += (whole == 0) | (whole == -1);                                                               \
                negative += whole == -1;                                                                             \
                nans += nan;                                                                                         \
                whole = nan ? top : whole == -1 ? 0 : whole;                                                         \
            }                                                                                                        \
            word = (s0_word##bits)(whole ^ mask);                                                                    \
            to[i] = word;                                                                                            \
            ones |= word, zeroes |= ~word;                                                                           \
            least = word < least ? word : least;                                                                     \
            most = word > most ? word : most;                                                                        \
        }                                                                                                            \
        seen->least = least, seen->most = most, seen->ones = (uint64_t)ones, seen->zeroes = (uint64_t)zeroes;        \
        seen->nans += nans, seen->zeros += zeros, seen->negative_zeros += negative;                                  \
    }                                                                                                                \
    /* With constants for the width and the kind, the loop has no branches on them. */                               \
    static void s0_encode_##bits(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind,             \
                                 int64_t mask, int64_t top, s0_word##bits *to, s0_seen *seen)                        \
    {                                                                                                                \
        S0_ENCODE_##bits(S0_ENCODE_CASE, bits)                                                                       \
    }
#define S0_ENCODE_CASE(w, k, bits)                                                                                   \
    if (width == w && kind == k && stride == w)                                                                      \
        s0_encode_each_##bits(from, w, n, w, k, mask, top, to, seen);                                                   \
    else if (width == w && kind == k)                                                                                \
        s0_encode_each_##bits(from, stride, n, w, k, mask, top, to, seen);
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

/* The elements of `words`; where these are packed, their words less `least` have been shifted to the right by `low`. */
#define S0_DECODE(bits)                                                                                              \
    static int s0_decode_##bits(const s0_word##bits *words, Py_ssize_t n, int width, int kind, int64_t mask,        \
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
#define S0_WIDENED ((int64_t)((uint64_t)(uint32_t)(words[i] ^ INT32_MIN) << low) + least)
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

/* Polynomials by Horner's rule; included by vecmath.h.

   VM_HORNER(fma, z, c_n, ..., c_1, c_0) is c_n * z**n + ... + c_0 with one fma for each power, from the highest coefficient on: at most
   17 coefficients. `fma` is fma or fmaf. */

#define VM_HORNER(fma, z, ...)                                                                                 \
    VM_HORNER_PICK(__VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(fma, z, __VA_ARGS__)
#define VM_HORNER_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, count, ...) VM_HORNER_##count
#define VM_HORNER_2(fma, z, a, b) fma(z, a, b)
#define VM_HORNER_3(fma, z, a, b, ...) VM_HORNER_2(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_4(fma, z, a, b, ...) VM_HORNER_3(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_5(fma, z, a, b, ...) VM_HORNER_4(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_6(fma, z, a, b, ...) VM_HORNER_5(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_7(fma, z, a, b, ...) VM_HORNER_6(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_8(fma, z, a, b, ...) VM_HORNER_7(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_9(fma, z, a, b, ...) VM_HORNER_8(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_10(fma, z, a, b, ...) VM_HORNER_9(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_11(fma, z, a, b, ...) VM_HORNER_10(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_12(fma, z, a, b, ...) VM_HORNER_11(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_13(fma, z, a, b, ...) VM_HORNER_12(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_14(fma, z, a, b, ...) VM_HORNER_13(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_15(fma, z, a, b, ...) VM_HORNER_14(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_16(fma, z, a, b, ...) VM_HORNER_15(fma, z, fma(z, a, b), __VA_ARGS__)
#define VM_HORNER_17(fma, z, a, b, ...) VM_HORNER_16(fma, z, fma(z, a, b), __VA_ARGS__)

/* Macros for headers that are written once for float32 and float64. vecmath.h includes this header and then those headers twice,
   with VM_PRECISION 64 and with VM_PRECISION 32. VM_(name) is vm_name_f64 or vm_name_f32, VM_T the type of numbers, VM_U the type
   of their bits. VM_PICK chooses by precision. Integers, and literals that are function arguments, need no VM_C. Write other
   literals of an expression as VM_C(literal), because a double would widen a float expression. */

#undef VM_T
#undef VM_U
#undef VM_
#undef VM_FAST
#undef VM_PICK
#undef VM_C
#undef VM_K
#undef VM_AS_BITS
#undef VM_FROM_BITS
#undef VM_FMA
#undef VM_FABS
#undef VM_COPYSIGN
#undef VM_TRUNC

#if VM_PRECISION == 64
#define VM_T double
#define VM_U uint64_t
#define VM_(name) vm_##name##_f64
#define VM_FAST(name) vm_##name##_f64_fast
#define VM_PICK(f64, f32) f64
#define VM_C(literal) literal
#define VM_K(constant) VM_##constant
#define VM_AS_BITS vm_bits64
#define VM_FROM_BITS vm_double
#define VM_FMA fma
#define VM_FABS fabs
#define VM_COPYSIGN copysign
#define VM_TRUNC trunc
#else
#define VM_T float
#define VM_U uint32_t
#define VM_(name) vm_##name##_f32
#define VM_FAST(name) vm_##name##_f32_fast
#define VM_PICK(f64, f32) f32
#define VM_C(literal) literal##f
#define VM_K(constant) VM_##constant##_F
#define VM_AS_BITS vm_bits32
#define VM_FROM_BITS vm_float
#define VM_FMA fmaf
#define VM_FABS fabsf
#define VM_COPYSIGN copysignf
#define VM_TRUNC truncf
#endif

#ifndef VM_DIGITS
#define VM_DIGITS VM_PICK(52, 23) /* behind the point of a mantissa */
#define VM_BIAS VM_PICK(1023, 127)
#define VM_SIGN ((VM_U)1 << (VM_PRECISION - 1))
#define VM_ROUND VM_PICK(VM_ROUND64, VM_ROUND32)
/* The bits of 2**(k - bias), which add to an exponent; and 2**(k + more) for the integer k in the low bits of t */
#define VM_EXPONENT(k) ((VM_U)(k) << VM_DIGITS)
#define VM_POW2(t, more) VM_FROM_BITS((VM_AS_BITS(t) << VM_DIGITS) + VM_EXPONENT(VM_BIAS + (more)))
/* y * 2**k for that k, if the result is a normal number */
#define VM_TIMES_POW2(y, t) VM_FROM_BITS(VM_AS_BITS(y) + (VM_AS_BITS(t) << VM_DIGITS))
#endif

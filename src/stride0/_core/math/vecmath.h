/* Vector math: scalar bodies without branches, which the compiler's vectoriser turns into SIMD.

   Each function is one tree of IEEE operations (including fma, without tables), so the same input gives the same bits on every
   instruction set, at every position of an array and in the scalar tail of a loop. The names are vm_<function>_f32 and
   vm_<function>_f64; loops over them are in vecmath_run.h. Written for -ffp-contract=off. -fno-math-errno and
   -fno-trapping-math change no value and are needed for selections to vectorise. -fno-thread-jumps keeps GCC from turning
   selections back into branches.

   The coefficients come from conformance/accuracy/coefficients.py; programs in the same folder measured the errors of the
   functions.

   Note [Rounding by a large constant]
       Adding 1.5 * 2**23 (in double 1.5 * 2**52) to a much smaller number rounds it to an integer, which is then in the low
       bits of the sum; subtracting the constant gives the integer as a float. This needs no conversion to an integer type,
       which AVX2 does not have for doubles, and NaN stays NaN.

   Note [What costs]
       Vector units do an fma in the time of a product or a sum. A division or a square root takes as long as 10 to 18 of
       them, a conversion between float and double as long as 3. So float32 stays in float, and values that need more
       precision are pairs of numbers, the second of which costs one fma. Polynomials are evaluated by Horner's rule, or by
       two Horner schemes for even and odd powers: that is the fewest products. Without fma in hardware (x86-64-v2), libm
       computes it: slowly, with the same bits. */

#ifndef S0_VECMATH_H
#define S0_VECMATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bodies must be inlined however long they are: a loop with a call does not vectorise. */
#if defined(__GNUC__)
#define VM_INLINE static inline __attribute__((always_inline, unused))
#else
#define VM_INLINE static inline
#endif

/* Before a loop: results may replace the arguments that they are computed from, without any other overlap. Otherwise the compiler
   assumes that a later element may need an overwritten argument. */
#if defined(__GNUC__) && !defined(__clang__)
#define VM_ELEMENTWISE _Pragma("GCC ivdep")
#else
#define VM_ELEMENTWISE
#endif

VM_INLINE uint32_t vm_bits32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
VM_INLINE float vm_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
VM_INLINE uint64_t vm_bits64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
VM_INLINE double vm_double(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

#define VM_ROUND32 0x1.8p23f
#define VM_ROUND64 0x1.8p52
#define VM_SIGN32 ((uint32_t)1 << 31)
#define VM_SIGN64 ((uint64_t)1 << 63)

/* Limits of the fast sine, cosine and tangent, and multiples of pi as two numbers */
#define VM_TRIG_SHORT_F32 0x1p15f
#define VM_TRIG_LIMIT_F32 0x1p25f
#define VM_TRIG_LIMIT_F64 0x1p30
#define VM_2_PI 0x1.45f306dc9c883p-1
#define VM_1_PI 0x1.45f306dc9c883p-2
#define VM_PI_HI 0x1.921fb54442d18p+1
#define VM_PI_LO 0x1.1a62633145c07p-53
#define VM_PI_2_HI 0x1.921fb54442d18p+0
#define VM_PI_2_LO 0x1.1a62633145c07p-54
#define VM_PI_4_HI 0x1.921fb54442d18p-1
#define VM_PI_4_LO 0x1.1a62633145c07p-55

/* All bits set if a < b, for a and b neither negative nor NaN. The compiler turns many `a < b ? p : q` in a row into branches, which
   do not vectorise; it does not do so with this. */
VM_INLINE uint64_t vm_less_f64(double a, double b) { return -((vm_bits64(a) - vm_bits64(b)) >> 63); }
VM_INLINE double vm_select_f64(uint64_t mask, double yes, double no) {
    return vm_double((vm_bits64(yes) & mask) | (vm_bits64(no) & ~mask));
}

#include "vecmath_horner.h"

/* One text for both precisions */
#define VM_PRECISION 64
#include "vecmath_precision.h"
#include "vecmath_exp.h"
#include "vecmath_log.h"
#include "vecmath_pow.h"
#include "vecmath_sinh.h"
#include "vecmath_sin.h"
#undef VM_PRECISION
#define VM_PRECISION 32
#include "vecmath_precision.h"
#include "vecmath_exp.h"
#include "vecmath_log.h"
#include "vecmath_pow.h"
#include "vecmath_sinh.h"
#include "vecmath_sin.h"

#include "vecmath_trig.h"
#include "vecmath_hyper.h"
#include "vecmath_arc.h"
#include "vecmath_run.h"

#endif

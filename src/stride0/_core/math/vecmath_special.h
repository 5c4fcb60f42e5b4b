/* Functions of `stride0.special`, written like the functions in vecmath.h: bodies without branches, and loops that call the bodies.
   conformance/accuracy/special_coefficients.py computes the coefficients. */

#ifndef S0_VECMATH_SPECIAL_H
#define S0_VECMATH_SPECIAL_H

#include "vecmath.h"

#include "vecmath_special_two.h"
#undef VM_PRECISION
#define VM_PRECISION 64
#include "vecmath_precision.h"
#include "vecmath_special_logistic.h"
#include "vecmath_special_exp2.h"
#include "vecmath_special_erf.h"
#undef VM_PRECISION
#define VM_PRECISION 32
#include "vecmath_precision.h"
#include "vecmath_special_logistic.h"
#include "vecmath_special_exp2.h"
#include "vecmath_special_erf.h"
#include "vecmath_special_entropy.h"
#include "vecmath_special_power.h"
#include "vecmath_special_angle.h"
#include "vecmath_special_error.h"
#include "vecmath_special_gamma.h"
#include "vecmath_special_bessel.h"
#include "vecmath_special_run.h"

#endif

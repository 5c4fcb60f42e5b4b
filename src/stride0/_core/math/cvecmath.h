/* Functions of complex numbers, composed of the functions of real numbers.

   Everything is computed in double; complex64 is widened, and the result is rounded once more. Like the real functions, each
   function is one tree of IEEE operations: the same input gives the same bits on every instruction set and at every
   position. Intermediate results are held as two numbers (cvecmath_two.h), so that both parts of a result are accurate:
   they are rounded from values with an error of about 2**-55. */

#ifndef S0_CVECMATH_H
#define S0_CVECMATH_H

#include "vecmath.h"

#include "cvecmath_two.h"
#include "cvecmath_parts.h"
#include "cvecmath_exp.h"
#include "cvecmath_sqrt.h"
#include "cvecmath_log.h"
#include "cvecmath_arc.h"
#include "cvecmath_long.h"
#include "cvecmath_pow.h"
#include "cvecmath_run.h"

#endif

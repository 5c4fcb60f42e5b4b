/* Functions of complex numbers: bodies of our own, on those of the real functions.

   Everything is computed in double; complex64 is widened and the result rounded once more. As with the real
   functions, each is one tree of IEEE operations, so that the same input gives the same bits on every
   instruction set and at every position. Intermediate results are held in two parts (cvecmath_two.h), so that
   both parts of a result are good: what is rounded is right to some 2**-55. */

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

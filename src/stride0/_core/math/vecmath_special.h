/* Functions of `stride0.special`, in the manner of vecmath.h: bodies without branches, and loops over them. */

#ifndef S0_VECMATH_SPECIAL_H
#define S0_VECMATH_SPECIAL_H

#include "vecmath.h"

#include "vecmath_logistic.h"
#include "vecmath_special_run.h"

#endif

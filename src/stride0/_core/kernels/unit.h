/* The headers that each generated file of kernels includes. */
#ifndef STRIDE0_UNIT_H
#define STRIDE0_UNIT_H

#include "kernels.h"

#include "cabs.h"
#include "complexmath.h"
#include "flags.h"
#include "realmath.h"
#include "storage_dtypes.h"

#endif

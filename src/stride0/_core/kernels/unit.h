/* The beginning of each generated unit of kernels. */
#ifndef STRIDE0_UNIT_H
#define STRIDE0_UNIT_H

#include "kernels.h"

#include "cabs.h"
#include "complexmath.h"
#include "finding.h"
#include "flags.h"
#include "folding.h"
#include "products.h"
#include "realmath.h"
#include "scanning.h"
#include "storage_dtypes.h"
#include "systems.h"
#include "tall_matrices.h"
#include "tiles.h"

#endif

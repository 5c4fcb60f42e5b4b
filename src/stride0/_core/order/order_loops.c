#include "counting.h"
#include "distinct.h"
#include "searching.h"

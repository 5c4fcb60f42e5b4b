#include "masks.h"
#include "gathering.h"

"""NaN, infinities, zeros of both signs and the ends of the floating-point dtypes."""

from __future__ import annotations

import itertools
import math

import numpy as np
from helpers import COMPLEX_FLOATING

import stride0 as xp

INF, NAN = math.inf, math.nan
PARTS = (NAN, INF, -INF, 0.0, -0.0, 1.0, -2.5)


def specials(dtype):
    """All special values of a dtype, shuffled, more than fit into a vector register."""
    if dtype in COMPLEX_FLOATING:
        v = [complex(a, b) for a, b in itertools.product(PARTS, repeat=2)]
    else:
        info = np.finfo(dtype)
        edges = [info.max, info.smallest_normal, info.smallest_subnormal, 2.0**24, 0.5]
        v = [*PARTS, *map(float, edges), *(-float(e) for e in edges), 1.5, 3.0, -7.0]
    v = np.array(v * 3, dtype=dtype)
    return v[np.random.default_rng(1).permutation(len(v))]


def each_layout(v):
    """A 1-d NumPy array as arrays of ours, in different layouts."""
    yield xp.asarray(v)
    yield xp.asarray(np.repeat(v, 2))[::2]
    yield xp.asarray(v[::-1].copy())[::-1]

"""Programs in NumPy's style return the same results with ``import stride0.numpy as np``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy_programs import PROGRAMS

import stride0 as xp
import stride0.numpy as snp


def compare(theirs: Any, ours: Any) -> int:
    """Compare results; return the number of stride0 arrays."""
    if isinstance(theirs, (tuple, list)):
        return sum(compare(one, other) for one, other in zip(theirs, ours, strict=True))
    wanted, found = numpy.asarray(theirs), numpy.asarray(ours)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    # Iterations make rounding errors grow.
    numpy.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    return isinstance(ours, xp.Array)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program: Callable[[Any], Any]) -> None:
    assert compare(program(numpy), program(snp)) > 0

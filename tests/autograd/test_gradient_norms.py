"""Derivatives of norms of high order, and where elements are 0 or far apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

import stride0 as xp
from stride0.autograd import grad


@pytest.mark.parametrize("ord", [2, 4, 6])
def test_even_norms_are_smooth_where_an_element_is_0(ord: int) -> None:
    def norm(t: Any) -> Any:
        return xp.linalg.vector_norm(xp.stack([t, xp.asarray(1.0)]), ord=ord)

    # The series of (1 + t**ord)**(1 / ord)
    terms = {ord: 1 / ord, 2 * ord: (1 / ord) * (1 / ord - 1) / 2}
    slope = norm
    for order in range(1, min(3 * ord, 9)):
        slope = grad(slope)
        expected = terms.get(order, 0) * math.factorial(order)
        assert float(slope(xp.asarray(0.0))) == pytest.approx(expected, rel=1e-12, abs=1e-12), order

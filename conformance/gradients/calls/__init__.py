"""Calls of SciPy's functions, a table per part of SciPy: what `scipy-gradients` differentiates."""

from __future__ import annotations

from conformance.gradients.calls import ndimage, numerics, signal, special, stats
from conformance.gradients.calls.parts import Call

CALLS: list[Call] = [call for module in (special, stats, signal, ndimage, numerics) for call in module.CALLS]

# Functions that SciPy marks as supporting the array API but that are not called, with the reasons.
NOT_CALLED: dict[str, str] = {
    name: reason
    for module in (special, stats, signal, ndimage, numerics)
    for reason, names in module.NOT_CALLED.items()
    for name in names.split()
}

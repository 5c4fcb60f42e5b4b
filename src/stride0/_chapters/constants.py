"""The standard's constants.

References
----------
Array API standard 2025.12, "Constants".
"""

from __future__ import annotations

__all__ = ["e", "inf", "nan", "newaxis", "pi"]

e: float = 2.718281828459045
"""Euler's number, rounded to float64."""

inf: float = float("inf")
"""Positive infinity."""

nan: float = float("nan")
"""Not a number."""

newaxis: None = None
"""In an index: insert an axis of size 1 here."""

pi: float = 3.141592653589793
"""Half the circumference of the unit circle, rounded to float64."""

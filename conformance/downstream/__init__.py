"""Tests that SciPy and scikit-learn ship."""

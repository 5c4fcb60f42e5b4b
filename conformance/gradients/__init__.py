"""Gradients of calls of SciPy functions."""

"""Errors of functions, and coefficients of their polynomials."""

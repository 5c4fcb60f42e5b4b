"""Elementwise functions, reductions, einsum and chains."""

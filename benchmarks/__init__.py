"""Benchmarks of stride0: `python -m benchmarks` lists them, and README.md explains them."""

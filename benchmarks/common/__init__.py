"""Timing, libraries, tables: shared by benchmarks."""

"""Timing, libraries, tables: what benchmarks share."""

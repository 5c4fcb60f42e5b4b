"""The chapter "Linear Algebra Functions"."""

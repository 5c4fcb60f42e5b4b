"""The chapter "Sorting Functions"."""

"""Lines of code that break the standard."""

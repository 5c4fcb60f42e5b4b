"""The official suite of the standard."""

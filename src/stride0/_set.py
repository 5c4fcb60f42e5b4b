"""The chapter "Set Functions"."""

"""Tests of other projects, with stride0 in the place of another library."""

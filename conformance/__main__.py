"""`python -m conformance NAME [options]` runs a program of README.md; `python -m conformance` lists them."""

from __future__ import annotations

import sys

from benchmarks.__main__ import main

if __name__ == "__main__":
    sys.exit(main("conformance"))

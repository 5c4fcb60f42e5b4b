"""The examples in docstrings of functions that are declared without them, by the functions' names.

When a docstring is read, `documents` completes it with its examples, so that importing the package reads
nothing of this. The build writes the examples of `elementwise` and `special` into the docstrings of compiled
functions. Other docstrings, of classes for example, are complete and contain their examples.

In a text, a line ``--- name`` begins the example of a function, and ``=== subject`` begins a group of
examples. Each example is a doctest session in which `xp` and `np` are imported;
`tests/project/test_doctests.py` runs them all. Standard library only: the build loads the two by their paths.
"""

from typing import Final

from stride0._tables.examples import (
    creation,
    elementwise,
    linear_algebra,
    selection,
    special,
    special_scipy,
    views,
)

__all__ = ["EXAMPLES"]

_PARTS: Final = (creation, elementwise, linear_algebra, selection, special, special_scipy, views)

EXAMPLES: Final = {name: text.strip() for part in _PARTS for name, text in part.EXAMPLES.items()}

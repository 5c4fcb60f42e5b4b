"""The examples in docstrings of functions that are declared without them, by the functions' names.

The docstring of a declaration is completed with its examples when it is asked for (`documents`), so that the
import of the package reads none of this; the build writes those of `elementwise` and `special` into the
docstrings of compiled functions. A docstring that is complete where it stands, of a class or of another
function, has its examples there.

Each text is a session as doctest reads it, in which `xp` and `np` are imported;
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

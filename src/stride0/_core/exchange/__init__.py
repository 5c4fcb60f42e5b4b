"""Arrays to and from everything else. Importing it gives the array type its methods, and fills in hooks."""

from stride0._core.exchange import exchange  # noqa: F401

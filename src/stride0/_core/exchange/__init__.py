"""Exchange with other libraries. The import adds methods to the array type, and sets hooks."""

from stride0._core.exchange import exchange  # noqa: F401

"""Python's own containers: arrays in them are tracked without boxes."""

from builtins import dict, isinstance, list, tuple, type  # noqa: UP029

__all__ = ["dict", "isinstance", "list", "tuple", "type"]

"""Nested tuples, lists and dicts of arrays: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["flatten", "tree_map"]


def flatten(tree: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Take a nested structure apart.

    Parameters
    ----------
    tree : nested tuples, lists and dicts of anything
        Everything else is a leaf, but None, which has none.

    Returns
    -------
    leaves : list
        In order; those of a dict in the order of its keys.
    rebuild : callable
        Makes a structure of the same kind of as many leaves.
    """
    if tree is None:
        return [], lambda leaves: None
    if isinstance(tree, dict):
        keys, items = list(tree), list(tree.values())
    elif isinstance(tree, (tuple, list)):
        keys, items = None, list(tree)
    else:
        return [tree], lambda leaves: leaves[0]
    parts = [flatten(item) for item in items]
    leaves = [leaf for part, _ in parts for leaf in part]
    kind = type(tree)

    def rebuild(leaves: list[Any]) -> Any:
        out, start = [], 0
        for part, again in parts:
            out.append(again(leaves[start : start + len(part)]))
            start += len(part)
        if keys is not None:
            return dict(zip(keys, out, strict=True))
        return kind(*out) if hasattr(kind, "_fields") else kind(out)

    return leaves, rebuild


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return a structure like `tree` of what `function` makes of its leaves."""
    leaves, rebuild = flatten(tree)
    return rebuild([function(leaf) for leaf in leaves])

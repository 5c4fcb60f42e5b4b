"""Test configurations: reorder results whose order the standard leaves open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._chapters.indexing import take
from stride0._chapters.manipulation import flip
from stride0._chapters.sorting import argsort
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.memory import dtype as dt

__all__ = ["reordered"]


def reordered(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Return the result of a function in an unexpected order that the standard permits."""
    return ORDERS[name](args, kwargs, out) if name in ORDERS else out


def _places(size: int) -> list[int]:
    """Return a fixed order in which neither the first nor the last element keeps its place."""
    return [*range(1, size, 2), *reversed(range(0, size, 2))]


def _indices(places: list[int]) -> Array:
    return asarray(places, dtype=dt.int64)


def _unique(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    if isinstance(out, Array):
        return take(out, _indices(_places(out.shape[0])), axis=0)
    places = _places(out.values.shape[0])
    order = _indices(places)
    moved = {
        field: take(getattr(out, field), order, axis=0) for field in out._fields if field != "inverse_indices"
    }
    if "inverse_indices" in out._fields:
        back = [0] * len(places)
        for new, old in enumerate(places):
            back[old] = new
        moved["inverse_indices"] = _indices(back)[out.inverse_indices] if places else out.inverse_indices
    return type(out)(**moved)


def _eigen(args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    if isinstance(out, Array):
        return take(out, _indices(_places(out.shape[-1])), axis=-1)
    order = _indices(_places(out[0].shape[-1]))
    return type(out)(*(take(part, order, axis=-1) for part in out))


def _argsort(args: tuple[Any, ...], kwargs: dict[str, Any], out: Array) -> Array:
    if kwargs.get("stable", True):
        return out
    axis = kwargs.get("axis", -1)
    # Sort from the other end, so that elements that compare equal come in the opposite order.
    last = args[0].shape[axis] - 1
    descending = kwargs.get("descending", False)
    backwards: Array = argsort(flip(args[0], axis=axis), axis=axis, descending=descending)
    forwards: Array = last - backwards
    return forwards


ORDERS: dict[str, Callable[[tuple[Any, ...], dict[str, Any], Any], Any]] = {
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), _unique),
    **dict.fromkeys(("linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh"), _eigen),
    "argsort": _argsort,
}

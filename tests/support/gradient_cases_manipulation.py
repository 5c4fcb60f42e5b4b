"""Gradient cases of the chapters that move elements or make arrays, of indexing and of hand-made views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gradient_cases import Call, Case, Singular

Args = Callable[[np.random.Generator], tuple[np.ndarray[Any, Any], ...]]
Shape = tuple[int, ...]


def real(*shapes: Shape) -> Args:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def complex_(*shapes: Shape) -> Args:
    return lambda rng: tuple(rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)


def mixed(*shapes: Shape) -> Args:
    """Return real and complex arrays alternately."""
    return lambda rng: tuple(
        rng.standard_normal(s) + (1j * rng.standard_normal(s) if i % 2 else 0) for i, s in enumerate(shapes)
    )


def both(name: str, call: Call, *shapes: Shape, id: str, **peers: Any) -> list[Case]:
    """Return a case with real arrays and one with complex arrays."""
    return [
        Case(name, call, real(*shapes), id, **peers),
        Case(name, call, complex_(*shapes), f"{id}-complex", **peers),
    ]


def integers(xp: Any, values: Any) -> Any:
    return xp.asarray(np.asarray(values, dtype=np.int64))


def of_tuple(function: Callable[..., Any]) -> Call:
    """Return a call of a function of one list of arrays."""
    return lambda xp, *arrays: function(xp, list(arrays))


# Indexing: a key, its id, and the reason to skip PyTorch or JAX

ROWS = np.array([True, False, True])
COLUMNS = np.array([False, True, True, False])
PLANE = np.array([[True, False, True, False], [False] * 4, [True, True, False, True]])
CUBE = np.arange(60).reshape(3, 4, 5) % 7 < 2
ALL = slice(None)
BACK = slice(None, None, -1)

no_torch = {"torch": False}
no_peers = {"torch": False, "jax": False}

KEYS: list[tuple[str, Any, dict[str, Any]]] = [
    ("int", 1, {}),
    ("negative-int", -1, {}),
    ("ints", (1, -2), {}),
    ("every-axis", (0, 1, 2), {}),
    ("numpy-int", (np.int64(2), ALL, np.uint8(3)), no_torch),
    ("nothing", (), {}),
    ("ellipsis", ..., {}),
    ("none", None, {}),
    ("slice", slice(1, 3), {}),
    ("steps", (slice(None, None, 2), ALL, slice(1, None, 3)), {}),
    ("reversed", BACK, no_torch),
    ("negative-steps", (slice(-1, 0, -1), slice(3, None, -2)), no_torch),
    ("beyond", slice(-10, 10), {}),
    ("empty-slice", slice(2, 2), {}),
    ("after-ellipsis", (..., 2), {}),
    ("around-ellipsis", (0, ..., slice(1, None)), {}),
    ("nones", (None, 1, None, slice(1, 4), None), {}),
    ("array", [2, 0], {}),
    ("repeated", [0, 0, 2, 0], {}),
    ("negative-indices", [-1, 1, -1], {}),
    ("array-2d", [[0, 1], [2, 2]], {}),
    ("array-1", [1], {}),
    ("array-0", np.zeros((0,), np.int64), {}),
    ("array-0d", np.array(2), no_torch),
    ("int32", np.array([2, 1, 2], np.int32), {}),
    ("uint8", np.array([2, 1, 2], np.uint8), no_torch),
    ("second-axis", (ALL, [3, 0, 3]), {}),
    ("last-axis", (..., [4, 0, 4, -1]), {}),
    ("pair", ([0, 2], [1, 3]), {}),
    ("pair-repeated", ([0, 0, 2, -3], [1, 1, 3, 1]), {}),
    ("outer", ([[0], [2], [0]], [1, 1, 3]), {}),
    ("broadcast", ([[1]], [2, 2, -2]), {}),
    ("three", ([0, 1], [1, 1], [4, 4]), {}),
    ("apart", ([0, 2, 2], ALL, [1, 1, 0]), {}),
    ("apart-reversed", ([0, 0], slice(3, 0, -2), [1, 1]), no_torch),
    ("beside-slices", (slice(1, None), [1, 1, 3], slice(0, 3)), {}),
    ("beside-int", ([0, 2, 0], 1), {}),
    ("int-beside", (1, [0, 3, 0]), {}),
    # In PyTorch the integer does not count as an array, so the axis keeps its position.
    ("int-apart", (1, ALL, [0, 2, 0]), no_torch),
    ("array-none-array", ([0, 2, 2], None, [1, 1, 0]), no_torch),
    ("none-beside", (None, [0, 0], None, ALL, [1, 1]), no_torch),
    ("ellipsis-apart", ([0, 0], ..., [1, 1]), {}),
    ("ellipsis-of-none", ([1, 1], [2, 2], ..., [3, 3]), no_torch),
    ("mask", CUBE, {}),
    ("mask-2d", PLANE, {}),
    ("mask-rows", ROWS, {}),
    ("mask-columns", (ALL, COLUMNS), {}),
    ("mask-last", (..., np.array([True, False, False, True, True])), {}),
    ("mask-of-none", np.zeros(3, bool), {}),
    ("mask-and-slice", (PLANE, slice(None, None, 2)), {}),
    ("mask-and-reversed", (ROWS, BACK), no_torch),
    ("mask-and-int", (ROWS, 2), {}),
    ("masks", (ROWS, COLUMNS), {}),
    ("mask-and-array", (ROWS, [3, 3]), {}),
    ("mask-apart-array", (ROWS, ALL, [0, 0]), {}),
    # A mask that selects one element, together with an array that repeats it
    ("mask-one-repeated", (np.array([False, True, False]), [2, 2, 2]), {}),
    ("true", True, no_peers),
    ("false", (False, 1), no_peers),
    ("mask-0d", (np.array(True), [1, 1]), no_peers),
]

# Keys that write an element twice: in PyTorch any of the values may stay, and its gradient ignores which.
TWICE = {
    "repeated",
    "negative-indices",
    "array-2d",
    "int32",
    "uint8",
    "second-axis",
    "last-axis",
    "pair-repeated",
    "outer",
    "broadcast",
    "three",
    "apart",
    "apart-reversed",
    "beside-slices",
    "beside-int",
    "int-beside",
    "int-apart",
    "array-none-array",
    "none-beside",
    "ellipsis-apart",
    "ellipsis-of-none",
    "mask-and-array",
    "mask-apart-array",
    "mask-one-repeated",
    "mask-0d",
}


def for_namespace(xp: Any, key: Any) -> Any:
    """Return a key with its arrays and lists as arrays of a namespace."""
    if isinstance(key, tuple):
        return tuple(for_namespace(xp, item) for item in key)
    if isinstance(key, list):
        return integers(xp, key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


def read(key: Any) -> Call:
    return lambda xp, x: x[for_namespace(xp, key)]


def write(key: Any) -> Call:
    def call(xp: Any, x: Any, value: Any) -> Any:
        out = xp.asarray(x, copy=True)
        out[for_namespace(xp, key)] = value
        return out

    return call


def write_torch(key: Any) -> Call:
    def call(torch: Any, x: Any, value: Any) -> Any:
        out = x.clone()
        out[for_namespace(torch, key)] = value
        return out

    return call


def write_jax(key: Any) -> Call:
    return lambda jnp, x, value: x.at[for_namespace(jnp, key)].set(value)


def reading(id: str, key: Any, peers: dict[str, Any], shape: Shape = (3, 4, 5)) -> list[Case]:
    return [Case("getitem", read(key), real(shape), id, **peers)]


def writing(id: str, key: Any, peers: dict[str, Any], value: Shape | None = None) -> list[Case]:
    """Return a case that writes to ``[key]`` one value for each element, or a value of a shape."""
    shape = np.zeros((3, 4, 5))[key].shape if value is None else value
    peers = {"torch": write_torch(key), "jax": write_jax(key)} | peers
    if id in TWICE:
        peers["torch"] = False
    return [Case("setitem", write(key), real((3, 4, 5), shape), id, **peers)]


INDEXING: list[Case] = [
    *(case for key in KEYS for case in reading(*key)),
    *(case for key in KEYS for case in writing(*key)),
    *reading("scalar", (), {}, ()),
    *reading("scalar-ellipsis", ..., {}, ()),
    *reading("scalar-none", (None, ..., None), {}, ()),
    *reading("scalar-true", True, no_peers, ()),
    *reading("empty", slice(None), {}, (0, 2)),
    *reading("empty-mask", np.zeros((0,), bool), {}, (0, 2)),
    *reading("empty-array", (ALL, [1, 1, 0]), {}, (0, 2)),
    Case("getitem", read((ALL, [3, 0, 3])), complex_((3, 4)), "complex"),
    Case("getitem", read((..., 1)), complex_((3, 4)), "complex-int"),
    Case("getitem", lambda xp, x: x[x > 0], real((4, 5)), "own-mask"),
    Case("getitem", lambda xp, x: x[xp.asarray([0, 0])][1:], real((4, 5)), "twice"),
    *writing("value-scalar", slice(1, 3), {}, ()),
    *writing("value-row", (slice(None, None, 2), ..., slice(1, 3)), {}, (2,)),
    *writing("value-column", 1, {}, (4, 1)),
    *writing("value-ones", (ALL, 2), {}, (1, 1)),
    *writing("value-scalar-array", ([0, 2],), {}, ()),
    *writing("value-mask", CUBE, {}, ()),
    *writing("value-mask-one", (PLANE, slice(1, 3)), {}, (1, 2)),
    *writing("value-scalar-repeated", ([0, 0, 2],), no_torch, ()),
    *writing("value-row-repeated", ([2, 0, 2], ALL, [1, 1, 1]), no_torch, (4,)),
    *writing("value-column-repeated", (ALL, [1, 1]), no_torch, (2, 1)),
    *(
        Case(
            "setitem",
            write(key),
            args((3, 4, 5), (3, 5)),
            id,
            write_torch(key),
            write_jax(key),
        )
        for id, key, args in (("complex", (ALL, 1), complex_), ("complex-negative", (ALL, -1), complex_))
    ),
    Case(
        "setitem",
        write(([0, 0, 1],)),
        lambda rng: (rng.standard_normal(3) * (1 + 2j), rng.standard_normal(3)),
        "real-to-complex",
        False,
        write_jax(([0, 0, 1],)),
    ),
]

TAKING: list[Case] = [
    *both(
        "take",
        lambda xp, x: xp.take(x, integers(xp, [2, 0, 2])),
        (4,),
        id="no-axis",
        torch=lambda t, x: x[[2, 0, 2]],
    ),
    *both("take", lambda xp, x: xp.take(x, integers(xp, [2, 0, 2]), axis=1), (3, 4, 2), id="axis-1"),
    *both("take", lambda xp, x: xp.take(x, integers(xp, [1, 1]), axis=-1), (3, 2), id="axis-negative"),
    Case(
        "take",
        lambda xp, x: xp.take(x, integers(xp, [-1, 0, -4]), axis=0),
        real((4, 2)),
        "negative-indices",
        lambda torch, x: x[[-1, 0, -4]],
    ),
    Case(
        "take",
        lambda xp, x: xp.take(x, integers(xp, [[0, 1], [3, 0]]), axis=1),
        real((2, 4, 3)),
        "2d",
        lambda torch, x: x[:, [[0, 1], [3, 0]]],
    ),
    Case(
        "take",
        lambda xp, x: xp.take(x, integers(xp, 2), axis=1),
        real((2, 4)),
        "0d",
        lambda torch, x: x[:, 2],
    ),
    Case(
        "take",
        lambda xp, x: xp.take(x, integers(xp, np.zeros((0,))), axis=1),
        real((2, 4)),
        "nothing",
    ),
    *both(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[0, 2, 2, 2], [1, 0, 1, 1]]), axis=0),
        (3, 4),
        id="axis-0",
    ),
    *both(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[3, 3], [0, 1], [2, 2]])),
        (3, 4),
        id="last",
    ),
    Case(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[-1, -4], [0, -4], [2, 0]])),
        real((3, 4)),
        "negative",
        lambda torch, x: torch.take_along_dim(x, torch.asarray([[3, 0], [0, 0], [2, 0]]), dim=-1),
    ),
    Case(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[0, 2, 2]]), axis=1),
        real((3, 4)),
        "broadcast-indices",
    ),
    Case(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[[3, 3]], [[0, 1]], [[2, 2]]])),
        real((1, 5, 4)),
        "broadcast-both",
    ),
    Case(
        "take_along_axis",
        lambda xp, x: xp.take_along_axis(x, integers(xp, [[0, 0, 0], [0, 0, 0]]), axis=0),
        real((1, 1)),
        "of-one",
    ),
]

MANIPULATION: list[Case] = [
    Case(
        "broadcast_arrays", lambda xp, *a: xp.broadcast_arrays(*a), real((3, 1), (4,), ()), "broadcast_arrays"
    ),
    Case(
        "broadcast_arrays",
        lambda xp, *a: xp.broadcast_arrays(*a),
        mixed((2, 1, 2), (3, 1)),
        "mixed",
    ),
    Case(
        "broadcast_arrays",
        lambda xp, *a: xp.broadcast_arrays(*a)[1],
        real((3, 1), (4,)),
        "second",
    ),
    Case("broadcast_arrays", lambda xp, *a: xp.broadcast_arrays(*a), real((3,)), "one"),
    *both("broadcast_to", lambda xp, x: xp.broadcast_to(x, (2, 3, 4)), (3, 1), id="3d"),
    Case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (2, 3)), real(()), "0d"),
    Case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (0, 3)), real((1, 3)), "empty"),
    Case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (3,)), real((3,)), "same"),
    Case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (1, 1, 1)), real((1,)), "ones"),
    *both("concat", of_tuple(lambda xp, a: xp.concat(a)), (2, 3), (1, 3), (0, 3), id="axis-0"),
    *both("concat", of_tuple(lambda xp, a: xp.concat(a, axis=-1)), (2, 3), (2, 2), id="axis-last"),
    Case("concat", of_tuple(lambda xp, a: xp.concat(a, axis=1)), mixed((2, 3, 2), (2, 1, 2)), "mixed"),
    Case("concat", of_tuple(lambda xp, a: xp.concat(a, axis=None)), real((2, 3), (), (4,)), "flat"),
    Case("concat", of_tuple(lambda xp, a: xp.concat(a)), real((3,)), "one"),
    Case("concat", lambda xp, x: xp.concat((x, x, xp.zeros(2, dtype=x.dtype))), real((3,)), "same"),
    *both("expand_dims", lambda xp, x: xp.expand_dims(x, axis=-2), (2, 3), id="negative"),
    Case("expand_dims", lambda xp, x: xp.expand_dims(x, axis=0), real(()), "0d"),
    Case(
        "expand_dims",
        lambda xp, x: xp.expand_dims(x, axis=(0, -1)),
        real((2, 3)),
        "two",
        lambda torch, x: x[None, ..., None],
    ),
    *both("flip", lambda xp, x: xp.flip(x), (2, 3), id="all"),
    Case("flip", lambda xp, x: xp.flip(x, axis=-1), real((2, 3)), "axis"),
    Case("flip", lambda xp, x: xp.flip(x, axis=(0, 2)), real((2, 3, 2)), "axes"),
    Case("flip", lambda xp, x: xp.flip(x), real(()), "0d"),
    *both("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1), (2, 3, 4), id="one"),
    Case("moveaxis", lambda xp, x: xp.moveaxis(x, (0, 2), (1, 0)), real((2, 3, 4)), "two"),
    Case("moveaxis", lambda xp, x: xp.moveaxis(x, (-1, 0, 1), (1, -1, 0)), real((2, 3, 4)), "three"),
    *both("permute_dims", lambda xp, x: xp.permute_dims(x, (2, 0, 1)), (2, 3, 4), id="cycle"),
    Case(
        "permute_dims",
        lambda xp, x: xp.permute_dims(x, (-1, 0, -2, 1)),
        real((2, 3, 4, 2)),
        "negative",
        jax=lambda jnp, x: jnp.permute_dims(x, (3, 0, 2, 1)),
    ),
    Case("permute_dims", lambda xp, x: xp.permute_dims(x, ()), real(()), "0d"),
    *both("repeat", lambda xp, x: xp.repeat(x, 3), (2, 3), id="flat"),
    *both("repeat", lambda xp, x: xp.repeat(x, 2, axis=-2), (2, 3), id="axis"),
    Case("repeat", lambda xp, x: xp.repeat(x, 0, axis=1), real((2, 3)), "nothing"),
    Case("repeat", lambda xp, x: xp.repeat(x, 2), real(()), "0d"),
    Case("repeat", lambda xp, x: xp.repeat(x, 2, axis=0), real((0, 3)), "empty"),
    *both("repeat", lambda xp, x: xp.repeat(x, integers(xp, [2, 0, 3]), axis=1), (2, 3), id="counts"),
    Case("repeat", lambda xp, x: xp.repeat(x, integers(xp, [2, 0, 3, 1])), real((2, 2)), "counts-flat"),
    Case("repeat", lambda xp, x: xp.repeat(x, integers(xp, [2]), axis=0), real((3, 2)), "one-count"),
    Case("repeat", lambda xp, x: xp.repeat(x, integers(xp, 2), axis=0), real((3, 2)), "count-0d"),
    Case("repeat", lambda xp, x: xp.repeat(x, integers(xp, [2]), axis=0), real((1, 2)), "one-of-one"),
    *both("reshape", lambda xp, x: xp.reshape(x, (3, -1)), (2, 6), id="inferred"),
    Case(
        "reshape",
        lambda xp, x: xp.reshape(xp.permute_dims(x, (1, 0)), (-1,)),
        real((2, 3)),
        "transposed",
    ),
    Case("reshape", lambda xp, x: xp.reshape(x, ()), real((1, 1)), "0d"),
    Case("reshape", lambda xp, x: xp.reshape(x, (3, 0)), real((0, 2)), "empty"),
    Case(
        "reshape",
        lambda xp, x: xp.reshape(x, (6,), copy=True),
        real((2, 3)),
        "copy",
        lambda torch, x: x.reshape(6),
    ),
    Case(
        "reshape",
        lambda xp, x: xp.reshape(xp.strided.contiguous(x), (6,), copy=False),
        real((2, 3)),
        "view",
        lambda torch, x: x.reshape(6),
        lambda jnp, x: x.reshape(6),
    ),
    *both("roll", lambda xp, x: xp.roll(x, 2), (3, 4), id="flat"),
    *both("roll", lambda xp, x: xp.roll(x, -1, axis=1), (3, 4), id="axis"),
    Case("roll", lambda xp, x: xp.roll(x, (1, -2), axis=(0, -1)), real((3, 4)), "axes"),
    Case("roll", lambda xp, x: xp.roll(x, (1, 1), axis=(1, 1)), real((3, 4)), "axis-twice"),
    Case("roll", lambda xp, x: xp.roll(x, 5, axis=(0, 1)), real((3, 4)), "one-shift", False),
    Case("roll", lambda xp, x: xp.roll(x, np.uint8(3), axis=0), real((4,)), "unsigned", False, False),
    Case("roll", lambda xp, x: xp.roll(x, 1), real(()), "0d"),
    *both("squeeze", lambda xp, x: xp.squeeze(x, axis=1), (2, 1, 3), id="one"),
    Case("squeeze", lambda xp, x: xp.squeeze(x, axis=(0, -1)), real((1, 3, 1)), "two"),
    Case("squeeze", lambda xp, x: xp.squeeze(x, axis=(0, 1)), real((1, 1)), "0d"),
    *both("stack", of_tuple(lambda xp, a: xp.stack(a)), (2, 3), (2, 3), id="front"),
    Case("stack", of_tuple(lambda xp, a: xp.stack(a, axis=-1)), mixed((2, 3), (2, 3), (2, 3)), "mixed"),
    Case("stack", of_tuple(lambda xp, a: xp.stack(a, axis=0)), real((), ()), "0d"),
    Case("stack", lambda xp, x: xp.stack([x, x], axis=1), real((3,)), "same"),
    *both("tile", lambda xp, x: xp.tile(x, (2, 3)), (2, 3), id="same"),
    Case("tile", lambda xp, x: xp.tile(x, (2,)), real((2, 3)), "shorter"),
    Case("tile", lambda xp, x: xp.tile(x, (2, 1, 2)), real((2, 3)), "longer"),
    Case("tile", lambda xp, x: xp.tile(x, ()), real((2, 3)), "none"),
    Case("tile", lambda xp, x: xp.tile(x, (2, 0)), real((2, 3)), "nothing"),
    Case("tile", lambda xp, x: xp.tile(x, (2, 2)), real(()), "0d"),
    Case("tile", lambda xp, x: xp.tile(x, (2, 1)), real((1, 0)), "empty"),
    *both("unstack", lambda xp, x: tuple(xp.unstack(x)), (3, 2), id="front"),
    Case("unstack", lambda xp, x: tuple(xp.unstack(x, axis=-1)), real((2, 3)), "last"),
    Case("unstack", lambda xp, x: xp.unstack(x, axis=1)[1], real((2, 3)), "part"),
    Case("unstack", lambda xp, x: tuple(xp.unstack(x))[::2], real((3,)), "numbers"),
]

CREATION: list[Case] = [
    Case(
        "full",
        lambda xp, v: xp.full((2, 3), v),
        real(()),
        "plain",
        lambda torch, v: v.expand(2, 3),
    ),
    Case(
        "full",
        lambda xp, v: xp.full((3,), v, dtype=xp.complex128),
        real(()),
        "to-complex",
        lambda torch, v: v.to(torch.complex128).expand(3),
    ),
    Case("full", lambda xp, v: xp.full((), v), complex_(()), "0d", lambda torch, v: v.expand(())),
    Case(
        "full_like",
        lambda xp, x, v: xp.full_like(x, v),
        real((2, 3), ()),
        "plain",
        lambda torch, x, v: v.expand(2, 3) + 0 * x,
        lambda jnp, x, v: jnp.full(x.shape, v) + 0 * x,
    ),
    *both("tril", lambda xp, x: xp.tril(x), (3, 4), id="main"),
    Case("tril", lambda xp, x: xp.tril(x, k=-1), real((2, 4, 3)), "below"),
    Case("tril", lambda xp, x: xp.tril(x, k=9), real((2, 3)), "all"),
    *both("triu", lambda xp, x: xp.triu(x), (3, 4), id="main"),
    Case("triu", lambda xp, x: xp.triu(x, k=1), real((2, 4, 3)), "above"),
    Case("triu", lambda xp, x: xp.triu(x, k=-9), real((2, 3)), "all"),
    Case("meshgrid", lambda xp, *a: xp.meshgrid(*a), real((2,), (3,), (4,)), "xy"),
    Case("meshgrid", lambda xp, *a: xp.meshgrid(*a, indexing="ij"), mixed((2,), (3,)), "ij", False),
    Case("meshgrid", lambda xp, *a: xp.meshgrid(*a)[1], real((2,), (3,)), "second"),
    Case("meshgrid", lambda xp, *a: xp.meshgrid(*a)[0], real((1,)), "one"),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 5), real((), ()), "plain", False),
    Case(
        "linspace",
        lambda xp, a, b: xp.linspace(a, b, 4, endpoint=False),
        real((), ()),
        "open",
        False,
    ),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 1), real((), ()), "one", False),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 0), real((), ()), "nothing", False),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 3), complex_((), ()), "complex", False),
    Case("linspace", lambda xp, a, b: xp.linspace(a, b, 3), mixed((), ()), "mixed", False),
    Case(
        "arange",
        lambda xp, a, step: xp.arange(a, 100.0, step)[:3],
        lambda rng: (rng.uniform(0, 1, ()), rng.uniform(1, 2, ())),
        "plain",
        lambda torch, a, step: a + step * torch.arange(3),
        lambda jnp, a, step: a + step * jnp.arange(3),
    ),
    Case(
        "arange",
        lambda xp, end: xp.arange(end) * end,
        lambda rng: (rng.uniform(3.2, 3.8, ()),),
        "end",
        lambda torch, end: torch.arange(4) * end,
        lambda jnp, end: jnp.arange(4) * end,
    ),
]

CASTS: list[Case] = [
    Case("astype", lambda xp, x: xp.astype(x, xp.complex128), real((2, 3)), "complex"),
    Case("astype", lambda xp, x: xp.astype(x, xp.float64), real((2, 3)), "same"),
    Case("astype", lambda xp, x: xp.astype(x, xp.complex128, copy=False), complex_((2,)), "no-copy"),
]

# PyTorch's `as_strided` allows no negative strides and needs memory in C order.
VIEWS: list[Case] = [
    *both(
        "strided.contiguous",
        lambda xp, x: xp.strided.contiguous(xp.permute_dims(x, (1, 0))),
        (2, 3),
        id="transposed",
        torch=lambda torch, x: x.T.contiguous(),
        jax=lambda jnp, x: x.T,
    ),
    Case(
        "strided.contiguous",
        lambda xp, x: xp.strided.contiguous(x),
        real((2, 3)),
        "same",
        lambda torch, x: x.contiguous(),
        lambda jnp, x: x,
    ),
    *(
        case
        for id, shape, steps in (
            ("windows", (4, 3), (1, 1)),
            ("broadcast", (2, 3), (0, 1)),
            ("transposed", (3, 2), (1, 3)),
            ("part", (2,), (3,)),
            ("nothing", (0, 2), (1, 1)),
            ("0d", (), ()),
        )
        for case in both(
            "strided.as_strided",
            lambda xp, x, shape=shape, steps=steps: xp.strided.as_strided(
                xp.strided.contiguous(x), shape, steps
            ),
            (2, 3),
            id=id,
            torch=lambda torch, x, shape=shape, steps=steps: torch.as_strided(x, shape, steps),
            jax=False,
        )
    ),
    Case(
        "strided.as_strided",
        lambda xp, x: xp.strided.as_strided(xp.strided.contiguous(x), (3, 2), (-1, 2), 3),
        real((2, 3)),
        "reversed",
        False,
        False,
    ),
    Case(
        "strided.as_strided",
        lambda xp, x: xp.strided.as_strided(xp.strided.contiguous(x)[::-1, 1:], (2, 2), (3, 1), 1),
        real((2, 3)),
        "of-view",
        False,
        False,
    ),
    Case(
        "strided.as_strided",
        lambda xp, x: xp.strided.as_strided(
            xp.broadcast_to(xp.strided.contiguous(x), (4, 2, 3)), (2, 6), (0, 1)
        ),
        real((2, 3)),
        "of-broadcast",
        lambda torch, x: torch.as_strided(x.expand(4, 2, 3), (2, 6), (0, 1)),
        False,
    ),
]

CASES: list[Case] = [*MANIPULATION, *CREATION, *INDEXING, *TAKING, *CASTS, *VIEWS]


def weighted(xp: Any, x: Any) -> Any:
    """Return the sum of elements, weighted 1, 2, 3, …"""
    flat = xp.reshape(x, (-1,))
    return xp.sum(flat * xp.arange(1.0, flat.shape[0] + 1.0))


def point(id: str, call: Call, args: list[Any], gradients: list[Any]) -> Singular:
    return Singular(id, call, tuple(np.asarray(a, float) for a in args), tuple(gradients))


SINGULAR: list[Singular] = [
    # C = A + B, shapes (3,) and (1,)
    point("first-of-all", lambda xp, a, b: a + b, [[1, 2, 3], [4]], [[1, 1, 1], [3]]),
    point(
        "written-twice",
        lambda xp, x, v: weighted(xp, write([0, 2, 0])(xp, x, v)),
        [[1, 2, 3], [4, 5, 6]],
        [[0, 2, 0], [0, 3, 1]],
    ),
    point(
        "written-twice-negative",
        lambda xp, x, v: weighted(xp, write([1, -2])(xp, x, v)),
        [[1, 2, 3], [4, 5]],
        [[1, 0, 3], [0, 2]],
    ),
    point(
        "written-twice-one-value",
        lambda xp, x, v: weighted(xp, write([0, 2, 0])(xp, x, v)),
        [[1, 2, 3], 4],
        [[0, 2, 0], 4],
    ),
    point(
        "written-twice-rows",
        lambda xp, x, v: weighted(xp, write(([1, 1], ALL))(xp, x, v)),
        [[[1, 2], [3, 4]], [[5], [6]]],
        [[[1, 2], [0, 0]], [[0], [7]]],
    ),
    point(
        "written-everywhere", lambda xp, x, v: weighted(xp, write(True)(xp, x, v)), [[1, 2], 3], [[0, 0], 3]
    ),
    point("written-nowhere", lambda xp, x, v: weighted(xp, write(False)(xp, x, v)), [[1, 2], 3], [[1, 2], 0]),
    point(
        "read-repeatedly",
        lambda xp, x: weighted(xp, x[integers(xp, [0, 0, 2, 0])]),
        [[1, 2, 3]],
        [[7, 0, 3]],
    ),
    # Overwritten elements do not contribute, even if their cotangent is infinite.
    point(
        "written-over-singular",
        lambda xp, x, v: xp.sqrt(write(0)(xp, x, v)),
        [[1, 4], 0],
        [[0, 0.25], np.inf],
    ),
    point(
        "written-twice-singular",
        lambda xp, x, v: xp.sqrt(write([0, 0])(xp, x, v)),
        [[1, 4], [9, 0]],
        [[0, 0.25], [0, np.inf]],
    ),
    point(
        "tril-singular", lambda xp, x: xp.sqrt(xp.tril(x)), [[[1, 7], [4, 16]]], [[[0.5, 0], [0.25, 0.125]]]
    ),
    point("concat-of-nothing", lambda xp, x, y: weighted(xp, xp.concat([x, y])), [[], [1, 2]], [[], [1, 2]]),
]

"""Arguments for `fuzz.py`: arrays of every kind, junk, and values that fit the name of a parameter."""

from __future__ import annotations

import array
import math
import random
import types

import numpy as np

import stride0 as xp

DTYPES = [getattr(xp, name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)]  # fmt: skip
SHAPES = [
    (),
    (),
    (0,),
    (1,),
    (3,),
    (3,),
    (2, 3),
    (2, 3),
    (3, 2),
    (3, 3),
    (1, 3),
    (0, 3),
    (2, 0),
    (2, 1, 3),
    (1, 1, 2, 1, 3),
]

# Either small or too large for any memory: sizes between might succeed and use all memory.
INTEGERS = [
    0,
    1,
    2,
    3,
    5,
    -1,
    -2,
    -3,
    -4,
    2**47,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    2**70,
    -(2**31),
    -(2**63),
    -(2**70),
    10**400,
    10**5000,
]
# Numbers that become small in a careless conversion to a C int.
INTEGERS += [2**48 + 1, -(2**48) + 1]


class Hollow:
    """Has the methods of protocols, without function."""

    shape = dtype = ndim = size = None

    def __array__(self, dtype=None, copy=None):
        return np.zeros(2, object)

    def __index__(self):
        raise TypeError("no index")

    def __float__(self):
        raise ValueError("no float")

    def __len__(self):
        return 3

    def __getitem__(self, key):
        raise IndexError("nothing there")

    def __repr__(self):
        return "Hollow()"


class Liar(list):
    """Its `__len__` returns too large a number."""

    def __len__(self):
        return 5


class Fate(random.Random):
    """Random numbers; arrays of one call mostly share a shape and a dtype, so that some calls succeed."""

    shape: tuple[int, ...] | None = None
    dtype: object = None

    def turn(self):
        """Choose the shape and dtype of most arrays of the next call."""
        self.shape = self.choice(SHAPES) if self.randrange(3) else None
        self.dtype = self.choice(DTYPES) if self.randrange(3) else None


def arrays(rng, dtype=None):
    """Return one array of any dtype and layout; all kinds of elements, NaN and infinities included."""
    dtype = dtype or (rng.dtype if rng.dtype and rng.randrange(5) else rng.choice(DTYPES))
    shape = rng.shape if rng.shape is not None and rng.randrange(5) else rng.choice(SHAPES)
    a = np.zeros(shape, dtype.name)
    kind = a.dtype.kind
    pool = {
        "b": [True, False],
        "i": [0, 1, 2, -1, 3, 127, -128],
        "u": [0, 1, 2, 3, 255],
        "f": [0.0, -0.0, 1.0, 2.5, -3.0, math.nan, math.inf, -math.inf],
        "c": [0j, 1j, 1 + 2j, complex(math.nan, 0), complex(0, math.inf), -1],
    }[kind]
    a[...] = np.asarray([rng.choice(pool) for _ in range(a.size)], a.dtype).reshape(shape)
    way = rng.randrange(8)
    if way == 0:
        return xp.asarray(np.array(a, order="F"))
    if way == 1 and a.ndim:
        return xp.flip(xp.asarray(a))
    if way == 2:
        return xp.broadcast_to(xp.asarray(a, copy=True), (2, *shape))
    if way == 3:
        a.flags.writeable = False
        return xp.asarray(a)
    if way == 4:
        return xp.repeat(xp.asarray(a, copy=True), 2, axis=-1)[..., ::2] if a.ndim else xp.asarray(a)
    return xp.asarray(a, copy=True)


def junk(rng):
    """Return a value that is seldom a valid argument."""
    itself: list[object] = []
    itself.append(itself)
    return rng.choice(
        [
            lambda: None,
            lambda: rng.choice([True, False]),
            lambda: rng.choice(INTEGERS),
            lambda: rng.choice(INTEGERS),
            lambda: rng.choice([0.0, -0.0, 0.5, 1.5, math.nan, math.inf, -math.inf, 1e300]),
            lambda: rng.choice([1j, complex(math.nan, math.inf)]),
            lambda: rng.choice(["", "a", "float64", "cpu", "xy", "C", b"", b"abc", bytearray(b"abc")]),
            lambda: tuple(rng.choice([*INTEGERS[:9], None, "a", 1.5]) for _ in range(rng.randrange(4))),
            lambda: [rng.choice(INTEGERS[:9]) for _ in range(rng.randrange(4))],
            lambda: rng.choice(
                [
                    [],
                    [[]],
                    [[1, 2], [3]],
                    [[1], 2],
                    [None],
                    ["a"],
                    [1.5, 1j],
                    [True],
                    itself,
                    (itself,),
                    [10**5000],
                ]
            ),
            lambda: rng.choice(
                [
                    {},
                    {1: 2},
                    set(),
                    object(),
                    Hollow(),
                    Liar([1, 2]),
                    len,
                    int,
                    types,
                    lambda: 0,
                    NotImplemented,
                ]
            ),
            lambda: rng.choice(
                [
                    slice(None),
                    slice(1, 0, 2),
                    slice("a", None),
                    slice(None, None, 0),
                    slice(2**70, -(2**70), -1),
                    ...,
                ]
            ),
            lambda: rng.choice([*DTYPES, np.dtype("f8"), np.float32, float, "int8"]),
            lambda: rng.choice(
                [np.float32(1.5), np.int8(-3), np.True_, np.float16(1), np.datetime64("2020"), np.str_("a")]
            ),
            lambda: np.zeros(
                rng.choice(SHAPES),
                rng.choice(["f8", "i4", "?", "c16", "f2", "O", ">f8", "U3", "M8[s]", "i4,f4"]),
            ),
            lambda: rng.choice(
                [range(3), array.array("d", [1, 2]), memoryview(b"abc"), iter([1]), (i for i in range(2))]
            ),
            lambda: xp.Device("cpu"),
            lambda: [arrays(rng), arrays(rng)],
            lambda: (arrays(rng),),
            lambda: arrays(rng),
        ]
    )()


def plausible(name, rng):
    """Return a value that mostly fits a parameter of that name."""
    small = lambda: rng.choice([0, 1, -1, 2, 3, -2])  # noqa: E731
    if name in (
        "axis",
        "shifts",
        "shift",
        "k",
        "n",
        "num",
        "repeats",
        "repetitions",
        "source",
        "destination",
        "correction",
        "offset",
    ):
        return rng.choice(
            [
                small,
                small,
                lambda: 0,
                lambda: None,
                lambda: tuple(small() for _ in range(rng.randrange(3))),
                lambda: arrays(rng),
            ]
        )()
    if name == "axes":
        return tuple(rng.sample(range(len(rng.shape or (1, 1))), len(rng.shape or (1, 1))))
    if name in ("shape", "strides"):
        like = rng.choice([rng.shape or (), (2, *(rng.shape or ())), (-1,)])
        return rng.choice([like, tuple(small() for _ in range(rng.randrange(4)))])
    if name in ("dtype", "to"):
        return rng.choice([None, *DTYPES])
    if name in ("copy", "keepdims", "endpoint", "include_initial"):
        return rng.choice([True, False, None])
    if name == "device":
        return rng.choice([None, "cpu"])
    if name in (
        "start",
        "stop",
        "step",
        "fill_value",
        "min",
        "max",
        "alpha",
        "prepend",
        "append",
        "prod",
        "value",
    ):
        return rng.choice([small, lambda: 0.5, lambda: None, lambda: arrays(rng)])()
    if name in ("arrays", "shapes"):
        return [arrays(rng) for _ in range(rng.randrange(4))]
    if name == "indices":
        one_axis = xp.asarray([rng.choice([0, 0, -1, 1]) for _ in range(rng.randrange(4))], dtype=xp.int64)
        return rng.choice([one_axis, arrays(rng, xp.int8), xp.zeros(rng.shape or (), dtype=xp.int64)])
    if name in ("ord", "norm", "mode", "side", "uplo", "UPLO"):
        return rng.choice(
            [1, 2, -1, math.inf, "fro", "nuc", "ortho", "backward", "reduced", "left", "right", "L"]
        )
    if name == "s":
        return rng.choice([None, (2, 3), [1], [2, 0]])
    if name == "kind":
        return rng.choice(
            [
                "bool",
                "integral",
                "numeric",
                ("real floating", "signed integer"),
                rng.choice(DTYPES),
                "indexing",
            ]
        )
    return arrays(rng, xp.bool) if name == "condition" else arrays(rng)

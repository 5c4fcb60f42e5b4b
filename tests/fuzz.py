"""Calls of every public function with arguments that are seldom right; see `test_robustness.py`.

``python fuzz.py SEED CALLS LOG`` makes the calls in a process of its own and writes each one down before it
is made, so that a crash can be told from the log.
"""

from __future__ import annotations

import array
import faulthandler
import inspect
import math
import operator
import os
import random
import sys
import types
import warnings

import numpy as np

import stride0 as xp
from stride0 import strided

ALLOWED = (TypeError, ValueError, IndexError, OverflowError, MemoryError)

# What the standard, or Python, has these raise where memory cannot be shared.
SPECIAL = {"from_dlpack": (BufferError,), "memoryview": (BufferError,)}

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

# Too large for any memory, or small: nothing between, which might succeed and take all the memory there is.
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
    2**45,
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
# Numbers that a careless conversion to a C int would make small.
INTEGERS += [2**48 + 1, -(2**48) + 1]


class Hollow:
    """Has the names of protocols, and nothing behind them."""

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
    """Says that it is longer than it is."""

    def __len__(self):
        return 5


class Fate(random.Random):
    """Random numbers, and what the arrays of one call tend to share, so that some calls succeed."""

    shape: tuple[int, ...] | None = None
    dtype: object = None

    def turn(self):
        """Choose what the next call tends to."""
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
    """Return something that is seldom the right thing."""
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
    """Return something that suits an argument of that name, most of the time."""
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


def functions():
    """Return (name, callable, parameters) of everything public that can be called."""
    found = []
    modules = [m for name, m in vars(xp).items() if isinstance(m, types.ModuleType) and name[0] != "_"]
    for module in (xp, *modules):
        for name in sorted(getattr(module, "__all__", vars(module))):
            function = getattr(module, name)
            is_function = callable(function) and not isinstance(function, (type, xp.DType))
            if is_function and name[0] != "_" and name != "memory_statistics":
                found.append((name, function))
    found += [("to_device", xp.Array.to_device), ("__array_namespace__", xp.Array.__array_namespace__)]
    return [(*each, list(inspect.signature(each[1]).parameters.values())) for each in found]


def key_of(rng):
    plain = [0, -1, slice(None), slice(None, None, -2), ..., None, True, [0], [-1, 0]]
    kinds = [lambda: rng.choice(plain)] * 3 + [lambda: arrays(rng, rng.choice([xp.bool, xp.int64]))]
    if rng.randrange(3) == 0:
        kinds += [lambda: junk(rng), lambda: arrays(rng)]
    items = [rng.choice(kinds)() for _ in range(rng.choice([1, 1, 2, 3]))]
    return items[0] if rng.randrange(2) else tuple(items)


UNARY = [
    *(getattr(operator, name) for name in ("neg", "pos", "abs", "invert", "index")),
    *(
        bool,
        int,
        float,
        complex,
        hash,
        len,
        list,
        repr,
        str,
        format,
        reversed,
        iter,
        memoryview,
        round,
        sum,
        max,
    ),
    *(operator.attrgetter(name) for name in ("T", "mT", "real", "imag")),
    np.asarray,
]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"]
OPERATORS += ["and_", "or_", "xor", "lshift", "rshift"]
BINARY = [getattr(operator, name) for name in (*OPERATORS, "eq", "ne", "lt", "le", "gt", "ge")] + [divmod]
IN_PLACE = [getattr(operator, "i" + name.rstrip("_")) for name in OPERATORS]


def draw_call(rng, table):
    """Return (name, callable, positional arguments, keyword arguments, which one it may change or None)."""
    rng.turn()
    turn = rng.randrange(10)
    if turn == 0:
        call = rng.choice(UNARY)
        return getattr(call, "__name__", str(call)), call, [arrays(rng)], {}, None
    if turn == 1:
        call, pair = rng.choice(BINARY), [arrays(rng), rng.choice([junk, arrays])(rng)]
        if rng.randrange(2) and not isinstance(pair[1], (str, bytes, bytearray)):
            pair.reverse()
        return call.__name__, call, pair, {}, None
    if turn == 2:
        call = rng.choice(IN_PLACE)
        return call.__name__, call, [arrays(rng), rng.choice([junk, arrays])(rng)], {}, 0
    if turn == 3:
        call = rng.choice([operator.getitem, operator.getitem, operator.contains, operator.delitem])
        return call.__name__, call, [arrays(rng), key_of(rng)], {}, None
    if turn == 4:
        return (
            "setitem",
            operator.setitem,
            [arrays(rng), key_of(rng), rng.choice([junk, arrays, lambda r: r.choice([0, True])])(rng)],
            {},
            0,
        )
    name, function, parameters = rng.choice(table)
    positional, keywords = [], {}
    wild = rng.choice([0.0, 0.0, 0.1, 0.3, 1.0])
    for parameter in parameters:
        value = junk(rng) if rng.random() < wild else plausible(parameter.name, rng)
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [
                junk(rng) if rng.random() < wild else plausible("x", rng) for _ in range(rng.randrange(3))
            ]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if rng.randrange(2):
                keywords[parameter.name] = value
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.default is parameter.empty or rng.randrange(2):
            positional.append(value)
        else:
            break
    if rng.randrange(20) == 0:
        positional = positional[:-1]
    if rng.randrange(20) == 0:
        keywords["no_such_argument"] = junk(rng)
    return name, function, positional, keywords, None


def arrays_in(values):
    """Return the arrays among arguments, and in the lists and tuples among them."""
    found = []
    for value in values:
        if isinstance(value, xp.Array):
            found.append(value)
        elif isinstance(value, (list, tuple)) and not isinstance(value, Liar):
            found += [item for item in value if isinstance(item, xp.Array)]
    return found


def state(x):
    return x.shape, x.dtype, strided.strides(x), np.asarray(x).tobytes()


def text(value):
    """Return what a value is, in a form that can be typed again."""
    if isinstance(value, xp.Array):
        elements = np.asarray(value).tolist()
        note = "" if strided.is_writable(value) else ", not writable"
        return f"<{value.dtype.name} {value.shape} strides {strided.strides(value)}{note}: {elements}>"
    if type(value) is Liar:
        return f"Liar({list(value)})"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join('itself' if v is value else text(v) for v in value)})"
    if isinstance(value, int) and abs(value) > 2**80:
        return f"<an integer of {value.bit_length()} bits>"
    return repr(value)


def look(result):
    """Read all that a result shows."""
    if isinstance(result, xp.Array):
        assert result.size == math.prod(result.shape)
        assert len(strided.strides(result)) == result.ndim
        if result.size < 10_000:
            assert np.asarray(result).shape == result.shape
            np.asarray(result).tobytes()
            repr(result)
    elif isinstance(result, (tuple, list)):
        for part in result:
            if isinstance(part, xp.Array):
                look(part)


def run(seed, calls, log=None):
    """Make that many calls; return what went wrong, as texts."""
    rng, table, wrong = Fate(seed), functions(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about casts while the arguments are made
        for number in range(calls):
            name, call, positional, keywords, changes = draw_call(rng, table)
            operands = arrays_in([*positional, *keywords.values()])
            before = [state(x) for x in operands]
            described = (
                f"call {number} of seed {seed}: {name}("
                + ", ".join([text(v) for v in positional] + [f"{k}={text(v)}" for k, v in keywords.items()])
                + ")"
            )
            if log is not None:
                os.pwrite(log, described.encode().ljust(4000)[:4000], 0)
            problem = raised = None
            try:
                look(call(*positional, **keywords))
            except (*ALLOWED, *SPECIAL.get(name, ())) as error:
                raised = error
                try:
                    str(error)
                except Exception as second:
                    problem = f"the text of {type(error).__name__} cannot be made: {second!r}"
            except BaseException as error:
                raised = error
                problem = f"{type(error).__name__}: {error}"
            for position, (x, old) in enumerate(zip(operands, before, strict=True)):
                target = changes is not None and raised is None and position == 0
                if (state(x)[:3] != old[:3]) if target else (state(x) != old):
                    problem = f"operand {position} was changed{' by a call that failed' if raised else ''}"
            if problem is not None:
                wrong.append(f"{described}\n    {problem}")
                if len(wrong) >= 20:
                    break
    return wrong


def main():
    import resource

    faulthandler.enable()
    seed, calls, log_path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    # Results that are too large have to fail here rather than to fill the memory of the machine.
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT)
    wrong = run(seed, calls, log)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

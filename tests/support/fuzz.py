"""Calls of every public function with mostly wrong arguments; see `test_robustness.py`.

``python fuzz.py SEED CALLS LOG`` makes the calls in a separate process and logs each one first, so the log
shows which call crashed.
"""

from __future__ import annotations

import faulthandler
import inspect
import math
import operator
import os
import sys
import types
import warnings

import numpy as np
from fuzz_values import Fate, Liar, arrays, junk, plausible

import stride0 as xp
from stride0 import strided

ALLOWED = (TypeError, ValueError, IndexError, OverflowError, MemoryError)

# The errors that the standard, or Python, requires of these where memory cannot be shared.
SPECIAL = {"from_dlpack": (BufferError, AttributeError), "memoryview": (BufferError,)}
# SciPy 1.17 does not return from hyp1f1(1.0, 2.5, inf).
LEFT_OUT = ("memory_statistics", "hyp1f1", "as_array_api_strict")


def functions():
    """Return (name, callable, parameters) of everything public that can be called."""
    found = []
    # Also the modules that are imported late, so that the table is the same in every process.
    public = [getattr(xp, name) for name in sorted(dir(xp)) if name[0] != "_"]
    modules = [value for value in public if isinstance(value, types.ModuleType)]
    for module in (xp, *modules):
        for name in sorted(getattr(module, "__all__", vars(module))):
            function = getattr(module, name)
            is_function = callable(function) and not isinstance(function, (type, xp.DType))
            if is_function and name[0] != "_" and name not in LEFT_OUT:
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
# Functions that write into their first argument, and when, by the other arguments.
WRITING = {
    "put_along_axis": lambda *others, **keywords: True,
    "nan_to_num": lambda copy=True, *others, **keywords: copy is not True,
}
# SciPy's loops are as long as a degree or an order, and cannot be interrupted.
MOST_STEPS = 1000
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
    if function.__module__.startswith("stride0.special"):
        positional = [
            max(-MOST_STEPS, min(value, MOST_STEPS)) if type(value) is int and abs(value) < 2**64 else value
            for value in positional
        ]
    if rng.randrange(20) == 0:
        positional = positional[:-1]
    if rng.randrange(20) == 0:
        keywords["no_such_argument"] = junk(rng)
    writes = name in WRITING and WRITING[name](*positional[1:], **keywords)
    return name, function, positional, keywords, 0 if writes else None


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
    """Return the text of a value that can be typed again."""
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
    """Read every observable property of a result."""
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
    """Make `count` calls; return the errors as texts."""
    rng, table, wrong = Fate(seed), functions(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of casts while the arguments are made
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
    # AddressSanitizer reserves more addresses than that, so that every allocation would fail. It has a limit
    # of its own: test_robustness.py.
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT)
    wrong = run(seed, calls, log)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

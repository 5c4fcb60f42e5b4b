"""The measuring processes of `compare`: they receive rows, and print a line of JSON for each.

Every choice that could favour a library is made here: operands, repetitions of a statement, the order of
libraries.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import functools
import importlib
import json
import math
import os
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import describe, peak, reset_peak
from benchmarks.common.timing import Timer, alternate
from benchmarks.compare.cases import FULL, LIMIT, OURS, QUICK, TINY, Row, rows
from benchmarks.compare.operands import LAYOUTS, Operand, spelled, values

# With one thread, processor time is measured: on an idle machine it is the elapsed time, on a busy one it
# excludes other programs. Samples longer than a turn of the scheduler are not repeated.
TURN_SECONDS = 0.005
# Copies of a short statement in the loop. Its own cost of about ten nanoseconds per turn
# becomes one per statement, the same for all libraries.
UNROLLED = 10
# Spinning threads of one library would take a core from the next one: wait until they sleep. OpenBLAS
# spins for 2**26 ticks of the clock, GNU's OpenMP for 5 to 8 milliseconds here.
PAUSE_SECONDS = {"linalg": 0.03}
OTHER_PAUSE_SECONDS = 0.01

# Groups whose time is bounded by the memory that a statement reads and writes, or by the cost of a call.
MOVING, CALLING = {"mid", "large", "vector-mid", "vector-large"}, {"small"}

# The largest difference of results, relative to the largest of them.
TOLERANCES = {"float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}

Namespace = dict[str, Any]


def serve(request: dict[str, Any]) -> None:
    """Measure what `compare` asks for."""
    # The rows of `compare.cases`, or the rows of another module, with its options.
    module, options = request.get("cases") or (
        "benchmarks.compare.cases",
        {"scale": QUICK if request["quick"] else FULL},
    )
    told = importlib.import_module(module).rows(**options)
    by_key = {row.key: row for row in told}
    chosen = [by_key[key] for key in request["keys"]]
    if request["what"] == "memory":
        library = request["libraries"][0]
        module = load(library)
        small = {row.key: row for row in rows(TINY)}
        for row in chosen:
            say(
                {
                    "key": row.key,
                    "peak": in_fork(functools.partial(growth, row, small[row.key], library, module)),
                }
            )
        return
    libraries, missing = load_all(request["libraries"])
    limited = limit(request["threads"], libraries)
    # The outermost module has the version.
    outermost = {name: importlib.import_module(name) for name in libraries}
    described = f"{describe(outermost)}; {request['threads']} thread(s) ({limited})"
    say({"described": described, "libraries": [*libraries], "missing": missing})
    for row in chosen:
        say(measure(row, libraries, request))


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def load(name: str) -> Any:
    return importlib.import_module("jax.numpy" if name == "jax" else name)


def load_all(names: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The installed libraries, and reasons why others cannot be imported; stride0 and NumPy are required."""
    libraries, missing = {}, {}
    for name in names:
        try:
            libraries[name] = load(name)
        except ImportError as error:
            if name in (OURS, "numpy"):
                raise
            missing[name] = str(error)
    return libraries, missing


def limit(threads: int, libraries: Namespace) -> str:
    """Set the number of threads of every library, in addition to the environment; return a description."""
    done = ["environment"]
    if "torch" in libraries:
        libraries["torch"].set_num_threads(threads)
        done.append("torch.set_num_threads")
    if hasattr(libraries.get(OURS), "set_num_threads"):
        libraries[OURS].set_num_threads(threads)
        done.append("stride0.set_num_threads")
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        done.append("without threadpoolctl")
    else:
        threadpoolctl.threadpool_limits(threads)  # stays in force: not used as a context
        pools = threadpoolctl.threadpool_info()
        done.append("threadpoolctl: " + ", ".join(f"{p['internal_api']} {p['num_threads']}" for p in pools))
    return "; ".join(done)


def measure(row: Row, libraries: Namespace, request: dict[str, Any]) -> dict[str, Any]:
    """Check that the libraries agree on a row, then time it in those that do."""
    threads = request["threads"]
    clock = time.process_time if threads == 1 else time.perf_counter
    found: dict[str, Any] = {
        **{"key": row.key, "group": row.group, "name": row.name, "counts": row.counts, "threads": threads},
        **{"samples": {}, "wrong": {}, "unable": {}, "peak": {}, "disturbed": 0.0},
    }
    expected: Any = None
    timers: dict[str, Timer] = {}
    for name in sorted(libraries, key=lambda name: name != "numpy"):  # NumPy first: the reference
        try:
            names = namespace_of(row, name, libraries[name])
            timers[name], once = compiled(row, name, names, clock)
            result = [part if row.compared == "nothing" else as_numpy(part) for part in once()]
        except Exception as error:  # a peer may lack a row, which is reported; stride0 must not
            found["wrong" if name in (OURS, "numpy") else "unable"][name] = f"{type(error).__name__}: {error}"
            timers.pop(name, None)
            continue
        if expected is None:
            expected = result
            found["result_bytes"] = sum(getattr(part, "nbytes", 0) for part in result)
        elif difference := difference_of(result, expected, row.compared):
            found["wrong" if name == OURS else "unable"][name] = difference
            del timers[name]
    if OURS in timers:
        ordered = {name: timers[name] for name in libraries if name in timers}
        ordered |= limit_timer(row, found["result_bytes"], threads, clock)
        pause = PAUSE_SECONDS.get(row.group, OTHER_PAUSE_SECONDS) if threads > 1 else 0
        turn = TURN_SECONDS if threads == 1 else math.inf
        found["samples"], found["disturbed"] = alternate(
            ordered, request["rounds"], pause, request["budget"], turn
        )
    return found


def limit_timer(row: Row, written: int, threads: int, clock: Callable[[], float]) -> dict[str, Timer]:
    """Return a timer, named LIMIT, that no implementation of a row can beat; nothing if it is not known."""
    import numpy

    from stride0._bench.run import limit_timers

    if row.group in CALLING:
        kind, size = "call", 0
    elif row.group in MOVING:
        read = sum(math.prod(x.shape) * numpy.dtype(x.dtype).itemsize for x in row.operands.values())
        if isinstance(ast.parse(row.statement).body[0], ast.AugAssign):
            written = 0  # to lines of the cache that were read
        kind, arrays = "read", 1
        if 8 * written >= read:
            kind, arrays = ("copy", 2) if read < 1.5 * written else ("add", 3)
        size = (read + written) // arrays
    else:
        return {}
    # A loop whose stores pass the caches is faster for large results.
    timers = limit_timers(kind, size, threads, clock).values()
    fastest = min(timers, key=lambda timer: min(timer.repeat(5, 1)))
    return {LIMIT: lambda number: fastest.timeit(number) / number}


def namespace_of(row: Row, name: str, library: Any) -> Namespace:
    """The names in a statement: operands, and functions and dtypes of the library."""
    names: Namespace = {
        letter: native_operand(operand, ord(letter), name, library)
        for letter, operand in row.operands.items()
    }
    names |= {python: getattr(builtins, python) for python in row.python}
    for node in ast.walk(ast.parse(spelled(row.statement, name))):
        if isinstance(node, ast.Name) and node.id not in names:
            places = (library, getattr(library, "linalg", None), getattr(library, "strided", None))
            place = next((place for place in places if hasattr(place, node.id)), library)
            names[node.id] = getattr(place, node.id)
    return names


def native_operand(operand: Operand, seed: int, name: str, library: Any) -> Any:
    """An operand as an array of the library, in its layout."""
    base = base_values(operand, seed)
    if operand.values.startswith("list"):
        return base.tolist()
    arrange, view = LAYOUTS[operand.layout]
    return view(as_native(arrange(base), name, library))


@functools.lru_cache(maxsize=4)
def base_values(operand: Any, seed: int) -> Any:
    return values(operand, seed)


def as_native(array: Any, name: str, library: Any) -> Any:
    """The same values in the library's own memory."""
    if name == "torch":
        return library.tensor(array)
    if name == "numpy":
        return array.copy()
    return library.asarray(array, copy=True)


def as_numpy(result: Any) -> Any:
    import numpy

    return numpy.asarray(result)


def compiled(
    row: Row, name: str, names: Namespace, clock: Callable[[], float] = time.perf_counter
) -> tuple[Timer, Callable[[], tuple[Any, ...]]]:
    """Return two functions of a row: one times it a number of times, one returns its result as a tuple."""
    statement = spelled(row.statement, name)
    is_expression = isinstance(ast.parse(statement).body[0], ast.Expr)
    if name == "jax":
        statement = f"jitted({', '.join(row.operands)}).block_until_ready()"
        names = {**names, "jitted": jitted(row, names, is_expression)}

    def once() -> tuple[Any, ...]:
        if is_expression:
            result = eval(statement, dict(names))
            several = isinstance(result, tuple) or (isinstance(result, list) and hasattr(result[0], "shape"))
            return tuple(result) if several else (result,)
        changed = dict(names)
        exec(statement, changed)
        return tuple(changed[letter] for letter in row.operands)

    # Local names, as in a user's function; and `x += y` could not assign to a global one.
    setup = "; ".join(f"{letter} = names['{letter}']" for letter in names)
    many = timeit.Timer("\n".join([statement] * UNROLLED), setup, timer=clock, globals={"names": names})
    single = timeit.Timer(statement, setup, timer=clock, globals={"names": names})

    def timer(number: int) -> float:
        """Seconds for each of `number` runs."""
        if number < UNROLLED:
            return single.timeit(number) / number
        turns = number // UNROLLED
        return many.timeit(turns) / (turns * UNROLLED)

    return timer, once


def jitted(row: Row, names: Namespace, is_expression: bool) -> Any:
    import jax

    if not is_expression:
        raise TypeError("JAX does not write to arrays")
    functions = {name: value for name, value in names.items() if name not in row.operands}
    statement = spelled(row.statement, "jax")
    return jax.jit(eval(f"lambda {', '.join(row.operands)}: {statement}", functions))


def difference_of(result: list[Any], expected: list[Any], compared: str = "values") -> str:
    """A description of the error of a result; empty if the result is right.

    `compared`: "values"; "magnitudes", where signs are free; "shapes", with the dtypes; or "nothing", where
    results are no arrays.
    """
    import numpy

    if compared == "nothing":
        return ""
    if len(result) != len(expected):
        return f"{len(result)} arrays, NumPy has {len(expected)}"
    for ours, theirs in zip(result, expected, strict=True):
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return f"{ours.dtype} {ours.shape}, NumPy has {theirs.dtype} {theirs.shape}"
        if compared == "shapes":
            continue
        if compared == "magnitudes":
            ours, theirs = numpy.abs(ours), numpy.abs(theirs)
        if numpy.array_equal(ours, theirs):  # the usual case; the comparison below is slow on large arrays
            continue
        tolerance = TOLERANCES.get(str(theirs.dtype), 0)
        scale = float(numpy.max(numpy.abs(theirs), initial=0)) if tolerance else 0
        if not numpy.allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return "other values than NumPy's"
    return ""


def growth(row: Row, small: Row, name: str, library: Any) -> int | None:
    """The growth of the peak of resident memory, in bytes, when a row runs once."""
    # Run once on small operands before, so that code loaded at first use does not count.
    compiled(small, name, namespace_of(small, name, library))[1]()
    run = compiled(row, name, namespace_of(row, name, library))[1]
    # Otherwise memory freed after making the operands would be reused, and not count.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    before = reset_peak()
    run()
    after = peak()
    return None if before is None or after is None else after - before


def in_fork(work: Callable[[], int | None]) -> int | None:
    """The result of `work` in a forked process; None, with a word on stderr, where it failed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(writing, json.dumps(work()).encode())
            code = 0
        except Exception as error:  # a child must not return into the parent's loop
            print(f"(memory not measured: {type(error).__name__}: {error})", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None

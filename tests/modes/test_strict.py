"""`stride0.strict`: calls that the standard does not define are refused, defined calls are not.

Expectations are written out here from the text of the standard; the official suite, run in strict mode, shows
that nothing which the standard defines is refused.
"""

from __future__ import annotations

import asyncio
import copy
import enum
import inspect
import itertools
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from free_threading import INHERITS_CONTEXT

import stride0 as xp
from stride0._chapters import counting as _counting
from stride0._chapters import quantiles as _quantiles
from stride0._chapters import selection as _selection
from stride0._chapters import updates as _updates
from stride0._compat import comparing as _comparing
from stride0._compat import extras as _extras
from stride0._tables import standard as _standard
from stride0.autograd import grad

DTYPES = {
    "b": [xp.bool],
    "i": [xp.int8, xp.int16, xp.int32, xp.int64],
    "u": [xp.uint8, xp.uint16, xp.uint32, xp.uint64],
    "f": [xp.float32, xp.float64],
    "c": [xp.complex64, xp.complex128],
}
ALL = [dtype for group in DTYPES.values() for dtype in group]
BINARY = ("add", "subtract", "multiply", "maximum", "equal", "less", "bitwise_and", "logical_or", "atan2")
I64, F64, F32, B, C = (
    xp.ones(3, dtype=d) for d in (xp.int64, xp.float64, xp.float32, xp.bool, xp.complex128)
)
SQUARE = xp.reshape(xp.arange(9.0), (3, 3))
INDEX = xp.asarray([0, 2])


def refused(call: Callable[[], Any]) -> bool:
    """Whether a call works, and is refused in strict mode; a call that always fails would show nothing."""
    call()
    with xp.strict():
        try:
            call()
        except xp.StrictError:
            return True
    return False


def letter(dtype: Any) -> str:
    return next(key for key, group in DTYPES.items() if dtype in group)


def promotes(d1: Any, d2: Any) -> bool:
    """The promotion tables of the standard, as sets."""
    a, b = letter(d1), letter(d2)
    if {a, b} <= {"i", "u"}:
        return a == b or xp.uint64 not in (d1, d2)
    return {a, b} <= {"f", "c"} or a == b


# --- switching


def test_off_by_default_and_on_in_a_block() -> None:
    assert not xp.strict.current()
    with xp.strict() as inside:
        assert xp.strict.current() and isinstance(inside, xp.strict)
        with xp.strict(False):
            assert not xp.strict.current()
            I64 + 1.5
        with pytest.raises(xp.StrictError):
            I64 + 1.5
    assert not xp.strict.current()
    assert (I64 + 1.5).dtype is xp.float64


def test_a_block_left_by_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), xp.strict():
        1 / 0  # noqa: B018
    assert not xp.strict.current()


def test_decorator_in_several_threads() -> None:
    """Each call of a decorated function sets and resets the mode of its own thread."""
    inside, go = threading.Barrier(4), threading.Barrier(4)
    found: list[bool] = []

    @xp.strict()
    def work() -> None:
        inside.wait(30)
        found.append(xp.strict.current())
        go.wait(30)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [True] * 4 and not xp.strict.current()


def test_other_threads_and_tasks_are_left_alone() -> None:
    seen: list[Any] = []

    def run() -> None:
        go_on.wait(30)
        seen.append((xp.strict.current(), (I64 + 1.5).dtype))

    # The thread runs already: some interpreters give a new thread the settings of the thread that starts it.
    go_on = threading.Event()
    before = threading.Thread(target=run)
    before.start()
    with xp.strict():
        go_on.set()
        before.join(30)
        later = threading.Thread(target=lambda: seen.append(xp.strict.current()))
        later.start()
        later.join(30)
    assert seen == [(False, xp.float64), INHERITS_CONTEXT]

    async def task(on: bool) -> bool:
        with xp.strict(on):
            await asyncio.sleep(0)
            return xp.strict.current() is on

    async def both() -> list[bool]:
        return await asyncio.gather(*(task(on) for on in (True, False, True)))

    assert asyncio.run(both()) == [True] * 3


def test_default_of_the_process() -> None:
    assert xp.strict.set_default(True) is False
    try:
        found = []
        thread = threading.Thread(target=lambda: found.append(refused(lambda: None)))
        thread.start()
        thread.join(30)
        assert xp.strict.current()
        with pytest.raises(xp.StrictError):
            I64 + 1.5
    finally:
        assert xp.strict.set_default(False) is True
    I64 + 1.5


@pytest.mark.parametrize("value, expected", [("1", "True"), ("true", "True"), ("0", "False"), ("", "False")])
def test_environment_variable(value: str, expected: str) -> None:
    program = "import stride0 as xp; print(xp.strict.current())"
    environment = {**os.environ, "STRIDE0_STRICT": value}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == expected, done.stderr


def test_other_values_are_refused() -> None:
    for call in (lambda: xp.strict("yes"), lambda: xp.strict.set_default(1)):  # type: ignore[arg-type]
        with pytest.raises(xp.ArgumentTypeError, match="True or False"):
            call()


def test_the_error() -> None:
    with xp.strict(), pytest.raises(xp.StrictError) as caught:
        xp.exp(I64)
    error = caught.value
    assert isinstance(error, TypeError) and isinstance(error, xp.Stride0Error)
    assert error.operation == "exp" and error.problem == "x is of dtype int64"
    assert error.sentence == "Element-wise Functions: x of exp has a floating-point dtype"
    assert "stride0.strict is on." in str(error)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(twin) == str(error) and twin.sentence == error.sentence


# --- dtypes


@pytest.mark.parametrize("name", BINARY)
def test_promotion(name: str) -> None:
    """Two arrays: the function's dtypes, and pairs that are in the promotion tables."""
    function = getattr(xp, name)
    kinds = {
        "numeric": "iufc", "real-valued": "iuf", "integer or boolean": "biu", "boolean": "b",
        "real-valued floating-point": "f", "any": "biufc",
    }  # fmt: skip
    accepted = kinds[
        {
            "add": "numeric", "subtract": "numeric", "multiply": "numeric", "maximum": "real-valued",
            "equal": "any", "less": "real-valued", "bitwise_and": "integer or boolean",
            "logical_or": "boolean", "atan2": "real-valued floating-point",
        }[name]
    ]  # fmt: skip
    for d1, d2 in itertools.product(ALL, ALL):
        x1, x2 = xp.ones(2, dtype=d1), xp.ones(2, dtype=d2)
        defined = letter(d1) in accepted and letter(d2) in accepted and promotes(d1, d2)
        with xp.strict():
            if defined:
                assert function(x1, x2).dtype in (xp.result_type(d1, d2), xp.bool)
            else:
                with pytest.raises(TypeError):
                    function(x1, x2)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_python_scalars(dtype: Any) -> None:
    defined = {
        True: letter(dtype) == "b",
        2: letter(dtype) != "b",
        1.5: letter(dtype) in "fc",
        1j: letter(dtype) in "fc",
    }
    x = xp.ones(2, dtype=dtype)
    for scalar, right in defined.items():
        for call in (lambda s=scalar: x == s, lambda s=scalar: xp.not_equal(s, x), lambda s=scalar: x != s):
            assert refused(call) is not right, (dtype, scalar)
        assert refused(lambda s=scalar: xp.where(xp.asarray([True, False]), x, s)) is not right
        if scalar is not True:
            assert refused(lambda s=scalar: x * s) is not right, (dtype, scalar)


def test_integers_out_of_bounds() -> None:
    x = xp.ones(2, dtype=xp.int8)
    assert refused(lambda: x < 300) and refused(lambda: xp.not_equal(300, x))
    assert not refused(lambda: x < 127)
    with xp.strict(), pytest.raises(xp.RangeError):
        x + 300


def test_in_place_operators() -> None:
    def add(other: Any) -> Callable[[], Any]:
        def call() -> None:
            x = xp.ones(3)
            x += other

        return call

    assert refused(add(I64)) and refused(add(B)) and refused(add(True))
    assert not refused(add(F32)) and not refused(add(2)) and not refused(add(1.5))
    x = xp.ones((2, 2), dtype=xp.float32)
    with xp.strict(), pytest.raises(xp.DTypeError, match="float64 cannot be cast"):
        x @= xp.ones((2, 2))


COURTESY: dict[str, Callable[[], Any]] = {
    "integers in exp": lambda: xp.exp(I64),
    "integers divided": lambda: I64 / I64,
    "integers divided by a function": lambda: xp.divide(I64, 2),
    "sqrt of bool": lambda: xp.sqrt(B),
    "bool added": lambda: B + B,
    "bool multiplied": lambda: xp.multiply(B, B),
    "logical of integers": lambda: xp.logical_and(I64, I64),
    "isnan of bool": lambda: xp.isnan(B),
    "hypot of integers": lambda: xp.hypot(I64, I64),
    "maximum of bool": lambda: xp.maximum(B, B),
    "sum of bool": lambda: xp.sum(B),
    "prod of bool": lambda: xp.prod(B),
    "mean of integers": lambda: xp.mean(I64),
    "std of integers": lambda: xp.std(I64),
    "var of complex": lambda: xp.var(C),
    "max of bool": lambda: xp.max(B),
    "argmax of bool": lambda: xp.argmax(B),
    "sort of bool": lambda: xp.sort(B),
    "cumulative sum of bool": lambda: xp.cumulative_sum(B),
    "cumulative sum of no axes": lambda: xp.cumulative_sum(xp.asarray(1)),
    "diff of bool": lambda: xp.diff(B),
    "diff with another dtype": lambda: xp.diff(F64, prepend=F32),
    "concat of kinds": lambda: xp.concat([F64, I64]),
    "stack of kinds": lambda: xp.stack([F64, B]),
    "meshgrid of dtypes": lambda: xp.meshgrid(F64, F32),
    "matmul of kinds": lambda: xp.ones((3, 3)) @ I64,
    "vecdot of kinds": lambda: xp.vecdot(F64, I64),
    "clip by another dtype": lambda: xp.clip(F64, F32, F32),
    "clip integers by a float": lambda: xp.clip(I64, 0.5, 2),
    "where of kinds": lambda: xp.where(B, F64, I64),
    "where of two scalars": lambda: xp.where(B, 1, 2),
    "searchsorted of kinds": lambda: xp.searchsorted(F64, I64),
    "isin of floats": lambda: xp.isin(F64, F64),
    "result_type of kinds": lambda: xp.result_type(xp.int64, xp.float64),
    "result_type with a scalar of another kind": lambda: xp.result_type(xp.int64, 1.5),
    "linspace of integers": lambda: xp.linspace(0, 5, 6, dtype=xp.int64),
    "full of a float in integers": lambda: xp.full(3, 1.5, dtype=xp.int64),
    "full_like of a bool": lambda: xp.full_like(F64, True),
    "full of an array": lambda: xp.full(3, xp.asarray(1.0)),
    "asarray that casts down": lambda: xp.asarray(F64, dtype=xp.float32),
    "asarray that changes the kind": lambda: xp.asarray(I64, dtype=xp.float64),
    "asarray of arrays": lambda: xp.asarray([F64, F64]),
    "asarray of elements": lambda: xp.asarray([F64[0], 1.0]),
    "a scalar for an array": lambda: xp.clip(5, 0, 1),
    "arange of an array": lambda: xp.arange(xp.asarray(3)),
    "take of a matrix of indices": lambda: xp.take(F64, xp.asarray([[0, 1]])),
    "alpha": lambda: xp.add(F64, F64, alpha=2),
}
BEYOND: dict[str, Callable[[], Any]] = {
    "length": lambda: len(F64),
    "containment": lambda: 1.0 in F64,
    "rows of a matrix": lambda: list(SQUARE),
    "divmod": lambda: divmod(F64, 2.0),
    "reflected divmod": lambda: divmod(2.0, F64),
    "attribute real": lambda: F64.real,
    "attribute imag": lambda: C.imag,
    "float of one element with an axis": lambda: float(xp.ones(1)),
    "bool of one element with axes": lambda: bool(xp.ones((1, 1))),
    "int of one element with an axis": lambda: int(xp.ones(1)),
    "shape of zeros_like": lambda: xp.zeros_like(F64, shape=(2, 2)),
    "shape of full_like": lambda: xp.full_like(F64, 1.0, shape=4),
    "NumPy scalar": lambda: F64 + np.float64(1.5),
    "NumPy scalar in front": lambda: np.float32(1.5) * F64,
    "NumPy scalar in a function": lambda: xp.add(F64, np.float64(1.5)),
    "NumPy scalar as a fill value": lambda: xp.full(2, np.float64(1)),
    "as_strided": lambda: xp.strided.as_strided(F64, (2,), (1,)),
    "contiguous": lambda: xp.strided.contiguous(F64),
    "strides": lambda: xp.strided.strides(F64),
    "shares_storage": lambda: xp.strided.shares_storage(F64, F64),
    "explain": lambda: xp.explain(F64, F64),
    "device by name": lambda: xp.zeros(3, device="cpu"),
    "list of axes": lambda: xp.sum(SQUARE, axis=[0, 1]),
    "list as a shape": lambda: xp.zeros([2, 2]),
    "list as a new shape": lambda: xp.reshape(F64, [3, 1]),
    "integer as a new shape": lambda: xp.reshape(F64, 3),
    "list of permuted axes": lambda: xp.permute_dims(SQUARE, [1, 0]),
    "array as an axis": lambda: xp.sum(SQUARE, axis=xp.asarray(0)),
}
KEYS: dict[str, tuple[Any, Any]] = {
    "fewer indices than axes": (SQUARE, 0),
    "a slice for a matrix": (SQUARE, slice(None)),
    "the empty tuple": (SQUARE, ()),
    "a list": (F64, [0, 1]),
    "a list in a tuple": (SQUARE, ([0, 1], 0)),
    "a tuple of tuples": (SQUARE, ((0, 1), (0, 1))),
    "a NumPy array": (F64, np.asarray([0, 1])),
    "a NumPy array without axes": (F64, np.asarray(1)),
    "a Python bool": (F64, True),
    "a mask with an index": (SQUARE, (xp.asarray([True, False, True]), 0)),
    "a mask with dots": (SQUARE, (xp.asarray([True, False, True]), ...)),
    "a mask with None": (F64, (xp.asarray([True, False, True]), None)),
    "indices with a slice": (SQUARE, (slice(None), INDEX)),
    "indices with dots": (SQUARE, (..., INDEX)),
    "indices with None": (F64, (None, INDEX)),
    "indices for fewer axes": (SQUARE, INDEX),
    "stop beyond": (F64, slice(0, 4)),
    "stop far below": (F64, slice(0, -4)),
    "start beyond": (F64, slice(4, None)),
    "start far below": (F64, slice(-4, None)),
    "backwards from beyond": (F64, slice(4, None, -1)),
    "backwards to the size": (F64, slice(None, 3, -1)),
    "backwards to far below": (F64, slice(None, -5, -1)),
    "a bound behind dots": (SQUARE, (..., slice(0, 4))),
    "a bound of an empty axis": (xp.zeros(0), slice(1, None)),
}
READ_ONLY_KEYS = {"a list", "the empty tuple"}


@pytest.mark.parametrize("call", [*COURTESY.values(), *BEYOND.values()], ids=[*COURTESY, *BEYOND])
def test_beyond_the_standard(call: Callable[[], Any]) -> None:
    assert refused(call)


@pytest.mark.parametrize("x, key", KEYS.values(), ids=KEYS)
def test_keys(x: Any, key: Any) -> None:
    assert refused(lambda: x[key])


@pytest.mark.parametrize("x, key", KEYS.values(), ids=KEYS)
def test_keys_that_are_assigned_to(x: Any, key: Any) -> None:
    def assign() -> None:
        target = xp.asarray(x, copy=True)
        target[key] = 1.0

    assert refused(assign)


ASSIGNMENTS: dict[str, tuple[Any, Any, Any]] = {
    "None in the key": (F64, (None, slice(None)), 1.0),
    "an array of indices": (F64, INDEX, 1.0),
    "an index without axes": (F64, xp.asarray(1), 1.0),
    "indices side by side": (SQUARE, (INDEX, INDEX), 1.0),
    "a float in integers": (I64, ..., 1.5),
    "a bool in floats": (F64, ..., True),
    "an integer in bools": (B, ..., 1),
    "an array of another kind": (F64, ..., I64),
    "a wider array": (F32, ..., F64),
    "unsigned in signed": (xp.ones(3, dtype=xp.int8), ..., xp.ones(3, dtype=xp.uint8)),
    "a list": (F64, ..., [1.0, 2.0, 3.0]),
    "a NumPy array": (F64, ..., np.ones(3)),
    "a NumPy scalar": (F64, ..., np.float64(2.0)),
}


@pytest.mark.parametrize("x, key, value", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_assignments(x: Any, key: Any, value: Any) -> None:
    def assign() -> None:
        target = xp.asarray(x, copy=True)
        target[key] = value

    assert refused(assign)


def _assigned(x: Any, key: Any, value: Any) -> Any:
    target = xp.asarray(x, copy=True)
    target[key] = value
    return target


DEFINED: dict[str, Callable[[], Any]] = {
    "same dtypes": lambda: F64 + F64,
    "float32 with float64": lambda: F32 * F64,
    "real with complex": lambda: F64 + C,
    "integers of both signs": lambda: xp.ones(3, dtype=xp.int8) + xp.ones(3, dtype=xp.uint16),
    "integer scalar beside floats": lambda: F64 + 1,
    "complex scalar beside floats": lambda: F32 + 1j,
    "iteration over one axis": lambda: list(F64),
    "iteration of a for loop": lambda: [x + 1.0 for x in F64],
    "a number from no axes": lambda: float(F64[0]),
    "matmul": lambda: SQUARE @ F64,
    "scalars in functions": lambda: (xp.add(1.5, F64), xp.pow(F64, 2), xp.clip(F64, 0, 2.5)),
    "where with one scalar": lambda: xp.where(F64 > 0, F64, 0),
    "0-d index": lambda: F64[xp.asarray(1)],
    "0-d index with a slice": lambda: SQUARE[xp.asarray(1), :],
    "integer of an enumeration as index": lambda: F64[enum.IntEnum("Place", {"SECOND": 1}).SECOND],
    "integers, slices, dots and None": lambda: SQUARE[1, ..., None],
    "all axes": lambda: SQUARE[0:3, -3:3],
    "to the bounds": lambda: (F64[3:], F64[-3:3], F64[:3], F64[2::-1], F64[:-4:-1], F64[3::-1]),
    "dots alone": lambda: SQUARE[...],
    "no axes, empty tuple": lambda: xp.asarray(1.0)[()],
    "mask": lambda: SQUARE[SQUARE > 1],
    "mask of the first axis": lambda: SQUARE[xp.asarray([True, False, True])],
    "mask in a tuple": lambda: SQUARE[(SQUARE > 1,)],
    "indices side by side": lambda: SQUARE[INDEX, INDEX],
    "indices beside an integer": lambda: SQUARE[INDEX, 0],
    "one axis of indices": lambda: F64[INDEX],
    "assigned scalar": lambda: _assigned(F64, slice(0, 2), 1),
    "assigned array": lambda: _assigned(SQUARE, (0, ...), F32),
    "assigned through a mask": lambda: _assigned(SQUARE, SQUARE > 1, 0.0),
    "assigned real in complex": lambda: _assigned(C, ..., F64),
    "sequence": lambda: xp.asarray([[1, 2.5], [True, 4]]),
    "buffer": lambda: xp.asarray(np.ones(3)),
    "asarray that promotes": lambda: xp.asarray(F32, dtype=xp.float64),
    "device of an array": lambda: xp.zeros(3, device=F64.device),
    "tensordot with lists": lambda: xp.tensordot(SQUARE, SQUARE, axes=([0], [1])),
    "axes of fftn": lambda: xp.fft.fftn(xp.ones((2, 2), dtype=xp.complex128), axes=[0, 1]),
    "repeat": lambda: xp.repeat(F64, 2),
    "repeat by an array": lambda: xp.repeat(F64, xp.asarray([1, 2, 0])),
    "unknown length": lambda: xp.reshape(SQUARE, (-1,)),
    "expand_dims": lambda: xp.expand_dims(F64, axis=0),
    "tolerances": lambda: xp.linalg.pinv(SQUARE, rtol=1e-9),
    "fill of integers in floats": lambda: (xp.full(3, 1, dtype=xp.float64), xp.full_like(F64, 0)),
    "copies and views": lambda: (copy.copy(F64), pickle.loads(pickle.dumps(F64)), np.asarray(F64)),
    "text": lambda: (
        repr(SQUARE),
        str(F64),
        f"{F64[0]} {F64}",
        repr(F64.dtype),
        str(F64.dtype),
        repr(F64.device),
    ),
    "memory": lambda: (memoryview(F64).nbytes, np.asarray(F64).sum()),
}


@pytest.mark.parametrize("call", DEFINED.values(), ids=DEFINED)
def test_in_the_standard(call: Callable[[], Any]) -> None:
    assert not refused(call)


def test_errors_of_the_functions_stay() -> None:
    with xp.strict():
        with pytest.raises(xp.BroadcastError):
            F64 + xp.ones(2)
        with pytest.raises(xp.OutOfBoundsError):
            F64[5]
        with pytest.raises(IndexError, match="more than one"):
            SQUARE[..., ...]
        with pytest.raises(IndexError):
            F64[0, 0]
        with pytest.raises(xp.ForeignArrayError):
            F64 + np.ones(3)
        with pytest.raises(TypeError):
            F64 + "1"


def test_hasattr_asks_without_an_error() -> None:
    assert hasattr(F64, "real")
    with xp.strict():
        assert not hasattr(F64, "real") and not hasattr(F64, "imag")
        with pytest.raises(xp.StrictAttributeError):
            F64.imag  # noqa: B018


def test_can_cast_knows_the_promotion_graph_alone() -> None:
    for d1, d2 in itertools.product(ALL, ALL):
        with xp.strict():
            expected = promotes(d1, d2) and xp.result_type(d1, d2) is d2
            assert xp.can_cast(d1, d2) is expected, (d1, d2)


def test_functions_are_free_inside() -> None:
    """Calls within functions of the package are not checked."""
    with xp.strict():
        xp.linalg.pinv(SQUARE + 0)
        xp.unique_all(F64)
        xp.isin(I64, I64)
        xp.linalg.matrix_norm(SQUARE, ord=2)
        xp.var(F64, correction=1)
        xp.linspace(0, 1, 5, dtype=xp.float32)
        xp.linalg.matrix_rank(SQUARE)
        xp.tril(I64 * xp.ones((3, 3), dtype=xp.int64))
        xp.cumulative_prod(xp.ones(3, dtype=xp.int8), include_initial=True)


def test_together_with_guarded_broadcasts() -> None:
    with xp.strict(), xp.broadcasting("exact"):
        with pytest.raises(xp.StretchError):
            SQUARE + F64
        with pytest.raises(xp.StretchError):
            xp.vecdot(SQUARE, F64)
        with pytest.raises(xp.StrictError):
            SQUARE + B
    with xp.broadcasting("exact"), pytest.raises(xp.StretchError):
        SQUARE + F64


def test_gradients() -> None:
    """Recorded calls are checked; the backward pass is code of the package."""
    slope = grad(lambda x: xp.sum(xp.exp(x[1:]) * 2))
    plain = slope(F64)
    with xp.strict():
        assert bool(xp.all(slope(F64) == plain))
        with pytest.raises(xp.StrictError):
            grad(lambda x: xp.sum(x * I64))(F64)


# --- the table


def test_the_table_has_every_function_of_the_standard_once() -> None:
    own = {"Array", "DType", "Device", "broadcasting", "explain", "fused", "strict", "strided", "testing"}
    own |= {
        "loop",
        "replay",
        "reproducible",
        "scan",
        "autograd",
        "einsum",
        "einsum_path",
        "optim",
        "random",
        "special",
    }
    own |= {name for name in xp.__all__ if name.endswith(("Error", "Warning"))} | {"__version__"}
    own |= {
        *_extras.__all__,
        *_comparing.__all__,
        *_counting.__all__,
        *_quantiles.__all__,
        *_selection.__all__,
        *_updates.__all__,
        "memory",
        "get_num_threads",
        "set_num_threads",
        "float16",
        "bfloat16",
    }
    assert _standard.names_of() == set(xp.__all__) - own
    for extension in (xp.linalg, xp.fft):
        prefix = extension.__name__.rpartition(".")[2]
        listed = {name.partition(".")[2] for name in _standard.ROWS if name.startswith(f"{prefix}.")}
        shared = set(_standard.SHARED) if prefix == "linalg" else set()
        beyond = {"expm", "lstsq", "solve_triangular"} if prefix == "linalg" else set()
        assert listed | shared == {name for name in extension.__all__ if not name[0].isupper()} - beyond
        for name in beyond:
            with xp.strict(), pytest.raises(xp.StrictError, match="no function of this name"):
                getattr(extension, name)(xp.ones((2, 2)), *([xp.ones(2)] if name != "expm" else []))


def test_versions_of_the_table() -> None:
    """The names of NumPy's first namespace of the standard, and the versions of later names."""
    assert "isdtype" not in _standard.names_of("2021.12") and "isdtype" in _standard.names_of("2022.12")
    assert "clip" not in _standard.names_of("2022.12") and "clip" in _standard.names_of("2023.12")
    assert "diff" not in _standard.names_of("2023.12") and "diff" in _standard.names_of("2024.12")
    assert "isin" not in _standard.names_of("2024.12") and "isin" in _standard.names_of("2025.12")
    counts = [len(_standard.names_of(version)) for version in _standard.VERSIONS]
    assert counts == sorted(counts) and len(set(counts)) == 5


@pytest.mark.parametrize("name", sorted(set(_standard.ROWS) - {"__array_namespace_info__"}))
def test_parameters_of_the_table(name: str) -> None:
    """The positional parameters of each row are those of the function."""
    module, _, short = name.rpartition(".")
    function = getattr(getattr(xp, module) if module else xp, short)
    row = _standard.ROWS[name]
    try:
        found = inspect.signature(function).parameters
    except ValueError:
        found = inspect.signature(function).parameters
    positional = [p.name for p in found.values() if p.kind is not p.KEYWORD_ONLY]
    if row.parameters:
        assert list(row.parameters) == positional[: len(row.parameters)]
        assert {*row.arrays, *row.later} <= set(found)

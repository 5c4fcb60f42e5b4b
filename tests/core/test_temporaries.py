"""Results in the memory of dying operands: where that saves a block, and that nobody sees a value change.

The second half matters more. Its callers hold the only reference to an array, or borrow it, and look at the
array after a sum; each of them would notice memory that was taken too early.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import operator
import platform
import shutil
import subprocess
import sys
import sysconfig
import threading
import types
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import stride0 as xp
from stride0 import memory
from stride0._core.elementwise import elementwise as core
from stride0.autograd import grad

pytestmark = pytest.mark.usefixtures("eagerly")

N = 1 << 18  # float64 elements: 2 MiB, well above what is looked at
LARGE = N * 8


def make(value: float = 1.0, n: int = N) -> xp.Array:
    return xp.full(n, value)


def constant(x: xp.Array, value: float) -> bool:
    return bool((np.asarray(x) == value).all())


def blocks(f: Callable[[], object], size: int = LARGE) -> float:
    """How many blocks of a size were owned at the same time while f ran, beyond those from before."""
    before = memory.stats(reset_peak=True)["live_bytes"]
    kept = f()
    found = memory.stats()["peak_bytes"] - before
    del kept
    return round(found / size, 1)


A, B, C = make(2.0), make(3.0), make(4.0)
ROW = xp.asarray(5.0)


# --- where it saves a block


@pytest.mark.skipif(not core.elides_temporaries(), reason="nothing tells here which operands die")
@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda: A * B + C, 10.0),
        (lambda: C + A * B, 10.0),
        (lambda: C - A * B, -2.0),
        (lambda: A * B - C, 2.0),
        (lambda: A * B / C, 1.5),
        (lambda: C / (A * B), 4.0 / 6.0),
        (lambda: A * B * 2.0 + 1, 13.0),
        (lambda: 1.0 - A * B, -5.0),
        (lambda: A * B + ROW, 11.0),
        (lambda: xp.reshape(A * B, (2, -1)) + 1.0, 7.0),  # a view, but of nothing else
        (lambda: ((A + B) * C - 1.0) / 2.0 + A, 11.5),
    ],
)
def test_one_block(f, value):
    assert constant(f(), value)
    assert blocks(f) == 1.0


def star(*operands: xp.Array) -> xp.Array:
    return xp.negative(*operands)


@pytest.mark.skipif(not core.elides_arguments(), reason="nothing tells here which arguments die")
@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda: xp.negative(A * B), -6.0),
        (lambda: xp.abs(A - C * B), 10.0),
        (lambda: xp.negative(xp.square(A * B)), -36.0),
        (lambda: -1.0 + xp.floor(A * B / C), 0.0),
        (lambda: xp.square(xp.reshape(A - 3.0, (2, -1))), 1.0),
    ],
)
def test_one_block_of_a_function(f, value):
    assert constant(f(), value)
    assert blocks(f) == 1.0


@pytest.mark.parametrize(
    ("f", "value", "count"),
    [
        (lambda: xp.negative(A), -2.0, 1.0),
        (lambda: star(A * B), -6.0, 2.0),  # the arguments are a tuple's
        (lambda: xp.negative((A * B)[: N // 2]), -6.0, 1.5),
        (lambda: xp.isfinite(A * B), True, 1.1),  # another dtype
        (lambda: xp.exp(A - 2.0), 1.0, 2.0),  # bound by computation
        (lambda: next(map(xp.negative, [A * B])), -6.0, 2.0),
        (lambda: functools.partial(xp.negative, A * B)(), -6.0, 2.0),
    ],
)
def test_more_blocks_of_a_function(f, value, count):
    assert constant(f(), value)
    assert blocks(f) == count


def test_available():
    """On Linux with glibc and a CPython that interprets, whatever names its functions have."""
    jit = getattr(sys, "_jit", None)
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    interprets = sys.implementation.name == "cpython" and gil and not (jit and jit.is_enabled())
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc" and interprets:
        assert core.elides_temporaries()
        assert core.elides_arguments()


@pytest.mark.parametrize(
    ("f", "value", "count"),
    [
        (lambda: xp.add(A * B, C), 10.0, 2.0),  # a function is given borrowed references
        (lambda: operator.add(A * B, C), 10.0, 2.0),
        (lambda: (A * B) ** 2.0, 36.0, 2.0),
        (lambda: (A + B) * (A + B)[:1], 25.0, 2.0 if core.elides_temporaries() else 3.0),
        (lambda: (A * B)[: N // 2] + C[: N // 2], 10.0, 1.5),  # a view
        (lambda: xp.astype(A * B, xp.float32) + xp.astype(C, xp.float64), 10.0, 2.5),  # another dtype
    ],
)
def test_more_blocks(f, value, count):
    assert constant(f(), value)
    assert blocks(f) == count


def test_small_results_are_not_looked_at():
    x, y = make(2.0, 1000), make(3.0, 1000)
    assert blocks(lambda: x * y + y, 8000) == 2.0


def test_other_shapes_and_dtypes_of_the_result():
    row = xp.ones((1, N))
    assert xp.all((A * B) + xp.ones((3, N)) == 7.0)
    assert xp.all(xp.ones((3, N)) + A * B == 7.0)
    assert (row + A * B).shape == (1, N)
    assert (A * B + row).shape == (1, N)
    assert (A * B == 6.0).dtype == xp.bool
    assert (A * B + 1j).dtype == xp.complex128
    whole = xp.full(N, 2**40, dtype=xp.int64)
    assert (whole + whole + 0.5).dtype == xp.float64
    with pytest.raises(xp.RangeError):
        (xp.full(N * 8, 3, dtype=xp.int8) + xp.full(N * 8, 3, dtype=xp.int8)) + 1000
    assert ((whole + whole) / whole).dtype == xp.float64


# --- and that nobody sees a value change


def test_names():
    def local():
        x = A * B
        y = x + C
        z = C + x
        return x, y, z

    x, y, z = local()
    assert constant(x, 6.0)
    assert constant(y, 10.0)
    assert constant(z, 10.0)
    x = y = A * B
    z = x + C
    assert constant(y, 6.0)
    # Assigned in the expression itself, and dead only after it.
    assert constant((w := A * B) + C, 10.0)
    assert constant(w, 6.0)
    assert constant(xp.negative(w := A * B), -6.0)
    assert constant(w, 6.0)

    def functions():
        x = A * B
        y = xp.negative(x)
        return x, y

    x, y = functions()
    assert constant(x, 6.0)
    assert constant(y, -6.0)
    cell = [A * B]
    assert constant(cell[0] + C, 10.0)
    assert constant(cell[0], 6.0)
    holder = type("Holder", (), {})()
    holder.x = A * B
    assert constant(holder.x + C, 10.0)
    assert constant(holder.x, 6.0)


def test_the_same_operand_twice():
    assert constant((x := A * B) + x, 12.0)
    assert constant(x, 6.0)
    for t in (A * B for _ in range(1)):
        assert constant(t + t, 12.0)
        assert constant(t, 6.0)


def test_views_and_exports():
    x = A * B
    view = x[:]
    del x
    cell = [view]
    del view
    assert constant(cell.pop() + C, 10.0)
    kept = []

    def shared(how):
        x = A * B
        kept.append(how(x))
        return x

    for how in (
        memoryview,
        np.asarray,
        np.from_dlpack,
        lambda x: x[::2],
        lambda x: x.T if x.ndim == 2 else x[:1],
        iter,
    ):
        result = shared(how) + C
        assert constant(result, 10.0)
    assert all((np.asarray(each) == 6.0).all() for each in kept[:-1])
    assert float(next(kept[-1])) == 6.0


def test_weak_references():
    seen = []

    def watched():
        x = A * B
        seen.append(weakref.ref(x))
        return x

    assert constant(watched() + C, 10.0)
    assert constant(xp.negative(watched()), -6.0)
    assert seen[0]() is None
    assert seen[1]() is None


def test_foreign_memory():
    source = np.full(N, 6.0)
    assert constant(xp.asarray(source, copy=False) + C, 10.0)
    assert (source == 6.0).all()
    assert constant(xp.negative(xp.asarray(source, copy=False)), -6.0)
    assert (source == 6.0).all()
    assert constant(xp.from_dlpack(source) + C, 10.0)
    assert (source == 6.0).all()
    buffer = bytearray(np.full(N, 6.0).tobytes())
    assert constant(xp.asarray(memoryview(buffer).cast("d")) + C, 10.0)
    assert np.frombuffer(buffer)[0] == 6.0


def test_generators_and_properties():
    def produce():
        x = A * B
        yield x
        assert constant(x, 6.0)
        yield None

    producer = produce()
    assert constant(next(producer) + C, 10.0)
    next(producer)
    producer = produce()
    assert constant(xp.negative(next(producer)), -6.0)
    next(producer)

    class Cached:
        @functools.cached_property
        def x(self):
            return A * B

    holder = Cached()
    assert constant(holder.x + C, 10.0)
    assert constant(xp.negative(holder.x), -6.0)
    assert constant(holder.x, 6.0)


def test_gradients():
    def f(x):
        return xp.sum((x * B + C) * (x * x) + x * 2.0)

    assert constant(grad(lambda x: xp.sum(xp.exp(xp.square(x * B) - 36.0)))(A), 36.0)
    found = grad(f)(A)
    # d/dx (3x + 4) x**2 + 2x at 2
    assert constant(found, 9.0 * 4.0 + 8.0 * 2.0 + 2.0)
    assert constant(A, 2.0)


def objects(*values: float) -> np.ndarray:
    """An object array that holds the only references to its elements."""
    out = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        out[k] = make(value)
    return out


def test_object_arrays():
    x, y = objects(1.0, 2.0, 3.0), objects(10.0, 20.0, 30.0)
    assert sys.getrefcount(x[0]) <= 3
    z = x + y
    assert [constant(z[k], (k + 1) * 11.0) for k in range(3)] == [True] * 3
    assert constant(np.add.reduce(x), 6.0)
    assert constant(x.sum(), 6.0)
    assert constant(x[0] + x[1], 3.0)
    w = x * 2.0 + y - x
    assert constant(w[2], 33.0)
    total = np.add.accumulate(x)
    for k in range(3):
        assert constant(x[k], k + 1.0)
        assert constant(y[k], (k + 1) * 10.0)
        assert constant(total[k], [1.0, 3.0, 6.0][k])
    assert constant(np.dot(x, y), 140.0)
    assert constant(x[2], 3.0)


def test_callers_in_the_interpreter():
    x = [make(k) for k in (1.0, 2.0, 3.0)]
    assert constant(functools.reduce(operator.add, x), 6.0)
    assert constant(functools.reduce(operator.add, (make(k) for k in (1.0, 2.0, 3.0))), 6.0)
    assert constant(sum(x, make(0.0)), 6.0)
    assert constant(sum(make(k) for k in (1.0, 2.0, 3.0)), 6.0)
    assert [constant(each, 2.0 * k) for k, each in enumerate(map(operator.add, x, x), 1)] == [True] * 3
    twice = list(map(operator.add, (make(k) for k in (1.0, 2.0)), (make(k) for k in (1.0, 2.0))))
    assert constant(twice[1], 4.0)
    sums = list(itertools.accumulate(make(k) for k in (1.0, 2.0, 3.0)))
    assert [constant(each, value) for each, value in zip(sums, (1.0, 3.0, 6.0), strict=True)] == [True] * 3
    sums = list(itertools.accumulate(x, operator.sub, initial=make(0.0)))
    assert [constant(each, value) for each, value in zip(sums, (0.0, -1.0, -3.0, -6.0), strict=True)] == [
        True
    ] * 4
    assert [constant(each, k) for k, each in enumerate(x, 1)] == [True] * 3
    # The interpreter's own callers that keep what they gave.
    held = {"x": make(6.0)}
    assert constant(functools.partial(operator.add, held["x"])(C), 10.0)
    assert constant(held["x"], 6.0)
    assert constant(operator.methodcaller("__add__", C)(held["x"]), 10.0)
    assert constant(held["x"].__add__(C), 10.0)
    assert constant(xp.Array.__add__(held["x"], C), 10.0)
    assert constant(held["x"], 6.0)


@pytest.mark.parametrize(
    "bind",
    [
        lambda x: functools.partial(xp.negative, x),
        lambda x: types.MethodType(xp.negative, x),
        lambda x: functools.partial(types.MethodType(xp.negative, x)),
        lambda x: functools.partial(functools.partial(xp.negative), x),
        lambda x: functools.partial(star, x),
        lambda x: functools.partial(xp.negative.__call__, x),
    ],
)
def test_callers_of_functions(bind):
    bound = bind(make(6.0))  # holds the only reference
    for _ in range(40):  # often enough for the interpreter to take its fast ways
        assert constant(bound(), -6.0)
    assert constant(next(map(lambda f: f(), [bound])), -6.0)


def test_functions_of_elements():
    x = [make(k) for k in (1.0, 2.0, 3.0)]
    for _ in range(3):
        assert [constant(each, -k) for k, each in enumerate(map(xp.negative, x), 1)] == [True] * 3
        assert [constant(xp.negative(each), -k) for k, each in enumerate(x, 1)] == [True] * 3
    assert [constant(xp.negative(x.pop()), -k) for k in (3.0, 2.0, 1.0)] == [True] * 3
    stored = objects(1.0, 2.0)
    for _ in range(3):
        assert constant(np.frompyfunc(xp.negative, 1, 1)(stored)[1], -2.0)
    assert constant(stored[1], 2.0)


def test_ctypes():
    add = ctypes.pythonapi.PyNumber_Add
    add.restype = ctypes.py_object
    add.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    x = [make(6.0)]
    references = sys.getrefcount(x[0])
    assert references == 2  # the list's, and the argument of getrefcount
    for _ in range(3):
        # By address: nobody takes a reference, so that it has one while the sum runs.
        assert constant(add(id(x[0]), id(C)), 10.0)
        assert constant(x[0], 6.0)
    call = ctypes.pythonapi.PyObject_CallOneArg
    call.restype = ctypes.py_object
    call.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for _ in range(3):
        assert constant(call(xp.negative, id(x[0])), -6.0)
        assert constant(x[0], 6.0)


def test_threads():
    wrong = []

    def work(value):
        for _ in range(20):
            x = make(value)
            total = xp.negative(xp.negative(x * B + C)) - x * 2.0
            if not constant(total, value + 4.0) or not constant(x, value):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


EXTENSION = r"""
#include <Python.h>
#include <stddef.h>
typedef struct { PyObject_HEAD PyObject *a, *b; } Pair;
static int init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Pair *p = (Pair *)self;
    if (!PyArg_ParseTuple(args, "OO", &p->a, &p->b)) return -1;
    Py_INCREF(p->a); Py_INCREF(p->b);
    return 0;
}
static void drop(PyObject *self) {
    Py_XDECREF(((Pair *)self)->a); Py_XDECREF(((Pair *)self)->b);
    PyObject_Free(self);
}
/* All of these jump to PyNumber_Add, with references that are borrowed. */
#define SUM(p) PyNumber_Add(((Pair *)p)->a, ((Pair *)p)->b)
static PyObject *total(PyObject *self, PyObject *unused) { return SUM(self); }
static PyObject *plus(PyObject *self, PyObject *other) { return SUM(self); }
static PyObject *minus(PyObject *self) { return SUM(self); }
static PyObject *both(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    return PyNumber_Add(args[0], args[1]);
}
/* And this one uses what it was given a second time. */
static PyObject *twice(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    PyObject *first = PyNumber_Add(args[0], args[1]), *second, *out;
    if (!first) return NULL;
    second = PyNumber_Add(args[0], args[1]);
    out = second ? PyTuple_Pack(2, first, second) : NULL;
    Py_DECREF(first); Py_XDECREF(second);
    return out;
}
/* And one that calls a function with what it was given, twice, and once by a jump. */
static PyObject *call_twice(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    PyObject *first = PyObject_Vectorcall(args[0], args + 1, 1, NULL), *second, *out;
    if (!first) return NULL;
    second = PyObject_Vectorcall(args[0], args + 1, 1, NULL);
    out = second ? PyTuple_Pack(2, first, second) : NULL;
    Py_DECREF(first); Py_XDECREF(second);
    return out;
}
static PyObject *call_one(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    return PyVectorcall_Function(args[0])(args[0], args + 1, 1, NULL);
}
/* A callable that lends what it keeps, by a jump: the function seems to be called by the interpreter. */
typedef struct { PyObject_HEAD vectorcallfunc call; PyObject *function, *x; } Lender;
static PyObject *lend(PyObject *self, PyObject *const *args, size_t n, PyObject *names) {
    Lender *lender = (Lender *)self;
    return PyVectorcall_Function(lender->function)(lender->function, &lender->x, 1, NULL);
}
static int lender_init(PyObject *self, PyObject *args, PyObject *kwargs) {
    Lender *lender = (Lender *)self;
    if (!PyArg_ParseTuple(args, "OO", &lender->function, &lender->x)) return -1;
    Py_INCREF(lender->function); Py_INCREF(lender->x);
    lender->call = lend;
    return 0;
}
static void lender_drop(PyObject *self) {
    Py_XDECREF(((Lender *)self)->function); Py_XDECREF(((Lender *)self)->x);
    PyObject_Free(self);
}
static PyTypeObject LenderType = {PyVarObject_HEAD_INIT(0, 0) .tp_name = "Lender",
    .tp_basicsize = sizeof(Lender), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Lender, call), .tp_call = PyVectorcall_Call,
    .tp_init = lender_init, .tp_new = PyType_GenericNew, .tp_dealloc = lender_drop};
static PyMethodDef methods[] = {{"total", total, METH_NOARGS, 0}, {0}};
static PyNumberMethods number = {.nb_add = plus, .nb_negative = minus};
static PyTypeObject PairType = {PyVarObject_HEAD_INIT(0, 0) .tp_name = "Pair", .tp_basicsize = sizeof(Pair),
    .tp_flags = Py_TPFLAGS_DEFAULT, .tp_init = init, .tp_new = PyType_GenericNew, .tp_dealloc = drop,
    .tp_methods = methods, .tp_as_number = &number, .tp_getattro = PyObject_GenericGetAttr};
static PyMethodDef functions[] = {{"twice", (PyCFunction)(void *)twice, METH_FASTCALL, 0},
    {"both", (PyCFunction)(void *)both, METH_FASTCALL, 0},
    {"call_twice", (PyCFunction)(void *)call_twice, METH_FASTCALL, 0},
    {"call_one", (PyCFunction)(void *)call_one, METH_FASTCALL, 0}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "borrower", 0, -1, functions};
PyMODINIT_FUNC PyInit_borrower(void) {
    PyObject *module;
    if (PyType_Ready(&PairType) < 0 || PyType_Ready(&LenderType) < 0) return NULL;
    module = PyModule_Create(&definition);
    if (module) { Py_INCREF(&PairType); PyModule_AddObject(module, "Pair", (PyObject *)&PairType); }
    if (module) { Py_INCREF(&LenderType); PyModule_AddObject(module, "Lender", (PyObject *)&LenderType); }
    return module;
}
"""


@pytest.fixture(scope="module")
def borrower(tmp_path_factory):
    """An extension in C that gives PyNumber_Add what it borrows, in ways that leave no trace on the stack."""
    if not core.elides_temporaries():
        pytest.skip("no result is written to the memory of a temporary here")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    include = sysconfig.get_paths()["include"]
    if compiler is None or sys.platform != "linux":
        pytest.skip("there is no C compiler to build the extension with")
    if not (Path(include) / "Python.h").exists():
        pytest.skip("the interpreter's headers are not installed")
    folder = tmp_path_factory.mktemp("borrower")
    source, library = folder / "borrower.c", folder / f"borrower{sysconfig.get_config_var('EXT_SUFFIX')}"
    source.write_text(EXTENSION, encoding="ascii")
    command = [compiler, "-O2", "-shared", "-fPIC", "-w", "-I", include, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("borrower", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_extension_that_borrows(borrower):
    def check(call, pair):
        for _ in range(40):  # often enough for the interpreter to take its fast ways
            assert constant(call(pair), 10.0)

    pair = borrower.Pair(make(6.0), make(4.0))
    check(lambda p: p.total(), pair)
    check(lambda p: p + p, pair)
    check(lambda p: p + 1, pair)
    check(lambda p: -p, pair)
    check(lambda p: operator.add(p, p), pair)
    check(lambda p: operator.neg(p), pair)
    for _ in range(40):
        assert constant(borrower.both(make(6.0), C), 10.0)
        first, second = borrower.twice(make(6.0), C)
        assert constant(first, 10.0)
        assert constant(second, 10.0)
        first, second = borrower.twice(C, A * B)
        assert constant(second, 10.0)


def test_an_extension_that_borrows_arguments(borrower):
    lender = borrower.Lender(xp.negative, make(6.0))
    for _ in range(40):
        assert constant(lender(), -6.0)
        assert constant(borrower.call_one(xp.negative, A * B), -6.0)
        first, second = borrower.call_twice(xp.negative, A * B)
        assert constant(first, -6.0)
        assert constant(second, -6.0)
    assert constant(next(map(lambda f: f(), [lender])), -6.0)

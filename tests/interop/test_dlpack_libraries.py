"""DLPack with NumPy, PyTorch and JAX, both ways, over dtypes and layouts.

The outcome is shared memory, a copy if it is allowed, or an error: never a silent copy, never a wrong value.
Limits of the other libraries are listed here, so that a test fails when a library removes one.
"""

from __future__ import annotations

import gc
import time
import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from dlpack_tensors import address, started
from helpers import DTYPES, assert_same, values

import stride0 as xp
from stride0 import strided

LAYOUTS = ["C", "transposed", "sliced", "negative", "broadcast", "read-only", "size 0", "0-d", "3-d"]
LIBRARIES = ["numpy", "torch", "jax"]
COPIES = [None, False, True]


class Library(NamedTuple):
    name: str
    module: Any
    take: Any  # from_dlpack(x, copy=...)
    make: Any  # an array of the library with the elements of a NumPy array, in the library's layout
    address: Any
    look: Any  # a NumPy array on the memory of an array of the library


def _of_torch(torch):
    def make(a):
        return torch.tensor(np.ascontiguousarray(a)).reshape(a.shape)

    return Library(
        "torch", torch, torch.from_dlpack, make, lambda t: t.data_ptr(), lambda t: t.resolve_conj().numpy()
    )


def _of_jax(jax):
    # Nothing here runs under jax.jit; JAX enables 64-bit dtypes only on request.
    jax.config.update("jax_enable_x64", True)
    return Library(
        "jax",
        jax,
        jax.dlpack.from_dlpack,
        jax.numpy.asarray,
        lambda t: t.unsafe_buffer_pointer(),
        np.asarray,
    )


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    if request.param == "numpy":
        yield Library("numpy", np, np.from_dlpack, np.array, address, np.asarray)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip(request.param)
    gc.collect()
    gc.freeze()  # these libraries are made of many objects, and the tests collect often
    if request.param == "torch":
        yield _of_torch(module)
    else:
        before = module.config.jax_enable_x64
        yield _of_jax(module)
        module.config.update("jax_enable_x64", before)
    gc.unfreeze()


def laid_out(ns, v, layout):
    """A view of a (4, 6) array of any library."""
    if layout == "broadcast":
        return ns.broadcast_to(v[1:2], (3, 6))
    return {
        "C": lambda: v,
        "read-only": lambda: v,
        "transposed": lambda: v.T,
        "sliced": lambda: v[1:, ::2],
        "negative": lambda: v[::-1, ::-2],
        "size 0": lambda: v[:, :0],
        "0-d": lambda: v[2, 3, ...],
        "3-d": lambda: v[None, :, 1:3],
    }[layout]()


def ours(dtype, layout):
    a = values(dtype)
    if layout == "read-only":
        a.flags.writeable = False
        return xp.asarray(a), a
    return laid_out(xp, xp.asarray(a, copy=True), layout), laid_out(np, a, layout)


def other(element):
    """An element that differs from one."""
    return not element if isinstance(element, bool) else 1 if element != 1 else 2


def live_bytes():
    gc.collect()
    return strided.memory_statistics()["live_bytes"]


def assert_owned(expected):
    """Assert how many bytes arrays own; libraries with threads may release memory a moment later."""
    for _ in range(50):
        if live_bytes() == expected:
            return
        time.sleep(0.02)
    assert live_bytes() == expected


# --- export


def refusal(library, x, layout, copy):
    """The error of the library for an array of ours that it cannot import."""
    if library.name == "jax":
        if layout in ("broadcast", "read-only"):
            return BufferError, "read-only or broadcast"  # ours: JAX asks for the layout without the flag
        if layout in ("sliced", "negative", "3-d"):
            return RuntimeError, "striding"
        if copy is False and address(x) % 64 and x.size:
            return ValueError, "not aligned"
    return None


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_out(library, layout, copy):
    if library.name == "torch" and layout == "negative":
        pytest.skip("PyTorch ends the process: see test_torch_and_negative_steps")
    for dtype in DTYPES:
        x, a = ours(dtype, layout)
        refused = refusal(library, x, layout, copy)
        if refused:
            with pytest.raises(refused[0], match=refused[1]):
                library.take(x, copy=copy)
            continue
        t = library.take(x, copy=copy)
        seen = library.look(t)
        assert_same(xp.asarray(seen, copy=True), a, what=dtype)
        if not x.size:
            continue
        shared = library.address(t) == address(x)
        if library.name == "jax":
            # Its copy=True shares the memory anyway; writes to it are undefined.
            assert shared or copy is True or address(x) % 64, dtype
            continue
        assert shared is (copy is not True), dtype
        if shared and strided.is_writable(x):
            element = other(a.flat[0].item())
            x[(0,) * x.ndim] = element
            assert library.look(t).flat[0] == element
            t[(0,) * x.ndim] = a.flat[0].item()
            assert_same(x, a)
        if library.name == "numpy":
            assert seen.flags.writeable is (strided.is_writable(x) or copy is True)
            assert copy is True or seen.strides == np.asarray(x).strides


def test_jax_without_alignment(library):
    if library.name != "jax":
        pytest.skip("JAX only")
    x = xp.arange(20, dtype=xp.float64)[1:]
    assert address(x) % 64
    with pytest.raises(ValueError, match="not aligned"):
        library.take(x, copy=False)
    t = library.take(x)
    assert library.address(t) != address(x)
    x[0] = 99
    assert np.asarray(t)[0] == 1


TORCH_AND_STEPS = """
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
import numpy as np
import stride0 as xp
taken = {take}
assert taken.tolist() == [2, 1, 0], taken
"""


def test_torch_and_negative_steps():
    """PyTorch has no negative strides; before it fixed issue 188023 it aborted, for NumPy arrays too."""
    pytest.importorskip("torch")
    takes = {
        "ours": "torch.from_dlpack(xp.arange(3)[::-1])",
        "NumPy's": "torch.from_dlpack(np.arange(3)[::-1])",
        "a copy": "torch.from_dlpack(xp.arange(3)[::-1], copy=True)",
    }
    running = {what: started(TORCH_AND_STEPS.format(take=take)) for what, take in takes.items()}
    errors = {what: process.communicate(timeout=120)[1] for what, process in running.items()}
    assert running["a copy"].returncode == 0, errors["a copy"]
    for what in ("ours", "NumPy's"):
        assert running[what].returncode != 0
        assert "strides" in errors[what], errors[what]
        assert "AssertionError" not in errors[what], errors[what]


@pytest.mark.parametrize("copy", COPIES)
def test_out_keeps_the_array_as_long_as_needed(library, copy):
    before = live_bytes()
    x = xp.asarray(np.arange(1000.0), copy=True)
    t = library.take(x, copy=copy)
    seen = weakref.ref(x)
    del x
    gc.collect()
    if library.name != "jax" and copy is not True:
        assert seen() is not None
    assert library.look(t)[999] == 999
    del t
    assert_owned(before)
    assert seen() is None


# --- import


def theirs(library, dtype, layout):
    """An array of the library and a NumPy array with its elements; None if the library has no such array."""
    a = values(dtype)
    if layout == "read-only" and library.name == "numpy":
        a.flags.writeable = False
        return a, a
    t = library.make(a)
    if library.name == "jax":
        return laid_out(library.module.numpy, t, layout), laid_out(np, a, layout)
    if layout == "negative" and library.name == "torch":
        return None
    return laid_out(library.module, t, layout), laid_out(np, a, layout)


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_in(library, layout, copy):
    for dtype in DTYPES:
        made = theirs(library, dtype, layout)
        if made is None:
            pytest.skip("PyTorch has no negative steps")
        t, a = made
        for x in (xp.from_dlpack(t, copy=copy), xp.from_dlpack(t, copy=copy, device="cpu")):
            assert_same(x, a, what=dtype)
            if not x.size:
                continue
            shared = library.address(t) == address(x)
            assert shared is (copy is not True), dtype
            if not shared:
                assert strided.is_writable(x)
                continue
            immutable = library.name == "jax" or layout == "broadcast" or not library.look(t).flags.writeable
            assert strided.is_writable(x) is not immutable, dtype
            if immutable:
                with pytest.raises(ValueError, match="setitem"):
                    x[...] = 0
                continue
            first = (0,) * x.ndim
            x[first] = other(a[first].item())
            assert library.look(t)[first] == other(a[first].item())
            t[first] = a[first].item()
            assert_same(x, a)


@pytest.mark.parametrize("copy", COPIES)
def test_in_keeps_the_array_as_long_as_needed(library, copy):
    if library.name == "numpy":

        class Seen(np.ndarray):
            pass

        t = np.arange(1000.0).view(Seen)
    else:
        t = library.make(np.arange(1000.0))
    seen = weakref.ref(t)
    x = xp.from_dlpack(t, copy=copy)[::-1]
    del t
    gc.collect()
    if library.name == "numpy":
        assert (seen() is not None) is (copy is not True)
    blocks = [library.make(np.zeros(1000)) for _ in range(20)]  # would reuse the memory if it had been freed
    assert float(x[0]) == 999
    assert float(xp.sum(x)) == 499500
    del x, blocks
    gc.collect()
    assert seen() is None


def test_there_and_back(library):
    for dtype in DTYPES:
        x, a = ours(dtype, "C")
        y = xp.from_dlpack(library.take(x))
        assert_same(y, a)
        assert address(y) == address(x)
    before = live_bytes()
    y = xp.from_dlpack(library.take(xp.ones(1000)))
    assert_owned(before + 8000)
    assert float(xp.sum(y)) == 1000
    del y
    assert_owned(before)


def test_64_axes(library):
    if library.name == "jax":
        pytest.skip("XLA has fewer axes")
    x = xp.zeros((1,) * 62 + (2, 3))
    t = library.take(x)
    assert tuple(t.shape) == x.shape
    y = xp.from_dlpack(t)
    assert y.shape == x.shape
    assert address(y) == address(x)


# --- dtypes and devices that the standard lacks


def test_dtypes_that_are_not_of_the_standard(library):
    if library.name == "numpy":
        arrays = [np.zeros(3, dtype) for dtype in ("longdouble", ">i4", "U3", "S3", "M8[s]", "O", "V4")]
        arrays.append(np.zeros(3, [("a", "i4")]))
    elif library.name == "torch":
        torch = library.module
        names = ("complex32", "float8_e5m2", "float8_e4m3fn")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays = [torch.zeros(3).to(getattr(torch, name)) for name in names]
    else:
        numpy = library.module.numpy
        arrays = [numpy.zeros(3, dtype=getattr(numpy, n)) for n in ("float8_e4m3fn", "float8_e5m2")]
    for t in arrays:
        for copy in COPIES:
            with pytest.raises(BufferError):
                xp.from_dlpack(t, copy=copy)


def test_tensors_that_torch_does_not_lend(library):
    if library.name != "torch":
        pytest.skip("PyTorch only")
    torch = library.module
    for t in (
        torch.ones(3, requires_grad=True),
        torch.ones(3, dtype=torch.complex64).conj(),
        torch.ones(3).to_sparse(),
        torch.ones(3, device="meta"),
    ):
        with pytest.raises((BufferError, ValueError)):
            xp.from_dlpack(t)
    assert_same(xp.from_dlpack(torch.ones(3, requires_grad=True).detach()), np.ones(3, dtype=np.float32))


def test_asarray_takes_what_only_speaks_dlpack(library):
    class Only:
        def __init__(self, t):
            self.t = t

        def __dlpack__(self, **keywords):
            return self.t.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.t.__dlpack_device__()

    for dtype in DTYPES:
        a = values(dtype)
        t = library.make(a)
        for copy in COPIES:
            x = xp.asarray(Only(t), copy=copy)
            assert_same(x, a)
            assert (address(x) == library.address(t)) is (copy is not True)

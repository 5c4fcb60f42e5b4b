"""float16 and bfloat16 outside of arithmetic: other libraries, text, pickles, strict mode, gradients."""

from __future__ import annotations

import copy
import pickle
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0 import strided
from stride0.autograd import grad, value_and_grad, vjp

NAMES = ("float16", "bfloat16")


def dtype_of(name: str) -> Any:
    return getattr(xp, name)


def numpys(name: str) -> Any:
    return np.dtype(np.float16 if name == "float16" else pytest.importorskip("ml_dtypes").bfloat16)


def bits_of(x: Any) -> Any:
    return np.asarray(x.view(xp.uint16))


# --- dtypes


@pytest.mark.parametrize("name", NAMES)
def test_dtype(name: str) -> None:
    dtype = dtype_of(name)
    assert (dtype.name, dtype.kind, dtype.itemsize, repr(dtype)) == (
        name,
        "real floating",
        2,
        f"stride0.{name}",
    )
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype
    assert dtype == name and dtype != "float32" and hash(dtype) == hash(dtype_of(name))
    assert np.dtype(dtype) == numpys(name) and dtype.type is numpys(name).type
    for spelling in (name, numpys(name), numpys(name).type):
        assert xp.zeros(2, dtype=spelling).dtype is dtype and dtype == spelling
    assert xp.isdtype(dtype, "real floating") and xp.isdtype(dtype, "numeric") and xp.isdtype(dtype, dtype)
    assert not xp.isdtype(dtype, "integral") and not xp.isdtype(dtype, xp.float32)
    assert name in xp.__all__


def test_spellings_of_float16() -> None:
    for spelling in ("f2", "e", "half", "<f2", np.half):
        assert xp.zeros(2, dtype=spelling).dtype is xp.float16
    for spelling in (">f2", np.dtype(">f2"), "float8"):
        with pytest.raises(xp.DTypeError):
            xp.zeros(2, dtype=spelling)


@pytest.mark.parametrize("name", NAMES)
def test_finfo(name: str) -> None:
    ours = xp.finfo(dtype_of(name))
    theirs = np.finfo(np.float16) if name == "float16" else pytest.importorskip("ml_dtypes").finfo("bfloat16")
    assert (ours.bits, ours.dtype) == (16, dtype_of(name))
    for fact in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(ours, fact)) is float and getattr(ours, fact) == float(getattr(theirs, fact))
    assert xp.finfo(xp.zeros(3, dtype=dtype_of(name))).eps == ours.eps
    with pytest.raises(xp.DTypeError):
        xp.iinfo(dtype_of(name))


def test_inspection() -> None:
    """They are not dtypes of the standard, so the inspection functions do not list them."""
    info = xp.__array_namespace_info__()
    for kind in (None, "real floating", "numeric"):
        assert not {*NAMES} & {*info.dtypes(kind=kind)}


@pytest.mark.parametrize("name", NAMES)
def test_strict_mode(name: str) -> None:
    x = xp.ones((2, 2), dtype=dtype_of(name))
    calls = (
        lambda: x + x,
        lambda: x + 1,
        lambda: xp.exp(x),
        lambda: xp.sum(x),
        lambda: x @ x,
        lambda: x[0, 0],
        lambda: xp.zeros(3, dtype=x.dtype),
        lambda: xp.astype(xp.zeros(3), x.dtype),
        lambda: xp.concat((xp.ones((2, 2)), x)),
        lambda: xp.result_type(x.dtype, xp.float32),
        lambda: xp.finfo(x.dtype),
        lambda: xp.asarray(np.asarray(x)),
        lambda: x.__iadd__(1),
        lambda: xp.linalg.vector_norm(x),
    )
    for call in calls:
        call()
        with xp.strict(), pytest.raises(xp.StrictError, match=f"the standard has no dtype {name}"):
            call()


# --- text and single values


def test_text() -> None:
    for name in NAMES:
        x = xp.asarray([[0.1, -2.5], [xp.nan, xp.inf]], dtype=dtype_of(name))
        assert repr(x) == f"Array([[0.1, -2.5],\n       [nan, inf]], dtype={name})".replace(
            "0.1, -2.5", " 0.1, -2.5" if name == "float16" else "0.1, -2.5"
        ).replace("[nan, inf]", "[ nan,  inf]" if name == "float16" else "[nan, inf]")
        assert str(xp.asarray(0.1, dtype=dtype_of(name))) == "0.1"
        assert f"{xp.asarray(2.5, dtype=dtype_of(name)):.3f}" == "2.500"
        assert "shape=(5000,)" in repr(xp.zeros(5000, dtype=dtype_of(name)))
    # The fewest digits that distinguish an element from its neighbours.
    bits = np.arange(0, 0x7F80, 7, dtype=np.uint16)
    for x in xp.asarray(bits).view(xp.bfloat16):
        assert float(xp.asarray(float(str(x)), dtype=xp.bfloat16)) == float(x)
    assert str(xp.asarray(3.39e38, dtype=xp.bfloat16)) == "3.39e+38"


@pytest.mark.parametrize("name", NAMES)
def test_single_values(name: str) -> None:
    x = xp.asarray(0.1, dtype=dtype_of(name))
    exact = {"float16": 0.0999755859375, "bfloat16": 0.10009765625}[name]
    assert float(x) == x.item() == complex(x) == exact and type(x.item()) is float
    assert int(xp.asarray(2.9, dtype=x.dtype)) == 2 and bool(x)
    assert xp.asarray([[1, 2.5]], dtype=x.dtype).tolist() == [[1.0, 2.5]]
    assert 0.5 in xp.asarray([0.5, 1], dtype=x.dtype)
    with pytest.raises(xp.DTypeError):
        [1, 2][x]
    assert round(xp.asarray(2.5, dtype=x.dtype)) == 2


@pytest.mark.parametrize("name", NAMES)
def test_pickles_and_copies(name: str) -> None:
    x = xp.reshape(xp.arange(12, dtype=dtype_of(name)), (3, 4))
    for array in (x, x.T, x[::2, ::-1], xp.broadcast_to(x[0], (5, 4)), x[0, 0], x[:0]):
        for protocol in range(2, 6):
            again = pickle.loads(pickle.dumps(array, protocol))
            assert again.dtype is x.dtype and again.shape == array.shape
            assert (bits_of(again) == bits_of(xp.asarray(array, copy=True))).all()
        assert (bits_of(copy.deepcopy(array)) == bits_of(xp.asarray(array, copy=True))).all()
    buffers: list[Any] = []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert strided.shares_storage(pickle.loads(data, buffers=buffers), x)
    assert bytes(x) == bits_of(x).tobytes()


# --- NumPy


@pytest.mark.parametrize("name", NAMES)
def test_to_numpy_and_back(name: str) -> None:
    x = xp.reshape(xp.arange(12, dtype=dtype_of(name)), (3, 4))
    for view in (x, x.T, x[::2, ::-1], x[0, 0, ...]):
        a = np.asarray(view)
        assert a.dtype == numpys(name) and a.shape == view.shape and a.flags.writeable
        assert (a.astype(np.float64) == np.asarray(xp.astype(view, xp.float64))).all()
        back = xp.asarray(a)
        assert back.dtype is x.dtype and strided.shares_storage(back, x)
        assert strided.strides(back) == strided.strides(view)
    np.asarray(x)[1, 1] = 50
    assert float(x[1, 1]) == 50
    assert not np.asarray(xp.broadcast_to(x[0], (3, 4))).flags.writeable
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(x, copy=True), np.asarray(x))
    a = np.asarray(x)
    assert not strided.shares_storage(xp.asarray(a, copy=True), x)
    assert xp.asarray(a, dtype=xp.float32).dtype is xp.float32
    assert xp.asarray(a.astype(np.float32), dtype=x.dtype).dtype is x.dtype
    # Memory that no kernel may load is copied.
    odd = np.zeros(9, np.uint8)[1:].view(numpys(name))
    odd[:] = [1, 2, 3, 4]
    assert xp.asarray(odd).tolist() == [1, 2, 3, 4]
    with pytest.raises(xp.ArgumentValueError, match="copy=False"):
        xp.asarray(odd, copy=False)
    if name == "float16":
        assert xp.asarray(np.array([1, 2.5], ">f2")).tolist() == [1, 2.5]


@pytest.mark.parametrize("name", NAMES)
def test_numpy_scalars_and_ufuncs(name: str) -> None:
    scalar = numpys(name).type(1.5)
    x = xp.asarray([1, 2], dtype=dtype_of(name))
    made = xp.asarray(scalar)
    assert (made.dtype, float(made), made.shape) == (x.dtype, 1.5, ())
    assert (x + scalar).dtype is x.dtype and (x * scalar).tolist() == [1.5, 3]
    assert (xp.ones(2, dtype=xp.float32) + scalar).dtype is xp.float32
    assert xp.full((2,), scalar).tolist() == [1.5, 1.5]
    x[0] = scalar
    assert x.tolist() == [1.5, 2]
    out = np.exp(x)
    assert type(out) is xp.Array and out.dtype is x.dtype
    assert type(np.add(x, x)) is xp.Array
    if name == "float16":
        assert (scalar * x).dtype is x.dtype and type(scalar * x) is xp.Array


def test_without_ml_dtypes() -> None:
    """bfloat16 works without ml_dtypes, but then NumPy has no dtype for it."""
    script = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np, pickle
import stride0 as xp
x = xp.asarray([0.1, 2], dtype=xp.bfloat16)
print(x, repr(x + x), pickle.loads(pickle.dumps(x)).tolist() == x.tolist())
print(np.asarray(x, dtype=np.float32))
for call in (lambda: np.asarray(x), lambda: np.dtype(xp.bfloat16)):
    try:
        call()
    except xp.DTypeError as error:
        print("ml_dtypes" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    want = "[0.1, 2.0] Array([0.2, 4.0], dtype=bfloat16) True\n[0.10009766 2.        ]\nTrue\nTrue\n"
    assert done.stdout == want


# --- buffers and DLPack


def test_buffers() -> None:
    x = xp.asarray([1.0, 2.5], dtype=xp.float16)
    assert (memoryview(x).format, memoryview(x).itemsize) == ("e", 2)
    assert struct.unpack("2e", memoryview(x).tobytes()) == (1.0, 2.5)
    assert xp.asarray(memoryview(x)).dtype is xp.float16
    y = xp.asarray([1.0, 2.5], dtype=xp.bfloat16)
    with pytest.raises(BufferError, match="no format for bfloat16"):
        memoryview(y)
    assert memoryview(y.view(xp.uint16)).tolist() == [0x3F80, 0x4020]


@pytest.mark.parametrize("name", NAMES)
def test_views_of_bits(name: str) -> None:
    x = xp.asarray([1.0, 2.5], dtype=dtype_of(name))
    assert x.view(xp.uint16).view(x.dtype).tolist() == [1.0, 2.5]
    assert x.view(xp.uint8).shape == (4,) and x.view(xp.float32).shape == (1,)
    other = dtype_of(NAMES[1 - NAMES.index(name)])
    assert x.view(other).dtype is other


@pytest.mark.parametrize("name", NAMES)
def test_dlpack(name: str) -> None:
    x = xp.reshape(xp.arange(12, dtype=dtype_of(name)), (3, 4))
    for view in (x, x.T, x[::2]):

        class Other:
            """An object that supports only DLPack."""

            def __init__(self, array: Any) -> None:
                self.array = array

            def __dlpack__(self, **keywords: Any) -> Any:
                return self.array.__dlpack__(**keywords)

            def __dlpack_device__(self) -> Any:
                return self.array.__dlpack_device__()

        back = xp.from_dlpack(Other(view))
        assert back.dtype is x.dtype and back.shape == view.shape and strided.shares_storage(back, x)
        assert (bits_of(back) == bits_of(view)).all()
        assert xp.asarray(Other(view)).dtype is x.dtype
    if name == "float16":
        assert np.from_dlpack(x).dtype == np.float16
        assert xp.from_dlpack(np.ones(3, np.float16)).dtype is xp.float16


@pytest.mark.parametrize("name", NAMES)
def test_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = xp.reshape(xp.arange(12, dtype=dtype_of(name)), (3, 4))
    tensor = torch.from_dlpack(x)
    assert tensor.dtype is getattr(torch, name) and tensor.tolist() == x.tolist()
    tensor[0, 0] = 7
    assert float(x[0, 0]) == 7
    assert xp.from_dlpack(tensor.T).dtype is xp.asarray(tensor).dtype is x.dtype
    rng = np.random.default_rng(3)
    a, b = (xp.asarray(rng.normal(0, 1, (20, 30)), dtype=x.dtype) for _ in range(2))
    s, t = torch.from_dlpack(a), torch.from_dlpack(b)
    for ours, theirs in (
        (a + b, s + t),
        (a * b, s * t),
        (a / b, s / t),
        (xp.sqrt(abs(a)), torch.sqrt(abs(s))),
    ):
        assert (bits_of(ours) == torch.Tensor.numpy(theirs.view(torch.int16)).view(np.uint16)).all()
    product = np.asarray(xp.astype(a @ b.T, xp.float64))
    # Both sum in more bits than the dtype has, so a sum may lie between two numbers of the dtype.
    np.testing.assert_allclose(product, (s @ t.T).double().numpy(), rtol=xp.finfo(x.dtype).eps, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_jax(name: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    a = jnp.asarray([1.0, 2.5], dtype=name)
    x = xp.asarray(a)
    assert x.dtype is dtype_of(name) and x.tolist() == [1.0, 2.5]
    assert jnp.from_dlpack(x + x).dtype == a.dtype


# --- explain, extras


@pytest.mark.parametrize("name", NAMES)
def test_explain(name: str) -> None:
    x = xp.ones((3, 1), dtype=dtype_of(name))
    assert name in str(xp.explain(x, xp.ones(4, dtype=x.dtype), op="add"))
    assert "bool" in str(xp.explain(x, x, op="less"))


@pytest.mark.parametrize("name", NAMES)
def test_beyond_the_standard(name: str) -> None:
    x = xp.asarray([[1.5, xp.nan], [3.0, 4.0]], dtype=dtype_of(name))
    assert xp.nansum(x).dtype is xp.nanmean(x).dtype is xp.nanmax(x).dtype is x.dtype
    assert float(xp.nansum(x)) == 8.5
    assert x.sum().dtype is x.round(1).dtype is x.mean(axis=0).dtype is x.dtype
    assert xp.pad(x, 1).dtype is xp.diff(x).dtype is x.dtype
    assert "<table" in x._repr_html_()


# --- gradients


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name: str) -> None:
    dtype = dtype_of(name)
    x = xp.asarray([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]], dtype=dtype)
    w = xp.asarray([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0]], dtype=dtype)
    functions = {
        "arithmetic": lambda v: xp.sum(v * v + 3 * v - v / 2),
        "matmul": lambda v: xp.sum(v @ w),
        "functions": lambda v: xp.sum(xp.exp(v) * xp.tanh(v)),
        "broadcast": lambda v: xp.sum(v * xp.asarray([1.0, 2.0, 3.0], dtype=dtype)),
        "key": lambda v: xp.sum(v[:, xp.asarray([0, 0, 2])] * 2),
        "mean": lambda v: xp.mean(v) + xp.max(v) + xp.var(v),
        "where": lambda v: xp.sum(xp.where(v > 0, v, 2 * v)),
        "concat": lambda v: xp.sum(xp.concat((v, v), axis=1)[:, 1:] ** 2),
        "float32 in between": lambda v: xp.sum(xp.astype(xp.astype(v, xp.float32) ** 2, dtype)),
        "norm": lambda v: xp.linalg.vector_norm(v),
        "cumulative_sum": lambda v: xp.sum(xp.cumulative_sum(v, axis=1) * v),
        "sort": lambda v: xp.sum(xp.sort(v, axis=1)[:, :2]),
    }
    for what, function in functions.items():
        got = grad(function)(x)
        assert got.dtype is dtype and got.shape == x.shape, what

        def other(v: Any, function: Any = function) -> Any:
            return function(v)

        exact = grad(lambda v: xp.astype(other(xp.astype(v, dtype)), xp.float64))(xp.astype(x, xp.float64))
        eps = xp.finfo(dtype).eps
        assert bool(xp.all(abs(xp.astype(got, xp.float64) - exact) <= 8 * eps * (1 + abs(exact)))), what
    # Against the same function in float64, whose gradient has negligible rounding errors.
    for what in ("arithmetic", "functions", "mean", "where", "concat", "norm", "cumulative_sum"):
        wanted = grad(functions[what])(xp.astype(x, xp.float64))
        got = xp.astype(grad(functions[what])(x), xp.float64)
        assert bool(xp.all(abs(got - wanted) <= 16 * xp.finfo(dtype).eps * (1 + abs(wanted)))), what


@pytest.mark.parametrize("name", NAMES)
def test_cotangents_have_the_dtype_of_their_arrays(name: str) -> None:
    x, y = xp.ones((3, 4), dtype=dtype_of(name)), xp.ones(4, dtype=xp.float32)
    out, back = vjp(lambda a, b: a * b, x, y)
    assert out.dtype is xp.float32
    left, right = back(xp.ones((3, 4), dtype=xp.float32))
    assert left.dtype is x.dtype and right.dtype is xp.float32
    value, slope = value_and_grad(lambda a: xp.sum(a * a))(x)
    assert value.dtype is slope.dtype is x.dtype
    # The sum of cotangents is rounded once; if rounded after each term, it would stop at 2048 or 256.
    many = grad(lambda a: xp.sum(xp.broadcast_to(a, (5000, 2))))(xp.ones(2, dtype=x.dtype))
    assert many.tolist() == xp.full(2, 5000.0, dtype=x.dtype).tolist()
    repeated = grad(lambda a: xp.sum(a[xp.zeros(5000, dtype=xp.int64)]))(xp.ones(2, dtype=x.dtype))
    assert repeated.tolist() == [float(xp.asarray(5000, dtype=x.dtype)), 0]


@pytest.mark.parametrize("name", NAMES)
def test_gradients_as_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    x, w = (xp.asarray(rng.normal(0, 1, shape), dtype=dtype_of(name)) for shape in ((5, 6), (6, 7)))
    left, right = grad(lambda a, b: xp.sum(xp.tanh(a @ b)), argnums=(0, 1))(x, w)
    s, t = (torch.from_dlpack(xp.asarray(v, copy=True)).requires_grad_() for v in (x, w))
    torch.sum(torch.tanh(s @ t)).backward()
    for ours, theirs in ((left, s.grad), (right, t.grad)):
        assert theirs.dtype is getattr(torch, name)
        limit = 8 * xp.finfo(x.dtype).eps
        np.testing.assert_allclose(
            np.asarray(xp.astype(ours, xp.float64)), theirs.double().numpy(), rtol=limit, atol=limit
        )

"""`stride0.testing.flags`: lazy arrays, views that are copies, results in another order."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, vmap
from stride0.testing import check_grad, flags

X, N, MASK = xp.asarray([3.0, 1.0, 2.0]), xp.asarray(2), xp.asarray([True, False, True])
SQUARE = xp.reshape(xp.arange(9.0), (3, 3))

# --- lazy arrays

VALUES: dict[str, Callable[[], Any]] = {
    "bool": lambda: bool(MASK[0]),
    "int": lambda: int(N),
    "float": lambda: float(X[0]),
    "complex": lambda: complex(X[0]),
    "index": lambda: operator.index(N),
    "if": lambda: 1 if xp.any(MASK) else 2,
    "item of a list": lambda: [1, 2, 3][N],
    "item": lambda: X[0].item(),
    "tolist": lambda: X.tolist(),
    "containment": lambda: 1.0 in X,
    "round": lambda: round(X[0]),
    "format": lambda: f"{X[0]:.1f}",
    "bytes": lambda: bytes(X),
    "bound of a slice": lambda: X[:N],
    "size": lambda: xp.zeros(N),
    "size in a shape": lambda: xp.zeros((N, 2)),
    "bound of a range": lambda: xp.arange(N),
    "axis": lambda: xp.sum(SQUARE, axis=N - 2),
    "shift": lambda: xp.roll(X, N),
    "NumPy's array": lambda: np.asarray(X),
    "buffer": lambda: memoryview(X),
    "DLPack": lambda: np.from_dlpack(X),
    "capsule": lambda: X.__dlpack__(),
    "Python's max": lambda: max(X),
}
SHAPES: dict[str, Callable[[], Any]] = {
    "mask": lambda: X[MASK],
    "nonzero": lambda: xp.nonzero(X),
    "unique_values": lambda: xp.unique_values(X),
    "unique_all": lambda: xp.unique_all(X),
    "repeat": lambda: xp.repeat(X, xp.asarray([1, 2, 1])),
}


@pytest.mark.parametrize("call", [*VALUES.values(), *SHAPES.values()], ids=[*VALUES, *SHAPES])
def test_values_of_lazy_arrays(call: Callable[[], Any]) -> None:
    call()
    with flags(lazy=True), pytest.raises(xp.LazyError) as caught:
        call()
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, xp.StrictError)
    assert error.sentence.startswith(("Lazy vs. eager execution", "Data-dependent output shapes"))
    assert "stride0.testing.flags(lazy=True) is on." in str(error)
    call()


def test_what_lazy_arrays_do() -> None:
    with flags(lazy=True, strict=True):
        assert (X[N].shape, X[1:].shape, len([row for row in X])) == ((), (2,), 3)
        y = xp.where(X > 1.0, X, 0.0)
        z = xp.asarray(y, copy=True)
        z[z > 2.0] = 0.0
        z += 1.0
        assert str(z) == "[1., 1., 3.]" and repr(z).startswith("Array(")
        assert xp.finfo(X).bits == 64 and xp.can_cast(X, xp.float64) and xp.from_dlpack(X).shape == (3,)
        assert xp.repeat(X, 2).shape == (6,) and xp.linalg.inv(xp.eye(2)).shape == (2, 2)
        assert str(grad(lambda x: xp.sum(x * x))(X)) == "[6., 2., 4.]"
        assert not xp.__array_namespace_info__().capabilities()["data-dependent shapes"]
        check_grad(lambda x: xp.exp(x) * 2.0, X)
        with pytest.raises(xp.LazyError):
            check_grad(lambda x: x * float(xp.max(N)), X)
        assert pickle.loads(pickle.dumps(X)).shape == (3,)
        with flags():
            assert float(X[0]) == 3.0
        with pytest.raises(xp.LazyError):
            float(X[0])
    assert float(z[0]) == 1.0


def test_helpers_see_that_arrays_are_lazy() -> None:
    compat = pytest.importorskip("array_api_compat", reason="this needs array-api-compat")
    assert not compat.is_lazy_array(X)
    with flags(lazy=True):
        assert compat.is_lazy_array(X)


# --- views that are copies

VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda m: m[1:, :],
    "row": lambda m: m[0, :],
    "element": lambda m: m[0, 0],
    "dots": lambda m: m[...],
    "None": lambda m: m[None, :, :],
    "T": lambda m: m.T,
    "mT": lambda m: m.mT,
    "reshape": lambda m: xp.reshape(m, (9,)),
    "permute_dims": lambda m: xp.permute_dims(m, (1, 0)),
    "moveaxis": lambda m: xp.moveaxis(m, 0, 1),
    "matrix_transpose": lambda m: xp.matrix_transpose(m),
    "expand_dims": lambda m: xp.expand_dims(m, axis=0),
    "squeeze": lambda m: xp.squeeze(m[None, ...], axis=0),
    "flip": lambda m: xp.flip(m),
    "unstack": lambda m: xp.unstack(m)[0],
    "broadcast_to": lambda m: xp.broadcast_to(m, (2, 3, 3)),
    "broadcast_arrays": lambda m: xp.broadcast_arrays(m, m)[0],
    "diagonal": lambda m: xp.linalg.diagonal(m),
    "real": lambda m: xp.real(m),
    "row of an iteration": lambda m: next(iter(m)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_copies(view: Callable[[Any], Any]) -> None:
    m = xp.asarray(SQUARE, copy=True)
    expected = view(m)
    assert xp.strided.shares_storage(expected, m)
    with flags(views=False):
        found = view(m)
        assert not xp.strided.shares_storage(found, m) and bool(xp.all(found == expected))
        found[...] = -1.0
    assert bool(xp.all(m == SQUARE))
    assert xp.strided.shares_storage(view(m), m)


def test_what_is_no_view() -> None:
    m = xp.asarray(SQUARE, copy=True)
    with flags(views=False):
        assert xp.asarray(m) is m and xp.asarray(m, copy=False) is m
        assert xp.astype(m, xp.float64, copy=False) is m
        assert xp.strided.shares_storage(xp.reshape(m, (9,), copy=False), m)
        before = m
        m += 1.0
        m[0, :] = 7.0
        m[1:, :] *= 2.0
        assert m is before and m.tolist() == [[7.0] * 3, [8.0, 10.0, 12.0], [14.0, 16.0, 18.0]]
    with flags(views=False, devices=("cpu", "other")):
        there = xp.ones((2, 2), device="other")
        assert there.T.device == there[0, :].device == there.device
    slope = grad(lambda x: xp.sum(x[1:] * x.T[1:, 0] if x.ndim == 2 else x[1:] * x[:-1]))
    with flags(views=False):
        found = slope(X)
    assert bool(xp.all(found == slope(X)))
    with flags(views=False):
        batched = vmap(lambda row: row[1:] * row[0])(SQUARE)
    assert bool(xp.all(batched == SQUARE[:, 1:] * SQUARE[:, :1]))


# --- results in another order


@pytest.mark.parametrize("size", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_unique_elements(size: int, dtype: str) -> None:
    x = xp.astype(xp.asarray([5, 0, 2, 5, 1, 0][:size]), getattr(xp, dtype))
    sorted_values = xp.unique_values(x)
    with flags(shuffled=True):
        values, indices, inverse, counts = xp.unique_all(x)
        assert bool(xp.all(values[inverse] == x)) and bool(xp.all(x[indices] == values))
        assert bool(xp.all(values == xp.unique_values(x)))
        assert bool(xp.all(counts == xp.unique_counts(x).counts))
        assert int(xp.sum(counts)) == size and inverse.dtype is xp.int64
        pairs = xp.unique_inverse(xp.reshape(x, (size, 1)))
        assert pairs.inverse_indices.shape == (size, 1)
        again = xp.unique_all(x)
        assert bool(xp.all(again.values == values))
    assert sorted(values.tolist()) == sorted_values.tolist()
    if values.shape[0] > 1:
        assert values.tolist()[0] != sorted_values.tolist()[0]
        assert values.tolist()[-1] != sorted_values.tolist()[-1]


def test_equal_elements() -> None:
    x = xp.asarray([[2, 1, 1, 2], [0, 0, 0, 0]])
    with flags(shuffled=True):
        for axis in (0, 1, -1):
            for descending in (False, True):
                order = xp.argsort(x, axis=axis, descending=descending, stable=False)
                found = xp.take_along_axis(x, order, axis=axis)
                assert bool(xp.all(found == xp.sort(x, axis=axis, descending=descending)))
        assert xp.argsort(x, stable=False).tolist() == [[2, 1, 3, 0], [3, 2, 1, 0]]
        assert xp.argsort(x).tolist() == [[1, 2, 0, 3], [0, 1, 2, 3]]
    assert xp.argsort(x, stable=False).tolist() == [[1, 2, 0, 3], [0, 1, 2, 3]]


def test_eigenvalues() -> None:
    m = xp.asarray([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    expected = xp.linalg.eigvalsh(m)
    with flags(shuffled=True):
        values, vectors = xp.linalg.eigh(m)
        assert bool(xp.all(xp.abs(m @ vectors - vectors * values) < 1e-12))
        assert bool(xp.all(xp.abs(xp.sort(values) - expected) < 1e-12))
        assert bool(xp.abs(values[0] - expected[0]) > 0.5)
        assert xp.linalg.eigvalsh(xp.stack([m, m])).shape == (2, 3)
        values, vectors = xp.linalg.eig(m)
        mixed = xp.astype(m, xp.complex128) @ vectors
        assert bool(xp.all(xp.abs(mixed - vectors * values) < 1e-12))
        assert bool(xp.all(xp.abs(xp.sort(xp.real(xp.linalg.eigvals(m))) - expected) < 1e-12))


def test_together() -> None:
    """Flags can be combined, and a block restores everything."""
    setting: dict[str, Any] = {
        "lazy": True, "views": False, "shuffled": True, "writable": False, "strict": True,
        "devices": {"small": {"float64": False, "int64": False}, "cpu": {}},
    }  # fmt: skip
    with flags(**setting):
        x = xp.asarray([1.0, 2.0, 3.0])
        assert (x.dtype, x.device.__repr__(), x[1:].shape) == (xp.float32, "Device('small')", (2,))
        for call, error in (
            (lambda: float(x[0]), xp.LazyError),
            (lambda: x.__iadd__(1.0), xp.WriteError),
            (lambda: xp.unique_values(x), xp.LazyError),
            (lambda: x + X, xp.DeviceError),
            (lambda: x[0:4], xp.StrictError),
            (lambda: xp.astype(x, xp.float64), xp.DTypeError),
        ):
            with pytest.raises(error):
                call()
        assert xp.argsort(x, stable=False).dtype is xp.int32
    assert float(X[0]) == 3.0 and xp.strided.shares_storage(X[1:], X)
    assert xp.unique_values(X).tolist() == [1.0, 2.0, 3.0] and not xp.strict.current()


def test_functions_that_write() -> None:
    """`put_along_axis`, and `nan_to_num` with copy=False."""
    x = xp.asarray([1.0, xp.nan])
    with flags(writable=False):
        with pytest.raises(xp.WriteError):
            xp.put_along_axis(x, xp.asarray([0]), 5.0, 0)
        for call in (lambda: xp.nan_to_num(x, False), lambda: xp.nan_to_num(x, copy=False)):
            with pytest.raises(xp.WriteError):
                call()
        assert xp.nan_to_num(x).tolist() == [1.0, 0.0]
    assert x[0] == 1.0 and xp.isnan(x[1])


def test_indices_have_the_dtype_of_indices() -> None:
    x = xp.asarray([3.0, 1.0, 2.0])
    with flags(default_int="int32"):
        wanted = xp.argsort(x).dtype
        assert xp.top_k(x, 1).indices.dtype == xp.argpartition(x, 1).dtype == wanted


@pytest.mark.parametrize("settings", [{"lazy": True}, {"strict": True}], ids=str)
def test_what_tests_compare_is_read(settings: dict[str, Any]) -> None:
    """NumPy reports an error as a difference."""
    with flags(**settings):
        assert np.array_equal(xp.ones(3), xp.ones(3)) and not np.array_equal(xp.ones(3), xp.zeros(3))
        assert np.array_equiv(xp.ones(3), xp.ones(3))
        np.testing.assert_array_equal(xp.ones(3), xp.ones(3))


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_lazy_arrays_are_printed(dtype: str) -> None:
    x = xp.asarray([1.5, 2.0], dtype=getattr(xp, dtype))
    shown = repr(x), str(x), f"{x}", x._repr_html_()
    with flags(lazy=True):
        assert (repr(x), str(x), f"{x}", x._repr_html_()) == shown

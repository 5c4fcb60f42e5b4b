"""Uses of stride0 for type checkers, which tests/project/test_typing.py runs over this file.

`assert_type` says what a checker must infer, and a comment `type: ignore[code]` what it must refuse: an
ignore that is not needed is an error, too. The file is also a program, so the statements are known to run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar, assert_type

import numpy as np

import stride0 as xp
from stride0 import Array, Device, DType, autograd, testing

# Creation ------------------------------------------------------------------------------------------------

x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
assert_type(x, Array)
assert_type(xp.asarray(x, dtype=xp.float32, device="cpu", copy=True), Array)
assert_type(xp.zeros((2, 3)), Array)
assert_type(xp.ones(3, dtype=xp.int64), Array)
assert_type(xp.full((2,), 1j), Array)
assert_type(xp.arange(0, 10, 2), Array)
assert_type(xp.linspace(0.0, 1.0, 5), Array)
assert_type(xp.eye(3, k=1), Array)
assert_type(xp.empty_like(x), Array)
assert_type(xp.meshgrid(xp.arange(3), xp.arange(2), indexing="ij"), tuple[Array, ...])
assert_type(xp.from_dlpack(x), Array)

# Attributes ----------------------------------------------------------------------------------------------

assert_type(x.dtype, DType)
assert_type(x.device, Device)
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.size, int)
assert_type(x.T, Array)
assert_type(x.mT, Array)
assert_type(x.__array_namespace__(), ModuleType)
assert_type(x.to_device(x.device), Array)
assert_type(x.__dlpack_device__()[1], int)

# Operators -----------------------------------------------------------------------------------------------

assert_type(x + 1, Array)
assert_type(2.0 * x, Array)
assert_type(1 - x / x, Array)
assert_type(x**2 // 3 % 2, Array)
assert_type(x @ x, Array)
assert_type(-x, Array)
assert_type(abs(+x), Array)
assert_type((x > 0) & ~(x == 1.0) | (x != 2), Array)
assert_type(x < x, Array)
assert_type((x == [1.0, 2.0]) | (x != None) | (x == (1, 2)), Array)  # noqa: E711
n = xp.asarray([1, 2, 3])
assert_type(n << 1 >> n ^ 1, Array)
n += 1
n[0] = 5
n[1:] = xp.asarray([7, 8])
assert_type(n, Array)
assert_type(divmod(x, 2.0), tuple[Array, Array])
assert_type(divmod(7, n), tuple[Array, Array])

# NumPy's scalars can be operands, and its arrays can be assigned.
assert_type(x + np.int64(1), Array)
assert_type(x * np.float32(2), Array)
assert_type(xp.where(x > 0, x, np.float64(1)), Array)
assert_type((x > 1) & np.bool(True), Array)
x[:, 0] = np.ones(2)
x[...] = [[1.0, 2.0], [3.0, 4.0]]
x[0, :] = (1, 2)
n[:] = range(1, 4)
n[0] = np.int64(5)

# Indexing, conversion, iteration -------------------------------------------------------------------------

assert_type(x[0, 1], Array)
assert_type(x[..., None, ::2], Array)
assert_type(x[x > 1], Array)
assert_type(xp.take(x, xp.asarray([0]), axis=0), Array)
assert_type(float(x[0, 0]), float)
assert_type(int(n[0]), int)
assert_type(bool(xp.any(x > 3)), bool)
assert_type(complex(x[0, 0]), complex)
assert_type([float(xp.sum(row)) for row in x], list[float])
assert_type(len(x), int)

# Functions -----------------------------------------------------------------------------------------------

assert_type(xp.sin(x), Array)
assert_type(xp.hypot(x, x), Array)
assert_type(xp.where(x > 1, x, 0.0), Array)
assert_type(xp.clip(x, 0, max=x), Array)
assert_type(xp.sum(x), Array)
assert_type(xp.mean(x, axis=(0, 1), keepdims=True), Array)
assert_type(xp.var(x, correction=1), Array)
assert_type(xp.max(x, axis=-1), Array)
assert_type(xp.argmax(x), Array)
assert_type(xp.cumulative_sum(n, include_initial=True), Array)
assert_type(xp.nonzero(n), tuple[Array, ...])
assert_type(xp.sort(n, descending=True), Array)
assert_type(xp.searchsorted(n, n, side="right"), Array)
assert_type(xp.unique_counts(n).counts, Array)
assert_type(xp.unique_all(n).inverse_indices, Array)
assert_type(xp.concat([x, x], axis=0), Array)
assert_type(xp.stack((x, x)), Array)
assert_type(xp.unstack(x), tuple[Array, ...])
assert_type(xp.reshape(x, (4,)), Array)
assert_type(xp.permute_dims(x, (1, 0)), Array)
assert_type(xp.broadcast_arrays(x, n[:2]), tuple[Array, ...])
assert_type(xp.broadcast_shapes((2, 1), (3,)), tuple[int, ...])
assert_type(xp.tensordot(x, x, axes=1), Array)
assert_type(xp.astype(x, xp.float32), Array)
assert_type(xp.isdtype(x.dtype, ("real floating", "bool")), bool)
assert_type(xp.can_cast(x, xp.complex128), bool)
assert_type(xp.result_type(x, n, 1.0), DType)
assert_type(xp.finfo(xp.float32).eps, float)
assert_type(xp.iinfo(xp.int8).max, int)
assert_type(xp.pi, float)
assert_type(xp.newaxis, None)

# Dtypes as users of NumPy write them; Python scalars alone -----------------------------------------------

for dtype_name in ("float32", "i8", "<f8"):
    assert_type(xp.zeros(3, dtype=dtype_name), Array)
assert_type(xp.asarray([1, 2], dtype="float32"), Array)
assert_type(xp.arange(3, dtype=float), Array)
assert_type(xp.full_like(x, 1, dtype=bool), Array)
assert_type(xp.linspace(0.0, 1.0, 3, dtype=np.float32), Array)
assert_type(xp.astype(x, np.dtype("f4")), Array)
assert_type(xp.sum(x, dtype="float32"), Array)
assert_type(xp.linalg.trace(x, dtype=complex), Array)
assert_type(xp.fft.fftfreq(4, dtype="f4"), Array)
assert_type(x.sum(0, dtype="float32").astype(int), Array)
assert_type(xp.can_cast("int8", np.int16), bool)
assert_type(xp.isdtype("f4", "real floating"), bool)
assert_type(xp.finfo("float32").eps, float)
assert_type(xp.result_type("int8", x), DType)
assert_type(xp.sqrt(2.0), Array)
assert_type(xp.add(1, 2.0), Array)
assert_type(xp.clip(5, 0, 3), Array)
assert_type(round(x[0, 0], 2), Array)
assert_type(round(x[0, 0]), int)

# Extensions ----------------------------------------------------------------------------------------------

assert_type(xp.linalg.inv(x), Array)
assert_type(xp.linalg.qr(x).R, Array)
assert_type(xp.linalg.svd(x, full_matrices=False).S, Array)
assert_type(xp.linalg.eigh(x).eigenvalues, Array)
assert_type(xp.linalg.slogdet(x).sign, Array)
assert_type(xp.linalg.vector_norm(x, ord=2), Array)
assert_type(xp.fft.rfft(x, norm="ortho"), Array)
assert_type(xp.fft.fftfreq(4), Array)

# Errors --------------------------------------------------------------------------------------------------


def message(call: Callable[[], object]) -> str:
    try:
        call()
    except xp.BroadcastError as error:
        shape_error: ValueError = error
        assert_type(error.args, tuple[Any, ...])
        return str(shape_error)
    return ""


assert_type(message(lambda: x + xp.ones(3)), str)


# Settings: decorated functions keep their types
# ----------------------------------------------------------------


@xp.strict()
def scaled(values: Array, factor: float = 2.0) -> Array:
    return values * factor


@testing.flags(default_float="float32")
def name_of(number: int) -> str:
    return f"{xp.ones(1).dtype.name} {number}"


@xp.broadcasting("explicit")
async def later(values: Array) -> Array:
    return values


class Model:
    @xp.strict()
    def fitted(self, values: Array) -> int:
        return values.ndim


assert_type(scaled(x, factor=3.0), Array)
assert_type(name_of(3), str)
assert_type(asyncio.run(later(x)), Array)
assert_type(Model().fitted(x), int)


# Gradients -----------------------------------------------------------------------------------------------


def loss(w: Array) -> Array:
    return xp.sum(xp.square(w) * x)


gradient = autograd.grad(loss)(x)
value, both = autograd.value_and_grad(loss)(x)


# Array-agnostic code -------------------------------------------------------------------------------------


class Arithmetic(Protocol):
    """The protocol of a library that takes arrays of any kind."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...


Numbers = TypeVar("Numbers", bound=Arithmetic)


def standardized(values: Numbers) -> Numbers:
    ns = values.__array_namespace__()
    result: Numbers = (values + -ns.mean(values)) * (1 / ns.std(values))
    return result


assert_type(standardized(x), Array)

# Copied from array-api-typing, whose only release is a placeholder.
NamespaceT = TypeVar("NamespaceT", covariant=True)
DTypeT = TypeVar("DTypeT", covariant=True)


class HasArrayNamespace(Protocol[NamespaceT]):
    def __array_namespace__(self, /, *, api_version: Literal["2021.12"] | None = None) -> NamespaceT: ...


class HasDType(Protocol[DTypeT]):
    @property
    def dtype(self, /) -> DTypeT: ...


class TypedArray(HasArrayNamespace[NamespaceT], HasDType[DTypeT], Protocol[DTypeT, NamespaceT]): ...


typed: TypedArray[DType, ModuleType] = x
functions: list[Callable[[Array], Array]] = [xp.sin, xp.sqrt, xp.linalg.inv, xp.matrix_transpose]

# What a checker must refuse ------------------------------------------------------------------------------
# Never called: each of these would raise, as the checker reports.


def refused() -> None:
    x + "text"  # type: ignore[operator]
    x.shape = (4,)  # type: ignore[misc]
    xp.zeros((2, 3), dtype="no such dtype at all", device=3)  # type: ignore[arg-type]
    x + np.ones(3)  # type: ignore[operator]
    x[0] = "text"  # type: ignore[assignment]
    scaled("text")  # type: ignore[arg-type]
    name_of(1) + 1  # type: ignore[operator]
    xp.sum(x, axis="rows")  # type: ignore[arg-type]
    xp.sort(x, stable=None)  # type: ignore[arg-type]
    xp.searchsorted(n, n, side="middle")  # type: ignore[arg-type]
    xp.meshgrid(n, indexing="ji")  # type: ignore[arg-type]
    xp.sin([1.0, 2.0])  # type: ignore[arg-type]
    xp.sqrt("2.0")  # type: ignore[arg-type]
    xp.zeros(3, dtype=32)  # type: ignore[arg-type]
    xp.zeros(3, dtype=str)  # type: ignore[arg-type]
    xp.reshape(x, shape="4")  # type: ignore[arg-type]
    xp.no_such_function(x)  # type: ignore[attr-defined]
    Array(3)  # type: ignore[call-arg]


if __name__ == "__main__":
    print(gradient, value, both, functions, message(lambda: x + xp.ones(3)))

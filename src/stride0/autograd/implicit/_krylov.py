"""Linear systems given by products: conjugate gradients and GMRES, with derivatives of any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.errors import GradientError
from stride0._chapters.creation import zeros
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._custom import custom_vjp
from stride0.autograd._transforms import stop_gradient, vjp
from stride0.autograd.implicit._calls import chosen, for_each, on_flat, scipy_module

__all__ = ["by_krylov"]


def by_krylov(
    operation: str,
    product: Callable[..., Any],
    b: Array,
    params: tuple[Any, ...],
    method: str,
    options: dict[str, Any],
) -> Any:
    """Return x with ``product(x, *params) == b``, differentiable by `b` and the parameters."""

    def transposed(y: Array, *params: Any) -> Any:
        return vjp(lambda x: product(x, *params), zeros(y.shape, dtype=y.dtype))[1](y)[0]

    def plain(b: Array, *params: Any) -> Array:
        return _krylov(operation, product, b, params, method, options)

    @custom_vjp
    def found(b: Array, *params: Any) -> Any:
        return for_each(plain, *stop_gradient([b, *params]))

    def forward(b: Array, *params: Any) -> tuple[Any, Any]:
        x = found(b, *params)
        return x, (x, params)

    def backward(kept: Any, g: Array) -> tuple[Any, ...]:
        x, given = kept
        # Conjugate gradients need a symmetric matrix.
        matrix = product if method == "cg" else transposed
        weights = by_krylov(operation, matrix, g, tuple(given), method, options)
        cotangents: list[Any] = [None] * len(given)
        at, image = chosen(lambda *given: product(x, *given), given)
        if at:
            for k, cotangent in zip(at, vjp(image, *[given[k] for k in at])[1](-weights), strict=True):
                cotangents[k] = cotangent
        return (weights, *cotangents)

    found.operation = operation
    found.defvjp(forward, backward)
    return found(b, *params)


def _krylov(
    operation: str,
    product: Callable[..., Any],
    b: Array,
    params: tuple[Any, ...],
    method: str,
    options: dict[str, Any],
) -> Array:
    np = numpy()
    if b.size == 0 or not to_numpy(b).any():
        return zeros(b.shape, dtype=b.dtype)
    linalg = scipy_module(operation, "sparse.linalg")
    flat = on_flat(operation, product, b, params)
    operator = linalg.LinearOperator(
        (b.size, b.size), matvec=lambda v: np.reshape(flat(v), -1), dtype=np.float64
    )
    given = {"rtol": 1e-13, "atol": 0.0, **options}
    right = np.asarray(to_numpy(b), dtype=np.float64).reshape(-1)
    solver = getattr(linalg, method)
    if method == "gmres":
        given = {"restart": min(b.size, 100), "maxiter": 100, **given}
    x, info = solver(operator, right, **given)
    left = np.abs(np.reshape(flat(x), -1) - right).max()
    # The solver cannot reach a tolerance below the rounding errors.
    if info != 0 and left > max(given["rtol"], 1e-9) * np.abs(right).max():
        raise GradientError(
            operation,
            f"{method} did not converge",
            [("largest residual", f"{left:.3g}")],
            "pass method='gmres', a preconditioner M, or a larger maxiter",
        )
    return asarray(x.reshape(b.shape), dtype=b.dtype, copy=True)

"""The Taylor series of linear algebra: equations between matrices are solved order by order."""

from __future__ import annotations

from typing import Any

from stride0 import linalg
from stride0._chapters.creation import eye, tril, triu
from stride0._chapters.linear_algebra import matmul, matrix_transpose
from stride0.autograd._jets.arrays import Call, Found, Rule, along_axes
from stride0.autograd._jets.series import Series, total, whole_power
from stride0.autograd._rules.elementwise import is_complex
from stride0.autograd._rules.linalg import adjoint

__all__ = ["RULES"]

# Coefficients of larger characteristic polynomials have few correct digits.
LARGEST_DETERMINANT = 8


def _products_of(x: Series, y: Series, k: int, numbers: range) -> Any:
    """Return the sum of ``x[j] @ y[k - j]``."""
    pairs = ((x[j], y[k - j]) for j in numbers)
    return total(matmul(a, b) for a, b in pairs if a is not None and b is not None)


def _matmul(x: Series, y: Series) -> Series:
    return Series(matmul(x[0], y[0]), lambda k: _products_of(x, y, k, range(k + 1)))


def _solve(call: Call, outs: list[Any]) -> Found:
    given = call.bound().arguments
    a, b = call.of(given.pop("x1")), call.of(given.pop("x2"))
    solver = linalg.solve_triangular if given else linalg.solve
    if given:
        # Elements on the other side, and a diagonal of ones, are not read.
        shift = -1 if given["unit_diagonal"] else 0
        a = a.mapped(lambda c: triu(c, k=-shift) if given["upper"] else tril(c, k=shift), a[0])
    is_vector = b[0].ndim == 1
    if is_vector:
        b = b.mapped(lambda c: c[:, None])
    x = Series(outs[0][..., None] if is_vector else outs[0])

    def rule(k: int) -> Any:
        used = _products_of(a, x, k, range(1, k + 1))
        right = total([b[k], None if used is None else -used])
        return None if right is None else solver(a[0], right, **given)

    x.rule = rule
    return [x.mapped(lambda c: c[..., 0], outs[0]) if is_vector else x]


def _inverse(x: Series, y: Any) -> Series:
    out = Series(y)

    def rule(k: int) -> Any:
        used = _products_of(x, out, k, range(1, k + 1))
        return None if used is None else -matmul(y, used)

    out.rule = rule
    return out


def _logarithm_of_determinant(call: Call, outs: list[Any]) -> Found:
    x, _ = call.one()
    if is_complex(x[0]):
        return None
    inverted = _inverse(x, linalg.inv(x[0])).mapped(matrix_transpose)
    return [Series(outs[0]), along_axes(outs[1], x, lambda y: inverted, (-2, -1))]


def _determinant(call: Call, outs: list[Any]) -> Found:
    """Faddeev and Leverrier's algorithm: without divisions, so that singular matrices need no care."""
    x, _ = call.one()
    n = x[0].shape[-1]
    if not 1 <= n <= LARGEST_DETERMINANT:
        return None
    one, product = eye(n, dtype=x[0].dtype), x
    for k in range(1, n + 1):
        trace = product.mapped(linalg.trace) * (-1 / k)
        if k < n:
            product = _matmul(x, product + trace.mapped(lambda c: c[..., None, None] * one))
    return [(trace * (-1) ** n).starting(outs[0])]


def _cholesky(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    lower = adjoint(outs[0]) if given["upper"] else outs[0]
    factor, back = Series(lower), linalg.inv(lower)
    half = eye(lower.shape[-1], dtype=back.dtype) * 0.5

    def rule(k: int) -> Any:
        used = _products_of(factor, factor.mapped(adjoint), k, range(1, k))
        # Only the lower triangle is read.
        own = None if x[k] is None else tril(x[k]) + adjoint(tril(x[k], k=-1))
        right = total([own, None if used is None else -used])
        if right is None:
            return None
        middle = matmul(matmul(back, right), adjoint(back))
        return matmul(lower, tril(middle) - middle * half)

    factor.rule = rule
    return [factor.mapped(adjoint, outs[0]) if given["upper"] else factor]


def _matrix_power(call: Call, outs: list[Any]) -> Found:
    x, given = call.one()
    n = given["n"]
    if n == 0:
        return [Series(outs[0])]
    found = whole_power(x if n > 0 else _inverse(x, linalg.inv(x[0])), int(max(n, -n)), _matmul)
    return [found.starting(outs[0])]


RULES: dict[str, Rule] = {
    **dict.fromkeys(("linalg.solve", "linalg.solve_triangular"), _solve),
    "linalg.inv": lambda call, outs: [_inverse(call.one()[0], outs[0])],
    "linalg.det": _determinant,
    "linalg.slogdet": _logarithm_of_determinant,
    "linalg.cholesky": _cholesky,
    "linalg.matrix_power": _matrix_power,
}

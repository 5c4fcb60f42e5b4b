"""Matrices of derivatives: `jacobian` and `hessian`, by batched backward passes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError
from stride0._chapters.creation import eye, zeros
from stride0._chapters.manipulation import concat, reshape, stack
from stride0._core.array.array import Array, is_writable
from stride0._core.call.checks import check_function
from stride0._core.elementwise.elementwise import whole
from stride0._core.elementwise.functions import conj
from stride0._core.exchange.exchange import asarray
from stride0.autograd._parts import FLOATING, Argnums, detached_results, numbers_of
from stride0.autograd._tape.tape import Level, is_tracked
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import grad, linearized

__all__ = ["hessian", "jacobian"]


def jacobian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that returns the Jacobian of a function.

    Parameters
    ----------
    f : callable
        Returns an array of a floating-point dtype, or a nested structure of such arrays.
    argnums : int or sequence of int
        The arguments to differentiate by, as `value_and_grad` takes them.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array of shape ``(*y.shape, *x.shape)``: element ``[i, j]`` is
        the derivative of ``y[i]`` with respect to ``x[j]``. A tuple of such where `argnums` is a sequence. Of
        nested structures it is the structure of the result, with that of the arguments in the place of each
        array. With `has_aux`, a pair of that and the second item that `f` returned.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or a result, is not of a floating-point dtype.

    Notes
    -----
    All rows are computed by one batched backward pass, as by `vmap` (two where the result is complex and an
    argument real); very many by several. Where a function on the way has no batching rule, it is one pass
    for each element of the result. For a complex argument `f` should be holomorphic, or its result real: then
    the derivative is the gradient in the sense of `grad`.

    Examples
    --------
    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> xp.autograd.jacobian(lambda x: x[1:] * x[:-1])(x)
    Array([[2., 1., 0.],
           [0., 3., 2.]], dtype=float64)
    >>> xp.autograd.jacobian(xp.linalg.inv)(xp.eye(2)).shape
    (2, 2, 2, 2)
    """
    check_function("jacobian", f)
    alone = not isinstance(argnums, (tuple, list))

    @functools.wraps(f)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        numbers = numbers_of("jacobian", argnums, len(args))

        def chosen(*xs: Any) -> Any:
            given = list(args)
            for n, x in zip(numbers, xs, strict=True):
                given[n] = x
            return f(*given, **kwargs)

        ys, structure, aux, pull, size = linearized("jacobian", chosen, [args[n] for n in numbers], has_aux)
        points, arguments = flatten([args[n] for n in numbers], 2)
        points = [asarray(x) for x in points]
        step = max(1, CHUNK // max(size(), *(y.size for y in ys), 1))
        rows = [_rows(ys, k, points, lambda seeds: flatten(pull(seeds))[0], step) for k in range(len(ys))]
        found = [arguments.rebuild(row, False) for row in rows]
        whole = structure.rebuild([row[0] if alone else tuple(row) for row in found], False)
        return (whole, detached_results(aux)) if has_aux else whole

    return matrix


# Elements that the largest array of a batched pass may have: more rows are computed in several passes.
CHUNK = 1 << 22


def _rows(
    ys: list[Array], k: int, points: list[Array], pull: Callable[[list[Array | None]], list[Array]], step: int
) -> list[Array]:
    """Return the derivatives of result `k` with respect to each of the points, `step` rows at a time."""
    y = ys[k]
    if y.dtype.kind not in FLOATING:
        raise ArgumentTypeError("jacobian", f"a result of dtype {y.dtype.name} has no derivative")
    is_complex = y.dtype.kind == "complex floating"
    is_mixed = is_complex and any(x.dtype.kind != "complex floating" for x in points)
    parts: list[list[Array]] = [[] for _ in points]
    for start in range(0, y.size, step):
        count = min(step, y.size - start)
        units = reshape(eye(count, y.size, k=start, dtype=y.dtype), (count, *y.shape))
        found = _pulled(ys, k, units, pull)
        imaginary = _pulled(ys, k, units * 1j, pull) if is_mixed else found
        for j, x in enumerate(points):
            rows = found[j]
            if is_complex:
                rows = conj(rows) if x.dtype.kind == "complex floating" else rows + 1j * imaginary[j]
            parts[j].append(rows)
    return [
        reshape(rows[0] if len(rows) == 1 else concat(rows), (*y.shape, *x.shape))
        if rows
        else zeros((*y.shape, *x.shape), dtype=x.dtype)
        for rows, x in zip(parts, points, strict=True)
    ]


def _pulled(
    ys: list[Array], k: int, cotangents: Array, pull: Callable[[list[Array | None]], list[Array]]
) -> list[Array]:
    """Return the cotangents of all points for each of several cotangents of result `k`: one batched pass.

    Where a function has no batching rule, one pass for each.
    """
    seeds: list[Array | None] = [None] * len(ys)
    level = Level(cotangents.shape[0])
    try:
        seeds[k] = level.wrap(cotangents)
        return [_unshared(level.spread(x)) for x in pull(seeds)]
    except Exception:
        # The function may have a backward pass of the caller's that asks for values, or one without batching
        # rules. Any other error is raised again below.
        pass
    finally:
        level.close()
    rows = []
    for i in range(cotangents.shape[0]):
        seeds[k] = cotangents[i]
        rows.append(pull(seeds))
    return [stack(parts) for parts in zip(*rows, strict=True)]


def _unshared(x: Array) -> Array:
    """Return an array that the caller may write to: a copy of one that repeats its elements."""
    return x if is_tracked(x) or is_writable(whole(x)) else asarray(x, copy=True)


def hessian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that returns the Hessian of a function.

    Parameters
    ----------
    f : callable
        Returns one real floating-point array without axes.
    argnums : int or sequence of int
        The arguments to differentiate by, as `value_and_grad` takes them.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array of shape ``(*x.shape, *x.shape)``. Where `argnums` is a
        sequence, a tuple of tuples: item ``[i][j]``, of shape ``(*x_i.shape, *x_j.shape)``, has the second
        derivatives by the arguments i and j. With `has_aux`, a pair of that and the second item that `f`
        returned.

    Examples
    --------
    >>> xp.autograd.hessian(lambda x: x[0] * x[1] ** 2)(xp.asarray([1.0, 2.0]))
    Array([[0., 4.],
           [4., 2.]], dtype=float64)
    """
    check_function("hessian", f)
    return jacobian(grad(f, argnums, has_aux), argnums, has_aux)

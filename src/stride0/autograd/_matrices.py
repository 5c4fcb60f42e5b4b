"""Matrices of derivatives: `jacobian`, `hessian` and the diagonal of a Hessian, by batched passes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._chapters.creation import eye, zeros
from stride0._chapters.linear_algebra import matrix_transpose
from stride0._chapters.manipulation import concat, reshape, stack
from stride0._core.array.array import Array, is_writable
from stride0._core.call.checks import check_function
from stride0._core.elementwise.elementwise import whole
from stride0._core.elementwise.functions import conj
from stride0._core.exchange.exchange import asarray
from stride0._core.memory.dtype import DType
from stride0.autograd._parts import FLOATING, Argnums, detached_results, numbers_of
from stride0.autograd._tape.tape import Level, current_recorder, is_tracked
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import Linearized, grad
from stride0.linalg import diagonal as diagonal_of

__all__ = ["CHUNK", "batched", "hessian", "hessian_diag", "jacobian", "value_and_jacobian"]

MODES = ("auto", "forward", "reverse")


def jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, mode: str = "auto"
) -> Callable[..., Any]:
    """Make a function that returns the Jacobian of a function.

    Parameters
    ----------
    f : callable
        Returns an array of a floating-point dtype, or a nested structure of such arrays.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.
    mode : {"auto", "forward", "reverse"}
        "reverse" computes rows by backward passes, "forward" computes columns by forward passes. "auto" is
        "forward" if the real arguments have fewer elements than the results, otherwise "reverse".

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array of shape ``(*y.shape, *x.shape)``: element ``[i, j]`` is
        the derivative of ``y[i]`` with respect to ``x[j]``. A tuple of these if `argnums` is a sequence. For
        nested structures it has the structure of the result, with the structure of the arguments instead of
        each array. With `has_aux`, a pair of the Jacobian and the second item.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or a result, is not of a floating-point dtype.
    ArgumentValueError
        If `mode` is unknown.

    Notes
    -----
    All rows, or columns, are computed by one batched pass, as by `vmap` (by two passes if results and
    arguments are real and complex), or by several passes if there are very many. If a function has no
    batching rule, each row or column takes a pass. For a complex argument `f` should be holomorphic, or its
    result real: then the derivative is the gradient as defined for `grad`.

    Examples
    --------
    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> xp.autograd.jacobian(lambda x: x[1:] * x[:-1])(x)
    Array([[2., 1., 0.],
           [0., 3., 2.]], dtype=float64)
    >>> xp.autograd.jacobian(xp.linalg.inv)(xp.eye(2)).shape
    (2, 2, 2, 2)
    """
    return _matrix("jacobian", f, argnums, has_aux, mode, False)


def value_and_jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, mode: str = "auto"
) -> Callable[..., Any]:
    """
    Make a function that returns the value of a function and its Jacobian.

    Parameters
    ----------
    f, argnums, has_aux, mode
        As for `jacobian`.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns ``(value, matrix)``, or ``((value, aux), matrix)``. `f` is called
        once.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        As for `jacobian`.

    Examples
    --------
    >>> x = xp.asarray([1.0, 2.0])
    >>> xp.autograd.value_and_jacobian(lambda x: x**2)(x)
    (Array([1., 4.], dtype=float64), Array([[2., 0.],
           [0., 4.]], dtype=float64))
    """
    return _matrix("value_and_jacobian", f, argnums, has_aux, mode, True)


def _matrix(
    operation: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool, mode: str, with_value: bool
) -> Callable[..., Any]:
    """Implement `jacobian` and `value_and_jacobian`."""
    check_function(operation, f)
    if not isinstance(mode, str) or mode not in MODES:
        raise ArgumentValueError(
            operation, f"mode is {shown(mode)}", accepts=f"pass mode={' or '.join(map(repr, MODES))}"
        )
    alone = not isinstance(argnums, (tuple, list))

    @functools.wraps(f)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        numbers = numbers_of(operation, argnums, len(args))

        def chosen(*xs: Any) -> Any:
            given = list(args)
            for n, x in zip(numbers, xs, strict=True):
                given[n] = x
            return f(*given, **kwargs)

        call = Linearized(operation, chosen, [args[n] for n in numbers], has_aux)
        points, arguments = flatten([args[n] for n in numbers], 2)
        points = [asarray(x) for x in points]
        for y in call.values:
            if y.dtype.kind not in FLOATING:
                raise ArgumentTypeError(
                    operation,
                    f"a result of dtype {y.dtype.name} has no derivative",
                    accepts="return floating-point arrays",
                )
        blocks = (_by_columns if _is_forward(mode, points, call.values) else _by_rows)(call, points)
        found = [arguments.rebuild(row, False) for row in blocks]
        whole = call.structure.rebuild([row[0] if alone else tuple(row) for row in found], False)
        if not with_value:
            return (whole, detached_results(call.aux)) if has_aux else whole
        value = call.structure.rebuild(call.values)
        return ((value, detached_results(call.aux)) if has_aux else value), whole

    return matrix


def _is_forward(mode: str, points: list[Array], values: list[Array]) -> bool:
    """Return whether columns are computed instead of rows."""
    if mode != "auto":
        return mode == "forward"
    is_real = not any(_is_complex(x) for x in points)
    return is_real and sum(x.size for x in points) < sum(y.size for y in values)


def _is_complex(x: Array) -> bool:
    return x.dtype.kind == "complex floating"


# Limit of the largest array's size in a batched pass: more rows are computed in several passes.
CHUNK = 1 << 22


def _by_rows(call: Linearized, points: list[Array]) -> list[list[Array]]:
    """Return the derivatives of each result with respect to each point: rows, from unit cotangents."""

    def pull(seeds: list[Array | None]) -> list[Array]:
        return flatten(call.pull(seeds))[0]

    blocks = []
    for k, y in enumerate(call.values):
        is_mixed = _is_complex(y) and not all(map(_is_complex, points))
        parts: list[list[Array]] = [[] for _ in points]
        for units in _units(y, _step(call)):
            found = batched(pull, [None] * len(call.values), {k: units})
            imaginary = batched(pull, [None] * len(call.values), {k: units * 1j}) if is_mixed else found
            for rows, other, x, part in zip(found, imaginary, points, parts, strict=True):
                if not _is_complex(y):
                    part.append(rows)
                else:
                    part.append(conj(rows) if _is_complex(x) else rows + 1j * other)
        blocks.append([_joined(part, y, x, x.dtype) for part, x in zip(parts, points, strict=True)])
    return blocks


def _by_columns(call: Linearized, points: list[Array]) -> list[list[Array]]:
    """Return the derivatives by columns, from unit tangents."""
    blocks: list[list[Array]] = [[] for _ in call.values]
    zero: list[Array] = [zeros(x.shape, dtype=x.dtype) for x in points]
    for k, x in enumerate(points):
        is_mixed = _is_complex(x) and not all(map(_is_complex, call.values))
        parts: list[list[Array]] = [[] for _ in call.values]
        for units in _units(x, _step(call)):
            found = batched(call.push, zero, {k: units})
            imaginary = batched(call.push, zero, {k: units * 1j}) if is_mixed else found
            for columns, other, y, part in zip(found, imaginary, call.values, parts, strict=True):
                part.append(columns + 1j * other if _is_complex(x) and not _is_complex(y) else columns)
        for block, part, y in zip(blocks, parts, call.values, strict=True):
            whole = reshape(_joined(part, x, y, y.dtype), (x.size, y.size))
            block.append(reshape(asarray(matrix_transpose(whole), copy=True), (*y.shape, *x.shape)))
    return blocks


def _step(call: Linearized) -> int:
    """Return the number of rows or columns in a batch."""
    return max(1, CHUNK // max(call.largest(), *(y.size for y in call.values), 1))


def _units(x: Array, step: int) -> Iterator[Array]:
    """Yield batches of unit vectors that have the shape of an array."""
    for start in range(0, x.size, step):
        count = min(step, x.size - start)
        yield reshape(eye(count, x.size, k=start, dtype=x.dtype), (count, *x.shape))


def _joined(parts: list[Array], one: Array, other: Array, dtype: DType) -> Array:
    """Return batches as one array, whose first axes are the axes of `one`."""
    shape = (*one.shape, *other.shape)
    if not parts:
        return zeros(shape, dtype=dtype)
    return reshape(_unshared(parts[0]) if len(parts) == 1 else concat(parts), shape)


def batched(
    apply: Callable[[Any], list[Array]], given: Sequence[Array | None], batches: Mapping[int, Array]
) -> list[Array]:
    """Return the results of a linear map for each item of batches, by one batched pass.

    If a function has no batching rule, each item takes a pass. The results may repeat their elements in
    memory.
    """
    seeds = list(given)
    size = next(iter(batches.values())).shape[0]
    level = Level(size)
    try:
        for k, batch in batches.items():
            seeds[k] = level.wrap(batch)
        return [level.spread(x) for x in apply(seeds)]
    except Exception:
        # The function may have a user-defined backward pass that reads values or has no batching rules. Any
        # other error is raised again below.
        pass
    finally:
        level.close()
    rows = []
    for i in range(size):
        for k, batch in batches.items():
            seeds[k] = batch[i]
        rows.append(apply(seeds))
    return [stack(parts) for parts in zip(*rows, strict=True)]


def _unshared(x: Array) -> Array:
    """Return an array that the caller may write to: copy an array that may repeat its elements."""
    if is_tracked(x) or (current_recorder() is None and is_writable(whole(x))):
        return x
    return asarray(x, copy=True)


def hessian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that returns the Hessian of a function.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array of shape ``(*x.shape, *x.shape)``. If `argnums` is a
        sequence, a tuple of tuples: item ``[i][j]``, of shape ``(*x_i.shape, *x_j.shape)``, holds the second
        derivatives by the arguments i and j. With `has_aux`, a pair of the Hessian and the second item.

    Examples
    --------
    >>> xp.autograd.hessian(lambda x: x[0] * x[1] ** 2)(xp.asarray([1.0, 2.0]))
    Array([[0., 4.],
           [4., 2.]], dtype=float64)
    """
    check_function("hessian", f)
    return jacobian(grad(f, argnums, has_aux), argnums, has_aux, "reverse")


def hessian_diag(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """
    Make a function that returns the diagonal of the Hessian of a function.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array.
    argnums : int or sequence of int
        The arguments to differentiate by, real, as for `value_and_grad`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns an array of the shape of the argument: the second derivative with
        respect to each of its elements. For nested structures and several arguments, it has the structure of
        the gradient. With `has_aux`, a pair of the diagonal and the second item.

    Raises
    ------
    ArgumentTypeError, ShapeError
        As for `grad`, and if an argument is complex.

    Notes
    -----
    The diagonal is computed by batches of products of the Hessian with unit vectors; the Hessian itself is
    never in memory. If the Hessian is sparse, ``sparse_hessian(f)(x).diagonal()`` needs only one product for
    each colour.

    Examples
    --------
    >>> xp.autograd.hessian_diag(lambda x: xp.sum(x**3) + x[0] * x[1])(xp.asarray([1.0, 2.0]))
    Array([ 6., 12.], dtype=float64)
    """
    check_function("hessian_diag", f)
    gradient = grad(f, argnums, has_aux)

    @functools.wraps(f)
    def diagonal(*args: Any, **kwargs: Any) -> Any:
        numbers = numbers_of("hessian_diag", argnums, len(args))

        def chosen(*xs: Any) -> Any:
            given = list(args)
            for n, x in zip(numbers, xs, strict=True):
                given[n] = x
            return gradient(*given, **kwargs)

        call = Linearized("hessian_diag", chosen, [args[n] for n in numbers], has_aux)
        for x in call.values:
            if _is_complex(x):
                raise ArgumentTypeError(
                    "hessian_diag",
                    "the Hessian with respect to a complex argument has no diagonal",
                    accepts="call hessian instead",
                )
        zero: list[Array] = [zeros(x.shape, dtype=x.dtype) for x in call.values]
        found = []
        for k, x in enumerate(call.values):
            parts, start = [], 0
            for units in _units(x, _step(call)):
                count = units.shape[0]
                rows = reshape(batched(call.push, zero, {k: units})[k], (count, x.size))
                parts.append(diagonal_of(rows, offset=start))
                start += count
            found.append(reshape(concat(parts), x.shape) if parts else zero[k])
        whole = call.structure.rebuild(found, False)
        return (whole, detached_results(call.aux)) if has_aux else whole

    return diagonal

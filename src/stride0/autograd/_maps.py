"""Derivatives as linear maps: `linearize` and `linear_transpose`; products with Hessians: `hvp`, `vhp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._chapters.creation import arange
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function, check_sequence
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray
from stride0._core.memory.dtype import float64
from stride0.autograd._parts import FLOATING, Argnums, detached_results, matched, numbers_of
from stride0.autograd._tape.tape import all_like, facts_of
from stride0.autograd._tape.trees import Structure, flatten
from stride0.autograd._transforms import Linearized, derivative_along, grad

__all__ = ["LinearMap", "hvp", "linear_transpose", "linearize", "vhp"]


class LinearMap:
    """
    The derivative of a function at a point, returned by `linearize`.

    Call it with a direction for each argument; it returns the derivative of the result. `transpose` maps a
    cotangent of the result to cotangents of the arguments. Both may be called any number of times, also
    within `vmap` and while other functions are differentiated.

    Examples
    --------
    >>> y, derivative = xp.autograd.linearize(lambda x: x**2, xp.asarray([1.0, 3.0]))
    >>> derivative(xp.asarray([1.0, 1.0]))
    Array([2., 6.], dtype=float64)
    """

    __slots__ = ("_arguments", "_call", "_results")

    def __init__(self, call: Linearized) -> None:
        self._call = call
        self._arguments = facts_of(call.chosen.arrays)
        self._results = facts_of(call.values)

    def __call__(self, *vs: Any) -> Any:
        """Return the derivative in a direction, structured like the result."""
        call = self._call
        given = matched("LinearMap", call.chosen.structure, list(vs), "the tangents")
        found = call.push(all_like("LinearMap", given, self._arguments))
        return call.structure.rebuild(found, False)

    def transpose(self, cotangent: Any) -> tuple[Any, ...]:
        """
        Multiply a cotangent by the Jacobian.

        Parameters
        ----------
        cotangent : nested structure of arrays
            Structured like the result of the function.

        Returns
        -------
        tuple
            A cotangent for each argument.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ShapeError
            If the cotangent is of a wrong dtype, structure or shape.

        Examples
        --------
        >>> y, derivative = xp.autograd.linearize(lambda x, y: x * y, xp.asarray(2.0), xp.asarray(3.0))
        >>> derivative.transpose(xp.asarray(1.0))
        (Array(3., dtype=float64), Array(2., dtype=float64))
        """
        given = matched("LinearMap", self._call.structure, cotangent, "the cotangents")
        return self._call.pull(all_like("LinearMap", given, self._results))


def _checked(operation: str, call: Linearized) -> Linearized:
    for y in call.values:
        if y.dtype.kind not in FLOATING:
            raise ArgumentTypeError(
                operation,
                f"a result of dtype {y.dtype.name} has no derivative",
                accepts="return floating-point arrays; has_aux=True returns other results, too",
            )
    return call


def linearize(f: Callable[..., Any], *xs: Any, has_aux: bool = False) -> Any:
    """
    Compute a function, and its derivative at this point as a linear map.

    Parameters
    ----------
    f : callable
        Returns arrays of floating-point dtypes, in any nested structure.
    *xs : nested structures of arrays
        The arguments of `f`; all are differentiated by.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    y : nested structure of arrays
        The result of `f`.
    derivative : LinearMap
        Takes a direction for each argument, returns the derivative of `y`, structured like `y`. Its method
        `transpose` maps a cotangent of `y` to a tuple of cotangents. Neither calls `f` again.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError
        If an argument or a result is not of a floating-point dtype.

    Notes
    -----
    `jvp` records `f` for each direction, `linearize` records it once. The map keeps the values that the
    derivative needs in memory.

    Examples
    --------
    >>> y, derivative = xp.autograd.linearize(lambda x: x[1:] * x[:-1], xp.asarray([1.0, 2.0, 3.0]))
    >>> y, derivative(xp.asarray([1.0, 0.0, 0.0]))
    (Array([2., 6.], dtype=float64), Array([2., 0.], dtype=float64))
    >>> derivative.transpose(xp.asarray([0.0, 1.0]))
    (Array([0., 3., 2.], dtype=float64),)
    """
    check_function("linearize", f)
    call = _checked("linearize", Linearized("linearize", f, xs, has_aux))
    value, derivative = call.structure.rebuild(call.values), LinearMap(call)
    return (value, derivative, detached_results(call.aux)) if has_aux else (value, derivative)


def linear_transpose(f: Callable[..., Any], *xs: Any) -> Callable[[Any], tuple[Any, ...]]:
    """
    Make the transpose of a linear function.

    Parameters
    ----------
    f : callable
        Linear in all its arguments together. Returns arrays of floating-point dtypes, or a structure of them.
    *xs : nested structures of arrays
        Arrays of the shapes and dtypes of the arguments; their values do not matter.

    Returns
    -------
    callable
        Takes a cotangent, structured like the result of `f`, and returns a tuple with one for each argument.
        Complex: the transpose is the adjoint, as for `vjp`.

    Raises
    ------
    ArgumentTypeError
        If an argument or a result is not of a floating-point dtype.
    ArgumentValueError
        If `f` is not linear at the two points at which it is called.

    Examples
    --------
    >>> transpose = xp.autograd.linear_transpose(lambda x: x[1:] - x[:-1], xp.zeros(3))
    >>> transpose(xp.asarray([1.0, 10.0]))
    (Array([-1., -9., 10.], dtype=float64),)
    >>> xp.autograd.linear_transpose(lambda x: x + 1, xp.zeros(3))
    Traceback (most recent call last):
        ...
    stride0.ArgumentValueError: linear_transpose: the function is not linear
    ...
    """
    check_function("linear_transpose", f)
    leaves, structure = flatten(list(xs), 2)
    call = _checked(
        "linear_transpose", Linearized("linear_transpose", f, _points(leaves, structure, 0.618), False)
    )
    there = _points(leaves, structure, 0.382)
    expected = call.push([asarray(x) for x in flatten(there, 2)[0]])
    found = matched("linear_transpose", call.structure, f(*there), "the results of two calls")
    for one, other in zip(expected, found, strict=True):
        if not _is_close(one, asarray(other)):
            raise ArgumentValueError(
                "linear_transpose",
                "the function is not linear",
                accepts="write vjp(f, x)[1], or pass a function with f(a*x + b*y) == a*f(x) + b*f(y)",
            )
    return LinearMap(call).transpose


def _points(leaves: list[Any], structure: Structure, step: float) -> list[Any]:
    """Return arguments filled with irregular numbers of both signs."""
    points: list[Any] = []
    for leaf in leaves:
        x = asarray(leaf) if isinstance(leaf, (float, complex)) else leaf
        if not isinstance(x, Array) or x.dtype.kind not in FLOATING:
            # Recording refuses it.
            points.append(x)
            continue
        numbers = arange(x.size, dtype=float64) * step % 1.0 + 0.5
        numbers = where(arange(x.size, dtype=float64) * step % 0.7 < 0.35, numbers, -numbers)
        if x.dtype.kind == "complex floating":
            numbers = numbers * (1 - 0.7j)
        points.append(reshape(asarray(numbers, dtype=x.dtype), x.shape))
    rebuilt: list[Any] = structure.rebuild(points)
    return rebuilt


def _is_close(x: Array, y: Array) -> bool:
    """Return whether arrays are equal up to rounding."""
    import numpy as np

    one, other = np.asarray(x), np.asarray(y)
    size = max((float(np.max(np.abs(v), initial=0.0)) for v in (one, other)), default=0.0)
    tolerance = float(np.finfo(one.dtype).eps) ** 0.5 if one.dtype.itemsize > 2 else 0.1
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= tolerance * size))


def hvp(f: Callable[..., Any], x: Any, v: Any, has_aux: bool = False, argnums: Argnums | None = None) -> Any:
    """
    Multiply the Hessian of a function by a vector, without building it.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array.
    x, v : nested structures of arrays
        The argument of `f`, and the vector, structured like the argument. With `argnums`, `x` is a sequence
        of all arguments, and `v` is the vector for the named argument, or a sequence of vectors.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate by.

    Returns
    -------
    nested structure of arrays
        The product, structured like the argument; a tuple of these if `argnums` is a sequence. With
        `has_aux`, a pair of the product and the second item.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError
        As for `value_and_grad` and `jvp`.

    Notes
    -----
    It is computed as the derivative of the gradient in the direction `v`.

    Examples
    --------
    >>> x, v = xp.asarray([1.0, 2.0]), xp.asarray([1.0, 0.0])
    >>> xp.autograd.hvp(lambda x: xp.sum(x**3), x, v)
    Array([6., 0.], dtype=float64)
    >>> xp.autograd.hvp(lambda k, x: k * xp.sum(x**3), (2.0, x), v, argnums=1)
    Array([12.,  0.], dtype=float64)
    """
    if argnums is None:
        check_function("hvp", f)
        product, *aux = _forward_over_reverse("hvp", grad(f, has_aux=has_aux), [x], [v], has_aux)
        return (product, *aux) if has_aux else product
    return hessian_product("hvp", _forward_over_reverse, f, x, v, has_aux, argnums)


def _forward_over_reverse(*given: Any) -> tuple[Any, ...]:
    results: tuple[Any, ...] = derivative_along(*given)
    return results[1:]


def hessian_product(
    operation: str,
    multiply: Callable[..., tuple[Any, ...]],
    f: Callable[..., Any],
    x: Any,
    v: Any,
    has_aux: bool,
    argnums: Argnums | None,
) -> Any:
    """Implement `hvp`; `multiply` returns the products and, with `has_aux`, the auxiliary value."""
    check_function(operation, f)
    alone = not isinstance(argnums, (tuple, list))
    arguments = [x] if argnums is None else check_sequence(operation, "x", x, "arguments")
    numbers = (0,) if argnums is None else numbers_of(operation, argnums, len(arguments))
    vectors = [v] if alone else check_sequence(operation, "v", v, "tangents, one for each argument")

    def of_chosen(*chosen: Any) -> Any:
        given = list(arguments)
        for n, argument in zip(numbers, chosen, strict=True):
            given[n] = argument
        return f(*given)

    gradient = grad(of_chosen, tuple(range(len(numbers))), has_aux)
    products, *aux = multiply(operation, gradient, [arguments[n] for n in numbers], vectors, has_aux)
    product = products[0] if alone else products
    return (product, *aux) if has_aux else product


def vhp(f: Callable[..., Any], x: Any, v: Any, has_aux: bool = False, argnums: Argnums | None = None) -> Any:
    """
    Multiply a vector by the Hessian of a function, by two backward passes.

    Parameters
    ----------
    f, x, v, has_aux, argnums
        As for `hvp`.

    Returns
    -------
    nested structure of arrays
        As for `hvp`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError
        As for `hvp`.

    Notes
    -----
    The Hessian is symmetric, so `hvp` returns the same up to rounding, and is usually faster.

    Examples
    --------
    >>> x, v = xp.asarray([1.0, 2.0]), xp.asarray([1.0, 0.0])
    >>> xp.autograd.vhp(lambda x: xp.sum(x**3) + x[0] * x[1], x, v)
    Array([6., 1.], dtype=float64)
    """
    return hessian_product("vhp", _reverse_over_reverse, f, x, v, has_aux, argnums)


def _reverse_over_reverse(
    operation: str, gradient: Callable[..., Any], xs: list[Any], vs: list[Any], has_aux: bool
) -> tuple[Any, ...]:
    leaves, structure = flatten(xs, 2)
    given = matched(operation, structure, vs, "the vectors")
    if all(isinstance(x, (Array, float, complex)) for x in leaves):
        given = all_like(operation, given, facts_of([asarray(x) for x in leaves]))
    call = Linearized(operation, gradient, xs, has_aux)
    return call.pull(given), detached_results(call.aux)

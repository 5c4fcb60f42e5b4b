"""Transformations of functions: gradients, and products with Jacobians.

References
----------
Names and semantics follow JAX. Complex gradients follow PyTorch's conjugate convention.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function, check_sequence
from stride0.autograd._parts import (
    FLOATING,
    Argnums,
    Tracked,
    detached_results,
    matched,
    numbers_of,
    recording,
)
from stride0.autograd._tape.opaque import hide_derivatives
from stride0.autograd._tape.tape import (
    Deferring,
    all_like,
    backward,
    detach_all,
    facts_of,
    handed_out,
    largest,
    like,
    pair_of,
    push_forward,
    results_of,
    run_value_and_grad,
)
from stride0.autograd._tape.trees import flatten, tree_map

__all__ = ["Linearized", "derivative_along", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp"]


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Make a function that returns the value of a function and its gradient.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array; with `has_aux`, a pair of it and any object.
    argnums : int or sequence of int
        Positional arguments to differentiate by. Each is an array of a floating-point dtype, or a nested
        structure of tuples, lists, dicts and dataclasses of such arrays. None, integers, strings, dtypes and
        functions within a structure are passed on unchanged; the gradient has None instead of them.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns ``(value, gradient)``, or ``((value, aux), gradient)``. The
        gradient is structured like the argument, with new arrays of its shapes and dtypes; a tuple of such
        structures if `argnums` is a sequence.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or the result, is not of the required dtype.
    ShapeError
        If the result has axes.

    Notes
    -----
    For a complex argument the gradient is the same as in PyTorch: the direction of steepest ascent, twice the
    derivative with respect to the conjugate.

    Examples
    --------
    >>> def loss(parameters, x):
    ...     return xp.sum((parameters["w"] * x + parameters["b"]) ** 2)
    >>> parameters = {"w": xp.asarray(2.0), "b": xp.asarray(1.0)}
    >>> value, gradient = xp.autograd.value_and_grad(loss)(parameters, xp.asarray([0.0, 1.0]))
    >>> value, gradient["w"], gradient["b"]
    (Array(10., dtype=float64), Array(6., dtype=float64), Array(8., dtype=float64))
    """
    return _value_and_grad("value_and_grad", f, argnums, has_aux)


def _value_and_grad(name: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
    """Return `value_and_grad(f)`; errors begin with `name`."""
    check_function(name, f)
    alone = not isinstance(argnums, (tuple, list))
    known: dict[int, tuple[int, ...]] = {}  # by the number of arguments

    @functools.wraps(f)
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        numbers = known.get(len(args))
        if numbers is None:
            numbers = known[len(args)] = numbers_of(name, argnums, len(args))
        return run_value_and_grad(name, f, numbers, alone, has_aux, args, kwargs)

    return value_and_gradient


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Make a function that returns the gradient of a function.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array; with `has_aux`, a pair of it and any object.
    argnums : int or sequence of int
        Positional arguments to differentiate by, as for `value_and_grad`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns the gradient, or ``(gradient, aux)``.

    Raises
    ------
    ArgumentTypeError, ShapeError
        As for `value_and_grad`.

    Examples
    --------
    >>> xp.autograd.grad(lambda x: xp.sum(x**2))(xp.asarray([1.0, 2.0]))
    Array([2., 4.], dtype=float64)

    Derivatives of gradients:

    >>> xp.autograd.grad(xp.autograd.grad(lambda x: x**3))(xp.asarray(2.0))
    Array(12., dtype=float64)
    >>> xp.autograd.grad(lambda x: x**2)(xp.asarray([1.0, 2.0]))
    Traceback (most recent call last):
        ...
    stride0.ShapeError: grad: the function returned an array with axes
    ...
    """
    both = _value_and_grad("grad", f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def vjp(f: Callable[..., Any], *xs: Any, has_aux: bool = False) -> Any:
    """Compute a function, and the function that multiplies cotangents by its Jacobian.

    Parameters
    ----------
    f : callable
        Returns arrays, in any nested structure. Integers, strings, dtypes and functions are passed on.
    *xs : nested structures of arrays
        The arguments of `f`; all are differentiated by.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    y : nested structure of arrays
        The result of `f`.
    pullback : callable
        Takes a cotangent, structured like `y`, and returns a tuple with one cotangent per argument. May be
        called any number of times.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError, ShapeError
        If an argument or cotangent is of a wrong dtype or shape.

    Examples
    --------
    >>> y, pullback = xp.autograd.vjp(lambda x: xp.stack([x, x**2]), xp.asarray([1.0, 3.0]))
    >>> y.shape
    (2, 2)
    >>> pullback(xp.asarray([[1.0, 1.0], [1.0, 0.0]]))
    (Array([3., 1.], dtype=float64),)
    """
    check_function("vjp", f)
    call = Linearized("vjp", f, xs, has_aux)
    facts = facts_of(call.values)
    value = call.structure.rebuild(call.values)
    # The pullback must not keep the auxiliary value and the results alive.
    aux, call.aux, call.values = call.aux, None, []

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = matched("pullback", call.structure, cotangent, "the cotangents")
        return call.pull(all_like("pullback", given, facts))

    return (value, pullback, detached_results(aux)) if has_aux else (value, pullback)


class Linearized:
    """A recorded call of a function: its results, and products with its Jacobian from both sides."""

    def __init__(self, operation: str, f: Callable[..., Any], xs: Sequence[Any], has_aux: bool = False):
        with Deferring():
            with recording() as self.tape:
                # The items of the list are the arguments.
                self.chosen = Tracked(operation, list(xs), self.tape, 2)
                out = f(*self.chosen.tree)
            y: Any = out
            self.aux: Any = None
            if has_aux:
                y, self.aux = pair_of(out)
            leaves, self.structure = flatten(y, 1)
            self.values, self.roots = results_of(leaves)

    def pull(self, seeds: Sequence[Array | None]) -> tuple[Any, ...]:
        """Return the cotangents of the arguments, given a cotangent (or None) of each leaf of the result."""
        found = backward(self.roots, seeds, self.chosen.nodes, self.tape)
        return tuple(self.chosen.gradients(found, [g for g in seeds if g is not None]))

    def push(self, directions: Sequence[Array]) -> list[Array]:
        """Return the tangent of each leaf of the result, given the tangents of the arguments' leaves."""
        with Deferring():
            found = push_forward(list(self.roots), self.chosen.nodes, list(directions), self.tape)
            return handed_out(found, self.values, directions)

    def largest(self) -> int:
        """Return the size of the largest array in a pass."""
        return largest(self.roots, self.tape)


def jvp(f: Callable[..., Any], xs: Sequence[Any], vs: Sequence[Any], has_aux: bool = False) -> Any:
    """Compute a function and its derivative in a direction.

    Parameters
    ----------
    f : callable
        Returns arrays, in any nested structure. Integers, strings, dtypes and functions are passed on;
        `dy` has None instead of them.
    xs : sequence of nested structures of arrays
        The arguments.
    vs : sequence of nested structures of arrays
        The direction, structured like `xs`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    y : nested structure of arrays
        The result of `f`.
    dy : nested structure of arrays
        The derivative of `f` at `xs` in the direction `vs`, structured like `y`.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError
        If an argument or its direction is of a wrong dtype, structure or shape.

    Notes
    -----
    The call is recorded; then one pass goes through the record from the oldest operation to the youngest.

    Examples
    --------
    >>> x, v = xp.asarray([1.0, 2.0]), xp.asarray([1.0, 0.0])
    >>> xp.autograd.jvp(lambda x: xp.cumulative_sum(x**2), (x,), (v,))
    (Array([1., 5.], dtype=float64), Array([2., 2.], dtype=float64))
    """
    check_function("jvp", f)
    points = check_sequence("jvp", "xs", xs, "arguments")
    tangents = check_sequence("jvp", "vs", vs, "tangents, one for each argument")
    return derivative_along("jvp", f, points, tangents, has_aux)


def derivative_along(
    operation: str, f: Callable[..., Any], points: list[Any], tangents: list[Any], has_aux: bool
) -> Any:
    """Implement `jvp`; errors name `operation`."""
    with Deferring():
        with recording() as tape:
            # The items of the list are the arguments.
            chosen = Tracked(operation, points, tape, 2)
            given = matched(operation, chosen.structure, tangents, "the tangents")
            directions = [
                like(operation, v, x.shape, x.dtype) for v, x in zip(given, chosen.arrays, strict=True)
            ]
            out = f(*chosen.tree)
        y, aux = pair_of(out) if has_aux else (out, None)
        leaves, structure = flatten(y, 1)
        values, roots = results_of(leaves)
        for x in values:
            if x.dtype.kind not in FLOATING:
                raise ArgumentTypeError(
                    operation,
                    f"a result of dtype {x.dtype.name} has no derivative",
                    accepts="return floating-point arrays; has_aux=True returns other results, too",
                )
        value = structure.rebuild(values)
        nodes = chosen.nodes
        # Drop references: deferred values that nothing else needs are then never computed.
        del out, y, leaves, chosen
        found = handed_out(push_forward(roots, nodes, directions, tape), values, directions)
        derivative = structure.rebuild(found, False)
        del nodes, tape
    return (value, derivative, detached_results(aux)) if has_aux else (value, derivative)


def stop_gradient(x: Any) -> Any:
    """Return values as constants: no gradient flows through them.

    Parameters
    ----------
    x : nested structure of arrays
        Arrays of any dtype and shape. Leaves that are not arrays are returned unchanged.

    Returns
    -------
    nested structure of arrays
        Views of the same memory.

    Examples
    --------
    >>> def f(x):
    ...     return xp.sum(x * xp.autograd.stop_gradient(x))
    >>> xp.autograd.grad(f)(xp.asarray([1.0, 2.0]))
    Array([1., 2.], dtype=float64)
    """
    hide_derivatives()
    return tree_map(lambda leaf: detach_all(leaf) if isinstance(leaf, Array) else leaf, x)

"""Transformations of functions: gradients, products with Jacobians; and the public tape.

References
----------
Names and meaning as in JAX. Complex numbers: PyTorch's conjugate convention.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError
from stride0._chapters.creation import eye, ones, zeros
from stride0._chapters.manipulation import concat, reshape, stack
from stride0._core.array.array import Array
from stride0._core.array.views import is_writable
from stride0._core.exchange.convert import asarray
from stride0._core.ops.functions import conj
from stride0.autograd._tape import tape as _tape
from stride0.autograd._tape.tape import (
    Deferring,
    Level,
    Node,
    all_like,
    backward,
    current_node,
    detach_all,
    detach_closed,
    facts_of,
    handed_out,
    is_tracked,
    largest,
    like,
    node_of,
    pair_of,
    results_of,
    run_value_and_grad,
    scalar_result,
    whole,
)
from stride0.autograd._tape.trees import Structure, flatten, tree_map

__all__ = [
    "Tape",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]

Argnums = int | tuple[int, ...] | list[int]
FLOATING = ("real floating", "complex floating")


@contextmanager
def recording() -> Iterator[_tape.Tape]:
    """Record what is computed from arrays that the new tape tracks."""
    tape = _tape.Tape()
    tape.start()
    try:
        yield tape
    finally:
        tape.stop()


class Tracked:
    """A nested structure of arrays, and the same with every array tracked."""

    def __init__(self, operation: str, tree: Any, tape: _tape.Tape, aside: int = 1) -> None:
        leaves, self.structure = flatten(tree, aside)
        self.arrays, tracked, self.nodes = _tape.track_all(operation, leaves, tape)
        self.tree = self.structure.rebuild(tracked)

    def gradients(self, found: list[Array | None], cotangents: Sequence[Array] = ()) -> Any:
        """Return cotangents of the leaves as a structure like the original one."""
        return self.structure.rebuild(handed_out(found, self.arrays, cotangents), False)


def detached_results(tree: Any) -> Any:
    """Return results, detached where no open tape tracks them."""
    return tree_map(detach_closed, tree)


def _numbers(operation: str, argnums: Argnums, count: int) -> tuple[int, ...]:
    try:
        numbers = tuple(map(operator.index, argnums if isinstance(argnums, (tuple, list)) else (argnums,)))
    except TypeError:
        raise ArgumentTypeError(
            operation, f"argnums is {argnums!r}", accepts="an integer or a tuple of integers"
        ) from None
    for n in numbers:
        if not -count <= n < count:
            raise ArgumentValueError(
                operation, f"argnums names argument {n} of a call with {count} positional arguments"
            )
    found = tuple(n % count for n in numbers)
    if len(set(found)) < len(found):
        raise ArgumentValueError(operation, f"argnums names an argument twice: {numbers}")
    return found


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """
    Make a function that returns the value of a function and its gradient.

    Parameters
    ----------
    f : callable
        Returns one real floating-point array without axes; with `has_aux` a pair of that and anything else.
    argnums : int or sequence of int
        Positional arguments to differentiate by. Each is an array of a floating-point dtype, or a nested
        structure of tuples, lists, dicts and dataclasses of such arrays. None, integers, text, dtypes and
        functions within a structure are passed by; the gradient has None there.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns ``(value, gradient)``, or ``((value, aux), gradient)``. The
        gradient is structured like the argument, with new arrays of its shapes and dtypes; a tuple of
        such where `argnums` is a sequence.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or the result, is not of such a dtype.
    ShapeError
        If the result has axes.

    Notes
    -----
    Of a complex argument the gradient is that of PyTorch: the direction of steepest ascent, twice the
    derivative with respect to the conjugate.
    """

    alone = not isinstance(argnums, (tuple, list))
    known: dict[int, tuple[int, ...]] = {}  # for calls with so many arguments

    @functools.wraps(f)
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        numbers = known.get(len(args))
        if numbers is None:
            numbers = known[len(args)] = _numbers("value_and_grad", argnums, len(args))
        return run_value_and_grad(f, numbers, alone, has_aux, args, kwargs)

    return value_and_gradient


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """
    Make a function that returns the gradient of a function.

    Parameters
    ----------
    f : callable
        Returns one real floating-point array without axes; with `has_aux` a pair of that and anything else.
    argnums : int or sequence of int
        Positional arguments to differentiate by, as `value_and_grad` takes them.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns the gradient, or ``(gradient, aux)``.

    Raises
    ------
    ArgumentTypeError, ShapeError
        As `value_and_grad`.

    Examples
    --------
    >>> import stride0 as xp
    >>> from stride0.autograd import grad
    >>> grad(lambda x: xp.sum(x**2))(xp.asarray([1.0, 2.0]))
    Array([2., 4.], dtype=float64)
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, result = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def vjp(f: Callable[..., Any], *xs: Any, has_aux: bool = False) -> Any:
    """
    Compute a function, and the function that multiplies cotangents by its Jacobian.

    Parameters
    ----------
    f : callable
        Returns arrays, in any nested structure.
    *xs : nested structures of arrays
        The arguments of `f`, all differentiated by.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    y : nested structure of arrays
        What `f` returned.
    pullback : callable
        Takes a cotangent, structured like `y`, and returns a tuple with one cotangent per argument. May be
        called any number of times.
    aux : object
        Only with `has_aux`.

    Raises
    ------
    ArgumentTypeError, ShapeError
        If an argument or cotangent is of a wrong dtype or shape.
    """
    values, structure, aux, pull, _ = _linearized("vjp", f, xs, has_aux)
    facts = facts_of(values)
    value = structure.rebuild(values)
    del values

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = matched("pullback", structure, cotangent, "the cotangents")
        return pull(all_like("pullback", given, facts))

    return (value, pullback, detached_results(aux)) if has_aux else (value, pullback)


def _linearized(
    operation: str, f: Callable[..., Any], xs: Sequence[Any], has_aux: bool = False
) -> tuple[
    list[Array], Structure, Any, Callable[[Sequence[Array | None]], tuple[Any, ...]], Callable[[], int]
]:
    """Return the leaves of `f(*xs)`, their structure, the auxiliary value, and the pullback.

    A cotangent of None is zero. Last, a function that returns the size of the largest array of a pass.
    """
    with Deferring():
        with recording() as tape:
            # The items of the list are the arguments.
            chosen = Tracked(operation, list(xs), tape, 2)
            out = f(*chosen.tree)
        y, aux = pair_of(out) if has_aux else (out, None)
        leaves, structure = flatten(y)
        values, roots = results_of(leaves)

    def pull(seeds: Sequence[Array | None]) -> tuple[Any, ...]:
        found = backward(roots, seeds, chosen.nodes, tape)
        return tuple(chosen.gradients(found, [g for g in seeds if g is not None]))

    return values, structure, aux, pull, lambda: largest(roots, tape)


def jvp(f: Callable[..., Any], xs: Sequence[Any], vs: Sequence[Any], has_aux: bool = False) -> Any:
    """
    Compute a function and its derivative in a direction.

    Parameters
    ----------
    f : callable
        Returns arrays, in any nested structure.
    xs : sequence of nested structures of arrays
        The arguments.
    vs : sequence of nested structures of arrays
        The direction, structured like `xs`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    y : nested structure of arrays
        What `f` returned.
    dy : nested structure of arrays
        The derivative of `f` at `xs` in the direction `vs`, structured like `y`.
    aux : object
        Only with `has_aux`.

    Notes
    -----
    The product of a cotangent with the Jacobian is linear in the cotangent, and `jvp` is the pullback of that
    linear function: two backward passes compute one forward derivative.
    """
    y, pullback, *aux = vjp(f, *xs, has_aux=has_aux)
    leaves, structure = flatten(y)
    points, arguments = flatten(list(xs), 2)
    directions = []
    for v, x in zip(matched("jvp", arguments, list(vs), "the tangents"), points, strict=True):
        point = asarray(x)
        directions.append(like("jvp", v, point.shape, point.dtype))
    with recording() as tape:
        zero = Tracked("jvp", [zeros(x.shape, dtype=x.dtype) for x in leaves], tape)
        pulled, _ = flatten(pullback(structure.rebuild(zero.tree)))
    found = backward([current_node(x) for x in pulled], directions, zero.nodes, tape)
    return y, structure.rebuild(zero.gradients(found, directions)), *aux


def matched(operation: str, structure: Structure, tree: Any, what: str) -> list[Any]:
    """Return the leaves of cotangents or tangents in the order of those that they belong to."""
    try:
        return structure.leaves_of(tree)
    except ValueError as error:
        raise ArgumentValueError(operation, f"{what} are structured in another way: {error}") from None


def hvp(f: Callable[..., Any], x: Any, v: Any, has_aux: bool = False) -> Any:
    """
    Multiply the Hessian of a function by a vector, without building it.

    Parameters
    ----------
    f : callable
        Of one argument; returns one real floating-point array without axes.
    x, v : nested structures of arrays
        Where, and the vector, structured like `x`.
    has_aux : bool
        Whether `f` returns a pair whose second item is passed through.

    Returns
    -------
    nested structure of arrays
        The product, structured like `x`; with `has_aux` a pair of that and the second item.
    """
    _, pullback, *aux = vjp(grad(f, has_aux=has_aux), x, has_aux=has_aux)
    return (pullback(v)[0], *aux) if has_aux else pullback(v)[0]


def jacobian(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """
    Make a function that returns the Jacobian of a function.

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
    """
    alone = not isinstance(argnums, (tuple, list))

    @functools.wraps(f)
    def matrix(*args: Any, **kwargs: Any) -> Any:
        numbers = _numbers("jacobian", argnums, len(args))

        def chosen(*xs: Any) -> Any:
            given = list(args)
            for n, x in zip(numbers, xs, strict=True):
                given[n] = x
            return f(*given, **kwargs)

        ys, structure, aux, pull, size = _linearized("jacobian", chosen, [args[n] for n in numbers], has_aux)
        points, arguments = flatten([args[n] for n in numbers], 2)
        points = [asarray(x) for x in points]
        step = max(1, CHUNK // max(size(), *(y.size for y in ys), 1))
        rows = [_rows(ys, k, points, lambda seeds: flatten(pull(seeds))[0], step) for k in range(len(ys))]
        found = [arguments.rebuild(row, False) for row in rows]
        whole = structure.rebuild([row[0] if alone else tuple(row) for row in found])
        return (whole, detached_results(aux)) if has_aux else whole

    return matrix


# Elements that the largest array of a batched pass may have: more rows are computed in several passes.
CHUNK = 1 << 22


def _rows(
    ys: list[Array],
    k: int,
    points: list[Array],
    pull: Callable[[list[Array | None]], list[Array]],
    step: int,
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
    """
    Make a function that returns the Hessian of a function.

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
    """
    return jacobian(grad(f, argnums, has_aux), argnums, has_aux)


def stop_gradient(x: Any) -> Any:
    """
    Return values as constants: no gradient flows through them.

    Parameters
    ----------
    x : nested structure of arrays
        Of any dtype and shape. Leaves that are no arrays come back as they are.

    Returns
    -------
    nested structure of arrays
        Views of the same memory.
    """
    return tree_map(lambda leaf: detach_all(leaf) if isinstance(leaf, Array) else leaf, x)


class Tape(_tape.Tape):
    """
    The imperative form: records what is computed from tracked arrays in its block.

    A gradient that is taken within the block is recorded as well, and can be differentiated again; one that
    is taken after it is not. Tapes nest. After the block, and unless another open tape tracks them, its
    arrays are ordinary arrays again.

    Examples
    --------
    >>> import stride0 as xp
    >>> from stride0.autograd import Tape
    >>> with Tape() as t:
    ...     a = t.watch(xp.asarray([1.0, 2.0]))
    ...     y = xp.sum(a**2)
    >>> t.gradient(y, a)
    Array([2., 4.], dtype=float64)
    """

    def __enter__(self) -> Tape:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def watch(self, x: Any) -> Any:
        """
        Return tracked arrays.

        Parameters
        ----------
        x : nested structure of arrays
            Of floating-point dtypes.

        Returns
        -------
        nested structure of arrays
            Views of the same memory.

        Raises
        ------
        GradientError
            Outside of the block of the tape.
        ArgumentTypeError
            If a leaf is not an array of a floating-point dtype.
        """
        if not self.open:
            raise GradientError("watch", "the tape is not recording", accepts="with Tape() as t: ...")
        return Tracked("watch", x, self).tree

    def gradient(self, y: Any, xs: Any, cotangent: Any = None) -> Any:
        """
        Return the gradient of a result.

        Parameters
        ----------
        y : nested structure of arrays
            What to differentiate: one real array without axes, or anything with a `cotangent`.
        xs : nested structure of arrays
            What to differentiate by: tracked arrays that `y` was computed from.
        cotangent : nested structure of arrays, optional
            Structured like `y`. Default: 1.

        Returns
        -------
        nested structure of arrays
            Structured like `xs`: new arrays of their shapes and dtypes.

        Raises
        ------
        GradientError
            If one of `xs` is not tracked.
        """
        if cotangent is None:
            y = scalar_result("gradient", y)
            cotangent = ones((), dtype=y.dtype)
        results, outputs = flatten(y)
        seeds = matched("gradient", outputs, cotangent, "the cotangents")
        leaves, structure = flatten(xs)
        nodes: list[Node] = []
        for x in leaves:
            node = node_of(x)
            if node is None:
                raise GradientError(
                    "gradient", "an array of xs is not tracked", accepts="what watch() returned"
                )
            nodes.append(node)
        if results and all(current_node(r) is None for r in results):
            raise GradientError(
                "gradient",
                "the result was not computed from tracked arrays while the tape was recording",
                accepts="a result that is computed in the block of the tape",
            )
        given = all_like("gradient", seeds, facts_of(results))
        found = backward([current_node(r) for r in results], given, nodes, self)
        return structure.rebuild(handed_out(found, leaves, given))

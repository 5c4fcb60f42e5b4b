"""Sparse matrices of derivatives: pattern, colouring, and one batched pass for all colours."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError, ShapeError, shown
from stride0._core.array.array import Array
from stride0._core.array.modes import CONFIGURATION
from stride0._core.call.checks import check_function
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._modes.switches import Setting
from stride0.autograd._matrices import CHUNK
from stride0.autograd._parts import FLOATING, TRACE, Argnums, Tracked, numbers_of, recording
from stride0.autograd._tape.tape import Level, detach_closed, is_batched_array
from stride0.autograd._tape.trees import flatten, tree_map
from stride0.autograd._transforms import Linearized, grad

__all__ = [
    "SparsePlan",
    "hessian_sparsity",
    "jacobian_sparsity",
    "sparse_hessian",
    "sparse_jacobian",
    "sparse_plan",
]

MODES = ("auto", "both", "forward", "reverse")


def _scipy_sparse(operation: str) -> Any:
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError as error:
        raise ImportError(
            f"stride0.autograd.{operation} returns matrices of SciPy, which cannot be imported: pip install scipy"
        ) from error


class _Arguments:
    """The arguments of a call, of which some are differentiated by."""

    def __init__(self, operation: str, f: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: Any):
        self.operation, self.f, self.args, self.kwargs = operation, f, args, kwargs
        self.numbers = numbers_of(operation, argnums, len(args))
        self.points = [args[n] for n in self.numbers]
        self.leaves = flatten(self.points, 2)[0]
        for x in self.leaves:
            if isinstance(x, Array) and is_batched_array(x):
                raise ArgumentTypeError(
                    operation,
                    "an argument is batched: sparse matrices have no batches",
                    accepts="a loop over the examples",
                )

    def chosen(self, *xs: Any) -> Any:
        """Call the function with other values of the chosen arguments."""
        given = list(self.args)
        for n, x in zip(self.numbers, xs, strict=True):
            given[n] = x
        return self.f(*given, **self.kwargs)


def _found(operation: str, arguments: _Arguments, curvature: bool) -> Any:
    """Run a function, and return the pattern of its Jacobian, or that of its Hessian."""
    sparse = _scipy_sparse(operation)
    import numpy as np

    from stride0.autograd._sparse.sets import ALL
    from stride0.autograd._sparse.tracing import Trace, watching

    def copied(x: Any) -> Any:
        return asarray(detach_closed(x), copy=True) if isinstance(x, Array) else x

    with recording() as tape:
        chosen = Tracked(operation, [tree_map(copied, x) for x in arguments.points], tape, 2)
        size = sum(x.size for x in chosen.arrays)
        trace = Trace(size)
        start = 2
        for x in flatten(chosen.tree, 2)[0]:
            trace.write(x, np.arange(start, start + x.size).reshape(x.shape))
            start += x.size
        token = TRACE.set(trace)
        try:
            with Setting(CONFIGURATION, watching(trace)):
                out = arguments.chosen(*chosen.tree)
        finally:
            TRACE.reset(token)
        results = [asarray(y) for y in flatten(out, 1)[0]]
        for y in results:
            if y.dtype.kind not in FLOATING:
                raise ArgumentTypeError(operation, f"a result of dtype {y.dtype.name} has no derivative")
            if curvature and (len(results) != 1 or y.shape != () or y.dtype.kind != "real floating"):
                raise ShapeError(
                    operation, "the function returned an array with axes", [("shape", str(y.shape))],
                    "a function that returns one real array without axes",
                )
        parts = []
        for y in results:
            numbers, _ = trace.read(y)
            parts.append(np.zeros(y.size, dtype=np.int64) if numbers is None else numbers.ravel())
            if numbers is not None and (trace.lost or not trace.is_known(y)):
                trace.bend(np.asarray(ALL))
    sets = trace.sets
    if not curvature:
        numbers = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        owner, elements = sets.expand(numbers)
        return _pattern(sparse, owner, elements, (len(numbers), size))
    if trace.lost:
        trace.bend(np.asarray(ALL))
    pairs = np.unique(np.concatenate(trace.bent), axis=0) if trace.bent else np.zeros((0, 2), dtype=np.int64)
    shape = (len(pairs), size)
    one, other = (_pattern(sparse, *sets.expand(pairs[:, k]), shape) for k in (0, 1))
    half = one.T @ other
    return _sorted(sparse.csr_array(half + half.T, dtype=bool))


def _pattern(sparse: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    import numpy as np

    return _sorted(sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape))


def _sorted(pattern: Any) -> Any:
    pattern.sum_duplicates()
    pattern.eliminate_zeros()
    pattern.sort_indices()
    return pattern


def jacobian_sparsity(f: Callable[..., Any], *args: Any, argnums: Argnums = 0) -> Any:
    """
    Find which elements of the result of a function depend on which elements of its arguments.

    Parameters
    ----------
    f : callable
        Returns an array of a floating-point dtype, or a nested structure of such arrays.
    *args : nested structures of arrays
        The arguments of `f`.
    argnums : int or sequence of int
        The arguments to differentiate by, as `value_and_grad` takes them.

    Returns
    -------
    scipy.sparse.csr_array
        Of dtype bool and shape ``(m, n)``: rows are the elements of the result, columns those of the arguments,
        each in C order. Arrays of a structure follow each other.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or a result, is not of a floating-point dtype.
    ImportError
        If SciPy cannot be imported.

    Notes
    -----
    `f` is called once. The pattern holds for other values of the arguments as well, as long as `f` makes the same
    calls: both branches of `where` count, and so do all elements that a sort or a computed index may choose. A
    function that stride0 knows no pattern of depends on all its operands.

    Examples
    --------
    >>> pattern = xp.autograd.jacobian_sparsity(lambda x: x[1:] * x[:-1], xp.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    check_function("jacobian_sparsity", f)
    return _found("jacobian_sparsity", _Arguments("jacobian_sparsity", f, argnums, args, {}), False)


def hessian_sparsity(f: Callable[..., Any], *args: Any, argnums: Argnums = 0) -> Any:
    """
    Find which pairs of elements of the arguments a function has second derivatives for.

    Parameters
    ----------
    f : callable
        Returns one real floating-point array without axes.
    *args : nested structures of arrays
        The arguments of `f`.
    argnums : int or sequence of int
        The arguments to differentiate by, as `value_and_grad` takes them.

    Returns
    -------
    scipy.sparse.csr_array
        Symmetric, of dtype bool and shape ``(n, n)``: n is the number of elements of the arguments, in C order.

    Raises
    ------
    ArgumentTypeError, ImportError
        As `jacobian_sparsity`.
    ShapeError
        If the result has axes.

    Notes
    -----
    One call of `f`, as in `jacobian_sparsity`; no gradient is computed.

    Examples
    --------
    >>> pattern = xp.autograd.hessian_sparsity(lambda x: xp.sum((x[1:] - x[:-1]) ** 2), xp.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    check_function("hessian_sparsity", f)
    return _found("hessian_sparsity", _Arguments("hessian_sparsity", f, argnums, args, {}), True)

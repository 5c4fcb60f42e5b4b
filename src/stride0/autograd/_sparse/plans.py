"""Plans: pattern, colouring and compressed products of one function. This module needs SciPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError, ShapeError, shown
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import asarray
from stride0.autograd._parts import Argnums
from stride0.autograd._sparse.compressed import Split, hessian_split, jacobian_split, products
from stride0.autograd._sparse.patterns import Arguments, Patterns, check_scalar, ordered
from stride0.autograd._tape.tape import is_tracked
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import Linearized, grad

__all__ = ["MODES", "SparsePlan"]

MODES = ("auto", "both", "forward", "reverse")


class SparsePlan:
    """
    Sparse matrices of derivatives of one function, made by `sparse_plan`.

    Attributes
    ----------
    jacobian_sparsity, hessian_sparsity : scipy.sparse.csr_array
        The patterns, of dtype bool; `hessian_sparsity` is None unless the function returns one real array
        without axes.
    jacobian_colors, hessian_colors : int
        How many products with the matrix a call takes: they run as one batch.

    Examples
    --------
    >>> plan = xp.autograd.sparse_plan(lambda x: x[1:] * x[:-1], xp.ones(5))
    >>> plan.jacobian_colors
    2
    >>> plan.jacobian(xp.asarray([1.0, 2.0, 3.0, 4.0, 5.0])).toarray()
    array([[2., 1., 0., 0., 0.],
           [0., 3., 2., 0., 0.],
           [0., 0., 4., 3., 0.],
           [0., 0., 0., 5., 4.]])
    """

    def __init__(
        self,
        operation: str,
        f: Callable[..., Any],
        argnums: Argnums,
        mode: str,
        patterns: tuple[Any, Any],
    ) -> None:
        if not isinstance(mode, str) or mode not in MODES:
            raise ArgumentValueError(
                operation, f"mode is {shown(mode)}", accepts=f"one of {', '.join(MODES)}"
            )
        self._f, self._argnums, self._mode = f, argnums, mode
        self.jacobian_sparsity, self.hessian_sparsity = patterns

    @cached_property
    def _jacobian_split(self) -> Split:
        return jacobian_split(self.jacobian_sparsity, self._mode)

    @cached_property
    def _hessian_split(self) -> Split:
        return hessian_split(self.hessian_sparsity)

    @property
    def jacobian_colors(self) -> int:
        """How many products the Jacobian takes."""
        return self._jacobian_split.count

    @property
    def hessian_colors(self) -> int:
        """How many products the Hessian takes."""
        self._needs_hessian("hessian_colors")
        return self._hessian_split.count

    def _needs_hessian(self, operation: str) -> None:
        if self.hessian_sparsity is None:
            raise ShapeError(
                operation,
                "the function did not return one real array without axes",
                accepts="the plan of a function that does",
            )

    def jacobian(self, *args: Any, **kwargs: Any) -> Any:
        """
        Compute the Jacobian.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function: arrays of the shapes that the plan was made for.

        Returns
        -------
        scipy.sparse.csr_array
            Of shape ``(m, n)``: rows are the elements of the result, columns those of the arguments.

        Raises
        ------
        ArgumentTypeError
            If an argument or a result is not of a real floating-point dtype.
        ShapeError
            If arguments or results have other numbers of elements than the pattern.
        GradientError
            If an argument is tracked: sparse matrices of SciPy have no gradients.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: x**2, xp.ones(2))
        >>> plan.jacobian(xp.asarray([1.0, 3.0])).toarray()
        array([[2., 0.],
               [0., 6.]])
        """
        return self._jacobian("jacobian", args, kwargs)

    def _jacobian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = _call(Arguments(operation, self._f, self._argnums, args, kwargs), False)
        _check_shape(operation, self.jacobian_sparsity, (_size(call.values), _size(call.chosen.arrays)))
        split, largest = self._jacobian_split, call.largest()
        data = products(call.push, split.forward, call.chosen.arrays, largest)
        data += products(lambda seeds: _leaves(call.pull(seeds)), split.reverse, call.values, largest)
        return _filled(self.jacobian_sparsity, data, split, call.values)

    def hessian(self, *args: Any, **kwargs: Any) -> Any:
        """
        Compute the Hessian.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function: arrays of the shapes that the plan was made for.

        Returns
        -------
        scipy.sparse.csr_array
            Of shape ``(n, n)``: rows and columns are the elements of the arguments.

        Raises
        ------
        ArgumentTypeError, ShapeError, GradientError
            As `jacobian`, and if the function does not return one real array without axes.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: xp.sum((x[1:] - x[:-1]) ** 2), xp.ones(3))
        >>> plan.hessian(xp.ones(3)).toarray()
        array([[ 2., -2.,  0.],
               [-2.,  4., -2.],
               [ 0., -2.,  2.]])
        """
        return self._hessian("hessian", args, kwargs)

    def _hessian(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._needs_hessian(operation)
        call = _call(Arguments(operation, self._f, self._argnums, args, kwargs), True)
        n = _size(call.chosen.arrays)
        _check_shape(operation, self.hessian_sparsity, (n, n))
        data = products(call.push, self._hessian_split.forward, call.chosen.arrays, call.largest())
        return _filled(self.hessian_sparsity, data, self._hessian_split, call.values)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """
        Check that the patterns hold at a point: compare products with a vector of irregular numbers.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function.

        Raises
        ------
        GradientError
            If a derivative that a pattern leaves out is not 0.

        Notes
        -----
        Use it once for each new kind of input if you passed a pattern of your own, or if the function
        chooses its calls by values.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: x[::-1] * 2, xp.ones(3), sparsity=np.eye(3))
        >>> plan.check(xp.ones(3))
        Traceback (most recent call last):
            ...
        stride0.GradientError: check: the pattern of the Jacobian leaves out a derivative that is not 0
        ...
        """
        kinds = [("Jacobian", False, self._jacobian)]
        if self.hessian_sparsity is not None:
            kinds.append(("Hessian", True, self._hessian))
        for name, of_gradient, compute in kinds:
            call = _call(Arguments("check", self._f, self._argnums, args, kwargs), of_gradient)
            matrix = compute("check", args, kwargs)
            vector = np.arange(matrix.shape[1]) * 0.6180339887498949 % 1.0 + 0.5
            parts, start = [], 0
            for x in call.chosen.arrays:
                parts.append(
                    asarray(vector[start : start + x.size].reshape(x.shape), dtype=x.dtype, copy=True)
                )
                start += x.size
            expected = _flat(call.push(parts))
            found, scale = matrix @ vector, abs(matrix) @ vector
            eps = float(np.finfo(expected.dtype).eps) if expected.size else 0.0
            bad = np.flatnonzero(
                ~(np.abs(found - expected) <= eps**0.5 * (scale + np.abs(expected).max(initial=0.0)))
            )
            if len(bad):
                raise GradientError(
                    "check",
                    f"the pattern of the {name} leaves out a derivative that is not 0",
                    [("row", str(int(bad[0])))],
                    "a new plan at this point, or a pattern with more entries",
                )


def _call(arguments: Arguments, of_gradient: bool) -> Linearized:
    """Return a recorded call of the function, or of its gradient."""
    operation = arguments.operation
    for x in arguments.leaves:
        if isinstance(x, Array) and is_tracked(x):
            raise GradientError(
                operation,
                "an argument is tracked: sparse matrices have no gradients",
                accepts="jacobian or hessian",
            )
    f = grad(arguments.chosen, tuple(range(len(arguments.points)))) if of_gradient else arguments.chosen
    call = Linearized(operation, f, arguments.points)
    for what, arrays in (("an argument", call.chosen.arrays), ("a result", call.values)):
        for x in arrays:
            if x.dtype.kind != "real floating":
                raise ArgumentTypeError(
                    operation,
                    f"{what} is of dtype {x.dtype.name}",
                    accepts="real floating-point dtypes, or jacobian",
                )
    return call


def _leaves(tree: Any) -> list[Array]:
    return flatten(tree)[0]


def _size(arrays: list[Array]) -> int:
    return sum(x.size for x in arrays)


def _flat(arrays: list[Array]) -> Any:
    return np.concatenate([np.asarray(x).ravel() for x in arrays])


def _check_shape(operation: str, pattern: Any, shape: tuple[int, int]) -> None:
    if pattern.shape != shape:
        facts = [("pattern", str(pattern.shape)), ("matrix", str(shape))]
        raise ShapeError(
            operation, "the pattern is of another shape than the matrix", facts, "a plan for these shapes"
        )


def _filled(pattern: Any, data: list[Any], split: Split, results: list[Array]) -> Any:
    """Return a matrix, from all products one after the other."""
    if not data:
        return csr_array(
            pattern.shape, dtype=np.result_type(*(str(y.dtype.name) for y in results), np.float32)
        )
    values = np.take(data[0] if len(data) == 1 else np.concatenate(data), split.places)
    return csr_array((values, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def given_pattern(operation: str, sparsity: Any) -> Any:
    """Return a pattern of the caller's: what is not 0 in a matrix."""
    if isinstance(sparsity, Array):
        sparsity = np.asarray(sparsity)
    if not issparse(sparsity) and not isinstance(sparsity, np.ndarray):
        raise ArgumentTypeError(
            operation,
            f"sparsity is of type {type(sparsity).__name__}",
            accepts="a sparse array of SciPy, or a matrix",
        )
    if sparsity.ndim != 2:
        raise ShapeError(operation, f"sparsity has the shape {sparsity.shape}", accepts="a matrix")
    return ordered(sparsity)


def plan_for(
    operation: str, f: Callable[..., Any], argnums: Argnums, mode: str, sparsity: Any, args: Any, kwargs: Any
) -> SparsePlan:
    """Return a plan with both patterns; `sparsity` is that of the Jacobian, or of the Hessian of a scalar."""
    found = Patterns(Arguments(operation, f, argnums, args, kwargs))
    is_scalar = found.is_scalar and found.results[0].dtype.kind == "real floating"
    patterns = (found.jacobian(), found.hessian(operation) if is_scalar else None)
    if sparsity is not None:
        own = given_pattern(operation, sparsity)
        expected = patterns[is_scalar]
        _check_shape(operation, own, expected.shape)
        patterns = (patterns[0], own) if is_scalar else (own, None)
    return SparsePlan(operation, f, argnums, mode, patterns)


def matrix_of(
    operation: str, f: Callable[..., Any], argnums: Argnums, mode: str, sparsity: Any, of_gradient: bool
) -> Callable[..., Any]:
    """Return what `sparse_jacobian` returns, or `sparse_hessian`."""
    own = None if sparsity is None else given_pattern(operation, sparsity)
    last: SparsePlan = SparsePlan(operation, f, argnums, mode, (own, own))

    def matrix(*args: Any, **kwargs: Any) -> Any:
        nonlocal last
        plan = last
        if own is None:
            found = Patterns(Arguments(operation, f, argnums, args, kwargs))
            if of_gradient:
                check_scalar(operation, found.results)
            pattern = found.hessian(operation) if of_gradient else found.jacobian()
            known = plan.hessian_sparsity if of_gradient else plan.jacobian_sparsity
            if known is None or not _is_same(known, pattern):
                # The colouring of an equal pattern is used again.
                plan = last = SparsePlan(operation, f, argnums, mode, (pattern, pattern))
        return (plan._hessian if of_gradient else plan._jacobian)(operation, args, kwargs)

    return matrix


def _is_same(one: Any, other: Any) -> bool:
    return (
        one.shape == other.shape
        and one.nnz == other.nnz
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
    )
